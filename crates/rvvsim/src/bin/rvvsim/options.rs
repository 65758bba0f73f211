//! The command line of `rvvsim`.

use crate::core::Core;
use crate::gdb::{Place, parse_place};
use crate::observed::ObserveOptions;
use clap::{Args, Parser, ValueEnum};
use regex::bytes::{Regex, RegexBuilder};
use rvv_isa::{Isa, Notes};
use rvvsim::Config;
use rvvsim::config::{Agnostic, EngineChoice, VlChoice, VsetvlX0};
use rvvsim::elf::Image;
use rvvsim::linux::{Net, Schedule, VectorCalls};
use std::ffi::OsString;
use std::num::NonZeroU32;
use std::path::PathBuf;

/// The path that means standard error.
pub const STDERR: &str = "/dev/stderr";

/// Runs RISC-V programs: an RV64GCV emulator with any VLEN.
///
/// A Linux ELF runs as a user process, as under qemu-riscv64; an ELF with a `tohost` symbol whose addresses
/// are in RAM runs on bare metal, as under Spike. The exit code is the guest's (128 + signal if one
/// ended it); 123 means that --sanitize found something, 124 --timeout, 125 --max-insns, 126 a program that
/// cannot be run or output that cannot be written, 127 a wrong command line.
///
/// Options of rvvsim may be before and after the program and between its arguments; after `--`, all
/// words are the program and its arguments. A program without a slash in its name that is not a file here
/// is looked for on PATH.
#[derive(Parser, Debug)]
#[command(
    name = "rvvsim",
    version,
    override_usage = "\
rvvsim [OPTIONS] PROGRAM [ARGUMENTS...]
       rvvsim [OPTIONS] PROGRAM -- [ARGUMENTS...]
       rvvsim [OPTIONS] -- PROGRAM [ARGUMENTS...]
       rvvsim --demo",
    after_help = "\
Examples:
  rvvsim --demo --vlen 512                see it work: a built-in vector program
  rvvsim prog.elf --vlen 256              run a program with 256-bit vector registers
  rvvsim prog.elf 3 input.txt             plain words after the program are the guest's
  rvvsim prog.elf -- -n 3 --vlen          after -- everything is
  rvvsim --vlen 256 -- prog.elf -n 3      a fixed prefix, as for CMake's CROSSCOMPILING_EMULATOR
  rvvsim prog.elf --dir data --dir out:rw let the guest see two folders, write to one
  rvvsim prog.elf -L SYSROOT              run a dynamically linked program
  rvvsim prog.elf --tail ones --mask ones overwrite agnostic elements: does the program notice?
  rvvsim --sweep prog.elf                 does the output depend on VLEN, agnostic elements or vl?
  rvvsim --sanitize prog.elf              does something depend on a value that nothing defines?
  rvvsim prog.elf --trace=log             one line per instruction, as Spike's --log-commits
  rvvsim prog.elf --isa rv64gc_zba        no vectors: their instructions are illegal
  rvvsim qemu -cpu rv64,v=true prog.elf   QEMU's own options (or link it as qemu-riscv64)

Every option can also be set by an environment variable, RVVSIM_VLEN for --vlen and so on."
)]
pub struct Options {
    /// The program: a 64-bit little-endian RISC-V ELF.
    #[arg(value_name = "PROGRAM")]
    pub elf: Option<PathBuf>,

    /// Run a small built-in vector program.
    #[arg(long, conflicts_with = "elf")]
    pub demo: bool,

    /// Arguments of the guest. Arguments that begin with a dash go after `--`.
    #[arg(value_name = "ARGUMENTS")]
    pub args: Vec<OsString>,

    #[command(flatten)]
    pub machine: MachineOptions,

    #[command(flatten)]
    pub process: GuestOptions,

    #[command(flatten)]
    pub look: LookOptions,

    #[command(flatten)]
    pub observe: ObserveOptions,

    #[command(flatten)]
    pub sweep: SweepOptions,
}

