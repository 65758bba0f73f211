//! Files that gdb reads here (`vFile`), so that it needs no copy of the program or its libraries: those that
//! the guest could read, by the guest's names, and the program itself.

use super::access::part;
use super::target::Debuggee;
use gdbstub::common::Pid;
use gdbstub::target::TargetResult;
use gdbstub::target::ext::exec_file::ExecFile;
use gdbstub::target::ext::host_io::{
    FsKind, HostIo, HostIoClose, HostIoCloseOps, HostIoErrno, HostIoError, HostIoFstat, HostIoFstatOps,
    HostIoOpen, HostIoOpenFlags, HostIoOpenMode, HostIoOpenOps, HostIoPread, HostIoPreadOps, HostIoReadlink,
    HostIoReadlinkOps, HostIoResult, HostIoSetfs, HostIoSetfsOps, HostIoStat,
};
use rustix::fs::Stat;
use rustix::io::Errno;
use rvvsim::linux::Seen;
use std::collections::BTreeMap;
use std::io;
use std::os::unix::fs::FileExt;

/// gdb has a few open at a time.
const MOST: usize = 64;

/// What a packet has beside the bytes of a file.
const AROUND: usize = 64;

/// The process that gdb knows is number 1, whatever the guest's is.
const GDBS_PROCESS: &[u8] = b"/proc/1/";

/// Files that are open.
pub struct Files {
    open: BTreeMap<u32, Open>,
    /// The bytes of the largest packet.
    packet: usize,
}

enum Open {
    /// The program that was started; it need not be where the guest sees it.
    Program,
    Seen(Seen),
}

impl Files {
    pub fn new(packet: usize) -> Files {
        Files { open: BTreeMap::new(), packet }
    }

    fn get(&self, fd: u32) -> Result<&Open, HostIoErrno> {
        self.open.get(&fd).ok_or(HostIoErrno::EBADF)
    }
}

/// A name of gdb's as the guest has it.
fn guest_name(path: &[u8]) -> Vec<u8> {
    match path.strip_prefix(GDBS_PROCESS) {
        Some(rest) => [b"/proc/self/", rest].concat(),
        None => path.to_vec(),
    }
}

/// gdb has numbers of its own for errors.
fn errno(e: &io::Error) -> HostIoErrno {
    match e.raw_os_error().map(Errno::from_raw_os_error) {
        Some(Errno::PERM) => HostIoErrno::EPERM,
        Some(Errno::NOENT) => HostIoErrno::ENOENT,
        Some(Errno::INTR) => HostIoErrno::EINTR,
        Some(Errno::IO) => HostIoErrno::EIO,
        Some(Errno::ACCESS) => HostIoErrno::EACCES,
        Some(Errno::NOTDIR) => HostIoErrno::ENOTDIR,
        Some(Errno::ISDIR) => HostIoErrno::EISDIR,
        Some(Errno::INVAL) => HostIoErrno::EINVAL,
        Some(Errno::NFILE) => HostIoErrno::ENFILE,
        Some(Errno::MFILE) => HostIoErrno::EMFILE,
        Some(Errno::ROFS) => HostIoErrno::EROFS,
        Some(Errno::NAMETOOLONG) => HostIoErrno::ENAMETOOLONG,
        _ => HostIoErrno::EUNKNOWN,
    }
}

fn failed<T>(e: HostIoErrno) -> HostIoResult<T, Debuggee<'static>> {
    Err(HostIoError::Errno(e))
}

impl HostIo for Debuggee<'_> {
    fn support_open(&mut self) -> Option<HostIoOpenOps<'_, Self>> {
        Some(self)
    }

    fn support_close(&mut self) -> Option<HostIoCloseOps<'_, Self>> {
        Some(self)
    }

    fn support_pread(&mut self) -> Option<HostIoPreadOps<'_, Self>> {
        Some(self)
    }

    fn support_fstat(&mut self) -> Option<HostIoFstatOps<'_, Self>> {
        Some(self)
    }

    fn support_readlink(&mut self) -> Option<HostIoReadlinkOps<'_, Self>> {
        Some(self)
    }

    fn support_setfs(&mut self) -> Option<HostIoSetfsOps<'_, Self>> {
        Some(self)
    }
}

impl HostIoOpen for Debuggee<'_> {
    fn open(
        &mut self,
        filename: &[u8],
        flags: HostIoOpenFlags,
        _: HostIoOpenMode,
    ) -> HostIoResult<u32, Self> {
        // Some of these are a guest's to change, none of them gdb's.
        let harmless = HostIoOpenFlags::O_NONBLOCK | HostIoOpenFlags::O_CLOSE_ON_EXEC;
        if !harmless.contains(flags) {
            return failed(HostIoErrno::EROFS);
        }
        if self.files.open.len() >= MOST {
            return failed(HostIoErrno::EMFILE);
        }
        let Some((process, hart)) = self.machine.process_and_hart() else {
            return failed(HostIoErrno::ENOENT);
        };
        let name = guest_name(filename);
        let own = !process.has_another_program();
        let open = if own && (name == process.program() || name == b"/proc/self/exe") {
            Open::Program
        } else {
            match process.look_at_file(hart, &name) {
                Ok(seen) => Open::Seen(seen),
                Err(e) => return failed(errno(&e)),
            }
        };
        let fd = (0..).find(|fd| !self.files.open.contains_key(fd)).unwrap_or_default();
        self.files.open.insert(fd, open);
        Ok(fd)
    }
}

