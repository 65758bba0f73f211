//! The shadow of the registers of a thread.

use super::bits::Bits;
use super::heap::Pending;
use super::origin::Id;

/// The shadow of a file of 32 registers.
#[derive(Clone, Default)]
pub struct File {
    pub undefined: [u64; 32],
    pub origin: [Id; 32],
}

impl File {
    pub fn set(&mut self, r: u8, undefined: u64, origin: Id) {
        self.undefined[usize::from(r) % 32] = undefined;
        if undefined != 0 {
            self.origin[usize::from(r) % 32] = origin;
        }
    }
}

/// A call that has not returned.
#[derive(Clone, Copy)]
pub struct Frame {
    /// Where it returns to.
    pub back: u64,
    /// The stack pointer at the call.
    pub sp: u64,
}

/// A `vsetvli` with VLMAX < AVL < 2·VLMAX, for which machines choose `vl`.
#[derive(Clone, Copy)]
pub struct Chosen {
    /// The instruction.
    pub pc: u64,
    /// The least that `vl` may be (norm:vl_val_list).
    pub least: usize,
}

/// The shadow of a thread's registers.
#[derive(Clone)]
pub struct Registers {
    pub x: File,
    pub f: File,
    /// As the vector registers: a set bit is undefined.
    pub v: Vec<u8>,
    /// An origin for each eight bytes of them.
    pub v_origin: Vec<Id>,
    /// Why `vl` and `vtype` are not this function's.
    pub config_lost: Option<&'static str>,
    /// Why `vxrm` is not.
    pub vxrm_lost: Option<&'static str>,
    /// `vl` is the machine's choice, and not known to the program.
    pub vl_chosen: Option<Chosen>,
    /// AVL and VLMAX of the last `vsetvli` that told the program its `vl`. For the same two it is the same on
    /// any machine (norm:vl_val_list).
    pub told: [(u64, u64); 16],
    /// Calls that have not returned.
    pub frames: Vec<Frame>,
    /// The function of the allocator that is running.
    pub pending: Option<Pending>,
}

/// The rule about `vxrm` at the start and entry of a function.
pub const VXRM_AT_ENTRY: &str = "psABI: vxrm is not preserved across calls and is unspecified upon entry";

impl Registers {
    /// Those of a thread that has not run: no vector register was written.
    pub fn new(vlenb: usize, origin: Id) -> Registers {
        Registers {
            x: File::default(),
            f: File::default(),
            v: vec![0xff; 32 * vlenb],
            v_origin: vec![origin; (32 * vlenb).div_ceil(8)],
            config_lost: None,
            vxrm_lost: Some(VXRM_AT_ENTRY),
            vl_chosen: None,
            told: [(0, 0); 16],
            frames: Vec::new(),
            pending: None,
        }
    }

    /// All vector registers become undefined.
    pub fn lose_vectors(&mut self, origin: Id) {
        self.v.fill(0xff);
        self.v_origin.fill(origin);
    }

    /// The element of `size` bytes at byte `at` of the register file.
    #[inline]
    pub fn element(&self, values: &[u8], at: usize, size: usize) -> Bits {
        Bits::new(get(values, at, size), get(&self.v, at, size))
    }

    /// Bit `i` of the register that begins at byte `at`.
    #[inline]
    pub fn bit(&self, values: &[u8], at: usize, i: usize) -> Option<bool> {
        let mask = 1 << (i % 8);
        (self.v[at + i / 8] & mask == 0).then(|| values[at + i / 8] & mask != 0)
    }

    /// Whether so many bytes from `at` on are defined.
    #[inline]
    pub fn is_defined(&self, at: usize, len: usize) -> bool {
        let end = (at + len).min(self.v.len());
        all_zero(&self.v[at.min(end)..end])
    }
}

/// Whether all bytes are zero.
#[inline]
pub fn all_zero(bytes: &[u8]) -> bool {
    let (chunks, rest) = bytes.as_chunks::<8>();
    chunks.iter().fold(0, |any, c| any | u64::from_le_bytes(*c)) == 0 && rest.iter().all(|b| *b == 0)
}

/// A little-endian number of `size` bytes, 1 to 8; what is past the end is zero.
#[inline]
pub fn get(bytes: &[u8], at: usize, size: usize) -> u64 {
    let mut le = [0; 8];
    if let Some(from) = bytes.get(at..at + size) {
        le[..size].copy_from_slice(from);
    }
    u64::from_le_bytes(le)
}

/// Writes one.
#[inline]
pub fn set(bytes: &mut [u8], at: usize, size: usize, value: u64) {
    if let Some(to) = bytes.get_mut(at..at + size) {
        to.copy_from_slice(&value.to_le_bytes()[..size]);
    }
}
