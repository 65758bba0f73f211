//! Calls of the host that have no safe wrapper elsewhere: starting a process, receiving signals, sockets by
//! the bytes of their addresses and options.
//!
//! This is a room for `unsafe`: each function takes and gives plain values and slices, checks nothing about
//! the guest, and is sound for every argument.

use rustix::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, IntoRawFd, OwnedFd};
use rustix::io::Errno;
use std::ffi::{CStr, CString};
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

/// The result of a call that says -1 and sets `errno` when it fails.
fn check(result: libc::c_long) -> Result<u64, Errno> {
    if result >= 0 {
        return Ok(result as u64);
    }
    let number = std::io::Error::last_os_error().raw_os_error().unwrap_or(libc::EINVAL);
    Err(Errno::from_raw_os_error(number))
}

/// Which of two processes this is, after [`fork`].
pub enum Forked {
    /// The new one, and where it hears of signals ([`begin_receiving`]).
    Child(Result<OwnedFd, Errno>),
    /// The old one, and the id of the new.
    Parent(i32),
}

/// Makes a copy of this process, in new namespaces if any are named (`CLONE_NEW*`).
///
/// # Errors
/// `EAGAIN` if this process has other threads: what they were about to do would stay half done in the copy.
pub fn fork(namespaces: u64) -> Result<Forked, Errno> {
    let threads = std::fs::read_dir("/proc/self/task").map_or(2, Iterator::count);
    if threads != 1 {
        return Err(Errno::AGAIN);
    }
    // What is sent to the copy before it has a queue of its own must wait for that, and must not ring the
    // bell of the original.
    // SAFETY: sets of signals are plain values. With one thread no lock is held by another, and the copy is
    // as consistent as the original.
    unsafe {
        let mut most = std::mem::zeroed::<libc::sigset_t>();
        let mut before = std::mem::zeroed::<libc::sigset_t>();
        libc::sigfillset(&mut most);
        libc::sigdelset(&mut most, libc::SIGSEGV);
        libc::sigdelset(&mut most, libc::SIGBUS);
        libc::sigprocmask(libc::SIG_BLOCK, &most, &mut before);
        let copied = match namespaces {
            0 => libc::c_long::from(libc::fork()),
            // Without a stack of its own the copy goes on on a copy of this one.
            flags => libc::syscall(libc::SYS_clone, flags | libc::SIGCHLD as u64, 0, 0, 0, 0),
        };
        let forked = check(copied).map(|pid| match pid {
            0 => Forked::Child(begin_receiving()),
            pid => Forked::Parent(pid as i32),
        });
        libc::sigprocmask(libc::SIG_SETMASK, &before, std::ptr::null_mut());
        forked
    }
}

/// The descriptors that this process was started with, besides the standard streams: all that a new program
/// would inherit, since none that is opened here is to be inherited. They are the caller's from now on.
pub fn inherited_files() -> Vec<(OwnedFd, i32)> {
    let Ok(folder) = std::fs::read_dir("/proc/self/fd") else { return Vec::new() };
    let numbers = folder.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let numbers: Vec<i32> = numbers.filter(|number| *number > 2).collect();
    let mut files = Vec::new();
    for number in numbers {
        // SAFETY: passes numbers. A descriptor that is open and is inherited has no owner here: everything
        // that this process opens closes on exec, and so does this one from now on.
        unsafe {
            let flags = libc::fcntl(number, libc::F_GETFD);
            if flags >= 0 && flags & libc::FD_CLOEXEC == 0 {
                libc::fcntl(number, libc::F_SETFD, flags | libc::FD_CLOEXEC);
                files.push((OwnedFd::from_raw_fd(number), number));
            }
        }
    }
    files
}

/// A program of the host with its arguments and environment.
pub struct Program {
    path: CString,
    args: Vec<CString>,
    env: Vec<CString>,
}

impl Program {
    /// From strings without zeroes.
    pub fn new(path: &[u8], args: &[Vec<u8>], env: &[Vec<u8>]) -> Option<Self> {
        let all = |strings: &[Vec<u8>]| strings.iter().map(|s| CString::new(s.as_slice())).collect();
        let (Ok(path), Ok(args), Ok(env)) = (CString::new(path), all(args), all(env)) else { return None };
        Some(Program { path, args, env })
    }
}

/// Puts files where a program of the host is to find them, and leaves it no other: each pair is a descriptor
/// and its number.
pub fn place_files(files: Vec<(OwnedFd, i32)>) {
    let end = files.iter().map(|(_, number)| *number + 1).max().unwrap_or(0).max(3);
    // SAFETY: passes numbers. All descriptors of this process are of no use to it any more: it is about to
    // become another program, for which all that are not placed here close.
    unsafe {
        let above: Vec<(i32, i32)> = files
            .into_iter()
            .map(|(fd, number)| (libc::fcntl(fd.into_raw_fd(), libc::F_DUPFD_CLOEXEC, end), number))
            .collect();
        libc::syscall(libc::SYS_close_range, 0, end - 1, 0);
        for (fd, number) in above {
            libc::dup2(fd, number);
        }
    }
}

/// Becomes a program of the host; ends if that cannot be.
pub fn run(program: &Program) -> ! {
    let list = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect()
    };
    let (args, env) = (list(&program.args), list(&program.env));
    // SAFETY: strings and lists live until the call, and the lists end with null pointers.
    unsafe { libc::execve(program.path.as_ptr(), args.as_ptr(), env.as_ptr()) };
    exit(127)
}

/// Blocks these signals, and no others: bit 0 is signal 1.
pub fn block_only(signals: u64) {
    // SAFETY: the kernel reads the eight bytes of its set.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_SETMASK, &raw const signals, 0, 8) };
}

