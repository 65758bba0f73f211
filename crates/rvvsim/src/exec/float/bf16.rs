//! Zfbfmin, scalar BF16 conversions. Its loads, stores and moves are those of Zfhmin.

use super::Handler;
use super::convert::fcvt;
use crate::fp::{BF16, F32};
use rvv_isa::Op;

pub(super) fn handler(op: Op) -> Option<Handler> {
    Some(match op {
        Op::FcvtBf16S => fcvt::<F32, BF16>,
        Op::FcvtSBf16 => fcvt::<BF16, F32>,
        _ => return None,
    })
}
