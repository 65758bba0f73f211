//! What README.md and docs/ show of the commands is what the commands print.
//!
//! A fenced block without a language, or with `console`, is run if its first line starts with `$ `. Lines
//! that start with `$ ` are commands for a shell, continued by a backslash at the end of the line; the lines
//! up to the next command are all they print, to standard output or error. A line `...` matches any lines,
//! `...` in a line for any text. Durations such as `0.1 s` are not compared. Each block has a folder for its
//! files, with the programs of [`PROGRAMS`].

mod links;

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op, csr};
use rvv_tools::Ended;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The commands that documents show, and the packages they are in.
const COMMANDS: [&str; 3] = ["rvvsim", "rvvgen", "rvvfuzz"];

/// Guests that documents speak of.
const PROGRAMS: [(&str, MakeElf); 1] = [("strips", strips)];

type MakeElf = fn() -> Vec<u8>;

/// The longest a command may take, on a machine with other work.
const LIMIT: Duration = Duration::from_secs(120);

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace")
}

/// A block to run.
#[derive(Debug)]
struct Block {
    /// The file and line, to say where.
    place: String,
    steps: Vec<Step>,
}

#[derive(Debug, PartialEq, Eq)]
struct Step {
    command: String,
    output: Vec<String>,
}

/// The blocks of a document that are to be run.
fn blocks(name: &str, text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((_, line)) = lines.next() {
        let Some(language) = line.trim_start().strip_prefix("```") else { continue };
        let mut block = Vec::new();
        let mut start = 0;
        for (number, line) in lines.by_ref() {
            if line.trim_start().starts_with("```") {
                break;
            }
            if block.is_empty() {
                start = number + 1;
            }
            block.push(line);
        }
        let shows_commands = block.first().is_some_and(|line| line.starts_with("$ "));
        if shows_commands && matches!(language.trim(), "" | "console") {
            found.push(Block { place: format!("{name}:{start}"), steps: steps(&block) });
        }
    }
    found
}

fn steps(lines: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut continues = false;
    for line in lines {
        match (steps.last_mut(), line.strip_prefix("$ ")) {
            (Some(step), _) if continues => {
                step.command.push('\n');
                step.command.push_str(line);
                continues = line.ends_with('\\');
            }
            (_, Some(command)) => {
                steps.push(Step { command: command.to_owned(), output: Vec::new() });
                continues = command.ends_with('\\');
            }
            (Some(step), None) => step.output.push((*line).to_owned()),
            (None, None) => {}
        }
    }
    steps
}

/// Whether `shown`, which may leave out text, is `printed`.
fn matches_lines(shown: &[String], printed: &[String]) -> bool {
    match (shown, printed) {
        ([], printed) => printed.is_empty(),
        ([gap, rest @ ..], _) if gap == "..." => {
            (0..=printed.len()).any(|skipped| matches_lines(rest, &printed[skipped..]))
        }
        ([line, rest @ ..], [first, others @ ..]) => matches_line(line, first) && matches_lines(rest, others),
        (_, []) => false,
    }
}

