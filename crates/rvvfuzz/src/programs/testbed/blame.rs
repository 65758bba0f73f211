//! Which programs of a translation unit a compiler complains of.

use super::message::unsupported;
use std::collections::HashSet;
use std::ops::Range;

/// The programs that error messages point at, by the line, or name, as `p12_program`.
pub(in crate::programs) fn accused(said: &str, text: &str, count: usize) -> Vec<usize> {
    let starts = starts(text);
    let mut found: Vec<usize> = errors(said, &starts).map(|(program, _)| program).collect();
    for word in said.split(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let Some(rest) = word.strip_prefix('p') else { continue };
        let Some((digits, _)) = rest.split_once('_') else { continue };
        found.extend(digits.parse::<usize>().ok());
    }
    found.retain(|&n| n < count);
    found.sort_unstable();
    found.dedup();
    found
}

/// What the compiler says it does not have: each once.
pub(in crate::programs) fn lacking(said: &str) -> Vec<String> {
    let mut found: Vec<String> = said.lines().filter_map(unsupported).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// The programs in which something is used that the compiler does not have, and what, as far as it has said.
pub(in crate::programs) fn lacking_in(said: &str, text: &str) -> Vec<(usize, String)> {
    let starts = starts(text);
    let mut found: Vec<(usize, String)> = Vec::new();
    for (program, line) in errors(said, &starts) {
        if let Some(what) = unsupported(line)
            && !found.iter().any(|(p, _)| *p == program)
        {
            found.push((program, what));
        }
    }
    found
}

/// The assembler complains: `p.s:5105: Error: unrecognized opcode`.
pub(in crate::programs) fn is_assemblers(said: &str) -> bool {
    said.contains("p.s:") && said.contains("Error:")
}

/// The programs that the assembler's messages point at, by the label above the line.
pub(in crate::programs) fn accused_in_assembly(said: &str, assembly: &str, count: usize) -> Vec<usize> {
    let lines: Vec<&str> = assembly.lines().collect();
    let mut found: Vec<usize> =
        assembler_lines(said).filter_map(|number| program_of(number, &lines)).collect();
    found.retain(|&n| n < count);
    found.sort_unstable();
    found.dedup();
    found
}

/// The program that has a line of the assembly.
fn program_of(number: usize, lines: &[&str]) -> Option<usize> {
    lines[..number.min(lines.len())].iter().rev().find_map(|l| label(l))
}

/// What the assembler says of one program.
pub(in crate::programs) fn said_of(said: &str, assembly: &str, program: usize) -> String {
    let lines: Vec<&str> = assembly.lines().collect();
    let is_its = |line: &&str| assembler_lines(line).any(|n| program_of(n, &lines) == Some(program));
    said.lines().filter(is_its).collect::<Vec<_>>().join("\n")
}

/// The assembly without the lines that the assembler refuses; the accused programs do nothing.
pub(in crate::programs) fn without_accused(said: &str, assembly: &str, accused: &[usize]) -> String {
    let bad: HashSet<usize> = assembler_lines(said).collect();
    let mut text = String::with_capacity(assembly.len());
    for (n, line) in assembly.lines().enumerate() {
        if !bad.contains(&(n + 1)) {
            text += line;
        }
        text.push('\n');
        if line.ends_with("_program:") && label(line).is_some_and(|n| accused.contains(&n)) {
            text += "\tret\n";
        }
    }
    text
}

/// `p12_program:` is of program 12.
fn label(line: &str) -> Option<usize> {
    line.strip_prefix('p')?.strip_suffix(':')?.split_once('_')?.0.parse().ok()
}

/// The lines that the assembler refuses.
fn assembler_lines(said: &str) -> impl Iterator<Item = usize> {
    let errors = said.lines().filter(|l| l.contains("Error:"));
    errors.filter_map(|line| line.split_once("p.s:")?.1.split(':').next()?.parse().ok())
}

/// The lines at which programs begin.
fn starts(text: &str) -> Vec<usize> {
    text.lines().enumerate().filter(|(_, line)| begins(line)).map(|(n, _)| n + 1).collect()
}

/// Where in the text the programs are; the only one of a unit is all of it.
pub(in crate::programs) fn places(text: &str, count: usize) -> Vec<Range<usize>> {
    if count == 1 {
        return std::iter::once(0..text.len()).collect();
    }
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if begins(line.trim_end()) {
            starts.push(at);
        }
        at += line.len();
    }
    starts.iter().enumerate().map(|(n, &start)| start..*starts.get(n + 1).unwrap_or(&text.len())).collect()
}