/// Does something while a signal is blocked.
pub fn without_signal<T>(signal: i32, work: impl FnOnce() -> T) -> T {
    let (set, mut before) = (1u64 << (signal - 1), 0u64);
    // SAFETY: the kernel reads and writes the eight bytes of its sets.
    unsafe { libc::syscall(libc::SYS_rt_sigprocmask, libc::SIG_BLOCK, &raw const set, &raw mut before, 8) };
    let done = work();
    block_only(before);
    done
}

/// What a clock shows, in nanoseconds, if there is such a clock: of a process by its id, for one.
pub fn clock(id: i32) -> Option<u64> {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes the structure.
    let told = unsafe { libc::clock_gettime(id, &mut time) };
    (told == 0).then(|| (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64))
}

/// Ends the process at once.
pub fn exit(status: i32) -> ! {
    // SAFETY: it does not return, and runs nothing of ours.
    unsafe { libc::_exit(status) }
}

/// Ends the process by a signal; by a status, if the signal does not end it.
pub fn end_by_signal(signal: i32) -> ! {
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the dump of this emulator would tell nobody about the guest; then the signal has its default
    // effect, whatever was set before.
    unsafe {
        libc::setrlimit(libc::RLIMIT_CORE, &none);
        libc::signal(signal, libc::SIG_DFL);
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal);
        libc::sigprocmask(libc::SIG_UNBLOCK, &set, std::ptr::null_mut());
        libc::raise(signal);
    }
    exit(128 + signal)
}

/// Stops the process by a signal that does so; returns when somebody continues it.
pub fn stop(signal: i32) {
    dispose(signal, Disposition::Default);
    // SAFETY: the signal has its default effect.
    unsafe { libc::raise(signal) };
}

/// A signal that came from the host.
#[derive(Clone, Copy, Default)]
pub struct Received {
    /// Its number.
    pub signal: i32,
    /// `si_code`.
    pub code: i32,
    /// The sixteen bytes from `si_pid` on.
    pub detail: [u64; 2],
}

const PLACES: usize = 256;

/// The queue of received signals. The handler writes, and only the thread it interrupts reads.
struct Queue {
    /// Signals put in so far, and taken out.
    put: AtomicU64,
    taken: AtomicU64,
    /// Number and code, and the two words of detail.
    places: [[AtomicU64; 3]; PLACES],
}

static QUEUE: Queue = Queue {
    put: AtomicU64::new(0),
    taken: AtomicU64::new(0),
    places: [const { [const { AtomicU64::new(0) }; 3] }; PLACES],
};
/// The descriptor that is made readable when a signal comes; -1 for none.
static BELL: AtomicI32 = AtomicI32::new(-1);

extern "C" fn on_signal(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the kernel passes a siginfo of 128 bytes; the words from offset 16 on are those of the union.
    let (code, detail) = unsafe {
        let words = info.cast::<u64>();
        ((*info).si_code, [words.add(2).read_unaligned(), words.add(3).read_unaligned()])
    };
    let put = QUEUE.put.load(Ordering::Relaxed);
    let waiting = put.wrapping_sub(QUEUE.taken.load(Ordering::Relaxed));
    if waiting >= PLACES as u64 {
        return;
    }
    if waiting > 0 && matches!(signal, libc::SIGINT | libc::SIGTERM | libc::SIGQUIT) {
        let same = |k: u64| {
            QUEUE.places[(put.wrapping_sub(k) % PLACES as u64) as usize][0].load(Ordering::Relaxed) as u32
                == signal as u32
        };
        // Somebody asks twice, and the first was not even heard.
        if (1..=waiting).filter(|&k| same(k)).count() >= 2 {
            exit(128 + signal);
        }
    }
    let place = &QUEUE.places[(put % PLACES as u64) as usize];
    place[0].store(u64::from(signal as u32) | u64::from(code as u32) << 32, Ordering::Relaxed);
    place[1].store(detail[0], Ordering::Relaxed);
    place[2].store(detail[1], Ordering::Relaxed);
    QUEUE.put.store(put.wrapping_add(1), Ordering::Release);
    let bell = BELL.load(Ordering::Relaxed);
    if bell >= 0 {
        let one = 1_u64;
        // SAFETY: writes eight bytes of this frame; `errno` is as before afterwards.
        unsafe {
            let errno = *libc::__errno_location();
            libc::write(bell, (&raw const one).cast(), 8);
            *libc::__errno_location() = errno;
        }
    }
}

/// What the host does with a signal.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Disposition {
    /// Whatever is usual.
    Default,
    /// Nothing.
    Ignore,
    /// It is queued for the guest.
    Receive,
    /// Likewise, and children that end leave nothing to wait for.
    ReceiveWithoutZombies,
}

/// Sets what the host does with a signal.
pub fn dispose(signal: i32, how: Disposition) {
    // SAFETY: an all-zero sigaction is one; the handler does only what is allowed in one, and blocks all
    // others while it runs.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        libc::sigfillset(&mut action.sa_mask);
        match how {
            Disposition::Default => action.sa_sigaction = libc::SIG_DFL,
            Disposition::Ignore => action.sa_sigaction = libc::SIG_IGN,
            Disposition::Receive | Disposition::ReceiveWithoutZombies => {
                let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_signal;
                action.sa_sigaction = handler as libc::sighandler_t;
                action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
                if how == Disposition::ReceiveWithoutZombies {
                    action.sa_flags |= libc::SA_NOCLDWAIT;
                }
            }
        }
        libc::sigaction(signal, &action, std::ptr::null_mut());
    }
}

