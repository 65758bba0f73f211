//! Scalar cryptography (chapter "Scalar Cryptography Extensions"): what is in no other extension.
//!
//! norm:zk_scalar_xreg_op: all of them take their operands from integer registers and write an integer
//! register.

use super::Handler;
use super::bitmanip::{binary_op, unary_op, unsigned_word, word};
use rvv_isa::chapter::Crypto;
use rvv_isa::rows;

/// The rows of the chapter.
pub(super) fn handler(op: Crypto) -> Handler {
    rows! { op;
        // Zbkb
        brev8 => |h, i| unary_op(h, i, |a| a.reverse_bits().swap_bytes());
        pack => |h, i| binary_op(h, i, |a, b| unsigned_word(a) | b << 32);
        packh => |h, i| binary_op(h, i, |a, b| a & 0xff | (b & 0xff) << 8);
        // zext.h is the case rs2 = x0.
        packw => |h, i| binary_op(h, i, |a, b| word(a as u32 & 0xffff | (b as u32) << 16));
        // Zbkx
        xperm4 => |h, i| binary_op(h, i, crossbar::<4>);
        xperm8 => |h, i| binary_op(h, i, crossbar::<8>);
    }
}

/// Each `WIDTH`-bit element of `indices` replaced by the element of `table` it names, or by zero if it names
/// none.
fn crossbar<const WIDTH: u32>(table: u64, indices: u64) -> u64 {
    let element = (1 << WIDTH) - 1;
    let mut result = 0;
    for at in (0..64).step_by(WIDTH as usize) {
        let from = (indices >> at & element) as u32 * WIDTH;
        result |= (table.checked_shr(from).unwrap_or(0) & element) << at;
    }
    result
}
