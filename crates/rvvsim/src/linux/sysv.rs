//! System V semaphores, message queues and shared memory: the host's, where the guest may see all that is the
//! host's. In the sandbox there are none.

use super::host::ipc::{self, Segment};
use super::pages::{EXEC, READ, WRITE};
use super::schedule::Wait;
use super::space::{Area, Backing};
use super::user::{self, Layout};
use super::{Process, Served, Stop, space_of};
use crate::Hart;
use crate::mem::PAGE;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;

const NOWAIT: u64 = 0o4000;

const RMID: i32 = 0;
const SET: i32 = 1;
const STAT: i32 = 2;

/// Operations of one `semop`, as on Linux, and semaphores of a set that can be asked for at once.
const MOST_OPERATIONS: u64 = 500;
const MOST_SEMAPHORES: usize = 32_000;
/// Bytes of a message, and how often a call that waits for the host's is made again.
const LARGEST_MESSAGE: u64 = 1 << 20;
const MOMENT: Duration = Duration::from_millis(1);

/// Bytes of `struct ipc64_perm`, `semid64_ds`, `msqid64_ds` and `shmid64_ds` on riscv64.
const PERM: usize = 48;
const SEMAPHORES: usize = PERM + 40;
const QUEUE: usize = PERM + 72;
const MEMORY: usize = PERM + 64;

/// Puts a `struct ipc64_perm` at the start.
fn put_perm<const N: usize>(s: &mut Layout<N>, perm: &libc::ipc_perm) {
    s.put(0, 4, perm.__key as u64).put(4, 4, perm.uid.into()).put(8, 4, perm.gid.into());
    s.put(12, 4, perm.cuid.into()).put(16, 4, perm.cgid.into());
    s.put(20, 4, u64::from(perm.mode)).put(24, 2, perm.__seq as u64);
}

/// Owner and mode of one that the guest wants set.
fn read_perm(hart: &mut Hart, at: u64, perm: &mut libc::ipc_perm) -> Result<(), Errno> {
    (perm.uid, perm.gid) = (user::read_u32(hart, at + 4)?, user::read_u32(hart, at + 8)?);
    perm.mode = user::read_u32(hart, at + 20)? as _;
    Ok(())
}

impl Process {
    /// The calls about System V objects, by number.
    pub(super) fn sys_sysv(&mut self, hart: &mut Hart, number: u64, args: [u64; 6]) -> Served {
        let [a, b, c, ..] = args;
        if !self.options.host_fs || self.bell.is_none() {
            self.note_unsupported("System V semaphores, message queues and shared memory");
            return Err(Errno::NOSYS.into());
        }
        match number {
            186 => Ok(ipc::get_queue(a as i32, b as i32)?),
            187 => control_queue(hart, a as i32, b as i32 & 0xff, c),
            188 => self.take_message(hart, args),
            189 => self.put_message(hart, args),
            190 => Ok(ipc::get_semaphores(a as i32, b as i32, c as i32)?),
            191 => control_semaphores(hart, args),
            192 | 193 => self.operate(hart, args, number == 192),
            194 => Ok(ipc::get_memory(a as i32, b, c as i32)?),
            195 => control_memory(hart, a as i32, b as i32 & 0xff, c),
            196 => attach(hart, a as i32, b, c),
            _ => detach(hart, a),
        }
    }

    /// `semtimedop(id, operations, count, timeout)`, `semop`.
    fn operate(&mut self, hart: &mut Hart, args: [u64; 6], timed: bool) -> Served {
        let [id, operations, count, timeout, ..] = args;
        if count == 0 {
            return Err(Errno::INVAL.into());
        }
        if count > MOST_OPERATIONS {
            return Err(Errno::TOOBIG.into());
        }
        let mut waits = true;
        let mut list = Vec::new();
        for i in 0..count {
            let bytes: [u8; 6] = user::read_array(hart, operations.wrapping_add(6 * i))?;
            let half = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
            waits &= u64::from(half(4)) & NOWAIT == 0;
            let flags = (half(4) | NOWAIT as u16) as i16;
            list.push(libc::sembuf { sem_num: half(0), sem_op: half(2) as i16, sem_flg: flags });
        }
        let until = match timeout {
            at if timed && at != 0 => Some(self.waking_time(hart, at, None)?),
            _ => None,
        };
        match ipc::operate(id as i32, &mut list) {
            Err(Errno::AGAIN) if waits => {
                if until.is_some_and(|until| self.time.now(hart) >= until) {
                    return Err(Errno::AGAIN.into());
                }
                let wait = Wait::moment(MOMENT, "waits for a semaphore");
                Err(Stop::Again(Wait { until, ..wait }))
            }
            other => Ok(other.map(|()| 0)?),
        }
    }

