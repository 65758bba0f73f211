//! The privileged CSRs, and reading any CSR.

use super::counter::Counter;
use super::pmp::Pmp;
use super::status::*;
use super::trigger::{TINFO, Triggers};
use crate::Hart;
use crate::config::Config;
use rvv_isa::{Ext, Isa, csr};

/// The privileged CSRs, as last written. What they read as, and what of a value written sticks, is
/// [`Hart::read_csr`]'s and [`Hart::write_csr`]'s business.
#[derive(Clone, Debug)]
pub struct CsrFile {
    /// `mstatus` without `SD`; `FS` and `VS` may lag behind [`Hart::fs_dirty`] and [`Hart::vs_dirty`].
    pub(super) mstatus: u64,
    pub(super) misa: u64,
    pub(super) medeleg: u64,
    pub(super) mideleg: u64,
    pub(super) mie: u64,
    /// The bits of `mip` that software sets: `SSIP`, `STIP`, `SEIP`.
    pub(super) mip: u64,
    pub(super) mtvec: u64,
    pub(super) mscratch: u64,
    pub(super) mepc: u64,
    pub(super) mcause: u64,
    pub(super) mtval: u64,
    pub(super) stvec: u64,
    pub(super) sscratch: u64,
    pub(super) sepc: u64,
    pub(super) scause: u64,
    pub(super) stval: u64,
    pub(super) satp: u64,
    pub(super) stimecmp: u64,
    pub(super) mcounteren: u64,
    pub(super) scounteren: u64,
    pub(super) mcountinhibit: u64,
    pub(super) menvcfg: u64,
    pub(super) senvcfg: u64,
    pub(super) mcycle: Counter,
    pub(super) minstret: Counter,
    /// What `mtime` is ahead of the instructions retired, in ticks, wrapping.
    pub(super) time_ahead: u64,
    pub(super) pmp: Pmp,
    pub(super) triggers: Triggers,
    pub(super) masks: Masks,
}

/// What of some registers can be written; it depends on the extensions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Masks {
    pub mstatus: u64,
    pub medeleg: u64,
    pub counteren: u64,
    pub menvcfg: u64,
    pub senvcfg: u64,
    /// `misa`: C alone can be switched off, where it is there.
    pub misa: u64,
    /// There are compressed instructions, whatever `misa.C` is.
    always_compressed: bool,
}

impl Masks {
    fn new(isa: &Isa) -> Self {
        let when = |ext: Ext, bits: u64| if isa.has(ext) { bits } else { 0 };
        // Exceptions 1 to 9, 12, 13 and 15; 19 as Spike has it; and 0: see `CsrFile::medeleg_mask`.
        let hardware_error = when(Ext::Zicntr, 1 << 19);
        let cache_blocks = when(Ext::Zicbom, CBIE | CBCFE) | when(Ext::Zicboz, CBZE);
        Masks {
            mstatus: if isa.has(Ext::Zve32x) { MSTATUS_WRITABLE } else { MSTATUS_WRITABLE & !VS },
            medeleg: 0xb3fe | hardware_error,
            counteren: when(Ext::Zicntr, 0x7) | when(Ext::Zihpm, 0xffff_fff8),
            menvcfg: FIOM | cache_blocks | ADUE | PBMTE | STCE,
            senvcfg: FIOM | cache_blocks,
            misa: when(Ext::C, MISA_C),
            always_compressed: isa.has(Ext::Zca) && !isa.has(Ext::C),
        }
    }
}

