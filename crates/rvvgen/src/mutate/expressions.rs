//! Mutations of element statements: the expressions of plain C, and vectors of fixed length.

use super::calls::remove;
use super::draft::Draft;
use rvv_intrinsics::Elem;
use rvv_ir::loops::{Access, Binary, Builtin, CExpr, Lane, Target, Unary};
use rvv_ir::{Node, Stmt, put_elem};

/// Operations in one expression, and vectors in a vector: what is printed must be read again.
pub(super) const MOST_DEPTH: usize = 16;
const MOST_LANES: usize = 5;

/// What an expression is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// A value, or a condition.
    Value,
    /// It decides which element, or how often.
    Place,
}

/// Every expression of a statement, its blocks not included, outer ones first.
pub(super) fn all(stmt: &Stmt) -> Vec<(CExpr, Use)> {
    fn walk(e: &CExpr, used: Use, found: &mut Vec<(CExpr, Use)>) {
        found.push((e.clone(), used));
        let inner = if matches!(e, CExpr::Load(_)) { Use::Place } else { used };
        e.parts().into_iter().for_each(|part| walk(part, inner, found));
    }
    let roots = stmt.expressions();
    let last = roots.len().saturating_sub(1);
    let mut found = Vec::new();
    for (i, root) in roots.into_iter().enumerate() {
        let used = match stmt {
            Stmt::Set { .. } if i == last => Use::Value,
            Stmt::When { .. } => Use::Value,
            _ => Use::Place,
        };
        walk(root, used, &mut found);
    }
    found
}

/// Expression number `n` of [`all`], to be changed.
fn nth_mut(stmt: &mut Stmt, n: usize) -> Option<&mut CExpr> {
    fn walk<'e>(e: &'e mut CExpr, n: &mut usize) -> Option<&'e mut CExpr> {
        if *n == 0 {
            return Some(e);
        }
        *n -= 1;
        e.parts_mut().into_iter().find_map(|part| walk(part, n))
    }
    let mut n = n;
    stmt.expressions_mut().into_iter().find_map(|root| walk(root, &mut n))
}

fn depth(e: &CExpr) -> usize {
    1 + e.parts().into_iter().map(depth).max().unwrap_or(0)
}

fn lane_depth(lane: &Lane) -> usize {
    1 + lane.parts().into_iter().map(lane_depth).max().unwrap_or(0)
}

/// How deep the expressions of a statement are nested; a vector counts as three.
pub(super) fn nesting(stmt: &Stmt) -> usize {
    let scalars = stmt.expressions().into_iter().map(depth).max().unwrap_or(0);
    match stmt {
        Stmt::Lanes(of) => scalars + 3 * lane_depth(&of.value),
        _ => scalars,
    }
}

/// Puts another expression in the place of number `n`.
fn put(draft: &mut Draft, node: &Node, n: usize, by: CExpr) -> Option<()> {
    (depth(&by) <= MOST_DEPTH).then_some(())?;
    *nth_mut(draft.touch(node)?, n)? = by;
    Some(())
}

fn ty(draft: &Draft, node: &Node, e: &CExpr) -> Option<Elem> {
    e.ty(draft.program(), draft.function(node)).ok()
}

/// An expression of a kind of statement, and what comes in its place: the first place where something does.
fn change(
    draft: &mut Draft,
    wants: impl Fn(&CExpr, Use) -> bool,
    mut to: impl FnMut(&mut Draft, &Node, &CExpr, Use) -> Option<CExpr>,
) -> Option<()> {
    draft.somewhere(
        |s| !s.expressions().is_empty(),
        |draft, node| {
            let all = all(draft.stmt(node)?);
            let mut places: Vec<usize> = (0..all.len()).filter(|&n| wants(&all[n].0, all[n].1)).collect();
            draft.rng.shuffle(&mut places);
            places.into_iter().take(8).find_map(|n| {
                let (e, used) = &all[n];
                let new = to(draft, node, e, *used).filter(|new| new != e)?;
                put(draft, node, n, new)
            })
        },
    )
}

