//! System calls that control open files: `fcntl`, `flock`.

use super::files::flag;
use super::schedule::Wait;
use super::user;
use super::{Process, Served, Stop, host};
use crate::Hart;
use rustix::fs::OFlags;
use rustix::io::Errno;

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
}
