//! `rvvfuzz load`.

use super::{Done, duration, exit};
use crate::programs::judge::outcome::{Kind, Outcome};
use crate::programs::store::lease::{Leases, Next, Worked};
use crate::programs::store::query::{StoredVerdict, TableSize};
use crate::programs::store::{BatchRecord, Place, ProgramRecord, Store, StoreError, kind};
use clap::Args;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_cli::{figures, outln};
use rvv_ir::Mismatch;
use std::collections::HashMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// Measure what a store bears: workers that do no work, and store what a real campaign has found.
///
/// They take leases, renew them and store batches as workers do, in the time that the real batches took of
/// the CPU; then as fast as they can. It says how much of a worker's time goes into the store, how large rows
/// are, and what that is for many machines.
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  rvvfuzz run --time 10m --store real.db
  rvvfuzz load --like real.db --store postgres://fuzz@db/empty --workers 50 --markdown docs/fleet.md

It ends with 0 if workers spend less than 5 % of their time on the store, with 1 if more, with 2 if it could not run. Each
worker has two connections: PostgreSQL's max_connections must allow for them.")]
pub struct Command {
    /// A new store for this measurement: a file, or an empty database
    #[arg(long, value_name = "URL|FILE")]
    store: Place,
    /// The campaign whose batches are stored again
    #[arg(long, value_name = "FILE|URL")]
    like: Place,
    /// Simulated workers
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u16).range(1..=1000))]
    workers: u16,
    /// How long each of the two parts takes
    #[arg(long, value_parser = duration, default_value = "1m")]
    time: Duration,
    /// Write the tables into this document, between its marks
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

/// What a real campaign has stored.
struct Recorded {
    programs: Vec<ProgramRecord>,
    timings: Vec<(usize, Option<usize>, f64)>,
    /// CPU time of a worker for one program, in seconds.
    seconds: f64,
    batch: u64,
}

/// What one part of the measurement gave.
#[derive(Clone, Copy, Debug, Default)]
struct Part {
    programs: u64,
    batches: u64,
    /// Time spent on the store, by all workers.
    spent: f64,
    /// The part's time.
    seconds: f64,
}

fn outcome(letter: char, detail: &str) -> Option<Outcome> {
    let text = detail.to_string();
    Some(match kind(letter)? {
        Kind::Pass => Outcome::Pass,
        Kind::WrongOutput => Outcome::WrongOutput(Mismatch { buffer: 1, element: 1 }),
        Kind::RuntimeCrash => Outcome::RuntimeCrash(text),
        Kind::RuntimeTimeout => Outcome::RuntimeTimeout,
        Kind::BuildFailure => Outcome::BuildFailure(text),
        Kind::BuildCrash => Outcome::BuildCrash(text),
        Kind::BuildTimeout => Outcome::BuildTimeout,
        Kind::Unsupported => Outcome::Unsupported(text),
    })
}

fn recorded(store: &Store) -> Result<Recorded, StoreError> {
    let mut verdicts: HashMap<u64, Vec<StoredVerdict>> = HashMap::new();
    for v in store.verdicts()? {
        verdicts.entry(v.program).or_default().push(v);
    }
    let mut programs = Vec::new();
    // The last ones: the first batches are small and have no flags that take turns.
    for (number, letters) in &store.last_outcomes(512)? {
        let details: HashMap<usize, String> = store.details(*number)?.into_iter().collect();
        let mut last = "";
        let mut outcomes = Vec::new();
        for (testbed, letter) in letters.chars().enumerate() {
            last = details.get(&testbed).map_or(last, String::as_str);
            outcomes.push(outcome(letter, last));
        }
        let found = verdicts.remove(number).unwrap_or_default();
        let verdicts = found.iter().filter_map(StoredVerdict::verdict).collect();
        programs.push(ProgramRecord { number: *number, outcomes, ir: store.program(*number)?, verdicts });
    }
    let batches = store.batches()?;
    let timings = batches.last().map_or(Ok(Vec::new()), |b| store.timings_of(b.first))?;
    let done: u64 = batches.iter().map(|b| b.programs).sum();
    let seconds = store.cpu()? / done.max(1) as f64;
    Ok(Recorded { programs, timings, seconds, batch: store.settings()?.batch })
}

