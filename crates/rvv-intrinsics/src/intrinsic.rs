//! One intrinsic: its names, its types, the part each parameter plays.

use crate::expand::elem;
use crate::{Elem, Sem, Type};
use rvv_isa::{Ext, Op, Shape};
use std::ops::RangeInclusive;

/// The official list that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Extension {
    /// The ratified `v` set (Zvfh's `_Float16` included).
    V,
    /// Zvfbfmin and Zvfbfwma.
    Bf16,
    /// The vector crypto extensions.
    Crypto,
}

impl Extension {
    /// All of them.
    pub const ALL: [Extension; 3] = [Extension::V, Extension::Bf16, Extension::Crypto];

    /// As the official lists call it.
    pub fn name(self) -> &'static str {
        match self {
            Extension::V => "v",
            Extension::Bf16 => "bf16",
            Extension::Crypto => "crypto",
        }
    }

    /// From [`Extension::name`].
    pub fn from_name(name: &str) -> Option<Extension> {
        Extension::ALL.into_iter().find(|e| e.name() == name)
    }
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
    #[inline]
    pub fn tail_undisturbed(self) -> bool {
        matches!(self, Policy::Tu | Policy::Tum | Policy::Tumu)
    }

    /// Masked-off elements keep vd's.
    #[inline]
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

/// The last source of the instruction, where no parameter is it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Implied {
    /// `x0`: `vneg` is `vrsub.vx vd,vs2,zero`.
    Zero,
    /// The immediate -1: `vnot` is `vxor.vi vd,vs2,-1`.
    MinusOne,
    /// vs2 once more: `vfneg` is `vfsgnjn.vv vd,vs2,vs2`.
    Vs2,
    /// All operands are the same register, whatever it holds: `vmclr` is `vmxor.mm vd,vd,vd`.
    Vd,
}

/// What all members of a family have in common.
#[derive(Debug, PartialEq, Eq)]
pub struct Info {
    /// Rounds by frm: by the parameter, or else by what the register holds.
    pub rounds: bool,
    /// Rounds by vxrm.
    pub rounds_fixed: bool,
    /// The least and the largest `uimm`.
    pub uimm: Option<[u64; 2]>,
    /// The instruction's last source, where no parameter is it.
    pub implied: Option<Implied>,
    /// What makes a call undefined, in words, beyond what holds for all (`isa/intrinsics/README.md`).
    pub undefined: Option<&'static str>,
    pub(crate) requires: &'static [Ext],
    pub(crate) requires_f16: &'static [Ext],
    pub(crate) requires_bf16: &'static [Ext],
}

/// An intrinsic, under its explicit name and, where there is one, its overloaded name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intrinsic {
    /// Its place in [`crate::all`].
    pub id: u32,
    /// The list that has it.
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
    /// The type variable of its family, which its name shows: `i32m1`. Of vsetvl, unsigned elements of the
    /// SEW and LMUL asked for.
    pub ty: Type,
    /// What it returns.
    pub ret: Type,
    /// What it takes.
    pub params: Box<[Param]>,
    /// The policy its name asks for.
    pub policy: Policy,
    /// What it shares with its family.
    pub info: &'static Info,
}

/// How many of the second type the first is made of, if they are a tuple or register group and a part of it.
pub(crate) fn parts(whole: Type, part: Type) -> u8 {
    match (whole, part) {
        (Type::Vector(w), Type::Vector(_)) if w.nf > 1 => w.nf,
        (Type::Vector(w), Type::Vector(p)) if w.lmul >= p.lmul => 1 << (w.lmul.log2() - p.lmul.log2()),
        _ => 1,
    }
}

impl Intrinsic {
    /// The position of the parameter with this role.
    #[inline]
    pub fn position(&self, role: Role) -> Option<usize> {
        self.params.iter().position(|p| p.role == role)
    }

    /// The parameter with this role.
    #[inline]
    pub fn param(&self, role: Role) -> Option<&Param> {
        self.params.iter().find(|p| p.role == role)
    }

    /// What the table says of the operands of its instruction; [`Shape::NONE`] if it is none.
    pub fn shape(&self) -> &'static Shape {
        self.instruction.map_or(&Shape::NONE, Op::shape)
    }

    /// Has a mask operand.
    pub fn is_masked(&self) -> bool {
        self.param(Role::Mask).is_some()
    }

    /// Is in the `-policy` lists.
    pub fn has_policy(&self) -> bool {
        self.policy != Policy::Default
    }

    /// The values that the constant parameter with this role can have: [`Role::Uimm`], [`Role::Position`],
    /// [`Role::Frm`] (the static rounding modes) and [`Role::Vxrm`].
    pub fn constants(&self, role: Role) -> Option<RangeInclusive<u64>> {
        self.param(role)?;
        match role {
            Role::Uimm => self.info.uimm.map(|[least, largest]| least..=largest),
            Role::Position => {
                let source = self.param(Role::Source)?.ty;
                let part = self.param(Role::Value).map_or(self.ret, |p| p.ty);
                Some(0..=u64::from(parts(source, part)) - 1)
            }
            Role::Frm => Some(0..=4),
            Role::Vxrm => Some(0..=3),
            _ => None,
        }
    }

    /// Rounds by frm: by the parameter if there is one, else by what the register holds.
    pub fn uses_frm(&self) -> bool {
        self.info.rounds
    }

    /// Rounds by vxrm, which is always a parameter.
    pub fn uses_vxrm(&self) -> bool {
        self.info.rounds_fixed
    }

    /// The extensions it needs beyond V.
    pub fn requires(&self) -> &'static [Ext] {
        let has = |e: Elem| {
            let is = |ty: Type| elem(ty) == Some(e);
            is(self.ty) || is(self.ret) || self.params.iter().any(|p| is(p.ty))
        };
        if has(Elem::F16) {
            self.info.requires_f16
        } else if has(Elem::Bf16) {
            self.info.requires_bf16
        } else {
            self.info.requires
        }
    }
}
