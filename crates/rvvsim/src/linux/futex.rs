//! `futex`, and the list of locks that a thread holds.

use super::schedule::Wait;
use super::user;
use super::{Process, Served, Stop};
use crate::Hart;
use crate::mem::Access;
use rustix::io::Errno;
use std::time::{Duration, Instant};

const OWNER_DIED: u32 = 0x4000_0000;
const WAITERS: u32 = 0x8000_0000;
const TID: u32 = 0x3fff_ffff;
const ANY: u32 = u32::MAX;
const CLOCK_REALTIME: u64 = 256;

/// How often a futex that other processes share is looked at.
const LOOK: Duration = Duration::from_micros(500);

/// Entries of a robust list that are looked at, as on Linux.
const MOST_ROBUST: usize = 2048;

/// A thread's wait on a futex.
pub struct FutexWait {
    /// The futex: where it is in RAM.
    key: usize,
    /// And its address.
    address: u64,
    /// Which wakes it takes part in.
    bitset: u32,
    /// It was woken, with this answer.
    woken: Option<Result<(), Errno>>,
    /// Its place in the queue.
    order: u64,
    /// It waits to own a lock with priority inheritance.
    pi: bool,
    /// Where it is moved to, and becomes a wait for a lock.
    requeue_pi: Option<usize>,
}

/// `set_robust_list`.
#[derive(Clone, Copy, Default)]
pub struct Robust {
    /// The list's head; 0 for none.
    head: u64,
}

impl Process {
    /// `futex(uaddr, op, val, timeout, uaddr2, val3)`.
    pub(super) fn sys_futex(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [address, op, value, timeout, address2, value3] = args;
        let command = op & 127;
        if op & CLOCK_REALTIME != 0 && !matches!(command, 0 | 9 | 11 | 13) {
            return Err(Errno::NOSYS.into());
        }
        let value = value as u32;
        let count = usize::try_from(value as i32).unwrap_or(0);
        let count2 = usize::try_from(timeout as i32).unwrap_or(0);
        match command {
            // FUTEX_WAIT, FUTEX_WAIT_BITSET
            0 | 9 => {
                let bitset = if command == 0 { ANY } else { value3 as u32 };
                let clock = (command == 9).then_some(u64::from(op & CLOCK_REALTIME == 0));
                self.futex_wait(hart, address, value, bitset, timeout, clock, None)
            }
            // FUTEX_WAKE, FUTEX_WAKE_BITSET
            1 | 10 => {
                let bitset = if command == 1 { ANY } else { value3 as u32 };
                if bitset == 0 {
                    return Err(Errno::INVAL.into());
                }
                let key = futex_key(hart, address)?;
                Ok(self.wake(key, count.max(1), bitset) as u64)
            }
            // FUTEX_REQUEUE, FUTEX_CMP_REQUEUE
            3 | 4 => {
                let (from, to) = (futex_key(hart, address)?, futex_key(hart, address2)?);
                if command == 4 && user::read_u32(hart, address)? != value3 as u32 {
                    return Err(Errno::AGAIN.into());
                }
                let woken = self.wake(from, count, ANY);
                let moved = self.requeue(from, to, count2);
                Ok((woken + if command == 4 { moved } else { 0 }) as u64)
            }
            5 => self.futex_wake_op(hart, [address, address2], [count.max(1), count2], value3 as u32),
            // FUTEX_LOCK_PI, FUTEX_LOCK_PI2
            6 | 13 => {
                let clock = u64::from(command == 13 && op & CLOCK_REALTIME == 0);
                self.futex_lock_pi(hart, address, timeout, clock)
            }
            7 => self.futex_unlock_pi(hart, address),
            8 => match self.take_pi(hart, address)? {
                true => Ok(0),
                false => Err(Errno::AGAIN.into()),
            },
            // FUTEX_WAIT_REQUEUE_PI
            11 => {
                let to = futex_key(hart, address2)?;
                let clock = Some(u64::from(op & CLOCK_REALTIME == 0));
                self.futex_wait(hart, address, value, ANY, timeout, clock, Some(to))
            }
            // FUTEX_CMP_REQUEUE_PI
            12 => {
                let from = futex_key(hart, address)?;
                if user::read_u32(hart, address)? != value3 as u32 {
                    return Err(Errno::AGAIN.into());
                }
                self.requeue_pi(hart, from, address2, count2)
            }
            _ => Err(Errno::NOSYS.into()),
        }
    }

