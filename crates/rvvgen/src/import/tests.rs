use super::*;
use crate::csource::{Files, read_text};
use rvv_ir::data::float_text;

fn imported(text: &str) -> Result<Imported, Refusal> {
    let unit = read_text(&mut Files::default(), "a.c", text).unwrap();
    let function = functions(&unit).last().expect("a function with intrinsics");
    let imported = import(&unit, function, &Settings::default())?;
    let text = imported.program.to_string();
    assert!(text.parse::<Program>().unwrap() == imported.program, "{text}");
    rvv_ir::elf::lower(&[&imported.program]).unwrap();
    Ok(imported)
}

/// The values of a buffer at the start, and what is printed of it, at each VLEN.
fn buffer(imported: &Imported, name: &str) -> (Vec<u64>, Vec<Vec<u64>>) {
    let ends = |n: &str| n.split_once('_').is_some_and(|(_, rest)| rest == name);
    let program = &imported.program;
    let number = program.buffers.iter().position(|b| ends(&b.name)).expect(name);
    let of = &program.buffers[number];
    let place = program.outputs().position(|(n, _)| n == number);
    let size = of.elem.bytes() as usize;
    let value = |b: &[u8]| b.iter().rev().fold(0, |v, byte| v << 8 | u64::from(*byte));
    let printed = imported.expected.iter().filter_map(|e| {
        let contents = &e.outputs[place?];
        assert!(contents.defined.iter().all(|d| *d == 0xff), "{name} is not defined");
        Some(contents.bytes.chunks(size).map(value).collect())
    });
    (of.values(), printed.collect())
}

fn param(imported: &Imported, name: &str) -> u64 {
    let main = &imported.program.main;
    let found = imported.program.params.iter().find(|(v, _)| main.name(*v).ends_with(&format!("_{name}")));
    found.expect(name).1
}

fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[test]
fn of_functions_with_one_name_the_one_for_the_vector_is_called() {
    let program = imported(
        "static inline vint32m1_t twice(vint32m1_t v, size_t vl) { return __riscv_vadd(v, v, vl); }
         static inline vint32m2_t twice(vint32m2_t v, size_t vl) { return __riscv_vsll(v, 1, vl); }
         static inline int twice(int a, int b) { return a * b; }
         void f(int *p) {
           __riscv_vse32(p, twice(__riscv_vle32_v_i32m2(p, 4), 4), 4);
           __riscv_vse32(p + 4, twice(__riscv_vle32_v_i32m1(p + 4, twice(1, 4)), 4), 4);
         }",
    )
    .unwrap();
    let names: Vec<&str> = program.program.calls().iter().map(|c| &*c.intrinsic.name).collect();
    let has = |part: &str| names.iter().filter(|n| n.contains(part)).count();
    assert_eq!((has("vsll_vx_i32m2"), has("vadd_vv_i32m1")), (1, 1), "{names:?}");
    let (before, after) = buffer(&program, "p");
    for after in after {
        for (a, b) in before.iter().zip(after).take(8) {
            assert_eq!((a << 1) as u32, b as u32);
        }
    }
}

#[test]
fn a_strip_loop_computes_what_the_function_does() {
    let program = imported(
        "#define SEW32(x) __riscv_##x##_f32m8
         void saxpy(long n, float a, const float *x, long inc_x, float *y) {
           if (n <= 0 || a == 0.0f) return;
           for (size_t vl; n > 0; n -= vl, x += vl * inc_x, y += vl) {
             vl = __riscv_vsetvl_e32m8(n);
             vfloat32m8_t vx = SEW32(vlse32_v)(x, inc_x * sizeof(float), vl), vy = SEW32(vle32_v)(y, vl);
             SEW32(vse32_v)(y, __riscv_vfmacc(vy, a, vx, vl), vl);
           }
         }",
    )
    .unwrap();
    let (n, inc, a) =
        (param(&program, "n") as usize, param(&program, "inc_x") as usize, f(param(&program, "a")));
    let ((x, _), (y, results)) = (buffer(&program, "x"), buffer(&program, "y"));
    assert!(n > 50 && results.len() == 4);
    for result in results {
        for i in 0..y.len() {
            let wanted = if i < n { a.mul_add(f(x[i * inc]), f(y[i])) } else { f(y[i]) };
            assert_eq!(f(result[i]), wanted, "element {i}");
        }
    }
    assert!(float_text(Elem::F32, 0).is_some());
}

