//! The guilty pass: which optimisation must run for the fault to show.

use super::target::{Target, outcomes};
use crate::programs::judge::case::Case;
use crate::programs::judge::outcome::Outcome;
use crate::programs::testbed::Build;
use crate::programs::testbed::compiler::Family;
use rvv_ir::Program;
use rvv_ir::c::{COptions, emit};
use rvv_tools::run_keeping;
use std::process::Command;
use std::time::{Duration, Instant};

/// What was found out about the pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Guilty {
    /// clang: the number and name of the first pass that must run, as `-opt-bisect-limit` counts them.
    Pass(u32, String),
    /// gcc: switching these off hides the fault.
    Flags(Vec<String>),
    /// gcc: the debug counter whose `n`th use brings the fault.
    Counter(String, u64),
    /// The fault shows with all of them off: the front end, expansion or the assembler.
    Always,
}

impl std::fmt::Display for Guilty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Guilty::Pass(n, name) => {
                write!(f, "pass {n}, {name} (the first that must run; -mllvm -opt-bisect-limit={n})")
            }
            Guilty::Flags(flags) => write!(f, "it is gone with {}", flags.join(" ")),
            Guilty::Counter(name, n) => {
                write!(f, "use {n} of the counter {name} brings it (-fdbg-cnt={name}:{n})")
            }
            Guilty::Always => f.write_str("it shows with every optional pass off"),
        }
    }
}

/// Finds the guilty pass, if the compiler can be asked and there is time.
pub fn guilty(target: &Target, program: &Program, time: Duration) -> Option<Guilty> {
    let end = Instant::now() + time;
    let end = target.limits.until.map_or(end, |until| until.min(end));
    match target.build.compiler.family {
        Family::Clang | Family::Zig => clang(target, program, end),
        Family::Gcc => gcc(target, program, end),
        Family::Custom | Family::Direct => None,
    }
}

/// Whether the fault shows with more flags.
fn shows(target: &Target, program: &Program, more: &[String]) -> bool {
    outcome(target, program, more).is_some_and(|o| target.is_it(&o))
}

/// Whether all is well with more flags: that the fault does not show is not enough, since the flags may be
/// wrong.
fn gone(target: &Target, program: &Program, more: &[String]) -> bool {
    outcome(target, program, more) == Some(Outcome::Pass)
}

fn outcome(target: &Target, program: &Program, more: &[String]) -> Option<Outcome> {
    let mut flags = target.build.flags.clone();
    flags.extend_from_slice(more);
    let build = Build::new(&target.build.compiler, &flags);
    let place = (target.run.setup.vlen, target.run.setup.vl);
    let case = Case::new(0, program.clone(), &[place]).ok()?;
    outcomes(&build, &target.run, &[case], &target.limits).pop().flatten()
}

fn clang(target: &Target, program: &Program, end: Instant) -> Option<Guilty> {
    let limit = |n: u32| vec!["-mllvm".to_string(), format!("-opt-bisect-limit={n}")];
    let names = |n: u32| {
        let compiler = &target.build.compiler;
        let mut flags = compiler.flags_for(&[program], &target.build.flags);
        flags.extend(limit(n));
        let text = emit(&[program], &COptions { language: target.build.language(), ..COptions::default() });
        compiler.build_saying(&text, &compiler.march(&[program]), &flags, &target.limits).1
    };
    let all = names(u32::MAX >> 1);
    // `BISECT: running pass (17) SROAPass on p_program`
    let pass = |line: &str| -> Option<(u32, String)> {
        let rest = line.split_once("BISECT: running pass (")?.1;
        let (n, name) = rest.split_once(") ")?;
        Some((n.parse().ok()?, name.trim().to_string()))
    };
    let last = all.lines().filter_map(pass).map(|(n, _)| n).max()?;
    if shows(target, program, &limit(0)) {
        return Some(Guilty::Always);
    }
    if !shows(target, program, &limit(last)) {
        return None;
    }
    let (mut good, mut bad) = (0, last);
    while bad - good > 1 {
        if Instant::now() > end {
            return None;
        }
        let middle = good + (bad - good) / 2;
        if shows(target, program, &limit(middle)) { bad = middle } else { good = middle }
    }
    let name = names(bad).lines().filter_map(pass).find(|(n, _)| *n == bad).map(|(_, name)| name);
    Some(Guilty::Pass(bad, name.unwrap_or_else(|| "without a name".to_string())))
}

