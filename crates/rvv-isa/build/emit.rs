//! Writes the tables as Rust source.

use crate::shapes::Pool;
use crate::tables::{Insn, Operand, Tables, is_computing_vector};
use std::fmt::Write;

/// `c.addi` is `CAddi`, `mop.r.N` is `MopRN`: each piece between dots and underscores gets a capital.
pub fn variant(name: &str) -> String {
    name.split(['.', '_'])
        .map(|piece| {
            let (first, rest) = piece.split_at(1);
            first.to_uppercase() + rest
        })
        .collect()
}

pub fn rust_list(items: impl Iterator<Item = String>) -> String {
    items.collect::<Vec<_>>().join(", ")
}

/// `zbb&d|zbkb` is a choice of sets, all of one of which must be there.
fn requirement(tables: &Tables, text: &str) -> Vec<u128> {
    let bit = |name: &str| {
        let index = tables.extensions.iter().position(|e| e.name == name);
        1u128 << index.unwrap_or_else(|| panic!("no extension {name}"))
    };
    text.split('|').map(|all| all.split('&').map(bit).fold(0, |set, bit| set | bit)).collect()
}

/// The sets of a [`requirement`], as Rust.
pub fn sets(tables: &Tables, text: &str) -> String {
    rust_list(requirement(tables, text).iter().map(|set| format!("ExtSet({set:#x})")))
}

/// The memory that an instruction accesses, or that what it expands to does.
fn access(tables: &Tables, insn: &Insn) -> String {
    let base =
        || tables.insns.iter().find(|base| base.name == insn.base).and_then(|base| base.access.as_ref());
    match insn.access.as_ref().or_else(base) {
        None => "Access::None".to_owned(),
        Some(access) => access.rust(),
    }
}

/// The format of the floating-point sources of a scalar instruction.
fn source(insn: &Insn) -> String {
    assert_eq!(
        insn.class == "Float",
        insn.source.is_some(),
        "{}: scalar floating point has a source",
        insn.name
    );
    match insn.source.as_deref() {
        None | Some("x") => "None".to_owned(),
        Some(format) => format!("Some(FloatFormat::{})", variant(format)),
    }
}

pub fn ops(tables: &Tables) -> String {
    let mut out = String::new();
    let insns = &tables.insns;
    out += "/// An instruction, named as its mnemonic: `vadd.vv` is [`Op::VaddVv`].\n";
    out +=
        "#[repr(u16)]\n#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]\npub enum Op {\n";
    for insn in insns {
        let _ = writeln!(out, "    /// `{}`\n    {},", insn.name, variant(&insn.name));
    }
    out += "}\n\n";
    let _ = writeln!(out, "static ALL: [Op; {}] = [", insns.len());
    for insn in insns {
        let _ = writeln!(out, "    Op::{},", variant(&insn.name));
    }
    out += "];\n\n";

    let mut names: Vec<&str> = insns.iter().map(|i| i.name.as_str()).collect();
    names.sort();
    assert!(names.windows(2).all(|w| w[0] < w[1]), "two instructions of one name");
    let _ = writeln!(out, "static BY_NAME: [(&str, Op); {}] = [", names.len());
    for name in names {
        let _ = writeln!(out, "    (\"{name}\", Op::{}),", variant(name));
    }
    out += "];\n\n";

    let shapes = Pool::new(tables);
    let _ = writeln!(out, "static INFO: [OpInfo; {}] = [", insns.len());
    for insn in insns {
        let operands = rust_list(
            insn.operands.iter().map(|&o| format!("Operand::{}", variant(&tables.operands[o].name))),
        );
        let requires = sets(tables, &insn.requires);
        let refines = insn.refines.as_ref().map(|op| format!("Op::{}", variant(op)));
        // A field that the match bits settle is as good as an operand to whoever runs the instruction.
        let vector = is_computing_vector(&insn.class);
        let settled = |mask: u32| vector && insn.mask & mask == mask;
        let vm = !settled(1 << 25) || insn.match_ >> 25 & 1 == 1;
        let memory = insn.class == "VectorLoad" || insn.class == "VectorStore";
        let nf = if memory && settled(7 << 29) { insn.match_ >> 29 } else { 0 };
        let _ = writeln!(
            out,
            "    OpInfo {{ name: \"{}\", mask: {:#010x}, match_: {:#010x}, operands: &[{operands}], \
             requires: Requires(&[{requires}]), class: Class::{}, extension: \"{}\", base: Op::{}, \
             refines: {}, unlisted: {}, shape: {}, access: {}, source: {}, asm: \"{}\", format: {}, \
             fixed: Fixed {{ rd: {}, rs1: {}, rs2: {}, imm: {}, vm: {vm}, nf: {nf} }} }},",
            insn.name,
            insn.mask,
            insn.match_,
            insn.class,
            insn.extension,
            variant(&insn.base),
            refines.map_or("None".to_owned(), |r| format!("Some({r})")),
            insn.unlisted,
            shapes.reference(insn),
            access(tables, insn),
            source(insn),
            insn.asm,
            insn.format,
            insn.fixed.rd,
            insn.fixed.rs1,
            insn.fixed.rs2,
            insn.fixed.imm,
        );
    }
    out += "];\n";
    out
}

