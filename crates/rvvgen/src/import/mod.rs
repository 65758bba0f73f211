//! Programs out of functions in C: compilers' regression tests, users' kernels.
//!
//! A function becomes `main`: its pointers are buffers of generated data, its scalars opaque parameters, the
//! functions it calls are put in place. What it stores and returns is printed. It computes what the C function
//! computes on the same data; where it cannot be said in the IR, the refusal names the construct.

mod call;
mod expr;
mod floats;
mod lower;
mod memory;
mod value;

pub use lower::Refusal;

use crate::csource::{CType, Function, Place, Stmt, Unit};
use lower::{Choice, Lower};
use rvv_intrinsics::{Elem, Type};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::loops::CExpr;
use rvv_ir::{Expected, Program, VlChoice};
use rvv_oracle::{Options, evaluate, evaluate_with};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;
use value::{Pointer, Slot, Value};

/// How functions are imported.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Seed of the data.
    pub seed: u64,
    /// What a length is, if the function has a meaning with it.
    pub len: u64,
    /// The VLENs at which programs must have a meaning.
    pub vlens: Vec<u32>,
    /// Make buffers as short as the function needs them. Without it, they are long.
    pub shorten: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Settings { seed: 1, len: 100, vlens: vec![128, 256, 512, 1024], shorten: true }
    }
}

/// A function as a program.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The program.
    pub program: Program,
    /// What it prints at each VLEN.
    pub expected: Vec<Expected>,
    /// Calls of intrinsics in it, and how many of them are executed.
    pub calls: (usize, usize),
}

/// Functions of the file with intrinsics, in order.
pub fn functions(unit: &Unit) -> impl Iterator<Item = &Function> {
    unit.source.functions.iter().filter(|f| f.place.file == unit.file && f.has_intrinsics)
}

/// Elements of a buffer before it is made shorter.
const BUFFER: usize = 1 << 14;
/// Steps that a run may take.
const FUEL: u64 = 2_000_000;

/// Makes a program of a function.
///
/// # Errors
/// What cannot be said, and where.
pub fn import(unit: &Unit, function: &Function, settings: &Settings) -> Result<Imported, Refusal> {
    let vlen = settings.vlens.iter().copied().max().unwrap_or(128);
    let mut elems = HashMap::new();
    let mut best: Option<(usize, Program)> = None;
    let mut refusal = None;
    for (n, len) in [settings.len, 64, 16, 8, 4, 2, 1].into_iter().enumerate() {
        let choice = Choice { len, step: 1 + n as u64 % 2, buffer: BUFFER, vlen };
        let lowered = lower(unit, function, choice, &mut elems)?;
        for data in 0..3 {
            let mut program = lowered.clone();
            fill(&mut program, settings.seed, data);
            match executed(&program, settings) {
                Ok(count) => {
                    let all = program.calls().len();
                    if best.as_ref().is_none_or(|(most, _)| count > *most) {
                        best = Some((count, program));
                    }
                    if count == all {
                        return finish(best, function, settings);
                    }
                    break;
                }
                Err(message) => {
                    refusal.get_or_insert(Refusal {
                        place: function.place,
                        what: "no data with which it has a meaning".to_string(),
                        detail: format!("no data with which it has a meaning: {message}"),
                    });
                }
            }
        }
    }
    match (best, refusal) {
        (None, Some(refusal)) => Err(refusal),
        (best, _) => finish(best, function, settings),
    }
}

/// Gives the buffers their data.
fn fill(program: &mut Program, seed: u64, data: u32) {
    for (n, buffer) in program.buffers.iter_mut().enumerate() {
        let Init::Seed(..) = buffer.init else { continue };
        let distribution = match (data, buffer.elem.is_float()) {
            (0, true) | (1, true) => Distribution::Small,
            (0, false) => Distribution::Bits,
            (1, false) => Distribution::Small,
            // What may be an index, in bytes.
            _ => Distribution::Below { limit: 64, step: 8 },
        };
        buffer.init =
            Init::Seed(seed.wrapping_mul(1000).wrapping_add(n as u64 + 1) & 0xffff_ffff, distribution);
    }
}

/// How many calls are executed at some VLEN, if it has a meaning at all of them.
fn executed(program: &Program, settings: &Settings) -> Result<usize, String> {
    let mut seen: HashSet<*const rvv_ir::Call> = HashSet::new();
    for &vlen in &settings.vlens {
        let options = Options { fuel: FUEL, ..Options::new(vlen) };
        let mut note = |call: &rvv_ir::Call| {
            seen.insert(std::ptr::from_ref(call));
        };
        evaluate_with(program, &options, &mut note).map_err(|e| e.message)?;
    }
    Ok(seen.len())
}

