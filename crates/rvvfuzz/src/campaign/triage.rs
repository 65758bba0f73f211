//! A hundred hits of one bug are one entry.

use super::outcome::{Kind, Outcome};
use super::reduce::{Target, site};
use super::vote::Culprit;
use rvv_intrinsics::Sem;
use rvv_ir::Program;

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
        let place =
            target.site.clone().filter(|s| target.symptom == Kind::BuildCrash || s.starts_with("norm:"));
        // Which operation it is that does not see the new rounding mode is chance.
        let sets_frm =
            rvv_ir::c::sets_frm(reduced).then(|| "the dynamic rounding mode is changed".to_string());
        let key = place.or(sets_frm).unwrap_or_else(|| operations(reduced));
        Signature { culprit: culprit.clone(), symptom: target.symptom, key }
    }

    /// What can be said before reduction, to leave out what is known: crashes have a place at once.
    pub fn early(culprit: &Culprit, outcome: &Outcome) -> Option<Signature> {
        let place = site(outcome).filter(|s| outcome.kind() == Kind::BuildCrash || s.starts_with("norm:"))?;
        Some(Signature { culprit: culprit.clone(), symptom: outcome.kind(), key: place })
    }
}

/// The families of the operations of a program, plain loads and stores left out unless there is nothing else.
pub fn operations(program: &Program) -> String {
    let calls = program.calls();
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