/// Whether a signal is ignored by this process now.
pub fn is_ignored(signal: i32) -> bool {
    // SAFETY: asks only.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}

/// From now on signals of the host that [`dispose`] says so are queued, and make the returned descriptor
/// readable.
///
/// # Errors
/// When the host has no descriptor left.
pub fn begin_receiving() -> Result<OwnedFd, Errno> {
    let flags = rustix::event::EventfdFlags::CLOEXEC | rustix::event::EventfdFlags::NONBLOCK;
    let bell = rustix::event::eventfd(0, flags)?;
    BELL.store(bell.as_raw_fd(), Ordering::Relaxed);
    QUEUE.taken.store(QUEUE.put.load(Ordering::Relaxed), Ordering::Relaxed);
    Ok(bell)
}

/// Whether a signal of the host waits to be taken.
#[inline]
pub fn has_received() -> bool {
    QUEUE.put.load(Ordering::Relaxed) != QUEUE.taken.load(Ordering::Relaxed)
}

/// The bell has rung, and there is nothing to take.
pub fn silence(bell: &OwnedFd) {
    let _ = rustix::io::read(bell, &mut [0; 8]);
}

/// Takes the next signal of the host.
pub fn take_received(bell: &OwnedFd) -> Option<Received> {
    let taken = QUEUE.taken.load(Ordering::Relaxed);
    if QUEUE.put.load(Ordering::Acquire) == taken {
        return None;
    }
    let _ = rustix::io::read(bell, &mut [0; 8]);
    let [first, low, high] = &QUEUE.places[(taken % PLACES as u64) as usize];
    let first = first.load(Ordering::Relaxed);
    let detail = [low.load(Ordering::Relaxed), high.load(Ordering::Relaxed)];
    QUEUE.taken.store(taken.wrapping_add(1), Ordering::Release);
    Some(Received { signal: first as u32 as i32, code: (first >> 32) as u32 as i32, detail })
}

/// Sends a signal to a process, or to a group if `pid` is not positive.
pub fn kill(pid: i32, signal: i32) -> Result<(), Errno> {
    // SAFETY: passes numbers.
    check(libc::c_long::from(unsafe { libc::kill(pid, signal) })).map(|_| ())
}

/// Sends a signal with a value.
pub fn queue_signal(pid: i32, received: &Received) -> Result<(), Errno> {
    let mut info = [0_u64; 16];
    info[0] = u64::from(received.signal as u32);
    info[1] = u64::from(received.code as u32);
    (info[2], info[3]) = (received.detail[0], received.detail[1]);
    // SAFETY: a siginfo of 128 bytes, which the kernel reads.
    check(unsafe { libc::syscall(libc::SYS_rt_sigqueueinfo, pid, received.signal, info.as_ptr()) })
        .map(|_| ())
}

/// What became of a child.
#[derive(Clone, Copy)]
pub struct Waited {
    /// Its id.
    pub pid: i32,
    /// `CLD_*`.
    pub code: i32,
    /// Its status, or the signal.
    pub status: i32,
    /// What it used: `struct rusage`.
    pub usage: [u64; 18],
}

/// `waitid`, which must be told not to wait; `None` if no child has changed.
pub fn wait_for_child(kind: u32, id: u32, options: i32) -> Result<Option<Waited>, Errno> {
    let mut info = [0_u64; 16];
    let mut usage = [0_u64; 18];
    // SAFETY: a siginfo of 128 bytes and a rusage of 144, which the kernel writes.
    let result = unsafe {
        let options = options | libc::WNOHANG;
        libc::syscall(libc::SYS_waitid, kind, id, info.as_mut_ptr(), options, usage.as_mut_ptr())
    };
    check(result)?;
    // si_signo, si_errno, si_code; si_pid, si_uid, si_status.
    let (code, pid, status) = (info[1] as i32, info[2] as i32, info[3] as i32);
    Ok((pid != 0).then_some(Waited { pid, code, status, usage }))
}

/// The numbers that riscv64 has for the calls of [`set_ids`].
pub const SETREGID: u64 = 143;
/// See [`SETREGID`].
pub const SETGID: u64 = 144;
/// See [`SETREGID`].
pub const SETREUID: u64 = 145;
/// See [`SETREGID`].
pub const SETUID: u64 = 146;
/// See [`SETREGID`].
pub const SETRESUID: u64 = 147;
/// See [`SETREGID`].
pub const SETRESGID: u64 = 149;
/// See [`SETREGID`].
pub const SETFSUID: u64 = 151;
/// See [`SETREGID`].
pub const SETFSGID: u64 = 152;

/// Changes who this process is, by the guest's number of a call. It can still read what `/proc` says of it.
pub fn set_ids(number: u64, [a, b, c, ..]: [u32; 6]) -> Result<u64, Errno> {
    let call = match number {
        SETREGID => libc::SYS_setregid,
        SETGID => libc::SYS_setgid,
        SETREUID => libc::SYS_setreuid,
        SETUID => libc::SYS_setuid,
        SETRESUID => libc::SYS_setresuid,
        SETRESGID => libc::SYS_setresgid,
        SETFSUID => libc::SYS_setfsuid,
        SETFSGID => libc::SYS_setfsgid,
        _ => return Err(Errno::INVAL),
    };
    // SAFETY: passes numbers. The calls of the kernel are about one thread, and there is no other.
    unsafe {
        let result = check(libc::syscall(call, a, b, c));
        libc::prctl(libc::PR_SET_DUMPABLE, 1);
        result
    }
}

/// Real, effective and saved user, or group.
pub fn saved_ids(of_group: bool) -> Result<[u32; 3], Errno> {
    let mut ids = [0; 3];
    let [a, b, c] = &mut ids;
    // SAFETY: the kernel writes three numbers.
    let result = unsafe { if of_group { libc::getresgid(a, b, c) } else { libc::getresuid(a, b, c) } };
    check(libc::c_long::from(result)).map(|_| ids)
}

/// The supplementary groups.
pub fn groups() -> Result<Vec<u32>, Errno> {
    let mut groups = vec![0; 1 << 16];
    // SAFETY: the kernel writes no more than there is room for, which is all it can have.
    let count =
        check(libc::c_long::from(unsafe { libc::getgroups(groups.len() as i32, groups.as_mut_ptr()) }))?;
    groups.truncate(count as usize);
    Ok(groups)
}

/// Sets the supplementary groups.
pub fn set_groups(groups: &[u32]) -> Result<u64, Errno> {
    // SAFETY: the kernel reads the list.
    check(unsafe { libc::syscall(libc::SYS_setgroups, groups.len(), groups.as_ptr()) })
}

/// `capget` or `capset` with the structures of version 3.
pub fn capabilities(sets: bool, pid: u32, data: &mut [u8; 24]) -> Result<u64, Errno> {
    let header = [0x2008_0522_u32, pid];
    let call = if sets { libc::SYS_capset } else { libc::SYS_capget };
    // SAFETY: the kernel reads eight bytes of one and reads or writes 24 of the other.
    check(unsafe { libc::syscall(call, header.as_ptr(), data.as_mut_ptr()) })
}

/// Sets a limit if `new` says one; what it was, soft and hard.
pub fn limit(resource: u32, new: Option<(u64, u64)>) -> Result<(u64, u64), Errno> {
    let new = new.map(|(soft, hard)| [soft, hard]);
    let new_at = new.as_ref().map_or(std::ptr::null(), |new| new.as_ptr());
    let mut old = [0_u64; 2];
    // SAFETY: the kernel reads sixteen bytes, or none, and writes sixteen.
    check(unsafe { libc::syscall(libc::SYS_prlimit64, 0, resource, new_at, old.as_mut_ptr()) })?;
    Ok((old[0], old[1]))
}

/// What this process has used, or its children.
pub fn usage(who: i32) -> Result<[u8; 144], Errno> {
    let mut usage = [0; 144];
    // SAFETY: the kernel writes the 144 bytes of a rusage.
    check(unsafe { libc::syscall(libc::SYS_getrusage, who, usage.as_mut_ptr()) })?;
    Ok(usage)
}

/// Sets a priority, or says it as the kernel does: 20 less the priority.
pub fn priority(which: i32, who: i32, new: Option<i32>) -> Result<u64, Errno> {
    // SAFETY: passes numbers.
    check(unsafe {
        match new {
            Some(new) => libc::syscall(libc::SYS_setpriority, which, who, new),
            None => libc::syscall(libc::SYS_getpriority, which, who),
        }
    })
}

/// The same of priorities for disks.
pub fn io_priority(which: i32, who: i32, new: Option<i32>) -> Result<u64, Errno> {
    // SAFETY: passes numbers.
    check(unsafe {
        match new {
            Some(new) => libc::syscall(libc::SYS_ioprio_set, which, who, new),
            None => libc::syscall(libc::SYS_ioprio_get, which, who),
        }
    })
}

/// `prctl` with an option whose arguments are numbers.
pub fn say(option: u64, args: [u64; 6]) -> Result<u64, Errno> {
    let [_, a, b, c, d, _] = args;
    // SAFETY: callers name options whose arguments the kernel takes as numbers.
    check(libc::c_long::from(unsafe { libc::prctl(option as i32, a, b, c, d) }))
}

/// Names this process.
pub fn set_name(name: &[u8]) {
    let mut copy = [0_u8; 16];
    let len = name.len().min(15);
    copy[..len].copy_from_slice(&name[..len]);
    // SAFETY: the kernel reads a string of at most sixteen bytes.
    unsafe { libc::prctl(libc::PR_SET_NAME, copy.as_ptr()) };
}

/// `setpgid`, `getpgid`, `getsid`, `setsid`.
pub mod group {
    use super::{Errno, check};

    /// Puts a process into a group.
    pub fn set(pid: i32, group: i32) -> Result<(), Errno> {
        // SAFETY: passes numbers, as do the others here.
        check(libc::c_long::from(unsafe { libc::setpgid(pid, group) })).map(|_| ())
    }

    /// The group of a process.
    pub fn get(pid: i32) -> Result<u64, Errno> {
        // SAFETY: as above.
        check(libc::c_long::from(unsafe { libc::getpgid(pid) }))
    }

    /// The session of a process.
    pub fn session(pid: i32) -> Result<u64, Errno> {
        // SAFETY: as above.
        check(libc::c_long::from(unsafe { libc::getsid(pid) }))
    }

    /// Begins a session.
    pub fn begin_session() -> Result<u64, Errno> {
        // SAFETY: as above.
        check(libc::c_long::from(unsafe { libc::setsid() }))
    }
}

/// `fcntl` with a `struct flock`, which is the same on all 64-bit machines.
pub fn lock(fd: impl AsFd, command: i32, lock: &mut [u8; 32]) -> Result<(), Errno> {
    // SAFETY: the kernel reads and writes the 32 bytes of the structure.
    let result = unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), command, lock.as_mut_ptr()) };
    check(libc::c_long::from(result)).map(|_| ())
}

