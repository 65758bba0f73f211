//! The processes that one guest becomes: what they have in common.
//!
//! A guest that forks becomes a host process that forks. All share one page of counters, so that the limits
//! of the run bound them together: instructions, memory, processes, and bytes in the private `/tmp`. In the
//! sandbox they also have ids of their own there, and can signal nobody else.

use super::host;
use rustix::io::Errno;
use std::sync::atomic::{AtomicI32, AtomicU32, AtomicU64, Ordering};

/// Most processes of a family at a time.
pub const MOST_PROCESSES: usize = 1024;

/// One process, in the common page.
pub struct Slot {
    /// The host's id of it; 0 if the slot is free, -1 while it is being filled.
    host: AtomicI32,
    /// The guest's id of it.
    guest: AtomicU32,
    /// Its group and session, by the guest's ids.
    group: AtomicU32,
    session: AtomicU32,
    /// Page frames that it uses.
    frames: AtomicU64,
}

/// The common page.
pub struct Shared {
    /// The host's id of the first process.
    top: AtomicI32,
    /// Why all are to end; 0 while they are not.
    ending: AtomicU32,
    last_id: AtomicU32,
    processes: AtomicU32,
    instructions: AtomicU64,
    frames: AtomicU64,
    tmp_bytes: AtomicU64,
    slots: [Slot; MOST_PROCESSES],
}

/// Why a family is to end.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum Ending {
    /// The first process has ended.
    Over = 1,
    /// `--max-insns`.
    OutOfInstructions = 2,
}

/// This process as one of a family.
#[derive(Clone, Copy)]
pub struct Family {
    shared: &'static Shared,
    slot: usize,
    /// Ids are the host's, and the guest may signal whomever its user may.
    host_ids: bool,
    most_processes: u32,
    /// Frames that all may have together.
    most_frames: u64,
    /// Whether this is not the first process.
    pub is_child: bool,
}

impl Family {
    /// The family of one process, with these ids.
    pub fn new(pid: u32, host_ids: bool, most_processes: u32, most_frames: u64) -> Result<Self, Errno> {
        let shared: &'static Shared = host::shared_memory()?;
        let host_pid = std::process::id() as i32;
        shared.top.store(host_pid, Ordering::Relaxed);
        shared.last_id.store(pid, Ordering::Relaxed);
        shared.processes.store(1, Ordering::Relaxed);
        let slot = &shared.slots[0];
        slot.host.store(host_pid, Ordering::Relaxed);
        slot.guest.store(pid, Ordering::Relaxed);
        slot.group.store(pid, Ordering::Relaxed);
        slot.session.store(pid, Ordering::Relaxed);
        Ok(Family { shared, slot: 0, host_ids, most_processes, most_frames, is_child: false })
    }

