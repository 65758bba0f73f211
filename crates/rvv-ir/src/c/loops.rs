//! Element statements as C.

use super::body::{Body, integer};
use super::{Globals, Language};
use crate::loops::{Access, Binary, Builtin, CExpr, Lane, Lanes, Loop, Pointers, Pragma, Target, Unary};
use crate::{Buffer, Function, Program, Stmt};
use rvv_intrinsics::Elem;
use std::collections::BTreeMap;

/// The buffers that a function reads and writes, itself or by what it calls; true for those it writes.
pub(super) fn buffers_of(program: &Program, function: &Function) -> BTreeMap<usize, bool> {
    let mut found = BTreeMap::new();
    for stmt in &function.body {
        let effects = stmt.effects(program);
        effects.loads.iter().for_each(|&b| {
            found.entry(b).or_insert(false);
        });
        effects.stores.iter().for_each(|&b| {
            found.insert(b, true);
        });
    }
    found
}

/// The parameters of a function through which it reaches its buffers. They hide the globals of the same name.
pub(super) fn pointer_params(program: &Program, function: &Function, globals: &Globals) -> Vec<String> {
    let (names, language) = (&globals.buffers, globals.language);
    let restrict = match function.pointers {
        Pointers::Globals => return Vec::new(),
        Pointers::Plain => "",
        Pointers::Restrict if language == Language::Cpp => "__restrict ",
        Pointers::Restrict => "restrict ",
    };
    let param = |(number, stored): (usize, bool)| {
        let buffer = &program.buffers[number];
        let constant = if stored { "" } else { "const " };
        let (elem, name) = (c_type(buffer, language), &names[number]);
        match &buffer.dims[..] {
            [] => format!("{constant}{elem} *{restrict}{name}"),
            dims => format!("{constant}{elem} (*{restrict}{name}){}", brackets(dims)),
        }
    };
    let mut found = Vec::new();
    let mut records = BTreeMap::new();
    let used = buffers_of(program, function);
    for (&number, &stored) in &used {
        if let Some(record) = program.record_of(number) {
            *records.entry(record).or_insert(false) |= stored;
        }
    }
    for number in used {
        match program.record_of(number.0) {
            None => found.push(param(number)),
            Some(record) => {
                // Once for all its fields.
                if let Some(stored) = records.remove(&record) {
                    let [tag, name] = &globals.records[record];
                    let constant = if stored { "" } else { "const " };
                    found.push(format!("{constant}struct {tag} *{restrict}{name}"));
                }
            }
        }
    }
    found
}

/// The type of a buffer's elements.
pub(super) fn c_type(buffer: &Buffer, language: Language) -> &'static str {
    match (buffer.truths, language) {
        (true, Language::Cpp) => "bool",
        (true, _) => "_Bool",
        _ => buffer.elem.c_name(),
    }
}

fn brackets(dims: &[usize]) -> String {
    dims.iter().map(|d| format!("[{d}]")).collect()
}

/// The dimensions of a buffer's declaration.
pub(super) fn dimensions(buffer: &Buffer) -> String {
    let mut shape = buffer.shape();
    shape[0] = shape[0].max(1);
    brackets(&shape)
}

/// Floating-point types of literals.
pub(super) fn literal_types(program: &Program) -> Vec<Elem> {
    let mut found = Vec::new();
    each_statement(program, &mut |stmt| {
        for e in stmt.expressions() {
            e.each(&mut |e| match e {
                CExpr::Literal(elem, _) if elem.is_float() => found.push(*elem),
                _ => {}
            });
        }
    });
    found
}

/// Whether element statements compute in `_Float16`: then the scalar instructions are needed too, lest
/// compilers compute in `float` and round less often.
pub(super) fn computes_in_f16(program: &Program) -> bool {
    let has_f16 =
        program.buffers.iter().any(|b| b.elem == Elem::F16) || literal_types(program).contains(&Elem::F16);
    has_f16 && !program.assignments().is_empty()
}