impl Recorded {
    fn batch(&self, first: u64, count: u64, schedules: u64) -> BatchRecord {
        let at = |k: u64| {
            let recorded = &self.programs[(k % self.programs.len() as u64) as usize];
            ProgramRecord { number: k * schedules, ..recorded.clone() }
        };
        BatchRecord {
            first,
            count,
            seconds: self.seconds * count as f64,
            operations: 100 * count,
            checks: 10_000 * count,
            pairs: 5 * count,
            programs: (first..first + count).map(at).collect(),
            timings: self.timings.clone(),
            ..BatchRecord::default()
        }
    }
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.load())
    }

    fn load(&self) -> Done {
        let fail = |e: StoreError| e.to_string();
        if self.markdown.is_some() && matches!(&self.store, Place::Server(a) if a.secret() != a.to_string()) {
            return Err(
                "the command is written into the document: put the password into PGPASSWORD".to_string()
            );
        }
        let like = Store::read(&self.like).map_err(fail)?;
        let recorded = recorded(&like).map_err(fail)?;
        if recorded.programs.is_empty() || recorded.seconds <= 0.0 {
            return Err(format!("{} has no programs to store again", self.like));
        }
        let settings = like.settings().map_err(fail)?;
        let schedules = settings.schedules.len().max(1) as u64;
        let names = like.testbeds().map_err(fail)?;
        let store = Store::create(&self.store, &settings, &names).map_err(fail)?;
        drop(store);
        let store = Store::shared(&self.store).map_err(fail)?;
        let empty = store.sizes().map_err(fail)?.1;
        let paced = self.part(&recorded, schedules, true)?;
        let fast = self.part(&recorded, schedules, false)?;
        let sizes = store.sizes().map_err(fail)?;
        let table = self.table(&recorded, (paced, fast), &sizes.0, sizes.1.saturating_sub(empty));
        outln!("{table}");
        if let Some(document) = &self.markdown {
            figures::update(document, "rvvfuzz load", "rvvfuzz", &table).map_err(|e| e.to_string())?;
        }
        Ok(share(&recorded, paced) < 0.05)
    }

    /// All workers for a while, at the pace of real ones or without one.
    fn part(&self, recorded: &Recorded, schedules: u64, paced: bool) -> Result<Part, String> {
        let total = Mutex::new((Part::default(), None::<String>));
        let begin = Instant::now();
        std::thread::scope(|scope| {
            for worker in 0..self.workers {
                let total = &total;
                scope.spawn(move || {
                    let done = self.worker(recorded, schedules, paced, u64::from(worker), begin + self.time);
                    let mut total = total.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                    match done {
                        Ok(part) => {
                            total.0.programs += part.programs;
                            total.0.batches += part.batches;
                            total.0.spent += part.spent;
                        }
                        Err(error) => total.1 = Some(error.to_string()),
                    }
                });
            }
        });
        let (part, error) = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        match error {
            Some(why) => Err(why),
            None => Ok(Part { seconds: begin.elapsed().as_secs_f64(), ..part }),
        }
    }

    fn worker(
        &self,
        recorded: &Recorded,
        schedules: u64,
        paced: bool,
        number: u64,
        end: Instant,
    ) -> Result<Part, StoreError> {
        let (leases, _) = Leases::join(&self.store, Duration::from_secs(120))?;
        let mut store = Store::shared(&self.store)?;
        let mut part = Part::default();
        let whole = Duration::from_secs_f64((recorded.seconds * recorded.batch as f64).clamp(0.001, 3600.0));
        if paced {
            // They do not all end a batch at once.
            let mut rng = ChaCha8Rng::seed_from_u64(number);
            std::thread::sleep(
                whole.mul_f64(rng.random()).min(end.saturating_duration_since(Instant::now())),
            );
        }
        let mut renewed = Instant::now();
        while Instant::now() < end {
            let begin = Instant::now();
            let taken = leases.take(u64::MAX)?;
            let mut spent = begin.elapsed();
            let Next::Programs(first, count) = taken else { break };
            let batch = recorded.batch(first, count, schedules);
            let work = Duration::from_secs_f64((recorded.seconds * count as f64).clamp(0.0, 3600.0));
            if paced {
                std::thread::sleep(work.min(end.saturating_duration_since(Instant::now())));
            }
            let begin = Instant::now();
            let (worker, seconds, able) = (leases.worker(), leases.seconds(), leases.ability());
            let worked = Worked { worker, seconds, reduces: false, able };
            store.save_leased(&batch, work.as_secs_f64(), &worked)?;
            if renewed.elapsed().as_secs_f64() > leases.seconds() / 3.0 {
                leases.renew(part.programs, 0.0)?;
                renewed = Instant::now();
            }
            spent += begin.elapsed();
            part.programs += count;
            part.batches += 1;
            part.spent += spent.as_secs_f64();
        }
        leases.release()?;
        Ok(part)
    }

    fn table(
        &self,
        recorded: &Recorded,
        (paced, fast): (Part, Part),
        tables: &[TableSize],
        bytes: u64,
    ) -> String {
        let programs = (paced.programs + fast.programs).max(1) as f64;
        let each = bytes as f64 / programs;
        let capacity = fast.programs as f64 / fast.seconds.max(0.001);
        let per_worker = 1.0 / recorded.seconds;
        let mut out = String::from("| measured | |\n| --- | ---: |\n");
        let mut row = |name: &str, value: String| {
            let _ = writeln!(out, "| {name} | {value} |");
        };
        let database = if self.store.file().is_some() { "SQLite" } else { "PostgreSQL" };
        row("database", database.to_string());
        row("CPU time of a worker for a program", format!("{:.2} s", recorded.seconds));
        row("simulated workers", self.workers.to_string());
        row("batches stored at their pace", format!("{} in {:.0} s", paced.batches, paced.seconds));
        row(
            "time on the store for a batch",
            format!("{:.1} ms", 1000.0 * paced.spent / paced.batches.max(1) as f64),
        );
        row("share of a worker's time", format!("{:.2} %", 100.0 * share(recorded, paced)));
        row("programs stored a second, without a pace", format!("{capacity:.0}"));
        row("bytes for a program, all tables", format!("{each:.0}"));
        let _ =
            writeln!(out, "\n| table | rows for 1000 programs | bytes for a row |\n| --- | ---: | ---: |");
        for TableSize { name, rows, bytes } in tables {
            let size = match (*rows, *bytes) {
                (_, 0) => "not known".to_string(),
                (0, _) => "–".to_string(),
                (rows, bytes) => (bytes / rows).to_string(),
            };
            let _ = writeln!(out, "| {name} | {:.0} | {size} |", 1000.0 * *rows as f64 / programs);
        }
        let _ = writeln!(
            out,
            "\n| machines × cores | programs a second | of what was stored without a pace | a day | connections |\n\
             | ---: | ---: | ---: | ---: | ---: |"
        );
        for (machines, cores) in [(10.0, 16.0), (100.0, 16.0), (1000.0, 1.0), (1000.0, 16.0), (1000.0, 64.0)]
        {
            let rate = machines * cores * per_worker;
            let _ = writeln!(
                out,
                "| {machines} × {cores} | {rate:.0} | {:.0} % | {:.1} GB | {} |",
                100.0 * rate / capacity.max(0.001),
                rate * each * 86_400.0 / 1e9,
                2.0 * machines
            );
        }
        out
    }
}

