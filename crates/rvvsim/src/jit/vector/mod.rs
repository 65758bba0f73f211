//! Vector instructions in host code, for `vstart` = 0 and a `vl` that is known: from `vsetivli`, or VLMAX.
//!
//! `vtype` is known in a block, so VLMAX is. Before the first vector instruction of a block, and after each
//! that may change `vl`, host code compares: if `vl` is not what is expected (what it was when the block was
//! compiled, VLMAX mostly), or `vstart` is not 0, the interpreter runs the rest of the block. What comes
//! after the comparison has no tail, or one that keeps its values. If that happens often, the block is
//! compiled anew. Instructions without a template call their kernels, as the interpreter does.
//!
//! * [`lanes`]: integer instructions, element by element; [`compare`]: those whose result is a mask;
//! * [`float`]: floating point; [`memory`], [`elements`]: loads and stores; [`fold`]: reductions, and moves
//!   from and to element 0;
//! * [`gather`]: `vrgather`; [`crypto`]: AES and SHA-256;
//! * [`chain`]: instructions of large groups that are executed together.
//!
//! A group is computed in *pieces* of a host register. Those of small groups are kept in host registers if
//! they are read again soon ([`super::cached`]). General registers: `rdx` points at the vector registers;
//! `rax` and `rcx` are free.

mod chain;
mod compare;
mod crypto;
mod elements;
mod float;
mod fold;
mod gather;
mod lanes;
mod memory;

use super::cached::Cached;
use super::cold::{Cold, First};
use super::constants::{self, constant};
use super::emit::Emitter;
use super::fields::vector_field;
use super::registers::{RAX, RBX, RCX, RDX};
use super::simd::{self, Operand, Simd, Width};
use crate::engine::Uop;
use crate::vector::VInst;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Class, Eew, Op, Scalar, Sew, Vtype};

/// The most pieces of a group: eight registers of 1024 bits.
const MOST_PIECES: usize = 32;

/// Host registers: the result of a piece, what it is computed from, the lanes of a mask, the scalar operand,
/// and one that stays as it is for all pieces of an instruction.
const RESULT: u8 = 0;
const FIRST: u8 = 1;
const SECOND: u8 = 2;
const CHOSEN: u8 = 3;
const SCALAR: u8 = 14;
const SPARE: u8 = 15;

/// A part of a group: where it begins, in bytes, and how wide it is.
type Piece = (i32, Width);

/// The pieces of so many bytes. `None` if there are none, too many, or a last one that is no multiple of four
/// bytes.
fn pieces(bytes: usize) -> Option<Vec<Piece>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes {
        let fits = |w: &Width| w.bytes() <= bytes - at;
        let width = [Width::B32, Width::B16, Width::B8, Width::B4].into_iter().find(fits)?;
        pieces.push((at as i32, width));
        at += width.bytes();
    }
    (!pieces.is_empty() && pieces.len() <= MOST_PIECES).then_some(pieces)
}

/// A group in *strips*: as many times the same pieces, each strip after the other. A large group has more
/// than one, and host code has a loop over them, in which `ecx` counts those that are left and base registers
/// move on.
struct Strips {
    pieces: Vec<Piece>,
    count: usize,
}

/// The bytes of a strip of a large group.
const STRIP: usize = 512;

impl Strips {
    /// As [`pieces`]; a large group is whole strips.
    fn of(bytes: usize) -> Option<Strips> {
        if bytes <= MOST_PIECES * Width::B32.bytes() {
            return Some(Strips { pieces: pieces(bytes)?, count: 1 });
        }
        let count = bytes / STRIP;
        bytes.is_multiple_of(STRIP).then(|| Some(Strips { pieces: pieces(STRIP)?, count }))?
    }

    fn is_loop(&self) -> bool {
        self.count > 1
    }

    /// The first element of a piece, as whoever goes on there has to be told.
    fn first_of(&self, piece: &Piece, size: usize) -> First {
        let first = (piece.0 as usize / size) as u32;
        if !self.is_loop() {
            return First::Element(first);
        }
        let strip = (STRIP / size) as u32;
        First::InStrip { end: self.count as u32 * strip + first, strip }
    }
}

