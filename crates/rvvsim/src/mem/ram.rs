//! Guest RAM: one lazily filled slab, and which of its lines hold code that has been decoded.
//!
//! `unsafe` is in [`Ram::peek`] and [`Ram::poke`], whose plain twins are [`Ram::read`] and [`Ram::write`],
//! in [`Ram::piece`], which is a part of [`Ram::bytes`], and in what has to do with pages of files that other
//! processes see, too.

use super::{PAGE, Scalar, guard};
use memmap2::{MmapMut, MmapOptions};
use rustix::fd::AsFd;
use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap, mmap_anonymous, mremap_fixed};
use std::sync::Arc;

/// Code is tracked in lines of this many bytes: 64 a page, one bit each.
const LINE: usize = 64;

const ZEROES: [u8; PAGE as usize] = [0; PAGE as usize];

/// The bytes of the largest value.
const ENOUGH: usize = 8;

/// What RAM was: the numbers and bytes of the pages that were not zeroes, in order. What two of them have in
/// common is there once.
#[derive(Clone, Default)]
pub struct Saved {
    pages: Vec<(usize, Arc<[u8]>)>,
    /// How many of them no other had when it was made.
    own: usize,
}

impl Saved {
    /// The bytes of a page; `None` if it was zeroes.
    fn page(&self, number: usize) -> Option<&Arc<[u8]>> {
        let at = self.pages.binary_search_by_key(&number, |(number, _)| *number).ok()?;
        Some(&self.pages[at].1)
    }

    /// Bytes of pages that are shared with no older one.
    pub fn own_bytes(&self) -> usize {
        self.own * PAGE as usize
    }

    /// Where the bytes of its pages are: those of two that are the same are in one place.
    pub fn places(&self) -> impl Iterator<Item = usize> {
        self.pages.iter().map(|(_, bytes)| bytes.as_ptr() as usize)
    }
}

/// A page of the host that is mapped shared, by its address.
#[derive(Clone, Copy)]
pub struct SharedPage(usize);

impl SharedPage {
    /// The page at an address.
    ///
    /// # Safety
    /// A page must be there that is mapped shared, as long as this value is used.
    #[must_use]
    pub unsafe fn new(address: usize) -> Self {
        SharedPage(address)
    }
}

/// Guest RAM. Addresses here are offsets from its start; what they mean to the guest is the business
/// of the translation that produced them.
pub struct Ram {
    bytes: MmapMut,
    /// A bit per line, a word per page: set where decoded instructions came from. As long as it has to be:
    /// zeroing a word for every page of a large RAM costs more than a small program's whole run.
    code: Vec<u64>,
    /// Byte ranges of code that stores have hit and the engine has not yet forgotten.
    stale: Vec<(usize, usize)>,
    /// A bit for each page that may hold something else than zeroes, as long as it has to be.
    written: Vec<u64>,
    /// A bit for each page that is the host's page of a file, which other processes may change at any time.
    shared: Vec<u64>,
}