    #[expect(clippy::too_many_arguments, reason = "they are the call's")]
    fn futex_wait(
        &mut self,
        hart: &mut Hart,
        address: u64,
        value: u32,
        bitset: u32,
        timeout: u64,
        clock: Option<u64>,
        requeue_pi: Option<usize>,
    ) -> Served {
        if bitset == 0 {
            return Err(Errno::INVAL.into());
        }
        let key = futex_key(hart, address)?;
        if let Some(wait) = &self.me().suspended.futex {
            if let Some(answer) = wait.woken {
                answer?;
                return Ok(0);
            }
            if hart.ram.is_shared(key) && user::read_u32(hart, address)? != value {
                return Ok(0);
            }
        } else {
            if user::read_u32(hart, address)? != value {
                return Err(Errno::AGAIN.into());
            }
            let order = self.next_order();
            let wait = FutexWait { key, address, bitset, woken: None, order, pi: false, requeue_pi };
            self.me_mut().suspended.futex = Some(wait);
        }
        self.wait_on_futex(hart, address, timeout, clock)
    }

    /// Goes on waiting, or says that the time is up.
    fn wait_on_futex(&mut self, hart: &mut Hart, address: u64, timeout: u64, clock: Option<u64>) -> Served {
        let until = match timeout {
            0 => None,
            _ => Some(self.waking_time(hart, timeout, clock)?),
        };
        if until.is_some_and(|until| self.time.now(hart) >= until) {
            return Err(Errno::TIMEDOUT.into());
        }
        let key = futex_key(hart, address)?;
        if hart.ram.is_shared(key) {
            // Another process may store there and wake; that is seen by looking.
            let why = format!("waits on the futex at {address:#x} for another process");
            let retry = Some(Instant::now() + LOOK);
            return Err(Stop::Again(Wait { until, retry, why, ..Wait::default() }));
        }
        Err(Stop::Again(Wait::until(
            until,
            format!("waits on the futex at {address:#x} for another to wake it"),
        )))
    }

    fn next_order(&mut self) -> u64 {
        self.futex_order += 1;
        self.futex_order
    }

    /// The threads that wait on a futex and were not woken, in the order in which they came.
    fn waiters(&self, key: usize, bitset: u32) -> Vec<usize> {
        let mut waiters: Vec<(u64, usize)> = Vec::new();
        for (i, thread) in self.threads.all.iter().enumerate() {
            if let Some(wait) = &thread.suspended.futex
                && wait.key == key
                && wait.woken.is_none()
                && wait.bitset & bitset != 0
            {
                waiters.push((wait.order, i));
            }
        }
        waiters.sort_unstable();
        waiters.into_iter().map(|(_, i)| i).collect()
    }

    fn wake_thread(&mut self, index: usize, answer: Result<(), Errno>) {
        let thread = &mut self.threads.all[index];
        if let Some(wait) = &mut thread.suspended.futex {
            wait.woken = Some(answer);
        }
        thread.wait = None;
    }

    /// Wakes up to `most` of those that wait on a futex.
    fn wake(&mut self, key: usize, most: usize, bitset: u32) -> usize {
        let plain = |process: &Process, i: &usize| {
            process.threads.all[*i].suspended.futex.as_ref().is_some_and(|wait| !wait.pi)
        };
        let woken: Vec<usize> =
            self.waiters(key, bitset).into_iter().filter(|i| plain(self, i)).take(most).collect();
        for &i in &woken {
            self.wake_thread(i, Ok(()));
        }
        woken.len()
    }

    /// Wakes up to `most` of those that wait on the futex at an address.
    pub(super) fn wake_address(&mut self, hart: &mut Hart, address: u64, most: usize) {
        if let Ok(key) = futex_key(hart, address) {
            self.wake(key, most, ANY);
        }
    }

    fn requeue(&mut self, from: usize, to: usize, most: usize) -> usize {
        let moved: Vec<usize> = self.waiters(from, ANY).into_iter().take(most).collect();
        for &i in &moved {
            let order = self.next_order();
            if let Some(wait) = &mut self.threads.all[i].suspended.futex {
                (wait.key, wait.order) = (to, order);
            }
        }
        moved.len()
    }

