//! System calls about the machine: mounts, namespaces, names, the clock, the log of the kernel. A guest that
//! has all that the host's user has may do what that one may; in the sandbox there are none of them.

use super::paths::AT_FDCWD;
use super::{Process, Served, host, user};
use crate::Hart;
use rustix::io::Errno;
use std::ffi::CString;

/// The longest name of a machine, as on Linux.
const LONGEST_NAME: u64 = 64;
/// Bytes of the kernel's log at a time.
const MOST_LOG: u64 = 16 << 20;
/// Options of a file system.
const MOST_OPTIONS: usize = 4096;

/// Bytes of `struct timex`.
const TIMEX: usize = 208;

impl Process {
    /// Those of them, by their numbers.
    pub(super) fn sys_system(&mut self, hart: &mut Hart, number: u64, args: [u64; 6]) -> Served {
        let [a, b, c, d, e, _] = args;
        if !self.owns_host_process() {
            return Err(Errno::PERM.into());
        }
        match number {
            // umount2(target, flags)
            39 => {
                let target = self.host_path(hart, a)?;
                Ok(host::unmount(&target, b as i32)?)
            }
            // mount(source, target, type, flags, options)
            40 => {
                let text = |hart: &mut Hart, at: u64| match at {
                    0 => Ok(None),
                    at => user::read_string(hart, at, MOST_OPTIONS).and_then(c_string).map(Some),
                };
                let source = match (d & BIND != 0, a) {
                    (true, 1..) => Some(self.host_path(hart, a)?),
                    _ => text(hart, a)?,
                };
                let target = self.host_path(hart, b)?;
                let (kind, options) = (text(hart, c)?, text(hart, e)?);
                let texts = [source.as_deref(), Some(target.as_c_str()), kind.as_deref(), options.as_deref()];
                Ok(host::mount(texts, d)?)
            }
            // pivot_root(new, old)
            41 => {
                let (new, old) = (self.host_path(hart, a)?, self.host_path(hart, b)?);
                Ok(host::pivot_root(&new, &old)?)
            }
            51 => self.chroot(hart, a),
            // unshare(flags), setns(fd, kind)
            97 => self.unshare(a),
            268 => {
                let file = self.files.host(a, Errno::INVAL)?;
                Ok(host::enter_namespace(&*file, b as i32)?)
            }
            // clock_settime(clock, time), settimeofday(time, zone)
            112 => Ok(host::set_clock(a as i32, user::read_u64(hart, b)?, user::read_u64(hart, b + 8)?)?),
            170 if a != 0 => {
                let (seconds, micros) = (user::read_u64(hart, a)?, user::read_u64(hart, a.wrapping_add(8))?);
                if micros >= 1_000_000 {
                    return Err(Errno::INVAL.into());
                }
                Ok(host::set_clock(libc::CLOCK_REALTIME, seconds, micros * 1000)?)
            }
            170 => Ok(0),
            // adjtimex(timex), clock_adjtime(clock, timex)
            171 | 266 => {
                let (clock, at) = if number == 171 { (0, a) } else { (a as i32, b) };
                let mut timex: [u8; TIMEX] = user::read_array(hart, at)?;
                let state = host::adjust_clock(clock, &mut timex)?;
                user::write(hart, at, &timex)?;
                Ok(state)
            }
            // syslog(action, buffer, len)
            116 => {
                let mut log = vec![0; c.min(MOST_LOG) as usize];
                let n = host::kernel_log(a as i32, &mut log)?;
                if matches!(a, 2..=4) {
                    user::write(hart, b, &log[..log.len().min(n as usize)])?;
                }
                Ok(n)
            }
            // sethostname(name, len), setdomainname(name, len)
            161 | 162 => {
                if b > LONGEST_NAME {
                    return Err(Errno::INVAL.into());
                }
                let mut name = vec![0; b as usize];
                user::read(hart, a, &mut name)?;
                Ok(host::set_machine_name(&name, number == 162)?)
            }
            _ => Err(Errno::NOSYS.into()),
        }
    }

    fn host_path(&self, hart: &mut Hart, at: u64) -> Result<CString, Errno> {
        let path = user::read_path(hart, at)?;
        let place = self.find(AT_FDCWD as u64, &path, true)?;
        c_string(place.path().to_vec())
    }

    /// `chroot(path)`. What was looked up in the sysroot is not there any more.
    fn chroot(&mut self, hart: &mut Hart, path: u64) -> Served {
        let path = self.host_path(hart, path)?;
        rustix::process::chroot(&path)?;
        self.fs.leave_sysroot();
        Ok(0)
    }

    /// `unshare(flags)`: what the threads of a guest share they go on sharing.
    fn unshare(&mut self, flags: u64) -> Served {
        const OF_THREADS: u64 = 0x100 | 0x200 | 0x400 | 0x800 | 0x1_0000 | 0x4_0000;
        if flags & OF_THREADS != 0 && self.threads.all.len() > 1 {
            return Err(Errno::INVAL.into());
        }
        match flags & !OF_THREADS {
            0 => Ok(0),
            flags => {
                let done = host::unshare(flags as i32)?;
                self.identity.take_host_ids();
                Ok(done)
            }
        }
    }
}

/// `MS_BIND`: the source is a path.
const BIND: u64 = 0x1000;

fn c_string(text: Vec<u8>) -> Result<CString, Errno> {
    CString::new(text).map_err(|_| Errno::INVAL)
}
