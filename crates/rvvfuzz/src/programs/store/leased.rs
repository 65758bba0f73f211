//! What comes of leases, stored by whoever still has them.

use super::db::{Statements, insert_many, values};
use super::lease::{Able, LEASES, Worker, lease, number, priority};
use super::{BatchRecord, Open, Place, Reduction, Store, StoreError, rest, save_meta, write, write_costs};

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
        let (mut saved, mut again) = (None, false);
        self.db.transaction(&mut |to| {
            saved = None;
            let kind = rest::lease_kind(batch.rest.as_deref());
            let sql = "delete from leases where kind = ?1 and first = ?2 and count = ?3 and worker = ?4";
            if to.execute(sql, values![kind, batch.first, batch.count, leases.worker])? == 0 {
                if again {
                    saved = stored_before(to, batch)?;
                }
                return Ok(());
            }
            again = true;
            let left = leases.able.left(batch.rest.as_deref());
            if !left.is_empty() {
                let kind = rest::lease_kind(Some(&left));
                let row = lease(&kind, (batch.first, batch.count), ("", 0.0), priority::REST);
                insert_many(to, LEASES, &[row], "")?;
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
            let rows: Vec<_> =
                reduced.map(|(id, _)| lease("reduce", (*id, 1), (worker, until), priority::REDUCE)).collect();
            insert_many(to, LEASES, &rows, "")?;
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
    /// Whether it is this worker's to bisect now: the pass at fault is looked for once for all verdicts of a
    /// signature.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_leased_reduction(
        &mut self,
        verdict: i64,
        reduction: &Reduction,
        worker: &str,
        seconds: f64,
    ) -> Result<bool, StoreError> {
        let Reduction { signature, ir, c, report, bisect } = reduction;
        let now = self.db.dialect().now;
        let (mut to_bisect, mut again) = (false, false);
        self.db.transaction(&mut |to| {
            let sql = "delete from leases where kind = 'reduce' and first = ?1 and worker = ?2";
            if to.execute(sql, values![verdict, worker])? == 0 {
                if again {
                    let sql = "select count(*) from leases where kind = 'bisect' and first = ?1 and worker = ?2";
                    let rows = to.query(sql, values![verdict, worker])?;
                    to_bisect = rows.first().and_then(|r| r.get::<i64>(0).ok()).unwrap_or(0) > 0;
                }
                return Ok(());
            }
            again = true;
            let sql = "select count(*) from verdicts where signature = ?1 and report_md is not null and id <> ?2";
            let rows = to.query(sql, values![signature.as_ref(), verdict])?;
            let first = rows.first().and_then(|r| r.get::<i64>(0).ok()) == Some(0);
            to.execute(
                "update verdicts set signature = ?1, reduced_ir = ?2, reduced_c = ?3, report_md = ?4 where id = ?5",
                values![signature.as_ref(), ir.as_ref(), c.as_ref(), report.as_ref(), verdict],
            )?;
            to_bisect = *bisect && first && ir.is_some();
            if to_bisect {
                let until = number::<f64>(to, &format!("select {now}"))? + seconds;
                let row = lease("bisect", (verdict, 1), (worker, until), priority::BISECT);
                insert_many(to, LEASES, &[row], "on conflict do nothing")?;
            }
            Ok(())
        })?;
        Ok(to_bisect)
    }

    /// Stores the report with the pass at fault, if it is still this worker's to find; without one, nothing
    /// was found, and nobody looks again.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_leased_bisection(
        &mut self,
        verdict: i64,
        report: Option<&str>,
        worker: &str,
    ) -> Result<(), StoreError> {
        self.db.transaction(&mut |to| {
            let sql = "delete from leases where kind = 'bisect' and first = ?1 and worker = ?2";
            if to.execute(sql, values![verdict, worker])? > 0 && report.is_some() {
                to.execute("update verdicts set report_md = ?1 where id = ?2", values![report, verdict])?;
            }
            Ok(())
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

    /// What waits in a shared campaign, and what somebody is at work on: kind, and how many of each.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn queue(&self) -> Result<Vec<(String, u64, u64)>, StoreError> {
        if self.format < 3 {
            return Ok(Vec::new());
        }
        let now = self.db.dialect().now;
        let kind = "case when kind > 'rest ' and kind < 'rest~' then 'rest' else kind end";
        let sql = format!(
            "select {kind}, sum(case when until < {now} then 1 else 0 end), sum(case when until < {now} then 0 else 1 end) \
             from leases group by 1 order by 1"
        );
        self.rows(&sql, |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
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

/// The verdicts of a batch that this worker has stored, and was not told so: the connection was lost. Its
/// time says that it is this one, and nobody else's of the same programs.
fn stored_before(to: &mut dyn Statements, batch: &BatchRecord) -> Result<Option<Vec<i64>>, StoreError> {
    let sql = "select count(*) from batches where first = ?1 and count = ?2 and seconds = ?3 and checks = ?4";
    let rows = to.query(sql, values![batch.first, batch.count, batch.seconds, batch.checks])?;
    if batch.rest.is_some() || rows.first().and_then(|r| r.get::<i64>(0).ok()) != Some(1) {
        return Ok(None);
    }
    let mut ids = Vec::new();
    for p in batch.programs.iter().filter(|p| !p.verdicts.is_empty()) {
        let rows = to.query("select id from verdicts where program = ?1 order by id", values![p.number])?;
        let found: Vec<i64> = rows.iter().filter_map(|r| r.get(0).ok()).collect();
        ids.extend((0..p.verdicts.len()).map(|n| found.get(n).copied().unwrap_or(0)));
    }
    Ok(Some(ids))
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
