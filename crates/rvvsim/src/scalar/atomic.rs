//! Atomic instructions: Zalrsc, Zaamo, Zabha, Zacas.
//!
//! Harts take turns and a handler runs to its end, so every access is atomic and ordered already: `aq` and
//! `rl` have nothing to add. A reservation does not outlive the turn of its hart, so that no store of another
//! can come between LR and SC.

use super::{Handler, as_store_fault};
use crate::Hart;
use crate::mem::{Access, Scalar, Target};
use crate::trap::{Cause, Exec, Trap};
use rvv_isa::chapter::Atomic;
use rvv_isa::{Inst, rows};

/// The rows of the atomic chapters.
pub(super) fn handler(op: Atomic) -> Handler {
    rows! { op;
        lr.w => lr::<u32>;
        lr.d => lr::<u64>;
        sc.w => sc::<u32>;
        sc.d => sc::<u64>;
        amoswap.b => amoswap::<u8>;
        amoswap.h => amoswap::<u16>;
        amoswap.w => amoswap::<u32>;
        amoswap.d => amoswap::<u64>;
        amoadd.b => amoadd::<u8>;
        amoadd.h => amoadd::<u16>;
        amoadd.w => amoadd::<u32>;
        amoadd.d => amoadd::<u64>;
        amoand.b => amoand::<u8>;
        amoand.h => amoand::<u16>;
        amoand.w => amoand::<u32>;
        amoand.d => amoand::<u64>;
        amoor.b => amoor::<u8>;
        amoor.h => amoor::<u16>;
        amoor.w => amoor::<u32>;
        amoor.d => amoor::<u64>;
        amoxor.b => amoxor::<u8>;
        amoxor.h => amoxor::<u16>;
        amoxor.w => amoxor::<u32>;
        amoxor.d => amoxor::<u64>;
        amomax.b => amomax::<u8>;
        amomax.h => amomax::<u16>;
        amomax.w => amomax::<u32>;
        amomax.d => amomax::<u64>;
        amomaxu.b => amomaxu::<u8>;
        amomaxu.h => amomaxu::<u16>;
        amomaxu.w => amomaxu::<u32>;
        amomaxu.d => amomaxu::<u64>;
        amomin.b => amomin::<u8>;
        amomin.h => amomin::<u16>;
        amomin.w => amomin::<u32>;
        amomin.d => amomin::<u64>;
        amominu.b => amominu::<u8>;
        amominu.h => amominu::<u16>;
        amominu.w => amominu::<u32>;
        amominu.d => amominu::<u64>;
        amocas.b => amocas::<u8>;
        amocas.h => amocas::<u16>;
        amocas.w => amocas::<u32>;
        amocas.d => amocas::<u64>;
        amocas.q => amocas_q;
    }
}

/// A memory operand, which registers hold sign-extended.
trait Operand: Scalar {
    /// The value as a register holds it.
    fn sign_extend(self) -> u64;

    /// The low bits of a register, as a signed number.
    fn signed(x: u64) -> i64 {
        Self::from_u64(x).sign_extend() as i64
    }
}

macro_rules! operand {
    ($($unsigned:ty, $signed:ty;)*) => {$(
        impl Operand for $unsigned {
            #[inline(always)]
            fn sign_extend(self) -> u64 {
                self as $signed as u64
            }
        }
    )*};
}

operand! {
    u8, i8;
    u16, i16;
    u32, i32;
    u64, i64;
}

fn check_aligned(va: u64, size: u64, cause: Cause, why: &'static str) -> Exec {
    if va.is_multiple_of(size) { Ok(()) } else { Err(Trap::new(cause, va, why)) }
}

/// Where an access would lead, after every check that it makes and before it has any effect. (Alignment is
/// not asked here.)
#[inline(always)]
fn probe(h: &mut Hart, va: u64, size: usize, access: Access) -> Exec<Target> {
    if let Some(offset) = h.tlb.lookup(va, size, access) {
        return Ok(Target::Ram(offset));
    }
    let target = h.translate(va, access)?;
    h.check_whole_access(va, target, size, access)?;
    Ok(target)
}

/// Where LR and SC lead: to RAM only, since devices are not reservable ("Reservability PMA").
fn reservable(target: Target, va: u64, cause: Cause) -> Exec<usize> {
    match target {
        Target::Ram(offset) => Ok(offset),
        Target::Device(_) => Err(Trap::new(cause, va, "LR or SC where there is no main memory")),
    }
}

fn lr<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    let va = h.x[i.rs1];
    let why = "norm:lr_sc_alignment: LR to an address that is not naturally aligned";
    check_aligned(va, T::SIZE as u64, Cause::LoadAddressMisaligned, why)?;
    let target = probe(h, va, T::SIZE, Access::Load)?;
    let offset = reservable(target, va, Cause::LoadAccessFault)?;
    let value = h.load::<T>(va)?;
    // The least reservation set allowed: the bytes loaded.
    (h.reservation, h.reserved) = (Some((offset, T::SIZE)), value.to_u64());
    h.set_x(i.rd, value.sign_extend());
    h.note_atomic();
    Ok(())
}

fn sc<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    let va = h.x[i.rs1];
    let why = "norm:lr_sc_alignment: SC to an address that is not naturally aligned";
    check_aligned(va, T::SIZE as u64, Cause::StoreAddressMisaligned, why)?;
    // "No SC shall retire unless it passes memory permission checks", one that fails neither.
    let target = probe(h, va, T::SIZE, Access::Store)?;
    let offset = reservable(target, va, Cause::StoreAccessFault)?;
    let succeeds =
        h.reservation.is_some_and(|(start, len)| start <= offset && offset + T::SIZE <= start + len);
    let succeeds = match succeeds && h.ram.is_shared(offset) {
        true => exchange_shared(h, offset, T::from_u64(h.reserved), T::from_u64(h.x[i.rs2])),
        false if succeeds => h.store(va, T::from_u64(h.x[i.rs2])).map(|()| true)?,
        false => false,
    };
    h.reservation = None;
    h.set_x(i.rd, u64::from(!succeeds));
    h.note_atomic();
    Ok(())
}

