//! `rvvfuzz report`.

use super::{Done, exit, write_file};
use crate::programs::report::{self, Report};
use crate::programs::store::{Place, Store};
use clap::Args;
use rvv_cli::outln;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Write the report of a campaign: HTML, JSON, JUnit, SARIF.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz report                                   campaign.db becomes campaign.html
  rvvfuzz report --store nightly.db --junit junit.xml --sarif bugs.sarif
  rvvfuzz report --json - | jq '.bugs[].signature'

It can be called while the campaign runs. It ends with 0 if there are no verdicts, 1 if there are, 2 if it could not:
the store cannot be read, or a file cannot be written.")]
pub struct Command {
    /// The campaign's file, or a database: postgres://USER@HOST/NAME
    #[arg(long, default_value = "campaign.db", value_name = "FILE|URL")]
    store: Place,
    /// An HTML page [default: the store's name with .html, if nothing else is asked for]
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Everything, as JSON; - is standard output
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// A suite for each testbed and a test case for each program that fails on it, as JUnit XML
    #[arg(long, value_name = "FILE")]
    junit: Option<PathBuf>,
    /// A result for each bug, as SARIF 2.1.0; the bugs' programs go into a folder beside it, NAME.programs
    #[arg(long, value_name = "FILE")]
    sarif: Option<PathBuf>,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.report())
    }

    fn report(&self) -> Done {
        let store = Store::read(&self.store).map_err(|e| e.to_string())?;
        let others = self.json.is_some() || self.junit.is_some() || self.sarif.is_some();
        let beside = || self.store.file().unwrap_or(Path::new("campaign")).with_extension("html");
        let html = self.html.clone().or_else(|| (!others).then(beside));
        if html.is_some() && html.as_deref() == self.store.file() {
            return Err("the report would overwrite the store; name another file with --html".to_string());
        }
        let tell = |path: &Path| {
            if path != Path::new("-") {
                outln!("{}", path.display());
            }
        };
        if let Some(path) = &html {
            write_html(&store, path)?;
            tell(path);
        }
        if !others {
            return Ok(store.verdict_count().map_err(|e| e.to_string())? == 0);
        }
        let report = Report::read(&store).map_err(|e| e.to_string())?;
        for (path, text) in [
            (&self.json, report::formats::json as fn(&Report) -> String),
            (&self.junit, report::formats::junit),
        ] {
            if let Some(path) = path {
                write_file(path, &text(&report))?;
                tell(path);
            }
        }
        if let Some(path) = &self.sarif {
            write_sarif(&report, path)?;
        }
        Ok(report.bugs.is_empty())
    }
}

/// The bugs as SARIF, and beside it the files that they are located in.
fn write_sarif(report: &Report, path: &Path) -> Result<(), String> {
    if path == Path::new("-") {
        return write_file(path, &report::formats::sarif(report, ""));
    }
    let stem = path.file_stem().map_or("bugs".into(), |s| s.to_string_lossy());
    let folder = format!("{stem}.programs");
    let files = report::formats::programs(report);
    if !files.is_empty() {
        let folder = path.with_file_name(&folder);
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for (name, text) in &files {
            write_file(&folder.join(name), text)?;
        }
    }
    write_file(path, &report::formats::sarif(report, &format!("{folder}/")))?;
    outln!("{}", path.display());
    Ok(())
}

/// Leaves the page of a campaign.
pub(super) fn write_html(store: &Store, path: &Path) -> Result<(), String> {
    write_file(path, &report::page::file(store).map_err(|e| e.to_string())?)
}
