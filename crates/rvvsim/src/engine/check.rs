//! Both engines, block by block: what the interpreter and host code each make of the same state.
//!
//! The interpreter runs a block first, with every store written down; then the state is put back and host
//! code runs the same block. Registers, vector state, memory that was written, and how the block ended must
//! be the same. Blocks that do what cannot be done twice (devices, memory shared with other processes, CSRs,
//! system instructions) are left to the interpreter.

use super::block::Block;
use super::ops::{End, How};
use crate::Hart;
use crate::fp::Flags;
use crate::hart::AtomicStops;
use crate::trap::Trap;
use crate::vector::VectorState;
use rvv_isa::{Class, DisasmOptions};
use std::fmt::Write as _;

/// What stores overwrote.
#[derive(Default)]
pub struct Journal {
    /// Offsets in RAM, and the bytes that were there, oldest first.
    pub writes: Vec<(usize, Box<[u8]>)>,
    /// A device was read or written, or memory that other processes have, too.
    pub device: bool,
}

/// What a block may change, memory apart.
#[derive(Clone)]
struct State {
    x: [u64; 32],
    f: [u64; 32],
    v: VectorState,
    fflags: Flags,
    frm: u8,
    fs_dirty: bool,
    vs_dirty: bool,
    reservation: Option<(usize, usize)>,
    resync: bool,
    trap: Option<Trap>,
    /// Atomic instructions count, towards the end of a turn.
    atomics: Option<AtomicStops>,
}

impl State {
    fn of(h: &Hart) -> State {
        State {
            x: *h.x.architectural(),
            f: *h.f.architectural(),
            v: h.v.clone(),
            fflags: h.fflags,
            frm: h.frm,
            fs_dirty: h.fs_dirty,
            vs_dirty: h.vs_dirty,
            reservation: h.reservation,
            resync: h.resync,
            trap: h.trap,
            atomics: h.atomics,
        }
    }

    fn put(&self, h: &mut Hart) {
        for r in 0..32_u8 {
            h.x[r] = self.x[usize::from(r)];
            h.f[r] = self.f[usize::from(r)];
        }
        h.v.clone_from(&self.v);
        (h.fflags, h.frm) = (self.fflags, self.frm);
        (h.fs_dirty, h.vs_dirty) = (self.fs_dirty, self.vs_dirty);
        (h.reservation, h.resync, h.trap) = (self.reservation, self.resync, self.trap);
        h.atomics = self.atomics;
    }

    /// In what the other differs, in words.
    fn differences(&self, other: &State) -> String {
        let mut text = String::new();
        /// A line if they are not the same.
        fn differ<T: PartialEq + std::fmt::Debug + ?Sized>(text: &mut String, name: &str, a: &T, b: &T) {
            if a != b {
                let _ = writeln!(text, "  {name:8} interpreter {a:#x?}  host code {b:#x?}");
            }
        }
        if self.x != other.x || self.f != other.f || self.v.regs != other.v.regs {
            for r in 0..32_u8 {
                let i = usize::from(r);
                differ(&mut text, &format!("x{r}"), &self.x[i], &other.x[i]);
                differ(&mut text, &format!("f{r}"), &self.f[i], &other.f[i]);
                differ(&mut text, &format!("v{r}"), self.v.register(r), other.v.register(r));
            }
        }
        let words = |s: &State| {
            [
                ("vl", s.v.vl),
                ("vtype", s.v.vtype.to_bits()),
                ("vstart", s.v.vstart),
                ("vxrm", s.v.vxrm.into()),
                ("vxsat", s.v.vxsat.into()),
                ("fflags", s.fflags.bits().into()),
                ("frm", s.frm.into()),
                ("FS dirty", s.fs_dirty.into()),
                ("VS dirty", s.vs_dirty.into()),
                ("resync", s.resync.into()),
            ]
        };
        for ((name, a), (_, b)) in words(self).into_iter().zip(words(other)) {
            differ(&mut text, name, &a, &b);
        }
        differ(&mut text, "LR", &self.reservation, &other.reservation);
        differ(&mut text, "trap", &self.trap, &other.trap);
        differ(&mut text, "atomics", &self.atomics, &other.atomics);
        text
    }
}

