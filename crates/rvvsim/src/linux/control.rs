//! System calls that control open files: `fcntl`, `flock`, `ioctl`.

use super::files::{HostFile, Kind, flag};
use super::schedule::Wait;
use super::user::{self, Layout};
use super::{Process, Served, Stop, host};
use crate::Hart;
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pty::OpenptFlags;
use std::sync::Arc;

impl Process {
    /// `fcntl(fd, command, argument)`.
    pub(super) fn sys_fcntl(&mut self, hart: &mut Hart, fd: u64, command: u64, argument: u64) -> Served {
        match command {
            // F_DUPFD, F_DUPFD_CLOEXEC
            0 | 1030 => Ok(self.files.duplicate(fd, argument as u32 as usize, command == 1030)?),
            // F_GETFD, F_SETFD
            1 => Ok(u64::from(self.files.cloexec(fd)?)),
            2 => {
                self.files.set_cloexec(fd, argument & 1 != 0)?;
                Ok(0)
            }
            // F_GETFL, F_SETFL
            3 => Ok(u64::from(self.files.get(fd)?.flags)),
            4 => {
                const CHANGEABLE: u32 = flag::APPEND | flag::NONBLOCK;
                let sandboxed = !self.fs.host_fs;
                let file = self.files.get_mut(fd)?;
                let flags = file.flags & !CHANGEABLE | argument as u32 & CHANGEABLE;
                let appends = flags & flag::APPEND != 0;
                if let Some(host) = file.host() {
                    // The host's own standard streams are not the guest's to change: a log that is appended
                    // to stays one. Whether a call of the guest waits is decided here, and never by the
                    // host's O_NONBLOCK.
                    if sandboxed && host.is_standard && file.flags & flag::APPEND != 0 && !appends {
                        return Err(Errno::PERM.into());
                    }
                    if !host.is_standard {
                        let mut wanted = rustix::fs::fcntl_getfl(host)?;
                        wanted.set(OFlags::APPEND, appends);
                        rustix::fs::fcntl_setfl(host, wanted)?;
                    }
                }
                file.flags = flags;
                Ok(0)
            }
            // F_GETLK, F_SETLK, F_SETLKW, and the same of open file descriptions.
            5..=7 | 36..=38 => self.lock_range(hart, fd, command, argument),
            // F_SETOWN, F_GETOWN, F_SETSIG, F_GETSIG: the host sends SIGIO to whom the guest wants it sent.
            8..=11 if self.fs.host_fs => {
                let host = self.files.host(fd, Errno::INVAL)?;
                Ok(host::file_control(&*host, command as i32, argument as i32)?)
            }
            // F_SETPIPE_SZ, F_GETPIPE_SZ
            1031 | 1032 => {
                let host = self.files.host(fd, Errno::BADF)?;
                if command == 1031 && self.fs.host_fs {
                    rustix::pipe::fcntl_setpipe_size(&*host, argument as u32 as usize)?;
                }
                Ok(rustix::pipe::fcntl_getpipe_size(&*host)? as u64)
            }
            // F_ADD_SEALS, F_GET_SEALS
            1033 => {
                let host = self.files.host(fd, Errno::INVAL)?;
                rustix::fs::fcntl_add_seals(
                    &*host,
                    rustix::fs::SealFlags::from_bits_retain(argument as u32),
                )?;
                Ok(0)
            }
            1034 => {
                let host = self.files.host(fd, Errno::INVAL)?;
                Ok(u64::from(rustix::fs::fcntl_get_seals(&*host)?.bits()))
            }
            _ => {
                self.files.get(fd)?;
                Err(Errno::INVAL.into())
            }
        }
    }

    /// `fcntl` with a lock of a range of a file.
    fn lock_range(&mut self, hart: &mut Hart, fd: u64, command: u64, at: u64) -> Served {
        let mut lock: [u8; 32] = user::read_array(hart, at)?;
        let Some(host) = self.files.get(fd)?.host().cloned() else { return Ok(0) };
        let (asks, waits) = (matches!(command, 5 | 36), matches!(command, 7 | 38));
        let command = if waits { command - 1 } else { command };
        match host::lock(&*host, command as i32, &mut lock) {
            Err(Errno::AGAIN | Errno::ACCESS) if waits => {
                let moment = std::time::Duration::from_millis(1);
                return Err(Stop::Again(Wait::moment(moment, "waits for a lock of a file")));
            }
            other => other?,
        }
        if asks {
            let pid = lock[24..].first_chunk().map_or(0, |b| i32::from_le_bytes(*b));
            let pid = self.family.map_or(pid as u32, |family| family.guest_id(pid));
            lock[24..28].copy_from_slice(&pid.to_le_bytes());
            user::write(hart, at, &lock)?;
        }
        Ok(0)
    }

