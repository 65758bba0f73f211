//! Descriptors that say that something has happened: epoll, eventfd, timerfd, signalfd, inotify; and memfd.

use super::files::{HostFile, Kind, flag};
use super::schedule::Wait;
use super::user::{self, Layout};
use super::{Process, Served, Stop};
use crate::Hart;
use rustix::event::{EventfdFlags, PollFd, PollFlags, epoll};
use rustix::fs::{MemfdFlags, inotify};
use rustix::io::Errno;
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_gettime,
    timerfd_settime,
};
use std::sync::Arc;

/// Events of one `epoll_pwait`.
const MOST_EVENTS: usize = 1024;
/// Bytes of `struct epoll_event` on riscv64, where its two parts are aligned.
const EVENT: u64 = 16;

impl Process {
    fn add_event_file(&mut self, fd: rustix::fd::OwnedFd, access: u32, flags: u32) -> Served {
        let flags = access | flags & (flag::NONBLOCK | flag::CLOEXEC);
        Ok(self.files.add(Kind::Host(Arc::new(HostFile::named(fd, Vec::new(), false))), flags)?)
    }

    /// `eventfd2(value, flags)`.
    pub(super) fn sys_eventfd2(&mut self, value: u64, flags: u64) -> Served {
        const SEMAPHORE: u32 = 1;
        let flags = flags as u32;
        if flags & !(SEMAPHORE | flag::NONBLOCK | flag::CLOEXEC) != 0 {
            return Err(Errno::INVAL.into());
        }
        let mut host = EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK;
        host.set(EventfdFlags::SEMAPHORE, flags & SEMAPHORE != 0);
        let fd = rustix::event::eventfd(value as u32, host)?;
        self.add_event_file(fd, flag::RDWR, flags)
    }

    /// `epoll_create1(flags)`.
    pub(super) fn sys_epoll_create1(&mut self, flags: u64) -> Served {
        if flags as u32 & !flag::CLOEXEC != 0 {
            return Err(Errno::INVAL.into());
        }
        let fd = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        self.add_event_file(fd, flag::RDWR, flags as u32)
    }

    /// `epoll_ctl(epoll, op, fd, event)`.
    pub(super) fn sys_epoll_ctl(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [epoll_fd, op, fd, event, ..] = args;
        let epoll_file = self.files.host(epoll_fd, Errno::INVAL)?;
        // Files that are always ready cannot be waited for; so says Linux of plain files.
        let file = match &self.files.get(fd)?.kind {
            Kind::Signals(_, event) => Arc::clone(event),
            _ => self.files.host(fd, Errno::PERM)?,
        };
        let (flags, data) = match op {
            2 => (epoll::EventFlags::empty(), epoll::EventData::new_u64(0)),
            _ => {
                let events = user::read_u32(hart, event)?;
                let data = user::read_u64(hart, event.wrapping_add(8))?;
                (epoll::EventFlags::from_bits_retain(events), epoll::EventData::new_u64(data))
            }
        };
        match op {
            1 => epoll::add(&*epoll_file, &*file, data, flags)?,
            2 => epoll::delete(&*epoll_file, &*file)?,
            3 => epoll::modify(&*epoll_file, &*file, data, flags)?,
            _ => return Err(Errno::INVAL.into()),
        }
        Ok(0)
    }

    /// What epoll sees of descriptors of signals follows what is pending; the signals that may change that.
    fn show_signals(&self) -> u64 {
        let (pending, mut all) = (self.pending_signals(), 0);
        for (mask, event) in self.files.of_signals() {
            all |= mask;
            let mut poll = [PollFd::new(&**event, PollFlags::IN)];
            let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
            let shown = rustix::event::poll(&mut poll, Some(&at_once)).is_ok_and(|ready| ready > 0);
            let _ = match (pending & mask != 0, shown) {
                (true, false) => rustix::io::write(&**event, &1_u64.to_ne_bytes()),
                (false, true) => rustix::io::read(&**event, &mut [0; 8]),
                _ => Ok(0),
            };
        }
        all & !pending
    }

    /// `epoll_pwait(epoll, events, count, timeout, mask)`, and `epoll_pwait2` with the time at an address.
    pub(super) fn sys_epoll_pwait(&mut self, hart: &mut Hart, args: [u64; 6], timespec: bool) -> Served {
        let [epoll_fd, events, count, timeout, mask, _] = args;
        if count as i32 <= 0 {
            return Err(Errno::INVAL.into());
        }
        let file = self.files.host(epoll_fd, Errno::INVAL)?;
        if mask != 0 {
            let mask = user::read_u64(hart, mask)?;
            self.block_meanwhile(mask);
        }
        let none = epoll::Event { flags: epoll::EventFlags::empty(), data: epoll::EventData::new_u64(0) };
        let mut buffer = vec![none; (count as usize).min(MOST_EVENTS)];
        let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        let signals = self.show_signals();
        let ready = epoll::wait(&*file, &mut buffer[..], Some(&at_once))?;
        for (i, event) in buffer[..ready].iter().enumerate() {
            // A copy: on x86-64 the structure is packed.
            let (flags, data) = (event.flags, event.data);
            let mut s = Layout::<16>::new();
            s.put(0, 4, u64::from(flags.bits())).put(8, 8, data.u64());
            user::write(hart, events.wrapping_add(EVENT * i as u64), &s.0)?;
        }
        if ready > 0 {
            return Ok(ready as u64);
        }
        let until = match timespec {
            true if timeout == 0 => None,
            true => Some(self.waking_time(hart, timeout, None)?),
            false if (timeout as i32) < 0 => None,
            false => {
                let now = self.time.now(hart);
                let until = now.saturating_add(u64::from(timeout as u32) * 1_000_000);
                Some(*self.me_mut().suspended.waking.get_or_insert(until))
            }
        };
        if until.is_some_and(|until| self.time.now(hart) >= until) {
            return Ok(0);
        }
        self.me_mut().suspended.awaited |= signals;
        let (files, why) = (vec![(file, PollFlags::IN)], "waits for events of files".to_owned());
        Err(Stop::Again(Wait { files, until, why, outside: true, ..Wait::default() }))
    }

