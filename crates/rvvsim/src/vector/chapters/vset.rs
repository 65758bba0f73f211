//! Configuration-setting instructions: `vsetvli`, `vsetivli` and `vsetvl`.

use crate::Hart;
use crate::config::{Config, VlChoice, VsetvlX0};
use crate::trap::Exec;
use crate::vector::rules::policy::{Policy, Written};
use crate::vector::run::fast_path::FastPaths;
use crate::vector::run::kernel::BoundKernel;
use crate::vector::{
    ElementPolicy, FastPath, NO_KERNEL, NO_OPERANDS, RegisterGroups, Run, ScalarOperand, VInst, rows,
};
use rvv_isa::chapter::VectorConfig;
use rvv_isa::random::mix;
use rvv_isa::{Inst, Lmul, Op, Sew, Vtype};

/// The `vtype` a machine has after it is asked for this one: itself, or `vill` where it is not supported.
#[must_use]
pub fn supported(config: &Config, vtype: Vtype) -> Vtype {
    // "Implementations must support SEW settings between SEW_MIN and LMUL * min(ELEN, VLEN)" where LMUL is a
    // fraction; we support no others.
    let elen = config.isa.elen().min(config.vlen);
    let widest = elen >> (-vtype.lmul.log2()).max(0);
    if !vtype.vill && vtype.sew.bits() <= widest { vtype } else { Vtype::VILL }
}

/// Whether AVL is the current `vl`: rd and rs1 are both x0.
fn keeps_vl(inst: &Inst) -> bool {
    inst.op != Op::Vsetivli && inst.rd == 0 && inst.rs1 == 0
}

/// The `vtype` that an instruction which asks for `new` leaves behind.
fn resulting(config: &Config, inst: &Inst, old: Vtype, new: Vtype) -> Vtype {
    let new = supported(config, new);
    // norm:vtype_vset_rsv: reserved if VLMAX changes, or if vill was set.
    let changes = old.vill || old.vlmax(config.vlen) != new.vlmax(config.vlen);
    if keeps_vl(inst) && changes && config.vsetvl_x0 == VsetvlX0::Vill { Vtype::VILL } else { new }
}

/// The `vtype` after `vsetvli` or `vsetivli`; `None` after `vsetvl`, which takes it from a register.
#[must_use]
pub fn next_vtype(config: &Config, inst: &Inst, old: Vtype) -> Option<Vtype> {
    match inst.op {
        Op::Vsetvli | Op::Vsetivli => {
            Some(resulting(config, inst, old, Vtype::from_bits(u64::from(inst.imm as u32))))
        }
        _ => None,
    }
}

pub(in crate::vector) fn translate(config: &Config, inst: &Inst, op: VectorConfig, old: Vtype) -> VInst {
    let vtype = next_vtype(config, inst, old).unwrap_or(old);
    let run: Run = rows! { op;
        vsetvli => vsetvli;
        vsetivli => vsetivli;
        vsetvl => vsetvl;
    };
    let has_plain_avl = inst.op == Op::Vsetvli && inst.rs1 != 0;
    let path = if has_plain_avl && config.vl == VlChoice::Max && !vtype.vill {
        FastPath::SetVl
    } else {
        FastPath::No
    };
    VInst {
        inst: *inst,
        run,
        vtype,
        vlmax: vtype.vlmax(config.vlen),
        groups: RegisterGroups::default(),
        scalar: ScalarOperand::default(),
        policy: ElementPolicy { masked: false, inactive: Policy::Undisturbed, tail: Policy::Undisturbed },
        spec: &NO_KERNEL,
        kernel: BoundKernel::new(&NO_KERNEL, NO_OPERANDS, 0),
        fast: FastPaths::only(path),
        written: Written::NOTHING,
    }
}

/// `vsetvli` as it mostly is: the lesser of AVL, in a register, and VLMAX.
#[inline(always)]
pub(in crate::vector) fn set_to_least(hart: &mut Hart, vi: &VInst) -> bool {
    let vl = hart.x[vi.inst.rs1].min(u64::from(vi.vlmax));
    hart.v.vtype = vi.vtype;
    hart.v.vl = vl;
    hart.v.vstart = 0;
    hart.vs_dirty = true;
    hart.set_x(vi.inst.rd, vl);
    true
}

fn vsetvli(hart: &mut Hart, vi: &VInst) -> Exec {
    set_by_register(hart, vi, vi.vtype, vi.vlmax)
}

fn vsetivli(hart: &mut Hart, vi: &VInst) -> Exec {
    let vl = choose_vl(hart, u64::from(vi.inst.rs1), u64::from(vi.vlmax));
    set(hart, vi, vi.vtype, vl)
}

fn vsetvl(hart: &mut Hart, vi: &VInst) -> Exec {
    let asked = Vtype::from_bits(hart.x[vi.inst.rs2]);
    let vtype = resulting(&hart.config, &vi.inst, hart.v.vtype, asked);
    set_by_register(hart, vi, vtype, vtype.vlmax(hart.config.vlen))
}

