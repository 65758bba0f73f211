//! The base integer instructions, multiplication, loads, stores and jumps.
//!
//! Each is a micro-op of the engine's loop, which calls the function here that says what it computes. The
//! immediate forms compute the same of `rs1` and the immediate.

use super::float::{flh, fsh};
use super::{Execution, Flow, cache};
use crate::engine::Kind;
use rvv_isa::chapter::{Branch, Integer, Jump, Load, Multiply, Store};
use rvv_isa::rows;

/// Integer computation.
pub(super) fn computation(op: Integer) -> Kind {
    rows! { op;
        lui => Kind::Const;
        auipc => Kind::Const;
        addi => Kind::Addi;
        slti => Kind::Slti;
        sltiu => Kind::Sltiu;
        xori => Kind::Xori;
        // prefetch.i prefetch.r prefetch.w: with rd = x0, which does nothing.
        ori => Kind::Ori;
        andi => Kind::Andi;
        slli => Kind::Slli;
        srli => Kind::Srli;
        srai => Kind::Srai;
        // ntl.p1 ntl.pall ntl.s1 ntl.all: with rd = x0, which does nothing.
        add => Kind::Add;
        sub => Kind::Sub;
        sll => Kind::Sll;
        slt => Kind::Slt;
        sltu => Kind::Sltu;
        xor => Kind::Xor;
        srl => Kind::Srl;
        sra => Kind::Sra;
        or => Kind::Or;
        and => Kind::And;
        addiw => Kind::Addiw;
        slliw => Kind::Slliw;
        srliw => Kind::Srliw;
        sraiw => Kind::Sraiw;
        addw => Kind::Addw;
        subw => Kind::Subw;
        sllw => Kind::Sllw;
        srlw => Kind::Srlw;
        sraw => Kind::Sraw;
    }
}

/// The low word, sign-extended: what the instructions on words give.
#[inline(always)]
pub(crate) fn sext_word(x: u64) -> u64 {
    x as i32 as u64
}

/// `add`, `addi`: overflow is ignored.
#[inline(always)]
pub(crate) fn add(a: u64, b: u64) -> u64 {
    a.wrapping_add(b)
}

/// `sub`
#[inline(always)]
pub(crate) fn sub(a: u64, b: u64) -> u64 {
    a.wrapping_sub(b)
}

/// `sll`, `slli`: the shift amount is the low 6 bits.
#[inline(always)]
pub(crate) fn sll(a: u64, b: u64) -> u64 {
    a << (b & 63)
}

/// `slt`, `slti`: signed.
#[inline(always)]
pub(crate) fn slt(a: u64, b: u64) -> u64 {
    u64::from((a as i64) < b as i64)
}

/// `sltu`, `sltiu`: unsigned; the immediate is sign-extended first.
#[inline(always)]
pub(crate) fn sltu(a: u64, b: u64) -> u64 {
    u64::from(a < b)
}

/// `xor`, `xori`
#[inline(always)]
pub(crate) fn xor(a: u64, b: u64) -> u64 {
    a ^ b
}

/// `srl`, `srli`
#[inline(always)]
pub(crate) fn srl(a: u64, b: u64) -> u64 {
    a >> (b & 63)
}

/// `sra`, `srai`
#[inline(always)]
pub(crate) fn sra(a: u64, b: u64) -> u64 {
    (a as i64 >> (b & 63)) as u64
}

/// `or`, `ori`
#[inline(always)]
pub(crate) fn or(a: u64, b: u64) -> u64 {
    a | b
}

/// `and`, `andi`
#[inline(always)]
pub(crate) fn and(a: u64, b: u64) -> u64 {
    a & b
}

/// `addw`, `addiw`
#[inline(always)]
pub(crate) fn addw(a: u64, b: u64) -> u64 {
    sext_word(a.wrapping_add(b))
}

