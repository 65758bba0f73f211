//! Which function serves which system call.

use super::{Process, Served, Stop, Verdict, strace};
use crate::Hart;
use rustix::io::Errno;

impl Process {
    /// Serves system call `number`.
    pub(super) fn dispatch(&mut self, hart: &mut Hart, number: u64, args: [u64; 6]) -> Served {
        let [a, b, c, ..] = args;
        match number {
            // Files by path.
            17 => self.sys_getcwd(hart, a, b),
            33 => self.sys_mknodat(hart, args),
            34 => self.sys_mkdirat(hart, a, b, c),
            35 => self.sys_unlinkat(hart, a, b, c),
            36 => self.sys_symlinkat(hart, a, b, c),
            37 => self.sys_linkat(hart, args),
            43 => self.sys_statfs(hart, a, b),
            44 => self.sys_fstatfs(hart, a, b),
            45 => self.sys_truncate(hart, a, b),
            48 => self.sys_faccessat(hart, args, 0),
            439 => self.sys_faccessat(hart, args, args[3]),
            49 => self.sys_chdir(hart, a),
            50 => self.sys_fchdir(a),
            52 => self.sys_fchmod(a, b),
            53 => self.sys_fchmodat(hart, a, b, c),
            452 if self.options.host_fs => self.sys_fchmodat2(hart, args),
            54 => self.sys_fchownat(hart, args),
            55 => self.sys_fchown(a, b, c),
            56 => self.sys_openat(hart, args),
            61 => self.sys_getdents64(hart, a, b, c),
            78 => self.sys_readlinkat(hart, args),
            79 => self.sys_newfstatat(hart, args),
            80 => self.sys_fstat(hart, a, b),
            88 => self.sys_utimensat(hart, args),
            166 => Ok(u64::from(std::mem::replace(&mut self.umask, a as u32 & 0o777))),
            276 => self.sys_renameat2(hart, args),
            291 => self.sys_statx(hart, args),
            // Programs try it and do without.
            437 if !self.options.host_fs => Err(Errno::NOSYS.into()),
            437 => self.sys_openat2(hart, args),

            5..=16 => self.sys_xattr(hart, number, args),

            // Open files.
            19 => self.sys_eventfd2(a, b),
            20 => self.sys_epoll_create1(a),
            21 => self.sys_epoll_ctl(hart, args),
            22 => self.sys_epoll_pwait(hart, args, false),
            441 => self.sys_epoll_pwait(hart, args, true),
            26 => self.sys_inotify_init1(a),
            27 => self.sys_inotify_add_watch(hart, a, b, c),
            28 => self.sys_inotify_rm_watch(a, b),
            74 => self.sys_signalfd4(hart, args),
            75 => self.sys_vmsplice(hart, args),
            76 => self.sys_splice(hart, args),
            77 => self.sys_tee(args),
            85 => self.sys_timerfd_create(a, b),
            86 => self.sys_timerfd_settime(hart, args),
            87 => self.sys_timerfd_gettime(hart, a, b),
            279 => self.sys_memfd_create(hart, a, b),
            285 => self.sys_copy_file_range(hart, args),
            286 | 287 => self.sys_preadv2(hart, args, number == 286),
            23 => Ok(self.files.duplicate(a, 0, false)?),
            24 => self.sys_dup3(a, b, c),
            25 => self.sys_fcntl(hart, a, b, c),
            29 => self.sys_ioctl(hart, a, b, c),
            32 => self.sys_flock(a, b),
            46 => self.sys_ftruncate(hart, a, b),
            47 => self.sys_fallocate(args),
            57 => {
                self.files.close(a)?;
                Ok(0)
            }
            59 => self.sys_pipe2(hart, a, b),
            62 => self.sys_lseek(a, b, c),
            63 => self.sys_read(hart, a, b, c),
            64 => self.sys_write(hart, a, b, c),
            65 => self.sys_readv(hart, args, false),
            66 => self.sys_writev(hart, args, false),
            67 => self.sys_pread64(hart, args),
            68 => self.sys_pwrite64(hart, args),
            69 => self.sys_readv(hart, args, true),
            70 => self.sys_writev(hart, args, true),
            71 => self.sys_sendfile(hart, args),
            72 => self.sys_pselect6(hart, args),
            73 => self.sys_ppoll(hart, args),
            // sync
            81 => Ok(0),
            // fsync, fdatasync, syncfs
            82 | 83 | 267 => self.sys_fsync(a),
            // sync_file_range, readahead: what they ask for needs no answer.
            84 | 213 => self.files.get(a).map(|_| 0).map_err(Stop::from),
            223 => self.sys_fadvise64(args),
            436 => self.sys_close_range(a, b, c),

            // Time.
            101 => self.sys_nanosleep(hart, a),
            102 => self.sys_getitimer(hart, a, b),
            103 => self.sys_setitimer(hart, args),
            113 => self.sys_clock_gettime(hart, a, b),
            114 => self.sys_clock_getres(hart, a, b),
            115 => self.sys_clock_nanosleep(hart, a, b, c),
            153 => self.sys_times(hart, a),
            169 => self.sys_gettimeofday(hart, a, b),

            // The process.
            93 => self.sys_exit(hart, a as i32 & 0xff),
            94 => Err(Stop::End(Verdict::Exit(a as i32 & 0xff))),
            96 => self.sys_set_tid_address(a),
            98 => self.sys_futex(hart, args),
            293 => self.sys_rseq(hart, args),
            99 => self.sys_set_robust_list(a, b),
            100 => self.sys_get_robust_list(hart, a, b, c),
            107 => self.sys_timer_create(hart, a, b, c),
            108 => self.sys_timer_gettime(hart, a, b),
            109 => self.sys_timer_getoverrun(a),
            110 => self.sys_timer_settime(hart, args),
            111 => self.sys_timer_delete(a),
            95 => self.sys_waitid(hart, args),
            260 => self.sys_wait4(hart, args),
            154..=157 => self.sys_groups(hart, number, a, b),
            164 => self.sys_prlimit64(hart, [0, a, b, 0, 0, 0]),
            92 => self.sys_personality(a),
            90 | 91 => self.sys_capabilities(hart, number == 91, a, b),
            // setgid, setreuid, setuid, setresuid, setresgid, setregid, setfsuid, setfsgid
            143..=147 | 149 | 151 | 152 => self.sys_set_ids(number, args),
            158 => self.sys_getgroups(hart, a, b),
            159 => self.sys_setgroups(hart, a, b),
            118..=121 | 125..=127 | 274 | 275 => self.sys_sched(hart, number, args),
            122 => self.sys_sched_setaffinity(hart, a, b, c),
            123 => self.sys_sched_getaffinity(hart, a, b, c),
            124 => Ok(self.sys_sched_yield()),
            30 | 31 => self.sys_ioprio(number == 30, args),
            140 | 141 => self.sys_priority(number == 140, args),
            148 | 150 => self.sys_getres(hart, args, number == 150),
            160 => self.sys_uname(hart, a),
            163 => self.sys_prlimit64(hart, [0, a, 0, b, 0, 0]),
            165 => self.sys_getrusage(hart, a, b),
            167 => self.sys_prctl(hart, args),
            168 => self.sys_getcpu(hart, a, b),
            172 => Ok(u64::from(self.identity.pid)),
            178 => Ok(u64::from(self.me().tid)),
            173 => Ok(u64::from(self.parent())),
            174..=177 => Ok(u64::from(self.id_of(number))),
            179 => self.sys_sysinfo(hart, a),
            220 => self.sys_clone(hart, args),
            221 => self.sys_execve(hart, a, b, c),
            281 => self.sys_execveat(hart, args),
            258 => self.sys_riscv_hwprobe(hart, args),
            259 => self.sys_riscv_flush_icache(c),
            261 => self.sys_prlimit64(hart, args),
            278 => self.sys_getrandom(hart, a, b, c),
            283 => sys_membarrier(a),
            435 => self.sys_clone3(hart, a, b),
            424 => self.sys_pidfd_send_signal(hart, args),
            434 => self.sys_pidfd_open(a, b),

            // Signals.
            129 => self.sys_kill(a, b),
            130 => self.sys_tgkill(None, a, b),
            131 => self.sys_tgkill(Some(a), b, c),
            138 => self.sys_rt_sigqueueinfo(hart, a, None, b, c),
            240 => self.sys_rt_sigqueueinfo(hart, a, Some(b), c, args[3]),
            132 => self.sys_sigaltstack(hart, a, b),
            133 => self.sys_rt_sigsuspend(hart, a, b),
            134 => self.sys_rt_sigaction(hart, args),
            135 => self.sys_rt_sigprocmask(hart, args),
            136 => self.sys_rt_sigpending(hart, a, b),
            137 => self.sys_rt_sigtimedwait(hart, args),
            139 => self.sys_rt_sigreturn(hart),

            // Sockets.
            198 => self.sys_socket(a, b, c),
            199 => self.sys_socketpair(hart, args),
            200 => self.sys_bind(hart, a, b, c),
            201 => self.sys_listen(a, b),
            202 => self.sys_accept4(hart, [a, b, c, 0, 0, 0]),
            203 => self.sys_connect(hart, a, b, c),
            204 => self.sys_getsockname(hart, args, false),
            205 => self.sys_getsockname(hart, args, true),
            206 => self.sys_sendto(hart, args),
            207 => self.sys_recvfrom(hart, args),
            208 => self.sys_setsockopt(hart, args),
            209 => self.sys_getsockopt(hart, args),
            210 => self.sys_shutdown(a, b),
            211 => self.sys_sendmsg(hart, a, b, c),
            212 => self.sys_recvmsg(hart, a, b, c),
            242 => self.sys_accept4(hart, args),
            243 => self.sys_recvmmsg(hart, args),
            269 => self.sys_sendmmsg(hart, args),

            // The machine.
            39..=41 | 51 | 97 | 112 | 116 | 161 | 162 | 170 | 171 | 266 | 268 => {
                self.sys_system(hart, number, args)
            }

            // Message queues.
            180..=185 => self.sys_queue(hart, number, args),

            // System V objects.
            186..=197 => self.sys_sysv(hart, number, args),

            // Memory.
            214 => self.sys_brk(hart, a),
            215 => self.sys_munmap(hart, a, b),
            216 => self.sys_mremap(hart, args),
            222 => self.sys_mmap(hart, args),
            226 => self.sys_mprotect(hart, a, b, c),
            227 => self.sys_msync(hart, a, b),
            // mlock, munlock, mlockall, munlockall
            228..=231 | 284 => Ok(0),
            232 => self.sys_mincore(hart, a, b, c),
            233 => self.sys_madvise(hart, a, b, c),

            _ => {
                let name = strace::name(number).map_or_else(|| format!("number {number}"), str::to_owned);
                self.note_unsupported(&format!("system call {name}"));
                Err(Errno::NOSYS.into())
            }
        }
    }
}

/// `membarrier(command, flags)`: threads take turns, so that each is in step with all others.
fn sys_membarrier(command: u64) -> Served {
    // QUERY; GLOBAL, GLOBAL_EXPEDITED, PRIVATE_EXPEDITED and SYNC_CORE with their registrations.
    const KNOWN: u64 = 0x7f;
    match command {
        0 => Ok(KNOWN),
        command if command.is_power_of_two() && command & KNOWN != 0 => Ok(0),
        _ => Err(Errno::INVAL.into()),
    }
}
