//! `rvvfuzz features`.

use super::replay::read;
use super::testbed_args::TestbedArgs;
use super::{Done, exit, write_file};
use crate::programs::features::{Features, Target, of_build};
use crate::programs::measure::features;
use crate::programs::settings::Settings;
use crate::programs::testbed::Build;
use crate::programs::testbed::ask::{Asks, Passes};
use crate::programs::testbed::compiler::Family;
use clap::{Args, ValueEnum};
use rvv_cli::{errln, figures, outln};
use rvv_ir::Program;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;

/// Show the features of programs: what compilers did to them, as a campaign with feedback sees it.
///
/// Some are said by the compiler: the records and passes of clang, the counters and messages of gcc. The
/// others are seen in the machine code, of any compiler: transitions of vtype, instructions in a row, spills,
/// control registers, addressing, loops. Names end with how often, in steps.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz features bug.ir --compilers clang-22 --levels -O2
  rvvfuzz features bug.ir --compilers clang-22 --levels -O2 --target 'vsetvli insertion'
  rvvfuzz features bug.ir --json -
  rvvfuzz features --measure 64 --compilers clang-22,riscv64-linux-gnu-gcc-16

It ends with 0, or with 2 if a file is no program, a compiler is not there, or no build of a program has features.")]
pub struct Command {
    /// Programs, as `rvvfuzz show --ir` writes them
    #[arg(required_unless_present = "measure")]
    files: Vec<PathBuf>,
    /// Passes of clang that are asked about: `no`; `some`, which are about vectors or move instructions; `all`
    #[arg(long, value_enum, default_value_t = PassesArg::Some)]
    passes: PassesArg,
    /// Say how near the programs come to this: words of a pass or of features, or a pattern with * and ?
    #[arg(long, value_name = "PATTERN")]
    target: Option<String>,
    /// Write them to this file as JSON; `-` for the standard output, instead of the list
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Measure instead what each kind of features costs, on so many generated programs
    #[arg(long, value_name = "PROGRAMS", conflicts_with_all = ["files", "target", "json"])]
    measure: Option<u32>,
    /// Put the table of --measure into this document, between its marks for `rvvfuzz features`
    #[arg(long, value_name = "FILE", requires = "measure")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    testbeds: TestbedArgs,
}

/// See [`Passes`].
#[derive(Clone, Copy, Debug, ValueEnum)]
enum PassesArg {
    No,
    Some,
    All,
}

/// What was found of a program with a build.
struct Found<'f> {
    file: String,
    build: &'f Build,
    features: Result<Features, String>,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.features())
    }

    fn features(&self) -> Done {
        let target = self.target.as_deref().map(Target::parse).transpose().map_err(|e| e.to_string())?;
        // The files first: a mistake in one is reported at once.
        let programs = self.files.iter().map(|f| read(f)).collect::<Result<Vec<Program>, String>>()?;
        let mut settings = Settings { rotated: Vec::new(), ..Settings::default() };
        self.testbeds.apply(&mut settings, &mut |note| errln!("{note}"))?;
        let mut builds = settings.testbeds()?.builds;
        builds.retain(|b| b.compiler.family != Family::Direct);
        if builds.is_empty() {
            return Err("there is no compiler to ask: `rvvfuzz doctor` lists what was looked for".to_string());
        }
        if let Some(count) = self.measure {
            let table = features::measure(&builds, count, &settings.limits(), &mut |note| errln!("{note}"))?;
            outln!("{table}");
            if let Some(document) = &self.markdown {
                figures::update(document, "rvvfuzz features", "rvvfuzz", &table)
                    .map_err(|e| e.to_string())?;
            }
            return Ok(true);
        }
        let asks = Asks { records: true, passes: self.passes.into() };
        let mut found = Vec::new();
        for (file, program) in self.files.iter().zip(&programs) {
            for build in &builds {
                let features = of_build(build, &[program], asks, &settings.limits());
                let features = features.and_then(|mut all| all.pop().ok_or("it has none".to_string()));
                found.push(Found { file: file.display().to_string(), build, features });
            }
        }
        match &self.json {
            Some(path) => write_file(path, &as_json(&found, target.as_ref()))?,
            None => found.iter().for_each(|f| f.print(target.as_ref())),
        }
        match found.iter().any(|f| f.features.is_ok()) {
            true => Ok(true),
            false => Err("no compiler could build it".to_string()),
        }
    }
}

impl From<PassesArg> for Passes {
    fn from(passes: PassesArg) -> Passes {
        match passes {
            PassesArg::No => Passes::No,
            PassesArg::Some => Passes::Some,
            PassesArg::All => Passes::All,
        }
    }
}

/// So many of the features that come nearest to a target are shown.
const NEAREST: usize = 8;

impl Found<'_> {
    fn print(&self, target: Option<&Target>) {
        outln!("{}, {}", self.file, self.build.name());
        let features = match &self.features {
            Ok(features) => features,
            Err(why) => return outln!("  not built: {}", why.trim()),
        };
        if let Some(target) = target {
            outln!("  {:.2} from `{target}`", target.distance(features));
            let mut near: Vec<_> = target.focus(features).into_iter().collect();
            near.sort_by(|a, b| target.distance_of(*a).total_cmp(&target.distance_of(*b)));
            for feature in near.iter().take(NEAREST) {
                outln!("    {:.2}  {feature}", target.distance_of(*feature));
            }
            if near.len() > NEAREST {
                outln!("    and {} more", near.len() - NEAREST);
            }
            return;
        }
        let said = features.iter().filter(|f| f.source().is_some_and(|s| s.is_said())).count();
        outln!(
            "  {} features: {said} said by the compiler, {} seen in its code",
            features.len(),
            features.len() - said
        );
        let mut names: Vec<(usize, String)> =
            features.iter().map(|f| (f.source().map_or(0, |s| s as usize), f.name())).collect();
        names.sort();
        names.iter().for_each(|(_, name)| outln!("    {name}"));
    }

    fn json(&self, target: Option<&Target>) -> Value {
        let (file, build) = (&self.file, self.build.name());
        match &self.features {
            Err(why) => json!({ "file": file, "build": build, "error": why }),
            Ok(features) => {
                let one = |f: &crate::programs::features::Feature| {
                    let source = f.source().map(|s| s.name());
                    let mut one =
                        json!({ "id": format!("{:016x}", f.id()), "source": source, "name": f.name() });
                    if let Some(target) = target {
                        one["distance"] = target.distance_of(*f).into();
                    }
                    one
                };
                let features_json: Vec<Value> = features.iter().map(one).collect();
                let distance = target.map(|t| t.distance(features));
                json!({ "file": file, "build": build, "distance": distance, "features": features_json })
            }
        }
    }
}

fn as_json(found: &[Found<'_>], target: Option<&Target>) -> String {
    let all: Vec<Value> = found.iter().map(|f| f.json(target)).collect();
    format!("{:#}\n", Value::from(all))
}
