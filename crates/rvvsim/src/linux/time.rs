//! Clocks, sleeping, and timers.

use super::options::Clock;
use super::schedule::Wait;
use super::signal::{Info, SIGALRM, SIGPROF, SIGVTALRM};
use super::user::{self, Layout};
use super::{Process, Served, Stop};
use crate::Hart;
use rustix::io::Errno;
use rustix::time::ClockId;

/// The date counted clocks start from: 1 January 2024.
const EPOCH: u64 = 1_704_067_200;
const NANOS: u64 = 1_000_000_000;

/// What a timer counts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Counts {
    /// Time that passes, by the monotonic clock.
    Time,
    /// Time of the processor.
    Processor,
}

/// Who made a timer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TimerId {
    /// `setitimer`, by its number.
    Interval(u64),
    /// `timer_create`, by its number.
    Posix(u32),
}

/// A timer.
pub struct Timer {
    id: TimerId,
    counts: Counts,
    /// The clock of absolute times.
    clock: u64,
    /// When it strikes next, in nanoseconds of what it counts; `None` while it is off.
    due: Option<u64>,
    /// And how often from then on; 0 for never.
    interval: u64,
    /// The signal it sends, if any.
    sends: Option<Info>,
    /// To which thread; to the process if `None`.
    thread: Option<u32>,
    /// How often it struck more, when it last sent its signal.
    overruns: u64,
}

/// The guest's clocks and timers.
pub struct Time {
    clock: Clock,
    /// Nanoseconds that counted clocks have slept.
    slept: u64,
    timers: Vec<Timer>,
}

impl Time {
    /// Clocks of that kind.
    pub fn new(clock: Clock) -> Self {
        Time { clock, slept: 0, timers: Vec::new() }
    }

    /// Monotonic time, in seconds and nanoseconds.
    pub fn monotonic(&self, hart: &Hart) -> (u64, u64) {
        let nanos = self.now(hart);
        (nanos / NANOS, nanos % NANOS)
    }

    /// Monotonic time in nanoseconds.
    pub fn now(&self, hart: &Hart) -> u64 {
        match self.clock {
            Clock::Host => host(ClockId::Monotonic),
            Clock::Counted => hart.instructions_retired().saturating_add(self.slept),
        }
    }

    /// Processor time.
    pub fn cpu(&self, hart: &Hart) -> (u64, u64) {
        let nanos = self.processor(hart);
        (nanos / NANOS, nanos % NANOS)
    }

    fn processor(&self, hart: &Hart) -> u64 {
        match self.clock {
            Clock::Host => host(ClockId::ProcessCPUTime),
            Clock::Counted => hart.instructions_retired(),
        }
    }

    /// A clock by Linux's number.
    fn read(&self, hart: &Hart, clock: u64) -> Result<u64, Errno> {
        let host_clock = match clock as i32 {
            0 | 5 | 8 | 11 => ClockId::Realtime,
            1 | 4 | 6 => ClockId::Monotonic,
            7 | 9 => ClockId::Boottime,
            2 => ClockId::ProcessCPUTime,
            3 => ClockId::ThreadCPUTime,
            // Of the process or a thread of it, by id: all run on one hart.
            ..0 => ClockId::ProcessCPUTime,
            _ => return Err(Errno::INVAL),
        };
        Ok(match (self.clock, clock as i32) {
            (Clock::Host, _) => host(host_clock),
            (Clock::Counted, 0 | 5 | 8 | 11) => (EPOCH * NANOS).saturating_add(self.now(hart)),
            (Clock::Counted, ..0 | 2 | 3) => hart.instructions_retired(),
            (Clock::Counted, _) => self.now(hart),
        })
    }

    /// Counted clocks: so much time passes at once.
    pub fn pass(&mut self, nanos: u64) {
        self.slept = self.slept.saturating_add(nanos);
    }

    /// When the next timer strikes that counts time.
    pub fn next_timer(&self) -> Option<u64> {
        self.timers.iter().filter(|timer| timer.counts == Counts::Time).filter_map(|timer| timer.due).min()
    }

    /// A new process has no timers.
    pub fn forget_timers(&mut self) {
        self.timers.clear();
    }

    /// A new program has those of `setitimer` only.
    pub fn forget_posix_timers(&mut self) {
        self.timers.retain(|timer| matches!(timer.id, TimerId::Interval(_)));
    }

    fn timer(&mut self, id: TimerId) -> Option<&mut Timer> {
        self.timers.iter_mut().find(|timer| timer.id == id)
    }

    fn count(&self, hart: &Hart, counts: Counts) -> u64 {
        match counts {
            Counts::Time => self.now(hart),
            Counts::Processor => self.processor(hart),
        }
    }
}

