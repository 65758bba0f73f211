//! Who runs the ELFs: `rvvsim` itself, its host code, Spike, QEMU, or any command.

use super::builder::csr_immediate;
use super::compare::Choice;
use super::dump::Places;
use super::generate::word;
use super::init::Init;
use super::layout::{DUMPS, RAM, RUNTIME};
use super::runtime::{Environment, elf_from};
use super::stream::{CodeError, Step, Stream};
use rvv_isa::{Ext, Inst, Isa, Op, csr};
use rvv_tools::emulators::custom;
use rvv_tools::{Ended, PeerError, qemu_cpu, run_keeping, signature, spike_isa};
use rvvsim::config::{Agnostic, EngineChoice};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What kind of emulator a peer is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Spike: the bare environment, dumps by signature.
    Spike(PathBuf),
    /// QEMU user mode: the Linux environment, dumps on standard output.
    Qemu(PathBuf),
    /// `rvvsim` itself, in process, with every block compiled before it first runs: the bare environment. It
    /// is compared with the interpreter.
    HostCode,
    /// A command in which `{elf}` stands for the file and `{vlen}` for VLEN: the Linux environment, dumps on
    /// standard output.
    Command(Vec<String>),
}

/// An emulator to compare with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Peer {
    /// What it is called in reports and in the list of known differences.
    pub name: String,
    /// It traps on arithmetic with `vstart` that is not zero, as the manual lets it: see [`Peer::probe`].
    pub traps_on_vstart: bool,
    /// What it is.
    pub kind: Kind,
    /// What it does with agnostic elements.
    pub choice: Choice,
    /// How long it may take for one ELF.
    pub limit: Duration,
}

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub enum AskError {
    /// The peer did not do as it should.
    #[error(transparent)]
    Peer(#[from] PeerError),
    /// A stream has no machine code.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// `rvvsim` did not come to the end of the ELF.
    #[error("rvvsim: {0}")]
    Here(String),
}

impl Peer {
    /// Spike at this path.
    #[must_use]
    pub fn spike(path: &Path) -> Peer {
        Peer {
            name: "spike".into(),
            traps_on_vstart: false,
            kind: Kind::Spike(path.to_owned()),
            choice: Choice::Kept,
            limit: Duration::from_secs(10),
        }
    }

    /// QEMU at this path.
    #[must_use]
    pub fn qemu(path: &Path) -> Peer {
        Peer {
            name: "qemu".into(),
            traps_on_vstart: false,
            kind: Kind::Qemu(path.to_owned()),
            choice: Choice::Kept,
            limit: Duration::from_secs(10),
        }
    }

    /// The host code of `rvvsim`.
    #[must_use]
    pub fn host_code() -> Peer {
        Peer {
            name: "host-code".into(),
            traps_on_vstart: false,
            kind: Kind::HostCode,
            choice: Choice::Kept,
            limit: Duration::from_secs(10),
        }
    }

    /// Finds out how it takes `vstart`, with a stream of one instruction.
    ///
    /// # Errors
    /// When it does not start, or has no answer to so small a program.
    pub fn probe(&mut self, vlen: u32, folder: &Path) -> Result<(), AskError> {
        let add = Step {
            before: vec![csr_immediate(csr::VSTART, 1)],
            ..Step::plain(word(&Inst { rd: 8, rs1: 16, rs2: 24, ..Inst::new(Op::VaddVv) }))
        };
        let set = word(&Inst { rd: 5, imm: 0, ..Inst::new(Op::Vsetvli) });
        let steps = vec![Step::plain(set), add];
        let stream = Stream { vlen, init: Init::new(0), steps, flows: Vec::new() };
        let places = Places::new(vlen);
        let dump = self.ask(0, &[&stream], folder)?;
        self.traps_on_vstart = !places.trapped(&dump[0]).is_empty();
        Ok(())
    }

    /// Whether an entry of the list of known differences for `name` is about this peer.
    #[must_use]
    pub fn is(&self, name: &str) -> bool {
        name == self.name || (self.traps_on_vstart && name == "traps-on-vstart")
    }

    /// The environment of its ELFs.
    #[must_use]
    pub fn environment(&self) -> Environment {
        match self.kind {
            Kind::Spike(_) | Kind::HostCode => Environment::Bare,
            _ => Environment::Linux,
        }
    }

    /// What `rvvsim` has when the two are compared.
    #[must_use]
    pub fn isa(&self) -> Isa {
        match self.kind {
            Kind::Qemu(_) => Isa::default().without(Ext::Zicbom),
            _ => Isa::default(),
        }
    }

    /// The same on `rvvsim`.
    ///
    /// # Errors
    /// When it does not come to an end.
    pub fn ask_here(&self, first: usize, streams: &[&Stream]) -> Result<Vec<Vec<u64>>, AskError> {
        let engine = match self.kind {
            Kind::HostCode => EngineChoice::Interpreter,
            _ => Config::default().engine,
        };
        ask_here_with(
            first,
            streams,
            self.environment(),
            Config { isa: self.isa(), engine, ..Config::default() },
        )
    }

    /// Runs streams of one VLEN, all in one ELF, from slot `first` on, and returns their dumps. `folder` is
    /// for files of the exchange.
    ///
    /// # Errors
    /// When the peer does not start, does not end well or in time, or gives too little.
    pub fn ask(&self, first: usize, streams: &[&Stream], folder: &Path) -> Result<Vec<Vec<u64>>, AskError> {
        let vlen = streams.first().map_or(128, |s| s.vlen);
        if self.kind == Kind::HostCode {
            let config = Config { engine: EngineChoice::Jit, jit_threshold: 0, ..Config::default() };
            return ask_here_with(first, streams, self.environment(), config).map_err(|e| match e {
                AskError::Here(why) => PeerError::Failed { program: "host code".into(), why }.into(),
                other => other,
            });
        }
        let path = folder.join("streams.elf");
        let io = |source| PeerError::Io { path: path.clone(), source };
        std::fs::write(&path, elf_from(first, streams, self.environment())?).map_err(io)?;
        // QEMU runs no file that could not be run.
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).map_err(io)?;
        let words = Places::new(vlen).words();
        let all = match &self.kind {
            Kind::Spike(program) => {
                let mut command = Command::new(program);
                command.arg(format!("--isa={}", spike_isa(vlen))).arg(format!("-m{RUNTIME:#x}:{RAM:#x}"));
                signature(command, &path, &folder.join("signature"), words * streams.len(), self.limit)?
            }
            Kind::Qemu(program) => {
                let mut command = Command::new(program);
                command.arg("-cpu").arg(qemu_cpu(vlen)).arg(&path);
                self.standard_output(command, words * streams.len())?
            }
            Kind::HostCode => unreachable!("it was asked above"),
            Kind::Command(words_of) => {
                let command = custom(words_of, &path, vlen);
                self.standard_output(command, words * streams.len())?
            }
        };
        Ok(all.chunks_exact(words).map(<[u64]>::to_vec).collect())
    }

    fn standard_output(&self, mut command: Command, words: usize) -> Result<Vec<u64>, PeerError> {
        let run = run_keeping(&mut command, self.limit, 64 << 20)?;
        let failed = |why: String| PeerError::Failed { program: command.get_program().into(), why };
        if run.ended != Ended::Exited(0) {
            let stderr = String::from_utf8_lossy(&run.stderr);
            let stderr: String = stderr.lines().take(3).collect::<Vec<_>>().join("; ");
            return Err(failed(format!("{:?} {stderr}", run.ended)));
        }
        if run.stdout.len() != 8 * words {
            let got = run.stdout.len();
            return Err(failed(format!("it wrote {got} bytes to its standard output, not {}", 8 * words)));
        }
        Ok(to_words(&run.stdout))
    }
}

