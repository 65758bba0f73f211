//! Programs written by hand: control flow, functions, tuples, masks, rounding modes, fault-only-first loads.
//! All forms must print the same, and what Rust says they print.

use crate::support::{at, c as k, call, clang, compile, n, overloaded, run, ty, v};
use rvv_intrinsics::{Elem, Type, VecType};
use rvv_ir::c::{COptions, Mode};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::{
    Arg, Buffer, BufferKind, Compare, Contents, Expected, Expr, Function, Program, Stmt, Var, c, elf,
};
use rvvsim::config::Agnostic;

fn buffer(name: &str, elem: Elem, len: usize, kind: BufferKind, init: Init) -> Buffer {
    Buffer { name: name.into(), elem, truths: false, len, dims: Vec::new(), kind, init }
}

fn var(x: Var) -> Expr {
    Expr::Var(x)
}

fn add(a: Expr, b: Expr) -> Expr {
    Expr::Add(a.into(), b.into())
}

fn mul(a: Expr, b: Expr) -> Expr {
    Expr::Mul(a.into(), b.into())
}

fn u32m1() -> VecType {
    VecType::from_short("u32m1").unwrap()
}

fn words(values: impl IntoIterator<Item = u32>) -> Vec<u8> {
    values.into_iter().flat_map(u32::to_le_bytes).collect()
}

/// `out[i] = in[i] * factor + constants[i]` in strips and by a function, and how many were odd.
fn strips() -> (Program, Vec<u8>) {
    const LEN: usize = 37;
    let mut p = Program { comment: vec!["strips".into()], ..Program::default() };
    let data = Init::Seed(1, Distribution::Bits);
    let constants = Init::Seed(2, Distribution::Small);
    p.buffers = vec![
        buffer("in", Elem::U32, LEN, BufferKind::Data, data.clone()),
        buffer("for", Elem::U32, LEN, BufferKind::Const, constants.clone()),
        buffer("out", Elem::U32, LEN, BufferKind::Out, Init::Seed(3, Distribution::Bits)),
        buffer("odd", Elem::U64, 2, BufferKind::Out, Init::Zero),
    ];
    let mut f = Function { name: "multiply_add".into(), ..Function::default() };
    let (x, y) = (f.var("x", ty("u32m1")), f.var("y", ty("u32m1")));
    let (factor, vl) = (f.var("factor", Type::Scalar(Elem::U32)), f.var("vl", Type::Size));
    f.params = vec![x, y, factor, vl];
    f.body = vec![call(y, "vmacc_vx_u32m1", vec![v(y), v(factor), v(x), v(vl)])];
    f.ret = Some(y);
    p.functions = vec![f];
    let m = &mut p.main;
    let (i, vl) = (m.var("i", Type::Size), m.var("vl", Type::Size));
    // The same name as a buffer's.
    let (x, y) = (m.var("in", ty("u32m1")), m.var("y", ty("u32m1")));
    let (mask, bit) = (m.var("mask", Type::Mask(32)), m.var("bit", ty("u32m1")));
    let (count, sum) = (m.var("count", Type::Ulong), m.var("total", Type::Size));
    let length = m.var("length", Type::Size);
    let large = m.var("large", Type::Scalar(Elem::I32));
    p.params = vec![(length, LEN as u64), (sum, 0), (large, 0xffff_fffe)];
    m.body = vec![
        Stmt::Strip {
            vtype: u32m1(),
            length: var(length),
            index: i,
            vl,
            body: vec![
                call(x, "vle32_v_u32m1", vec![at(0, var(i)), v(vl)]),
                call(y, "vle32_v_u32m1", vec![at(1, var(i)), v(vl)]),
                Stmt::Invoke { dst: Some(y), function: 0, args: vec![v(x), v(y), n(0x8000_0003), v(vl)] },
                overloaded(bit, "vand_vx_u32m1", vec![v(y), n(1), v(vl)]),
                overloaded(mask, "vmsne_vx_u32m1_b32", vec![v(bit), n(0), v(vl)]),
                call(count, "vcpop_m_b32", vec![v(mask), v(vl)]),
                Stmt::If {
                    left: count,
                    compare: Compare::Gt,
                    right: 0,
                    then: vec![
                        // total = count + total, by way of the only scalar arithmetic there is.
                        Stmt::Put { buffer: 3, at: k(1), value: count },
                        Stmt::If {
                            left: large,
                            compare: Compare::Lt,
                            right: 5,
                            then: vec![Stmt::Put { buffer: 3, at: k(0), value: count }],
                            otherwise: vec![],
                        },
                    ],
                    otherwise: vec![Stmt::Put { buffer: 3, at: k(1), value: vl }],
                },
                call(None, "vse32_v_u32m1", vec![at(2, var(i)), v(y), v(vl)]),
            ],
        },
        Stmt::Copy { dst: sum, src: length },
        Stmt::Put { buffer: 3, at: k(1), value: sum },
        Stmt::Put { buffer: 3, at: k(0), value: sum },
    ];
    let (a, b) = (data.values(Elem::U32, LEN), constants.values(Elem::U32, LEN));
    let mut expected =
        words((0..LEN).map(|i| (a[i] as u32).wrapping_mul(0x8000_0003).wrapping_add(b[i] as u32)));
    expected.extend([37, 0, 0, 0, 0, 0, 0, 0].repeat(2));
    (p, expected)
}

