//! A family in one of its forms, its row checked and parsed: what is needed to make the members.

use crate::expr::Expr;
use crate::table::{Forms, Row};
use crate::{Elem, Implied, Info, Policy, Role, Sem, Type, VecType};
use rvv_isa::{Ext, Lmul, Op, Sew};

/// See the module.
pub struct Plan {
    pub name: String,
    pub form: String,
    pub sem: Sem,
    pub types: Vec<Type>,
    pub source: Option<Source>,
    pub eews: Vec<Option<Sew>>,
    pub returns: Expr,
    pub named: Named,
    pub params: Vec<PlanParam>,
    pub variants: Vec<Variant>,
    pub overloaded: Overloaded,
    pub instruction: Instruction,
    pub swapped: bool,
    pub info: &'static Info,
}

/// A parameter, before the type variables are known.
pub struct PlanParam {
    pub ty: Expr,
    pub name: &'static str,
    /// The role, if the name and the type do not say it.
    pub role: Option<Role>,
}

/// The types in the explicit name.
pub enum Named {
    Types(Vec<Expr>),
    /// SEW and LMUL of `T`: `e32m1`.
    Vtype,
}

/// How the overloaded name is made.
pub enum Overloaded {
    Never,
    /// Only the members with a policy have one.
    Policy,
    /// The name of the family.
    Name,
    /// Its name and form.
    Form,
    /// Its name and a type.
    Type(Expr),
}

/// Which instruction.
pub enum Instruction {
    None,
    One(Op),
    /// Its name has `{sew}` or `{eew}` in it.
    Template(String),
}

/// A suffix of the name and its meaning.
#[derive(Clone, Copy)]
pub struct Variant {
    pub suffix: &'static str,
    /// The overloaded name's.
    pub overloaded: &'static str,
    pub rm: bool,
    pub masked: bool,
    pub policy: Policy,
}

/// How the second type variable `S` relates to `T`.
#[derive(Clone, Copy)]
pub enum Source {
    /// The same element, smaller LMUL.
    Smaller,
    /// The same element, larger LMUL.
    Larger,
    /// The same element, fewer whole registers.
    FewerRegisters,
    /// The same element, more whole registers.
    MoreRegisters,
    /// The same LMUL, another element of the same kind.
    OtherWidth,
    /// T is one register, S a mask that a register of such elements can be of.
    MaskOfRegister,
    /// The same element, at most T's LMUL and at most m4: the scalar element group of the crypto `vs` forms.
    ElementGroup,
}

impl Plan {
    /// The plans of a row, one for each form.
    pub fn all(row: &Row) -> Result<Vec<Plan>, String> {
        let Some(Forms::Parameters(forms)) = &row.forms else { return Err("`forms` is missing".into()) };
        forms.iter().map(|(form, params)| Plan::new(row, form, params)).collect()
    }

    fn new(row: &Row, form: &str, params: &str) -> Result<Plan, String> {
        let name = row.name.clone().ok_or("`name` is missing")?;
        let sem = row.sem.as_deref().ok_or("`sem` is missing")?;
        let sem = Sem::from_name(sem).ok_or_else(|| format!("`{sem}` is no Sem"))?;
        let rm = row.rm.unwrap_or(false);
        let vxrm = row.vxrm.unwrap_or(false);
        let mut params = parse_params(params)?;
        if vxrm {
            params.push(PlanParam { ty: Expr::Fixed(Type::Uint), name: "vxrm", role: None });
        }
        if row.vl.unwrap_or(true) {
            params.push(PlanParam { ty: Expr::Fixed(Type::Size), name: "vl", role: None });
        }
        if rm && !row.vl.unwrap_or(true) {
            return Err("`rm` puts frm before `vl`, which is not there".into());
        }
        let has_parts = params.iter().any(|p| p.name == "v...");
        if has_parts && !row.tuples.unwrap_or(false) && row.source.as_deref() != Some("fewer registers") {
            return Err("`v...` are the fields of a tuple or the parts of a group of registers".into());
        }
        let eews = match &row.eew {
            None => vec![None],
            Some(list) => {
                let sew = |bits: &u32| Sew::from_bits(*bits).map(Some).ok_or(format!("`{bits}` is no EEW"));
                list.iter().map(sew).collect::<Result<_, _>>()?
            }
        };
        let (instruction, swapped, implied) = parse_instruction(row.instruction.as_deref(), &name, form)?;
        let plain = parse_requires(row.requires.as_deref().unwrap_or(""))?;
        let with = |more: &str| -> Result<&'static [Ext], String> {
            let mut all = plain.to_vec();
            all.extend(parse_requires(more)?);
            Ok(Box::leak(all.into_boxed_slice()))
        };
        let info = Info {
            rounds: rm,
            rounds_fixed: vxrm,
            uimm: row.uimm,
            implied,
            undefined: row
                .undefined
                .clone()
                .filter(|t| !t.is_empty())
                .map(|text| &*Box::leak(text.into_boxed_str())),
            requires: plain,
            requires_f16: with(row.f16.as_deref().unwrap_or("zvfh"))?,
            requires_bf16: with(if plain.is_empty() { "zvfbfmin" } else { "" })?,
        };
        Ok(Plan {
            sem,
            types: parse_types(
                row.types.as_deref().ok_or("`types` is missing")?,
                row.tuples.unwrap_or(false),
            )?,
            source: row.source.as_deref().map(Source::parse).transpose()?,
            eews,
            returns: Expr::parse(row.returns.as_deref().unwrap_or("T"))?,
            named: parse_named(row.named.as_deref().unwrap_or("T"))?,
            params,
            variants: parse_variants(row.variants.as_deref().unwrap_or(""), rm)?,
            overloaded: parse_overloaded(row.overloaded.as_deref().unwrap_or("{name}"))?,
            instruction,
            swapped,
            info: Box::leak(Box::new(info)),
            form: form.to_string(),
            name,
        })
    }
}

