//! What a core may choose and has no option for: the configuration decides, and nothing else changes.

use rvv_isa::{Inst, Lmul, Op, Sew, Vtype, encode};
use rvvsim::config::UnorderedSum;
use rvvsim::{Config, Hart, RAM_BASE};

fn hart(config: Config, sew: Sew, vl: u64) -> Hart {
    let mut hart = Hart::bare(Config { mem: 0x10000, ..config }).expect("64 KiB");
    let v = hart.vector_mut();
    (v.vtype, v.vl) = (Vtype::new(sew, Lmul::M1, false, false), vl);
    hart
}

fn run(hart: &mut Hart, inst: Inst) -> rvvsim::Exec {
    let inst = Inst { raw: encode(&inst).expect("it encodes"), ..inst };
    hart.execute(&inst).expect("it has a handler")
}

fn write_floats(hart: &mut Hart, register: usize, values: &[f32]) {
    let at = register * hart.vector().vlenb;
    for (i, value) in values.iter().enumerate() {
        hart.vector_mut().registers_mut()[at + 4 * i..][..4].copy_from_slice(&value.to_le_bytes());
    }
}

fn bytes(hart: &Hart, register: usize, len: usize) -> Vec<u8> {
    hart.vector().registers()[register * hart.vector().vlenb..][..len].to_vec()
}

/// `1e8 + 1 - 1e8 + 1` and a scalar of 1, under a mask if there is one.
fn sum(op: Op, order: UnorderedSum, mask: Option<u8>) -> f32 {
    let mut hart = hart(Config { unordered_sum: order, ..Config::default() }, Sew::E32, 4);
    write_floats(&mut hart, 8, &[1e8, 1.0, -1e8, 1.0]);
    write_floats(&mut hart, 9, &[1.0]);
    hart.vector_mut().registers_mut()[0] = mask.unwrap_or(0);
    run(&mut hart, Inst { rd: 10, rs2: 8, rs1: 9, vm: mask.is_none(), ..Inst::new(op) })
        .expect("it is legal");
    f32::from_le_bytes(bytes(&hart, 10, 4).try_into().expect("four bytes"))
}

#[test]
fn an_unordered_sum_adds_in_the_order_of_the_core() {
    let unordered = Op::from_name("vfredusum.vs").expect("there is one");
    let ordered = Op::from_name("vfredosum.vs").expect("there is one");
    // ((((1 + 1e8) + 1) - 1e8) + 1), where the ones are lost but the last.
    assert_eq!(sum(unordered, UnorderedSum::InOrder, None), 1.0);
    // (1e8 - 1e8) + (1 + 1), and the scalar.
    assert_eq!(sum(unordered, UnorderedSum::Tree, None), 3.0);
    assert_eq!(sum(ordered, UnorderedSum::Tree, None), 1.0, "the order of this one is fixed");
    // Elements that are not active do not count, nor do nodes without any.
    assert_eq!(sum(unordered, UnorderedSum::Tree, Some(0b1010)), 3.0);
    assert_eq!(sum(unordered, UnorderedSum::Tree, Some(0)), 1.0);
}

#[test]
fn a_widening_sum_widens_before_the_tree() {
    let op = Op::from_name("vfwredusum.vs").expect("there is one");
    let result = |order| {
        let mut hart = hart(Config { unordered_sum: order, ..Config::default() }, Sew::E32, 4);
        write_floats(&mut hart, 8, &[1e30, 1.0, -1e30, 1.0]);
        run(&mut hart, Inst { rd: 10, rs2: 8, rs1: 9, ..Inst::new(op) }).expect("it is legal");
        f64::from_le_bytes(bytes(&hart, 10, 8).try_into().expect("eight bytes"))
    };
    assert_eq!((result(UnorderedSum::InOrder), result(UnorderedSum::Tree)), (1.0, 2.0));
}

#[test]
fn arithmetic_with_vstart_traps_where_the_core_never_leaves_one() {
    for allowed in [true, false] {
        let config = Config { vstart_in_arithmetic: allowed, ..Config::default() };
        let mut hart = hart(config, Sew::E32, 4);
        hart.vector_mut().vstart = 1;
        let add = Inst { rd: 8, rs2: 9, rs1: 10, ..Inst::new(Op::VaddVv) };
        match run(&mut hart, add) {
            Ok(()) => assert!(allowed),
            Err(trap) => {
                assert!(!allowed && trap.why.contains("norm:vstart_vtype_dep"), "{}", trap.why);
                assert_eq!(hart.vector().vstart, 1, "norm:vstart_unmodified");
            }
        }
        // Loads are what vstart is for.
        hart.vector_mut().vstart = 1;
        hart.set_register("a0", RAM_BASE);
        let load = Inst { rd: 8, rs1: 10, ..Inst::new(Op::from_name("vle32.v").expect("there is one")) };
        assert!(run(&mut hart, load).is_ok());
    }
}

#[test]
fn a_segment_that_traps_midway_is_loaded_in_part_or_not_at_all() {
    for partial in [true, false] {
        let mut hart = hart(Config { partial_segments: partial, ..Config::default() }, Sew::E32, 2);
        hart.memory_mut()[0xfff4..].fill(0x11);
        hart.vector_mut().registers_mut().fill(0xee);
        // Segment 0 is in memory, and the first field of segment 1.
        hart.set_register("a0", RAM_BASE + 0xfff4);
        let op = Op::from_name("vle32.v").expect("there is one");
        let load = Inst { rd: 8, rs1: 10, nf: 1, ..Inst::new(op) };
        run(&mut hart, load).expect_err("there is no memory behind");
        assert_eq!(hart.vector().vstart, 1);
        assert_eq!(bytes(&hart, 8, 4), [0x11; 4]);
        let second = if partial { 0x11 } else { 0xee };
        assert_eq!(bytes(&hart, 8, 8)[4..], [second; 4], "the first field of the segment that traps");
        assert_eq!(bytes(&hart, 9, 8)[4..], [0xee; 4]);
    }
}
