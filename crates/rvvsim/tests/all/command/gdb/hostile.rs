//! Clients that make no sense.

use super::*;

#[test]
fn a_client_that_makes_no_sense_does_no_harm() {
    for (n, nonsense) in [
        b"$m0,ffffffffffffffff#9e".as_slice(),
        b"$qXfer:features:read:target.xml:ffffffffffffffff,ffffffffffffffff#00$g#67",
        b"$P104a=00#ff$Gxx#00$Z2,ffffffffffffffff,ffffffffffffffff#00",
        b"\x03\x03\0\xff$$$$####",
        b"",
    ]
    .into_iter()
    .enumerate()
    {
        let (elf, _, _) = process();
        let (mut child, port) = start(&elf, &[]);
        let mut client = Client::new(&port);
        client.0.write_all(nonsense).expect("it listens");
        drop(client);
        // Without gdb the program goes on.
        assert_eq!(child.wait().expect("it ends").code(), Some(7), "{n}");
    }
}

#[test]
fn threads_that_are_not_there_are_refused() {
    let (elf, add, _) = process();
    let (mut child, port) = start(&elf, &[]);
    let mut gdb = Client::new(&port);
    for thread in ["7fffffffffffffff", "77", "3e9"] {
        assert_eq!(gdb.ask(&format!("Hg{thread}")), "OK");
        for packet in ["g", "p20", "p104a", "m10000,4", "M10000,1:00", "P20=0000000000000000"] {
            assert!(gdb.ask(packet).starts_with('E'), "{thread} {packet}");
        }
        assert!(gdb.ask(&format!("T{thread}")).starts_with('E'));
        let _ = gdb.ask(&format!("qThreadExtraInfo,{thread}"));
    }
    // What steps nobody lets all go on.
    assert_eq!(gdb.ask(&format!("Z0,{add:x},4")), "OK");
    assert!(gdb.ask("vCont;s:77;c:99").contains("swbreak"));
    assert_eq!(gdb.ask(&format!("z0,{add:x},4")), "OK");
    assert!(gdb.ask("vCont;c:77").starts_with("W07"));
    assert_eq!(child.wait().expect("it ends").code(), Some(7));
}

/// A supervisor with RAM up to the last address, in a loop; and where that is.
fn with_ram_at_the_last_address() -> (Elf, u64) {
    const TABLE: u64 = 0x8000_3000;
    // Valid, readable, writable, executable, accessed, dirty.
    let leaf = |to: u64| to >> 12 << 10 | 0xcf;
    let mut a = Asm::new(BARE_TEXT);
    for (index, to) in [(2, 0x8000_0000), (511, 0xc000_0000)] {
        a.li(T0, TABLE + 8 * index);
        a.li(T1, leaf(to));
        a.store(Op::Sd, T1, 0, T0);
    }
    let supervisor = a.label();
    for (csr, value) in [
        (rvv_isa::csr::PMPADDR0, u64::MAX),
        (rvv_isa::csr::PMPCFG0, 0x1f),
        (rvv_isa::csr::SATP, 8 << 60 | TABLE >> 12),
        (rvv_isa::csr::MSTATUS, 1 << 11),
    ] {
        a.li(T0, value);
        a.csr(Op::Csrrw, 0, csr, T0);
    }
    a.la(T0, supervisor);
    a.csr(Op::Csrrw, 0, rvv_isa::csr::MEPC, T0);
    a.plain(Op::Mret);
    a.place(supervisor);
    let there = a.here();
    (bare_elf("top", a), there)
}

#[test]
fn reads_do_not_go_past_the_last_address() {
    let (elf, there) = with_ram_at_the_last_address();
    let (mut child, port) = start(&elf, &[]);
    let mut gdb = Client::new(&port);
    assert_eq!(gdb.ask(&format!("Z0,{there:x},4")), "OK");
    assert!(gdb.ask("c").contains("swbreak"));
    assert_eq!(gdb.ask("mfffffffffffffff8,8"), "0".repeat(16));
    for packet in ["mfffffffffffe0000,40000", "mffffffffffff8000,ffffffff", "mfffffffffffffff8,10"] {
        let _ = gdb.ask(packet);
    }
    assert_eq!(u64::from(words(&gdb.ask("p20"))[0]), there);
    assert_eq!(gdb.ask(&format!("z0,{there:x},4")), "OK");
    assert!(gdb.ask("c").starts_with("W00"));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}

