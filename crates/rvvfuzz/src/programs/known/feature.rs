//! What a program has that a fault needs, and how to take it out.

use super::plain::{self, Change};
use crate::streams::known::glob;
use rvv_intrinsics::{Role, Sem, Type, by_name};
use rvv_ir::tidy::{each_stmt, nodes, tidy, without};
use rvv_ir::{Arg, Call, Expr, Function, Node, Program, Stmt, Var};
use rvv_oracle::{VlChoice, evaluate};
use serde::Deserialize;

/// Statements of a program: calls by their names, or of one kind.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Feature {
    /// Patterns of the intrinsics' names, without `__riscv_`.
    pub calls: Vec<String>,
    /// Only calls that get one vector twice.
    pub twice: bool,
    /// Only calls whose result nobody reads.
    pub unused: bool,
    /// A kind of statement.
    pub statement: Option<Kind>,
}

/// A kind of statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The dynamic rounding mode is set.
    SetFrm,
    /// A function of the program takes or returns a tuple.
    TupleParameter,
    /// A tuple is assigned under a condition.
    TupleChoice,
    /// A function of the program takes a mask, after it something in a scalar register, and another mask
    /// after that.
    MasksAndScalar,
    /// A merge takes the result of a masked operation where that operation was active: under one mask.
    MergeOfMasked,
    /// Plain C: a loop assigns what its next round reads first.
    Carried,
    /// Plain C: a product of floating-point numbers.
    Product,
    /// Plain C: a call of `fma`, or a product that compilers may contract.
    Fma,
    /// Plain C: a floating-point product with the literal -1, or the negative of a vector.
    NegativeOne,
    /// Plain C: a comparison in a group of statements side by side.
    GroupedComparison,
    /// Plain C: a subscript with a remainder in it.
    Modulo,
}

impl Feature {
    /// Where a program has it.
    pub fn places(&self, program: &Program) -> Vec<Node> {
        let all = nodes(program);
        all.into_iter().filter(|node| node.find(program).is_some_and(|s| self.is(program, node, s))).collect()
    }

    /// Whether a program has it.
    pub fn is_in(&self, program: &Program) -> bool {
        !self.places(program).is_empty()
    }

    fn is(&self, program: &Program, node: &Node, stmt: &Stmt) -> bool {
        match (stmt, self.statement) {
            (Stmt::SetFrm(_), Some(Kind::SetFrm)) => true,
            (Stmt::Invoke { function, .. }, Some(Kind::TupleParameter)) => program
                .functions
                .get(*function)
                .is_some_and(|f| f.params.iter().chain(f.ret.as_ref()).any(|&v| is_tuple(f.ty(v)))),
            (Stmt::Invoke { function, .. }, Some(Kind::MasksAndScalar)) => {
                let types = |f: &Function| f.params.iter().map(|&v| f.ty(v)).collect::<Vec<_>>();
                program.functions.get(*function).is_some_and(|f| masks_and_scalar(&types(f)))
            }
            (Stmt::If { then, otherwise, .. }, Some(Kind::TupleChoice)) => {
                let function = program.function(node.function);
                let assigns = |s: &Stmt| {
                    let writes = s.effects(program).writes;
                    writes.iter().any(|&v| is_tuple(function.ty(v)))
                };
                then.iter().chain(otherwise).any(assigns)
            }
            (Stmt::Call(call), Some(Kind::MergeOfMasked)) => merges_masked(program, node, call),
            (stmt, Some(Kind::Carried)) => plain::is_carried(program, node, stmt),
            (stmt, Some(Kind::Product)) => plain::has_product(program, node, stmt),
            (stmt, Some(Kind::Fma)) => {
                plain::has_fma(stmt) || program.contract && plain::has_product(program, node, stmt)
            }
            (stmt, Some(Kind::NegativeOne)) => plain::has_negative_one(program, stmt),
            (stmt, Some(Kind::GroupedComparison)) => plain::has_grouped_comparison(program, node, stmt),
            (stmt, Some(Kind::Modulo)) => plain::has_modulo(stmt),
            (Stmt::Call(call), _) => self.is_call(program, node, call),
            _ => false,
        }
    }

    fn is_call(&self, program: &Program, node: &Node, call: &Call) -> bool {
        let name = call.intrinsic.name.strip_prefix("__riscv_").unwrap_or(&call.intrinsic.name);
        self.calls.iter().any(|pattern| glob(pattern, name))
            && (!self.twice || gets_twice(program, node, call))
            && (!self.unused || call.dst.is_some_and(|dst| !is_read(program, node.function, dst)))
    }

    /// The program without it, and without what needs it; `None` if nothing with a meaning is left.
    pub fn without(&self, program: &Program, places: &[(u32, VlChoice)]) -> Option<Program> {
        let found = self.places(program);
        if found.is_empty() {
            return Some(program.clone());
        }
        whole(tidy(without(program, &found))?, places)
    }
}

