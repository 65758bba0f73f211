//! The shadow of memory: which bits are undefined, where that came from, and which bytes nobody may touch.
//!
//! Memory is defined unless something says otherwise, so only pages with something undefined or forbidden
//! have a shadow. There are no more of them than [`Memory::new`] allows: what is past that counts as defined.

use super::origin::Id;
use crate::mem::PAGE;
use rustc_hash::FxHashMap;

const BYTES: usize = PAGE as usize;
const WORDS: usize = BYTES / 8;

/// The shadow of a page.
struct Page {
    undefined: [u8; BYTES],
    origin: [Id; WORDS],
    /// A bit for each byte that is outside every block of the heap.
    forbidden: [u64; BYTES / 64],
}

/// A page in the map: an index of `pages`, or all of it undefined from one origin.
#[derive(Clone, Copy)]
struct Entry(u32);

impl Entry {
    const NONE: Entry = Entry(u32::MAX);
    const UNIFORM: u32 = 1 << 31;

    fn uniform(origin: Id) -> Entry {
        Entry(Self::UNIFORM | origin)
    }
}

/// Entries of the table in front of the map.
const NEAR: usize = 256;

/// The shadow of memory.
pub struct Memory {
    map: FxHashMap<u64, Entry>,
    pages: Vec<Box<Page>>,
    free: Vec<u32>,
    near: Box<[(u64, Entry)]>,
    most: usize,
    /// There were more pages than allowed.
    pub full: bool,
}

impl Memory {
    /// With at most this many pages that have a shadow.
    pub fn new(most: usize) -> Memory {
        Memory {
            map: FxHashMap::default(),
            pages: Vec::new(),
            free: Vec::new(),
            near: vec![(u64::MAX, Entry::NONE); NEAR].into(),
            most,
            full: false,
        }
    }

    #[inline]
    fn entry(&mut self, page: u64) -> Entry {
        let near = &mut self.near[page as usize % NEAR];
        if near.0 != page {
            *near = (page, self.map.get(&page).copied().unwrap_or(Entry::NONE));
        }
        near.1
    }

    fn set_entry(&mut self, page: u64, entry: Entry) {
        self.near[page as usize % NEAR] = (page, entry);
        self.map.insert(page, entry);
    }

    /// The shadow of a page, to change; `None` if there is no room for one more.
    fn page(&mut self, page: u64) -> Option<&mut Page> {
        let entry = self.entry(page);
        if entry.0 & Entry::UNIFORM == 0 {
            return Some(&mut self.pages[entry.0 as usize]);
        }
        let (undefined, origin) = match entry.0 {
            u32::MAX => (0, 0),
            uniform => (0xff, uniform & !Entry::UNIFORM),
        };
        if self.pages.len() - self.free.len() >= self.most {
            self.full = true;
            return None;
        }
        let fresh =
            Page { undefined: [undefined; BYTES], origin: [origin; WORDS], forbidden: [0; BYTES / 64] };
        let at = match self.free.pop() {
            Some(at) => {
                *self.pages[at as usize] = fresh;
                at
            }
            None => {
                self.pages.push(Box::new(fresh));
                self.pages.len() as u32 - 1
            }
        };
        self.set_entry(page, Entry(at));
        Some(&mut self.pages[at as usize])
    }

    /// The undefined bits of up to eight bytes, and the origin of one of them.
    #[inline]
    pub fn load(&mut self, va: u64, len: usize) -> (u64, Id) {
        let at = (va % PAGE) as usize;
        let entry = self.entry(va / PAGE);
        if entry.0 == u32::MAX && at + len <= BYTES {
            return (0, 0);
        }
        let (mut bytes, mut origin) = ([0; 8], [0; 2]);
        self.read(va, &mut bytes[..len], &mut origin);
        let undefined = u64::from_le_bytes(bytes);
        let first = undefined.trailing_zeros() as usize / 8 + va as usize % 8;
        (undefined, if undefined == 0 { 0 } else { origin[first / 8] })
    }

    /// Stores the undefined bits of up to eight bytes.
    #[inline]
    pub fn store(&mut self, va: u64, len: usize, undefined: u64, origin: Id) {
        let at = (va % PAGE) as usize;
        if undefined == 0 && at + len <= BYTES && self.entry(va / PAGE).0 == u32::MAX {
            return;
        }
        self.write(va, &undefined.to_le_bytes()[..len], &mut |_| origin);
    }

