//! The disassembler against GNU objdump: a recorded sample always, a larger live one on request.
//!
//! `OBJDUMP=path cargo test -p rvv-isa --test all objdump -- --ignored` compares with an objdump of binutils
//! 2.44 or later (it must know `-M max`); `record` among those tests writes the sample anew.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rvv_isa::{DisasmOptions, Inst, Isa, Op, Operand, csr, decode};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

const BASE: u64 = 0x8000_0000;

struct Line {
    pc: u64,
    word: u32,
    text: String,
}

/// Words of every ratified instruction, as many of each.
fn sample(seed: u64, each: usize) -> Vec<u32> {
    let mut rng = StdRng::seed_from_u64(seed);
    // Extensions with instructions as often as all others together.
    let csrs: Vec<u32> = csr::all().map(|(number, _)| number.into()).collect();
    let special = [csr::FFLAGS, csr::FRM, csr::FCSR, csr::CYCLE, csr::TIME, csr::INSTRET].map(u32::from);
    let mut words = Vec::new();
    for op in Isa::default().ops() {
        let info = op.info();
        let length = if op.is_compressed() { 0xffff } else { u32::MAX };
        let free = !info.mask & length;
        let mut found = 0;
        // An instruction with few encodings repeats itself.
        while found < each.min(1 << free.count_ones().min(20)) {
            let mut word = info.match_ | (rng.random::<u32>() & free);
            // Zero registers, set masks, equal sources and dynamic rounding print otherwise than the rest.
            for (mask, chance) in [(0x1f << 15, 0.2), (0x1f << 20, 0.2), (0x1f << 7, 0.2), (1 << 25, 0.3)] {
                if info.mask & mask == 0 && rng.random_bool(chance) {
                    word &= !mask;
                }
            }
            if info.mask & 0x1ff_8000 == 0 && rng.random_bool(0.2) {
                word = word & !(0x1f << 20) | (word >> 15 & 0x1f) << 20;
            }
            if info.operands.contains(&Operand::Rm) && rng.random() {
                word |= 7 << 12;
            }
            if info.operands.contains(&Operand::Csr) {
                let csrs = if rng.random() { &special[..] } else { &csrs };
                word = word & 0xf_ffff | csrs[rng.random_range(0..csrs.len())] << 20;
            }
            if info.operands.contains(&Operand::Imm12) && rng.random_bool(0.2) {
                word = word & 0xf_ffff | [0, 1, 0xff, 0xfff][rng.random_range(0..4)] << 20;
            }
            // Fields that are to be ignored: otherwise objdump takes the word for no instruction.
            word &= match op {
                Op::Fence => 0x0ff0_707f,
                Op::FenceI | Op::FenceTso => info.mask,
                _ if info.operands.contains(&Operand::RmExact) => !(7 << 12),
                _ => u32::MAX,
            };
            if decode(word).is_some_and(|inst| inst.op == op) {
                words.push(word);
                found += 1;
            }
        }
    }
    words
}

fn objdump(words: &[u32], options: &str) -> Vec<Line> {
    let tool = env::var("OBJDUMP").unwrap_or_else(|_| "riscv64-linux-gnu-objdump".to_owned());
    let name = format!("rvv-isa-objdump-{}-{}.bin", std::process::id(), options.len());
    let file = env::temp_dir().join(name);
    let bytes = words.iter().flat_map(|&word| {
        let length = if word & 3 == 3 { 4 } else { 2 };
        word.to_le_bytes().into_iter().take(length)
    });
    fs::write(&file, bytes.collect::<Vec<u8>>()).unwrap();
    let output = Command::new(tool)
        .args(["-D", "-z", "-b", "binary", "-m", "riscv:rv64", "-M", options])
        .arg(format!("--adjust-vma={BASE:#x}"))
        .arg(&file)
        .output()
        .expect("objdump runs");
    fs::remove_file(&file).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().filter_map(parse).collect()
}

/// `    80000000:\t022180d7          \tvadd.vv\tv1,v2,v3 # comment`
fn parse(line: &str) -> Option<Line> {
    let (pc, rest) = line.split_once(":\t")?;
    let (word, text) = rest.split_once('\t')?;
    let text = text.split(" #").next()?.split(" <").next()?;
    Some(Line {
        pc: u64::from_str_radix(pc.trim(), 16).ok()?,
        word: u32::from_str_radix(word.trim(), 16).ok()?,
        text: text.trim_end().to_owned(),
    })
}

