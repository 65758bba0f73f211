//! Mutations of loops: how often they run and by what step, whether the compiler knows it, what it is told;
//! their body twice; their first round before them.

use super::draft::Draft;
use rvv_intrinsics::{Elem, Type, VecType};
use rvv_ir::loops::{Binary, CExpr, Loop, Pragma};
use rvv_ir::tidy::{each_stmt, substitute};
use rvv_ir::{Compare, Expr, Node, Program, Stmt, Var, put_elem};
use rvv_isa::Lmul;

pub(super) fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Strip { .. } | Stmt::For { .. } | Stmt::Loop(_))
}

/// How often loops run, where compilers treat it in their own ways.
const TRIPS: [u64; 14] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33];

/// Another trip count, step, start or strip type; known to the compiler or not.
pub(super) fn trip(draft: &mut Draft) -> Option<()> {
    draft.somewhere(is_loop, |draft, node| {
        let mut stmt = draft.stmt(node)?.clone();
        match &mut stmt {
            Stmt::For { count, .. } => *count = other_count(draft, node, count, 8)?,
            Stmt::Strip { vtype, length, .. } => match draft.rng.below(3) {
                0 => *vtype = other_type(draft, *vtype)?,
                _ => {
                    // Buffers are as long as the length, so none is longer.
                    let most = draft.known(node, length)?;
                    *length = other_count(draft, node, length, most)?;
                }
            },
            Stmt::Loop(of) => bounds(draft, node, of)?,
            _ => return None,
        }
        (draft.stmt(node) != Some(&stmt)).then_some(())?;
        *draft.touch(node)? = stmt;
        Some(())
    })
}

/// Another number of at most so much, or the same as what the compiler sees, or does not see.
fn other_count(draft: &mut Draft, node: &Node, old: &Expr, most: u64) -> Option<Expr> {
    let known = draft.known(node, old);
    if let Some(known) = known
        && draft.rng.below(3) == 0
    {
        return match old {
            Expr::Const(_) if draft.is_main(node) => Some(Expr::Var(draft.param(Type::Size, known))),
            Expr::Const(_) => None,
            _ => Some(Expr::Const(known)),
        };
    }
    let mut values: Vec<u64> = TRIPS.iter().copied().filter(|n| *n <= most).collect();
    values.extend([most / 2, most.saturating_sub(1)]);
    values.retain(|n| Some(*n) != known);
    let value = *draft.rng.pick(&values)?;
    Some(draft.number(node, value))
}

/// A strip type with as few elements in a strip, or fewer.
fn other_type(draft: &mut Draft, old: VecType) -> Option<VecType> {
    let unsigned = [Elem::U8, Elem::U16, Elem::U32, Elem::U64];
    let all = unsigned.into_iter().flat_map(|e| Lmul::ALL.map(|l| VecType::new(e, l)));
    let fits = |t: &VecType| *t != old && t.exists() && t.ratio() >= old.ratio();
    let most = draft.settings.smallest_vlen();
    let all: Vec<VecType> = all.filter(|t| fits(t) && t.vlmax(most) > 0).collect();
    draft.rng.pick(&all).copied()
}

/// Another start, end, step or comparison, or another order of a counted loop.
fn bounds(draft: &mut Draft, node: &Node, of: &mut Loop) -> Option<()> {
    let elem = put_elem(draft.function(node).ty(of.index))?;
    let up = of.step > 0;
    match draft.rng.below(6) {
        0 => {
            let steps = [1, 2, 3, 4, 7, 8].map(|s: i64| if up { s } else { -s });
            of.step = *draft.rng.pick(&steps)?;
            // What steps over the end is not seen by `!=`.
            if of.compare == Compare::Ne {
                of.compare = if up { Compare::Lt } else { Compare::Gt };
            }
        }
        1 => {
            let ways = match up {
                true => [Compare::Lt, Compare::Le, Compare::Ne],
                false => [Compare::Gt, Compare::Ge, Compare::Ne],
            };
            of.compare = *draft.rng.pick(&ways)?;
        }
        2 if up => of.from = CExpr::int(elem, draft.rng.below(6) as i64),
        3 => {
            // The same end, but for a little: the compiler must compute it.
            let less = CExpr::int(elem, 1 + draft.rng.below(3) as i64);
            let op = if up { Binary::Sub } else { Binary::Add };
            of.to = CExpr::binary(op, of.to.clone(), less);
        }
        _ => {
            let end = *draft.rng.pick(&TRIPS)?;
            match up {
                true => of.to = CExpr::int(elem, end as i64),
                false => of.from = CExpr::int(elem, end as i64),
            }
        }
    }
    Some(())
}

