//! System calls that name files by paths.

use super::files::{HostFile, Kind, flag};
use super::sandbox::{Place, host_flags, join, normalize};
use super::user::{self, Layout};
use super::{Process, Served};
use crate::Hart;
use rustix::fs::{Access, AtFlags, CWD, Mode, OFlags};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::sync::Arc;

/// The directory that is the working directory.
pub const AT_FDCWD: i32 = -100;
/// Not through a final symbolic link.
pub const AT_SYMLINK_NOFOLLOW: u64 = 0x100;
/// An empty path means the directory itself.
pub const AT_EMPTY_PATH: u64 = 0x1000;
const AT_REMOVEDIR: u64 = 0x200;
const AT_SYMLINK_FOLLOW: u64 = 0x400;

/// Bytes of directory entries at a time.
const ENTRIES: usize = 32 << 10;

impl Process {
    /// The absolute path that `path` is from the directory `dir`, and whether it was given as one.
    pub(super) fn full_path(
        &self,
        dir: u64,
        path: &[u8],
        allow_empty: bool,
    ) -> Result<(Vec<u8>, bool), Errno> {
        if path.is_empty() && !allow_empty {
            return Err(Errno::NOENT);
        }
        if path.starts_with(b"/") {
            return Ok((path.to_vec(), true));
        }
        if dir as i32 == AT_FDCWD {
            return Ok((join(&self.fs.cwd, path), false));
        }
        let file = self.files.get(dir)?;
        match &file.kind {
            Kind::Host(host) if !host.path.is_empty() => Ok((join(&host.path, path), false)),
            _ => Err(Errno::NOTDIR),
        }
    }

