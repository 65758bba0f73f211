//! Scalar instructions.

use super::bits::{self, Bits, ones};
use super::origin::Id;
use super::{Kind, Next, Rules, Sanitizer, What};
use crate::hart::Hart;
use rvv_isa::{Access, Class, Field, Inst, Op, RegFile, csr};
use std::sync::LazyLock;

/// Which registers an instruction reads and writes.
#[derive(Clone, Copy, Default)]
struct Use {
    /// `rs1`, `rs2` and `rs3` are x registers.
    x: [bool; 3],
    /// They are f registers.
    f: [bool; 3],
    to_x: bool,
    to_f: bool,
}

static USES: LazyLock<Vec<Use>> = LazyLock::new(|| Op::all().map(use_of).collect());

fn use_of(op: Op) -> Use {
    let mut found = Use::default();
    for operand in op.base().info().operands {
        for field in operand.fields() {
            let (x, f) = (operand.reg_file() == Some(RegFile::X), operand.reg_file() == Some(RegFile::F));
            match field {
                Field::Rs1 => (found.x[0], found.f[0]) = (x, f),
                Field::Rs2 => (found.x[1], found.f[1]) = (x, f),
                Field::Rs3 => (found.x[2], found.f[2]) = (x, f),
                Field::Rd => (found.to_x, found.to_f) = (x, f),
                _ => {}
            }
        }
    }
    found
}

impl Sanitizer {
    /// An x register with its shadow.
    pub(super) fn x(&self, hart: &Hart, r: u8) -> Bits {
        Bits::new(hart.x[r], self.regs.x.undefined[usize::from(r)])
    }

    /// Works out what a scalar instruction does, and checks what it decides by.
    pub(super) fn scalar(&mut self, hart: &Hart, inst: &Inst) {
        let op = inst.op.base();
        match op.class() {
            Class::Load => self.load(hart, inst, op),
            Class::Store => self.store(hart, inst, op),
            Class::Branch => self.branch(hart, inst, op),
            Class::Jump => {
                if op == Op::Jalr {
                    self.check_x(Kind::Jump, inst.rs1);
                }
                self.set_x(inst.rd, 0, 0);
            }
            Class::Atomic => self.atomic(hart, inst, op),
            Class::Csr => self.csr(inst, op),
            Class::System => {
                if op == Op::Ecall {
                    self.system_call(hart);
                }
            }
            Class::Hint => {}
            _ => self.compute(hart, inst, op),
        }
    }

    fn set_x(&mut self, rd: u8, undefined: u64, origin: Id) {
        if rd != 0 {
            self.next = Next::X(rd, undefined, origin);
        }
    }

    /// The value of an x register decides something.
    pub(super) fn check_x(&mut self, kind: Kind, r: u8) {
        let undefined = self.regs.x.undefined[usize::from(r)];
        if undefined != 0 {
            self.decides(kind, undefined, self.regs.x.origin[usize::from(r)], None);
        }
    }

    fn compute(&mut self, hart: &Hart, inst: &Inst, op: Op) {
        let used = USES[op as usize];
        let regs = [inst.rs1, inst.rs2, inst.rs3].map(usize::from);
        let (mut any, mut origin) = (0, 0);
        for (n, &r) in regs.iter().enumerate() {
            let (file, is_used) = if used.x[n] { (&self.regs.x, true) } else { (&self.regs.f, used.f[n]) };
            if is_used && file.undefined[r] != 0 {
                any |= file.undefined[r];
                origin = file.origin[r];
            }
        }
        if any == 0 || self.regs.pending.is_some() {
            // What an allocator computes is its own business.
            if used.to_x {
                self.set_x(inst.rd, 0, 0);
            } else if used.to_f {
                self.next = Next::F(inst.rd, 0, 0);
            }
            return;
        }
        let origin = self.origins.through(origin, self.pc);
        if op.class() == Class::Float {
            self.float(inst, op, used, any, origin);
            return;
        }
        let undefined = self.integer(hart, inst, op).unwrap_or(u64::MAX);
        self.set_x(inst.rd, undefined, origin);
    }

