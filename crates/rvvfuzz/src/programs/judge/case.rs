//! A program with what the oracle says it must print.

use crate::programs::testbed::Testbeds;
use crate::programs::testbed::emulator::Setup;
use rvv_intrinsics::Role;
use rvv_ir::{Expected, Program};
use rvv_oracle::{EvalError, Options, VlChoice, evaluate};

/// A program and what it must print wherever it is run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number in the campaign.
    pub number: u64,
    /// The program.
    pub program: Program,
    expected: Vec<((u32, VlChoice), Expected)>,
}

impl Case {
    /// Evaluates a program for these VLENs and choices of vl.
    ///
    /// # Errors
    /// Where it has no meaning.
    pub fn new(number: u64, program: Program, places: &[(u32, VlChoice)]) -> Result<Case, EvalError> {
        let mut expected: Vec<((u32, VlChoice), Expected)> = Vec::new();
        for &(vlen, vl) in places {
            // Plain C is the same everywhere.
            if let Some((_, first)) = expected.first().filter(|_| program.is_plain()) {
                let again = Expected { vlen, vl, ..first.clone() };
                expected.push(((vlen, vl), again));
                continue;
            }
            expected.push(((vlen, vl), evaluate(&program, &Options { vl, ..Options::new(vlen) })?));
        }
        Ok(Case { number, program, expected })
    }

    /// A program with what it must print on these testbeds.
    ///
    /// # Errors
    /// Where it has no meaning.
    pub fn on(testbeds: &Testbeds, number: u64, program: Program) -> Result<Case, String> {
        let mut places = testbeds.places();
        if has_groups(&program) {
            places.retain(|(_, vl)| *vl == VlChoice::Max);
        }
        Case::new(number, program, &places).map_err(|e| format!("program {number} has no meaning: {e}"))
    }

    /// A program whose expectations are known, each with its VLEN and choice of vl.
    pub fn known(number: u64, program: Program, expected: Vec<((u32, VlChoice), Expected)>) -> Case {
        Case { number, program, expected }
    }

    /// What it must print there.
    pub fn expected(&self, setup: &Setup) -> Option<&Expected> {
        self.expected.iter().find(|(place, _)| *place == (setup.vlen, setup.vl)).map(|(_, e)| e)
    }

    /// It works on element groups, so its vl must be a multiple of their size. An implementation that has such
    /// instructions rounds a halved vl up (`norm:egs_vl_avl`); the oracle, and QEMU, do not.
    pub fn has_groups(&self) -> bool {
        has_groups(&self.program)
    }

    /// How many bytes it prints, the same everywhere.
    pub(super) fn output_len(&self) -> usize {
        self.program.outputs().map(|(_, b)| b.bytes()).sum()
    }
}

/// As [`Case::has_groups`].
pub fn has_groups(program: &Program) -> bool {
    let groups = |c: &&rvv_ir::Call| matches!(rvvgen::class(c.intrinsic).kind, rvvgen::Kind::Groups(_));
    program.calls().iter().any(groups)
}

/// Operations of a program: its calls but loads and stores, and the assignments of plain C.
pub fn operations(program: &Program) -> u64 {
    let calls = program.calls().iter().filter(|c| c.intrinsic.param(Role::Base).is_none()).count();
    (calls + program.assignments().len()) as u64
}
