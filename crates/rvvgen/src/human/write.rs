//! Writes a program of what people do.

use super::model::{Human, members, role_name, weighted};
use crate::generate::Settings;
use crate::rng::Rng;
use crate::stats::is_operation;
use crate::{class, exists_at};
use rvv_intrinsics::{Elem, Intrinsic, Policy, Role, Sem, Type, VecType, by_name};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::loops::{Binary, CExpr, Loop, Pragma, Target, Unary};
use rvv_ir::{Arg, Buffer, BufferKind, Call, Compare, Expr, Program, Stmt, Var, put_elem};
use rvv_isa::Lmul;

/// A value that is there.
#[derive(Clone)]
struct Live {
    var: Var,
    ty: Type,
    family: &'static str,
    uses: usize,
}

/// The length of calls in a part of a program, and where its elements are.
#[derive(Clone)]
struct Place {
    ratio: u32,
    vl: Expr,
    /// The first element; none is 0.
    at: Option<Var>,
    /// Elements in all.
    len: usize,
}

struct Writer<'s> {
    human: &'s Human,
    settings: &'s Settings,
    rng: Rng,
    program: Program,
    out: Vec<Stmt>,
    live: Vec<Live>,
    place: Place,
    operations: usize,
    finite: bool,
}

/// How deep an operand of an operand is made.
const DEEPEST: usize = 3;
/// A loop that is left from within.
const ENDLESS: i64 = 1 << 40;

/// Program `k` of a seed; none if the selection has nothing that the table knows.
pub fn program(seed: u64, k: u64, settings: &Settings, human: &Human) -> Option<Program> {
    let mut rng = Rng::new(&[seed, k, 0x4a7a]);
    let loops = human.number("loops-per-function", &mut rng);
    let operations = human.number("operations-per-function", &mut rng);
    let finite = rng.chance(settings.weights.finite);
    let mut program = Program::default();
    program.main.name = "main".to_string();
    program.comment = vec![format!("rvvgen, seed {seed}, program {k}, as people write")];
    let place = Place { ratio: 8, vl: Expr::Const(1), at: None, len: 1 };
    let mut writer = Writer {
        human,
        settings,
        rng,
        program,
        out: Vec::new(),
        live: Vec::new(),
        place,
        operations: 0,
        finite,
    };
    // A loop around others is no part by itself.
    let parts = loops.clamp(1, 6);
    for part in 0..parts {
        let goal = operations * (part + 1) / parts;
        writer.part(loops > 0, goal)?;
    }
    writer.program.main.body = std::mem::take(&mut writer.out);
    let prints = writer.program.outputs().next().is_some();
    // As a file of it is read: parameters are the first variables.
    writer.program.to_string().parse().ok().filter(|_| prints)
}

