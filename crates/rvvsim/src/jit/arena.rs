//! Memory for host code, and beside it the words that host code jumps through.
//!
//! `unsafe` here is the mapping itself. Code pages are writable or executable, never both: [`Arena::add`]
//! makes the pages that it writes to writable, and [`Arena::close`] makes them executable again. Nothing runs
//! meanwhile: an arena belongs to one engine, which is on one thread. Words ([`Arena::set_word`]) are data:
//! host code reads its jump targets there, so that linking two blocks writes no code.

use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::ffi::c_void;
use std::io;
use std::ops::Range;

const PAGE: usize = 4096;

/// A piece of address space: words first, then code.
pub struct Arena {
    base: *mut u8,
    /// Bytes of words, whole pages.
    words: usize,
    /// Bytes of code, whole pages.
    size: usize,
    /// Bytes of code in use.
    used: usize,
    /// The pages that are writable, and not executable.
    open: Range<usize>,
}

/// So many bytes at least are made writable at once.
const WINDOW: usize = 16 * PAGE;

// SAFETY: the mapping is owned by this value alone and has no tie to a thread.
unsafe impl Send for Arena {}

impl Arena {
    /// Address space for so many words and bytes of code. It costs memory only where it is used.
    ///
    /// # Errors
    /// When the host will not give it.
    pub fn new(words: usize, size: usize) -> io::Result<Arena> {
        let words = (words * 8).next_multiple_of(PAGE);
        let size = size.next_multiple_of(PAGE);
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        // SAFETY: a new mapping, where the kernel likes, touches nothing that exists.
        let base = unsafe { mmap_anonymous(std::ptr::null_mut(), words + size, prot, flags) }?.cast::<u8>();
        let arena = Arena { base, words, size, used: 0, open: 0..0 };
        arena.protect(0, size, MprotectFlags::READ | MprotectFlags::EXEC)?;
        Ok(arena)
    }

    fn protect(&self, from: usize, to: usize, how: MprotectFlags) -> io::Result<()> {
        debug_assert!(from.is_multiple_of(PAGE) && to <= self.size);
        // SAFETY: pages of code of this arena, which no reference points into.
        unsafe { mprotect(self.base.add(self.words + from).cast::<c_void>(), to - from, how) }?;
        Ok(())
    }

    /// The address of the next code to be added.
    pub fn next(&self) -> usize {
        self.base.expose_provenance() + self.words + self.used
    }

    /// Adds code, which was assembled for the address [`Arena::next`]. It may be executed after
    /// [`Arena::close`]. False if there is no room.
    pub fn add(&mut self, code: &[u8]) -> bool {
        // Each piece starts on a new line of the host's cache.
        let end = (self.used + code.len()).next_multiple_of(64);
        if end > self.size || !self.open(end) {
            return false;
        }
        // SAFETY: within the mapping, as was just compared, and writable. Nobody runs it now.
        unsafe {
            let to = self.base.add(self.words + self.used);
            std::ptr::copy_nonoverlapping(code.as_ptr(), to, code.len());
        }
        self.used = end;
        true
    }

    /// Makes what is not in use up to `end` writable, and some more.
    fn open(&mut self, end: usize) -> bool {
        let from = if self.open.is_empty() { self.used / PAGE * PAGE } else { self.open.end };
        if end <= from && !self.open.is_empty() {
            return true;
        }
        let to = end.next_multiple_of(PAGE).max(from + WINDOW).min(self.size);
        let done = self.protect(from, to, MprotectFlags::READ | MprotectFlags::WRITE).is_ok();
        if done {
            self.open = if self.open.is_empty() { from..to } else { self.open.start..to };
        }
        done
    }

    /// All code may be executed, and no longer written. False if the host did not allow it: then none is to
    /// be used.
    #[must_use]
    pub fn close(&mut self) -> bool {
        let Range { start, end } = std::mem::take(&mut self.open);
        start == end || self.protect(start, end, MprotectFlags::READ | MprotectFlags::EXEC).is_ok()
    }

    /// Forgets all code.
    pub fn rewind(&mut self) {
        debug_assert!(self.open.is_empty());
        self.used = 0;
    }

    /// How many words there are.
    pub fn words(&self) -> usize {
        self.words / 8
    }

    /// The address of a word.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn word_address(&self, index: usize) -> usize {
        assert!(index < self.words());
        self.base.expose_provenance() + 8 * index
    }

    /// Code that was added, to look at.
    ///
    /// # Panics
    /// If there is no such code.
    pub fn code(&self, address: usize, size: usize) -> &[u8] {
        let start = address - self.base.expose_provenance() - self.words;
        assert!(start <= self.used && size <= self.used - start);
        // SAFETY: code is always readable, and written to only through `&mut self`.
        unsafe { std::slice::from_raw_parts(self.base.add(self.words + start), size) }
    }

    /// Sets a word.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn set_word(&mut self, index: usize, value: u64) {
        assert!(index < self.words());
        // SAFETY: as above; words are always writable.
        unsafe { self.base.cast::<u64>().add(index).write(value) };
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        // SAFETY: the mapping is this value's, and goes with it.
        let _ = unsafe { munmap(self.base.cast::<c_void>(), self.words + self.size) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The permissions of the page of `address`, as the kernel tells them.
    fn permissions(address: usize) -> String {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let holds = |line: &&str| {
            let range = line.split(' ').next().unwrap();
            let (from, to) = range.split_once('-').unwrap();
            let parse = |hex| usize::from_str_radix(hex, 16).unwrap();
            (parse(from)..parse(to)).contains(&address)
        };
        maps.lines().find(holds).unwrap().split(' ').nth(1).unwrap()[..3].to_owned()
    }

    #[test]
    fn code_is_executable_and_not_writable_and_words_the_reverse() {
        let mut arena = Arena::new(16, 3 * PAGE).unwrap();
        let first = arena.next();
        assert!(arena.add(&[0xc3; 5000]));
        assert_eq!((permissions(first), permissions(first + 4096)), ("rw-".into(), "rw-".into()));
        assert!(arena.close());
        assert_eq!(permissions(first), "r-x");
        assert_eq!(permissions(first + 8191), "r-x");
        assert_eq!(permissions(arena.word_address(15)), "rw-");
        assert!(!arena.add(&[0xc3; 8000]), "no room");
        assert!(arena.add(&[0xc3; 100]) && arena.add(&[0xc3; 100]) && arena.close());
        assert_eq!(permissions(first), "r-x");
        assert_eq!(permissions(first + 5060), "r-x");
        assert_eq!(arena.code(first, 5000), [0xc3; 5000]);
    }
}
