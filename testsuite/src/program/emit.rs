//! The code around one instruction, by shape.

use super::{BLOCKS_SIZE, FAR, MEM_SIZE, is_float, reg, register};
use crate::cases::{Group, Shape};
use rvv_asm::asm::{Asm, Label};
use rvv_isa::{Field, Inst, Op, RegFile, csr};

/// Where a filling goes on: the golden ratio, odd.
const STRIDE: u64 = 0x9e37_79b9_7f4a_7c15;

/// Emits the loop over the rows of a group.
pub fn group(a: &mut Asm, g: &Group) {
    if matches!(g.shape, Shape::Branch | Shape::Jump) {
        return jumping(a, g);
    }
    let (again, after) = (a.label_here(), a.label());
    match g.shape {
        Shape::Compute => operands(a, g),
        Shape::Load | Shape::Store => memory(a, g),
        Shape::Atomic => atomic(a, g),
        Shape::StoreConditional => store_conditional(a, g),
        Shape::Csr => csr_before(a, g),
        Shape::Return => return_to(a, g, after),
        Shape::CacheBlock => cache_block(a),
        Shape::Branch | Shape::Jump => unreachable!("done above"),
    }
    if g.inst.op == Op::Wfi {
        wfi(a);
    }
    no_trap_yet(a);
    a.la(reg::RESUME, after);
    a.raw(g.inst.raw, g.inst.len);
    a.place(after);
    if g.shape == Shape::Return {
        // It returned to the next instruction, in the mode asked for; the trap tells which.
        return_back(a);
    }
    if g.inst.op == Op::Wfi {
        a.csr(Op::Csrrw, 0, csr::MIE, 0);
    }
    results(a, g);
    again_unless_done(a, again);
}

fn no_trap_yet(a: &mut Asm) {
    a.rri(Op::Addi, reg::CAUSE, 0, 0);
    a.rri(Op::Addi, reg::TVAL, 0, 0);
}

fn again_unless_done(a: &mut Asm, again: Label) {
    a.rri(Op::Addi, reg::ROW, reg::ROW, 32);
    // The loop may be longer than a branch reaches.
    let done = a.label();
    a.branch(Op::Bgeu, reg::ROW, reg::END, done);
    a.jump(again);
    a.place(done);
}

/// Loads word `word` of the row.
fn load(a: &mut Asm, to: u8, file: RegFile, word: i32) {
    match file {
        RegFile::X if to == 0 => {}
        RegFile::X => a.rri(Op::Ld, to, reg::ROW, 8 * word),
        _ => a.rri(Op::Fld, to, reg::ROW, 8 * word),
    }
}

/// Loads the registers of a computation. Where one register is two operands, the first source wins.
fn operands(a: &mut Asm, g: &Group) {
    if is_float(&g.inst) {
        load(a, reg::T0, RegFile::X, 3);
        a.csr(Op::Csrrw, 0, csr::FCSR, reg::T0);
    }
    for (field, word) in [(Field::Rd, 2), (Field::Rs3, 2), (Field::Rs2, 1), (Field::Rs1, 0)] {
        if let Some((r, file)) = register(g, field) {
            load(a, r, file, word);
        }
    }
}

/// Fills `bytes` of memory from `offset` on with word 1 of the row, counted up.
fn fill(a: &mut Asm, offset: i32, bytes: usize) {
    load(a, reg::T0, RegFile::X, 1);
    a.li(reg::T1, STRIDE);
    for i in 0..bytes as i32 / 8 {
        a.store(Op::Sd, reg::T0, offset + 8 * i, reg::MEM);
        a.rrr(Op::Add, reg::T0, reg::T0, reg::T1);
    }
}

/// `to` = the play memory, plus a word of the row, plus `plus`.
fn address(a: &mut Asm, to: u8, word: i32, plus: i32) {
    load(a, to, RegFile::X, word);
    a.rrr(Op::Add, to, to, reg::MEM);
    a.rri(Op::Addi, to, to, plus);
}

fn memory(a: &mut Asm, g: &Group) {
    fill(a, 0, MEM_SIZE);
    let data = if g.shape == Shape::Load { Field::Rd } else { Field::Rs2 };
    let (r, file) = register(g, data).expect("loads and stores have data");
    load(a, r, file, 2);
    let (base, _) = register(g, Field::Rs1).expect("and an address");
    a.li(reg::T0, i64::from(g.inst.imm) as u64);
    address(a, base, 0, 0);
    a.rrr(Op::Sub, base, base, reg::T0);
}

