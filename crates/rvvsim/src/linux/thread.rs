//! The threads of a process: what each has for itself, how one begins and how one ends.

use super::children::Vfork;
use super::files::HostFile;
use super::futex::{FutexWait, Robust};
use super::rseq::Rseq;
use super::schedule::Wait;
use super::signal::ThreadSignals;
use super::user;
use super::{Process, Served, Stop, Verdict};
use crate::Hart;
use crate::config::Config;
use crate::hart::ThreadRegisters;
use rustix::io::Errno;

/// Most threads of a process.
const MOST_THREADS: usize = 4096;
/// Bytes of vector registers that the threads of a process may have together.
const MOST_VECTOR_BYTES: usize = 256 << 20;

/// `CLONE_*`.
pub mod flag {
    /// Shares memory.
    pub const VM: u64 = 0x100;
    /// Gives the caller a descriptor of the child.
    pub const PIDFD: u64 = 0x1000;
    /// The caller waits until the child has another program or has ended.
    pub const VFORK: u64 = 0x4000;
    const FS: u64 = 0x200;
    const FILES: u64 = 0x400;
    /// Shares signal handlers.
    pub const SIGHAND: u64 = 0x800;
    /// The new task is a thread of the caller's process.
    pub const THREAD: u64 = 0x1_0000;
    const SYSVSEM: u64 = 0x4_0000;
    /// Sets the thread pointer.
    pub const SETTLS: u64 = 0x8_0000;
    /// Writes the new id to the caller's memory.
    pub const PARENT_SETTID: u64 = 0x10_0000;
    /// Clears the id in memory when the new task ends, and wakes who waits for that.
    pub const CHILD_CLEARTID: u64 = 0x20_0000;
    const DETACHED: u64 = 0x40_0000;
    /// Writes the new id to the new task's memory.
    pub const CHILD_SETTID: u64 = 0x100_0000;
    /// What a thread shares with the others, or may say without effect.
    pub const OF_THREADS: u64 = VM
        | FS
        | FILES
        | SIGHAND
        | THREAD
        | SYSVSEM
        | SETTLS
        | PARENT_SETTID
        | CHILD_CLEARTID
        | CHILD_SETTID
        | DETACHED;
}

/// How far a call has come that is to be made again.
#[derive(Default)]
pub struct Suspended {
    /// Bytes written.
    pub written: usize,
    /// The reading end of a FIFO that waits for a writer.
    pub opening: Option<HostFile>,
    /// When its wait ends, in nanoseconds of the monotonic clock.
    pub waking: Option<u64>,
    /// The futex it waits on.
    pub futex: Option<FutexWait>,
    /// The signals it waits for, blocked or not.
    pub awaited: u64,
    /// The child that it waits for in `vfork`.
    pub vfork: Option<Vfork>,
    /// It waits for the answer to a connection that it asked for.
    pub connecting: bool,
}

/// One thread.
pub struct Thread {
    /// Its id.
    pub tid: u32,
    /// Its number, from 0 on in the order in which threads began.
    pub number: u32,
    /// Its registers, while it is not on the hart.
    pub registers: ThreadRegisters,
    /// Its signals.
    pub signals: ThreadSignals,
    /// The call it is in.
    pub suspended: Suspended,
    /// It is at an `ecall` that is to be made again.
    pub calling: bool,
    /// What that call waits for; `None` if the thread can run.
    pub wait: Option<Wait>,
    /// Where its id is to be cleared when it ends.
    pub clear_tid: u64,
    /// The locks it holds that others must hear of.
    pub robust: Robust,
    /// Its restartable sequences.
    pub rseq: Rseq,
    /// Its name.
    pub name: [u8; 16],
    /// What `PR_RISCV_V_SET_CONTROL` asked for the next program.
    pub vector_next: u64,
    /// Pointer masking, as `PR_SET_TAGGED_ADDR_CTRL` set it.
    pub tagged: u64,
    /// The processors it may use; `None` for all.
    pub affinity: Option<Vec<u64>>,
}

impl Thread {
    /// The first thread of a process; its registers are on the hart.
    pub fn first(tid: u32, config: &Config) -> Self {
        Thread {
            tid,
            number: 0,
            registers: ThreadRegisters::new(config),
            signals: ThreadSignals::default(),
            suspended: Suspended::default(),
            calling: false,
            wait: None,
            clear_tid: 0,
            robust: Robust::default(),
            rseq: Rseq::default(),
            name: [0; 16],
            vector_next: 0,
            tagged: 0,
            affinity: None,
        }
    }
}