/// The machine.
#[derive(Args, Debug)]
#[command(next_help_heading = "Machine")]
pub struct MachineOptions {
    /// Bits in a vector register: a power of two, 128 to 65536. [default: 128, or the least that --isa
    /// allows]
    #[arg(long, env = "RVVSIM_VLEN", value_name = "BITS", value_parser = parse_vlen,
          allow_negative_numbers = true)]
    pub vlen: Option<u32>,

    /// A file with all that the manual leaves to an implementation, instead of the options for it; --vlen and
    /// --isa count more than the file. With --sweep, repeatable: one run on each.
    #[arg(long, env = "RVVSIM_CORE", value_name = "FILE.toml", value_delimiter = ',',
          conflicts_with_all = ["tail", "mask", "vl", "vl_multiple", "vsetvl_x0", "lenient", "strict_align"])]
    pub core: Vec<PathBuf>,

    /// Extensions that exist, e.g. rv64gcv_zvfh_zvl256b, rva22u64_v, or the isa line of /proc/cpuinfo.
    /// Default: RVA23U64 and all vector extensions.
    ///
    /// An extension without instructions is accepted; one that changes nothing here is accepted with a note
    /// on standard error; one that is not implemented is refused.
    #[arg(long, env = "RVVSIM_ISA", value_name = "STRING", value_parser = parse_isa)]
    pub isa: Option<IsaOption>,

    /// User process or bare metal.
    #[arg(long, env = "RVVSIM_MODE", value_enum, default_value_t = Mode::Auto)]
    pub mode: Mode,

    /// Guest memory. Host memory is used only as the guest touches it.
    #[arg(long, env = "RVVSIM_MEM", value_name = "SIZE", default_value = "2G", value_parser = parse_size,
          allow_negative_numbers = true)]
    pub mem: u64,

    /// Stop after this many instructions (suffixes K, M, G are thousands); exit code 125.
    #[arg(long, env = "RVVSIM_MAX_INSNS", value_name = "N", value_parser = parse_count,
          allow_negative_numbers = true)]
    pub max_insns: Option<u64>,

    /// Stop after this many seconds; exit code 124.
    #[arg(long, env = "RVVSIM_TIMEOUT", value_name = "SECONDS", value_parser = parse_seconds,
          allow_negative_numbers = true)]
    pub timeout: Option<f64>,

    /// Tail elements under tail-agnostic: undisturbed, ones, ones-to-register, random:SEED.
    #[arg(long, env = "RVVSIM_TAIL", value_name = "POLICY", default_value = "undisturbed",
          value_parser = parse_agnostic)]
    pub tail: Agnostic,

    /// Masked-off elements under mask-agnostic: the same values.
    #[arg(long, env = "RVVSIM_MASK", value_name = "POLICY", default_value = "undisturbed",
          value_parser = parse_agnostic)]
    pub mask: Agnostic,

    /// The vl that vsetvl returns for VLMAX < AVL < 2*VLMAX: max, half (ceil(AVL/2)), random:SEED. See
    /// --vl-multiple.
    #[arg(long, env = "RVVSIM_VL", value_name = "CHOICE", default_value = "max", value_parser = parse_vl)]
    pub vl: VlChoice,

    /// The vl that --vl chooses is VLMAX or a multiple of this. [default: 8 with the default ISA]
    ///
    /// On a machine with element-group instructions vl must be a multiple of their largest group
    /// (norm:egs_vl_avl): 8 with Zvksh, 4 with Zvkned, Zvknh, Zvkg or Zvksed, else 1. That is the default,
    /// and a note is written to standard error if it changed a vl that --vl chose. A program that executes
    /// none of these instructions may be run with 1: it then behaves as on a machine without them. --sweep
    /// detects this by itself.
    #[arg(long, env = "RVVSIM_VL_MULTIPLE", value_name = "N", value_parser = parse_multiple,
          allow_negative_numbers = true)]
    pub vl_multiple: Option<NonZeroU32>,

    /// What the reserved `vsetvli x0, x0` that changes VLMAX does.
    #[arg(long, env = "RVVSIM_VSETVL_X0", value_enum, default_value_t = X0::Vill)]
    pub vsetvl_x0: X0,

    /// Execute two reserved cases that common hardware executes, instead of trapping: a vector
    /// register read with two element widths, and vstart past the last element.
    #[arg(long, env = "RVVSIM_LENIENT")]
    pub lenient: bool,

    /// Misaligned scalar and vector element accesses trap.
    #[arg(long, env = "RVVSIM_STRICT_ALIGN")]
    pub strict_align: bool,

    /// Bare metal: how many harts there are. They take turns on one, as Spike's do; --schedule says how.
    #[arg(long, env = "RVVSIM_SMP", value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=256))]
    pub smp: u32,

    /// How threads, or the harts of --smp, take turns: round-robin[:N], N instructions each; or
    /// random:SEED, by dice, with turns that end at atomic instructions and fences more often than elsewhere.
    /// The same schedule gives the same run. [default: round-robin:200000 for threads, round-robin:5000
    /// for harts]
    #[arg(long, env = "RVVSIM_SCHEDULE", value_name = "POLICY", value_parser = parse_schedule)]
    pub schedule: Option<Schedule>,

    /// What executes the guest: the interpreter, host code for hot blocks (jit), or both, compared block by
    /// block (check). auto is jit where the host can have it, and the interpreter elsewhere. All of them do
    /// the same; check stops at the first block of which that is not so.
    #[arg(long, env = "RVVSIM_ENGINE", value_enum, default_value_t = EngineOption::Auto)]
    pub engine: EngineOption,

    /// A block that ran so often becomes host code.
    #[arg(long, env = "RVVSIM_JIT_THRESHOLD", value_name = "RUNS", default_value_t = 64)]
    pub jit_threshold: u32,
}

