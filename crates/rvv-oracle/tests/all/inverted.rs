//! Whether a call can be seen from outside: its result is inverted, and the output looked at.

use rvv_ir::Program;
use rvv_oracle::{Options, evaluate, evaluate_inverted};

/// For each call of main, whether inverting what it writes changes a defined bit of the output.
fn visible(body: &str) -> Vec<bool> {
    let text = format!(
        "rvv-ir 1\ndata a: i32[8] = seed 1 bits\ndata k: u8[1] = [0x5]\nout o: i32[8] = zero\nout p: u64[1] \
         = zero\n\
         main {{\n var x: i32m1\n var y: i32m1\n var m: b32\n var n: ulong\n {body}\n}}"
    );
    let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let options = Options::new(128);
    let right = evaluate(&program, &options).unwrap();
    let differs = |call| {
        let Ok(other) = evaluate_inverted(&program, &options, call) else { return false };
        right.outputs.iter().zip(&other.outputs).any(|(a, b)| {
            let bits = |i: usize| (a.bytes[i] ^ b.bytes[i]) & a.defined[i] & b.defined[i];
            (0..a.bytes.len()).any(|i| bits(i) != 0)
        })
    };
    (0..program.calls().len()).map(differs).collect()
}

#[test]
fn what_is_stored_is_seen() {
    assert_eq!(visible("x = vle32_v_i32m1(&a[0], 4) vse32_v_i32m1(&o[0], x, 4)"), [true, true]);
}

#[test]
fn what_is_overwritten_unused_or_never_written_is_not() {
    // Overwritten before it is read.
    let overwritten = "x = vle32_v_i32m1(&a[0], 4) x = vle32_v_i32m1(&a[4], 4) vse32_v_i32m1(&o[0], x, 4)";
    assert_eq!(visible(overwritten), [false, true, true]);
    // Multiplied by zero.
    let lost = "x = vle32_v_i32m1(&a[0], 4) y = vmul_vx_i32m1(x, 0x0, 4) vse32_v_i32m1(&o[0], y, 4)";
    assert_eq!(visible(lost), [false, true, true]);
    // Never stored.
    assert_eq!(visible("x = vle32_v_i32m1(&a[0], 4)"), [false]);
    // vl = 0: what is kept is not written.
    let none = "x = vle32_v_i32m1(&a[0], 4) x = vadd_vv_i32m1_tu(x, x, x, 0) vse32_v_i32m1(&o[0], x, 4)";
    assert_eq!(visible(none), [true, false, true]);
}

#[test]
fn only_active_elements_are_written() {
    // Elements 0 and 2 are active; element 1 is kept by the policy and is not the addition's doing.
    let masked = |index: u32| {
        let body = format!(
            "x = vle32_v_i32m1(&a[0], 4) m = vlm_v_b32(&k[0], 4) y = vle32_v_i32m1(&a[4], 4) \
             y = vadd_vv_i32m1_mu(m, y, x, x, 4) y = vslidedown_vx_i32m1(y, {index}, 4) \
             vse32_v_i32m1(&o[0], y, 1)"
        );
        visible(&body)[3]
    };
    assert_eq!([0, 1, 2, 3].map(masked), [true, false, true, false]);
}

#[test]
fn scalars_and_masks_are_seen() {
    let body = "m = vlm_v_b32(&k[0], 4) n = vcpop_m_b32(m, 4) put p[0] = n";
    assert_eq!(visible(body), [false, true], "the opposite of two of four is two of four");
    let body = "m = vlm_v_b32(&k[0], 3) n = vcpop_m_b32(m, 3) put p[0] = n";
    assert_eq!(visible(body), [true, true]);
}