/// Alignment and permission of an AMO. Nothing has happened yet when they fail, and once they hold nothing
/// can fail between the load and the store.
#[inline(always)]
fn check_amo(h: &mut Hart, va: u64, size: usize) -> Exec<Target> {
    let why = "norm:amo_alignment: AMO to an address that is not naturally aligned";
    check_aligned(va, size as u64, Cause::StoreAddressMisaligned, why)?;
    probe(h, va, size, Access::Store)
}

/// Replaces a value in memory that other processes of the host see, if it is still `old`: in one step of the
/// host. Whether it was.
#[cold]
fn exchange_shared<T: Operand>(h: &mut Hart, offset: usize, old: T, new: T) -> bool {
    let done = h.ram.compare_exchange(offset, old, new).is_ok();
    if done && h.ram.note_write(offset, T::SIZE) {
        h.resync = true;
    }
    done
}

/// `rd = mem[rs1]; mem[rs1] = op(rd, rs2)`, where `op` sees the old value in memory sign-extended, `rs2`
/// whole, and gives a value of which the low bits count.
#[inline(always)]
fn amo<T: Operand>(h: &mut Hart, i: &Inst, op: impl Fn(u64, u64) -> u64) -> Exec {
    let (va, operand) = (h.x[i.rs1], h.x[i.rs2]);
    let target = check_amo(h, va, T::SIZE)?;
    let mut value = h.load::<T>(va).map_err(as_store_fault)?;
    match target {
        Target::Ram(offset) if h.ram.is_shared(offset) => {
            while !exchange_shared(h, offset, value, T::from_u64(op(value.sign_extend(), operand))) {
                value = h.load::<T>(va).map_err(as_store_fault)?;
            }
        }
        _ => h.store(va, T::from_u64(op(value.sign_extend(), operand)))?,
    }
    h.set_x(i.rd, value.sign_extend());
    h.note_atomic();
    Ok(())
}

fn amoswap<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, |_, operand| operand)
}

fn amoadd<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, u64::wrapping_add)
}

fn amoand<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, |old, operand| old & operand)
}

fn amoor<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, |old, operand| old | operand)
}

fn amoxor<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, |old, operand| old ^ operand)
}

fn amomax<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, |old, operand| T::signed(old).max(T::signed(operand)) as u64)
}

fn amomin<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, |old, operand| T::signed(old).min(T::signed(operand)) as u64)
}

// Sign extension keeps the order of unsigned numbers too, once both sides have it.

fn amomaxu<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, |old, operand| old.max(T::from_u64(operand).sign_extend()))
}

fn amominu<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    amo::<T>(h, i, |old, operand| old.min(T::from_u64(operand).sign_extend()))
}

/// `temp = mem[rs1]; if temp == rd { mem[rs1] = rs2 }; rd = temp`
fn amocas<T: Operand>(h: &mut Hart, i: &Inst) -> Exec {
    let va = h.x[i.rs1];
    let target = check_amo(h, va, T::SIZE)?;
    let mut old = h.load::<T>(va).map_err(as_store_fault)?;
    while old.to_u64() == T::from_u64(h.x[i.rd]).to_u64() {
        match target {
            Target::Ram(offset) if h.ram.is_shared(offset) => {
                if exchange_shared(h, offset, old, T::from_u64(h.x[i.rs2])) {
                    break;
                }
                old = h.load::<T>(va).map_err(as_store_fault)?;
            }
            _ => {
                h.store(va, T::from_u64(h.x[i.rs2]))?;
                break;
            }
        }
    }
    h.set_x(i.rd, old.sign_extend());
    h.note_atomic();
    Ok(())
}

/// A register pair; that of `x0` is zero, not `x0` and `x1`.
fn pair(h: &Hart, r: u8) -> [u64; 2] {
    if r == 0 { [0, 0] } else { [h.x[r], h.x[r + 1]] }
}

fn amocas_q(h: &mut Hart, i: &Inst) -> Exec {
    if (i.rd | i.rs2) & 1 != 0 {
        let why =
            "norm:Zacas_rv64_amocas-q_frst_pair_entry_reg_even: a register pair starts at an odd register";
        return Err(Trap::illegal(i.raw, why));
    }
    let va = h.x[i.rs1];
    let why = "norm:Zacas_amocas_rs1_addr_alignment: AMO to an address that is not naturally aligned";
    check_aligned(va, 16, Cause::StoreAddressMisaligned, why)?;
    probe(h, va, 16, Access::Store)?;
    let high_va = va + 8;
    let low = h.load::<u64>(va).map_err(as_store_fault)?;
    let high = h.load::<u64>(high_va).map_err(as_store_fault)?;
    if let Some(log) = &mut h.log {
        // It was one load, as Spike's log has it, too.
        log.memory.clear();
        log.load(va, 16);
    }
    if [low, high] == pair(h, i.rd) {
        let [swap_low, swap_high] = pair(h, i.rs2);
        h.store(va, swap_low)?;
        h.store(high_va, swap_high)?;
    }
    if i.rd != 0 {
        h.set_x(i.rd, low);
        h.set_x(i.rd + 1, high);
    }
    h.note_atomic();
    Ok(())
}
