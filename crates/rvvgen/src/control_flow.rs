//! What is put around calls: functions, conditions, counted loops.

use crate::builder::{Builder, arg};
use rvv_intrinsics::{Elem, Role, Type, by_name};
use rvv_ir::{Arg, Call, Compare, Expr, Function, Linkage, Stmt, Var};
use std::collections::HashSet;

/// What has been assigned before a statement of the body.
#[derive(Default)]
struct Seen {
    assigned: HashSet<Var>,
    /// Variables that another value may replace, in the order of their assignment.
    values: Vec<Var>,
    /// Integers that come out of vectors and are defined: what a branch may depend on.
    scalars: Vec<Var>,
}

impl Builder<'_> {
    /// Puts some calls into functions, some under conditions and some into loops.
    pub fn shape(&mut self) {
        let weights = self.weights.clone();
        let body = std::mem::take(&mut self.body);
        let mut shaped = Vec::with_capacity(body.len());
        let mut seen = Seen::default();
        let once = assigned_once(&body);
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
            let scalar = dst.filter(|&var| self.decides(&call, var, &once));
            let stmt = match dst {
                Some(_) if !addressed && self.chance(weights.function) => self.outline(call),
                _ => Stmt::Call(call),
            };
            // Operations and stores; a load has nothing to be chosen instead of it.
            let shapes = dst.is_none() || !addressed;
            let stmt = if shapes && self.chance(weights.branch) {
                if seen.scalars.is_empty() && self.rng.below(2) == 0 {
                    let reduced = self.look_at(&seen, &once);
                    if let Some(Stmt::Call(Call { dst: Some(var), .. })) = reduced {
                        seen.scalars.push(var);
                    }
                    shaped.extend(reduced);
                }
                self.under_condition(stmt, dst, &seen, &once)
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

    /// An integer out of a vector or mask that is defined: how many bits are set, which is the first, element
    /// 0.
    fn look_at(&mut self, seen: &Seen, once: &HashSet<Var>) -> Option<Stmt> {
        let ratio = self.class.ratio;
        let fits = |var: &Var| {
            let ty = self.program.main.ty(*var);
            let whole = ty.mask() == Some(ratio)
                || ty.vector().is_some_and(|v| v.nf == 1 && !v.elem.is_float() && v.ratio() == ratio);
            whole && once.contains(var) && self.is_defined(&Arg::Var(*var))
        };
        let values: Vec<Var> = seen.values.iter().copied().filter(fits).collect();
        let source = *self.rng.pick(&values)?;
        let name = match self.program.main.ty(source) {
            Type::Mask(n) if self.rng.below(2) == 0 => format!("__riscv_vcpop_m_b{n}"),
            Type::Mask(n) => format!("__riscv_vfirst_m_b{n}"),
            Type::Vector(v) => format!("__riscv_vmv_x_s_{}_{}", v.short(), v.elem.short()),
            _ => return None,
        };
        let intrinsic = by_name(&name)?;
        let mut args = vec![Arg::Var(source)];
        if intrinsic.param(Role::Vl).is_some() {
            args.push(arg(self.span(ratio).vl));
        }
        let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
        let dst = Some(self.var(intrinsic.ret));
        Some(Stmt::Call(Call { dst, intrinsic, overloaded, args }))
    }

    /// Whether this result may decide a branch: an integer that is defined, as far as can be said.
    fn decides(&self, call: &Call, var: Var, once: &HashSet<Var>) -> bool {
        let integer = match self.program.main.ty(var) {
            Type::Scalar(e) => !e.is_float(),
            Type::Ulong | Type::Long => true,
            _ => false,
        };
        let known = |arg: &Arg| match arg {
            Arg::Var(var) => self.is_surely_defined(*var, once),
            _ => true,
        };
        let operand = |role| call.intrinsic.position(role).is_none_or(|i| known(&call.args[i]));
        integer && operand(Role::Vs2) && operand(Role::Vs1) && operand(Role::Mask)
    }

    /// Whether a variable is defined wherever it has a value: what is known of it at the end holds all along.
    fn is_surely_defined(&self, var: Var, once: &HashSet<Var>) -> bool {
        let persists = self.live.iter().any(|l| l.var == var && l.persists);
        let param = self.program.params.iter().any(|p| p.0 == var);
        param || ((once.contains(&var) || persists) && self.is_defined(&Arg::Var(var)))
    }

    /// The call in a new function, all its variables passed by value.
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
        // A function that others might call is called by the ABI; one of this file's own, as the compiler
        // likes.
        function.linkage = match self.rng.below(4) {
            0 => Linkage::Inline,
            1 => Linkage::Local,
            _ => Linkage::Global,
        };
        function.body.push(Stmt::Call(Call { dst: Some(result), args, ..call.clone() }));
        self.program.functions.push(function);
        Stmt::Invoke { dst: call.dst, function: self.program.functions.len() - 1, args: passed }
    }

    /// The statement under a condition. Otherwise another value of the same type takes the result's place;
    /// a store is left out.
    fn under_condition(&mut self, stmt: Stmt, dst: Option<Var>, seen: &Seen, once: &HashSet<Var>) -> Stmt {
        let (mut then, mut otherwise) = (vec![stmt], Vec::new());
        if let Some(dst) = dst {
            let ty = self.program.main.ty(dst);
            let fits =
                |v: &Var| self.program.main.ty(*v) == ty && (*v == dst || self.is_surely_defined(*v, once));
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
                _ => self.rng.below(self.len.max(1)) as u64 & mask,
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

    /// The statement some times over. What it assigns has a value before, so that the result of one round may
    /// be an operand of the next.
    fn repeated(&mut self, stmt: Stmt) -> Stmt {
        let index = self.program.main.var(format!("i{}", self.program.main.vars.len()), Type::Size);
        let times = 1 + self.rng.below(3) as u64;
        let count = self.trips(times);
        Stmt::For { index, count, body: vec![stmt] }
    }

    /// A trip count: a literal, or one that the compiler cannot see.
    pub fn trips(&mut self, times: u64) -> Expr {
        if self.chance(self.weights.opaque) {
            Expr::Var(self.param(Type::Size, times))
        } else {
            Expr::Const(times)
        }
    }
}

/// The variables that calls assign once: what is known of them holds wherever they are.
fn assigned_once(body: &[Stmt]) -> HashSet<Var> {
    let (mut once, mut more) = (HashSet::new(), HashSet::new());
    for stmt in body {
        if let Stmt::Call(Call { dst: Some(var), .. }) | Stmt::Copy { dst: var, .. } = stmt
            && !once.insert(*var)
        {
            more.insert(*var);
        }
    }
    once.retain(|var| !more.contains(var));
    once
}

impl Seen {
    fn assign(&mut self, var: Var) {
        self.scalars.retain(|v| *v != var);
        if self.assigned.insert(var) {
            self.values.push(var);
        }
    }
}
