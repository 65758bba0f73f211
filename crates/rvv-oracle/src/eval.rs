//! Runs a program: statements, control flow, memory. What an intrinsic does is in [`crate::call`].

use crate::arith::Frm;
use crate::bits::Bits;
use crate::value::Value;
use rvv_intrinsics::{Elem, Type};
use rvv_ir::{
    Arg, Buffer, Call, CheckError, Compare, Contents, Expected, Expr, Function, Node, Program, Stmt, Var,
    VlChoice,
};
use std::collections::BTreeMap;
use std::fmt;

/// Where a program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Bits in a vector register: a power of two from 64.
    pub vlen: u32,
    /// What vsetvl does.
    pub vl: VlChoice,
    /// Steps after which the run is given up: a statement is one, and one more for each 32 bytes of a vector.
    pub fuel: u64,
}

impl Options {
    /// The usual ones, at this VLEN.
    pub fn new(vlen: u32) -> Options {
        Options { vlen, vl: VlChoice::Max, fuel: 10_000_000 }
    }
}

/// Bytes of the stack that a run may ask for, whether or not a function has returned them.
const MOST_SCRATCH: u64 = 1 << 16;

/// Bytes of a vector that cost as much as a statement.
const BYTES_PER_STEP: u64 = 32;

/// Why a program has no defined meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EvalError {
    /// Where.
    pub node: Node,
    /// The place in words.
    pub place: String,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for EvalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

impl std::error::Error for EvalError {}

impl From<CheckError> for EvalError {
    fn from(e: CheckError) -> Self {
        EvalError { node: e.node, place: e.place, message: e.message }
    }
}

/// What the program prints.
///
/// # Errors
/// The program breaks a static rule, or meets undefined behaviour at this VLEN.
pub fn evaluate(program: &Program, options: &Options) -> Result<Expected, EvalError> {
    evaluate_with(program, options, &mut |_| ())
}

/// The same, telling `executed` of each call that ran with vl > 0 (or takes none).
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_with(
    program: &Program,
    options: &Options,
    executed: &mut dyn FnMut(&Call),
) -> Result<Expected, EvalError> {
    run(program, options, executed, None).0
}

/// The same, and the steps that it took, whether or not it has a meaning.
pub fn evaluate_metered(
    program: &Program,
    options: &Options,
    executed: &mut dyn FnMut(&Call),
) -> (Result<Expected, EvalError>, u64) {
    run(program, options, executed, None)
}

/// What the program would print if a call did something else: each defined bit that it writes is inverted,
/// each time it runs. Where this differs from [`evaluate`] in a defined bit, what the call does can be seen
/// from outside.
///
/// The call is given by its place in [`Program::calls`].
///
/// # Errors
/// As [`evaluate`]; a wrong result may well lead to undefined behaviour.
pub fn evaluate_inverted(program: &Program, options: &Options, call: usize) -> Result<Expected, EvalError> {
    let inverted = program.calls().get(call).copied();
    run(program, options, &mut |_| (), inverted).0
}

fn run<'p>(
    program: &'p Program,
    options: &Options,
    executed: &'p mut dyn FnMut(&Call),
    inverted: Option<&'p Call>,
) -> (Result<Expected, EvalError>, u64) {
    if let Err(error) = program.check() {
        return (Err(error.into()), 0);
    }
    let buffers = program
        .buffers
        .iter()
        .map(|b| {
            let size = b.elem.bytes() as usize;
            let values = b.values();
            Bits::defined(values.iter().flat_map(|v| v.to_le_bytes().into_iter().take(size)).collect())
        })
        .collect();
    let mut machine = Machine {
        program,
        options: *options,
        buffers,
        frm: Frm::Rne,
        fuel: options.fuel,
        scratch: 0,
        node: Node { function: program.functions.len(), path: Vec::new() },
        executed,
        inverted,
        breaks: false,
        open: BTreeMap::new(),
    };
    let mut frame = Frame::new(&program.main);
    for &(var, value) in &program.params {
        frame.values[var.index()] = Some(Value::Scalar(Some(value)));
    }
    if let Err(message) = machine.body(&mut frame, &program.main.body, 0) {
        let error = EvalError { place: machine.node.describe(program), node: machine.node, message };
        return (Err(error), options.fuel - machine.fuel);
    }
    let contents = |(i, buffer): (usize, &Buffer)| {
        let bits = std::mem::take(&mut machine.buffers[i]);
        let mut contents = Contents { bytes: bits.bytes, defined: bits.defined, either: BTreeMap::new() };
        for (&(_, at), values) in machine.open.range((i, 0)..(i + 1, 0)).filter(|(_, v)| v.len() > 1) {
            contents.set_either(buffer.elem, at / buffer.elem.bytes() as usize, values.clone());
        }
        contents
    };
    let outputs = program.outputs().map(contents).collect();
    (Ok(Expected { vlen: options.vlen, vl: options.vl, outputs }), options.fuel - machine.fuel)
}