/// The AVL of `vsetvli` and `vsetvl` is in rs1; x0 there means VLMAX, and x0 twice the current `vl`.
fn set_by_register(hart: &mut Hart, vi: &VInst, vtype: Vtype, vlmax: u32) -> Exec {
    let vlmax = u64::from(vlmax);
    let vl = if keeps_vl(&vi.inst) {
        match hart.config.vsetvl_x0 {
            _ if vtype.vill => 0,
            VsetvlX0::Keep => hart.v.vl,
            VsetvlX0::Vill | VsetvlX0::Clamp => hart.v.vl.min(vlmax),
        }
    } else {
        let avl = if vi.inst.rs1 == 0 { u64::MAX } else { hart.x[vi.inst.rs1] };
        choose_vl(hart, avl, vlmax)
    };
    set(hart, vi, vtype, vl)
}

/// Manual, section "Constraints on Setting vl". VLMAX is 0 if `vill` will be set.
#[inline]
fn choose_vl(hart: &mut Hart, avl: u64, vlmax: u64) -> u64 {
    let config = &hart.config;
    if avl <= vlmax {
        return avl;
    }
    if avl >= 2 * vlmax || config.vl == VlChoice::Max {
        return vlmax;
    }
    let least = avl.div_ceil(2);
    let chosen = match config.vl {
        VlChoice::Max => vlmax,
        VlChoice::Half => least,
        // "Deterministic on any given implementation for same input AVL and VLMAX values", so not a stream.
        VlChoice::Random(seed) => least + mix(mix(mix(seed) ^ avl) ^ vlmax) % (vlmax - least + 1),
    };
    // norm:egs_vl_avl: "either VLMAX or a positive integer multiple of EGSMAX".
    let groups = config.isa.largest_group();
    let multiple = config.vl_multiple.map_or_else(|| u64::from(groups), |n| u64::from(n.get()));
    let rounded = chosen.next_multiple_of(multiple).min(vlmax);
    hart.v.vl_rounded |= rounded != chosen;
    rounded
}

/// The instruction that set `vill`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VillOrigin {
    /// Its address.
    pub pc: u64,
    /// Itself.
    pub inst: Inst,
    /// The `vtype` it asked for, in bits.
    pub asked: u64,
    /// Why it got `vill`.
    pub why: &'static str,
}

impl VillOrigin {
    /// The `vtype` it asked for, in words.
    #[must_use]
    pub fn asked_in_words(&self) -> String {
        let (vsew, vlmul) = (self.asked as u32 >> 3 & 7, self.asked as u32 & 7);
        let sew =
            Sew::from_encoding(vsew).map_or(format!("vsew={vsew}"), |sew| format!("SEW={}", sew.bits()));
        let lmul = Lmul::from_encoding(vlmul).map_or(format!("vlmul={vlmul}"), |lmul| match lmul.log2() {
            log @ 0.. => format!("LMUL={}", 1 << log),
            log => format!("LMUL=1/{}", 1 << -log),
        });
        format!("{sew}, {lmul} (vtype={:#x})", self.asked)
    }
}

/// Why an instruction that asks for a `vtype` gets `vill`.
#[cold]
fn why_vill(config: &Config, inst: &Inst, old: Vtype, asked: u64) -> &'static str {
    let vtype = Vtype::from_bits(asked);
    match asked {
        _ if asked >> 63 != 0 => "the vtype it asks for has vill set",
        _ if asked >> 8 != 0 => "reserved bits of the vtype it asks for are not zero",
        _ if Sew::from_encoding(asked as u32 >> 3 & 7).is_none() => "vsew is reserved",
        _ if Lmul::from_encoding(asked as u32 & 7).is_none() => "vlmul is reserved",
        _ if vtype.sew.bits() > config.isa.elen() => "SEW is greater than ELEN",
        _ if supported(config, vtype).vill => "SEW is greater than LMUL*ELEN",
        _ if keeps_vl(inst) && old.vill => {
            "norm:vtype_vset_rsv: it keeps vl, its rd and rs1 being x0, while vill is set"
        }
        _ => "norm:vtype_vset_rsv: it keeps vl, its rd and rs1 being x0, and changes the SEW/LMUL ratio",
    }
}

#[cold]
fn remember_vill(hart: &mut Hart, inst: &Inst) {
    let asked = if inst.op == Op::Vsetvl { hart.x[inst.rs2] } else { u64::from(inst.imm as u32) };
    let why = why_vill(&hart.config, inst, hart.v.vtype, asked);
    hart.v.vill_origin = Some(VillOrigin { pc: hart.pc, inst: *inst, asked, why });
}

fn set(hart: &mut Hart, vi: &VInst, vtype: Vtype, vl: u64) -> Exec {
    if vtype.vill {
        remember_vill(hart, &vi.inst);
    }
    hart.v.vtype = vtype;
    hart.v.vl = vl;
    hart.v.vstart = 0;
    hart.vs_dirty = true;
    hart.set_x(vi.inst.rd, vl);
    Ok(())
}
