//! The vector unit: state, legality, and the instructions by chapter of the manual.
//!
//! The engine knows `vtype` when it decodes, so an instruction is looked at once: `translate` checks every
//! rule that depends on the encoding, `vtype` and the configuration, and chooses a kernel for the operation
//! and the element width. What depends on `vl`, `vstart` and `frm` is checked by the kernel.
//!
//! * `chapters` has one module for each chapter of the manual: configuration, memory, integer, fixed-point,
//!   floating-point, reduction, mask, permutation, cryptography;
//! * `rules` has the reserved encodings, each by the manual's id, the agnostic policies, and [`footprint`];
//! * `run` has prestart, active, inactive, body and tail, and the kernels that compute elements.

mod chapters;
mod rules;
mod run;

pub use chapters::vset::{VillOrigin, next_vtype, supported};
pub use rules::footprint::{Footprint, footprint};
pub(crate) use rules::legality::{TWO_EEWS, VILL, VSTART};
use rules::policy::Policy;
pub use rules::reserved::reserved_encoding;
pub(crate) use run::copy;
pub(crate) use run::fast_path::FastPath;
pub(crate) use run::registers::Registers;

use crate::Hart;
use crate::config::{Agnostic, Config};
use crate::trap::{Exec, Trap};
use chapters::{conversion, crypto, fixed_point, float, integer, mask, memory, permute, reduction, vset};
use rules::legality;
use rules::policy::{Coins, Extent, KnownOnes, Written};
use run::fast_path::{self, Circumstances, FastPaths};
use run::kernel::{self, BoundKernel, KernelSpec, Operands, SCALAR};
use run::{elements, float_elements, maps};
use rvv_isa::{Chapter, Eew, Inst, Scalar, Sew, VectorOp, Vtype, rows};

/// Vector registers and CSRs.
#[derive(Clone)]
pub struct VectorState {
    /// The 32 registers, VLEN/8 bytes each, one after the other: a register group is a slice. A little slack
    /// comes after the last; see [`VectorState::register`].
    pub(crate) regs: Registers,
    /// VLEN in bytes.
    pub vlenb: usize,
    /// Vector length.
    pub vl: u64,
    /// Type of the elements; `vill` until the first `vset{i}vl{i}`.
    pub vtype: Vtype,
    /// What set `vill` last; `None` if that was the reset.
    pub vill_origin: Option<VillOrigin>,
    /// First element to execute.
    pub vstart: u64,
    /// Fixed-point rounding mode.
    pub vxrm: u8,
    /// Fixed-point saturation flag.
    pub vxsat: bool,
    /// [`Config::vl_multiple`] changed a `vl` that was chosen.
    pub vl_rounded: bool,
    /// The coins of the random tail policy.
    tail_coins: Coins,
    /// The coins of the random mask policy.
    mask_coins: Coins,
    /// What is known about ones in the registers, for the random tail policy.
    known_ones: KnownOnes,
}

impl VectorState {
    /// Where host code finds, for each register, the byte from which on it is known to be ones: 32 bits each.
    #[cfg(target_arch = "x86_64")]
    pub(crate) const KNOWN_ONES: usize = std::mem::offset_of!(VectorState, known_ones) + KnownOnes::FROM;

    /// The vector unit at reset.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let vlenb = config.vlen as usize / 8;
        VectorState {
            regs: Registers::new(32 * vlenb, kernel::SLACK),
            vlenb,
            vl: 0,
            vtype: Vtype::VILL,
            vill_origin: None,
            vstart: 0,
            vxrm: 0,
            vxsat: false,
            vl_rounded: false,
            tail_coins: Coins::new(config.tail),
            mask_coins: Coins::new(config.mask),
            known_ones: KnownOnes::new(vlenb),
        }
    }

    /// The 32 registers, VLEN/8 bytes each, one after the other: a register group is a slice.
    #[must_use]
    pub fn registers(&self) -> &[u8] {
        &self.regs[..32 * self.vlenb]
    }

    /// The 32 registers, to write.
    pub fn registers_mut(&mut self) -> &mut [u8] {
        self.known_ones.forget_all();
        &mut self.regs[..32 * self.vlenb]
    }

    /// The bytes of a register.
    #[must_use]
    pub fn register(&self, r: u8) -> &[u8] {
        &self.regs[usize::from(r) * self.vlenb..][..self.vlenb]
    }

    /// The bytes of a register, to write.
    pub fn register_mut(&mut self, r: u8) -> &mut [u8] {
        self.known_ones.forget(usize::from(r), self.vlenb);
        &mut self.regs[usize::from(r) * self.vlenb..][..self.vlenb]
    }
}