/// `subw`
#[inline(always)]
pub(crate) fn subw(a: u64, b: u64) -> u64 {
    sext_word(a.wrapping_sub(b))
}

/// `sllw`, `slliw`: the shift amount is the low 5 bits.
#[inline(always)]
pub(crate) fn sllw(a: u64, b: u64) -> u64 {
    sext_word(a << (b & 31))
}

/// `srlw`, `srliw`: of the low word.
#[inline(always)]
pub(crate) fn srlw(a: u64, b: u64) -> u64 {
    sext_word(u64::from(a as u32 >> (b & 31)))
}

/// `sraw`, `sraiw`
#[inline(always)]
pub(crate) fn sraw(a: u64, b: u64) -> u64 {
    (i64::from(a as i32) >> (b & 31)) as u64
}

/// Multiplication and division.
pub(super) fn multiplication(op: Multiply) -> Kind {
    rows! { op;
        mul => Kind::Mul;
        mulh => Kind::Mulh;
        mulhsu => Kind::Mulhsu;
        mulhu => Kind::Mulhu;
        mulw => Kind::Mulw;
        div => Kind::Div;
        divu => Kind::Divu;
        rem => Kind::Rem;
        remu => Kind::Remu;
        divw => Kind::Divw;
        divuw => Kind::Divuw;
        remw => Kind::Remw;
        remuw => Kind::Remuw;
    }
}

/// `mul`: the low 64 bits.
#[inline(always)]
pub(crate) fn mul(a: u64, b: u64) -> u64 {
    a.wrapping_mul(b)
}

/// `mulh`: the high 64 bits, signed by signed.
#[inline(always)]
pub(crate) fn mulh(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64
}

/// `mulhsu`: signed by unsigned.
#[inline(always)]
pub(crate) fn mulhsu(a: u64, b: u64) -> u64 {
    ((i128::from(a as i64) * i128::from(b)) >> 64) as u64
}

/// `mulhu`: unsigned by unsigned.
#[inline(always)]
pub(crate) fn mulhu(a: u64, b: u64) -> u64 {
    ((u128::from(a) * u128::from(b)) >> 64) as u64
}

/// `mulw`
#[inline(always)]
pub(crate) fn mulw(a: u64, b: u64) -> u64 {
    sext_word(a.wrapping_mul(b))
}

/// `div`. Division by zero and overflow have results and do not trap (M extension, table "Semantics for
/// division by zero and division overflow").
#[inline(always)]
pub(crate) fn div(a: u64, b: u64) -> u64 {
    match b as i64 {
        0 => u64::MAX,
        d => (a as i64).wrapping_div(d) as u64,
    }
}

/// `divu`
#[inline(always)]
pub(crate) fn divu(a: u64, b: u64) -> u64 {
    a.checked_div(b).unwrap_or(u64::MAX)
}

/// `rem`: the sign of the dividend.
#[inline(always)]
pub(crate) fn rem(a: u64, b: u64) -> u64 {
    match b as i64 {
        0 => a,
        d => (a as i64).wrapping_rem(d) as u64,
    }
}

/// `remu`
#[inline(always)]
pub(crate) fn remu(a: u64, b: u64) -> u64 {
    a.checked_rem(b).unwrap_or(a)
}

/// `divw`
#[inline(always)]
pub(crate) fn divw(a: u64, b: u64) -> u64 {
    match b as i32 {
        0 => u64::MAX,
        d => i64::from((a as i32).wrapping_div(d)) as u64,
    }
}

/// `divuw`: the quotient is sign-extended, too.
#[inline(always)]
pub(crate) fn divuw(a: u64, b: u64) -> u64 {
    sext_word(u64::from((a as u32).checked_div(b as u32).unwrap_or(u32::MAX)))
}

/// `remw`
#[inline(always)]
pub(crate) fn remw(a: u64, b: u64) -> u64 {
    match b as i32 {
        0 => sext_word(a),
        d => i64::from((a as i32).wrapping_rem(d)) as u64,
    }
}

