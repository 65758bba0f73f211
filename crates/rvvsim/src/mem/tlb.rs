//! The software TLB: a direct-mapped table whose hit is a compare and an add.

use super::Access;

/// Bytes in a page.
pub const PAGE: u64 = 4096;

/// Entries of the tables for loads and stores. They are a good part of a hart, which is made and filled for
/// every guest; host code has a larger table of its own.
const ENTRIES: usize = 128;
/// Code is fetched once, when it is decoded.
const FETCH_ENTRIES: usize = 16;
/// This tag never matches: no page starts in the middle of one, and no access is aligned to a page. (A
/// smaller bit would be what is left of a misaligned address in the first page.)
const INVALID: u64 = PAGE / 2;

#[derive(Clone, Copy)]
struct TlbEntry {
    /// The page's virtual address.
    tag: u64,
    /// RAM offset minus virtual address, wrapping.
    addend: u64,
}

const NONE: TlbEntry = TlbEntry { tag: INVALID, addend: 0 };

/// Translations of pages that are plain RAM and may be accessed with no further thought. Pages that
/// need care at each access (devices, code that a store must invalidate, watched words) are left out.
#[derive(Clone)]
pub struct Tlb {
    load: [TlbEntry; ENTRIES],
    store: [TlbEntry; ENTRIES],
    fetch: [TlbEntry; FETCH_ENTRIES],
    /// The same for host code, if there is any.
    host: Option<Box<HostTlb>>,
}

/// Entries of each table for host code.
const HOST_ENTRIES: usize = 2048;

// Host code reads these two words.
#[derive(Clone, Copy)]
#[repr(C)]
struct HostEntry {
    /// The page's virtual address.
    tag: u64,
    /// Host address minus virtual address, wrapping.
    addend: u64,
}

impl HostEntry {
    /// No page, as the entry of this index: the tag is a page that another entry is for, so that no address
    /// that comes to this one is on it.
    const fn none(index: usize) -> HostEntry {
        HostEntry { tag: (index as u64 ^ 1) * PAGE, addend: 0 }
    }
}

/// What host code knows of loads and stores: entries that lead to addresses of the host. It has more of them,
/// for it has no time to lose and its misses are calls. An access hits if it begins and ends on the page: the
/// distance of its address from the tag says both.
#[derive(Clone)]
#[repr(C)]
pub(crate) struct HostTlb {
    load: [HostEntry; HOST_ENTRIES],
    store: [HostEntry; HOST_ENTRIES],
    /// What an access over two pages that are apart in the host is put together in.
    bounce: [[u8; PAGE as usize]; HostTlb::BOUNCES],
    /// Where RAM is.
    ram: u64,
    /// Nothing was inserted since the last flush.
    empty: bool,
}

impl HostTlb {
    /// With these bits of an address divided by 256, an entry is this far from the start of its table. Its
    /// first word is the tag, its second what leads from an address to that in the host.
    pub(crate) const INDEX_MASK: i32 = ((HOST_ENTRIES - 1) * size_of::<HostEntry>()) as i32;

    /// As many accesses may be put together at once.
    pub(crate) const BOUNCES: usize = 4;

    /// Where there is room for a page of one of them.
    pub(crate) const fn bounce_offset(n: usize) -> usize {
        assert!(n < HostTlb::BOUNCES);
        std::mem::offset_of!(HostTlb, bounce) + n * PAGE as usize
    }

    /// Where the table for an access is.
    pub(crate) const fn table_offset(access: Access) -> usize {
        const { assert!(size_of::<HostEntry>() as u64 * 256 == PAGE) };
        match access {
            Access::Store => std::mem::offset_of!(HostTlb, store),
            _ => std::mem::offset_of!(HostTlb, load),
        }
    }

