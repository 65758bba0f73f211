//! `rvvfuzz run`.

use super::testbed_args::{TestbedArgs, still_there};
use super::{Done, duration, exit, processors};
use crate::programs::campaign::Campaign;
use crate::programs::judge::outcome::Kind;
use crate::programs::judge::probe::Named;
use crate::programs::judge::vote::Verdict;
use crate::programs::known;
use crate::programs::reduce::queue::Reduce;
use crate::programs::reduce::reducer::Reducer;
use crate::programs::report::live::{self, LiveLine};
use crate::programs::settings::Settings;
use crate::programs::store::{Place, Store, StoreError};
use crate::programs::testbed::compiler::crash_site;
use crate::programs::workers::{self, Event, Options, Progress};
use clap::Args;
use rvv_cli::{errln, outln};
use rvvgen::Sizes;
use std::collections::HashSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Run a campaign: random programs of RVV intrinsics on every compiler and emulator, judged.
///
/// Programs are generated, compiled by every compiler at every level, and run on every emulator in every
/// configuration. Their output is compared with the expected output, and the compiler or emulator at fault is
/// named. The direct lowering and rvvsim are built in; gcc 14 and later, clang 17 and later, zig and QEMU are
/// used if they are on PATH (`rvvfuzz doctor`).
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz run --builtin --time 5s --report campaign.html
  rvvfuzz run --time 30m --compilers riscv64-linux-gnu-gcc-14,clang-19 --levels -O0,-O3
  rvvfuzz run --count 50000 --builtin --store builtin.db
  rvvfuzz run --time 2h --store builtin.db --resume
  rvvfuzz run --intrinsics 'vfw*_rm' --policy rounding
  rvvfuzz run --time 1h --explore 0.5
  rvvfuzz run --time 1h --compilers clang-22 --target 'vsetvli insertion'

Ctrl-C finishes the current batches and saves; a second one ends at once. Either way --resume continues.
\
It ends with 0 if nothing is wrong, 1 if there are verdicts, 2 if it could not run: a compiler, an emulator, a level
or a policy was named that is not there or fails a first program, a testbed stopped working, or the store cannot be
written. In a closed pipe it ends silently, with 141.")]
pub struct Command {
    /// Start batches for this long: 90, 90s, 5m, 2h [default: 1m, if no --count is given]
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// Stop after so many programs
    #[arg(long)]
    count: Option<u64>,
    /// The campaign's file, or a database: postgres://USER@HOST/NAME
    #[arg(long, default_value = "campaign.db", value_name = "FILE|URL")]
    store: Place,
    /// Continue the campaign in the store, if there is one
    #[arg(long)]
    resume: bool,
    /// Worker threads; one reduces findings while any are pending
    #[arg(long, default_value_t = processors(), value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Do not reduce programs
    #[arg(long)]
    no_reduce: bool,
    /// Time to reduce one program, and the same again to bisect the passes
    #[arg(long, value_parser = duration, default_value = "2m")]
    reduce_time: Duration,
    /// Write the report to this file at the end
    #[arg(long, value_name = "HTML")]
    report: Option<PathBuf>,
    /// Compare instead what two compilers make of programs: clang-21,clang-22 or 'clang-22 -O2,clang-22 -O3'.
    /// See `rvvfuzz between`
    #[arg(long, value_name = "A,B", conflicts_with_all = ["builtin", "testbeds", "compilers", "qemu", "flags", "vlen", "report", "no_reduce"])]
    between: Option<String>,
    #[command(flatten)]
    testbeds: TestbedArgs,
    #[command(flatten)]
    programs: ProgramArgs,
}

