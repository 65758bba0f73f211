//! Loads and stores with their buffers.

use crate::builder::{Builder, arg};
use crate::lookup::{Lookup, pointee};
use rvv_intrinsics::{Elem, Intrinsic, Role, Sem, Type, VecType};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::{Arg, BufferKind, Call, Expr, Stmt, Var, put_elem};

/// Where an access goes.
pub struct Access {
    pub base: Arg,
    pub stride: Option<Arg>,
    pub index: Option<Arg>,
}

impl Builder<'_> {
    /// A fresh value of this type, by a load.
    pub fn load(&mut self, ty: VecType, depth: u32) -> Var {
        let weights = self.weights.clone();
        let (segments, chain) = (weights.segments, weights.chain);
        if depth == 0
            && ty.nf == 1
            && self.chance(segments)
            && let Some(var) = self.load_field(ty)
        {
            return var;
        }
        if depth == 0 || (depth < 3 && self.chance(chain)) {
            let loads = &Lookup::get().loads[&ty];
            let wanted: Vec<&'static Intrinsic> =
                loads.iter().copied().filter(|i| self.settings.may_feed(i)).collect();
            if let Some(&intrinsic) = self.rng.pick(&wanted) {
                let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
                if let Some(var) = self.call(intrinsic, overloaded, depth + 1) {
                    return var;
                }
            }
        }
        let span = self.span(ty.ratio());
        let fields = usize::from(ty.nf);
        let buffer = self.input(ty.elem, span.count * fields);
        self.load_plain(ty, buffer, span.at(fields))
    }

    /// A tuple type of which this is a field.
    fn tuple_of(&mut self, ty: VecType) -> Option<VecType> {
        let tuple = |nf| VecType { nf, ..ty };
        let tuples: Vec<VecType> = (2..=8).map(tuple).filter(|t| t.exists()).collect();
        self.rng.pick(&tuples).copied()
    }

    /// A field of a tuple that is loaded by a segment load, or is there already.
    fn load_field(&mut self, ty: VecType) -> Option<Var> {
        let tuple = self.tuple_of(ty)?;
        let intrinsic = self.allowed(Lookup::get().get.get(&tuple)?)?;
        let source = self.vector(tuple, false, 0);
        let field = self.rng.below(tuple.nf.into()) as u64;
        let args = vec![Arg::Var(source), Arg::Expr(Expr::Const(field))];
        let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
        let dst = self.var(Type::Vector(ty));
        let defined = self.is_defined(&Arg::Var(source));
        let chain = self.chain_of(intrinsic, &args);
        self.body.push(Stmt::Call(Call { dst: Some(dst), intrinsic, overloaded, args }));
        self.assign_result(dst, Type::Vector(ty), defined, chain);
        Some(dst)
    }

    /// The vector as a field of a tuple, among others that are there already.
    fn in_tuple(&mut self, ty: VecType, var: Var) -> Option<(VecType, Var)> {
        let tuple = self.tuple_of(ty)?;
        let intrinsic = self.allowed(Lookup::get().create.get(&tuple)?)?;
        let place = self.rng.below(tuple.nf.into());
        let mut args = Vec::new();
        for field in 0..usize::from(tuple.nf) {
            let other = self.find_live(Type::Vector(ty), true).map_or(var, |live| live.var);
            args.push(Arg::Var(if field == place { var } else { other }));
        }
        let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
        let dst = self.var(Type::Vector(tuple));
        let defined = self.is_defined(&Arg::Var(var));
        let chain = self.chain_of(intrinsic, &args);
        self.body.push(Stmt::Call(Call { dst: Some(dst), intrinsic, overloaded, args }));
        self.assign_result(dst, Type::Vector(tuple), defined, chain);
        Some((tuple, dst))
    }

    /// A unit-stride load, unmasked.
    pub fn load_plain(&mut self, ty: VecType, buffer: usize, at: Expr) -> Var {
        let intrinsic = Lookup::get().plain_load[&ty];
        let dst = self.var(Type::Vector(ty));
        let vl = arg(self.span(ty.ratio()).vl);
        let args = vec![Arg::Addr(buffer, at), vl];
        self.body.push(Stmt::Call(Call { dst: Some(dst), intrinsic, overloaded: false, args }));
        self.assign(dst, Type::Vector(ty), true);
        dst
    }

    /// Makes a value's defined part visible: a store, or a put.
    pub fn store(&mut self, var: Var) {
        self.mark_used(var);
        match self.program.main.ty(var) {
            Type::Vector(ty) => {
                let index = Lookup::get();
                let in_tuple = ty.nf == 1 && self.chance(self.weights.segments);
                let tuple = if in_tuple { self.in_tuple(ty, var) } else { None };
                let (ty, var) = tuple.unwrap_or((ty, var));
                let wanted: Vec<&'static Intrinsic> =
                    index.stores[&ty].iter().copied().filter(|i| self.settings.may_feed(i)).collect();
                let intrinsic = self.rng.pick(&wanted).copied().unwrap_or(index.plain_store[&ty]);
                let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
                self.store_by(intrinsic, overloaded, var);
            }
            Type::Mask(n) => self.store_by(Lookup::get().mask_store[&u32::from(n)], false, var),
            ty => {
                let Some(elem) = put_elem(ty) else { return };
                let span = self.span(self.class.ratio);
                let buffer = self.output(elem, span.count);
                self.body.push(Stmt::Put { buffer, at: span.at(1), value: var });
            }
        }
    }

    /// A store of this variable by this intrinsic.
    pub fn store_by(&mut self, intrinsic: &'static Intrinsic, overloaded: bool, var: Var) {
        self.mark_used(var);
        let access = self.access(intrinsic);
        let args = intrinsic
            .params
            .iter()
            .map(|param| match param.role {
                Role::Data => Arg::Var(var),
                Role::Base => access.base.clone(),
                Role::Stride => access.stride.clone().unwrap_or(Arg::Expr(Expr::Const(0))),
                Role::Index => access.index.clone().unwrap_or(Arg::Expr(Expr::Const(0))),
                _ => self.argument(intrinsic, param, 1),
            })
            .collect();
        self.body.push(Stmt::Call(Call { dst: None, intrinsic, overloaded, args }));
    }

    /// Buffer, stride and indices for an access by this intrinsic, inside bounds at every VLEN.
    pub fn access(&mut self, intrinsic: &'static Intrinsic) -> Access {
        let store = intrinsic.sem.is_store();
        let none = |base| Access { base, stride: None, index: None };
        let elem = intrinsic.param(Role::Base).and_then(|p| pointee(p.ty)).unwrap_or(Elem::U8);
        let data = if store { intrinsic.param(Role::Data).map(|p| p.ty) } else { Some(intrinsic.ret) };
        let (ratio, fields) = match data {
            Some(Type::Vector(ty)) => (ty.ratio(), usize::from(ty.nf)),
            Some(Type::Mask(n)) => (n.into(), 1),
            _ => (self.class.ratio, 1),
        };
        let span = self.span(ratio);
        let size = elem.bytes() as usize;
        match intrinsic.sem {
            Sem::LoadStrided | Sem::StoreStrided => {
                let weights = self.weights.clone();
                let (negative, zero) = (weights.negative, weights.zero);
                if self.chance(zero) {
                    let buffer = self.data_buffer(store, elem, span.count * fields);
                    let stride = self.number(0);
                    return Access {
                        base: Arg::Addr(buffer, span.at(fields)),
                        stride: Some(arg(stride)),
                        index: None,
                    };
                }
                let step = fields * (1 + self.rng.below(3));
                let buffer = self.data_buffer(store, elem, span.count * step);
                let bytes = (step * size) as i64;
                let (base, bytes) =
                    if self.chance(negative) { (span.down(step), -bytes) } else { (span.at(step), bytes) };
                let stride = self.number(bytes as u64);
                Access { base: Arg::Addr(buffer, base), stride: Some(arg(stride)), index: None }
            }
            Sem::LoadOrdered | Sem::LoadUnordered | Sem::StoreOrdered | Sem::StoreUnordered => {
                let Some(ty) = intrinsic.param(Role::Index).and_then(|p| p.ty.vector()) else {
                    return none(Arg::Expr(Expr::Const(0)));
                };
                let step = (fields * size) as u64;
                let reach = 1u128 << ty.elem.bits();
                let limit = (span.count as u128 * u128::from(step)).min(reach) as u64;
                let once = u128::from(step) * span.count as u128 <= reach;
                let distribution = if store && once && self.rng.below(4) != 0 {
                    Distribution::Permute { step }
                } else {
                    Distribution::Below { limit, step }
                };
                let init = Init::Seed(self.rng.bits() >> 32, distribution);
                let offsets = self.buffer(BufferKind::Data, ty.elem, span.count, init);
                let index = self.load_plain(ty, offsets, span.at(1));
                let buffer = self.data_buffer(store, elem, span.count * fields);
                let base = Arg::Addr(buffer, Expr::Const(0));
                Access { base, stride: None, index: Some(Arg::Var(index)) }
            }
            _ => {
                let len = span.count * fields;
                if !store
                    && intrinsic.sem == Sem::Load
                    && self.chance(self.weights.stencil)
                    && let Some(access) = self.stencil(elem, len, &span.at(fields))
                {
                    return none(access);
                }
                let buffer = self.data_buffer(store, elem, len);
                none(Arg::Addr(buffer, span.at(fields)))
            }
        }
    }

    /// A buffer to load from or to store to.
    fn data_buffer(&mut self, store: bool, elem: Elem, len: usize) -> usize {
        if !store {
            return self.input(elem, len);
        }
        if self.chance(self.weights.overlap) {
            let fits = |b: &rvv_ir::Buffer| b.kind == BufferKind::Out && b.elem == elem && b.len >= len;
            let found: Vec<usize> =
                (0..self.program.buffers.len()).filter(|&i| fits(&self.program.buffers[i])).collect();
            if let Some(&buffer) = self.rng.pick(&found) {
                return buffer;
            }
        }
        self.output(elem, len)
    }

    /// A place in a buffer that another load reads too, some elements off.
    fn stencil(&mut self, elem: Elem, len: usize, at: &Expr) -> Option<Arg> {
        let fits = |i: &usize| self.program.buffers[*i].elem == elem && self.program.buffers[*i].len >= len;
        let found: Vec<usize> = self.inputs.iter().copied().filter(fits).collect();
        let buffer = *self.rng.pick(&found)?;
        // Room for two neighbours. Growing a seeded buffer keeps what it held.
        self.program.buffers[buffer].len = self.program.buffers[buffer].len.max(len + 2);
        let offset = self.rng.below(3) as u64;
        let at = match at {
            Expr::Const(c) => Expr::Const(c + offset),
            at if offset == 0 => at.clone(),
            at => Expr::Add(Box::new(at.clone()), Box::new(Expr::Const(offset))),
        };
        Some(Arg::Addr(buffer, at))
    }
}