/// Names of parameters in the official list.
const NAMES: &[&str] = &[
    "vd", "vs", "vs1", "vs2", "vs3", "rs1", "rs2", "v0", "v...", "uimm", "avl", "new_vl", "src", "dest",
    "value", "index",
];

fn parse_params(text: &str) -> Result<Vec<PlanParam>, String> {
    let parse = |param: &str| {
        let (declaration, role) = match param.split_once(" as ") {
            Some((d, role)) => (d, Some(parse_role(role)?)),
            None => (param, None),
        };
        let start = declaration.rfind([' ', '*']).ok_or_else(|| format!("`{param}` has no name"))? + 1;
        let (ty, name) = declaration.split_at(start);
        let name = NAMES
            .iter()
            .find(|n| **n == name)
            .ok_or_else(|| format!("no parameter is called `{name}` in the official list"))?;
        Ok(PlanParam { ty: Expr::parse(ty)?, name, role })
    };
    text.split(',').map(str::trim).filter(|p| !p.is_empty()).map(parse).collect()
}

fn parse_role(text: &str) -> Result<Role, String> {
    Ok(match text.trim() {
        "vs2" => Role::Vs2,
        "index" => Role::Index,
        "source" => Role::Source,
        other => return Err(format!("`{other}` is no role")),
    })
}

/// The vector types of these elements that exist, by element, then fields, then LMUL.
fn parse_types(text: &str, tuples: bool) -> Result<Vec<Type>, String> {
    let mut types = Vec::new();
    for word in text.split_whitespace() {
        let elems: Vec<Elem> = match word {
            "mask" => {
                types.extend([1, 2, 4, 8, 16, 32, 64].map(Type::Mask));
                continue;
            }
            "int" => Elem::ALL.into_iter().filter(|e| e.is_signed()).collect(),
            "uint" => Elem::ALL.into_iter().filter(|e| e.is_unsigned()).collect(),
            "float" => vec![Elem::F16, Elem::F32, Elem::F64],
            _ => vec![Elem::from_short(word).ok_or_else(|| format!("`{word}` is no set of types"))?],
        };
        for elem in elems {
            for nf in if tuples { 2..=8 } else { 1..=1 } {
                let all = Lmul::ALL.into_iter().map(|lmul| VecType { elem, lmul, nf });
                types.extend(all.filter(|v| v.exists()).map(Type::Vector));
            }
        }
    }
    Ok(types)
}

fn parse_named(text: &str) -> Result<Named, String> {
    match text {
        "vtype" => Ok(Named::Vtype),
        _ => text.split_whitespace().map(Expr::parse).collect::<Result<_, _>>().map(Named::Types),
    }
}

