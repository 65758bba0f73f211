//! The reserved encodings: what an instruction may not do under a given `vtype`.
//!
//! The instruction table says with a [`Shape`] how wide each operand is; everything that follows from that is
//! checked here, once, when the instruction is decoded.

use crate::config::Config;
use rvv_isa::{Eew, Ext, Float, Inst, Isa, Lmul, Sew, Shape, Vtype};

/// The rule that an instruction breaks while `vill` is set.
pub const VILL: &str = "norm:vtype_vill_op: the instruction depends on vtype, and vill is set";

/// The rule that a register breaks that is a source with two EEWs.
pub const TWO_EEWS: &str =
    "norm:vreg_source_eew_rsv: a vector register provides source operands with two EEWs";

/// The rule that a `vstart` past the last element breaks.
pub const VSTART: &str =
    "norm:vstart_val_rsv: vstart is greater than the largest element index for the current vtype";

/// What [`check`] found out.
pub struct Layout {
    /// The registers of `vd`; of one field, if it is a segment.
    pub vd_registers: u32,
    /// EEW of `vd` in bits; 0 if there is none.
    pub vd_eew: u32,
    /// A source of another EEW overlaps the destination, and therefore the instruction is tail- and
    /// mask-agnostic.
    pub agnostic: bool,
}

/// The registers of an operand.
#[derive(Clone, Copy)]
struct RegisterGroup {
    first: u32,
    count: u32,
    /// EEW in bits.
    eew: u32,
    /// log2(EMUL).
    emul: i32,
}

impl RegisterGroup {
    fn overlaps(self, other: RegisterGroup) -> bool {
        self.first < other.first + other.count && other.first < self.first + self.count
    }

    fn last(self) -> u32 {
        self.first + self.count - 1
    }

    /// norm:vreg_overlap_legal, for `self` the destination.
    fn may_overlap(self, source: RegisterGroup) -> bool {
        if self.eew < source.eew {
            self.first == source.first
        } else {
            self.eew == source.eew || (source.emul >= 0 && self.last() == source.last())
        }
    }
}

const INDEXED_SEGMENT: &str =
    "norm:vector_ls_seg_indexed_vreg_rsv: the destination of an indexed segment load overlaps the indices";

const V0: RegisterGroup = RegisterGroup { first: 0, count: 1, eew: 1, emul: 0 };

/// An instruction's shape under a configuration and `vtype`.
pub struct Checker<'a> {
    config: &'a Config,
    vtype: Vtype,
    shape: &'static Shape,
}

impl<'a> Checker<'a> {
    /// To check this shape.
    #[must_use]
    pub fn new(config: &'a Config, vtype: Vtype, shape: &'static Shape) -> Self {
        Checker { config, vtype, shape }
    }
}

