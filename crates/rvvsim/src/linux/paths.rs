//! System calls that name files by paths.

use super::files::{HostFile, Kind, flag};
use super::sandbox::{Place, host_flags, join, normalize};
use super::schedule::Wait;
use super::tmp::Kept;
use super::user::{self, Layout};
use super::walk::{End, Held};
use super::{Process, Served, Stop, transfer};
use crate::Hart;
use rustix::fd::{AsFd, AsRawFd};
use rustix::fs::{Access, AtFlags, CWD, FileType, Gid, Mode, OFlags, ResolveFlags, Stat, Uid};
use rustix::io::Errno;
use std::mem::MaybeUninit;
use std::sync::Arc;
use std::time::Duration;

/// The directory that is the working directory.
pub const AT_FDCWD: i32 = -100;
/// Not through a final symbolic link.
pub const AT_SYMLINK_NOFOLLOW: u64 = 0x100;
/// An empty path means the directory itself.
pub const AT_EMPTY_PATH: u64 = 0x1000;
const AT_REMOVEDIR: u64 = 0x200;
const AT_SYMLINK_FOLLOW: u64 = 0x400;

/// How often it is looked whether somebody has opened the other side of a FIFO.
const FIFO_PATIENCE: Duration = Duration::from_millis(2);

/// `DT_DIR`.
const FOLDER: u8 = 4;
/// `DT_LNK`.
const LINK: u8 = 10;

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

    /// Where `path` leads from the directory `dir`, through a link at its end only if `follow`.
    pub(super) fn find(&self, dir: u64, path: &[u8], follow: bool) -> Result<Place<'_>, Errno> {
        let (full, absolute) = self.full_path(dir, path, false)?;
        if absolute || dir as i32 == AT_FDCWD || self.fs.host_fs {
            return self.fs.locate(&full, absolute, follow);
        }
        let folder = self.files.get(dir)?.host().ok_or(Errno::NOTDIR)?;
        self.fs.locate_from(folder, path, follow)
    }

    /// Where the path at an address of the guest leads.
    fn place(&self, hart: &mut Hart, dir: u64, path: u64, follow: bool) -> Result<Place<'_>, Errno> {
        let path = user::read_path(hart, path)?;
        self.find(dir, &path, follow)
    }

    /// Whether a path is the link to the program the guest runs.
    pub(super) fn is_own_program(&self, path: &[u8]) -> bool {
        let own = format!("/proc/{}/exe", self.identity.pid);
        path == b"/proc/self/exe" || path == own.as_bytes()
    }

    /// The mode bits of a file of the guest's. In the sandbox none runs as somebody else: a guest is not to
    /// leave programs behind that do.
    fn allowed(&self, mode: u64) -> u32 {
        mode as u32 & if self.fs.host_fs { 0o7777 } else { 0o1777 }
    }

    fn mode(&self, mode: u64) -> Mode {
        Mode::from_bits_truncate(self.allowed(mode) & !self.umask)
    }

    /// Of a standard stream the sandbox lets the guest read and write what it is; the file behind it may be
    /// changed otherwise only if that file is granted.
    pub(super) fn check_stream(&self, file: &HostFile) -> Result<(), Errno> {
        if !file.is_standard || self.fs.host_fs {
            return Ok(());
        }
        let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
        let granted = || {
            let path = rustix::fs::readlinkat(CWD, link, Vec::new()).ok()?;
            let place = self.fs.locate(path.to_bytes(), false, true).ok()?;
            let (there, here) = (place.stat(true).ok()?, file.stat().ok()?);
            Some(place.writable() && (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino))
        };
        if granted() == Some(true) { Ok(()) } else { Err(Errno::PERM) }
    }

    /// Whether mode and times of an open file may be changed.
    fn check_changeable(&self, file: &HostFile) -> Result<(), Errno> {
        match file.is_standard {
            true => self.check_stream(file),
            false if file.writable_place => Ok(()),
            false => Err(Errno::ROFS),
        }
    }

    /// `openat(dir, path, flags, mode)`.
    pub(super) fn sys_openat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, flags, mode, ..] = args;
        let flags = flags as u32;
        if let Some(fifo) = self.me_mut().suspended.opening.take() {
            return self.finish_open(fifo, flags);
        }
        let path = user::read_path(hart, path)?;
        let (full, _) = self.full_path(dir, &path, false)?;
        if let Some(fd) = self.named_descriptor(&full) {
            return Ok(self.open_descriptor(fd, flags)?);
        }
        if self.is_descriptor_folder(&full) || self.is_thread_folder(&full) {
            if flags & (flag::ACCMODE | flag::CREAT) != 0 && flags & flag::PATH == 0 {
                return Err(Errno::ISDIR.into());
            }
            let folder = match self.is_thread_folder(&full) {
                true => Kind::Folder(self.list_threads(), 0, FOLDER),
                false => Kind::Folder(self.list_descriptors(), 0, LINK),
            };
            return Ok(self.files.add(folder, flags | flag::DIRECTORY)?);
        }
        let writes = flags & flag::ACCMODE != 0;
        if writes && let Some(kind) = self.thread_to_name(&full) {
            return Ok(self.files.add(kind, flags)?);
        }
        if let Some(kind) = self.synthetic(hart, &full) {
            if writes && matches!(kind, Kind::Bytes(..)) {
                return Err(Errno::ACCESS.into());
            }
            return Ok(self.files.add(kind, flags)?);
        }
        const NEW: u32 = flag::CREAT | flag::EXCL;
        let follow = flags & flag::NOFOLLOW == 0 && flags & NEW != NEW;
        let found = if self.is_own_program(&full) {
            self.fs.locate(&join(&self.fs.cwd, &self.facts.exe), false, follow)
        } else {
            self.find(dir, &path, follow)
        };
        let writes = flags & (flag::ACCMODE | flag::CREAT | flag::TRUNC) != 0;
        let place = match found {
            Err(Errno::NOENT) if writes && self.fs.is_outside(&full) => return Err(Errno::ACCESS.into()),
            other => other?,
        };
        let waits = flags & (flag::NONBLOCK | flag::PATH) == 0;
        let opened = match place.open(host_flags(flags), self.mode(mode)) {
            // A FIFO that nobody reads; somebody's lease of a file.
            Err(Errno::NXIO) if waits && place.stat(true).is_ok_and(|s| is_fifo(&s)) => None,
            Err(Errno::AGAIN) if waits => None,
            other => Some(other?),
        };
        let Some(opened) = opened else {
            return Err(Stop::Again(Wait::moment(FIFO_PATIENCE, "opens a file that nobody reads")));
        };
        let kept = match (place.room(), rustix::fs::fstat(&opened.fd)) {
            (Some(room), Ok(stat)) if opened.private => {
                if flags & flag::TRUNC != 0 {
                    room.shrink(stat.st_ino, 0);
                }
                Some(Kept::new(room, stat.st_ino, stat.st_nlink == 0))
            }
            _ => None,
        };
        // Names are kept for directories, which later paths may start from, and for /proc/self/maps.
        let (name, in_sysroot) = (place.path().to_vec(), place.in_sysroot());
        let mut file = HostFile::named(opened.fd, name, opened.writable);
        (file.kept, file.in_sysroot) = (kept, in_sysroot);
        self.finish_open(file, flags)
    }

    /// `openat2(dir, path, how, size)`, outside the sandbox: where a path may lead is asked of the host.
    pub(super) fn sys_openat2(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        const HOW: u64 = 24;
        let [dir, path, how, size, ..] = args;
        if size < HOW {
            return Err(Errno::INVAL.into());
        }
        for at in (HOW..size.min(4096)).step_by(8) {
            if user::read_u64(hart, how.wrapping_add(at))? != 0 {
                return Err(Errno::TOOBIG.into());
            }
        }
        let word = |hart: &mut Hart, at: u64| user::read_u64(hart, how.wrapping_add(at));
        let (flags, mode, resolve) = (word(hart, 0)?, word(hart, 8)?, word(hart, 16)?);
        let makes = flags as u32 & flag::CREAT != 0 || flags as u32 & flag::TMPFILE == flag::TMPFILE;
        if flags >> 32 != 0 || mode & !0o7777 != 0 || mode != 0 && !makes {
            return Err(Errno::INVAL.into());
        }
        if resolve == 0 {
            return self.sys_openat(hart, [dir, path, flags, mode, 0, 0]);
        }
        let text = user::read_path(hart, path)?;
        let resolve = ResolveFlags::from_bits_retain(resolve);
        let (flags, mode) = (flags as u32, self.mode(mode));
        let host_flags = host_flags(flags) | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let (full, _) = self.full_path(dir, &text, false)?;
        let fd = if dir as i32 == AT_FDCWD {
            rustix::fs::openat(CWD, self.fs.cwd.as_slice(), OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
                .and_then(|cwd| rustix::fs::openat2(cwd, text.as_slice(), host_flags, mode, resolve))?
        } else {
            let folder = self.files.host(dir, Errno::NOTDIR)?;
            rustix::fs::openat2(&*folder, text.as_slice(), host_flags, mode, resolve)?
        };
        self.finish_open(HostFile::named(fd, normalize(&full), true), flags)
    }

    /// Gives an open file a descriptor; a FIFO that is to be read waits for a writer first.
    fn finish_open(&mut self, file: HostFile, flags: u32) -> Served {
        let reads = flags & (flag::ACCMODE | flag::NONBLOCK | flag::PATH) == 0;
        if reads && file.is_fifo() && !transfer::has_writer(file.as_fd()) {
            self.me_mut().suspended.opening = Some(file);
            return Err(Stop::Again(Wait::moment(FIFO_PATIENCE, "opens a FIFO that nobody writes")));
        }
        Ok(self.files.add(Kind::Host(Arc::new(file)), flags)?)
    }

    /// `faccessat(dir, path, mode)` and `faccessat2` with flags.
    pub(super) fn sys_faccessat(&mut self, hart: &mut Hart, args: [u64; 6], flags: u64) -> Served {
        let [dir, path, mode, ..] = args;
        let mode = mode as u32;
        const AT_EACCESS: u64 = 0x200;
        if mode & !7 != 0 || flags & !(AT_EACCESS | AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(Errno::INVAL.into());
        }
        let text = user::read_path(hart, path)?;
        let (full, _) = self.full_path(dir, &text, false)?;
        if self.synthetic(hart, &full).is_some() {
            return Ok(0);
        }
        let place = self.find(dir, &text, true)?;
        if let Place::Host(path) = &place {
            let access = Access::from_bits_truncate(mode);
            let flags = AtFlags::from_bits_truncate((flags & (AT_EACCESS | AT_SYMLINK_NOFOLLOW)) as u32);
            rustix::fs::accessat(CWD, path.as_slice(), access, flags)?;
            return Ok(0);
        }
        if place.is_way() {
            return if mode & 2 != 0 { Err(Errno::ACCESS.into()) } else { Ok(0) };
        }
        let stat = place.stat(true)?;
        if mode & 2 != 0 && !place.writable() {
            return Err(Errno::ROFS.into());
        }
        if mode & 1 != 0 && stat.st_mode & 0o111 == 0 {
            return Err(Errno::ACCESS.into());
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
        let (full, _) = self.full_path(dir, &text, false)?;
        let target = if self.is_own_program(&full) {
            join(&self.fs.cwd, &self.facts.exe)
        } else if full == b"/proc/self" {
            self.identity.pid.to_string().into_bytes()
        } else if matches!(full.as_slice(), b"/proc/self/cwd") {
            self.fs.cwd.clone()
        } else if let Some(fd) = self.named_descriptor(&full) {
            self.descriptor_link(fd)?
        } else {
            let place = self.find(dir, &text, false)?;
            if place.is_way() {
                return Err(Errno::INVAL.into());
            }
            let (parent, name) = match place.entry(false) {
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
        let place = self.place(hart, dir, path, false)?;
        // One that is there is there, writable or not.
        if !place.is_host() && (place.is_way() || place.stat(false).is_ok()) {
            return Err(Errno::EXIST.into());
        }
        let mode = self.mode(mode);
        make_entry(place, |parent, name| rustix::fs::mkdirat(parent, name, mode))
    }

    /// `mknodat(dir, path, mode, device)`: none in the sandbox.
    pub(super) fn sys_mknodat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, mode, device, ..] = args;
        if !self.fs.host_fs {
            return Err(Errno::PERM.into());
        }
        let kind = match FileType::from_raw_mode(mode as u32) {
            FileType::Unknown if mode & 0o170_000 == 0 => FileType::RegularFile,
            FileType::Unknown => return Err(Errno::INVAL.into()),
            FileType::Directory | FileType::Symlink => return Err(Errno::PERM.into()),
            kind => kind,
        };
        // The number of a device, as `stat` has it too.
        let device = rustix::fs::makedev(
            (device >> 8 & 0xfff) as u32,
            (device & 0xff | device >> 12 & 0xf_ff00) as u32,
        );
        let place = self.place(hart, dir, path, false)?;
        let mode = self.mode(mode);
        make_entry(place, |parent, name| rustix::fs::mknodat(parent, name, kind, mode, device))
    }

    /// `unlinkat(dir, path, flags)`.
    pub(super) fn sys_unlinkat(&mut self, hart: &mut Hart, dir: u64, path: u64, flags: u64) -> Served {
        if flags & !AT_REMOVEDIR != 0 {
            return Err(Errno::INVAL.into());
        }
        let place = self.place(hart, dir, path, false)?;
        let (room, was) = (place.room().cloned(), place.stat(false));
        let (parent, name) = place.entry(true)?;
        let flags = if flags & AT_REMOVEDIR != 0 { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        rustix::fs::unlinkat(parent, name, flags)?;
        if let (Some(room), Ok(was)) = (room, was) {
            room.remove_entry(&was);
        }
        Ok(0)
    }

    /// `renameat2(old_dir, old, new_dir, new, flags)`. A granted folder is no entry and cannot be moved; what
    /// is moved out of or into one must be in writable ones.
    pub(super) fn sys_renameat2(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        const NOREPLACE: u64 = 1;
        const EXCHANGE: u64 = 2;
        let [old_dir, old, new_dir, new, flags, _] = args;
        // RENAME_WHITEOUT makes a device.
        if !self.fs.host_fs && flags & !(NOREPLACE | EXCHANGE) != 0 {
            return Err(Errno::INVAL.into());
        }
        let (old_parent, old_name) = self.place(hart, old_dir, old, false)?.entry(true)?;
        let place = self.place(hart, new_dir, new, false)?;
        let (room, replaced) = (place.room().cloned(), place.stat(false));
        let (new_parent, new_name) = place.entry(true)?;
        if flags == 0 {
            rustix::fs::renameat(old_parent, old_name, new_parent, new_name)?;
            if let (Some(room), Ok(replaced)) = (room, replaced) {
                room.remove_entry(&replaced);
            }
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
        let follow = flags == AT_SYMLINK_FOLLOW;
        if flags != 0 && !follow {
            return Err(Errno::INVAL.into());
        }
        // A file without a name gets one by the link of its descriptor.
        let text = user::read_path(hart, old)?;
        let (full, _) = self.full_path(old_dir, &text, false)?;
        if let Some(fd) = self.named_descriptor(&full).filter(|_| follow) {
            let file = self.files.host(fd, Errno::XDEV)?;
            let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
            let place = self.place(hart, new_dir, new, false)?;
            return make_entry(place, |parent, name| {
                rustix::fs::linkat(CWD, &link, parent, name, AtFlags::SYMLINK_FOLLOW)
            });
        }
        let old_place = self.place(hart, old_dir, old, follow)?;
        // A path of the sandbox was followed to its end already.
        let flags = if follow && old_place.is_host() { AtFlags::SYMLINK_FOLLOW } else { AtFlags::empty() };
        let (old_parent, old_name) = old_place.entry(true)?;
        let place = self.place(hart, new_dir, new, false)?;
        make_entry(place, |parent, name| rustix::fs::linkat(old_parent, old_name, parent, name, flags))
    }

    /// `symlinkat(target, dir, path)`. In the sandbox a link may not point out of its folder: the guest could
    /// not follow it, but somebody else might.
    pub(super) fn sys_symlinkat(&mut self, hart: &mut Hart, target: u64, dir: u64, path: u64) -> Served {
        let target = user::read_path(hart, target)?;
        let place = self.place(hart, dir, path, false)?;
        let leaves = target.starts_with(b"/") || target.split(|&b| b == b'/').any(|name| name == b"..");
        // Nobody else comes to a private /tmp.
        if leaves && !place.is_host() && place.room().is_none() {
            return Err(Errno::PERM.into());
        }
        make_entry(place, |parent, name| rustix::fs::symlinkat(target, parent, name))
    }

    /// `truncate(path, len)`.
    pub(super) fn sys_truncate(&mut self, hart: &mut Hart, path: u64, len: u64) -> Served {
        if (len as i64) < 0 {
            return Err(Errno::INVAL.into());
        }
        let place = self.place(hart, AT_FDCWD as u64, path, true)?;
        let fd = place.open(OFlags::WRONLY, Mode::empty())?.fd;
        let room = match place.room() {
            Some(room) => Some((room, rustix::fs::fstat(&fd)?.st_ino)),
            None => None,
        };
        if let Some((room, inode)) = room {
            room.grow(inode, len)?;
        }
        rustix::fs::ftruncate(fd, len)?;
        if let Some((room, inode)) = room {
            room.shrink(inode, len);
        }
        Ok(0)
    }

    /// `fadvise64(fd, offset, len, advice)`: advice that needs no answer.
    pub(super) fn sys_fadvise64(&mut self, args: [u64; 6]) -> Served {
        let [fd, _, len, advice, ..] = args;
        const NOREUSE: u64 = 5;
        let pipe = self.files.get(fd)?.host().is_some_and(|host| {
            host.stat().is_ok_and(|stat| rustix::fs::FileType::from_raw_mode(stat.st_mode).is_fifo())
        });
        match (pipe, (len as i64) < 0 || advice > NOREUSE) {
            (true, _) => Err(Errno::SPIPE.into()),
            (_, true) => Err(Errno::INVAL.into()),
            _ => Ok(0),
        }
    }

    /// `getcwd(buf, size)`.
    pub(super) fn sys_getcwd(&mut self, hart: &mut Hart, buf: u64, size: u64) -> Served {
        let place = self.fs.locate(&self.fs.cwd, false, true)?;
        if !place.is_way() {
            place.stat(true)?;
        }
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
        let place = self.place(hart, AT_FDCWD as u64, path, true)?;
        if !place.is_way() {
            place.open(OFlags::PATH | OFlags::DIRECTORY, Mode::empty())?;
        }
        let cwd = if place.is_host() { normalize(place.path()) } else { place.path().to_vec() };
        self.fs.cwd = cwd;
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
        self.check_changeable(&file)?;
        rustix::fs::fchmod(&file, Mode::from_bits_truncate(self.allowed(mode)))?;
        Ok(0)
    }

    /// `fchmodat(dir, path, mode)`.
    pub(super) fn sys_fchmodat(&mut self, hart: &mut Hart, dir: u64, path: u64, mode: u64) -> Served {
        let mode = Mode::from_bits_truncate(self.allowed(mode));
        let place = self.place(hart, dir, path, true)?;
        if let Place::Host(path) = &place {
            rustix::fs::chmodat(CWD, path.as_slice(), mode, AtFlags::empty())?;
            return Ok(0);
        }
        if !place.writable() {
            return Err(Errno::ROFS.into());
        }
        rustix::fs::fchmod(place.open(OFlags::RDONLY, Mode::empty())?.fd, mode)?;
        Ok(0)
    }

    /// `fchmodat2(dir, path, mode, flags)`.
    pub(super) fn sys_fchmodat2(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, mode, flags, ..] = args;
        if flags & !(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) != 0 {
            return Err(Errno::INVAL.into());
        }
        if flags & AT_EMPTY_PATH != 0 && user::read_path(hart, path)?.is_empty() {
            return self.sys_fchmod(dir, mode);
        }
        if flags & AT_SYMLINK_NOFOLLOW != 0 {
            let stat = self.place(hart, dir, path, false)?.stat(false)?;
            if FileType::from_raw_mode(stat.st_mode).is_symlink() {
                return Err(Errno::OPNOTSUPP.into());
            }
        }
        self.sys_fchmodat(hart, dir, path, mode)
    }

    /// Whether a file may get this owner and group: in the sandbox, only those that all of the guest's have.
    fn owners(&self, uid: u64, gid: u64) -> Result<(Option<Uid>, Option<Gid>), Errno> {
        let (uid, gid) = (uid as u32, gid as u32);
        let mine = |id: u32, own: u32| id == u32::MAX || id == own;
        if !(self.fs.host_fs || mine(uid, self.identity.uid) && mine(gid, self.identity.gid)) {
            return Err(Errno::PERM);
        }
        let given = |id: u32| id != u32::MAX && self.fs.host_fs;
        Ok((given(uid).then(|| Uid::from_raw(uid)), given(gid).then(|| Gid::from_raw(gid))))
    }

    /// `fchown(fd, uid, gid)`.
    pub(super) fn sys_fchown(&mut self, fd: u64, uid: u64, gid: u64) -> Served {
        let file = self.files.host(fd, Errno::PERM)?;
        self.check_changeable(&file)?;
        let (uid, gid) = self.owners(uid, gid)?;
        if uid.is_some() || gid.is_some() {
            rustix::fs::fchown(&file, uid, gid)?;
        }
        Ok(0)
    }

    /// `fchownat(dir, path, uid, gid, flags)`.
    pub(super) fn sys_fchownat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, uid, gid, flags, _] = args;
        let text = user::read_path(hart, path)?;
        if text.is_empty() && flags & AT_EMPTY_PATH != 0 {
            return self.sys_fchown(dir, uid, gid);
        }
        let (uid, gid) = self.owners(uid, gid)?;
        let place = self.find(dir, &text, flags & AT_SYMLINK_NOFOLLOW == 0)?;
        if !place.writable() {
            return Err(Errno::ROFS.into());
        }
        match &place {
            Place::Host(path) => {
                let nofollow = flags & AT_SYMLINK_NOFOLLOW != 0;
                let flags = if nofollow { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::empty() };
                rustix::fs::chownat(CWD, path.as_slice(), uid, gid, flags)?;
            }
            place => drop(place.stat(true)?),
        }
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
            self.check_changeable(&file)?;
            rustix::fs::futimens(&file, &times)?;
            return Ok(0);
        }
        let nofollow = flags & AT_SYMLINK_NOFOLLOW != 0;
        let place = self.place(hart, dir, path, !nofollow)?;
        if let Place::Host(path) = &place {
            let flags = if nofollow { AtFlags::SYMLINK_NOFOLLOW } else { AtFlags::empty() };
            rustix::fs::utimensat(CWD, path.as_slice(), &times, flags)?;
            return Ok(0);
        }
        if !place.writable() {
            return Err(Errno::ROFS.into());
        }
        // Not the folder but its entry `.`: it is open for its place alone.
        let (folder, name) = match place {
            Place::Granted { end: End::Folder(folder), .. } => (folder.fd, b".".to_vec()),
            place => place.entry(true)?,
        };
        rustix::fs::utimensat(folder, name, &times, AtFlags::SYMLINK_NOFOLLOW)?;
        Ok(0)
    }

    fn list_descriptors(&self) -> Vec<Vec<u8>> {
        let numbers = self.files.numbers().map(|fd| fd.to_string().into_bytes());
        [b".".to_vec(), b"..".to_vec()].into_iter().chain(numbers).collect()
    }

    /// `getdents64(fd, buf, size)`.
    pub(super) fn sys_getdents64(&mut self, hart: &mut Hart, fd: u64, buf: u64, size: u64) -> Served {
        if let Kind::Folder(names, at, of) = &mut self.files.get_mut(fd)?.kind {
            let mut records = Vec::new();
            while let Some(name) = names.get(*at) {
                let len = (19 + name.len() + 1).next_multiple_of(8);
                if records.len() + len > size as usize {
                    break;
                }
                let mut head = Layout::<19>::new();
                let kind = if name.starts_with(b".") { FOLDER } else { *of };
                head.put(0, 8, *at as u64 + 1).put(8, 8, *at as u64 + 1).put(16, 2, len as u64).put(
                    18,
                    1,
                    u64::from(kind),
                );
                records.extend_from_slice(&head.0);
                records.extend_from_slice(name);
                records.resize(records.len() + len - 19 - name.len(), 0);
                *at += 1;
            }
            user::write(hart, buf, &records)?;
            return Ok(records.len() as u64);
        }
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

/// Makes a name by `make`.
fn make_entry(place: Place, make: impl FnOnce(Held, Vec<u8>) -> Result<(), Errno>) -> Served {
    let room = place.room().cloned();
    if let Some(room) = &room {
        room.check_entry()?;
    }
    let (parent, name) = match place.entry(true) {
        Err(Errno::BUSY) => return Err(Errno::EXIST.into()),
        other => other?,
    };
    make(parent, name)?;
    if let Some(room) = room {
        room.add_entry();
    }
    Ok(0)
}

fn is_fifo(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Fifo
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
