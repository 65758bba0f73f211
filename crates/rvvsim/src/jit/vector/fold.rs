//! Integer reductions, and moves between element 0 and a general register.

use super::super::registers::RAX;
use super::super::simd::{self, BySew, Operand, Simd, Width};
use super::{Emitter, FIRST, Piece, RDX, RESULT, bytes_of, sew_index};
use crate::engine::Uop;
use crate::vector::VInst;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Op, Sew};

/// How elements are folded: by an instruction for results of this index, after they were widened by another.
struct Fold {
    by: Simd,
    widen: Option<Simd>,
    result: usize,
}

fn fold(op: Op, sew: Sew) -> Option<Fold> {
    let n = sew_index(sew);
    let same = |table: BySew| Some(Fold { by: table[n]?, widen: None, result: n });
    let bits = |by: Simd| Some(Fold { by, widen: None, result: n });
    let sum = |table: [Simd; 3]| {
        let by = *simd::ADD.get(n + 1)?;
        Some(Fold { by: by?, widen: Some(table[n]), result: n + 1 })
    };
    match op {
        Op::VredsumVs => same(simd::ADD),
        Op::VredmaxuVs => same(simd::MAXU),
        Op::VredmaxVs => same(simd::MAX),
        Op::VredminuVs => same(simd::MINU),
        Op::VredminVs => same(simd::MIN),
        Op::VredandVs => bits(simd::AND),
        Op::VredorVs => bits(simd::OR),
        Op::VredxorVs => bits(simd::XOR),
        Op::VwredsumVs => sum(simd::SIGN_EXTEND),
        Op::VwredsumuVs => sum(simd::ZERO_EXTEND),
        _ => None,
    }
}

