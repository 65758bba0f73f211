//! rvvsim for C (`include/rvvsim.h`) and Python (`python/rvvsim.py`): a Linux process, step by step, with its
//! registers, which of their bits nothing defines, and its memory.
//!
//! A pointer to a machine is what [`rvvsim_open`] returned; it is used by one thread at a time, until
//! [`rvvsim_close`]. Pointers to bytes are valid for the length that comes with them. That is all that the
//! `unsafe` here relies on.

use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::sanitize::{Rules, Sanitizer};
use rvvsim::{Config, Machine, Outcome};
use std::ffi::{CStr, OsStr, c_char};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// A machine.
pub struct RvvsimMachine {
    machine: Machine,
    sanitizer: Option<Sanitizer>,
    outcome: Option<Outcome>,
}

fn open(path: &Path, vlen: u32, sanitize: bool) -> Result<RvvsimMachine, String> {
    if !vlen.is_power_of_two() || !(128..=65536).contains(&vlen) {
        return Err(format!("VLEN is a power of two from 128 to 65536, not {vlen}"));
    }
    let image = Image::open(path).map_err(|e| e.to_string())?;
    let options = ProcessOptions {
        args: vec![path.as_os_str().as_bytes().to_vec()],
        stdout: Output::Capture,
        // A process of the guest would be one of the host.
        most_processes: 1,
        ..ProcessOptions::default()
    };
    let config = Config { vlen, ..Config::default() };
    let mut machine = Machine::user(config, &image, options).map_err(|e| e.to_string())?;
    let sanitizer = sanitize.then(|| Sanitizer::new(&mut machine, &image, Rules::Machine));
    Ok(RvvsimMachine { machine, sanitizer, outcome: None })
}

/// Loads a Linux program. With `sanitize` not 0, undefined values are followed. Null if it cannot be loaded:
/// then a message is in `error`, of at most `size` bytes with its end.
///
/// # Safety
/// `path` is a string of C; `error` is null, or `size` bytes are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_open(
    path: *const c_char,
    vlen: u32,
    sanitize: i32,
    error: *mut c_char,
    size: usize,
) -> *mut RvvsimMachine {
    // SAFETY: the caller's promise.
    let path = unsafe { CStr::from_ptr(path) };
    match open(Path::new(OsStr::from_bytes(path.to_bytes())), vlen, sanitize != 0) {
        Ok(machine) => Box::into_raw(Box::new(machine)),
        Err(message) => {
            if !error.is_null() && size > 0 {
                let bytes = message.as_bytes();
                let len = bytes.len().min(size - 1);
                // SAFETY: `size` bytes are there, and no more are written.
                let to = unsafe { std::slice::from_raw_parts_mut(error.cast::<u8>(), size) };
                to[..len].copy_from_slice(&bytes[..len]);
                to[len] = 0;
            }
            std::ptr::null_mut()
        }
    }
}

/// Ends a machine; null is none.
///
/// # Safety
/// It is not used afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_close(machine: *mut RvvsimMachine) {
    if !machine.is_null() {
        // SAFETY: it came from `Box::into_raw`, and this is its last use.
        drop(unsafe { Box::from_raw(machine) });
    }
}

/// Executes at most so many instructions: 0 if it may go on, 1 if the program has ended.
///
/// # Safety
/// `machine` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_step(machine: *mut RvvsimMachine, instructions: u64) -> i32 {
    // SAFETY: the caller's promise.
    let m = unsafe { &mut *machine };
    if m.outcome.is_some() {
        return 1;
    }
    m.machine.pause_at(Some(m.machine.instructions_retired().saturating_add(instructions)));
    let outcome = match &mut m.sanitizer {
        Some(sanitizer) => m.machine.run_sanitized(None, sanitizer),
        None => Some(m.machine.run(None)),
    };
    match outcome {
        Some(Outcome::OutOfInstructions) | None => 0,
        Some(outcome) => {
            m.outcome = Some(outcome);
            1
        }
    }
}

/// How the program ended: its status, -signal, or -1000 for anything else; -2000 if it has not.
///
/// # Safety
/// `machine` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_status(machine: *const RvvsimMachine) -> i32 {
    // SAFETY: the caller's promise.
    match unsafe { &(*machine).outcome } {
        None => -2000,
        Some(Outcome::Exited(status)) => status & 0xff,
        Some(Outcome::Signaled { signal, .. }) => -signal,
        Some(_) => -1000,
    }
}

/// Instructions retired so far.
///
/// # Safety
/// `machine` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_retired(machine: *const RvvsimMachine) -> u64 {
    // SAFETY: the caller's promise.
    unsafe { &(*machine).machine }.instructions_retired()
}