    fn float(&mut self, inst: &Inst, op: Op, used: Use, any: u64, origin: Id) {
        let f = |r: u8| self.regs.f.undefined[usize::from(r)];
        let x = |r: u8| self.regs.x.undefined[usize::from(r)];
        let sign = |at: u32| f(inst.rs1) & !(1 << at) | f(inst.rs2) & 1 << at;
        let undefined = match op {
            Op::FmvXD | Op::FmvDX => any,
            Op::FmvXW => Bits::new(0, f(inst.rs1)).sign_extended(32).undefined,
            Op::FmvXH => Bits::new(0, f(inst.rs1)).sign_extended(16).undefined,
            Op::FmvWX => x(inst.rs1) & ones(32),
            Op::FmvHX => x(inst.rs1) & ones(16),
            Op::FsgnjD | Op::FsgnjnD => sign(63),
            Op::FsgnjS | Op::FsgnjnS => sign(31),
            Op::FsgnjH | Op::FsgnjnH => sign(15),
            Op::FsgnjxD => f(inst.rs1) | f(inst.rs2) & 1 << 63,
            Op::FsgnjxS => f(inst.rs1) | f(inst.rs2) & 1 << 31,
            Op::FsgnjxH => f(inst.rs1) | f(inst.rs2) & 1 << 15,
            Op::FclassD | Op::FclassS | Op::FclassH => 0x3ff,
            Op::FeqD | Op::FeqS | Op::FeqH | Op::FltD | Op::FltS | Op::FltH => 1,
            Op::FleD | Op::FleS | Op::FleH | Op::FleqD | Op::FleqS | Op::FleqH => 1,
            Op::FltqD | Op::FltqS | Op::FltqH => 1,
            _ => u64::MAX,
        };
        if used.to_f {
            self.next = Next::F(inst.rd, undefined, origin);
        } else {
            self.set_x(inst.rd, undefined, origin);
        }
    }

