//! What compilers report of their work: clang's optimisation records (`-fsave-optimization-record`), the
//! passes that changed something (`-print-changed=quiet`), gcc's counters (`-fdump-statistics`) and its
//! messages (`-fopt-info`).
//!
//! What is malformed is skipped: a compiler may have been killed while it wrote.

/// One of clang's optimisation records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record<'t> {
    /// What kind it is: `Passed`, `Missed`, `Analysis`…
    pub sort: &'t str,
    /// The pass.
    pub pass: &'t str,
    /// What it says: `Vectorized`.
    pub name: &'t str,
    /// The function it is about.
    pub function: &'t str,
}

/// The records of a file of YAML documents. Only their first fields are read.
pub fn clang_records(text: &str) -> impl Iterator<Item = Record<'_>> {
    let mut lines = text.lines().peekable();
    std::iter::from_fn(move || {
        loop {
            let sort = loop {
                if let Some(sort) = lines.next()?.strip_prefix("--- !") {
                    break sort.trim();
                }
            };
            let (mut pass, mut name, mut function) = (None, None, None);
            while let Some(line) = lines.next_if(|line| !line.starts_with("--- ")) {
                for (field, value) in
                    [("Pass:", &mut pass), ("Name:", &mut name), ("Function:", &mut function)]
                {
                    if let Some(text) = line.strip_prefix(field).filter(|_| value.is_none()) {
                        *value = Some(text.trim().trim_matches(['\'', '"']));
                    }
                }
            }
            if let (Some(pass), Some(name), Some(function)) = (pass, name, function) {
                return Some(Record { sort, pass, name, function });
            }
        }
    })
}

/// A pass of clang that changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change<'t> {
    /// The pass: its argument, if it has one (`riscv-insert-vsetvli`), else its name (`InstCombinePass`).
    pub pass: &'t str,
    /// What it is called in words, where that is something else: `RISC-V Insert VSETVLI pass`.
    pub title: Option<&'t str>,
    /// The functions that were changed; none if it was the module.
    pub functions: Vec<&'t str>,
}

/// How the line above a dump begins.
const AFTER: &str = "*** IR Dump After ";

/// Whether a line is the one above a dump. All others are the dump, which is long.
#[must_use]
pub fn is_change(line: &[u8]) -> bool {
    line.starts_with(AFTER.as_bytes())
}

/// The pass and the function in the line above a dump: `*** IR Dump After NAME (argument) on FUNCTION ***`.
#[must_use]
pub fn clang_change(line: &str) -> Option<Change<'_>> {
    let (pass, of) = line.trim_end().strip_prefix(AFTER)?.strip_suffix(" ***")?.rsplit_once(" on ")?;
    let (title, pass) = match pass.strip_suffix(')').and_then(|p| p.rsplit_once(" (")) {
        Some((title, argument)) if !argument.is_empty() => (Some(title), argument),
        _ => (None, pass),
    };
    let of = of.rsplit_once(" in function ").map_or(of, |(_, function)| function);
    let functions = match of {
        "[module]" => Vec::new(),
        // Functions that call each other are one unit.
        of => of.trim_matches(['(', ')']).split(", ").take(64).collect(),
    };
    (!pass.is_empty()).then_some(Change { pass, title, functions })
}

/// One of gcc's counters: `192 vect "Vectorized loops" "p0_f1" 1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Counter<'t> {
    /// The pass.
    pub pass: &'t str,
    /// What is counted.
    pub name: &'t str,
    /// The function.
    pub function: &'t str,
    /// How often.
    pub times: u64,
}

/// The counters of a file. Histograms, and what value numbering visits, are bookkeeping and left out.
pub fn gcc_counters(text: &str) -> impl Iterator<Item = Counter<'_>> {
    text.lines().filter_map(|line| {
        let mut parts = line.split('"');
        let (pass, name, _, function, times) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        let pass = pass.split_whitespace().nth(1)?;
        let name = match name {
            "Symbol to SSA rewrite" => return None,
            // That a pass updated SSA form means that it changed the function.
            "Incremental SSA update" => "changed",
            name => name,
        };
        if name.contains(" == ") || name.starts_with("RPO ") {
            return None;
        }
        Some(Counter { pass, name, function, times: times.trim().parse().ok()? })
    })
}

