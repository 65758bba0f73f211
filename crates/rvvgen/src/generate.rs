//! Writes one program.

use crate::builder::Builder;
use crate::every_pair::every_pair;
use crate::loops;
use crate::rng::Rng;
use crate::schedule::Reschedule;
use crate::sizes::Lengths;
use crate::twins::twins;
use crate::vl_class::{Class, Kind};
use crate::{Category, Choice, Plan, Scheduler, Selection, Weights};
use rvv_intrinsics::Intrinsic;
use rvv_ir::{Arg, Call, Expected, Program, Stmt, Var};
use rvv_oracle::{EvalError, Options, VlChoice, evaluate, evaluate_with};

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
    if Rng::new(&[plan.seed(), k, 3]).chance(settings.weights.loops) {
        let mut generated = mend(plan, k, loops::program(plan.seed(), k, settings), settings)?;
        generated.program.reschedule(settings.scheduler, k);
        return Ok(generated);
    }
    if Rng::new(&[plan.seed(), k / 2, 5]).chance(settings.weights.twins) {
        // The even one is intrinsics, the next one the same in plain C.
        let [vector, scalar] = twins(plan.seed(), k / 2);
        let program = if k.is_multiple_of(2) { vector } else { scalar };
        let mut generated = mend(plan, k, program, settings)?;
        generated.program.reschedule(settings.scheduler, k);
        return Ok(generated);
    }
    if Rng::new(&[plan.seed(), k, 6]).chance(settings.weights.every_pair)
        && let Some(program) = every_pair(plan.seed(), k, settings)
    {
        let mut generated = mend(plan, k, program, settings)?;
        generated.program.reschedule(settings.scheduler, k);
        return Ok(generated);
    }
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
    let mut generated = mend(plan, k, program, settings)?;
    // Orders differ in nothing that can be seen: what was taken out, and what is printed, stay the same.
    generated.program.reschedule(settings.scheduler, k);
    Ok(generated)
}

/// Gives half of the vector variables a fixed length. Overloaded names are for the types without one, and so
/// is inline assembly.
fn fix_vectors(program: &mut Program, rng: &mut Rng) {
    fn bound(body: &[Stmt], found: &mut Vec<Var>) {
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
            stmt.blocks().into_iter().for_each(|block| bound(block, found));
        }
    }
    for function in program.functions.iter_mut().chain([&mut program.main]) {
        let mut not = Vec::new();
        bound(&function.body, &mut not);
        for (n, var) in function.vars.iter_mut().enumerate() {
            var.fixed = rng.below(2) == 0 && var.may_be_fixed() && !not.contains(&Var(n as u32));
        }
    }
}

/// Evaluates the program where it must have a meaning. A statement that has none is taken out, and what
/// needed it with it.
fn mend(plan: &Plan, k: u64, mut program: Program, settings: &Settings) -> Result<Generated, GenerateError> {
    let mut repairs = 0;
    loop {
        match meanings(&program, settings) {
            Ok((expected, executed)) => return Ok(Generated { program, expected, executed, repairs }),
            Err(error) => {
                repairs += 1;
                // A branch that nothing decides is taken.
                if let Some(Stmt::If { then, .. }) = error.node.find(&program) {
                    let then = then.clone();
                    program.replace(&error.node, then);
                    continue;
                }
                // A function of one call and its result goes as a whole.
                let in_element = error.node.find(&program).is_some_and(Stmt::is_element);
                let several = program.function(error.node.function).body.len() > 1;
                let removed = (several && program.remove(&error.node))
                    || (!in_element && program.remove_function(error.node.function))
                    || program.remove(&error.node);
                if repairs > 200 || !removed {
                    return Err(GenerateError::Undefined { seed: plan.seed(), number: k, error });
                }
            }
        }
    }
}

/// What it prints, and which calls were executed at the first VLEN.
type Meaning = (Vec<Expected>, Vec<Choice>);

fn meanings(program: &Program, settings: &Settings) -> Result<Meaning, EvalError> {
    let mut expected = Vec::new();
    let mut executed: Vec<Choice> = Vec::new();
    if program.is_plain() {
        // The same at every VLEN.
        let Some(&first) = settings.vlens.first() else { return Ok((expected, executed)) };
        let outcome = evaluate(program, &Options::new(first))?;
        expected.extend(settings.vlens.iter().map(|&vlen| Expected { vlen, ..outcome.clone() }));
        return Ok((expected, executed));
    }
    for (i, &vl) in settings.vls.iter().enumerate() {
        for &vlen in &settings.vlens {
            let options = Options { vl, ..Options::new(vlen) };
            if i > 0 || !expected.is_empty() {
                let outcome = evaluate(program, &options)?;
                if i == 0 {
                    expected.push(outcome);
                }
                continue;
            }
            let mut note = |call: &Call| {
                executed.push(Choice { intrinsic: call.intrinsic, overloaded: call.overloaded });
            };
            expected.push(evaluate_with(program, &options, &mut note)?);
        }
    }
    executed.sort_unstable_by_key(|c| (c.intrinsic.id, c.overloaded));
    executed.dedup();
    Ok((expected, executed))
}
