//! Operands: values that are there already, fresh loads, comparisons, scalars.

use crate::builder::{Builder, Live, arg};
use crate::lookup::Lookup;
use crate::vl_class::exists_at;
use rvv_intrinsics::{Elem, Intrinsic, Param, Role, Sem, Type, VecType};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::{Arg, BufferKind, Call, Expr, Stmt, Var};

impl Builder<'_> {
    /// The argument for a parameter that is not part of an address.
    pub fn argument(&mut self, intrinsic: &'static Intrinsic, param: &Param, depth: u32) -> Arg {
        match (param.role, param.ty) {
            (Role::Uimm | Role::Position | Role::Frm | Role::Vxrm, _) => {
                let range = intrinsic.constants(param.role).unwrap_or(0..=0);
                let value = range.start() + self.rng.below((range.end() - range.start() + 1) as usize) as u64;
                Arg::Expr(Expr::Const(value))
            }
            (Role::Vl, _) => arg(self.span(crate::class(intrinsic).ratio).vl),
            (Role::Avl, _) => {
                let most = 3 * self.len;
                let value = self.rng.below(most + 1) as u64;
                arg(self.number(value))
            }
            (Role::Vs1, Type::Vector(ty)) if intrinsic.sem == Sem::Gather => Arg::Var(self.gather_index(ty)),
            (_, Type::Vector(ty)) => Arg::Var(self.vector(ty, false, depth)),
            (role, Type::Mask(n)) => {
                let memory = role == Role::Mask && intrinsic.sem.accesses_memory();
                Arg::Var(self.mask(n.into(), memory, depth))
            }
            (_, Type::Scalar(elem)) => self.scalar(elem),
            _ => {
                let value = self.amount(intrinsic);
                arg(self.number(value))
            }
        }
    }

    /// A scalar operand.
    fn scalar(&mut self, elem: Elem) -> Arg {
        if self.rng.below(2) == 0
            && let Some(live) = self.find_live(Type::Scalar(elem), true)
        {
            return Arg::Var(live.var);
        }
        let corner = self.chance(self.weights.corner) && !(self.finite && elem.is_float());
        let distribution = if corner { Distribution::Mix } else { Distribution::Small };
        let value = distribution.draw(elem, self.rng.data());
        if self.chance(self.weights.literal) {
            Arg::Expr(Expr::Const(value))
        } else {
            Arg::Var(self.param(Type::Scalar(elem), value))
        }
    }

    /// What a `size_t` operand counts: bits of a shift, elements of a slide, the index of a gather.
    fn amount(&mut self, intrinsic: &Intrinsic) -> u64 {
        let usual = match intrinsic.sem {
            Sem::Slideup | Sem::Slidedown | Sem::Gather => self.len + 2,
            _ => 70,
        };
        match self.rng.below(16) {
            0 => self.rng.bits(),
            1 => 0,
            _ => self.rng.below(usual) as u64,
        }
    }

    /// A vector or tuple of this type.
    pub fn vector(&mut self, ty: VecType, defined: bool, depth: u32) -> Var {
        if self.chance(self.weights.reuse) {
            // Undefined elements say little: a value that has none comes first.
            let found = self
                .find_live(Type::Vector(ty), true)
                .or_else(|| if defined { None } else { self.find_live(Type::Vector(ty), false) });
            if let Some(Live { var, .. }) = found {
                return var;
            }
        }
        if ty.nf == 1
            && depth < 2
            && self.chance(self.weights.produce)
            && let Some(var) = self.produce(Type::Vector(ty), depth)
            && (!defined || self.is_defined(&Arg::Var(var)))
        {
            return var;
        }
        self.load(ty, depth)
    }

    /// A value of this type by an operation, on results that are there if any suit.
    fn produce(&mut self, ty: Type, depth: u32) -> Option<Var> {
        let made = Lookup::get().made.get(&ty)?;
        let smallest = self.settings.smallest_vlen();
        let mut found: Option<&'static Intrinsic> = None;
        for _ in 0..12 {
            let intrinsic = *self.rng.pick(made)?;
            let suits = crate::class(intrinsic).ratio == self.class.ratio
                && exists_at(intrinsic, smallest)
                && self.settings.may_feed(intrinsic);
            if !suits {
                continue;
            }
            let there = |p: &&Param| {
                matches!(p.role, Role::Vs2 | Role::Vs1 | Role::Acc)
                    && self.live.iter().any(|l| l.ty == p.ty && l.chain > 0 && l.defined)
            };
            let is_fed = intrinsic.params.iter().any(|p| there(&p));
            if is_fed {
                found = Some(intrinsic);
                break;
            }
            found = found.or(Some(intrinsic));
        }
        let intrinsic = found?;
        let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
        self.call(intrinsic, overloaded, depth + 1)
    }

    /// Indices for a gather: most of them in the vector.
    fn gather_index(&mut self, ty: VecType) -> Var {
        let span = self.span(ty.ratio());
        let limit = span.count as u64 + 2;
        let init = Init::Seed(self.rng.bits() >> 32, Distribution::Below { limit, step: 1 });
        let buffer = self.buffer(BufferKind::Data, ty.elem, span.count, init);
        self.load_plain(ty, buffer, span.at(1))
    }

    /// A mask. That of a memory operation must be defined wherever it is looked at.
    pub fn mask(&mut self, n: u32, defined: bool, depth: u32) -> Var {
        let ty = Type::Mask(n as u8);
        if self.chance(self.weights.reuse)
            && let Some(live) = self.find_live(ty, true)
        {
            return live.var;
        }
        if depth < 2 && n == self.class.ratio && self.chance(self.weights.compare) {
            let made = if self.rng.below(4) == 0 { self.produce(ty, depth) } else { None };
            let var = made.unwrap_or_else(|| self.compare(n, depth + 1));
            if self.is_defined(&Arg::Var(var)) || !defined {
                return var;
            }
        }
        let span = self.span(n);
        let init = Init::Seed(self.rng.bits() >> 32, Distribution::Bits);
        let buffer = self.buffer(BufferKind::Data, Elem::U8, span.count, init);
        let intrinsic = Lookup::get().mask_load[&n];
        let dst = self.var(ty);
        let args = vec![Arg::Addr(buffer, span.at(1)), arg(span.vl)];
        self.body.push(Stmt::Call(Call { dst: Some(dst), intrinsic, overloaded: false, args }));
        self.assign(dst, ty, true);
        dst
    }

    /// A mask made by a comparison.
    fn compare(&mut self, n: u32, depth: u32) -> Var {
        let compares = &Lookup::get().compares[&n];
        let wanted: Vec<&'static Intrinsic> =
            compares.iter().copied().filter(|i| self.settings.may_feed(i)).collect();
        let from = if wanted.is_empty() { compares } else { &wanted };
        let intrinsic = from[self.rng.below(from.len())];
        let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
        self.call(intrinsic, overloaded, depth).unwrap_or_else(|| self.var(Type::Mask(n as u8)))
    }
}