    /// `msgsnd(id, message, size, flags)`.
    fn put_message(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [id, at, size, flags, ..] = args;
        if size > LARGEST_MESSAGE {
            return Err(Errno::INVAL.into());
        }
        let mut message = vec![0; 8 + size as usize];
        user::read(hart, at, &mut message)?;
        match ipc::send(id as i32, &message, (flags | NOWAIT) as i32) {
            Err(Errno::AGAIN) if flags & NOWAIT == 0 => {
                Err(Stop::Again(Wait::moment(MOMENT, "waits for room in a message queue")))
            }
            other => Ok(other.map(|()| 0)?),
        }
    }

    /// `msgrcv(id, message, size, kind, flags)`.
    fn take_message(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [id, at, size, kind, flags, _] = args;
        // No message of the host is larger than this, and none is lost for a buffer that is too small.
        let mut message = vec![0; 8 + size.min(LARGEST_MESSAGE) as usize];
        match ipc::receive(id as i32, &mut message, kind as i64, (flags | NOWAIT) as i32) {
            Err(Errno::NOMSG) if flags & NOWAIT == 0 => {
                Err(Stop::Again(Wait::moment(MOMENT, "waits for a message")))
            }
            other => {
                let len = other?;
                user::write(hart, at, &message[..8 + len])?;
                Ok(len as u64)
            }
        }
    }
}

/// `semctl(id, number, command, argument)`.
fn control_semaphores(hart: &mut Hart, args: [u64; 6]) -> Served {
    const GETPID: i32 = 11;
    const GETVAL: i32 = 12;
    const GETALL: i32 = 13;
    const GETNCNT: i32 = 14;
    const GETZCNT: i32 = 15;
    const SETVAL: i32 = 16;
    const SETALL: i32 = 17;
    let [id, number, command, argument, ..] = args;
    let (id, number, command) = (id as i32, number as i32, command as i32 & 0xff);
    match command {
        RMID | GETPID | GETVAL | GETNCNT | GETZCNT | SETVAL => {
            Ok(ipc::control_semaphore(id, number, command, argument as i32)?)
        }
        GETALL | SETALL => {
            let count = (ipc::stat_semaphores(id)?.sem_nsems as usize).min(MOST_SEMAPHORES);
            let mut bytes = vec![0; 2 * count];
            if command == SETALL {
                user::read(hart, argument, &mut bytes)?;
            }
            let half = |pair: &[u8]| u16::from_le_bytes([pair[0], pair[1]]);
            let mut values: Vec<u16> = bytes.chunks_exact(2).map(half).collect();
            ipc::all_semaphores(id, command, &mut values)?;
            if command == GETALL {
                let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
                user::write(hart, argument, &bytes)?;
            }
            Ok(0)
        }
        STAT => {
            let stat = ipc::stat_semaphores(id)?;
            let mut s = Layout::<SEMAPHORES>::new();
            put_perm(&mut s, &stat.sem_perm);
            s.put(PERM, 8, stat.sem_otime as u64).put(PERM + 8, 8, stat.sem_ctime as u64);
            s.put(PERM + 16, 8, stat.sem_nsems);
            user::write(hart, argument, &s.0)?;
            Ok(0)
        }
        SET => {
            let mut stat = ipc::stat_semaphores(id)?;
            read_perm(hart, argument, &mut stat.sem_perm)?;
            ipc::set_semaphores(id, &mut stat)?;
            Ok(0)
        }
        _ => Err(Errno::INVAL.into()),
    }
}

