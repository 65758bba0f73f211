//! Links of documents lead somewhere, and tables of figures name the command that wrote them.

use super::root;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

/// The documents: in these folders, and below those that end in `/**`.
const FOLDERS: [&str; 6] = [".", "docs/**", "bugs/**", "isa/**", "testsuite", ".github/**"];

fn documents() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for place in FOLDERS {
        let below = place.strip_suffix("/**");
        let mut folders = vec![root().join(below.unwrap_or(place))];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).expect("a folder of documents").flatten() {
                let path = entry.path();
                if path.is_dir() && below.is_some() {
                    folders.push(path);
                } else if path.extension().is_some_and(|e| e == "md") {
                    found.push(path);
                }
            }
        }
    }
    found.sort();
    found
}

/// What can be linked to in a document, and where it links to.
#[derive(Debug, Default)]
struct Document {
    anchors: BTreeSet<String>,
    links: Vec<String>,
}

fn read(text: &str) -> Document {
    let mut document = Document::default();
    let mut times = BTreeMap::<String, usize>::new();
    let mut heading: Option<String> = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let anchor = anchor(&heading.take().unwrap_or_default());
                let before = times.entry(anchor.clone()).or_default();
                document.anchors.insert(match *before {
                    0 => anchor,
                    n => format!("{anchor}-{n}"),
                });
                *before += 1;
            }
            Event::Text(text) | Event::Code(text) => {
                if let Some(heading) = &mut heading {
                    *heading += &text;
                }
            }
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                document.links.push(dest_url.into_string());
            }
            _ => {}
        }
    }
    document
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = |c: char| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ => c.is_alphanumeric().then_some(c),
    };
    heading.to_lowercase().chars().filter_map(kept).collect()
}

/// The path without `.` and `..`; none if it leads out of where it starts.
fn normal(path: &Path) -> Option<PathBuf> {
    let mut normal = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => normal.push(name),
            Component::CurDir => {}
            Component::ParentDir if normal.pop() => {}
            _ => return None,
        }
    }
    Some(normal)
}

/// What is wrong with a link in the document of this name, relative to the root.
fn fault(name: &Path, link: &str, documents: &BTreeMap<PathBuf, Document>) -> Option<&'static str> {
    let elsewhere = ["https://", "http://", "mailto:"];
    if elsewhere.iter().any(|start| link.starts_with(start)) {
        return None;
    }
    let (path, anchor) = link.split_once('#').map_or((link, None), |(path, anchor)| (path, Some(anchor)));
    let target = match path {
        "" => name.to_owned(),
        _ => match normal(&name.parent().unwrap_or(Path::new("")).join(path)) {
            Some(target) => target,
            None => return Some("leads out of the repository"),
        },
    };
    if !root().join(&target).exists() {
        return Some("leads to no file");
    }
    let anchor = anchor?;
    match documents.get(&target) {
        Some(document) if document.anchors.contains(anchor) => None,
        _ => Some("leads to no heading"),
    }
}

#[test]
fn links_lead_to_files_and_headings() {
    let documents: BTreeMap<PathBuf, Document> = documents()
        .into_iter()
        .map(|path| {
            let text = std::fs::read_to_string(&path).expect("a document");
            let name = path.strip_prefix(root()).expect("in the workspace");
            (normal(name).expect("in the workspace"), read(&text))
        })
        .collect();
    let mut wrong = Vec::new();
    let mut links = 0;
    for (name, document) in &documents {
        for link in &document.links {
            links += 1;
            if let Some(why) = fault(name, link, &documents) {
                wrong.push(format!("{}: ({link}) {why}", name.display()));
            }
        }
    }
    assert!(links > 50, "only {links} links found");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_link_to_nothing_is_found() {
    let readme = "# A `b` (c), d_e\n# x\n## x\n[1](#a-b-c-d_e) [2](#x-1) [3](#x-2) ![4](docs/no.svg)\n\
                  `[5](no)` [6](https://no) [7](../x) [8](isa/README.md#no)\n```\n[9](no)\n```\n\
                  [10](isa/../Cargo.toml)\n";
    let name = PathBuf::from("README.md");
    let documents = BTreeMap::from([(name.clone(), read(readme))]);
    let faults: Vec<_> =
        documents[&name].links.iter().map(|link| (link.as_str(), fault(&name, link, &documents))).collect();
    assert_eq!(
        faults,
        [
            ("#a-b-c-d_e", None),
            ("#x-1", None),
            ("#x-2", Some("leads to no heading")),
            ("docs/no.svg", Some("leads to no file")),
            ("https://no", None),
            ("../x", Some("leads out of the repository")),
            ("isa/README.md#no", Some("leads to no heading")),
            ("isa/../Cargo.toml", None),
        ]
    );
}

#[test]
fn the_readme_is_short() {
    let text = std::fs::read_to_string(root().join("README.md")).expect("the README");
    assert!(text.lines().count() <= 150, "{} lines", text.lines().count());
}

/// Tables of figures are between the marks of `rvv_cli::figures`, after the command that wrote them.
#[test]
fn tables_of_figures_name_the_command_that_wrote_them() {
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document");
        let all_measured = path.ends_with("docs/performance.md");
        let mut part: Option<usize> = None;
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", path.display(), number + 1);
            match part {
                None if line.starts_with("<!-- begin: ") => part = Some(number),
                None => {
                    assert!(!line.starts_with(rvv_cli::figures::END), "{place}: an end without a beginning");
                    assert!(!(all_measured && line.starts_with('|')), "{place}: a table without its command");
                }
                Some(start) if number == start + 1 => {
                    assert!(line.starts_with("Written by `"), "{place}: no command");
                }
                Some(_) if line == rvv_cli::figures::END => part = None,
                Some(_) => assert!(!line.starts_with("<!-- begin: "), "{place}: a beginning without an end"),
            }
        }
        assert_eq!(part, None, "{}: no end", path.display());
    }
}

