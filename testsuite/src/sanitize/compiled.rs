//! The same of compiled programs: a compiler may leave more defined than the oracle says, and never less.
//!
//! Compilers are wrong at times. A bit that the oracle calls defined and the sanitizer does not is a false
//! report unless it can be shown to be real: with another choice for agnostic elements, for what a system
//! call leaves in vector registers, or with another `vxrm` at the start, the program prints something else
//! than it must, or does not end. Or it is of a known fault of that compiler (`known.rs`).

use super::{VLENS, known, place};
use rvv_ir::{Expected, Program};
use rvvfuzz::programs::judge::batch::build;
use rvvfuzz::programs::judge::case::Case;
use rvvfuzz::programs::testbed::Build;
use rvvfuzz::programs::testbed::compiler::{Compiler, Limits};
use rvvgen::{Generated, Plan, Settings, generate};
use rvvsim::config::{Agnostic, VlChoice};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions, VectorCalls};
use rvvsim::sanitize::{Kind, Rules, Sanitizer};
use rvvsim::{Config, Machine, Outcome};
use std::num::NonZeroU32;
use std::path::Path;

/// Programs of one translation unit.
const BATCH: u64 = 32;
/// No program of the generator executes more.
const MOST_INSNS: u64 = 1 << 32;

/// What a comparison came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Programs that were built.
    pub programs: u64,
    /// Programs that were not: the compiler lacks something, or fails on them.
    pub not_built: u64,
    /// Programs times VLENs.
    pub runs: u64,
    /// Bits that were printed.
    pub bits: u64,
    /// Those that the oracle calls undefined.
    pub to_oracle: u64,
    /// Those that the sanitizer calls undefined.
    pub undefined: u64,
    /// Programs of which the sanitizer says that they rely on the `vl` of a machine, as they do.
    pub chosen_vl: u64,
    /// Programs that are wrong as they were compiled: in words, each with what the sanitizer said of it.
    pub wrong: Vec<String>,
    /// Reports that nothing shows to be real.
    pub false_reports: Vec<String>,
}

/// What the sanitizer said of a program.
struct Said {
    outcome: Outcome,
    stdout: Vec<u8>,
    /// The undefined bits of it.
    undefined: Vec<u8>,
    /// Anything but undefined output and what follows.
    finding: Option<String>,
    /// It relies on the `vl` that this machine chooses.
    chosen_vl: bool,
}

/// Compares programs `first` to `last` of a seed, by turns compiled by each of `builds`.
///
/// A program with a false report is written to `keep`, as it is built and as it was generated.
///
/// # Errors
/// When a compiler does not work, or a file cannot be written.
pub fn compare(
    builds: &[Build],
    keep: Option<&Path>,
    seed: u64,
    first: u64,
    last: u64,
    mut seen: impl FnMut(&Tally),
) -> Result<Tally, String> {
    let settings = Settings { vlens: VLENS.to_vec(), ..Settings::default() };
    let plan = Plan::new(seed, &settings.selection, 10, settings.smallest_vlen());
    let mut tally = Tally::default();
    let mut start = first;
    while start < last {
        // Which compiler a program meets follows from its number.
        let batch = start / BATCH;
        let end = ((batch + 1) * BATCH).min(last);
        let with = &builds[(batch % builds.len() as u64) as usize];
        let programs = (start..end).map(|number| {
            generate(&plan, number, &settings).map_err(|e| format!("seed {seed}, program {number}: {e}"))
        });
        let programs: Vec<Generated> = programs.collect::<Result<_, _>>()?;
        compare_batch(with, keep, start, &programs, &mut tally).map_err(|e| format!("seed {seed}, {e}"))?;
        seen(&tally);
        start = end;
    }
    Ok(tally)
}

/// Compilers by name, each at these levels.
///
/// # Errors
/// Which one cannot be used, and why.
pub fn builds(compilers: &[String], levels: &[String]) -> Result<Vec<Build>, String> {
    let mut builds = Vec::new();
    for name in compilers {
        let compiler = Compiler::find(name).map_err(|e| format!("{name}: {e}"))?;
        builds.extend(levels.iter().map(|level| Build::new(&compiler, &[format!("-{level}")])));
    }
    Ok(builds)
}

