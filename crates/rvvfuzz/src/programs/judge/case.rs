//! A program with what the oracle says it must print.

use crate::programs::testbed::Testbeds;
use crate::programs::testbed::emulator::Setup;
use rvv_intrinsics::Role;
use rvv_ir::c::float_needs;
use rvv_ir::data::{Distribution, Init};
use rvv_ir::{Buffer, BufferKind, Expected, Program};
use rvv_oracle::{EvalError, Options, VlChoice, evaluate};

/// A program and what it must print wherever it is run.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its number in the campaign.
    pub number: u64,
    /// The program.
    pub program: Program,
    expected: Vec<((u32, VlChoice), Expected)>,
    /// The same with other data, as far as it has a meaning: what is built for the program runs on all of
    /// them.
    pub inputs: Vec<Option<Input>>,
}

/// A program with other data.
#[derive(Clone, Debug)]
pub struct Input {
    /// The program; only the contents of buffers differ.
    pub program: Program,
    /// What it must print where it is run.
    pub expected: Expected,
    /// The contents of the buffers that differ, by their numbers.
    pub contents: Vec<(usize, Vec<u8>)>,
}

impl Input {
    /// Where it is run.
    pub fn place(&self) -> (u32, VlChoice) {
        (self.expected.vlen, self.expected.vl)
    }

    /// A program with data drawn anew, for one place; `None` if there is nothing to draw, if it has no
    /// meaning with them, or if a compiler would have to be told more than of the program itself.
    pub fn draw(program: &Program, number: u64, place: (u32, VlChoice)) -> Option<Input> {
        // Plain C may overflow with other data, and the bits of its NaNs are not defined.
        if program.is_plain() {
            return None;
        }
        let mut other = program.clone();
        let mut contents = Vec::new();
        let drawn = other.buffers.iter_mut().enumerate().filter(|(_, b)| b.kind != BufferKind::Const);
        for (n, buffer) in drawn {
            if let Init::Seed(seed, _) = &mut buffer.init {
                *seed = (*seed ^ number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15)).rotate_left(17);
                contents.push((n, buffer.contents()));
            }
        }
        if contents.is_empty() || !float_needs(program).nans && float_needs(&other).nans {
            return None;
        }
        let (vlen, vl) = place;
        let expected = evaluate(&other, &Options { vl, ..Options::new(vlen) }).ok()?;
        Some(Input { program: other, expected, contents })
    }
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
        Ok(Case::known(number, program, expected))
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
        Case { number, program, expected, inputs: Vec::new() }
    }

    /// The same with so many data sets more, each for one of these places.
    #[must_use]
    pub fn with_inputs(mut self, count: usize, places: &[(u32, VlChoice)]) -> Case {
        let draw = |(n, place): (usize, &(u32, VlChoice))| {
            let left_out = place.1 == VlChoice::Half && self.has_groups();
            if left_out { None } else { Input::draw(&self.program, n as u64, *place) }
        };
        // A program that has every value of a type tries nothing new with other data but their order.
        let most = if self.program.buffers.iter().any(has_every_value) { FEW } else { count };
        self.inputs = places
            .iter()
            .cycle()
            .take(if places.is_empty() { 0 } else { count.min(most) })
            .enumerate()
            .map(draw)
            .collect();
        self
    }

    /// What it must print there.
    pub fn expected(&self, setup: &Setup) -> Option<&Expected> {
        self.expected.iter().find(|(place, _)| *place == (setup.vlen, setup.vl)).map(|(_, e)| e)
    }

    /// It works on element groups, so its vl must be a multiple of their size. An implementation that has
    /// such instructions rounds a halved vl up (`norm:egs_vl_avl`); the oracle, and QEMU, do not.
    pub fn has_groups(&self) -> bool {
        has_groups(&self.program)
    }

    /// How many bytes it prints, the same everywhere.
    pub(super) fn output_len(&self) -> usize {
        self.program.outputs().map(|(_, b)| b.bytes()).sum()
    }
}

/// Data sets of a program that tries every value whatever they are.
const FEW: usize = 2;

/// Whether a buffer holds all values of a type of 8 bits, in some order.
fn has_every_value(buffer: &Buffer) -> bool {
    let all = matches!(buffer.init, Init::Seed(_, Distribution::Permute { step: 1 }));
    all && buffer.elem.bits() == 8 && buffer.len == 256
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

#[cfg(test)]
mod tests {
    use super::*;

    const ADD: &str = "rvv-ir 1
data a: i32[10] = seed 0x1 bits
const b: i32[10] = seed 0x2 bits
out c: i32[10] = zero

main {
  var x: i32m1
  var y: i32m1
  x = vle32_v_i32m1(&a[0], 4)
  y = vle32_v_i32m1(&b[0], 4)
  x = vadd_vv_i32m1(x, y, 4)
  vse32_v_i32m1(&c[0], x, 4)
}
";

    #[test]
    fn other_data_have_a_truth_of_their_own() {
        let program: Program = ADD.parse().unwrap_or_else(|e| panic!("{e}"));
        let place = (128, VlChoice::Max);
        let case = Case::new(0, program.clone(), &[place]).unwrap().with_inputs(3, &[place]);
        let inputs: Vec<&Input> = case.inputs.iter().flatten().collect();
        assert_eq!(inputs.len(), 3);
        for (n, input) in inputs.iter().enumerate() {
            assert_ne!(input.program.buffers[0].init, program.buffers[0].init);
            // What is in the compiled file stays.
            assert_eq!(input.program.buffers[1].init, program.buffers[1].init);
            assert_eq!(input.expected, evaluate(&input.program, &Options::new(128)).unwrap());
            assert!(inputs[..n].iter().all(|o| o.expected != input.expected), "{n}");
        }
        assert!(case.clone().with_inputs(3, &[]).inputs.is_empty());
        let every = "data a: i8[256] = seed 0x1 permute step 1\nout c: i32[10]";
        let every: Program = ADD
            .replace("out c: i32[10]", every)
            .replace("data a: i32", "data d: i32")
            .replace("&a", "&d")
            .parse()
            .unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(Case::new(0, every, &[place]).unwrap().with_inputs(16, &[place]).inputs.len(), FEW);
        let none: Program = ADD.replace("seed 0x1 bits", "zero").parse().unwrap_or_else(|e| panic!("{e}"));
        assert!(Input::draw(&none, 0, place).is_none());
    }
}