    /// Where a path of the guest leads.
    fn place(&self, hart: &mut Hart, dir: u64, path: u64) -> Result<Place<'_>, Errno> {
        let path = user::read_path(hart, path)?;
        let (full, absolute) = self.full_path(dir, &path, false)?;
        self.fs.locate(&full, absolute)
    }

    /// Whether a path is the link to the program the guest runs.
    fn is_own_program(&self, path: &[u8]) -> bool {
        let own = format!("/proc/{}/exe", self.identity.pid);
        path == b"/proc/self/exe" || path == own.as_bytes()
    }

    fn mode(&self, mode: u64) -> Mode {
        Mode::from_bits_truncate(mode as u32 & 0o7777 & !self.umask)
    }

    /// `openat(dir, path, flags, mode)`.
    pub(super) fn sys_openat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, flags, mode, ..] = args;
        let flags = flags as u32;
        let path = user::read_path(hart, path)?;
        let (mut full, mut absolute) = self.full_path(dir, &path, false)?;
        if self.is_own_program(&full) {
            (full, absolute) = (join(&self.fs.cwd, &self.facts.exe), false);
        }
        if let Some(kind) = self.synthetic(hart, &full) {
            let writes = flags & flag::ACCMODE != 0;
            if writes && matches!(kind, Kind::Bytes(..)) {
                return Err(Errno::ACCESS.into());
            }
            return Ok(self.files.add(kind, flags)?);
        }
        let writes = flags & (flag::ACCMODE | flag::CREAT | flag::TRUNC) != 0;
        let place = match self.fs.locate(&full, absolute) {
            Err(Errno::NOENT) if writes => return Err(Errno::ACCESS.into()),
            other => other?,
        };
        let fd = place.open(host_flags(flags), self.mode(mode))?;
        // Names are kept for directories, which later paths may start from, and for /proc/self/maps.
        let name = if place.is_host() { full } else { normalize(&full) };
        let file = HostFile::named(fd, name, place.writable());
        Ok(self.files.add(Kind::Host(Arc::new(file)), flags)?)
    }

    /// `faccessat(dir, path, mode)` and `faccessat2` with flags.
    pub(super) fn sys_faccessat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, mode, ..] = args;
        let mode = mode as u32;
        if mode & !7 != 0 {
            return Err(Errno::INVAL.into());
        }
        let text = user::read_path(hart, path)?;
        let (full, absolute) = self.full_path(dir, &text, false)?;
        if self.synthetic(hart, &full).is_some() {
            return Ok(0);
        }
        let place = self.fs.locate(&full, absolute)?;
        match &place {
            Place::Host(path) => {
                let access = Access::from_bits_truncate(mode);
                rustix::fs::accessat(CWD, path.as_slice(), access, AtFlags::empty())?;
            }
            Place::Way if mode & 2 != 0 => return Err(Errno::ACCESS.into()),
            Place::Way => {}
            Place::Beneath { writable, .. } => {
                let stat = place.stat(true)?;
                if mode & 2 != 0 && !writable {
                    return Err(Errno::ROFS.into());
                }
                if mode & 1 != 0 && stat.st_mode & 0o111 == 0 {
                    return Err(Errno::ACCESS.into());
                }
            }
        }
        Ok(0)
    }

    /// `readlinkat(dir, path, buf, size)`.
    pub(super) fn sys_readlinkat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, buf, size, ..] = args;
        if size as i32 <= 0 {
            return Err(Errno::INVAL.into());
        }
        let text = user::read_path(hart, path)?;
        let (full, absolute) = self.full_path(dir, &text, false)?;
        let target = if self.is_own_program(&full) {
            join(&self.fs.cwd, &self.facts.exe)
        } else {
            let place = self.fs.locate(&full, absolute)?;
            if matches!(place, Place::Way) {
                return Err(Errno::INVAL.into());
            }
            let (parent, name) = match place.parent(false) {
                // A granted folder itself is no link.
                Err(Errno::BUSY) => return Err(Errno::INVAL.into()),
                other => other?,
            };
            rustix::fs::readlinkat(parent, name, Vec::new())?.into_bytes()
        };
        let len = target.len().min(size as usize);
        user::write(hart, buf, &target[..len])?;
        Ok(len as u64)
    }

    /// `mkdirat(dir, path, mode)`.
    pub(super) fn sys_mkdirat(&mut self, hart: &mut Hart, dir: u64, path: u64, mode: u64) -> Served {
        let place = self.place(hart, dir, path)?;
        // One that is there is there, writable or not.
        if !place.writable() && (matches!(place, Place::Way) || place.stat(false).is_ok()) {
            return Err(Errno::EXIST.into());
        }
        let (parent, name) = match place.parent(true) {
            Err(Errno::BUSY) => return Err(Errno::EXIST.into()),
            other => other?,
        };
        rustix::fs::mkdirat(parent, name, self.mode(mode))?;
        Ok(0)
    }

    /// `unlinkat(dir, path, flags)`.
    pub(super) fn sys_unlinkat(&mut self, hart: &mut Hart, dir: u64, path: u64, flags: u64) -> Served {
        if flags & !AT_REMOVEDIR != 0 {
            return Err(Errno::INVAL.into());
        }
        let (parent, name) = self.place(hart, dir, path)?.parent(true)?;
        let flags = if flags & AT_REMOVEDIR != 0 { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        rustix::fs::unlinkat(parent, name, flags)?;
        Ok(0)
    }

    /// `renameat2(old_dir, old, new_dir, new, flags)`.
    pub(super) fn sys_renameat2(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [old_dir, old, new_dir, new, flags, _] = args;
        let (old_parent, old_name) = self.place(hart, old_dir, old)?.parent(true)?;
        let (new_parent, new_name) = self.place(hart, new_dir, new)?.parent(true)?;
        if flags == 0 {
            rustix::fs::renameat(old_parent, old_name, new_parent, new_name)?;
        } else {
            let flags = rustix::fs::RenameFlags::from_bits(flags as u32).ok_or(Errno::INVAL)?;
            rustix::fs::renameat_with(old_parent, old_name, new_parent, new_name, flags)?;
        }
        Ok(0)
    }

    /// `linkat(old_dir, old, new_dir, new, flags)`. In the sandbox both ends must be in writable folders: a
    /// link from a writable one would open a read-only file for writing.
    pub(super) fn sys_linkat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [old_dir, old, new_dir, new, flags, _] = args;
        let old_place = self.place(hart, old_dir, old)?;
        if flags != 0 && !(flags == AT_SYMLINK_FOLLOW && old_place.is_host()) {
            return Err(Errno::INVAL.into());
        }
        let (old_parent, old_name) = old_place.parent(true)?;
        let (new_parent, new_name) = self.place(hart, new_dir, new)?.parent(true)?;
        let flags = if flags != 0 { AtFlags::SYMLINK_FOLLOW } else { AtFlags::empty() };
        rustix::fs::linkat(old_parent, old_name, new_parent, new_name, flags)?;
        Ok(0)
    }

    /// `symlinkat(target, dir, path)`. In the sandbox a link may not point out of its folder: the guest could
    /// not follow it, but somebody else might.
    pub(super) fn sys_symlinkat(&mut self, hart: &mut Hart, target: u64, dir: u64, path: u64) -> Served {
        let target = user::read_path(hart, target)?;
        let place = self.place(hart, dir, path)?;
        let leaves = target.starts_with(b"/") || target.split(|&b| b == b'/').any(|name| name == b"..");
        if leaves && !place.is_host() {
            return Err(Errno::PERM.into());
        }
        let (parent, name) = place.parent(true)?;
        rustix::fs::symlinkat(target, parent, name)?;
        Ok(0)
    }

    /// `truncate(path, len)`.
    pub(super) fn sys_truncate(&mut self, hart: &mut Hart, path: u64, len: u64) -> Served {
        if (len as i64) < 0 {
            return Err(Errno::INVAL.into());
        }
        let fd = self.place(hart, AT_FDCWD as u64, path)?.open(OFlags::WRONLY, Mode::empty())?;
        rustix::fs::ftruncate(fd, len)?;
        Ok(0)
    }

    /// `getcwd(buf, size)`.
    pub(super) fn sys_getcwd(&mut self, hart: &mut Hart, buf: u64, size: u64) -> Served {
        let mut cwd = self.fs.cwd.clone();
        cwd.push(0);
        if (size as usize) < cwd.len() {
            return Err(Errno::RANGE.into());
        }
        user::write(hart, buf, &cwd)?;
        Ok(cwd.len() as u64)
    }

    /// `chdir(path)`.
    pub(super) fn sys_chdir(&mut self, hart: &mut Hart, path: u64) -> Served {
        let text = user::read_path(hart, path)?;
        let (full, absolute) = self.full_path(AT_FDCWD as u64, &text, false)?;
        let place = self.fs.locate(&full, absolute)?;
        if !matches!(place, Place::Way) {
            place.open(OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        }
        self.fs.cwd = normalize(&full);
        Ok(0)
    }

    /// `fchdir(fd)`.
    pub(super) fn sys_fchdir(&mut self, fd: u64) -> Served {
        let file = self.files.host(fd, Errno::NOTDIR)?;
        let stat = rustix::fs::fstat(&file)?;
        if !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir() {
            return Err(Errno::NOTDIR.into());
        }
        self.fs.cwd = normalize(&file.path);
        Ok(0)
    }

    /// `fchmod(fd, mode)`.
    pub(super) fn sys_fchmod(&mut self, fd: u64, mode: u64) -> Served {
        let file = self.files.host(fd, Errno::PERM)?;
        if !file.writable_place {
            return Err(Errno::ROFS.into());
        }
        rustix::fs::fchmod(&file, Mode::from_bits_truncate(mode as u32 & 0o7777))?;
        Ok(0)
    }

    /// `fchmodat(dir, path, mode)`.
    pub(super) fn sys_fchmodat(&mut self, hart: &mut Hart, dir: u64, path: u64, mode: u64) -> Served {
        let mode = Mode::from_bits_truncate(mode as u32 & 0o7777);
        let place = self.place(hart, dir, path)?;
        if let Place::Host(path) = &place {
            rustix::fs::chmodat(CWD, path.as_slice(), mode, AtFlags::empty())?;
            return Ok(0);
        }
        if !place.writable() {
            return Err(Errno::ROFS.into());
        }
        rustix::fs::fchmod(place.open(OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?, mode)?;
        Ok(0)
    }

    /// `utimensat(dir, path, times, flags)`; without a path, of the open file itself.
    pub(super) fn sys_utimensat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, times, flags, ..] = args;
        let stamp =
            |words: (u64, u64)| rustix::fs::Timespec { tv_sec: words.0 as i64, tv_nsec: words.1 as i64 };
        const NOW: u64 = 0x3fff_ffff;
        let mut values = [(0, NOW), (0, NOW)];
        if times != 0 {
            for (i, value) in values.iter_mut().enumerate() {
                let at = times.wrapping_add(16 * i as u64);
                *value = (user::read_u64(hart, at)?, user::read_u64(hart, at.wrapping_add(8))?);
            }
        }
        let times =
            rustix::fs::Timestamps { last_access: stamp(values[0]), last_modification: stamp(values[1]) };
        if path == 0 {
            let file = self.files.host(dir, Errno::PERM)?;
            if !file.writable_place {
                return Err(Errno::ROFS.into());
            }
            rustix::fs::futimens(&file, &times)?;
            return Ok(0);
        }
        let place = self.place(hart, dir, path)?;
        if let Place::Host(path) = &place {
            let nofollow = flags & AT_SYMLINK_NOFOLLOW != 0;
            let flags = if nofollow { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::empty() };
            rustix::fs::utimensat(CWD, path.as_slice(), &times, flags)?;
            return Ok(0);
        }
        if !place.writable() {
            return Err(Errno::ROFS.into());
        }
        rustix::fs::futimens(place.open(OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty())?, &times)?;
        Ok(0)
    }

    /// `getdents64(fd, buf, size)`.
    pub(super) fn sys_getdents64(&mut self, hart: &mut Hart, fd: u64, buf: u64, size: u64) -> Served {
        let file = self.files.host(fd, Errno::NOTDIR)?;
        let room = size.min(ENTRIES as u64) as usize;
        let mut buffer = vec![MaybeUninit::uninit(); room];
        let mut listing = rustix::fs::RawDir::new(&*file, &mut buffer);
        let mut records = Vec::with_capacity(room);
        // What the host puts into a buffer of the same size fits the guest's: the records are alike.
        while let Some(entry) = listing.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            let len = (19 + name.len() + 1).next_multiple_of(8);
            let mut head = Layout::<19>::new();
            head.put(0, 8, entry.ino()).put(8, 8, entry.next_entry_cookie()).put(16, 2, len as u64);
            head.put(18, 1, u64::from(type_byte(entry.file_type())));
            records.extend_from_slice(&head.0);
            records.extend_from_slice(name);
            records.resize(records.len() + len - 19 - name.len(), 0);
            if listing.is_buffer_empty() {
                break;
            }
        }
        user::write(hart, buf, &records)?;
        Ok(records.len() as u64)
    }
}

fn type_byte(ty: rustix::fs::FileType) -> u8 {
    use rustix::fs::FileType;
    match ty {
        FileType::Fifo => 1,
        FileType::CharacterDevice => 2,
        FileType::Directory => 4,
        FileType::BlockDevice => 6,
        FileType::RegularFile => 8,
        FileType::Symlink => 10,
        FileType::Socket => 12,
        _ => 0,
    }
}
