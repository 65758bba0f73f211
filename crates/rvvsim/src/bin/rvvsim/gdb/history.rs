//! States to go back to. Only a bare-metal machine has any: the files of a process are the host's.

use rvvsim::{Machine, Snapshot};

/// At most so many are kept; then every second one is given up.
const MOST: usize = 32;
/// Instructions between the first ones.
const APART: u64 = 50_000;

/// Snapshots of a run, in order.
pub struct History {
    /// Each with the instructions that had retired.
    kept: Vec<(u64, Snapshot)>,
    apart: u64,
    /// How often it began anew.
    branch: u64,
}

impl History {
    /// Of a machine as it is now; nothing for a process.
    pub fn new(machine: &Machine) -> History {
        let now = machine.instructions_retired();
        History { kept: machine.snapshot().map(|s| (now, s)).into_iter().collect(), apart: APART, branch: 0 }
    }

    /// Whether there is anything to go back to.
    pub fn is_kept(&self) -> bool {
        !self.kept.is_empty()
    }

    /// How many instructions may retire before the next snapshot.
    pub fn room(&self, machine: &Machine) -> u64 {
        let Some((last, _)) = self.kept.last() else { return u64::MAX };
        (last + self.apart).saturating_sub(machine.instructions_retired()).max(1)
    }

    /// Takes a snapshot if it is time.
    pub fn note(&mut self, machine: &Machine) {
        let now = machine.instructions_retired();
        if self.kept.last().is_none_or(|(last, _)| now < last + self.apart) {
            return;
        }
        if self.kept.len() == MOST {
            let mut n = 0;
            self.kept.retain(|_| {
                n += 1;
                n % 2 == 1
            });
            self.apart *= 2;
        }
        self.kept.extend(machine.snapshot().map(|snapshot| (now, snapshot)));
    }

    /// Starts anew from the present: what was changed from outside cannot be done again.
    pub fn forget(&mut self, machine: &Machine) {
        if self.is_kept() {
            let branch = self.branch + 1;
            *self = History { branch, ..History::new(machine) };
        }
    }

    /// Changes when the past is forgotten.
    pub fn branch(&self) -> u64 {
        self.branch
    }

    /// Goes back to the last snapshot that is before instruction `before`; false if there is none.
    pub fn back(&self, machine: &mut Machine, before: u64) -> bool {
        let found = self.kept.iter().rev().find(|(at, _)| *at < before);
        found.is_some_and(|(_, snapshot)| machine.restore(snapshot))
    }
}
