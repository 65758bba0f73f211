//! Strided and indexed loads and stores, one element after the other.

use super::super::cold::Cold;
use super::super::registers::RCX;
use super::{Emitter, RAX, bytes_of};
use crate::engine::Uop;
use crate::mem::Access;
use crate::vector::VInst;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Addressing, Memory};

/// As many elements are accessed in line.
const MOST: u32 = 64;

impl Emitter<'_> {
    /// An access of this kind whose elements are each on a page that the TLB knows; false if it is another,
    /// or is masked.
    pub(super) fn element_accesses(&mut self, u: &Uop, vinst: &VInst, memory: Memory) -> bool {
        let Memory { addressing, eew, store } = memory;
        let inst = &vinst.inst;
        let strided = addressing == Addressing::Strided;
        let index = eew.bits() as usize / 8;
        let size = if strided { index } else { bytes_of(vinst.vtype.sew) };
        let vl = self.vl(vinst);
        let fits = (1..=MOST.min(vinst.vlmax)).contains(&vl);
        if vinst.policy.masked || inst.nf != 0 || !fits {
            return false;
        }
        if !store && !vinst.leaves_others(vl as usize * size) {
            return false;
        }
        self.whole(u, vinst);
        self.registers();
        let (vd, vs2) = (vinst.groups.vd as i32, vinst.groups.vs2 as i32);
        let access = if store { Access::Store } else { Access::Load };
        let back = self.asm.new_dynamic_label();
        let mut missed = Vec::new();
        for n in 0..vl {
            let at = self.asm.new_dynamic_label();
            let i = n as i32;
            // A miss goes on from this element: those before it are done.
            match (strided, index) {
                (true, _) => {
                    let stride = self.source(inst.rs2, RAX);
                    x64!(&mut self.asm; imul rax, Rq(stride), i);
                }
                (_, 1) => x64!(&mut self.asm; movzx eax, BYTE [rdx + vs2 + i]),
                (_, 2) => x64!(&mut self.asm; movzx eax, WORD [rdx + vs2 + 2 * i]),
                (_, 4) => x64!(&mut self.asm; mov eax, [rdx + vs2 + 4 * i]),
                _ => x64!(&mut self.asm; mov rax, [rdx + vs2 + 8 * i]),
            }
            let base = self.source(inst.rs1, RCX);
            x64!(&mut self.asm; add rax, Rq(base));
            self.lookup(access, size, size, at);
            let element = vd + i * size as i32;
            match (store, size) {
                (false, 1) => x64!(&mut self.asm; mov cl, [rax]; mov [rdx + element], cl),
                (false, 2) => x64!(&mut self.asm; mov cx, [rax]; mov [rdx + element], cx),
                (false, 4) => x64!(&mut self.asm; mov ecx, [rax]; mov [rdx + element], ecx),
                (false, _) => x64!(&mut self.asm; mov rcx, [rax]; mov [rdx + element], rcx),
                (true, 1) => x64!(&mut self.asm; mov cl, [rdx + element]; mov [rax], cl),
                (true, 2) => x64!(&mut self.asm; mov cx, [rdx + element]; mov [rax], cx),
                (true, 4) => x64!(&mut self.asm; mov ecx, [rdx + element]; mov [rax], ecx),
                (true, _) => x64!(&mut self.asm; mov rcx, [rdx + element]; mov [rax], rcx),
            }
            missed.push((at, n));
        }
        if !store {
            self.cached.forget(vd, vl as usize * size);
        }
        self.note_writes(u, vinst);
        x64!(&mut self.asm; =>back);
        self.cold.push(Cold::Elements { missed, back, uop: *u, cached: self.cached });
        true
    }
}
