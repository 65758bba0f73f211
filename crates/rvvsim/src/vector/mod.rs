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
            vtype: Vtype::VILL,
            vstart: 0,
            vxrm: 0,
            vxsat: false,
        }
    }
}

/// A vector instruction under a known `vtype`, ready to run.
#[derive(Clone, Copy)]
pub struct VInst {
    /// The instruction.
    pub inst: rvv_isa::Inst,
    /// Its kernel.
    pub run: fn(&mut crate::Hart, &VInst) -> crate::Exec,
}

/// Checks a vector instruction under `vtype` and chooses its kernel.
///
/// # Errors
/// The rule it breaks.
pub fn translate(_config: &Config, _inst: &rvv_isa::Inst, _vtype: Vtype) -> Result<VInst, &'static str> {
    Err("no vector unit yet")
}

/// The `vtype` after `vsetvli` or `vsetivli`; `None` after `vsetvl`, which takes it from a register.
#[must_use]
pub fn next_vtype(_config: &Config, _inst: &rvv_isa::Inst, _old: Vtype) -> Option<Vtype> {
    None
}
