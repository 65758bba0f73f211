//! What programs are like: data flow from result to computation, loops, control flow.
//!
//! An *operation* is a call that computes: no load, no store, no vsetvl, and none that only changes a type or
//! takes tuples apart (vreinterpret, vlmul, vget, vset, vcreate). An *edge* is an operand of an operation
//! that is the result of another one, however many of those, copies, branches and calls are between. A
//! *chain* is a way along edges; its length is the operations on it.

use crate::Choice;
use rvv_intrinsics::{Intrinsic, Role, Sem, all};
use rvv_ir::{Arg, Call, Expr, Function, Program, Stmt, Var};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A def-use pair: the families of a result and of the operation it goes to, and the operand it is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pair {
    /// The family of the operation that made the value.
    pub producer: &'static str,
    /// The family of the operation that takes it.
    pub consumer: &'static str,
    /// As what.
    pub role: Role,
}

/// A strip-mined loop of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StripLoop {
    /// SEW/LMUL of its vsetvl.
    pub ratio: u32,
    /// Its elements, where they can be told without running the program.
    pub length: Option<u64>,
}

impl StripLoop {
    /// How often its body runs at a VLEN where vsetvl gives as much as it can.
    pub fn iterations(&self, vlen: u32) -> Option<u64> {
        self.length.map(|n| n.div_ceil(u64::from(vlen / self.ratio).max(1)))
    }
}

/// What one program is like.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Operations in the text.
    pub operations: usize,
    /// Loads and stores in the text.
    pub accesses: usize,
    /// Operands of operations that are results of operations.
    pub edges: usize,
    /// The longest chain.
    pub chain: usize,
    /// Those edges: from what, to what, as which operand.
    pub uses: HashSet<(u32, u32, Role)>,
    /// Strip-mined loops, each once.
    pub strips: Vec<StripLoop>,
    /// The most different SEW/LMUL among the strip-mined loops of one function.
    pub ratios: usize,
    /// How often each kind of control flow is in the text.
    pub control: BTreeMap<&'static str, usize>,
}

/// Whether a call computes.
pub fn is_operation(intrinsic: &Intrinsic) -> bool {
    let plumbing = matches!(intrinsic.sem, Sem::Setvl | Sem::Setvlmax | Sem::Undefined);
    !intrinsic.sem.accesses_memory() && !plumbing && !is_transparent(intrinsic)
}

/// Whether a call only changes the type or the place of what it is given.
pub(crate) fn is_transparent(intrinsic: &Intrinsic) -> bool {
    use Sem::{Create, Get, LmulExt, LmulTrunc, Reinterpret, Set};
    matches!(intrinsic.sem, Get | Set | Create | Reinterpret | LmulExt | LmulTrunc)
}

impl Stats {
    /// What this program is like.
    pub fn of(program: &Program) -> Stats {
        let mut walk = Walk { program, stats: Stats::default(), nodes: Vec::new(), at: HashMap::new() };
        let mut frame = Frame::default();
        for &(var, value) in &program.params {
            frame.numbers.insert(var, value);
        }
        walk.body(&program.main, &program.main.body, &mut frame, 0);
        let Walk { mut stats, nodes, .. } = walk;
        stats.operations = nodes.len();
        stats.edges = nodes.iter().map(|n| n.operands.len()).sum();
        stats.chain = nodes.iter().map(|n| n.chain).max().unwrap_or(0);
        for consumer in &nodes {
            for (&operand, producers) in &consumer.operands {
                let role = consumer.call.intrinsic.params[operand].role;
                let to = consumer.call.intrinsic.id;
                stats.uses.extend(producers.iter().map(|&p| (nodes[p].call.intrinsic.id, to, role)));
            }
        }
        for function in program.functions.iter().chain([&program.main]) {
            let mut ratios = BTreeSet::new();
            stats.shape(&function.body, 0, &mut ratios);
            stats.ratios = stats.ratios.max(ratios.len());
        }
        for function in &program.functions {
            *stats.control.entry("function").or_default() += 1;
            if function.body.len() > 1 {
                *stats.control.entry("function of several statements").or_default() += 1;
            }
        }
        stats
    }