/// An `ioctl` whose argument is so many bytes, which the kernel reads, writes or both.
pub fn ioctl<const N: usize>(fd: impl AsFd, request: u64, argument: &mut [u8; N]) -> Result<u64, Errno> {
    // SAFETY: callers name requests whose argument has N bytes at most, and no pointers.
    let result = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), request, argument.as_mut_ptr()) };
    check(libc::c_long::from(result))
}

/// `SIOCGIFCONF`; how many bytes of the list there are, or would be if there is no room at all.
pub fn interfaces(fd: impl AsFd, list: &mut [u8]) -> Result<usize, Errno> {
    let at = if list.is_empty() { std::ptr::null_mut() } else { list.as_mut_ptr() };
    let mut request = libc::ifconf {
        ifc_len: list.len() as i32,
        ifc_ifcu: libc::__c_anonymous_ifc_ifcu { ifcu_buf: at.cast() },
    };
    // SAFETY: the kernel writes no more than the list has, and its length.
    let result = unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), libc::SIOCGIFCONF, &raw mut request) };
    check(libc::c_long::from(result))?;
    Ok(request.ifc_len as usize)
}

/// An `ioctl` whose argument is a number, or that has none.
pub fn ioctl_number(fd: impl AsFd, request: u64, argument: u64) -> Result<u64, Errno> {
    // SAFETY: callers name requests whose argument the kernel takes as a number.
    check(libc::c_long::from(unsafe { libc::ioctl(fd.as_fd().as_raw_fd(), request, argument) }))
}

