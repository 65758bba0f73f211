//! Guest RAM: one lazily filled slab, and which of its lines hold code that has been decoded.

use super::{PAGE, Scalar};
use memmap2::{MmapMut, MmapOptions};

/// Code is tracked in lines of this many bytes: 64 a page, one bit each.
const LINE: usize = 64;

/// Guest RAM. Addresses here are offsets from its start; what they mean to the guest is the business
/// of the translation that produced them.
pub struct Ram {
    bytes: MmapMut,
    /// A bit per line, a word per page: set where decoded instructions came from. As long as it has to be:
    /// zeroing a word for every page of a large RAM costs more than a small program's whole run.
    code: Vec<u64>,
    /// Byte ranges of code that stores have hit and the engine has not yet forgotten.
    stale: Vec<(usize, usize)>,
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
        Ok(Ram { bytes, code: Vec::new(), stale: Vec::new() })
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

    /// All of it, to write. Writers over decoded code call [`Ram::note_write`] as well.
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
        value.put(&mut self.bytes, offset)
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

/// The bits of the lines that `len` bytes from `offset` touch, within one page.
fn lines(offset: usize, len: usize) -> u64 {
    if len == 0 {
        return 0;
    }
    let first = offset % PAGE as usize / LINE;
    let last = (offset + len - 1) % PAGE as usize / LINE;
    (u64::MAX >> (63 - last)) & (u64::MAX << first)
}
