//! Writing system calls down, as QEMU's `-strace` does.

use super::signal::Info;
use super::{Process, Served, Stop, user};
use crate::Hart;
use std::fmt::Write as _;
use std::io::Write as _;

/// Number, name, and how to write each argument: `d` and `u` decimal, `x` hexadecimal, `O` octal, `p` an
/// address, `r` a plain hexadecimal one, `s` a string, `t` a
/// time, `f` a directory, and others for one kind of constant each.
#[rustfmt::skip]
const CALLS: [(u64, &str, &str); 328] = [
    (0, "io_setup", "xxxxxx"),
    (1, "io_destroy", "xxxxxx"),
    (2, "io_submit", "xxxxxx"),
    (3, "io_cancel", "xxxxxx"),
    (4, "io_getevents", "xxxxxx"),
    (5, "setxattr", "xxxxxx"),
    (6, "lsetxattr", "xxxxxx"),
    (7, "fsetxattr", "xxxxxx"),
    (8, "getxattr", "xxxxxx"),
    (9, "lgetxattr", "xxxxxx"),
    (10, "fgetxattr", "xxxxxx"),
    (11, "listxattr", "xxxxxx"),
    (12, "llistxattr", "xxxxxx"),
    (13, "flistxattr", "xxxxxx"),
    (14, "removexattr", "xxxxxx"),
    (15, "lremovexattr", "xxxxxx"),
    (16, "fremovexattr", "xxxxxx"),
    (17, "getcwd", "rd"),
    (18, "lookup_dcookie", "xxxxxx"),
    (19, "eventfd2", "ud"),
    (20, "epoll_create1", "xxxxxx"),
    (21, "epoll_ctl", "xxxxxx"),
    (22, "epoll_pwait", "xxxxxx"),
    (23, "dup", "d"),
    (24, "dup3", "ddx"),
    (25, "fcntl", "ddx"),
    (26, "inotify_init1", "xxxxxx"),
    (27, "inotify_add_watch", "xxxxxx"),
    (28, "inotify_rm_watch", "xxxxxx"),
    (29, "ioctl", "dip"),
    (30, "ioprio_set", "xxxxxx"),
    (31, "ioprio_get", "xxxxxx"),
    (32, "flock", "xxxxxx"),
    (33, "mknodat", "xxxxxx"),
    (34, "mkdirat", "fsO"),
    (35, "unlinkat", "fsx"),
    (36, "symlinkat", "sfs"),
    (37, "linkat", "fsfsx"),
    (39, "umount2", "xxxxxx"),
    (40, "mount", "xxxxxx"),
    (41, "pivot_root", "xxxxxx"),
    (42, "nfsservctl", "xxxxxx"),
    (43, "statfs", "sp"),
    (44, "fstatfs", "dp"),
    (45, "truncate", "sd"),
    (46, "ftruncate", "dd"),
    (47, "fallocate", "dxdd"),
    (48, "faccessat", "fsA"),
    (49, "chdir", "s"),
    (50, "fchdir", "d"),
    (51, "chroot", "xxxxxx"),
    (52, "fchmod", "dO"),
    (53, "fchmodat", "fsO"),
    (54, "fchownat", "xxxxxx"),
    (55, "fchown", "xxxxxx"),
    (56, "openat", "fso"),
    (57, "close", "d"),
    (58, "vhangup", "xxxxxx"),
    (59, "pipe2", "px"),
    (60, "quotactl", "xxxxxx"),
    (61, "getdents64", "drd"),
    (62, "lseek", "ddw"),
    (63, "read", "drd"),
    (64, "write", "drd"),
    (65, "readv", "drd"),
    (66, "writev", "drd"),
    (67, "pread64", "drdd"),
    (68, "pwrite64", "drdd"),
    (69, "preadv", "drdd"),
    (70, "pwritev", "drdd"),
    (71, "sendfile", "ddpd"),
    (72, "pselect6", "dppppp"),
    (73, "ppoll", "pdpp"),
    (74, "signalfd4", "xxxxxx"),
    (75, "vmsplice", "xxxxxx"),
    (76, "splice", "xxxxxx"),
    (77, "tee", "xxxxxx"),
    (78, "readlinkat", "fspd"),
    (79, "newfstatat", "fspx"),
    (80, "fstat", "dp"),
    (81, "sync", ""),
    (82, "fsync", "d"),
    (83, "fdatasync", "d"),
    (84, "sync_file_range", "xxxxxx"),
    (85, "timerfd_create", "xxxxxx"),
    (86, "timerfd_settime", "xxxxxx"),
    (87, "timerfd_gettime", "xxxxxx"),
    (88, "utimensat", "fspx"),
    (89, "acct", "xxxxxx"),
    (90, "capget", "xxxxxx"),
    (91, "capset", "xxxxxx"),
    (92, "personality", "xxxxxx"),
    (93, "exit", "d"),
    (94, "exit_group", "d"),
    (95, "waitid", "ddpdp"),
    (96, "set_tid_address", "r"),
    (97, "unshare", "xxxxxx"),
    (98, "futex", "pxd"),
    (99, "set_robust_list", "rd"),
    (100, "get_robust_list", "xxxxxx"),
    (101, "nanosleep", "tt"),
    (102, "getitimer", "dp"),
    (103, "setitimer", "dpp"),
    (104, "kexec_load", "xxxxxx"),
    (105, "init_module", "xxxxxx"),
    (106, "delete_module", "xxxxxx"),
    (107, "timer_create", "xxxxxx"),
    (108, "timer_gettime", "xxxxxx"),
    (109, "timer_getoverrun", "xxxxxx"),
    (110, "timer_settime", "xxxxxx"),
    (111, "timer_delete", "xxxxxx"),
    (112, "clock_settime", "xxxxxx"),
    (113, "clock_gettime", "cp"),
    (114, "clock_getres", "cp"),
    (115, "clock_nanosleep", "cxtt"),
    (116, "syslog", "xxxxxx"),
    (117, "ptrace", "xxxxxx"),
    (118, "sched_setparam", "xxxxxx"),
    (119, "sched_setscheduler", "xxxxxx"),
    (120, "sched_getscheduler", "xxxxxx"),
    (121, "sched_getparam", "xxxxxx"),
    (122, "sched_setaffinity", "xxxxxx"),
    (123, "sched_getaffinity", "ddp"),
    (124, "sched_yield", ""),
    (125, "sched_get_priority_max", "xxxxxx"),
    (126, "sched_get_priority_min", "xxxxxx"),
    (127, "sched_rr_get_interval", "xxxxxx"),
    (128, "restart_syscall", "xxxxxx"),
    (129, "kill", "dS"),
    (130, "tkill", "dS"),
    (131, "tgkill", "ddS"),
    (132, "sigaltstack", "pp"),
    (133, "rt_sigsuspend", "pd"),
    (134, "rt_sigaction", "Spp"),
    (135, "rt_sigprocmask", "dpp"),
    (136, "rt_sigpending", "pd"),
    (137, "rt_sigtimedwait", "pppd"),
    (138, "rt_sigqueueinfo", "xxxxxx"),
    (139, "rt_sigreturn", ""),
    (140, "setpriority", "xxxxxx"),
    (141, "getpriority", "xxxxxx"),
    (142, "reboot", "xxxxxx"),
    (143, "setregid", "xxxxxx"),
    (144, "setgid", "xxxxxx"),
    (145, "setreuid", "xxxxxx"),
    (146, "setuid", "xxxxxx"),
    (147, "setresuid", "xxxxxx"),
    (148, "getresuid", "xxxxxx"),
    (149, "setresgid", "xxxxxx"),
    (150, "getresgid", "xxxxxx"),
    (151, "setfsuid", "xxxxxx"),
    (152, "setfsgid", "xxxxxx"),
    (153, "times", "p"),
    (154, "setpgid", "dd"),
    (155, "getpgid", "d"),
    (156, "getsid", "d"),
    (157, "setsid", "xxxxxx"),
    (158, "getgroups", "xxxxxx"),
    (159, "setgroups", "xxxxxx"),
    (160, "uname", "p"),
    (161, "sethostname", "xxxxxx"),
    (162, "setdomainname", "xxxxxx"),
    (163, "getrlimit", "xxxxxx"),
    (164, "setrlimit", "xxxxxx"),
    (165, "getrusage", "dp"),
    (166, "umask", "O"),
    (167, "prctl", "dx"),
    (168, "getcpu", "xxxxxx"),
    (169, "gettimeofday", "pp"),
    (170, "settimeofday", "xxxxxx"),
    (171, "adjtimex", "xxxxxx"),
    (172, "getpid", ""),
    (173, "getppid", ""),
    (174, "getuid", ""),
    (175, "geteuid", ""),
    (176, "getgid", ""),
    (177, "getegid", ""),
    (178, "gettid", ""),
    (179, "sysinfo", "p"),
    (180, "mq_open", "xxxxxx"),
    (181, "mq_unlink", "xxxxxx"),
    (182, "mq_timedsend", "xxxxxx"),
    (183, "mq_timedreceive", "xxxxxx"),
    (184, "mq_notify", "xxxxxx"),
    (185, "mq_getsetattr", "xxxxxx"),
    (186, "msgget", "xxxxxx"),
    (187, "msgctl", "xxxxxx"),
    (188, "msgrcv", "xxxxxx"),
    (189, "msgsnd", "xxxxxx"),
    (190, "semget", "xxxxxx"),
    (191, "semctl", "xxxxxx"),
    (192, "semtimedop", "xxxxxx"),
    (193, "semop", "xxxxxx"),
    (194, "shmget", "xxxxxx"),
    (195, "shmctl", "xxxxxx"),
    (196, "shmat", "xxxxxx"),
    (197, "shmdt", "xxxxxx"),
    (198, "socket", "xxxxxx"),
    (199, "socketpair", "xxxxxx"),
    (200, "bind", "xxxxxx"),
    (201, "listen", "xxxxxx"),
    (202, "accept", "xxxxxx"),
    (203, "connect", "xxxxxx"),
    (204, "getsockname", "xxxxxx"),
    (205, "getpeername", "xxxxxx"),
    (206, "sendto", "xxxxxx"),
    (207, "recvfrom", "xxxxxx"),
    (208, "setsockopt", "xxxxxx"),
    (209, "getsockopt", "xxxxxx"),
    (210, "shutdown", "xxxxxx"),
    (211, "sendmsg", "xxxxxx"),
    (212, "recvmsg", "xxxxxx"),
    (213, "readahead", "xxxxxx"),
    (214, "brk", "p"),
    (215, "munmap", "pd"),
    (216, "mremap", "pddxp"),
    (217, "add_key", "xxxxxx"),
    (218, "request_key", "xxxxxx"),
    (219, "keyctl", "xxxxxx"),
    (220, "clone", "xpppp"),
    (221, "execve", "spp"),
    (222, "mmap", "pdPmdx"),
    (223, "fadvise64", "dddd"),
    (224, "swapon", "xxxxxx"),
    (225, "swapoff", "xxxxxx"),
    (226, "mprotect", "pdP"),
    (227, "msync", "pdd"),
    (228, "mlock", "xxxxxx"),
    (229, "munlock", "xxxxxx"),
    (230, "mlockall", "xxxxxx"),
    (231, "munlockall", "xxxxxx"),
    (232, "mincore", "pdp"),
    (233, "madvise", "pdd"),
    (234, "remap_file_pages", "xxxxxx"),
    (235, "mbind", "xxxxxx"),
    (236, "get_mempolicy", "xxxxxx"),
    (237, "set_mempolicy", "xxxxxx"),
    (238, "migrate_pages", "xxxxxx"),
    (239, "move_pages", "xxxxxx"),
    (240, "rt_tgsigqueueinfo", "xxxxxx"),
    (241, "perf_event_open", "xxxxxx"),
    (242, "accept4", "xxxxxx"),
    (243, "recvmmsg", "xxxxxx"),
    (258, "riscv_hwprobe", "pdupx"),
    (259, "riscv_flush_icache", "ppx"),
    (260, "wait4", "dpdp"),
    (261, "prlimit64", "dlpp"),
    (262, "fanotify_init", "xxxxxx"),
    (263, "fanotify_mark", "xxxxxx"),
    (264, "name_to_handle_at", "xxxxxx"),
    (265, "open_by_handle_at", "xxxxxx"),
    (266, "clock_adjtime", "xxxxxx"),
    (267, "syncfs", "xxxxxx"),
    (268, "setns", "xxxxxx"),
    (269, "sendmmsg", "xxxxxx"),
    (270, "process_vm_readv", "xxxxxx"),
    (271, "process_vm_writev", "xxxxxx"),
    (272, "kcmp", "xxxxxx"),
    (273, "finit_module", "xxxxxx"),
    (274, "sched_setattr", "xxxxxx"),
    (275, "sched_getattr", "xxxxxx"),
    (276, "renameat2", "fsfsx"),
    (277, "seccomp", "xxxxxx"),
    (278, "getrandom", "rdd"),
    (279, "memfd_create", "xxxxxx"),
    (280, "bpf", "xxxxxx"),
    (281, "execveat", "xxxxxx"),
    (282, "userfaultfd", "xxxxxx"),
    (283, "membarrier", "dd"),
    (284, "mlock2", "xxxxxx"),
    (285, "copy_file_range", "xxxxxx"),
    (286, "preadv2", "xxxxxx"),
    (287, "pwritev2", "xxxxxx"),
    (288, "pkey_mprotect", "xxxxxx"),
    (289, "pkey_alloc", "xxxxxx"),
    (290, "pkey_free", "xxxxxx"),
    (291, "statx", "fsxxp"),
    (292, "io_pgetevents", "xxxxxx"),
    (293, "rseq", "rdxx"),
    (294, "kexec_file_load", "xxxxxx"),
    (424, "pidfd_send_signal", "xxxxxx"),
    (425, "io_uring_setup", "xxxxxx"),
    (426, "io_uring_enter", "xxxxxx"),
    (427, "io_uring_register", "xxxxxx"),
    (428, "open_tree", "xxxxxx"),
    (429, "move_mount", "xxxxxx"),
    (430, "fsopen", "xxxxxx"),
    (431, "fsconfig", "xxxxxx"),
    (432, "fsmount", "xxxxxx"),
    (433, "fspick", "xxxxxx"),
    (434, "pidfd_open", "xxxxxx"),
    (435, "clone3", "rd"),
    (436, "close_range", "xxxxxx"),
    (437, "openat2", "xxxxxx"),
    (438, "pidfd_getfd", "xxxxxx"),
    (439, "faccessat2", "fsAx"),
    (440, "process_madvise", "xxxxxx"),
    (441, "epoll_pwait2", "xxxxxx"),
    (442, "mount_setattr", "xxxxxx"),
    (443, "quotactl_fd", "xxxxxx"),
    (444, "landlock_create_ruleset", "xxxxxx"),
    (445, "landlock_add_rule", "xxxxxx"),
    (446, "landlock_restrict_self", "xxxxxx"),
    (447, "memfd_secret", "xxxxxx"),
    (448, "process_mrelease", "xxxxxx"),
    (449, "futex_waitv", "xxxxxx"),
    (450, "set_mempolicy_home_node", "xxxxxx"),
    (451, "cachestat", "xxxxxx"),
    (452, "fchmodat2", "xxxxxx"),
    (453, "map_shadow_stack", "xxxxxx"),
    (454, "futex_wake", "xxxxxx"),
    (455, "futex_wait", "xxxxxx"),
    (456, "futex_requeue", "xxxxxx"),
    (457, "statmount", "xxxxxx"),
    (458, "listmount", "xxxxxx"),
    (459, "lsm_get_self_attr", "xxxxxx"),
    (460, "lsm_set_self_attr", "xxxxxx"),
    (461, "lsm_list_modules", "xxxxxx"),
    (462, "mseal", "xxxxxx"),
    (463, "setxattrat", "xxxxxx"),
    (464, "getxattrat", "xxxxxx"),
    (465, "listxattrat", "xxxxxx"),
    (466, "removexattrat", "xxxxxx"),
    (467, "open_tree_attr", "xxxxxx"),
    (468, "file_getattr", "xxxxxx"),
    (469, "file_setattr", "xxxxxx"),
    (470, "listns", "xxxxxx"),
    (471, "rseq_slice_yield", "xxxxxx"),
];

