//! Whatever a file holds: no panic, no hang, and no more memory than it is due.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_asm::elf_writer::ElfWriter;
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use testsuite::fuzz::{self, Target};
use testsuite::hostile::{self, MEM, Reached};
use testsuite::hostile_syscalls;
use testsuite::hostile_vector::{self, Lab, Mode};

/// Mutated files in the test; `RVVSIM_MUTATED_ELFS` asks for another number.
const CASES: u64 = 50_000;

/// No single file may take longer.
const LONGEST: Duration = Duration::from_secs(20);

/// Runs one test, of this name, in its own process: its peak memory is measured, and a hang ends the process.
fn alone(name: &str, test: impl FnOnce()) {
    const INSIDE: &str = "RVVSIM_TEST_ALONE";
    if std::env::var_os(INSIDE).is_some() {
        return test();
    }
    let mut this = Command::new(std::env::current_exe().expect("a path"));
    let name = format!("bad_input::{name}");
    let output = this.args(["--exact", &name, "--nocapture"]).env(INSIDE, "1").output().expect("it starts");
    let text =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    println!("{text}");
    assert!(output.status.success() && text.contains("1 passed"), "{name}: {}", output.status);
}

/// Ends the process if the count does not move: a hang must fail the test, not stop it.
fn watch(count: &'static AtomicU64) {
    std::thread::spawn(move || {
        let mut last = count.load(Ordering::Relaxed);
        loop {
            std::thread::sleep(LONGEST);
            let now = count.load(Ordering::Relaxed);
            if now == u64::MAX {
                return;
            }
            if now == last {
                eprintln!("the file of seed {now} hangs");
                std::process::exit(101);
            }
            last = now;
        }
    });
}

/// The most memory this process has used, in bytes.
fn peak_memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).expect("Linux says");
    line.split_whitespace().nth(1).and_then(|n| n.parse::<u64>().ok()).expect("a number of KiB") << 10
}

#[test]
fn mutated_elfs_neither_panic_nor_hang_nor_take_memory() {
    alone("mutated_elfs_neither_panic_nor_hang_nor_take_memory", mutated_elfs);
}

fn mutated_elfs() {
    static AT: AtomicU64 = AtomicU64::new(0);
    watch(&AT);
    let before = peak_memory();
    let cases = std::env::var("RVVSIM_MUTATED_ELFS").map_or(CASES, |n| n.parse().expect("a number of files"));
    let mut reached = [0_u64; 3];
    for seed in 0..cases {
        AT.store(seed, Ordering::Relaxed);
        let bytes = hostile::mutate(seed);
        let end = catch_unwind(AssertUnwindSafe(|| hostile::load(&bytes)));
        let end = end.unwrap_or_else(|_| panic!("the file of seed {seed} makes it panic"));
        reached[end as usize] += 1;
    }
    AT.store(u64::MAX, Ordering::Relaxed);
    // The mutations are of use only if they reach all parts of the loader, and beyond.
    let [refused, does_not_fit, ran] = reached;
    assert!(refused > 1000 && does_not_fit > 100 && ran > 5000, "{reached:?}");
    let taken = peak_memory() - before;
    assert!(taken < 16 * MEM, "{taken} bytes for guests of {MEM}");
}

#[test]
fn the_files_the_mutations_start_from_run() {
    for bytes in hostile::seeds() {
        assert_eq!(hostile::load(&bytes), Reached::Ran);
    }
}

#[test]
fn random_bytes_are_no_elf_and_no_problem() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    let good = hostile::seeds();
    for _ in 0..4000 {
        let mut bytes: Vec<u8> = (0..rng.random_range(0..400)).map(|_| rng.random()).collect();
        assert_eq!(hostile::load(&bytes), Reached::Refused);
        // Behind a good beginning they may be anything.
        let keep = rng.random_range(16..200);
        let start = &good[rng.random_range(0..good.len())];
        bytes.splice(..0, start[..keep].iter().copied());
        hostile::load(&bytes);
    }
}

#[test]
fn random_bytes_decode_or_do_not_and_encode_again() {
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    for _ in 0..400_000 {
        hostile::decode_word(rng.random());
    }
    for half in 0..=u16::MAX {
        hostile::decode_word(half.into());
    }
    for _ in 0..20_000 {
        hostile::decode_bytes(hostile::isa_string(&mut rng).as_bytes());
    }
}

fn refusal(change: impl FnOnce(&mut Vec<u8>)) -> String {
    let mut bytes = hostile::seeds().remove(0);
    change(&mut bytes);
    Image::parse(bytes).expect_err("it must be refused").to_string()
}