/// The lines of gcc's messages, and what was done there, without numbers:
/// `p.c:12:3: optimized: loop vectorized using …`.
pub fn gcc_messages(text: &str) -> impl Iterator<Item = (usize, String)> + '_ {
    text.lines().filter_map(|line| {
        let (place, what) = line.split_once(": optimized: ")?;
        let line = place.rsplit(':').nth(1)?.parse().ok()?;
        let kind = what.split(" using ").next().unwrap_or(what);
        let words = kind.split_whitespace().filter(|w| !w.bytes().any(|b| b.is_ascii_digit())).take(5);
        Some((line, words.collect::<Vec<_>>().join(" ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read() {
        let yaml = "--- !Passed\nPass:            loop-vectorize\nName:            Vectorized\n\
                    Function:        p3_f0\nArgs:\n  - String: 'Pass: x'\n...\n--- !Missed\nPass: x\nName: y\n\
                    Function: 'p3_f1'\n...\n--- !Passed\nPass: inline\n--- !Passed\nPass: inline\nName: Inlined\n\
                    Function: memset\nName: Other\n...\n--- !Passed\nPass: cut";
        let record = |sort, pass, name, function| Record { sort, pass, name, function };
        assert_eq!(
            clang_records(yaml).collect::<Vec<_>>(),
            [
                record("Passed", "loop-vectorize", "Vectorized", "p3_f0"),
                record("Missed", "x", "y", "p3_f1"),
                record("Passed", "inline", "Inlined", "memset"),
            ]
        );
        assert_eq!(clang_records("no YAML\n--- x\n---").count(), 0);
    }

    #[test]
    fn changes_are_read() {
        let line = "*** IR Dump After RISC-V Insert VSETVLI pass (riscv-insert-vsetvli) on p3_f0 ***";
        let title = Some("RISC-V Insert VSETVLI pass");
        let change = |pass, title, functions| Some(Change { pass, title, functions });
        assert!(is_change(line.as_bytes()) && !is_change(b"# *** IR Dump"));
        assert_eq!(clang_change(line), change("riscv-insert-vsetvli", title, vec!["p3_f0"]));
        for (line, pass, functions) in [
            ("*** IR Dump After InstCombinePass on p1_program ***", "InstCombinePass", vec!["p1_program"]),
            ("*** IR Dump After LICMPass on loop %<unnamed loop> in function f ***", "LICMPass", vec!["f"]),
            ("*** IR Dump After InlinerPass on (f, g) ***", "InlinerPass", vec!["f", "g"]),
            ("*** IR Dump After GlobalOptPass on [module] ***", "GlobalOptPass", vec![]),
        ] {
            assert_eq!(clang_change(line), change(pass, None, functions));
        }
        for bad in
            ["", "*** IR Dump After ", "*** IR Dump After x ***", "*** IR Dump After x on y", "x on y ***"]
        {
            assert_eq!(clang_change(bad), None, "{bad}");
        }
    }

    #[test]
    fn counters_are_read_and_bookkeeping_is_not() {
        let text = "192 vect \"Vectorized loops\" \"p2_f1\" 3\n192 vect \"RPO blocks\" \"p2_f1\" 9\n\
                    160 pre \"insert iterations == 1\" \"p2_f1\" 1\n48 fre \"Eliminated\" \"p2_f1\" 99999999999999999999\n\
                    150 lim \"Incremental SSA update\" \"main\" 1\nno counter\n\"\"\"\"\"\n";
        let counter = |pass, name, function, times| Counter { pass, name, function, times };
        assert_eq!(
            gcc_counters(text).collect::<Vec<_>>(),
            [counter("vect", "Vectorized loops", "p2_f1", 3), counter("lim", "changed", "main", 1)]
        );
    }

    #[test]
    fn messages_are_read() {
        let said = "p.c:2:3: optimized: loop vectorized using variable length vectors\n\
                    p.c:4:1: optimized: basic block part vectorized using 16 byte vectors\n\
                    p.c: optimized: x\np.c:99999999999999999999:1: optimized: y\nz\n";
        let found: Vec<(usize, String)> = gcc_messages(said).collect();
        assert_eq!(
            found,
            [(2, "loop vectorized".to_string()), (4, "basic block part vectorized".to_string())]
        );
    }
}
