//! What features cost: CPU time for a program, by what the compiler is asked for.

use crate::programs::cpu;
use crate::programs::features::of_elf;
use crate::programs::features::scope;
use crate::programs::testbed::Build;
use crate::programs::testbed::ask::{Asks, Passes, ask};
use crate::programs::testbed::compiler::Limits;
use rvv_ir::Program;
use rvvgen::{Plan, Selection, generate};
use std::fmt::Write;

/// What is measured, in order: a name, and what is asked for; the first is what a campaign does anyway.
const STEPS: [(&str, Asks); 4] = [
    ("a build", Asks { records: false, passes: Passes::No }),
    ("with records, counters, messages", Asks { records: true, passes: Passes::No }),
    ("with some passes", Asks { records: false, passes: Passes::Some }),
    ("with all passes", Asks { records: false, passes: Passes::All }),
];

/// Programs of a translation unit, as in a campaign.
const UNIT: usize = 64;

/// Of some programs, those that are built, in as few units as that takes: one that a compiler does not know
/// takes all of a unit with it.
fn built<'p>(build: &Build, unit: &[&'p Program], limits: &Limits) -> Vec<Vec<&'p Program>> {
    if ask(build, unit, STEPS[0].1, limits).is_ok() {
        return vec![unit.to_vec()];
    }
    let alone: Vec<&Program> = match unit {
        [_] => return Vec::new(),
        _ => unit.iter().copied().filter(|p| ask(build, &[p], STEPS[0].1, limits).is_ok()).collect(),
    };
    if alone.len() < unit.len() {
        return if alone.is_empty() { Vec::new() } else { built(build, &alone, limits) };
    }
    let (left, right) = unit.split_at(unit.len() / 2);
    [built(build, left, limits), built(build, right, limits)].concat()
}

/// Measures on generated programs, in translation units as campaigns have them: a table in Markdown.
///
/// # Errors
/// When a compiler builds none of the programs, or CPU time cannot be read.
pub fn measure(
    builds: &[Build],
    count: u32,
    limits: &Limits,
    note: &mut dyn FnMut(String),
) -> Result<String, String> {
    // What a compiler says may take several times as long as the build.
    let limits = &Limits { time: limits.time * 5, ..*limits };
    let plan = Plan::new(1, &Selection::default(), rvvgen::Sizes::OPERATIONS, 128);
    let settings = rvvgen::Settings::default();
    let programs: Result<Vec<Program>, String> = (0..u64::from(count.max(1)))
        .map(|k| generate(&plan, k, &settings).map(|g| g.program).map_err(|e| e.to_string()))
        .collect();
    let programs = programs?;
    let mut table = String::from("| build |");
    STEPS.iter().for_each(|(name, _)| write!(table, " {name} |").unwrap_or_default());
    table += " seen in the code |\n| --- |";
    table += &" ---: |".repeat(STEPS.len() + 1);
    table.push('\n');
    for build in builds {
        note(format!("measuring {}", build.name()));
        let all: Vec<&Program> = programs.iter().collect();
        let units = all.chunks(UNIT).flat_map(|unit| built(build, unit, limits)).collect::<Vec<_>>();
        let good: usize = units.iter().map(Vec::len).sum();
        if good == 0 {
            return Err(format!("{} builds none of {count} programs", build.name()));
        }
        let each = |seconds: f64| 1000.0 * seconds / good as f64;
        let mut times = Vec::new();
        let mut elfs = Vec::new();
        for (n, (_, asks)) in STEPS.into_iter().enumerate() {
            let before = cpu::seconds()?;
            for unit in &units {
                let answers = ask(build, unit, asks, limits).map_err(|e| format!("{}: {e}", build.name()))?;
                if n == 0 {
                    elfs.push((unit, answers.elf));
                }
            }
            times.push(each(cpu::seconds()? - before));
        }
        // Too fast to be measured once, with a clock of hundredths of a second.
        let before = cpu::seconds()?;
        for _ in 0..10 {
            elfs.iter().for_each(|(unit, elf)| drop(of_elf(elf, unit, scope(build))));
        }
        let seen = each(cpu::seconds()? - before) / 10.0;
        let _ = write!(table, "| {} |", build.name());
        for (n, time) in times.iter().enumerate() {
            let more =
                if n == 0 { String::new() } else { format!(" (× {:.2})", time / times[0].max(0.001)) };
            let _ = write!(table, " {time:.1} ms{more} |");
        }
        let _ = writeln!(table, " {seen:.2} ms |");
    }
    Ok(table)
}
