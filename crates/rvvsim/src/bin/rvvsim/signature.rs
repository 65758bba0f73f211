//! `--signature`: memory between two symbols, as text, as test frameworks compare it.

use rvvsim::Hart;
use rvvsim::RAM_BASE;
use rvvsim::elf::Image;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// What is to be written, and how.
pub struct Signature {
    path: PathBuf,
    bytes_per_line: usize,
    /// Where in RAM.
    range: Range<usize>,
}

impl Signature {
    /// Finds the symbols `begin_signature` and `end_signature`.
    pub fn new(path: &Path, bytes_per_line: usize, image: &Image, ram: usize) -> Result<Signature, String> {
        let find = |name: &str| {
            image.symbol(name).ok_or_else(|| {
                format!(
                    "--signature needs the symbol {name}, and the program has none: mark the data with \
                         begin_signature and end_signature, and do not strip the ELF"
                )
            })
        };
        let (begin, end) = (find("begin_signature")?, find("end_signature")?);
        let inside = |address: u64| address.checked_sub(RAM_BASE).filter(|at| *at <= ram as u64);
        match (inside(begin), inside(end)) {
            (Some(from), Some(to)) if from <= to => {
                Ok(Signature { path: path.to_owned(), bytes_per_line, range: from as usize..to as usize })
            }
            _ => Err(format!(
                "--signature: from begin_signature ({begin:#x}) to end_signature ({end:#x}) there is no piece of RAM; \
                 RAM is {ram} bytes from {RAM_BASE:#x} (--mem)"
            )),
        }
    }

    /// Writes the file.
    pub fn write(&self, hart: &Hart) -> Result<(), String> {
        let text = lines(&hart.memory()[self.range.clone()], self.bytes_per_line);
        std::fs::write(&self.path, text)
            .map_err(|e| format!("cannot write the signature to {}: {e}", self.path.display()))
    }
}

/// Lines of `size` bytes each, the last byte first; what the last line has too few of is zero.
fn lines(bytes: &[u8], size: usize) -> String {
    let mut text = String::new();
    for line in bytes.chunks(size) {
        for _ in line.len()..size {
            text.push_str("00");
        }
        for byte in line.iter().rev() {
            let _ = write!(text, "{byte:02x}");
        }
        text.push('\n');
    }
    text
}
