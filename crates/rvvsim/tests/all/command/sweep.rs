//! `rvvsim --sweep` tells portable programs from those that rely on what RVV leaves open, axis by axis.

use super::guest::*;
use rvv_asm::asm::Asm;
use rvv_isa::{Inst, Op, csr};

/// Adds one to each of 100 words, strip by strip, and prints how many came to one. `portable` takes the `vl`
/// that it gets; otherwise each strip is taken to be VLMAX long.
fn strips(portable: bool) -> Vec<u8> {
    linux(|a| {
        a.li(A0, DATA + 256);
        a.li(A1, 100);
        let strip = a.label_here();
        vsetvli(a, T0, A1, E32_M8_TA_MA);
        memory(a, "vle32.v", 8, A0);
        a.inst(&Inst { rd: 8, rs2: 8, imm: 1, ..Inst::new(Op::from_name("vadd.vi").unwrap()) });
        memory(a, "vse32.v", 8, A0);
        if !portable {
            // VLMAX is eight registers of words.
            a.csr(Op::Csrrs, T0, csr::VLENB, 0);
            a.rri(Op::Slli, T0, T0, 1);
        }
        a.rri(Op::Slli, T1, T0, 2);
        a.rrr(Op::Add, A0, A0, T1);
        a.rrr(Op::Sub, A1, A1, T0);
        a.branch(Op::Blt, 0, A1, strip);
        a.li(A0, DATA + 256);
        a.li(A1, 100);
        let word = a.label_here();
        a.rri(Op::Lw, T0, A0, 0);
        a.rrr(Op::Add, A4, A4, T0);
        a.rri(Op::Addi, A0, A0, 4);
        a.rri(Op::Addi, A1, A1, -1);
        a.branch(Op::Bne, A1, 0, word);
        a.li(T0, 26);
        a.rrr(Op::Remu, A4, A4, T0);
    })
}

/// Leaves the fourth word of v8 in `A3`: 1, and a tail element of what was done last.
fn read_tail(a: &mut Asm) {
    vsetivli(a, 4, E32_M1_TA_MA);
    vmv_v_i(a, 8, 1);
    vsetivli(a, 3, E32_M1_TA_MA);
    vmv_v_i(a, 8, 2);
    vsetivli(a, 4, E32_M1_TA_MA);
    a.li(A0, DATA + 256);
    memory(a, "vse32.v", 8, A0);
    a.rri(Op::Lw, A3, A0, 12);
}

/// Prints the low bits of a masked-off element.
fn masked_off() -> Vec<u8> {
    linux(|a| {
        vsetivli(a, 4, E32_M1_TA_MA);
        vmv_v_i(a, 0, 5);
        vmv_v_i(a, 8, 1);
        a.inst(&Inst { rd: 8, rs2: 8, imm: 3, vm: false, ..Inst::new(Op::from_name("vadd.vi").unwrap()) });
        a.li(A0, DATA + 256);
        memory(a, "vse32.v", 8, A0);
        a.rri(Op::Lw, A4, A0, 4);
        a.rri(Op::Andi, A4, A4, 15);
    })
}

fn prints_vlenb() -> Vec<u8> {
    linux(|a| {
        a.csr(Op::Csrrs, A4, csr::VLENB, 0);
        a.rri(Op::Srli, A4, A4, 4);
        a.li(T0, 26);
        a.rrr(Op::Remu, A4, A4, T0);
    })
}

/// The words of the table: VLEN, tail, mask, vl.
fn verdicts(text: &str) -> Vec<&str> {
    let line = |axis: &str| text.lines().find(|l| l.starts_with(axis)).unwrap_or_else(|| panic!("{text}"));
    let verdict = |axis| match line(axis) {
        l if l.ends_with("  same") => "same",
        l if l.ends_with("  differs") => "differs",
        l => l.split("  ").last().unwrap(),
    };
    ["VLEN ", "tail ", "mask ", "vl "].map(verdict).to_vec()
}