#[derive(Args, Debug, Clone)]
pub(super) struct ProgramArgs {
    /// Seed of all random choices [default: 1]
    #[arg(long)]
    seed: Option<u64>,
    /// Operations per program, about: a number or a range [default: 1-100]
    #[arg(long, value_name = "N|MIN-MAX")]
    ops: Option<Sizes>,
    /// Elements per buffer: a number or a range [default: such that strip loops run never, once, twice and
    /// often at every VLEN]
    #[arg(long, value_name = "N|MIN-MAX")]
    len: Option<Sizes>,
    /// Programs per translation unit [default: 64]
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1000))]
    batch: Option<u16>,
    /// Names of intrinsics, with * and ? [default: all]
    #[arg(long, value_delimiter = ',')]
    intrinsics: Option<Vec<String>>,
    /// Lists of intrinsics: v, bf16, crypto [default: all]
    #[arg(long, value_delimiter = ',')]
    extension: Option<Vec<String>>,
    /// Categories of names: explicit, explicit-policy, overloaded, overloaded-policy [default: all]
    #[arg(long, value_delimiter = ',')]
    category: Option<Vec<String>>,
    /// Generation policies, used in turn; `all` for every one [default: default]
    #[arg(long, value_delimiter = ',')]
    policy: Option<Vec<String>>,
    /// Orders of statements; each program is run in one of them [default: all-in,unit,random]
    #[arg(long, value_delimiter = ',')]
    schedules: Option<Vec<String>>,
    /// One program in so many is run in every order; 1 for all programs [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    every_schedule: Option<u32>,
    /// Levels of each compiler drawn for a batch; 0 for all of them [default: 0]
    #[arg(long, value_name = "N")]
    levels_drawn: Option<u32>,
    /// Configurations of rvvsim drawn for a batch, and one of each other emulator; 0 for all of them
    /// [default: 6]
    #[arg(long, value_name = "N")]
    setups_drawn: Option<u32>,
    /// One program in so many may have what triggers a known fault of its compilers (bugs/known.toml); 1 for
    /// all programs
    /// [default: 10, of yardstick and matrix 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub known_triggers: Option<u32>,
    /// The share of programs that are new. The others are mutants of programs with which compilers did something
    /// new; the store keeps those. 1 means none [default: 1]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    explore: Option<f64>,
    /// Direct mutants at this: words of a pass or of features, as 'vsetvli insertion', or a pattern with * and
    /// ?; see `rvvfuzz features --target`. Half of the programs are new then, unless --explore says otherwise
    #[arg(long, value_name = "PATTERN")]
    target: Option<String>,
    /// Data sets besides the program's own on which each build is run, on rvvsim [default: 24, of matrix 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(..=1000))]
    inputs: Option<u32>,
    /// Time limit of one build [default: 2m]
    #[arg(long, value_parser = duration)]
    build_time: Option<Duration>,
    /// Memory limit of one build, in MiB [default: 4096]
    #[arg(long, value_parser = clap::value_parser!(u64).range(64..=1 << 20))]
    build_memory: Option<u64>,
}

/// The share of new programs in a campaign that is directed at something.
const AIMED: f64 = 0.5;

/// A share, from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|s| (0.0..=1.0).contains(s));
    share.ok_or_else(|| "a share is a number from 0 to 1".to_string())
}

impl ProgramArgs {
    /// Whether some programs are to be made of others.
    pub fn has_feedback(&self) -> bool {
        self.explore.is_some_and(|share| share < 1.0) || self.target.is_some()
    }

