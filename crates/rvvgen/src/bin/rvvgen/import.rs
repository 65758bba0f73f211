//! Makes programs of functions in C.

use crate::learn::files;
use crate::options::ImportOptions;
use crate::progress::Progress;
use rvv_cli::{errln, figures, out};
use rvv_ir::c::{COptions, Language, Mode, emit};
use rvvgen::csource::{read, source_files, speaks_of_vectors};
use rvvgen::import::{Imported, Settings, functions, import};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

/// What came of the functions of one path of the command line.
#[derive(Default)]
struct Tally {
    functions: usize,
    imported: usize,
    /// By construct.
    refused: BTreeMap<String, usize>,
}

/// One function, for JSON.
struct Row {
    at: String,
    name: String,
    /// Its folder, or why there is none.
    outcome: Result<String, String>,
}

/// Imports and says what could not be.
pub fn run(options: &ImportOptions) -> Result<(), String> {
    let one_file = matches!(&options.source.paths[..], [path] if path.is_file());
    let mut tallies = Vec::new();
    let mut rows = Vec::new();
    let mut used: HashMap<String, usize> = HashMap::new();
    for path in &options.source.paths {
        let mut tally = Tally::default();
        folder(options, path, one_file, &mut tally, &mut rows, &mut used)?;
        tallies.push((path, tally));
    }
    let all: usize = tallies.iter().map(|(_, t)| t.functions).sum();
    if all == 0 {
        return Err("there is no function with intrinsics (`__riscv_…`) in these".to_string());
    }
    if let Some(document) = &options.markdown {
        let table = markdown(&tallies);
        figures::update(document, "rvvgen import", "rvvgen", &table).map_err(|e| e.to_string())?;
    }
    out!("{}", if options.source.json { json(&rows) } else { text(&tallies) });
    Ok(())
}

fn folder(
    options: &ImportOptions,
    path: &PathBuf,
    one_file: bool,
    tally: &mut Tally,
    rows: &mut Vec<Row>,
    used: &mut HashMap<String, usize>,
) -> Result<(), String> {
    let mut vlens = options.vlen.clone();
    vlens.sort_unstable();
    vlens.dedup();
    let shorten = options.output.is_some();
    let settings = Settings { seed: options.seed, len: options.len, vlens, shorten };
    let paths = source_files(std::slice::from_ref(path)).map_err(|e| e.to_string())?;
    let mut files = files(&options.source);
    let mut progress = Progress::new("files", paths.len() as u64);
    for (n, path) in paths.iter().enumerate() {
        progress.show(n as u64);
        if paths.len() > 1 && !speaks_of_vectors(path) {
            continue;
        }
        let unit = match read(&mut files, path) {
            Ok(unit) => unit,
            Err(error) if one_file => return Err(error.to_string()),
            Err(error) => {
                errln!("rvvgen: {error}");
                continue;
            }
        };
        for function in functions(&unit) {
            if !options.function.is_empty() && !options.function.iter().any(|f| **f == *function.name) {
                continue;
            }
            tally.functions += 1;
            let outcome = match import(&unit, function, &settings) {
                Ok(imported) => {
                    tally.imported += 1;
                    let mut name = function.name.to_string();
                    let times = used.entry(name.clone()).or_default();
                    *times += 1;
                    if *times > 1 {
                        name = format!("{name}.{times}");
                    }
                    if let Some(dir) = &options.output {
                        write(&dir.join(&name), &imported)?;
                        if one_file && !options.source.json {
                            errln!("{name}: {} of {} calls executed", imported.calls.1, imported.calls.0);
                        }
                    }
                    Ok(name)
                }
                Err(refusal) => {
                    *tally.refused.entry(refusal.what.clone()).or_default() += 1;
                    let at = format!("{}:{}", files.name(refusal.place.file), refusal.place.line);
                    if (options.verbose || one_file) && !options.source.json {
                        errln!("{at}: {}: {}", function.name, refusal.detail);
                    }
                    Err(format!("{at}: {}", refusal.detail))
                }
            };
            let at = format!("{}:{}", files.name(function.place.file), function.place.line);
            rows.push(Row { at, name: function.name.to_string(), outcome });
        }
    }
    Ok(())
}

fn write(dir: &Path, imported: &Imported) -> Result<(), String> {
    std::fs::create_dir_all(dir).map_err(|e| format!("cannot make {}: {e}", dir.display()))?;
    let file = |name: &str, contents: &str| {
        let path = dir.join(name);
        std::fs::write(&path, contents).map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    file("program.ir", &imported.program.to_string())?;
    for expected in &imported.expected {
        file(&format!("expected.{}.txt", expected.vlen), &expected.to_text(&imported.program))?;
    }
    let options = COptions {
        mode: Mode::Raw,
        libc: false,
        file: Some("program.c"),
        language: Language::C,
        poked: false,
    };
    file("program.c", &emit(&[&imported.program], &options))
}

fn share(part: usize, whole: usize) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

fn sorted(refused: &BTreeMap<String, usize>) -> Vec<(&String, &usize)> {
    let mut sorted: Vec<_> = refused.iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    sorted
}

fn text(tallies: &[(&PathBuf, Tally)]) -> String {
    let mut text = String::new();
    for (path, tally) in tallies {
        text += &format!(
            "{}: {} of {} functions with intrinsics imported: {}\n",
            path.display(),
            tally.imported,
            tally.functions,
            share(tally.imported, tally.functions)
        );
        for (what, count) in sorted(&tally.refused) {
            text += &format!("  {count:>6} {:>8}  {what}\n", share(*count, tally.functions));
        }
    }
    text
}

fn markdown(tallies: &[(&PathBuf, Tally)]) -> String {
    let mut text =
        "| source | functions with intrinsics | imported | share | commonest reasons for the rest |\n\
                    | --- | ---: | ---: | ---: | --- |\n"
            .to_string();
    for (path, tally) in tallies {
        let name = path.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
        let reasons: Vec<String> =
            sorted(&tally.refused).iter().take(4).map(|(what, n)| format!("{what} ({n})")).collect();
        text += &format!(
            "| {name} | {} | {} | {} | {} |\n",
            tally.functions,
            tally.imported,
            share(tally.imported, tally.functions),
            reasons.join(", ")
        );
    }
    text
}

fn json(rows: &[Row]) -> String {
    let quote = |text: &str| {
        let escaped: String = text
            .chars()
            .flat_map(|c| match c {
                '"' => vec!['\\', '"'],
                '\\' => vec!['\\', '\\'],
                c if c.is_control() => vec![' '],
                c => vec![c],
            })
            .collect();
        format!("\"{escaped}\"")
    };
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            let (key, value) = match &row.outcome {
                Ok(name) => ("program", name),
                Err(why) => ("refused", why),
            };
            format!(
                "{{\"at\":{},\"function\":{},\"{key}\":{}}}",
                quote(&row.at),
                quote(&row.name),
                quote(value)
            )
        })
        .collect();
    format!("[{}]\n", rows.join(",\n "))
}
