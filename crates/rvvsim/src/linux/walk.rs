//! The way from a path of the guest to a file of the host, in the sandbox.
//!
//! The guest's tree is made of the granted folders under their own names, as if each were mounted there. A
//! path is walked through it one name at a time, and at each step it is known which grant the walk is in. A
//! step opens one name in a folder that is already open, never `..` and never through a link (`O_NOFOLLOW`),
//! so that it only ever leads down, whoever moves or replaces what meanwhile. Links are read and walked like
//! any path; `..` goes back to the name before. So the most specific grant decides about a file whatever the
//! way to it, and nothing leads out of all of them.
//!
//! A folder that was granted is known not only by its name but also by its inode: if somebody moves a
//! read-only folder within a writable one, it stays read-only. What cannot be known is that a file has a
//! second name in another grant: hard links that were there before the guest count as files of the folder
//! they are reached through.

use super::sandbox::{FileSystem, OpenGrant, below};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::VecDeque;

/// Links on one path, as on Linux.
const MOST_LINKS: usize = 40;
/// Steps on one path, with those of its links, and back by `..`: bounds the time it takes.
const MOST_STEPS: usize = 10_000;

/// An open folder, of a grant or on the way.
pub enum Held<'a> {
    /// One that is open as long as the process.
    Grant(BorrowedFd<'a>),
    /// One opened for this walk.
    Own(OwnedFd),
}

impl AsFd for Held<'_> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Held::Grant(fd) => *fd,
            Held::Own(fd) => fd.as_fd(),
        }
    }
}

/// A folder, and whether anything in it may be changed.
pub struct Folder<'a> {
    /// It.
    pub fd: Held<'a>,
    /// The right of the grant it belongs to.
    pub writable: bool,
    /// It is in the process's own `/tmp`.
    pub private: bool,
}

impl<'a> Folder<'a> {
    fn of(grant: &'a OpenGrant) -> Self {
        Folder { fd: Held::Grant(grant.fd.as_fd()), writable: grant.writable, private: grant.private }
    }
}

/// What a path leads to.
pub enum End<'a> {
    /// A folder that is only there because a granted one is below it.
    Way,
    /// A folder by itself: a granted one, or what `.` and `..` lead to.
    Folder(Folder<'a>),
    /// A name in a folder.
    Entry {
        /// The folder.
        parent: Folder<'a>,
        /// The name.
        name: Vec<u8>,
        /// What has that name, opened with `O_PATH`, and its metadata; `None` if nothing has.
        seen: Option<(OwnedFd, Stat)>,
        /// It must be a folder: the path ended in a slash.
        slash: bool,
    },
}

/// Where a walk is.
enum At<'a> {
    Way,
    Folder(Folder<'a>),
}

/// A walk through the guest's tree.
pub struct Walk<'a> {
    fs: &'a FileSystem,
    /// The tree is the sysroot, and not the grants.
    in_sysroot: bool,
    /// The names from the root to here, none of them a link.
    names: Vec<Vec<u8>>,
    at: At<'a>,
    links: usize,
    steps: usize,
}

impl<'a> Walk<'a> {
    /// From the root of the grants, or of the sysroot.
    pub fn from_root(fs: &'a FileSystem, in_sysroot: bool) -> Result<Self, Errno> {
        let mut walk = Walk { fs, in_sysroot, names: Vec::new(), at: At::Way, links: 0, steps: 0 };
        walk.at = walk.root()?;
        Ok(walk)
    }

    /// From an open folder, whose path is `path`.
    pub fn from_folder(fs: &'a FileSystem, folder: Folder<'a>, path: &[u8], in_sysroot: bool) -> Self {
        let names = components(path).map(<[u8]>::to_vec).collect();
        Walk { fs, in_sysroot, names, at: At::Folder(folder), links: 0, steps: 0 }
    }