/// The index of an element width in tables by SEW.
fn sew_index(sew: Sew) -> usize {
    sew.bits().trailing_zeros() as usize - 3
}

/// The bytes of an element.
fn bytes_of(sew: Sew) -> usize {
    sew.bits() as usize / 8
}

/// Whether a vector instruction has a scalar operand.
fn has_scalar(vinst: &VInst) -> bool {
    vinst.inst.op.shape().scalar != Scalar::Absent
}

impl Emitter<'_> {
    /// Emits a vector instruction that has a template; false, and nothing emitted, if it has none.
    pub(super) fn vector_template(&mut self, u: &Uop) -> bool {
        let vinst = self.block.uops.vector(u);
        match vinst.inst.op.class() {
            Class::VectorConfig => self.set_vl(u, vinst),
            Class::VectorLoad | Class::VectorStore => self.memory(u, vinst),
            _ if self.float_lanes(u, vinst) => true,
            _ => {
                let is_done = self.integer_lanes(u, vinst)
                    || self.compare(u, vinst)
                    || self.fold(u, vinst)
                    || self.gather(u, vinst)
                    || self.crypto(u, vinst);
                if is_done {
                    self.note_writes(u, vinst);
                }
                is_done
            }
        }
    }

    /// Under the random tail policy, after the body is written: as [`VInst::note_writes`], and coins are
    /// tossed for the tail unless it is known to be ones. What the interpreter's kernel executed comes back
    /// after this.
    fn note_writes(&mut self, u: &Uop, vinst: &VInst) {
        let at = self.asm.new_dynamic_label();
        let mut tosses = false;
        let vlenb = self.site.vlenb;
        for (register, body) in vinst.noted_registers(self.vl(vinst) as usize, vlenb) {
            let from = vector_field().known_ones + 4 * register as i32;
            let bytes = body as i32;
            if body == vlenb {
                x64!(&mut self.asm; mov DWORD [rbx + from], bytes);
            } else if vinst.keeps_tail() {
                x64!(&mut self.asm; cmp DWORD [rbx + from], bytes; jae >known; mov DWORD [rbx + from], bytes; known:);
            } else {
                tosses = true;
                x64!(&mut self.asm; cmp DWORD [rbx + from], bytes; ja =>at; mov DWORD [rbx + from], bytes);
            }
        }
        if tosses {
            let back = self.asm.new_dynamic_label();
            x64!(&mut self.asm; =>back);
            self.cold.push(Cold::Tail { at, back, uop: *u, cached: self.cached });
        }
    }

    /// `vsetvli` and `vsetivli`, where the rule for `vl` leaves no choice.
    fn set_vl(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let inst = &vinst.inst;
        let vlmax = vinst.vlmax;
        let fields = vector_field();
        let ratio = |t: Vtype| t.vlmax(1 << 16);
        let before = self.vtype;
        enum New {
            Same,
            Known(u32),
            Lesser,
        }
        let new = match inst.op {
            Op::Vsetivli if u32::from(inst.rs1) <= vlmax => New::Known(inst.rs1.into()),
            Op::Vsetivli if u32::from(inst.rs1) >= 2 * vlmax => New::Known(vlmax),
            Op::Vsetvli if inst.rs1 != 0 && vinst.sets_least() => New::Lesser,
            Op::Vsetvli if inst.rs1 == 0 && inst.rd != 0 => New::Known(vlmax),
            // It keeps `vl`, which is no more than VLMAX, if that stays the same.
            Op::Vsetvli if inst.rs1 == 0 && before.is_some_and(|t| ratio(t) == ratio(vinst.vtype)) => {
                New::Same
            }
            _ => return false,
        };
        self.known_vl = match new {
            New::Same => {
                x64!(&mut self.asm; mov QWORD [rbx + fields.vstart], 0);
                self.known_vl
            }
            New::Known(vl) => {
                self.put_vl(inst.rd, vl);
                Some(vl)
            }
            New::Lesser if self.is_vl_used(u) => {
                // The rest of the block is made for one `vl`.
                let a = self.source(inst.rs1, RAX);
                let vl = self.block.expected.get().avl.min(vlmax);
                let at = self.asm.new_dynamic_label();
                x64!(&mut self.asm; cmp Rq(a), vl as i32);
                match vl == vlmax {
                    true => x64!(&mut self.asm; jb =>at),
                    false => x64!(&mut self.asm; jne =>at),
                }
                self.cold.push(Cold::Interpret { at, insn: u.insn });
                self.expects = true;
                self.put_vl(inst.rd, vl);
                Some(vl)
            }
            New::Lesser => {
                let a = self.source(inst.rs1, RAX);
                x64!(&mut self.asm; mov ecx, vlmax as i32; cmp Rq(a), rcx; cmovb rcx, Rq(a));
                x64!(&mut self.asm; mov [rbx + fields.vl], rcx; mov QWORD [rbx + fields.vstart], 0);
                if inst.rd != 0 {
                    self.put(inst.rd, RCX);
                }
                None
            }
        };
        self.expected_vl = u32::MAX;
        if before != Some(vinst.vtype) {
            self.write_vtype(&vinst.vtype);
        }
        self.vtype = Some(vinst.vtype);
        self.dirty_vector();
        true
    }

    /// A known `vl`, also in `rd`.
    fn put_vl(&mut self, rd: u8, vl: u32) {
        let fields = vector_field();
        x64!(&mut self.asm; mov QWORD [rbx + fields.vl], vl as i32; mov QWORD [rbx + fields.vstart], 0);
        if rd != 0 {
            let d = self.target(rd);
            self.constant(d, i64::from(vl));
            self.put(rd, d);
        }
    }

    /// The vector instructions of the block after one.
    fn after(&self, u: &Uop) -> impl Iterator<Item = &VInst> {
        let uops = self.block.uops.as_slice().iter().filter(move |later| later.insn > u.insn);
        uops.filter(|uop| uop.kind().is_vector()).map(|uop| self.block.uops.vector(uop))
    }

    /// Whether another instruction uses the `vl` that one sets.
    fn is_vl_used(&self, u: &Uop) -> bool {
        self.after(u).next().is_some_and(|vinst| vinst.inst.op.class() != Class::VectorConfig)
    }

    /// Whether what an instruction writes is worth to be kept in host registers: it is small, and read again
    /// soon.
    fn is_kept(&self, u: &Uop, vinst: &VInst, pieces: &[Piece]) -> bool {
        const SOON: usize = 8;
        const SMALL: usize = 4;
        let written = vinst.groups.vd;
        if pieces.len() > SMALL {
            return false;
        }
        for later in self.after(u).take(SOON) {
            let (groups, shape) = (&later.groups, later.inst.op.shape());
            let reads_vd = shape.reads_vd || shape.memory.is_some_and(|m| m.store);
            let is = |eew: Eew, group: u32| eew != Eew::Absent && group == written;
            if is(shape.vs2, groups.vs2) || is(shape.vs1, groups.vs1) {
                return true;
            }
            if is(shape.vd, groups.vd) {
                return reads_vd;
            }
        }
        false
    }

    /// Copies `vtype` from the instruction, where it stays as long as the code does.
    fn write_vtype(&mut self, vtype: &Vtype) {
        const { assert!(size_of::<Vtype>() == 5) };
        let (from, to) = ((&raw const *vtype).expose_provenance() as i64, vector_field().vtype);
        x64!(&mut self.asm; mov rax, QWORD from; mov ecx, [rax]; movzx eax, BYTE [rax + 4]);
        x64!(&mut self.asm; mov [rbx + to], ecx; mov [rbx + to + 4], al);
    }

    /// The `vl` that host code for an instruction is made for.
    fn vl(&self, vinst: &VInst) -> u32 {
        self.known_vl.unwrap_or(self.expected_vl.min(vinst.vlmax))
    }

    /// The pieces of `vd` of an instruction with elements of so many bytes, if host code can leave all others
    /// alone.
    fn pieces_of(&self, vinst: &VInst, size: usize) -> Option<Vec<Piece>> {
        pieces(self.bytes_written(vinst, size)?)
    }

    /// The same in strips.
    fn strips_of(&self, vinst: &VInst, size: usize) -> Option<Strips> {
        Strips::of(self.bytes_written(vinst, size)?)
    }

    fn bytes_written(&self, vinst: &VInst, size: usize) -> Option<usize> {
        let vl = self.vl(vinst);
        let bytes = vl as usize * size;
        (vl <= vinst.vlmax && vinst.leaves_others(bytes)).then_some(bytes)
    }

    /// Emits what computes a strip, and a loop around it if there are several. `rdx` points at the vector
    /// registers; `memory`: `rax` moves on, too.
    fn for_each_strip(&mut self, strips: &Strips, memory: bool, body: impl FnOnce(&mut Self)) {
        if !strips.is_loop() {
            return body(self);
        }
        // What is in host registers is of one strip.
        self.cached.forget_all();
        let again = self.asm.new_dynamic_label();
        x64!(&mut self.asm; mov ecx, strips.count as i32; =>again);
        body(self);
        x64!(&mut self.asm; add rdx, STRIP as i32);
        if memory {
            x64!(&mut self.asm; add rax, STRIP as i32);
        }
        x64!(&mut self.asm; dec ecx; jne =>again);
        self.cached = Cached::default();
    }

    /// From here on, `vl` is what [`Emitter::vl`] says and `vstart` 0, or the interpreter has taken over.
    fn whole(&mut self, u: &Uop, vinst: &VInst) {
        if self.known_vl.is_some() {
            return;
        }
        let at = self.asm.new_dynamic_label();
        let (fields, vl) = (vector_field(), self.vl(vinst));
        x64!(&mut self.asm; cmp QWORD [rbx + fields.vl], vl as i32; jne =>at);
        x64!(&mut self.asm; cmp QWORD [rbx + fields.vstart], 0; jne =>at);
        self.cold.push(Cold::Interpret { at, insn: u.insn });
        self.known_vl = Some(vl);
        self.expects = true;
        self.dirty_vector();
    }

    pub(super) fn simd(&mut self, i: Simd, width: Width, reg: u8, second: u8, last: Operand) {
        let mut out = std::mem::take(&mut self.bytes);
        out.clear();
        simd::encode(&mut out, i, width, [reg, second], last);
        self.asm.extend(out.iter());
        self.bytes = out;
    }

    /// The same of an instruction with an immediate.
    fn simd_with(&mut self, i: Simd, width: Width, reg: u8, second: u8, last: Operand, imm: u8) {
        self.simd(i, width, reg, second, last);
        self.asm.push(imm);
    }

    /// `rdx` points at the vector registers.
    fn registers(&mut self) {
        if !self.cached.base {
            x64!(&mut self.asm; mov rdx, [rbx + vector_field().registers]);
            self.cached.base = true;
        }
    }

    /// Loads a piece from memory; above it are zeroes.
    fn load_piece(&mut self, width: Width, reg: u8, base: u8, at: i32) {
        if base == RDX
            && let Some(kept) = self.cached.find(at, width)
        {
            return self.simd(simd::LOAD, width, reg, 0, Operand::Vector(kept));
        }
        let i = match width {
            Width::B64 | Width::B32 | Width::B16 => simd::LOAD,
            Width::B8 => simd::LOAD_8,
            Width::B4 => simd::LOAD_4,
        };
        self.simd(i, width, reg, 0, Operand::Memory(base, at));
    }

    fn store_piece(&mut self, width: Width, reg: u8, base: u8, at: i32) {
        if base == RDX {
            self.cached.forget(at, width.bytes());
        }
        let i = match width {
            Width::B64 | Width::B32 | Width::B16 => simd::STORE,
            Width::B8 => simd::STORE_8,
            Width::B4 => simd::STORE_4,
        };
        self.simd(i, width, reg, 0, Operand::Memory(base, at));
    }

    /// Stores a piece of the vector registers, and keeps it if it may be.
    fn keep_piece(&mut self, width: Width, reg: u8, at: i32, keep: bool) {
        self.store_piece(width, reg, RDX, at);
        if keep && width.bytes() >= 16 {
            let to = self.cached.take(at, width);
            self.simd(simd::LOAD, width, to, 0, Operand::Vector(reg));
        }
    }

    /// A host register with a piece of the vector registers in it: `temp`, if it was not in one.
    fn piece_in_register(&mut self, width: Width, temp: u8, at: i32) -> u8 {
        self.cached.find(at, width).unwrap_or_else(|| {
            self.load_piece(width, temp, RDX, at);
            temp
        })
    }

    /// A piece of the vector registers as an operand: in memory, or loaded if it is a small one.
    fn piece(&mut self, width: Width, temp: u8, at: i32) -> Operand {
        if let Some(kept) = self.cached.find(at, width) {
            return Operand::Vector(kept);
        }
        if width.bytes() >= 16 {
            return Operand::Memory(RDX, at);
        }
        self.load_piece(width, temp, RDX, at);
        Operand::Vector(temp)
    }

    /// Copies the element in a general register to all of a vector register.
    fn splat(&mut self, to: u8, from: u8, sew: Sew) {
        self.splat_all(to, from, sew, Width::B32);
    }

    /// The same of a register of some width.
    fn splat_all(&mut self, to: u8, from: u8, sew: Sew, width: Width) {
        let n = sew_index(sew);
        self.simd(simd::MOVE[usize::from(n == 3)], Width::B16, to, 0, Operand::General(from));
        let Some(i) = simd::BROADCAST[n] else { unreachable!("there is one for each") };
        self.simd(i, width, to, 0, Operand::Vector(to));
    }

    /// Loads a constant.
    fn load_constant(&mut self, to: u8, at: i32) {
        self.simd(simd::LOAD, Width::B32, to, 0, Operand::Memory(RBX, at));
    }

    /// The integer scalar operand in all of [`SCALAR`].
    fn splat_scalar(&mut self, vinst: &VInst, sew: Sew) {
        if vinst.scalar.immediate {
            self.constant(RAX, i64::from(vinst.inst.imm));
            self.splat(SCALAR, RAX, sew);
        } else {
            let a = self.source(vinst.inst.rs1, RAX);
            self.splat(SCALAR, a, sew);
        }
    }

    /// All ones in [`CHOSEN`] where the mask has a one, for the elements from `first` on.
    fn choose(&mut self, width: Width, size: usize, first: usize) {
        let (broadcast, from, bits, equal) = match size {
            1 => (2, first / 32 * 4, constants::BITS_8, 0),
            2 => (1, first / 16 * 2, constants::BITS_16, 1),
            4 => (0, first / 8, constants::BITS_32, 2),
            _ => (0, first / 8, constants::BITS_64, 3),
        };
        let Some(i) = simd::BROADCAST[broadcast] else { unreachable!("there is one for each") };
        self.simd(i, width, CHOSEN, 0, Operand::Memory(RDX, from as i32));
        let at = match size {
            1 => {
                let order = constant(constants::BYTES_OF_BITS) + (first % 32) as i32;
                self.simd(simd::SHUFFLE, width, CHOSEN, CHOSEN, Operand::Memory(RBX, order));
                constant(bits) + (first % 8) as i32
            }
            2 => constant(bits) + (first % 16 * 2) as i32,
            _ => constant(bits) + (first % 8 * size) as i32,
        };
        let bits = Operand::Memory(RBX, at);
        self.simd(simd::AND, width, CHOSEN, CHOSEN, bits);
        let Some(i) = simd::EQUAL[equal] else { unreachable!("there is one for each") };
        self.simd(i, width, CHOSEN, CHOSEN, bits);
    }

    /// `to = chosen ? yes : no`.
    fn blend(&mut self, width: Width, to: u8, no: u8, yes: Operand) {
        self.simd_with(simd::BLEND, width, to, no, yes, CHOSEN << 4);
    }

    /// Stores a piece of results, those of active elements if the instruction is masked.
    fn finish_piece(&mut self, vinst: &VInst, size: usize, (o, width): Piece, keep: bool) {
        let at = vinst.groups.vd as i32 + o;
        if vinst.policy.masked {
            self.choose(width, size, o as usize / size);
            let old = self.piece_in_register(width, FIRST, at);
            self.blend(width, RESULT, old, Operand::Vector(RESULT));
        }
        self.keep_piece(width, RESULT, at, keep);
    }
}