/// Runs the two commands that reproduce a difference, which must indeed show one; their standard output.
fn reproduce(text: &str, elf: &[u8]) -> [String; 2] {
    let commands: Vec<_> = text.lines().filter_map(|l| l.strip_prefix("    rvvsim ")).collect();
    assert_eq!(commands.len(), 2, "{text}");
    let run = |command: &&str| {
        // The file's name is not the same, as it is made anew.
        let options: Vec<_> = command.split(' ').filter(|w| !w.contains('/')).collect();
        let (code, out, _) = rvvsim("again", elf, &options, b"");
        format!("{out}{code}")
    };
    let [base, other] = [run(&commands[0]), run(&commands[1])];
    assert_ne!(base, other, "{text}");
    [base, other]
}

#[test]
fn a_portable_program_is_the_same_everywhere() {
    let (code, text, _) = rvvsim("portable", &strips(true), &["--sweep"], b"");
    assert_eq!(code, 0, "{text}");
    assert_eq!(verdicts(&text), ["same"; 4]);
    assert!(text.contains("\n96 runs in ") && text.contains("depends on none of these"), "{text}");
}

#[test]
fn a_program_that_takes_vl_for_granted_breaks_with_half() {
    let elf = strips(false);
    let (code, text, _) = rvvsim("half", &elf, &["--sweep"], b"");
    assert_eq!(code, 1, "{text}");
    assert_eq!(verdicts(&text)[1..], ["same", "same", "differs"]);
    // Which words are missed does depend on VLEN, but with max none is.
    assert_eq!(verdicts(&text)[0], "differs with --vl half");
    assert!(text.contains("\nvl: half differs from max\n  stdout, line 1\n    max   w\n"), "{text}");
    assert!(reproduce(&text, &elf)[0].starts_with("w\n"));
}

#[test]
fn a_program_that_reads_its_tail_is_found() {
    let elf = linux(|a| {
        read_tail(a);
        a.rri(Op::Andi, A4, A3, 15);
    });
    let (code, text, _) = rvvsim("tail", &elf, &["--sweep"], b"");
    assert_eq!(code, 1, "{text}");
    assert_eq!(verdicts(&text), ["same", "differs", "same", "same"]);
    assert!(text.contains("depends on tail-agnostic elements."), "{text}");
    assert!(text.contains("    undisturbed  b\n    ones         p\n"), "{text}");
    assert_eq!(reproduce(&text, &elf), ["b\n0", "p\n0"]);
}

#[test]
fn a_program_that_reads_masked_off_elements_is_found() {
    let elf = masked_off();
    let (code, text, _) = rvvsim("mask", &elf, &["--sweep=256,512"], b"");
    assert_eq!(code, 1, "{text}");
    assert_eq!(verdicts(&text), ["same", "same", "differs", "same"]);
    assert!(text.contains("32 runs") && text.contains("--vlen 256 --mask ones"), "{text}");
    reproduce(&text, &elf);
}

#[test]
fn a_program_that_prints_vlenb_depends_on_vlen_only() {
    let elf = prints_vlenb();
    let (code, text, _) = rvvsim("vlenb", &elf, &["--sweep"], b"");
    assert_eq!(code, 1, "{text}");
    assert_eq!(verdicts(&text), ["differs", "same", "same", "same"]);
    assert!(text.contains("on VLEN and on nothing else"), "{text}");
    assert_eq!(reproduce(&text, &elf), ["b\n0", "c\n0"]);
}

#[test]
fn traps_and_hangs_are_differences_with_their_reason() {
    // An illegal instruction, or a loop without end, if the tail is not what it was.
    for hangs in [false, true] {
        let elf = linux(|a| {
            read_tail(a);
            a.li(T0, 1);
            let good = a.label();
            a.branch(Op::Beq, A3, T0, good);
            if hangs {
                let forever = a.label_here();
                a.jump(forever);
            } else {
                vsetvli(a, 0, 0, E32_M8_TA_MA);
                vmv_v_i(a, 9, 1);
            }
            a.place(good);
        });
        let (code, text, _) = rvvsim("trap", &elf, &["--sweep=128"], b"");
        assert_eq!(code, 1, "{text}");
        assert_eq!(verdicts(&text), ["same", "differs", "same", "same"]);
        let ending = if hangs { "too many instructions" } else { "SIGILL: illegal instruction: " };
        assert!(text.contains(&format!("    ones         {ending}")), "{text}");
        assert!(hangs || text.contains("vmv.v.i v9"), "{text}");
        assert!(text.contains("  stdout, line 1\n    undisturbed  a\n    ones         (nothing more)\n"));
        // A command that never ends would be no help.
        assert_eq!(reproduce(&text, &elf)[1], if hangs { "125" } else { "132" });
    }
}