/// Whether a block can be run twice.
pub fn can_run_twice(block: &Block) -> bool {
    !block.insts.iter().any(|(_, inst)| {
        matches!(inst.op.class(), Class::Csr | Class::System) && !crate::scalar::reads_vector_length(inst)
    })
}

/// What the interpreter did with a block; memory and registers are again what they were before.
pub struct Expected {
    end: End,
    before: State,
    after: State,
    /// Offsets in RAM that were written, and the bytes that are to be there.
    written: Vec<(usize, Box<[u8]>)>,
}

/// Runs a block by the interpreter, and takes it back. If that cannot be, it is done, and this is how it
/// ended.
pub fn expect(h: &mut Hart, block: &Block) -> Result<Expected, End> {
    let before = State::of(h);
    // Nothing may be stored behind the journal's back. What the TLB knew is still so afterwards.
    let tlb = std::mem::take(&mut h.tlb);
    h.journal = Some(Box::default());
    let end = block.run(h);
    let journal = h.journal.take().expect("it was put there");
    h.tlb = tlb;
    if journal.device {
        return Err(end);
    }
    let after = State::of(h);
    let now = |h: &Hart, (offset, old): &(usize, Box<[u8]>)| {
        (*offset, h.ram.bytes()[*offset..][..old.len()].into())
    };
    let written = journal.writes.iter().map(|write| now(h, write)).collect();
    for (offset, old) in journal.writes.iter().rev() {
        h.ram.bytes_mut()[*offset..][..old.len()].copy_from_slice(old);
    }
    before.put(h);
    h.retired_in_block = 0;
    Ok(Expected { end, before, after, written })
}

impl Expected {
    /// Compares with what host code did with the same block.
    ///
    /// # Errors
    /// The differences, in words.
    pub fn compare(&self, h: &Hart, end: &End, block: &Block, code: &[u8]) -> Result<(), String> {
        let mut text = self.after.differences(&State::of(h));
        let name = |how: How| match how {
            How::Onwards => "onwards",
            How::Taken => "taken",
            How::Computed => "computed",
            How::Anything => "anything",
            How::Trap => "trap",
            How::Early => "early",
        };
        if (end.how, end.at) != (self.end.how, self.end.at) {
            let _ = writeln!(
                text,
                "  end      interpreter {} {:#x}  host code {} {:#x}",
                name(self.end.how),
                self.end.at,
                name(end.how),
                end.at
            );
        }
        for (offset, bytes) in &self.written {
            let got = &h.ram.bytes()[*offset..][..bytes.len()];
            if got != &**bytes {
                let _ = writeln!(text, "  RAM {offset:#x} interpreter {bytes:02x?}  host code {got:02x?}");
            }
        }
        if text.is_empty() {
            return Ok(());
        }
        let mut report = format!("the engines differ on the block at {:#x}\n\n", block.pc);
        for (offset, inst) in &block.insts {
            let at = block.pc.wrapping_add(u64::from(*offset));
            let text = inst.disasm(at, DisasmOptions { pseudo: true }).replace('\t', " ");
            let _ = writeln!(report, "  {at:#x}  {text}");
        }
        report.push_str("\nmicro-ops:\n");
        for uop in block.uops.as_slice() {
            let _ = writeln!(
                report,
                "  {:?} rd {} rs1 {} rs2 {} imm {:#x}",
                uop.kind(),
                uop.rd,
                uop.rs1,
                uop.rs2,
                uop.imm
            );
        }
        let _ = writeln!(report, "\nbefore:");
        for (r, value) in self.before.x.iter().enumerate().skip(1) {
            let _ = write!(report, "  x{r}={value:#x}");
        }
        let _ = writeln!(report, "\n\ndifferences:\n{text}\nhost code (x86-64):");
        for line in code.chunks(32) {
            for byte in line {
                let _ = write!(report, " {byte:02x}");
            }
            report.push('\n');
        }
        Err(report)
    }
}