    /// The def-use pairs between calls that have been executed.
    pub fn pairs<'s>(&'s self, executed: &[Choice]) -> impl Iterator<Item = Pair> + use<'s> {
        let executed: HashSet<u32> = executed.iter().map(|c| c.intrinsic.id).collect();
        let uses =
            self.uses.iter().filter(move |(from, to, _)| executed.contains(from) && executed.contains(to));
        uses.map(|&(from, to, role)| Pair {
            producer: all()[from as usize].family,
            consumer: all()[to as usize].family,
            role,
        })
    }

    /// Counts the kinds of control flow in a block that is inside `depth` strip-mined loops.
    fn shape(&mut self, body: &[Stmt], depth: usize, ratios: &mut BTreeSet<u32>) {
        for stmt in body {
            let mut see = |what| *self.control.entry(what).or_default() += 1;
            match stmt {
                Stmt::Call(call) if call.intrinsic.sem.accesses_memory() => self.accesses += 1,
                Stmt::Invoke { .. } => see("call of a function"),
                Stmt::SetFrm(_) => see("rounding mode set"),
                Stmt::Break { .. } => see("early exit"),
                Stmt::Hide(_) => see("inline assembly"),
                Stmt::Scratch(_) => see("memory of the stack"),
                Stmt::Strip { vtype, body, .. } => {
                    see(if depth == 0 { "strip loop" } else { "strip loop in another" });
                    ratios.insert(vtype.ratio());
                    self.shape(body, depth + 1, ratios);
                }
                Stmt::For { body, .. } => {
                    see(if body.len() > 1 { "counted loop of several statements" } else { "counted loop" });
                    self.shape(body, depth, ratios);
                }
                Stmt::If { then, otherwise, .. } => {
                    see(match (then.len().max(otherwise.len()), otherwise.is_empty()) {
                        (0 | 1, _) => "branch",
                        (_, true) => "branch of several statements",
                        (_, false) => "branch of several statements, with else",
                    });
                    self.shape(then, depth, ratios);
                    self.shape(otherwise, depth, ratios);
                }
                _ => {}
            }
        }
    }
}

/// An operation: one call in the text.
struct Operation<'p> {
    call: &'p Call,
    /// By the place of the operand: the operations whose results it may be.
    operands: BTreeMap<usize, BTreeSet<usize>>,
    /// The longest chain that ends here.
    chain: usize,
}

/// What is known of a function's variables.
#[derive(Clone, Default)]
struct Frame {
    /// The operations whose results a variable may hold.
    results: HashMap<Var, BTreeSet<usize>>,
    /// Numbers that are known.
    numbers: HashMap<Var, u64>,
}

struct Walk<'p> {
    program: &'p Program,
    stats: Stats,
    nodes: Vec<Operation<'p>>,
    /// By the address of the statement.
    at: HashMap<*const Stmt, usize>,
}

/// Functions call only those before them, so this is never reached by a valid program of sane size.
const DEEPEST: usize = 64;

impl<'p> Walk<'p> {
    fn body(&mut self, function: &'p Function, body: &'p [Stmt], frame: &mut Frame, depth: usize) {
        for stmt in body {
            self.stmt(function, stmt, frame, depth);
        }
    }

    /// A body that runs any number of times: what a round leaves may be an operand of the next.
    fn rounds(&mut self, function: &'p Function, body: &'p [Stmt], frame: &mut Frame, depth: usize) {
        for _ in 0..2 {
            let mut inside = frame.clone();
            self.body(function, body, &mut inside, depth);
            frame.join(inside);
        }
    }

