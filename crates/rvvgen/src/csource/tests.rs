use super::*;
use rvv_ir::data::SplitMix;

fn unit(text: &str) -> Unit {
    read_text(&mut Files::default(), "a.c", text).unwrap()
}

fn names(text: &str) -> Vec<String> {
    unit(text).source.functions.iter().map(|f| f.name.to_string()).collect()
}

const KERNEL: &str = r#"
#include <riscv_vector.h>
#if defined(MADE_UP_OPTION) && MADE_UP_OPTION > 2
#define SUFFIX(x) legacy_##x
#else
#define SUFFIX(x) __riscv_##x
#endif
#define CAT_(a, b) a##b
#define CAT(a, b) CAT_(a, b)
#define LOAD(p, n) SUFFIX(CAT(vle32_v_, TYPE))(p, n)
#define TYPE i32m2
enum { FIRST = 3, SECOND };
typedef struct { float lo, hi; } limits;
static inline int min(int a, int b) { return a < b ? a : b; }
/* { dg-do compile } */
int UNKNOWN_MACRO kernel(const int32_t *restrict x, size_t n, const limits *l) __attribute__((noinline)) {
  vint32m2_t v = LOAD(x, n);
  for (size_t i = 0; i < n; i++) { if (i == SECOND) continue; n -= (size_t)l->lo; }
  do { n >>= 1; } while (n > 0x10UL);
  return __riscv_vmv_x_s_i32m2_i32(v) + min('a', -1);
}
"#;

#[test]
fn functions_are_read() {
    let unit = unit(KERNEL);
    let [min, kernel] = &unit.source.functions[..] else { panic!("{:?}", unit.source.functions) };
    assert!(!min.has_intrinsics && kernel.has_intrinsics);
    assert_eq!((&*kernel.name, kernel.params.len(), kernel.place.line), ("kernel", 3, 16));
    assert!(kernel.body.is_ok(), "{:?}", kernel.body);
    assert_eq!(unit.source.constants["SECOND"], 4);
    assert_eq!(unit.source.structs.len(), 1);
}

#[test]
fn c_plus_plus_is_read_as_far_as_it_goes() {
    let text = r#"
namespace a { namespace {
template <typename T> struct Traits { static T load(const T *p) { return *p; } };
class Kernel : public Base { public: Kernel(int n) : n_(n) {} void run(float *p) const { __riscv_vse32(p, v, 4); } int n_; };
inline vfloat32m1_t add(const vfloat32m1_t &a, vfloat32m1_t b) { return __riscv_vfadd(a, b, std::min<size_t>(4, 8)); }
}}
extern "C" { void f(void) { auto x = static_cast<int>(3.5f); g([](int a) { return a; }, x); } }
"#;
    assert_eq!(names(text), ["load", "Kernel", "run", "add", "f"]);
    let unit = unit(text);
    // Names are found where a body is not understood.
    assert!(unit.source.functions[4].body.as_ref().is_err_and(|(_, what)| what == "a lambda"));
    assert!(unit.source.functions[3].body.is_ok());
}

#[test]
fn overloaded_names_are_resolved_by_types() {
    let vector = |name: &str| Argument::Vector(vector_type(name).unwrap());
    let name = |name: &str, args: &[Argument]| resolve(name, args).map(|r| r.intrinsic.name.to_string());
    let size = Argument::Scalar(Some(rvv_intrinsics::Elem::U64));
    let v = vector("vint32m2_t");
    assert_eq!(name("__riscv_vadd", &[v, v, size]).as_deref(), Some("__riscv_vadd_vv_i32m2"));
    assert_eq!(name("__riscv_vadd", &[v, size, size]).as_deref(), Some("__riscv_vadd_vx_i32m2"));
    let mask = vector("vbool16_t");
    assert_eq!(name("__riscv_vadd", &[mask, v, v, size]).as_deref(), Some("__riscv_vadd_vv_i32m2_m"));
    assert_eq!(name("__riscv_vadd", &[Argument::Unknown, Argument::Unknown, size]), None);
    assert_eq!(name("__riscv_vadd", &[mask, mask, size]), None);
    assert!(
        is_intrinsic_name("__riscv_vadd") && !is_intrinsic_name("__riscv_vfoo") && !is_intrinsic_name("vadd")
    );
}