#[test]
fn helpers_loops_and_exits_keep_their_meaning() {
    let program = imported(
        "static inline vuint8m1_t twice(vuint8m1_t v, size_t vl) { return __riscv_vadd_vv_u8m1(v, v, vl); }
         static int odd(unsigned x) { if (x & 1) return 1; return 0; }
         int f(const uint8_t *src, uint8_t *dst, unsigned *sums, int n) {
           static const uint8_t table[4] = {1, 2, 4, 8};
           const uint8_t *end = src + n;
           int skipped = 0;
           for (int row = 0; row < 3; ++row) {
             const uint8_t *p = src;
             unsigned sum = 0;
             while (p < end) {
               size_t vl = __riscv_vsetvl_e8m1(end - p);
               vuint8m1_t v = twice(__riscv_vle8_v_u8m1(p, vl), vl);
               __riscv_vse8_v_u8m1(dst + (p - src), v, vl);
               p += vl;
             }
             for (int i = 0; i < n; i++) {
               if (odd(src[i])) { skipped++; continue; }
               if (i > 60 && row == 1) break;
               sum += dst[i] * table[i & 3] >> row;
             }
             sums[row] = sum;
             if (sum == 0xffffffffu) return -1;
           }
           return skipped;
         }",
    )
    .unwrap();
    let n = param(&program, "n") as usize;
    let ((src, _), (_, dst), (_, sums), (_, result)) = (
        buffer(&program, "src"),
        buffer(&program, "dst"),
        buffer(&program, "sums"),
        buffer(&program, "result"),
    );
    let mut skipped = 0;
    let mut wanted = Vec::new();
    for row in 0..3 {
        let mut sum = 0u32;
        for i in 0..n {
            if src[i] % 2 == 1 {
                skipped += 1;
                continue;
            }
            if i > 60 && row == 1 {
                break;
            }
            sum += (src[i] as u32 * 2 % 256 * [1, 2, 4, 8][i & 3]) >> row;
        }
        wanted.push(u64::from(sum));
    }
    for at in 0..4 {
        (0..n).for_each(|i| assert_eq!(dst[at][i], src[i] * 2 % 256));
        assert_eq!(sums[at][..3], wanted[..]);
        assert_eq!(result[at], [skipped]);
    }
}

#[test]
fn scalar_floats_are_computed_exactly() {
    let program = imported(
        "float dot(const float *x, const float *y, size_t n, float scale) {
           size_t vlmax = __riscv_vsetvlmax_e32m1();
           vfloat32m1_t acc = __riscv_vfmv_v_f_f32m1(0.0f, vlmax);
           float tail = 0;
           if (n > 1000) return -1.0f;
           do {
             size_t vl = __riscv_vsetvl_e32m1(n);
             acc = __riscv_vfmacc_vv_f32m1_tu(acc, __riscv_vle32_v_f32m1(x, vl), __riscv_vle32_v_f32m1(y, vl), vl);
             tail += *x * 0.5f - (float)(int)n;
             x += vl; y += vl; n -= vl;
           } while (n != 0);
           float sum = __riscv_vfmv_f_s_f32m1_f32(
             __riscv_vfredosum_vs_f32m1_f32m1(acc, __riscv_vfmv_s_f_f32m1(0, 1), vlmax));
           return sum * scale + (tail > 0.0f ? tail : -tail);
         }",
    )
    .unwrap();
    let n = param(&program, "n") as usize;
    let scale = f(param(&program, "scale"));
    let ((x, _), (y, _), (_, result)) =
        (buffer(&program, "x"), buffer(&program, "y"), buffer(&program, "result"));
    for (at, vlen) in [128usize, 256, 512, 1024].into_iter().enumerate() {
        let lanes = vlen / 32;
        let mut acc = vec![0f32; lanes];
        let mut tail = 0f32;
        for start in (0..n).step_by(lanes) {
            (start..n.min(start + lanes))
                .for_each(|i| acc[i - start] = f(x[i]).mul_add(f(y[i]), acc[i - start]));
            tail += f(x[start]) * 0.5 - (n - start) as f32;
        }
        let sum = acc.iter().fold(0f32, |sum, v| sum + v);
        assert_eq!(f(result[at][0]), sum * scale + tail.abs(), "VLEN {vlen}");
    }
}

