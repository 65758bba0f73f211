//! The page table of the guest process, and the page frames it hands out.

use super::family::Family;
use crate::mem::{PAGE, Ram};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The user half of Sv39.
pub const USER_END: u64 = 1 << 38;

/// May be read.
pub const READ: u64 = 1;
/// May be written.
pub const WRITE: u64 = 2;
/// May be executed.
pub const EXEC: u64 = 4;
/// There is a frame behind the page, whatever its permissions.
const PRESENT: u64 = 8;
/// The page was written, and a shared file wants to know.
pub const DIRTY: u64 = 16;
/// The frame is the host's own page of a file.
pub const HOST: u64 = 32;

const FANOUT: usize = 512;
const ROOT: usize = (USER_END >> 30) as usize;

/// The entry of a page: where its frame is, and what may be done with it. Zero: there is none.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Entry(u64);

impl Entry {
    /// An entry for the frame at RAM offset `frame`.
    pub fn new(frame: usize, permissions: u64) -> Self {
        Entry(frame as u64 | permissions | PRESENT)
    }

    /// Whether there is a frame and all of `permissions` are given.
    #[inline]
    pub fn allows(self, permissions: u64) -> bool {
        self.0 & (permissions | PRESENT) == permissions | PRESENT
    }

    /// Whether there is a frame.
    pub fn present(self) -> bool {
        self.0 & PRESENT != 0
    }

    /// Whether the page is marked as written.
    pub fn dirty(self) -> bool {
        self.0 & DIRTY != 0
    }

    /// Whether the frame is the host's own page of a file.
    pub fn is_host(self) -> bool {
        self.0 & HOST != 0
    }

    /// The frame's RAM offset.
    #[inline]
    pub fn frame(self) -> usize {
        (self.0 & !(PAGE - 1)) as usize
    }
}

type Leaf = Box<[Entry; FANOUT]>;
type Directory = Box<[Option<Leaf>; FANOUT]>;

/// Three levels, as Sv39 has them.
#[derive(Clone)]
pub struct PageTable {
    root: Box<[Option<Directory>; ROOT]>,
}

impl Default for PageTable {
    fn default() -> Self {
        PageTable { root: Box::new([const { None }; ROOT]) }
    }
}

fn index(va: u64, level: u32) -> usize {
    (va >> (12 + 9 * level)) as usize % FANOUT
}

impl PageTable {
    /// The entry of the page of `va`.
    #[inline]
    pub fn get(&self, va: u64) -> Entry {
        let directory = self.root.get((va >> 30) as usize).and_then(Option::as_ref);
        let leaf = directory.and_then(|d| d[index(va, 1)].as_ref());
        leaf.map_or(Entry::default(), |l| l[index(va, 0)])
    }

    /// Sets the entry of the page of `va`, which must be below [`USER_END`].
    pub fn set(&mut self, va: u64, entry: Entry) {
        let Some(slot) = self.root.get_mut((va >> 30) as usize) else { return };
        let directory = slot.get_or_insert_with(|| Box::new([const { None }; FANOUT]));
        let leaf = directory[index(va, 1)].get_or_insert_with(|| Box::new([Entry::default(); FANOUT]));
        leaf[index(va, 0)] = entry;
    }

    /// The entries of all pages that have a frame.
    pub fn present(&self) -> impl Iterator<Item = Entry> {
        let leaves = self.root.iter().flatten().flat_map(|directory| directory.iter().flatten());
        leaves.flat_map(|leaf| leaf.iter().copied()).filter(|entry| entry.present())
    }

    /// Calls `f` with the address and entry of every page from `start` to `end` that has a frame. What was
    /// never touched costs nothing.
    pub fn for_each(&mut self, start: u64, end: u64, mut f: impl FnMut(u64, &mut Entry)) {
        let mut va = start & !(PAGE - 1);
        let end = end.min(USER_END);
        while va < end {
            let Some(directory) = self.root[(va >> 30) as usize].as_mut() else {
                va = (va | ((1 << 30) - 1)) + 1;
                continue;
            };
            let next = ((va | ((1 << 21) - 1)) + 1).min(end);
            if let Some(leaf) = directory[index(va, 1)].as_mut() {
                while va < next {
                    let entry = &mut leaf[index(va, 0)];
                    if entry.present() {
                        f(va, entry);
                    }
                    va += PAGE;
                }
            }
            va = next;
        }
    }
}