/// The name of a system call.
pub fn name(number: u64) -> Option<&'static str> {
    entry(number).map(|e| e.1)
}

fn entry(number: u64) -> Option<&'static (u64, &'static str, &'static str)> {
    CALLS.binary_search_by_key(&number, |e| e.0).ok().map(|at| &CALLS[at])
}

const SIGNALS: [&str; 32] = [
    "0", "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2", "PIPE",
    "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG", "XCPU", "XFSZ",
    "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS",
];

/// The name of a signal, as `SIGSEGV`.
#[must_use]
pub fn signal_name(signal: i32) -> String {
    match usize::try_from(signal).ok().and_then(|s| SIGNALS.get(s)) {
        Some(name) => format!("SIG{name}"),
        None => format!("SIGRT{}", signal - 32),
    }
}

/// Writes down that a signal is delivered.
pub fn signal(info: &Info) -> String {
    let name = signal_name(info.signal);
    let detail = match info.code {
        0x80 => String::new(),
        1.. => format!(", si_addr={:#018x}", info.detail[0]),
        _ => format!(", si_pid={}, si_uid={}", info.detail[0] as u32, info.detail[0] >> 32),
    };
    format!("--- {name} {{si_signo={name}, si_code={}{detail}}} ---", info.code)
}

const PROT: [(u64, &str); 3] = [(4, "PROT_EXEC"), (1, "PROT_READ"), (2, "PROT_WRITE")];
const MAP: [(u64, &str); 8] = [
    (1, "MAP_SHARED"),
    (2, "MAP_PRIVATE"),
    (0x20, "MAP_ANONYMOUS"),
    (0x800, "MAP_DENYWRITE"),
    (0x10, "MAP_FIXED"),
    (0x4000, "MAP_NORESERVE"),
    (0x2_0000, "MAP_STACK"),
    (0x10_0000, "MAP_FIXED_NOREPLACE"),
];
const OPEN: [(u64, &str); 11] = [
    (0o2000, "O_APPEND"),
    (0o100, "O_CREAT"),
    (0o200_000, "O_DIRECTORY"),
    (0o200, "O_EXCL"),
    (0o400, "O_NOCTTY"),
    (0o400_000, "O_NOFOLLOW"),
    (0o4000, "O_NONBLOCK"),
    (0o4_010_000, "O_SYNC"),
    (0o1000, "O_TRUNC"),
    (0o10_000_000, "O_PATH"),
    (0o2_000_000, "O_CLOEXEC"),
];
const ACCESS: [(u64, &str); 3] = [(1, "X_OK"), (4, "R_OK"), (2, "W_OK")];
const CLOCKS: [&str; 8] = [
    "CLOCK_REALTIME",
    "CLOCK_MONOTONIC",
    "CLOCK_PROCESS_CPUTIME_ID",
    "CLOCK_THREAD_CPUTIME_ID",
    "CLOCK_MONOTONIC_RAW",
    "CLOCK_REALTIME_COARSE",
    "CLOCK_MONOTONIC_COARSE",
    "CLOCK_BOOTTIME",
];
const LIMITS: [&str; 10] = [
    "RLIMIT_CPU",
    "RLIMIT_FSIZE",
    "RLIMIT_DATA",
    "RLIMIT_STACK",
    "RLIMIT_CORE",
    "RLIMIT_RSS",
    "RLIMIT_NPROC",
    "RLIMIT_NOFILE",
    "RLIMIT_MEMLOCK",
    "RLIMIT_AS",
];

