//! Static rules: types, constants where the API wants them, every variable assigned before it is read,
//! loops whose counters nobody changes. What only a run can show (an index past a buffer, a vl past
//! VLMAX, an undefined branch) is the evaluator's to find.

use crate::{Arg, BufferKind, Call, Expr, Function, Program, Stmt, Var, VarDecl, type_name};
use rvv_intrinsics::{Elem, Param, Role, Type};
use std::collections::HashSet;
use std::fmt;

/// A statement's place: which function, and the way to it through the blocks, counted from 0. The
/// blocks of an `if` are counted as one, `then` before `else`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct Node {
    /// As in [`Program::function`].
    pub function: usize,
    /// The statement in the body, the statement in its block, and so on.
    pub path: Vec<usize>,
}

impl Node {
    /// The statement, if the program has it.
    pub fn find<'p>(&self, program: &'p Program) -> Option<&'p Stmt> {
        let (last, way) = self.path.split_last()?;
        let mut body: Vec<&Stmt> = program.function(self.function).body.iter().collect();
        for &step in way {
            body = body.get(step)?.blocks().into_iter().flatten().collect();
        }
        body.get(*last).copied()
    }

    /// For people: `main, statement 3.1`, counted from 1.
    pub fn describe(&self, program: &Program) -> String {
        let path: Vec<String> = self.path.iter().map(|n| (n + 1).to_string()).collect();
        let name = &program.function(self.function).name;
        if path.is_empty() { name.clone() } else { format!("{name}, statement {}", path.join(".")) }
    }
}

/// A rule broken, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckError {
    /// Where.
    pub node: Node,
    /// The place in words.
    pub place: String,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl fmt::Display for CheckError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for CheckError {}

impl Program {
    /// Checks every static rule.
    ///
    /// # Errors
    /// The first one broken.
    pub fn check(&self) -> Result<(), CheckError> {
        self.check_globals()?;
        for number in 0..=self.functions.len() {
            let function = self.function(number);
            let is_main = number == self.functions.len();
            let mut checker = Checker {
                program: self,
                function,
                node: Node { function: number, path: Vec::new() },
                assigned: vec![false; function.vars.len()],
                log: Vec::new(),
                counters: Vec::new(),
                elements: crate::loops::Elements::of(function),
            };
            checker.names(is_main)?;
            if is_main {
                self.params.iter().for_each(|p| checker.set(p.0));
            } else {
                function.params.iter().for_each(|p| checker.set(*p));
            }
            checker.body(&function.body, 0)?;
            if let Some(ret) = function.ret {
                checker.read(ret)?;
                checker.leaves(ret)?;
            }
        }
        Ok(())
    }

    /// Names of buffers and functions.
    fn check_globals(&self) -> Result<(), CheckError> {
        let fail = |message: String| {
            let node = Node { function: self.functions.len(), path: Vec::new() };
            Err(CheckError { node, place: "the program".to_string(), message })
        };
        let mut seen = HashSet::new();
        let buffers = self.buffers.iter().map(|b| &b.name);
        for name in buffers.chain(self.functions.iter().map(|f| &f.name)) {
            if !is_name(name) {
                return fail(format!("`{name}` is not a name: letters, digits and `_`"));
            }
            if !seen.insert(name) {
                return fail(format!("two things are called `{name}`"));
            }
        }
        for buffer in &self.buffers {
            let inner = buffer.dims.iter().try_fold(1usize, |n, &d| n.checked_mul(d));
            if buffer.dims.len() > 2 || inner.is_none_or(|n| n == 0 || buffer.len % n != 0) {
                return fail(format!("the dimensions of `{}` do not fit its length", buffer.name));
            }
        }
        if let Err(message) = self.check_records() {
            return fail(message);
        }
        for function in self.functions.iter().chain([&self.main]) {
            if let Some(var) = function.vars.iter().find(|v| seen.contains(&v.name)) {
                return fail(format!("two things are called `{}`", var.name));
            }
        }
        Ok(())
    }
}

fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A 64-bit integer of C that an [`Expr`] may use.
fn is_size(ty: Type) -> bool {
    matches!(ty, Type::Size | Type::Ptrdiff | Type::Ulong | Type::Long)
}

/// The buffer type that holds a scalar of this type.
pub fn put_elem(ty: Type) -> Option<Elem> {
    match ty {
        Type::Scalar(e) => Some(e),
        Type::Size | Type::Ulong => Some(Elem::U64),
        Type::Long | Type::Ptrdiff => Some(Elem::I64),
        _ => None,
    }
}

