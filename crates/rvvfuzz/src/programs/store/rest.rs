//! Batches that were judged without some of the campaign's compilers, because a machine lacks them: what is
//! left waits in a lease of its own for a machine that has them, and is added to what is there.

use super::db::{Statements, Value, values};
use super::letters::{code, decode};
use super::{BatchRecord, StoreError, insert_many};
use crate::programs::judge::vote::Verdict;

/// The kind of the lease of a batch, or of what is left of it for these compilers.
pub(super) fn lease_kind(rest: Option<&[usize]>) -> String {
    match rest {
        None => "programs".to_string(),
        Some(compilers) => {
            let list: Vec<String> = compilers.iter().map(usize::to_string).collect();
            format!("rest {}", list.join(","))
        }
    }
}

/// The compilers that a lease of this kind is about; `None` if it is no rest.
pub(super) fn compilers(kind: &str) -> Option<Vec<usize>> {
    kind.strip_prefix("rest ")?.split(',').map(|n| n.parse().ok()).collect()
}

/// The letters of both: a testbed is judged once, or both say the same.
fn joined(ours: &str, new: &str, testbeds: usize) -> String {
    let mut ours: Vec<char> = decode(ours, testbeds).chars().collect();
    for (letter, new) in ours.iter_mut().zip(decode(new, testbeds).chars()) {
        if *letter == '-' {
            *letter = new;
        }
    }
    code(&ours.into_iter().collect::<String>())
}

/// Adds the outcomes of a rest to those that are there.
pub(super) fn write(
    to: &mut dyn Statements,
    batch: &BatchRecord,
    programs: &[Vec<Value>],
    details: &[Vec<Value>],
) -> Result<(), StoreError> {
    let testbeds = batch.programs.first().map_or(0, |p| p.outcomes.len());
    for row in programs {
        let [number, Value::Text(letters), ir] = &row[..] else { continue };
        let rows =
            to.query("select outcomes from programs where number = ?1", std::slice::from_ref(number))?;
        let Some(ours) = rows.first().and_then(|r| r.get::<String>(0).ok()) else { continue };
        let sql = "update programs set outcomes = ?1, ir = coalesce(ir, ?2) where number = ?3";
        to.execute(sql, &[joined(&ours, letters, testbeds).into(), ir.clone(), number.clone()])?;
    }
    insert_many(to, "details", details, "on conflict do nothing")?;
    // The direct lowering is judged again with each rest, as the vote needs it; its checks count again.
    let sql = "update batches set seconds = seconds + ?1, checks = checks + ?2 where first = ?3";
    to.execute(sql, values![batch.seconds, batch.checks, batch.first]).map(|_| ())
}

/// Whether the same was said of the program before, by who had other compilers.
pub(super) fn is_there(
    to: &mut dyn Statements,
    program: u64,
    culprit: &str,
    verdict: &Verdict,
) -> Result<bool, StoreError> {
    let sql = "select count(*) from verdicts where program = ?1 and culprit = ?2 and symptom = ?3";
    let rows = to.query(sql, values![program, culprit, verdict.symptom.name()])?;
    Ok(rows.first().and_then(|r| r.get::<i64>(0).ok()).unwrap_or(0) > 0)
}

#[cfg(test)]
mod tests {
    use super::super::lease::{Able, Leases, Next, Worked};
    use super::super::tests::batch;
    use super::super::{Place, Settings, Store};
    use super::*;
    use crate::programs::judge::outcome::Outcome;
    use crate::programs::judge::vote::Culprit;
    use std::time::Duration;

    #[test]
    fn kinds_of_leases_are_read_back() {
        assert_eq!(compilers(&lease_kind(Some(&[1, 12]))), Some(vec![1, 12]));
        assert_eq!(compilers(&lease_kind(None)), None);
        assert_eq!((compilers("rest "), compilers("rest x"), compilers("reduce")), (None, None, None));
        assert_eq!(joined("-.w-", ".-.c", 4), ".2wc");
        assert_eq!(joined("-3w", ".3-", 4), ".3w");
    }

