//! To be filled.

use super::{Flow, Handler};
use rvv_isa::Op;

/// The handlers of this chapter.
#[must_use]
pub fn handler(_op: Op) -> Option<(Handler, Flow)> {
    None
}
