//! `ioctl`: terminals, interfaces of the network, flags of files. Requests are known one by one: what the
//! kernel takes for an address must be the emulator's, and never the guest's.

use super::files::{HostFile, Kind, flag};
use super::user::{self, Layout};
use super::{Process, Served, host};
use crate::Hart;
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use std::sync::Arc;

impl Process {
    /// `ioctl(fd, request, argument)`: what a terminal is asked, and how much can be read.
    pub(super) fn sys_ioctl(&mut self, hart: &mut Hart, fd: u64, request: u64, argument: u64) -> Served {
        let file = self.files.get(fd)?;
        let Some(host) = file.host().cloned() else { return Err(Errno::NOTTY.into()) };
        match request as u32 {
            // TCGETS
            0x5401 => {
                let mut termios = [0; 36];
                host::ioctl(&*host, 0x5401, &mut termios)?;
                user::write(hart, argument, &termios)?;
                Ok(0)
            }
            // TIOCGPTPEER: the other end of a terminal.
            0x5441 if self.options.host_fs => {
                let flags = OpenptFlags::from_bits_retain(argument as u32) | OpenptFlags::CLOEXEC;
                let peer = rustix::pty::ioctl_tiocgptpeer(&*host, flags)?;
                let kept = argument as u32 & (flag::ACCMODE | flag::NONBLOCK | flag::CLOEXEC);
                Ok(self.files.add(Kind::Host(Arc::new(HostFile::received(peer))), kept)?)
            }
            // FICLONE: the argument is a descriptor.
            0x4004_9409 if self.options.host_fs => {
                let (source, target) = self.clone_files(argument, fd)?;
                rustix::fs::ioctl_ficlone(&*target, &*source)?;
                Ok(0)
            }
            // FICLONERANGE: so is the first of its words.
            0x4020_940d if self.options.host_fs => {
                let mut range: [u8; 32] = user::read_array(hart, argument)?;
                let source = range.first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
                let (source, target) = self.clone_files(source, fd)?;
                let number = i64::from(source.as_fd().as_raw_fd());
                range[..8].copy_from_slice(&number.to_le_bytes());
                Ok(host::ioctl(&*target, 0x4020_940d, &mut range)?)
            }
            // SIOCGIFCONF
            0x8912 if self.options.host_fs => self.list_interfaces(hart, &host, argument),
            // FIONBIO
            0x5421 => {
                let on = user::read_u32(hart, argument)? != 0;
                let flags = &mut self.files.get_mut(fd)?.flags;
                *flags = *flags & !flag::NONBLOCK | if on { flag::NONBLOCK } else { 0 };
                Ok(0)
            }
            // TCSETS, TCSETSW, TCSETSF: the terminal stays as its user has it.
            0x5402..=0x5404 if !self.options.host_fs && rustix::termios::isatty(&*host) => Ok(0),
            // TIOCGWINSZ
            0x5413 => {
                let w = rustix::termios::tcgetwinsize(&*host)?;
                let mut s = Layout::<8>::new();
                s.put(0, 2, u64::from(w.ws_row)).put(2, 2, u64::from(w.ws_col));
                s.put(4, 2, u64::from(w.ws_xpixel)).put(6, 2, u64::from(w.ws_ypixel));
                user::write(hart, argument, &s.0)?;
                Ok(0)
            }
            // FIONREAD
            0x541b => {
                let n = rustix::io::ioctl_fionread(&*host)?;
                user::write_u32(hart, argument, n as u32)?;
                Ok(0)
            }
            // FIONCLEX, FIOCLEX
            request @ (0x5450 | 0x5451) => {
                self.files.set_cloexec(fd, request == 0x5451)?;
                Ok(0)
            }
            plain if self.options.host_fs => {
                // Who refuses SIGTTOU may set a terminal from the background; the host knows only its own
                // masks.
                const SIGTTOU: i32 = 22;
                let blocked = self.me().signals.blocked >> (SIGTTOU - 1) & 1 == 1;
                match blocked || self.signals.ignores(SIGTTOU) {
                    true => host::without_signal(SIGTTOU, || plain_ioctl(hart, &host, plain, argument)),
                    false => plain_ioctl(hart, &host, plain, argument),
                }
            }
            _ => Err(Errno::NOTTY.into()),
        }
    }

    fn clone_files(&self, source: u64, target: u64) -> Result<(Arc<HostFile>, Arc<HostFile>), Errno> {
        Ok((self.files.host(source, Errno::BADF)?, self.files.host(target, Errno::BADF)?))
    }

    /// `SIOCGIFCONF`: the interfaces of the network, as many as there is room for.
    fn list_interfaces(&mut self, hart: &mut Hart, socket: &HostFile, at: u64) -> Served {
        let room = user::read_u32(hart, at)?.min(MOST_INTERFACES);
        let buffer = user::read_u64(hart, at.wrapping_add(8))?;
        let mut list = vec![0; if buffer == 0 { 0 } else { room as usize }];
        let len = host::interfaces(socket, &mut list)?;
        if buffer != 0 {
            user::write(hart, buffer, &list[..len.min(list.len())])?;
        }
        user::write_u32(hart, at, len as u32)?;
        Ok(0)
    }
}

/// Bytes of a list of interfaces.
const MOST_INTERFACES: u32 = 1 << 16;

/// How the argument of a request goes to the kernel. None of these has a pointer in it.
#[derive(Clone, Copy)]
enum Argument {
    /// As a number.
    Number,
    /// As so many bytes, which the kernel reads.
    In(usize),
    /// As so many bytes, which the kernel writes.
    Out(usize),
    /// Both.
    Both(usize),
}

