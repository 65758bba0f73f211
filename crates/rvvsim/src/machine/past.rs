//! The past of a process: what its system calls and signals did, so that it can go back to a snapshot and
//! come forward again without the host.
//!
//! Time is counted in *steps*: a step is an instruction that retires, or something done for the guest or to
//! it (an *event*: a system call, a signal). A state of the past is a snapshot and the steps from there.
//!
//! While the process is in its past, an event is taken from the log. What belongs to the host stays in the
//! present: files, signals, timers. Where the log ends the process is where it was when it left, and the
//! state that was kept then is put back, so that nothing depends on how well the past was done again.

use super::{Machine, Outcome};
use crate::engine::Stop;
use crate::linux::{Before, Effect, Recorded};
use crate::snapshot::Snapshot;
use crate::trap::{Cause, Trap};
use std::collections::VecDeque;

/// Bytes of the log at most.
const MOST_BYTES: usize = 64 << 20;
/// Events in it at most.
const MOST_EVENTS: usize = 1 << 20;
/// Files that it keeps open at most.
const MOST_FILES: usize = 64;

const BY_HAND: &str = "the state was changed by hand";
const LOST: &str = "the past did not come out as it was";

/// A time of a process, as far as the host is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Moment {
    /// Events until then.
    events: u64,
    /// How often the past began anew until then.
    branch: u64,
}

struct Event {
    /// Instructions that had retired.
    at: u64,
    /// It came between two instructions, and no instruction asked for it.
    asynchronous: bool,
    effect: Effect,
}

impl Event {
    fn bytes(&self) -> usize {
        size_of::<Event>() + self.effect.bytes()
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Past {
    log: VecDeque<Event>,
    /// Events before the first of the log.
    first: u64,
    /// Events until where the process is.
    now: u64,
    branch: u64,
    bytes: usize,
    files: usize,
    /// Why nothing is recorded now.
    blocked: Option<&'static str>,
    /// When it was looked whether memory is shared: programs until then, and changes of mappings.
    looked: Option<(u64, u64)>,
    shares_memory: bool,
    /// Why there is nothing before the first event.
    begins: Option<&'static str>,
    /// Where the process comes back to; `None` if it is there.
    present: Option<Box<Snapshot>>,
    /// How the guest ended in the present, and the instructions that had retired.
    ended: Option<(u64, Outcome)>,
    /// The past did not come out as it was.
    lost: bool,
}

impl Past {
    /// Now; `None` if nothing is recorded.
    pub fn moment(&self) -> Option<Moment> {
        self.blocked.is_none().then_some(Moment { events: self.now, branch: self.branch })
    }

    /// Events until the present.
    fn end(&self) -> u64 {
        self.first + self.log.len() as u64
    }

    /// Whether the process can go to that time.
    pub fn reaches(&self, moment: &Moment) -> bool {
        let same = moment.branch == self.branch && moment.events >= self.first;
        self.blocked.is_none() && (same || moment.events == self.end())
    }

    fn next(&self) -> Option<&Event> {
        self.log.get(usize::try_from(self.now.checked_sub(self.first)?).ok()?)
    }

    fn push(&mut self, event: Event) {
        self.now += 1;
        self.bytes += event.bytes();
        self.files += usize::from(event.effect.holds_file());
        self.log.push_back(event);
        while self.bytes > MOST_BYTES || self.log.len() > MOST_EVENTS || self.files > MOST_FILES {
            let Some(oldest) = self.log.pop_front() else { break };
            self.first += 1;
            self.bytes -= oldest.bytes();
            self.files -= usize::from(oldest.effect.holds_file());
            self.begins = Some("what is longer ago is not kept");
        }
    }

    /// There is nothing to go back over.
    fn forget(&mut self, why: &'static str) {
        self.log.clear();
        (self.first, self.bytes, self.files) = (self.now, 0, 0);
        self.begins = Some(why);
    }

    /// The state was changed by hand: another past is this one's end.
    fn branch_off(&mut self, why: &'static str) {
        (self.present, self.ended) = (None, None);
        self.branch += 1;
        self.forget(why);
    }
}

impl Machine {
    /// From now on what is done for a process, or to it, is recorded, so that it can return to snapshots that
    /// are taken meanwhile, and come forward again without the host: a file is not read and nothing is
    /// written a second time. What it does after that, [`Machine::run`] does as if it had never been away.
    ///
    /// There are no snapshots as long as the process has several threads, or memory that others see; and none
    /// from before it started a process, or became another program. Without effect on bare metal.
    pub fn record(&mut self) {
        if self.process.is_some() && self.past.is_none() {
            self.past = Some(Box::default());
            self.look_whether_recorded();
        }
    }

    /// Steps so far: instructions, and with [`Machine::record`] system calls and signals, as neither is an
    /// instruction that retires.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.hart.instret + self.past.as_ref().map_or(0, |past| past.now)
    }

    /// Whether the machine can go back at all: on bare metal, or with [`Machine::record`].
    #[must_use]
    pub fn has_past(&self) -> bool {
        self.process.is_none() || self.past.is_some()
    }

    /// Whether the process is in its past.
    #[must_use]
    pub fn is_in_past(&self) -> bool {
        self.past.as_ref().is_some_and(|past| past.present.is_some())
    }

    /// Whether the state may be changed by hand: not in a past that the host has seen the rest of.
    #[must_use]
    pub fn may_change(&self) -> bool {
        self.past.as_ref().is_none_or(|past| past.present.is_none() || past.now == past.end())
    }

    /// The state was changed by hand: there is no way back over that, and the past ends here. False, and
    /// nothing done, if it must not be changed ([`Machine::may_change`]).
    pub fn forget_past(&mut self) -> bool {
        if !self.may_change() {
            return false;
        }
        if let Some(past) = &mut self.past {
            past.branch_off(BY_HAND);
        }
        self.tell_space();
        true
    }

    /// Why a process has no longer past than it has.
    #[must_use]
    pub fn why_no_past(&self) -> Option<&'static str> {
        self.past.as_ref().and_then(|past| past.blocked.or(past.begins))
    }

