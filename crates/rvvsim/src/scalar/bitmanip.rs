//! Bit manipulation: Zba, Zbb, Zbc, Zbs and Zbkc; Zicond beside them.
//!
//! Every one of these takes its operands from integer registers or the immediate and writes an integer
//! register.

use super::Handler;
use crate::Hart;
use crate::engine::Kind;
use crate::trap::Exec;
use rvv_isa::chapter::BitManip;
use rvv_isa::{Inst, mnemonic, rows};

/// The instructions that are micro-ops of the engine's loop, too.
pub(super) fn micro_op(op: BitManip) -> Option<Kind> {
    Some(match op {
        mnemonic!(sh1add) => Kind::Sh1add,
        mnemonic!(sh2add) => Kind::Sh2add,
        mnemonic!(sh3add) => Kind::Sh3add,
        mnemonic!(add.uw) => Kind::AddUw,
        _ => return None,
    })
}

/// `rd = op(rs1)`
#[inline(always)]
pub(super) fn unary_op(h: &mut Hart, i: &Inst, op: impl FnOnce(u64) -> u64) -> Exec {
    h.set_x(i.rd, op(h.x[i.rs1]));
    Ok(())
}

/// `rd = op(rs1, rs2)`
#[inline(always)]
pub(super) fn binary_op(h: &mut Hart, i: &Inst, op: impl FnOnce(u64, u64) -> u64) -> Exec {
    h.set_x(i.rd, op(h.x[i.rs1], h.x[i.rs2]));
    Ok(())
}

/// `rd = op(rs1, shamt)`
#[inline(always)]
pub(super) fn immediate_op(h: &mut Hart, i: &Inst, op: impl FnOnce(u64, u64) -> u64) -> Exec {
    h.set_x(i.rd, op(h.x[i.rs1], i.imm as u64));
    Ok(())
}

/// The low word, sign-extended: what the instructions on words give.
#[inline(always)]
pub(super) fn word(x: u32) -> u64 {
    x as i32 as u64
}

/// The low word, zero-extended: the index of the instructions on unsigned words.
#[inline(always)]
pub(super) fn unsigned_word(x: u64) -> u64 {
    x & 0xffff_ffff
}

/// `sh1add`: `rs2 + (rs1 << 1)`.
#[inline(always)]
pub(crate) fn sh1add(a: u64, b: u64) -> u64 {
    b.wrapping_add(a << 1)
}

/// `sh2add`
#[inline(always)]
pub(crate) fn sh2add(a: u64, b: u64) -> u64 {
    b.wrapping_add(a << 2)
}

/// `sh3add`
#[inline(always)]
pub(crate) fn sh3add(a: u64, b: u64) -> u64 {
    b.wrapping_add(a << 3)
}

/// `add.uw`
#[inline(always)]
pub(crate) fn add_uw(a: u64, b: u64) -> u64 {
    b.wrapping_add(unsigned_word(a))
}

