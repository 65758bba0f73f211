//! A campaign that many workers share.
//!
//! A worker takes ranges of programs, verdicts to reduce, reduced ones to bisect, and measurements, each with
//! a *lease*: a row that says whose it is, and until when. What waits is taken by priority, if the machine
//! can do it. A worker renews its leases while it lives. What comes of one is stored in the transaction that
//! gives the lease back, and only by whoever still has it ([`super::leased`]); so everything is done once,
//! whoever dies.
//!
//! A transaction whose answer is lost with the connection is done again, and may have been done before. So
//! whoever takes something looks, the second time, whether it is theirs already.

use super::db::{Statements, Value, insert_many, values};
pub use super::leased::Worked;
use super::orders::Order;
use super::query::StoredVerdict;
use super::{Open, Place, Settings, Store, StoreError, rest, save_meta};
use crate::programs::sampling;
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::time::Duration;

/// What is done first among what waits: the larger, the sooner. Programs that nobody has had yet are at 0.
/// Those who build programs and those who reduce are apart, so only the order within each matters.
pub(super) mod priority {
    /// Programs that somebody has left.
    pub const LEFT: i64 = 40;
    /// Measurements: somebody waits for them.
    pub const MEASURE: i64 = 30;
    /// What is left of batches for other compilers.
    pub const REST: i64 = 20;
    /// Verdicts to reduce.
    pub const REDUCE: i64 = 20;
    /// Reduced ones to bisect.
    pub const BISECT: i64 = 10;
}

/// The columns of a lease, in the order of [`lease`].
pub(super) const LEASES: &str = "leases(kind, first, count, worker, until, priority)";

/// A row of a lease.
pub(super) fn lease(
    kind: &str,
    (first, count): (impl Into<Value>, u64),
    (worker, until): (&str, f64),
    priority: i64,
) -> Vec<Value> {
    vec![kind.into(), first.into(), count.into(), worker.into(), until.into(), priority.into()]
}

/// At most so many batches are missing between two that are finished.
const GAPS: u64 = 100_000;

/// What a worker is to do next.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// Programs `first .. first + count`.
    Programs(u64, u64),
    /// The same, with only these compilers: others have judged them without.
    Rest(u64, u64, Vec<usize>),
    /// A measurement, by its number.
    Measure(i64, Box<Order>),
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
    pub(super) fn left(&self, of: Option<&[usize]>) -> Vec<usize> {
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
    /// Whether this machine can do a measurement.
    measures: Box<Measures>,
    /// It does nothing but reduce.
    only_reduces: bool,
    /// The first of each range of programs that was taken.
    taken: RefCell<HashSet<u64>>,
    /// Measurements that could not be done here.
    failed: HashSet<i64>,
    /// Those that were looked at.
    orders: RefCell<HashMap<i64, Option<Order>>>,
}

/// A lease that nobody has.
struct Waiting {
    kind: String,
    first: i64,
    count: u64,
    priority: i64,
}

type Measures = dyn Fn(&Order) -> bool + Send;

