use super::*;
use crate::csource::{Files, read_text};
use crate::{Plan, Selection, Settings, Sizes, Weights, generate};
use rvv_ir::c::emit_function;

fn learned(text: &str) -> Learned {
    let unit = read_text(&mut Files::default(), "a.c", text).unwrap();
    learn(&unit)
}

const SAXPY: &str = "
#include <riscv_vector.h>
#define LOAD __riscv_vle32_v_f32m8
void saxpy(size_t n, const float a, const float *x, float *y) {
  for (size_t vl; n > 0; n -= vl, x += vl, y += vl) {
    vl = __riscv_vsetvl_e32m8(n);
    vfloat32m8_t vx = LOAD(x, vl);
    vfloat32m8_t vy = LOAD(y, vl);
    __riscv_vse32(y, __riscv_vfmacc(vy, a, vx, vl), vl);
  }
}";

#[test]
fn a_loop_is_counted() {
    let Learned { table, functions, unread, calls, unknown } = learned(SAXPY);
    assert_eq!((functions, unread.len(), calls, unknown), (1, 0, 5, 0));
    assert_eq!(table.count("families", "vle32_v"), 2);
    assert_eq!(table.count("families", "vfmacc_vf"), 1);
    assert_eq!(table.count("pairs", "vle32_v > vfmacc_vf vd"), 1);
    assert_eq!(table.count("pairs", "vle32_v > vfmacc_vf vs2"), 1);
    assert_eq!(table.count("pairs", "vfmacc_vf > vse32_v data"), 1);
    assert_eq!(table.count("types", "f32m8"), 4);
    assert_eq!(table.count("policies", "none"), 4);
    assert_eq!(table.count("names", "overloaded"), 2);
    assert_eq!(table.count("vl", "vsetvl in a loop"), 4);
    assert_eq!(table.count("scalars", "parameter"), 1);
    assert_eq!(table.count("loops", "strip, counting down"), 1);
    assert_eq!(table.count("operations-per-function", "1"), 1);
    assert_eq!(table.count("loops-per-function", "1"), 1);
}

#[test]
fn an_accumulator_is_an_operand_of_itself() {
    let table = learned(
        "float f(const float *x, size_t n) {
           size_t m = __riscv_vsetvlmax_e32m1();
           vfloat32m1_t s = __riscv_vfmv_v_f_f32m1(0.0f, m);
           for (; n >= m; n -= m) { s = __riscv_vfadd_vv_f32m1(s, __riscv_vle32_v_f32m1(x, m), m); x += m; }
           size_t vl = __riscv_vsetvl_e32m1(n);
           s = __riscv_vfadd_vv_f32m1_tu(s, s, __riscv_vle32_v_f32m1(x, vl), vl);
           vfloat32m1_t z = __riscv_vfredusum_vs_f32m1_f32m1(s, s, m);
           return __riscv_vfmv_f_s_f32m1_f32(z);
         }",
    )
    .table;
    assert_eq!(table.count("pairs", "vfadd_vv > vfadd_vv vs2"), 2, "{table:?}");
    assert_eq!(table.count("loops", "VLMAX, with a remainder"), 1);
    assert_eq!(table.count("policies", "tu"), 1);
    assert_eq!(table.count("vl", "vsetvlmax"), 4);
    assert_eq!(table.count("vl", "vsetvl"), 2);
    assert_eq!(table.count("reductions", "outside of loops"), 1);
    assert_eq!(table.count("scalars", "literal"), 1);
}

#[test]
fn a_table_is_the_same_after_writing_and_reading() {
    let table = Table::human();
    assert!(table.sources.len() >= 3 && table.sources.iter().all(|s| s.commit.len() == 40));
    assert_eq!(Table::from_toml(&table.to_toml()).as_ref(), Ok(table));
    let mut shorter = table.clone();
    shorter.shorten();
    assert_eq!(shorter, *table);
    for (section, ..) in SECTIONS {
        assert_eq!(table.distance(table, section), 0.0);
        assert!(table.section(section).count() <= 481, "{section}");
    }
}

#[test]
fn bad_tables_are_refused() {
    for bad in ["=", "[colours]\nred = 1\n", "[families]\nvadd_vv = -1\n", "[families]\nvadd_vv = 1\n", ""] {
        assert!(Table::from_toml(bad).is_err(), "{bad}");
    }
    assert!(Table::from_toml(&"#".repeat(2 << 20)).is_err());
}

#[test]
fn the_rest_is_compared_as_the_rest() {
    let mut a = Table::default();
    a.add("families", "vadd_vv", 1);
    a.add("families", REST, 1);
    let mut b = Table::default();
    b.add("families", "vadd_vv", 5);
    b.add("families", "vmul_vv", 5);
    assert_eq!(a.distance(&b, "families"), 0.0);
    assert_eq!(b.distance(&Table::default(), "families"), 1.0);
}

/// What programs of a policy are like, as their C is read.
fn of_policy(policy: &str, count: u64) -> Table {
    let settings = Settings { weights: Weights::policy(policy).unwrap(), ..Settings::default() };
    let plan = Plan::new(1, &Selection::default(), Sizes { least: 1, most: 40 }, 128);
    let mut table = Table::default();
    for k in 0..count {
        let program = generate(&plan, k, &settings).unwrap().program;
        table.join(&learned(&emit_function(&program)).table);
    }
    table
}

#[test]
fn programs_of_human_are_nearer_to_what_people_write() {
    let (human, default) = (of_policy("human", 60), of_policy("default", 16));
    for section in ["families", "pairs", "types", "policies", "names", "loops", "operations-per-function"] {
        let near = Table::human().distance(&human, section);
        let far = Table::human().distance(&default, section);
        assert!(near < far, "{section}: {near:.3} is not less than {far:.3}");
    }
}