/// Executes a translated instruction.
pub(crate) type Run = fn(&mut Hart, &VInst) -> Exec;

/// A vector instruction under a known `vtype`, ready to run: `(vi.run)(hart, &vi)`.
#[derive(Clone, Copy)]
pub(crate) struct VInst {
    /// The instruction.
    pub inst: Inst,
    /// What runs it.
    pub run: Run,
    /// The `vtype` it runs under; of `vsetvli` and `vsetivli`, the one it sets.
    pub vtype: Vtype,
    /// VLMAX.
    pub vlmax: u32,
    /// Where its operands are.
    pub groups: RegisterGroups,
    /// Its scalar operand.
    pub scalar: ScalarOperand,
    /// Which elements get results, and what becomes of the others.
    pub policy: ElementPolicy,
    /// How its elements are computed.
    spec: &'static KernelSpec,
    /// The kernel for them, and where they are.
    kernel: BoundKernel,
    /// How it runs if it reduces to a kernel or a copy.
    fast: FastPaths,
    /// What it writes, for the random tail policy.
    written: Written,
}

/// Where the register groups of an instruction begin, in bytes of [`VectorState::regs`].
#[derive(Clone, Copy, Default)]
pub(crate) struct RegisterGroups {
    /// `vd`, or `vs3`.
    pub vd: u32,
    /// `vs1`.
    pub vs1: u32,
    /// `vs2`.
    pub vs2: u32,
    /// The bytes of the registers of `vd`, of one field if it is a segment's: the tail ends there.
    pub vd_bytes: u32,
}

/// The scalar operand of an instruction.
#[derive(Clone, Copy, Default)]
pub(crate) struct ScalarOperand {
    /// It is the immediate and not a register.
    pub immediate: bool,
    /// The bits of it that count.
    mask: u64,
    /// A one at the foot of each copy of it that fits in eight bytes.
    splat: u64,
}

/// Which elements of an instruction get results, and what becomes of the others.
#[derive(Clone, Copy)]
pub(crate) struct ElementPolicy {
    /// Elements are active where `v0.mask` says so. (A carry or a selector in v0 is an operand and no mask.)
    pub masked: bool,
    /// What becomes of inactive elements.
    pub inactive: Policy,
    /// What becomes of the tail.
    pub tail: Policy,
}

impl VInst {
    /// The integer scalar operand: `x[rs1]` or the immediate.
    #[inline(always)]
    fn scalar(&self, hart: &Hart) -> u64 {
        if self.scalar.immediate { self.inst.imm as i64 as u64 } else { hart.x[self.inst.rs1] }
    }

    /// An illegal instruction, found at run time.
    #[cold]
    fn illegal(&self, why: &'static str) -> Trap {
        Trap::illegal(self.inst.raw, why)
    }
}

/// How an instruction goes through its elements. The fast paths follow from it, too.
#[derive(Clone, Copy)]
enum Form {
    /// The kernel, element by element.
    Map,
    /// The same, with a carry or a selector in v0.
    Carry,
    /// The kernel makes a mask.
    Test,
    /// The same, with a carry in v0.
    TestCarry,
    /// The kernel saturates and rounds by `vxrm`.
    FixedPoint,
    /// The kernel computes with floating-point numbers.
    Float,
    /// The same, into a mask.
    FloatTest,
    /// The kernel folds all elements into one.
    Reduce,
    /// By this function.
    Own(Run),
}

