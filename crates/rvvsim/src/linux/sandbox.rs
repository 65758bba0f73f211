//! Which files of the host the guest can reach, and by which names.
//!
//! The guest names files by absolute paths of its own; [`FileSystem::locate`] says where one leads. In the
//! sandbox that is a folder the user granted and a path below it, which the kernel then resolves with
//! `RESOLVE_BENEATH`: neither `..` nor a symbolic link, nor a race with somebody who moves folders, leads
//! out. Operations on a name rather than on a file (make, remove, rename, link) open the parent folder that way
//! and then act on the last component alone, which none of them follows.

use super::files::flag;
use super::options::ProcessOptions;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

struct OpenGrant {
    /// The guest's name for it: absolute, without `.` and `..`.
    name: Vec<u8>,
    fd: OwnedFd,
    writable: bool,
}

/// Where a guest path leads.
pub enum Place<'a> {
    /// Below a folder, and not out of it.
    Beneath {
        /// The folder.
        dir: BorrowedFd<'a>,
        /// The path below it, not empty.
        rest: Vec<u8>,
        /// Whether anything there may be changed.
        writable: bool,
        /// Absolute links are taken to start at the folder.
        is_root: bool,
    },
    /// Anywhere: the user trusts the guest.
    Host(Vec<u8>),
    /// A folder that only exists because a granted one is below it.
    Way,
}

/// The guest's view of the host's files.
pub struct FileSystem {
    grants: Vec<OpenGrant>,
    sysroot: Option<(OwnedFd, Vec<u8>)>,
    host_fs: bool,
    /// The guest's working directory.
    pub cwd: Vec<u8>,
}

impl FileSystem {
    /// Opens what was granted.
    pub fn new(options: &ProcessOptions) -> Result<Self, String> {
        let open = |path: &Path| {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            rustix::fs::openat(CWD, path, flags, Mode::empty())
                .map_err(|e| format!("cannot open folder {}: {}", path.display(), std::io::Error::from(e)))
        };
        let sysroot = match &options.sysroot {
            Some(path) => Some((open(path)?, path.as_os_str().as_bytes().to_vec())),
            None => None,
        };
        // Asked for only where it matters: a sandboxed process without folders costs no system call.
        let cwd = if options.host_fs || !options.dirs.is_empty() {
            std::env::current_dir().map_or(b"/".to_vec(), |dir| dir.into_os_string().into_encoded_bytes())
        } else {
            b"/".to_vec()
        };
        let mut grants = Vec::new();
        for grant in &options.dirs {
            let fd = open(&grant.path)?;
            let name = normalize(&join(&cwd, grant.path.as_os_str().as_bytes()));
            grants.push(OpenGrant { name, fd, writable: grant.writable });
        }
        // The most specific grant speaks for a path.
        grants.sort_by_key(|g| std::cmp::Reverse(g.name.len()));
        Ok(FileSystem { grants, sysroot, host_fs: options.host_fs, cwd })
    }

    /// Where the absolute path `path` leads. `given_absolute` says that the guest gave it as such, so that it
    /// is looked up in the sysroot first.
    pub fn locate(&self, path: &[u8], given_absolute: bool) -> Result<Place<'_>, Errno> {
        if given_absolute && let Some(place) = self.in_sysroot(path) {
            return Ok(place);
        }
        if self.host_fs {
            return Ok(Place::Host(path.to_vec()));
        }
        let path = normalize(path);
        for grant in &self.grants {
            if let Some(rest) = below(&path, &grant.name) {
                let rest = if rest.is_empty() { b".".to_vec() } else { rest.to_vec() };
                return Ok(Place::Beneath {
                    dir: grant.fd.as_fd(),
                    rest,
                    writable: grant.writable,
                    is_root: false,
                });
            }
        }
        if self.grants.iter().any(|g| below(&g.name, &path).is_some()) {
            return Ok(Place::Way);
        }
        Err(Errno::NOENT)
    }

    /// The file in the sysroot, if it is there.
    fn in_sysroot(&self, path: &[u8]) -> Option<Place<'_>> {
        let (dir, name) = self.sysroot.as_ref()?;
        if self.host_fs {
            // As QEMU does it: by the prefix of the name.
            let full = [name.as_slice(), path].concat();
            let there = rustix::fs::statat(CWD, full.as_slice(), AtFlags::empty()).is_ok();
            return there.then_some(Place::Host(full));
        }
        let normal = normalize(path);
        let rest = if normal.len() <= 1 { b".".to_vec() } else { normal[1..].to_vec() };
        let place = Place::Beneath { dir: dir.as_fd(), rest, writable: false, is_root: true };
        place.open(OFlags::PATH, Mode::empty()).is_ok().then_some(place)
    }
}

