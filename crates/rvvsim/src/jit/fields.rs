//! Where host code finds what is in a hart, as offsets from `rbx`.

use super::registers::field;
use crate::Hart;
use crate::hart::HostCode;
use crate::vector::VectorState;
use std::mem::offset_of;

const HOST_CODE: usize = offset_of!(Hart, host_code);
pub const LEFT: i32 = field(HOST_CODE + offset_of!(HostCode, left));
pub const HOW: i32 = field(HOST_CODE + offset_of!(HostCode, how));
pub const BLOCK: i32 = field(HOST_CODE + offset_of!(HostCode, block));
pub const AT: i32 = field(HOST_CODE + offset_of!(HostCode, at));
pub const VALUE: i32 = field(HOST_CODE + offset_of!(HostCode, value));
pub const MXCSR: i32 = field(HOST_CODE + offset_of!(HostCode, mxcsr));
pub const HOST_MXCSR: i32 = field(HOST_CODE + offset_of!(HostCode, host_mxcsr));
pub const FS_DIRTY: i32 = field(offset_of!(Hart, fs_dirty));
pub const VS_DIRTY: i32 = field(offset_of!(Hart, vs_dirty));
pub const PC: i32 = field(offset_of!(Hart, pc));
pub const NEXT_PC: i32 = field(offset_of!(Hart, next_pc));

/// The home of a floating-point register.
pub fn float_home(r: u8) -> i32 {
    field(offset_of!(Hart, f)) + 8 * i32::from(r)
}

/// Where host code finds vector state.
#[derive(Clone, Copy)]
pub struct VectorFields {
    pub vl: i32,
    pub vstart: i32,
    pub vtype: i32,
    pub vxsat: i32,
    /// A pointer to the registers.
    pub registers: i32,
    pub vlenb: i32,
    pub known_ones: i32,
}

pub const fn vector_field() -> VectorFields {
    let v = offset_of!(Hart, v);
    VectorFields {
        vl: field(v + offset_of!(VectorState, vl)),
        vstart: field(v + offset_of!(VectorState, vstart)),
        vtype: field(v + offset_of!(VectorState, vtype)),
        vxsat: field(v + offset_of!(VectorState, vxsat)),
        registers: field(HOST_CODE + offset_of!(HostCode, registers)),
        vlenb: field(v + offset_of!(VectorState, vlenb)),
        known_ones: field(v + VectorState::KNOWN_ONES),
    }
}