/// What the guest process sees.
#[derive(Args, Debug)]
#[command(next_help_heading = "Guest process (user mode)")]
pub struct GuestOptions {
    /// A folder the guest may read; with :rw, also write. Repeatable. Otherwise it sees stdio and a
    /// private /tmp only, which is gone at the end.
    #[arg(long, env = "RVVSIM_DIR", value_name = "PATH[:rw]", value_delimiter = ',')]
    pub dir: Vec<String>,

    /// The guest sees all files of the host.
    #[arg(long, env = "RVVSIM_HOST_FS")]
    pub host_fs: bool,

    /// The folder with the dynamic loader and its libraries, for dynamically linked programs. The guest may
    /// read all of it.
    #[arg(short = 'L', long, env = "RVVSIM_SYSROOT", value_name = "PATH")]
    pub sysroot: Option<PathBuf>,

    /// Sets a variable in the guest's environment, which is empty otherwise. Repeatable.
    #[arg(short = 'E', long = "env", value_name = "NAME=VALUE", value_parser = parse_assignment)]
    pub env: Vec<String>,

    /// The guest's argv[0].
    #[arg(short = '0', long, value_name = "NAME")]
    pub argv0: Option<OsString>,

    /// Seed of getrandom and AT_RANDOM. Without it, getrandom is the host's and AT_RANDOM is constant.
    #[arg(long, env = "RVVSIM_SEED", value_name = "N", value_parser = parse_number,
          allow_negative_numbers = true)]
    pub seed: Option<u64>,

    /// Processors the guest is told there are; many programs start as many threads. They take turns on one
    /// hart all the same.
    #[arg(long, env = "RVVSIM_CPUS", value_name = "N", default_value_t = 1,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub cpus: u32,

    /// Processes that the guest may become, at a time. --max-insns, --mem and --timeout bound them together,
    /// and all end with the first. With 1 it cannot fork, nor run other programs.
    #[arg(long, env = "RVVSIM_MAX_PROCESSES", value_name = "N", default_value_t = 256,
          value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub max_processes: u32,

    /// Networks the guest may use: none, that of this machine alone (loopback), or all. Only with --host-fs
    /// are there Unix sockets with names; pairs of sockets there are always.
    #[arg(long, env = "RVVSIM_NET", value_enum, default_value_t = NetOption::None)]
    pub net: NetOption,

    /// What a system call leaves in the vector registers: what was there, zeroes, or ones. The Linux ABI says
    /// that they are lost, vl and vtype with them; zero and ones find programs that rely on them.
    #[arg(long, env = "RVVSIM_VECTOR_CALLS", value_enum, default_value_t = VectorCallsOption::Keep)]
    pub vector_calls: VectorCallsOption,

    /// Say once each which system calls the guest asked for in vain; it is told ENOSYS.
    #[arg(long, env = "RVVSIM_WARN_UNSUPPORTED")]
    pub warn_unsupported: bool,

    /// Print system calls to standard error.
    #[arg(long, env = "RVVSIM_STRACE")]
    pub strace: bool,
}

