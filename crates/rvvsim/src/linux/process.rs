//! System calls about the process itself: who it is, its limits, its end; and what needs a second thread.

use super::options::ProcessOptions;
use super::user::{self, Layout};
use super::{Process, Served, Stop, Verdict, signal, space_of};
use crate::Hart;
use rustix::io::Errno;
use rvv_isa::Ext;

/// Ticks a second of the `time` CSR.
pub const TIME_FREQUENCY: u64 = 10_000_000;

/// Who the guest thinks it is. In the sandbox that is always the same; a guest that sees the host's files
/// is the host's user.
pub struct Identity {
    /// Process id.
    pub pid: u32,
    /// Parent's process id.
    pub ppid: u32,
    /// User.
    pub uid: u32,
    /// Group.
    pub gid: u32,
}

impl Identity {
    /// By how much of the host the guest sees.
    pub fn new(options: &ProcessOptions) -> Self {
        if !options.host_fs {
            return Identity { pid: 1000, ppid: 1, uid: 1000, gid: 1000 };
        }
        Identity {
            pid: std::process::id(),
            ppid: rustix::process::getppid().map_or(0, |p| p.as_raw_nonzero().get() as u32),
            uid: rustix::process::getuid().as_raw(),
            gid: rustix::process::getgid().as_raw(),
        }
    }
}

/// Randomness for the guest.
pub struct Random {
    state: u64,
    seeded: bool,
}

impl Random {
    /// From a seed; without one, `AT_RANDOM` is always the same and `getrandom` the host's.
    pub fn new(seed: Option<u64>) -> Self {
        Random { state: seed.unwrap_or(0x7276_7673_696d), seeded: seed.is_some() }
    }

    fn next(&mut self) -> u64 {
        rvv_isa::random::next(&mut self.state)
    }

    /// The bytes of `AT_RANDOM`: known from the seed even when there is none, so that runs can be compared.
    pub fn initial_bytes(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        self.fill_seeded(&mut bytes);
        bytes
    }

    fn fill_seeded(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            let word = self.next().to_le_bytes();
            chunk.copy_from_slice(&word[..chunk.len()]);
        }
    }

    /// What `getrandom` gives.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<(), Errno> {
        if self.seeded {
            self.fill_seeded(bytes);
            return Ok(());
        }
        let mut done = 0;
        while done < bytes.len() {
            let flags = rustix::rand::GetRandomFlags::empty();
            match rustix::rand::getrandom(&mut bytes[done..], flags) {
                Ok(n) => done += n,
                Err(Errno::INTR) => {}
                Err(e) => return Err(e),
            }
        }
        Ok(())
    }
}

/// Bytes moved at a time.
const CHUNK: usize = 4096;

impl Process {
    /// `getrandom(buf, len, flags)`.
    pub(super) fn sys_getrandom(&mut self, hart: &mut Hart, buf: u64, len: u64, flags: u64) -> Served {
        if flags & !7 != 0 {
            return Err(Errno::INVAL.into());
        }
        let len = len.min(0x1ff_ffff) as usize;
        let mut chunk = [0; CHUNK];
        let mut done = 0;
        while done < len {
            let now = (len - done).min(CHUNK);
            self.random.fill(&mut chunk[..now])?;
            match user::write(hart, buf.wrapping_add(done as u64), &chunk[..now]) {
                Err(e) if done == 0 => return Err(e.into()),
                Err(_) => break,
                Ok(()) => done += now,
            }
        }
        Ok(done as u64)
    }

    /// `uname(buf)`.
    pub(super) fn sys_uname(&mut self, hart: &mut Hart, buf: u64) -> Served {
        let mut name = [0u8; 6 * 65];
        let fields = ["Linux", "rvvsim", "6.12.0", "#1 SMP rvvsim", "riscv64", "(none)"];
        for (field, text) in name.chunks_mut(65).zip(fields) {
            field[..text.len()].copy_from_slice(text.as_bytes());
        }
        user::write(hart, buf, &name)?;
        Ok(0)
    }

    /// `sysinfo(info)`.
    pub(super) fn sys_sysinfo(&mut self, hart: &mut Hart, info: u64) -> Served {
        let (space, ram) = space_of(hart);
        let (total, free) = (ram.len() as u64, space.available(ram));
        let uptime = self.time.monotonic(hart).0;
        let mut s = Layout::<112>::new();
        s.put(0, 8, uptime).put(32, 8, total).put(40, 8, free).put(80, 2, 1).put(104, 4, 1);
        user::write(hart, info, &s.0)?;
        Ok(0)
    }

