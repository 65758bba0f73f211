//! Moving data between files, and their extended attributes.

use super::files::HostFile;
use super::paths::AT_FDCWD;
use super::schedule::Wait;
use super::user;
use super::{Process, Served, Stop};
use crate::Hart;
use rustix::event::PollFlags;
use rustix::fd::{AsFd, AsRawFd};
use rustix::fs::XattrFlags;
use rustix::io::Errno;
use rustix::pipe::SpliceFlags;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The largest attribute, and the largest list of names.
const LARGEST: usize = 64 << 10;

/// `SPLICE_F_NONBLOCK`.
const NONBLOCK: u64 = 2;

/// There is nothing to move, or no room for it.
fn try_again(input: &Arc<HostFile>) -> Stop {
    let mut wait = Wait::file(input, PollFlags::IN, "splices files");
    wait.retry = Some(Instant::now() + Duration::from_millis(1));
    Stop::Again(wait)
}

impl Process {
    fn plain_files(&self, input: u64, out: u64) -> Result<(Arc<HostFile>, Arc<HostFile>), Errno> {
        if !self.files.get(input)?.readable() || !self.files.get(out)?.writable() {
            return Err(Errno::BADF);
        }
        let files = (self.files.host(input, Errno::INVAL)?, self.files.host(out, Errno::INVAL)?);
        // What is in the private /tmp is counted as it is written.
        if files.1.kept.is_some() { Err(Errno::XDEV) } else { Ok(files) }
    }

    /// `copy_file_range(in, in_offset, out, out_offset, len, flags)`.
    pub(super) fn sys_copy_file_range(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [input, in_at, out, out_at, len, flags] = args;
        if flags != 0 {
            return Err(Errno::INVAL.into());
        }
        let (input, out) = self.plain_files(input, out)?;
        let mut offsets = [None, None];
        for (offset, at) in offsets.iter_mut().zip([in_at, out_at]) {
            if at != 0 {
                *offset = Some(user::read_u64(hart, at)?);
            }
        }
        let [mut from, mut to] = offsets;
        let len = len.min(1 << 30) as usize;
        let n = rustix::fs::copy_file_range(&*input, from.as_mut(), &*out, to.as_mut(), len)?;
        for (offset, at) in [from, to].into_iter().zip([in_at, out_at]) {
            if let Some(offset) = offset {
                user::write_u64(hart, at, offset)?;
            }
        }
        Ok(n as u64)
    }

    /// `splice(in, in_offset, out, out_offset, len, flags)`, which never waits here: whoever asks is told
    /// `EAGAIN`, or waits by itself.
    pub(super) fn sys_splice(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [input, in_at, out, out_at, len, flags] = args;
        let (input_file, out_file) = self.plain_files(input, out)?;
        let mut offsets = [None, None];
        for (offset, at) in offsets.iter_mut().zip([in_at, out_at]) {
            if at != 0 {
                *offset = Some(user::read_u64(hart, at)?);
            }
        }
        let [mut from, mut to] = offsets;
        let host_flags = SpliceFlags::NONBLOCK;
        let len = len.min(1 << 20) as usize;
        let moved =
            rustix::pipe::splice(&*input_file, from.as_mut(), &*out_file, to.as_mut(), len, host_flags);
        let n = match moved {
            Err(Errno::AGAIN) if flags & NONBLOCK == 0 => return Err(try_again(&input_file)),
            other => other?,
        };
        for (offset, at) in [from, to].into_iter().zip([in_at, out_at]) {
            if let Some(offset) = offset {
                user::write_u64(hart, at, offset)?;
            }
        }
        Ok(n as u64)
    }

    /// `tee(in, out, len, flags)`.
    pub(super) fn sys_tee(&mut self, args: [u64; 6]) -> Served {
        let [input, out, len, flags, ..] = args;
        let (input_file, out_file) = self.plain_files(input, out)?;
        let len = len.min(1 << 20) as usize;
        match rustix::pipe::tee(&*input_file, &*out_file, len, SpliceFlags::NONBLOCK) {
            Err(Errno::AGAIN) if flags & NONBLOCK == 0 => Err(try_again(&input_file)),
            other => Ok(other? as u64),
        }
    }

