//! Operations on two operands of 8 bits, on every pair of values there is: 65 536 of them.
//!
//! ```text
//! for (j = 0; j < 256; j++)
//!     for each strip of 256 elements from i on: out[256 j + i] = a[i] ⊙ b[i + j]
//! ```
//!
//! `a` is some order of all values, and `b` another one, twice in a row. What a mask or a carry decides is
//! done twice, under the mask and under its complement: so no pair is left out.

use crate::generate::Settings;
use crate::lookup::Lookup;
use crate::rng::Rng;
use rvv_intrinsics::sem::Chapter;
use rvv_intrinsics::{Elem, Intrinsic, Policy, Role, Sem, Type, VecType, all};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::{Arg, Buffer, BufferKind, Call, Expr, Program, Stmt, Var};
use rvv_isa::Lmul;
use std::collections::HashMap;
use std::sync::LazyLock;

/// Values of a type of 8 bits.
const VALUES: u64 = 256;
/// Operations in a program.
const OPERATIONS: usize = 4;

/// Operations on two operands of 8 bits, by the LMUL of the operands.
static OPERATIONS_OF: LazyLock<HashMap<Lmul, Vec<&'static Intrinsic>>> = LazyLock::new(|| {
    let mut by_lmul: HashMap<Lmul, Vec<&'static Intrinsic>> = HashMap::new();
    for intrinsic in all() {
        if let Some(ty) = operand_type(intrinsic) {
            by_lmul.entry(ty.lmul).or_default().push(intrinsic);
        }
    }
    by_lmul
});

/// The type of vs2, if this is an operation on two operands of 8 bits, element by element.
fn operand_type(intrinsic: &Intrinsic) -> Option<VecType> {
    let is_byte = |elem: Elem| elem.bits() == 8;
    let elementwise = matches!(
        intrinsic.sem.chapter(),
        Chapter::Integer(_) | Chapter::Compare(_) | Chapter::FixedPoint(_) | Chapter::BitManip(_)
    );
    let vs2 = intrinsic.param(Role::Vs2)?.ty.vector().filter(|v| is_byte(v.elem))?;
    let second = match intrinsic.param(Role::Vs1).or_else(|| intrinsic.param(Role::Scalar))?.ty {
        Type::Vector(v) => is_byte(v.elem),
        Type::Scalar(e) => is_byte(e),
        // The amount of a shift.
        Type::Size => true,
        _ => false,
    };
    (elementwise && second).then_some(vs2)
}

