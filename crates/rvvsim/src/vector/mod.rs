//! The vector unit: state, legality, and the instructions by chapter of the manual.
//!
//! The engine knows `vtype` when it decodes, so an instruction is looked at once: [`translate`] checks every rule
//! that depends on the encoding, `vtype` and the configuration, and chooses a kernel for the operation and the
//! element width. What depends on `vl`, `vstart` and `frm` is checked by the kernel.
//!
//! * [`legality`] — the reserved encodings, each by the manual's own id;
//! * [`body`] — prestart, active, inactive, body and tail; [`policy`] — the agnostic policies;
//! * one module for each chapter: configuration, memory, integer, fixed-point, floating-point, reduction,
//!   mask, permutation, cryptography.

mod body;
mod config;
mod conversion;
mod crypto;
mod element;
mod fixed_point;
mod float;
mod float_lanes;
mod footprint;
mod integer;
mod kernels;
mod lanes;
#[cfg(test)]
mod lanes_tests;
mod legality;
mod mask;
mod memory;
mod permute;
mod policy;
mod reduction;
mod reserved;
mod segment;

pub use config::{next_vtype, supported};
pub use footprint::{Footprint, footprint};
pub use policy::Policy;
pub use reserved::reserved_encoding;

use crate::Hart;
use crate::config::Config;
use crate::trap::{Exec, Trap};
use lanes::{Kernel, Lanes, SCALAR, Work};
use legality::{Eew, Shape};
use policy::Coins;
use rvv_isa::{Class, Field, Inst, Sew, Vtype};

/// Vector registers and CSRs.
#[derive(Clone)]
pub struct VectorState {
    /// The 32 registers, VLEN/8 bytes each, one after the other: a register group is a slice. A little slack
    /// comes after the last; see [`VectorState::register`].
    pub regs: Vec<u8>,
    /// VLEN in bytes.
    pub vlenb: usize,
    /// Vector length.
    pub vl: u64,
    /// Type of the elements; `vill` until the first `vset{i}vl{i}`.
    pub vtype: Vtype,
    /// First element to execute.
    pub vstart: u64,
    /// Fixed-point rounding mode.
    pub vxrm: u8,
    /// Fixed-point saturation flag.
    pub vxsat: bool,
    /// The coins of the random tail policy.
    tail_coins: Coins,
    /// The coins of the random mask policy.
    mask_coins: Coins,
}

impl VectorState {
    /// The vector unit at reset.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let vlenb = config.vlen as usize / 8;
        VectorState {
            regs: vec![0; 32 * vlenb + lanes::SLACK],
            vlenb,
            vl: 0,
            vtype: Vtype::VILL,
            vstart: 0,
            vxrm: 0,
            vxsat: false,
            tail_coins: Coins::new(config.tail),
            mask_coins: Coins::new(config.mask),
        }
    }

    /// The bytes of a register.
    #[must_use]
    pub fn register(&self, r: u8) -> &[u8] {
        &self.regs[usize::from(r) * self.vlenb..][..self.vlenb]
    }

    /// The bytes of a register, to write.
    pub fn register_mut(&mut self, r: u8) -> &mut [u8] {
        &mut self.regs[usize::from(r) * self.vlenb..][..self.vlenb]
    }
}

/// Executes a translated instruction.
pub type Run = fn(&mut Hart, &VInst) -> Exec;

/// A vector instruction under a known `vtype`, ready to run: `(vi.run)(hart, &vi)`.
#[derive(Clone, Copy)]
pub struct VInst {
    /// The instruction.
    pub inst: Inst,
    /// What runs it.
    pub run: Run,
    /// What computes its elements, on this host.
    kernel: Kernel,
    /// How its elements are computed.
    work: &'static Work,
    /// Where they are.
    lanes: Lanes,
    /// Not masked, and with `vl` at VLMAX its elements fill whole blocks, and no tail has to be treated.
    plain: bool,
    /// How it can be run if it is plain and `vl` is VLMAX.
    quick: Quick,
    /// Where the register group `vd` (or `vs3`) begins in [`VectorState::regs`].
    pub vd: u32,
    /// Where `vs1` begins.
    pub vs1: u32,
    /// Where `vs2` begins.
    pub vs2: u32,
    /// The bytes of the registers of `vd`, one field of it if it is a segment's: the tail ends there.
    pub group: u32,
    /// VLMAX.
    pub vlmax: u32,
    /// The `vtype` it runs under; of `vsetvli` and `vsetivli`, the one it sets.
    pub vtype: Vtype,
    /// Elements are active where `v0.mask` says so. (A carry or a selector in v0 is an operand and no mask.)
    pub masked: bool,
    /// The scalar operand is the immediate and not a register.
    pub immediate: bool,
    /// What becomes of inactive elements.
    pub inactive: Policy,
    /// What becomes of the tail.
    pub tail: Policy,
}

/// How an instruction can be run that has nothing to do but to call its kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quick {
    /// It has.
    No,
    /// With registers for operands.
    Vector,
    /// With a scalar operand.
    Scalar,
}

impl VInst {
    /// Whether [`VInst::run_quickly`] is worth trying.
    #[inline(always)]
    pub(crate) fn may_be_quick(&self) -> bool {
        self.quick != Quick::No
    }

    /// Runs the instruction if there is nothing to it but its kernel: `vl` is VLMAX, and `vstart` is 0. False if there
    /// is more to it; then nothing was done.
    #[inline(always)]
    pub(crate) fn run_quickly(&self, hart: &mut Hart) -> bool {
        if hart.v.vstart != 0 || hart.v.vl != u64::from(self.vlmax) {
            return false;
        }
        if self.quick == Quick::Scalar {
            let scalar = self.scalar(hart);
            body::put_scalar(&mut hart.v, self, scalar);
        }
        lanes::call(self.kernel, &mut hart.v.regs, &self.lanes, self.vlmax as usize, 0);
        hart.vs_dirty = true;
        true
    }

