//! Runs a Linux program: a small stand-in for the command line, for trying things out.

use rvvsim::elf::Image;
use rvvsim::linux::{Grant, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;

fn main() {
    let mut options = ProcessOptions::default();
    let mut config = Config::default();
    let mut args = std::env::args_os().skip(1).peekable();
    while let Some(flag) = args.next_if(|a| a.to_string_lossy().starts_with('-')) {
        let mut value = || args.next().unwrap_or_default().into_string().unwrap_or_default();
        match flag.to_str() {
            Some("-strace") => options.strace = true,
            Some("-L") => options.sysroot = Some(PathBuf::from(value())),
            Some("--host-fs") => options.host_fs = true,
            Some("--dir") => options.dirs.push(Grant::parse(&value())),
            Some("--seed") => options.seed = value().parse().ok(),
            Some("--mem") => config.mem = value().parse().unwrap_or(config.mem),
            Some("--vlen") => config.vlen = value().parse().unwrap_or(config.vlen),
            _ => panic!("unknown option {flag:?}"),
        }
    }
    options.args = args.map(OsStringExt::into_vec).collect();
    options.env =
        std::env::vars_os().map(|(k, v)| [k.into_vec(), b"=".to_vec(), v.into_vec()].concat()).collect();
    let path = PathBuf::from(String::from_utf8_lossy(&options.args[0]).into_owned());
    let result =
        Image::open(&path).map_err(Into::into).and_then(|image| Machine::user(config, &image, options));
    let mut machine = result.unwrap_or_else(|e| {
        eprintln!("rvvsim: {e}");
        std::process::exit(1)
    });
    match machine.run(None) {
        Outcome::Exited(status) => std::process::exit(status),
        Outcome::Signaled { signal, trap } => {
            eprintln!("rvvsim: signal {signal} at {:#x}: {trap:?}", machine.hart.pc);
            std::process::exit(128 + signal)
        }
        other => {
            eprintln!("rvvsim: {other:?}");
            std::process::exit(1)
        }
    }
}
