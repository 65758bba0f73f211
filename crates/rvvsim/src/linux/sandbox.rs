//! Which files of the host the guest can reach, and by which names.
//!
//! The guest names files by paths of its own; [`FileSystem::locate`] says where one leads. In the sandbox
//! that is a file in a folder the user granted, which [`super::walk`] finds. Operations on a name rather than
//! on a file (make, remove, rename, link) act on a single name in an open folder, which none of them follows.

use super::family::Family;
use super::files::{HostFile, flag};
use super::options::ProcessOptions;
use super::tmp::{self, Room, Tmp};
use super::walk::{End, Folder, Held, Walk};
use crate::machine::LoadError;
use rustix::fd::{AsFd, AsRawFd, OwnedFd};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder of the host that is open for the guest.
pub struct OpenGrant {
    /// The guest's name for it: absolute, without `.` and `..`.
    pub name: Vec<u8>,
    /// It.
    pub fd: OwnedFd,
    /// Whether anything in it may be changed.
    pub writable: bool,
    /// It is the process's own `/tmp`.
    pub private: bool,
    /// Its device and inode.
    pub id: (u64, u64),
}

impl OpenGrant {
    /// The host's name of what is at `path` below it, if that is there. As QEMU has it: by the prefix of the
    /// name; but links lead to what is below it, too, and not to the root of the host.
    fn host_name(&self, path: &[u8], follow: bool) -> Option<Vec<u8>> {
        let full = [self.name.as_slice(), path].concat();
        let id = |stat: Stat| (stat.st_dev, stat.st_ino);
        let at_flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
        let plain = rustix::fs::statat(CWD, full.as_slice(), at_flags).map(id).ok();
        let mut flags = OFlags::PATH | OFlags::CLOEXEC;
        flags.set(OFlags::NOFOLLOW, !follow);
        let resolve = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
        let Ok(found) = rustix::fs::openat2(&self.fd, path, flags, Mode::empty(), resolve) else {
            return plain.map(|_| full);
        };
        if rustix::fs::fstat(&found).map(id).ok() == plain {
            return Some(full);
        }
        let link = format!("/proc/self/fd/{}", found.as_raw_fd());
        rustix::fs::readlink(link, Vec::new()).ok().map(CString::into_bytes)
    }

    fn open(path: &Path, name: Vec<u8>, writable: bool) -> Result<Self, LoadError> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(CWD, path, flags, Mode::empty());
        let with_id = opened.and_then(|fd| rustix::fs::fstat(&fd).map(|stat| (fd, stat)));
        let (fd, stat) =
            with_id.map_err(|e| LoadError::Folder { path: path.to_owned(), source: e.into() })?;
        Ok(OpenGrant { name, fd, writable, private: false, id: (stat.st_dev, stat.st_ino) })
    }
}

/// Where a guest path leads. It lives for one system call, on the stack.
#[allow(clippy::large_enum_variant)]
pub enum Place<'a> {
    /// Anywhere: the user trusts the guest.
    Host(Vec<u8>),
    /// To something that was granted.
    Granted {
        /// What.
        end: End<'a>,
        /// The guest's path to it, through no link.
        path: Vec<u8>,
        /// It is in the sysroot.
        in_sysroot: bool,
        /// Who knows the grants.
        fs: &'a FileSystem,
    },
}

/// The guest's view of the host's files.
pub struct FileSystem {
    grants: Vec<OpenGrant>,
    tmp: Option<Tmp>,
    sysroot: Option<OpenGrant>,
    /// The guest may do with files whatever the user may.
    pub host_fs: bool,
    /// The guest's working directory.
    pub cwd: Vec<u8>,
}

/// Folders whose contents the kernel makes.
const OF_THE_KERNEL: [&[u8]; 3] = [b"/dev", b"/proc", b"/sys"];

impl FileSystem {
    /// Opens what was granted.
    pub fn new(options: &ProcessOptions) -> Result<Self, LoadError> {
        let sysroot = match &options.sysroot {
            Some(path) => Some(OpenGrant::open(path, path.as_os_str().as_bytes().to_vec(), false)?),
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
            let name = normalize(&join(&cwd, grant.path.as_os_str().as_bytes()));
            grants.push(OpenGrant::open(&grant.path, name, grant.writable)?);
        }
        let tmp_is_granted = grants.iter().any(|grant| below(tmp::NAME, &grant.name).is_some());
        let tmp = (!options.host_fs && options.tmp_limit > 0 && !tmp_is_granted).then(|| {
            let inside = grants.iter().filter_map(|grant| below(&grant.name, tmp::NAME));
            let inside = inside.map(|path| PathBuf::from(std::ffi::OsStr::from_bytes(path)));
            Tmp::new(options.tmp_limit, inside.collect())
        });
        Ok(FileSystem { grants, tmp, sysroot, host_fs: options.host_fs, cwd })
    }

