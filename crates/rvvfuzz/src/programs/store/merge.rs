//! Two stores of one campaign become one: batch by batch, each in a transaction.

use super::db::{Database, Row, Statements, Value, insert_many, values};
use super::lease::{LEASES, lease, number, priority};
use super::{Open, Place, Settings, Store, StoreError, save_meta};
use std::collections::{BTreeMap, HashMap};

/// What was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// Programs that were not there before.
    pub programs: u64,
    /// Programs that both had.
    pub both: u64,
    /// Programs that the other has in a batch of which a part is there: they are left out.
    pub torn: u64,
    /// Verdicts that were not there before.
    pub verdicts: u64,
    /// Verdicts of both that got a reduction, a name or a state from the other.
    pub completed: u64,
}

/// A store to merge into: the campaign is begun there if there is none.
///
/// # Errors
/// When it cannot be written, or another process is at work on it.
pub fn open(place: &Place, like: &Store) -> Result<Store, StoreError> {
    match Store::go_on(place.clone(), Open::Existing) {
        Ok((store, _)) => return Ok(store),
        Err(StoreError::Empty { .. }) => {}
        Err(error) => return Err(error),
    }
    let mut store = Store::create(place, &like.settings()?, &like.testbeds()?)?;
    store.save_meta("version", &like.meta("version")?.unwrap_or_default())?;
    Ok(store)
}

/// In what two campaigns differ, in words; nothing if they are one.
pub(super) fn difference(ours: &Store, theirs: &Store) -> Result<Option<String>, StoreError> {
    let (a, b): (Settings, Settings) = (ours.settings()?, theirs.settings()?);
    if let Some((field, was, is)) = a.differences(&b).first() {
        return Ok(Some(format!("`{field}` is {was} in one and {is} in the other")));
    }
    let note = |store: &Store, key: &str| store.meta(key).map(Option::unwrap_or_default);
    for (key, what) in [("version", "the version of rvvfuzz"), ("testbeds", "the list of testbeds")] {
        if note(ours, key)? != note(theirs, key)? {
            return Ok(Some(format!("{what} is another")));
        }
    }
    Ok(None)
}

impl Store {
    /// Adds what another store of the same campaign has. What is there stays as it is. It can be interrupted,
    /// and called again.
    ///
    /// # Errors
    /// When they are two campaigns, somebody is at work on this one, or something cannot be read or written.
    pub fn merge(&mut self, other: &Store) -> Result<Merged, StoreError> {
        if other.format < 2 {
            let version = other.meta("version")?.unwrap_or_default();
            return Err(StoreError::Older { path: other.path(), version });
        }
        if let Some(why) = difference(self, other)? {
            return Err(StoreError::Unlike { path: self.path(), other: other.path(), why });
        }
        let schedules = self.settings()?.schedules.len().max(1) as u64;
        let (ours, theirs) = (self.done()?, other.done()?);
        let mut merged = Merged::default();
        let before = self.cpu()?;
        let total: u64 = theirs.values().fold(0, |n, c| n.saturating_add(*c));
        let share = other.cpu()? / total.max(1) as f64;
        let judgements = judgements(other)?;
        for (&first, &count) in &theirs {
            let of_batch = Batch {
                first,
                range: (
                    first.saturating_mul(schedules),
                    first.saturating_add(count).saturating_mul(schedules),
                ),
                judgements: &judgements,
            };
            if ours.get(&first) == Some(&count) {
                merged.both += count;
                merged.completed += of_batch.complete(self, other)?;
            } else if overlaps(&ours, first, count) {
                merged.torn += count;
            } else {
                let cpu = before + share * (merged.programs + count) as f64;
                merged.verdicts += of_batch.copy(self, other, cpu)?;
                merged.programs += count;
            }
        }
        let broken = other.broken()?;
        self.save_broken(&broken)?;
        self.merge_measurements(other)?;
        if other.format >= 3 {
            let workers = other.db.query("select name, began, seen, programs, cpu from workers", &[])?;
            let rows: Vec<Vec<Value>> = workers.into_iter().map(|r| r.0).collect();
            self.db.transaction(&mut |to| insert_many(to, "workers", &rows, "on conflict do nothing"))?;
        }
        Ok(merged)
    }
}