/// `fcntl` with a number.
pub fn file_control(fd: impl AsFd, command: i32, argument: i32) -> Result<u64, Errno> {
    // SAFETY: callers name commands whose argument the kernel takes as a number.
    check(libc::c_long::from(unsafe { libc::fcntl(fd.as_fd().as_raw_fd(), command, argument) }))
}

/// `umount2`.
pub fn unmount(target: &CStr, flags: i32) -> Result<u64, Errno> {
    // SAFETY: passes a string and a number.
    check(libc::c_long::from(unsafe { libc::umount2(target.as_ptr(), flags) }))
}

/// `mount` with source, target, type and options.
pub fn mount(texts: [Option<&CStr>; 4], flags: u64) -> Result<u64, Errno> {
    let [source, target, kind, options] = texts.map(|text| text.map_or(std::ptr::null(), CStr::as_ptr));
    // SAFETY: passes strings, or null pointers, and a number. The kernel reads a page of the options at most,
    // and no further than it can.
    check(libc::c_long::from(unsafe { libc::mount(source, target, kind, flags, options.cast()) }))
}

/// `pivot_root`.
pub fn pivot_root(new: &CStr, old: &CStr) -> Result<u64, Errno> {
    // SAFETY: passes strings.
    check(unsafe { libc::syscall(libc::SYS_pivot_root, new.as_ptr(), old.as_ptr()) })
}

/// `unshare`, of namespaces.
pub fn unshare(flags: i32) -> Result<u64, Errno> {
    // SAFETY: passes a number.
    check(libc::c_long::from(unsafe { libc::unshare(flags) }))
}

/// `setns`.
pub fn enter_namespace(fd: impl AsFd, kind: i32) -> Result<u64, Errno> {
    // SAFETY: passes numbers.
    check(libc::c_long::from(unsafe { libc::setns(fd.as_fd().as_raw_fd(), kind) }))
}

/// `clock_settime`.
pub fn set_clock(clock: i32, seconds: u64, nanos: u64) -> Result<u64, Errno> {
    let time = [seconds, nanos];
    // SAFETY: the kernel reads a timespec of sixteen bytes.
    check(unsafe { libc::syscall(libc::SYS_clock_settime, clock, time.as_ptr()) })
}

/// `clock_adjtime` with a `struct timex`, which is the same on all 64-bit machines.
pub fn adjust_clock(clock: i32, timex: &mut [u8; 208]) -> Result<u64, Errno> {
    // SAFETY: the kernel reads and writes the 208 bytes of the structure.
    check(unsafe { libc::syscall(libc::SYS_clock_adjtime, clock, timex.as_mut_ptr()) })
}

/// `syslog`.
pub fn kernel_log(action: i32, buffer: &mut [u8]) -> Result<u64, Errno> {
    // SAFETY: the kernel writes no more than the buffer has.
    check(unsafe { libc::syscall(libc::SYS_syslog, action, buffer.as_mut_ptr(), buffer.len() as i32) })
}

/// `sethostname`, `setdomainname`.
pub fn set_machine_name(name: &[u8], domain: bool) -> Result<u64, Errno> {
    let call = if domain { libc::SYS_setdomainname } else { libc::SYS_sethostname };
    // SAFETY: the kernel reads as many bytes as there are.
    check(unsafe { libc::syscall(call, name.as_ptr(), name.len()) })
}

/// POSIX message queues.
pub mod queue {
    use super::{AsFd, AsRawFd, CStr, Errno, FromRawFd, OwnedFd, check};

    /// `mq_open`, with the eight words of the attributes.
    pub fn open(name: &CStr, flags: i32, mode: u32, attributes: Option<[u64; 8]>) -> Result<OwnedFd, Errno> {
        let at = attributes.as_ref().map_or(std::ptr::null(), |a| a.as_ptr());
        // SAFETY: the kernel reads a string and 64 bytes, or none; what it answers is a new descriptor.
        unsafe {
            let flags = flags | libc::O_CLOEXEC;
            let fd = check(libc::syscall(libc::SYS_mq_open, name.as_ptr(), flags, mode, at))?;
            Ok(OwnedFd::from_raw_fd(fd as i32))
        }
    }

    /// `mq_unlink`.
    pub fn unlink(name: &CStr) -> Result<u64, Errno> {
        // SAFETY: passes a string.
        check(unsafe { libc::syscall(libc::SYS_mq_unlink, name.as_ptr()) })
    }

    /// `mq_timedsend`, to a queue that never waits.
    pub fn send(fd: impl AsFd, message: &[u8], priority: u32) -> Result<u64, Errno> {
        let (fd, none) = (fd.as_fd().as_raw_fd(), std::ptr::null::<u8>());
        // SAFETY: the kernel reads the message.
        check(unsafe {
            libc::syscall(libc::SYS_mq_timedsend, fd, message.as_ptr(), message.len(), priority, none)
        })
    }

    /// `mq_timedreceive`; bytes and priority.
    pub fn receive(fd: impl AsFd, message: &mut [u8]) -> Result<(usize, u32), Errno> {
        let (fd, none, len) = (fd.as_fd().as_raw_fd(), std::ptr::null::<u8>(), message.len());
        let mut priority = 0_u32;
        // SAFETY: the kernel writes no more than there is room for, and a number.
        let n = check(unsafe {
            let at = message.as_mut_ptr();
            libc::syscall(libc::SYS_mq_timedreceive, fd, at, len, &raw mut priority, none)
        })?;
        Ok((n as usize, priority))
    }

