//! What may share a program: intrinsics of one SEW/LMUL ratio, so that one vl serves them all.

use rvv_intrinsics::{Intrinsic, Role, Sem, Type, VecType};

/// What an intrinsic asks of the program around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// Nothing.
    Plain,
    /// A vl that is a multiple of this: it works on element groups.
    Groups(u8),
    /// Whole register groups, as vget and vset of parts do: vl must be VLMAX to fill them.
    Whole,
}

/// The programs that can have an intrinsic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Class {
    /// SEW/LMUL: VLMAX is VLEN divided by it.
    pub ratio: u32,
    /// What else it asks for.
    pub kind: Kind,
}

fn ratio(ty: Type) -> Option<u32> {
    ty.vector().map(VecType::ratio).or(ty.mask())
}

/// The class of an intrinsic.
pub fn class(intrinsic: &Intrinsic) -> Class {
    let of = |role: Role| intrinsic.param(role).and_then(|p| ratio(p.ty));
    let largest = || {
        let params = intrinsic.params.iter().filter_map(|p| ratio(p.ty));
        params.chain(ratio(intrinsic.ret)).max().unwrap_or(8)
    };
    let plain = |ratio| Class { ratio, kind: Kind::Plain };
    if let Some(group) = intrinsic.sem.group_size() {
        return Class { ratio: ratio(intrinsic.ret).unwrap_or(8), kind: Kind::Groups(group) };
    }
    match intrinsic.sem {
        Sem::Get | Sem::Set | Sem::Create => {
            let tuple = |ty: Type| ty.vector().is_some_and(|v| v.nf > 1);
            let tuples = tuple(intrinsic.ret) || intrinsic.params.iter().any(|p| tuple(p.ty));
            Class { ratio: largest(), kind: if tuples { Kind::Plain } else { Kind::Whole } }
        }
        Sem::Reinterpret | Sem::LmulExt | Sem::LmulTrunc => plain(largest()),
        Sem::Setvl | Sem::Setvlmax => plain(ratio(intrinsic.ty).unwrap_or(8)),
        // A reduction's result is of LMUL 1, whatever it sums.
        sem if sem.is_reduction() => plain(of(Role::Vs2).unwrap_or(8)),
        _ => {
            let operand = || of(Role::Data).or(of(Role::Vs2)).or(of(Role::Vs1));
            plain(ratio(intrinsic.ret).or_else(operand).unwrap_or(8))
        }
    }
}

/// Whether it has a meaning at this VLEN.
pub fn exists_at(intrinsic: &Intrinsic, vlen: u32) -> bool {
    let group = intrinsic.sem.group_size().map_or(1, u32::from);
    let fits = |ty: Type| ratio(ty).is_none_or(|r| vlen / r >= group);
    fits(intrinsic.ret) && intrinsic.params.iter().all(|p| fits(p.ty))
}
