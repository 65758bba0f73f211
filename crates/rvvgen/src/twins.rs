//! Twins: one computation, element by element, as a strip loop of intrinsics and as a loop of plain C.
//!
//! Both are written at once from the same choices. They compute the same, so they have one truth, whoever
//! vectorises: the programmer or the compiler.

use crate::lookup::Lookup;
use crate::rng::Rng;
use rvv_intrinsics::{Elem, Extension, Intrinsic, Param, Policy, Role, Sem, Type, VecType, all};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::loops::{Access, Binary, CExpr, Loop, Pragma, Target, Unary};
use rvv_ir::{Arg, Buffer, BufferKind, Call, Compare, Expr, Program, Stmt, Var};
use rvv_isa::Lmul;
use std::collections::HashMap;
use std::sync::LazyLock;

/// A value, in both programs.
#[derive(Clone, Copy)]
struct Pair {
    ty: Type,
    vector: Var,
    scalar: Var,
}

/// Both programs, being written.
struct Writer {
    rng: Rng,
    /// Of intrinsics, and of plain C. Both have the same buffers and parameters.
    programs: [Program; 2],
    bodies: [Vec<Stmt>; 2],
    ratio: u32,
    len: usize,
    index: [Var; 2],
    vl: Var,
    values: Vec<Pair>,
}

/// Intrinsics that work lane by lane and that C can say in one expression, by SEW/LMUL.
static LANEWISE: LazyLock<HashMap<u32, Vec<&'static Intrinsic>>> = LazyLock::new(|| {
    let mut by_ratio: HashMap<u32, Vec<&'static Intrinsic>> = HashMap::new();
    for intrinsic in all().iter().filter(|i| is_lanewise(i)) {
        by_ratio.entry(crate::class(intrinsic).ratio).or_default().push(intrinsic);
    }
    by_ratio
});

fn is_lanewise(intrinsic: &Intrinsic) -> bool {
    let integer = |ty: Type| match ty {
        Type::Vector(v) => v.nf == 1 && !v.elem.is_float(),
        Type::Scalar(e) => !e.is_float(),
        Type::Mask(_) | Type::Size => true,
        _ => false,
    };
    // What is masked off is kept: else it has no value.
    let kept = !intrinsic.is_masked() || intrinsic.policy.mask_undisturbed();
    let policy = kept && (intrinsic.is_masked() || intrinsic.policy == Policy::Default);
    // C has integers of 64 bits and no longer ones.
    let wide = |p: &Param| matches!(p.ty, Type::Vector(v) if v.elem.bits() == 64);
    let exact = matches!(intrinsic.sem, Sem::Mulh | Sem::Sadd | Sem::Ssub | Sem::Madc | Sem::Msbc);
    intrinsic.extension == Extension::V
        && is_known(intrinsic.sem)
        && policy
        && integer(intrinsic.ret)
        && intrinsic.params.iter().all(|p| integer(p.ty))
        && !(exact && intrinsic.params.iter().any(wide))
}

/// Whether [`meaning`] knows it.
fn is_known(sem: Sem) -> bool {
    use Sem::*;
    matches!(
        sem,
        Add | Sub
            | Rsub
            | Neg
            | Adc
            | Sbc
            | Madc
            | Msbc
            | And
            | Or
            | Xor
            | Not
            | Sll
            | Srl
            | Sra
            | Min
            | Max
            | Mul
            | Mulh
            | Macc
            | Nmsac
            | Madd
            | Nmsub
            | Merge
            | Move
            | Resize
            | Eq
            | Ne
            | Lt
            | Le
            | Gt
            | Ge
            | Sadd
            | Ssub
            | Mand
            | Mandn
            | Mnand
            | Mor
            | Morn
            | Mnor
            | Mxor
            | Mxnor
            | Mmv
            | Mnot
    )
}