/// Pages of memory that is shared with other processes. They are not frames of RAM, and stay as long as any
/// process has a mapping of them, so they are counted for themselves.
#[derive(Default)]
struct Account {
    pages: AtomicU64,
    family: Mutex<Option<Family>>,
}

impl Account {
    fn family(&self) -> MutexGuard<'_, Option<Family>> {
        self.family.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Shared memory that is counted; no more when it is dropped.
pub struct Charge {
    account: Arc<Account>,
    pages: u64,
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.account.pages.fetch_sub(self.pages, Ordering::Relaxed);
        if let Some(family) = *self.account.family() {
            family.give_frames(self.pages);
        }
    }
}

/// Hands out page frames of RAM: fresh ones in order, returned ones first.
#[derive(Clone, Default)]
pub struct Frames {
    fresh: usize,
    free: Vec<usize>,
    /// Who else takes frames from the same account.
    family: Option<Family>,
    shared: Arc<Account>,
}

impl Frames {
    /// A frame of zeroes, or `None` when memory is used up.
    pub fn take(&mut self, ram: &mut Ram) -> Option<usize> {
        if self.family.is_some_and(|family| !family.take_frames(1)) {
            return None;
        }
        let frame = self.find(ram);
        if let (None, Some(family)) = (frame, self.family) {
            family.give_frames(1);
        }
        frame
    }

    fn find(&mut self, ram: &mut Ram) -> Option<usize> {
        if let Some(frame) = self.free.pop() {
            ram.bytes_mut()[frame..frame + PAGE as usize].fill(0);
            return Some(frame);
        }
        let frame = self.fresh;
        if frame + PAGE as usize > ram.len() {
            return None;
        }
        self.fresh += PAGE as usize;
        Some(frame)
    }

    /// Takes a frame back. Blocks decoded from it must die.
    pub fn give(&mut self, ram: &mut Ram, frame: usize) {
        if ram.has_code(frame) {
            ram.note_write(frame, PAGE as usize);
        }
        self.free.push(frame);
        if let Some(family) = self.family {
            family.give_frames(1);
        }
    }

    /// Where frames begin that were never taken.
    pub fn fresh(&self) -> usize {
        self.fresh
    }

    /// Hands out again what it did when `to` was cloned from it. Who counts frames does so now, too.
    pub fn restore(&mut self, to: &Frames) {
        if let Some(family) = self.family {
            family.give_frames(self.taken());
            family.count_frames(to.taken());
        }
        self.fresh = to.fresh;
        self.free.clone_from(&to.free);
    }

    /// From now on frames are counted for a family.
    pub fn join(&mut self, family: Family) {
        self.family = Some(family);
        *self.shared.family() = Some(family);
    }

    /// Counts shared memory; `None` if there may be no more.
    pub fn charge(&self, ram: &Ram, pages: u64) -> Option<Charge> {
        if self.in_use() + pages > ram.len() as u64 / PAGE {
            return None;
        }
        if self.family.is_some_and(|family| !family.take_frames(pages)) {
            return None;
        }
        self.shared.pages.fetch_add(pages, Ordering::Relaxed);
        Some(Charge { account: Arc::clone(&self.shared), pages })
    }

    /// Frames that are taken, and pages of shared memory.
    pub fn in_use(&self) -> u64 {
        self.taken() + self.shared.pages.load(Ordering::Relaxed)
    }

    /// Frames that are taken.
    pub fn taken(&self) -> u64 {
        (self.fresh / PAGE as usize - self.free.len()) as u64
    }

    /// Whether a frame is taken.
    pub fn is_used(&self, frame: usize) -> bool {
        frame < self.fresh && !self.free.contains(&frame)
    }

    /// Bytes that can still be taken.
    pub fn available(&self, ram: &Ram) -> u64 {
        (ram.len() - self.fresh.min(ram.len())) as u64 + self.free.len() as u64 * PAGE
    }
}
