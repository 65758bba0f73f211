//! Clocks, sleeping, and the interval timer.

use super::options::Clock;
use super::signal::{Info, SIGALRM, Signals};
use super::user::{self, Layout};
use super::{NAP, Process, Served, Stop};
use crate::Hart;
use rustix::io::Errno;
use rustix::time::ClockId;
use std::time::Duration;

/// The date counted clocks start from: 1 January 2024.
const EPOCH: u64 = 1_704_067_200;
const NANOS: u64 = 1_000_000_000;

/// The guest's clocks and what it waits for.
pub struct Time {
    clock: Clock,
    /// Nanoseconds that counted clocks have slept.
    slept: u64,
    /// When the sleep under way ends, in nanoseconds of the monotonic clock.
    waking: Option<u64>,
    /// When the interval timer strikes next, and how often from then on.
    timer: Option<(u64, u64)>,
}

impl Time {
    /// Clocks of that kind.
    pub fn new(clock: Clock) -> Self {
        Time { clock, slept: 0, waking: None, timer: None }
    }

    /// Monotonic time, in seconds and nanoseconds.
    pub fn monotonic(&mut self, hart: &Hart) -> (u64, u64) {
        let nanos = self.now(hart);
        (nanos / NANOS, nanos % NANOS)
    }

    /// Monotonic time in nanoseconds.
    fn now(&mut self, hart: &Hart) -> u64 {
        match self.clock {
            Clock::Host => host(ClockId::Monotonic),
            Clock::Counted => hart.instructions_retired().saturating_add(self.slept),
        }
    }

    /// Processor time.
    pub fn cpu(&mut self, hart: &Hart) -> (u64, u64) {
        let nanos = match self.clock {
            Clock::Host => host(ClockId::ProcessCPUTime),
            Clock::Counted => hart.instructions_retired(),
        };
        (nanos / NANOS, nanos % NANOS)
    }

    /// A clock by Linux's number.
    fn read(&mut self, hart: &Hart, clock: u64) -> Result<u64, Errno> {
        let host_clock = match clock {
            0 | 5 | 11 => ClockId::Realtime,
            1 | 4 | 6 => ClockId::Monotonic,
            2 => ClockId::ProcessCPUTime,
            3 => ClockId::ThreadCPUTime,
            7 => ClockId::Boottime,
            _ => return Err(Errno::INVAL),
        };
        Ok(match (self.clock, clock) {
            (Clock::Host, _) => host(host_clock),
            (Clock::Counted, 0 | 5 | 11) => (EPOCH * NANOS).saturating_add(self.now(hart)),
            (Clock::Counted, 2 | 3) => hart.instructions_retired(),
            (Clock::Counted, _) => self.now(hart),
        })
    }

    /// Gives up the sleep under way.
    pub fn end_wait(&mut self) {
        self.waking = None;
    }

    /// Whether a timer is running that may end a wait.
    pub fn timer_runs(&self) -> bool {
        self.timer.is_some()
    }

    /// Sends the timer's signal when it is due.
    pub fn check_timer(&mut self, hart: &Hart, signals: &mut Signals) {
        let Some((due, interval)) = self.timer else { return };
        let now = self.now(hart);
        if now >= due {
            self.timer = (interval > 0).then(|| (now.max(due).saturating_add(interval), interval));
            signals.send(Info::kernel(SIGALRM));
        }
    }

