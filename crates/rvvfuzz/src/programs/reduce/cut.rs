//! Cuts through the flow of values: print a value where it is made, and load it instead of computing it.
//! Between the two cuts stands what goes wrong.

use super::edit::Edit;
use super::simplify::{Access, PLAIN};
use rvv_intrinsics::{Elem, Role, Sem, Type};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::loops::Target;
use rvv_ir::tidy::{nodes, tidy, without_dead};
use rvv_ir::{Arg, Buffer, BufferKind, Call, Contents, Expr, Node, Program, Stmt, Var};
use rvv_oracle::{Options, evaluate};

/// Programs with more values than this are made smaller otherwise first: each value is a candidate.
const FEW: usize = 80;

/// Whether a statement writes memory itself.
pub fn is_store(program: &Program, node: &Node) -> bool {
    match node.find(program) {
        Some(Stmt::Call(call)) => call.intrinsic.param(Role::Data).is_some(),
        Some(Stmt::Put { .. } | Stmt::Set { target: Target::Element(_), .. } | Stmt::Lanes(_)) => true,
        _ => false,
    }
}

/// A vector that `main` computes.
struct Value {
    node: Node,
    var: Var,
    ty: Type,
    vl: Arg,
    /// The vl is that of its own call; another may be more than there are elements.
    own_vl: bool,
}

/// The vectors that `main` computes. Plain loads compute nothing.
fn values(program: &Program) -> Vec<Value> {
    let mut found = Vec::new();
    let mut vls: Vec<(Node, Arg)> = Vec::new();
    for node in nodes(program).into_iter().filter(|n| n.function == program.functions.len()) {
        let mut own_vl = false;
        let dst = match node.find(program) {
            Some(Stmt::Call(call)) => {
                if let Some(at) = call.intrinsic.position(Role::Vl) {
                    vls.push((node.clone(), call.args[at].clone()));
                    own_vl = true;
                }
                let plain = PLAIN.get(&(Access::Load, call.intrinsic.ret));
                call.dst.filter(|_| plain.is_none_or(|p| p.id != call.intrinsic.id))
            }
            Some(Stmt::Invoke { dst, function, args }) => {
                // A size that a function gets is the vl it works with.
                let called = program.functions.get(*function);
                let is_size = |(n, _): &(usize, &Arg)| {
                    called.and_then(|f| Some(f.ty(*f.params.get(*n)?))) == Some(Type::Size)
                };
                vls.extend(
                    args.iter().enumerate().find(is_size).map(|(_, size)| (node.clone(), size.clone())),
                );
                *dst
            }
            _ => None,
        };
        let Some(var) = dst else { continue };
        let ty = program.main.ty(var);
        if PLAIN.contains_key(&(Access::Store, ty)) {
            // What has no vl of its own takes the one before. That of a block that has ended is not assigned
            // any more.
            let is_there =
                |n: &Node| n.path.split_last().is_some_and(|(_, block)| node.path.starts_with(block));
            let vl = vls.iter().rev().find(|(n, _)| is_there(n)).map(|(_, vl)| vl.clone());
            found.push(Value { node, var, ty, vl: vl.unwrap_or(Arg::Expr(Expr::Const(1))), own_vl });
        }
    }
    found
}

/// No buffer for a cut is longer, in elements of one field.
const LONGEST: usize = 1024;

/// A buffer that holds a vector of this type, as long as any other of the program.
fn buffer(program: &Program, ty: Type, kind: BufferKind, init: Init) -> Option<Buffer> {
    let longest = program.buffers.iter().map(|b| b.len).max().unwrap_or(1).min(LONGEST);
    let (elem, len) = match ty {
        Type::Vector(v) => (v.elem, longest * v.nf as usize),
        Type::Mask(_) => (Elem::U8, longest),
        _ => return None,
    };
    Some(Buffer {
        name: format!("cut{}", program.buffers.len()),
        elem,
        truths: false,
        len,
        dims: Vec::new(),
        kind,
        init,
    })
}