/// A set of flags by their names, and what is left as a number.
fn flags(value: u64, names: &[(u64, &str)], first: Option<&str>) -> String {
    let mut parts: Vec<String> = first.iter().map(|s| (*s).to_owned()).collect();
    let mut rest = value;
    for (bits, name) in names {
        if rest & bits == *bits {
            parts.push((*name).to_owned());
            rest &= !bits;
        }
    }
    if rest != 0 {
        parts.push(format!("{rest:#x}"));
    }
    if parts.is_empty() { "0".into() } else { parts.join("|") }
}

fn hexadecimal(value: u64) -> String {
    if value == 0 { "0".into() } else { format!("{value:#x}") }
}

fn constant(value: u64, names: &[&str]) -> String {
    usize::try_from(value)
        .ok()
        .and_then(|v| names.get(v))
        .map_or_else(|| value.to_string(), |n| (*n).to_owned())
}

fn argument(hart: &mut Hart, kind: u8, value: u64) -> String {
    match kind {
        b'd' => (value as i64).to_string(),
        b'u' => value.to_string(),
        b'O' if value != 0 => format!("0{value:o}"),
        b'O' => "0".into(),
        b'p' if value == 0 => "NULL".into(),
        b'p' => format!("{value:#018x}"),
        b'r' => hexadecimal(value),
        b's' if value == 0 => "NULL".into(),
        b's' => match user::read_path(hart, value) {
            Ok(text) => format!("\"{}\"", String::from_utf8_lossy(&text).escape_debug()),
            Err(_) => format!("{value:#018x}"),
        },
        b't' if value == 0 => "NULL".into(),
        b't' => match (user::read_u64(hart, value), user::read_u64(hart, value.wrapping_add(8))) {
            (Ok(seconds), Ok(nanos)) => format!("{{tv_sec = {},tv_nsec = {}}}", seconds as i64, nanos as i64),
            _ => format!("{value:#018x}"),
        },
        b'f' if value as i32 == super::paths::AT_FDCWD => "AT_FDCWD".into(),
        b'f' => (value as i32).to_string(),
        b'o' => {
            let mode = ["O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"][value as usize & 3];
            flags(value & !3, &OPEN, Some(mode))
        }
        b'm' => flags(value, &MAP, None),
        b'P' if value == 0 => "PROT_NONE".into(),
        b'P' => flags(value, &PROT, None),
        b'A' if value == 0 => "F_OK".into(),
        b'A' => flags(value, &ACCESS, None),
        b'w' => constant(value, &["SEEK_SET", "SEEK_CUR", "SEEK_END", "SEEK_DATA", "SEEK_HOLE"]),
        b'c' => constant(value, &CLOCKS),
        b'l' => constant(value, &LIMITS),
        b'S' => signal_name(value as i32),
        b'i' => match value as u32 {
            0x5401 => "TCGETS".into(),
            0x5402 => "TCSETS".into(),
            0x5413 => "TIOCGWINSZ".into(),
            0x541b => "FIONREAD".into(),
            other => format!("{other:#x}"),
        },
        _ => hexadecimal(value),
    }
}

