//! Loads and stores of whole pieces of memory: unit-stride, masked or not, and of whole registers.

use super::super::emit::{Cold, vector_field};
use super::super::simd::Operand;
use super::{Emitter, FIRST, RAX, RDX};
use crate::engine::Uop;
use crate::mem::{Access, PAGE};
use crate::vector::VInst;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Addressing, Eew, Memory};

impl Emitter<'_> {
    /// A load or store that is a copy, if it is on one page that the TLB knows; false if it is another.
    pub(super) fn memory(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let shape = vinst.inst.op.shape();
        let Some(Memory { addressing, eew, store }) = shape.memory else { return false };
        let size = eew.bits() as usize / 8;
        let whole_registers = matches!(shape.vd, Eew::Registers(_));
        let bytes = match addressing {
            Addressing::WholeRegisters => vinst.groups.vd_bytes as usize,
            Addressing::UnitStride | Addressing::FaultOnlyFirst if vinst.inst.nf == 0 => {
                self.vl(vinst) as usize * size
            }
            _ => return false,
        };
        let masked = vinst.policy.masked;
        let fits = whole_registers
            || self.vl(vinst) <= vinst.vlmax && if store { true } else { vinst.keeps_others(bytes) };
        let Some(pieces) = super::pieces(bytes) else { return false };
        if !fits || bytes > PAGE as usize {
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
        x64!(&mut self.asm; mov ecx, eax; and ecx, PAGE as i32 - 1; cmp ecx, (PAGE as usize - bytes) as i32; ja =>at);
        let access = if store { Access::Store } else { Access::Load };
        self.lookup(access, size, at);
        self.registers();
        let vd = vinst.groups.vd as i32;
        for group in pieces.chunks(4) {
            for (n, &(o, width)) in group.iter().enumerate() {
                let n = 4 + n as u8;
                let (base, from) = if store { (RDX, vd + o) } else { (RAX, o) };
                self.load_piece(width, n, base, from);
                if masked {
                    self.choose(width, size, o as usize / size);
                    let (base, to) = if store { (RAX, o) } else { (RDX, vd + o) };
                    self.load_piece(width, FIRST, base, to);
                    self.blend(width, n, FIRST, Operand::Vector(n));
                }
            }
            for (n, &(o, width)) in group.iter().enumerate() {
                let (base, to) = if store { (RAX, o) } else { (RDX, vd + o) };
                self.store_piece(width, 4 + n as u8, base, to);
            }
        }
        x64!(&mut self.asm; =>back);
        if addressing == Addressing::FaultOnlyFirst {
            // It may change `vl`, which all that follows was compiled for.
            self.cold.push(Cold::Interpret { at, insn: u.insn });
        } else {
            self.cold.push(Cold::Vector { at, back, uop: *u, first: 0 });
        }
        true
    }
}