/// The plain store of a value at the start of a buffer, or the load of it.
fn plain(value: &Value, access: Access, buffer: usize) -> Option<Stmt> {
    let intrinsic = PLAIN.get(&(access, value.ty))?;
    let arg = |role: Role| match role {
        Role::Base => Some(Arg::Addr(buffer, Expr::Const(0))),
        Role::Data => Some(Arg::Var(value.var)),
        Role::Vl => Some(value.vl.clone()),
        _ => None,
    };
    let args = intrinsic.params.iter().map(|p| arg(p.role)).collect::<Option<Vec<_>>>()?;
    Some(Stmt::Call(Call {
        dst: (access == Access::Load).then_some(value.var),
        intrinsic,
        overloaded: false,
        args,
    }))
}

/// Prints one value where it is made, and nothing else, what needs least first.
pub fn print_early(program: &Program) -> Vec<Program> {
    let values = values(program);
    if values.len() > FEW {
        return Vec::new();
    }
    let early = |value: &Value| {
        let mut early = program.clone();
        early.buffers.push(buffer(program, value.ty, BufferKind::Out, Init::Zero)?);
        let store = plain(value, Access::Store, program.buffers.len())?;
        // From the end, so that the places of the others stay.
        for node in nodes(program).iter().rev() {
            if *node == value.node {
                let made = node.find(program)?.clone();
                early.replace(node, vec![made, store.clone()]);
            } else if is_store(program, node) {
                early.remove(node);
            }
        }
        let whole = tidy(early)?;
        without_dead(&whole).filter(|p| p.calls().len() < program.calls().len())
    };
    let mut found: Vec<Program> = values.iter().filter_map(early).collect();
    found.sort_by_key(|p| p.calls().len());
    found
}

/// What each of the values holds when it is made last, as far as that is known.
fn contents(program: &Program, values: &[Value]) -> Vec<Option<Init>> {
    let print = |values: &[&Value]| {
        let mut all = program.clone();
        for value in values {
            let name = format!("cut{}", all.buffers.len());
            all.buffers.push(Buffer { name, ..buffer(program, value.ty, BufferKind::Out, Init::Zero)? });
        }
        for (i, value) in values.iter().enumerate().rev() {
            let made = value.node.find(program).cloned();
            let store = plain(value, Access::Store, program.buffers.len() + i);
            all.replace(&value.node, made.into_iter().chain(store).collect());
        }
        let printed = evaluate(&all, &Options::new(128)).ok()?;
        let cuts = printed.outputs[printed.outputs.len() - values.len()..].iter();
        let elems = all.buffers[program.buffers.len()..].iter().map(|b| b.elem.bytes() as usize);
        let number = |b: &[u8]| b.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
        let init = |(c, size): (&Contents, usize)| Init::Data(c.bytes.chunks(size).map(number).collect());
        Some(cuts.zip(elems).map(init).collect::<Vec<Init>>())
    };
    let own: Vec<&Value> = values.iter().filter(|v| v.own_vl).collect();
    if let Some(all) = print(&values.iter().collect::<Vec<_>>()) {
        return all.into_iter().map(Some).collect();
    }
    let mut known = print(&own).unwrap_or_default().into_iter();
    values.iter().map(|v| if v.own_vl { known.next() } else { None }).collect()
}