    /// The undefined bits of an integer result; `None` where any of the operands' makes all of them so.
    fn integer(&self, hart: &Hart, inst: &Inst, op: Op) -> Option<u64> {
        let a = self.x(hart, inst.rs1);
        let b = self.x(hart, inst.rs2);
        let imm = Bits::new(inst.imm as i64 as u64, 0);
        let word = |undefined: u64| Bits::new(0, undefined).sign_extended(32).undefined;
        let low = |b: Bits| b.zero_extended(32);
        let whole = self.rules == Rules::Intrinsics;
        let same = inst.rs1 == inst.rs2;
        let less = |less: Option<bool>| u64::from(less.is_none());
        Some(match op {
            Op::And => bits::and(a, b),
            Op::Or => bits::or(a, b),
            Op::Xor | Op::Sub if same => 0,
            Op::Xor => bits::xor(a, b),
            Op::Andn => bits::and(a, bits::not(b)),
            Op::Orn => bits::or(a, bits::not(b)),
            Op::Xnor => bits::xor(a, b),
            Op::Andi => bits::and(a, imm),
            Op::Ori => bits::or(a, imm),
            Op::Xori => a.undefined,
            // Moves.
            Op::Addi if inst.imm == 0 => a.undefined,
            Op::Add if inst.rs1 == 0 => b.undefined,
            Op::Add if inst.rs2 == 0 => a.undefined,
            Op::Add | Op::Addi | Op::Sub | Op::Mul if whole => return None,
            Op::Add => bits::add(a, b),
            Op::Addi => bits::add(a, imm),
            Op::Sub => bits::sub(a, b),
            Op::Addw => word(bits::add(a, b)),
            Op::Addiw => word(bits::add(a, imm)),
            Op::Subw => word(bits::sub(a, b)),
            Op::Mul => bits::mul(a, b),
            Op::Mulw => word(bits::mul(a, b)),
            Op::Sh1add => bits::add(shifted(a, 1), b),
            Op::Sh2add => bits::add(shifted(a, 2), b),
            Op::Sh3add => bits::add(shifted(a, 3), b),
            Op::AddUw => bits::add(low(a), b),
            Op::Sh1addUw => bits::add(shifted(low(a), 1), b),
            Op::Sh2addUw => bits::add(shifted(low(a), 2), b),
            Op::Sh3addUw => bits::add(shifted(low(a), 3), b),
            Op::SlliUw => shifted(low(a), inst.imm as u32 & 63).undefined,
            Op::Slli => a.undefined << (inst.imm & 63),
            Op::Srli => a.undefined >> (inst.imm & 63),
            Op::Srai => ((a.undefined as i64) >> (inst.imm & 63)) as u64,
            Op::Slliw => word(a.undefined << (inst.imm & 31)),
            Op::Srliw => word((a.undefined & ones(32)) >> (inst.imm & 31)),
            Op::Sraiw => word((a.undefined as u32 as i32 >> (inst.imm & 31)) as u64),
            Op::Rori => a.undefined.rotate_right(inst.imm as u32 & 63),
            Op::Roriw => word((a.undefined as u32).rotate_right(inst.imm as u32 & 31).into()),
            // The amount decides where each bit goes.
            Op::Sll | Op::Srl | Op::Sra | Op::Rol | Op::Ror if b.undefined & 63 != 0 => return None,
            Op::Sllw | Op::Srlw | Op::Sraw | Op::Rolw | Op::Rorw if b.undefined & 31 != 0 => return None,
            Op::Sll => a.undefined << (b.value & 63),
            Op::Srl => a.undefined >> (b.value & 63),
            Op::Sra => ((a.undefined as i64) >> (b.value & 63)) as u64,
            Op::Sllw => word(a.undefined << (b.value & 31)),
            Op::Srlw => word((a.undefined & ones(32)) >> (b.value & 31)),
            Op::Sraw => word((a.undefined as u32 as i32 >> (b.value & 31)) as u64),
            Op::Rol => a.undefined.rotate_left(b.value as u32 & 63),
            Op::Ror => a.undefined.rotate_right(b.value as u32 & 63),
            Op::Rolw => word((a.undefined as u32).rotate_left(b.value as u32 & 31).into()),
            Op::Rorw => word((a.undefined as u32).rotate_right(b.value as u32 & 31).into()),
            Op::Slt => less(bits::less_signed(a, b)),
            Op::Sltu => less(bits::less_unsigned(a, b)),
            Op::Slti => less(bits::less_signed(a, imm)),
            Op::Sltiu => less(bits::less_unsigned(a, imm)),
            Op::SextB => a.sign_extended(8).undefined,
            Op::SextH => a.sign_extended(16).undefined,
            Op::Pack => a.undefined & ones(32) | b.undefined << 32,
            Op::Packh => a.undefined & 0xff | (b.undefined & 0xff) << 8,
            Op::Packw => word(a.undefined & 0xffff | b.undefined << 16),
            Op::Rev8 => a.undefined.swap_bytes(),
            Op::Brev8 => a.undefined.reverse_bits().swap_bytes(),
            Op::OrcB => bits::orc_b(a),
            Op::Ctz => bits::count_trailing(a, 64),
            Op::Ctzw => bits::count_trailing(a, 32),
            Op::Clz => bits::count_leading(a, 64),
            Op::Clzw => bits::count_leading(a, 32),
            Op::Cpop | Op::Cpopw => 0x7f,
            Op::Bexti => a.undefined >> (inst.imm & 63) & 1,
            Op::Bclri | Op::Bseti => a.undefined & !(1 << (inst.imm & 63)),
            Op::Binvi => a.undefined,
            Op::Bext | Op::Bclr | Op::Bset | Op::Binv if b.undefined & 63 != 0 => return None,
            Op::Bext => a.undefined >> (b.value & 63) & 1,
            Op::Bclr | Op::Bset => a.undefined & !(1 << (b.value & 63)),
            Op::Binv => a.undefined,
            Op::CzeroEqz | Op::CzeroNez => match bits::equal(b, Bits::default()) {
                Some(zero) if zero == (op == Op::CzeroEqz) => 0,
                Some(_) => a.undefined,
                None => a.undefined | a.value,
            },
            _ => return None,
        })
    }

    fn branch(&mut self, hart: &Hart, inst: &Inst, op: Op) {
        let (a, b) = (self.x(hart, inst.rs1), self.x(hart, inst.rs2));
        if a.is_defined() && b.is_defined() {
            return;
        }
        let decided = match op {
            Op::Beq | Op::Bne => bits::equal(a, b).is_some(),
            Op::Blt | Op::Bge => bits::less_signed(a, b).is_some(),
            _ => bits::less_unsigned(a, b).is_some(),
        };
        if !decided {
            let of = if a.is_defined() { inst.rs2 } else { inst.rs1 };
            self.check_x(Kind::Branch, of);
        }
    }

    /// The bytes that a scalar access moves.
    fn bytes(op: Op) -> usize {
        match op.info().access {
            Access::Bytes(n) => n.into(),
            Access::None | Access::CacheBlock => 0,
        }
    }