/// What somebody is to reduce, or to bisect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The verdict.
    pub verdict: StoredVerdict,
    /// The text of its program.
    pub ir: String,
    /// The reduced one, if its pass is to be found.
    pub reduced: Option<String>,
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
        let leases = Leases {
            store,
            worker,
            seconds,
            batch,
            able,
            measures: Box::new(|_| false),
            only_reduces,
            taken: RefCell::default(),
            failed: HashSet::new(),
            orders: RefCell::default(),
        };
        leases.begin()?;
        leases.renew(0, 0.0)?;
        Ok((leases, settings))
    }

    /// The same, on a machine that has only some of the compilers.
    #[must_use]
    pub fn able(self, able: Able) -> Leases {
        Leases { able, ..self }
    }

    /// The same, of a worker that does the measurements that it can.
    #[must_use]
    pub fn measuring(self, measures: impl Fn(&Order) -> bool + Send + 'static) -> Leases {
        Leases { measures: Box::new(measures), ..self }
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
                rows.push(lease("programs", (next, end - next), ("", 0.0), priority::LEFT));
                next = end;
            }
            next = next.max(first.saturating_add(count));
        }
        let unreduced = self.store.unreduced()?.into_iter();
        rows.extend(unreduced.map(|(id, ..)| lease("reduce", (id, 1), ("", 0.0), priority::REDUCE)));
        let now = self.store.db.dialect().now;
        self.store.db.transaction(&mut |to| {
            let sql = "insert into meta values('next', ?1) on conflict do nothing";
            if to.execute(sql, values![next.to_string()])? == 0 {
                return Ok(());
            }
            let began: f64 = number(to, &format!("select {now} - coalesce(max(at), 0.0) from batches"))?;
            save_meta(to, "began", &began.to_string())?;
            insert_many(to, LEASES, &rows, "on conflict do nothing")
        })
    }

    /// The campaign ends after so many programs.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn end_at(&mut self, count: u64) -> Result<(), StoreError> {
        self.store.save_meta("count", &count.to_string())
    }

    /// What waits, of these kinds and at least this priority, what is done first at the beginning: kind,
    /// first, count.
    fn waiting(&self, kinds: &[String], least: i64) -> Result<Vec<Waiting>, StoreError> {
        let now = self.store.db.dialect().now;
        let kinds: Vec<String> = kinds.iter().map(|k| format!("'{k}'")).collect();
        let sql = format!(
            "select kind, first, count, priority from leases where until < {now} and kind in ({}) and priority >= {least} \
             order by priority desc, first limit {LOOKED_AT}",
            kinds.join(", ")
        );
        self.store.rows(&sql, |r| {
            Ok(Waiting { kind: r.get(0)?, first: r.get(1)?, count: r.get(2)?, priority: r.get(3)? })
        })
    }

    /// Takes what waits, unless somebody else has taken it since.
    fn claim(&self, kind: &str, first: i64) -> Result<bool, StoreError> {
        let dialect = self.store.db.dialect();
        let (mut claimed, mut again) = (false, false);
        self.store.db.transaction(&mut |to| {
            let now = number::<f64>(to, &format!("select {}", dialect.now))?;
            // It was free a moment ago: if it is this worker's now, then because of the first time.
            let ours = if again { self.worker.as_str() } else { "" };
            again = true;
            let sql = format!(
                "select count from leases where kind = ?1 and first = ?2 and (until < ?3 or (worker = ?4 and worker <> '')){}",
                dialect.skip_locked
            );
            claimed = !to.query(&sql, values![kind, first, now, ours])?.is_empty();
            if claimed {
                let sql = "update leases set worker = ?1, until = ?2 where kind = ?3 and first = ?4";
                to.execute(sql, values![&self.worker, now + self.seconds, kind, first])?;
            }
            Ok(())
        })?;
        Ok(claimed)
    }

    /// What waits for somebody who builds programs, has at least this priority, and can be done here in the
    /// time that is left.
    fn take_waiting(&self, left: Option<Duration>, least: i64) -> Result<Option<Next>, StoreError> {
        let mut kinds = vec!["programs".to_string()];
        let rests = "select distinct kind from leases where kind > 'rest ' and kind < 'rest~'";
        for kind in self.store.rows(rests, |r| r.get::<String>(0))? {
            let of = rest::compilers(&kind).filter(|of| of.iter().any(|c| !self.able.lacks.contains(c)));
            kinds.extend(of.map(|of| rest::lease_kind(Some(&of))));
        }
        // Many that nobody here can do stand in the way of nothing else.
        let mut all = self.waiting(&["measure".to_string()], least)?;
        all.extend(self.waiting(&kinds, least)?);
        all.sort_by_key(|w| (Reverse(w.priority), w.first));
        for Waiting { kind, first, count, .. } in all {
            let next = match (kind.as_str(), u64::try_from(first)) {
                ("measure", _) => match self.order(first)? {
                    Some(order) if self.can_measure(first, &order, left) => {
                        Next::Measure(first, Box::new(order))
                    }
                    _ => continue,
                },
                ("programs", Ok(first)) => Next::Programs(first, count),
                (kind, Ok(first)) => match rest::compilers(kind) {
                    Some(of) => Next::Rest(first, count, of),
                    None => continue,
                },
                (_, Err(_)) => continue,
            };
            if self.claim(&kind, first)? {
                return Ok(Some(next));
            }
        }
        Ok(None)
    }

    /// What a measurement is about. It never changes, and is asked for at each batch.
    fn order(&self, id: i64) -> Result<Option<Order>, StoreError> {
        if let Some(order) = self.orders.borrow().get(&id) {
            return Ok(order.clone());
        }
        let order = self.store.order(id)?;
        self.orders.borrow_mut().insert(id, order.clone());
        Ok(order)
    }

    fn can_measure(&self, id: i64, order: &Order, left: Option<Duration>) -> bool {
        let fits = left.is_none_or(|left| left.as_secs_f64() > order.seconds);
        fits && !self.failed.contains(&id) && (self.measures)(order)
    }

    /// Takes programs, at most so many: first what others have left.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take(&self, most: u64) -> Result<Next, StoreError> {
        self.take_within(most, None)
    }

    /// The same, of a worker that leaves after this time: it begins no measurement that takes longer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take_within(&self, most: u64, left: Option<Duration>) -> Result<Next, StoreError> {
        let waiting = |least| if self.only_reduces { Ok(None) } else { self.take_waiting(left, least) };
        let mut next = match waiting(0)? {
            Some(next) => next,
            None => self.take_new(most)?,
        };
        // What is below 0 is done when there are no more programs.
        if matches!(next, Next::Wait | Next::End)
            && let Some(late) = waiting(i64::MIN)?
        {
            next = late;
        }
        if let Next::Programs(first, _) = &next {
            self.taken.borrow_mut().insert(*first);
        }
        Ok(next)
    }

    /// Programs that nobody has had yet, at most so many.
    fn take_new(&self, most: u64) -> Result<Next, StoreError> {
        let dialect = self.store.db.dialect();
        let mut next = Next::Wait;
        let (mut divided, mut again) = (true, false);
        self.store.db.transaction(&mut |to| {
            (next, divided) = (Next::Wait, true);
            if std::mem::replace(&mut again, true)
                && let Some((first, count)) = self.forgotten(to)?
            {
                next = Next::Programs(first, count);
                return Ok(());
            }
            let now = number::<f64>(to, &format!("select {}", dialect.now))?;
            let until = now + self.seconds;
            let end = note(to, "count", "")?.unwrap_or(u64::MAX >> 1);
            // Somebody has merged another store into this one: what there is to do is divided again.
            let Some(first) = note(to, "next", dialect.for_update)? else {
                divided = false;
                return Ok(());
            };
            if first >= end {
                // What waits for compilers that are not here keeps nobody.
                let sql = "select count(*) from leases where kind = 'programs' or \
                           ((kind = 'measure' or (kind > 'rest ' and kind < 'rest~')) and until > ?1) \
                           or (kind in ('reduce', 'bisect') and ?2 = 1)";
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
            let row = lease("programs", (first, count), (&self.worker, until), priority::LEFT);
            insert_many(to, LEASES, &[row], "")?;
            next = Next::Programs(first, count);
            Ok(())
        })?;
        if !divided {
            self.begin()?;
        }
        Ok(next)
    }

    /// Programs that are this worker's, and of which it was not told: the connection was lost.
    fn forgotten(&self, to: &mut dyn Statements) -> Result<Option<(u64, u64)>, StoreError> {
        let sql = "select first, count from leases where kind = 'programs' and worker = ?1 order by first";
        let ours = to.query(sql, values![&self.worker])?;
        let mut ours = ours.iter().filter_map(|r| Some((r.get::<u64>(0).ok()?, r.get::<u64>(1).ok()?)));
        let taken = self.taken.borrow();
        Ok(ours.find(|(first, _)| !taken.contains(first)))
    }

    /// Takes a verdict to reduce or to bisect that nobody works on and for which this machine `can` do that.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn take_finding(&self, can: &dyn Fn(&StoredVerdict) -> bool) -> Result<Option<Finding>, StoreError> {
        let kinds = ["reduce".to_string(), "bisect".to_string()];
        for Waiting { kind, first: id, .. } in self.waiting(&kinds, i64::MIN)? {
            let bisect = kind == "bisect";
            let open = |v: &StoredVerdict| match bisect {
                true => v.reduced_ir.is_some(),
                false => v.signature.is_none() && v.fault.is_none(),
            };
            let found = self.store.verdict(id)?.filter(open);
            if found.as_ref().is_some_and(|v| !can(v)) || !self.claim(&kind, id)? {
                continue;
            }
            if let Some(verdict) = found
                && let Some(ir) = self.store.program(verdict.program)?
            {
                let reduced = verdict.reduced_ir.clone().filter(|_| bisect);
                return Ok(Some(Finding { verdict, ir, reduced }));
            }
            // Nothing is left to do about it.
            self.store.execute("delete from leases where kind = ?1 and first = ?2", values![kind, id])?;
        }
        Ok(None)
    }

    /// Gives a measurement back that cannot be done here.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn give_back(&mut self, measurement: i64) -> Result<(), StoreError> {
        self.failed.insert(measurement);
        let sql = "update leases set until = 0.0, worker = '' where kind = 'measure' and first = ?1 and worker = ?2";
        self.store.execute(sql, values![measurement, &self.worker])
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
