//! The bytes of the vector registers, where the host's vector instructions find them best.
//!
//! `unsafe` is the view of aligned blocks as the bytes they are made of.

use std::ops::{Deref, DerefMut};

/// A cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
#[expect(dead_code, reason = "seen as part of a slice only")]
struct Line([u8; 64]);

/// The 32 registers, one after the other, and after them some places that instructions use on the way. A
/// slice of bytes, which begins with a cache line.
#[derive(Clone)]
pub struct Registers {
    lines: Box<[Line]>,
    registers: usize,
    /// The bytes of all lines.
    bytes: usize,
}

impl Registers {
    /// Zeroes: so many bytes of registers, and as many more at least.
    pub(in crate::vector) fn new(registers: usize, more: usize) -> Registers {
        let lines = (registers + more).div_ceil(64);
        Registers { lines: vec![Line([0; 64]); lines].into(), registers, bytes: 64 * lines }
    }
}

/// Only the registers themselves count.
impl PartialEq for Registers {
    fn eq(&self, other: &Self) -> bool {
        self[..self.registers] == other[..other.registers]
    }
}

impl Deref for Registers {
    type Target = [u8];
    #[inline(always)]
    fn deref(&self) -> &[u8] {
        // SAFETY: a line is 64 bytes, with no padding, and `bytes` was counted when the lines were made.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), self.bytes) }
    }
}

impl DerefMut for Registers {
    #[inline(always)]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), self.bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::Registers;

    #[test]
    fn they_begin_with_a_cache_line_and_are_all_there() {
        let mut registers = Registers::new(900, 100);
        assert!(registers.len() >= 1000 && registers.iter().all(|&byte| byte == 0));
        assert_eq!(registers.as_ptr() as usize % 64, 0);
        registers[999] = 7;
        assert_eq!(registers.clone()[999], 7);
        assert!(registers == Registers::new(900, 100));
        registers[899] = 7;
        assert!(registers != Registers::new(900, 100));
    }
}