    /// The undefined bits of some bytes. `origins` has one number for each aligned eight bytes that they
    /// touch; those of words where nothing is undefined may be any.
    pub fn read(&mut self, va: u64, bytes: &mut [u8], origins: &mut [Id]) {
        let words = |at: u64| (at / 8).wrapping_sub(va / 8) as usize;
        for (at, range) in parts(va, bytes.len()) {
            let bytes = &mut bytes[range];
            let first = words(at);
            let last = first + ((at % 8) as usize + bytes.len()).div_ceil(8);
            let origins = &mut origins[first..last];
            let start = (at % PAGE) as usize;
            match self.entry(at / PAGE) {
                Entry(u32::MAX) => bytes.fill(0),
                Entry(uniform) if uniform & Entry::UNIFORM != 0 => {
                    bytes.fill(0xff);
                    origins.fill(uniform & !Entry::UNIFORM);
                }
                Entry(index) => {
                    let page = &self.pages[index as usize];
                    bytes.copy_from_slice(&page.undefined[start..start + bytes.len()]);
                    origins.copy_from_slice(&page.origin[start / 8..start / 8 + origins.len()]);
                }
            }
        }
    }

    /// Sets the undefined bits of some bytes; `origin` gives that of the byte with this index.
    pub fn write(&mut self, va: u64, bytes: &[u8], origin: &mut dyn FnMut(usize) -> Id) {
        for (at, range) in parts(va, bytes.len()) {
            let (first, bytes) = (range.start, &bytes[range]);
            if self.entry(at / PAGE).0 == u32::MAX && bytes.iter().all(|b| *b == 0) {
                continue;
            }
            let start = (at % PAGE) as usize;
            let Some(page) = self.page(at / PAGE) else { continue };
            page.undefined[start..start + bytes.len()].copy_from_slice(bytes);
            for (i, byte) in bytes.iter().enumerate() {
                if *byte != 0 {
                    page.origin[(start + i) / 8] = origin(first + i);
                }
            }
        }
    }

    /// Makes a range undefined from one origin.
    pub fn undefine(&mut self, va: u64, len: u64, origin: Id) {
        for (at, range) in parts(va, usize::try_from(len).unwrap_or(usize::MAX)) {
            let start = (at % PAGE) as usize;
            if range.len() == BYTES && !self.has_page(at / PAGE) {
                if self.map.len() >= 16 * self.most {
                    self.full = true;
                    return;
                }
                self.set_entry(at / PAGE, Entry::uniform(origin));
                continue;
            }
            let Some(page) = self.page(at / PAGE) else { return };
            page.undefined[start..start + range.len()].fill(0xff);
            page.origin[start / 8..(start + range.len()).div_ceil(8)].fill(origin);
        }
    }

    fn has_page(&mut self, page: u64) -> bool {
        self.entry(page).0 & Entry::UNIFORM == 0
    }

    /// Makes a range defined.
    pub fn define(&mut self, va: u64, len: u64) {
        self.each_shadowed(va, len, |memory, at, start, len| {
            if len == BYTES && !memory.has_page(at) {
                memory.forget(at);
            } else if let Some(page) = memory.page(at) {
                page.undefined[start..start + len].fill(0);
            }
        });
    }

    /// Makes a range as it is when it is new: defined, and allowed.
    pub fn renew(&mut self, va: u64, len: u64) {
        self.each_shadowed(va, len, |memory, at, start, len| {
            if len == BYTES {
                memory.forget(at);
            } else if let Some(page) = memory.page(at) {
                page.undefined[start..start + len].fill(0);
                set_bits(&mut page.forbidden, start, len, false);
            }
        });
    }

    /// Forbids a range, or allows it again.
    pub fn forbid(&mut self, va: u64, len: u64, forbidden: bool) {
        if !forbidden {
            self.each_shadowed(va, len, |memory, at, start, len| {
                if memory.has_page(at)
                    && let Some(page) = memory.page(at)
                {
                    set_bits(&mut page.forbidden, start, len, false);
                }
            });
            return;
        }
        for (at, range) in parts(va, usize::try_from(len).unwrap_or(usize::MAX)) {
            let Some(page) = self.page(at / PAGE) else { return };
            set_bits(&mut page.forbidden, (at % PAGE) as usize, range.len(), true);
        }
    }

    /// Whether any of the bytes is forbidden.
    pub fn any_forbidden(&mut self, va: u64, len: usize) -> bool {
        parts(va, len).any(|(at, range)| {
            let entry = self.entry(at / PAGE);
            let first = (at % PAGE) as usize;
            entry.0 & Entry::UNIFORM == 0 && {
                let page = &self.pages[entry.0 as usize];
                let words = &page.forbidden[first / 64..(first + range.len()).div_ceil(64)];
                words.iter().any(|w| *w != 0)
                    && (first..first + range.len()).any(|i| page.forbidden[i / 64] >> (i % 64) & 1 != 0)
            }
        })
    }

    /// Whether all of the bytes are forbidden. Whoever reads whole words may read past an end.
    #[inline]
    pub fn is_forbidden(&mut self, va: u64, len: usize) -> bool {
        let entry = self.entry(va / PAGE);
        if entry.0 & Entry::UNIFORM != 0 {
            return false;
        }
        let page = &self.pages[entry.0 as usize];
        let at = (va % PAGE) as usize;
        let bit = |i: usize| page.forbidden[i / 64] >> (i % 64) & 1 != 0;
        bit(at) && (at..(at + len).min(BYTES)).all(bit)
    }

