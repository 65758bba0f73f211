//! `rvvsim --count`: instructions by class, symbol and VLEN.

use super::guest::*;
use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::Op;

/// Two loops over 1024 words: `strips` takes as many as there are, `fixed` four at a time.
fn two_loops() -> Vec<u8> {
    let mut a = Asm::new(TEXT);
    let start = a.here();
    let place = |a: &mut Asm, fixed: bool| {
        let at = a.here();
        a.li(A0, DATA);
        a.li(A1, 1024);
        let again = a.label_here();
        if fixed {
            vsetivli(a, 4, E32_M1_TA_MA);
            a.li(T0, 4);
        } else {
            vsetvli(a, T0, A1, E32_M1_TA_MA);
        }
        memory(a, "vle32.v", 8, A0);
        memory(a, "vse32.v", 8, A0);
        a.rri(Op::Slli, T1, T0, 2);
        a.rrr(Op::Add, A0, A0, T1);
        a.rrr(Op::Sub, A1, A1, T0);
        a.branch(Op::Bne, A1, 0, again);
        at
    };
    place(&mut a, false);
    let fixed = place(&mut a, true);
    let end = a.here();
    print_and_exit(&mut a);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 0x2000);
    elf.symbol("strips", start).symbol("fixed", fixed).symbol("end", end);
    elf.finish()
}

fn number(value: &serde_json::Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is a number"))
}

#[test]
fn instructions_are_counted_by_class_and_symbol() {
    let folder = Folder::new("count");
    let file = folder.0.join("counts.json");
    let (code, _, e) = rvvsim("count", &two_loops(), &[&format!("--count={}", file.display())], b"");
    assert_eq!(code, 0, "{e}");
    assert!(e.contains("by class\n") && e.contains("VectorLoad\n") && e.contains("  strips\n"), "{e}");
    let json: serde_json::Value = serde_json::from_slice(&std::fs::read(file).unwrap()).unwrap();
    // 256 strips of four in each loop.
    assert_eq!(number(&json["classes"]["VectorLoad"]), 512);
    let sum: u64 = json["classes"].as_object().unwrap().values().map(number).sum();
    assert_eq!(sum, number(&json["instructions"]), "every instruction has a class");
    let symbols = json["symbols"].as_array().unwrap();
    let sum: u64 = symbols.iter().map(|s| number(&s["instructions"])).sum();
    assert_eq!(sum, number(&json["instructions"]), "and a symbol, or none of them");
    let fixed = symbols.iter().find(|s| s["symbol"] == "fixed").unwrap();
    assert_eq!(number(&fixed["vector"]), 3 * 256);
}

#[test]
fn a_sweep_shows_code_that_does_not_get_faster() {
    let (code, text, e) = rvvsim("count", &two_loops(), &["--sweep=128,256,1024", "--count"], b"");
    assert_eq!(code, 0, "{text}{e}");
    let line =
        |name: &str| text.lines().find(|l| l.trim().starts_with(name)).unwrap_or_else(|| panic!("{text}"));
    assert!(line("fixed").ends_with("not faster") && !line("strips").contains("not"), "{text}");
    assert!(text.ends_with("Vector code that does not get faster with VLEN: fixed\n"), "{text}");
    let words: Vec<u64> = line("VectorLoad").split_whitespace().skip(1).map(|n| n.parse().unwrap()).collect();
    assert_eq!(words, [512, 256 + 128, 256 + 32]);
    let (_, text, _) = rvvsim("count", &two_loops(), &["--sweep=128,256", "--count", "--json"], b"");
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        (json["not_faster"][0].as_str(), json["runs"][1]["vlen"].as_u64()),
        (Some("fixed"), Some(256))
    );
}

#[test]
fn counts_are_the_same_from_both_engines() {
    let folder = Folder::new("engines");
    let counts = |engine: &str| {
        let file = folder.0.join(engine);
        let option = format!("--count={}", file.display());
        let (code, _, e) =
            rvvsim("count", &two_loops(), &[&option, "--engine", engine, "--jit-threshold", "1"], b"");
        assert_eq!(code, 0, "{e}");
        std::fs::read_to_string(file).unwrap()
    };
    assert_eq!(counts("interpreter"), counts("auto"));
}