impl Emitter<'_> {
    /// An instruction of this kind; false if it is none, or is masked.
    pub(super) fn fold(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let op = vinst.inst.op;
        let sew = vinst.vtype.sew;
        if matches!(op, Op::VmvXS | Op::VmvSX) {
            return self.move_element(u, vinst, sew);
        }
        if matches!(op, Op::VcpopM | Op::VfirstM) {
            return self.count_bits(u, vinst);
        }
        let Some(fold) = fold(op, sew) else { return false };
        let (vl, size) = (self.vl(vinst) as usize, bytes_of(sew));
        let fits = !vinst.policy.masked && vl <= vinst.vlmax as usize && vinst.leaves_tail();
        let Some(pieces) = super::pieces(vl * size) else { return false };
        // The elements of small pieces are not alone in their registers.
        if !fits || pieces.iter().any(|(_, width)| width.bytes() < 16) {
            return false;
        }
        self.whole(u, vinst);
        self.registers();
        let mut width = self.fold_pieces(vinst, &fold, &pieces);
        let vector = Operand::Vector;
        if width == Width::B32 {
            self.simd_with(simd::EXTRACT, Width::B32, RESULT, 0, vector(FIRST), 1);
            self.simd(fold.by, Width::B16, RESULT, RESULT, vector(FIRST));
            width = Width::B16;
        }
        // The upper half to the lower, until there is one element.
        let bytes = 1 << fold.result;
        let mut half = 8;
        while half >= bytes {
            self.fold_half(half);
            self.simd(fold.by, width, RESULT, RESULT, vector(FIRST));
            half /= 2;
        }
        let scalar = Operand::Memory(RDX, vinst.groups.vs1 as i32);
        let load = match bytes {
            8 => simd::LOAD_8,
            4 => simd::LOAD_4,
            _ => simd::LOAD,
        };
        self.simd(load, Width::B16, FIRST, 0, scalar);
        self.simd(fold.by, Width::B16, RESULT, RESULT, vector(FIRST));
        let at = vinst.groups.vd as i32;
        self.cached.forget(at, 8);
        match bytes {
            8 => self.store_piece(Width::B8, RESULT, RDX, at),
            4 => self.store_piece(Width::B4, RESULT, RDX, at),
            _ => {
                // vmovd eax
                self.simd(simd::STORE_4, Width::B16, RESULT, 0, Operand::General(RAX));
                match bytes {
                    2 => x64!(&mut self.asm; mov [rdx + at], ax),
                    _ => x64!(&mut self.asm; mov [rdx + at], al),
                }
            }
        }
        true
    }

    /// All pieces in [`RESULT`]; how wide that is.
    fn fold_pieces(&mut self, vinst: &VInst, fold: &Fold, pieces: &[Piece]) -> Width {
        let at = vinst.groups.vs2 as i32;
        // Both halves of a piece are widened, each to as much as the piece.
        let sources = pieces.iter().flat_map(|&(o, width)| match fold.widen {
            None => [Some((o, width)), None],
            Some(_) => [Some((o, width)), Some((o + width.bytes() as i32 / 2, width))],
        });
        let width = pieces[0].1;
        for (n, (o, narrow)) in sources.flatten().enumerate() {
            let to = if n == 0 { RESULT } else { FIRST };
            let from = Operand::Memory(RDX, at + o);
            match fold.widen {
                Some(widen) => self.simd(widen, narrow, to, 0, from),
                None => self.simd(simd::LOAD, narrow, to, 0, from),
            }
            if n != 0 && narrow == width {
                self.simd(fold.by, width, RESULT, RESULT, Operand::Vector(FIRST));
            } else if n != 0 {
                self.narrow_piece(fold);
            }
        }
        width
    }

    /// Folds a piece of 16 bytes in [`FIRST`] into the lower half of [`RESULT`], of 32.
    fn narrow_piece(&mut self, fold: &Fold) {
        const UPPER: u8 = 2;
        self.simd_with(simd::EXTRACT, Width::B32, RESULT, 0, Operand::Vector(UPPER), 1);
        self.simd(fold.by, Width::B16, RESULT, RESULT, Operand::Vector(FIRST));
        // vinserti128
        let insert = Simd::new(1, 3, 0, 0x38);
        self.simd_with(insert, Width::B32, RESULT, RESULT, Operand::Vector(UPPER), 1);
    }

    /// [`FIRST`] is [`RESULT`] shifted right by so many bytes: `vpsrldq`.
    fn fold_half(&mut self, bytes: u8) {
        self.simd_with(Simd::new(1, 1, 0, 0x73), Width::B16, 3, FIRST, Operand::Vector(RESULT), bytes);
    }

    /// `vmv.x.s` and `vmv.s.x`.
    fn move_element(&mut self, u: &Uop, vinst: &VInst, sew: Sew) -> bool {
        let to_vector = vinst.inst.op == Op::VmvSX;
        let vl = self.vl(vinst);
        if to_vector && (vl == 0 || !vinst.leaves_tail()) {
            return false;
        }
        self.whole(u, vinst);
        if to_vector {
            let a = self.source(vinst.inst.rs1, RAX);
            self.registers();
            let at = vinst.groups.vd as i32;
            self.cached.forget(at, 8);
            match sew {
                Sew::E8 => x64!(&mut self.asm; mov [rdx + at], Rb(a)),
                Sew::E16 => x64!(&mut self.asm; mov [rdx + at], Rw(a)),
                Sew::E32 => x64!(&mut self.asm; mov [rdx + at], Rd(a)),
                Sew::E64 => x64!(&mut self.asm; mov [rdx + at], Rq(a)),
            }
        } else if vinst.inst.rd != 0 {
            self.registers();
            let at = vinst.groups.vs2 as i32;
            match sew {
                Sew::E8 => x64!(&mut self.asm; movsx rax, BYTE [rdx + at]),
                Sew::E16 => x64!(&mut self.asm; movsx rax, WORD [rdx + at]),
                Sew::E32 => x64!(&mut self.asm; movsxd rax, DWORD [rdx + at]),
                Sew::E64 => x64!(&mut self.asm; mov rax, [rdx + at]),
            }
            self.put(vinst.inst.rd, RAX);
        }
        true
    }

    /// `vcpop.m` and `vfirst.m`, 64 bits at a time.
    fn count_bits(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let vl = self.vl(vinst) as usize;
        if vinst.policy.masked || !(1..=1024).contains(&vl) || vl > vinst.vlmax as usize {
            return false;
        }
        self.whole(u, vinst);
        self.registers();
        let first = vinst.inst.op == Op::VfirstM;
        let done = self.asm.new_dynamic_label();
        let none = if first { -1 } else { 0 };
        x64!(&mut self.asm; mov rax, DWORD none);
        for word in 0..vl.div_ceil(64) {
            let at = vinst.groups.vs2 as i32 + 8 * word as i32;
            x64!(&mut self.asm; mov rcx, [rdx + at]);
            let above = (64 * (word + 1)).saturating_sub(vl) as i8;
            if above != 0 {
                x64!(&mut self.asm; shl rcx, above; shr rcx, above);
            }
            if first {
                x64!(&mut self.asm; test rcx, rcx; je >next; tzcnt rax, rcx);
                x64!(&mut self.asm; add rax, 64 * word as i32; jmp =>done; next:);
            } else {
                x64!(&mut self.asm; popcnt rcx, rcx; add rax, rcx);
            }
        }
        x64!(&mut self.asm; =>done);
        if vinst.inst.rd != 0 {
            self.put(vinst.inst.rd, RAX);
        }
        true
    }
}
