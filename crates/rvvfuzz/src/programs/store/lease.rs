//! A campaign that many workers share.
//!
//! A worker takes ranges of programs and verdicts to reduce, each with a *lease*: a row that says whose it
//! is, and until when. It renews its leases while it lives. A batch is stored in the transaction that gives
//! its lease back, and only by whoever still has it; so every program is counted once, whoever dies.

use super::db::{Statements, insert_many, values};
use super::query::StoredVerdict;
use super::{
    BatchRecord, Open, Place, Reduction, Settings, Store, StoreError, rest, save_meta, write, write_costs,
};
use crate::programs::sampling;
use std::time::Duration;

/// At most so many batches are missing between two that are finished.
const GAPS: u64 = 100_000;

/// What a worker is to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Programs `first .. first + count`.
    Programs(u64, u64),
    /// The same, with only these compilers: others have judged them without.
    Rest(u64, u64, Vec<usize>),
    /// Nothing as long as others are at work on the rest.
    Wait,
    /// Everything is done.
    End,
}

/// Who has worked on a campaign.
#[derive(Clone, Debug, PartialEq)]
pub struct Worker {
    /// Machine and process.
    pub name: String,
    /// Seconds since it was seen last.
    pub ago: f64,
    /// How long it has worked, in seconds.
    pub seconds: f64,
    /// Programs that it judged.
    pub programs: u64,
    /// Its CPU time, in seconds.
    pub cpu: f64,
}

/// Which compilers of the campaign a machine has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Able {
    /// How many the campaign has.
    pub all: usize,
    /// Those that are not here, by their places in the settings.
    pub lacks: Vec<usize>,
}

impl Able {
    /// Of these compilers, or of all, those that are not here.
    fn left(&self, of: Option<&[usize]>) -> Vec<usize> {
        let all: Vec<usize> = of.map_or_else(|| (0..self.all).collect(), <[usize]>::to_vec);
        all.into_iter().filter(|c| self.lacks.contains(c)).collect()
    }
}

/// A worker's share of a campaign.
pub struct Leases {
    store: Store,
    worker: String,
    seconds: f64,
    batch: u64,
    able: Able,
    /// It does nothing but reduce.
    only_reduces: bool,
}

/// At most so many leases are looked at for one that this machine can do.
const LOOKED_AT: usize = 200;

/// A name that no other worker has: machine, process, and when it began.
fn new_name() -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host: String = host.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-' || *c == '.').collect();
    let now = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("{host}/{}/{:x}", std::process::id(), now.as_micros())
}

impl Leases {
    /// Joins a campaign; others may work on it. What is not renewed for this long is given to others.
    ///
    /// # Errors
    /// When there is none, or it cannot be joined.
    pub fn join(place: &Place, lease: Duration) -> Result<(Leases, Settings), StoreError> {
        Leases::join_as(place, lease, false)
    }

    /// The same, of a worker that may reduce only. The programs of findings are in the store, and mean the
    /// same to every version; their numbers do not. So it may be of another version.
    ///
    /// # Errors
    /// When there is none, or it cannot be joined.
    pub fn join_as(
        place: &Place,
        lease: Duration,
        only_reduces: bool,
    ) -> Result<(Leases, Settings), StoreError> {
        let (store, settings) = Store::go_on(place.clone(), Open::Shared)?;
        let version = store.meta("version")?.unwrap_or_default();
        if version != env!("CARGO_PKG_VERSION") && !only_reduces {
            return Err(StoreError::OtherVersion { path: store.path(), version });
        }
        let seconds = lease.as_secs_f64().max(1.0);
        let (worker, batch, able) = (new_name(), settings.batch.max(1), Able::default());
        let leases = Leases { store, worker, seconds, batch, able, only_reduces };
        leases.begin()?;
        leases.renew(0, 0.0)?;
        Ok((leases, settings))
    }

    /// The same, on a machine that has only some of the compilers.
    #[must_use]
    pub fn able(self, able: Able) -> Leases {
        Leases { able, ..self }
    }

    /// Which compilers this machine has.
    pub fn ability(&self) -> &Able {
        &self.able
    }

    /// What this worker is called.
    pub fn worker(&self) -> &str {
        &self.worker
    }