/// A transpose by segments, tuples through functions, nested loops with computed indices.
fn tuples() -> (Program, Vec<u8>) {
    let mut p = Program { comment: vec!["tuples".into()], ..Program::default() };
    let data = Init::Seed(4, Distribution::Mix);
    p.buffers = vec![
        buffer("in", Elem::U32, 24, BufferKind::Data, data.clone()),
        buffer("out", Elem::U32, 24, BufferKind::Out, Init::Zero),
    ];
    let tuple = ty("u32m1x3");
    let mut f = Function { name: "rotate".into(), ..Function::default() };
    let t = f.var("t", tuple);
    let parts: Vec<Var> = (0..3).map(|i| f.var(format!("part{i}"), ty("u32m1"))).collect();
    f.params = vec![t];
    for (i, &part) in parts.iter().enumerate() {
        f.body.push(call(part, "vget_v_u32m1x3_u32m1", vec![v(t), n(i as u64)]));
    }
    f.body.push(call(t, "vcreate_v_u32m1x3", vec![v(parts[1]), v(parts[2]), v(parts[0])]));
    f.body.push(call(t, "vset_v_u32m1_u32m1x3", vec![v(t), n(1), v(parts[0])]));
    f.ret = Some(t);
    p.functions = vec![f];
    let m = &mut p.main;
    let (i, j) = (m.var("i", Type::Size), m.var("j", Type::Size));
    let t = m.var("t", tuple);
    let base = add(mul(var(i), k(12)), mul(var(j), k(6)));
    m.body = vec![Stmt::For {
        index: i,
        count: k(2),
        body: vec![Stmt::For {
            index: j,
            count: add(var(i), Expr::Sub(k(2).into(), var(i).into())),
            body: vec![
                call(t, "vlseg3e32_v_u32m1x3", vec![at(0, base.clone()), n(2)]),
                Stmt::Invoke { dst: Some(t), function: 0, args: vec![v(t)] },
                overloaded(None, "vsseg3e32_v_u32m1x3", vec![at(1, base), v(t), n(2)]),
            ],
        }],
    }];
    let a = data.values(Elem::U32, 24);
    let expected = words(a.chunks(3).flat_map(|s| [s[1], s[0], s[0]]).map(|x| x as u32));
    (p, expected)
}