/// What compilers are told of a loop.
pub(super) fn pragma(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| matches!(s, Stmt::Loop(_)),
        |draft, node| {
            let few = 2u8 << draft.rng.below(2);
            let all = [
                Pragma::None,
                Pragma::Vectorize,
                Pragma::NoVector,
                Pragma::Unroll(few),
                Pragma::Interleave(few),
                Pragma::Width(2 << draft.rng.below(4)),
                Pragma::Distribute,
            ];
            let new = *draft.rng.pick(&all)?;
            let Stmt::Loop(of) = draft.stmt(node)? else { return None };
            let inner = of.body.iter().any(is_loop);
            let fits = !inner || matches!(new, Pragma::None | Pragma::NoVector | Pragma::Unroll(_));
            (of.pragma != new && fits).then_some(())?;
            if let Stmt::Loop(of) = draft.touch(node)? {
                of.pragma = new;
            }
            Some(())
        },
    )
}

/// Takes back what compilers are told where it would change a meaning: clang reorders floating-point
/// operations in a loop that it is told to vectorise.
pub(super) fn honest_pragmas(program: &mut Program) {
    let floats = program.buffers.iter().any(|b| b.elem.is_float())
        || program
            .functions
            .iter()
            .chain([&program.main])
            .any(|f| f.vars.iter().any(|v| put_elem(v.ty).is_some_and(Elem::is_float)));
    if !floats {
        return;
    }
    let mut honest = |s: &mut Stmt| {
        if let Stmt::Loop(of) = s
            && matches!(of.pragma, Pragma::Vectorize | Pragma::Width(_) | Pragma::Interleave(_))
        {
            of.pragma = Pragma::None;
        }
    };
    for function in program.functions.iter_mut().chain([&mut program.main]) {
        each_stmt(&mut function.body, &mut honest);
    }
}

/// Puts an expression in the place of a counter wherever it is read, in statements of both kinds.
pub(super) fn replace_counter(body: &mut [Stmt], var: Var, by: Option<&Expr>, element: &CExpr) {
    each_stmt(body, &mut |s| {
        if let Some(by) = by {
            substitute(s, var, by);
        }
        for e in s.expressions_mut() {
            e.each_mut(&mut |e| {
                if *e == CExpr::Var(var) {
                    *e = element.clone();
                }
            });
        }
    });
}

/// The body of a loop twice, or its first round before it.
pub(super) fn unroll(draft: &mut Draft) -> Option<()> {
    draft.somewhere(is_loop, |draft, node| {
        let peel = draft.rng.below(3) == 0;
        match draft.stmt(node)?.clone() {
            Stmt::For { index, count, body } => {
                if peel {
                    let mut first = body;
                    replace_counter(&mut first, index, Some(&Expr::Const(0)), &CExpr::int(Elem::U64, 0));
                    return draft.at.insert(node, first).then_some(());
                }
                let body = [body.clone(), body].concat();
                *draft.touch(node)? = Stmt::For { index, count, body };
            }
            Stmt::Strip { vtype, length, index, vl, body } => {
                // Once more over the same elements.
                let body = [body.clone(), body].concat();
                *draft.touch(node)? = Stmt::Strip { vtype, length, index, vl, body };
            }
            Stmt::Loop(of) => return unroll_element(draft, node, *of, peel),
            _ => return None,
        }
        Some(())
    })
}

fn unroll_element(draft: &mut Draft, node: &Node, mut of: Loop, peel: bool) -> Option<()> {
    let elem = put_elem(draft.function(node).ty(of.index))?;
    if peel {
        // The first round, if there is one: the counter starts at the next.
        let mut first = of.body.clone();
        replace_counter(&mut first, of.index, None, &of.from);
        let condition = CExpr::binary(of.compare.into(), of.from.clone(), of.to.clone());
        let when = Stmt::When { condition, then: first, otherwise: Vec::new() };
        let step = CExpr::int(elem, of.step);
        of.from = CExpr::cast(elem, CExpr::binary(Binary::Add, of.from, step));
        if of.compare == Compare::Ne {
            of.compare = if of.step > 0 { Compare::Lt } else { Compare::Gt };
        }
        *draft.touch(node)? = Stmt::Loop(Box::new(of));
        return draft.at.insert(node, vec![when]).then_some(());
    }
    // Two rounds in one; the second only if the loop would have had it.
    let next = CExpr::binary(Binary::Add, CExpr::Var(of.index), CExpr::int(elem, of.step));
    let mut second = of.body.clone();
    replace_counter(&mut second, of.index, None, &next);
    let condition = CExpr::binary(of.compare.into(), next, of.to.clone());
    let double = of.step.checked_mul(2)?;
    if of.compare == Compare::Ne {
        of.compare = if of.step > 0 { Compare::Lt } else { Compare::Gt };
    }
    of.step = double;
    of.body.push(Stmt::When { condition, then: second, otherwise: Vec::new() });
    *draft.touch(node)? = Stmt::Loop(Box::new(of));
    Some(())
}
