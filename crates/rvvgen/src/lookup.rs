//! Which loads make a type, which stores take it, which comparisons make a mask.

use crate::stats::is_operation;
use crate::vl_class::{Kind, class};
use rvv_intrinsics::{Elem, Intrinsic, Role, Sem, Type, VecType, all};
use std::collections::HashMap;
use std::sync::LazyLock;

/// What feeds and empties the calls a program is about.
#[derive(Default)]
pub struct Lookup {
    /// Loads that make this type, and what makes such a value without memory.
    pub loads: HashMap<VecType, Vec<&'static Intrinsic>>,
    /// Stores that take this type.
    pub stores: HashMap<VecType, Vec<&'static Intrinsic>>,
    /// Comparisons that make `vboolN_t`.
    pub compares: HashMap<u32, Vec<&'static Intrinsic>>,
    /// vget of a field of this tuple type.
    pub get: HashMap<VecType, &'static Intrinsic>,
    /// vcreate of this tuple type.
    pub create: HashMap<VecType, &'static Intrinsic>,
    /// vsetvlmax of a ratio.
    pub setvlmax: HashMap<u32, Vec<&'static Intrinsic>>,
    /// vlm and vsm of `vboolN_t`.
    pub mask_load: HashMap<u32, &'static Intrinsic>,
    /// vlm and vsm of `vboolN_t`.
    pub mask_store: HashMap<u32, &'static Intrinsic>,
    /// Reductions of this type.
    pub reductions: HashMap<VecType, Vec<&'static Intrinsic>>,
    /// Slides, gathers and compressions of this type.
    pub permutations: HashMap<VecType, Vec<&'static Intrinsic>>,
    /// What sets element 0 of this type to a scalar.
    pub elements: HashMap<VecType, Vec<&'static Intrinsic>>,
    /// What gives a value of this type another one, as it is.
    pub shapes: HashMap<VecType, Vec<&'static Intrinsic>>,
    /// Operations that make a value of this type without holes, given values without holes.
    pub made: HashMap<Type, Vec<&'static Intrinsic>>,
    /// The unit-stride unmasked load of a type.
    pub plain_load: HashMap<VecType, &'static Intrinsic>,
    /// The unit-stride unmasked store of a type.
    pub plain_store: HashMap<VecType, &'static Intrinsic>,
}

static INDEX: LazyLock<Lookup> = LazyLock::new(Lookup::new);

impl Lookup {
    /// The index of all there is.
    pub fn get() -> &'static Lookup {
        &INDEX
    }

    fn new() -> Lookup {
        let mut index = Lookup::default();
        for intrinsic in all() {
            if makes_whole(intrinsic) {
                index.made.entry(intrinsic.ret).or_default().push(intrinsic);
            }
            match (intrinsic.sem, intrinsic.ret) {
                (Sem::Load, Type::Vector(ty)) if !intrinsic.is_masked() && !intrinsic.has_policy() => {
                    index.plain_load.insert(ty, intrinsic);
                    index.loads.entry(ty).or_default().push(intrinsic);
                }
                (
                    Sem::Load | Sem::LoadFf | Sem::LoadStrided | Sem::LoadOrdered | Sem::LoadUnordered,
                    Type::Vector(ty),
                ) => index.loads.entry(ty).or_default().push(intrinsic),
                (Sem::LoadMask, Type::Mask(n)) => {
                    index.mask_load.insert(n.into(), intrinsic);
                }
                (Sem::Store | Sem::StoreStrided | Sem::StoreOrdered | Sem::StoreUnordered, _) => {
                    let Some(Type::Vector(ty)) = intrinsic.param(Role::Data).map(|p| p.ty) else { continue };
                    if intrinsic.sem == Sem::Store && !intrinsic.is_masked() {
                        index.plain_store.insert(ty, intrinsic);
                    }
                    index.stores.entry(ty).or_default().push(intrinsic);
                }
                (Sem::StoreMask, _) => {
                    if let Some(n) = intrinsic.param(Role::Data).and_then(|p| p.ty.mask()) {
                        index.mask_store.insert(n, intrinsic);
                    }
                }
                (Sem::Eq | Sem::Ne | Sem::Lt | Sem::Le | Sem::Gt | Sem::Ge, Type::Mask(n)) => {
                    index.compares.entry(n.into()).or_default().push(intrinsic);
                }
                (Sem::LmulExt | Sem::LmulTrunc | Sem::Reinterpret, Type::Vector(_)) => {
                    let source = intrinsic.param(Role::Source).and_then(|p| p.ty.vector());
                    if let Some(ty) = source {
                        index.shapes.entry(ty).or_default().push(intrinsic);
                    }
                }
                (
                    Sem::Slideup
                    | Sem::Slidedown
                    | Sem::Slide1up
                    | Sem::Slide1down
                    | Sem::Gather
                    | Sem::Compress,
                    Type::Vector(_),
                ) => {
                    let source = intrinsic.param(Role::Vs2).and_then(|p| p.ty.vector());
                    if let Some(ty) = source {
                        index.permutations.entry(ty).or_default().push(intrinsic);
                    }
                }
                (sem, Type::Vector(_)) if sem.is_reduction() => {
                    let source = intrinsic.param(Role::Vs2).and_then(|p| p.ty.vector());
                    if let Some(ty) = source {
                        index.reductions.entry(ty).or_default().push(intrinsic);
                    }
                }
                (Sem::MvElement0, Type::Vector(ty)) => index.elements.entry(ty).or_default().push(intrinsic),
                (Sem::Get, _) => {
                    let source = intrinsic.param(Role::Source).and_then(|p| p.ty.vector());
                    if let Some(tuple) = source.filter(|v| v.nf > 1) {
                        index.get.insert(tuple, intrinsic);
                    }
                }
                (Sem::Create, Type::Vector(ty)) if ty.nf > 1 => {
                    index.create.insert(ty, intrinsic);
                }
                (Sem::Setvlmax, _) => {
                    if let Some(ty) = intrinsic.ty.vector() {
                        index.setvlmax.entry(ty.ratio()).or_default().push(intrinsic);
                    }
                }
                _ => {}
            }
        }
        index
    }
}

/// Whether it makes a value without holes of values without holes.
fn makes_whole(intrinsic: &Intrinsic) -> bool {
    let gaps = intrinsic.is_masked() && !intrinsic.policy.mask_undisturbed();
    let partly = matches!(intrinsic.sem, Sem::Slidedown | Sem::Gather | Sem::Compress | Sem::MvElement0);
    let plain = class(intrinsic).kind == Kind::Plain;
    is_operation(intrinsic) && plain && !gaps && !partly && !intrinsic.sem.is_reduction()
}

/// The type of the buffer behind a pointer.
pub fn pointee(ty: Type) -> Option<Elem> {
    match ty {
        Type::Pointer(e) | Type::ConstPointer(e) => Some(e),
        _ => None,
    }
}
