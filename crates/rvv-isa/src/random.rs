//! Numbers that look random and are the same for ever, on any machine: SplitMix64 (Steele, Lea, Flood 2014).
//! Programs, corpora and recordings follow from them, so no crate may change them under us.

/// The next 64 bits of the stream of this state.
#[inline]
pub fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mix(*state)
}

/// A good hash of 64 bits.
#[must_use]
#[inline]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_numbers_are_those_of_the_reference() {
        // From the authors' splitmix64.c, seeds 0 and 1234567.
        assert_eq!(super::next(&mut 0), 0xe220_a839_7b1d_cdaf);
        let mut state = 1_234_567;
        let first: Vec<u64> = (0..2).map(|_| super::next(&mut state)).collect();
        assert_eq!(first, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973]);
    }
}
