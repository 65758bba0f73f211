//! `--gdb`: by the protocol itself, and with gdb where there is one.

mod dynamic;
mod files;
mod hostile;
mod reverse;
mod scripts;
mod threads;

use super::guest::*;
use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// A file that goes away.
struct Elf(PathBuf);

impl Elf {
    fn new(name: &str, bytes: &[u8]) -> Elf {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let n = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rvvsim-gdb-{name}-{}-{n}", std::process::id()));
        std::fs::write(&path, bytes).expect("a file");
        Elf(path)
    }
}

impl Drop for Elf {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A loop of three rounds that adds `v8` to itself and stores it; the addresses of the addition and of what
/// is behind the store.
fn vector_loop(base: u64, data: u64, end: impl FnOnce(&mut Asm)) -> (Vec<u8>, u64, u64) {
    let mut a = Asm::new(base);
    a.li(A0, data);
    a.li(A1, 3);
    vsetivli(&mut a, 4, E32_M1_TA_MA);
    vmv_v_i(&mut a, 8, 1);
    let top = a.label_here();
    let add = a.here();
    a.inst(&Inst { rd: 8, rs1: 8, rs2: 8, ..Inst::new(Op::VaddVv) });
    memory(&mut a, "vse32.v", 8, A0);
    let behind = a.here();
    a.rri(Op::Addi, A1, A1, -1);
    a.branch(Op::Bne, A1, 0, top);
    end(&mut a);
    (a.finish(), add, behind)
}

fn process() -> (Elf, u64, u64) {
    let (text, add, behind) = vector_loop(TEXT, DATA, |a| {
        a.li(A0, 7);
        syscall(a, 93);
    });
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, text, 5).zeros(DATA, 0x1000);
    (Elf::new("process", &elf.finish()), add, behind)
}

fn bare() -> (Elf, u64, u64) {
    const BARE_DATA: u64 = 0x8000_2000;
    let (text, add, behind) = vector_loop(BARE_TEXT + 8, BARE_DATA, |a| {
        a.li(T0, TOHOST);
        a.li(T1, 1);
        a.store(Op::Sd, T1, 0, T0);
        let here = a.label_here();
        a.jump(here);
    });
    // mstatus.VS
    let mut a = Asm::new(BARE_TEXT);
    a.li(T0, 1 << 9);
    a.csr(Op::Csrrs, 0, rvv_isa::csr::MSTATUS, T0);
    let mut all = a.finish();
    assert_eq!(all.len(), 8);
    all.extend(text);
    let mut elf = ElfWriter::new(BARE_TEXT);
    elf.segment(BARE_TEXT, all, 5).zeros(TOHOST, 0x2000).symbol("tohost", TOHOST);
    (Elf::new("bare", &elf.finish()), add, behind)
}

/// A bare-metal program that ends well behind its code, and has room for tables.
fn bare_elf(name: &str, mut a: Asm) -> Elf {
    a.li(T0, TOHOST);
    a.li(T1, 1);
    a.store(Op::Sd, T1, 0, T0);
    let here = a.label_here();
    a.jump(here);
    let mut elf = ElfWriter::new(BARE_TEXT);
    elf.segment(BARE_TEXT, a.finish(), 5).zeros(TOHOST, 0x3000).symbol("tohost", TOHOST);
    Elf::new(name, &elf.finish())
}

/// `rvvsim --gdb 0`, and the port it took.
fn start(elf: &Elf, options: &[&str]) -> (Child, String) {
    start_with(elf, options, "", Stdio::inherit())
}

/// The same, with standard input and output.
fn start_with(elf: &Elf, options: &[&str], input: &str, output: Stdio) -> (Child, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_rvvsim"))
        .args(["--gdb", "0"])
        .args(options)
        .arg(&elf.0)
        .stdin(Stdio::piped())
        .stdout(output)
        .stderr(Stdio::piped())
        .spawn()
        .expect("rvvsim");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it has room");
    let mut line = String::new();
    BufReader::new(child.stderr.as_mut().expect("a pipe")).read_line(&mut line).expect("text");
    let port = line.trim().rsplit_once(':').expect("a port").1.to_owned();
    (child, port)
}

