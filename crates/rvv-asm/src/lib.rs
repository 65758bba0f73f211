//! Makes RV64 programs without a compiler.
//!
//! * [`asm`] — an assembler with labels, over the encoder of `rvv_isa`;
//! * [`elf_writer`] — static ELFs of segments and symbols;
//! * [`values`] — operands worth trying: the corners of each format, and random values that find corners of
//!   their own.
//!
//! ```
//! use rvv_asm::{Asm, ElfWriter};
//! use rvv_isa::Op;
//!
//! let mut a = Asm::new(0x8000_0000);
//! let again = a.label_here();
//! a.rri(Op::Addi, 5, 5, 1);
//! a.jump(again);
//! let mut elf = ElfWriter::new(0x8000_0000);
//! elf.segment(0x8000_0000, a.finish(), 5);
//! assert_eq!(&elf.finish()[..4], b"\x7fELF");
//! ```

pub mod asm;
pub mod elf_writer;
pub mod values;

pub use asm::{Asm, Label};
pub use elf_writer::ElfWriter;
