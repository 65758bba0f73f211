//! Which function serves which system call.

use super::{Process, Served, Stop, Verdict, files, signal, strace};
use crate::Hart;
use rustix::io::Errno;

/// `CLONE_THREAD`: the new task shares everything.
const CLONE_THREAD: u64 = 0x1_0000;

impl Process {
    /// Serves system call `number`.
    pub(super) fn dispatch(&mut self, hart: &mut Hart, number: u64, args: [u64; 6]) -> Served {
        let [a, b, c, ..] = args;
        match number {
            // Files by path.
            17 => self.sys_getcwd(hart, a, b),
            33 => Err(Errno::PERM.into()),
            34 => self.sys_mkdirat(hart, a, b, c),
            35 => self.sys_unlinkat(hart, a, b, c),
            36 => self.sys_symlinkat(hart, a, b, c),
            37 => self.sys_linkat(hart, args),
            43 => self.sys_statfs(hart, a, b),
            44 => self.sys_fstatfs(hart, a, b),
            45 => self.sys_truncate(hart, a, b),
            48 | 439 => self.sys_faccessat(hart, args),
            49 => self.sys_chdir(hart, a),
            50 => self.sys_fchdir(a),
            52 => self.sys_fchmod(a, b),
            53 => self.sys_fchmodat(hart, a, b, c),
            // fchownat, fchown: the owner stays.
            54 | 55 => Err(Errno::PERM.into()),
            56 => self.sys_openat(hart, args),
            61 => self.sys_getdents64(hart, a, b, c),
            78 => self.sys_readlinkat(hart, args),
            79 => self.sys_newfstatat(hart, args),
            80 => self.sys_fstat(hart, a, b),
            88 => self.sys_utimensat(hart, args),
            166 => Ok(u64::from(std::mem::replace(&mut self.umask, a as u32 & 0o777))),
            276 => self.sys_renameat2(hart, args),
            291 => self.sys_statx(hart, args),

            // Open files.
            23 => Ok(self.files.duplicate(a, 0, false)?),
            24 => self.sys_dup3(a, b, c),
            25 => self.sys_fcntl(hart, a, b, c),
            29 => self.sys_ioctl(hart, a, b, c),
            // flock: there is nobody to compete with.
            32 => self.files.get(a).map(|_| 0).map_err(Stop::from),
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
            82 | 83 => self.sys_fsync(a),
            // fadvise64
            223 => self.files.get(a).map(|_| 0).map_err(Stop::from),
            // close_range
            436 => {
                for fd in a.min(files::MOST_FILES as u64)..=b.min(files::MOST_FILES as u64) {
                    if c & 4 != 0 {
                        let _ = self.files.set_cloexec(fd, true);
                    } else {
                        let _ = self.files.close(fd);
                    }
                }
                Ok(0)
            }

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
            93 | 94 => Err(Stop::End(Verdict::Exit(a as i32 & 0xff))),
            96 => Ok(u64::from(self.identity.pid)),
            98 => self.sys_futex(hart, args),
            // set_robust_list: nobody would look at it.
            99 => Ok(0),
            123 => self.sys_sched_getaffinity(hart, b, c),
            // sched_setaffinity, sched_yield
            122 | 124 => Ok(0),
            // setpriority, getpriority
            140 => Ok(0),
            141 => Ok(20),
            148 | 150 => {
                let id = if number == 148 { self.identity.uid } else { self.identity.gid };
                self.sys_getres(hart, args, id)
            }
            155 | 156 => Ok(u64::from(self.identity.pid)),
            160 => self.sys_uname(hart, a),
            // getgroups: none.
            158 => Ok(0),
            163 => self.sys_prlimit64(hart, [0, a, 0, b, 0, 0]),
            165 => self.sys_getrusage(hart, a, b),
            167 => self.sys_prctl(hart, args),
            168 => self.sys_getcpu(hart, a, b),
            172 | 178 => Ok(u64::from(self.identity.pid)),
            173 => Ok(u64::from(self.identity.ppid)),
            174 | 175 => Ok(u64::from(self.identity.uid)),
            176 | 177 => Ok(u64::from(self.identity.gid)),
            179 => self.sys_sysinfo(hart, a),
            220 => self.sys_clone(a & CLONE_THREAD != 0),
            221 | 281 => self.sys_execve(),
            258 => self.sys_riscv_hwprobe(hart, args),
            259 => self.sys_riscv_flush_icache(c),
            // wait4, waitid: no children.
            95 | 260 => Err(Errno::CHILD.into()),
            261 => self.sys_prlimit64(hart, args),
            278 => self.sys_getrandom(hart, a, b, c),
            // membarrier: one thread is always in step with itself.
            283 => Ok(0),
            435 => self.sys_clone3(),

            // Signals.
            129 => self.sys_kill(a, b, signal::SI_USER),
            130 => self.sys_kill(a, b, signal::SI_TKILL),
            131 if a as u32 == self.identity.pid => self.sys_kill(b, c, signal::SI_TKILL),
            131 => Err(Errno::SRCH.into()),
            132 => self.sys_sigaltstack(hart, a, b),
            133 => self.sys_rt_sigsuspend(hart, a, b),
            134 => self.sys_rt_sigaction(hart, args),
            135 => self.sys_rt_sigprocmask(hart, args),
            136 => self.sys_rt_sigpending(hart, a, b),
            137 => self.sys_rt_sigtimedwait(hart, args),
            139 => self.sys_rt_sigreturn(hart),

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

            // rseq, openat2, copy_file_range: programs try them and do without.
            293 | 437 | 285 => Err(Errno::NOSYS.into()),
            _ => {
                let name = strace::name(number).map_or_else(|| format!("number {number}"), str::to_owned);
                self.note(&format!("not supported: system call {name}; the guest was told ENOSYS"));
                Err(Errno::NOSYS.into())
            }
        }
    }
}