/// Looking inside.
#[derive(Args, Debug)]
#[command(next_help_heading = "Looking inside")]
pub struct LookOptions {
    /// Write one line per retired instruction in Spike's --log-commits format; to standard error
    /// unless a file is given.
    #[arg(long, env = "RVVSIM_TRACE", value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = STDERR)]
    pub trace: Option<PathBuf>,

    /// Print instructions retired, by class, and host time, to standard error at the end.
    #[arg(long, env = "RVVSIM_STATS")]
    pub stats: bool,

    /// Print instructions by class and by symbol to standard error at the end; with a file, also write them
    /// there as JSON. With --sweep, one table by VLEN, which shows vector code that does not get faster.
    #[arg(long, env = "RVVSIM_COUNT", value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "/dev/null", conflicts_with_all = ["trace", "gdb", "sanitize"])]
    pub count: Option<PathBuf>,

    /// Print the hottest symbols and blocks to standard error at the end. With a file, also write all blocks
    /// there: as a flame graph if its name ends in .svg, otherwise as collapsed stacks.
    #[arg(long, env = "RVVSIM_PROFILE", value_name = "FILE", num_args = 0..=1, require_equals = true,
          default_missing_value = "/dev/null")]
    pub profile: Option<PathBuf>,

    /// Wait for gdb and let it drive the program: on a TCP port of this host (0 takes one that is free), or
    /// on a socket, a path with a slash in it.
    ///
    /// gdb sees x, f, v and control registers ($v8.w, $vl, $vtype), breaks, steps, and watches memory, vector
    /// accesses element by element. Bare-metal programs also run backwards. With --sanitize, it stops where
    /// something is found, and `monitor explain v8 3` says why an element is undefined. `monitor help` lists
    /// more.
    #[arg(long, env = "RVVSIM_GDB", value_name = "PORT|PATH", value_parser = parse_place,
          conflicts_with_all = ["trace", "timeout"])]
    pub gdb: Option<Place>,

    /// Follow undefined values, and report where one decides something: a branch, an address, vl, a mask of a
    /// memory access, what is written. Also accesses outside heap blocks. With =fatal, end at the first.
    ///
    /// Undefined are tail and masked-off elements of agnostic operations, vector registers after calls and
    /// system calls, stack and heap memory that was not written. Exit code 123 if something was found. The
    /// program runs on the interpreter, several times slower.
    #[arg(long, env = "RVVSIM_SANITIZE", value_name = "WHEN", num_args = 0..=1, require_equals = true,
          value_enum, default_missing_value = "report", conflicts_with = "trace")]
    pub sanitize: Option<SanitizeOption>,

    /// Write what --sanitize finds as JSON.
    #[arg(long, env = "RVVSIM_SANITIZE_JSON", value_name = "FILE", requires = "sanitize")]
    pub sanitize_json: Option<PathBuf>,

    /// Write what --sanitize finds as SARIF.
    #[arg(long, env = "RVVSIM_SANITIZE_SARIF", value_name = "FILE", requires = "sanitize")]
    pub sanitize_sarif: Option<PathBuf>,

    /// What --sanitize is not to report: lines of a kind of finding and a function, with * for anything.
    #[arg(long, env = "RVVSIM_SANITIZE_SUPPRESS", value_name = "FILE", requires = "sanitize")]
    pub sanitize_suppress: Option<PathBuf>,

    /// Bare metal: at the end, write the memory from begin_signature to end_signature, as lines of
    /// hexadecimal digits.
    #[arg(long, env = "RVVSIM_SIGNATURE", value_name = "FILE")]
    pub signature: Option<PathBuf>,

    /// Bytes in a line of --signature, the most significant first; test frameworks use 4.
    #[arg(long, env = "RVVSIM_SIGNATURE_GRANULARITY", value_name = "N", default_value_t = 16,
          value_parser = clap::value_parser!(u16).range(1..))]
    pub signature_granularity: u16,
}

