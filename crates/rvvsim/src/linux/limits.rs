//! Limits of resources, what has been used of them, processors and priorities.

use super::files::MOST_FILES;
use super::options::{Clock, ProcessOptions};
use super::user::{self, Layout};
use super::{Process, Served, host};
use crate::Hart;
use rustix::io::Errno;

/// `RLIMIT_DATA`, of the guest's memory and not of the emulator's; so are `RSS` and `AS`.
const DATA: usize = 2;
const STACK: usize = 3;
const CORE: usize = 4;
const RSS: usize = 5;
const NPROC: usize = 6;
/// `RLIMIT_NOFILE`.
const NOFILE: usize = 7;
const AS: usize = 9;

const INFINITY: u64 = u64::MAX;

/// Most descriptors of a guest that has all that the host's user has.
const MOST_HOST_FILES: u64 = 1 << 20;

/// Bytes of a set of processors that can be said.
const MOST_SET: u64 = 1 << 13;

/// `RLIMIT_*` of a process: soft and hard.
pub type Limits = [(u64, u64); 16];

/// The limits of a new process: as most Linux systems have them, or the host's.
pub fn first_limits(options: &ProcessOptions) -> Limits {
    let mut limits = [(INFINITY, INFINITY); 16];
    let files = MOST_FILES as u64;
    limits[STACK] = (options.stack, INFINITY);
    limits[CORE] = (0, INFINITY);
    limits[NPROC] = (u64::from(options.most_processes), u64::from(options.most_processes));
    limits[NOFILE] = (files, files);
    if options.host_programs {
        for (resource, limit) in limits.iter_mut().enumerate().filter(|(r, _)| !of_guest_only(*r)) {
            *limit = host::limit(resource as u32, None).unwrap_or(*limit);
        }
        // The emulator has a few files of its own.
        let (soft, hard) = limits[NOFILE];
        let _ = host::limit(NOFILE as u32, Some((hard, hard)));
        let most = hard.saturating_sub(16).clamp(16, MOST_HOST_FILES);
        limits[NOFILE] = (soft.min(most), most);
    }
    limits
}

/// Whether a limit is about the guest's memory, which the host cannot tell from the emulator's.
fn of_guest_only(resource: usize) -> bool {
    matches!(resource, DATA | STACK | RSS | AS)
}

impl Process {
    /// `prlimit64(pid, resource, new, old)`. What neither the host nor the emulator bounds is remembered
    /// only.
    pub(super) fn sys_prlimit64(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [pid, resource, new, old, ..] = args;
        if pid != 0 && pid as u32 != self.identity.pid {
            return Err(Errno::SRCH.into());
        }
        let index = usize::try_from(resource).ok().filter(|i| *i < 16).ok_or(Errno::INVAL)?;
        let was = self.limits[index];
        let mut wanted = None;
        if new != 0 {
            let (soft, hard) = (user::read_u64(hart, new)?, user::read_u64(hart, new.wrapping_add(8))?);
            if soft > hard {
                return Err(Errno::INVAL.into());
            }
            let may_raise = self.options.host_programs && self.identity.euid == 0 && index != NOFILE;
            if hard > was.1 && !may_raise {
                return Err(Errno::PERM.into());
            }
            if self.options.host_programs && !of_guest_only(index) && index != NOFILE {
                host::limit(index as u32, Some((soft, hard)))?;
            }
            wanted = Some((soft, hard));
        }
        if old != 0 {
            user::write_u64(hart, old, was.0)?;
            user::write_u64(hart, old.wrapping_add(8), was.1)?;
        }
        if let Some(wanted) = wanted {
            self.limits[index] = wanted;
            self.files.limit = usize::try_from(self.limits[NOFILE].0).unwrap_or(MOST_FILES);
        }
        Ok(0)
    }

    /// The limits that a program of the host is to have.
    pub(super) fn give_limits_to_host(&self) {
        let _ = host::limit(NOFILE as u32, Some(self.limits[NOFILE]));
    }

