//! What the command says about a vector instruction that traps.

use rvv_isa::{Inst, Op};

fn inst(name: &str, rd: u8, rs2: u8, rs1: u8) -> Inst {
    Inst { rd, rs2, rs1, ..Inst::new(Op::from_name(name).expect("a mnemonic")) }
}

/// What the command says about a bare-metal program that ends in a trap.
fn message(name: &str, code: &[Inst]) -> String {
    let start = 0x8000_0000;
    let mut a = rvv_asm::asm::Asm::new(start);
    a.li(5, 1 << 9);
    a.csr(Op::Csrrs, 0, rvv_isa::csr::MSTATUS, 5);
    a.rri(Op::Addi, 6, 0, 0x1d8);
    code.iter().for_each(|inst| a.inst(inst));
    let mut elf = rvv_asm::elf_writer::ElfWriter::new(start);
    elf.segment(start, a.finish(), 5).symbol("code", start);
    let path = std::env::temp_dir().join(format!("rvvsim-vill-{}-{name}", std::process::id()));
    std::fs::write(&path, elf.finish()).expect("a file of ours");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_rvvsim"))
        .args(["--mode", "bare"])
        .arg(&path)
        .output()
        .expect("rvvsim");
    std::fs::remove_file(&path).expect("it is ours");
    String::from_utf8(output.stderr).expect("text")
}

/// An instruction that traps because of `vill` is not the culprit: the message names the `vset{i}vl{i}` that
/// is.
#[test]
fn what_set_vill_is_named_with_its_reason() {
    let vsetvli = |rd, rs1, imm| Inst { rd, rs1, imm, ..Inst::new(Op::Vsetvli) };
    let vadd = inst("vadd.vv", 8, 16, 24);
    let e8m1 = vsetvli(7, 0, 0xc0);
    let cases: &[(&str, &[Inst], &[&str])] = &[
        (
            "fraction",
            &[vsetvli(7, 0, 0xdd)],
            &["0x000000008000000c <code+0xc>", "SEW=64, LMUL=1/8", "LMUL*ELEN"],
        ),
        (
            "ratio",
            &[e8m1, vsetvli(0, 0, 0xc8)],
            &["<code+0x10>", "SEW=16, LMUL=1 ", "norm:vtype_vset_rsv", "ratio"],
        ),
        ("vsew", &[e8m1, vsetvli(7, 0, 0x20)], &["vsew=4", "vsew is reserved"]),
        ("vlmul", &[e8m1, vsetvli(7, 0, 0x4)], &["vlmul=4", "vlmul is reserved"]),
        ("bits", &[e8m1, vsetvli(7, 0, 0x400)], &["reserved bits", "vtype=0x400"]),
        (
            "again",
            &[vsetvli(7, 0, 0x4), vsetvli(0, 0, 0xc0)],
            &["<code+0x10>", "keeps vl", "while vill is set"],
        ),
        (
            "vsetvl",
            &[Inst { rd: 7, rs1: 5, rs2: 6, ..Inst::new(Op::Vsetvl) }],
            &["vsetvl t2,t0,t1", "vtype=0x1d8", "reserved bits"],
        ),
        (
            "immediate",
            &[Inst { rd: 7, rs1: 3, imm: 0xdd, ..Inst::new(Op::Vsetivli) }],
            &["vsetivli t2,3,e64,mf8", "LMUL*ELEN"],
        ),
        ("never", &[], &["no vset{i}vl{i} was executed"]),
    ];
    for (name, code, words) in cases {
        // Something in between, and in a block of its own.
        let jump = Inst { imm: 4, ..Inst::new(Op::Jal) };
        let code: Vec<Inst> = code.iter().copied().chain([jump, vadd]).collect();
        let text = message(name, &code);
        let line = text.lines().find(|line| line.starts_with("  vill ")).unwrap_or_else(|| panic!("{text}"));
        for word in *words {
            assert!(line.contains(word), "{name}: {word:?} is not in {line:?}");
        }
    }
    // What came before a vtype that is good is of no interest.
    let text =
        message("good", &[vsetvli(7, 0, 0x4), e8m1, inst("vadd.vv", 8, 17, 24), inst("vwadd.vv", 9, 2, 3)]);
    assert!(text.contains("norm:emul_offgroup_rsv") && !text.contains("  vill "), "{text}");
}

#[test]
fn what_a_lenient_machine_would_run_is_said() {
    let e8m1 = Inst { rd: 7, imm: 0xc0, ..Inst::new(Op::Vsetvli) };
    let masked = Inst { vm: false, ..inst("vadd.vv", 1, 0, 3) };
    let text = message("lenient", &[e8m1, masked]);
    assert!(text.contains("norm:vreg_source_eew_rsv") && text.contains("--lenient"), "{text}");
}