/// Whether between two masks there is a parameter in a scalar register: a scalar, a pointer, or a vector for
/// which v8 to v23 have no room, which is passed by reference.
fn masks_and_scalar(types: &[Type]) -> bool {
    let mut used = [false; 16];
    let (mut mask, mut scalar) = (false, false);
    for ty in types {
        let (size, fields) = match ty {
            Type::Mask(_) if scalar => return true,
            // The first is in v0.
            Type::Mask(_) if !mask => {
                mask = true;
                continue;
            }
            Type::Mask(_) => (1, 1),
            Type::Vector(v) => ((v.elem.bits() / v.ratio()).max(1) as usize, usize::from(v.nf)),
            _ => (0, 0),
        };
        // Groups of registers are aligned to their size.
        let mut starts = (0..used.len()).step_by(size.max(1)).filter(|s| s + size * fields <= used.len());
        match starts.find(|&s| size > 0 && !used[s..s + size * fields].contains(&true)) {
            Some(start) => used[start..start + size * fields].fill(true),
            None => scalar |= mask,
        }
    }
    false
}

fn is_tuple(ty: Type) -> bool {
    matches!(ty, Type::Vector(v) if v.nf > 1)
}

/// Whether two vector operands are one variable, or copies of one.
fn gets_twice(program: &Program, node: &Node, call: &Call) -> bool {
    let function = program.function(node.function);
    let vectors: Vec<Var> = call
        .args
        .iter()
        .filter_map(|arg| match arg {
            Arg::Var(v) if matches!(function.ty(*v), Type::Vector(_)) => Some(*v),
            _ => None,
        })
        .collect();
    (1..vectors.len()).any(|i| vectors[..i].contains(&vectors[i]))
}

/// Whether a merge selects the result of an operation by the mask of that operation.
fn merges_masked(program: &Program, node: &Node, call: &Call) -> bool {
    let (Sem::Merge, Some(selected), Some(mask)) =
        (call.intrinsic.sem, var(call, Role::Vs1), var(call, Role::Carry))
    else {
        return false;
    };
    let here: Vec<Node> = nodes(program).into_iter().filter(|n| n.function == node.function).collect();
    let stmts = || here.iter().filter_map(|n| n.find(program));
    let originals = |of: Var| {
        let mut found = vec![of];
        for stmt in stmts().collect::<Vec<_>>().into_iter().rev() {
            if let Stmt::Copy { dst, src } = stmt
                && found.contains(dst)
            {
                found.push(*src);
            }
        }
        found
    };
    let (selected, mask) = (originals(selected), originals(mask));
    stmts().any(|stmt| match stmt {
        Stmt::Call(c) => match (c.dst, var(c, Role::Mask)) {
            (Some(result), Some(by)) => {
                selected.contains(&result) && originals(by).iter().any(|v| mask.contains(v))
            }
            _ => false,
        },
        _ => false,
    })
}

/// The variable that a call has in this role.
fn var(call: &Call, role: Role) -> Option<Var> {
    match call.args[call.intrinsic.position(role)?] {
        Arg::Var(var) => Some(var),
        _ => None,
    }
}

fn is_read(program: &Program, function: usize, var: Var) -> bool {
    let function = program.function(function);
    function.ret == Some(var) || function.body.iter().any(|s| s.effects(program).reads.contains(&var))
}

/// A program without the statements that have no meaning there.
fn whole(mut program: Program, places: &[(u32, VlChoice)]) -> Option<Program> {
    // A statement that lost what it needs may take others with it, but not for ever.
    for _ in 0..200 {
        let options =
            |&(vlen, vl): &(u32, VlChoice)| rvv_oracle::Options { vl, ..rvv_oracle::Options::new(vlen) };
        match places.iter().find_map(|place| evaluate(&program, &options(place)).err()) {
            None => return Some(program).filter(|p| p.work() > 0),
            Some(error) => {
                let removed = program.remove_function(error.node.function) || program.remove(&error.node);
                program = tidy(program).filter(|_| removed)?;
            }
        }
    }
    None
}

/// A change of a program, or of how it is compiled, that takes away what a fault needs and leaves all else.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Probe {
    /// Every operand of this kind becomes 0: the rounding modes `frm` or `vxrm`.
    pub zero: Option<Mode>,
    /// No statement sets the dynamic rounding mode.
    pub set_frm: bool,
    /// These are taken out, and what needs them.
    pub without: Option<Feature>,
    /// Calls of a family become calls of another with the same operands: pairs of beginnings of names.
    pub replace: Vec<(String, String)>,
    /// Plain C: all floating-point expressions of a kind become others.
    pub expressions: Option<Change>,
    /// Flags besides the others, which switch off the pass at fault.
    pub flags: Vec<String>,
}

/// An operand that is a rounding mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Of floating point.
    Frm,
    /// Of fixed point.
    Vxrm,
}