    /// Puts them into the settings.
    pub fn apply(&self, settings: &mut Settings) {
        fn put<T: Clone>(to: &mut T, from: &Option<T>) {
            if let Some(value) = from {
                *to = value.clone();
            }
        }
        put(&mut settings.seed, &self.seed);
        settings.ops = self.ops.or(settings.ops);
        settings.len = self.len.or(settings.len);
        put(&mut settings.batch, &self.batch.map(u64::from));
        put(&mut settings.names, &self.intrinsics);
        put(&mut settings.extensions, &self.extension);
        put(&mut settings.categories, &self.category);
        put(&mut settings.policies, &self.policy);
        if settings.policies == ["all"] {
            settings.policies = rvvgen::POLICIES.iter().map(|(name, ..)| name.to_string()).collect();
        }
        put(&mut settings.schedules, &self.schedules);
        put(&mut settings.build_seconds, &self.build_time.map(|t| t.as_secs().max(1)));
        put(&mut settings.build_memory, &self.build_memory);
        put(&mut settings.triggers, &self.known_triggers);
        put(&mut settings.inputs, &self.inputs);
        put(&mut settings.explore, &self.explore);
        if self.target.is_some() {
            settings.target.clone_from(&self.target);
            if self.explore.is_none() && settings.explore >= 1.0 {
                settings.explore = AIMED;
            }
        }
        put(&mut settings.sampling.every_schedule, &self.every_schedule);
        put(&mut settings.sampling.levels, &self.levels_drawn);
        put(&mut settings.sampling.setups, &self.setups_drawn);
    }
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        match &self.between {
            Some(between) => exit(self.compare(between)),
            None => exit(self.campaign()),
        }
    }

    fn compare(&self, between: &str) -> Done {
        let file = self.store.file().ok_or("what is found between two compilers is in a file: name one")?;
        let limits = (self.time, self.count);
        let levels = self.testbeds.levels.clone();
        let with = (self.jobs, self.reduce_time);
        super::between::Command::of_run(between, file, limits, with, levels, self.programs.clone())?.compare()
    }

    fn campaign(&self) -> Done {
        if self.store.file().is_none() {
            return Err(format!(
                "a server's campaign is run by `rvvfuzz work --store {}`, on any number of machines",
                self.store
            ));
        }
        let mut line = LiveLine::default();
        let (mut store, settings, campaign) = self.open(&mut line)?;
        campaign.restore(&store).map_err(|e| e.to_string())?;
        let time = self.time.or(if self.count.is_none() { Some(Duration::from_secs(60)) } else { None });
        let reducer = Reducer::new(settings.limits(), self.reduce_time, &campaign.testbeds);
        let reducer: Option<&dyn Reduce> = if self.no_reduce { None } else { Some(&reducer) };
        let options = Options {
            jobs: self.jobs.into(),
            time,
            cpu_time: None,
            count: self.count,
            batch: settings.batch,
            reducer,
            shared: None,
        };
        outln!("{}", heading(&settings, &campaign, store.place()));
        let stop = stop_flag();
        let mut told = Told::default();
        let result =
            workers::run(&campaign, &mut store, &options, &stop, |event| told.tell(event, &mut line));
        line.end();
        let progress = result.map_err(|e| e.to_string())?;
        let stopped = campaign.stopped();
        outln!("{}", summary(&progress, &store, &stopped)?);
        if let Some((programs, features)) = campaign.kept() {
            outln!(
                "{programs} programs are kept for mutation; {features} features of compiled programs were seen."
            );
        }
        if let Some(report) = &self.report {
            super::report::write_html(&store, report)?;
            outln!("The report is {}.", report.display());
        }
        match stopped.first() {
            Some(_) if progress.verdicts == 0 => Err(format!(
                "{} stopped working on the way (`rvvfuzz show --store {}` says why), so that not all was judged",
                stopped.join(", "),
                store.place()
            )),
            _ => Ok(progress.verdicts == 0),
        }
    }

    fn open(&self, line: &mut LiveLine) -> Result<(Store, Settings, Campaign), String> {
        if self.resume {
            match Store::resume(&self.store) {
                Ok((store, settings)) => {
                    let stored = (&settings, &self.store);
                    let campaign = go_on(&self.programs, &self.testbeds, stored, &[], line)?;
                    return Ok((store, settings, campaign));
                }
                // Nothing to go on with: from the beginning.
                Err(StoreError::Empty { .. }) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        begin(&self.programs, &self.testbeds, &self.store, line)
    }
}

/// The stored campaign, if the command line does not ask for another, without the compilers at these places.
pub(super) fn go_on(
    programs: &ProgramArgs,
    testbeds: &TestbedArgs,
    (stored, place): (&Settings, &Place),
    lacks: &[usize],
    line: &mut LiveLine,
) -> Result<Campaign, String> {
    let mut asked = stored.clone();
    programs.apply(&mut asked);
    let named = if testbeds.is_empty() {
        if lacks.is_empty() {
            still_there(stored)?;
        }
        let mut named = Named::stored(stored);
        let is_here = |name: &String| !lacks.iter().any(|&at| stored.compilers[at].name == *name);
        named.compilers.retain(is_here);
        named
    } else {
        testbeds.apply(&mut asked, &mut |note| line.say(&note))?
    };
    if let Some((field, was, is)) = stored.differences(&asked).first() {
        return Err(format!(
            "the campaign in {place} was begun with other options: `{field}` is {was} there and {is} here; leave the \
             option out, or name another --store",
        ));
    }
    let campaign = Campaign::new(stored)?;
    campaign.go_without(lacks);
    check(&campaign, &named, line)?;
    Ok(campaign)
}

/// A new campaign by the command line, in a new store.
pub(super) fn begin(
    programs: &ProgramArgs,
    testbeds: &TestbedArgs,
    place: &Place,
    line: &mut LiveLine,
) -> Result<(Store, Settings, Campaign), String> {
    let mut settings = Settings::default();
    programs.apply(&mut settings);
    let named = testbeds.apply(&mut settings, &mut |note| line.say(&note))?;
    let campaign = Campaign::new(&settings)?;
    // Before there is a store: a campaign that cannot be run leaves nothing behind.
    let left_out = check(&campaign, &named, line)?;
    let names: Vec<String> = (0..campaign.testbeds.len()).map(|t| campaign.testbeds.name(t)).collect();
    let mut store = Store::create(place, &settings, &names).map_err(|e| e.to_string())?;
    store.save_broken(&left_out).map_err(|e| e.to_string())?;
    Ok((store, settings, campaign))
}

/// Tries the testbeds; says and returns what the campaign goes without.
fn check(campaign: &Campaign, named: &Named, line: &mut LiveLine) -> Result<Vec<(String, String)>, String> {
    let left_out = campaign.check(named)?;
    for (testbed, why) in &left_out {
        line.say(&format!("{testbed} does not work: {why}"));
    }
    Ok(left_out)
}

/// The known faults that were told.
#[derive(Default)]
pub(super) struct Told(HashSet<String>);

impl Told {
    /// Tells what happens.
    pub fn tell(&mut self, event: Event<'_>, line: &mut LiveLine) {
        match event {
            Event::Progress(progress) => line.show(progress),
            Event::Broken(testbed, why) => line.say(&format!("{testbed} does not work: {why}")),
            // A known fault is told once.
            Event::Verdict(_, program, Verdict { fault: Some(fault), .. }) => {
                if self.0.insert(fault.clone()) {
                    line.say(&format!("program {program}: known fault {fault}"));
                }
            }
            Event::Verdict(id, program, v) => {
                let first = match v.symptom {
                    Kind::BuildCrash => crash_site(&v.detail),
                    _ => v.detail.lines().find(|l| !l.trim().is_empty()).unwrap_or("").to_string(),
                };
                let axes =
                    if v.axes.is_empty() { String::new() } else { format!(" [{}]", v.axes.join(", ")) };
                let (who, what) = (&v.culprit, v.symptom.name());
                line.say(&format!("verdict {id}, program {program}: {who}: {what}{axes} {first}"));
            }
        }
    }
}

/// Ctrl-C: the first finishes what was begun, the second ends at once.
pub(super) fn stop_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&stop);
    // A second handler would be refused; then the first one does.
    let _ = ctrlc::set_handler(move || {
        if asked.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        errln!("\nstopping: what is at work is finished first; once more to end at once");
    });
    stop
}

