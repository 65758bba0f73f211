//! The state a stream ends in, as both environments write it down and as [`super::inprocess`] makes it: a
//! list of words.

use super::layout::{SANDBOX, SANDBOX_SIZE};
use std::ops::Range;

/// Traps that are written down; more are only counted.
pub const MOST_TRAPS: usize = 32;

/// Where the parts of a dump are, in words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Places {
    vlenb: usize,
}

/// The CSRs of a dump, in order.
pub const CSRS: [&str; 5] = ["vstart", "vl", "vtype", "vcsr", "fcsr"];

/// `x1` to `x31`, then `f0` to `f31`.
const X: usize = 0;
const F: usize = 31;
const CSR: usize = F + 32;
const TRAPS: usize = CSR + CSRS.len();
const V: usize = TRAPS + 1 + 4 * MOST_TRAPS;

/// A trap that a handler has written down.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trapped {
    /// `mcause`, or the number of the signal.
    pub cause: u64,
    /// `mtval`, or the address of a memory fault.
    pub tval: u64,
    /// The instruction.
    pub pc: u64,
    /// `vstart` after it.
    pub vstart: u64,
}

impl Places {
    /// Of machines with this VLEN.
    #[must_use]
    pub fn new(vlen: u32) -> Places {
        Places { vlenb: vlen as usize / 8 }
    }

    /// Words of a dump.
    #[must_use]
    pub fn words(self) -> usize {
        self.memory().end
    }

    /// `x1` to `x31`.
    #[must_use]
    pub fn x(self) -> Range<usize> {
        X..F
    }

    /// `f0` to `f31`.
    #[must_use]
    pub fn f(self) -> Range<usize> {
        F..CSR
    }

    /// [`CSRS`].
    #[must_use]
    pub fn csrs(self) -> Range<usize> {
        CSR..TRAPS
    }

    /// The number of traps, then cause, `tval`, `pc` and `vstart` of each.
    #[must_use]
    pub fn traps(self) -> Range<usize> {
        TRAPS..V
    }

    /// The vector registers.
    #[must_use]
    pub fn v(self) -> Range<usize> {
        V..V + 4 * self.vlenb
    }

    /// The sandbox.
    #[must_use]
    pub fn memory(self) -> Range<usize> {
        let start = self.v().end;
        start..start + SANDBOX_SIZE as usize / 8
    }

    /// The parts with their names.
    #[must_use]
    pub fn parts(self) -> [(&'static str, Range<usize>); 6] {
        [
            ("x", self.x()),
            ("f", self.f()),
            ("csr", self.csrs()),
            ("traps", self.traps()),
            ("v", self.v()),
            ("memory", self.memory()),
        ]
    }

    /// What the word at `at` is called.
    #[must_use]
    pub fn name(self, at: usize) -> String {
        let per_register = self.vlenb / 8;
        if self.x().contains(&at) {
            format!("x{}", at + 1)
        } else if self.f().contains(&at) {
            format!("f{}", at - F)
        } else if self.csrs().contains(&at) {
            CSRS[at - CSR].to_owned()
        } else if at == TRAPS {
            "traps".to_owned()
        } else if self.traps().contains(&at) {
            let (n, field) = ((at - TRAPS - 1) / 4, (at - TRAPS - 1) % 4);
            format!("trap {n} {}", ["cause", "tval", "pc", "vstart"][field])
        } else if self.v().contains(&at) {
            let n = at - V;
            let (r, low) = (n / per_register, 64 * (n % per_register));
            format!("v{r}[{}:{low}]", low + 63)
        } else {
            format!("memory {:#x}", SANDBOX + 8 * (at - self.memory().start) as u64)
        }
    }

    /// The traps of a dump, as far as they are written down.
    #[must_use]
    pub fn trapped(self, words: &[u64]) -> Vec<Trapped> {
        let all = &words[self.traps()];
        let count = (all[0] as usize).min(MOST_TRAPS);
        let records = all[1..].chunks_exact(4).take(count);
        records.map(|r| Trapped { cause: r[0], tval: r[1], pc: r[2], vstart: r[3] }).collect()
    }
}

/// A short hash of a part of a dump (FNV-1a on words, mixed): enough to notice a change.
#[must_use]
pub fn digest(words: &[u64]) -> u64 {
    words.iter().fold(0xcbf2_9ce4_8422_2325, |h: u64, w| {
        let h = (h ^ w).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        h ^ h >> 29
    })
}
