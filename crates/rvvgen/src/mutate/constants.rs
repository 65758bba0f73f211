//! Mutations of numbers: literals, opaque parameters, data.

use super::calls::{constant, is_call};
use super::draft::Draft;
use rvv_intrinsics::{Role, Type};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::tidy::nodes;
use rvv_ir::{Arg, BufferKind, Call, Compare, Expr, Node, Stmt, put_elem};

/// Another literal of a call, or of a comparison.
pub(super) fn literal(draft: &mut Draft) -> Option<()> {
    draft.somewhere(
        |s| is_call(s) || matches!(s, Stmt::If { .. } | Stmt::Break { .. } | Stmt::Invoke { .. }),
        |draft, node| {
            let mut stmt = draft.stmt(node)?.clone();
            match &mut stmt {
                Stmt::Call(call) => of_call(draft, call)?,
                Stmt::Invoke { function, args, .. } => {
                    let callee = draft.program().functions.get(*function)?;
                    let types: Vec<Type> = callee.params.iter().map(|p| callee.ty(*p)).collect();
                    let is = |i: &usize| matches!(args[*i], Arg::Expr(Expr::Const(_)));
                    let places: Vec<usize> = (0..args.len()).filter(is).collect();
                    let i = *draft.rng.pick(&places)?;
                    let bits = draft.bits(put_elem(*types.get(i)?)?);
                    args[i] = Arg::Expr(Expr::Const(bits));
                }
                Stmt::If { left, compare, right, .. } | Stmt::Break { left, compare, right } => {
                    let elem = put_elem(draft.function(node).ty(*left))?;
                    match draft.rng.below(3) {
                        0 => {
                            use Compare::*;
                            *compare = *draft.rng.pick(&[Eq, Ne, Lt, Le, Gt, Ge])?;
                        }
                        1 => {
                            let mask = u64::MAX >> (64 - elem.bits());
                            *right = right.wrapping_add([1, u64::MAX][draft.rng.below(2)]) & mask;
                        }
                        _ => *right = draft.bits(elem),
                    }
                }
                _ => return None,
            }
            (draft.stmt(node) != Some(&stmt)).then_some(())?;
            *draft.touch(node)? = stmt;
            Some(())
        },
    )
}

fn of_call(draft: &mut Draft, call: &mut Call) -> Option<()> {
    let mut places: Vec<usize> = (0..call.args.len()).collect();
    draft.rng.shuffle(&mut places);
    for i in places {
        let Arg::Expr(Expr::Const(old)) = call.args[i] else { continue };
        let param = call.intrinsic.params[i];
        let new = match (param.role, param.ty) {
            (Role::Uimm | Role::Frm | Role::Vxrm | Role::Position, _) => {
                constant(draft, call.intrinsic, param.role)?
            }
            (_, Type::Scalar(elem)) => Arg::Expr(Expr::Const(draft.bits(elem))),
            (Role::Scalar, Type::Size) => {
                let around = [old.wrapping_add(1), old.saturating_sub(1), old / 2, 0, 1, 31, 63];
                Arg::Expr(Expr::Const(*draft.rng.pick(&around)?))
            }
            (Role::Stride, _) => {
                let size = u64::from(call.intrinsic.ty.vector().map_or(1, |v| v.elem.bytes()));
                let strides = [0, size, size.wrapping_neg(), old.wrapping_neg(), old / 2 / size * size];
                Arg::Expr(Expr::Const(*draft.rng.pick(&strides)?))
            }
            _ => continue,
        };
        if new != call.args[i] {
            call.args[i] = new;
            return Some(());
        }
    }
    None
}

/// Another value of an opaque parameter.
pub(super) fn param(draft: &mut Draft) -> Option<()> {
    let count = draft.program().params.len();
    let mut places: Vec<usize> = (0..count).collect();
    draft.rng.shuffle(&mut places);
    for i in places {
        let (var, old) = draft.program().params[i];
        let ty = draft.program().main.ty(var);
        let Some(elem) = put_elem(ty) else { continue };
        // A number of the machine is most often a length, an offset or a count.
        let new = match ty {
            Type::Scalar(_) => draft.bits(elem),
            _ => *draft.rng.pick(&[old / 2, old.saturating_sub(1), 0, 1, old.wrapping_add(1)])?,
        };
        if new != old {
            draft.at.program.params[i].1 = new;
            let main = draft.program().functions.len();
            touch_users(draft, |s, program| s.effects(program).reads.contains(&var), Some(main));
            return Some(());
        }
    }
    None
}

/// Follows the statements, blocks aside, that something concerns.
fn touch_users(draft: &mut Draft, uses: impl Fn(&Stmt, &rvv_ir::Program) -> bool, function: Option<usize>) {
    let all: Vec<Node> = nodes(draft.program());
    for node in all {
        let inside = function.is_none_or(|f| node.function == f);
        let found = draft.stmt(&node).is_some_and(|s| s.blocks().is_empty() && uses(s, draft.program()));
        if inside && found {
            draft.at.follow(node);
        }
    }
}

/// Other data in a buffer: another seed, other kinds of values, or visible to the compiler.
pub(super) fn data(draft: &mut Draft) -> Option<()> {
    let mut numbers: Vec<usize> = (0..draft.program().buffers.len()).collect();
    draft.rng.shuffle(&mut numbers);
    for number in numbers {
        let stored = stores_to(draft, number);
        let seed = draft.rng.bits() >> 32;
        let kinds = [Distribution::Bits, Distribution::Corner, Distribution::Mix, Distribution::Small];
        let kind = *draft.rng.pick(&kinds)?;
        let way = draft.rng.below(6);
        let one = draft.rng.below(64);
        let buffer = &mut draft.at.program.buffers[number];
        match (&mut buffer.init, way) {
            (_, 0) if !stored && buffer.kind != BufferKind::Out => {
                let other = match buffer.kind {
                    BufferKind::Const => BufferKind::Data,
                    _ => BufferKind::Const,
                };
                buffer.kind = other;
            }
            // What may index memory keeps its bounds.
            (Init::Seed(old, Distribution::Below { .. } | Distribution::Permute { .. }), _) => *old = seed,
            (Init::Seed(old, distribution), 1..4) => (*old, *distribution) = (seed, kind),
            (Init::Seed(old, _), _) => *old = seed,
            (Init::Data(values), _) if !values.is_empty() => {
                let at = one % values.len();
                values[at] ^= 1 << (one % buffer.elem.bits() as usize);
            }
            // The zeros of what is printed show what is not stored.
            (Init::Zero, 1) if buffer.kind == BufferKind::Out => buffer.init = Init::Seed(seed, kind),
            _ => continue,
        }
        touch_users(
            draft,
            move |s, program| {
                let effects = s.effects(program);
                !matches!(s, Stmt::Invoke { .. })
                    && (effects.loads.contains(&number) || effects.stores.contains(&number))
            },
            None,
        );
        return Some(());
    }
    None
}

/// Whether anything stores to a buffer.
pub(super) fn stores_to(draft: &Draft, number: usize) -> bool {
    let program = draft.program();
    program
        .functions
        .iter()
        .chain([&program.main])
        .any(|f| f.body.iter().any(|s| s.effects(program).stores.contains(&number)))
        || program.record_of(number).is_some()
}