pub(super) fn heading(settings: &Settings, campaign: &Campaign, store: &Place) -> String {
    let compilers: Vec<String> =
        settings.compilers.iter().map(|c| format!("{} {}", c.name, c.version)).collect();
    let emulators: Vec<String> =
        campaign.testbeds.runs.iter().map(|r| r.emulator.name()).fold(Vec::new(), |mut all, e| {
            if !all.contains(&e) {
                all.push(e);
            }
            all
        });
    format!(
        "seed {}, {} testbeds: {} builds ({}) on {} runs ({}); {} calls in {} programs a round; store {}",
        settings.seed,
        campaign.testbeds.len(),
        campaign.testbeds.builds.len(),
        compilers.join(", "),
        campaign.testbeds.runs.len(),
        emulators.join(", "),
        campaign.calls(),
        campaign.round(),
        store
    )
}

pub(super) fn summary(p: &Progress, store: &Store, stopped: &[String]) -> Result<String, String> {
    let mut text = format!(
        "{} programs in {} ({:.1} min of CPU time): {} program × build, {:.1} per CPU-second; {} checks; {} of {} calls \
         covered ({:.1} %)",
        p.programs,
        live::duration(p.seconds),
        p.cpu / 60.0,
        p.pairs,
        p.pairs_per_cpu_second(),
        p.checks,
        p.covered,
        p.calls,
        100.0 * p.covered as f64 / p.calls.max(1) as f64
    );
    let bugs = store.bugs().map_err(|e| e.to_string())?;
    let (known, new): (Vec<_>, Vec<_>) = bugs.iter().partition(|b| b.shown.fault.is_some());
    for bug in new {
        text += &format!("\n{:6} × {} (verdict {})", bug.verdicts.len(), bug.signature, bug.shown.id);
    }
    for bug in known {
        let what = known::describe(&bug.signature);
        text += &format!("\n{:6} × known: {}{what}", bug.verdicts.len(), bug.signature);
    }
    if p.programs > 0 {
        let share = 100.0 * p.triggers as f64 / p.programs as f64;
        text +=
            &format!("\n{share:.1} % of the programs have what triggers a known fault of these compilers.");
    }
    if bugs.iter().any(|b| b.shown.culprit_kind == "oracle") {
        text += "\nTHE ORACLE IS SUSPECT: every testbed agrees against it.";
    }
    for testbed in stopped {
        text += &format!("\n{testbed} stopped working.");
    }
    text += &match p.verdicts {
        0 if p.total == 0 => {
            "\nNo batch was finished: give it more --time, or make batches smaller with --batch.".to_string()
        }
        0 if !stopped.is_empty() => "\nNothing else is wrong.".to_string(),
        0 => "\nNothing is wrong.".to_string(),
        n => format!("\n{n} verdicts: `rvvfuzz show --store {}` lists them.", store.place()),
    };
    Ok(text)
}
