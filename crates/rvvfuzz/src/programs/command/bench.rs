//! `rvvfuzz bench`.

use super::{Done, exit};
use crate::programs::campaign::Campaign;
use crate::programs::cpu;
use crate::programs::judge::batch;
use crate::programs::judge::case::Case;
use crate::programs::judge::case::operations;
use crate::programs::judge::probe::{Named, try_testbeds};
use crate::programs::sampling;
use crate::programs::settings::{CompilerSettings, EmulatorSettings, Settings};
use crate::programs::testbed::compiler::{Compiler, Family};
use crate::programs::testbed::{Build, Run};
use clap::Args;
use rvv_cli::outln;
use std::process::ExitCode;

/// Measure throughput per CPU-second: batches on rvvsim in process, compared with one compilation and one
/// QEMU process each.
///
/// What counts most is how many distinct pairs of a program and a build are judged. A check is one operation
/// on one testbed, judged: it grows with configurations, too. Both methods generate the same programs,
/// compute the expected output, compile with the same compilers at the same levels without libc, run and
/// judge. Batches run as in a campaign, in every configuration of rvvsim; single programs run on QEMU, in one
/// configuration, and in each that QEMU has of those. The last line is for whole batches as a campaign does
/// them, with the configurations drawn and further data sets. CPU time is that of this process and its
/// children. It ends with 0 if batches are at least 10 times as fast as programs one by one in one
/// configuration, with 1 if they are not, and with 2 if it could not run: also if a compiler, a level or QEMU
/// is not there or fails a first program.
#[derive(Args, Debug)]
pub struct Command {
    /// Programs per batch
    #[arg(long, default_value_t = 96, value_parser = clap::value_parser!(u16).range(1..=1000))]
    count: u16,
    /// Programs compiled and run one by one; the first of the batch
    #[arg(long, default_value_t = 12, value_parser = clap::value_parser!(u16).range(1..=1000))]
    alone: u16,
    /// Compilers [default: the newest gcc and the newest clang on PATH]
    #[arg(long, value_delimiter = ',')]
    compilers: Option<Vec<String>>,
    /// Optimisation levels
    #[arg(long, value_delimiter = ',', allow_hyphen_values = true, default_values_t = ["-O0".to_string(), "-O3".to_string()])]
    levels: Vec<String>,
    /// QEMU, by name or path
    #[arg(long, default_value = "qemu-riscv64")]
    qemu: String,
    /// Seed of the programs
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Checks and pairs of a program and a build, and the CPU seconds they took.
#[derive(Clone, Copy, Default)]
struct Measured {
    checks: u64,
    pairs: u64,
    seconds: f64,
}

impl Measured {
    fn rate(self) -> f64 {
        self.checks as f64 / self.seconds.max(0.01)
    }

    fn pair_rate(self) -> f64 {
        self.pairs as f64 / self.seconds.max(0.01)
    }