    #[cold]
    #[inline(never)]
    fn new(ram: u64) -> Box<HostTlb> {
        static NONE: [HostEntry; HOST_ENTRIES] = {
            let mut none = [HostEntry::none(0); HOST_ENTRIES];
            let mut index = 0;
            while index < HOST_ENTRIES {
                none[index] = HostEntry::none(index);
                index += 1;
            }
            none
        };
        Box::new(HostTlb {
            load: NONE,
            store: NONE,
            bounce: [[0; PAGE as usize]; HostTlb::BOUNCES],
            ram,
            empty: true,
        })
    }

    fn flush(&mut self) {
        if !std::mem::replace(&mut self.empty, true) {
            for (index, entry) in self.load.iter_mut().chain(&mut self.store).enumerate() {
                *entry = HostEntry::none(index % HOST_ENTRIES);
            }
        }
    }

    fn insert(&mut self, va: u64, entry: TlbEntry, access: Access) {
        let table = match access {
            Access::Load => &mut self.load,
            Access::Store => &mut self.store,
            Access::Fetch => return,
        };
        self.empty = false;
        let addend = entry.addend.wrapping_add(self.ram);
        table[(va / PAGE) as usize % HOST_ENTRIES] = HostEntry { tag: entry.tag, addend };
    }
}

impl Default for Tlb {
    fn default() -> Self {
        Tlb { load: [NONE; ENTRIES], store: [NONE; ENTRIES], fetch: [NONE; FETCH_ENTRIES], host: None }
    }
}

impl Tlb {
    /// The same for host code, which is at the same address until the next call with another `ram`: the
    /// address of RAM in the host. It always has what the interpreter has, and so whatever a helper or the
    /// interpreter accessed hits the next time: two pages that share an entry there share one here, too.
    pub(crate) fn for_host_code(&mut self, ram: usize) -> &mut HostTlb {
        const { assert!(HOST_ENTRIES.is_multiple_of(ENTRIES)) };
        if self.host.as_ref().is_none_or(|host| host.ram != ram as u64) {
            let mut host = HostTlb::new(ram as u64);
            for (table, access) in [(&self.load, Access::Load), (&self.store, Access::Store)] {
                for entry in table.iter().filter(|entry| entry.tag != INVALID) {
                    host.insert(entry.tag, *entry, access);
                }
            }
            self.host = Some(host);
        }
        self.host.as_mut().expect("it is there now")
    }

