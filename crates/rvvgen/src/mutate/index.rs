//! Which intrinsics may stand for another.

use crate::stats::is_operation;
use crate::vl_class::{Kind, class};
use rvv_intrinsics::{Intrinsic, Policy, Role, Sem, Type, VecType, all};
use std::collections::HashMap;
use std::sync::LazyLock;

/// The part that a parameter plays, as far as another intrinsic may have it otherwise: all vectors that are
/// operands are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    Operand,
    Other(Role),
}

fn part(role: Role) -> Part {
    match role {
        Role::Vs1 | Role::Vs2 | Role::Acc | Role::Dest => Part::Operand,
        role => Part::Other(role),
    }
}

type Signature = (Type, bool, Vec<(Part, Type)>);

fn signature(i: &Intrinsic) -> Signature {
    let params = i.params.iter().map(|p| (part(p.role), p.ty)).collect();
    (i.ret, i.sem.accesses_memory(), params)
}

/// What there is, sorted by what mutators ask for.
pub(super) struct Index {
    signatures: HashMap<Signature, Vec<&'static Intrinsic>>,
    variants: HashMap<(&'static str, Type, Type), Vec<&'static Intrinsic>>,
    takes: HashMap<Type, Vec<&'static Intrinsic>>,
    forms: HashMap<(Sem, Policy, usize), Vec<&'static Intrinsic>>,
    conversions: HashMap<(Type, Type), Vec<&'static Intrinsic>>,
}

static INDEX: LazyLock<Index> = LazyLock::new(Index::new);

impl Index {
    /// The index of all there is.
    pub fn get() -> &'static Index {
        &INDEX
    }

    fn new() -> Index {
        let mut index = Index {
            signatures: HashMap::new(),
            variants: HashMap::new(),
            takes: HashMap::new(),
            forms: HashMap::new(),
            conversions: HashMap::new(),
        };
        for i in all() {
            index.signatures.entry(signature(i)).or_default().push(i);
            index.variants.entry((i.family, i.ty, i.ret)).or_default().push(i);
            index.forms.entry((i.sem, i.policy, i.params.len())).or_default().push(i);
            if is_operation(i) && class(i).kind == Kind::Plain {
                let mut types: Vec<Type> = i.params.iter().map(|p| p.ty).filter(is_vector).collect();
                types.sort_unstable();
                types.dedup();
                for ty in types {
                    index.takes.entry(ty).or_default().push(i);
                }
            }
            let operands: Vec<Type> = i.params.iter().map(|p| p.ty).filter(is_vector).collect();
            if let ([from @ Type::Vector(v)], Type::Vector(w)) = (&operands[..], i.ret)
                && is_conversion(i, *v, w)
            {
                index.conversions.entry((*from, i.ret)).or_default().push(i);
            }
        }
        index
    }

    /// Those with the same parameters and result, itself among them.
    pub fn alike(&self, i: &Intrinsic) -> &[&'static Intrinsic] {
        self.signatures.get(&signature(i)).map_or(&[], Vec::as_slice)
    }

    /// Its masked, policy and rounding forms, itself among them.
    pub fn variants(&self, i: &Intrinsic) -> &[&'static Intrinsic] {
        self.variants.get(&(i.family, i.ty, i.ret)).map_or(&[], Vec::as_slice)
    }

    /// Operations that take a value of this type.
    pub fn takes(&self, ty: Type) -> &[&'static Intrinsic] {
        self.takes.get(&ty).map_or(&[], Vec::as_slice)
    }