fn parse_variants(text: &str, rm: bool) -> Result<Vec<Variant>, String> {
    type Parts = (&'static str, &'static str, &'static str, bool, Policy);
    const ALL: [Parts; 5] = [
        ("_m", "_rm_m", "", true, Policy::Default),
        ("_tu", "_rm_tu", "_tu", false, Policy::Tu),
        ("_tum", "_rm_tum", "_tum", true, Policy::Tum),
        ("_tumu", "_rm_tumu", "_tumu", true, Policy::Tumu),
        ("_mu", "_rm_mu", "_mu", true, Policy::Mu),
    ];
    let mut chosen: Vec<Parts> = vec![("", "_rm", "", false, Policy::Default)];
    for word in text.split_whitespace() {
        let found =
            ALL.iter().find(|v| &v.0[1..] == word).ok_or_else(|| format!("`{word}` is no variant"))?;
        chosen.push(*found);
    }
    let make = |rm: bool| {
        move |&(plain, rounded, overloaded, masked, policy): &Parts| Variant {
            suffix: if rm { rounded } else { plain },
            overloaded,
            rm,
            masked,
            policy,
        }
    };
    let mut variants: Vec<Variant> = chosen.iter().map(make(false)).collect();
    if rm {
        variants.extend(chosen.iter().map(make(true)));
    }
    Ok(variants)
}

fn parse_overloaded(text: &str) -> Result<Overloaded, String> {
    Ok(match text {
        "never" => Overloaded::Never,
        "policy" => Overloaded::Policy,
        "{name}" => Overloaded::Name,
        "{name}_{form}" => Overloaded::Form,
        _ => match text.strip_prefix("{name}_{").and_then(|rest| rest.strip_suffix('}')) {
            Some(ty) => Overloaded::Type(Expr::parse(ty)?),
            None => return Err(format!("`overloaded` cannot be `{text}`")),
        },
    })
}

/// `vrsub.vx vs2,zero`: a mnemonic and, where they are not the parameters in their usual order, its sources.
fn parse_instruction(
    text: Option<&str>,
    name: &str,
    form: &str,
) -> Result<(Instruction, bool, Option<Implied>), String> {
    let default = format!("{name}.{form}").replace('_', ".");
    let (mnemonic, sources) = match text {
        None => (default.as_str(), ""),
        Some("none") => return Ok((Instruction::None, false, None)),
        Some(text) => text.split_once(' ').unwrap_or((text, "")),
    };
    let (swapped, implied) = match sources {
        "" => (false, None),
        "vs1,vs2" => (true, None),
        "vs2,zero" => (false, Some(Implied::Zero)),
        "vs2,-1" => (false, Some(Implied::MinusOne)),
        "vs2,vs2" => (false, Some(Implied::Vs2)),
        "vd,vd" => (false, Some(Implied::Vd)),
        _ => return Err(format!("`instruction` has no sources `{sources}`")),
    };
    let instruction = match mnemonic.contains('{') {
        true => Instruction::Template(mnemonic.to_string()),
        false => Instruction::One(find_op(mnemonic)?),
    };
    Ok((instruction, swapped, implied))
}

/// The instruction of this name.
pub fn find_op(mnemonic: &str) -> Result<Op, String> {
    Op::from_name(mnemonic).ok_or_else(|| format!("there is no instruction `{mnemonic}`"))
}

fn parse_requires(text: &str) -> Result<&'static [Ext], String> {
    let find = |name| Ext::from_name(name).ok_or_else(|| format!("there is no extension `{name}`"));
    let all = text.split_whitespace().map(find).collect::<Result<Vec<_>, _>>()?;
    Ok(Box::leak(all.into_boxed_slice()))
}

impl Source {
    fn parse(text: &str) -> Result<Source, String> {
        Ok(match text {
            "smaller" => Source::Smaller,
            "larger" => Source::Larger,
            "fewer registers" => Source::FewerRegisters,
            "more registers" => Source::MoreRegisters,
            "other width" => Source::OtherWidth,
            "mask of a register" => Source::MaskOfRegister,
            "element group" => Source::ElementGroup,
            _ => return Err(format!("`source` cannot be `{text}`")),
        })
    }

    /// All types that `S` can be when `T` is this one.
    pub fn types(self, t: Type) -> Vec<Type> {
        let Type::Vector(v) = t else { return Vec::new() };
        let lmuls = |keep: &dyn Fn(Lmul) -> bool| {
            let all = Lmul::ALL.into_iter().filter(|l| keep(*l)).map(|lmul| VecType { lmul, ..v });
            all.filter(|s| s.exists()).map(Type::Vector).collect()
        };
        let whole = |l: Lmul| l >= Lmul::M1;
        match self {
            Source::Smaller => lmuls(&|l| l < v.lmul),
            Source::Larger => lmuls(&|l| l > v.lmul),
            Source::FewerRegisters => lmuls(&|l| whole(l) && l < v.lmul),
            Source::MoreRegisters => lmuls(&|l| whole(v.lmul) && l > v.lmul),
            Source::ElementGroup => lmuls(&|l| l <= v.lmul && l <= Lmul::M4),
            Source::OtherWidth => {
                let elem = |sew| if v.elem.is_signed() { Elem::signed(sew) } else { Elem::unsigned(sew) };
                let all = Sew::ALL.into_iter().map(elem).filter(|e| *e != v.elem);
                all.map(|elem| VecType { elem, ..v }).filter(|s| s.exists()).map(Type::Vector).collect()
            }
            Source::MaskOfRegister if v.lmul == Lmul::M1 => [1, 2, 4, 8, 16, 32, 64]
                .into_iter()
                .filter(|n| *n >= v.elem.bytes() as u8)
                .map(Type::Mask)
                .collect(),
            Source::MaskOfRegister => Vec::new(),
        }
    }
}