/// gdb, as far as these tests need one.
struct Client(TcpStream);

impl Client {
    fn new(port: &str) -> Client {
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("somebody listens");
        // A packet goes in two parts, an acknowledgement and itself: the second would wait for the first's.
        stream.set_nodelay(true).expect("an option");
        stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a limit");
        Client(stream)
    }

    /// Sends a packet.
    fn tell(&mut self, packet: &str) {
        let sum = packet.bytes().fold(0u8, u8::wrapping_add);
        self.0.write_all(format!("${packet}#{sum:02x}").as_bytes()).expect("it listens");
    }

    /// The answer to a packet, without the run-length encoding.
    fn ask(&mut self, packet: &str) -> String {
        self.tell(packet);
        self.next()
    }

    /// The next packet.
    fn next(&mut self) -> String {
        String::from_utf8_lossy(&self.next_bytes()).into_owned()
    }

    /// The same, which need not be text.
    fn next_bytes(&mut self) -> Vec<u8> {
        let mut answer = Vec::new();
        let mut byte = [0];
        let mut next = || {
            self.0.read_exact(&mut byte).expect("an answer");
            byte[0]
        };
        while next() != b'$' {}
        loop {
            match next() {
                b'#' => break,
                b'*' => {
                    let (times, last) = (next() - 29, *answer.last().expect("a letter to repeat"));
                    answer.extend(std::iter::repeat_n(last, times.into()));
                }
                letter => answer.push(letter),
            }
        }
        // The checksum.
        next();
        next();
        self.0.write_all(b"+").expect("it listens");
        answer
    }
}

/// Little-endian words as gdb writes them.
fn words(hex: &str) -> Vec<u32> {
    let byte = |at: usize| u32::from_str_radix(&hex[at..at + 2], 16).expect("digits");
    (0..hex.len() / 8).map(|n| (0..4).map(|i| byte(8 * n + 2 * i) << (8 * i)).sum()).collect()
}

const V8: &str = "104a"; // 4162 + 8

#[test]
fn a_process_breaks_steps_and_ends() {
    for vlen in ["128", "1024"] {
        let (elf, add, behind) = process();
        let (mut child, port) = start(&elf, &["--vlen", vlen]);
        let mut gdb = Client::new(&port);
        let supported = gdb.ask("qSupported:swbreak+;hwbreak+");
        assert!(supported.contains("qXfer:features:read+") && supported.contains("qXfer:auxv:read+"));
        assert!(supported.contains("ReverseStep+") && supported.contains("ReverseContinue+"), "{supported}");
        let xml = gdb.ask("qXfer:features:read:target.xml:0,7000");
        let count = vlen.parse::<u32>().expect("a number") / 32;
        assert!(xml.contains(&format!("<vector id=\"words\" type=\"uint32\" count=\"{count}\"/>")), "{xml}");
        assert!(xml.contains("name=\"vtype\"") && !xml.contains("name=\"mstatus\""), "{xml}");
        assert_eq!(gdb.ask(&format!("Z0,{add:x},4")), "OK");
        for round in 0..2 {
            assert!(gdb.ask("c").contains("swbreak"), "round {round}");
            assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [1 << round; 4]);
            assert!(gdb.ask("s").starts_with("T05"));
        }
        assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [4; 4]);
        assert_eq!(words(&gdb.ask(&format!("p{:x}", 65 + 0xc20)))[0], 4, "vl");
        // Element 1 and vl are changed, and the store sees both.
        let mut register = gdb.ask(&format!("p{V8}"));
        register.replace_range(8..16, "78563412");
        assert_eq!(gdb.ask(&format!("P{V8}={register}")), "OK");
        assert_eq!(gdb.ask(&format!("P{:x}=0300000000000000", 65 + 0xc20)), "OK");
        assert_eq!(gdb.ask(&format!("Z0,{behind:x},4")), "OK");
        assert!(gdb.ask("c").contains("swbreak"));
        assert_eq!(words(&gdb.ask(&format!("m{DATA:x},10"))), [4, 0x1234_5678, 4, 2]);
        assert_eq!(gdb.ask(&format!("z0,{behind:x},4")), "OK");
        assert_eq!(gdb.ask(&format!("z0,{add:x},4")), "OK");
        assert!(gdb.ask("m8,8").starts_with('E'), "nothing is there");
        assert!(gdb.ask("c").starts_with("W07"));
        assert_eq!(child.wait().expect("it ends").code(), Some(7));
    }
}