    /// `getrusage(who, usage)`.
    pub(super) fn sys_getrusage(&mut self, hart: &mut Hart, who: u64, usage: u64) -> Served {
        let who = who as i32;
        if !(-1..=1).contains(&who) {
            return Err(Errno::INVAL.into());
        }
        let bytes = self.usage(hart, who)?;
        user::write(hart, usage, &bytes)?;
        Ok(0)
    }

    /// What was used by this process (0), its children (-1) or this thread (1).
    pub(super) fn usage(&self, hart: &Hart, who: i32) -> Result<[u8; 144], Errno> {
        if self.options.clock == Clock::Host {
            // A thread of the guest is none of the host.
            return host::usage(who.min(0));
        }
        let mut s = Layout::<144>::new();
        if who >= 0 {
            let (seconds, nanos) = self.time.cpu(hart);
            s.put(0, 8, seconds).put(8, 8, nanos / 1000);
            s.put(32, 8, 4096);
        }
        Ok(s.0)
    }

    /// The processors that a thread may use, a bit each.
    fn processors(&self, thread: usize) -> Vec<u64> {
        let cpus = self.options.cpus as usize;
        let all = (0..cpus.div_ceil(64)).map(|i| match cpus - 64 * i {
            64.. => u64::MAX,
            left => (1 << left) - 1,
        });
        match &self.threads.all[thread].affinity {
            Some(set) => set.clone(),
            None => all.collect(),
        }
    }

    /// The thread of an id; 0 is the caller.
    fn thread_of(&self, id: u64) -> Result<usize, Errno> {
        match id as u32 {
            0 => Ok(self.threads.current),
            id => self.threads.index_of(id).ok_or(Errno::SRCH),
        }
    }

    /// `sched_getaffinity(pid, len, mask)`.
    pub(super) fn sys_sched_getaffinity(&mut self, hart: &mut Hart, pid: u64, len: u64, mask: u64) -> Served {
        let set = self.processors(self.thread_of(pid)?);
        let bytes = 8 * set.len() as u64;
        if len < bytes || !len.is_multiple_of(8) {
            return Err(Errno::INVAL.into());
        }
        for (i, word) in set.iter().enumerate() {
            user::write_u64(hart, mask.wrapping_add(8 * i as u64), *word)?;
        }
        Ok(bytes)
    }

    /// `sched_setaffinity(pid, len, mask)`: threads take turns on one hart, but are told where they are.
    pub(super) fn sys_sched_setaffinity(&mut self, hart: &mut Hart, pid: u64, len: u64, mask: u64) -> Served {
        let thread = self.thread_of(pid)?;
        let mut given = vec![0; len.min(MOST_SET) as usize];
        user::read(hart, mask, &mut given)?;
        self.threads.all[thread].affinity = None;
        let mut set = self.processors(thread);
        for (i, word) in set.iter_mut().enumerate() {
            let bytes = given.get(8 * i..).unwrap_or(&[]);
            let mut wanted = [0; 8];
            let len = bytes.len().min(8);
            wanted[..len].copy_from_slice(&bytes[..len]);
            *word &= u64::from_le_bytes(wanted);
        }
        if set.iter().all(|word| *word == 0) {
            return Err(Errno::INVAL.into());
        }
        self.threads.all[thread].affinity = Some(set);
        Ok(0)
    }

    /// `getcpu(cpu, node)`: each thread has its processor, until there are no more.
    pub(super) fn sys_getcpu(&mut self, hart: &mut Hart, cpu: u64, node: u64) -> Served {
        for (at, value) in [(cpu, self.processor()), (node, 0)] {
            if at != 0 {
                user::write_u32(hart, at, value)?;
            }
        }
        Ok(0)
    }

