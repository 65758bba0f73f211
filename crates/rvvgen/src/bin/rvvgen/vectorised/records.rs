//! What compilers report of the functions of plain C.

use rvv_tools::records;
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
    let passed = records::clang_records(text).filter(|r| r.sort == "Passed");
    passed.filter_map(|r| Some((program_of(r.function)?, format!("{}/{}", r.pass, r.name), 1))).collect()
}

/// Kinds of all records: `passed loop-vectorize/Vectorized`.
pub fn clang_kinds(text: &str) -> BTreeSet<String> {
    let all = records::clang_records(text);
    all.map(|r| format!("{} {}/{}", r.sort.to_lowercase(), r.pass, r.name)).collect()
}

/// The optimisations that gcc made, from its messages.
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
    let program = |line: usize| programs.get(line.saturating_sub(1)).copied().flatten();
    records::gcc_messages(said).filter_map(|(line, kind)| Some((program(line)?, kind, 1))).collect()
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

/// gcc's counters of [`PASSES`].
pub fn gcc_statistics(text: &str) -> Said {
    let (mut found, mut kinds) = (Vec::new(), BTreeSet::new());
    for counter in records::gcc_counters(text).filter(|c| PASSES.contains(&c.pass)) {
        let kind = format!("{}/{}", counter.pass, counter.name);
        if let Some(program) = program_of(counter.function) {
            found.push((program, kind.clone(), counter.times));
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
