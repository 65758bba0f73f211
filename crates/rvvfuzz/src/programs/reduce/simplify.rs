//! Steps that make a program simpler. Each yields candidates; whether one still shows the fault, and still
//! has a meaning, is the reducer's to find out.

use super::cut::{is_store, load_inputs, print_early};
use super::edit::Edit;
use super::loops;
use rvv_intrinsics::{Intrinsic, Policy, Role, Sem, Type, all, by_name};
use rvv_ir::data::Init;
use rvv_ir::tidy::{each_stmt, nodes, substitute, tidy, without, without_dead};
use rvv_ir::{Arg, Buffer, Call, Expr, Node, Program, Stmt, Var};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A kind of step.
#[derive(Clone, Copy)]
pub enum Step {
    /// Whole programs, of which the first that shows the fault is taken.
    Choose(fn(&Program) -> Vec<Program>),
    /// Changes, of which as many as possible are made.
    Change(fn(&Program) -> Vec<Edit>),
}

/// All of them, the coarse ones first.
pub const STEPS: &[Step] = &[
    Step::Choose(slices),
    Step::Choose(drop_dead_code),
    Step::Choose(print_early),
    Step::Change(load_inputs),
    Step::Change(drop_statements),
    Step::Change(unwrap_blocks),
    Step::Change(loops::unwrap),
    Step::Change(loops::plainer_loops),
    Step::Choose(loops::plainer_groups),
    Step::Change(loops::plainer_expressions),
    Step::Change(loops::plainer_vectors),
    Step::Choose(loops::literal_arguments),
    Step::Choose(loops::plainer_declarations),
    Step::Change(inline_functions),
    Step::Change(plainer_intrinsics),
    Step::Change(literal_params),
    Step::Change(literal_vl),
    Step::Change(shorter),
    Step::Change(plainer_data),
    Step::Change(zero_elements),
    Step::Change(plainer_scalars),
];

/// The step that comes before all others if a compiler crashes: one statement and what it needs, the shortest
/// first. Most crashes need no more, and it need not be seen what a program prints.
pub fn focus(program: &Program) -> Vec<Program> {
    let main = program.functions.len();
    let simple = |node: &Node| {
        node.function == main
            && !matches!(node.find(program), Some(Stmt::Strip { .. } | Stmt::For { .. } | Stmt::If { .. }))
    };
    let leaves: Vec<Node> = nodes(program).into_iter().filter(simple).collect();
    let effects: Vec<_> = leaves.iter().filter_map(|n| Some(n.find(program)?.effects(program))).collect();
    if effects.len() != leaves.len() {
        return Vec::new();
    }
    let alone = |one: usize| {
        let mut kept = vec![false; leaves.len()];
        let mut needed: Vec<Var> = effects[one].reads.clone();
        kept[one] = true;
        while let Some(var) = needed.pop() {
            for (i, effect) in effects.iter().enumerate() {
                if !kept[i] && effect.writes.contains(&var) {
                    kept[i] = true;
                    needed.extend(&effect.reads);
                }
            }
        }
        let others: Vec<Node> = (0..leaves.len()).filter(|i| !kept[*i]).map(|i| leaves[i].clone()).collect();
        tidy(without(program, &others)).filter(|p| p != program && p.work() > 0)
    };
    let mut found: Vec<Program> = (0..leaves.len()).filter_map(alone).collect();
    found.sort_by_key(|p| p.work());
    found
}

/// What leads to one store, and nothing else, the shortest first: most faults need no more.
fn slices(program: &Program) -> Vec<Program> {
    let stores: Vec<Node> = nodes(program).into_iter().filter(|n| is_store(program, n)).collect();
    if stores.len() < 2 {
        return Vec::new();
    }
    let slice = |keep: &Node| {
        let others: Vec<Node> = stores.iter().filter(|s| *s != keep).cloned().collect();
        let whole = tidy(without(program, &others))?;
        Some(without_dead(&whole).unwrap_or(whole))
    };
    let mut found: Vec<Program> = stores.iter().filter_map(slice).filter(|p| p.work() > 0).collect();
    found.sort_by_key(|p| p.work());
    found
}

/// Without what has no effect.
fn drop_dead_code(program: &Program) -> Vec<Program> {
    without_dead(program).into_iter().filter(|p| p != program && p.work() > 0).collect()
}

/// Without a statement.
fn drop_statements(program: &Program) -> Vec<Edit> {
    nodes(program).iter().map(Edit::remove).collect()
}