impl Probe {
    /// The changed program; `None` if there is nothing to change. With [`Probe::flags`] it may be the same.
    pub fn change(&self, program: &Program) -> Option<Program> {
        let mut changed = program.clone();
        if self.set_frm {
            let set = Feature { statement: Some(Kind::SetFrm), ..Feature::default() };
            changed = tidy(without(&changed, &set.places(&changed)))?;
        }
        if let Some(feature) = &self.without {
            changed = feature.without(&changed, &[(128, VlChoice::Max)])?;
        }
        if let Some(change) = self.expressions {
            change.apply(&mut changed);
        }
        let functions = changed.functions.iter_mut().chain([&mut changed.main]);
        functions.for_each(|f| {
            each_stmt(&mut f.body, &mut |stmt| {
                if let Stmt::Call(call) = stmt {
                    self.change_call(call);
                }
            })
        });
        let is_other = changed != *program || !self.flags.is_empty();
        (is_other && changed.check().is_ok()).then_some(changed)
    }

    /// Whether nothing is left of the program without what is taken out: then it is that which fails.
    pub fn takes_all(&self, program: &Program) -> bool {
        let all = |f: &Feature| {
            !f.places(program).is_empty() && f.without(program, &[(128, VlChoice::Max)]).is_none()
        };
        self.without.as_ref().is_some_and(all)
    }

    fn change_call(&self, call: &mut Call) {
        let role = self.zero.map(|mode| match mode {
            Mode::Frm => Role::Frm,
            Mode::Vxrm => Role::Vxrm,
        });
        if let Some(at) = role.and_then(|role| call.intrinsic.position(role)) {
            call.args[at] = Arg::Expr(Expr::Const(0));
        }
        for (from, to) in &self.replace {
            let Some(rest) =
                call.intrinsic.name.strip_prefix("__riscv_").and_then(|n| n.strip_prefix(&**from))
            else {
                continue;
            };
            let other = by_name(&format!("__riscv_{to}{rest}"));
            // Roles may differ: the source of a move is vs1, that of a negation vs2.
            let same = |o: &&rvv_intrinsics::Intrinsic| {
                let types = |i: &rvv_intrinsics::Intrinsic| i.params.iter().map(|p| p.ty).collect::<Vec<_>>();
                o.ret == call.intrinsic.ret && types(o) == types(call.intrinsic)
            };
            if let Some(other) = other.filter(same) {
                call.intrinsic = other;
                call.overloaded &= other.overloaded.is_some();
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rvv_intrinsics::VecType;

    #[test]
    fn a_merge_of_a_masked_operation_has_its_mask() {
        let program = |merge: &str| -> Program {
            format!(
                "rvv-ir 1\ndata in0: u8[64] = seed 1 bits\nout out0: u8[64] = zero\nmain {{\n  var m: b8\n  \
                 var n: b8\n  var k: b8\n  var a: u8m1\n  var b: u8m1\n  var c: u8m1\n  \
                 m = vlm_v_b8(&in0[0], 9)\n  n = vlm_v_b8(&in0[2], 9)\n  k = m\n  \
                 a = vle8_v_u8m1(&in0[8], 9)\n  b = vnot_v_u8m1_m(m, a, 9)\n  {merge}\n  \
                 vse8_v_u8m1(&out0[0], c, 9)\n}}\n"
            )
            .parse()
            .unwrap()
        };
        let feature = Feature { statement: Some(Kind::MergeOfMasked), ..Feature::default() };
        for (merge, is) in [
            ("c = vmerge_vvm_u8m1(a, b, m, 9)", true),
            ("c = vmerge_vvm_u8m1(a, b, k, 9)", true),
            ("c = vmerge_vvm_u8m1(a, b, n, 9)", false),
            ("c = vmerge_vvm_u8m1(b, a, m, 9)", false),
            ("c = vmerge_vxm_u8m1(b, 3, m, 9)", false),
        ] {
            assert_eq!(feature.is_in(&program(merge)), is, "{merge}");
        }
    }

    #[test]
    fn a_vector_without_a_register_is_passed_in_a_scalar_one() {
        let v = |name: &str| Type::Vector(VecType::from_short(name).unwrap());
        let (m, s) = (Type::Mask(4), Type::Size);
        assert!(masks_and_scalar(&[m, s, m]) && masks_and_scalar(&[m, v("u8m1"), s, m]));
        assert!(!masks_and_scalar(&[s, m, m, s]) && !masks_and_scalar(&[m, v("u32m4"), m]));
        // As gcc 16 reads them: the second mask of the first is in v0, of the others it is not.
        assert!(masks_and_scalar(&[v("u32m8"), v("f32m8"), m, v("u32m8"), m]));
        assert!(!masks_and_scalar(&[v("u32m8"), m, v("u32m4"), m]));
        assert!(!masks_and_scalar(&[v("u32m8"), v("f32m8"), m, m]));
        // One register is taken, so that there is one group of eight left, not two.
        assert!(masks_and_scalar(&[v("u8mf2"), v("u32m8"), m, v("u32m8"), m]));
        assert!(masks_and_scalar(&[v("u32m8"), m, v("u16m2x4"), v("u8m1"), m]));
    }
}
