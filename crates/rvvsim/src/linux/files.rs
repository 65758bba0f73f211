//! The guest's open files.

use super::options::{Input, Output, ProcessOptions};
use super::pages::Charge;
use super::tmp::Kept;
use super::transfer::{self, Transfer};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{CWD, FileType, Mode, OFlags, SeekFrom, Stat};
use rustix::io::Errno;
use std::sync::Arc;

/// As many descriptors as Linux gives by default.
pub const MOST_FILES: usize = 1024;

/// Most files open at once whose contents are kept in memory.
const MOST_MADE_UP: usize = 16;

/// Flags of `open`, as riscv64 numbers them.
pub mod flag {
    /// Write only.
    pub const WRONLY: u32 = 1;
    /// Read and write.
    pub const RDWR: u32 = 2;
    /// The bits of the access mode.
    pub const ACCMODE: u32 = 3;
    /// Make it if it is not there.
    pub const CREAT: u32 = 0o100;
    /// It must not be there.
    pub const EXCL: u32 = 0o200;
    /// Empty it.
    pub const TRUNC: u32 = 0o1000;
    /// Write at the end.
    pub const APPEND: u32 = 0o2000;
    /// Do not wait.
    pub const NONBLOCK: u32 = 0o4000;
    /// A pipe of packets; of files a hint.
    pub const DIRECT: u32 = 0o40_000;
    /// It must be a directory.
    pub const DIRECTORY: u32 = 0o200_000;
    /// Not through a final symbolic link.
    pub const NOFOLLOW: u32 = 0o400_000;
    /// Close it on exec.
    pub const CLOEXEC: u32 = 0o2_000_000;
    /// Only its place, not its contents.
    pub const PATH: u32 = 0o10_000_000;
    /// A file without a name.
    pub const TMPFILE: u32 = 0o20_000_000;
}

/// A descriptor of the host.
pub enum HostFd {
    /// One of its standard streams.
    Standard(u8),
    /// One opened for the guest.
    Owned(OwnedFd),
}

/// A file of the host.
pub struct HostFile {
    fd: HostFd,
    /// The guest's name for it; empty for a pipe or a standard stream.
    pub path: Vec<u8>,
    /// It may be changed through its descriptor: mode, times.
    pub writable_place: bool,
    /// It is a pipe made by the guest: there is nobody else to wait for.
    pub is_pipe: bool,
    /// It is one of the host's own standard streams.
    pub is_standard: bool,
    /// It is in the sysroot.
    pub in_sysroot: bool,
    /// It is in the process's own `/tmp`, which has bounds.
    pub kept: Option<Kept>,
    /// It is memory, which is counted.
    pub charge: Option<Charge>,
    /// How it is read and written without waiting.
    transfer: Transfer,
    /// The stream of the host process that the guest has through it, and closes with it.
    _stream: Option<Stream>,
}

/// A standard stream of the host process: when this is dropped, nobody who waits for its end waits for this
/// process.
struct Stream(u8);

impl Drop for Stream {
    fn drop(&mut self) {
        let null = rustix::fs::openat(CWD, "/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty());
        let Ok(null) = null else { return };
        let _ = match self.0 {
            0 => rustix::stdio::dup2_stdin(null),
            1 => rustix::stdio::dup2_stdout(null),
            _ => rustix::stdio::dup2_stderr(null),
        };
    }
}

impl AsFd for HostFile {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.fd {
            HostFd::Standard(0) => rustix::stdio::stdin(),
            HostFd::Standard(1) => rustix::stdio::stdout(),
            HostFd::Standard(_) => rustix::stdio::stderr(),
            HostFd::Owned(fd) => fd.as_fd(),
        }
    }
}

impl HostFile {
    /// A file opened under a name, with `O_NONBLOCK`.
    pub fn named(fd: OwnedFd, path: Vec<u8>, writable_place: bool) -> Self {
        let transfer = Transfer::Direct;
        HostFile {
            fd: HostFd::Owned(fd),
            path,
            writable_place,
            is_pipe: false,
            is_standard: false,
            in_sysroot: false,
            kept: None,
            charge: None,
            transfer,
            _stream: None,
        }
    }

    /// One end of a pipe, with `O_NONBLOCK`.
    pub fn pipe(fd: OwnedFd) -> Self {
        HostFile { is_pipe: true, ..HostFile::named(fd, Vec::new(), false) }
    }

    /// A socket, with `O_NONBLOCK`.
    pub fn socket(fd: OwnedFd) -> Self {
        HostFile { transfer: Transfer::Socket, ..HostFile::named(fd, Vec::new(), false) }
    }