pub fn operands(tables: &Tables) -> String {
    let mut out = String::new();
    out += "/// An operand of an encoding, named as in `isa/operands.toml`.\n";
    out += "#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]\npub enum Operand {\n";
    for operand in &tables.operands {
        let _ = writeln!(out, "    /// `{}`\n    {},", operand.name, variant(&operand.name));
    }
    out += "}\n\n";
    let _ = writeln!(out, "static OPERANDS: [OperandInfo; {}] = [", tables.operands.len());
    for operand in &tables.operands {
        let file = match operand.file.as_deref() {
            None => "None".to_owned(),
            Some(file) => format!("Some(RegFile::{})", variant(file)),
        };
        let _ = writeln!(
            out,
            "    OperandInfo {{ name: \"{}\", official: \"{}\", fields: &[{}], file: {file}, show: Show::{} \
             }},",
            operand.name,
            operand.official,
            rust_list(operand.fields.iter().map(|f| format!("Field::{}", variant(f)))),
            variant(operand.show.as_deref().unwrap_or("decimal")),
        );
    }
    out += "];\n";
    out
}

/// The operand's value as an expression over the word `w`.
fn value(operand: &Operand) -> String {
    let runs = &operand.runs;
    let runs: Vec<String> = runs
        .iter()
        .enumerate()
        .map(|(i, run)| {
            let bits = match operand.signed && i == 0 {
                // The top run shifted up to the sign and back down fills the rest with it.
                true => format!("(w << {}) as i32 >> {}", 32 - run.at - run.len, 32 - run.len),
                false => format!("(w >> {} & {:#x}) as i32", run.at, run.mask()),
            };
            format!("({bits}) << {}", run.to)
        })
        .collect();
    runs.join(" | ")
}

fn is_flag(field: &str) -> bool {
    matches!(field, "vm" | "aq" | "rl")
}

