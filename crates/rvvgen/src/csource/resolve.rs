//! Which intrinsic a call means: by its explicit name, or by its overloaded name and the types of its
//! arguments.

use rvv_intrinsics::{Intrinsic, Role, Type, VecType, all, by_name};
use rvv_isa::Lmul;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What is known of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// A vector, a tuple or a mask.
    Vector(Type),
    /// A number; `None` if its type is not known.
    Scalar(Option<rvv_intrinsics::Elem>),
    /// A pointer; `None` if it is not known to what.
    Pointer(Option<rvv_intrinsics::Elem>),
    /// Nothing.
    Unknown,
}

/// An intrinsic and by which of its names it was called.
#[derive(Clone, Copy, Debug)]
pub struct Resolved {
    /// What is called.
    pub intrinsic: &'static Intrinsic,
    /// By its overloaded name.
    pub overloaded: bool,
}

/// The intrinsics of each overloaded name.
static OVERLOADED: LazyLock<HashMap<&'static str, Vec<&'static Intrinsic>>> = LazyLock::new(|| {
    let mut found: HashMap<&'static str, Vec<&'static Intrinsic>> = HashMap::new();
    for intrinsic in all() {
        if let Some(name) = &intrinsic.overloaded {
            found.entry(name).or_default().push(intrinsic);
        }
    }
    found
});

/// Names in C of vectors, tuples and masks.
static VECTORS: LazyLock<HashMap<String, Type>> = LazyLock::new(|| {
    let mut found: HashMap<String, Type> = HashMap::new();
    for elem in rvv_intrinsics::Elem::ALL {
        for lmul in Lmul::ALL {
            for nf in 1..=8 {
                let ty = VecType { elem, lmul, nf };
                if ty.exists() {
                    found.insert(ty.c_name(), Type::Vector(ty));
                }
            }
        }
    }
    for ratio in [1, 2, 4, 8, 16, 32, 64] {
        let ty = Type::Mask(ratio);
        found.insert(ty.to_string(), ty);
    }
    found
});

/// The type with this name in C, if it is a vector, a tuple or a mask.
pub fn vector_type(name: &str) -> Option<Type> {
    VECTORS.get(name).copied()
}

/// Whether a name is that of an intrinsic, explicit or overloaded.
pub fn is_intrinsic_name(name: &str) -> bool {
    name.starts_with("__riscv_") && (by_name(name).is_some() || OVERLOADED.contains_key(name))
}

/// One of the intrinsics that an overloaded name with so many arguments can mean: all mean the same.
pub fn any_of(name: &str, args: usize) -> Option<&'static Intrinsic> {
    OVERLOADED.get(name)?.iter().copied().find(|i| i.params.len() == args)
}

/// The intrinsic that a call means. If the types decide nothing, as many as fit are none.
pub fn resolve(name: &str, args: &[Argument]) -> Option<Resolved> {
    if let Some(intrinsic) = by_name(name) {
        // vsetvl's name is both.
        return Some(Resolved { intrinsic, overloaded: false });
    }
    let candidates = OVERLOADED.get(name)?;
    let mut best: Option<(usize, &'static Intrinsic)> = None;
    let mut tied = false;
    for intrinsic in candidates.iter().filter(|i| i.params.len() == args.len()) {
        let Some(score) = fit(intrinsic, args) else { continue };
        match best {
            Some((other, _)) if other > score => {}
            Some((other, _)) if other == score => tied = true,
            _ => {
                best = Some((score, intrinsic));
                tied = false;
            }
        }
    }
    let (_, intrinsic) = best.filter(|_| !tied)?;
    Some(Resolved { intrinsic, overloaded: true })
}

/// How well arguments fit; `None` if they do not.
fn fit(intrinsic: &Intrinsic, args: &[Argument]) -> Option<usize> {
    let mut score = 0;
    for (param, arg) in intrinsic.params.iter().zip(args) {
        let vector = matches!(param.ty, Type::Vector(_) | Type::Mask(_));
        score += match (param.ty, arg) {
            (_, Argument::Unknown) => 0,
            (ty, Argument::Vector(has)) => {
                if ty != *has {
                    return None;
                }
                4
            }
            _ if vector => return None,
            (Type::Pointer(e) | Type::ConstPointer(e), Argument::Pointer(has)) => match has {
                Some(has) if *has == e => 4,
                // `char`, `void` and other types of the width.
                Some(has) if has.bits() == e.bits() => 2,
                _ => 1,
            },
            (Type::SizePointer, Argument::Pointer(_)) => 1,
            (_, Argument::Pointer(_))
            | (Type::Pointer(_) | Type::ConstPointer(_), Argument::Scalar(None)) => {
                return None;
            }
            (Type::Pointer(_) | Type::ConstPointer(_) | Type::SizePointer, _) => return None,
            (Type::Scalar(e), Argument::Scalar(Some(has))) if e == *has => 2,
            (Type::Scalar(e), Argument::Scalar(Some(has))) => usize::from(e.is_float() == has.is_float()),
            _ => usize::from(param.role == Role::Vl),
        };
    }
    Some(score)
}
