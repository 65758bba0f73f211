//! Floating-Point/Integer Type-Convert Instructions: single-width, widening, narrowing, and those of
//! bfloat16.

use super::exact::{Exact, Format, Value};
use super::{Args, Frm, Rounding, range, wrap};
use rvv_intrinsics::Elem;
use rvv_intrinsics::sem::Convert;

pub(super) fn element(sem: Convert, ret: Elem, args: &Args) -> Option<u64> {
    let mode = match sem {
        // vfcvt.f.x.v vfcvt.f.xu.v vfcvt.x.f.v vfcvt.xu.f.v vfncvt.f.f.w vfncvt.f.x.w vfncvt.f.xu.w
        // vfncvt.x.f.w vfncvt.xu.f.w vfncvtbf16.f.f.w vfwcvt.f.f.v vfwcvt.f.x.v vfwcvt.f.xu.v vfwcvt.x.f.v
        // vfwcvt.xu.f.v vfwcvtbf16.f.f.v
        Convert::Fcvt => Rounding::Frm(args.frm),
        // vfcvt.rtz.x.f.v vfcvt.rtz.xu.f.v vfncvt.rtz.x.f.w vfncvt.rtz.xu.f.w vfwcvt.rtz.x.f.v
        // vfwcvt.rtz.xu.f.v
        Convert::FcvtRtz => Rounding::Frm(Frm::Rtz),
        // vfncvt.rod.f.f.w
        Convert::FcvtRod => Rounding::Odd,
    };
    let value = match Format::of(args.vs2.elem) {
        Some(format) => format.unpack(args.vs2.bits),
        None => {
            let integer = args.vs2.integer();
            Value::exact(integer < 0, integer.unsigned_abs(), 0)
        }
    };
    match Format::of(ret) {
        Some(format) => Some(format.pack(value, mode)),
        None => Some(to_integer(ret, value, mode)),
    }
}

/// "Table: Domains of float-to-integer conversions and behavior for invalid inputs": the closest
/// representable integer, and the largest for a NaN.
fn to_integer(ret: Elem, value: Value, mode: Rounding) -> u64 {
    let (min, max) = range(ret);
    let integer = match value {
        Value::Nan | Value::Infinity { negative: false } => max,
        Value::Infinity { negative: true } => min,
        Value::Zero { .. } => 0,
        Value::Finite(x) => {
            let magnitude = magnitude(x, mode);
            let integer = if x.negative { -magnitude } else { magnitude };
            integer.clamp(min, max)
        }
    };
    wrap(ret, integer)
}

/// The magnitude, rounded to an integer; of those beyond all integer types, one such.
fn magnitude(x: Exact, mode: Rounding) -> i128 {
    if x.exp + x.top_bit() as i32 > 64 { i128::MAX } else { x.round_off(0, mode) as i128 }
}
