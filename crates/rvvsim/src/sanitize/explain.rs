//! Which bits of the state are undefined, and why: for debuggers.

use super::Sanitizer;
use super::origin::Path;
use rvv_isa::{FReg, XReg};

/// The undefined bits of a register or of eight bytes of memory, and where one of them came from.
pub type Undefined = (u64, Option<Path>);

impl Sanitizer {
    /// Of an integer register.
    #[must_use]
    pub fn undefined_x(&self, r: u8) -> Undefined {
        let r = usize::from(r) % 32;
        self.explained(self.regs.x.undefined[r], self.regs.x.origin[r])
    }

    /// The undefined bits of a register by its name; 0 of one that is always defined.
    #[must_use]
    pub fn undefined_named(&self, name: &str) -> u64 {
        let x = XReg::from_name(name).map(|r| self.undefined_x(r.0));
        x.or_else(|| FReg::from_name(name).map(|r| self.undefined_f(r.0))).map_or(0, |(bits, _)| bits)
    }

    /// Of a floating-point register.
    #[must_use]
    pub fn undefined_f(&self, r: u8) -> Undefined {
        let r = usize::from(r) % 32;
        self.explained(self.regs.f.undefined[r], self.regs.f.origin[r])
    }

    /// The undefined bits of a vector register, as its bytes.
    #[must_use]
    pub fn undefined_v(&self, r: u8) -> &[u8] {
        &self.regs.v[usize::from(r) % 32 * self.vlenb..][..self.vlenb]
    }

    /// Where undefined bits around a byte of a vector register came from; they may come from elsewhere if
    /// others in the same eight bytes do.
    #[must_use]
    pub fn origin_of_v(&self, r: u8, byte: usize) -> Option<Path> {
        let at = usize::from(r) % 32 * self.vlenb + byte.min(self.vlenb - 1);
        self.origins.path(self.regs.v_origin.get(at / 8).copied().unwrap_or(0))
    }

    /// Of up to eight bytes of memory.
    #[must_use]
    pub fn undefined_memory(&mut self, va: u64, len: usize) -> Undefined {
        let (undefined, origin) = self.memory.load(va, len.min(8));
        self.explained(undefined, origin)
    }

    fn explained(&self, undefined: u64, origin: u32) -> Undefined {
        (undefined, if undefined == 0 { None } else { self.origins.path(origin) })
    }
}
