//! Which intrinsics each program is about.
//!
//! Coverage is directed by construction. A program has *regions*, loops or blocks that are about calls of
//! one class each. All that is selected is shuffled, calls of like types staying together, and dealt out to
//! regions; after the last, a new round begins with a new shuffle. So every intrinsic is asked for once in a
//! round, and program `k` depends on nothing but the plan and `k`.
//!
//! Loads and stores, which feed operations and make them visible, are dealt out over the same regions. Half
//! of a program's operations are dealt out so; the others connect them ([`crate::pairs`]).

use crate::rng::Rng;
use crate::sizes::Sizes;
use crate::vl_class::{Kind, exists_at};
use crate::{Class, Selection, class};
use rvv_intrinsics::{Intrinsic, Role, all};
use std::collections::BTreeMap;

/// One call to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Of what.
    pub intrinsic: &'static Intrinsic,
    /// By its overloaded name.
    pub overloaded: bool,
}

/// A loop or block of a program, and what it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// What its calls have in common.
    pub class: Class,
    /// The calls.
    pub choices: Vec<Choice>,
    /// The first of the def-use pairs that are its to make, by their number.
    pub pairs: std::ops::Range<u64>,
}

/// Calls of one class, those of a type side by side.
#[derive(Clone, Debug, Default)]
struct Deck {
    calls: Vec<Choice>,
    /// Where each type starts, and the end.
    types: Vec<usize>,
}

/// Calls of like type that stay together.
const HAND: usize = 4;

impl Deck {
    fn new(mut calls: Vec<Choice>) -> Deck {
        let key = |c: &Choice| main_type(c.intrinsic).map(|ty| (ty.elem, ty.lmul));
        calls.sort_by_key(key);
        let mut types: Vec<usize> =
            (0..calls.len()).filter(|&i| i == 0 || key(&calls[i]) != key(&calls[i - 1])).collect();
        types.push(calls.len());
        Deck { calls, types }
    }

    /// Call number `i` of a shuffle by hands of [`HAND`].
    fn shuffled(&self, seed: u64, key: &[u64; 2], i: usize) -> Choice {
        let hands = self.calls.len() / HAND;
        let place = if i < hands * HAND { permuted(seed, key, hands, i / HAND) * HAND + i % HAND } else { i };
        let ty = self.types.partition_point(|&start| start <= place) - 1;
        let (start, end) = (self.types[ty], self.types[ty + 1]);
        self.calls[start + permuted(seed, &[key[0], key[1], ty as u64], end - start, place - start)]
    }
}

/// The type a call is about.
fn main_type(intrinsic: &Intrinsic) -> Option<rvv_intrinsics::VecType> {
    let of = |role: Role| intrinsic.param(role).and_then(|p| p.ty.vector());
    intrinsic.ret.vector().or(of(Role::Data)).or(of(Role::Vs2))
}

/// What is selected of one class.
#[derive(Clone, Debug)]
struct Pool {
    class: Class,
    operations: Deck,
    accesses: Deck,
    /// Shares it is dealt out in: one operation, or two accesses where there are few operations.
    shares: usize,
}

/// A part of a pool.
#[derive(Clone, Copy, Debug)]
struct Share {
    pool: u16,
    from: u32,
    to: u32,
    /// The number of the first def-use pair.
    pair: u64,
}

/// A plan for any number of programs.
#[derive(Clone, Debug)]
pub struct Plan {
    seed: u64,
    pools: Vec<Pool>,
    /// The programs of a round: where their shares start, and the end.
    programs: Vec<u32>,
    shares: Vec<Share>,
    /// Def-use pairs dealt out in a round, to regions of element groups and to others.
    pairs: [u64; 2],
}

