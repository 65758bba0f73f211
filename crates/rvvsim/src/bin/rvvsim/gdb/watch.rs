//! `--gdb` with `--sanitize`: the program stops where an undefined value decides something, and `monitor
//! explain` says why one is undefined.

use crate::sanitize::{Lines, Places, Report, Sanitize};
use rvv_isa::{FReg, XReg};
use rvvsim::elf::Image;
use rvvsim::sanitize::{Path, Sanitizer};
use rvvsim::{Machine, Outcome};
use std::fmt::Write;
use std::time::Instant;

/// What is shown of a register or of memory at most.
const MOST_PARTS: usize = 16;
/// The most bytes of memory that are looked at.
const MOST_BYTES: u64 = 4096;

const USAGE: &str = "\
explain v8        which elements of v8 are undefined, by the SEW of vtype, and why
explain v8 3      the same of element 3
explain a0        of an integer register, fa0 of a floating-point one
explain 0x20008 4 of so many bytes of memory
";

/// Undefined values of the program.
pub struct Watch<'m> {
    pub sanitizer: Sanitizer,
    pub lines: Lines<'m>,
    options: &'m Sanitize,
    /// The report of the last stop.
    pub report: Option<String>,
}

impl<'m> Watch<'m> {
    /// Of a program that has not run yet.
    pub fn new(machine: &mut Machine, image: &'m Image, options: &'m Sanitize) -> Watch<'m> {
        let (mut sanitizer, lines) = options.start(machine, image);
        sanitizer.set_fatal();
        Watch { sanitizer, lines, options, report: None }
    }

    /// Runs the program; `None` where something was found.
    pub fn run(&mut self, machine: &mut Machine, deadline: Option<Instant>) -> Option<Outcome> {
        loop {
            let outcome = machine.run_sanitized(deadline, &mut self.sanitizer);
            if let Some(outcome) = outcome {
                machine.end_child(&outcome);
                return Some(outcome);
            }
            self.sanitizer.go_on();
            let mut places = Places::new(&self.sanitizer, &self.lines, machine);
            let Some(finding) = self.sanitizer.findings().last() else { continue };
            if self.options.suppressions.hide(finding, &mut places) {
                continue;
            }
            let report = Report::new(finding, &mut places).text();
            crate::say::note(&report);
            // gdb sees the first process of a guest that forks.
            if machine.is_child() {
                continue;
            }
            self.report = Some(report);
            return None;
        }
    }

    /// The answer to `monitor explain`.
    pub fn explain(&mut self, machine: &mut Machine, words: &str) -> String {
        let mut words = words.split_whitespace();
        let (what, number) = (words.next().unwrap_or(""), words.next());
        let count = number.and_then(parse);
        if number.is_some() && count.is_none() || words.next().is_some() {
            return USAGE.to_owned();
        }
        let named = |name: fn(u8) -> &'static str, letter: char| {
            (0..32u8).find(|r| name(*r) == what || what.strip_prefix(letter) == Some(&r.to_string()))
        };
        if let Some(r) = named(|r| XReg(r).name(), 'x') {
            let undefined = self.sanitizer.undefined_x(r);
            return self.one(machine, what, undefined);
        }
        if let Some(r) = named(|r| FReg(r).name(), 'f') {
            let undefined = self.sanitizer.undefined_f(r);
            return self.one(machine, what, undefined);
        }
        if let Some(r) = (0..32u8).find(|r| what.strip_prefix('v') == Some(&r.to_string())) {
            return self.vector(machine, r, count);
        }
        match parse(what) {
            Some(va) => self.memory(machine, va, count.unwrap_or(8)),
            None => USAGE.to_owned(),
        }
    }

    fn one(&self, machine: &mut Machine, what: &str, (undefined, path): (u64, Option<Path>)) -> String {
        match undefined {
            0 => format!("{what} is defined\n"),
            u64::MAX => format!("{what} is undefined\n{}", self.path(machine, path)),
            bits => format!("{what}: bits {bits:#x} are undefined\n{}", self.path(machine, path)),
        }
    }

    fn vector(&self, machine: &mut Machine, r: u8, only: Option<u64>) -> String {
        let v = machine.hart().vector();
        let size = if v.vtype.vill { 1 } else { v.vtype.sew.bytes() as usize };
        let count = v.vlenb / size;
        let elements = match only {
            None => 0..count,
            // Of a group: the register that has the element.
            Some(i) => match usize::try_from(i).ok().filter(|i| *i < 8 * count) {
                Some(i) if usize::from(r) + i / count < 32 => {
                    let text = self.elements(machine, r + (i / count) as u8, size, i % count..i % count + 1);
                    return text;
                }
                _ => return format!("v{r} has {count} elements of {} bits\n", 8 * size),
            },
        };
        self.elements(machine, r, size, elements)
    }

    /// Elements of a register, those that came from one place together.
    fn elements(
        &self,
        machine: &mut Machine,
        r: u8,
        size: usize,
        elements: std::ops::Range<usize>,
    ) -> String {
        let shadow = self.sanitizer.undefined_v(r);
        let mut parts: Vec<(std::ops::Range<usize>, Option<Path>)> = Vec::new();
        for i in elements {
            let bytes = &shadow[i * size..(i + 1) * size];
            let Some(first) = bytes.iter().position(|b| *b != 0) else { continue };
            let path = self.sanitizer.origin_of_v(r, i * size + first);
            match parts.last_mut() {
                Some((range, last)) if range.end == i && *last == path => range.end = i + 1,
                _ => parts.push((i..i + 1, path)),
            }
        }
        let mut text = String::new();
        for (range, path) in parts.iter().take(MOST_PARTS) {
            let _ = match range.len() {
                1 => {
                    let bits = shadow[range.start * size..range.end * size].iter().rev();
                    let bits: String = bits.map(|b| format!("{b:02x}")).collect();
                    writeln!(text, "v{r}[{}] of {} bits: 0x{bits} are undefined", range.start, 8 * size)
                }
                _ => writeln!(
                    text,
                    "v{r}[{}] to v{r}[{}] of {} bits are undefined",
                    range.start,
                    range.end - 1,
                    8 * size
                ),
            };
            text += &self.path(machine, path.clone());
        }
        match parts.len().checked_sub(MOST_PARTS) {
            Some(more) if more > 0 => text + &format!("and {more} more\n"),
            _ if parts.is_empty() => format!("v{r} is defined\n"),
            _ => text,
        }
    }

    fn memory(&mut self, machine: &mut Machine, va: u64, len: u64) -> String {
        let len = len.min(MOST_BYTES);
        let mut text = String::new();
        let mut parts = 0;
        let mut last = None;
        for at in (0..len).step_by(8) {
            let size = (len - at).min(8) as usize;
            let (undefined, path) = self.sanitizer.undefined_memory(va.wrapping_add(at), size);
            if undefined == 0 {
                last = None;
                continue;
            }
            if last == Some((undefined, path.clone())) {
                continue;
            }
            parts += 1;
            if parts > MOST_PARTS {
                return text + "and more\n";
            }
            let digits = 2 * size;
            let at = va.wrapping_add(at);
            let _ = writeln!(text, "from {at:#x} on: bits 0x{undefined:0digits$x} are undefined");
            text += &self.path(machine, path.clone());
            last = Some((undefined, path));
        }
        if text.is_empty() { format!("{va:#x} to {:#x} is defined\n", va.wrapping_add(len)) } else { text }
    }

    /// Where a value came from, in lines.
    fn path(&self, machine: &mut Machine, path: Option<Path>) -> String {
        let Some(path) = path else { return String::new() };
        let mut places = Places::new(&self.sanitizer, &self.lines, machine);
        let born = places.at(path.born.pc);
        let asm = born.asm.as_deref().unwrap_or("");
        let mut text = format!(
            "  from   {}\n         {}  {asm} (element {})\n",
            path.source.says(),
            born.text(),
            path.born.element
        );
        for pc in &path.through {
            let place = places.at(*pc);
            let _ = writeln!(text, "  by     {}  {}", place.text(), place.asm.as_deref().unwrap_or(""));
        }
        let _ = writeln!(text, "  rule   {}", path.source.rule());
        text
    }
}

/// A number, with 0x in hexadecimal.
fn parse(word: &str) -> Option<u64> {
    match word.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => word.parse().ok(),
    }
}
