//! `--profile`: where the instructions went.

use crate::flame::{self, Frame};
use crate::names;
use rvv_isa::DisasmOptions;
use rvvsim::Machine;
use rvvsim::elf::Image;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;
use std::path::Path;

/// How many blocks and symbols are shown.
const SHOWN: usize = 10;

/// A block that ran.
struct Hot {
    symbol: String,
    pc: u64,
    runs: u64,
    instructions: u64,
    listing: String,
}

/// The hottest symbols and blocks as text, and all blocks for a file: as a flame graph if its name ends in
/// `.svg`, else as collapsed stacks, which flame graph tools read, a line `symbol;address instructions` for
/// each.
pub fn profile(machine: &Machine, image: &Image, file: &Path) -> (String, String) {
    // A name is demangled once, however many blocks it has.
    let mut readable: HashMap<String, String> = HashMap::new();
    let mut blocks: Vec<Hot> = machine
        .engine()
        .blocks()
        .filter(|(_, runs, _)| *runs > 0)
        .map(|(pc, runs, insts)| {
            let symbol = match image.nearest(pc) {
                Some((name, _)) => match readable.get(&*name) {
                    Some(known) => String::clone(known),
                    None => {
                        let text = names::readable(&name).into_owned();
                        readable.entry(name.into_owned()).or_insert(text).clone()
                    }
                },
                None => "?".to_owned(),
            };
            let mut listing = String::new();
            for (offset, inst) in insts {
                let at = pc.wrapping_add(u64::from(*offset));
                let text = inst.disasm(at, DisasmOptions { pseudo: true }).replace('\t', " ");
                let _ = writeln!(listing, "      {at:#10x}  {text}");
            }
            Hot { symbol, pc, runs, instructions: runs * insts.len() as u64, listing }
        })
        .collect();
    // One address may have a block for each vtype: hottest first, and the same order in every run.
    blocks.sort_by_key(|b| (std::cmp::Reverse(b.instructions), b.pc));
    let total = blocks.iter().map(|b| b.instructions).sum::<u64>().max(1);
    let share = |n: u64| 100.0 * n as f64 / total as f64;

    let mut by_symbol: BTreeMap<&str, u64> = BTreeMap::new();
    for block in &blocks {
        *by_symbol.entry(&block.symbol).or_default() += block.instructions;
    }
    let mut symbols: Vec<_> = by_symbol.into_iter().collect();
    symbols.sort_by_key(|&(name, n)| (std::cmp::Reverse(n), name));
    let mut text = format!("{total} instructions in blocks that ran to their end\n\nhottest symbols\n");
    for (name, n) in symbols.iter().take(SHOWN) {
        let _ = writeln!(text, "  {:>5.1} % {n:>14}  {name}", share(*n));
    }
    text += "\nhottest blocks\n";
    for block in blocks.iter().take(SHOWN) {
        let Hot { symbol, pc, runs, instructions, listing } = block;
        let _ =
            write!(text, "  {:>5.1} % {runs:>14} times  {pc:#x} <{symbol}>\n{listing}", share(*instructions));
    }
    if file.extension().is_some_and(|extension| extension == "svg") {
        let frame =
            |Hot { symbol, pc, instructions, .. }| Frame { symbol, block: format!("{pc:#x}"), instructions };
        return (text, flame::graph(blocks.into_iter().map(frame).collect()));
    }
    let mut stacks = String::new();
    for block in &blocks {
        let _ = writeln!(
            stacks,
            "{};{:#x} {}",
            block.symbol.replace([';', ' '], "_"),
            block.pc,
            block.instructions
        );
    }
    (text, stacks)
}
