//! Words to instructions and back.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rvv_isa::{EncodeError, Inst, Op, decode, encode};

/// A word of the row: its match bits, and anything in the others.
fn word_of(op: Op, rng: &mut StdRng) -> u32 {
    let info = op.info();
    let length = if op.is_compressed() { 0xffff } else { u32::MAX };
    info.match_ | (rng.random::<u32>() & !info.mask & length)
}

#[test]
fn every_instruction_decodes_to_what_encodes_it() {
    let mut rng = StdRng::seed_from_u64(1);
    for op in Op::all() {
        let mut own = 0;
        for _ in 0..2000 {
            let word = word_of(op, &mut rng);
            let Some(inst) = decode(word) else { continue };
            assert_eq!(inst.raw, word);
            assert_eq!(inst.len, if word & 3 == 3 { 4 } else { 2 });
            assert_eq!(encode(&inst), Ok(word), "{inst:?}");
            own += u32::from(inst.op == op);
        }
        assert!(own > 100, "{}: only {own} of 2000 words are its own", op.name());
    }
}

#[test]
fn every_field_set_that_encodes_decodes_to_itself() {
    let mut rng = StdRng::seed_from_u64(2);
    for op in Op::all() {
        let mut encoded = 0;
        for _ in 0..20_000 {
            let mut inst = Inst::new(op);
            for operand in op.info().operands {
                for field in operand.fields() {
                    set(&mut inst, *field, &mut rng);
                }
            }
            let Ok(word) = encode(&inst) else { continue };
            let back = decode(word).expect("what encodes decodes");
            // A row inside this one may take the word; then it is another spelling of the same thing.
            if back.op == op {
                assert_eq!(back, Inst { raw: word, ..inst });
                encoded += 1;
            } else {
                assert!(refines(back.op, op), "{} decodes as {}", op.name(), back.op.name());
            }
        }
        assert!(encoded > 0, "{} never encodes", op.name());
    }
}

fn refines(op: Op, wider: Op) -> bool {
    op.info().refines.is_some_and(|next| next == wider || refines(next, wider))
}

/// Any value at all, but a likely one more often than not.
fn set(inst: &mut Inst, field: rvv_isa::Field, rng: &mut StdRng) {
    use rvv_isa::Field::*;
    let register = |rng: &mut StdRng| rng.random_range(0..36u8);
    match field {
        Rd => inst.rd = register(rng),
        // Half the time what the encodings with one register for both want.
        Rs1 if inst.op.is_compressed() && rng.random() => inst.rs1 = inst.rd,
        Rs1 => inst.rs1 = register(rng),
        Rs2 => inst.rs2 = register(rng),
        Rs3 => inst.rs3 = register(rng),
        Rm => inst.rm = rng.random_range(0..8),
        Nf => inst.nf = rng.random_range(0..9),
        Vm => inst.vm = rng.random(),
        Aq => inst.aq = rng.random(),
        Rl => inst.rl = rng.random(),
        Imm => {
            let bits = rng.random_range(0..=32);
            let value = rng.random::<i32>().checked_shr(32 - bits).unwrap_or(0);
            inst.imm = value & (-1 << [0, 0, 1, 2, 3, 4, 5, 12][rng.random_range(0..8)]);
        }
    }
}

#[test]
fn what_does_not_fit_is_an_error() {
    let fail = |op, change: fn(&mut Inst)| {
        let mut inst = Inst::new(op);
        change(&mut inst);
        encode(&inst).unwrap_err()
    };
    let out_of_range = |e| matches!(e, EncodeError::OutOfRange { .. });
    assert!(out_of_range(fail(Op::Addi, |i| i.imm = 2048)));
    assert!(out_of_range(fail(Op::Addi, |i| i.imm = -2049)));
    assert!(out_of_range(fail(Op::Beq, |i| i.imm = 3)));
    assert!(out_of_range(fail(Op::Lui, |i| i.imm = 0x1001)));
    assert!(out_of_range(fail(Op::Slli, |i| i.imm = 64)));
    assert!(out_of_range(fail(Op::Slliw, |i| i.imm = 32)));
    assert!(out_of_range(fail(Op::VaddVi, |i| i.imm = 16)));
    assert!(out_of_range(fail(Op::VsllVi, |i| i.imm = -1)));
    assert!(out_of_range(fail(Op::Add, |i| i.rd = 32)));
    assert!(out_of_range(fail(Op::Vle8V, |i| i.nf = 8)));
    assert!(out_of_range(fail(Op::CSub, |i| i.rd = 7)));
    assert!(out_of_range(fail(Op::CAdd, |i| (i.rd, i.rs1, i.rs2) = (1, 2, 3))));
    let reserved = |e| matches!(e, EncodeError::Reserved { .. });
    assert!(reserved(fail(Op::FaddS, |i| i.rm = 5)));
    assert!(reserved(fail(Op::AmocasQ, |i| i.rd = 1)));
    assert!(reserved(fail(Op::CJr, |_| ())));
    assert_eq!(fail(Op::Addi, |i| i.imm = 2048).to_string(), "addi: imm12 = 2048 does not fit");
}
