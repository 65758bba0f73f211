//! Scalar floating point: by intrinsics on one element, so that all bits of results are defined, as the
//! instructions of a core define them. An assignment in C would leave the bits of a NaN open.

use super::lower::{Lower, Result};
use super::value::Value;
use rvv_intrinsics::{Elem, Intrinsic, Type, VecType, by_name};
use rvv_ir::loops::{Binary, CExpr};
use rvv_ir::{Arg, Call, Expr as Index, Stmt, Var};
use rvv_isa::Lmul;

fn one(elem: Elem) -> VecType {
    VecType::new(elem, Lmul::M1)
}

impl Lower<'_> {
    fn named(&self, name: &str) -> Result<&'static Intrinsic> {
        match by_name(name) {
            Some(intrinsic) => Ok(intrinsic),
            None => self.fail_with("scalar floating point", format!("scalar floating point, as by {name}")),
        }
    }

    /// A call whose result is a new variable.
    pub fn made(&mut self, intrinsic: &'static Intrinsic, args: Vec<Arg>) -> Result<Var> {
        let dst = self.var("x", intrinsic.ret);
        self.temporary.insert(dst);
        self.push(Stmt::Call(Call { dst: Some(dst), intrinsic, overloaded: false, args }))?;
        Ok(dst)
    }

    fn in_vector(&mut self, value: &Value, elem: Elem) -> Result<Var> {
        let arg = self.float_arg(value)?;
        let intrinsic = self.named(&format!("__riscv_vfmv_s_f_{}", one(elem).short()))?;
        self.made(intrinsic, vec![arg, Arg::Expr(Index::Const(1))])
    }

    fn out_of_vector(&mut self, vector: Var, elem: Elem) -> Result<Value> {
        let ty = one(elem).short();
        let intrinsic = self.named(&format!("__riscv_vfmv_f_s_{ty}_{}", elem.short()))?;
        Ok(Value::Float(self.made(intrinsic, vec![Arg::Var(vector)])?, elem))
    }

    /// A floating-point number as an argument.
    pub fn float_arg(&mut self, value: &Value) -> Result<Arg> {
        match value {
            Value::FloatBits(bits, _) => Ok(Arg::Expr(Index::Const(*bits))),
            Value::Float(var, _) => Ok(Arg::Var(*var)),
            other => self.fail(format!("{} as a floating-point number", other.kind())),
        }
    }

    /// An element of memory.
    pub fn float_load(&mut self, buffer: usize, at: CExpr, has: Elem, wants: Elem) -> Result<Value> {
        let at = self.index(at)?;
        let ty = one(has).short();
        let load = self.named(&format!("__riscv_vle{}_v_{ty}", has.bits()))?;
        let args = vec![Arg::Addr(buffer, at), Arg::Expr(Index::Const(1))];
        let vector = self.made(load, args)?;
        if has == wants {
            return self.out_of_vector(vector, has);
        }
        // The bits as another type.
        let to = one(wants).short();
        let cast = self.named(&format!("__riscv_vreinterpret_v_{ty}_{to}"))?;
        let vector = self.made(cast, vec![Arg::Var(vector)])?;
        if wants.is_float() {
            return self.out_of_vector(vector, wants);
        }
        let take = self.named(&format!("__riscv_vmv_x_s_{to}_{}", wants.short()))?;
        let var = self.made(take, vec![Arg::Var(vector)])?;
        Ok(Value::Int(CExpr::Var(var), wants))
    }

    /// `-x`
    pub fn float_neg(&mut self, var: Var, elem: Elem) -> Result<Value> {
        self.float_unary("vfneg_v", Value::Float(var, elem), elem)
    }

    /// A function of one number: `vfneg_v`, `vfabs_v`, `vfsqrt_v`.
    pub fn float_unary(&mut self, family: &str, value: Value, elem: Elem) -> Result<Value> {
        let vector = self.in_vector(&value, elem)?;
        let intrinsic = self.named(&format!("__riscv_{family}_{}", one(elem).short()))?;
        let result = self.made(intrinsic, vec![Arg::Var(vector), Arg::Expr(Index::Const(1))])?;
        self.out_of_vector(result, elem)
    }

    /// A function of two numbers: `vfadd_vf` and the like.
    pub fn float_binary(&mut self, family: &str, a: Value, b: Value, elem: Elem) -> Result<Value> {
        let vector = self.in_vector(&a, elem)?;
        let b = self.float_arg(&b)?;
        let intrinsic = self.named(&format!("__riscv_{family}_{}", one(elem).short()))?;
        let result = self.made(intrinsic, vec![Arg::Var(vector), b, Arg::Expr(Index::Const(1))])?;
        self.out_of_vector(result, elem)
    }

    /// An operation on two numbers of a type.
    pub fn float_operation(&mut self, op: Binary, a: Value, b: Value, elem: Elem) -> Result<Value> {
        if op.is_truth() {
            let side = |l: &mut Self, value: Value| -> Result<CExpr> {
                Ok(match value {
                    Value::FloatBits(bits, elem) => CExpr::Literal(elem, bits),
                    value => CExpr::Var(l.float_var(value)?),
                })
            };
            let (a, b) = (side(self, a)?, side(self, b)?);
            return Ok(Value::Int(CExpr::binary(op, a, b), Elem::I32));
        }
        let family = match op {
            Binary::Add => "vfadd_vf",
            Binary::Sub => "vfsub_vf",
            Binary::Mul => "vfmul_vf",
            Binary::Div => "vfdiv_vf",
            _ => return self.fail(format!("`{}` on floating-point numbers", op.sign())),
        };
        self.float_binary(family, a, b, elem)
    }

    /// A conversion from an integer.
    pub fn int_to_float(&mut self, e: CExpr, from: Elem, to: Elem) -> Result<Value> {
        // In an integer that is as wide as the result, or wider; values of narrower ones are the same.
        let wide = match (from.bits() < to.bits(), from.is_signed()) {
            (true, _) => Elem::signed(to.sew()),
            (false, _) => from,
        };
        let sign = if wide.is_signed() { "x" } else { "xu" };
        let var = self.var("i", Type::Scalar(wide));
        self.set(var, super::value::convert(e, from, wide))?;
        let ty = one(wide).short();
        let put = self.named(&format!("__riscv_vmv_s_x_{ty}"))?;
        let vector = self.made(put, vec![Arg::Var(var), Arg::Expr(Index::Const(1))])?;
        let vl = Arg::Expr(Index::Const(1));
        if wide.bits() == to.bits() {
            let convert = self.named(&format!("__riscv_vfcvt_f_{sign}_v_{}", one(to).short()))?;
            let vector = self.made(convert, vec![Arg::Var(vector), vl])?;
            return self.out_of_vector(vector, to);
        }
        if wide.bits() == 2 * to.bits() {
            let half = VecType::new(to, Lmul::Mf2).short();
            let convert = self.named(&format!("__riscv_vfncvt_f_{sign}_w_{half}"))?;
            let vector = self.made(convert, vec![Arg::Var(vector), vl])?;
            let take = self.named(&format!("__riscv_vfmv_f_s_{half}_{}", to.short()))?;
            return Ok(Value::Float(self.made(take, vec![Arg::Var(vector)])?, to));
        }
        self.fail_with("a conversion", format!("{} as {}", from.c_name(), to.c_name()))
    }

    /// A conversion between floating-point types.
    pub fn float_to_float(&mut self, var: Var, from: Elem, to: Elem) -> Result<Value> {
        let vl = Arg::Expr(Index::Const(1));
        if from.bits() < to.bits() && from.bits() * 2 == to.bits() && from != Elem::Bf16 {
            let half = VecType::new(from, Lmul::Mf2).short();
            let put = self.named(&format!("__riscv_vfmv_s_f_{half}"))?;
            let vector = self.made(put, vec![Arg::Var(var), vl.clone()])?;
            let convert = self.named(&format!("__riscv_vfwcvt_f_f_v_{}", one(to).short()))?;
            let vector = self.made(convert, vec![Arg::Var(vector), vl])?;
            return self.out_of_vector(vector, to);
        }
        if from.bits() == 2 * to.bits() && to != Elem::Bf16 {
            let vector = self.in_vector(&Value::Float(var, from), from)?;
            let half = VecType::new(to, Lmul::Mf2).short();
            let convert = self.named(&format!("__riscv_vfncvt_f_f_w_{half}"))?;
            let vector = self.made(convert, vec![Arg::Var(vector), vl])?;
            let take = self.named(&format!("__riscv_vfmv_f_s_{half}_{}", to.short()))?;
            return Ok(Value::Float(self.made(take, vec![Arg::Var(vector)])?, to));
        }
        self.fail_with("a conversion", format!("{} as {}", from.c_name(), to.c_name()))
    }
}
