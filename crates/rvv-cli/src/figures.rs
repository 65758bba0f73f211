//! Tables of figures in documents, written by the commands that measure them.
//!
//! A document marks the place of a table, and [`update`] replaces what is between the marks:
//!
//! ```text
//! <!-- begin: benches compare -->
//! Written by `cargo run --release -p benches -- compare --markdown docs/performance.md`.
//!
//! | guest | …
//! <!-- end -->
//! ```

use std::path::{Path, PathBuf};

/// Why a table is not in its document.
#[derive(Debug, thiserror::Error)]
pub enum FiguresError {
    /// The document cannot be read or written.
    #[error("{}: {source}", path.display())]
    File {
        /// The document.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The document has no marks for the table.
    #[error("{}: add the lines `{}` and `{END}` where the table should be", path.display(), begin(name))]
    NoMarks {
        /// The document.
        path: PathBuf,
        /// The name of the table.
        name: String,
    },
}

/// The line after a marked part.
pub const END: &str = "<!-- end -->";

/// The line before the part of this name.
#[must_use]
pub fn begin(name: &str) -> String {
    format!("<!-- begin: {name} -->")
}

/// Replaces the part `name` of a document by `table` and the command that was called to make it.
///
/// `program` is how the running program is called, without its arguments, which are added.
///
/// # Errors
/// The document cannot be read or written, or has no such part.
pub fn update(document: &Path, name: &str, program: &str, table: &str) -> Result<(), FiguresError> {
    let path = document.to_owned();
    let file = |source| FiguresError::File { path: path.clone(), source };
    let text = std::fs::read_to_string(document).map_err(file)?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let part = format!("Written by `{}`.\n\n{}\n", command(program, &arguments), table.trim());
    let new = replace(&text, name, &part)
        .ok_or_else(|| FiguresError::NoMarks { path: path.clone(), name: name.to_owned() })?;
    std::fs::write(document, new).map_err(file)
}

/// The command as another machine would call it: files by their names if their paths are absolute.
fn command(program: &str, arguments: &[String]) -> String {
    let mut command = program.to_owned();
    for argument in arguments {
        let path = Path::new(argument);
        let shown = path.file_name().filter(|_| path.is_absolute()).and_then(|name| name.to_str());
        command += " ";
        command += shown.unwrap_or(argument);
    }
    command
}

/// The text with another part of this name, if it has one.
fn replace(text: &str, name: &str, part: &str) -> Option<String> {
    let begin = begin(name) + "\n";
    let start = text.find(&begin)? + begin.len();
    let end = start + text[start..].find(END)?;
    // The end of another part, if that of this one is missing.
    if text[start..end].contains("<!-- begin:") {
        return None;
    }
    Some(format!("{}{part}{}", &text[..start], &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "a\n<!-- begin: x y -->\nold\n<!-- end -->\nb\n<!-- begin: z -->\nkept\n<!-- end -->\n";

    #[test]
    fn the_part_between_its_marks_is_replaced_and_nothing_else() {
        let new = replace(TEXT, "x y", "new\n").unwrap();
        assert_eq!(new, TEXT.replace("old", "new"));
        assert_eq!(replace(&new, "x y", "old\n").as_deref(), Some(TEXT));
    }

    #[test]
    fn without_its_marks_nothing_is_replaced() {
        assert_eq!(replace(TEXT, "x", "new\n"), None);
        assert_eq!(replace("<!-- begin: x -->\n", "x", "new\n"), None);
        assert_eq!(replace(&format!("<!-- begin: x -->\n{TEXT}"), "x", "new\n"), None);
    }

    #[test]
    fn a_command_names_no_folder_of_this_machine() {
        let arguments =
            ["compare", "--qemu", "/opt/x/qemu-riscv64", "--markdown", "docs/a.md"].map(String::from);
        assert_eq!(
            command("benches", &arguments),
            "benches compare --qemu qemu-riscv64 --markdown docs/a.md"
        );
    }
}
