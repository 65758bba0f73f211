//! `--trace` writes what Spike's `--log-commits` writes, where that is not what one would guess. The lines
//! expected are Spike's.

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op, csr};
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};

const TEXT: u64 = 0x8000_0000;
const TOHOST: u64 = 0x8000_1000;
const DATA: u64 = 0x8000_2000;

const T0: u8 = 5;
const T1: u8 = 6;
const A0: u8 = 10;

/// The lines of the log from address `TEXT + 0x100` to `TEXT + 0x200`, where `body` is, without what all
/// begin with.
fn lines(body: impl FnOnce(&mut Asm)) -> Vec<String> {
    let mut a = Asm::new(TEXT);
    a.li(T0, 0x2200);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, T0);
    a.li(A0, DATA);
    while a.here() < TEXT + 0x100 {
        a.rri(Op::Addi, 0, 0, 0);
    }
    body(&mut a);
    assert!(a.here() < TEXT + 0x200);
    while a.here() < TEXT + 0x200 {
        a.rri(Op::Addi, 0, 0, 0);
    }
    a.li(T0, TOHOST);
    a.li(T1, 1);
    a.store(Op::Sd, T1, 0, T0);
    let end = a.label_here();
    a.jump(end);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(TOHOST, 64).symbol("tohost", TOHOST).zeros(DATA, 0x1000);
    let elf = elf.finish();
    // To ask Spike again.
    if let Some(folder) = std::env::var_os("RVVSIM_KEEP_ELFS") {
        let name = std::thread::current().name().unwrap_or("test").to_owned();
        std::fs::write(std::path::Path::new(&folder).join(name), &elf).expect("a folder to write to");
    }
    let image = Image::parse(elf.as_slice()).expect("our own ELF");
    let mut machine = Machine::bare(Config { mem: 1 << 20, ..Config::default() }, &image).expect("it fits");
    let mut log = Vec::new();
    assert_eq!(machine.run_traced(None, &mut log).expect("memory"), Outcome::Exited(0));
    let log = String::from_utf8(log).expect("text");
    let here =
        |line: &&str| line.starts_with("core   0: 3 0x00000000800001") && !line.ends_with("(0x00000013)");
    let after = |line: &str| line.split_once(')').expect("an instruction").1.trim().to_owned();
    log.lines().filter(here).map(after).collect()
}

/// `mstatus` is in the line of the instruction that makes FS dirty, and in that of no later CSR instruction.
#[test]
fn mstatus_is_logged_when_it_changes() {
    let got = lines(|a| {
        a.rrr(Op::FmvDX, 1, 0, 0);
        a.csr(Op::Csrrw, T1, csr::MSCRATCH, A0);
        a.inst(&Inst { rs1: 1, imm: csr::FFLAGS.into(), ..Inst::new(Op::Csrrwi) });
        a.csr(Op::Csrrc, 0, csr::MSTATUS, T0);
        a.csr(Op::Csrrs, 0, csr::MSTATUS, T0);
        a.inst(&Inst { rs1: 3, imm: csr::FCSR.into(), ..Inst::new(Op::Csrrwi) });
        a.csr(Op::Csrrw, T1, csr::MSCRATCH, 0);
    });
    assert_eq!(
        got,
        [
            "f1  0x0000000000000000 c768_mstatus 0x8000000a00006200",
            "x6  0x0000000000000000 c832_mscratch 0x0000000080002000",
            "c1_fflags 0x0000000000000001",
            "c768_mstatus 0x0000000a00004000",
            "c768_mstatus 0x8000000a00006200",
            "c1_fflags 0x0000000000000003 c2_frm 0x0000000000000000",
            "x6  0x0000000080002000 c832_mscratch 0x0000000000000000",
        ]
    );
}

#[test]
fn cbo_zero_stores_bytes() {
    let got = lines(|a| a.inst(&Inst { rs1: A0, ..Inst::new(Op::CboZero) }));
    let bytes: Vec<_> = (0..64).map(|i| format!("mem {:#018x} 0x00", DATA + i)).collect();
    assert_eq!(got, [bytes.join(" ")]);
}