fn atomic(a: &mut Asm, g: &Group) {
    atomic_memory(a);
    if let Some((rs2, _)) = register(g, Field::Rs2) {
        load(a, rs2, RegFile::X, 0);
        a.rri(Op::Xori, rs2 + 1, rs2, -1);
    }
    load(a, g.inst.rd, RegFile::X, 1);
    a.rri(Op::Xori, g.inst.rd + 1, g.inst.rd, -1);
    address(a, g.inst.rs1, 3, 16);
}

fn store_conditional(a: &mut Asm, g: &Group) {
    atomic_memory(a);
    load(a, g.inst.rs2, RegFile::X, 0);
    a.rri(Op::Addi, g.inst.rd, 0, 7);
    a.rri(Op::Addi, g.inst.rd + 1, 0, 7);
    // A failing sc gives up what reservation there was.
    a.rri(Op::Addi, 15, reg::MEM, FAR);
    a.inst(&Inst { rd: 0, rs1: 15, rs2: 0, ..Inst::new(Op::ScD) });
    address(a, g.inst.rs1, 3, 16);
    let reserve = if g.inst.op == Op::ScW { Op::LrW } else { Op::LrD };
    load(a, reg::T0, RegFile::X, 1);
    let (none, other) = (a.label(), a.label());
    a.branch(Op::Beq, reg::T0, 0, none);
    a.rri(Op::Addi, reg::T0, reg::T0, -1);
    a.branch(Op::Bne, reg::T0, 0, other);
    a.inst(&Inst { rd: reg::T1, rs1: g.inst.rs1, ..Inst::new(reserve) });
    a.jump(none);
    a.place(other);
    a.inst(&Inst { rd: reg::T1, rs1: 15, ..Inst::new(reserve) });
    a.place(none);
}

/// Atomics play 16 bytes into memory, where it is aligned to 16.
fn atomic_memory(a: &mut Asm) {
    fill(a, 0, MEM_SIZE);
    load(a, reg::T0, RegFile::X, 2);
    a.store(Op::Sd, reg::T0, 16, reg::MEM);
    a.rri(Op::Xori, reg::T0, reg::T0, -1);
    a.store(Op::Sd, reg::T0, 24, reg::MEM);
}

fn csr_before(a: &mut Asm, g: &Group) {
    let number = g.inst.imm as u16;
    // The top two bits say read-only.
    if number >> 10 != 3 {
        load(a, reg::T0, RegFile::X, 1);
        a.csr(Op::Csrrw, 0, number, reg::T0);
    }
    load(a, g.inst.rd, RegFile::X, 2);
    if let Some((rs1, _)) = register(g, Field::Rs1) {
        load(a, rs1, RegFile::X, 0);
    }
}

/// `mepc` or `sepc` after the instruction, the previous mode as the row says.
fn return_to(a: &mut Asm, g: &Group, after: Label) {
    let machine = g.inst.op == Op::Mret;
    let (mask, shift) = if machine { (0x1800, 11) } else { (0x100, 8) };
    a.li(reg::T0, mask);
    a.csr(Op::Csrrc, 0, csr::MSTATUS, reg::T0);
    load(a, reg::T0, RegFile::X, 0);
    a.rri(Op::Slli, reg::T0, reg::T0, shift);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, reg::T0);
    a.la(reg::T0, after);
    a.csr(Op::Csrrw, 0, if machine { csr::MEPC } else { csr::SEPC }, reg::T0);
}

/// In whatever mode: `ecall`, and on from there in M-mode.
fn return_back(a: &mut Asm) {
    a.rri(Op::Addi, reg::RESUME, reg::RESUME, 8);
    a.plain(Op::Ecall);
}

fn cache_block(a: &mut Asm) {
    fill(a, FAR, BLOCKS_SIZE);
    load(a, 11, RegFile::X, 0);
    a.rrr(Op::Add, 11, 11, reg::MEM);
    a.rri(Op::Addi, 11, 11, FAR);
}

/// A timer interrupt that is pending but not taken lets `wfi` complete.
fn wfi(a: &mut Asm) {
    a.li(reg::T0, 0x200_4000);
    a.store(Op::Sd, 0, 0, reg::T0);
    a.li(reg::T0, 8);
    a.csr(Op::Csrrc, 0, csr::MSTATUS, reg::T0);
    a.li(reg::T0, 0x80);
    a.csr(Op::Csrrw, 0, csr::MIE, reg::T0);
}