    /// `mq_notify` by a signal with a value, by nothing if the signal is 0, or not any more.
    pub fn notify(fd: impl AsFd, how: Option<(u64, i32)>) -> Result<u64, Errno> {
        let none = u64::from(libc::SIGEV_NONE as u32) << 32;
        let mut event = [0_u64; 8];
        if let Some((value, signal)) = how {
            event[0] = value;
            event[1] = if signal == 0 { none } else { u64::from(signal as u32) };
        }
        let at = if how.is_some() { event.as_ptr() } else { std::ptr::null() };
        // SAFETY: the kernel reads the 64 bytes of a sigevent, or none.
        check(unsafe { libc::syscall(libc::SYS_mq_notify, fd.as_fd().as_raw_fd(), at) })
    }

    /// The attributes.
    pub fn attributes(fd: impl AsFd) -> Result<[u64; 8], Errno> {
        let mut words = [0_u64; 8];
        let none = std::ptr::null::<u8>();
        // SAFETY: the kernel writes 64 bytes.
        check(unsafe {
            libc::syscall(libc::SYS_mq_getsetattr, fd.as_fd().as_raw_fd(), none, words.as_mut_ptr())
        })?;
        Ok(words)
    }
}

/// System V semaphores, message queues and shared memory.
pub mod ipc {
    use super::{Errno, check};
    use crate::mem::{PAGE, SharedPage};

    fn done(result: i32) -> Result<(), Errno> {
        check(libc::c_long::from(result)).map(|_| ())
    }

    /// `semget`.
    pub fn get_semaphores(key: i32, count: i32, flags: i32) -> Result<u64, Errno> {
        // SAFETY: passes numbers, as do the others that say nothing else.
        check(libc::c_long::from(unsafe { libc::semget(key, count, flags) }))
    }

    /// `semop`, whose operations must be told not to wait.
    pub fn operate(id: i32, operations: &mut [libc::sembuf]) -> Result<(), Errno> {
        // SAFETY: the kernel reads the list.
        done(unsafe { libc::semop(id, operations.as_mut_ptr(), operations.len()) })
    }

    /// `semctl` with a number.
    pub fn control_semaphore(id: i32, number: i32, command: i32, value: i32) -> Result<u64, Errno> {
        // SAFETY: callers name commands whose argument is a number or that have none.
        check(libc::c_long::from(unsafe { libc::semctl(id, number, command, value) }))
    }

    /// `GETALL` and `SETALL`, with a value for each semaphore.
    pub fn all_semaphores(id: i32, command: i32, values: &mut Vec<u16>) -> Result<(), Errno> {
        // Somebody may put another set in the place of the one that was asked for: there is room for any.
        values.resize(values.len().max(1 << 16), 0);
        // SAFETY: the kernel reads or writes a value for each semaphore of a set, of which there are no more.
        done(unsafe { libc::semctl(id, 0, command, values.as_mut_ptr()) })
    }

    /// `IPC_STAT` of semaphores.
    pub fn stat_semaphores(id: i32) -> Result<libc::semid_ds, Errno> {
        // SAFETY: all zeroes are a value, which the kernel overwrites; so in the others.
        unsafe {
            let mut stat = std::mem::zeroed::<libc::semid_ds>();
            done(libc::semctl(id, 0, libc::IPC_STAT, &raw mut stat)).map(|()| stat)
        }
    }

    /// `IPC_SET` of semaphores.
    pub fn set_semaphores(id: i32, stat: &mut libc::semid_ds) -> Result<(), Errno> {
        // SAFETY: the kernel reads it; so in the others.
        done(unsafe { libc::semctl(id, 0, libc::IPC_SET, std::ptr::from_mut(stat)) })
    }

    /// `msgget`.
    pub fn get_queue(key: i32, flags: i32) -> Result<u64, Errno> {
        // SAFETY: passes numbers.
        check(libc::c_long::from(unsafe { libc::msgget(key, flags) }))
    }

    /// `msgsnd` of a message that begins with the eight bytes of its kind.
    pub fn send(id: i32, message: &[u8], flags: i32) -> Result<(), Errno> {
        let size = message.len().checked_sub(8).ok_or(Errno::INVAL)?;
        // SAFETY: the kernel reads eight bytes and `size` more.
        done(unsafe { libc::msgsnd(id, message.as_ptr().cast(), size, flags) })
    }

    /// `msgrcv`; the bytes that came after the eight of the kind.
    pub fn receive(id: i32, message: &mut [u8], kind: i64, flags: i32) -> Result<usize, Errno> {
        let size = message.len().checked_sub(8).ok_or(Errno::INVAL)?;
        // SAFETY: the kernel writes eight bytes and at most `size` more.
        let received = unsafe { libc::msgrcv(id, message.as_mut_ptr().cast(), size, kind, flags) };
        check(received as libc::c_long).map(|len| len as usize)
    }

    /// `IPC_RMID` of a queue.
    pub fn remove_queue(id: i32) -> Result<(), Errno> {
        // SAFETY: this command has no argument.
        done(unsafe { libc::msgctl(id, libc::IPC_RMID, std::ptr::null_mut()) })
    }

    /// `IPC_STAT` of a queue.
    pub fn stat_queue(id: i32) -> Result<libc::msqid_ds, Errno> {
        // SAFETY: as above.
        unsafe {
            let mut stat = std::mem::zeroed::<libc::msqid_ds>();
            done(libc::msgctl(id, libc::IPC_STAT, &raw mut stat)).map(|()| stat)
        }
    }

    /// `IPC_SET` of a queue.
    pub fn set_queue(id: i32, stat: &mut libc::msqid_ds) -> Result<(), Errno> {
        // SAFETY: as above.
        done(unsafe { libc::msgctl(id, libc::IPC_SET, stat) })
    }

