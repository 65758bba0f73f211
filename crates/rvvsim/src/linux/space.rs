//! The address space of the guest process: which addresses are mapped, how, and to what.

mod kept;
mod maps;

use kept::FilePages;
pub(crate) use kept::KeptSpace;

use super::family::Family;
use super::files::HostFile;
use super::holes::Holes;
use super::host::ipc::Segment;
use super::pages::{Charge, DIRTY, EXEC, Entry, Frames, HOST, PageTable, READ, USER_END, WRITE};
use crate::mem::{Access, PAGE, Ram, Target};
use crate::trap::{Cause, Exec, Trap};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Why a page could not be had: all of guest memory is in use.
pub const OUT_OF_MEMORY: &str = "guest memory is used up";
/// Why a page could not be had: the file behind it is shorter.
pub const PAST_END_OF_FILE: &str = "the page is past the end of the file mapped there";

/// As many mappings as Linux allows by default.
const MOST_AREAS: usize = 65530;
/// Nothing is mapped below, unless the program was linked there.
const LOWEST: u64 = 0x10000;
/// What lies this close below the stack is taken for an overflow of it.
const STACK_GUARD: u64 = 1 << 20;

/// What is behind an area before it is touched.
#[derive(Clone)]
pub enum Backing {
    /// Zeroes.
    Zero,
    /// A page that starts with these bytes.
    Words(&'static [u32]),
    /// A file, from this offset at the area's start.
    File(Arc<HostFile>, u64),
    /// System V shared memory, from this offset at the area's start.
    Segment(Arc<Segment>, u64),
}

/// A range of addresses mapped alike.
#[derive(Clone)]
pub struct Area {
    /// The first address past it.
    pub end: u64,
    /// `PROT_READ`, `PROT_WRITE`, `PROT_EXEC`, numbered as the page table's permissions.
    pub prot: u64,
    /// `MAP_SHARED`: what is written reaches the file.
    pub shared: bool,
    /// `PROT_WRITE` may be given. Not to a shared mapping of a file that is open to read only.
    pub may_write: bool,
    /// What is behind it.
    pub backing: Backing,
    /// What `/proc/self/maps` calls it, if not by a file's name.
    pub name: &'static str,
}

impl Area {
    /// Private zeroes.
    pub fn anonymous(end: u64, prot: u64, name: &'static str) -> Self {
        Area { end, prot, shared: false, may_write: true, backing: Backing::Zero, name }
    }

    /// Whether a file is behind it.
    pub fn is_of_file(&self) -> bool {
        matches!(self.backing, Backing::File(..))
    }

    fn is_shared_file(&self) -> bool {
        self.shared && matches!(self.backing, Backing::File(..))
    }

    /// The page table's permissions: on RISC-V a page that may be written may be read.
    fn permissions(&self) -> u64 {
        self.prot | if self.prot & WRITE != 0 { READ } else { 0 }
    }

    /// The part of the area from `by` bytes on.
    fn advance(&mut self, by: u64) {
        if let Backing::File(_, offset) | Backing::Segment(_, offset) = &mut self.backing {
            *offset += by;
        }
    }

    fn joins(&self, other: &Area) -> bool {
        let zero = |b: &Backing| matches!(b, Backing::Zero);
        (self.prot, self.shared, self.may_write, self.name)
            == (other.prot, other.shared, other.may_write, other.name)
            && zero(&self.backing)
            && zero(&other.backing)
    }
}

/// The address space of the guest process: mappings, and the page frames behind them.
pub struct AddressSpace {
    areas: BTreeMap<u64, Area>,
    /// Where none of them is.
    holes: Holes,
    table: PageTable,
    frames: Frames,
    /// New mappings go below this.
    mmap_top: u64,
    stack_bottom: u64,
    /// A file may be mapped shared.
    has_shared_files: bool,
    brk_start: u64,
    brk: u64,
    /// A page could not be had.
    used_up: bool,
    /// Shared mappings are the host's, so that other processes see them.
    host_sharing: bool,
    /// Bits at the top of an address that loads and stores ignore (Supm).
    ignored_bits: u32,
    /// How often mappings changed.
    changes: u64,
    /// What was read of mapped files, when someone may want to read it again.
    file_pages: Option<Box<FilePages>>,
}

impl AddressSpace {
    /// An empty one, whose stack will begin at `stack_bottom` and mappings end at `mmap_top`.
    pub(super) fn new(stack_bottom: u64, mmap_top: u64) -> Self {
        AddressSpace {
            areas: BTreeMap::new(),
            holes: Holes::new(LOWEST, mmap_top),
            table: PageTable::default(),
            frames: Frames::default(),
            mmap_top,
            stack_bottom,
            has_shared_files: false,
            brk_start: 0,
            brk: 0,
            used_up: false,
            host_sharing: false,
            ignored_bits: 0,
            changes: 0,
            file_pages: None,
        }
    }