/// Loads a value instead of computing it, or takes a literal for a scalar.
pub fn load_inputs(program: &Program) -> Vec<Edit> {
    let values = values(program);
    let contents = contents(program, &values);
    let mut found = Vec::new();
    for (i, value) in values.iter().enumerate() {
        let init = contents[i].clone().unwrap_or(Init::Seed(1, Distribution::Mix));
        let data = buffer(program, value.ty, BufferKind::Data, init);
        if let (Some(data), Some(load)) = (data, plain(value, Access::Load, program.buffers.len())) {
            found.push(Edit { add: Some(data), ..Edit::replace(&value.node, vec![load]) });
        }
    }
    for node in nodes(program).iter().filter(|n| n.function == program.functions.len()) {
        let Some(Stmt::Call(Call { dst: Some(dst), intrinsic, .. })) = node.find(program) else { continue };
        let is_vl = matches!(intrinsic.sem, Sem::Setvl | Sem::Setvlmax);
        if !is_vl && !matches!(intrinsic.ret, Type::Vector(_) | Type::Mask(_)) {
            found.push(Edit { literal: Some((*dst, 1)), ..Edit::remove(node) });
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::reduce::edit::apply;
    use rvvgen::{Plan, Selection, Settings, Weights, generate};
    use std::collections::{HashMap, HashSet};

    fn program(seed: u64) -> Program {
        let plan = Plan::new(seed, &Selection::default(), 12, 128);
        let weights = Weights::policy("permutations").unwrap_or_default();
        generate(&plan, 0, &Settings { weights, ..Settings::default() }).unwrap().program
    }

    /// How many values are still computed when this one is loaded: all others, but for those that need what
    /// else its call assigns, the new vl of a fault-only-first load. No load assigns that.
    fn left(program: &Program, cut: &Node) -> usize {
        let mut lost: HashSet<Var> = match cut.find(program) {
            Some(Stmt::Call(call)) => {
                let by_reference = |arg: &Arg| if let Arg::Ref(v) = arg { Some(*v) } else { None };
                call.args.iter().filter_map(by_reference).collect()
            }
            _ => HashSet::new(),
        };
        let mut gone = vec![cut.path.clone()];
        for node in nodes(program).into_iter().filter(|n| n.function == program.functions.len() && n != cut) {
            let stmt = node.find(program).unwrap();
            if stmt.head().effects(program).reads.iter().any(|v| lost.contains(v)) {
                lost.extend(stmt.effects(program).writes);
                gone.push(node.path);
            }
        }
        let is_gone = |v: &Value| gone.iter().any(|path| v.node.path.starts_with(path));
        values(program).iter().filter(|v| !is_gone(v)).count()
    }

    /// Of a loop only the last round is known; elements past vl are not loaded, so not all is the same
    /// elsewhere either.
    #[test]
    fn values_that_are_loaded_are_those_that_were_computed() {
        let (mut same, mut all, mut none) = (0, 0, 0);
        for seed in 0..20 {
            let program = program(seed);
            let before = evaluate(&program, &Options::new(128)).unwrap();
            let in_loop = |e: &Edit| e.replace.as_ref().is_none_or(|(node, _)| node.path.len() > 1);
            for edit in load_inputs(&program).iter().filter(|e| e.add.is_some() && !in_loop(e)) {
                let cut = apply(&program, &[edit]).unwrap();
                let (node, _) = edit.replace.as_ref().unwrap();
                assert_eq!(values(&cut).len(), left(&program, node), "{node:?}\n{program}\n{cut}");
                // Who loads what a function returns goes without what else it does.
                let effects = node.find(&program).unwrap().effects(&program);
                if !effects.stores.is_empty() || effects.sets_frm {
                    continue;
                }
                let after = evaluate(&cut, &Options::new(128));
                let Ok(after) = after else {
                    none += 1;
                    continue;
                };
                let now: HashMap<&str, _> =
                    cut.outputs().map(|(_, b)| &b.name[..]).zip(&after.outputs).collect();
                let is_same = |((_, out), was): ((usize, &Buffer), &Contents)| {
                    let is = now.get(&out.name[..]);
                    let wrong = |is: &Contents, i| (was.bytes[i] ^ is.bytes[i]) & was.defined[i] != 0;
                    is.is_some_and(|is| !(0..was.bytes.len()).any(|i| wrong(is, i)))
                };
                all += 1;
                same += u32::from(program.outputs().zip(&before.outputs).all(is_same));
            }
        }
        assert!(all > 150 && same * 10 > all * 7, "{same} of {all}, {none} without a meaning");
    }

    #[test]
    fn a_value_printed_early_needs_less() {
        let program = program(3);
        let found = print_early(&program);
        assert!(found.len() > 5, "{}", found.len());
        for early in &found {
            assert_eq!(early.outputs().count(), 1);
            assert!(evaluate(early, &Options::new(128)).is_ok(), "{early}");
        }
    }
}