fn to_words(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|b| u64::from_le_bytes(b.try_into().expect("eight bytes"))).collect()
}

/// The same on `rvvsim`, in process, with agnostic elements kept or overwritten.
///
/// # Errors
/// When it does not come to an end.
pub fn ask_here(
    streams: &[&Stream],
    environment: Environment,
    agnostic: Agnostic,
) -> Result<Vec<Vec<u64>>, AskError> {
    let config = Config { tail: agnostic, mask: agnostic, ..Config::default() };
    ask_here_with(0, streams, environment, config)
}

/// The same by an engine, which compiles every block before it first runs it if it compiles any.
///
/// # Errors
/// When it does not come to an end, or two engines differ.
pub fn ask_engine(
    streams: &[&Stream],
    environment: Environment,
    engine: EngineChoice,
) -> Result<Vec<Vec<u64>>, AskError> {
    ask_here_with(0, streams, environment, Config { engine, jit_threshold: 0, ..Config::default() })
}

fn ask_here_with(
    first: usize,
    streams: &[&Stream],
    environment: Environment,
    config: Config,
) -> Result<Vec<Vec<u64>>, AskError> {
    let vlen = streams.first().map_or(128, |s| s.vlen);
    let elf = elf_from(first, streams, environment)?;
    run_here(&elf, streams.len(), environment, Config { vlen, ..config })
}

/// Runs an ELF of so many streams, for the VLEN of the configuration, on `rvvsim` in process: their dumps.
///
/// # Errors
/// When it does not come to an end, or two engines differ.
pub fn run_here(
    elf: &[u8],
    streams: usize,
    environment: Environment,
    config: Config,
) -> Result<Vec<Vec<u64>>, AskError> {
    let failed = |e: String| AskError::Here(e);
    let image = Image::parse(elf).map_err(|e| failed(e.to_string()))?;
    let mem = if environment == Environment::Bare { RAM } else { 256 << 20 };
    let words = Places::new(config.vlen).words();
    let config = Config { mem, max_insns: Some(200_000_000), ..config };
    let all = match environment {
        Environment::Bare => {
            let mut machine = Machine::bare(config, &image).map_err(|e| failed(e.to_string()))?;
            ended(machine.run(None))?;
            let at = (DUMPS - RUNTIME) as usize;
            to_words(&machine.hart().memory()[at..at + 8 * words * streams])
        }
        Environment::Linux => {
            let options = ProcessOptions {
                args: vec![b"streams".to_vec()],
                stdout: Output::Capture,
                output_limit: 64 << 20,
                ..ProcessOptions::default()
            };
            let mut machine = Machine::user(config, &image, options).map_err(|e| failed(e.to_string()))?;
            ended(machine.run(None))?;
            let process = machine.process().ok_or_else(|| failed("it is no process".into()))?;
            to_words(process.stdout())
        }
    };
    if all.len() != words * streams {
        return Err(failed(format!("{} words, not {}", all.len(), words * streams)));
    }
    Ok(all.chunks_exact(words).map(<[u64]>::to_vec).collect())
}

fn ended(outcome: Outcome) -> Result<(), AskError> {
    match outcome {
        Outcome::Exited(0) => Ok(()),
        other => Err(AskError::Here(format!("the ELF did not end well: {other:?}"))),
    }
}