impl Checker<'_> {
    /// EEW in bits and log2(EMUL) of an operand, and whether it is an aligned group.
    ///
    /// # Errors
    /// The rule it breaks.
    pub fn width(&self, eew: Eew) -> Result<Option<(u32, i32, bool)>, &'static str> {
        let Vtype { sew, lmul, .. } = self.vtype;
        let (sew, lmul) = (sew.bits(), lmul.log2());
        let elen = self.config.isa.elen();
        let too_wide = if self.shape.memory.is_some() {
            "norm:vector_ls_ins_rsv: the EEW of the load or store is greater than ELEN"
        } else {
            "norm:elen: an operand's EEW is greater than ELEN"
        };
        let (eew, emul, group) = match eew {
            Eew::Absent => return Ok(None),
            Eew::Sew => (sew, lmul, true),
            Eew::Wide => (2 * sew, lmul + 1, true),
            Eew::Fraction(n) => {
                let least = -((elen.max(8) / 8).ilog2() as i32);
                if sew >> n < 8 || lmul - i32::from(n) < least {
                    return Err(
                        "norm:vsext_vzext_ill_eew_emul_rsv: the source EEW is not a supported width, \
                                or its EMUL is below the least LMUL",
                    );
                }
                (sew >> n, lmul - i32::from(n), true)
            }
            Eew::Of(eew) => {
                (eew.bits(), lmul + eew.encoding() as i32 - self.vtype.sew.encoding() as i32, true)
            }
            Eew::Mask => (1, 0, false),
            Eew::Element0 => (sew, 0, false),
            Eew::WideElement0 => (2 * sew, 0, false),
            Eew::ElementGroup0 => (sew, (128 / self.config.vlen).max(1).ilog2() as i32, true),
            Eew::Registers(n) => (8, n.ilog2() as i32, true),
        };
        if eew > elen {
            return Err(too_wide);
        }
        if !(-3..=3).contains(&emul) {
            return Err(if self.shape.memory.is_some() {
                "norm:vector_ls_emul_rsv: EMUL = (EEW/SEW)*LMUL is out of range (1/8 to 8)"
            } else {
                "norm:emul_rsv: an operand needs a register group of EMUL > 8"
            });
        }
        Ok(Some((eew, emul, group)))
    }

    fn registers(&self, eew: Eew, first: u8) -> Result<Option<RegisterGroup>, &'static str> {
        let Some((bits, emul, group)) = self.width(eew)? else { return Ok(None) };
        let count = 1 << emul.max(0);
        if group && u32::from(first) % count != 0 {
            return Err(self.misaligned(eew, count));
        }
        Ok(Some(RegisterGroup { first: u32::from(first), count, eew: bits, emul }))
    }

    fn misaligned(&self, eew: Eew, count: u32) -> &'static str {
        match (eew, count) {
            (Eew::Registers(_), _) if self.shape.memory.is_none() => {
                "norm:vmv-nr-r_unaligned_rsv: a register number is not a multiple of the number of registers"
            }
            _ if self.shape.memory.is_some() => {
                "norm:vector_ls_emul_offgroup_rsv: a register number is not a multiple of EMUL"
            }
            (Eew::Sew, 2) => "norm:vreg_offgroup_lmul2_rsv: LMUL=2 and a register number is odd",
            (Eew::Sew, 4) => {
                "norm:vreg_offgroup_lmul4_rsv: LMUL=4 and a register number is not a multiple of 4"
            }
            (Eew::Sew, 8) => {
                "norm:vreg_offgroup_lmul8_rsv: LMUL=8 and a register number is not a multiple of 8"
            }
            _ => "norm:emul_offgroup_rsv: a register number is not a multiple of the operand's EMUL",
        }
    }

    fn check_float(&self) -> Result<(), &'static str> {
        let isa = &self.config.isa;
        let sew = self.vtype.sew.bits();
        let convert = self.shape.float == Float::Convert;
        let single = match self.shape.float {
            // Whether there is bf16 is a matter of decoding.
            Float::No | Float::Bf16 => return Ok(()),
            Float::Sew => has_float(isa, sew, false),
            Float::Wide => has_float(isa, 2 * sew, false),
            Float::Both | Float::Convert => has_float(isa, sew, convert) && has_float(isa, 2 * sew, false),
        };
        if single {
            Ok(())
        } else {
            Err("norm:V_fp_EEW_IEEE_nsupported_rsv: the EEW of a floating-point operand is not that of a \
                 supported floating-point type")
        }
    }
}

/// Whether vectors of IEEE numbers of this width are there.
fn has_float(isa: &Isa, bits: u32, convert_only: bool) -> bool {
    match bits {
        16 => isa.has(Ext::Zvfh) || (convert_only && isa.has(Ext::Zvfhmin)),
        32 => isa.has(Ext::Zve32f),
        64 => isa.has(Ext::Zve64d),
        _ => false,
    }
}

