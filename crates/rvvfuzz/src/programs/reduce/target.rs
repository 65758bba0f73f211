//! Reduction: the smallest program that still shows a fault. The truth is recomputed at each step, so it
//! cannot drift into undefined behaviour: a candidate without meaning is no candidate.

use super::search::{Reduced, reduce_by};
use super::simplify::{STEPS, Step, focus};
use crate::programs::judge::batch;
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::{Kind, Outcome};
use crate::programs::judge::vote::{Culprit, Verdict};
use crate::programs::testbed::blame::accused;
use crate::programs::testbed::compiler::{Built, Compiler, Family, Limits, crash_site, nonsense};
use crate::programs::testbed::emulator::{Agnosticism, Emulator};
use crate::programs::testbed::{Build, Run, Testbeds};
use rvv_ir::Program;
use rvv_ir::c::{COptions, emit};
use rvv_isa::{Class, Op};
use std::time::Duration;

/// What must still be seen, and where.
#[derive(Clone, Debug)]
pub struct Target {
    /// The build that shows it.
    pub build: Build,
    /// The run that shows it.
    pub run: Run,
    /// An emulator that does not show it, where an emulator is the culprit.
    pub against: Option<Run>,
    /// The symptom.
    pub symptom: Kind,
    /// Of a crash of the compiler, its place; of a trap, the rule.
    pub site: Option<String>,
    /// What a build may use.
    pub limits: Limits,
}

/// How simple a testbed is to explain: the lower the better.
fn rank(testbeds: &Testbeds, number: usize) -> (usize, usize, bool, bool, u32) {
    let (build, run) = (testbeds.build_of(number), testbeds.run_of(number));
    let plain = run.setup.agnostic == Agnosticism::Undisturbed;
    let level = build
        .flags
        .iter()
        .find_map(|f| f.strip_prefix("-O"))
        .map_or(0, |l| l.bytes().next().map_or(0, usize::from));
    (build.extra().count(), level, !plain, run.setup.vl != rvv_oracle::VlChoice::Max, run.setup.vlen)
}

impl Target {
    /// The simplest testbed that shows the fault.
    pub fn of_verdict(testbeds: &Testbeds, verdict: &Verdict, limits: &Limits) -> Option<Target> {
        let number = *verdict.testbeds.iter().min_by_key(|&&t| rank(testbeds, t))?;
        let run = testbeds.run_of(number).clone();
        let against = match verdict.culprit {
            Culprit::Emulator(_) => {
                testbeds.runs.iter().find(|o| o.setup == run.setup && o.emulator != run.emulator).cloned()
            }
            _ => None,
        };
        let site = site_of(verdict);
        Some(Target {
            build: testbeds.build_of(number).clone(),
            run,
            against,
            symptom: verdict.symptom,
            site,
            limits: *limits,
        })
    }

    /// The same where agnostic elements do not depend on chance, if the fault shows there, too. Coins fall
    /// otherwise when a program runs by itself instead of after others, and after each change of it.
    #[must_use]
    pub fn without_chance(self, program: &Program) -> Target {
        self.steady(|target| target.shows(std::slice::from_ref(program)) == [true])
    }

    fn steady(self, shows: impl Fn(&Target) -> bool) -> Target {
        if !matches!(self.run.setup.agnostic, Agnosticism::Random(_)) {
            return self;
        }
        let with = |agnostic| {
            let mut target = self.clone();
            target.run.setup.agnostic = agnostic;
            target
        };
        let fixed = [Agnosticism::Ones, Agnosticism::Undisturbed].map(with);
        fixed.into_iter().find(shows).unwrap_or(self)
    }

    /// The same with no more flags than it takes to show the fault.
    #[must_use]
    pub fn with_few_flags(mut self, program: &Program) -> Target {
        for flag in self.build.extra().cloned().collect::<Vec<_>>() {
            let mut fewer = self.clone();
            fewer.build.flags.retain(|f| *f != flag);
            if fewer.build.runs_at(self.run.setup.vlen)
                && fewer.shows(std::slice::from_ref(program)) == [true]
            {
                self = fewer;
            }
        }
        self
    }