pub(crate) struct Checker<'p> {
    pub(crate) program: &'p Program,
    pub(crate) function: &'p Function,
    node: Node,
    /// By variable: assigned on every way here.
    assigned: Vec<bool>,
    /// Those, in the order in which they became so.
    pub(crate) log: Vec<Var>,
    /// Loop counters and vls of the loops we are in.
    pub(crate) counters: Vec<Var>,
    /// For element statements.
    pub(crate) elements: crate::loops::Elements,
}

pub(crate) type Result2 = Result<(), CheckError>;

impl Checker<'_> {
    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> Result<T, CheckError> {
        let place = self.node.describe(self.program);
        Err(CheckError { node: self.node.clone(), place, message: message.into() })
    }

    fn names(&self, is_main: bool) -> Result2 {
        let mut seen = HashSet::new();
        for VarDecl { name, .. } in &self.function.vars {
            if !is_name(name) {
                return self.fail(format!("`{name}` is not a name: letters, digits and `_`"));
            }
            if !seen.insert(name) {
                return self.fail(format!("two things are called `{name}`"));
            }
        }
        for var in &self.function.vars {
            let usable =
                matches!(var.ty, Type::Vector(_) | Type::Mask(_) | Type::Scalar(_)) || is_size(var.ty);
            if !usable {
                return self.fail(format!("no variable can be of type `{}`", var.ty));
            }
            if var.fixed && !var.may_be_fixed() {
                return self.fail(format!("`{}` is no vector; only vectors are `fixed`", var.name));
            }
        }
        let known = |v: Var| v.index() < self.function.vars.len();
        let all_known = self.function.params.iter().copied().chain(self.function.ret).all(known);
        if !all_known || (is_main && !self.program.params.iter().all(|p| known(p.0))) {
            return self.fail("a parameter or result is no variable of the function");
        }
        if is_main && (!self.function.params.is_empty() || self.function.ret.is_some()) {
            return self.fail("`main` takes nothing and returns nothing; use `param`");
        }
        Ok(())
    }

    /// The variable is assigned from here on.
    pub(crate) fn set(&mut self, var: Var) {
        if let Some(assigned) = self.assigned.get_mut(var.index())
            && !std::mem::replace(assigned, true)
        {
            self.log.push(var);
        }
    }

    /// Forgets what has been assigned since the log had this length; returns it.
    pub(crate) fn unset(&mut self, mark: usize) -> Vec<Var> {
        let since = self.log.split_off(mark);
        since.iter().for_each(|var| self.assigned[var.index()] = false);
        since
    }

    pub(crate) fn body(&mut self, body: &[Stmt], first: usize) -> Result2 {
        for (i, stmt) in body.iter().enumerate() {
            self.node.path.push(first + i);
            self.stmt(stmt)?;
            self.node.path.pop();
        }
        Ok(())
    }

    pub(crate) fn read(&self, var: Var) -> Result<Type, CheckError> {
        let Some(decl) = self.function.vars.get(var.index()) else {
            return self.fail(format!("variable number {} does not exist", var.0));
        };
        if !self.assigned[var.index()] {
            return self.fail(format!("`{}` is read where it may not have been assigned", decl.name));
        }
        Ok(decl.ty)
    }

    pub(crate) fn assign(&mut self, var: Var, ty: Type) -> Result2 {
        let Some(decl) = self.function.vars.get(var.index()) else {
            return self.fail(format!("variable number {} does not exist", var.0));
        };
        if decl.ty != ty {
            let (is, has) = (type_name(decl.ty), type_name(ty));
            return self
                .fail(format!("`{}` is of type {is} and is assigned a value of type {has}", decl.name));
        }
        if self.counters.contains(&var) {
            return self.fail(format!(
                "`{}` is the counter, vl or length of a loop and is assigned in it",
                decl.name
            ));
        }
        self.set(var);
        Ok(())
    }

    fn expr(&self, expr: &Expr) -> Result2 {
        match expr {
            Expr::Const(_) => Ok(()),
            Expr::Var(var) => {
                let ty = self.read(*var)?;
                if is_size(ty) {
                    return Ok(());
                }
                self.fail(format!(
                    "`{}` is of type {}; expressions take size, ptrdiff, ulong and long",
                    self.function.name(*var),
                    type_name(ty)
                ))
            }
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => {
                self.expr(a)?;
                self.expr(b)
            }
        }
    }

    pub(crate) fn buffer(&self, number: usize) -> Result<&crate::Buffer, CheckError> {
        match self.program.buffers.get(number) {
            Some(buffer) => Ok(buffer),
            None => self.fail(format!("buffer number {number} does not exist")),
        }
    }

    /// A value for something of type `ty`: a parameter of an intrinsic or of a function.
    fn value(&mut self, what: &dyn Fn() -> String, ty: Type, arg: &Arg) -> Result2 {
        match (arg, ty) {
            (Arg::Var(var), _) => {
                let has = self.read(*var)?;
                self.leaves(*var)?;
                if has == ty || (is_size(has) && is_size(ty)) {
                    return Ok(());
                }
                let (wants, has) = (type_name(ty), type_name(has));
                let what = what();
                self.fail(format!(
                    "{what} is of type {wants}; `{}` is of type {has}",
                    self.function.name(*var)
                ))
            }
            (Arg::Expr(expr), _) if is_size(ty) => self.expr(expr),
            (Arg::Expr(Expr::Const(bits)), Type::Scalar(e)) => {
                if e.bits() < 64 && bits >> e.bits() != 0 {
                    let what = what();
                    return self.fail(format!("{what}: {bits:#x} has more than {} bits", e.bits()));
                }
                Ok(())
            }
            (Arg::Addr(number, expr), Type::Pointer(e) | Type::ConstPointer(e)) => {
                let buffer = self.flat(*number)?;
                if buffer.elem != e {
                    let what = what();
                    return self.fail(format!(
                        "{what} points to {}; `{}` holds {}",
                        e.short(),
                        buffer.name,
                        buffer.elem.short()
                    ));
                }
                if buffer.kind == BufferKind::Const && matches!(ty, Type::Pointer(_)) {
                    return self.fail(format!("`{}` is const and is stored to", buffer.name));
                }
                self.expr(expr)
            }
            (Arg::Ref(var), Type::SizePointer) => self.assign(*var, Type::Size),
            _ => self.fail(format!("{} wants {}", what(), wants(ty))),
        }
    }

    fn call(&mut self, call: &Call) -> Result2 {
        let intrinsic = call.intrinsic;
        let name = &intrinsic.name;
        if call.overloaded && intrinsic.overloaded.is_none() {
            return self.fail(format!("`{name}` has no overloaded form"));
        }
        if call.args.len() != intrinsic.params.len() {
            return self.fail(format!(
                "`{name}` takes {} arguments, not {}",
                intrinsic.params.len(),
                call.args.len()
            ));
        }
        for (param, arg) in intrinsic.params.iter().zip(&call.args) {
            match param.role {
                Role::Frm | Role::Vxrm | Role::Uimm | Role::Position => self.constant(call, param, arg)?,
                // The reference to the new vl is assigned last: it may not be read by the same call.
                Role::NewVl => {}
                _ => self.value(&|| format!("`{}` of `{name}`", param.name), param.ty, arg)?,
            }
        }
        if let Some(i) = intrinsic.position(Role::NewVl) {
            self.value(&|| "`new_vl`".to_string(), Type::SizePointer, &call.args[i])?;
        }
        match (call.dst, intrinsic.ret) {
            (None, Type::Void) => Ok(()),
            (Some(dst), ret) if ret != Type::Void => self.assign(dst, ret),
            (None, _) => self.fail(format!("the result of `{name}` is assigned to nothing")),
            (Some(_), _) => self.fail(format!("`{name}` has no result")),
        }
    }

    fn constant(&self, call: &Call, param: &Param, arg: &Arg) -> Result2 {
        let Arg::Expr(Expr::Const(value)) = *arg else {
            return self.fail(format!("`{}` of `{}` must be a literal", param.name, call.intrinsic.name));
        };
        match call.intrinsic.constants(param.role) {
            Some(range) if !range.contains(&value) => {
                let (name, least, largest) = (param.name, range.start(), range.end());
                self.fail(format!(
                    "`{name}` is {value}; `{}` takes {least} to {largest}",
                    call.intrinsic.name
                ))
            }
            _ => Ok(()),
        }
    }

    fn counter(&mut self, var: Var) -> Result2 {
        self.assign(var, Type::Size)?;
        self.counters.push(var);
        Ok(())
    }

    /// A loop's length is the same all through: its variables are not assigned in the body.
    fn keep(&mut self, length: &Expr) {
        match length {
            Expr::Const(_) => {}
            Expr::Var(var) => self.counters.push(*var),
            Expr::Add(a, b) | Expr::Sub(a, b) | Expr::Mul(a, b) => {
                self.keep(a);
                self.keep(b);
            }
        }
    }

    /// A comparison with a literal.
    fn condition(&self, left: Var, right: u64) -> Result2 {
        let ty = self.read(left)?;
        let bits = match ty {
            Type::Scalar(e) if !e.is_float() => e.bits(),
            ty if is_size(ty) => 64,
            _ => {
                return self.fail(format!(
                    "`if` compares integers; `{}` is of type {}",
                    self.function.name(left),
                    type_name(ty)
                ));
            }
        };
        if bits < 64 && right >> bits != 0 {
            return self.fail(format!("{right:#x} has more than {bits} bits"));
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result2 {
        match stmt {
            Stmt::Call(call) => self.call(call),
            Stmt::Invoke { dst, function, args } => {
                if *function >= self.node.function || *function >= self.program.functions.len() {
                    return self.fail("a function may call only those before it");
                }
                let callee = &self.program.functions[*function];
                if args.len() != callee.params.len() {
                    return self.fail(format!(
                        "`{}` takes {} arguments, not {}",
                        callee.name,
                        callee.params.len(),
                        args.len()
                    ));
                }
                for (&param, arg) in callee.params.iter().zip(args) {
                    self.value(
                        &|| format!("`{}` of `{}`", callee.name(param), callee.name),
                        callee.ty(param),
                        arg,
                    )?;
                }
                match (dst, callee.ret) {
                    (None, _) => Ok(()),
                    (Some(dst), Some(ret)) => self.assign(*dst, callee.ty(ret)),
                    (Some(_), None) => self.fail(format!("`{}` returns nothing", callee.name)),
                }
            }
            Stmt::Copy { dst, src } => {
                let ty = self.read(*src)?;
                self.leaves(*src)?;
                self.assign(*dst, ty)
            }
            Stmt::Put { buffer, at, value } => {
                self.expr(at)?;
                let ty = self.read(*value)?;
                self.leaves(*value)?;
                let buffer = self.flat(*buffer)?;
                if buffer.kind == BufferKind::Const {
                    return self.fail(format!("`{}` is const and is stored to", buffer.name));
                }
                if put_elem(ty) != Some(buffer.elem) {
                    return self.fail(format!(
                        "`{}` holds {}, not {}",
                        buffer.name,
                        buffer.elem.short(),
                        type_name(ty)
                    ));
                }
                Ok(())
            }
            Stmt::SetFrm(frm) if *frm > 4 => self.fail(format!("{frm} is no rounding mode; 0 to 4 are")),
            Stmt::SetFrm(_) => Ok(()),
            Stmt::Strip { vtype, length, index, vl, body } => {
                self.expr(length)?;
                if vtype.nf != 1 || !vtype.exists() {
                    return self.fail("a strip's type is one of those that vsetvl has: e8mf8 … e64m8");
                }
                let outside = self.elements.enter(false);
                let (assigned, counters) = (self.log.len(), self.counters.len());
                if index == vl {
                    return self.fail("a strip's counter and vl are two variables");
                }
                self.counter(*index)?;
                self.counter(*vl)?;
                self.keep(length);
                self.body(body, 0)?;
                self.elements.leave(outside);
                self.unset(assigned);
                self.counters.truncate(counters);
                Ok(())
            }
            Stmt::For { index, count, body } => {
                self.expr(count)?;
                let outside = self.elements.enter(false);
                let (assigned, counters) = (self.log.len(), self.counters.len());
                self.counter(*index)?;
                self.keep(count);
                self.body(body, 0)?;
                self.elements.leave(outside);
                self.unset(assigned);
                self.counters.truncate(counters);
                Ok(())
            }
            Stmt::Break { left, right, .. } => {
                if self.counters.is_empty() {
                    return self.fail("`break` leaves a loop, and this is in none");
                }
                self.condition(*left, *right)
            }
            Stmt::Hide(var) => {
                let ty = self.read(*var)?;
                if ty.vector().is_some_and(|v| v.nf > 1) {
                    return self
                        .fail(format!("`hide` takes no tuple; `{}` is one", self.function.name(*var)));
                }
                self.assign(*var, ty)
            }
            Stmt::Scratch(bytes) => self.expr(bytes),
            Stmt::If { left, right, then, otherwise, .. } => {
                self.condition(*left, *right)?;
                self.branches(then, otherwise)
            }
            Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_) => {
                self.element(stmt)
            }
        }
    }

    /// What both branches assign is assigned after them.
    pub(crate) fn branches(&mut self, then: &[Stmt], otherwise: &[Stmt]) -> Result2 {
        let mark = self.log.len();
        self.body(then, 0)?;
        let in_then: HashSet<Var> = self.unset(mark).into_iter().collect();
        self.body(otherwise, then.len())?;
        for var in self.unset(mark) {
            if in_then.contains(&var) {
                self.set(var);
            }
        }
        Ok(())
    }
}

fn wants(ty: Type) -> String {
    match ty {
        Type::Pointer(e) | Type::ConstPointer(e) => {
            format!("the address of an element of a buffer of {}", e.short())
        }
        Type::SizePointer => "the address of a variable of type size".to_string(),
        Type::Scalar(e) => format!("a variable or literal of type {}", e.short()),
        ty if is_size(ty) => "an integer expression".to_string(),
        ty => format!("a variable of type {}", type_name(ty)),
    }
}