    /// Checks where an access goes.
    pub(super) fn check_access(&mut self, va: u64, len: usize, element: Option<u64>, store: bool) {
        if self.memory.is_forbidden(va, len) {
            let (kind, detail) = self.heap.explain(va, len, store);
            let rule = Some("C: an access outside the objects of the program");
            self.found(kind, What { element, detail, rule, ..What::default() });
        }
    }

    fn load(&mut self, hart: &Hart, inst: &Inst, op: Op) {
        let len = Self::bytes(op);
        let va = hart.x[inst.rs1].wrapping_add_signed(inst.imm.into());
        self.check_x(Kind::Address, inst.rs1);
        self.check_access(va, len, None, false);
        let (undefined, origin) =
            if self.regs.pending.is_some() { (0, 0) } else { self.memory.load(va, len) };
        let origin = if undefined == 0 { 0 } else { self.origins.through(origin, self.pc) };
        match op {
            Op::Fld | Op::Flw | Op::Flh => self.next = Next::F(inst.rd, undefined, origin),
            Op::Lb | Op::Lh | Op::Lw => {
                let undefined = Bits::new(0, undefined).sign_extended(8 * len as u32).undefined;
                self.set_x(inst.rd, undefined, origin);
            }
            _ => self.set_x(inst.rd, undefined, origin),
        }
    }

    fn store(&mut self, hart: &Hart, inst: &Inst, op: Op) {
        let va = hart.x[inst.rs1].wrapping_add_signed(inst.imm.into());
        self.check_x(Kind::Address, inst.rs1);
        if op == Op::CboZero {
            self.memory.define(va & !63, 64);
            return;
        }
        let len = Self::bytes(op);
        self.check_access(va, len, None, true);
        let file = match op {
            Op::Fsd | Op::Fsw | Op::Fsh => &self.regs.f,
            _ => &self.regs.x,
        };
        let r = usize::from(inst.rs2);
        let undefined = file.undefined[r] & ones(8 * len.clamp(1, 8) as u32);
        let origin = if undefined == 0 { 0 } else { self.origins.through(file.origin[r], self.pc) };
        self.next = Next::Stores { va, len: len as u8, undefined, origin };
    }

    fn atomic(&mut self, hart: &Hart, inst: &Inst, op: Op) {
        let len = Self::bytes(op).clamp(1, 8);
        let va = hart.x[inst.rs1];
        self.check_x(Kind::Address, inst.rs1);
        self.check_access(va, len, None, true);
        if op == Op::AmocasQ {
            self.next = Next::Stores { va, len: 8, undefined: 0, origin: 0 };
            self.memory.define(va, 16);
            return;
        }
        let (old, from) = self.memory.load(va, len);
        let width = 8 * len as u32;
        let loaded = (Bits::new(0, old).sign_extended(width).undefined, from);
        let r = usize::from(inst.rs2);
        let (new, new_from) = (self.regs.x.undefined[r] & ones(width), self.regs.x.origin[r]);
        let origin = if new == 0 { from } else { new_from };
        match op {
            Op::LrW | Op::LrD => self.set_x(inst.rd, loaded.0, loaded.1),
            Op::ScW | Op::ScD => {
                self.next =
                    Next::Atomic { rd: inst.rd, loaded: (0, 0), va, len: len as u8, undefined: new, origin };
            }
            _ => {
                let swaps = matches!(op, Op::AmoswapW | Op::AmoswapD | Op::AmoswapB | Op::AmoswapH);
                let both = bits::all_or_none(old | new, width);
                let undefined = if swaps { new } else { both };
                self.next = Next::Atomic { rd: inst.rd, loaded, va, len: len as u8, undefined, origin };
            }
        }
    }

    fn csr(&mut self, inst: &Inst, op: Op) {
        let number = inst.imm as u16;
        let writes = matches!(op, Op::Csrrw | Op::Csrrwi) || inst.rs1 != 0;
        match number {
            // The program asks which.
            csr::VL => self.length_is_known(),
            csr::VXRM | csr::VCSR if writes => self.regs.vxrm_lost = None,
            _ => {}
        }
        // Control registers are defined: what undefined operands do to flags is not followed.
        self.set_x(inst.rd, 0, 0);
    }
}

fn shifted(a: Bits, by: u32) -> Bits {
    Bits::new(a.value << by, a.undefined << by)
}