fn results(a: &mut Asm, g: &Group) {
    match register(g, Field::Rd) {
        Some((rd, RegFile::X)) => a.store(Op::Sd, rd, 0, reg::OUT),
        Some((rd, _)) => a.store(Op::Fsd, rd, 0, reg::OUT),
        None => a.store(Op::Sd, 0, 0, reg::OUT),
    }
    status(a, is_float(&g.inst));
    match g.shape {
        Shape::Csr => {
            a.csr(Op::Csrrs, reg::T0, g.inst.imm as u16, 0);
            a.store(Op::Sd, reg::T0, 24, reg::OUT);
        }
        Shape::Store => {
            a.store(Op::Sd, 0, 24, reg::OUT);
            copy(a, 0, MEM_SIZE, 32);
        }
        Shape::Atomic | Shape::StoreConditional => {
            a.store(Op::Sd, g.inst.rd + 1, 24, reg::OUT);
            copy(a, 0, MEM_SIZE, 32);
        }
        Shape::CacheBlock => copy(a, FAR, BLOCKS_SIZE, 24),
        _ => {}
    }
    a.rri(Op::Addi, reg::OUT, reg::OUT, 8 * g.shape.results() as i32);
}

fn status(a: &mut Asm, float: bool) {
    a.rri(Op::Slli, reg::CAUSE, reg::CAUSE, 8);
    if float {
        a.csr(Op::Csrrs, reg::T0, csr::FFLAGS, 0);
        a.rrr(Op::Or, reg::CAUSE, reg::CAUSE, reg::T0);
    }
    a.store(Op::Sd, reg::CAUSE, 8, reg::OUT);
    a.store(Op::Sd, reg::TVAL, 16, reg::OUT);
}

/// Copies play memory from `offset` on to the results from `at` on.
fn copy(a: &mut Asm, offset: i32, bytes: usize, at: i32) {
    for i in 0..bytes as i32 / 8 {
        a.rri(Op::Ld, reg::T0, reg::MEM, offset + 8 * i);
        a.store(Op::Sd, reg::T0, at + 8 * i, reg::OUT);
    }
}

/// Jumps and branches: the value is 1 where execution went on, 2 where it jumped, and above bit 8 how far
/// the link register is from the instruction.
fn jumping(a: &mut Asm, g: &Group) {
    let inst = &g.inst;
    let indirect = inst.op.base() == Op::Jalr;
    let far = if indirect { 16 } else { i64::from(inst.imm) };
    let (again, target, after) = (a.label_here(), a.label(), a.label());
    for (field, word) in [(Field::Rs2, 1), (Field::Rs1, 0)] {
        if let Some((r, file)) = register(g, field)
            && !indirect
        {
            load(a, r, file, word);
        }
    }
    no_trap_yet(a);
    if far < 0 {
        // The target, then as much as it takes, then the instruction.
        let over = a.label();
        a.jump(over);
        a.place(target);
        let start = a.here();
        a.rri(Op::Addi, 13, 0, 2);
        a.jump(after);
        while a.here() < start + far.unsigned_abs() {
            a.raw(1, 2); // c.nop
        }
        a.place(over);
        a.raw(inst.raw, inst.len);
        a.rri(Op::Addi, 13, 0, 1);
    } else {
        if indirect {
            // rs1 = the target, less the offset, plus what the row says: bit 0 of the sum is dropped.
            a.la(inst.rs1, target);
            load(a, reg::T0, RegFile::X, 0);
            a.rrr(Op::Add, inst.rs1, inst.rs1, reg::T0);
            a.li(reg::T0, i64::from(inst.imm) as u64);
            a.rrr(Op::Sub, inst.rs1, inst.rs1, reg::T0);
        }
        let start = a.here();
        a.raw(inst.raw, inst.len);
        a.rri(Op::Addi, 13, 0, 1);
        a.jump(after);
        while a.here() < start + far as u64 {
            a.raw(1, 2);
        }
        a.place(target);
        a.rri(Op::Addi, 13, 0, 2);
    }
    a.place(after);
    match register(g, Field::Rd) {
        Some((rd, _)) if rd != 0 => {
            a.inst(&Inst { rd: reg::T0, imm: 0, ..Inst::new(Op::Auipc) });
            a.rrr(Op::Sub, reg::T0, reg::T0, rd);
            a.rri(Op::Slli, reg::T0, reg::T0, 8);
            a.rrr(Op::Or, 13, 13, reg::T0);
        }
        _ => {}
    }
    a.store(Op::Sd, 13, 0, reg::OUT);
    status(a, false);
    a.rri(Op::Addi, reg::OUT, reg::OUT, 24);
    again_unless_done(a, again);
}