/// Whether some of the programs are there, but not as a batch.
fn overlaps(ours: &BTreeMap<u64, u64>, first: u64, count: u64) -> bool {
    let before = ours.range(..=first).next_back().is_some_and(|(f, c)| f.saturating_add(*c) > first);
    before || ours.range(first..first.saturating_add(count)).next().is_some()
}

/// The states in a store, as rows without their verdicts.
fn judgements(store: &Store) -> Result<HashMap<i64, Vec<Value>>, StoreError> {
    let states = store.states()?.into_iter();
    Ok(states.map(|(id, j)| (id, vec![j.state.word().into(), j.note.into(), j.at.into()])).collect())
}

/// Nobody may be at work: what they have taken would be there twice. Who joins later finds what is missing.
fn alone(to: &mut dyn Statements, now: &str, store: &Store) -> Result<(), StoreError> {
    // First: a worker that takes programs waits for this row.
    to.execute("delete from meta where key = 'next'", &[])?;
    let now: f64 = number(to, &format!("select {now}"))?;
    let rows = to.query("select count(*) from leases where until > ?1", values![now])?;
    if rows.first().and_then(|r| r.get::<i64>(0).ok()) != Some(0) {
        return Err(StoreError::AtWork { path: store.path() });
    }
    to.execute("delete from leases where kind in ('programs', 'reduce')", &[]).map(|_| ())
}

/// A batch of the other store.
struct Batch<'a> {
    first: u64,
    /// Its programs, by their numbers.
    range: (u64, u64),
    judgements: &'a HashMap<i64, Vec<Value>>,
}

/// What a verdict is known by in both stores.
type Key = (Value, Value, Value, Value);

const VERDICTS: &str = "select id, program, culprit_kind, culprit, symptom, testbeds, axes, detail, signature, reduced_ir, \
                        reduced_c, report_md, early, fault from verdicts left join notes on verdict = id \
                        where program >= ?1 and program < ?2 order by id";

