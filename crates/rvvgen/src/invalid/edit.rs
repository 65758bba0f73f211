//! How a program gets a defect.

use super::Defect;
use crate::rng::Rng;
use rvv_intrinsics::{Elem, Intrinsic, Role, Type, VecType, all, by_name};
use rvv_ir::c::{emit_function, march};
use rvv_ir::{Arg, Call, Expr, Program, Stmt};
use rvv_isa::{Lmul, Sew};

/// A program with a defect.
pub(super) struct Edited {
    /// The program without it: other spellings of one call may be gone.
    pub valid: Program,
    /// The C file with it.
    pub text: String,
    /// Another `-march` than the program needs.
    pub march: Option<String>,
    /// What is wrong.
    pub what: String,
}

/// The calls of main, blocks included, in the order of [`call_mut`].
fn calls(body: &[Stmt]) -> Vec<&Call> {
    let mut found = Vec::new();
    for stmt in body {
        if let Stmt::Call(call) = stmt {
            found.push(call);
        }
        stmt.blocks().into_iter().for_each(|block| found.extend(calls(block)));
    }
    found
}

/// Call number `n` of a body.
fn call_mut<'b>(body: &'b mut [Stmt], n: &mut usize) -> Option<&'b mut Call> {
    for stmt in body {
        let blocks = match stmt {
            Stmt::Call(call) => {
                if *n == 0 {
                    return Some(call);
                }
                *n -= 1;
                continue;
            }
            Stmt::Strip { body, .. } | Stmt::For { body, .. } => vec![body],
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            _ => continue,
        };
        for block in blocks {
            if let Some(call) = call_mut(block, n) {
                return Some(call);
            }
        }
    }
    None
}

/// The program with a call changed.
fn changed(program: &Program, number: usize, change: impl FnOnce(&mut Call)) -> Program {
    let mut program = program.clone();
    let mut n = number;
    if let Some(call) = call_mut(&mut program.main.body, &mut n) {
        change(call);
    }
    program
}

/// The file with the line of a call changed.
fn line_changed(program: &Program, number: usize, change: impl Fn(&str) -> String) -> Option<String> {
    let text = emit_function(program);
    let other = emit_function(&changed(program, number, |call| call.args.clear()));
    let at = text.lines().zip(other.lines()).position(|(a, b)| a != b)?;
    let lines: Vec<String> =
        text.lines().enumerate().map(|(i, l)| if i == at { change(l) } else { l.to_owned() }).collect();
    Some(lines.join("\n") + "\n")
}

/// The program with this defect, if it can have it.
pub(super) fn with(program: &Program, defect: Defect, rng: &mut Rng) -> Option<Edited> {
    let mut numbers: Vec<usize> = (0..calls(&program.main.body).len()).collect();
    rng.shuffle(&mut numbers);
    match defect {
        Defect::MissingExtension => return missing_extension(program, rng),
        Defect::Static
        | Defect::Member
        | Defect::Array
        | Defect::Sizeof
        | Defect::PointerArithmetic
        | Defect::Cast
        | Defect::Condition => return misuse(program, defect, rng),
        _ => {}
    }
    numbers.into_iter().find_map(|n| in_call(program, n, defect, rng))
}

