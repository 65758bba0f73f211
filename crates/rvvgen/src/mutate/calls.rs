//! Mutations of calls: another operation, another form of it, another operand, one more, one less.

use super::draft::Draft;
use super::index::{Index, is_vector};
use super::scope::{Scope, reads_only};
use crate::lookup::Lookup;
use crate::stats::is_operation;
use crate::vl_class::{Kind, class, exists_at};
use rvv_intrinsics::{Elem, Intrinsic, Param, Role, Type};
use rvv_ir::data::Init;
use rvv_ir::tidy::nodes;
use rvv_ir::{Arg, BufferKind, Call, Expr, Node, Stmt, Var, put_elem};
use std::collections::{HashMap, HashSet};

/// Intrinsics that are tried at one place.
const TRIES: usize = 40;
/// Statements after which a new value's use is looked for.
const REACH: usize = 12;

/// A call, if the statement is one.
pub(super) fn call_of(stmt: &Stmt) -> Option<&Call> {
    match stmt {
        Stmt::Call(call) => Some(call),
        _ => None,
    }
}

pub(super) fn is_call(stmt: &Stmt) -> bool {
    call_of(stmt).is_some()
}

/// The vl with which each variable of a function was last made before a place, in the order of the text.
pub(super) fn lengths(draft: &Draft, node: &Node) -> HashMap<Var, Arg> {
    let mut found = HashMap::new();
    for at in nodes(draft.program()) {
        if at.function != node.function || at.path >= node.path {
            continue;
        }
        let Some(call) = draft.stmt(&at).and_then(call_of) else { continue };
        let vl = call.intrinsic.position(Role::Vl).map(|i| call.args[i].clone());
        if let (Some(dst), Some(vl)) = (call.dst, vl) {
            found.insert(dst, vl);
        }
    }
    found
}

/// A call that may replace what is there needs operands that are there.
struct Operands<'s> {
    scope: &'s Scope,
    live: HashSet<Var>,
    lengths: HashMap<Var, Arg>,
}

impl Operands<'_> {
    fn new<'s>(draft: &Draft, node: &Node, scope: &'s Scope) -> Operands<'s> {
        Operands { scope, live: scope.set(), lengths: lengths(draft, node) }
    }

    /// A variable of a type that is there, one that has been made with this vl if possible.
    fn var(&self, draft: &mut Draft, node: &Node, ty: Type, vl: Option<&Arg>) -> Option<Var> {
        let all = self.scope.of_type(draft.function(node), ty);
        let alike: Vec<Var> =
            all.iter().copied().filter(|v| vl.is_none() || self.lengths.get(v) == vl).collect();
        let from = if alike.is_empty() || draft.rng.below(16) == 0 { &all } else { &alike };
        // What was made last, or anything.
        match draft.rng.below(2) {
            0 => from.last().copied(),
            _ => draft.rng.pick(from).copied(),
        }
    }

    /// The vl of a value, where it can be had here.
    fn vl(&self, var: Var) -> Option<&Arg> {
        self.lengths.get(&var).filter(|vl| reads_only(vl, &self.live))
    }

    /// An argument for a parameter; `None` if there is none.
    fn arg(&self, draft: &mut Draft, node: &Node, i: &Intrinsic, p: &Param, vl: &Arg) -> Option<Arg> {
        Some(match (p.role, p.ty) {
            (Role::Vl, _) => vl.clone(),
            (Role::Uimm | Role::Frm | Role::Vxrm | Role::Position, _) => constant(draft, i, p.role)?,
            (_, ty) if is_vector(&ty) => Arg::Var(self.var(draft, node, ty, Some(vl))?),
            (_, Type::Scalar(elem)) => {
                let there = self.scope.of_type(draft.function(node), p.ty);
                match draft.rng.pick(&there) {
                    Some(&var) if draft.rng.below(2) == 0 => Arg::Var(var),
                    _ => Arg::Expr(Expr::Const(draft.bits(elem))),
                }
            }
            (Role::Scalar, Type::Size) => Arg::Expr(Expr::Const(draft.rng.below(33) as u64)),
            _ => return None,
        })
    }
}