/// Is the program portable?
#[derive(Args, Debug)]
#[command(next_help_heading = "Portability")]
pub struct SweepOptions {
    /// Run the program at each VLEN of the list (default: 128 to 4096) under every --tail, --mask and --vl,
    /// and report on which of them its output, exit status or signal depends.
    ///
    /// At each VLEN there are 16 runs: every tail policy, every mask policy, and both together as ones,
    /// ones-to-register and random, with --vl max; then --vl half and random with neither, with ones and
    /// with random policies. Each of the four is judged by runs that differ in it alone, and the first
    /// difference is shown with the commands that reproduce it. Standard input is read once, to its end,
    /// and given to every run; getrandom is seeded and clocks count instructions. --max-insns and --timeout
    /// are for each run; without --max-insns a run may take a hundred times the instructions of the first.
    ///
    /// Exit code: 0 the output is always the same, 1 it is not, 2 the program cannot be run or the result not
    /// be written, 3 the program fails everywhere: each run was ended by a signal or a trap, or all ended
    /// with the same status other than 0.
    #[arg(long, env = "RVVSIM_SWEEP", value_name = "VLEN,...", num_args = 0..=1, require_equals = true,
          default_missing_value = "", value_parser = parse_vlens,
          conflicts_with_all = ["vlen", "tail", "mask", "vl", "trace", "stats", "profile", "strace",
                                "signature", "gdb", "sanitize"])]
    pub sweep: Option<Vlens>,

    /// Text that --sweep ignores: matches of this regular expression in a line, and lines of which nothing is
    /// left. Repeatable.
    ///
    /// For example '\(\d+ ms\)', for a test runner that prints times. Lines of more than 8 KiB are compared
    /// as they are.
    #[arg(long, env = "RVVSIM_IGNORE", value_name = "REGEX", requires = "sweep", value_parser = parse_regex)]
    pub ignore: Vec<Regex>,

    /// What --sweep compares.
    #[arg(long, env = "RVVSIM_COMPARE", value_enum, requires = "sweep", default_value_t = Compare::Output)]
    pub compare: Compare,

    /// Print the result of --sweep as JSON.
    #[arg(long, env = "RVVSIM_JSON", requires = "sweep")]
    pub json: bool,
}

/// What `--sanitize` does when it finds something.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SanitizeOption {
    /// Report all at the end.
    Report,
    /// End the program.
    Fatal,
}

/// What must be the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Compare {
    /// Standard output, standard error, and the exit status or signal.
    Output,
    /// The exit status or signal only.
    Status,
}

/// An instruction set, and what of its string changes nothing.
#[derive(Clone, Debug)]
pub struct IsaOption {
    pub isa: Isa,
    pub notes: Notes,
}

impl IsaOption {
    /// What there is to say about the names that change nothing.
    ///
    /// # Errors
    /// On bare metal, that privileged extensions are missing.
    pub fn remarks(&self, bare: bool) -> Result<Vec<String>, String> {
        let mut remarks: Vec<_> = self
            .notes
            .unkept
            .iter()
            .map(|(name, why)| format!("--isa: {name} changes nothing here: {why}"))
            .collect();
        let missing = self.notes.privileged.join(", ");
        match self.notes.privileged.len() {
            0 => {}
            _ if bare => return Err(format!("--isa: not supported on bare metal: {missing}")),
            _ => remarks.push(format!("--isa: not there, and not to be seen by a user process: {missing}")),
        }
        Ok(remarks)
    }
}

/// A list of vector lengths; empty for the usual ones.
#[derive(Clone, Debug)]
pub struct Vlens(pub Vec<u32>);

/// Which world the program lives in.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Mode {
    /// Bare if the ELF has a `tohost` symbol, all of it is at 0x80000000 or above, and nothing in it asks for
    /// Linux (an interpreter, an ABI note); user otherwise.
    Auto,
    /// A Linux process.
    User,
    /// M-mode on bare metal, with HTIF.
    Bare,
}

impl Mode {
    /// Whether this program runs on bare metal.
    pub fn is_bare(self, image: &Image) -> bool {
        match self {
            Mode::Auto => image.looks_bare(),
            Mode::Bare => true,
            Mode::User => false,
        }
    }

    /// What to try if the program does not run in the mode that was guessed for it.
    pub fn doubt(self, image: &Image) -> Option<&'static str> {
        match (self, image.has_tohost(), image.looks_bare()) {
            (Mode::Auto, true, true) => {
                Some("it was taken for a bare-metal program; if it is a Linux one, use --mode user")
            }
            (Mode::Auto, true, false) => {
                Some("it was taken for a Linux program; if it is a bare-metal one, use --mode bare")
            }
            _ => None,
        }
    }
}

