//! System calls about memory.

use super::files::{HostFile, Kind, flag};
use super::pages::{Charge, EXEC, READ, USER_END, WRITE};
use super::space::{Area, Backing};
use super::{Process, Served, space_of};
use crate::Hart;
use crate::mem::PAGE;
use rustix::io::Errno;
use std::sync::Arc;

const MAP_SHARED: u64 = 1;
const MAP_PRIVATE: u64 = 2;
const MAP_SHARED_VALIDATE: u64 = 3;
const MAP_FIXED: u64 = 0x10;
const MAP_ANONYMOUS: u64 = 0x20;
const MAP_NORESERVE: u64 = 0x4000;
const MAP_FIXED_NOREPLACE: u64 = 0x10_0000;

const MREMAP_MAYMOVE: u64 = 1;
const MREMAP_FIXED: u64 = 2;

/// `len` rounded up to pages, if that is possible and not nothing.
fn pages(len: u64) -> Result<u64, Errno> {
    if len == 0 {
        return Err(Errno::INVAL);
    }
    len.checked_next_multiple_of(PAGE).filter(|&len| len <= USER_END).ok_or(Errno::NOMEM)
}

/// Memory that children will share: a file without a name.
fn shared_memory(len: u64, charge: Charge) -> Result<Backing, Errno> {
    let file = rustix::fs::memfd_create(c"rvvsim", rustix::fs::MemfdFlags::CLOEXEC)?;
    rustix::fs::ftruncate(&file, len)?;
    let mut file = HostFile::named(file, b"/dev/zero (deleted)".to_vec(), true);
    file.charge = Some(charge);
    Ok(Backing::File(Arc::new(file), 0))
}

/// The end of a range that must begin on a page and lie in user space.
fn range_end(start: u64, len: u64, error: Errno) -> Result<u64, Errno> {
    if !start.is_multiple_of(PAGE) {
        return Err(Errno::INVAL);
    }
    let len = len.checked_next_multiple_of(PAGE).ok_or(error)?;
    start.checked_add(len).filter(|&end| end <= USER_END).ok_or(error)
}

impl Process {
    /// `brk(end)`.
    pub(super) fn sys_brk(&mut self, hart: &mut Hart, wanted: u64) -> Served {
        let (space, ram) = space_of(hart);
        let before = space.set_brk(ram, 0);
        let brk = space.set_brk(ram, wanted);
        // Growing brings new pages, which no TLB entry can know.
        if brk < before {
            hart.flush_tlb();
        }
        Ok(brk)
    }

    /// `mmap(address, len, prot, flags, fd, offset)`.
    pub(super) fn sys_mmap(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [address, len, prot, flags, fd, offset] = args;
        let len = pages(len)?;
        let prot = prot & (READ | WRITE | EXEC);
        let kind = flags & 15;
        if !matches!(kind, MAP_SHARED | MAP_PRIVATE | MAP_SHARED_VALIDATE) || offset % PAGE != 0 {
            return Err(Errno::INVAL.into());
        }
        let shared = kind != MAP_PRIVATE;
        let (backing, may_write) = match flags & MAP_ANONYMOUS {
            0 => (self.map_file(fd, prot, shared, offset, len)?, !shared || self.files.get(fd)?.writable()),
            _ if shared && space_of(hart).0.shares_with_host() => {
                let (space, ram) = space_of(hart);
                let charge = space.charge(ram, len / PAGE).ok_or(Errno::NOMEM)?;
                (shared_memory(len, charge)?, true)
            }
            _ => (Backing::Zero, true),
        };
        let (space, ram) = space_of(hart);
        // Linux too refuses at once what could never be had.
        let needs_memory =
            prot & WRITE != 0 && flags & MAP_NORESERVE == 0 && matches!(backing, Backing::Zero);
        if needs_memory && len > ram.len() as u64 {
            return Err(Errno::NOMEM.into());
        }
        let start = if flags & (MAP_FIXED | MAP_FIXED_NOREPLACE) != 0 {
            let end = range_end(address, len, Errno::NOMEM)?;
            if flags & MAP_FIXED_NOREPLACE != 0 && !space.is_free(address, end) {
                return Err(Errno::EXIST.into());
            }
            address
        } else {
            space.find_free(address, len)?
        };
        let replaces = !space.is_free(start, start + len);
        space.map(ram, start, Area { end: start + len, prot, shared, may_write, backing, name: "" })?;
        if replaces {
            hart.flush_tlb();
        }
        Ok(start)
    }

