//! `monitor snapshot` and `monitor restore`.

use super::target::Debuggee;
use rvvsim::Snapshot;
use std::collections::BTreeMap;

/// Each has a copy of the memory that was written.
const MOST: usize = 16;
/// The longest name.
const LONGEST_NAME: usize = 64;
/// The name of the one that has none.
const UNNAMED: &str = "last";

/// What gdb still believes is what it has read.
const LOOK_AGAIN: &str = "\
gdb does not know yet: maintenance flush register-cache, then maintenance flush dcache
";

/// States by names, and when they were: the instructions that had retired.
#[derive(Default)]
pub struct Saved(BTreeMap<String, (u64, u64, Snapshot)>);

impl Debuggee<'_> {
    /// The answer to `monitor snapshot`, with or without a name.
    pub fn take_snapshot(&mut self, name: &str) -> String {
        let Some(snapshot) = self.machine.snapshot() else {
            let why = self.machine.why_no_past().unwrap_or("--sanitize goes forwards only");
            return format!("there is no way back from here, and so no snapshot: {why}\n");
        };
        let name = if name.is_empty() { UNNAMED } else { name };
        if name.len() > LONGEST_NAME || name.contains(char::is_whitespace) {
            return format!("a name is a word of at most {LONGEST_NAME} letters\n");
        }
        let saved = &mut self.saved.0;
        if saved.len() >= MOST && !saved.contains_key(name) {
            let names: Vec<&str> = saved.keys().map(String::as_str).collect();
            return format!(
                "there are {MOST} snapshots already; monitor snapshot replaces one by its name: {}\n",
                names.join(", ")
            );
        }
        let now = self.machine.instructions_retired();
        saved.insert(name.to_owned(), (now, self.history.branch(), snapshot));
        format!("snapshot {name}: {now} instructions, pc {:#x}\n", self.machine.hart().pc())
    }

    /// The answer to `monitor restore`.
    pub fn restore_snapshot(&mut self, name: &str) -> String {
        let name = if name.is_empty() { UNNAMED } else { name };
        let Some((then, branch, snapshot)) = self.saved.0.get(name) else {
            let names: Vec<&str> = self.saved.0.keys().map(String::as_str).collect();
            return match names.is_empty() {
                true => "there is no snapshot; monitor snapshot takes one\n".to_owned(),
                false => format!("there is no snapshot of this name; there are: {}\n", names.join(", ")),
            };
        };
        if !self.machine.restore(snapshot) {
            let why = self.machine.why_no_past().unwrap_or("it is of another machine");
            return format!("there is no way back to that state: {why}\n");
        }
        (self.ended, self.trap) = (None, None);
        let then = *then;
        // What came before is the past of this state only if nobody has changed anything in between.
        if *branch != self.history.branch() {
            self.history.forget(self.machine);
        }
        format!("restored {name}: {then} instructions, pc {:#x}\n{LOOK_AGAIN}", self.machine.hart().pc())
    }
}