    /// Other processes will use the private `/tmp`, too.
    pub fn make_tmp(&self, family: Family) {
        if let Some(tmp) = &self.tmp {
            tmp.share(family);
        }
    }

    /// The names of all that was granted.
    pub fn names(&self) -> impl Iterator<Item = &[u8]> {
        let tmp = self.tmp.iter().map(|_| tmp::NAME);
        self.grants.iter().map(|grant| grant.name.as_slice()).chain(tmp)
    }

    /// The folder that was granted under a name.
    pub fn grant_named(&self, name: &[u8]) -> Result<Option<&OpenGrant>, Errno> {
        match &self.tmp {
            Some(tmp) if name == tmp::NAME => tmp.grant().map(Some),
            _ => Ok(self.grants.iter().find(|grant| grant.name == name)),
        }
    }

    /// The grant that a folder is, whatever its name is now.
    pub fn grant_of(&self, stat: &Stat) -> Option<&OpenGrant> {
        self.grants.iter().find(|grant| grant.id == (stat.st_dev, stat.st_ino))
    }

    /// Whether a path is in nothing that was granted, by its names.
    pub fn is_outside(&self, path: &[u8]) -> bool {
        let path = normalize(path);
        !self.host_fs && !self.names().any(|name| below(&path, name).is_some())
    }

    /// The root of the sysroot.
    pub fn sysroot(&self) -> Option<&OpenGrant> {
        self.sysroot.as_ref()
    }

    /// Paths are not looked up in the sysroot any more.
    pub fn leave_sysroot(&mut self) {
        self.sysroot = None;
    }

    /// The bounds of the private `/tmp`.
    pub fn tmp_room(&self) -> Option<&Arc<Room>> {
        self.tmp.as_ref().map(Tmp::room)
    }

    /// Where the absolute path `path` leads, through a link at its end only if `follow`. `given_absolute`
    /// says that the guest gave it as such, so that it is looked up in the sysroot first.
    pub fn locate(&self, path: &[u8], given_absolute: bool, follow: bool) -> Result<Place<'_>, Errno> {
        if given_absolute && let Some(place) = self.in_sysroot(path, follow)? {
            return Ok(place);
        }
        if self.host_fs {
            return Ok(Place::Host(path.to_vec()));
        }
        let (end, path) = Walk::from_root(self, false)?.to(path, follow)?;
        Ok(Place::Granted { end, path, in_sysroot: false, fs: self })
    }

    /// Where `path` leads from an open folder of the sandbox.
    pub fn locate_from<'a>(
        &'a self,
        folder: &'a HostFile,
        path: &[u8],
        follow: bool,
    ) -> Result<Place<'a>, Errno> {
        let (writable, private) = (folder.writable_place, folder.kept.is_some());
        let start = Folder { fd: Held::Grant(folder.as_fd()), writable, private };
        let in_sysroot = folder.in_sysroot;
        let (end, path) = Walk::from_folder(self, start, &folder.path, in_sysroot).to(path, follow)?;
        Ok(Place::Granted { end, path, in_sysroot, fs: self })
    }

    /// The file in the sysroot, if it is there.
    fn in_sysroot(&self, path: &[u8], follow: bool) -> Result<Option<Place<'_>>, Errno> {
        let Some(root) = &self.sysroot else { return Ok(None) };
        if self.host_fs {
            // What is the kernel's is not in a sysroot, even if that has folders or device files of these
            // names.
            let under = |name: &&[u8]| {
                path.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with(b"/"))
            };
            if OF_THE_KERNEL.iter().any(under) {
                return Ok(None);
            }
            return Ok(root.host_name(path, follow).map(Place::Host));
        }
        match Walk::from_root(self, true)?.to(path, follow) {
            Ok((End::Entry { seen: None, .. }, _)) => Ok(None),
            Ok((end, path)) => Ok(Some(Place::Granted { end, path, in_sysroot: true, fs: self })),
            // It is not there. Other errors, such as that the host is out of descriptors, do not say so.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::ACCESS | Errno::LOOP | Errno::NAMETOOLONG) => Ok(None),
            Err(e) => Err(e),
        }
    }
}

/// An open file, and whether what is there may be changed.
pub struct Opened {
    /// It.
    pub fd: OwnedFd,
    /// The right of the grant it is in.
    pub writable: bool,
    /// It is in the process's own `/tmp`.
    pub private: bool,
}

