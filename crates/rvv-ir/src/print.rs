//! The text of a program, as files hold it. [`crate::parse`] reads it back to a program of the same text and
//! meaning; in it the parameters of `main` are the first of its variables.

use crate::data::{Distribution, Init};
use crate::loops::{self, Pointers};
use crate::{
    Arg, Buffer, BufferKind, Call, Compare, Expr, Function, Linkage, Program, Stmt, VERSION, Var, VarDecl,
};
use rvv_intrinsics::{Role, Type};
use std::fmt::{self, Display, Formatter, Write};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "rvv-ir {VERSION}")?;
        for line in &self.comment {
            writeln!(f, "# {line}")?;
        }
        if self.contract {
            f.write_str("contract\n")?;
        }
        for buffer in &self.buffers {
            writeln!(f, "{buffer}")?;
        }
        for fields in &self.records {
            let name = |b: &usize| self.buffers.get(*b).map_or("?", |b| &b.name);
            writeln!(f, "record {}", fields.iter().map(name).collect::<Vec<_>>().join(", "))?;
        }
        for &(var, value) in &self.params {
            let (name, ty) = (self.main.name(var), type_name(self.main.ty(var)));
            writeln!(f, "param {name}: {ty} = {}", literal(self.main.ty(var), value))?;
        }
        for function in self.functions.iter().chain([&self.main]) {
            writeln!(f)?;
            Text { program: self, function, f: &mut *f }.function(std::ptr::eq(function, &self.main))?;
        }
        Ok(())
    }
}

impl Display for Buffer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            BufferKind::Const => "const",
            BufferKind::Data => "data",
            BufferKind::Out => "out",
        };
        write!(f, "{kind} {}: {}[", self.name, self.type_name())?;
        for (i, size) in self.shape().iter().enumerate() {
            write!(f, "{}{size}", if i == 0 { "" } else { ", " })?;
        }
        f.write_str("] = ")?;
        match &self.init {
            Init::Zero => f.write_str("zero"),
            Init::Seed(seed, distribution) => {
                write!(f, "seed {seed:#x} ")?;
                match distribution {
                    Distribution::Bits => f.write_str("bits"),
                    Distribution::Corner => f.write_str("corner"),
                    Distribution::Mix => f.write_str("mix"),
                    Distribution::Small => f.write_str("small"),
                    Distribution::Permute { step } => write!(f, "permute step {step}"),
                    Distribution::Below { limit, step } => write!(f, "below {limit} step {step}"),
                }
            }
            Init::Data(data) => {
                f.write_char('[')?;
                for (i, value) in data.iter().enumerate() {
                    write!(f, "{}{value:#x}", if i == 0 { "" } else { ", " })?;
                }
                f.write_char(']')
            }
        }
    }
}

/// A variable's type: `i32m1`, `f16mf4x2`, `b32`, `i32`, `size`, `ptrdiff`, `ulong`, `long`.
pub fn type_name(ty: Type) -> String {
    match ty {
        Type::Vector(v) => v.short(),
        Type::Mask(n) => format!("b{n}"),
        Type::Scalar(e) => e.short().to_string(),
        Type::Size => "size".to_string(),
        Type::Ptrdiff => "ptrdiff".to_string(),
        Type::Ulong => "ulong".to_string(),
        Type::Long => "long".to_string(),
        other => other.to_string(),
    }
}

/// A variable with its type: `v3: i32m1 fixed`.
fn declared(var: &VarDecl) -> String {
    format!("{}: {}{}", var.name, type_name(var.ty), if var.fixed { " fixed" } else { "" })
}

/// A literal: lengths in decimal, data in hexadecimal.
fn literal(ty: Type, value: u64) -> String {
    match ty {
        Type::Scalar(_) => format!("{value:#x}"),
        _ => expr_literal(value),
    }
}

/// Strides may be negative: those in the upper half are written so.
fn expr_literal(value: u64) -> String {
    if value >> 63 == 1 { (value as i64).to_string() } else { value.to_string() }
}

impl Compare {
    /// All of them, with the sign that text and C use.
    pub const ALL: [(Compare, &str); 6] = [
        (Compare::Eq, "=="),
        (Compare::Ne, "!="),
        (Compare::Le, "<="),
        (Compare::Ge, ">="),
        (Compare::Lt, "<"),
        (Compare::Gt, ">"),
    ];