/// The share of a worker's time that goes into the store.
fn share(recorded: &Recorded, part: Part) -> f64 {
    let work = recorded.seconds * part.programs as f64;
    part.spent / (part.spent + work).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::settings::Settings;
    use crate::programs::store::{Spent, tests::batch};

    #[test]
    fn what_was_stored_is_stored_again_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (like, path) = (folder.path().join("a.db"), folder.path().join("b.db"));
        let mut store = Store::create(&like, &Settings::default(), &["a".into(), "b".into()]).unwrap();
        store.save(&batch(0), Spent { clock: 1.0, cpu: 0.02 }).unwrap();
        drop(store);
        let (time, workers) = (Duration::from_secs(1), 3);
        let command =
            Command { store: Place::from(&path), like: Place::from(&like), workers, time, markdown: None };
        command.load().unwrap();
        let store = Store::read(&path).unwrap();
        let done = store.done().unwrap();
        let programs: u64 = done.values().sum();
        assert!(done.len() > 6, "{done:?}");
        let (sizes, bytes) = store.sizes().unwrap();
        let rows = |name: &str| sizes.iter().find(|t| t.name == name).unwrap().rows;
        assert_eq!((rows("programs"), rows("batches")), (programs, done.len() as u64));
        assert!(rows("verdicts") >= programs / 2 && bytes > 10_000);
    }
}