/// A constant that the intrinsic takes.
pub(super) fn constant(draft: &mut Draft, i: &Intrinsic, role: Role) -> Option<Arg> {
    let range = i.constants(role)?;
    let count = (range.end() - range.start()).saturating_add(1).min(1 << 32) as usize;
    Some(Arg::Expr(Expr::Const(range.start() + draft.rng.below(count) as u64)))
}

/// Whether an intrinsic may come into the program.
fn may_have(draft: &Draft, i: &Intrinsic) -> bool {
    let settings = draft.settings;
    settings.may_feed(i) && exists_at(i, settings.smallest_vlen())
}

/// One more operation on what is there. Its result is used by what follows, or stored.
pub(super) fn insert(draft: &mut Draft) -> Option<()> {
    draft.somewhere(|_| true, |draft, node| insert_at(draft, node))
}

fn insert_at(draft: &mut Draft, node: &Node) -> Option<()> {
    let scope = draft.scope(node);
    let operands = Operands::new(draft, node, &scope);
    let function = draft.function(node);
    let usable = |v: &Var| is_vector(&function.ty(*v)) && operands.vl(*v).is_some();
    let values: Vec<Var> = scope.live.iter().copied().filter(usable).collect();
    let given = match draft.rng.below(3) {
        0 => *draft.rng.pick(&values)?,
        _ => values[values.len().checked_sub(1 + draft.rng.below(values.len().clamp(1, 4)))?],
    };
    let (ty, vl) = (draft.function(node).ty(given), operands.vl(given)?.clone());
    for _ in 0..TRIES {
        let intrinsic = *draft.rng.pick(Index::get().takes(ty))?;
        let result = intrinsic.ret.vector().is_none_or(|v| v.nf == 1);
        if !result || intrinsic.ret == Type::Void || !may_have(draft, intrinsic) {
            continue;
        }
        let fits = |p: &&Param| p.ty == ty && !matches!(p.role, Role::Frm | Role::Vxrm);
        let roles: Vec<Role> = intrinsic.params.iter().filter(fits).map(|p| p.role).collect();
        let role = *draft.rng.pick(&roles)?;
        let mut args = Vec::new();
        for param in &intrinsic.params {
            let arg = match param.role == role {
                true => Some(Arg::Var(given)),
                false => operands.arg(draft, node, intrinsic, param, &vl),
            };
            args.extend(arg);
        }
        if args.len() != intrinsic.params.len() {
            continue;
        }
        let overloaded = draft.settings.overloads(intrinsic, &mut draft.rng);
        let dst = draft.var(node.function, intrinsic.ret);
        let call = Call { dst: Some(dst), intrinsic, overloaded, args };
        draft.at.insert(node, vec![Stmt::Call(call)]);
        let mut after = node.clone();
        *after.path.last_mut()? += 1;
        // A result that nobody sees tests nothing.
        if draft.rng.below(5) < 2 || use_of(draft, &after, dst).is_none() {
            store(draft, &after, dst, &vl)?;
        }
        return Some(());
    }
    None
}

/// A statement at or after this place, in the same block, reads the value instead of another of its type.
fn use_of(draft: &mut Draft, from: &Node, value: Var) -> Option<()> {
    let ty = draft.function(from).ty(value);
    let (&first, block) = from.path.split_last()?;
    let mut places: Vec<(Node, usize)> = Vec::new();
    for node in nodes(draft.program()) {
        let inside = node.function == from.function
            && node.path.starts_with(block)
            && node.path.get(block.len()).is_some_and(|s| (first..first + REACH).contains(s));
        let Some(call) = draft.stmt(&node).filter(|_| inside).and_then(call_of) else { continue };
        for (i, arg) in call.args.iter().enumerate() {
            if matches!(arg, Arg::Var(var) if *var != value && draft.function(from).ty(*var) == ty) {
                places.push((node.clone(), i));
            }
        }
    }
    let (node, i) = draft.rng.pick(&places)?.clone();
    if let Some(Stmt::Call(call)) = draft.touch(&node) {
        call.args[i] = Arg::Var(value);
    }
    Some(())
}

