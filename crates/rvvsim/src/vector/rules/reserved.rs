//! Words that are no instruction because a rule of the manual reserves them: by which one.

use rvv_isa::{Op, decode};

/// The `vm` bit of vector instructions.
const VM: u32 = 1 << 25;
/// The `vs2` field.
const VS2: u32 = 31 << 20;

/// The rule that reserves a word that does not decode, where it is one of the vector chapters'.
#[must_use]
pub fn reserved_encoding(word: u32) -> Option<&'static str> {
    match word & 0x7f {
        // LOAD-FP and STORE-FP: widths 0, 5, 6 and 7 are the vectors'.
        0x07 | 0x27 if !matches!(word >> 12 & 7, 1..=4) => memory(word),
        0x57 => by_vs2(word).or_else(|| by_vm(word)).or_else(|| whole_move(word)),
        _ => None,
    }
}

fn memory(word: u32) -> Option<&'static str> {
    if word >> 28 & 1 != 0 {
        return Some("norm:vector_ls_mew_rsv: mew is set");
    }
    // mop 0, lumop or sumop 8: whole registers.
    let whole = word >> 26 & 3 == 0 && word >> 20 & 31 == 8;
    (whole && !matches!(word >> 29, 0 | 1 | 3 | 7))
        .then_some("norm:vector_ls_seg_wholereg_nf_rsv: the number of registers is not 1, 2, 4 or 8")
}

/// Instructions whose `vs2` must be v0.
fn by_vs2(word: u32) -> Option<&'static str> {
    Some(match decode(word & !VS2)?.op {
        Op::VmvVV | Op::VmvVX | Op::VmvVI => "norm:vmv_vs2_nv0_rsv: vs2 of vmv.v is not v0",
        Op::VfmvVF => "norm:vfmv_vs2_nv0_rsv: vs2 of vfmv.v.f is not v0",
        Op::VidV => "norm:vid_vs2_nv0_rsv: vs2 of vid.v is not v0",
        _ => return None,
    })
}

/// Instructions that are always masked, or never.
fn by_vm(word: u32) -> Option<&'static str> {
    Some(match decode(word ^ VM)?.op {
        Op::VadcVvm | Op::VadcVxm | Op::VadcVim | Op::VsbcVvm | Op::VsbcVxm => {
            "norm:vadc_vsbc_unmasked_rsv: vadc and vsbc have no unmasked form"
        }
        Op::VmandMm
        | Op::VmnandMm
        | Op::VmandnMm
        | Op::VmxorMm
        | Op::VmorMm
        | Op::VmnorMm
        | Op::VmornMm
        | Op::VmxnorMm => "norm:vmasklogical_masked_rsv: mask logic has no masked form",
        Op::VmvXS | Op::VmvSX => "norm:vmv-s-x_vmv-x-s_masked_rsv: vmv.x.s and vmv.s.x have no masked form",
        Op::VfmvFS | Op::VfmvSF => "norm:vfmv-s-f_masked_rsv: vfmv.f.s and vfmv.s.f have no masked form",
        Op::VcompressVm => "norm:vcompress_masked_rsv: vcompress.vm has no masked form",
        _ => return None,
    })
}

/// `vmv<nr>r.v` with another number of registers: funct6 100111, OPIVI, vm=1.
fn whole_move(word: u32) -> Option<&'static str> {
    (word >> 25 == 0b100_1111 && word >> 12 & 7 == 3)
        .then_some("norm:vmv-nr-r_nreg_rsv: the number of registers is not 1, 2, 4 or 8")
}