/// `remuw`
#[inline(always)]
pub(crate) fn remuw(a: u64, b: u64) -> u64 {
    sext_word(u64::from((a as u32).checked_rem(b as u32).unwrap_or(a as u32)))
}

/// Loads, of floating-point registers too.
pub(super) fn load(op: Load) -> Execution {
    Execution::MicroOp(rows! { op;
        fld => Kind::Fld;
        flw => Kind::Flw;
        lb => Kind::Lb;
        lh => Kind::Lh;
        lw => Kind::Lw;
        ld => Kind::Ld;
        lbu => Kind::Lbu;
        lhu => Kind::Lhu;
        lwu => Kind::Lwu;
        flh => return Execution::Call(flh, Flow::Next);
    })
}

/// `lb`: what was loaded as the register gets it.
#[inline(always)]
pub(crate) fn lb(v: u8) -> u64 {
    v as i8 as u64
}

/// `lh`
#[inline(always)]
pub(crate) fn lh(v: u16) -> u64 {
    v as i16 as u64
}

/// `lw`
#[inline(always)]
pub(crate) fn lw(v: u32) -> u64 {
    v as i32 as u64
}

/// `ld`
#[inline(always)]
pub(crate) fn ld(v: u64) -> u64 {
    v
}

/// `lbu`
#[inline(always)]
pub(crate) fn lbu(v: u8) -> u64 {
    u64::from(v)
}

/// `lhu`
#[inline(always)]
pub(crate) fn lhu(v: u16) -> u64 {
    u64::from(v)
}

/// `lwu`
#[inline(always)]
pub(crate) fn lwu(v: u32) -> u64 {
    u64::from(v)
}

/// Stores, of floating-point registers too.
pub(super) fn store(op: Store) -> Execution {
    Execution::MicroOp(rows! { op;
        fsd => Kind::Fsd;
        fsw => Kind::Fsw;
        sb => Kind::Sb;
        sh => Kind::Sh;
        sw => Kind::Sw;
        sd => Kind::Sd;
        fsh => return Execution::Call(fsh, Flow::Next);
        cbo.zero => return Execution::Call(cache::zero, Flow::Next);
    })
}

/// Conditional branches.
pub(super) fn branch(op: Branch) -> Kind {
    rows! { op;
        beq => Kind::Beq;
        bne => Kind::Bne;
        blt => Kind::Blt;
        bge => Kind::Bge;
        bltu => Kind::Bltu;
        bgeu => Kind::Bgeu;
    }
}

/// `beq`: whether the branch is taken.
#[inline(always)]
pub(crate) fn beq(a: u64, b: u64) -> bool {
    a == b
}

/// `bne`
#[inline(always)]
pub(crate) fn bne(a: u64, b: u64) -> bool {
    a != b
}

/// `blt`: signed.
#[inline(always)]
pub(crate) fn blt(a: u64, b: u64) -> bool {
    (a as i64) < b as i64
}

/// `bge`: signed.
#[inline(always)]
pub(crate) fn bge(a: u64, b: u64) -> bool {
    a as i64 >= b as i64
}

/// `bltu`: unsigned.
#[inline(always)]
pub(crate) fn bltu(a: u64, b: u64) -> bool {
    a < b
}

/// `bgeu`: unsigned.
#[inline(always)]
pub(crate) fn bgeu(a: u64, b: u64) -> bool {
    a >= b
}

/// Unconditional jumps.
pub(super) fn jump(op: Jump) -> Kind {
    rows! { op;
        jal => Kind::Jal;
        jalr => Kind::Jalr;
    }
}

/// `jalr`: the target, with its lowest bit cleared.
#[inline(always)]
pub(crate) fn jalr_target(rs1: u64, imm: u64) -> u64 {
    rs1.wrapping_add(imm) & !1
}
