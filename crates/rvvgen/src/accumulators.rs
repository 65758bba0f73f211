//! Accumulators: variables that live from one strip to the next.

use crate::builder::{Builder, arg};
use crate::context::Context;
use crate::lookup::Lookup;
use rvv_intrinsics::{Intrinsic, Role, Sem, Type, VecType};
use rvv_ir::{Arg, Call, Expr, Stmt, Var};

impl Builder<'_> {
    /// The operand that a call can have its own last result for: vs1 of a reduction, else vd or vs2.
    fn carried(&self, intrinsic: &Intrinsic) -> Option<(VecType, Role)> {
        let unfit = intrinsic.sem.group_size().is_some() || intrinsic.sem == Sem::LoadFf;
        if unfit || !matches!(self.place, Context::Strip { .. }) {
            return None;
        }
        let ty = intrinsic.ret.vector().filter(|v| v.nf == 1)?;
        let reduces = intrinsic.sem.is_reduction();
        let roles: &[Role] = if reduces { &[Role::Vs1] } else { &[Role::Acc, Role::Dest, Role::Vs2] };
        if !reduces && ty.ratio() != self.class.ratio {
            return None;
        }
        let fits = |role: &&Role| intrinsic.param(**role).is_some_and(|p| p.ty == Type::Vector(ty));
        roles.iter().find(fits).map(|&role| (ty, role))
    }

    /// The call as the update of an accumulator: loaded before the loop, its own operand in it, stored after
    /// it. False if it cannot be one.
    pub fn accumulate(&mut self, intrinsic: &'static Intrinsic, overloaded: bool) -> bool {
        let Some((ty, role)) = self.carried(intrinsic) else { return false };
        let whole = role != Role::Vs1;
        let acc = self.var(Type::Vector(ty));
        // Element 0 is all that a reduction makes; of anything else, the whole register is kept.
        let (vl, count) = if whole { self.vlmax(ty.ratio()) } else { (Expr::Const(1), 1) };
        let from = self.input(ty.elem, count);
        self.before.push(plain(Lookup::get().plain_load[&ty], Some(acc), from, &vl));
        let access = intrinsic.sem.accesses_memory().then(|| self.access(intrinsic));
        let mut args = Vec::with_capacity(intrinsic.params.len());
        for param in &intrinsic.params {
            let is_old = matches!(param.role, Role::Dest | Role::Acc) && param.ty == Type::Vector(ty);
            let addressed = access.as_ref().and_then(|a| match param.role {
                Role::Base => Some(a.base.clone()),
                Role::Stride => a.stride.clone(),
                Role::Index => a.index.clone(),
                _ => None,
            });
            args.push(match addressed {
                Some(arg) => arg,
                None if param.role == role || is_old => Arg::Var(acc),
                None => self.argument(intrinsic, param, u32::from(access.is_some())),
            });
        }
        self.chain_of(intrinsic, &args);
        self.body.push(Stmt::Call(Call { dst: Some(acc), intrinsic, overloaded, args }));
        let to = self.output(ty.elem, count);
        self.after.push(plain(Lookup::get().plain_store[&ty], None, to, &vl));
        if let Some(Stmt::Call(call)) = self.after.last_mut() {
            call.args.insert(1, Arg::Var(acc));
        }
        true
    }

    /// A variable that holds VLMAX of this ratio, and the most it can be.
    fn vlmax(&mut self, ratio: u32) -> (Expr, usize) {
        let setvlmax = &Lookup::get().setvlmax[&ratio];
        let intrinsic = setvlmax[self.rng.below(setvlmax.len())];
        let dst = self.var(Type::Size);
        self.before.push(Stmt::Call(Call { dst: Some(dst), intrinsic, overloaded: false, args: Vec::new() }));
        (Expr::Var(dst), (self.settings.largest_vlen() / ratio) as usize)
    }
}

/// A unit-stride access to the start of a buffer.
fn plain(intrinsic: &'static Intrinsic, dst: Option<Var>, buffer: usize, vl: &Expr) -> Stmt {
    let args = vec![Arg::Addr(buffer, Expr::Const(0)), arg(vl.clone())];
    Stmt::Call(Call { dst, intrinsic, overloaded: false, args })
}
