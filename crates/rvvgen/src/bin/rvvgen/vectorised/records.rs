//! What compilers report: clang's optimisation records, gcc's messages and its counters.

use std::collections::BTreeSet;

/// The program, the kind of optimisation that was made, and how often.
pub type Record = (usize, String, u64);
/// What a compiler said: what was done in the functions of plain C, and all kinds of records.
pub type Said = (Vec<Record>, BTreeSet<String>);

/// `p12_f0`: the number of the program.
fn program_of(function: &str) -> Option<usize> {
    let (number, rest) = function.strip_prefix('p')?.split_once("_f")?;
    rest.bytes().all(|b| b.is_ascii_digit() || b == b'.').then(|| number.parse().ok()).flatten()
}

/// The optimisations that clang made, from its YAML.
pub fn clang_records(text: &str) -> Vec<Record> {
    let mut found = Vec::new();
    for record in text.split("--- ").filter_map(|r| r.strip_prefix("!Passed")) {
        let field = |name: &str| {
            let line = record.lines().find_map(|l| l.strip_prefix(name))?;
            Some(line.trim().trim_matches('\'').to_string())
        };
        if let (Some(pass), Some(name), Some(function)) = (field("Pass:"), field("Name:"), field("Function:"))
            && let Some(program) = program_of(&function)
        {
            found.push((program, format!("{pass}/{name}"), 1));
        }
    }
    found
}

/// Kinds of all records: `passed loop-vectorize/Vectorized`.
pub fn clang_kinds(text: &str) -> BTreeSet<String> {
    let mut kinds = BTreeSet::new();
    for record in text.split("--- !").skip(1) {
        let sort = record.lines().next().unwrap_or("").trim();
        let field = |name: &str| record.lines().find_map(|l| l.strip_prefix(name)).map(str::trim);
        if let (Some(pass), Some(name)) = (field("Pass:"), field("Name:")) {
            kinds.insert(format!("{} {pass}/{name}", sort.to_lowercase()));
        }
    }
    kinds
}

/// The optimisations that gcc made, from its messages: `p.c:12:3: optimized: loop vectorized using …`.
pub fn gcc_records(said: &str, text: &str) -> Vec<Record> {
    // The program that each line of the file is in.
    let mut programs = Vec::new();
    let mut current = None;
    for line in text.lines() {
        if let Some(number) = line.strip_prefix("/* Program ").and_then(|l| l.strip_suffix(" */")) {
            current = number.parse().ok();
        } else if line.starts_with("static void run(") {
            current = None;
        }
        programs.push(current);
    }
    let mut found = Vec::new();
    for line in said.lines() {
        let Some((place, what)) = line.split_once(": optimized: ") else { continue };
        let mut numbers = place.rsplit(':');
        let at = numbers.nth(1).and_then(|n| n.parse::<usize>().ok());
        let Some(Some(program)) = at.and_then(|n| programs.get(n.saturating_sub(1))) else { continue };
        let kind = what.split(" using ").next().unwrap_or(what);
        let kind: Vec<&str> =
            kind.split_whitespace().filter(|w| !w.bytes().any(|b| b.is_ascii_digit())).take(5).collect();
        found.push((*program, kind.join(" "), 1));
    }
    found
}

/// The passes of gcc whose counters are about loops and vectors, or about what these leave behind. Others
/// (value numbering, constants, dead code, instructions) count what any code has.
const PASSES: [&str; 23] = [
    "ch",
    "lim",
    "unswitch",
    "lsplit",
    "ldist",
    "linterchange",
    "vect",
    "slp",
    "ifcvt",
    "cunroll",
    "cunrolli",
    "unrolljam",
    "pcom",
    "pre",
    "sink",
    "ivcanon",
    "ivopts",
    "phiopt",
    "phiprop",
    "sccp",
    "split-paths",
    "widening_mul",
    "dse",
];

/// gcc's counters: `192 vect "Vectorized loops" "p0_f1" 1`. Histograms and what value numbering visits are
/// bookkeeping. That a pass updated SSA form means that it changed the function.
pub fn gcc_statistics(text: &str) -> Said {
    let (mut found, mut kinds) = (Vec::new(), BTreeSet::new());
    for line in text.lines() {
        let mut parts = line.split('"');
        let (Some(pass), Some(counter), _, Some(function), Some(times)) =
            (parts.next(), parts.next(), parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        let Some(pass) = pass.split_whitespace().nth(1) else { continue };
        if !PASSES.contains(&pass) || counter.contains(" == ") || counter.starts_with("RPO ") {
            continue;
        }
        let counter = match counter {
            "Incremental SSA update" => "changed",
            "Symbol to SSA rewrite" => continue,
            other => other,
        };
        let kind = format!("{pass}/{counter}");
        if let (Some(program), Ok(times)) = (program_of(function), times.trim().parse()) {
            found.push((program, kind.clone(), times));
        }
        kinds.insert(kind);
    }
    (found, kinds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read() {
        let yaml = "--- !Passed\nPass:            loop-vectorize\nName:            Vectorized\n\
                    Function:        p3_f0\nArgs:\n...\n--- !Missed\nPass: x\nName: y\nFunction: p3_f0\n...\n\
                    --- !Passed\nPass: inline\nName: Inlined\nFunction: memset\n...\n";
        assert_eq!(clang_records(yaml), [(3, "loop-vectorize/Vectorized".to_string(), 1)]);
        let text = "/* Program 0 */\nx\n/* Program 1 */\ny\nstatic void run(unsigned long n)\n";
        let said = "p.c:2:3: optimized: loop vectorized using variable length vectors\n\
                    p.c:4:1: optimized: basic block part vectorized using 16 byte vectors\n";
        let kinds = ["loop vectorized", "basic block part vectorized"].map(str::to_string);
        let [a, b] = kinds;
        assert_eq!(gcc_records(said, text), [(0, a, 1), (1, b, 1)]);
    }

    #[test]
    fn counters_are_read_and_bookkeeping_is_not() {
        let text = "192 vect \"Vectorized loops\" \"p2_f1\" 3\n192 vect \"RPO blocks\" \"p2_f1\" 9\n\
                    160 pre \"insert iterations == 1\" \"p2_f1\" 1\n48 fre \"Eliminated\" \"p2_f1\" 7\n\
                    150 lim \"Incremental SSA update\" \"main\" 1\nno counter\n";
        let (found, kinds) = gcc_statistics(text);
        assert_eq!(found, [(2, "vect/Vectorized loops".to_string(), 3)]);
        assert_eq!(kinds.into_iter().collect::<Vec<_>>(), ["lim/changed", "vect/Vectorized loops"]);
    }
}