/// Text as packets have it.
fn hex(text: &str) -> String {
    text.bytes().map(|b| format!("{b:02x}")).collect()
}

/// What `monitor` prints, of packets in hexadecimal.
fn monitor(gdb: &mut Client, command: &str) -> String {
    let mut text = Vec::new();
    let mut answer = gdb.ask(&format!("qRcmd,{}", hex(command)));
    while let Some(digits) = answer.strip_prefix('O').filter(|digits| *digits != "K") {
        text.extend(
            (0..digits.len() / 2).map(|n| u8::from_str_radix(&digits[2 * n..2 * n + 2], 16).unwrap()),
        );
        answer = gdb.next();
    }
    String::from_utf8(text).expect("text")
}

/// A program that branches on the third element of a vector of which two are loaded, then again, and ends.
fn branches_on_a_tail() -> (Elf, u64) {
    let mut a = Asm::new(TEXT);
    vsetivli(&mut a, 2, E32_M1_TA_MA);
    vmv_v_i(&mut a, 8, 1);
    vsetivli(&mut a, 4, E32_M1_TA_MA);
    a.inst(&Inst { rd: 9, rs2: 8, imm: 2, ..Inst::new(Op::VslidedownVi) });
    a.inst(&Inst { rd: A0, rs2: 9, ..Inst::new(Op::VmvXS) });
    let top = a.label_here();
    let branch = a.here();
    let past = a.label();
    a.branch(Op::Beq, A0, 0, past);
    a.place(past);
    a.rri(Op::Addi, A1, A1, 1);
    a.li(T0, 3);
    a.branch(Op::Bltu, A1, T0, top);
    a.li(A0, 5);
    syscall(&mut a, 93);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 0x1000);
    (Elf::new("tail", &elf.finish()), branch)
}

#[test]
fn a_program_stops_where_an_undefined_value_decides_and_says_why_it_is_undefined() {
    let (elf, branch) = branches_on_a_tail();
    let (mut child, port) = start(&elf, &["--sanitize"]);
    let mut gdb = Client::new(&port);
    assert!(monitor(&mut gdb, "explain v8").contains("never written"));
    assert!(gdb.ask("c").starts_with("T05"));
    // Before the branch is taken.
    assert_eq!(u64::from(words(&gdb.ask("p20"))[0]), branch);
    let why = monitor(&mut gdb, "why");
    assert!(why.contains("undefined-branch") && why.contains("norm:vector_tail_element"), "{why}");
    let why = monitor(&mut gdb, "explain a0");
    assert!(why.starts_with("a0 is undefined") && why.contains("vslidedown.vi v9,v8,2"), "{why}");
    let tail = monitor(&mut gdb, "explain v8");
    assert!(tail.starts_with("v8[2] to v8[3] of 32 bits are undefined\n"), "{tail}");
    assert!(tail.contains("vmv.v.i v8,1 (element 2)"), "{tail}");
    assert_eq!(monitor(&mut gdb, "explain v8 1"), "v8 is defined\n");
    assert!(monitor(&mut gdb, "explain v8 2").contains("0xffffffff are undefined"));
    assert_eq!(monitor(&mut gdb, "explain a7"), "a7 is defined\n");
    assert!(monitor(&mut gdb, &format!("explain {DATA:#x} 64")).ends_with("is defined\n"));
    for nonsense in ["explain", "explain v99", "explain v8 x", "explain v8 99999999999", "explain x32 1 2"] {
        let text = monitor(&mut gdb, nonsense);
        assert!(text.contains("explain v8") || text.contains("has 4 elements"), "{nonsense}: {text}");
    }
    // The same place is reported once.
    assert!(gdb.ask("c").starts_with("W05"));
    assert_eq!(child.wait().expect("it ends").code(), Some(123));
}