impl Plan {
    /// A plan for programs of so many operations each, all of which have a meaning at VLEN `vlen`.
    pub fn new(seed: u64, selection: &Selection, ops: impl Into<Sizes>, vlen: u32) -> Plan {
        let exist = all().iter().filter(|i| exists_at(i, vlen));
        let spelled =
            exist.flat_map(|intrinsic| [false, true].map(|overloaded| Choice { intrinsic, overloaded }));
        Plan::of(seed, spelled.filter(|c| selection.wants(c.intrinsic, c.overloaded)), ops)
    }

    /// A plan for programs with so many of these calls each.
    pub fn of(seed: u64, choices: impl IntoIterator<Item = Choice>, ops: impl Into<Sizes>) -> Plan {
        let mut pools: BTreeMap<Class, (Vec<Choice>, Vec<Choice>)> = BTreeMap::new();
        for choice in choices {
            let (operations, accesses) = pools.entry(class(choice.intrinsic)).or_default();
            let pool = if choice.intrinsic.sem.accesses_memory() { accesses } else { operations };
            pool.push(choice);
        }
        let pool = |(class, (operations, accesses)): (Class, (Vec<Choice>, Vec<Choice>))| {
            let shares = operations.len().max(accesses.len().div_ceil(2));
            Pool { class, operations: Deck::new(operations), accesses: Deck::new(accesses), shares }
        };
        let pools: Vec<Pool> = pools.into_iter().map(pool).collect();
        let mut plan = Plan { seed, pools, programs: Vec::new(), shares: Vec::new(), pairs: [0; 2] };
        plan.deal(ops.into());
        plan
    }

    /// Deals all pools out.
    fn deal(&mut self, ops: Sizes) {
        let mut rng = Rng::new(&[self.seed, 3]);
        let mut left: Vec<usize> = self.pools.iter().map(|p| p.shares).collect();
        while left.iter().any(|n| *n > 0) {
            self.programs.push(self.shares.len() as u32);
            let size = ops.draw(&mut rng).div_ceil(2);
            let regions = match rng.below(20) {
                0..2 => 1,
                2..8 => 2,
                8..14 => 3,
                _ => 4,
            };
            let regions = regions.min(size);
            let mut groups = true;
            for region in 0..regions {
                let wanted = size * (region + 1) / regions - size * region / regions;
                let fits = |p: usize| groups || !is_groups(&self.pools[p]);
                let sum: usize = (0..left.len()).filter(|p| fits(*p)).map(|p| left[p]).sum();
                if sum == 0 {
                    break;
                }
                let mut at = rng.below(sum);
                let mut chosen = (0..left.len()).filter(|p| fits(*p));
                let Some(pool) = chosen.find(|&p| match at.checked_sub(left[p]) {
                    Some(rest) => {
                        at = rest;
                        false
                    }
                    None => true,
                }) else {
                    break;
                };
                let of_groups = is_groups(&self.pools[pool]);
                // Where vl is halved, element groups have no meaning: they have programs of their own, in
                // which there may be anything else.
                groups &= of_groups || region > 0;
                let from = self.pools[pool].shares - left[pool];
                let to = from + wanted.clamp(1, left[pool]);
                left[pool] -= to - from;
                let pairs = &mut self.pairs[usize::from(!of_groups)];
                let share = Share { pool: pool as u16, from: from as u32, to: to as u32, pair: *pairs };
                *pairs += pairs_of(to - from);
                self.shares.push(share);
            }
        }
        self.programs.push(self.shares.len() as u32);
    }

    /// Selected calls in all.
    pub fn len(&self) -> usize {
        self.pools.iter().map(|p| p.operations.calls.len() + p.accesses.calls.len()).sum()
    }

    /// Nothing is selected.
    pub fn is_empty(&self) -> bool {
        self.pools.is_empty()
    }

    /// Programs after which every selected call has been made once.
    pub fn round(&self) -> usize {
        self.programs.len() - 1
    }

