//! System calls on open files: reading, writing, seeking, duplicating.

use super::files::{HostFile, Kind, flag};
use super::schedule::Wait;
use super::signal::{Info, SIGPIPE};
use super::user::{self, Layout};
use super::{Process, Served, Stop, space_of};
use crate::Hart;
use rustix::event::PollFlags;
use rustix::fs::SeekFrom;
use rustix::io::Errno;
use std::sync::Arc;

/// Bytes moved between guest and host at a time, whatever the guest asks for.
const CHUNK: usize = 256 << 10;
/// No transfer is larger, as on Linux.
const MOST: u64 = 0x7fff_f000;
/// Most parts of one `readv` or `writev`.
const MOST_PARTS: u64 = 1024;

/// Where in guest memory data is, in parts.
pub struct Parts {
    parts: Vec<(u64, usize)>,
    /// Bytes of all of them.
    pub total: usize,
}

impl Parts {
    /// One part.
    pub fn one(address: u64, len: u64) -> Self {
        let len = len.min(MOST) as usize;
        Parts { parts: vec![(address, len)], total: len }
    }

    /// Those of a list of `struct iovec`.
    pub fn read(hart: &mut Hart, address: u64, count: u64) -> Result<Self, Errno> {
        if count > MOST_PARTS {
            return Err(Errno::INVAL);
        }
        let mut parts = Vec::new();
        let mut total = 0u64;
        for i in 0..count {
            let at = address.wrapping_add(16 * i);
            let base = user::read_u64(hart, at)?;
            let len = user::read_u64(hart, at.wrapping_add(8))?;
            if len as i64 <= -1 {
                return Err(Errno::INVAL);
            }
            let len = len.min(MOST - total);
            total += len;
            parts.push((base, len as usize));
        }
        Ok(Parts { parts, total: total as usize })
    }

    /// Calls `f` with the address and buffer range of each part between `from` and `to` of the data.
    pub fn each(
        &self,
        from: usize,
        to: usize,
        mut f: impl FnMut(u64, std::ops::Range<usize>) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        let mut at = 0;
        for &(address, len) in &self.parts {
            let (start, end) = (at.max(from), (at + len).min(to));
            if start < end {
                f(address.wrapping_add((start - at) as u64), start - from..end - from)?;
            }
            at += len;
        }
        Ok(())
    }
}

impl Process {
    /// `read(fd, buf, len)`.
    pub(super) fn sys_read(&mut self, hart: &mut Hart, fd: u64, buf: u64, len: u64) -> Served {
        self.read_parts(hart, fd, &Parts::one(buf, len), None)
    }

