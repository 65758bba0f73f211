//! `qemu-riscv64`'s own options, as people use them.

use crate::gdb::{Place, parse_place};
use crate::options::{check_vlen, parse_count, parse_size};
use rvv_isa::{Ext, Isa};
use rvvsim::Config;
use rvvsim::config::{Agnostic, VlChoice, VsetvlX0};
use std::ffi::OsString;
use std::path::PathBuf;

/// What a QEMU command line asks for.
#[derive(Debug)]
pub struct QemuOptions {
    /// The machine of `-cpu`.
    pub config: Config,
    /// The program and its arguments.
    pub program: Vec<OsString>,
    /// `-L`.
    pub sysroot: Option<PathBuf>,
    /// `-E` and `-U`, in order: set or unset.
    pub env: Vec<(String, Option<String>)>,
    /// `-0`.
    pub argv0: Option<OsString>,
    /// `-strace`.
    pub strace: bool,
    /// `-d in_asm`.
    pub in_asm: bool,
    /// `-D`.
    pub log: Option<PathBuf>,
    /// `-seed`.
    pub seed: Option<u64>,
    /// `-g`.
    pub gdb: Option<Place>,
    /// `-s`: bytes of stack.
    pub stack: Option<u64>,
    /// `-r`: the release that `uname` says.
    pub release: Option<String>,
    /// `-d unimp`: say what the guest asks for in vain.
    pub warn_unsupported: bool,
}

const HELP: &str = "\
usage: qemu-riscv64 [options] program [arguments...]
rvvsim with QEMU's command line. As under QEMU there is no sandbox: the guest sees all of the host's files and
variables, with the rights of whoever runs it. Plain rvvsim shows it stdio only. The options of QEMU it knows:
  -cpu MODEL[,PROP=VALUE...]  rv64, max, rva22u64, rva23u64, rv64i; v=true, vlen=N, elen=N, zvfh=true, ...
                              rvv_ta_all_1s, rvv_ma_all_1s, rvv_vl_half_avl, rvv_vsetvl_x0_vill
  -L PATH                     where the dynamic loader and its libraries are; the guest's absolute paths are
                              looked up there first
  -E VAR=VALUE, -U VAR        set or unset a variable of the guest
  -0 ARGV0                    the guest's argv[0]
  -s SIZE                     bytes of stack
  -r RELEASE                  what uname says
  -R, -B, -p, -t, -tb-size, -dfilter VALUE, -one-insn-per-tb, -singlestep, -perfmap, -jitdump: without effect
  -strace, -d strace          log system calls
  -d in_asm                   log the instructions as they are decoded
  -d unimp                    log system calls that are not supported
  -D FILE                     log there, and not to standard error
  -g PORT|PATH                wait for gdb there
  -seed N                     make the guest's random numbers repeatable
  -version, -h
QEMU_GDB, QEMU_UNAME, QEMU_CPU, QEMU_LD_PREFIX, QEMU_STACK_SIZE, QEMU_SET_ENV, QEMU_UNSET_ENV, QEMU_ARGV0, QEMU_STRACE, QEMU_LOG, QEMU_LOG_FILENAME
and QEMU_RAND_SEED are read as the options of the same meaning.";

/// The result of parsing.
pub enum Parsed {
    /// Run this.
    Run(Box<QemuOptions>),
    /// Print this and be done.
    Print(String),
}

