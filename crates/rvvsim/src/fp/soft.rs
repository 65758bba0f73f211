//! The plain twin: every operation that rounds, on Berkeley SoftFloat and nothing else.
//!
//! [`Float`] is this, made fast; tests hold the two against each other. bf16 has no arithmetic in SoftFloat's
//! wrapper that could be used (it truncates), so it goes through single precision, rounded to odd and
//! therefore rounded once in effect.
//!
//! What the fast path falls back to is `#[cold]`, which keeps it out of the loops that the fast path is
//! inlined into.

use super::round::{self, Unpacked};
use super::{BF16, Bits, F16, F32, F64, Flags, Float, Int, RoundingMode};
use softfloat_wrapper as sf;
use softfloat_wrapper::Float as _;

/// `a + b`.
#[cold]
#[inline(never)]
pub fn add<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    run(rm, flags, |rm| F::soft_add(a.into(), b.into(), rm))
}

/// `a - b`.
#[cold]
#[inline(never)]
pub fn sub<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    run(rm, flags, |rm| F::soft_sub(a.into(), b.into(), rm))
}

/// `a * b`.
#[cold]
#[inline(never)]
pub fn mul<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    run(rm, flags, |rm| F::soft_mul(a.into(), b.into(), rm))
}

/// `a / b`.
#[cold]
#[inline(never)]
pub fn div<F: Float>(a: F::Bits, b: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    run(rm, flags, |rm| F::soft_div(a.into(), b.into(), rm))
}

/// The square root of `a`.
#[cold]
#[inline(never)]
pub fn sqrt<F: Float>(a: F::Bits, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    run(rm, flags, |rm| F::soft_sqrt(a.into(), rm))
}

/// `a * b + c`, rounded once.
#[cold]
#[inline(never)]
pub fn fused_mul_add<F: Float>(
    a: F::Bits,
    b: F::Bits,
    c: F::Bits,
    rm: RoundingMode,
    flags: &mut Flags,
) -> F::Bits {
    run(rm, flags, |rm| F::soft_fma(a.into(), b.into(), c.into(), rm))
}

/// `a` as an integer, saturating.
pub fn to_int<F: Float, I: Int>(a: F::Bits, rm: RoundingMode, flags: &mut Flags) -> I {
    let (wide, mut raised) = observe(rm, |rm| {
        // As i128, so that one range check serves every target: SoftFloat has already saturated what
        // does not fit its own target, to the end of the range that ours saturates to.
        match (I::SIGNED, I::BITS) {
            (true, 64) => i128::from(F::soft_to_i64(a.into(), rm)),
            (false, 64) => i128::from(F::soft_to_u64(a.into(), rm)),
            (true, _) => i128::from(F::soft_to_i32(a.into(), rm)),
            (false, _) => i128::from(F::soft_to_u32(a.into(), rm)),
        }
    });
    let saturated = wide.clamp(-i128::from(I::MIN_MAGNITUDE), i128::from(I::MAX_MAGNITUDE));
    if saturated != wide {
        raised = Flags::NV;
    }
    flags.raise(raised);
    I::truncate(saturated as u64)
}

/// The integer `x` as a float.
pub fn from_int<F: Float, I: Int>(x: I, rm: RoundingMode, flags: &mut Flags) -> F::Bits {
    let (negative, magnitude) = x.sign_magnitude();
    run(rm, flags, |rm| {
        if I::SIGNED {
            let x = if negative { magnitude.wrapping_neg() } else { magnitude } as i64;
            if I::BITS == 64 { F::soft_from_i64(x, rm) } else { F::soft_from_i32(x as i32, rm) }
        } else if I::BITS == 64 {
            F::soft_from_u64(magnitude, rm)
        } else {
            F::soft_from_u32(magnitude as u32, rm)
        }
    })
}