impl CsrFile {
    /// The CSRs at reset.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        CsrFile {
            mstatus: UXL_64 | SXL_64,
            misa: misa(&config.isa),
            medeleg: 0,
            mideleg: 0,
            mie: 0,
            mip: 0,
            mtvec: 0,
            mscratch: 0,
            mepc: 0,
            mcause: 0,
            mtval: 0,
            stvec: 0,
            sscratch: 0,
            sepc: 0,
            scause: 0,
            stval: 0,
            satp: 0,
            stimecmp: 0,
            mcounteren: 0,
            scounteren: 0,
            mcountinhibit: 0,
            menvcfg: 0,
            senvcfg: 0,
            mcycle: Counter::default(),
            minstret: Counter::default(),
            time_ahead: 0,
            pmp: Pmp::default(),
            triggers: Triggers::default(),
            masks: Masks::new(&config.isa),
        }
    }

    /// Whether there are compressed instructions now: IALIGN is 16 with them, and else 32.
    #[inline(always)]
    #[must_use]
    pub fn compressed(&self) -> bool {
        self.misa & MISA_C != 0 || self.masks.always_compressed
    }

    /// Clear where instruction addresses have zeroes. norm:mepc_acc: bit 1 of `mepc` is masked on reads while
    /// IALIGN is 32, and keeps what was written.
    pub(super) fn pc_mask(&self) -> u64 {
        if self.compressed() { !1 } else { !3 }
    }

    /// What of `medeleg` can be written. norm:medeleg_when_rd0: exceptions that cannot occur below M-mode are
    /// read-only zero, as a misaligned fetch is with compressed instructions.
    pub(super) fn medeleg_mask(&self) -> u64 {
        self.masks.medeleg | u64::from(!self.compressed())
    }

    /// `menvcfg`.
    #[must_use]
    pub fn menvcfg(&self) -> u64 {
        self.menvcfg
    }

    /// `senvcfg`.
    #[must_use]
    pub fn senvcfg(&self) -> u64 {
        self.senvcfg
    }
}

/// The bit of C in `misa`.
const MISA_C: u64 = 1 << 2;

/// `misa`: MXLEN is 64, and a bit for each extension of one letter.
fn misa(isa: &Isa) -> u64 {
    let letters = [
        (b'a', isa.has(Ext::A)),
        (b'b', isa.has(Ext::B)),
        (b'c', isa.has(Ext::C)),
        (b'd', isa.has(Ext::D)),
        (b'f', isa.has(Ext::F)),
        (b'i', true),
        (b'm', isa.has(Ext::M)),
        (b's', true),
        (b'u', true),
        (b'v', isa.has(Ext::V)),
    ];
    let bits = letters.iter().filter(|(_, there)| *there).map(|(letter, _)| 1 << (letter - b'a'));
    2 << 62 | bits.sum::<u64>()
}

/// The ranges of registers that come in numbers.
pub(super) const MHPMCOUNTERS: std::ops::RangeInclusive<u16> = csr::MHPMCOUNTER3..=csr::MHPMCOUNTER31;
pub(super) const MHPMEVENTS: std::ops::RangeInclusive<u16> = csr::MHPMEVENT3..=csr::MHPMEVENT31;
pub(super) const PMPCFGS: std::ops::RangeInclusive<u16> = csr::PMPCFG0..=csr::PMPCFG15;
pub(super) const PMPADDRS: std::ops::RangeInclusive<u16> = csr::PMPADDR0..=csr::PMPADDR63;

impl Hart {
    /// `mstatus` as it reads now, with all that instructions have dirtied.
    #[must_use]
    pub fn mstatus(&self) -> u64 {
        let fs = if self.fs_dirty { FS } else { 0 };
        let vs = if self.vs_dirty { VS } else { 0 };
        let status = self.csr.mstatus | fs | vs;
        let dirty = status & FS == FS || status & VS == VS;
        status | if dirty { SD } else { 0 }
    }

    /// The value of a CSR; `None` if there is no such register. Access rights are not checked, and
    /// reading has no side effects.
    #[must_use]
    pub fn read_csr(&self, number: u16) -> Option<u64> {
        self.read_unprivileged(number)
            .or_else(|| self.read_supervisor(number))
            .or_else(|| self.read_machine(number))
    }

