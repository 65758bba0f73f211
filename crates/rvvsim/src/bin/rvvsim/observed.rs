//! What is built on observers: `--accesses`, `--cycles`; and the forms of `--trace`.

use crate::files::{plain, read_text};
use crate::names;
use clap::Args;
use rvv_isa::{Addressing, Class, DisasmOptions, Inst};
use rvvsim::elf::Image;
use rvvsim::observe::{
    Access, AccessPatterns, Costs, CycleEstimate, Observer, Pattern, VectorOperation, Wants, next,
};
use rvvsim::trace::Decoder;
use rvvsim::{Hart, Machine, Trap};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs::File;
use std::io::{BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use toml::Table;

/// Lines that are shown to people.
const SHOWN: usize = 20;
/// The largest table of costs.
const LARGEST: u64 = 1 << 16;

/// Tools on the program's instructions.
#[derive(Args, Debug)]
#[command(next_help_heading = "Looking at instructions")]
pub struct ObserveOptions {
    /// --trace shows which bits of vector registers are agnostic, as `v8 VALUE&MASK`: those with a 1 in the
    /// mask are not.
    #[arg(long, env = "RVVSIM_TRACE_VALID", requires = "trace")]
    pub trace_valid: bool,

    /// --trace writes a compact binary form, which --read-trace prints as lines.
    #[arg(long, env = "RVVSIM_TRACE_BINARY", requires = "trace")]
    pub trace_binary: bool,

    /// Print a trace of --trace-binary as lines, and run nothing.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["elf", "demo"])]
    pub read_trace: Option<PathBuf>,

    /// Print how the program accesses memory, instruction by instruction, to standard error at the end:
    /// bytes, strides, cache lines, misaligned accesses. With a file, also write it there as JSON.
    #[arg(long, env = "RVVSIM_ACCESSES", value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "/dev/null",
          conflicts_with_all = ["trace", "gdb", "sanitize", "sweep", "count", "profile"])]
    pub accesses: Option<PathBuf>,

    /// Print an estimate of cycles on an in-order core to standard error at the end, by symbol. A file has
    /// the costs by class of instruction; without one, those of a small core are taken. It is an estimate:
    /// there are no caches in it.
    #[arg(long, env = "RVVSIM_CYCLES", value_name = "COSTS.toml", num_args = 0..=1, require_equals = true,
          default_missing_value = "/dev/null",
          conflicts_with_all = ["trace", "gdb", "sanitize", "sweep", "count", "profile"])]
    pub cycles: Option<PathBuf>,
}

/// The observers of a run.
#[derive(Default)]
pub struct Observers {
    accesses: Option<(PathBuf, AccessPatterns)>,
    cycles: Option<CycleEstimate>,
}

impl Observers {
    /// Those that are asked for; `None` if none is.
    ///
    /// # Errors
    /// What is wrong with the table of costs.
    pub fn new(options: &ObserveOptions) -> Result<Option<Observers>, String> {
        // An empty file is the default.
        let costs = options.cycles.as_deref().map(read_costs).transpose();
        let costs = costs.map_err(|e| format!("--cycles: {e}"))?;
        let observers = Observers {
            accesses: options.accesses.clone().map(|path| (path, AccessPatterns::default())),
            cycles: costs.map(CycleEstimate::new),
        };
        let any = observers.accesses.is_some() || observers.cycles.is_some();
        Ok(any.then_some(observers))
    }

    /// What was seen, in words.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn report(&self, machine: &mut Machine, image: &Image) -> Result<String, String> {
        let bias = machine.process().map_or(0, |process| process.load_bias());
        let mut places = Places { hart: machine.hart_mut(), image, bias };
        let mut text = String::new();
        if let Some((path, patterns)) = &self.accesses {
            let mut all: Vec<(u64, &Pattern)> = patterns.iter().collect();
            all.sort_by_key(|(pc, pattern)| (std::cmp::Reverse(pattern.bytes), *pc));
            text += &accesses_text(&all, &mut places);
            std::fs::write(path, format!("{:#}\n", accesses_json(&all, &mut places)))
                .map_err(|e| format!("cannot write the accesses to {}: {e}", path.display()))?;
        }
        if let Some(estimate) = &self.cycles {
            text += &cycles_text(estimate, &places);
        }
        Ok(text)
    }
}

impl Observer for Observers {
    fn wants(&self) -> Wants {
        Wants { accesses: self.accesses.is_some(), vectors: self.cycles.is_some() }
    }

    fn before(&mut self, hart: &Hart, inst: Option<&Inst>) {
        if let Some(cycles) = &mut self.cycles {
            cycles.before(hart, inst);
        }
    }

    fn access(&mut self, hart: &Hart, access: &Access) {
        if let Some((_, accesses)) = &mut self.accesses {
            accesses.access(hart, access);
        }
    }

