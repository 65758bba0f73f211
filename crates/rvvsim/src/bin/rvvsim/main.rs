//! The `rvvsim` command.

mod binfmt;
mod core;
mod count;
mod files;
mod flame;
mod gdb;
mod names;
mod observed;
mod options;
mod profile;
mod qemu;
mod report;
mod sanitize;
mod say;
mod signature;
mod sweep;

use crate::core::Core;
use crate::count::Count;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory, Parser};
use observed::{ObserveOptions, Observers};
use options::{IsaOption, MachineOptions, Mode, Options, SanitizeOption, Vlens};
use qemu::{Parsed, QemuOptions};
use rvv_isa::DisasmOptions;
use rvvsim::elf::Image;
use rvvsim::linux::{Grant, Net, ProcessOptions};
use rvvsim::{Config, ConsoleInput, Machine, Outcome, TraceFormat};
use sanitize::{Sanitize, Suppressions};
use signature::Signature;
use std::ffi::OsString;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::num::NonZeroU32;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use sweep::{OnCore, Subject, Sweep, USUAL_VLENS};

/// `--sanitize` found something.
const EXIT_FOUND: u8 = 123;
/// `--timeout` has passed, as timeout(1) says it.
const EXIT_TIMEOUT: u8 = 124;
/// `--max-insns` have been executed.
const EXIT_MAX_INSNS: u8 = 125;
/// The program cannot be run, or what it was run for cannot be written.
const EXIT_CANNOT_RUN: u8 = 126;
/// The command line is wrong.
const EXIT_USAGE: u8 = 127;

fn main() -> ExitCode {
    let mut args: Vec<OsString> = std::env::args_os().collect();
    let called_as = Path::new(args.first().map_or("".as_ref(), OsString::as_os_str));
    let as_qemu = called_as.file_name().is_some_and(|n| n.to_string_lossy().starts_with("qemu-riscv64"));
    let kernel = if as_qemu { binfmt::Started::from_auxv() } else { binfmt::Started::default() };
    let job = if as_qemu || args.get(1).is_some_and(|a| a == "qemu") {
        args.drain(..if as_qemu { 1 } else { 2 });
        let argv0 = kernel.take_argv0(&mut args);
        match qemu::parse(args) {
            Ok(Parsed::Run(mut options)) => {
                options.argv0 = argv0.or(options.argv0);
                Job::from_qemu(*options, kernel.program)
            }
            Ok(Parsed::Print(text)) => return print_only(&format!("{text}\n")),
            Err(message) => Err(message),
        }
    } else if let Some(done) = rvv_cli::generate(Options::command()) {
        return match done {
            Ok(()) => ExitCode::SUCCESS,
            Err(e) => ExitCode::from(cannot_run(&e.to_string())),
        };
    } else {
        match Options::try_parse_from(args) {
            Ok(Options { observe: ObserveOptions { read_trace: Some(path), .. }, .. }) => {
                return match observed::print_trace(&path) {
                    Ok(()) => ExitCode::SUCCESS,
                    Err(e) => ExitCode::from(cannot_run(&e)),
                };
            }
            Ok(options) => Job::from_options(options),
            Err(e) if e.use_stderr() => {
                say::note(&usage_fault(&e));
                return ExitCode::from(EXIT_USAGE);
            }
            // --help and --version.
            Err(e) => return print_only(&e.render().to_string()),
        }
    };
    match job {
        Ok(job) => ExitCode::from(job.run()),
        Err(message) => {
            say::note(&format!("rvvsim: {message}\n"));
            ExitCode::from(EXIT_USAGE)
        }
    }
}

/// Prints a text that was asked for, and nothing else.
fn print_only(text: &str) -> ExitCode {
    match say::print(text) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => ExitCode::from(cannot_run(&message)),
    }
}

/// What is wrong with the command line. An option that is not ours may be the guest's.
fn usage_fault(e: &clap::Error) -> String {
    let text = |kind| match e.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match (e.kind(), text(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(option)) => {
            let like = match text(ContextKind::SuggestedArg) {
                Some(known) => format!(" (is it {known}?)"),
                None => String::new(),
            };
            format!(
                "rvvsim: there is no option {option}{like}; if it is the guest's, put it after --, as in \
                 rvvsim PROGRAM -- {option}\nrvvsim --help lists the options\n"
            )
        }
        _ => e.render().to_string(),
    }
}

