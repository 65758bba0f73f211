//! The reserved encodings: what an instruction may not do under a given `vtype`.
//!
//! A row of the chapters' tables says with a [`Shape`] how wide each operand is; everything that follows from
//! that is checked here, once, when the instruction is decoded.

use crate::config::Config;
use rvv_isa::{Ext, Inst, Isa, Lmul, Op, Sew, Vtype};

/// The rule that an instruction breaks while `vill` is set.
pub const VILL: &str = "norm:vtype_vill_op: the instruction depends on vtype, and vill is set";

/// The rule that a register breaks that is a source with two EEWs.
pub const TWO_EEWS: &str =
    "norm:vreg_source_eew_rsv: a vector register provides source operands with two EEWs";

/// The rule that a `vstart` past the last element breaks.
pub const VSTART: &str =
    "norm:vstart_val_rsv: vstart is greater than the largest element index for the current vtype";

/// The width of a vector operand's elements, and with it the size of its register group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Eew {
    /// There is no such operand, or it is a scalar register.
    Absent,
    /// EEW=SEW, EMUL=LMUL.
    Sew,
    /// EEW=2*SEW, EMUL=2*LMUL.
    Wide,
    /// EEW=SEW/n, EMUL=LMUL/n; n is 2 to this power.
    Fraction(u8),
    /// This EEW, EMUL=(EEW/SEW)*LMUL.
    Of(Sew),
    /// A mask register: EEW=1, one register.
    Mask,
    /// Element 0 of a register, EEW=SEW.
    Element0,
    /// Element 0 of a register, EEW=2*SEW.
    WideElement0,
    /// A scalar element group of 128 bits, EEW=SEW.
    ElementGroup0,
    /// So many whole registers, EEW=8: moved without looking at `vtype`.
    Registers(u8),
}

/// Which operands are floating-point numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Float {
    /// None.
    No,
    /// Those of SEW.
    Sew,
    /// Those of 2*SEW.
    Wide,
    /// Those of SEW and those of 2*SEW.
    Both,
    /// As `Both`, and binary16 is there with Zvfhmin already.
    Convert,
    /// bf16 and binary32: SEW=16.
    Bf16(&'static str),
}

/// What an instruction needs of its operands.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// The destination, or the data of a store.
    pub vd: Eew,
    /// The first source.
    pub vs2: Eew,
    /// The second source.
    pub vs1: Eew,
    /// Fields of a segment: `vd` is so many groups.
    pub fields: u8,
    /// `vd` is a source as well.
    pub reads_vd: bool,
    /// `vd` is no destination.
    pub store: bool,
    /// It is a load or a store.
    pub memory: bool,
    /// `vm=0` says that v0 is a carry or a selector, and not that elements may be inactive.
    pub v0_is_operand: bool,
    /// Floating-point operands.
    pub float: Float,
    /// It does not depend on `vtype`.
    pub any_vtype: bool,
    /// The rule that keeps `vd` from overlapping `vs2`.
    pub apart_vs2: Option<&'static str>,
    /// The rule that keeps `vd` from overlapping `vs1`.
    pub apart_vs1: Option<&'static str>,
    /// The rule that keeps `vd` from being v0 where v0 is read.
    pub apart_v0: Option<&'static str>,
    /// The only element widths there are, by their encoding as bits, and the rule that says so.
    pub only_sew: Option<(u8, &'static str)>,
    /// The element group width in bits.
    pub egw: u32,
    /// The EEW that a whole-register load encodes, in bits.
    pub encoded_eew: u32,
}

const MASK_OVERLAP: &str =
    "norm:vreg_vmask_rsv: the destination of a masked instruction overlaps the mask register v0";

impl Shape {
    /// A shape with these operands and nothing special.
    #[must_use]
    pub const fn new(vd: Eew, vs2: Eew, vs1: Eew) -> Shape {
        let to_mask_or_element = matches!(vd, Eew::Mask | Eew::Element0 | Eew::WideElement0);
        Shape {
            vd,
            vs2,
            vs1,
            fields: 1,
            reads_vd: false,
            store: false,
            memory: false,
            v0_is_operand: false,
            float: Float::No,
            any_vtype: false,
            apart_vs2: None,
            apart_vs1: None,
            apart_v0: if to_mask_or_element { None } else { Some(MASK_OVERLAP) },
            only_sew: None,
            egw: 0,
            encoded_eew: 0,
        }
    }

