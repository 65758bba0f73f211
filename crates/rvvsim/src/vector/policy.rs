//! What becomes of elements that get no result: inactive ones and the tail (manual, section "Vector Tail
//! Agnostic and Vector Mask Agnostic").
//!
//! `unsafe` is the call of a function that was compiled for AVX2, after the host was found to have it; its twin is the
//! same function compiled without.

use super::VectorState;
use super::body::low_bits;
use super::element::Element;
use super::lanes::{copy_chosen, copy_chosen_any};
use crate::config::Agnostic;

/// What an instruction does to a set of elements that get no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// They keep their values.
    Undisturbed,
    /// All bits become ones.
    Ones,
    /// As `Ones`, but only in registers that hold an element of the body.
    OnesToRegister,
    /// Each keeps its value or becomes ones, by coin.
    Random,
}

impl Policy {
    /// The policy for a set that is agnostic or not, as configured.
    #[must_use]
    pub fn new(agnostic: bool, choice: Agnostic) -> Policy {
        match choice {
            _ if !agnostic => Policy::Undisturbed,
            Agnostic::Undisturbed => Policy::Undisturbed,
            Agnostic::Ones => Policy::Ones,
            Agnostic::OnesToRegister => Policy::OnesToRegister,
            Agnostic::Random(_) => Policy::Random,
        }
    }
}

/// A stream of coin tosses: the same for the same seed.
#[derive(Clone, Debug)]
pub struct Coins {
    state: u64,
    bits: u64,
    left: u32,
}

impl Coins {
    /// The stream of the policy's seed; nobody looks at it if the policy is not random.
    #[must_use]
    pub fn new(choice: Agnostic) -> Coins {
        let state = if let Agnostic::Random(seed) = choice { seed } else { 0 };
        Coins { state, bits: 0, left: 0 }
    }

    /// The next `n` tosses, 64 at most: those of elements in their order, however many are asked for at a time.
    #[inline(always)]
    pub fn toss(&mut self, n: usize) -> u64 {
        let mut tosses = self.bits;
        let mut taken = n as u32;
        if self.left < taken {
            taken -= self.left;
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            self.bits = mix(self.state);
            tosses |= self.bits << self.left;
            self.left = 64;
        }
        self.left -= taken;
        self.bits = self.bits.checked_shr(taken).unwrap_or(0);
        tosses & low_bits(n)
    }
}

/// A good hash of 64 bits (SplitMix64's).
#[must_use]
pub fn mix(mut z: u64) -> u64 {
    z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ z >> 31
}

impl VectorState {
    /// Treats the inactive elements `from..to` of the group at `at`, of `size` bytes each, under `policy`.
    pub(super) fn treat_inactive(
        &mut self,
        policy: Policy,
        at: usize,
        size: usize,
        elements: std::ops::Range<usize>,
    ) {
        if policy == Policy::Undisturbed {
            return;
        }
        let mut first = elements.start;
        while first < elements.end {
            let n = (64 - first % 64).min(elements.end - first);
            let mask = u64::read(&self.regs[first / 64 * 8..]) >> (first % 64);
            // All of the body is in registers that the body touches, so both kinds of ones are the same.
            let mut chosen = !mask & low_bits(n);
            if policy == Policy::Random {
                chosen &= self.mask_coins.toss(n);
            }
            if chosen != 0 {
                let group = &mut self.regs[at + first * size..][..n * size];
                match size {
                    1 => copy_chosen::<u8>(group, &ONES, chosen),
                    2 => copy_chosen::<u16>(group, &ONES, chosen),
                    4 => copy_chosen::<u32>(group, &ONES, chosen),
                    _ => copy_chosen::<u64>(group, &ONES, chosen),
                }
            }
            first += n;
        }
    }

    /// Treats the tail of a group under `policy`: the elements from `vl` to the end of its last register.
    pub(super) fn treat_tail(&mut self, policy: Policy, at: usize, size: usize, group: usize, vl: usize) {
        let end = match policy {
            Policy::Undisturbed => return,
            Policy::OnesToRegister => (vl * size).next_multiple_of(self.vlenb).min(group),
            Policy::Ones | Policy::Random => group,
        };
        let tail = vl * size..end;
        if tail.is_empty() {
            return;
        }
        let tail = &mut self.regs[at..][tail];
        if policy == Policy::Random {
            let coins = &mut self.tail_coins;
            match size {
                1 => toss_for_ones::<u8>(tail, coins),
                2 => toss_for_ones::<u16>(tail, coins),
                4 => toss_for_ones::<u32>(tail, coins),
                _ => toss_for_ones::<u64>(tail, coins),
            }
        } else {
            tail.fill(0xff);
        }
    }

    /// Treats the tail of a mask register: the bits from `vl` to VLEN, which are always agnostic.
    pub(super) fn treat_mask_tail(&mut self, policy: Policy, at: usize, vl: usize) {
        if policy == Policy::Undisturbed {
            return;
        }
        let bits = self.vlenb * 8;
        if policy == Policy::Random {
            let mut first = vl;
            while first < bits {
                if first.is_multiple_of(8 * LINE)
                    && self.regs[at + first / 8..][..(bits - first) / 8]
                        .first_chunk()
                        .is_some_and(is_ones::<LINE>)
                {
                    first += 8 * LINE;
                    continue;
                }
                let n = (64 - first % 64).min(bits - first);
                // (There is something after the last register, and it keeps its value.)
                let word = &mut self.regs[at + first / 64 * 8..];
                (u64::read(word) | self.tail_coins.toss(n) << (first % 64)).write(word);
                first += n;
            }
        } else if vl < bits {
            let register = &mut self.regs[at..][..bits / 8];
            register[vl / 8] |= 0xff << (vl % 8);
            register[vl / 8 + 1..].fill(0xff);
        }
    }
}