/// Whether a cell is a number, with a unit or a sign: `1 234`, `5.7 %`, `1.2×`, `–`.
fn is_figure(cell: &str) -> bool {
    let cell = cell.trim();
    let unit = |word: &str| ["%", "×", "ms", "s", "MiB", "–", ""].contains(&word);
    let number = |word: &str| word.trim_end_matches(['×', '%']).parse::<f64>().is_ok();
    !cell.is_empty() && cell.split([' ', '\u{202f}', '\u{a0}']).all(|word| number(word) || unit(word))
}

/// The first line of each table with a column of figures that is outside the marks and names no command.
fn tables_by_hand(text: &str) -> Vec<usize> {
    let mut found = Vec::new();
    let (mut marked, mut start, mut rows) = (false, 0, Vec::<Vec<&str>>::new());
    for (number, line) in text.lines().chain([""]).enumerate() {
        if line.starts_with('|') {
            start = if rows.is_empty() { number + 1 } else { start };
            rows.push(line.trim_matches('|').split('|').collect());
            continue;
        }
        let table = std::mem::take(&mut rows);
        let body = table.get(2..).unwrap_or_default();
        let figures = |column: usize| body.iter().all(|row| row.get(column).is_some_and(|c| is_figure(c)));
        let commands = table.first().is_some_and(|head| head.iter().any(|c| c.trim() == "command"));
        if !marked && !commands && body.len() > 1 && (1..table[0].len()).any(figures) {
            found.push(start);
        }
        marked = line.starts_with("<!-- begin: ") || marked && line != rvv_cli::figures::END;
    }
    found
}

/// Figures that no command writes are in one document: the rules that were broken by hand, once.
#[test]
fn no_table_of_figures_is_written_by_hand() {
    for path in documents().into_iter().filter(|path| !path.ends_with("testsuite/MUTATIONS.md")) {
        let text = std::fs::read_to_string(&path).expect("a document");
        assert_eq!(tables_by_hand(&text), [0_usize; 0], "lines of {}", path.display());
    }
}

#[test]
fn a_table_by_hand_is_found() {
    let table = "| a | b |\n| --- | --- |\n| x | 1 234 ms |\n| y | 5.7 % |\n";
    assert_eq!(tables_by_hand(table), [1]);
    assert_eq!(tables_by_hand(&table.replace("| b |", "| command |")), [0_usize; 0]);
    assert_eq!(tables_by_hand(&table.replace("5.7 %", "five")), [0_usize; 0]);
    let marked = format!("<!-- begin: x -->\nWritten by `x`.\n\n{table}{}\n", rvv_cli::figures::END);
    assert_eq!(tables_by_hand(&marked), [0_usize; 0]);
    assert_eq!(tables_by_hand(&format!("{marked}\n{table}")), [10]);
}

/// Every file with `unsafe` in it is on the list of ARCHITECTURE.md, and only those are.
#[test]
fn the_architecture_lists_all_unsafe_code() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).expect("the architecture");
    let (_, section) = text.split_once("## Where `unsafe` is").expect("the section");
    let rows = section.lines().skip_while(|l| !l.starts_with('|')).take_while(|l| l.starts_with('|'));
    let cells = rows.filter_map(|row| row.split('|').nth(1));
    let listed: BTreeSet<PathBuf> = cells
        .flat_map(|cell| cell.split('`').filter(|word| word.ends_with(".rs")))
        .map(|file| match file.starts_with("crates/") {
            true => PathBuf::from(file),
            false => Path::new("crates/rvvsim/src").join(file),
        })
        .collect();
    let mut found = BTreeSet::new();
    let mut folders: Vec<PathBuf> =
        ["crates", "testsuite/src", "benches/src"].map(|f| root().join(f)).to_vec();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of sources").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") && has_unsafe(&path) {
                found.insert(path.strip_prefix(root()).expect("in the workspace").to_owned());
            }
        }
    }
    assert_eq!(found, listed, "found and listed");
}

fn has_unsafe(path: &Path) -> bool {
    let text = std::fs::read_to_string(path).expect("a source");
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    let words = code.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && c != '_'));
    words.into_iter().any(|word| word == "unsafe")
}
