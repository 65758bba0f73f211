//! Vector floating-point instructions (manual, chapter "Vector Floating-Point Instructions", and the bf16
//! extensions Zvfbfmin and Zvfbfwma).
//!
//! Operations take `a` from `vs2` and `b` from `vs1` or `f[rs1]`; `d` is the old `vd`.

use crate::Hart;
use crate::fp::{self, BF16, Bits, F32, Flags, Float, RoundingMode};
use crate::trap::Exec;
use crate::vector::chapters::integer::Vmv;
use crate::vector::run::element::{Element, ops};
use crate::vector::run::elements::{
    self, begin, blank, body_bits, end, log_csr, map, put_scalar, read_element, treat_rest, vl,
    write_element, write_mask_word,
};
use crate::vector::run::float_kernels::{
    Compare, Equal, Float1, Float2, Float3, Fused, Greater, GreaterOrEqual, Greatest, Least, Less,
    LessOrEqual, Nothing, Product, Quotient, Reversed, Root, Sum, Unary, Unequal, Wide2, WideFused,
};
use crate::vector::run::input::{Inexact, MapInput};
use crate::vector::run::kernel::{Fast, KernelSpec, Negated, Operands, PART_A, PART_B, PART_D, PART_OUT};
use crate::vector::run::maps::{Choose, Map2};
use crate::vector::{Form, Row, VInst, VectorState, rows};
use rvv_isa::chapter::VectorFloat;
use rvv_isa::{Sew, csr};

/// norm:V_inv_frm_rsv: any vector floating-point instruction needs a valid `frm`, whether it rounds or not.
#[inline(always)]
pub(in crate::vector) fn rounding_mode(hart: &Hart, vi: &VInst) -> Exec<RoundingMode> {
    RoundingMode::from_frm(hart.frm)
        .ok_or_else(|| vi.illegal("norm:V_inv_frm_rsv: frm holds an invalid rounding mode"))
}

/// As [`rounding_mode`], for instructions that only move.
pub(in crate::vector) fn check_frm(hart: &Hart, vi: &VInst) -> Exec {
    rounding_mode(hart, vi).map(|_| ())
}

/// The exceptions of an instruction, over those accrued before.
#[inline(always)]
pub(in crate::vector) fn finish_float(hart: &mut Hart, flags: Flags) {
    if flags != hart.fflags {
        hart.fflags = flags;
        hart.fs_dirty = true;
        log_csr(hart, csr::FFLAGS, u64::from(flags.bits()));
    }
}

/// norm:vfop_freg_NaNbox_lsb_sewbits: the value in an `f` register, the canonical NaN if it is not boxed.
#[inline(always)]
pub(in crate::vector) fn unbox_scalar<T: Element>(f: u64) -> T {
    T::from_u64(match T::SIZE {
        2 => u64::from(fp::unbox_f16(f)),
        4 => u64::from(fp::unbox_f32(f)),
        _ => f,
    })
}

/// A value as an `f` register holds it.
#[inline(always)]
pub(in crate::vector) fn box_scalar<T: Element>(value: T) -> u64 {
    match T::SIZE {
        2 => fp::box_f16(value.to_u64() as u16),
        4 => fp::box_f32(value.to_u64() as u32),
        _ => value.to_u64(),
    }
}

/// A floating-point format whose bits are an element.
pub trait Format: Float<Bits: Element> {}
impl<F: Float<Bits: Element>> Format for F {}

