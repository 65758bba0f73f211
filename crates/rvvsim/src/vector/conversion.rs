//! Conversions between floating-point formats and integers (manual, sections "… Type-Convert Instructions", and
//! Zvfbfmin).

use super::body::{Each, Group, begin, end, write_group};
use super::element::Element;
use super::float::{Format, finish_float, rounding_mode, run_float};
use super::legality::{Float as Operands, Shape};
use super::{Entry, Run, VInst};
use crate::Hart;
use crate::fp::{self, BF16, F16, F32, F64, Int, RoundingMode};
use crate::trap::Exec;
use rvv_isa::{Op, Sew};

/// The integers that an element's bits are.
trait Integers: Element {
    type Signed: Int;
    type Unsigned: Int;
    fn to_signed(self) -> Self::Signed;
    fn to_unsigned(self) -> Self::Unsigned;
    fn from_signed(x: Self::Signed) -> Self;
    fn from_unsigned(x: Self::Unsigned) -> Self;
}

macro_rules! integers {
    ($($u:ty, $s:ty;)*) => {$(
        impl Integers for $u {
            type Signed = $s;
            type Unsigned = $u;
            #[inline(always)]
            fn to_signed(self) -> $s {
                self as $s
            }
            #[inline(always)]
            fn to_unsigned(self) -> $u {
                self
            }
            #[inline(always)]
            fn from_signed(x: $s) -> $u {
                x as $u
            }
            #[inline(always)]
            fn from_unsigned(x: $u) -> $u {
                x
            }
        }
    )*};
}

integers! { u8, i8; u16, i16; u32, i32; u64, i64; }

/// Float to signed integer, by `frm`. The integer is as wide as the float, twice or half as wide.
fn x_f<F: Format, I: Integers>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<F::Bits>::new(vi.vs2),), |a; rm, flags| {
        I::from_signed(F::to_int::<I::Signed>(a, rm, flags))
    })
}

/// Float to unsigned integer, by `frm`.
fn xu_f<F: Format, I: Integers>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<F::Bits>::new(vi.vs2),), |a; rm, flags| {
        I::from_unsigned(F::to_int::<I::Unsigned>(a, rm, flags))
    })
}

/// Float to signed integer, truncating.
fn rtz_x_f<F: Format, I: Integers>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<F::Bits>::new(vi.vs2),), |a; _rm, flags| {
        I::from_signed(F::to_int::<I::Signed>(a, RoundingMode::Rtz, flags))
    })
}

/// Float to unsigned integer, truncating.
fn rtz_xu_f<F: Format, I: Integers>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<F::Bits>::new(vi.vs2),), |a; _rm, flags| {
        I::from_unsigned(F::to_int::<I::Unsigned>(a, RoundingMode::Rtz, flags))
    })
}

/// Signed integer to float, by `frm`.
fn f_x<F: Format, I: Integers>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<I>::new(vi.vs2),), |a; rm, flags| F::from_int(I::to_signed(a), rm, flags))
}

/// Unsigned integer to float, by `frm`.
fn f_xu<F: Format, I: Integers>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<I>::new(vi.vs2),), |a; rm, flags| F::from_int(I::to_unsigned(a), rm, flags))
}

/// Float `S` to float `D`, by `frm`.
fn f_f<S: Format, D: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<S::Bits>::new(vi.vs2),), |a; rm, flags| fp::convert::<S, D>(a, rm, flags))
}

/// Float `S` to float `D`, towards odd.
fn rod_f_f<S: Format, D: Format>(hart: &mut Hart, vi: &VInst) -> Exec {
    run_float!(hart, vi, (Group::<S::Bits>::new(vi.vs2),), |a; _rm, flags| {
        fp::convert::<S, D>(a, RoundingMode::Rod, flags)
    })
}