/// See [`Net`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum NetOption {
    /// No network.
    None,
    /// 127.0.0.0/8 and ::1.
    Loopback,
    /// All networks.
    All,
}

impl From<NetOption> for Net {
    fn from(option: NetOption) -> Net {
        match option {
            NetOption::None => Net::None,
            NetOption::Loopback => Net::Loopback,
            NetOption::All => Net::All,
        }
    }
}

/// See [`VectorCalls`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum VectorCallsOption {
    /// What was there.
    Keep,
    /// Zeroes.
    Zero,
    /// Ones.
    Ones,
}

impl From<VectorCallsOption> for VectorCalls {
    fn from(option: VectorCallsOption) -> VectorCalls {
        match option {
            VectorCallsOption::Keep => VectorCalls::Keep,
            VectorCallsOption::Zero => VectorCalls::Zero,
            VectorCallsOption::Ones => VectorCalls::Ones,
        }
    }
}

/// See [`EngineChoice`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum EngineOption {
    /// Host code for what runs often, where the host can have it.
    Auto,
    /// The interpreter alone.
    Interpreter,
    /// Host code for what runs often, or an error.
    Jit,
    /// Both, compared block by block.
    Check,
}

/// See [`VsetvlX0`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum X0 {
    /// Set vill.
    Vill,
    /// Keep vl.
    Keep,
    /// Keep vl, but at most the new VLMAX.
    Clamp,
}

impl MachineOptions {
    /// The configuration that these options describe, on a core if there is one.
    ///
    /// # Errors
    /// A sentence saying which option is wrong and what would be right.
    pub fn config(&self, core: Option<&Core>) -> Result<Config, String> {
        let isa = self.isa.as_ref().or(core.and_then(|core| core.isa.as_ref()));
        let isa = isa.map_or_else(Isa::rva23u64, |option| option.isa);
        let vlen = match self.vlen.or(core.and_then(|core| core.vlen)) {
            Some(vlen) => vlen,
            None => isa.vlen_min().max(if isa.has(rvv_isa::Ext::V) { 128 } else { 32 }),
        };
        check_vlen(&isa, vlen)?;
        if matches!(self.engine, EngineOption::Jit | EngineOption::Check) && !rvvsim::has_host_code() {
            let needs = "host code needs an x86-64 processor with AVX2, BMI2 and FMA";
            return Err(format!("{needs}, which this is not; try --engine auto"));
        }
        let config = Config {
            isa,
            vlen,
            mem: self.mem,
            max_insns: self.max_insns,
            tail: self.tail,
            mask: self.mask,
            vl: self.vl,
            vl_multiple: self.vl_multiple,
            vsetvl_x0: match self.vsetvl_x0 {
                X0::Vill => VsetvlX0::Vill,
                X0::Keep => VsetvlX0::Keep,
                X0::Clamp => VsetvlX0::Clamp,
            },
            lenient: self.lenient,
            misaligned: !self.strict_align,
            engine: match self.engine {
                EngineOption::Auto => EngineChoice::Auto,
                EngineOption::Interpreter => EngineChoice::Interpreter,
                EngineOption::Jit => EngineChoice::Jit,
                EngineOption::Check => EngineChoice::Check,
            },
            harts: self.smp,
            schedule: self.schedule.unwrap_or(Config::default().schedule),
            jit_threshold: self.jit_threshold,
            ..Config::default()
        };
        Ok(match core {
            Some(core) => core.apply(config),
            None => config,
        })
    }
}

/// Whether a vector length is one the extensions allow.
pub fn check_vlen(isa: &Isa, vlen: u32) -> Result<(), String> {
    let least = isa.vlen_min().max(32);
    if vlen.is_power_of_two() && (32..least).contains(&vlen) {
        return Err(format!(
            "the ISA asks for a VLEN of at least {least} (zvl{least}b): \
             use --vlen {least} or more, not {vlen}"
        ));
    }
    if !vlen.is_power_of_two() || vlen > 65536 || vlen < least {
        return Err(format!("VLEN must be a power of two from {least} to 65536 with this ISA, not {vlen}"));
    }
    Ok(())
}