    /// `vop.vv`.
    pub const VV: Shape = Shape::new(Eew::Sew, Eew::Sew, Eew::Sew);
    /// `vop.vx`, `vop.vi`, `vop.vf`, `vop.v`.
    pub const VX: Shape = Shape::new(Eew::Sew, Eew::Sew, Eew::Absent);
    /// `vwop.vv`.
    pub const WVV: Shape = Shape::new(Eew::Wide, Eew::Sew, Eew::Sew);
    /// `vwop.vx`.
    pub const WVX: Shape = Shape::new(Eew::Wide, Eew::Sew, Eew::Absent);
    /// `vwop.wv`.
    pub const WWV: Shape = Shape::new(Eew::Wide, Eew::Wide, Eew::Sew);
    /// `vwop.wx`.
    pub const WWX: Shape = Shape::new(Eew::Wide, Eew::Wide, Eew::Absent);
    /// `vnop.wv`.
    pub const NWV: Shape = Shape::new(Eew::Sew, Eew::Wide, Eew::Sew);
    /// `vnop.wx`.
    pub const NWX: Shape = Shape::new(Eew::Sew, Eew::Wide, Eew::Absent);
    /// `vmsop.vv`.
    pub const MVV: Shape = Shape::new(Eew::Mask, Eew::Sew, Eew::Sew);
    /// `vmsop.vx`.
    pub const MVX: Shape = Shape::new(Eew::Mask, Eew::Sew, Eew::Absent);

    /// `vd` is read, too.
    #[must_use]
    pub const fn reads_vd(self) -> Shape {
        Shape { reads_vd: true, ..self }
    }

    /// v0 is a carry or a selector.
    #[must_use]
    pub const fn v0_is_operand(self) -> Shape {
        Shape { v0_is_operand: true, ..self }
    }

    /// Some operands are floating-point numbers.
    #[must_use]
    pub const fn float(self, float: Float) -> Shape {
        Shape { float, ..self }
    }

    /// `vd` may not overlap `vs2`.
    #[must_use]
    pub const fn apart_vs2(self, rule: &'static str) -> Shape {
        Shape { apart_vs2: Some(rule), ..self }
    }

    /// `vd` may not overlap `vs1`.
    #[must_use]
    pub const fn apart_vs1(self, rule: &'static str) -> Shape {
        Shape { apart_vs1: Some(rule), ..self }
    }

    /// `vd` may not be v0 if that is read.
    #[must_use]
    pub const fn apart_v0(self, rule: &'static str) -> Shape {
        Shape { apart_v0: Some(rule), ..self }
    }

    /// Only these element widths: a bit for each, by its encoding.
    #[must_use]
    pub const fn only_sew(self, widths: u8, rule: &'static str) -> Shape {
        Shape { only_sew: Some((widths, rule)), ..self }
    }

    /// Whether the tail of the destination is agnostic whatever `vta` says: it is a mask.
    #[must_use]
    pub const fn tail_agnostic(&self) -> bool {
        matches!(self.vd, Eew::Mask)
    }
}

/// What [`check`] found out.
pub struct Layout {
    /// The registers of `vd`; of one field, if it is a segment.
    pub vd_registers: u32,
    /// A source of another EEW overlaps the destination, and therefore the instruction is tail- and
    /// mask-agnostic.
    pub agnostic: bool,
}

/// The registers of an operand.
#[derive(Clone, Copy)]
struct Registers {
    first: u32,
    count: u32,
    /// EEW in bits.
    eew: u32,
    /// log2(EMUL).
    emul: i32,
}

impl Registers {
    fn overlaps(self, other: Registers) -> bool {
        self.first < other.first + other.count && other.first < self.first + self.count
    }

    fn last(self) -> u32 {
        self.first + self.count - 1
    }

    /// norm:vreg_overlap_legal, for `self` the destination.
    fn may_overlap(self, source: Registers) -> bool {
        if self.eew < source.eew {
            self.first == source.first
        } else {
            self.eew == source.eew || (source.emul >= 0 && self.last() == source.last())
        }
    }
}

const V0: Registers = Registers { first: 0, count: 1, eew: 1, emul: 0 };

/// An instruction's shape under a configuration and `vtype`.
pub struct Checker<'a> {
    config: &'a Config,
    vtype: Vtype,
    shape: &'a Shape,
}

impl<'a> Checker<'a> {
    /// To check this shape.
    #[must_use]
    pub fn new(config: &'a Config, vtype: Vtype, shape: &'a Shape) -> Self {
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
        let too_wide = if self.shape.memory {
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
            return Err(if self.shape.memory {
                "norm:vector_ls_emul_rsv: EMUL = (EEW/SEW)*LMUL is out of range (1/8 to 8)"
            } else {
                "norm:emul_rsv: an operand needs a register group of EMUL > 8"
            });
        }
        Ok(Some((eew, emul, group)))
    }

