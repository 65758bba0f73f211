//! Addresses in words: symbol, source line, instruction.

use super::lines::{Line, Lines};
use crate::names::readable;
use rvv_isa::DisasmOptions;
use rvvsim::sanitize::{Object, Sanitizer};
use rvvsim::{Hart, Machine};

/// A place in the program.
#[derive(Clone, Debug)]
pub struct Place {
    pub pc: u64,
    /// The symbol and how far behind it.
    pub symbol: Option<(String, u64)>,
    pub line: Option<Line>,
    pub asm: Option<String>,
}

impl Place {
    /// In one line.
    pub fn text(&self) -> String {
        let mut text = format!("{:#x}", self.pc);
        match &self.symbol {
            Some((name, 0)) => text += &format!(" <{name}>"),
            Some((name, offset)) => text += &format!(" <{name}+{offset:#x}>"),
            None => {}
        }
        if let Some(Line { file, line, .. }) = &self.line {
            text += &format!(" {file}:{line}");
        }
        text
    }
}

/// Finds places.
pub struct Places<'a, 'i> {
    objects: &'a [Object],
    lines: &'a Lines<'i>,
    hart: &'a mut Hart,
}

impl<'a, 'i> Places<'a, 'i> {
    pub fn new(sanitizer: &'a Sanitizer, lines: &'a Lines<'i>, machine: &'a mut Machine) -> Places<'a, 'i> {
        Places { objects: sanitizer.objects(), lines, hart: machine.hart_mut() }
    }

    /// The symbol of an address.
    pub fn symbol(&self, pc: u64) -> Option<(String, u64)> {
        let (symbol, offset) = self.objects.iter().find_map(|o| o.nearest(pc))?;
        Some((readable(&symbol.name).into_owned(), offset))
    }

    /// The place of an instruction.
    pub fn at(&mut self, pc: u64) -> Place {
        let mut word = [0; 4];
        let got = self.hart.peek(pc, &mut word);
        let word = u32::from_le_bytes(word);
        let inst = rvv_isa::decode(word).filter(|inst| usize::from(inst.len) <= got);
        let asm = inst.map(|inst| inst.disasm(pc, DisasmOptions { pseudo: true }).replace('\t', " "));
        Place { pc, symbol: self.symbol(pc), line: self.lines.line(pc), asm }
    }

    /// The place of the call that returns to `back`.
    pub fn call(&mut self, back: u64) -> Place {
        let mut word = [0; 2];
        // The call is the instruction before: of four bytes, or of two.
        let long = self.hart.peek(back.wrapping_sub(4), &mut word) == 2 && word[0] & 3 == 3;
        let is_call = long && matches!(word[0] & 0x7f, 0x6f | 0x67);
        self.at(back.wrapping_sub(if is_call { 4 } else { 2 }))
    }
}
