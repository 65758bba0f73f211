//! A process under gdb goes back.

use super::scripts::{has_in_order, kill, session};
use super::*;

const S1: u8 = 9;
const S2: u8 = 18;
const S3: u8 = 19;
const A5: u8 = 15;

/// Stored to once, in the fourth of five rounds.
const VICTIM: u64 = DATA + 0x40;
const TEXT_AT: u64 = DATA + 0x80;

const INPUT: &str = "0000000000000000";
const OUTPUT: &str = "5000500050005000done\n";

/// Where things are in [`worker`].
struct Places {
    /// The vector store of the loop.
    store: u64,
    /// The store to [`VICTIM`].
    victim: u64,
    /// The call that reads.
    read: u64,
    /// The first call that writes.
    write: u64,
    /// The call that ends it.
    exit: u64,
}

fn calls(a: &mut Asm, number: u64, args: &[u64]) -> u64 {
    for (register, value) in (A0..).zip(args) {
        a.li(register, *value);
    }
    a.li(A7, number);
    let at = a.here();
    a.plain(Op::Ecall);
    at
}

fn copy(a: &mut Asm, to: u8, from: u8) {
    a.rri(Op::Addi, to, from, 0);
}

/// Reads, has a heap and a mapping, adds to vectors in a loop, writes twice, and ends with 7.
fn worker() -> (Elf, Places) {
    let mut a = Asm::new(TEXT);
    let read = calls(&mut a, 63, &[0, DATA, 16]);
    calls(&mut a, 214, &[0]);
    copy(&mut a, S2, A0);
    a.li(T0, 0x2000);
    a.rrr(Op::Add, A0, S2, T0);
    calls(&mut a, 214, &[]);
    calls(&mut a, 222, &[0, 0x4000, 3, 0x22, u64::MAX, 0]);
    assert_eq!(A5, A0 + 5);
    copy(&mut a, S3, A0);
    vsetivli(&mut a, 4, E32_M1_TA_MA);
    a.li(T1, DATA);
    memory(&mut a, "vle32.v", 8, T1);
    vmv_v_i(&mut a, 9, 1);
    a.li(S1, 5);
    a.li(T2, 2);
    a.li(T1, VICTIM);
    let top = a.label_here();
    a.inst(&Inst { rd: 8, rs1: 9, rs2: 8, ..Inst::new(Op::VaddVv) });
    let store = a.here();
    memory(&mut a, "vse32.v", 8, S3);
    memory(&mut a, "vse32.v", 8, S2);
    let past = a.label();
    a.branch(Op::Bne, S1, T2, past);
    let victim = a.here();
    a.store(Op::Sw, S1, 0, T1);
    a.place(past);
    a.rri(Op::Addi, S1, S1, -1);
    a.branch(Op::Bne, S1, 0, top);
    a.li(A0, 1);
    copy(&mut a, A1, S3);
    a.li(A2, 16);
    let write = calls(&mut a, 64, &[]);
    copy(&mut a, A0, S3);
    a.li(A1, 0x4000);
    calls(&mut a, 215, &[]);
    calls(&mut a, 64, &[1, TEXT_AT, 5]);
    let exit = calls(&mut a, 93, &[7]);
    let mut data = vec![0; 0x1000];
    data[0x80..0x85].copy_from_slice(b"done\n");
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).segment(DATA, data, 6);
    (Elf::new("worker", &elf.finish()), Places { store, victim, read, write, exit })
}

fn begin(elf: &Elf, options: &[&str]) -> (Child, String) {
    start_with(elf, options, INPUT, Stdio::piped())
}

/// It ends with this code, and has written everything once.
fn finished(mut child: Child, code: i32, output: &str) {
    let mut text = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut text).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(code));
    assert_eq!(text, output);
}

fn pc(gdb: &mut Client) -> u64 {
    u64::from(words(&gdb.ask("p20"))[0])
}

