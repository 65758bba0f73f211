//! How floating-point instructions go through their elements: by the kernel while it can, and exactly,
//! element by element, where it cannot.

use crate::Hart;
use crate::fp::{self, Flags, RoundingMode};
use crate::trap::Exec;
use crate::vector::run::element::Element;
use crate::vector::run::elements::{
    begin, blank, body_bits, end, log_csr, put_scalar, read_element, treat_rest, vl, write_element,
    write_mask_word,
};
use crate::vector::run::input::Inexact;
use crate::vector::run::kernel::{Fast, Operands, PART_A, PART_B, PART_D, PART_OUT};
use crate::vector::{VInst, VectorState};
use rvv_isa::csr;

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

/// What kernels see instead of inactive elements: 1.0, which raises no exception, and 4.0 where it is added
/// to a product, so that the sum is not zero whatever the signs. As integers they are good, too: exactly
/// floats.
const ONES: [u64; 9] = [0, 1, 0x3c00, 0, 0x3f80_0000, 0, 0, 0, 0x3ff0_0000_0000_0000];
const FOURS: [u64; 9] = [0, 4, 0x4400, 0, 0x4080_0000, 0, 0, 0, 0x4010_0000_0000_0000];

/// An instruction that is being executed.
pub(in crate::vector) struct Pending<'a> {
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
    pub fn group(&mut self, v: &mut VectorState, done: usize) {
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
            // Comparisons of numbers raise nothing, active or not; if there are NaNs, it is only asked of the
            // active.
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
pub(in crate::vector) fn run(
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