fn begins(line: &str) -> bool {
    line.starts_with("/* Program ") && line.ends_with(" */")
}

/// Error messages with a line: `p.c:725:44: error: …`, and the program it is in.
fn errors<'s>(said: &'s str, starts: &[usize]) -> impl Iterator<Item = (usize, &'s str)> {
    said.lines().filter(|l| l.contains("error")).filter_map(move |line| {
        let (_, rest) = line.split_once("p.c:")?;
        let number: usize = rest.split(':').next()?.parse().ok()?;
        Some((starts.partition_point(|&start| start <= number).checked_sub(1)?, line))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "#include <riscv_vector.h>\n/* Program 0 */\nint a;\n/* Program 1 */\nint b;\n/* Program 2 */\nint c;\n";

    #[test]
    fn a_message_names_the_guilty_program() {
        let said = "p.c: In function 'p12_program':\np.c:99:1: internal compiler error: in f, at x.cc:1";
        assert_eq!(accused(said, "", 20), [12]);
        assert!(accused(said, "", 5).is_empty());
        assert!(accused("p.c:3: error", "", 5).is_empty());
    }

    #[test]
    fn a_line_names_the_guilty_program() {
        assert_eq!(accused("/tmp/x/p.c:5:44: error: too few arguments", TEXT, 3), [1]);
        assert!(accused("/tmp/x/p.c:1:4: error: no such header", TEXT, 3).is_empty());
    }

    #[test]
    fn a_text_is_divided_into_programs() {
        let places = places(TEXT, 3);
        assert_eq!(places.len(), 3);
        assert!(TEXT[places[1].clone()].contains("int b") && !TEXT[places[1].clone()].contains("int c"));
        assert_eq!(super::places("int a;", 1).first(), Some(&(0..6)));
    }

    #[test]
    fn a_line_of_assembly_names_the_guilty_program() {
        let said = "p.s: Assembler messages:\np.s:5: Error: unrecognized opcode `x<y>.v v2'";
        assert!(is_assemblers(said));
        let assembly = "p0_program:\n nop\np3_program:\n.L3:\n x\np4_program:\n";
        assert_eq!(accused_in_assembly(said, assembly, 5), [3]);
        assert!(accused_in_assembly(said, "", 5).is_empty());
        let both = format!("{said}\np.s:2: Error: illegal operands `nop'");
        assert_eq!(accused_in_assembly(&both, assembly, 5), [0, 3]);
        assert_eq!(said_of(&both, assembly, 3), "p.s:5: Error: unrecognized opcode `x<y>.v v2'");
        assert_eq!(said_of(&both, assembly, 4), "");
        assert!(is_assemblers(&said_of(&both, assembly, 0)));
        let rest = without_accused(said, assembly, &[3]);
        assert_eq!(rest, "p0_program:\n nop\np3_program:\n\tret\n.L3:\n\np4_program:\n");
    }

    #[test]
    fn what_a_compiler_lacks_is_told_once() {
        let said = "p.c:3:1: error: call to undeclared function '__riscv_vx'; ISO C99\n\
                    p.c:7:1: error: implicit declaration of function '__riscv_vy'\n\
                    p.c:7:9: error: implicit declaration of function '__riscv_vz'\n\
                    p.c:5:1: error: expected ';'";
        assert_eq!(lacking(said), ["__riscv_vx", "__riscv_vy", "__riscv_vz"]);
        assert_eq!(lacking_in(said, TEXT), [(0, "__riscv_vx".to_string()), (2, "__riscv_vy".to_string())]);
    }
}