    /// `flock(fd, operation)`.
    pub(super) fn sys_flock(&mut self, fd: u64, operation: u64) -> Served {
        use rustix::fs::FlockOperation as Op;
        let Some(host) = self.files.get(fd)?.host().cloned() else { return Ok(0) };
        let tried = match operation & !4 {
            1 => Op::NonBlockingLockShared,
            2 => Op::NonBlockingLockExclusive,
            8 => Op::NonBlockingUnlock,
            _ => return Err(Errno::INVAL.into()),
        };
        match rustix::fs::flock(&*host, tried) {
            Err(Errno::AGAIN) if operation & 4 == 0 => {
                let moment = std::time::Duration::from_millis(1);
                Err(Stop::Again(Wait::moment(moment, "waits for a lock of a file")))
            }
            other => {
                other?;
                Ok(0)
            }
        }
    }

    /// `ioctl(fd, request, argument)`: what a terminal is asked, and how much can be read.
    pub(super) fn sys_ioctl(&mut self, hart: &mut Hart, fd: u64, request: u64, argument: u64) -> Served {
        let file = self.files.get(fd)?;
        let Some(host) = file.host().cloned() else { return Err(Errno::NOTTY.into()) };
        match request as u32 {
            // TCGETS
            0x5401 => {
                let t = rustix::termios::tcgetattr(&*host)?;
                let mut s = Layout::<36>::new();
                s.put(0, 4, u64::from(t.input_modes.bits()));
                s.put(4, 4, u64::from(t.output_modes.bits()));
                s.put(8, 4, u64::from(t.control_modes.bits()));
                s.put(12, 4, u64::from(t.local_modes.bits()));
                use rustix::termios::SpecialCodeIndex as Code;
                let codes = [
                    (0, Code::VINTR),
                    (1, Code::VQUIT),
                    (2, Code::VERASE),
                    (3, Code::VKILL),
                    (4, Code::VEOF),
                    (5, Code::VTIME),
                    (6, Code::VMIN),
                    (8, Code::VSTART),
                    (9, Code::VSTOP),
                    (10, Code::VSUSP),
                    (11, Code::VEOL),
                ];
                for (at, code) in codes {
                    s.put(17 + at, 1, u64::from(t.special_codes[code]));
                }
                user::write(hart, argument, &s.0)?;
                Ok(0)
            }
            // TCSETS, TCSETSW, TCSETSF, with the structure that all 64-bit machines have.
            set @ 0x5402..=0x5404 if self.options.host_fs => {
                let mut termios: [u8; 36] = user::read_array(hart, argument)?;
                Ok(host::ioctl(&*host, u64::from(set), &mut termios)?)
            }
            // TIOCGPGRP, TIOCGSID, TIOCGPTN, TIOCOUTQ: a number.
            get @ (0x540f | 0x5429 | 0x8004_5430 | 0x5411) if self.options.host_fs => {
                let mut number = [0; 4];
                host::ioctl(&*host, u64::from(get), &mut number)?;
                user::write(hart, argument, &number)?;
                Ok(0)
            }
            // TIOCSPGRP, TIOCSPTLCK
            set @ (0x5410 | 0x4004_5431) if self.options.host_fs => {
                let mut number: [u8; 4] = user::read_array(hart, argument)?;
                Ok(host::ioctl(&*host, u64::from(set), &mut number)?)
            }
            // TCSBRK, TCXONC, TCFLSH, TIOCEXCL, TIOCNXCL, TIOCSCTTY, TIOCNOTTY: the argument is a number or none.
            set @ (0x5409..=0x540e | 0x5422) if self.options.host_fs => {
                Ok(host::ioctl_number(&*host, u64::from(set), argument)?)
            }
            // TIOCPKT, FIOASYNC
            set @ (0x5420 | 0x5452) if self.options.host_fs => {
                let mut number: [u8; 4] = user::read_array(hart, argument)?;
                Ok(host::ioctl(&*host, u64::from(set), &mut number)?)
            }
            // TIOCGPTPEER: the other end of a terminal.
            0x5441 if self.options.host_fs => {
                let flags = OpenptFlags::from_bits_retain(argument as u32) | OpenptFlags::CLOEXEC;
                let peer = rustix::pty::ioctl_tiocgptpeer(&*host, flags)?;
                let kept = argument as u32 & (flag::ACCMODE | flag::NONBLOCK | flag::CLOEXEC);
                Ok(self.files.add(Kind::Host(Arc::new(HostFile::received(peer))), kept)?)
            }
            // TIOCSWINSZ
            0x5414 if self.options.host_fs => {
                let mut size: [u8; 8] = user::read_array(hart, argument)?;
                Ok(host::ioctl(&*host, 0x5414, &mut size)?)
            }
            // FIONBIO
            0x5421 => {
                let on = user::read_u32(hart, argument)? != 0;
                let flags = &mut self.files.get_mut(fd)?.flags;
                *flags = *flags & !flag::NONBLOCK | if on { flag::NONBLOCK } else { 0 };
                Ok(0)
            }
            // TCSETS, TCSETSW, TCSETSF: the terminal stays as its user has it.
            0x5402..=0x5404 if rustix::termios::isatty(&*host) => Ok(0),
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
            _ => Err(Errno::NOTTY.into()),
        }
    }
}