    /// What does the same on other types: the result and each parameter by `map`.
    pub fn mapped(&self, i: &Intrinsic, map: impl Fn(Type) -> Option<Type>) -> Option<&'static Intrinsic> {
        let ret = map(i.ret)?;
        let types = i.params.iter().map(|p| map(p.ty)).collect::<Option<Vec<Type>>>()?;
        let forms = self.forms.get(&(i.sem, i.policy, i.params.len()))?;
        let fits = |other: &&&'static Intrinsic| {
            other.ret == ret
                && other.params.iter().zip(&types).all(|(p, ty)| p.ty == *ty)
                && other.params.iter().zip(&i.params).all(|(p, q)| p.role == q.role)
        };
        forms.iter().find(fits).copied()
    }

    /// What makes a value of another type from one.
    pub fn conversions(&self, from: Type, to: Type) -> &[&'static Intrinsic] {
        self.conversions.get(&(from, to)).map_or(&[], Vec::as_slice)
    }
}

/// A vector, tuple or mask.
pub(super) fn is_vector(ty: &Type) -> bool {
    matches!(ty, Type::Vector(_) | Type::Mask(_))
}

/// Whether it makes a value of another type element by element, so that one `vl` does for both, and asks for
/// nothing else.
fn is_conversion(i: &Intrinsic, from: VecType, to: VecType) -> bool {
    let fits = from != to && from.nf == 1 && to.nf == 1 && from.ratio() == to.ratio();
    let alone = i.params.iter().all(|p| is_vector(&p.ty) || p.role == Role::Vl);
    let takes = i.params.iter().any(|p| matches!(p.role, Role::Vs2 | Role::Source));
    fits && alone && takes && !i.has_policy() && !i.is_masked() && !i.sem.accesses_memory()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rvv_intrinsics::by_name;

    fn named(name: &str) -> &'static Intrinsic {
        by_name(&format!("__riscv_{name}")).unwrap()
    }

    fn names(of: &[&'static Intrinsic]) -> Vec<&'static str> {
        of.iter().map(|i| &i.name["__riscv_".len()..]).collect()
    }

    #[test]
    fn what_is_alike_has_the_same_signature() {
        let index = Index::get();
        let alike = names(index.alike(named("vadd_vv_i32m1")));
        assert!(alike.contains(&"vmul_vv_i32m1") && alike.contains(&"vadd_vv_i32m1"), "{alike:?}");
        assert!(!alike.contains(&"vadd_vx_i32m1") && !alike.contains(&"vadd_vv_i32m1_m"), "{alike:?}");
        let alike = names(index.alike(named("vle32_v_i32m1")));
        assert_eq!(alike, ["vle32_v_i32m1"]);
        let variants = names(index.variants(named("vfadd_vv_f32m1")));
        for one in ["vfadd_vv_f32m1_rm", "vfadd_vv_f32m1_tumu", "vfadd_vv_f32m1_rm_m"] {
            assert!(variants.contains(&one), "{one}: {variants:?}");
        }
    }

    #[test]
    fn types_are_mapped_and_converted_at_one_ratio() {
        let index = Index::get();
        let (i32m1, i16mf2) = (named("vadd_vv_i32m1").ret, named("vadd_vv_i16mf2").ret);
        let map = |ty: Type| Some(if ty == i32m1 { i16mf2 } else { ty });
        let mapped = index.mapped(named("vadd_vv_i32m1"), map).unwrap();
        assert_eq!(&*mapped.name, "__riscv_vadd_vv_i16mf2");
        // It compares, so the mask stays what it is.
        let mapped = index.mapped(named("vmseq_vv_i32m1_b32"), map).unwrap();
        assert_eq!(&*mapped.name, "__riscv_vmseq_vv_i16mf2_b32");
        let narrow = names(index.conversions(i32m1, i16mf2));
        assert!(narrow.contains(&"vncvt_x_x_w_i16mf2"), "{narrow:?}");
        let wide = names(index.conversions(i16mf2, i32m1));
        assert!(wide.contains(&"vsext_vf2_i32m1"), "{wide:?}");
        let float = index.conversions(i32m1, named("vfadd_vv_f32m1").ret);
        assert!(names(float).contains(&"vreinterpret_v_i32m1_f32m1"));
    }
}
