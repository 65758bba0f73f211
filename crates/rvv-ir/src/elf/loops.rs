//! Element statements: one operation at a time, by way of the stack.
//!
//! A value is in an integer register, extended to 64 bits by its type; of a float, its bits. Floating-point
//! registers are used within one operation only.

use super::{Lowering, reg, scalar};
use crate::loops::{Access, Binary, Builtin, CExpr, Loop, Target, Unary, common, promote, variable};
use crate::{Stmt, Var};
use rvv_intrinsics::{Elem, Type};
use rvv_isa::{Inst, Op};

use super::LowerError;

/// Where an operation has its operands and its result.
const A: u8 = reg::A0;
const B: u8 = reg::T1;
const C: u8 = reg::A2;

/// Round towards zero, and by the dynamic mode.
const RTZ: u8 = 1;
const DYN: u8 = 7;

fn store_of(elem: Elem) -> Op {
    match elem.bytes() {
        1 => Op::Sb,
        2 => Op::Sh,
        4 => Op::Sw,
        _ => Op::Sd,
    }
}

impl Lowering<'_> {
    pub(super) fn element_statement(&mut self, stmt: &Stmt) -> Result<(), LowerError> {
        match stmt {
            Stmt::Set { target: Target::Var(var), value } => {
                let from = self.value(value)?;
                let to = self.elem_of(*var)?;
                self.coerce(from, to);
                self.store_scalar(self.function, *var, A);
            }
            Stmt::Set { target: Target::Element(access), value } => {
                let from = self.value(value)?;
                let buffer = &self.program.buffers[access.buffer];
                let elem = buffer.elem;
                if buffer.truths {
                    self.truth(from);
                } else {
                    self.coerce(from, elem);
                }
                self.push();
                self.element_address(access)?;
                self.pop(B);
                self.code.asm.store(store_of(elem), B, 0, A);
            }
            Stmt::Loop(of) => self.element_loop(of)?,
            Stmt::When { condition, then, otherwise } => {
                let ty = self.value(condition)?;
                self.truth(ty);
                let (no, end) = (self.code.asm.label(), self.code.asm.label());
                self.code.jump_unless(Op::Bne, A, reg::ZERO, no);
                self.statements(then)?;
                self.code.jump(end);
                self.code.asm.place(no);
                self.statements(otherwise)?;
                self.code.asm.place(end);
            }
            Stmt::Lanes(of) => {
                let elem = self.program.buffers[of.buffer].elem;
                for n in 0..of.count {
                    let from = self.value(&of.value.scalar(n, of.count, self.program))?;
                    self.coerce(from, elem);
                    self.push();
                }
                for n in (0..of.count).rev() {
                    let at = CExpr::binary(Binary::Add, of.at.clone(), CExpr::int(Elem::I32, n as i64));
                    self.element_address(&Access { buffer: of.buffer, index: vec![at] })?;
                    self.pop(B);
                    self.code.asm.store(store_of(elem), B, 0, A);
                }
            }
            Stmt::Leave => match self.ends.last() {
                Some(&end) => self.code.jump(end),
                None => return Err(self.argument("leave", "there is no loop around it")),
            },
            _ => {}
        }
        Ok(())
    }

    fn element_loop(&mut self, of: &Loop) -> Result<(), LowerError> {
        let elem = self.elem_of(of.index)?;
        let from = self.value(&of.from)?;
        self.coerce(from, elem);
        self.store_scalar(self.function, of.index, A);
        let again = self.code.asm.label_here();
        let end = self.code.asm.label();
        self.binary(of.compare.into(), &CExpr::Var(of.index), &of.to)?;
        self.code.jump_unless(Op::Bne, A, reg::ZERO, end);
        self.ends.push(end);
        self.statements(&of.body)?;
        self.ends.pop();
        self.load_scalar(self.function, of.index, A);
        self.code.asm.li(B, of.step as u64);
        self.code.asm.rrr(Op::Add, A, A, B);
        self.extend(Type::Scalar(elem), A);
        self.store_scalar(self.function, of.index, A);
        self.code.jump(again);
        self.code.asm.place(end);
        Ok(())
    }

    fn elem_of(&self, var: Var) -> Result<Elem, LowerError> {
        let ty = self.program.function(self.function).ty(var);
        variable(ty).ok_or_else(|| self.argument("set", "a variable that is no scalar"))
    }

    fn type_of(&self, e: &CExpr) -> Result<Elem, LowerError> {
        e.ty(self.program, self.program.function(self.function)).map_err(|why| self.argument("set", why))
    }

    fn push(&mut self) {
        self.code.asm.rri(Op::Addi, reg::SP, reg::SP, -16);
        self.code.asm.store(Op::Sd, A, 0, reg::SP);
    }

    fn pop(&mut self, rd: u8) {
        self.code.asm.rri(Op::Ld, rd, reg::SP, 0);
        self.code.asm.rri(Op::Addi, reg::SP, reg::SP, 16);
    }

    /// The address of an element.
    fn element_address(&mut self, access: &Access) -> Result<(), LowerError> {
        let program = self.program;
        let buffer = &program.buffers[access.buffer];
        for (k, index) in access.index.iter().enumerate() {
            if k > 0 {
                self.code.asm.li(B, buffer.dims[k - 1] as u64);
                self.code.asm.rrr(Op::Mul, A, A, B);
                self.push();
            }
            // Extended by its type already.
            self.value(index)?;
            if k > 0 {
                self.pop(B);
                self.code.asm.rrr(Op::Add, A, A, B);
            }
        }
        self.code.asm.rri(Op::Slli, A, A, buffer.elem.bytes().ilog2() as i32);
        self.code.asm.li(reg::T0, self.buffers[access.buffer]);
        self.code.asm.rrr(Op::Add, A, A, reg::T0);
        Ok(())
    }

    /// Computes an expression; its type.
    fn value(&mut self, e: &CExpr) -> Result<Elem, LowerError> {
        match e {
            CExpr::Literal(elem, bits) => {
                self.code.asm.li(A, scalar::canonical(Type::Scalar(*elem), *bits));
                Ok(*elem)
            }
            CExpr::Var(var) => {
                self.load_scalar(self.function, *var, A);
                self.elem_of(*var)
            }
            CExpr::Load(access) => {
                self.element_address(access)?;
                let elem = self.program.buffers[access.buffer].elem;
                let op = match (elem.bytes(), elem.is_signed()) {
                    (1, true) => Op::Lb,
                    (1, false) => Op::Lbu,
                    (2, true) => Op::Lh,
                    (2, false) => Op::Lhu,
                    (4, true) => Op::Lw,
                    (4, false) => Op::Lwu,
                    _ => Op::Ld,
                };
                self.code.asm.rri(op, A, A, 0);
                Ok(elem)
            }
            CExpr::Unary(op, a) => {
                let ty = self.value(a)?;
                self.unary(*op, ty)
            }
            CExpr::Binary(op @ (Binary::AndThen | Binary::OrElse), a, b) => {
                let end = self.code.asm.label();
                let ty = self.value(a)?;
                self.truth(ty);
                let goes_on = if *op == Binary::AndThen { Op::Bne } else { Op::Beq };
                self.code.jump_unless(goes_on, A, reg::ZERO, end);
                let ty = self.value(b)?;
                self.truth(ty);
                self.code.asm.place(end);
                Ok(Elem::I32)
            }
            CExpr::Binary(op, a, b) => self.binary(*op, a, b),
            CExpr::Cast(elem, a) => {
                let from = self.value(a)?;
                self.coerce(from, *elem);
                Ok(*elem)
            }
            CExpr::Select(of) => {
                let ty = self.type_of(e)?;
                let (no, end) = (self.code.asm.label(), self.code.asm.label());
                let condition = self.value(&of[0])?;
                self.truth(condition);
                self.code.jump_unless(Op::Bne, A, reg::ZERO, no);
                let from = self.value(&of[1])?;
                self.coerce(from, ty);
                self.code.jump(end);
                self.code.asm.place(no);
                let from = self.value(&of[2])?;
                self.coerce(from, ty);
                self.code.asm.place(end);
                Ok(ty)
            }
            CExpr::Builtin(builtin, args) => self.builtin(*builtin, args),
        }
    }

    /// 1 if `A` is not zero, 0 otherwise.
    fn truth(&mut self, ty: Elem) {
        if ty.is_float() {
            // All but the sign of a zero.
            self.code.asm.rri(Op::Slli, A, A, 65 - ty.bits() as i32);
        }
        self.code.asm.rrr(Op::Sltu, A, reg::ZERO, A);
    }

    fn unary(&mut self, op: Unary, ty: Elem) -> Result<Elem, LowerError> {
        match op {
            Unary::Bool => self.truth(ty),
            Unary::IsZero => {
                self.truth(ty);
                self.code.asm.rri(Op::Xori, A, A, 1);
            }
            Unary::Neg if ty.is_float() => {
                self.code.asm.li(B, 1 << (ty.bits() - 1));
                self.code.asm.rrr(Op::Xor, A, A, B);
                return Ok(ty);
            }
            Unary::Neg => {
                self.code.asm.rrr(Op::Sub, A, reg::ZERO, A);
                self.extend(Type::Scalar(promote(ty)), A);
                return Ok(promote(ty));
            }
            Unary::Not => {
                self.code.asm.rri(Op::Xori, A, A, -1);
                self.extend(Type::Scalar(promote(ty)), A);
                return Ok(promote(ty));
            }
        }
        Ok(Elem::I32)
    }

    /// Two operands of the type in which they are combined, in `B` and `A`; that type.
    fn operands(&mut self, a: &CExpr, b: &CExpr) -> Result<Elem, LowerError> {
        let (left, right) = (self.type_of(a)?, self.type_of(b)?);
        let ty = common(left, right).map_err(|why| self.argument("set", why))?;
        self.value(a)?;
        self.coerce(left, ty);
        self.push();
        self.value(b)?;
        self.coerce(right, ty);
        self.pop(B);
        Ok(ty)
    }

    fn binary(&mut self, op: Binary, a: &CExpr, b: &CExpr) -> Result<Elem, LowerError> {
        if let Binary::Shl | Binary::Shr = op {
            let ty = promote(self.value(a)?);
            self.push();
            self.value(b)?;
            self.pop(B);
            let op = match (op, ty.is_signed()) {
                (Binary::Shl, _) => Op::Sll,
                (_, true) => Op::Sra,
                (_, false) => Op::Srl,
            };
            self.code.asm.rrr(op, A, B, A);
            self.extend(Type::Scalar(ty), A);
            return Ok(ty);
        }
        let ty = self.operands(a, b)?;
        if ty.is_float() {
            return self.float_binary(op, ty);
        }
        let signed = ty.is_signed();
        let less = if signed { Op::Slt } else { Op::Sltu };
        let asm = &mut self.code.asm;
        let mut negates = false;
        match op {
            Binary::Add => asm.rrr(Op::Add, A, B, A),
            Binary::Sub => asm.rrr(Op::Sub, A, B, A),
            Binary::Mul => asm.rrr(Op::Mul, A, B, A),
            // On 64 bits, of extended operands: the same quotient.
            Binary::Div => asm.rrr(if signed { Op::Div } else { Op::Divu }, A, B, A),
            Binary::Rem => asm.rrr(if signed { Op::Rem } else { Op::Remu }, A, B, A),
            Binary::And => asm.rrr(Op::And, A, B, A),
            Binary::Or => asm.rrr(Op::Or, A, B, A),
            Binary::Xor => asm.rrr(Op::Xor, A, B, A),
            Binary::Lt => asm.rrr(less, A, B, A),
            Binary::Gt => asm.rrr(less, A, A, B),
            Binary::Ge => {
                asm.rrr(less, A, B, A);
                negates = true;
            }
            Binary::Le => {
                asm.rrr(less, A, A, B);
                negates = true;
            }
            _ => {
                asm.rrr(Op::Xor, A, B, A);
                asm.rrr(Op::Sltu, A, reg::ZERO, A);
                negates = op == Binary::Eq;
            }
        }
        if negates {
            self.code.asm.rri(Op::Xori, A, A, 1);
        }
        if op.is_truth() {
            return Ok(Elem::I32);
        }
        self.extend(Type::Scalar(ty), A);
        Ok(ty)
    }

    fn float_binary(&mut self, op: Binary, ty: Elem) -> Result<Elem, LowerError> {
        self.box_float(ty, A);
        self.box_float(ty, B);
        let ops = |h: Op, s: Op, d: Op| match ty {
            Elem::F16 => h,
            Elem::F32 => s,
            _ => d,
        };
        let arithmetic = match op {
            Binary::Add => Some(ops(Op::FaddH, Op::FaddS, Op::FaddD)),
            Binary::Sub => Some(ops(Op::FsubH, Op::FsubS, Op::FsubD)),
            Binary::Mul => Some(ops(Op::FmulH, Op::FmulS, Op::FmulD)),
            Binary::Div => Some(ops(Op::FdivH, Op::FdivS, Op::FdivD)),
            _ => None,
        };
        if let Some(op) = arithmetic {
            self.code.asm.inst(&Inst { rd: A, rs1: B, rs2: A, rm: DYN, ..Inst::new(op) });
            self.unbox(ty);
            return Ok(ty);
        }
        let (eq, lt, le) = (
            ops(Op::FeqH, Op::FeqS, Op::FeqD),
            ops(Op::FltH, Op::FltS, Op::FltD),
            ops(Op::FleH, Op::FleS, Op::FleD),
        );
        let (op, rs1, rs2, negates) = match op {
            Binary::Eq => (eq, B, A, false),
            Binary::Ne => (eq, B, A, true),
            Binary::Lt => (lt, B, A, false),
            Binary::Le => (le, B, A, false),
            Binary::Gt => (lt, A, B, false),
            Binary::Ge => (le, A, B, false),
            other => return Err(self.argument("set", format!("{} on floating point", other.sign()))),
        };
        self.code.asm.rrr(op, A, rs1, rs2);
        if negates {
            self.code.asm.rri(Op::Xori, A, A, 1);
        }
        Ok(Elem::I32)
    }

    fn builtin(&mut self, builtin: Builtin, args: &[CExpr]) -> Result<Elem, LowerError> {
        let Some(first) = args.first() else { return Err(self.argument("set", "no operand")) };
        let ty = self.value(first)?;
        for arg in &args[1..] {
            self.push();
            self.value(arg)?;
        }
        let sign = 1u64 << (ty.bits() - 1);
        match builtin {
            Builtin::Fabs => {
                self.code.asm.li(B, !sign);
                self.code.asm.rrr(Op::And, A, A, B);
            }
            Builtin::Copysign => {
                self.pop(C);
                self.code.asm.li(B, sign);
                self.code.asm.rrr(Op::And, A, A, B);
                self.code.asm.rri(Op::Xori, B, B, -1);
                self.code.asm.rrr(Op::And, C, C, B);
                self.code.asm.rrr(Op::Or, A, A, C);
                self.extend(Type::Scalar(ty), A);
            }
            Builtin::Fma => {
                self.pop(B);
                self.pop(C);
                for r in [A, B, C] {
                    self.box_float(ty, r);
                }
                let op = if ty == Elem::F32 { Op::FmaddS } else { Op::FmaddD };
                self.code.asm.inst(&Inst { rd: A, rs1: C, rs2: B, rs3: A, rm: DYN, ..Inst::new(op) });
                self.unbox(ty);
            }
        }
        Ok(ty)
    }

    /// The bits of the floating-point register `A` in the integer register.
    fn unbox(&mut self, ty: Elem) {
        self.code.asm.rri(Op::FmvXD, A, A, 0);
        self.extend(Type::Scalar(ty), A);
    }

    /// Converts what is in `A`.
    fn coerce(&mut self, from: Elem, to: Elem) {
        if from == to {
            return;
        }
        match (from.is_float(), to.is_float()) {
            (false, false) => self.extend(Type::Scalar(to), A),
            (false, true) => {
                let op = match (to, from.is_signed()) {
                    (Elem::F16, true) => Op::FcvtHL,
                    (Elem::F16, false) => Op::FcvtHLu,
                    (Elem::F32, true) => Op::FcvtSL,
                    (Elem::F32, false) => Op::FcvtSLu,
                    (_, true) => Op::FcvtDL,
                    (_, false) => Op::FcvtDLu,
                };
                self.code.asm.inst(&Inst { rd: A, rs1: A, rm: DYN, ..Inst::new(op) });
                self.unbox(to);
            }
            (true, false) => {
                self.box_float(from, A);
                let unsigned = to == Elem::U64;
                let op = match (from, unsigned) {
                    (Elem::F16, false) => Op::FcvtLH,
                    (Elem::F16, true) => Op::FcvtLuH,
                    (Elem::F32, false) => Op::FcvtLS,
                    (Elem::F32, true) => Op::FcvtLuS,
                    (_, false) => Op::FcvtLD,
                    (_, true) => Op::FcvtLuD,
                };
                self.code.asm.inst(&Inst { rd: A, rs1: A, rm: RTZ, ..Inst::new(op) });
                self.extend(Type::Scalar(to), A);
            }
            (true, true) => {
                self.box_float(from, A);
                let op = match (from, to) {
                    (Elem::F16, Elem::F32) => Op::FcvtSH,
                    (Elem::F16, _) => Op::FcvtDH,
                    (Elem::F32, Elem::F16) => Op::FcvtHS,
                    (Elem::F32, Elem::F64) => Op::FcvtDS,
                    (Elem::F32, _) => Op::FcvtBf16S,
                    (Elem::F64, Elem::F16) => Op::FcvtHD,
                    (Elem::F64, _) => Op::FcvtSD,
                    _ => Op::FcvtSBf16,
                };
                self.code.asm.inst(&Inst { rd: A, rs1: A, rm: DYN, ..Inst::new(op) });
                self.unbox(to);
            }
        }
    }
}
