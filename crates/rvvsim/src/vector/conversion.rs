//! Conversions between floating-point formats and integers (manual, sections "… Type-Convert Instructions", and
//! Zvfbfmin).

use super::Row;
use super::float::{Format, fvv};
use super::float_lanes::{
    Float1, FromSigned, FromUnsigned, Narrowing, Nothing, ToSigned, ToUnsigned, Widening,
};
use super::lanes::{Fast, Work};
use super::legality::{Float as Operands, Shape};
use crate::fp::{self, BF16, Bits, F16, F32, F64, Flags, Int, RoundingMode};
use rvv_isa::{Op, Sew};

/// Float to integer.
fn to<F: Format, I: Int + Wide>(a: u64, _: u64, _: u64, rm: RoundingMode, flags: &mut Flags) -> u64 {
    F::to_int::<I>(F::Bits::truncate(a), rm, flags).wide()
}

/// Integer to float.
fn from<F: Format, I: Int>(a: u64, _: u64, _: u64, rm: RoundingMode, flags: &mut Flags) -> u64 {
    F::from_int::<I>(I::truncate(a), rm, flags).into()
}

/// Float `S` to float `D`.
fn convert<S: Format, D: Format>(a: u64, _: u64, _: u64, rm: RoundingMode, flags: &mut Flags) -> u64 {
    fp::convert::<S, D>(S::Bits::truncate(a), rm, flags).into()
}

/// An integer in the low bits of a wider one.
trait Wide {
    fn wide(self) -> u64;
}

macro_rules! wide {
    ($($t:ty)*) => {$(
        impl Wide for $t {
            #[inline(always)]
            fn wide(self) -> u64 {
                self as u64
            }
        }
    )*};
}

wide! { i8 u8 i16 u16 i32 u32 i64 u64 }

const RNE: RoundingMode = RoundingMode::Rne;
const RTZ: RoundingMode = RoundingMode::Rtz;

