//! Copies in pieces as large as the host's vector registers.

/// Copies `N` bytes, with `AVX2` by 32 at a time. Written as a copy of slices, several of these are made one
/// call of `memcpy`.
///
/// # Panics
/// If the slices have not as many.
///
/// # Safety
/// With `AVX2` the caller must have been compiled for it.
#[inline(always)]
pub(crate) unsafe fn copy<const AVX2: bool, const N: usize>(to: &mut [u8], from: &[u8]) {
    let to = to.first_chunk_mut::<N>().expect("as many");
    let from = from.first_chunk::<N>().expect("as many");
    #[cfg(target_arch = "x86_64")]
    if AVX2 && N.is_multiple_of(32) {
        use std::arch::x86_64::{__m256i, _mm256_loadu_si256, _mm256_storeu_si256};
        for i in 0..N / 32 {
            // SAFETY: there are 32 bytes at 32 * i of both. The caller has AVX2, and this is inlined into it.
            unsafe {
                let piece = _mm256_loadu_si256(from.as_ptr().cast::<__m256i>().add(i));
                _mm256_storeu_si256(to.as_mut_ptr().cast::<__m256i>().add(i), piece);
            }
        }
        return;
    }
    *to = *from;
}

#[cfg(test)]
mod tests {
    use super::copy;

    #[test]
    fn copies_are_copies() {
        fn check<const N: usize>() {
            let from: Vec<u8> = (0..N + 40).map(|i| (i * 7 + 3) as u8).collect();
            let copies = |to: &[u8]| to[..N] == from[..N] && to[N..].iter().all(|&byte| byte == 0xee);
            let mut to = vec![0xee; N + 40];
            // SAFETY: without AVX2 there is nothing to it.
            unsafe { copy::<false, N>(&mut to, &from) };
            assert!(copies(&to), "{N}");
            #[cfg(target_arch = "x86_64")]
            if std::arch::is_x86_feature_detected!("avx2") {
                #[target_feature(enable = "avx2")]
                fn avx2<const N: usize>(to: &mut [u8], from: &[u8]) {
                    // SAFETY: this is.
                    unsafe { copy::<true, N>(to, from) };
                }
                to.fill(0xee);
                // SAFETY: the host has it.
                unsafe { avx2::<N>(&mut to, &from) };
                assert!(copies(&to), "{N}");
            }
        }
        check::<16>();
        check::<32>();
        check::<64>();
        check::<128>();
    }
}