#[test]
fn what_is_wrong_with_a_file_is_said() {
    let says = |text: &str, word: &str| {
        assert!(text.to_lowercase().contains(word), "{text:?} does not say {word:?}")
    };
    says(&refusal(|b| b[4] = 1), "32-bit");
    says(&refusal(|b| b[5] = 2), "big-endian");
    says(&refusal(|b| b[18] = 62), "machine");
    says(&refusal(|b| b[0] = b'M'), "elf");
    says(&refusal(|b| b.truncate(70)), "trunc");
}

fn outcome(elf: &ElfWriter, mem: u64) -> Result<Outcome, String> {
    let bytes = elf.finish();
    let image = Image::parse(bytes.as_slice()).map_err(|e| e.to_string())?;
    let config = Config { mem, max_insns: Some(10_000), ..Config::default() };
    Machine::bare(config, &image).map(|mut machine| machine.run(None)).map_err(|e| e.to_string())
}

#[test]
fn a_segment_of_a_terabyte_does_not_fit() {
    let mut elf = ElfWriter::new(0x8000_0000);
    elf.segment(0x8000_0000, vec![0x13, 0, 0, 0], 5)
        .zeros(0x8000_1000, 1 << 40)
        .symbol("tohost", 0x8000_1000);
    let error = outcome(&elf, MEM).expect_err("it must not fit");
    assert!(error.contains("1099511627776 bytes"), "{error}");
}

#[test]
fn a_jump_into_nothing_ends_the_run() {
    let mut elf = ElfWriter::new(0x8000_0000);
    // jalr x0, 0(x0)
    elf.segment(0x8000_0000, 0x67_u32.to_le_bytes().to_vec(), 5).symbol("tohost", 0x8000_1000);
    elf.zeros(0x8000_1000, 64);
    assert!(matches!(outcome(&elf, MEM), Ok(Outcome::Stuck(_))));
}

/// Found by `testsuite fuzz streams`: such an address looked like a page that is not remembered, and was RAM.
#[test]
fn a_misaligned_access_of_the_first_page_traps() {
    // lh x5, 1(x0); lw x5, 5(x0); ld x5, 9(x0); sh x0, 1(x0); sd x0, 17(x0)
    for word in [0x0010_1283_u32, 0x0050_2283, 0x0090_3283, 0x0000_10a3, 0x0000_38a3] {
        let mut elf = ElfWriter::new(0x8000_0000);
        // What does not trap loops.
        let code = [word, 0x6f].map(u32::to_le_bytes).concat();
        elf.segment(0x8000_0000, code, 5).symbol("tohost", 0x8000_1000).zeros(0x8000_1000, 64);
        assert!(matches!(outcome(&elf, MEM), Ok(Outcome::Stuck(_))), "{word:#x}");
    }
}

#[test]
fn a_runaway_loop_ends_at_its_limit() {
    let mut elf = ElfWriter::new(0x8000_0000);
    elf.segment(0x8000_0000, 0x6f_u32.to_le_bytes().to_vec(), 5).symbol("tohost", 0x8000_1000);
    elf.zeros(0x8000_1000, 64);
    assert_eq!(outcome(&elf, MEM), Ok(Outcome::OutOfInstructions));
}

/// Inputs of system calls in the test; `RVVSIM_HOSTILE_CALLS` asks for another number.
const CALL_INPUTS: u64 = 1500;

#[test]
fn hostile_system_calls_neither_panic_nor_hang_nor_reach_out() {
    alone("hostile_system_calls_neither_panic_nor_hang_nor_reach_out", hostile_system_calls);
}

fn hostile_system_calls() {
    static AT: AtomicU64 = AtomicU64::new(0);
    watch(&AT);
    let before = peak_memory();
    let inputs = std::env::var("RVVSIM_HOSTILE_CALLS");
    let inputs = inputs.map_or(CALL_INPUTS, |n| n.parse().expect("a number of inputs"));
    let start = std::time::Instant::now();
    let mut calls = 0;
    for seed in 0..inputs {
        AT.store(seed, Ordering::Relaxed);
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let bytes: Vec<u8> = (0..rng.random_range(20..4000)).map(|_| rng.random()).collect();
        let made = catch_unwind(AssertUnwindSafe(|| hostile_syscalls::syscalls(&bytes)));
        calls += made.unwrap_or_else(|_| panic!("the input of seed {seed} makes it panic"));
    }
    AT.store(u64::MAX, Ordering::Relaxed);
    eprintln!("{calls} system calls of {inputs} inputs in {:?}", start.elapsed());
    assert!(calls as u64 > 10 * inputs, "{calls} calls of {inputs} inputs: most ended at once");
    let taken = peak_memory() - before;
    assert!(taken < 16 * MEM, "{taken} bytes for guests of {MEM}");
}

