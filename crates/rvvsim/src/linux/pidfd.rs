//! Descriptors of processes: `pidfd_open`, `pidfd_send_signal`, `CLONE_PIDFD`, and waiting by `P_PIDFD`.
//!
//! They are descriptors of the host's processes, so that they can be polled as any other file. Which process
//! one means is read from the host's `fdinfo`.

use super::files::{HostFile, Kind, flag};
use super::{Process, Served};
use rustix::fd::{AsFd, AsRawFd};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::sync::Arc;

impl Process {
    /// `pidfd_open(pid, flags)`.
    pub(super) fn sys_pidfd_open(&mut self, pid: u64, flags: u64) -> Served {
        let (pid, flags) = (pid as i32, flags as u32);
        if pid <= 0 || flags & !flag::NONBLOCK != 0 {
            return Err(Errno::INVAL.into());
        }
        if self.threads.index_of(pid as u32).is_some() && pid as u32 != self.identity.pid {
            // "The thread ID is not that of a thread-group leader."
            return Err(Errno::INVAL.into());
        }
        let host_pid = match self.family {
            _ if pid as u32 == self.identity.pid => std::process::id() as i32,
            Some(family) => family.host_id(pid)?,
            None if self.options.host_fs => pid,
            None => return Err(Errno::SRCH.into()),
        };
        Ok(self.add_pidfd(host_pid, flags)?)
    }

    /// A descriptor of a process of the host.
    pub(super) fn add_pidfd(&mut self, host_pid: i32, flags: u32) -> Result<u64, Errno> {
        let pid = Pid::from_raw(host_pid).ok_or(Errno::SRCH)?;
        let file = HostFile::named(pidfd_open(pid, PidfdFlags::empty())?, Vec::new(), false);
        self.files.add(Kind::Host(Arc::new(file)), flag::RDWR | flag::CLOEXEC | flags & flag::NONBLOCK)
    }

    /// The guest's id of the process that a descriptor means.
    ///
    /// # Errors
    /// `EBADF` if it means none, `ESRCH` if that is gone.
    pub(super) fn pid_of_descriptor(&self, fd: u64) -> Result<u32, Errno> {
        let file = self.files.host(fd, Errno::BADF)?;
        let path = format!("/proc/self/fdinfo/{}", file.as_fd().as_raw_fd());
        let text = std::fs::read_to_string(path).map_err(|_| Errno::BADF)?;
        let pid = text.lines().find_map(|line| line.strip_prefix("Pid:")).ok_or(Errno::BADF)?;
        let host_pid: i32 = pid.trim().parse().ok().filter(|pid| *pid > 0).ok_or(Errno::SRCH)?;
        if host_pid as u32 == std::process::id() {
            return Ok(self.identity.pid);
        }
        match self.family {
            Some(family) => Some(family.guest_id(host_pid)).filter(|pid| *pid != 0).ok_or(Errno::SRCH),
            None if self.options.host_fs => Ok(host_pid as u32),
            None => Err(Errno::SRCH),
        }
    }

    /// `pidfd_send_signal(fd, signal, info, flags)`.
    pub(super) fn sys_pidfd_send_signal(&mut self, hart: &mut crate::Hart, args: [u64; 6]) -> Served {
        let [fd, signal, info, flags, ..] = args;
        if flags != 0 {
            return Err(Errno::INVAL.into());
        }
        let pid = u64::from(self.pid_of_descriptor(fd)?);
        match info {
            0 => self.sys_kill(pid, signal),
            _ => self.sys_rt_sigqueueinfo(hart, pid, None, signal, info),
        }
    }
}