/// Pieces of packets: what each may begin with, and what may follow.
const BEGINS: &[&str] = &[
    "?",
    "g",
    "G",
    "p",
    "P",
    "m",
    "M",
    "X",
    "c",
    "s",
    "vCont;c",
    "vCont;s:",
    "vCont;",
    "vCont?",
    "bs",
    "bc",
    "Z0,",
    "Z1,",
    "Z2,",
    "Z3,",
    "Z4,",
    "z0,",
    "z2,",
    "Hg",
    "Hc",
    "T",
    "qRcmd,",
    "qThreadExtraInfo,",
    "qfThreadInfo",
    "qXfer:features:read:target.xml:",
    "qXfer:auxv:read::",
    "qXfer:exec-file:read:",
    "vFile:open:",
    "vFile:pread:",
    "vFile:close:",
    "vFile:fstat:",
    "vFile:readlink:",
    "vFile:setfs:",
    "qSupported:",
    "qC",
    "QStartNoAckMode",
    "vRun;",
    "vAttach;",
    "R",
    "!",
    "C",
    "S",
];
const FOLLOWS: &[&str] = &[
    "0",
    "1",
    "20",
    "104a",
    "3e8",
    "p1.3e8",
    "-1",
    "p-1.-1",
    "7fffffff",
    "ffffffffffffffff",
    "fffffffffffff000",
    ",",
    ":",
    ";",
    "=",
    "-",
    "10000",
    "20008",
    "20008,8",
    "8000,ffffffff",
    "ffffffffffffffff,ffffffffffffffff",
    "2f6574632f",
    "2e2e2f",
    "736e617073686f74",
    "726573746f7265",
    "6578706c61696e20763820",
    "}",
    "*",
    "\u{7f}",
    "zz",
    "0000000000000000",
];

/// Random packets, well framed: rvvsim does not panic, and ends.
#[test]
fn random_packets_do_no_harm() {
    let mut dice = 20;
    let mut roll = |sides: usize| {
        // xorshift
        dice ^= dice << 13;
        dice ^= dice >> 7;
        dice ^= dice << 17;
        (dice % sides as u64) as usize
    };
    for session in 0..30 {
        let (elf, ..) = if session % 2 == 0 { process() } else { bare() };
        let options = ["--max-insns", "100000", "--sanitize"];
        let (mut child, port) = start(&elf, &options[..if session % 4 == 0 { 3 } else { 2 }]);
        let stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("somebody listens");
        let mut answers = stream.try_clone().expect("a second one");
        // Answers are read, so that nobody waits for room.
        let reader = std::thread::spawn(move || std::io::copy(&mut answers, &mut std::io::sink()));
        let mut stream = stream;
        for _ in 0..200 {
            let mut packet = BEGINS[roll(BEGINS.len())].to_owned();
            for _ in 0..roll(5) {
                packet += FOLLOWS[roll(FOLLOWS.len())];
            }
            let sum = packet.bytes().fold(0u8, u8::wrapping_add);
            // It may have gone already.
            if stream.write_all(format!("+${packet}#{sum:02x}").as_bytes()).is_err() {
                break;
            }
            if roll(20) == 0 {
                let _ = stream.write_all(b"\x03");
            }
        }
        let _ = stream.shutdown(std::net::Shutdown::Both);
        let _ = reader.join();
        let mut text = String::new();
        child.stderr.take().expect("a pipe").read_to_string(&mut text).expect("text");
        let status = child.wait().expect("it ends");
        assert!(!text.contains("panicked") && status.code().is_some(), "{session}: {status:?} {text}");
    }
}
