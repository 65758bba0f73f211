//! What a program must print: bytes, and which of their bits are defined.

use crate::{Buffer, Program};

/// The contents of one buffer at the end of a program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Contents {
    /// The bytes, in memory order.
    pub bytes: Vec<u8>,
    /// A set bit means that the same bit of `bytes` is defined; any other may be anything.
    pub defined: Vec<u8>,
}

impl Contents {
    /// The first element that differs in a defined bit from what was printed.
    pub fn first_difference(&self, buffer: &Buffer, printed: &[u8]) -> Option<usize> {
        let size = buffer.elem.bytes() as usize;
        let differs = |i: usize| (self.bytes[i] ^ printed[i]) & self.defined[i] != 0;
        (0..self.bytes.len()).find(|&i| i >= printed.len() || differs(i)).map(|i| i / size)
    }
}

/// How an implementation chooses vl where VLMAX < AVL < 2·VLMAX (manual, "Constraints on Setting vl").
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum VlChoice {
    /// VLMAX.
    #[default]
    Max,
    /// ⌈AVL/2⌉.
    Half,
}

impl VlChoice {
    /// All of them.
    pub const ALL: [VlChoice; 2] = [VlChoice::Max, VlChoice::Half];

    /// What vsetvl returns.
    pub fn vl(self, avl: u64, vlmax: u64) -> u64 {
        match self {
            _ if avl <= vlmax => avl,
            VlChoice::Half if avl < 2 * vlmax => avl.div_ceil(2),
            _ => vlmax,
        }
    }

    /// As files and options spell it.
    pub fn name(self) -> &'static str {
        match self {
            VlChoice::Max => "max",
            VlChoice::Half => "half",
        }
    }

    /// From [`VlChoice::name`].
    pub fn from_name(name: &str) -> Option<VlChoice> {
        VlChoice::ALL.into_iter().find(|c| c.name() == name)
    }
}

/// What a program must print, at one VLEN.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Expected {
    /// The VLEN it was computed for.
    pub vlen: u32,
    /// The choice of vl it was computed for.
    pub vl: VlChoice,
    /// One for each `out` buffer of the program, in order.
    pub outputs: Vec<Contents>,
}

/// A printed value that is not the expected one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The buffer, by its place in [`Program::buffers`].
    pub buffer: usize,
    /// The element, or the buffer's length if the output is longer than it should be.
    pub element: usize,
}

impl Expected {
    /// Bytes a run must print.
    pub fn len(&self) -> usize {
        self.outputs.iter().map(|o| o.bytes.len()).sum()
    }

    /// Nothing is printed.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Judges the bytes that a run printed: the first element that is wrong, missing, or too many.
    pub fn judge(&self, program: &Program, printed: &[u8]) -> Option<Mismatch> {
        let mut rest = printed;
        let mut last = 0;
        for ((number, buffer), contents) in program.outputs().zip(&self.outputs) {
            let (these, after) = rest.split_at(contents.bytes.len().min(rest.len()));
            if let Some(element) = contents.first_difference(buffer, these) {
                return Some(Mismatch { buffer: number, element });
            }
            (rest, last) = (after, number);
        }
        let too_many = !rest.is_empty();
        too_many.then(|| Mismatch { buffer: last, element: program.buffers[last].len })
    }
}