/// Every vector instruction × SEW × LMUL × VLEN with registers at the end of the file and corner cases for
/// operands. Of the large VLENs a part, unless `RVVSIM_ALL_VECTOR` is set.
#[test]
fn every_vector_instruction_runs_at_the_end_of_the_register_file() {
    let cases = hostile_vector::cases();
    assert!(cases.len() > 20_000, "{}", cases.len());
    let all = std::env::var_os("RVVSIM_ALL_VECTOR").is_some();
    for log in 7..=16 {
        let vlen = 1 << log;
        // A prime, so that every instruction has its turn.
        let every = if all { 1 } else { [1, 1, 1, 3, 3, 5, 7, 11, 13, 17][log - 7] };
        let mut lab = Lab::new(vlen);
        for (i, case) in cases.iter().enumerate().skip(log % every).step_by(every) {
            let seed = (i << 8 | log) as u64;
            let end = catch_unwind(AssertUnwindSafe(|| lab.run(case, seed)));
            assert!(end.is_ok(), "VLEN {vlen}, case {i}: {case:x?}");
        }
        if every == 1 {
            assert!(lab.missing().is_empty(), "never completed at VLEN {vlen}: {:?}", lab.missing());
        }
    }
}

/// Streams of instructions with anything for operands; `RVVSIM_STREAMS` asks for another number at each VLEN.
#[test]
fn hostile_streams_neither_panic_nor_hang_at_large_vlens() {
    alone("hostile_streams_neither_panic_nor_hang_at_large_vlens", hostile_streams);
}

fn hostile_streams() {
    static AT: AtomicU64 = AtomicU64::new(0);
    watch(&AT);
    let streams = std::env::var("RVVSIM_STREAMS").map_or(12, |n| n.parse().expect("a number of streams"));
    let mut completed = 0;
    for (i, vlen) in [8192, 16384, 65536].into_iter().enumerate() {
        for seed in 0..streams {
            let words = hostile_vector::stream(seed * 3 + i as u64, 300);
            for mode in [Mode::Bare, Mode::User] {
                AT.fetch_add(1, Ordering::Relaxed);
                let run = || hostile_vector::run_stream(&words, vlen, mode, seed, 1200);
                match catch_unwind(AssertUnwindSafe(run)) {
                    Ok(count) => completed += count,
                    Err(_) => panic!("stream {seed} panics at VLEN {vlen}, {mode:?}"),
                }
            }
        }
    }
    AT.store(u64::MAX, Ordering::Relaxed);
    assert!(completed > 100 * streams, "only {completed} instructions completed");
}

/// The first inputs of a fuzz target. `testsuite fuzz` runs more of them.
fn smoke(target: &Target, count: u64) {
    let folder = std::env::temp_dir().join(format!("rvvsim-fuzz-{}", std::process::id()));
    let options = fuzz::Options { count, save: folder, ..fuzz::Options::default() };
    let stuck = |failures: &[fuzz::Failure]| {
        eprintln!("{}: {failures:?}", target.name);
        std::process::exit(101);
    };
    let done = fuzz::run(target, &options, |_, _| (), stuck);
    assert!(done.failures.is_empty(), "{}: {:?}", target.name, done.failures);
    assert_eq!(done.executions, count);
    // Of use only if some inputs come past the first checks.
    assert!(done.counted > count / 100, "{}: {} {}", target.name, done.counted, target.counts);
}

#[test]
fn fuzz_loader() {
    alone("fuzz_loader", || smoke(&fuzz::LOADER, 2000));
}

#[test]
fn fuzz_decoder() {
    alone("fuzz_decoder", || smoke(&fuzz::DECODER, 20_000));
}

#[test]
fn fuzz_streams() {
    alone("fuzz_streams", || smoke(&fuzz::STREAMS, 300));
}

#[test]
fn fuzz_syscalls() {
    alone("fuzz_syscalls", || smoke(&fuzz::SYSCALLS, 500));
}

#[test]
fn fuzz_ir() {
    alone("fuzz_ir", || smoke(&fuzz::IR, 3000));
}

#[test]
fn fuzz_programs() {
    alone("fuzz_programs", || smoke(&fuzz::PROGRAMS, 500));
}

#[test]
fn fuzz_testbeds() {
    alone("fuzz_testbeds", || smoke(&fuzz::TESTBEDS, 3000));
}

#[test]
fn fuzz_stores() {
    alone("fuzz_stores", || smoke(&fuzz::STORES, 300));
}
