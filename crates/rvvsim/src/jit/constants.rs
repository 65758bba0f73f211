//! Vectors that host code uses as they are. They are beside the rest of what it uses, in the hart, so that
//! one register leads to all of it.

use super::registers::field;
use crate::Hart;
use crate::hart::HostCode;
use std::mem::offset_of;

/// A bit for each element of a byte of a mask, by the width of the elements: those of 64 bits need two
/// registers.
pub const BITS_8: usize = 0;
pub const BITS_16: usize = 32;
pub const BITS_32: usize = 64;
pub const BITS_64: usize = 96;
/// Which byte of a mask has the bit of an element of 8 bits.
pub const BYTES_OF_BITS: usize = 160;
/// Numbers from 0, by the width of the elements.
pub const NUMBERS: [usize; 4] = [192, 224, 256, 288];
/// The sign bits, likewise.
pub const SIGNS: [usize; 4] = [320, 352, 384, 416];
/// All bits but the sign, of 32 and of 64 bits.
pub const LARGEST_32: usize = 448;
pub const LARGEST_64: usize = 480;
/// Every second bit of a word.
pub const ODD_BITS: usize = 512;

/// Bytes of all of them. A little more may be read past the end of one.
const SIZE: usize = 576;

/// The distance of a constant from `rbx`.
pub const fn constant(at: usize) -> i32 {
    field(offset_of!(Hart, host_code) + offset_of!(HostCode, constants) + at)
}

/// All constants.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub struct Constants([u8; SIZE]);

const fn put(bytes: &mut [u8; SIZE], at: usize, index: usize, size: usize, value: u64) {
    let mut i = 0;
    while i < size {
        bytes[at + index * size + i] = (value >> (8 * i)) as u8;
        i += 1;
    }
}

const fn make() -> Constants {
    let mut b = [0; SIZE];
    let mut i = 0;
    while i < 32 {
        put(&mut b, BITS_8, i, 1, 1 << (i % 8));
        put(&mut b, BYTES_OF_BITS, i, 1, i as u64 / 8);
        i += 1;
    }
    i = 0;
    while i < 16 {
        put(&mut b, BITS_16, i, 2, 1 << i);
        i += 1;
    }
    i = 0;
    while i < 8 {
        put(&mut b, BITS_32, i, 4, 1 << i);
        put(&mut b, BITS_64, i, 8, 1 << i);
        i += 1;
    }
    let mut sew = 0;
    while sew < 4 {
        let size = 1 << sew;
        i = 0;
        while i < 32 / size {
            put(&mut b, NUMBERS[sew], i, size, i as u64);
            put(&mut b, SIGNS[sew], i, size, 1 << (8 * size - 1));
            i += 1;
        }
        sew += 1;
    }
    i = 0;
    while i < 8 {
        put(&mut b, LARGEST_32, i, 4, i32::MAX as u64);
        i += 1;
    }
    i = 0;
    while i < 4 {
        put(&mut b, LARGEST_64, i, 8, i64::MAX as u64);
        put(&mut b, ODD_BITS, i, 8, 0xaaaa_aaaa_aaaa_aaaa);
        i += 1;
    }
    Constants(b)
}

static ALL: Constants = make();

impl Default for Constants {
    fn default() -> Constants {
        ALL
    }
}
