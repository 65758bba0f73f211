//! What is put around calls: functions of their own, conditions, counted loops.

use crate::builder::{Builder, arg};
use rvv_intrinsics::{Elem, Role, Type};
use rvv_ir::{Arg, Call, Compare, Expr, Function, Stmt, Var};
use std::collections::HashSet;

/// What has been assigned before a statement of the body.
#[derive(Default)]
struct Seen {
    assigned: HashSet<Var>,
    /// Those that another value may stand in for, in the order of their assignment.
    values: Vec<Var>,
    /// Integers that come out of vectors and are defined: what a branch may depend on.
    scalars: Vec<Var>,
}

impl Builder<'_> {
    /// Puts some calls into functions, some under conditions and some into loops.
    pub fn shape(&mut self) {
        let weights = self.settings.weights.clone();
        let body = std::mem::take(&mut self.body);
        let mut shaped = Vec::with_capacity(body.len());
        let mut seen = Seen::default();
        for stmt in body {
            let Stmt::Call(call) = stmt else {
                if let Stmt::Copy { dst, .. } = stmt {
                    seen.assign(dst);
                }
                shaped.push(stmt);
                continue;
            };
            let dst = call.dst;
            let addressed = call.args.iter().any(|a| matches!(a, Arg::Addr(..) | Arg::Ref(_)));
            let new_vl = call.args.iter().find_map(|a| match a {
                Arg::Ref(var) => Some(*var),
                _ => None,
            });
            let scalar = dst.filter(|&var| self.decides(&call, var));
            let stmt = match dst {
                Some(_) if !addressed && self.chance(weights.function) => self.outline(call),
                _ => Stmt::Call(call),
            };
            // Operations and stores; a load has nothing to be chosen instead of it.
            let shapes = dst.is_none() || !addressed;
            let stmt = if shapes && self.chance(weights.branch) {
                self.under_condition(stmt, dst, &seen)
            } else if shapes && dst.is_none_or(|d| seen.assigned.contains(&d)) && self.chance(weights.repeat)
            {
                self.repeated(stmt)
            } else {
                stmt
            };
            shaped.push(stmt);
            for var in dst.into_iter().chain(new_vl) {
                seen.assign(var);
            }
            seen.scalars.extend(scalar);
        }
        self.body = shaped;
    }

    /// Whether this result may decide a branch: an integer that is defined, as far as can be said.
    fn decides(&self, call: &Call, var: Var) -> bool {
        let integer = match self.program.main.ty(var) {
            Type::Scalar(e) => !e.is_float(),
            Type::Ulong | Type::Long => true,
            _ => false,
        };
        let operand = |role| call.intrinsic.position(role).is_none_or(|i| self.is_solid(&call.args[i]));
        integer && operand(Role::Vs2) && operand(Role::Vs1) && operand(Role::Mask)
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

    /// The statement under a condition. Otherwise another value of the same type takes the result's place;
    /// a store is left out.
    fn under_condition(&mut self, stmt: Stmt, dst: Option<Var>, seen: &Seen) -> Stmt {
        let (mut then, mut otherwise) = (vec![stmt], Vec::new());
        if let Some(dst) = dst {
            let ty = self.program.main.ty(dst);
            let fits = |v: &Var| self.program.main.ty(*v) == ty;
            let others: Vec<Var> = seen.values.iter().copied().filter(fits).collect();
            match self.rng.pick(&others) {
                Some(&src) if src != dst => otherwise.push(Stmt::Copy { dst, src }),
                Some(_) => {}
                None => otherwise.extend(then.clone()),
            }
        }
        let compares = Compare::ALL;
        let (compare, _) = compares[self.rng.below(compares.len())];
        if self.rng.below(2) == 0
            && let Some(&left) = self.rng.pick(&seen.scalars)
        {
            let mask = match self.program.main.ty(left) {
                Type::Scalar(e) => u64::MAX >> (64 - e.bits()),
                _ => u64::MAX,
            };
            let right = match self.rng.below(4) {
                0 => mask, // vfirst's -1
                _ => self.rng.below(self.settings.len.max(1)) as u64 & mask,
            };
            return Stmt::If { left, compare, right, then, otherwise };
        }
        // An opaque value: which way it goes is known here, and the call is on that way.
        let (value, right) = (self.rng.below(10) as u64, self.rng.below(10) as u64);
        let elem = *self.rng.pick(&[None, Some(Elem::U8), Some(Elem::I32)]).unwrap_or(&None);
        let left = self.param(elem.map_or(Type::Size, Type::Scalar), value);
        let holds = match compare {
            Compare::Eq => value == right,
            Compare::Ne => value != right,
            Compare::Lt => value < right,
            Compare::Le => value <= right,
            Compare::Gt => value > right,
            Compare::Ge => value >= right,
        };
        if !holds {
            std::mem::swap(&mut then, &mut otherwise);
        }
        Stmt::If { left, compare, right, then, otherwise }
    }

    /// The statement some times over. What it assigns has a value before, so that the result of one round may be
    /// an operand of the next.
    fn repeated(&mut self, stmt: Stmt) -> Stmt {
        let index = self.program.main.var(format!("i{}", self.program.main.vars.len()), Type::Size);
        let times = 1 + self.rng.below(3) as u64;
        let count = self.trips(times);
        Stmt::For { index, count, body: vec![stmt] }
    }

    /// A trip count: a literal, or one that the compiler cannot see.
    pub fn trips(&mut self, times: u64) -> Expr {
        if self.chance(self.settings.weights.opaque) {
            Expr::Var(self.param(Type::Size, times))
        } else {
            Expr::Const(times)
        }
    }
}

impl Seen {
    fn assign(&mut self, var: Var) {
        self.scalars.retain(|v| *v != var);
        if self.assigned.insert(var) {
            self.values.push(var);
        }
    }
}
