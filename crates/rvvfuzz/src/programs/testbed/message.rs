//! What compilers say: made fit to be shown, stored and compared, and what can be read from it.

use std::path::Path;

/// No line of a message is longer.
const LINE: usize = 4096;

/// A message as text that may be shown, stored and compared: no escapes to a terminal, no endless lines,
/// whatever a compiler wrote.
pub fn printable(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let mut out = String::with_capacity(text.len().min(1 << 20));
    for line in text.lines() {
        let mut rest = line.chars();
        let mut width = 0;
        while let Some(c) = rest.next().filter(|_| width < LINE) {
            match c {
                // A sequence that sets colours or moves the cursor: ESC [ parameters letter.
                '\u{1b}' if rest.as_str().starts_with('[') => {
                    rest.next();
                    let _ = rest.by_ref().take(32).find(|c| ('@'..='~').contains(c));
                }
                '\t' => out.push('\t'),
                c if c.is_control() => {}
                // What turns the direction of a text would show other words than are there.
                '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
                c => {
                    out.push(c);
                    width += 1;
                }
            }
        }
        out.push('\n');
    }
    out
}

/// clang's stack without its command line, which is longer than all the rest.
pub(super) fn without_arguments(said: &str) -> String {
    let mut text = String::with_capacity(said.len());
    for line in said.lines() {
        let end = line.find("Program arguments: ").map_or(line.len(), |at| at + "Program arguments:".len());
        text += &line[..end];
        text.push('\n');
    }
    text
}