/// All threads of a process.
pub struct Threads {
    /// In the order in which they began.
    pub all: Vec<Box<Thread>>,
    /// Which is on the hart.
    pub current: usize,
    /// It has ended, and the hart has nobody's registers.
    pub vacant: bool,
    next_number: u32,
    /// With which status the first thread ended while others went on.
    leader_status: Option<i32>,
}

impl Threads {
    /// One.
    pub fn new(first: Thread) -> Self {
        let all = vec![Box::new(first)];
        Threads { all, current: 0, vacant: false, next_number: 1, leader_status: None }
    }

    /// The thread of an id.
    pub fn index_of(&self, tid: u32) -> Option<usize> {
        self.all.iter().position(|thread| thread.tid == tid)
    }
}

/// What `clone` is asked for.
pub struct CloneArgs {
    /// `CLONE_*`, without the signal.
    pub flags: u64,
    /// The signal of a child that ends.
    pub signal: u64,
    /// The new stack pointer; 0 for the old.
    pub stack: u64,
    /// The new thread pointer.
    pub tls: u64,
    /// Where the id goes in the caller's memory.
    pub parent_tid: u64,
    /// Where the id goes in the new task's memory.
    pub child_tid: u64,
    /// Where a descriptor of the new process goes, if `CLONE_PIDFD` asks for one.
    pub pidfd: u64,
}

impl Process {
    /// The thread on the hart.
    pub(super) fn me(&self) -> &Thread {
        &self.threads.all[self.threads.current]
    }

    /// The same, to change.
    pub(super) fn me_mut(&mut self) -> &mut Thread {
        &mut self.threads.all[self.threads.current]
    }

    /// `clone(flags, stack, parent_tid, tls, child_tid)`.
    pub(super) fn sys_clone(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [flags, stack, parent_tid, tls, child_tid, _] = args;
        let (flags, signal) = (flags & !0xff, flags & 0xff);
        if flags & flag::PIDFD != 0 && flags & flag::PARENT_SETTID != 0 {
            // Both would go to the same place.
            return Err(Errno::INVAL.into());
        }
        self.clone_task(
            hart,
            CloneArgs { flags, signal, stack, tls, parent_tid, child_tid, pidfd: parent_tid },
        )
    }

    /// `clone3(args, size)`.
    pub(super) fn sys_clone3(&mut self, hart: &mut Hart, at: u64, size: u64) -> Served {
        if size > 4096 {
            return Err(Errno::TOOBIG.into());
        }
        if size < 64 {
            return Err(Errno::INVAL.into());
        }
        let mut words = [0; 11];
        let known = (size as usize / 8).min(words.len());
        for (i, word) in words.iter_mut().take(known).enumerate() {
            *word = user::read_u64(hart, at.wrapping_add(8 * i as u64))?;
        }
        let [flags, pidfd, child_tid, parent_tid, signal, stack, stack_size, tls, tids, _, cgroup] = words;
        if tids != 0 || cgroup != 0 || flags & 0xff != 0 || signal > 64 || (stack == 0) != (stack_size == 0) {
            return Err(Errno::INVAL.into());
        }
        let stack = stack.wrapping_add(stack_size);
        self.clone_task(hart, CloneArgs { flags, signal, stack, tls, parent_tid, child_tid, pidfd })
    }

