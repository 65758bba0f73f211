//! Small files of strangers.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The text of a file of at most so many bytes. No more than that is read, whatever size a file says it has.
///
/// # Errors
/// In words, with the file's name.
pub fn read_text(path: &Path, largest: u64) -> Result<String, String> {
    let name = path.display();
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|e| format!("cannot read {name}: {e}"))?;
    file.take(largest + 1).read_to_end(&mut bytes).map_err(|e| format!("cannot read {name}: {e}"))?;
    if bytes.len() as u64 > largest {
        return Err(format!("{name}: such a file has at most {largest} bytes"));
    }
    String::from_utf8(bytes).map_err(|_| format!("cannot read {name}: it is not text in UTF-8"))
}

/// Text of a stranger's file, short and without what moves a terminal's cursor.
pub fn plain(text: &str) -> String {
    let mut shown: String = text.chars().take(60).map(|c| if c.is_control() { '?' } else { c }).collect();
    if text.chars().count() > 60 {
        shown.push_str("...");
    }
    shown
}
