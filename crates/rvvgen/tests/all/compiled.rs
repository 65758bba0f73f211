//! Programs in C form, compiled by clang -O0 and run on the emulator and on QEMU, hold what the evaluator
//! predicts.
//!
//! A hundred of them in `cargo test`, if there is a compiler; twenty thousand by
//!
//! ```sh
//! export CLANG=clang-22 QEMU=qemu-riscv64
//! cargo test -p rvvgen --release --test all compiled -- --ignored --nocapture
//! ```
//!
//! `CLANG` is clang-19 unless it is set, `LLD` its linker (lld-19), `QEMU` qemu-riscv64 if it is there and
//! new enough. `RVVGEN_SEED`, `RVVGEN_FROM` and `RVVGEN_COUNT` choose other programs, `RVVGEN_OPT` another
//! level than -O0, `RVVGEN_KEEP` a folder for what disagrees.

use rvv_intrinsics::Extension;
use rvv_ir::c::{COptions, Language, emit, march};
use rvvgen::{Generated, Plan, Selection, Settings, Weights, generate};
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// What clang does not have: 21 has none of these, 22 wants a draft extension for them.
const MISSING: [&str; 2] = ["vfmv_v_f_bf16*", "vfmerge_vfm_bf16*"];

/// What clang 19 does not have either; vsha2cl becomes vsha2ch there (bugs/clang-vsha2cl.md).
const MISSING_19: [&str; 6] = [
    "vmv_v_v_bf16*",
    "vmerge_vvm_bf16*",
    "vslide*_bf16*",
    "vrgather*_bf16*",
    "vcompress_vm_bf16*",
    "vsha2cl*",
];

/// What is known to be the compiler's fault (bugs/), by what the emulator says.
const KNOWN: [&str; 6] = [
    "norm:vsha2chl-vv_vdoverlapvs1vs2_rsv",
    "norm:veccrypto_vsins_vdvs2overlap",
    "norm:vsm4r-vs_vdoverlapvs2_rsv",
    "norm:vsm3c-vi_vdoverlapvs2_rsv",
    "norm:vsha2ms-vv_vdoverlapvs1vs2_rsv",
    "norm:vsm3me-vv_vdoverlapvs2_rsv",
];

/// Programs of one translation unit.
const BATCH: u64 = 50;

pub fn variable(name: &str, otherwise: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| otherwise.to_string())
}

pub fn number(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).ok().and_then(|v| v.parse().ok()).unwrap_or(otherwise)
}

/// Whether this is a QEMU that has all the vector extensions; old ones have no `-cpu max`.
pub fn is_usable(qemu: &str) -> bool {
    let help = Command::new(qemu).args(["-cpu", "help"]).output();
    help.is_ok_and(|o| String::from_utf8_lossy(&o.stdout).split_whitespace().any(|word| word == "max"))
}

/// The compiler and the other emulator.
struct Peers {
    clang: String,
    is_19: bool,
    qemu: Option<String>,
}

impl Peers {
    fn find() -> Option<Peers> {
        let clang = variable("CLANG", "clang-19");
        let qemu = variable("QEMU", "qemu-riscv64");
        let version = Command::new(&clang).arg("--version").output().ok().filter(|o| o.status.success())?;
        let is_19 = String::from_utf8_lossy(&version.stdout).contains("version 19.");
        Some(Peers { qemu: is_usable(&qemu).then_some(qemu), clang, is_19 })
    }

    fn compile(&self, dir: &Path, source: &str, march: &str, form: Form) -> Result<PathBuf, String> {
        let name = format!("programs.{}", form.language.suffix());
        let (c, elf) = (dir.join(name), dir.join("programs.elf"));
        std::fs::write(&c, source).map_err(|e| e.to_string())?;
        let output = Command::new(&self.clang)
            .args([
                "--target=riscv64-linux-gnu",
                "-mabi=lp64d",
                "-ffreestanding",
                "-nostdlib",
                "-static",
                "-w",
            ])
            .arg("-menable-experimental-extensions")
            .arg(format!("-march={march}"))
            .arg(variable("RVVGEN_OPT", "-O0"))
            .arg(format!("-fuse-ld={}", variable("LLD", "lld-19")))
            .arg("-o")
            .args([&elf, &c])
            .output()
            .map_err(|e| e.to_string())?;
        if output.status.success() {
            return Ok(elf);
        }
        Err(String::from_utf8_lossy(&output.stderr).lines().take(6).collect::<Vec<_>>().join("\n"))
    }
}