    /// `pread64(fd, buf, len, offset)`.
    pub(super) fn sys_pread64(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, buf, len, offset, ..] = args;
        self.read_parts(hart, fd, &Parts::one(buf, len), Some(check_offset(offset)?))
    }

    /// `readv(fd, parts, count)`, and with an offset `preadv`.
    pub(super) fn sys_readv(&mut self, hart: &mut Hart, args: [u64; 6], at_offset: bool) -> Served {
        let [fd, address, count, offset, ..] = args;
        let parts = Parts::read(hart, address, count)?;
        let offset = if at_offset { Some(check_offset(offset)?) } else { None };
        self.read_parts(hart, fd, &parts, offset)
    }

    /// `write(fd, buf, len)`.
    pub(super) fn sys_write(&mut self, hart: &mut Hart, fd: u64, buf: u64, len: u64) -> Served {
        self.write_parts(hart, fd, &Parts::one(buf, len), None)
    }

    /// `pwrite64(fd, buf, len, offset)`.
    pub(super) fn sys_pwrite64(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, buf, len, offset, ..] = args;
        self.write_parts(hart, fd, &Parts::one(buf, len), Some(check_offset(offset)?))
    }

    /// `writev(fd, parts, count)`, and with an offset `pwritev`.
    pub(super) fn sys_writev(&mut self, hart: &mut Hart, args: [u64; 6], at_offset: bool) -> Served {
        let [fd, address, count, offset, ..] = args;
        let parts = Parts::read(hart, address, count)?;
        let offset = if at_offset { Some(check_offset(offset)?) } else { None };
        self.write_parts(hart, fd, &parts, offset)
    }

    fn read_parts(&mut self, hart: &mut Hart, fd: u64, parts: &Parts, offset: Option<u64>) -> Served {
        if !self.files.get(fd)?.readable() {
            return Err(Errno::BADF.into());
        }
        reconcile(hart);
        let mut buffer = std::mem::take(&mut self.buffer);
        let mut done = 0;
        let served = loop {
            let want = (parts.total - done).min(CHUNK);
            // Only what the guest can take is read, so that nothing is lost.
            let mut room = 0;
            let _ = parts.each(done, done + want, |address, part| {
                let good = user::writable(hart, address, part.len());
                room += good;
                if good < part.len() { Err(Errno::FAULT) } else { Ok(()) }
            });
            if room == 0 && want > 0 {
                break if done > 0 { Ok(done) } else { Err(Errno::FAULT.into()) };
            }
            if buffer.len() < room {
                buffer.resize(room, 0);
            }
            let got = match self.read_host(fd, &mut buffer[..room], offset.map(|o| o + done as u64)) {
                Ok(got) => got,
                Err(_) if done > 0 => break Ok(done),
                Err(stop) => break Err(stop),
            };
            let copied =
                parts.each(done, done + got, |address, part| user::write(hart, address, &buffer[part]));
            if let Err(e) = copied {
                break Err(e.into());
            }
            done += got;
            if got < want || done == parts.total || !self.reads_on(fd) || self.is_late() {
                break Ok(done);
            }
        };
        self.buffer = buffer;
        served.map(|n| n as u64)
    }

    /// Whether a second read right after the first cannot block.
    fn reads_on(&self, fd: u64) -> bool {
        match self.files.get(fd).map(|f| &f.kind) {
            Ok(Kind::Host(file)) => rustix::fs::fstat(file)
                .is_ok_and(|s| rustix::fs::FileType::from_raw_mode(s.st_mode).is_file()),
            Ok(_) => true,
            Err(_) => false,
        }
    }

    /// Reads into the host's memory.
    fn read_host(&mut self, fd: u64, buffer: &mut [u8], offset: Option<u64>) -> Served<usize> {
        let file = self.files.get_mut(fd)?;
        let nonblocking = file.flags & flag::NONBLOCK != 0;
        match &mut file.kind {
            Kind::Host(host) => {
                let host = Arc::clone(host);
                match host.try_read(buffer, offset) {
                    Err(Errno::AGAIN) if !nonblocking => Err(wait_to_read(&host)),
                    other => Ok(other?),
                }
            }
            Kind::Bytes(bytes, at) => {
                let start = offset.map_or(*at, |o| usize::try_from(o).unwrap_or(usize::MAX)).min(bytes.len());
                let n = buffer.len().min(bytes.len() - start);
                buffer[..n].copy_from_slice(&bytes[start..start + n]);
                if offset.is_none() {
                    *at = start + n;
                }
                Ok(n)
            }
            Kind::Null | Kind::Name(_) => Ok(0),
            Kind::Zero => {
                buffer.fill(0);
                Ok(buffer.len())
            }
            Kind::Random => {
                self.random.fill(buffer)?;
                Ok(buffer.len())
            }
            Kind::Folder(..) => Err(Errno::ISDIR.into()),
            Kind::Signals(mask, _) => {
                let mask = *mask;
                self.read_signals(buffer, mask, nonblocking)
            }
            Kind::Capture(_) => Err(Errno::BADF.into()),
        }
    }

    fn write_parts(&mut self, hart: &mut Hart, fd: u64, parts: &Parts, offset: Option<u64>) -> Served {
        if !self.files.get(fd)?.writable() {
            return Err(Errno::BADF.into());
        }
        reconcile(hart);
        let mut buffer = std::mem::take(&mut self.buffer);
        // A write that had to wait goes on where it was.
        let mut done = self.me().suspended.written.min(parts.total);
        let served = loop {
            let want = (parts.total - done).min(CHUNK);
            if buffer.len() < want {
                buffer.resize(want, 0);
            }
            let mut have = 0;
            let _ = parts.each(done, done + want, |address, part| {
                let (at, len) = (part.start, part.len());
                user::read(hart, address, &mut buffer[part])?;
                have = at + len;
                Ok(())
            });
            if have == 0 && want > 0 {
                break if done > 0 { Ok(done) } else { Err(Errno::FAULT.into()) };
            }
            match self.write_host(fd, &buffer[..have], offset.map(|o| o + done as u64)) {
                Ok(n) => done += n,
                Err(Stop::Error(_)) if done > 0 => break Ok(done),
                Err(stop) => {
                    self.me_mut().suspended.written = done;
                    break Err(stop);
                }
            }
            if have < want || done == parts.total || self.is_late() {
                break Ok(done);
            }
        };
        self.buffer = buffer;
        served.map(|n| n as u64)
    }

    /// Writes from the host's memory.
    fn write_host(&mut self, fd: u64, bytes: &[u8], offset: Option<u64>) -> Served<usize> {
        let limit = self.options.output_limit;
        let file = self.files.get(fd)?;
        let nonblocking = file.flags & flag::NONBLOCK != 0;
        match &file.kind {
            Kind::Host(host) => {
                let host = Arc::clone(host);
                host.make_room_to_write(bytes.len(), offset)?;
                match host.try_write(bytes, offset) {
                    Err(Errno::AGAIN) if !nonblocking => Err(wait_to_write(&host)),
                    Err(Errno::PIPE) => {
                        let info = Info::sent(SIGPIPE, 0, self.identity.pid, self.identity.uid);
                        let _ = self.send_to(self.threads.current, info);
                        Err(Errno::PIPE.into())
                    }
                    other => Ok(other?),
                }
            }
            Kind::Capture(stream) => {
                let stream = *stream;
                let captured = &mut self.files.captured[stream];
                let n = bytes.len().min(limit.saturating_sub(captured.len()));
                captured.extend_from_slice(&bytes[..n]);
                if n == 0 && !bytes.is_empty() { Err(Errno::NOSPC.into()) } else { Ok(n) }
            }
            Kind::Null | Kind::Zero | Kind::Random => Ok(bytes.len()),
            Kind::Name(tid) => Ok(self.name_thread(*tid, bytes)?),
            Kind::Bytes(..) | Kind::Folder(..) => Err(Errno::BADF.into()),
            Kind::Signals(..) => Err(Errno::INVAL.into()),
        }
    }

    /// `lseek(fd, offset, whence)`.
    pub(super) fn sys_lseek(&mut self, fd: u64, offset: u64, whence: u64) -> Served {
        let file = self.files.get_mut(fd)?;
        let signed = offset as i64;
        match &mut file.kind {
            Kind::Host(host) => {
                let from = match whence {
                    0 if signed >= 0 => SeekFrom::Start(offset),
                    1 => SeekFrom::Current(signed),
                    2 => SeekFrom::End(signed),
                    3 if signed >= 0 => SeekFrom::Data(offset),
                    4 if signed >= 0 => SeekFrom::Hole(offset),
                    _ => return Err(Errno::INVAL.into()),
                };
                Ok(rustix::fs::seek(host, from)?)
            }
            Kind::Bytes(bytes, at) => {
                let base = match whence {
                    0 => 0,
                    1 => *at as i64,
                    2 => bytes.len() as i64,
                    _ => return Err(Errno::INVAL.into()),
                };
                let to = base.checked_add(signed).filter(|&to| to >= 0).ok_or(Errno::INVAL)?;
                *at = to as usize;
                Ok(to as u64)
            }
            Kind::Folder(_, at, _) => {
                *at = usize::try_from(offset).unwrap_or(usize::MAX);
                Ok(offset)
            }
            Kind::Capture(_) | Kind::Signals(..) => Err(Errno::SPIPE.into()),
            Kind::Null | Kind::Zero | Kind::Random | Kind::Name(_) => Ok(0),
        }
    }

    /// `pipe2(fds, flags)`.
    pub(super) fn sys_pipe2(&mut self, hart: &mut Hart, fds: u64, flags: u64) -> Served {
        let flags = flags as u32;
        if flags & !(flag::CLOEXEC | flag::NONBLOCK | flag::DIRECT) != 0 {
            return Err(Errno::INVAL.into());
        }
        let mut host_flags = rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK;
        host_flags.set(rustix::pipe::PipeFlags::DIRECT, flags & flag::DIRECT != 0);
        let (read_end, write_end) = rustix::pipe::pipe_with(host_flags)?;
        let reader = self.files.add(Kind::Host(Arc::new(HostFile::pipe(read_end))), flags)?;
        let writer =
            match self.files.add(Kind::Host(Arc::new(HostFile::pipe(write_end))), flags | flag::WRONLY) {
                Ok(writer) => writer,
                Err(e) => {
                    self.files.close(reader)?;
                    return Err(e.into());
                }
            };
        let mut s = Layout::<8>::new();
        s.put(0, 4, reader).put(4, 4, writer);
        if let Err(e) = user::write(hart, fds, &s.0) {
            self.files.close(reader)?;
            self.files.close(writer)?;
            return Err(e.into());
        }
        Ok(0)
    }

    /// `close_range(first, last, flags)`.
    pub(super) fn sys_close_range(&mut self, first: u64, last: u64, flags: u64) -> Served {
        const UNSHARE: u64 = 2;
        const CLOEXEC: u64 = 4;
        let (first, last) = (u64::from(first as u32), u64::from(last as u32));
        if first > last || flags & !(UNSHARE | CLOEXEC) != 0 {
            return Err(Errno::INVAL.into());
        }
        let meant: Vec<u64> = self.files.numbers().filter(|fd| (first..=last).contains(fd)).collect();
        for fd in meant {
            let _ = match flags & CLOEXEC {
                0 => self.files.close(fd),
                _ => self.files.set_cloexec(fd, true),
            };
        }
        Ok(0)
    }

    /// `dup3(old, new, flags)`.
    pub(super) fn sys_dup3(&mut self, old: u64, new: u64, flags: u64) -> Served {
        if old as u32 == new as u32 || flags as u32 & !flag::CLOEXEC != 0 {
            return Err(Errno::INVAL.into());
        }
        Ok(self.files.duplicate_to(old, new, flags as u32 & flag::CLOEXEC != 0)?)
    }

    /// `ftruncate(fd, len)`.
    pub(super) fn sys_ftruncate(&mut self, hart: &mut Hart, fd: u64, len: u64) -> Served {
        reconcile(hart);
        if (len as i64) < 0 || !self.files.get(fd)?.writable() {
            return Err(Errno::INVAL.into());
        }
        let file = self.files.host(fd, Errno::INVAL)?;
        self.check_stream(&file)?;
        file.make_room(len)?;
        rustix::fs::ftruncate(&file, len)?;
        file.was_resized(len);
        Ok(0)
    }

    /// `fallocate(fd, mode, offset, len)`.
    pub(super) fn sys_fallocate(&mut self, args: [u64; 6]) -> Served {
        let [fd, mode, offset, len, ..] = args;
        use rustix::fs::FallocateFlags as Flags;
        if (offset as i64) < 0 || len as i64 <= 0 {
            return Err(Errno::INVAL.into());
        }
        if !self.files.get(fd)?.writable() {
            return Err(Errno::BADF.into());
        }
        let file = self.files.host(fd, Errno::SPIPE)?;
        self.check_stream(&file)?;
        let flags = Flags::from_bits(mode as u32).ok_or(Errno::OPNOTSUPP)?;
        // What moves the rest of a file makes its size another, which is counted in a private /tmp.
        if file.kept.is_some() && flags.intersects(Flags::COLLAPSE_RANGE | Flags::INSERT_RANGE) {
            return Err(Errno::OPNOTSUPP.into());
        }
        if !flags.contains(Flags::PUNCH_HOLE) {
            file.make_room(offset.saturating_add(len))?;
        }
        rustix::fs::fallocate(&file, flags, offset, len)?;
        Ok(0)
    }

    /// `fsync(fd)`, `fdatasync(fd)`.
    pub(super) fn sys_fsync(&mut self, fd: u64) -> Served {
        let file = self.files.host(fd, Errno::INVAL)?;
        rustix::fs::fsync(&file)?;
        Ok(0)
    }

    /// `sendfile(out, in, offset, count)`.
    pub(super) fn sys_sendfile(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [out, input, offset_at, count, ..] = args;
        if !self.files.get(input)?.readable() || !self.files.get(out)?.writable() {
            return Err(Errno::BADF.into());
        }
        // What is read and cannot be written must not be lost, so that the input must have a position: on
        // Linux, too, it is a file.
        const CURRENT: u64 = 1;
        let offset = match offset_at {
            0 => self.sys_lseek(input, 0, CURRENT).map_err(|_| Errno::INVAL)?,
            _ => user::read_u64(hart, offset_at)?,
        };
        let want = count.min(CHUNK as u64) as usize;
        let mut buffer = vec![0; want];
        let got = self.read_host(input, &mut buffer, Some(check_offset(offset)?))?;
        let sent = self.write_host(out, &buffer[..got], None)? as u64;
        match offset_at {
            0 => drop(self.sys_lseek(input, sent, CURRENT)?),
            _ => user::write_u64(hart, offset_at, offset + sent)?,
        }
        Ok(sent)
    }
}

/// The call waits until there is something to read.
pub fn wait_to_read(host: &Arc<HostFile>) -> Stop {
    let why = match host.is_pipe {
        true => "reads from an empty pipe whose writing end it holds itself",
        false => "reads from a file that has nothing yet",
    };
    Stop::Again(Wait::file(host, PollFlags::IN, why))
}

/// The call waits until there is room to write.
pub fn wait_to_write(host: &Arc<HostFile>) -> Stop {
    let why = match host.is_pipe {
        true => "writes to a full pipe whose reading end it holds itself",
        false => "writes to a file that has no room yet",
    };
    Stop::Again(Wait::file(host, PollFlags::OUT, why))
}

/// A file is about to be read or written: what shared mappings hold of it must be there, and what they hold
/// will be old.
fn reconcile(hart: &mut Hart) {
    let (space, ram) = space_of(hart);
    if space.reconcile(ram) {
        hart.flush_tlb();
    }
}

fn check_offset(offset: u64) -> Result<u64, Errno> {
    // Room is left for the length of a transfer.
    if offset > i64::MAX as u64 - MOST { Err(Errno::INVAL) } else { Ok(offset) }
}
