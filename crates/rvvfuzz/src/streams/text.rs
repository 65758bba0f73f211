//! Streams as text, to be kept, read and edited.
//!
//! ```text
//! stream fadd-7                 a new stream and its name
//! vlen 128
//! seed 0x1f                     what the registers and memory start from
//! zero x5 v8 memory csrs        what of that is zero instead
//! loop 3 2                      the next two steps run three times
//! jump 00b50463 1               a branch or jump over the next step
//! step 00100513 *02b50533       instructions in hexadecimal, the one under test starred  # and its disassembly
//! expect x 0123456789abcdef     a hash of each part of the state it ends in
//! ```

use super::init::Init;
use super::stream::{Flow, FlowKind, Step, Stream, is_jump, size};
use rvv_isa::{DisasmOptions, Inst, decode, encode};
use std::fmt::Write;

/// A stream with its name and what it is expected to end in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    /// What it is called.
    pub name: String,
    /// The stream.
    pub stream: Stream,
    /// The hashes of the parts of its dump, by name; empty if they are not known.
    pub expected: Vec<(String, u64)>,
}

/// What is wrong with a text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct TextError {
    /// Where, from 1.
    pub line: usize,
    /// What.
    pub why: String,
}

/// Steps a stream may have: more do not fit its slot anyway.
const MOST_STEPS: usize = 4096;

/// Writes a stream.
#[must_use]
pub fn print(entry: &Entry) -> String {
    let Entry { name, stream, expected } = entry;
    let mut out = format!("stream {name}\nvlen {}\nseed {:#x}\n", stream.vlen, stream.init.seed);
    let zeros = zeros(&stream.init);
    if !zeros.is_empty() {
        let _ = writeln!(out, "zero {}", zeros.join(" "));
    }
    for (i, step) in stream.steps.iter().enumerate() {
        for flow in stream.flows.iter().filter(|f| f.at == i) {
            match flow.kind {
                FlowKind::Loop(rounds) => {
                    let _ = writeln!(out, "loop {rounds} {}", flow.over);
                }
                FlowKind::Jump(inst) => {
                    let _ = writeln!(out, "jump {} {}  # {}", hex(inst.raw), flow.over, inst.op.name());
                }
            }
        }
        out += "step";
        for &word in &step.before {
            let _ = write!(out, " {}", hex(word));
        }
        if let Some(word) = step.main {
            let _ = write!(out, " *{}", hex(word));
        }
        for &word in &step.after {
            let _ = write!(out, " {}", hex(word));
        }
        if let Some(word) = step.main {
            let _ = write!(out, "  # {}", disassemble(word));
        }
        out.push('\n');
    }
    for (part, hash) in expected {
        let _ = writeln!(out, "expect {part} {hash:016x}");
    }
    out
}

/// An instruction as a person reads it.
#[must_use]
pub fn disassemble(word: u32) -> String {
    match decode(word) {
        Some(inst) => inst.disasm(0, DisasmOptions::default()).replace('\t', " "),
        None => "reserved".to_owned(),
    }
}

fn hex(word: u32) -> String {
    if size(word) == 2 { format!("{:04x}", word & 0xffff) } else { format!("{word:08x}") }
}

fn zeros(init: &Init) -> Vec<String> {
    let mut all = Vec::new();
    for (letter, bits) in [('x', init.zero_x), ('f', init.zero_f), ('v', init.zero_v)] {
        match bits {
            u32::MAX => all.push(letter.to_string()),
            _ => all.extend((0..32).filter(|r| bits >> r & 1 != 0).map(|r| format!("{letter}{r}"))),
        }
    }
    if init.zero_memory {
        all.push("memory".into());
    }
    if init.zero_csrs {
        all.push("csrs".into());
    }
    all
}

/// Reads streams.
///
/// # Errors
/// The first line that cannot be read.
pub fn parse(text: &str) -> Result<Vec<Entry>, TextError> {
    let mut all: Vec<Entry> = Vec::new();
    for (n, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        let mut words = line.split_whitespace();
        let Some(first) = words.next() else { continue };
        let rest: Vec<&str> = words.collect();
        let result = match (first, all.last_mut()) {
            ("stream", _) => {
                let name = rest.join("-");
                let stream = Stream { vlen: 128, init: Init::new(0), steps: Vec::new(), flows: Vec::new() };
                all.push(Entry { name, stream, expected: Vec::new() });
                Ok(())
            }
            (_, None) => Err("a stream must begin with the line `stream NAME`".to_owned()),
            (_, Some(entry)) => read_line(entry, first, &rest),
        };
        result.map_err(|why| TextError { line: n + 1, why })?;
    }
    Ok(all)
}

