//! Which intrinsics each program is about.
//!
//! Coverage is directed by construction: all that is selected is shuffled, cut into sequences of one
//! class each, and the sequences are shuffled again. Program `k` is about sequence `k`; after the last, a new
//! round begins with a new shuffle. So every intrinsic is asked for once in the smallest number of programs
//! there can be, and program `k` depends on nothing but the plan and `k`.

use crate::class::exists_at;
use crate::rng::Rng;
use crate::{Class, Selection, class};
use rvv_intrinsics::{Intrinsic, all};
use std::collections::BTreeMap;

/// One call to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Of what.
    pub intrinsic: &'static Intrinsic,
    /// By its overloaded name.
    pub overloaded: bool,
}

/// A plan for any number of programs.
#[derive(Clone, Debug)]
pub struct Plan {
    seed: u64,
    /// Calls in each program.
    ops: usize,
    /// By class, what is selected.
    pools: Vec<(Class, Vec<Choice>)>,
    /// Programs in a round.
    round: usize,
}

impl Plan {
    /// A plan for programs of `ops` selected calls each, all of which have a meaning at VLEN `vlen`.
    pub fn new(seed: u64, selection: &Selection, ops: usize, vlen: u32) -> Plan {
        let mut pools: BTreeMap<Class, Vec<Choice>> = BTreeMap::new();
        for intrinsic in all().iter().filter(|i| exists_at(i, vlen)) {
            for overloaded in [false, true] {
                if selection.wants(intrinsic, overloaded) {
                    pools.entry(class(intrinsic)).or_default().push(Choice { intrinsic, overloaded });
                }
            }
        }
        let ops = ops.max(1);
        let pools: Vec<_> = pools.into_iter().collect();
        let round = pools.iter().map(|(_, p)| p.len().div_ceil(ops)).sum();
        Plan { seed, ops, pools, round }
    }

    /// Selected calls in all.
    pub fn len(&self) -> usize {
        self.pools.iter().map(|(_, p)| p.len()).sum()
    }

    /// Nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.pools.is_empty()
    }

    /// Programs after which every selected call has been made once.
    pub fn round(&self) -> usize {
        self.round
    }

    /// The seed it was made with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What program `k` is about: a class, and calls of that class.
    pub fn program(&self, k: u64) -> Option<(Class, Vec<Choice>)> {
        if self.round == 0 {
            return None;
        }
        let (round, place) = (k / self.round as u64, (k % self.round as u64) as usize);
        let mut sequence = permuted(self.seed, &[round, 0], self.round, place);
        for (number, (class, pool)) in self.pools.iter().enumerate() {
            let sequences = pool.len().div_ceil(self.ops);
            if sequence < sequences {
                let range = sequence * self.ops..pool.len().min((sequence + 1) * self.ops);
                let at = |i| pool[permuted(self.seed, &[round, 1 + number as u64], pool.len(), i)];
                return Some((*class, range.map(at).collect()));
            }
            sequence -= sequences;
        }
        None
    }
}

/// Where a shuffle of `0..n` puts `i`: a permutation that needs no table. A Feistel network on the
/// smallest even number of bits that can hold n, walked until it is back inside.
fn permuted(seed: u64, key: &[u64], n: usize, i: usize) -> usize {
    let half = (usize::BITS - n.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1usize << half) - 1;
    let mut numbers = vec![seed];
    numbers.extend(key);
    let mut rng = Rng::new(&numbers);
    let keys: [u64; 4] = std::array::from_fn(|_| rng.bits());
    let mut x = i;
    loop {
        let (mut left, mut right) = (x >> half, x & mask);
        for key in keys {
            let mixed = (right as u64 ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
            (left, right) = (right, left ^ (mixed as usize & mask));
        }
        x = left << half | right;
        if x < n {
            return x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_shuffle_is_one() {
        for n in [1, 2, 3, 10, 100, 1000, 26906] {
            let seen: HashSet<usize> = (0..n).map(|i| permuted(7, &[n as u64], n, i)).collect();
            assert_eq!(seen.len(), n);
        }
    }

    #[test]
    fn a_round_asks_for_everything_once() {
        let plan = Plan::new(1, &Selection::default(), 10, 128);
        let mut asked = HashSet::new();
        for k in 0..plan.round() as u64 {
            let (class, choices) = plan.program(k).unwrap();
            assert!(choices.len() <= 10);
            for choice in choices {
                assert_eq!(crate::class(choice.intrinsic), class);
                assert!(asked.insert((choice.intrinsic.id, choice.overloaded)));
            }
        }
        assert_eq!(asked.len(), plan.len());
        assert!(plan.round() < plan.len() / 10 + 20, "{} programs for {}", plan.round(), plan.len());
    }
}