impl Place<'_> {
    /// Opens it. What is not to be changed is not opened for writing.
    pub fn open(&self, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
        let flags = flags | OFlags::CLOEXEC;
        match self {
            Place::Host(path) => rustix::fs::openat(CWD, path.as_slice(), flags, mode),
            Place::Way => Err(Errno::ACCESS),
            Place::Beneath { dir, rest, writable, is_root } => {
                let writes = OFlags::WRONLY | OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::TMPFILE;
                // TMPFILE holds the bit of DIRECTORY, which is harmless.
                if !writable
                    && flags.difference(OFlags::DIRECTORY).intersects(writes.difference(OFlags::DIRECTORY))
                {
                    return Err(Errno::ROFS);
                }
                open_beneath(*dir, rest, flags, mode, *is_root)
            }
        }
    }

    /// Its metadata.
    pub fn stat(&self, follow: bool) -> Result<Stat, Errno> {
        let nofollow = if follow { OFlags::empty() } else { OFlags::NOFOLLOW };
        match self {
            Place::Host(path) => {
                let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
                rustix::fs::statat(CWD, path.as_slice(), flags)
            }
            Place::Way => Err(Errno::ACCESS),
            Place::Beneath { .. } => rustix::fs::fstat(self.open(OFlags::PATH | nofollow, Mode::empty())?),
        }
    }

    /// The folder it is in, and its name there: for operations on names. `changes` says that the
    /// operation will change that folder.
    pub fn parent(&self, changes: bool) -> Result<(OwnedFd, Vec<u8>), Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY;
        match self {
            Place::Host(path) => {
                let trimmed = trim_slashes(path);
                let (parent, name) = split_last(trimmed);
                let parent = if parent.is_empty() { b"/" } else { parent };
                let name = if name.is_empty() { b"." } else { name };
                Ok((rustix::fs::openat(CWD, parent, flags | OFlags::CLOEXEC, Mode::empty())?, name.to_vec()))
            }
            Place::Way => Err(Errno::ACCESS),
            Place::Beneath { dir, rest, writable, is_root } => {
                if changes && !writable {
                    return Err(Errno::ROFS);
                }
                let (parent, name) = split_last(rest);
                if name == b"." || name == b".." {
                    return Err(Errno::BUSY);
                }
                let parent = if parent.is_empty() { b"." } else { parent };
                Ok((
                    open_beneath(*dir, parent, flags | OFlags::CLOEXEC, Mode::empty(), *is_root)?,
                    name.to_vec(),
                ))
            }
        }
    }

    /// Whether the guest may change what is there.
    pub fn writable(&self) -> bool {
        match self {
            Place::Host(_) => true,
            Place::Way => false,
            Place::Beneath { writable, .. } => *writable,
        }
    }

    /// Whether the user trusts the guest with it.
    pub fn is_host(&self) -> bool {
        matches!(self, Place::Host(_))
    }
}