    #[inline(always)]
    fn entry(&self, va: u64, access: Access) -> &TlbEntry {
        let page = (va / PAGE) as usize;
        match access {
            Access::Load => &self.load[page % ENTRIES],
            Access::Store => &self.store[page % ENTRIES],
            Access::Fetch => &self.fetch[page % FETCH_ENTRIES],
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
        let entry = self.entry(va, access);
        let page_or_misaligned = va & (!(PAGE - 1) | align);
        (entry.tag == page_or_misaligned).then(|| va.wrapping_add(entry.addend) as usize)
    }

    /// Remembers that the page of `va` is at the RAM page of `offset`.
    pub fn insert(&mut self, va: u64, offset: usize, access: Access) {
        let tag = va & !(PAGE - 1);
        let addend = (offset as u64 & !(PAGE - 1)).wrapping_sub(tag);
        let page = (va / PAGE) as usize;
        let entry = TlbEntry { tag, addend };
        *match access {
            Access::Load => &mut self.load[page % ENTRIES],
            Access::Store => &mut self.store[page % ENTRIES],
            Access::Fetch => &mut self.fetch[page % FETCH_ENTRIES],
        } = entry;
        if let Some(host) = &mut self.host {
            host.insert(va, entry, access);
        }
    }

    /// Forgets everything.
    pub fn flush(&mut self) {
        for table in [&mut self.load[..], &mut self.store, &mut self.fetch] {
            table.fill(NONE);
        }
        if let Some(host) = &mut self.host {
            host.flush();
        }
    }

    /// Forgets the stores to the RAM page of `offset`, under whatever virtual address.
    pub fn forbid_stores(&mut self, offset: usize) {
        let page = offset as u64 & !(PAGE - 1);
        for e in &mut self.store {
            if e.tag != INVALID && e.tag.wrapping_add(e.addend) == page {
                e.tag = INVALID;
            }
        }
        if let Some(host) = &mut self.host {
            let page = page.wrapping_add(host.ram);
            for (index, e) in host.store.iter_mut().enumerate() {
                if e.tag.wrapping_add(e.addend) == page {
                    *e = HostEntry::none(index);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What host code finds for `va`, by the steps that it takes.
    fn host_address(tlb: &mut Tlb, va: u64, size: u64, access: Access) -> Option<u64> {
        let host = tlb.for_host_code(0x7000_0000_0000);
        let table = if access == Access::Store { &host.store } else { &host.load };
        let at = (va as u32).rotate_right(8) & HostTlb::INDEX_MASK as u32;
        let entry = table[at as usize / size_of::<HostEntry>()];
        let distance = va.wrapping_sub(entry.tag);
        (distance <= PAGE - size).then(|| va.wrapping_add(entry.addend))
    }

    #[test]
    fn host_code_finds_what_the_interpreter_finds_and_forgets_with_it() {
        let mut tlb = Tlb::default();
        let ram = 0x7000_0000_0000;
        for va in [0, 0xffff_ffff_ffff_f000, 0x3f_ffff_e000, 0x1234_5000, 0x8000_0000] {
            assert_eq!(host_address(&mut tlb, va, 1, Access::Load), None);
            tlb.insert(va, 7 * PAGE as usize, Access::Load);
            tlb.insert(va, 9 * PAGE as usize, Access::Store);
            assert_eq!(host_address(&mut tlb, va + 0x808, 8, Access::Load), Some(ram + 7 * PAGE + 0x808));
            assert_eq!(host_address(&mut tlb, va + 0xffe, 2, Access::Store), Some(ram + 9 * PAGE + 0xffe));
            assert_eq!(host_address(&mut tlb, va + 0xffd, 2, Access::Store), Some(ram + 9 * PAGE + 0xffd));
            assert_eq!(
                host_address(&mut tlb, va + 0xffe, 4, Access::Store),
                None,
                "past the end of the page"
            );
            assert_eq!(host_address(&mut tlb, va ^ 1 << 40, 1, Access::Load), None, "another page");
            tlb.forbid_stores(9 * PAGE as usize);
            assert_eq!(host_address(&mut tlb, va, 1, Access::Store), None);
            tlb.flush();
            assert_eq!(host_address(&mut tlb, va, 1, Access::Load), None);
        }
        // Of another RAM, all leads there.
        tlb.insert(0x5000, 3 * PAGE as usize, Access::Load);
        let elsewhere = tlb.for_host_code(0x6000_0000_0000);
        assert_eq!(elsewhere.load[5].addend, 0x6000_0000_0000 + 3 * PAGE - 0x5000);
    }

    #[test]
    fn host_code_begins_with_what_the_interpreter_found() {
        let mut tlb = Tlb::default();
        tlb.insert(0x5000, 0, Access::Load);
        tlb.insert(0x7000, 2 * PAGE as usize, Access::Store);
        let ram = 0x7000_0000_0000;
        assert_eq!(host_address(&mut tlb, 0x5008, 8, Access::Load), Some(ram + 8));
        assert_eq!(host_address(&mut tlb, 0x7008, 8, Access::Store), Some(ram + 2 * PAGE + 8));
        assert_eq!(host_address(&mut tlb, 0x7008, 8, Access::Load), None);
        tlb.flush();
        assert_eq!(host_address(&mut tlb, 0x5008, 8, Access::Load), None);
    }

    #[test]
    fn an_empty_entry_of_host_code_matches_no_address() {
        let mut tlb = Tlb::default();
        for page in 0..2 * HOST_ENTRIES as u64 {
            for va in [page * PAGE, (page + 1) * PAGE - 1, page.wrapping_neg().wrapping_mul(PAGE)] {
                assert_eq!(host_address(&mut tlb, va, 1, Access::Load), None, "{va:#x}");
                assert_eq!(host_address(&mut tlb, va, 1, Access::Store), None, "{va:#x}");
            }
        }
    }

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