/// `a` rounded to an integer of the same format; NX is raised only if `exact`.
pub fn round_to_int<F: Float>(a: F::Bits, rm: RoundingMode, exact: bool, flags: &mut Flags) -> F::Bits {
    let result = run(rm, flags, |rm| F::soft_round_to_int(a.into(), rm));
    flags.raise_if(exact && !F::is_nan(a) && result != a, Flags::NX);
    result
}

/// `a` in another format.
pub fn convert<S: Float, D: Float>(a: S::Bits, rm: RoundingMode, flags: &mut Flags) -> D::Bits {
    run(rm, flags, |rm| match (D::EXP, D::SIG) {
        (5, 10) => S::soft_to_f16(a.into(), rm),
        (8, 23) => S::soft_to_f32(a.into(), rm),
        (11, 52) => S::soft_to_f64(a.into(), rm),
        _ => S::soft_to_bf16(a.into(), rm),
    })
}

/// Runs an operation that gives a float, in SoftFloat's state, and takes its flags.
fn run<B: Bits>(rm: RoundingMode, flags: &mut Flags, op: impl FnOnce(sf::RoundingMode) -> u64) -> B {
    let (mut result, raised) = observe(rm, op);
    if rm == RoundingMode::Rod {
        // Rounding to odd is truncating and then setting the last bit if that was inexact. It never reaches
        // the next binade, so overflow and underflow are those of truncation; an overflow truncates to the
        // greatest finite number, which is odd.
        result |= u64::from(raised.contains(Flags::NX));
    }
    flags.raise(raised);
    B::truncate(result)
}

/// Runs `op` with clear flags and gives its result and the flags it raised. (SoftFloat's mode and flags are
/// globals of the thread.)
fn observe<R>(rm: RoundingMode, op: impl FnOnce(sf::RoundingMode) -> R) -> (R, Flags) {
    let mut state = sf::ExceptionFlags::from_bits(0);
    state.set();
    let result = op(match rm {
        RoundingMode::Rne => sf::RoundingMode::TiesToEven,
        RoundingMode::Rtz | RoundingMode::Rod => sf::RoundingMode::TowardZero,
        RoundingMode::Rdn => sf::RoundingMode::TowardNegative,
        RoundingMode::Rup => sf::RoundingMode::TowardPositive,
        RoundingMode::Rmm => sf::RoundingMode::TiesToAway,
    });
    state.get();
    (result, Flags(state.to_bits()))
}

/// SoftFloat's operations on the bits of one format. An implementation detail of [`Float`]: call the
/// functions of this module instead, which look after SoftFloat's global state.
#[doc(hidden)]
#[allow(missing_docs)]
pub trait Backend {
    fn soft_add(a: u64, b: u64, rm: sf::RoundingMode) -> u64;
    fn soft_sub(a: u64, b: u64, rm: sf::RoundingMode) -> u64;
    fn soft_mul(a: u64, b: u64, rm: sf::RoundingMode) -> u64;
    fn soft_div(a: u64, b: u64, rm: sf::RoundingMode) -> u64;
    fn soft_sqrt(a: u64, rm: sf::RoundingMode) -> u64;
    fn soft_fma(a: u64, b: u64, c: u64, rm: sf::RoundingMode) -> u64;
    fn soft_to_i32(a: u64, rm: sf::RoundingMode) -> i32;
    fn soft_to_u32(a: u64, rm: sf::RoundingMode) -> u32;
    fn soft_to_i64(a: u64, rm: sf::RoundingMode) -> i64;
    fn soft_to_u64(a: u64, rm: sf::RoundingMode) -> u64;
    fn soft_from_i32(x: i32, rm: sf::RoundingMode) -> u64;
    fn soft_from_u32(x: u32, rm: sf::RoundingMode) -> u64;
    fn soft_from_i64(x: i64, rm: sf::RoundingMode) -> u64;
    fn soft_from_u64(x: u64, rm: sf::RoundingMode) -> u64;
    fn soft_round_to_int(a: u64, rm: sf::RoundingMode) -> u64;
    fn soft_to_f16(a: u64, rm: sf::RoundingMode) -> u64;
    fn soft_to_f32(a: u64, rm: sf::RoundingMode) -> u64;
    fn soft_to_f64(a: u64, rm: sf::RoundingMode) -> u64;
    fn soft_to_bf16(a: u64, rm: sf::RoundingMode) -> u64;
}