/// Stores a value into a buffer of its own, before the statement at this place.
pub(super) fn store(draft: &mut Draft, at: &Node, value: Var, vl: &Arg) -> Option<()> {
    let ty = draft.function(at).ty(value);
    let scope = draft.scope(at);
    let strip = scope.strip().map(|(index, vl, length)| (index, vl, length.clone()));
    // Within a strip, every strip has its own elements.
    let within = strip.filter(|(_, of, _)| match vl {
        Arg::Var(var) => var == of,
        Arg::Expr(Expr::Sub(a, _)) => **a == Expr::Var(*of),
        _ => false,
    });
    if let Some(elem) = put_elem(ty) {
        let buffer = draft.buffer(BufferKind::Out, elem, 1, Init::Zero);
        draft.at.insert(at, vec![Stmt::Put { buffer, at: Expr::Const(0), value }]);
        return Some(());
    }
    let (elem, nf, ratio, intrinsic) = match ty {
        Type::Vector(v) => (v.elem, usize::from(v.nf), v.ratio(), *Lookup::get().plain_store.get(&v)?),
        Type::Mask(n) => (Elem::U8, 1, n.into(), *Lookup::get().mask_store.get(&n.into())?),
        _ => return None,
    };
    let most = (draft.settings.largest_vlen() / ratio).max(1) as usize;
    let (count, from) = match within {
        Some((index, _, length)) => (draft.known(at, &length).unwrap_or(most as u64), Some(index)),
        None => match vl {
            Arg::Expr(e) => (draft.known(at, e).unwrap_or(most as u64), None),
            _ => (most as u64, None),
        },
    };
    let count = usize::try_from(count).ok().filter(|n| *n <= 1 << 16)?;
    let buffer = draft.buffer(BufferKind::Out, elem, count * nf, Init::Zero);
    let from = match from {
        None => Expr::Const(0),
        Some(index) if nf == 1 => Expr::Var(index),
        Some(index) => Expr::Mul(Box::new(Expr::Var(index)), Box::new(Expr::Const(nf as u64))),
    };
    let mut args = Vec::new();
    for param in &intrinsic.params {
        args.push(match param.role {
            Role::Base => Arg::Addr(buffer, from.clone()),
            Role::Vl => vl.clone(),
            Role::Data => Arg::Var(value),
            _ => return None,
        });
    }
    let call = Call { dst: None, intrinsic, overloaded: false, args };
    draft.at.insert(at, vec![Stmt::Call(call)]);
    Some(())
}

/// Without a call; who read its result reads one of its operands.
pub(super) fn delete(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| {
            matches!(s, Stmt::Call(c) if !c.args.is_empty())
                || matches!(s, Stmt::Invoke { .. } | Stmt::Put { .. })
        },
        |draft, node| {
            let Stmt::Call(call) = draft.stmt(node)?.clone() else {
                return remove(draft, node);
            };
            let Some(dst) = call.dst else { return remove(draft, node) };
            let function = draft.function(node);
            let ty = function.ty(dst);
            let same = |v: &Var| *v != dst && function.ty(*v) == ty;
            let operands: Vec<Var> = call
                .args
                .iter()
                .filter_map(|a| match a {
                    Arg::Var(var) => Some(*var),
                    _ => None,
                })
                .filter(same)
                .collect();
            let instead = match draft.rng.pick(&operands) {
                Some(var) => Some(*var),
                None => {
                    let there: Vec<Var> = draft
                        .scope(node)
                        .of_type(draft.function(node), ty)
                        .into_iter()
                        .filter(|v| *v != dst)
                        .collect();
                    there.last().copied()
                }
            };
            match instead {
                Some(src) if draft.rng.below(4) > 0 => {
                    draft.touch(node)?;
                    draft.at.replace(node, vec![Stmt::Copy { dst, src }]);
                    Some(())
                }
                _ => remove(draft, node),
            }
        },
    )
}

/// Takes a statement out; what comes after it is what was touched.
pub(super) fn remove(draft: &mut Draft, node: &Node) -> Option<()> {
    draft.at.remove(node).then_some(())?;
    if draft.stmt(node).is_some() {
        draft.at.follow(node.clone());
    }
    Some(())
}