/// One load of sixteen bytes, two stores of eight, two registers.
#[test]
fn amocas_q_writes_two_registers() {
    let got = lines(|a| {
        a.li(12, 7);
        a.li(13, 9);
        a.li(14, 0);
        a.li(15, 0);
        a.inst(&Inst { rd: 14, rs1: A0, rs2: 12, ..Inst::new(Op::AmocasQ) });
        a.inst(&Inst { rd: 14, rs1: A0, rs2: 12, ..Inst::new(Op::AmocasQ) });
    });
    assert_eq!(
        got[4..6],
        [
            "x14 0x0000000000000000 x15 0x0000000000000000 mem 0x0000000080002000 mem 0x0000000080002000 \
             0x0000000000000007 mem 0x0000000080002008 0x0000000000000009",
            "x14 0x0000000000000007 x15 0x0000000000000009 mem 0x0000000080002000",
        ]
    );
}

/// `vset{i}vl{i}` writes `vstart` always, `vtype` if another one is asked for, `vl` unless it is kept.
#[test]
fn vset_logs_what_it_writes() {
    let set = |rd, rs1, imm| Inst { rd, rs1, imm, ..Inst::new(Op::Vsetvli) };
    let got = lines(|a| {
        a.inst(&Inst { rd: T1, rs1: 3, imm: 0b010_000, ..Inst::new(Op::Vsetivli) });
        a.inst(&set(T1, 0, 0b010_000));
        a.inst(&set(0, 0, 0b010_000));
        a.inst(&set(0, 0, 0b1101_0000));
        a.inst(&set(T1, 0, 0b111_110));
        // Whole registers need no vtype; the SEW and LMUL shown are those that were asked for.
        a.inst(&Inst { rd: 8, rs1: A0, ..Inst::new(Op::Vl1re64V) });
        a.inst(&set(T1, 0, 0b011_000));
    });
    assert_eq!(
        got,
        [
            "x6  0x0000000000000003 c8_vstart 0x0000000000000000 c768_mstatus 0x8000000a00002600 \
             c3104_vl 0x0000000000000003 c3105_vtype 0x0000000000000010",
            "x6  0x0000000000000004 c8_vstart 0x0000000000000000 c3104_vl 0x0000000000000004",
            "c8_vstart 0x0000000000000000",
            "c8_vstart 0x0000000000000000 c3105_vtype 0x00000000000000d0",
            "x6  0x0000000000000000 c8_vstart 0x0000000000000000 c3104_vl 0x0000000000000000 \
             c3105_vtype 0x8000000000000000",
            "e1024 mf4 l0 v8  0x00000000000000000000000000000000 c8_vstart 0x0000000000000000 \
             mem 0x0000000080002000 mem 0x0000000080002008",
            "x6  0x0000000000000002 c8_vstart 0x0000000000000000 c3104_vl 0x0000000000000002 \
             c3105_vtype 0x0000000000000018",
        ]
    );
}

/// Every vector instruction shows SEW, LMUL, `vl` and `vstart`, and the registers that it wrote elements of,
/// changed or not. Flags are shown if any was raised.
#[test]
fn vector_instructions_log_registers_written() {
    let v = |op, rd, rs2, rs1| Inst { rd, rs2, rs1, vm: true, ..Inst::new(op) };
    let got = lines(|a| {
        a.inst(&Inst { rd: T1, rs1: 6, imm: 0b010_001, ..Inst::new(Op::Vsetivli) });
        a.inst(&v(Op::VidV, 8, 0, 0));
        // Elements 2 to 4 are active.
        a.li(T0, 0b11100);
        a.inst(&v(Op::VmvSX, 0, 0, T0));
        a.inst(&Inst { vm: false, ..v(Op::VaddVv, 10, 8, 8) });
        a.inst(&v(Op::VmvXS, T1, 8, 0));
        a.inst(&Inst { vm: false, ..v(Op::Vse32V, 8, 0, A0) });
        a.inst(&Inst { vm: false, ..v(Op::VwadduVv, 12, 8, 8) });
        a.inst(&v(Op::VfdivVv, 16, 8, 8));
        a.inst(&v(Op::VfdivVv, 16, 8, 8));
        a.inst(&v(Op::VredsumVs, 3, 8, 8));
    });
    assert_eq!(
        got,
        [
            "x6  0x0000000000000006 c8_vstart 0x0000000000000000 c768_mstatus 0x8000000a00002600 c3104_vl \
             0x0000000000000006 c3105_vtype 0x0000000000000011",
            "e32 m2 l6 v8  0x00000003000000020000000100000000 c8_vstart 0x0000000000000000 v9  \
             0x00000000000000000000000500000004",
            "x5  0x000000000000001c",
            "e32 m2 l6 v0  0x0000000000000000000000000000001c c8_vstart 0x0000000000000000",
            "e32 m2 l6 c8_vstart 0x0000000000000000 v10 0x00000006000000040000000000000000 v11 \
             0x00000000000000000000000000000008",
            "e32 m2 l6 x6  0x0000000000000000 c8_vstart 0x0000000000000000",
            "e32 m2 l6 c8_vstart 0x0000000000000000 mem 0x0000000080002008 0x00000002 mem \
             0x000000008000200c 0x00000003 mem 0x0000000080002010 0x00000004",
            "e32 m2 l6 c8_vstart 0x0000000000000000 v12 0x00000000000000000000000000000000 v13 \
             0x00000000000000060000000000000004 v14 0x00000000000000000000000000000008",
            "e32 m2 l6 c1_fflags 0x0000000000000010 c8_vstart 0x0000000000000000 v16 \
             0x3f8000003f8000003f8000007fc00000 v17 0x00000000000000003f8000003f800000 c768_mstatus \
             0x8000000a00006600",
            "e32 m2 l6 c1_fflags 0x0000000000000010 c8_vstart 0x0000000000000000 v16 \
             0x3f8000003f8000003f8000007fc00000 v17 0x00000000000000003f8000003f800000",
            "e32 m2 l6 v3  0x0000000000000000000000000000000f c8_vstart 0x0000000000000000",
        ]
    );
}

