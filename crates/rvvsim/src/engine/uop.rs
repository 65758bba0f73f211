//! Micro-ops: what a block is made of.

/// What a micro-op does. The names are those of the instructions; where an instruction needs nothing
/// that another does not do (`lui` is a constant, `c.mv` an `addi`), it has no micro-op of its own.
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
    /// Runs the vector instruction `vectors[idx]`, which computes elements and may be quick; execution goes on.
    Lanes,
    /// Calls the vector instruction `vectors[idx]`; execution goes on.
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

/// One step of a block.
#[derive(Clone, Copy, Debug)]
pub struct Uop {
    /// What to do.
    pub kind: Kind,
    /// Destination register; [`crate::hart::RegFile::SINK`] for `x0`.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register.
    pub rs2: u8,
    /// Which instruction of the block this is: indexes `Block::insts`, counts what has retired.
    pub insn: u16,
    /// Index into the side table of this kind.
    pub idx: u16,
    /// Immediate; for branches and jumps the taken target.
    pub imm: i64,
}