/// `msgctl(id, command, argument)`.
fn control_queue(hart: &mut Hart, id: i32, command: i32, at: u64) -> Served {
    match command {
        RMID => ipc::remove_queue(id)?,
        STAT => {
            let stat = ipc::stat_queue(id)?;
            let mut s = Layout::<QUEUE>::new();
            put_perm(&mut s, &stat.msg_perm);
            let times = [stat.msg_stime, stat.msg_rtime, stat.msg_ctime];
            for (i, time) in times.into_iter().enumerate() {
                s.put(PERM + 8 * i, 8, time as u64);
            }
            s.put(PERM + 24, 8, stat.__msg_cbytes).put(PERM + 32, 8, stat.msg_qnum);
            s.put(PERM + 40, 8, stat.msg_qbytes);
            s.put(PERM + 48, 4, stat.msg_lspid as u64).put(PERM + 52, 4, stat.msg_lrpid as u64);
            user::write(hart, at, &s.0)?;
        }
        SET => {
            let mut stat = ipc::stat_queue(id)?;
            read_perm(hart, at, &mut stat.msg_perm)?;
            stat.msg_qbytes = user::read_u64(hart, at + PERM as u64 + 40)?;
            ipc::set_queue(id, &mut stat)?;
        }
        _ => return Err(Errno::INVAL.into()),
    }
    Ok(0)
}

/// `shmctl(id, command, argument)`. The count of attachments is the host's, which counts each page that a
/// process has touched.
fn control_memory(hart: &mut Hart, id: i32, command: i32, at: u64) -> Served {
    const LOCK: i32 = 11;
    const UNLOCK: i32 = 12;
    match command {
        RMID => ipc::remove_memory(id)?,
        STAT => {
            let stat = ipc::stat_memory(id)?;
            let mut s = Layout::<MEMORY>::new();
            put_perm(&mut s, &stat.shm_perm);
            s.put(PERM, 8, stat.shm_segsz as u64).put(PERM + 8, 8, stat.shm_atime as u64);
            s.put(PERM + 16, 8, stat.shm_dtime as u64).put(PERM + 24, 8, stat.shm_ctime as u64);
            s.put(PERM + 32, 4, stat.shm_cpid as u64).put(PERM + 36, 4, stat.shm_lpid as u64);
            s.put(PERM + 40, 8, stat.shm_nattch);
            user::write(hart, at, &s.0)?;
        }
        SET => {
            let mut stat = ipc::stat_memory(id)?;
            read_perm(hart, at, &mut stat.shm_perm)?;
            ipc::set_memory(id, &mut stat)?;
        }
        LOCK | UNLOCK => {}
        _ => return Err(Errno::INVAL.into()),
    }
    Ok(0)
}

/// `shmat(id, address, flags)`.
fn attach(hart: &mut Hart, id: i32, address: u64, flags: u64) -> Served {
    const RDONLY: u64 = 0o10_000;
    const RND: u64 = 0o20_000;
    const REMAP: u64 = 0o40_000;
    const EXECUTABLE: u64 = 0o100_000;
    let may_write = flags & RDONLY == 0;
    let address = if flags & RND != 0 { address & !(PAGE - 1) } else { address };
    if !address.is_multiple_of(PAGE) || (address == 0 && flags & REMAP != 0) {
        return Err(Errno::INVAL.into());
    }
    let segment = Segment::attach(id, may_write)?;
    let len = (segment.size() as u64).next_multiple_of(PAGE);
    let (space, ram) = space_of(hart);
    let start = match address {
        0 => space.find_free(0, len)?,
        _ => address,
    };
    let end = start.checked_add(len).filter(|&end| end <= super::pages::USER_END).ok_or(Errno::INVAL)?;
    if !space.is_free(start, end) && flags & REMAP == 0 {
        return Err(Errno::INVAL.into());
    }
    let executable = if flags & EXECUTABLE != 0 { EXEC } else { 0 };
    let prot = READ | executable | if may_write { WRITE } else { 0 };
    let backing = Backing::Segment(Arc::new(segment), 0);
    space.map(ram, start, Area { end, prot, shared: true, may_write, backing, name: "/SYSV" })?;
    hart.flush_tlb();
    Ok(start)
}

/// `shmdt(address)`.
fn detach(hart: &mut Hart, address: u64) -> Served {
    let (space, ram) = space_of(hart);
    let len = space.segment_at(address).ok_or(Errno::INVAL)?;
    space.unmap(ram, address, address + (len as u64).next_multiple_of(PAGE));
    hart.flush_tlb();
    Ok(0)
}