macro_rules! backend {
    ($($format:ident, $bits:ty;)*) => {$(
        impl Backend for $format {
            fn soft_add(a: u64, b: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).add(sf::$format::from_bits(b as $bits), rm).to_bits().into()
            }

            fn soft_sub(a: u64, b: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).sub(sf::$format::from_bits(b as $bits), rm).to_bits().into()
            }

            fn soft_mul(a: u64, b: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).mul(sf::$format::from_bits(b as $bits), rm).to_bits().into()
            }

            fn soft_div(a: u64, b: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).div(sf::$format::from_bits(b as $bits), rm).to_bits().into()
            }

            fn soft_sqrt(a: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).sqrt(rm).to_bits().into()
            }

            fn soft_fma(a: u64, b: u64, c: u64, rm: sf::RoundingMode) -> u64 {
                let (b, c) = (sf::$format::from_bits(b as $bits), sf::$format::from_bits(c as $bits));
                sf::$format::from_bits(a as $bits).fused_mul_add(b, c, rm).to_bits().into()
            }

            fn soft_to_i32(a: u64, rm: sf::RoundingMode) -> i32 {
                sf::$format::from_bits(a as $bits).to_i32(rm, true)
            }

            fn soft_to_u32(a: u64, rm: sf::RoundingMode) -> u32 {
                sf::$format::from_bits(a as $bits).to_u32(rm, true)
            }

            fn soft_to_i64(a: u64, rm: sf::RoundingMode) -> i64 {
                sf::$format::from_bits(a as $bits).to_i64(rm, true)
            }

            fn soft_to_u64(a: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).to_u64(rm, true)
            }

            fn soft_from_i32(x: i32, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_i32(x, rm).to_bits().into()
            }

            fn soft_from_u32(x: u32, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_u32(x, rm).to_bits().into()
            }

            fn soft_from_i64(x: i64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_i64(x, rm).to_bits().into()
            }

            fn soft_from_u64(x: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_u64(x, rm).to_bits().into()
            }

            fn soft_round_to_int(a: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).round_to_integral(rm).to_bits().into()
            }

            fn soft_to_f16(a: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).to_f16(rm).to_bits().into()
            }

            fn soft_to_f32(a: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).to_f32(rm).to_bits().into()
            }

            fn soft_to_f64(a: u64, rm: sf::RoundingMode) -> u64 {
                sf::$format::from_bits(a as $bits).to_f64(rm).to_bits().into()
            }

            fn soft_to_bf16(a: u64, rm: sf::RoundingMode) -> u64 {
                through_single(rm, |rm| Self::soft_to_f32(a, rm))
            }
        }
    )*};
}

backend! {
    F16, u16;
    F32, u32;
    F64, u64;
}

/// A bf16 result of an operation of single precision: rounded to odd by that, and then as `rm` says.
fn through_single(rm: sf::RoundingMode, op: impl Fn(sf::RoundingMode) -> u64) -> u64 {
    let mut state = sf::ExceptionFlags::default();
    state.get();
    let before = state.to_bits();
    sf::ExceptionFlags::from_bits(0).set();
    let truncated = op(sf::RoundingMode::TowardZero);
    state.get();
    let raised = state.to_bits();
    // Underflow and inexact are forgotten: an inexact result is odd, so it is inexact again when it is
    // narrowed, and only then is it known whether it is tiny.
    sf::ExceptionFlags::from_bits(before | (raised & !(Flags::NX | Flags::UF).0)).set();
    let odd = truncated | u64::from(raised & Flags::NX.0);
    // A sum that cancels has its sign from the mode.
    let exact_zero = F32::is_zero(odd as u32);
    narrow(if exact_zero { op(rm) } else { odd }, rm)
}

