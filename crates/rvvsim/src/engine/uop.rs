//! Micro-ops: what a block is made of.

use super::ops::{self, UopFn};
use crate::vector::VInst;

/// What a micro-op does. The names are those of the instructions; where an instruction needs nothing
/// that another does not do (`lui` is a constant, `c.mv` an `addi`), it has no micro-op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Kind {
    /// Nothing: an instruction whose result goes to `x0`, a hint.
    Nop,
    /// `rd = imm`: `lui`, `auipc`, `li`.
    Const,
    /// `rd = rs1`.
    Mv,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    Slli,
    Srli,
    Srai,
    Addiw,
    Slliw,
    Srliw,
    Sraiw,
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Addw,
    Subw,
    Sllw,
    Srlw,
    Sraw,
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Mulw,
    Div,
    Divu,
    Rem,
    Remu,
    Divw,
    Divuw,
    Remw,
    Remuw,
    Sh1add,
    Sh2add,
    Sh3add,
    AddUw,
    Lb,
    Lh,
    Lw,
    Ld,
    Lbu,
    Lhu,
    Lwu,
    Sb,
    Sh,
    Sw,
    Sd,
    Flw,
    Fld,
    Fsw,
    Fsd,
    /// Calls the scalar handler `calls[idx]`; execution goes on.
    Call,
    /// Calls the scalar handler `calls[idx]`; the block ends and `hart.next_pc` says where to go.
    CallEnd,
    /// Runs the vector instruction `idx`, which computes elements and may have a fast path; execution goes
    /// on.
    Map,
    /// The same, with a scalar operand.
    MapScalar,
    /// The same, in floating point.
    FloatMap,
    /// The same, in floating point with a scalar operand.
    FloatMapScalar,
    /// The same of other kinds: with a mask for an operand or a result, rounding, reducing.
    Word,
    /// A unit-stride load, which may be no more than a copy.
    VectorLoad,
    /// A unit-stride store, likewise.
    VectorStore,
    /// `vsetvli` with its AVL in a register, where `vl` is the lesser of AVL and VLMAX.
    SetVl,
    /// Calls the vector instruction `idx`; execution goes on.
    Vector,
    /// The same, but the block ends: `vsetvl`, after which `vtype` is not known.
    VectorEnd,
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    /// `rd = imm` (the return address), then to the taken target.
    Jal,
    /// `rd = return address`, then to `rs1 + imm`.
    Jalr,
    /// The block is full or reaches the end of its page: on to the next instruction.
    Continue,
    /// An illegal instruction, or one that cannot be fetched: `faults[idx]`.
    Fault,
}

impl Kind {
    /// Whether nothing of the block comes after it.
    pub fn ends(self) -> bool {
        self as u8 >= Kind::Beq as u8 || matches!(self, Kind::CallEnd | Kind::VectorEnd)
    }

    /// Whether it is for a vector instruction.
    pub fn is_vector(self) -> bool {
        (Kind::Map as u8..=Kind::VectorEnd as u8).contains(&(self as u8))
    }

    /// Whether it is for one that may be no more than a kernel.
    fn computes(self) -> bool {
        (Kind::Map as u8..=Kind::Word as u8).contains(&(self as u8))
    }

    /// Whether all it does is write `rd`, so that it does nothing when that is `x0`.
    pub fn writes_x(self) -> bool {
        (self as u8) < Kind::Lb as u8
    }
}

/// One step of a block.
#[derive(Clone, Copy)]
pub struct Uop {
    /// What runs it, by its kind.
    op: UopFn,
    /// Immediate; for branches and jumps the taken target; for vector instructions where the instruction is.
    pub imm: i64,
    /// What to do.
    kind: Kind,
    /// Destination register; [`crate::hart::RegFile::SINK`] for `x0`.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register.
    pub rs2: u8,
    /// Which instruction of the block this is: indexes `Block::insts`, counts what has retired.
    pub insn: u16,
    /// Index into the side table of this kind; how many micro-ops can be run together, if it is for a vector
    /// instruction.
    pub idx: u16,
}

impl Uop {
    /// A micro-op without its operands.
    pub fn new(kind: Kind, insn: u16) -> Uop {
        let sink = crate::hart::RegFile::SINK;
        Uop { op: ops::of(kind), imm: 0, kind, rd: sink, rs1: 0, rs2: 0, insn, idx: 0 }
    }

    /// What to do.
    #[inline(always)]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// What runs it.
    #[inline(always)]
    pub fn op(&self) -> UopFn {
        self.op
    }
}

/// The steps of a block. Those that run them rely on what [`Uops::new`] sees to: the last of them, and no
/// other, ends the block; `imm` of one for a vector instruction is its address, and instructions of steps
/// that follow one another do so in memory.
pub struct Uops {
    uops: Box<[Uop]>,
    /// Never touched, for there are pointers to them.
    vectors: Box<[VInst]>,
}

impl Uops {
    /// Of steps and the vector instructions that they name by `idx`.
    ///
    /// # Panics
    /// If the last step does not end the block, or another one does.
    pub fn new(mut uops: Vec<Uop>, vectors: Vec<VInst>) -> Uops {
        let vectors: Box<[VInst]> = vectors.into();
        let end = uops.iter().position(|uop| uop.kind.ends());
        assert!(end.is_some_and(|end| end + 1 == uops.len()), "a block that does not end where it should");
        // How many that compute elements follow one another, and can so be run together.
        let mut together = 0;
        let mut after = None;
        for uop in uops.iter_mut().rev() {
            together = if uop.kind.computes() && after == Some(uop.idx + 1) { together + 1 } else { 1 };
            after = uop.kind.computes().then_some(uop.idx);
            if uop.kind.is_vector() {
                let vinst = &vectors[usize::from(uop.idx)];
                uop.imm = (&raw const *vinst).expose_provenance() as i64;
                uop.idx = together;
                if together > 1 {
                    uop.op = ops::together;
                } else if matches!(uop.kind, Kind::VectorLoad | Kind::VectorStore) {
                    uop.op = ops::of_copy(uop.kind, vinst);
                }
            }
        }
        Uops { uops: uops.into(), vectors }
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Uop] {
        &self.uops
    }

    /// The vector instruction of a micro-op for one.
    ///
    /// # Panics
    /// If it is not one of these.
    pub fn vector(&self, uop: &Uop) -> &VInst {
        let distance = uop.imm as usize - self.vectors.as_ptr().addr();
        &self.vectors[distance / size_of::<VInst>()]
    }

    /// The first of them, and with it the way to all others.
    #[inline(always)]
    pub fn start(&self) -> *const Uop {
        self.uops.as_ptr()
    }
}
