//! Loads and stores of whole pieces of memory: unit-stride, masked or not, and of whole registers.

use super::super::cold::{Apart, Cold, First, Range};
use super::super::fields::vector_field;
use super::super::simd::{self, Operand};
use super::{Emitter, FIRST, Piece, RAX, RDX, RESULT, Strips};
use crate::engine::Uop;
use crate::mem::{Access, PAGE};
use crate::vector::VInst;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Addressing, Eew, Memory};

impl Emitter<'_> {
    /// A load or store that is a copy, if it is on one page that the TLB knows; false if it is another.
    pub(super) fn memory(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let shape = vinst.inst.op.shape();
        let Some(memory) = shape.memory else { return false };
        let Memory { addressing, eew, store } = memory;
        let size = eew.bits() as usize / 8;
        let whole_registers = matches!(shape.vd, Eew::Registers(_));
        let bytes = match addressing {
            Addressing::WholeRegisters => vinst.groups.vd_bytes as usize,
            Addressing::UnitStride | Addressing::FaultOnlyFirst if vinst.inst.nf == 0 => {
                self.vl(vinst) as usize * size
            }
            Addressing::Strided | Addressing::IndexedOrdered | Addressing::IndexedUnordered => {
                return self.element_accesses(u, vinst, memory);
            }
            _ => return false,
        };
        let masked = vinst.policy.masked;
        let fits = whole_registers
            || self.vl(vinst) <= vinst.vlmax && if store { true } else { vinst.leaves_others(bytes) };
        let Some(strips) = Strips::of(bytes) else { return false };
        if !fits || bytes > PAGE as usize || masked && strips.is_loop() {
            return false;
        }
        let (at, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        if whole_registers {
            // Whatever `vl` is.
            if self.known_vl.is_none() {
                x64!(&mut self.asm; cmp QWORD [rbx + vector_field().vstart], 0; jne =>at);
            }
            self.dirty_vector();
        } else {
            self.whole(u, vinst);
        }
        self.get(RAX, vinst.inst.rs1);
        let access = if store { Access::Store } else { Access::Load };
        let (crossing, found) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        self.lookup(access, bytes, size, crossing);
        x64!(&mut self.asm; =>found);
        let (place, range) = (self.map.place(vinst.inst.rs1), Range { access, bytes, size });
        let base = self.cached.base;
        let apart = match (store, masked) {
            (false, _) => Apart::Load(0),
            (true, false) => Apart::Store(vinst.groups.vd as i32, back),
            (true, true) => Apart::Miss,
        };
        self.cold.push(Cold::Crossing { at: crossing, found, missed: at, place, range, apart, base });
        self.registers();
        let keep = !store && self.is_kept(u, vinst, &strips.pieces);
        self.for_each_strip(&strips, true, |e| e.copy_strip(vinst, &strips.pieces, range, keep));
        self.note_writes(u, vinst);
        x64!(&mut self.asm; =>back);
        if addressing == Addressing::FaultOnlyFirst {
            // It may change `vl`, which all that follows was compiled for.
            self.cold.push(Cold::Interpret { at, insn: u.insn });
        } else {
            let first = First::Element(0);
            self.cold.push(Cold::Vector { at, back, uop: *u, first, cached: self.cached });
        }
        true
    }

    /// Copies between memory at `rax` and the vector registers.
    fn copy_strip(&mut self, vinst: &VInst, pieces: &[Piece], range: Range, keep: bool) {
        let (store, size) = (range.access == Access::Store, range.size);
        let vd = vinst.groups.vd as i32;
        for &(o, width) in pieces {
            if vinst.policy.masked {
                let (base, from) = if store { (RDX, vd + o) } else { (RAX, o) };
                self.load_piece(width, RESULT, base, from);
                self.choose(width, size, o as usize / size);
                let (base, to) = if store { (RAX, o) } else { (RDX, vd + o) };
                self.load_piece(width, FIRST, base, to);
                self.blend(width, RESULT, FIRST, Operand::Vector(RESULT));
                self.store_piece(width, RESULT, base, to);
            } else if store {
                let from = self.piece_in_register(width, RESULT, vd + o);
                self.store_piece(width, from, RAX, o);
            } else if keep && width.bytes() >= 16 {
                let to = self.cached.take(vd + o, width);
                self.simd(simd::LOAD, width, to, 0, Operand::Memory(RAX, o));
                self.simd(simd::STORE, width, to, 0, Operand::Memory(RDX, vd + o));
            } else {
                self.load_piece(width, RESULT, RAX, o);
                self.store_piece(width, RESULT, RDX, vd + o);
            }
        }
    }
}