fn host(clock: ClockId) -> u64 {
    let t = rustix::time::clock_gettime(clock);
    (t.tv_sec as u64).wrapping_mul(NANOS).wrapping_add(t.tv_nsec as u64)
}

/// Reads a `timespec` as nanoseconds.
fn read_timespec(hart: &mut Hart, at: u64) -> Result<u64, Errno> {
    let seconds = user::read_u64(hart, at)?;
    let nanos = user::read_u64(hart, at.wrapping_add(8))?;
    if (seconds as i64) < 0 || nanos >= NANOS {
        return Err(Errno::INVAL);
    }
    Ok(seconds.saturating_mul(NANOS).saturating_add(nanos))
}

fn write_timespec(hart: &mut Hart, at: u64, nanos: u64) -> Result<(), Errno> {
    let mut s = Layout::<16>::new();
    s.put(0, 8, nanos / NANOS).put(8, 8, nanos % NANOS);
    user::write(hart, at, &s.0)
}

fn read_timeval(hart: &mut Hart, at: u64) -> Result<u64, Errno> {
    let seconds = user::read_u64(hart, at)?;
    let micros = user::read_u64(hart, at.wrapping_add(8))?;
    if (seconds as i64) < 0 || micros >= 1_000_000 {
        return Err(Errno::INVAL);
    }
    Ok(seconds.saturating_mul(NANOS).saturating_add(micros * 1000))
}

fn write_timeval(hart: &mut Hart, at: u64, nanos: u64) -> Result<(), Errno> {
    let mut s = Layout::<16>::new();
    s.put(0, 8, nanos / NANOS).put(8, 8, nanos % NANOS / 1000);
    user::write(hart, at, &s.0)
}

impl Process {
    /// A clock by Linux's number. Below 0 it is one of CPU time, of the process or thread whose id it
    /// contains: another process has one on the host, if the guest knows it by the host's id.
    fn read_clock(&self, hart: &Hart, clock: u64) -> Result<u64, Errno> {
        const OF_THREAD: i32 = 4;
        let number = clock as i32;
        let (id, of_thread) = (!(number >> 3), number & OF_THREAD != 0);
        let own = match of_thread {
            true => self.threads.index_of(id as u32).is_some(),
            false => id as u32 == self.identity.pid,
        };
        if number >= 0 || id == 0 || own {
            return self.time.read(hart, clock);
        }
        let seen = !of_thread && self.options.host_fs && matches!(self.time.clock, Clock::Host);
        seen.then(|| super::host::clock(number)).flatten().ok_or(Errno::INVAL)
    }

    /// `clock_gettime(clock, time)`.
    pub(super) fn sys_clock_gettime(&mut self, hart: &mut Hart, clock: u64, at: u64) -> Served {
        let nanos = self.read_clock(hart, clock)?;
        write_timespec(hart, at, nanos)?;
        Ok(0)
    }

    /// `clock_getres(clock, resolution)`.
    pub(super) fn sys_clock_getres(&mut self, hart: &mut Hart, clock: u64, at: u64) -> Served {
        self.read_clock(hart, clock)?;
        if at != 0 {
            let nanos = if matches!(clock, 5 | 6) { 4_000_000 } else { 1 };
            write_timespec(hart, at, nanos)?;
        }
        Ok(0)
    }

    /// `gettimeofday(time, zone)`.
    pub(super) fn sys_gettimeofday(&mut self, hart: &mut Hart, at: u64, zone: u64) -> Served {
        if at != 0 {
            let nanos = self.time.read(hart, 0)?;
            write_timeval(hart, at, nanos)?;
        }
        if zone != 0 {
            user::write_u64(hart, zone, 0)?;
        }
        Ok(0)
    }

