//! Threads of a process, and harts.

use super::*;

const S1: u8 = 9;
const S2: u8 = 18;
/// gdb's number of a register is that of the manual.
const PC: &str = "20";

/// Where the first thread says that it is over; then a name.
const FLAG: u64 = DATA;
const NAME: u64 = DATA + 16;
const FUTEX: u64 = DATA + 64;

const SYS_FUTEX: u64 = 98;
const SYS_PRCTL: u64 = 167;
const SYS_CLONE: u64 = 220;

/// `CLONE_VM`, `FS`, `FILES`, `SIGHAND`, `THREAD`, `SYSVSEM`.
const THREAD: u64 = 0x5_0f00;

/// Two threads that count, the first in s2 and the second, "worker", in s1; in v8 the first has 2s and the
/// second 1s. Also where the loop of each begins. With `waits`, the second waits for a futex instead.
pub fn two_threads(rounds: u64, waits: bool) -> (Elf, u64, u64) {
    let mut a = Asm::new(TEXT);
    vsetivli(&mut a, 4, E32_M1_TA_MA);
    vmv_v_i(&mut a, 8, 2);
    a.li(A0, THREAD);
    a.li(A1, DATA + 0x1000);
    for register in [A2, A3, A4] {
        a.li(register, 0);
    }
    syscall(&mut a, SYS_CLONE);
    let first = a.label();
    a.branch(Op::Bne, A0, 0, first);
    vsetivli(&mut a, 4, E32_M1_TA_MA);
    vmv_v_i(&mut a, 8, 1);
    a.li(A0, 15);
    a.li(A1, NAME);
    syscall(&mut a, SYS_PRCTL);
    if waits {
        a.li(A0, FUTEX);
        for register in [A1, A2, A3] {
            a.li(register, 0);
        }
        syscall(&mut a, SYS_FUTEX);
    }
    a.li(T1, FLAG);
    let top = a.label_here();
    let second_top = a.here();
    a.rri(Op::Addi, S1, S1, 1);
    a.rri(Op::Ld, T0, T1, 0);
    a.branch(Op::Beq, T0, 0, top);
    a.li(A0, 0);
    syscall(&mut a, 93);
    a.place(first);
    a.li(T0, rounds);
    let top = a.label_here();
    let first_top = a.here();
    a.rri(Op::Addi, S2, S2, 1);
    a.branch(Op::Bne, S2, T0, top);
    a.li(T1, FLAG);
    a.store(Op::Sd, S2, 0, T1);
    a.li(A0, 5);
    syscall(&mut a, 94);
    let mut data = vec![0; 0x1000];
    data[16..22].copy_from_slice(b"worker");
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).segment(DATA, data, 6).symbol("worker_loop", second_top);
    (Elf::new("threads", &elf.finish()), first_top, second_top)
}

/// The thread that a stop names.
fn thread_of(stop: &str) -> String {
    let (_, rest) = stop.split_once("thread:").unwrap_or_else(|| panic!("a thread in {stop}"));
    rest.split(';').next().unwrap_or_default().trim_start_matches('0').to_owned()
}

/// All threads, the one on the hart first.
fn threads(gdb: &mut Client) -> Vec<String> {
    let all = gdb.ask("qfThreadInfo");
    let all = all.strip_prefix('m').expect("threads").split(',');
    all.map(|thread| thread.trim_start_matches('0').to_owned()).collect()
}

/// A register of a thread; that is the chosen one then.
fn of(gdb: &mut Client, thread: &str, register: &str) -> Vec<u32> {
    assert_eq!(gdb.ask(&format!("Hg{thread}")), "OK");
    words(&gdb.ask(&format!("p{register}")))
}

fn counter(gdb: &mut Client, thread: &str, register: u8) -> u32 {
    of(gdb, thread, &format!("{register:x}"))[0]
}

