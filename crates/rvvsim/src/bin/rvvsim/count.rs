//! `--count`: instructions by class, by symbol, and by VLEN.

use crate::names;
use rvv_isa::Class;
use rvvsim::Machine;
use rvvsim::elf::Image;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

/// How many symbols are shown to people.
const SHOWN: usize = 20;
/// What is not of any symbol: code without one, and what ran before a trap in the middle of a block.
const OTHER: &str = "(other)";

/// Instructions of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Of {
    pub all: u64,
    pub vector: u64,
}

/// The instructions that a run retired.
#[derive(Clone, Debug, Default)]
pub struct Count {
    pub total: u64,
    pub classes: Vec<(Class, u64)>,
    pub symbols: BTreeMap<String, Of>,
}

fn is_vector(class: Class) -> bool {
    class >= Class::VectorConfig
}

impl Count {
    /// What a machine counts before it runs.
    pub fn prepare(machine: &mut Machine) {
        machine.engine_mut().remember_forgotten_blocks();
    }

    /// What it has counted. Blocks count their runs anyway: counting costs nothing.
    pub fn of(machine: &Machine, image: &Image) -> Count {
        let mut names: HashMap<String, Of> = HashMap::new();
        for (pc, runs, insts) in machine.engine().blocks().filter(|(_, runs, _)| *runs > 0) {
            let name = image.nearest(pc).map_or(OTHER.into(), |(name, _)| name);
            let vector = insts.iter().filter(|(_, inst)| is_vector(inst.op.class())).count() as u64;
            let of = match names.get_mut(&*name) {
                Some(of) => of,
                None => names.entry(name.into_owned()).or_default(),
            };
            of.all += runs * insts.len() as u64;
            of.vector += runs * vector;
        }
        let mut count = Count {
            total: machine.instructions_retired(),
            classes: machine.counts().iter().collect(),
            symbols: BTreeMap::new(),
        };
        for (name, of) in names {
            // Names that look alike count together.
            let known = count.symbols.entry(names::readable(&name).into_owned()).or_default();
            known.all += of.all;
            known.vector += of.vector;
        }
        let vector = count.classes.iter().filter(|(class, _)| is_vector(*class)).map(|(_, n)| n).sum::<u64>();
        let found = count
            .symbols
            .values()
            .fold(Of::default(), |sum, of| Of { all: sum.all + of.all, vector: sum.vector + of.vector });
        let rest =
            Of { all: count.total.saturating_sub(found.all), vector: vector.saturating_sub(found.vector) };
        if rest.all != 0 {
            let other = count.symbols.entry(OTHER.to_owned()).or_default();
            other.all += rest.all;
            other.vector += rest.vector;
        }
        count
    }

    pub fn text(&self) -> String {
        let share = |n: u64| 100.0 * n as f64 / self.total.max(1) as f64;
        let mut text = format!("{} instructions\n\nby class\n", self.total);
        let mut classes = self.classes.clone();
        classes.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
        for (class, n) in classes {
            let _ = writeln!(text, "  {:>5.1} % {n:>14}  {class:?}", share(n));
        }
        text += "\nby symbol, and vector instructions of it\n";
        for (name, of) in self.hottest().take(SHOWN) {
            let _ = writeln!(text, "  {:>5.1} % {:>14} {:>14}  {name}", share(of.all), of.all, of.vector);
        }
        text
    }

    fn hottest(&self) -> impl Iterator<Item = (&String, &Of)> {
        let mut symbols: Vec<_> = self.symbols.iter().collect();
        symbols.sort_by_key(|(name, of)| (std::cmp::Reverse(of.all), *name));
        symbols.into_iter()
    }

    pub fn json(&self) -> Value {
        let classes: BTreeMap<String, u64> =
            self.classes.iter().map(|(class, n)| (format!("{class:?}"), *n)).collect();
        let symbols: Vec<Value> = self
            .hottest()
            .map(|(name, of)| json!({ "symbol": name, "instructions": of.all, "vector": of.vector }))
            .collect();
        json!({ "instructions": self.total, "classes": classes, "symbols": symbols })
    }
}

/// Counts of one program at several VLENs, the shortest first.
pub struct ByVlen(pub Vec<(u32, Count)>);

/// A line of the table.
struct Line {
    name: String,
    counts: Vec<u64>,
    slow: bool,
}

