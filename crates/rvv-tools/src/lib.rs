//! Finds, probes and runs compilers and emulators, as processes with a time limit; [`records`] reads what
//! compilers report of their work, and [`junit`] says to CI systems what came of it.

pub mod emulators;
pub mod find;
pub mod junit;
pub mod records;

use rvv_isa::{Ext, Isa};
use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;
use wait_timeout::ChildExt;

/// The extensions that `rvvsim` has by default beyond RV64GCV. (Peers have supervisor mode without being
/// told.)
fn extensions() -> impl Iterator<Item = Ext> {
    let base = Isa::parse("rv64gcv").expect("an instruction set").with(Ext::S);
    Isa::default().beyond(&base)
}

/// The instruction set that Spike needs to be what `rvvsim` is by default: with counters, with `zicclsm`,
/// which is how Spike does misaligned accesses only if asked, and has other names for what our page tables
/// do.
#[must_use]
pub fn spike_isa(vlen: u32) -> String {
    let names: Vec<_> = extensions().map(Ext::name).collect();
    format!("rv64gcv_zicntr_zihpm_{}_svnapot_svadu_ziccid_zicclsm_zvl{vlen}b", names.join("_"))
}

/// The `-cpu` that QEMU's Linux user mode needs to be what `rvvsim` is by default.
#[must_use]
pub fn qemu_cpu(vlen: u32) -> String {
    let mut cpu = format!("rv64,vlen={vlen},elen=64,v=true,zicntr=true,zihpm=true");
    for ext in extensions() {
        // Its Linux lets no process manage caches.
        cpu += &format!(",{}={}", ext.name(), ext != Ext::Zicbom);
    }
    cpu
}

/// How a peer's run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this exit code.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It was still running when its time was up, and was killed.
    TimedOut,
}

/// What a peer did.
#[derive(Clone, Debug)]
pub struct Run {
    /// How it ended.
    pub ended: Ended,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What it complained of.
    pub stderr: Vec<u8>,
}

/// Why a peer could not be run.
#[derive(Debug, thiserror::Error)]
pub enum PeerError {
    /// It does not start.
    #[error("cannot run {program}: {source}")]
    Start {
        /// The peer.
        program: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It ran and did not do what it was run for.
    #[error("{program} failed: {why}")]
    Failed {
        /// The peer.
        program: PathBuf,
        /// What it did instead.
        why: String,
    },
    /// A file of the exchange cannot be read or written.
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
}

/// Runs a command to its end or its time limit, whichever comes first. At most a mebibyte of each output is
/// kept.
///
/// # Errors
/// When it does not start.
pub fn run(command: &mut Command, limit: Duration) -> Result<Run, PeerError> {
    run_keeping(command, limit, 1 << 20)
}

/// As [`run`], with at most `most` bytes of each output kept.
///
/// # Errors
/// When it does not start.
pub fn run_keeping(command: &mut Command, limit: Duration, most: u64) -> Result<Run, PeerError> {
    run_child(command, limit, most, Kill::Child, None)
}

/// As [`run_keeping`], in a new process group: ctrl-C is not for it, and when its time is up, what it
/// started goes with it.
///
/// # Errors
/// When it does not start.
pub fn run_group(command: &mut Command, limit: Duration, most: u64) -> Result<Run, PeerError> {
    command.process_group(0);
    run_child(command, limit, most, Kill::Group, None)
}

/// As [`run_group`]; of what it complains of, only the lines that are wanted are kept, each cut off at 4096
/// bytes. The others are read and forgotten, however many they are.
///
/// # Errors
/// When it does not start.
pub fn run_group_choosing(
    command: &mut Command,
    limit: Duration,
    most: u64,
    wanted: fn(&[u8]) -> bool,
) -> Result<Run, PeerError> {
    command.process_group(0);
    run_child(command, limit, most, Kill::Group, Some(wanted))
}

/// What goes when the time is up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kill {
    /// The child.
    Child,
    /// All of its process group.
    Group,
}

fn run_child(
    command: &mut Command,
    limit: Duration,
    most: u64,
    kill: Kill,
    wanted: Option<fn(&[u8]) -> bool>,
) -> Result<Run, PeerError> {
    let program = PathBuf::from(command.get_program());
    let failed = |source| PeerError::Start { program: program.clone(), source };
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(failed)?;
    let stdout = keep(child.stdout.take().expect("it is piped"), most);
    let stderr = child.stderr.take().expect("it is piped");
    let stderr = match wanted {
        Some(wanted) => keep_lines(stderr, most, wanted),
        None => keep(stderr, most),
    };
    let ended = match child.wait_timeout(limit).map_err(failed)? {
        Some(status) => match status.code() {
            Some(code) => Ended::Exited(code),
            None => Ended::Killed(std::os::unix::process::ExitStatusExt::signal(&status).unwrap_or(0)),
        },
        None => {
            // It may have ended by itself just now; then there is nothing to kill.
            if let (Kill::Group, Some(pid)) = (kill, rustix::process::Pid::from_raw(child.id() as i32)) {
                let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
            }
            let _ = child.kill();
            let _ = child.wait();
            // What it started itself may live on and keep the pipes open, so they are not waited for.
            return Ok(Run { ended: Ended::TimedOut, stdout: Vec::new(), stderr: Vec::new() });
        }
    };
    let collect = |t: thread::JoinHandle<Vec<u8>>| t.join().unwrap_or_default();
    Ok(Run { ended, stdout: collect(stdout), stderr: collect(stderr) })
}