    /// The processor that this thread is told it is on: of those it may use, the one of its number.
    pub(super) fn processor(&self) -> u32 {
        let Some(set) = &self.me().affinity else { return self.me().number % self.options.cpus.max(1) };
        let allowed: Vec<u32> = (0..64 * set.len() as u32).filter(|i| is_in(set, *i)).collect();
        allowed.get(self.me().number as usize % allowed.len().max(1)).copied().unwrap_or(0)
    }

    /// The calls about scheduling classes: every thread is in the usual one.
    pub(super) fn sys_sched(&mut self, hart: &mut Hart, number: u64, args: [u64; 6]) -> Served {
        let [pid, policy, at, ..] = args;
        if matches!(number, 118..=121 | 127 | 274 | 275) {
            if (pid as i32) < 0 {
                return Err(Errno::INVAL.into());
            }
            self.thread_of(pid)?;
        }
        match number {
            // sched_setparam, sched_setscheduler: SCHED_OTHER, BATCH and IDLE have priority 0 only.
            118 => match user::read_u32(hart, policy)? {
                0 => Ok(0),
                _ => Err(Errno::INVAL.into()),
            },
            119 => match (policy & 0xff, user::read_u32(hart, at)?) {
                (0 | 3 | 5, 0) => Ok(0),
                (1 | 2, 1..=99) => Err(Errno::PERM.into()),
                _ => Err(Errno::INVAL.into()),
            },
            120 => Ok(0),
            121 => {
                user::write_u32(hart, policy, 0)?;
                Ok(0)
            }
            // sched_get_priority_max, _min
            125 | 126 => match pid {
                1 | 2 => Ok(if number == 125 { 99 } else { 1 }),
                0 | 3 | 5 | 6 => Ok(0),
                _ => Err(Errno::INVAL.into()),
            },
            // sched_rr_get_interval
            127 => {
                let mut s = Layout::<16>::new();
                s.put(8, 8, 100_000_000);
                user::write(hart, policy, &s.0)?;
                Ok(0)
            }
            274 => Ok(0),
            // sched_getattr
            _ => {
                let mut s = Layout::<48>::new();
                s.put(0, 4, 48);
                if at < 48 {
                    return Err(Errno::INVAL.into());
                }
                user::write(hart, policy, &s.0)?;
                Ok(0)
            }
        }
    }

    /// `setpriority(which, who, value)`, `getpriority(which, who)`, whose answer is 20 less the priority.
    pub(super) fn sys_priority(&mut self, sets: bool, args: [u64; 6]) -> Served {
        let [which, who, value, ..] = args;
        if which > 2 {
            return Err(Errno::INVAL.into());
        }
        let own = which == 0 && (who == 0 || self.threads.index_of(who as u32).is_some());
        if self.owns_host_process() {
            let who = if own { 0 } else { who as i32 };
            return Ok(host::priority(which as i32, who, sets.then_some(value as i32))?);
        }
        if !own && which == 0 {
            return Err(Errno::SRCH.into());
        }
        if !sets {
            return Ok((20 - self.nice) as u64);
        }
        let wanted = i64::from(value as i32).clamp(-20, 19);
        if wanted < self.nice {
            return Err(Errno::ACCESS.into());
        }
        self.nice = wanted;
        Ok(0)
    }

    /// `ioprio_set(which, who, priority)`, `ioprio_get(which, who)`.
    pub(super) fn sys_ioprio(&mut self, sets: bool, args: [u64; 6]) -> Served {
        let [which, who, value, ..] = args;
        if !(1..=3).contains(&which) {
            return Err(Errno::INVAL.into());
        }
        if !self.owns_host_process() {
            return Ok(0);
        }
        let who = if which == 1 && self.threads.index_of(who as u32).is_some() { 0 } else { who as i32 };
        Ok(host::io_priority(which as i32, who, sets.then_some(value as i32))?)
    }
}

fn is_in(set: &[u64], processor: u32) -> bool {
    set.get(processor as usize / 64).is_some_and(|word| word >> (processor % 64) & 1 != 0)
}
