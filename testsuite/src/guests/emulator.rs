//! Running a kernel: here, on QEMU, on another `rvvsim`, on Spike.

use crate::peer::emulators::{QemuChoices, qemu_max};
use crate::peer::{self, Ended, PeerError};
use rvvsim::config::{Agnostic, VlChoice};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// What an implementation may choose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Freedom {
    /// What to call it.
    pub name: &'static str,
    /// Tail-agnostic elements.
    pub tail: Agnostic,
    /// Masked-off elements under mask-agnostic.
    pub mask: Agnostic,
    /// Which `vl`.
    pub vl: VlChoice,
}

impl Freedom {
    /// Agnostic is undisturbed, `vl` is as large as can be.
    pub const PLAIN: Freedom = Freedom {
        name: "plain",
        tail: Agnostic::Undisturbed,
        mask: Agnostic::Undisturbed,
        vl: VlChoice::Max,
    };
    /// Agnostic elements are overwritten with ones.
    pub const ONES: Freedom =
        Freedom { name: "ones", tail: Agnostic::Ones, mask: Agnostic::Ones, vl: VlChoice::Max };
    /// `vl` is ⌈AVL/2⌉ where that is allowed.
    pub const HALF: Freedom = Freedom {
        name: "half",
        tail: Agnostic::Undisturbed,
        mask: Agnostic::Undisturbed,
        vl: VlChoice::Half,
    };
    /// Coins are tossed.
    pub const RANDOM: Freedom = Freedom {
        name: "random",
        tail: Agnostic::Random(1),
        mask: Agnostic::Random(2),
        vl: VlChoice::Random(3),
    };
    /// All of them.
    pub const ALL: [Freedom; 4] = [Self::PLAIN, Self::ONES, Self::HALF, Self::RANDOM];
}

/// How a guest ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Signaled(i32),
    /// Its time was up.
    TimedOut,
    /// Otherwise.
    Other(String),
}

/// What an emulator made of a kernel.
#[derive(Clone, Debug)]
pub struct Observed {
    /// How it ended.
    pub ending: Ending,
    /// What it printed.
    pub stdout: Vec<u8>,
    /// What the emulator has to say about it: the trap, or its standard error.
    pub remark: String,
}

impl Observed {
    /// Whether two emulators showed the same.
    #[must_use]
    pub fn agrees_with(&self, other: &Observed) -> bool {
        self.ending == other.ending && self.stdout == other.stdout
    }

    /// Whether this is a good run that printed `expected`.
    #[must_use]
    pub fn is(&self, expected: &[u8]) -> bool {
        self.ending == Ending::Exited(0) && self.stdout == expected
    }

    /// The first line that differs from what was expected, or the ending.
    #[must_use]
    pub fn describe(&self, expected: &[u8]) -> String {
        let (got, want) = (String::from_utf8_lossy(&self.stdout), String::from_utf8_lossy(expected));
        let line = got
            .lines()
            .find(|l| l.starts_with("MISMATCH"))
            .or_else(|| got.lines().zip(want.lines()).find(|(g, w)| g != w).map(|(g, _)| g));
        let mut text = format!("{:?}", self.ending);
        if let Some(line) = line {
            text += &format!(", \"{line}\"");
        }
        if !self.remark.is_empty() {
            text += &format!(", {}", self.remark);
        }
        text
    }
}

impl fmt::Display for Emulator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Emulator::Here => "rvvsim",
            Emulator::Rvvsim(_) => "rvvsim (binary)",
            Emulator::Qemu(_) => "qemu",
            Emulator::Spike(_) => "spike",
        })
    }
}

/// Something that runs RISC-V programs.
#[derive(Clone, Debug)]
pub enum Emulator {
    /// This crate's, in process.
    Here,
    /// An `rvvsim` binary.
    Rvvsim(PathBuf),
    /// `qemu-riscv64`.
    Qemu(PathBuf),
    /// Spike, for kernels on bare metal.
    Spike(PathBuf),
}

impl Emulator {
    /// Whether it can take this freedom at this VLEN.
    #[must_use]
    pub fn can(&self, vlen: u32, freedom: &Freedom) -> bool {
        match self {
            Emulator::Here | Emulator::Rvvsim(_) => true,
            Emulator::Qemu(_) => vlen <= 1024 && *freedom != Freedom::RANDOM,
            Emulator::Spike(_) => vlen <= 4096 && *freedom == Freedom::PLAIN,
        }
    }

