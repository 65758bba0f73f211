//! Small programs, read from text, with what they must print worked out by hand.

use rvv_ir::{Expected, Program};
use rvv_oracle::{EvalError, Options, VlChoice, evaluate};

fn program(text: &str) -> Program {
    let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let again: Program = program.to_string().parse().unwrap_or_else(|e| panic!("{e}\n{program}"));
    assert_eq!(program, again, "the text is not read back as it was written");
    program
}

fn run(text: &str, vlen: u32) -> Result<Expected, EvalError> {
    evaluate(&program(text), &Options::new(vlen))
}

/// The elements of the first output, as text: `?` for one that is not wholly defined.
fn printed(text: &str, vlen: u32) -> String {
    let program = program(text);
    let expected = evaluate(&program, &Options::new(vlen)).unwrap_or_else(|e| panic!("{e}"));
    let (_, buffer) = program.outputs().next().expect("an output");
    let size = buffer.elem.bytes() as usize;
    let out = &expected.outputs[0];
    let element = |i: usize| {
        let range = i * size..(i + 1) * size;
        if out.defined[range.clone()].iter().any(|d| *d != 0xff) {
            return "?".to_string();
        }
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&out.bytes[range]);
        u64::from_le_bytes(bytes).to_string()
    };
    (0..buffer.len).map(element).collect::<Vec<_>>().join(" ")
}

fn refused(text: &str, vlen: u32) -> String {
    run(text, vlen).expect_err("it should be refused").to_string()
}

const STRIP: &str = "rvv-ir 1
# a strip-mined addition
data a: i32[10] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
data b: i32[10] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100]
out c: i32[10] = zero
param n: size = 10

main {
  var i: size
  var vl: size
  var x: i32m1
  var y: i32m1
  strip e32m1 n as i, vl {
    x = vle32_v_i32m1(&a[i], vl)
    y = vle32_v_i32m1(&b[i], vl)
    x = overloaded vadd_vv_i32m1(x, y, vl)
    vse32_v_i32m1(&c[i], x, vl)
  }
}
";

#[test]
fn a_strip_mined_loop_means_the_same_at_every_vlen() {
    for vlen in [64, 128, 256, 65536] {
        assert_eq!(printed(STRIP, vlen), "11 22 33 44 55 66 77 88 99 110");
        let half = Options { vl: VlChoice::Half, ..Options::new(vlen) };
        let outputs = |e: rvv_ir::Expected| e.outputs;
        assert_eq!(evaluate(&program(STRIP), &half).map(outputs), run(STRIP, vlen).map(outputs));
    }
}

#[test]
fn agnostic_elements_are_undefined_and_undisturbed_ones_are_kept() {
    let text = |store: &str| {
        format!(
            "rvv-ir 1
data a: u16[8] = [1, 2, 3, 4, 5, 6, 7, 8]
data m: u8[1] = [0x05]
out c: u16[8] = zero
main {{
  var x: u16m1
  var y: u16m1
  var k: b16
  x = vle16_v_u16m1(&a[0], 8)
  k = vlm_v_b16(&m[0], 8)
  {store}
  vse16_v_u16m1(&c[0], y, 8)
}}
"
        )
    };
    assert_eq!(printed(&text("y = vadd_vx_u16m1(x, 0x64, 4)"), 128), "101 102 103 104 ? ? ? ?");
    assert_eq!(printed(&text("y = vadd_vx_u16m1_tu(x, x, 0x64, 4)"), 128), "101 102 103 104 5 6 7 8");
    assert_eq!(printed(&text("y = vadd_vx_u16m1_m(k, x, 0x64, 4)"), 128), "101 ? 103 ? ? ? ? ?");
    assert_eq!(printed(&text("y = vadd_vx_u16m1_tumu(k, x, x, 0x64, 4)"), 128), "101 2 103 4 5 6 7 8");
    assert_eq!(printed(&text("y = vadd_vx_u16m1_mu(k, x, x, 0x64, 4)"), 128), "101 2 103 4 ? ? ? ?");
    assert_eq!(printed(&text("y = vslideup_vx_u16m1(x, x, 3, 6)"), 128), "1 2 3 1 2 3 ? ?");
    assert_eq!(printed(&text("y = vslidedown_vx_u16m1(x, 6, 4)"), 128), "7 8 0 0 ? ? ? ?");
    assert_eq!(printed(&text("y = vcompress_vm_u16m1_tu(x, x, k, 8)"), 128), "1 3 3 4 5 6 7 8");
    assert_eq!(printed(&text("y = viota_m_u16m1(k, 8)"), 128), "0 1 1 2 2 2 2 2");
    assert_eq!(printed(&text("y = vredsum_vs_u16m1_u16m1(x, x, 8)"), 128), "37 ? ? ? ? ? ? ?");
}

