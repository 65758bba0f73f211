//! Vector instructions in host code, for `vl` = VLMAX and `vstart` = 0.
//!
//! `vtype` is known in a block, so VLMAX is. Before the first vector instruction of a block, and after each that may change
//! `vl`, host code compares: if `vl` is another, or `vstart` is not 0, the interpreter runs the rest of the block. What comes
//! after the comparison has no tail. Instructions without a template call their kernels, as the interpreter does.
//!
//! Floating point is as in [`super::float`]: the host's flags are right, and where a result is a NaN the interpreter's kernel
//! executes the instruction instead. So nothing is written before all results are known.

use super::emit::{Cold, Emitter, RAX, float_home, has_avx512, vector_field};
use super::registers::{RCX, RDX};
use super::simd::{self, BySew, Operand, Simd, Width};
use crate::engine::{Kind, Uop};
use crate::mem::{Access, PAGE};
use crate::vector::VInst;
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Op, Sew};

/// The widest group that is computed in line, in host registers.
const MOST_PIECES: usize = 8;

/// Registers that hold a scalar operand, and amounts to be masked.
const SCALAR: u8 = 14;
const SPARE: u8 = 15;

/// What an instruction of two operands computes.
#[derive(Clone, Copy)]
enum Binary {
    /// `vs2 op vs1`.
    Plain(Simd),
    /// `vs1 op vs2`.
    Reversed(Simd),
    /// `vs2 op vs1`, where of `vs1` only as many bits count as number an element's.
    Shift(Simd),
}

/// Whether a vector instruction has a template, so that host code does not only call its kernel.
pub(super) fn has_template(kind: Kind, vinst: &VInst) -> bool {
    let avx512 = has_avx512();
    let sew = vinst.vtype.sew;
    let bytes = (vinst.vlmax * sew.bits() / 8) as usize;
    match kind {
        Kind::SetVl => true,
        Kind::VectorLoad | Kind::VectorStore => pieces(vinst.whole_bytes(), avx512).is_some(),
        Kind::Map | Kind::MapScalar => {
            binary(vinst.inst.op, sew, avx512).is_some() && pieces(bytes, avx512).is_some()
        }
        Kind::FloatMap | Kind::FloatMapScalar => {
            matches!(sew, Sew::E32 | Sew::E64)
                && float_op(vinst.inst.op).is_some()
                && pieces(bytes, avx512).is_some()
        }
        _ => false,
    }
}

/// The pieces of `bytes` bytes: where each begins, and how wide it is. `None` if they are too many.
fn pieces(bytes: usize, avx512: bool) -> Option<Vec<(i32, Width)>> {
    let widest = if avx512 { Width::B64 } else { Width::B32 };
    let mut pieces = Vec::new();
    let mut at = 0;
    while at < bytes {
        let fits = |w: &Width| w.bytes() <= bytes - at && w.bytes() <= widest.bytes();
        let width = [Width::B64, Width::B32, Width::B16].into_iter().find(fits)?;
        pieces.push((at as i32, width));
        at += width.bytes();
    }
    (!pieces.is_empty() && pieces.len() <= MOST_PIECES).then_some(pieces)
}

