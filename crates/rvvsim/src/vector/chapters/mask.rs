//! Vector mask instructions (manual, chapter "Vector Mask Instructions").

use crate::Hart;
use crate::trap::Exec;
use crate::vector::run::element::{Element, by_sew, kernel_by_sew};
use crate::vector::run::elements::write_mask_word;
use crate::vector::run::elements::{
    StatefulKernel, begin, end, low_bits, mask_bits, register_bits, vl, write_group,
};
use crate::vector::run::maps::Number;
use crate::vector::{Form, Row, VInst, rows};
use rvv_isa::Sew;
use rvv_isa::chapter::VectorMask;
use std::marker::PhantomData;

/// A logical operation on 64 mask elements at once: `a` of `vs2`, `b` of `vs1`.
trait Logical {
    fn apply(a: u64, b: u64) -> u64;
}

macro_rules! logical {
    ($($name:ident($a:ident, $b:ident) = $body:expr;)*) => {$(
        /// norm:vmand_vmnand_vmandn_vmxor_vmor_vmnor_vmorn_vmxnor_op
        struct $name;
        impl Logical for $name {
            #[inline(always)]
            fn apply($a: u64, $b: u64) -> u64 {
                $body
            }
        }
    )*};
}

logical! {
    Vmand(a, b) = a & b;
    Vmnand(a, b) = !(a & b);
    Vmandn(a, b) = a & !b;
    Vmxor(a, b) = a ^ b;
    Vmor(a, b) = a | b;
    Vmnor(a, b) = !(a | b);
    Vmorn(a, b) = a | !b;
    Vmxnor(a, b) = !(a ^ b);
}

fn logical<O: Logical>(hart: &mut Hart, vi: &VInst) -> Exec {
    begin(hart, vi)?;
    let v = &mut hart.v;
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vstart < vl {
        let mut word = vstart - vstart % 64;
        while word < vl {
            let a = register_bits::<64>(&v.regs, vi.groups.vs2 as usize, word);
            let b = register_bits::<64>(&v.regs, vi.groups.vs1 as usize, word);
            let body = low_bits(vl - word) & !low_bits(vstart.saturating_sub(word));
            write_mask_word(v, vi, word, O::apply(a, b), body, 0);
            word += 64;
        }
        v.treat_mask_tail(vi.policy.tail, vi.groups.vd as usize, vl);
    }
    end(hart);
    Ok(())
}

/// Each 64 elements of the mask `vs2`, with which of them are active, and the index of the first.
#[inline(always)]
fn words<'a>(hart: &'a Hart, vi: &'a VInst) -> impl Iterator<Item = (usize, u64, u64)> + 'a {
    let (regs, vl) = (&hart.v.regs, vl(&hart.v, vi));
    (0..vl).step_by(64).map(move |word| {
        let mask = if vi.policy.masked { mask_bits::<64>(regs, word) } else { !0 };
        (word, register_bits::<64>(regs, vi.groups.vs2 as usize, word), mask & low_bits(vl - word))
    })
}

/// These instructions start from element 0 only.
fn require_vstart_0(hart: &Hart, vi: &VInst, rule: &'static str) -> Exec {
    if hart.v.vstart == 0 { Ok(()) } else { Err(vi.illegal(rule)) }
}

/// norm:vcpop_op
fn vcpop(hart: &mut Hart, vi: &VInst) -> Exec {
    require_vstart_0(hart, vi, "norm:vcpop_vstart_n0_ill: vcpop.m with vstart that is not zero")?;
    let count: u32 = words(hart, vi).map(|(_, bits, active)| (bits & active).count_ones()).sum();
    hart.set_x(vi.inst.rd, u64::from(count));
    end(hart);
    Ok(())
}

/// norm:vfirst_op
fn vfirst(hart: &mut Hart, vi: &VInst) -> Exec {
    require_vstart_0(hart, vi, "norm:vfirst_vstart_n0_ill: vfirst.m with vstart that is not zero")?;
    let first = words(hart, vi)
        .find(|(_, bits, active)| bits & active != 0)
        .map_or(u64::MAX, |(word, bits, active)| word as u64 + u64::from((bits & active).trailing_zeros()));
    hart.set_x(vi.inst.rd, first);
    end(hart);
    Ok(())
}