/// What is compiled.
#[derive(Clone, Copy)]
struct Form {
    language: Language,
    /// The policy of the programs.
    policy: &'static str,
}

const C: Form = Form { language: Language::C, policy: "default" };
/// Functions are where it differs.
const CPP: Form = Form { language: Language::Cpp, policy: "control" };

/// What an emulator printed, and how it ended.
type Run = Result<Vec<u8>, String>;

pub fn on_rvvsim(image: &Image, vlen: u32, agnostic: Agnostic, only: Option<usize>) -> Run {
    let config = Config {
        vlen,
        tail: agnostic,
        mask: agnostic,
        mem: 1 << 30,
        max_insns: Some(1 << 32),
        ..Config::default()
    };
    let mut args = vec![b"programs".to_vec()];
    args.extend(only.map(|n| n.to_string().into_bytes()));
    let options = ProcessOptions { args, stdout: Output::Capture, ..ProcessOptions::default() };
    let mut machine = Machine::user(config, image, options).map_err(|e| e.to_string())?;
    match machine.run(None) {
        Outcome::Exited(0) => Ok(machine.stdout().to_vec()),
        other => Err(format!("{other:?}")),
    }
}

pub fn on_qemu(qemu: &str, elf: &Path, vlen: u32, ones: bool, only: Option<usize>) -> Run {
    let cpu = format!("max,vlen={vlen},elen=64,rvv_ta_all_1s={ones},rvv_ma_all_1s={ones}");
    let mut command = Command::new("timeout");
    command.args(["120", qemu, "-cpu", &cpu]).arg(elf).args(only.map(|n| n.to_string()));
    let output = command.output().map_err(|e| e.to_string())?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("{}: {}", output.status, String::from_utf8_lossy(&output.stderr).trim())),
    }
}

/// Judges one program's share of a run.
fn judge(g: &Generated, at: usize, run: &Run) -> Option<String> {
    match run {
        Err(e) => Some(e.clone()),
        Ok(printed) => g.expected[at]
            .judge(&g.program, printed)
            .map(|m| format!("{}[{}]", g.program.buffers[m.buffer].name, m.element)),
    }
}

struct Tally {
    programs: AtomicUsize,
    runs: AtomicUsize,
    /// Runs of programs that the compiler is known to have spoilt.
    known: AtomicUsize,
    wrong: Mutex<Vec<String>>,
}