/// gdb pauses the program again and again; a child that it forks goes on all the same, for longer than a
/// pause.
#[test]
fn a_child_of_the_program_outlives_pauses() {
    for (rounds, options) in [(5_000_000, &["--engine", "interpreter"][..]), (300_000, &["--sanitize"])] {
        let elf = forks(rounds);
        let (mut child, port) = start(&elf, options);
        let mut gdb = Client::new(&port);
        for _ in 0..4 {
            assert!(gdb.ask("s").starts_with("T05"));
        }
        assert!(gdb.ask("c").starts_with("W09"), "{options:?}");
        assert_eq!(child.wait().expect("it ends").code(), Some(9));
    }
}

/// A program that ends with the status of its child, 9, which counts so far.
fn forks(rounds: u64) -> Elf {
    let mut a = Asm::new(TEXT);
    // clone(SIGCHLD)
    a.li(A0, 17);
    for register in [A1, A2, A3, A4] {
        a.li(register, 0);
    }
    syscall(&mut a, 220);
    let parent = a.label();
    a.branch(Op::Bne, A0, 0, parent);
    // The child: some time, and status 9.
    a.li(T0, rounds);
    let top = a.label_here();
    a.rri(Op::Addi, T0, T0, -1);
    a.branch(Op::Bne, T0, 0, top);
    a.li(A0, 9);
    syscall(&mut a, 93);
    a.place(parent);
    // wait4(-1, DATA, 0, 0), and the child's status
    a.li(A0, u64::MAX);
    a.li(A1, DATA);
    a.li(A2, 0);
    a.li(A3, 0);
    syscall(&mut a, 260);
    a.li(T0, DATA);
    a.rri(Op::Lbu, A0, T0, 1);
    syscall(&mut a, 93);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 0x1000);
    Elf::new("fork", &elf.finish())
}

#[test]
fn elements_of_vector_accesses_are_watched() {
    let (elf, _, behind) = process();
    let (mut child, port) = start(&elf, &[]);
    let mut gdb = Client::new(&port);
    // The third element of the store.
    let element = DATA + 8;
    assert_eq!(gdb.ask(&format!("Z2,{element:x},4")), "OK");
    let stop = gdb.ask("c");
    let at = stop.split_once("watch:").and_then(|(_, rest)| rest.split(';').next());
    assert_eq!(at.map(|digits| u64::from_str_radix(digits, 16)), Some(Ok(element)), "{stop}");
    let pc = gdb.ask("p20");
    assert_eq!(u64::from(words(&pc)[0]), behind - 4, "the store, which has not been executed");
    // It is met once, also by who does not take the watchpoint away.
    let stop = gdb.ask("c");
    assert!(stop.contains("watch:"), "{stop}");
    assert_eq!(words(&gdb.ask(&format!("m{DATA:x},10"))), [2; 4], "the first round's");
    assert_eq!(gdb.ask(&format!("z2,{element:x},4")), "OK");
    // Past the store's four elements, and reads of what is only written.
    assert_eq!(gdb.ask(&format!("Z2,{:x},4", DATA + 16)), "OK");
    assert_eq!(gdb.ask(&format!("Z3,{element:x},4")), "OK");
    assert!(gdb.ask("c").starts_with("W07"));
    assert_eq!(child.wait().expect("it ends").code(), Some(7));
}