    /// `shmget`.
    pub fn get_memory(key: i32, size: u64, flags: i32) -> Result<u64, Errno> {
        // SAFETY: passes numbers.
        check(libc::c_long::from(unsafe { libc::shmget(key, size as usize, flags) }))
    }

    /// `IPC_RMID` of shared memory.
    pub fn remove_memory(id: i32) -> Result<(), Errno> {
        // SAFETY: this command has no argument.
        done(unsafe { libc::shmctl(id, libc::IPC_RMID, std::ptr::null_mut()) })
    }

    /// `IPC_STAT` of shared memory.
    pub fn stat_memory(id: i32) -> Result<libc::shmid_ds, Errno> {
        // SAFETY: as above.
        unsafe {
            let mut stat = std::mem::zeroed::<libc::shmid_ds>();
            done(libc::shmctl(id, libc::IPC_STAT, &raw mut stat)).map(|()| stat)
        }
    }

    /// `IPC_SET` of shared memory.
    pub fn set_memory(id: i32, stat: &mut libc::shmid_ds) -> Result<(), Errno> {
        // SAFETY: as above.
        done(unsafe { libc::shmctl(id, libc::IPC_SET, stat) })
    }

    /// Shared memory that is attached, somewhere in the address space of the host.
    pub struct Segment {
        address: usize,
        len: usize,
    }

    impl Segment {
        /// `shmat`.
        pub fn attach(id: i32, writable: bool) -> Result<Self, Errno> {
            let len = stat_memory(id)?.shm_segsz;
            let flags = if writable { 0 } else { libc::SHM_RDONLY };
            // SAFETY: the host chooses an address where nothing is.
            let address = unsafe { libc::shmat(id, std::ptr::null(), flags) };
            check(address as libc::c_long)?;
            let mut segment = Segment { address: address as usize, len };
            // The id may mean another one now, which is shorter.
            segment.len = segment.len.min(stat_memory(id)?.shm_segsz);
            Ok(segment)
        }

        /// How many bytes it has.
        pub fn size(&self) -> usize {
            self.len
        }

        /// The page at an offset, if it is there.
        pub fn page(&self, offset: u64) -> Option<SharedPage> {
            let offset = usize::try_from(offset).ok().filter(|at| *at < self.len)?;
            // SAFETY: the page is mapped shared as long as this is.
            offset.is_multiple_of(PAGE as usize).then(|| unsafe { SharedPage::new(self.address + offset) })
        }
    }

    impl Drop for Segment {
        fn drop(&mut self) {
            // SAFETY: nothing refers to it by this address any more.
            unsafe { libc::shmdt(self.address as *const libc::c_void) };
        }
    }
}

/// Sockets.
pub mod socket {
    use super::{AsFd, AsRawFd, BorrowedFd, Errno, FromRawFd, OwnedFd, check};

    /// The longest address.
    pub const LONGEST_ADDRESS: usize = 128;

    fn owned(fd: u64) -> OwnedFd {
        // SAFETY: the kernel has just given this descriptor to us.
        unsafe { OwnedFd::from_raw_fd(fd as i32) }
    }

    const FLAGS: i32 = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;

    /// `socket`.
    pub fn new(domain: i32, kind: i32, protocol: i32) -> Result<OwnedFd, Errno> {
        // SAFETY: passes numbers.
        check(libc::c_long::from(unsafe { libc::socket(domain, kind | FLAGS, protocol) })).map(owned)
    }

    /// `socketpair`.
    pub fn pair(domain: i32, kind: i32, protocol: i32) -> Result<[OwnedFd; 2], Errno> {
        let mut fds = [0; 2];
        // SAFETY: the kernel writes two descriptors.
        let result = unsafe { libc::socketpair(domain, kind | FLAGS, protocol, fds.as_mut_ptr()) };
        check(libc::c_long::from(result))?;
        Ok(fds.map(|fd| owned(fd as u64)))
    }

    /// `bind`.
    pub fn bind(fd: BorrowedFd, address: &[u8]) -> Result<(), Errno> {
        // SAFETY: the kernel reads as many bytes as there are; so in the others.
        let result = unsafe { libc::bind(fd.as_raw_fd(), address.as_ptr().cast(), address.len() as u32) };
        check(libc::c_long::from(result)).map(|_| ())
    }

    /// `connect`.
    pub fn connect(fd: BorrowedFd, address: &[u8]) -> Result<(), Errno> {
        // SAFETY: as above.
        let result = unsafe { libc::connect(fd.as_raw_fd(), address.as_ptr().cast(), address.len() as u32) };
        check(libc::c_long::from(result)).map(|_| ())
    }

    /// `listen`.
    pub fn listen(fd: BorrowedFd, backlog: i32) -> Result<(), Errno> {
        // SAFETY: passes numbers.
        check(libc::c_long::from(unsafe { libc::listen(fd.as_raw_fd(), backlog) })).map(|_| ())
    }

    /// `shutdown`.
    pub fn shutdown(fd: BorrowedFd, how: i32) -> Result<(), Errno> {
        // SAFETY: passes numbers.
        check(libc::c_long::from(unsafe { libc::shutdown(fd.as_raw_fd(), how) })).map(|_| ())
    }

    type Asks = unsafe extern "C" fn(i32, *mut libc::sockaddr, *mut libc::socklen_t) -> i32;