/// Where objdump knowingly says otherwise.
fn objdump_differs(inst: &Inst, pseudo: bool) -> bool {
    match inst.op {
        // Instructions of Zicfilp and Zicfiss, which we do not execute: to us they are what they refine.
        Op::Auipc => inst.rd == 0,
        Op::MopRN => inst.imm == 28 && (inst.rd == 0 || inst.rs1 == 0),
        Op::MopRrN => inst.imm == 7 && inst.rd == 0 && inst.rs1 == 0,
        Op::CMopN => inst.imm == 1 || inst.imm == 5,
        // The alternate formats of Zvfbfa.
        Op::Vsetvli | Op::Vsetivli => inst.imm & 0x100 != 0,
        // To objdump this name is an alias, and a hint is a `c.addi` of zero.
        Op::CNop => !pseudo || inst.imm != 0,
        // Another such, which prints as an addi of zero, not as `mv`.
        Op::CAddi => inst.imm == 0,
        // `unimp`, no alias to objdump.
        Op::Csrrw => !pseudo && inst.raw == 0xc000_1073,
        // One vendor's hints.
        Op::Slli => inst.rd == 0 && inst.rs1 == 0,
        _ => false,
    }
}

fn compare(lines: &[Line], pseudo: bool) {
    let mut wrong = Vec::new();
    for line in lines {
        let inst = decode(line.word).expect("a word of the table");
        let ours = inst.disasm(line.pc, DisasmOptions { pseudo });
        if ours != line.text && !objdump_differs(&inst, pseudo) {
            wrong.push(format!("{:08x} objdump `{}` ours `{ours}`", line.word, line.text));
        }
    }
    assert!(wrong.is_empty(), "{} of {} differ:\n{}", wrong.len(), lines.len(), wrong.join("\n"));
}

#[test]
#[ignore = "needs objdump"]
fn live_without_aliases() {
    let lines = objdump(&sample(3, 400), "max,no-aliases");
    assert!(lines.len() > 200 * Op::COUNT);
    compare(&lines, false);
}

#[test]
#[ignore = "needs objdump"]
fn live_with_aliases() {
    let lines = objdump(&sample(4, 400), "max");
    assert!(lines.len() > 200 * Op::COUNT);
    compare(&lines, true);
}

/// Whether a halfword is an instruction at all; `-M max` is not asked, as it knows more extensions than we
/// do.
#[test]
#[ignore = "needs objdump"]
fn live_every_halfword() {
    let words: Vec<u32> = (0..=0xffff).filter(|word| word & 3 != 3).collect();
    let mut wrong = Vec::new();
    for line in objdump(&words, "no-aliases") {
        let theirs = !line.text.starts_with('.') && line.text != "c.unimp";
        let ours = Isa::parse("rv64gc").unwrap().decode(line.word).is_some();
        // objdump overlooks that c.addi16sp of zero is reserved.
        if ours != theirs && line.word != 0x6101 {
            wrong.push(format!("{:04x} {}", line.word, line.text));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn recorded() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/data/objdump.txt")
}

/// A few words of every instruction, and one of every alias and every control and status register; a second
/// text where the alias differs.
#[test]
#[ignore = "needs objdump, writes the sample"]
fn record() {
    let mut words = sample(5, 3);
    words.extend(csr::all().map(|(number, _)| 0x2573 | u32::from(number) << 20));
    let mut aliases = BTreeSet::new();
    for line in objdump(&sample(6, 400), "max") {
        let inst = decode(line.word).unwrap();
        let alias = line.text.split('\t').next().unwrap().to_owned();
        if alias != inst.op.base().name() && !objdump_differs(&inst, true) && aliases.insert((inst.op, alias))
        {
            words.push(line.word);
        }
    }
    let (plain, pretty) = (objdump(&words, "max,no-aliases"), objdump(&words, "max"));
    let mut text =
        "# address, word, text, and the text with aliases if it is another; from objdump 2.47\n".to_owned();
    for (plain, pretty) in plain.iter().zip(&pretty) {
        if !objdump_differs(&decode(plain.word).unwrap(), true) {
            let _ = write!(text, "{:x} {:x} {}", plain.pc, plain.word, plain.text.replacen('\t', " ", 1));
            if plain.text != pretty.text {
                let _ = write!(text, " | {}", pretty.text.replacen('\t', " ", 1));
            }
            text.push('\n');
        }
    }
    fs::write(recorded(), text).unwrap();
}

#[test]
fn the_recorded_sample_agrees() {
    let text = fs::read_to_string(recorded()).unwrap();
    let mut seen = BTreeSet::new();
    let (mut plain, mut pretty) = (Vec::new(), Vec::new());
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.splitn(3, ' ');
        let pc = u64::from_str_radix(parts.next().unwrap(), 16).unwrap();
        let word = u32::from_str_radix(parts.next().unwrap(), 16).unwrap();
        let texts = parts.next().unwrap();
        let (text, alias) = texts.split_once(" | ").unwrap_or((texts, texts));
        plain.push(Line { pc, word, text: text.replacen(' ', "\t", 1) });
        pretty.push(Line { pc, word, text: alias.replacen(' ', "\t", 1) });
        seen.insert(decode(word).unwrap().op);
    }
    compare(&plain, false);
    compare(&pretty, true);
    assert!(csr::all().all(|(_, name)| pretty.iter().any(|line| line.text.contains(&format!(",{name}")))));
    let missing: Vec<_> = Isa::default().ops().filter(|op| !seen.contains(op)).map(Op::name).collect();
    assert!(missing.is_empty(), "not in the sample: {missing:?}");
}
