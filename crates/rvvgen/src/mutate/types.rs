//! Mutations of types: a chain of calls computes in another SEW and LMUL, or another signedness, at the same
//! ratio; a buffer or a scalar of plain C holds another type.

use super::calls::call_of;
use super::draft::Draft;
use super::index::Index;
use crate::stats::is_operation;
use rvv_intrinsics::{Elem, Intrinsic, Role, Type, VecType};
use rvv_ir::loops::CExpr;
use rvv_ir::tidy::nodes;
use rvv_ir::{Arg, Call, Node, Stmt, Var, put_elem};
use rvv_isa::Lmul;
use std::collections::{HashMap, HashSet};

/// Calls of a chain.
const MOST: usize = 6;

/// A chain of calls of one block computes in another type. Where values come in and go out they are
/// converted.
pub(super) fn chain(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| call_of(s).is_some_and(|c| is_operation(c.intrinsic)),
        |draft, node| {
            let ty = of(call_of(draft.stmt(node)?)?.intrinsic)?;
            let mut others: Vec<VecType> = at_ratio(ty);
            draft.rng.shuffle(&mut others);
            others.into_iter().find_map(|to| change(draft, node, ty, to))
        },
    )
}

/// The type that an operation computes in.
fn of(i: &Intrinsic) -> Option<VecType> {
    i.param(Role::Vs2)
        .or(i.param(Role::Vs1))
        .and_then(|p| p.ty.vector())
        .or(i.ret.vector())
        .filter(|v| v.nf == 1)
}

/// Other types of the same ratio, so that one vl does for both.
fn at_ratio(ty: VecType) -> Vec<VecType> {
    let all = Elem::ALL.into_iter().flat_map(|e| Lmul::ALL.map(|l| VecType::new(e, l)));
    all.filter(|t| *t != ty && t.exists() && t.ratio() == ty.ratio()).collect()
}

/// The type that takes another's place: element and vector type, others stay what they are.
fn map(from: VecType, to: VecType) -> impl Fn(Type) -> Option<Type> {
    move |ty| {
        Some(match ty {
            Type::Vector(v) if v == from => Type::Vector(to),
            Type::Scalar(e) if e == from.elem => Type::Scalar(to.elem),
            ty => ty,
        })
    }
}

