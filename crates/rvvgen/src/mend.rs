//! Makes a program's meaning whole, and says what it prints.

use crate::follow::Followed;
use crate::generate::{Generated, Settings};
use crate::plan::Choice;
use rvv_ir::{Call, Expected, Program, Stmt};
use rvv_oracle::{EvalError, Options, evaluate_metered};

/// Statements that are taken out before a program is given up.
pub(crate) const MOST_REPAIRS: usize = 200;

/// A program with its truth, and the places that were followed.
pub(crate) struct Mended {
    pub generated: Generated,
    pub places: Vec<rvv_ir::Node>,
}

/// Evaluates the program where it must have a meaning. A statement that has none is taken out, and what
/// needed it with it. All evaluations together take no more than `steps`, of which is left what they did not
/// need.
pub(crate) fn mend(
    mut followed: Followed,
    settings: &Settings,
    steps: &mut u64,
) -> Result<Mended, EvalError> {
    let mut repairs = 0;
    loop {
        let error = match meanings(&followed.program, settings, steps) {
            Ok((expected, executed)) => {
                let Followed { program, places } = followed;
                let generated = Generated { program, expected, executed, repairs };
                return Ok(Mended { generated, places });
            }
            Err(error) => error,
        };
        repairs += 1;
        if *steps == 0 {
            return Err(error);
        }
        // A branch that nothing decides is taken.
        if let Some(Stmt::If { then, .. }) = error.node.find(&followed.program) {
            let then = then.clone();
            followed.replace(&error.node, then);
            continue;
        }
        // A function of one call and its result goes as a whole.
        let in_element = error.node.find(&followed.program).is_some_and(Stmt::is_element);
        let several = followed.program.function(error.node.function).body.len() > 1;
        let removed = (several && followed.remove(&error.node))
            || (!in_element && followed.remove_function(error.node.function))
            || followed.remove(&error.node);
        if repairs > MOST_REPAIRS || !removed {
            return Err(error);
        }
    }
}

/// What it prints, and which calls were executed at the first VLEN.
type Meaning = (Vec<Expected>, Vec<Choice>);

/// One evaluation, paid from the steps that are left.
fn paid(
    program: &Program,
    options: Options,
    steps: &mut u64,
    executed: &mut dyn FnMut(&Call),
) -> Result<Expected, EvalError> {
    let options = Options { fuel: options.fuel.min(*steps), ..options };
    let (outcome, spent) = evaluate_metered(program, &options, executed);
    // Every evaluation costs something, lest a thousand of nothing go on.
    *steps = steps.saturating_sub(spent.max(1));
    outcome
}

pub(crate) fn meanings(
    program: &Program,
    settings: &Settings,
    steps: &mut u64,
) -> Result<Meaning, EvalError> {
    let mut expected = Vec::new();
    let mut executed: Vec<Choice> = Vec::new();
    if program.is_plain() {
        // The same at every VLEN.
        let Some(&first) = settings.vlens.first() else { return Ok((expected, executed)) };
        let outcome = paid(program, Options::new(first), steps, &mut |_| ())?;
        expected.extend(settings.vlens.iter().map(|&vlen| Expected { vlen, ..outcome.clone() }));
        return Ok((expected, executed));
    }
    for (i, &vl) in settings.vls.iter().enumerate() {
        for &vlen in &settings.vlens {
            let options = Options { vl, ..Options::new(vlen) };
            if i > 0 || !expected.is_empty() {
                let outcome = paid(program, options, steps, &mut |_| ())?;
                if i == 0 {
                    expected.push(outcome);
                }
                continue;
            }
            let mut note = |call: &Call| {
                executed.push(Choice { intrinsic: call.intrinsic, overloaded: call.overloaded });
            };
            expected.push(paid(program, options, steps, &mut note)?);
        }
    }
    executed.sort_unstable_by_key(|c| (c.intrinsic.id, c.overloaded));
    executed.dedup();
    Ok((expected, executed))
}