    /// `prlimit64(pid, resource, new, old)`. Limits are what they are; asking for others is politely ignored.
    pub(super) fn sys_prlimit64(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [pid, resource, new, old, ..] = args;
        if pid != 0 && pid as u32 != self.identity.pid {
            return Err(Errno::SRCH.into());
        }
        const INFINITY: u64 = u64::MAX;
        let (soft, hard) = match resource {
            3 => (self.options.stack, INFINITY),
            4 => (0, INFINITY),
            7 => (super::files::MOST_FILES as u64, super::files::MOST_FILES as u64),
            0..=15 => (INFINITY, INFINITY),
            _ => return Err(Errno::INVAL.into()),
        };
        if new != 0 {
            let wanted = (user::read_u64(hart, new)?, user::read_u64(hart, new.wrapping_add(8))?);
            if wanted.0 > wanted.1 {
                return Err(Errno::INVAL.into());
            }
        }
        if old != 0 {
            user::write_u64(hart, old, soft)?;
            user::write_u64(hart, old.wrapping_add(8), hard)?;
        }
        Ok(0)
    }

    /// `sched_getaffinity(pid, len, mask)`: one processor.
    pub(super) fn sys_sched_getaffinity(&mut self, hart: &mut Hart, len: u64, mask: u64) -> Served {
        if len < 8 || !len.is_multiple_of(8) {
            return Err(Errno::INVAL.into());
        }
        user::write_u64(hart, mask, 1)?;
        Ok(8)
    }

    /// `prctl(option, ...)`.
    pub(super) fn sys_prctl(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [option, arg, ..] = args;
        match option {
            // PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_NO_NEW_PRIVS
            1 | 4 | 38 => Ok(0),
            // PR_GET_DUMPABLE
            3 => Ok(1),
            15 => {
                let mut name = user::read_string(hart, arg, 16).unwrap_or_default();
                if name.is_empty() {
                    let bytes: [u8; 16] = user::read_array(hart, arg)?;
                    name = bytes[..15].to_vec();
                }
                name.resize(16, 0);
                name[15] = 0;
                self.name.copy_from_slice(&name);
                Ok(0)
            }
            16 => {
                let name = self.name;
                user::write(hart, arg, &name)?;
                Ok(0)
            }
            // PR_GET_NO_NEW_PRIVS, PR_GET_TIMERSLACK
            39 => Ok(0),
            30 => Ok(50_000),
            69 | 70 => self.vector_control(hart, option == 69, arg),
            _ => Err(Errno::INVAL.into()),
        }
    }

    /// `PR_RISCV_V_SET_CONTROL` and `PR_RISCV_V_GET_CONTROL`. Vectors are always on here, and what a new
    /// program would get is remembered only.
    fn vector_control(&mut self, hart: &mut Hart, set: bool, arg: u64) -> Served {
        const OFF: u64 = 1;
        const ON: u64 = 2;
        if !hart.config.isa.has(Ext::V) && !hart.config.isa.has(Ext::Zve32x) {
            return Err(Errno::INVAL.into());
        }
        if !set {
            return Ok(ON | self.signals.vector_next << 2);
        }
        let (current, next) = (arg & 3, arg >> 2 & 3);
        if arg & !0x1f != 0 || current == 3 || next == 3 {
            return Err(Errno::INVAL.into());
        }
        if current == OFF {
            return Err(Errno::PERM.into());
        }
        self.signals.vector_next = next | (arg >> 4 & 1) << 2;
        Ok(0)
    }

    /// `futex(uaddr, op, val, timeout, ...)`, alone in the world: nobody is ever woken, and waiting without a
    /// limit would be waiting for ever.
    pub(super) fn sys_futex(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [address, op, value, timeout, ..] = args;
        if address % 4 != 0 {
            return Err(Errno::INVAL.into());
        }
        const CLOCK_REALTIME: u64 = 256;
        match op & 127 {
            // FUTEX_WAIT, FUTEX_WAIT_BITSET
            wait @ (0 | 9) => {
                if user::read_u32(hart, address)? != value as u32 {
                    return Err(Errno::AGAIN.into());
                }
                if timeout == 0 {
                    let what = "deadlock: the only thread waits on a futex for another to wake it";
                    return Err(Stop::End(Verdict::Unsupported(what.into())));
                }
                let absolute = wait == 9;
                let clock = u64::from(op & CLOCK_REALTIME == 0);
                self.wait_for(hart, timeout, if absolute { Some(clock) } else { None })?;
                Err(Errno::TIMEDOUT.into())
            }
            // FUTEX_WAKE, FUTEX_REQUEUE, FUTEX_CMP_REQUEUE, FUTEX_WAKE_OP, FUTEX_WAKE_BITSET
            1 | 3 | 4 | 5 | 10 => {
                user::read_u32(hart, address)?;
                Ok(0)
            }
            _ => Err(Errno::NOSYS.into()),
        }
    }

    /// `clone` and its like: there is one thread.
    pub(super) fn sys_clone(&mut self, threads: bool) -> Served {
        if threads {
            self.note("not supported: threads (clone); the guest was told EAGAIN");
            return Err(Errno::AGAIN.into());
        }
        self.note("not supported: processes (fork, vfork, clone); the guest was told ENOSYS");
        Err(Errno::NOSYS.into())
    }