    /// Which of the candidates show the fault.
    pub fn shows(&self, candidates: &[Program]) -> Vec<bool> {
        let place = (self.run.setup.vlen, self.run.setup.vl);
        let cases: Vec<Option<Case>> = candidates
            .iter()
            .map(|p| Case::new(0, p.clone(), &[place]).ok().filter(|c| self.is_sound(c)))
            .collect();
        let mut shows = vec![false; candidates.len()];
        if self.symptom == Kind::BuildCrash
            && let Some(first) = self.first_crash(&cases)
        {
            if let Some(at) = first {
                shows[at] = true;
            }
            return shows;
        }
        let (places, cases): (Vec<usize>, Vec<Case>) =
            cases.into_iter().enumerate().filter_map(|(i, c)| Some((i, c?))).unzip();
        for (at, outcome) in places.into_iter().zip(self.outcomes(&cases)) {
            shows[at] = outcome.is_some_and(|o| self.is_it(&o));
        }
        shows
    }

    /// One of several cases that crashes the compiler, found by building them together: it says in which
    /// function it was. `None` if that does not tell.
    fn first_crash(&self, cases: &[Option<Case>]) -> Option<Option<usize>> {
        let (places, cases): (Vec<usize>, Vec<&Case>) =
            cases.iter().enumerate().filter_map(|(i, c)| Some((i, c.as_ref()?))).unzip();
        if cases.len() < 2 {
            return None;
        }
        let programs: Vec<&Program> = cases.iter().map(|c| &c.program).collect();
        let compiler = &self.build.compiler;
        let text = emit(&programs, &COptions { language: self.build.language(), ..COptions::default() });
        let march = compiler.march(&programs);
        let flags = compiler.flags_for(&programs, &self.build.flags);
        match compiler.build_saying(&text, &march, &flags, &self.limits) {
            (Built::Elf(_), _) => Some(None),
            (Built::Crashed(_), said) => {
                let n = *accused(&said, &text, cases.len()).first()?;
                let alone = self.outcomes(&[cases[n].clone()]).pop().flatten()?;
                self.is_it(&alone).then_some(Some(places[n]))
            }
            _ => None,
        }
    }

    /// The direct lowering on `rvvsim` must print what the oracle says, or the fault would be ours.
    fn is_sound(&self, case: &Case) -> bool {
        let direct = Build::new(&Compiler::direct(), &[]);
        let on = Run { emulator: Emulator::Rvvsim, setup: self.run.setup };
        if self.build.compiler.family == Family::Direct && self.run.emulator == Emulator::Rvvsim {
            return true;
        }
        outcomes(&direct, &on, std::slice::from_ref(case), &self.limits) == [Some(Outcome::Pass)]
    }

    fn outcomes(&self, cases: &[Case]) -> Vec<Option<Outcome>> {
        let found = outcomes(&self.build, &self.run, cases, &self.limits);
        match &self.against {
            None => found,
            Some(other) => {
                let others = outcomes(&self.build, other, cases, &self.limits);
                found.into_iter().zip(others).map(|(o, p)| o.filter(|_| p == Some(Outcome::Pass))).collect()
            }
        }
    }

    /// Whether this is the fault.
    pub fn is_it(&self, outcome: &Outcome) -> bool {
        outcome.kind() == self.symptom && site(outcome) == self.site
    }

    /// The smallest program found in this time, or before `stop` says so.
    pub fn reduce(&self, program: &Program, time: Duration, stop: &dyn Fn() -> bool) -> Option<Reduced> {
        let crash = self.symptom == Kind::BuildCrash;
        // A refusal or an endless run takes the whole translation unit with it: those are tried one by one.
        let together = if self.symptom.is_build() && !crash { 1 } else { 48 };
        let focus: &[Step] = if crash { &[Step::Choose(focus)] } else { &[] };
        let steps = [focus, STEPS].concat();
        reduce_by(program, &steps, together, time, &mut |candidates| self.shows(candidates), stop)
    }
}

