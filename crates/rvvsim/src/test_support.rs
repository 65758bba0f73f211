//! What several unit tests need.

use crate::config::{Config, EngineChoice};
use crate::hart::{Environment, Hart};
use crate::mem::Ram;
use crate::privileged::{Platform, RAM_BASE};
use rvv_isa::{Isa, csr};

/// Random numbers, the same in every run.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        rvv_isa::random::next(&mut self.0)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A bare-metal hart with all extensions, FS and VS on, that compares host code with the interpreter in each
/// block.
pub fn checked_hart(config: Config) -> Hart {
    let config = Config { isa: Isa::everything(), engine: EngineChoice::Check, jit_threshold: 0, ..config };
    let ram = Ram::new(config.mem).unwrap();
    let platform = Platform::with_entry(&config, RAM_BASE);
    let mut hart = Hart::new(config, ram, Environment::Bare(Box::new(platform)));
    hart.write_csr(csr::MSTATUS, 3 << 13 | 3 << 9);
    hart
}
