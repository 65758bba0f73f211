//! Memory as a debugger sees it: RAM by virtual address, whatever is being logged, and never a device, which
//! a look might change.

use super::Hart;
use crate::mem::{Access, PAGE, Target};

impl Hart {
    /// Reads RAM from `va` on; how many bytes there are before the first that cannot be read.
    pub fn peek(&mut self, va: u64, bytes: &mut [u8]) -> usize {
        self.by_pages(va, bytes.len(), Access::Load, |hart, offset, done, len| {
            bytes[done..done + len].copy_from_slice(&hart.ram.bytes()[offset..offset + len]);
        })
    }

    /// Writes RAM from `va` on, code included; how many bytes there are before the first that cannot be
    /// written.
    pub fn poke(&mut self, va: u64, bytes: &[u8]) -> usize {
        let done = self.by_pages(va, bytes.len(), Access::Store, |hart, offset, done, len| {
            hart.write_memory(offset, &bytes[done..done + len]);
        });
        self.flush_tlb();
        done
    }

    /// Ends what [`Hart::start_log`] began.
    pub fn stop_log(&mut self) {
        self.log = None;
        self.flush_tlb();
    }

    fn by_pages(
        &mut self,
        va: u64,
        len: usize,
        access: Access,
        mut each: impl FnMut(&mut Hart, usize, usize, usize),
    ) -> usize {
        let mut done = 0;
        while done < len {
            let Some(at) = va.checked_add(done as u64) else { break };
            let piece = (len - done).min((PAGE - at % PAGE) as usize);
            let Ok(Target::Ram(offset)) = self.translate(at, access) else { break };
            if offset.checked_add(piece).is_none_or(|end| end > self.ram.len()) {
                break;
            }
            each(self, offset, done, piece);
            done += piece;
        }
        done
    }
}
