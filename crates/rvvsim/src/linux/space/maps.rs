//! What is mapped, in words.

use super::{AddressSpace, Backing, EXEC, READ, WRITE};
use std::fmt::Write as _;

impl AddressSpace {
    /// What `/proc/self/maps` says.
    pub(in crate::linux) fn maps(&self) -> String {
        let mut text = String::new();
        for (start, area) in &self.areas {
            let flag = |bit, c| if area.prot & bit != 0 { c } else { '-' };
            let (r, w, x) = (flag(READ, 'r'), flag(WRITE, 'w'), flag(EXEC, 'x'));
            let s = if area.shared { 's' } else { 'p' };
            let (offset, name) = match &area.backing {
                Backing::Zero | Backing::Words(_) => (0, area.name.into()),
                Backing::File(file, offset) => (*offset, String::from_utf8_lossy(&file.path)),
                Backing::Segment(_, offset) => (*offset, area.name.into()),
            };
            let _ = write!(text, "{start:08x}-{:08x} {r}{w}{x}{s} {offset:08x} 00:00 0", area.end);
            if !name.is_empty() {
                let _ = write!(text, "{:27}{name}", "");
            }
            text.push('\n');
        }
        text
    }
}
