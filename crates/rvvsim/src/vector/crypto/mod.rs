//! Vector bit manipulation and cryptography (manual, Zvbb, Zvbc and chapter "Vector Cryptography Extensions").

mod aes;
mod bitmanip;
mod ghash;
mod sha2;
mod sm3;
mod sm4;

use super::body::{begin, end, read_lanes, vl, write_lanes};
use super::element::Element;
use super::legality::{Eew, Shape};
use super::{Row, VInst};
use crate::Hart;
use crate::trap::Exec;
use rvv_isa::{Op, Sew};

/// The rows of the chapter.
pub(super) fn entry(op: Op, sew: Sew) -> Option<Row> {
    bitmanip::entry(op, sew).or_else(|| {
        aes::entry(op)
            .or_else(|| sha2::entry(op, sew))
            .or_else(|| ghash::entry(op))
            .or_else(|| sm3::entry(op))
            .or_else(|| sm4::entry(op))
            .map(Row::from)
    })
}

/// The shape of instructions on element groups of `egw` bits.
const fn groups(vd: Eew, vs2: Eew, vs1: Eew, egw: u32) -> Shape {
    Shape { egw, ..Shape::new(vd, vs2, vs1) }
}

/// The element width 32, as [`Shape::only_sew`] takes it.
const E32: u8 = 1 << 2;

/// `vd` and a round key `vs2` for each element group.
const fn rounds(rule: &'static str) -> Shape {
    groups(Eew::Sew, Eew::Sew, Eew::Absent, 128).reads_vd().only_sew(E32, rule)
}

/// `vd` and one round key `vs2`, a scalar element group, for all.
const fn rounds_by_scalar(sew_rule: &'static str, overlap_rule: &'static str) -> Shape {
    groups(Eew::Sew, Eew::ElementGroup0, Eew::Absent, 128)
        .reads_vd()
        .only_sew(E32, sew_rule)
        .apart_vs2(overlap_rule)
}

/// The operands of one step, an element group each.
struct Operands<T, const EGS: usize> {
    vd: [T; EGS],
    vs2: [T; EGS],
    vs1: [T; EGS],
}

/// Runs an instruction on element groups, each from `vstart` to `vl`. `vs2` is the first element group for all of
/// them if it is a scalar one.
#[inline(always)]
fn run_groups<T: Element, const EGS: usize>(
    hart: &mut Hart,
    vi: &VInst,
    vs2_is_scalar: bool,
    step: impl Fn(Operands<T, EGS>) -> [T; EGS],
) -> Exec {
    begin(hart, vi)?;
    let v = &mut hart.v;
    let (vstart, vl) = (v.vstart as usize, vl(v, vi));
    if vl % EGS != 0 || vstart % EGS != 0 {
        return Err(vi.illegal(
            "norm:veccrypto_vl_vstart_rsv: vl or vstart is not a multiple of the element group size",
        ));
    }
    if vstart < vl {
        let size = EGS * T::SIZE;
        for group in vstart / EGS..vl / EGS {
            let lanes = |at: u32, group| read_lanes(&v.regs[at as usize + group * size..][..size]);
            let result = step(Operands {
                vd: lanes(vi.vd, group),
                vs2: lanes(vi.vs2, if vs2_is_scalar { 0 } else { group }),
                vs1: lanes(vi.vs1, group),
            });
            write_lanes(&mut v.regs[vi.vd as usize + group * size..][..size], &result);
        }
        v.treat_tail(vi.tail, vi.vd as usize, T::SIZE, vi.group as usize, vl);
    }
    end(hart);
    Ok(())
}
