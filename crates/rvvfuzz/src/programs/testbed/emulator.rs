//! Emulators: `rvvsim` in this process, and others as commands.

use rvv_isa::DisasmOptions;
use rvv_oracle::VlChoice;
use rvv_tools::emulators::{QemuChoices, custom, qemu_max};
use rvv_tools::find::on_path;
use rvv_tools::{Ended, run_group, run_keeping};
use rvvsim::config::{Agnostic, VlChoice as SimVlChoice};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Cause, Config, Machine, Outcome, Trap};
use std::io::Write;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

/// What an implementation may choose, as a testbed sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Agnosticism {
    /// Agnostic elements keep their values.
    Undisturbed,
    /// They are overwritten with ones.
    Ones,
    /// Each by the toss of a coin.
    Random(u64),
}

impl Agnosticism {
    /// In words.
    pub fn name(self) -> &'static str {
        match self {
            Agnosticism::Undisturbed => "undisturbed",
            Agnosticism::Ones => "ones",
            Agnosticism::Random(_) => "random",
        }
    }
}

/// How a program is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Setup {
    /// Bits in a vector register.
    pub vlen: u32,
    /// Agnostic elements.
    pub agnostic: Agnosticism,
    /// vsetvl's choice.
    pub vl: VlChoice,
}

/// An emulator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Emulator {
    /// `rvvsim`, in this process.
    Rvvsim,
    /// qemu-riscv64, and its version.
    Qemu(PathBuf, String),
    /// A command of the user's: `{elf}` is the program, `{vlen}` the VLEN; arguments for the program are
    /// added.
    Command(String, Vec<String>),
}

/// What a run showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// What was printed.
    pub stdout: Vec<u8>,
    /// How it ended.
    pub ending: Ending,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With status 0.
    Clean,
    /// Otherwise: the signal or status and, from `rvvsim`, the trap.
    Crashed(String),
    /// Its time was up.
    TimedOut,
    /// The emulator could not be run: not the program's fault.
    Broken(String),
}

/// Time for a run.
pub(super) const TIME: Duration = Duration::from_secs(30);
/// Instructions for a run, so that in-process results depend on no clock.
pub(super) const INSTRUCTIONS: u64 = 2_000_000_000;

impl Emulator {
    /// QEMU by path or name.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn qemu(name: &str) -> Result<Emulator, String> {
        let path = on_path(name).ok_or_else(|| format!("`{name}` is not on PATH"))?;
        let asked = run_keeping(Command::new(&path).arg("--version"), Duration::from_secs(10), 1 << 16);
        let asked = asked.map_err(|e| e.to_string())?;
        let text = String::from_utf8_lossy(&asked.stdout).into_owned();
        let version = text.split_whitespace().find(|w| w.starts_with(|c: char| c.is_ascii_digit()));
        match version {
            Some(version) if text.contains("qemu") => Ok(Emulator::Qemu(path, version.to_string())),
            _ => Err(format!("`{name}` does not say that it is QEMU")),
        }
    }

    /// What to call it.
    pub fn name(&self) -> String {
        match self {
            Emulator::Rvvsim => "rvvsim".to_string(),
            Emulator::Qemu(_, version) => format!("qemu {version}"),
            Emulator::Command(name, _) => name.clone(),
        }
    }

    /// Whether it can be set up so.
    pub fn supports(&self, setup: &Setup) -> bool {
        match self {
            Emulator::Rvvsim => true,
            Emulator::Qemu(..) => setup.vlen <= 1024 && !matches!(setup.agnostic, Agnosticism::Random(_)),
            Emulator::Command(..) => setup.agnostic == Agnosticism::Undisturbed && setup.vl == VlChoice::Max,
        }
    }

    /// Runs an ELF; with `only`, the program of that number alone.
    pub fn run(&self, elf: &[u8], setup: &Setup, only: Option<usize>) -> Observed {
        match self {
            Emulator::Rvvsim => run_here(elf, setup, only),
            Emulator::Qemu(path, _) => {
                let ones = setup.agnostic == Agnosticism::Ones;
                let half_vl = setup.vl == VlChoice::Half;
                let choices = QemuChoices { tail_ones: ones, mask_ones: ones, half_vl };
                run_command(elf, only, |file| {
                    let mut command = qemu_max(path, setup.vlen, choices);
                    command.arg(file);
                    command
                })
            }
            Emulator::Command(_, words) => run_command(elf, only, |file| custom(words, file, setup.vlen)),
        }
    }
}

