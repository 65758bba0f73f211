//! What host code calls: everything that has no template, and accesses that miss the TLB.
//!
//! `unsafe` is the pointers that host code passes: to the hart it was entered with, and into the block it was
//! compiled from, which is kept as long as its code can be reached.

use crate::Hart;
use crate::engine::{Kind, run_vector};
use crate::scalar::Handler;
use crate::vector::VInst;
use rvv_isa::Inst;

/// What a helper answers: go on, or leave the block with [`super::How::Trap`] or [`super::How::Early`].
pub type Status = u32;

/// Goes on.
pub const GO_ON: Status = 0;

/// What host code tells of an instruction: its micro-op's kind, its number in the block, and how many the
/// block has.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Info(pub u32);

impl Info {
    pub fn new(kind: Kind, insn: u16, count: u32) -> Info {
        debug_assert!(insn < 256 && count < 256);
        Info(u32::from(kind as u8) | u32::from(insn) << 8 | count << 16)
    }

    fn insn(self) -> u32 {
        self.0 >> 8 & 0xff
    }

    fn count(self) -> u32 {
        self.0 >> 16
    }
}

/// The result of a load.
#[repr(C)]
pub struct Loaded {
    value: u64,
    status: u64,
}

/// Brings the counters up to date: `left` instructions remain after the current block.
fn catch_up(h: &mut Hart, info: Info, left: u64) {
    h.instret = h.host_code.end - (left + u64::from(info.count()));
    h.retired_in_block = info.insn();
}

fn status(h: &mut Hart, done: crate::trap::Exec) -> Status {
    match done {
        Ok(()) if h.resync => super::How::Early as Status,
        Ok(()) => GO_ON,
        Err(trap) => {
            h.trap = Some(trap);
            super::How::Trap as Status
        }
    }
}

/// A scalar load that misses the TLB.
///
/// # Safety
/// Called by host code only, with the hart it was entered with.
pub unsafe extern "C" fn load(h: *mut Hart, va: u64, kind: u32, info: Info, left: u64) -> Loaded {
    // SAFETY: the caller's.
    let h = unsafe { &mut *h };
    catch_up(h, info, left);
    let (size, signed) = (1 << (kind & 3), kind & 4 != 0);
    match h.load_slow(va, size) {
        Ok(v) => {
            let unused = 64 - 8 * size as u32;
            let value = if signed { ((v << unused) as i64 >> unused) as u64 } else { v };
            Loaded { value, status: 0 }
        }
        Err(trap) => {
            h.trap = Some(trap);
            Loaded { value: 0, status: super::How::Trap as u64 }
        }
    }
}

/// A scalar store that misses the TLB.
///
/// # Safety
/// As [`load`].
pub unsafe extern "C" fn store(h: *mut Hart, va: u64, size_log2: u32, info: Info, left: u64) -> Status {
    // SAFETY: the caller's.
    let h = unsafe { &mut *h };
    catch_up(h, info, left);
    let done = h.store_slow(va, 1 << size_log2, h.host_code.value);
    status(h, done)
}

/// An instruction that has a handler.
///
/// # Safety
/// As [`load`]; `handler` and `inst` are those of the block.
pub unsafe extern "C" fn call(
    h: *mut Hart,
    handler: *const Handler,
    inst: *const Inst,
    info: Info,
    left: u64,
) -> Status {
    // SAFETY: the caller's.
    let (h, handler, inst) = unsafe { (&mut *h, &*handler, &*inst) };
    catch_up(h, info, left);
    // It may be an instruction that reads fflags.
    super::take_flags(h);
    let done = handler(h, inst);
    status(h, done)
}

/// A vector instruction.
///
/// # Safety
/// As [`load`]; `vinst` is that of the block.
pub unsafe extern "C" fn vector(
    h: *mut Hart,
    vinst: *const VInst,
    kind: Kind,
    info: Info,
    left: u64,
) -> Status {
    // SAFETY: the caller's.
    let (h, vinst) = unsafe { (&mut *h, &*vinst) };
    catch_up(h, info, left);
    let done = run_vector(h, kind, vinst);
    status(h, done)
}

/// The tail of a vector instruction whose body is done.
///
/// # Safety
/// As [`vector`].
pub unsafe extern "C" fn tail(h: *mut Hart, vinst: *const VInst) {
    // SAFETY: the caller's.
    let (h, vinst) = unsafe { (&mut *h, &*vinst) };
    vinst.finish_tail(&mut h.v);
}
