//! Steps that make a program simpler. Each yields candidates; whether one still shows the fault, and still has a
//! meaning, is the reducer's to find out.

use super::tidy::{each_stmt, nodes, substitute, tidy, without, without_dead};
use rvv_intrinsics::{Intrinsic, Policy, Role, Sem, Type, all, by_name};
use rvv_ir::data::Init;
use rvv_ir::{Arg, Call, Expr, Node, Program, Stmt, Var};
use std::collections::HashMap;
use std::sync::LazyLock;

/// A kind of step.
pub type Step = fn(&Program) -> Vec<Program>;

/// All of them, the coarse ones first.
pub const STEPS: &[(&str, Step)] = &[
    ("slices", slices),
    ("dead code", drop_dead_code),
    ("statements", drop_statements),
    ("blocks", unwrap_blocks),
    ("functions", inline_functions),
    ("intrinsics", plainer_intrinsics),
    ("parameters", literal_params),
    ("vl", literal_vl),
    ("lengths", shorter),
    ("data", plainer_data),
    ("scalars", plainer_scalars),
];

/// The step that comes before all others if a compiler crashes: one statement and what it needs, the shortest first. Most
/// crashes need no more, and it need not be seen what a program prints.
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
        tidy(without(program, &others)).filter(|p| p != program && !p.calls().is_empty())
    };
    let mut found: Vec<Program> = (0..leaves.len()).filter_map(alone).collect();
    found.sort_by_key(|p| p.calls().len());
    found
}

/// What leads to one store, and nothing else, the shortest first: most faults need no more.
fn slices(program: &Program) -> Vec<Program> {
    let is_store = |node: &Node| match node.find(program) {
        Some(Stmt::Call(call)) => call.intrinsic.param(Role::Data).is_some(),
        Some(Stmt::Put { .. }) => true,
        _ => false,
    };
    let stores: Vec<Node> = nodes(program).into_iter().filter(is_store).collect();
    if stores.len() < 2 {
        return Vec::new();
    }
    let slice = |keep: &Node| {
        let others: Vec<Node> = stores.iter().filter(|s| *s != keep).cloned().collect();
        let whole = tidy(without(program, &others))?;
        Some(without_dead(&whole).unwrap_or(whole))
    };
    let mut found: Vec<Program> = stores.iter().filter_map(slice).filter(|p| !p.calls().is_empty()).collect();
    found.sort_by_key(|p| p.calls().len());
    found
}

/// Without what has no effect.
fn drop_dead_code(program: &Program) -> Vec<Program> {
    without_dead(program).into_iter().filter(|p| p != program && !p.calls().is_empty()).collect()
}

/// Without half of the statements, a quarter of them, and so on to each alone.
fn drop_statements(program: &Program) -> Vec<Program> {
    let nodes = nodes(program);
    let mut found = Vec::new();
    let mut size = nodes.len().div_ceil(2);
    while size > 0 {
        for chunk in nodes.chunks(size) {
            let whole = tidy(without(program, chunk));
            // What nobody reads any more goes too, if it can; if not, it may be what matters.
            found.extend(whole.as_ref().and_then(without_dead).filter(|p| Some(p) != whole.as_ref()));
            found.extend(whole);
        }
        if size == 1 {
            break;
        }
        size = size.div_ceil(2);
    }
    found.retain(|p| p != program && !p.calls().is_empty());
    found
}

/// A statement replaced by others.
fn replaced(program: &Program, node: &Node, by: Vec<Stmt>) -> Option<Program> {
    fn put(body: &mut Vec<Stmt>, path: &[usize], by: Vec<Stmt>) -> Option<()> {
        let (&step, rest) = path.split_first()?;
        if rest.is_empty() {
            if step >= body.len() {
                return None;
            }
            body.splice(step..=step, by);
            return Some(());
        }
        match body.get_mut(step)? {
            Stmt::Strip { body, .. } | Stmt::For { body, .. } => put(body, rest, by),
            Stmt::If { then, otherwise, .. } => {
                let first = then.len();
                if rest[0] < first {
                    put(then, rest, by)
                } else {
                    let mut rest = rest.to_vec();
                    rest[0] -= first;
                    put(otherwise, &rest, by)
                }
            }
            _ => None,
        }
    }
    let mut program = program.clone();
    let body = match program.functions.get_mut(node.function) {
        Some(function) => &mut function.body,
        None => &mut program.main.body,
    };
    put(body, &node.path, by)?;
    tidy(program)
}