#[test]
fn every_run_gets_the_same_standard_input() {
    let elf = linux(|a| {
        a.li(A0, 0);
        a.li(A1, DATA + 64);
        a.li(A2, 64);
        syscall(a, 63);
        a.rri(Op::Addi, A4, A0, 0);
    });
    let (code, text, _) = rvvsim("stdin", &elf, &["--sweep=128,256", "--json"], b"seven!\n");
    assert_eq!(code, 0, "{text}");
    // Seven bytes were there: the program's output is not shown, so look at one run.
    assert_eq!(rvvsim("stdin1", &elf, &[], b"seven!\n").1, "h\n");
    assert!(text.starts_with("{\"program\":") && text.contains("\"same\":true,\"runs\":32"), "{text}");
}

#[test]
fn json_has_the_axes_and_the_first_difference() {
    let (code, text, _) = rvvsim("json", &prints_vlenb(), &["--sweep=128,1024", "--json"], b"");
    assert_eq!(code, 1);
    assert!(text.contains("\"axis\":\"VLEN\",\"values\":[\"128\",\"1024\"],\"compared\":16,\"same\":false"));
    assert!(text.contains("{\"place\":\"stdout, line 1\",\"base\":\"b\",\"other\":\"i\"}"), "{text}");
    assert!(text.contains("\"axis\":\"vl\",\"values\":[\"max\",\"half\",\"random:3\"]"), "{text}");
}

#[test]
fn bare_metal_is_swept_too() {
    let (code, text, _) = rvvsim("bare", &bare(false), &["--sweep"], b"");
    assert_eq!(code, 0, "{text}");
    let (code, text, _) = rvvsim("bare1", &bare(true), &["--sweep=128,256"], b"");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("  ending\n    128  exit status 16\n    256  exit status 32\n"), "{text}");
}

#[test]
fn what_cannot_be_run_is_two_and_a_wrong_command_line_is_not() {
    let (code, _, error) = rvvsim("junk", b"no ELF", &["--sweep"], b"");
    assert_eq!(code, 2, "{error}");
    let endless = linux(|a| {
        let forever = a.label_here();
        a.jump(forever);
    });
    let (code, _, error) = rvvsim("endless", &endless, &["--sweep", "--max-insns", "1000"], b"");
    assert_eq!(code, 2);
    assert!(error.contains("too many instructions"), "{error}");
    for wrong in [&["--sweep=100"][..], &["--sweep=x"], &["--sweep", "--vlen", "256"], &["--json"]] {
        assert_eq!(rvvsim("wrong", &strips(true), wrong, b"").0, 127, "{wrong:?}");
    }
}

/// Prints the `vl` that an AVL of 17 gets where VLMAX is 16: bytes, VLEN 128. `body` is given it in `A4`.
fn prints_vl(body: impl FnOnce(&mut Asm)) -> Vec<u8> {
    linux(|a| {
        a.li(A1, 17);
        vsetvli(a, A4, A1, E8_M1_TA_MA);
        body(a);
    })
}

/// Executes SM3 on one element group of eight words.
fn sm3(a: &mut Asm) {
    vsetivli(a, 8, E32_M2_TA_MA);
    let vsm3me = Op::from_name("vsm3me.vv").unwrap();
    a.inst(&Inst { rd: 8, rs2: 10, rs1: 12, ..Inst::new(vsm3me) });
}

const E8_M1_TA_MA: i32 = 0xc0;
const E32_M2_TA_MA: i32 = 0xd1;

