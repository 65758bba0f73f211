//! Conversions between floating-point formats and integers (manual, sections "… Type-Convert Instructions",
//! and Zvfbfmin).

use crate::fp::{self, BF16, Bits, F16, F32, F64, Flags, Int, RoundingMode};
use crate::vector::chapters::float::Format;
use crate::vector::run::float_kernels::{
    Float1, FromSigned, FromUnsigned, Narrowing, Nearest, Nothing, ToSigned, ToUnsigned, Truncated, Widening,
};
use crate::vector::run::kernel::{Fast, KernelSpec};
use crate::vector::{Form, Row, rows};
use rvv_isa::Sew;
use rvv_isa::chapter::VectorConversion;

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
pub(in crate::vector) fn row(op: VectorConversion, sew: Sew) -> Row {
    /// Without a kernel.
    macro_rules! slow {
        ($slow:expr, $a:ty, $r:ty) => {
            Some(const { &KernelSpec::float::<Nothing<$a, $r>>($slow, Fast::Never) })
        };
        ($slow:expr, $a:ty, $r:ty, $rm:expr) => {
            Some(const { &KernelSpec::float::<Nothing<$a, $r>>($slow, Fast::Never).in_mode($rm) })
        };
    }
    /// With one, for a rounding mode.
    macro_rules! fast {
        ($slow:expr, $kernel:ty, $a:ty, $r:ty, $fast:expr) => {
            Some(const { &KernelSpec::float::<Float1<$kernel, $a, $r>>($slow, $fast) })
        };
    }
    /// Integer and float of SEW. Rounds by `frm`, or towards zero.
    macro_rules! to_integer {
        ($signed:ident: $i16:ty, $i32:ty, $i64:ty, $kernel:ident $(, $rtz:ident)?) => {{
            let spec = match sew {
                Sew::E8 => None,
                Sew::E16 => slow!(to::<F16, $i16>, u16, u16 $(, $rtz)?),
                Sew::E32 => to_integer!(@ to::<F32, $i32>, $kernel, u32 $(, $rtz)?),
                Sew::E64 => to_integer!(@ to::<F64, $i64>, $kernel, u64 $(, $rtz)?),
            };
            Row::new(Form::Float, spec)
        }};
        (@ $slow:expr, $kernel:ident, $u:ty) => { fast!($slow, $kernel<Nearest>, $u, $u, Fast::In(RNE)) };
        (@ $slow:expr, $kernel:ident, $u:ty, $rtz:ident) => {
            Some(const { &KernelSpec::float::<Float1<$kernel<Truncated>, $u, $u>>($slow, Fast::In(RTZ)).in_mode(RTZ) })
        };
    }
    macro_rules! from_integer {
        ($i16:ty, $i32:ty, $i64:ty, $kernel:ident) => {{
            let spec = match sew {
                Sew::E8 => None,
                Sew::E16 => slow!(from::<F16, $i16>, u16, u16),
                Sew::E32 => fast!(from::<F32, $i32>, $kernel, u32, u32, Fast::In(RNE)),
                Sew::E64 => fast!(from::<F64, $i64>, $kernel, u64, u64, Fast::In(RNE)),
            };
            Row::new(Form::Float, spec)
        }};
    }
    /// A float of SEW to an integer of 2*SEW.
    macro_rules! to_wide {
        ($i32:ty, $i64:ty $(, $rtz:ident)?) => {{
            let spec = match sew {
                Sew::E16 => slow!(to::<F16, $i32>, u16, u32 $(, $rtz)?),
                Sew::E32 => slow!(to::<F32, $i64>, u32, u64 $(, $rtz)?),
                Sew::E8 | Sew::E64 => None,
            };
            Row::new(Form::Float, spec)
        }};
    }
    /// An integer of SEW to a float of 2*SEW. norm:Zvfh_instr_cvt: from SEW=8. Exact, but for what is wider
    /// than the significand.
    macro_rules! from_narrow {
        ($i8:ty, $i16:ty, $i32:ty, $kernel:ident) => {{
            let spec = match sew {
                Sew::E8 => slow!(from::<F16, $i8>, u8, u16),
                Sew::E16 => slow!(from::<F32, $i16>, u16, u32),
                Sew::E32 => fast!(from::<F64, $i32>, $kernel, u32, u64, Fast::Always),
                Sew::E64 => None,
            };
            Row::new(Form::Float, spec)
        }};
    }
    /// A float of 2*SEW to an integer of SEW.
    macro_rules! to_narrow {
        ($i8:ty, $i16:ty, $i32:ty $(, $rtz:ident)?) => {{
            let spec = match sew {
                Sew::E8 => slow!(to::<F16, $i8>, u16, u8 $(, $rtz)?),
                Sew::E16 => slow!(to::<F32, $i16>, u32, u16 $(, $rtz)?),
                Sew::E32 => slow!(to::<F64, $i32>, u64, u32 $(, $rtz)?),
                Sew::E64 => None,
            };
            Row::new(Form::Float, spec)
        }};
    }
    /// An integer of 2*SEW to a float of SEW.
    macro_rules! from_wide {
        ($i32:ty, $i64:ty) => {{
            let spec = match sew {
                Sew::E16 => slow!(from::<F16, $i32>, u32, u16),
                Sew::E32 => slow!(from::<F32, $i64>, u64, u32),
                Sew::E8 | Sew::E64 => None,
            };
            Row::new(Form::Float, spec)
        }};
    }
    /// A float to a float, from SEW=16 and from SEW=32.
    macro_rules! between {
        ($e16:expr, $e32:expr) => {{
            let spec = match sew {
                Sew::E16 => $e16,
                Sew::E32 => $e32,
                Sew::E8 | Sew::E64 => None,
            };
            Row::new(Form::Float, spec)
        }};
    }
    rows! { op;
        vfcvt.x.f.v => to_integer!(s: i16, i32, i64, ToSigned);
        vfcvt.xu.f.v => to_integer!(u: u16, u32, u64, ToUnsigned);
        vfcvt.rtz.x.f.v => to_integer!(s: i16, i32, i64, ToSigned, RTZ);
        vfcvt.rtz.xu.f.v => to_integer!(u: u16, u32, u64, ToUnsigned, RTZ);
        vfcvt.f.x.v => from_integer!(i16, i32, i64, FromSigned);
        vfcvt.f.xu.v => from_integer!(u16, u32, u64, FromUnsigned);

        vfwcvt.x.f.v => to_wide!(i32, i64);
        vfwcvt.xu.f.v => to_wide!(u32, u64);
        vfwcvt.rtz.x.f.v => to_wide!(i32, i64, RTZ);
        vfwcvt.rtz.xu.f.v => to_wide!(u32, u64, RTZ);
        vfwcvt.f.x.v => from_narrow!(i8, i16, i32, FromSigned);
        vfwcvt.f.xu.v => from_narrow!(u8, u16, u32, FromUnsigned);
        vfwcvt.f.f.v => between!(
            fast!(convert::<F16, F32>, Widening, u16, u32, Fast::Always),
            fast!(convert::<F32, F64>, Widening, u32, u64, Fast::Always)
        );

        vfncvt.x.f.w => to_narrow!(i8, i16, i32);
        vfncvt.xu.f.w => to_narrow!(u8, u16, u32);
        vfncvt.rtz.x.f.w => to_narrow!(i8, i16, i32, RTZ);
        vfncvt.rtz.xu.f.w => to_narrow!(u8, u16, u32, RTZ);
        vfncvt.f.x.w => from_wide!(i32, i64);
        vfncvt.f.xu.w => from_wide!(u32, u64);
        vfncvt.f.f.w => between!(
            fast!(convert::<F32, F16>, Narrowing, u32, u16, Fast::In(RNE)),
            fast!(convert::<F64, F32>, Narrowing, u64, u32, Fast::In(RNE))
        );
        vfncvt.rod.f.f.w => between!(
            slow!(convert::<F32, F16>, u32, u16, RoundingMode::Rod),
            slow!(convert::<F64, F32>, u64, u32, RoundingMode::Rod)
        );

        vfncvtbf16.f.f.w => Row::new(Form::Float, slow!(convert::<F32, BF16>, u32, u16));
        vfwcvtbf16.f.f.v => Row::new(Form::Float, slow!(convert::<BF16, F32>, u16, u32));
    }
}
