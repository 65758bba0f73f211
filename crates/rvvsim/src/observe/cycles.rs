//! An estimate of cycles on an in-order core: a table of costs by class of instruction, and the times at
//! which registers and units are ready. Caches, branch prediction and everything else are left out.

use super::{Observer, VectorOperation, Wants};
use crate::hart::Hart;
use crate::vector::footprint;
use rustc_hash::FxHashMap;
use rvv_isa::{Addressing, Class, Field, Inst, RegFile};

/// What an instruction of a class costs, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// From its start until its result can be used.
    pub latency: u32,
    /// From its start until the next one can start in the same unit: the scalar side, or the vector unit. For
    /// vector instructions, per [`Costs::dlen`] bits of its widest operand.
    pub busy: u32,
    /// The same for each element of a strided or indexed access.
    pub per_element: u32,
}

impl Default for Cost {
    fn default() -> Self {
        Cost { latency: 1, busy: 1, per_element: 1 }
    }
}

/// A table of costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Bits that the vector unit works on in a cycle.
    pub dlen: u32,
    /// More for a branch or jump that is taken.
    pub taken: u32,
    classes: [Cost; Class::ALL.len()],
}

impl Costs {
    /// The default, but for the bits that the vector unit works on in a cycle.
    #[must_use]
    pub fn with_dlen(dlen: u32) -> Costs {
        Costs { dlen, ..Costs::default() }
    }

    /// The costs of a class.
    #[must_use]
    pub fn of(&self, class: Class) -> Cost {
        self.classes[class as usize]
    }

    /// Those of a class, to change.
    pub fn of_mut(&mut self, class: Class) -> &mut Cost {
        &mut self.classes[class as usize]
    }
}

impl Default for Costs {
    /// A small core with a vector unit of 128 bits.
    fn default() -> Self {
        let mut costs = Costs { dlen: 128, taken: 2, classes: [Cost::default(); Class::ALL.len()] };
        for (class, latency, busy) in [
            (Class::Multiply, 3, 1),
            (Class::Load, 3, 1),
            (Class::Atomic, 5, 2),
            (Class::Float, 4, 1),
            (Class::Csr, 2, 2),
            (Class::System, 10, 10),
            (Class::VectorConfig, 1, 1),
            (Class::VectorLoad, 5, 1),
            (Class::VectorStore, 1, 1),
            (Class::VectorInteger, 3, 1),
            (Class::VectorFixed, 4, 1),
            (Class::VectorFloat, 5, 1),
            (Class::VectorReduction, 8, 1),
        ] {
            *costs.of_mut(class) = Cost { latency, busy, ..Cost::default() };
        }
        costs
    }
}

/// Cycles of one instruction of the program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// How often it was executed.
    pub executed: u64,
    /// The cycles between it and what was before.
    pub cycles: u64,
}

/// Estimates cycles.
#[derive(Debug)]
pub struct CycleEstimate {
    costs: Costs,
    /// When registers can be read: x, f, v.
    ready: [[u64; 32]; 3],
    /// When the vector unit is free.
    vector_free: u64,
    /// When the next instruction can start.
    now: u64,
    /// The same, before the last one.
    started: u64,
    places: FxHashMap<u64, Estimate>,
    /// Registers of the instruction that executes.
    reads: Vec<(usize, usize)>,
    writes: Vec<(usize, usize)>,
    /// Its cycles in the vector unit.
    busy: Option<u64>,
    pc: u64,
}

/// Instructions that are kept apart.
const MOST_PLACES: usize = 1 << 20;

impl CycleEstimate {
    /// By a table of costs.
    #[must_use]
    pub fn new(costs: Costs) -> CycleEstimate {
        CycleEstimate {
            costs,
            ready: [[0; 32]; 3],
            vector_free: 0,
            now: 0,
            started: 0,
            places: FxHashMap::default(),
            reads: Vec::new(),
            writes: Vec::new(),
            busy: None,
            pc: 0,
        }
    }