impl Batch<'_> {
    fn rows(&self, db: &dyn Database, sql: &str) -> Result<Vec<Vec<Value>>, StoreError> {
        let rows = db.query(sql, values![self.range.0, self.range.1])?;
        Ok(rows.into_iter().map(|Row(values)| values).collect())
    }

    fn of_first(&self, db: &dyn Database, sql: &str) -> Result<Vec<Vec<Value>>, StoreError> {
        Ok(db.query(sql, values![self.first])?.into_iter().map(|Row(values)| values).collect())
    }

    /// Copies it; how many verdicts it has.
    fn copy(&self, to: &Store, from: &Store, cpu: f64) -> Result<u64, StoreError> {
        let db = &*from.db;
        let batches = self.of_first(
            db,
            "select first, count, at, seconds, operations, checks from batches where first = ?1",
        )?;
        let timings = self.of_first(db, "select first, build, run, seconds from timings where first = ?1")?;
        let mut costs = self.of_first(db, "select first, pairs, cpu from costs where first = ?1")?;
        costs.iter_mut().for_each(|row| row[2] = cpu.into());
        let within = "where program >= ?1 and program < ?2";
        let programs =
            self.rows(db, "select number, outcomes, ir from programs where number >= ?1 and number < ?2")?;
        let details = self.rows(db, &format!("select program, testbed, detail from details {within}"))?;
        let coverage =
            self.rows(db, &format!("select name, overloaded, program, at from coverage {within}"))?;
        let verdicts = self.rows(db, VERDICTS)?;
        // What waits for a machine with another compiler.
        let rests = match from.format {
            ..3 => Vec::new(),
            _ => self.of_first(
                db,
                "select kind, first, count from leases where first = ?1 and kind > 'rest ' and kind < 'rest~'",
            )?,
        };
        let rests: Vec<Vec<Value>> = rests
            .into_iter()
            .map(|row| [&row[..], &["".into(), 0.0.into(), priority::REST.into()]].concat())
            .collect();
        let bisect = match from.format {
            ..3 => Vec::new(),
            _ => from.rows("select first from leases where kind = 'bisect'", |r| r.get::<i64>(0))?,
        };
        let now = to.db.dialect().now;
        to.db.transaction(&mut |t| {
            alone(t, now, to)?;
            let there = t.query("select count(*) from batches where first = ?1", values![self.first])?;
            if there.first().and_then(|r| r.get::<i64>(0).ok()) != Some(0) {
                // The connection was lost after it was stored.
                return Ok(());
            }
            insert_many(t, LEASES, &rests, "on conflict do nothing")?;
            insert_many(t, "batches", &batches, "")?;
            insert_many(t, "programs", &programs, "")?;
            insert_many(t, "details", &details, "")?;
            insert_many(t, "coverage", &coverage, "on conflict do nothing")?;
            insert_many(t, "timings", &timings, "")?;
            insert_many(t, "costs", &costs, "")?;
            for row in &verdicts {
                let sql = "insert into verdicts(program, culprit_kind, culprit, symptom, testbeds, axes, detail, signature, \
                           reduced_ir, reduced_c, report_md) values(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) returning id";
                let new = t.query(sql, &row[1..12])?;
                let id: i64 = new.first().and_then(|r| r.get(0).ok()).unwrap_or(0);
                t.execute("insert into notes values(?1, ?2, ?3)", &[id.into(), row[12].clone(), row[13].clone()])?;
                self.judge(t, &row[0], id)?;
                if matches!(&row[0], Value::Int(theirs) if bisect.contains(theirs)) {
                    let row = lease("bisect", (id, 1), ("", 0.0), priority::BISECT);
                    insert_many(t, LEASES, &[row], "on conflict do nothing")?;
                }
            }
            save_meta(t, "cpu", &cpu.to_string())
        })?;
        Ok(verdicts.len() as u64)
    }

    /// Adds to a verdict what was said of it in the other store, if that is newer.
    fn judge(&self, to: &mut dyn Statements, theirs: &Value, ours: i64) -> Result<u64, StoreError> {
        let Value::Int(theirs) = theirs else { return Ok(0) };
        let Some(said) = self.judgements.get(theirs) else { return Ok(0) };
        let sql = "insert into states values(?1, ?2, ?3, ?4) on conflict(verdict) do update set state = excluded.state, \
                   note = excluded.note, at = excluded.at where states.at < excluded.at";
        to.execute(sql, &[&[ours.into()], &said[..]].concat())
    }

    /// Both have it: verdicts that the other knows more about.
    fn complete(&self, to: &Store, from: &Store) -> Result<u64, StoreError> {
        let key = |row: &[Value]| -> Key { (row[1].clone(), row[3].clone(), row[4].clone(), row[5].clone()) };
        let theirs = self.rows(&*from.db, VERDICTS)?;
        if theirs.is_empty() {
            return Ok(0);
        }
        let mut completed = 0;
        to.db.transaction(&mut |t| {
            completed = 0;
            let ours = t.query(VERDICTS, values![self.range.0, self.range.1])?;
            let mut ours: Vec<Vec<Value>> = ours.into_iter().map(|Row(values)| values).collect();
            for row in &theirs {
                let Some(at) = ours.iter().position(|o| key(o) == key(row)) else { continue };
                let own = ours.remove(at);
                let Value::Int(id) = own[0] else { continue };
                let mut more = self.judge(t, &row[0], id)?;
                if own[8] == Value::Null && row[8] != Value::Null {
                    let sql = "update verdicts set signature = ?1, reduced_ir = ?2, reduced_c = ?3, report_md = ?4 where id = ?5";
                    more += t.execute(sql, &[&row[8..12], &[id.into()]].concat())?;
                    t.execute("delete from leases where kind = 'reduce' and first = ?1", values![id])?;
                }
                if own[13] == Value::Null && row[13] != Value::Null {
                    let sql = "insert into notes values(?1, null, ?2) on conflict(verdict) do update set fault = ?2";
                    more += t.execute(sql, &[id.into(), row[13].clone()])?;
                }
                completed += u64::from(more > 0);
            }
            Ok(())
        })?;
        Ok(completed)
    }
}