    /// Whether a past did not come out as it was since the last time this was asked. The process is in the
    /// present then.
    pub fn take_lost_past(&mut self) -> bool {
        self.past.as_mut().is_some_and(|past| std::mem::take(&mut past.lost))
    }

    /// Where the kernel wrote in the last step, and how many bytes, if that was a system call or a signal.
    #[must_use]
    pub fn last_kernel_writes(&self) -> Vec<(u64, u64)> {
        let Some(past) = &self.past else { return Vec::new() };
        let last = past.now.checked_sub(past.first + 1).and_then(|n| past.log.get(n as usize));
        let last = last.filter(|event| event.at == self.hart.instret);
        last.map_or_else(Vec::new, |event| event.effect.writes().collect())
    }

    /// Says to the address space whether it is in the past.
    fn tell_space(&mut self) {
        let past = self.is_in_past();
        if let Some(process) = &self.process {
            process.space(&mut self.hart).set_past(past);
        }
    }

    /// Before a snapshot that can be returned to is returned to.
    pub(crate) fn leave_present(&mut self, to: &Snapshot) {
        let (Some(moment), Some(past)) = (to.moment(), &self.past) else { return };
        let stays = moment.branch == past.branch;
        let present = match past.present.is_none() && stays {
            true => self.snapshot_like(Some(to)).map(Box::new),
            false => None,
        };
        let Some(past) = &mut self.past else { return };
        past.now = moment.events;
        if stays {
            past.present = past.present.take().or(present);
        } else {
            // Nothing was done for it since, so this becomes the present.
            past.branch_off(BY_HAND);
        }
        self.tell_space();
    }

    /// The end of the past is the present.
    fn arrive(&mut self) {
        let Some(past) = &mut self.past else { return };
        let Some(present) = past.present.take() else { return };
        past.now = past.end();
        past.lost |= !present.has_registers_of(&self.hart);
        self.put_back(&present);
        self.tell_space();
    }

    /// The past cannot be done again: back to the present.
    fn lose(&mut self) -> Outcome {
        self.arrive();
        if let Some(past) = &mut self.past {
            past.lost = true;
            past.branch += 1;
            past.forget(LOST);
        }
        Outcome::Unsupported(LOST.to_owned())
    }