impl HostIoClose for Debuggee<'_> {
    fn close(&mut self, fd: u32) -> HostIoResult<(), Self> {
        match self.files.open.remove(&fd) {
            Some(_) => Ok(()),
            None => failed(HostIoErrno::EBADF),
        }
    }
}

/// How many of these bytes fit so much room, with the escapes that some need.
fn that_fit(bytes: &[u8], room: usize) -> usize {
    let mut left = room;
    let cost = |byte: &u8| if matches!(byte, b'#' | b'$' | b'}' | b'*') { 2 } else { 1 };
    bytes.iter().take_while(|byte| left.checked_sub(cost(byte)).map(|rest| left = rest).is_some()).count()
}

impl HostIoPread for Debuggee<'_> {
    fn pread(&mut self, fd: u32, count: usize, offset: u64, buf: &mut [u8]) -> HostIoResult<usize, Self> {
        let open = self.files.get(fd).map_err(HostIoError::Errno)?;
        let n = match open {
            Open::Program => part(self.image.bytes(), offset, count, buf),
            Open::Seen(Seen::Bytes(bytes)) => part(bytes, offset, count, buf),
            Open::Seen(Seen::File(file)) => {
                let len = count.min(buf.len());
                match file.read_at(&mut buf[..len], offset) {
                    Ok(n) => n,
                    Err(e) => return failed(errno(&e)),
                }
            }
        };
        Ok(that_fit(&buf[..n], self.files.packet.saturating_sub(AROUND)))
    }
}

impl HostIoFstat for Debuggee<'_> {
    fn fstat(&mut self, fd: u32) -> HostIoResult<HostIoStat, Self> {
        match self.files.get(fd).map_err(HostIoError::Errno)? {
            Open::Program => Ok(made_up(self.image.bytes().len())),
            Open::Seen(Seen::Bytes(bytes)) => Ok(made_up(bytes.len())),
            Open::Seen(Seen::File(file)) => match rustix::fs::fstat(file) {
                Ok(stat) => Ok(of_host(&stat)),
                Err(e) => failed(errno(&e.into())),
            },
        }
    }
}

/// A file that is nowhere: so many bytes, to read.
fn made_up(len: usize) -> HostIoStat {
    HostIoStat {
        st_dev: 0,
        st_ino: 0,
        st_mode: HostIoOpenMode::S_IFREG | HostIoOpenMode::S_IRUSR,
        st_nlink: 1,
        st_uid: 0,
        st_gid: 0,
        st_rdev: 0,
        st_size: len as u64,
        st_blksize: 512,
        st_blocks: len.div_ceil(512) as u64,
        st_atime: 0,
        st_mtime: 0,
        st_ctime: 0,
    }
}

/// gdb's numbers are 32 bits wide.
fn of_host(stat: &Stat) -> HostIoStat {
    HostIoStat {
        st_dev: stat.st_dev as u32,
        st_ino: stat.st_ino as u32,
        st_mode: HostIoOpenMode::from_bits_truncate(stat.st_mode),
        st_nlink: stat.st_nlink as u32,
        st_uid: stat.st_uid,
        st_gid: stat.st_gid,
        st_rdev: stat.st_rdev as u32,
        st_size: stat.st_size as u64,
        st_blksize: stat.st_blksize as u64,
        st_blocks: stat.st_blocks as u64,
        st_atime: stat.st_atime as u32,
        st_mtime: stat.st_mtime as u32,
        st_ctime: stat.st_ctime as u32,
    }
}

impl HostIoReadlink for Debuggee<'_> {
    fn readlink(&mut self, filename: &[u8], buf: &mut [u8]) -> HostIoResult<usize, Self> {
        let link = match self.machine.process() {
            Some(process) => process.look_at_link(&guest_name(filename)),
            None => return failed(HostIoErrno::ENOENT),
        };
        match link {
            Ok(link) => {
                let n = part(&link, 0, link.len(), buf);
                Ok(that_fit(&buf[..n], self.files.packet.saturating_sub(AROUND)))
            }
            Err(e) => failed(errno(&e)),
        }
    }
}

impl HostIoSetfs for Debuggee<'_> {
    /// There is one view of files: the guest's.
    fn setfs(&mut self, _: FsKind) -> HostIoResult<(), Self> {
        Ok(())
    }
}

impl ExecFile for Debuggee<'_> {
    fn get_exec_file(
        &self,
        _: Option<Pid>,
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        let name = self.machine.process().map(|process| process.program()).unwrap_or_default();
        Ok(part(&name, offset, length, buf))
    }
}
