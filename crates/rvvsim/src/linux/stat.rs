//! Metadata of files: `stat`, `statx`, `statfs`.

use super::files::Kind;
use super::paths::{AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW};
use super::user::{self, Layout};
use super::{Process, Served};
use crate::Hart;
use rustix::fs::Stat;
use rustix::io::Errno;

const S_IFIFO: u32 = 0o010_000;
const S_IFCHR: u32 = 0o020_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;

/// What the guest is told about a file.
#[derive(Clone, Copy, Default)]
pub struct Metadata {
    dev: u64,
    ino: u64,
    mode: u32,
    nlink: u32,
    uid: u32,
    gid: u32,
    rdev: u64,
    size: u64,
    blocks: u64,
    block_size: u32,
    /// Seconds and nanoseconds of access, modification, change.
    times: [(i64, u32); 3],
}

impl Metadata {
    /// The host's, number for number. The types of the host's fields differ from one architecture to the
    /// next.
    #[allow(clippy::unnecessary_cast, clippy::useless_conversion)]
    fn of(stat: &Stat) -> Self {
        Metadata {
            dev: stat.st_dev as u64,
            ino: stat.st_ino as u64,
            mode: stat.st_mode as u32,
            nlink: stat.st_nlink as u32,
            uid: stat.st_uid as u32,
            gid: stat.st_gid as u32,
            rdev: stat.st_rdev as u64,
            size: stat.st_size as u64,
            blocks: stat.st_blocks as u64,
            block_size: stat.st_blksize as u32,
            times: [
                (stat.st_atime as i64, stat.st_atime_nsec as u32),
                (stat.st_mtime as i64, stat.st_mtime_nsec as u32),
                (stat.st_ctime as i64, stat.st_ctime_nsec as u32),
            ],
        }
    }

    fn made_up(mode: u32, size: u64, uid: u32) -> Self {
        Metadata { mode, size, uid, gid: uid, nlink: 1, ino: 1, block_size: 4096, ..Default::default() }
    }

    /// `struct stat` of riscv64.
    fn stat(&self) -> [u8; 128] {
        let mut s = Layout::<128>::new();
        s.put(0, 8, self.dev).put(8, 8, self.ino).put(16, 4, u64::from(self.mode));
        s.put(20, 4, u64::from(self.nlink)).put(24, 4, u64::from(self.uid)).put(28, 4, u64::from(self.gid));
        s.put(32, 8, self.rdev).put(48, 8, self.size).put(56, 4, u64::from(self.block_size)).put(
            64,
            8,
            self.blocks,
        );
        for (i, (seconds, nanos)) in self.times.iter().enumerate() {
            s.put(72 + 16 * i, 8, *seconds as u64).put(80 + 16 * i, 8, u64::from(*nanos));
        }
        s.0
    }

    fn statx(&self) -> [u8; 256] {
        const BASIC: u64 = 0x7ff;
        let mut s = Layout::<256>::new();
        s.put(0, 4, BASIC).put(4, 4, u64::from(self.block_size)).put(16, 4, u64::from(self.nlink));
        s.put(20, 4, u64::from(self.uid)).put(24, 4, u64::from(self.gid)).put(28, 2, u64::from(self.mode));
        s.put(32, 8, self.ino).put(40, 8, self.size).put(48, 8, self.blocks);
        for (at, (seconds, nanos)) in [64, 112, 96].into_iter().zip(self.times) {
            s.put(at, 8, seconds as u64).put(at + 8, 4, u64::from(nanos));
        }
        s.put(128, 4, major(self.rdev)).put(132, 4, minor(self.rdev));
        s.put(136, 4, major(self.dev)).put(140, 4, minor(self.dev));
        s.0
    }
}

fn major(dev: u64) -> u64 {
    (dev >> 8 & 0xfff) | (dev >> 32 & !0xfff)
}

fn minor(dev: u64) -> u64 {
    (dev & 0xff) | (dev >> 12 & !0xff & 0xffff_ffff)
}

impl Process {
    /// Metadata of an open file.
    pub(super) fn metadata_of(&self, fd: u64) -> Result<Metadata, Errno> {
        let uid = self.identity.uid;
        Ok(match &self.files.get(fd)?.kind {
            Kind::Host(host) => Metadata::of(&rustix::fs::fstat(host)?),
            Kind::Bytes(bytes, _) => Metadata::made_up(S_IFREG | 0o444, bytes.len() as u64, uid),
            Kind::Name(_) => Metadata::made_up(S_IFREG | 0o644, 0, uid),
            Kind::Folder(..) => Metadata::made_up(S_IFDIR | 0o500, 0, uid),
            Kind::Signals(..) => Metadata::made_up(0o600, 0, 0),
            Kind::Capture(_) => Metadata::made_up(S_IFIFO | 0o600, 0, uid),
            Kind::Null => Metadata { rdev: 0x103, ..Metadata::made_up(S_IFCHR | 0o666, 0, 0) },
            Kind::Zero => Metadata { rdev: 0x105, ..Metadata::made_up(S_IFCHR | 0o666, 0, 0) },
            Kind::Random => Metadata { rdev: 0x109, ..Metadata::made_up(S_IFCHR | 0o666, 0, 0) },
        })
    }

