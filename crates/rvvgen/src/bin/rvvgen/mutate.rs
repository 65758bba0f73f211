//! Writes mutants of programs, or counts what becomes of them.

use crate::executed::execute;
use crate::options::{MutateOptions, Oracle};
use crate::progress::Progress;
use crate::write::{Forms, write};
use rvv_cli::{figures, out};
use rvv_ir::{Node, Program, elf};
use rvvgen::{Generated, Miss, Mutant, MutateError, Mutator, Parent, Plan, Settings, generate};
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

/// Mutants of one generated program.
const OF_ONE: u64 = 8;

/// Writes, runs or counts. False if a run was wrong.
pub fn run(options: &MutateOptions) -> Result<bool, String> {
    let mut vlens = options.vlen.clone();
    vlens.sort_unstable();
    vlens.dedup();
    let settings = options.style.settings(vlens, options.vl)?;
    let source = Source::new(options, &settings)?;
    match options.stats {
        true => stats(options, &settings, &source),
        false => mutants(options, &settings, &source),
    }
}

/// A program, and the one that it is spliced with.
type Couple<'a> = (Cow<'a, Program>, Option<Cow<'a, Program>>);

/// Where parents come from.
struct Source {
    file: Option<Program>,
    other: Option<Program>,
    plan: Plan,
}

impl Source {
    fn new(options: &MutateOptions, settings: &Settings) -> Result<Source, String> {
        let read = |path: &Path| -> Result<Program, String> {
            let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
            std::fs::read_to_string(path).map_err(|e| at(&e))?.parse().map_err(|e| at(&e))
        };
        let file = options.program.as_deref().map(read).transpose()?;
        let other = options.with.as_deref().map(read).transpose()?;
        let selection = &settings.selection;
        let plan = Plan::new(options.style.seed, selection, options.style.ops, settings.smallest_vlen());
        Ok(Source { file, other, plan })
    }

    /// The parent of mutant `i`, and the program that it is spliced with.
    fn parents(&self, i: u64, settings: &Settings) -> Result<Couple<'_>, String> {
        let generated = |k: u64| generate(&self.plan, k, settings).map(|g| Cow::Owned(g.program));
        let other = self.other.as_ref().map(Cow::Borrowed);
        match &self.file {
            Some(program) => Ok((Cow::Borrowed(program), other)),
            None => {
                let program = generated(i / OF_ONE).map_err(|e| e.to_string())?;
                let other = match other {
                    Some(other) => other,
                    None => generated(i / OF_ONE + 1).map_err(|e| e.to_string())?,
                };
                Ok((program, Some(other)))
            }
        }
    }
}

fn parent<'a>(
    program: &'a Program,
    other: Option<&'a Program>,
    settings: &'a Settings,
) -> Result<Parent<'a>, String> {
    let parent = Parent::new(program, settings).map_err(|e| format!("the program: {e}"))?;
    match other {
        Some(other) => parent.with(other).map_err(|e| format!("the second program: {e}")),
        None => Ok(parent),
    }
}

/// Mutant `i`: of so many mutations, each near what the one before it touched.
fn mutant(
    options: &MutateOptions,
    settings: &Settings,
    source: &Source,
    i: u64,
) -> Result<Option<Mutant>, String> {
    let (program, other) = source.parents(i, settings)?;
    let (mut program, mut focus): (Program, Vec<Node>) = (program.into_owned(), Vec::new());
    let mut last = None;
    for generation in 0..options.generations {
        let parent = match parent(&program, other.as_deref(), settings) {
            Ok(parent) => parent.near(std::mem::take(&mut focus)),
            // A generated program may be too large.
            Err(_) if source.file.is_none() => return Ok(last),
            Err(e) => return Err(e),
        };
        let seed = options.style.seed.wrapping_mul(1 << 32).wrapping_add(i * 64 + generation);
        let made = match options.mutator.is_empty() {
            true => match parent.mutate(seed) {
                Ok(made) => made,
                // The next one may be luckier.
                Err(MutateError::Nothing(_)) => return Ok(last),
                Err(e) => return Err(e.to_string()),
            },
            false => {
                let mutator = options.mutator[(i % options.mutator.len() as u64) as usize];
                match (0..16).find_map(|n| parent.attempt(mutator, seed.wrapping_add(n << 48)).ok()) {
                    Some(made) => made,
                    None => return Ok(last),
                }
            }
        };
        (program, focus) = (made.generated.program.clone(), made.touched.clone());
        last = Some(made);
    }
    Ok(last)
}

