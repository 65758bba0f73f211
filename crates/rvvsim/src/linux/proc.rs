//! Files that exist for the guest only: devices without contents, and what `/proc` says about it.

use super::files::{Kind, flag};
use super::{Process, space_of};
use crate::Hart;
use crate::mem::PAGE;
use rustix::fd::{AsFd, AsRawFd};
use rustix::fs::CWD;
use rustix::io::Errno;

impl Process {
    /// What a path says about this process: what comes after `/proc/self/`, `/proc/PID/` or
    /// `/proc/thread-self/`.
    fn about_self<'a>(&self, path: &'a [u8]) -> Option<&'a [u8]> {
        let rest = path.strip_prefix(b"/proc/")?;
        let own = format!("{}/", self.identity.pid);
        let rest = rest
            .strip_prefix(b"self/")
            .or_else(|| rest.strip_prefix(b"thread-self/"))
            .or_else(|| rest.strip_prefix(own.as_bytes()))?;
        // A thread's are those of the process.
        Some(self.about_thread(rest).map_or(rest, |(_, rest)| rest))
    }

    /// The thread that `task/TID/` at the begin of a path names, and the rest of the path.
    fn about_thread<'a>(&self, path: &'a [u8]) -> Option<(usize, &'a [u8])> {
        let path = path.strip_prefix(b"task/")?;
        let slash = path.iter().position(|&b| b == b'/')?;
        let tid = std::str::from_utf8(&path[..slash]).ok()?.parse().ok()?;
        Some((self.threads.index_of(tid)?, &path[slash + 1..]))
    }

    /// The thread whose name a path is: `comm`.
    fn named_thread(&self, path: &[u8]) -> Option<usize> {
        let own = format!("/proc/{}/", self.identity.pid);
        let rest = path.strip_prefix(b"/proc/self/").or_else(|| path.strip_prefix(own.as_bytes()));
        match rest.and_then(|rest| self.about_thread(rest)) {
            Some((thread, b"comm")) => Some(thread),
            Some(_) => None,
            None if self.about_self(path)? == b"comm" => {
                Some(match path.starts_with(b"/proc/thread-self/") {
                    true => self.threads.current,
                    false => 0,
                })
            }
            None => None,
        }
    }

    /// The file that names a thread, to be written.
    pub(super) fn thread_to_name(&self, path: &[u8]) -> Option<Kind> {
        self.named_thread(path).map(|thread| Kind::Name(self.threads.all[thread].tid))
    }

    /// Whether a path is the folder of threads.
    pub(super) fn is_thread_folder(&self, path: &[u8]) -> bool {
        self.about_self(path.strip_suffix(b"/").unwrap_or(path)) == Some(b"task")
    }

    /// The names in the folder of threads: those of this guest alone.
    pub(super) fn list_threads(&self) -> Vec<Vec<u8>> {
        let tids = self.threads.all.iter().map(|thread| thread.tid.to_string().into_bytes());
        [b".".to_vec(), b"..".to_vec()].into_iter().chain(tids).collect()
    }

    /// Names a thread: at most fifteen bytes, without the end of the line.
    pub(super) fn name_thread(&mut self, tid: u32, bytes: &[u8]) -> Result<usize, Errno> {
        let thread = self.threads.index_of(tid).ok_or(Errno::SRCH)?;
        let name = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let len = name.len().min(15);
        self.threads.all[thread].name = [0; 16];
        self.threads.all[thread].name[..len].copy_from_slice(&name[..len]);
        Ok(bytes.len())
    }

    /// A file that exists only for the guest: about itself, or without contents.
    pub(super) fn synthetic(&self, hart: &mut Hart, path: &[u8]) -> Option<Kind> {
        let text = |text: String| Kind::Bytes(text.into_bytes(), 0);
        let list = |strings: &[Vec<u8>]| {
            Kind::Bytes(strings.iter().flat_map(|s| [s, &b"\0"[..]].concat()).collect(), 0)
        };
        Some(match (path, self.about_self(path)) {
            (b"/dev/null", _) => Kind::Null,
            (b"/dev/zero", _) => Kind::Zero,
            (b"/dev/urandom" | b"/dev/random", _) => Kind::Random,
            (b"/proc/cpuinfo", _) => text(self.cpuinfo(&hart.config)),
            (b"/proc/meminfo", _) if !self.options.host_fs => text(meminfo(hart)),
            (b"/proc/sys/kernel/pid_max", _) => text("4194304\n".to_owned()),
            (b"/sys/devices/system/cpu/online" | b"/sys/devices/system/cpu/possible", _) => {
                text(match self.options.cpus {
                    1 => "0\n".to_owned(),
                    n => format!("0-{}\n", n - 1),
                })
            }
            (_, Some(b"maps")) => text(space_of(hart).0.maps()),
            (_, Some(b"auxv")) => Kind::Bytes(self.facts.auxv.clone(), 0),
            (_, Some(b"cmdline")) => list(&self.options.args),
            (_, Some(b"environ")) if self.options.host_fs => list(&self.options.env),
            (_, Some(b"comm")) => {
                let thread = self.named_thread(path).unwrap_or(self.threads.current);
                text(format!("{}\n", self.comm_of(thread)))
            }
            (_, Some(b"status")) => text(self.status(hart)),
            (_, Some(b"stat")) => text(self.stat_line(hart)),
            (_, Some(b"statm")) => {
                let pages = space_of(hart).0.frames_in_use();
                text(format!("{pages} {pages} 0 0 0 {pages} 0\n"))
            }
            (_, Some(b"limits")) => text(self.limits_text()),
            _ => return None,
        })
    }

    fn comm(&self) -> String {
        self.comm_of(self.threads.current)
    }

    fn comm_of(&self, thread: usize) -> String {
        let name = self.threads.all[thread].name;
        let len = name.iter().position(|&b| b == 0).unwrap_or(16);
        String::from_utf8_lossy(&name[..len]).into_owned()
    }

    fn status(&self, hart: &mut Hart) -> String {
        let kib = space_of(hart).0.frames_in_use() * PAGE / 1024;
        let (i, threads) = (&self.identity, self.threads.all.len());
        let (umask, blocked, tid) = (self.umask, self.me().signals.blocked, self.me().tid);
        let (pid, ppid, uid, gid) = (i.pid, i.ppid, i.uid, i.gid);
        format!(
            "Name:\t{}\nUmask:\t{umask:04o}\nState:\tR (running)\nTgid:\t{pid}\nNgid:\t0\nPid:\t{tid}\nPPid:\t{ppid}\n\
             TracerPid:\t0\nUid:\t{uid}\t{uid}\t{uid}\t{uid}\nGid:\t{gid}\t{gid}\t{gid}\t{gid}\nFDSize:\t256\n\
             VmPeak:\t{kib} kB\nVmSize:\t{kib} kB\nVmHWM:\t{kib} kB\nVmRSS:\t{kib} kB\nThreads:\t{threads}\n\
             SigBlk:\t{blocked:016x}\nCpus_allowed_list:\t0-{}\n",
            self.comm(),
            self.options.cpus - 1,
        )
    }

    fn stat_line(&self, hart: &mut Hart) -> String {
        let pages = space_of(hart).0.frames_in_use();
        let i = &self.identity;
        let (seconds, nanos) = self.time.cpu(hart);
        let ticks = seconds * 100 + nanos / 10_000_000;
        let (threads, size) = (self.threads.all.len(), pages * PAGE);
        format!(
            "{} ({}) R {} {} {} 0 -1 4194304 0 0 0 0 {ticks} 0 0 0 20 0 {threads} 0 1 {size} {pages} \
             18446744073709551615 0 0 0 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
            i.pid,
            self.comm(),
            i.ppid,
            i.pid,
            i.pid,
        )
    }

    fn limits_text(&self) -> String {
        const NAMES: [(&str, &str); 16] = [
            ("Max cpu time", "seconds"),
            ("Max file size", "bytes"),
            ("Max data size", "bytes"),
            ("Max stack size", "bytes"),
            ("Max core file size", "bytes"),
            ("Max resident set", "bytes"),
            ("Max processes", "processes"),
            ("Max open files", "files"),
            ("Max locked memory", "bytes"),
            ("Max address space", "bytes"),
            ("Max file locks", "locks"),
            ("Max pending signals", "signals"),
            ("Max msgqueue size", "bytes"),
            ("Max nice priority", ""),
            ("Max realtime priority", ""),
            ("Max realtime timeout", "us"),
        ];
        let mut text = format!("{:<26}{:<21}{:<21}{:<10}\n", "Limit", "Soft Limit", "Hard Limit", "Units");
        let number = |n: u64| if n == u64::MAX { "unlimited".to_owned() } else { n.to_string() };
        for ((name, unit), (soft, hard)) in NAMES.iter().zip(self.limits) {
            text.push_str(&format!("{name:<26}{:<21}{:<21}{unit:<10}\n", number(soft), number(hard)));
        }
        text
    }

    /// The descriptor that a path names: `/proc/self/fd/N`, `/dev/fd/N`, `/dev/stdin` and its like. In the
    /// sandbox no descriptor has a name.
    pub(super) fn named_descriptor(&self, path: &[u8]) -> Option<u64> {
        if !self.options.host_fs {
            return None;
        }
        match path {
            b"/dev/stdin" => return Some(0),
            b"/dev/stdout" => return Some(1),
            b"/dev/stderr" => return Some(2),
            _ => {}
        }
        let number = path
            .strip_prefix(b"/dev/fd/")
            .or_else(|| self.about_self(path).and_then(|rest| rest.strip_prefix(b"fd/")))?;
        std::str::from_utf8(number).ok()?.parse().ok().filter(|fd| self.files.get(*fd).is_ok())
    }

    /// Whether a path is the folder of descriptors.
    pub(super) fn is_descriptor_folder(&self, path: &[u8]) -> bool {
        let path = path.strip_suffix(b"/").unwrap_or(path);
        path == b"/dev/fd" || self.about_self(path) == Some(b"fd")
    }

    /// Opens a descriptor again, under its name.
    pub(super) fn open_descriptor(&mut self, fd: u64, flags: u32) -> Result<u64, Errno> {
        let cloexec = flags & flag::CLOEXEC != 0;
        let file = self.files.get(fd)?;
        let access = flags & flag::ACCMODE;
        let reads = access != flag::WRONLY && flags & flag::PATH == 0;
        if reads && !file.readable() || access != 0 && !file.writable() {
            return Err(Errno::ACCESS);
        }
        let Some(host) = file.host() else { return self.files.duplicate(fd, 0, cloexec) };
        // A plain file gets a description of its own; a pipe, a socket or a terminal is what it is.
        let is_file = host.stat().is_ok_and(|s| rustix::fs::FileType::from_raw_mode(s.st_mode).is_file());
        if !is_file || host.is_standard {
            return self.files.duplicate(fd, 0, cloexec);
        }
        let link = format!("/proc/self/fd/{}", host.as_fd().as_raw_fd());
        let mut host_flags = super::sandbox::host_flags(flags & !(flag::CREAT | flag::EXCL));
        host_flags |= rustix::fs::OFlags::CLOEXEC | rustix::fs::OFlags::NONBLOCK;
        let opened = rustix::fs::openat(CWD, link, host_flags, rustix::fs::Mode::empty())?;
        let new = super::files::HostFile::named(opened, host.path.clone(), host.writable_place);
        self.files.add(Kind::Host(std::sync::Arc::new(new)), flags)
    }

    /// What the link of a descriptor says.
    pub(super) fn descriptor_link(&self, fd: u64) -> Result<Vec<u8>, Errno> {
        let file = self.files.get(fd)?;
        Ok(match &file.kind {
            Kind::Host(host) if !host.path.is_empty() => {
                let gone =
                    !host.path.ends_with(b" (deleted)") && host.stat().is_ok_and(|stat| stat.st_nlink == 0);
                [&host.path[..], if gone { b" (deleted)" } else { b"" }].concat()
            }
            Kind::Host(host) => {
                let link = format!("/proc/self/fd/{}", host.as_fd().as_raw_fd());
                rustix::fs::readlinkat(CWD, link, Vec::new())?.into_bytes()
            }
            Kind::Signals(..) => b"anon_inode:[signalfd]".to_vec(),
            Kind::Zero => b"/dev/zero".to_vec(),
            Kind::Random => b"/dev/urandom".to_vec(),
            _ => b"/dev/null".to_vec(),
        })
    }
}

fn meminfo(hart: &mut Hart) -> String {
    let (space, ram) = space_of(hart);
    let (total, free) = (ram.len() as u64 / 1024, space.available(ram) / 1024);
    format!(
        "MemTotal: {total:>15} kB\nMemFree: {free:>16} kB\nMemAvailable: {free:>11} kB\nSwapTotal:              0 kB\n"
    )
}