/// A call before it is served: its strings may be gone afterwards.
pub fn call(hart: &mut Hart, number: u64, args: &[u64; 6]) -> String {
    let Some((_, name, kinds)) = entry(number) else { return format!("Unknown syscall {number}") };
    let mut kinds = kinds.as_bytes().to_vec();
    // The mode of a file matters when one is made.
    if *name == "openat" && args[2] & 0o100 != 0 {
        kinds.push(b'O');
    }
    let args: Vec<String> =
        kinds.iter().zip(args).map(|(kind, value)| argument(hart, *kind, *value)).collect();
    format!("{name}({})", args.join(","))
}

/// A call before it is served.
pub struct Told {
    /// The thread that makes it.
    pub tid: u32,
    /// Its name and arguments.
    pub call: String,
}

impl Process {
    /// Writes a call down once it is served.
    pub(super) fn tell(&self, hart: &mut Hart, number: u64, args: &[u64; 6], told: Told, served: &Served) {
        // A new process is another one than the caller, and a thread that has ended is not there any more.
        let tid = if matches!(served, Err(Stop::Gone)) { told.tid } else { self.me().tid };
        let mut line = format!("{tid} {}", told.call);
        let _ = match served {
            Ok(value) => match name(number) {
                Some("brk" | "mmap" | "mremap") => write!(line, " = {value:#018x}"),
                Some("clock_gettime") => {
                    let mut word = |at| user::read_u64(hart, args[1].wrapping_add(at)).unwrap_or(0);
                    let (seconds, nanos) = (word(0), word(8));
                    write!(line, " = 0 ({{tv_sec = {seconds},tv_nsec = {nanos}}})")
                }
                Some("prlimit64") if args[3] != 0 => {
                    let mut word = |at| user::read_u64(hart, args[3].wrapping_add(at)).unwrap_or(0) as i64;
                    let (soft, hard) = (word(0), word(8));
                    write!(line, " = {value} ({{rlim_cur={soft},rlim_max={hard}}})")
                }
                _ => write!(line, " = {}", *value as i64),
            },
            Err(Stop::Error(error)) => {
                let text = std::io::Error::from(*error).to_string();
                let text = text.split(" (os error").next().unwrap_or_default();
                write!(line, " = -1 errno={} ({text})", error.raw_os_error())
            }
            Err(Stop::Again(_)) => return,
            Err(Stop::Resumed | Stop::Gone | Stop::End(_)) => Ok(()),
        };
        self.log_line(line);
    }

    /// Writes a line of `-strace`.
    pub(super) fn log_line(&self, mut line: String) {
        line.push('\n');
        let _ = match &self.options.strace_log {
            Some(file) => (&**file).write_all(line.as_bytes()),
            None => std::io::stderr().write_all(line.as_bytes()),
        };
    }
}