impl Emitter<'_> {
    /// Emits a vector instruction that has a template; false if it has none.
    pub(super) fn vector_template(&mut self, u: &Uop) -> bool {
        let vinst = self.block.uops.vector(u);
        match u.kind() {
            Kind::SetVl => self.set_vl(u, vinst),
            Kind::VectorLoad => self.copy(u, vinst, Access::Load),
            Kind::VectorStore => self.copy(u, vinst, Access::Store),
            Kind::Map | Kind::MapScalar => self.integer(u, vinst),
            Kind::FloatMap | Kind::FloatMapScalar => self.float_lanes(u, vinst),
            _ => false,
        }
    }

    /// `vsetvli` whose `vl` is the lesser of AVL and VLMAX.
    fn set_vl(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let _ = u;
        if self.vtype != Some(vinst.vtype) {
            return false;
        }
        let inst = &vinst.inst;
        let a = self.source(inst.rs1, RAX);
        let fields = vector_field();
        x64!(&mut self.asm; mov ecx, vinst.vlmax as i32; cmp Rq(a), rcx; cmovb rcx, Rq(a));
        x64!(&mut self.asm; mov [rbx + fields.vl], rcx; mov QWORD [rbx + fields.vstart], 0);
        self.dirty_vector();
        if inst.rd != 0 {
            self.put(inst.rd, RCX);
        }
        self.known_vl = None;
        true
    }

    /// From here on, `vl` is VLMAX and `vstart` 0, or the interpreter has taken over.
    fn whole(&mut self, u: &Uop, vinst: &VInst) {
        if self.known_vl == Some(vinst.vlmax) {
            return;
        }
        let at = self.asm.new_dynamic_label();
        let fields = vector_field();
        x64!(&mut self.asm; cmp QWORD [rbx + fields.vl], vinst.vlmax as i32; jne =>at);
        x64!(&mut self.asm; cmp QWORD [rbx + fields.vstart], 0; jne =>at);
        self.cold.push(Cold::Interpret { at, insn: u.insn });
        self.known_vl = Some(vinst.vlmax);
        self.dirty_vector();
    }

    fn simd(&mut self, i: Simd, width: Width, reg: u8, second: u8, last: Operand) {
        let mut out = std::mem::take(&mut self.bytes);
        out.clear();
        // What is 32 bytes at most needs no EVEX unless only AVX-512 has it.
        simd::encode(&mut out, self.avx512, i, width, [reg, second], last);
        self.asm.extend(out.iter());
        self.bytes = out;
    }

    /// `rdx` points at the vector registers.
    fn registers(&mut self) {
        x64!(&mut self.asm; mov rdx, [rbx + vector_field().registers]);
    }

    /// A unit-stride load or store of a whole group: a copy, if it is on one page that the TLB knows.
    fn copy(&mut self, u: &Uop, vinst: &VInst, access: Access) -> bool {
        let bytes = vinst.whole_bytes();
        let Some(pieces) = pieces(bytes, self.avx512) else { return false };
        if bytes > PAGE as usize {
            return false;
        }
        self.whole(u, vinst);
        let (at, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        self.get(RAX, vinst.inst.rs1);
        x64!(&mut self.asm; mov ecx, eax; and ecx, PAGE as i32 - 1; cmp ecx, (PAGE as usize - bytes) as i32; ja =>at);
        self.lookup(access, vinst.element_bytes(), at);
        x64!(&mut self.asm; add rax, r15);
        self.registers();
        let vd = vinst.groups.vd as i32;
        for (n, &(o, width)) in pieces.iter().enumerate() {
            let from =
                if access == Access::Load { Operand::Memory(RAX, o) } else { Operand::Memory(RDX, vd + o) };
            self.simd(simd::LOAD, width, n as u8, 0, from);
        }
        for (n, &(o, width)) in pieces.iter().enumerate() {
            let to =
                if access == Access::Load { Operand::Memory(RDX, vd + o) } else { Operand::Memory(RAX, o) };
            self.simd(simd::STORE, width, n as u8, 0, to);
        }
        x64!(&mut self.asm; =>back);
        self.cold.push(Cold::Vector { at, back, uop: *u });
        true
    }

    /// An integer instruction of two operands.
    fn integer(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let sew = vinst.vtype.sew;
        let Some(binary) = binary(vinst.inst.op, sew, self.avx512) else { return false };
        let bytes = (vinst.vlmax * sew.bits() / 8) as usize;
        let Some(pieces) = pieces(bytes, self.avx512) else { return false };
        let scalar = u.kind() == Kind::MapScalar;
        self.whole(u, vinst);
        let shift = matches!(binary, Binary::Shift(_));
        if scalar {
            let widest = pieces[0].1;
            if vinst.scalar.immediate {
                let imm = i64::from(vinst.inst.imm);
                self.constant(RAX, if shift { imm & i64::from(sew.bits() - 1) } else { imm });
            } else {
                self.get(RAX, vinst.inst.rs1);
                if shift {
                    x64!(&mut self.asm; and eax, sew.bits() as i32 - 1);
                }
            }
            self.splat(SCALAR, RAX, sew, widest);
        } else if shift {
            self.constant(RAX, i64::from(sew.bits() - 1));
            self.splat(SPARE, RAX, sew, pieces[0].1);
        }
        self.registers();
        let (vd, vs1, vs2) = (vinst.groups.vd as i32, vinst.groups.vs1 as i32, vinst.groups.vs2 as i32);
        for &(o, width) in &pieces {
            let first = Operand::Memory(RDX, vs2 + o);
            let second = if scalar { Operand::Vector(SCALAR) } else { Operand::Memory(RDX, vs1 + o) };
            match binary {
                Binary::Plain(i) => {
                    self.simd(simd::LOAD, width, 0, 0, first);
                    self.simd(i, width, 0, 0, second);
                }
                Binary::Reversed(i) => {
                    if scalar {
                        self.simd(i, width, 0, SCALAR, first);
                    } else {
                        self.simd(simd::LOAD, width, 0, 0, second);
                        self.simd(i, width, 0, 0, first);
                    }
                }
                Binary::Shift(i) => {
                    self.simd(simd::LOAD, width, 0, 0, first);
                    if scalar {
                        self.simd(i, width, 0, 0, second);
                    } else {
                        self.simd(simd::AND, width, 1, SPARE, second);
                        self.simd(i, width, 0, 0, Operand::Vector(1));
                    }
                }
            }
            self.simd(simd::STORE, width, 0, 0, Operand::Memory(RDX, vd + o));
        }
        true
    }

    /// Copies the element in a general register to all of a vector register.
    fn splat(&mut self, to: u8, from: u8, sew: Sew, width: Width) {
        let n = sew_index(sew);
        if self.avx512 {
            let Some(i) = simd::BROADCAST[n] else { unreachable!("there is one for each") };
            self.simd(i, width, to, 0, Operand::General(from));
        } else {
            self.simd(simd::MOVE[usize::from(n == 3)], Width::B16, to, 0, Operand::General(from));
            let Some(i) = simd::BROADCAST_FIRST[n] else { unreachable!("there is one for each") };
            self.simd(i, width, to, 0, Operand::Vector(to));
        }
    }

    /// A floating-point instruction, of single or double precision.
    fn float_lanes(&mut self, u: &Uop, vinst: &VInst) -> bool {
        let double = match vinst.vtype.sew {
            Sew::E32 => false,
            Sew::E64 => true,
            _ => return false,
        };
        let Some(fused) = float_op(vinst.inst.op) else { return false };
        let bytes = (vinst.vlmax * vinst.vtype.sew.bits() / 8) as usize;
        let Some(pieces) = pieces(bytes, self.avx512) else { return false };
        let scalar = u.kind() == Kind::FloatMapScalar;
        self.whole(u, vinst);
        let (at, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        if scalar {
            let home = float_home(vinst.inst.rs1);
            if double {
                x64!(&mut self.asm; mov rax, [rbx + home]);
            } else {
                x64!(&mut self.asm; cmp DWORD [rbx + home + 4], -1; jne =>at; mov eax, [rbx + home]);
            }
            self.splat(SCALAR, RAX, vinst.vtype.sew, pieces[0].1);
        }
        self.registers();
        let (vd, vs1, vs2) = (vinst.groups.vd as i32, vinst.groups.vs1 as i32, vinst.groups.vs2 as i32);
        for (n, &(o, width)) in pieces.iter().enumerate() {
            let n = n as u8;
            let group = |base: i32| Operand::Memory(RDX, base + o);
            let second = if scalar { Operand::Vector(SCALAR) } else { group(vs1) };
            let select = |i: [Simd; 2]| i[usize::from(double)];
            match fused {
                FloatOp::Binary(i) => {
                    self.simd(simd::LOAD, width, n, 0, group(vs2));
                    self.simd(select(i), width, n, n, second);
                }
                FloatOp::Reversed(i) => {
                    self.simd(select(i), width, n, SCALAR, group(vs2));
                }
                FloatOp::Accumulate(i) => {
                    // vd = ±(vs1 × vs2) ± vd
                    self.simd(simd::LOAD, width, n, 0, group(vd));
                    let factor = if scalar {
                        SCALAR
                    } else {
                        self.simd(simd::LOAD, width, SPARE, 0, group(vs1));
                        SPARE
                    };
                    self.simd(select(i), width, n, factor, group(vs2));
                }
                FloatOp::Multiply(i) => {
                    // vd = ±(vs1 × vd) ± vs2
                    self.simd(simd::LOAD, width, n, 0, group(vd));
                    let factor = if scalar {
                        SCALAR
                    } else {
                        self.simd(simd::LOAD, width, SPARE, 0, group(vs1));
                        SPARE
                    };
                    self.simd(select(i), width, n, factor, group(vs2));
                }
                FloatOp::Unary(i) => self.simd(select(i), width, n, 0, group(vs2)),
            }
        }
        for (n, &(_, width)) in pieces.iter().enumerate() {
            self.leave_if_nan(n as u8, width, double, at);
        }
        for (n, &(o, width)) in pieces.iter().enumerate() {
            self.simd(simd::STORE, width, n as u8, 0, Operand::Memory(RDX, vd + o));
        }
        x64!(&mut self.asm; =>back);
        self.cold.push(Cold::Vector { at, back, uop: *u });
        true
    }

    /// Goes to `at` if an element is a NaN.
    fn leave_if_nan(&mut self, n: u8, width: Width, double: bool, at: dynasmrt::DynamicLabel) {
        const UNORDERED: i8 = 3;
        let compare = simd::float(1, 0xc2)[usize::from(double)];
        if self.avx512 {
            // vcmpps k1, n, n; kortestw k1, k1
            self.simd(compare, width, 1, n, Operand::Vector(n));
            x64!(&mut self.asm; .i8 UNORDERED);
            x64!(&mut self.asm; .u8 0xc5; .u8 0xf8; .u8 0x98; .u8 0xc9);
            x64!(&mut self.asm; jne =>at);
        } else {
            self.simd(compare, width, SPARE, n, Operand::Vector(n));
            x64!(&mut self.asm; .i8 UNORDERED);
            // vmovmskps eax: the signs of elements, two of them for one of 64 bits.
            self.simd(Simd::new(0, 1, 0, 0x50), width, RAX, 0, Operand::Vector(SPARE));
            x64!(&mut self.asm; test eax, eax; jne =>at);
        }
    }
}

fn sew_index(sew: Sew) -> usize {
    sew.bits().trailing_zeros() as usize - 3
}

/// What a floating-point instruction computes, of single and of double precision.
#[derive(Clone, Copy)]
enum FloatOp {
    /// `vs2 op vs1`.
    Binary([Simd; 2]),
    /// `scalar op vs2`.
    Reversed([Simd; 2]),
    /// `±(vs1 × vs2) ± vd`: the host's 231 forms.
    Accumulate([Simd; 2]),
    /// `±(vs1 × vd) ± vs2`: the host's 213 forms.
    Multiply([Simd; 2]),
    /// `op vs2`.
    Unary([Simd; 2]),
}

fn float_op(op: Op) -> Option<FloatOp> {
    use simd::float;
    Some(match op {
        Op::VfaddVv | Op::VfaddVf => FloatOp::Binary(float(1, 0x58)),
        Op::VfsubVv | Op::VfsubVf => FloatOp::Binary(float(1, 0x5c)),
        Op::VfrsubVf => FloatOp::Reversed(float(1, 0x5c)),
        Op::VfmulVv | Op::VfmulVf => FloatOp::Binary(float(1, 0x59)),
        Op::VfdivVv | Op::VfdivVf => FloatOp::Binary(float(1, 0x5e)),
        Op::VfrdivVf => FloatOp::Reversed(float(1, 0x5e)),
        Op::VfsqrtV => FloatOp::Unary(float(1, 0x51)),
        // The manual's names and the host's cross over: vfnmacc is −(vs1 × vs2) − vd, the host's vfnmsub.
        Op::VfmaccVv | Op::VfmaccVf => FloatOp::Accumulate(float(2, 0xb8)),
        Op::VfmsacVv | Op::VfmsacVf => FloatOp::Accumulate(float(2, 0xba)),
        Op::VfnmsacVv | Op::VfnmsacVf => FloatOp::Accumulate(float(2, 0xbc)),
        Op::VfnmaccVv | Op::VfnmaccVf => FloatOp::Accumulate(float(2, 0xbe)),
        Op::VfmaddVv | Op::VfmaddVf => FloatOp::Multiply(float(2, 0xa8)),
        Op::VfmsubVv | Op::VfmsubVf => FloatOp::Multiply(float(2, 0xaa)),
        Op::VfnmsubVv | Op::VfnmsubVf => FloatOp::Multiply(float(2, 0xac)),
        Op::VfnmaddVv | Op::VfnmaddVf => FloatOp::Multiply(float(2, 0xae)),
        _ => return None,
    })
}

/// The host's instruction for one of the guest's.
fn binary(op: Op, sew: Sew, avx512: bool) -> Option<Binary> {
    let n = sew_index(sew);
    let of = |table: BySew, avx2: &[usize]| if avx512 || avx2.contains(&n) { table[n] } else { None };
    Some(match op {
        Op::VaddVv | Op::VaddVx | Op::VaddVi => Binary::Plain(of(simd::ADD, &[0, 1, 2, 3])?),
        Op::VsubVv | Op::VsubVx => Binary::Plain(of(simd::SUB, &[0, 1, 2, 3])?),
        Op::VrsubVx | Op::VrsubVi => Binary::Reversed(of(simd::SUB, &[0, 1, 2, 3])?),
        Op::VandVv | Op::VandVx | Op::VandVi => Binary::Plain(simd::AND),
        Op::VorVv | Op::VorVx | Op::VorVi => Binary::Plain(simd::OR),
        Op::VxorVv | Op::VxorVx | Op::VxorVi => Binary::Plain(simd::XOR),
        Op::VmulVv | Op::VmulVx => Binary::Plain(of(simd::MUL, &[1, 2])?),
        Op::VminVv | Op::VminVx => Binary::Plain(of(simd::MIN, &[0, 1, 2])?),
        Op::VmaxVv | Op::VmaxVx => Binary::Plain(of(simd::MAX, &[0, 1, 2])?),
        Op::VminuVv | Op::VminuVx => Binary::Plain(of(simd::MINU, &[0, 1, 2])?),
        Op::VmaxuVv | Op::VmaxuVx => Binary::Plain(of(simd::MAXU, &[0, 1, 2])?),
        Op::VsllVv | Op::VsllVx | Op::VsllVi => Binary::Shift(of(simd::SLLV, &[2, 3])?),
        Op::VsrlVv | Op::VsrlVx | Op::VsrlVi => Binary::Shift(of(simd::SRLV, &[2, 3])?),
        Op::VsraVv | Op::VsraVx | Op::VsraVi => Binary::Shift(of(simd::SRAV, &[2])?),
        _ => return None,
    })
}