    fn read_unprivileged(&self, number: u16) -> Option<u64> {
        let isa = &self.config.isa;
        let value = match number {
            csr::FFLAGS | csr::FRM | csr::FCSR => {
                if !isa.has(Ext::F) {
                    return None;
                }
                let (fflags, frm) = (u64::from(self.fflags.bits()), u64::from(self.frm));
                match number {
                    csr::FFLAGS => fflags,
                    csr::FRM => frm,
                    _ => frm << 5 | fflags,
                }
            }
            csr::VSTART | csr::VXSAT | csr::VXRM | csr::VCSR | csr::VL | csr::VTYPE | csr::VLENB => {
                if !isa.has(Ext::Zve32x) {
                    return None;
                }
                let (vxsat, vxrm) = (u64::from(self.v.vxsat), u64::from(self.v.vxrm));
                match number {
                    csr::VSTART => self.v.vstart,
                    csr::VXSAT => vxsat,
                    csr::VXRM => vxrm,
                    csr::VCSR => vxrm << 1 | vxsat,
                    csr::VL => self.v.vl,
                    csr::VTYPE => self.v.vtype.to_bits(),
                    _ => self.v.vlenb as u64,
                }
            }
            csr::CYCLE if isa.has(Ext::Zicntr) => self.mcycle(),
            csr::TIME if isa.has(Ext::Zicntr) => self.mtime(),
            csr::INSTRET if isa.has(Ext::Zicntr) => self.minstret(),
            csr::HPMCOUNTER3..=csr::HPMCOUNTER31 if isa.has(Ext::Zihpm) => 0,
            _ => return None,
        };
        Some(value)
    }

    fn read_supervisor(&self, number: u16) -> Option<u64> {
        let csr = &self.csr;
        let value = match number {
            csr::SSTATUS => self.mstatus() & SSTATUS_VISIBLE,
            csr::SIE => csr.mie & csr.mideleg,
            csr::STVEC => csr.stvec,
            csr::SCOUNTEREN => csr.scounteren,
            csr::SENVCFG => csr.senvcfg,
            csr::SSCRATCH => csr.sscratch,
            csr::SEPC => csr.sepc & csr.pc_mask(),
            csr::SCAUSE => csr.scause,
            csr::STVAL => csr.stval,
            csr::SIP => self.mip() & csr.mideleg,
            csr::STIMECMP => csr.stimecmp,
            csr::SATP => csr.satp,
            _ => return None,
        };
        Some(value)
    }

    fn read_machine(&self, number: u16) -> Option<u64> {
        let csr = &self.csr;
        let value = match number {
            csr::MSTATUS => self.mstatus(),
            csr::MISA => csr.misa,
            csr::MEDELEG => csr.medeleg,
            csr::MIDELEG => csr.mideleg,
            csr::MIE => csr.mie,
            csr::MTVEC => csr.mtvec,
            csr::MCOUNTEREN => csr.mcounteren,
            csr::MENVCFG => csr.menvcfg,
            csr::MCOUNTINHIBIT => csr.mcountinhibit,
            csr::MSCRATCH => csr.mscratch,
            csr::MEPC => csr.mepc & csr.pc_mask(),
            csr::MCAUSE => csr.mcause,
            csr::MTVAL => csr.mtval,
            csr::MIP => self.mip(),
            csr::MCYCLE => self.mcycle(),
            csr::MINSTRET => self.minstret(),
            n if MHPMCOUNTERS.contains(&n) || MHPMEVENTS.contains(&n) => 0,
            // norm:pmp_cfg_rv64_illegal: the odd ones are RV32's.
            n if PMPCFGS.contains(&n) && n % 2 == 0 => csr.pmp.read_cfg(usize::from(n - csr::PMPCFG0)),
            n if PMPADDRS.contains(&n) => csr.pmp.read_addr(usize::from(n - csr::PMPADDR0)),
            csr::TSELECT => csr.triggers.tselect(),
            csr::TDATA1 => csr.triggers.tdata1(),
            csr::TDATA2 => csr.triggers.tdata2(),
            csr::TDATA3 => 0,
            csr::TINFO => TINFO,
            csr::MHARTID => u64::from(self.number),
            csr::MVENDORID | csr::MIMPID | csr::MCONFIGPTR => 0,
            // Spike's number: a guest should see no difference.
            csr::MARCHID => 5,
            _ => return None,
        };
        Some(value)
    }
}