/// Operations on one element, exactly, on bits in the low part of a `u64`: see [`Slow`](crate::vector::run::kernel::Slow). `a` is of
/// `vs2`, `b` of `vs1` or the scalar, `d` the third operand.
macro_rules! slow {
    ($($(#[$doc:meta])* $name:ident<$($f:ident),+>($($arg:ident: $t:ident),*; $rm:ident, $fl:ident) = $body:expr;)*) => {$(
        $(#[$doc])*
        #[allow(unused_variables)]
        fn $name<$($f: Format),+>(a: u64, b: u64, d: u64, $rm: RoundingMode, $fl: &mut Flags) -> u64 {
            let mut operands = [a, b, d].into_iter();
            $(let $arg = <$t as Float>::Bits::truncate(operands.next().unwrap_or(0));)*
            Into::<u64>::into($body)
        }
    )*};
}

slow! {
    /// norm:vfadd_vfsub_vfrsub_op: a difference is a sum with a sign flipped, in every mode.
    add<F>(a: F, b: F; rm, fl) = F::add(a, b, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    mul<F>(a: F, b: F; rm, fl) = F::mul(a, b, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    div<F>(a: F, b: F; rm, fl) = F::div(a, b, rm, fl);
    /// norm:vfmul_vfdiv_vfrdiv_op
    rdiv<F>(a: F, b: F; rm, fl) = F::div(b, a, rm, fl);
    /// norm:vfsqrt_op
    sqrt<F>(a: F; rm, fl) = F::sqrt(a, rm, fl);
    /// norm:vfrsqrt7_op
    rsqrt7<F>(a: F; rm, fl) = F::rsqrt7(a, fl);
    /// norm:vfrec7_op
    rec7<F>(a: F; rm, fl) = F::rec7(a, rm, fl);
    /// norm:vfclass_op
    class<F>(a: F; rm, fl) = F::classify(a);
    /// norm:vfmin_vfmax_op
    min<F>(a: F, b: F; rm, fl) = F::min(a, b, fl);
    /// norm:vfmin_vfmax_op
    max<F>(a: F, b: F; rm, fl) = F::max(a, b, fl);
    /// `vd = (vs1 * vs2) + vd`: norm:vfmacc_vfnmacc_vfmsac_vfnmsac_vfmadd_vfnmadd_vfmsub_vfnmsub_op; the others of them
    /// flip signs of operands, or have `vd` for `vs2`.
    fma<F>(a: F, b: F, d: F; rm, fl) = F::fused_mul_add(b, a, d, rm, fl);
    /// 2*SEW = SEW + SEW: the operands widen exactly, and the operation rounds once.
    wide_add<F, G>(a: F, b: F; rm, fl) = {
        let a = fp::convert::<F, G>(a, rm, fl);
        G::add(a, fp::convert::<F, G>(b, rm, fl), rm, fl)
    };
    /// 2*SEW = 2*SEW + SEW.
    wide_add_w<F, G>(a: G, b: F; rm, fl) = G::add(a, fp::convert::<F, G>(b, rm, fl), rm, fl);
    /// 2*SEW = SEW * SEW.
    wide_mul<F, G>(a: F, b: F; rm, fl) = {
        let a = fp::convert::<F, G>(a, rm, fl);
        G::mul(a, fp::convert::<F, G>(b, rm, fl), rm, fl)
    };
    /// `vd = (vs1 * vs2) + vd`: norm:vfwmacc_vfwnmacc_vfwmsac_vfwnmsac_op
    wide_fma<F, G>(a: F, b: F, d: G; rm, fl) = fp::widening_fma::<F, G>(b, a, d, rm, fl);
    /// norm:vmfeq_vmfne_vmflt_vmfle_vmfgt_vmfge_op: only a signaling NaN is invalid.
    eq<F>(a: F, b: F; rm, fl) = F::eq(a, b, fl);
    /// norm:vmfne_vdval1_NaN
    ne<F>(a: F, b: F; rm, fl) = !F::eq(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    lt<F>(a: F, b: F; rm, fl) = F::lt(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    le<F>(a: F, b: F; rm, fl) = F::le(a, b, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    gt<F>(a: F, b: F; rm, fl) = F::lt(b, a, fl);
    /// norm:vmflt_vmfle_vmfgt_vmfge_sqNaN_invalid
    ge<F>(a: F, b: F; rm, fl) = F::le(b, a, fl);
}

ops! { all:
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnj(a: U, b: U) -> U = a & U::MAX >> 1 | b & !(U::MAX >> 1);
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnjn(a: U, b: U) -> U = a & U::MAX >> 1 | !b & !(U::MAX >> 1);
    /// norm:vfsgnj_vfsgnjn_vfsgnjx_op
    Vfsgnjx(a: U, b: U) -> U = a ^ b & !(U::MAX >> 1);
}

/// What stands for elements that are not active: 1.0, with which nothing happens, and 4.0 where it is added to a
/// product, so that the sum is not zero whatever the signs. As integers they are good, too: exactly floats.
const ONES: [u64; 9] = [0, 1, 0x3c00, 0, 0x3f80_0000, 0, 0, 0, 0x3ff0_0000_0000_0000];
const FOURS: [u64; 9] = [0, 4, 0x4400, 0, 0x4080_0000, 0, 0, 0, 0x4010_0000_0000_0000];

/// An instruction under way.
struct Pending<'a> {
    vi: &'a VInst,
    rm: RoundingMode,
    flags: Flags,
    /// The kernel may be asked.
    fast: bool,
}

impl<'a> Pending<'a> {
    /// # Errors
    /// An illegal instruction if `frm` or `vstart` is reserved.
    #[inline(always)]
    fn begin(hart: &mut Hart, vi: &'a VInst, scalar: Option<u64>) -> Exec<Self> {
        let spec = vi.spec;
        let rm = rounding_mode(hart, vi)?;
        begin(hart, vi)?;
        let rm = spec.rm.unwrap_or(rm);
        if let Some(scalar) = scalar {
            put_scalar(&mut hart.v, vi, scalar);
        }
        let fast = match spec.fast {
            Fast::Always => true,
            Fast::In(mode) => mode == rm,
            Fast::Never => false,
        };
        Ok(Pending { vi, rm, flags: hart.fflags, fast })
    }

    /// What the kernel does about inexact results.
    #[inline(always)]
    fn inexact(&self) -> Inexact {
        Inexact::under(self.flags)
    }

    /// Element `i`, exactly.
    #[inline(always)]
    fn slow(&mut self, regs: &[u8], i: usize) -> u64 {
        let (operands, spec) = (self.vi.kernel.operands(), self.vi.spec);
        let [sd, sa, sb] = spec.sizes.map(usize::from);
        let [na, nb, nd] = operands.negate;
        let [_, has_a, has_b, has_d] = spec.uses;
        // What is not an operand may not be there: a comparison's `vd` is one register, whatever LMUL.
        let read = |has: bool, at: usize, size: usize| if has { read_element(&regs[at..], size) } else { 0 };
        let a = read(has_a, operands.a + i * sa, sa) ^ na;
        let b = read(has_b, operands.b_at(i, sb), sb) ^ nb;
        let d = read(has_d, operands.d + i * sd, sd) ^ nd;
        (spec.slow)(a, b, d, self.rm, &mut self.flags)
    }

    /// The elements `first..end`, all of them, exactly.
    fn slow_run(&mut self, regs: &mut [u8], first: usize, end: usize) {
        match self.vi.spec.sizes {
            [2, 2, 2] => self.slow_run_of::<u16>(regs, first, end),
            [4, 4, 4] => self.slow_run_of::<u32>(regs, first, end),
            [8, 8, 8] => self.slow_run_of::<u64>(regs, first, end),
            [size, ..] => {
                for i in first..end {
                    let result = self.slow(regs, i);
                    let to = self.vi.kernel.operands().out + i * usize::from(size);
                    write_element(&mut regs[to..], usize::from(size), result);
                }
            }
        }
    }

    /// The same, all operands of one width.
    fn slow_run_of<T: Element>(&mut self, regs: &mut [u8], first: usize, end: usize) {
        let (operands, slow, rm) = (*self.vi.kernel.operands(), self.vi.spec.slow, self.rm);
        let [na, nb, nd] = operands.negate;
        let [_, has_a, has_b, has_d] = self.vi.spec.uses;
        let mut flags = self.flags;
        for i in first..end {
            let read = |has: bool, at: usize| if has { T::read(&regs[at..]).to_u64() } else { 0 };
            let a = read(has_a, operands.a + i * T::SIZE) ^ na;
            let b = read(has_b, operands.b_at(i, T::SIZE)) ^ nb;
            let d = read(has_d, operands.d + i * T::SIZE) ^ nd;
            T::from_u64(slow(a, b, d, rm, &mut flags)).write(&mut regs[operands.out + i * T::SIZE..]);
        }
        self.flags = flags;
    }

    /// Puts the operands of a block of which some elements are not active aside, without those.
    fn put_aside(&self, v: &mut VectorState, mut part: Operands, active: u64, chunk: usize) -> Operands {
        let [sd, sa, sb] = self.vi.spec.sizes.map(usize::from);
        let beside = 32 * v.vlenb;
        part.a = blank(&mut v.regs, part.a, beside + PART_A, sa, chunk, active, ONES[sa]);
        if !part.is_scalar() {
            part.b = blank(&mut v.regs, part.b, beside + PART_B, sb, chunk, active, ONES[sb]);
        }
        part.d = blank(&mut v.regs, part.d, beside + PART_D, sd, chunk, active, FOURS[sd]);
        part.out = beside + PART_OUT;
        part
    }

    /// The results of all elements. The kernel has done `done` of them already.
    fn group(&mut self, v: &mut VectorState, done: usize) {
        let vi = self.vi;
        let (vstart, vl) = (v.vstart as usize, vl(v, vi));
        if vstart >= vl {
            return;
        }
        let size = usize::from(vi.spec.sizes[0]);
        let chunk = 64 >> size.trailing_zeros();
        let mut first = vstart;
        if vstart == 0 && !vi.policy.masked {
            // Whole blocks of 16 bytes.
            let whole = vl & !((16 >> size.trailing_zeros()) - 1);
            first = done;
            if self.fast && whole > 0 && done == 0 {
                first = vi.kernel.run_part(&mut v.regs, vi.kernel.operands(), whole, self.inexact()) as usize;
            }
            while first < whole {
                let end = whole.min(first + chunk);
                self.slow_run(&mut v.regs, first, end);
                first = end;
                if self.fast && first < whole {
                    let (part, left) = (vi.kernel.part(first), whole - first);
                    first += vi.kernel.run_part(&mut v.regs, &part, left, self.inexact()) as usize;
                }
            }
        }
        if first < vl {
            self.parts(v, first, vl, chunk);
        }
        treat_rest(v, vi, size, vstart, vl);
    }

    /// The results of the active ones of the elements `from..vl`.
    fn parts(&mut self, v: &mut VectorState, from: usize, vl: usize, chunk: usize) {
        let vi = self.vi;
        let size = usize::from(vi.spec.sizes[0]);
        let mut first = from & !(chunk - 1);
        while first < vl {
            let mut active = body_bits(first, chunk, from, vl);
            if vi.policy.masked {
                active &= u64::read(&v.regs[first / 8..]);
            }
            let count = chunk.min(vl - first);
            let to = self.vi.kernel.operands().out + first * size;
            let mut done = false;
            if self.fast && active != 0 {
                let part = self.put_aside(v, vi.kernel.part(first), active, chunk);
                done = vi.kernel.run_part(&mut v.regs, &part, count, self.inexact()) as usize >= count;
                if done {
                    v.blend(to, part.out, size, active, count);
                }
            }
            if !done {
                for i in (0..count).filter(|i| active >> i & 1 != 0) {
                    let result = self.slow(&v.regs, first + i);
                    write_element(&mut v.regs[to + i * size..], size, result);
                }
            }
            first += chunk;
        }
    }

    /// The results of all elements of a mask register.
    fn mask(&mut self, v: &mut VectorState) {
        let vi = self.vi;
        let (vstart, vl) = (v.vstart as usize, vl(v, vi));
        if vstart >= vl {
            return;
        }
        let out = 32 * v.vlenb + PART_OUT;
        // A word of the result at a time: vd may be v0, or the first register of a source.
        let mut word = vstart - vstart % 64;
        while word < vl {
            let body = body_bits(word, 64, vstart, vl);
            let active = if vi.policy.masked { body & u64::read(&v.regs[word / 8..]) } else { body };
            let count = (vl - word).min(64);
            // Comparisons of numbers raise nothing, active or not; if there are NaNs, it is only asked of the active.
            let part = Operands { out, ..vi.kernel.part(word) };
            let bits = if vi.kernel.run_part(&mut v.regs, &part, count, Inexact::Taken) as usize >= count {
                u64::read(&v.regs[out..])
            } else {
                (0..count)
                    .filter(|i| active >> i & 1 != 0)
                    .fold(0, |bits, i| bits | self.slow(&v.regs, word + i) << i)
            };
            write_mask_word(v, vi, word, bits, active, body & !active);
            word += 64;
        }
        v.treat_mask_tail(vi.policy.tail, vi.groups.vd as usize, vl);
    }
}

/// An instruction with vector operands and a result for each element.
pub(in crate::vector) fn fvv(hart: &mut Hart, vi: &VInst) -> Exec {
    run(hart, vi, None, |p, v| p.group(v, 0))
}

/// The same with a scalar operand.
pub(in crate::vector) fn fvf(hart: &mut Hart, vi: &VInst) -> Exec {
    let scalar = scalar(hart, vi);
    run(hart, vi, Some(scalar), |p, v| p.group(v, 0))
}

/// Does what the kernel has not, after the first `done` elements. True, for it is only asked where it can.
#[inline(never)]
pub(in crate::vector) fn go_on(hart: &mut Hart, vi: &VInst, done: usize) -> bool {
    run(hart, vi, None, |p, v| p.group(v, done)).is_ok()
}

/// The same, into a mask.
pub(in crate::vector) fn mfvv(hart: &mut Hart, vi: &VInst) -> Exec {
    run(hart, vi, None, |p, v| p.mask(v))
}

/// The same with a scalar operand, into a mask.
pub(in crate::vector) fn mfvf(hart: &mut Hart, vi: &VInst) -> Exec {
    let scalar = scalar(hart, vi);
    run(hart, vi, Some(scalar), |p, v| p.mask(v))
}

/// norm:vfwmaccbf16_vf: the scalar is a bf16, and so is its canonical NaN.
fn vfwmaccbf16_vf(hart: &mut Hart, vi: &VInst) -> Exec {
    let scalar = u64::from(fp::unbox_bf16(hart.f[vi.inst.rs1]));
    run(hart, vi, Some(scalar), |p, v| p.group(v, 0))
}

/// The scalar operand.
#[inline(always)]
pub(in crate::vector) fn scalar(hart: &Hart, vi: &VInst) -> u64 {
    let f = hart.f[vi.inst.rs1];
    match vi.spec.sizes[2] {
        2 => unbox_scalar::<u16>(f).into(),
        4 => unbox_scalar::<u32>(f).into(),
        _ => f,
    }
}

#[inline(always)]
fn run(
    hart: &mut Hart,
    vi: &VInst,
    scalar: Option<u64>,
    what: impl Fn(&mut Pending<'_>, &mut VectorState),
) -> Exec {
    let mut under_way = Pending::begin(hart, vi, scalar)?;
    what(&mut under_way, &mut hart.v);
    finish_float(hart, under_way.flags);
    end(hart);
    Ok(())
}

/// Signs and merges: integers, but `frm` must be valid as for any vector floating-point instruction.
fn sign_vv(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    elements::vv(hart, vi)
}

fn sign_vf(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    begin(hart, vi)?;
    let scalar = scalar(hart, vi);
    put_scalar(&mut hart.v, vi, scalar);
    map(&mut hart.v, vi, MapInput::Index);
    end(hart);
    Ok(())
}

/// norm:vfmerge_op_mask
fn vfmerge(hart: &mut Hart, vi: &VInst) -> Exec {
    check_frm(hart, vi)?;
    begin(hart, vi)?;
    let scalar = scalar(hart, vi);
    put_scalar(&mut hart.v, vi, scalar);
    map(&mut hart.v, vi, MapInput::Mask);
    end(hart);
    Ok(())
}

/// The instance of a kernel for the floating-point format of SEW, `F`, and the wider one, `G`.
macro_rules! by_float {
    (all $sew:expr, $($kernel:tt)*) => {{
        use $crate::fp::{F16, F32, F64};
        match $sew {
            Sew::E8 => $crate::vector::reserved as $crate::vector::Run,
            Sew::E16 => { type F = F16; $($kernel)* }
            Sew::E32 => { type F = F32; $($kernel)* }
            Sew::E64 => { type F = F64; $($kernel)* }
        }
    }};
    (narrow $sew:expr, $($kernel:tt)*) => {{
        use $crate::fp::{F16, F32, F64};
        match $sew {
            Sew::E8 | Sew::E64 => $crate::vector::reserved as $crate::vector::Run,
            Sew::E16 => { type F = F16; type G = F32; $($kernel)* }
            Sew::E32 => { type F = F32; type G = F64; $($kernel)* }
        }
    }};
}
pub(in crate::vector) use by_float;

/// The rows of the chapter.
pub(in crate::vector) fn row(op: VectorFloat, sew: Sew) -> Row {
    const RNE: Fast = Fast::In(RoundingMode::Rne);
    /// The work for the format of SEW, `F`, with elements `T`.
    macro_rules! spec {
        ($($spec:tt)*) => {{
            use crate::fp::{F16, F64};
            #[allow(dead_code)]
            match sew {
                Sew::E8 => None,
                Sew::E16 => { type F = F16; type T = u16; Some(const { &$($spec)* }) }
                Sew::E32 => { type F = F32; type T = u32; Some(const { &$($spec)* }) }
                Sew::E64 => { type F = F64; type T = u64; Some(const { &$($spec)* }) }
            }
        }};
    }
    /// The same, with a result of the format `G`, elements `R`.
    macro_rules! wide {
        ($($spec:tt)*) => {{
            use crate::fp::{F16, F64};
            match sew {
                Sew::E8 | Sew::E64 => None,
                Sew::E16 => { type F = F16; type G = F32; type T = u16; type R = u32; Some(const { &$($spec)* }) }
                Sew::E32 => { type F = F32; type G = F64; type T = u32; type R = u64; Some(const { &$($spec)* }) }
            }
        }};
    }
    /// A work for [`Form::Float`].
    macro_rules! float {
        ($kernel:ident<$o:ty>, $slow:ident, $fast:expr) => {
            Row::new(Form::Float, spec!(KernelSpec::float::<$kernel<$o, T>>($slow::<F>, $fast)))
        };
    }
    /// One without a kernel.
    macro_rules! slow {
        ($slow:ident) => {
            Row::new(Form::Float, spec!(KernelSpec::float::<Nothing<T, T>>($slow::<F>, Fast::Never)))
        };
    }
    /// Whether a sign is a minus.
    macro_rules! is_minus {
        (+) => {
            false
        };
        (-) => {
            true
        };
    }
    /// A sum, by its signs.
    macro_rules! sum {
        (vs2 $b:tt vs1) => { sum!(+vs2 $b vs1) };
        ($a:tt vs2 $b:tt vs1) => {
            Row::new(
                Form::Float,
                spec!(KernelSpec::float::<Float2<Sum, T>>(add::<F>, RNE)
                    .negating(Negated { a: is_minus!($a), b: is_minus!($b), d: false })),
            )
        };
    }
    /// A fused multiply-add, by its signs.
    macro_rules! fused {
        ((vs1 * vs2) $d:tt vd) => { fused!(@ +, $d) };
        (-(vs1 * vs2) $d:tt vd) => { fused!(@ -, $d) };
        ((vs1 * vd) $d:tt vs2) => { fused!(@ +, $d, .swapped()) };
        (-(vs1 * vd) $d:tt vs2) => { fused!(@ -, $d, .swapped()) };
        (@ $product:tt, $d:tt $(, $($swapped:tt)*)?) => {
            Row::new(
                Form::Float,
                spec!(KernelSpec::float::<Float3<Fused, T>>(fma::<F>, RNE)
                    .negating(Negated { a: false, b: is_minus!($product), d: is_minus!($d) })$($($swapped)*)?),
            )
        };
    }
    /// A widening one.
    macro_rules! wide_fused {
        ((vs1 * vs2) $d:tt vd) => { wide_fused!(@ +, $d) };
        (-(vs1 * vs2) $d:tt vd) => { wide_fused!(@ -, $d) };
        (@ $product:tt, $d:tt) => {
            Row::new(
                Form::Float,
                wide!(KernelSpec::float::<WideFused<Sum, T, R>>(wide_fma::<F, G>, RNE)
                    .negating(Negated { a: false, b: is_minus!($product), d: is_minus!($d) })),
            )
        };
    }
    /// A widening sum, by the widths of `vs2` and `vs1`.
    macro_rules! wide_sum {
        (SEW $b:tt SEW) => { wide_sum!(@ T, wide_add, $b) };
        (2 * SEW $b:tt SEW) => { wide_sum!(@ R, wide_add_w, $b) };
        (@ $a:ident, $slow:ident, $b:tt) => {
            Row::new(
                Form::Float,
                wide!(KernelSpec::float::<Wide2<Sum, $a, T, R>>($slow::<F, G>, RNE)
                    .negating(Negated { a: false, b: is_minus!($b), d: false })),
            )
        };
    }
    macro_rules! sign {
        ($o:ty, $run:expr) => {
            Row::new(Form::Own($run), spec!(KernelSpec::of::<Map2<$o, T, T, T>>()))
        };
    }
    macro_rules! compare {
        ($relation:ty, $slow:ident) => {
            Row::new(
                Form::FloatTest,
                spec!(KernelSpec::float::<Compare<$relation, T>>($slow::<F>, Fast::Always)),
            )
        };
    }
    let bf16_fma = const { &KernelSpec::float::<Nothing<u16, u32>>(wide_fma::<BF16, F32>, Fast::Never) };
    rows! { op;
        vfadd.vv, vfadd.vf => sum!(vs2 + vs1);
        vfsub.vv, vfsub.vf => sum!(vs2 - vs1);
        vfrsub.vf => sum!(-vs2 + vs1);
        vfmul.vv, vfmul.vf => float!(Float2<Product>, mul, RNE);
        vfdiv.vv, vfdiv.vf => float!(Float2<Quotient>, div, RNE);
        vfrdiv.vf => float!(Float2<Reversed>, rdiv, RNE);
        vfmin.vv, vfmin.vf => float!(Float2<Least>, min, Fast::Always);
        vfmax.vv, vfmax.vf => float!(Float2<Greatest>, max, Fast::Always);
        vfsgnj.vv => sign!(Vfsgnj, sign_vv);
        vfsgnj.vf => sign!(Vfsgnj, sign_vf);
        vfsgnjn.vv => sign!(Vfsgnjn, sign_vv);
        vfsgnjn.vf => sign!(Vfsgnjn, sign_vf);
        vfsgnjx.vv => sign!(Vfsgnjx, sign_vv);
        vfsgnjx.vf => sign!(Vfsgnjx, sign_vf);
        vfsqrt.v => Row::new(Form::Float, spec!(KernelSpec::float::<Float1<Unary<Root>, T, T>>(sqrt::<F>, RNE)));
        vfrsqrt7.v => slow!(rsqrt7);
        vfrec7.v => slow!(rec7);
        vfclass.v => slow!(class);

        vfmacc.vv, vfmacc.vf => fused!((vs1 * vs2) + vd);
        vfnmacc.vv, vfnmacc.vf => fused!(-(vs1 * vs2) - vd);
        vfmsac.vv, vfmsac.vf => fused!((vs1 * vs2) - vd);
        vfnmsac.vv, vfnmsac.vf => fused!(-(vs1 * vs2) + vd);
        vfmadd.vv, vfmadd.vf => fused!((vs1 * vd) + vs2);
        vfnmadd.vv, vfnmadd.vf => fused!(-(vs1 * vd) - vs2);
        vfmsub.vv, vfmsub.vf => fused!((vs1 * vd) - vs2);
        vfnmsub.vv, vfnmsub.vf => fused!(-(vs1 * vd) + vs2);

        vfwadd.vv, vfwadd.vf => wide_sum!(SEW + SEW);
        vfwsub.vv, vfwsub.vf => wide_sum!(SEW - SEW);
        vfwadd.wv, vfwadd.wf => wide_sum!(2 * SEW + SEW);
        vfwsub.wv, vfwsub.wf => wide_sum!(2 * SEW - SEW);
        vfwmul.vv, vfwmul.vf => Row::new(
            Form::Float,
            wide!(KernelSpec::float::<Wide2<Product, T, T, R>>(wide_mul::<F, G>, Fast::Always)),
        );
        vfwmacc.vv, vfwmacc.vf => wide_fused!((vs1 * vs2) + vd);
        vfwnmacc.vv, vfwnmacc.vf => wide_fused!(-(vs1 * vs2) - vd);
        vfwmsac.vv, vfwmsac.vf => wide_fused!((vs1 * vs2) - vd);
        vfwnmsac.vv, vfwnmsac.vf => wide_fused!(-(vs1 * vs2) + vd);
        vfwmaccbf16.vv => Row::new(Form::Float, Some(bf16_fma));
        vfwmaccbf16.vf => Row::new(Form::Own(vfwmaccbf16_vf), Some(bf16_fma));

        vmfeq.vv, vmfeq.vf => compare!(Equal, eq);
        vmfne.vv, vmfne.vf => compare!(Unequal, ne);
        vmflt.vv, vmflt.vf => compare!(Less, lt);
        vmfle.vv, vmfle.vf => compare!(LessOrEqual, le);
        vmfgt.vf => compare!(Greater, gt);
        vmfge.vf => compare!(GreaterOrEqual, ge);

        vfmerge.vfm => Row::new(Form::Own(vfmerge), spec!(KernelSpec::of::<Choose<(), T>>()));
        vfmv.v.f => sign!(Vmv, sign_vf);
    }
}
