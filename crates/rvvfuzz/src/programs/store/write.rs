//! How batches become rows.

use super::db::{Statements, Value, insert_many, values};
use super::letters::code;
use super::{BatchRecord, DETAIL, Outcome, StoreError, culprit, letter, rest};

pub(super) fn save_meta(to: &mut dyn Statements, key: &str, value: &str) -> Result<(), StoreError> {
    let query = "insert into meta values(?1, ?2) on conflict(key) do update set value = excluded.value";
    to.execute(query, values![key, value]).map(|_| ())
}

pub(super) fn write_broken(to: &mut dyn Statements, broken: &[(String, String)]) -> Result<(), StoreError> {
    for (testbed, why) in broken {
        let query = "insert into broken values(?1, ?2) on conflict(testbed) do update set why = excluded.why";
        to.execute(query, values![testbed, cut(why, DETAIL)])?;
    }
    Ok(())
}

/// The rows of a batch's programs: number, letters, text; and what there is to say of their outcomes. What
/// the last testbed said is not said again, unless others will come in between (`whole` is false).
fn program_rows(batch: &BatchRecord, whole: bool) -> (Vec<Vec<Value>>, Vec<Vec<Value>>) {
    let (mut programs, mut details): (Vec<Vec<Value>>, Vec<Vec<Value>>) = (Vec::new(), Vec::new());
    for p in &batch.programs {
        let letters: String = p.outcomes.iter().map(|o| letter(o.as_ref().map(Outcome::kind))).collect();
        programs.push(vec![p.number.into(), code(&letters).into(), p.ir.as_ref().into()]);
        let mut last: Option<&Outcome> = None;
        for (testbed, outcome) in p.outcomes.iter().enumerate() {
            let Some(outcome) = outcome.as_ref().filter(|o| **o != Outcome::Pass) else { continue };
            let text = outcome.detail();
            let said = whole && last == Some(outcome);
            if !said && !text.is_empty() {
                details.push(vec![p.number.into(), testbed.into(), cut(&text, DETAIL).into()]);
            }
            last = Some(outcome);
        }
    }
    (programs, details)
}

/// Writes all of a batch but what it cost, at this time of the campaign. Returns the verdicts' numbers.
pub(super) fn write(
    to: &mut dyn Statements,
    batch: &BatchRecord,
    calls: &[&(&'static str, bool, u64)],
    at: f64,
    whole: bool,
) -> Result<Vec<i64>, StoreError> {
    let BatchRecord { first, count, seconds, operations, checks, .. } = batch;
    let (programs, details) = program_rows(batch, whole);
    if batch.rest.is_some() {
        rest::write(to, batch, &programs, &details)?;
    } else {
        to.execute(
            "insert into batches values(?1, ?2, ?3, ?4, ?5, ?6)",
            values![*first, *count, at, *seconds, *operations, *checks],
        )?;
        insert_many(to, "programs", &programs, "")?;
        insert_many(to, "details", &details, "")?;
    }
    let mut ids = Vec::new();
    for (p, v) in batch.programs.iter().flat_map(|p| p.verdicts.iter().map(move |v| (p, v))) {
        let (kind, who) = culprit(&v.culprit);
        if batch.rest.is_some() && rest::is_there(to, p.number, &who, v)? {
            ids.push(0);
            continue;
        }
        let testbeds = serde_json::to_string(&v.testbeds).unwrap_or_default();
        let rows = to.query(
            "insert into verdicts(program, culprit_kind, culprit, symptom, testbeds, axes, detail) \
             values(?1, ?2, ?3, ?4, ?5, ?6, ?7) returning id",
            values![
                p.number,
                kind,
                who,
                v.symptom.name(),
                testbeds,
                v.axes.join(", "),
                cut(&v.detail, DETAIL)
            ],
        )?;
        let id: i64 = rows.first().and_then(|r| r.get(0).ok()).unwrap_or(0);
        let early = v.early.as_deref().map(|early| cut(early, DETAIL));
        to.execute("insert into notes values(?1, ?2, ?3)", values![id, early, v.fault.as_ref()])?;
        ids.push(id);
    }
    let row = |(name, overloaded, number): &&(&'static str, bool, u64)| -> Vec<Value> {
        vec![(*name).into(), (*overloaded).into(), (*number).into(), at.into()]
    };
    let calls: Vec<Vec<Value>> = calls.iter().map(row).collect();
    insert_many(to, "coverage", &calls, "on conflict do nothing")?;
    let row = |(build, run, seconds): &(usize, Option<usize>, f64)| -> Vec<Value> {
        vec![(*first).into(), (*build).into(), (*run).into(), (*seconds).into()]
    };
    let timings: Vec<Vec<Value>> = batch.timings.iter().map(row).collect();
    insert_many(to, "timings", &timings, "")?;
    write_broken(to, &batch.broken)?;
    Ok(ids)
}

/// Writes what a batch cost; `cpu` is the campaign's CPU time so far.
pub(super) fn write_costs(to: &mut dyn Statements, batch: &BatchRecord, cpu: f64) -> Result<(), StoreError> {
    let query = "insert into costs values(?1, ?2, ?3) on conflict(first) do update set pairs = costs.pairs + excluded.pairs";
    to.execute(query, values![batch.first, batch.pairs, cpu])?;
    save_meta(to, "cpu", &cpu.to_string())
}

/// The first part of a text.
pub(super) fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