    /// Runs an ELF on a machine that has `rv64gcv` and what else it `needs`, no more: an extension that the
    /// kernel does not declare is then missed, and the cryptography does not take part in the choice of `vl`
    /// (norm:egs_vl_avl) where there is none. QEMU has everything.
    ///
    /// # Errors
    /// When the emulator cannot be started, or will not take the file.
    pub fn run(
        &self,
        elf: &Path,
        needs: &[String],
        vlen: u32,
        freedom: &Freedom,
        limit: Duration,
    ) -> Result<Observed, PeerError> {
        let isa =
            std::iter::once("rv64gcv").chain(needs.iter().map(String::as_str)).collect::<Vec<_>>().join("_");
        let mut command = match self {
            Emulator::Here => return here(elf, &isa, vlen, freedom, limit),
            Emulator::Rvvsim(path) => {
                let mut command = Command::new(path);
                command.arg("--isa").arg(&isa).arg("--vlen").arg(vlen.to_string());
                command.arg("--tail").arg(freedom.tail.to_string());
                command.arg("--mask").arg(freedom.mask.to_string());
                command.arg("--vl").arg(freedom.vl.to_string());
                command
            }
            Emulator::Qemu(path) => {
                let choices = QemuChoices {
                    tail_ones: freedom.tail == Agnostic::Ones,
                    mask_ones: freedom.mask == Agnostic::Ones,
                    half_vl: freedom.vl == VlChoice::Half,
                };
                qemu_max(path, vlen, choices)
            }
            Emulator::Spike(path) => {
                let mut command = Command::new(path);
                command.arg(format!("--isa={isa}_zicclsm_zvl{vlen}b"));
                command
            }
        };
        let run = peer::run(command.arg(elf), limit)?;
        let ending = match run.ended {
            // How rt.h ends at an illegal instruction on bare metal: 64 and the cause.
            Ended::Exited(66) if matches!(self, Emulator::Spike(_)) => Ending::Signaled(4),
            // What a shell, or an emulator that reports like one, makes of a signal.
            Ended::Exited(code) if code > 128 => Ending::Signaled(code - 128),
            Ended::Exited(code) => Ending::Exited(code),
            Ended::Killed(signal) => Ending::Signaled(signal),
            Ended::TimedOut => Ending::TimedOut,
        };
        let remark = String::from_utf8_lossy(&run.stderr).trim().replace('\n', "; ");
        Ok(Observed { ending, stdout: run.stdout, remark })
    }
}

fn here(elf: &Path, isa: &str, vlen: u32, freedom: &Freedom, limit: Duration) -> Result<Observed, PeerError> {
    let failed = |why: String| PeerError::Failed { program: elf.to_owned(), why };
    let isa = rvv_isa::Isa::parse(isa).map_err(|e| failed(e.to_string()))?;
    let config = Config {
        isa,
        vlen,
        tail: freedom.tail,
        mask: freedom.mask,
        vl: freedom.vl,
        mem: 1 << 28,
        ..Config::default()
    };
    let options = ProcessOptions {
        args: vec![elf.file_name().unwrap_or_default().as_encoded_bytes().to_vec()],
        stdout: Output::Capture,
        stderr: Output::Capture,
        ..ProcessOptions::default()
    };
    let image = Image::open(elf).map_err(|e| failed(e.to_string()))?;
    let mut machine = Machine::user(config, &image, options).map_err(|e| failed(e.to_string()))?;
    let mut remark = String::new();
    let ending = match machine.run(Some(Instant::now() + limit)) {
        Outcome::Exited(code) => Ending::Exited(code),
        Outcome::Signaled { signal, trap } => {
            if let Some(trap) = trap {
                remark = format!("{trap:?} at pc {:#x}", machine.hart().pc());
            }
            Ending::Signaled(signal)
        }
        Outcome::TimedOut => Ending::TimedOut,
        other => Ending::Other(format!("{other:?}")),
    };
    let stdout = machine.stdout().to_vec();
    Ok(Observed { ending, stdout, remark })
}
