//! The decoder against a plain scan of the table, the reserved forms, and what compressed instructions expand
//! to.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rvv_isa::{Inst, Isa, Op, Operand, decode, encode};

/// The reserved words of a row, as the manual's text has them.
fn is_reserved(op: Op, word: u32) -> bool {
    let (rd, rs2) = (word >> 7 & 31, word >> 20 & 31);
    let (c_rs2, c_imm) = (word >> 2 & 31, word & 0x107c);
    let rounds = op.info().operands.iter().any(|o| matches!(o, Operand::Rm | Operand::RmExact));
    match op {
        Op::AmocasQ => rd % 2 == 1 || rs2 % 2 == 1,
        // aes64ks1i: round numbers above 10.
        Op::Aes64ks1i => word >> 20 & 15 > 10,
        Op::CAddi4spn => word >> 5 & 0xff == 0,
        Op::CLui => rd == 2 || c_imm == 0,
        Op::CAddi16sp => c_imm == 0,
        Op::CAddi | Op::CAddiw | Op::CLwsp | Op::CLdsp | Op::CJr | Op::CJalr => rd == 0,
        Op::CMv | Op::CAdd => c_rs2 == 0,
        _ => rounds && matches!(word >> 12 & 7, 5 | 6),
    }
}

/// What a word is: of the rows that take it the one with the most fixed bits.
fn scan(word: u32) -> Option<Op> {
    let word = if word & 3 == 3 { word } else { word & 0xffff };
    let rows = Op::all().filter(|op| op.is_compressed() == (word & 3 != 3));
    let takes = rows.filter(|op| word & op.info().mask == op.info().match_ && !is_reserved(*op, word));
    takes.max_by_key(|op| op.info().mask.count_ones())
}

fn check(word: u32) {
    assert_eq!(decode(word).map(|inst| inst.op), scan(word), "{word:#010x}");
}

#[test]
fn every_halfword_decodes_as_the_scan_says() {
    let mut valid = 0;
    for word in (0..=0xffffu32).filter(|word| word & 3 != 3) {
        check(word);
        // The upper half belongs to the next instruction.
        let inst = decode(word | 0xabcd_0000);
        assert_eq!(inst, decode(word));
        valid += u32::from(inst.is_some_and(|inst| inst.raw == word && inst.len == 2));
    }
    assert!((40_000..49_152).contains(&valid), "{valid}");
}

#[test]
fn random_words_decode_as_the_scan_says() {
    let mut rng = StdRng::seed_from_u64(7);
    for _ in 0..100_000 {
        check(rng.random::<u32>() | 3);
    }
    // Near misses: a word of a row with one bit changed.
    for op in Op::all() {
        let info = op.info();
        for _ in 0..200 {
            let word = info.match_ | (rng.random::<u32>() & !info.mask);
            check(word);
            check(word ^ 1 << rng.random_range(0..32));
        }
    }
}

#[test]
fn no_instruction() {
    for word in
        [0, u32::MAX, 0xffff_0000, 0x0000_0073 | 1 << 7, 0x8002, 0x6001, 0x6101, 0x2001, 0x4002, 0x6002]
    {
        assert_eq!(decode(word), None, "{word:#x}");
    }
}

#[test]
fn a_row_that_is_not_enabled_leaves_the_word_to_the_one_it_refines() {
    let op = |isa: &str, word| Isa::parse(isa).unwrap().decode(word).map(|inst| inst.op);
    let (pause, zext_h, prefetch_r, ntl_p1, c_ntl_p1, c_mop_1) =
        (0x0100_000f, 0x0800_403b, 0x0010_6013, 0x0020_0033, 0x900a, 0x6081);
    assert_eq!(op("rv64i", pause), Some(Op::Fence));
    assert_eq!(op("rv64i_zihintpause", pause), Some(Op::Pause));
    assert_eq!(op("rv64i", zext_h), None);
    assert_eq!(op("rv64i_zbb", zext_h), Some(Op::ZextH));
    assert_eq!(op("rv64i_zbkb", zext_h), Some(Op::Packw));
    assert_eq!(op("rv64i", prefetch_r), Some(Op::Ori));
    assert_eq!(op("rv64i_zicbop", prefetch_r), Some(Op::PrefetchR));
    assert_eq!(op("rv64i", ntl_p1), Some(Op::Add));
    assert_eq!(op("rv64i_zihintntl", ntl_p1), Some(Op::NtlP1));
    assert_eq!(op("rv64ic", c_ntl_p1), Some(Op::CAdd));
    assert_eq!(op("rv64ic_zihintntl", c_ntl_p1), Some(Op::CNtlP1));
    assert_eq!(op("rv64i_zihintntl", c_ntl_p1), None);
    assert_eq!(op("rv64ic", c_mop_1), None);
    assert_eq!(op("rv64ic_zcmop", c_mop_1), Some(Op::CMopN));
    // c.fld is there for C with D, whichever way they come.
    assert_eq!(op("rv64ifc", 0x2000), None);
    assert_eq!(op("rv64ifdc", 0x2000), Some(Op::CFld));
    assert_eq!(op("rv64i_zcd", 0x2000), Some(Op::CFld));
    assert_eq!(op("rv64id_zca", 0x2000), None);
    // vadd.vv, vfadd.vv
    assert_eq!(op("rv64gc", 0x0221_80d7), None);
    assert_eq!(op("rv64i_zve32x", 0x0221_80d7), Some(Op::VaddVv));
    assert_eq!(op("rv64i_zve64x", 0x0221_90d7), None);
    assert_eq!(op("rv64i_zve32f", 0x0221_90d7), Some(Op::VfaddVv));
}

