//! Runs every intrinsic on the emulator, in programs that would show it if it did something else.

use crate::coverage;
use crate::options::CoverageOptions;
use crate::progress::Progress;
use rvv_cli::out;
use rvv_intrinsics::{Sem, all};
use rvv_ir::{Expected, Program, Stmt, Var, VlChoice, elf};
use rvv_oracle::{Options, evaluate_inverted};
use rvvgen::{Category, Choice, Coverage, Generated, Plan, Settings, exists_at, generate};
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// The VLENs of most, and of those cryptographic intrinsics whose element groups need longer registers.
const VLENS: [[u32; 4]; 2] = [[128, 256, 512, 1024], [512, 1024, 2048, 4096]];
const AGNOSTIC: [Agnostic; 2] = [Agnostic::Undisturbed, Agnostic::Ones];
/// Programs of one file.
const BATCH: u64 = 16;
/// Tries after which an intrinsic that has not shown its result is given up.
const ROUNDS: u64 = 40;

/// What has been found out.
#[derive(Default)]
struct Found {
    shown: Vec<Choice>,
    wrong: Vec<String>,
    programs: u64,
    runs: u64,
}

/// Runs, counts, reports. False if an intrinsic is missing or a run was wrong.
pub fn run(options: &CoverageOptions) -> Result<bool, String> {
    // Names differ in no machine code: an intrinsic counts for all its names.
    let mut selection = options.style.selection();
    let plain = |c: &Category| matches!(c, Category::Explicit | Category::ExplicitPolicy);
    if !selection.categories.iter().any(plain) {
        return Err("machine code does not differ by spelling: --executed counts --category explicit and \
                    explicit-policy, for all names of an intrinsic"
            .to_string());
    }
    selection.categories.retain(plain);
    let mut shown = Coverage::new(&selection);
    let total = shown.count().total;
    if total == 0 {
        return Err("no intrinsic is selected; try another --intrinsics, --extension or --ratio".to_string());
    }
    let mut found = Found::default();
    for vlens in VLENS {
        let mut settings = options.style.settings(vlens.to_vec(), VlChoice::Max)?;
        // Operands may come from anything.
        settings.selection = rvvgen::Selection { except: selection.except.clone(), ..Default::default() };
        for round in 0..ROUNDS {
            let missing = shown.missing().filter(|c| exists_at(c.intrinsic, vlens[0]));
            let seed = options.style.seed.wrapping_add(round << 32);
            let plan = Plan::of(seed, missing, options.style.ops);
            if plan.is_empty() {
                break;
            }
            found.shown.clear();
            run_round(&plan, &settings, &mut found, shown.count().covered as u64, total as u64);
            shown.add(&found.shown);
        }
    }
    Ok(report(options, &shown, &mut found))
}

fn report(options: &CoverageOptions, shown: &Coverage, found: &mut Found) -> bool {
    let count = shown.count();
    let missing: Vec<Choice> = shown.missing().collect();
    let good = missing.is_empty() && found.wrong.is_empty();
    let Found { programs, runs, .. } = *found;
    if options.json {
        let head = format!("\"programs\":{programs},\"runs\":{runs},\"wrong\":{}", found.wrong.len());
        out!("{}", coverage::json(shown, &head));
        return good;
    }
    // Every other intrinsic is in two lists.
    let names = |c: &Choice| 1 + usize::from(c.intrinsic.overloaded.is_some());
    let everything: usize = all().iter().map(|i| 1 + usize::from(i.overloaded.is_some())).sum();
    let prototypes = if count.total == all().len() {
        let left: usize = missing.iter().map(names).sum();
        format!(" ({} of {everything} prototypes by them)", everything - left)
    } else {
        String::new()
    };
    let mut text = format!(
        "{} of {} intrinsics: {:.2} %{prototypes}\n\
         {programs} programs, {runs} runs on rvvsim at 4 VLENs under 2 agnostic policies, {} wrong\n",
        count.covered,
        count.total,
        count.percent(),
        found.wrong.len()
    );
    text += &coverage::tables(shown);
    found.wrong.sort();
    for line in found.wrong.iter().take(20) {
        text += &format!("wrong: {line}\n");
    }
    for choice in missing.iter().take(20) {
        text += &format!("missing: {}\n", choice.intrinsic.name);
    }
    out!("{text}");
    good
}