    /// The integer scalar operand: `x[rs1]` or the immediate.
    #[inline(always)]
    fn scalar(&self, hart: &Hart) -> u64 {
        if self.immediate { self.inst.imm as i64 as u64 } else { hart.x[self.inst.rs1] }
    }

    /// An illegal instruction, found at run time.
    #[cold]
    fn illegal(&self, why: &'static str) -> Trap {
        Trap::illegal(self.inst.raw, why)
    }
}

/// An instruction's row: what it needs of its operands, and what it does.
struct Entry {
    shape: Shape,
    run: Run,
}

/// The row of an instruction that has a kernel for its elements, or not.
struct Row {
    shape: Shape,
    run: Run,
    work: Option<&'static Work>,
}

impl Row {
    /// A row of an instruction with a kernel; without one, for this element width it is reserved.
    fn new(shape: Shape, run: Run, work: Option<&'static Work>) -> Row {
        Row { shape, run: if work.is_some() { run } else { reserved }, work }
    }
}

impl From<Entry> for Row {
    fn from(Entry { shape, run }: Entry) -> Row {
        Row { shape, run, work: None }
    }
}

/// For instructions that have no kernel for their elements.
const NO_LANES: Lanes = Lanes { out: 0, a: 0, b: 0, d: 0, scalar: false, negate: [0; 3] };

/// For instructions that have no kernel for their elements.
static NO_WORK: Work = Work::of::<kernels::Map1<integer::Vzext, u8, u8>>();

/// The kernel of rows for element widths that legality refuses.
fn reserved(_hart: &mut Hart, vi: &VInst) -> Exec {
    Err(vi.illegal("norm:elen: an operand's EEW is greater than ELEN"))
}

/// The row of an instruction for an element width.
fn entry(inst: &Inst, sew: Sew) -> Option<Row> {
    let op = inst.op;
    match op.class() {
        Class::VectorLoad | Class::VectorStore => memory::entry(inst, sew).map(Row::from),
        Class::VectorInteger => integer::entry(op, sew),
        Class::VectorFixed => fixed_point::entry(op, sew),
        Class::VectorFloat => float::entry(op, sew),
        Class::VectorReduction => reduction::entry(op, sew),
        Class::VectorMask => mask::entry(op, sew).map(Row::from),
        Class::VectorPermute => permute::entry(op, sew).map(Row::from),
        Class::VectorCrypto => crypto::entry(op, sew),
        _ => None,
    }
}

/// Checks a vector instruction under `vtype` and chooses its kernel.
///
/// # Errors
/// The rule it breaks: it is then an illegal instruction.
pub fn translate(config: &Config, inst: &Inst, vtype: Vtype) -> Result<VInst, &'static str> {
    if inst.op.class() == Class::VectorConfig {
        return Ok(config::translate(config, inst, vtype));
    }
    let Some(Row { shape, run, work }) = entry(inst, vtype.sew) else {
        return Err("this emulator does not execute that instruction");
    };
    let layout = legality::check(config, inst, vtype, &shape)?;
    let vlenb = config.vlen / 8;
    let registers = |r: u8| usize::from(r) * vlenb as usize;
    let work = work.unwrap_or(&NO_WORK);
    let scalar = shape.vs1 == Eew::Absent;
    let sign = |i: usize, size: usize| u64::from(work.negate[i]) << (8 * work.sizes[size] - 1);
    let mut lanes = Lanes {
        out: registers(inst.rd),
        // vmv.v.v has vs1 for its only source.
        a: registers(if shape.vs2 == Eew::Absent { inst.rs1 } else { inst.rs2 }),
        b: if scalar { 32 * vlenb as usize + SCALAR } else { registers(inst.rs1) },
        d: registers(inst.rd),
        scalar,
        negate: [sign(0, 1), sign(1, 2), sign(2, 0)],
    };
    let group = layout.vd_registers * vlenb;
    let tail = Policy::new(vtype.vta || layout.agnostic || shape.tail_agnostic(), config.tail);
    let masked = !inst.vm && !shape.v0_is_operand;
    let bytes = vtype.vlmax(config.vlen) * u32::from(work.sizes[0]);
    let plain = !masked && bytes.is_multiple_of(16) && (bytes == group || tail == Policy::Undisturbed);
    let quick = match run {
        _ if !plain => Quick::No,
        run if std::ptr::fn_addr_eq(run, body::vv as Run) => Quick::Vector,
        run if std::ptr::fn_addr_eq(run, body::vx as Run) => Quick::Scalar,
        _ => Quick::No,
    };
    if work.swap {
        std::mem::swap(&mut lanes.a, &mut lanes.d);
    }
    let fields = inst.op.info().operands.iter().flat_map(|operand| operand.fields());
    Ok(VInst {
        inst: *inst,
        run,
        kernel: work.kernels.pick(),
        work,
        lanes,
        plain,
        quick,
        vd: u32::from(inst.rd) * vlenb,
        vs1: u32::from(inst.rs1) * vlenb,
        vs2: u32::from(inst.rs2) * vlenb,
        group,
        vlmax: vtype.vlmax(config.vlen),
        vtype,
        masked,
        immediate: fields.clone().any(|field| *field == Field::Imm),
        inactive: Policy::new(vtype.vma || layout.agnostic, config.mask),
        tail,
    })
}
