//! From format to format, in and out of registers that are wider than the value.

use super::fast;
use super::round::{self, Unpacked};
use super::{BF16, Bits, F16, F32, F64, Flags, Float, RoundingMode};

/// `a` in another format. A NaN becomes the canonical one of the destination; a signaling NaN is invalid.
#[inline]
pub fn convert<S: Float, D: Float>(a: S::Bits, rm: RoundingMode, flags: &mut Flags) -> D::Bits {
    if let Some(result) = fast::convert::<S, D>(a, rm, flags) {
        return result;
    }
    match round::unpack::<S>(a) {
        Unpacked::Finite { negative, exponent, significand } => {
            round::pack::<D>(negative, exponent, significand, rm, flags)
        }
        Unpacked::Nan => {
            flags.raise_if(S::is_signaling_nan(a), Flags::NV);
            D::CANONICAL_NAN
        }
        special => {
            let sign = if S::is_sign_negative(a) { D::SIGN_BIT } else { D::Bits::ZERO };
            if matches!(special, Unpacked::Infinite) { sign | D::INFINITY } else { sign }
        }
    }
}

/// `a * b + c` with operands of a narrower format than the sum, rounded once: `vfwmacc` and its kin, and
/// `vfwmaccbf16` for `BF16` and `F32`.
#[inline]
pub fn widening_fma<S: Float, D: Float>(
    a: S::Bits,
    b: S::Bits,
    c: D::Bits,
    rm: RoundingMode,
    flags: &mut Flags,
) -> D::Bits {
    // Widening is exact; a signaling NaN raises NV on the way, as it would have in the sum.
    let a = convert::<S, D>(a, rm, flags);
    let b = convert::<S, D>(b, rm, flags);
    D::fused_mul_add(a, b, c, rm, flags)
}

/// `fcvtmod.w.d`: `a` truncated, modulo 2^32, sign-extended. The flags are those of `fcvt.w.d` towards zero.
pub fn fcvtmod_w_d(a: u64, flags: &mut Flags) -> u64 {
    F64::to_i32(a, RoundingMode::Rtz, flags);
    let Unpacked::Finite { negative, exponent, significand } = round::unpack::<F64>(a) else { return 0 };
    let magnitude = match exponent {
        ..=-64 => 0,
        -63..=-1 => significand >> -exponent,
        0..=31 => significand << exponent,
        _ => 0,
    };
    (if negative { magnitude.wrapping_neg() } else { magnitude }) as i32 as u64
}

/// The single-precision constants of `fli.s`.
const LOAD_IMMEDIATE: [f32; 32] = [
    -1.0,
    f32::MIN_POSITIVE,
    1.0 / 65536.0,
    1.0 / 32768.0,
    1.0 / 256.0,
    1.0 / 128.0,
    0.0625,
    0.125,
    0.25,
    0.3125,
    0.375,
    0.4375,
    0.5,
    0.625,
    0.75,
    0.875,
    1.0,
    1.25,
    1.5,
    1.75,
    2.0,
    2.5,
    3.0,
    4.0,
    8.0,
    16.0,
    128.0,
    256.0,
    32768.0,
    65536.0,
    f32::INFINITY,
    f32::NAN,
];

/// The constants of `fli`, which are those of single precision but for the least normal number; 2^16 is
/// infinite in half precision.
pub(super) fn load_immediate<F: Float>(idx: u8) -> F::Bits {
    match idx & 31 {
        1 => F::MIN_NORMAL,
        idx => convert::<F32, F>(
            LOAD_IMMEDIATE[usize::from(idx)].to_bits(),
            RoundingMode::Rne,
            &mut Flags::default(),
        ),
    }
}

/// A value of 32 bits as a 64-bit register holds it: upper bits all ones.
#[inline]
pub fn box_f32(a: u32) -> u64 {
    u64::from(a) | !0 << 32
}

/// The value of 32 bits in a 64-bit register; the canonical NaN if it is not boxed.
#[inline]
pub fn unbox_f32(boxed: u64) -> u32 {
    if boxed >= !0 << 32 { boxed as u32 } else { F32::CANONICAL_NAN }
}

/// A half as a 64-bit register holds it: upper bits all ones.
#[inline]
pub fn box_f16(a: u16) -> u64 {
    u64::from(a) | !0 << 16
}

/// The half in a 64-bit register; the canonical NaN if it is not boxed.
#[inline]
pub fn unbox_f16(boxed: u64) -> u16 {
    if boxed >= !0 << 16 { boxed as u16 } else { F16::CANONICAL_NAN }
}

/// A bf16 as a 64-bit register holds it: upper bits all ones.
#[inline]
pub fn box_bf16(a: u16) -> u64 {
    box_f16(a)
}

/// The bf16 in a 64-bit register; the canonical NaN if it is not boxed.
#[inline]
pub fn unbox_bf16(boxed: u64) -> u16 {
    if boxed >= !0 << 16 { boxed as u16 } else { BF16::CANONICAL_NAN }
}
