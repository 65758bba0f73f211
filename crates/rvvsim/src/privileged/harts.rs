//! Several harts on bare metal. They take turns on the one that executes, as Spike's do, and share memory,
//! devices, decoded blocks and the time.

use super::{CsrFile, Privilege};
use crate::Hart;
use crate::config::Config;
use crate::hart::{Environment, ThreadRegisters};
use crate::turns::Turns;

/// What a hart has for itself, while another executes.
#[derive(Clone)]
struct Parked {
    registers: ThreadRegisters,
    csr: CsrFile,
    prv: Privilege,
    /// It is in `wfi`.
    waits: bool,
    /// Instructions that all had retired when it was parked.
    since: u64,
}

/// The harts of a machine with more than one.
#[derive(Clone)]
pub(crate) struct Harts {
    /// By number; the place of the one that executes has nothing of meaning.
    parked: Vec<Parked>,
    current: usize,
    turns: Turns,
    /// Only these take turns; all, if it is empty.
    only: Vec<usize>,
}

impl Harts {
    /// All at the reset vector, where `hart` is, too, which is the first; `None` if it is the only one.
    pub(crate) fn new(hart: &mut Hart) -> Option<Box<Self>> {
        let config = &hart.config;
        if config.harts < 2 {
            return None;
        }
        let parked = (0..config.harts).map(|_| Parked::at(hart.pc, config)).collect();
        let mut harts = Harts { parked, current: 0, turns: Turns::new(config.schedule), only: Vec::new() };
        harts.turns.begin(hart, false);
        Some(Box::new(harts))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.parked.len()
    }

    /// Instructions that the hart which executes may execute before its turn ends.
    pub(crate) fn instructions_in_turn(&self, hart: &Hart) -> u64 {
        self.turns.left(hart)
    }

    /// Lets the next hart execute if the turn is over; whether it is another one now.
    pub(crate) fn take_turns(&mut self, hart: &mut Hart) -> bool {
        if !(hart.waits || self.turns.is_over(hart)) {
            return false;
        }
        let next = self.choose(hart).unwrap_or_else(|| {
            // All wait: time flies to the first timer. If there is none, waiting is doing nothing.
            match self.ticks_to_timer(hart) {
                Some(ticks) => hart.csr.let_time_fly(ticks),
                None => {
                    hart.waits = false;
                    self.parked.iter_mut().for_each(|parked| parked.waits = false);
                }
            }
            self.choose(hart).unwrap_or(self.current)
        });
        let switches = next != self.current;
        if switches {
            self.exchange(hart, next);
        }
        hart.waits = false;
        self.turns.begin(hart, false);
        switches
    }

    /// Whose turn it is, of those that do not wait, or have something to wake up for.
    fn choose(&mut self, hart: &Hart) -> Option<usize> {
        let Environment::Bare(platform) = &hart.env else { return None };
        let (count, first, now) = (self.parked.len(), self.current + 1, hart.mtime());
        let only = &self.only;
        let able = |i: &usize| {
            if !may_run(only, *i) {
                return false;
            }
            let (waits, csr) = match &self.parked[*i] {
                _ if *i == self.current => (hart.waits, &hart.csr),
                parked => (parked.waits, &parked.csr),
            };
            !waits || csr.pending(Some(platform), *i, now) & csr.mie != 0
        };
        self.turns.choose((first..first + count).map(|i| i % count).filter(able))
    }

    /// See [`crate::Machine::with_thread`].
    pub(crate) fn with_hart<T>(
        &mut self,
        hart: &mut Hart,
        number: usize,
        look: impl FnOnce(&mut Hart) -> T,
    ) -> Option<T> {
        let current = self.current;
        if number >= self.count() {
            return None;
        }
        self.exchange(hart, number);
        let seen = look(hart);
        self.exchange(hart, current);
        Some(seen)
    }

    /// See [`crate::Machine::only_threads`].
    pub(crate) fn only(&mut self, hart: &mut Hart, numbers: Vec<usize>) {
        self.only = numbers;
        self.only.retain(|number| *number < self.parked.len());
        if let Some(&next) = self.only.first()
            && !may_run(&self.only, self.current)
        {
            self.exchange(hart, next);
            self.turns.begin(hart, false);
        }
    }

    /// Ticks until a timer wakes one of them.
    fn ticks_to_timer(&self, hart: &Hart) -> Option<u64> {
        let Environment::Bare(platform) = &hart.env else { return None };
        let now = hart.mtime();
        let ticks = |(i, parked): (usize, &Parked)| {
            let csr = if i == self.current { &hart.csr } else { &parked.csr };
            csr.ticks_to_timer(Some(platform), i, now)
        };
        self.parked.iter().enumerate().filter_map(ticks).min()
    }

    fn exchange(&mut self, hart: &mut Hart, next: usize) {
        self.parked[self.current].swap(hart);
        // The clock is one for all, and counters count the instructions of their hart.
        let clock = self.parked[self.current].csr.clock();
        self.parked[next].csr.set_clock(clock);
        self.parked[self.current].since = hart.instret;
        let others = hart.instret - self.parked[next].since;
        self.parked[next].csr.skip(others);
        self.parked[next].swap(hart);
        (self.current, hart.number) = (next, next as u32);
        // Another hart's address space, PMP and triggers; and it may fetch what this one has written.
        hart.flush_tlb();
    }
}

/// Whether a hart takes turns if only these are to.
fn may_run(only: &[usize], number: usize) -> bool {
    only.is_empty() || only.contains(&number)
}

impl Parked {
    /// A hart at reset.
    fn at(pc: u64, config: &Config) -> Self {
        let mut registers = ThreadRegisters::new(config);
        registers.pc = pc;
        Parked { registers, csr: CsrFile::new(config), prv: Privilege::Machine, waits: false, since: 0 }
    }

    fn swap(&mut self, hart: &mut Hart) {
        hart.exchange(&mut self.registers);
        std::mem::swap(&mut hart.csr, &mut self.csr);
        std::mem::swap(&mut hart.prv, &mut self.prv);
        std::mem::swap(&mut hart.waits, &mut self.waits);
    }
}