/// Another operation of the same signature.
pub(super) fn replace(draft: &mut Draft) -> Option<()> {
    draft.somewhere(is_call, |draft, node| {
        let call = call_of(draft.stmt(node)?)?.clone();
        let plain = |i: &Intrinsic| is_operation(i) || i.sem.accesses_memory();
        plain(call.intrinsic).then_some(())?;
        let others: Vec<&'static Intrinsic> = Index::get()
            .alike(call.intrinsic)
            .iter()
            .copied()
            .filter(|i| {
                let kind = class(i).kind;
                i.id != call.intrinsic.id
                    && plain(i)
                    && may_have(draft, i)
                    && (kind == Kind::Plain || kind == class(call.intrinsic).kind)
            })
            .collect();
        let intrinsic = *draft.rng.pick(&others)?;
        let mut args = call.args.clone();
        for (arg, param) in args.iter_mut().zip(&intrinsic.params) {
            if let (Arg::Expr(Expr::Const(value)), Some(range)) = (&*arg, intrinsic.constants(param.role))
                && !range.contains(value)
            {
                *arg = constant(draft, intrinsic, param.role)?;
            }
        }
        let overloaded = call.overloaded && intrinsic.overloaded.is_some();
        *draft.touch(node)? = Stmt::Call(Call { dst: call.dst, intrinsic, overloaded, args });
        Some(())
    })
}

/// Another form of the same operation: masked or not, another policy, with a rounding mode or without.
pub(super) fn variant(draft: &mut Draft) -> Option<()> {
    draft.somewhere(is_call, |draft, node| {
        let call = call_of(draft.stmt(node)?)?.clone();
        let scope = draft.scope(node);
        let operands = Operands::new(draft, node, &scope);
        let vl = call.intrinsic.position(Role::Vl).map(|i| call.args[i].clone())?;
        let mut others: Vec<&'static Intrinsic> = Index::get().variants(call.intrinsic).to_vec();
        others.retain(|i| i.id != call.intrinsic.id && may_have(draft, i));
        draft.rng.shuffle(&mut others);
        for intrinsic in others {
            let mut args = Vec::new();
            for param in &intrinsic.params {
                let there =
                    call.intrinsic.params.iter().position(|p| p.role == param.role && p.ty == param.ty);
                args.extend(match there {
                    Some(i) => Some(call.args[i].clone()),
                    None => operands.arg(draft, node, intrinsic, param, &vl),
                });
            }
            if args.len() == intrinsic.params.len() {
                let overloaded = call.overloaded && intrinsic.overloaded.is_some();
                *draft.touch(node)? = Stmt::Call(Call { dst: call.dst, intrinsic, overloaded, args });
                return Some(());
            }
        }
        None
    })
}

/// The other name of the same intrinsic.
pub(super) fn spelling(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| call_of(s).is_some_and(|c| c.intrinsic.overloaded.is_some()),
        |draft, node| {
            let call = call_of(draft.stmt(node)?)?;
            let (intrinsic, other) = (call.intrinsic, !call.overloaded);
            draft.settings.selection.wants(intrinsic, other).then_some(())?;
            if let Stmt::Call(call) = draft.touch(node)? {
                call.overloaded = other;
            }
            Some(())
        },
    )
}

/// Another value of the same type as an operand of a call.
pub(super) fn operand(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| matches!(s, Stmt::Call(_) | Stmt::Invoke { .. } | Stmt::Copy { .. }),
        |draft, node| {
            let scope = draft.scope(node);
            let operands = Operands::new(draft, node, &scope);
            let stmt = draft.stmt(node)?.clone();
            if let Stmt::Copy { dst, src } = stmt {
                let ty = draft.function(node).ty(src);
                let others: Vec<Var> = scope.of_type(draft.function(node), ty);
                let others: Vec<Var> = others.into_iter().filter(|v| *v != src && *v != dst).collect();
                let src = *draft.rng.pick(&others)?;
                *draft.touch(node)? = Stmt::Copy { dst, src };
                return Some(());
            }
            let (Stmt::Call(Call { args, .. }) | Stmt::Invoke { args, .. }) = &stmt else { return None };
            let vl = match &stmt {
                Stmt::Call(call) => call.intrinsic.position(Role::Vl).map(|i| call.args[i].clone()),
                _ => None,
            };
            let mut places: Vec<usize> = (0..args.len()).collect();
            draft.rng.shuffle(&mut places);
            for i in places {
                let new = match &args[i] {
                    Arg::Var(var) => {
                        let ty = draft.function(node).ty(*var);
                        if ty == Type::Size {
                            continue;
                        }
                        let new = operands.var(draft, node, ty, vl.as_ref());
                        new.filter(|new| new != var).map(Arg::Var)
                    }
                    Arg::Expr(Expr::Const(_)) => match &stmt {
                        Stmt::Call(call) => match call.intrinsic.params[i] {
                            Param { role: Role::Scalar, ty: ty @ Type::Scalar(_), .. } => {
                                operands.var(draft, node, ty, None).map(Arg::Var)
                            }
                            _ => None,
                        },
                        _ => None,
                    },
                    Arg::Addr(number, at) => other_buffer(draft, *number).map(|b| Arg::Addr(b, at.clone())),
                    _ => None,
                };
                let Some(new) = new else { continue };
                if let Some(Stmt::Call(Call { args, .. }) | Stmt::Invoke { args, .. }) = draft.touch(node) {
                    args[i] = new;
                }
                return Some(());
            }
            None
        },
    )
}

