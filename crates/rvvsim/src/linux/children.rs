//! Processes: how a guest starts one, and how it learns of its end.

use super::family::Family;
use super::files::HostFile;
use super::host::{self, Forked, Waited};
use super::options::Output;
use super::schedule::Wait;
use super::signal::{Info, SIGCHLD};
use super::thread::{CloneArgs, flag};
use super::user::{self, Layout};
use super::{Process, Served, Stop, Verdict, space_of};
use crate::Hart;
use crate::mem::PAGE;
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::sync::Arc;

/// A `vfork` whose child has not yet ended or started another program.
pub struct Vfork {
    /// Where it says that it has.
    pipe: Arc<HostFile>,
    /// The guest's id of it.
    pid: u32,
    /// What it has sent so far of the pages that it wrote.
    received: Vec<u8>,
}

const NOHANG: u64 = 1;
const UNTRACED: u64 = 2;
const EXITED: u64 = 4;
const CONTINUED: u64 = 8;
const NOWAIT: u64 = 0x100_0000;

/// Bytes of a page with its place.
const RECORD: usize = 8 + PAGE as usize;

impl Process {
    /// The family, which begins with the first child.
    pub(super) fn family(&mut self, hart: &mut Hart) -> Result<Family, Errno> {
        if let Some(family) = self.family {
            return Ok(family);
        }
        let (space, ram) = space_of(hart);
        // In place of QEMU, which knows no limit, each process has its own: copies of pages that nobody
        // writes cost nothing.
        let most_frames = if self.options.keep_children { u64::MAX } else { ram.len() as u64 / PAGE };
        let (pid, most) = (self.identity.pid, self.options.most_processes);
        let family = Family::new(pid, self.options.host_fs, most, most_frames)?;
        family.count_frames(space.frames_in_use());
        space.join(family);
        family.count_instructions(hart.instret);
        self.counted = hart.instret;
        self.family = Some(family);
        // What the first process makes later the others could not see.
        self.fs.make_tmp(family);
        self.hear(SIGCHLD);
        Ok(family)
    }

    /// `clone` without `CLONE_THREAD`: a new process.
    pub(super) fn clone_process(&mut self, hart: &mut Hart, args: &CloneArgs) -> Served {
        if let Some(mut vfork) = self.me_mut().suspended.vfork.take() {
            let pid = vfork.pid;
            if !receive_pages(hart, &mut vfork) {
                let wait = Wait::file(&vfork.pipe, PollFlags::IN, "waits for its child to start a program");
                self.me_mut().suspended.vfork = Some(vfork);
                return Err(Stop::Again(wait));
            }
            return Ok(u64::from(pid));
        }
        if args.signal > 64 {
            return Err(Errno::INVAL.into());
        }
        const NAMESPACES: u64 = 0x7e02_0000;
        let namespaces = args.flags & NAMESPACES;
        if namespaces != 0 && !self.owns_host_process() {
            return Err(Errno::PERM.into());
        }
        let shares_memory = args.flags & flag::VM != 0;
        if shares_memory && args.flags & flag::VFORK == 0 {
            self.note_unsupported("a process that shares memory with another and does not wait for it");
            return Err(Errno::NOSYS.into());
        }
        let captured = self.options.stdout == Output::Capture || self.options.stderr == Output::Capture;
        if self.options.most_processes < 2 || captured || self.bell.is_none() {
            self.note("not supported here: processes (fork, vfork, clone); the guest was told EAGAIN");
            return Err(Errno::AGAIN.into());
        }
        let family = self.family(hart)?;
        let pipe = match args.flags & flag::VFORK {
            0 => None,
            _ => Some(rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?),
        };
        let (space, ram) = space_of(hart);
        space.sync(ram, 0, super::pages::USER_END);
        let (index, id) = family.reserve()?;
        let forked = match host::fork(namespaces) {
            Ok(forked) => forked,
            Err(e) => {
                family.release(index);
                if e == Errno::AGAIN {
                    self.note("a guest cannot fork where the emulator has other threads");
                }
                return Err(e.into());
            }
        };
        match forked {
            Forked::Parent(host_pid) => {
                family.fill((index, id), host_pid);
                let pid = if family.has_host_ids() { host_pid as u32 } else { id };
                if args.flags & flag::PARENT_SETTID != 0 {
                    let _ = user::write_u32(hart, args.parent_tid, pid);
                }
                self.children += 1;
                if args.flags & flag::PIDFD != 0
                    && let Ok(fd) = self.add_pidfd(host_pid, 0)
                {
                    let _ = user::write_u32(hart, args.pidfd, fd as u32);
                }
                let Some((reader, writer)) = pipe else { return Ok(u64::from(pid)) };
                drop(writer);
                let _ = rustix::io::ioctl_fionbio(&reader, true);
                let pipe = Arc::new(HostFile::named(reader, Vec::new(), false));
                let wait = Wait::file(&pipe, PollFlags::IN, "waits for its child to start a program");
                self.me_mut().suspended.vfork = Some(Vfork { pipe, pid, received: Vec::new() });
                Err(Stop::Again(wait))
            }
            Forked::Child(bell) => {
                self.bell = bell.ok();
                self.become_child(hart, family, index, id);
                if shares_memory {
                    // What it stores from now on goes through the slow path once a page, and is seen there.
                    hart.ram.forget_written();
                    hart.flush_tlb();
                }
                self.vfork_parent = pipe.map(|(_, writer)| writer);
                let pid = self.identity.pid;
                if args.flags & flag::CHILD_SETTID != 0 {
                    let _ = user::write_u32(hart, args.child_tid, pid);
                }
                if args.flags & flag::CHILD_CLEARTID != 0 {
                    self.me_mut().clear_tid = args.child_tid;
                }
                if args.stack != 0 {
                    hart.set_x(2, args.stack);
                }
                if args.flags & flag::SETTLS != 0 {
                    hart.set_x(4, args.tls);
                }
                Ok(0)
            }
        }
    }