/// Reads a QEMU command line, the program's name taken off.
///
/// # Errors
/// A sentence saying which option is wrong.
pub fn parse(args: impl IntoIterator<Item = OsString>) -> Result<Parsed, String> {
    let mut cpu = std::env::var("QEMU_CPU").ok();
    let mut o = QemuOptions {
        config: Config::default(),
        program: Vec::new(),
        sysroot: std::env::var_os("QEMU_LD_PREFIX").map(PathBuf::from),
        env: Vec::new(),
        argv0: std::env::var_os("QEMU_ARGV0"),
        strace: std::env::var_os("QEMU_STRACE").is_some(),
        in_asm: false,
        log: std::env::var_os("QEMU_LOG_FILENAME").map(PathBuf::from),
        seed: None,
        gdb: None,
        stack: None,
        release: std::env::var("QEMU_UNAME").ok(),
        warn_unsupported: false,
    };
    if let Ok(place) = std::env::var("QEMU_GDB") {
        o.gdb = Some(parse_place(&place).map_err(|e| format!("QEMU_GDB: {e}"))?);
    }
    if let Ok(size) = std::env::var("QEMU_STACK_SIZE") {
        o.stack = Some(parse_size(&size)?);
    }
    for setting in std::env::var("QEMU_SET_ENV").iter().flat_map(|s| s.split(',')) {
        o.env.push(assignment(setting)?);
    }
    for name in std::env::var("QEMU_UNSET_ENV").iter().flat_map(|s| s.split(',')) {
        o.env.push((name.to_owned(), None));
    }
    if let Ok(items) = std::env::var("QEMU_LOG") {
        o.log_items(&items)?;
    }
    if let Ok(seed) = std::env::var("QEMU_RAND_SEED") {
        o.seed = Some(parse_count(&seed)?);
    }
    let mut args = args.into_iter();
    while let Some(arg) = args.next() {
        let Some(option) = arg.to_str().and_then(|a| a.strip_prefix('-')).filter(|a| !a.is_empty()) else {
            o.program.push(arg);
            o.program.extend(args);
            break;
        };
        let option = option.strip_prefix('-').unwrap_or(option).to_owned();
        let mut value = || args.next().ok_or_else(|| format!("-{option} needs a value"));
        let text = |v: OsString| v.into_string().map_err(|_| format!("-{option}: the value is not UTF-8"));
        match option.as_str() {
            "cpu" => cpu = Some(text(value()?)?),
            "L" => o.sysroot = Some(value()?.into()),
            "E" => {
                for setting in text(value()?)?.split(',') {
                    o.env.push(assignment(setting)?);
                }
            }
            "U" => o.env.extend(text(value()?)?.split(',').map(|name| (name.to_owned(), None))),
            "r" => o.release = Some(text(value()?)?),
            "0" => o.argv0 = Some(value()?),
            "strace" => o.strace = true,
            "d" => o.log_items(&text(value()?)?)?,
            "D" => o.log = Some(value()?.into()),
            "g" => o.gdb = Some(parse_place(&text(value()?)?).map_err(|e| format!("-g: {e}"))?),
            "seed" => o.seed = Some(parse_count(&text(value()?)?)?),
            "s" => o.stack = Some(parse_size(&text(value()?)?).map_err(|e| format!("-s: {e}"))?),
            // No effect here: the address space is that of Linux on riscv64, wherever the host has it.
            "R" | "B" | "p" => drop(value()?),
            // Nor have these: signals keep their numbers, and nothing of the translation is for others to
            // see.
            "t" | "tb-size" | "dfilter" => drop(value()?),
            "perfmap" | "jitdump" => {}
            "plugin" => {
                return Err(
                    "-plugin is not supported: rvvsim has no TCG plugins; --trace and --profile of rvvsim \
                            show what a program does"
                        .into(),
                );
            }
            "one-insn-per-tb" | "singlestep" => {}
            "version" => {
                return Ok(Parsed::Print(format!("rvvsim {} (as qemu-riscv64)", env!("CARGO_PKG_VERSION"))));
            }
            "h" | "help" => return Ok(Parsed::Print(HELP.to_owned())),
            _ => return Err(format!("unknown option -{option}; -h lists those rvvsim knows")),
        }
    }
    if cpu.as_deref() == Some("help") {
        return Ok(Parsed::Print("rv64\nrv64i\nmax\nrva22u64\nrva23u64".to_owned()));
    }
    if o.program.is_empty() {
        return Err("no program given; -h shows how".to_owned());
    }
    parse_cpu(cpu.as_deref().unwrap_or("max"), &mut o.config)?;
    Ok(Parsed::Run(Box::new(o)))
}