    /// `FUTEX_WAKE_OP`: changes the second futex, wakes the first, and the second if its old value was so.
    fn futex_wake_op(&mut self, hart: &mut Hart, at: [u64; 2], counts: [usize; 2], code: u32) -> Served {
        let (op, compare) = (code >> 28 & 15, code >> 24 & 15);
        let extend = |bits: u32| (bits << 20) as i32 >> 20;
        let (mut operand, against) = (extend(code >> 12 & 0xfff), extend(code & 0xfff));
        if op & 8 != 0 {
            operand = 1 << (operand & 31);
        }
        let keys = [futex_key(hart, at[0])?, futex_key(hart, at[1])?];
        let old = user::read_u32(hart, at[1])? as i32;
        let new = match op & 7 {
            0 => operand,
            1 => old.wrapping_add(operand),
            2 => old | operand,
            3 => old & !operand,
            4 => old ^ operand,
            _ => return Err(Errno::NOSYS.into()),
        };
        let holds = match compare {
            0 => old == against,
            1 => old != against,
            2 => old < against,
            3 => old <= against,
            4 => old > against,
            5 => old >= against,
            _ => return Err(Errno::NOSYS.into()),
        };
        user::write_u32(hart, at[1], new as u32)?;
        let mut woken = self.wake(keys[0], counts[0], ANY);
        if holds {
            woken += self.wake(keys[1], counts[1], ANY);
        }
        Ok(woken as u64)
    }

    /// Takes a lock with priority inheritance if it is free; otherwise says that somebody waits for it.
    fn take_pi(&mut self, hart: &mut Hart, address: u64) -> Result<bool, Errno> {
        let key = futex_key(hart, address)?;
        let word = user::read_u32(hart, address)?;
        let me = self.me().tid;
        match word & TID {
            0 => {
                let waiters = if self.waiters(key, ANY).is_empty() { 0 } else { WAITERS };
                user::write_u32(hart, address, me | word & OWNER_DIED | waiters)?;
                Ok(true)
            }
            owner if owner == me => Err(Errno::DEADLK),
            owner if self.threads.index_of(owner).is_none() => Err(Errno::SRCH),
            _ => Ok(false),
        }
    }

    fn futex_lock_pi(&mut self, hart: &mut Hart, address: u64, timeout: u64, clock: u64) -> Served {
        if let Some(FutexWait { woken: Some(answer), .. }) = &self.me().suspended.futex {
            (*answer)?;
            return Ok(0);
        }
        if self.me().suspended.futex.is_none() {
            if self.take_pi(hart, address)? {
                return Ok(0);
            }
            let key = futex_key(hart, address)?;
            let word = user::read_u32(hart, address)?;
            user::write_u32(hart, address, word | WAITERS)?;
            let order = self.next_order();
            let wait =
                FutexWait { key, address, bitset: ANY, woken: None, order, pi: true, requeue_pi: None };
            self.me_mut().suspended.futex = Some(wait);
        }
        self.wait_on_futex(hart, address, timeout, Some(clock))
    }

    fn futex_unlock_pi(&mut self, hart: &mut Hart, address: u64) -> Served {
        let word = user::read_u32(hart, address)?;
        if word & TID != self.me().tid {
            return Err(Errno::PERM.into());
        }
        self.pass_on_pi(hart, address, 0)?;
        Ok(0)
    }

    /// Gives a lock to the first who waits for it.
    fn pass_on_pi(&mut self, hart: &mut Hart, address: u64, bits: u32) -> Result<(), Errno> {
        let key = futex_key(hart, address)?;
        let waiters = self.waiters(key, ANY);
        let more = if waiters.len() > 1 { WAITERS } else { 0 };
        let heir = waiters.first().map_or(0, |&i| self.threads.all[i].tid);
        user::write_u32(hart, address, heir | more | bits)?;
        if let Some(&i) = waiters.first() {
            self.wake_thread(i, Ok(()));
        }
        Ok(())
    }

    /// The waiters of a condition become waiters of its lock; the first may get it at once.
    fn requeue_pi(&mut self, hart: &mut Hart, from: usize, address: u64, most: usize) -> Served {
        let to = futex_key(hart, address)?;
        let waiters: Vec<usize> = self.waiters(from, ANY).into_iter().take(most.saturating_add(1)).collect();
        for &i in &waiters {
            let word = user::read_u32(hart, address)?;
            let order = self.next_order();
            let thread = &mut self.threads.all[i];
            let Some(wait) = &mut thread.suspended.futex else { continue };
            if wait.requeue_pi != Some(to) {
                return Err(Errno::INVAL.into());
            }
            (wait.key, wait.address, wait.order, wait.pi) = (to, address, order, true);
            if word & TID == 0 {
                let tid = thread.tid;
                user::write_u32(hart, address, tid | word & OWNER_DIED)?;
                self.wake_thread(i, Ok(()));
            } else {
                user::write_u32(hart, address, word | WAITERS)?;
            }
        }
        Ok(waiters.len() as u64)
    }

