//! Vector bit manipulation and cryptography (manual, Zvbb, Zvbc and chapter "Vector Cryptography
//! Extensions").

pub(in crate::vector) mod aes;
pub(in crate::vector) mod bitmanip;
pub(in crate::vector) mod ghash;
pub(in crate::vector) mod sha2;
pub(in crate::vector) mod sm3;
pub(in crate::vector) mod sm4;

use crate::Hart;
use crate::trap::Exec;
use crate::vector::run::element::Element;
use crate::vector::run::elements::{begin, end, read_elements, vl, write_elements};
use crate::vector::{Row, VInst, rows};

/// The operands of one step, an element group each.
struct Operands<T, const EGS: usize> {
    vd: [T; EGS],
    vs2: [T; EGS],
    vs1: [T; EGS],
}

/// Runs an instruction on element groups, each from `vstart` to `vl`. `vs2` is the first element group for
/// all of them if it is a scalar one.
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
            let operands = |at: u32, group| read_elements(&v.regs[at as usize + group * size..][..size]);
            let result = step(Operands {
                vd: operands(vi.groups.vd, group),
                vs2: operands(vi.groups.vs2, if vs2_is_scalar { 0 } else { group }),
                vs1: operands(vi.groups.vs1, group),
            });
            write_elements(&mut v.regs[vi.groups.vd as usize + group * size..][..size], &result);
        }
        v.treat_tail(vi.policy.tail, vi.groups.vd as usize, T::SIZE, vi.groups.vd_bytes as usize, vl);
    }
    end(hart);
    Ok(())
}
