//! Cache-block operations: Zicbom and Zicboz. There is no cache; what remains of the management instructions
//! are their permission checks, and of `cbo.zero` the zeroes. (Zicbop's prefetches are cases of `ori` to
//! `x0`.)

use super::{Handler, as_store_fault};
use crate::Hart;
use crate::hart::Environment;
use crate::mem::{Access, Target};
use crate::privileged::Privilege;
use crate::trap::{Cause, Exec, Trap};
use rvv_isa::chapter::CacheBlock;
use rvv_isa::{Inst, Op, rows};

/// Bytes in a cache block (Zic64b).
pub const BLOCK: u64 = 64;

/// The handlers of the cache-block operations.
pub(super) fn handler(op: CacheBlock) -> Handler {
    rows! { op;
        cbo.clean, cbo.flush, cbo.inval => manage;
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

/// Whether the current mode may run this one (section "CSR controls for CMO instructions"). Whether CBIE
/// makes `cbo.inval` flush or invalidate is all the same without a cache.
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

/// Checks that the whole block around `va` may be accessed. A fault names `va` itself (norm:fault_excep_csr),
/// not the start of the block.
fn check_block(h: &mut Hart, va: u64, access: Access) -> Exec {
    let Target::Ram(offset) = h.translate(va, access)? else {
        // A device's registers do not come in whole blocks of the same PMAs (norm:PMA_same), so what happens
        // is ours to say (norm:cbo_rsv).
        let why = "cache-block operation where there is no main memory";
        return Err(Trap::new(Cause::StoreAccessFault, va, why));
    };
    let block = Target::Ram(offset & !(BLOCK as usize - 1));
    h.check_whole_access(va, block, BLOCK as usize, access)
}

/// `cbo.clean`, `cbo.flush`, `cbo.inval`
fn manage(h: &mut Hart, i: &Inst) -> Exec {
    check_enabled(h, i)?;
    // "Permitted whenever a load instruction or store instruction is permitted" (norm:cbm_access): what may
    // be stored to may be loaded from, and the dirty bit is not to be touched.
    check_block(h, h.x[i.rs1], Access::Load).map_err(as_store_fault)
}

/// `cbo.zero`
pub(super) fn zero(h: &mut Hart, i: &Inst) -> Exec {
    check_enabled(h, i)?;
    let va = h.x[i.rs1];
    check_block(h, va, Access::Store)?;
    let block = va & !(BLOCK - 1);
    // A log has the bytes one by one, as Spike's.
    if h.log.is_some() {
        return (0..BLOCK).try_for_each(|at| h.store(block + at, 0u8));
    }
    (0..BLOCK).step_by(8).try_for_each(|at| h.store(block + at, 0u64))
}
