//! From families to intrinsics.

use crate::expr::Env;
use crate::plan::{Instruction, Named, Overloaded, Plan, PlanParam, find_op};
use crate::table::{Row, TableError};
use crate::{Elem, Extension, Intrinsic, Param, Policy, Role, SECTIONS, Type};
use rvv_isa::Op;
use std::collections::HashMap;
use std::fmt::Write;

/// All intrinsics of some tables, given as file names and their texts, in the order of [`crate::all`].
///
/// The names of the families stay in memory for good, so this is for tables that are read once.
pub fn expand(files: &[(&str, &str)]) -> Result<Vec<Intrinsic>, TableError> {
    let mut expansion = Expansion::default();
    for (file, text) in files {
        let error = |family: Option<&Row>, problem| TableError {
            file: file.to_string(),
            family: family.and_then(|f| f.name.clone()),
            problem,
        };
        let table = Row::parse(text).map_err(|e| error(None, e))?;
        expansion.sections = sections(&table).map_err(|e| error(None, e))?;
        for group in &table.families {
            let mut group = group.clone();
            group.inherit(&table).map_err(|e| error(None, e))?;
            for family in &group.families {
                let mut family = family.clone();
                family
                    .inherit(&group)
                    .and_then(|()| expansion.family(&family))
                    .map_err(|e| error(Some(&family), e))?;
            }
        }
    }
    Ok(expansion.made)
}

/// The section of each extension's list, as an index into [`SECTIONS`].
fn sections(table: &Row) -> Result<Vec<(Extension, u8)>, String> {
    let parse = |(extension, section): (&String, &String)| {
        let extension =
            Extension::from_name(extension).ok_or_else(|| format!("there is no list `{extension}`"))?;
        let section =
            SECTIONS.iter().position(|s| s == section).ok_or_else(|| format!("no section `{section}`"))?;
        Ok((extension, section as u8))
    };
    table.section.iter().map(parse).collect()
}

#[derive(Default)]
struct Expansion {
    made: Vec<Intrinsic>,
    sections: Vec<(Extension, u8)>,
    families: HashMap<String, &'static str>,
}

/// One member of a family, before its variants.
struct Member<'a> {
    plan: &'a Plan,
    env: Env,
    ret: Type,
    params: &'a [Param],
    extension: Extension,
    section: u8,
    family: &'static str,
    name: &'a str,
    overloaded: Option<&'a str>,
    instruction: Option<Op>,
}

