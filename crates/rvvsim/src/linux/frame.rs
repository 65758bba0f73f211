//! The frame a signal handler finds on its stack, laid out as Linux lays it out on riscv64.
//!
//! ```text
//!    0  siginfo_t            128 bytes
//!  128  struct ucontext      flags 0, link 8, stack 16, sigmask 40, padding to 176
//!  304  struct sigcontext    pc, x1..x31: 256 bytes; then f0..f31, fcsr in a union of 528
//! 1080    the union's last 8: the header (magic, size) of the first extension's state
//! 1088  vstart vl vtype vcsr vlenb datap      48 bytes, if there is vector state
//! 1136  v0..v31                               32 × vlenb
//!  ...  the end header: 0, 0
//! ```

use super::Process;
use super::signal::{Action, Info, SA_ONSTACK, SS_DISABLE};
use super::user;
use crate::Hart;
use crate::config::Config;
use crate::fp::Flags;
use rustix::io::Errno;
use rvv_isa::Vtype;

const UCONTEXT: usize = 128;
const STACK: usize = UCONTEXT + 16;
const SIGMASK: usize = UCONTEXT + 40;
const REGS: usize = UCONTEXT + 176;
const FPREGS: usize = REGS + 256;
const FCSR: usize = FPREGS + 256;
/// A word that must be zero: the end of the padding of the union.
const RESERVED: usize = FPREGS + 516;
const HEADER: usize = FPREGS + 520;
const PLAIN: usize = HEADER + 8;
const VSTATE: usize = PLAIN;
const VDATA: usize = VSTATE + 48;

const V_MAGIC: u32 = 0x5346_5457;

/// Bytes of a frame, with vector state or without.
pub fn frame_size(config: &Config, vector: bool) -> u64 {
    if !vector || config.isa.elen() == 0 {
        return PLAIN as u64;
    }
    (VDATA as u64 + 32 * u64::from(config.vlen / 8) + 8).next_multiple_of(16)
}

/// The bytes of a `siginfo_t`.
pub fn siginfo(info: &Info) -> [u8; 128] {
    let mut bytes = [0; 128];
    bytes[0..4].copy_from_slice(&info.signal.to_le_bytes());
    bytes[8..12].copy_from_slice(&info.code.to_le_bytes());
    bytes[16..24].copy_from_slice(&info.detail[0].to_le_bytes());
    bytes[24..32].copy_from_slice(&info.detail[1].to_le_bytes());
    bytes
}

/// Whether the guest has used its vector unit: Linux gives a process vector state at its first vector
/// instruction.
fn has_vector_state(hart: &Hart) -> bool {
    hart.config.isa.elen() > 0 && (hart.vs_dirty || !hart.v.vtype.vill)
}

impl Process {
    /// Puts a frame on the stack and the handler's first instruction under the pc.
    pub(super) fn enter_handler(
        &mut self,
        hart: &mut Hart,
        info: &Info,
        action: &Action,
        mask: u64,
    ) -> Result<(), Errno> {
        let vector = has_vector_state(hart);
        let size = frame_size(&hart.config, vector);
        let sp = hart.x[2];
        let alt = self.me().signals.altstack;
        let top = match action.flags & SA_ONSTACK != 0 && alt.flags & SS_DISABLE == 0 && !alt.holds(sp) {
            true => alt.start.wrapping_add(alt.size),
            false => sp,
        };
        let at = top.checked_sub(size).ok_or(Errno::FAULT)? & !15;
        if alt.holds(top) && !alt.holds(at) {
            return Err(Errno::FAULT);
        }
        let mut frame = vec![0u8; size as usize];
        let mut put = |at: usize, bytes: &[u8]| frame[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &siginfo(info));
        put(STACK, &alt.start.to_le_bytes());
        put(STACK + 8, &alt.seen_flags(sp).to_le_bytes());
        put(STACK + 16, &alt.size.to_le_bytes());
        put(SIGMASK, &mask.to_le_bytes());
        put(REGS, &hart.pc.to_le_bytes());
        for r in 1..32u8 {
            put(REGS + 8 * usize::from(r), &hart.x[r].to_le_bytes());
        }
        for r in 0..32u8 {
            put(FPREGS + 8 * usize::from(r), &hart.f[r].to_le_bytes());
        }
        let fcsr = u32::from(hart.frm) << 5 | u32::from(hart.fflags.bits());
        put(FCSR, &fcsr.to_le_bytes());
        if vector {
            let v = &hart.v;
            put(HEADER, &V_MAGIC.to_le_bytes());
            put(HEADER + 4, &vector_record_size(hart).to_le_bytes());
            let vcsr = u64::from(v.vxrm) << 1 | u64::from(v.vxsat);
            let words = [v.vstart, v.vl, v.vtype.to_bits(), vcsr, v.vlenb as u64, at + VDATA as u64];
            for (i, word) in words.iter().enumerate() {
                put(VSTATE + 8 * i, &word.to_le_bytes());
            }
            put(VDATA, &v.regs[..32 * v.vlenb]);
        }
        user::write(hart, at, &frame)?;
        hart.reservation = None;
        hart.set_x(1, self.signals.trampoline);
        hart.set_x(2, at);
        hart.set_x(10, info.signal as u64);
        hart.set_x(11, at);
        hart.set_x(12, at + UCONTEXT as u64);
        hart.pc = action.handler & !1;
        Ok(())
    }

