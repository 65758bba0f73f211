//! Atomics against plain arithmetic, and the rules of LR/SC.

use super::support::{DATA, hart, inst, integers, run};
use rvv_isa::{Class, Inst, Op};
use rvvsim::{Cause, Hart};

/// The low `bits` of `a`, as an unsigned number.
fn unsigned(a: u64, bits: u32) -> i128 {
    i128::from(a) % (1 << bits)
}

/// The low `bits` of `a`, as a signed number.
fn signed(a: u64, bits: u32) -> i128 {
    let value = unsigned(a, bits);
    if value >= 1 << (bits - 1) { value - (1 << bits) } else { value }
}

/// What an AMO writes to memory, given the old value, the operand, and their width.
type Result = fn(u64, u64, u32) -> i128;

const AMOS: [(&str, Result); 9] = [
    ("amoswap", |_, b, _| i128::from(b)),
    ("amoadd", |a, b, _| i128::from(a) + i128::from(b)),
    ("amoand", |a, b, _| i128::from(a & b)),
    ("amoor", |a, b, _| i128::from(a | b)),
    ("amoxor", |a, b, _| i128::from(a ^ b)),
    ("amomin", |a, b, w| signed(a, w).min(signed(b, w))),
    ("amomax", |a, b, w| signed(a, w).max(signed(b, w))),
    ("amominu", |a, b, w| unsigned(a, w).min(unsigned(b, w))),
    ("amomaxu", |a, b, w| unsigned(a, w).max(unsigned(b, w))),
];
const WIDTHS: [(&str, u32); 4] = [("b", 8), ("h", 16), ("w", 32), ("d", 64)];

/// Memory around the operand, which no atomic may touch.
const AROUND: u64 = 0x1122_3344_5566_7788;

/// Puts a value of `bits` at `DATA + 16`, with [`AROUND`] on both sides and under what it does not fill.
fn put(h: &mut Hart, value: u64, bits: u32) {
    for at in [0, 8, 16, 24] {
        h.store(DATA + at, AROUND).unwrap();
    }
    for byte in 0..u64::from(bits / 8) {
        h.store(DATA + 16 + byte, (value >> (8 * byte)) as u8).unwrap();
    }
}

/// The doubleword at `DATA + 16`, once its neighbours are seen to be as [`put`] left them.
fn get(h: &mut Hart) -> u64 {
    assert_eq!(h.load::<u64>(DATA + 8).unwrap(), AROUND);
    assert_eq!(h.load::<u64>(DATA + 24).unwrap(), AROUND);
    h.load(DATA + 16).unwrap()
}

/// What [`get`] gives if memory holds the low `bits` of `value`.
fn filled(value: u64, bits: u32) -> u64 {
    let mask = ((1u128 << bits) - 1) as u64;
    AROUND & !mask | value & mask
}

fn name(stem: &str, width: &str) -> String {
    format!("{stem}.{width}")
}

#[test]
fn amos_compute_and_return_the_old_value_sign_extended() {
    let mut h = hart();
    let values = integers();
    for (stem, result) in AMOS {
        for (width, bits) in WIDTHS {
            let name = name(stem, width);
            for &a in &values {
                for &b in &values {
                    put(&mut h, a, bits);
                    h.set_x(2, DATA + 16);
                    h.set_x(3, b);
                    run(&mut h, &inst(&name)).unwrap();
                    assert_eq!(get(&mut h), filled(result(a, b, bits) as u64, bits), "{name} {a:#x}, {b:#x}");
                    assert_eq!(i128::from(h.x(1) as i64), signed(a, bits), "rd of {name} {a:#x}, {b:#x}");
                }
            }
        }
    }
}

#[test]
fn amocas_swaps_only_if_equal_and_looks_at_its_width_only() {
    let mut h = hart();
    for (width, bits) in WIDTHS {
        let name = name("amocas", width);
        for a in integers() {
            let above = if bits == 64 { 0 } else { 0xa5 << bits };
            for (compare, equal) in
                [(a, true), (a ^ above, true), (a ^ 1, false), (a ^ 1 << (bits - 1), false)]
            {
                put(&mut h, a, bits);
                h.set_x(1, compare);
                h.set_x(2, DATA + 16);
                h.set_x(3, !a);
                run(&mut h, &inst(&name)).unwrap();
                let expected = if equal { !a } else { a };
                assert_eq!(get(&mut h), filled(expected, bits), "{name} {a:#x}, {compare:#x}");
                assert_eq!(i128::from(h.x(1) as i64), signed(a, bits), "rd of {name} {a:#x}");
            }
        }
    }
}

/// Runs `amocas.q` on memory that holds `[1, 2]`: what memory holds then.
fn amocas_q(h: &mut Hart, i: &Inst) -> [u64; 2] {
    h.store(DATA + 16, 1u64).unwrap();
    h.store(DATA + 24, 2u64).unwrap();
    h.set_x(2, DATA + 16);
    run(h, i).unwrap();
    [h.load(DATA + 16).unwrap(), h.load(DATA + 24).unwrap()]
}

#[test]
fn amocas_q_works_on_pairs() {
    let mut h = hart();
    let i = Inst { rd: 10, rs2: 12, ..inst("amocas.q") };
    h.set_x(12, 3);
    h.set_x(13, 4);
    for (compare, memory) in [([1, 2], [3, 4]), ([1, 9], [1, 2]), ([9, 2], [1, 2])] {
        h.set_x(10, compare[0]);
        h.set_x(11, compare[1]);
        assert_eq!(amocas_q(&mut h, &i), memory, "{compare:?}");
        assert_eq!([h.x(10), h.x(11)], [1, 2]);
    }
}

