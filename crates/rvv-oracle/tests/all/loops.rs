//! Element statements: results worked out by hand from the C standard, and what it leaves undefined refused.

use rvv_intrinsics::Elem;
use rvv_ir::Program;
use rvv_ir::loops::{common, promote};
use rvv_oracle::{Options, evaluate};

/// A program that sets `r[0]` to an expression of these inputs.
fn program(expression: &str, result: &str, inputs: &str) -> String {
    format!("rvv-ir 1\n{inputs}out r: {result}[1] = zero\n\nmain {{\n  set r[i32(0)] = {expression}\n}}\n")
}

fn evaluated(text: &str) -> Result<u64, String> {
    let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    let again: Program = program.to_string().parse().unwrap_or_else(|e| panic!("{e}\n{program}"));
    assert_eq!(program, again);
    let expected = evaluate(&program, &Options::new(128)).map_err(|e| e.to_string())?;
    let mut bytes = [0; 8];
    let out = &expected.outputs[0];
    bytes[..out.bytes.len().min(8)].copy_from_slice(&out.bytes[..out.bytes.len().min(8)]);
    Ok(u64::from_le_bytes(bytes))
}

fn value(expression: &str, result: &str) -> Result<u64, String> {
    evaluated(&program(expression, result, ""))
}

#[test]
fn integers_are_promoted_and_converted_as_c_says() {
    for (expression, result, expected) in [
        // Promoted to int, so neither wraps.
        ("(u8(200) + u8(100))", "i32", 300),
        ("(i8(-128) * i8(-128))", "i32", 16384),
        ("~(u8(0))", "i64", u64::MAX),
        ("-(u8(1))", "i64", u64::MAX),
        // int and unsigned is unsigned; unsigned and long is long.
        ("(i32(-1) + u32(0))", "i64", 0xffff_ffff),
        ("(i64(-1) + u32(0))", "i64", u64::MAX),
        ("(i32(-1) < u32(0))", "i32", 0),
        ("(i32(-1) < u16(0))", "i32", 1),
        ("(i64(-1) < u32(0))", "i32", 1),
        ("(u32(0) - u32(1))", "u64", 0xffff_ffff),
        ("(u64(0) - u32(1))", "u64", u64::MAX),
        // Stored: the low bits.
        ("i32(300)", "u8", 44),
        ("(i32(-7) / i32(2))", "i32", 0xffff_fffd),
        ("(i32(-7) % i32(2))", "i32", 0xffff_ffff),
        ("(i32(-8) >> i32(1))", "i32", 0xffff_fffc),
        ("(u32(0x80000000) << i32(1))", "u32", 0),
        ("(u8(128) << i32(1))", "u16", 256),
        // A choice has the common type of both, whichever is taken.
        ("(i32(1) ? i32(-1) : u32(0))", "i64", 0xffff_ffff),
        ("(i32(0) && (i32(1) / i32(0)))", "i32", 0),
        ("(i32(2) || (i32(1) / i32(0)))", "i32", 1),
        ("!(i32(5))", "i32", 0),
        ("bool(i32(256))", "u8", 1),
        ("i8(i32(200))", "i32", 0xffff_ffc8),
        ("i64(-9223372036854775808)", "i64", 1 << 63),
    ] {
        assert_eq!(value(expression, result), Ok(expected), "{expression}");
    }
}

#[test]
fn the_type_rules_are_those_of_lp64() {
    assert_eq!(promote(Elem::U16), Elem::I32);
    assert_eq!(common(Elem::U8, Elem::I8), Ok(Elem::I32));
    assert_eq!(common(Elem::U64, Elem::I64), Ok(Elem::U64));
    assert_eq!(common(Elem::I64, Elem::U32), Ok(Elem::I64));
    assert_eq!(common(Elem::U64, Elem::F16), Ok(Elem::F16));
    assert_eq!(common(Elem::F32, Elem::F16), Ok(Elem::F32));
    assert!(common(Elem::Bf16, Elem::F32).is_err());
}

