//! Counts what people do.

use crate::options::{LearnOptions, SourceOptions};
use crate::progress::Progress;
use rvv_cli::{errln, out};
use rvvgen::csource::{Files, read, source_files, speaks_of_vectors};
use rvvgen::learn::{Learned, SECTIONS, SourceInfo, Table, learn};
use std::path::{Path, PathBuf};

/// Files of sources, with what the command line says of headers and macros.
pub fn files(options: &SourceOptions) -> Files {
    let define = options.define.iter().map(|text| match text.split_once('=') {
        Some((name, value)) => (name.to_string(), value.to_string()),
        None => (text.clone(), "1".to_string()),
    });
    Files::new(options.include.clone(), define.collect())
}

/// Counts and prints.
pub fn run(options: &LearnOptions) -> Result<(), String> {
    let mut table = Table::default();
    let (mut unread, mut unknown) = (0, 0);
    for path in &options.source.paths {
        let (learned, files) = one(options, path)?;
        unread += learned.unread.len();
        unknown += learned.unknown;
        let name = name_of(path);
        let commit = options.commit.iter().filter_map(|c| c.split_once('=')).find(|(n, _)| *n == name);
        table.sources.push(SourceInfo {
            commit: commit.map(|(_, c)| c.to_string()).unwrap_or_default(),
            name,
            files,
            functions: learned.functions,
            calls: learned.calls,
        });
        table.join(&learned.table);
    }
    table.shorten();
    if table.total("families") == 0 {
        return Err(
            "there is no call of an intrinsic (`__riscv_…`) in these; give folders of C or C++".into()
        );
    }
    if let Some(path) = &options.out {
        std::fs::write(path, table.to_toml()).map_err(|e| format!("cannot write {}: {e}", path.display()))?;
    }
    if options.source.json {
        out!("{}", json(&table, unread, unknown));
    } else if options.compare {
        let other = match &options.table {
            Some(path) => read_table(path)?,
            None => Table::human().clone(),
        };
        out!("{}", compare("here", &table, "table", &other));
    } else {
        out!("{}", text(&table, unread, unknown));
    }
    Ok(())
}

fn name_of(path: &Path) -> String {
    let whole = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    whole.file_name().map_or_else(|| path.display().to_string(), |n| n.to_string_lossy().into_owned())
}

/// A table from a file.
pub fn read_table(path: &Path) -> Result<Table, String> {
    let at = |e: &dyn std::fmt::Display| format!("{}: {e}", path.display());
    let text = std::fs::read_to_string(path).map_err(|e| at(&e))?;
    Table::from_toml(&text).map_err(|e| at(&e))
}

/// What one folder has, and how many of its files have intrinsics.
fn one(options: &LearnOptions, path: &PathBuf) -> Result<(Learned, u64), String> {
    let paths = source_files(std::slice::from_ref(path)).map_err(|e| e.to_string())?;
    let mut progress = Progress::new("files", paths.len() as u64);
    let mut files = files(&options.source);
    let mut all = Learned::default();
    let mut with = 0;
    for (n, path) in paths.iter().enumerate() {
        progress.show(n as u64);
        if paths.len() > 1 && !speaks_of_vectors(path) {
            continue;
        }
        let unit = match read(&mut files, path) {
            Ok(unit) => unit,
            Err(error) => {
                if options.verbose {
                    errln!("rvvgen: {error}");
                }
                continue;
            }
        };
        let learned = learn(&unit);
        if options.verbose {
            for (place, function, what) in &learned.unread {
                errln!("{}:{}: {function}: cannot read {what}", files.name(place.file), place.line);
            }
        }
        with += u64::from(learned.functions > 0);
        all.functions += learned.functions;
        all.calls += learned.calls;
        all.unknown += learned.unknown;
        all.unread.extend(learned.unread);
        all.table.join(&learned.table);
    }
    Ok((all, with))
}

const SHOWN: usize = 12;

fn share(n: u64, total: u64) -> String {
    format!("{:.1} %", 100.0 * n as f64 / total.max(1) as f64)
}

fn text(table: &Table, unread: usize, unknown: u64) -> String {
    let mut text = format!("{:24} {:>6} {:>10} {:>8}\n", "source", "files", "functions", "calls");
    for source in &table.sources {
        text +=
            &format!("{:24} {:>6} {:>10} {:>8}\n", source.name, source.files, source.functions, source.calls);
    }
    text += &format!(
        "not understood: {unread} functions, and {unknown} calls by overloaded names (-v names the functions)\n"
    );
    for (section, what, _) in SECTIONS {
        let total = table.total(section);
        let mut names: Vec<(&str, u64)> = table.section(section).collect();
        names.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        text += &format!("\n{what}\n");
        for (name, count) in names.iter().take(SHOWN) {
            text += &format!("  {name:44} {count:>8} {:>8}\n", share(*count, total));
        }
        if names.len() > SHOWN {
            text += &format!("  … and {} more\n", names.len() - SHOWN);
        }
    }
    text
}

/// Two tables side by side, with the distance of each section.
pub fn compare(left: &str, a: &Table, right: &str, b: &Table) -> String {
    let mut text = String::new();
    for (section, what, _) in SECTIONS {
        let mut names: Vec<(&str, u64)> = a.section(section).chain(b.section(section)).collect();
        names.sort_by(|x, y| y.1.cmp(&x.1).then(x.0.cmp(y.0)));
        let mut seen = std::collections::HashSet::new();
        names.retain(|(name, _)| seen.insert(*name));
        text += &format!("{what}\n  {:44} {left:>10} {right:>10}\n", "");
        for (name, _) in names.iter().take(SHOWN) {
            let of = |t: &Table| share(t.count(section, name), t.total(section));
            text += &format!("  {name:44} {:>10} {:>10}\n", of(a), of(b));
        }
        text += &format!("  {:44} {:>21.3}\n\n", "total variation distance", a.distance(b, section));
    }
    text
}

fn json(table: &Table, unread: usize, unknown: u64) -> String {
    let quote = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let sources: Vec<String> = table
        .sources
        .iter()
        .map(|s| {
            format!(
                "{{\"name\":{},\"commit\":{},\"files\":{},\"functions\":{},\"calls\":{}}}",
                quote(&s.name),
                quote(&s.commit),
                s.files,
                s.functions,
                s.calls
            )
        })
        .collect();
    let sections: Vec<String> = SECTIONS
        .iter()
        .map(|(section, ..)| {
            let names: Vec<String> =
                table.section(section).map(|(name, n)| format!("{}:{n}", quote(name))).collect();
            format!("{}:{{{}}}", quote(section), names.join(","))
        })
        .collect();
    format!(
        "{{\"sources\":[{}],\"unread\":{unread},\"unknown\":{unknown},{}}}\n",
        sources.join(","),
        sections.join(",")
    )
}
