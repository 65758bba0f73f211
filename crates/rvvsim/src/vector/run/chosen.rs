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
    let blocks = to.chunks_mut(32).zip(from.chunks(32)).enumerate();
    for (i, (to, from)) in blocks {
        let bits = bits >> (i * 32 / T::SIZE);
        match (to.len(), T::SIZE) {
            (32, 1) => blend::<T, 32>(to, from, bits),
            (32, 2) => blend::<T, 16>(to, from, bits),
            (32, 4) => blend::<T, 8>(to, from, bits),
            (32, _) => blend::<T, 4>(to, from, bits),
            _ => {
                for (i, (to, from)) in to.chunks_mut(T::SIZE).zip(from.chunks(T::SIZE)).enumerate() {
                    if bits >> i & 1 != 0 {
                        T::read(from).write(to);
                    }
                }
            }
        }
    }
}
