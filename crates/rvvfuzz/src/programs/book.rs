//! What a campaign's main thread does: it stores what workers and the reducer find, and says how far they
//! are.

use super::campaign::Campaign;
use super::measure::yardstick::Measured;
use super::reduce::queue::{Bisection, Job, Treated};
use super::store::lease::{Finding, Leases, Worked};
use super::store::{BatchRecord, Spent, Store};
use super::workers::{Event, Message, Options, Progress, RunError, lock};
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

pub(super) fn hand(jobs: &Option<Sender<Job>>, job: Job) -> bool {
    jobs.as_ref().is_some_and(|jobs| jobs.send(job).is_ok())
}

/// What the thread that stores knows.
pub(super) struct Book<'a> {
    pub store: &'a mut Store,
    pub options: &'a Options<'a>,
    pub campaign: &'a Campaign,
    pub begin: Instant,
    /// CPU time of this session, in seconds.
    pub cpu_now: &'a dyn Fn() -> f64,
    /// Whether nothing more is to be begun.
    pub closing: &'a dyn Fn() -> bool,
    pub to_do: Option<u64>,
    pub jobs: Option<Sender<Job>>,
    pub progress: Progress,
    /// When the leases were renewed last.
    pub renewed: Instant,
    /// CPU time of this session that is in a shared campaign's store.
    pub cpu_saved: f64,
    /// CPU time of this session that was spent on measurements.
    pub elsewhere: f64,
}

