//! What was found.

use super::origin::Path;
use rvv_isa::Inst;

/// What an undefined value decided, or which rule was broken.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    /// A conditional branch.
    Branch,
    /// The target of a jump.
    Jump,
    /// The address of a load or store.
    Address,
    /// The stride of a vector access.
    Stride,
    /// An index of a vector access.
    Index,
    /// The mask of a vector access.
    Mask,
    /// `vl`, by the AVL of `vsetvl`.
    Length,
    /// `vtype`, by `vsetvl`.
    Vtype,
    /// The number of a system call.
    CallNumber,
    /// An argument of a system call.
    Argument,
    /// Bytes that a system call takes out of the program.
    Output,
    /// A read or write past a block of the heap.
    OutOfBlock,
    /// A read or write of memory that was freed.
    UseAfterFree,
    /// Memory was freed twice.
    DoubleFree,
    /// `vl` or `vtype` is another function's.
    InheritedVtype,
    /// `vxrm` is another function's.
    InheritedVxrm,
    /// `vl` is the machine's choice, and the program does not ask for it.
    ChosenLength,
    /// The instruction is reserved.
    Reserved,
}

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 18] = [
        Kind::Branch,
        Kind::Jump,
        Kind::Address,
        Kind::Stride,
        Kind::Index,
        Kind::Mask,
        Kind::Length,
        Kind::Vtype,
        Kind::CallNumber,
        Kind::Argument,
        Kind::Output,
        Kind::OutOfBlock,
        Kind::UseAfterFree,
        Kind::DoubleFree,
        Kind::InheritedVtype,
        Kind::InheritedVxrm,
        Kind::ChosenLength,
        Kind::Reserved,
    ];

    /// The name in reports and suppressions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Kind::Branch => "undefined-branch",
            Kind::Jump => "undefined-jump",
            Kind::Address => "undefined-address",
            Kind::Stride => "undefined-stride",
            Kind::Index => "undefined-index",
            Kind::Mask => "undefined-mask",
            Kind::Length => "undefined-vl",
            Kind::Vtype => "undefined-vtype",
            Kind::CallNumber => "undefined-syscall",
            Kind::Argument => "undefined-argument",
            Kind::Output => "undefined-output",
            Kind::OutOfBlock => "heap-out-of-bounds",
            Kind::UseAfterFree => "use-after-free",
            Kind::DoubleFree => "double-free",
            Kind::InheritedVtype => "inherited-vtype",
            Kind::InheritedVxrm => "inherited-vxrm",
            Kind::ChosenLength => "chosen-vl",
            Kind::Reserved => "reserved",
        }
    }

    /// In words.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Kind::Branch => "an undefined value decides a branch",
            Kind::Jump => "an undefined value is the target of a jump",
            Kind::Address => "an undefined value is the address of a memory access",
            Kind::Stride => "an undefined value is the stride of a vector access",
            Kind::Index => "an undefined value is an index of a vector access",
            Kind::Mask => "an undefined bit is in the mask of a vector access",
            Kind::Length => "an undefined value decides vl",
            Kind::Vtype => "an undefined value decides vtype",
            Kind::CallNumber => "an undefined value is the number of a system call",
            Kind::Argument => "an undefined value is an argument of a system call",
            Kind::Output => "undefined bytes leave the program by a system call",
            Kind::OutOfBlock => "an access outside the blocks of the heap",
            Kind::UseAfterFree => "an access to memory that was freed",
            Kind::DoubleFree => "memory is freed that was freed already",
            Kind::InheritedVtype => "vl and vtype are used that another function left",
            Kind::InheritedVxrm => "vxrm is used, and this function has not set it",
            Kind::ChosenLength => "vl is the machine's choice, and the program does not ask which",
            Kind::Reserved => "a reserved instruction",
        }
    }
}

/// Something found at one place, once or more.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What.
    pub kind: Kind,
    /// The instruction.
    pub pc: u64,
    /// The instruction, decoded.
    pub inst: Option<Inst>,
    /// The first element that was undefined or outside, if it is a vector instruction; of output, the byte.
    pub element: Option<u64>,
    /// The first bit that was.
    pub bit: Option<u32>,
    /// Where it came from.
    pub origin: Option<Path>,
    /// More in words.
    pub detail: String,
    /// The rule of the manual or the ABI.
    pub rule: &'static str,
    /// Where the calls that led here return to, the innermost first.
    pub frames: Vec<u64>,
    /// How often.
    pub count: u64,
}