    fn mine(&self) -> &'static Slot {
        &self.shared.slots[self.slot]
    }

    /// A place for a child; its index and, in the sandbox, its id.
    pub fn reserve(&self) -> Result<(usize, u32), Errno> {
        if self.ending().is_some() {
            return Err(Errno::AGAIN);
        }
        if self.shared.processes.load(Ordering::Relaxed) >= self.most_processes {
            self.release_dead();
        }
        if self.shared.processes.fetch_add(1, Ordering::Relaxed) >= self.most_processes {
            self.shared.processes.fetch_sub(1, Ordering::Relaxed);
            return Err(Errno::AGAIN);
        }
        let free =
            |slot: &Slot| slot.host.compare_exchange(0, -1, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        let Some(index) = self.shared.slots.iter().position(free) else {
            self.shared.processes.fetch_sub(1, Ordering::Relaxed);
            return Err(Errno::AGAIN);
        };
        let id = self.new_id();
        let (slot, mine) = (&self.shared.slots[index], self.mine());
        slot.guest.store(id, Ordering::Relaxed);
        slot.group.store(mine.group.load(Ordering::Relaxed), Ordering::Relaxed);
        slot.session.store(mine.session.load(Ordering::Relaxed), Ordering::Relaxed);
        let frames = mine.frames.load(Ordering::Relaxed);
        slot.frames.store(frames, Ordering::Relaxed);
        if self.shared.frames.fetch_add(frames, Ordering::Relaxed) + frames > self.most_frames {
            self.release(index);
            return Err(Errno::NOMEM);
        }
        Ok((index, id))
    }

    /// An id that nobody in the family has: of a process or of a thread.
    pub fn new_id(&self) -> u32 {
        // Below 2³⁰, which is what a futex has room for.
        const MOST: u32 = 1 << 29;
        1 + self.shared.last_id.fetch_add(1, Ordering::Relaxed) % MOST
    }

    /// The child of a reserved place is there, with this id of the host. Parent and child both say so, and
    /// the child may be gone, its place another's, before its parent comes to it.
    pub fn fill(&self, (index, id): (usize, u32), host_pid: i32) {
        let slot = &self.shared.slots[index];
        if slot.guest.load(Ordering::Relaxed) == id {
            let _ = slot.host.compare_exchange(-1, host_pid, Ordering::AcqRel, Ordering::Relaxed);
        }
    }

    /// This process is the child of that place.
    pub fn become_child(&mut self, place: (usize, u32)) {
        (self.slot, self.is_child) = (place.0, true);
        self.fill(place, std::process::id() as i32);
    }

    /// A place is free again.
    pub fn release(&self, index: usize) {
        let slot = &self.shared.slots[index];
        let frames = slot.frames.swap(0, Ordering::Relaxed);
        self.shared.frames.fetch_sub(frames, Ordering::Relaxed);
        if slot.host.swap(0, Ordering::Release) != 0 {
            self.shared.processes.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// This process ends. Its place stays until its parent has heard of that, if it has one.
    pub fn leave(&self) {
        let parent = rustix::process::getppid().map_or(0, |pid| pid.as_raw_nonzero().get());
        if self.index_of(|slot| slot.host.load(Ordering::Acquire) == parent).is_none() {
            self.release(self.slot);
            return;
        }
        let frames = self.mine().frames.swap(0, Ordering::Relaxed);
        self.shared.frames.fetch_sub(frames, Ordering::Relaxed);
    }

    /// A process of the host is no more.
    pub fn release_host(&self, host_pid: i32) {
        if let Some(index) = self.index_of(|slot| slot.host.load(Ordering::Acquire) == host_pid) {
            self.release(index);
        }
    }

    /// Frees the places of processes that were killed and that nobody waited for.
    fn release_dead(&self) {
        for (index, slot) in self.shared.slots.iter().enumerate() {
            let host_pid = slot.host.load(Ordering::Acquire);
            if host_pid > 0 && host::kill(host_pid, 0) == Err(Errno::SRCH) {
                self.release(index);
            }
        }
    }

    fn index_of(&self, is: impl Fn(&Slot) -> bool) -> Option<usize> {
        self.shared.slots.iter().position(is)
    }

    /// The guest's id of a process of the host.
    pub fn guest_id(&self, host_pid: i32) -> u32 {
        if self.host_ids {
            return host_pid as u32;
        }
        let index = self.index_of(|slot| slot.host.load(Ordering::Acquire) == host_pid);
        index.map_or(0, |index| self.shared.slots[index].guest.load(Ordering::Relaxed))
    }

    /// The guest's id of a parent; that of nobody if it is not of the family any more.
    pub fn parent_of_guest(&self, host_pid: i32) -> u32 {
        match self.guest_id(host_pid) {
            0 => 1,
            id => id,
        }
    }

    /// The host's id of a process of the guest.
    pub fn host_id(&self, guest_pid: i32) -> Result<i32, Errno> {
        if self.host_ids {
            return Ok(guest_pid);
        }
        let is = |slot: &Slot| {
            slot.host.load(Ordering::Acquire) > 0 && slot.guest.load(Ordering::Relaxed) == guest_pid as u32
        };
        let index = self.index_of(is).ok_or(Errno::SRCH)?;
        Ok(self.shared.slots[index].host.load(Ordering::Acquire))
    }

    /// Group and session of a process; of this one if `pid` is 0.
    pub fn group_and_session(&self, pid: u32) -> Result<(u32, u32), Errno> {
        if self.host_ids {
            return Ok((host::group::get(pid as i32)? as u32, host::group::session(pid as i32)? as u32));
        }
        let slot = self.slot_of(pid)?;
        Ok((slot.group.load(Ordering::Relaxed), slot.session.load(Ordering::Relaxed)))
    }

    fn slot_of(&self, pid: u32) -> Result<&'static Slot, Errno> {
        if pid == 0 {
            return Ok(self.mine());
        }
        let is =
            |slot: &Slot| slot.host.load(Ordering::Acquire) > 0 && slot.guest.load(Ordering::Relaxed) == pid;
        self.index_of(is).map(|index| &self.shared.slots[index]).ok_or(Errno::SRCH)
    }

    /// Puts a process into a group.
    pub fn set_group(&self, pid: u32, group: u32) -> Result<(), Errno> {
        if self.host_ids {
            return host::group::set(pid as i32, group as i32);
        }
        let slot = self.slot_of(pid)?;
        let group = if group == 0 { slot.guest.load(Ordering::Relaxed) } else { group };
        slot.group.store(group, Ordering::Relaxed);
        Ok(())
    }

    /// Begins a session; its id.
    pub fn begin_session(&self) -> Result<u32, Errno> {
        if self.host_ids {
            return host::group::begin_session().map(|id| id as u32);
        }
        let mine = self.mine();
        let id = mine.guest.load(Ordering::Relaxed);
        if mine.group.load(Ordering::Relaxed) == id && self.is_child {
            return Err(Errno::PERM);
        }
        mine.group.store(id, Ordering::Relaxed);
        mine.session.store(id, Ordering::Relaxed);
        Ok(id)
    }

    /// The processes that a `kill` of this target means, by their host's ids; not this process, and whether
    /// this is one of them, too.
    pub fn targets(&self, target: i32) -> Result<(Vec<i32>, bool), Errno> {
        let me = std::process::id() as i32;
        if target > 0 {
            let host_pid = self.host_id(target)?;
            if host_pid != me && !is_emulator(host_pid) {
                return Err(Errno::SRCH);
            }
            return Ok(if host_pid == me { (Vec::new(), true) } else { (vec![host_pid], false) });
        }
        let group = match target {
            0 => Some(self.group_and_session(0)?.0),
            -1 => None,
            group => Some(group.unsigned_abs()),
        };
        let mut found = (Vec::new(), false);
        for slot in &self.shared.slots {
            let host_pid = slot.host.load(Ordering::Acquire);
            if host_pid > 0 && group.is_none_or(|group| slot.group.load(Ordering::Relaxed) == group) {
                if host_pid == me {
                    found.1 = group.is_some();
                } else if is_emulator(host_pid) {
                    found.0.push(host_pid);
                }
            }
        }
        if found.0.is_empty() && !found.1 { Err(Errno::SRCH) } else { Ok(found) }
    }

    /// Whether ids are the host's.
    pub fn has_host_ids(&self) -> bool {
        self.host_ids
    }

    /// Counts frames taken; false, and nothing counted, if the family has no more.
    pub fn take_frames(&self, frames: u64) -> bool {
        if self.shared.frames.fetch_add(frames, Ordering::Relaxed) + frames > self.most_frames {
            self.shared.frames.fetch_sub(frames, Ordering::Relaxed);
            return false;
        }
        self.mine().frames.fetch_add(frames, Ordering::Relaxed);
        true
    }

    /// Counts frames given back.
    pub fn give_frames(&self, frames: u64) {
        self.mine().frames.fetch_sub(frames, Ordering::Relaxed);
        self.shared.frames.fetch_sub(frames, Ordering::Relaxed);
    }

    /// Counts frames that this process has had before there was a family.
    pub fn count_frames(&self, frames: u64) {
        self.mine().frames.fetch_add(frames, Ordering::Relaxed);
        self.shared.frames.fetch_add(frames, Ordering::Relaxed);
    }

    /// Counts instructions; how many the family has executed.
    pub fn count_instructions(&self, more: u64) -> u64 {
        self.shared.instructions.fetch_add(more, Ordering::Relaxed) + more
    }

    /// Counts bytes in the private `/tmp`; how many there are by that count.
    pub fn count_tmp(&self, more: u64) -> u64 {
        self.shared.tmp_bytes.fetch_add(more, Ordering::Relaxed) + more
    }

    /// Why all are to end, if they are.
    pub fn ending(&self) -> Option<Ending> {
        match self.shared.ending.load(Ordering::Relaxed) {
            0 => None,
            2 => Some(Ending::OutOfInstructions),
            _ => Some(Ending::Over),
        }
    }

    /// All are to end.
    pub fn end(&self, why: Ending) {
        let _ = self.shared.ending.compare_exchange(0, why as u32, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Whether the first process is gone.
    pub fn is_orphan(&self) -> bool {
        host::kill(self.shared.top.load(Ordering::Relaxed), 0) == Err(Errno::SRCH)
    }

    /// Ends all other processes, and does not return before they are gone or cannot be.
    pub fn end_others(&self) {
        self.end(Ending::Over);
        // A process that was about to fork may have a child that nobody has counted yet; it looks at
        // `ending`.
        for _ in 0..1000 {
            let mut left = false;
            for (index, slot) in self.shared.slots.iter().enumerate() {
                let host_pid = slot.host.load(Ordering::Acquire);
                if host_pid == 0 || index == self.slot {
                    continue;
                }
                let is_gone = |pid| !is_emulator(pid) || host::kill(pid, libc::SIGKILL) == Err(Errno::SRCH);
                if host_pid > 0 && is_gone(host_pid) {
                    self.release(index);
                    continue;
                }
                left = true;
                let _ = host::wait_for_child(0, 0, libc::WEXITED);
            }
            if !left {
                break;
            }
            std::thread::sleep(std::time::Duration::from_micros(200));
        }
    }
}

/// Whether a process of the host is one of this emulator: its id may be another's by now, if it was killed
/// and nobody of the family waited for it.
fn is_emulator(host_pid: i32) -> bool {
    let program = |pid: &str| std::fs::read_link(format!("/proc/{pid}/exe")).ok();
    let there = program(&host_pid.to_string());
    there.is_some() && there == program("self")
}
