//! What a compiler makes of plain C: how many loops it vectorises, how many groups, and how many kinds of
//! optimisations it reports, by policy.

mod records;

use crate::options::VectorisedOptions;
use crate::progress::Progress;
use records::{Said, clang_kinds, clang_records, gcc_records, gcc_statistics};
use rvv_cli::{figures, out};
use rvv_ir::c::{COptions, FREESTANDING, HOSTED, emit, march};
use rvv_ir::{Program, Stmt};
use rvvgen::{Plan, Selection, Settings, Weights, generate};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

/// The policy that the others are compared with.
const UNGUIDED: &str = "unguided";
/// Programs of intrinsics, whose kinds of records are compared.
const INTRINSICS: &str = "default";
/// Programs of one translation unit.
const UNIT: usize = 40;

/// What a compiler reported for the programs of one policy and seed.
#[derive(Clone, Debug, Default)]
struct Sample {
    /// Loops without a loop inside, as they are written.
    innermost: usize,
    programs: usize,
    /// Programs in which a group of statements was vectorised.
    with_groups: usize,
    /// Assignments and calls.
    work: usize,
    /// Of the compiler, in CPU-seconds.
    time: f64,
    /// By kind of optimisation in the functions of plain C: how often.
    records: BTreeMap<String, u64>,
    /// Kinds of all records in all functions: what was done, what was missed, what was found out.
    kinds: BTreeSet<String>,
}

impl Sample {
    fn count(&self, kind: &str) -> u64 {
        self.records.get(kind).copied().unwrap_or(0)
    }
}

/// Kinds of records that mean a vectorised loop, and a vectorised group.
struct Kinds {
    is_gcc: bool,
}

impl Kinds {
    fn loops(&self) -> &'static str {
        if self.is_gcc { "loop vectorized" } else { "loop-vectorize/Vectorized" }
    }

    fn is_group(&self, kind: &str) -> bool {
        if self.is_gcc { kind == "basic block part vectorized" } else { kind.starts_with("slp-vectorizer/") }
    }
}

/// Counts and prints.
///
/// # Errors
/// A sentence on what the compiler said.
pub fn run(options: &VectorisedOptions) -> Result<(), String> {
    let VectorisedOptions { compiler, policy, seed, seeds, assignments, markdown } = options;
    let (seed, seeds) = (*seed, *seeds);
    let version = Command::new(compiler).arg("--version").output();
    let version = version.map_err(|e| format!("cannot run {compiler}: {e}"))?;
    let is_gcc = !String::from_utf8_lossy(&version.stdout).contains("clang");
    let kinds = Kinds { is_gcc };
    let mut wanted: Vec<String> = policy.clone();
    if wanted.is_empty() {
        wanted.push("loops".to_string());
    }
    wanted.retain(|p| p != UNGUIDED && p != INTRINSICS);
    wanted.push(INTRINSICS.to_string());
    wanted.push(UNGUIDED.to_string());
    let mut progress = Progress::new("samples", wanted.len() as u64 * seeds);
    let mut all: Vec<(String, Vec<Sample>)> = Vec::new();
    for policy in &wanted {
        let mut samples = Vec::new();
        for s in seed..seed + seeds {
            samples.push(sample(compiler, is_gcc, policy, s, *assignments)?);
            progress.show((all.len() as u64) * seeds + samples.len() as u64);
        }
        all.push((policy.clone(), samples));
    }
    drop(progress);
    let text = table(&all, &kinds);
    if let Some(document) = markdown {
        let name = format!("vectorised by {}", if is_gcc { "gcc" } else { "clang" });
        figures::update(document, &name, "rvvgen", &text).map_err(|e| e.to_string())?;
    }
    out!("{text}");
    Ok(())
}

/// Programs of a policy, as many as have so many assignments: as much C of each policy.
fn sample(
    compiler: &str,
    is_gcc: bool,
    policy: &str,
    seed: u64,
    assignments: usize,
) -> Result<Sample, String> {
    let weights = Weights::policy(policy).ok_or_else(|| format!("there is no policy `{policy}`"))?;
    let settings = Settings { weights, vlens: vec![128], ..Settings::default() };
    let plan = Plan::new(seed, &Selection::default(), 10, 128);
    let mut found = Sample::default();
    let mut k = 0;
    while found.work < assignments {
        let mut programs: Vec<Program> = Vec::new();
        let mut work = found.work;
        while programs.len() < UNIT && work < assignments {
            let program = generate(&plan, k, &settings).map_err(|e| e.to_string())?.program;
            // A program without any would never end this.
            work += program.work().max(1);
            k += 1;
            programs.push(program);
        }
        found.programs += programs.len();
        found.innermost += programs.iter().map(innermost).sum::<usize>();
        found.work = work;
        let list: Vec<&Program> = programs.iter().collect();
        let folder = std::env::temp_dir().join(format!("rvvgen-stats-{}", std::process::id()));
        std::fs::create_dir_all(&folder).map_err(|e| e.to_string())?;
        let before = children_time();
        let records = compile(compiler, is_gcc, &list, &folder).or_else(|why| {
            // Compilers crash on some programs of intrinsics (bugs/): one by one, the others are counted.
            let mut all = (Vec::new(), BTreeSet::new());
            let mut built = 0;
            for (n, program) in list.iter().enumerate() {
                let Ok((records, kinds)) = compile(compiler, is_gcc, &[program], &folder) else { continue };
                built += 1;
                all.0.extend(records.into_iter().map(|(_, kind, times)| (n, kind, times)));
                all.1.extend(kinds);
            }
            if built * 2 < list.len() { Err(why) } else { Ok(all) }
        });
        found.time += children_time() - before;
        let _ = std::fs::remove_dir_all(&folder);
        let (records, all) = records?;
        found.kinds.extend(all);
        let mut groups = vec![false; programs.len()];
        let kinds = Kinds { is_gcc };
        for (program, kind, times) in records {
            if kinds.is_group(&kind)
                && let Some(has) = groups.get_mut(program)
            {
                *has = true;
            }
            *found.records.entry(kind).or_default() += times;
        }
        found.with_groups += groups.iter().filter(|g| **g).count();
    }
    Ok(found)
}