    /// Waits until `wake` (monotonic nanoseconds): `Ok` when that time has come, else the call is to be made
    /// again.
    pub fn wait_until(&mut self, hart: &Hart, wake: u64) -> Served<()> {
        let wake = *self.waking.get_or_insert(wake);
        let now = self.now(hart);
        let target = self.timer.map_or(wake, |(due, _)| due.min(wake));
        if self.clock == Clock::Counted {
            self.slept = self.slept.saturating_add(target.saturating_sub(now));
        } else if target > now {
            std::thread::sleep(Duration::from_nanos(target - now).min(NAP));
        }
        if self.now(hart) >= wake {
            self.waking = None;
            return Ok(());
        }
        Err(Stop::Again)
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
    /// `clock_gettime(clock, time)`.
    pub(super) fn sys_clock_gettime(&mut self, hart: &mut Hart, clock: u64, at: u64) -> Served {
        let nanos = self.time.read(hart, clock)?;
        write_timespec(hart, at, nanos)?;
        Ok(0)
    }

    /// `clock_getres(clock, resolution)`.
    pub(super) fn sys_clock_getres(&mut self, hart: &mut Hart, clock: u64, at: u64) -> Served {
        self.time.read(hart, clock)?;
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
            let (seconds, nanos) = self.time.cpu(hart);
            let mut s = Layout::<32>::new();
            s.put(0, 8, seconds * 100 + nanos / TICK);
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

    /// A sleep was cut short: says how much of it is left, where the guest wants to know.
    pub(super) fn tell_remaining(&mut self, hart: &mut Hart, number: u64, args: &[u64; 6]) {
        let at = match number {
            101 => args[1],
            115 if args[1] & 1 == 0 => args[3],
            _ => 0,
        };
        if at != 0
            && let Some(waking) = self.time.waking
        {
            let left = waking.saturating_sub(self.time.now(hart));
            let _ = write_timespec(hart, at, left);
        }
    }

    /// Waits for the time at `request`: that long, or until a clock shows it.
    pub(super) fn wait_for(&mut self, hart: &mut Hart, request: u64, clock: Option<u64>) -> Served<()> {
        let nanos = read_timespec(hart, request)?;
        let now = self.time.now(hart);
        let wake = match clock {
            None => now.saturating_add(nanos),
            Some(clock) => {
                let shown = self.time.read(hart, clock)?;
                now.saturating_add(nanos.saturating_sub(shown))
            }
        };
        self.time.wait_until(hart, wake)
    }

    /// Waits up to the time at `timeout`, or for ever if that is null: for `ppoll`. True when the time is up.
    pub(super) fn wait_a_while(&mut self, hart: &mut Hart, timeout: u64) -> Served<bool> {
        if timeout == 0 {
            return self.wait_for_signal(hart, "polling files that will never be ready").map(|()| false);
        }
        match self.wait_for(hart, timeout, None) {
            Ok(()) => Ok(true),
            Err(Stop::Again) => Ok(false),
            Err(other) => Err(other),
        }
    }

    /// Waits for a signal, which only the timer can send.
    pub(super) fn wait_for_signal(&mut self, hart: &mut Hart, what: &str) -> Served<()> {
        if !self.time.timer_runs() {
            let why = format!("deadlock: {what}, and no timer is running that could end it");
            return Err(Stop::End(super::Verdict::Unsupported(why)));
        }
        self.time.end_wait();
        match self.time.wait_until(hart, u64::MAX) {
            Err(Stop::Again) | Ok(()) => Err(Stop::Again),
            Err(other) => Err(other),
        }
    }

    /// `setitimer(which, new, old)`.
    pub(super) fn sys_setitimer(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [which, new, old, ..] = args;
        self.sys_getitimer(hart, which, old)?;
        let (interval, value) = match new {
            0 => (0, 0),
            _ => (read_timeval(hart, new)?, read_timeval(hart, new.wrapping_add(16))?),
        };
        let now = self.time.now(hart);
        self.time.timer = (value > 0).then(|| (now.saturating_add(value), interval));
        Ok(0)
    }

    /// `getitimer(which, value)`. Only `ITIMER_REAL`; the others count processor time.
    pub(super) fn sys_getitimer(&mut self, hart: &mut Hart, which: u64, at: u64) -> Served {
        if which != 0 {
            self.note("not supported: interval timers other than ITIMER_REAL; the guest was told EINVAL");
            return Err(Errno::INVAL.into());
        }
        if at != 0 {
            let now = self.time.now(hart);
            let (left, interval) = self
                .time
                .timer
                .map_or((0, 0), |(due, interval)| (due.saturating_sub(now).max(1000), interval));
            write_timeval(hart, at, interval)?;
            write_timeval(hart, at.wrapping_add(16), left)?;
        }
        Ok(0)
    }
}
