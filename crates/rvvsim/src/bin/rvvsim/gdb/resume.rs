//! What gdb asks a stopped program to do.

use super::target::Debuggee;
use gdbstub::common::{Signal, Tid};
use gdbstub::target::ext::base::multithread::{
    MultiThreadResume, MultiThreadSchedulerLocking, MultiThreadSchedulerLockingOps, MultiThreadSingleStep,
    MultiThreadSingleStepOps,
};
use gdbstub::target::ext::base::reverse_exec::{ReverseCont, ReverseContOps, ReverseStep, ReverseStepOps};
use std::convert::Infallible;

/// What gdb asked for last.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Forwards.
    Go {
        /// Until this thread has executed an instruction.
        step: Option<u32>,
        /// The threads that are named.
        named: Vec<u32>,
        /// Only those run.
        locked: bool,
    },
    /// One instruction of this thread back.
    BackOne { thread: u32 },
    /// Back to what was met last.
    Back,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan::Go { step: None, named: Vec::new(), locked: false }
    }
}

impl Plan {
    /// Whether some threads are not to run.
    pub fn holds_threads(&self) -> bool {
        matches!(self, Plan::Go { locked: true, .. })
    }
}

impl Debuggee<'_> {
    /// The thread that gdb means. One that has not chosen any means the one on the hart.
    pub fn thread(&self, tid: Tid) -> Option<u32> {
        let id = u32::try_from(tid.get()).ok()?;
        if self.machine.thread_ids().contains(&id) {
            return Some(id);
        }
        (tid == Tid::MIN).then(|| self.machine.thread_id())
    }

    fn names(&mut self, tid: Tid, steps: bool) {
        let thread = self.thread(tid);
        if let (Some(thread), Plan::Go { step, named, .. }) = (thread, &mut self.plan) {
            named.push(thread);
            if steps {
                *step = Some(thread);
            }
        }
    }
}

impl MultiThreadResume for Debuggee<'_> {
    fn resume(&mut self) -> Result<(), Infallible> {
        let Plan::Go { step, named, locked: true } = &self.plan else { return Ok(()) };
        let harts = self.machine.process().is_none();
        if harts && named.len() == 1 && *step == Some(self.machine.thread_id()) {
            // The next instruction is this hart's in any case: its turn need not change for that.
            return Ok(());
        }
        self.machine.only_threads(named);
        if self.machine.thread_ids().len() > 1 {
            // Turns that gdb changes are not taken again like that.
            self.history.forget(self.machine);
        }
        Ok(())
    }

    fn clear_resume_actions(&mut self) -> Result<(), Infallible> {
        self.plan = Plan::default();
        Ok(())
    }

    fn set_resume_action_continue(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.names(tid, false);
        Ok(())
    }

    fn support_single_step(&mut self) -> Option<MultiThreadSingleStepOps<'_, Self>> {
        Some(self)
    }

    fn support_scheduler_locking(&mut self) -> Option<MultiThreadSchedulerLockingOps<'_, Self>> {
        Some(self)
    }

    fn support_reverse_step(&mut self) -> Option<ReverseStepOps<'_, Tid, Self>> {
        if self.machine.has_past() { Some(self) } else { None }
    }

    fn support_reverse_cont(&mut self) -> Option<ReverseContOps<'_, Tid, Self>> {
        if self.machine.has_past() { Some(self) } else { None }
    }
}

impl MultiThreadSingleStep for Debuggee<'_> {
    fn set_resume_action_step(&mut self, tid: Tid, _: Option<Signal>) -> Result<(), Infallible> {
        self.names(tid, true);
        Ok(())
    }
}

impl MultiThreadSchedulerLocking for Debuggee<'_> {
    fn set_resume_action_scheduler_lock(&mut self) -> Result<(), Infallible> {
        if let Plan::Go { locked, .. } = &mut self.plan {
            *locked = true;
        }
        Ok(())
    }
}

impl ReverseStep<Tid> for Debuggee<'_> {
    fn reverse_step(&mut self, tid: Tid) -> Result<(), Infallible> {
        let thread = self.thread(tid).unwrap_or_else(|| self.machine.thread_id());
        self.plan = Plan::BackOne { thread };
        Ok(())
    }
}

impl ReverseCont<Tid> for Debuggee<'_> {
    fn reverse_cont(&mut self) -> Result<(), Infallible> {
        self.plan = Plan::Back;
        Ok(())
    }
}
