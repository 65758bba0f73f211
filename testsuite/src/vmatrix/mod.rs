//! The vector matrix: every vector instruction × SEW × LMUL × {unmasked, masked} × {vl = 0, 1, a middle
//! one, VLMAX} × {vstart 0, middle} × VLEN, judged by Spike.
//!
//! For each instruction (and number of segment fields) and VLEN, [`program`] makes one bare-metal ELF that
//! runs all its cases. After each it digests the whole vector state — the 32 registers, vl, vtype, vstart,
//! vcsr, fcsr, the scalar destinations, the trap if there was one, the memory a store may have touched — into
//! one word of a signature. What Spike's words were is kept in `goldens/vector.bin`, four bytes and sixteen
//! trap-or-not bits for the sixteen cases of a SEW and LMUL ([`golden`]); `testsuite -- vmatrix --spike PATH`
//! records them anew or, with `--op`, finds the very case that differs.

mod cases;
pub mod command;
pub mod golden;
pub mod program;
pub mod run;

pub use cases::{Case, Subject, subjects};

/// The vector lengths of the matrix.
pub const VLENS: [u32; 4] = [128, 256, 512, 1024];

/// Cases of one SEW and LMUL.
pub const CASES_PER_TYPE: usize = 16;