/// A leaf of this type: a scalar that is there, an element that the statement reads, a literal.
fn leaf(draft: &mut Draft, node: &Node, elem: Elem) -> CExpr {
    let function = draft.function(node);
    let scope = draft.scope(node);
    let mut found: Vec<CExpr> = Vec::new();
    found.extend(
        scope.live.iter().filter(|v| put_elem(function.ty(**v)) == Some(elem)).map(|v| CExpr::Var(*v)),
    );
    if let Some(stmt) = draft.stmt(node) {
        let program = draft.program();
        let same = |a: &&Access| program.buffers.get(a.buffer).is_some_and(|b| b.elem == elem);
        found.extend(stmt.accesses().into_iter().filter(same).map(|a| CExpr::Load(a.clone())));
    }
    match draft.rng.pick(&found) {
        Some(e) if draft.rng.below(4) > 0 => e.clone(),
        _ => CExpr::Literal(elem, draft.bits(elem)),
    }
}

/// The unsigned type in which operations of an integer type wrap.
fn wrapping(elem: Elem) -> Elem {
    if elem.bits() == 64 { Elem::U64 } else { Elem::U32 }
}

const COMPARISONS: [Binary; 6] = [Binary::Eq, Binary::Ne, Binary::Lt, Binary::Le, Binary::Gt, Binary::Ge];

/// An operation on an expression and something else, of the expression's type.
fn operation(draft: &mut Draft, node: &Node, e: &CExpr, elem: Elem) -> CExpr {
    let other = leaf(draft, node, elem);
    let (a, b) = (e.clone(), other);
    if elem.is_float() {
        return match draft.rng.below(8) {
            0 => CExpr::Builtin(Builtin::Fma, vec![a.clone(), b, a]),
            1 => CExpr::Builtin(Builtin::Copysign, vec![a, b]),
            2 => CExpr::Builtin(Builtin::Fabs, vec![a]),
            3 => CExpr::unary(Unary::Neg, a),
            4 => CExpr::select(CExpr::binary(Binary::Lt, a.clone(), b.clone()), a, b),
            n => CExpr::binary([Binary::Add, Binary::Sub, Binary::Mul][n % 3], a, b),
        };
    }
    let wide = wrapping(elem);
    let up = |e: CExpr| CExpr::cast(wide, e);
    match draft.rng.below(10) {
        0..4 => {
            let op = *draft.rng.pick(&[Binary::Add, Binary::Sub, Binary::Mul]).unwrap_or(&Binary::Add);
            CExpr::cast(elem, CExpr::binary(op, up(a), up(b)))
        }
        4 | 5 => {
            let op = *draft.rng.pick(&[Binary::And, Binary::Or, Binary::Xor]).unwrap_or(&Binary::Xor);
            CExpr::binary(op, a, b)
        }
        6 => {
            let by = CExpr::int(Elem::I32, draft.rng.below(elem.bits() as usize) as i64);
            match draft.rng.below(2) {
                0 => CExpr::cast(elem, CExpr::binary(Binary::Shl, up(a), by)),
                _ => CExpr::binary(Binary::Shr, a, by),
            }
        }
        7 => {
            let op = *draft.rng.pick(&COMPARISONS).unwrap_or(&Binary::Lt);
            CExpr::select(CExpr::binary(op, a.clone(), b.clone()), a, b)
        }
        8 => CExpr::unary(Unary::Not, a),
        _ => {
            let narrow = *draft.rng.pick(&[Elem::U8, Elem::I8, Elem::U16, Elem::I16]).unwrap_or(&Elem::U8);
            CExpr::cast(elem, CExpr::cast(narrow, a))
        }
    }
}

