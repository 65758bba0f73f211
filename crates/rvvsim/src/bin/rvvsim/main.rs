//! The `rvvsim` command.

mod flame;
mod options;
mod profile;
mod qemu;
mod report;
mod sweep;

use clap::Parser;
use options::{Mode, Options, Vlens};
use qemu::{Parsed, QemuOptions};
use rvv_isa::DisasmOptions;
use rvvsim::elf::Image;
use rvvsim::linux::{Grant, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};
use sweep::{Subject, Sweep, USUAL_VLENS};

/// `--timeout` has passed, as timeout(1) says it.
const EXIT_TIMEOUT: u8 = 124;
/// `--max-insns` have been executed.
const EXIT_MAX_INSNS: u8 = 125;
/// The program cannot be run.
const EXIT_CANNOT_RUN: u8 = 126;
/// The command line is wrong.
const EXIT_USAGE: u8 = 127;

fn main() -> ExitCode {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let called_as = Path::new(args.first().map_or("".as_ref(), OsString::as_os_str));
    let as_qemu = called_as.file_name().is_some_and(|n| n.to_string_lossy().starts_with("qemu-riscv64"));
    let job = if as_qemu || args.get(1).is_some_and(|a| a == "qemu") {
        args.drain(..if as_qemu { 1 } else { 2 });
        match qemu::parse(args) {
            Ok(Parsed::Run(options)) => Job::from_qemu(*options),
            Ok(Parsed::Print(text)) => {
                println!("{text}");
                return ExitCode::SUCCESS;
            }
            Err(message) => Err(message),
        }
    } else {
        match Options::try_parse_from(args) {
            Ok(options) => Job::from_options(options),
            Err(e) => {
                let _ = e.print();
                return if e.use_stderr() { ExitCode::from(EXIT_USAGE) } else { ExitCode::SUCCESS };
            }
        }
    };
    match job {
        Ok(job) => ExitCode::from(job.run()),
        Err(message) => {
            eprintln!("rvvsim: {message}");
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// The program of `--demo`; its source is beside it.
const DEMO: &[u8] = include_bytes!("../../../demo/demo.elf");

/// One run.
struct Job {
    /// `None` for the demo.
    elf: Option<PathBuf>,
    config: Config,
    mode: Mode,
    process: ProcessOptions,
    timeout: Option<Duration>,
    trace: Option<PathBuf>,
    /// QEMU's `-d in_asm`, and where to.
    in_asm: Option<PathBuf>,
    stats: bool,
    profile: Option<PathBuf>,
    sweep: Option<Sweep>,
}

impl Job {
    fn from_options(o: Options) -> Result<Job, String> {
        let config = o.machine.config()?;
        let sweep = match o.sweep.sweep {
            Some(Vlens(vlens)) => Some(new_sweep(&config, vlens, o.sweep.json)?),
            None => None,
        };
        let program = o.elf.clone().unwrap_or_else(|| "demo".into());
        let mut args = vec![o.process.argv0.clone().unwrap_or_else(|| program.into())];
        args.extend(o.args);
        let mut process = ProcessOptions {
            args: args.into_iter().map(OsString::into_vec).collect(),
            env: o.process.env.iter().map(|e| e.clone().into_bytes()).collect(),
            sysroot: o.process.sysroot,
            host_fs: o.process.host_fs,
            seed: o.process.seed,
            strace: o.process.strace,
            ..ProcessOptions::default()
        };
        for dir in &o.process.dir {
            let grant = Grant::parse(dir);
            if !grant.path.is_dir() {
                return Err(format!("--dir {}: there is no such folder", grant.path.display()));
            }
            process.dirs.push(grant);
        }
        Ok(Job {
            elf: o.elf,
            config,
            mode: o.machine.mode,
            process,
            timeout: o.machine.timeout.map(Duration::from_secs_f64),
            trace: o.look.trace,
            in_asm: None,
            stats: o.look.stats,
            profile: o.look.profile,
            sweep,
        })
    }

    fn from_qemu(o: QemuOptions) -> Result<Job, String> {
        let elf = PathBuf::from(&o.program[0]);
        let mut env: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        for (name, value) in o.env {
            env.retain(|(n, _)| *n != *name);
            if let Some(value) = value {
                env.push((name.into(), value.into()));
            }
        }
        let mut args = o.program;
        if let Some(argv0) = o.argv0 {
            args[0] = argv0;
        }
        let pair = |(name, value): (OsString, OsString)| [name.into_vec(), value.into_vec()].join(&b'=');
        let process = ProcessOptions {
            args: args.into_iter().map(OsString::into_vec).collect(),
            env: env.into_iter().map(pair).collect(),
            sysroot: o.sysroot,
            host_fs: true,
            seed: o.seed,
            strace: o.strace,
            ..ProcessOptions::default()
        };
        Ok(Job {
            elf: Some(elf),
            config: o.config,
            mode: Mode::User,
            process,
            timeout: None,
            trace: None,
            in_asm: o.in_asm.then(|| o.log.unwrap_or_else(|| "/dev/stderr".into())),
            stats: false,
            profile: None,
            sweep: None,
        })
    }

    fn run(self) -> u8 {
        let name = self.elf.as_ref().map_or_else(|| "demo".to_owned(), |elf| elf.display().to_string());
        let bytes = match self.elf.as_ref().map(std::fs::read) {
            None => DEMO.to_vec(),
            Some(Ok(bytes)) => bytes,
            Some(Err(e)) => return self.cannot_run(&format!("cannot read {name}: {e}")),
        };
        let image = match Image::parse(&bytes) {
            Ok(image) => image,
            Err(e) => return self.cannot_run(&format!("{name}: {e}")),
        };
        if let Some(sweep) = self.sweep {
            let Job { config, mode, process, timeout, .. } = self;
            return sweep.run(Subject { name: &name, image: &image, config, mode, process, timeout });
        }
        let bare = self.mode.is_bare(&image);
        let machine = if bare {
            Machine::bare(self.config, &image)
        } else {
            Machine::user(self.config, &image, self.process)
        };
        let mut machine = match machine {
            Ok(machine) => machine,
            Err(e) => return cannot_run(&format!("{name}: {e}")),
        };
        if let Some(path) = &self.in_asm {
            match File::create(path) {
                Ok(file) => log_blocks(&mut machine, file),
                Err(e) => return cannot_run(&format!("cannot write to {}: {e}", path.display())),
            }
        }
        let start = Instant::now();
        let deadline = self.timeout.map(|t| start + t);
        let outcome = match &self.trace {
            None => machine.run(deadline),
            Some(path) => match traced(&mut machine, deadline, path) {
                Ok(outcome) => outcome,
                Err(e) => return cannot_run(&format!("cannot write the trace to {}: {e}", path.display())),
            },
        };
        let time = start.elapsed();
        let code = conclude(&mut machine, &image, &outcome);
        if self.stats {
            eprint!("{}", report::statistics(&machine, time));
        }
        if let Some(path) = &self.profile {
            let (text, stacks) = profile::profile(&machine, &image, path);
            eprint!("{text}");
            if let Err(e) = std::fs::write(path, stacks) {
                return cannot_run(&format!("cannot write the profile to {}: {e}", path.display()));
            }
        }
        // The process ends now, and the kernel takes back all of it at once.
        std::mem::forget(machine);
        code
    }

    fn cannot_run(&self, message: &str) -> u8 {
        let code = cannot_run(message);
        if self.sweep.is_some() { sweep::CANNOT_RUN } else { code }
    }
}

/// The sweep of `--sweep`.
fn new_sweep(config: &Config, mut vlens: Vec<u32>, json: bool) -> Result<Sweep, String> {
    if vlens.is_empty() {
        vlens.extend(USUAL_VLENS.iter().filter(|vlen| options::check_vlen(&config.isa, **vlen).is_ok()));
    }
    for vlen in &vlens {
        options::check_vlen(&config.isa, *vlen)?;
    }
    vlens.sort_unstable();
    vlens.dedup();
    Ok(Sweep { vlens, json, words: std::env::args_os().collect() })
}

fn cannot_run(message: &str) -> u8 {
    eprintln!("rvvsim: {message}");
    EXIT_CANNOT_RUN
}

/// QEMU's `-d in_asm`: the instructions of each block as it is decoded.
fn log_blocks(machine: &mut Machine, mut file: File) {
    machine.engine.observe(move |pc, insts| {
        let mut text = "----------------\nIN:\n".to_owned();
        for (offset, inst) in insts {
            let at = pc.wrapping_add(u64::from(*offset));
            let digits = 2 * usize::from(inst.len);
            let asm = inst.disasm(at, DisasmOptions { pseudo: true }).replace('\t', " ");
            text.push_str(&format!("{at:#010x}:  {:<10}  {asm}\n", format!("{:0digits$x}", inst.raw)));
        }
        // A log that cannot be written is no reason to stop the guest.
        let _ = file.write_all(text.as_bytes());
    });
}

fn traced(machine: &mut Machine, deadline: Option<Instant>, path: &Path) -> std::io::Result<Outcome> {
    let mut out = BufWriter::with_capacity(1 << 16, File::create(path)?);
    let outcome = machine.run_traced(deadline, &mut out)?;
    out.flush()?;
    Ok(outcome)
}

/// Says what needs saying; the exit code.
fn conclude(machine: &mut Machine, image: &Image, outcome: &Outcome) -> u8 {
    match outcome {
        // As a shell sees it: the low eight bits, but a failure stays one.
        Outcome::Exited(code) if *code != 0 && code & 0xff == 0 => 255,
        Outcome::Exited(code) => (code & 0xff) as u8,
        Outcome::Signaled { signal, trap } => {
            let name = rvvsim::linux::signal_name(*signal);
            match trap {
                Some(trap) => {
                    let headline = format!("the guest was ended by {name}");
                    eprint!("{}", report::fatal_trap(&mut machine.hart, image, &headline, trap));
                }
                None => eprintln!("rvvsim: the guest was ended by {name}"),
            }
            128 + (*signal & 0x7f) as u8
        }
        Outcome::Stuck(trap) => {
            let headline = "a trap whose handler cannot be fetched: the hart would trap for ever";
            eprint!("{}", report::fatal_trap(&mut machine.hart, image, headline, trap));
            EXIT_CANNOT_RUN
        }
        Outcome::OutOfInstructions => {
            eprintln!("rvvsim: stopped after {} instructions (--max-insns)", machine.hart.instret);
            EXIT_MAX_INSNS
        }
        Outcome::TimedOut => {
            eprintln!("rvvsim: stopped by --timeout after {} instructions", machine.hart.instret);
            EXIT_TIMEOUT
        }
        Outcome::Unsupported(what) => {
            eprintln!("rvvsim: the guest needs what this emulator does not support: {what}");
            EXIT_CANNOT_RUN
        }
    }
}
