//! The commit log: one line per retired instruction, in the format of Spike's `--log-commits`, so that
//! the two can be compared line by line.

mod written;

use crate::Hart;
use crate::engine::{CommitLog, Engine, MemoryEvent, Stop};
use crate::fp::Flags;
use crate::trap::Cause;
use crate::vector::VectorState;
use rvv_isa::{Class, Field, Inst, Op, RegFile, csr};
use std::fmt::Write;

/// Executes one instruction and appends its line to `out`. An instruction that traps has none, unless it is a
/// vector access that trapped midway.
pub fn step(engine: &mut Engine, hart: &mut Hart, out: &mut String) -> Stop {
    let before = Before::take(hart);
    let stop = engine.step(hart);
    if before.vector.is_some() {
        settle_flags(hart, &before);
    }
    if hart.instret != before.instret || stopped_midway(&before, &stop) {
        line(hart, &before, out);
    }
    stop
}

/// What must be remembered of the state before an instruction.
struct Before {
    pc: u64,
    privilege: u8,
    word: u32,
    inst: Option<Inst>,
    mstatus: u64,
    instret: u64,
    fflags: Flags,
    fs_dirty: bool,
    /// The `vtype` that a `vset{i}vl{i}` asks for.
    asked_vtype: u64,
    /// The vector unit, before vector instructions.
    vector: Option<VectorState>,
}

impl Before {
    fn take(hart: &mut Hart) -> Before {
        hart.log.get_or_insert_default().clear();
        let pc = hart.pc;
        let low = hart.fetch_parcel(pc).map_or(0, u32::from);
        let high = if low & 3 == 3 { hart.fetch_parcel(pc.wrapping_add(2)).map_or(0, u32::from) } else { 0 };
        let word = high << 16 | low;
        let inst = hart.config.isa.decode(word);
        let vector = inst.filter(|i| i.op.is_vector()).map(|_| hart.v.clone());
        let before = Before {
            pc,
            privilege: hart.prv as u8,
            word,
            inst,
            mstatus: hart.mstatus(),
            instret: hart.instret,
            fflags: hart.fflags,
            fs_dirty: hart.fs_dirty,
            asked_vtype: inst.map_or(0, |i| asked_vtype(hart, &i)),
            vector,
        };
        if before.vector.is_some() {
            // No vector instruction reads them; with none set, those that it raises are known.
            hart.fflags = Flags::NONE;
        }
        before
    }
}

fn asked_vtype(hart: &Hart, inst: &Inst) -> u64 {
    if inst.op == Op::Vsetvl { hart.x[inst.rs2] } else { u64::from(inst.imm as u32) }
}

/// The flags that a vector instruction raised, over those accrued before. Spike logs them if there are any,
/// set before or not.
fn settle_flags(hart: &mut Hart, before: &Before) {
    let raised = std::mem::replace(&mut hart.fflags, before.fflags);
    hart.fflags.raise(raised);
    if raised == Flags::NONE {
        return;
    }
    if hart.fflags == before.fflags {
        // What a guest sees of `FS` must not depend on whether somebody looks on.
        hart.fs_dirty = before.fs_dirty;
    }
    let now = u64::from(hart.fflags.bits());
    if let Some(log) = &mut hart.log {
        log.csrs.retain(|(number, _)| *number != csr::FFLAGS);
        log.csr(csr::FFLAGS, now);
    }
}

/// Whether it was a vector access that stopped it: Spike logs what such an instruction has done so far.
fn stopped_midway(before: &Before, stop: &Stop) -> bool {
    let memory = before.inst.is_some_and(|i| matches!(i.op.class(), Class::VectorLoad | Class::VectorStore));
    let Stop::Trap(trap) = stop else { return false };
    memory
        && matches!(
            trap.cause,
            Cause::LoadAddressMisaligned
                | Cause::LoadAccessFault
                | Cause::LoadPageFault
                | Cause::StoreAddressMisaligned
                | Cause::StoreAccessFault
                | Cause::StorePageFault
        )
}

fn line(hart: &mut Hart, before: &Before, out: &mut String) {
    let width = if before.word & 3 == 3 { 8 } else { 4 };
    let _ = write!(
        out,
        "core {:3}: {} {:#018x} (0x{:0width$x})",
        hart.number, before.privilege, before.pc, before.word
    );
    let mut log = hart.log.take().unwrap_or_default();
    if let (Some(inst), Some(v)) = (&before.inst, &before.vector) {
        log_vector_csrs(hart, before, inst, v, &mut log);
    }
    for (_, text) in writes(hart, before, &log) {
        out.push_str(&text);
    }
    for event in &log.memory {
        if let MemoryEvent::Load { va, .. } = event {
            let _ = write!(out, " mem {va:#018x}");
        }
    }
    for event in &log.memory {
        if let MemoryEvent::Store { va, size, value } = event {
            let digits = 2 * size;
            let _ = write!(out, " mem {va:#018x} 0x{value:0digits$x}");
        }
    }
    out.push('\n');
    hart.log = Some(log);
}