/// 1 + 2^-24 under the dynamic rounding mode and others, constants with NaN payloads.
fn rounding() -> (Program, Vec<u8>) {
    let mut p = Program { comment: vec!["rounding".into()], ..Program::default() };
    p.buffers = vec![
        buffer("half_ulp", Elem::F32, 1, BufferKind::Const, Init::Data(vec![0x3380_0000])),
        buffer("out", Elem::F32, 7, BufferKind::Out, Init::Zero),
    ];
    let m = &mut p.main;
    let (x, y) = (m.var("x", ty("f32m1")), m.var("y", ty("f32m1")));
    let (nan, hidden) = (m.var("nan", Type::Scalar(Elem::F32)), m.var("hidden", Type::Scalar(Elem::F32)));
    p.params = vec![(hidden, 0x7fa0_1234)];
    let one = n(0x3f80_0000);
    let store = |to: u64, x: Var| call(None, "vse32_v_f32m1", vec![at(1, k(to)), v(x), n(1)]);
    m.body = vec![
        call(x, "vle32_v_f32m1", vec![at(0, k(0)), n(1)]),
        Stmt::SetFrm(3),
        overloaded(y, "vfadd_vf_f32m1", vec![v(x), one.clone(), n(1)]),
        store(0, y),
        overloaded(y, "vfadd_vf_f32m1_rm", vec![v(x), one.clone(), n(1), n(1)]),
        store(1, y),
        call(y, "vfadd_vf_f32m1", vec![v(x), one.clone(), n(1)]),
        store(2, y),
        Stmt::SetFrm(0),
        // Not the same sum again: clang (19 to 22) takes the one before, whatever frm is.
        call(y, "vfadd_vf_f32m1", vec![v(x), n(0x4000_0000), n(1)]),
        store(3, y),
        call(y, "vfmv_v_f_f32m1", vec![n(0xff80_0abc), n(1)]),
        store(4, y),
        call(y, "vfmv_v_f_f32m1", vec![v(hidden), n(1)]),
        store(5, y),
        call(nan, "vfmv_f_s_f32m1_f32", vec![v(y)]),
        Stmt::Put { buffer: 1, at: k(6), value: nan },
    ];
    let (up, one) = (0x3f80_0001, 0x3f80_0000);
    (p, words([up, one, up, 0x4000_0000, 0xff80_0abc, 0x7fa0_1234, 0x7fa0_1234]))
}

/// A fault-only-first load, the vl it gives, `if` with both branches, masks through a function.
fn masks() -> (Program, Vec<u8>) {
    let mut p = Program { comment: vec!["masks".into()], ..Program::default() };
    p.buffers = vec![
        buffer("in", Elem::I8, 8, BufferKind::Data, Init::Data(vec![1, 0xff, 3, 0x80, 5, 0xfe, 7, 8])),
        buffer("out", Elem::I8, 8, BufferKind::Out, Init::Data(vec![9; 8])),
        buffer("numbers", Elem::U64, 3, BufferKind::Out, Init::Zero),
    ];
    let mut f = Function { name: "negative".into(), ..Function::default() };
    let (x, vl) = (f.var("x", ty("i8m1")), f.var("vl", Type::Size));
    let mask = f.var("mask", Type::Mask(8));
    f.params = vec![x, vl];
    f.body = vec![call(mask, "vmslt_vx_i8m1_b8", vec![v(x), n(0), v(vl)])];
    f.ret = Some(mask);
    p.functions = vec![f];
    let m = &mut p.main;
    let (x, mask) = (m.var("x", ty("i8m1")), m.var("mask", Type::Mask(8)));
    let (vl, first) = (m.var("vl", Type::Size), m.var("first", Type::Long));
    let least = m.var("least", Type::Scalar(Elem::I8));
    let sum = m.var("sum", ty("i8m1"));
    m.body = vec![
        call(x, "vle8ff_v_i8m1", vec![at(0, k(0)), Arg::Ref(vl), n(8)]),
        Stmt::Invoke { dst: Some(mask), function: 0, args: vec![v(x), v(vl)] },
        call(first, "vfirst_m_b8", vec![v(mask), v(vl)]),
        call(sum, "vredmin_vs_i8m1_i8m1", vec![v(x), v(x), v(vl)]),
        call(least, "vmv_x_s_i8m1_i8", vec![v(sum)]),
        call(x, "vneg_v_i8m1_mu", vec![v(mask), v(x), v(x), v(vl)]),
        call(None, "vse8_v_i8m1", vec![at(1, k(0)), v(x), v(vl)]),
        Stmt::Put { buffer: 2, at: k(0), value: vl },
        Stmt::If {
            left: first,
            compare: Compare::Le,
            right: u64::MAX,
            then: vec![Stmt::Put { buffer: 2, at: k(1), value: vl }],
            otherwise: vec![Stmt::Put { buffer: 2, at: k(1), value: first }],
        },
        Stmt::If {
            left: least,
            compare: Compare::Eq,
            right: 0x80,
            then: vec![Stmt::Put { buffer: 2, at: k(2), value: vl }],
            otherwise: vec![],
        },
    ];
    let mut expected = vec![1, 1, 3, 0x80, 5, 2, 7, 8];
    for number in [8u64, 1, 8] {
        expected.extend(number.to_le_bytes());
    }
    (p, expected)
}