    fn root(&self) -> Result<At<'a>, Errno> {
        if self.in_sysroot {
            return self.fs.sysroot().map(|root| At::Folder(Folder::of(root))).ok_or(Errno::NOENT);
        }
        let root = self.fs.grant_named(b"/")?;
        Ok(root.map_or(At::Way, |grant| At::Folder(Folder::of(grant))))
    }

    /// Walks a path to its end; through a link at its end only if `follow`. Returns that, and its path.
    pub fn to(mut self, path: &[u8], follow: bool) -> Result<(End<'a>, Vec<u8>), Errno> {
        let mut todo: VecDeque<Vec<u8>> = VecDeque::new();
        // A slash at the end asks for a folder, and so for what a link leads to.
        let mut slash = self.begin(path, &mut todo)?;
        while let Some(name) = todo.pop_front() {
            if name == b".." {
                self.back()?;
                continue;
            }
            self.count(1)?;
            let last = todo.is_empty();
            let child = self.child(&name);
            let granted = if self.in_sysroot { None } else { self.fs.grant_named(&child)? };
            if let Some(grant) = granted {
                self.enter(At::Folder(Folder::of(grant)), name);
                continue;
            }
            let At::Folder(folder) = &self.at else {
                if !self.fs.leads_to_grant(&child) {
                    // Nothing but the grants is there. A link that says otherwise leads out.
                    return Err(if self.links > 0 { Errno::ACCESS } else { Errno::NOENT });
                }
                self.enter(At::Way, name);
                continue;
            };
            let (fd, stat) = match self.fs.look(folder, &name) {
                Err(Errno::NOENT) if last => return Ok((self.entry(name, None, slash)?, child)),
                other => other?,
            };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Symlink if !last || follow || slash => {
                    let target = rustix::fs::readlinkat(&fd, "", Vec::new())?.into_bytes();
                    self.links += 1;
                    if self.links > MOST_LINKS {
                        return Err(Errno::LOOP);
                    }
                    if target.is_empty() {
                        return Err(Errno::NOENT);
                    }
                    let mut ahead = VecDeque::new();
                    let ends_in_slash = self.begin(&target, &mut ahead)?;
                    slash |= last && ends_in_slash;
                    ahead.append(&mut todo);
                    todo = ahead;
                }
                FileType::Directory => match self.fs.grant_of(&stat) {
                    Some(grant) if !self.in_sysroot => self.enter(At::Folder(Folder::of(grant)), name),
                    _ if last => return Ok((self.entry(name, Some((fd, stat)), slash)?, child)),
                    _ => {
                        let (writable, private) = (folder.writable, folder.private);
                        self.enter(At::Folder(Folder { fd: Held::Own(fd), writable, private }), name);
                    }
                },
                _ if last && !slash => return Ok((self.entry(name, Some((fd, stat)), slash)?, child)),
                _ => return Err(Errno::NOTDIR),
            }
        }
        let path = path_of(&self.names);
        let end = match self.at {
            At::Way => End::Way,
            At::Folder(folder) => End::Folder(folder),
        };
        Ok((end, path))
    }

    /// Puts the names of a path ahead; an absolute one starts at the root. Whether it ends in a slash.
    fn begin(&mut self, path: &[u8], ahead: &mut VecDeque<Vec<u8>>) -> Result<bool, Errno> {
        if path.first() == Some(&b'/') {
            self.names.clear();
            self.at = self.root()?;
        }
        ahead.extend(components(path).map(<[u8]>::to_vec));
        Ok(path.ends_with(b"/") || path.ends_with(b"/."))
    }

    fn count(&mut self, steps: usize) -> Result<(), Errno> {
        self.steps += steps;
        if self.steps > MOST_STEPS { Err(Errno::NAMETOOLONG) } else { Ok(()) }
    }

    fn child(&self, name: &[u8]) -> Vec<u8> {
        let mut path = path_of(&self.names);
        if !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        path
    }

    fn enter(&mut self, at: At<'a>, name: Vec<u8>) {
        self.at = at;
        self.names.push(name);
    }

    fn entry(self, name: Vec<u8>, seen: Option<(OwnedFd, Stat)>, slash: bool) -> Result<End<'a>, Errno> {
        match self.at {
            At::Folder(parent) => Ok(End::Entry { parent, name, seen, slash }),
            At::Way => Err(Errno::NOENT),
        }
    }

    /// `..`: down again from the root to the name before, through what has these names now. A folder that is
    /// open is not asked for its parent: somebody may have moved it out of the grant.
    fn back(&mut self) -> Result<(), Errno> {
        let mut names = std::mem::take(&mut self.names);
        names.pop();
        self.at = self.root()?;
        self.count(names.len())?;
        for name in names {
            let child = self.child(&name);
            let granted = if self.in_sysroot { None } else { self.fs.grant_named(&child)? };
            let at = match (&self.at, granted) {
                (_, Some(grant)) => At::Folder(Folder::of(grant)),
                (At::Way, None) => At::Way,
                (At::Folder(folder), None) => {
                    let (fd, stat) = self.fs.look(folder, &name)?;
                    if !FileType::from_raw_mode(stat.st_mode).is_dir() {
                        return Err(Errno::NOENT);
                    }
                    match self.fs.grant_of(&stat) {
                        Some(grant) if !self.in_sysroot => At::Folder(Folder::of(grant)),
                        _ => {
                            let (writable, private) = (folder.writable, folder.private);
                            At::Folder(Folder { fd: Held::Own(fd), writable, private })
                        }
                    }
                }
            };
            self.enter(at, name);
        }
        Ok(())
    }
}

impl FileSystem {
    /// Opens a name in a folder to look at it.
    fn look(&self, folder: &Folder, name: &[u8]) -> Result<(OwnedFd, Stat), Errno> {
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fd = rustix::fs::openat(&folder.fd, name, flags, Mode::empty())?;
        let stat = rustix::fs::fstat(&fd)?;
        Ok((fd, stat))
    }

    fn leads_to_grant(&self, path: &[u8]) -> bool {
        self.names().any(|name| below(name, path).is_some())
    }
}

/// The names of a path, without those that lead nowhere.
fn components(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    path.split(|&b| b == b'/').filter(|name| !name.is_empty() && *name != b".")
}

fn path_of(names: &[Vec<u8>]) -> Vec<u8> {
    let mut path = Vec::new();
    for name in names {
        path.push(b'/');
        path.extend_from_slice(name);
    }
    if path.is_empty() {
        path.push(b'/');
    }
    path
}
