//! Which vector registers Spike logs as written: those that hold an element the instruction writes, whether
//! it changes or not. Spike keeps agnostic elements as they are, and so shows no register for them.

use crate::config::Config;
use crate::engine::MemoryEvent;
use crate::vector::{VectorState, footprint, translate};
use rvv_isa::{Class, Inst, Op};

/// The registers, as bits. `v` is the vector unit before the instruction, `memory` what it accessed, `x` the
/// value of the integer register `rs1`.
pub(super) fn registers(
    config: &Config,
    inst: &Inst,
    v: &VectorState,
    memory: &[MemoryEvent],
    x: u64,
) -> u32 {
    let (Some(footprint), Ok(translated)) = (footprint(config, inst, v), translate(config, inst, v.vtype))
    else {
        return 0;
    };
    let vlen = config.vlen as usize;
    let fields: Vec<usize> = footprint.writes.iter().map(|range| range.start).collect();
    let Some(&first) = fields.first() else { return 0 };
    let (vstart, vl) = (v.vstart as usize, v.vl as usize);
    let bit = |register: u8, i: usize| v.register(register)[i / 8] >> (i % 8) & 1 != 0;
    let active = |i: &usize| !translated.policy.masked || bit(0, *i);
    // The register of element `i` of the group that begins at bit `start`.
    let of = |start: usize, eew: usize, i: usize| 1_u32 << ((start + i * eew) / vlen).min(31);
    let all = |start: usize, eew: usize, elements: &mut dyn Iterator<Item = usize>| {
        elements.fold(0, |written, i| written | of(start, eew, i))
    };
    let eew = footprint.eew as usize;
    match inst.op {
        op if op.class() == Class::VectorLoad => {
            let sizes = memory.iter().filter_map(|event| match event {
                MemoryEvent::Load { size, .. } => Some(*size),
                MemoryEvent::Store { .. } => None,
            });
            // Each element that was loaded has been written, those before a trap too.
            let places =
                (vstart..vlen).filter(active).flat_map(|i| fields.iter().map(move |&start| (start, i)));
            sizes.zip(places).fold(0, |written, (size, (start, i))| written | of(start, 8 * size, i))
        }
        op if op.class() == Class::VectorReduction => u32::from(vl > 0) << inst.rd,
        Op::VmvSX | Op::VfmvSF => u32::from(vstart < vl) << inst.rd,
        // Spike does nothing if source and destination are the same.
        Op::Vmv1rV | Op::Vmv2rV | Op::Vmv4rV | Op::Vmv8rV if inst.rd == inst.rs2 => 0,
        Op::Vmv1rV | Op::Vmv2rV | Op::Vmv4rV | Op::Vmv8rV => {
            let sew = v.vtype.sew.bits() as usize;
            let end = footprint.writes[0].len() / sew;
            all(first, sew, &mut (vstart..end))
        }
        Op::VcompressVm => all(first, eew, &mut (0..(0..vl).filter(|&i| bit(inst.rs1, i)).count())),
        Op::VslideupVx | Op::VslideupVi => {
            let offset = if inst.op == Op::VslideupVi { inst.imm as u64 } else { x };
            let from = vstart.max(usize::try_from(offset).unwrap_or(vl));
            all(first, eew, &mut (from..vl).filter(active))
        }
        op => {
            let written = all(first, eew, &mut (vstart..vl).filter(active));
            // Spike's widening integer instructions take the element of vd at its place for SEW, too.
            let sew = v.vtype.sew.bits() as usize;
            let widening = op.class() == Class::VectorInteger && eew == 2 * sew;
            written | if widening { all(first, sew, &mut (vstart..vl).filter(active)) } else { 0 }
        }
    }
}
