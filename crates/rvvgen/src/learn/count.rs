//! Counts what the functions of a source do.

use super::loops::{Seen, shape};
use super::table::Table;
use crate::csource::{
    Argument, CType, Expr, ExprKind, Function, Source, Stmt, StmtKind, Unary, Unit, any_of,
    is_intrinsic_name, resolve,
};
use crate::stats::is_operation;
use rvv_intrinsics::{Elem, Intrinsic, Policy, Role, Sem, Type, by_name};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

/// What was learned from a file.
#[derive(Clone, Debug, Default)]
pub struct Learned {
    /// The counts.
    pub table: Table,
    /// Functions with intrinsics.
    pub functions: u64,
    /// Those of them whose body could not be read: where, and what stands there.
    pub unread: Vec<(crate::csource::Place, Rc<str>, String)>,
    /// Calls of intrinsics that were understood.
    pub calls: u64,
    /// Calls by an overloaded name whose types are not known.
    pub unknown: u64,
}

/// Counts the functions of a file; those of its headers are theirs.
pub fn learn(unit: &Unit) -> Learned {
    let mut learned = Learned::default();
    let returns: HashMap<&str, &CType> = unit.source.functions.iter().map(|f| (&*f.name, &f.ret)).collect();
    let of_file = |f: &&Function| f.place.file == unit.file && f.has_intrinsics;
    for function in unit.source.functions.iter().filter(of_file) {
        learned.functions += 1;
        match &function.body {
            Err((place, what)) => learned.unread.push((*place, function.name.clone(), what.clone())),
            Ok(body) => {
                let mut walk = Walk::new(&unit.source, &returns, function);
                walk.body(body);
                walk.finish(body, &mut learned);
            }
        }
    }
    learned
}

/// The intrinsic that an expression calls by its explicit name, or one of those with this overloaded name.
pub fn called(e: &Expr) -> Option<&'static Intrinsic> {
    let ExprKind::Call(of, args) = &e.kind else { return None };
    let ExprKind::Name(name) = &of.kind else { return None };
    if !is_intrinsic_name(name) {
        return None;
    }
    by_name(name).or_else(|| any_of(name, args.len()))
}

/// What made a scalar.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
enum Kind {
    Literal,
    Parameter,
    Element,
    Result,
    Vsetvl {
        in_loop: bool,
    },
    Vsetvlmax,
    #[default]
    Computed,
}

/// A value.
#[derive(Clone, Debug, Default)]
struct Value {
    ty: Option<CType>,
    /// The calls that may have made it.
    from: BTreeSet<usize>,
    kind: Kind,
}

struct Walk<'s> {
    source: &'s Source,
    returns: &'s HashMap<&'s str, &'s CType>,
    variables: HashMap<Rc<str>, Value>,
    /// Calls, by the address of the expression.
    nodes: HashMap<*const Expr, usize>,
    families: Vec<&'static str>,
    counts: Vec<(&'static str, String)>,
    edges: BTreeSet<(usize, usize, &'static str)>,
    /// How many loops are around this.
    depth: usize,
    operations: u64,
    calls: u64,
    unknown: u64,
    vlmax: bool,
    loops: u64,
}

/// Names of roles in tables.
pub const ROLES: [(Role, &str); 11] = [
    (Role::Mask, "mask"),
    (Role::Dest, "vd"),
    (Role::Acc, "vd"),
    (Role::Vs2, "vs2"),
    (Role::Vs1, "vs1"),
    (Role::Scalar, "rs1"),
    (Role::Carry, "v0"),
    (Role::Index, "index"),
    (Role::Data, "data"),
    (Role::Source, "source"),
    (Role::Value, "value"),
];

fn role_name(role: Role) -> Option<&'static str> {
    match role {
        Role::Part(_) => Some("part"),
        role => ROLES.iter().find(|(r, _)| *r == role).map(|(_, name)| *name),
    }
}

/// The policy of an intrinsic, as tables name it.
pub fn policy_name(intrinsic: &Intrinsic) -> &'static str {
    match intrinsic.policy {
        Policy::Default if intrinsic.is_masked() => "m",
        Policy::Default => "none",
        Policy::Tu => "tu",
        Policy::Tum => "tum",
        Policy::Tumu => "tumu",
        Policy::Mu => "mu",
    }
}

