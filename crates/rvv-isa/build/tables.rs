//! Reads the tables and resolves what refers to what.

use crate::bits::{Run, runs};
use crate::shapes::{Access, Shape, ShapeKeys, Shapes};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperandRow {
    name: String,
    at: String,
    bits: Option<String>,
    field: String,
    #[serde(default)]
    signed: bool,
    file: Option<String>,
    #[serde(default)]
    plus: u8,
    #[serde(default)]
    forbid: Vec<i32>,
    #[serde(default)]
    even: bool,
    official: Option<String>,
    show: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OperandFile {
    operand: Vec<OperandRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EncodingFile {
    requires: String,
    group: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    class: String,
    chapter: Option<String>,
    requires: Option<String>,
    asm: Option<String>,
    #[serde(default)]
    unlisted: bool,
    source: Option<String>,
    /// The keys of its shape.
    #[serde(flatten)]
    shape: toml::Table,
    insns: Vec<InsnRow>,
}

#[derive(Deserialize)]
struct InsnRow {
    name: String,
    operands: String,
    mask: u32,
    r#match: u32,
    refines: Option<String>,
    base: Option<String>,
    #[serde(default)]
    fixed: Fixed,
    #[serde(default)]
    zero_is_hint: String,
    asm: Option<String>,
    access: Option<Access>,
    source: Option<String>,
    /// The keys of its shape.
    #[serde(flatten)]
    shape: toml::Table,
}

/// Fields of `Inst` that the encoding does not hold but its meaning has.
#[derive(Deserialize, Default, Clone)]
#[serde(deny_unknown_fields, default)]
pub struct Fixed {
    pub rd: u8,
    pub rs1: u8,
    pub rs2: u8,
    pub imm: i32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtensionFile {
    extension: Vec<ExtensionRow>,
    group: Vec<ExtensionGroup>,
    accepted: Vec<String>,
    noted: Vec<Noted>,
    privileged: Vec<String>,
    refused: Vec<String>,
}

/// A name that changes nothing here.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Noted {
    pub name: String,
    pub why: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtensionRow {
    name: String,
    doc: String,
    #[serde(default)]
    implies: String,
    hwprobe: Option<u8>,
    #[serde(default)]
    experimental: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ExtensionGroup {
    name: String,
    means: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CsrFile {
    csr: Vec<CsrRow>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct CsrRow {
    name: String,
    number: u16,
    /// `name` and `number` are the first of this many, numbered from `from`.
    count: Option<u16>,
    #[serde(default)]
    from: u16,
}

/// One operand, its bits resolved.
pub struct Operand {
    pub name: String,
    pub official: String,
    pub fields: Vec<String>,
    pub runs: Vec<Run>,
    pub signed: bool,
    pub file: Option<String>,
    pub plus: u8,
    pub forbid: Vec<i32>,
    pub even: bool,
    pub show: Option<String>,
}

/// One instruction.
pub struct Insn {
    pub name: String,
    /// Indices into `Tables::operands`.
    pub operands: Vec<usize>,
    pub format: usize,
    pub mask: u32,
    pub match_: u32,
    pub class: String,
    /// The enum of `rvv_isa::chapter` it is a variant of.
    pub chapter: String,
    pub requires: String,
    pub extension: String,
    pub refines: Option<String>,
    pub base: String,
    pub fixed: Fixed,
    pub unlisted: bool,
    pub asm: String,
    pub shape: Option<Shape>,
    pub access: Option<Access>,
    /// The format of the floating-point sources, or `x`.
    pub source: Option<String>,
}

/// A distinct way to read the fields out of a word: the operands, and those of them that may break their
/// rule.
#[derive(PartialEq)]
pub struct Format {
    pub operands: Vec<usize>,
    pub lenient: Vec<usize>,
}

pub struct Extension {
    pub name: String,
    pub doc: String,
    /// Itself and all it implies, by index.
    pub closure: u128,
    /// Its bit of Linux's `RISCV_HWPROBE_KEY_IMA_EXT_0`.
    pub hwprobe: Option<u8>,
    /// Off unless it is named.
    pub experimental: bool,
}

pub struct Tables {
    pub operands: Vec<Operand>,
    pub insns: Vec<Insn>,
    pub formats: Vec<Format>,
    pub extensions: Vec<Extension>,
    /// Names, and the names they abbreviate.
    pub extension_groups: Vec<(String, Vec<String>)>,
    pub accepted: Vec<String>,
    pub noted: Vec<Noted>,
    pub privileged: Vec<String>,
    pub refused: Vec<String>,
    pub csrs: Vec<(String, u16)>,
}

pub fn parse<T: for<'a> Deserialize<'a>>(path: &Path) -> T {
    let text = fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn read_operands(isa: &Path) -> Vec<Operand> {
    let file: OperandFile = parse(&isa.join("operands.toml"));
    file.operand
        .into_iter()
        .map(|row| Operand {
            official: row.official.unwrap_or_else(|| row.name.clone()),
            fields: row.field.split(' ').map(str::to_owned).collect(),
            runs: runs(&row.at, row.bits.as_deref()),
            name: row.name,
            signed: row.signed,
            file: row.file,
            plus: row.plus,
            forbid: row.forbid,
            even: row.even,
            show: row.show,
        })
        .collect()
}

fn read_extensions(isa: &Path) -> (Vec<Extension>, ExtensionFile) {
    let file: ExtensionFile = parse(&isa.join("extensions.toml"));
    let index: BTreeMap<&str, usize> =
        file.extension.iter().enumerate().map(|(i, e)| (e.name.as_str(), i)).collect();
    let mut closures: Vec<u128> =
        file.extension.iter().enumerate().map(|(i, e)| 1 << i | set(&index, &e.implies)).collect();
    // As many rounds as there are extensions is enough for any chain of implications.
    for _ in 0..closures.len() {
        for i in 0..closures.len() {
            closures[i] |= (0..closures.len())
                .filter(|&j| closures[i] >> j & 1 == 1)
                .fold(0, |all, j| all | closures[j]);
        }
    }
    let extensions = file
        .extension
        .iter()
        .zip(closures)
        .map(|(e, closure)| Extension {
            name: e.name.clone(),
            doc: e.doc.clone(),
            closure,
            hwprobe: e.hwprobe,
            experimental: e.experimental,
        })
        .collect();
    (extensions, file)
}

fn set(index: &BTreeMap<&str, usize>, names: &str) -> u128 {
    names
        .split_whitespace()
        .map(|name| 1u128 << *index.get(name).unwrap_or_else(|| panic!("no extension {name}")))
        .fold(0, |all, bit| all | bit)
}

/// The groups, with those in them replaced by what they mean. A group may name those above it.
fn expand_groups(extensions: &[Extension], file: &ExtensionFile) -> Vec<(String, Vec<String>)> {
    let others = file.accepted.iter().chain(&file.privileged).chain(file.noted.iter().map(|n| &n.name));
    let known: Vec<&String> = extensions.iter().map(|e| &e.name).chain(others.chain(&file.refused)).collect();
    for (i, name) in known.iter().enumerate() {
        assert!(!known[..i].contains(name), "{name} is in two lists of extensions.toml");
    }
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for group in &file.group {
        let mut means = Vec::new();
        for name in group.means.split_whitespace() {
            match groups.iter().find(|(known, _)| known == name) {
                Some((_, names)) => means.extend(names.iter().cloned()),
                None if known.iter().any(|k| *k == name) && !file.refused.iter().any(|r| r == name) => {
                    means.push(name.to_owned());
                }
                None => panic!("{}: no extension {name}", group.name),
            }
        }
        groups.push((group.name.clone(), means));
    }
    groups
}

fn read_csrs(isa: &Path) -> Vec<(String, u16)> {
    let file: CsrFile = parse(&isa.join("csrs.toml"));
    let mut csrs: Vec<(String, u16)> = file
        .csr
        .into_iter()
        .flat_map(|row| match row.count {
            None => vec![(row.name, row.number)],
            Some(count) => (0..count)
                .map(|i| (row.name.replace("{}", &(row.from + i).to_string()), row.number + i))
                .collect(),
        })
        .collect();
    csrs.sort_by_key(|(_, number)| *number);
    assert!(csrs.windows(2).all(|w| w[0].1 < w[1].1), "two names for one csr number");
    csrs
}

/// The usual order of operands in assembly; rows that differ say so.
fn default_asm(class: &str, operands: &[usize], all: &[Operand]) -> String {
    let has = |field: &str| operands.iter().any(|&o| all[o].fields.iter().any(|f| f == field));
    let order: &[&str] = match class.starts_with("Vector") {
        true => &["rd", "rs2", "rs1", "imm"],
        false => &["rd", "rs1", "rs2", "rs3", "imm"],
    };
    order.iter().copied().filter(|f| has(f)).collect::<Vec<_>>().join(",")
}

pub fn read(isa: &Path) -> Tables {
    let operands = read_operands(isa);
    let (extensions, extension_file) = read_extensions(isa);
    let operand = |name: &str| {
        operands.iter().position(|o| o.name == name).unwrap_or_else(|| panic!("no operand {name}"))
    };

    let mut paths: Vec<_> =
        fs::read_dir(isa.join("encodings")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|e| e == "toml"));
    paths.sort();

    let shapes = Shapes::read(isa);
    let mut insns = Vec::new();
    let mut formats: Vec<Format> = Vec::new();
    for path in paths {
        let file: EncodingFile = parse(&path);
        let extension = path.file_stem().unwrap().to_str().unwrap();
        for group in file.group {
            let group_keys = ShapeKeys::new(group.shape);
            for row in group.insns {
                let list = |text: &str| text.split_whitespace().map(operand).collect::<Vec<_>>();
                let format = Format { operands: list(&row.operands), lenient: list(&row.zero_is_hint) };
                let index = formats.iter().position(|f| *f == format).unwrap_or_else(|| {
                    formats.push(format);
                    formats.len() - 1
                });
                let ops = formats[index].operands.clone();
                let keys = ShapeKeys::new(row.shape).or(&group_keys);
                let own: Vec<&Operand> = ops.iter().map(|&o| &operands[o]).collect();
                let vector = is_computing_vector(&group.class);
                let shape = vector.then(|| shapes.resolve(&row.name, &keys, &own));
                let name = &row.name;
                assert!(vector || keys == ShapeKeys::default(), "{name}: a shape, and no vector operands");
                let asm = row.asm.or_else(|| group.asm.clone());
                insns.push(Insn {
                    asm: asm.unwrap_or_else(|| default_asm(&group.class, &ops, &operands)),
                    operands: ops,
                    format: index,
                    mask: row.mask,
                    match_: row.r#match,
                    chapter: group.chapter.clone().unwrap_or_else(|| group.class.clone()),
                    class: group.class.clone(),
                    shape,
                    access: row.access,
                    source: row.source.or_else(|| group.source.clone()),
                    requires: group.requires.clone().unwrap_or_else(|| file.requires.clone()),
                    extension: extension.to_owned(),
                    base: row.base.or_else(|| row.refines.clone()).unwrap_or_else(|| row.name.clone()),
                    refines: row.refines,
                    fixed: row.fixed,
                    unlisted: group.unlisted,
                    name: row.name,
                });
            }
        }
    }
    check(&insns, &operands);

    let extension_groups = expand_groups(&extensions, &extension_file);
    Tables {
        extension_groups,
        accepted: extension_file.accepted,
        noted: extension_file.noted,
        privileged: extension_file.privileged,
        refused: extension_file.refused,
        csrs: read_csrs(isa),
        operands,
        insns,
        formats,
        extensions,
    }
}

/// Whether an instruction of this class has vector operands.
pub fn is_computing_vector(class: &str) -> bool {
    class.starts_with("Vector") && class != "VectorConfig"
}

/// What would make the generated code wrong rather than fail to compile.
fn check(insns: &[Insn], operands: &[Operand]) {
    for insn in insns {
        let name = &insn.name;
        assert_eq!(insn.match_ & !insn.mask, 0, "{name}: match has bits outside mask");
        let mut free =
            !insn.mask & if insn.mask & 3 == 3 && insn.match_ & 3 == 3 { u32::MAX } else { 0xffff };
        for &operand in &insn.operands {
            for run in &operands[operand].runs {
                let bits = run.mask() << run.at;
                assert_eq!(free & bits, bits, "{name}: {} takes bits twice", operands[operand].name);
                free &= !bits;
            }
        }
        assert_eq!(free, 0, "{name}: bits that are neither fixed nor an operand");
        for other in [Some(&insn.base), insn.refines.as_ref()].into_iter().flatten() {
            assert!(insns.iter().any(|i| i.name == *other), "{name} refers to {other}, which is not there");
        }
    }
}
