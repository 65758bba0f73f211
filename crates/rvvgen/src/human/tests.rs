use super::*;
use crate::learn::Table;
use crate::{Plan, Selection, Settings, Sizes, Weights, generate};
use std::sync::Arc;

fn settings() -> Settings {
    Settings { weights: Weights::policy("human").unwrap(), ..Settings::default() }
}

fn plan() -> Plan {
    Plan::new(7, &Selection::default(), Sizes { least: 1, most: 40 }, 128)
}

#[test]
fn a_seed_has_one_program_and_each_has_a_meaning() {
    for k in 0..20 {
        let generated = generate(&plan(), k, &settings()).unwrap();
        assert!(generated == generate(&plan(), k, &settings()).unwrap(), "program {k}");
        let text = generated.program.to_string();
        assert!(text.parse::<rvv_ir::Program>().unwrap() == generated.program, "{text}");
        assert!(text.contains("as people write"));
        rvv_ir::elf::lower(&[&generated.program]).unwrap();
    }
}

#[test]
fn a_table_of_ones_own_decides() {
    let text = "
        [families]\nvle16_v = 1\nvadd_vv = 5\nvse16_v = 1\n
        [pairs]\n\"vle16_v > vadd_vv vs2\" = 1\n\"vle16_v > vadd_vv vs1\" = 1\n\"vadd_vv > vse16_v data\" = 1\n
        [types]\ni16m2 = 1\n[policies]\nnone = 1\n[names]\nexplicit = 1\n[vl]\nliteral = 1\n[scalars]\nliteral = 1
        [loops]\n\"strip, counting up\" = 1\n[loops-per-function]\n1 = 1\n[operations-per-function]\n3-4 = 1\n";
    let human = Human::read(text).unwrap();
    let settings = Settings { human: Some(Arc::new(human)), ..settings() };
    for k in 0..10 {
        let program = generate(&plan(), k, &settings).unwrap().program;
        let names: Vec<&str> = program.calls().iter().map(|c| &*c.intrinsic.name).collect();
        assert!(names.contains(&"__riscv_vadd_vv_i16m2"), "{names:?}");
        let known = ["__riscv_vle16_v_i16m2", "__riscv_vadd_vv_i16m2", "__riscv_vse16_v_i16m2"];
        assert!(names.iter().all(|n| known.contains(n)), "{names:?}");
    }
}

#[test]
fn strange_tables_do_no_harm() {
    let mut table = Table::default();
    for (section, names) in
        [("families", "vle8_v vfoo"), ("types", "i8m1 x9"), ("loops", "spiral"), ("vl", "7")]
    {
        names.split(' ').for_each(|n| table.add(section, n, u64::MAX));
    }
    table.add("pairs", "vle8_v > ", 3);
    table.add("pairs", "vle8_v > vadd_vv vs2", u64::MAX);
    table.add("operations-per-function", "99999999999999999999-", 1);
    table.add("loops-per-function", "5-1", 1);
    let settings = Settings { human: Some(Arc::new(Human::new(table))), ..settings() };
    for k in 0..5 {
        generate(&plan(), k, &settings).unwrap();
    }
}