fn keep(mut from: impl Read + Send + 'static, most: u64) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        // An error is the end of the output.
        let _ = from.by_ref().take(most).read_to_end(&mut kept);
        let _ = std::io::copy(&mut from, &mut std::io::sink());
        kept
    })
}

/// The longest line that is kept.
const LINE: usize = 4096;

fn keep_lines(
    from: impl Read + Send + 'static,
    most: u64,
    wanted: fn(&[u8]) -> bool,
) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || chosen_lines(BufReader::with_capacity(1 << 16, from), most, wanted))
}

fn chosen_lines(mut from: impl BufRead, most: u64, wanted: fn(&[u8]) -> bool) -> Vec<u8> {
    let (mut kept, mut line) = (Vec::new(), Vec::new());
    loop {
        let some = match from.fill_buf() {
            Ok(some) => some,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            // An error is the end of the output.
            Err(_) => break,
        };
        let end = some.iter().position(|b| *b == b'\n');
        let part = &some[..end.unwrap_or(some.len())];
        line.extend_from_slice(&part[..part.len().min(LINE - line.len())]);
        let used = part.len() + usize::from(end.is_some());
        if end.is_some() || used == 0 && !line.is_empty() {
            if wanted(&line) && ((kept.len() + line.len()) as u64) < most {
                kept.append(&mut line);
                kept.push(b'\n');
            }
            line.clear();
        }
        if used == 0 {
            break;
        }
        from.consume(used);
    }
    kept
}

/// Spike, with its instruction set.
#[derive(Clone, Debug)]
pub struct Spike {
    /// The binary.
    pub path: PathBuf,
    /// Its `--isa`.
    pub isa: String,
}

impl Spike {
    /// The command that runs an ELF with a little memory.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.arg(format!("--isa={}", self.isa));
        command
    }

    /// Runs an ELF that leaves a signature, and reads it.
    ///
    /// # Errors
    /// When Spike does not start, does not end well, or leaves no signature of `words` words.
    pub fn signature(&self, elf: &Path, into: &Path, words: usize) -> Result<Vec<u64>, PeerError> {
        signature(self.command(), elf, into, words, Duration::from_secs(30))
    }
}

/// Runs an ELF that leaves a signature on Spike, by a command that lacks only that, and reads it.
///
/// # Errors
/// When Spike does not start, does not end well, or leaves no signature of `words` words.
pub fn signature(
    mut command: Command,
    elf: &Path,
    into: &Path,
    words: usize,
    limit: Duration,
) -> Result<Vec<u64>, PeerError> {
    let program = PathBuf::from(command.get_program());
    command.arg(format!("+signature={}", into.display())).arg("+signature-granularity=8").arg(elf);
    let run = run(&mut command, limit)?;
    let failed = |why: String| PeerError::Failed { program: program.clone(), why };
    if run.ended != Ended::Exited(0) {
        let stderr = String::from_utf8_lossy(&run.stderr);
        return Err(failed(format!("{}: {:?}; {stderr}", elf.display(), run.ended)));
    }
    let text =
        std::fs::read_to_string(into).map_err(|source| PeerError::Io { path: into.to_owned(), source })?;
    let parsed: Result<Vec<u64>, _> = text.lines().map(|l| u64::from_str_radix(l, 16)).collect();
    let parsed = parsed.map_err(|e| failed(format!("{}: {e}", into.display())))?;
    if parsed.len() < words {
        return Err(failed(format!("{}: {} words, not {words}", into.display(), parsed.len())));
    }
    Ok(parsed[..words].to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_lines_the_wanted_ones_are_kept() {
        let long = format!("*{}", "x".repeat(3 * LINE));
        let text = format!("*a\nb\n\n*c\n{long}\n{}*d", "y".repeat(1 << 20) + "\n");
        let chosen = |size, most| {
            chosen_lines(BufReader::with_capacity(size, text.as_bytes()), most, |l| l.starts_with(b"*"))
        };
        let all = format!("*a\n*c\n{}\n*d\n", &long[..LINE]);
        for size in [1, 7, 1 << 16] {
            assert_eq!(String::from_utf8_lossy(&chosen(size, 1 << 20)), all);
        }
        assert_eq!(chosen(64, 5), b"*a\n");
        assert!(chosen_lines(&b""[..], 9, |_| false).is_empty());
    }

    #[test]
    fn what_a_command_complains_of_is_chosen_from() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo out; yes no 2>&1 | head -n 100000 >&2; echo yes >&2"]);
        let run =
            run_group_choosing(&mut command, Duration::from_secs(60), 1 << 20, |l| l == b"yes").unwrap();
        assert_eq!((&run.stdout[..], &run.stderr[..]), (&b"out\n"[..], &b"yes\n"[..]));
    }

    #[test]
    fn peers_are_told_of_every_extension() {
        let names_all = |text: &str, separator: char| {
            let names: Vec<&str> = text.split(separator).collect();
            ["zicond", "zfh", "zcb", "zbkx", "zacas", "svinval", "zvfbfwma", "zvbb", "zvknhb", "zvksh"]
                .iter()
                .all(|name| names.contains(name) || names.contains(&format!("{name}=true").as_str()))
        };
        assert!(
            names_all(&spike_isa(256), '_') && spike_isa(256).ends_with("_zvl256b"),
            "{}",
            spike_isa(256)
        );
        assert!(
            names_all(&qemu_cpu(256), ',') && qemu_cpu(256).contains(",zicbom=false"),
            "{}",
            qemu_cpu(256)
        );
        println!("{}\n{}", spike_isa(256), qemu_cpu(256));
    }
}