fn v8(gdb: &mut Client) -> u32 {
    words(&gdb.ask(&format!("p{V8}")))[0] & 0xff
}

fn word_at(gdb: &mut Client, address: u64) -> u32 {
    words(&gdb.ask(&format!("m{address:x},4")))[0]
}

/// An answer, and what gdb is to print before it.
fn ask_and_hear(gdb: &mut Client, packet: &str) -> (String, String) {
    let (mut heard, mut answer) = (Vec::new(), gdb.ask(packet));
    while let Some(digits) = answer.strip_prefix('O') {
        let byte = |n: usize| u8::from_str_radix(&digits[2 * n..2 * n + 2], 16).expect("digits");
        heard.extend((0..digits.len() / 2).map(byte));
        answer = gdb.next();
    }
    (answer, String::from_utf8(heard).expect("text"))
}

#[test]
fn a_process_runs_backwards() {
    for options in
        [&["--vlen", "128"][..], &["--vlen", "1024"], &["--vlen", "256", "--engine", "interpreter"]]
    {
        let (elf, places) = worker();
        let (child, port) = begin(&elf, options);
        let mut gdb = Client::new(&port);
        let store = format!("{:x},4", places.store);
        assert_eq!(gdb.ask(&format!("Z0,{store}")), "OK");
        let zero = u32::from(b'0');
        for round in 1..=5 {
            assert!(gdb.ask("c").contains("swbreak"));
            assert_eq!(v8(&mut gdb), zero + round, "{options:?}");
        }
        assert!(gdb.ask("bs").starts_with("T05"));
        assert_eq!((v8(&mut gdb), pc(&mut gdb)), (zero + 4, places.store - 4));
        for round in [4, 3, 2, 1] {
            assert!(gdb.ask("bc").contains("swbreak"));
            assert_eq!(v8(&mut gdb), zero + round);
        }
        // To the beginning, where nothing is read yet, and step by step over the call that reads.
        assert!(gdb.ask("bc").contains("replaylog:begin"));
        assert_eq!((pc(&mut gdb), word_at(&mut gdb, DATA)), (TEXT, 0));
        while pc(&mut gdb) != places.read {
            assert!(gdb.ask("s").starts_with("T05"));
        }
        for _ in 0..2 {
            assert!(gdb.ask("s").starts_with("T05"));
            assert_eq!((pc(&mut gdb), word_at(&mut gdb, DATA)), (places.read + 4, 0x3030_3030));
            assert!(gdb.ask("bs").starts_with("T05"));
            assert_eq!((pc(&mut gdb), word_at(&mut gdb, DATA)), (places.read, 0));
        }
        assert!(gdb.ask("c").contains("swbreak"));
        assert_eq!(v8(&mut gdb), zero + 1);
        assert_eq!(gdb.ask(&format!("z0,{store}")), "OK");
        // Over the end of the past, over both writes, back over them and forward again.
        assert_eq!(gdb.ask(&format!("Z0,{:x},4", places.exit)), "OK");
        for _ in 0..3 {
            assert!(gdb.ask("c").contains("swbreak"));
            assert!(gdb.ask("bc").contains("replaylog:begin"));
        }
        assert!(gdb.ask("c").contains("swbreak"));
        assert!(gdb.ask("c").starts_with("W07"));
        finished(child, 7, OUTPUT);
    }
}

