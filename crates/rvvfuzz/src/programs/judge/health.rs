//! Which builds and runs do not work and are not asked again: what they say is not about programs.

use super::batch::{Broken, Table};
use super::outcome::Outcome;
use crate::programs::testbed::compiler::{Built, Compiler, Limits};
use crate::programs::testbed::emulator::Ending;
use crate::programs::testbed::file::probe;
use crate::programs::testbed::{Component, Testbeds};
use rvv_ir::Program;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A testbed that fails every program of a batch of at least so many is broken.
const ALWAYS: usize = 8;

/// What a campaign goes without; its workers share it.
#[derive(Default)]
pub struct Health(Mutex<Dropped>);

#[derive(Default)]
struct Dropped {
    components: HashSet<Component>,
    /// Those that never worked.
    at_first: HashSet<Component>,
    reported: HashSet<String>,
}

impl Health {
    fn dropped(&self) -> MutexGuard<'_, Dropped> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether it is not asked any more.
    pub fn is_dropped(&self, component: Component) -> bool {
        self.dropped().components.contains(&component)
    }

    /// Goes without what never worked.
    pub fn drop_at_first(&self, component: Component) {
        let mut dropped = self.dropped();
        dropped.components.insert(component);
        dropped.at_first.insert(component);
    }

    /// Goes without it from now on.
    pub fn drop(&self, component: Component) {
        self.dropped().components.insert(component);
    }

    /// Whether nobody has said yet that this one does not work.
    pub fn is_news(&self, name: &str) -> bool {
        self.dropped().reported.insert(name.to_string())
    }

    /// What worked at first and was dropped on the way: builds, then runs.
    pub fn stopped(&self) -> Vec<Component> {
        let dropped = self.dropped();
        let mut stopped: Vec<Component> = dropped.components.difference(&dropped.at_first).copied().collect();
        stopped.sort_unstable();
        stopped
    }

    /// Whether no testbed is left.
    pub fn is_nothing_left(&self, testbeds: &Testbeds) -> bool {
        let dropped = self.dropped();
        let builds = dropped.components.iter().filter(|c| matches!(c, Component::Build(_))).count();
        let runs = dropped.components.len() - builds;
        builds == testbeds.builds.len() || runs == testbeds.runs.len()
    }
}

/// Whether a component that failed still does the least: a build compiles an empty program, a run runs an
/// empty program of the direct lowering.
pub fn works(testbeds: &Testbeds, component: Component, limits: &Limits) -> bool {
    match component {
        Component::Build(b) => {
            let compiler = &testbeds.builds[b].compiler;
            compiler.command.is_empty() || probe(compiler, limits).is_ok()
        }
        Component::Run(r) => {
            let run = &testbeds.runs[r];
            match Compiler::direct().build(&[&Program::default()], &[], limits) {
                Built::Elf(elf) => {
                    !matches!(run.emulator.run(&elf, &run.setup, None).ending, Ending::Broken(_))
                }
                _ => false,
            }
        }
    }
}

/// Builds and runs that fail everything while others do not; their outcomes are taken out of the table.
pub fn always_failing(testbeds: &Testbeds, table: &mut Table) -> Vec<(Component, Broken)> {
    let mut found = Vec::new();
    if table.len() < ALWAYS {
        return found;
    }
    let mut find = |component, why| {
        found.push((component, Broken { testbed: testbeds.component_name(component), why }));
    };
    for b in 0..testbeds.builds.len() {
        let of = |row: &[Option<Outcome>]| row[testbeds.of_build(b)].iter().flatten().next().cloned();
        let built: Vec<Option<Outcome>> = table.iter().map(|row| of(row)).collect();
        let fails = |o: &Option<Outcome>| matches!(o, Some(Outcome::BuildFailure(_) | Outcome::BuildTimeout));
        if let Some(Some(first)) = built.first()
            && built.iter().all(fails)
        {
            find(Component::Build(b), format!("it fails every program: {first}"));
            table.iter_mut().for_each(|row| row[testbeds.of_build(b)].fill(None));
        }
    }
    for r in 0..testbeds.runs.len() {
        let outcomes = || table.iter().flat_map(|row| row.iter().enumerate());
        let is_here = |number: usize| testbeds.id(number).run == r;
        let here = outcomes().filter(|(t, _)| is_here(*t)).filter_map(|(_, o)| o.as_ref());
        let here: Vec<&Outcome> = here.filter(|o| !o.kind().is_build()).collect();
        let elsewhere = outcomes().any(|(t, o)| !is_here(t) && *o == Some(Outcome::Pass));
        if here.len() >= ALWAYS && elsewhere && !here.contains(&&Outcome::Pass) {
            find(Component::Run(r), format!("every program fails on it: {}", here[0]));
            for row in table.iter_mut() {
                row.iter_mut().enumerate().filter(|(t, _)| is_here(*t)).for_each(|(_, o)| *o = None);
            }
        }
    }
    found
}