impl Expansion {
    fn family(&mut self, row: &Row) -> Result<(), String> {
        if !row.families.is_empty() || !row.section.is_empty() {
            return Err("a family has neither families nor a section".into());
        }
        for plan in Plan::all(row)? {
            for &t in &plan.types {
                let sources = match plan.source {
                    None => vec![None],
                    Some(source) => source.types(t).into_iter().map(Some).collect(),
                };
                for s in sources {
                    for &eew in &plan.eews {
                        self.member(&plan, Env { t, s, eew })?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Makes a member in all its variants, if the types it needs exist.
    fn member(&mut self, plan: &Plan, env: Env) -> Result<(), String> {
        let Some(ret) = plan.returns.eval(&env) else { return Ok(()) };
        let Some(params) = params(&plan.params, &env) else { return Ok(()) };
        let Some(types) = type_names(&plan.named, &env) else { return Ok(()) };

        let name = fill(&plan.name, &env);
        if name.contains('{') {
            return Err(format!("nothing replaces the braces of `{name}`"));
        }
        let mut explicit = format!("__riscv_{name}");
        if !plan.form.is_empty() {
            explicit = explicit + "_" + &plan.form;
        }
        let family = self.intern(&explicit["__riscv_".len()..]);
        explicit += &types;
        let overloaded = match &plan.overloaded {
            Overloaded::Never => None,
            Overloaded::Policy | Overloaded::Name => Some(format!("__riscv_{name}")),
            Overloaded::Form => Some(format!("__riscv_{name}_{}", plan.form)),
            Overloaded::Type(ty) => {
                let Some(ty) = ty.eval(&env) else { return Ok(()) };
                Some(format!("__riscv_{name}_{}", short(ty)))
            }
        };
        let instruction = match &plan.instruction {
            Instruction::None => None,
            Instruction::One(op) => Some(*op),
            Instruction::Template(mnemonic) => Some(find_op(&fill(mnemonic, &env))?),
        };
        let bf16 = |ty: Type| elem(ty) == Some(Elem::Bf16);
        let of_bf16 = bf16(env.t) || bf16(ret) || params.iter().any(|p| bf16(p.ty));
        let list =
            self.sections.iter().find(|(e, _)| (*e == Extension::Bf16) == of_bf16).ok_or_else(|| {
                format!("{explicit}: the file names no section for {}", if of_bf16 { "bf16" } else { "v" })
            })?;
        let (extension, section) = *list;
        let member = Member {
            plan,
            env,
            ret,
            params: &params,
            extension,
            section,
            family,
            name: &explicit,
            overloaded: overloaded.as_deref(),
            instruction,
        };
        self.variants(&member);
        Ok(())
    }

    fn variants(&mut self, member: &Member) {
        let Member { plan, env, ret, .. } = *member;
        let param = |role, ty, name| Param { role, ty, name };
        let mask = match env.t {
            Type::Vector(v) => Type::Mask(v.ratio() as u8),
            other => other,
        };
        let has_acc = member.params.iter().any(|p| p.role == Role::Acc);
        let tells_type = member.params.iter().any(|p| matches!(p.ty, Type::Vector(_) | Type::Mask(_)));
        for variant in &plan.variants {
            let with_policy = variant.policy != Policy::Default;
            let mask = variant.masked.then_some(param(Role::Mask, mask, "vm"));
            let dest = (with_policy && !has_acc).then_some(param(Role::Dest, ret, "vd"));
            let frm = variant.rm.then_some(param(Role::Frm, Type::Uint, "frm"));
            // frm goes before vl.
            let (first, last) = member.params.split_at(member.params.len() - usize::from(variant.rm));
            let count = member.params.len() + [mask, dest, frm].iter().flatten().count();
            let mut params = Vec::with_capacity(count);
            params.extend(mask.into_iter().chain(dest));
            params.extend_from_slice(first);
            params.extend(frm);
            params.extend_from_slice(last);
            let overloads = match plan.overloaded {
                Overloaded::Policy => with_policy,
                _ => with_policy || variant.masked || tells_type,
            };
            let overloaded =
                member.overloaded.filter(|_| overloads).map(|n| [n, variant.overloaded].concat().into());
            self.made.push(Intrinsic {
                id: self.made.len() as u32,
                extension: member.extension,
                section: member.section,
                family: member.family,
                sem: plan.sem,
                instruction: member.instruction,
                swapped: plan.swapped,
                name: [member.name, variant.suffix].concat().into(),
                overloaded,
                ty: env.t,
                ret,
                params: params.into(),
                policy: variant.policy,
                info: plan.info,
            });
        }
    }

    fn intern(&mut self, family: &str) -> &'static str {
        if let Some(known) = self.families.get(family) {
            return known;
        }
        let kept: &'static str = Box::leak(family.into());
        self.families.insert(family.to_string(), kept);
        kept
    }
}

/// The parameters of a member; none if one's type does not exist.
fn params(plan: &[PlanParam], env: &Env) -> Option<Vec<Param>> {
    const PARTS: [&str; 8] = ["v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7"];
    let mut params = Vec::with_capacity(plan.len());
    for p in plan {
        let ty = p.ty.eval(env)?;
        if p.name == "v..." {
            let parts = crate::intrinsic::parts(env.t, ty);
            params.extend((0..parts).map(|n| Param { role: Role::Part(n), ty, name: PARTS[usize::from(n)] }));
        } else {
            params.push(Param { role: p.role.unwrap_or_else(|| role(p.name, ty)), ty, name: p.name });
        }
    }
    Some(params)
}

/// The part that a parameter of this name and type plays unless the table says otherwise.
fn role(name: &str, ty: Type) -> Role {
    let is_vector = matches!(ty, Type::Vector(_) | Type::Mask(_));
    match name {
        "vd" => Role::Acc,
        "vs2" | "vs" => Role::Vs2,
        "vs1" if is_vector => Role::Vs1,
        "rs1" if ty.is_pointer() => Role::Base,
        "rs1" | "vs1" => Role::Scalar,
        "rs2" if is_vector => Role::Index,
        "rs2" => Role::Stride,
        "vs3" => Role::Data,
        "v0" => Role::Carry,
        "uimm" => Role::Uimm,
        "vxrm" => Role::Vxrm,
        "avl" => Role::Avl,
        "new_vl" => Role::NewVl,
        "src" | "dest" => Role::Source,
        "value" => Role::Value,
        "index" => Role::Position,
        _ => Role::Vl,
    }
}

fn type_names(named: &Named, env: &Env) -> Option<String> {
    let mut text = String::new();
    match (named, env.t) {
        (Named::Vtype, Type::Vector(v)) => write!(text, "_e{}{}", v.elem.bits(), v.lmul).ok()?,
        (Named::Vtype, _) => return None,
        (Named::Types(types), _) => {
            for ty in types {
                text.push('_');
                text += &short(ty.eval(env)?);
            }
        }
    }
    Some(text)
}

fn short(ty: Type) -> String {
    match ty {
        Type::Vector(v) => v.short(),
        Type::Mask(n) => format!("b{n}"),
        Type::Scalar(e) => e.short().to_string(),
        other => other.to_string(),
    }
}

/// The element type it is made of.
pub fn elem(ty: Type) -> Option<Elem> {
    match ty {
        Type::Vector(v) => Some(v.elem),
        Type::Scalar(e) | Type::Pointer(e) | Type::ConstPointer(e) => Some(e),
        _ => None,
    }
}

/// Replaces `{sew}`, `{eew}` and `{nf}` by numbers.
fn fill(template: &str, env: &Env) -> String {
    if !template.contains('{') {
        return template.to_string();
    }
    let mut text = template.to_string();
    if let Type::Vector(v) = env.t {
        text = text.replace("{sew}", &v.elem.bits().to_string()).replace("{nf}", &v.nf.to_string());
    }
    if let Some(eew) = env.eew {
        text = text.replace("{eew}", &eew.bits().to_string());
    }
    text
}
