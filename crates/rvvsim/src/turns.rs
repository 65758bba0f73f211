//! Turns: how several threads, or several harts, share the one that executes.
//!
//! What a turn is and who is next depend on nothing but the policy and the program, so that a run can be
//! repeated.

use crate::Hart;
use crate::hart::AtomicStops;
use std::fmt;

/// How threads, or harts, take turns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Schedule {
    /// One after the other, so many instructions each.
    RoundRobin(u64),
    /// Which one and how long is decided by dice with this seed; turns end at atomic instructions, fences and
    /// futex calls more often than elsewhere, because that is where races are.
    Random(u64),
}

impl Default for Schedule {
    fn default() -> Self {
        // A turn takes many times as long as a switch, by host code, too.
        Schedule::RoundRobin(200_000)
    }
}

/// As `--schedule` takes it.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Schedule::RoundRobin(n) => write!(f, "round-robin:{n}"),
            Schedule::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

/// Whoever holds a reservation keeps its turn for so many instructions more, so that its SC can come. The
/// manual's constrained loops have 16 instructions at most.
const LR_SC: u64 = 64;

/// The state of a [`Schedule`].
#[derive(Clone)]
pub(crate) struct Turns {
    policy: Schedule,
    dice: u64,
    /// The turn ends when so many instructions have retired.
    ends: u64,
    /// The turn was lengthened for the sake of a reservation.
    lengthened: bool,
    /// The rest of the turn is given up.
    pub yields: bool,
}

impl Turns {
    /// By a policy.
    pub fn new(policy: Schedule) -> Self {
        let dice = match policy {
            Schedule::Random(seed) => seed,
            Schedule::RoundRobin(_) => 0,
        };
        Turns { policy, dice, ends: 0, lengthened: false, yields: false }
    }

    fn roll(&mut self, sides: u64) -> u64 {
        rvv_isa::random::next(&mut self.dice) % sides
    }

    fn length(&mut self) -> u64 {
        match self.policy {
            Schedule::RoundRobin(n) => n.max(1),
            Schedule::Random(_) => {
                let longest = [20, 500, 500, 20_000][self.roll(4) as usize];
                1 + self.roll(longest)
            }
        }
    }

    /// Instructions until the turn ends.
    pub fn left(&self, hart: &Hart) -> u64 {
        self.ends.saturating_sub(hart.instret).max(1)
    }

    /// A turn begins; `alone`: there is nobody else to take one.
    pub fn begin(&mut self, hart: &mut Hart, alone: bool) {
        self.ends = hart.instret.saturating_add(self.length());
        (self.lengthened, self.yields) = (false, false);
        let left = match self.policy {
            Schedule::RoundRobin(_) => u32::MAX,
            Schedule::Random(_) => 1 + self.roll(8) as u32,
        };
        hart.atomics = (!alone).then_some(AtomicStops { left });
    }

    /// Whether the turn is over.
    pub fn is_over(&mut self, hart: &mut Hart) -> bool {
        let stopped = hart.atomics.is_some_and(|stops| stops.left == 0);
        let over = hart.instret >= self.ends || self.yields || stopped;
        if over && hart.reservation.is_some() && !self.lengthened {
            (self.lengthened, self.yields) = (true, false);
            self.ends = hart.instret + LR_SC;
            // It ends then, however often it is looked at.
            hart.atomics = hart.atomics.map(|_| AtomicStops { left: u32::MAX });
            return false;
        }
        over
    }

    /// Whose turn it is, of those that can run, in the order in which they would take turns.
    pub fn choose(&mut self, mut able: impl Iterator<Item = usize>) -> Option<usize> {
        match self.policy {
            Schedule::RoundRobin(_) => able.next(),
            Schedule::Random(_) => {
                let able: Vec<usize> = able.collect();
                (!able.is_empty()).then(|| able[self.roll(able.len() as u64) as usize])
            }
        }
    }
}
