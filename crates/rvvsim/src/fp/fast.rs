//! The host FPU, where it can be shown to give the same value and the same flags.
pub(super) mod soft_only {
    use super::super::{Flags, Float, RoundingMode};
    pub fn add<F: Float>(_: F::Bits, _: F::Bits, _: RoundingMode, _: &mut Flags) -> Option<F::Bits> {
        None
    }
    pub fn mul<F: Float>(_: F::Bits, _: F::Bits, _: RoundingMode, _: &mut Flags) -> Option<F::Bits> {
        None
    }
    pub fn div<F: Float>(_: F::Bits, _: F::Bits, _: RoundingMode, _: &mut Flags) -> Option<F::Bits> {
        None
    }
    pub fn sqrt<F: Float>(_: F::Bits, _: RoundingMode, _: &mut Flags) -> Option<F::Bits> {
        None
    }
    pub fn fused_mul_add<F: Float>(
        _: F::Bits,
        _: F::Bits,
        _: F::Bits,
        _: RoundingMode,
        _: &mut Flags,
    ) -> Option<F::Bits> {
        None
    }
}