    /// This process is the new one: it has one thread, and nothing is pending.
    fn become_child(&mut self, hart: &mut Hart, mut family: Family, index: usize, id: u32) {
        family.become_child((index, id));
        space_of(hart).0.join(family);
        self.family = Some(family);
        self.identity.ppid = self.identity.pid;
        self.identity.pid = if family.has_host_ids() { std::process::id() } else { id };
        self.counted = hart.instret;
        self.children = 0;
        self.vfork_parent = None;
        self.only_this_thread();
        let pid = self.identity.pid;
        let me = self.me_mut();
        (me.tid, me.clear_tid) = (pid, 0);
        me.robust = super::futex::Robust::default();
        self.forget_pending_signals();
        self.time.forget_timers();
        if family.ending().is_some() {
            host::exit(128 + libc::SIGKILL);
        }
    }

    /// Tells a parent that waits in `vfork` that it may go on, and gives it what was stored in its memory.
    pub(super) fn end_vfork(&mut self, hart: &mut Hart) {
        let Some(pipe) = self.vfork_parent.take() else { return };
        for offset in hart.ram.written_offsets() {
            let mut record = (offset as u64).to_le_bytes().to_vec();
            record.extend_from_slice(&hart.ram.bytes()[offset..offset + PAGE as usize]);
            let mut rest = record.as_slice();
            while !rest.is_empty() {
                match rustix::io::write(&pipe, rest) {
                    Ok(n) => rest = &rest[n..],
                    Err(Errno::INTR) => {}
                    Err(_) => return,
                }
            }
        }
    }

    /// `wait4(pid, status, options, usage)`.
    pub(super) fn sys_wait4(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [pid, status_at, options, usage_at, ..] = args;
        if options & !(NOHANG | UNTRACED | CONTINUED | 0xe000_0000) & 0xffff_ffff != 0 {
            return Err(Errno::INVAL.into());
        }
        let (kind, id) = self.wait_target(pid as i32)?;
        let asked = (options & (UNTRACED | CONTINUED) | EXITED) as i32;
        let Some(waited) = self.wait_for_child(kind, id, asked, options & NOHANG != 0)? else { return Ok(0) };
        let status = match waited.code {
            libc::CLD_EXITED => (waited.status & 0xff) << 8,
            libc::CLD_KILLED => waited.status & 0x7f,
            libc::CLD_DUMPED => waited.status & 0x7f | 0x80,
            libc::CLD_CONTINUED => 0xffff,
            _ => (waited.status & 0xff) << 8 | 0x7f,
        };
        let pid = self.reaped(&waited);
        if status_at != 0 {
            user::write_u32(hart, status_at, status as u32)?;
        }
        if usage_at != 0 {
            let bytes: Vec<u8> = waited.usage.iter().flat_map(|word| word.to_le_bytes()).collect();
            user::write(hart, usage_at, &bytes)?;
        }
        Ok(u64::from(pid))
    }

