//! Files that cross the border between the guest and programs of the host.

use super::files::{Kind, OpenFile, flag};
use super::{Process, transfer};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, FileType, MemfdFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

impl Process {
    /// The guest's files as a program of the host is to have them, with their numbers.
    pub(super) fn files_for_host(&self) -> Result<Vec<(OwnedFd, i32)>, Errno> {
        let kept = self.files.numbers().filter(|fd| self.files.cloexec(*fd) == Ok(false));
        kept.map(|fd| Ok((for_host(self.files.get(fd)?)?, fd as i32))).collect()
    }
}

fn for_host(file: &OpenFile) -> Result<OwnedFd, Errno> {
    let device = |name: &str| rustix::fs::openat(CWD, name, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
    match &file.kind {
        Kind::Host(host) => waiting(host.as_fd(), file.flags & flag::NONBLOCK == 0),
        Kind::Signals(_, event) => waiting(event.as_fd(), false),
        Kind::Bytes(bytes, at) => {
            let copy = rustix::fs::memfd_create("made-up", MemfdFlags::CLOEXEC)?;
            let mut rest = bytes.as_slice();
            while !rest.is_empty() {
                rest = &rest[rustix::io::write(&copy, rest)?..];
            }
            rustix::fs::seek(&copy, SeekFrom::Start(*at as u64))?;
            Ok(copy)
        }
        Kind::Zero => device("/dev/zero"),
        Kind::Random => device("/dev/urandom"),
        Kind::Null | Kind::Name(_) | Kind::Capture(_) | Kind::Folder(..) => device("/dev/null"),
    }
}

/// A descriptor whose reads and writes wait, as the guest's did; ours never do. What can have a second
/// description gets one, since the first is shared with other processes of the guest.
fn waiting(fd: BorrowedFd, waits: bool) -> Result<OwnedFd, Errno> {
    let flags = rustix::fs::fcntl_getfl(fd)?;
    if waits && flags.contains(OFlags::NONBLOCK) && !flags.contains(OFlags::PATH) {
        match FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode) {
            FileType::Fifo | FileType::CharacterDevice => {
                if let Some(other) = transfer::open_again(fd, OFlags::empty()) {
                    return Ok(other);
                }
            }
            // Ours are read and written with MSG_DONTWAIT.
            FileType::Socket => rustix::fs::fcntl_setfl(fd, flags.difference(OFlags::NONBLOCK))?,
            _ => {}
        }
    }
    rustix::io::fcntl_dupfd_cloexec(fd, 3)
}