/// A program with six bytes between the symbols; `None` for those it does not have.
fn signed(begin: Option<u64>, end: Option<u64>) -> Vec<u8> {
    let mut a = Asm::new(TEXT);
    a.li(T0, TOHOST);
    a.li(T1, 1);
    a.store(Op::Sd, T1, 0, T0);
    let forever = a.label_here();
    a.jump(forever);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(TOHOST, 64).symbol("tohost", TOHOST);
    elf.segment(DATA, vec![1, 2, 3, 4, 0xa5, 0x5a], 6);
    for (name, at) in [("begin_signature", begin), ("end_signature", end)] {
        if let Some(at) = at {
            elf.symbol(name, at);
        }
    }
    elf.finish()
}

/// Runs `rvvsim --signature` and more options: the file, or what it complained of.
fn signature(name: &str, elf: &[u8], options: &[&str]) -> Result<String, String> {
    let folder = std::env::temp_dir().join(format!("rvvsim-signature-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let (program, file) = (folder.join("program"), folder.join("signature"));
    std::fs::write(&program, elf).expect("a temporary file");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_rvvsim"))
        .arg("--signature")
        .arg(&file)
        .args(options)
        .arg(&program)
        .output()
        .expect("rvvsim");
    let text = std::fs::read_to_string(&file);
    std::fs::remove_dir_all(&folder).expect("it is ours");
    match text {
        Ok(text) if output.status.success() => Ok(text),
        _ => Err(String::from_utf8(output.stderr).expect("text")),
    }
}

#[test]
fn a_signature_has_lines_of_bytes_the_last_byte_first() {
    let elf = signed(Some(DATA), Some(DATA + 6));
    assert_eq!(signature("16", &elf, &[]).as_deref(), Ok("000000000000000000005aa504030201\n"));
    assert_eq!(signature("4", &elf, &["--signature-granularity=4"]).as_deref(), Ok("04030201\n00005aa5\n"));
    let each = signature("1", &elf, &["--signature-granularity", "1"]);
    assert_eq!(each.as_deref(), Ok("01\n02\n03\n04\na5\n5a\n"));
}

#[test]
fn a_signature_that_cannot_be_is_refused_by_name() {
    let missing = signature("missing", &signed(Some(DATA), None), &[]).unwrap_err();
    assert!(missing.contains("end_signature") && missing.contains("strip"), "{missing}");
    let elsewhere = signature("elsewhere", &signed(Some(0x1000), Some(0x2000)), &[]).unwrap_err();
    assert!(elsewhere.contains("no piece of RAM"), "{elsewhere}");
    let backwards = signature("backwards", &signed(Some(DATA + 6), Some(DATA)), &[]).unwrap_err();
    assert!(backwards.contains("no piece of RAM"), "{backwards}");
    let process = signature("process", &signed(Some(DATA), Some(DATA + 6)), &["--mode", "user"]).unwrap_err();
    assert!(process.contains("bare-metal"), "{process}");
}