/// Where the program is: as given, or on PATH if it is a bare word and no file here, as a shell finds it.
fn find_program(given: PathBuf) -> PathBuf {
    let bare_word = given.parent() == Some(Path::new("")) && given != Path::new("..");
    let search = if bare_word && !given.exists() { std::env::var_os("PATH") } else { None };
    let executable = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    };
    let mut places = search.iter().flat_map(std::env::split_paths).map(|folder| folder.join(&given));
    places.find(executable).unwrap_or(given)
}

/// The program of `--demo`; its source is beside it.
const DEMO: &[u8] = include_bytes!("../../../demo/demo.elf");

/// One run.
struct Job {
    /// `None` for the demo.
    elf: Option<PathBuf>,
    config: Config,
    /// The string of `--isa`.
    isa: Option<IsaOption>,
    mode: Mode,
    process: ProcessOptions,
    timeout: Option<Duration>,
    trace: Option<PathBuf>,
    trace_format: TraceFormat,
    /// `--accesses` and `--cycles`.
    observers: Option<Observers>,
    /// QEMU's `-d in_asm`, and where to.
    in_asm: Option<PathBuf>,
    stats: bool,
    profile: Option<PathBuf>,
    count: Option<PathBuf>,
    /// The file of `--signature`, and the bytes of a line.
    signature: Option<(PathBuf, u16)>,
    sweep: Option<Sweep>,
    /// Where gdb is waited for.
    gdb: Option<gdb::Place>,
    /// What `--sanitize` is to do.
    sanitize: Option<Sanitize>,
}

impl Job {
    fn from_options(o: Options) -> Result<Job, String> {
        if o.elf.is_none() && !o.demo {
            return Err("no program was given. rvvsim PROGRAM runs one, rvvsim --demo runs a built-in one, \
                        rvvsim --help lists the options"
                .into());
        }
        let cores = o.machine.core.iter().map(|path| Core::read(path));
        let cores: Vec<Core> = cores.collect::<Result<_, _>>().map_err(|e| format!("--core: {e}"))?;
        if cores.len() > 1 && o.sweep.sweep.is_none() {
            return Err("a program runs on one --core; with --sweep, on each of several".into());
        }
        let config = o.machine.config(cores.first())?;
        let isa = o.machine.isa.clone().or(cores.first().and_then(|core| core.isa.clone()));
        let sweep = match o.sweep.sweep {
            Some(Vlens(vlens)) => {
                let cores = sweep_cores(&o.machine, cores, &vlens)?;
                let vlens = sweep_vlens(&config, vlens)?;
                let (ignore, compare, json) = (o.sweep.ignore, o.sweep.compare, o.sweep.json);
                let count = o.look.count.clone();
                if count.is_some() && cores.len() > 1 {
                    return Err("--sweep --count takes one --core".into());
                }
                let words = std::env::args_os().collect();
                Some(Sweep { vlens, cores, count, ignore, compare, json, words })
            }
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
            schedule: o.machine.schedule.unwrap_or_default(),
            cpus: o.process.cpus,
            most_processes: o.process.max_processes,
            host_signals: true,
            net: o.process.net.into(),
            vector_calls: o.process.vector_calls.into(),
            warn_unsupported: o.process.warn_unsupported,
            ..ProcessOptions::default()
        };
        for dir in &o.process.dir {
            let grant = Grant::parse(dir);
            if !grant.path.is_dir() {
                return Err(format!("--dir {}: there is no such folder", grant.path.display()));
            }
            process.dirs.push(grant);
        }
        let sanitize = match o.look.sanitize {
            None => None,
            Some(when) => Some(Sanitize {
                fatal: when == SanitizeOption::Fatal,
                json: o.look.sanitize_json,
                sarif: o.look.sanitize_sarif,
                suppressions: match &o.look.sanitize_suppress {
                    Some(path) => {
                        Suppressions::read(path).map_err(|e| format!("--sanitize-suppress: {e}"))?
                    }
                    None => Suppressions::default(),
                },
            }),
        };
        Ok(Job {
            elf: o.elf.map(find_program),
            config,
            isa,
            mode: o.machine.mode,
            process,
            timeout: o.machine.timeout.map(Duration::from_secs_f64),
            trace: o.look.trace,
            trace_format: TraceFormat { validity: o.observe.trace_valid, binary: o.observe.trace_binary },
            observers: Observers::new(&o.observe)?,
            in_asm: None,
            stats: o.look.stats,
            profile: o.look.profile,
            count: o.look.count,
            signature: o.look.signature.map(|path| (path, o.look.signature_granularity)),
            sweep,
            gdb: o.look.gdb,
            sanitize,
        })
    }

