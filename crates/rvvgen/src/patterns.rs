//! Sequences that back ends fold into one instruction, or take apart, and their near misses.

use crate::builder::Builder;
use crate::pairs::Pairs;
use crate::vl_class::{Kind, exists_at};
use rvv_intrinsics::{Intrinsic, Role, Type};
use rvv_ir::Var;

/// A sequence: the family that starts it, and each family that takes the result before it, as what.
type Pattern = (&'static str, &'static [(&'static str, Role)]);

use Role::{Acc, Carry, Mask, Scalar, Vs1, Vs2};

/// Patterns by family; the types follow from what the region is about.
const PATTERNS: &[Pattern] = &[
    // Multiply and add, fused or not.
    ("vmul_vv", &[("vadd_vv", Vs1)]),
    ("vmul_vv", &[("vadd_vv", Vs2), ("vsub_vv", Vs1)]),
    ("vmul_vx", &[("vsub_vv", Vs1)]),
    ("vfmul_vv", &[("vfadd_vv", Vs1)]),
    ("vfmul_vv", &[("vfsub_vv", Vs2), ("vfneg_v", Vs2)]),
    ("vfneg_v", &[("vfmacc_vv", Vs1), ("vfadd_vv", Vs2)]),
    ("vfneg_v", &[("vfmadd_vv", Acc)]),
    // Widening operations from an extension and a plain one.
    ("vsext_vf2", &[("vadd_vv", Vs2)]),
    ("vsext_vf2", &[("vmul_vv", Vs1), ("vadd_vv", Vs1)]),
    ("vzext_vf2", &[("vsub_vv", Vs2), ("vsll_vx", Vs2)]),
    ("vzext_vf2", &[("vmul_vv", Vs2), ("vadd_vv", Vs2)]),
    ("vzext_vf4", &[("vadd_vv", Vs1)]),
    ("vwmul_vv", &[("vwadd_wv", Vs2)]),
    ("vwmulu_vv", &[("vadd_vv", Vs1)]),
    ("vwadd_vv", &[("vwadd_wv", Vs2)]),
    ("vfwcvt_f_f_v", &[("vfadd_vv", Vs2), ("vfmul_vv", Vs2)]),
    ("vfwmul_vv", &[("vfadd_vv", Vs1)]),
    ("vfwcvt_f_f_v", &[("vfmacc_vv", Vs2)]),
    // Narrowing again.
    ("vwadd_vv", &[("vnsra_wx", Vs2)]),
    ("vwaddu_vv", &[("vnsrl_wx", Vs2), ("vzext_vf2", Vs2)]),
    ("vwmul_vv", &[("vnclip_wx", Vs2)]),
    ("vfwadd_vv", &[("vfncvt_f_f_w", Vs2)]),
    ("vmax_vx", &[("vmin_vx", Vs2), ("vncvt_x_x_w", Vs2)]),
    // Comparison and selection.
    ("vmslt_vv", &[("vmerge_vvm", Carry)]),
    ("vmsltu_vx", &[("vmerge_vxm", Carry), ("vadd_vv", Vs2)]),
    ("vmseq_vv", &[("vmnot_m", Vs2), ("vmerge_vvm", Carry)]),
    ("vmflt_vv", &[("vfmerge_vfm", Carry)]),
    ("vmfeq_vv", &[("vmnand_mm", Vs1), ("vmerge_vvm", Carry)]),
    ("vmerge_vvm", &[("vadd_vv", Vs2)]),
    ("vmseq_vx", &[("vadd_vv", Mask), ("vmerge_vvm", Vs1)]),
    ("vmadc_vv", &[("vadc_vvm", Carry)]),
    ("vmsbc_vv", &[("vsbc_vvm", Carry)]),
    // Logic of masks.
    ("vmseq_vv", &[("vmand_mm", Vs2), ("vmor_mm", Vs1), ("vmnot_m", Vs2), ("vcpop_m", Vs2)]),
    ("vmsne_vx", &[("vmxor_mm", Vs2), ("vmandn_mm", Vs1), ("vfirst_m", Vs2)]),
    ("vmsbf_m", &[("vmand_mm", Vs2), ("viota_m", Vs2)]),
    ("vmnot_m", &[("vmand_mm", Vs1)]),
    ("vmnot_m", &[("vmor_mm", Vs1), ("vmxnor_mm", Vs2)]),
    // Pairs of shifts: rotations, extensions, masks of bits.
    ("vsll_vx", &[("vsrl_vx", Vs2)]),
    ("vsll_vx", &[("vsra_vx", Vs2)]),
    ("vsrl_vx", &[("vand_vx", Vs2)]),
    ("vsll_vx", &[("vor_vv", Vs2)]),
    ("vsrl_vv", &[("vor_vv", Vs1), ("vxor_vv", Vs2)]),
    ("vnot_v", &[("vand_vv", Vs1)]),
    ("vxor_vx", &[("vxor_vx", Vs2)]),
    ("vneg_v", &[("vadd_vv", Vs1)]),
    ("vrsub_vx", &[("vmax_vv", Vs1)]),
    // Slides.
    ("vslide1up_vx", &[("vslide1down_vx", Vs2)]),
    ("vslidedown_vx", &[("vslideup_vx", Vs2)]),
    ("vslidedown_vx", &[("vslideup_vx", Acc), ("vadd_vv", Vs1)]),
    ("vfslide1down_vf", &[("vfslide1up_vf", Vs2)]),
    ("vid_v", &[("vadd_vx", Vs2), ("vrgather_vv", Vs1)]),
    ("vid_v", &[("vmul_vx", Vs2), ("vadd_vx", Vs2)]),
    ("viota_m", &[("vrgather_vv", Vs1)]),
    ("vid_v", &[("vmsltu_vx", Vs2), ("vadd_vv", Mask)]),
    // A scalar into a vector, and out of it.
    ("vmv_s_x", &[("vredsum_vs", Vs1), ("vmv_x_s", Vs2)]),
    ("vfmv_s_f", &[("vfredusum_vs", Vs1), ("vfmv_f_s", Vs2)]),
    ("vredmaxu_vs", &[("vmv_x_s", Vs2), ("vadd_vx", Scalar)]),
    ("vmv_v_x", &[("vadd_vv", Vs1)]),
    ("vmv_v_x", &[("vmul_vv", Vs1), ("vadd_vv", Vs1)]),
    ("vfmv_v_f", &[("vfmul_vv", Vs1), ("vfadd_vv", Vs2)]),
    ("vmv_x_s", &[("vmv_v_x", Scalar), ("vadd_vv", Vs2)]),
    ("vmv_x_s", &[("vmv_s_x", Scalar)]),
    ("vfmv_f_s", &[("vfmacc_vf", Scalar)]),
    // Chains of which a later part needs fewer elements.
    ("vadd_vv", &[("vsll_vx", Vs2), ("vxor_vv", Vs2), ("vredxor_vs", Vs2)]),
    ("vadd_vv", &[("vslide1down_vx", Vs2), ("vmv_x_s", Vs2)]),
    ("vadd_vv", &[("vmul_vv", Vs2), ("vmv_x_s", Vs2)]),
    // Fixed point: the rounding mode between.
    ("vaadd_vv", &[("vasub_vv", Vs2), ("vaadd_vv", Vs1)]),
    ("vssra_vx", &[("vsmul_vv", Vs2), ("vssra_vx", Vs2)]),
    ("vsadd_vv", &[("vssub_vv", Vs2)]),
    ("vfcvt_x_f_v", &[("vfcvt_f_x_v", Vs2)]),
    ("vfcvt_rtz_x_f_v", &[("vfcvt_f_x_v", Vs2), ("vmfeq_vv", Vs2)]),
];

impl Builder<'_> {
    /// Some pattern, in types of this region. Now and then what is inside it is used outside, too, so that it
    /// must not be folded away.
    pub fn pattern(&mut self) {
        let Some(&(first, rest)) = self.rng.pick(PATTERNS) else { return };
        let Some(mut value) = self.pattern_start(first, rest) else { return };
        let shrinks = self.chance(self.weights.shrink);
        for (step, &(family, role)) in rest.iter().enumerate() {
            let near_miss = self.rng.below(4) == 0;
            if near_miss {
                self.store(value);
            }
            if shrinks {
                self.shorter = 1 + step;
            }
            let next = self.pattern_step(family, role, value);
            self.shorter = 0;
            let Some(next) = next else { break };
            value = next;
        }
        self.use_result(value);
    }

    fn suits_region(&self, intrinsic: &Intrinsic) -> bool {
        let class = crate::class(intrinsic);
        class.kind == Kind::Plain
            && class.ratio <= self.class.ratio
            && exists_at(intrinsic, self.settings.smallest_vlen())
            && self.settings.may_feed(intrinsic)
            // Without holes, else little is seen of the rest.
            && (!intrinsic.is_masked() || intrinsic.policy.mask_undisturbed())
    }

    /// The first call: of a type that the second can take, of the region's ratio if there is one.
    fn pattern_start(&mut self, family: &str, rest: &[(&'static str, Role)]) -> Option<Var> {
        let pairs = Pairs::get();
        let first = pairs.family(family)?;
        let second = rest.first().and_then(|(name, role)| pairs.family(name)?.taking(*role));
        let mut found: Vec<&'static Intrinsic> = Vec::new();
        let mut types: Vec<(&Type, &Vec<&'static Intrinsic>)> = first.by_result.iter().collect();
        types.sort_unstable_by_key(|(_, of)| of.first().map(|i| i.id));
        for own in [true, false] {
            for (ty, made) in &types {
                let taken = second.is_none_or(|by_type| by_type.contains_key(ty));
                let some = (0..4).filter_map(|_| self.rng.pick(made).copied());
                let some: Vec<&'static Intrinsic> = if taken { some.collect() } else { Vec::new() };
                found.extend(
                    some.into_iter().filter(|i| {
                        self.suits_region(i) && (crate::class(i).ratio == self.class.ratio) == own
                    }),
                );
            }
            if !found.is_empty() {
                break;
            }
        }
        let intrinsic = *self.rng.pick(&found)?;
        let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
        self.call(intrinsic, overloaded, 1)
    }

    fn pattern_step(&mut self, family: &str, role: Role, value: Var) -> Option<Var> {
        let ty = self.program.main.ty(value);
        let takers = Pairs::get().family(family)?.taking(role)?.get(&ty)?;
        let some: Vec<&'static Intrinsic> = (0..8).filter_map(|_| self.rng.pick(takers).copied()).collect();
        let intrinsic = some.into_iter().find(|i| self.suits_region(i))?;
        let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
        self.call_on(intrinsic, overloaded, 0, Some((role, value)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_made_of_families_that_fit() {
        let pairs = Pairs::get();
        for (first, rest) in PATTERNS {
            let mut made: Vec<Type> = pairs.family(first).expect(first).by_result.keys().copied().collect();
            for (name, role) in *rest {
                let family = pairs.family(name).expect(name);
                let taking = family.taking(*role).unwrap_or_else(|| panic!("{name} has no {role:?}"));
                let takers: Vec<u32> =
                    made.iter().filter_map(|ty| taking.get(ty)).flatten().map(|i| i.id).collect();
                assert!(!takers.is_empty(), "{first} … {name} {role:?}");
                made =
                    rvv_intrinsics::all().iter().filter(|i| takers.contains(&i.id)).map(|i| i.ret).collect();
            }
        }
    }
}