/// All programs of a batch, on every emulator; what disagrees is found out one by one.
fn batch(
    peers: &Peers,
    form: Form,
    seed: u64,
    first: u64,
    extensions: &[Extension],
    count: u64,
    tally: &Tally,
) {
    let mut except = MISSING.map(str::to_string).to_vec();
    if peers.is_19 {
        except.extend(MISSING_19.map(str::to_string));
    }
    let selection = Selection { extensions: extensions.to_vec(), except, ..Selection::default() };
    let weights = Weights::policy(form.policy).unwrap();
    let settings = Settings { selection: selection.clone(), weights, ..Settings::default() };
    let plan = Plan::new(seed, &selection, 10, settings.smallest_vlen());
    let programs: Vec<Generated> =
        (first..first + count).map(|k| generate(&plan, k, &settings).unwrap()).collect();
    let sources: Vec<_> = programs.iter().map(|g| &g.program).collect();
    let dir = std::env::temp_dir().join(format!("rvvgen-{}-{seed}-{first}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let wrong = |text: String| {
        eprintln!("{text}");
        tally.wrong.lock().unwrap().push(text);
    };
    let options = COptions { language: form.language, ..COptions::default() };
    match peers.compile(&dir, &emit(&sources, &options), &march(&sources), form) {
        Err(e) => wrong(format!("{extensions:?} seed {seed} programs {first}…: not compiled: {e}")),
        Ok(elf) => {
            let image = Image::open(&elf).unwrap();
            for (at, &vlen) in settings.vlens.iter().enumerate() {
                let len = programs.iter().map(|g| g.expected[at].len()).sum::<usize>();
                let qemu = peers.qemu.as_deref();
                let run = |who: usize, only: Option<usize>| match who {
                    0 => on_rvvsim(&image, vlen, Agnostic::Undisturbed, only),
                    1 => on_rvvsim(&image, vlen, Agnostic::Ones, only),
                    _ => on_qemu(qemu.unwrap(), &elf, vlen, (first / BATCH) % 2 == at as u64 % 2, only),
                };
                for who in 0..2 + usize::from(qemu.is_some()) {
                    tally.runs.fetch_add(programs.len(), Ordering::Relaxed);
                    let all = run(who, None);
                    let good = all.as_ref().is_ok_and(|out| {
                        let mut rest = &out[..];
                        out.len() == len
                            && programs.iter().all(|g| {
                                let (these, after) = rest.split_at(g.expected[at].len());
                                rest = after;
                                judge(g, at, &Ok(these.to_vec())).is_none()
                            })
                    });
                    if good {
                        continue;
                    }
                    for (n, g) in programs.iter().enumerate() {
                        if let Some(what) = judge(g, at, &run(who, Some(n))) {
                            // Illegal here for a known reason: then it is nobody's business what others do.
                            let here = || judge(g, at, &run(0, Some(n))).unwrap_or_default();
                            let known = |what: &str| KNOWN.iter().any(|k| what.contains(k));
                            if known(&what) || known(&here()) {
                                tally.known.fetch_add(1, Ordering::Relaxed);
                                continue;
                            }
                            let who = ["rvvsim", "rvvsim, ones", "qemu"][who];
                            let k = first + n as u64;
                            wrong(format!(
                                "{extensions:?} seed {seed} program {k} VLEN {vlen} {who}: {what}"
                            ));
                            if let Some(keep) = std::env::var_os("RVVGEN_KEEP") {
                                let path = PathBuf::from(keep).join(format!("{seed}-{k}.ir"));
                                std::fs::write(path, g.program.to_string()).unwrap();
                            }
                        }
                    }
                }
            }
        }
    }
    std::fs::remove_dir_all(&dir).unwrap();
    tally.programs.fetch_add(programs.len(), Ordering::Relaxed);
}

fn compiled(form: Form, seed: u64, from: u64, count: u64) {
    let Some(peers) = Peers::find() else {
        eprintln!("no clang: nothing is compiled; set CLANG");
        return;
    };
    // clang 19 confuses names where V, bf16 and the cryptography are all there.
    let sets: [&[Extension]; 2] = [&[Extension::V, Extension::Crypto], &[Extension::V, Extension::Bf16]];
    let tally = Tally { programs: 0.into(), runs: 0.into(), known: 0.into(), wrong: Mutex::default() };
    let next = AtomicU64::new(0);
    let start = std::time::Instant::now();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    if first >= count {
                        return;
                    }
                    let set = sets[(first / BATCH % 2) as usize];
                    batch(&peers, form, seed, from + first, set, BATCH.min(count - first), &tally);
                    let done = tally.programs.load(Ordering::Relaxed);
                    if done.is_multiple_of(1000) {
                        eprintln!("{done} programs, {:.0} s", start.elapsed().as_secs_f64());
                    }
                }
            });
        }
    });
    let wrong = tally.wrong.into_inner().unwrap();
    eprintln!(
        "{} programs by {}, {} runs judged{}, {} of them spoilt by known faults of the compiler, {} wrong",
        tally.programs.into_inner(),
        peers.clang,
        tally.runs.into_inner(),
        if peers.qemu.is_some() { " (QEMU among them)" } else { "" },
        tally.known.into_inner(),
        wrong.len()
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_hundred_programs_in_c() {
    compiled(C, 99, 0, 100);
}

#[test]
fn a_hundred_programs_in_cpp() {
    compiled(CPP, 98, 0, 100);
}

#[test]
#[ignore = "an hour; see the head of this file"]
fn twenty_thousand_programs_in_c() {
    compiled(C, number("RVVGEN_SEED", 1), number("RVVGEN_FROM", 0), number("RVVGEN_COUNT", 20_000));
}