/// Loops become their first round, conditions one of their branches.
fn unwrap_blocks(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    let literal = |body: &[Stmt], var: Var, value: u64| {
        let mut body = body.to_vec();
        each_stmt(&mut body, &mut |s| substitute(s, var, &Expr::Const(value)));
        body
    };
    for node in nodes(program) {
        match node.find(program) {
            Some(Stmt::For { index, body, .. }) => {
                found.push(Edit::replace(&node, literal(body, *index, 0)));
            }
            Some(Stmt::Strip { vtype, length, index, vl, body }) => {
                let body = literal(body, *index, 0);
                let name = format!("__riscv_vsetvl_e{}{}", vtype.elem.bits(), vtype.lmul);
                if let Some(intrinsic) = by_name(&name) {
                    let length = match length {
                        Expr::Var(var) => Arg::Var(*var),
                        e => Arg::Expr(e.clone()),
                    };
                    let args = vec![length];
                    let setvl = Stmt::Call(Call { dst: Some(*vl), intrinsic, overloaded: false, args });
                    found.push(Edit::replace(&node, [vec![setvl], body.clone()].concat()));
                }
                for value in [1, 2, 4, 8] {
                    found.push(Edit::replace(&node, literal(&body, *vl, value)));
                }
            }
            Some(Stmt::If { then, otherwise, .. }) => {
                found.push(Edit::replace(&node, then.clone()));
                found.push(Edit::replace(&node, otherwise.clone()));
            }
            _ => {}
        }
    }
    found
}

/// A function of one call is called no more: the call stands in its place.
fn inline_functions(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for node in nodes(program) {
        let Some(Stmt::Invoke { dst, function, args }) = node.find(program) else { continue };
        let callee = &program.functions[*function];
        let [Stmt::Call(call)] = &callee.body[..] else { continue };
        let mut inlined = call.clone();
        inlined.dst = *dst;
        let outer: HashMap<Var, &Arg> = callee.params.iter().copied().zip(args).collect();
        for arg in &mut inlined.args {
            if let Arg::Var(var) = arg
                && let Some(passed) = outer.get(var)
            {
                *arg = (*passed).clone();
            }
        }
        found.push(Edit::replace(&node, vec![Stmt::Call(inlined)]));
    }
    found
}

type Variants = HashMap<(&'static str, Type, Type), Vec<&'static Intrinsic>>;

/// Intrinsics by family and type, for the plain one among its variants.
static VARIANTS: LazyLock<Variants> = LazyLock::new(|| {
    let mut map = Variants::new();
    for i in all() {
        map.entry((i.family, i.ty, i.ret)).or_default().push(i);
    }
    map
});

/// What a plain access does.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads memory.
    Load,
    /// Writes memory.
    Store,
}

/// What a plain intrinsic of memory does, and to values of which type.
fn access_of(i: &Intrinsic) -> (Access, Type) {
    match i.param(Role::Data) {
        Some(data) => (Access::Store, data.ty),
        None => (Access::Load, i.ret),
    }
}

/// The unit-stride unmasked load or store of a type.
pub static PLAIN: LazyLock<HashMap<(Access, Type), &'static Intrinsic>> = LazyLock::new(|| {
    let plain = |i: &&Intrinsic| {
        matches!(i.sem, Sem::Load | Sem::Store | Sem::LoadMask | Sem::StoreMask)
            && !i.is_masked()
            && !i.has_policy()
    };
    all().iter().filter(plain).map(|i| (access_of(i), i)).collect()
});

/// The same call by another intrinsic, its arguments put in by the parts they play.
fn by(call: &Call, intrinsic: &'static Intrinsic) -> Option<Call> {
    let mut args = Vec::new();
    for param in &intrinsic.params {
        let at = call.intrinsic.params.iter().position(|p| p.role == param.role && p.ty == param.ty)?;
        args.push(call.args[at].clone());
    }
    Some(Call { dst: call.dst, intrinsic, overloaded: false, args })
}

/// Without mask, policy or rounding mode; by the explicit name; plain loads and stores.
fn plainer_intrinsics(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for node in nodes(program) {
        let Some(Stmt::Call(call)) = node.find(program) else { continue };
        let i = call.intrinsic;
        let mut others: Vec<Call> = Vec::new();
        if let Some(plain) =
            PLAIN.get(&access_of(i)).filter(|p| p.id != i.id && i.param(Role::Base).is_some())
        {
            others.extend(by(call, plain));
        }
        for variant in VARIANTS.get(&(i.family, i.ty, i.ret)).into_iter().flatten() {
            if variant.params.len() < i.params.len() && (variant.policy == Policy::Default || i.has_policy())
            {
                others.extend(by(call, variant));
            }
        }
        if call.overloaded {
            others.push(Call { overloaded: false, ..call.clone() });
        }
        found.extend(others.into_iter().map(|c| Edit::replace(&node, vec![Stmt::Call(c)])));
    }
    found
}

