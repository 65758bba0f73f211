//! What a guest process is given.

use crate::turns::Schedule;
use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;

/// A folder of the host that the guest may use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// The folder. The guest sees it under the same name.
    pub path: PathBuf,
    /// Files in it may be written, made and removed.
    pub writable: bool,
}

impl Grant {
    /// Reads `PATH` (to read only) or `PATH:rw`, as `--dir` takes it.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let (path, writable) = match text.rsplit_once(':') {
            Some((path, "rw")) => (path, true),
            Some((path, "ro")) => (path, false),
            _ => (text, false),
        };
        Grant { path: PathBuf::from(path), writable }
    }
}

/// What the guest reads from file descriptor 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Input {
    /// The host's standard input.
    #[default]
    Inherit,
    /// These bytes, then the end.
    Bytes(Vec<u8>),
}

/// Where the guest's file descriptor 1 or 2 leads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// To the host's.
    #[default]
    Inherit,
    /// To [`super::Process::stdout`] or [`super::Process::stderr`].
    Capture,
    /// Nowhere.
    Discard,
}

/// Which networks the guest may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Net {
    /// None.
    #[default]
    None,
    /// That of the machine itself.
    Loopback,
    /// All.
    All,
}

/// What a system call leaves in the vector registers. The ABI of Linux says that they are lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum VectorCalls {
    /// What was there.
    #[default]
    Keep,
    /// Zeroes.
    Zero,
    /// Ones.
    Ones,
}

/// What time the guest sees.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Clock {
    /// The host's.
    #[default]
    Host,
    /// One nanosecond an instruction, from a fixed date; sleeping takes no time. The same program then sees
    /// the same time in every run.
    Counted,
}

/// What the guest process is given.
#[derive(Clone, Debug)]
pub struct ProcessOptions {
    /// `argv`, the program's name first.
    pub args: Vec<Vec<u8>>,
    /// `envp`.
    pub env: Vec<Vec<u8>>,
    /// The program's path as the guest is to see it (`AT_EXECFN`, `/proc/self/exe`); `argv[0]` if not given.
    pub exe: Option<Vec<u8>>,
    /// Absolute paths are looked up here first (`-L`): the interpreter and shared libraries. The guest
    /// may read it.
    pub sysroot: Option<PathBuf>,
    /// Folders the guest may use (`--dir`). Without any it has its standard streams only.
    pub dirs: Vec<Grant>,
    /// In the sandbox the guest has a `/tmp` of its own, unless that is granted; it is gone when the process
    /// is. Bytes that may be in it; 0 for none.
    pub tmp_limit: u64,
    /// The guest may do with files whatever the user may.
    pub host_fs: bool,
    /// Write each system call down, as QEMU's `-strace` does.
    pub strace: bool,
    /// Where; standard error if that is `None`. Each line is one write, so that processes may share a file
    /// that is open to append.
    pub strace_log: Option<Arc<File>>,
    /// File descriptor 0.
    pub stdin: Input,
    /// File descriptor 1.
    pub stdout: Output,
    /// File descriptor 2.
    pub stderr: Output,
    /// Captured output past this many bytes (each stream) is refused with `ENOSPC`.
    pub output_limit: usize,
    /// Where `getrandom` and `AT_RANDOM` begin. Without a seed `getrandom` gives the host's randomness, as in
    /// QEMU, and `AT_RANDOM` is always the same.
    pub seed: Option<u64>,
    /// The guest's clocks.
    pub clock: Clock,
    /// Bytes of stack (`-s`).
    pub stack: u64,
    /// How threads take turns on the hart.
    pub schedule: Schedule,
    /// Processes that the guest may become, at a time; with 1 it cannot fork, nor run another program.
    /// Their host process must have no other threads.
    pub most_processes: u32,
    /// Children go on when the first process has ended, as under QEMU; otherwise they end with it.
    pub keep_children: bool,
    /// A program of the host that the guest starts runs on the host, as under QEMU; otherwise it is none. The
    /// descriptors that the host process was started with are the guest's, too.
    pub host_programs: bool,
    /// Signals that come to the host process are the guest's, as far as it handles, blocks or ignores them.
    /// One process can have one such guest.
    pub host_signals: bool,
    /// SIGHUP, SIGINT and SIGTERM that would end the process end the run instead, as a signal of the guest's
    /// own does: whoever runs the machine has something to say then. For [`ProcessOptions::host_signals`].
    pub outlives_signals: bool,
    /// The networks that the guest may use.
    pub net: Net,
    /// Say once each which system calls were asked for in vain.
    pub warn_unsupported: bool,
    /// The release of the kernel that `uname` says.
    pub release: Option<String>,
    /// What a system call leaves in the vector registers.
    pub vector_calls: VectorCalls,
    /// Processors the guest is told there are. Its threads take turns on one hart, however many.
    pub cpus: u32,
}

impl Default for ProcessOptions {
    fn default() -> Self {
        ProcessOptions {
            args: Vec::new(),
            env: Vec::new(),
            exe: None,
            sysroot: None,
            dirs: Vec::new(),
            tmp_limit: 1 << 30,
            host_fs: false,
            strace: false,
            strace_log: None,
            stdin: Input::default(),
            stdout: Output::default(),
            stderr: Output::default(),
            output_limit: 64 << 20,
            seed: None,
            clock: Clock::default(),
            stack: 8 << 20,
            schedule: Schedule::default(),
            most_processes: 1,
            keep_children: false,
            host_programs: false,
            host_signals: false,
            outlives_signals: false,
            net: Net::None,
            warn_unsupported: false,
            release: None,
            vector_calls: VectorCalls::Keep,
            cpus: 1,
        }
    }
}
