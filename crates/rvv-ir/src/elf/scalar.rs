//! Scalars: their slots, expressions, arguments.

use super::{Lowering, reg};
use crate::{Arg, Expr, Var};
use rvv_intrinsics::{Elem, Type};
use rvv_isa::Op;

/// The bits of a value as its slot holds them: extended to 64 by the type.
pub(super) fn canonical(ty: Type, bits: u64) -> u64 {
    match ty {
        Type::Scalar(e) => {
            let shift = 64 - e.bits();
            if e.is_signed() { ((bits << shift) as i64 >> shift) as u64 } else { bits << shift >> shift }
        }
        _ => bits,
    }
}

impl Lowering<'_> {
    /// The offset of a variable's slot.
    fn scalar_slot(&self, function: usize, var: Var) -> u64 {
        self.slots[function].vars[var.index()]
    }

    fn load_slot(&mut self, rd: u8, offset: u64) {
        let asm = &mut self.code.asm;
        if offset < 2048 {
            asm.rri(Op::Ld, rd, reg::SCALARS, offset as i32);
        } else {
            asm.li(reg::T0, offset);
            asm.rrr(Op::Add, reg::T0, reg::T0, reg::SCALARS);
            asm.rri(Op::Ld, rd, reg::T0, 0);
        }
    }

    fn store_slot(&mut self, rs: u8, offset: u64) {
        let asm = &mut self.code.asm;
        if offset < 2048 {
            asm.store(Op::Sd, rs, offset as i32, reg::SCALARS);
        } else {
            asm.li(reg::T0, offset);
            asm.rrr(Op::Add, reg::T0, reg::T0, reg::SCALARS);
            asm.store(Op::Sd, rs, 0, reg::T0);
        }
    }

    /// Loads a variable of a function.
    pub fn load_scalar(&mut self, function: usize, var: Var, rd: u8) {
        let offset = self.scalar_slot(function, var);
        self.load_slot(rd, offset);
    }

    /// Stores into a variable of a function what is already extended by its type.
    pub fn store_scalar(&mut self, function: usize, var: Var, rs: u8) {
        let offset = self.scalar_slot(function, var);
        self.store_slot(rs, offset);
    }

    /// Extends the low bits of a register by a type.
    pub fn extend(&mut self, ty: Type, r: u8) {
        if let Type::Scalar(e) = ty
            && e.bits() < 64
        {
            let shift = 64 - e.bits() as i32;
            self.code.asm.rri(Op::Slli, r, r, shift);
            self.code.asm.rri(if e.is_signed() { Op::Srai } else { Op::Srli }, r, r, shift);
        }
    }

    /// Keeps the return address of the function.
    pub fn save_link(&mut self) {
        self.store_slot(reg::RA, self.slots[self.function].link);
    }

    /// Takes it back.
    pub fn restore_link(&mut self) {
        self.load_slot(reg::RA, self.slots[self.function].link);
    }

    /// Computes an expression, by way of the stack. Changes `rd`, `t0` and `t1` only.
    pub fn expr(&mut self, expr: &Expr, rd: u8) {
        let (op, a, b) = match expr {
            Expr::Const(c) => return self.code.asm.li(rd, *c),
            Expr::Var(v) => return self.load_scalar(self.function, *v, rd),
            Expr::Add(a, b) => (Op::Add, a, b),
            Expr::Sub(a, b) => (Op::Sub, a, b),
            Expr::Mul(a, b) => (Op::Mul, a, b),
        };
        self.expr(a, rd);
        self.code.asm.rri(Op::Addi, reg::SP, reg::SP, -16);
        self.code.asm.store(Op::Sd, rd, 0, reg::SP);
        self.expr(b, rd);
        self.code.asm.rri(Op::Ld, reg::T1, reg::SP, 0);
        self.code.asm.rri(Op::Addi, reg::SP, reg::SP, 16);
        self.code.asm.rrr(op, rd, reg::T1, rd);
    }

    /// The address of an element of a buffer.
    pub fn address(&mut self, buffer: usize, at: &Expr, rd: u8) {
        self.expr(at, rd);
        let log2 = self.program.buffers[buffer].elem.bytes().ilog2();
        self.code.asm.rri(Op::Slli, rd, rd, log2 as i32);
        self.code.asm.li(reg::T0, self.buffers[buffer]);
        self.code.asm.rrr(Op::Add, rd, rd, reg::T0);
    }

    /// Loads a scalar argument for a parameter of this type; of a float, the bits. An address, for a pointer.
    pub fn scalar_arg(
        &mut self,
        arg: &Arg,
        ty: Type,
        rd: u8,
        intrinsic: &str,
    ) -> Result<(), super::LowerError> {
        match arg {
            Arg::Var(v) => self.load_scalar(self.function, *v, rd),
            Arg::Expr(Expr::Const(c)) => self.code.asm.li(rd, canonical(ty, *c)),
            Arg::Expr(e) => {
                self.expr(e, rd);
                self.extend(ty, rd);
            }
            Arg::Addr(buffer, at) => self.address(*buffer, at, rd),
            Arg::Ref(_) => return Err(self.argument(intrinsic, "a reference where a value is asked for")),
        }
        Ok(())
    }

    /// Moves the bits of a float from an integer register to the floating-point register of the same number,
    /// NaN-boxed. Needs no instruction of the narrow formats.
    pub fn box_float(&mut self, elem: Elem, r: u8) {
        let asm = &mut self.code.asm;
        if elem.bits() < 64 {
            asm.li(reg::T0, u64::MAX);
            asm.rri(Op::Slli, reg::T0, reg::T0, elem.bits() as i32);
            asm.rrr(Op::Or, r, r, reg::T0);
        }
        asm.rri(Op::FmvDX, r, r, 0);
    }
}