impl Book<'_> {
    /// CPU time that this session has spent on the campaign.
    fn cpu(&self) -> f64 {
        ((self.cpu_now)() - self.elsewhere).max(self.cpu_saved)
    }

    pub fn keep(
        &mut self,
        messages: &Receiver<Message>,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        let mut workers = self.options.jobs.max(1);
        loop {
            match messages.recv_timeout(Duration::from_millis(200)) {
                Ok(Message::Batch(batch)) => self.batch(&batch, tell)?,
                Ok(Message::Treated(job, worked)) => {
                    self.progress.reducing = self.progress.reducing.saturating_sub(1);
                    self.worked(*job, worked)?;
                }
                Ok(Message::Measured(id, result)) => self.measured(id, result, tell)?,
                Ok(Message::Gone) => workers -= 1,
                Ok(Message::Failed(error)) => return Err(error.into()),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
            }
            if let Some(leases) = self.options.shared {
                self.share(leases)?;
            }
            if workers == 0 && (self.progress.reducing == 0 || self.options.shared.is_none()) {
                // The reducer does what is there, and ends.
                self.jobs = None;
            }
            self.times();
            tell(Event::Progress(&self.progress));
        }
    }

    /// Renews the leases when a third of their time is over, and reduces and bisects what others have left.
    fn share(&mut self, leases: &Mutex<Leases>) -> Result<(), RunError> {
        let leases = lock(leases);
        if self.renewed.elapsed().as_secs_f64() > leases.seconds() / 3.0 {
            leases.renew(self.progress.programs, self.cpu())?;
            self.renewed = Instant::now();
        }
        if self.jobs.is_some()
            && self.progress.reducing == 0
            && !(self.closing)()
            && let Some(Finding { verdict: stored, ir, reduced }) =
                leases.take_finding(&|v| self.campaign.has_testbeds_of(v.testbeds.first()))?
            && let Some(verdict) = stored.verdict()
        {
            let job = Job { id: stored.id, number: stored.program, ir, verdict, reduced };
            self.progress.reducing += u64::from(hand(&self.jobs, job));
        }
        Ok(())
    }

    /// Stores what came of a verdict. What is reduced is bisected next, if nobody has done that.
    fn worked(&mut self, job: Job, worked: Treated) -> Result<(), RunError> {
        let shared = self.options.shared.map(|leases| {
            let leases = lock(leases);
            (leases.worker().to_string(), leases.seconds())
        });
        match (worked, shared) {
            (Treated::Reduced(None) | Treated::Bisected(Bisection::Late), _) => {}
            (Treated::Reduced(Some(reduction)), None) => self.store.save_reduction(job.id, &reduction)?,
            (Treated::Reduced(Some(reduction)), Some((worker, seconds))) => {
                if self.store.save_leased_reduction(job.id, &reduction, &worker, seconds)? {
                    let job = Job { reduced: reduction.ir, ..job };
                    self.progress.reducing += u64::from(hand(&self.jobs, job));
                }
            }
            (Treated::Bisected(found), Some((worker, _))) => {
                let report =
                    if let Bisection::Report(report) = &found { Some(report.as_str()) } else { None };
                self.store.save_leased_bisection(job.id, report, &worker)?;
            }
            (Treated::Bisected(_), None) => {}
        }
        Ok(())
    }

    /// Stores a measurement; one that cannot be done here is left to others.
    fn measured(
        &mut self,
        id: i64,
        result: Result<String, String>,
        tell: &mut impl FnMut(Event<'_>),
    ) -> Result<(), RunError> {
        let Some(leases) = self.options.shared else { return Ok(()) };
        let mut leases = lock(leases);
        match result {
            Ok(result) => {
                // It was not spent on this campaign.
                let measured: Option<Measured> = serde_json::from_str(&result).ok();
                self.elsewhere += measured.map_or(0.0, |m| 60.0 * m.cpu_minutes);
                self.store.save_measurement(id, &result, leases.worker())?;
            }
            Err(why) => {
                if !(self.closing)() {
                    tell(Event::Broken(&format!("measurement {id}"), &why));
                }
                leases.give_back(id)?;
            }
        }
        Ok(())
    }

    /// Stores a batch; `None` if another worker does it.
    fn save(&mut self, batch: &BatchRecord) -> Result<Option<Vec<i64>>, RunError> {
        let now = Spent { clock: self.begin.elapsed().as_secs_f64(), cpu: self.cpu() };
        let Some(leases) = self.options.shared else { return Ok(Some(self.store.save(batch, now)?)) };
        let (worker, seconds, able) = {
            let leases = lock(leases);
            (leases.worker().to_string(), leases.seconds(), leases.ability().clone())
        };
        let worked = Worked { worker: &worker, seconds, reduces: self.jobs.is_some(), able: &able };
        let saved = self.store.save_leased(batch, now.cpu - self.cpu_saved, &worked)?;
        if saved.is_some() {
            self.cpu_saved = now.cpu;
        }
        Ok(saved)
    }

    /// Stores the rest, and gives back what was taken.
    pub fn end(&mut self) -> Result<(), RunError> {
        let cpu = self.cpu();
        let Some(leases) = self.options.shared else { return Ok(self.store.save_cpu(cpu)?) };
        self.store.add_cpu(cpu - self.cpu_saved)?;
        let leases = lock(leases);
        leases.renew(self.progress.programs, cpu)?;
        Ok(leases.release()?)
    }

    fn batch(&mut self, batch: &BatchRecord, tell: &mut impl FnMut(Event<'_>)) -> Result<(), RunError> {
        for (testbed, why) in &batch.broken {
            tell(Event::Broken(testbed, why));
        }
        if batch.count == 0 {
            return Ok(());
        }
        let Some(ids) = self.save(batch)? else {
            self.progress.lost += batch.count;
            return Ok(());
        };
        // A rest is of programs that are counted.
        let programs = if batch.rest.is_some() { 0 } else { batch.count };
        self.progress.total += programs;
        self.progress.programs += programs;
        self.progress.checks += batch.checks;
        self.progress.pairs += batch.pairs;
        self.progress.triggers += batch.triggers;
        self.progress.covered = self.store.covered();
        self.progress.verdicts += ids.iter().filter(|id| **id > 0).count() as u64;
        let verdicts = batch.programs.iter().flat_map(|p| p.verdicts.iter().map(move |v| (p, v)));
        for (id, (program, verdict)) in ids.into_iter().zip(verdicts).filter(|(id, _)| *id > 0) {
            tell(Event::Verdict(id, program.number, verdict));
            if verdict.fault.is_some() {
                self.progress.known += 1;
                continue;
            }
            if let Some(ir) = &program.ir {
                let (ir, verdict) = (ir.clone(), verdict.clone());
                let job = Job { id, number: program.number, ir, verdict, reduced: None };
                self.progress.reducing += u64::from(hand(&self.jobs, job));
            }
        }
        Ok(())
    }

    fn times(&mut self) {
        let cpu = self.cpu();
        let p = &mut self.progress;
        p.seconds = self.begin.elapsed().as_secs_f64();
        p.cpu = cpu;
        (p.builds, p.doing) = self.campaign.activity();
        let by_time = self.options.time.map(|t| (t.as_secs_f64() - p.seconds).max(0.0));
        let rate = p.programs as f64 / p.seconds;
        let by_count = self.to_do.filter(|_| rate > 0.0).map(|n| n.saturating_sub(p.programs) as f64 / rate);
        p.left = [by_time, by_count].into_iter().flatten().reduce(f64::min);
    }
}
