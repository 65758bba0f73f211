//! What a campaign does with a verdict: reduce it, name it, find the pass, write the report.

use super::bisect;
use super::queue::{Bisection, Reduce};
use super::target::{Target, site_of};
use super::triage::Signature;
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::Kind;
use crate::programs::judge::vote::{Culprit, Verdict};
use crate::programs::report::bug::{Bug, short_c, versions};
use crate::programs::store::Reduction;
use crate::programs::testbed::Testbeds;
use crate::programs::testbed::compiler::{Compiler, Limits};
use rvv_ir::c::{COptions, emit};
use rvv_ir::{BufferKind, Program};
use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// The program with one buffer that is printed; the others are written all the same.
fn printing_only(program: &Program, buffer: usize) -> Program {
    let mut program = program.clone();
    for (number, other) in program.buffers.iter_mut().enumerate() {
        if number != buffer && other.kind == BufferKind::Out {
            other.kind = BufferKind::Data;
        }
    }
    program
}

/// Reduces verdicts; of each bug only the first hit gets the whole treatment.
pub struct Reducer {
    limits: Limits,
    /// Time for one reduction.
    time: Duration,
    /// Compilers of the campaign.
    compilers: Vec<Compiler>,
    /// And those that are installed besides: reports compare their versions. Looked for when the first report
    /// is written.
    installed: OnceLock<Vec<Compiler>>,
    /// The levels they are compared at.
    levels: Vec<Vec<String>>,
    known: Mutex<HashMap<Signature, Reduction>>,
    /// Whether it finds the pass at fault at once; else whoever has time does.
    bisects: bool,
    /// What was made of a program, by its origin: the same in another order of statements has the same fault.
    programs: Mutex<HashMap<Origin, Reduction>>,
}

/// Whose fault, what is seen, where (the place of a crash, the wrong buffer), in which program, whatever the
/// order of its statements, and in which builds.
type Origin = (Culprit, Kind, Option<String>, Vec<String>, BTreeSet<usize>);

fn origin(program: &Program, verdict: &Verdict, testbeds: &Testbeds) -> Origin {
    let place = site_of(verdict).or_else(|| verdict.buffer.map(|b| format!("buffer {b}")));
    let builds = verdict.testbeds.iter().map(|&t| testbeds.id(t).build).collect();
    (verdict.culprit.clone(), verdict.symptom, place, program.comment.clone(), builds)
}

impl Reducer {
    /// A reducer of what these testbeds find.
    pub fn new(limits: Limits, time: Duration, testbeds: &Testbeds) -> Reducer {
        let levels = ["-O0", "-O1", "-O2", "-O3"].map(|l| vec![l.to_string()]).to_vec();
        let mut compilers: Vec<Compiler> = testbeds.builds.iter().map(|b| b.compiler.clone()).collect();
        compilers.dedup();
        let (installed, known, programs) = (OnceLock::new(), Mutex::default(), Mutex::default());
        Reducer { limits, time, compilers, installed, levels, known, bisects: true, programs }
    }

    /// One that leaves it to others to find the pass at fault.
    #[must_use]
    pub fn without_passes(self) -> Reducer {
        Reducer { bisects: false, ..self }
    }

    /// The compilers of the campaign, and all versions of the culprit's family that are installed.
    fn versions_of(&self, culprit: &Compiler) -> Vec<Compiler> {
        let mut all = self.compilers.clone();
        let installed = self.installed.get_or_init(|| Compiler::find_all().0);
        let same = |c: &Compiler, o: &Compiler| c.family == o.family && c.version == o.version;
        for one in installed.iter().filter(|c| c.family == culprit.family) {
            if !all.iter().any(|c| same(c, one)) {
                all.push(one.clone());
            }
        }
        all.sort_by_key(|c| (c.family != culprit.family, c.version_numbers()));
        all
    }

    fn known(&self, signature: &Signature) -> Option<Reduction> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).get(signature).cloned()
    }
}

impl Reduce for Reducer {
    fn reduce(
        &self,
        case: &Case,
        verdict: &Verdict,
        testbeds: &Testbeds,
        stop: &AtomicBool,
        end: Option<Instant>,
    ) -> Option<Reduction> {
        let origin = origin(&case.program, verdict, testbeds);
        let programs = || self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = programs().get(&origin).filter(|_| !origin.3.is_empty()) {
            return Some(Reduction { report: None, bisect: false, ..known.clone() });
        }
        let reduction = self.reduce_new(case, verdict, testbeds, stop, end)?;
        if !stop.load(Ordering::Relaxed) {
            programs().insert(origin, reduction.clone());
        }
        Some(reduction)
    }

    fn bisect(
        &self,
        reduced: &Program,
        verdict: &Verdict,
        testbeds: &Testbeds,
        stop: &AtomicBool,
        end: Option<Instant>,
    ) -> Bisection {
        if stop.load(Ordering::Relaxed) {
            return Bisection::Late;
        }
        let limits = Limits { until: end, ..self.limits };
        let Some(target) = Target::of_verdict(testbeds, verdict, &limits) else { return Bisection::Gone };
        let target = target.without_chance(reduced).with_few_flags(reduced);
        let shows = target.shows(std::slice::from_ref(reduced)) == [true];
        let report = shows.then(|| {
            let signature = Signature::new(&verdict.culprit, &target, reduced);
            self.report(&signature, &target, reduced, short_c(&target, reduced), true)
        });
        match report {
            // Half of the table would look like all of it.
            _ if limits.is_over() => Bisection::Late,
            Some(report) => Bisection::Report(report),
            None => Bisection::Gone,
        }
    }
}

