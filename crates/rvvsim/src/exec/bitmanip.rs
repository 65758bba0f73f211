//! Bit manipulation: Zba, Zbb, Zbc, Zbs, and of the scalar cryptography Zbkb, Zbkc, Zbkx; Zicond beside them.
//!
//! Every one of these takes its operands from integer registers or the immediate and writes an integer register.

use super::{Flow, Handler};
use crate::Hart;
use crate::trap::Exec;
use rvv_isa::{Inst, Op};

/// The handlers of the bit-manipulation chapters.
#[must_use]
pub fn handler(op: Op) -> Option<(Handler, Flow)> {
    let handler = unary(op).or_else(|| binary(op)).or_else(|| with_immediate(op))?;
    Some((handler, Flow::Next))
}

/// `rd = op(rs1)`
#[inline(always)]
fn unary_op(h: &mut Hart, i: &Inst, op: impl FnOnce(u64) -> u64) -> Exec {
    h.set_x(i.rd, op(h.x[i.rs1]));
    Ok(())
}

/// `rd = op(rs1, rs2)`
#[inline(always)]
fn binary_op(h: &mut Hart, i: &Inst, op: impl FnOnce(u64, u64) -> u64) -> Exec {
    h.set_x(i.rd, op(h.x[i.rs1], h.x[i.rs2]));
    Ok(())
}

/// `rd = op(rs1, shamt)`
#[inline(always)]
fn immediate_op(h: &mut Hart, i: &Inst, op: impl FnOnce(u64, u64) -> u64) -> Exec {
    h.set_x(i.rd, op(h.x[i.rs1], i.imm as u64));
    Ok(())
}

/// The low word, sign-extended: what the instructions on words give.
#[inline(always)]
fn word(x: u32) -> u64 {
    x as i32 as u64
}

/// The low word, zero-extended: the index of the instructions on unsigned words.
#[inline(always)]
fn unsigned_word(x: u64) -> u64 {
    x & 0xffff_ffff
}

fn unary(op: Op) -> Option<Handler> {
    Some(match op {
        // Zbb
        Op::Clz => |h, i| unary_op(h, i, |a| u64::from(a.leading_zeros())),
        Op::Ctz => |h, i| unary_op(h, i, |a| u64::from(a.trailing_zeros())),
        Op::Cpop => |h, i| unary_op(h, i, |a| u64::from(a.count_ones())),
        Op::Clzw => |h, i| unary_op(h, i, |a| u64::from((a as u32).leading_zeros())),
        Op::Ctzw => |h, i| unary_op(h, i, |a| u64::from((a as u32).trailing_zeros())),
        Op::Cpopw => |h, i| unary_op(h, i, |a| u64::from((a as u32).count_ones())),
        Op::SextB => |h, i| unary_op(h, i, |a| a as i8 as u64),
        Op::SextH => |h, i| unary_op(h, i, |a| a as i16 as u64),
        Op::OrcB => |h, i| unary_op(h, i, orc_b),
        Op::Rev8 => |h, i| unary_op(h, i, u64::swap_bytes),
        // Zbkb
        Op::Brev8 => |h, i| unary_op(h, i, |a| a.reverse_bits().swap_bytes()),
        _ => return None,
    })
}

