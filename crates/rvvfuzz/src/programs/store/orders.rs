//! Measurements that somebody orders, and workers do.

use super::db::{Statements, Value, insert_many, values};
use super::lease::{LEASES, lease, priority};
use super::{Settings, Store, StoreError};
use serde::{Deserialize, Serialize};

/// A campaign of its own, which is measured: how soon it finds known faults.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// Its settings: one compiler besides the direct lowering.
    pub settings: Settings,
    /// How long it takes.
    pub seconds: f64,
    /// Whether that is CPU time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cpu: bool,
    /// Worker threads.
    pub jobs: u16,
    /// The version of rvvfuzz that ordered it.
    pub version: String,
}

impl Order {
    /// The same for two that ask the same.
    fn key(text: &str) -> String {
        let hash = text.bytes().fold(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128, |hash, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        });
        format!("{hash:032x}")
    }
}

/// What has become of an order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// Its number.
    pub id: i64,
    /// What was measured, as JSON; nothing until it is done.
    pub result: Option<String>,
}

impl Store {
    /// Orders measurements that were not ordered before, and says what has become of each. They are done
    /// before others of less priority.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn order_all(&mut self, orders: &[Order], more: i64) -> Result<Vec<Ordered>, StoreError> {
        let mut all = Vec::new();
        self.db.transaction(&mut |to| {
            all.clear();
            for order in orders {
                let asked = serde_json::to_string(order).unwrap_or_default();
                let key = Order::key(&asked);
                let sql = "insert into measurements(key, asked) values(?1, ?2) on conflict do nothing";
                let is_new = to.execute(sql, values![&key, asked])? > 0;
                let rows = to.query("select id, result from measurements where key = ?1", values![&key])?;
                let row = rows.first().map(|r| Ok(Ordered { id: r.get(0)?, result: r.get(1)? }));
                let row: Result<Option<Ordered>, super::db::Misfit> = row.transpose();
                let Ok(Some(ordered)) = row else { continue };
                if is_new {
                    let priority = priority::MEASURE.saturating_add(more);
                    let row = lease("measure", (ordered.id, 1), ("", 0.0), priority);
                    insert_many(to, LEASES, &[row], "on conflict do nothing")?;
                }
                all.push(ordered);
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// What a measurement is about.
    pub(super) fn order(&self, id: i64) -> Result<Option<Order>, StoreError> {
        let rows = self.db.query("select asked from measurements where id = ?1", values![id])?;
        let asked: Option<String> = rows.first().and_then(|r| r.get(0).ok());
        let order: Option<Order> = asked.and_then(|text| serde_json::from_str(&text).ok());
        Ok(order.filter(|o| o.seconds.is_finite() && (0.0..=3.2e7).contains(&o.seconds) && o.jobs > 0))
    }

    /// Stores what was measured, if it is still this worker's; whether it was.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn save_measurement(&mut self, id: i64, result: &str, worker: &str) -> Result<bool, StoreError> {
        let (mut saved, mut again) = (false, false);
        self.db.transaction(&mut |to| {
            let sql = "delete from leases where kind = 'measure' and first = ?1 and worker = ?2";
            if to.execute(sql, values![id, worker])? == 0 {
                // The first time may have been the time.
                saved = again && result_of(to, id)?.as_deref() == Some(result);
                return Ok(());
            }
            (saved, again) = (true, true);
            to.execute("update measurements set result = ?1 where id = ?2", values![result, id]).map(|_| ())
        })?;
        Ok(saved)
    }

    /// Adds the measurements of another store; what is not done yet waits here, too.
    pub(super) fn merge_measurements(&mut self, other: &Store) -> Result<(), StoreError> {
        if other.format < 5 {
            return Ok(());
        }
        let rows = other.db.query("select key, asked, result from measurements order by id", &[])?;
        let rows: Vec<Vec<Value>> = rows.into_iter().map(|r| r.0).collect();
        self.db.transaction(&mut |to| {
            for row in &rows {
                let sql = "insert into measurements(key, asked, result) values(?1, ?2, ?3) on conflict(key) do update set \
                           result = coalesce(measurements.result, excluded.result) returning id, result";
                let found = to.query(sql, row)?;
                let Some(Ok(id)) = found.first().map(|r| r.get::<i64>(0)) else { continue };
                if found.first().is_some_and(|r| matches!(r.get::<Option<String>>(1), Ok(Some(_)))) {
                    to.execute("delete from leases where kind = 'measure' and first = ?1", values![id])?;
                } else {
                    let row = lease("measure", (id, 1), ("", 0.0), priority::MEASURE);
                    insert_many(to, LEASES, &[row], "on conflict do nothing")?;
                }
            }
            Ok(())
        })
    }
}

fn result_of(to: &mut dyn Statements, id: i64) -> Result<Option<String>, StoreError> {
    let rows = to.query("select result from measurements where id = ?1", values![id])?;
    Ok(rows.first().and_then(|r| r.get(0).ok()))
}