impl Form {
    /// What runs it, with a scalar operand or without.
    fn run(self, scalar: bool) -> Run {
        match (self, scalar) {
            (Form::Map, false) => elements::vv,
            (Form::Map, true) => elements::vx,
            (Form::Carry, false) => elements::vvm,
            (Form::Carry, true) => elements::vxm,
            (Form::Test, false) => elements::mvv,
            (Form::Test, true) => elements::mvx,
            (Form::TestCarry, false) => elements::mvvm,
            (Form::TestCarry, true) => elements::mvxm,
            (Form::FixedPoint, false) => fixed_point::vv,
            (Form::FixedPoint, true) => fixed_point::vx,
            (Form::Float, false) => float_elements::fvv,
            (Form::Float, true) => float_elements::fvf,
            (Form::FloatTest, false) => float_elements::mfvv,
            (Form::FloatTest, true) => float_elements::mfvf,
            (Form::Reduce, _) => reduction::reduce,
            (Form::Own(run), _) => run,
        }
    }
}

/// What executes an instruction: the right side of a row of the chapters.
struct Row {
    form: Form,
    spec: Option<&'static KernelSpec>,
}

impl Row {
    /// With a kernel; without one, for this element width it is reserved.
    fn new(form: Form, spec: Option<&'static KernelSpec>) -> Row {
        Row { form: if spec.is_some() { form } else { Form::Own(reserved) }, spec }
    }

    /// Without a kernel.
    fn own(run: Run) -> Row {
        Row { form: Form::Own(run), spec: None }
    }
}

/// For instructions that have no kernel for their elements.
const NO_OPERANDS: Operands = Operands { out: 0, a: 0, b: 0, d: 0, each: !0, negate: [0; 3] };

/// For instructions that have no kernel for their elements.
static NO_KERNEL: KernelSpec = KernelSpec::of::<maps::Map1<integer::Vzext, u8, u8>>();

/// The kernel of rows for element widths that legality refuses.
fn reserved(_hart: &mut Hart, vi: &VInst) -> Exec {
    Err(vi.illegal("norm:elen: an operand's EEW is greater than ELEN"))
}

/// The row of a vector instruction for an element width.
fn row(op: VectorOp, sew: Sew) -> Row {
    match op {
        VectorOp::Load(op) => memory::load_row(op, sew),
        VectorOp::Store(op) => memory::store_row(op, sew),
        VectorOp::Integer(op) => integer::row(op, sew),
        VectorOp::Fixed(op) => fixed_point::row(op, sew),
        VectorOp::Float(op) => float::row(op, sew),
        VectorOp::Conversion(op) => conversion::row(op, sew),
        VectorOp::Reduction(op) => reduction::row(op, sew),
        VectorOp::Mask(op) => mask::row(op, sew),
        VectorOp::Permute(op) => permute::row(op, sew),
        VectorOp::BitManip(op) => crypto::bitmanip::row(op, sew),
        VectorOp::Aes(op) => crypto::aes::row(op),
        VectorOp::Sha2(op) => crypto::sha2::row(op, sew),
        VectorOp::Ghash(op) => crypto::ghash::row(op),
        VectorOp::Sm3(op) => crypto::sm3::row(op),
        VectorOp::Sm4(op) => crypto::sm4::row(op),
        // vset::translate has done those.
        VectorOp::Config(_) => Row::own(reserved),
    }
}

/// Whether a vector instruction may execute under `vtype`.
///
/// # Errors
/// The rule it breaks: it is then an illegal instruction.
pub fn check(config: &Config, inst: &Inst, vtype: Vtype) -> Result<(), &'static str> {
    translate(config, inst, vtype).map(|_| ())
}

