//! Semantic coverage: what of each instruction's meaning has been exercised.

use rustc_hash::FxHashSet;
use rvv_isa::{Class, FloatFormat, Inst, Isa, Lmul, Op, Scalar, Sew};
use rvvsim::observe::Observer;
use rvvsim::{Hart, Trap};

/// An instruction with the circumstances of one execution, packed: SEW, LMUL, masked or not, class of `vl`
/// and of `vstart`, cause of the trap, saturated or not, classes of two floating-point operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key(pub(super) u64);

/// Where the parts of a [`Key`] are.
const SEW: u32 = 10;
const LMUL: u32 = 13;
const MASKED: u32 = 16;
const VL: u32 = 17;
const VSTART: u32 = 19;
const TRAP: u32 = 21;
const SATURATED: u32 = 27;
const CLASS: u32 = 28;

/// SEW and LMUL of a cell of the table, or none for instructions that do not look at them.
pub const TYPES: usize = 1 + 4 * 7;

/// How often each instruction ran under each type.
#[derive(Clone, Debug)]
pub struct Counts {
    retired: Vec<u64>,
    trapped: Vec<u64>,
}

impl Default for Counts {
    fn default() -> Self {
        Counts { retired: vec![0; Op::COUNT * TYPES], trapped: vec![0; Op::COUNT * TYPES] }
    }
}

/// The column of a SEW and LMUL.
#[must_use]
pub fn column(sew: Sew, lmul: Lmul) -> usize {
    1 + sew as usize * 7 + lmul as usize
}

impl Counts {
    /// Executions that completed.
    #[must_use]
    pub fn retired(&self, op: Op, column: usize) -> u64 {
        self.retired[op as usize * TYPES + column]
    }

    /// Executions that trapped.
    #[must_use]
    pub fn trapped(&self, op: Op, column: usize) -> u64 {
        self.trapped[op as usize * TYPES + column]
    }

    /// Executions that completed, under any type.
    #[must_use]
    pub fn total(&self, op: Op) -> u64 {
        self.retired[op as usize * TYPES..][..TYPES].iter().sum()
    }

    /// Whether an instruction has been reached: it completed, or trapped as it always does.
    #[must_use]
    pub fn reached(&self, op: Op) -> bool {
        let traps_by_nature = matches!(op.base(), Op::Ecall | Op::Ebreak);
        self.total(op) > 0
            || (traps_by_nature && self.trapped[op as usize * TYPES..][..TYPES].iter().any(|&n| n > 0))
    }

    /// Instructions not reached yet.
    #[must_use]
    pub fn missing(&self) -> Vec<Op> {
        subjects().filter(|&op| !self.reached(op)).collect()
    }
}

/// The instructions that streams are made of: those that peers have, so no experimental ones.
pub fn subjects() -> impl Iterator<Item = Op> {
    Isa::default().ops()
}

/// All that has been covered.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    /// The circumstances seen.
    pub keys: FxHashSet<Key>,
    /// Executions.
    pub counts: Counts,
}

impl Coverage {
    /// Adds what a stream did; true if some of it is new.
    pub fn add(&mut self, watch: &Watch) -> bool {
        let mut new = false;
        for &key in &watch.keys {
            new |= self.keys.insert(key);
        }
        for &(cell, retired) in &watch.cells {
            match retired {
                true => self.counts.retired[cell as usize] += 1,
                false => self.counts.trapped[cell as usize] += 1,
            }
        }
        new
    }

    /// Instructions reached.
    #[must_use]
    pub fn reached(&self) -> usize {
        subjects().count() - self.counts.missing().len()
    }
}

/// Notes what the instructions of a stream do.
#[derive(Clone, Debug, Default)]
pub struct Watch {
    /// Circumstances, with repetitions.
    pub keys: Vec<Key>,
    cells: Vec<(u32, bool)>,
    key: u64,
    cell: u32,
    saturated: bool,
    classes: [u64; 2],
}

impl Watch {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.keys.clear();
        self.cells.clear();
    }
}