#[test]
fn each_thread_has_its_registers_and_steps_by_itself() {
    let (elf, first_top, second_top) = two_threads(100_000, false);
    let (mut child, port) = start(&elf, &["--schedule", "round-robin:50"]);
    let mut gdb = Client::new(&port);
    assert_eq!(threads(&mut gdb), ["3e8"]);
    assert_eq!(gdb.ask(&format!("Z0,{second_top:x},4")), "OK");
    let stop = gdb.ask("vCont;c");
    assert!(stop.contains("swbreak"), "{stop}");
    let (first, second) = ("3e8".to_owned(), thread_of(&stop));
    assert_ne!(first, second);
    // The one on the hart is the first of the list.
    assert_eq!(threads(&mut gdb), [&*second, &*first]);
    assert_eq!(gdb.ask("qsThreadInfo"), "l");
    assert_eq!(gdb.ask(&format!("qThreadExtraInfo,{second}")), hex("worker, on the hart"));
    assert_eq!(gdb.ask(&format!("T{first}")), "OK");
    assert!(gdb.ask("T77").starts_with('E'));
    assert_eq!(of(&mut gdb, &first, V8)[..4], [2; 4]);
    assert_eq!(of(&mut gdb, &second, V8)[..4], [1; 4]);
    assert_eq!(u64::from(of(&mut gdb, &second, PC)[0]), second_top);
    // A register of the one that is not on the hart is written.
    assert_eq!(gdb.ask(&format!("Hg{first}")), "OK");
    assert_eq!(gdb.ask("P13=0900000000000000"), "OK");
    assert_eq!(gdb.ask(&format!("P{V8}={}", "07000000".repeat(4))), "OK");
    assert_eq!((counter(&mut gdb, &first, 0x13), counter(&mut gdb, &second, 0x13)), (9, 0));
    assert_eq!(of(&mut gdb, &first, V8)[..4], [7; 4]);
    assert_eq!(of(&mut gdb, &second, V8)[..4], [1; 4]);
    assert_eq!(gdb.ask(&format!("z0,{second_top:x},4")), "OK");
    // Locked: for many turns' time only the first one executes.
    let before = (counter(&mut gdb, &first, S2), counter(&mut gdb, &second, S1));
    for _ in 0..300 {
        assert_eq!(thread_of(&gdb.ask(&format!("vCont;s:{first}"))), first);
    }
    let after = (counter(&mut gdb, &first, S2), counter(&mut gdb, &second, S1));
    assert!(after.0 > before.0 + 100 && after.1 == before.1, "{before:?} {after:?}");
    // Not locked: the other has its turns.
    for _ in 0..300 {
        assert_eq!(thread_of(&gdb.ask(&format!("vCont;s:{first};c"))), first);
    }
    let then = (counter(&mut gdb, &first, S2), counter(&mut gdb, &second, S1));
    assert!(then.0 > after.0 + 100 && then.1 > after.1 + 50, "{after:?} {then:?}");
    // The second alone, up to a breakpoint; the first one's is not met.
    assert_eq!(gdb.ask(&format!("Z0,{second_top:x},4")), "OK");
    assert_eq!(gdb.ask(&format!("Z0,{first_top:x},4")), "OK");
    for _ in 0..100 {
        assert_eq!(thread_of(&gdb.ask(&format!("vCont;c:{second}"))), second);
    }
    assert_eq!(counter(&mut gdb, &first, S2), then.0);
    assert_eq!(gdb.ask(&format!("z0,{second_top:x},4")), "OK");
    assert_eq!(thread_of(&gdb.ask("vCont;c")), first);
    assert_eq!(gdb.ask(&format!("z0,{first_top:x},4")), "OK");
    assert!(gdb.ask("vCont;c").starts_with("W05"));
    assert_eq!(child.wait().expect("it ends").code(), Some(5));
}