fn matches_line(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (without_times(shown), without_times(printed));
    let mut parts = shown.split("...");
    let Some(mut rest) = parts.next().and_then(|start| printed.strip_prefix(start)) else { return false };
    let parts: Vec<_> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        match rest.split_once(part) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The line with `T` for each number of seconds, which are another each time.
fn without_times(line: &str) -> String {
    let words = line.trim_end().split(' ').collect::<Vec<_>>();
    let is_number = |word: &str| !word.is_empty() && word.chars().all(|c| c.is_ascii_digit() || c == '.');
    let seconds = |word: Option<&&str>| word.is_some_and(|w| w.trim_end_matches(['.', ',', ':', ')']) == "s");
    let shown = words
        .iter()
        .enumerate()
        .map(|(i, word)| if is_number(word) && seconds(words.get(i + 1)) { "T" } else { word });
    shown.collect::<Vec<_>>().join(" ")
}

/// Where the commands are: beside the tests. One that is missing or older than its sources is built first,
/// which testing the whole workspace has done.
fn commands(wanted: &[&str]) -> PathBuf {
    let test = std::env::current_exe().expect("a path");
    let folder = test.parent().and_then(Path::parent).expect("target/PROFILE/deps").to_owned();
    let modified = |path: &Path| path.metadata().and_then(|m| m.modified()).ok();
    let newest = sources(&["crates", "isa", "bugs"]).iter().filter_map(|path| modified(path)).max();
    for name in wanted {
        if modified(&folder.join(name)) >= newest {
            continue;
        }
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--quiet", "--package", name, "--bins"]).current_dir(root());
        let profile = folder.file_name().expect("a profile");
        if profile != "debug" {
            build.arg("--profile").arg(profile);
        }
        assert!(build.status().expect("cargo").success(), "{name} cannot be built");
    }
    folder
}

/// What the commands are built from. (Cargo lists that beside a command only where it was asked for the
/// command.)
fn sources(folders: &[&str]) -> Vec<PathBuf> {
    let mut folders: Vec<PathBuf> = folders.iter().map(|folder| root().join(folder)).collect();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path())
        {
            match entry.is_dir() {
                // Tests and examples are in no command.
                true if entry.ends_with("tests") || entry.ends_with("examples") => {}
                true => folders.push(entry),
                false => files.push(entry),
            }
        }
    }
    files
}

/// Says what is wrong with a block, if anything is.
fn check(block: &Block, path: &OsString, number: usize) -> Result<(), String> {
    let folder = std::env::temp_dir().join(format!("rvvsim-docs-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    for (name, elf) in PROGRAMS {
        std::fs::write(folder.join(name), elf()).expect("a temporary file");
    }
    let checked = block.steps.iter().try_for_each(|step| {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(format!("exec 2>&1\n{}", step.command)).current_dir(&folder).env("PATH", path);
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RVV")) {
            shell.env_remove(name);
        }
        let run = rvv_tools::run_group(&mut shell, LIMIT, 1 << 20).map_err(|e| e.to_string())?;
        if run.ended == Ended::TimedOut {
            return Err(format!("{}: $ {}\ntook more than {LIMIT:?}", block.place, step.command));
        }
        let text = String::from_utf8_lossy(&run.stdout).into_owned();
        let printed: Vec<_> = text.lines().map(|line| line.trim_end().to_owned()).collect();
        if matches_lines(&step.output, &printed) {
            return Ok(());
        }
        let shown = step.output.join("\n");
        Err(format!("{}: $ {}\nprints\n{text}\nand is shown as\n{shown}\n", block.place, step.command))
    });
    let _ = std::fs::remove_dir_all(&folder);
    checked
}

