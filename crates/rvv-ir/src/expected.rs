//! What a program must print: bytes, and which of their bits are defined.

use crate::{Buffer, Program};
use rvv_intrinsics::Elem;
use std::collections::BTreeMap;

/// The contents of one buffer at the end of a program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Contents {
    /// The bytes, in memory order.
    pub bytes: Vec<u8>,
    /// A set bit means that the same bit of `bytes` is defined; any other may be anything.
    pub defined: Vec<u8>,
    /// Elements that may have one of several values, by their numbers: these, in ascending order. Bits in
    /// which they differ are not `defined`. A NaN stands for any NaN.
    pub either: BTreeMap<usize, Vec<u64>>,
}

/// Whether bits of a type are a NaN.
fn is_nan(elem: Elem, bits: u64) -> bool {
    let fraction = match elem {
        Elem::F16 => 10,
        Elem::Bf16 => 7,
        Elem::F32 => 23,
        Elem::F64 => 52,
        _ => return false,
    };
    let magnitude = bits & !(1 << (elem.bits() - 1));
    let infinity = (u64::MAX >> (65 - elem.bits())) >> fraction << fraction;
    magnitude > infinity
}

impl Contents {
    /// The first element that differs in a defined bit from what was printed.
    pub fn first_difference(&self, buffer: &Buffer, printed: &[u8]) -> Option<usize> {
        let size = buffer.elem.bytes() as usize;
        let differs = |i: usize| (self.bytes[i] ^ printed[i]) & self.defined[i] != 0;
        let first = (0..self.bytes.len()).find(|&i| i >= printed.len() || differs(i)).map(|i| i / size);
        // An element that may have several values has none of them.
        let none = self.either.keys().copied().take_while(|&at| first.is_none_or(|first| at < first));
        let none = none.into_iter().find(|&at| {
            let range = at.saturating_mul(size)..at.saturating_add(1).saturating_mul(size);
            printed.get(range).is_none_or(|bytes| self.is_wrong(buffer, at, bytes))
        });
        none.or(first)
    }

    /// Whether these bytes, of element `at`, are none that it may have.
    pub fn is_wrong(&self, buffer: &Buffer, at: usize, bytes: &[u8]) -> bool {
        let from = at * buffer.elem.bytes() as usize;
        let expected = self.bytes[from..].iter().zip(&self.defined[from..]);
        if bytes.iter().zip(expected).any(|(is, (byte, defined))| (is ^ byte) & defined != 0) {
            return true;
        }
        let Some(values) = self.either.get(&at) else { return false };
        let is = bytes.iter().rev().fold(0, |bits, byte| bits << 8 | u64::from(*byte));
        let nan = is_nan(buffer.elem, is);
        !values.iter().any(|&v| v == is || nan && is_nan(buffer.elem, v))
    }

    /// Element `at`, of a buffer of this type, may have any of these values and no other. What it is by
    /// `bytes` becomes the first of them, where all agree.
    pub fn set_either(&mut self, elem: Elem, at: usize, mut values: Vec<u64>) {
        values.sort_unstable();
        values.dedup();
        let Some(&first) = values.first() else { return };
        let nan = |v: &u64| is_nan(elem, *v);
        let differ = values.iter().fold(0, |all, v| all | (v ^ first));
        // Nothing but the exponent of a NaN is defined, and it need not be one.
        let defined = if values.iter().any(nan) { 0 } else { !differ };
        let size = elem.bytes() as usize;
        for (i, at) in (at * size..(at + 1) * size).enumerate() {
            self.defined[at] = (defined >> (8 * i)) as u8;
            self.bytes[at] = (first >> (8 * i)) as u8 & self.defined[at];
        }
        self.either.insert(at, values);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferKind, data::Init};

    #[test]
    fn an_element_with_several_values_must_have_one_of_them() {
        let buffer = Buffer {
            name: "out0".to_string(),
            elem: Elem::F32,
            truths: false,
            len: 3,
            dims: Vec::new(),
            kind: BufferKind::Out,
            init: Init::Zero,
        };
        let mut contents = Contents { bytes: vec![0; 12], defined: vec![0xff; 12], either: BTreeMap::new() };
        let (a, b, nan) = (0x3f80_0000u32, 0x3f80_0003u32, 0x7fc0_0000u32);
        contents.set_either(Elem::F32, 1, vec![a.into(), b.into()]);
        contents.set_either(Elem::F32, 2, vec![nan.into(), a.into()]);
        let judge = |x: u32, y: u32, z: u32| {
            let printed: Vec<u8> = [x, y, z].iter().flat_map(|v| v.to_le_bytes()).collect();
            contents.first_difference(&buffer, &printed)
        };
        for y in [a, b] {
            for z in [a, nan, 0xff80_0001] {
                assert_eq!(judge(0, y, z), None, "{y:x} {z:x}");
            }
        }
        // Between the two, a bit that both have, and neither a NaN nor 1.
        assert_eq!(judge(0, a + 1, a), Some(1));
        assert_eq!(judge(0, 0, a), Some(1));
        assert_eq!(judge(0, a, b), Some(2));
        assert_eq!(judge(7, a + 1, b), Some(0));
        assert_eq!(contents.first_difference(&buffer, &[0; 4]), Some(1));
    }
}