/// The rows of the sections.
pub(super) fn entry(op: Op, sew: Sew) -> Option<Entry> {
    let reserved = super::reserved as Run;
    /// Integer and float of SEW.
    macro_rules! single {
        ($kernel:ident) => {
            Entry {
                shape: Shape::VX.float(Operands::Sew),
                run: match sew {
                    Sew::E8 => reserved,
                    Sew::E16 => $kernel::<F16, u16>,
                    Sew::E32 => $kernel::<F32, u32>,
                    Sew::E64 => $kernel::<F64, u64>,
                },
            }
        };
    }
    /// A float of SEW and an integer of 2*SEW.
    macro_rules! wide_integer {
        ($shape:expr, $kernel:ident) => {
            Entry {
                shape: $shape.float(Operands::Sew),
                run: match sew {
                    Sew::E16 => $kernel::<F16, u32>,
                    Sew::E32 => $kernel::<F32, u64>,
                    Sew::E8 | Sew::E64 => reserved,
                },
            }
        };
    }
    /// An integer of SEW and a float of 2*SEW. norm:Zvfh_instr_cvt: from SEW=8.
    macro_rules! wide_float {
        ($shape:expr, $kernel:ident) => {
            Entry {
                shape: $shape.float(Operands::Wide),
                run: match sew {
                    Sew::E8 => $kernel::<F16, u8>,
                    Sew::E16 => $kernel::<F32, u16>,
                    Sew::E32 => $kernel::<F64, u32>,
                    Sew::E64 => reserved,
                },
            }
        };
    }
    let (wide, narrow) = (Shape::WVX, Shape::NWX);
    Some(match op {
        Op::VfcvtXFV => single!(x_f),
        Op::VfcvtXuFV => single!(xu_f),
        Op::VfcvtRtzXFV => single!(rtz_x_f),
        Op::VfcvtRtzXuFV => single!(rtz_xu_f),
        Op::VfcvtFXV => single!(f_x),
        Op::VfcvtFXuV => single!(f_xu),

        Op::VfwcvtXFV => wide_integer!(wide, x_f),
        Op::VfwcvtXuFV => wide_integer!(wide, xu_f),
        Op::VfwcvtRtzXFV => wide_integer!(wide, rtz_x_f),
        Op::VfwcvtRtzXuFV => wide_integer!(wide, rtz_xu_f),
        Op::VfwcvtFXV => wide_float!(wide, f_x),
        Op::VfwcvtFXuV => wide_float!(wide, f_xu),
        Op::VfwcvtFFV => Entry {
            shape: wide.float(Operands::Convert),
            run: match sew {
                Sew::E16 => f_f::<F16, F32>,
                Sew::E32 => f_f::<F32, F64>,
                Sew::E8 | Sew::E64 => reserved,
            },
        },

        Op::VfncvtXFW => wide_float!(narrow, x_f),
        Op::VfncvtXuFW => wide_float!(narrow, xu_f),
        Op::VfncvtRtzXFW => wide_float!(narrow, rtz_x_f),
        Op::VfncvtRtzXuFW => wide_float!(narrow, rtz_xu_f),
        Op::VfncvtFXW => wide_integer!(narrow, f_x),
        Op::VfncvtFXuW => wide_integer!(narrow, f_xu),
        Op::VfncvtFFW => Entry {
            shape: narrow.float(Operands::Convert),
            run: match sew {
                Sew::E16 => f_f::<F32, F16>,
                Sew::E32 => f_f::<F64, F32>,
                Sew::E8 | Sew::E64 => reserved,
            },
        },
        Op::VfncvtRodFFW => Entry {
            shape: narrow.float(Operands::Both),
            run: match sew {
                Sew::E16 => rod_f_f::<F32, F16>,
                Sew::E32 => rod_f_f::<F64, F32>,
                Sew::E8 | Sew::E64 => reserved,
            },
        },

        Op::Vfncvtbf16FFW => {
            let rule = "norm:vfncvtbf16-f-f-w_sew_rsv: SEW is any value other than 16";
            Entry { shape: narrow.float(Operands::Bf16(rule)), run: f_f::<F32, BF16> }
        }
        Op::Vfwcvtbf16FFV => {
            let rule = "norm:vfwcvtbf16-f-f-v_sew_rsv: SEW is any value other than 16";
            Entry { shape: wide.float(Operands::Bf16(rule)), run: f_f::<BF16, F32> }
        }
        _ => return None,
    })
}