/// One round of a plan, on all cores. What is found does not depend on their number.
fn run_round(plan: &Plan, settings: &Settings, found: &mut Found, before: u64, total: u64) {
    let next = AtomicU64::new(0);
    let shared = Mutex::new((found, Progress::new("intrinsics shown", total)));
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    if first >= plan.round() as u64 {
                        return;
                    }
                    let last = (first + BATCH).min(plan.round() as u64);
                    let this = run_batch(plan, settings, first, last);
                    let mut shared = shared.lock().unwrap_or_else(|e| e.into_inner());
                    let (found, progress) = &mut *shared;
                    found.shown.extend(this.shown);
                    found.wrong.extend(this.wrong);
                    found.programs += this.programs;
                    found.runs += this.runs;
                    progress.show(before + found.shown.len() as u64);
                }
            });
        }
    });
}

fn run_batch(plan: &Plan, settings: &Settings, first: u64, last: u64) -> Found {
    let mut found = Found::default();
    let mut programs = Vec::new();
    for k in first..last {
        match generate(plan, k, settings) {
            Ok(generated) => programs.push((k, generated)),
            Err(e) => found.wrong.push(e.to_string()),
        }
    }
    found.programs = programs.len() as u64;
    let mut good = vec![true; programs.len()];
    let files: Vec<&Program> = programs.iter().map(|(_, g)| &g.program).collect();
    let image = elf::lower(&files)
        .map_err(|e| e.to_string())
        .and_then(|elf| Image::parse(elf).map_err(|e| e.to_string()));
    match image {
        Err(e) => {
            found.wrong.push(format!("programs {first} to {last}: {e}"));
            return found;
        }
        Ok(image) => {
            for (at, &vlen) in settings.vlens.iter().enumerate() {
                for agnostic in AGNOSTIC {
                    let (ending, printed) = execute(&image, vlen, agnostic);
                    found.runs += programs.len() as u64;
                    let mut rest = &printed[..];
                    for (n, (k, g)) in programs.iter().enumerate() {
                        let expected = &g.expected[at];
                        let (these, after) = rest.split_at(expected.len().min(rest.len()));
                        rest = after;
                        if let Some(mismatch) = expected.judge(&g.program, these) {
                            good[n] = false;
                            let buffer = &g.program.buffers[mismatch.buffer].name;
                            found.wrong.push(format!(
                                "seed {} program {k}, VLEN {vlen}, {agnostic:?}: {buffer}[{}], {ending}",
                                plan.seed(),
                                mismatch.element
                            ));
                        }
                    }
                }
            }
        }
    }
    for ((k, generated), _) in programs.iter().zip(good).filter(|(_, good)| *good) {
        let asked = plan.program(*k).unwrap_or_default();
        let asked: Vec<Choice> = asked.into_iter().flat_map(|region| region.choices).collect();
        found.shown.extend(asked.into_iter().filter(|choice| shows(generated, choice)));
    }
    found
}

/// Runs a file: how it ended, and what it printed.
pub fn execute(image: &Image, vlen: u32, agnostic: Agnostic) -> (String, Vec<u8>) {
    let config = Config {
        vlen,
        tail: agnostic,
        mask: agnostic,
        mem: 1 << 32,
        max_insns: Some(1 << 32),
        ..Config::default()
    };
    let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
    match Machine::user(config, image, options) {
        Err(e) => (e.to_string(), Vec::new()),
        Ok(mut machine) => {
            let ending = match machine.run(None) {
                Outcome::Exited(code) => format!("exit status {code}"),
                other => format!("{other:?}"),
            };
            (ending, machine.stdout().to_vec())
        }
    }
}

/// Whether the program would print something else, at each VLEN, if this intrinsic wrote something else.
fn shows(generated: &Generated, choice: &Choice) -> bool {
    let program = &generated.program;
    let calls = program.calls();
    let mut these = (0..calls.len()).filter(|&i| calls[i].intrinsic.id == choice.intrinsic.id);
    if choice.intrinsic.sem == Sem::Undefined {
        // It writes nothing that is defined: what can be seen is that a program with it is right.
        return these.any(|i| calls[i].dst.is_some_and(|dst| is_read(program, dst)));
    }
    these.any(|call| {
        generated.expected.iter().all(|expected| {
            evaluate_inverted(program, &Options::new(expected.vlen), call)
                .is_ok_and(|other| differs(expected, &other))
        })
    })
}

/// Whether a bit that is defined in both differs.
fn differs(one: &Expected, other: &Expected) -> bool {
    one.outputs.iter().zip(&other.outputs).any(|(a, b)| {
        let bytes = a.bytes.iter().zip(&b.bytes).zip(a.defined.iter().zip(&b.defined));
        bytes.into_iter().any(|((x, y), (p, q))| (x ^ y) & p & q != 0)
    })
}

/// Whether main reads a variable.
fn is_read(program: &Program, var: Var) -> bool {
    let reads = |s: &Stmt| s.effects(program).reads.contains(&var);
    program.main.body.iter().any(reads)
}