/// One more operation.
pub(super) fn insert(draft: &mut Draft) -> Option<()> {
    if draft.rng.below(4) == 0
        && let Some(()) = lanes(draft, insert_lane)
    {
        return Some(());
    }
    change(
        draft,
        |_, used| used == Use::Value,
        |draft, node, e, _| {
            let elem = ty(draft, node, e).filter(|elem| *elem != Elem::Bf16)?;
            Some(operation(draft, node, e, elem))
        },
    )
}

/// One operation less: one of its operands takes its place. Or a statement less.
pub(super) fn delete(draft: &mut Draft) -> Option<()> {
    match draft.rng.below(4) {
        0 => {
            return draft.somewhere(|s| matches!(s, Stmt::Set { .. } | Stmt::Lanes(_) | Stmt::Leave), remove);
        }
        1 => {
            if let Some(()) = lanes(draft, delete_lane) {
                return Some(());
            }
        }
        _ => {}
    }
    change(
        draft,
        |e, _| !matches!(e, CExpr::Load(_) | CExpr::Var(_) | CExpr::Literal(..)),
        |draft, node, e, _| {
            let float = ty(draft, node, e)?.is_float();
            let mut parts: Vec<CExpr> = e.parts().into_iter().cloned().collect();
            parts.retain(|p| ty(draft, node, p).is_some_and(|t| t.is_float() == float && t != Elem::Bf16));
            draft.rng.pick(&parts).cloned()
        },
    )
}

/// Another operation in an operation's place.
pub(super) fn replace(draft: &mut Draft) -> Option<()> {
    if draft.rng.below(3) == 0
        && let Some(()) = lanes(draft, replace_lane)
    {
        return Some(());
    }
    change(
        draft,
        |e, _| matches!(e, CExpr::Binary(..) | CExpr::Unary(..) | CExpr::Cast(..) | CExpr::Builtin(..)),
        |draft, node, e, used| {
            Some(match e {
                CExpr::Binary(op, a, b) => {
                    let float = [a, b].iter().any(|e| ty(draft, node, e).is_some_and(Elem::is_float));
                    CExpr::binary(other_op(draft, *op, float)?, (**a).clone(), (**b).clone())
                }
                CExpr::Unary(op, a) => {
                    let float = ty(draft, node, a)?.is_float();
                    let ops = [Unary::Neg, Unary::IsZero, Unary::Bool, Unary::Not];
                    let ops: Vec<Unary> =
                        ops[..if float { 3 } else { 4 }].iter().copied().filter(|o| o != op).collect();
                    CExpr::unary(*draft.rng.pick(&ops)?, (**a).clone())
                }
                CExpr::Cast(elem, a) => {
                    let from = ty(draft, node, a)?;
                    let fits = |new: &Elem| {
                        new.is_float() == elem.is_float() && *new != Elem::Bf16 && from != Elem::Bf16
                    };
                    let all: Vec<Elem> = Elem::ALL.into_iter().filter(fits).collect();
                    // A place must stay where it is.
                    let same = |new: &&Elem| used == Use::Value || new.bits() >= elem.bits();
                    let all: Vec<Elem> = all.iter().filter(same).copied().collect();
                    CExpr::cast(*draft.rng.pick(&all)?, (**a).clone())
                }
                CExpr::Builtin(of, args) => match (of, &args[..]) {
                    (Builtin::Fma, [a, b, c]) => {
                        let product = CExpr::binary(Binary::Mul, a.clone(), b.clone());
                        CExpr::binary(Binary::Add, product, c.clone())
                    }
                    (Builtin::Copysign, [a, b]) => CExpr::binary(Binary::Mul, a.clone(), b.clone()),
                    (_, [a, ..]) => CExpr::unary(Unary::Neg, a.clone()),
                    _ => return None,
                },
                _ => return None,
            })
        },
    )
}