fn change(draft: &mut Draft, node: &Node, from: VecType, to: VecType) -> Option<()> {
    let index = Index::get();
    let (old, new) = (Type::Vector(from), Type::Vector(to));
    // Both ways: what comes in and what goes out.
    let into = index.conversions(old, new);
    let back = index.conversions(new, old);
    let (into, back) = (*draft.rng.pick(into)?, *draft.rng.pick(back)?);
    let mapped = |stmt: &Stmt| -> Option<&'static Intrinsic> {
        let call = call_of(stmt).filter(|c| is_operation(c.intrinsic))?;
        let other = index.mapped(call.intrinsic, map(from, to))?;
        // Scalars would need another type, too; literals have all.
        let scalars = call.args.iter().zip(&other.params).zip(&call.intrinsic.params);
        let fits = scalars.into_iter().all(|((arg, p), q)| {
            p.ty == q.ty
                || matches!((arg, p.ty), (Arg::Expr(_), Type::Scalar(_)) | (Arg::Var(_), Type::Vector(_)))
        });
        (fits && other.id != call.intrinsic.id && draft.settings.may_feed(other)).then_some(other)
    };
    // Neighbours in the block that touch what is in the chain.
    let (&at, block) = node.path.split_last()?;
    let mut chain: HashMap<usize, &'static Intrinsic> = HashMap::new();
    let mut vars: HashSet<Var> = HashSet::new();
    let seed = call_of(draft.stmt(node)?)?.clone();
    chain.insert(at, mapped(&Stmt::Call(seed.clone()))?);
    let touched = |call: &Call| -> Vec<Var> {
        let args = call.args.iter().filter_map(|a| match a {
            Arg::Var(var) => Some(*var),
            _ => None,
        });
        args.chain(call.dst).filter(|v| draft.function(node).ty(*v) == old).collect()
    };
    vars.extend(touched(&seed));
    for step in at + 1..at + 16 {
        let place = Node { function: node.function, path: [block, &[step]].concat() };
        let Some(stmt) = draft.stmt(&place) else { break };
        let Some(call) = call_of(stmt) else { continue };
        if chain.len() < MOST
            && touched(call).iter().any(|v| vars.contains(v))
            && let Some(other) = mapped(stmt)
        {
            chain.insert(step, other);
            vars.extend(touched(call));
        }
    }
    // A variable that nothing else names changes its type; for others there is a new one.
    let mut inside: HashSet<Var> = vars.clone();
    let function = draft.function(node);
    inside.retain(|v| !function.params.contains(v) && function.ret != Some(*v));
    for place in nodes(draft.program()) {
        let here = place.function == node.function
            && place.path.len() == node.path.len()
            && place.path.starts_with(block)
            && chain.contains_key(&place.path[block.len()]);
        if place.function != node.function || here {
            continue;
        }
        let Some(stmt) = draft.stmt(&place).filter(|s| s.blocks().is_empty()) else { continue };
        stmt.clone().each_var_mut(&mut |v| {
            inside.remove(v);
        });
    }
    let mut steps: Vec<usize> = chain.keys().copied().collect();
    steps.sort_unstable_by(|a, b| b.cmp(a));
    for var in &inside {
        draft.function_mut(node.function).vars.get_mut(var.index())?.ty = new;
        draft.function_mut(node.function).vars.get_mut(var.index())?.fixed = false;
    }
    // From the last to the first, so that the places of the others stay.
    for step in steps {
        let place = Node { function: node.function, path: [block, &[step]].concat() };
        let mut call = call_of(draft.stmt(&place)?)?.clone();
        let vl = call.intrinsic.position(Role::Vl).map(|i| call.args[i].clone());
        let (mut before, mut after) = (Vec::new(), Vec::new());
        let intrinsic = chain[&step];
        for (i, param) in intrinsic.params.iter().enumerate() {
            match (&call.args[i], param.ty) {
                (Arg::Var(var), ty) if ty == new && call.intrinsic.params[i].ty == old => {
                    let var = *var;
                    if !inside.contains(&var) {
                        let inner = draft.var(node.function, new);
                        before.push(convert(into, inner, var, vl.as_ref())?);
                        call.args[i] = Arg::Var(inner);
                    }
                }
                (Arg::Expr(rvv_ir::Expr::Const(_)), Type::Scalar(elem))
                    if ty_of(call.intrinsic, i) != param.ty =>
                {
                    call.args[i] = Arg::Expr(rvv_ir::Expr::Const(draft.bits(elem)));
                }
                _ => {}
            }
        }
        if let Some(dst) = call.dst
            && intrinsic.ret == new
            && call.intrinsic.ret == old
            && !inside.contains(&dst)
        {
            let inner = draft.var(node.function, new);
            after.push(convert(back, dst, inner, vl.as_ref())?);
            call.dst = Some(inner);
        }
        call.overloaded &= intrinsic.overloaded.is_some();
        call.intrinsic = intrinsic;
        let mut next = place.clone();
        *next.path.last_mut()? += 1;
        draft.at.insert(&next, after);
        *draft.touch(&place)? = Stmt::Call(call);
        draft.at.insert(&place, before);
    }
    Some(())
}

fn ty_of(i: &Intrinsic, param: usize) -> Type {
    i.params.get(param).map_or(Type::Void, |p| p.ty)
}