/// Another buffer that holds the same type, in as many elements at least, and may be used as well.
pub(super) fn other_buffer(draft: &mut Draft, number: usize) -> Option<usize> {
    let program = draft.program();
    let old = program.buffers.get(number)?;
    let fits = |n: &usize| {
        let new = &program.buffers[*n];
        *n != number
            && (new.elem, &new.dims, new.truths) == (old.elem, &old.dims, old.truths)
            && new.len >= old.len
            && (new.kind == BufferKind::Const) <= (old.kind == BufferKind::Const)
            && (program.record_of(*n).is_none() || program.record_of(number).is_some())
    };
    let others: Vec<usize> = (0..program.buffers.len()).filter(fits).collect();
    draft.rng.pick(&others).copied()
}

/// Another rounding mode for what follows, back to the usual one after it.
pub(super) fn rounding(draft: &mut Draft) -> Option<()> {
    let rounds = |s: &Stmt| {
        call_of(s).is_some_and(|c| c.intrinsic.uses_frm() && c.intrinsic.param(Role::Frm).is_none())
    };
    draft.somewhere(
        move |s| rounds(s) || matches!(s, Stmt::SetFrm(_)),
        |draft, node| {
            if let Stmt::SetFrm(old) = draft.stmt(node)? {
                let new = (old + 1 + draft.rng.below(4) as u8) % 5;
                *draft.touch(node)? = Stmt::SetFrm(new);
                return Some(());
            }
            let mode = 1 + draft.rng.below(4) as u8;
            let mut after = node.clone();
            *after.path.last_mut()? += 1 + draft.rng.below(3);
            if !draft.at.insert(&after, vec![Stmt::SetFrm(0)]) {
                *after.path.last_mut()? = node.path.last()? + 1;
                draft.at.insert(&after, vec![Stmt::SetFrm(0)]);
            }
            draft.at.insert(node, vec![Stmt::SetFrm(mode)]);
            Some(())
        },
    )
}

/// Fewer elements for one call.
pub(super) fn length(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| call_of(s).is_some_and(|c| c.intrinsic.position(Role::Vl).is_some()),
        |draft, node| {
            let call = call_of(draft.stmt(node)?)?;
            let i = call.intrinsic.position(Role::Vl)?;
            let old = call.args[i].clone();
            let known = match &old {
                Arg::Var(var) => draft.known(node, &Expr::Var(*var)),
                Arg::Expr(e) => draft.known(node, e),
                _ => None,
            };
            let new = match (&old, known) {
                (_, Some(n)) => {
                    let less = [n.saturating_sub(1), n / 2, 1, 0, n];
                    let value = (*draft.rng.pick(&less)?).min(n);
                    draft.number(node, value)
                }
                // A strip has one element at least.
                (Arg::Var(var), None) => match draft.rng.below(3) {
                    0 => Expr::Const(1),
                    _ => Expr::Sub(Box::new(Expr::Var(*var)), Box::new(Expr::Const(1))),
                },
                _ => Expr::Const(draft.rng.below(2) as u64),
            };
            let new = crate::builder::arg(new);
            (new != old).then_some(())?;
            if let Stmt::Call(call) = draft.touch(node)? {
                call.args[i] = new;
            }
            Some(())
        },
    )
}
