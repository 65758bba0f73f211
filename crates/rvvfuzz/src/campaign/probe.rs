//! Does an emulator work at all? Tried on one small program before a campaign begins.

use super::batch::{self, Case};
use super::compiler::{Compiler, Limits};
use super::emulator::Emulator;
use super::outcome::Outcome;
use super::testbed::{Build, Testbeds};
use rvvgen::{Plan, Selection, Settings, generate};

/// The runs that do not print what a small program of the direct lowering must print, and why. `rvvsim` is not asked.
pub fn failing_runs(testbeds: &Testbeds) -> Vec<(usize, String)> {
    let mut failing = Vec::new();
    let selection = Selection { names: vec!["vadd_vv_i32m1".to_string()], ..Selection::default() };
    let build = Build { compiler: Compiler::direct(), flags: Vec::new() };
    for (r, run) in testbeds.runs.iter().enumerate() {
        if run.emulator == Emulator::Rvvsim {
            continue;
        }
        let vlen = run.setup.vlen;
        let settings = Settings {
            vlens: vec![vlen],
            vls: vec![run.setup.vl],
            selection: selection.clone(),
            ..Settings::default()
        };
        let plan = Plan::new(1, &selection, 1, vlen);
        let outcome = generate(&plan, 0, &settings).map_err(|e| e.to_string()).and_then(|generated| {
            let case = Case::new(0, generated.program, &[(vlen, run.setup.vl)]).map_err(|e| e.to_string())?;
            let cases = [case];
            let parts = batch::build(&build, &cases, &Limits::default()).map_err(|e| e.to_string())?;
            let outcomes = parts[0].run(run, &cases).map_err(|e| e.why)?;
            outcomes.into_iter().next().map(|(_, outcome)| outcome).ok_or("it has no outcome".to_string())
        });
        match outcome {
            Ok(Outcome::Pass) => {}
            Ok(other) => failing.push((r, format!("a small program fails on it: {other}"))),
            Err(why) => failing.push((r, why)),
        }
    }
    failing
}

/// Takes them out, and tells why.
pub fn drop_failing_runs(testbeds: &mut Testbeds, note: &mut dyn FnMut(String)) {
    let failing = failing_runs(testbeds);
    for (r, why) in failing.iter().rev() {
        note(format!("{} is left out: {why}", testbeds.runs[*r].name()));
        testbeds.runs.remove(*r);
    }
}