    /// A file that came from another process.
    pub fn received(fd: OwnedFd) -> Self {
        let is_socket = rustix::fs::fstat(&fd)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Socket);
        let transfer = if is_socket { Transfer::Socket } else { Transfer::Polled };
        HostFile { transfer, ..HostFile::named(fd, Vec::new(), false) }
    }

    /// A file that the process was started with.
    pub fn inherited(fd: OwnedFd) -> Self {
        let (own, transfer) = transfer::of_stream(fd.as_fd());
        HostFile { transfer, ..HostFile::named(own.unwrap_or(fd), Vec::new(), true) }
    }

    fn standard(number: u8, closes: bool) -> Self {
        let (fd, transfer) = transfer::of_standard_stream(number);
        HostFile {
            fd: fd.map_or(HostFd::Standard(number), HostFd::Owned),
            path: Vec::new(),
            writable_place: false,
            is_pipe: false,
            is_standard: true,
            in_sysroot: false,
            kept: None,
            charge: None,
            transfer,
            _stream: closes.then(|| Stream(number)),
        }
    }

    /// How a standard stream was opened, in the guest's flags.
    fn access_flags(&self) -> u32 {
        let Ok(host) = rustix::fs::fcntl_getfl(self) else { return flag::RDWR };
        let append = if host.contains(OFlags::APPEND) { flag::APPEND } else { 0 };
        host.bits() & flag::ACCMODE | append
    }

    /// Its metadata.
    pub fn stat(&self) -> Result<Stat, Errno> {
        rustix::fs::fstat(self)
    }

    /// Whether it is a FIFO.
    pub fn is_fifo(&self) -> bool {
        self.stat().is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Fifo)
    }

    /// It is about to be so large: whether that is within bounds.
    pub fn make_room(&self, size: u64) -> Result<(), Errno> {
        self.kept.as_ref().map_or(Ok(()), |kept| kept.room.grow(kept.inode, size))
    }

    /// It was made so large.
    pub fn was_resized(&self, size: u64) {
        if let Some(kept) = &self.kept {
            kept.room.shrink(kept.inode, size);
        }
    }

    /// `len` bytes are about to be written, at `offset` or where it is: whether that is within bounds.
    pub fn make_room_to_write(&self, len: usize, offset: Option<u64>) -> Result<(), Errno> {
        if self.kept.is_none() {
            return Ok(());
        }
        let appends = rustix::fs::fcntl_getfl(self)?.contains(OFlags::APPEND);
        let start = match offset {
            _ if appends => self.stat()?.st_size as u64,
            Some(offset) => offset,
            None => rustix::fs::seek(self, SeekFrom::Current(0)).unwrap_or(0),
        };
        self.make_room(start.saturating_add(len as u64))
    }

    /// Reads without waiting: `EAGAIN` if there is nothing yet.
    pub fn try_read(&self, buffer: &mut [u8], offset: Option<u64>) -> Result<usize, Errno> {
        transfer::read(self, self.transfer, buffer, offset)
    }

    /// Writes without waiting: `EAGAIN` if there is no room yet.
    pub fn try_write(&self, bytes: &[u8], offset: Option<u64>) -> Result<usize, Errno> {
        transfer::write(self, self.transfer, bytes, offset)
    }

    /// Reads what the file has of a page; bytes past its end stay. How many there were.
    pub fn read_page(&self, offset: u64, page: &mut [u8]) -> usize {
        let mut got = 0;
        while got < page.len() {
            match rustix::io::pread(self, &mut page[got..], offset + got as u64) {
                Ok(0) => break,
                Ok(n) => got += n,
                Err(Errno::INTR) => {}
                Err(_) => break,
            }
        }
        got
    }

    /// Writes a page back, but not past the end of the file. A file that cannot be written keeps what it has,
    /// as on Linux when the disk is full.
    pub fn write_page(&self, offset: u64, page: &[u8]) {
        let size = rustix::fs::fstat(self).map_or(0, |s| s.st_size as u64);
        let len = size.saturating_sub(offset).min(page.len() as u64) as usize;
        // A file opened to append would append even here.
        let flags = rustix::fs::fcntl_getfl(self).ok().filter(|f| f.contains(OFlags::APPEND));
        if let Some(flags) = flags {
            let _ = rustix::fs::fcntl_setfl(self, flags.difference(OFlags::APPEND));
        }
        let mut done = 0;
        while done < len {
            match rustix::io::pwrite(self, &page[done..len], offset + done as u64) {
                Ok(n) if n > 0 => done += n,
                Err(Errno::INTR) => {}
                _ => break,
            }
        }
        if let Some(flags) = flags {
            let _ = rustix::fs::fcntl_setfl(self, flags);
        }
    }
}

