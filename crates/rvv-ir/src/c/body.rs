//! The body of a function.

use super::names::Names;
use super::{Globals, Language, Style, fixed};
use crate::{Arg, Call, Compare, Expr, Function, Program, Stmt, Var};
use rvv_intrinsics::{Elem, Param, Role, Type};
use std::fmt::Write;

/// A function being written.
pub(super) struct Body<'p> {
    pub(super) program: &'p Program,
    pub(super) globals: &'p Globals,
    pub(super) function: &'p Function,
    /// What its variables are called.
    vars: Vec<String>,
    pub(super) depth: usize,
}

/// Operator precedence of a printed expression.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Level {
    Sum,
    Product,
    Operand,
}

impl<'p> Body<'p> {
    pub fn new(program: &'p Program, globals: &'p Globals, function: &'p Function, mut scope: Names) -> Self {
        let vars = function.vars.iter().map(|v| scope.give(&v.name)).collect();
        Body { program, globals, function, vars, depth: 1 }
    }

    pub fn name(&self, var: Var) -> &str {
        &self.vars[var.index()]
    }

    /// Declares the variables, one line per type.
    pub fn variables(&self, out: &mut String, wanted: impl Fn(Var) -> bool) {
        let mut by_type: Vec<(String, Vec<&str>)> = Vec::new();
        for (i, decl) in self.function.vars.iter().enumerate() {
            let var = Var(i as u32);
            if !wanted(var) {
                continue;
            }
            let ty = fixed::type_of(decl);
            match by_type.iter_mut().find(|(of, _)| *of == ty) {
                Some((_, names)) => names.push(self.name(var)),
                None => by_type.push((ty, vec![self.name(var)])),
            }
        }
        for (ty, names) in &by_type {
            for some in names.chunks(12) {
                writeln!(out, "    {ty} {};", some.join(", ")).unwrap();
            }
        }
    }

    /// Gives a parameter of the program its value, behind the compiler's back.
    pub fn opaque(&self, out: &mut String, var: Var, bits: u64) {
        let value = match self.function.ty(var) {
            Type::Scalar(e) if e.is_float() => {
                let bits = bits & (u64::MAX >> (64 - e.bits()));
                format!("{}_bits(({})opaque({bits:#x}))", e.short(), Elem::unsigned(e.sew()).c_name())
            }
            ty => format!("({ty})opaque({bits:#x})"),
        };
        writeln!(out, "    {} = {value};", self.name(var)).unwrap();
    }

    pub fn statements(&mut self, out: &mut String, body: &[Stmt]) {
        for stmt in body {
            self.statement(out, stmt);
        }
    }

    pub(super) fn line(&self, out: &mut String, text: &str) {
        out.extend(std::iter::repeat_n("    ", self.depth));
        out.push_str(text);
        out.push('\n');
    }

    pub(super) fn block(&mut self, out: &mut String, body: &[Stmt]) {
        self.depth += 1;
        self.statements(out, body);
        self.depth -= 1;
    }