/// Strips are copied until one has a 7; what is left of that strip and after it stays 0.
fn search() -> (Program, Vec<u8>) {
    let text = "rvv-ir 1
data a: u32[9] = [1, 2, 3, 4, 7, 5, 6, 8, 9]
out b: u32[9] = zero
param n: size = 9
param none: size = 5
fn copied(x: u32m1, m: b32, vl: size) -> long {
  var first: long
  hide m
  first = vfirst_m_b32(m, vl)
  return first
}
main {
  var i: size
  var vl: size
  var k: size
  var x: u32m1
  var m: b32
  var first: long
  strip e32mf2 n as i, vl {
    x = vle32_v_u32m1(&a[i], vl)
    m = vmseq_vx_u32m1_b32(x, 0x7, vl)
    scratch none + vl
    hide x
    first = call copied(x, m, vl)
    for 4 as k {
      if k == 1 {
        break if first < 0
      }
      x = vadd_vx_u32m1(x, 0x1, vl)
    }
    break if first >= 0
    vse32_v_u32m1(&b[i], x, vl)
  }
}
";
    let program: Program = text.parse().unwrap();
    // At VLEN 128 strips are of 2 elements; the third has the 7. Longer ones: see the loop below.
    (program, words([2, 3, 4, 5, 0, 0, 0, 0, 0]))
}

#[test]
fn a_loop_can_be_left_in_all_forms() {
    let (program, at_128) = search();
    let at_256 = words([2, 3, 4, 5, 0, 0, 0, 0, 0]);
    let elf = elf::lower(&[&program]).unwrap();
    for agnostic in [Agnostic::Undisturbed, Agnostic::Ones] {
        for (vlen, bytes) in [(128, &at_128), (256, &at_256)] {
            let (status, printed) = run(elf.clone(), vlen, agnostic, &[]);
            assert_eq!((status.as_str(), &printed), ("exit 0", bytes), "VLEN {vlen}");
        }
    }
    let Some(clang) = clang() else { return };
    let source = c::emit(&[&program], &COptions::default());
    for level in ["-O0", "-O2"] {
        let elf = compile(&clang, &source, &c::march(&[&program]), &[level, "-Wall", "-Werror"]).unwrap();
        let (status, printed) = run(elf, 128, Agnostic::Ones, &[]);
        assert_eq!((status.as_str(), printed), ("exit 0", at_128.clone()), "{level}");
    }
    let alone = c::emit_function(&program);
    assert!(alone.contains("void hide(const volatile void *p);"), "{alone}");
}

fn programs() -> Vec<(Program, Vec<u8>)> {
    vec![strips(), tuples(), rounding(), masks()]
}

const POLICIES: [Agnostic; 2] = [Agnostic::Undisturbed, Agnostic::Ones];

#[test]
fn machine_code_does_what_rust_says() {
    for (program, expected) in programs() {
        let file = elf::lower(&[&program]).unwrap();
        for vlen in [128, 256, 1024, 65536] {
            for policy in POLICIES {
                let (ending, printed) = run(file.clone(), vlen, policy, &[]);
                assert_eq!(ending, "exit 0", "{:?} at {vlen}", program.comment);
                assert_eq!(printed, expected, "{:?} at {vlen}", program.comment);
            }
        }
    }
}

#[test]
fn a_batch_prints_one_after_the_other_and_any_alone() {
    let all = programs();
    let refs: Vec<&Program> = all.iter().map(|(p, _)| p).collect();
    let file = elf::lower(&refs).unwrap();
    let together: Vec<u8> = all.iter().flat_map(|(_, e)| e.clone()).collect();
    assert_eq!(run(file.clone(), 256, Agnostic::Ones, &[]), ("exit 0".into(), together));
    for (number, (_, expected)) in all.iter().enumerate() {
        let alone = run(file.clone(), 256, Agnostic::Ones, &[&number.to_string()]);
        assert_eq!(alone, ("exit 0".into(), expected.clone()));
    }
}

#[test]
fn a_file_for_short_vectors_says_so_on_long_ones() {
    let (program, expected) = tuples();
    let file = elf::lower_with(&[&program], &elf::ElfOptions { max_vlen: 256, ..elf::ElfOptions::default() })
        .unwrap();
    assert_eq!(run(file.clone(), 256, Agnostic::Ones, &[]), ("exit 0".into(), expected));
    assert_eq!(run(file, 512, Agnostic::Ones, &[]), ("exit 77".into(), Vec::new()));
}