#[test]
fn numbers_have_their_types() {
    use rvv_intrinsics::Elem::*;
    for (text, value, elem) in [
        ("1", 1, I32),
        ("0xffffffff", 0xffff_ffff, U32),
        ("4294967295", 0xffff_ffff, I64),
        ("010", 8, I32),
        ("3u", 3, U32),
        ("3UL", 3, U64),
        ("0b101", 5, I32),
    ] {
        assert_eq!(super::parse::integer(text), Some((value, elem)), "{text}");
    }
}

#[test]
fn what_is_nested_or_grows_without_end_is_refused() {
    let depth = 20_000;
    for (open, close) in [("(", ")"), ("{", "}"), ("-", ""), ("a?", ":0"), ("if(1)", ";"), ("x=", "1")] {
        let text =
            format!("void f(void) {{ __riscv_vadd(); {}0{}; }}", open.repeat(depth), close.repeat(depth));
        assert!(unit(&text).source.functions.iter().all(|f| f.body.is_err()), "{open}");
    }
    let chain = format!("int f(void) {{ return 1{}; }}", "+1".repeat(depth));
    assert!(unit(&chain).source.functions[0].body.is_err());
    let mut bomb = "#define A0 x x\n".to_string();
    (1..60).for_each(|n| bomb += &format!("#define A{n} A{} A{}\n", n - 1, n - 1));
    let bomb = read_text(&mut Files::default(), "a.c", &format!("{bomb}int f(void) {{ A59 }}"));
    assert!(matches!(bomb, Err(SourceError::Expansion(_))), "{bomb:?}");
    let nested = read_text(&mut Files::default(), "a.c", &"#if 1\n".repeat(depth));
    assert!(matches!(nested, Err(SourceError::Deep(..))));
    let calls =
        format!("#define F(x) x\nint f(void) {{ return {}1{}; }}", "F(".repeat(2000), ")".repeat(2000));
    assert!(read_text(&mut Files::default(), "a.c", &calls).is_err());
    let large = " ".repeat(MOST_BYTES + 1);
    assert!(matches!(read_text(&mut Files::default(), "a.c", &large), Err(SourceError::Large(_))));
    unit(&"namespace a {".repeat(depth));
    unit(&"template <".repeat(depth));
    unit("#define F(x) F(x) x\n#define G F(G)\nint f(void) { G F(F)(1) }");
}

#[test]
fn any_bytes_are_read_without_harm() {
    let mut rng = SplitMix(5);
    let bits = [
        "(",
        ")",
        "{",
        "}",
        "#if X\n",
        "#endif\n",
        "#define A(x) x##x\n",
        "A(",
        "\"",
        "/*",
        "'",
        "\\\n",
        "<",
        "::",
    ];
    for _ in 0..80 {
        let mut text = KERNEL.as_bytes().to_vec();
        for _ in 0..1 + rng.below(8) {
            let at = rng.below(text.len() as u64) as usize;
            match rng.below(4) {
                0 => text[at] = rng.below(256) as u8,
                1 => text.truncate(at + 1),
                2 => {
                    let end = (at + rng.below(40) as usize).min(text.len());
                    text.drain(at..end);
                }
                _ => {
                    let bit = bits[rng.below(bits.len() as u64) as usize];
                    text.splice(at..at, bit.bytes());
                }
            }
            if text.is_empty() {
                break;
            }
        }
        let text = String::from_utf8_lossy(&text);
        if let Ok(unit) = read_text(&mut Files::default(), "a.cpp", &text) {
            crate::learn::learn(&unit);
            for function in crate::import::functions(&unit) {
                let settings = crate::import::Settings { vlens: vec![128], len: 4, ..Default::default() };
                let _ = crate::import::import(&unit, function, &settings);
            }
        }
    }
}
