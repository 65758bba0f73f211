//! Sets of elements.

use crate::hart::Hart;
use rvv_isa::{Addressing, Eew, Inst, Op};

/// A set of elements of a vector, by their numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Elements {
    words: Vec<u64>,
}

impl Elements {
    /// Whether an element is in it.
    #[must_use]
    pub fn contains(&self, i: usize) -> bool {
        self.words.get(i / 64).is_some_and(|word| word >> (i % 64) & 1 != 0)
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.words.iter().map(|word| u64::from(word.count_ones())).sum()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = usize> {
        let bits = |(n, &word): (usize, &u64)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = rest.trailing_zeros() as usize;
                rest &= rest.wrapping_sub(1);
                (bit < 64).then_some(64 * n + bit)
            })
        };
        self.words.iter().enumerate().flat_map(bits)
    }

    /// Becomes the active elements of an instruction that is about to execute.
    pub(super) fn set(&mut self, hart: &Hart, inst: &Inst) {
        let v = &hart.v;
        let shape = inst.op.shape();
        let end = match (shape.memory.map(|m| m.addressing), shape.vd) {
            (Some(Addressing::WholeRegisters), _) => {
                let registers = usize::from(inst.nf) + 1;
                registers * v.vlenb / shape.memory.map_or(1, |m| m.eew.bytes() as usize)
            }
            (Some(Addressing::Mask), _) => (v.vl as usize).div_ceil(8),
            // Whole registers move by elements of SEW (norm:vmv-nr_v_op).
            (None, Eew::Registers(n)) => usize::from(n) * v.vlenb / v.vtype.sew.bytes() as usize,
            _ => match inst.op {
                // They look at element 0, whatever vl is, or write it unless vl is 0.
                Op::VmvXS | Op::VfmvFS => 1,
                Op::VmvSX | Op::VfmvSF => (v.vl as usize).min(1),
                _ => v.vl as usize,
            },
        };
        let start = match inst.op {
            Op::VmvXS | Op::VfmvFS => 0,
            _ => (v.vstart as usize).min(end),
        };
        self.words.clear();
        self.words.resize(end.div_ceil(64), u64::MAX);
        if let Some(last) = self.words.last_mut()
            && !end.is_multiple_of(64)
        {
            *last = u64::MAX >> (64 - end % 64);
        }
        for i in 0..start {
            self.words[i / 64] &= !(1 << (i % 64));
        }
        if !inst.vm && !shape.v0_is_operand {
            for (word, bytes) in self.words.iter_mut().zip(v.register(0).chunks(8)) {
                let mut le = [0; 8];
                le[..bytes.len()].copy_from_slice(bytes);
                *word &= u64::from_le_bytes(le);
            }
        }
    }
}