fn compare_batch(
    with: &Build,
    keep: Option<&Path>,
    first: u64,
    programs: &[Generated],
    tally: &mut Tally,
) -> Result<(), String> {
    let case = |(number, g): (u64, &Generated)| {
        let expected = g.expected.iter().map(|e| ((e.vlen, e.vl), e.clone())).collect();
        Case::known(number, g.program.clone(), expected)
    };
    let cases: Vec<Case> = (first..).zip(programs).map(case).collect();
    let parts = build(with, &cases, &Limits::default()).map_err(|e| e.to_string())?;
    for part in parts {
        let elf = match part.elf {
            Ok(elf) => elf,
            Err(_) => {
                tally.not_built += part.cases.len() as u64;
                continue;
            }
        };
        let image = Image::parse(&elf).map_err(|e| e.to_string())?;
        let mut suspects = vec![false; part.cases.len()];
        let mut fine: Vec<Tally> = vec![Tally::default(); part.cases.len()];
        for (at, vlen) in VLENS.into_iter().enumerate() {
            let said = sanitized(&image, vlen, None)?;
            let mut from = 0;
            for (n, &i) in part.cases.iter().enumerate() {
                let (expected, stub) = (&programs[i].expected[at], part.stubs.contains(&i));
                let to = from + expected.len();
                let complete =
                    said.outcome == Outcome::Exited(0) && said.finding.is_none() && !said.chosen_vl;
                let range = from..to;
                from = to;
                if stub {
                    continue;
                }
                match said.undefined.get(range) {
                    Some(undefined) if complete && first_false(expected, undefined).is_none() => {
                        fine[n].add(expected, undefined);
                    }
                    _ => suspects[n] = true,
                }
            }
        }
        let only = part.cases.len() > 1;
        for (n, &i) in part.cases.iter().enumerate().filter(|(_, i)| !part.stubs.contains(i)) {
            tally.programs += 1;
            if !suspects[n] {
                tally.take(&fine[n]);
            } else {
                let name = format!("program {}, {}", first + i as u64, with.name());
                let before = tally.false_reports.len();
                look_alone(&image, only.then_some(n), with, &programs[i], &name, tally)?;
                if let Some(folder) = keep.filter(|_| tally.false_reports.len() > before) {
                    let file = folder.join(format!("{}", first + i as u64));
                    std::fs::write(file.with_extension("elf"), &elf)
                        .and_then(|()| {
                            std::fs::write(file.with_extension("ir"), programs[i].program.to_string())
                        })
                        .map_err(|e| format!("{}: {e}", folder.display()))?;
                }
            }
        }
    }
    Ok(())
}

impl Tally {
    /// In words.
    #[must_use]
    pub fn text(&self) -> String {
        let Tally { programs, not_built, runs, bits, to_oracle, undefined, chosen_vl, wrong, false_reports } =
            self;
        let mut text = format!(
            "{programs} programs, {runs} runs: of {bits} printed bits {to_oracle} are undefined to the oracle, \
             {undefined} of them to the sanitizer; {not_built} programs were not built, {chosen_vl} rely on the \
             vl that is chosen, {} are wrong as they were compiled, as other choices for agnostic elements or \
             the form of a known fault show; {} reports are false",
            wrong.len(),
            false_reports.len()
        );
        for wrong in wrong {
            text += &format!("\n  wrong: {wrong}");
        }
        for report in false_reports {
            text += &format!("\n  false: {report}");
        }
        text
    }

    /// Adds the runs of another.
    fn take(&mut self, other: &Tally) {
        self.runs += other.runs;
        self.bits += other.bits;
        self.undefined += other.undefined;
        self.to_oracle += other.to_oracle;
    }

    fn add(&mut self, expected: &Expected, undefined: &[u8]) {
        self.runs += 1;
        self.bits += 8 * undefined.len() as u64;
        self.undefined += undefined.iter().map(|u| u64::from(u.count_ones())).sum::<u64>();
        let defined = expected.outputs.iter().flat_map(|o| &o.defined);
        self.to_oracle += defined.map(|d| u64::from(d.count_zeros())).sum::<u64>();
    }
}

/// The first byte of which a bit is undefined to the sanitizer and defined to the oracle.
fn first_false(expected: &Expected, undefined: &[u8]) -> Option<usize> {
    let defined = expected.outputs.iter().flat_map(|o| &o.defined);
    undefined.iter().zip(defined).position(|(u, d)| u & d != 0)
}

