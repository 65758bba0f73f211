//! `rvvfuzz export`.

use super::show::in_c;
use super::{Done, exit, write_file};
use crate::programs::store::query::StoredVerdict;
use crate::programs::store::{Place, Store, StoreError};
use clap::Args;
use rvv_cli::outln;
use serde_json::json;
use std::path::PathBuf;
use std::process::ExitCode;

/// Write one verdict as a folder that can be sent to somebody: program, report, and what was observed where.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rvvfuzz export 7                                         into the folder verdict-7
  rvvfuzz export 7 --store postgres://fuzz@db/rvv -o bug

The folder has README.md (the report), bug.c and bug.ir (the program, reduced if it was), original.ir if that is another,
and verdict.json. `rvvfuzz replay bug.ir` and `rvvfuzz reduce bug.ir` work on it without the store.
It ends with 0, or with 2 if the store has no such verdict or something cannot be read or written.")]
pub struct Command {
    /// The number of the verdict
    id: i64,
    /// The campaign's file, or a database: postgres://USER@HOST/NAME
    #[arg(long, default_value = "campaign.db", value_name = "FILE|URL")]
    store: Place,
    /// The folder [default: verdict-ID]
    #[arg(short, long, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

impl Command {
    /// Does what was asked for.
    #[must_use]
    pub fn run(self) -> ExitCode {
        exit(self.export())
    }

    fn export(&self) -> Done {
        let fail = |e: StoreError| e.to_string();
        let store = Store::read(&self.store).map_err(fail)?;
        let verdict = store.verdict(self.id).map_err(fail)?;
        let verdict = verdict.ok_or_else(|| format!("there is no verdict {} in {}", self.id, self.store))?;
        let files = files(&store, &verdict).map_err(fail)?;
        let folder = self.output.clone().unwrap_or_else(|| format!("verdict-{}", self.id).into());
        std::fs::create_dir_all(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
        for (name, text) in files {
            let path = folder.join(name);
            write_file(&path, &text)?;
            outln!("{}", path.display());
        }
        Ok(true)
    }
}

/// The files of a verdict: names and contents.
pub(crate) fn files(store: &Store, v: &StoredVerdict) -> Result<Vec<(&'static str, String)>, StoreError> {
    let original = store.program(v.program)?;
    let ir = v.reduced_ir.clone().or_else(|| original.clone());
    let c = v.reduced_c.clone().or_else(|| in_c(ir.as_deref()?));
    let names = store.testbeds()?;
    let letters = store.outcomes(v.program)?.unwrap_or_default();
    let details = store.details(v.program)?;
    let outcomes: Vec<_> = names
        .iter()
        .zip(letters.chars())
        .enumerate()
        .filter_map(|(n, (name, letter))| {
            let kind = crate::programs::store::kind(letter)?;
            let said = details.iter().find(|(t, _)| *t == n).map(|(_, text)| text);
            Some(json!({ "testbed": name, "outcome": kind.name(), "said": said }))
        })
        .collect();
    let settings = store.settings()?;
    let told = json!({
        "version": store.meta("version")?,
        "seed": settings.seed,
        "verdict": v,
        "outcomes": outcomes,
        "compilers": settings.compilers,
        "emulators": settings.emulators,
    });
    let told = serde_json::to_string_pretty(&told).unwrap_or_default() + "\n";
    let report = v.report_md.clone().unwrap_or_else(|| {
        let detail: Vec<String> = v.detail.lines().map(|l| format!("    {l}")).collect();
        format!(
            "# {}\n\n{}: {}. Program {} of seed {}; it is not reduced.\n\n{}\n",
            v.bug(),
            v.culprit,
            v.symptom,
            v.program,
            settings.seed,
            detail.join("\n")
        )
    });
    let mut files = vec![("README.md", report), ("verdict.json", told)];
    files.extend(c.map(|c| ("bug.c", c)));
    if original != ir {
        files.extend(original.map(|text| ("original.ir", text)));
    }
    files.extend(ir.map(|text| ("bug.ir", text)));
    Ok(files)
}

/// The files as one: a folder in a tar file of POSIX's first format.
pub(crate) fn tar(folder: &str, files: &[(&'static str, String)]) -> Vec<u8> {
    const BLOCK: usize = 512;
    let mut out = Vec::new();
    for (name, text) in files {
        let mut head = [0_u8; BLOCK];
        let mut put = |at: usize, text: &str| head[at..at + text.len()].copy_from_slice(text.as_bytes());
        let path: String = format!("{folder}/{name}").chars().take(99).collect();
        put(0, &path);
        put(100, "0000644");
        put(108, "0000000");
        put(116, "0000000");
        // Eleven octal digits: 8 GiB, more than any text.
        put(124, &format!("{:011o}", text.len()));
        put(136, "00000000000");
        put(148, "        ");
        put(156, "0");
        put(257, "ustar");
        put(263, "00");
        let sum: u32 = head.iter().map(|b| u32::from(*b)).sum();
        head[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        out.extend_from_slice(&head);
        out.extend_from_slice(text.as_bytes());
        out.resize(out.len().next_multiple_of(BLOCK), 0);
    }
    out.resize(out.len() + 2 * BLOCK, 0);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::settings::Settings;
    use crate::programs::store::{Reduction, Spent, tests::batch};

    #[test]
    fn a_verdict_travels_with_all_that_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.db");
        let mut store = Store::create(&path, &Settings::default(), &["a".into(), "b".into()]).unwrap();
        let id = store.save(&batch(0), Spent::default()).unwrap()[0];
        let output = folder.path().join("out");
        let command = |id| Command { id, store: Place::from(&path), output: Some(output.clone()) };
        let read = |name: &str| std::fs::read_to_string(output.join(name));
        assert_eq!(command(id).export(), Ok(true));
        assert_eq!(read("bug.ir").unwrap(), "rvv-ir 1\n");
        assert!(read("README.md").unwrap().contains("it is not reduced") && read("original.ir").is_err());
        let told: serde_json::Value = serde_json::from_str(&read("verdict.json").unwrap()).unwrap();
        assert_eq!((&told["seed"], &told["outcomes"][1]["outcome"]), (&1.into(), &"build crash".into()));
        let text = |text: &str| Some(text.to_string());
        let reduction = Reduction {
            signature: text("s"),
            ir: text("small"),
            c: text("int x;"),
            report: text("# s"),
            bisect: false,
        };
        store.save_reduction(id, &reduction).unwrap();
        assert_eq!(command(id).export(), Ok(true));
        let all = ["README.md", "bug.c", "bug.ir", "original.ir"].map(|name| read(name).unwrap());
        assert_eq!(all, ["# s", "int x;", "small", "rvv-ir 1\n"]);
        assert!(command(99).export().unwrap_err().contains("there is no verdict 99"));
    }
}
