//! The encodings of an instruction to test: immediates, rounding modes, registers.

use super::Shape;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_isa::{Field, Inst, Op, RegFile, csr, encode};

/// How many rows an encoding deserves.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// The first of its kind.
    Most,
    /// One of a few dozen immediates.
    Some,
    /// One of many, or a variation in registers.
    Few,
}

/// Integer registers that the programs around the tests leave alone.
const FREE: [u8; 16] = [0, 1, 2, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 16, 29, 31];

/// CSRs that hold what is written to them, or some of it, with no effect on the program, and one that is
/// read-only.
const CSRS: [u16; 13] = [
    csr::MSCRATCH,
    csr::FFLAGS,
    csr::FRM,
    csr::FCSR,
    csr::MEPC,
    csr::MCAUSE,
    csr::MTVAL,
    csr::SSCRATCH,
    csr::SEPC,
    csr::SCAUSE,
    csr::STVAL,
    csr::STVEC,
    csr::MHARTID,
];

/// The encodings of an instruction to test.
pub fn of(op: Op) -> Vec<(Inst, Weight)> {
    let first = default_registers(op);
    let shape = Shape::of(op);
    let mut out: Vec<(Inst, Weight)> = Vec::new();
    match shape {
        // Their offsets are the program's to choose.
        Shape::Branch | Shape::Jump => {
            out.extend(offsets(op).into_iter().map(|imm| (Inst { imm, ..first }, Weight::Most)));
        }
        Shape::Csr => {
            for number in CSRS {
                let inst = Inst { imm: number.into(), ..first };
                if has(op, Field::Rs1, Some(RegFile::X)) {
                    out.push((inst, Weight::Some));
                    out.push((Inst { rs1: 0, ..inst }, Weight::Few));
                    out.push((Inst { rd: 0, ..inst }, Weight::Few));
                    out.push((Inst { rd: inst.rs1, ..inst }, Weight::Few));
                } else {
                    out.extend([0, 1, 7, 16, 31].map(|rs1| (Inst { rs1, ..inst }, Weight::Few)));
                }
            }
        }
        _ => {
            let immediates = immediates(op, &first);
            let few = immediates.len() <= 24;
            for (i, &imm) in immediates.iter().enumerate() {
                let weight = match (immediates.len(), few) {
                    (1, _) => Weight::Most,
                    (_, true) => Weight::Some,
                    _ if i % 8 == 0 => Weight::Some,
                    _ => Weight::Few,
                };
                out.push((Inst { imm, ..first }, weight));
            }
        }
    }
    // Constants in place of a register.
    if has(op, Field::Rs1, None) && shape != Shape::Csr {
        out = (0..32).map(|rs1| (Inst { rs1, ..first }, Weight::Few)).collect();
    }
    if has(op, Field::Aq, None) {
        for bits in 1..4 {
            out.push((Inst { aq: bits & 1 != 0, rl: bits & 2 != 0, ..first }, Weight::Few));
        }
    }
    let rounds = has(op, Field::Rm, None);
    if rounds {
        out = vec![(Inst { rm: 7, ..first }, Weight::Most)];
        out.extend((0..5).map(|rm| (Inst { rm, ..first }, Weight::Few)));
    }
    if matches!(shape, Shape::Compute) {
        out.extend(other_registers(op, &out[0].0).into_iter().map(|inst| (inst, Weight::Few)));
    }
    for (inst, _) in &mut out {
        inst.raw = encode(inst).expect("only encodable ones were kept");
    }
    if rounds {
        // Reserved rounding modes are no encodings; the bits are put in by hand.
        for rm in [5, 6] {
            let word = encode(&Inst { rm: 0, ..first }).expect("rounding to nearest encodes");
            out.push((Inst { raw: word | rm << 12, ..first }, Weight::Few));
        }
    }
    out
}

fn has(op: Op, field: Field, file: Option<RegFile>) -> bool {
    op.info().operands.iter().any(|o| o.fields().contains(&field) && o.reg_file() == file)
}

