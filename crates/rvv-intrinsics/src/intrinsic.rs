//! One intrinsic: its names, its types, the part each parameter plays.

use crate::{Sem, Type};
use rvv_isa::Op;

/// Which of the official lists it stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extension {
    /// The ratified `v` set (Zvfh's `_Float16` included).
    V,
    /// Zvfbfmin and Zvfbfwma.
    Bf16,
    /// The vector crypto extensions.
    Crypto,
}

/// What happens to tail and masked-off elements (intrinsic spec, "Policy").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Policy {
    /// No suffix: tail agnostic; masked off agnostic.
    Default,
    /// `_tu`: unmasked, tail undisturbed.
    Tu,
    /// `_tum`: tail undisturbed, masked off agnostic.
    Tum,
    /// `_tumu`: both undisturbed.
    Tumu,
    /// `_mu`: tail agnostic, masked off undisturbed.
    Mu,
}

impl Policy {
    /// The tail keeps vd's elements.
    pub fn tail_undisturbed(self) -> bool {
        matches!(self, Policy::Tu | Policy::Tum | Policy::Tumu)
    }

    /// Masked-off elements keep vd's.
    pub fn mask_undisturbed(self) -> bool {
        matches!(self, Policy::Mu | Policy::Tumu)
    }
}

/// The part a parameter plays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Role {
    /// `vm`: which elements are active.
    Mask,
    /// `vd`, where it only supplies what is not written.
    Dest,
    /// `vd`, where it is an operand as well: multiply-add, vslideup, most crypto.
    Acc,
    /// `vs2`
    Vs2,
    /// `vs1`, the vector `op1`.
    Vs1,
    /// `rs1`, the scalar `op1`; also the amount of a shift or slide and the index of a `vx` gather.
    Scalar,
    /// `v0`, where it is data: the carry of vadc, the selector of vmerge.
    Carry,
    /// `uimm`: must be a constant.
    Uimm,
    /// `frm`: must be a constant.
    Frm,
    /// `vxrm`: must be a constant.
    Vxrm,
    /// `vl`
    Vl,
    /// `avl`
    Avl,
    /// The address of a load or store.
    Base,
    /// The byte stride.
    Stride,
    /// The byte offsets.
    Index,
    /// Where a fault-only-first load puts the new vl.
    NewVl,
    /// `vs3`, what is stored.
    Data,
    /// Part `n` of what vcreate makes.
    Part(u8),
    /// What vget takes from, vset replaces in, vreinterpret and vlmul convert.
    Source,
    /// Which part: must be a constant.
    Position,
    /// What vset puts in.
    Value,
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its part.
    pub role: Role,
    /// Its type.
    pub ty: Type,
    /// Its name in the official list.
    pub name: &'static str,
}

/// An intrinsic, under its explicit name and, where there is one, its overloaded name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intrinsic {
    /// Its place in [`crate::all`].
    pub id: u32,
    /// The list it stands in.
    pub extension: Extension,
    /// The section of the list, as an index into [`crate::SECTIONS`].
    pub section: u8,
    /// The family that made it: `vadd_vv`. Masked, policy and `_rm` forms share it.
    pub family: &'static str,
    /// What it means.
    pub sem: Sem,
    /// The instruction that does it, for those that are one.
    pub instruction: Option<Op>,
    /// The instruction takes vs2 and op1 in the opposite order (`vmsgt.vv` is `vmslt.vv` swapped).
    pub swapped: bool,
    /// `__riscv_vadd_vv_i32m1_tum`
    pub name: Box<str>,
    /// `__riscv_vadd_tum`; some have none (`vle32_v_i32m1`, `vundefined`).
    pub overloaded: Option<Box<str>>,
    /// What it returns.
    pub ret: Type,
    /// What it takes.
    pub params: Box<[Param]>,
    /// The policy its name asks for.
    pub policy: Policy,
}

impl Intrinsic {
    /// The position of the parameter with this role.
    pub fn position(&self, role: Role) -> Option<usize> {
        self.params.iter().position(|p| p.role == role)
    }

    /// The parameter with this role.
    pub fn param(&self, role: Role) -> Option<&Param> {
        self.params.iter().find(|p| p.role == role)
    }

    /// Has a mask operand.
    pub fn is_masked(&self) -> bool {
        self.param(Role::Mask).is_some()
    }

    /// Stands in the `-policy` lists.
    pub fn has_policy(&self) -> bool {
        self.policy != Policy::Default
    }
}