fn finish(
    best: Option<(usize, Program)>,
    function: &Function,
    settings: &Settings,
) -> Result<Imported, Refusal> {
    let refuse =
        |what: &str, detail: String| Refusal { place: function.place, what: what.to_string(), detail };
    let Some((count, mut program)) = best else {
        return Err(refuse("nothing to import", "nothing to import".to_string()));
    };
    if program.outputs().next().is_none() {
        let what = "no effect that can be seen";
        return Err(refuse(what, what.to_string()));
    }
    if count == 0 {
        let what = "no intrinsic that is executed";
        return Err(refuse(what, what.to_string()));
    }
    if settings.shorten {
        shorten(&mut program, settings);
    }
    let mut expected = Vec::new();
    for &vlen in &settings.vlens {
        let outcome = evaluate(&program, &Options { vl: VlChoice::Max, ..Options::new(vlen) });
        expected.push(outcome.map_err(|e| refuse("no meaning", e.to_string()))?);
    }
    let known = expected.iter().any(|e| e.outputs.iter().any(|o| o.defined.iter().any(|d| *d != 0)));
    if !known {
        let what = "no result that the specification defines";
        return Err(refuse(what, what.to_string()));
    }
    let calls = (program.calls().len(), count);
    Ok(Imported { program, expected, calls })
}

/// Makes buffers as short as the program needs them at the smallest and the largest VLEN, about.
fn shorten(program: &mut Program, settings: &Settings) {
    let vlens = [settings.vlens.iter().min(), settings.vlens.iter().max()];
    let good = |program: &Program| {
        vlens
            .iter()
            .flatten()
            .all(|&&vlen| evaluate(program, &Options { fuel: FUEL, ..Options::new(vlen) }).is_ok())
    };
    // All at once as far as that goes, then one by one.
    let growing: Vec<usize> = (0..program.buffers.len())
        .filter(|n| matches!(program.buffers[*n].init, Init::Seed(..)) || program.buffers[*n].len >= BUFFER)
        .collect();
    while growing.iter().any(|&n| program.buffers[n].len > 64) {
        let before: Vec<usize> = growing.iter().map(|&n| program.buffers[n].len).collect();
        growing.iter().for_each(|&n| program.buffers[n].len = (program.buffers[n].len / 2).max(1));
        if !good(program) {
            growing.iter().zip(before).for_each(|(&n, len)| program.buffers[n].len = len);
            break;
        }
    }
    for n in growing {
        while program.buffers[n].len > 1 {
            let before = program.buffers[n].len;
            program.buffers[n].len = before / 2;
            if !good(program) {
                program.buffers[n].len = before;
                break;
            }
        }
    }
}

/// Lowers a function; the elements of buffers are learned on the way.
fn lower(
    unit: &Unit,
    function: &Function,
    choice: Choice,
    elems: &mut HashMap<String, Elem>,
) -> Result<Program, Refusal> {
    loop {
        let mut lower = Lower::new(&unit.source, choice, elems.clone());
        lower.place = function.place;
        match lower.function(function) {
            Ok(()) => {
                let mut program = lower.finish()?;
                program.comment = vec![format!("{}, imported", function.name)];
                // As a file of it is read: parameters are the first variables.
                let text = program.to_string();
                return text.parse().map_err(|e: rvv_ir::ParseError| Refusal {
                    place: function.place,
                    what: "a program that cannot be written".to_string(),
                    detail: e.to_string(),
                });
            }
            Err(refusal) if refusal.what == memory::AGAIN && lower.elems.len() > elems.len() => {
                *elems = std::mem::take(&mut lower.elems);
            }
            Err(refusal) => return Err(refusal),
        }
    }
}