/// The instruction with the registers that the programs expect by default.
fn default_registers(op: Op) -> Inst {
    let mut inst = Inst::new(op);
    let atomic = matches!(Shape::of(op), Shape::Atomic | Shape::StoreConditional);
    for operand in op.info().operands.iter().filter(|o| o.reg_file().is_some()) {
        match operand.fields() {
            [Field::Rd] => inst.rd = 10,
            // A register pair would take in x11.
            [Field::Rs1] => inst.rs1 = if atomic { 14 } else { 11 },
            [Field::Rs2] => inst.rs2 = 12,
            [Field::Rs3] => inst.rs3 = 13,
            _ => (inst.rd, inst.rs1) = (10, 10),
        }
    }
    if op.name() == "c.jalr" || op.name() == "c.jr" {
        inst.rs1 = 11;
    }
    inst
}

/// Other assignments of registers: the same register twice, `x0`, any.
fn other_registers(op: Op, first: &Inst) -> Vec<Inst> {
    let mut rng = ChaCha8Rng::seed_from_u64(op as u64);
    let mut out = Vec::new();
    let operands: Vec<_> = op.info().operands.iter().filter(|o| o.reg_file().is_some()).collect();
    if operands.is_empty() {
        return out;
    }
    let mut pick = |file| match file {
        RegFile::X => FREE[rng.random_range(0..FREE.len())],
        _ => rng.random_range(0..32),
    };
    for attempt in 0..60 {
        let mut inst = *first;
        let mut last = None;
        for operand in &operands {
            let file = operand.reg_file().expect("filtered");
            // The first few attempts repeat a register.
            let reg = match last {
                Some((f, r)) if f == file && attempt < 12 => r,
                _ => pick(file),
            };
            last = Some((file, reg));
            for field in operand.fields() {
                match field {
                    Field::Rd => inst.rd = reg,
                    Field::Rs1 => inst.rs1 = reg,
                    Field::Rs2 => inst.rs2 = reg,
                    Field::Rs3 => inst.rs3 = reg,
                    _ => {}
                }
            }
        }
        // Another instruction may have that encoding (c.jr is c.mv with rs2 = 0).
        let own = encode(&inst).is_ok_and(|word| rvv_isa::decode(word).is_some_and(|d| d.op == op));
        if own && !out.contains(&inst) {
            out.push(inst);
        }
        if out.len() == 6 {
            break;
        }
    }
    out
}

/// The immediates of an instruction: all if they are few, else its corners.
fn immediates(op: Op, first: &Inst) -> Vec<i32> {
    if !has(op, Field::Imm, None) {
        return vec![first.imm];
    }
    let fits = |&imm: &i32| {
        let word = encode(&Inst { imm, ..*first });
        word.is_ok_and(|word| rvv_isa::decode(word).is_some_and(|d| d.op == op))
    };
    let all: Vec<i32> = (-64..128).filter(fits).collect();
    // Shift amounts, six-bit immediates, may-be-operations: all of them.
    let wide = (0..20).any(|k| fits(&(128 << k)) || fits(&((128 << k) | 1)));
    if !wide {
        return all;
    }
    let mut corners = Vec::new();
    for k in 0..32 {
        let power = 1_i32 << k;
        for v in [power, power.wrapping_sub(1), power.wrapping_neg(), power.wrapping_neg().wrapping_sub(1)] {
            corners.push(v);
            corners.push(v & !0xfff);
            corners.push(v & !0xf);
        }
    }
    corners.extend([0, 0x555, -0x556, 0x1234_5000, -0x1234_5000]);
    corners.retain(fits);
    corners.sort_unstable();
    corners.dedup();
    if Shape::of(op) == Shape::Compute { corners } else { thin(corners, 12) }
}

/// About `most` of the values, evenly, the first and the last among them.
fn thin(values: Vec<i32>, most: usize) -> Vec<i32> {
    if values.len() <= most {
        return values;
    }
    let last = values.len() - 1;
    (0..most).map(|i| values[i * last / (most - 1)]).collect()
}

/// Offsets of a jump or branch: near and far, both ways. Zero where there is none.
fn offsets(op: Op) -> Vec<i32> {
    match op.name() {
        "jalr" => vec![0, 4, -4, 1, 2047, -2048],
        "c.jr" | "c.jalr" => vec![0],
        "jal" => vec![16, 0x7ffe, 0x7_fffe, -16, -0x8_0000],
        "c.j" => vec![16, 2046, -16, -2048],
        "c.beqz" | "c.bnez" => vec![16, 254, -16, -256],
        _ => vec![16, 4094, -16, -4096],
    }
}