/// Loops become their first round, conditions one of their branches.
fn unwrap_blocks(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for node in nodes(program) {
        match node.find(program) {
            Some(Stmt::For { index, body, .. }) => {
                let mut body = body.clone();
                each_stmt(&mut body, &mut |s| substitute(s, *index, &Expr::Const(0)));
                found.extend(replaced(program, &node, body));
            }
            Some(Stmt::Strip { vtype, length, index, vl, body }) => {
                let mut body = body.clone();
                each_stmt(&mut body, &mut |s| substitute(s, *index, &Expr::Const(0)));
                let name = format!("__riscv_vsetvl_e{}{}", vtype.elem.bits(), vtype.lmul);
                if let Some(intrinsic) = by_name(&name) {
                    let length = match length {
                        Expr::Var(var) => Arg::Var(*var),
                        e => Arg::Expr(e.clone()),
                    };
                    let mut with_vl = vec![Stmt::Call(Call {
                        dst: Some(*vl),
                        intrinsic,
                        overloaded: false,
                        args: vec![length],
                    })];
                    with_vl.extend(body.clone());
                    found.extend(replaced(program, &node, with_vl));
                }
                for literal in [1, 2, 4, 8] {
                    let mut body = body.clone();
                    each_stmt(&mut body, &mut |s| substitute(s, *vl, &Expr::Const(literal)));
                    found.extend(replaced(program, &node, body));
                }
            }
            Some(Stmt::If { then, otherwise, .. }) => {
                found.extend(replaced(program, &node, then.clone()));
                found.extend(replaced(program, &node, otherwise.clone()));
            }
            _ => {}
        }
    }
    found
}