fn each_statement(program: &Program, f: &mut dyn FnMut(&Stmt)) {
    fn walk(body: &[Stmt], f: &mut dyn FnMut(&Stmt)) {
        for stmt in body {
            f(stmt);
            stmt.blocks().into_iter().for_each(|block| walk(block, f));
        }
    }
    program.functions.iter().chain([&program.main]).for_each(|function| walk(&function.body, f));
}

impl Body<'_> {
    /// A buffer as an array or pointer of its element type.
    pub(super) fn base(&self, buffer: usize) -> String {
        let name = &self.globals.buffers[buffer];
        let through_union =
            self.program.buffers[buffer].elem.is_float() && self.function.pointers == Pointers::Globals;
        if through_union { format!("{name}.f") } else { name.clone() }
    }

    /// The arguments for [`pointer_params`].
    pub(super) fn pointer_args(&self, callee: &Function) -> Vec<String> {
        if callee.pointers == Pointers::Globals {
            return Vec::new();
        }
        let mut args: Vec<String> = Vec::new();
        for buffer in buffers_of(self.program, callee).into_keys() {
            let arg = match self.program.record_of(buffer) {
                Some(record) => self.globals.records[record][1].clone(),
                None => self.base(buffer),
            };
            // A record is passed once.
            if !args.contains(&arg) {
                args.push(arg);
            }
        }
        args
    }

    pub(super) fn element_statement(&mut self, out: &mut String, stmt: &Stmt) {
        match stmt {
            Stmt::Set { target, value } => {
                let target = match target {
                    Target::Var(var) => self.name(*var).to_owned(),
                    Target::Element(access) => self.access(access),
                };
                let text = format!("{target} = {};", self.bare(value));
                self.line(out, &text);
            }
            Stmt::Loop(of) => {
                self.pragma(out, of.pragma);
                let head = self.loop_head(of);
                self.line(out, &head);
                self.block(out, &of.body);
                self.line(out, "}");
            }
            Stmt::When { condition, then, otherwise } => {
                let text = format!("if ({}) {{", self.bare(condition));
                self.line(out, &text);
                self.block(out, then);
                if !otherwise.is_empty() {
                    self.line(out, "} else {");
                    self.block(out, otherwise);
                }
                self.line(out, "}");
            }
            Stmt::Leave => self.line(out, "break;"),
            Stmt::Lanes(of) => self.lanes(out, of),
            _ => {}
        }
    }

    /// A vector of fixed length, one operation a line.
    fn lanes(&mut self, out: &mut String, of: &Lanes) {
        self.line(out, "{");
        self.depth += 1;
        let mut made = 0;
        let value = self.vector(out, &of.value, of.count, &mut made);
        let to = format!("{}[{}]", self.base(of.buffer), self.bare(&of.at));
        self.line(out, &format!("__builtin_memcpy(&{to}, &{value}, sizeof {value});"));
        self.depth -= 1;
        self.line(out, "}");
    }

    /// Computes a vector; the name of the variable that holds it.
    fn vector(&self, out: &mut String, of: &Lane, count: usize, made: &mut usize) -> String {
        let elem = of.elem(self.program).unwrap_or(Elem::I32);
        let ty =
            |e: Elem| format!("__attribute__((vector_size({}))) {}", count * e.bytes() as usize, e.c_name());
        let parts: Vec<String> = of.parts().into_iter().map(|p| self.vector(out, p, count, made)).collect();
        let name = format!("lanes_{made}");
        *made += 1;
        let declared = format!("{} {name}", ty(elem));
        let text = match of {
            Lane::Load(buffer, at) => {
                let from = format!("{}[{}]", self.base(*buffer), self.bare(at));
                format!("{declared}; __builtin_memcpy(&{name}, &{from}, sizeof {name});")
            }
            Lane::Splat(elem, e) => {
                let one = format!("({}){}", elem.c_name(), self.operand(e));
                format!("{declared} = {{{}}};", vec![one; count].join(", "))
            }
            Lane::Unary(Unary::Neg, _) => format!("{declared} = -{};", parts[0]),
            Lane::Unary(..) => format!("{declared} = ~{};", parts[0]),
            Lane::Binary(op @ (Binary::Shl | Binary::Shr), _, b) => {
                let by = match &**b {
                    Lane::Splat(_, CExpr::Literal(_, n)) => *n,
                    _ => 0,
                };
                format!("{declared} = {} {} {by};", parts[0], op.sign())
            }
            Lane::Binary(op, ..) => format!("{declared} = {} {} {};", parts[0], op.sign(), parts[1]),
            Lane::Select(op, _) => {
                // The lanes of a comparison are all ones or all zeros.
                let bits = Elem::signed(elem.sew());
                let mask = format!("(({})({} {} {}))", ty(bits), parts[0], op.sign(), parts[1]);
                let (yes, no) =
                    (format!("(({}){})", ty(bits), parts[2]), format!("(({}){})", ty(bits), parts[3]));
                format!("{declared} = ({})(({mask} & {yes}) | (~{mask} & {no}));", ty(elem))
            }
            Lane::Convert(..) => format!("{declared} = __builtin_convertvector({}, {});", parts[0], ty(elem)),
            Lane::Shuffle(_, _, order) => {
                let order: Vec<String> = order.iter().map(u8::to_string).collect();
                format!(
                    "{declared} = __builtin_shufflevector({}, {}, {});",
                    parts[0],
                    parts[1],
                    order.join(", ")
                )
            }
            Lane::Insert(_, at, value) => {
                let value = format!("({}){}", elem.c_name(), self.operand(value));
                format!("{declared} = {}; {name}[{}] = {value};", parts[0], self.bare(at))
            }
        };
        self.line(out, &text);
        name
    }

    fn pragma(&self, out: &mut String, pragma: Pragma) {
        let (clang, gcc) = match pragma {
            Pragma::None => return,
            Pragma::Vectorize => ("vectorize(enable)".to_owned(), None),
            Pragma::NoVector => ("vectorize(disable)".to_owned(), Some("novector".to_owned())),
            Pragma::Unroll(n) => (format!("unroll_count({n})"), Some(format!("unroll {n}"))),
            Pragma::Interleave(n) => (format!("interleave_count({n})"), None),
            Pragma::Width(n) => (format!("vectorize_width({n})"), None),
            Pragma::Distribute => ("distribute(enable)".to_owned(), None),
        };
        out.push_str("#ifdef __clang__\n");
        self.line(out, &format!("#pragma clang loop {clang}"));
        if let Some(gcc) = gcc {
            out.push_str("#else\n");
            self.line(out, &format!("#pragma GCC {gcc}"));
        }
        out.push_str("#endif\n");
    }

    fn loop_head(&self, of: &Loop) -> String {
        let i = self.name(of.index);
        let step = match of.step {
            1 => format!("{i}++"),
            -1 => format!("{i}--"),
            n if n < 0 => format!("{i} -= {}", n.unsigned_abs()),
            n => format!("{i} += {n}"),
        };
        format!(
            "for ({i} = {}; {i} {} {}; {step}) {{",
            self.bare(&of.from),
            of.compare.sign(),
            self.operand(&of.to)
        )
    }

    fn access(&self, access: &Access) -> String {
        let index: String = access.index.iter().map(|i| format!("[{}]", self.bare(i))).collect();
        if let Some(record) = self.program.record_of(access.buffer) {
            let (array, field) = (&self.globals.records[record][1], &self.globals.buffers[access.buffer]);
            return format!("{array}{index}.{field}");
        }
        format!("{}{index}", self.base(access.buffer))
    }

    fn ty(&self, e: &CExpr) -> Option<Elem> {
        e.ty(self.program, self.function).ok()
    }

    /// An expression that is an operand of another.
    fn operand(&self, e: &CExpr) -> String {
        let text = self.bare(e);
        match e {
            CExpr::Binary(..) | CExpr::Select(_) => format!("({text})"),
            CExpr::Literal(..) if text.starts_with('-') => format!("({text})"),
            _ => text,
        }
    }

    /// An expression that stands alone.
    fn bare(&self, e: &CExpr) -> String {
        match e {
            CExpr::Literal(elem, bits) => literal(*elem, *bits),
            CExpr::Var(var) => self.name(*var).to_owned(),
            CExpr::Load(access) => self.access(access),
            CExpr::Unary(op, a) => {
                let sign = match op {
                    Unary::Neg => "-",
                    Unary::Not => "~",
                    Unary::IsZero => "!",
                    Unary::Bool if self.globals.language == Language::Cpp => "(bool)",
                    Unary::Bool => "(_Bool)",
                };
                let a = self.operand(a);
                // Two signs in a row would be another operator.
                if a.starts_with('-') { format!("{sign}({a})") } else { format!("{sign}{a}") }
            }
            CExpr::Binary(op, a, b) => {
                let text = format!("{} {} {}", self.operand(a), op.sign(), self.operand(b));
                // Rounded at once, whatever a compiler computes it in: twice the precision and two bits are
                // enough for the same result.
                if self.ty(e) == Some(Elem::F16) { format!("(_Float16)({text})") } else { text }
            }
            CExpr::Cast(elem, a) => format!("({}){}", elem.c_name(), self.operand(a)),
            CExpr::Select(of) => {
                format!("{} ? {} : {}", self.operand(&of[0]), self.operand(&of[1]), self.operand(&of[2]))
            }
            CExpr::Builtin(builtin, args) => {
                let suffix = if args.first().and_then(|a| self.ty(a)) == Some(Elem::F32) { "f" } else { "" };
                let args: Vec<String> = args.iter().map(|a| self.bare(a)).collect();
                let name = match builtin {
                    Builtin::Fabs => "fabs",
                    Builtin::Copysign => "copysign",
                    Builtin::Fma => "fma",
                };
                format!("__builtin_{name}{suffix}({})", args.join(", "))
            }
        }
    }
}