/// The rows of the sections.
pub(super) fn entry(op: Op, sew: Sew) -> Option<Row> {
    /// Without a kernel.
    macro_rules! slow {
        ($slow:expr, $a:ty, $r:ty) => {
            Some(const { &Work::float::<Nothing<$a, $r>>($slow, Fast::Never) })
        };
        ($slow:expr, $a:ty, $r:ty, $rm:expr) => {
            Some(const { &Work::float::<Nothing<$a, $r>>($slow, Fast::Never).in_mode($rm) })
        };
    }
    /// With one, for a rounding mode.
    macro_rules! fast {
        ($slow:expr, $kernel:ty, $a:ty, $r:ty, $fast:expr) => {
            Some(const { &Work::float::<Float1<$kernel, $a, $r>>($slow, $fast) })
        };
    }
    /// Integer and float of SEW. Works for `frm`, or for a mode of its own.
    macro_rules! to_integer {
        ($signed:ident: $i16:ty, $i32:ty, $i64:ty, $kernel:ident $(, $rtz:ident)?) => {{
            let work = match sew {
                Sew::E8 => None,
                Sew::E16 => slow!(to::<F16, $i16>, u16, u16 $(, $rtz)?),
                Sew::E32 => to_integer!(@ to::<F32, $i32>, $kernel, u32 $(, $rtz)?),
                Sew::E64 => to_integer!(@ to::<F64, $i64>, $kernel, u64 $(, $rtz)?),
            };
            Row::new(Shape::VX.float(Operands::Sew), fvv, work)
        }};
        (@ $slow:expr, $kernel:ident, $u:ty) => { fast!($slow, $kernel<0>, $u, $u, Fast::In(RNE)) };
        (@ $slow:expr, $kernel:ident, $u:ty, $rtz:ident) => {
            Some(const { &Work::float::<Float1<$kernel<1>, $u, $u>>($slow, Fast::In(RTZ)).in_mode(RTZ) })
        };
    }
    macro_rules! from_integer {
        ($i16:ty, $i32:ty, $i64:ty, $kernel:ident) => {{
            let work = match sew {
                Sew::E8 => None,
                Sew::E16 => slow!(from::<F16, $i16>, u16, u16),
                Sew::E32 => fast!(from::<F32, $i32>, $kernel, u32, u32, Fast::In(RNE)),
                Sew::E64 => fast!(from::<F64, $i64>, $kernel, u64, u64, Fast::In(RNE)),
            };
            Row::new(Shape::VX.float(Operands::Sew), fvv, work)
        }};
    }
    let (wide, narrow) = (Shape::WVX, Shape::NWX);
    /// A float of SEW to an integer of 2*SEW.
    macro_rules! to_wide {
        ($i32:ty, $i64:ty $(, $rtz:ident)?) => {{
            let work = match sew {
                Sew::E16 => slow!(to::<F16, $i32>, u16, u32 $(, $rtz)?),
                Sew::E32 => slow!(to::<F32, $i64>, u32, u64 $(, $rtz)?),
                Sew::E8 | Sew::E64 => None,
            };
            Row::new(wide.float(Operands::Sew), fvv, work)
        }};
    }
    /// An integer of SEW to a float of 2*SEW. norm:Zvfh_instr_cvt: from SEW=8. Exact, but for what is wider than
    /// the significand.
    macro_rules! from_narrow {
        ($i8:ty, $i16:ty, $i32:ty, $kernel:ident) => {{
            let work = match sew {
                Sew::E8 => slow!(from::<F16, $i8>, u8, u16),
                Sew::E16 => slow!(from::<F32, $i16>, u16, u32),
                Sew::E32 => fast!(from::<F64, $i32>, $kernel, u32, u64, Fast::Always),
                Sew::E64 => None,
            };
            Row::new(wide.float(Operands::Wide), fvv, work)
        }};
    }
    /// A float of 2*SEW to an integer of SEW.
    macro_rules! to_narrow {
        ($i8:ty, $i16:ty, $i32:ty $(, $rtz:ident)?) => {{
            let work = match sew {
                Sew::E8 => slow!(to::<F16, $i8>, u16, u8 $(, $rtz)?),
                Sew::E16 => slow!(to::<F32, $i16>, u32, u16 $(, $rtz)?),
                Sew::E32 => slow!(to::<F64, $i32>, u64, u32 $(, $rtz)?),
                Sew::E64 => None,
            };
            Row::new(narrow.float(Operands::Wide), fvv, work)
        }};
    }
    /// An integer of 2*SEW to a float of SEW.
    macro_rules! from_wide {
        ($i32:ty, $i64:ty) => {{
            let work = match sew {
                Sew::E16 => slow!(from::<F16, $i32>, u32, u16),
                Sew::E32 => slow!(from::<F32, $i64>, u64, u32),
                Sew::E8 | Sew::E64 => None,
            };
            Row::new(narrow.float(Operands::Sew), fvv, work)
        }};
    }
    Some(match op {
        Op::VfcvtXFV => to_integer!(s: i16, i32, i64, ToSigned),
        Op::VfcvtXuFV => to_integer!(u: u16, u32, u64, ToUnsigned),
        Op::VfcvtRtzXFV => to_integer!(s: i16, i32, i64, ToSigned, RTZ),
        Op::VfcvtRtzXuFV => to_integer!(u: u16, u32, u64, ToUnsigned, RTZ),
        Op::VfcvtFXV => from_integer!(i16, i32, i64, FromSigned),
        Op::VfcvtFXuV => from_integer!(u16, u32, u64, FromUnsigned),

        Op::VfwcvtXFV => to_wide!(i32, i64),
        Op::VfwcvtXuFV => to_wide!(u32, u64),
        Op::VfwcvtRtzXFV => to_wide!(i32, i64, RTZ),
        Op::VfwcvtRtzXuFV => to_wide!(u32, u64, RTZ),
        Op::VfwcvtFXV => from_narrow!(i8, i16, i32, FromSigned),
        Op::VfwcvtFXuV => from_narrow!(u8, u16, u32, FromUnsigned),
        Op::VfwcvtFFV => {
            let work = match sew {
                Sew::E16 => fast!(convert::<F16, F32>, Widening, u16, u32, Fast::Always),
                Sew::E32 => fast!(convert::<F32, F64>, Widening, u32, u64, Fast::Always),
                Sew::E8 | Sew::E64 => None,
            };
            Row::new(wide.float(Operands::Convert), fvv, work)
        }

        Op::VfncvtXFW => to_narrow!(i8, i16, i32),
        Op::VfncvtXuFW => to_narrow!(u8, u16, u32),
        Op::VfncvtRtzXFW => to_narrow!(i8, i16, i32, RTZ),
        Op::VfncvtRtzXuFW => to_narrow!(u8, u16, u32, RTZ),
        Op::VfncvtFXW => from_wide!(i32, i64),
        Op::VfncvtFXuW => from_wide!(u32, u64),
        Op::VfncvtFFW => {
            let work = match sew {
                Sew::E16 => fast!(convert::<F32, F16>, Narrowing, u32, u16, Fast::In(RNE)),
                Sew::E32 => fast!(convert::<F64, F32>, Narrowing, u64, u32, Fast::In(RNE)),
                Sew::E8 | Sew::E64 => None,
            };
            Row::new(narrow.float(Operands::Convert), fvv, work)
        }
        Op::VfncvtRodFFW => {
            let work = match sew {
                Sew::E16 => slow!(convert::<F32, F16>, u32, u16, RoundingMode::Rod),
                Sew::E32 => slow!(convert::<F64, F32>, u64, u32, RoundingMode::Rod),
                Sew::E8 | Sew::E64 => None,
            };
            Row::new(narrow.float(Operands::Both), fvv, work)
        }

        Op::Vfncvtbf16FFW => {
            let rule = "norm:vfncvtbf16-f-f-w_sew_rsv: SEW is any value other than 16";
            Row::new(narrow.float(Operands::Bf16(rule)), fvv, slow!(convert::<F32, BF16>, u32, u16))
        }
        Op::Vfwcvtbf16FFV => {
            let rule = "norm:vfwcvtbf16-f-f-v_sew_rsv: SEW is any value other than 16";
            Row::new(wide.float(Operands::Bf16(rule)), fvv, slow!(convert::<BF16, F32>, u16, u32))
        }
        _ => return None,
    })
}
