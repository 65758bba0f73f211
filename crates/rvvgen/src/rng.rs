//! Random choices. The numbers must be the same for ever: they come from [`SplitMix`].

use rvv_ir::data::SplitMix;

/// A source of choices.
#[derive(Clone, Debug)]
pub struct Rng(SplitMix);

impl Rng {
    /// The choices of one purpose: each of the numbers changes all that follows.
    pub fn new(numbers: &[u64]) -> Rng {
        let mut state = SplitMix(0x7276_7667_656e); // "rvvgen"
        for number in numbers {
            state = SplitMix(state.next_u64() ^ number.wrapping_mul(0x2545_f491_4f6c_dd1d));
        }
        state.next_u64();
        Rng(state)
    }

    /// 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Less than `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0.below(n as u64) as usize
    }

    /// True once in `1/p` times.
    pub fn chance(&mut self, p: f64) -> bool {
        ((self.bits() >> 11) as f64) < p * (1u64 << 53) as f64
    }

    /// One of them.
    pub fn pick<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        if of.is_empty() { None } else { Some(&of[self.below(of.len())]) }
    }

    /// In a random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }

    /// The source that data is drawn from.
    pub fn data(&mut self) -> &mut SplitMix {
        &mut self.0
    }
}