/// What an open file is.
pub enum Kind {
    /// The host's.
    Host(Arc<HostFile>),
    /// Bytes to read, and how far they have been.
    Bytes(Vec<u8>, usize),
    /// Output kept for whoever runs the guest: 0 for stdout, 1 for stderr.
    Capture(usize),
    /// A folder of the guest's own: its names, how many have been read, and what they are (`DT_*`).
    Folder(Vec<Vec<u8>>, usize, u8),
    /// `signalfd`: which signals it reads.
    ///
    /// And a file that is readable while one is there, for epoll.
    Signals(u64, Arc<HostFile>),
    /// The name of the thread with this id, to be written.
    Name(u32),
    /// `/dev/null`.
    Null,
    /// `/dev/zero`.
    Zero,
    /// `/dev/urandom`.
    Random,
}

/// An open file; descriptors made by `dup` share one.
pub struct OpenFile {
    /// What it is.
    pub kind: Kind,
    /// The flags it was opened with, as `F_GETFL` tells them.
    pub flags: u32,
    references: usize,
}

impl OpenFile {
    /// May be read.
    pub fn readable(&self) -> bool {
        self.flags & flag::ACCMODE != flag::WRONLY && self.flags & flag::PATH == 0
    }

    /// May be written.
    pub fn writable(&self) -> bool {
        self.flags & flag::ACCMODE != 0 && self.flags & flag::PATH == 0
    }

    /// The host's file, if it is one.
    pub fn host(&self) -> Option<&Arc<HostFile>> {
        match &self.kind {
            Kind::Host(file) => Some(file),
            _ => None,
        }
    }
}

#[derive(Clone, Copy)]
struct Descriptor {
    file: usize,
    cloexec: bool,
}

/// The table of descriptors, and the open files they name.
pub struct Files {
    descriptors: Vec<Option<Descriptor>>,
    open: Vec<Option<OpenFile>>,
    /// `RLIMIT_NOFILE`: descriptors are below it.
    pub limit: usize,
    /// What was written to captured streams.
    pub captured: [Vec<u8>; 2],
}

impl Files {
    /// The three standard streams.
    pub fn new(options: &mut ProcessOptions) -> Self {
        let mut files = Files {
            descriptors: Vec::new(),
            open: Vec::new(),
            limit: MOST_FILES,
            captured: [Vec::new(), Vec::new()],
        };
        // In place of QEMU: a daemon that closes its streams has closed them.
        let closes = options.host_programs;
        let stdin = match std::mem::take(&mut options.stdin) {
            Input::Inherit => Kind::Host(Arc::new(HostFile::standard(0, closes))),
            Input::Bytes(bytes) => Kind::Bytes(bytes, 0),
        };
        let output = |output, number: u8| match output {
            Output::Inherit => Kind::Host(Arc::new(HostFile::standard(number, closes))),
            Output::Capture => Kind::Capture(usize::from(number) - 1),
            Output::Discard => Kind::Null,
        };
        let streams = [
            (stdin, 0),
            (output(options.stdout, 1), flag::WRONLY),
            (output(options.stderr, 2), flag::WRONLY),
        ];
        for (kind, usual) in streams {
            let flags = match &kind {
                Kind::Host(host) => host.access_flags(),
                _ => usual,
            };
            let _ = files.add(kind, flags);
        }
        files
    }

    /// The files that the process was started with, besides the standard streams, keep their numbers.
    pub fn add_inherited(&mut self, files: Vec<(OwnedFd, i32)>) {
        for (fd, number) in files {
            let host = rustix::fs::fcntl_getfl(&fd).map_or(flag::RDWR, |flags| flags.bits());
            let flags = host & (flag::ACCMODE | flag::APPEND | flag::NONBLOCK | flag::PATH);
            if let Ok(at) = self.add(Kind::Host(Arc::new(HostFile::inherited(fd))), flags) {
                let number = number as u64;
                if at != number && self.duplicate_to(at, number, false).is_ok() {
                    let _ = self.close(at);
                }
            }
        }
    }

    /// A new open file under the lowest free descriptor.
    pub fn add(&mut self, kind: Kind, flags: u32) -> Result<u64, Errno> {
        let made_up = |file: &&OpenFile| matches!(file.kind, Kind::Bytes(..));
        if matches!(kind, Kind::Bytes(..))
            && self.open.iter().flatten().filter(made_up).count() >= MOST_MADE_UP
        {
            return Err(Errno::NFILE);
        }
        let fd = self.lowest_free(0)?;
        let cloexec = flags & flag::CLOEXEC != 0;
        let flags = flags & !(flag::CLOEXEC | flag::CREAT | flag::EXCL | flag::TRUNC | 0o400);
        let file = OpenFile { kind, flags, references: 1 };
        let slot = match self.open.iter().position(Option::is_none) {
            Some(slot) => {
                self.open[slot] = Some(file);
                slot
            }
            None => {
                self.open.push(Some(file));
                self.open.len() - 1
            }
        };
        self.place(fd, Descriptor { file: slot, cloexec });
        Ok(fd as u64)
    }