#[test]
fn a_thread_that_waits_says_for_what_and_waits_alone() {
    for options in [&["--schedule", "round-robin:50"][..], &["--schedule", "round-robin:50", "--sanitize"]] {
        let (elf, first_top, _) = two_threads(1000, true);
        let (mut child, port) = start(&elf, options);
        let mut gdb = Client::new(&port);
        assert_eq!(gdb.ask(&format!("Z0,{first_top:x},4")), "OK");
        for _ in 0..200 {
            assert_eq!(thread_of(&gdb.ask("vCont;c")), "3e8");
        }
        let second = threads(&mut gdb)[1].clone();
        let info = gdb.ask(&format!("qThreadExtraInfo,{second}"));
        assert!(info.starts_with(&hex("worker: ")) && info.contains(&hex("futex")), "{info}");
        // Nobody wakes it as long as it is alone; gdb can interrupt that.
        gdb.tell(&format!("vCont;c:{second}"));
        std::thread::sleep(Duration::from_millis(300));
        gdb.0.write_all(b"\x03").expect("it listens");
        let stop = gdb.next();
        assert!(stop.starts_with("T02") && thread_of(&stop) == second, "{stop}");
        assert_eq!(gdb.ask(&format!("z0,{first_top:x},4")), "OK");
        assert!(gdb.ask("vCont;c").starts_with("W05"), "{options:?}");
        assert_eq!(child.wait().expect("it ends").code(), Some(5));
    }
}

/// Two harts that count in s1, and by turns have 1s and 2s in v8; hart 0 ends the program.
fn two_harts() -> (Elf, u64) {
    let mut a = Asm::new(BARE_TEXT);
    a.li(T0, 1 << 9);
    a.csr(Op::Csrrs, 0, rvv_isa::csr::MSTATUS, T0);
    vsetivli(&mut a, 4, E32_M1_TA_MA);
    a.csr(Op::Csrrs, A0, rvv_isa::csr::MHARTID, 0);
    a.rri(Op::Addi, A1, A0, 1);
    a.inst(&Inst { rd: 8, rs1: A1, ..Inst::new(Op::VmvVX) });
    a.li(T0, 1000);
    let top = a.label_here();
    let loop_top = a.here();
    a.rri(Op::Addi, S1, S1, 1);
    a.branch(Op::Bne, A0, 0, top);
    a.branch(Op::Bne, S1, T0, top);
    (bare_elf("harts", a), loop_top)
}

#[test]
fn harts_are_threads_forwards_and_backwards() {
    let (elf, loop_top) = two_harts();
    let (mut child, port) = start(&elf, &["--smp", "2", "--schedule", "round-robin:40"]);
    let mut gdb = Client::new(&port);
    assert_eq!(threads(&mut gdb), ["1", "2"]);
    assert_eq!(gdb.ask("qThreadExtraInfo,2"), hex("hart 1"));
    assert_eq!(gdb.ask(&format!("Z0,{loop_top:x},4")), "OK");
    let mut met = Vec::new();
    for _ in 0..60 {
        let stop = gdb.ask("vCont;c");
        let thread = thread_of(&stop);
        met.push((thread.clone(), counter(&mut gdb, &thread, S1)));
    }
    assert_eq!(of(&mut gdb, "1", V8)[..4], [1; 4]);
    assert_eq!(of(&mut gdb, "2", V8)[..4], [2; 4]);
    let mhartid = format!("{:x}", 65 + 0xf14);
    assert_eq!((of(&mut gdb, "1", &mhartid)[0], of(&mut gdb, "2", &mhartid)[0]), (0, 1));
    assert!(met.iter().any(|(thread, _)| thread == "1") && met.iter().any(|(thread, _)| thread == "2"));
    // Backwards they are met in the same order.
    for (thread, count) in met.iter().rev().skip(1) {
        let stop = gdb.ask("bc");
        assert_eq!(&thread_of(&stop), thread, "{stop}");
        assert_eq!(counter(&mut gdb, thread, S1), *count);
    }
    // A step back of each, from where both have executed some.
    for _ in 0..40 {
        let _ = gdb.ask("vCont;c");
    }
    for thread in ["1", "2", "1"] {
        assert_eq!(gdb.ask(&format!("Hc{thread}")), "OK");
        assert_eq!(thread_of(&gdb.ask("bs")), thread);
    }
    assert_eq!(gdb.ask(&format!("z0,{loop_top:x},4")), "OK");
    // One alone.
    let other = counter(&mut gdb, "2", S1);
    for _ in 0..200 {
        assert_eq!(thread_of(&gdb.ask("vCont;s:1")), "1");
    }
    assert_eq!(counter(&mut gdb, "2", S1), other);
    assert!(gdb.ask("vCont;c").starts_with("W00"));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