fn gcc(target: &Target, program: &Program, end: Instant) -> Option<Guilty> {
    let enabled = optimisations(target)?;
    let opposite = |flag: &String| match flag.strip_prefix("-fno-") {
        Some(name) => format!("-f{name}"),
        None => flag.replacen("-f", "-fno-", 1),
    };
    let off = |flags: &[String]| flags.iter().map(opposite).collect::<Vec<_>>();
    if !enabled.is_empty() && gone(target, program, &off(&enabled)) {
        // As few as possible that must be off: halves are put back as long as the fault stays away.
        let mut needed = enabled;
        let mut size = needed.len().div_ceil(2);
        loop {
            let mut at = 0;
            while at < needed.len() {
                if Instant::now() > end {
                    return Some(Guilty::Flags(off(&needed)));
                }
                let mut fewer = needed.clone();
                fewer.drain(at..fewer.len().min(at + size));
                if gone(target, program, &off(&fewer)) { needed = fewer } else { at += size }
            }
            if size == 1 {
                return Some(Guilty::Flags(off(&needed)));
            }
            size = size.div_ceil(2);
        }
    }
    // Without optimisation the counters have nothing to count.
    let counters = if target.build.flags.iter().any(|f| f == "-O0") { Vec::new() } else { counters(target)? };
    for counter in counters {
        if Instant::now() > end {
            return None;
        }
        let at_most = |n: u64| vec![format!("-fdbg-cnt={counter}:{n}")];
        if !gone(target, program, &at_most(0)) {
            continue;
        }
        let (mut good, mut bad) = (0u64, 1u64 << 16);
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if shows(target, program, &at_most(middle)) { bad = middle } else { good = middle }
        }
        return Some(Guilty::Counter(counter, bad));
    }
    if Instant::now() > end {
        return None;
    }
    Some(Guilty::Always)
}

/// What `-Q --help=optimizers` says is on at this level.
fn optimisations(target: &Target) -> Option<Vec<String>> {
    let mut command = Command::new(target.build.compiler.command.first()?);
    command.args(target.build.flags.iter().filter(|f| f.starts_with("-O"))).args(["-Q", "--help=optimizers"]);
    let run = run_keeping(&mut command, Duration::from_secs(20), 1 << 20).ok()?;
    let text = String::from_utf8_lossy(&run.stdout).into_owned();
    let on = |line: &str| {
        let (flag, state) = line.trim().split_once(char::is_whitespace)?;
        (flag.starts_with("-f") && state.trim() == "[enabled]").then(|| flag.to_string())
    };
    Some(text.lines().filter_map(on).collect())
}

/// The debug counters of this gcc.
fn counters(target: &Target) -> Option<Vec<String>> {
    let mut command = Command::new(target.build.compiler.command.first()?);
    command.args(["-fdbg-cnt-list", "-x", "c", "-c", "/dev/null", "-o", "/dev/null"]);
    let run = run_keeping(&mut command, Duration::from_secs(20), 1 << 20).ok()?;
    let text = String::from_utf8_lossy(&run.stderr).into_owned() + &String::from_utf8_lossy(&run.stdout);
    let name = |line: &str| {
        let word = line.split_whitespace().next()?;
        let is_name = word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_');
        (is_name && line.contains("unset")).then(|| word.to_string())
    };
    Some(text.lines().filter_map(name).collect())
}
