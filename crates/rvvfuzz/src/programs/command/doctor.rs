//! `rvvfuzz doctor`.

use super::testbed_args::TestbedArgs;
use super::{Done, exit};
use crate::programs::judge::probe::drop_failing_runs;
use crate::programs::settings::Settings;
use crate::programs::testbed::compiler::Family;
use crate::programs::testbed::file::EXAMPLE;
use clap::Args;
use rvv_cli::outln;
use std::process::ExitCode;

/// List the compilers and emulators found, and what would add more.
#[derive(Args, Debug)]
#[command(after_help = "It ends with 0, or with 2 if what was named is not there or fails a first program.")]
pub struct Command {
    #[command(flatten)]
    testbeds: TestbedArgs,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.look())
    }

    fn look(&self) -> Done {
        let mut notes = Vec::new();
        let mut settings = Settings { rotated: Vec::new(), ..Settings::default() };
        let named = self.testbeds.apply(&mut settings, &mut |note| notes.push(note))?;
        let mut testbeds = settings.testbeds()?;
        drop_failing_runs(&mut testbeds, &named, &settings.limits(), &mut |note| notes.push(note))?;
        outln!("Compilers");
        for c in &settings.compilers {
            let more = match (c.family.as_str(), &c.linker) {
                ("direct", _) => "built in, no compiler needed".to_string(),
                (_, Some(linker)) => format!("{}, linked by {linker}", c.command.join(" ")),
                _ => c.command.join(" "),
            };
            outln!("  {:<32} {:<10} {more}", c.name, c.version);
        }
        outln!("Emulators");
        for e in &settings.emulators {
            let more = if e.command.is_empty() { "built in".to_string() } else { e.command.join(" ") };
            outln!("  {:<32} {:<10} {more}", e.name, e.version);
        }
        outln!("Levels    {}", settings.levels.join(", "));
        outln!("Set-ups");
        for run in &testbeds.runs {
            outln!("  {}", run.name());
        }
        outln!(
            "That is {} builds on {} runs: {} testbeds.",
            testbeds.builds.len(),
            testbeds.runs.len(),
            testbeds.len()
        );
        if !notes.is_empty() {
            outln!("\nLeft out");
            notes.iter().for_each(|note| outln!("  {note}"));
        }
        outln!("\nWhat would add more");
        let has = |family: Family| testbeds.builds.iter().any(|b| b.compiler.family == family);
        let mut lacking = false;
        for (missing, hint) in [
            (
                !has(Family::Gcc),
                "gcc 14 or later for riscv64: `tools/toolchains gcc-16`, or your distribution's cross compiler",
            ),
            (
                !has(Family::Clang) && !has(Family::Zig),
                "clang 17 or later with lld: `tools/toolchains clang-22`; from PyPI `tools/toolchains zig-0.17`",
            ),
            (
                !settings.emulators.iter().any(|e| e.name == "qemu"),
                "QEMU's qemu-riscv64: `tools/toolchains qemu`",
            ),
            (
                rvv_tools::find::on_path("spike").is_none()
                    && settings.emulators.iter().all(|e| e.name != "spike"),
                "Spike with pk, a board by ssh, or any other command: describe it in testbeds.toml (--testbeds FILE)",
            ),
        ] {
            if missing {
                lacking = true;
                outln!("  {hint}");
            }
        }
        if !lacking {
            outln!(
                "  more versions of each compiler: the vote names the first bad one; `tools/toolchains` installs them"
            );
        }
        outln!("\nA testbeds.toml looks so:\n");
        EXAMPLE.lines().for_each(|line| outln!("  {line}"));
        Ok(true)
    }
}
