//! What people say of bugs: a state and a note, kept with the verdict that was looked at.

use super::db::values;
use super::{Open, Place, Store, StoreError, lease::number};
use serde::Serialize;
use std::collections::HashMap;

/// What a person has made of a bug.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// Nobody has looked at it.
    #[default]
    New,
    /// It is reported; the note says where.
    Known,
    /// It is fixed; the note says in which version.
    Fixed,
    /// The compiler is right; the note says why.
    NotABug,
}

impl State {
    /// All of them.
    pub const ALL: [State; 4] = [State::New, State::Known, State::Fixed, State::NotABug];

    /// As the store and addresses spell it.
    pub fn word(self) -> &'static str {
        match self {
            State::New => "new",
            State::Known => "known",
            State::Fixed => "fixed",
            State::NotABug => "not-a-bug",
        }
    }

    /// For people.
    pub fn name(self) -> &'static str {
        match self {
            State::New => "new",
            State::Known => "known PR",
            State::Fixed => "fixed in",
            State::NotABug => "not a bug",
        }
    }

    /// The state of this word.
    pub fn from_word(word: &str) -> Option<State> {
        State::ALL.into_iter().find(|s| s.word() == word)
    }
}

/// A state that somebody has set.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// The state.
    pub state: State,
    /// What was said about it.
    pub note: String,
    /// When, in seconds since 1970.
    pub at: f64,
}

/// The longest note, in bytes.
pub const NOTE: usize = 2000;

impl Store {
    /// A campaign's store in which only states are set: nobody who works on it is disturbed.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn annotate(place: impl Into<Place>) -> Result<Store, StoreError> {
        let mut store = Store::writable(place.into(), Open::Beside)?;
        store.migrate()?;
        Ok(store)
    }

    /// Sets the state of the bug that a verdict is of. Control characters of the note become blanks.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set_state(&mut self, verdict: i64, state: State, note: &str) -> Result<(), StoreError> {
        let now = self.db.dialect().now;
        let note: String = note.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.db.transaction(&mut |to| {
            let at: f64 = number(to, &format!("select {now}"))?;
            let query = "insert into states values(?1, ?2, ?3, ?4) on conflict(verdict) do update set \
                         state = excluded.state, note = excluded.note, at = excluded.at";
            to.execute(query, values![verdict, state.word(), super::cut(note.trim(), NOTE), at]).map(|_| ())
        })
    }

    /// The states that were set, by verdict.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn states(&self) -> Result<HashMap<i64, Judgement>, StoreError> {
        if self.format < 4 {
            return Ok(HashMap::new());
        }
        let rows = self.rows("select verdict, state, note, at from states", |r| {
            let state = State::from_word(&r.get::<String>(1)?).unwrap_or_default();
            Ok((r.get(0)?, Judgement { state, note: r.get(2)?, at: r.get(3)? }))
        })?;
        Ok(rows.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::batch;
    use super::*;
    use crate::programs::settings::Settings;
    use crate::programs::store::Spent;

    #[test]
    fn a_state_is_set_while_a_campaign_runs_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.db");
        // The campaign has the file, and goes on writing.
        let mut store = Store::create(&path, &Settings::default(), &["a".into(), "b".into()]).unwrap();
        let id = store.save(&batch(0), Spent::default()).unwrap()[0];
        let mut beside = Store::annotate(&path).unwrap();
        beside.set_state(id, State::Known, "PR 1\u{1b}[31m\n").unwrap();
        beside.set_state(id, State::Fixed, &"ä".repeat(NOTE)).unwrap();
        beside.set_state(id, State::NotABug, " as the manual says\u{7} ").unwrap();
        drop(beside);
        store.save(&batch(2), Spent::default()).unwrap();
        drop(store);
        let (store, _) = Store::resume(&path).unwrap();
        let states = store.states().unwrap();
        assert_eq!((states.len(), states[&id].state), (1, State::NotABug));
        assert_eq!(states[&id].note, "as the manual says");
        assert!(states[&id].at > 1.0e9);
        assert!(Store::annotate(folder.path().join("none.db").as_path()).is_err());
    }
}
