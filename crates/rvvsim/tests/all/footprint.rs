//! What vector instructions read and write, as tools are told.

use rvv_isa::{Inst, Lmul, Op, Sew, Vtype, encode};
use rvvsim::Config;
use rvvsim::vector::{VectorState, footprint};

fn state(sew: Sew, lmul: Lmul, vl: u64) -> (Config, VectorState) {
    let config = Config::default();
    let mut v = VectorState::new(&config);
    (v.vtype, v.vl) = (Vtype::new(sew, lmul, false, false), vl);
    (config, v)
}

fn inst(inst: Inst) -> Inst {
    Inst { raw: encode(&inst).expect("it encodes"), ..inst }
}

/// Bits of a register, or of several, from `first` on.
fn bits(register: usize, first: usize, count: usize) -> std::ops::Range<usize> {
    register * 128 + first..register * 128 + first + count
}

#[test]
fn sources_are_read_up_to_vl_and_the_destination_is_whole_registers() {
    let (config, v) = state(Sew::E32, Lmul::M2, 5);
    let add = inst(Inst { rd: 4, rs1: 8, rs2: 12, vm: false, ..Inst::new(Op::VaddVv) });
    let print = footprint(&config, &add, &v).expect("it is legal");
    assert_eq!(print.reads, [bits(12, 0, 160), bits(8, 0, 160), bits(0, 0, 5)]);
    assert_eq!(print.writes, [bits(4, 0, 256)]);
    assert_eq!(print.eew, 32);
}

#[test]
fn a_multiply_add_reads_its_destination_and_a_compare_writes_a_mask() {
    let (config, v) = state(Sew::E16, Lmul::M1, 3);
    let macc = inst(Inst { rd: 4, rs1: 8, rs2: 12, ..Inst::new(Op::VmaccVv) });
    let print = footprint(&config, &macc, &v).expect("it is legal");
    assert!(print.reads.contains(&bits(4, 0, 48)));
    let compare = inst(Inst { rd: 4, rs1: 8, rs2: 12, ..Inst::new(Op::VmseqVv) });
    let print = footprint(&config, &compare, &v).expect("it is legal");
    assert_eq!((print.eew, print.writes), (1, vec![bits(4, 0, 128)]));
}

#[test]
fn a_gather_reads_the_whole_group_and_a_segment_store_each_field() {
    let (config, v) = state(Sew::E8, Lmul::M2, 4);
    let gather = inst(Inst { rd: 4, rs1: 8, rs2: 12, ..Inst::new(Op::VrgatherVv) });
    let print = footprint(&config, &gather, &v).expect("it is legal");
    assert!(print.reads.contains(&bits(12, 0, 256)));
    let store = inst(Inst { rd: 4, rs1: 10, nf: 2, ..Inst::new(Op::Vse8V) });
    let print = footprint(&config, &store, &v).expect("it is legal");
    assert_eq!(print.reads, [bits(4, 0, 32), bits(6, 0, 32), bits(8, 0, 32)]);
    assert_eq!((print.writes, print.eew), (vec![], 0));
}

#[test]
fn what_is_reserved_or_not_of_the_vector_unit_has_none() {
    let (config, v) = state(Sew::E32, Lmul::M2, 5);
    let odd = inst(Inst { rd: 5, rs1: 8, rs2: 12, ..Inst::new(Op::VaddVv) });
    assert_eq!(footprint(&config, &odd, &v), None);
    assert_eq!(footprint(&config, &inst(Inst::new(Op::Add)), &v), None);
}