    /// Restores everything from the frame at the stack pointer; the signal mask in it.
    pub(super) fn leave_handler(&mut self, hart: &mut Hart) -> Result<u64, Errno> {
        let at = hart.x[2];
        let frame: [u8; PLAIN] = user::read_array(hart, at)?;
        let word = |at: usize| frame[at..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
        let half = |at: usize| frame[at..].first_chunk().map_or(0, |b| u32::from_le_bytes(*b));
        if half(RESERVED) != 0 {
            return Err(Errno::INVAL);
        }
        self.restore_extensions(hart, at.wrapping_add(HEADER as u64))?;
        for r in 1..32u8 {
            hart.set_x(r, word(REGS + 8 * usize::from(r)));
        }
        for r in 0..32u8 {
            hart.set_f(r, word(FPREGS + 8 * usize::from(r)));
        }
        let fcsr = half(FCSR);
        hart.fflags = Flags(fcsr as u8 & 0x1f);
        hart.frm = (fcsr >> 5 & 7) as u8;
        hart.pc = word(REGS) & !1;
        hart.reservation = None;
        // Neither does Linux care whether this part is well-formed.
        let altstack = &mut self.me_mut().signals.altstack;
        if !altstack.holds(word(REGS + 16)) {
            let (start, flags, size) = (word(STACK), half(STACK + 8), word(STACK + 16));
            if flags & SS_DISABLE == 0 && size >= 2048 {
                (altstack.start, altstack.size, altstack.flags) = (start, size, flags & !1);
            }
        }
        Ok(word(SIGMASK))
    }

    fn restore_extensions(&mut self, hart: &mut Hart, mut header: u64) -> Result<(), Errno> {
        // The vector record is the only one there is.
        for _ in 0..2 {
            let magic = user::read_u32(hart, header)?;
            let size = user::read_u32(hart, header.wrapping_add(4))?;
            match magic {
                0 if size == 0 => return Ok(()),
                V_MAGIC if hart.config.isa.elen() > 0 && size == vector_record_size(hart) => {
                    restore_vector(hart, header.wrapping_add(8))?;
                    header = header.wrapping_add(u64::from(size));
                }
                _ => return Err(Errno::INVAL),
            }
        }
        Err(Errno::INVAL)
    }
}

/// What the header of the vector record says its size is: with the header itself.
fn vector_record_size(hart: &Hart) -> u32 {
    (8 + 48 + 32 * hart.v.vlenb) as u32
}

fn restore_vector(hart: &mut Hart, state: u64) -> Result<(), Errno> {
    let bytes: [u8; 48] = user::read_array(hart, state)?;
    let word = |i: usize| bytes[8 * i..].first_chunk().map_or(0, |b| u64::from_le_bytes(*b));
    let mut regs = vec![0; 32 * hart.v.vlenb];
    user::read(hart, word(5), &mut regs)?;
    // The kernel restores vl and vtype with vsetvl, so what is not legal becomes vill.
    let vtype = Vtype::from_bits(word(2));
    let widest = i64::from(hart.config.isa.elen());
    let fits = i64::from(vtype.sew.bits()) << (-vtype.lmul.log2()).max(0) <= widest;
    let vtype = if fits { vtype } else { Vtype::VILL };
    let vlmax = u64::from(vtype.vlmax(hart.config.vlen));
    let v = &mut hart.v;
    v.regs[..regs.len()].copy_from_slice(&regs);
    v.vtype = vtype;
    v.vl = word(1).min(vlmax);
    v.vstart = word(0) & (u64::from(hart.config.vlen) - 1);
    v.vxrm = (word(3) >> 1 & 3) as u8;
    v.vxsat = word(3) & 1 != 0;
    hart.vs_dirty = true;
    Ok(())
}
