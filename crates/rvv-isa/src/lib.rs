//! The RISC-V instruction table: decoder, encoder and disassembler, all made from `isa/`.
//!
//! Every encoding is written once, in `isa/encodings/`; the build script turns it into the tables behind
//! [`Op`], [`decode`] and [`encode`].
//!
//! ```
//! use rvv_isa::{DisasmOptions, Op, decode, encode};
//!
//! let inst = decode(0x0221_80d7).unwrap();
//! assert_eq!(inst.op, Op::VaddVv);
//! assert_eq!((inst.rd, inst.rs2, inst.rs1, inst.vm), (1, 2, 3, true));
//! assert_eq!(inst.disasm(0, DisasmOptions::default()), "vadd.vv\tv1,v2,v3");
//! assert_eq!(encode(&inst), Ok(0x0221_80d7));
//! ```

pub mod chapter;
pub mod csr;
mod disasm;
mod formats;
mod inst;
mod isa;
mod op;
mod operand;
mod pseudo;
pub mod random;
mod reg;
mod shape;
mod vtype;

pub use chapter::{Chapter, ScalarOp, VectorOp};
pub use disasm::DisasmOptions;
pub use inst::{EncodeError, Inst, decode, encode};
pub use isa::{Ext, ExtSet, Isa, IsaError, Notes, Requires};
pub use op::{Class, Op, OpInfo};
pub use operand::{Field, Operand, RegFile};
pub use reg::{FReg, VReg, XReg};
pub use shape::{Access, Addressing, Eew, Float, FloatFormat, Memory, Scalar, Shape};
pub use vtype::{Lmul, Sew, Vtype};