/// Computation number `k` of a seed: as intrinsics, and as plain C.
pub fn twins(seed: u64, k: u64) -> [Program; 2] {
    let mut rng = Rng::new(&[seed, k, 0x7715]);
    let ratio = 1 << rng.below(7);
    let len = match rng.below(4) {
        0 => 1 + rng.below(20),
        _ => 1 + rng.below(400 / (1 + ratio as usize / 16)),
    };
    let mut programs = [Program::default(), Program::default()];
    let mut vars = Vec::new();
    for program in &mut programs {
        program.main.name = "main".to_string();
        program.comment = vec![format!("rvvgen, seed {seed}, twins {k}")];
        vars.push(program.main.var("i", Type::Size));
    }
    let vl = programs[0].main.var("vl", Type::Size);
    // The same numbers for the variables of both.
    programs[1].main.var("vl", Type::Size);
    let index = [vars[0], vars[1]];
    let bodies = [Vec::new(), Vec::new()];
    let mut writer = Writer { rng, programs, bodies, ratio, len, index, vl, values: Vec::new() };
    writer.write();
    writer.finish()
}

impl Writer {
    fn write(&mut self) {
        let Some(known) = LANEWISE.get(&self.ratio) else { return };
        let operations = 2 + self.rng.below(14);
        for _ in 0..operations {
            let tries: Vec<&'static Intrinsic> =
                (0..8).filter_map(|_| self.rng.pick(known).copied()).collect();
            // Masks come from comparisons only.
            let has_masks = |i: &&&'static Intrinsic| {
                i.params.iter().all(|p| p.ty.mask().is_none() || self.values.iter().any(|v| v.ty == p.ty))
            };
            if let Some(intrinsic) = tries.iter().find(has_masks).copied() {
                self.operation(intrinsic);
            }
        }
        for value in self.values.clone() {
            if matches!(value.ty, Type::Vector(_)) && self.rng.below(2) == 0 {
                self.store(value);
            }
        }
        let vectors = |v: &&Pair| matches!(v.ty, Type::Vector(_));
        if let Some(&last) = self.values.iter().rev().find(vectors) {
            self.store(last);
        }
    }

    /// A variable in both programs.
    fn pair(&mut self, ty: Type) -> Pair {
        let name = format!("v{}", self.programs[0].main.vars.len());
        let vector = self.programs[0].main.var(name.clone(), ty);
        let scalar = match ty {
            Type::Vector(v) => Type::Scalar(v.elem),
            Type::Mask(_) => Type::Scalar(Elem::I32),
            other => other,
        };
        let scalar = self.programs[1].main.var(name, scalar);
        Pair { ty, vector, scalar }
    }

    /// A buffer of both programs.
    fn buffer(&mut self, kind: BufferKind, elem: Elem, len: usize, init: Init) -> usize {
        let number = self.programs[0].buffers.len();
        let stem = if kind == BufferKind::Out { "out" } else { "in" };
        for program in &mut self.programs {
            let name = format!("{stem}{number}");
            let init = init.clone();
            program.buffers.push(Buffer { name, elem, truths: false, len, dims: Vec::new(), kind, init });
        }
        number
    }

    fn load(&mut self, ty: VecType) -> Pair {
        let seed = self.rng.bits() >> 32;
        let distribution = [Distribution::Bits, Distribution::Mix, Distribution::Small, Distribution::Corner]
            [self.rng.below(4)];
        let offset = if self.rng.below(3) == 0 { 1 + self.rng.below(4) } else { 0 };
        let buffer =
            self.buffer(BufferKind::Data, ty.elem, self.len + offset, Init::Seed(seed, distribution));
        let value = self.pair(Type::Vector(ty));
        let at = match offset {
            0 => Expr::Var(self.index[0]),
            n => Expr::Add(Box::new(Expr::Var(self.index[0])), Box::new(Expr::Const(n as u64))),
        };
        self.bodies[0].push(Stmt::Call(Call {
            dst: Some(value.vector),
            intrinsic: Lookup::get().plain_load[&ty],
            overloaded: false,
            args: vec![Arg::Addr(buffer, at), Arg::Var(self.vl)],
        }));
        let index = match offset {
            0 => CExpr::Var(self.index[1]),
            n => CExpr::binary(Binary::Add, CExpr::Var(self.index[1]), CExpr::int(Elem::U64, n as i64)),
        };
        self.bodies[1].push(set(value.scalar, CExpr::load(buffer, index)));
        self.values.push(value);
        value
    }

    fn store(&mut self, value: Pair) {
        let Type::Vector(ty) = value.ty else { return };
        let buffer = self.buffer(BufferKind::Out, ty.elem, self.len, Init::Zero);
        self.bodies[0].push(Stmt::Call(Call {
            dst: None,
            intrinsic: Lookup::get().plain_store[&ty],
            overloaded: true,
            args: vec![
                Arg::Addr(buffer, Expr::Var(self.index[0])),
                Arg::Var(value.vector),
                Arg::Var(self.vl),
            ],
        }));
        let access = Access { buffer, index: vec![CExpr::Var(self.index[1])] };
        let value = CExpr::Var(value.scalar);
        self.bodies[1].push(Stmt::Set { target: Target::Element(access), value });
    }

    /// A value of this type: one that is there, or a new one.
    fn operand(&mut self, ty: Type) -> Option<Pair> {
        let fits: Vec<Pair> = self.values.iter().copied().filter(|v| v.ty == ty).collect();
        match (ty, self.rng.pick(&fits)) {
            (_, Some(&found)) if self.rng.below(5) > 0 => Some(found),
            (Type::Vector(v), _) => Some(self.load(v)),
            (_, found) => found.copied(),
        }
    }

    /// A call, and the same on one lane.
    fn operation(&mut self, intrinsic: &'static Intrinsic) {
        let mut args = Vec::with_capacity(intrinsic.params.len());
        let mut operands: Vec<(Role, CExpr, Elem)> = Vec::new();
        for param in &intrinsic.params {
            if param.role == Role::Vl {
                args.push(Arg::Var(self.vl));
                continue;
            }
            let (arg, lane, elem) = match param.ty {
                Type::Vector(_) | Type::Mask(_) => {
                    let Some(value) = self.operand(param.ty) else { return };
                    let elem = param.ty.vector().map_or(Elem::I32, |v| v.elem);
                    (Arg::Var(value.vector), CExpr::Var(value.scalar), elem)
                }
                Type::Scalar(elem) => {
                    let bits = Distribution::Mix.draw(elem, self.rng.data());
                    self.number(param.ty, elem, bits)
                }
                _ => {
                    let bits = self.rng.below(70) as u64;
                    self.number(Type::Size, Elem::U64, bits)
                }
            };
            args.push(arg);
            operands.push((param.role, lane, elem));
        }
        let wide = self.rng.below(2) == 0;
        let Some(value) = meaning(intrinsic, &operands, wide) else { return };
        let dst = self.pair(intrinsic.ret);
        let overloaded = intrinsic.overloaded.is_some() && self.rng.below(2) == 0;
        self.bodies[0].push(Stmt::Call(Call { dst: Some(dst.vector), intrinsic, overloaded, args }));
        self.bodies[1].push(set(dst.scalar, value));
        self.values.push(dst);
    }

    /// A number: a literal, or a parameter.
    fn number(&mut self, ty: Type, elem: Elem, bits: u64) -> (Arg, CExpr, Elem) {
        if self.rng.below(2) == 0 {
            return (Arg::Expr(Expr::Const(bits)), CExpr::Literal(elem, bits), elem);
        }
        let name = format!("p{}", self.programs[0].main.vars.len());
        let [a, b] = self.param(&name, ty, bits);
        (Arg::Var(a), CExpr::Var(b), elem)
    }

    /// A parameter of both programs.
    fn param(&mut self, name: &str, ty: Type, bits: u64) -> [Var; 2] {
        self.programs.each_mut().map(|program| {
            let var = program.main.var(name, ty);
            program.params.push((var, bits));
            var
        })
    }

    fn finish(mut self) -> [Program; 2] {
        let count = self.len as u64;
        let opaque = self.rng.below(2) == 0;
        let types: Vec<VecType> = [Elem::U8, Elem::U16, Elem::U32, Elem::U64]
            .into_iter()
            .flat_map(|elem| Lmul::ALL.map(|lmul| VecType::new(elem, lmul)))
            .filter(|t| t.exists() && t.ratio() == self.ratio)
            .collect();
        let vtype = self.rng.pick(&types).copied().unwrap_or(VecType::new(Elem::U8, Lmul::M1));
        let (length, end) = if opaque {
            let [a, b] = self.param("n", Type::Size, count);
            (Expr::Var(a), CExpr::Var(b))
        } else {
            (Expr::Const(count), CExpr::Literal(Elem::U64, count))
        };
        let [strip, lanes] = self.bodies;
        self.programs[0].main.body =
            vec![Stmt::Strip { vtype, length, index: self.index[0], vl: self.vl, body: strip }];
        self.programs[1].main.body = vec![Stmt::Loop(Box::new(Loop {
            index: self.index[1],
            from: CExpr::Literal(Elem::U64, 0),
            compare: Compare::Lt,
            to: end,
            step: 1,
            pragma: Pragma::None,
            body: lanes,
        }))];
        self.programs
    }
}