/// The rows of the bit-manipulation chapters.
pub(super) fn handler(op: BitManip) -> Handler {
    rows! { op;
        // Zbb
        clz => |h, i| unary_op(h, i, |a| u64::from(a.leading_zeros()));
        ctz => |h, i| unary_op(h, i, |a| u64::from(a.trailing_zeros()));
        cpop => |h, i| unary_op(h, i, |a| u64::from(a.count_ones()));
        clzw => |h, i| unary_op(h, i, |a| u64::from((a as u32).leading_zeros()));
        ctzw => |h, i| unary_op(h, i, |a| u64::from((a as u32).trailing_zeros()));
        cpopw => |h, i| unary_op(h, i, |a| u64::from((a as u32).count_ones()));
        sext.b => |h, i| unary_op(h, i, |a| a as i8 as u64);
        sext.h => |h, i| unary_op(h, i, |a| a as i16 as u64);
        orc.b => |h, i| unary_op(h, i, orc_b);
        rev8 => |h, i| unary_op(h, i, u64::swap_bytes);
        // Zba
        sh1add => |h, i| binary_op(h, i, sh1add);
        sh2add => |h, i| binary_op(h, i, sh2add);
        sh3add => |h, i| binary_op(h, i, sh3add);
        add.uw => |h, i| binary_op(h, i, add_uw);
        sh1add.uw => |h, i| binary_op(h, i, |a, b| b.wrapping_add(unsigned_word(a) << 1));
        sh2add.uw => |h, i| binary_op(h, i, |a, b| b.wrapping_add(unsigned_word(a) << 2));
        sh3add.uw => |h, i| binary_op(h, i, |a, b| b.wrapping_add(unsigned_word(a) << 3));
        // Zbb
        andn => |h, i| binary_op(h, i, |a, b| a & !b);
        orn => |h, i| binary_op(h, i, |a, b| a | !b);
        xnor => |h, i| binary_op(h, i, |a, b| !(a ^ b));
        min => |h, i| binary_op(h, i, |a, b| (a as i64).min(b as i64) as u64);
        minu => |h, i| binary_op(h, i, u64::min);
        max => |h, i| binary_op(h, i, |a, b| (a as i64).max(b as i64) as u64);
        maxu => |h, i| binary_op(h, i, u64::max);
        rol => |h, i| binary_op(h, i, |a, b| a.rotate_left(b as u32 & 63));
        ror => |h, i| binary_op(h, i, |a, b| a.rotate_right(b as u32 & 63));
        rolw => |h, i| binary_op(h, i, |a, b| word((a as u32).rotate_left(b as u32 & 31)));
        rorw => |h, i| binary_op(h, i, |a, b| word((a as u32).rotate_right(b as u32 & 31)));
        // Zbc
        clmul => |h, i| binary_op(h, i, |a, b| carryless_product(a, b) as u64);
        clmulh => |h, i| binary_op(h, i, |a, b| (carryless_product(a, b) >> 64) as u64);
        clmulr => |h, i| binary_op(h, i, |a, b| (carryless_product(a, b) >> 63) as u64);
        // Zbs
        bclr => |h, i| binary_op(h, i, clear_bit);
        bext => |h, i| binary_op(h, i, extract_bit);
        binv => |h, i| binary_op(h, i, invert_bit);
        bset => |h, i| binary_op(h, i, set_bit);
        // Zicond
        czero.eqz => |h, i| binary_op(h, i, |a, b| if b == 0 { 0 } else { a });
        czero.nez => |h, i| binary_op(h, i, |a, b| if b != 0 { 0 } else { a });
        // Zba
        slli.uw => |h, i| immediate_op(h, i, |a, shamt| unsigned_word(a) << (shamt & 63));
        // Zbb
        rori => |h, i| immediate_op(h, i, |a, shamt| a.rotate_right(shamt as u32 & 63));
        roriw => |h, i| immediate_op(h, i, |a, shamt| word((a as u32).rotate_right(shamt as u32 & 31)));
        // Zbs
        bclri => |h, i| immediate_op(h, i, clear_bit);
        bexti => |h, i| immediate_op(h, i, extract_bit);
        binvi => |h, i| immediate_op(h, i, invert_bit);
        bseti => |h, i| immediate_op(h, i, set_bit);
    }
}

/// Each byte that is not zero becomes all ones.
fn orc_b(a: u64) -> u64 {
    const LOW_BITS: u64 = 0x0101_0101_0101_0101;
    const SEVEN_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The top bit of each byte of the sum says that one of the seven bits below it was set: no carry leaves a
    // byte.
    let nonzero = (((a & SEVEN_BITS) + SEVEN_BITS) | a) >> 7 & LOW_BITS;
    nonzero * 0xff
}

/// The product of two polynomials over GF(2).
fn carryless_product(a: u64, b: u64) -> u128 {
    let mut rest = b;
    let mut product = 0;
    while rest != 0 {
        product ^= u128::from(a) << rest.trailing_zeros();
        rest &= rest - 1;
    }
    product
}

fn bit(index: u64) -> u64 {
    1 << (index & 63)
}

fn clear_bit(a: u64, index: u64) -> u64 {
    a & !bit(index)
}

fn extract_bit(a: u64, index: u64) -> u64 {
    a >> (index & 63) & 1
}

fn invert_bit(a: u64, index: u64) -> u64 {
    a ^ bit(index)
}

fn set_bit(a: u64, index: u64) -> u64 {
    a | bit(index)
}
