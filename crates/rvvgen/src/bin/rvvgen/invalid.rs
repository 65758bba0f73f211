//! Programs that must not compile, and what a compiler says of them.

use crate::options::InvalidOptions;
use crate::progress::Progress;
use rvv_cli::out;
use rvv_ir::VlChoice;
use rvv_tools::Ended;
use rvvgen::{Defect, Invalid, Plan, invalid};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// What a compiler made of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Accepted,
    /// With its first error.
    Refused(String),
    Crashed(String),
    TimedOut,
}

/// What happened to the programs with one defect.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    programs: u64,
    refused: u64,
    accepted: u64,
    failures: u64,
    /// The compiler does not compile the program without the defect, either.
    unjudged: u64,
}

/// Writes, and judges if a compiler is given. True if there is nothing to complain of.
pub fn run(options: &InvalidOptions) -> Result<bool, String> {
    let settings = options.style.settings(vec![128], VlChoice::Max)?;
    let plan = Plan::new(options.style.seed, &settings.selection, options.style.ops, 128);
    let scratch = std::env::temp_dir().join(format!("rvvgen-invalid-{}", std::process::id()));
    let mut rows: BTreeMap<Defect, Row> = BTreeMap::new();
    let mut found = String::new();
    let mut progress = Progress::new("programs", options.count);
    for k in 0..options.count {
        let one = invalid(&plan, k, &settings).map_err(|e| e.to_string())?;
        if let Some(dir) = &options.output {
            write(&dir.join(format!("{k:04}")), &one)?;
        }
        if let Some(compiler) = &options.compiler {
            write(&scratch, &one)?;
            let limit = Duration::from_secs(options.limit);
            let judged = judge(compiler, &scratch, &one, limit);
            let _ = std::fs::remove_dir_all(&scratch);
            let (answer, is_judged) = judged?;
            let row = rows.entry(one.defect).or_default();
            row.programs += 1;
            row.unjudged += u64::from(!is_judged);
            match &answer {
                Answer::Refused(_) => row.refused += u64::from(is_judged),
                Answer::Accepted => row.accepted += u64::from(is_judged),
                Answer::Crashed(_) | Answer::TimedOut => row.failures += 1,
            }
            match answer {
                Answer::Accepted if is_judged => found += &format!("{k}: accepted: {}\n", one.what),
                Answer::Crashed(said) => found += &format!("{k}: crash: {}: {said}\n", one.what),
                Answer::TimedOut => found += &format!("{k}: no end: {}\n", one.what),
                _ => {}
            }
        }
        progress.show(k + 1);
    }
    drop(progress);
    if options.compiler.is_some() {
        out!("{}{found}", table(&rows));
    }
    Ok(found.is_empty())
}

fn table(rows: &BTreeMap<Defect, Row>) -> String {
    let mut text = format!(
        "{:24} {:>8} {:>8} {:>8} {:>8} {:>9}\n",
        "defect", "programs", "refused", "accepted", "crashes", "unjudged"
    );
    for (defect, row) in rows {
        let Row { programs, refused, accepted, failures, unjudged } = row;
        let name = defect.name();
        text += &format!("{name:24} {programs:8} {refused:8} {accepted:8} {failures:8} {unjudged:9}\n");
    }
    text
}

fn write(dir: &Path, one: &Invalid) -> Result<(), String> {
    let file = |name: &str, contents: &str| {
        let path = dir.join(name);
        std::fs::write(&path, contents).map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    std::fs::create_dir_all(dir).map_err(|e| format!("cannot make {}: {e}", dir.display()))?;
    file("invalid.c", &one.text)?;
    file("valid.c", &one.valid)?;
    file(
        "defect.txt",
        &format!(
            "{}\n{}\n{}\ninvalid.c: -march={}\nvalid.c: -march={}\n",
            one.defect.name(),
            one.what,
            one.defect.rule(),
            one.march,
            one.valid_march
        ),
    )
}

/// The answer, and whether the program without the defect is accepted.
fn judge(compiler: &str, dir: &Path, one: &Invalid, limit: Duration) -> Result<(Answer, bool), String> {
    let answer = compile(compiler, dir, "invalid.c", &one.march, limit)?;
    let valid = compile(compiler, dir, "valid.c", &one.valid_march, limit)?;
    // Campaigns look after valid programs that crash a compiler.
    Ok((answer, valid == Answer::Accepted))
}

fn compile(compiler: &str, dir: &Path, name: &str, march: &str, limit: Duration) -> Result<Answer, String> {
    let mut command = Command::new(compiler);
    if rvv_tools::find::on_path(compiler).is_none() && !Path::new(compiler).exists() {
        return Err(format!("there is no compiler {compiler}"));
    }
    if compiler.rsplit('/').next().is_some_and(|n| n.contains("clang")) {
        command.args(["--target=riscv64-linux-gnu", "-menable-experimental-extensions"]);
        command.arg("-fno-crash-diagnostics");
    }
    command.args([&format!("-march={march}"), "-mabi=lp64d", "-O2", "-ffreestanding", "-w", "-c", "-o"]);
    command.args([dir.join("out.o"), dir.join(name)]);
    let run = rvv_tools::run_group(&mut command, limit, 1 << 20).map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&run.stderr);
    Ok(answer(&run.ended, &said))
}

fn answer(ended: &Ended, said: &str) -> Answer {
    let line = |what: &str| said.lines().find(|l| l.contains(what)).unwrap_or_default().trim().to_string();
    // gcc says so; clang's driver ends with the status of a signal after a dump of the stack.
    let crash = ["internal compiler error", "PLEASE submit a bug report", "fatal error: error in backend"]
        .into_iter()
        .find(|what| said.contains(what));
    match (ended, crash) {
        (_, Some(what)) => Answer::Crashed(line(what)),
        (Ended::TimedOut, _) => Answer::TimedOut,
        (Ended::Exited(0), _) => Answer::Accepted,
        (Ended::Exited(1), _) => Answer::Refused(line("error")),
        (ended, _) => Answer::Crashed(format!("{ended:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read() {
        assert_eq!(answer(&Ended::Exited(0), ""), Answer::Accepted);
        let refused = "p.c:1:1: note: x\np.c:2:3: error: too few arguments\n1 error generated.\n";
        assert_eq!(
            answer(&Ended::Exited(1), refused),
            Answer::Refused("p.c:2:3: error: too few arguments".to_string())
        );
        let ice = "during RTL pass: expand\np.c:3: internal compiler error: in expand_insn\n";
        assert!(matches!(answer(&Ended::Exited(1), ice), Answer::Crashed(_)));
        assert!(matches!(answer(&Ended::Killed(11), ""), Answer::Crashed(_)));
        assert_eq!(answer(&Ended::TimedOut, ""), Answer::TimedOut);
    }
}
