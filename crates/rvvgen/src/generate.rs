//! Writes one program.

use crate::builder::Builder;
use crate::every_pair::every_pair;
use crate::follow::Followed;
use crate::human::{self, Human};
use crate::loops;
use crate::mend::mend;
use crate::rng::Rng;
use crate::schedule::Reschedule;
use crate::sizes::Lengths;
use crate::twins::twins;
use crate::vl_class::{Class, Kind};
use crate::{Category, Choice, Plan, Scheduler, Selection, Weights};
use rvv_intrinsics::Intrinsic;
use rvv_ir::{Arg, Expected, Program, Stmt, Var};
use rvv_oracle::{EvalError, VlChoice};
use std::sync::Arc;

/// What programs are to be like.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Elements of data.
    pub len: Lengths,
    /// The VLENs at which programs must have a meaning.
    pub vlens: Vec<u32>,
    /// The choices of vl under which they must.
    pub vls: Vec<VlChoice>,
    /// The biases.
    pub weights: Weights,
    /// The order of statements.
    pub scheduler: Scheduler,
    /// What else than the planned calls is preferred.
    pub selection: Selection,
    /// What people do, for the policy `human`; the table of this crate if there is none.
    pub human: Option<Arc<Human>>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            len: Lengths::Strips,
            vlens: vec![128, 256, 512, 1024],
            vls: vec![VlChoice::Max],
            weights: Weights::default(),
            scheduler: Scheduler::Unit,
            selection: Selection::default(),
            human: None,
        }
    }
}

impl Settings {
    /// The smallest VLEN asked for.
    pub fn smallest_vlen(&self) -> u32 {
        self.vlens.iter().copied().min().unwrap_or(128)
    }

    /// The largest VLEN asked for.
    pub fn largest_vlen(&self) -> u32 {
        self.vlens.iter().copied().max().unwrap_or(128)
    }

    /// Whether this intrinsic is one to feed the others with.
    pub fn may_feed(&self, intrinsic: &Intrinsic) -> bool {
        let (plain, overloaded) =
            (self.selection.wants(intrinsic, false), self.selection.wants(intrinsic, true));
        plain || overloaded
    }

    /// Which of its names to use.
    pub fn overloads(&self, intrinsic: &Intrinsic, rng: &mut Rng) -> bool {
        let wants = |overloaded: bool| {
            (!overloaded || intrinsic.overloaded.is_some())
                && self.selection.categories.contains(&Category::of(intrinsic, overloaded))
        };
        match (wants(false), wants(true)) {
            (true, true) => rng.below(2) == 0,
            (false, true) => true,
            (_, false) => false,
        }
    }
}

/// A program and what it prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The program.
    pub program: Program,
    /// What it prints at each VLEN of the settings, under the first choice of vl.
    pub expected: Vec<Expected>,
    /// The calls that were executed at the first VLEN with a vl above 0, each once.
    pub executed: Vec<Choice>,
    /// Statements that had to be taken out again because they had no meaning.
    pub repairs: usize,
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// Nothing is selected.
    #[error(
        "no intrinsic is selected that has a meaning at VLEN {0}; try another --intrinsics, --extension or \
         --vlen"
    )]
    NothingSelected(u32),
    /// What was written has no meaning, and could not be mended.
    #[error("program {number} of seed {seed} has no meaning: {error}; this is a bug of rvvgen")]
    Undefined {
        /// The plan's seed.
        seed: u64,
        /// The program's number.
        number: u64,
        /// What the evaluator says.
        error: EvalError,
    },
}

/// Program number `k` of a plan.
///
/// # Errors
/// See [`GenerateError`].
pub fn generate(plan: &Plan, k: u64, settings: &Settings) -> Result<Generated, GenerateError> {
    let program = match unplanned(plan.seed(), k, settings) {
        Some(program) => program,
        None => planned(plan, k, settings)?,
    };
    let mut generated = mended(plan, k, program, settings)?;
    // Orders differ in nothing that can be seen: what was taken out, and what is printed, stay the same.
    generated.program.reschedule(settings.scheduler, k);
    Ok(generated)
}

/// A program that is about none of the planned calls, if the weights want one.
fn unplanned(seed: u64, k: u64, settings: &Settings) -> Option<Program> {
    let weights = &settings.weights;
    if Rng::new(&[seed, k, 3]).chance(weights.loops) {
        return Some(loops::program(seed, k, settings));
    }
    if Rng::new(&[seed, k / 2, 5]).chance(weights.twins) {
        // The even one is intrinsics, the next one the same in plain C.
        let [vector, scalar] = twins(seed, k / 2);
        return Some(if k.is_multiple_of(2) { vector } else { scalar });
    }
    if Rng::new(&[seed, k, 6]).chance(weights.every_pair)
        && let Some(program) = every_pair(seed, k, settings)
    {
        return Some(program);
    }
    if Rng::new(&[seed, k, 8]).chance(weights.human) {
        let human = settings.human.clone().unwrap_or_else(Human::built_in);
        return human::program(seed, k, settings, &human);
    }
    None
}

/// A program about the planned calls.
fn planned(plan: &Plan, k: u64, settings: &Settings) -> Result<Program, GenerateError> {
    let smallest = settings.smallest_vlen();
    let regions = plan.program(k).ok_or(GenerateError::NothingSelected(smallest))?;
    let mut rng = Rng::new(&[plan.seed(), k, 1]);
    let weights = settings.weights.skewed(&mut rng);
    let class = regions.first().map_or(Class { ratio: 8, kind: Kind::Plain }, |r| r.class);
    let mut builder = Builder::new(settings, weights, class, rng);
    builder.finite = Rng::new(&[plan.seed(), k, 4]).chance(settings.weights.finite);
    builder.prelude(&regions);
    for region in regions {
        builder.region(plan.seed(), region);
    }
    let mut program = builder.finish();
    let mut rng = Rng::new(&[plan.seed(), k, 7]);
    if rng.chance(settings.weights.fixed_vectors) {
        fix_vectors(&mut program, &mut rng);
    }
    program.comment = vec![format!("rvvgen, seed {}, program {k}", plan.seed())];
    Ok(program)
}

/// Adds the variables of a body that may have no fixed length: overloaded names are for the types without
/// one, and so is inline assembly.
pub(crate) fn never_fixed(body: &[Stmt], found: &mut Vec<Var>) {
    for stmt in body {
        match stmt {
            Stmt::Call(call) if call.overloaded => {
                found.extend(call.args.iter().filter_map(|arg| match arg {
                    Arg::Var(var) => Some(*var),
                    _ => None,
                }));
            }
            Stmt::Hide(var) => found.push(*var),
            _ => {}
        }
        stmt.blocks().into_iter().for_each(|block| never_fixed(block, found));
    }
}

/// Gives half of the vector variables a fixed length.
fn fix_vectors(program: &mut Program, rng: &mut Rng) {
    for function in program.functions.iter_mut().chain([&mut program.main]) {
        let mut not = Vec::new();
        never_fixed(&function.body, &mut not);
        for (n, var) in function.vars.iter_mut().enumerate() {
            var.fixed = rng.below(2) == 0 && var.may_be_fixed() && !not.contains(&Var(n as u32));
        }
    }
}

/// The program with its truth; what had no meaning is taken out of it.
fn mended(plan: &Plan, k: u64, program: Program, settings: &Settings) -> Result<Generated, GenerateError> {
    let mut steps = u64::MAX;
    mend(Followed::new(program), settings, &mut steps)
        .map(|m| m.generated)
        .map_err(|error| GenerateError::Undefined { seed: plan.seed(), number: k, error })
}