fn binary(op: Op) -> Option<Handler> {
    Some(match op {
        // Zba
        Op::Sh1add => |h, i| binary_op(h, i, |a, b| b.wrapping_add(a << 1)),
        Op::Sh2add => |h, i| binary_op(h, i, |a, b| b.wrapping_add(a << 2)),
        Op::Sh3add => |h, i| binary_op(h, i, |a, b| b.wrapping_add(a << 3)),
        Op::AddUw => |h, i| binary_op(h, i, |a, b| b.wrapping_add(unsigned_word(a))),
        Op::Sh1addUw => |h, i| binary_op(h, i, |a, b| b.wrapping_add(unsigned_word(a) << 1)),
        Op::Sh2addUw => |h, i| binary_op(h, i, |a, b| b.wrapping_add(unsigned_word(a) << 2)),
        Op::Sh3addUw => |h, i| binary_op(h, i, |a, b| b.wrapping_add(unsigned_word(a) << 3)),
        // Zbb
        Op::Andn => |h, i| binary_op(h, i, |a, b| a & !b),
        Op::Orn => |h, i| binary_op(h, i, |a, b| a | !b),
        Op::Xnor => |h, i| binary_op(h, i, |a, b| !(a ^ b)),
        Op::Min => |h, i| binary_op(h, i, |a, b| (a as i64).min(b as i64) as u64),
        Op::Minu => |h, i| binary_op(h, i, u64::min),
        Op::Max => |h, i| binary_op(h, i, |a, b| (a as i64).max(b as i64) as u64),
        Op::Maxu => |h, i| binary_op(h, i, u64::max),
        Op::Rol => |h, i| binary_op(h, i, |a, b| a.rotate_left(b as u32 & 63)),
        Op::Ror => |h, i| binary_op(h, i, |a, b| a.rotate_right(b as u32 & 63)),
        Op::Rolw => |h, i| binary_op(h, i, |a, b| word((a as u32).rotate_left(b as u32 & 31))),
        Op::Rorw => |h, i| binary_op(h, i, |a, b| word((a as u32).rotate_right(b as u32 & 31))),
        // Zbc
        Op::Clmul => |h, i| binary_op(h, i, |a, b| carryless_product(a, b) as u64),
        Op::Clmulh => |h, i| binary_op(h, i, |a, b| (carryless_product(a, b) >> 64) as u64),
        Op::Clmulr => |h, i| binary_op(h, i, |a, b| (carryless_product(a, b) >> 63) as u64),
        // Zbs
        Op::Bclr => |h, i| binary_op(h, i, clear_bit),
        Op::Bext => |h, i| binary_op(h, i, extract_bit),
        Op::Binv => |h, i| binary_op(h, i, invert_bit),
        Op::Bset => |h, i| binary_op(h, i, set_bit),
        // Zbkb
        Op::Pack => |h, i| binary_op(h, i, |a, b| unsigned_word(a) | b << 32),
        Op::Packh => |h, i| binary_op(h, i, |a, b| a & 0xff | (b & 0xff) << 8),
        // zext.h is the case rs2 = x0.
        Op::Packw => |h, i| binary_op(h, i, |a, b| word(a as u32 & 0xffff | (b as u32) << 16)),
        // Zbkx
        Op::Xperm4 => |h, i| binary_op(h, i, crossbar::<4>),
        Op::Xperm8 => |h, i| binary_op(h, i, crossbar::<8>),
        // Zicond
        Op::CzeroEqz => |h, i| binary_op(h, i, |a, b| if b == 0 { 0 } else { a }),
        Op::CzeroNez => |h, i| binary_op(h, i, |a, b| if b != 0 { 0 } else { a }),
        _ => return None,
    })
}

fn with_immediate(op: Op) -> Option<Handler> {
    Some(match op {
        // Zba
        Op::SlliUw => |h, i| immediate_op(h, i, |a, shamt| unsigned_word(a) << (shamt & 63)),
        // Zbb
        Op::Rori => |h, i| immediate_op(h, i, |a, shamt| a.rotate_right(shamt as u32 & 63)),
        Op::Roriw => |h, i| immediate_op(h, i, |a, shamt| word((a as u32).rotate_right(shamt as u32 & 31))),
        // Zbs
        Op::Bclri => |h, i| immediate_op(h, i, clear_bit),
        Op::Bexti => |h, i| immediate_op(h, i, extract_bit),
        Op::Binvi => |h, i| immediate_op(h, i, invert_bit),
        Op::Bseti => |h, i| immediate_op(h, i, set_bit),
        _ => return None,
    })
}

/// Each byte that is not zero becomes all ones.
fn orc_b(a: u64) -> u64 {
    const LOW_BITS: u64 = 0x0101_0101_0101_0101;
    const SEVEN_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    // The top bit of each byte of the sum says that one of the seven bits below it was set: no carry leaves a byte.
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

/// Each `WIDTH`-bit element of `indices` replaced by the element of `table` it names, or by zero if it names none.
fn crossbar<const WIDTH: u32>(table: u64, indices: u64) -> u64 {
    let element = (1 << WIDTH) - 1;
    let mut result = 0;
    for at in (0..64).step_by(WIDTH as usize) {
        let from = (indices >> at & element) as u32 * WIDTH;
        result |= (table.checked_shr(from).unwrap_or(0) & element) << at;
    }
    result
}