impl Observer for Watch {
    fn before(&mut self, hart: &Hart, inst: Option<&Inst>) {
        let Some(inst) = inst else { return };
        let (mut key, mut cell) = (inst.op as u64, inst.op as usize * TYPES);
        if inst.op.is_vector() && !hart.vector().vtype.vill {
            let v = hart.vector();
            let vlmax = u64::from(v.vtype.vlmax(hart.config().vlen));
            let vl = match v.vl {
                0 => 0,
                vl if vl == vlmax => 3,
                1 => 1,
                _ => 2,
            };
            let vstart = match v.vstart {
                0 => 0,
                s if s < v.vl => 1,
                _ => 2,
            };
            key |= (1 + v.vtype.sew as u64) << SEW | (1 + v.vtype.lmul as u64) << LMUL;
            key |= u64::from(!inst.vm) << MASKED | vl << VL | vstart << VSTART;
            cell += column(v.vtype.sew, v.vtype.lmul);
        }
        self.key = key;
        self.cell = cell as u32;
        self.saturated = hart.vector().vxsat;
        self.classes = classes(hart, inst);
    }

    fn after(&mut self, hart: &Hart, inst: Option<&Inst>, trap: Option<&Trap>) {
        if inst.is_none() {
            return;
        }
        let mut key = self.key;
        if let Some(trap) = trap {
            key |= (1 + trap.cause as u64) << TRAP;
        }
        key |= u64::from(hart.vector().vxsat && !self.saturated) << SATURATED;
        self.cells.push((self.cell, trap.is_none()));
        let [first, last] = self.classes;
        self.keys.push(Key(key | first << CLASS));
        if last != first {
            self.keys.push(Key(key | last << CLASS));
        }
    }
}

/// The classes of the floating-point operands, of the first and of the last element of the body; 0 if there
/// are none.
fn classes(hart: &Hart, inst: &Inst) -> [u64; 2] {
    let pair = |a: u64, b: u64, width: u32| (1 + class(a, width)) | (1 + class(b, width)) << 4;
    match inst.op.class() {
        Class::Float => {
            let width = match inst.op.info().source {
                Some(FloatFormat::H) => 16,
                Some(FloatFormat::S) => 32,
                _ => 64,
            };
            let both = pair(hart.f(inst.rs1), hart.f(inst.rs2), width);
            [both, both]
        }
        Class::VectorFloat | Class::VectorReduction if inst.op.is_float() => {
            let v = hart.vector();
            let size = v.vtype.sew.bytes() as usize;
            if v.vtype.vill || size == 1 || v.vl == 0 {
                return [0, 0];
            }
            let scalar = inst.op.shape().scalar == Scalar::F;
            let element = |r: u8, i: usize| {
                let at = usize::from(r) * v.vlenb + i * size;
                let mut le = [0; 8];
                // Past the last register for a group that is reserved anyway.
                if let Some(bytes) = v.registers().get(at..at + size) {
                    le[..size].copy_from_slice(bytes);
                }
                u64::from_le_bytes(le)
            };
            let at = |i: usize| {
                let a = if scalar { hart.f(inst.rs1) } else { element(inst.rs1, i) };
                pair(a, element(inst.rs2, i), 8 * size as u32)
            };
            [at(0), at(v.vl as usize - 1)]
        }
        _ => [0, 0],
    }
}

/// The class of a number, as `fclass` numbers them.
fn class(bits: u64, width: u32) -> u64 {
    let fraction = match width {
        16 => 10,
        32 => 23,
        _ => 52,
    };
    let exponent_bits = width - 1 - fraction;
    let exponent = bits >> fraction & ((1 << exponent_bits) - 1);
    let significand = bits & ((1 << fraction) - 1);
    let negative = bits >> (width - 1) & 1 != 0;
    let magnitude = match (exponent, significand) {
        (0, 0) => 3,
        (0, _) => 2,
        (e, 0) if e == (1 << exponent_bits) - 1 => 0,
        (e, s) if e == (1 << exponent_bits) - 1 => return 8 + (s >> (fraction - 1)),
        _ => 1,
    };
    if negative { magnitude } else { 7 - magnitude }
}
