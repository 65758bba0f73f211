//! Calls into the environment, fences, CSR accesses, and the privileged instructions.

use super::{Flow, Handler};
use crate::Hart;
use crate::privileged::{Privilege, status};
use crate::trap::{Cause, Exec, Trap};
use rvv_isa::chapter::{Csr, System};
use rvv_isa::{Inst, rows};

/// The handlers of this chapter.
pub(super) fn handler(op: System) -> (Handler, Flow) {
    let handler: Handler = rows! { op;
        ecall => ecall;
        ebreak => ebreak;
        mret => mret;
        sret => sret;
        wfi => wfi;
        sfence.vma, sinval.vma => sfence_vma;
        sfence.w.inval, sfence.inval.ir => sfence_inval;
        wrs.nto => return (wrs_nto, Flow::Next);
        // Harts that take turns, whose memory accesses happen in order and at once, have nothing to order and
        // nothing to wait for, and the engine sees at once when code changes. fence.tso and pause are cases
        // of fence.
        fence, fence.i, wrs.sto => return (order, Flow::Next);
    };
    (handler, Flow::End)
}

/// Reads and writes of control and status registers.
pub(super) fn csr_handler(op: Csr) -> Handler {
    rows! { op;
        csrrw => csrrw;
        csrrs => csrrs;
        csrrc => csrrc;
        csrrwi => csrrwi;
        csrrsi => csrrsi;
        csrrci => csrrci;
    }
}

fn order(h: &mut Hart, i: &Inst) -> Exec {
    const PAUSE: u32 = 0x0100_000f;
    if let (PAUSE, Some(stops)) = (i.raw, &mut h.atomics) {
        // Whoever spins waits for another thread.
        stops.left = 0;
    }
    h.note_atomic();
    Ok(())
}

fn ecall(h: &mut Hart, _: &Inst) -> Exec {
    let cause = match h.prv {
        Privilege::User => Cause::EcallFromU,
        Privilege::Supervisor => Cause::EcallFromS,
        Privilege::Machine => Cause::EcallFromM,
    };
    Err(Trap::new(cause, 0, "ecall"))
}

fn ebreak(h: &mut Hart, _: &Inst) -> Exec {
    Err(Trap::new(Cause::Breakpoint, h.pc, "ebreak"))
}

/// The instruction is one for `least` and the modes above it.
fn require(h: &Hart, i: &Inst, least: Privilege, why: &'static str) -> Exec {
    if h.prv >= least { Ok(()) } else { Err(Trap::illegal(i.raw, why)) }
}

fn mret(h: &mut Hart, i: &Inst) -> Exec {
    require(h, i, Privilege::Machine, "norm:xret_in_lower_mode: mret below M-mode")?;
    h.return_from_machine();
    Ok(())
}

fn sret(h: &mut Hart, i: &Inst) -> Exec {
    require(h, i, Privilege::Supervisor, "norm:xret_in_lower_mode: sret in U-mode")?;
    if h.status_has(status::TSR) {
        require(h, i, Privilege::Machine, "norm:mstatus_tsr_op: sret in S-mode while mstatus.TSR is set")?;
    }
    h.return_from_supervisor();
    Ok(())
}

fn wfi(h: &mut Hart, i: &Inst) -> Exec {
    // It need not trap where it would end soon enough, but on Spike it does.
    require(h, i, Privilege::Supervisor, "norm:mstatus_tw_umode_op: wfi in U-mode")?;
    if h.status_has(status::TW) {
        require(h, i, Privilege::Machine, "norm:mstatus_tw_op: wfi below M-mode while mstatus.TW is set")?;
    }
    h.wait_for_interrupt();
    Ok(())
}

fn wrs_nto(h: &mut Hart, i: &Inst) -> Exec {
    if h.is_bare() && h.status_has(status::TW) {
        require(h, i, Privilege::Machine, "wrs.nto below M-mode while mstatus.TW is set")?;
    }
    Ok(())
}

fn sfence_vma(h: &mut Hart, i: &Inst) -> Exec {
    require(h, i, Privilege::Supervisor, "sfence.vma or sinval.vma in U-mode")?;
    if h.status_has(status::TVM) {
        let why = "norm:mstatus_tvm_warl_op: sfence.vma or sinval.vma in S-mode while mstatus.TVM is set";
        require(h, i, Privilege::Machine, why)?;
    }
    h.flush_tlb();
    Ok(())
}

fn sfence_inval(h: &mut Hart, i: &Inst) -> Exec {
    require(h, i, Privilege::Supervisor, "sfence.w.inval or sfence.inval.ir in U-mode")
}

/// Reads a CSR into `rd` and, if `new` makes one of the old, writes a new value.
fn access(h: &mut Hart, i: &Inst, new: Option<impl FnOnce(u64) -> u64>) -> Exec {
    let number = i.imm as u16;
    h.check_csr_access(number, new.is_some(), i.raw)?;
    let old = h.read_csr(number).unwrap_or(0);
    if let Some(new) = new {
        h.write_csr(number, new(h.csr_to_modify(number, old)));
    }
    h.set_x(i.rd, old);
    Ok(())
}

// "If the instruction is CSRRW with rd=x0, it shall not read the CSR": no read here has a side effect, so it
// makes no difference. "For both CSRRS and CSRRC, if rs1=x0, then the instruction will not write to the CSR
// at all", and likewise with a zero immediate (chapter "Zicsr"); that is by number, not by value.

fn csrrw(h: &mut Hart, i: &Inst) -> Exec {
    let value = h.x[i.rs1];
    access(h, i, Some(|_| value))
}

fn csrrs(h: &mut Hart, i: &Inst) -> Exec {
    let bits = h.x[i.rs1];
    access(h, i, (i.rs1 != 0).then_some(|old| old | bits))
}

fn csrrc(h: &mut Hart, i: &Inst) -> Exec {
    let bits = h.x[i.rs1];
    access(h, i, (i.rs1 != 0).then_some(|old| old & !bits))
}

fn csrrwi(h: &mut Hart, i: &Inst) -> Exec {
    let value = u64::from(i.rs1);
    access(h, i, Some(|_| value))
}

fn csrrsi(h: &mut Hart, i: &Inst) -> Exec {
    let bits = u64::from(i.rs1);
    access(h, i, (bits != 0).then_some(|old| old | bits))
}

fn csrrci(h: &mut Hart, i: &Inst) -> Exec {
    let bits = u64::from(i.rs1);
    access(h, i, (bits != 0).then_some(|old| old & !bits))
}
