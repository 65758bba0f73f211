//! `rvvfuzz work`.

use super::run::{ProgramArgs, Told, begin, go_on, heading, stop_flag, summary};
use super::testbed_args::{TestbedArgs, lacking};
use super::{Done, duration, exit, processors};
use crate::programs::reduce::queue::Reduce;
use crate::programs::reduce::reducer::Reducer;
use crate::programs::report::live::LiveLine;
use crate::programs::settings::Settings;
use crate::programs::store::lease::{Able, Leases};
use crate::programs::store::orders::Order;
use crate::programs::store::{Place, Store, StoreError};
use crate::programs::workers::{self, Options};
use clap::Args;
use rvv_cli::outln;
use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Work on a campaign that others work on, too: one store, any number of workers.
///
/// The store is a database of a PostgreSQL server, or a file on this machine. The first worker begins the
/// campaign by the options it is given; the others find them in the store. Each takes programs, findings to
/// reduce and to bisect, and measurements (`rvvfuzz yardstick --store`), by priority and by what it can do,
/// and says now and then that it lives; what a dead one had taken is done by another. Every program is
/// counted once.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz work --store postgres://fuzz@db/rvv                     on every machine
  rvvfuzz work --store postgres://fuzz@db/rvv --count 1000000     the campaign ends after so many programs
  rvvfuzz work --store campaign.db --builtin --jobs 1             a file, for workers of one machine

The password comes from PGPASSWORD or ~/.pgpass, as with psql, or is in the address. It is never shown. A machine that
lacks some of the campaign's compilers, in their versions, builds with those it has, and leaves the rest to others; it must
have the emulators, and the version of rvvfuzz that began the campaign, unless it only reduces.

Ctrl-C finishes the current batches, saves, and gives the rest back; a second one ends at once.
It ends with 0 if nothing is wrong, 1 if there are verdicts, 2 if it could not run.")]
pub struct Command {
    /// The campaign's database or file
    #[arg(long, value_name = "URL|FILE")]
    store: Place,
    /// Leave after this long: 90s, 5m, 2h [default: stay until the campaign ends]
    #[arg(long, value_parser = duration)]
    time: Option<Duration>,
    /// The campaign ends after so many programs, for all workers [default: never]
    #[arg(long)]
    count: Option<u64>,
    /// Worker threads; one reduces findings while any are pending
    #[arg(long, default_value_t = processors(), value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: u16,
    /// Do not reduce programs: others will
    #[arg(long)]
    no_reduce: bool,
    /// Only reduce what others find; then rvvfuzz may be of another version than theirs
    #[arg(long, conflicts_with_all = ["no_reduce", "count"])]
    reduce_only: bool,
    /// Time to reduce one program, and the same again to bisect the passes
    #[arg(long, value_parser = duration, default_value = "2m")]
    reduce_time: Duration,
    /// A worker that is silent for this long has died
    #[arg(long, value_parser = duration, default_value = "2m")]
    lease: Duration,
    #[command(flatten)]
    testbeds: TestbedArgs,
    #[command(flatten)]
    programs: ProgramArgs,
}

/// How long a server may take to start again: one that died under load replays its log first.
const PATIENCE: Duration = Duration::from_secs(60);

