//! Cache-block operations: Zicbom and Zicboz. There is no cache; what remains of the management instructions are
//! their permission checks, and of `cbo.zero` the zeroes. (Zicbop's prefetches are cases of `ori` to `x0`.)

use super::{Flow, Handler, as_store_fault};
use crate::Hart;
use crate::hart::Environment;
use crate::mem::{Access, Target};
use crate::privileged::Privilege;
use crate::trap::{Cause, Exec, Trap};
use rvv_isa::{Inst, Op};

/// Bytes in a cache block (Zic64b).
pub const BLOCK: u64 = 64;

/// The handlers of the cache-block operations.
#[must_use]
pub fn handler(op: Op) -> Option<(Handler, Flow)> {
    let handler: Handler = match op {
        Op::CboClean | Op::CboFlush | Op::CboInval => manage,
        Op::CboZero => zero,
        _ => return None,
    };
    Some((handler, Flow::Next))
}

/// A device's registers do not come in whole blocks of the same PMAs, so the constraints on a block
/// (`norm:PMA_same`) are not met and what happens is ours to say.
fn check_main_memory(target: Target, va: u64) -> Exec {
    match target {
        Target::Ram(_) => Ok(()),
        Target::Device(_) => {
            Err(Trap::new(Cause::StoreAccessFault, va, "cache-block operation where there is no main memory"))
        }
    }
}

/// The fields of `menvcfg` and `senvcfg` that control these instructions.
const CBIE: u64 = 0b11 << 4;
const CBCFE: u64 = 1 << 6;
const CBZE: u64 = 1 << 7;

/// `menvcfg` and `senvcfg`. A Linux process finds everything allowed.
fn envcfg(h: &Hart) -> [u64; 2] {
    match h.env {
        Environment::User(_) => [u64::MAX; 2],
        Environment::Bare(_) => [h.csr.menvcfg(), h.csr.senvcfg()],
    }
}

/// Whether the current mode may run this one (section "CSR controls for CMO instructions"). Whether CBIE makes
/// `cbo.inval` flush or invalidate is all the same without a cache.
fn check_enabled(h: &Hart, i: &Inst) -> Exec {
    let [menvcfg, senvcfg] = envcfg(h);
    let (field, why) = match i.op {
        Op::CboInval => (CBIE, "norm:cbo-inval: envcfg.CBIE does not allow it in this mode"),
        Op::CboZero => {
            (CBZE, "norm:cbo-zero_basedon_xenvcfg-CBZE: envcfg.CBZE does not allow it in this mode")
        }
        _ => (CBCFE, "norm:cbo-clean_cbo-flush: envcfg.CBCFE does not allow it in this mode"),
    };
    let forbidden = (h.prv != Privilege::Machine && menvcfg & field == 0)
        || (h.prv == Privilege::User && senvcfg & field == 0);
    if forbidden { Err(Trap::illegal(i.raw, why)) } else { Ok(()) }
}

/// `cbo.clean`, `cbo.flush`, `cbo.inval`
fn manage(h: &mut Hart, i: &Inst) -> Exec {
    check_enabled(h, i)?;
    let va = h.x[i.rs1];
    // "Permitted whenever a load instruction or store instruction is permitted" (norm:cbm_access): what may be
    // stored to may be loaded from, and the dirty bit is not to be touched.
    let target = h.translate(va, Access::Load).map_err(as_store_fault)?;
    check_main_memory(target, va)
}

/// `cbo.zero`
fn zero(h: &mut Hart, i: &Inst) -> Exec {
    check_enabled(h, i)?;
    let va = h.x[i.rs1];
    // A fault names the address in rs1 (norm:fault_excep_csr), not the start of the block.
    let target = h.translate(va, Access::Store)?;
    check_main_memory(target, va)?;
    let block = va & !(BLOCK - 1);
    for at in (0..BLOCK).step_by(8) {
        h.store(block + at, 0u64)?;
    }
    Ok(())
}