impl Reducer {
    fn reduce_new(
        &self,
        case: &Case,
        verdict: &Verdict,
        testbeds: &Testbeds,
        stop: &AtomicBool,
        end: Option<Instant>,
    ) -> Option<Reduction> {
        // A crash says at once where it is: the hundredth is not reduced again.
        if let Some(known) = Signature::early(verdict).and_then(|s| self.known(&s)) {
            return Some(Reduction { report: None, bisect: false, ..known });
        }
        let limits = Limits { until: end, ..self.limits };
        let target = Target::of_verdict(testbeds, verdict, &limits)?;
        let target = target.without_chance(&case.program).with_few_flags(&case.program);
        // A compiler that does not end costs its whole time limit at each step.
        let time = if verdict.symptom == Kind::BuildTimeout { Duration::ZERO } else { self.time };
        let stop_now = || stop.load(Ordering::Relaxed);
        // If only the wrong buffer is printed, it cannot turn into another fault of the program.
        let alone = verdict.buffer.map(|b| printing_only(&case.program, b));
        let reduced = alone
            .and_then(|p| target.reduce(&p, time, &stop_now))
            .or_else(|| target.reduce(&case.program, time, &stop_now))?;
        if limits.is_over() {
            // Half reduced, it would look like another fault than it is.
            return None;
        }
        let signature = Signature::new(&verdict.culprit, &target, &reduced.program);
        let program = &reduced.program;
        let short = short_c(&target, program);
        let c = short.clone().unwrap_or_else(|| {
            emit(&[program], &COptions { language: target.build.language(), ..COptions::default() })
        });
        let name = signature.to_string();
        let reduction = Reduction {
            signature: Some(name),
            ir: Some(program.to_string()),
            c: Some(c),
            ..Reduction::default()
        };
        if self.known(&signature).is_some() || stop.load(Ordering::Relaxed) {
            return Some(reduction);
        }
        let is_compiler = matches!(verdict.culprit, Culprit::Compiler(_));
        let bisect = is_compiler && !self.bisects;
        let report = self.report(&signature, &target, program, short, is_compiler && self.bisects);
        let reduction = Reduction { report: Some(report), bisect, ..reduction };
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(signature, reduction.clone());
        Some(reduction)
    }

    /// The report, with the pass at fault and the versions that have it, if they are asked for.
    fn report(
        &self,
        signature: &Signature,
        target: &Target,
        program: &Program,
        short: Option<String>,
        bisects: bool,
    ) -> String {
        let (mut guilty, mut table) = (None, Vec::new());
        if bisects {
            guilty = bisect::guilty(target, program, self.time);
            table = versions(target, program, &self.versions_of(&target.build.compiler), &self.levels);
        }
        Bug { signature, target, program, short, guilty, versions: table }.markdown()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::settings::Settings as CampaignSettings;
    use rvv_oracle::{Options, evaluate};
    use rvvgen::{Plan, Selection, Settings, generate};

    #[test]
    fn two_wrong_buffers_of_one_program_are_reduced_each_for_itself() {
        let program =
            Program { comment: vec!["rvvgen, seed 1, program 1".to_string()], ..Program::default() };
        let run = CampaignSettings::default().testbeds().unwrap().runs.remove(0);
        let on = Testbeds { builds: Vec::new(), runs: vec![run; 10] };
        let of = |symptom, buffer, detail: &str, testbeds: &[usize]| {
            let culprit = Culprit::Compiler("gcc".to_string());
            let testbeds = testbeds.to_vec();
            let verdict = Verdict { testbeds, buffer, ..Verdict::new(culprit, symptom, detail.to_string()) };
            origin(&program, &verdict, &on)
        };
        let wrong = |buffer, testbeds| of(Kind::WrongOutput, Some(buffer), "", testbeds);
        let first = wrong(3, &[12, 11]);
        assert_eq!(first, wrong(3, &[13]));
        assert_ne!(first, wrong(4, &[12, 11]));
        assert_ne!(first, wrong(3, &[12, 21]));
        let crash =
            |at: &str| of(Kind::BuildCrash, None, &format!("internal compiler error: in f, at {at}"), &[1]);
        assert_ne!(crash("x.cc:1"), crash("y.cc:2"));
    }

    #[test]
    fn what_is_not_printed_is_written_all_the_same() {
        let plan = Plan::new(7, &Selection::default(), 10, 128);
        let program = generate(&plan, 0, &Settings::default()).unwrap().program;
        let whole = evaluate(&program, &Options::new(128)).unwrap();
        for (n, (buffer, _)) in program.outputs().enumerate() {
            let one = printing_only(&program, buffer);
            assert_eq!(one.calls(), program.calls());
            let printed = evaluate(&one, &Options::new(128)).unwrap();
            assert_eq!(printed.outputs, [whole.outputs[n].clone()]);
        }
    }
}