/// A call with this defect, if it can have it.
fn in_call(program: &Program, number: usize, defect: Defect, rng: &mut Rng) -> Option<Edited> {
    let call = calls(&program.main.body).get(number).copied()?.clone();
    let intrinsic = call.intrinsic;
    let name = if call.overloaded { intrinsic.overloaded.as_deref()? } else { &*intrinsic.name };
    let types = || -> Vec<Type> { intrinsic.params.iter().map(|p| p.ty).collect() };
    let vectors: Vec<usize> = (0..call.args.len())
        .filter(|&i| is_vector(intrinsic.params[i].ty) && matches!(call.args[i], Arg::Var(_)))
        .collect();
    let constants = || {
        let is = |p: &Role| intrinsic.constants(*p).is_some();
        let roles = [Role::Uimm, Role::Position, Role::Frm, Role::Vxrm].into_iter().filter(is);
        roles.filter_map(|role| Some((role, intrinsic.position(role)?))).next()
    };
    let edited = |program: &Program, what: String, change: &dyn Fn(&mut Call)| {
        let text = emit_function(&changed(program, number, change));
        Some(Edited { valid: program.clone(), text, march: None, what })
    };
    // A name that is overloaded may have a form that takes what this one does not.
    let clashes = |types: &[Type]| !call.overloaded || !taken(name, types);
    match defect {
        Defect::OutOfRange => {
            let (role, at) = constants()?;
            let value = match role {
                Role::Uimm => 32 + rng.below(300) as u64,
                _ => intrinsic.constants(role)?.end() + 1 + rng.below(40) as u64,
            };
            edited(program, format!("{value} as argument {} of {name}", at + 1), &|call| {
                call.args[at] = Arg::Expr(Expr::Const(value));
            })
        }
        Defect::NotConstant => {
            let (_, at) = constants()?;
            let mut with = program.clone();
            let var = with.main.var("unknown", Type::Size);
            with.params.push((var, 0));
            edited(&with, format!("a variable as argument {} of {name}", at + 1), &|call| {
                call.args[at] = Arg::Var(var);
            })
        }
        Defect::MissingArgument => {
            let mut types = types();
            types.pop()?;
            clashes(&types).then_some(())?;
            edited(program, format!("{name} without its last argument"), &|call| {
                call.args.pop();
            })
        }
        Defect::ExtraArgument => {
            let types: Vec<Type> = types().into_iter().chain([Type::Size]).collect();
            clashes(&types).then_some(())?;
            let comma = if call.args.is_empty() { "" } else { ", " };
            let more = |line: &str| match line.strip_suffix(");") {
                Some(line) => format!("{line}{comma}0);"),
                None => line.to_owned(),
            };
            let text = line_changed(program, number, more)?;
            Some(Edited {
                valid: program.clone(),
                text,
                march: None,
                what: format!("{name} with one more argument"),
            })
        }
        Defect::OtherType => {
            let at = *rng.pick(&vectors)?;
            let ty = other(intrinsic.params[at].ty, rng)?;
            let mut types = types();
            types[at] = ty;
            clashes(&types).then_some(())?;
            let mut with = program.clone();
            let var = with.main.var("misfit", ty);
            edited(&with, format!("a {ty} as argument {} of {name}", at + 1), &|call| {
                call.args[at] = Arg::Var(var);
            })
        }
        Defect::NoVector => {
            let at = *rng.pick(&vectors)?;
            let mut types = types();
            types[at] = Type::Size;
            clashes(&types).then_some(())?;
            edited(program, format!("a number as argument {} of {name}", at + 1), &|call| {
                call.args[at] = Arg::Expr(Expr::Const(1));
            })
        }
        Defect::LengthOfVector => {
            let at = intrinsic.position(Role::Vl)?;
            let from = *rng.pick(&vectors)?;
            let mut types = types();
            types[at] = intrinsic.params[from].ty;
            clashes(&types).then_some(())?;
            edited(program, format!("a vector as the vl of {name}"), &|call| {
                call.args[at] = call.args[from].clone();
            })
        }
        Defect::OtherResult => {
            call.dst?;
            let ty = other(intrinsic.ret, rng)?;
            let mut with = program.clone();
            let var = with.main.var("misfit", ty);
            edited(&with, format!("the result of {name} as a {ty}"), &|call| call.dst = Some(var))
        }
        Defect::NoSuchName => {
            let valid = changed(program, number, |call| call.overloaded = false);
            let name = &*intrinsic.name;
            let wrong = [
                format!("{name}_tumu"),
                format!("{name}_mu"),
                format!("{name}_rm"),
                name.replace("m8", "m16"),
                name.replace("_vv_", "_vi_"),
            ];
            let wrong: Vec<String> = wrong.into_iter().filter(|n| n != name && !exists(n)).collect();
            let wrong = rng.pick(&wrong)?.clone();
            let text = line_changed(&valid, number, |line| line.replace(name, &wrong))?;
            let what = format!("there is no {wrong}");
            Some(Edited { valid, text, march: None, what })
        }
        _ => None,
    }
}

fn is_vector(ty: Type) -> bool {
    matches!(ty, Type::Vector(_) | Type::Mask(_))
}

/// Whether a name is in the lists.
fn exists(name: &str) -> bool {
    by_name(name).is_some() || all().iter().any(|i| i.overloaded.as_deref() == Some(name))
}

/// Whether an intrinsic of this overloaded name takes such arguments. Numbers convert to each other.
fn taken(name: &str, types: &[Type]) -> bool {
    let takes = |i: &&Intrinsic| {
        i.params.len() == types.len()
            && i.params.iter().zip(types).all(|(p, ty)| match (is_vector(p.ty), is_vector(*ty)) {
                (false, false) => true,
                _ => p.ty == *ty,
            })
    };
    all().iter().filter(|i| i.overloaded.as_deref() == Some(name)).any(|i| takes(&i))
}

