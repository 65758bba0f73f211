//! Writing to the standard streams. A full disk or a closed pipe is no reason to panic.

use std::io::{ErrorKind, Write};

/// Writes to standard error. If that fails there is nobody left to tell.
pub fn note(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Writes to standard output. A reader that has gone away has seen enough: that is no error.
///
/// # Errors
/// A sentence saying why it cannot be written.
pub fn print(text: &str) -> Result<(), String> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != ErrorKind::BrokenPipe => Err(format!("cannot write to standard output: {e}")),
        _ => Ok(()),
    }
}