    /// Metadata by directory, path and flags.
    fn metadata(&mut self, hart: &mut Hart, dir: u64, path: u64, flags: u64) -> Result<Metadata, Errno> {
        let path =
            if path == 0 && flags & AT_EMPTY_PATH != 0 { Vec::new() } else { user::read_path(hart, path)? };
        if path.is_empty() && flags & AT_EMPTY_PATH != 0 && dir as i32 != super::paths::AT_FDCWD {
            return self.metadata_of(dir);
        }
        let allow_empty = flags & AT_EMPTY_PATH != 0;
        let (full, _) = self.full_path(dir, &path, allow_empty)?;
        if flags & AT_SYMLINK_NOFOLLOW == 0
            && let Some(fd) = self.named_descriptor(&full)
        {
            return self.metadata_of(fd);
        }
        if self.is_descriptor_folder(&full) || self.is_thread_folder(&full) {
            return Ok(Metadata::made_up(S_IFDIR | 0o500, 0, self.identity.uid));
        }
        if let Some(kind) = self.synthetic(hart, &full) {
            let size = if let Kind::Bytes(bytes, _) = &kind { bytes.len() as u64 } else { 0 };
            let mode = if matches!(kind, Kind::Bytes(..)) { S_IFREG | 0o444 } else { S_IFCHR | 0o666 };
            return Ok(Metadata::made_up(mode, size, self.identity.uid));
        }
        let follow = flags & AT_SYMLINK_NOFOLLOW == 0;
        let place = self.find(dir, if path.is_empty() { b"." } else { &path }, follow)?;
        if place.is_way() {
            return Ok(Metadata::made_up(S_IFDIR | 0o555, 0, 0));
        }
        Ok(Metadata::of(&place.stat(follow)?))
    }

    /// `fstat(fd, stat)`.
    pub(super) fn sys_fstat(&mut self, hart: &mut Hart, fd: u64, at: u64) -> Served {
        let bytes = self.metadata_of(fd)?.stat();
        user::write(hart, at, &bytes)?;
        Ok(0)
    }

    /// `newfstatat(dir, path, stat, flags)`.
    pub(super) fn sys_newfstatat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, at, flags, ..] = args;
        let bytes = self.metadata(hart, dir, path, flags)?.stat();
        user::write(hart, at, &bytes)?;
        Ok(0)
    }

    /// `statx(dir, path, flags, mask, buf)`.
    pub(super) fn sys_statx(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, flags, _, at, _] = args;
        let bytes = self.metadata(hart, dir, path, flags)?.statx();
        user::write(hart, at, &bytes)?;
        Ok(0)
    }

    /// `fstatfs(fd, buf)`.
    pub(super) fn sys_fstatfs(&mut self, hart: &mut Hart, fd: u64, at: u64) -> Served {
        let file = self.files.host(fd, Errno::NOSYS)?;
        let s = rustix::fs::fstatfs(&file)?;
        write_statfs(hart, at, &s)
    }

    /// `statfs(path, buf)`.
    pub(super) fn sys_statfs(&mut self, hart: &mut Hart, path: u64, at: u64) -> Served {
        let path = user::read_path(hart, path)?;
        let place = self.find(super::paths::AT_FDCWD as u64, &path, true)?;
        let s = rustix::fs::fstatfs(place.open(rustix::fs::OFlags::PATH, rustix::fs::Mode::empty())?.fd)?;
        write_statfs(hart, at, &s)
    }
}

#[allow(clippy::unnecessary_cast)]
fn write_statfs(hart: &mut Hart, at: u64, s: &rustix::fs::StatFs) -> Served {
    let mut l = Layout::<120>::new();
    l.put(0, 8, s.f_type as u64).put(8, 8, s.f_bsize as u64).put(16, 8, s.f_blocks as u64);
    l.put(24, 8, s.f_bfree as u64).put(32, 8, s.f_bavail as u64).put(40, 8, s.f_files as u64);
    l.put(48, 8, s.f_ffree as u64).put(64, 8, s.f_namelen as u64).put(72, 8, s.f_frsize as u64);
    user::write(hart, at, &l.0)?;
    Ok(0)
}