    /// `set_robust_list(head, size)`.
    pub(super) fn sys_set_robust_list(&mut self, head: u64, size: u64) -> Served {
        if size != 24 {
            return Err(Errno::INVAL.into());
        }
        self.me_mut().robust.head = head;
        Ok(0)
    }

    /// `get_robust_list(tid, head, size)`.
    pub(super) fn sys_get_robust_list(&mut self, hart: &mut Hart, tid: u64, head: u64, size: u64) -> Served {
        let index = match tid as u32 {
            0 => self.threads.current,
            tid => self.threads.index_of(tid).ok_or(Errno::SRCH)?,
        };
        let robust = self.threads.all[index].robust;
        user::write_u64(hart, size, 24)?;
        user::write_u64(hart, head, robust.head)?;
        Ok(0)
    }

    /// A thread ends: whoever waits for a lock it holds is told that its owner died.
    pub(super) fn release_robust_list(&mut self, hart: &mut Hart) {
        let head = std::mem::take(&mut self.me_mut().robust).head;
        if head == 0 {
            return;
        }
        let Ok([first, offset, pending]) = words(hart, head) else { return };
        // Bit 0 of a pointer says that the lock is one with priority inheritance.
        let mut entry = first;
        for _ in 0..MOST_ROBUST {
            if entry & !1 == head || entry == 0 {
                break;
            }
            let next = user::read_u64(hart, entry & !1);
            if entry & !1 != pending & !1 {
                self.owner_died(hart, (entry & !1).wrapping_add(offset), entry & 1 != 0);
            }
            match next {
                Ok(next) => entry = next,
                Err(_) => break,
            }
        }
        if pending != 0 {
            self.owner_died(hart, (pending & !1).wrapping_add(offset), pending & 1 != 0);
        }
    }

    /// A thread ends: locks with priority inheritance that it holds go to those who wait for them, whether it
    /// had them in its list or not (`exit_pi_state_list` of Linux).
    pub(super) fn release_pi_locks(&mut self, hart: &mut Hart) {
        let waits = self.threads.all.iter().filter_map(|thread| thread.suspended.futex.as_ref());
        let waits = waits.filter(|wait| wait.pi && wait.woken.is_none());
        let mut addresses: Vec<u64> = waits.map(|wait| wait.address).collect();
        addresses.sort_unstable();
        addresses.dedup();
        for address in addresses {
            let Ok(word) = user::read_u32(hart, address) else { continue };
            // The list may have said already that the owner died.
            if word & TID == self.me().tid || word & (TID | OWNER_DIED) == OWNER_DIED {
                let _ = self.pass_on_pi(hart, address, OWNER_DIED);
            }
        }
    }

    fn owner_died(&mut self, hart: &mut Hart, address: u64, pi: bool) {
        if !address.is_multiple_of(4) {
            return;
        }
        let Ok(word) = user::read_u32(hart, address) else { return };
        if word & TID != self.me().tid {
            return;
        }
        if pi && word & WAITERS != 0 {
            let _ = self.pass_on_pi(hart, address, OWNER_DIED);
        } else if user::write_u32(hart, address, word & WAITERS | OWNER_DIED).is_ok() && word & WAITERS != 0 {
            self.wake_address(hart, address, 1);
        }
    }
}

fn words<const N: usize>(hart: &mut Hart, at: u64) -> Result<[u64; N], Errno> {
    let mut words = [0; N];
    for (i, word) in words.iter_mut().enumerate() {
        *word = user::read_u64(hart, at.wrapping_add(8 * i as u64))?;
    }
    Ok(words)
}

/// Where a futex is in RAM: threads may know it by different addresses.
fn futex_key(hart: &mut Hart, address: u64) -> Result<usize, Errno> {
    if !address.is_multiple_of(4) {
        return Err(Errno::INVAL);
    }
    hart.ram_run(address, 4, Access::Load).ok().flatten().ok_or(Errno::FAULT)
}