/// A function of one call is called no more: the call stands in its place.
fn inline_functions(program: &Program) -> Vec<Program> {
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
        found.extend(replaced(program, &node, vec![Stmt::Call(inlined)]));
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

/// The unit-stride unmasked load or store of a type.
static PLAIN: LazyLock<HashMap<(bool, Type), &'static Intrinsic>> = LazyLock::new(|| {
    let plain = |i: &&Intrinsic| matches!(i.sem, Sem::Load | Sem::Store) && !i.is_masked() && !i.has_policy();
    let key = |i: &'static Intrinsic| match i.param(Role::Data) {
        Some(data) => ((true, data.ty), i),
        None => ((false, i.ret), i),
    };
    all().iter().filter(plain).map(key).collect()
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
fn plainer_intrinsics(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for node in nodes(program) {
        let Some(Stmt::Call(call)) = node.find(program) else { continue };
        let i = call.intrinsic;
        let mut others: Vec<Call> = Vec::new();
        let memory = (i.param(Role::Data).is_some(), i.param(Role::Data).map_or(i.ret, |p| p.ty));
        if let Some(plain) = PLAIN.get(&memory).filter(|p| p.id != i.id && i.param(Role::Base).is_some()) {
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
        found.extend(others.into_iter().filter_map(|c| replaced(program, &node, vec![Stmt::Call(c)])));
    }
    found
}

/// Opaque parameters become literals, one and all.
fn literal_params(program: &Program) -> Vec<Program> {
    let literal = |program: &Program, var: Var, value: u64| {
        let mut program = program.clone();
        each_stmt(&mut program.main.body, &mut |s| substitute(s, var, &Expr::Const(value)));
        tidy(program)
    };
    let mut all = Some(program.clone());
    for &(var, value) in &program.params {
        let name = program.main.name(var).to_string();
        all = all.and_then(|p| {
            let var = p.params.iter().map(|x| x.0).find(|v| p.main.name(*v) == name);
            match var {
                Some(var) => literal(&p, var, value),
                None => Some(p),
            }
        });
    }
    let each = program.params.iter().filter_map(|&(var, value)| literal(program, var, value));
    all.into_iter().chain(each).filter(|p| p != program).collect()
}

/// A vl that vsetvl or vsetvlmax gave becomes a literal.
fn literal_vl(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for node in nodes(program) {
        let Some(Stmt::Call(Call { dst: Some(dst), intrinsic, .. })) = node.find(program) else { continue };
        if !matches!(intrinsic.sem, Sem::Setvl | Sem::Setvlmax) || node.function != program.functions.len() {
            continue;
        }
        for literal in [1, 2, 4, 8, 16] {
            let mut program = program.clone();
            each_stmt(&mut program.main.body, &mut |s| substitute(s, *dst, &Expr::Const(literal)));
            program.remove(&node);
            found.extend(tidy(program));
        }
    }
    found
}

/// Smaller constants where they count, smaller buffers.
fn shorter(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    for (i, &(_, value)) in program.params.iter().enumerate() {
        for less in [value / 2, value.wrapping_sub(1)] {
            if less < value && value < 1 << 32 {
                let mut smaller = program.clone();
                smaller.params[i].1 = less;
                found.push(smaller);
            }
        }
    }
    for node in nodes(program) {
        match node.find(program) {
            Some(Stmt::Strip { length: Expr::Const(n), vtype, index, vl, body }) if *n > 1 => {
                for less in [n / 2, n - 1] {
                    let strip = Stmt::Strip {
                        length: Expr::Const(less),
                        vtype: *vtype,
                        index: *index,
                        vl: *vl,
                        body: body.clone(),
                    };
                    found.extend(replaced(program, &node, vec![strip]));
                }
            }
            Some(Stmt::Call(call)) => {
                let Some(at) = call.intrinsic.position(Role::Vl) else { continue };
                let Arg::Expr(Expr::Const(n)) = call.args[at] else { continue };
                for less in [n / 2, n.wrapping_sub(1)] {
                    if less < n && less > 0 {
                        let mut smaller = call.clone();
                        smaller.args[at] = Arg::Expr(Expr::Const(less));
                        found.extend(replaced(program, &node, vec![Stmt::Call(smaller)]));
                    }
                }
            }
            _ => {}
        }
    }
    for i in 0..program.buffers.len() {
        for less in [program.buffers[i].len / 2, program.buffers[i].len.saturating_sub(1)] {
            if less > 0 && less < program.buffers[i].len {
                let mut smaller = program.clone();
                smaller.buffers[i].len = less;
                if let Init::Data(data) = &mut smaller.buffers[i].init {
                    data.truncate(less);
                }
                found.push(smaller);
            }
        }
    }
    found
}

/// Zeros everywhere, zeros in one buffer, counting numbers; then literal values, of which halves, quarters and so on
/// become zeros.
fn plainer_data(program: &Program) -> Vec<Program> {
    let mut found = Vec::new();
    let with = |i: usize, init: Init| {
        let mut plainer = program.clone();
        plainer.buffers[i].init = init;
        plainer
    };
    let mut zeros = program.clone();
    zeros.buffers.iter_mut().for_each(|b| b.init = Init::Zero);
    if zeros != *program {
        found.push(zeros);
    }
    for (i, buffer) in program.buffers.iter().enumerate() {
        if buffer.init != Init::Zero {
            found.push(with(i, Init::Zero));
        }
    }
    for (i, buffer) in program.buffers.iter().enumerate() {
        match &buffer.init {
            Init::Seed(..) if buffer.len <= 256 => {
                found.push(with(i, Init::Data((1..=buffer.len as u64).collect())));
                found.push(with(i, Init::Data(buffer.init.values(buffer.elem, buffer.len))));
            }
            Init::Data(data) => {
                let mut size = data.len().div_ceil(2);
                while size > 0 {
                    for start in (0..data.len()).step_by(size) {
                        let range = start..data.len().min(start + size);
                        if data[range.clone()].iter().any(|v| *v != 0) {
                            let mut data = data.clone();
                            data[range].fill(0);
                            found.push(with(i, Init::Data(data)));
                        }
                    }
                    size = if size == 1 { 0 } else { size.div_ceil(2) };
                }
            }
            _ => {}
        }
    }
    found
}

/// Scalar operands become 0 or 1.
fn plainer_scalars(program: &Program) -> Vec<Program> {
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
                found.extend(replaced(program, &node, vec![Stmt::Call(plainer)]));
            }
        }
    }
    found
}