    /// All cycles, until the last result is there.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.ready.as_flattened().iter().copied().max().unwrap_or(0).max(self.now).max(self.vector_free)
    }

    /// The instructions of the program, by their addresses.
    pub fn iter(&self) -> impl Iterator<Item = (u64, Estimate)> {
        self.places.iter().map(|(pc, estimate)| (*pc, *estimate))
    }

    /// The scalar registers that an instruction reads and writes, by the table; the vector registers, by its
    /// footprint.
    fn registers(&mut self, hart: &Hart, inst: &Inst) {
        self.reads.clear();
        self.writes.clear();
        let stores = matches!(inst.op.class(), Class::Store | Class::Branch);
        for operand in inst.op.base().info().operands {
            let file = match operand.reg_file() {
                Some(RegFile::X) => 0,
                Some(RegFile::F) => 1,
                _ => continue,
            };
            for field in operand.fields() {
                match field {
                    Field::Rd if !stores => self.writes.push((file, inst.rd.into())),
                    Field::Rs1 => self.reads.push((file, inst.rs1.into())),
                    Field::Rs2 => self.reads.push((file, inst.rs2.into())),
                    Field::Rs3 => self.reads.push((file, inst.rs3.into())),
                    _ => {}
                }
            }
        }
        if let Some(footprint) = footprint(&hart.config, inst, &hart.v) {
            let vlen = hart.config.vlen as usize;
            let registers = |range: &std::ops::Range<usize>| range.start / vlen..range.end.div_ceil(vlen);
            let of = |ranges: &[std::ops::Range<usize>], to: &mut Vec<(usize, usize)>| {
                to.extend(ranges.iter().flat_map(registers).map(|r| (2, r.min(31))));
            };
            of(&footprint.reads, &mut self.reads);
            if !inst.op.shape().is_store() {
                of(&footprint.writes, &mut self.writes);
            }
        }
        // x0 is always there.
        self.writes.retain(|register| *register != (0, 0));
    }
}

impl Observer for CycleEstimate {
    fn wants(&self) -> Wants {
        Wants { vectors: true, ..Wants::default() }
    }

    fn before(&mut self, hart: &Hart, inst: Option<&Inst>) {
        self.pc = hart.pc;
        self.busy = None;
        if let Some(inst) = inst {
            self.registers(hart, inst);
        }
    }

    fn vector(&mut self, _: &Hart, operation: &VectorOperation) {
        let shape = operation.inst.op.shape();
        let cost = self.costs.of(operation.inst.op.class());
        let apart = shape.memory.is_some_and(|m| {
            matches!(
                m.addressing,
                Addressing::Strided | Addressing::IndexedOrdered | Addressing::IndexedUnordered
            )
        });
        let fields = u64::from(shape.fields(operation.inst));
        self.busy = Some(if apart {
            fields * operation.active.count() * u64::from(cost.per_element)
        } else {
            let sew = u64::from(operation.vtype.sew.bits());
            let wide = [shape.vd, shape.vs2, shape.vs1].iter().any(|eew| eew.is_wide());
            let width = match shape.memory {
                Some(memory) => u64::from(memory.eew.bits()),
                None if wide => 2 * sew,
                None => sew,
            };
            // Masked-off elements take their time, too.
            let last = operation.active.iter().last().map_or(0, |i| i as u64 + 1);
            let elements = if operation.inst.vm { last } else { operation.vl.max(last) };
            (fields * elements * width).div_ceil(self.costs.dlen.into()) * u64::from(cost.busy)
        });
    }

    fn retired(&mut self, hart: &Hart, pc: u64, inst: &Inst) {
        let class = inst.op.class();
        let cost = self.costs.of(class);
        let operands = self.reads.iter().chain(&self.writes).map(|&(file, r)| self.ready[file][r]);
        let mut start = operands.max().unwrap_or(0).max(self.now);
        let mut last = u64::from(cost.latency.max(1));
        if let Some(busy) = self.busy.take() {
            start = start.max(self.vector_free);
            self.vector_free = start + busy.max(1);
            last += busy.saturating_sub(1);
            // The scalar side goes on.
            self.now = start + 1;
        } else {
            self.now = start + u64::from(cost.busy.max(1));
        }
        let jumped =
            matches!(class, Class::Branch | Class::Jump) && hart.pc != pc.wrapping_add(inst.len.into());
        if jumped {
            self.now += u64::from(self.costs.taken);
        }
        for &(file, r) in &self.writes {
            self.ready[file][r] = start + last;
        }
        if self.places.len() < MOST_PLACES || self.places.contains_key(&pc) {
            let place = self.places.entry(pc).or_default();
            place.executed += 1;
            place.cycles += self.now - self.started;
        }
        self.started = self.now;
    }
}