fn other_op(draft: &mut Draft, op: Binary, float: bool) -> Option<Binary> {
    use Binary::*;
    let kinds: [&[Binary]; 4] =
        [&[Add, Sub, Mul, And, Or, Xor, Div, Rem], &[Shl, Shr], &COMPARISONS, &[AndThen, OrElse]];
    let kind = kinds.into_iter().find(|kind| kind.contains(&op))?;
    // Division comes last: it may be by zero.
    let few = draft.rng.below(4) > 0;
    let fits = |o: &Binary| *o != op && !(float && o.is_integer()) && !(few && matches!(o, Div | Rem));
    let ops: Vec<Binary> = kind.iter().copied().filter(fits).collect();
    draft.rng.pick(&ops).copied()
}

/// Another operand: a scalar, an element of another buffer, or the two of an operation exchanged.
pub(super) fn operand(draft: &mut Draft) -> Option<()> {
    change(
        draft,
        |e, used| match e {
            CExpr::Binary(..) => used == Use::Value,
            CExpr::Var(_) | CExpr::Load(_) | CExpr::Literal(..) => true,
            _ => false,
        },
        |draft, node, e, used| match e {
            CExpr::Binary(op, a, b) => Some(CExpr::binary(*op, (**b).clone(), (**a).clone())),
            CExpr::Load(access) if draft.rng.below(2) == 0 || used == Use::Place => {
                let buffer = super::calls::other_buffer(draft, access.buffer)?;
                Some(CExpr::Load(Access { buffer, index: access.index.clone() }))
            }
            e => {
                let elem = ty(draft, node, e)?;
                Some(leaf(draft, node, elem))
            }
        },
    )
}

/// Another literal.
pub(super) fn constant(draft: &mut Draft) -> Option<()> {
    change(
        draft,
        |e, _| matches!(e, CExpr::Literal(..)),
        |draft, _, e, used| {
            let CExpr::Literal(elem, bits) = e else { return None };
            let mask = u64::MAX >> (64 - elem.bits());
            Some(match used {
                Use::Value if draft.rng.below(4) > 0 => CExpr::Literal(*elem, draft.bits(*elem)),
                _ if elem.is_float() => CExpr::Literal(*elem, bits ^ (1 << draft.rng.below(8))),
                _ => {
                    let near = [bits.wrapping_add(1), bits.wrapping_sub(1), bits / 2, 0, 1];
                    CExpr::Literal(*elem, draft.rng.pick(&near)? & mask)
                }
            })
        },
    )
}

/// Another place that is stored to.
pub(super) fn target(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| matches!(s, Stmt::Set { target: Target::Element(_), .. }),
        |draft, node| {
            let Stmt::Set { target: Target::Element(access), .. } = draft.stmt(node)? else { return None };
            let buffer = super::calls::other_buffer(draft, access.buffer)?;
            if let Stmt::Set { target: Target::Element(access), .. } = draft.touch(node)? {
                access.buffer = buffer;
            }
            Some(())
        },
    )
}

/// Changes a vector of fixed length.
fn lanes(
    draft: &mut Draft,
    mut f: impl FnMut(&mut Draft, &Node, &Lane, usize) -> Option<Lane>,
) -> Option<()> {
    draft.somewhere(
        |s| matches!(s, Stmt::Lanes(_)),
        |draft, node| {
            let Stmt::Lanes(of) = draft.stmt(node)? else { return None };
            let count = of.count;
            let mut all: Vec<Lane> = Vec::new();
            fn walk(lane: &Lane, all: &mut Vec<Lane>) {
                all.push(lane.clone());
                lane.parts().into_iter().for_each(|p| walk(p, all));
            }
            walk(&of.value, &mut all);
            let mut places: Vec<usize> = (0..all.len()).collect();
            draft.rng.shuffle(&mut places);
            for n in places.into_iter().take(8) {
                let Some(new) = f(draft, node, &all[n], count).filter(|new| *new != all[n]) else { continue };
                fn nth<'l>(lane: &'l mut Lane, n: &mut usize) -> Option<&'l mut Lane> {
                    if *n == 0 {
                        return Some(lane);
                    }
                    *n -= 1;
                    lane.parts_mut().into_iter().find_map(|p| nth(p, n))
                }
                let Stmt::Lanes(of) = draft.touch(node)? else { return None };
                let mut changed = of.value.clone();
                *nth(&mut changed, &mut { n })? = new;
                if lane_depth(&changed) <= MOST_LANES {
                    of.value = changed;
                    return Some(());
                }
            }
            None
        },
    )
}