    fn vector(&mut self, hart: &Hart, operation: &VectorOperation) {
        if let Some(cycles) = &mut self.cycles {
            cycles.vector(hart, operation);
        }
    }

    fn retired(&mut self, hart: &Hart, pc: u64, inst: &Inst) {
        if let Some(cycles) = &mut self.cycles {
            cycles.retired(hart, pc, inst);
        }
    }

    fn after(&mut self, hart: &Hart, inst: Option<&Inst>, trap: Option<&Trap>) {
        if let Some((_, accesses)) = &mut self.accesses {
            accesses.after(hart, inst, trap);
        }
    }
}

/// Addresses in words.
struct Places<'a> {
    hart: &'a mut Hart,
    image: &'a Image<'a>,
    bias: u64,
}

impl Places<'_> {
    fn symbol(&self, pc: u64) -> Option<(String, u64)> {
        let (name, offset) = self.image.nearest(pc.wrapping_sub(self.bias))?;
        Some((names::readable(&name).into_owned(), offset))
    }

    fn asm(&mut self, pc: u64) -> String {
        let here = self.hart.pc();
        self.hart.set_pc(pc);
        let inst = next(self.hart);
        self.hart.set_pc(here);
        inst.map_or(String::new(), |i| i.disasm(pc, DisasmOptions { pseudo: true }).replace('\t', " "))
    }

    fn text(&self, pc: u64) -> String {
        self.symbol(pc).map_or(String::new(), |(name, offset)| format!(" <{name}+{offset:#x}>"))
    }
}

fn addressing(pattern: &Pattern) -> &'static str {
    match pattern.addressing {
        None => "scalar",
        Some(Addressing::UnitStride) => "unit-stride",
        Some(Addressing::FaultOnlyFirst) => "fault-only-first",
        Some(Addressing::Strided) => "strided",
        Some(Addressing::IndexedUnordered | Addressing::IndexedOrdered) => "indexed",
        Some(Addressing::Mask) => "mask",
        Some(Addressing::WholeRegisters) => "whole registers",
    }
}

fn accesses_text(all: &[(u64, &Pattern)], places: &mut Places) -> String {
    let bytes: u64 = all.iter().map(|(_, p)| p.bytes).sum();
    let mut text = format!(
        "{bytes} bytes by {} instructions\n\n  share         bytes     accesses  bytes/line  stride           \
         misaligned  instruction\n",
        all.len()
    );
    for (pc, pattern) in all.iter().take(SHOWN) {
        let stride = match pattern.usual_stride() {
            Some((stride, share)) => format!("{stride} ({:.0} %)", 100.0 * share),
            None => "-".to_owned(),
        };
        let _ = writeln!(
            text,
            "{:>5.1} % {:>13} {:>12} {:>11.1}  {stride:<16} {:>10}  {:<16} {pc:#x}{}  {}",
            100.0 * pattern.bytes as f64 / bytes.max(1) as f64,
            pattern.bytes,
            pattern.loads + pattern.stores,
            pattern.bytes as f64 / pattern.lines.max(1) as f64,
            pattern.misaligned,
            addressing(pattern),
            places.text(*pc),
            places.asm(*pc),
        );
    }
    text
}

fn accesses_json(all: &[(u64, &Pattern)], places: &mut Places) -> Value {
    let one = |(pc, p): &(u64, &Pattern)| {
        let strides: Vec<Value> = p.strides.iter().map(|(s, n)| json!({ "stride": s, "count": n })).collect();
        json!({
            "pc": format!("{pc:#x}"),
            "symbol": places.symbol(*pc).map(|(name, _)| name),
            "instruction": places.asm(*pc),
            "addressing": addressing(p),
            "executed": p.executed,
            "loads": p.loads,
            "stores": p.stores,
            "bytes": p.bytes,
            "lines": p.lines,
            "misaligned": p.misaligned,
            "strides": strides,
            "other_strides": p.other_strides,
        })
    };
    Value::Array(all.iter().map(one).collect())
}

fn cycles_text(estimate: &CycleEstimate, places: &Places) -> String {
    let all = estimate.cycles();
    let mut executed = 0;
    let mut symbols: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for (pc, of) in estimate.iter() {
        executed += of.executed;
        let name = places.symbol(pc).map_or("(other)".to_owned(), |(name, _)| name);
        let sum = symbols.entry(name).or_default();
        *sum = (sum.0 + of.cycles, sum.1 + of.executed);
    }
    let mut symbols: Vec<_> = symbols.into_iter().collect();
    symbols.sort_by_key(|(name, (cycles, _))| (std::cmp::Reverse(*cycles), name.clone()));
    let per = |n: u64| n as f64 / executed.max(1) as f64;
    let mut text = format!(
        "an estimate, by a table of costs and without caches: {all} cycles for {executed} instructions, {:.2} \
         each\n\n  share        cycles  instructions  symbol\n",
        per(all)
    );
    for (name, (cycles, executed)) in symbols.iter().take(SHOWN) {
        let share = 100.0 * *cycles as f64 / all.max(1) as f64;
        let _ = writeln!(text, "{share:>5.1} % {cycles:>13} {executed:>13}  {name}");
    }
    text
}