fn parse_vlen(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a power of two from 128 to 65536; from 32 with a Zve* --isa".to_owned())
}

fn parse_multiple(text: &str) -> Result<NonZeroU32, String> {
    let power = |n: &NonZeroU32| n.is_power_of_two() && n.get() <= 65536;
    text.parse()
        .ok()
        .filter(power)
        .ok_or_else(|| "a power of two: 1, 4 or 8 are those that machines have".to_owned())
}

fn parse_regex(text: &str) -> Result<Regex, String> {
    RegexBuilder::new(text).size_limit(1 << 20).build().map_err(|e| e.to_string())
}

fn parse_number(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a whole number from 0 to {}", u64::MAX))
}

fn parse_assignment(text: &str) -> Result<String, String> {
    match text.split_once('=') {
        Some((name, _)) if !name.is_empty() => Ok(text.to_owned()),
        _ => Err("write NAME=VALUE, e.g. HOME=/".to_owned()),
    }
}

fn parse_vlens(text: &str) -> Result<Vlens, String> {
    let words = text.split(',').filter(|word| !word.is_empty());
    let vlens: Result<_, _> = words.map(str::parse).collect();
    vlens.map(Vlens).map_err(|_| format!("{text:?} is not a list of vector lengths; try 128,256,512"))
}

pub fn parse_isa(text: &str) -> Result<IsaOption, String> {
    let (isa, notes) = Isa::parse_noting(text).map_err(|e| e.to_string())?;
    Ok(IsaOption { isa, notes })
}

/// A number with a decimal suffix.
pub fn parse_count(text: &str) -> Result<u64, String> {
    parse_suffixed(text, 1000).ok_or_else(|| "a count: try 5000000 or 5M".into())
}

/// A number of bytes with a binary suffix.
pub fn parse_size(text: &str) -> Result<u64, String> {
    let size = parse_suffixed(text, 1024).ok_or("a number of bytes: try 512M or 4G")?;
    // A terabyte of address space is what a 47-bit host can give without harm to itself.
    if size > 1 << 40 { Err("at most 1T".into()) } else { Ok(size) }
}

fn parse_suffixed(text: &str, unit: u64) -> Option<u64> {
    let (digits, power) = match text.as_bytes().last()? {
        b'k' | b'K' => (&text[..text.len() - 1], 1),
        b'm' | b'M' => (&text[..text.len() - 1], 2),
        b'g' | b'G' => (&text[..text.len() - 1], 3),
        b't' | b'T' => (&text[..text.len() - 1], 4),
        _ => (text, 0),
    };
    digits.replace('_', "").parse::<u64>().ok()?.checked_mul(unit.pow(power))
}

fn parse_seconds(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(s) if s > 0.0 && s.is_finite() && s < 1e9 => Ok(s),
        _ => Err("a positive number of seconds: try 10 or 0.5".into()),
    }
}

fn parse_seed(text: &str) -> Option<u64> {
    text.strip_prefix("random:")?.parse().ok()
}

fn parse_schedule(text: &str) -> Result<Schedule, String> {
    let number = |prefix: &str| text.strip_prefix(prefix).and_then(|n| parse_suffixed(n, 1000));
    match text {
        "round-robin" => Ok(Schedule::default()),
        _ => number("round-robin:")
            .filter(|n| *n > 0)
            .map(Schedule::RoundRobin)
            .or_else(|| parse_seed(text).map(Schedule::Random))
            .ok_or_else(|| "one of round-robin, round-robin:N with N instructions, random:SEED".into()),
    }
}

pub fn parse_agnostic(text: &str) -> Result<Agnostic, String> {
    match text {
        "undisturbed" => Ok(Agnostic::Undisturbed),
        "ones" => Ok(Agnostic::Ones),
        "ones-to-register" => Ok(Agnostic::OnesToRegister),
        _ => parse_seed(text)
            .map(Agnostic::Random)
            .ok_or_else(|| "one of undisturbed, ones, ones-to-register, random:SEED".into()),
    }
}

pub fn parse_vl(text: &str) -> Result<VlChoice, String> {
    match text {
        "max" => Ok(VlChoice::Max),
        "half" => Ok(VlChoice::Half),
        _ => parse_seed(text).map(VlChoice::Random).ok_or_else(|| "one of max, half, random:SEED".into()),
    }
}