/// The bf16 nearest a single in the sense of `rm`, with its flags raised in SoftFloat's state.
///
/// bf16 has the exponents of single precision and sixteen bits less, down to the subnormals: a single that
/// was rounded to odd has what it takes to be rounded again.
fn narrow(a: u64, rm: sf::RoundingMode) -> u64 {
    let rm = match rm {
        sf::RoundingMode::TiesToEven => RoundingMode::Rne,
        sf::RoundingMode::TowardZero => RoundingMode::Rtz,
        sf::RoundingMode::TowardNegative => RoundingMode::Rdn,
        sf::RoundingMode::TowardPositive => RoundingMode::Rup,
        sf::RoundingMode::TiesToAway => RoundingMode::Rmm,
    };
    let mut state = sf::ExceptionFlags::default();
    state.get();
    let mut flags = Flags(state.to_bits());
    let result = match round::unpack::<F32>(a as u32) {
        Unpacked::Finite { negative, exponent, significand } => {
            round::pack::<BF16>(negative, exponent, significand, rm, &mut flags)
        }
        Unpacked::Zero | Unpacked::Infinite => (a >> 16) as u16,
        Unpacked::Nan => {
            flags.raise_if(F32::is_signaling_nan(a as u32), Flags::NV);
            BF16::CANONICAL_NAN
        }
    };
    sf::ExceptionFlags::from_bits(flags.0).set();
    result.into()
}

impl Backend for BF16 {
    fn soft_add(a: u64, b: u64, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_add(a << 16, b << 16, rm))
    }

    fn soft_sub(a: u64, b: u64, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_sub(a << 16, b << 16, rm))
    }

    fn soft_mul(a: u64, b: u64, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_mul(a << 16, b << 16, rm))
    }

    fn soft_div(a: u64, b: u64, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_div(a << 16, b << 16, rm))
    }

    fn soft_sqrt(a: u64, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_sqrt(a << 16, rm))
    }

    fn soft_fma(a: u64, b: u64, c: u64, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_fma(a << 16, b << 16, c << 16, rm))
    }

    fn soft_to_i32(a: u64, rm: sf::RoundingMode) -> i32 {
        F32::soft_to_i32(a << 16, rm)
    }

    fn soft_to_u32(a: u64, rm: sf::RoundingMode) -> u32 {
        F32::soft_to_u32(a << 16, rm)
    }

    fn soft_to_i64(a: u64, rm: sf::RoundingMode) -> i64 {
        F32::soft_to_i64(a << 16, rm)
    }

    fn soft_to_u64(a: u64, rm: sf::RoundingMode) -> u64 {
        F32::soft_to_u64(a << 16, rm)
    }

    fn soft_from_i32(x: i32, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_from_i32(x, rm))
    }

    fn soft_from_u32(x: u32, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_from_u32(x, rm))
    }

    fn soft_from_i64(x: i64, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_from_i64(x, rm))
    }

    fn soft_from_u64(x: u64, rm: sf::RoundingMode) -> u64 {
        through_single(rm, |rm| F32::soft_from_u64(x, rm))
    }

    fn soft_round_to_int(a: u64, rm: sf::RoundingMode) -> u64 {
        F32::soft_round_to_int(a << 16, rm) >> 16
    }

    fn soft_to_f16(a: u64, rm: sf::RoundingMode) -> u64 {
        F32::soft_to_f16(a << 16, rm)
    }

    fn soft_to_f32(a: u64, rm: sf::RoundingMode) -> u64 {
        // Times one: a NaN is made canonical, a signaling one is seen, and nothing else changes.
        F32::soft_mul(a << 16, 1.0f32.to_bits().into(), rm)
    }

    fn soft_to_f64(a: u64, rm: sf::RoundingMode) -> u64 {
        F32::soft_to_f64(a << 16, rm)
    }

    fn soft_to_bf16(a: u64, rm: sf::RoundingMode) -> u64 {
        narrow(a << 16, rm)
    }
}