fn set(var: Var, value: CExpr) -> Stmt {
    Stmt::Set { target: Target::Var(var), value }
}

/// What an intrinsic does to one lane, in C. `wide` says in how many bits is computed where that does not
/// matter.
fn meaning(intrinsic: &Intrinsic, operands: &[(Role, CExpr, Elem)], wide: bool) -> Option<CExpr> {
    let get = |role: Role| operands.iter().find(|(r, ..)| *r == role).map(|(_, e, elem)| (e.clone(), *elem));
    let lane = operation(intrinsic, &get, wide)?;
    // What is masked off is what was there: vd, an operand or not.
    Some(match get(Role::Mask) {
        Some((mask, _)) => {
            let (old, _) = get(Role::Dest).or(get(Role::Acc))?;
            CExpr::select(mask, lane, old)
        }
        None => lane,
    })
}

fn operation(
    intrinsic: &Intrinsic,
    get: &dyn Fn(Role) -> Option<(CExpr, Elem)>,
    wide: bool,
) -> Option<CExpr> {
    use Binary as B;
    let ret = intrinsic.ret.vector().map(|v| v.elem);
    let op1 = || get(Role::Vs1).or_else(|| get(Role::Scalar));
    // Unsigned arithmetic wraps; the bits of the result do not depend on those above them.
    let ty = if wide || ret.is_some_and(|e| e.bits() == 64) { Elem::U64 } else { Elem::U32 };
    let wrap = |e: CExpr| ret.map(|to| CExpr::cast(to, e));
    let u = |(e, _): (CExpr, Elem)| CExpr::cast(ty, e);
    let two = |op: Binary, a: CExpr, b: CExpr| wrap(CExpr::binary(op, a, b));
    let is_set = |e: CExpr| CExpr::unary(Unary::IsZero, e);
    // Exactly, of operands of at most 32 bits: of 33 bits, or of 64.
    let exact = |(e, _): (CExpr, Elem)| CExpr::cast(Elem::I64, e);
    let bits_of =
        |(e, elem): (CExpr, Elem)| CExpr::cast(Elem::U64, CExpr::cast(Elem::unsigned(elem.sew()), e));
    let amount = |vs2: Elem| {
        let (by, _) = op1()?;
        let most = CExpr::Literal(Elem::U64, u64::from(vs2.bits()) - 1);
        Some(CExpr::binary(B::And, CExpr::cast(Elem::U64, by), most))
    };
    match intrinsic.sem {
        Sem::Add => two(B::Add, u(get(Role::Vs2)?), u(op1()?)),
        Sem::Sub => two(B::Sub, u(get(Role::Vs2)?), u(op1()?)),
        Sem::Rsub => two(B::Sub, u(op1()?), u(get(Role::Vs2)?)),
        Sem::Neg => two(B::Sub, CExpr::Literal(ty, 0), u(get(Role::Vs2)?)),
        Sem::Mul => two(B::Mul, u(get(Role::Vs2)?), u(op1()?)),
        Sem::Adc | Sem::Sbc => {
            let op = if intrinsic.sem == Sem::Adc { B::Add } else { B::Sub };
            let first = CExpr::binary(op, u(get(Role::Vs2)?), u(op1()?));
            two(op, first, u(get(Role::Carry)?))
        }
        Sem::Madc | Sem::Msbc => {
            let (a, b) = (get(Role::Vs2)?, op1()?);
            let width = CExpr::Literal(Elem::I32, a.1.bits().into());
            let carry = get(Role::Carry).map_or(CExpr::Literal(Elem::U64, 0), bits_of);
            if intrinsic.sem == Sem::Madc {
                let sum = CExpr::binary(B::Add, CExpr::binary(B::Add, bits_of(a), bits_of(b)), carry);
                let above = CExpr::binary(B::Shr, sum, width);
                return Some(CExpr::binary(B::Ne, above, CExpr::Literal(Elem::U64, 0)));
            }
            Some(CExpr::binary(B::Lt, bits_of(a), CExpr::binary(B::Add, bits_of(b), carry)))
        }
        Sem::And => two(B::And, get(Role::Vs2)?.0, op1()?.0),
        Sem::Or => two(B::Or, get(Role::Vs2)?.0, op1()?.0),
        Sem::Xor => two(B::Xor, get(Role::Vs2)?.0, op1()?.0),
        Sem::Not => wrap(CExpr::unary(Unary::Not, get(Role::Vs2)?.0)),
        Sem::Sll => {
            let (a, elem) = get(Role::Vs2)?;
            two(B::Shl, CExpr::cast(Elem::U64, a), amount(elem)?)
        }
        Sem::Srl | Sem::Sra => {
            let (a, elem) = get(Role::Vs2)?;
            let unsigned = Elem::unsigned(elem.sew());
            let a = if intrinsic.sem == Sem::Srl {
                CExpr::cast(Elem::U64, CExpr::cast(unsigned, a))
            } else {
                CExpr::cast(Elem::I64, CExpr::cast(Elem::signed(elem.sew()), a))
            };
            two(B::Shr, a, amount(elem)?)
        }
        Sem::Min | Sem::Max => {
            let (a, b) = (get(Role::Vs2)?.0, op1()?.0);
            let op = if intrinsic.sem == Sem::Min { B::Lt } else { B::Gt };
            wrap(CExpr::select(CExpr::binary(op, a.clone(), b.clone()), a, b))
        }
        Sem::Mulh => {
            let (a, b) = (get(Role::Vs2)?, op1()?);
            let width = CExpr::Literal(Elem::I32, a.1.bits().into());
            let product = match a.1.is_unsigned() && b.1.is_unsigned() {
                true => CExpr::binary(B::Mul, bits_of(a), bits_of(b)),
                false => CExpr::binary(B::Mul, exact(a), exact(b)),
            };
            two(B::Shr, product, width)
        }
        Sem::Macc | Sem::Nmsac => {
            let op = if intrinsic.sem == Sem::Macc { B::Add } else { B::Sub };
            let product = CExpr::binary(B::Mul, u(op1()?), u(get(Role::Vs2)?));
            two(op, u(get(Role::Acc)?), product)
        }
        Sem::Madd => {
            let product = CExpr::binary(B::Mul, u(get(Role::Acc)?), u(op1()?));
            two(B::Add, product, u(get(Role::Vs2)?))
        }
        Sem::Nmsub => {
            let product = CExpr::binary(B::Mul, u(get(Role::Acc)?), u(op1()?));
            two(B::Sub, u(get(Role::Vs2)?), product)
        }
        Sem::Merge => wrap(CExpr::select(get(Role::Carry)?.0, op1()?.0, get(Role::Vs2)?.0)),
        Sem::Move => wrap(op1()?.0),
        Sem::Resize => wrap(get(Role::Vs2)?.0),
        Sem::Sadd | Sem::Ssub => {
            let to = ret?;
            let op = if intrinsic.sem == Sem::Sadd { B::Add } else { B::Sub };
            let sum = CExpr::binary(op, exact(get(Role::Vs2)?), exact(op1()?));
            let (least, most) = match to.is_signed() {
                true => (-(1i64 << (to.bits() - 1)), (1i64 << (to.bits() - 1)) - 1),
                false => (0, (1i64 << to.bits()) - 1),
            };
            let (least, most) = (CExpr::int(Elem::I64, least), CExpr::int(Elem::I64, most));
            let low = CExpr::binary(B::Lt, sum.clone(), least.clone());
            let high = CExpr::binary(B::Gt, sum.clone(), most.clone());
            wrap(CExpr::select(high, most, CExpr::select(low, least, sum)))
        }
        Sem::Eq => Some(CExpr::binary(B::Eq, get(Role::Vs2)?.0, op1()?.0)),
        Sem::Ne => Some(CExpr::binary(B::Ne, get(Role::Vs2)?.0, op1()?.0)),
        Sem::Lt => Some(CExpr::binary(B::Lt, get(Role::Vs2)?.0, op1()?.0)),
        Sem::Le => Some(CExpr::binary(B::Le, get(Role::Vs2)?.0, op1()?.0)),
        Sem::Gt => Some(CExpr::binary(B::Gt, get(Role::Vs2)?.0, op1()?.0)),
        Sem::Ge => Some(CExpr::binary(B::Ge, get(Role::Vs2)?.0, op1()?.0)),
        Sem::Mmv => Some(get(Role::Vs2)?.0),
        Sem::Mnot => Some(is_set(get(Role::Vs2)?.0)),
        Sem::Mand | Sem::Mandn | Sem::Mnand | Sem::Mor | Sem::Morn | Sem::Mnor | Sem::Mxor | Sem::Mxnor => {
            let (a, b) = (get(Role::Vs2)?.0, get(Role::Vs1)?.0);
            let b = if matches!(intrinsic.sem, Sem::Mandn | Sem::Morn) { is_set(b) } else { b };
            let op = match intrinsic.sem {
                Sem::Mand | Sem::Mandn | Sem::Mnand => B::And,
                Sem::Mor | Sem::Morn | Sem::Mnor => B::Or,
                _ => B::Xor,
            };
            let both = CExpr::binary(op, a, b);
            let inverts = matches!(intrinsic.sem, Sem::Mnand | Sem::Mnor | Sem::Mxnor);
            Some(if inverts { is_set(both) } else { both })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rvv_oracle::{Options, evaluate};
    use std::collections::HashSet;

    /// The two are evaluated by different code: intrinsics by the ISA manual, plain C by the C standard.
    #[test]
    fn twins_have_one_truth() {
        let mut seen: HashSet<Sem> = HashSet::new();
        for k in 0..600 {
            let [vector, scalar] = twins(3, k);
            for program in [&vector, &scalar] {
                program.check().unwrap_or_else(|e| panic!("{e}\n{program}"));
            }
            assert!(scalar.is_plain() && !vector.is_plain());
            seen.extend(vector.calls().iter().map(|c| c.intrinsic.sem));
            let plain = evaluate(&scalar, &Options::new(128)).unwrap_or_else(|e| panic!("{e}\n{scalar}"));
            for vlen in [128, 512] {
                let strips =
                    evaluate(&vector, &Options::new(vlen)).unwrap_or_else(|e| panic!("{e}\n{vector}"));
                assert_eq!(strips.outputs, plain.outputs, "VLEN {vlen}\n{vector}\n{scalar}");
            }
        }
        for &sem in Sem::ALL.iter().filter(|s| is_known(**s)) {
            assert!(seen.contains(&sem), "{}", sem.name());
        }
    }
}
