//! The vector unit: state, legality, and the instructions by chapter of the manual.

use crate::config::Config;
use rvv_isa::Vtype;

/// Vector registers and CSRs.
#[derive(Clone)]
pub struct VectorState {
    /// The 32 registers, VLEN/8 bytes each, one after the other: a register group is a slice.
    pub regs: Vec<u8>,
    /// VLEN in bytes.
    pub vlenb: usize,
    /// Vector length.
    pub vl: u64,
    /// Type of the elements; `vill` until the first `vset{i}vl{i}`.
    pub vtype: Vtype,
    /// First element to execute.
    pub vstart: u64,
    /// Fixed-point rounding mode.
    pub vxrm: u8,
    /// Fixed-point saturation flag.
    pub vxsat: bool,
}

impl VectorState {
    /// The vector unit at reset.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let vlenb = config.vlen as usize / 8;
        VectorState {
            regs: vec![0; 32 * vlenb],
            vlenb,
            vl: 0,
            vtype: Vtype::ILL,
            vstart: 0,
            vxrm: 0,
            vxsat: false,
        }
    }
}