    /// `waitid(kind, id, info, options, usage)`.
    pub(super) fn sys_waitid(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [kind, id, info_at, options, usage_at, _] = args;
        const PIDFD: u64 = 3;
        let (kind, id) = match kind {
            // A descriptor of a process that is gone means no child.
            PIDFD => (
                1,
                self.pid_of_descriptor(id)
                    .map_err(|e| if e == Errno::SRCH { Errno::CHILD } else { e })?
                    .into(),
            ),
            _ => (kind, id),
        };
        let target = match (kind, id as i32) {
            (0, _) => -1,
            (1, id @ 1..) => id,
            (2, 0) => 0,
            (2, id @ 2..) => -id,
            _ => return Err(Errno::INVAL.into()),
        };
        let asked = options & (UNTRACED | EXITED | CONTINUED);
        if asked == 0 {
            return Err(Errno::INVAL.into());
        }
        let (kind, id) = self.wait_target(target)?;
        let asked = (asked | options & NOWAIT) as i32;
        let waited = self.wait_for_child(kind, id, asked, options & NOHANG != 0)?;
        let mut info = Layout::<128>::new();
        if let Some(waited) = waited {
            let pid = match options & NOWAIT {
                0 => self.reaped(&waited),
                _ => self.family.map_or(0, |family| family.guest_id(waited.pid)),
            };
            info.put(0, 4, SIGCHLD as u64).put(8, 4, u64::from(waited.code as u32)).put(
                16,
                4,
                u64::from(pid),
            );
            info.put(20, 4, u64::from(self.identity.uid)).put(24, 4, u64::from(waited.status as u32));
            if usage_at != 0 {
                let bytes: Vec<u8> = waited.usage.iter().flat_map(|word| word.to_le_bytes()).collect();
                user::write(hart, usage_at, &bytes)?;
            }
        }
        if info_at != 0 {
            user::write(hart, info_at, &info.0)?;
        }
        Ok(0)
    }

    /// Which children of the host a wait means: `P_*` and an id.
    fn wait_target(&self, pid: i32) -> Result<(u32, u32), Errno> {
        const ALL: u32 = 0;
        const ONE: u32 = 1;
        const GROUP: u32 = 2;
        let family = self.family.ok_or(Errno::CHILD)?;
        match pid {
            -1 => Ok((ALL, 0)),
            1.. => Ok((ONE, family.host_id(pid).map_err(|_| Errno::CHILD)? as u32)),
            // Groups of the sandbox are known to the family only; all children are in reach.
            _ if !family.has_host_ids() => Ok((ALL, 0)),
            0 => Ok((GROUP, 0)),
            _ => Ok((GROUP, pid.unsigned_abs())),
        }
    }

    fn wait_for_child(&mut self, kind: u32, id: u32, options: i32, at_once: bool) -> Served<Option<Waited>> {
        if self.family.is_none() {
            return Err(Errno::CHILD.into());
        }
        match host::wait_for_child(kind, id, options)? {
            Some(waited) => Ok(Some(waited)),
            None if at_once => Ok(None),
            None => {
                let why = "waits for a child".to_owned();
                Err(Stop::Again(Wait { children: true, outside: true, why, ..Wait::default() }))
            }
        }
    }

    /// A child that has ended is no more; the guest's id of it.
    fn reaped(&mut self, waited: &Waited) -> u32 {
        let Some(family) = self.family else { return 0 };
        let pid = family.guest_id(waited.pid);
        if matches!(waited.code, libc::CLD_EXITED | libc::CLD_KILLED | libc::CLD_DUMPED) {
            family.release_host(waited.pid);
            self.children = self.children.saturating_sub(1);
        }
        pid
    }

    /// Signals that came from the host become the guest's.
    pub(super) fn receive_signals(&mut self) {
        if !host::has_received() {
            return;
        }
        let mut received = Vec::new();
        while let Some(one) = self.bell.as_ref().and_then(host::take_received) {
            received.push(one);
        }
        for one in received {
            let mut detail = one.detail;
            if one.signal == SIGCHLD {
                for thread in &mut self.threads.all {
                    if thread.wait.as_ref().is_some_and(|wait| wait.children) {
                        thread.wait = None;
                    }
                }
            }
            // Who sent it, by the guest's ids.
            if one.code <= 0 || one.signal == SIGCHLD {
                let pid = self.family.map_or(0, |family| family.guest_id(detail[0] as i32));
                let uid = if self.options.host_fs { detail[0] >> 32 } else { u64::from(self.identity.uid) };
                detail[0] = u64::from(pid) | uid << 32;
            }
            let _ = self.send(Info { signal: one.signal, code: one.code, detail });
        }
    }

    /// The run of a child has come to this end: so does the process.
    pub(crate) fn end_as_child(&mut self, hart: &mut Hart, outcome: &crate::machine::Outcome) -> ! {
        use crate::machine::Outcome;
        self.end_vfork(hart);
        if let Some(family) = self.family {
            family.leave();
        }
        match outcome {
            Outcome::Exited(status) => host::exit(*status),
            Outcome::Signaled { signal, .. } => host::end_by_signal(*signal),
            Outcome::OutOfInstructions | Outcome::TimedOut => host::exit(128 + libc::SIGKILL),
            Outcome::Stuck(_) | Outcome::Unsupported(_) | Outcome::EnginesDiffer(_) => {
                if let Outcome::Unsupported(what) | Outcome::EnginesDiffer(what) = outcome {
                    self.note(&format!("process {}: {what}", self.identity.pid));
                }
                host::exit(126)
            }
        }
    }