fn open_beneath(
    dir: BorrowedFd,
    rest: &[u8],
    flags: OFlags,
    mode: Mode,
    is_root: bool,
) -> Result<OwnedFd, Errno> {
    let bound = if is_root { ResolveFlags::IN_ROOT } else { ResolveFlags::BENEATH };
    // openat2 refuses a mode that nothing would use.
    let mode = if flags.intersects(OFlags::CREATE) || flags.contains(OFlags::TMPFILE) {
        mode
    } else {
        Mode::empty()
    };
    for _ in 0..100 {
        match rustix::fs::openat2(dir, rest, flags, mode, bound | ResolveFlags::NO_MAGICLINKS) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::XDEV) => return Err(Errno::ACCESS),
            Err(Errno::NOSYS | Errno::PERM) => return open_step_by_step(dir, rest, flags, mode),
            other => return other,
        }
    }
    Err(Errno::ACCESS)
}

/// For hosts without openat2: component by component, through no symbolic link at all.
fn open_step_by_step(dir: BorrowedFd, rest: &[u8], flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let mut names = rest.split(|&b| b == b'/').filter(|n| !n.is_empty() && *n != b".").peekable();
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut at = rustix::fs::openat(dir, ".", step, Mode::empty())?;
    loop {
        match names.next() {
            Some(b"..") => return Err(Errno::ACCESS),
            Some(name) if names.peek().is_none() => {
                return rustix::fs::openat(&at, name, flags | OFlags::NOFOLLOW, mode);
            }
            Some(name) => at = rustix::fs::openat(&at, name, step, Mode::empty())?,
            None => return rustix::fs::openat(&at, ".", flags, mode),
        }
    }
}

/// `path` seen from the folder `base`.
pub fn join(base: &[u8], path: &[u8]) -> Vec<u8> {
    match path {
        [b'/', ..] => path.to_vec(),
        [] => base.to_vec(),
        _ if base.ends_with(b"/") => [base, path].concat(),
        _ => [base, b"/", path].concat(),
    }
}

/// An absolute path without empty components, `.` and `..`.
pub fn normalize(path: &[u8]) -> Vec<u8> {
    let mut names: Vec<&[u8]> = Vec::new();
    for name in path.split(|&b| b == b'/') {
        match name {
            b"" | b"." => {}
            b".." => {
                names.pop();
            }
            _ => names.push(name),
        }
    }
    let mut normal = Vec::with_capacity(path.len());
    for name in names {
        normal.push(b'/');
        normal.extend_from_slice(name);
    }
    if normal.is_empty() {
        normal.push(b'/');
    }
    normal
}

/// What is left of `path` below `folder`; both normalized.
fn below<'a>(path: &'a [u8], folder: &[u8]) -> Option<&'a [u8]> {
    if folder == b"/" {
        return path.strip_prefix(b"/");
    }
    match path.strip_prefix(folder)? {
        [] => Some(&[]),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

fn trim_slashes(path: &[u8]) -> &[u8] {
    let len = path.iter().rposition(|&b| b != b'/').map_or(0, |at| at + 1);
    &path[..len]
}

fn split_last(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|&b| b == b'/') {
        Some(0) => (b"/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => (b"", path),
    }
}

/// The host's flags for the guest's.
pub fn host_flags(guest: u32) -> OFlags {
    let mut host = match guest & flag::ACCMODE {
        0 => OFlags::RDONLY,
        flag::WRONLY => OFlags::WRONLY,
        _ => OFlags::RDWR,
    };
    let pairs = [
        (flag::CREAT, OFlags::CREATE),
        (flag::EXCL, OFlags::EXCL),
        (0o400, OFlags::NOCTTY),
        (flag::TRUNC, OFlags::TRUNC),
        (flag::APPEND, OFlags::APPEND),
        (flag::NONBLOCK, OFlags::NONBLOCK),
        (0o10_000, OFlags::DSYNC),
        (0o4_000_000, OFlags::SYNC),
        (flag::DIRECTORY, OFlags::DIRECTORY),
        (flag::NOFOLLOW, OFlags::NOFOLLOW),
        (flag::PATH, OFlags::PATH),
        (flag::TMPFILE, OFlags::TMPFILE),
    ];
    for (bit, flag) in pairs {
        if guest & bit != 0 {
            host |= flag;
        }
    }
    host
}

#[cfg(test)]
#[path = "sandbox_tests.rs"]
mod tests;
