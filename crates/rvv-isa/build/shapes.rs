//! Operand shapes: names of `shapes.toml`, keys of groups and rows, and the constants that come of them.

use crate::emit::{sets, variant};
use crate::tables::{Insn, Operand, Tables, parse};
use serde::Deserialize;
use std::fmt::Write;
use std::path::Path;

/// The memory of a scalar instruction: a number of bytes, or `"block"`.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub enum Access {
    Bytes(u8),
    Name(String),
}

impl Access {
    pub fn rust(&self) -> String {
        match self {
            Access::Bytes(n) => format!("Access::Bytes({n})"),
            Access::Name(name) => {
                assert_eq!(name, "block", "access is a number of bytes or \"block\"");
                "Access::CacheBlock".to_owned()
            }
        }
    }
}

/// The keys of a shape. `shapes.toml`, a group and a row may each have any of them; the row's count first.
#[derive(Deserialize, Default, Clone, PartialEq)]
#[serde(default, deny_unknown_fields)]
pub struct ShapeKeys {
    shape: Option<String>,
    vd: Option<String>,
    vs2: Option<String>,
    vs1: Option<String>,
    reads_vd: Option<bool>,
    v0_is_operand: Option<bool>,
    float: Option<String>,
    addressing: Option<String>,
    eew: Option<u32>,
    registers: Option<u8>,
    group: Option<u8>,
    apart: Option<String>,
    apart_rule: Option<String>,
    sew: Option<Vec<u32>>,
    sew_rule: Option<String>,
    e64: Option<String>,
    e64_rule: Option<String>,
}

impl ShapeKeys {
    pub fn new(table: toml::Table) -> ShapeKeys {
        let text = table.to_string();
        table.try_into().unwrap_or_else(|e| panic!("{e} in: {text}"))
    }