/// Opaque parameters become literals.
fn literal_params(program: &Program) -> Vec<Edit> {
    program.params.iter().map(|p| Edit { literal: Some(*p), ..Edit::default() }).collect()
}

/// A vl that vsetvl or vsetvlmax gave becomes a literal.
fn literal_vl(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for node in nodes(program) {
        let Some(Stmt::Call(Call { dst: Some(dst), intrinsic, .. })) = node.find(program) else { continue };
        if !matches!(intrinsic.sem, Sem::Setvl | Sem::Setvlmax) || node.function != program.functions.len() {
            continue;
        }
        let with = |literal| Edit { literal: Some((*dst, literal)), ..Edit::remove(&node) };
        found.extend([1, 2, 4, 8, 16].map(with));
    }
    found
}

/// Smaller constants where they count, smaller buffers.
fn shorter(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for (i, &(_, value)) in program.params.iter().enumerate() {
        let lengths = less_than(value).into_iter().filter(|_| value < 1 << 32);
        found.extend(lengths.map(|less| Edit { param: Some((i, less)), ..Edit::default() }));
    }
    for node in nodes(program) {
        let Some(stmt) = node.find(program) else { continue };
        let mut smaller = stmt.clone();
        match stmt {
            Stmt::Strip { length: Expr::Const(n), .. } => {
                for less in less_than(*n).into_iter().filter(|less| *less > 0) {
                    if let Stmt::Strip { length, .. } = &mut smaller {
                        *length = Expr::Const(less);
                    }
                    found.push(Edit::replace(&node, vec![smaller.clone()]));
                }
            }
            Stmt::Call(call) => {
                let Some(at) = call.intrinsic.position(Role::Vl) else { continue };
                let Arg::Expr(Expr::Const(n)) = call.args[at] else { continue };
                for less in less_than(n).into_iter().filter(|less| *less > 0) {
                    if let Stmt::Call(call) = &mut smaller {
                        call.args[at] = Arg::Expr(Expr::Const(less));
                    }
                    found.push(Edit::replace(&node, vec![smaller.clone()]));
                }
            }
            _ => {}
        }
    }
    for (i, buffer) in program.buffers.iter().enumerate() {
        let inner = buffer.dims.iter().product::<usize>().max(1);
        for less in less_than((buffer.len / inner) as u64).into_iter().filter(|less| *less > 0) {
            let mut smaller = Buffer { len: less as usize * inner, ..buffer.clone() };
            if let Init::Data(data) = &mut smaller.init {
                data.truncate(smaller.len);
            }
            found.push(Edit { buffer: Some((i, smaller)), ..Edit::default() });
        }
    }
    found
}

/// A quarter, half, three quarters; of small numbers one less.
fn less_than(n: u64) -> Vec<u64> {
    let mut less = vec![n / 4, n / 2, n - n / 4, n.saturating_sub(u64::from(n <= 8))];
    less.dedup();
    less.retain(|l| *l < n);
    less
}

/// Zeros, counting numbers, and literal values.
fn plainer_data(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for (i, buffer) in program.buffers.iter().enumerate() {
        let mut with = |init: Init| {
            found.push(Edit { buffer: Some((i, Buffer { init, ..buffer.clone() })), ..Edit::default() });
        };
        if buffer.init != Init::Zero {
            with(Init::Zero);
        }
        if let Init::Seed(..) = &buffer.init
            && buffer.len <= 256
        {
            with(Init::Data((1..=buffer.len as u64).collect()));
            with(Init::Data(buffer.values()));
        }
    }
    found
}

/// Literal values become zero.
fn zero_elements(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for (i, buffer) in program.buffers.iter().enumerate() {
        if let Init::Data(data) = &buffer.init {
            let values = data.iter().enumerate().filter(|(_, value)| **value != 0);
            found.extend(values.map(|(at, _)| Edit { zero: Some((i, at)), ..Edit::default() }));
        }
    }
    found
}

/// Scalar operands become 0 or 1.
fn plainer_scalars(program: &Program) -> Vec<Edit> {
    let mut found = Vec::new();
    for node in nodes(program) {
        let Some(Stmt::Call(call)) = node.find(program) else { continue };
        for (at, param) in call.intrinsic.params.iter().enumerate() {
            let Arg::Expr(Expr::Const(value)) = call.args[at] else { continue };
            if matches!(param.role, Role::Vl | Role::Avl | Role::Stride) {
                continue;
            }
            for plain in [0, 1].into_iter().filter(|p| *p < value) {
                let mut plainer = call.clone();
                plainer.args[at] = Arg::Expr(Expr::Const(plain));
                found.push(Edit::replace(&node, vec![Stmt::Call(plainer)]));
            }
        }
    }
    found
}
