//! The base integer instructions, multiplication, loads, stores and jumps: micro-ops of the engine's loop, which
//! [`crate::engine`] gives their meaning under the same names.

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

/// Unconditional jumps.
pub(super) fn jump(op: Jump) -> Kind {
    rows! { op;
        jal => Kind::Jal;
        jalr => Kind::Jalr;
    }
}
