//! Counting instructions by class.

use rvv_isa::{Class, Inst};

/// Instructions retired, by class.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counts([u64; Class::ALL.len()]);

impl Counts {
    /// Adds each of `insts`, `times` over.
    pub(super) fn add(&mut self, insts: &[(u16, Inst)], times: u64) {
        if times != 0 {
            for (_, inst) in insts {
                self.0[inst.op.class() as usize] += times;
            }
        }
    }

    /// The classes that occurred, with their counts.
    pub fn iter(&self) -> impl Iterator<Item = (Class, u64)> {
        Class::ALL.into_iter().zip(self.0).filter(|(_, n)| *n != 0)
    }
}
