//! What an address space was at some time: mappings, page table, and the pages behind them.

use super::{Area, Backing};
use crate::linux::AddressSpace;
use crate::linux::files::HostFile;
use crate::linux::holes::Holes;
use crate::linux::pages::{Frames, PageTable, WRITE};
use crate::mem::{PAGE, Ram, Saved};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of mapped files that are kept.
const MOST_FILE_BYTES: usize = 64 << 20;

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

/// What was read of files that are mapped privately. Their pages are read when they are touched: in the past
/// that happens again, and the file may be another by then.
#[derive(Default)]
pub(super) struct FilePages {
    /// By file and offset.
    pages: BTreeMap<(usize, u64), Box<[u8]>>,
    bytes: usize,
    /// The process is in its past.
    past: bool,
    /// A page was read for the second time, and was another.
    changed: bool,
}

impl FilePages {
    /// As [`HostFile::read_page`].
    pub fn read(&mut self, file: &Arc<HostFile>, offset: u64, page: &mut [u8]) -> usize {
        let key = (Arc::as_ptr(file) as usize, offset);
        let known = self.pages.get(&key);
        if let Some(known) = known.filter(|_| self.past) {
            page[..known.len()].copy_from_slice(known);
            return known.len();
        }
        let read = file.read_page(offset, page);
        if self.past || known.is_some_and(|known| known[..] == page[..read]) {
            return read;
        }
        self.changed |= known.is_some();
        if self.bytes < MOST_FILE_BYTES {
            self.bytes += PAGE as usize;
            self.pages.insert(key, page[..read].into());
        }
        read
    }
}

impl AddressSpace {
    /// From now on what is read of mapped files is kept.
    pub(crate) fn keep_file_pages(&mut self) {
        self.file_pages.get_or_insert_default();
    }

    /// Whether the process is in its past.
    pub(crate) fn set_past(&mut self, past: bool) {
        if let Some(pages) = &mut self.file_pages {
            pages.past = past;
        }
    }

    /// Whether a mapped file was another when it was read again, since the last time this was asked.
    pub(crate) fn take_file_changes(&mut self) -> bool {
        self.file_pages.as_mut().is_some_and(|pages| std::mem::take(&mut pages.changed))
    }

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