impl QemuOptions {
    fn log_items(&mut self, items: &str) -> Result<(), String> {
        for item in items.split(',') {
            match item {
                "in_asm" => self.in_asm = true,
                "strace" => self.strace = true,
                "unimp" => self.warn_unsupported = true,
                // What QEMU says of itself and of mistakes of its guests: there is nothing to say here.
                "nochain" | "guest_errors" | "page" | "mmu" | "int" | "cpu_reset" | "plugin" => {}
                _ => return Err(format!("-d {item} is not supported; in_asm, strace and unimp are")),
            }
        }
        Ok(())
    }
}

fn assignment(text: &str) -> Result<(String, Option<String>), String> {
    match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), Some(value.to_owned()))),
        None => Err(format!("-E wants NAME=VALUE, not {text:?}")),
    }
}

/// `-cpu MODEL[,PROP=VALUE...]`.
fn parse_cpu(text: &str, config: &mut Config) -> Result<(), String> {
    let mut parts = text.split(',');
    let model = parts.next().unwrap_or_default();
    let isa = |text| Isa::parse(text).map_err(|e| e.to_string());
    config.isa = match model {
        "max" => Isa::rva23u64(),
        // What QEMU's rv64 has without further words.
        "rv64" => isa("rv64gc_zicbom_zicboz_zicntr_zihpm_zihintpause_zawrs_zfa_zba_zbb_zbc_zbs")?,
        "rv64i" => isa("rv64i")?,
        "rva22u64" | "rva23u64" => isa(model)?,
        _ => return Err(format!("unknown -cpu {model}; one of rv64, rv64i, max, rva22u64, rva23u64")),
    };
    let mut vlen = None;
    let (mut x0_vill, mut ones_tail, mut ones_mask, mut half) = (false, false, false, false);
    for property in parts {
        let (name, value) = match property.split_once('=') {
            Some((name, value)) => (name, value),
            None => (property, "true"),
        };
        let on = match value {
            "true" | "on" | "yes" => Some(true),
            "false" | "off" | "no" => Some(false),
            _ => None,
        };
        let switch = || on.ok_or_else(|| format!("-cpu {name}={value}: true or false"));
        match name {
            "vlen" => vlen = Some(value.parse().map_err(|_| format!("-cpu vlen={value}: a number of bits"))?),
            "elen" if value == "64" => {}
            "elen" => return Err(format!("-cpu elen={value}: 64 only; use zve32x and the like")),
            "vext_spec" if value == "v1.0" => {}
            "rvv_ta_all_1s" => ones_tail = switch()?,
            "rvv_ma_all_1s" => ones_mask = switch()?,
            "rvv_vl_half_avl" => half = switch()?,
            "rvv_vsetvl_x0_vill" => x0_vill = switch()?,
            // Parts of the privileged architecture a user process cannot see, and QEMU's words for some of
            // them.
            "mmu" | "pmp" | "s" | "u" => drop(switch()?),
            name if Ext::from_name(name).is_none() && Isa::parse_noting(&format!("rv64i_{name}")).is_ok() => {
                let _ = switch()?;
            }
            "g" => config.isa = if switch()? { isa("rv64gc")? } else { config.isa },
            _ => {
                let ext = Ext::from_name(&name.to_lowercase())
                    .ok_or_else(|| format!("-cpu {name}: rvvsim knows no such property or extension"))?;
                config.isa = if switch()? { config.isa.with(ext) } else { config.isa.without(ext) };
            }
        }
    }
    config.vlen = vlen.unwrap_or(128).max(config.isa.vlen_min());
    if let Some(vlen) = vlen {
        check_vlen(&config.isa, vlen)?;
        config.vlen = vlen;
    }
    config.tail = if ones_tail { Agnostic::Ones } else { Agnostic::Undisturbed };
    config.mask = if ones_mask { Agnostic::Ones } else { Agnostic::Undisturbed };
    config.vl = if half { VlChoice::Half } else { VlChoice::Max };
    // QEMU's default is to keep vl.
    config.vsetvl_x0 = if x0_vill { VsetvlX0::Vill } else { VsetvlX0::Keep };
    Ok(())
}