/// The largest of them.
const LARGEST: usize = 64;

/// Requests whose numbers and arguments are the same on all 64-bit machines.
fn argument_of(request: u32) -> Option<Argument> {
    use Argument::{Both, In, Number, Out};
    const INTERFACE: usize = 40;
    Some(match request {
        // TCSETS to TCSETSF; TCGETS2, TCSETS2 to TCSETSF2
        0x5402..=0x5404 => In(36),
        0x802c_542a => Out(44),
        0x402c_542b..=0x402c_542d => In(44),
        // TCSBRK, TCXONC, TCFLSH, TIOCEXCL, TIOCNXCL, TIOCSCTTY, TIOCNOTTY, TCSBRKP, TIOCSBRK, TIOCCBRK,
        // TIOCVHANGUP
        0x5409..=0x540e | 0x5422 | 0x5425 | 0x5427 | 0x5428 | 0x5437 => Number,
        // TIOCGPGRP, TIOCGSID, TIOCGPTN, TIOCOUTQ, TIOCGETD, TIOCMGET, TIOCGSOFTCAR, TIOCGPKT, TIOCGPTLCK,
        // TIOCGEXCL
        0x540f | 0x5429 | 0x8004_5430 | 0x5411 | 0x5424 | 0x5415 | 0x5419 => Out(4),
        0x8004_5438..=0x8004_5440 => Out(4),
        // TIOCSPGRP, TIOCSPTLCK, TIOCPKT, FIOASYNC, TIOCSETD, TIOCMBIS to TIOCMSET, TIOCSSOFTCAR, TIOCSIG
        0x5410 | 0x4004_5431 | 0x5420 | 0x5452 | 0x5423 | 0x5416..=0x5418 | 0x541a => In(4),
        0x4004_5436 => Number,
        // TIOCSTI, TIOCSWINSZ
        0x5412 => In(1),
        0x5414 => In(8),
        // FIOQSIZE
        0x5460 => Out(8),
        // FIOSETOWN, SIOCSPGRP; FIOGETOWN, SIOCGPGRP, SIOCATMARK
        0x8901 | 0x8902 => In(4),
        0x8903..=0x8905 => Out(4),
        // SIOCGSTAMP, SIOCGSTAMPNS
        0x8906 | 0x8907 => Out(16),
        // What an interface is asked and told, by its name: SIOCGIFNAME to SIOCGIFTXQLEN.
        0x8910 | 0x8913 | 0x8915 | 0x8917 | 0x8919 | 0x891b | 0x891d | 0x8921 => Both(INTERFACE),
        0x8927 | 0x8933 | 0x8942 | 0x8970 => Both(INTERFACE),
        0x8914 | 0x8916 | 0x8918 | 0x891a | 0x891c | 0x891e | 0x8922 | 0x8924 | 0x8943 => In(INTERFACE),
        // FS_IOC_GETFLAGS, FS_IOC_GETVERSION; FS_IOC_SETFLAGS; FS_IOC_FSGETXATTR, FS_IOC_FSSETXATTR
        0x8008_6601 | 0x8008_7601 => Out(8),
        0x4008_6602 => In(8),
        0x801c_581f => Out(28),
        0x401c_5820 => In(28),
        // BLKROGET, BLKGETSIZE, BLKRAGET, BLKSSZGET, BLKIOMIN to BLKPBSZGET, BLKBSZGET, BLKGETSIZE64,
        // BLKFLSBUF
        0x125e | 0x1268 | 0x1278..=0x127b => Out(4),
        0x1260 | 0x1263 | 0x8008_1270 | 0x8008_1272 => Out(8),
        0x1261 => Number,
        // RNDGETENTCNT, RTC_RD_TIME
        0x8004_5200 => Out(4),
        0x8024_7009 => Out(36),
        _ => return None,
    })
}

fn plain_ioctl(hart: &mut Hart, file: &HostFile, request: u32, at: u64) -> Served {
    let argument = argument_of(request).ok_or(Errno::NOTTY)?;
    let mut bytes = [0; LARGEST];
    let (reads, writes) = match argument {
        Argument::Number => return Ok(host::ioctl_number(file, u64::from(request), at)?),
        Argument::In(n) => (n, 0),
        Argument::Out(n) => (0, n),
        Argument::Both(n) => (n, n),
    };
    user::read(hart, at, &mut bytes[..reads])?;
    let answer = host::ioctl(file, u64::from(request), &mut bytes)?;
    user::write(hart, at, &bytes[..writes])?;
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request with a size in its number has an argument of that size; flags and versions of files say
    /// eight and take four.
    #[test]
    fn arguments_have_the_size_that_their_requests_say() {
        let mut seen = 0;
        for kind in 0..=255u32 {
            for number in 0..=255 {
                for (direction, size) in (1..=3).flat_map(|d| (1..=LARGEST as u32).map(move |n| (d, n))) {
                    let request = direction << 30 | size << 16 | kind << 8 | number;
                    let Some(argument) = argument_of(request) else { continue };
                    seen += 1;
                    match argument {
                        Argument::In(n) => assert_eq!((direction, n), (1, size as usize), "{request:x}"),
                        Argument::Out(n) => assert_eq!((direction, n), (2, size as usize), "{request:x}"),
                        Argument::Both(n) => assert_eq!((direction, n), (3, size as usize), "{request:x}"),
                        Argument::Number => assert_eq!((direction, size), (1, 4), "{request:x}"),
                    }
                }
            }
        }
        assert!(seen > 15, "{seen}");
    }
}