fn read_line(entry: &mut Entry, first: &str, rest: &[&str]) -> Result<(), String> {
    let stream = &mut entry.stream;
    match (first, rest) {
        ("vlen", [vlen]) => {
            stream.vlen = vlen.parse().map_err(|_| format!("`{vlen}` is no number"))?;
            if !stream.vlen.is_power_of_two() || !(128..=65536).contains(&stream.vlen) {
                return Err(format!("VLEN {vlen} is not a power of two from 128 to 65536"));
            }
        }
        ("seed", [seed]) => {
            stream.init.seed = match seed.strip_prefix("0x") {
                Some(digits) => u64::from_str_radix(digits, 16),
                None => seed.parse(),
            }
            .map_err(|_| format!("`{seed}` is no number"))?;
        }
        ("zero", names) => {
            for name in names {
                read_zero(&mut stream.init, name)?;
            }
        }
        ("loop", [rounds, over]) => {
            let rounds = rounds.parse().ok().filter(|r| (1..=100).contains(r));
            let rounds = rounds.ok_or_else(|| format!("`{}` is no number from 1 to 100", rest[0]))?;
            push_flow(stream, FlowKind::Loop(rounds), over)?;
        }
        ("jump", [word, over]) => {
            let inst = decode(read_word(word)?).filter(|inst| is_jump(inst.op));
            let inst = inst.ok_or_else(|| format!("{word} is no branch or jump"))?;
            push_flow(stream, FlowKind::Jump(open_target(inst)), over)?;
        }
        ("step", words) => {
            if stream.steps.len() >= MOST_STEPS {
                return Err(format!("more than {MOST_STEPS} steps"));
            }
            stream.steps.push(read_step(words)?);
        }
        ("expect", [part, hash]) => {
            let hash = u64::from_str_radix(hash, 16).map_err(|_| format!("`{hash}` is no hash"))?;
            entry.expected.push(((*part).to_owned(), hash));
        }
        _ => return Err(format!("`{first}` with {} words after it means nothing here", rest.len())),
    }
    Ok(())
}

/// A branch's distance is found when its place is known; `jalr` has an offset of its own.
fn open_target(inst: Inst) -> Inst {
    let is_indirect = inst.op.base() == rvv_isa::Op::Jalr;
    let open = Inst { imm: if is_indirect { inst.imm } else { 8 }, ..inst };
    match encode(&open) {
        Ok(raw) => Inst { raw, ..open },
        Err(_) => inst,
    }
}

fn push_flow(stream: &mut Stream, kind: FlowKind, over: &str) -> Result<(), String> {
    let over = over.parse().ok().filter(|n| (1..=MOST_STEPS).contains(n));
    let over = over.ok_or_else(|| "a jump or loop is over a number of steps, from 1 on".to_owned())?;
    stream.flows.push(Flow { at: stream.steps.len(), over, kind });
    Ok(())
}

fn read_step(words: &[&str]) -> Result<Step, String> {
    let mut step = Step::default();
    for text in words {
        match text.strip_prefix('*') {
            Some(word) if step.main.is_none() => step.main = Some(read_word(word)?),
            Some(_) => return Err("a step has one instruction under test".to_owned()),
            None if step.main.is_none() => step.before.push(read_word(text)?),
            None => step.after.push(read_word(text)?),
        }
    }
    Ok(step)
}

fn read_word(text: &str) -> Result<u32, String> {
    let word =
        u32::from_str_radix(text, 16).map_err(|_| format!("`{text}` is no instruction in hexadecimal"))?;
    let digits = 2 * size(word) as usize;
    if text.len() != digits {
        return Err(format!("`{text}`: an instruction with these low bits has {digits} digits"));
    }
    Ok(word)
}

fn read_zero(init: &mut Init, name: &str) -> Result<(), String> {
    let unknown = || format!("`{name}` is not x, f or v and a number, memory, or csrs");
    match name {
        "memory" => init.zero_memory = true,
        "csrs" => init.zero_csrs = true,
        _ => {
            let mut letters = name.chars();
            let bits = match letters.next() {
                Some('x') => &mut init.zero_x,
                Some('f') => &mut init.zero_f,
                Some('v') => &mut init.zero_v,
                _ => return Err(unknown()),
            };
            match letters.as_str() {
                "" => *bits = u32::MAX,
                number => {
                    let r: u32 = number.parse().ok().filter(|r| *r < 32).ok_or_else(unknown)?;
                    *bits |= 1 << r;
                }
            }
        }
    }
    Ok(())
}
