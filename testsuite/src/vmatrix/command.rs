//! `testsuite vmatrix`: the whole matrix by one command.

use super::cases::{Subject, cases, subjects};
use super::golden::{self, Entry, Goldens, entries};
use super::program::program;
use super::run::{check, first_difference, on_rvvsim, on_spike};
use super::{CASES_PER_TYPE, VLENS};
use rvv_cli::outln;
use rvv_cli::progress::Progress;
use rvvsim::Config;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs the command; whether all is well.
///
/// # Errors
/// What kept it from running.
pub fn main(spike: Option<&Path>, anew: bool, op: &str, vlen: Option<u32>) -> Result<bool, Box<dyn Error>> {
    let jobs: Vec<(usize, usize, Subject)> = (0..VLENS.len())
        .filter(|&v| vlen.is_none_or(|wanted| wanted == VLENS[v]))
        .flat_map(|v| golden::matching(op).into_iter().map(move |(i, s)| (v, i, s)))
        .collect();
    match spike {
        Some(spike) if anew => record(spike, &jobs),
        Some(spike) => compare(spike, &jobs),
        None => check_all(&jobs),
    }
}

/// Runs `work` on every job, on all cores; the results in order of the jobs.
fn parallel<J: Sync, R: Send>(jobs: &[J], what: &str, work: impl Fn(&J, usize) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new((Vec::with_capacity(jobs.len()), Progress::for_people()));
    std::thread::scope(|scope| {
        for worker in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            let (next, done, work) = (&next, &done, &work);
            scope.spawn(move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(job) = jobs.get(at) else { return };
                    let result = work(job, worker);
                    let (results, line) = &mut *done.lock().unwrap_or_else(|e| e.into_inner());
                    results.push((at, result));
                    line.show(|| format!("{what} {} of {}", results.len(), jobs.len()));
                }
            });
        }
    });
    let (mut results, line) = done.into_inner().unwrap_or_else(|e| e.into_inner());
    drop(line);
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

fn check_all(jobs: &[(usize, usize, Subject)]) -> Result<bool, Box<dyn Error>> {
    let goldens = Goldens::load()?;
    let differences: Vec<_> =
        parallel(jobs, "checking", |&(v, i, subject), _| check(&goldens, v, i, subject))
            .into_iter()
            .flatten()
            .collect();
    for difference in &differences {
        outln!("{difference}");
    }
    let cases = jobs.len() * 28 * CASES_PER_TYPE;
    outln!(
        "{cases} cases of {} instructions, {} differences",
        jobs.len() / VLENS.len().min(jobs.len()).max(1),
        differences.len()
    );
    Ok(differences.is_empty())
}

struct Folder(PathBuf);

impl Folder {
    fn new(worker: usize) -> std::io::Result<Folder> {
        let path = std::env::temp_dir().join(format!("rvvsim-vmatrix-{}-{worker}", std::process::id()));
        std::fs::create_dir_all(&path)?;
        Ok(Folder(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Left-overs in the temporary folder harm nobody.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn compare(spike: &Path, jobs: &[(usize, usize, Subject)]) -> Result<bool, Box<dyn Error>> {
    let found = parallel(jobs, "comparing", |&(v, _, subject), worker| -> Result<Option<String>, String> {
        let folder = Folder::new(worker).map_err(|e| e.to_string())?;
        let vlen = VLENS[v];
        let cases = cases(subject, vlen);
        let elf = program(&cases, vlen);
        let theirs = on_spike(spike, &elf, vlen, cases.len(), &folder.0)?;
        let ours = on_rvvsim(&elf, Config { vlen, ..Config::default() })?;
        let differ = ours.iter().zip(&theirs).filter(|(a, b)| a != b).count();
        Ok(first_difference(&cases, &ours, &theirs).map(|first| {
            format!("{subject} at VLEN {vlen}: {differ} of {} cases; first {first}", cases.len())
        }))
    });
    let mut clean = true;
    for (job, result) in jobs.iter().zip(found) {
        match result {
            Ok(None) => {}
            Ok(Some(text)) => {
                clean = false;
                outln!("{text}");
            }
            Err(e) => {
                clean = false;
                outln!("{} at VLEN {}: {e}", job.2, VLENS[job.0]);
            }
        }
    }
    outln!("{} programs compared", jobs.len());
    Ok(clean)
}

/// Records the answers to `jobs`; the answers of other instructions stay.
fn record(spike: &Path, jobs: &[(usize, usize, Subject)]) -> Result<bool, Box<dyn Error>> {
    let results = parallel(jobs, "recording", |&(v, _, subject), worker| -> Result<Vec<Entry>, String> {
        let folder = Folder::new(worker).map_err(|e| e.to_string())?;
        let vlen = VLENS[v];
        let cases = cases(subject, vlen);
        let elf = program(&cases, vlen);
        let signature = on_spike(spike, &elf, vlen, cases.len(), &folder.0);
        signature.map(|s| entries(&s)).map_err(|e| format!("{subject} at VLEN {vlen}: {e}"))
    });
    let nothing = vec![vec![Vec::new(); subjects().len()]; VLENS.len()];
    let mut all = Goldens::recorded().unwrap_or(nothing);
    for (&(v, index, _), entries) in jobs.iter().zip(results) {
        all[v][index] = entries?;
    }
    if all.iter().flatten().any(Vec::is_empty) {
        return Err(
            "nothing is recorded for the other instructions yet: record all, without --op and --vlen".into(),
        );
    }
    golden::save(&all)?;
    outln!("recorded {} programs in {}", jobs.len(), golden::path().display());
    Ok(true)
}