    /// `timerfd_create(clock, flags)`.
    pub(super) fn sys_timerfd_create(&mut self, clock: u64, flags: u64) -> Served {
        let clock = match clock {
            0 | 8 => TimerfdClockId::Realtime,
            1 => TimerfdClockId::Monotonic,
            7 | 9 => TimerfdClockId::Boottime,
            _ => return Err(Errno::INVAL.into()),
        };
        let fd = timerfd_create(clock, TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK)?;
        self.add_event_file(fd, flag::RDWR, flags as u32)
    }

    /// `timerfd_settime(fd, flags, new, old)`.
    pub(super) fn sys_timerfd_settime(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, flags, new, old, ..] = args;
        let file = self.files.host(fd, Errno::INVAL)?;
        let mut words = [0; 4];
        for (i, word) in words.iter_mut().enumerate() {
            *word = user::read_u64(hart, new.wrapping_add(8 * i as u64))? as i64;
        }
        let [a, b, c, d] = words;
        let time = |tv_sec, tv_nsec| Timespec { tv_sec, tv_nsec };
        let spec = Itimerspec { it_interval: time(a, b), it_value: time(c, d) };
        let flags = TimerfdTimerFlags::from_bits(flags as u32).ok_or(Errno::INVAL)?;
        let was = timerfd_settime(&*file, flags, &spec)?;
        if old != 0 {
            write_itimerspec(hart, old, &was)?;
        }
        Ok(0)
    }

    /// `timerfd_gettime(fd, value)`.
    pub(super) fn sys_timerfd_gettime(&mut self, hart: &mut Hart, fd: u64, at: u64) -> Served {
        let file = self.files.host(fd, Errno::INVAL)?;
        write_itimerspec(hart, at, &timerfd_gettime(&*file)?)?;
        Ok(0)
    }

    /// `memfd_create(name, flags)`.
    pub(super) fn sys_memfd_create(&mut self, hart: &mut Hart, name: u64, flags: u64) -> Served {
        const CLOEXEC: u64 = 1;
        const ALLOW_SEALING: u64 = 2;
        const NOEXEC_SEAL: u64 = 8;
        const EXEC: u64 = 16;
        if !self.options.host_fs {
            // Its bytes would be in nobody's account; the guest has a /tmp.
            return Err(Errno::NOSYS.into());
        }
        let name = user::read_string(hart, name, 250)?;
        if flags & !(CLOEXEC | ALLOW_SEALING | NOEXEC_SEAL | EXEC) != 0 {
            return Err(Errno::INVAL.into());
        }
        let host = if flags & ALLOW_SEALING != 0 { MemfdFlags::ALLOW_SEALING } else { MemfdFlags::empty() };
        let fd = rustix::fs::memfd_create(name.as_slice(), host | MemfdFlags::CLOEXEC)?;
        let path = [b"/memfd:", name.as_slice()].concat();
        let flags = flag::RDWR | if flags & CLOEXEC != 0 { flag::CLOEXEC } else { 0 };
        Ok(self.files.add(Kind::Host(Arc::new(HostFile::named(fd, path, true))), flags)?)
    }

    /// `inotify_init1(flags)`.
    pub(super) fn sys_inotify_init1(&mut self, flags: u64) -> Served {
        let fd = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK)?;
        self.add_event_file(fd, 0, flags as u32)
    }

    /// `inotify_add_watch(fd, path, mask)`. In the sandbox: of what was granted, by the descriptor of it.
    pub(super) fn sys_inotify_add_watch(&mut self, hart: &mut Hart, fd: u64, path: u64, mask: u64) -> Served {
        use rustix::fd::AsRawFd;
        const DONT_FOLLOW: u64 = 0x200_0000;
        let file = self.files.host(fd, Errno::INVAL)?;
        let path = user::read_path(hart, path)?;
        let follow = mask & DONT_FOLLOW == 0;
        let place = self.find(super::paths::AT_FDCWD as u64, &path, follow)?;
        let mask = inotify::WatchFlags::from_bits_retain(mask as u32);
        let watch = if place.is_host() {
            inotify::add_watch(&*file, place.path(), mask)?
        } else {
            let seen = place.open(rustix::fs::OFlags::PATH, rustix::fs::Mode::empty())?.fd;
            let link = format!("/proc/self/fd/{}", seen.as_raw_fd());
            inotify::add_watch(&*file, link, mask.difference(inotify::WatchFlags::DONT_FOLLOW))?
        };
        Ok(watch as u64)
    }

    /// `inotify_rm_watch(fd, watch)`.
    pub(super) fn sys_inotify_rm_watch(&mut self, fd: u64, watch: u64) -> Served {
        let file = self.files.host(fd, Errno::INVAL)?;
        inotify::remove_watch(&*file, watch as i32)?;
        Ok(0)
    }
}

fn write_itimerspec(hart: &mut Hart, at: u64, spec: &Itimerspec) -> Result<(), Errno> {
    let mut s = Layout::<32>::new();
    s.put(0, 8, spec.it_interval.tv_sec as u64).put(8, 8, spec.it_interval.tv_nsec as u64);
    s.put(16, 8, spec.it_value.tv_sec as u64).put(24, 8, spec.it_value.tv_nsec as u64);
    user::write(hart, at, &s.0)
}
