//! The corpus of a campaign with feedback, as rows.
//!
//! Its tables are made when the first row is written. They belong to no format: a version that does not know
//! them leaves them alone, and a campaign without feedback does not have them.

use super::db::{Statements, Value, insert_many, values};
use super::{Store, StoreError, save_meta};
use crate::programs::corpus::{Corpus, Entry, Limits};
use crate::programs::feedback::Rows;

/// Entries as JSON. Features as the 64 bits of their numbers, and how many programs had each.
const TABLES: &str = "
create table if not exists corpus(id integer primary key, entry text not null);
create table if not exists corpus_features(feature integer primary key, programs integer not null);
";

/// The note that says that the tables are there.
const NOTE: &str = "corpus";

/// Writes what has changed.
pub(super) fn write(to: &mut dyn Statements, rows: &Rows) -> Result<(), StoreError> {
    if rows.is_empty() {
        return Ok(());
    }
    if to.query("select value from meta where key = ?1", values![NOTE])?.is_empty() {
        to.script(TABLES)?;
        save_meta(to, NOTE, "1")?;
    }
    for id in &rows.gone {
        to.execute("delete from corpus where id = ?1", values![*id])?;
    }
    let entries: Vec<Vec<Value>> =
        rows.entries.iter().map(|(id, entry)| vec![(*id).into(), entry.into()]).collect();
    insert_many(to, "corpus", &entries, "on conflict(id) do update set entry = excluded.entry")?;
    let seen: Vec<Vec<Value>> =
        rows.seen.iter().map(|(f, n)| vec![f.cast_signed().into(), (*n).into()]).collect();
    let end = "on conflict(feature) do update set programs = excluded.programs";
    insert_many(to, "corpus_features", &seen, end)
}

impl Store {
    /// The corpus; an empty one if there is none. Entries that cannot be read are left out: the corpus
    /// decides what is tried next, and no outcome.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn corpus(&self, limits: Limits) -> Result<Corpus, StoreError> {
        if self.meta(NOTE)?.is_none() {
            return Ok(Corpus::new(limits));
        }
        let most = limits.features;
        let seen = format!("select feature, programs from corpus_features order by feature limit {most}");
        let seen = self.rows(&seen, |r| Ok((r.get::<i64>(0)?.cast_unsigned(), r.get::<u64>(1)?)))?;
        let entries = format!("select entry from corpus order by id limit {}", limits.entries);
        let entries: Vec<String> = self.rows(&entries, |r| r.get(0))?;
        let entries = entries.iter().filter_map(|text| serde_json::from_str::<Entry>(text).ok());
        Ok(Corpus::restore(limits, entries, seen))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::corpus::Candidate;
    use crate::programs::feedback::Feedback;
    use crate::programs::settings::Settings;
    use crate::programs::store::tests::batch;
    use crate::programs::store::{BatchRecord, Spent};

    fn candidate(number: u64, features: &[u64]) -> Candidate {
        let ir = format!("rvv-ir 1\n# {number}\n\nmain {{\n}}\n");
        Candidate { number, ir, features: features.iter().copied().collect(), ..Candidate::default() }
    }

    #[test]
    fn a_corpus_is_stored_with_its_batch_and_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.db");
        let mut store = Store::create(&*path, &Settings::default(), &["a".into(), "b".into()]).unwrap();
        assert!(store.corpus(Limits::default()).unwrap().is_empty());
        let feedback = Feedback::new(1, 0.5, None).unwrap();
        // The highest bit is as good as any.
        for (first, features) in [(0, vec![1, 2, 1 << 63]), (2, vec![2, u64::MAX]), (4, vec![1])] {
            let corpus = feedback.learn(&[candidate(first, &features)], |rows| rows);
            let batch = BatchRecord { corpus, ..batch(first) };
            store.save(&batch, Spent::default()).unwrap();
        }
        drop(store);
        let (store, _) = Store::resume(&*path).unwrap();
        let corpus = store.corpus(Limits::default()).unwrap();
        let kept: Vec<u64> = corpus.entries().map(|e| e.program.number).collect();
        assert_eq!(kept, [0, 2]);
        assert_eq!((corpus.seen().get(&1), corpus.seen().get(&u64::MAX)), (Some(&2), Some(&1)));
        drop(store);
        // Whoever does not know the tables leaves them alone.
        assert_eq!(Store::read(&*path).unwrap().corpus(Limits::default()).unwrap().len(), 2);
        // Entries that are none are left out.
        let db = rusqlite::Connection::open(&path).unwrap();
        db.execute("update corpus set entry = 'nothing' where id = 1", []).unwrap();
        drop(db);
        assert_eq!(Store::read(&*path).unwrap().corpus(Limits::default()).unwrap().len(), 1);
    }
}