/// Another type, of which less is different than all: it needs no other extension.
fn other(ty: Type, rng: &mut Rng) -> Option<Type> {
    match ty {
        Type::Mask(n) => Some(Type::Mask(if n == 64 { 32 } else { n * 2 })),
        Type::Vector(v) => {
            let sign = match v.elem {
                e if e.is_signed() => Elem::unsigned(e.sew()),
                e => Elem::signed(e.sew()),
            };
            let mut types = vec![VecType { elem: sign, ..v }];
            types.extend(Lmul::ALL.map(|lmul| VecType { lmul, ..v }));
            types.push(VecType { elem: Elem::unsigned(Sew::E32), ..v });
            types.push(VecType { nf: if v.nf == 1 { 2 } else { 1 }, ..v });
            types.retain(|t| *t != v && t.exists());
            rng.pick(&types).map(|t| Type::Vector(*t))
        }
        _ => None,
    }
}

/// A vector or mask type of the program.
fn some_type(program: &Program, rng: &mut Rng) -> Option<Type> {
    let types: Vec<Type> = program.main.vars.iter().map(|v| v.ty).filter(|t| is_vector(*t)).collect();
    rng.pick(&types).copied()
}

/// A type used as only a type of known size may be.
fn misuse(program: &Program, defect: Defect, rng: &mut Rng) -> Option<Edited> {
    let ty = some_type(program, rng)?;
    let second = other(ty, rng)?;
    let way = rng.below(2);
    let more = match defect {
        Defect::Static if way == 0 => format!("static {ty} misuse;\n"),
        Defect::Static => format!("_Thread_local {ty} misuse;\n"),
        Defect::Member if way == 0 => format!("struct misuse {{\n    int before;\n    {ty} member;\n}};\n"),
        Defect::Member => format!("union misuse {{\n    int before;\n    {ty} member;\n}};\n"),
        Defect::Array if way == 0 => format!("extern {ty} misuse[2];\n"),
        Defect::Array => format!("void misuse(void)\n{{\n    {ty} misused[3];\n    (void)misused;\n}}\n"),
        Defect::Sizeof => format!("unsigned char misuse[sizeof({ty})];\n"),
        Defect::PointerArithmetic if way == 0 => {
            format!("{ty} *misuse({ty} *p)\n{{\n    return p + 1;\n}}\n")
        }
        Defect::PointerArithmetic => format!("{ty} misuse({ty} *p)\n{{\n    return p[1];\n}}\n"),
        Defect::Cast => format!("{second} misuse({ty} x)\n{{\n    return ({second})x;\n}}\n"),
        Defect::Condition => {
            format!("int misuse({ty} x)\n{{\n    if (x)\n        return 1;\n    return 0;\n}}\n")
        }
        _ => return None,
    };
    let mut valid = program.clone();
    // A cast to a type that the program does not need otherwise.
    valid.main.var("twin", second);
    let text = format!("{}\n{more}", emit_function(&valid));
    Some(Edited { valid, text, march: None, what: format!("{}: {ty}", defect.name()) })
}

/// What any program can have, even one without vectors.
pub(super) fn static_mask(program: &Program) -> Edited {
    let text = format!("{}\nstatic vbool8_t misuse;\n", emit_function(program));
    Edited { valid: program.clone(), text, march: None, what: "static vbool8_t".to_string() }
}

/// Too small an architecture.
fn missing_extension(program: &Program, rng: &mut Rng) -> Option<Edited> {
    let needs = march(&[program]);
    let mut smaller = vec![("rv64gc", "no vector extension")];
    // A longer VLEN is no extension that anything needs.
    if needs.split('_').skip(1).any(|e| !e.starts_with("zvl")) {
        smaller.extend([("rv64gcv", "nothing beyond V"); 2]);
    }
    let large = |ty: Type| ty.vector().is_some_and(|v| v.elem.bits() == 64 || v.elem.is_float());
    if program.main.vars.iter().any(|v| large(v.ty)) {
        smaller.push(("rv64gc_zve32x", "elements of 64 bits or floating point, and Zve32x"));
    }
    let (march, why) = *rng.pick(&smaller)?;
    Some(Edited {
        valid: program.clone(),
        text: emit_function(program),
        march: Some(march.to_string()),
        what: format!("-march={march}, not {needs}: {why}"),
    })
}
