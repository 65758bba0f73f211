//! The search for the smallest program: whole candidates of which the first is taken, and changes of which as
//! many as possible are made.

use super::edit::{Edit, apply};
use super::simplify::Step;
use rvv_ir::Program;
use rvv_ir::tidy::{tidy, without_dead};
use std::time::{Duration, Instant};

/// A reduced program.
#[derive(Clone, Debug)]
pub struct Reduced {
    /// The program.
    pub program: Program,
    /// Candidates tried.
    pub tried: usize,
    /// Whether it was cut short by time.
    pub complete: bool,
}

/// The smallest program found in this time, or before `stop` says so, of which `shows` holds; it is asked
/// about up to `together` at once. `None` if it does not hold of the program itself.
pub fn reduce_by(
    program: &Program,
    steps: &[Step],
    together: usize,
    time: Duration,
    shows: &mut dyn FnMut(&[Program]) -> Vec<bool>,
    stop: &dyn Fn() -> bool,
) -> Option<Reduced> {
    let end = Instant::now() + time;
    let best = tidy(program.clone())?;
    if shows(std::slice::from_ref(&best)) != [true] {
        return None;
    }
    let enough = &|| Instant::now() > end || stop();
    let mut search = Search { best, shows, together, tried: 0, enough };
    let complete = search.all(steps).is_some();
    Some(Reduced { program: renamed(search.best), tried: search.tried, complete })
}

/// A compiler takes about as long to start as for so many calls.
const CALLS_AT_ONCE: usize = 400;

/// A reduction at work. What returns an `Option` has been cut short if it is `None`; the best is kept.
struct Search<'s> {
    best: Program,
    shows: &'s mut dyn FnMut(&[Program]) -> Vec<bool>,
    together: usize,
    tried: usize,
    enough: &'s dyn Fn() -> bool,
}