#[test]
fn floats_are_rounded_once_per_operation() {
    let f32 = |x: f32| format!("f32({:#x})", x.to_bits());
    let f64 = |x: f64| format!("f64({:#x})", x.to_bits());
    // The host's arithmetic is another.
    for (a, b) in [(0.1f32, 0.2f32), (1.0, 3.0), (1e30, 1e30), (-0.0, 0.0), (3.5, -7.25)] {
        for (sign, result) in [("+", a + b), ("-", a - b), ("*", a * b), ("/", a / b)] {
            let e = format!("({} {sign} {})", f32(a), f32(b));
            if !result.is_nan() {
                assert_eq!(value(&e, "f32"), Ok(result.to_bits().into()), "{e}");
            }
        }
        let e = format!("fma({}, {}, {})", f32(a), f32(b), f32(-1.5));
        assert_eq!(value(&e, "f32"), Ok(a.mul_add(b, -1.5).to_bits().into()));
        let e = format!("({} + {})", f32(a), f64(0.1));
        assert_eq!(value(&e, "f64"), Ok((f64::from(a) + 0.1).to_bits()));
    }
    assert_eq!(value(&format!("i32({})", f32(-3.99)), "i64"), Ok(-3i64 as u64));
    assert_eq!(value("f32(u64(18446744073709551615))", "f32"), Ok(0x5f80_0000));
    assert_eq!(value(&f64(0.1), "f32"), Ok(0.1f32.to_bits().into()));
    assert_eq!(value("f32(i32(16777217))", "f32"), Ok(16777216.0f32.to_bits().into()));
}

#[test]
fn of_a_nan_only_the_exponent_is_defined() {
    let text = program("(f32(0x7fc00000) + f32(0x3f800000))", "f32", "");
    let program: Program = text.parse().unwrap();
    let out = evaluate(&program, &Options::new(128)).unwrap().outputs.remove(0);
    assert_eq!((out.bytes, out.defined), (vec![0, 0, 0x80, 0x7f], vec![0, 0, 0x80, 0x7f]));
    // It is a NaN when it is read again, and compares as one.
    let inputs = "data a: f32[1] = zero\n";
    let text = format!(
        "rvv-ir 1\n{inputs}out r: i32[1] = zero\n\nmain {{\n  set a[i32(0)] = -(f32(0xffc00001))\n  \
         set r[i32(0)] = ((a[i32(0)] != a[i32(0)]) + i32(f32(0x40a00000)))\n}}\n"
    );
    assert_eq!(evaluated(&text), Ok(6));
}

#[test]
fn what_c_leaves_undefined_is_refused_with_its_place() {
    for (expression, why) in [
        ("(i32(2147483647) + i32(1))", "signed overflow: a sum is 2147483648, which is no i32"),
        ("(u16(65535) * u16(65535))", "signed overflow"),
        ("-(i32(-2147483648))", "signed overflow"),
        ("(i64(-9223372036854775808) / i64(-1))", "signed overflow"),
        ("(i32(-2147483648) % i32(-1))", "signed overflow"),
        ("(i32(1) / i32(0))", "division by zero"),
        ("(i32(1) % u8(0))", "division by zero"),
        ("(i32(1) << i32(32))", "a shift by 32"),
        ("(u8(1) >> i32(-1))", "a shift by -1"),
        ("(i32(-1) << i32(1))", "negative, is shifted left"),
        ("(i32(1) << i32(31))", "signed overflow"),
        ("i32(f32(0x4f000000))", "2147483600.0 is converted to i32, which has no such value"),
        ("u8(f32(0xbf800000))", "-1.0 is converted to u8"),
        ("i64(f64(0x7ff8000000000000))", "NaN is converted to i64"),
        ("u64(f64(0x43f0000000000000))", "is converted to u64"),
        ("f16(i32(70000))", "70000 is converted to f16"),
        ("copysign(f32(0x3f800000), f32(0x7fc00000))", "the sign of a NaN"),
    ] {
        let error = value(expression, "i64").expect_err(expression);
        assert!(error.starts_with("main, statement 1: ") && error.contains(why), "{expression}: {error}");
    }
    let inputs = "data a: i32[2, 3] = zero\n";
    for (access, why) in [
        ("a[i32(2), i32(0)]", "subscript number 1 of `a` is 2; the size is 2"),
        ("a[i32(0), i32(3)]", "subscript number 2 of `a` is 3; the size is 3"),
        ("a[i32(-1), i32(0)]", "is -1"),
    ] {
        let error = evaluated(&program(access, "i32", inputs)).expect_err(access);
        assert!(error.contains(why), "{access}: {error}");
    }
    // The largest that fit.
    assert_eq!(value("u64(f64(0x43efffffffffffff))", "u64"), Ok(0xffff_ffff_ffff_f800));
    assert_eq!(value("i32(f64(0xc1e0000000000000))", "i32"), Ok(0x8000_0000));
}