    fn from_qemu(mut o: QemuOptions, opened: Option<u64>) -> Result<Job, String> {
        // QEMU has no limit of its own; memory is taken as the guest touches it.
        o.config.mem = 16 << 30;
        let stack = o.stack.unwrap_or(ProcessOptions::default().stack);
        // The kernel may have opened what this process must not.
        let elf = match opened {
            Some(fd) => PathBuf::from(format!("/proc/self/fd/{fd}")),
            None => PathBuf::from(&o.program[0]),
        };
        let exe = opened.map(|_| o.program[0].clone().into_vec());
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
        let strace_log = match o.log.as_ref().filter(|_| o.strace) {
            None => None,
            Some(path) => {
                let file = File::options().append(true).create(true).open(path);
                Some(Arc::new(file.map_err(|e| format!("cannot write to {}: {e}", path.display()))?))
            }
        };
        let pair = |(name, value): (OsString, OsString)| [name.into_vec(), value.into_vec()].join(&b'=');
        let process = ProcessOptions {
            args: args.into_iter().map(OsString::into_vec).collect(),
            exe,
            env: env.into_iter().map(pair).collect(),
            sysroot: o.sysroot,
            host_fs: true,
            seed: o.seed,
            strace: o.strace,
            strace_log,
            stack,
            most_processes: 1024,
            keep_children: true,
            host_programs: true,
            release: o.release,
            warn_unsupported: o.warn_unsupported,
            host_signals: true,
            net: Net::All,
            cpus: std::thread::available_parallelism().map_or(1, |n| n.get() as u32),
            ..ProcessOptions::default()
        };
        Ok(Job {
            elf: Some(elf),
            config: o.config,
            isa: None,
            mode: Mode::User,
            process,
            timeout: None,
            trace: None,
            trace_format: TraceFormat::default(),
            observers: None,
            in_asm: o.in_asm.then(|| o.log.unwrap_or_else(|| options::STDERR.into())),
            stats: false,
            profile: None,
            count: None,
            signature: None,
            sweep: None,
            gdb: o.gdb,
            sanitize: None,
        })
    }

