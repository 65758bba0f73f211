//! What one instruction did to memory and CSRs, for `--trace` and for comparing with other models.

/// A memory access of the current instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MemoryEvent {
    /// Bytes read.
    Load {
        /// Virtual address.
        va: u64,
        /// Bytes.
        size: usize,
    },
    /// Bytes written.
    Store {
        /// Virtual address.
        va: u64,
        /// Bytes.
        size: usize,
        /// The value, zero-extended.
        value: u64,
    },
}

/// The effects of the current instruction that its registers do not show.
#[derive(Clone, Debug)]
pub struct CommitLog {
    /// Accesses, in order. Vector accesses log each element.
    pub memory: Vec<MemoryEvent>,
    /// CSRs written explicitly or as a side effect, with the value they then read as.
    pub csrs: Vec<(u16, u64)>,
    /// The `vtype` that was last asked for, by this instruction or an earlier one, supported or not.
    pub asked_vtype: u64,
}

impl Default for CommitLog {
    /// Of a hart at reset: as if all ones had been asked for.
    fn default() -> Self {
        CommitLog { memory: Vec::new(), csrs: Vec::new(), asked_vtype: u64::MAX }
    }
}

impl CommitLog {
    /// Notes a load.
    pub fn load(&mut self, va: u64, size: usize) {
        self.memory.push(MemoryEvent::Load { va, size });
    }

    /// Notes a store.
    pub fn store(&mut self, va: u64, size: usize, value: u64) {
        self.memory.push(MemoryEvent::Store { va, size, value });
    }

    /// Notes the new value of a CSR.
    pub fn csr(&mut self, number: u16, value: u64) {
        self.csrs.push((number, value));
    }

    /// Starts a new instruction.
    pub fn clear(&mut self) {
        self.memory.clear();
        self.csrs.clear();
    }
}