/// A program of which something was said, or which does not end: it is the compiler's fault, or an error.
fn look_alone(
    image: &Image,
    only: Option<usize>,
    with: &Build,
    generated: &Generated,
    name: &str,
    tally: &mut Tally,
) -> Result<(), String> {
    let mut chosen_vl = false;
    for expected in &generated.expected {
        let said = sanitized(image, expected.vlen, only)?;
        if said.chosen_vl {
            chosen_vl = true;
            if !depends_on_vl(image, only, &generated.program, expected)? {
                let what = format!("{name}, VLEN {}: it does not depend on vl", expected.vlen);
                tally.false_reports.push(what);
            }
        }
        let wrong = if let Some(finding) = &said.finding {
            finding.clone()
        } else if said.outcome != Outcome::Exited(0) || said.stdout.len() != expected.len() {
            format!("{:?}", said.outcome)
        } else if let Some(byte) = first_false(expected, &said.undefined) {
            format!("{} is undefined", place(generated, byte))
        } else {
            tally.add(expected, &said.undefined);
            continue;
        };
        let wrong = format!("VLEN {}: {wrong}", expected.vlen);
        if is_wrong(image, only, &generated.program, expected)? {
            tally.wrong.push(format!("{name}, {wrong}"));
        } else if let Some(fault) = known::fault_of(with, &generated.program, expected.vlen)? {
            tally.wrong.push(format!("{name}, {fault}, {wrong}"));
        } else {
            tally.false_reports.push(format!("{name}, {wrong}"));
        }
        // At the other VLENs it is not to be trusted either.
        break;
    }
    tally.chosen_vl += u64::from(chosen_vl);
    Ok(())
}

/// Whether a program prints something else where another `vl` is chosen.
fn depends_on_vl(
    image: &Image,
    only: Option<usize>,
    program: &Program,
    expected: &Expected,
) -> Result<bool, String> {
    for vl in [VlChoice::Half, VlChoice::Random(1), VlChoice::Random(2)] {
        let config = Config { vl, vl_multiple: NonZeroU32::new(1), ..config(expected.vlen) };
        let mut machine = Machine::user(config, image, options(only)).map_err(|e| e.to_string())?;
        let outcome = machine.run(None);
        if outcome != Outcome::Exited(0) || expected.judge(program, machine.stdout()).is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether something is said of a program, alone in its image, that the oracle does not say.
pub(super) fn says_what_is_not_so(image: &Image, expected: &Expected) -> Result<bool, String> {
    let said = sanitized(image, expected.vlen, None)?;
    Ok(said.finding.is_some()
        || said.outcome != Outcome::Exited(0)
        || said.undefined.len() != expected.len()
        || first_false(expected, &said.undefined).is_some())
}

/// Whether the program does something else than it must, under one of the choices that an implementation has.
fn is_wrong(
    image: &Image,
    only: Option<usize>,
    program: &Program,
    expected: &Expected,
) -> Result<bool, String> {
    let random = (0..6).map(Agnostic::Random);
    for agnostic in
        [Agnostic::Undisturbed, Agnostic::Ones, Agnostic::OnesToRegister].into_iter().chain(random)
    {
        // A program that uses the rounding mode that it finds depends on it.
        for (calls, vxrm) in [VectorCalls::Keep, VectorCalls::Ones].into_iter().zip([0, 2]) {
            let config = Config { tail: agnostic, mask: agnostic, ..config(expected.vlen) };
            let options = ProcessOptions { vector_calls: calls, ..options(only) };
            let mut machine = Machine::user(config, image, options).map_err(|e| e.to_string())?;
            machine.hart_mut().vector_mut().vxrm = vxrm;
            let outcome = machine.run(None);
            if outcome != Outcome::Exited(0) || expected.judge(program, machine.stdout()).is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn config(vlen: u32) -> Config {
    Config { vlen, max_insns: Some(MOST_INSNS), ..Config::default() }
}

/// All programs of the image, or the one of a number alone.
fn options(only: Option<usize>) -> ProcessOptions {
    let mut args = vec![b"program".to_vec()];
    args.extend(only.map(|n| n.to_string().into_bytes()));
    ProcessOptions { args, stdout: Output::Capture, ..ProcessOptions::default() }
}

fn sanitized(image: &Image, vlen: u32, only: Option<usize>) -> Result<Said, String> {
    let mut machine = Machine::user(config(vlen), image, options(only)).map_err(|e| e.to_string())?;
    let mut sanitizer = Sanitizer::new(&mut machine, image, Rules::Machine);
    sanitizer.keep_output();
    let outcome = machine.run_sanitized(None, &mut sanitizer);
    let others = [Kind::Output, Kind::ChosenLength];
    let finding = sanitizer.findings().iter().find(|f| !others.contains(&f.kind));
    Ok(Said {
        outcome: outcome.ok_or("it ended before its end")?,
        stdout: machine.stdout().to_vec(),
        undefined: sanitizer.output().to_vec(),
        finding: finding.map(|f| format!("{f:x?}")),
        chosen_vl: sanitizer.findings().iter().any(|f| f.kind == Kind::ChosenLength),
    })
}