/// The variables of a function that is running.
pub struct Frame<'p> {
    pub function: &'p Function,
    pub values: Vec<Option<Value>>,
}

impl<'p> Frame<'p> {
    fn new(function: &'p Function) -> Self {
        Frame { function, values: vec![None; function.vars.len()] }
    }

    /// The check has seen to it that it is assigned.
    pub fn value(&self, var: Var) -> Result<&Value, String> {
        let name = || format!("`{}` is read before it is assigned", self.function.name(var));
        self.values[var.index()].as_ref().ok_or_else(name)
    }
}

/// A running program. Errors are messages; `node` is where they arose.
pub struct Machine<'p> {
    pub program: &'p Program,
    pub options: Options,
    pub buffers: Vec<Bits>,
    pub frm: Frm,
    fuel: u64,
    /// Bytes of the stack asked for so far.
    scratch: u64,
    node: Node,
    pub executed: &'p mut dyn FnMut(&Call),
    /// The call whose results are inverted.
    pub inverted: Option<&'p Call>,
    /// A `leave` or `break` has been met: everything ends up to the innermost loop.
    pub breaks: bool,
    /// Where compilers may contract: elements, by buffer and byte, whose value is one of several, or is a
    /// product that they may still add to something. Nothing may read them.
    pub(crate) open: BTreeMap<(usize, usize), Vec<u64>>,
}

impl<'p> Machine<'p> {
    pub(crate) fn body(
        &mut self,
        frame: &mut Frame<'p>,
        body: &'p [Stmt],
        first: usize,
    ) -> Result<(), String> {
        for (i, stmt) in body.iter().enumerate() {
            self.node.path.push(first + i);
            self.stmt(frame, stmt)?;
            self.node.path.pop();
            if self.breaks {
                break;
            }
        }
        Ok(())
    }

    fn spend(&mut self) -> Result<(), String> {
        self.spend_many(1)
    }

    /// Spends as much as work on this many bytes costs.
    pub fn spend_bytes(&mut self, bytes: usize) -> Result<(), String> {
        self.spend_many(bytes as u64 / BYTES_PER_STEP)
    }

    pub(crate) fn spend_many(&mut self, steps: u64) -> Result<(), String> {
        match self.fuel.checked_sub(steps) {
            Some(left) => {
                self.fuel = left;
                Ok(())
            }
            None => {
                self.fuel = 0;
                Err(format!("the program has not ended after {} steps", self.options.fuel))
            }
        }
    }

    /// An integer expression; its value decides an address, a vl or a trip count, so it must be defined.
    pub fn expr(&self, frame: &Frame, expr: &Expr) -> Result<u64, String> {
        Ok(match expr {
            Expr::Const(value) => *value,
            Expr::Var(var) => match frame.value(*var)? {
                Value::Scalar(Some(value)) => *value,
                _ => {
                    return Err(format!(
                        "`{}` is undefined and decides what is done",
                        frame.function.name(*var)
                    ));
                }
            },
            Expr::Add(a, b) => self.expr(frame, a)?.wrapping_add(self.expr(frame, b)?),
            Expr::Sub(a, b) => self.expr(frame, a)?.wrapping_sub(self.expr(frame, b)?),
            Expr::Mul(a, b) => self.expr(frame, a)?.wrapping_mul(self.expr(frame, b)?),
        })
    }

    fn stmt(&mut self, frame: &mut Frame<'p>, stmt: &'p Stmt) -> Result<(), String> {
        self.spend()?;
        match stmt {
            Stmt::Call(call) => self.call(frame, call),
            Stmt::Invoke { dst, function, args } => self.invoke(frame, *dst, *function, args),
            Stmt::Copy { dst, src } => {
                frame.values[dst.index()] = Some(frame.value(*src)?.clone());
                Ok(())
            }
            Stmt::Put { buffer, at, value } => {
                let at = self.expr(frame, at)?;
                let Value::Scalar(value) = *frame.value(*value)? else {
                    return Err("only scalars can be put".to_string());
                };
                let b = &self.program.buffers[*buffer];
                if at >= b.len as u64 {
                    return Err(format!("`{}[{at}]` is past the end: it has {} elements", b.name, b.len));
                }
                let size = b.elem.bytes() as usize;
                self.buffers[*buffer].set(at as usize * size, size, value);
                Ok(())
            }
            Stmt::SetFrm(frm) => {
                self.frm = Frm::from_encoding((*frm).into()).ok_or("no such rounding mode")?;
                Ok(())
            }
            Stmt::Strip { vtype, length, index, vl, body } => {
                let length = self.expr(frame, length)?;
                let vlmax = u64::from(vtype.vlmax(self.options.vlen));
                let mut done = 0;
                while done < length {
                    self.spend()?;
                    let this = self.options.vl.vl(length - done, vlmax);
                    frame.values[index.index()] = Some(Value::Scalar(Some(done)));
                    frame.values[vl.index()] = Some(Value::Scalar(Some(this)));
                    self.body(frame, body, 0)?;
                    if std::mem::take(&mut self.breaks) {
                        break;
                    }
                    done += this;
                }
                Ok(())
            }
            Stmt::For { index, count, body } => {
                let count = self.expr(frame, count)?;
                let mut done = 0;
                while done < count {
                    self.spend()?;
                    frame.values[index.index()] = Some(Value::Scalar(Some(done)));
                    self.body(frame, body, 0)?;
                    if std::mem::take(&mut self.breaks) {
                        break;
                    }
                    done += 1;
                }
                Ok(())
            }
            Stmt::If { left, compare, right, then, otherwise } => {
                if self.condition(frame, *left, *compare, *right)? {
                    self.body(frame, then, 0)
                } else {
                    self.body(frame, otherwise, then.len())
                }
            }
            Stmt::Set { .. } | Stmt::Loop(_) | Stmt::When { .. } | Stmt::Leave | Stmt::Lanes(_) => {
                self.element(frame, stmt)
            }
            Stmt::Break { left, compare, right } => {
                self.breaks = self.condition(frame, *left, *compare, *right)?;
                Ok(())
            }
            // The value stays what it is, undefined parts too.
            Stmt::Hide(var) => frame.value(*var).map(|_| ()),
            Stmt::Scratch(bytes) => {
                self.scratch = self.scratch.saturating_add(self.expr(frame, bytes)?);
                if self.scratch > MOST_SCRATCH {
                    return Err(format!("more than {MOST_SCRATCH} bytes of the stack are asked for"));
                }
                Ok(())
            }
        }
    }