#[test]
fn a_regression_test_of_a_compiler_is_a_program() {
    let program = imported(
        "vint8m1_t test(vbool8_t mask, vint8m1_t a, vint8m1_t b, size_t vl) {
           return __riscv_vadd_mu(mask, a, a, b, vl);
         }",
    )
    .unwrap();
    assert_eq!(program.program.calls().iter().filter(|c| c.overloaded).count(), 1);
}

#[test]
fn a_variable_keeps_its_value_when_it_is_copied() {
    let program = imported(
        "vint32m1_t f(vint32m1_t a, vint32m1_t b) {
           vint32m1_t c, d;
           c = a;
           d = __riscv_vadd_vv_i32m1(c, b, 4);
           c = d;
           d = __riscv_vadd_vv_i32m1(c, d, 4);
           return __riscv_vsub_vv_i32m1(d, c, 4);
         }",
    )
    .unwrap();
    let (a, _) = buffer(&program, "a");
    let (b, _) = buffer(&program, "b");
    let number = program.program.outputs().next().unwrap().0;
    assert!(program.program.buffers[number].name.ends_with("_result"));
    for expected in &program.expected {
        for i in 0..4 {
            let bytes: [u8; 4] = expected.outputs[0].bytes[4 * i..4 * i + 4].try_into().unwrap();
            assert_eq!(u32::from_le_bytes(bytes), (a[i] as u32).wrapping_add(b[i] as u32));
        }
    }
}

#[test]
fn memory_of_another_type_is_reinterpreted() {
    let program = imported(
        "void f(const void *src, uint16_t *dst, size_t n) {
           const int16_t *p = (const int16_t *)src;
           __riscv_vse16_v_i16m1((int16_t *)dst, __riscv_vle16_v_i16m1(p + 2, n), n);
         }",
    )
    .unwrap();
    let ((src, _), (_, dst)) = (buffer(&program, "src"), buffer(&program, "dst"));
    let n = param(&program, "n") as usize;
    dst.iter().for_each(|d| assert_eq!(d[..n], src[2..2 + n]));
}

#[test]
fn what_cannot_be_said_is_named() {
    let refused = |body: &str| {
        let text = format!(
            "int other(int);\nvoid f(int *p, int **q, size_t n) {{\n  vint32m1_t v = __riscv_vle32_v_i32m1(p, n);\n  \
             {body}\n  __riscv_vse32_v_i32m1(p, v, n);\n}}"
        );
        imported(&text).unwrap_err()
    };
    let refusal = imported(
        "int other(int);\nvoid f(int *p, size_t n) {\n  vint32m1_t v = __riscv_vle32_v_i32m1(p, n);\n  \
         p[0] = other(3);\n}",
    )
    .unwrap_err();
    assert_eq!((refusal.place.line, &*refusal.what), (4, "a function without a body here"));
    assert_eq!(refusal.detail, "`other`, a function without a body here");
    assert_eq!(refused("").what, "a parameter that is a pointer to pointers");
    for (body, what) in [
        ("goto end; end:", "goto"),
        ("switch (n) { case 1: break; }", "switch"),
        ("asm volatile(\"nop\");", "inline assembly"),
        ("foo = 1;", "a name that nothing defines"),
        ("p = 0; p[1] = 2;", "a null pointer that is used"),
        ("f(p, n);", "recursion"),
    ] {
        let text = format!(
            "void f(int *p, size_t n) {{ vint32m1_t v = __riscv_vle32_v_i32m1(p, n); {body} __riscv_vse32(p, v, n); }}"
        );
        assert_eq!(imported(&text).unwrap_err().what, what, "{body}");
    }
}
