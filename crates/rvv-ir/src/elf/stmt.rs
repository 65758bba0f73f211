//! Statements.

use super::layout::registers;
use super::{LowerError, Lowering, reg, scalar};
use crate::{Arg, Compare, Expr, Stmt, Var};
use rvv_asm::Label;
use rvv_intrinsics::Type;
use rvv_isa::{Inst, Op, Vtype, csr};

/// Where whole variables pass through.
const THROUGH: u8 = 8;

impl Lowering<'_> {
    pub fn statements(&mut self, body: &[Stmt]) -> Result<(), LowerError> {
        body.iter().try_for_each(|stmt| self.statement(stmt))
    }

    fn ty(&self, var: Var) -> Type {
        self.program.function(self.function).ty(var)
    }

    fn statement(&mut self, stmt: &Stmt) -> Result<(), LowerError> {
        match stmt {
            Stmt::Call(call) => self.call(call)?,
            Stmt::Invoke { dst, function, args } => self.invoke(*dst, *function, args)?,
            Stmt::Copy { dst, src } => self.copy((self.function, *src), (self.function, *dst)),
            Stmt::Put { buffer, at, value } => {
                self.address(*buffer, at, reg::A1);
                self.load_scalar(self.function, *value, reg::A0);
                let op = match self.program.buffers[*buffer].elem.bytes() {
                    1 => Op::Sb,
                    2 => Op::Sh,
                    4 => Op::Sw,
                    _ => Op::Sd,
                };
                self.code.asm.store(op, reg::A0, 0, reg::A1);
            }
            Stmt::SetFrm(mode) => self.code.csrwi(reg::ZERO, csr::FRM, *mode & 7),
            Stmt::Strip { vtype, length, index, vl, body } => {
                let vtype = Vtype::new(vtype.elem.sew(), vtype.lmul, true, true);
                self.counted(*index, length, |this| {
                    this.expr(length, reg::A1);
                    this.load_scalar(this.function, *index, reg::A0);
                    this.code.asm.rrr(Op::Sub, reg::A1, reg::A1, reg::A0);
                    this.set_vl(reg::A0, reg::A1, vtype);
                    this.store_scalar(this.function, *vl, reg::A0);
                    this.statements(body)?;
                    this.load_scalar(this.function, *vl, reg::A1);
                    Ok(())
                })?;
            }
            Stmt::For { index, count, body } => self.counted(*index, count, |this| {
                this.statements(body)?;
                this.code.asm.li(reg::A1, 1);
                Ok(())
            })?,
            Stmt::Break { left, compare, right } => {
                let no = self.jump_unless_holds(*left, *compare, *right);
                // The check has seen to it that there is a loop.
                if let Some(&end) = self.ends.last() {
                    self.code.jump(end);
                }
                self.code.asm.place(no);
            }
            // There is no compiler that knows anything, and variables are not on the stack.
            Stmt::Hide(_) | Stmt::Scratch(_) => {}
            Stmt::If { left, compare, right, then, otherwise } => {
                let no = self.jump_unless_holds(*left, *compare, *right);
                let end = self.code.asm.label();
                self.statements(then)?;
                self.code.jump(end);
                self.code.asm.place(no);
                self.statements(otherwise)?;
                self.code.asm.place(end);
            }
            Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_) => {
                self.element_statement(stmt)?;
            }
        }
        Ok(())
    }

    /// Jumps to the label that is returned, to be placed yet, unless the comparison holds.
    fn jump_unless_holds(&mut self, left: Var, compare: Compare, right: u64) -> Label {
        let ty = self.ty(left);
        self.load_scalar(self.function, left, reg::A0);
        self.code.asm.li(reg::A1, scalar::canonical(ty, right));
        let signed = match ty {
            Type::Scalar(e) => e.is_signed(),
            ty => matches!(ty, Type::Long | Type::Ptrdiff),
        };
        let (less, not_less) = if signed { (Op::Blt, Op::Bge) } else { (Op::Bltu, Op::Bgeu) };
        let (op, a, b) = match compare {
            Compare::Eq => (Op::Beq, reg::A0, reg::A1),
            Compare::Ne => (Op::Bne, reg::A0, reg::A1),
            Compare::Lt => (less, reg::A0, reg::A1),
            Compare::Ge => (not_less, reg::A0, reg::A1),
            Compare::Gt => (less, reg::A1, reg::A0),
            Compare::Le => (not_less, reg::A1, reg::A0),
        };
        let no = self.code.asm.label();
        self.code.jump_unless(op, a, b, no);
        no
    }

    /// `for (index = 0; index < count; index += a1) body`
    fn counted(
        &mut self,
        index: Var,
        count: &Expr,
        body: impl FnOnce(&mut Self) -> Result<(), LowerError>,
    ) -> Result<(), LowerError> {
        self.store_scalar(self.function, index, reg::ZERO);
        let again = self.code.asm.label_here();
        let end = self.code.asm.label();
        self.expr(count, reg::A1);
        self.load_scalar(self.function, index, reg::A0);
        self.code.jump_unless(Op::Bltu, reg::A0, reg::A1, end);
        self.ends.push(end);
        body(self)?;
        self.ends.pop();
        self.load_scalar(self.function, index, reg::A0);
        self.code.asm.rrr(Op::Add, reg::A0, reg::A0, reg::A1);
        self.store_scalar(self.function, index, reg::A0);
        self.code.jump(again);
        self.code.asm.place(end);
        Ok(())
    }

    /// `vsetvli rd, rs1, vtype`
    pub fn set_vl(&mut self, rd: u8, rs1: u8, vtype: Vtype) {
        self.code.asm.inst(&Inst { rd, rs1, imm: vtype.to_bits() as i32, ..Inst::new(Op::Vsetvli) });
    }

    /// Copies a variable; both are given with their functions and have the same type.
    fn copy(&mut self, (from, src): (usize, Var), (to, dst): (usize, Var)) {
        if registers(self.program.function(from).ty(src)) > 0 {
            self.load_vector(from, src, THROUGH);
            self.store_vector(to, dst, THROUGH);
        } else {
            self.load_scalar(from, src, reg::A0);
            self.store_scalar(to, dst, reg::A0);
        }
    }

    fn invoke(&mut self, dst: Option<Var>, function: usize, args: &[Arg]) -> Result<(), LowerError> {
        let callee = &self.program.functions[function];
        for (arg, &param) in args.iter().zip(&callee.params) {
            match arg {
                Arg::Var(var) => self.copy((self.function, *var), (function, param)),
                other => {
                    self.scalar_arg(other, callee.ty(param), reg::A0, &callee.name)?;
                    self.store_scalar(function, param, reg::A0);
                }
            }
        }
        self.code.call(self.functions[function]);
        if let (Some(dst), Some(ret)) = (dst, callee.ret) {
            self.copy((function, ret), (self.function, dst));
        }
        Ok(())
    }
}