    fn add(&mut self, other: Measured) {
        self.checks += other.checks;
        self.pairs += other.pairs;
        self.seconds += other.seconds;
    }
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.bench())
    }

    fn bench(&self) -> Done {
        let compilers = self.compilers()?;
        let qemu = EmulatorSettings::qemu(&self.qemu)?;
        let emulator = qemu.emulator();
        let mut settings = Settings {
            seed: self.seed,
            levels: self.levels.clone(),
            rotated: Vec::new(),
            ..Settings::default()
        };
        settings.schedules.truncate(1);
        settings.compilers = compilers.iter().map(CompilerSettings::from).collect();
        settings.emulators.push(qemu.clone());
        try_testbeds(&settings.testbeds()?, &Named::all(&settings), &settings.limits())?;
        settings.emulators.pop();
        let campaign = Campaign::new(&settings)?;
        let runs = &campaign.testbeds.runs;
        let on_qemu: Vec<Run> = runs
            .iter()
            .filter(|r| emulator.supports(&r.setup))
            .map(|r| Run { emulator: emulator.clone(), ..r.clone() })
            .collect();
        outln!(
            "{} programs in a batch, in {} set-ups; {} one by one on QEMU, in 1 and in {}",
            self.count,
            runs.len(),
            self.alone,
            on_qemu.len()
        );
        let begin = cpu::seconds()?;
        let cases = self.cases(&campaign)?;
        let writing = (cpu::seconds()? - begin) / cases.len() as f64;
        outln!("writing and evaluating a program: {:.1} ms of CPU time", 1000.0 * writing);
        let head = ["batched", "one by one, 1", "ratio", "all set-ups", "ratio"];
        outln!(
            "{:<32} {:>9} {:>14} {:>8} {:>12} {:>8}",
            "checks per CPU-second",
            head[0],
            head[1],
            head[2],
            head[3],
            head[4]
        );
        let mut sums = [Measured::default(); 3];
        let few = &cases[..cases.len().min(self.alone.into())];
        for build in &campaign.testbeds.builds {
            let measured = [
                measure(build, runs, &cases, &campaign, settings.batch as usize, writing)?,
                measure(build, &on_qemu[..1], few, &campaign, 1, writing)?,
                measure(build, &on_qemu, few, &campaign, 1, writing)?,
            ];
            line(&build.name(), measured);
            sums.iter_mut().zip(measured).for_each(|(sum, m)| sum.add(m));
        }
        line("all", sums);
        outln!(
            "distinct program × build per CPU-second: {:.1} in all {} set-ups; one by one {:.1} in 1, {:.1} in {}",
            sums[0].pair_rate(),
            runs.len(),
            sums[1].pair_rate(),
            sums[2].pair_rate(),
            on_qemu.len()
        );
        let drawn = self.as_drawn(&campaign, &settings)?;
        outln!(
            "as a campaign draws them, {} set-ups and {} further data sets for a build: {:.1} program × build and {:.0} \
             checks per CPU-second",
            settings.sampling.setups,
            settings.inputs,
            drawn.pair_rate(),
            drawn.rate()
        );
        Ok(sums[0].rate() >= 10.0 * sums[1].rate())
    }

    /// Whole batches, as a campaign does them.
    fn as_drawn(&self, campaign: &Campaign, settings: &Settings) -> Result<Measured, String> {
        let begin = cpu::seconds()?;
        let mut measured = Measured::default();
        // The first batches of a campaign are smaller.
        let mut next = settings.batch;
        while next < settings.batch + u64::from(self.count) {
            let whole = sampling::batch(next, settings.batch);
            let count = whole.end - whole.start;
            let record = campaign.batch(whole.start, count, None).ok_or("the batch did not end")?;
            measured.checks += record.checks;
            measured.pairs += record.pairs;
            next = whole.end;
        }
        measured.seconds = cpu::seconds()? - begin;
        Ok(measured)
    }

    fn compilers(&self) -> Result<Vec<Compiler>, String> {
        if let Some(names) = &self.compilers {
            return names.iter().map(|n| Compiler::find(n).map_err(|why| format!("`{n}`: {why}"))).collect();
        }
        let (found, _) = Compiler::find_all();
        let major =
            |c: &Compiler| c.version.split('.').next().and_then(|m| m.parse::<u32>().ok()).unwrap_or(0);
        let newest =
            |family: Family| found.iter().filter(|c| c.family == family).max_by_key(|c| major(c)).cloned();
        let chosen: Vec<Compiler> = [Family::Gcc, Family::Clang].into_iter().filter_map(newest).collect();
        if chosen.is_empty() {
            return Err(
                "the bench needs gcc or clang, and QEMU; `rvvfuzz doctor` says how to get them".to_string()
            );
        }
        Ok(chosen)
    }

    /// Programs without element groups: those are a batch of their own.
    fn cases(&self, campaign: &Campaign) -> Result<Vec<Case>, String> {
        let mut cases = Vec::new();
        let mut number = 0;
        while cases.len() < usize::from(self.count) {
            let case = campaign.program(number)?;
            number += 1;
            if !case.has_groups() {
                cases.push(case);
            }
        }
        Ok(cases)
    }
}

fn line(name: &str, [batched, one, all]: [Measured; 3]) {
    let ratio = |alone: Measured| batched.rate() / alone.rate().max(0.001);
    outln!(
        "{name:<32} {:>9.0} {:>14.0} {:>7.1}× {:>12.0} {:>7.1}×",
        batched.rate(),
        one.rate(),
        ratio(one),
        all.rate(),
        ratio(all)
    );
}

/// Builds, runs and judges the cases, `size` at a time.
fn measure(
    build: &Build,
    runs: &[Run],
    cases: &[Case],
    campaign: &Campaign,
    size: usize,
    writing: f64,
) -> Result<Measured, String> {
    let begin = cpu::seconds()?;
    let mut measured = Measured::default();
    for some in cases.chunks(size) {
        let parts = batch::build(build, some, &campaign.limits).map_err(|e| e.to_string())?;
        for part in &parts {
            if part.elf.is_err() {
                continue;
            }
            measured.pairs += part.cases.len() as u64;
            for run in runs {
                let judged = part.run(run, some).map_err(|e| e.to_string())?;
                measured.checks += judged.iter().map(|(i, _)| operations(&some[*i].program)).sum::<u64>();
            }
        }
    }
    measured.seconds = cpu::seconds()? - begin + writing * cases.len() as f64;
    Ok(measured)
}