    /// Whether a comparison holds.
    fn condition(&self, frame: &Frame, left: Var, compare: Compare, right: u64) -> Result<bool, String> {
        match *frame.value(left)? {
            Value::Scalar(Some(value)) => Ok(holds(frame.function.ty(left), value, compare, right)),
            _ => Err(format!("`{}` is undefined and decides a branch", frame.function.name(left))),
        }
    }

    fn invoke(
        &mut self,
        frame: &mut Frame<'p>,
        dst: Option<Var>,
        number: usize,
        args: &[Arg],
    ) -> Result<(), String> {
        let callee = &self.program.functions[number];
        let mut inner = Frame::new(callee);
        for (param, arg) in callee.params.iter().zip(args) {
            let value = match arg {
                Arg::Var(var) => frame.value(*var)?.clone(),
                Arg::Expr(expr) => Value::Scalar(Some(self.expr(frame, expr)?)),
                Arg::Addr(..) | Arg::Ref(_) => return Err("functions take values only".to_string()),
            };
            inner.values[param.index()] = Some(value);
        }
        let here = std::mem::replace(&mut self.node, Node { function: number, path: Vec::new() });
        self.body(&mut inner, &callee.body, 0)?;
        self.node = here;
        if let (Some(dst), Some(ret)) = (dst, callee.ret) {
            frame.values[dst.index()] = Some(inner.value(ret)?.clone());
        }
        Ok(())
    }

    /// The buffer and byte offset that an address argument means.
    pub fn address(&self, frame: &Frame, arg: &Arg) -> Result<(usize, i128), String> {
        let Arg::Addr(number, expr) = arg else { return Err("an address is needed".to_string()) };
        let at = self.expr(frame, expr)?;
        let buffer = &self.program.buffers[*number];
        // C allows a pointer to one past the end, and none further.
        if at > buffer.len as u64 {
            return Err(format!(
                "`&{}[{}]` is outside: it has {} elements",
                buffer.name, at as i64, buffer.len
            ));
        }
        Ok((*number, i128::from(at) * i128::from(buffer.elem.bytes())))
    }

    /// Checks an access of one element and returns the offset as an index.
    pub fn inside(&self, number: usize, offset: i128, elem: Elem) -> Result<usize, String> {
        let buffer = &self.program.buffers[number];
        let size = i128::from(elem.bytes());
        if offset < 0 || offset + size > buffer.bytes() as i128 {
            return Err(format!(
                "an access to byte {offset} of `{}`, which has {}",
                buffer.name,
                buffer.bytes()
            ));
        }
        if offset % size != 0 {
            return Err(format!("a misaligned access: byte {offset} of `{}`", buffer.name));
        }
        Ok(offset as usize)
    }
}

fn holds(ty: Type, left: u64, compare: Compare, right: u64) -> bool {
    let (signed, bits) = match ty {
        Type::Scalar(e) => (e.is_signed(), e.bits()),
        Type::Long | Type::Ptrdiff => (true, 64),
        _ => (false, 64),
    };
    let number =
        |v: u64| if signed { i128::from((v << (64 - bits)) as i64 >> (64 - bits)) } else { i128::from(v) };
    let (left, right) = (number(left), number(right));
    match compare {
        Compare::Eq => left == right,
        Compare::Ne => left != right,
        Compare::Lt => left < right,
        Compare::Le => left <= right,
        Compare::Gt => left > right,
        Compare::Ge => left >= right,
    }
}