#[test]
fn code_may_be_longer_than_any_jump() {
    const TIMES: u32 = 30_000;
    let out = buffer("out", Elem::U32, 1, BufferKind::Out, Init::Data(vec![5]));
    let mut p = Program { buffers: vec![out], ..Program::default() };
    let x = p.main.var("x", ty("u32m1"));
    let i = p.main.var("i", Type::Size);
    let yes = p.main.var("yes", Type::Scalar(Elem::U8));
    p.params = vec![(yes, 1)];
    let more = call(x, "vadd_vx_u32m1", vec![v(x), n(1), n(1)]);
    let then = vec![more; TIMES as usize];
    let choice = Stmt::If { left: yes, compare: Compare::Ne, right: 0, then: then.clone(), otherwise: then };
    p.main.body = vec![
        call(x, "vle32_v_u32m1", vec![at(0, k(0)), n(1)]),
        Stmt::For { index: i, count: k(2), body: vec![choice] },
        call(None, "vse32_v_u32m1", vec![at(0, k(0)), v(x), n(1)]),
    ];
    let file = elf::lower(&[&p, &p]).unwrap();
    assert!(file.len() > 4 << 20);
    assert_eq!(run(file, 128, Agnostic::Ones, &[]), ("exit 0".into(), words([5 + 2 * TIMES; 2])));
}

#[test]
fn constants_out_of_range_are_errors() {
    let (mut program, _) = tuples();
    let Stmt::Call(call) = &mut program.functions[0].body[0] else { unreachable!() };
    call.args[1] = n(3);
    let error = elf::lower(&[&program]).unwrap_err().to_string();
    assert!(error.contains("__riscv_vget_v_u32m1x3_u32m1") && error.contains("0..=2"), "{error}");
}

/// The expectation of a program that prints these bytes, at these VLENs; `defined` tells which of them are.
fn expected(program: &Program, bytes: &[u8], defined: impl Fn(usize) -> u8) -> Vec<Expected> {
    let at = |vlen| {
        let mut from = 0;
        let outputs = program
            .outputs()
            .map(|(_, b)| {
                let range = from..from + b.bytes();
                from = range.end;
                let defined = range.clone().map(&defined).collect();
                Contents { bytes: bytes[range].to_vec(), defined, ..Contents::default() }
            })
            .collect();
        Expected { vlen, outputs, ..Expected::default() }
    };
    vec![at(128), at(256)]
}

#[test]
fn c_does_what_rust_says() {
    let Some(clang) = clang() else {
        println!("c_does_what_rust_says: skipped, no clang-19 and no $CLANG");
        return;
    };
    let all = programs();
    let mut units: Vec<(Vec<&Program>, Vec<u8>)> = all.iter().map(|(p, e)| (vec![p], e.clone())).collect();
    units.push((all.iter().map(|(p, _)| p).collect(), all.iter().flat_map(|(_, e)| e.clone()).collect()));
    for (programs, expected) in &units {
        let source = c::emit(programs, &COptions::default());
        for level in ["-O0", "-O2"] {
            let file =
                compile(&clang, &source, &c::march(programs), &[level]).unwrap_or_else(|e| panic!("{e}"));
            for policy in POLICIES {
                let (ending, printed) = run(file.clone(), 256, policy, &[]);
                assert_eq!(ending, "exit 0", "{:?}", programs[0].comment);
                assert_eq!(&printed, expected, "{:?} {level}", programs[0].comment);
            }
            if let [_, _, third, _] = programs[..] {
                let (_, printed) = run(file, 256, Agnostic::Ones, &["2"]);
                assert_eq!(printed.len(), third.outputs().map(|(_, b)| b.bytes()).sum::<usize>());
            }
        }
    }
}