    /// These keys, and the others' where these say nothing.
    pub fn or(&self, other: &ShapeKeys) -> ShapeKeys {
        macro_rules! merge {
            ($($key:ident)*) => { ShapeKeys { $($key: self.$key.clone().or_else(|| other.$key.clone())),* } };
        }
        merge! {
            shape vd vs2 vs1 reads_vd v0_is_operand float addressing eew registers group apart apart_rule sew
            sew_rule e64 e64_rule
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ShapeFile {
    shape: Vec<NamedShape>,
}

#[derive(Deserialize)]
struct NamedShape {
    name: String,
    #[serde(flatten)]
    keys: toml::Table,
}

/// The named shapes.
pub struct Shapes(Vec<(String, ShapeKeys)>);

/// A shape as the constant it becomes, and what else the tables need of it.
#[derive(Clone, PartialEq)]
pub struct Shape {
    rust: String,
    group: u8,
}

impl Shapes {
    pub fn read(isa: &Path) -> Shapes {
        let file: ShapeFile = parse(&isa.join("shapes.toml"));
        Shapes(file.shape.into_iter().map(|shape| (shape.name, ShapeKeys::new(shape.keys))).collect())
    }

    /// The shape of an instruction with these keys and operands.
    pub fn resolve(&self, insn: &str, keys: &ShapeKeys, operands: &[&Operand]) -> Shape {
        let name =
            keys.shape.as_ref().unwrap_or_else(|| panic!("{insn}: a vector instruction without a shape"));
        let named = self.0.iter().find(|shape| shape.0 == *name);
        let (_, named) = named.unwrap_or_else(|| panic!("{insn}: no shape {name}"));
        let keys = keys.or(named);
        let has = |name: &str| operands.iter().any(|o| o.name == name);
        let store = has("vs3");
        let width = |operand: &str, text: &Option<String>, there: bool| match text {
            _ if !there => "Eew::Absent".to_owned(),
            None => panic!("{insn}: shape {name} says nothing of {operand}"),
            Some(text) => eew(insn, text, &keys),
        };
        let vd = width("vd", &keys.vd, has("vd") || store);
        let vs2 = width("vs2", &keys.vs2, has("vs2"));
        let vs1 = width("vs1", &keys.vs1, has("vs1"));
        let memory = keys.addressing.as_ref().map(|addressing| {
            let eew = sew(keys.eew.unwrap_or_else(|| panic!("{insn}: a load or store without its eew")));
            let addressing = variant(addressing);
            format!("Some(Memory {{ addressing: Addressing::{addressing}, eew: {eew}, store: {store} }})")
        });
        let immediate = operands.iter().any(|o| o.fields.iter().any(|f| f == "imm"));
        let scalar = match () {
            () if memory.is_some() => "Absent",
            () if immediate => "Immediate",
            () if has("rs1") => "X",
            () if has("fs1") => "F",
            () => "Absent",
        };
        let float = match keys.float.as_deref() {
            None => "No",
            Some("sew") => "Sew",
            Some("2*sew") => "Wide",
            Some("both") => "Both",
            Some("convert") => "Convert",
            Some("bf16") => "Bf16",
            Some(other) => panic!("{insn}: float = {other:?}"),
        };
        let apart: Vec<&str> = keys.apart.as_deref().unwrap_or("").split_whitespace().collect();
        let rule = |operand: &str| {
            (apart.contains(&operand) && (operand == "v0" || has(operand))).then(|| {
                keys.apart_rule.as_deref().unwrap_or_else(|| panic!("{insn}: apart, by what apart_rule?"))
            })
        };
        // norm:vreg_vmask_rsv excepts destinations that are masks, and results of reductions.
        let excepted =
            ["Eew::Mask", "Eew::Element0", "Eew::WideElement0", "Eew::Absent"].contains(&vd.as_str());
        let v0 = rule("v0").or((!excepted).then_some(MASK_OVERLAP));
        let only_sew = keys.sew.as_ref().map(|widths| {
            let widths: Vec<_> = widths.iter().map(|&w| sew(w)).collect();
            let rule = keys.sew_rule.as_deref().unwrap_or_else(|| panic!("{insn}: sew, by what sew_rule?"));
            format!("Some((&[{}], {rule:?}))", widths.join(", "))
        });
        let e64 = keys.e64.as_ref().map(|ext| {
            let rule = keys.e64_rule.as_deref().unwrap_or_else(|| panic!("{insn}: e64, by what e64_rule?"));
            format!("Some((Ext::{}, {rule:?}))", variant(ext))
        });
        let none = || "None".to_owned();
        let group = keys.group.unwrap_or(1);
        let rust = format!(
            "Shape {{ vd: {vd}, vs2: {vs2}, vs1: {vs1}, scalar: Scalar::{scalar}, reads_vd: {}, \
             v0_is_operand: {}, float: Float::{float}, memory: {}, group: {group}, apart_vs2: {:?}, \
             apart_vs1: {:?}, apart_v0: {v0:?}, only_sew: {}, e64_needs: {} }}",
            keys.reads_vd.unwrap_or(false),
            keys.v0_is_operand.unwrap_or(false),
            memory.unwrap_or_else(none),
            rule("vs2"),
            rule("vs1"),
            only_sew.unwrap_or_else(none),
            e64.unwrap_or_else(none),
        );
        Shape { rust, group }
    }
}

const MASK_OVERLAP: &str =
    "norm:vreg_vmask_rsv: the destination of a masked instruction overlaps the mask register v0";

fn sew(bits: u32) -> String {
    assert!([8, 16, 32, 64].contains(&bits), "no element has {bits} bits");
    format!("Sew::E{bits}")
}

/// A width in the words of `shapes.toml`.
fn eew(insn: &str, text: &str, keys: &ShapeKeys) -> String {
    let fixed = match text {
        "sew" => "Eew::Sew",
        "2*sew" => "Eew::Wide",
        "sew/2" => "Eew::Fraction(1)",
        "sew/4" => "Eew::Fraction(2)",
        "sew/8" => "Eew::Fraction(3)",
        "16" => "Eew::Of(Sew::E16)",
        "mask" => "Eew::Mask",
        "sew[0]" => "Eew::Element0",
        "2*sew[0]" => "Eew::WideElement0",
        "group[0]" => "Eew::ElementGroup0",
        "eew" => {
            let bits = keys.eew.unwrap_or_else(|| panic!("{insn}: a width of eew, and no eew"));
            return format!("Eew::Of({})", sew(bits));
        }
        "registers" => {
            let n = keys.registers.unwrap_or_else(|| panic!("{insn}: whole registers, and not how many"));
            return format!("Eew::Registers({n})");
        }
        _ => panic!("{insn}: no width {text:?}"),
    };
    fixed.to_owned()
}

/// The shapes, each once.
pub struct Pool<'a>(Vec<&'a Shape>);

impl<'a> Pool<'a> {
    pub fn new(tables: &'a Tables) -> Pool<'a> {
        let mut all = Vec::new();
        for shape in tables.insns.iter().filter_map(|insn| insn.shape.as_ref()) {
            if !all.contains(&shape) {
                all.push(shape);
            }
        }
        Pool(all)
    }

    /// The instruction's shape, as Rust.
    pub fn reference(&self, insn: &Insn) -> String {
        match &insn.shape {
            None => "&Shape::NONE".to_owned(),
            Some(shape) => {
                let n = self.0.iter().position(|s| *s == shape).expect("all are in the pool");
                format!("&SHAPES[{n}]")
            }
        }
    }
}

pub fn emit(tables: &Tables) -> String {
    let Pool(shapes) = Pool::new(tables);
    let mut out = String::new();
    let _ = writeln!(out, "pub(crate) static SHAPES: [Shape; {}] = [", shapes.len());
    for shape in &shapes {
        let _ = writeln!(out, "    {},", shape.rust);
    }
    out += "];\n\n";
    let mut groups: Vec<(&str, u8)> = Vec::new();
    for insn in &tables.insns {
        let group = (insn.requires.as_str(), insn.shape.as_ref().map_or(1, |shape| shape.group));
        if group.1 > 1 && !groups.contains(&group) {
            groups.push(group);
        }
    }
    let _ = writeln!(out, "/// What brings instructions on element groups, and the size of those.");
    let _ = writeln!(out, "static ELEMENT_GROUPS: [(Requires, u8); {}] = [", groups.len());
    for (requires, size) in groups {
        let _ = writeln!(out, "    (Requires(&[{}]), {size}),", sets(tables, requires));
    }
    out += "];\n";
    out
}
