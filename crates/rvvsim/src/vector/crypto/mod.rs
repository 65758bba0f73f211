//! Vector bit manipulation and cryptography (manual, Zvbb, Zvbc and chapter "Vector Cryptography Extensions").

pub(super) mod aes;
pub(super) mod bitmanip;
pub(super) mod ghash;
pub(super) mod sha2;
pub(super) mod sm3;
pub(super) mod sm4;

use super::body::{begin, end, read_lanes, vl, write_lanes};
use super::element::Element;
use super::{Row, VInst, rows};
use crate::Hart;
use crate::trap::Exec;

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
