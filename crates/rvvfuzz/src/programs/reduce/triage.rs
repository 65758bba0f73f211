//! A hundred hits of one bug are one entry.

use super::loops;
use super::target::{Target, site_of};
use crate::programs::judge::outcome::Kind;
use crate::programs::judge::vote::{Culprit, Verdict};
use crate::programs::testbed::Testbeds;
use rvv_intrinsics::{Role, Sem};
use rvv_ir::tidy::nodes;
use rvv_ir::{Arg, Program, Stmt};
use std::collections::BTreeSet;

/// What the hits of one bug share.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// Who is wrong.
    pub culprit: Culprit,
    /// What is seen.
    pub symptom: Kind,
    /// The place of the crash, the rule that is broken, or the operations that are left after reduction.
    pub key: String,
}

impl std::fmt::Display for Signature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}: {}", self.culprit, self.symptom.name(), self.key)
    }
}

impl Signature {
    /// The signature of a reduced program.
    pub fn new(culprit: &Culprit, target: &Target, reduced: &Program) -> Signature {
        let place = target.site.clone().filter(|s| says_where(target.symptom, s));
        // Which operation it is that does not see the new rounding mode is chance.
        let reads_frm = reduced.main.body.iter().any(|s| s.effects(reduced).reads_frm);
        let frm =
            (reads_frm && rvv_ir::c::sets_frm(reduced)).then_some("the dynamic rounding mode is changed");
        let key = place.or(frm.map(str::to_string)).unwrap_or_else(|| operations(reduced));
        Signature { culprit: culprit.clone(), symptom: target.symptom, key }
    }

    /// What can be said before reduction, to leave out what is known: crashes have a place at once.
    pub fn early(verdict: &Verdict) -> Option<Signature> {
        let place = site_of(verdict).filter(|s| says_where(verdict.symptom, s))?;
        Some(Signature { culprit: verdict.culprit.clone(), symptom: verdict.symptom, key: place })
    }
}

/// What can be said of a verdict's cause before it is reduced: the place of a crash or the rule that is
/// broken; else the levels at which it shows and the operation that makes the wrong value, which is a guess.
pub fn early(testbeds: &Testbeds, verdict: &Verdict, program: &Program) -> String {
    if let Some(signature) = Signature::early(verdict) {
        return signature.to_string();
    }
    let levels = verdict.testbeds.iter().map(|&t| testbeds.build_of(t).flags.join(" "));
    let levels: BTreeSet<String> = levels.filter(|l| !l.is_empty()).collect();
    let levels: Vec<String> = levels.into_iter().collect();
    let maker = verdict.buffer.and_then(|b| maker(program, b)).unwrap_or("unknown operation");
    let place = site_of(verdict).map_or(String::new(), |site| format!(" {site}"));
    let at = if levels.is_empty() { String::new() } else { format!(" at {}", levels.join(" ")) };
    format!("{}: {}{place}: not reduced, perhaps {maker}{at}", verdict.culprit, verdict.symptom.name())
}

/// Whether a [`site`](super::target::site) is enough to know a fault by. Of a trap, only the rule of the
/// manual is.
fn says_where(symptom: Kind, site: &str) -> bool {
    symptom.is_build() || site.starts_with("norm:")
}

/// What makes the value that is stored in a buffer: a first guess at what goes wrong there.
pub fn maker(program: &Program, buffer: usize) -> Option<&'static str> {
    made_by(program, buffer).map(Sem::name)
}

/// The meaning of the call that makes the value that is stored in a buffer.
pub fn made_by(program: &Program, buffer: usize) -> Option<Sem> {
    let to = |args: &[Arg]| args.iter().any(|a| matches!(a, Arg::Addr(b, _) if *b == buffer));
    let stmts: Vec<&Stmt> = nodes(program).iter().filter_map(|n| n.find(program)).collect();
    let stored = stmts.iter().find_map(|s| match s {
        Stmt::Put { buffer: b, value, .. } if *b == buffer => Some(*value),
        Stmt::Call(call) if to(&call.args) => match call.args.get(call.intrinsic.position(Role::Data)?)? {
            Arg::Var(var) => Some(*var),
            _ => None,
        },
        _ => None,
    })?;
    stmts.iter().rev().find_map(|s| match s {
        Stmt::Call(call) if call.dst == Some(stored) || call.args.contains(&Arg::Ref(stored)) => {
            Some(call.intrinsic.sem)
        }
        _ => None,
    })
}

/// The families of the operations of a program, plain loads and stores left out unless there is nothing else.
pub fn operations(program: &Program) -> String {
    let calls = program.calls();
    if calls.is_empty() {
        return loops::describe(program);
    }
    let feeds = |sem: Sem| {
        matches!(sem, Sem::Load | Sem::Store | Sem::LoadMask | Sem::StoreMask | Sem::Setvl | Sem::Setvlmax)
    };
    let mut families: Vec<&str> =
        calls.iter().filter(|c| !feeds(c.intrinsic.sem)).map(|c| c.intrinsic.family).collect();
    if families.is_empty() {
        families = calls.iter().map(|c| c.intrinsic.family).collect();
    }
    families.sort_unstable();
    families.dedup();
    families.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "rvv-ir 1
data in0: u32[4] = zero
out out0: u32[4] = zero
out out1: u64[4] = zero

main {
  var v0: u32m1
  var v1: u32m1
  var s0: size
  v0 = vle32ff_v_u32m1(&in0[0], &s0, 4)
  v1 = vadd_vx_u32m1(v0, 0x5, 4)
  vse32_v_u32m1(&out0[0], v1, 4)
  put out1[0] = s0
}
";

    #[test]
    fn the_value_in_the_wrong_buffer_is_suspected() {
        let program: Program = PROGRAM.parse().unwrap();
        assert_eq!(maker(&program, 1), Some("add"));
        assert_eq!(maker(&program, 2), Some("load_ff"));
        assert_eq!(maker(&program, 0), None);
    }
}