#[test]
fn programs_without_element_groups_get_every_vl() {
    let elf = prints_vl(|_| {});
    let (code, text, _) = rvvsim("vl", &elf, &["--sweep=128"], b"");
    assert_eq!(code, 1, "{text}");
    assert_eq!(verdicts(&text), ["same", "same", "same", "differs"]);
    assert!(text.contains("\nvl was any from AVL/2 to VLMAX: no element-group"), "{text}");
    // 16 is q, 9 is j.
    assert_eq!(reproduce(&text, &elf), ["q\n0", "j\n0"]);
    let (code, text, _) = rvvsim("vl", &elf, &["--sweep=128", "--vl-multiple", "4"], b"");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("\nvl was VLMAX or a multiple of 4, as --vl-multiple says"), "{text}");
    assert_eq!(reproduce(&text, &elf)[1], "m\n0");
    // A plain run is bound to what the ISA says, and says so.
    let (_, out, err) = rvvsim("vl", &elf, &["--vl", "half"], b"");
    assert_eq!(out, "q\n");
    assert!(err.contains("--vl half was bound to multiples of 8 (norm:egs_vl_avl)"), "{err}");
    let free = rvvsim("vl", &elf, &["--vl", "half", "--vl-multiple", "1"], b"");
    assert_eq!(free, (0, "j\n".into(), String::new()));
    let without = rvvsim("vl", &elf, &["--vl", "half", "--isa", "rv64gcv"], b"");
    assert_eq!(without, (0, "j\n".into(), String::new()));
}

#[test]
fn programs_with_element_groups_get_multiples() {
    let elf = prints_vl(sm3);
    let (code, text, _) = rvvsim("groups", &elf, &["--sweep=128"], b"");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("\nvl was VLMAX or a multiple of 8: vsm3me.vv was executed"), "{text}");
    // Executed only where vl is none that a machine with SM3 may choose: never.
    let elf = prints_vl(|a| {
        let usual = a.label();
        a.li(T0, 16);
        a.branch(Op::Beq, A4, T0, usual);
        sm3(a);
        a.place(usual);
    });
    let (code, text, _) = rvvsim("groups", &elf, &["--sweep=128", "--json"], b"");
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("\"vl_multiple\":8"), "{text}");
}

#[test]
fn a_program_that_fails_everywhere_is_broken() {
    let illegal = linux(|a| a.raw(0, 4));
    let (code, text, _) = rvvsim("dies", &illegal, &["--sweep=128,256"], b"");
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("fails everywhere; every run ended so: SIGILL: illegal instruction"), "{text}");
    let status = |status: u64| {
        linux(|a| {
            a.li(A0, status);
            syscall(a, 93);
        })
    };
    let (code, text, _) = rvvsim("one", &status(1), &["--sweep=128", "--json"], b"");
    assert_eq!(code, 3, "{text}");
    assert!(text.contains("\"failed\":true") && text.contains("\"ending\":\"exit status 1\""), "{text}");
    assert_eq!(rvvsim("zero", &status(0), &["--sweep=128"], b"").0, 0);
    // It dies at another place with each VLEN, but it does die.
    let elf = linux(|a| {
        a.csr(Op::Csrrs, A4, csr::VLENB, 0);
        a.li(T0, DATA);
        a.store(Op::Sb, A4, 0, T0);
        a.li(A0, 1);
        a.li(A1, DATA);
        a.li(A2, 1);
        syscall(a, 64);
        a.raw(0, 4);
    });
    assert_eq!(rvvsim("dies", &elf, &["--sweep=128,256"], b"").0, 3);
}

#[test]
fn what_is_to_be_ignored_is() {
    let elf = prints_vlenb();
    // It prints b, c, e...: letters that say how long a register is.
    let (code, text, _) = rvvsim("ignore", &elf, &["--sweep", "--ignore", "[x-z]", "--ignore=^[a-w]$"], b"");
    assert_eq!(code, 0, "{text}");
    let (code, text, _) =
        rvvsim("ignore", &elf, &["--sweep=128,256", "--ignore", "b", "--compare=output"], b"");
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("    128  (nothing more)\n    256  c\n"), "{text}");
    assert!(text.contains("--vlen 256 --seed 0\n") && !text.contains("--ignore"), "{text}");
    reproduce(&text, &elf);
    let (code, text, _) = rvvsim("status", &elf, &["--sweep", "--compare", "status"], b"");
    assert_eq!(code, 0, "{text}");
    for wrong in [&["--sweep", "--ignore", "("][..], &["--ignore", "a"], &["--sweep", "--compare", "x"]] {
        assert_eq!(rvvsim("wrong", &elf, wrong, b"").0, 127, "{wrong:?}");
    }
}