/// A message without the names of temporary files, which are others each time: `p.c`, `p.s`.
pub(super) fn without_folders(said: &str, folder: &Path) -> String {
    let said = said.replace(&format!("{}/", folder.display()), "");
    let random = |word: &str| {
        let name =
            word.strip_prefix("cc").and_then(|rest| rest.split_once('.')).filter(|(name, _)| name.len() == 6);
        name.map(|(_, extension)| format!("p.{extension}"))
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '.';
    let mut out = String::with_capacity(said.len());
    let mut rest = said.as_str();
    while !rest.is_empty() {
        let word = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
        out += &random(&rest[..word]).unwrap_or_else(|| rest[..word].to_string());
        let other = rest[word..].find(is_name).unwrap_or(rest.len() - word);
        out += &rest[word..word + other];
        rest = &rest[word + other..];
    }
    out
}

/// An internal compiler error, in the words of gcc or clang.
pub(super) fn is_crash(said: &str) -> bool {
    [
        "internal compiler error",
        "PLEASE submit a bug report",
        "LLVM ERROR",
        "Stack dump:",
        "Assertion `",
        "UNREACHABLE executed",
        "fatal error: error in backend",
    ]
    .iter()
    .any(|words| said.contains(words))
}

/// The name of an intrinsic, type or extension that the compiler does not have.
pub(super) fn unsupported(said: &str) -> Option<String> {
    for line in said.lines() {
        // clang: call to undeclared function '__riscv_x'; gcc: implicit declaration of function '__riscv_x';
        // both: unknown type name 'vbfloat16m1_t'; extensions by `-march=`.
        let unknown = [
            "undeclared function",
            "implicit declaration",
            "unknown type name",
            "use of undeclared identifier",
        ];
        if unknown.iter().any(|w| line.contains(w)) {
            let name =
                line.split(['\'', '‘', '’', '`']).find(|w| w.starts_with("__riscv_") || w.ends_with("_t"));
            if let Some(name) = name {
                return Some(name.to_string());
            }
        }
        let arch = [
            "unsupported -march",
            "invalid arch name",
            "requires the extension",
            "requires target feature",
            "extension 'z",
            "unknown prefix",
            "unsupported non-standard",
            "unexpected ISA string",
        ];
        // clang: builtin requires at least one of the following extensions: zvfbfa.
        let needs = line.contains("requires at least one of the following extensions");
        if (needs || arch.iter().any(|w| line.contains(w))) && line.contains("error") {
            return Some(line.split("error: ").last().unwrap_or(line).to_string());
        }
        // gcc: no overload for these types.
        if let Some((_, rest)) = line.split_once("too many arguments to function '__riscv_")
            && let Some((name, rest)) = rest.split_once('\'')
            && rest.starts_with("; expected 0")
        {
            return Some(format!("an overload of __riscv_{name}"));
        }
        // clang: the same. What is there has no candidate for these types.
        if let Some((_, rest)) = line.split_once("no matching function for call to '__riscv_")
            && let Some((name, _)) = rest.split_once('\'')
        {
            return Some(format!("an overload of __riscv_{name}"));
        }
        // Builtins that need an extension: gcc's words.
        if line.contains("requires") && line.contains("ISA extension") {
            return Some(line.split("error: ").last().unwrap_or(line).to_string());
        }
    }
    None
}

/// `fatal error: error in backend: Cannot select: 0x5601: nxv1i8 = add 0x5602`, without what differs each
/// time: the operation is what counts.
fn backend_error(line: &str) -> String {
    let Some((what, node)) = line.split_once("Cannot select: ") else { return line.to_string() };
    let operation = node.split_once(" = ").map_or(node, |(_, rest)| rest);
    format!("{what}Cannot select: {}", operation.split([' ', '<']).next().unwrap_or(operation))
}

/// What a compiler wrote where a mnemonic should be, if the assembler complains of something that cannot be
/// one: a piece of a template that was not filled in. An instruction that only this assembler does not know
/// is another matter.
pub fn nonsense(said: &str) -> Option<&str> {
    // "p.s:12: Error: unrecognized opcode `vluxei<quad_ext_sew>.v v8,(a0),v8'"
    let opcodes = said.lines().filter_map(|l| l.split_once("Error: unrecognized opcode `"));
    let words = opcodes.filter_map(|(_, rest)| rest.split([' ', '\t', '\'']).next());
    let is_name = |w: &&str| w.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.' || b == b'_');
    words.filter(|w| !is_name(w)).min()
}

/// What identifies a crash of a compiler: the line that says where, without what another version or another
/// run has otherwise.
pub fn crash_site(said: &str) -> String {
    stable(&crash_line(said))
}

/// At most so many characters of a line say where a crash was.
const SITE: usize = 200;

/// A message without line numbers, columns and addresses: `in f, at x.cc:12` is `in f, at x.cc`.
fn stable(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(c) = rest.chars().next() {
        if out.chars().count() >= SITE {
            break;
        }
        let digits = |from: usize, is: fn(&char) -> bool| rest[from..].chars().take_while(is).count();
        let number = if c == ':' { digits(1, char::is_ascii_digit) } else { 0 };
        let address = if rest.starts_with("0x") { digits(2, char::is_ascii_hexdigit) } else { 0 };
        let width = match (number, address) {
            (0, 0) => c.len_utf8(),
            (0, n) => 2 + n,
            (n, _) => 1 + n,
        };
        if (number, address) == (0, 0) {
            out.push(c);
        }
        rest = &rest[width..];
    }
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn crash_line(said: &str) -> String {
    for line in said.lines() {
        if let Some((_, rest)) = line.split_once("internal compiler error: ") {
            // `in expand_insn, at optabs.cc:8294`
            if rest.contains(" at ") {
                return rest.trim().to_string();
            }
            // Of a segmentation fault, the innermost function of the stack, as far as its name is known, and
            // the pass. `0xc14a67 gen_lowpart_common(machine_mode, rtx_def*)`
            let frames = said.lines().filter(|l| l.starts_with("0x")).filter_map(|l| l.split_once(' '));
            let names = frames.filter_map(|(_, name)| name.split('(').next());
            let function = names.into_iter().find(|n| !["internal_error", "crash_signal", "???"].contains(n));
            let function = function.map(|f| format!("in {f}"));
            let pass = said.lines().find(|l| l.starts_with("during ") && l.contains(" pass: "));
            let parts = [Some(rest.trim()), function.as_deref(), pass.map(str::trim)];
            return parts.into_iter().flatten().collect::<Vec<_>>().join(" ");
        }
        if let Some((_, rest)) = line.split_once("Assertion `") {
            return format!("assertion {}", rest.trim());
        }
        if line.contains("LLVM ERROR") || line.contains("error in backend") {
            return backend_error(line.trim());
        }
    }
    // clang's stack: the innermost function that is not about the crash itself.
    for line in said.lines().filter(|l| l.starts_with(|c: char| c.is_ascii_digit())) {
        if let Some((_, rest)) = line.split_once(" llvm::").or_else(|| line.split_once(" clang::")) {
            let name = rest.split(['(', ' ', '<']).next().unwrap_or(rest);
            if !["sys::", "CrashRecovery", "driver::"].iter().any(|w| name.starts_with(w))
                && !line.contains("Running pass")
            {
                return format!("in {name}");
            }
        }
    }
    // Else the pass it was in, last of those around it. The function's name is the program's.
    let pass = said.lines().rev().find_map(|l| l.split_once("Running pass").map(|(_, rest)| rest));
    let name = pass.and_then(|p| p.split(['\'', '"']).find(|w| w.trim().len() > 1));
    match name {
        Some(name) => format!("in pass {}", name.trim()),
        None => said.lines().next().unwrap_or("no message").to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_have_no_random_names() {
        let said = "/tmp/.tmpEh/p.c:4:1: error: x\n/tmp/.tmpEh/ccKwD0cM.s: Assembler messages:\n/tmp/.tmpEh/ccKwD0cM.s:5: Error";
        let clean = without_folders(said, Path::new("/tmp/.tmpEh"));
        assert_eq!(clean, "p.c:4:1: error: x\np.s: Assembler messages:\np.s:5: Error");
    }

    #[test]
    fn a_missing_intrinsic_is_no_failure_of_the_program() {
        let clang = "p.c:3:5: error: call to undeclared function '__riscv_vfoo'; ISO C99 and later";
        assert_eq!(unsupported(clang).as_deref(), Some("__riscv_vfoo"));
        let gcc = "p.c:1:1: error: unknown type name ‘vbfloat16m1_t’";
        assert_eq!(unsupported(gcc).as_deref(), Some("vbfloat16m1_t"));
        assert_eq!(unsupported("p.c:1:1: error: expected ';'"), None);
        let clang = "p.c:5:9: error: no matching function for call to '__riscv_vslideup_tu'";
        assert_eq!(unsupported(clang).as_deref(), Some("an overload of __riscv_vslideup_tu"));
        let gcc = "p.c:5:9: error: too many arguments to function '__riscv_vslideup'; expected 0, have 4";
        assert_eq!(unsupported(gcc).as_deref(), Some("an overload of __riscv_vslideup"));
    }

    #[test]
    fn nonsense_is_not_an_instruction_that_the_assembler_does_not_know() {
        let line =
            |what: &str| format!("p.s: Assembler messages:\np.s:7: Error: unrecognized opcode `{what}'\n");
        let wrong = line("vluxei<quad_ext_sew>.v v8,(a0),v8");
        assert_eq!(nonsense(&wrong), Some("vluxei<quad_ext_sew>.v"));
        for unknown in ["vandn.vv v1,v2,v3", "th.vmaqa.vv v1,v2,v3", "fence.i"] {
            assert_eq!(nonsense(&line(unknown)), None);
            assert_eq!(nonsense(&(line(unknown) + &wrong)), Some("vluxei<quad_ext_sew>.v"));
        }
        assert_eq!(nonsense("p.c:3: error: unknown type name 'v<t>'"), None);
    }

    #[test]
    fn a_hostile_message_becomes_text() {
        let said = b"\x1b[31merror\x1b[0m: \xff\xfe in f\x07\0, at x.cc:12\r\nsecond\x1b]0;title\x07\n";
        let text = printable(said);
        assert_eq!(text, "error: \u{fffd}\u{fffd} in f, at x.cc:12\nsecond]0;title\n");
        let long = "x".repeat(5 << 20) + "\ninternal compiler error: " + &"y".repeat(1 << 20);
        let text = printable(long.as_bytes());
        assert!(text.len() < 3 * LINE, "{}", text.len());
        assert!(crash_site(&text).len() <= SITE);
        assert_eq!(printable("a\u{202e}b".as_bytes()), "ab\n");
        for said in [&b""[..], b"\x1b[", b"\x1b", b"\xff\xff\xff", &[0; 4096]] {
            let text = printable(said);
            assert!(!text.contains('\u{1b}'));
            let _ = (crash_site(&text), is_crash(&text), unsupported(&text), nonsense(&text).is_some());
        }
    }

    #[test]
    fn a_place_has_no_line_numbers_and_no_addresses() {
        assert_eq!(stable("in f, at x.cc:12"), "in f, at x.cc");
        assert_eq!(stable("p.c:9:1: at 0x7ffd12 of t0x"), "p.c: at of t0x");
        assert_eq!(stable("0x"), "0x");
        assert_eq!(
            crash_site("internal compiler error: in f, at x.cc:1"),
            crash_site("internal compiler error: in f, at x.cc:2")
        );
    }

    #[test]
    fn a_crash_is_known_by_its_place() {
        let clang = "fatal error: error in backend: Cannot select: 0x5601: riscv_nxv32i8x2 = select_cc 0x5602, Constant:i64<9>";
        assert_eq!(crash_site(clang), "fatal error: error in backend: Cannot select: select_cc");
        let clang =
            "PLEASE submit a bug report to x\nStack dump:\n0.\tProgram arguments: clang a b\n1.\t<eof>\n";
        assert!(without_arguments(clang).contains("arguments:\n1."));
        let gcc = "during RTL pass: expand\np.c: In function 'f':\np.c:9:1: internal compiler error: in expand_fn_using_insn, at internal-fn.cc:268\n";
        assert!(is_crash(gcc));
        assert_eq!(crash_site(gcc), "in expand_fn_using_insn, at internal-fn.cc");
        let clang = "fatal error: error in backend: Cannot select: 0x5601: riscv_nxv32i8x2 = select_cc 0x5602, Constant:i64<9>";
        assert_eq!(crash_site(clang), "fatal error: error in backend: Cannot select: select_cc");
        let clang =
            "PLEASE submit a bug report to x\nStack dump:\n0.\tProgram arguments: clang a b\n1.\t<eof>\n";
        assert!(without_arguments(clang).contains("arguments:\n1."));
        let gcc = "during RTL pass: expand\np.c: In function 'f':\np.c:2:8: internal compiler error: Segmentation fault";
        assert_eq!(crash_site(gcc), "Segmentation fault during RTL pass: expand");
        let gcc = format!(
            "{gcc}\n0x26c1ff8 internal_error(char const*, ...)\n\t???:0\n0xc14a67 gen_lowpart_common(int)"
        );
        let place = "Segmentation fault in gen_lowpart_common during RTL pass: expand";
        assert_eq!(crash_site(&gcc), place);
        let clang = "PLEASE submit a bug report\nStack dump:\n0.\tProgram arguments: clang p.c\n\
                     4.\tRunning pass 'RISC-V DAG->DAG Pattern Instruction Selection' on function '@f0'\n\
                     0  libLLVM.so.22.1 0x00007fd5 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) + 58\n\
                     5  libLLVM.so.22.1 0x00007fd5 llvm::SelectionDAGISel::LowerArguments(llvm::Function const&) + 6463\n";
        assert_eq!(crash_site(clang), "in SelectionDAGISel::LowerArguments");
    }
}