fn convert(by: &'static Intrinsic, dst: Var, src: Var, vl: Option<&Arg>) -> Option<Stmt> {
    let mut args = Vec::new();
    for param in &by.params {
        args.push(match param.role {
            Role::Vl => vl?.clone(),
            Role::Vs2 | Role::Source => Arg::Var(src),
            _ => return None,
        });
    }
    Some(Stmt::Call(Call { dst: Some(dst), intrinsic: by, overloaded: false, args }))
}

/// A buffer that only element statements touch holds another type, a scalar or a counter has another, or a
/// conversion is put in.
pub(super) fn element(draft: &mut Draft) -> Option<()> {
    match draft.rng.below(3) {
        0 => buffer(draft).or_else(|| scalar(draft)),
        1 => scalar(draft).or_else(|| buffer(draft)),
        _ => cast(draft).or_else(|| buffer(draft)),
    }
}

fn other(draft: &mut Draft, elem: Elem) -> Option<Elem> {
    let kind = |e: &Elem| e.is_float() == elem.is_float() && *e != elem && *e != Elem::Bf16;
    let all: Vec<Elem> = Elem::ALL.into_iter().filter(kind).collect();
    draft.rng.pick(&all).copied()
}

fn buffer(draft: &mut Draft) -> Option<()> {
    let program = draft.program();
    // What intrinsics, `put` and vectors use has the type that they ask for.
    let mut whole: HashSet<usize> = HashSet::new();
    for place in nodes(program) {
        match place.find(program) {
            Some(Stmt::Call(call)) => whole.extend(call.args.iter().filter_map(|a| match a {
                Arg::Addr(buffer, _) => Some(*buffer),
                _ => None,
            })),
            Some(Stmt::Put { buffer, .. }) => {
                whole.insert(*buffer);
            }
            Some(stmt @ Stmt::Lanes(_)) => stmt.clone().element_buffers(&mut |b| {
                whole.insert(*b);
            }),
            _ => {}
        }
    }
    let free = |n: &usize| {
        let buffer = &program.buffers[*n];
        !whole.contains(n) && !buffer.truths && buffer.elem != Elem::Bf16
    };
    let mut numbers: Vec<usize> = (0..program.buffers.len()).filter(free).collect();
    draft.rng.shuffle(&mut numbers);
    let number = *numbers.first()?;
    let elem = other(draft, draft.program().buffers[number].elem)?;
    draft.at.program.buffers[number].elem = elem;
    for place in nodes(draft.program()) {
        let uses = |s: &Stmt| s.accesses().iter().any(|a| a.buffer == number);
        if draft.stmt(&place).is_some_and(uses) {
            draft.at.follow(place);
        }
    }
    Some(())
}

fn scalar(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| matches!(s, Stmt::Loop(_) | Stmt::Set { target: rvv_ir::loops::Target::Var(_), .. }),
        |draft, node| {
            let var = match draft.stmt(node)? {
                Stmt::Loop(of) => of.index,
                Stmt::Set { target: rvv_ir::loops::Target::Var(var), .. } => *var,
                _ => return None,
            };
            let function = draft.function(node);
            let old = function.ty(var);
            let outside = function.params.contains(&var)
                || function.ret == Some(var)
                || draft.is_main(node) && draft.program().params.iter().any(|p| p.0 == var);
            let new = Type::Scalar(other(draft, put_elem(old).filter(|_| !outside)?)?);
            draft.function_mut(node.function).vars.get_mut(var.index())?.ty = new;
            draft.touch(node)?;
            Some(())
        },
    )
}

fn cast(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| matches!(s, Stmt::Set { .. }),
        |draft, node| {
            let Stmt::Set { value, .. } = draft.stmt(node)? else { return None };
            let value = value.clone();
            let elem = value.ty(draft.program(), draft.function(node)).ok()?;
            let elem = other(draft, elem).filter(|_| elem != Elem::Bf16)?;
            if let Stmt::Set { value: place, .. } = draft.touch(node)? {
                *place = CExpr::cast(elem, value);
            }
            Some(())
        },
    )
}