    /// `clone3(args, size)`.
    pub(super) fn sys_clone3(&mut self) -> Served {
        // A C library that is told ENOSYS tries clone, whose flags say what was wanted.
        Err(Errno::NOSYS.into())
    }

    /// `execve` and its like.
    pub(super) fn sys_execve(&mut self) -> Served {
        self.note("not supported: running another program (execve); the guest was told ENOSYS");
        Err(Errno::NOSYS.into())
    }

    /// `kill`, `tkill`, `tgkill`: only itself.
    pub(super) fn sys_kill(&mut self, target: u64, signal: u64, sender: i32) -> Served {
        let target = target as i32;
        let pid = self.identity.pid as i32;
        if !(target == pid || target == 0 || target == -pid) {
            return Err(Errno::SRCH.into());
        }
        let number = signal as i32;
        if !(0..=64).contains(&number) {
            return Err(Errno::INVAL.into());
        }
        if number != 0 {
            let info = signal::Info::sent(number, sender, self.identity.pid, self.identity.uid);
            self.signals.send(info);
        }
        Ok(0)
    }

    /// `getrusage(who, usage)`.
    pub(super) fn sys_getrusage(&mut self, hart: &mut Hart, who: u64, usage: u64) -> Served {
        let mut s = Layout::<144>::new();
        match who as i32 {
            0 | 1 => {
                let (seconds, nanos) = self.time.cpu(hart);
                s.put(0, 8, seconds).put(8, 8, nanos / 1000);
                s.put(32, 8, 4096);
            }
            -1 => {}
            _ => return Err(Errno::INVAL.into()),
        }
        user::write(hart, usage, &s.0)?;
        Ok(0)
    }

    /// `getresuid`, `getresgid`.
    pub(super) fn sys_getres(&mut self, hart: &mut Hart, args: [u64; 6], id: u32) -> Served {
        for at in &args[..3] {
            user::write_u32(hart, *at, id)?;
        }
        Ok(0)
    }

    /// `riscv_flush_icache(start, end, flags)`: decoded code follows memory by itself.
    pub(super) fn sys_riscv_flush_icache(&mut self, flags: u64) -> Served {
        if flags & !1 != 0 { Err(Errno::INVAL.into()) } else { Ok(0) }
    }

    /// `getcpu(cpu, node)`.
    pub(super) fn sys_getcpu(&mut self, hart: &mut Hart, cpu: u64, node: u64) -> Served {
        for at in [cpu, node] {
            if at != 0 {
                user::write_u32(hart, at, 0)?;
            }
        }
        Ok(0)
    }

    /// A file that exists only for the guest: about itself, or without contents.
    pub(super) fn synthetic(&self, hart: &mut Hart, path: &[u8]) -> Option<super::files::Kind> {
        use super::files::Kind;
        let own = format!("/proc/{}/", self.identity.pid);
        let about_self = path.strip_prefix(b"/proc/self/").or_else(|| path.strip_prefix(own.as_bytes()));
        Some(match (path, about_self) {
            (b"/dev/null", _) => Kind::Null,
            (b"/dev/zero", _) => Kind::Zero,
            (b"/dev/urandom" | b"/dev/random", _) => Kind::Random,
            (b"/proc/cpuinfo", _) => Kind::Bytes(self.cpuinfo(&hart.config).into_bytes(), 0),
            (_, Some(b"maps")) => Kind::Bytes(space_of(hart).0.maps().into_bytes(), 0),
            (_, Some(b"auxv")) => Kind::Bytes(self.facts.auxv.clone(), 0),
            (_, Some(b"cmdline")) => {
                let mut line = Vec::new();
                for arg in &self.options.args {
                    line.extend_from_slice(arg);
                    line.push(0);
                }
                Kind::Bytes(line, 0)
            }
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linux::hwprobe;
    use rvv_isa::Isa;

    #[test]
    fn hwcap_names_the_letters() {
        let bits = hwprobe::hwcap(&Isa::parse("rv64gcv").unwrap());
        let expect = b"imafdcv".iter().fold(0u64, |bits, letter| bits | 1 << (letter - b'a'));
        assert_eq!(bits, expect);
        assert_eq!(hwprobe::hwcap(&Isa::parse("rv64i").unwrap()), 1 << 8);
    }

    #[test]
    fn a_seed_repeats_and_none_does_not() {
        let draw = |seed| {
            let mut random = Random::new(seed);
            let initial = random.initial_bytes();
            let mut bytes = [0; 20];
            random.fill(&mut bytes).unwrap();
            (initial, bytes)
        };
        assert_eq!(draw(Some(1)), draw(Some(1)));
        assert_ne!(draw(Some(1)), draw(Some(2)));
        assert_eq!(draw(None).0, draw(None).0);
        assert_ne!(draw(None).1, draw(None).1);
    }
}