    /// Does what comes between two instructions of the past, or ends it, before a run that is to stop after
    /// so many steps at most. How many instructions there are until the next such thing.
    pub(super) fn go_on_in_past(&mut self, most: u64) -> Result<u64, Outcome> {
        let start = self.steps();
        loop {
            let instret = self.hart.instret;
            let Some(past) = &self.past else { return Ok(u64::MAX) };
            let Some(present) = &past.present else {
                let ended = past.ended.as_ref().filter(|(at, _)| *at == instret && most > 0);
                return ended.map_or(Ok(u64::MAX), |(_, outcome)| Err(outcome.clone()));
            };
            let next = past.next();
            let left = next.map_or(present.instructions(), |event| event.at).checked_sub(instret);
            match (next, left) {
                // It was to trap before.
                (_, None) => return Err(self.lose()),
                (None, Some(0)) => self.arrive(),
                (Some(event), Some(0)) if event.asynchronous => {
                    if self.steps() - start >= most {
                        return Ok(0);
                    }
                    if let Some(lost) = self.repeat_next() {
                        return Err(lost);
                    }
                }
                // With the instruction that traps.
                (Some(event), Some(left)) => return Ok(left + u64::from(!event.asynchronous)),
                (None, Some(left)) => return Ok(left),
            }
        }
    }

    /// What follows after a stop of a recorded process.
    pub(super) fn handle_recorded(&mut self, stop: Stop) -> Option<Outcome> {
        let Some(past) = &self.past else { return self.handle_now(stop) };
        if past.present.is_some() {
            let is_due = |event: &Event| !event.asynchronous && event.at == self.hart.instret;
            return match stop {
                Stop::Budget => None,
                Stop::Trap(_) if past.next().is_some_and(is_due) => self.repeat_next(),
                Stop::Trap(_) => Some(self.lose()),
            };
        }
        match past.blocked {
            None => self.record_what_is_done(stop),
            Some(_) => self.count_what_is_done(stop),
        }
    }

    /// Does the next event again; how the run ends if that went another way.
    fn repeat_next(&mut self) -> Option<Outcome> {
        let (Some(past), Some(process)) = (&mut self.past, &mut self.process) else { return None };
        let event = past.next()?;
        let same = event.effect.repeat(process, &mut self.hart);
        past.now += 1;
        if same { None } else { Some(self.lose()) }
    }

    fn record_what_is_done(&mut self, stop: Stop) -> Option<Outcome> {
        let programs = self.programs;
        let asynchronous = matches!(stop, Stop::Budget);
        let calls = matches!(stop, Stop::Trap(Trap { cause: Cause::EcallFromU, .. }));
        let at = self.hart.instret;
        let before = Before::new(&mut self.hart, calls);
        let outcome = self.handle_now(stop);
        let (Some(process), Some(past)) = (&self.process, &mut self.past) else { return outcome };
        if process.is_child() {
            // Its debugger is its parent's.
            self.past = None;
            self.hart.kernel_writes = None;
            return outcome;
        }
        match before.after(process, &mut self.hart) {
            Recorded::Barrier(why) => {
                past.now += 1;
                past.forget(why);
            }
            _ if programs != self.programs => {
                past.now += 1;
                past.forget("the program became another");
            }
            Recorded::Nothing => {}
            Recorded::Effect(effect) => past.push(Event { at, asynchronous, effect }),
        }
        past.ended = outcome.clone().map(|outcome| (at, outcome));
        self.look_whether_recorded();
        outcome
    }

    /// The same while nothing is recorded.
    fn count_what_is_done(&mut self, stop: Stop) -> Option<Outcome> {
        let pc = self.hart.pc;
        let asynchronous = matches!(stop, Stop::Budget);
        let outcome = self.handle_now(stop);
        if self.is_child() {
            self.past = None;
        }
        if let Some(past) = &mut self.past {
            past.now += u64::from(!asynchronous && self.hart.pc != pc);
            past.first = past.now;
        }
        self.look_whether_recorded();
        outcome
    }

    /// Looks whether what is done for the process can be recorded from now on.
    pub(crate) fn look_whether_recorded(&mut self) {
        let (Some(process), Some(past)) = (&self.process, &mut self.past) else { return };
        let space = process.space(&mut self.hart);
        let now = Some((self.programs, space.changes()));
        if past.looked != now {
            past.looked = now;
            past.shares_memory = space.is_shared();
            space.keep_file_pages();
        }
        if space.take_file_changes() {
            past.forget("a mapped file has changed");
        }
        let was = past.blocked;
        past.blocked = match () {
            () if process.has_threads() => Some("the program has several threads"),
            () if past.shares_memory => Some("the program shares memory with a file or another process"),
            () => None,
        };
        if let Some(why) = past.blocked.or(was) {
            past.forget(why);
        }
    }
}
