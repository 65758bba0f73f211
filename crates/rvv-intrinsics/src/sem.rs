//! What an intrinsic means, by name. The names carry no semantics: the evaluator gives them one, from
//! the ISA manual. The types of the operands say the rest: `vwmulsu` is [`Sem::Mul`] of a signed and an
//! unsigned element into a wider one, `vfwcvt_f_xu` is [`Sem::Fcvt`] from an unsigned integer.
//!
//! Each chapter has an enum, so that the evaluator can name all of its meanings in a `match` without a
//! wildcard: one that has no semantics there does not compile.

macro_rules! sems {
    ($(
        $(#[$about:meta])*
        $chapter:ident { $( $(#[$doc:meta])* $variant:ident = $name:literal, )* }
    )*) => {
        /// The meaning of a family of intrinsics.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Sem {
            $($( $(#[$doc])* $variant, )*)*
        }

        $(
            $(#[$about])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
            pub enum $chapter {
                $( $(#[$doc])* $variant, )*
            }
        )*

        /// A meaning by its chapter.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Chapter {
            $( $(#[$about])* $chapter($chapter), )*
        }

        impl Sem {
            /// All of them.
            pub const ALL: &[Sem] = &[ $($( Sem::$variant, )*)* ];

            /// As the tables of `isa/intrinsics` spell it.
            pub fn name(self) -> &'static str {
                match self { $($( Sem::$variant => $name, )*)* }
            }

            /// From [`Sem::name`].
            pub fn from_name(name: &str) -> Option<Sem> {
                match name { $($( $name => Some(Sem::$variant), )*)* _ => None }
            }

            /// Its chapter.
            pub fn chapter(self) -> Chapter {
                match self { $($( Sem::$variant => Chapter::$chapter($chapter::$variant), )*)* }
            }
        }
    };
}

impl Sem {
    /// Whether it folds the elements of vs2 into one.
    pub fn is_reduction(self) -> bool {
        matches!(self.chapter(), Chapter::Reduction(_))
    }

    /// Whether it loads or stores.
    pub fn accesses_memory(self) -> bool {
        matches!(self.chapter(), Chapter::Memory(_))
    }

    /// Whether it writes memory.
    pub fn is_store(self) -> bool {
        use Memory::*;
        match self.chapter() {
            Chapter::Memory(memory) => match memory {
                Load | LoadFf | LoadStrided | LoadOrdered | LoadUnordered | LoadMask => false,
                Store | StoreStrided | StoreOrdered | StoreUnordered | StoreMask => true,
            },
            _ => false,
        }
    }

    /// The elements of a group (EGS), if it works on groups.
    pub fn group_size(self) -> Option<u8> {
        match self.chapter() {
            Chapter::Sha2(_) | Chapter::Group4(_) => Some(4),
            Chapter::Group8(_) => Some(8),
            _ => None,
        }
    }
}

sems! {
    /// Integer arithmetic, element by element. Operands count as the integers their own types say; the exact
    /// result is wrapped to the result's type. So widening and mixed-sign forms need no name.
    Integer {
        /// vs2 + op1
        Add = "add",
        /// vs2 − op1
        Sub = "sub",
        /// op1 − vs2
        Rsub = "rsub",
        /// −vs2
        Neg = "neg",
        /// vs2 + op1 + carry
        Adc = "adc",
        /// vs2 − op1 − borrow
        Sbc = "sbc",
        /// The carry out of vs2 + op1 (+ carry, if there is that operand), as a mask.
        Madc = "madc",
        /// The borrow out of vs2 − op1 (− borrow), as a mask.
        Msbc = "msbc",
        /// vs2 & op1
        And = "and",
        /// vs2 | op1
        Or = "or",
        /// vs2 ^ op1
        Xor = "xor",
        /// ~vs2
        Not = "not",
        /// vs2 << op1, by the low bits of op1 that number vs2's bits.
        Sll = "sll",
        /// vs2 >> op1, zeros come in; vs2 may be wider than the result.
        Srl = "srl",
        /// vs2 >> op1, the sign comes in; vs2 may be wider than the result.
        Sra = "sra",
        /// The smaller, by the operands' type.
        Min = "min",
        /// The larger, by the operands' type.
        Max = "max",
        /// vs2 × op1
        Mul = "mul",
        /// The high half of vs2 × op1.
        Mulh = "mulh",
        /// vs2 ÷ op1, toward zero; RISC-V's results for ÷ 0 and overflow.
        Div = "div",
        /// The remainder of vs2 ÷ op1.
        Rem = "rem",
        /// vd + op1 × vs2
        Macc = "macc",
        /// vd − op1 × vs2
        Nmsac = "nmsac",
        /// vd × op1 + vs2
        Madd = "madd",
        /// vs2 − vd × op1
        Nmsub = "nmsub",
        /// op1 where the carry operand's bit is set, else vs2. No element is masked off.
        Merge = "merge",
        /// op1 in every element.
        Move = "move",
        /// vs2, extended by its own signedness or truncated to the result's type.
        Resize = "resize",
    }

    /// Comparisons into a mask: of integers or of floats, by the operands' type.
    Compare {
        /// vs2 == op1
        Eq = "eq",
        /// vs2 != op1
        Ne = "ne",
        /// vs2 < op1
        Lt = "lt",
        /// vs2 <= op1
        Le = "le",
        /// vs2 > op1
        Gt = "gt",
        /// vs2 >= op1
        Ge = "ge",
    }

    /// Fixed-point arithmetic.
    FixedPoint {
        /// vs2 + op1, saturated.
        Sadd = "sadd",
        /// vs2 − op1, saturated.
        Ssub = "ssub",
        /// (vs2 + op1) / 2, rounded by vxrm.
        Aadd = "aadd",
        /// (vs2 − op1) / 2, rounded by vxrm.
        Asub = "asub",
        /// vs2 × op1 / 2^(SEW−1), rounded by vxrm, saturated.
        Smul = "smul",
        /// vs2 >> op1 by vs2's signedness, rounded by vxrm.
        Sshift = "sshift",
        /// vs2 >> op1 by vs2's signedness, rounded by vxrm, saturated to the narrower result.
        Clip = "clip",
    }

    /// Floating point; operands narrower than the result are converted to its format first, exactly.
    Float {
        /// vs2 + op1
        Fadd = "fadd",
        /// vs2 − op1
        Fsub = "fsub",
        /// op1 − vs2
        Frsub = "frsub",
        /// vs2 × op1
        Fmul = "fmul",
        /// vs2 ÷ op1
        Fdiv = "fdiv",
        /// op1 ÷ vs2
        Frdiv = "frdiv",
        /// √vs2
        Fsqrt = "fsqrt",
        /// The 7-bit estimate of 1/vs2.
        Frec7 = "frec7",
        /// The 7-bit estimate of 1/√vs2.
        Frsqrt7 = "frsqrt7",
        /// minimumNumber
        Fmin = "fmin",
        /// maximumNumber
        Fmax = "fmax",
        /// vs2 with op1's sign.
        Fsgnj = "fsgnj",
        /// vs2 with the opposite of op1's sign.
        Fsgnjn = "fsgnjn",
        /// vs2 with the exclusive or of both signs.
        Fsgnjx = "fsgnjx",
        /// vs2 with the opposite sign.
        Fneg = "fneg",
        /// vs2 with a plus sign.
        Fabs = "fabs",
        /// The ten classes, one bit each.
        Fclass = "fclass",
        /// op1 × vs2 + vd
        Fmacc = "fmacc",
        /// −(op1 × vs2) − vd
        Fnmacc = "fnmacc",
        /// op1 × vs2 − vd
        Fmsac = "fmsac",
        /// −(op1 × vs2) + vd
        Fnmsac = "fnmsac",
        /// vd × op1 + vs2
        Fmadd = "fmadd",
        /// −(vd × op1) − vs2
        Fnmadd = "fnmadd",
        /// vd × op1 − vs2
        Fmsub = "fmsub",
        /// −(vd × op1) + vs2
        Fnmsub = "fnmsub",
    }

    /// Conversions from and to floating-point types.
    Convert {
        /// vs2 converted to the result's type; float to float, float to integer or integer to float.
        Fcvt = "fcvt",
        /// The same, toward zero whatever frm says.
        FcvtRtz = "fcvt_rtz",
        /// The same, to odd.
        FcvtRod = "fcvt_rod",
    }

    /// Bit manipulation (Zvbb, Zvbc), element by element.
    BitManip {
        /// vs2 & ~op1
        Andn = "andn",
        /// vs2, zero-extended to the result's width, << op1, by the low bits that number the result's bits.
        Wsll = "wsll",
        /// All bits in reverse.
        Brev = "brev",
        /// The bits of each byte in reverse.
        Brev8 = "brev8",
        /// The bytes in reverse.
        Rev8 = "rev8",
        /// Leading zeros.
        Clz = "clz",
        /// Trailing zeros.
        Ctz = "ctz",
        /// Bits set, of an element.
        Cpop = "cpop",
        /// Rotate left.
        Rol = "rol",
        /// Rotate right.
        Ror = "ror",
        /// The low half of the carry-less product.
        Clmul = "clmul",
        /// The high half of the carry-less product.
        Clmulh = "clmulh",
    }

    /// Reductions: element 0 of vs1 and the active elements of vs2, into element 0.
    Reduction {
        /// Sum, in the result's width.
        Redsum = "redsum",
        /// And.
        Redand = "redand",
        /// Or.
        Redor = "redor",
        /// Exclusive or.
        Redxor = "redxor",
        /// Smallest.
        Redmin = "redmin",
        /// Largest.
        Redmax = "redmax",
        /// minimumNumber of all.
        Fredmin = "fredmin",
        /// maximumNumber of all.
        Fredmax = "fredmax",
        /// Sum in element order, each addition rounded.
        Fredosum = "fredosum",
        /// Sum in any order and tree.
        Fredusum = "fredusum",
    }

    /// Masks, bit by bit.
    Mask {
        /// vs2 & vs1
        Mand = "mand",
        /// vs2 & ~vs1
        Mandn = "mandn",
        /// ~(vs2 & vs1)
        Mnand = "mnand",
        /// vs2 | vs1
        Mor = "mor",
        /// vs2 | ~vs1
        Morn = "morn",
        /// ~(vs2 | vs1)
        Mnor = "mnor",
        /// vs2 ^ vs1
        Mxor = "mxor",
        /// ~(vs2 ^ vs1)
        Mxnor = "mxnor",
        /// vs2
        Mmv = "mmv",
        /// ~vs2
        Mnot = "mnot",
        /// Zeros.
        Mclr = "mclr",
        /// Ones.
        Mset = "mset",
        /// How many active bits are set.
        Mcpop = "mcpop",
        /// The first active set bit's number, or −1.
        Mfirst = "mfirst",
        /// Ones before the first set bit.
        Msbf = "msbf",
        /// Ones up to the first set bit.
        Msif = "msif",
        /// The first set bit alone.
        Msof = "msof",
        /// How many active bits before this one are set.
        Iota = "iota",
        /// The element's number.
        Id = "id",
    }

    /// Permutations.
    Permute {
        /// Element 0 as a scalar. Does not look at vl.
        MvScalar = "mv_scalar",
        /// A scalar into element 0; the others are tail.
        MvElement0 = "mv_element0",
        /// Up by the scalar; elements below it come from vd.
        Slideup = "slideup",
        /// Down by the scalar; zeros from past VLMAX.
        Slidedown = "slidedown",
        /// Up by one, the scalar into element 0.
        Slide1up = "slide1up",
        /// Down by one, the scalar into element vl − 1.
        Slide1down = "slide1down",
        /// `vs2[vs1[i]]`, 0 past VLMAX; the index is a vector, or one scalar for all.
        Gather = "gather",
        /// The elements that vs1 selects, packed from element 0; the rest is tail.
        Compress = "compress",
    }

    /// Loads and stores; a tuple type makes it a segment access.
    Memory {
        /// Consecutive.
        Load = "load",
        /// Consecutive, shortening vl instead of faulting past element 0.
        LoadFf = "load_ff",
        /// A byte stride apart.
        LoadStrided = "load_strided",
        /// At byte offsets, in element order.
        LoadOrdered = "load_ordered",
        /// At byte offsets, in any order.
        LoadUnordered = "load_unordered",
        /// ⌈vl/8⌉ bytes as a mask.
        LoadMask = "load_mask",
        /// Consecutive.
        Store = "store",
        /// A byte stride apart.
        StoreStrided = "store_strided",
        /// At byte offsets, in element order.
        StoreOrdered = "store_ordered",
        /// At byte offsets, in any order.
        StoreUnordered = "store_unordered",
        /// A mask as ⌈vl/8⌉ bytes.
        StoreMask = "store_mask",
    }

    /// The length of the next strip.
    Config {
        /// vsetvl
        Setvl = "setvl",
        /// vsetvlmax
        Setvlmax = "setvlmax",
    }

    /// The utilities that are no instruction.
    Utility {
        /// The same bits as another type.
        Reinterpret = "reinterpret",
        /// The same register as the first of a larger group; the rest is undefined.
        LmulExt = "lmul_ext",
        /// The first registers of a larger group.
        LmulTrunc = "lmul_trunc",
        /// Any value.
        Undefined = "undefined",
        /// One part of a tuple or of a larger group.
        Get = "get",
        /// A tuple or larger group with one part replaced.
        Set = "set",
        /// A tuple or larger group from its parts.
        Create = "create",
    }

    /// SHA-2, on groups of four elements of 32 or 64 bits.
    Sha2 {
        /// SHA-2 two rounds, high words of the message.
        Sha2ch = "sha2ch",
        /// SHA-2 two rounds, low words of the message.
        Sha2cl = "sha2cl",
        /// SHA-2 message schedule.
        Sha2ms = "sha2ms",
    }

    /// Cryptography on groups of four elements of 32 bits.
    Group4 {
        /// GHASH add-multiply.
        Ghsh = "ghsh",
        /// GHASH multiply.
        Gmul = "gmul",
        /// AES last encryption round.
        Aesef = "aesef",
        /// AES middle encryption round.
        Aesem = "aesem",
        /// AES last decryption round.
        Aesdf = "aesdf",
        /// AES middle decryption round.
        Aesdm = "aesdm",
        /// AES round zero.
        Aesz = "aesz",
        /// AES-128 key schedule.
        Aeskf1 = "aeskf1",
        /// AES-256 key schedule.
        Aeskf2 = "aeskf2",
        /// SM4 key expansion.
        Sm4k = "sm4k",
        /// SM4 rounds.
        Sm4r = "sm4r",
    }

    /// Cryptography on groups of eight elements of 32 bits.
    Group8 {
        /// SM3 two rounds. Groups of eight.
        Sm3c = "sm3c",
        /// SM3 message expansion. Groups of eight.
        Sm3me = "sm3me",
    }
}
