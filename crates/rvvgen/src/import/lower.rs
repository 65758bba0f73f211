//! Statements of C as statements of the IR.
//!
//! A loop becomes a counted one without an end, which is left when its condition fails. `return` inside of
//! something sets a flag, and what comes after is done if it is not set.

use super::value::{Pointer, Scopes, Slot, Value, literal, unary};
use crate::csource::{CType, Expr, ExprKind, Place, Source, Stmt as CStmt, StmtKind, Variable};
use rvv_intrinsics::{Elem, Type, VecType, by_name};
use rvv_ir::data::Init;
use rvv_ir::loops::{CExpr, Loop, Pragma, Target, Unary};
use rvv_ir::{Arg, Buffer, BufferKind, Call, Compare, Program, Stmt, Var};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::rc::Rc;

/// Why a function is not imported: where, what, and in more words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Where.
    pub place: Place,
    /// The kind of construct: what is counted.
    pub what: String,
    /// What it is here.
    pub detail: String,
}

pub type Result<T> = std::result::Result<T, Refusal>;

/// Statements of one program: calls of functions are put in place, so it could grow without end.
const MOST_STATEMENTS: usize = 20_000;
/// Variables of one program.
const MOST_VARIABLES: usize = 10_000;
/// How deep functions may call one another.
const MOST_CALLS: usize = 20;

/// Values that parameters and data get.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// What a length is.
    pub len: u64,
    /// What a step between elements is.
    pub step: u64,
    /// Elements of a buffer that a pointer is to.
    pub buffer: usize,
    /// The largest VLEN.
    pub vlen: u32,
}

/// A function that is being lowered.
pub struct Lower<'s> {
    pub source: &'s Source,
    pub choice: Choice,
    pub program: Program,
    /// The statements of the innermost block.
    pub out: Vec<Stmt>,
    pub scopes: Scopes,
    /// What the elements of a buffer are, where a declaration does not say it: learned by an earlier try.
    pub elems: HashMap<String, Elem>,
    /// Buffers that have been accessed with their type.
    pub accessed: HashSet<usize>,
    /// Buffers that are stored to.
    pub stored: BTreeSet<usize>,
    /// Depth of blocks, and that at which each variable was declared without a value.
    depth: usize,
    open: HashMap<Var, usize>,
    /// Variables that get a value at the start.
    early: BTreeSet<Var>,
    /// Statements so far.
    pub statements: usize,
    /// The functions of the source that are being put in place, by number.
    pub calls: Vec<usize>,
    /// Where `return` puts its value, and the flag it sets.
    returns: Vec<Return>,
    /// How `break` and `continue` leave.
    loops: Vec<Leaving>,
    /// Scalars of structures that parameters point to.
    pub fields: HashMap<String, Value>,
    pub place: Place,
    /// VLMAX by SEW/LMUL.
    pub whole: HashMap<u32, Var>,
    /// Statements that come first.
    pub before: Vec<Stmt>,
    /// Results of calls that no name stands for yet.
    pub temporary: HashSet<Var>,
}

struct Return {
    slot: Option<Slot>,
    ty: CType,
    /// Set where it has returned, if it returns anywhere but at its end.
    flag: Option<Var>,
    /// How many loops were around the call.
    loops: usize,
}

#[derive(Clone, Copy)]
struct Leaving {
    /// A loop of one round is around the body, for `continue`; `break` sets this flag.
    flag: Option<Var>,
}

/// Whether a statement may leave in this way, loops inside looked into or not.
fn leaves(stmt: &CStmt, wanted: &dyn Fn(&StmtKind) -> bool, into_loops: bool) -> bool {
    let within = |s: &CStmt| leaves(s, wanted, into_loops);
    wanted(&stmt.kind)
        || match &stmt.kind {
            StmtKind::If(_, a, b) => within(a) || b.as_ref().is_some_and(|b| within(b)),
            StmtKind::While(_, body) | StmtKind::DoWhile(body, _) | StmtKind::For(_, _, _, body) => {
                into_loops && within(body)
            }
            StmtKind::Switch(_, body) => within(body),
            StmtKind::Block(body) => body.iter().any(within),
            _ => false,
        }
}