impl Writer<'_> {
    fn var(&mut self, prefix: &str, ty: Type) -> Var {
        let name = format!("{prefix}{}", self.program.main.vars.len());
        self.program.main.var(name, ty)
    }

    fn param(&mut self, ty: Type, value: u64) -> Var {
        let var = self.var("p", ty);
        self.program.params.push((var, value));
        var
    }

    fn set(&mut self, var: Var, value: CExpr) {
        self.out.push(Stmt::Set { target: Target::Var(var), value });
    }

    fn buffer(&mut self, kind: BufferKind, elem: Elem, len: usize, init: Init) -> usize {
        let prefix = if kind == BufferKind::Out { "out" } else { "in" };
        let name = format!("{prefix}{}", self.program.buffers.len());
        let buffer = Buffer { name, elem, truths: false, len: len.max(1), dims: Vec::new(), kind, init };
        self.program.buffers.push(buffer);
        self.program.buffers.len() - 1
    }

    fn input(&mut self, elem: Elem, len: usize) -> usize {
        let distribution = match elem.is_float() && (self.finite || self.rng.below(2) == 0) {
            true => Distribution::Small,
            false => *self.rng.pick(&[Distribution::Bits, Distribution::Mix]).unwrap_or(&Distribution::Bits),
        };
        let init = Init::Seed(self.rng.bits() >> 32, distribution);
        self.buffer(BufferKind::Data, elem, len, init)
    }

    fn wants(&self, intrinsic: &Intrinsic) -> bool {
        self.settings.may_feed(intrinsic) && exists_at(intrinsic, self.settings.smallest_vlen())
    }

    /// The type that a loop is about: one that vsetvl has.
    fn base(&mut self) -> Option<VecType> {
        for _ in 0..20 {
            let name = self.human.draw("types", &mut self.rng)?;
            let Some(ty) = VecType::from_short(name) else { continue };
            let loads = by_name(&format!("__riscv_vle{}_v_{}", ty.elem.bits(), ty.field().short()));
            if loads.is_some_and(|i| self.wants(i)) {
                return Some(ty.field());
            }
        }
        None
    }

    fn setvl(&self, ty: VecType, max: bool) -> Option<&'static Intrinsic> {
        let name = if max { "vsetvlmax" } else { "vsetvl" };
        by_name(&format!("__riscv_{name}_e{}{}", ty.elem.bits(), ty.lmul))
    }

    fn call(&mut self, dst: Option<Var>, intrinsic: &'static Intrinsic, args: Vec<Arg>) {
        let wants = |overloaded| self.settings.selection.wants(intrinsic, overloaded);
        let share = self.human.table().count("names", "overloaded") as f64
            / self.human.table().total("names").max(1) as f64;
        let drawn = self.rng.chance(share);
        let overloaded = intrinsic.overloaded.is_some()
            && wants(true)
            && (drawn || !wants(false))
            && !is_length(intrinsic);
        self.out.push(Stmt::Call(Call { dst, intrinsic, overloaded, args }));
    }

    /// A loop, or a block without one, with operations until there are as many as asked for.
    fn part(&mut self, looped: bool, goal: usize) -> Option<()> {
        let ty = self.base()?;
        let shape = match looped {
            true => self.human.draw("loops", &mut self.rng).unwrap_or("strip, counting up").to_string(),
            false => "none".to_string(),
        };
        // Lengths such that strips run once, some times and with a rest.
        let vlmax = (self.settings.largest_vlen() / ty.ratio()) as usize;
        let len = match self.settings.len {
            crate::Lengths::Range(sizes) => sizes.draw(&mut self.rng),
            crate::Lengths::Strips => 1 + self.rng.below(3 * vlmax.min(200)),
        };
        self.live.clear();
        self.place = Place { ratio: ty.ratio(), vl: Expr::Const(1), at: None, len };
        let setvl = self.setvl(ty, false)?;
        let setvlmax = self.setvl(ty, true)?;
        let n = self.param(Type::Size, len as u64);
        match shape.as_str() {
            "strip, counting up" | "strip, other" => self.counting_up(ty, n, goal),
            "strip, counting down" => self.counting_down(setvl, n, goal),
            "VLMAX, with a remainder" => {
                let (left, at, vl) =
                    (self.var("n", Type::Size), self.var("at", Type::Size), self.var("vl", Type::Size));
                self.set(left, CExpr::Var(n));
                self.set(at, CExpr::int(Elem::U64, 0));
                self.out.push(call(Some(vl), setvlmax, Vec::new()));
                let half = self.operations + (goal.saturating_sub(self.operations)).div_ceil(2);
                let body = self.inside(|w| {
                    w.leave_if(CExpr::binary(Binary::Lt, CExpr::Var(left), CExpr::Var(vl)));
                    w.place.vl = Expr::Var(vl);
                    w.place.at = Some(at);
                    w.body(half);
                    w.step(Binary::Add, at, vl);
                    w.step(Binary::Sub, left, vl);
                });
                self.endless(body);
                // The rest.
                let rest = self.var("vl", Type::Size);
                self.out.push(call(Some(rest), setvl, vec![Arg::Var(left)]));
                self.place.vl = Expr::Var(rest);
                self.place.at = Some(at);
                self.live.clear();
                self.body(goal);
            }
            "around others" => {
                let rows = 2 + self.rng.below(3);
                let index = self.var("row", Type::Size);
                let down = self.human.table().count("loops", "strip, counting down");
                let up = self.human.table().count("loops", "strip, counting up");
                let is_up = self.rng.chance(up as f64 / up.saturating_add(down).max(1) as f64);
                let body = self.inside(|w| match is_up {
                    true => w.counting_up(ty, n, goal),
                    false => w.counting_down(setvl, n, goal),
                });
                self.out.push(Stmt::For { index, count: Expr::Const(rows as u64), body });
            }
            "VLMAX" | "vl from before" => {
                let vl = self.var("vl", Type::Size);
                let (setvl, args) = match shape.as_str() {
                    "VLMAX" => (setvlmax, Vec::new()),
                    _ => (setvl, vec![Arg::Var(n)]),
                };
                self.out.push(call(Some(vl), setvl, args));
                let rows = 2 + self.rng.below(4);
                self.place.len = rows * vlmax;
                let (index, at) = (self.var("row", Type::Size), self.var("at", Type::Size));
                self.set(at, CExpr::int(Elem::U64, 0));
                let body = self.inside(|w| {
                    w.place.vl = Expr::Var(vl);
                    w.place.at = Some(at);
                    w.body(goal);
                    w.step(Binary::Add, at, vl);
                });
                self.out.push(Stmt::For { index, count: Expr::Const(rows as u64), body });
            }
            _ => {
                let kind = self.human.draw("vl", &mut self.rng).unwrap_or("parameter").to_string();
                let least = (self.settings.smallest_vlen() / ty.ratio()).max(1) as usize;
                let some = (1 + self.rng.below(least)) as u64;
                self.place.len = least;
                self.place.vl = match kind.as_str() {
                    "literal" => Expr::Const(some),
                    "vsetvlmax" => {
                        let vl = self.var("vl", Type::Size);
                        self.out.push(call(Some(vl), setvlmax, Vec::new()));
                        self.place.len = vlmax;
                        Expr::Var(vl)
                    }
                    "vsetvl" | "vsetvl in a loop" => {
                        let vl = self.var("vl", Type::Size);
                        self.out.push(call(Some(vl), setvl, vec![Arg::Var(n)]));
                        self.place.len = vlmax.max(len);
                        Expr::Var(vl)
                    }
                    _ => Expr::Var(self.param(Type::Size, some)),
                };
                self.body(goal);
            }
        }
        Some(())
    }

    fn counting_down(&mut self, setvl: &'static Intrinsic, n: Var, goal: usize) {
        let (left, at) = (self.var("n", Type::Size), self.var("at", Type::Size));
        let vl = self.var("vl", Type::Size);
        self.set(left, CExpr::Var(n));
        self.set(at, CExpr::int(Elem::U64, 0));
        let body = self.inside(|w| {
            w.leave_if(CExpr::unary(Unary::IsZero, CExpr::Var(left)));
            w.out.push(call(Some(vl), setvl, vec![Arg::Var(left)]));
            w.place.vl = Expr::Var(vl);
            w.place.at = Some(at);
            w.body(goal);
            w.step(Binary::Add, at, vl);
            w.step(Binary::Sub, left, vl);
        });
        self.endless(body);
    }

    fn counting_up(&mut self, ty: VecType, n: Var, goal: usize) {
        let (index, vl) = (self.var("i", Type::Size), self.var("vl", Type::Size));
        let vtype = VecType::new(Elem::unsigned(ty.elem.sew()), ty.lmul);
        let body = self.inside(|w| {
            w.place.vl = Expr::Var(vl);
            w.place.at = Some(index);
            w.body(goal);
        });
        self.out.push(Stmt::Strip { vtype, length: Expr::Var(n), index, vl, body });
    }

    fn inside(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        let outer = std::mem::take(&mut self.out);
        write(self);
        // What was made inside may never have been made.
        self.live.clear();
        std::mem::replace(&mut self.out, outer)
    }

    fn endless(&mut self, body: Vec<Stmt>) {
        let index = self.var("round", Type::Scalar(Elem::I64));
        self.out.push(Stmt::Loop(Box::new(Loop {
            index,
            from: CExpr::int(Elem::I64, 0),
            compare: Compare::Lt,
            to: CExpr::int(Elem::I64, ENDLESS),
            step: 1,
            pragma: Pragma::None,
            body,
        })));
    }

    fn leave_if(&mut self, condition: CExpr) {
        self.out.push(Stmt::When { condition, then: vec![Stmt::Leave], otherwise: Vec::new() });
    }

    /// `var = var ⋈ by`
    fn step(&mut self, op: Binary, var: Var, by: Var) {
        self.set(var, CExpr::binary(op, CExpr::Var(var), CExpr::Var(by)));
    }

    /// Operations until there are as many as asked for, and stores of what nothing has used.
    fn body(&mut self, goal: usize) {
        let mut tries = 0;
        if self.live.is_empty() {
            self.first();
        }
        while self.operations < goal && tries < 8 * goal + 20 {
            tries += 1;
            self.forward();
        }
        let unused: Vec<Live> = self.live.iter().filter(|l| l.uses == 0).cloned().collect();
        for live in unused {
            self.store(&live);
        }
    }

    /// A value to begin with, as people begin.
    fn first(&mut self) {
        let mut starts: Vec<(&'static str, u64)> = Vec::new();
        for (family, n) in &self.human.families {
            let loads = members(family).first().is_some_and(|i| i.sem.accesses_memory());
            if loads && self.human.uses.contains_key(family) {
                starts.push((family, *n));
            }
        }
        for _ in 0..10 {
            let Some((family, _)) = weighted(&starts, |(_, n)| *n, &mut self.rng) else { return };
            if self.make(family, None, None, 0).is_some() {
                return;
            }
        }
    }

    /// Gives a value that is there to something that people give such values to.
    fn forward(&mut self) {
        let unused: Vec<usize> = (0..self.live.len()).filter(|n| self.live[*n].uses == 0).collect();
        let from = if unused.is_empty() || self.rng.below(6) == 0 {
            self.rng.below(self.live.len().max(1))
        } else {
            unused[self.rng.below(unused.len())]
        };
        let Some(live) = self.live.get(from).cloned() else { return self.first() };
        let uses = self.human.uses.get(live.family).map_or(&[][..], |u| u);
        let Some(&(consumer, role, _)) = weighted(uses, |u| u.2, &mut self.rng) else {
            // Nobody goes on from it; a new value, then.
            self.first();
            return;
        };
        let is_store = members(consumer).first().is_some_and(|i| i.ret == Type::Void);
        if is_store {
            if live.uses == 0 && self.rng.below(4) == 0 {
                self.store(&live);
            }
            return;
        }
        self.make(consumer, None, Some((role, &live)), 0);
    }

    /// Calls a member of a family: with a result of this type, and with this operand, if that is asked for.
    fn make(
        &mut self,
        family: &'static str,
        ret: Option<Type>,
        given: Option<(&'static str, &Live)>,
        depth: usize,
    ) -> Option<Live> {
        let ratio = self.place.ratio;
        let fits = |i: &&&'static Intrinsic| {
            let wanted = ret.is_none_or(|ty| i.ret == ty);
            let takes = given.is_none_or(|(role, live)| {
                i.params.iter().any(|p| role_name(p.role) == role && p.ty == live.ty)
            });
            wanted && takes && !is_length(i) && !is_odd(i) && class(i).ratio == ratio && self.wants(i)
        };
        let found: Vec<(&'static Intrinsic, u64)> =
            members(family).iter().filter(fits).map(|i| (*i, self.human.weight(i))).collect();
        let intrinsic = match weighted(&found, |(_, n)| *n, &mut self.rng) {
            Some((intrinsic, _)) => *intrinsic,
            // Types that nobody uses with it are better than nothing.
            None => {
                let plain: Vec<_> = found.iter().filter(|(i, _)| i.policy == Policy::Default).collect();
                self.rng.pick(&plain)?.0
            }
        };
        let mut given = given;
        let mut args = Vec::new();
        for param in &intrinsic.params {
            let is = given.is_some_and(|(role, live)| role_name(param.role) == role && param.ty == live.ty);
            let arg = match given.filter(|_| is) {
                Some((_, live)) => {
                    self.used(live.var);
                    given = None;
                    Arg::Var(live.var)
                }
                None => self.operand(intrinsic, param.role, param.ty, depth)?,
            };
            args.push(arg);
        }
        if is_operation(intrinsic) {
            self.operations += 1;
        }
        let dst = match intrinsic.ret {
            Type::Void => None,
            Type::Vector(_) => Some(self.var("v", intrinsic.ret)),
            Type::Mask(_) => Some(self.var("m", intrinsic.ret)),
            ty => Some(self.var("s", ty)),
        };
        self.call(dst, intrinsic, args);
        let live = Live { var: dst?, ty: intrinsic.ret, family: intrinsic.family, uses: 0 };
        self.live.push(live.clone());
        Some(live)
    }

    fn used(&mut self, var: Var) {
        self.live.iter_mut().filter(|l| l.var == var).for_each(|l| l.uses += 1);
    }

    fn operand(&mut self, of: &'static Intrinsic, role: Role, ty: Type, depth: usize) -> Option<Arg> {
        match (role, ty) {
            (Role::Vl, _) => Some(self.vl(of)),
            (Role::Uimm | Role::Position | Role::Frm | Role::Vxrm, _) => {
                let range = of.constants(role)?;
                let count = usize::try_from(range.end() - range.start()).unwrap_or(0) + 1;
                Some(Arg::Expr(Expr::Const(range.start() + self.rng.below(count) as u64)))
            }
            (Role::Base, Type::Pointer(elem) | Type::ConstPointer(elem)) => Some(self.address(of, elem)),
            (Role::Stride, _) => {
                Some(Arg::Expr(Expr::Const(u64::from(element(of).bytes()) * self.fields(of))))
            }
            (_, Type::Vector(_) | Type::Mask(_)) => self.vector(of, role, ty, depth).map(Arg::Var),
            (_, ty) => self.scalar(ty),
        }
    }

    /// The length of a call: element 0 alone where there are fewer elements than the loop's.
    fn vl(&self, of: &Intrinsic) -> Arg {
        if class(of).ratio > self.place.ratio {
            return Arg::Expr(Expr::Const(1));
        }
        match &self.place.vl {
            Expr::Var(var) => Arg::Var(*var),
            expr => Arg::Expr(expr.clone()),
        }
    }

    fn fields(&self, of: &Intrinsic) -> u64 {
        let tuple = |ty: Type| ty.vector().map_or(1, |v| u64::from(v.nf));
        of.params.iter().map(|p| tuple(p.ty)).chain([tuple(of.ret)]).max().unwrap_or(1)
    }

    /// Where a load or store begins.
    fn address(&mut self, of: &Intrinsic, elem: Elem) -> Arg {
        let is_store = of.ret == Type::Void;
        let fields = self.fields(of);
        let slack = (self.settings.largest_vlen() / self.place.ratio) as usize;
        let len = (self.place.len + slack) * fields as usize;
        let known: Vec<usize> = (0..self.program.buffers.len())
            .filter(|n| {
                let b = &self.program.buffers[*n];
                b.elem == elem && b.len >= len && b.kind == BufferKind::Data
            })
            .collect();
        let buffer = match self.rng.pick(&known) {
            Some(&buffer) if !is_store && self.rng.below(3) == 0 => buffer,
            _ if is_store => self.buffer(BufferKind::Out, elem, len, Init::Zero),
            _ => self.input(elem, len),
        };
        let at = match self.place.at {
            None => Expr::Const(0),
            Some(at) if fields == 1 => Expr::Var(at),
            Some(at) => Expr::Mul(Box::new(Expr::Var(at)), Box::new(Expr::Const(fields))),
        };
        Arg::Addr(buffer, at)
    }

    /// A vector or mask as an operand: made by what people make it by.
    fn vector(&mut self, of: &'static Intrinsic, role: Role, ty: Type, depth: usize) -> Option<Var> {
        let makers = self.human.makers.get(&(of.family, role_name(role))).map_or(&[][..], |m| m);
        for _ in 0..4 {
            let Some(&(maker, _)) = weighted(makers, |m| m.1, &mut self.rng) else { break };
            let there: Vec<Var> =
                self.live.iter().filter(|l| l.family == maker && l.ty == ty).map(|l| l.var).collect();
            let reuse = !there.is_empty() && self.rng.below(4) != 0;
            if reuse && let Some(&var) = self.rng.pick(&there) {
                self.used(var);
                return Some(var);
            }
            if depth < DEEPEST
                && let Some(live) = self.make(maker, Some(ty), None, depth + 1)
            {
                self.used(live.var);
                return Some(live.var);
            }
        }
        let there: Vec<Var> = self.live.iter().filter(|l| l.ty == ty).map(|l| l.var).collect();
        let var = match self.rng.pick(&there) {
            Some(var) => *var,
            None => self.loaded(ty)?,
        };
        self.used(var);
        Some(var)
    }

    /// A plain load of this type.
    fn loaded(&mut self, ty: Type) -> Option<Var> {
        let (name, elem) = match ty {
            Type::Vector(v) if v.nf == 1 => (format!("__riscv_vle{}_v_{}", v.elem.bits(), v.short()), v.elem),
            Type::Vector(v) => (format!("__riscv_vlseg{}e{}_v_{}", v.nf, v.elem.bits(), v.short()), v.elem),
            Type::Mask(n) => (format!("__riscv_vlm_v_b{n}"), Elem::U8),
            _ => return None,
        };
        let intrinsic = by_name(&name)?;
        let vl = self.vl(intrinsic);
        let base = match ty {
            Type::Mask(_) => {
                let len = (self.settings.largest_vlen() / 8) as usize;
                Arg::Addr(self.input(Elem::U8, len), Expr::Const(0))
            }
            _ => self.address(intrinsic, elem),
        };
        let var = self.var("v", ty);
        self.call(Some(var), intrinsic, vec![base, vl]);
        self.live.push(Live { var, ty, family: intrinsic.family, uses: 0 });
        Some(var)
    }

    /// A scalar operand, as people have them.
    fn scalar(&mut self, ty: Type) -> Option<Arg> {
        let elem = put_elem(ty)?;
        let kind = self.human.draw("scalars", &mut self.rng).unwrap_or("literal").to_string();
        let distribution = if self.rng.below(4) == 0 { Distribution::Bits } else { Distribution::Small };
        let bits = match elem.is_float() && self.finite {
            true => Distribution::Small.draw(elem, self.rng.data()),
            false => distribution.draw(elem, self.rng.data()),
        };
        let there: Vec<Var> = self.live.iter().filter(|l| l.ty == ty).map(|l| l.var).collect();
        Some(match kind.as_str() {
            "result of an intrinsic" if !there.is_empty() => {
                let var = *self.rng.pick(&there)?;
                self.used(var);
                Arg::Var(var)
            }
            "parameter" => Arg::Var(self.param(ty, bits)),
            "element of memory" | "computed" if !elem.is_float() => {
                let buffer = self.input(elem, 16);
                let load = CExpr::load(buffer, CExpr::int(Elem::I32, self.rng.below(16) as i64));
                let value = match kind.as_str() {
                    "computed" => CExpr::binary(Binary::And, load, CExpr::int(Elem::I32, 0x7f)),
                    _ => load,
                };
                let var = self.var("s", ty);
                self.set(var, value);
                Arg::Var(var)
            }
            "element of memory" | "computed" => Arg::Var(self.param(ty, bits)),
            _ => Arg::Expr(Expr::Const(bits)),
        })
    }

    /// Stores what nothing has used.
    fn store(&mut self, live: &Live) {
        self.used(live.var);
        let name = match live.ty {
            Type::Vector(v) if v.nf == 1 => format!("__riscv_vse{}_v_{}", v.elem.bits(), v.short()),
            Type::Vector(v) => format!("__riscv_vsseg{}e{}_v_{}", v.nf, v.elem.bits(), v.short()),
            Type::Mask(n) => format!("__riscv_vsm_v_b{n}"),
            ty => {
                if let Some(elem) = put_elem(ty) {
                    let buffer = self.buffer(BufferKind::Out, elem, 1, Init::Zero);
                    self.out.push(Stmt::Put { buffer, at: Expr::Const(0), value: live.var });
                }
                return;
            }
        };
        let Some(intrinsic) = by_name(&name) else { return };
        let base = match live.ty {
            Type::Mask(_) => {
                let len = (self.settings.largest_vlen() / 8) as usize;
                Arg::Addr(self.buffer(BufferKind::Out, Elem::U8, len, Init::Zero), Expr::Const(0))
            }
            _ => self.address(intrinsic, element(intrinsic)),
        };
        let vl = self.vl(intrinsic);
        self.call(None, intrinsic, vec![base, Arg::Var(live.var), vl]);
    }
}

fn call(dst: Option<Var>, intrinsic: &'static Intrinsic, args: Vec<Arg>) -> Stmt {
    Stmt::Call(Call { dst, intrinsic, overloaded: false, args })
}

fn is_length(intrinsic: &Intrinsic) -> bool {
    matches!(intrinsic.sem, Sem::Setvl | Sem::Setvlmax)
}

/// What needs more care than drawing: indices in memory, a new vl, nothing defined.
fn is_odd(intrinsic: &Intrinsic) -> bool {
    let role = |role| intrinsic.position(role).is_some();
    role(Role::Index) || role(Role::NewVl) || intrinsic.sem == Sem::Undefined
}

/// The type of what a load or store moves.
fn element(intrinsic: &Intrinsic) -> Elem {
    match intrinsic.ty {
        Type::Vector(v) => v.elem,
        _ => VecType::new(Elem::U8, Lmul::M1).elem,
    }
}