impl Lower<'_> {
    fn function(&mut self, function: &Function) -> lower::Result<()> {
        if function.generic {
            return self.fail("a template or a method");
        }
        let body = match &function.body {
            Ok(body) => body,
            Err((place, what)) => {
                self.place = *place;
                return self.fail(what.clone());
            }
        };
        let mut references = Vec::new();
        for param in &function.params {
            let name: Rc<str> = if param.name.is_empty() { "unnamed".into() } else { param.name.clone() };
            let mut value = self.param(&name, &param.ty)?;
            self.temporary.clear();
            // A reference to a pointer's place is not asked for; one to a number or vector is a variable.
            let changes = assigns(body, &name);
            let slot = match (&param.ty, &value) {
                (_, Value::Pointer(p)) if changes => {
                    let var = self.var(&name, Type::Size);
                    self.set(var, p.at.clone())?;
                    Slot::Pointer(p.buffer, var, p.to.clone())
                }
                (ty, Value::Int(CExpr::Var(var), _) | Value::Float(var, _) | Value::Vector(var, _)) => {
                    Slot::Var(*var, ty.value().clone())
                }
                _ => Slot::Value(std::mem::replace(&mut value, Value::Void)),
            };
            if let (CType::Reference(_), Slot::Var(..)) = (&param.ty, &slot) {
                references.push(name.clone());
            }
            self.scopes.declare(name, slot);
        }
        let number = self.source.functions.iter().position(|f| std::ptr::eq(f, function));
        self.calls.extend(number);
        let result = self.inline(body, &function.ret)?;
        self.output(result)?;
        for name in references {
            if let Some(slot) = self.scopes.get(&name).cloned() {
                let value = self.read_slot(&slot)?;
                self.output(value)?;
            }
        }
        Ok(())
    }

    /// A parameter of the function: data.
    fn param(&mut self, name: &Rc<str>, ty: &CType) -> lower::Result<Value> {
        let pointer = |l: &mut Self, to: &CType, elem: Elem| {
            let key = format!("b{}_{name}", l.program.buffers.len());
            let elem = l.elems.get(&key).copied().unwrap_or(elem);
            let buffer = l.input(name, elem, l.choice.buffer);
            let at = CExpr::int(Elem::U64, 0);
            Value::Pointer(Pointer { buffer: Some(buffer), at, to: to.clone() })
        };
        match ty.value() {
            CType::Pointer(to) | CType::Array(to, _) => match to.value() {
                CType::Struct(of) => Ok(Value::Struct(of.clone(), name.clone())),
                CType::Void => Ok(pointer(self, to, Elem::U8)),
                CType::Rvv(Type::Vector(v)) => Ok(pointer(self, to, v.elem)),
                CType::Pointer(_) | CType::Array(..) => {
                    self.fail("a parameter that is a pointer to pointers")
                }
                CType::Function => self.fail("a parameter that is a function"),
                other => match self.elem_of(other) {
                    Some(elem) => Ok(pointer(self, to, elem)),
                    None => self.fail_with(
                        "a type that is not known",
                        format!("`{other}`, a type that is not known"),
                    ),
                },
            },
            CType::Struct(of) => Ok(Value::Struct(of.clone(), name.clone())),
            CType::Rvv(ty @ (Type::Vector(_) | Type::Mask(_))) => self.vector_param(name, *ty),
            ty => {
                let ir = self.ir_type(ty)?;
                let Some(elem) = rvv_ir::put_elem(ir) else { return self.fail("a parameter of this type") };
                let var = self.var(name, ir);
                let number = self.program.params.len() as u64;
                if elem.is_float() {
                    // Small numbers that are not the same.
                    let bits = expr::float_bits(0.5 + number as f64, elem);
                    self.program.params.push((var, bits));
                    return Ok(Value::Float(var, elem));
                }
                let lower = name.to_ascii_lowercase();
                let value = if *ty == CType::Bool {
                    1
                } else if lower.contains("stride") || lower.starts_with("ld") {
                    8 * self.choice.len
                } else if lower.contains("inc") {
                    self.choice.step
                } else {
                    self.choice.len
                };
                self.program.params.push((var, value & (u64::MAX >> (64 - elem.bits()))));
                Ok(Value::Int(CExpr::Var(var), elem))
            }
        }
    }
}

/// Whether a function changes a variable.
fn assigns(body: &[Stmt], name: &str) -> bool {
    use crate::csource::{Expr, ExprKind, StmtKind, Unary};
    fn is(e: &Expr, name: &str) -> bool {
        matches!(&e.kind, ExprKind::Name(n) if **n == *name)
    }
    fn expr(e: &Expr, name: &str) -> bool {
        let here = match &e.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step(_, _, target) => is(target, name),
            ExprKind::Unary(Unary::Address, of) => is(of, name),
            ExprKind::Block(body) => return assigns(body, name),
            _ => false,
        };
        here || e.parts().into_iter().any(|part| expr(part, name))
    }
    fn stmt(s: &Stmt, name: &str) -> bool {
        let within = |s: &Stmt| stmt(s, name);
        match &s.kind {
            StmtKind::Expr(e) => expr(e, name),
            StmtKind::Declare(variables) => {
                variables.iter().filter_map(|v| v.init.as_ref()).any(|e| expr(e, name))
            }
            StmtKind::If(c, a, b) => expr(c, name) || within(a) || b.as_ref().is_some_and(|b| within(b)),
            StmtKind::While(c, body) | StmtKind::DoWhile(body, c) => expr(c, name) || within(body),
            StmtKind::For(first, c, step, body) => {
                first.as_ref().is_some_and(|s| within(s))
                    || c.iter().chain(step).any(|e| expr(e, name))
                    || within(body)
            }
            StmtKind::Switch(of, body) => expr(of, name) || within(body),
            StmtKind::Return(e) => e.as_ref().is_some_and(|e| expr(e, name)),
            StmtKind::Block(body) => body.iter().any(within),
            StmtKind::Case(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Other(_) => false,
        }
    }
    body.iter().any(|s| stmt(s, name))
}

/// Where a refusal is, for messages: `file:line`.
pub fn at(files: &crate::csource::Files, place: Place) -> String {
    format!("{}:{}", files.name(place.file), place.line)
}

#[cfg(test)]
mod tests;