impl<'a> Place<'a> {
    /// Opens it; never waits for the other side of a FIFO. What is not to be changed is not opened for
    /// writing.
    pub fn open(&self, flags: OFlags, mode: Mode) -> Result<Opened, Errno> {
        let flags = flags | OFlags::CLOEXEC | OFlags::NONBLOCK;
        // TMPFILE holds the bit of DIRECTORY, which changes nothing.
        let changes = OFlags::WRONLY | OFlags::RDWR | OFlags::CREATE | OFlags::TRUNC | OFlags::TMPFILE;
        let changes = flags.intersects(changes.difference(OFlags::DIRECTORY));
        let (end, fs) = match self {
            Place::Host(path) => {
                let fd = rustix::fs::openat(CWD, path.as_slice(), flags, mode)?;
                return Ok(Opened { fd, writable: true, private: false });
            }
            Place::Granted { end, fs, .. } => (end, fs),
        };
        let (folder, name, flags) = match end {
            End::Way => return Err(Errno::ACCESS),
            End::Folder(folder) => (folder, &b"."[..], flags),
            End::Entry { slash: true, .. } if flags.contains(OFlags::CREATE) => return Err(Errno::ISDIR),
            End::Entry { parent, name, slash, .. } => {
                let slash = if *slash { OFlags::DIRECTORY } else { OFlags::empty() };
                (parent, name.as_slice(), flags | OFlags::NOFOLLOW | slash)
            }
        };
        if changes && !folder.writable {
            return Err(Errno::ROFS);
        }
        let is_new = flags.contains(OFlags::CREATE) && matches!(end, End::Entry { seen: None, .. });
        let room = self.room().filter(|_| is_new);
        room.map_or(Ok(()), |room| room.check_entry())?;
        let fd = rustix::fs::openat(&folder.fd, name, flags, mode)?;
        if let Some(room) = room {
            room.add_entry();
        }
        // Somebody may have moved a granted folder here meanwhile.
        let writable = match rustix::fs::fstat(&fd) {
            Ok(stat) if FileType::from_raw_mode(stat.st_mode).is_dir() && !self.in_sysroot() => {
                fs.grant_of(&stat).map_or(folder.writable, |grant| grant.writable)
            }
            _ => folder.writable,
        };
        Ok(Opened { fd, writable, private: folder.private })
    }

    /// Its metadata.
    pub fn stat(&self, follow: bool) -> Result<Stat, Errno> {
        match self {
            Place::Host(path) => {
                let flags = if follow { AtFlags::empty() } else { AtFlags::SYMLINK_NOFOLLOW };
                rustix::fs::statat(CWD, path.as_slice(), flags)
            }
            Place::Granted { end, .. } => match end {
                End::Way => Err(Errno::ACCESS),
                End::Folder(folder) => rustix::fs::fstat(&folder.fd),
                End::Entry { seen, .. } => seen.as_ref().map(|(_, stat)| *stat).ok_or(Errno::NOENT),
            },
        }
    }

    /// The folder it is in, and its name there: for operations on names. `changes` says that the operation
    /// will change that folder.
    pub fn entry(self, changes: bool) -> Result<(Held<'a>, Vec<u8>), Errno> {
        match self {
            Place::Host(path) => {
                let (parent, name) = split_last(trim_slashes(&path));
                let parent = if parent.is_empty() { b"/" } else { parent };
                let name = if name.is_empty() { b"." } else { name };
                let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
                let parent = rustix::fs::openat(CWD, parent, flags, Mode::empty())?;
                Ok((Held::Own(parent), name.to_vec()))
            }
            Place::Granted { end, .. } => match end {
                End::Way => Err(Errno::ACCESS),
                End::Folder(_) => Err(Errno::BUSY),
                End::Entry { parent, .. } if changes && !parent.writable => Err(Errno::ROFS),
                End::Entry { parent, name, .. } => Ok((parent.fd, name)),
            },
        }
    }

    /// The bounds of the folder it is in, if that is the process's own `/tmp`.
    pub fn room(&self) -> Option<&Arc<Room>> {
        match self {
            Place::Granted { end: End::Entry { parent, .. }, fs, .. } if parent.private => fs.tmp_room(),
            Place::Granted { end: End::Folder(folder), fs, .. } if folder.private => fs.tmp_room(),
            _ => None,
        }
    }

    /// Whether the guest may change what is there.
    pub fn writable(&self) -> bool {
        match self {
            Place::Host(_) => true,
            Place::Granted { end: End::Way, .. } => false,
            Place::Granted { end: End::Folder(folder) | End::Entry { parent: folder, .. }, .. } => {
                folder.writable
            }
        }
    }

    /// Whether the user trusts the guest with it.
    pub fn is_host(&self) -> bool {
        matches!(self, Place::Host(_))
    }

    /// Whether it is a folder that is only there because a granted one is below it.
    pub fn is_way(&self) -> bool {
        matches!(self, Place::Granted { end: End::Way, .. })
    }

    /// Whether it is in the sysroot.
    pub fn in_sysroot(&self) -> bool {
        matches!(self, Place::Granted { in_sysroot: true, .. })
    }

    /// The guest's path to it; through no link, in the sandbox.
    pub fn path(&self) -> &[u8] {
        match self {
            Place::Host(path) | Place::Granted { path, .. } => path,
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
pub fn below<'a>(path: &'a [u8], folder: &[u8]) -> Option<&'a [u8]> {
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