fn mutants(options: &MutateOptions, settings: &Settings, source: &Source) -> Result<bool, String> {
    let mut progress = Progress::new("mutants", options.count);
    let width = (options.count - 1).to_string().len().max(4);
    let forms = Forms { emit: &options.emit, oracle: Oracle::Internal, libc: false };
    let (mut made, mut none, mut wrong) = (0u64, 0u64, Vec::new());
    for i in 0..options.count {
        match mutant(options, settings, source, i)? {
            None => none += 1,
            Some(mutant) => {
                made += 1;
                if options.run
                    && let Some(what) = fails(&mutant.generated)
                {
                    wrong.push(format!("mutant {i}, {}: {what}", mutant.mutator.name()));
                }
                if let Some(dir) = &options.output {
                    write(&dir.join(format!("{i:0width$}")), mutant.generated, forms)?;
                }
            }
        }
        progress.show(i + 1);
    }
    drop(progress);
    if made == 0 {
        return Err(
            "no mutation made another program; try another --seed, or --with a second program".to_string()
        );
    }
    let ran = if options.run {
        format!(", run on rvvsim at each VLEN: {} wrong", wrong.len())
    } else {
        String::new()
    };
    if options.json {
        out!("{{\"mutants\":{made},\"none\":{none},\"run\":{},\"wrong\":{}}}\n", options.run, wrong.len());
    } else {
        let missing = if none > 0 { format!(", {none} that could not be made") } else { String::new() };
        out!("{made} mutants{missing}{ran}\n");
        for line in wrong.iter().take(20) {
            out!("wrong: {line}\n");
        }
    }
    Ok(wrong.is_empty())
}

/// What goes wrong when a program runs on the emulator.
fn fails(generated: &Generated) -> Option<String> {
    let program = &generated.program;
    let elf = elf::lower(&[program]).map_err(|e| e.to_string());
    let image = match elf.and_then(|elf| Image::parse(elf).map_err(|e| e.to_string())) {
        Ok(image) => image,
        Err(e) => return Some(e),
    };
    generated.expected.iter().find_map(|expected| {
        let (ending, printed) = execute(&image, expected.vlen, Agnostic::Ones);
        let mismatch = expected.judge(program, &printed)?;
        let name = &program.buffers[mismatch.buffer].name;
        Some(format!("VLEN {}: {name}[{}], {ending}\n{program}", expected.vlen, mismatch.element))
    })
}

/// What became of the attempts of one mutator.
#[derive(Default)]
struct Row {
    attempts: u64,
    no_place: u64,
    same: u64,
    lost: u64,
    /// Valid as it was made, and valid after something was taken out.
    clean: u64,
    mended: u64,
    /// Of both, those whose output depends on the change.
    useful: u64,
    repairs: u64,
}

impl Row {
    fn add(&mut self, outcome: &Result<Mutant, Miss>) {
        self.attempts += 1;
        match outcome {
            Err(Miss::NoPlace) => self.no_place += 1,
            Err(Miss::Same) => self.same += 1,
            Err(Miss::TooLarge(_) | Miss::Meaningless(_) | Miss::Unreadable(_) | Miss::Lost(..)) => {
                self.lost += 1
            }
            Ok(mutant) => {
                let repairs = mutant.generated.repairs as u64;
                *(if repairs == 0 { &mut self.clean } else { &mut self.mended }) += 1;
                self.useful += u64::from(mutant.visible);
                self.repairs += repairs;
            }
        }
    }