#[test]
fn the_pair_of_x0_is_zero_and_is_not_written() {
    let mut h = hart();
    h.set_x(1, 0x1234);
    // Compared with zero, although x1 is not.
    assert_eq!(amocas_q(&mut h, &Inst { rd: 0, rs2: 12, ..inst("amocas.q") }), [1, 2]);
    // Swapped for zero.
    h.set_x(10, 1);
    h.set_x(11, 2);
    assert_eq!(amocas_q(&mut h, &Inst { rd: 10, rs2: 0, ..inst("amocas.q") }), [0, 0]);
    assert_eq!((h.x(0), h.x(1)), (0, 0x1234));
}

#[test]
fn odd_pairs_are_illegal() {
    let mut h = hart();
    h.set_x(2, DATA);
    for (rd, rs2) in [(11, 12), (10, 13), (31, 31)] {
        let trap = run(&mut h, &Inst { rd, rs2, ..inst("amocas.q") }).unwrap_err();
        assert_eq!(trap.cause, Cause::IllegalInstruction);
    }
}

#[test]
fn an_amo_reads_its_registers_before_it_writes_rd() {
    let mut h = hart();
    put(&mut h, 5, 64);
    h.set_x(2, DATA + 16);
    run(&mut h, &Inst { rd: 2, rs2: 2, ..inst("amoadd.d") }).unwrap();
    assert_eq!((h.x(2), get(&mut h)), (5, DATA + 16 + 5));
}

#[test]
fn an_amo_to_x0_still_happens() {
    let mut h = hart();
    put(&mut h, 5, 64);
    h.set_x(2, DATA + 16);
    h.set_x(3, 7);
    run(&mut h, &Inst { rd: 0, ..inst("amoadd.d") }).unwrap();
    assert_eq!((h.x(0), get(&mut h)), (0, 12));
}

#[test]
fn misaligned_atomics_trap_and_do_nothing() {
    let mut h = hart();
    for op in Op::all().filter(|op| op.class() == Class::Atomic) {
        let size = match op.name().as_bytes().last() {
            Some(b'b') => continue,
            Some(b'h') => 2,
            Some(b'w') => 4,
            Some(b'd') => 8,
            _ => 16,
        };
        put(&mut h, AROUND, 64);
        let i = Inst { rd: 10, rs2: 12, ..inst(op.name()) };
        for offset in [1, size / 2, size - 1] {
            h.set_x(2, DATA + 16 + offset);
            h.set_x(10, 99);
            h.set_x(12, 98);
            let trap = run(&mut h, &i).unwrap_err();
            let lr = op.name().starts_with("lr");
            let cause = if lr { Cause::LoadAddressMisaligned } else { Cause::StoreAddressMisaligned };
            assert_eq!((trap.cause, trap.tval), (cause, DATA + 16 + offset), "{}", op.name());
            assert_eq!((h.x(10), get(&mut h)), (99, AROUND), "{}", op.name());
        }
    }
}

/// Runs LR or SC of that width at an address; the value in `rd`.
fn at(h: &mut Hart, name: &str, address: u64) -> u64 {
    h.set_x(2, address);
    h.set_x(3, 0xdead_beef_cafe_f00d);
    run(h, &inst(name)).unwrap();
    h.x(1)
}

#[test]
fn sc_succeeds_once_after_lr() {
    let mut h = hart();
    for (width, bits) in [("w", 32), ("d", 64)] {
        put(&mut h, 0x8765_4321_8765_4321, bits);
        let loaded = at(&mut h, &name("lr", width), DATA + 16);
        assert_eq!(i128::from(loaded as i64), signed(0x8765_4321_8765_4321, bits));
        assert_eq!(at(&mut h, &name("sc", width), DATA + 16), 0);
        assert_eq!(get(&mut h), filled(0xdead_beef_cafe_f00d, bits));
        // The reservation is gone, and a failure writes nothing.
        put(&mut h, 0, bits);
        assert_eq!(at(&mut h, &name("sc", width), DATA + 16), 1);
        assert_eq!(get(&mut h), filled(0, bits));
    }
}

#[test]
fn sc_fails_without_lr_or_outside_the_reservation_set() {
    let mut h = hart();
    put(&mut h, 0, 64);
    assert_eq!(at(&mut h, "sc.d", DATA + 16), 1);
    at(&mut h, "lr.d", DATA + 16);
    assert_eq!(at(&mut h, "sc.d", DATA + 24), 1);
    // A failed one takes the reservation with it, of whatever address.
    assert_eq!(at(&mut h, "sc.d", DATA + 16), 1);
    // Only the latest LR counts.
    at(&mut h, "lr.w", DATA + 16);
    at(&mut h, "lr.w", DATA + 8);
    assert_eq!(at(&mut h, "sc.w", DATA + 16), 1);
    // The set is the bytes of the LR.
    at(&mut h, "lr.w", DATA + 16);
    assert_eq!(at(&mut h, "sc.d", DATA + 16), 1);
    at(&mut h, "lr.d", DATA + 16);
    assert_eq!(at(&mut h, "sc.w", DATA + 20), 0);
    assert_eq!(h.load::<u64>(DATA + 16).unwrap(), 0xcafe_f00d << 32);
}

#[test]
fn stores_of_the_same_hart_keep_the_reservation() {
    let mut h = hart();
    at(&mut h, "lr.d", DATA + 16);
    h.store(DATA + 16, 1u64).unwrap();
    assert_eq!(at(&mut h, "sc.d", DATA + 16), 0);
}