impl Ram {
    /// `size` bytes of zeroes, rounded up to pages. Costs address space until touched.
    ///
    /// # Errors
    /// When the host will not give that much address space.
    pub fn new(size: u64) -> std::io::Result<Self> {
        let size = usize::try_from(size.max(1).next_multiple_of(PAGE))
            .map_err(|_| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
        let bytes = MmapOptions::new().len(size).no_reserve_swap().map_anon()?;
        Ok(Ram { bytes, code: Vec::new(), stale: Vec::new(), written: Vec::new(), shared: Vec::new() })
    }

    /// Bytes of RAM.
    #[must_use]
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// All of it.
    #[inline(always)]
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// All of it, to write. Writers over decoded code call [`Ram::note_write`] as well, and
    /// [`Ram::mark_written`] if they are to be seen by [`Ram::save`].
    #[inline(always)]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// Reads a little-endian value; `None` past the end.
    #[inline(always)]
    #[must_use]
    pub fn read<T: Scalar>(&self, offset: usize) -> Option<T> {
        T::get(&self.bytes, offset)
    }

    /// Writes a little-endian value; `None` past the end.
    #[inline(always)]
    pub fn write<T: Scalar>(&mut self, offset: usize, value: T) -> Option<()> {
        value.put(&mut self.bytes, offset)?;
        self.mark_written(offset);
        self.mark_written(offset + T::SIZE - 1);
        Some(())
    }

    /// Says that the page of `offset` is, or will be, written to.
    pub fn mark_written(&mut self, offset: usize) {
        let page = offset / PAGE as usize;
        if self.written.len() <= page / 64 {
            self.written.resize(page / 64 + 1, 0);
        }
        self.written[page / 64] |= 1 << (page % 64);
    }

    /// The pages that may hold something else than zeroes.
    fn written_pages(&self) -> Vec<usize> {
        let bits = |(i, word): (usize, &u64)| {
            let word = *word;
            (0..64).filter(move |bit| word >> bit & 1 != 0).map(move |bit| 64 * i + bit)
        };
        self.written.iter().enumerate().flat_map(bits).collect()
    }

    /// From now on only pages written again count as written.
    pub fn forget_written(&mut self) {
        self.written.clear();
    }

    /// The offsets of the pages that were written.
    #[must_use]
    pub fn written_offsets(&self) -> Vec<usize> {
        self.written_pages().into_iter().map(|page| page * PAGE as usize).collect()
    }

    /// Puts a page of a file, shared with everybody, in the place of a page.
    ///
    /// # Errors
    /// Those of the host.
    pub fn map_file(
        &mut self,
        offset: usize,
        file: impl AsFd,
        at: u64,
        writable: bool,
    ) -> std::io::Result<()> {
        assert!(offset.is_multiple_of(PAGE as usize) && offset < self.bytes.len());
        guard::watch(self.bytes.as_ptr() as usize, self.bytes.len())?;
        let prot = if writable { ProtFlags::READ | ProtFlags::WRITE } else { ProtFlags::READ };
        // SAFETY: a page of this slab, which stays mapped; its bytes are any bytes, whoever writes them. What
        // is cut off the file meanwhile is zeroes (`guard`).
        unsafe {
            let place = self.bytes.as_mut_ptr().add(offset).cast();
            mmap(place, PAGE as usize, prot, MapFlags::SHARED | MapFlags::FIXED, file, at)?;
        }
        self.set_shared(offset);
        Ok(())
    }

    /// Puts a page that this process has mapped shared elsewhere here, too: what is written to one is in the
    /// other, and in other processes.
    ///
    /// # Panics
    /// If `offset` is not that of a page.
    pub fn map_copy(&mut self, offset: usize, page: SharedPage) -> std::io::Result<()> {
        assert!(offset.is_multiple_of(PAGE as usize) && offset < self.bytes.len());
        // SAFETY: a page of this slab, which stays mapped; its bytes are any bytes, whoever writes them. A
        // length of 0 asks for a second mapping of the same page, which `SharedPage` says there is.
        unsafe {
            let place = self.bytes.as_mut_ptr().add(offset).cast();
            mremap_fixed(page.0 as *mut _, 0, PAGE as usize, MremapFlags::MAYMOVE, place)?;
        }
        self.set_shared(offset);
        Ok(())
    }

    fn set_shared(&mut self, offset: usize) {
        let page = offset / PAGE as usize;
        if self.shared.len() <= page / 64 {
            self.shared.resize(page / 64 + 1, 0);
        }
        self.shared[page / 64] |= 1 << (page % 64);
    }

    /// Puts a page of zeroes in the place of a page of a file.
    pub fn unmap_file(&mut self, offset: usize) {
        if !self.is_shared(offset) {
            return;
        }
        let flags = MapFlags::PRIVATE | MapFlags::FIXED | MapFlags::NORESERVE;
        // SAFETY: as above.
        unsafe {
            let place = self.bytes.as_mut_ptr().add(offset).cast();
            let prot = ProtFlags::READ | ProtFlags::WRITE;
            // The page was mapped a moment ago, so that there is a place for one.
            let _ = mmap_anonymous(place, PAGE as usize, prot, flags);
        }
        let page = offset / PAGE as usize;
        self.shared[page / 64] &= !(1 << (page % 64));
    }

    /// Whether other processes may change the page of `offset` at any time.
    #[inline]
    #[must_use]
    pub fn is_shared(&self, offset: usize) -> bool {
        let page = offset / PAGE as usize;
        self.shared.get(page / 64).is_some_and(|word| word >> (page % 64) & 1 != 0)
    }

    /// Replaces a value of 1, 2, 4 or 8 bytes at a multiple of its size, if it is `old`, in one step that
    /// other processes cannot divide. Otherwise says what it is.
    ///
    /// # Errors
    /// The value that is there.
    ///
    /// # Panics
    /// If it is not in RAM, or not at a multiple of its size.
    pub fn compare_exchange<T: Scalar>(&self, offset: usize, old: T, new: T) -> Result<(), T> {
        assert!(offset.is_multiple_of(T::SIZE) && offset <= self.bytes.len() - T::SIZE);
        let (old, new) = (old.to_u64(), new.to_u64());
        let at = self.bytes.as_ptr().wrapping_add(offset).cast_mut();
        use std::sync::atomic::{AtomicU8, AtomicU16, AtomicU32, AtomicU64, Ordering::SeqCst};
        // SAFETY: in RAM and aligned; no reference to these bytes is alive.
        let result = unsafe {
            match T::SIZE {
                1 => AtomicU8::from_ptr(at)
                    .compare_exchange(old as u8, new as u8, SeqCst, SeqCst)
                    .map_err(u64::from)
                    .map(drop),
                2 => AtomicU16::from_ptr(at.cast())
                    .compare_exchange((old as u16).to_le(), (new as u16).to_le(), SeqCst, SeqCst)
                    .map_err(|v| u64::from(u16::from_le(v)))
                    .map(drop),
                4 => AtomicU32::from_ptr(at.cast())
                    .compare_exchange((old as u32).to_le(), (new as u32).to_le(), SeqCst, SeqCst)
                    .map_err(|v| u64::from(u32::from_le(v)))
                    .map(drop),
                _ => AtomicU64::from_ptr(at.cast())
                    .compare_exchange(old.to_le(), new.to_le(), SeqCst, SeqCst)
                    .map_err(u64::from_le)
                    .map(drop),
            }
        };
        result.map_err(T::from_u64)
    }

    /// A copy of what is not zeroes. Pages that are as in `like` are shared with it.
    #[must_use]
    pub fn save(&self, like: Option<&Saved>) -> Saved {
        self.save_pages(self.written_pages(), like)
    }

    /// The same, of pages by their numbers, in order.
    #[must_use]
    pub fn save_pages(&self, pages: Vec<usize>, like: Option<&Saved>) -> Saved {
        let mut saved = Saved::default();
        for number in pages {
            let bytes = self.piece(number * PAGE as usize, PAGE as usize);
            if let Some(kept) = like.and_then(|like| like.page(number)).filter(|kept| kept[..] == *bytes) {
                saved.pages.push((number, Arc::clone(kept)));
            } else if *bytes != ZEROES {
                saved.pages.push((number, bytes.into()));
                saved.own += 1;
            }
        }
        saved
    }

    /// Makes it what it was when it was saved; all zeroes, if that was never. Code that is no longer there is
    /// said to be written over.
    pub fn restore(&mut self, saved: &Saved) {
        // All of them are among the written ones then, even if it was another RAM that was saved.
        for (page, _) in &saved.pages {
            self.mark_written(page * PAGE as usize);
        }
        self.restore_pages(self.written_pages(), saved);
    }

    /// The same, of pages by their numbers.
    pub fn restore_pages(&mut self, pages: impl IntoIterator<Item = usize>, saved: &Saved) {
        for page in pages {
            let old = saved.page(page).map_or(&ZEROES[..], |bytes| bytes);
            let offset = page * PAGE as usize;
            if self.piece(offset, PAGE as usize) != old {
                self.note_write(offset, PAGE as usize);
                self.piece_mut(offset, PAGE as usize).copy_from_slice(old);
            }
        }
    }

    /// As [`Ram::read`], but `None` for the last few bytes, too: one comparison is enough to tell.
    #[inline(always)]
    #[must_use]
    pub fn peek<T: Scalar>(&self, offset: usize) -> Option<T> {
        if offset > self.bytes.len() - ENOUGH {
            return None;
        }
        // SAFETY: RAM is a page at least, and no value is larger than what is left after `offset`; any bytes
        // are one.
        Some(unsafe { self.bytes.as_ptr().add(offset).cast::<T>().read_unaligned() }.little_endian())
    }

    /// As [`Ram::write`], but `None` for the last few bytes, too.
    #[inline(always)]
    pub fn poke<T: Scalar>(&mut self, offset: usize, value: T) -> Option<()> {
        if offset > self.bytes.len() - ENOUGH {
            return None;
        }
        // SAFETY: as above.
        unsafe { self.bytes.as_mut_ptr().add(offset).cast::<T>().write_unaligned(value.little_endian()) };
        Some(())
    }

    /// `len` bytes, a page at most.
    ///
    /// # Panics
    /// If they are not all there.
    #[inline(always)]
    #[must_use]
    pub fn piece(&self, offset: usize, len: usize) -> &[u8] {
        assert!(len <= PAGE as usize && offset <= self.bytes.len() - len);
        // SAFETY: RAM is a page at least, so the difference is one, and there are as many bytes after
        // `offset`.
        unsafe { self.bytes.get_unchecked(offset..offset + len) }
    }

    /// The same, to write.
    ///
    /// # Panics
    /// If they are not all there.
    #[inline(always)]
    pub fn piece_mut(&mut self, offset: usize, len: usize) -> &mut [u8] {
        assert!(len <= PAGE as usize && offset <= self.bytes.len() - len);
        // SAFETY: as above.
        unsafe { self.bytes.get_unchecked_mut(offset..offset + len) }
    }

    /// Whether any code was decoded from the page of `offset`.
    #[must_use]
    pub fn has_code(&self, offset: usize) -> bool {
        self.code.get(offset / PAGE as usize).is_some_and(|&lines| lines != 0)
    }

    /// Marks `len` bytes (within a page) as decoded code. Returns whether the page had none before: its
    /// TLB entries for stores must go.
    pub fn mark_code(&mut self, offset: usize, len: usize) -> bool {
        let page = offset / PAGE as usize;
        if self.code.len() <= page {
            self.code.resize(page + 1, 0);
        }
        let first = self.code[page] == 0;
        self.code[page] |= lines(offset, len);
        first
    }

    /// Says that `len` bytes from `offset` are about to be, or have been, written. True if that
    /// touches decoded code, which is then no longer marked and waits in [`Ram::take_stale`].
    pub fn note_write(&mut self, offset: usize, len: usize) -> bool {
        let mut hit = false;
        let (mut at, end) = (offset, offset + len);
        while at < end {
            let stop = end.min((at / PAGE as usize + 1) * PAGE as usize);
            if let Some(word) = self.code.get_mut(at / PAGE as usize) {
                hit |= *word & lines(at, stop - at) != 0;
            }
            at = stop;
        }
        if hit {
            self.stale.push((offset, len));
        }
        hit
    }

    /// The code ranges written since the last call.
    pub fn take_stale(&mut self) -> Vec<(usize, usize)> {
        std::mem::take(&mut self.stale)
    }

    /// Nothing decoded from the page of `offset` is kept any more.
    pub fn unmark_page(&mut self, offset: usize) {
        if let Some(lines) = self.code.get_mut(offset / PAGE as usize) {
            *lines = 0;
        }
    }
}

impl Drop for Ram {
    fn drop(&mut self) {
        if !self.shared.is_empty() {
            guard::forget(self.bytes.as_ptr() as usize);
        }
    }
}

/// The bits of the lines that `len` bytes from `offset` touch, within one page.
fn lines(offset: usize, len: usize) -> u64 {
    if len == 0 {
        return 0;
    }
    let first = offset % PAGE as usize / LINE;
    let last = (offset + len - 1) % PAGE as usize / LINE;
    (u64::MAX >> (63 - last)) & (u64::MAX << first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peek_and_poke_do_as_read_and_write_or_nothing() {
        fn check<T: Scalar + PartialEq + std::fmt::Debug>(ram: &mut Ram, value: T) {
            for offset in (0..64).chain(4000..4200).chain([8180, 8184, 8185, 8191, 8192, 9000, usize::MAX]) {
                let peeked = ram.peek::<T>(offset);
                assert!(peeked.is_none() || peeked == ram.read(offset), "{offset}");
                assert_eq!(peeked.is_some(), offset <= 8184);
                let before = ram.bytes().to_vec();
                if ram.poke(offset, value).is_some() {
                    let poked = ram.bytes().to_vec();
                    ram.bytes_mut().copy_from_slice(&before);
                    ram.write(offset, value).unwrap();
                    assert!(ram.bytes() == poked);
                } else {
                    assert!(offset > 8184 && ram.bytes() == before);
                }
            }
        }
        let mut ram = Ram::new(8192).unwrap();
        for (i, byte) in ram.bytes_mut().iter_mut().enumerate() {
            *byte = (i * 7 + i / 256) as u8;
        }
        for (offset, len) in [(0, 0), (0, 4096), (17, 100), (4096, 4096), (8190, 2), (8192, 0)] {
            assert_eq!(ram.piece(offset, len), &ram.bytes()[offset..offset + len]);
            let expected = ram.bytes()[offset..offset + len].to_vec();
            assert_eq!(ram.piece_mut(offset, len), expected);
        }
        for (offset, len) in [(8192, 1), (8000, 193), (usize::MAX, 2), (0, 4097)] {
            let caught = std::panic::catch_unwind(|| ram.piece(offset, len).len());
            assert!(caught.is_err(), "{offset} {len}");
        }
        check(&mut ram, 0x81_u8);
        check(&mut ram, 0x8123_u16);
        check(&mut ram, 0x8123_4567_u32);
        check(&mut ram, 0x8123_4567_89ab_cdef_u64);
    }
}