fn returns(stmt: &CStmt) -> bool {
    leaves(stmt, &|s| matches!(s, StmtKind::Return(_)), true)
}

impl<'s> Lower<'s> {
    pub fn new(source: &'s Source, choice: Choice, elems: HashMap<String, Elem>) -> Lower<'s> {
        let mut program = Program::default();
        program.main.name = "main".to_string();
        Lower {
            source,
            choice,
            program,
            out: Vec::new(),
            scopes: Scopes(vec![HashMap::new()]),
            elems,
            accessed: HashSet::new(),
            stored: BTreeSet::new(),
            depth: 0,
            open: HashMap::new(),
            early: BTreeSet::new(),
            statements: 0,
            calls: Vec::new(),
            returns: Vec::new(),
            loops: Vec::new(),
            fields: HashMap::new(),
            place: Place::default(),
            whole: HashMap::new(),
            before: Vec::new(),
            temporary: HashSet::new(),
        }
    }

    pub fn fail<T>(&self, what: impl Into<String>) -> Result<T> {
        let what = what.into();
        Err(Refusal { place: self.place, detail: what.clone(), what })
    }

    pub fn fail_with<T>(&self, what: &str, detail: impl Into<String>) -> Result<T> {
        Err(Refusal { place: self.place, what: what.to_string(), detail: detail.into() })
    }

    /// Adds a statement.
    pub fn push(&mut self, stmt: Stmt) -> Result<()> {
        self.statements += 1;
        if self.statements > MOST_STATEMENTS || self.program.main.vars.len() > MOST_VARIABLES {
            return self.fail(format!("more than {MOST_STATEMENTS} statements"));
        }
        self.out.push(stmt);
        Ok(())
    }

    /// A new variable of the program.
    pub fn var(&mut self, name: &str, ty: Type) -> Var {
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let number = self.program.main.vars.len();
        let prefix = match ty {
            Type::Vector(_) => "v",
            Type::Mask(_) => "m",
            _ => "s",
        };
        self.program.main.var(format!("{prefix}{number}_{plain}"), ty)
    }

    /// `var = value`
    pub fn set(&mut self, var: Var, value: CExpr) -> Result<()> {
        self.assigned(var);
        self.push(Stmt::Set { target: Target::Var(var), value })
    }

    /// Notes that a variable gets a value here: if this is deeper than where it was declared, it needs one
    /// before.
    pub fn assigned(&mut self, var: Var) {
        if let Some(depth) = self.open.remove(&var)
            && depth < self.depth
        {
            self.early.insert(var);
        }
    }

    /// A variable without a value yet.
    pub fn open(&mut self, var: Var) {
        self.open.insert(var, self.depth);
    }

    /// The statements of a block.
    pub fn block(&mut self, write: impl FnOnce(&mut Self) -> Result<()>) -> Result<Vec<Stmt>> {
        let outer = std::mem::take(&mut self.out);
        self.depth += 1;
        self.scopes.0.push(HashMap::new());
        let result = write(self);
        self.scopes.0.pop();
        self.depth -= 1;
        let inner = std::mem::replace(&mut self.out, outer);
        result.map(|()| inner)
    }

    /// A buffer.
    pub fn buffer(&mut self, name: &str, elem: Elem, len: usize, kind: BufferKind, init: Init) -> usize {
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let name = format!("b{}_{plain}", self.program.buffers.len());
        let buffer = Buffer { name, elem, truths: false, len: len.max(1), dims: Vec::new(), kind, init };
        self.program.buffers.push(buffer);
        self.program.buffers.len() - 1
    }

    /// The whole function: its result, if it has one, is in the value returned.
    pub fn inline(&mut self, body: &[CStmt], ret: &CType) -> Result<Value> {
        if self.calls.len() > MOST_CALLS {
            return self.fail("recursion");
        }
        let (last, early) = match body.split_last() {
            Some((last, early)) => (matches!(last.kind, StmtKind::Return(_)), early),
            None => (true, body),
        };
        let inside = if last { early.iter().any(returns) } else { body.iter().any(returns) };
        let flag = if inside {
            let flag = self.var("returned", Type::Scalar(Elem::I32));
            self.set(flag, CExpr::int(Elem::I32, 0))?;
            Some(flag)
        } else {
            None
        };
        let slot = match ret.value() {
            CType::Void => None,
            CType::Pointer(to) => {
                let var = self.var("result", Type::Size);
                self.set(var, CExpr::int(Elem::U64, 0))?;
                Some(Slot::Pointer(None, var, (**to).clone()))
            }
            ty => {
                let ir = self.ir_type(ty)?;
                let var = self.var("result", ir);
                self.open(var);
                Some(Slot::Var(var, ty.clone()))
            }
        };
        let loops = std::mem::take(&mut self.loops);
        self.returns.push(Return { slot, ty: ret.clone(), flag, loops: 0 });
        self.scopes.0.push(HashMap::new());
        let result = self.statements(body);
        self.scopes.0.pop();
        self.loops = loops;
        let Some(done) = self.returns.pop() else { return self.fail("a return") };
        result?;
        match done.slot {
            None => Ok(Value::Void),
            Some(slot) => {
                // A function that ends without a value.
                if let Slot::Var(var, _) = slot
                    && self.open.remove(&var).is_some()
                {
                    self.early.insert(var);
                }
                self.read_slot(&slot)
            }
        }
    }

    /// Statements one after the other; what follows one that may return is done if it has not.
    pub fn statements(&mut self, body: &[CStmt]) -> Result<()> {
        for (n, stmt) in body.iter().enumerate() {
            self.stmt(stmt)?;
            let rest = &body[n + 1..];
            if returns(stmt) && !rest.is_empty() {
                let Some(flag) = self.returns.last().and_then(|r| r.flag) else { return Ok(()) };
                if matches!(stmt.kind, StmtKind::Return(_)) {
                    return Ok(());
                }
                // Names that are declared here are those of this block.
                let outer = std::mem::take(&mut self.out);
                self.depth += 1;
                let result = self.statements(rest);
                self.depth -= 1;
                let then = std::mem::replace(&mut self.out, outer);
                result?;
                let condition = CExpr::unary(Unary::IsZero, CExpr::Var(flag));
                return self.push(Stmt::When { condition, then, otherwise: Vec::new() });
            }
        }
        Ok(())
    }

    fn stmt(&mut self, stmt: &CStmt) -> Result<()> {
        self.place = stmt.place;
        match &stmt.kind {
            StmtKind::Expr(e) => self.effect(e),
            StmtKind::Declare(variables) => variables.iter().try_for_each(|v| self.declare(v)),
            StmtKind::Block(body) => {
                self.scopes.0.push(HashMap::new());
                let result = self.statements(body);
                self.scopes.0.pop();
                result
            }
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                if let Some(known) = literal(&condition) {
                    return match (known != 0, otherwise) {
                        (true, _) => self.scoped(then),
                        (false, Some(otherwise)) => self.scoped(otherwise),
                        (false, None) => Ok(()),
                    };
                }
                let before = self.pointers();
                let then = self.block(|l| l.stmt(then))?;
                let middle = self.pointers();
                let otherwise = match otherwise {
                    Some(stmt) => self.block(|l| l.stmt(stmt))?,
                    None => Vec::new(),
                };
                self.same_pointers(&before, &middle)?;
                self.push(Stmt::When { condition, then, otherwise })
            }
            StmtKind::While(condition, body) => self.looped(Some(condition), None, body, None),
            StmtKind::DoWhile(body, condition) => {
                if matches!(condition.kind, ExprKind::Integer(0, _))
                    && !leaves(body, &|s| matches!(s, StmtKind::Break | StmtKind::Continue), false)
                {
                    return self.scoped(body);
                }
                self.looped(None, None, body, Some(condition))
            }
            StmtKind::For(first, condition, step, body) => {
                self.scopes.0.push(HashMap::new());
                let result = first
                    .iter()
                    .try_for_each(|s| self.stmt(s))
                    .and_then(|()| self.looped(condition.as_ref(), step.as_ref(), body, None));
                self.scopes.0.pop();
                result
            }
            StmtKind::Return(value) => self.return_value(value.as_ref()),
            StmtKind::Break => match self.loops.last().copied() {
                None => self.fail("break outside of a loop"),
                Some(Leaving { flag: None }) => self.push(Stmt::Leave),
                Some(Leaving { flag: Some(flag) }) => {
                    self.set(flag, CExpr::int(Elem::I32, 1))?;
                    self.push(Stmt::Leave)
                }
            },
            // The loop of one round.
            StmtKind::Continue => self.push(Stmt::Leave),
            StmtKind::Switch(..) => self.fail("switch"),
            StmtKind::Case(_) => self.fail("case"),
            StmtKind::Other(what) => self.fail(*what),
        }
    }

