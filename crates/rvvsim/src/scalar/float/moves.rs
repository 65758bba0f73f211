//! Instructions that move bits and look at none but the sign: sign injection, moves between register files,
//! half-precision loads and stores. (Those of single and double precision are in the engine's loop.)

use super::{read, write};
use crate::Hart;
use crate::fp::{Bits, F16, Float};
use crate::trap::Exec;
use rvv_isa::Inst;

/// `fd = op(fs1, fs2)`; NaNs are not made canonical, but operands that are not NaN-boxed are.
#[inline(always)]
fn inject<F: Float>(h: &mut Hart, i: &Inst, op: impl FnOnce(F::Bits, F::Bits) -> F::Bits) -> Exec {
    let result = op(read::<F>(h, i.rs1), read::<F>(h, i.rs2));
    write::<F>(h, i.rd, result)
}

pub(super) fn fsgnj<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    inject::<F>(h, i, F::sgnj)
}

pub(super) fn fsgnjn<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    inject::<F>(h, i, F::sgnjn)
}

pub(super) fn fsgnjx<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    inject::<F>(h, i, F::sgnjx)
}

// Transfers out of the floating-point registers take the low bits, boxed or not: "Floating-point n-bit
// transfer operations" (section "NaN Boxing of Narrower Values").

pub(super) fn fmv_x_h(h: &mut Hart, i: &Inst) -> Exec {
    h.set_x(i.rd, h.f[i.rs1] as i16 as u64);
    Ok(())
}

pub(super) fn fmv_x_w(h: &mut Hart, i: &Inst) -> Exec {
    h.set_x(i.rd, h.f[i.rs1] as i32 as u64);
    Ok(())
}

pub(super) fn fmv_x_d(h: &mut Hart, i: &Inst) -> Exec {
    h.set_x(i.rd, h.f[i.rs1]);
    Ok(())
}

pub(super) fn fmv_from_x<F: Float>(h: &mut Hart, i: &Inst) -> Exec {
    let bits = F::Bits::truncate(h.x[i.rs1]);
    write::<F>(h, i.rd, bits)
}

pub(in crate::scalar) fn flh(h: &mut Hart, i: &Inst) -> Exec {
    let half = h.load::<u16>(address(h, i))?;
    write::<F16>(h, i.rd, half)
}

pub(in crate::scalar) fn fsh(h: &mut Hart, i: &Inst) -> Exec {
    h.store(address(h, i), h.f[i.rs2] as u16)
}

fn address(h: &Hart, i: &Inst) -> u64 {
    h.x[i.rs1].wrapping_add_signed(i64::from(i.imm))
}
