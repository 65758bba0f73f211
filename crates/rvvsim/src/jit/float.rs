//! Scalar floating point in host code: single and double precision on the host's FPU.
//!
//! While host code runs, the host's control register `mxcsr` rounds as `frm` says and collects the flags;
//! whoever leaves host code, or calls a helper from it, takes them to `fflags`. The host's arithmetic is IEEE
//! 754's with tininess detected after rounding, as the F extension wants it; it differs in NaNs, and in
//! conversions that are out of range. So an instruction whose result is a NaN, or the host's sign of such a
//! conversion, is executed again by its handler, which also knows about flags that the host did not raise (∞
//! × 0 + a quiet NaN). Flags that the host did raise are right.
//!
//! Rounding modes that the host does not have (`frm` above 3) do not get here: see [`super::Jit::can_run`]. A
//! static mode is left to the handler, but for rounding towards zero, which the host's conversions have as
//! instructions.

use super::cold::Cold;
use super::emit::Emitter;
use super::fields::{FS_DIRTY, float_home};
use super::registers::RAX;
use crate::engine::Uop;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Inst, Op};

/// The `rm` field that says to ask `frm`.
const DYNAMIC: u8 = 7;
/// The `rm` field of rounding towards zero.
const TOWARDS_ZERO: u8 = 1;