/// A literal of this type, from its bits.
fn literal(elem: Elem, bits: u64) -> String {
    match elem {
        Elem::I8 | Elem::I16 | Elem::U8 | Elem::U16 => {
            let text = integer(elem, bits);
            if text.starts_with('-') {
                format!("({})({text})", elem.c_name())
            } else {
                format!("({}){text}", elem.c_name())
            }
        }
        Elem::I32 => match bits as u32 as i32 {
            i32::MIN => "(-2147483647 - 1)".to_owned(),
            v => v.to_string(),
        },
        Elem::U32 => format!("{}u", bits as u32),
        Elem::I64 => match bits as i64 {
            i64::MIN => "(-9223372036854775807l - 1)".to_owned(),
            v => format!("{v}l"),
        },
        Elem::U64 => format!("{bits}ul"),
        float => match hexadecimal(float, bits) {
            Some(text) => text,
            None => format!("{}_bits({bits:#x})", float.short()),
        },
    }
}

/// A finite literal of a floating-point type, exactly.
fn hexadecimal(elem: Elem, bits: u64) -> Option<String> {
    let (value, suffix) = match elem {
        Elem::F64 => (f64::from_bits(bits), ""),
        Elem::F32 => (f64::from(f32::from_bits(bits as u32)), "f"),
        Elem::F16 => (half::f16::from_bits(bits as u16).to_f64(), "f"),
        _ => (half::bf16::from_bits(bits as u16).to_f64(), "f"),
    };
    if !value.is_finite() {
        return None;
    }
    let short = format!("{value:?}");
    // Short decimals are exact in every format: halves, small integers.
    let text = if (value * 8.0).fract() == 0.0 && value.abs() < 1000.0 {
        format!("{short}{suffix}")
    } else {
        let raw = value.to_bits();
        let (exponent, fraction) = ((raw >> 52) as i64 & 0x7ff, raw & ((1 << 52) - 1));
        let (lead, exponent) = if exponent == 0 { (0, -1022) } else { (1, exponent - 1023) };
        let sign = if value.is_sign_negative() { "-" } else { "" };
        format!("{sign}0x{lead}.{fraction:013x}p{exponent}{suffix}")
    };
    Some(match elem {
        Elem::F16 | Elem::Bf16 => format!("({})({text})", elem.c_name()),
        _ => text,
    })
}