/// What a user would type.
#[test]
fn gdb_goes_back_in_a_process() {
    for vlen in ["128", "1024"] {
        let (elf, places) = worker();
        let (child, port) = begin(&elf, &["--vlen", vlen]);
        let commands = [
            &format!("break *{:#x}", places.store),
            "continue",
            "continue",
            "continue",
            "print $v8.b[0]",
            "reverse-stepi",
            "print $v8.b[0]",
            "print $vl",
            "delete",
            // Who wrote this?
            &format!("break *{:#x}", places.exit),
            "continue",
            &format!("watch *(int *) {VICTIM:#x}"),
            "reverse-continue",
            "print $pc",
            "print $s1",
            "delete",
            // Over a call that writes, which is not made again.
            &format!("break *{:#x}", places.write),
            "continue",
            "delete",
            "stepi",
            "print $a0",
            "reverse-stepi",
            "print $pc",
            "stepi",
            "print $a0",
            // A call wrote this.
            &format!("watch *(int *) {DATA:#x}"),
            "reverse-continue",
            "print $pc",
            "delete",
            "monitor snapshot here",
            "reverse-continue",
            "monitor restore here",
            "maintenance flush register-cache",
            "maintenance flush dcache",
            "print $pc",
            "continue",
        ];
        let Some(text) = session(&port, Some(&elf), &commands) else { return kill(child) };
        let at = |address: u64| format!("(void (*)()) {address:#x}");
        has_in_order(
            &text,
            &[
                "$1 = 51",
                "$2 = 50",
                "$3 = 4",
                "Old value = 2",
                "New value = 0",
                &format!("$4 = {}", at(places.victim)),
                "$5 = 2",
                "$6 = 16",
                &format!("$7 = {}", at(places.write)),
                "$8 = 16",
                "Old value = 808464432",
                "New value = 0",
                &format!("$9 = {}", at(places.read)),
                "No more reverse-execution history",
                &format!("$10 = {}", at(places.read)),
                "exited with code 07",
            ],
        );
        has_in_order(&text, &["snapshot here: ", "restored here: "]);
        finished(child, 7, OUTPUT);
    }
}

/// Whose fault is a null pointer?
#[test]
fn a_process_goes_back_from_its_end() {
    let mut a = Asm::new(TEXT);
    a.li(T0, VICTIM);
    a.li(S1, 3);
    let top = a.label_here();
    a.rri(Op::Addi, S1, S1, -1);
    let store = a.here();
    a.store(Op::Sd, S1, 0, T0);
    a.branch(Op::Bne, S1, 0, top);
    calls(&mut a, 172, &[]);
    a.rri(Op::Ld, T1, T0, 0);
    let fault = a.here();
    a.store(Op::Sd, T1, 0, T1);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 0x1000);
    let elf = Elf::new("fault", &elf.finish());
    let (child, port) = begin(&elf, &[]);
    let mut gdb = Client::new(&port);
    for _ in 0..2 {
        assert!(gdb.ask("c").starts_with("T0b"));
        assert_eq!(pc(&mut gdb), fault);
        assert_eq!(gdb.ask(&format!("Z2,{VICTIM:x},8")), "OK");
        assert!(gdb.ask("bc").contains("watch:"));
        assert_eq!((pc(&mut gdb), word_at(&mut gdb, VICTIM)), (store + 4, 0));
        assert!(gdb.ask("bs").starts_with("T05"));
        assert_eq!((pc(&mut gdb), word_at(&mut gdb, VICTIM)), (store, 1));
        assert_eq!(gdb.ask(&format!("z2,{VICTIM:x},8")), "OK");
    }
    assert!(gdb.ask("c").starts_with("T0b"));
    assert!(gdb.ask("bs").starts_with("T05"));
    assert_eq!(pc(&mut gdb), fault - 4);
    assert!(gdb.ask("s").starts_with("T05"));
    assert!(gdb.ask("c").starts_with("T0b"));
    assert!(gdb.ask("c").starts_with("X0b"));
    finished(child, 128 + 11, "");
}