/// The CSRs that Spike writes, and so logs, whether they change or not: `vstart` by every instruction that
/// completes; `vl` and `vtype` by those that set them, but not a `vtype` that is as it was nor a `vl` that is
/// kept.
fn log_vector_csrs(hart: &Hart, before: &Before, inst: &Inst, v: &VectorState, log: &mut CommitLog) {
    if hart.instret != before.instret {
        log.csr(csr::VSTART, 0);
    }
    if inst.op.class() == Class::VectorConfig {
        if before.asked_vtype != v.vtype.to_bits() {
            log.asked_vtype = before.asked_vtype;
            log.csr(csr::VTYPE, hart.v.vtype.to_bits());
        }
        let keeps_vl = inst.op != Op::Vsetivli && inst.rd == 0 && inst.rs1 == 0;
        if !keeps_vl || hart.v.vtype.vill {
            log.csr(csr::VL, hart.v.vl);
        }
    }
}

/// The register and CSR writes, in Spike's order: by register number, x before f before v before CSR.
fn writes(hart: &Hart, before: &Before, log: &CommitLog) -> Vec<(u32, String)> {
    let mut all = Vec::new();
    let mut csr_write = |number: u16, value: u64| {
        let name = csr::name(number).unwrap_or("unknown");
        all.retain(|(key, _)| *key != u32::from(number) << 4 | 4);
        all.push((u32::from(number) << 4 | 4, format!(" c{number}_{name} {value:#018x}")));
    };
    for &(number, value) in &log.csrs {
        csr_write(number, value);
    }
    let mstatus = hart.mstatus();
    if mstatus != before.mstatus && !log.csrs.iter().any(|(n, _)| matches!(n, 0x300 | 0x100)) {
        csr_write(0x300, mstatus);
    }
    if let Some(inst) = before.inst {
        match destination(&inst) {
            Some(RegFile::X) if inst.rd != 0 => {
                let last = if inst.op == Op::AmocasQ { inst.rd + 1 } else { inst.rd };
                for rd in inst.rd..=last {
                    all.push((u32::from(rd) << 4, format!(" x{rd:<2} {:#018x}", hart.x[rd])));
                }
            }
            Some(RegFile::F) => {
                let rd = inst.rd;
                all.push((u32::from(rd) << 4 | 1, format!(" f{rd:<2} {:#018x}", hart.f[rd])));
            }
            _ => {}
        }
        if let Some(v) = &before.vector
            && inst.op.class() != Class::VectorConfig
        {
            vector_writes(hart, &inst, v, log, &mut all);
        }
    }
    all.sort_by_key(|(key, _)| *key);
    all
}

/// The file of the register an instruction writes, if it writes one.
fn destination(inst: &Inst) -> Option<RegFile> {
    let class = inst.op.class();
    // A fence has fields called rd and rs1, and uses neither.
    let writes_nothing = matches!(class, Class::Store | Class::VectorStore)
        || matches!(inst.op.base(), Op::Fence | Op::FenceI);
    // Compressed instructions may leave a destination implicit (c.jalr writes ra): ask the base.
    let writes = inst.op.base().info().operands.iter().find(|o| o.fields().contains(&Field::Rd));
    writes.filter(|_| !writes_nothing).and_then(|o| o.reg_file())
}

/// SEW, LMUL and `vl`, which every vector instruction shows but those that set them; and the vector registers
/// written. The former come just before `v0`.
fn vector_writes(hart: &Hart, inst: &Inst, v: &VectorState, log: &CommitLog, all: &mut Vec<(u32, String)>) {
    // Under vill Spike shows the SEW and LMUL that were asked for.
    let vtype = if v.vtype.vill { log.asked_vtype } else { v.vtype.to_bits() };
    let sew = 8 << (vtype >> 3 & 7);
    let (fraction, lmul) = match vtype & 7 {
        whole @ 0..4 => ("", 1 << whole),
        part => ("f", 1 << (8 - part)),
    };
    all.push((2, format!(" e{sew} m{fraction}{lmul} l{}", hart.v.vl)));
    let written = written::registers(&hart.config, inst, v, &log.memory, hart.x[inst.rs1]);
    for r in (0..32).filter(|r| written >> r & 1 != 0) {
        let mut text = format!(" v{r:<2} 0x");
        for byte in hart.v.register(r).iter().rev() {
            let _ = write!(text, "{byte:02x}");
        }
        all.push((u32::from(r) << 4 | 2, text));
    }
}
