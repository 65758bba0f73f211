//! The software TLB: a direct-mapped table whose hit is a compare and an add.

use super::Access;

/// Bytes in a page.
pub const PAGE: u64 = 4096;

const ENTRIES: usize = 256;
/// This tag never matches: no page starts in the middle of one, and no access is aligned to a page. (A
/// smaller bit would be what is left of a misaligned address in the first page.)
const INVALID: u64 = PAGE / 2;

// Host code reads entries, too: see `Tlb::table_offset`.
#[derive(Clone, Copy)]
#[repr(C)]
struct TlbEntry {
    /// The page's virtual address.
    tag: u64,
    /// RAM offset minus virtual address, wrapping.
    addend: u64,
}

/// Translations of pages that are plain RAM and may be accessed with no further thought. Pages that
/// need care at each access (devices, code that a store must invalidate, watched words) are left out.
#[derive(Clone)]
pub struct Tlb {
    load: [TlbEntry; ENTRIES],
    store: [TlbEntry; ENTRIES],
    fetch: [TlbEntry; ENTRIES],
}

impl Default for Tlb {
    fn default() -> Self {
        let none = [TlbEntry { tag: INVALID, addend: 0 }; ENTRIES];
        Tlb { load: none, store: none, fetch: none }
    }
}

impl Tlb {
    /// With these bits of an address divided by 256, an entry is this far from the start of its table. Its
    /// first word is the tag, its second the addend.
    pub(crate) const INDEX_MASK: i32 = ((ENTRIES - 1) * size_of::<TlbEntry>()) as i32;

    /// Where the table for an access is.
    pub(crate) const fn table_offset(access: Access) -> usize {
        const { assert!(size_of::<TlbEntry>() as u64 * 256 == PAGE) };
        match access {
            Access::Load => std::mem::offset_of!(Tlb, load),
            Access::Store => std::mem::offset_of!(Tlb, store),
            Access::Fetch => std::mem::offset_of!(Tlb, fetch),
        }
    }

    #[inline(always)]
    fn table(&self, access: Access) -> &[TlbEntry; ENTRIES] {
        match access {
            Access::Load => &self.load,
            Access::Store => &self.store,
            Access::Fetch => &self.fetch,
        }
    }

    /// The RAM offset of `va` if its page is here and `va` is a multiple of `size` (a power of two): a
    /// misaligned access misses, so that one compare also rules out crossing the page.
    #[inline(always)]
    #[must_use]
    pub fn lookup(&self, va: u64, size: usize, access: Access) -> Option<usize> {
        self.lookup_any(va, size as u64 - 1, access)
    }

    /// The same, by one less than the size.
    #[inline(always)]
    #[must_use]
    pub fn lookup_any(&self, va: u64, align: u64, access: Access) -> Option<usize> {
        let entry = &self.table(access)[(va / PAGE) as usize % ENTRIES];
        let page_or_misaligned = va & (!(PAGE - 1) | align);
        (entry.tag == page_or_misaligned).then(|| va.wrapping_add(entry.addend) as usize)
    }

    /// Remembers that the page of `va` is at the RAM page of `offset`.
    pub fn insert(&mut self, va: u64, offset: usize, access: Access) {
        let tag = va & !(PAGE - 1);
        let addend = (offset as u64 & !(PAGE - 1)).wrapping_sub(tag);
        let table = match access {
            Access::Load => &mut self.load,
            Access::Store => &mut self.store,
            Access::Fetch => &mut self.fetch,
        };
        table[(va / PAGE) as usize % ENTRIES] = TlbEntry { tag, addend };
    }

    /// Forgets everything.
    pub fn flush(&mut self) {
        *self = Tlb::default();
    }

    /// Forgets the stores to the RAM page of `offset`, under whatever virtual address.
    pub fn forbid_stores(&mut self, offset: usize) {
        let page = offset as u64 & !(PAGE - 1);
        for e in &mut self.store {
            if e.tag != INVALID && e.tag.wrapping_add(e.addend) == page {
                e.tag = INVALID;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_remembered_is_not_found_however_misaligned() {
        let never = Tlb::default();
        let mut forgotten = Tlb::default();
        forgotten.insert(0, 5 * PAGE as usize, Access::Store);
        forgotten.forbid_stores(5 * PAGE as usize);
        for size in (0..=6).map(|log| 1 << log) {
            for va in 0..2 * PAGE {
                for access in [Access::Load, Access::Store, Access::Fetch] {
                    assert_eq!(never.lookup(va, size, access), None, "{va:#x}, {size} bytes");
                }
                assert_eq!(forgotten.lookup(va, size, Access::Store), None, "{va:#x}, {size} bytes");
            }
        }
    }
}