/// A table of costs: `dlen`, `taken`, and a table for each class that is not as by default.
///
/// # Errors
/// In words: what is wrong, and what may be there.
fn read_costs(path: &Path) -> Result<Costs, String> {
    let text = read_text(path, LARGEST)?;
    parse_costs(&text).map_err(|e| format!("{}: {e}", path.display()))
}

fn parse_costs(text: &str) -> Result<Costs, String> {
    const MOST: i64 = 1_000_000;
    let table: Table = text.parse().map_err(|e: toml::de::Error| {
        let line = e.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
        format!("line {line}: {}", e.message().trim_end())
    })?;
    let number = |key: &str, value: &toml::Value, least: i64| match value.as_integer() {
        Some(n) if (least..=MOST).contains(&n) => Ok(n as u32),
        _ => Err(format!("{key} = {}: a number from {least} to {MOST}", plain(&value.to_string()))),
    };
    let mut costs = Costs::default();
    for (key, value) in &table {
        match (key.as_str(), value) {
            ("dlen", value) => costs.dlen = number(key, value, 8)?,
            ("taken", value) => costs.taken = number(key, value, 0)?,
            (name, toml::Value::Table(of)) => {
                let class = Class::ALL.into_iter().find(|class| format!("{class:?}") == name);
                let Some(class) = class else {
                    let classes: Vec<_> = Class::ALL.iter().map(|class| format!("{class:?}")).collect();
                    return Err(format!(
                        "there is no class {}; they are {}",
                        plain(name),
                        classes.join(", ")
                    ));
                };
                for (key, value) in of {
                    let cost = costs.of_mut(class);
                    let to = match key.as_str() {
                        "latency" => &mut cost.latency,
                        "busy" => &mut cost.busy,
                        "per-element" => &mut cost.per_element,
                        _ => {
                            let key = plain(key);
                            return Err(format!("{name}: no {key}, but latency, busy and per-element"));
                        }
                    };
                    *to = number(&format!("{name}.{key}"), value, 1)?;
                }
            }
            (name, _) => {
                return Err(format!("{}: dlen and taken are numbers, classes are tables", plain(name)));
            }
        }
    }
    Ok(costs)
}

/// Prints a binary trace as lines.
///
/// # Errors
/// In words: what cannot be read, or written.
pub fn print_trace(path: &Path) -> Result<(), String> {
    let name = path.display();
    let file = File::open(path).map_err(|e| format!("cannot read {name}: {e}"))?;
    let wrong = |e: std::io::Error| match e.kind() {
        std::io::ErrorKind::UnexpectedEof => format!("{name}: it ends in the middle of an instruction"),
        _ => format!("{name}: {e}"),
    };
    let mut decoder = Decoder::new(BufReader::with_capacity(1 << 16, file)).map_err(wrong)?;
    let mut out = BufWriter::with_capacity(1 << 16, std::io::stdout().lock());
    let written = |result: std::io::Result<()>| match result {
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(format!("cannot write to standard output: {e}"))
        }
        Err(_) => Ok(false),
        Ok(()) => Ok(true),
    };
    let mut line = String::new();
    loop {
        let commit = match decoder.decode() {
            Ok(Some(commit)) => commit,
            Ok(None) => break,
            Err(e) => {
                // What was good is shown.
                written(out.flush())?;
                return Err(wrong(e));
            }
        };
        line.clear();
        commit.text(&mut line);
        if !written(out.write_all(line.as_bytes()))? {
            return Ok(());
        }
    }
    written(out.flush()).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_costs_are_read_and_wrong_ones_say_what_may_be_there() {
        let costs =
            parse_costs("dlen = 512\ntaken = 0\n[VectorLoad]\nlatency = 20\nper-element = 3\n").unwrap();
        assert_eq!((costs.dlen, costs.taken), (512, 0));
        let load = costs.of(Class::VectorLoad);
        assert_eq!((load.latency, load.busy, load.per_element), (20, 1, 3));
        assert_eq!(costs.of(Class::Load), Costs::default().of(Class::Load));
        for (text, says) in [
            ("dlen = 0", "a number from 8"),
            ("[Vectors]\n", "there is no class Vectors; they are Integer"),
            ("[Load]\nspeed = 1", "Load: no speed, but latency"),
            ("[Load]\nbusy = 1.5", "Load.busy = 1.5: a number from 1"),
            ("Load = 1", "classes are tables"),
            ("a = \n", "line 1"),
        ] {
            let e = parse_costs(text).unwrap_err();
            assert!(e.contains(says), "{text}: {e}");
        }
    }
}