impl Emitter<'_> {
    /// Emits a floating-point instruction that has a template; false if it has none.
    pub(super) fn float(&mut self, u: &Uop, i: &Inst) -> bool {
        let op = i.op.base();
        /// Double and single precision by the same host instruction.
        macro_rules! arithmetic {
            (2 $double:ident $single:ident, $is_double:expr) => {{
                if i.rm != DYNAMIC {
                    return false;
                }
                let cold = self.operands(u, $is_double, &[i.rs1, i.rs2]);
                let b = float_home(i.rs2);
                match $is_double {
                    true => x64!(&mut self.asm; $double xmm0, xmm0, [rbx + b]),
                    false => x64!(&mut self.asm; $single xmm0, xmm0, [rbx + b]),
                }
                self.result(i, $is_double, cold)
            }};
            (3 $double:ident $single:ident, $is_double:expr) => {{
                if i.rm != DYNAMIC {
                    return false;
                }
                let cold = self.operands(u, $is_double, &[i.rs1, i.rs2, i.rs3]);
                let (b, c) = (float_home(i.rs2), float_home(i.rs3));
                // xmm0 = ±(xmm0 × xmm1) ± memory
                match $is_double {
                    true => x64!(&mut self.asm; vmovsd xmm1, [rbx + b]; $double xmm0, xmm1, [rbx + c]),
                    false => x64!(&mut self.asm; vmovss xmm1, [rbx + b]; $single xmm0, xmm1, [rbx + c]),
                }
                self.result(i, $is_double, cold)
            }};
        }
        /// `rd` = whether a comparison holds. With a NaN, which the host shows as odd parity, it is the
        /// handler's: only that knows whether a flag is raised, which makes `FS` dirty.
        macro_rules! compare {
            ($double:ident $single:ident, $is_double:expr, $a:expr, $b:expr, $set:ident) => {{
                let cold = self.operands(u, $is_double, &[$a, $b]);
                let b = float_home($b);
                match $is_double {
                    true => x64!(&mut self.asm; $double xmm0, [rbx + b]),
                    false => x64!(&mut self.asm; $single xmm0, [rbx + b]),
                }
                let at = cold.at;
                x64!(&mut self.asm; jp =>at; $set al; movzx eax, al);
                self.put(u_rd(i), RAX);
                self.back(cold)
            }};
        }
        match op {
            Op::FaddD => arithmetic!(2 vaddsd vaddss, true),
            Op::FaddS => arithmetic!(2 vaddsd vaddss, false),
            Op::FsubD => arithmetic!(2 vsubsd vsubss, true),
            Op::FsubS => arithmetic!(2 vsubsd vsubss, false),
            Op::FmulD => arithmetic!(2 vmulsd vmulss, true),
            Op::FmulS => arithmetic!(2 vmulsd vmulss, false),
            Op::FdivD => arithmetic!(2 vdivsd vdivss, true),
            Op::FdivS => arithmetic!(2 vdivsd vdivss, false),
            Op::FmaddD => arithmetic!(3 vfmadd213sd vfmadd213ss, true),
            Op::FmaddS => arithmetic!(3 vfmadd213sd vfmadd213ss, false),
            Op::FmsubD => arithmetic!(3 vfmsub213sd vfmsub213ss, true),
            Op::FmsubS => arithmetic!(3 vfmsub213sd vfmsub213ss, false),
            // The names cross over: the guest's fnmsub is −(a × b) + c, the host's vfnmadd.
            Op::FnmsubD => arithmetic!(3 vfnmadd213sd vfnmadd213ss, true),
            Op::FnmsubS => arithmetic!(3 vfnmadd213sd vfnmadd213ss, false),
            Op::FnmaddD => arithmetic!(3 vfnmsub213sd vfnmsub213ss, true),
            Op::FnmaddS => arithmetic!(3 vfnmsub213sd vfnmsub213ss, false),
            Op::FsqrtD | Op::FsqrtS => {
                if i.rm != DYNAMIC {
                    return false;
                }
                let double = op == Op::FsqrtD;
                let cold = self.operands(u, double, &[i.rs1]);
                match double {
                    true => x64!(&mut self.asm; vsqrtsd xmm0, xmm0, xmm0),
                    false => x64!(&mut self.asm; vsqrtss xmm0, xmm0, xmm0),
                }
                self.result(i, double, cold);
            }
            // a < b if b > a, with the operands exchanged.
            Op::FltD => compare!(vcomisd vcomiss, true, i.rs2, i.rs1, seta),
            Op::FltS => compare!(vcomisd vcomiss, false, i.rs2, i.rs1, seta),
            Op::FleD => compare!(vcomisd vcomiss, true, i.rs2, i.rs1, setae),
            Op::FleS => compare!(vcomisd vcomiss, false, i.rs2, i.rs1, setae),
            Op::FeqD | Op::FeqS => {
                let double = op == Op::FeqD;
                let cold = self.operands(u, double, &[i.rs1, i.rs2]);
                let b = float_home(i.rs2);
                match double {
                    true => x64!(&mut self.asm; vucomisd xmm0, [rbx + b]),
                    false => x64!(&mut self.asm; vucomiss xmm0, [rbx + b]),
                }
                let at = cold.at;
                x64!(&mut self.asm; jp =>at; sete al; movzx eax, al);
                self.put(u_rd(i), RAX);
                self.back(cold);
            }
            Op::FmvXD => {
                x64!(&mut self.asm; mov rax, [rbx + float_home(i.rs1)]);
                self.put(u_rd(i), RAX);
            }
            Op::FmvXW => {
                x64!(&mut self.asm; movsxd rax, DWORD [rbx + float_home(i.rs1)]);
                self.put(u_rd(i), RAX);
            }
            Op::FmvDX => {
                let a = self.source(i.rs1, RAX);
                x64!(&mut self.asm; mov [rbx + float_home(i.rd)], Rq(a));
                self.dirty_float();
            }
            Op::FmvWX => {
                let a = self.source(i.rs1, RAX);
                x64!(&mut self.asm; mov [rbx + float_home(i.rd)], Rd(a));
                self.boxed(i.rd);
                self.dirty_float();
            }
            Op::FsgnjD if i.rs1 == i.rs2 => {
                x64!(&mut self.asm; mov rax, [rbx + float_home(i.rs1)]; mov [rbx + float_home(i.rd)], rax);
                self.dirty_float();
            }
            Op::FsgnjnD if i.rs1 == i.rs2 => {
                x64!(&mut self.asm; mov rax, [rbx + float_home(i.rs1)]; btc rax, 63);
                x64!(&mut self.asm; mov [rbx + float_home(i.rd)], rax);
                self.dirty_float();
            }
            Op::FsgnjxD if i.rs1 == i.rs2 => {
                x64!(&mut self.asm; mov rax, [rbx + float_home(i.rs1)]; btr rax, 63);
                x64!(&mut self.asm; mov [rbx + float_home(i.rd)], rax);
                self.dirty_float();
            }
            Op::FcvtDW | Op::FcvtDL | Op::FcvtDWu | Op::FcvtSW | Op::FcvtSL => {
                if i.rm != DYNAMIC && !matches!(op, Op::FcvtDW | Op::FcvtDWu) {
                    return false;
                }
                // Of 32 bits to double precision it is exact, whatever the mode, which still must be a valid
                // one.
                if i.rm == 5 || i.rm == 6 {
                    return false;
                }
                let a = self.source(i.rs1, RAX);
                x64!(&mut self.asm; vxorps xmm0, xmm0, xmm0);
                match op {
                    Op::FcvtDW => x64!(&mut self.asm; vcvtsi2sd xmm0, xmm0, Rd(a)),
                    Op::FcvtDL => x64!(&mut self.asm; vcvtsi2sd xmm0, xmm0, Rq(a)),
                    Op::FcvtDWu => x64!(&mut self.asm; mov eax, Rd(a); vcvtsi2sd xmm0, xmm0, rax),
                    Op::FcvtSW => x64!(&mut self.asm; vcvtsi2ss xmm0, xmm0, Rd(a)),
                    _ => x64!(&mut self.asm; vcvtsi2ss xmm0, xmm0, Rq(a)),
                }
                self.write(i.rd, matches!(op, Op::FcvtDW | Op::FcvtDL | Op::FcvtDWu));
            }
            Op::FcvtWD | Op::FcvtLD | Op::FcvtWS | Op::FcvtLS if i.rm == TOWARDS_ZERO => {
                let double = matches!(op, Op::FcvtWD | Op::FcvtLD);
                let cold = self.operands(u, double, &[i.rs1]);
                match op {
                    Op::FcvtWD => x64!(&mut self.asm; vcvttsd2si eax, xmm0),
                    Op::FcvtLD => x64!(&mut self.asm; vcvttsd2si rax, xmm0),
                    Op::FcvtWS => x64!(&mut self.asm; vcvttss2si eax, xmm0),
                    _ => x64!(&mut self.asm; vcvttss2si rax, xmm0),
                }
                // Out of range is the least number, which may also be the result: one less overflows.
                let at = cold.at;
                if matches!(op, Op::FcvtWD | Op::FcvtWS) {
                    x64!(&mut self.asm; cmp eax, 1; jo =>at; movsxd rax, eax);
                } else {
                    x64!(&mut self.asm; cmp rax, 1; jo =>at);
                }
                self.dirty_if_inexact(double);
                self.put(u_rd(i), RAX);
                self.back(cold);
            }
            Op::FcvtDS => {
                if i.rm == 5 || i.rm == 6 {
                    return false;
                }
                let cold = self.operands(u, false, &[i.rs1]);
                x64!(&mut self.asm; vcvtss2sd xmm0, xmm0, xmm0);
                self.result(i, true, cold);
            }
            Op::FcvtSD => {
                if i.rm != DYNAMIC {
                    return false;
                }
                let cold = self.operands(u, true, &[i.rs1]);
                x64!(&mut self.asm; vcvtsd2ss xmm0, xmm0, xmm0);
                self.result(i, false, cold);
            }
            _ => return false,
        }
        true
    }

    /// Loads the first operand to `xmm0`. One of single precision that is not boxed is left to the handler.
    fn operands(&mut self, u: &Uop, double: bool, registers: &[u8]) -> Again {
        let again = Again { at: self.asm.new_dynamic_label(), back: self.asm.new_dynamic_label(), uop: *u };
        let (a, at) = (float_home(registers[0]), again.at);
        if double {
            x64!(&mut self.asm; vmovsd xmm0, [rbx + a]);
            return again;
        }
        for (n, &r) in registers.iter().enumerate() {
            if !registers[..n].contains(&r) {
                x64!(&mut self.asm; cmp DWORD [rbx + float_home(r) + 4], -1; jne =>at);
            }
        }
        x64!(&mut self.asm; vmovss xmm0, [rbx + a]);
        again
    }

    /// What is in `xmm0` is the result, unless it is a NaN.
    fn result(&mut self, i: &Inst, double: bool, again: Again) {
        let at = again.at;
        match double {
            true => x64!(&mut self.asm; vucomisd xmm0, xmm0; jp =>at),
            false => x64!(&mut self.asm; vucomiss xmm0, xmm0; jp =>at),
        }
        self.write(i.rd, double);
        self.back(again);
    }

    fn write(&mut self, rd: u8, double: bool) {
        if double {
            x64!(&mut self.asm; vmovsd [rbx + float_home(rd)], xmm0);
        } else {
            x64!(&mut self.asm; vmovss [rbx + float_home(rd)], xmm0);
            self.boxed(rd);
        }
        self.dirty_float();
    }

    /// `FS` becomes dirty if the integer in `rax` is not the number in `xmm0`: then a flag was raised, set
    /// before or not. What was truncated to an integer is a number again without rounding.
    fn dirty_if_inexact(&mut self, double: bool) {
        x64!(&mut self.asm; vxorps xmm1, xmm1, xmm1);
        match double {
            true => x64!(&mut self.asm; vcvtsi2sd xmm1, xmm1, rax; vucomisd xmm0, xmm1),
            false => x64!(&mut self.asm; vcvtsi2ss xmm1, xmm1, rax; vucomiss xmm0, xmm1),
        }
        x64!(&mut self.asm; setne cl; or [rbx + FS_DIRTY], cl);
    }

    fn boxed(&mut self, rd: u8) {
        x64!(&mut self.asm; mov DWORD [rbx + float_home(rd) + 4], -1);
    }

    /// Here the instruction is done, whoever did it.
    fn back(&mut self, again: Again) {
        let Again { at, back, uop } = again;
        x64!(&mut self.asm; =>back);
        self.cold.push(Cold::Handler { at, back, uop, cached: self.cached });
    }
}

/// An instruction that its handler may have to execute again.
struct Again {
    at: DynamicLabel,
    back: DynamicLabel,
    uop: Uop,
}

/// The integer destination of an instruction: `x0` is the sink.
fn u_rd(i: &Inst) -> u8 {
    if i.rd == 0 { crate::hart::RegFile::SINK } else { i.rd }
}