    fn clone_task(&mut self, hart: &mut Hart, args: CloneArgs) -> Served {
        let flags = args.flags;
        let needs = |flag, other| flags & flag == 0 || flags & other != 0;
        if !needs(flag::THREAD, flag::SIGHAND) || !needs(flag::SIGHAND, flag::VM) {
            return Err(Errno::INVAL.into());
        }
        if flags & flag::THREAD == 0 {
            return self.clone_process(hart, &args);
        }
        if flags & !flag::OF_THREADS != 0 {
            return Err(Errno::INVAL.into());
        }
        let vector_bytes = 32 * hart.v.vlenb * (self.threads.all.len() + 1);
        if self.threads.all.len() >= MOST_THREADS || vector_bytes > MOST_VECTOR_BYTES {
            return Err(Errno::AGAIN.into());
        }
        let tid = self.new_tid();
        if flags & flag::PARENT_SETTID != 0 {
            user::write_u32(hart, args.parent_tid, tid)?;
        }
        if flags & flag::CHILD_SETTID != 0 {
            user::write_u32(hart, args.child_tid, tid)?;
        }
        let me = self.me();
        let mut thread = Thread::first(tid, &hart.config);
        thread.number = self.threads.next_number;
        thread.signals.blocked = me.signals.blocked;
        (thread.name, thread.vector_next, thread.tagged) = (me.name, me.vector_next, me.tagged);
        thread.affinity.clone_from(&me.affinity);
        let registers = &mut thread.registers;
        hart.copy_to(registers);
        registers.pc = hart.pc.wrapping_add(4);
        registers.x[10] = 0;
        if args.stack != 0 {
            registers.x[2] = args.stack;
        }
        if flags & flag::SETTLS != 0 {
            registers.x[4] = args.tls;
        }
        if flags & flag::CHILD_CLEARTID != 0 {
            thread.clear_tid = args.child_tid;
        }
        self.threads.next_number += 1;
        self.threads.all.push(Box::new(thread));
        self.begin_turns(hart);
        Ok(u64::from(tid))
    }

    /// An id for a new thread.
    fn new_tid(&mut self) -> u32 {
        if let Some(family) = self.family.filter(|family| !family.has_host_ids()) {
            return family.new_id();
        }
        loop {
            self.last_tid = self.last_tid.wrapping_add(1).max(self.identity.pid + 1) & 0x3fff_ffff;
            if self.threads.index_of(self.last_tid).is_none() {
                return self.last_tid;
            }
        }
    }

    /// `exit(status)`: of this thread.
    pub(super) fn sys_exit(&mut self, hart: &mut Hart, status: i32) -> Served {
        self.leave_thread(hart);
        if self.me().tid == self.identity.pid {
            self.threads.leader_status = Some(status);
        }
        if self.threads.all.len() == 1 {
            // The status of a process is that of its first thread.
            return Err(Stop::End(Verdict::Exit(self.threads.leader_status.unwrap_or(status))));
        }
        self.threads.all.remove(self.threads.current);
        self.threads.current = self.threads.current.min(self.threads.all.len() - 1);
        self.threads.vacant = true;
        Err(Stop::Gone)
    }

    /// What others hear of when the current thread ends: its locks, and its id.
    pub(super) fn leave_thread(&mut self, hart: &mut Hart) {
        self.release_robust_list(hart);
        self.release_pi_locks(hart);
        let clear = std::mem::take(&mut self.me_mut().clear_tid);
        if clear != 0 && user::write_u32(hart, clear, 0).is_ok() {
            self.wake_address(hart, clear, 1);
        }
    }

    /// All other threads are gone: of a new process, or of a program that gives way to another.
    pub(super) fn only_this_thread(&mut self) {
        let threads = &mut self.threads;
        threads.all.swap(0, threads.current);
        threads.all.truncate(1);
        (threads.current, threads.vacant, threads.leader_status) = (0, false, None);
        let me = &mut threads.all[0];
        (me.calling, me.wait, me.suspended) = (false, None, Suspended::default());
    }

    /// `set_tid_address(at)`.
    pub(super) fn sys_set_tid_address(&mut self, at: u64) -> Served {
        self.me_mut().clear_tid = at;
        Ok(u64::from(self.me().tid))
    }

    /// Ids, names and program counters of all threads, and what each waits for.
    #[must_use]
    pub fn threads(&self, hart: &Hart) -> Vec<ThreadInfo> {
        let threads = self.threads.all.iter().map(|thread| &**thread).enumerate();
        let info = |(i, thread): (usize, &Thread)| {
            let on_hart = i == self.threads.current && !self.threads.vacant;
            let len = thread.name.iter().position(|&b| b == 0).unwrap_or(16);
            ThreadInfo {
                tid: thread.tid,
                name: String::from_utf8_lossy(&thread.name[..len]).into_owned(),
                pc: if on_hart { hart.pc } else { thread.registers.pc },
                ra: if on_hart { hart.x[1] } else { thread.registers.x[1] },
                waits_for: thread.wait.as_ref().map(|wait| wait.why.clone()),
            }
        };
        threads.map(info).collect()
    }
}

/// What is known about a thread, for people.
#[derive(Clone, Debug)]
pub struct ThreadInfo {
    /// Its id.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// Its next instruction.
    pub pc: u64,
    /// The address its function returns to.
    pub ra: u64,
    /// What it waits for, if it does.
    pub waits_for: Option<String>,
}
