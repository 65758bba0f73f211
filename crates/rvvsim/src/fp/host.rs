//! The room for host instructions that not every host has.
//!
//! `f64::mul_add` is one instruction where the host's fused multiply-add is known to exist, and else a call
//! into the C library, which may take a hundred of them. So the instruction is asked for where it exists, and
//! otherwise the answer is `None`. The safe twin is [`soft::fused_mul_add`](super::soft::fused_mul_add).

/// `a * b + c`, rounded once, to nearest even; `None` on a host without the instruction.
#[inline]
pub(super) fn fma_f32(a: f32, b: f32, c: f32) -> Option<f32> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the instruction was just found to exist.
        return Some(unsafe { x86_64::fma_f32(a, b, c) });
    }
    // Part of every AArch64.
    #[cfg(target_arch = "aarch64")]
    return Some(a.mul_add(b, c));
    #[cfg(not(target_arch = "aarch64"))]
    {
        let _ = (a, b, c);
        None
    }
}

/// `a * b + c`, rounded once, to nearest even; `None` on a host without the instruction.
#[inline]
pub(super) fn fma_f64(a: f64, b: f64, c: f64) -> Option<f64> {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("fma") {
        // SAFETY: the instruction was just found to exist.
        return Some(unsafe { x86_64::fma_f64(a, b, c) });
    }
    #[cfg(target_arch = "aarch64")]
    return Some(a.mul_add(b, c));
    #[cfg(not(target_arch = "aarch64"))]
    {
        let _ = (a, b, c);
        None
    }
}

/// Functions compiled with the instruction; calling them on a host without it is undefined behaviour.
#[cfg(target_arch = "x86_64")]
mod x86_64 {
    #[target_feature(enable = "fma")]
    pub fn fma_f32(a: f32, b: f32, c: f32) -> f32 {
        a.mul_add(b, c)
    }

    #[target_feature(enable = "fma")]
    pub fn fma_f64(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}
