//! System calls about the process itself: who it is, its limits, and files about it.

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
    /// User, as far as rights go.
    pub euid: u32,
    /// Group, as far as rights go.
    pub egid: u32,
}

impl Identity {
    /// By how much of the host the guest sees.
    pub fn new(options: &ProcessOptions) -> Self {
        if !options.host_fs {
            return Identity { pid: 1000, ppid: 1, uid: 1000, gid: 1000, euid: 1000, egid: 1000 };
        }
        let mut identity =
            Identity { pid: std::process::id(), ppid: host_parent(), uid: 0, gid: 0, euid: 0, egid: 0 };
        identity.take_host_ids();
        identity
    }

    /// User and group are those of the host process.
    pub fn take_host_ids(&mut self) {
        self.uid = rustix::process::getuid().as_raw();
        self.gid = rustix::process::getgid().as_raw();
        self.euid = rustix::process::geteuid().as_raw();
        self.egid = rustix::process::getegid().as_raw();
    }
}

/// The parent of the host process.
fn host_parent() -> u32 {
    rustix::process::getppid().map_or(0, |p| p.as_raw_nonzero().get() as u32)
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

    /// `personality(new)`: remembered only. Addresses are never random here.
    pub(super) fn sys_personality(&mut self, new: u64) -> Served {
        const ASK: u32 = u32::MAX;
        let was = self.personality;
        if new as u32 != ASK {
            self.personality = new as u32;
        }
        Ok(u64::from(was))
    }

    /// `getppid()`: a process whose parent has ended has another.
    pub(super) fn parent(&self) -> u32 {
        match self.family {
            _ if self.options.host_fs => host_parent(),
            Some(family) if family.is_child => family.parent_of_guest(host_parent() as i32),
            _ => self.identity.ppid,
        }
    }

    /// `uname(buf)`.
    pub(super) fn sys_uname(&mut self, hart: &mut Hart, buf: u64) -> Served {
        let mut name = [0u8; 6 * 65];
        let host = rustix::system::uname();
        let (node, domain) = match self.options.host_fs {
            true => (host.nodename().to_bytes(), host.domainname().to_bytes()),
            false => (&b"rvvsim"[..], &b"(none)"[..]),
        };
        let release = self.options.release.as_deref().unwrap_or("6.12.0").as_bytes();
        let fields = [b"Linux", node, release, b"#1 SMP rvvsim", b"riscv64", domain];
        for (field, text) in name.chunks_mut(65).zip(fields) {
            let len = text.len().min(64);
            field[..len].copy_from_slice(&text[..len]);
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

    /// `PR_SET_TAGGED_ADDR_CTRL`: how many bits at the top of an address are ignored.
    pub(super) fn set_pointer_masking(&mut self, hart: &mut Hart, control: u64) -> Served {
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
    pub(super) fn vector_control(&mut self, hart: &mut Hart, set: bool, arg: u64) -> Served {
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

    /// `riscv_flush_icache(start, end, flags)`: decoded code follows memory by itself.
    pub(super) fn sys_riscv_flush_icache(&mut self, flags: u64) -> Served {
        if flags & !1 != 0 { Err(Errno::INVAL.into()) } else { Ok(0) }
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