/// For each format the code that takes its fields out of a word and the code that puts them in.
pub fn formats(tables: &Tables) -> String {
    let mut extract = String::new();
    let mut insert = String::new();
    for (number, format) in tables.formats.iter().enumerate() {
        let _ = writeln!(extract, "        {number} => {{");
        let _ = writeln!(insert, "        {number} => {{");
        for &o in &format.operands {
            let operand = &tables.operands[o];
            for field in &operand.fields {
                let value = value(operand);
                let _ = match field.as_str() {
                    "imm" => writeln!(extract, "            inst.imm |= {value};"),
                    flag if is_flag(flag) => writeln!(extract, "            inst.{flag} = ({value}) != 0;"),
                    field if operand.plus > 0 => {
                        writeln!(extract, "            inst.{field} = ({value}) as u8 + {};", operand.plus)
                    }
                    field => writeln!(extract, "            inst.{field} = ({value}) as u8;"),
                };
            }
            let field = &operand.fields[0];
            for run in &operand.runs {
                let _ = writeln!(
                    insert,
                    "            w |= ((inst.{field} as u32).wrapping_sub({}) >> {} & {:#x}) << {};",
                    operand.plus,
                    run.to,
                    run.mask(),
                    run.at
                );
            }
        }
        // Checked last: a reserved value is one of the whole field, whose pieces are several operands.
        for &o in format.operands.iter().filter(|o| !format.lenient.contains(o)) {
            let operand = &tables.operands[o];
            let field = &operand.fields[0];
            for forbidden in &operand.forbid {
                let _ = writeln!(
                    extract,
                    "            if inst.{field} == {forbidden} {{ return Err(Operand::{}); }}",
                    variant(&operand.name)
                );
            }
            if operand.even {
                let _ = writeln!(
                    extract,
                    "            if inst.{field} & 1 == 1 {{ return Err(Operand::{}); }}",
                    variant(&operand.name)
                );
            }
        }
        extract += "        }\n";
        insert += "        }\n";
    }
    format!(
        "/// Fills in the fields of a format; an operand whose value is reserved is the error.\n\
         pub(crate) fn extract(format: u8, w: u32, inst: &mut Inst) -> Result<(), Operand> {{\n\
         \x20   match format {{\n{extract}        _ => unreachable!(\"no such \
         format\"),\n    }}\n    Ok(())\n}}\n\n\
         /// The bits of a word that a format's fields take.\n\
         pub(crate) fn insert(format: u8, inst: &Inst) -> u32 {{\n    let mut w = 0u32;\n\
         \x20   match format {{\n{insert}        _ => unreachable!(\"no such format\"),\n    }}\n    w\n}}\n"
    )
}

pub fn extensions(tables: &Tables) -> String {
    let mut out = String::new();
    out += "/// An extension that changes which instructions there are, or which registers.\n";
    out +=
        "#[repr(u8)]\n#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]\npub enum Ext {\n";
    for extension in &tables.extensions {
        let _ = writeln!(out, "    /// {}\n    {},", extension.doc, variant(&extension.name));
    }
    out += "}\n\n";
    let _ = writeln!(out, "static EXTENSIONS: [ExtInfo; {}] = [", tables.extensions.len());
    for e in &tables.extensions {
        let _ = writeln!(
            out,
            "    ExtInfo {{ name: \"{}\", ext: Ext::{}, closure: ExtSet({:#x}), hwprobe: {:?}, experimental: {} }},",
            e.name,
            variant(&e.name),
            e.closure,
            e.hwprobe,
            e.experimental,
        );
    }
    out += "];\n\n";
    let groups = &tables.extension_groups;
    let _ = writeln!(out, "static GROUPS: [(&str, &[&str]); {}] = [", groups.len());
    for (name, means) in groups {
        let _ = writeln!(out, "    (\"{name}\", &{means:?}),");
    }
    out += "];\n\n";
    let _ = writeln!(out, "static NOTED: [(&str, &str); {}] = [", tables.noted.len());
    for noted in &tables.noted {
        let _ = writeln!(out, "    ({:?}, {:?}),", noted.name, noted.why);
    }
    out += "];\n\n";
    let requires = tables.insns.iter().flat_map(|insn| requirement(tables, &insn.requires));
    let named = requires.fold(0, |all, set| all | set);
    let _ = writeln!(out, "/// The extensions that instructions ask for by name.");
    let _ = writeln!(out, "const NAMED: u128 = {named:#x};");
    let lists =
        [("ACCEPTED", &tables.accepted), ("PRIVILEGED", &tables.privileged), ("REFUSED", &tables.refused)];
    for (list, names) in lists {
        let names: Vec<_> = names.iter().map(|n| format!("\"{n}\"")).collect();
        let _ = writeln!(out, "static {list}: [&str; {}] = [{}];", names.len(), names.join(", "));
    }
    out
}

pub fn csrs(tables: &Tables) -> String {
    let mut out = String::new();
    for (name, number) in &tables.csrs {
        let _ = writeln!(out, "/// `{name}`\npub const {}: u16 = {number:#05x};", name.to_uppercase());
    }
    let _ = writeln!(out, "\nstatic BY_NUMBER: [(u16, &str); {}] = [", tables.csrs.len());
    for (name, number) in &tables.csrs {
        let _ = writeln!(out, "    ({number:#05x}, \"{name}\"),");
    }
    out += "];\n";
    out
}