    fn scoped(&mut self, stmt: &CStmt) -> Result<()> {
        self.scopes.0.push(HashMap::new());
        let result = self.stmt(stmt);
        self.scopes.0.pop();
        result
    }

    fn return_value(&mut self, value: Option<&Expr>) -> Result<()> {
        let value = value.map(|e| self.value(e)).transpose()?;
        let Some(Return { slot, ty, flag, loops }) = self.returns.last() else { return Ok(()) };
        let (slot, ty, flag, loops) = (slot.clone(), ty.clone(), *flag, *loops);
        if let (Some(slot), Some(value)) = (slot, value) {
            let slot = self.write_slot(slot, &ty, value)?;
            if let Some(last) = self.returns.last_mut() {
                last.slot = Some(slot);
            }
        }
        if let Some(flag) = flag {
            self.set(flag, CExpr::int(Elem::I32, 1))?;
        }
        if self.loops.len() > loops {
            self.push(Stmt::Leave)?;
        }
        Ok(())
    }

    /// A loop: while the condition holds, the body, the step, and until the last condition fails.
    fn looped(
        &mut self,
        condition: Option<&Expr>,
        step: Option<&Expr>,
        body: &CStmt,
        last: Option<&Expr>,
    ) -> Result<()> {
        let place = self.place;
        let index = self.var("round", Type::Scalar(Elem::I64));
        let continues = leaves(body, &|s| matches!(s, StmtKind::Continue), false);
        let breaks = leaves(body, &|s| matches!(s, StmtKind::Break), false);
        let may_return = returns(body);
        let before = self.pointers();
        let inside = self.block(|l| {
            if let Some(condition) = condition {
                l.leave_unless(condition)?;
            }
            if continues {
                let flag = if breaks {
                    let flag = l.var("broken", Type::Scalar(Elem::I32));
                    l.set(flag, CExpr::int(Elem::I32, 0))?;
                    Some(flag)
                } else {
                    None
                };
                let once = l.var("once", Type::Scalar(Elem::I32));
                l.loops.push(Leaving { flag });
                let inner = l.block(|l| l.stmt(body));
                l.loops.pop();
                let round = Loop {
                    index: once,
                    from: CExpr::int(Elem::I32, 0),
                    compare: Compare::Lt,
                    to: CExpr::int(Elem::I32, 1),
                    step: 1,
                    pragma: Pragma::None,
                    body: inner?,
                };
                l.push(Stmt::Loop(Box::new(round)))?;
                if let Some(flag) = flag {
                    l.leave_if(CExpr::Var(flag))?;
                }
            } else {
                l.loops.push(Leaving { flag: None });
                let result = l.stmt(body);
                l.loops.pop();
                result?;
            }
            if may_return && let Some(flag) = l.returns.last().and_then(|r| r.flag) {
                l.leave_if(CExpr::Var(flag))?;
            }
            if let Some(step) = step {
                l.place = step.place;
                l.effect(step)?;
            }
            if let Some(last) = last {
                l.leave_unless(last)?;
            }
            Ok(())
        })?;
        self.place = place;
        let after = self.pointers();
        self.same_pointers(&before, &after)?;
        self.push(Stmt::Loop(Box::new(Loop {
            index,
            from: CExpr::int(Elem::I64, 0),
            compare: Compare::Lt,
            // Longer than any run.
            to: CExpr::int(Elem::I64, 1 << 40),
            step: 1,
            pragma: Pragma::None,
            body: inside,
        })))
    }

