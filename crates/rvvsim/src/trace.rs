//! The commit log: one line per retired instruction, in the format of Spike's `--log-commits`, so that
//! the two can be compared line by line.

use crate::Hart;
use crate::engine::{CommitLog, Engine, MemoryEvent, Stop};
use rvv_isa::{Field, Inst, RegFile, csr};
use std::fmt::Write;

/// Executes one instruction and appends its line to `out`; an instruction that traps has none.
pub fn step(engine: &mut Engine, hart: &mut Hart, out: &mut String) -> Stop {
    let before = Before::take(hart);
    let stop = engine.step(hart);
    if hart.instret != before.instret {
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
    vregs: Vec<u8>,
}

impl Before {
    fn take(hart: &mut Hart) -> Before {
        hart.log.get_or_insert_default().clear();
        let pc = hart.pc;
        let low = hart.fetch_parcel(pc).map_or(0, u32::from);
        let high = if low & 3 == 3 { hart.fetch_parcel(pc.wrapping_add(2)).map_or(0, u32::from) } else { 0 };
        let word = high << 16 | low;
        let inst = hart.config.isa.decode(word);
        let vregs = match inst {
            Some(i) if i.op.is_vector() => hart.v.regs.to_vec(),
            _ => Vec::new(),
        };
        let mstatus = hart.mstatus();
        Before { pc, privilege: hart.prv as u8, word, inst, mstatus, instret: hart.instret, vregs }
    }
}

fn line(hart: &mut Hart, before: &Before, out: &mut String) {
    let width = if before.word & 3 == 3 { 8 } else { 4 };
    let _ = write!(out, "core   0: {} {:#018x} (0x{:0width$x})", before.privilege, before.pc, before.word);
    let log = hart.log.take().unwrap_or_default();
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
                let last = if inst.op == rvv_isa::Op::AmocasQ { inst.rd + 1 } else { inst.rd };
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
        if inst.op.is_vector() {
            vector_writes(hart, before, &mut all);
        }
    }
    all.sort_by_key(|(key, _)| *key);
    all
}

/// The file of the register an instruction writes, if it writes one.
fn destination(inst: &Inst) -> Option<RegFile> {
    let class = inst.op.class();
    // A fence has fields called rd and rs1, and uses neither.
    let writes_nothing = matches!(class, rvv_isa::Class::Store | rvv_isa::Class::VectorStore)
        || matches!(inst.op.base(), rvv_isa::Op::Fence | rvv_isa::Op::FenceI);
    // Compressed instructions may leave a destination implicit (c.jalr writes ra): ask the base.
    let writes = inst.op.base().info().operands.iter().find(|o| o.fields().contains(&Field::Rd));
    writes.filter(|_| !writes_nothing).and_then(|o| o.reg_file())
}

/// Vector registers are shown when they changed.
fn vector_writes(hart: &Hart, before: &Before, all: &mut Vec<(u32, String)>) {
    let vlenb = hart.v.vlenb;
    let mut prefix = {
        let t = hart.v.vtype;
        format!(" e{} {} l{}", t.sew.bits(), t.lmul, hart.v.vl)
    };
    let registers = before.vregs.chunks_exact(vlenb).zip(hart.v.regs.chunks_exact(vlenb)).take(32);
    for (r, (old, new)) in registers.enumerate() {
        if old != new {
            let mut text = std::mem::take(&mut prefix);
            let _ = write!(text, " v{r:<2} 0x");
            for byte in new.iter().rev() {
                let _ = write!(text, "{byte:02x}");
            }
            all.push(((r as u32) << 4 | 2, text));
        }
    }
}