/// What `vl`, `vtype` and `vlenb` are called.
fn vector_register(m: &RvvsimMachine, name: &str) -> Option<u64> {
    let v = m.machine.hart().vector();
    match name {
        "vl" => Some(v.vl),
        "vtype" => Some(v.vtype.to_bits()),
        "vstart" => Some(v.vstart),
        "vlenb" => Some(v.vlenb as u64),
        _ => None,
    }
}

/// Reads a register by its name (`a0`, `fa0`, `pc`, `vl`, `vtype`, `vstart`, `vlenb`), and which of its bits
/// nothing defines; 0 if there is no such register.
///
/// # Safety
/// `machine` is one, `name` a string of C; `value` and `undefined` are null or have room for a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_read(
    machine: *const RvvsimMachine,
    name: *const c_char,
    value: *mut u64,
    undefined: *mut u64,
) -> i32 {
    // SAFETY: the caller's promise.
    let (m, name) = unsafe { (&*machine, CStr::from_ptr(name)) };
    let Ok(name) = name.to_str() else { return 0 };
    let Some(is) = m.machine.hart().register(name).or_else(|| vector_register(m, name)) else { return 0 };
    let shadow = m.sanitizer.as_ref().map_or(0, |s| s.undefined_named(name));
    for (to, from) in [(value, is), (undefined, shadow)] {
        if !to.is_null() {
            // SAFETY: there is room for a number.
            unsafe { to.write(from) };
        }
    }
    1
}

/// Writes `pc`, an integer or a floating-point register by its name; 0 if there is no such register.
///
/// # Safety
/// `machine` is one, `name` a string of C.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_write(machine: *mut RvvsimMachine, name: *const c_char, value: u64) -> i32 {
    // SAFETY: the caller's promise.
    let (m, name) = unsafe { (&mut *machine, CStr::from_ptr(name)) };
    name.to_str().is_ok_and(|name| m.machine.hart_mut().set_register(name, value)).into()
}

/// Reads a vector register, and which of its bits nothing defines; the bytes that it has.
///
/// # Safety
/// `machine` is one; `bytes` and `undefined` are null, or `size` bytes are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_read_vector(
    machine: *const RvvsimMachine,
    register: u8,
    bytes: *mut u8,
    undefined: *mut u8,
    size: usize,
) -> usize {
    // SAFETY: the caller's promise.
    let m = unsafe { &*machine };
    if register > 31 {
        return 0;
    }
    let v = m.machine.hart().vector();
    let is = &v.registers()[usize::from(register) * v.vlenb..][..v.vlenb];
    let defined = vec![0; v.vlenb];
    let shadow = m.sanitizer.as_ref().map_or(&*defined, |s| s.undefined_v(register));
    for (to, from) in [(bytes, is), (undefined, shadow)] {
        if !to.is_null() {
            // SAFETY: `size` bytes are there.
            let to = unsafe { std::slice::from_raw_parts_mut(to, size) };
            let len = size.min(from.len());
            to[..len].copy_from_slice(&from[..len]);
        }
    }
    v.vlenb
}

/// Reads memory; how many bytes there are before the first that cannot be read.
///
/// # Safety
/// `machine` is one; `size` bytes are at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_read_memory(
    machine: *mut RvvsimMachine,
    address: u64,
    bytes: *mut u8,
    size: usize,
) -> usize {
    if size == 0 {
        return 0;
    }
    // SAFETY: the caller's promise.
    let (m, to) = unsafe { (&mut *machine, std::slice::from_raw_parts_mut(bytes, size)) };
    m.machine.hart_mut().peek(address, to)
}

/// Writes memory; how many bytes were written.
///
/// # Safety
/// `machine` is one; `size` bytes are at `bytes`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_write_memory(
    machine: *mut RvvsimMachine,
    address: u64,
    bytes: *const u8,
    size: usize,
) -> usize {
    if size == 0 {
        return 0;
    }
    // SAFETY: the caller's promise.
    let (m, from) = unsafe { (&mut *machine, std::slice::from_raw_parts(bytes, size)) };
    m.machine.hart_mut().poke(address, from)
}

/// What the program wrote to standard output; how many bytes that are.
///
/// # Safety
/// `machine` is one; `bytes` is null, or `size` bytes are there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_stdout(machine: *const RvvsimMachine, bytes: *mut u8, size: usize) -> usize {
    // SAFETY: the caller's promise.
    let m = unsafe { &*machine };
    let written = m.machine.stdout();
    if !bytes.is_null() {
        // SAFETY: `size` bytes are there.
        let to = unsafe { std::slice::from_raw_parts_mut(bytes, size) };
        let len = size.min(written.len());
        to[..len].copy_from_slice(&written[..len]);
    }
    written.len()
}

/// How many places `--sanitize` would report so far.
///
/// # Safety
/// `machine` is one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rvvsim_findings(machine: *const RvvsimMachine) -> usize {
    // SAFETY: the caller's promise.
    unsafe { &(*machine).sanitizer }.as_ref().map_or(0, |s| s.findings().len())
}