/// What `vmsbf`, `vmsif` and `vmsof` set around the first set bit.
trait Around {
    const RULE: &'static str;
    /// In a word before the one with the first set bit.
    const BEFORE: u64;
    /// In the word where bit `i` is the first set one.
    fn at(i: u32) -> u64;
}

struct Before;
struct Including;
struct Only;

impl Around for Before {
    const RULE: &'static str = "norm:vmsbf_vstart_n0_ill: vmsbf.m with vstart that is not zero";
    const BEFORE: u64 = !0;
    fn at(i: u32) -> u64 {
        (1 << i) - 1
    }
}

impl Around for Including {
    const RULE: &'static str = "norm:vmsif_vstart_n0_ill: vmsif.m with vstart that is not zero";
    const BEFORE: u64 = !0;
    fn at(i: u32) -> u64 {
        ((1 << i) - 1) | (1 << i)
    }
}

impl Around for Only {
    const RULE: &'static str = "norm:vmsof_vstart_n0_ill: vmsof.m with vstart that is not zero";
    const BEFORE: u64 = 0;
    fn at(i: u32) -> u64 {
        1 << i
    }
}

/// norm:vmsbf_op, norm:vmsif_op, norm:vmsof_op
fn set_around_first<O: Around>(hart: &mut Hart, vi: &VInst) -> Exec {
    require_vstart_0(hart, vi, O::RULE)?;
    let vl = vl(&hart.v, vi);
    let mut found = false;
    for word in (0..vl).step_by(64) {
        let body = low_bits(vl - word);
        let active = if vi.policy.masked { body & mask_bits::<64>(&hart.v.regs, word) } else { body };
        let source = active & register_bits::<64>(&hart.v.regs, vi.groups.vs2 as usize, word);
        let bits = match source {
            _ if found => 0,
            0 => O::BEFORE,
            _ => O::at(source.trailing_zeros()),
        };
        found |= source != 0;
        write_mask_word(&mut hart.v, vi, word, bits, active, body & !active);
    }
    if vl > 0 {
        hart.v.treat_mask_tail(vi.policy.tail, vi.groups.vd as usize, vl);
    }
    end(hart);
    Ok(())
}

/// norm:viota_op: the number of set bits so far, of active elements. The sum keeps its low SEW bits.
struct Viota<T> {
    vs2: usize,
    sum: u64,
    element: PhantomData<T>,
}

impl<T: Element> StatefulKernel for Viota<T> {
    type D = T;

    #[inline(always)]
    fn block<const N: usize>(&mut self, regs: &[u8], first: usize, active: u64) -> [T; N] {
        let bits = register_bits::<N>(regs, self.vs2, first) & active;
        let mut result = [T::ZERO; N];
        for (i, lane) in result.iter_mut().enumerate() {
            *lane = T::from_u64(self.sum);
            self.sum += bits >> i & 1;
        }
        result
    }
}

fn viota<T: Element>(hart: &mut Hart, vi: &VInst) -> Exec {
    require_vstart_0(hart, vi, "norm:viota_vstart_n0_ill: viota.m with vstart that is not zero")?;
    write_group(
        &mut hart.v,
        vi,
        &mut Viota::<T> { vs2: vi.groups.vs2 as usize, sum: 0, element: PhantomData },
    );
    end(hart);
    Ok(())
}

/// The rows of the chapter.
pub(in crate::vector) fn row(op: VectorMask, sew: Sew) -> Row {
    rows! { op;
        vmand.mm => Row::own(logical::<Vmand>);
        vmnand.mm => Row::own(logical::<Vmnand>);
        vmandn.mm => Row::own(logical::<Vmandn>);
        vmxor.mm => Row::own(logical::<Vmxor>);
        vmor.mm => Row::own(logical::<Vmor>);
        vmnor.mm => Row::own(logical::<Vmnor>);
        vmorn.mm => Row::own(logical::<Vmorn>);
        vmxnor.mm => Row::own(logical::<Vmxnor>);
        vcpop.m => Row::own(vcpop);
        vfirst.m => Row::own(vfirst);
        vmsbf.m => Row::own(set_around_first::<Before>);
        vmsif.m => Row::own(set_around_first::<Including>);
        vmsof.m => Row::own(set_around_first::<Only>);
        viota.m => Row::own(by_sew!(all sew, viota::<U>));
        // norm:vid_op
        vid.v => Row::new(Form::Map, kernel_by_sew!(all sew, Number<(), U>));
    }
}