/// How many, in steps that double.
pub fn bucket(n: u64) -> &'static str {
    match n {
        0 => "0",
        1 => "1",
        2 => "2",
        3..=4 => "3-4",
        5..=8 => "5-8",
        9..=16 => "9-16",
        17..=32 => "17-32",
        33..=64 => "33-64",
        _ => "65-",
    }
}

impl<'s> Walk<'s> {
    fn new(source: &'s Source, returns: &'s HashMap<&'s str, &'s CType>, function: &Function) -> Walk<'s> {
        let mut variables = HashMap::new();
        for param in &function.params {
            let ty = Some(param.ty.clone());
            variables.insert(param.name.clone(), Value { ty, kind: Kind::Parameter, ..Value::default() });
        }
        Walk {
            source,
            returns,
            variables,
            nodes: HashMap::new(),
            families: Vec::new(),
            counts: Vec::new(),
            edges: BTreeSet::new(),
            depth: 0,
            operations: 0,
            calls: 0,
            unknown: 0,
            vlmax: false,
            loops: 0,
        }
    }

    fn finish(mut self, body: &[Stmt], learned: &mut Learned) {
        let mut all = Seen::default();
        body.iter().for_each(|s| all.stmt(s, false));
        self.shapes(body, !all.lengths.is_empty(), all.whole > 0);
        let table = &mut learned.table;
        for (section, name) in &self.counts {
            table.add(section, name, 1);
        }
        let mut pairs: BTreeMap<String, u64> = BTreeMap::new();
        for &(from, to, role) in &self.edges {
            *pairs.entry(format!("{} > {} {role}", self.families[from], self.families[to])).or_default() += 1;
        }
        pairs.iter().for_each(|(pair, n)| table.add("pairs", pair, *n));
        table.add("operations-per-function", bucket(self.operations), 1);
        table.add("loops-per-function", bucket(self.loops), 1);
        learned.calls += self.calls;
        learned.unknown += self.unknown;
    }

    /// Counts the shapes of loops.
    fn shapes(&mut self, body: &[Stmt], remainder: bool, vlmax: bool) {
        for stmt in body {
            let mut blocks: Vec<&[Stmt]> = Vec::new();
            let mut seen = Seen::default();
            let is_loop = match &stmt.kind {
                StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => {
                    seen.expr(c, false);
                    seen.stmt(body, false);
                    blocks.push(std::slice::from_ref(body));
                    // `do { … } while (0)` is how macros are written.
                    !matches!(c.kind, ExprKind::Integer(0, _))
                }
                StmtKind::For(_, condition, step, body) => {
                    condition.iter().chain(step).for_each(|e| seen.expr(e, false));
                    seen.stmt(body, false);
                    blocks.push(std::slice::from_ref(body));
                    true
                }
                StmtKind::If(_, then, otherwise) => {
                    blocks.push(std::slice::from_ref(then));
                    blocks.extend(otherwise.iter().map(|s| std::slice::from_ref(&**s)));
                    false
                }
                StmtKind::Switch(_, body) => {
                    blocks.push(std::slice::from_ref(body));
                    false
                }
                StmtKind::Block(body) => {
                    blocks.push(body);
                    false
                }
                _ => false,
            };
            if is_loop && let Some(shape) = shape(&seen, remainder, vlmax) {
                self.loops += 1;
                self.counts.push(("loops", shape.to_string()));
            }
            blocks.into_iter().for_each(|b| self.shapes(b, remainder, vlmax));
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        body.iter().for_each(|s| self.stmt(s));
    }

    /// A body that runs any number of times: what one round leaves may be an operand in the next.
    fn rounds(&mut self, mut round: impl FnMut(&mut Self)) {
        self.depth += 1;
        // Twice as deep would be four times: the innermost loops carry most.
        for _ in 0..if self.depth > 3 { 1 } else { 2 } {
            let before = self.variables.clone();
            round(self);
            self.join(before);
        }
        self.depth -= 1;
    }

    /// What holds whether or not something was done.
    fn join(&mut self, before: HashMap<Rc<str>, Value>) {
        for (name, value) in before {
            self.variables.entry(name).or_default().from.extend(value.from);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(e) => {
                self.value(e);
            }
            StmtKind::Declare(variables) => {
                for variable in variables {
                    let mut value = variable.init.as_ref().map(|e| self.value(e)).unwrap_or_default();
                    if variable.ty != CType::Auto {
                        value.ty = Some(variable.ty.clone());
                    }
                    self.variables.insert(variable.name.clone(), value);
                }
            }
            StmtKind::If(c, then, otherwise) => {
                self.value(c);
                let before = self.variables.clone();
                self.stmt(then);
                if let Some(otherwise) = otherwise {
                    let then = std::mem::replace(&mut self.variables, before);
                    self.stmt(otherwise);
                    self.join(then);
                } else {
                    self.join(before);
                }
            }
            StmtKind::While(c, body) => self.rounds(|w| {
                w.value(c);
                w.stmt(body);
            }),
            StmtKind::DoWhile(body, c) => self.rounds(|w| {
                w.stmt(body);
                w.value(c);
            }),
            StmtKind::For(first, condition, step, body) => {
                first.iter().for_each(|s| self.stmt(s));
                self.rounds(|w| {
                    condition.iter().for_each(|e| drop(w.value(e)));
                    w.stmt(body);
                    step.iter().for_each(|e| drop(w.value(e)));
                });
            }
            StmtKind::Switch(of, body) => {
                self.value(of);
                self.stmt(body);
            }
            StmtKind::Return(e) => e.iter().for_each(|e| drop(self.value(e))),
            StmtKind::Block(body) => self.body(body),
            StmtKind::Case(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Other(_) => {}
        }
    }

    fn value(&mut self, e: &Expr) -> Value {
        match &e.kind {
            ExprKind::Integer(..) | ExprKind::Float(..) => {
                Value { ty: e.literal_type(), kind: Kind::Literal, ..Value::default() }
            }
            ExprKind::SizeOf(_) | ExprKind::SizeOfValue(_) => {
                Value { ty: Some(CType::Rvv(Type::Size)), kind: Kind::Literal, ..Value::default() }
            }
            ExprKind::Text => Value::default(),
            ExprKind::Name(name) => match self.variables.get(name) {
                Some(value) => value.clone(),
                None if self.source.constants.contains_key(name) => {
                    Value { ty: Some(CType::Scalar(Elem::I32)), kind: Kind::Literal, ..Value::default() }
                }
                None => {
                    let global = self.source.globals.iter().find(|g| g.name == *name);
                    Value { ty: global.map(|g| g.ty.clone()), ..Value::default() }
                }
            },
            ExprKind::Unary(Unary::Deref, a) => self.element(a),
            ExprKind::Index(a, i) => {
                self.value(i);
                self.element(a)
            }
            ExprKind::Unary(Unary::Address, a) => {
                let inner = self.value(a);
                let ty = inner.ty.map(|ty| CType::Pointer(Box::new(ty)));
                Value { ty, from: inner.from, kind: Kind::Computed }
            }
            ExprKind::Unary(_, a) => {
                let inner = self.value(a);
                let kind = if inner.kind == Kind::Literal { Kind::Literal } else { Kind::Computed };
                Value { kind, from: BTreeSet::new(), ..inner }
            }
            ExprKind::Step(_, _, a) => Value { from: BTreeSet::new(), ..self.value(a) },
            ExprKind::Binary(_, a, b) => {
                let (a, b) = (self.value(a), self.value(b));
                let literal = a.kind == Kind::Literal && b.kind == Kind::Literal;
                let kind = if literal { Kind::Literal } else { Kind::Computed };
                Value { ty: wider(a.ty, b.ty), kind, from: BTreeSet::new() }
            }
            ExprKind::Assign(op, target, value) => {
                let mut value = self.value(value);
                if op.is_some() {
                    value.kind = Kind::Computed;
                    value.from.clear();
                }
                match &target.kind {
                    ExprKind::Name(name) => {
                        let old = self.variables.entry(name.clone()).or_default();
                        if old.ty.is_some() {
                            value.ty = old.ty.clone();
                        }
                        *old = value.clone();
                    }
                    _ => drop(self.value(target)),
                }
                value
            }
            ExprKind::Choice(of) => {
                self.value(&of[0]);
                let (mut a, b) = (self.value(&of[1]), self.value(&of[2]));
                a.from.extend(b.from);
                Value { kind: if a.kind == b.kind { a.kind } else { Kind::Computed }, ..a }
            }
            ExprKind::Call(of, args) => self.call(e, of, args),
            ExprKind::Member(a, field) => {
                let inner = self.value(a);
                let of = match inner.ty.as_ref().map(CType::value) {
                    Some(CType::Pointer(to)) => Some(to.value()),
                    other => other,
                };
                let ty = match of {
                    Some(CType::Struct(name)) => {
                        let fields = self.source.structs.get(name);
                        let found = fields.and_then(|f| f.iter().find(|p| p.name == *field));
                        found.map(|p| p.ty.clone())
                    }
                    _ => None,
                };
                Value { ty, kind: Kind::Element, from: BTreeSet::new() }
            }
            ExprKind::Cast(ty, a) => {
                let inner = self.value(a);
                Value { ty: Some(ty.clone()), ..inner }
            }
            ExprKind::List(items) => {
                items.iter().for_each(|e| drop(self.value(e)));
                Value::default()
            }
            ExprKind::Block(body) => {
                self.body(body);
                Value::default()
            }
            ExprKind::Comma(a, b) => {
                self.value(a);
                self.value(b)
            }
        }
    }

    fn element(&mut self, of: &Expr) -> Value {
        let of = self.value(of);
        let ty = match of.ty.as_ref().map(CType::value) {
            Some(CType::Pointer(to) | CType::Array(to, _)) => Some((**to).clone()),
            _ => None,
        };
        Value { ty, kind: Kind::Element, from: BTreeSet::new() }
    }

    fn call(&mut self, e: &Expr, of: &Expr, args: &[Expr]) -> Value {
        let values: Vec<Value> = args.iter().map(|a| self.value(a)).collect();
        let ExprKind::Name(name) = &of.kind else { return Value::default() };
        if !is_intrinsic_name(name) {
            let ty = self.returns.get(&**name).map(|ty| (*ty).clone());
            // A function of literals: the bits of a number, a constant of a macro.
            let literal = !values.is_empty() && values.iter().all(|v| v.kind == Kind::Literal);
            let kind = if literal { Kind::Literal } else { Kind::Computed };
            return Value { ty, kind, ..Value::default() };
        }
        let arguments: Vec<Argument> = values.iter().map(|v| argument(v.ty.as_ref())).collect();
        let Some(found) = resolve(name, &arguments) else {
            let unknown = &mut self.unknown;
            self.nodes.entry(std::ptr::from_ref(e)).or_insert_with(|| {
                *unknown += 1;
                usize::MAX
            });
            return Value::default();
        };
        let intrinsic = found.intrinsic;
        let known = self.nodes.get(&std::ptr::from_ref(e)).copied();
        let node = known.filter(|n| *n != usize::MAX).unwrap_or_else(|| {
            let node = self.families.len();
            self.nodes.insert(std::ptr::from_ref(e), node);
            self.families.push(intrinsic.family);
            self.count(intrinsic, found.overloaded, &values);
            node
        });
        for (param, value) in intrinsic.params.iter().zip(&values) {
            if let Some(role) = role_name(param.role) {
                self.edges.extend(value.from.iter().map(|from| (*from, node, role)));
            }
        }
        let kind = match intrinsic.sem {
            Sem::Setvl => Kind::Vsetvl { in_loop: self.depth > 0 },
            Sem::Setvlmax => Kind::Vsetvlmax,
            _ => Kind::Result,
        };
        let is_length = matches!(intrinsic.sem, Sem::Setvl | Sem::Setvlmax);
        let from = if is_length { BTreeSet::new() } else { BTreeSet::from([node]) };
        Value { ty: Some(c_type(intrinsic.ret)), from, kind }
    }

    /// Counts a call once.
    fn count(&mut self, intrinsic: &'static Intrinsic, overloaded: bool, values: &[Value]) {
        self.calls += 1;
        let mut see = |section, name: &str| self.counts.push((section, name.to_string()));
        see("families", intrinsic.family);
        if matches!(intrinsic.sem, Sem::Setvl | Sem::Setvlmax) {
            self.vlmax |= intrinsic.sem == Sem::Setvlmax;
            return;
        }
        if let Type::Vector(v) = intrinsic.ty {
            see("types", &v.short());
        } else if let Type::Mask(n) = intrinsic.ty {
            see("types", &format!("b{n}"));
        }
        see("policies", policy_name(intrinsic));
        see("names", if overloaded { "overloaded" } else { "explicit" });
        for (param, value) in intrinsic.params.iter().zip(values) {
            let scalar = matches!(param.ty, Type::Scalar(_)) || param.role == Role::Scalar;
            if param.role == Role::Vl {
                see(
                    "vl",
                    match value.kind {
                        Kind::Literal => "literal",
                        Kind::Parameter => "parameter",
                        Kind::Vsetvl { in_loop: true } => "vsetvl in a loop",
                        Kind::Vsetvl { in_loop: false } => "vsetvl",
                        Kind::Vsetvlmax => "vsetvlmax",
                        Kind::Element | Kind::Result | Kind::Computed => "computed",
                    },
                );
            } else if scalar {
                see(
                    "scalars",
                    match value.kind {
                        Kind::Literal => "literal",
                        Kind::Parameter => "parameter",
                        Kind::Element => "element of memory",
                        Kind::Result => "result of an intrinsic",
                        Kind::Vsetvl { .. } | Kind::Vsetvlmax => "vl",
                        Kind::Computed => "computed",
                    },
                );
            }
        }
        if intrinsic.sem.is_reduction() {
            see("reductions", if self.depth > 0 { "in a loop" } else { "outside of loops" });
        }
        self.operations += u64::from(is_operation(intrinsic));
    }
}

/// The type of the interface as a type of C.
pub fn c_type(ty: Type) -> CType {
    match ty {
        Type::Void => CType::Void,
        Type::Scalar(e) => CType::Scalar(e),
        Type::Uint => CType::Scalar(Elem::U32),
        Type::Pointer(e) | Type::ConstPointer(e) => CType::Pointer(Box::new(CType::Scalar(e))),
        Type::SizePointer => CType::Pointer(Box::new(CType::Rvv(Type::Size))),
        other => CType::Rvv(other),
    }
}

/// What an argument's type says.
pub fn argument(ty: Option<&CType>) -> Argument {
    let number = |ty: &CType| match ty {
        CType::Scalar(e) => Some(*e),
        CType::Bool => Some(Elem::U8),
        CType::Rvv(ty) => rvv_ir::put_elem(*ty),
        _ => None,
    };
    match ty.map(CType::value) {
        Some(CType::Rvv(ty @ (Type::Vector(_) | Type::Mask(_)))) => Argument::Vector(*ty),
        Some(CType::Pointer(to) | CType::Array(to, _)) => Argument::Pointer(number(to)),
        Some(CType::Bool | CType::Scalar(_) | CType::Rvv(_)) => Argument::Scalar(ty.and_then(number)),
        _ => Argument::Unknown,
    }
}

fn wider(a: Option<CType>, b: Option<CType>) -> Option<CType> {
    let pointer = |ty: &Option<CType>| matches!(ty, Some(CType::Pointer(_) | CType::Array(..)));
    if pointer(&a) {
        return a;
    }
    if pointer(&b) {
        return b;
    }
    match (argument(a.as_ref()), argument(b.as_ref())) {
        (Argument::Scalar(Some(x)), Argument::Scalar(Some(y))) => {
            rvv_ir::loops::common(x, y).ok().map(CType::Scalar)
        }
        _ => a.or(b),
    }
}