/// Checks a vector instruction under `vtype` and chooses its kernel.
///
/// # Errors
/// The rule it breaks: it is then an illegal instruction.
pub(crate) fn translate(config: &Config, inst: &Inst, vtype: Vtype) -> Result<VInst, &'static str> {
    let op = match inst.op.chapter() {
        Chapter::Vector(VectorOp::Config(op)) => return Ok(vset::translate(config, inst, op, vtype)),
        Chapter::Vector(op) => op,
        Chapter::Scalar(_) => return Err("not a vector instruction"),
    };
    let Row { form, spec } = row(op, vtype.sew);
    let shape = inst.op.shape();
    let layout = legality::check(config, inst, vtype)?;
    let vlenb = config.vlen / 8;
    let registers = |r: u8| usize::from(r) * vlenb as usize;
    let spec = spec.unwrap_or(&NO_KERNEL);
    let run = form.run(shape.scalar != Scalar::Absent);
    let scalar = shape.vs1 == Eew::Absent;
    let immediate = shape.scalar == Scalar::Immediate;
    let slot = if immediate { 16 + (inst.imm & 15) as usize } else { usize::from(inst.rs1 & 15) };
    let sign = |negate: bool, size: u8| u64::from(negate) << (8 * size - 1);
    let [size_d, size_a, size_b] = spec.sizes;
    let mut operands = Operands {
        out: registers(inst.rd),
        // vmv.v.v has vs1 for its only source, and vmv.v.x has none.
        a: registers(match (shape.vs2, shape.vs1) {
            (Eew::Absent, Eew::Absent) => inst.rd,
            (Eew::Absent, _) => inst.rs1,
            _ => inst.rs2,
        }),
        b: if scalar { 32 * vlenb as usize + SCALAR + 64 * slot } else { registers(inst.rs1) },
        d: registers(inst.rd),
        each: if scalar { 0 } else { !0 },
        negate: [sign(spec.negate.a, size_a), sign(spec.negate.b, size_b), sign(spec.negate.d, size_d)],
    };
    let group = layout.vd_registers * vlenb;
    let tail = Policy::new(vtype.vta || layout.agnostic || shape.tail_agnostic(), config.tail);
    let masked = !inst.vm && !shape.v0_is_operand;
    let bytes = vtype.vlmax(config.vlen) * u32::from(spec.sizes[0]);
    let inactive = Policy::new(vtype.vma || layout.agnostic, config.mask);
    // With `vl` at VLMAX there are only whole blocks, and no tail that has to be treated.
    let whole = bytes.is_multiple_of(16) && (bytes == group || tail == Policy::Undisturbed);
    let plain = whole && !masked;
    let small = whole
        && vtype.vlmax(config.vlen) <= 64
        && (!masked || inactive == Policy::Undisturbed)
        && (shape.vd != Eew::Mask || tail == Policy::Undisturbed);
    let vlmax = vtype.vlmax(config.vlen);
    let copies = memory::copies(shape);
    let fast_path = Circumstances { form, vlmax, shape, spec, masked, plain, small, tail }.fast_path(inst);
    if spec.swap {
        std::mem::swap(&mut operands.a, &mut operands.d);
    }
    let kernel = BoundKernel::new(spec, operands, vlmax as usize);
    let whole_registers = matches!(shape.vd, Eew::Registers(_));
    let scalar_mask = u64::MAX >> (64 - 8 * u32::from(spec.sizes[2]));
    let writes_registers =
        matches!(config.tail, Agnostic::Random(_)) && !shape.is_store() && shape.vd != Eew::Absent;
    let fields = if whole_registers { 1 } else { u32::from(inst.nf) + 1 };
    Ok(VInst {
        inst: *inst,
        run,
        vtype,
        vlmax,
        groups: RegisterGroups {
            vd: u32::from(inst.rd) * vlenb,
            vs1: u32::from(inst.rs1) * vlenb,
            vs2: u32::from(inst.rs2) * vlenb,
            vd_bytes: group,
        },
        scalar: ScalarOperand { immediate, mask: scalar_mask, splat: u64::MAX / scalar_mask },
        policy: ElementPolicy { masked, inactive, tail },
        spec,
        kernel,
        fast: FastPaths {
            path: fast_path,
            small,
            highest_frm: fast_path::highest_frm(spec).unwrap_or(0),
            shift: copies.map_or(0, |(_, shift)| shift),
            align_mask: (1 << copies.map_or(0, |(_, shift)| shift)) - 1,
        },
        written: Written {
            registers: if writes_registers {
                (((1_u64 << (layout.vd_registers * fields)) - 1) << inst.rd) as u32
            } else {
                0
            },
            extent: match shape.vd {
                Eew::Mask => Extent::Mask,
                Eew::Element0 | Eew::WideElement0 => Extent::Element0,
                _ if whole_registers => Extent::All,
                _ => Extent::Body,
            },
            element: layout.vd_eew / 8,
        },
    })
}