    /// For how long it may be silent.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// The first worker divides what there is: what is missing among the finished batches waits for somebody,
    /// and so do the verdicts that nobody has reduced.
    fn begin(&self) -> Result<(), StoreError> {
        let done = self.store.done()?;
        let mut rows = Vec::new();
        let mut next = 0;
        for (first, count) in done {
            // No campaign has that many gaps: whoever wrote this file wants us to count for ever.
            if first.saturating_sub(next) / self.batch > GAPS {
                let why = format!("batch {first} is far from the others");
                return Err(StoreError::Damaged { path: self.store.path(), why });
            }
            while next < first {
                let end = sampling::batch(next, self.batch).end.min(first);
                rows.push(vec!["programs".into(), next.into(), (end - next).into(), "".into(), 0.0.into()]);
                next = end;
            }
            next = next.max(first.saturating_add(count));
        }
        let unreduced = self.store.unreduced()?.into_iter();
        rows.extend(
            unreduced.map(|(id, ..)| vec!["reduce".into(), id.into(), 1_i64.into(), "".into(), 0.0.into()]),
        );
        let now = self.store.db.dialect().now;
        self.store.db.transaction(&mut |to| {
            let sql = "insert into meta values('next', ?1) on conflict do nothing";
            if to.execute(sql, values![next.to_string()])? == 0 {
                return Ok(());
            }
            let began: f64 = number(to, &format!("select {now} - coalesce(max(at), 0.0) from batches"))?;
            save_meta(to, "began", &began.to_string())?;
            insert_many(to, "leases", &rows, "on conflict do nothing")
        })
    }

    /// The campaign ends after so many programs.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end_at(&mut self, count: u64) -> Result<(), StoreError> {
        self.store.save_meta("count", &count.to_string())
    }

    /// What is done first of the leases that are free, and its kind: whole batches, then what is left of some
    /// for compilers that are here.
    fn free(&self, to: &mut dyn Statements, now: f64) -> Result<Option<(String, Next)>, StoreError> {
        let mut kinds = vec![("programs".to_string(), None)];
        for row in to.query("select distinct kind from leases where kind like 'rest %' order by kind", &[])? {
            let Ok(kind) = row.get::<String>(0) else { continue };
            let of = rest::compilers(&kind).filter(|of| of.iter().any(|c| !self.able.lacks.contains(c)));
            kinds.extend(of.map(|of| (kind, Some(of))));
        }
        for (kind, of) in kinds {
            let sql = format!(
                "select first, count from leases where kind = ?1 and until < ?2 order by first limit 1{}",
                self.store.db.dialect().skip_locked
            );
            let rows = to.query(&sql, values![&kind, now])?;
            let Some((Ok(first), Ok(count))) = rows.first().map(|r| (r.get(0), r.get(1))) else { continue };
            let next = of.map_or(Next::Programs(first, count), |of| Next::Rest(first, count, of));
            return Ok(Some((kind, next)));
        }
        Ok(None)
    }

    /// Takes programs, at most so many: first what others have left.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take(&self, most: u64) -> Result<Next, StoreError> {
        let dialect = self.store.db.dialect();
        let mut next = Next::Wait;
        let mut divided = true;
        self.store.db.transaction(&mut |to| {
            (next, divided) = (Next::Wait, true);
            let now = number::<f64>(to, &format!("select {}", dialect.now))?;
            let until = now + self.seconds;
            if !self.only_reduces
                && let Some((kind, free)) = self.free(to, now)?
            {
                let (Next::Programs(first, _) | Next::Rest(first, ..)) = &free else { return Ok(()) };
                let sql = "update leases set worker = ?1, until = ?2 where kind = ?3 and first = ?4";
                to.execute(sql, values![&self.worker, until, kind, *first])?;
                next = free;
                return Ok(());
            }
            let end = note(to, "count", "")?.unwrap_or(u64::MAX >> 1);
            // Somebody has merged another store into this one: what there is to do is divided again.
            let Some(first) = note(to, "next", dialect.for_update)? else {
                divided = false;
                return Ok(());
            };
            if first >= end {
                // What waits for compilers that are not here keeps nobody.
                let sql = "select count(*) from leases where kind = 'programs' or (kind like 'rest %' and until > ?1) \
                           or (kind = 'reduce' and ?2 = 1)";
                let left = to.query(sql, values![now, i64::from(self.only_reduces)])?;
                let left: i64 = left.first().and_then(|r| r.get(0).ok()).unwrap_or(0);
                next = if left > 0 { Next::Wait } else { Next::End };
                return Ok(());
            }
            if self.only_reduces {
                return Ok(());
            }
            // Batches end where they always do.
            let edge = sampling::batch(first, self.batch).end.min(end);
            let count = (edge - first).min(most.max(1));
            save_meta(to, "next", &(first + count).to_string())?;
            let sql = "insert into leases values('programs', ?1, ?2, ?3, ?4)";
            to.execute(sql, values![first, count, &self.worker, until])?;
            next = Next::Programs(first, count);
            Ok(())
        })?;
        if !divided {
            self.begin()?;
        }
        Ok(next)
    }

    /// Takes a verdict to reduce that nobody works on and that `can` be reduced here, and its program.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take_reduction(
        &self,
        can: &dyn Fn(&StoredVerdict) -> bool,
    ) -> Result<Option<(StoredVerdict, String)>, StoreError> {
        let dialect = self.store.db.dialect();
        let now = dialect.now;
        let sql = format!(
            "select first from leases where kind = 'reduce' and until < {now} order by first limit {LOOKED_AT}"
        );
        for id in self.store.rows(&sql, |r| r.get::<i64>(0))? {
            let found = self.store.verdict(id)?.filter(|v| v.signature.is_none() && v.fault.is_none());
            if found.as_ref().is_some_and(|v| !can(v)) {
                continue;
            }
            // Another may have taken it since.
            let mut taken = false;
            self.store.db.transaction(&mut |to| {
                let now = number::<f64>(to, &format!("select {now}"))?;
                let sql = "update leases set worker = ?1, until = ?2 where kind = 'reduce' and first = ?3 and until < ?4";
                taken = to.execute(sql, values![&self.worker, now + self.seconds, id, now])? > 0;
                Ok(())
            })?;
            if !taken {
                continue;
            }
            if let Some(verdict) = found
                && let Some(ir) = self.store.program(verdict.program)?
            {
                return Ok(Some((verdict, ir)));
            }
            // Nothing is left to do about it.
            self.store.execute("delete from leases where kind = 'reduce' and first = ?1", values![id])?;
        }
        Ok(None)
    }

    /// Says that this worker lives, and what it has done so far.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn renew(&self, programs: u64, cpu: f64) -> Result<(), StoreError> {
        let now = self.store.db.dialect().now;
        self.store.db.transaction(&mut |to| {
            let now: f64 = number(to, &format!("select {now}"))?;
            let sql = "update leases set until = ?1 where worker = ?2";
            to.execute(sql, values![now + self.seconds, &self.worker])?;
            let sql = "insert into workers values(?1, ?2, ?2, ?3, ?4) on conflict(name) do update set \
                       seen = excluded.seen, programs = excluded.programs, cpu = excluded.cpu";
            to.execute(sql, values![&self.worker, now, programs, cpu]).map(|_| ())
        })
    }

    /// Gives everything back.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn release(&self) -> Result<(), StoreError> {
        self.store
            .execute("update leases set until = 0.0, worker = '' where worker = ?1", values![&self.worker])
    }
}