/// What the host has seen cannot become another past.
#[test]
fn the_past_is_changed_only_where_no_system_call_follows() {
    let (elf, places) = worker();
    let (child, port) = begin(&elf, &[]);
    let mut gdb = Client::new(&port);
    assert_eq!(gdb.ask(&format!("Z0,{:x},4", places.store)), "OK");
    for _ in 0..2 {
        assert!(gdb.ask("c").contains("swbreak"));
    }
    let changed = format!("P{V8}={}", "31303030".repeat(4));
    assert!(monitor(&mut gdb, "snapshot here").starts_with("snapshot here: "));
    assert!(gdb.ask("bc").contains("swbreak"));
    // No call has been made since the first round, so this is the present now.
    assert_eq!(gdb.ask(&changed), "OK");
    let (stop, heard) = ask_and_hear(&mut gdb, "bs");
    assert!(stop.contains("replaylog:begin") && heard.contains("changed by hand"), "{stop} {heard}");
    // And so one can return, whatever was changed.
    assert!(monitor(&mut gdb, "restore here").starts_with("restored here: "));
    assert_eq!(v8(&mut gdb), u32::from(b'2'));
    assert!(gdb.ask("c").contains("swbreak"));
    assert!(gdb.ask("bc").contains("swbreak"));
    assert_eq!(v8(&mut gdb), u32::from(b'2'));
    assert!(ask_and_hear(&mut gdb, "bc").0.contains("replaylog:begin"));
    // A call has been made: only where it was may this be changed.
    assert_eq!(gdb.ask(&format!("z0,{:x},4", places.store)), "OK");
    assert_eq!(gdb.ask(&format!("Z0,{:x},4", places.exit)), "OK");
    assert!(gdb.ask("c").contains("swbreak"));
    assert!(gdb.ask("bs").starts_with("T05"));
    assert!(ask_and_hear(&mut gdb, "bc").0.contains("replaylog:begin"));
    assert!(gdb.ask(&changed).starts_with('E'));
    assert!(gdb.ask(&format!("M{DATA:x},1:00")).starts_with('E'));
    assert!(gdb.ask("P5=0000000000000000").starts_with('E'));
    assert!(gdb.ask("c").contains("swbreak"));
    assert_eq!(gdb.ask("Pa=0900000000000000"), "OK");
    let restored = monitor(&mut gdb, "restore here");
    assert!(restored.starts_with("there is no way back to that state: "), "{restored}");
    assert!(gdb.ask("c").starts_with("W09"));
    finished(child, 9, OUTPUT);
}

#[test]
fn threads_and_children_have_no_past_and_it_says_so() {
    let (elf, _, second_top) = super::threads::two_threads(1000, false);
    let (child, port) = begin(&elf, &["--schedule", "round-robin:50"]);
    let mut gdb = Client::new(&port);
    assert!(gdb.ask("s").starts_with("T05") && gdb.ask("bs").starts_with("T05"));
    assert_eq!(gdb.ask(&format!("Z0,{second_top:x},4")), "OK");
    // As gdb says it: `c` alone means one thread.
    let stop = gdb.ask("vCont;c");
    assert!(stop.contains("swbreak"), "{stop}");
    for packet in ["bs", "bc"] {
        let (stop, heard) = ask_and_hear(&mut gdb, packet);
        assert!(stop.contains("replaylog:begin") && heard.contains("several threads"), "{stop} {heard}");
    }
    assert!(monitor(&mut gdb, "snapshot").contains("several threads"));
    assert_eq!(gdb.ask(&format!("z0,{second_top:x},4")), "OK");
    assert!(gdb.ask("vCont;c").starts_with("W05"));
    finished(child, 5, "");

    let elf = forks(10);
    let (child, port) = begin(&elf, &[]);
    let mut gdb = Client::new(&port);
    // To the wait for the child, behind its start.
    while words(&gdb.ask("p11"))[0] != 260 {
        assert!(gdb.ask("s").starts_with("T05"));
    }
    let at = pc(&mut gdb);
    assert!(gdb.ask("s").starts_with("T05") && gdb.ask("bs").starts_with("T05"));
    assert_eq!(pc(&mut gdb), at);
    let (stop, heard) = ask_and_hear(&mut gdb, "bc");
    assert!(stop.contains("replaylog:begin") && heard.contains("started a process"), "{stop} {heard}");
    assert!(gdb.ask("c").starts_with("W09"));
    finished(child, 9, "");
}