/// A process of `rvvsim` with this ELF, at its start; with `only`, for the program of that number alone.
pub(super) fn load(elf: &[u8], setup: &Setup, only: Option<usize>) -> Result<Machine, String> {
    let image = Image::parse(elf).map_err(|e| e.to_string())?;
    let agnostic = match setup.agnostic {
        Agnosticism::Undisturbed => Agnostic::Undisturbed,
        Agnosticism::Ones => Agnostic::Ones,
        Agnosticism::Random(seed) => Agnostic::Random(seed),
    };
    let isa = match setup.vl {
        VlChoice::Max => Config::default().isa,
        // Without the instructions on element groups, whose presence would round vl up (norm:egs_vl_avl).
        VlChoice::Half => Config::default().isa.without_groups(),
    };
    let config = Config {
        isa,
        vlen: setup.vlen,
        tail: agnostic,
        mask: agnostic,
        vl: match setup.vl {
            VlChoice::Max => SimVlChoice::Max,
            VlChoice::Half => SimVlChoice::Half,
        },
        max_insns: Some(INSTRUCTIONS),
        ..Config::default()
    };
    let mut args = vec![b"program".to_vec()];
    args.extend(only.map(|n| n.to_string().into_bytes()));
    let options = ProcessOptions {
        args,
        stdout: Output::Capture,
        stderr: Output::Discard,
        ..ProcessOptions::default()
    };
    Machine::user(config, &image, options).map_err(|e| e.to_string())
}

fn run_here(elf: &[u8], setup: &Setup, only: Option<usize>) -> Observed {
    let broken = |why: String| Observed { stdout: Vec::new(), ending: Ending::Broken(why) };
    let mut machine = match load(elf, setup, only) {
        Ok(machine) => machine,
        Err(why) => return broken(why),
    };
    let ending = match machine.run(Some(Instant::now() + TIME)) {
        Outcome::Exited(0) => Ending::Clean,
        Outcome::Exited(status) => Ending::Crashed(format!("status {status}")),
        Outcome::Signaled { signal, trap: Some(trap) } => {
            Ending::Crashed(format!("signal {signal}: {}", explain(&trap)))
        }
        Outcome::Signaled { signal, trap: None } => Ending::Crashed(format!("signal {signal}")),
        Outcome::OutOfInstructions | Outcome::TimedOut => Ending::TimedOut,
        Outcome::Stuck(trap) => Ending::Crashed(explain(&trap)),
        Outcome::Unsupported(what) | Outcome::EnginesDiffer(what) => Ending::Broken(what),
    };
    let stdout = machine.stdout().to_vec();
    Observed { stdout, ending }
}

/// A trap in one line: the instruction, and the rule it broke.
fn explain(trap: &Trap) -> String {
    let instruction = match (trap.cause, rvv_isa::decode(trap.tval as u32)) {
        (Cause::IllegalInstruction, Some(inst)) => {
            format!("`{}`: ", inst.disasm(0, DisasmOptions { pseudo: false }).replace('\t', " "))
        }
        _ => String::new(),
    };
    format!("{:?}, {instruction}{}", trap.cause, trap.why)
}

fn run_command(elf: &[u8], only: Option<usize>, make: impl FnOnce(&std::path::Path) -> Command) -> Observed {
    let broken = |why: String| Observed { stdout: Vec::new(), ending: Ending::Broken(why) };
    let file = tempfile::Builder::new().suffix(".elf").tempfile().and_then(|mut file| {
        file.write_all(elf)?;
        file.as_file().set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        // Closed: a file that is open for writing cannot be executed.
        Ok(file.into_temp_path())
    });
    let file = match file {
        Ok(file) => file,
        Err(error) => return broken(format!("cannot write the ELF: {error}")),
    };
    let mut command = make(&file);
    command.args(only.map(|n| n.to_string()));
    match run_group(&mut command, TIME, 64 << 20) {
        Err(error) => broken(error.to_string()),
        Ok(run) => {
            let ending = match run.ended {
                Ended::Exited(0) => Ending::Clean,
                Ended::Exited(status) => Ending::Crashed(format!("status {status}")),
                Ended::Killed(signal) => Ending::Crashed(format!("signal {signal}")),
                Ended::TimedOut => Ending::TimedOut,
            };
            Observed { stdout: run.stdout, ending }
        }
    }
}
