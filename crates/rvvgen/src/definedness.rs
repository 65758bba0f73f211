//! Whether a result is defined in all elements below its vl, as far as can be said without running it.
//! Being wrong makes a program say less, or be repaired; never be wrong itself.

use crate::builder::Builder;
use rvv_intrinsics::{Role, Sem, Type};
use rvv_ir::{Arg, Call};

impl Builder<'_> {
    /// Whether the result of this call is defined in all elements below its vl.
    pub fn result_is_defined(&self, call: &Call, whole_vl: bool) -> bool {
        let intrinsic = call.intrinsic;
        let defined = |role: Role| intrinsic.position(role).is_none_or(|i| self.is_defined(&call.args[i]));
        let vd = defined(Role::Dest) && defined(Role::Acc);
        let policy = intrinsic.policy;
        if intrinsic.is_masked() {
            if !defined(Role::Mask) {
                return false;
            }
            // Scalars out of masks are counted under the mask; anything else has holes.
            let scalar = matches!(intrinsic.sem, Sem::Mcpop | Sem::Mfirst);
            let reduces = intrinsic.sem.is_reduction();
            let kept = policy.mask_undisturbed() && vd;
            if !(scalar || reduces || kept) {
                return false;
            }
        }
        let kept = policy.tail_undisturbed() && vd;
        if !(whole_vl || kept) {
            return false;
        }
        let operands = intrinsic.params.iter().zip(&call.args);
        let all = operands
            .filter(|(p, _)| !matches!(p.role, Role::Dest | Role::Mask))
            .all(|(_, a)| !matches!(a, Arg::Var(_)) || self.is_defined(a));
        match intrinsic.sem {
            Sem::Undefined | Sem::Slidedown | Sem::Gather | Sem::Compress | Sem::Fredusum => false,
            Sem::Reinterpret => {
                let same = |a: Type, b: Type| match (a, b) {
                    (Type::Vector(a), Type::Vector(b)) => a.ratio() == b.ratio(),
                    _ => false,
                };
                all && intrinsic.param(Role::Source).is_some_and(|p| same(p.ty, intrinsic.ret))
            }
            // One element is written: that is all there is of a type that gets a vl of 1 here.
            Sem::MvElement0 => false,
            sem if sem.is_reduction() => {
                all && intrinsic.ret.vector().is_some_and(|v| v.ratio() > self.class.ratio)
            }
            _ => all,
        }
    }
}