impl Search<'_> {
    /// All steps, as long as they help.
    fn all(&mut self, steps: &[Step]) -> Option<()> {
        loop {
            let before = self.best.clone();
            for step in steps {
                while match step {
                    Step::Choose(step) => self.choose(step(&self.best))?,
                    Step::Change(step) => self.change(&step(&self.best))?,
                } {}
            }
            if self.best == before {
                return Some(());
            }
        }
    }

    /// Which of the candidates show the fault; all are asked about at once.
    fn ask(&mut self, candidates: &[Program]) -> Option<Vec<bool>> {
        if (self.enough)() {
            return None;
        }
        self.tried += candidates.len();
        Some((self.shows)(candidates))
    }

    /// Takes the first candidate that shows the fault. Whether there is one.
    fn choose(&mut self, mut candidates: Vec<Program>) -> Option<bool> {
        candidates.dedup();
        let mut rest = &candidates[..];
        while !rest.is_empty() {
            let (some, others) = rest.split_at(self.some_of(rest.iter().map(|p| p.work())));
            if let Some(first) = self.ask(some)?.iter().position(|s| *s) {
                self.best = some[first].clone();
                return Some(true);
            }
            rest = others;
        }
        Some(false)
    }

    /// Makes as many of the changes as possible: all, halves, quarters and so on to each alone, those that do
    /// together if they can be. Whether there was one.
    fn change(&mut self, edits: &[Edit]) -> Option<bool> {
        let base = self.best.clone();
        // Where nothing is dead, what dies goes too; where something is, it may be what matters.
        let clean = without_dead(&base).as_ref() == Some(&base);
        let with = |made: &[&Edit]| -> Vec<Program> {
            let Some(whole) = apply(&base, made) else { return Vec::new() };
            let dead = without_dead(&whole).filter(|p| *p != whole);
            let mut both: Vec<Program> = dead.into_iter().collect();
            if both.is_empty() || !clean {
                both.push(whole);
            }
            both.retain(|p| *p != base && p.work() > 0);
            both
        };
        let mut made: Vec<&Edit> = Vec::new();
        let mut left: Vec<&Edit> = edits.iter().collect();
        let mut size = left.len();
        while size > 0 {
            let mut failed: Vec<&Edit> = Vec::new();
            let mut rest = &left[..];
            while !rest.is_empty() {
                // One question: this change more, or that one, …
                let mut candidates: Vec<(usize, Program)> = Vec::new();
                let mut chunks: Vec<&[&Edit]> = Vec::new();
                let mut calls = 0;
                while !rest.is_empty() && calls < CALLS_AT_ONCE && candidates.len() < self.together {
                    let (chunk, others) = rest.split_at(size.min(rest.len()));
                    rest = others;
                    for program in with(&[&made[..], chunk].concat()) {
                        if program != self.best {
                            calls += program.work();
                            candidates.push((chunks.len(), program));
                        }
                    }
                    chunks.push(chunk);
                }
                let programs: Vec<Program> = candidates.iter().map(|(_, p)| p.clone()).collect();
                let shows = self.ask(&programs)?;
                let mut good: Vec<usize> = Vec::new();
                for ((chunk, program), _) in candidates.into_iter().zip(shows).filter(|(_, s)| *s) {
                    if good.is_empty() {
                        self.best = program;
                    }
                    if !good.contains(&chunk) {
                        good.push(chunk);
                    }
                }
                let together = self.together(&with, &made, &chunks, &good)?;
                for (i, chunk) in chunks.iter().enumerate() {
                    if good[..together].contains(&i) { &mut made } else { &mut failed }.extend(*chunk);
                }
            }
            left = failed;
            size = if size == 1 { 0 } else { size.div_ceil(2).min(left.len()) };
        }
        Some(self.best != base)
    }

    /// How many of the chunks that are good alone are good together, the first ones; at least one, which is
    /// the best already.
    fn together<'e>(
        &mut self,
        with: &dyn Fn(&[&'e Edit]) -> Vec<Program>,
        made: &[&'e Edit],
        chunks: &[&[&'e Edit]],
        good: &[usize],
    ) -> Option<usize> {
        // The more, the smaller: the first that is good is taken.
        let mut counts: Vec<usize> = (2..=good.len()).rev().collect();
        // Not all are asked about: one less each time near all of them, then by halves.
        counts.retain(|n| good.len() - n < 3 || (good.len() / n).is_power_of_two());
        let mut candidates: Vec<(usize, Program)> = Vec::new();
        for n in counts {
            let edits: Vec<&Edit> = good[..n].iter().flat_map(|&g| chunks[g].iter().copied()).collect();
            candidates.extend(with(&[made, &edits[..]].concat()).into_iter().map(|p| (n, p)));
        }
        let mut rest = &candidates[..];
        while !rest.is_empty() {
            let (some, others) = rest.split_at(self.some_of(rest.iter().map(|(_, p)| p.work())));
            rest = others;
            let programs: Vec<Program> = some.iter().map(|(_, p)| p.clone()).collect();
            if let Some(first) = self.ask(&programs)?.iter().position(|s| *s) {
                self.best = programs[first].clone();
                return Some(some[first].0);
            }
        }
        Some(good.len().min(1))
    }

    /// How many of the candidates, of so many calls each, are asked about at once.
    fn some_of(&self, calls: impl Iterator<Item = usize>) -> usize {
        let mut sum = 0;
        let before = |calls: &usize| {
            let fits = sum < CALLS_AT_ONCE;
            sum += calls;
            fits
        };
        calls.take_while(before).count().min(self.together)
    }
}

/// Names a person would give: in order, without gaps.
fn renamed(mut program: Program) -> Program {
    let (mut ins, mut outs) = (0, 0);
    for buffer in &mut program.buffers {
        let (prefix, n) = match buffer.kind {
            rvv_ir::BufferKind::Out => ("out", &mut outs),
            _ => ("in", &mut ins),
        };
        buffer.name = format!("{prefix}{n}");
        *n += 1;
    }
    let params: Vec<rvv_ir::Var> = program.params.iter().map(|p| p.0).collect();
    for (i, var) in program.main.vars.iter_mut().enumerate() {
        let prefix = match var.ty {
            _ if params.contains(&rvv_ir::Var(i as u32)) => "p",
            rvv_intrinsics::Type::Vector(v) if v.nf > 1 => "t",
            rvv_intrinsics::Type::Vector(_) => "v",
            rvv_intrinsics::Type::Mask(_) => "m",
            _ => "s",
        };
        var.name = format!("{prefix}{i}");
    }
    program
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::reduce::simplify::{STEPS, focus};
    use rvv_oracle::{Options, evaluate};
    use rvvgen::{Plan, Selection, Settings, Weights, generate};

    /// A fault that shows wherever a family is called and the program has a meaning.
    fn reduced(seed: u64, family: &str) -> Option<Reduced> {
        let selection = Selection { names: vec![format!("{family}_*")], ..Selection::default() };
        let plan = Plan::new(seed, &selection, 5, 128);
        let weights = Weights::policy("control").unwrap_or_default();
        let settings = Settings { selection: Selection::default(), weights, ..Settings::default() };
        let generated = generate(&plan, seed, &settings).ok()?;
        let mut shows = |candidates: &[Program]| {
            let calls = |p: &Program| p.calls().iter().any(|c| c.intrinsic.family == family);
            candidates.iter().map(|p| calls(p) && evaluate(p, &Options::new(128)).is_ok()).collect()
        };
        reduce_by(&generated.program, STEPS, 24, Duration::from_secs(600), &mut shows, &|| false)
    }

    #[test]
    fn what_does_not_matter_goes_and_what_is_left_has_a_meaning() {
        // The call, its operands' loads, the store of its result, and nothing else.
        for (seed, family, most) in [
            (1, "vmacc_vv", 5),
            (2, "vredsum_vs", 4),
            (3, "vrgather_vv", 4),
            (4, "vlseg3e32_v", 3),
            (5, "vmseq_vx", 3),
        ] {
            let Some(reduced) = reduced(seed, family) else { panic!("{family}: no program shows it") };
            assert!(reduced.complete);
            assert!(evaluate(&reduced.program, &Options::new(128)).is_ok());
            let left = reduced.program.calls().len();
            assert!(left <= most, "{family}: {left} calls\n{}", reduced.program);
            assert!(reduced.program.functions.is_empty(), "{}", reduced.program);
            let again: Program = reduced.program.to_string().parse().unwrap();
            assert_eq!(again, reduced.program);
        }
    }

    #[test]
    fn one_statement_and_what_it_needs_has_a_meaning() {
        let plan = Plan::new(3, &Selection::default(), 10, 128);
        let program = generate(&plan, 0, &Settings::default()).unwrap().program;
        let found = focus(&program);
        assert!(found.len() > 10, "{}", found.len());
        for one in &found {
            assert!(one.calls().len() < program.calls().len());
            assert!(evaluate(one, &Options::new(128)).is_ok(), "{one}");
        }
    }

    #[test]
    fn a_program_that_does_not_show_it_is_not_reduced() {
        let plan = Plan::new(1, &Selection::default(), 3, 128);
        let program = generate(&plan, 0, &Settings::default()).unwrap().program;
        let never = &mut |c: &[Program]| vec![false; c.len()];
        assert!(reduce_by(&program, STEPS, 8, Duration::from_secs(9), never, &|| false).is_none());
    }
}
