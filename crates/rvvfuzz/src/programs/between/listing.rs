//! The code of two builds side by side.

use crate::programs::features::code::{Code, Flow, Function, base_name};
use rvv_isa::DisasmOptions;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How a line differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mark {
    /// The same on both sides.
    Same,
    /// The same instruction with other operands.
    Operands,
    /// Only on the left.
    First,
    /// Only on the right.
    Second,
}

/// A line of both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Line {
    /// How it differs.
    pub mark: Mark,
    /// The first build's; empty if it has none.
    pub first: String,
    /// The second build's.
    pub second: String,
}

/// A function of both sides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Listing {
    /// Its name in C.
    pub function: String,
    /// Its lines.
    pub lines: Vec<Line>,
}

/// Longer functions are put side by side without looking for what belongs together: that takes the product of
/// their lengths.
const LONGEST: usize = 1500;

/// The functions of a program, as two builds made them, side by side.
pub fn listings(one: &Code, other: &Code) -> Vec<Listing> {
    let by_name = |code: &Code| -> BTreeMap<String, Vec<String>> {
        let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for function in &code.functions {
            // Clones of a function follow it.
            all.entry(base_name(&function.symbol).to_string()).or_default().extend(lines(function, code));
        }
        all
    };
    let (mut one, mut other) = (by_name(one), by_name(other));
    let names: BTreeSet<String> = one.keys().chain(other.keys()).cloned().collect();
    let mut take = |name: String| {
        let (a, b) = (one.remove(&name).unwrap_or_default(), other.remove(&name).unwrap_or_default());
        Listing { lines: aligned(a, b), function: name }
    };
    let mut all: Vec<Listing> = names.into_iter().map(&mut take).collect();
    // What is the same with both comes last: it is there to be looked up.
    all.sort_by_key(|l| l.lines.iter().all(|line| line.mark == Mark::Same));
    all
}

/// A function as text: jumps lead to labels, calls to names.
fn lines(function: &Function, code: &Code) -> Vec<String> {
    let inside = |flow: Flow| match flow {
        Flow::Branch(to) | Flow::Jump(to) => Some(to),
        _ => None,
    };
    let targets: BTreeSet<u64> =
        function.code.iter().filter_map(|p| inside(p.flow(&function.range))).collect();
    let label = |address: u64| format!(".L{}", targets.range(..address).count() + 1);
    let mut text = vec![format!("{}:", function.symbol)];
    for placed in &function.code {
        if targets.contains(&placed.at) {
            text.push(format!("{}:", label(placed.at)));
        }
        let Some(inst) = &placed.inst else {
            text.push("    (no instruction)".to_string());
            continue;
        };
        let mut line = inst.disasm(placed.at, DisasmOptions { pseudo: true }).replace('\t', " ");
        let to = placed.at.wrapping_add_signed(inst.imm.into());
        let name = match placed.flow(&function.range) {
            Flow::Branch(to) | Flow::Jump(to) => Some(label(to)),
            Flow::Call(Some(_)) | Flow::Leaves => code.name_at(to).map(str::to_string),
            _ => None,
        };
        if let Some(name) = name {
            line = line.replace(&format!("{to:#x}"), &name);
        }
        text.push(format!("    {line}"));
    }
    text
}

/// The instruction of a line, without operands.
fn head(line: &str) -> &str {
    line.trim_start().split(' ').next().unwrap_or_default()
}

/// Puts lines side by side: as many as possible with the same instruction, in order.
fn aligned(one: Vec<String>, other: Vec<String>) -> Vec<Line> {
    let line = |mark, first: &str, second: &str| Line { mark, first: first.into(), second: second.into() };
    let pair = |a: &str, b: &str| line(if a == b { Mark::Same } else { Mark::Operands }, a, b);
    if one.len().max(other.len()) > LONGEST {
        let count = one.len().max(other.len());
        let at = |of: &[String], i: usize| of.get(i).cloned().unwrap_or_default();
        return (0..count).map(|i| pair(&at(&one, i), &at(&other, i))).collect();
    }
    // What the best alignment of the rests is worth: the same line is worth a little more than the same
    // instruction.
    let worth = |a: &str, b: &str| match (a == b, head(a) == head(b)) {
        (true, _) => 5,
        (_, true) => 4,
        _ => 0,
    };
    let width = other.len() + 1;
    let mut best = vec![0u32; (one.len() + 1) * width];
    for i in (0..one.len()).rev() {
        for j in (0..other.len()).rev() {
            let here = worth(&one[i], &other[j]);
            let both = if here > 0 { best[(i + 1) * width + j + 1] + here } else { 0 };
            best[i * width + j] = both.max(best[(i + 1) * width + j]).max(best[i * width + j + 1]);
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines = Vec::new();
    while i < one.len() || j < other.len() {
        let here = best[i * width + j];
        if i < one.len() && j < other.len() {
            let value = worth(&one[i], &other[j]);
            if value > 0 && here == best[(i + 1) * width + j + 1] + value {
                lines.push(pair(&one[i], &other[j]));
                (i, j) = (i + 1, j + 1);
                continue;
            }
        }
        if i < one.len() && (j == other.len() || here == best[(i + 1) * width + j]) {
            lines.push(line(Mark::First, &one[i], ""));
            i += 1;
        } else {
            lines.push(line(Mark::Second, "", &other[j]));
            j += 1;
        }
    }
    lines
}

impl Listing {
    /// As text: the first build's code, a mark, the second's, below their names.
    pub fn text(&self, heads: [&str; 2]) -> String {
        let widths = self.lines.iter().map(|l| l.first.chars().count()).chain([heads[0].chars().count()]);
        let width = widths.max().unwrap_or(0).clamp(24, 52);
        let mut text = format!("{:width$}   {}\n", heads[0], heads[1]);
        for Line { mark, first, second } in &self.lines {
            let mark = match mark {
                Mark::Same => ' ',
                Mark::Operands => '~',
                Mark::First => '<',
                Mark::Second => '>',
            };
            text += format!("{first:width$} {mark} {second}").trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(one: &[&str], other: &[&str]) -> String {
        let strings = |of: &[&str]| of.iter().map(|s| s.to_string()).collect();
        Listing { function: "f".into(), lines: aligned(strings(one), strings(other)) }.text(["a", "b"])
    }

    #[test]
    fn what_belongs_together_is_side_by_side() {
        let one = ["program:", "csrwi vxrm,0", "vle8.v v8,(a0)", "vadd.vv v8,v8,v9", "ret"];
        let other = ["program:", "vle8.v v8,(a0)", "csrwi vxrm,0", "vadd.vv v9,v8,v9", "ret"];
        assert_eq!(
            texts(&one, &other),
            "a                          b\n\
             program:                   program:\n\
             csrwi vxrm,0             <\n\
             vle8.v v8,(a0)             vle8.v v8,(a0)\n                         > csrwi vxrm,0\n\
             vadd.vv v8,v8,v9         ~ vadd.vv v9,v8,v9\n\
             ret                        ret\n"
        );
        assert_eq!(texts(&[], &[]).lines().count(), 1);
        assert_eq!(texts(&["x"], &[]).lines().nth(1).map(str::trim_end), Some("x                        <"));
    }

    #[test]
    fn long_functions_are_put_side_by_side_in_little_time() {
        let long: Vec<String> = (0..200_000).map(|n| format!("    addi a0,a0,{n}")).collect();
        let lines = aligned(long.clone(), long[1..].to_vec());
        assert_eq!(lines.len(), 200_000);
        assert_eq!(lines[0].mark, Mark::Operands);
    }
}