    fn sum(rows: &BTreeMap<Mutator, Row>) -> Row {
        rows.values().fold(Row::default(), |sum, row| Row {
            attempts: sum.attempts + row.attempts,
            no_place: sum.no_place + row.no_place,
            same: sum.same + row.same,
            lost: sum.lost + row.lost,
            clean: sum.clean + row.clean,
            mended: sum.mended + row.mended,
            useful: sum.useful + row.useful,
            repairs: sum.repairs + row.repairs,
        })
    }

    /// Attempts on programs that have something to change, and the shares of those.
    fn rates(&self) -> [String; 7] {
        let tried = self.attempts - self.no_place;
        let share = |n: u64, of: u64| format!("{:.1} %", 100.0 * n as f64 / of.max(1) as f64);
        let made = self.clean + self.mended;
        [
            share(tried, self.attempts),
            share(self.clean, tried),
            share(self.mended, tried),
            share(self.same, tried),
            share(self.lost, tried),
            share(self.useful, made),
            format!("{:.2}", self.repairs as f64 / made.max(1) as f64),
        ]
    }
}

const COLUMNS: [&str; 7] = ["applies", "valid", "valid, mended", "no change", "none", "useful", "taken out"];

/// Tries every mutator on every parent.
fn stats(options: &MutateOptions, settings: &Settings, source: &Source) -> Result<bool, String> {
    let chosen = if options.mutator.is_empty() { Mutator::ALL } else { &options.mutator };
    let mut rows: BTreeMap<Mutator, Row> = BTreeMap::new();
    let mut progress = Progress::new("mutations", options.count);
    let mut parents: Option<(u64, Couple)> = None;
    for i in 0..options.count {
        let number = if source.file.is_some() { 0 } else { i / OF_ONE };
        if parents.as_ref().is_none_or(|(of, _)| *of != number) {
            parents = Some((number, source.parents(i, settings)?));
        }
        let Some((_, (program, other))) = &parents else { continue };
        match parent(program, other.as_deref(), settings) {
            Ok(parent) => {
                for &mutator in chosen {
                    let fits = mutator != Mutator::Splice || parent.other.is_some();
                    if fits {
                        rows.entry(mutator).or_default().add(&parent.attempt(mutator, i));
                    }
                }
            }
            Err(_) if source.file.is_none() => {}
            Err(e) => return Err(e),
        }
        progress.show(i + 1);
    }
    drop(progress);
    if let Some(document) = &options.markdown {
        let mut table = format!("| mutator | {} |\n| --- |{}\n", COLUMNS.join(" | "), " ---: |".repeat(7));
        for (mutator, row) in &rows {
            table += &format!("| `{}` | {} |\n", mutator.name(), row.rates().join(" | "));
        }
        table += &format!("| all | {} |\n", Row::sum(&rows).rates().join(" | "));
        figures::update(document, "rvvgen mutate --stats", "rvvgen", &table).map_err(|e| e.to_string())?;
    }
    if options.json {
        out!("{}", json(&rows));
        return Ok(true);
    }
    let line = |name: &str, cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|c| format!("{c:>13}")).collect();
        format!("{name:10}{}\n", cells.concat())
    };
    let mut text = line("mutator", &COLUMNS.map(str::to_owned));
    for (mutator, row) in &rows {
        text += &line(mutator.name(), &row.rates());
    }
    text += &line("all", &Row::sum(&rows).rates());
    out!("{text}");
    Ok(true)
}

fn json(rows: &BTreeMap<Mutator, Row>) -> String {
    let rows: Vec<String> = rows
        .iter()
        .map(|(mutator, r)| {
            format!(
                "\"{}\":{{\"attempts\":{},\"no_place\":{},\"same\":{},\"none\":{},\"valid\":{},\"mended\":{},\
                 \"useful\":{},\"repairs\":{}}}",
                mutator.name(),
                r.attempts,
                r.no_place,
                r.same,
                r.lost,
                r.clean,
                r.mended,
                r.useful,
                r.repairs
            )
        })
        .collect();
    format!("{{{}}}\n", rows.join(","))
}