    fn lowest_free(&self, from: usize) -> Result<usize, Errno> {
        let used = |fd: &usize| self.descriptors.get(*fd).is_some_and(Option::is_some);
        (from..self.limit).find(|fd| !used(fd)).ok_or(Errno::MFILE)
    }

    fn place(&mut self, fd: usize, descriptor: Descriptor) {
        if self.descriptors.len() <= fd {
            self.descriptors.resize(fd + 1, None);
        }
        self.descriptors[fd] = Some(descriptor);
    }

    fn descriptor(&self, fd: u64) -> Result<Descriptor, Errno> {
        // The kernel takes descriptors as 32-bit numbers.
        let fd = fd as u32 as usize;
        self.descriptors.get(fd).copied().flatten().ok_or(Errno::BADF)
    }

    /// The open file of a descriptor.
    pub fn get(&self, fd: u64) -> Result<&OpenFile, Errno> {
        let descriptor = self.descriptor(fd)?;
        self.open[descriptor.file].as_ref().ok_or(Errno::BADF)
    }

    /// The same, to change.
    pub fn get_mut(&mut self, fd: u64) -> Result<&mut OpenFile, Errno> {
        let descriptor = self.descriptor(fd)?;
        self.open[descriptor.file].as_mut().ok_or(Errno::BADF)
    }

    /// The masks of all descriptors of signals, each with its file for epoll.
    pub fn of_signals(&self) -> impl Iterator<Item = (u64, &Arc<HostFile>)> {
        self.open.iter().flatten().filter_map(|file| match &file.kind {
            Kind::Signals(mask, event) => Some((*mask, event)),
            _ => None,
        })
    }

    /// The host's file behind a descriptor, or `error` if it has none.
    pub fn host(&self, fd: u64, error: Errno) -> Result<Arc<HostFile>, Errno> {
        self.get(fd)?.host().cloned().ok_or(error)
    }

    /// Closes a descriptor.
    pub fn close(&mut self, fd: u64) -> Result<(), Errno> {
        let descriptor = self.descriptor(fd)?;
        self.descriptors[fd as u32 as usize] = None;
        if let Some(file) = &mut self.open[descriptor.file] {
            file.references -= 1;
            if file.references == 0 {
                self.open[descriptor.file] = None;
            }
        }
        Ok(())
    }

    /// A second descriptor for the same open file, the lowest free one from `from` on.
    pub fn duplicate(&mut self, fd: u64, from: usize, cloexec: bool) -> Result<u64, Errno> {
        let old = self.descriptor(fd)?;
        if from >= self.limit {
            return Err(Errno::INVAL);
        }
        let new = self.lowest_free(from)?;
        self.share(old.file, new, cloexec);
        Ok(new as u64)
    }

    /// Makes `new` a descriptor for the open file of `old`, closing what it was.
    pub fn duplicate_to(&mut self, old: u64, new: u64, cloexec: bool) -> Result<u64, Errno> {
        let from = self.descriptor(old)?;
        let new = new as u32 as usize;
        if new >= self.limit {
            return Err(Errno::BADF);
        }
        let _ = self.close(new as u64);
        self.share(from.file, new, cloexec);
        Ok(new as u64)
    }

    fn share(&mut self, file: usize, fd: usize, cloexec: bool) {
        if let Some(open) = &mut self.open[file] {
            open.references += 1;
        }
        self.place(fd, Descriptor { file, cloexec });
    }

    /// The descriptors in use.
    pub fn numbers(&self) -> impl Iterator<Item = u64> {
        self.descriptors.iter().enumerate().filter(|(_, d)| d.is_some()).map(|(fd, _)| fd as u64)
    }

    /// Whether a descriptor closes on exec.
    pub fn cloexec(&self, fd: u64) -> Result<bool, Errno> {
        self.descriptor(fd).map(|d| d.cloexec)
    }

    /// Says whether a descriptor is to close on exec.
    pub fn set_cloexec(&mut self, fd: u64, cloexec: bool) -> Result<(), Errno> {
        self.descriptor(fd)?;
        if let Some(Some(d)) = self.descriptors.get_mut(fd as u32 as usize) {
            d.cloexec = cloexec;
        }
        Ok(())
    }
}