    fn statement(&mut self, out: &mut String, stmt: &Stmt) {
        match stmt {
            Stmt::Call(call) => {
                let text = self.call(call);
                self.line(out, &text);
            }
            Stmt::Invoke { dst, function, args } => {
                let callee = &self.program.functions[*function];
                let mut args: Vec<String> = args
                    .iter()
                    .zip(&callee.params)
                    .map(|(a, &p)| self.value(a, callee.ty(p), false))
                    .collect();
                args.extend(self.pointer_args(callee));
                let name = &self.globals.functions[*function];
                let style = Style::of(self.program, *function, self.globals.language);
                let template = if style.template { "<0>" } else { "" };
                let text = if style.result_by_reference {
                    self.by_reference(*dst, callee, &format!("{name}{template}"), &args)
                } else {
                    format!("{}{name}{template}({});", self.assign(*dst), args.join(", "))
                };
                self.line(out, &text);
            }
            Stmt::Copy { dst, src } => {
                let text = format!("{} = {};", self.name(*dst), self.name(*src));
                self.line(out, &text);
            }
            Stmt::Put { buffer, at, value } => {
                let elem = self.program.buffers[*buffer].elem;
                let cast = match self.function.ty(*value) {
                    Type::Scalar(e) if e == elem => String::new(),
                    _ => format!("({})", elem.c_name()),
                };
                let text = format!("{} = {cast}{};", self.element(*buffer, at), self.name(*value));
                self.line(out, &text);
            }
            Stmt::SetFrm(mode) => self.line(out, &format!("set_frm({mode});")),
            Stmt::Strip { vtype, length, index, vl, body } => {
                let (i, n) = (self.name(*index).to_owned(), self.name(*vl).to_owned());
                let text = format!("for ({i} = 0; {i} < {}; {i} += {n}) {{", self.expr(length, Level::Sum));
                self.line(out, &text);
                let rest = format!("{} - {i}", self.expr(length, Level::Sum));
                let text = format!("    {n} = __riscv_vsetvl_e{}{}({rest});", vtype.elem.bits(), vtype.lmul);
                self.line(out, &text);
                self.block(out, body);
                self.line(out, "}");
            }
            Stmt::For { index, count, body } => {
                let i = self.name(*index).to_owned();
                let text = format!("for ({i} = 0; {i} < {}; {i}++) {{", self.expr(count, Level::Sum));
                self.line(out, &text);
                self.block(out, body);
                self.line(out, "}");
            }
            Stmt::Break { left, compare, right } => {
                let text = format!("if ({})", self.condition(*left, *compare, *right));
                self.line(out, &text);
                self.line(out, "    break;");
            }
            Stmt::Hide(var) => {
                let constraint = match self.function.ty(*var) {
                    Type::Vector(_) | Type::Mask(_) => "+vr",
                    Type::Scalar(e) if e.is_float() => "+f",
                    _ => "+r",
                };
                let text = format!("__asm__ volatile(\"\" : \"{constraint}\"({}));", self.name(*var));
                self.line(out, &text);
            }
            // Of a size that is not known: an array of variable length, which C++ has not.
            Stmt::Scratch(bytes)
                if !matches!(bytes, Expr::Const(_)) && self.globals.language == Language::C =>
            {
                let (name, size) = (format!("scratch_{}", out.len()), self.expr(bytes, Level::Sum));
                self.line(out, &format!("char {name}[{size} + 1]; hide({name});"));
            }
            Stmt::Scratch(bytes) => {
                let text = format!("hide(__builtin_alloca({}));", self.expr(bytes, Level::Sum));
                self.line(out, &text);
            }
            Stmt::If { left, compare, right, then, otherwise } => {
                let text = format!("if ({}) {{", self.condition(*left, *compare, *right));
                self.line(out, &text);
                self.block(out, then);
                if !otherwise.is_empty() {
                    self.line(out, "} else {");
                    self.block(out, otherwise);
                }
                self.line(out, "}");
            }
            Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_) => {
                self.element_statement(out, stmt);
            }
        }
    }

    /// A call of a function that gives its result through its first parameter.
    fn by_reference(&self, dst: Option<Var>, callee: &Function, name: &str, args: &[String]) -> String {
        let rest: String = args.iter().map(|a| format!(", {a}")).collect();
        match (dst, callee.ret) {
            (Some(dst), _) => format!("{name}({}{rest});", self.name(dst)),
            (None, Some(ret)) => format!("{{ {} unused_; {name}(unused_{rest}); }}", callee.ty(ret)),
            (None, None) => format!("{name}({});", args.join(", ")),
        }
    }

    fn condition(&self, left: Var, compare: Compare, right: u64) -> String {
        let right = self.constant(self.function.ty(left), right, true);
        format!("{} {} {right}", self.name(left), compare.sign())
    }

    fn assign(&self, dst: Option<Var>) -> String {
        dst.map_or(String::new(), |v| format!("{} = ", self.name(v)))
    }

    fn call(&self, call: &Call) -> String {
        let intrinsic = call.intrinsic;
        let name = match &intrinsic.overloaded {
            Some(name) if call.overloaded => name,
            _ => &intrinsic.name,
        };
        let args: Vec<String> =
            call.args.iter().zip(&intrinsic.params).map(|(a, p)| self.arg(a, p, call.overloaded)).collect();
        format!("{}{name}({});", self.assign(call.dst), args.join(", "))
    }

    fn arg(&self, arg: &Arg, param: &Param, overloaded: bool) -> String {
        const FRM: [&str; 5] = ["RNE", "RTZ", "RDN", "RUP", "RMM"];
        const VXRM: [&str; 4] = ["RNU", "RNE", "RDN", "ROD"];
        if let Arg::Expr(Expr::Const(n)) = arg {
            let n = *n as usize;
            match param.role {
                Role::Frm if n < FRM.len() => return format!("__RISCV_FRM_{}", FRM[n]),
                Role::Vxrm if n < VXRM.len() => return format!("__RISCV_VXRM_{}", VXRM[n]),
                _ => {}
            }
        }
        self.value(arg, param.ty, overloaded)
    }

    /// An argument for a parameter of this type; an overloaded function is found by the exact type.
    fn value(&self, arg: &Arg, ty: Type, exact: bool) -> String {
        match arg {
            Arg::Var(var) => self.name(*var).to_owned(),
            Arg::Expr(Expr::Const(c)) => self.constant(ty, *c, exact),
            Arg::Expr(e) if ty == Type::Size => self.expr(e, Level::Sum),
            Arg::Expr(e) => format!("({ty})({})", self.expr(e, Level::Sum)),
            Arg::Addr(buffer, at) => format!("&{}", self.element(*buffer, at)),
            Arg::Ref(var) => format!("&{}", self.name(*var)),
        }
    }

    fn element(&self, buffer: usize, at: &Expr) -> String {
        format!("{}[{}]", self.base(buffer), self.expr(at, Level::Sum))
    }

    /// A literal of this type, from its bits.
    fn constant(&self, ty: Type, bits: u64, exact: bool) -> String {
        match ty {
            Type::Scalar(e) if e.is_float() => {
                format!("{}_bits({:#x})", e.short(), bits & (u64::MAX >> (64 - e.bits())))
            }
            Type::Scalar(e) => format!("({}){}", e.c_name(), operand(integer(e, bits))),
            Type::Ptrdiff | Type::Long => format!("({ty}){}", operand(integer(Elem::I64, bits))),
            _ if !exact && bits < 1 << 31 => bits.to_string(),
            _ => format!("({ty}){}", integer(Elem::U64, bits)),
        }
    }

    /// An expression in `size_t`, which wraps. Literals are of that width, lest two of them be added as
    /// `int`.
    fn expr(&self, expr: &Expr, level: Level) -> String {
        let (text, own) = match expr {
            Expr::Const(c) if level == Level::Sum => (integer(Elem::U64, *c), Level::Operand),
            Expr::Const(c) => (format!("{c}ul"), Level::Operand),
            Expr::Var(v) if self.function.ty(*v) == Type::Size => (self.name(*v).to_owned(), Level::Operand),
            Expr::Var(v) => (format!("(size_t){}", self.name(*v)), Level::Operand),
            Expr::Add(a, b) => {
                (format!("{} + {}", self.inner(a, Level::Sum), self.inner(b, Level::Sum)), Level::Sum)
            }
            Expr::Sub(a, b) => {
                (format!("{} - {}", self.inner(a, Level::Sum), self.inner(b, Level::Product)), Level::Sum)
            }
            Expr::Mul(a, b) => (
                format!("{} * {}", self.inner(a, Level::Product), self.inner(b, Level::Operand)),
                Level::Product,
            ),
        };
        if own < level { format!("({text})") } else { text }
    }

    /// An operand of another expression.
    fn inner(&self, expr: &Expr, level: Level) -> String {
        match expr {
            Expr::Const(c) => format!("{c}ul"),
            _ => self.expr(expr, level),
        }
    }
}

/// A literal as the operand of a cast.
fn operand(literal: String) -> String {
    if literal.contains(' ') { format!("({literal})") } else { literal }
}

/// An integer literal of this type, from its bits.
pub(super) fn integer(elem: Elem, bits: u64) -> String {
    let shift = 64 - elem.bits();
    if elem.is_signed() {
        match (bits << shift) as i64 >> shift {
            i64::MIN => "-0x7fffffffffffffff - 1".into(),
            v => v.to_string(),
        }
    } else {
        let v = bits << shift >> shift;
        match elem {
            Elem::U64 if v > u64::from(u32::MAX) => format!("{v:#x}ul"),
            Elem::U32 | Elem::U64 if v > 0xffff => format!("{v:#x}"),
            _ => v.to_string(),
        }
    }
}