    fn leave_if(&mut self, condition: CExpr) -> Result<()> {
        self.push(Stmt::When { condition, then: vec![Stmt::Leave], otherwise: Vec::new() })
    }

    fn leave_unless(&mut self, condition: &Expr) -> Result<()> {
        self.place = condition.place;
        let condition = self.condition(condition)?;
        match literal(&condition) {
            Some(0) => self.push(Stmt::Leave),
            Some(_) => Ok(()),
            None => {
                let (not, _) = unary(Unary::IsZero, condition, Elem::I32);
                self.leave_if(not)
            }
        }
    }

    /// Where the pointers of all names lead.
    fn pointers(&self) -> Vec<(Rc<str>, usize, usize)> {
        let mut found = Vec::new();
        for (n, scope) in self.scopes.0.iter().enumerate() {
            for (name, slot) in scope {
                if let Slot::Pointer(Some(buffer), ..) = slot {
                    found.push((name.clone(), n, *buffer));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// A pointer may not lead to one of two arrays.
    fn same_pointers(
        &self,
        before: &[(Rc<str>, usize, usize)],
        middle: &[(Rc<str>, usize, usize)],
    ) -> Result<()> {
        let now = self.pointers();
        for (name, scope, buffer) in before.iter().chain(middle) {
            if now.iter().any(|(n, s, b)| n == name && s == scope && b != buffer) {
                return self.fail_with(
                    "a pointer that may be to one of two arrays",
                    format!("`{name}`, a pointer that may be to one of two arrays"),
                );
            }
        }
        Ok(())
    }

    fn declare(&mut self, variable: &Variable) -> Result<()> {
        self.place = variable.place;
        let name = variable.name.clone();
        let mut ty = variable.ty.clone();
        let init = match &variable.init {
            Some(Expr { kind: ExprKind::List(items), .. }) => {
                if let CType::Array(of, size) = &ty {
                    let (of, size) = ((**of).clone(), size.clone());
                    return self.array(&name, &of, size.as_deref(), Some(items));
                }
                match &items[..] {
                    [one] => Some(self.value(one)?),
                    _ => return self.fail("a structure with a list of values"),
                }
            }
            Some(e) => Some(self.value(e)?),
            None => None,
        };
        if let CType::Array(of, size) = &ty {
            return self.array(&name, of, size.as_deref(), None);
        }
        if let (CType::Auto | CType::Unknown(_), Some(value)) = (&ty, &init) {
            ty = self.type_of(value)?;
        }
        let slot = match ty.value() {
            CType::Pointer(to) => {
                let var = self.var(&name, Type::Size);
                if init.is_none() {
                    self.set(var, CExpr::int(Elem::U64, 0))?;
                }
                Slot::Pointer(None, var, (**to).clone())
            }
            CType::Function => return Ok(()),
            value => {
                let ir = self.ir_type(value)?;
                Slot::Var(self.var(&name, ir), value.clone())
            }
        };
        let slot = match init {
            Some(value) => self.write_slot(slot, &ty, value)?,
            None => {
                if let Slot::Var(var, _) = slot {
                    self.open(var);
                }
                slot
            }
        };
        self.scopes.declare(name, slot);
        Ok(())
    }

    /// A local array.
    fn array(
        &mut self,
        name: &Rc<str>,
        of: &CType,
        size: Option<&Expr>,
        items: Option<&Vec<Expr>>,
    ) -> Result<()> {
        let Some(elem) = self.elem_of(of) else {
            return self
                .fail_with("an array of something else than numbers", format!("`{name}`, an array of {of}"));
        };
        let given = match size {
            Some(size) => match self.value(size)? {
                Value::Int(e, _) => literal(&e),
                _ => None,
            },
            None => items.map(|i| i.len() as i128),
        };
        let len = match given {
            Some(n) if (1..=1 << 16).contains(&n) => n as usize,
            Some(n) => {
                return self
                    .fail_with("an array of this size", format!("`{name}`, an array of {n} elements"));
            }
            // As long as VLMAX or a parameter says: long enough.
            None => self.choice.buffer,
        };
        let buffer = self.buffer(name, elem, len, BufferKind::Data, Init::Zero);
        self.accessed.insert(buffer);
        if let Some(items) = items {
            if items.len() > len {
                return self.fail("more values than the array has elements");
            }
            for (n, item) in items.iter().enumerate() {
                let value = self.value(item)?;
                let at = CExpr::int(Elem::U64, n as i64);
                self.store(&Pointer { buffer: Some(buffer), at, to: of.clone() }, value)?;
            }
        }
        self.scopes.declare(name.clone(), Slot::Array(buffer, of.clone()));
        Ok(())
    }

    /// The function's statements and what they need first; what is stored to is printed.
    pub fn finish(mut self) -> Result<Program> {
        let mut body = std::mem::take(&mut self.before);
        for var in std::mem::take(&mut self.early) {
            let decl = &self.program.main.vars[var.index()];
            let vundefined = |ty: VecType| by_name(&format!("__riscv_vundefined_{}", ty.short()));
            let call =
                |intrinsic, args| Stmt::Call(Call { dst: Some(var), intrinsic, overloaded: false, args });
            match decl.ty {
                Type::Vector(v) => match vundefined(v) {
                    Some(intrinsic) => body.push(call(intrinsic, Vec::new())),
                    None => return self.fail("a vector without a value"),
                },
                Type::Mask(n) => match by_name(&format!("__riscv_vmclr_m_b{n}")) {
                    Some(intrinsic) => {
                        let one = Arg::Expr(rvv_ir::Expr::Const(1));
                        body.push(call(intrinsic, vec![one]));
                    }
                    None => return self.fail("a mask without a value"),
                },
                Type::Scalar(e) if e.is_float() => body.push(self.zero_float(var, e)?),
                ty => {
                    let elem = rvv_ir::put_elem(ty).unwrap_or(Elem::U64);
                    body.push(Stmt::Set { target: Target::Var(var), value: CExpr::int(elem, 0) });
                }
            }
        }
        body.append(&mut self.out);
        self.program.main.body = body;
        for &buffer in &self.stored {
            self.program.buffers[buffer].kind = BufferKind::Out;
        }
        Ok(self.program)
    }

    /// A floating-point variable set to zero, with all its bits defined.
    fn zero_float(&mut self, var: Var, elem: Elem) -> Result<Stmt> {
        let name = format!("zero{}", elem.short());
        let known = self.program.params.iter().find(|(v, _)| self.program.main.name(*v) == name);
        let src = match known {
            Some((src, _)) => *src,
            None => {
                let src = self.program.main.var(name, Type::Scalar(elem));
                self.program.params.push((src, 0));
                src
            }
        };
        Ok(Stmt::Copy { dst: var, src })
    }
}
