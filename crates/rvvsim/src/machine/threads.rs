//! The threads of a process, or the harts of a bare-metal machine, as a debugger sees them: by ids. They
//! take turns on the one hart that executes.

use super::Machine;
use crate::Hart;

impl Machine {
    /// The ids of all, the one on the hart first. Those of threads are the guest's; hart `n` has `n + 1`.
    #[must_use]
    pub fn thread_ids(&self) -> Vec<u32> {
        let now = self.thread_id();
        let all: Vec<u32> = match (&self.process, &self.harts) {
            (Some(process), _) => process.threads(&self.hart).iter().map(|thread| thread.tid).collect(),
            (None, Some(harts)) => (1..=harts.count() as u32).collect(),
            (None, None) => Vec::new(),
        };
        std::iter::once(now).chain(all.into_iter().filter(|id| *id != now)).collect()
    }

    /// The id of the one on the hart.
    #[must_use]
    pub fn thread_id(&self) -> u32 {
        match &self.process {
            Some(process) => process.thread_on_hart(),
            None => self.hart.number + 1,
        }
    }

    /// Has somebody look at the hart, or change it, as it is when the thread `id` is on it; `None` if there
    /// is no such thread. The turns do not change by that.
    pub fn with_thread<T>(&mut self, id: u32, look: impl FnOnce(&mut Hart) -> T) -> Option<T> {
        if id == self.thread_id() {
            return Some(look(&mut self.hart));
        }
        let reservation = self.hart.reservation;
        let seen = match (&mut self.process, &mut self.harts) {
            (Some(process), _) => process.with_thread(&mut self.hart, id, look),
            (None, Some(harts)) => harts.with_hart(&mut self.hart, id.checked_sub(1)? as usize, look),
            (None, None) => None,
        };
        self.hart.reservation = reservation;
        seen
    }

    /// From now on only these take turns, and one of them is on the hart at once; all, if there are none of
    /// these. One that waits for another waits in vain.
    pub fn only_threads(&mut self, ids: &[u32]) {
        match (&mut self.process, &mut self.harts) {
            (Some(process), _) => process.only_threads(&mut self.hart, ids),
            (None, Some(harts)) => {
                let numbers = ids.iter().filter_map(|id| id.checked_sub(1)).map(|n| n as usize);
                harts.only(&mut self.hart, numbers.collect());
            }
            (None, None) => {}
        }
    }
}
