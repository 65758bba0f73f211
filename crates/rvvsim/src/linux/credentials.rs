//! Who the guest is: users, groups, capabilities. In the sandbox it is always the same user; a guest that
//! sees the host's files is the host's user, and may become who that one may become.

use super::user;
use super::{Process, Served, host};
use crate::Hart;
use rustix::io::Errno;

/// Most groups, as on Linux.
const MOST_GROUPS: u64 = 65536;

/// The version of the structures of `capget` that all kernels have since 2008.
const VERSION_3: u32 = 0x2008_0522;

impl Process {
    /// `setuid` and its kin, by their numbers.
    pub(super) fn sys_set_ids(&mut self, number: u64, args: [u64; 6]) -> Served {
        if self.owns_host_process() {
            let set = host::set_ids(number, args.map(|id| id as u32));
            self.identity.take_host_ids();
            return Ok(set?);
        }
        let mine = |id: u64, own: u32| id as u32 == own || id as u32 == u32::MAX;
        let (uid, gid) = (self.identity.uid, self.identity.gid);
        let (own, count) = match number {
            host::SETREGID => (gid, 2),
            host::SETGID => (gid, 1),
            host::SETREUID => (uid, 2),
            host::SETUID => (uid, 1),
            host::SETRESUID => (uid, 3),
            host::SETRESGID => (gid, 3),
            // They answer with the id that was.
            host::SETFSUID => return Ok(u64::from(uid)),
            host::SETFSGID => return Ok(u64::from(gid)),
            _ => return Err(Errno::INVAL.into()),
        };
        if args[..count].iter().all(|id| mine(*id, own)) { Ok(0) } else { Err(Errno::PERM.into()) }
    }

    /// `getuid`, `geteuid`, `getgid`, `getegid`. A namespace may give its users other numbers at any time.
    pub(super) fn id_of(&mut self, number: u64) -> u32 {
        if self.owns_host_process() {
            self.identity.take_host_ids();
        }
        let i = &self.identity;
        match number {
            174 => i.uid,
            175 => i.euid,
            176 => i.gid,
            _ => i.egid,
        }
    }

    /// `getresuid`, `getresgid`.
    pub(super) fn sys_getres(&mut self, hart: &mut Hart, args: [u64; 6], of_group: bool) -> Served {
        let i = &self.identity;
        let ids = match (self.owns_host_process(), of_group) {
            (true, _) => host::saved_ids(of_group)?,
            (false, true) => [i.gid, i.egid, i.egid],
            (false, false) => [i.uid, i.euid, i.euid],
        };
        for (at, id) in args.iter().zip(ids) {
            user::write_u32(hart, *at, id)?;
        }
        Ok(0)
    }

    /// `getgroups(size, list)`: none in the sandbox.
    pub(super) fn sys_getgroups(&mut self, hart: &mut Hart, size: u64, list: u64) -> Served {
        if !self.options.host_fs {
            return Ok(0);
        }
        let groups = host::groups()?;
        if size as i32 == 0 {
            return Ok(groups.len() as u64);
        }
        if (size as i32) < 0 || (size as u32 as usize) < groups.len() {
            return Err(Errno::INVAL.into());
        }
        let bytes: Vec<u8> = groups.iter().flat_map(|group| group.to_le_bytes()).collect();
        user::write(hart, list, &bytes)?;
        Ok(groups.len() as u64)
    }

    /// `setgroups(size, list)`.
    pub(super) fn sys_setgroups(&mut self, hart: &mut Hart, size: u64, list: u64) -> Served {
        if !self.owns_host_process() {
            return Err(Errno::PERM.into());
        }
        if size > MOST_GROUPS {
            return Err(Errno::INVAL.into());
        }
        let mut bytes = vec![0; size as usize * 4];
        user::read(hart, list, &mut bytes)?;
        let (words, _) = bytes.as_chunks::<4>();
        let groups: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        host::set_groups(&groups)?;
        Ok(0)
    }

    /// `capget(header, data)`, `capset`: in the sandbox none, and nothing to give up.
    pub(super) fn sys_capabilities(&mut self, hart: &mut Hart, sets: bool, header: u64, data: u64) -> Served {
        let version = user::read_u32(hart, header)?;
        if version != VERSION_3 {
            user::write_u32(hart, header, VERSION_3)?;
            return if data == 0 && !sets { Ok(0) } else { Err(Errno::INVAL.into()) };
        }
        let pid = user::read_u32(hart, header.wrapping_add(4))?;
        if data == 0 {
            return if sets { Err(Errno::FAULT.into()) } else { Ok(0) };
        }
        let mut sets_of_bits: [u8; 24] = if sets { user::read_array(hart, data)? } else { [0; 24] };
        if self.owns_host_process() {
            let pid = if pid == self.identity.pid || self.threads.index_of(pid).is_some() { 0 } else { pid };
            host::capabilities(sets, pid, &mut sets_of_bits)?;
        }
        if !sets {
            user::write(hart, data, &sets_of_bits)?;
        }
        Ok(0)
    }
}
