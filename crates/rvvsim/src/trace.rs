//! The commit log: one line per retired instruction, in the format of Spike's `--log-commits`, so that
//! the two can be compared line by line; and the same in few bytes ([`binary`]).

mod binary;
mod commit;
mod written;

pub use binary::{Decoder, Encoder};
pub use commit::{Commit, Write};

use crate::Hart;
use crate::engine::{CommitLog, Engine, Stop};
use crate::fp::Flags;
use crate::sanitize::Agnostic;
use crate::trap::Cause;
use crate::vector::VectorState;
use rvv_isa::{Class, Field, Inst, Op, RegFile, csr};

/// Executes one instruction and appends its line to `out`. An instruction that traps has none, unless it is a
/// vector access that trapped midway.
pub(crate) fn step(engine: &mut Engine, hart: &mut Hart, out: &mut String) -> Stop {
    let (stop, commit) = step_commit(engine, hart, None);
    if let Some(commit) = commit {
        commit.text(out);
    }
    stop
}

/// Executes one instruction; what it did. With `agnostic`, it says which bits of vector registers are.
pub(crate) fn step_commit(
    engine: &mut Engine,
    hart: &mut Hart,
    mut agnostic: Option<&mut Agnostic>,
) -> (Stop, Option<Commit>) {
    let before = Before::take(hart);
    let inst = before.inst.filter(|_| before.vector.is_some());
    if let (Some(agnostic), Some(inst)) = (&mut agnostic, &inst) {
        agnostic.before(hart, inst);
    }
    let stop = engine.step(hart);
    if before.vector.is_some() {
        settle_flags(hart, &before);
    }
    if hart.instret == before.instret && !stopped_midway(&before, &stop) {
        return (stop, None);
    }
    let undefined = match (agnostic, &inst) {
        (Some(agnostic), Some(inst)) if hart.instret != before.instret => agnostic.after(hart, inst),
        _ => None,
    };
    let commit = commit(hart, &before, undefined);
    (stop, Some(commit))
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

fn commit(hart: &mut Hart, before: &Before, agnostic: Option<(usize, &[u8])>) -> Commit {
    let mut log = hart.log.take().unwrap_or_default();
    if let (Some(inst), Some(v)) = (&before.inst, &before.vector) {
        log_vector_csrs(hart, before, inst, v, &mut log);
    }
    let mut commit = Commit {
        hart: hart.number,
        privilege: before.privilege,
        pc: before.pc,
        word: before.word,
        writes: writes(hart, before, &log, agnostic),
        memory: log.memory.clone(),
    };
    commit.sort();
    hart.log = Some(log);
    commit
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

/// The register and CSR writes.
fn writes(hart: &Hart, before: &Before, log: &CommitLog, agnostic: Option<(usize, &[u8])>) -> Vec<Write> {
    let mut all = Vec::new();
    let mut csr_write = |number: u16, value: u64| {
        all.retain(|write| !matches!(write, Write::Csr(n, _) if *n == number));
        all.push(Write::Csr(number, value));
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
                all.extend((inst.rd..=last).map(|rd| Write::X(rd, hart.x[rd])));
            }
            Some(RegFile::F) => all.push(Write::F(inst.rd, hart.f[inst.rd])),
            _ => {}
        }
        if let Some(v) = &before.vector
            && inst.op.class() != Class::VectorConfig
        {
            vector_writes(hart, &inst, v, log, agnostic, &mut all);
        }
    }
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

/// SEW, LMUL and `vl`, and the vector registers written. With `agnostic`, the undefined bits of the result
/// from a byte of the register file on, registers of which all is agnostic are among them.
fn vector_writes(
    hart: &Hart,
    inst: &Inst,
    v: &VectorState,
    log: &CommitLog,
    agnostic: Option<(usize, &[u8])>,
    all: &mut Vec<Write>,
) {
    // Under vill Spike shows the SEW and LMUL that were asked for.
    let vtype = if v.vtype.vill { log.asked_vtype } else { v.vtype.to_bits() };
    all.push(Write::Config { sew: 8 << (vtype >> 3 & 7), lmul: (vtype & 7) as u8, vl: hart.v.vl });
    let written = written::registers(&hart.config, inst, v, &log.memory, hart.x[inst.rs1]);
    let vlenb = hart.v.vlenb;
    for r in 0..32u8 {
        let at = usize::from(r) * vlenb;
        let undefined = agnostic.and_then(|(start, bits)| {
            let from = at.checked_sub(start)?;
            bits.get(from..from + vlenb).filter(|bits| bits.iter().any(|b| *b != 0))
        });
        if written >> r & 1 != 0 || undefined.is_some() {
            let valid = undefined.map(|bits| bits.iter().map(|b| !b).collect());
            all.push(Write::V { register: r, value: hart.v.register(r).to_vec(), valid });
        }
    }
}