    fn run(mut self) -> u8 {
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
        let bare = self.mode.is_bare(&image);
        match self.isa.as_ref().map_or(Ok(Vec::new()), |isa| isa.remarks(bare)) {
            Ok(remarks) => remarks.iter().for_each(|remark| say::note(&format!("rvvsim: {remark}\n"))),
            Err(message) => return self.cannot_run(&message),
        }
        if let Some(sweep) = self.sweep {
            let Job { config, mode, process, timeout, .. } = self;
            // Runs are side by side in one process, which cannot fork.
            let process = ProcessOptions { most_processes: 1, host_signals: false, ..process };
            return sweep.run(Subject { name: &name, image: &image, config, mode, process, timeout });
        }
        let machine = if bare {
            Machine::bare(self.config, &image)
        } else {
            // What was seen until then is said when somebody ends the program.
            let says = self.sanitize.is_some()
                || self.count.is_some()
                || self.profile.is_some()
                || self.observers.is_some()
                || self.trace.is_some()
                || self.stats;
            let process = ProcessOptions { outlives_signals: says && self.gdb.is_none(), ..self.process };
            Machine::user(self.config, &image, process)
        };
        let mut machine = match machine {
            Ok(machine) => machine,
            Err(e) => {
                let doubt = self.mode.doubt(&image).map_or(String::new(), |doubt| format!("; {doubt}"));
                return cannot_run(&format!("{name}: {e}{}{doubt}", report::load_hint(&e)));
            }
        };
        let signature = match &self.signature {
            None => None,
            Some(_) if !bare => {
                return cannot_run(
                    "--signature is for bare-metal programs: one with a tohost symbol, or --mode bare",
                );
            }
            Some((path, size)) => {
                match Signature::new(path, usize::from(*size), &image, machine.hart().memory().len()) {
                    Ok(signature) => Some(signature),
                    Err(e) => return cannot_run(&format!("{name}: {e}")),
                }
            }
        };
        if let Some(path) = &self.in_asm {
            match open_log(path) {
                Ok(file) => log_blocks(&mut machine, file),
                Err(e) => return cannot_run(&format!("cannot write to {}: {e}", path.display())),
            }
        }
        let console = Console::default();
        machine.set_console(Box::new(console.clone()));
        machine.set_console_input(ConsoleInput::Stdin);
        if self.count.is_some() {
            Count::prepare(&mut machine);
        }
        if self.profile.is_some() {
            machine.engine_mut().remember_forgotten_blocks();
        }
        let start = Instant::now();
        let deadline = self.timeout.map(|t| start + t);
        let mut found = 0;
        let outcome = match (&self.sanitize, &self.gdb, &self.trace) {
            (Some(_), ..) if bare => {
                return cannot_run(
                    "--sanitize is for Linux programs; this one runs on bare metal (see --mode)",
                );
            }
            (Some(sanitize), None, _) => match sanitize.run(&mut machine, &image, &name, deadline) {
                Ok((Some(outcome), places)) => {
                    found = places;
                    outcome
                }
                Ok((None, _)) => {
                    machine.end_process();
                    return EXIT_FOUND;
                }
                Err(e) => return cannot_run(&e),
            },
            (sanitize, Some(place), _) => {
                let console = || Box::new(console.clone()) as Box<dyn Write + Send>;
                let sanitize = sanitize.as_ref();
                let subject = gdb::Subject { image: &image, name: &name, console: &console, sanitize };
                match gdb::run(&mut machine, place, &subject) {
                    Ok((outcome, places)) => {
                        found = places;
                        outcome
                    }
                    Err(e) => return cannot_run(&e),
                }
            }
            (None, None, None) => match &mut self.observers {
                // None of ours ends a run.
                Some(observers) => machine.run_observed(deadline, observers).unwrap_or(Outcome::TimedOut),
                None => machine.run(deadline),
            },
            (None, None, Some(path)) => match traced(&mut machine, deadline, path, self.trace_format) {
                Ok(outcome) => outcome,
                Err(e) => return cannot_run(&format!("cannot write the trace to {}: {e}", path.display())),
            },
        };
        let time = start.elapsed();
        let code = conclude(&mut machine, &image, &outcome);
        let code = if found > 0 { EXIT_FOUND } else { code };
        if let Some(Err(e)) = signature.map(|signature| signature.write(machine.hart())) {
            return cannot_run(&e);
        }
        if let Some(e) = console.failure() {
            return cannot_run(&format!("cannot write the guest's console to standard output: {e}"));
        }
        let failed = matches!(outcome, Outcome::Stuck(_) | Outcome::Signaled { trap: Some(_), .. });
        if let Some(doubt) = self.mode.doubt(&image).filter(|_| failed) {
            say::note(&format!("rvvsim: {doubt}\n"));
        }
        if machine.hart().vector().vl_rounded {
            let config = machine.hart().config();
            let n = config.vl_multiple.map_or_else(|| config.isa.largest_group().into(), NonZeroU32::get);
            say::note(&format!(
                "rvvsim: --vl {} was bound to multiples of {n} (norm:egs_vl_avl); --vl-multiple 1 is \
                 the whole freedom, for programs without element-group instructions\n",
                config.vl
            ));
        }
        if self.stats {
            say::note(&report::statistics(&machine, time));
        }
        if let Some(observers) = &self.observers {
            match observers.report(&mut machine, &image) {
                Ok(text) => say::note(&text),
                Err(e) => return cannot_run(&e),
            }
        }
        if let Some(path) = &self.count {
            let count = Count::of(&machine, &image);
            say::note(&count.text());
            if let Err(e) = std::fs::write(path, format!("{:#}\n", count.json())) {
                return cannot_run(&format!("cannot write the counts to {}: {e}", path.display()));
            }
        }
        if let Some(path) = &self.profile {
            let (text, stacks) = profile::profile(&machine, &image, path);
            say::note(&text);
            if let Err(e) = std::fs::write(path, stacks) {
                return cannot_run(&format!("cannot write the profile to {}: {e}", path.display()));
            }
        }
        // It has a /tmp to remove.
        machine.end_process();
        // The process ends now, and the kernel takes back the rest at once.
        std::mem::forget(machine);
        code
    }

    fn cannot_run(&self, message: &str) -> u8 {
        let code = cannot_run(message);
        if self.sweep.is_some() { sweep::CANNOT_RUN } else { code }
    }
}

/// The vector lengths of `--sweep`, in order.
fn sweep_vlens(config: &Config, mut vlens: Vec<u32>) -> Result<Vec<u32>, String> {
    if vlens.is_empty() {
        vlens.extend(USUAL_VLENS.iter().filter(|vlen| options::check_vlen(&config.isa, **vlen).is_ok()));
    }
    for vlen in &vlens {
        options::check_vlen(&config.isa, *vlen)?;
    }
    vlens.sort_unstable();
    vlens.dedup();
    Ok(vlens)
}

