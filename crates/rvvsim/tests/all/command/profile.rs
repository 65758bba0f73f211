//! `--profile` says where the instructions went.

use super::guest::*;
use std::process::Command;

fn profile(option: &str) -> String {
    let output =
        Command::new(env!("CARGO_BIN_EXE_rvvsim")).args(["--demo", option]).output().expect("rvvsim");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).expect("text")
}

#[test]
fn the_hottest_symbols_and_blocks_are_shown() {
    let text = profile("--profile");
    let (symbols, blocks) = text.split_once("hottest blocks").expect("blocks");
    assert!(symbols.contains("hottest symbols") && symbols.contains('%'), "{text}");
    // The demo is a vector program, and its blocks are listed as instructions.
    assert!(blocks.contains("times") && blocks.contains("vsetvli"), "{text}");
}

#[test]
fn a_file_gets_collapsed_stacks() {
    let file = std::env::temp_dir().join(format!("rvvsim-profile-{}", std::process::id()));
    profile(&format!("--profile={}", file.display()));
    let stacks = std::fs::read_to_string(&file).expect("a file");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(!stacks.is_empty());
    for line in stacks.lines() {
        let (stack, count) = line.rsplit_once(' ').expect("a count");
        assert!(stack.contains(";0x") && count.parse::<u64>().is_ok_and(|n| n > 0), "{line}");
    }
}

#[test]
fn a_file_called_svg_gets_a_flame_graph() {
    let file = std::env::temp_dir().join(format!("rvvsim-profile-{}.svg", std::process::id()));
    profile(&format!("--profile={}", file.display()));
    let svg = std::fs::read_to_string(&file).expect("a file");
    std::fs::remove_file(&file).expect("it is ours");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("<title>all: ") && svg.contains("<title>0x"), "{svg}");
    assert_eq!(svg.matches("<g>").count(), svg.matches("</g>").count());
}

#[test]
fn names_of_cpp_and_rust_are_demangled() {
    for (symbol, name) in [
        ("_ZN3foo3barIiEEvT_", "void foo::bar<int>(int)"),
        ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
        ("_ZN1a\u{1b}E", "_ZN1a?E"),
    ] {
        let mut a = rvv_asm::asm::Asm::new(TEXT);
        a.raw(0, 4);
        let mut elf = rvv_asm::elf_writer::ElfWriter::new(TEXT);
        elf.segment(TEXT, a.finish(), 5).symbol(symbol, TEXT);
        let (code, _, err) = rvvsim("names", &elf.finish(), &[], b"");
        assert_eq!(code, 132);
        assert!(err.contains(&format!("<{name}>")), "{err}");

        let mut a = rvv_asm::asm::Asm::new(TEXT);
        // A block that runs to its end, which one with a system call does not.
        let next = a.label();
        a.jump(next);
        a.place(next);
        print_and_exit(&mut a);
        let mut elf = rvv_asm::elf_writer::ElfWriter::new(TEXT);
        elf.segment(TEXT, a.finish(), 5).zeros(DATA, 64).symbol(symbol, TEXT);
        let (_, _, err) = rvvsim("names", &elf.finish(), &["--profile"], b"");
        assert!(err.contains(&format!("  {name}\n")) && err.contains(&format!("<{name}>\n")), "{err}");
    }
}