    /// `vmsplice(pipe, parts, count, flags)`: copies, where the kernel would lend pages.
    pub(super) fn sys_vmsplice(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, parts, count, flags, ..] = args;
        if !self.files.host(fd, Errno::BADF)?.is_fifo() {
            return Err(Errno::BADF.into());
        }
        let file = self.files.get_mut(fd)?;
        let (was, writes) = (file.flags, file.writable());
        if flags & NONBLOCK != 0 {
            file.flags |= super::files::flag::NONBLOCK;
        }
        let args = [fd, parts, count, 0, 0, 0];
        let served =
            if writes { self.sys_writev(hart, args, false) } else { self.sys_readv(hart, args, false) };
        self.files.get_mut(fd)?.flags = was;
        served
    }

    /// `preadv2` and `pwritev2`: without flags, or with those that are hints.
    pub(super) fn sys_preadv2(&mut self, hart: &mut Hart, args: [u64; 6], reads: bool) -> Served {
        let [fd, parts, count, offset, high, flags] = args;
        const HIPRI: u64 = 1;
        if flags & !HIPRI != 0 {
            return Err(Errno::OPNOTSUPP.into());
        }
        let at_offset = offset as i64 != -1;
        let args = [fd, parts, count, offset, high, 0];
        if reads { self.sys_readv(hart, args, at_offset) } else { self.sys_writev(hart, args, at_offset) }
    }

    /// `setxattr` to `fremovexattr`. In the sandbox no file has any.
    pub(super) fn sys_xattr(&mut self, hart: &mut Hart, number: u64, args: [u64; 6]) -> Served {
        let [target, name, value, size, flags, _] = args;
        // By path, by path without following, by descriptor.
        let by = (number - 5) % 3;
        let path = match by {
            2 => {
                let file = self.files.host(target, Errno::OPNOTSUPP)?;
                if !self.options.host_fs {
                    return Err(Errno::OPNOTSUPP.into());
                }
                format!("/proc/self/fd/{}", file.as_fd().as_raw_fd()).into_bytes()
            }
            by => {
                let path = user::read_path(hart, target)?;
                let place = self.find(AT_FDCWD as u64, &path, by == 0)?;
                place.stat(by == 0)?;
                if !place.is_host() {
                    return Err(Errno::OPNOTSUPP.into());
                }
                place.path().to_vec()
            }
        };
        let follow = by != 1;
        let path = path.as_slice();
        let mut buffer = vec![0_u8; (size as usize).min(LARGEST)];
        match number {
            5..=7 => {
                let name = user::read_string(hart, name, 256)?;
                if size as usize > LARGEST {
                    return Err(Errno::TOOBIG.into());
                }
                user::read(hart, value, &mut buffer)?;
                let flags = XattrFlags::from_bits(flags as u32).ok_or(Errno::INVAL)?;
                match follow {
                    true => rustix::fs::setxattr(path, name, &buffer, flags)?,
                    false => rustix::fs::lsetxattr(path, name, &buffer, flags)?,
                }
                Ok(0)
            }
            8..=10 => {
                let name = user::read_string(hart, name, 256)?;
                let n = match follow {
                    true => rustix::fs::getxattr(path, name, &mut buffer[..])?,
                    false => rustix::fs::lgetxattr(path, name, &mut buffer[..])?,
                };
                user::write(hart, value, &buffer[..n.min(buffer.len())])?;
                Ok(n as u64)
            }
            11..=13 => {
                // listxattr(path, list, size)
                let mut buffer = vec![0_u8; (value as usize).min(LARGEST)];
                let n = match follow {
                    true => rustix::fs::listxattr(path, &mut buffer[..])?,
                    false => rustix::fs::llistxattr(path, &mut buffer[..])?,
                };
                user::write(hart, name, &buffer[..n.min(buffer.len())])?;
                Ok(n as u64)
            }
            _ => {
                let name = user::read_string(hart, name, 256)?;
                match follow {
                    true => rustix::fs::removexattr(path, name)?,
                    false => rustix::fs::lremovexattr(path, name)?,
                }
                Ok(0)
            }
        }
    }
}