    /// Whether this is not the process that was started, but a child of it.
    pub(crate) fn is_child(&self) -> bool {
        self.family.is_some_and(|family| family.is_child)
    }

    /// Counts what was executed for the family, and looks whether it is to end; the limit of this process.
    pub(crate) fn family_limit(&mut self, hart: &Hart, limit: u64) -> Result<u64, Verdict> {
        use super::family::Ending;
        let Some(family) = self.family else { return Ok(limit) };
        let spent = family.count_instructions(hart.instret.saturating_sub(self.counted));
        self.counted = hart.instret;
        if spent >= limit {
            family.end(Ending::OutOfInstructions);
        }
        match family.ending() {
            Some(Ending::OutOfInstructions) => Ok(0),
            Some(Ending::Over) if family.is_child => Err(Verdict::Kill { signal: libc::SIGKILL, trap: None }),
            _ => {
                self.looks = self.looks.wrapping_add(1);
                let ends_with_first = family.is_child && !self.options.keep_children;
                if ends_with_first && self.looks.is_multiple_of(64) && family.is_orphan() {
                    return Err(Verdict::Kill { signal: libc::SIGKILL, trap: None });
                }
                Ok(hart.instret.saturating_add(limit - spent))
            }
        }
    }

    /// The first process ends: so do the others.
    pub(super) fn end_family(&mut self) {
        if let Some(family) = self.family.filter(|family| !family.is_child)
            && !self.options.keep_children
        {
            family.end_others();
        }
    }

    /// `setpgid`, `getpgid`, `getsid`, `setsid`.
    pub(super) fn sys_groups(&mut self, hart: &mut Hart, number: u64, pid: u64, group: u64) -> Served {
        let pid = pid as u32;
        let mine = pid == 0 || pid == self.identity.pid;
        if self.family.is_none() && !self.options.host_fs && self.options.most_processes < 2 {
            // Alone in the world: its own group and session.
            return match number {
                154..=156 if !mine => Err(Errno::SRCH.into()),
                154 => Ok(0),
                157 => Err(Errno::PERM.into()),
                _ => Ok(u64::from(self.identity.pid)),
            };
        }
        let family = self.family(hart)?;
        let pid = if mine { 0 } else { pid };
        Ok(match number {
            154 => {
                family.set_group(pid, group as u32)?;
                0
            }
            155 => u64::from(family.group_and_session(pid)?.0),
            156 => u64::from(family.group_and_session(pid)?.1),
            _ => u64::from(family.begin_session()?),
        })
    }

    /// Sends a signal to other processes; whether this one is meant, too.
    pub(super) fn send_to_others(&mut self, target: i32, signal: i32) -> Result<bool, Errno> {
        if self.options.host_fs && self.bell.is_some() {
            // As the user may. A signal to ourselves comes back by the handler, or has its default effect.
            if target == self.identity.pid as i32 {
                return Ok(true);
            }
            host::kill(target, signal)?;
            return Ok(false);
        }
        let Some(family) = self.family else {
            let pid = self.identity.pid as i32;
            let mine = target == pid || target == 0 || target == -pid;
            return if mine { Ok(true) } else { Err(Errno::SRCH) };
        };
        let (others, me) = family.targets(target)?;
        for host_pid in others {
            if signal != 0 {
                host::kill(host_pid, signal)?;
            }
        }
        Ok(me)
    }

    /// Closes what is to be closed when a program starts another.
    pub(super) fn close_on_exec(&mut self) {
        let closing: Vec<u64> =
            self.files.numbers().filter(|fd| self.files.cloexec(*fd) == Ok(true)).collect();
        for fd in closing {
            let _ = self.files.close(fd);
        }
    }
}

/// Takes what a child has sent; true when that is all.
fn receive_pages(hart: &mut Hart, vfork: &mut Vfork) -> bool {
    let mut buffer = [0; 16 << 10];
    loop {
        match vfork.pipe.try_read(&mut buffer, None) {
            Ok(0) => break,
            Ok(n) => vfork.received.extend_from_slice(&buffer[..n]),
            Err(Errno::AGAIN) => return false,
            Err(_) => break,
        }
        while vfork.received.len() >= RECORD {
            let record: Vec<u8> = vfork.received.drain(..RECORD).collect();
            let offset = record.first_chunk().map_or(0, |b| u64::from_le_bytes(*b)) as usize;
            // Both have the same page frames, but for those that the child took itself.
            let used = space_of(hart).0.is_frame_used(offset);
            if used && offset.is_multiple_of(PAGE as usize) {
                hart.ram.note_write(offset, PAGE as usize);
                hart.ram.bytes_mut()[offset..offset + PAGE as usize].copy_from_slice(&record[8..]);
            }
        }
    }
    true
}