/// Ones for 64 elements.
static ONES: [u8; 512] = [0xff; 512];

/// Bytes that are looked at together.
const LINE: usize = 64;

/// Whether coins would change nothing: what is ones already stays so whatever they say. As tails are treated by one
/// instruction after the other, most of them soon are.
#[inline(always)]
fn is_ones<const N: usize>(bytes: &[u8; N]) -> bool {
    // Written so that it becomes a few of the host's vector instructions.
    let mut all = [!0; 8];
    for line in bytes.chunks_exact(LINE) {
        for (all, word) in all.iter_mut().zip(line.chunks_exact(8)) {
            *all &= u64::read(word);
        }
    }
    all == [!0; 8]
}

/// Makes ones of the elements whose coin says so.
fn toss_for_ones<T: Element>(elements: &mut [u8], coins: &mut Coins) {
    #[inline(always)]
    fn any<T: Element>(elements: &mut [u8], coins: &mut Coins) {
        for lines in elements.chunks_mut(8 * LINE) {
            if lines.first_chunk().is_some_and(is_ones::<{ 8 * LINE }>) {
                continue;
            }
            for line in lines.chunks_mut(LINE) {
                if !line.first_chunk().is_some_and(is_ones::<LINE>) {
                    let tosses = coins.toss(line.len() / T::SIZE);
                    copy_chosen_any::<T>(line, &ONES, tosses);
                }
            }
        }
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn avx2<T: Element>(elements: &mut [u8], coins: &mut Coins) {
            any::<T>(elements, coins);
        }
        // SAFETY: the host has it.
        return unsafe { avx2::<T>(elements, coins) };
    }
    any::<T>(elements, coins);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coins fall in order, however many at a time, and each by itself.
    #[test]
    fn tosses_are_one_stream_of_fair_coins() {
        let one_by_one = |n: usize| {
            let mut coins = Coins::new(Agnostic::Random(7));
            (0..n).map(|_| coins.toss(1) != 0).collect::<Vec<bool>>()
        };
        let expected = one_by_one(100_000);
        let mut coins = Coins::new(Agnostic::Random(7));
        let mut got = Vec::new();
        let mut n = 0;
        while got.len() < 90_000 {
            n = (n * 7 + 13) % 65;
            let bits = coins.toss(n);
            assert_eq!(bits & !low_bits(n), 0);
            got.extend((0..n).map(|i| bits >> i & 1 != 0));
        }
        assert_eq!(got, expected[..got.len()]);
        let heads = |coins: &mut dyn Iterator<Item = bool>| coins.filter(|&head| head).count();
        assert!((49_000..51_000).contains(&heads(&mut expected.iter().copied())));
        // Neighbours, and neighbours in memory 64 elements apart, have nothing to do with each other.
        for apart in [1, 2, 8, 64, 128] {
            let pairs = expected.iter().zip(&expected[apart..]);
            let alike = heads(&mut pairs.map(|(a, b)| a == b));
            assert!((49_000..51_000).contains(&alike), "{alike} {apart} apart");
        }
    }

    /// An element becomes ones or keeps its value, and both happen everywhere.
    #[test]
    fn each_agnostic_element_is_kept_or_all_ones() {
        let config = crate::Config {
            vlen: 4096,
            tail: Agnostic::Random(3),
            mask: Agnostic::Random(4),
            ..crate::Config::default()
        };
        for size in [1_usize, 2, 4, 8] {
            let elements = 4 * 512 / size;
            let (mut kept, mut ones) = (vec![0; elements], vec![0; elements]);
            let mut v = VectorState::new(&config);
            for round in 0..64 {
                let at = 8 * v.vlenb;
                v.regs[at..][..4 * 512].fill(0x5a);
                let (vl, vstart) = (elements / 3 + round % 7, round % 5);
                let mask = 0x0123_4567_89ab_cdef_u64.rotate_left(round as u32);
                for word in v.regs[..512].chunks_exact_mut(8) {
                    mask.write(word);
                }
                v.treat_inactive(Policy::Random, at, size, vstart..vl);
                v.treat_tail(Policy::Random, at, size, 4 * 512, vl);
                for i in 0..elements {
                    let element = &v.regs[at + i * size..][..size];
                    let is_agnostic = i >= vl || i >= vstart && mask >> (i % 64) & 1 == 0;
                    assert!(element.iter().all(|&byte| byte == element[0]), "{i} of {size} bytes is torn");
                    match element[0] {
                        0x5a => kept[i] += usize::from(is_agnostic),
                        0xff if is_agnostic => ones[i] += 1,
                        other => panic!("element {i} is {other:#x}"),
                    }
                }
                assert!(v.regs[at + 4 * 512..32 * 512].iter().all(|&byte| byte == 0), "past the group");
            }
            assert!((5..elements).all(|i| kept[i] > 2 && ones[i] > 2), "{size} bytes");
        }
    }
}
