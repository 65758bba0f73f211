//! The C types of the intrinsic API.

use rvv_isa::{Lmul, Sew};
use std::fmt;

/// The type of one element, or of a scalar operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// `int8_t`
    I8,
    /// `int16_t`
    I16,
    /// `int32_t`
    I32,
    /// `int64_t`
    I64,
    /// `uint8_t`
    U8,
    /// `uint16_t`
    U16,
    /// `uint32_t`
    U32,
    /// `uint64_t`
    U64,
    /// `_Float16`
    F16,
    /// `float`
    F32,
    /// `double`
    F64,
    /// `__bf16`
    Bf16,
}

impl Elem {
    /// All of them.
    pub const ALL: [Elem; 12] = [
        Elem::I8,
        Elem::I16,
        Elem::I32,
        Elem::I64,
        Elem::U8,
        Elem::U16,
        Elem::U32,
        Elem::U64,
        Elem::F16,
        Elem::F32,
        Elem::F64,
        Elem::Bf16,
    ];

    /// The signed integer of this width.
    pub fn signed(sew: Sew) -> Elem {
        match sew {
            Sew::E8 => Elem::I8,
            Sew::E16 => Elem::I16,
            Sew::E32 => Elem::I32,
            Sew::E64 => Elem::I64,
        }
    }

    /// The unsigned integer of this width.
    pub fn unsigned(sew: Sew) -> Elem {
        match sew {
            Sew::E8 => Elem::U8,
            Sew::E16 => Elem::U16,
            Sew::E32 => Elem::U32,
            Sew::E64 => Elem::U64,
        }
    }

    /// The IEEE format of this width; there is none of 8 bits.
    pub fn float(sew: Sew) -> Option<Elem> {
        match sew {
            Sew::E8 => None,
            Sew::E16 => Some(Elem::F16),
            Sew::E32 => Some(Elem::F32),
            Sew::E64 => Some(Elem::F64),
        }
    }

    /// Width.
    #[inline]
    pub fn sew(self) -> Sew {
        match self {
            Elem::I8 | Elem::U8 => Sew::E8,
            Elem::I16 | Elem::U16 | Elem::F16 | Elem::Bf16 => Sew::E16,
            Elem::I32 | Elem::U32 | Elem::F32 => Sew::E32,
            Elem::I64 | Elem::U64 | Elem::F64 => Sew::E64,
        }
    }

    /// Width in bits.
    #[inline]
    pub fn bits(self) -> u32 {
        self.sew().bits()
    }

    /// Width in bytes.
    #[inline]
    pub fn bytes(self) -> u32 {
        self.sew().bytes()
    }

    /// A floating-point type, bf16 included.
    #[inline]
    pub fn is_float(self) -> bool {
        matches!(self, Elem::F16 | Elem::F32 | Elem::F64 | Elem::Bf16)
    }

    /// A signed integer.
    #[inline]
    pub fn is_signed(self) -> bool {
        matches!(self, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64)
    }

    /// An unsigned integer.
    #[inline]
    pub fn is_unsigned(self) -> bool {
        matches!(self, Elem::U8 | Elem::U16 | Elem::U32 | Elem::U64)
    }

    /// As it is in the names of intrinsics: `i32`, `bf16`.
    pub fn short(self) -> &'static str {
        match self {
            Elem::I8 => "i8",
            Elem::I16 => "i16",
            Elem::I32 => "i32",
            Elem::I64 => "i64",
            Elem::U8 => "u8",
            Elem::U16 => "u16",
            Elem::U32 => "u32",
            Elem::U64 => "u64",
            Elem::F16 => "f16",
            Elem::F32 => "f32",
            Elem::F64 => "f64",
            Elem::Bf16 => "bf16",
        }
    }

    /// From [`Elem::short`].
    pub fn from_short(name: &str) -> Option<Elem> {
        Elem::ALL.into_iter().find(|e| e.short() == name)
    }

    /// The C type: `int32_t`, `_Float16`.
    pub fn c_name(self) -> &'static str {
        match self {
            Elem::I8 => "int8_t",
            Elem::I16 => "int16_t",
            Elem::I32 => "int32_t",
            Elem::I64 => "int64_t",
            Elem::U8 => "uint8_t",
            Elem::U16 => "uint16_t",
            Elem::U32 => "uint32_t",
            Elem::U64 => "uint64_t",
            Elem::F16 => "_Float16",
            Elem::F32 => "float",
            Elem::F64 => "double",
            Elem::Bf16 => "__bf16",
        }
    }

    /// As it is in the names of vector types: `int32`, `bfloat16`.
    fn vector_stem(self) -> &'static str {
        match self {
            Elem::I8 => "int8",
            Elem::I16 => "int16",
            Elem::I32 => "int32",
            Elem::I64 => "int64",
            Elem::U8 => "uint8",
            Elem::U16 => "uint16",
            Elem::U32 => "uint32",
            Elem::U64 => "uint64",
            Elem::F16 => "float16",
            Elem::F32 => "float32",
            Elem::F64 => "float64",
            Elem::Bf16 => "bfloat16",
        }
    }
}

