//! POSIX message queues: the host's, and so there are none in the sandbox.

use super::files::{HostFile, Kind, flag};
use super::schedule::Wait;
use super::{Process, Served, Stop, host, user};
use crate::Hart;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::ffi::CString;
use std::sync::Arc;

/// The longest message that a queue of the host can have.
const LONGEST: u64 = 16 << 20;

impl Process {
    /// `mq_open` to `mq_getsetattr`, by their numbers.
    pub(super) fn sys_queue(&mut self, hart: &mut Hart, number: u64, args: [u64; 6]) -> Served {
        if !self.owns_host_process() {
            return Err(Errno::NOSYS.into());
        }
        match number {
            180 => self.open_queue(hart, args),
            181 => {
                let name = queue_name(hart, args[0])?;
                Ok(host::queue::unlink(&name)?)
            }
            182 => self.send_to_queue(hart, args),
            183 => self.receive_from_queue(hart, args),
            184 => self.notify_of_queue(hart, args[0], args[1]),
            _ => self.queue_attributes(hart, args),
        }
    }

    /// `mq_open(name, flags, mode, attributes)`.
    fn open_queue(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [name, flags, mode, attributes, ..] = args;
        let name = queue_name(hart, name)?;
        let flags = flags as u32;
        let attributes = match attributes {
            0 => None,
            at => Some(words(user::read_array(hart, at)?)),
        };
        let mode = mode as u32 & 0o777 & !self.umask;
        let fd = host::queue::open(&name, (flags | flag::NONBLOCK) as i32, mode, attributes)?;
        let kept = flags & (flag::ACCMODE | flag::NONBLOCK) | flag::CLOEXEC;
        Ok(self.files.add(Kind::Host(Arc::new(HostFile::named(fd, Vec::new(), false))), kept)?)
    }

    /// When the wait of a call ends whose time is on the clock of the day.
    fn queue_wait(
        &mut self,
        hart: &mut Hart,
        file: &Arc<HostFile>,
        events: PollFlags,
        timeout: u64,
    ) -> Result<Stop, Errno> {
        let mut wait = Wait::file(file, events, "waits for a message queue");
        wait.outside = true;
        if timeout != 0 {
            let until = self.waking_time(hart, timeout, Some(0))?;
            if self.time.now(hart) >= until {
                return Err(Errno::TIMEDOUT);
            }
            wait.until = Some(until);
        }
        Ok(Stop::Again(wait))
    }

    fn queue_waits(&self, fd: u64) -> Result<bool, Errno> {
        Ok(self.files.get(fd)?.flags & flag::NONBLOCK == 0)
    }

    /// `mq_timedsend(queue, message, len, priority, timeout)`.
    fn send_to_queue(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, at, len, priority, timeout, _] = args;
        let file = self.files.host(fd, Errno::BADF)?;
        if len > LONGEST {
            return Err(Errno::MSGSIZE.into());
        }
        let mut message = vec![0; len as usize];
        user::read(hart, at, &mut message)?;
        match host::queue::send(&*file, &message, priority as u32) {
            Err(Errno::AGAIN) if self.queue_waits(fd)? => {
                Err(self.queue_wait(hart, &file, PollFlags::OUT, timeout)?)
            }
            other => Ok(other?),
        }
    }

    /// `mq_timedreceive(queue, message, len, priority, timeout)`.
    fn receive_from_queue(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, at, len, priority_at, timeout, _] = args;
        let file = self.files.host(fd, Errno::BADF)?;
        let mut message = vec![0; len.min(LONGEST) as usize];
        match host::queue::receive(&*file, &mut message) {
            Err(Errno::AGAIN) if self.queue_waits(fd)? => {
                Err(self.queue_wait(hart, &file, PollFlags::IN, timeout)?)
            }
            Err(e) => Err(e.into()),
            Ok((n, priority)) => {
                user::write(hart, at, &message[..n])?;
                if priority_at != 0 {
                    user::write_u32(hart, priority_at, priority)?;
                }
                Ok(n as u64)
            }
        }
    }

    /// `mq_notify(queue, event)`: by a signal, or by nothing.
    fn notify_of_queue(&mut self, hart: &mut Hart, fd: u64, event: u64) -> Served {
        const NONE: i32 = 1;
        let file = self.files.host(fd, Errno::BADF)?;
        if event == 0 {
            return Ok(host::queue::notify(&*file, None)?);
        }
        let value = user::read_u64(hart, event)?;
        let kind = user::read_u64(hart, event.wrapping_add(8))?;
        let (signal, how) = (kind as i32, (kind >> 32) as i32);
        match how {
            0 if (1..65).contains(&signal) => {
                self.hear(signal);
                Ok(host::queue::notify(&*file, Some((value, signal)))?)
            }
            NONE => Ok(host::queue::notify(&*file, Some((value, 0)))?),
            0 => Err(Errno::INVAL.into()),
            // SIGEV_THREAD: the C library would wait for a packet that carries an address of the guest.
            _ => {
                self.note_unsupported("mq_notify by a thread");
                Err(Errno::NOSYS.into())
            }
        }
    }

    /// `mq_getsetattr(queue, new, old)`.
    fn queue_attributes(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [fd, new, old, ..] = args;
        let file = self.files.host(fd, Errno::BADF)?;
        let mut now = host::queue::attributes(&*file)?;
        now[0] = u64::from(self.files.get(fd)?.flags & flag::NONBLOCK);
        if new != 0 {
            let flags = user::read_u64(hart, new)?;
            if flags & !u64::from(flag::NONBLOCK) != 0 {
                return Err(Errno::INVAL.into());
            }
            let open = &mut self.files.get_mut(fd)?.flags;
            *open = *open & !flag::NONBLOCK | flags as u32;
        }
        if old != 0 {
            let bytes: Vec<u8> = now.iter().flat_map(|word| word.to_le_bytes()).collect();
            user::write(hart, old, &bytes)?;
        }
        Ok(0)
    }
}

fn queue_name(hart: &mut Hart, at: u64) -> Result<CString, Errno> {
    CString::new(user::read_string(hart, at, 256)?).map_err(|_| Errno::INVAL)
}

fn words(bytes: [u8; 64]) -> [u64; 8] {
    std::array::from_fn(|i| bytes[8 * i..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b)))
}
