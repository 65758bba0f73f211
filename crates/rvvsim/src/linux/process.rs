//! System calls about the process itself: who it is, its limits, and files about it.

use super::files::MOST_FILES;
use super::options::ProcessOptions;
use super::user::{self, Layout};
use super::{Process, Served, space_of};
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

/// `RLIMIT_NOFILE`.
const NOFILE: usize = 7;

/// The limits of a new process, as most Linux systems have them.
pub fn usual_limits(options: &ProcessOptions) -> [(u64, u64); 16] {
    const INFINITY: u64 = u64::MAX;
    let mut limits = [(INFINITY, INFINITY); 16];
    let files = MOST_FILES as u64;
    limits[3] = (options.stack, INFINITY);
    limits[4] = (0, INFINITY);
    limits[6] = (u64::from(options.most_processes), u64::from(options.most_processes));
    limits[NOFILE] = (files, files);
    limits
}

/// Where `PR_SET_TAGGED_ADDR_CTRL` has the number of ignored bits.
const PMLEN_SHIFT: u32 = 24;
/// System calls, too, take tagged addresses.
const TAGGED_ADDR_ENABLE: u64 = 1;

/// The bits at the top of addresses that a thread ignores.
pub fn ignored_bits(control: u64) -> u32 {
    (control >> PMLEN_SHIFT & 0x7f) as u32
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

    /// `prlimit64(pid, resource, new, old)`. What the emulator does not bound by them is remembered only.
    pub(super) fn sys_prlimit64(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [pid, resource, new, old, ..] = args;
        if pid != 0 && pid as u32 != self.identity.pid {
            return Err(Errno::SRCH.into());
        }
        let index = usize::try_from(resource).ok().filter(|i| *i < 16).ok_or(Errno::INVAL)?;
        let was = self.limits[index];
        let mut wanted = None;
        if new != 0 {
            let (soft, hard) = (user::read_u64(hart, new)?, user::read_u64(hart, new.wrapping_add(8))?);
            if soft > hard {
                return Err(Errno::INVAL.into());
            }
            if hard > was.1 {
                return Err(Errno::PERM.into());
            }
            wanted = Some((soft, hard));
        }
        if old != 0 {
            user::write_u64(hart, old, was.0)?;
            user::write_u64(hart, old.wrapping_add(8), was.1)?;
        }
        if let Some(wanted) = wanted {
            self.limits[index] = wanted;
            if index == NOFILE {
                self.files.limit = usize::try_from(wanted.0).unwrap_or(MOST_FILES).min(MOST_FILES);
            }
        }
        Ok(0)
    }

    /// `setuid` and its kin: the guest is who it is.
    pub(super) fn sys_set_ids(&mut self, number: u64, args: [u64; 6]) -> Served {
        let mine = |id: u64, own: u32| id as u32 == own || id as u32 == u32::MAX;
        let (uid, gid) = (self.identity.uid, self.identity.gid);
        let (own, count) = match number {
            143 => (gid, 2),
            144 => (gid, 1),
            145 => (uid, 2),
            146 => (uid, 1),
            147 => (uid, 3),
            149 => (gid, 3),
            // setfsuid, setfsgid answer with the id that was.
            151 => return Ok(u64::from(uid)),
            152 => return Ok(u64::from(gid)),
            _ => return Err(Errno::PERM.into()),
        };
        if args[..count].iter().all(|id| mine(*id, own)) { Ok(0) } else { Err(Errno::PERM.into()) }
    }

    /// `capget(header, data)`, `capset`: none.
    pub(super) fn sys_capabilities(
        &mut self,
        hart: &mut Hart,
        number: u64,
        header: u64,
        data: u64,
    ) -> Served {
        const VERSION: u32 = 0x2008_0522;
        let version = user::read_u32(hart, header)?;
        if version != VERSION {
            user::write_u32(hart, header, VERSION)?;
            return if data == 0 { Ok(0) } else { Err(Errno::INVAL.into()) };
        }
        if number == 90 && data != 0 {
            user::write(hart, data, &[0; 24])?;
        }
        Ok(0)
    }

    /// `sched_getaffinity(pid, len, mask)`: all processors.
    pub(super) fn sys_sched_getaffinity(&mut self, hart: &mut Hart, len: u64, mask: u64) -> Served {
        let bytes = u64::from(self.options.cpus).div_ceil(64) * 8;
        if len < bytes || !len.is_multiple_of(8) {
            return Err(Errno::INVAL.into());
        }
        for i in 0..bytes / 8 {
            let left = u64::from(self.options.cpus) - 64 * i;
            let word = if left >= 64 { u64::MAX } else { (1 << left) - 1 };
            user::write_u64(hart, mask.wrapping_add(8 * i), word)?;
        }
        Ok(bytes)
    }

    /// The calls about scheduling classes: every thread is in the usual one.
    pub(super) fn sys_sched(&mut self, hart: &mut Hart, number: u64, args: [u64; 6]) -> Served {
        let [pid, policy, at, ..] = args;
        let of_thread = |id: u64| id == 0 || self.threads.index_of(id as u32).is_some();
        if matches!(number, 118..=121 | 127 | 274 | 275) && !of_thread(pid) {
            return Err(Errno::SRCH.into());
        }
        match number {
            // sched_setparam, sched_setscheduler: SCHED_OTHER, BATCH and IDLE have priority 0 only.
            118 => match user::read_u32(hart, policy)? {
                0 => Ok(0),
                _ => Err(Errno::INVAL.into()),
            },
            119 => match (policy & 0xff, user::read_u32(hart, at)?) {
                (0 | 3 | 5, 0) => Ok(0),
                (1 | 2, 1..=99) => Err(Errno::PERM.into()),
                _ => Err(Errno::INVAL.into()),
            },
            120 => Ok(0),
            121 => {
                user::write_u32(hart, policy, 0)?;
                Ok(0)
            }
            // sched_get_priority_max, _min
            125 | 126 => match pid {
                1 | 2 => Ok(if number == 125 { 99 } else { 1 }),
                0 | 3 | 5 | 6 => Ok(0),
                _ => Err(Errno::INVAL.into()),
            },
            // sched_rr_get_interval
            127 => {
                let mut s = Layout::<16>::new();
                s.put(8, 8, 100_000_000);
                user::write(hart, policy, &s.0)?;
                Ok(0)
            }
            274 => Ok(0),
            // sched_getattr
            _ => {
                let mut s = Layout::<48>::new();
                s.put(0, 4, 48);
                if at < 48 {
                    return Err(Errno::INVAL.into());
                }
                user::write(hart, policy, &s.0)?;
                Ok(0)
            }
        }
    }

    /// `prctl(option, ...)`.
    pub(super) fn sys_prctl(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [option, arg, ..] = args;
        match option {
            // PR_SET_PDEATHSIG, PR_SET_DUMPABLE, PR_SET_KEEPCAPS, PR_SET_TIMERSLACK, PR_SET_CHILD_SUBREAPER,
            // PR_SET_NO_NEW_PRIVS, PR_SET_THP_DISABLE
            1 | 4 | 8 | 29 | 36 | 38 | 41 => Ok(0),
            // PR_GET_PDEATHSIG
            2 => {
                user::write_u32(hart, arg, 0)?;
                Ok(0)
            }
            // PR_CAPBSET_READ
            23 => Ok(0),
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
                self.me_mut().name.copy_from_slice(&name);
                Ok(0)
            }
            16 => {
                let name = self.me().name;
                user::write(hart, arg, &name)?;
                Ok(0)
            }
            // PR_GET_NO_NEW_PRIVS, PR_GET_TIMERSLACK
            39 => Ok(0),
            30 => Ok(50_000),
            // PR_SET_TAGGED_ADDR_CTRL, PR_GET_TAGGED_ADDR_CTRL
            55 => self.set_pointer_masking(hart, arg),
            56 => Ok(self.me().tagged),
            69 | 70 => self.vector_control(hart, option == 69, arg),
            _ => Err(Errno::INVAL.into()),
        }
    }

    /// `PR_SET_TAGGED_ADDR_CTRL`: how many bits at the top of an address are ignored.
    fn set_pointer_masking(&mut self, hart: &mut Hart, control: u64) -> Served {
        let wanted = control >> PMLEN_SHIFT & 0x7f;
        let known = TAGGED_ADDR_ENABLE | 0x7f << PMLEN_SHIFT;
        // The least that is at least as much as wanted, of what there is: 0, 7 and 16.
        let bits = [0, 7, 16].into_iter().find(|bits| *bits >= wanted);
        let (Some(bits), 0) = (bits, control & !known) else { return Err(Errno::INVAL.into()) };
        if bits == 0 && control & TAGGED_ADDR_ENABLE != 0 {
            return Err(Errno::INVAL.into());
        }
        self.me_mut().tagged = control & TAGGED_ADDR_ENABLE | bits << PMLEN_SHIFT;
        if space_of(hart).0.ignore_bits(bits as u32) {
            hart.flush_tlb();
        }
        Ok(0)
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
            return Ok(ON | self.me().vector_next << 2);
        }
        let (current, next) = (arg & 3, arg >> 2 & 3);
        if arg & !0x1f != 0 || current == 3 || next == 3 {
            return Err(Errno::INVAL.into());
        }
        if current == OFF {
            return Err(Errno::PERM.into());
        }
        self.me_mut().vector_next = next | (arg >> 4 & 1) << 2;
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

    /// `getcpu(cpu, node)`: each thread has its processor, until there are no more.
    pub(super) fn sys_getcpu(&mut self, hart: &mut Hart, cpu: u64, node: u64) -> Served {
        for (at, value) in [(cpu, self.me().number % self.options.cpus.max(1)), (node, 0)] {
            if at != 0 {
                user::write_u32(hart, at, value)?;
            }
        }
        Ok(0)
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
