//! Where an instruction will go, before it does.

use super::Elements;
use crate::hart::Hart;
use rvv_isa::{Addressing, Class, Inst, Op};

/// An access that an instruction is about to make, or one element of a vector access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ahead {
    /// The virtual address.
    pub va: u64,
    /// Bytes.
    pub size: u64,
    /// It reads.
    pub loads: bool,
    /// It writes.
    pub stores: bool,
}

/// Bytes of a cache block.
const BLOCK: u64 = 64;

/// The accesses of an instruction that is about to execute, in their order, as far as nothing traps, no store
/// is given up (that of an `sc`) and no load shortened. `each` says whether it wants to hear of more.
pub fn accesses(hart: &Hart, inst: &Inst, mut each: impl FnMut(Ahead) -> bool) {
    if inst.op.shape().memory.is_some() {
        vector_accesses(hart, inst, each);
        return;
    }
    let op = inst.op.base();
    let base = hart.x[inst.rs1];
    let displaced = base.wrapping_add_signed(inst.imm.into());
    let (va, loads, stores) = match op.class() {
        Class::Load => (displaced, true, false),
        Class::Store if op == Op::CboZero => {
            each(Ahead { va: base & !(BLOCK - 1), size: BLOCK, loads: false, stores: true });
            return;
        }
        Class::Store => (displaced, false, true),
        Class::Atomic => (base, !matches!(op, Op::ScW | Op::ScD), !matches!(op, Op::LrW | Op::LrD)),
        _ => return,
    };
    if let rvv_isa::Access::Bytes(size) = op.info().access {
        each(Ahead { va, size: size.into(), loads, stores });
    }
}

fn vector_accesses(hart: &Hart, inst: &Inst, mut each: impl FnMut(Ahead) -> bool) {
    let (shape, v) = (inst.op.shape(), &hart.v);
    let Some(memory) = shape.memory else { return };
    if v.vtype.vill && !shape.ignores_vtype() {
        return;
    }
    let index = memory.eew.bytes() as usize;
    let size = match memory.addressing {
        Addressing::Mask => 1,
        _ if memory.is_indexed() => u64::from(v.vtype.sew.bytes()),
        _ => index as u64,
    };
    let fields = u64::from(shape.fields(inst));
    let base = hart.x[inst.rs1];
    let mut active = Elements::default();
    active.set(hart, inst);
    for i in active.iter() {
        let offset = match memory.addressing {
            Addressing::Strided => hart.x[inst.rs2].wrapping_mul(i as u64),
            Addressing::IndexedOrdered | Addressing::IndexedUnordered => {
                let at = usize::from(inst.rs2) * v.vlenb + i * index;
                // A group that does not fit the register file is reserved.
                let Some(bytes) = v.registers().get(at..at + index) else { return };
                let mut le = [0; 8];
                le[..index].copy_from_slice(bytes);
                u64::from_le_bytes(le)
            }
            _ => (i as u64).wrapping_mul(size * fields),
        };
        for field in 0..fields {
            let va = base.wrapping_add(offset).wrapping_add(field * size);
            if !each(Ahead { va, size, loads: !memory.store, stores: memory.store }) {
                return;
            }
        }
    }
}