    /// `times(buf)`.
    pub(super) fn sys_times(&mut self, hart: &mut Hart, at: u64) -> Served {
        const TICK: u64 = NANOS / 100;
        if at != 0 {
            let mut s = Layout::<32>::new();
            for (who, to) in [(0, 0), (-1, 16)] {
                let usage = self.usage(hart, who)?;
                let word = |at: usize| usage[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
                let ticks = |at: usize| word(at) * 100 + word(at + 8) * 1000 / TICK;
                s.put(to, 8, ticks(0)).put(to + 8, 8, ticks(16));
            }
            user::write(hart, at, &s.0)?;
        }
        Ok(self.time.now(hart) / TICK)
    }

    /// `nanosleep(request, remaining)`.
    pub(super) fn sys_nanosleep(&mut self, hart: &mut Hart, request: u64) -> Served {
        self.wait_for(hart, request, None)?;
        Ok(0)
    }

    /// `clock_nanosleep(clock, flags, request, remaining)`.
    pub(super) fn sys_clock_nanosleep(
        &mut self,
        hart: &mut Hart,
        clock: u64,
        flags: u64,
        request: u64,
    ) -> Served {
        self.time.read(hart, clock)?;
        self.wait_for(hart, request, (flags & 1 != 0).then_some(clock))?;
        Ok(0)
    }

    /// A sleep was cut short, or a wait for files is over: says how much of its time is left, where the guest
    /// wants to know. Linux takes no offence if it cannot be written there.
    pub(super) fn tell_remaining(&mut self, hart: &mut Hart, number: u64, args: &[u64; 6]) {
        let at = match number {
            72 => args[4],
            73 => args[2],
            101 => args[1],
            115 if args[1] & 1 == 0 => args[3],
            _ => 0,
        };
        if at != 0
            && let Some(waking) = self.me().suspended.waking
        {
            let left = waking.saturating_sub(self.time.now(hart));
            let _ = write_timespec(hart, at, left);
        }
    }

    /// When a wait ends for which the time at `request` is given: so long from its begin, or when a clock
    /// shows it. In monotonic nanoseconds.
    pub(super) fn waking_time(
        &mut self,
        hart: &mut Hart,
        request: u64,
        clock: Option<u64>,
    ) -> Result<u64, Errno> {
        let nanos = read_timespec(hart, request)?;
        if let Some(waking) = self.me().suspended.waking {
            return Ok(waking);
        }
        let now = self.time.now(hart);
        let waking = match clock {
            None => now.saturating_add(nanos),
            Some(clock) => {
                let shown = self.time.read(hart, clock)?;
                now.saturating_add(nanos.saturating_sub(shown))
            }
        };
        self.me_mut().suspended.waking = Some(waking);
        Ok(waking)
    }

    /// Waits for the time at `request`: that long, or until a clock shows it.
    fn wait_for(&mut self, hart: &mut Hart, request: u64, clock: Option<u64>) -> Served<()> {
        let waking = self.waking_time(hart, request, clock)?;
        if self.time.now(hart) >= waking {
            return Ok(());
        }
        Err(Stop::Again(Wait::until(Some(waking), "sleeps".to_owned())))
    }

    /// Sends the signals of timers that are due.
    pub(super) fn check_timers(&mut self, hart: &Hart) {
        if self.time.timers.is_empty() {
            return;
        }
        for i in 0..self.time.timers.len() {
            let now = self.time.count(hart, self.time.timers[i].counts);
            let timer = &mut self.time.timers[i];
            let Some(due) = timer.due.filter(|due| now >= *due) else { continue };
            let times = match timer.interval {
                0 => 1,
                interval => 1 + (now - due) / interval,
            };
            timer.due =
                (timer.interval > 0).then(|| due.saturating_add(timer.interval.saturating_mul(times)));
            timer.overruns = times - 1;
            let (Some(mut info), thread) = (timer.sends, timer.thread) else { continue };
            if let TimerId::Posix(number) = timer.id {
                info.detail[0] = u64::from(number) | timer.overruns.min(i32::MAX as u64) << 32;
            }
            let _ = match thread.map(|tid| self.threads.index_of(tid)) {
                Some(Some(thread)) => self.send_to(thread, info),
                Some(None) => Ok(()),
                None => self.send(info),
            };
        }
    }

    /// `setitimer(which, new, old)`.
    pub(super) fn sys_setitimer(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [which, new, old, ..] = args;
        let (interval, value) = match new {
            0 => (0, 0),
            _ => (read_timeval(hart, new)?, read_timeval(hart, new.wrapping_add(16))?),
        };
        self.sys_getitimer(hart, which, old)?;
        let (counts, signal) = match which {
            0 => (Counts::Time, SIGALRM),
            1 => (Counts::Processor, SIGVTALRM),
            _ => (Counts::Processor, SIGPROF),
        };
        let due = (value > 0).then(|| self.time.count(hart, counts).saturating_add(value));
        let id = TimerId::Interval(which);
        self.time.timers.retain(|timer| timer.id != id);
        let sends = Some(Info::kernel(signal));
        // Those of the processor's time remember their interval while they are off.
        if due.is_some() || counts == Counts::Processor && interval > 0 {
            self.time.timers.push(Timer {
                id,
                counts,
                clock: 1,
                due,
                interval,
                sends,
                thread: None,
                overruns: 0,
            });
        }
        Ok(0)
    }

    /// `getitimer(which, value)`.
    pub(super) fn sys_getitimer(&mut self, hart: &mut Hart, which: u64, at: u64) -> Served {
        if which > 2 {
            return Err(Errno::INVAL.into());
        }
        if at != 0 {
            let (left, interval) = self.time_left(hart, TimerId::Interval(which));
            write_timeval(hart, at, interval)?;
            write_timeval(hart, at.wrapping_add(16), if left > 0 { left.max(1000) } else { 0 })?;
        }
        Ok(0)
    }

    /// The time that is left of a timer, and its interval.
    fn time_left(&mut self, hart: &Hart, id: TimerId) -> (u64, u64) {
        let Some(timer) = self.time.timer(id) else { return (0, 0) };
        let (due, interval, counts) = (timer.due, timer.interval, timer.counts);
        let now = self.time.count(hart, counts);
        (due.map_or(0, |due| due.saturating_sub(now).max(1)), interval)
    }

    /// `timer_create(clock, event, id)`.
    pub(super) fn sys_timer_create(&mut self, hart: &mut Hart, clock: u64, event: u64, id_at: u64) -> Served {
        const MOST_TIMERS: usize = 256;
        self.time.read(hart, clock)?;
        let counts = if matches!(clock as i32, ..0 | 2 | 3) { Counts::Processor } else { Counts::Time };
        if self.time.timers.len() >= MOST_TIMERS {
            return Err(Errno::AGAIN.into());
        }
        let used = |number: &u32| self.time.timers.iter().any(|timer| timer.id == TimerId::Posix(*number));
        let number = (0..).find(|number| !used(number)).unwrap_or(0);
        const SI_TIMER: i32 = -2;
        let (mut sends, mut thread) = (None, None);
        if event == 0 {
            sends = Some(Info { signal: SIGALRM, code: SI_TIMER, detail: [0, u64::from(number)] });
        } else {
            let value = user::read_u64(hart, event)?;
            let signal = user::read_u32(hart, event.wrapping_add(8))? as i32;
            let notify = user::read_u32(hart, event.wrapping_add(12))?;
            let tid = user::read_u32(hart, event.wrapping_add(16))?;
            // SIGEV_SIGNAL, SIGEV_NONE, SIGEV_THREAD_ID
            match notify {
                0 | 4 if (1..=64).contains(&signal) => {
                    sends = Some(Info { signal, code: SI_TIMER, detail: [0, value] });
                    if notify == 4 {
                        self.threads.index_of(tid).ok_or(Errno::INVAL)?;
                        thread = Some(tid);
                    }
                }
                1 => {}
                _ => return Err(Errno::INVAL.into()),
            }
        }
        user::write_u32(hart, id_at, number)?;
        let id = TimerId::Posix(number);
        let timer = Timer { id, counts, clock, due: None, interval: 0, sends, thread, overruns: 0 };
        self.time.timers.push(timer);
        Ok(0)
    }

    /// `timer_settime(id, flags, new, old)`.
    pub(super) fn sys_timer_settime(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [id, flags, new, old, ..] = args;
        let interval = read_timespec(hart, new)?;
        let value = read_timespec(hart, new.wrapping_add(16))?;
        if old != 0 {
            self.sys_timer_gettime(hart, id, old)?;
        }
        let id = TimerId::Posix(id as u32);
        let timer = self.time.timer(id).ok_or(Errno::INVAL)?;
        let (counts, clock) = (timer.counts, timer.clock);
        const ABSOLUTE: u64 = 1;
        let left = match flags & ABSOLUTE {
            0 => value,
            _ => value.saturating_sub(self.time.read(hart, clock)?),
        };
        let due = self.time.count(hart, counts).saturating_add(left);
        let timer = self.time.timer(id).ok_or(Errno::INVAL)?;
        (timer.due, timer.interval, timer.overruns) = ((value > 0).then_some(due), interval, 0);
        Ok(0)
    }

    /// `timer_gettime(id, value)`.
    pub(super) fn sys_timer_gettime(&mut self, hart: &mut Hart, id: u64, at: u64) -> Served {
        let id = TimerId::Posix(id as u32);
        self.time.timer(id).ok_or(Errno::INVAL)?;
        let (left, interval) = self.time_left(hart, id);
        write_timespec(hart, at, interval)?;
        write_timespec(hart, at.wrapping_add(16), left)?;
        Ok(0)
    }

    /// `timer_getoverrun(id)`.
    pub(super) fn sys_timer_getoverrun(&mut self, id: u64) -> Served {
        Ok(self.time.timer(TimerId::Posix(id as u32)).ok_or(Errno::INVAL)?.overruns.min(i32::MAX as u64))
    }

    /// `timer_delete(id)`.
    pub(super) fn sys_timer_delete(&mut self, id: u64) -> Served {
        let id = TimerId::Posix(id as u32);
        self.time.timer(id).ok_or(Errno::INVAL)?;
        self.time.timers.retain(|timer| timer.id != id);
        Ok(0)
    }
}