const LANE_OPS: [Binary; 6] = [Binary::Add, Binary::Sub, Binary::Mul, Binary::And, Binary::Or, Binary::Xor];

/// Operations that vectors of a type have.
fn lane_op(draft: &mut Draft, elem: Elem) -> Option<Binary> {
    let ops = match elem {
        Elem::Bf16 => return None,
        e if e.is_float() => &LANE_OPS[..3],
        e if e.is_unsigned() => &LANE_OPS[..],
        _ => &LANE_OPS[3..],
    };
    draft.rng.pick(ops).copied()
}

fn shuffle(draft: &mut Draft, count: usize) -> Vec<u8> {
    (0..count).map(|_| draft.rng.below(2 * count) as u8).collect()
}

fn insert_lane(draft: &mut Draft, _: &Node, lane: &Lane, count: usize) -> Option<Lane> {
    let elem = lane.elem(draft.program())?;
    let this = || Box::new(lane.clone());
    let literal = CExpr::Literal(elem, draft.bits(elem));
    Some(match draft.rng.below(5) {
        0 => Lane::Shuffle(this(), this(), shuffle(draft, count)),
        1 if elem != Elem::Bf16 => {
            let at = CExpr::int(Elem::I32, draft.rng.below(count) as i64);
            Lane::Insert(this(), at, literal)
        }
        2 if elem != Elem::Bf16 => {
            let other = Lane::Splat(elem, literal);
            let op = *draft.rng.pick(&COMPARISONS)?;
            Lane::Select(op, Box::new([lane.clone(), other.clone(), other, lane.clone()]))
        }
        3 if !elem.is_float() => {
            let by = CExpr::int(Elem::I32, draft.rng.below(elem.bits() as usize) as i64);
            Lane::Binary(Binary::Shr, this(), Box::new(Lane::Splat(Elem::I32, by)))
        }
        _ => {
            let op = lane_op(draft, elem)?;
            Lane::Binary(op, this(), Box::new(Lane::Splat(elem, literal)))
        }
    })
}

fn delete_lane(draft: &mut Draft, _: &Node, lane: &Lane, _: usize) -> Option<Lane> {
    let elem = lane.elem(draft.program())?;
    let mut parts: Vec<Lane> = lane.parts().into_iter().cloned().collect();
    parts.retain(|p| p.elem(draft.program()) == Some(elem));
    draft.rng.pick(&parts).cloned()
}

fn replace_lane(draft: &mut Draft, _: &Node, lane: &Lane, count: usize) -> Option<Lane> {
    let elem = lane.elem(draft.program())?;
    Some(match lane {
        Lane::Binary(op, a, b) if LANE_OPS.contains(op) => {
            Lane::Binary(lane_op(draft, elem)?, a.clone(), b.clone())
        }
        Lane::Binary(op, a, _) => {
            let by = CExpr::int(Elem::I32, draft.rng.below(elem.bits() as usize) as i64);
            Lane::Binary(*op, a.clone(), Box::new(Lane::Splat(Elem::I32, by)))
        }
        Lane::Select(_, of) => Lane::Select(*draft.rng.pick(&COMPARISONS)?, of.clone()),
        Lane::Shuffle(a, b, _) => Lane::Shuffle(a.clone(), b.clone(), shuffle(draft, count)),
        Lane::Splat(to, CExpr::Literal(elem, _)) => {
            Lane::Splat(*to, CExpr::Literal(*elem, draft.bits(*elem)))
        }
        Lane::Load(buffer, at) => Lane::Load(super::calls::other_buffer(draft, *buffer)?, at.clone()),
        _ => return None,
    })
}