/// The one number of a query.
pub(super) fn number<T: super::db::FromValue>(to: &mut dyn Statements, sql: &str) -> Result<T, StoreError> {
    let rows = to.query(sql, &[])?;
    let value = rows.first().and_then(|r| r.get(0).ok());
    value.ok_or_else(|| StoreError::Damaged { path: "the store".into(), why: "a number is missing".into() })
}

/// A number that is a note about the campaign.
fn note(to: &mut dyn Statements, key: &str, end: &str) -> Result<Option<u64>, StoreError> {
    let rows = to.query(&format!("select value from meta where key = ?1{end}"), values![key])?;
    Ok(rows.first().and_then(|r| r.get::<String>(0).ok()).and_then(|text| text.parse().ok()))
}

impl Store {
    /// Stores a batch of a shared campaign if the worker still has it: else somebody else has done it, or
    /// will, and there is nothing to store. `cpu` is what this worker has taken since its last batch. Who
    /// reduces has the verdicts to reduce, too.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_leased(
        &mut self,
        batch: &BatchRecord,
        cpu: f64,
        leases: &Worked<'_>,
    ) -> Result<Option<Vec<i64>>, StoreError> {
        let fresh = self.fresh(batch);
        let dialect = self.db.dialect();
        let mut saved = None;
        self.db.transaction(&mut |to| {
            saved = None;
            let kind = rest::lease_kind(batch.rest.as_deref());
            let sql = "delete from leases where kind = ?1 and first = ?2 and count = ?3 and worker = ?4";
            if to.execute(sql, values![kind, batch.first, batch.count, leases.worker])? == 0 {
                return Ok(());
            }
            let left = leases.able.left(batch.rest.as_deref());
            if !left.is_empty() {
                let sql = "insert into leases values(?1, ?2, ?3, '', 0.0)";
                to.execute(sql, values![rest::lease_kind(Some(&left)), batch.first, batch.count])?;
            }
            let now: f64 = number(to, &format!("select {}", dialect.now))?;
            let rows = to.query("select value from meta where key = 'began'", &[])?;
            let began = rows.first().and_then(|r| r.get::<String>(0).ok()).and_then(|t| t.parse().ok());
            let at = (now - began.unwrap_or(now)).max(0.0);
            let whole = batch.rest.is_none() && left.is_empty();
            let ids = write(to, batch, &fresh, at, whole)?;
            let verdicts = batch.programs.iter().flat_map(|p| p.verdicts.iter().map(move |v| (p, v)));
            let reduced = ids
                .iter()
                .zip(verdicts)
                .filter(|(id, (p, v))| **id > 0 && v.fault.is_none() && p.ir.is_some());
            let (worker, until) =
                if leases.reduces { (leases.worker, now + leases.seconds) } else { ("", 0.0) };
            let rows: Vec<_> = reduced
                .map(|(id, _)| vec!["reduce".into(), (*id).into(), 1_i64.into(), worker.into(), until.into()])
                .collect();
            insert_many(to, "leases", &rows, "")?;
            // Last: others wait for this row until all of this is stored.
            let spent = add_cpu(to, cpu, dialect.for_update)?;
            write_costs(to, batch, spent)?;
            saved = Some(ids);
            Ok(())
        })?;
        if saved.is_some() {
            self.covered.extend(fresh.iter().map(|(name, o, _)| (name.to_string(), *o)));
        }
        Ok(saved)
    }

    /// Stores what a reducer made of a verdict of a shared campaign, if it is still this worker's to reduce.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_leased_reduction(
        &mut self,
        verdict: i64,
        reduction: &Reduction,
        worker: &str,
    ) -> Result<(), StoreError> {
        let Reduction { signature, ir, c, report } = reduction;
        self.db.transaction(&mut |to| {
            let sql = "delete from leases where kind = 'reduce' and first = ?1 and worker = ?2";
            if to.execute(sql, values![verdict, worker])? == 0 {
                return Ok(());
            }
            to.execute(
                "update verdicts set signature = ?1, reduced_ir = ?2, reduced_c = ?3, report_md = ?4 where id = ?5",
                values![signature.as_ref(), ir.as_ref(), c.as_ref(), report.as_ref(), verdict],
            )
            .map(|_| ())
        })
    }

    /// Adds CPU time to the campaign's.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add_cpu(&mut self, cpu: f64) -> Result<(), StoreError> {
        let for_update = self.db.dialect().for_update;
        self.db.transaction(&mut |to| add_cpu(to, cpu, for_update).map(|_| ()))
    }

    /// Who has worked on a shared campaign, those who are at work first.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn workers(&self) -> Result<Vec<Worker>, StoreError> {
        if self.format < 3 {
            return Ok(Vec::new());
        }
        let now = self.db.dialect().now;
        let query =
            format!("select name, {now} - seen, seen - began, programs, cpu from workers order by seen desc");
        self.rows(&query, |r| {
            let (name, ago, seconds) = (r.get(0)?, r.get(1)?, r.get(2)?);
            Ok(Worker { name, ago, seconds, programs: r.get(3)?, cpu: r.get(4)? })
        })
    }

    /// A store beside this one: another connection to the same campaign.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn shared(place: &Place) -> Result<Store, StoreError> {
        Store::go_on(place.clone(), Open::Shared).map(|(store, _)| store)
    }
}

/// Who stores something in a shared campaign.
pub struct Worked<'a> {
    /// Its name.
    pub worker: &'a str,
    /// For how long it may be silent, in seconds.
    pub seconds: f64,
    /// Whether it reduces what it finds.
    pub reduces: bool,
    /// Which compilers it has.
    pub able: &'a Able,
}

fn add_cpu(to: &mut dyn Statements, cpu: f64, for_update: &str) -> Result<f64, StoreError> {
    to.execute("insert into meta values('cpu', '0') on conflict do nothing", &[])?;
    let rows = to.query(&format!("select value from meta where key = 'cpu'{for_update}"), &[])?;
    let before: f64 =
        rows.first().and_then(|r| r.get::<String>(0).ok()).and_then(|t| t.parse().ok()).unwrap_or(0.0);
    let spent = before + cpu;
    save_meta(to, "cpu", &spent.to_string())?;
    Ok(spent)
}
