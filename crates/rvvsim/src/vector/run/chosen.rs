//! Copies of the elements that a mask chooses.
//!
//! `unsafe` is the call of a function that was compiled for AVX2, after the host was found to have it; its
//! twin is the same function compiled without.

use crate::vector::run::element::Element;
use crate::vector::run::elements::{read_elements, select, write_elements};

/// Copies the elements whose bits are set, of up to 64 of `size` bytes.
#[inline(always)]
pub fn copy(to: &mut [u8], from: &[u8], size: usize, bits: u64) {
    match size {
        1 => copy_chosen::<u8>(to, from, bits),
        2 => copy_chosen::<u16>(to, from, bits),
        4 => copy_chosen::<u32>(to, from, bits),
        _ => copy_chosen::<u64>(to, from, bits),
    }
}

/// Copies the elements whose bits are set, of up to 64.
#[inline(always)]
pub fn copy_chosen<T: Element>(to: &mut [u8], from: &[u8], bits: u64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn avx2<T: Element>(to: &mut [u8], from: &[u8], bits: u64) {
            copy_chosen_any::<T>(to, from, bits);
        }
        // SAFETY: the host has it.
        return unsafe { avx2::<T>(to, from, bits) };
    }
    copy_chosen_any::<T>(to, from, bits);
}

/// The same, compiled for whatever its caller is.
#[inline(always)]
pub fn copy_chosen_any<T: Element>(to: &mut [u8], from: &[u8], bits: u64) {
    #[inline(always)]
    fn blend<T: Element, const N: usize>(to: &mut [u8], from: &[u8], bits: u64) {
        let merged = select(bits, &read_elements::<T, N>(from), &read_elements::<T, N>(to));
        write_elements(to, &merged);
    }
    let mut at = 0;
    while to.len() - at >= 32 {
        let (to, from, bits) = (&mut to[at..at + 32], &from[at..at + 32], bits >> (at / T::SIZE));
        match T::SIZE {
            1 => blend::<T, 32>(to, from, bits),
            2 => blend::<T, 16>(to, from, bits),
            4 => blend::<T, 8>(to, from, bits),
            _ => blend::<T, 4>(to, from, bits),
        }
        at += 32;
    }
    if to.len() - at >= 16 {
        let (to, from, bits) = (&mut to[at..at + 16], &from[at..at + 16], bits >> (at / T::SIZE));
        match T::SIZE {
            1 => blend::<T, 16>(to, from, bits),
            2 => blend::<T, 8>(to, from, bits),
            4 => blend::<T, 4>(to, from, bits),
            _ => blend::<T, 2>(to, from, bits),
        }
        at += 16;
    }
    while at < to.len() {
        let chosen = bits >> (at / T::SIZE) & 1 != 0;
        // Read and written whatever the bit is: branches on random masks are mispredicted.
        let (old, new) = (T::read(&to[at..]), T::read(&from[at..]));
        (if chosen { new } else { old }).write(&mut to[at..]);
        at += T::SIZE;
    }
}
