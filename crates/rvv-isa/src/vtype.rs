//! The vector type: element width, register grouping and policies.

use std::fmt;

/// Selected element width.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Sew {
    /// 8 bits.
    E8,
    /// 16 bits.
    E16,
    /// 32 bits.
    E32,
    /// 64 bits.
    E64,
}

impl Sew {
    /// All widths, narrowest first.
    pub const ALL: [Sew; 4] = [Sew::E8, Sew::E16, Sew::E32, Sew::E64];

    /// From the field `vsew` of `vtype`.
    pub fn from_encoding(vsew: u32) -> Option<Sew> {
        Sew::ALL.get(vsew as usize).copied()
    }

    /// The field `vsew` of `vtype`.
    pub fn encoding(self) -> u32 {
        self as u32
    }

    /// From a number of bits.
    pub fn from_bits(bits: u32) -> Option<Sew> {
        Sew::ALL.into_iter().find(|sew| sew.bits() == bits)
    }

    /// The number of bits.
    pub fn bits(self) -> u32 {
        8 << self as u32
    }

    /// The number of bytes.
    pub fn bytes(self) -> u32 {
        1 << self as u32
    }

    /// Twice the width, if there is such.
    pub fn wider(self) -> Option<Sew> {
        Sew::from_encoding(self.encoding() + 1)
    }

    /// Half the width, if there is such.
    pub fn narrower(self) -> Option<Sew> {
        self.encoding().checked_sub(1).and_then(Sew::from_encoding)
    }
}

impl fmt::Display for Sew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "e{}", self.bits())
    }
}

/// Vector register group multiplier.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
pub enum Lmul {
    /// One eighth of a register.
    Mf8,
    /// One quarter of a register.
    Mf4,
    /// One half of a register.
    Mf2,
    /// One register.
    M1,
    /// Two registers.
    M2,
    /// Four registers.
    M4,
    /// Eight registers.
    M8,
}

impl Lmul {
    /// All multipliers, smallest first.
    pub const ALL: [Lmul; 7] = [Lmul::Mf8, Lmul::Mf4, Lmul::Mf2, Lmul::M1, Lmul::M2, Lmul::M4, Lmul::M8];

    /// From the base-2 logarithm, -3 to 3.
    pub fn from_log2(log2: i32) -> Option<Lmul> {
        usize::try_from(log2 + 3).ok().and_then(|i| Lmul::ALL.get(i).copied())
    }

    /// The base-2 logarithm.
    pub fn log2(self) -> i32 {
        self as i32 - 3
    }

    /// From the field `vlmul` of `vtype`.
    pub fn from_encoding(vlmul: u32) -> Option<Lmul> {
        // A three-bit two's complement number, of which -4 is reserved.
        if vlmul > 7 { None } else { Lmul::from_log2((vlmul as i32) << 29 >> 29) }
    }

    /// The field `vlmul` of `vtype`.
    pub fn encoding(self) -> u32 {
        self.log2() as u32 & 7
    }

    /// How many registers a group takes: 1, if a fraction.
    pub fn registers(self) -> u32 {
        1 << self.log2().max(0)
    }
}

impl fmt::Display for Lmul {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.log2() {
            log2 if log2 < 0 => write!(f, "mf{}", 1 << -log2),
            log2 => write!(f, "m{}", 1 << log2),
        }
    }
}

/// The contents of `vtype`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Vtype {
    /// Set if the configuration is not supported; the other fields are then meaningless, and those of
    /// [`Vtype::VILL`].
    pub vill: bool,
    /// Tail agnostic.
    pub vta: bool,
    /// Mask agnostic.
    pub vma: bool,
    /// Element width.
    pub sew: Sew,
    /// Register grouping.
    pub lmul: Lmul,
}

impl Vtype {
    /// No configuration.
    pub const VILL: Vtype = Vtype { vill: true, vta: false, vma: false, sew: Sew::E8, lmul: Lmul::M1 };

    /// A configuration, whether any machine supports it or not.
    pub fn new(sew: Sew, lmul: Lmul, vta: bool, vma: bool) -> Vtype {
        Vtype { vill: false, vta, vma, sew, lmul }
    }

    /// From the bits of the register on RV64. Reserved values give [`Vtype::VILL`]; what ELEN and VLEN do not
    /// allow is not known here.
    pub fn from_bits(bits: u64) -> Vtype {
        let field = |at: u32, len: u32| (bits >> at) as u32 & ((1 << len) - 1);
        match (Sew::from_encoding(field(3, 3)), Lmul::from_encoding(field(0, 3)), bits >> 8) {
            (Some(sew), Some(lmul), 0) => Vtype::new(sew, lmul, field(6, 1) == 1, field(7, 1) == 1),
            _ => Vtype::VILL,
        }
    }

    /// The bits of the register on RV64.
    pub fn to_bits(self) -> u64 {
        if self.vill {
            return 1 << 63;
        }
        let fields = self.lmul.encoding() | self.sew.encoding() << 3;
        u64::from(fields | u32::from(self.vta) << 6 | u32::from(self.vma) << 7)
    }

    /// The elements a register group holds at this VLEN, in bits; 0 if there is no configuration.
    pub fn vlmax(self, vlen: u32) -> u32 {
        let elements = u64::from(vlen / self.sew.bits());
        match self.vill {
            true => 0,
            false => (elements << 3 >> (3 - self.lmul.log2())) as u32,
        }
    }
}

impl fmt::Display for Vtype {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.vill {
            return f.write_str("vill");
        }
        let policy = |agnostic| if agnostic { 'a' } else { 'u' };
        write!(f, "{},{},t{},m{}", self.sew, self.lmul, policy(self.vta), policy(self.vma))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_pattern_survives_or_is_vill() {
        for bits in 0..1u64 << 12 {
            let vtype = Vtype::from_bits(bits);
            let reserved = bits >> 8 != 0 || bits >> 5 & 1 == 1 || bits & 7 == 4;
            assert_eq!(vtype.vill, reserved, "{bits:#x}");
            assert_eq!(vtype.to_bits(), if reserved { 1 << 63 } else { bits }, "{bits:#x}");
        }
        assert!(Vtype::from_bits(1 << 63).vill);
    }

    #[test]
    fn vlmax_is_lmul_times_vlen_over_sew() {
        let vlmax = |sew, lmul, vlen| Vtype::new(sew, lmul, true, true).vlmax(vlen);
        assert_eq!(vlmax(Sew::E8, Lmul::M8, 65536), 65536);
        assert_eq!(vlmax(Sew::E64, Lmul::M1, 128), 2);
        assert_eq!(vlmax(Sew::E8, Lmul::Mf8, 128), 2);
        assert_eq!(vlmax(Sew::E32, Lmul::Mf8, 128), 0);
        assert_eq!(Vtype::VILL.vlmax(128), 0);
    }

    #[test]
    fn prints_as_assembly() {
        assert_eq!(Vtype::new(Sew::E32, Lmul::M2, true, false).to_string(), "e32,m2,ta,mu");
        assert_eq!(Vtype::new(Sew::E8, Lmul::Mf8, false, true).to_string(), "e8,mf8,tu,ma");
    }
}