    /// The seed it was made with.
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// What program `k` is about.
    pub fn program(&self, k: u64) -> Option<Vec<Region>> {
        if self.round() == 0 {
            return None;
        }
        let (round, place) = (k / self.round() as u64, (k % self.round() as u64) as usize);
        let program = permuted(self.seed, &[round, 0], self.round(), place);
        let (first, last) = (self.programs[program] as usize, self.programs[program + 1] as usize);
        let mut rng = Rng::new(&[self.seed, k, 2]);
        let region = |share: &Share| {
            let pool = &self.pools[usize::from(share.pool)];
            let mut choices = Vec::new();
            for (part, deck) in [&pool.operations, &pool.accesses].into_iter().enumerate() {
                let place = |n: u32| (deck.calls.len() as u64 * u64::from(n) / pool.shares as u64) as usize;
                let key = [round, 1 + 2 * u64::from(share.pool) + part as u64];
                choices
                    .extend((place(share.from)..place(share.to)).map(|i| deck.shuffled(self.seed, &key, i)));
            }
            rng.shuffle(&mut choices);
            let in_round = self.pairs[usize::from(!is_groups(pool))];
            let pair = share.pair.wrapping_add(round.wrapping_mul(in_round));
            let pairs = pair..pair.saturating_add(pairs_of((share.to - share.from) as usize));
            Region { class: pool.class, choices, pairs }
        };
        Some(self.shares[first..last].iter().map(region).collect())
    }
}

fn is_groups(pool: &Pool) -> bool {
    matches!(pool.class.kind, Kind::Groups(_))
}

/// The def-use pairs of a region that is about so many operations.
fn pairs_of(operations: usize) -> u64 {
    operations.div_ceil(3) as u64
}

/// Where a shuffle of `0..n` puts `i`: a permutation that needs no table. A Feistel network on the
/// smallest even number of bits that can hold n, walked until it is back inside.
pub(crate) fn permuted(seed: u64, key: &[u64], n: usize, i: usize) -> usize {
    let half = (usize::BITS - n.saturating_sub(1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1usize << half) - 1;
    let mut rng = Rng::new(&[&[seed], key].concat());
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
    use rvv_intrinsics::Type;
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
        for ops in [Sizes::from(10), Sizes::OPERATIONS] {
            let plan = Plan::new(1, &Selection::default(), ops, 128);
            let mut asked = HashSet::new();
            let mut pairs = [HashSet::new(), HashSet::new()];
            for k in 0..plan.round() as u64 {
                let regions = plan.program(k).unwrap();
                let calls = || regions.iter().flat_map(|r| &r.choices);
                let operations = calls().filter(|c| !c.intrinsic.sem.accesses_memory()).count();
                assert!(operations <= ops.most && calls().count() <= 3 * ops.most, "{}", calls().count());
                for region in &regions {
                    let groups = matches!(region.class.kind, Kind::Groups(_));
                    assert!(region.pairs.clone().all(|p| pairs[usize::from(groups)].insert(p)));
                    for choice in &region.choices {
                        assert_eq!(crate::class(choice.intrinsic), region.class);
                        assert!(asked.insert((choice.intrinsic.id, choice.overloaded)));
                    }
                }
            }
            assert_eq!(asked.len(), plan.len());
            assert!(plan.round() < plan.len() / 6, "{} programs for {}", plan.round(), plan.len());
        }
    }

    #[test]
    fn calls_of_like_type_stay_together() {
        let plan = Plan::new(1, &Selection::default(), 40, 128);
        let (mut same, mut all) = (0, 0);
        for k in 0..200 {
            for region in plan.program(k).unwrap() {
                let types: Vec<Type> = region
                    .choices
                    .iter()
                    .filter(|c| !c.intrinsic.sem.accesses_memory())
                    .filter_map(|c| main_type(c.intrinsic).map(Type::Vector))
                    .collect();
                let alone = |ty: &&Type| types.iter().filter(|t| t == ty).count() == 1;
                all += types.len();
                same += types.len() - types.iter().filter(alone).count();
            }
        }
        assert!(same * 10 > all * 6, "{same} of {all}");
    }
}
