//! What an address space was at some time: mappings, page table, and the pages behind them.

use super::{Area, Backing};
use crate::linux::AddressSpace;
use crate::linux::holes::Holes;
use crate::linux::pages::{Frames, PageTable, WRITE};
use crate::mem::{PAGE, Ram, Saved};
use std::collections::BTreeMap;

/// An address space to return to. Files that are mapped stay open as long as it is there.
pub(crate) struct KeptSpace {
    areas: BTreeMap<u64, Area>,
    holes: Holes,
    table: PageTable,
    frames: Frames,
    has_shared_files: bool,
    brk: u64,
    ignored_bits: u32,
    pages: Saved,
    /// Bytes of all but the pages.
    bytes: usize,
}

impl KeptSpace {
    /// The bytes of its pages are in these places, those that another one has, too, in the same.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.pages.places()
    }

    /// Bytes of all but the pages.
    pub fn other_bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes that no older one had.
    pub fn own_bytes(&self) -> usize {
        self.bytes + self.pages.own_bytes()
    }
}

impl AddressSpace {
    /// What it is now. Pages that are as in `like` are shared with it.
    pub(crate) fn keep(&self, ram: &Ram, like: Option<&KeptSpace>) -> KeptSpace {
        let page = PAGE as usize;
        let mut numbers: Vec<usize> = self.table.present().map(|entry| entry.frame() / page).collect();
        numbers.sort_unstable();
        // An area is in a tree, its holes in two; an entry of a page table has eight bytes.
        let bytes = 512 * self.areas.len() + 16 * numbers.len() + page;
        KeptSpace {
            areas: self.areas.clone(),
            holes: self.holes.clone(),
            table: self.table.clone(),
            frames: self.frames.clone(),
            has_shared_files: self.has_shared_files,
            brk: self.brk,
            ignored_bits: self.ignored_bits,
            pages: ram.save_pages(numbers, like.map(|like| &like.pages)),
            bytes,
        }
    }

    /// Makes it what it was. No page may have been the host's, then or now.
    pub(crate) fn return_to(&mut self, ram: &mut Ram, to: &KeptSpace) {
        // Frames that were never taken are zeroes.
        let end = self.frames.fresh().max(to.frames.fresh());
        ram.restore_pages(0..end / PAGE as usize, &to.pages);
        self.areas.clone_from(&to.areas);
        self.holes.clone_from(&to.holes);
        self.table.clone_from(&to.table);
        self.frames.restore(&to.frames);
        (self.has_shared_files, self.brk, self.ignored_bits) = (to.has_shared_files, to.brk, to.ignored_bits);
        self.changes += 1;
    }

    /// Counts changes of mappings.
    pub(crate) fn changes(&self) -> u64 {
        self.changes
    }

    /// Bits at the top of an address that loads and stores ignore.
    pub(crate) fn ignored_bits(&self) -> u32 {
        self.ignored_bits
    }

    /// Whether what the guest stores may be seen outside of it, or the other way round.
    pub(crate) fn is_shared(&self) -> bool {
        self.areas.values().any(|area| match area.backing {
            Backing::Segment(..) => true,
            Backing::File(..) => area.shared && (self.host_sharing || area.prot & WRITE != 0),
            Backing::Zero | Backing::Words(_) => false,
        })
    }

    /// The mapping that begins at `start`, as far as `end`.
    pub(crate) fn mapping(&self, start: u64, end: u64) -> Option<Area> {
        let (at, area) = self.area_at(start)?;
        let mut area = area.clone();
        area.advance(start - at);
        area.end = end;
        Some(area)
    }
}
