//! Reading and writing files of the host without ever waiting in it.
//!
//! A guest that waits for a pipe, a FIFO, a terminal or a socket must still be ended by its time limit, and
//! later must not stop the guest's other threads. So no call of ours waits in the host: one that would is
//! answered with `EAGAIN`, the guest's call is suspended (`Stop::Again`), and the machine looks at its limits
//! before it tries again.
//!
//! What the guest opens is opened with `O_NONBLOCK`, which also keeps `open` from waiting for the other side
//! of a FIFO. The standard streams are not ours: setting `O_NONBLOCK` on them would change them for whoever
//! started `rvvsim`. A terminal or a pipe is opened a second time, through `/proc/self/fd`, as a description
//! of our own. Where that is not possible the stream is polled first. Somebody else may then take what was
//! there in between, and the call waits for more: the one case that is left, and the reason to prefer a
//! second description.
//!
//! The other way would be a thread that sends signals until a call is interrupted. That needs a handler,
//! which is the whole process's and so the business of the program that this library is part of.

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::pipe::{PipeFlags, SpliceFlags};

/// How a file is read and written without waiting.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Transfer {
    /// As it is: it never waits, or its description has `O_NONBLOCK`.
    Direct,
    /// With `MSG_DONTWAIT`.
    Socket,
    /// When it was polled and is ready.
    Polled,
}

/// A pipe that is ready for writing takes so much at least (`PIPE_BUF`).
const PIPE_ROOM: usize = 4096;

/// How a standard stream is used, and a description of our own of it, where there must be one.
pub fn of_standard_stream(number: u8) -> (Option<OwnedFd>, Transfer) {
    of_stream(match number {
        0 => rustix::stdio::stdin(),
        1 => rustix::stdio::stdout(),
        _ => rustix::stdio::stderr(),
    })
}

/// The same of any file that somebody else has opened.
pub fn of_stream(stream: BorrowedFd) -> (Option<OwnedFd>, Transfer) {
    let Ok(stat) = rustix::fs::fstat(stream) else { return (None, Transfer::Polled) };
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::Socket => return (None, Transfer::Socket),
        FileType::Fifo => {}
        FileType::CharacterDevice if rustix::termios::isatty(stream) => {}
        FileType::CharacterDevice => return (None, Transfer::Polled),
        _ => return (None, Transfer::Direct),
    }
    let own = open_again(stream, OFlags::NONBLOCK).filter(|own| {
        rustix::fs::fstat(own).is_ok_and(|s| (s.st_dev, s.st_ino) == (stat.st_dev, stat.st_ino))
    });
    let transfer = if own.is_some() { Transfer::Direct } else { Transfer::Polled };
    (own, transfer)
}

/// Another description of the same file.
pub fn open_again(stream: BorrowedFd, waits: OFlags) -> Option<OwnedFd> {
    let access = rustix::fs::fcntl_getfl(stream).ok()? & OFlags::RWMODE;
    let flags = access | waits | OFlags::NOCTTY | OFlags::CLOEXEC;
    let link = format!("/proc/self/fd/{}", stream.as_raw_fd());
    rustix::fs::openat(CWD, link, flags, Mode::empty()).ok()
}

fn ready(fd: BorrowedFd, events: PollFlags) -> bool {
    let mut poll = [PollFd::from_borrowed_fd(fd, events)];
    !matches!(
        rustix::event::poll(&mut poll, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })),
        Ok(0) | Err(Errno::INTR)
    )
}

/// Reads what is there: `EAGAIN` if that is nothing.
pub fn read(file: impl AsFd, how: Transfer, buffer: &mut [u8], offset: Option<u64>) -> Result<usize, Errno> {
    let fd = file.as_fd();
    loop {
        if how == Transfer::Polled && !ready(fd, PollFlags::IN) {
            return Err(Errno::AGAIN);
        }
        let got = match (offset, how) {
            (Some(offset), _) => rustix::io::pread(fd, &mut *buffer, offset),
            (None, Transfer::Socket) => {
                rustix::net::recv(fd, &mut *buffer, RecvFlags::DONTWAIT).map(|(n, _)| n)
            }
            (None, _) => rustix::io::read(fd, &mut *buffer),
        };
        if got != Err(Errno::INTR) {
            return got;
        }
    }
}

/// Writes what there is room for: `EAGAIN` if that is nothing.
pub fn write(file: impl AsFd, how: Transfer, bytes: &[u8], offset: Option<u64>) -> Result<usize, Errno> {
    let fd = file.as_fd();
    let mut bytes = bytes;
    if how == Transfer::Polled {
        bytes = &bytes[..bytes.len().min(PIPE_ROOM)];
    }
    loop {
        if how == Transfer::Polled && !ready(fd, PollFlags::OUT) {
            return Err(Errno::AGAIN);
        }
        let wrote = match (offset, how) {
            (Some(offset), _) => rustix::io::pwrite(fd, bytes, offset),
            (None, Transfer::Socket) => {
                rustix::net::send(fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
            }
            (None, _) => rustix::io::write(fd, bytes),
        };
        if wrote != Err(Errno::INTR) {
            return wrote;
        }
    }
}

/// Whether somebody writes, or has written, to a FIFO that was opened to read without waiting. `poll` knows
/// nothing of a writer that has not yet written; `tee` does, and takes nothing out.
pub fn has_writer(fifo: BorrowedFd) -> bool {
    if ready(fifo, PollFlags::IN) {
        return true;
    }
    match rustix::pipe::pipe_with(PipeFlags::CLOEXEC) {
        Ok((_reader, writer)) => !matches!(rustix::pipe::tee(fifo, &writer, 1, SpliceFlags::NONBLOCK), Ok(0)),
        Err(_) => true,
    }
}
