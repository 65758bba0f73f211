//! Restartable sequences (`rseq`): a thread says where it is in a sequence that must not be interrupted, and
//! is sent to its abort handler if it was, by another thread's turn or by a signal.

use super::{Process, Served, user};
use crate::Hart;
use rustix::io::Errno;

/// What a thread has registered.
#[derive(Clone, Copy, Default)]
pub struct Rseq {
    /// Its `struct rseq`; 0 for none.
    at: u64,
    len: u64,
    /// What stands before each abort handler.
    signature: u32,
}

const CPU_ID_START: u64 = 0;
const CPU_ID: u64 = 4;
const RSEQ_CS: u64 = 8;
const NODE_ID: u64 = 20;
const MM_CID: u64 = 24;
/// Bytes of the structure as Linux 6.3 has it; the first version had 20, padded to 32.
const LEAST: u64 = 32;
const UNINITIALIZED: u32 = u32::MAX;

impl Process {
    /// `rseq(area, len, flags, signature)`.
    pub(super) fn sys_rseq(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        const UNREGISTER: u64 = 1;
        let [at, len, flags, signature, ..] = args;
        let (len, signature) = (len & 0xffff_ffff, signature as u32);
        let mine = self.me().rseq;
        if flags & UNREGISTER != 0 {
            if flags != UNREGISTER || mine.at == 0 || (mine.at, mine.len) != (at, len) {
                return Err(Errno::INVAL.into());
            }
            if mine.signature != signature {
                return Err(Errno::PERM.into());
            }
            user::write_u32(hart, at + CPU_ID_START, 0)?;
            user::write_u32(hart, at + CPU_ID, UNINITIALIZED)?;
            self.me_mut().rseq = Rseq::default();
            return Ok(0);
        }
        if flags != 0 {
            return Err(Errno::INVAL.into());
        }
        if mine.at != 0 {
            return Err(match (mine.at, mine.len) == (at, len) {
                false => Errno::INVAL,
                true if mine.signature != signature => Errno::PERM,
                true => Errno::BUSY,
            }
            .into());
        }
        if at == 0 || !at.is_multiple_of(32) || !(LEAST..=4096).contains(&len) {
            return Err(Errno::INVAL.into());
        }
        let cpu = self.processor();
        for (offset, value) in [(CPU_ID_START, cpu), (CPU_ID, cpu), (NODE_ID, 0), (MM_CID, cpu)] {
            user::write_u32(hart, at.checked_add(offset).ok_or(Errno::FAULT)?, value)?;
        }
        user::write_u64(hart, at + RSEQ_CS, 0)?;
        self.me_mut().rseq = Rseq { at, len, signature };
        Ok(0)
    }

    /// The thread on the hart was interrupted: if it was in a sequence, it goes on at the abort handler.
    ///
    /// # Errors
    /// If what it says about the sequence makes no sense; Linux then sends `SIGSEGV`.
    pub(super) fn abort_sequence(&mut self, hart: &mut Hart) -> Result<(), Errno> {
        let Rseq { at, signature, .. } = self.me().rseq;
        if at == 0 {
            return Ok(());
        }
        let sequence = user::read_u64(hart, at + RSEQ_CS)?;
        if sequence == 0 {
            return Ok(());
        }
        let word = |hart: &mut Hart, i: u64| user::read_u64(hart, sequence.wrapping_add(8 * i));
        // struct rseq_cs: version and flags, start, length, abort handler.
        let (head, start, len, abort) = (word(hart, 0)?, word(hart, 1)?, word(hart, 2)?, word(hart, 3)?);
        if head != 0 || abort.wrapping_sub(start) < len {
            return Err(Errno::INVAL);
        }
        user::write_u64(hart, at + RSEQ_CS, 0)?;
        if hart.pc.wrapping_sub(start) >= len {
            return Ok(());
        }
        if user::read_u32(hart, abort.wrapping_sub(4))? != signature {
            return Err(Errno::INVAL);
        }
        hart.pc = abort;
        Ok(())
    }
}
