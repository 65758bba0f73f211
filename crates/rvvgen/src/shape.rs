//! What is put around calls: functions of their own, conditions.

use crate::builder::{Builder, arg};
use rvv_intrinsics::Type;
use rvv_ir::{Arg, Call, Compare, Expr, Function, Stmt};

impl Builder<'_> {
    /// Puts some calls into functions and some under conditions.
    pub fn shape(&mut self) {
        let weights = self.settings.weights.clone();
        let body = std::mem::take(&mut self.body);
        let mut shaped = Vec::with_capacity(body.len());
        for stmt in body {
            let Stmt::Call(call) = stmt else {
                shaped.push(stmt);
                continue;
            };
            let values = call.args.iter().all(|a| matches!(a, Arg::Var(_) | Arg::Expr(_)));
            let stmt = if values && call.dst.is_some() && self.chance(weights.function) {
                self.outline(call)
            } else {
                Stmt::Call(call)
            };
            if self.chance(weights.branch) {
                self.under_condition(stmt, &mut shaped);
            } else {
                shaped.push(stmt);
            }
        }
        self.body = shaped;
    }

    /// The call in a function of its own, all its variables passed by value.
    fn outline(&mut self, call: Call) -> Stmt {
        let main = &self.program.main;
        let mut function =
            Function { name: format!("f{}", self.program.functions.len()), ..Function::default() };
        let mut passed = Vec::new();
        let mut args = Vec::new();
        for (param, a) in call.intrinsic.params.iter().zip(&call.args) {
            match a {
                Arg::Var(var) => {
                    // An integer of any 64-bit type is passed as what the intrinsic takes.
                    let ty = match param.ty {
                        Type::Size | Type::Ptrdiff => param.ty,
                        _ => main.ty(*var),
                    };
                    let inner = function.var(format!("a{}", passed.len()), ty);
                    function.params.push(inner);
                    passed.push(Arg::Var(*var));
                    args.push(Arg::Var(inner));
                }
                Arg::Expr(Expr::Const(_)) => args.push(a.clone()),
                Arg::Expr(expr) => {
                    let inner = function.var(format!("a{}", passed.len()), param.ty);
                    function.params.push(inner);
                    passed.push(arg(expr.clone()));
                    args.push(Arg::Var(inner));
                }
                Arg::Addr(..) | Arg::Ref(_) => return Stmt::Call(call),
            }
        }
        let result = function.var("r", call.intrinsic.ret);
        function.ret = Some(result);
        function.inline = self.rng.below(4) == 0;
        function.body.push(Stmt::Call(Call { dst: Some(result), args, ..call.clone() }));
        self.program.functions.push(function);
        Stmt::Invoke { dst: call.dst, function: self.program.functions.len() - 1, args: passed }
    }

    /// The statement under a condition that is opaque: taken, or the other branch does the same.
    fn under_condition(&mut self, stmt: Stmt, out: &mut Vec<Stmt>) {
        let value = self.rng.below(10) as u64;
        let left = self.param(Type::Size, value);
        let right = self.rng.below(10) as u64;
        let (compare, _) = Compare::ALL[self.rng.below(Compare::ALL.len())];
        // A statement with a result must have it on both ways; one without may be left out on one.
        let otherwise = match &stmt {
            Stmt::Call(call) if call.dst.is_none() && self.rng.below(2) == 0 => Vec::new(),
            _ => vec![stmt.clone()],
        };
        out.push(Stmt::If { left, compare, right, then: vec![stmt], otherwise });
    }
}