/// Opens a store. Its server may just be starting, or starting again.
fn patiently<T>(
    line: &mut LiveLine,
    mut open: impl FnMut() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    let patience = Instant::now() + PATIENCE;
    let mut said = String::new();
    loop {
        match open() {
            Err(error @ StoreError::Lost { .. }) if Instant::now() < patience => {
                let now = format!("{error}; trying again, for {} s", PATIENCE.as_secs());
                if now != said {
                    line.say(&now);
                    said = now;
                }
                std::thread::sleep(Duration::from_secs(1));
            }
            other => return other,
        }
    }
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.work())
    }

    /// Joins the campaign.
    fn join(&self, line: &mut LiveLine) -> Result<(Leases, Settings), StoreError> {
        patiently(line, || Leases::join_as(&self.store, self.lease, self.reduce_only))
    }

    fn work(&self) -> Done {
        const ALONE: &str = "what is mutated next follows from what one process has seen: a campaign with \
                             --explore below 1 is run by `rvvfuzz run`, and may be joined with --reduce-only";
        let fail = |e: StoreError| e.to_string();
        if self.programs.has_feedback() {
            return Err(ALONE.to_string());
        }
        let mut line = LiveLine::default();
        let (mut leases, settings) = match self.join(&mut line) {
            Err(StoreError::Empty { .. }) if !self.reduce_only => {
                // Another may begin it at the same time: then this one joins.
                let begun = begin(&self.programs, &self.testbeds, &self.store, &mut line);
                match begun.map(drop) {
                    Ok(()) => {}
                    Err(why) => {
                        let joined = self.join(&mut line).map(drop);
                        joined.map_err(|_| why)?;
                    }
                }
                self.join(&mut line).map_err(fail)?
            }
            other => other.map_err(fail)?,
        };
        if settings.explore < 1.0 && !self.reduce_only {
            return Err(ALONE.to_string());
        }
        let missing = if self.testbeds.is_empty() { lacking(&settings)? } else { Vec::new() };
        let others = settings.compilers.iter().filter(|c| !c.command.is_empty()).count();
        if let Some((_, why)) = missing.first().filter(|_| missing.len() == others) {
            return Err(format!("this machine has none of the campaign's compilers: {why}"));
        }
        for (place, why) in &missing {
            let name = &settings.compilers[*place].name;
            line.say(&format!("`{name}` is left to other machines: {why}"));
        }
        let lacks: Vec<usize> = missing.into_iter().map(|(place, _)| place).collect();
        let campaign = go_on(&self.programs, &self.testbeds, (&settings, &self.store), &lacks, &mut line)?;
        leases = leases.able(Able { all: settings.compilers.len(), lacks }).measuring(able_to_measure());
        if let Some(count) = self.count {
            leases.end_at(count).map_err(fail)?;
        }
        let mut store = patiently(&mut line, || Store::shared(&self.store)).map_err(fail)?;
        outln!("{}; worker {}", heading(&settings, &campaign, store.place()), leases.worker());
        let leases = Mutex::new(leases);
        let reducer = Reducer::new(settings.limits(), self.reduce_time, &campaign.testbeds).without_passes();
        let options = Options {
            jobs: self.jobs.into(),
            time: self.time,
            cpu_time: None,
            count: None,
            batch: settings.batch,
            reducer: if self.no_reduce { None } else { Some(&reducer as &dyn Reduce) },
            shared: Some(&leases),
        };
        let stop = stop_flag();
        let mut told = Told::default();
        let result =
            workers::run(&campaign, &mut store, &options, &stop, |event| told.tell(event, &mut line));
        line.end();
        let progress = result.map_err(|e| e.to_string())?;
        if progress.lost > 0 {
            outln!(
                "{} programs were done by others: this worker had been silent for too long",
                progress.lost
            );
        }
        outln!("{}", summary(&progress, &store, &campaign.stopped())?);
        Ok(store.verdict_count().map_err(fail)? == 0)
    }
}

/// Whether this machine has what a measurement needs. Looked for once for each compiler.
fn able_to_measure() -> impl Fn(&Order) -> bool {
    let known: Mutex<HashMap<String, bool>> = Mutex::default();
    move |order| {
        let named: Vec<String> =
            order.settings.compilers.iter().map(|c| format!("{:?} {}", c.command, c.version)).collect();
        let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
        let has = || lacking(&order.settings).is_ok_and(|missing| missing.is_empty());
        order.version == env!("CARGO_PKG_VERSION") && *known.entry(named.join("\n")).or_insert_with(has)
    }
}