/// Program `k`: some of the operations that are asked for, the next ones of a list in an order that the seed
/// decides. `None` if none is asked for.
pub fn every_pair(seed: u64, k: u64, settings: &Settings) -> Option<Program> {
    let wants =
        |i: &&'static Intrinsic| settings.selection.wants(i, false) || settings.selection.wants(i, true);
    let mut lists: Vec<(Lmul, Vec<&'static Intrinsic>)> = Vec::new();
    for lmul in Lmul::ALL {
        let list: Vec<_> = OPERATIONS_OF.get(&lmul).into_iter().flatten().copied().filter(wants).collect();
        if !list.is_empty() {
            lists.push((lmul, list));
        }
    }
    let turn = lists.len() as u64;
    let (lmul, mut list) = lists.into_iter().nth(k.checked_rem(turn)? as usize)?;
    Rng::new(&[seed, lmul.registers().into(), lmul.log2().unsigned_abs().into(), 0xeb]).shuffle(&mut list);
    let start = (k / turn).wrapping_mul(OPERATIONS as u64);
    let count = OPERATIONS.min(list.len());
    let chosen = (0..count).map(|n| list[(start.wrapping_add(n as u64) % list.len() as u64) as usize]);
    let mut writer = Writer::new(Rng::new(&[seed, k, 0xec]), lmul, settings);
    writer.program.comment = vec![format!("rvvgen, seed {seed}, program {k}")];
    chosen.for_each(|intrinsic| writer.operation(intrinsic));
    Some(writer.finish())
}

struct Writer<'s> {
    rng: Rng,
    settings: &'s Settings,
    program: Program,
    /// Done once, before the loops.
    before: Vec<Stmt>,
    /// Done for each value of b, before the strips.
    outer: Vec<Stmt>,
    /// Done for each strip.
    inner: Vec<Stmt>,
    lmul: Lmul,
    pass: Var,
    index: Var,
    vl: Var,
    /// What there is already: the values of this name and type.
    made: HashMap<(&'static str, Type), Var>,
}

impl<'s> Writer<'s> {
    fn new(rng: Rng, lmul: Lmul, settings: &'s Settings) -> Writer<'s> {
        let mut program = Program::default();
        program.main.name = "main".to_string();
        let [pass, index, vl] = ["j", "i", "vl"].map(|name| program.main.var(name, Type::Size));
        Writer {
            rng,
            settings,
            program,
            before: Vec::new(),
            outer: Vec::new(),
            inner: Vec::new(),
            lmul,
            pass,
            index,
            vl,
            made: HashMap::new(),
        }
    }

    fn var(&mut self, ty: Type) -> Var {
        let name = format!("v{}", self.program.main.vars.len());
        self.program.main.var(name, ty)
    }

    fn buffer(&mut self, kind: BufferKind, elem: Elem, len: u64, init: Init) -> usize {
        let number = self.program.buffers.len();
        let stem = if kind == BufferKind::Out { "out" } else { "in" };
        let name = format!("{stem}{number}");
        let len = len as usize;
        self.program.buffers.push(Buffer { name, elem, truths: false, len, dims: Vec::new(), kind, init });
        number
    }

    /// All values of a type, in some order.
    fn values(&mut self, elem: Elem) -> usize {
        let seed = self.rng.bits() >> 32;
        self.buffer(BufferKind::Data, elem, VALUES, Init::Seed(seed, Distribution::Permute { step: 1 }))
    }

    fn bytes(&self, elem: Elem) -> VecType {
        VecType::new(elem, self.lmul)
    }

    fn here(&self) -> Expr {
        Expr::Var(self.index)
    }

    fn load(&mut self, ty: VecType, buffer: usize, at: Expr) -> (Var, Stmt) {
        let dst = self.var(Type::Vector(ty));
        let args = vec![Arg::Addr(buffer, at), Arg::Var(self.vl)];
        let intrinsic = Lookup::get().plain_load[&ty];
        (dst, Stmt::Call(Call { dst: Some(dst), intrinsic, overloaded: false, args }))
    }

    /// The first operand.
    fn first(&mut self, ty: VecType) -> Var {
        self.once("a", Type::Vector(ty), |w| {
            let buffer = w.values(ty.elem);
            let (var, load) = w.load(ty, buffer, w.here());
            w.inner.push(load);
            var
        })
    }

    /// The second operand, as a vector: from a buffer that has all values twice.
    fn second(&mut self, ty: VecType) -> Var {
        self.once("b", Type::Vector(ty), |w| {
            let from = w.values(ty.elem);
            let twice = w.buffer(BufferKind::Data, ty.elem, 2 * VALUES, Init::Zero);
            let (value, load) = w.load(ty, from, w.here());
            let store = |at: Expr| {
                let args = vec![Arg::Addr(twice, at), Arg::Var(value), Arg::Var(w.vl)];
                let intrinsic = Lookup::get().plain_store[&ty];
                Stmt::Call(Call { dst: None, intrinsic, overloaded: true, args })
            };
            let again = sum(w.here(), Expr::Const(VALUES));
            let body = vec![load, store(w.here()), store(again)];
            let copy = w.strip(body);
            w.before.push(copy);
            let (var, load) = w.load(ty, twice, sum(w.here(), Expr::Var(w.pass)));
            w.inner.push(load);
            var
        })
    }

    /// The second operand, as a scalar: element 0 of a vector that was loaded.
    fn scalar(&mut self, elem: Elem) -> Option<Var> {
        let of = |i: &&&'static Intrinsic| {
            i.sem == Sem::MvScalar && i.params.first().is_some_and(|p| p.ty == Type::Vector(self.bytes(elem)))
        };
        let take = all().iter().find(|i| of(&i))?;
        Some(self.once("x", Type::Scalar(elem), |w| {
            let from = w.values(elem);
            let (vector, mut load) = w.load(w.bytes(elem), from, Expr::Var(w.pass));
            if let Stmt::Call(call) = &mut load {
                call.args[1] = Arg::Expr(Expr::Const(1));
            }
            let var = w.var(Type::Scalar(elem));
            let args = vec![Arg::Var(vector)];
            let call = Call { dst: Some(var), intrinsic: take, overloaded: false, args };
            w.outer.extend([load, Stmt::Call(call)]);
            var
        }))
    }

    /// What is there of this name and type, or is made now.
    fn once(&mut self, name: &'static str, ty: Type, make: impl FnOnce(&mut Self) -> Var) -> Var {
        if let Some(&var) = self.made.get(&(name, ty)) {
            return var;
        }
        let var = make(self);
        self.made.insert((name, ty), var);
        var
    }

    /// What else an operation takes: any data.
    fn any(&mut self, name: &'static str, ty: VecType) -> Var {
        self.once(name, Type::Vector(ty), |w| {
            let seed = w.rng.bits() >> 32;
            let init = Init::Seed(seed, Distribution::Mix);
            let buffer = w.buffer(BufferKind::Data, ty.elem, VALUES, init);
            let (var, load) = w.load(ty, buffer, w.here());
            w.inner.push(load);
            var
        })
    }

    /// A mask, and its complement.
    fn masks(&mut self, ty: Type) -> Option<[Var; 2]> {
        let data = self.any("m", self.bytes(Elem::U8));
        let mut of = |name: &'static str, sem: Sem| {
            let operand = Type::Vector(self.bytes(Elem::U8));
            let fits = |i: &&&'static Intrinsic| {
                let scalar = i.param(Role::Scalar).is_some() && i.param(Role::Dest).is_none();
                i.sem == sem
                    && scalar
                    && i.ret == ty
                    && !i.is_masked()
                    && i.param(Role::Vs2).is_some_and(|p| p.ty == operand)
            };
            let compare = Lookup::get().compares.get(&ty.mask()?)?.iter().find(fits)?;
            Some(self.once(name, ty, |w| {
                let var = w.var(ty);
                let args = vec![Arg::Var(data), Arg::Expr(Expr::Const(0x80)), Arg::Var(w.vl)];
                w.inner.push(Stmt::Call(Call {
                    dst: Some(var),
                    intrinsic: compare,
                    overloaded: false,
                    args,
                }));
                var
            }))
        };
        Some([of("m", Sem::Lt)?, of("n", Sem::Ge)?])
    }

    /// Calls it, once or under a mask and its complement, and stores the results.
    fn operation(&mut self, intrinsic: &'static Intrinsic) {
        let decides = |role: Role| matches!(role, Role::Mask | Role::Carry);
        let times = if intrinsic.params.iter().any(|p| decides(p.role)) { 2 } else { 1 };
        for time in 0..times {
            let mut args = Vec::with_capacity(intrinsic.params.len());
            for param in &intrinsic.params {
                let Some(arg) = self.argument(intrinsic, param.role, param.ty, time) else { return };
                args.push(arg);
            }
            let wants = |overloaded| self.settings.selection.wants(intrinsic, overloaded);
            let overloaded = wants(true) && (!wants(false) || self.rng.below(2) == 0);
            let dst = self.var(intrinsic.ret);
            self.inner.push(Stmt::Call(Call { dst: Some(dst), intrinsic, overloaded, args }));
            self.store(intrinsic.ret, dst);
        }
    }

    fn argument(&mut self, intrinsic: &Intrinsic, role: Role, ty: Type, time: usize) -> Option<Arg> {
        Some(match (role, ty) {
            (Role::Vl, _) => Arg::Var(self.vl),
            (Role::Vs2, Type::Vector(v)) => Arg::Var(self.first(v)),
            (Role::Vs1, Type::Vector(v)) => Arg::Var(self.second(v)),
            (Role::Scalar, Type::Scalar(e)) => Arg::Var(self.scalar(e)?),
            (Role::Scalar, Type::Size) => Arg::Var(self.pass),
            (Role::Dest | Role::Acc, Type::Vector(v)) => Arg::Var(self.any("d", v)),
            (Role::Mask | Role::Carry, _) => Arg::Var(self.masks(ty)?[time]),
            (Role::Dest, Type::Mask(_)) => Arg::Var(self.masks(ty)?[1 - time]),
            (Role::Vxrm, _) => {
                let range = intrinsic.constants(role)?;
                let modes = (range.end() - range.start() + 1) as usize;
                Arg::Expr(Expr::Const(range.start() + self.rng.below(modes) as u64))
            }
            _ => return None,
        })
    }

    /// Stores a result where it can be seen.
    fn store(&mut self, ty: Type, value: Var) {
        let (ty, value) = match ty {
            Type::Vector(ty) => (ty, value),
            // A mask as bytes: 1 where it is set, else what a is.
            _ => {
                let bytes = self.bytes(Elem::U8);
                let merges = |i: &&'static Intrinsic| {
                    i.sem == Sem::Merge
                        && i.policy == Policy::Default
                        && i.ret == Type::Vector(bytes)
                        && i.param(Role::Dest).is_none()
                        && i.param(Role::Scalar).is_some()
                };
                let Some(merge) = OPERATIONS_OF[&self.lmul].iter().copied().find(merges) else { return };
                let zero = self.once("0", Type::Vector(bytes), |w| {
                    let buffer = w.buffer(BufferKind::Data, Elem::U8, VALUES, Init::Zero);
                    let (var, load) = w.load(bytes, buffer, w.here());
                    w.inner.push(load);
                    var
                });
                let dst = self.var(Type::Vector(bytes));
                let args =
                    vec![Arg::Var(zero), Arg::Expr(Expr::Const(1)), Arg::Var(value), Arg::Var(self.vl)];
                self.inner.push(Stmt::Call(Call {
                    dst: Some(dst),
                    intrinsic: merge,
                    overloaded: false,
                    args,
                }));
                (bytes, dst)
            }
        };
        let out = self.buffer(BufferKind::Out, ty.elem, VALUES * VALUES, Init::Zero);
        let row = Expr::Mul(Box::new(Expr::Var(self.pass)), Box::new(Expr::Const(VALUES)));
        let args = vec![Arg::Addr(out, sum(row, self.here())), Arg::Var(value), Arg::Var(self.vl)];
        let intrinsic = Lookup::get().plain_store[&ty];
        self.inner.push(Stmt::Call(Call { dst: None, intrinsic, overloaded: false, args }));
    }

    fn strip(&self, body: Vec<Stmt>) -> Stmt {
        let vtype = self.bytes(Elem::U8);
        Stmt::Strip { vtype, length: Expr::Const(VALUES), index: self.index, vl: self.vl, body }
    }

    fn finish(mut self) -> Program {
        let inner = std::mem::take(&mut self.inner);
        let strip = self.strip(inner);
        let mut body = std::mem::take(&mut self.outer);
        body.push(strip);
        self.program.main.body = self.before;
        let count = Expr::Const(VALUES);
        self.program.main.body.push(Stmt::For { index: self.pass, count, body });
        self.program
    }
}

