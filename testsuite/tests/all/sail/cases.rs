//! Integer instructions, on corners and random operands, answer what the official Sail model answers.

use super::model::{Sail, expand, quietly};
use rvv_isa::{Field, Inst, Op, RegFile};
use std::sync::LazyLock;
use testsuite::cases::{self, Density, Group};
use testsuite::{compare, emulator, program};

/// The instructions that the Sail model (as `softcore-rv64` 0.6 has it) can judge by registers alone.
const JUDGED: &str = "\
    c.addi4spn c.addi c.addiw c.andi c.slli c.srli c.srai c.addi16sp c.li c.lui c.mv c.add c.sub c.xor \
    c.or c.and c.addw c.nop lui addi slti sltiu xori ori andi slli srli srai add sub sll slt sltu xor \
    srl sra or and addiw slliw srliw sraiw addw sllw srlw sraw fence fence.tso mul mulw div divu rem \
    remu divw divuw remw remuw sfence.vma sinval.vma sfence.w.inval sfence.inval.ir sh1add sh2add sh3add \
    add.uw sh1add.uw sh2add.uw sh3add.uw slli.uw pack packh packw bclri bexti binvi bseti bclr bext binv \
    bset c.zext.b c.not c.zext.w c.mul c.mop.N prefetch.i prefetch.r prefetch.w czero.eqz czero.nez \
    fence.i ntl.p1 ntl.pall ntl.s1 ntl.all c.ntl.p1 c.ntl.pall c.ntl.s1 c.ntl.all pause mop.r.N mop.rr.N";

static FOUND: LazyLock<Vec<Op>> = LazyLock::new(|| {
    let all = Op::all().filter(|op| !op.is_vector());
    quietly(|| all.filter(|&op| cases::groups(op, Density::Golden).iter().all(is_judged)).collect())
});

fn is_judged(group: &Group) -> bool {
    // What depends on the pc is the business of lockstep.
    compare::is_register_only(group)
        && group.inst.op != Op::Auipc
        && Sail::covers(group.inst.raw, group.inst.len)
}

#[test]
fn the_sail_model_judges_the_instructions_listed() {
    let names: Vec<_> = FOUND.iter().map(|op| op.name()).collect();
    assert_eq!(names.join(" "), JUDGED);
}

#[test]
fn integer_instructions_answer_as_the_sail_model_does() {
    let groups: Vec<Group> = FOUND.iter().flat_map(|&op| cases::groups(op, Density::Full)).collect();
    let rows: usize = groups.iter().map(|g| g.rows.len()).sum();
    assert!(rows > 100_000, "only {rows} cases");
    let mut sail = Sail::new();
    let mut expected = Vec::with_capacity(3 * rows);
    for group in &groups {
        let i = &group.inst;
        let word = if i.len == 2 { expand(i.raw as u16).expect("judged") } else { i.raw };
        for row in group.rows.iter() {
            for (field, value) in [(Field::Rd, row[2]), (Field::Rs2, row[1]), (Field::Rs1, row[0])] {
                if group.registers().any(|r| r == (field, RegFile::X)) {
                    sail.set_x(i.get(field) as u8, value);
                }
            }
            sail.execute(word, i.len, program::RAM).unwrap_or_else(|| panic!("{}", describe(i)));
            let writes = group.registers().any(|r| r == (Field::Rd, RegFile::X));
            expected.extend([if writes { sail.x(i.rd) } else { 0 }, 0, 0]);
        }
    }
    let got = emulator::signature(&program::build(&groups)).unwrap_or_else(|e| panic!("{e}"));
    let (count, text) = compare::differences(&groups, &expected, &got, 40);
    assert_eq!(count, 0, "{count} rows differ from the Sail model's\n{text}");
}

fn describe(inst: &Inst) -> String {
    format!("{} ({:#x})", inst.op.name(), inst.raw)
}