const SEARCH: &str = "rvv-ir 1
data a: u8[8] = [0x5, 0x7, 0x9, 0xb]
out r: i32[3] = zero
param n: i32 = 0x8

global fn find(n: i32) restrict {
  var i: i32
  var s: i32
  set s = i32(0)
  loop i = i32(0) while < n step 1 unroll 2 {
    when (a[i] == u8(9)) {
      leave
    }
    set s = (s + a[i])
  }
  set r[i32(0)] = i
  set r[i32(1)] = s
  loop i = i32(7) while >= i32(0) step -3 {
    set r[i32(2)] = ((r[i32(2)] * i32(10)) + i)
  }
}

main {
  call find(n)
}
";

#[test]
fn loops_count_break_and_leave_their_counter() {
    let program: Program = SEARCH.parse().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(program.to_string(), SEARCH);
    let out = evaluate(&program, &Options::new(128)).unwrap().outputs.remove(0);
    let words: Vec<u32> = out.bytes.chunks(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    assert_eq!(words, [2, 12, 741]);
}

#[test]
fn loops_that_do_not_end_or_overflow_their_counter_are_refused() {
    for (head, why) in [
        ("loop i = i32(0) while >= i32(0) step 1", "the counter `i`: signed overflow"),
        ("loop i = i32(0) while != i32(7) step 2", "has not ended after"),
    ] {
        let text = format!("rvv-ir 1\n\nmain {{\n  var i: i32\n  {head} {{\n  }}\n}}\n");
        let program: Program = text.parse().unwrap();
        let options = Options { fuel: 5_000_000_000, ..Options::new(128) };
        let options = if why.contains("ended") { Options::new(128) } else { options };
        // An int that counts to its end takes too long for a test: nearer to it.
        let text = text.replace("loop i = i32(0) while >=", "loop i = i32(2147483000) while >=");
        let program = if why.contains("overflow") { text.parse().unwrap() } else { program };
        let error = evaluate(&program, &options).expect_err(head).to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn static_rules_name_the_statement_and_the_reason() {
    let inside = |body: &str| {
        format!(
            "rvv-ir 1\ndata a: f32[4] = zero\nconst c: i32[4] = zero\nout r: i32[4] = zero\n\n\
             main {{\n  var i: i32\n  var x: f32\n  var v: i32m1\n  set x = f32(0x0)\n  set i = i32(0)\n{body}}}\n"
        )
    };
    for (body, why) in [
        ("  set c[i32(0)] = i32(1)\n", "`c` is const"),
        ("  set r[x] = i32(1)\n", "a subscript of `r` is of type f32"),
        ("  set r[i, i] = i32(1)\n", "`r` takes 1 subscripts, not 2"),
        ("  set r[i] = (x & i)\n", "& takes integers"),
        ("  set r[i] = bf16(f32(0x0))\n", "bf16 is not converted to i32"),
        ("  leave\n", "`leave` is not inside a `loop`"),
        ("  loop i = i32(0) while < i step 1 {\n  }\n", "reads its counter"),
        ("  loop i = i32(0) while < r[i32(0)] step 1 {\n  }\n", "reads no buffer"),
        ("  loop i = i32(0) while < i32(3) step 0 {\n  }\n", "a step of 0"),
        ("  loop i = i32(0) while < i32(3) step 1 {\n    set i = i32(0)\n  }\n", "is assigned in it"),
        ("  set v = i32(1)\n", "`v` is no scalar"),
        ("  put r[0] = x\n", "payload of a NaN"),
    ] {
        let text = inside(body);
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let error = program.check().expect_err(body).to_string();
        assert!(error.starts_with("main, statement 3") && error.contains(why), "{body}: {error}");
    }
    for (body, why) in [
        ("  set r[i] = 5\n", "a literal has a type: write i32(5)"),
        ("  set r[i] = i8(200)\n", "the number is no value of type i8"),
        ("  set r[i] = (i + i\n", "expected `)`"),
        ("  set nothing = i\n", "there is no variable `nothing`"),
        ("  loop i = i32(0) while < i32(3) step 1 unroll 200 {\n  }\n", "1 to 64"),
    ] {
        let error = inside(body).parse::<Program>().expect_err(body).to_string();
        assert!(error.contains(why), "{body}: {error}");
    }
    let deep = format!("  set i = {}i{}\n", "-(".repeat(100), ")".repeat(100));
    assert!(inside(&deep).parse::<Program>().expect_err("deep").to_string().contains("nested more than"));
}

#[test]
fn vectors_of_fixed_length_compute_in_the_type_of_their_elements() {
    let inputs = "data a: u8[6] = [0xc8, 0x1, 0x2, 0x3, 0x4, 0x5]\ndata b: i8[4] = [0xff, 0x1, 0xff, 0x1]\n";
    let run = |value: &str| {
        let text =
            format!("rvv-ir 1\n{inputs}out r: u8[4] = zero\n\nmain {{\n  lanes 4 r[i32(0)] = {value}\n}}\n");
        evaluated(&text).map(|n| (n as u32).to_le_bytes())
    };
    for (value, expected) in [
        // No promotion: 200 + 100 is 44.
        ("(a[i32(0)] + splat(u8, i32(100)))", [44, 101, 102, 103]),
        ("(a[i32(0)] * a[i32(2)])", [144, 3, 8, 15]),
        ("((a[i32(0)] << splat(i32, i32(1))) >> splat(i32, i32(1)))", [72, 1, 2, 3]),
        ("(b[i32(0)] < splat(i8, i32(0)) ? a[i32(0)] : splat(u8, i32(9)))", [200, 9, 2, 9]),
        ("shuffle(a[i32(0)], a[i32(2)], 3 0 7 4)", [3, 200, 5, 2]),
        ("insert(~(a[i32(0)]), (i32(6) & i32(3)), i32(300))", [55, 254, 44, 252]),
        ("u8(f32(a[i32(1)]))", [1, 2, 3, 4]),
    ] {
        assert_eq!(run(value), Ok(expected), "{value}");
    }
    for (value, why) in [
        ("a[i32(3)]", "subscript of `a` is 6; the size is 6"),
        ("u8(b[i32(0)])", ""),
        ("(b[i32(0)] < splat(i8, i32(0)) ? b[i32(0)] : b[i32(0)])", "`r` holds u8, not i8"),
        ("u8((b[i32(0)] + b[i32(0)]))", "vectors of i8 have no +"),
        ("(a[i32(0)] << splat(i32, i32(8)))", "shifted by a literal within its width"),
        ("shuffle(a[i32(0)], a[i32(0)], 0 1 2 8)", "a shuffle has 4 lanes, each less than 8"),
        ("insert(a[i32(0)], (i32(1) & i32(4)), i32(0))", "the number of a lane"),
        ("u8((f32(a[i32(0)]) - splat(f32, i32(5))))", "is converted to u8"),
        // C computes vectors whole: lanes that nothing takes must have a meaning, too.
        ("shuffle(a[i32(0)], a[i32(3)], 0 1 4 5)", "subscript of `a` is 6; the size is 6"),
        (
            "(a[i32(0)] >= splat(u8, i32(5)) ? u8((f32(a[i32(0)]) - splat(f32, i32(5)))) : a[i32(0)])",
            "is converted",
        ),
    ] {
        match run(value) {
            Ok(bytes) => assert_eq!((why, bytes), ("", [255, 1, 255, 1]), "{value}"),
            Err(error) => assert!(!why.is_empty() && error.contains(why), "{value}: {error}"),
        }
    }
}

#[test]
fn what_is_stored_as_bool_is_whether_it_is_zero() {
    for (expression, expected) in [
        ("i32(256)", 1),
        ("i64(0)", 0),
        ("f64(0x3fe0000000000000)", 1),
        ("f64(0x8000000000000000)", 0),
        ("(a[i32(1)] + a[i32(1)])", 1),
    ] {
        let inputs = "data a: bool[2] = [0x2, 0x3]\n";
        assert_eq!(evaluated(&program(expression, "bool", inputs)), Ok(expected), "{expression}");
    }
    // The low bit of what it is initialised with; promoted to int.
    let inputs = "data a: bool[2] = [0x2, 0x3]\n";
    assert_eq!(evaluated(&program("(a[i32(0)] - a[i32(1)])", "i32", inputs)), Ok(0xffff_ffff));
    let lanes = "rvv-ir 1\nout r: bool[4] = zero\n\nmain {\n  lanes 4 r[i32(0)] = splat(u8, i32(1))\n}\n";
    let error = evaluated(lanes).expect_err("bool");
    assert!(error.contains("`r` holds bool; only `set` takes it"), "{error}");
}

/// Texts that are written to keep an evaluator busy: a second each, but machines may be slow and busy.
#[test]
fn hostile_programs_are_given_up_soon() {
    let in_loop = |declared: &str, body: &str| {
        format!(
            "rvv-ir 1\ndata a: u8[64] = zero\nout r: u8[64] = zero\n\nmain {{\n  var i: i64\n{declared}  loop i = i64(0) \
             while < i64(1000000000000) step 1 {{\n    {body}\n  }}\n}}\n"
        )
    };
    let choices = (0..6).fold("a[i32(0)]".to_string(), |e, _| format!("({e} < a[i32(0)] ? {e} : {e})"));
    let order: Vec<String> = (0..64).map(|n: u32| n.to_string()).collect();
    let shuffles =
        (0..14).fold("a[i32(0)]".to_string(), |e, _| format!("shuffle({e}, a[i32(0)], {})", order.join(" ")));
    let float = "  var d: f64\n  set d = f64(0x3ff3333333333333)\n";
    for text in [
        in_loop("", "set r[i32(0)] = i"),
        in_loop("", &format!("lanes 64 r[i32(0)] = {choices}")),
        in_loop("", &format!("lanes 64 r[i32(0)] = {shuffles}")),
        in_loop(float, "set d = fma(d, f64(0x3ff0000000000001), f64(1))"),
        in_loop(float, "set d = (f64(0x1) / (d / f64(0x7fe0000000000001)))"),
    ] {
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let start = std::time::Instant::now();
        let error = evaluate(&program, &Options::new(128)).expect_err("no end").to_string();
        assert!(error.contains("the program has not ended after"), "{error}");
        assert!(start.elapsed().as_secs() < 20, "{:?}: {}", start.elapsed(), &text[..200]);
    }
}

/// 1 + 2⁻¹² squared is 1 + 2⁻¹¹ + 2⁻²⁴, of which f32 keeps 1 + 2⁻¹¹: the difference to that is 0, or 2⁻²⁴ if
/// the product is not rounded.
#[test]
fn where_compilers_may_contract_a_sum_has_a_set_of_values() {
    const TINY: u64 = 0x3380_0000;
    const MINUS: u64 = 0xb380_0000;
    let inputs = "data a: f32[1] = [0x3f800800]\ndata c: f32[1] = [0x3f801000]\n";
    let sets = |value: &str, result: &str| {
        let text = program(value, result, inputs);
        let strict: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        let open: Program = text.replacen("rvv-ir 1\n", "rvv-ir 1\ncontract\n", 1).parse().unwrap();
        assert!(open.contract && open.to_string().parse::<Program>().as_ref() == Ok(&open));
        let strict = evaluate(&strict, &Options::new(128)).map(|e| e.outputs[0].clone());
        assert!(strict.is_ok_and(|contents| contents.either.is_empty()));
        let open = evaluate(&open, &Options::new(128)).map_err(|e| e.to_string());
        open.map(|e| e.outputs[0].either.get(&0).cloned().unwrap_or_default())
    };
    let (square, a, c) = ("(a[i32(0)] * a[i32(0)])", "a[i32(0)]", "c[i32(0)]");
    for (value, expected) in [
        (format!("({square} - {c})"), vec![0, TINY]),
        (format!("({c} - {square})"), vec![0, MINUS]),
        (format!("(-({square}) + {c})"), vec![0, MINUS]),
        (format!("(-({c}) + {square})"), vec![0, TINY]),
        (format!("((i32(1) ? {square} : {c}) - {c})"), vec![0, TINY]),
        // Each of two products, and both are the same: either is rounded, or both are.
        (format!("({square} - {square})"), vec![0, TINY, MINUS]),
        (format!("(({square} - {c}) + f32(0x3f800000))"), vec![]),
        (format!("(({square} - {c}) * f32(0x40000000))"), vec![0, 0x3400_0000]),
        // Nothing to contract: no sum, another type, an operation between them.
        (square.to_string(), vec![]),
        (format!("({a} - {c})"), vec![]),
        (format!("(f64({square}) - f64({c}))"), vec![]),
        (format!("(fabs({square}) - {c})"), vec![]),
        (format!("fma({a}, {a}, -({c}))"), vec![]),
    ] {
        assert_eq!(sets(&value, "f32"), Ok(expected), "{value}");
    }
    // 2⁻²⁴ is not zero, so that the two decide differently.
    let decides = sets(&format!("(({square} - {c}) == f32(0x0))"), "i32").expect_err("it decides");
    assert!(decides.contains("may contract what decides something"), "{decides}");
    // 0 or 1, plus 0 or 2, plus 0 or 4, plus 0 or 8 times 2⁻²⁴.
    let powers = ["0x3f800000", "0x40000000", "0x40800000", "0x41000000"];
    let sum = powers
        .iter()
        .fold("f32(0x0)".to_string(), |sum, power| format!("({sum} + (({square} - {c}) * f32({power})))"));
    let many = sets(&sum, "f32").expect_err("many");
    assert!(many.contains("more than 8 values"), "{many}");
}

#[test]
fn what_compilers_may_contract_is_not_read() {
    let run = |body: &str| {
        let text = format!(
            "rvv-ir 1\ncontract\ndata a: f32[1] = [0x3f800800]\nout r: f32[2] = zero\n\nmain {{\n  var t: f32\n  \
             set t = f32(0x3f801000)\n  {body}\n}}\n"
        );
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        evaluate(&program, &Options::new(128)).map(|_| ()).map_err(|e| e.to_string())
    };
    let square = "(a[i32(0)] * a[i32(0)])";
    let error = |body: &str| run(body).expect_err("it is read");
    assert!(error(&format!("set t = ({square} - t)")).contains("`t` has several values"));
    assert!(error(&format!("set t = {square}")).contains("`t` is a product"));
    // gcc contracts across assignments.
    let read = error(&format!("set r[i32(0)] = {square}\n  set r[i32(1)] = (r[i32(0)] + t)"));
    assert!(read.contains("an element of `r` is read that compilers may contract"), "{read}");
    assert!(error(&format!("set r[i32(0)] = ({square} - t)\n  set t = r[i32(0)]")).contains("is read"));
    // Overwritten, it is what it is.
    let again = format!("set r[i32(0)] = {square}\n  set r[i32(0)] = t\n  set r[i32(1)] = r[i32(0)]");
    assert_eq!(run(&again), Ok(()));
    let lanes = "lanes 2 r[i32(0)] = ((splat(f32, a[i32(0)]) * splat(f32, a[i32(0)])) - splat(f32, t))";
    assert_eq!(run(lanes), Ok(()));
    assert!(error(&format!("{lanes}\n  set t = r[i32(1)]")).contains("is read"));
}