    fn address(fd: BorrowedFd, ask: Asks) -> Result<Vec<u8>, Errno> {
        let mut bytes = vec![0; LONGEST_ADDRESS];
        let mut len = LONGEST_ADDRESS as libc::socklen_t;
        // SAFETY: the kernel writes no more than the length says.
        let result = unsafe { ask(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), &mut len) };
        check(libc::c_long::from(result))?;
        bytes.truncate(len as usize);
        Ok(bytes)
    }

    /// `getsockname`.
    pub fn name(fd: BorrowedFd) -> Result<Vec<u8>, Errno> {
        address(fd, libc::getsockname)
    }

    /// `getpeername`.
    pub fn peer(fd: BorrowedFd) -> Result<Vec<u8>, Errno> {
        address(fd, libc::getpeername)
    }

    /// `accept4`.
    pub fn accept(fd: BorrowedFd) -> Result<(OwnedFd, Vec<u8>), Errno> {
        let mut bytes = vec![0; LONGEST_ADDRESS];
        let mut len = LONGEST_ADDRESS as libc::socklen_t;
        // SAFETY: the kernel writes no more than the length says.
        let result = unsafe { libc::accept4(fd.as_raw_fd(), bytes.as_mut_ptr().cast(), &mut len, FLAGS) };
        let accepted = owned(check(libc::c_long::from(result))?);
        bytes.truncate(len as usize);
        Ok((accepted, bytes))
    }

    /// `setsockopt`.
    pub fn set_option(fd: BorrowedFd, level: i32, name: i32, value: &[u8]) -> Result<(), Errno> {
        // SAFETY: the kernel reads as many bytes as there are.
        let result = unsafe {
            libc::setsockopt(
                fd.as_raw_fd(),
                level,
                name,
                value.as_ptr().cast(),
                value.len() as libc::socklen_t,
            )
        };
        check(libc::c_long::from(result)).map(|_| ())
    }

    /// `getsockopt`; how many bytes there are.
    pub fn option(fd: BorrowedFd, level: i32, name: i32, value: &mut [u8]) -> Result<usize, Errno> {
        let mut len = value.len() as libc::socklen_t;
        // SAFETY: the kernel writes no more than the length says.
        let result =
            unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, value.as_mut_ptr().cast(), &mut len) };
        check(libc::c_long::from(result))?;
        Ok(len as usize)
    }

    /// A message: its bytes, its address and what goes with it.
    pub struct Message<'a> {
        /// The bytes.
        pub data: &'a mut [u8],
        /// The address.
        pub address: Vec<u8>,
        /// Control messages, as the kernel lays them out.
        pub control: Vec<u8>,
        /// `MSG_*`, of the answer.
        pub flags: i32,
    }

    fn header(message: &mut Message, part: &mut libc::iovec) -> libc::msghdr {
        *part = libc::iovec { iov_base: message.data.as_mut_ptr().cast(), iov_len: message.data.len() };
        // SAFETY: an all-zero header is one.
        let mut header = unsafe { std::mem::zeroed::<libc::msghdr>() };
        header.msg_iov = part;
        header.msg_iovlen = 1;
        if !message.address.is_empty() {
            header.msg_name = message.address.as_mut_ptr().cast();
            header.msg_namelen = message.address.len() as libc::socklen_t;
        }
        if !message.control.is_empty() {
            header.msg_control = message.control.as_mut_ptr().cast();
            header.msg_controllen = message.control.len();
        }
        header
    }

    /// `sendmsg`, never waiting and without `SIGPIPE`.
    pub fn send(fd: BorrowedFd, mut message: Message, flags: i32) -> Result<usize, Errno> {
        let mut part = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let header = header(&mut message, &mut part);
        // SAFETY: the header names buffers that outlive the call; the kernel reads them.
        let result = unsafe {
            libc::sendmsg(fd.as_raw_fd(), &header, flags | libc::MSG_DONTWAIT | libc::MSG_NOSIGNAL)
        };
        check(result as libc::c_long).map(|n| n as usize)
    }

    /// `recvmsg`, never waiting; address and control messages are as long as they are afterwards.
    pub fn receive(fd: BorrowedFd, message: &mut Message, flags: i32) -> Result<usize, Errno> {
        let mut part = libc::iovec { iov_base: std::ptr::null_mut(), iov_len: 0 };
        let mut header = header(message, &mut part);
        // SAFETY: the header names buffers that outlive the call; the kernel writes no more than they have.
        let result = unsafe {
            let flags = flags | libc::MSG_DONTWAIT | libc::MSG_CMSG_CLOEXEC;
            libc::recvmsg(fd.as_raw_fd(), &mut header, flags)
        };
        let n = check(result as libc::c_long)?;
        message.address.truncate(header.msg_namelen as usize);
        message.control.truncate(header.msg_controllen);
        message.flags = header.msg_flags;
        Ok(n as usize)
    }

    /// Descriptors that came with a message are ours now.
    pub fn adopt(fd: i32) -> Option<OwnedFd> {
        // SAFETY: the kernel has just made this descriptor, in a control message that is read once.
        (fd >= 0).then(|| unsafe { OwnedFd::from_raw_fd(fd) })
    }

    /// Whether a descriptor is a socket.
    pub fn is_one(fd: impl AsFd) -> bool {
        rustix::fs::fstat(fd)
            .is_ok_and(|s| rustix::fs::FileType::from_raw_mode(s.st_mode) == rustix::fs::FileType::Socket)
    }
}

/// Memory that this process and its children have in common: zeroes at first.
pub fn shared_memory<T: SharedWords>() -> Result<&'static T, Errno> {
    let flags = rustix::mm::MapFlags::SHARED;
    let prot = rustix::mm::ProtFlags::READ | rustix::mm::ProtFlags::WRITE;
    // SAFETY: a new mapping, never removed, large enough and aligned; zeroes are a value of `T`, which has
    // atomics only.
    unsafe {
        let at = rustix::mm::mmap_anonymous(std::ptr::null_mut(), size_of::<T>(), prot, flags)?;
        Ok(&*at.cast::<T>())
    }
}

/// Structures of atomics only, for which all zeroes are a value.
///
/// # Safety
/// It must be so.
pub unsafe trait SharedWords: Sync + 'static {}

// SAFETY: atomics only, which may be zero.
unsafe impl SharedWords for super::family::Shared {}
