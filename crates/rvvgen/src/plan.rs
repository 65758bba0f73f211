//! Which intrinsics each program is about.
//!
//! Coverage is directed by construction: all that is selected is shuffled, cut into sequences of one
//! class each, and the sequences are shuffled again. Program `k` is about sequence `k`; after the last, a new
//! round begins with a new shuffle. So every intrinsic is asked for once in the smallest number of programs
//! there can be, and program `k` depends on nothing but the plan and `k`.
//!
//! A sequence of length 10 is ten operations. Loads and stores, which feed them and make them visible, are
//! dealt out over the same sequences.

use crate::rng::Rng;
use crate::vl_class::exists_at;
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

/// What is selected of one class.
#[derive(Clone, Debug)]
struct Pool {
    class: Class,
    operations: Vec<Choice>,
    accesses: Vec<Choice>,
    /// Programs it takes.
    sequences: usize,
}

/// A plan for any number of programs.
#[derive(Clone, Debug)]
pub struct Plan {
    seed: u64,
    pools: Vec<Pool>,
    /// Programs in a round.
    round: usize,
}

impl Plan {
    /// A plan for programs of `ops` selected calls each, all of which have a meaning at VLEN `vlen`.
    pub fn new(seed: u64, selection: &Selection, ops: usize, vlen: u32) -> Plan {
        let exist = all().iter().filter(|i| exists_at(i, vlen));
        let spelled =
            exist.flat_map(|intrinsic| [false, true].map(|overloaded| Choice { intrinsic, overloaded }));
        Plan::of(seed, spelled.filter(|c| selection.wants(c.intrinsic, c.overloaded)), ops)
    }

    /// A plan for programs of `ops` of these calls each.
    pub fn of(seed: u64, choices: impl IntoIterator<Item = Choice>, ops: usize) -> Plan {
        let mut pools: BTreeMap<Class, (Vec<Choice>, Vec<Choice>)> = BTreeMap::new();
        for choice in choices {
            let (operations, accesses) = pools.entry(class(choice.intrinsic)).or_default();
            let pool = if choice.intrinsic.sem.accesses_memory() { accesses } else { operations };
            pool.push(choice);
        }
        let ops = ops.max(1);
        let pool = |(class, (operations, accesses)): (Class, (Vec<Choice>, Vec<Choice>))| {
            // Where there are few operations, or none, a sequence has at most twice as many accesses.
            let sequences = operations.len().div_ceil(ops).max(accesses.len().div_ceil(2 * ops));
            Pool { class, operations, accesses, sequences }
        };
        let pools: Vec<Pool> = pools.into_iter().map(pool).collect();
        let round = pools.iter().map(|p| p.sequences).sum();
        Plan { seed, pools, round }
    }

    /// Selected calls in all.
    pub fn len(&self) -> usize {
        self.pools.iter().map(|p| p.operations.len() + p.accesses.len()).sum()
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
        for (number, pool) in self.pools.iter().enumerate() {
            if sequence < pool.sequences {
                let mut calls = Vec::new();
                for (part, of) in [&pool.operations, &pool.accesses].into_iter().enumerate() {
                    let share = |n: usize| of.len() * n / pool.sequences;
                    let key = [round, 1 + 2 * number as u64 + part as u64];
                    let at = |i| of[permuted(self.seed, &key, of.len(), i)];
                    calls.extend((share(sequence)..share(sequence + 1)).map(at));
                }
                Rng::new(&[self.seed, k, 2]).shuffle(&mut calls);
                return Some((pool.class, calls));
            }
            sequence -= pool.sequences;
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
            let operations = choices.iter().filter(|c| !c.intrinsic.sem.accesses_memory()).count();
            assert!(operations <= 10 && choices.len() <= 30, "{}", choices.len());
            for choice in choices {
                assert_eq!(crate::class(choice.intrinsic), class);
                assert!(asked.insert((choice.intrinsic.id, choice.overloaded)));
            }
        }
        assert_eq!(asked.len(), plan.len());
        assert!(plan.round() < plan.len() / 15, "{} programs for {}", plan.round(), plan.len());
    }
}