#[test]
fn bare_metal_runs_backwards() {
    let (elf, add, behind) = bare();
    let (mut child, port) = start(&elf, &[]);
    let mut gdb = Client::new(&port);
    let supported = gdb.ask("qSupported:swbreak+;hwbreak+");
    assert!(supported.contains("ReverseStep+") && supported.contains("ReverseContinue+"), "{supported}");
    assert_eq!(gdb.ask(&format!("Z0,{behind:x},4")), "OK");
    for value in [2, 4, 8] {
        assert!(gdb.ask("c").contains("swbreak"));
        assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [value; 4]);
    }
    // Over the store and the addition of the third round, then to the second round's end.
    assert!(gdb.ask("bs").starts_with("T05"));
    assert!(gdb.ask("bs").starts_with("T05"));
    assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [4; 4]);
    assert_eq!(u64::from(words(&gdb.ask("p20"))[0]), add);
    assert!(gdb.ask("bc").contains("swbreak"));
    assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [4; 4]);
    assert_eq!(u64::from(words(&gdb.ask("p20"))[0]), behind);
    assert!(gdb.ask("bc").contains("swbreak"));
    assert!(gdb.ask("bc").contains("replaylog:begin"));
    assert_eq!(gdb.ask(&format!("z0,{behind:x},4")), "OK");
    assert!(gdb.ask("c").starts_with("W00"));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

#[test]
fn snapshots_are_taken_and_returned_to() {
    let (elf, add, behind) = bare();
    let (mut child, port) = start(&elf, &[]);
    let mut gdb = Client::new(&port);
    assert!(monitor(&mut gdb, "restore").contains("there is no snapshot"));
    assert_eq!(gdb.ask(&format!("Z0,{behind:x},4")), "OK");
    assert!(gdb.ask("c").contains("swbreak"));
    assert!(monitor(&mut gdb, "snapshot").starts_with("snapshot last: "));
    assert!(gdb.ask("c").contains("swbreak"));
    assert!(monitor(&mut gdb, "snapshot second round").contains("a name is a word"));
    assert!(monitor(&mut gdb, "snapshot second").starts_with("snapshot second: "));
    assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [4; 4]);
    let text = monitor(&mut gdb, "restore");
    assert!(text.starts_with("restored last: ") && text.contains("flush register-cache"), "{text}");
    assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [2; 4]);
    // The past of a state is its own.
    assert!(gdb.ask("bs").starts_with("T05") && gdb.ask("bs").starts_with("T05"));
    assert_eq!(u64::from(words(&gdb.ask("p20"))[0]), add & 0xffff_ffff);
    assert!(monitor(&mut gdb, "restore nothing").contains("there are: last, second"));
    assert!(monitor(&mut gdb, "restore second").starts_with("restored second: "));
    assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [4; 4]);
    // A change cannot be undone, but by a snapshot.
    let three = "03000000".repeat(4);
    assert_eq!(gdb.ask(&format!("P{V8}={three}")), "OK");
    assert!(gdb.ask("bs").contains("replaylog:begin"));
    assert!(monitor(&mut gdb, "restore").starts_with("restored last: "));
    assert_eq!(words(&gdb.ask(&format!("p{V8}")))[..4], [2; 4]);
    for n in 2..16 {
        assert!(monitor(&mut gdb, &format!("snapshot s{n}")).starts_with("snapshot s"), "{n}");
    }
    assert!(monitor(&mut gdb, "snapshot more").contains("there are 16 snapshots already"));
    assert!(monitor(&mut gdb, "snapshot s2").starts_with("snapshot s2"));
    assert_eq!(gdb.ask(&format!("z0,{behind:x},4")), "OK");
    assert!(gdb.ask("c").starts_with("W00"));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