    /// Finds the page of `va`, taking a frame for it on first touch.
    ///
    /// # Errors
    /// The page fault of that access.
    pub fn translate(&mut self, ram: &mut Ram, va: u64, access: Access) -> Exec<Target> {
        // Pointer masking: the bits that are ignored become copies of the highest one that is not.
        let masked = self.ignored_bits != 0 && access != Access::Fetch;
        let va = if masked { ((va << self.ignored_bits) as i64 >> self.ignored_bits) as u64 } else { va };
        let wanted = match access {
            Access::Load => READ,
            Access::Store => WRITE,
            Access::Fetch => EXEC,
        };
        let entry = self.table.get(va);
        if entry.allows(wanted) {
            return Ok(Target::Ram(entry.frame() + (va % PAGE) as usize));
        }
        let (cause, why) = match self.fault_in(ram, va, wanted) {
            Ok(frame) => return Ok(Target::Ram(frame + (va % PAGE) as usize)),
            Err(why) => match access {
                Access::Load => (Cause::LoadPageFault, why),
                Access::Store => (Cause::StorePageFault, why),
                Access::Fetch => (Cause::InstructionPageFault, why),
            },
        };
        Err(Trap::new(cause, va, why))
    }

    /// The frame of a page that is mapped but not yet there, or not yet writable.
    #[cold]
    fn fault_in(&mut self, ram: &mut Ram, va: u64, wanted: u64) -> Result<usize, &'static str> {
        let Some((start, area)) = self.area_at(va) else {
            let below_stack = va < self.stack_bottom && self.stack_bottom - va <= STACK_GUARD;
            return Err(match va {
                0..PAGE => "no mapping at this address: a null pointer?",
                _ if below_stack => "no mapping at this address: the stack has overflowed",
                _ => "no mapping at this address",
            });
        };
        let mut permissions = area.permissions();
        if permissions & wanted == 0 {
            return Err(match (area.prot, wanted) {
                (0, _) => "access to a page mapped without any permission",
                (_, WRITE) => "store to a read-only page",
                (_, EXEC) => "fetch from a page that is not executable",
                _ => "load from a page that may not be read",
            });
        }
        if self.host_sharing && area.is_shared_file() || matches!(area.backing, Backing::Segment(..)) {
            return self.fault_in_host(ram, va);
        }
        if area.is_shared_file() {
            // The first store is to be seen, so that only what was written is written back.
            permissions = if wanted == WRITE { permissions | DIRTY } else { permissions & !WRITE };
        }
        let page = va & !(PAGE - 1);
        let present = self.table.get(page);
        if present.present() {
            let dirty = if present.dirty() { DIRTY | (permissions & WRITE) } else { 0 };
            self.table.set(page, Entry::new(present.frame(), permissions | dirty));
            return Ok(present.frame());
        }
        let backing = area.backing.clone();
        let Some(frame) = self.frames.take(ram) else {
            self.used_up = true;
            return Err(OUT_OF_MEMORY);
        };
        let bytes = &mut ram.bytes_mut()[frame..frame + PAGE as usize];
        match backing {
            Backing::Zero => {}
            Backing::Words(words) => {
                for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
                    place.copy_from_slice(&word.to_le_bytes());
                }
            }
            // It was found above.
            Backing::Segment(..) => {}
            Backing::File(file, offset) => {
                let at = offset + (page - start);
                let read = match &mut self.file_pages {
                    None => file.read_page(at, bytes),
                    Some(pages) => pages.read(&file, at, bytes),
                };
                if read == 0 {
                    self.frames.give(ram, frame);
                    return Err(PAST_END_OF_FILE);
                }
            }
        }
        self.table.set(page, Entry::new(frame, permissions));
        Ok(frame)
    }

    /// The frame of a page of a shared mapping: the host's own page of the file.
    fn fault_in_host(&mut self, ram: &mut Ram, va: u64) -> Result<usize, &'static str> {
        let page = va & !(PAGE - 1);
        let Some((start, area)) = self.area_at(va) else { return Err("no mapping at this address") };
        let (permissions, may_write, backing) = (area.permissions(), area.may_write, area.backing.clone());
        let present = self.table.get(page);
        if present.present() {
            self.table.set(page, Entry::new(present.frame(), permissions | HOST));
            return Ok(present.frame());
        }
        let within = page - start;
        if let Backing::File(file, offset) = &backing
            && rustix::fs::fstat(&**file).is_ok_and(|stat| stat.st_size as u64 <= offset + within)
        {
            return Err(PAST_END_OF_FILE);
        }
        let Some(frame) = self.frames.take(ram) else {
            self.used_up = true;
            return Err(OUT_OF_MEMORY);
        };
        let mapped = match &backing {
            Backing::File(file, offset) => ram.map_file(frame, &**file, offset + within, may_write),
            Backing::Segment(segment, offset) => match segment.page(offset + within) {
                Some(page) => ram.map_copy(frame, page),
                None => {
                    self.frames.give(ram, frame);
                    return Err(PAST_END_OF_FILE);
                }
            },
            Backing::Zero | Backing::Words(_) => Ok(()),
        };
        if mapped.is_err() {
            self.frames.give(ram, frame);
            self.used_up = true;
            return Err(OUT_OF_MEMORY);
        }
        self.table.set(page, Entry::new(frame, permissions | HOST));
        Ok(frame)
    }

    /// Sets how many bits at the top of an address are ignored; whether that is a change, so that the TLB
    /// must go.
    pub(super) fn ignore_bits(&mut self, bits: u32) -> bool {
        std::mem::replace(&mut self.ignored_bits, bits) != bits
    }

    /// The bytes of the System V shared memory that begins at an address.
    pub(super) fn segment_at(&self, address: u64) -> Option<usize> {
        match self.area_at(address) {
            Some((start, Area { backing: Backing::Segment(segment, 0), .. })) if start == address => {
                Some(segment.size())
            }
            _ => None,
        }
    }

    /// From now on shared mappings are those of the host, if it can be.
    pub(super) fn share_with(&mut self, host: bool) {
        self.host_sharing = host;
    }

    /// Whether shared mappings are those of the host.
    pub(super) fn shares_with_host(&self) -> bool {
        self.host_sharing
    }

    /// From now on frames are counted for a family.
    pub(super) fn join(&mut self, family: Family) {
        self.frames.join(family);
    }

    /// Counts shared memory; `None` if there may be no more.
    pub(super) fn charge(&self, ram: &Ram, pages: u64) -> Option<Charge> {
        self.frames.charge(ram, pages)
    }

    /// All frames are about to go: no longer counted for a family. Shared memory counts until its last
    /// mapping is gone.
    pub(super) fn leave(&self, family: Family) {
        family.give_frames(self.frames.taken());
    }

    /// Frames that are taken, and pages of shared memory.
    pub(super) fn frames_in_use(&self) -> u64 {
        self.frames.in_use()
    }

    /// Whether a frame is taken.
    pub(super) fn is_frame_used(&self, frame: usize) -> bool {
        self.frames.is_used(frame)
    }

    /// The area of an address, and its start.
    pub(super) fn area_at(&self, va: u64) -> Option<(u64, &Area)> {
        self.areas
            .range(..=va)
            .next_back()
            .filter(|(_, area)| va < area.end)
            .map(|(&start, area)| (start, area))
    }

    /// Whether nothing is mapped from `start` to `end`.
    pub(super) fn is_free(&self, start: u64, end: u64) -> bool {
        self.areas.range(..end).next_back().is_none_or(|(_, area)| area.end <= start)
    }

    /// Whether every address from `start` to `end` is mapped.
    pub(super) fn is_mapped(&self, start: u64, end: u64) -> bool {
        let mut at = start;
        while at < end {
            match self.area_at(at) {
                Some((_, area)) => at = area.end,
                None => return false,
            }
        }
        true
    }

    /// A free place for `len` bytes: at `hint` if it can be, else as high as possible.
    pub(super) fn find_free(&self, hint: u64, len: u64) -> Result<u64, Errno> {
        let hint = hint & !(PAGE - 1);
        if hint >= LOWEST
            && let Some(end) = hint.checked_add(len).filter(|&end| end <= USER_END)
            && self.is_free(hint, end)
        {
            return Ok(hint);
        }
        self.holes.highest(len).ok_or(Errno::NOMEM)
    }

    /// Maps `start` to `area.end`, in place of whatever is there. The addresses have been checked.
    pub(super) fn map(&mut self, ram: &mut Ram, start: u64, area: Area) -> Result<(), Errno> {
        if self.areas.len() >= MOST_AREAS {
            return Err(Errno::NOMEM);
        }
        self.unmap(ram, start, area.end);
        self.has_shared_files |= area.is_shared_file() && !self.host_sharing;
        self.insert(start, area);
        Ok(())
    }

    /// Adds an area where nothing is, joined to its neighbours if they are alike.
    fn insert(&mut self, mut start: u64, mut area: Area) {
        self.changes += 1;
        self.holes.fill(start, area.end);
        if let Some((&before, left)) = self.areas.range(..start).next_back()
            && left.end == start
            && left.joins(&area)
        {
            start = before;
        }
        if let Some(right) = self.areas.get(&area.end)
            && area.joins(right)
        {
            let right_start = area.end;
            area.end = right.end;
            self.areas.remove(&right_start);
        }
        self.areas.insert(start, area);
    }

    /// Makes `at` a boundary between areas.
    fn split(&mut self, at: u64) {
        let Some((&start, area)) = self.areas.range_mut(..at).next_back() else { return };
        if area.end <= at {
            return;
        }
        let mut right = area.clone();
        right.advance(at - start);
        area.end = at;
        self.areas.insert(at, right);
    }

    fn starts_within(&self, start: u64, end: u64) -> Vec<u64> {
        self.areas.range(start..end).map(|(&s, _)| s).collect()
    }

    /// Removes what is mapped from `start` to `end`.
    pub(super) fn unmap(&mut self, ram: &mut Ram, start: u64, end: u64) {
        if self.is_free(start, end) {
            return;
        }
        self.sync(ram, start, end);
        self.split(start);
        self.split(end);
        for at in self.starts_within(start, end) {
            if let Some(area) = self.areas.remove(&at) {
                self.holes.dig(at, area.end);
            }
        }
        self.drop_pages(ram, start, end);
    }

    /// Gives the frames from `start` to `end` back: the next touch finds zeroes, or the file.
    pub(super) fn drop_pages(&mut self, ram: &mut Ram, start: u64, end: u64) {
        self.changes += 1;
        let frames = &mut self.frames;
        self.table.for_each(start, end, |_, entry| {
            if entry.is_host() {
                ram.unmap_file(entry.frame());
            }
            frames.give(ram, entry.frame());
            *entry = Entry::default();
        });
    }

    /// Changes the permissions of all that is mapped from `start` to `end`.
    pub(super) fn protect(&mut self, start: u64, end: u64, prot: u64) -> Result<(), Errno> {
        if self.areas.len() + 2 >= MOST_AREAS {
            return Err(Errno::NOMEM);
        }
        let first = self.area_at(start).map_or(start, |(at, _)| at);
        if prot & WRITE != 0 && self.areas.range(first..end).any(|(_, area)| !area.may_write) {
            return Err(Errno::ACCESS);
        }
        self.split(start);
        self.split(end);
        for at in self.starts_within(start, end) {
            let Some(mut area) = self.areas.remove(&at) else { continue };
            area.prot = prot;
            let permissions = area.permissions();
            let watched = area.is_shared_file();
            self.table.for_each(at, area.end, |_, entry| {
                let allowed = match (watched, entry.dirty()) {
                    _ if entry.is_host() => permissions | HOST,
                    (false, _) => permissions,
                    (true, false) => permissions & !WRITE,
                    (true, true) => permissions | DIRTY,
                };
                *entry = Entry::new(entry.frame(), allowed);
            });
            self.insert(at, area);
        }
        Ok(())
    }

    /// Moves the pages of one area-wide range to another place, where nothing is mapped.
    pub(super) fn relocate(&mut self, ram: &mut Ram, from: u64, len: u64, to: u64, new_len: u64) {
        self.changes += 1;
        self.split(from);
        self.split(from + len);
        let Some(mut area) = self.areas.remove(&from) else { return };
        self.holes.dig(from, area.end);
        area.end = to + new_len;
        let mut moved = Vec::new();
        let keep = from + len.min(new_len);
        self.table.for_each(from, keep, |va, entry| moved.push((va, std::mem::take(entry))));
        self.drop_pages(ram, keep, from + len);
        for (va, entry) in moved {
            self.table.set(va - from + to, entry);
        }
        self.insert(to, area);
    }

    /// Lets the area that ends at `end` end at `new_end`, if there is room.
    pub(super) fn extend(&mut self, end: u64, new_end: u64) -> bool {
        if new_end > USER_END || !self.is_free(end, new_end) {
            return false;
        }
        self.changes += 1;
        match self.areas.range_mut(..end).next_back() {
            Some((_, area)) if area.end == end => {
                area.end = new_end;
                self.holes.fill(end, new_end);
                true
            }
            _ => false,
        }
    }

    /// Writes what the guest changed in shared mappings back to their files. The TLB may still let it write
    /// without being seen.
    pub(super) fn sync(&mut self, ram: &Ram, start: u64, end: u64) {
        if !self.has_shared_files {
            return;
        }
        let first = self.areas.range(..=start).next_back().map_or(start, |(&s, _)| s);
        for (&at, area) in self.areas.range(first..end).filter(|(_, area)| area.is_shared_file()) {
            let Backing::File(file, offset) = &area.backing else { continue };
            self.table.for_each(at.max(start), area.end.min(end), |va, entry| {
                if entry.dirty() {
                    let bytes = &ram.bytes()[entry.frame()..entry.frame() + PAGE as usize];
                    file.write_page(offset + (va - at), bytes);
                    *entry = Entry::new(entry.frame(), area.permissions() & !WRITE);
                }
            });
        }
    }

    /// Makes shared mappings and the files behind them one again, before a file is read or written in another
    /// way. True if there are any, so that the TLB must go.
    pub(super) fn reconcile(&mut self, ram: &mut Ram) -> bool {
        if !self.has_shared_files {
            return false;
        }
        self.sync(ram, 0, USER_END);
        let shared = self.areas.iter().filter(|(_, area)| area.is_shared_file());
        let shared: Vec<(u64, u64)> = shared.map(|(&start, area)| (start, area.end)).collect();
        for &(start, end) in &shared {
            self.drop_pages(ram, start, end);
        }
        self.has_shared_files = !shared.is_empty();
        true
    }

    /// Where the heap begins: nothing of it is mapped yet.
    pub(super) fn set_brk_start(&mut self, brk: u64) {
        self.brk_start = brk;
        self.brk = brk;
    }

    /// Moves the end of the heap; the end it then has.
    pub(super) fn set_brk(&mut self, ram: &mut Ram, wanted: u64) -> u64 {
        if wanted < self.brk_start || wanted > self.mmap_top {
            return self.brk;
        }
        let old = self.brk.next_multiple_of(PAGE);
        let new = wanted.next_multiple_of(PAGE);
        if new > old {
            if new - self.brk_start > ram.len() as u64 || !self.is_free(old, new) {
                return self.brk;
            }
            self.insert(old, Area::anonymous(new, READ | WRITE, "[heap]"));
        } else {
            self.unmap(ram, new, old);
        }
        self.changes += 1;
        self.brk = wanted;
        self.brk
    }

    /// Writes bytes where something is mapped, whatever its permissions: for the loader.
    pub(super) fn write(&mut self, ram: &mut Ram, va: u64, bytes: &[u8]) -> Result<(), &'static str> {
        let mut at = va;
        let mut rest = bytes;
        while !rest.is_empty() {
            let entry = self.table.get(at);
            let frame = if entry.present() { entry.frame() } else { self.new_page(ram, at)? };
            let on_page = (PAGE - at % PAGE) as usize;
            let (now, later) = rest.split_at(on_page.min(rest.len()));
            let offset = frame + (at % PAGE) as usize;
            ram.bytes_mut()[offset..offset + now.len()].copy_from_slice(now);
            at += now.len() as u64;
            rest = later;
        }
        Ok(())
    }

    fn new_page(&mut self, ram: &mut Ram, va: u64) -> Result<usize, &'static str> {
        let permissions = self.area_at(va).ok_or("not mapped")?.1.permissions();
        let frame = self.frames.take(ram).ok_or(OUT_OF_MEMORY)?;
        self.table.set(va & !(PAGE - 1), Entry::new(frame, permissions));
        Ok(frame)
    }

    /// Whether a page could not be had since the last time this was asked.
    pub(super) fn take_used_up(&mut self) -> bool {
        std::mem::take(&mut self.used_up)
    }

    /// Bytes of guest memory nobody uses.
    pub(super) fn available(&self, ram: &Ram) -> u64 {
        self.frames.available(ram)
    }
}
