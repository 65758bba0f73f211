//! Templates of the scalar micro-ops; those of floating point are in [`super::float`].

use super::emit::Emitter;
use super::fields::{NEXT_PC, PC};
use super::registers::{Place, RAX, RCX, RDX};
use crate::engine::{Kind, Uop};
use dynasmrt::{DynasmApi, DynasmLabelApi, dynasm};

impl Emitter<'_> {
    fn divide(&mut self, u: &Uop, how: Divide) {
        self.cached.base = false;
        self.get(RCX, u.rs2);
        self.get(RAX, u.rs1);
        let Divide { signed, word, remainder } = how;
        match word {
            true => x64!(&mut self.asm; test ecx, ecx),
            false => x64!(&mut self.asm; test rcx, rcx),
        }
        x64!(&mut self.asm; je >zero);
        if signed {
            match word {
                true => x64!(&mut self.asm; cmp ecx, -1),
                false => x64!(&mut self.asm; cmp rcx, -1),
            }
            x64!(&mut self.asm; je >minus_one);
        }
        match (signed, word) {
            (true, true) => x64!(&mut self.asm; cdq; idiv ecx),
            (true, false) => x64!(&mut self.asm; cqo; idiv rcx),
            (false, true) => x64!(&mut self.asm; xor edx, edx; div ecx),
            (false, false) => x64!(&mut self.asm; xor edx, edx; div rcx),
        }
        if remainder {
            x64!(&mut self.asm; mov rax, rdx);
        }
        x64!(&mut self.asm; jmp >done; zero:);
        if !remainder {
            x64!(&mut self.asm; mov rax, DWORD -1);
        }
        if signed {
            x64!(&mut self.asm; jmp >done; minus_one:);
            // The least number negated is itself: so is its quotient, which overflows.
            if remainder {
                x64!(&mut self.asm; xor eax, eax);
            } else {
                x64!(&mut self.asm; neg rax);
            }
        }
        x64!(&mut self.asm; done:);
        if word { self.put_word(u.rd, RAX) } else { self.put(u.rd, RAX) }
    }

    /// `rd` = the upper half of a product.
    fn multiply_high(&mut self, u: &Uop) {
        self.cached.base = false;
        self.get(RAX, u.rs1);
        let b = self.source(u.rs2, RCX);
        match u.kind() {
            Kind::Mulh => x64!(&mut self.asm; imul Rq(b)),
            _ => x64!(&mut self.asm; mul Rq(b)),
        }
        if u.kind() == Kind::Mulhsu {
            // As unsigned, a negative rs1 is 2^64 too large: rs2 too much in the upper half.
            self.get(RAX, u.rs1);
            x64!(&mut self.asm; sar rax, 63; and rax, Rq(b); sub rdx, rax);
        }
        self.put(u.rd, RDX);
    }

    pub(super) fn uop(&mut self, u: &Uop) {
        let imm = u.imm as i32;
        /// `rd = rs1 op rs2`.
        macro_rules! binary {
            ($op:ident) => {{
                let d = self.first_operand(u);
                with_source!(self, $op Rq d, u.rs2);
                self.put(u.rd, d);
            }};
        }
        /// The same of the low halves.
        macro_rules! binary_word {
            ($op:ident) => {{
                self.get(RAX, u.rs1);
                with_source!(self, $op Rd RAX, u.rs2);
                self.put_word(u.rd, RAX);
            }};
        }
        /// `rd = rs1 op imm`.
        macro_rules! immediate {
            ($op:ident) => {{
                let d = self.target(u.rd);
                self.get(d, u.rs1);
                x64!(&mut self.asm; $op Rq(d), imm);
                self.put(u.rd, d);
            }};
        }
        /// `rd = rs1 shifted by imm`.
        macro_rules! shift_immediate {
            ($op:ident) => {{
                let d = self.target(u.rd);
                self.get(d, u.rs1);
                x64!(&mut self.asm; $op Rq(d), (imm & 63) as i8);
                self.put(u.rd, d);
            }};
            (word $op:ident) => {{
                self.get(RAX, u.rs1);
                x64!(&mut self.asm; $op eax, (imm & 31) as i8);
                self.put_word(u.rd, RAX);
            }};
        }
        /// `rd = rs1 shifted by rs2`. The host takes as many bits of the amount as the guest does.
        macro_rules! shift {
            ($op:ident $size:ident) => {{
                let amount = self.source(u.rs2, RCX);
                let a = self.source(u.rs1, RAX);
                let d = self.target(u.rd);
                x64!(&mut self.asm; $op $size(d), $size(a), $size(amount));
                d
            }};
        }
        /// `rd` = whether a comparison holds.
        macro_rules! set {
            ($set:ident) => {{
                x64!(&mut self.asm; $set al; movzx eax, al);
                self.put(u.rd, RAX);
            }};
        }
        macro_rules! branch {
            ($jump:ident) => {{
                self.head_of_branch(u);
                if let Some(start) = self.start {
                    x64!(&mut self.asm; $jump =>start);
                    self.link(0);
                } else {
                    x64!(&mut self.asm; $jump >taken);
                    self.link(0);
                    x64!(&mut self.asm; taken:);
                    self.link(1);
                }
            }};
        }
        match u.kind() {
            Kind::Nop => {}
            Kind::Const => {
                let d = self.target(u.rd);
                self.constant(d, u.imm);
                self.put(u.rd, d);
            }
            Kind::Mv => {
                let a = self.source(u.rs1, RAX);
                self.put(u.rd, a);
            }
            Kind::Addi => match (self.map.place(u.rs1), self.target(u.rd)) {
                (Place::Host(a), d) if a != d => {
                    x64!(&mut self.asm; lea Rq(d), [Rq(a) + imm]);
                    self.put(u.rd, d);
                }
                _ => immediate!(add),
            },
            Kind::Xori => immediate!(xor),
            Kind::Ori => immediate!(or),
            Kind::Andi => immediate!(and),
            Kind::Slti | Kind::Sltiu => {
                let a = self.source(u.rs1, RAX);
                x64!(&mut self.asm; cmp Rq(a), imm);
                if u.kind() == Kind::Slti { set!(setl) } else { set!(setb) }
            }
            Kind::Slli => shift_immediate!(shl),
            Kind::Srli => shift_immediate!(shr),
            Kind::Srai => shift_immediate!(sar),
            Kind::Addiw => {
                match self.map.place(u.rs1) {
                    Place::Host(a) if imm == 0 => return self.put_word(u.rd, a),
                    Place::Host(a) => x64!(&mut self.asm; lea eax, [Rq(a) + imm]),
                    _ => {
                        self.get(RAX, u.rs1);
                        x64!(&mut self.asm; add eax, imm);
                    }
                }
                self.put_word(u.rd, RAX);
            }
            Kind::Slliw => shift_immediate!(word shl),
            Kind::Srliw => shift_immediate!(word shr),
            Kind::Sraiw => shift_immediate!(word sar),
            Kind::Add => match (self.map.place(u.rs1), self.map.place(u.rs2), self.target(u.rd)) {
                (Place::Host(a), Place::Host(b), d) if a != d => {
                    x64!(&mut self.asm; lea Rq(d), [Rq(a) + Rq(b)]);
                    self.put(u.rd, d);
                }
                _ => binary!(add),
            },
            Kind::Sub => binary!(sub),
            Kind::Xor => binary!(xor),
            Kind::Or => binary!(or),
            Kind::And => binary!(and),
            Kind::Mul => binary!(imul),
            Kind::Sll => {
                let d = shift!(shlx Rq);
                self.put(u.rd, d);
            }
            Kind::Srl => {
                let d = shift!(shrx Rq);
                self.put(u.rd, d);
            }
            Kind::Sra => {
                let d = shift!(sarx Rq);
                self.put(u.rd, d);
            }
            Kind::Sllw => {
                let d = shift!(shlx Rd);
                self.put_word(u.rd, d);
            }
            Kind::Srlw => {
                let d = shift!(shrx Rd);
                self.put_word(u.rd, d);
            }
            Kind::Sraw => {
                let d = shift!(sarx Rd);
                self.put_word(u.rd, d);
            }
            Kind::Slt | Kind::Sltu => {
                let a = self.source(u.rs1, RAX);
                with_source!(self, cmp Rq a, u.rs2);
                if u.kind() == Kind::Slt { set!(setl) } else { set!(setb) }
            }
            Kind::Addw => binary_word!(add),
            Kind::Subw => binary_word!(sub),
            Kind::Mulw => binary_word!(imul),
            Kind::Mulh | Kind::Mulhu | Kind::Mulhsu => self.multiply_high(u),
            Kind::Div => self.divide(u, Divide { signed: true, word: false, remainder: false }),
            Kind::Divu => self.divide(u, Divide { signed: false, word: false, remainder: false }),
            Kind::Rem => self.divide(u, Divide { signed: true, word: false, remainder: true }),
            Kind::Remu => self.divide(u, Divide { signed: false, word: false, remainder: true }),
            Kind::Divw => self.divide(u, Divide { signed: true, word: true, remainder: false }),
            Kind::Divuw => self.divide(u, Divide { signed: false, word: true, remainder: false }),
            Kind::Remw => self.divide(u, Divide { signed: true, word: true, remainder: true }),
            Kind::Remuw => self.divide(u, Divide { signed: false, word: true, remainder: true }),
            Kind::Sh1add | Kind::Sh2add | Kind::Sh3add => {
                let a = self.source(u.rs1, RAX);
                let b = self.source(u.rs2, RCX);
                let d = self.target(u.rd);
                match u.kind() {
                    Kind::Sh1add => x64!(&mut self.asm; lea Rq(d), [Rq(b) + 2 * Rq(a)]),
                    Kind::Sh2add => x64!(&mut self.asm; lea Rq(d), [Rq(b) + 4 * Rq(a)]),
                    _ => x64!(&mut self.asm; lea Rq(d), [Rq(b) + 8 * Rq(a)]),
                }
                self.put(u.rd, d);
            }
            Kind::AddUw => {
                with_source!(self, mov Rd RCX, u.rs1);
                let d = self.target(u.rd);
                self.get(d, u.rs2);
                x64!(&mut self.asm; add Rq(d), rcx);
                self.put(u.rd, d);
            }
            Kind::Lb => self.load(u, 1, true),
            Kind::Lh => self.load(u, 2, true),
            Kind::Lw => self.load(u, 4, true),
            Kind::Ld | Kind::Fld => self.load(u, 8, false),
            Kind::Lbu => self.load(u, 1, false),
            Kind::Lhu => self.load(u, 2, false),
            Kind::Lwu | Kind::Flw => self.load(u, 4, false),
            Kind::Sb => self.store(u, 1),
            Kind::Sh => self.store(u, 2),
            Kind::Sw | Kind::Fsw => self.store(u, 4),
            Kind::Sd | Kind::Fsd => self.store(u, 8),
            Kind::Call => {
                let inst = self.block.insts[usize::from(u.insn)].1;
                if !self.float(u, &inst) && !self.read_csr(&inst) {
                    self.call(u);
                }
            }
            Kind::CallEnd => {
                let pc = self.block.pc_of(u.insn) as i64;
                let next = self.block.pc_of(u.insn + 1) as i64;
                x64!(&mut self.asm; mov rax, QWORD pc; mov [rbx + PC], rax);
                x64!(&mut self.asm; mov rax, QWORD next; mov [rbx + NEXT_PC], rax);
                self.call_end(u);
            }
            Kind::Map
            | Kind::MapScalar
            | Kind::FloatMap
            | Kind::FloatMapScalar
            | Kind::Word
            | Kind::VectorLoad
            | Kind::VectorStore
            | Kind::SetVl
            | Kind::Vector => {
                if !self.vector_template(u) {
                    self.vector(u);
                    self.after_vector(u);
                }
            }
            Kind::VectorEnd | Kind::Fault => self.interpret_rest(u),
            Kind::Beq => branch!(je),
            Kind::Bne => branch!(jne),
            Kind::Blt => branch!(jl),
            Kind::Bge => branch!(jge),
            Kind::Bltu => branch!(jb),
            Kind::Bgeu => branch!(jae),
            Kind::Jal => {
                let d = self.target(u.rd);
                self.constant(d, self.block.end_pc() as i64);
                self.put(u.rd, d);
                self.link(1);
            }
            Kind::Jalr => self.jump(u),
            Kind::Continue => self.link(0),
        }
    }
}

/// Which division.
struct Divide {
    signed: bool,
    word: bool,
    remainder: bool,
}
