//! What is made of a result besides storing it: reductions, permutations, and changes of shape.

use crate::builder::Builder;
use crate::lookup::Lookup;
use crate::vl_class::Kind;
use rvv_intrinsics::{Intrinsic, Role, Type, VecType};
use rvv_ir::{Arg, Call, Stmt, Var};

impl Builder<'_> {
    /// As the weights say, more calls on a result.
    pub fn follow(&mut self, var: Var) {
        let Type::Vector(ty) = self.program.main.ty(var) else { return };
        if ty.nf > 1 || self.class.kind != Kind::Plain || ty.ratio() != self.class.ratio {
            return;
        }
        let index = Lookup::get();
        let weights = self.weights.clone();
        let choices = [
            (weights.reduce, &index.reductions),
            (weights.permute, &index.permutations),
            (weights.element, &index.elements),
        ];
        for (weight, by_type) in choices {
            if self.chance(weight)
                && let Some(of) = by_type.get(&ty)
                && let Some(intrinsic) = self.pick_allowed(of)
            {
                let result = self.apply(intrinsic, var);
                self.store(result);
            }
        }
        if self.chance(self.weights.reshape) {
            self.reshape(var, ty);
        }
    }

    /// The value as another type. It is not used, or comes back and is stored: as such a value may have
    /// undefined parts, it goes no further.
    fn reshape(&mut self, var: Var, ty: VecType) {
        let Some(there) = Lookup::get().shapes.get(&ty).and_then(|of| self.pick_allowed(of)) else { return };
        let shaped = self.apply(there, var);
        let other = there.ret.vector().and_then(|to| Lookup::get().shapes.get(&to));
        let back = |i: &&&Intrinsic| i.ret == Type::Vector(ty);
        if let Some(back) = other.and_then(|of| of.iter().find(back)).and_then(|i| self.allowed(i))
            && self.chance(0.5)
        {
            let result = self.apply(back, shaped);
            self.store(result);
        }
    }

    fn pick_allowed(&mut self, of: &[&'static Intrinsic]) -> Option<&'static Intrinsic> {
        let picked = self.rng.pick(of)?;
        self.allowed(picked)
    }

    /// Nothing if the selection excepts it.
    pub fn allowed(&self, intrinsic: &'static Intrinsic) -> Option<&'static Intrinsic> {
        self.settings.selection.allows(intrinsic).then_some(intrinsic)
    }

    /// A call on this value; the other operands are as they come.
    fn apply(&mut self, intrinsic: &'static Intrinsic, value: Var) -> Var {
        let mut args = Vec::with_capacity(intrinsic.params.len());
        for param in &intrinsic.params {
            args.push(match param.role {
                Role::Vs2 | Role::Source => Arg::Var(value),
                // Of a scalar move, the vector that the scalar goes into.
                Role::Dest if intrinsic.param(Role::Vs2).is_none() => Arg::Var(value),
                _ => self.argument(intrinsic, param, 1),
            });
        }
        let chain = self.chain_of(intrinsic, &args);
        let dst = self.var(intrinsic.ret);
        let overloaded = intrinsic.overloaded.is_some() && self.rng.below(4) == 0;
        let call = Call { dst: Some(dst), intrinsic, overloaded, args };
        let defined = self.result_is_defined(&call, true);
        self.body.push(Stmt::Call(call));
        self.assign_result(dst, intrinsic.ret, defined, chain);
        self.mark_used(dst);
        dst
    }
}