#[test]
fn fields_that_the_match_bits_settle_are_filled_in() {
    let vm = [
        (Op::VadcVvm, false),
        (Op::VmergeVim, false),
        (Op::VfmergeVfm, false),
        (Op::VmadcVv, true),
        (Op::VmvVV, true),
        (Op::VmandMm, true),
        (Op::VcompressVm, true),
        (Op::VaesemVv, true),
        (Op::Vl2re8V, true),
        (Op::Vsetvli, true),
        (Op::Vsetvl, true),
        (Op::Add, true),
    ];
    for (op, vm) in vm {
        assert_eq!(decode(op.info().match_).unwrap().vm, vm, "{}", op.name());
    }
    for (op, nf) in [(Op::Vl1re16V, 0), (Op::Vl4re8V, 3), (Op::Vs8rV, 7), (Op::VlmV, 0), (Op::VaddVv, 0)] {
        assert_eq!(decode(op.info().match_).unwrap().nf, nf, "{}", op.name());
    }
    // An operand is what the word says: vlseg3e32.v, masked.
    let inst = decode(0x4005_6107).unwrap();
    assert_eq!((inst.op, inst.nf, inst.vm, inst.rd, inst.rs1), (Op::Vle32V, 2, false, 2, 10));
}

/// Compressed instructions by their bits, and what they are short for.
#[test]
fn compressed_instructions_have_the_fields_of_what_they_expand_to() {
    type Change = fn(&mut Inst);
    let cases: [(u16, Op, Op, Change); 24] = [
        (0x1fe8, Op::CAddi4spn, Op::Addi, |i| (i.rd, i.rs1, i.imm) = (10, 2, 1020)),
        (0x55f4, Op::CLw, Op::Lw, |i| (i.rd, i.rs1, i.imm) = (13, 11, 108)),
        (0x7de8, Op::CLd, Op::Ld, |i| (i.rd, i.rs1, i.imm) = (10, 11, 248)),
        (0xd5f4, Op::CSw, Op::Sw, |i| (i.rs2, i.rs1, i.imm) = (13, 11, 108)),
        (0x157d, Op::CAddi, Op::Addi, |i| (i.rd, i.rs1, i.imm) = (10, 10, -1)),
        (0x357d, Op::CAddiw, Op::Addiw, |i| (i.rd, i.rs1, i.imm) = (10, 10, -1)),
        (0x557d, Op::CLi, Op::Addi, |i| (i.rd, i.imm) = (10, -1)),
        (0x757d, Op::CLui, Op::Lui, |i| (i.rd, i.imm) = (10, -4096)),
        (0x7101, Op::CAddi16sp, Op::Addi, |i| (i.rd, i.rs1, i.imm) = (2, 2, -512)),
        (0x9561, Op::CSrai, Op::Srai, |i| (i.rd, i.rs1, i.imm) = (10, 10, 56)),
        (0x8d0d, Op::CSub, Op::Sub, |i| (i.rd, i.rs1, i.rs2) = (10, 10, 11)),
        (0xbffd, Op::CJ, Op::Jal, |i| i.imm = -2),
        (0xdd7d, Op::CBeqz, Op::Beq, |i| (i.rs1, i.imm) = (10, -2)),
        (0x1502, Op::CSlli, Op::Slli, |i| (i.rd, i.rs1, i.imm) = (10, 10, 32)),
        (0x557e, Op::CLwsp, Op::Lw, |i| (i.rd, i.rs1, i.imm) = (10, 2, 252)),
        (0x757e, Op::CLdsp, Op::Ld, |i| (i.rd, i.rs1, i.imm) = (10, 2, 504)),
        (0xdfaa, Op::CSwsp, Op::Sw, |i| (i.rs2, i.rs1, i.imm) = (10, 2, 252)),
        (0x8502, Op::CJr, Op::Jalr, |i| i.rs1 = 10),
        (0x9502, Op::CJalr, Op::Jalr, |i| (i.rd, i.rs1) = (1, 10)),
        (0x852e, Op::CMv, Op::Add, |i| (i.rd, i.rs2) = (10, 11)),
        (0x9002, Op::CEbreak, Op::Ebreak, |_| ()),
        (0x9d61, Op::CZextB, Op::Andi, |i| (i.rd, i.rs1, i.imm) = (10, 10, 255)),
        (0x9d75, Op::CNot, Op::Xori, |i| (i.rd, i.rs1, i.imm) = (10, 10, -1)),
        (0x9d69, Op::CZextH, Op::Packw, |i| (i.rd, i.rs1) = (10, 10)),
    ];
    for (word, op, base, change) in cases {
        let inst = decode(word.into()).unwrap();
        let mut expected = Inst { op, len: 2, raw: word.into(), ..Inst::new(base) };
        change(&mut expected);
        assert_eq!(inst, expected, "{word:#06x}");
        assert_eq!(op.base(), base);
    }
}

/// The fields of every compressed instruction and every hint are such that its base can be encoded with them.
#[test]
fn fields_fit_the_base() {
    let mut rng = StdRng::seed_from_u64(8);
    for op in Op::all().filter(|op| op.base() != *op) {
        let info = op.info();
        for _ in 0..500 {
            let word = info.match_ | (rng.random::<u32>() & !info.mask);
            let Some(inst) = decode(word).filter(|inst| inst.op == op) else { continue };
            let base = Inst { op: op.base(), ..inst };
            let encoded = encode(&base).unwrap_or_else(|e| panic!("{inst:?}: {e}"));
            // A 32-bit hint is its base; only the low bits of a prefetch are not part of its offset.
            if inst.len == 4 {
                let kind = if op.base() == Op::Ori { 0x1f << 20 } else { 0 };
                assert_eq!(encoded & !kind, word & !kind, "{}", info.name);
            }
        }
    }
}