#[test]
fn what_has_no_meaning_is_refused_with_its_place() {
    let body = |stmts: &str| {
        format!(
            "rvv-ir 1
data a: i32[4] = [1, 2, 3, 4]
data m: u8[1] = [0xf]
out c: i32[4] = zero
main {{
  var x: i32m1
  var y: i32m1
  var k: b32
  var s: i32
  {stmts}
}}
"
        )
    };
    let message = refused(&body("x = vle32_v_i32m1(&a[1], 4)"), 128);
    assert_eq!(message, "main, statement 1: an access to byte 16 of `a`, which has 16");
    let message = refused(&body("x = vle32_v_i32m1(&a[0], 4)\n  y = vadd_vv_i32m1(x, x, 8)"), 128);
    assert_eq!(message, "main, statement 2: vl is 8; VLMAX of `__riscv_vadd_vv_i32m1` is 4 at VLEN 128");
    let undefined = "x = vundefined_i32m1()\n  s = vmv_x_s_i32m1_i32(x)\n  if s == 0x1 {\n  y = x\n  }";
    assert_eq!(refused(&body(undefined), 128), "main, statement 3: `s` is undefined and decides a branch");
    let masked =
        "x = vle32_v_i32m1(&a[0], 4)\n  k = vmseq_vv_i32m1_b32(x, x, 2)\n  x = vle32_v_i32m1_m(k, &a[0], 4)";
    let message = refused(&body(masked), 128);
    assert_eq!(message, "main, statement 3: bit 2 of the mask of `__riscv_vle32_v_i32m1_m` is undefined");
    let message = refused(&body("y = x"), 128);
    assert_eq!(message, "main, statement 1: `x` is read where it may not have been assigned");
}

/// A search: strips of 4 until one has a 7, then the rest is left alone.
const SEARCH: &str = "rvv-ir 1
data a: u32[12] = [1, 2, 3, 4, 5, 7, 6, 7, 8, 9, 10, 11]
out b: u32[12] = zero
param n: size = 12

main {
  var i: size
  var vl: size
  var k: size
  var x: u32m1
  var m: b32
  var first: long
  strip e32m1 n as i, vl {
    x = vle32_v_u32m1(&a[i], vl)
    hide x
    scratch vl * 3
    vse32_v_u32m1(&b[i], x, vl)
    m = vmseq_vx_u32m1_b32(x, 0x7, vl)
    first = vfirst_m_b32(m, vl)
    for 3 as k {
      break if first == 1
      x = vadd_vx_u32m1(x, 0x64, vl)
    }
    break if first >= 0
    vse32_v_u32m1(&b[i], x, vl)
  }
}
";

#[test]
fn a_loop_can_be_left() {
    // At VLEN 128, the second strip has the 7 at place 1.
    assert_eq!(printed(SEARCH, 128), "301 302 303 304 5 7 6 7 0 0 0 0");
    // At 256, the first strip has it at place 5: the inner loop runs to its end.
    assert_eq!(printed(SEARCH, 256), "1 2 3 4 5 7 6 7 0 0 0 0");
    let outside =
        SEARCH.replace("  strip e32m1 n as i, vl {", "  break if n == 1\n  strip e32m1 n as i, vl {");
    assert!(refused(&outside, 128).contains("in none"), "{}", refused(&outside, 128));
    let much = SEARCH.replace("scratch vl * 3", "scratch vl * 100000");
    assert!(refused(&much, 128).contains("of the stack"), "{}", refused(&much, 128));
}