    fn forget(&mut self, page: u64) {
        if let Some(entry) = self.map.remove(&page)
            && entry.0 & Entry::UNIFORM == 0
        {
            self.free.push(entry.0);
        }
        self.near[page as usize % NEAR] = (page, Entry::NONE);
    }

    /// Calls `f` with the number of each page of the range that has a shadow, and the part of it.
    fn each_shadowed(&mut self, va: u64, len: u64, mut f: impl FnMut(&mut Memory, u64, usize, usize)) {
        let end = va.saturating_add(len);
        let part = |page: u64| {
            let start = va.max(page * PAGE);
            let end = end.min((page * PAGE).saturating_add(PAGE));
            (start < end).then(|| ((start - page * PAGE) as usize, (end - start) as usize))
        };
        // A guest may name a range of any size: there are never more steps than pages with a shadow.
        if len / PAGE > self.map.len() as u64 {
            let pages: Vec<u64> = self.map.keys().copied().collect();
            for page in pages {
                if let Some((start, len)) = part(page) {
                    f(self, page, start, len);
                }
            }
        } else {
            for page in va / PAGE..=end / PAGE {
                if let Some((start, len)) = part(page)
                    && self.entry(page).0 != u32::MAX
                {
                    f(self, page, start, len);
                }
            }
        }
    }
}

fn set_bits(words: &mut [u64], start: usize, len: usize, on: bool) {
    for i in start..start + len {
        if i % 64 == 0 && i + 64 <= start + len {
            words[i / 64] = if on { u64::MAX } else { 0 };
            continue;
        }
        let bit = 1 << (i % 64);
        words[i / 64] = if on { words[i / 64] | bit } else { words[i / 64] & !bit };
    }
}

/// A range in parts of at most a page: address and indices of each. What is past the end of the address space
/// is nowhere.
fn parts(va: u64, len: usize) -> impl Iterator<Item = (u64, std::ops::Range<usize>)> {
    let len = len.min(usize::try_from(u64::MAX - va).unwrap_or(usize::MAX));
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = va + done as u64;
        let now = (len - done).min((PAGE - at % PAGE) as usize);
        (now > 0).then(|| {
            done += now;
            (at, done - now..done)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stored_is_loaded_across_pages_and_words() {
        let mut memory = Memory::new(100);
        assert_eq!(memory.load(PAGE - 3, 8), (0, 0));
        memory.store(PAGE - 3, 8, 0xff00_ff00_0000_00f0, 7);
        assert_eq!(memory.load(PAGE - 3, 8), (0xff00_ff00_0000_00f0, 7));
        assert_eq!(memory.load(PAGE + 1, 1), (0, 0), "byte 4");
        assert_eq!(memory.load(PAGE + 2, 1), (0xff, 7), "byte 5");
        memory.undefine(3 * PAGE, 3 * PAGE, 9);
        assert_eq!(memory.load(4 * PAGE + 8, 8), (u64::MAX, 9));
        memory.store(4 * PAGE + 8, 4, 0, 0);
        assert_eq!(memory.load(4 * PAGE + 8, 8), (u64::MAX << 32, 9));
        assert_eq!(memory.load(6 * PAGE, 8), (0, 0));
        memory.define(3 * PAGE, 2 * PAGE);
        assert_eq!(memory.load(4 * PAGE + 8, 8), (0, 0));
        assert_eq!(memory.load(5 * PAGE, 1), (0xff, 9));
    }

    #[test]
    fn only_what_is_wholly_forbidden_is_forbidden() {
        let mut memory = Memory::new(100);
        memory.forbid(100, 28, true);
        assert!(!memory.is_forbidden(96, 8));
        assert!(memory.is_forbidden(104, 8));
        assert!(memory.is_forbidden(127, 1));
        assert!(!memory.is_forbidden(128, 1));
        memory.forbid(104, 4, false);
        assert!(!memory.is_forbidden(104, 8));
    }

    /// Ranges without end take no time and no memory.
    #[test]
    fn huge_ranges_are_bounded() {
        let mut memory = Memory::new(10);
        memory.undefine(0, u64::MAX, 1);
        assert!(memory.full && memory.map.len() <= 161);
        memory.define(0, u64::MAX);
        memory.undefine(u64::MAX - 5, 100, 1);
        memory.renew(PAGE, u64::MAX);
        memory.forbid(u64::MAX - 100, u64::MAX, true);
        for page in 0..100 {
            memory.store(page * PAGE, 8, 1, 1);
        }
        assert!(memory.pages.len() <= 10);
    }
}