fn innermost(program: &Program) -> usize {
    fn has_loop(body: &[Stmt]) -> bool {
        body.iter().any(|s| matches!(s, Stmt::Loop(_)) || s.blocks().into_iter().any(has_loop))
    }
    fn within(body: &[Stmt]) -> usize {
        let own = |s: &Stmt| usize::from(matches!(s, Stmt::Loop(of) if !has_loop(&of.body)));
        body.iter().map(|s| own(s) + s.blocks().into_iter().map(within).sum::<usize>()).sum()
    }
    program.functions.iter().chain([&program.main]).map(|f| within(&f.body)).sum()
}

/// CPU time of the processes that were run and waited for, in seconds.
fn children_time() -> f64 {
    // Fields 16 and 17 of proc_pid_stat(5), after the name in parentheses, in hundredths of a second.
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(13).take(2).filter_map(|n| n.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// Compiles a unit at -O3.
fn compile(compiler: &str, is_gcc: bool, programs: &[&Program], folder: &Path) -> Result<Said, String> {
    let text = emit(programs, &COptions::default());
    let (source, object) = (folder.join("p.c"), folder.join("p.o"));
    std::fs::write(&source, &text).map_err(|e| e.to_string())?;
    let mut command = Command::new(compiler);
    if !is_gcc {
        command.arg("--target=riscv64-linux-gnu");
        command.arg("-fsave-optimization-record");
        command.arg(format!("-foptimization-record-file={}", folder.join("p.yaml").display()));
    } else {
        command.args(["-fopt-info-optimized", "-fno-pie"]);
        command.arg(format!("-fdump-statistics={}", folder.join("p.statistics").display()));
    }
    command.arg(format!("-march={}", march(programs)));
    command.args(["-mabi=lp64d", "-O3", "-ffp-contract=off", "-w", "-c"]);
    let environment = if programs.iter().all(|p| p.is_plain()) { HOSTED } else { FREESTANDING };
    command.args(environment.iter().filter(|f| f.starts_with("-f")));
    let output = command.arg("-o").args([&object, &source]).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{compiler}: {}", said.lines().take(3).collect::<Vec<_>>().join("; ")));
    }
    if is_gcc {
        let mut found = gcc_records(&String::from_utf8_lossy(&output.stderr), &text);
        let mut kinds: BTreeSet<String> = found.iter().map(|(_, kind, _)| kind.clone()).collect();
        let counted = std::fs::read_to_string(folder.join("p.statistics")).map_err(|e| e.to_string())?;
        let (counters, all) = gcc_statistics(&counted);
        found.extend(counters);
        kinds.extend(all);
        Ok((found, kinds))
    } else {
        let records = std::fs::read_to_string(folder.join("p.yaml")).map_err(|e| e.to_string())?;
        Ok((clang_records(&records), clang_kinds(&records)))
    }
}

fn median(mut of: Vec<f64>) -> f64 {
    of.sort_by(f64::total_cmp);
    match of.len() {
        0 => 0.0,
        n if n % 2 == 1 => of[n / 2],
        n => (of[n / 2 - 1] + of[n / 2]) / 2.0,
    }
}

/// The chance that a U as extreme as this comes about if both samples are of one distribution (Mann and
/// Whitney, two-sided, exact: all ways to choose are counted).
fn significance(a: &[f64], b: &[f64]) -> f64 {
    let larger = |x: f64, y: f64| {
        if x > y {
            1.0
        } else if x == y {
            0.5
        } else {
            0.0
        }
    };
    let u =
        |a: &[f64], b: &[f64]| -> f64 { a.iter().flat_map(|x| b.iter().map(move |y| larger(*x, *y))).sum() };
    let middle = (a.len() * b.len()) as f64 / 2.0;
    let seen = (u(a, b) - middle).abs();
    let all: Vec<f64> = a.iter().chain(b).copied().collect();
    let (mut extreme, mut total) = (0u64, 0u64);
    for chosen in 0u32..1 << all.len().min(20) {
        if chosen.count_ones() as usize != a.len() {
            continue;
        }
        let pick = |wanted: bool| -> Vec<f64> {
            let is = |i: &usize| (chosen >> i & 1 == 1) == wanted;
            (0..all.len()).filter(is).map(|i| all[i]).collect()
        };
        total += 1;
        extreme += u64::from((u(&pick(true), &pick(false)) - middle).abs() >= seen - 1e-9);
    }
    extreme as f64 / total.max(1) as f64
}

fn table(all: &[(String, Vec<Sample>)], kinds: &Kinds) -> String {
    let mut text = String::from(
        "| policy | programs | assignments | innermost loops | vectorised | programs with vectorised groups | kinds of \
         records | of these, `default` has not |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    let per_cent = |n: usize, of: usize| {
        if of == 0 { "–".to_string() } else { format!("{:.0} %", 100.0 * n as f64 / of as f64) }
    };
    let of_kinds = |samples: &[Sample]| -> BTreeSet<String> {
        samples.iter().flat_map(|s| s.kinds.iter().cloned()).collect()
    };
    let intrinsics = all.iter().find(|(p, _)| p == INTRINSICS).map(|(_, s)| of_kinds(s)).unwrap_or_default();
    for (policy, samples) in all {
        let loops = samples.iter().map(|s| s.count(kinds.loops()) as usize).sum::<usize>();
        let innermost = samples.iter().map(|s| s.innermost).sum::<usize>();
        let groups = samples.iter().map(|s| s.with_groups).sum::<usize>();
        let programs = samples.iter().map(|s| s.programs).sum::<usize>();
        let work = samples.iter().map(|s| s.work).sum::<usize>();
        let seen = of_kinds(samples);
        text += &format!(
            "| {policy} | {programs} | {work} | {innermost} | {} | {} | {} | {} |\n",
            per_cent(loops, innermost),
            per_cent(groups, programs),
            seen.len(),
            seen.difference(&intrinsics).count()
        );
    }
    let Some((_, base)) = all.last() else { return text };
    for (policy, samples) in all.iter().filter(|(p, _)| p != UNGUIDED && p != INTRINSICS) {
        text += &comparison(policy, samples, base);
    }
    text
}

/// Whether a record is about loops or vectors.
fn is_of_loops(kind: &str) -> bool {
    ["loop", "licm", "slp", "basic block part", "distribute", "unroll"].iter().any(|p| kind.contains(p))
}

fn geometric_mean(of: &[f64]) -> f64 {
    (of.iter().map(|x| x.ln()).sum::<f64>() / of.len().max(1) as f64).exp()
}

/// How often each optimisation is made, compared with no policy: in as much C, and in the same time.
fn comparison(policy: &str, samples: &[Sample], base: &[Sample]) -> String {
    let mut names: Vec<&String> = samples.iter().chain(base).flat_map(|s| s.records.keys()).collect();
    names.sort_unstable();
    names.dedup();
    let mut text = format!(
        "\n| record, per 1000 assignments | {policy} | {UNGUIDED} | ratio | in the same time | p |\n\
         | --- | ---: | ---: | ---: | ---: | ---: |\n"
    );
    // Assignments compiled in a second.
    let speed = |of: &[Sample]| median(of.iter().map(|s| s.work as f64 / s.time.max(1e-3)).collect());
    let faster = speed(samples) / speed(base).max(1e-3);
    let (mut all, mut of_loops) = (Vec::new(), Vec::new());
    for name in names {
        let rate = |s: &Sample| 1000.0 * s.count(name) as f64 / s.work.max(1) as f64;
        // What never happened counts as half a time.
        let least = |of: &[Sample]| 500.0 / median(of.iter().map(|s| s.work as f64).collect()).max(1.0);
        let rates = |of: &[Sample]| of.iter().map(rate).collect::<Vec<f64>>();
        let (a, b) = (rates(samples), rates(base));
        let (x, y) = (median(a.clone()), median(b.clone()));
        let p = significance(&a, &b);
        if x == y {
            continue;
        }
        let ratio = x.max(least(samples)) / y.max(least(base));
        all.push(ratio);
        if is_of_loops(name) {
            of_loops.push(ratio);
        }
        text += &format!("| {name} | {x:.1} | {y:.1} | {ratio:.1} | {:.1} | {p:.3} |\n", ratio * faster);
    }
    let (mean, loops) = (geometric_mean(&all), geometric_mean(&of_loops));
    text += &format!(
        "\n{} counters moved; the geometric mean of their ratios is {mean:.2}, in the same time {:.2}. Of the {} \
         that are about loops and groups it is {loops:.2}, in the same time {:.2}.\n",
        all.len(),
        mean * faster,
        of_loops.len(),
        loops * faster
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_apart_are_significant_and_equal_ones_are_not() {
        let (a, b) = ([10.0, 11.0, 12.0, 13.0, 14.0], [1.0, 2.0, 3.0, 4.0, 5.0]);
        // 2 of the 252 ways to choose five of ten.
        assert!((significance(&a, &b) - 2.0 / 252.0).abs() < 1e-9);
        assert_eq!(significance(&a, &a), 1.0);
    }
}