    fn stmt(&mut self, function: &'p Function, stmt: &'p Stmt, frame: &mut Frame, depth: usize) {
        match stmt {
            Stmt::Call(call) => self.call(stmt, call, frame),
            Stmt::Invoke { dst, function: number, args } => {
                let Some(callee) = self.program.functions.get(*number).filter(|_| depth < DEEPEST) else {
                    return;
                };
                let mut inner = Frame::default();
                for (&param, arg) in callee.params.iter().zip(args) {
                    if let Arg::Var(var) = arg {
                        inner.results.insert(param, frame.results.get(var).cloned().unwrap_or_default());
                    }
                    let number = match arg {
                        Arg::Var(var) => frame.numbers.get(var).copied(),
                        Arg::Expr(expr) => frame.number(expr),
                        Arg::Addr(..) | Arg::Ref(_) => None,
                    };
                    inner.numbers.extend(number.map(|n| (param, n)));
                }
                self.body(callee, &callee.body, &mut inner, depth + 1);
                if let Some(dst) = dst {
                    let results = callee.ret.and_then(|ret| inner.results.remove(&ret));
                    frame.set(*dst, results.unwrap_or_default());
                }
            }
            Stmt::Copy { dst, src } => {
                let (results, number) =
                    (frame.results.get(src).cloned().unwrap_or_default(), frame.numbers.get(src).copied());
                frame.set(*dst, results);
                frame.numbers.extend(number.map(|n| (*dst, n)));
            }
            Stmt::Strip { vtype, length, index, vl, body } => {
                if self.at.insert(std::ptr::from_ref(stmt), usize::MAX).is_none() {
                    let length = frame.number(length);
                    self.stats.strips.push(StripLoop { ratio: vtype.ratio(), length });
                }
                frame.set(*index, BTreeSet::new());
                frame.set(*vl, BTreeSet::new());
                self.rounds(function, body, frame, depth);
            }
            Stmt::For { index, body, .. } => {
                frame.set(*index, BTreeSet::new());
                self.rounds(function, body, frame, depth);
            }
            Stmt::If { then, otherwise, .. } => {
                let mut other = frame.clone();
                self.body(function, then, frame, depth);
                self.body(function, otherwise, &mut other, depth);
                frame.join(other);
            }
            _ => {}
        }
    }

    fn call(&mut self, stmt: &'p Stmt, call: &'p Call, frame: &mut Frame) {
        let mut operands: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for (i, (arg, param)) in call.args.iter().zip(&call.intrinsic.params).enumerate() {
            let mut vars = Vec::new();
            match arg {
                // A vl is no datum.
                Arg::Var(var) if !matches!(param.role, Role::Vl | Role::Avl) => vars.push(*var),
                Arg::Ref(var) => frame.set(*var, BTreeSet::new()),
                _ => {}
            }
            let from: BTreeSet<usize> =
                vars.iter().filter_map(|v| frame.results.get(v)).flatten().copied().collect();
            if !from.is_empty() {
                operands.insert(i, from);
            }
        }
        if is_transparent(call.intrinsic)
            && let Some(dst) = call.dst
        {
            frame.set(dst, operands.into_values().flatten().collect());
            return;
        }
        if !is_operation(call.intrinsic) {
            frame.results.extend(call.dst.map(|dst| (dst, BTreeSet::new())));
            frame.numbers.retain(|var, _| Some(*var) != call.dst);
            return;
        }
        let nodes = &mut self.nodes;
        let node = *self.at.entry(std::ptr::from_ref(stmt)).or_insert_with(|| {
            let longest = operands.values().flatten().map(|&n| nodes[n].chain).max();
            nodes.push(Operation { call, operands: BTreeMap::new(), chain: 1 + longest.unwrap_or(0) });
            nodes.len() - 1
        });
        for (operand, from) in operands {
            nodes[node].operands.entry(operand).or_default().extend(from);
        }
        if let Some(dst) = call.dst {
            // What is undisturbed or accumulated is an operand; the result is this operation's alone.
            frame.set(dst, BTreeSet::from([node]));
        }
    }
}

impl Frame {
    fn set(&mut self, var: Var, results: BTreeSet<usize>) {
        self.results.insert(var, results);
        self.numbers.remove(&var);
    }

    /// What holds if either way was taken.
    fn join(&mut self, other: Frame) {
        for (var, results) in other.results {
            self.results.entry(var).or_default().extend(results);
        }
        self.numbers.retain(|var, n| other.numbers.get(var) == Some(n));
    }

    fn number(&self, expr: &Expr) -> Option<u64> {
        Some(match expr {
            Expr::Const(c) => *c,
            Expr::Var(var) => *self.numbers.get(var)?,
            Expr::Add(a, b) => self.number(a)?.wrapping_add(self.number(b)?),
            Expr::Sub(a, b) => self.number(a)?.wrapping_sub(self.number(b)?),
            Expr::Mul(a, b) => self.number(a)?.wrapping_mul(self.number(b)?),
        })
    }
}