    /// What a mapping of a file reads from.
    fn map_file(&self, fd: u64, prot: u64, shared: bool, offset: u64, len: u64) -> Result<Backing, Errno> {
        let file = self.files.get(fd)?;
        if !file.readable() || (shared && prot & WRITE != 0 && file.flags & flag::ACCMODE != flag::RDWR) {
            return Err(Errno::ACCESS);
        }
        offset.checked_add(len).filter(|&end| end <= i64::MAX as u64).ok_or(Errno::OVERFLOW)?;
        match &file.kind {
            Kind::Zero => Ok(Backing::Zero),
            // What is written to a mapping does not go to the end of the file.
            Kind::Host(host) if host.is_standard && shared && file.flags & flag::APPEND != 0 => {
                Err(Errno::ACCESS)
            }
            Kind::Host(host) => {
                let stat = rustix::fs::fstat(host)?;
                match rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
                    true => Ok(Backing::File(Arc::clone(host), offset)),
                    false => Err(Errno::NODEV),
                }
            }
            _ => Err(Errno::NODEV),
        }
    }

    /// `munmap(start, len)`.
    pub(super) fn sys_munmap(&mut self, hart: &mut Hart, start: u64, len: u64) -> Served {
        if len == 0 {
            return Err(Errno::INVAL.into());
        }
        let end = range_end(start, len, Errno::INVAL)?;
        let (space, ram) = space_of(hart);
        space.unmap(ram, start, end);
        hart.flush_tlb();
        Ok(0)
    }

    /// `mprotect(start, len, prot)`.
    pub(super) fn sys_mprotect(&mut self, hart: &mut Hart, start: u64, len: u64, prot: u64) -> Served {
        // PROT_GROWSDOWN and PROT_GROWSUP are of no use here.
        if prot & !(READ | WRITE | EXEC | 8) != 0 {
            return Err(Errno::INVAL.into());
        }
        let end = range_end(start, len, Errno::NOMEM)?;
        let (space, _) = space_of(hart);
        if !space.is_mapped(start, end) {
            return Err(Errno::NOMEM.into());
        }
        space.protect(start, end, prot & (READ | WRITE | EXEC))?;
        hart.flush_tlb();
        Ok(0)
    }

    /// `mremap(old, old_len, new_len, flags, new)`.
    pub(super) fn sys_mremap(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [old, old_len, new_len, flags, new, _] = args;
        if flags & !(MREMAP_MAYMOVE | MREMAP_FIXED) != 0 || flags == MREMAP_FIXED || old_len == 0 {
            return Err(Errno::INVAL.into());
        }
        let old_end = range_end(old, old_len, Errno::INVAL)?;
        let (old_len, new_len) = (old_end - old, pages(new_len)?);
        let (space, ram) = space_of(hart);
        match space.area_at(old) {
            Some((_, area)) if area.end >= old_end => {}
            _ => return Err(Errno::FAULT.into()),
        }
        let address = if flags & MREMAP_FIXED != 0 {
            let new_end = range_end(new, new_len, Errno::INVAL)?;
            if new < old_end && old < new_end {
                return Err(Errno::INVAL.into());
            }
            space.unmap(ram, new, new_end);
            space.relocate(ram, old, old_len, new, new_len);
            new
        } else if new_len <= old_len {
            space.unmap(ram, old + new_len, old_end);
            old
        } else if new_len > ram.len() as u64 {
            return Err(Errno::NOMEM.into());
        } else if space.extend(old_end, old + new_len) {
            old
        } else if flags & MREMAP_MAYMOVE != 0 {
            let to = space.find_free(0, new_len)?;
            space.relocate(ram, old, old_len, to, new_len);
            to
        } else {
            return Err(Errno::NOMEM.into());
        };
        hart.flush_tlb();
        Ok(address)
    }

    /// `madvise(start, len, advice)`.
    pub(super) fn sys_madvise(&mut self, hart: &mut Hart, start: u64, len: u64, advice: u64) -> Served {
        const DONTNEED: u64 = 4;
        const REMOVE: u64 = 9;
        let end = range_end(start, len, Errno::INVAL)?;
        let (space, ram) = space_of(hart);
        if !space.is_mapped(start, end) {
            return Err(Errno::NOMEM.into());
        }
        match advice {
            DONTNEED => {
                space.sync(ram, start, end);
                space.drop_pages(ram, start, end);
                hart.flush_tlb();
                Ok(0)
            }
            REMOVE => Err(Errno::INVAL.into()),
            // Hints. MADV_FREE (8) may leave pages as they are.
            0..=25 => Ok(0),
            _ => Err(Errno::INVAL.into()),
        }
    }

    /// `msync(start, len, flags)`.
    pub(super) fn sys_msync(&mut self, hart: &mut Hart, start: u64, len: u64) -> Served {
        let end = range_end(start, len, Errno::NOMEM)?;
        let (space, ram) = space_of(hart);
        if !space.is_mapped(start, end) {
            return Err(Errno::NOMEM.into());
        }
        space.sync(ram, start, end);
        hart.flush_tlb();
        Ok(0)
    }

    /// `mincore(start, len, vec)`.
    pub(super) fn sys_mincore(&mut self, hart: &mut Hart, start: u64, len: u64, vec: u64) -> Served {
        let end = range_end(start, len, Errno::NOMEM)?;
        if !space_of(hart).0.is_mapped(start, end) {
            return Err(Errno::NOMEM.into());
        }
        // The guest has that many bytes, or is told so soon.
        let (mut at, mut left) = (vec, (end - start) / PAGE);
        while left > 0 {
            let now = left.min(PAGE);
            super::user::write(hart, at, &[1; PAGE as usize][..now as usize])?;
            at = at.wrapping_add(now);
            left -= now;
        }
        Ok(0)
    }
}
