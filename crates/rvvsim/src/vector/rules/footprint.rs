//! Which parts of the vector registers an instruction reads and writes: for tools that follow data.

use crate::config::Config;
use crate::vector::VectorState;
use crate::vector::rules::legality::Checker;
use rvv_isa::{Class, Eew, Inst, Op, Vtype};
use std::ops::Range;

/// What an instruction may read and write of the vector registers, as bits of the register file: bit `n` is
/// bit `n % VLEN` of register `n / VLEN`. Each is an upper bound.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    /// Bits that may matter to the result.
    pub reads: Vec<Range<usize>>,
    /// The destination's registers, all of them.
    pub writes: Vec<Range<usize>>,
    /// The EEW of the destination in bits: 1 for a mask, 0 if there is none.
    pub eew: u32,
}

/// The footprint of an instruction under the state's `vtype` and `vl`; `None` if the instruction is reserved
/// there or has no vector operand.
#[must_use]
pub fn footprint(config: &Config, inst: &Inst, v: &VectorState) -> Option<Footprint> {
    if !inst.op.is_vector() || inst.op.class() == Class::VectorConfig {
        return None;
    }
    let vtype = v.vtype;
    let shape = inst.op.shape();
    crate::vector::translate(config, inst, vtype).ok()?;
    let checker = Checker::new(config, vtype, shape);
    let vlen = config.vlen as usize;
    let mut found = Footprint::default();
    let operands = [(shape.vs2, inst.rs2), (shape.vs1, inst.rs1)];
    for (eew, first) in operands {
        if let Some((bits, emul, _)) = checker.width(eew).ok()? {
            let at = usize::from(first) * vlen;
            let all = vlen << emul.max(0);
            found.reads.push(at..at + extent(inst.op, eew, bits as usize, all, v).min(all));
        }
    }
    if let Some((bits, emul, _)) = checker.width(shape.vd).ok()? {
        let group = vlen << emul.max(0);
        for field in 0..usize::from(shape.fields(inst)) {
            let at = usize::from(inst.rd) * vlen + field * group;
            if shape.is_store() {
                found.reads.push(at..at + extent(inst.op, shape.vd, bits as usize, group, v).min(group));
                continue;
            }
            if shape.reads_vd {
                found.reads.push(at..at + extent(inst.op, shape.vd, bits as usize, group, v).min(group));
            }
            found.writes.push(at..at + group);
        }
        found.eew = if shape.is_store() { 0 } else { bits };
    }
    if !inst.vm {
        found.reads.push(0..mask_extent(v, vtype, config));
    }
    Some(found)
}

/// How many bits of a source group of `all` bits may be read.
fn extent(op: Op, eew: Eew, bits: usize, all: usize, v: &VectorState) -> usize {
    let vl = v.vl as usize;
    match eew {
        Eew::Mask => vl,
        Eew::Element0 | Eew::WideElement0 => bits,
        // Whole registers do not look at vl; permutations pick elements from the whole group.
        Eew::ElementGroup0 | Eew::Registers(_) => all,
        _ if op.class() == Class::VectorPermute => all,
        _ => vl * bits,
    }
}

/// The bits of `v0` that count as mask.
fn mask_extent(v: &VectorState, vtype: Vtype, config: &Config) -> usize {
    v.vl.min(u64::from(vtype.vlmax(config.vlen))) as usize
}
