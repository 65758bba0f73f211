//! `--sweep --count`: the instructions of the program by VLEN.

use super::{Alike, CANNOT_RUN, SAME, Subject, Sweep, seen};
use crate::count::ByVlen;
use crate::{report, say};
use rvvsim::Config;
use std::path::Path;
use std::time::Instant;

impl Sweep {
    /// Runs the program at each VLEN and prints one table; the exit code.
    pub fn count_by_vlen(&self, subject: Subject, file: &Path) -> u8 {
        let done = self.counts(subject).and_then(|table| {
            let json = format!("{:#}\n", table.json());
            say::print(&if self.json { json.clone() } else { table.text() })?;
            let cannot = |e| format!("cannot write the counts to {}: {e}", file.display());
            std::fs::write(file, json).map_err(cannot)
        });
        match done {
            Ok(()) => SAME,
            Err(message) => {
                say::note(&format!("rvvsim: {message}\n"));
                CANNOT_RUN
            }
        }
    }

    fn counts(&self, mut subject: Subject) -> Result<ByVlen, String> {
        let Alike { bare, .. } = subject.make_alike()?;
        let mut table = Vec::new();
        for &vlen in &self.vlens {
            let config = Config { vlen, ..subject.config.clone() };
            let deadline = subject.timeout.map(|t| Instant::now() + t);
            let ran = seen::run(subject.image, bare, config, subject.process.clone(), deadline, true);
            let (seen, remarks) =
                ran.map_err(|e| format!("{}: {e}{}", subject.name, report::load_hint(&e)))?;
            if remarks.stopped || remarks.died {
                let why = remarks.why.map_or(String::new(), |why| format!(": {why}"));
                return Err(format!("{} at VLEN {vlen}: {}{why}", subject.name, seen.ending));
            }
            table.extend(remarks.count.map(|count| (vlen, count)));
        }
        Ok(ByVlen(table))
    }
}