/// Outcomes of cases on one testbed; `None` if it does not work.
pub fn outcomes(build: &Build, run: &Run, cases: &[Case], limits: &Limits) -> Vec<Option<Outcome>> {
    let testbeds = Testbeds { builds: vec![build.clone()], runs: vec![run.clone()] };
    let (table, _) = batch::run_all(&testbeds, cases, limits);
    table.into_iter().map(|mut row| row.pop().flatten()).collect()
}

/// As [`site`], of what a verdict is about.
pub fn site_of(verdict: &Verdict) -> Option<String> {
    let detail = verdict.detail.clone();
    match verdict.symptom {
        Kind::BuildCrash => site(&Outcome::BuildCrash(detail)),
        Kind::BuildFailure => site(&Outcome::BuildFailure(detail)),
        Kind::RuntimeCrash => site(&Outcome::RuntimeCrash(detail)),
        _ => None,
    }
}

/// What tells one crash from another.
pub fn site(outcome: &Outcome) -> Option<String> {
    match outcome {
        Outcome::BuildFailure(said) => nonsense(said).map(|what| format!("it writes {what}")),
        Outcome::BuildCrash(said) => Some(crash_site(said)),
        Outcome::RuntimeCrash(what) => {
            let rule = rule_in(what).map(|rule| match class_in(what) {
                // Different faults break one rule: a reduction must not get from one to another.
                Some(class) => format!("{rule} by {class:?}"),
                None => rule.to_string(),
            });
            Some(rule.unwrap_or_else(|| what.split([':', ',']).next().unwrap_or("").to_string()))
        }
        _ => None,
    }
}

/// The rule of the manual in a message of a trap.
pub fn rule_in(detail: &str) -> Option<&str> {
    let rule = detail.split_whitespace().find(|w| w.starts_with("norm:"))?;
    Some(rule.trim_end_matches(':'))
}

/// The instruction in a message of a trap: "signal 4: IllegalInstruction, `vsm4r.vs v8,v8`: norm:…".
pub fn instruction_in(detail: &str) -> Option<&str> {
    detail.split_once('`')?.1.split('`').next()
}

/// The kind of that instruction.
fn class_in(detail: &str) -> Option<Class> {
    let mnemonic = instruction_in(detail)?.split([' ', '\t']).next()?;
    Some(Op::from_name(mnemonic)?.info().class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trap_is_told_from_another_by_its_rule_and_the_kind_of_instruction() {
        let site = |instruction: &str| {
            let what = format!("signal 4: IllegalInstruction, `{instruction}`: norm:a_rsv: two EEWs");
            site(&Outcome::RuntimeCrash(what)).unwrap()
        };
        assert_eq!(site("vslide1up.vx v12,v0,s1,v0.t"), "norm:a_rsv by VectorPermute");
        assert_ne!(site("vfwredusum.vs v10,v8,v9"), site("vsuxei8.v v8,(a0),v9"));
        assert_eq!(site("nothing at all"), "norm:a_rsv");
    }
    use crate::programs::settings::Settings;

    #[test]
    fn chance_is_left_out_where_the_fault_shows_without_it() {
        let testbeds = Settings::default().testbeds().unwrap();
        let of = |agnostic| {
            let mut run = testbeds.runs[0].clone();
            run.setup.agnostic = agnostic;
            let build = Build::new(&Compiler::direct(), &[]);
            let limits = Settings::default().limits();
            Target { build, run, against: None, symptom: Kind::WrongOutput, site: None, limits }
        };
        let shown = |from, at: Option<Agnosticism>| {
            of(from).steady(|t| Some(t.run.setup.agnostic) == at).run.setup.agnostic
        };
        let random = Agnosticism::Random(7);
        assert_eq!(shown(random, Some(Agnosticism::Ones)), Agnosticism::Ones);
        assert_eq!(shown(random, Some(Agnosticism::Undisturbed)), Agnosticism::Undisturbed);
        assert_eq!(shown(random, None), random);
        assert_eq!(shown(Agnosticism::Undisturbed, Some(Agnosticism::Ones)), Agnosticism::Undisturbed);
    }
}