#[test]
fn self_checks_know_right_from_wrong() {
    let Some(clang) = clang() else {
        println!("self_checks_know_right_from_wrong: skipped, no clang-19 and no $CLANG");
        return;
    };
    let all = programs();
    let programs: Vec<&Program> = all.iter().map(|(p, _)| p).collect();
    let unit = |options: COptions| {
        let source = c::emit(&programs, &options);
        compile(&clang, &source, &c::march(&programs), &["-O2"]).unwrap_or_else(|e| panic!("{e}"))
    };
    let right: Vec<Vec<Expected>> = all.iter().map(|(p, e)| expected(p, e, |_| 0xff)).collect();
    let file = unit(COptions { mode: Mode::SelfCheck(&right), ..COptions::default() });
    assert_eq!(run(file.clone(), 128, Agnostic::Ones, &[]), ("exit 0".into(), Vec::new()));
    let (ending, message) = run(file, 512, Agnostic::Ones, &[]);
    assert_eq!((ending.as_str(), &message[..]), ("exit 77", &b"nothing is known of this VLEN: 512\n"[..]));

    // A wrong bit in the sixth element of p1's output, seen or not.
    let mut wrong = right.clone();
    for e in &mut wrong[1] {
        e.outputs[0].bytes[21] ^= 0x40;
    }
    let file = unit(COptions { mode: Mode::SelfCheck(&wrong), ..COptions::default() });
    let (ending, message) = run(file, 256, Agnostic::Ones, &[]);
    let message = String::from_utf8(message).unwrap();
    assert_eq!(ending, "exit 1");
    assert!(message.starts_with("p1_out[5]: expected 0x"), "{message}");
    for e in &mut wrong[1] {
        e.outputs[0].defined[21] ^= 0x40;
    }
    let file = unit(COptions { mode: Mode::SelfCheck(&wrong), ..COptions::default() });
    assert_eq!(run(file, 256, Agnostic::Ones, &[]).0, "exit 0");

    // A checksum is of the defined bits.
    let file = unit(COptions { mode: Mode::Differential(&wrong), ..COptions::default() });
    let lines = String::from_utf8(run(file, 256, Agnostic::Ones, &[]).1).unwrap();
    let sums = all.iter().zip(&wrong).flat_map(|((_, printed), e)| {
        let mut rest = printed.iter();
        e[1].outputs
            .iter()
            .map(move |o| fnv1a(o.defined.iter().zip(&mut rest).map(|(d, b)| d & b)))
            .collect::<Vec<_>>()
    });
    assert!(lines.lines().map(|l| l.split_once(" 0x").unwrap().1.to_owned()).eq(sums), "{lines}");
}

fn fnv1a(bytes: impl Iterator<Item = u8>) -> String {
    let step = |h: u64, b: u8| (h ^ u64::from(b)).wrapping_mul(0x100_0000_01b3);
    format!("{:016x}", bytes.fold(0xcbf2_9ce4_8422_2325, step))
}

#[test]
fn people_can_read_it() {
    let (program, bytes) = rounding();
    let source = c::emit(&[&program], &COptions::default());
    for line in [
        "// rounding",
        "    vfloat32m1_t x, y;",
        "    hidden = f32_bits((uint32_t)opaque(0x7fa01234));",
        "    x = __riscv_vle32_v_f32m1(&half_ulp.f[0], 1);",
        "    set_frm(3);",
        "    y = __riscv_vfadd(x, f32_bits(0x3f800000), (size_t)1);",
        "    y = __riscv_vfadd(x, f32_bits(0x3f800000), __RISCV_FRM_RTZ, (size_t)1);",
        "    out.f[6] = nan_2;",
    ] {
        assert!(source.lines().any(|l| l == line), "{line}\n{source}");
    }
    let tables = [expected(&program, &bytes, |i| if i < 4 { 0 } else { 0xff })];
    let source = c::emit(&[&program], &COptions { mode: Mode::Libc(&tables), ..COptions::default() });
    assert!(source.contains("#include <stdio.h>") && source.contains("int main("));
}

#[test]
fn march_is_what_the_intrinsics_need() {
    let march = |name: &str| c::march(&[&crate::support::minimal(crate::support::intrinsic(name), false)]);
    assert_eq!(march("vadd_vv_i32m1"), "rv64gcv");
    assert_eq!(march("vfadd_vv_f16m1"), "rv64gcv_zvfh");
    assert_eq!(march("vle16_v_bf16m1"), "rv64gcv_zvfbfmin");
    assert_eq!(march("vclmul_vv_u64m1"), "rv64gcv_zvbc");
    assert_eq!(march("vaesz_vs_u32mf2_u32m1"), "rv64gcv_zvkned_zvl256b");
    assert_eq!(march("vsm3me_vv_u32m1"), "rv64gcv_zvksh_zvl256b");
}
