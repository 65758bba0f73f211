//! Integer comparisons, whose result is a mask.

use super::super::constants::{self, constant};
use super::super::registers::{RBX, RCX};
use super::super::simd::{self, Operand, Simd, Width};
use super::{Emitter, FIRST, RESULT, SCALAR, SECOND, bytes_of, has_scalar, sew_index};
use crate::engine::Uop;
use crate::vector::VInst;
use dynasmrt::{DynasmApi, dynasm};
use rvv_isa::{Op, Sew};

/// A comparison by the two that the host has.
#[derive(Clone, Copy)]
struct Compare {
    /// For equality; else whether one is greater.
    equal: bool,
    /// `vs1 > vs2`; else `vs2 > vs1`.
    swap: bool,
    unsigned: bool,
    /// The answer is the opposite.
    not: bool,
}

fn compare(op: Op) -> Option<Compare> {
    let new = |equal, swap, unsigned, not| Some(Compare { equal, swap, unsigned, not });
    match op {
        Op::VmseqVv | Op::VmseqVx | Op::VmseqVi => new(true, false, false, false),
        Op::VmsneVv | Op::VmsneVx | Op::VmsneVi => new(true, false, false, true),
        Op::VmsltVv | Op::VmsltVx => new(false, true, false, false),
        Op::VmsltuVv | Op::VmsltuVx => new(false, true, true, false),
        Op::VmsleVv | Op::VmsleVx | Op::VmsleVi => new(false, false, false, true),
        Op::VmsleuVv | Op::VmsleuVx | Op::VmsleuVi => new(false, false, true, true),
        Op::VmsgtVx | Op::VmsgtVi => new(false, false, false, false),
        Op::VmsgtuVx | Op::VmsgtuVi => new(false, false, true, false),
        _ => None,
    }
}

impl Emitter<'_> {
    /// An instruction of this kind; false if it is none, or is masked.
    pub(super) fn compare(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let Some(compare) = compare(vinst.inst.op) else { return false };
        let sew = vinst.vtype.sew;
        let size = bytes_of(sew);
        let vl = self.vl(vinst) as usize;
        // Of a tail that begins inside a byte it is never known that it is ones.
        let fits = vinst.keeps_tail() || vinst.leaves_tail() && vl.is_multiple_of(8);
        if vinst.policy.masked || vl > vinst.vlmax as usize || !fits {
            return false;
        }
        let Some(pieces) = super::pieces(vl * size) else { return false };
        let scalar = has_scalar(vinst);
        let groups = &vinst.groups;
        // All is read before any of it is written, unless there are more bits than fit in a register.
        let within = |group: u32| (group..group + (vl * size) as u32).contains(&groups.vd);
        if vl > 64 && (within(groups.vs2) || (!scalar && within(groups.vs1))) {
            return false;
        }
        self.whole(u, vinst);
        let signs = Operand::Memory(RBX, constant(constants::SIGNS[sew_index(sew)]));
        if scalar {
            self.splat_scalar(vinst, sew);
            if compare.unsigned {
                self.simd(simd::XOR, Width::B32, SCALAR, SCALAR, signs);
            }
        }
        self.registers();
        let table = if compare.equal { simd::EQUAL } else { simd::GREATER };
        let Some(i) = table[sew_index(sew)] else { unreachable!("there is one for each") };
        for &(o, width) in &pieces {
            let mut operand = |temp: u8, at: i32| {
                let a = self.piece_in_register(width, temp, at);
                if !compare.unsigned {
                    return a;
                }
                self.simd(simd::XOR, width, temp, a, signs);
                temp
            };
            let b = if scalar { SCALAR } else { operand(SECOND, groups.vs1 as i32 + o) };
            let a = operand(FIRST, groups.vs2 as i32 + o);
            let (a, b) = if compare.swap { (b, a) } else { (a, b) };
            self.simd(i, width, RESULT, a, Operand::Vector(b));
            self.collect_bits(sew, width, o as usize / size, vl, groups.vd as i32, compare.not);
        }
        true
    }

    /// Takes the lanes of [`RESULT`] to the bits of a mask from `first` on. They are collected in `rax`, and
    /// written when there are 64 of them, or all.
    fn collect_bits(&mut self, sew: Sew, width: Width, first: usize, vl: usize, vd: i32, not: bool) {
        let signs: Simd = match sew {
            Sew::E8 | Sew::E16 => simd::SIGNS_8,
            Sew::E32 => simd::SIGNS_32,
            Sew::E64 => simd::SIGNS_64,
        };
        self.simd(signs, width, RCX, 0, Operand::Vector(RESULT));
        if sew == Sew::E16 {
            x64!(&mut self.asm; pext ecx, ecx, [rbx + constant(constants::ODD_BITS)]);
        }
        let lanes = width.bytes() / bytes_of(sew);
        if width.bytes() < 16 {
            x64!(&mut self.asm; and ecx, (1 << lanes) - 1);
        }
        if first.is_multiple_of(64) {
            x64!(&mut self.asm; mov rax, rcx);
        } else {
            x64!(&mut self.asm; shl rcx, (first % 64) as i8; or rax, rcx);
        }
        let bits = (first + lanes - 1) % 64 + 1;
        if bits != 64 && first + lanes != vl {
            return;
        }
        let at = vd + (first / 64 * 8) as i32;
        self.cached.forget(at, 8);
        match (bits, not) {
            (64, true) => x64!(&mut self.asm; not rax),
            (31.., true) => {
                x64!(&mut self.asm; not rax; shl rax, (64 - bits) as i8; shr rax, (64 - bits) as i8)
            }
            (_, true) => x64!(&mut self.asm; xor eax, (1 << bits) - 1),
            _ => {}
        }
        match bits {
            64 => x64!(&mut self.asm; mov [rdx + at], rax),
            32 => x64!(&mut self.asm; mov [rdx + at], eax),
            16 => x64!(&mut self.asm; mov [rdx + at], ax),
            8 => x64!(&mut self.asm; mov [rdx + at], al),
            _ => {
                // The bits above keep their values.
                x64!(&mut self.asm; mov rcx, [rdx + at]; shr rcx, bits as i8; shl rcx, bits as i8);
                x64!(&mut self.asm; or rcx, rax; mov [rdx + at], rcx);
            }
        }
    }
}