fn documents() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn documents_show_what_the_commands_print() {
    let mut all = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).expect("a document");
        let name = path.strip_prefix(root()).expect("in the workspace").display().to_string();
        all.extend(blocks(&name, &text));
    }
    assert!(!all.is_empty(), "no document shows a command and its output");
    let text = all.iter().flat_map(|b| &b.steps).map(|s| s.command.as_str()).collect::<Vec<_>>().join(" ");
    let uses = |name: &&&str| text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == **name);
    let wanted: Vec<_> = COMMANDS.iter().filter(uses).copied().collect();
    let mut path = commands(&wanted).into_os_string();
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let wrong: Vec<_> =
        all.iter().enumerate().filter_map(|(number, block)| check(block, &path, number).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn blocks_are_found_and_compared() {
    let text = "a\n```\n$ x \\\n  y\n1\n2\n$ z\n```\n```sh\n$ no\n```\n```\nno\n```\n```console\n$ w\n```\n";
    let found = blocks("f", text);
    assert_eq!(found.iter().map(|b| b.place.as_str()).collect::<Vec<_>>(), ["f:3", "f:16"]);
    let step = |command: &str, output: &[&str]| Step {
        command: command.to_owned(),
        output: output.iter().map(|&o| o.to_owned()).collect(),
    };
    assert_eq!(found[0].steps, [step("x \\\n  y", &["1", "2"]), step("z", &[])]);
    let same = |shown: &str, printed: &str| {
        let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
        matches_lines(&lines(shown), &lines(printed))
    };
    assert!(same("a\n...\nd", "a\nb\nc\nd") && same("...", "") && same("...\nb", "a\nb"));
    assert!(!same("a\n...\nd", "a\nb") && !same("a", "a\nb") && !same("a\nb", "a") && !same("", "a"));
    assert!(
        same("at ... of ...", "at 3 of 4") && !same("at ... of 5", "at 3 of 4") && !same("ab...ba", "aba")
    );
    assert!(same("96 runs in 0.1 s. So", "96 runs in 12.3 s. So") && !same("96 runs", "95 runs"));
}

/// Sums the numbers from 1 to 100, strip by strip, and takes each strip to be VLMAX elements long, whatever
/// `vl` it got.
fn strips() -> Vec<u8> {
    const TEXT: u64 = 0x1_0000;
    const DATA: u64 = 0x2_0000;
    let [t0, t1, t2, a0, a1, a2, a3, a7] = [5u8, 6, 7, 10, 11, 12, 13, 17];
    const E32_M8_TA_MA: i32 = 0xd3;
    const E32_M1_TA_MA: i32 = 0xd0;
    let op = |name: &str| Inst::new(Op::from_name(name).expect("an instruction"));
    let mut a = Asm::new(TEXT);
    a.li(a0, DATA);
    a.li(t0, 1);
    let fill = a.label_here();
    a.store(Op::Sw, t0, 0, a0);
    a.rri(Op::Addi, a0, a0, 4);
    a.rri(Op::Addi, t0, t0, 1);
    a.li(t1, 101);
    a.branch(Op::Bne, t0, t1, fill);
    a.inst(&Inst { rs1: 1, imm: E32_M1_TA_MA, ..op("vsetivli") });
    a.inst(&Inst { rd: 16, imm: 0, ..op("vmv.v.i") });
    a.li(a0, DATA);
    a.li(a1, 100);
    let strip = a.label_here();
    a.inst(&Inst { rd: 0, rs1: a1, imm: E32_M8_TA_MA, ..op("vsetvli") });
    a.inst(&Inst { rd: 8, rs1: a0, ..op("vle32.v") });
    a.inst(&Inst { rd: 16, rs2: 8, rs1: 16, ..op("vredsum.vs") });
    // VLMAX: eight registers of words.
    a.csr(Op::Csrrs, t0, csr::VLENB, 0);
    a.rri(Op::Slli, t0, t0, 1);
    a.rri(Op::Slli, t1, t0, 2);
    a.rrr(Op::Add, a0, a0, t1);
    a.rrr(Op::Sub, a1, a1, t0);
    a.branch(Op::Blt, 0, a1, strip);
    a.inst(&Inst { rd: a3, rs2: 16, ..op("vmv.x.s") });
    // The digits, from the last.
    a.li(a1, DATA + 64);
    a.li(t0, u64::from(b'\n'));
    a.store(Op::Sb, t0, 0, a1);
    a.li(t1, 10);
    let digit = a.label_here();
    a.rrr(Op::Remu, t0, a3, t1);
    a.rri(Op::Addi, t0, t0, i32::from(b'0'));
    a.rri(Op::Addi, a1, a1, -1);
    a.store(Op::Sb, t0, 0, a1);
    a.rrr(Op::Divu, a3, a3, t1);
    a.branch(Op::Bne, a3, 0, digit);
    for letter in b" mus" {
        a.li(t0, u64::from(*letter));
        a.rri(Op::Addi, a1, a1, -1);
        a.store(Op::Sb, t0, 0, a1);
    }
    a.li(t2, DATA + 65);
    a.rrr(Op::Sub, a2, t2, a1);
    a.li(a0, 1);
    a.li(a7, 64);
    a.plain(Op::Ecall);
    a.li(a0, 0);
    a.li(a7, 93);
    a.plain(Op::Ecall);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 0x1000);
    elf.finish()
}
