//! Runs that somebody looks at, instruction by instruction: traces, the sanitizer, observers.

use super::{Machine, Outcome, SLICE};
use crate::engine::Stop;
use crate::observe::{self, Observer};
use crate::sanitize::{Agnostic, Sanitizer};
use crate::trace::Encoder;
use crate::trap::{Cause, Trap};
use std::time::Instant;

/// The form of a trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TraceFormat {
    /// Behind each vector register, which of its bits are not agnostic, where some are; and registers that
    /// are agnostic as a whole, which Spike does not show.
    pub validity: bool,
    /// In few bytes instead of lines; [`trace::Decoder`](crate::trace::Decoder) reads them.
    pub binary: bool,
}

impl Machine {
    /// Runs as [`Machine::run`] does, one instruction at a time, with a line for each in Spike's
    /// `--log-commits` format.
    ///
    /// # Errors
    /// Those of writing to `out`.
    pub fn run_traced(
        &mut self,
        deadline: Option<Instant>,
        out: &mut dyn std::io::Write,
    ) -> std::io::Result<Outcome> {
        self.run_traced_as(deadline, out, TraceFormat::default())
    }

    /// The same, in another form.
    ///
    /// # Errors
    /// Those of writing to `out`.
    pub fn run_traced_as(
        &mut self,
        deadline: Option<Instant>,
        out: &mut dyn std::io::Write,
        format: TraceFormat,
    ) -> std::io::Result<Outcome> {
        let outcome = self.trace_to_end(deadline, out, format)?;
        if self.process.as_ref().is_some_and(|process| process.is_child()) {
            out.flush()?;
        }
        self.end_child(&outcome);
        Ok(outcome)
    }

    fn trace_to_end(
        &mut self,
        deadline: Option<Instant>,
        out: &mut dyn std::io::Write,
        format: TraceFormat,
    ) -> std::io::Result<Outcome> {
        let (mut line, mut record) = (String::new(), Vec::new());
        let mut agnostic = format.validity.then(|| Agnostic::new(&self.hart));
        let mut encoder = format.binary.then(|| Encoder::new(self.hart.v.vlenb, &mut record));
        self.set_deadline(deadline);
        self.hart.flush_tlb();
        self.hart.log = Some(Box::default());
        loop {
            match self.instruction_limit() {
                Ok(limit) if self.hart.instret >= limit => return Ok(Outcome::OutOfInstructions),
                Ok(_) => {}
                Err(outcome) => return Ok(outcome),
            }
            // A call that waits is made again and again, and no instruction retires.
            if deadline.is_some_and(|d| Instant::now() >= d) {
                return Ok(Outcome::TimedOut);
            }
            let (stop, commit) =
                crate::trace::step_commit(&mut self.engine, &mut self.hart, agnostic.as_mut());
            match (&commit, &mut encoder) {
                (Some(commit), Some(encoder)) => encoder.encode(commit, &mut record),
                (Some(commit), None) => commit.text(&mut line),
                (None, _) => {}
            }
            out.write_all(line.as_bytes())?;
            out.write_all(&record)?;
            line.clear();
            record.clear();
            if matches!(stop, Stop::Trap(Trap { cause: Cause::EcallFromU, .. })) {
                // It may be a fork: what is buffered must not be written by both.
                out.flush()?;
            }
            if let Some(outcome) = self.handle(stop) {
                return Ok(outcome);
            }
        }
    }

    /// Runs as [`Machine::run`] does, one instruction at a time, while `sanitizer` follows undefined values.
    /// Ends with `None` at a finding, if it is to end there. Children of a guest that forks do return from
    /// here, and end with [`Machine::end_child`].
    pub fn run_sanitized(
        &mut self,
        mut deadline: Option<Instant>,
        sanitizer: &mut Sanitizer,
    ) -> Option<Outcome> {
        self.set_deadline(deadline);
        sanitizer.notice_thread(&self.hart);
        loop {
            let slice = match self.next_slice(&mut deadline, SLICE / 10) {
                Ok(slice) => slice,
                Err(outcome) => return Some(outcome),
            };
            let stop = self.engine.run_each(&mut self.hart, slice, sanitizer);
            if sanitizer.is_over() {
                return None;
            }
            let calls = matches!(stop, Stop::Trap(Trap { cause: Cause::EcallFromU, .. }));
            if calls {
                sanitizer.before_call(&mut self.hart);
                if sanitizer.is_over() {
                    return None;
                }
            }
            let programs = self.programs;
            if let Some(outcome) = self.handle(stop) {
                return Some(outcome);
            }
            if programs != self.programs {
                sanitizer.start_again(&self.hart);
            } else if calls {
                sanitizer.after_call(&mut self.hart);
            } else {
                sanitizer.after_turn(&mut self.hart);
            }
        }
    }

    /// Runs as [`Machine::run`] does, on the interpreter, while `observer` is told of what happens; see
    /// [`observe`]. `None` if the observer has seen enough. Children of a guest that forks
    /// have a copy of the observer, and never return from here.
    pub fn run_observed(
        &mut self,
        mut deadline: Option<Instant>,
        observer: &mut impl Observer,
    ) -> Option<Outcome> {
        self.set_deadline(deadline);
        let mut watching = observe::Watching::new(observer, &mut self.hart);
        let outcome = loop {
            let slice = match self.next_slice(&mut deadline, SLICE / 10) {
                Ok(slice) => slice,
                Err(outcome) => break Some(outcome),
            };
            let stop = self.engine.run_each(&mut self.hart, slice, &mut watching);
            if watching.observer.is_done() {
                break None;
            }
            let call = match stop {
                Stop::Trap(Trap { cause: Cause::EcallFromU, .. }) => Some(observe::call_of(&self.hart)),
                _ => None,
            };
            if let Some(call) = &call {
                watching.observer.system_call(&self.hart, call);
            }
            let (thread, programs, pc) = (self.hart.number, self.programs, self.hart.pc);
            if let Some(outcome) = self.handle(stop) {
                break Some(outcome);
            }
            // One that waits is made again.
            let same = thread == self.hart.number && programs == self.programs && pc != self.hart.pc;
            if let Some(call) = call.filter(|_| same) {
                watching.observer.system_return(&self.hart, &call, self.hart.x[10]);
            }
        };
        watching.finish(&mut self.hart);
        if let Some(outcome) = &outcome {
            self.end_child(outcome);
        }
        outcome
    }
}
