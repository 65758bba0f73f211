//! Bytes of which each bit is defined or not: the contents of vectors, masks and memory.

/// Bytes, and which of their bits are defined.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Bits {
    /// The bytes. An undefined bit is 0 here, so that equal contents compare equal.
    pub bytes: Vec<u8>,
    /// A set bit means that the same bit of `bytes` is defined.
    pub defined: Vec<u8>,
}

impl Bits {
    /// Nothing of it is defined.
    pub fn undefined(len: usize) -> Bits {
        Bits { bytes: vec![0; len], defined: vec![0; len] }
    }

    /// All of it is.
    pub fn defined(bytes: Vec<u8>) -> Bits {
        let defined = vec![0xff; bytes.len()];
        Bits { bytes, defined }
    }

    /// Bytes in all.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The element of `size` bytes at byte `at`, if all its bits are defined.
    #[inline]
    pub fn get(&self, at: usize, size: usize) -> Option<u64> {
        let (mut value, mut defined) = ([0; 8], [0xff; 8]);
        value[..size].copy_from_slice(&self.bytes[at..at + size]);
        defined[..size].copy_from_slice(&self.defined[at..at + size]);
        (defined == [0xff; 8]).then(|| u64::from_le_bytes(value))
    }

    /// Writes an element: its value, or that it is undefined.
    #[inline]
    pub fn set(&mut self, at: usize, size: usize, value: Option<u64>) {
        self.bytes[at..at + size].copy_from_slice(&value.unwrap_or(0).to_le_bytes()[..size]);
        self.defined[at..at + size].fill(if value.is_some() { 0xff } else { 0 });
    }

    /// Copies bytes with what is defined of them.
    #[inline]
    pub fn copy(&mut self, at: usize, from: &Bits, from_at: usize, len: usize) {
        self.bytes[at..at + len].copy_from_slice(&from.bytes[from_at..from_at + len]);
        self.defined[at..at + len].copy_from_slice(&from.defined[from_at..from_at + len]);
    }

    /// Inverts the defined bits of some bytes.
    pub fn invert(&mut self, at: usize, len: usize) {
        for (byte, defined) in self.bytes[at..at + len].iter_mut().zip(&self.defined[at..at + len]) {
            *byte ^= defined;
        }
    }

    /// Bit `i`, if it is defined.
    #[inline]
    pub fn bit(&self, i: usize) -> Option<bool> {
        let mask = 1 << (i % 8);
        (self.defined[i / 8] & mask != 0).then(|| self.bytes[i / 8] & mask != 0)
    }

    /// Writes bit `i`: its value, or that it is undefined.
    #[inline]
    pub fn set_bit(&mut self, i: usize, value: Option<bool>) {
        let mask = 1 << (i % 8);
        self.bytes[i / 8] &= !mask;
        self.defined[i / 8] &= !mask;
        if let Some(value) = value {
            self.defined[i / 8] |= mask;
            if value {
                self.bytes[i / 8] |= mask;
            }
        }
    }
}
