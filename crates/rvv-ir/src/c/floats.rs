//! What a compiler has to be told of a program's floating point.

use super::any_stmt;
use crate::loops::{Binary, CExpr, Lane};
use crate::{Arg, Expr, Function, Program, Stmt};
use rvv_intrinsics::{Elem, Sem, Type};

/// Where the truth of a program is not what a compiler makes of it by default. A program that needs nothing
/// of this can be compiled as users compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FloatNeeds {
    /// It changes the dynamic rounding mode: `FENV_ACCESS` for clang, which the file has, and
    /// `-frounding-math` for gcc.
    pub rounding: bool,
    /// The bits of NaNs may matter: instructions make every NaN canonical, and quiet. By default gcc may take
    /// `x * 1` for `x`, which keeps a payload, a sign, and a signalling NaN: it needs `-fsignaling-nans`.
    pub nans: bool,
    /// A product may be added to something in plain C, and must be rounded before: `-ffp-contract=off`.
    pub contraction: bool,
}

/// What a program needs; on the safe side where that is not clear.
pub fn float_needs(program: &Program) -> FloatNeeds {
    let plain = program.is_plain();
    FloatNeeds {
        rounding: super::sets_frm(program),
        // In plain C the bits of NaNs are not defined.
        nans: !plain && nan_bits_matter(program),
        contraction: !program.contract && contracts(program),
    }
}

/// A NaN that is not the canonical one.
fn is_odd_nan(elem: Elem, bits: u64) -> bool {
    let (exponent, fraction) = match elem {
        Elem::F16 => (5, 10),
        Elem::Bf16 => (8, 7),
        Elem::F32 => (8, 23),
        Elem::F64 => (11, 52),
        _ => return false,
    };
    let infinity = ((1u64 << exponent) - 1) << fraction;
    let canonical = infinity | 1 << (fraction - 1);
    let bits = bits & (u64::MAX >> (64 - elem.bits()));
    let magnitude = bits & !(1 << (exponent + fraction));
    magnitude > infinity && bits != canonical
}

/// Whether a NaN that is not canonical may come about: from data, from integers, by an operation on signs.
fn nan_bits_matter(program: &Program) -> bool {
    let is_float = |ty: Type| match ty {
        Type::Vector(v) => v.elem.is_float(),
        _ => false,
    };
    let data = program
        .buffers
        .iter()
        .any(|b| b.elem.is_float() && b.values().into_iter().any(|v| is_odd_nan(b.elem, v)));
    let params = program.params.iter().any(|(var, bits)| match program.main.ty(*var) {
        Type::Scalar(e) => is_odd_nan(e, *bits),
        _ => false,
    });
    let calls = program.calls().iter().any(|call| {
        let makes = match call.intrinsic.sem {
            Sem::Reinterpret => is_float(call.intrinsic.ret),
            Sem::Fsgnj | Sem::Fsgnjn | Sem::Fsgnjx | Sem::Fneg | Sem::Fabs => true,
            _ => false,
        };
        let literal =
            call.args.iter().zip(&call.intrinsic.params).any(|(arg, param)| match (arg, param.ty) {
                (Arg::Expr(Expr::Const(bits)), Type::Scalar(e)) => is_odd_nan(e, *bits),
                _ => false,
            });
        makes || literal
    });
    data || params || calls
}

/// Whether element statements add to a product of floating-point numbers, or may: gcc contracts across
/// statements.
fn contracts(program: &Program) -> bool {
    let (mut multiplies, mut adds) = (false, false);
    let mut see = |op: Binary, is_float: bool| {
        multiplies |= is_float && op == Binary::Mul;
        adds |= is_float && matches!(op, Binary::Add | Binary::Sub);
    };
    for function in program.functions.iter().chain([&program.main]) {
        each_operation(program, function, &function.body, &mut see);
    }
    multiplies && adds
}

fn each_operation(program: &Program, f: &Function, body: &[Stmt], see: &mut dyn FnMut(Binary, bool)) {
    fn lane(program: &Program, of: &Lane, see: &mut dyn FnMut(Binary, bool)) {
        if let Lane::Binary(op, ..) = of {
            see(*op, of.elem(program).is_some_and(Elem::is_float));
        }
        of.parts().into_iter().for_each(|part| lane(program, part, see));
    }
    for stmt in body {
        for e in stmt.expressions() {
            e.each(&mut |e| {
                if let CExpr::Binary(op, ..) = e {
                    see(*op, e.ty(program, f).is_ok_and(Elem::is_float));
                }
            });
        }
        if let Stmt::Lanes(of) = stmt {
            lane(program, &of.value, see);
        }
        stmt.blocks().into_iter().for_each(|block| each_operation(program, f, block, see));
    }
}

/// Whether a program changes the dynamic rounding mode. A compiler must then get `-frounding-math`;
/// the file itself turns `FENV_ACCESS` on where that is known.
pub fn sets_frm(program: &Program) -> bool {
    any_stmt(program, &|s| matches!(s, Stmt::SetFrm(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn needs(text: &str) -> FloatNeeds {
        float_needs(&text.parse().unwrap_or_else(|e| panic!("{e}\n{text}")))
    }

    const HEAD: &str = "rvv-ir 1\nout to: f32[4] = zero\n";

    /// One program for each reason, and its near miss.
    #[test]
    fn programs_need_what_they_contain() {
        let with = |data: &str, call: &str| {
            let text = format!(
                "{HEAD}data from: f32[4] = {data}\n\nmain {{\n  var v: f32m1\n  var w: f32m1\n  \
                 v = vle32_v_f32m1(&from[0], 4)\n  {call}\n  vse32_v_f32m1(&to[0], w, 4)\n}}\n"
            );
            needs(&text)
        };
        let add = "w = vfadd_vv_f32m1(v, v, 4)";
        // 1.0 and the canonical NaN.
        assert_eq!(with("[0x3f800000, 0x7fc00000]", add), FloatNeeds::default());
        // A payload, a sign, a signalling NaN.
        for odd in ["0x7fc00001", "0xffc00000", "0x7f800001"] {
            assert!(with(&format!("[{odd}]"), add).nans, "{odd}");
        }
        // Infinity is no NaN.
        assert!(!with("[0x7f800000, 0xff800000]", add).nans);
        // The sign of a NaN changes.
        assert!(with("[0x3f800000]", "w = vfneg_v_f32m1(v, 4)").nans);
        assert!(with("[0x3f800000]", "setfrm 1\n  w = vfadd_vv_f32m1(v, v, 4)").rounding);
    }

    #[test]
    fn a_product_and_a_sum_may_be_contracted() {
        let with = |value: &str| {
            needs(&format!(
                "{HEAD}\nglobal fn f() {{\n  var i: i32\n  loop i = i32(0) while < i32(4) step 1 {{\n    \
                 set to[i] = {value}\n  }}\n}}\n\nmain {{\n  call f()\n}}\n"
            ))
        };
        assert!(with("((to[i] * to[i]) + to[i])").contraction);
        assert!(!with("(to[i] * to[i])").contraction);
        // Integers are exact.
        assert!(!with("((to[i] + to[i]) + (i * i))").contraction);
        assert!(!with("((to[i] * to[i]) + to[i])").nans);
    }
}