/// Checks an instruction.
///
/// # Errors
/// The rule it breaks.
pub fn check(config: &Config, inst: &Inst, vtype: Vtype) -> Result<Layout, &'static str> {
    let shape = inst.op.shape();
    let checker = Checker::new(config, vtype, shape);
    if vtype.vill && !shape.ignores_vtype() {
        return Err(VILL);
    }
    if let Some((widths, rule)) = shape.only_sew
        && !widths.contains(&vtype.sew)
    {
        return Err(rule);
    }
    if shape.group > 1 && group_bits(config, vtype.lmul) < u32::from(shape.group) * vtype.sew.bits() {
        return Err("norm:veccrypto_lmul_egwconstr: LMUL*VLEN is smaller than the element group width");
    }
    if let (Eew::Registers(n), Some(memory)) = (shape.vd, shape.memory) {
        // norm:vector_ls_seg_wholereg_eew: EEW=min(VLEN*NFIELDS, EEW_encoded).
        let eew = memory.eew.bits().min(config.vlen * u32::from(n));
        if eew > config.isa.elen() {
            return Err("norm:vector_ls_ins_rsv: the EEW of the load is greater than ELEN");
        }
    }
    checker.check_float()?;
    if vtype.sew == Sew::E64
        && let Some((ext, rule)) = shape.e64_needs
        && !config.isa.has(ext)
    {
        return Err(rule);
    }

    let vs2 = checker.registers(shape.vs2, inst.rs2)?;
    let vs1 = checker.registers(shape.vs1, inst.rs1)?;
    let field = checker.registers(shape.vd, inst.rd)?;
    let vd = match field {
        Some(field) => Some(segment(field, shape.fields(inst))?),
        None => None,
    };
    let v0 = (!inst.vm).then_some(V0);

    // Sources among each other.
    let source_vd = vd.filter(|_| shape.reads_vd || shape.is_store());
    let sources = [vs2, vs1, source_vd, v0];
    for (i, a) in sources.iter().enumerate() {
        for b in &sources[i + 1..] {
            if let (Some(a), Some(b)) = (a, b)
                && a.eew != b.eew
                && a.overlaps(*b)
                && !config.lenient
            {
                return Err(TWO_EEWS);
            }
        }
    }

    // The destination and the sources.
    let apart_vs2 = match shape.memory {
        Some(memory) if memory.is_indexed() && shape.fields(inst) > 1 => Some(INDEXED_SEGMENT),
        _ => shape.apart_vs2,
    };
    let mut agnostic = false;
    if let Some(vd) = vd.filter(|_| !shape.is_store()) {
        for (source, rule) in [(vs2, apart_vs2), (vs1, shape.apart_vs1), (v0, shape.apart_v0)] {
            let Some(source) = source.filter(|source| source.overlaps(vd)) else { continue };
            if let Some(rule) = rule {
                return Err(rule);
            }
            if !shape.vd.is_element0() && !vd.may_overlap(source) {
                return Err(
                    "norm:vreg_overlap_rsv: the destination overlaps a source of a different EEW in a \
                            way that is not one of the allowed ones",
                );
            }
            // norm:vreg_overlap_agn
            agnostic |= source.eew != vd.eew;
        }
    }
    let (vd_registers, vd_eew) = field.map_or((0, 0), |field| (field.count, field.eew));
    Ok(Layout { vd_registers, vd_eew, agnostic })
}

/// The bits of a register group of LMUL.
fn group_bits(config: &Config, lmul: Lmul) -> u32 {
    (config.vlen << 3) >> (3 - lmul.log2())
}

/// All registers of `vd`, if it is the first field of a segment.
fn segment(field: RegisterGroup, fields: u8) -> Result<RegisterGroup, &'static str> {
    let fields = u32::from(fields);
    if fields == 1 {
        return Ok(field);
    }
    let count = field.count * fields;
    if count > 8 {
        return Err("norm:emul_nfields_rsv: EMUL * NFIELDS is greater than 8");
    }
    if field.first + count > 32 {
        return Err("norm:vector_ls_seg_rsv: the registers of the segment go past v31");
    }
    Ok(RegisterGroup { count, ..field })
}