#[cfg(test)]
mod tests {
    use super::super::states::State;
    use super::super::tests::batch;
    use super::*;
    use crate::programs::store::lease::{Leases, Next};
    use crate::programs::store::{Reduction, Spent};
    use std::path::Path;
    use std::time::Duration;

    fn store(path: &Path, seed: u64, firsts: &[u64]) -> Store {
        let settings = Settings { seed, schedules: vec!["unit".into()], ..Settings::default() };
        let mut store = Store::create(path, &settings, &["a".into(), "b".into()]).unwrap();
        for first in firsts {
            store.save(&batch(*first), Spent { clock: *first as f64, cpu: 2.0 + *first as f64 }).unwrap();
        }
        store
    }

    fn read_all(store: &Store) -> (Vec<(u64, String)>, Vec<String>) {
        let said = |v: crate::programs::store::query::StoredVerdict| {
            format!("{} {:?} {:?}", v.program, v.signature, v.fault)
        };
        (store.all_outcomes().unwrap(), store.verdicts().unwrap().into_iter().map(said).collect())
    }

    #[test]
    fn what_one_has_and_the_other_lacks_is_there_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut a = store(&folder.path().join("a.db"), 1, &[0, 2]);
        let mut b = store(&folder.path().join("b.db"), 1, &[2, 6, 8]);
        let reduction =
            Reduction { signature: Some("s".into()), report: Some("# r".into()), ..Reduction::default() };
        let ids: Vec<i64> = b.verdicts().unwrap().iter().map(|v| v.id).collect();
        b.save_reduction(ids[0], &reduction).unwrap();
        b.save_fault(ids[1], Some("known")).unwrap();
        b.set_state(ids[2], State::Fixed, "15").unwrap();
        let merged = a.merge(&b).unwrap();
        assert_eq!(merged, Merged { programs: 4, both: 2, torn: 0, verdicts: 2, completed: 1 });
        assert_eq!(a.done().unwrap(), BTreeMap::from([(0, 2), (2, 2), (6, 2), (8, 2)]));
        let (_, verdicts) = read_all(&a);
        assert_eq!(verdicts, ["1 None None", "3 Some(\"s\") None", "7 None Some(\"known\")", "9 None None"]);
        let states = a.states().unwrap();
        let fixed = a.verdicts().unwrap().into_iter().find(|v| v.program == 9).unwrap();
        assert_eq!((states.len(), states[&fixed.id].state), (1, State::Fixed));
        // Again, nothing happens; the other way, the same is there.
        let before = (read_all(&a), a.cpu().unwrap());
        assert_eq!(a.merge(&b).unwrap(), Merged { both: 6, ..Merged::default() });
        assert_eq!((read_all(&a), a.cpu().unwrap()), before);
        b.merge(&a).unwrap();
        assert_eq!(read_all(&b).0, read_all(&a).0);
        let mut sorted = [read_all(&a).1, read_all(&b).1];
        sorted.iter_mut().for_each(|v| v.sort());
        assert_eq!(sorted[0], sorted[1]);
        // Into nothing: a copy.
        let copy = Place::from(&folder.path().join("copy.db"));
        let mut copied = open(&copy, &a).unwrap();
        copied.merge(&a).unwrap();
        assert_eq!(read_all(&copied), read_all(&a));
        assert_eq!(copied.coverage().unwrap().len(), a.coverage().unwrap().len());
        // A worker goes on with what is missing.
        drop(copied);
        let (leases, _) = Leases::join(&copy, Duration::from_secs(60)).unwrap();
        assert_eq!(leases.take(2).unwrap(), Next::Programs(4, 2));
        // While it is at work, nothing is merged; and it loses nothing.
        let (mut shared, _) = Store::go_on(copy.clone(), Open::Shared).unwrap();
        let more = store(&folder.path().join("more.db"), 1, &[12]);
        let error = shared.merge(&more).unwrap_err();
        assert!(
            matches!(error, StoreError::AtWork { .. }) && error.to_string().contains("at work"),
            "{error}"
        );
        leases.release().unwrap();
        assert_eq!(shared.merge(&more).unwrap().programs, 2);
        // What there is to do is divided again.
        assert_eq!(leases.take(2).unwrap(), Next::Programs(4, 2));
        assert_eq!(leases.take(2).unwrap(), Next::Programs(10, 2));
        assert_eq!(leases.take(2).unwrap(), Next::Programs(14, 2));
    }

    #[test]
    fn what_waits_to_be_bisected_or_measured_waits_in_the_other_store() {
        use crate::programs::store::lease::{Able, Worked};
        use crate::programs::store::orders::Order;
        let folder = tempfile::tempdir().unwrap();
        let (one, two) = (folder.path().join("a.db"), folder.path().join("b.db"));
        drop(store(&one, 1, &[]));
        let mut into = store(&two, 1, &[4]);
        let place = Place::from(&one);
        let (leases, _) = Leases::join(&place, Duration::from_secs(60)).unwrap();
        let mut from = Store::shared(&place).unwrap();
        assert_eq!(leases.take(2).unwrap(), Next::Programs(0, 2));
        let able = Able::default();
        let worked = Worked { worker: leases.worker(), seconds: 60.0, reduces: true, able: &able };
        let id = from.save_leased(&batch(0), 1.0, &worked).unwrap().unwrap()[0];
        let text = |t: &str| Some(t.to_string());
        let reduction = Reduction {
            signature: text("s"),
            ir: text("rvv-ir 1\n"),
            c: None,
            report: text("# r"),
            bisect: true,
        };
        assert!(from.save_leased_reduction(id, &reduction, leases.worker(), 60.0).unwrap());
        let order = |seed| {
            let settings = Settings { seed, ..Settings::default() };
            Order { settings, seconds: 1.0, cpu: false, jobs: 1, version: "1".to_string() }
        };
        let leases = leases.measuring(|_| true);
        let done = from.order_all(&[order(1)], 0).unwrap()[0].id;
        assert!(matches!(leases.take(2).unwrap(), Next::Measure(id, _) if id == done));
        assert!(from.save_measurement(done, "{}", leases.worker()).unwrap());
        from.order_all(&[order(2)], 0).unwrap();
        into.order_all(&[order(3), order(1)], 0).unwrap();
        into.merge(&from).unwrap();
        into.merge(&from).unwrap();
        let results: Vec<_> = into.order_all(&[order(1), order(2), order(3)], 0).unwrap();
        assert_eq!(results.iter().map(|o| o.result.is_some()).collect::<Vec<_>>(), [true, false, false]);
        let queue = into.queue().unwrap();
        assert_eq!(queue, [("bisect".to_string(), 1, 0), ("measure".to_string(), 2, 0)]);
        drop(into);
        let (leases, _) = Leases::join(&Place::from(&two), Duration::from_secs(60)).unwrap();
        // First what nobody has reduced.
        assert!(leases.take_finding(&|_| true).unwrap().unwrap().reduced.is_none());
        let finding = leases.take_finding(&|_| true).unwrap().unwrap();
        assert_eq!((finding.verdict.program, finding.reduced.is_some()), (1, true));
    }

    #[test]
    fn two_campaigns_stay_two() {
        let folder = tempfile::tempdir().unwrap();
        let mut a = store(&folder.path().join("a.db"), 1, &[0]);
        let b = store(&folder.path().join("b.db"), 2, &[2]);
        let said = a.merge(&b).unwrap_err().to_string();
        assert!(said.contains("`seed` is 1 in one and 2 in the other"), "{said}");
        // A batch of which a part is there cannot be taken in part.
        let c = store(&folder.path().join("c.db"), 1, &[1, 4]);
        assert_eq!(a.merge(&c).unwrap(), Merged { programs: 2, torn: 2, verdicts: 1, ..Merged::default() });
        assert_eq!(a.done().unwrap(), BTreeMap::from([(0, 2), (4, 2)]));
    }
}