impl ByVlen {
    fn symbols(&self) -> Vec<Line> {
        let Some((_, first)) = self.0.first() else { return Vec::new() };
        let mut names: Vec<&String> = self.0.iter().flat_map(|(_, count)| count.symbols.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let of = |count: &Count, name: &str| count.symbols.get(name).copied().unwrap_or_default();
        let mut lines: Vec<Line> = names
            .into_iter()
            .map(|name| {
                let counts: Vec<u64> = self.0.iter().map(|(_, count)| of(count, name).all).collect();
                // Vector code of some weight that takes nine tenths of the instructions, or more, at a VLEN
                // that is at least twice as long.
                let (short, long) = (counts[0], counts[counts.len() - 1]);
                let weight = of(first, name).vector * 100 >= first.total;
                let slow = name != OTHER && self.0.len() > 1 && weight && long * 10 >= short * 9;
                Line { name: name.clone(), counts, slow }
            })
            .collect();
        lines.sort_by_key(|line| std::cmp::Reverse(line.counts.iter().copied().max()));
        lines
    }

    /// One table.
    pub fn text(&self) -> String {
        let mut text = format!("{:<24}", "VLEN");
        for (vlen, _) in &self.0 {
            let _ = write!(text, " {vlen:>12}");
        }
        text.push('\n');
        let mut line = |name: &str, counts: &[u64], more: &str| {
            let mut row = format!("{name:<24}");
            for n in counts {
                let _ = write!(row, " {n:>12}");
            }
            let _ = writeln!(text, "{}", (row + more).trim_end());
        };
        line("instructions", &self.0.iter().map(|(_, count)| count.total).collect::<Vec<_>>(), "");
        for class in Class::ALL {
            let of = |count: &Count| count.classes.iter().find(|(c, _)| *c == class).map_or(0, |(_, n)| *n);
            let counts: Vec<u64> = self.0.iter().map(|(_, count)| of(count)).collect();
            if is_vector(class) && counts.iter().any(|n| *n != 0) {
                line(&format!("  {class:?}"), &counts, "");
            }
        }
        let symbols = self.symbols();
        line("by symbol", &[], "");
        for Line { name, counts, slow } in symbols.iter().take(SHOWN) {
            let name: String = name.chars().take(22).collect();
            line(&format!("  {name}"), counts, if *slow { "  not faster" } else { "" });
        }
        let slow: Vec<&str> = symbols.iter().filter(|l| l.slow).map(|l| &*l.name).take(SHOWN).collect();
        text + &match slow.len() {
            0 => "Vector code takes fewer instructions at a longer VLEN, or there is little of it.\n"
                .to_owned(),
            _ => format!("Vector code that does not get faster with VLEN: {}\n", slow.join(", ")),
        }
    }

    pub fn json(&self) -> Value {
        let slow: Vec<String> = self.symbols().into_iter().filter(|l| l.slow).map(|l| l.name).collect();
        let runs: Vec<Value> = self
            .0
            .iter()
            .map(|(vlen, count)| {
                let mut value = count.json();
                value["vlen"] = (*vlen).into();
                value
            })
            .collect();
        json!({ "runs": runs, "not_faster": slow })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(total: u64, symbols: &[(&str, u64, u64)]) -> Count {
        let symbols = symbols.iter().map(|&(name, all, vector)| (name.to_owned(), Of { all, vector }));
        Count { total, classes: vec![(Class::VectorLoad, 10)], symbols: symbols.collect() }
    }

    #[test]
    fn vector_code_that_takes_as_many_instructions_is_not_faster() {
        let short = count(3000, &[("good", 1000, 500), ("fixed", 1000, 500), ("scalar", 1000, 0)]);
        let long = count(2500, &[("good", 500, 250), ("fixed", 1000, 500), ("scalar", 1000, 0)]);
        let table = ByVlen(vec![(128, short), (256, long)]);
        assert_eq!(table.json()["not_faster"], json!(["fixed"]));
        let text = table.text();
        assert!(text.contains("does not get faster with VLEN: fixed\n"), "{text}");
        let line = |name: &str| text.lines().find(|l| l.trim().starts_with(name)).unwrap_or_default();
        assert!(line("fixed").ends_with("  not faster") && !line("good").contains("not"), "{text}");
    }

    #[test]
    fn tables_of_nothing_and_of_one_run_say_nothing_wrong() {
        assert_eq!(ByVlen(Vec::new()).json()["not_faster"], json!([]));
        let one = ByVlen(vec![(128, count(1000, &[("fixed", 1000, 500)]))]);
        assert_eq!(one.json()["not_faster"], json!([]));
        assert!(one.text().contains("1000"));
    }
}