/// The machines of `--sweep --core`: each core at its own VLEN, or at those of the list.
fn sweep_cores(options: &MachineOptions, cores: Vec<Core>, vlens: &[u32]) -> Result<Vec<OnCore>, String> {
    let mut runs = Vec::new();
    for core in cores {
        let file = core.path.display().to_string();
        let config = options.config(Some(&core)).map_err(|e| format!("--core {file}: {e}"))?;
        let vlens = if core.vlen.is_some() || vlens.is_empty() { vec![config.vlen] } else { vlens.to_vec() };
        for vlen in vlens {
            options::check_vlen(&config.isa, vlen).map_err(|e| format!("--core {file}: {e}"))?;
            runs.push(OnCore { file: file.clone(), config: Config { vlen, ..config.clone() } });
        }
    }
    Ok(runs)
}

fn cannot_run(message: &str) -> u8 {
    say::note(&format!("rvvsim: {message}\n"));
    EXIT_CANNOT_RUN
}

/// QEMU's `-d in_asm`: the instructions of each block as it is decoded.
fn log_blocks(machine: &mut Machine, mut file: Box<dyn Write>) {
    machine.engine_mut().observe(move |pc, insts| {
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

/// The console of a bare-metal guest: standard output. If writing fails, the user is
/// told, not the guest.
#[derive(Clone, Default)]
struct Console(Arc<Mutex<Option<std::io::Error>>>);

impl Console {
    /// Why something could not be written, unless it was because the reader has gone away.
    fn failure(&self) -> Option<std::io::Error> {
        let mut failure = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take().filter(|e| e.kind() != std::io::ErrorKind::BrokenPipe)
    }

    fn keep(&self, result: std::io::Result<()>) {
        if let Err(e) = result {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
        }
    }
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.keep(std::io::stdout().write_all(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.keep(std::io::stdout().flush());
        Ok(())
    }
}

/// Opens a log. Standard error is written to as it is: to open it again would cut off what is in its file.
fn open_log(path: &Path) -> std::io::Result<Box<dyn Write>> {
    Ok(if path == Path::new(options::STDERR) {
        Box::new(std::io::stderr())
    } else {
        Box::new(File::create(path)?)
    })
}

fn traced(
    machine: &mut Machine,
    deadline: Option<Instant>,
    path: &Path,
    format: TraceFormat,
) -> std::io::Result<Outcome> {
    let mut out = BufWriter::with_capacity(1 << 16, open_log(path)?);
    let outcome = machine.run_traced_as(deadline, &mut out, format)?;
    out.flush()?;
    Ok(outcome)
}

/// Says what needs saying; the exit code.
fn conclude(machine: &mut Machine, image: &Image, outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Exited(code) => {
            if machine.failed() {
                // Spike's words, for those who look for them.
                say::note(&format!("*** FAILED *** (tohost = {code})\n"));
            }
            // As a shell sees it: the low eight bits, but a failure stays one.
            if *code != 0 && code & 0xff == 0 { 255 } else { (code & 0xff) as u8 }
        }
        Outcome::Signaled { signal, trap } => {
            let name = rvvsim::linux::signal_name(*signal);
            match trap {
                Some(trap) => {
                    let headline = format!("the guest was ended by {name}");
                    say::note(&report::fatal_trap(machine.hart_mut(), image, &headline, trap));
                }
                None => say::note(&format!("rvvsim: the guest was ended by {name}\n")),
            }
            128 + (*signal & 0x7f) as u8
        }
        Outcome::Stuck(trap) => {
            let headline = "a trap whose handler cannot be fetched: the hart would trap for ever";
            say::note(&report::fatal_trap(machine.hart_mut(), image, headline, trap));
            EXIT_CANNOT_RUN
        }
        Outcome::OutOfInstructions => {
            let n = machine.hart().instructions_retired();
            say::note(&format!("rvvsim: stopped after {n} instructions (--max-insns)\n"));
            EXIT_MAX_INSNS
        }
        Outcome::TimedOut => {
            let n = machine.hart().instructions_retired();
            say::note(&format!("rvvsim: stopped by --timeout after {n} instructions\n"));
            EXIT_TIMEOUT
        }
        Outcome::EnginesDiffer(what) => {
            eprintln!("rvvsim: {what}\nThis is a fault of rvvsim: please report it with the program.");
            EXIT_CANNOT_RUN
        }
        Outcome::Unsupported(what) => {
            if let Some(process) = machine.process().filter(|p| !p.has_other_program()) {
                say::note(&report::waiting_threads(&process.threads(machine.hart()), image));
            }
            cannot_run(&format!("the guest needs what this emulator does not support: {what}"))
        }
    }
}