    /// The sign.
    pub fn sign(self) -> &'static str {
        Compare::ALL.into_iter().find(|(c, _)| *c == self).map_or("==", |(_, sign)| sign)
    }
}

struct Text<'a, 'b> {
    program: &'a Program,
    function: &'a Function,
    f: &'a mut Formatter<'b>,
}

impl Text<'_, '_> {
    fn function(&mut self, is_main: bool) -> fmt::Result {
        let function = self.function;
        if is_main {
            self.f.write_str("main {\n")?;
        } else {
            self.f.write_str(match function.linkage {
                Linkage::Local => "",
                Linkage::Inline => "inline ",
                Linkage::Global => "global ",
            })?;
            write!(self.f, "fn {}(", function.name)?;
            for (i, &param) in function.params.iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                write!(self.f, "{comma}{}", declared(&function.vars[param.index()]))?;
            }
            self.f.write_char(')')?;
            if let Some(ret) = function.ret {
                write!(self.f, " -> {}", type_name(function.ty(ret)))?;
            }
            self.f.write_str(match function.pointers {
                Pointers::Globals => " {\n",
                Pointers::Plain => " pointers {\n",
                Pointers::Restrict => " restrict {\n",
            })?;
        }
        let outside: Vec<Var> =
            if is_main { self.program.params.iter().map(|p| p.0).collect() } else { function.params.clone() };
        for (i, var) in function.vars.iter().enumerate() {
            if !outside.contains(&Var(i as u32)) {
                writeln!(self.f, "  var {}", declared(var))?;
            }
        }
        self.body(&function.body, 1)?;
        if let Some(ret) = function.ret {
            writeln!(self.f, "  return {}", function.name(ret))?;
        }
        self.f.write_str("}\n")
    }

    fn body(&mut self, body: &[Stmt], depth: usize) -> fmt::Result {
        for stmt in body {
            write!(self.f, "{:1$}", "", depth * 2)?;
            self.stmt(stmt, depth)?;
        }
        Ok(())
    }

    fn block(&mut self, body: &[Stmt], depth: usize) -> fmt::Result {
        self.f.write_str(" {\n")?;
        self.body(body, depth + 1)?;
        write!(self.f, "{:1$}}}", "", depth * 2)
    }

    fn stmt(&mut self, stmt: &Stmt, depth: usize) -> fmt::Result {
        match stmt {
            Stmt::Call(call) => self.call(call)?,
            Stmt::Invoke { dst, function, args } => {
                self.dst(*dst)?;
                let callee = self.program.function(*function);
                write!(self.f, "call {}(", callee.name)?;
                for (i, arg) in args.iter().enumerate() {
                    let ty = callee.params.get(i).map_or(Type::Void, |&p| callee.ty(p));
                    self.arg(i, ty, arg)?;
                }
                self.f.write_char(')')?;
            }
            Stmt::Copy { dst, src } => {
                write!(self.f, "{} = {}", self.function.name(*dst), self.function.name(*src))?;
            }
            Stmt::Put { buffer, at, value } => {
                write!(self.f, "put {}[", self.program.buffers[*buffer].name)?;
                self.expr(at, false)?;
                write!(self.f, "] = {}", self.function.name(*value))?;
            }
            Stmt::SetFrm(frm) => write!(self.f, "setfrm {frm}")?,
            Stmt::Strip { vtype, length, index, vl, body } => {
                write!(self.f, "strip e{}{} ", vtype.elem.bits(), vtype.lmul)?;
                self.expr(length, false)?;
                write!(self.f, " as {}, {}", self.function.name(*index), self.function.name(*vl))?;
                self.block(body, depth)?;
            }
            Stmt::For { index, count, body } => {
                self.f.write_str("for ")?;
                self.expr(count, false)?;
                write!(self.f, " as {}", self.function.name(*index))?;
                self.block(body, depth)?;
            }
            Stmt::If { left, compare, right, then, otherwise } => {
                let value = literal(self.function.ty(*left), *right);
                write!(self.f, "if {} {} {value}", self.function.name(*left), compare.sign())?;
                self.block(then, depth)?;
                if !otherwise.is_empty() {
                    self.f.write_str(" else")?;
                    self.block(otherwise, depth)?;
                }
            }
            Stmt::Set { target, value } => {
                self.f.write_str("set ")?;
                loops::print::target(self.program, self.function, target, self.f)?;
                self.f.write_str(" = ")?;
                loops::print::expression(self.program, self.function, value, self.f)?;
            }
            Stmt::Loop(of) => {
                loops::print::head(self.program, self.function, of, self.f)?;
                self.block(&of.body, depth)?;
            }
            Stmt::When { condition, then, otherwise } => {
                self.f.write_str("when ")?;
                loops::print::expression(self.program, self.function, condition, self.f)?;
                self.block(then, depth)?;
                if !otherwise.is_empty() {
                    self.f.write_str(" else")?;
                    self.block(otherwise, depth)?;
                }
            }
            Stmt::Leave => self.f.write_str("leave")?,
            Stmt::Break { left, compare, right } => {
                let value = literal(self.function.ty(*left), *right);
                write!(self.f, "break if {} {} {value}", self.function.name(*left), compare.sign())?;
            }
            Stmt::Hide(var) => write!(self.f, "hide {}", self.function.name(*var))?,
            Stmt::Scratch(bytes) => {
                self.f.write_str("scratch ")?;
                self.expr(bytes, false)?;
            }
            Stmt::Lanes(of) => {
                write!(self.f, "lanes {} {}[", of.count, self.program.buffers[of.buffer].name)?;
                loops::print::expression(self.program, self.function, &of.at, self.f)?;
                self.f.write_str("] = ")?;
                loops::print::lane(self.program, self.function, &of.value, self.f)?;
            }
        }
        self.f.write_char('\n')
    }

    fn dst(&mut self, dst: Option<Var>) -> fmt::Result {
        match dst {
            Some(var) => write!(self.f, "{} = ", self.function.name(var)),
            None => Ok(()),
        }
    }

    fn call(&mut self, call: &Call) -> fmt::Result {
        self.dst(call.dst)?;
        if call.overloaded {
            self.f.write_str("overloaded ")?;
        }
        let name = call.intrinsic.name.strip_prefix("__riscv_").unwrap_or(&call.intrinsic.name);
        write!(self.f, "{name}(")?;
        for (i, (arg, param)) in call.args.iter().zip(&call.intrinsic.params).enumerate() {
            let ty = if param.role == Role::Frm { Type::Uint } else { param.ty };
            self.arg(i, ty, arg)?;
        }
        self.f.write_char(')')
    }

    fn arg(&mut self, i: usize, ty: Type, arg: &Arg) -> fmt::Result {
        if i > 0 {
            self.f.write_str(", ")?;
        }
        match arg {
            Arg::Var(var) => self.f.write_str(self.function.name(*var)),
            Arg::Expr(Expr::Const(value)) => self.f.write_str(&literal(ty, *value)),
            Arg::Expr(expr) => self.expr(expr, false),
            Arg::Addr(buffer, expr) => {
                write!(self.f, "&{}[", self.program.buffers[*buffer].name)?;
                self.expr(expr, false)?;
                self.f.write_char(']')
            }
            Arg::Ref(var) => write!(self.f, "&{}", self.function.name(*var)),
        }
    }

    /// Every operation inside another is in parentheses, so that precedence does not matter.
    fn expr(&mut self, expr: &Expr, inside: bool) -> fmt::Result {
        let (a, sign, b) = match expr {
            Expr::Const(value) => return self.f.write_str(&expr_literal(*value)),
            Expr::Var(var) => return self.f.write_str(self.function.name(*var)),
            Expr::Add(a, b) => (a, "+", b),
            Expr::Sub(a, b) => (a, "-", b),
            Expr::Mul(a, b) => (a, "*", b),
        };
        if inside {
            self.f.write_char('(')?;
        }
        self.expr(a, true)?;
        write!(self.f, " {sign} ")?;
        self.expr(b, true)?;
        if inside {
            self.f.write_char(')')?;
        }
        Ok(())
    }
}