    fn registers(&self, eew: Eew, first: u8) -> Result<Option<Registers>, &'static str> {
        let Some((bits, emul, group)) = self.width(eew)? else { return Ok(None) };
        let count = 1 << emul.max(0);
        if group && u32::from(first) % count != 0 {
            return Err(self.misaligned(eew, count));
        }
        Ok(Some(Registers { first: u32::from(first), count, eew: bits, emul }))
    }

    fn misaligned(&self, eew: Eew, count: u32) -> &'static str {
        match (eew, count) {
            (Eew::Registers(_), _) if !self.shape.memory => {
                "norm:vmv-nr-r_unaligned_rsv: a register number is not a multiple of the number of registers"
            }
            _ if self.shape.memory => {
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
            Float::No => return Ok(()),
            Float::Bf16(rule) => return if sew == 16 { Ok(()) } else { Err(rule) },
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

/// What an instruction needs to be there for SEW=64, if not all of its extensions have that.
fn needed_for_e64(op: Op) -> Option<(Ext, &'static str)> {
    match op {
        Op::VmulhVv | Op::VmulhVx | Op::VmulhuVv | Op::VmulhuVx | Op::VmulhsuVv | Op::VmulhsuVx => {
            Some((Ext::V, "norm:Zve64_eew64_nsupport_vmulh: vmulh with EEW=64 is in V, not in Zve64*"))
        }
        Op::VsmulVv | Op::VsmulVx => {
            Some((Ext::V, "norm:Zve64_eew64_nsupport_vsmul: vsmul with EEW=64 is in V, not in Zve64*"))
        }
        Op::Vsha2chVv | Op::Vsha2clVv => {
            Some((Ext::Zvknhb, "norm:vsha2chl-vv_Zvknha_sewn32_rsv: with Zvknha, SEW is 32"))
        }
        Op::Vsha2msVv => Some((Ext::Zvknhb, "norm:vsha2ms-vv_Zvknha_sewn32_rsv: with Zvknha, SEW is 32")),
        _ => None,
    }
}

/// Checks an instruction of this shape.
///
/// # Errors
/// The rule it breaks.
pub fn check(config: &Config, inst: &Inst, vtype: Vtype, shape: &Shape) -> Result<Layout, &'static str> {
    let checker = Checker::new(config, vtype, shape);
    if vtype.vill && !shape.any_vtype {
        return Err(VILL);
    }
    if let Some((widths, rule)) = shape.only_sew
        && widths >> vtype.sew.encoding() & 1 == 0
    {
        return Err(rule);
    }
    if shape.egw != 0 && group_bits(config, vtype.lmul) < shape.egw {
        return Err("norm:veccrypto_lmul_egwconstr: LMUL*VLEN is smaller than the element group width");
    }
    if let Eew::Registers(n) = shape.vd {
        // norm:vector_ls_seg_wholereg_eew: EEW=min(VLEN*NFIELDS, EEW_encoded).
        let eew = shape.encoded_eew.min(config.vlen * u32::from(n));
        if eew > config.isa.elen() {
            return Err("norm:vector_ls_ins_rsv: the EEW of the load is greater than ELEN");
        }
    }
    checker.check_float()?;
    if vtype.sew == Sew::E64
        && let Some((ext, rule)) = needed_for_e64(inst.op)
        && !config.isa.has(ext)
    {
        return Err(rule);
    }

    let vs2 = checker.registers(shape.vs2, inst.rs2)?;
    let vs1 = checker.registers(shape.vs1, inst.rs1)?;
    let field = checker.registers(shape.vd, inst.rd)?;
    let vd = match field {
        Some(field) => Some(fields(field, shape)?),
        None => None,
    };
    let v0 = (!inst.vm).then_some(V0);

    // Sources among each other.
    let source_vd = vd.filter(|_| shape.reads_vd || shape.store);
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
    let mut agnostic = false;
    if let Some(vd) = vd.filter(|_| !shape.store) {
        for (source, rule) in [(vs2, shape.apart_vs2), (vs1, shape.apart_vs1), (v0, shape.apart_v0)] {
            let Some(source) = source.filter(|source| source.overlaps(vd)) else { continue };
            if let Some(rule) = rule {
                return Err(rule);
            }
            let to_element = matches!(shape.vd, Eew::Element0 | Eew::WideElement0);
            if !to_element && !vd.may_overlap(source) {
                return Err(
                    "norm:vreg_overlap_rsv: the destination overlaps a source of a different EEW in a \
                            way that is not one of the allowed ones",
                );
            }
            // norm:vreg_overlap_agn
            agnostic |= source.eew != vd.eew;
        }
    }
    Ok(Layout { vd_registers: field.map_or(0, |field| field.count), agnostic })
}

/// The bits of a register group of LMUL.
fn group_bits(config: &Config, lmul: Lmul) -> u32 {
    (config.vlen << 3) >> (3 - lmul.log2())
}

/// All registers of `vd`, if it is the first field of a segment.
fn fields(field: Registers, shape: &Shape) -> Result<Registers, &'static str> {
    let fields = u32::from(shape.fields);
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
    Ok(Registers { count, ..field })
}