/// A vector type, or a tuple of `nf` of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VecType {
    /// What it holds.
    pub elem: Elem,
    /// Registers per field.
    pub lmul: Lmul,
    /// Fields: 1 for a plain vector, 2 to 8 for a tuple.
    pub nf: u8,
}

impl VecType {
    /// A plain vector.
    pub fn new(elem: Elem, lmul: Lmul) -> VecType {
        VecType { elem, lmul, nf: 1 }
    }

    /// One field of a tuple; a plain vector is its own field.
    pub fn field(self) -> VecType {
        VecType { nf: 1, ..self }
    }

    /// A type the API has: SEW/LMUL within ELEN = 64 (1 to 64), and EMUL × NFIELDS ≤ 8.
    pub fn exists(self) -> bool {
        let log2_ratio = self.elem.bits().ilog2() as i32 - self.lmul.log2();
        (0..=6).contains(&log2_ratio) && self.lmul.registers() * u32::from(self.nf) <= 8
    }

    /// SEW/LMUL, which is also the `N` of the `vboolN_t` that masks it.
    #[inline]
    pub fn ratio(self) -> u32 {
        1 << (self.elem.bits().ilog2() as i32 - self.lmul.log2())
    }

    /// VLMAX of one field.
    #[inline]
    pub fn vlmax(self, vlen: u32) -> u32 {
        vlen / self.ratio()
    }

    /// As it is in the names of intrinsics: `i32m1`, `f16mf4x2`.
    pub fn short(self) -> String {
        let mut s = format!("{}{}", self.elem.short(), self.lmul);
        if self.nf > 1 {
            s += &format!("x{}", self.nf);
        }
        s
    }

    /// From [`VecType::short`].
    pub fn from_short(name: &str) -> Option<VecType> {
        let (elem, rest) = name.split_once('m')?;
        let (lmul, nf) = match rest.split_once('x') {
            Some((lmul, nf)) => (lmul, nf.parse().ok().filter(|n| (2..=8).contains(n))?),
            None => (rest, 1),
        };
        let lmul = Lmul::ALL.into_iter().find(|l| l.to_string()[1..] == *lmul)?;
        let t = VecType { elem: Elem::from_short(elem)?, lmul, nf };
        t.exists().then_some(t)
    }

    /// The C type: `vint32m1_t`.
    pub fn c_name(self) -> String {
        let tuple = if self.nf > 1 { format!("x{}", self.nf) } else { String::new() };
        format!("v{}{}{tuple}_t", self.elem.vector_stem(), self.lmul)
    }
}

/// The type of a parameter or of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Type {
    /// `void`
    Void,
    /// `vint32m1_t`, `vint32m1x2_t`
    Vector(VecType),
    /// `vbool32_t`: the number is SEW/LMUL.
    Mask(u8),
    /// `int32_t`
    Scalar(Elem),
    /// `size_t`
    Size,
    /// `ptrdiff_t`
    Ptrdiff,
    /// `unsigned long`
    Ulong,
    /// `long`
    Long,
    /// `unsigned int`: a rounding mode.
    Uint,
    /// `int32_t *`
    Pointer(Elem),
    /// `const int32_t *`
    ConstPointer(Elem),
    /// `size_t *`: where a fault-only-first load puts the new vl.
    SizePointer,
}

impl Type {
    /// The vector type, if it is one.
    #[inline]
    pub fn vector(self) -> Option<VecType> {
        match self {
            Type::Vector(v) => Some(v),
            _ => None,
        }
    }

    /// The `N` of `vboolN_t`, if it is one.
    pub fn mask(self) -> Option<u32> {
        match self {
            Type::Mask(n) => Some(n.into()),
            _ => None,
        }
    }

    /// Whether a parameter of this type is declared `T *name` rather than `T name`.
    pub fn is_pointer(self) -> bool {
        matches!(self, Type::Pointer(_) | Type::ConstPointer(_) | Type::SizePointer)
    }
}

/// The C type, as the official list spells it, with a pointer's star at the end.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Void => f.write_str("void"),
            Type::Vector(v) => f.write_str(&v.c_name()),
            Type::Mask(n) => write!(f, "vbool{n}_t"),
            Type::Scalar(e) => f.write_str(e.c_name()),
            Type::Size => f.write_str("size_t"),
            Type::Ptrdiff => f.write_str("ptrdiff_t"),
            Type::Ulong => f.write_str("unsigned long"),
            Type::Long => f.write_str("long"),
            Type::Uint => f.write_str("unsigned int"),
            Type::Pointer(e) => write!(f, "{} *", e.c_name()),
            Type::ConstPointer(e) => write!(f, "const {} *", e.c_name()),
            Type::SizePointer => f.write_str("size_t *"),
        }
    }
}