fn sum(a: Expr, b: Expr) -> Expr {
    Expr::Add(Box::new(a), Box::new(b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rvv_ir::Expected;
    use rvv_oracle::{Options, evaluate};
    use std::collections::HashSet;

    fn named(pattern: &str) -> Settings {
        let selection = crate::Selection { names: vec![pattern.to_string()], ..crate::Selection::default() };
        Settings { selection, ..Settings::default() }
    }

    fn truth(program: &Program) -> Expected {
        program.check().unwrap_or_else(|e| panic!("{e}\n{program}"));
        evaluate(program, &Options::new(128)).unwrap_or_else(|e| panic!("{e}\n{program}"))
    }

    /// Each of 65 536 pairs is multiplied once: the products, counted, are those of all pairs.
    #[test]
    fn no_pair_is_left_out() {
        for name in ["vwmulu_vv_u16m2", "vwmulu_vx_u16m2"] {
            let program = every_pair(5, 0, &named(name)).unwrap();
            let out = &truth(&program).outputs[0];
            let mut found: Vec<u16> = out.bytes.chunks(2).map(|b| u16::from_le_bytes([b[0], b[1]])).collect();
            let mut all: Vec<u16> = (0..=255u16).flat_map(|a| (0..=255).map(move |b| a * b)).collect();
            found.sort_unstable();
            all.sort_unstable();
            assert!(found == all, "{name}");
        }
    }

    /// Each pair is active under the mask or under its complement: one of the two results is the product,
    /// which is computed here.
    #[test]
    fn masked_operations_are_done_under_the_mask_and_its_complement() {
        let program = every_pair(5, 0, &named("vmul_vv_u8m1_tumu")).unwrap();
        let truth = truth(&program);
        let is_operand = |b: &&Buffer| matches!(b.init, Init::Seed(_, Distribution::Permute { .. }));
        let operands: Vec<Vec<u64>> = program.buffers.iter().filter(is_operand).map(Buffer::values).collect();
        let [a, b] = &operands[..] else { panic!("{program}") };
        let [one, other] = &truth.outputs[..] else { panic!("{program}") };
        assert!(one.defined.iter().chain(&other.defined).all(|d| *d == 0xff));
        let mut both = 0;
        for n in 0..65536 {
            let product = (a[n % 256] * b[(n % 256 + n / 256) % 256]) as u8;
            let found = [one.bytes[n] == product, other.bytes[n] == product];
            assert!(found[0] || found[1], "{n}");
            both += u32::from(found[0] && found[1]);
        }
        // vd is the product by chance only.
        assert!(both < 4096, "{both}");
    }

    /// A round of programs has all operations, each of them valid at every VLEN.
    #[test]
    fn a_round_has_all_operations() {
        let settings = Settings::default();
        let mut seen = HashSet::new();
        let longest = OPERATIONS_OF.values().map(Vec::len).max().unwrap();
        let round = (longest.div_ceil(OPERATIONS) * OPERATIONS_OF.len()) as u64;
        for k in 0..round {
            let program = every_pair(2, k, &settings).unwrap();
            program.check().unwrap_or_else(|e| panic!("{e}\n{program}"));
            seen.extend(program.calls().iter().map(|c| c.intrinsic.id));
        }
        let missing: Vec<&str> =
            OPERATIONS_OF.values().flatten().filter(|i| !seen.contains(&i.id)).map(|i| &*i.name).collect();
        assert!(missing.is_empty(), "{} of them: {:?}", missing.len(), &missing[..missing.len().min(9)]);
        for k in [0, round / 3, round / 2, round - 1] {
            let program = every_pair(2, k, &settings).unwrap();
            for vlen in [128, 1024] {
                evaluate(&program, &Options::new(vlen)).unwrap_or_else(|e| panic!("{e}\n{program}"));
            }
        }
        assert!(every_pair(2, 0, &named("vfadd*")).is_none());
    }
}
