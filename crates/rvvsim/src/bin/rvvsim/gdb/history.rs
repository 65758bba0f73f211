//! States to go back to: snapshots of a run, fewer and farther apart as it gets longer.

use rvvsim::{Machine, Snapshot};

/// At most so many are kept; then every second one is given up.
const MOST: usize = 32;
/// Bytes that they may take together, with the same consequence.
const MOST_BYTES: usize = 1 << 30;
/// Steps between the first ones.
const APART: u64 = 50_000;

/// Snapshots of a run, in order.
pub struct History {
    /// Each with the steps until then.
    kept: Vec<(u64, Snapshot)>,
    apart: u64,
    /// How often it began anew.
    branch: u64,
    /// Bytes of them, at most.
    bytes: usize,
}

impl History {
    /// Of a machine as it is now.
    pub fn new(machine: &Machine) -> History {
        let mut history = History { kept: Vec::new(), apart: APART, branch: 0, bytes: 0 };
        history.note(machine);
        history
    }

    /// How many steps there may be before the next snapshot.
    pub fn room(&self, machine: &Machine) -> u64 {
        let Some((last, _)) = self.kept.last() else { return u64::MAX };
        (last + self.apart).saturating_sub(machine.steps()).max(1)
    }

    /// Takes a snapshot if it is time, or if none is left that can be returned to.
    pub fn note(&mut self, machine: &Machine) {
        let now = machine.steps();
        // The oldest goes first.
        if self.kept.first().is_some_and(|(_, snapshot)| !machine.can_restore(snapshot)) {
            self.kept.retain(|(_, snapshot)| machine.can_restore(snapshot));
        }
        let last = self.kept.last();
        if !machine.has_past() || last.is_some_and(|(last, _)| now < last + self.apart) {
            return;
        }
        let Some(snapshot) = machine.snapshot_like(last.map(|(_, snapshot)| snapshot)) else { return };
        self.bytes += snapshot.own_bytes();
        self.kept.push((now, snapshot));
        if self.kept.len() > MOST {
            self.thin();
        }
        while self.bytes > MOST_BYTES {
            // What was shared with those that are gone belongs to the others now.
            self.bytes = Snapshot::bytes(self.kept.iter().map(|(_, snapshot)| snapshot));
            match self.kept.len() {
                _ if self.bytes <= MOST_BYTES => {}
                0 | 1 => break,
                2 => drop(self.kept.remove(0)),
                _ => self.thin(),
            }
        }
    }

    /// Gives up every second one.
    fn thin(&mut self) {
        let mut n = 0;
        self.kept.retain(|_| {
            n += 1;
            n % 2 == 1
        });
        self.apart *= 2;
    }

    /// Starts anew from the present: what was changed from outside cannot be done again.
    pub fn forget(&mut self, machine: &mut Machine) {
        if machine.has_past() && machine.forget_past() {
            let branch = self.branch + 1;
            *self = History { branch, ..History::new(machine) };
        }
    }

    /// Changes when the past is forgotten.
    pub fn branch(&self) -> u64 {
        self.branch
    }

    /// How many steps there were before what one can go back to.
    pub fn first(&self, machine: &Machine) -> Option<u64> {
        self.kept.iter().find(|(_, snapshot)| machine.can_restore(snapshot)).map(|(at, _)| *at)
    }

    /// Goes back to the last snapshot that is before step `before`; false if there is none.
    pub fn back(&self, machine: &mut Machine, before: u64) -> bool {
        self.kept.iter().rev().any(|(at, snapshot)| *at < before && machine.restore(snapshot))
    }
}
