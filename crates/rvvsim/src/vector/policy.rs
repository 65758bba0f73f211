//! What becomes of elements that get no result: inactive ones and the tail (manual, section "Vector Tail
//! Agnostic and Vector Mask Agnostic").

use super::VectorState;
use super::body::mask_bit;
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

    /// The next toss.
    pub fn toss(&mut self) -> bool {
        if self.left == 0 {
            self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            self.bits = mix(self.state);
            self.left = 64;
        }
        self.left -= 1;
        let toss = self.bits & 1 != 0;
        self.bits >>= 1;
        toss
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
        for i in elements {
            // All of the body is in registers that the body touches, so both kinds of ones are the same.
            if !mask_bit(&self.regs, i) && (policy != Policy::Random || self.mask_coins.toss()) {
                self.regs[at + i * size..][..size].fill(0xff);
            }
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
            for element in tail.chunks_mut(size) {
                if self.tail_coins.toss() {
                    element.fill(0xff);
                }
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
        let vlenb = self.vlenb;
        let register = &mut self.regs[at..][..vlenb];
        if policy == Policy::Random {
            for bit in vl..vlenb * 8 {
                register[bit / 8] |= u8::from(self.tail_coins.toss()) << (bit % 8);
            }
        } else if vl < vlenb * 8 {
            register[vl / 8] |= 0xff << (vl % 8);
            register[vl / 8 + 1..].fill(0xff);
        }
    }
}