    /// Two machines, one compiler each; testbeds 0 and 1 are theirs.
    #[test]
    fn what_a_machine_lacks_is_done_by_one_that_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let place = Place::from(&folder.path().join("c.db"));
        let settings = Settings { batch: 2, schedules: vec!["unit".into()], ..Settings::default() };
        drop(Store::create(&place, &settings, &["a".into(), "b".into()]).unwrap());
        let minute = Duration::from_secs(60);
        let join = |lacks: &[usize]| {
            Leases::join(&place, minute).unwrap().0.able(Able { all: 2, lacks: lacks.to_vec() })
        };
        let (one, two) = (join(&[1]), join(&[0]));
        let mut store = Store::shared(&place).unwrap();
        let record = |first, at: usize, rest: Option<Vec<usize>>| {
            let mut record = BatchRecord { rest, ..batch(first) };
            for p in &mut record.programs {
                p.outcomes = vec![None, None];
                p.outcomes[at] = Some(Outcome::RuntimeCrash(format!("of {at}")));
                p.verdicts.iter_mut().for_each(|v| v.culprit = Culprit::Compiler(format!("cc {at}")));
            }
            record
        };
        let save = |store: &mut Store, leases: &Leases, record: &BatchRecord| {
            let worked =
                Worked { worker: leases.worker(), seconds: 60.0, reduces: false, able: leases.ability() };
            store.save_leased(record, 1.0, &worked).unwrap()
        };
        assert_eq!(one.take(9).unwrap(), Next::Programs(0, 2));
        assert!(save(&mut store, &one, &record(0, 0, None)).is_some());
        // Nothing is left of it for the first; the second gets that before anything new.
        assert_eq!(one.take(9).unwrap(), Next::Programs(2, 2));
        assert_eq!(two.take(9).unwrap(), Next::Rest(0, 2, vec![1]));
        let rest = record(0, 1, Some(vec![1]));
        assert!(save(&mut store, &two, &rest).is_some());
        assert!(save(&mut store, &two, &rest).is_none(), "stored twice");
        assert_eq!(store.all_outcomes().unwrap(), [(0, "cc".to_string()), (1, "cc".to_string())]);
        let said: Vec<String> = store.details(1).unwrap().into_iter().map(|(_, text)| text).collect();
        assert_eq!(said, ["of 0", "of 1"]);
        let verdicts = store.verdicts().unwrap();
        assert_eq!(verdicts.iter().map(|v| v.culprit.as_str()).collect::<Vec<_>>(), ["cc 0", "cc 1"]);
        let stored = store.batches().unwrap();
        assert_eq!((stored.len(), stored[0].programs, stored[0].checks, stored[0].pairs), (1, 2, 80, 4));
        // What the other kind of machine found is reduced by one that can.
        assert_eq!(one.take_finding(&|v| v.culprit == "cc 0").unwrap().unwrap().verdict.culprit, "cc 0");
        assert!(one.take_finding(&|v| v.culprit == "cc 0").unwrap().is_none());
        assert_eq!(two.take_finding(&|v| v.culprit == "cc 1").unwrap().unwrap().verdict.culprit, "cc 1");
        // The campaign ends for who can do nothing more of it.
        drop(store);
        let (mut ends, _) = Leases::join(&place, minute).unwrap();
        ends.end_at(4).unwrap();
        let mut store = Store::shared(&place).unwrap();
        assert_eq!(one.take(9).unwrap(), Next::Wait);
        save(&mut store, &one, &record(2, 0, None)).unwrap();
        assert_eq!(one.take(9).unwrap(), Next::End);
        assert_eq!(two.take(9).unwrap(), Next::Rest(2, 2, vec![1]));
        // A file that goes on alone keeps what waits for others.
        two.release().unwrap();
        drop((store, one, two, ends));
        drop(Store::resume(&place).unwrap());
        let (two, _) = Leases::join(&place, minute).unwrap();
        let two = two.able(Able { all: 2, lacks: vec![0] });
        assert_eq!(two.take(9).unwrap(), Next::Rest(2, 2, vec![1]));
    }
}
