//! Control flow around several statements: branches with else, loops, functions, early exits.

use crate::builder::{Builder, arg};
use crate::context::Context;
use rvv_intrinsics::{Role, Type, by_name};
use rvv_ir::loops::Pointers;
use rvv_ir::{Arg, Call, Compare, Effects, Expr, Function, Linkage, Stmt, Var};
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

/// Statements that one block is made of, at most.
const LONGEST: usize = 8;
/// Parameters of a function, at most.
const MOST_PARAMETERS: usize = 12;

impl Builder<'_> {
    /// Puts runs of statements of the body into branches, loops and functions.
    pub fn group(&mut self) {
        let weights = self.weights.clone();
        for _ in 0..1 + self.body.len() / 12 {
            if self.chance(weights.several)
                && let Some(run) = self.run_of_statements()
            {
                match self.rng.below(5) {
                    0 | 1 => self.branch_of(run),
                    2 => self.loop_of(run),
                    _ => self.function_of(run),
                }
            }
        }
        if self.chance(weights.exit) {
            self.early_exit();
        }
        self.barriers();
    }

    /// A run of the body's statements.
    fn run_of_statements(&mut self) -> Option<Range<usize>> {
        let most = LONGEST.min(self.body.len());
        if most < 2 {
            return None;
        }
        let length = 2 + self.rng.below(most - 1);
        let first = self.rng.below(self.body.len() - length + 1);
        Some(first..first + length)
    }

    fn effects(&self, run: &[Stmt]) -> Vec<Effects> {
        run.iter().map(|s| s.effects(&self.program)).collect()
    }

    /// What has a value wherever the body is, and after each statement before `end`.
    fn assigned(&self, end: usize) -> HashSet<Var> {
        let mut assigned: HashSet<Var> = self.program.params.iter().map(|p| p.0).collect();
        assigned.extend(self.live.iter().filter(|l| l.persists).map(|l| l.var));
        if let Context::Strip { index, vl, .. } = self.place {
            assigned.extend([index, vl]);
        }
        for stmt in &self.before {
            assigned.extend(surely(stmt));
        }
        for stmt in &self.body[..end] {
            assigned.extend(surely(stmt));
        }
        assigned
    }

    /// What is read after a run: further down, in the next round, or after the loop.
    fn read_after(&self, end: usize) -> HashSet<Var> {
        let rest = self.body[end..].iter().chain(&self.last).chain(&self.after);
        rest.flat_map(|s| s.effects(&self.program).reads).collect()
    }

    /// The run under a condition. What it assigns is assigned otherwise, too: by the same calls with other
    /// constants, or with other values that are there.
    fn branch_of(&mut self, run: Range<usize>) {
        let assigned = self.assigned(run.start);
        let others: Vec<Var> = {
            let mut others: Vec<Var> = assigned.iter().copied().collect();
            others.sort_unstable();
            others.retain(|v| self.is_defined(&Arg::Var(*v)));
            others
        };
        let then: Vec<Stmt> = self.body[run.clone()].to_vec();
        let mut otherwise = Vec::new();
        for stmt in &then {
            match stmt {
                // A store is left out.
                Stmt::Put { .. } => {}
                Stmt::Call(Call { dst: None, .. }) => {}
                Stmt::Call(call) => {
                    let Some(dst) = call.dst else { continue };
                    let ty = self.program.main.ty(dst);
                    let fits: Vec<Var> = others
                        .iter()
                        .copied()
                        .filter(|v| *v != dst && self.program.main.ty(*v) == ty)
                        .collect();
                    // What is loaded may be indices, which are not just anything.
                    let is_load = call.intrinsic.sem.accesses_memory();
                    match self.rng.pick(&fits) {
                        Some(&src) if !is_load && self.rng.below(3) == 0 => {
                            otherwise.push(Stmt::Copy { dst, src });
                        }
                        _ => {
                            let mut other = call.clone();
                            self.other_constants(&mut other);
                            otherwise.push(Stmt::Call(other));
                        }
                    }
                }
                other => otherwise.push(other.clone()),
            }
        }
        let (left, compare, right, holds) = self.condition(&self.deciding(run.start));
        let (then, otherwise) = if holds { (then, otherwise) } else { (otherwise, then) };
        self.body.splice(run, [Stmt::If { left, compare, right, then, otherwise }]);
    }

    /// Other constants for the same call.
    fn other_constants(&mut self, call: &mut Call) {
        for (arg, param) in call.args.iter_mut().zip(&call.intrinsic.params) {
            if matches!(param.role, Role::Uimm | Role::Frm | Role::Vxrm)
                && let Some(range) = call.intrinsic.constants(param.role)
            {
                let span = (range.end() - range.start() + 1) as usize;
                *arg = Arg::Expr(Expr::Const(range.start() + self.rng.below(span) as u64));
            }
        }
    }

    /// Integers that come out of vectors before a statement and are defined.
    fn deciding(&self, end: usize) -> Vec<Var> {
        let once = self.assigned_once();
        let scalar = |s: &Stmt| match s {
            Stmt::Call(call) => call.dst.filter(|&var| {
                let integer = match self.program.main.ty(var) {
                    Type::Scalar(e) => !e.is_float(),
                    Type::Ulong | Type::Long => true,
                    _ => false,
                };
                integer && once.contains(&var) && self.live.iter().any(|l| l.var == var && l.defined)
            }),
            _ => None,
        };
        self.body[..end].iter().filter_map(scalar).collect()
    }

    /// The lengths that fault-only-first loads give before a statement.
    fn new_lengths(&self, end: usize) -> Vec<Var> {
        let once = self.assigned_once();
        let length = |s: &Stmt| match s {
            Stmt::Call(call) => call.args.iter().find_map(|a| match a {
                Arg::Ref(var) => Some(*var).filter(|v| once.contains(v)),
                _ => None,
            }),
            _ => None,
        };
        self.body[..end].iter().filter_map(length).collect()
    }

    /// What the body assigns in one place only: what is known of it at the end holds all along.
    fn assigned_once(&self) -> HashSet<Var> {
        let mut times: BTreeMap<Var, usize> = BTreeMap::new();
        for var in self.effects(&self.body).into_iter().flat_map(|e| e.writes) {
            *times.entry(var).or_default() += 1;
        }
        times.into_iter().filter(|(_, n)| *n == 1).map(|(var, _)| var).collect()
    }

    /// A comparison of one of these, or of something opaque; for the latter, whether it holds.
    fn condition(&mut self, scalars: &[Var]) -> (Var, Compare, u64, bool) {
        let (compare, _) = Compare::ALL[self.rng.below(Compare::ALL.len())];
        if self.rng.below(2) == 0
            && let Some(&left) = self.rng.pick(scalars)
        {
            let mask = match self.program.main.ty(left) {
                Type::Scalar(e) => u64::MAX >> (64 - e.bits()),
                _ => u64::MAX,
            };
            let right = match self.rng.below(4) {
                0 => mask, // vfirst's -1
                _ => self.rng.below(self.len.max(1)) as u64 & mask,
            };
            return (left, compare, right, true);
        }
        let (value, right) = (self.rng.below(10) as u64, self.rng.below(10) as u64);
        let left = self.param(Type::Size, value);
        let holds = match compare {
            Compare::Eq => value == right,
            Compare::Ne => value != right,
            Compare::Lt => value < right,
            Compare::Le => value <= right,
            Compare::Gt => value > right,
            Compare::Ge => value >= right,
        };
        (left, compare, right, holds)
    }

    /// The run in a counted loop, if what it assigns is not needed after it or has a value before it.
    fn loop_of(&mut self, run: Range<usize>) {
        if self.rounds > 30 {
            return;
        }
        let (assigned, read) = (self.assigned(run.start), self.read_after(run.end));
        let writes: HashSet<Var> =
            self.effects(&self.body[run.clone()]).into_iter().flat_map(|e| e.writes).collect();
        if writes.iter().any(|v| read.contains(v) && !assigned.contains(v)) {
            return;
        }
        let body: Vec<Stmt> = self.body[run.clone()].to_vec();
        let name = format!("i{}", self.program.main.vars.len());
        let index = self.program.main.var(name, Type::Size);
        let times = 1 + self.rng.below(3) as u64;
        let count = self.trips(times);
        self.body.splice(run, [Stmt::For { index, count, body }]);
    }

    /// The run in a function, if it makes at most one value that is needed after it. It may be called
    /// again, with other values, and by way of another function.
    fn function_of(&mut self, run: Range<usize>) {
        let (assigned, read) = (self.assigned(run.start), self.read_after(run.end));
        let stmts: Vec<Stmt> = self.body[run.clone()].to_vec();
        let mut inside: HashSet<Var> = HashSet::new();
        let mut params: Vec<Var> = Vec::new();
        for stmt in &stmts {
            let effects = stmt.effects(&self.program);
            if effects.leaves {
                return;
            }
            for var in effects.reads {
                if !inside.contains(&var) && !params.contains(&var) {
                    params.push(var);
                }
            }
            let sure: HashSet<Var> = surely(stmt).into_iter().collect();
            // What may or may not be assigned comes in with the value it has.
            for var in effects.writes {
                if !sure.contains(&var) && assigned.contains(&var) && !inside.contains(&var) {
                    if !params.contains(&var) {
                        params.push(var);
                    }
                } else if sure.contains(&var) {
                    inside.insert(var);
                }
            }
        }
        let writes: HashSet<Var> = self.effects(&stmts).into_iter().flat_map(|e| e.writes).collect();
        let mut results: Vec<Var> = writes.iter().copied().filter(|v| read.contains(v)).collect();
        results.sort_unstable();
        let in_loops = |v: &Var| !matches!(self.program.main.ty(*v), Type::Size) || !inside.contains(v);
        if results.len() > 1 || params.len() > MOST_PARAMETERS || !params.iter().all(in_loops) {
            return;
        }
        // What a loop of the next round reads of this one stays where it is.
        let carried = |v: &Var| assigned.contains(v) && writes.contains(v) && Some(v) != results.first();
        if params.iter().any(carried) {
            return;
        }
        let mut function =
            Function { name: format!("f{}", self.program.functions.len()), ..Function::default() };
        let mut inner: BTreeMap<Var, Var> = BTreeMap::new();
        for &var in &params {
            let own = function.var(self.program.main.name(var), self.program.main.ty(var));
            function.params.push(own);
            inner.insert(var, own);
        }
        let mut body = stmts;
        let main = &self.program.main;
        for stmt in &mut body {
            stmt.each_var_mut(&mut |var| {
                let own = *inner.entry(*var).or_insert_with(|| function.var(main.name(*var), main.ty(*var)));
                *var = own;
            });
        }
        function.body = body;
        function.ret = results.first().and_then(|v| inner.get(v)).copied();
        function.linkage = match self.rng.below(4) {
            0 => Linkage::Inline,
            1 => Linkage::Local,
            _ => Linkage::Global,
        };
        function.pointers = match self.rng.below(4) {
            0 => Pointers::Plain,
            1 => Pointers::Restrict,
            _ => Pointers::Globals,
        };
        // A callee that leaves another rounding mode behind.
        if self.chance(self.weights.set_frm) {
            function.body.push(Stmt::SetFrm(self.rng.below(5) as u8));
        }
        self.program.functions.push(function);
        let mut number = self.program.functions.len() - 1;
        if self.rng.below(4) == 0 {
            number = self.called_through(number);
        }
        let args: Vec<Arg> = params.iter().map(|v| Arg::Var(*v)).collect();
        let dst = results.first().copied();
        let mut calls = vec![Stmt::Invoke { dst, function: number, args: args.clone() }];
        if self.rng.below(3) == 0 {
            // From a second place, before the first: what that makes is what is kept.
            // Addresses and masks of memory operations are not just anything.
            let accesses = |e: Effects| !e.loads.is_empty() || !e.stores.is_empty();
            let pure = !self.effects(&calls).into_iter().any(accesses);
            let again = if pure { self.other_arguments(&args, &assigned) } else { args };
            let dst = dst.map(|v| self.var(self.program.main.ty(v)));
            calls.insert(0, Stmt::Invoke { dst, function: number, args: again });
        }
        self.body.splice(run, calls);
    }

    /// A function that does nothing but call another and return what that returns: a tail call.
    fn called_through(&mut self, number: usize) -> usize {
        let callee = &self.program.functions[number];
        let mut function =
            Function { name: format!("f{}", self.program.functions.len()), ..Function::default() };
        for &param in &callee.params {
            let own = function.var(callee.name(param), callee.ty(param));
            function.params.push(own);
        }
        function.ret = callee.ret.map(|ret| function.var("result", callee.ty(ret)));
        let args = function.params.iter().map(|v| Arg::Var(*v)).collect();
        function.body.push(Stmt::Invoke { dst: function.ret, function: number, args });
        function.linkage = Linkage::Global;
        self.program.functions.push(function);
        self.program.functions.len() - 1
    }

    /// The same arguments, some vectors replaced by others that are there.
    fn other_arguments(&mut self, args: &[Arg], assigned: &HashSet<Var>) -> Vec<Arg> {
        let mut others: Vec<Var> = assigned.iter().copied().collect();
        others.sort_unstable();
        let mut again = Vec::with_capacity(args.len());
        for arg in args {
            let Arg::Var(var) = arg else {
                again.push(arg.clone());
                continue;
            };
            let ty = self.program.main.ty(*var);
            let vector = matches!(ty, Type::Vector(_));
            let fits: Vec<Var> = others
                .iter()
                .copied()
                .filter(|v| vector && self.program.main.ty(*v) == ty && self.is_defined(&Arg::Var(*v)))
                .collect();
            again.push(Arg::Var(self.rng.pick(&fits).copied().unwrap_or(*var)));
        }
        again
    }

    /// Leaves the loop when a number that comes out of a vector or mask says so.
    fn early_exit(&mut self) {
        let Context::Strip { .. } = self.place else { return };
        let mut at = self.body.len() / 2 + self.rng.below(self.body.len() / 2 + 1);
        let mut scalars = self.deciding(at);
        scalars.extend(self.new_lengths(at));
        let left = match self.rng.pick(&scalars) {
            Some(&left) => left,
            None => {
                let Some((mask, call)) = self.count_of_mask(at) else { return };
                self.body.insert(mask, call);
                at = mask + 1;
                match &self.body[mask] {
                    Stmt::Call(Call { dst: Some(var), .. }) => *var,
                    _ => return,
                }
            }
        };
        let ty = self.program.main.ty(left);
        let right = match ty {
            Type::Scalar(e) => self.rng.bits() >> (64 - e.bits()),
            // A position or a number of elements.
            _ => self.rng.below(6) as u64,
        };
        let compare = match ty {
            Type::Long => Compare::Eq,
            Type::Ulong => [Compare::Eq, Compare::Gt][self.rng.below(2)],
            _ => [Compare::Eq, Compare::Lt][self.rng.below(2)],
        };
        self.body.insert(at, Stmt::Break { left, compare, right });
    }

    /// How many bits of a mask are set, or which is the first: the call, and the place after the mask.
    fn count_of_mask(&mut self, end: usize) -> Option<(usize, Stmt)> {
        let ratio = self.class.ratio;
        let once = self.assigned_once();
        let masks: Vec<(usize, Var)> = self.body[..end]
            .iter()
            .enumerate()
            .filter_map(|(i, s)| match s {
                Stmt::Call(call) => call.dst.map(|var| (i + 1, var)),
                _ => None,
            })
            .filter(|(_, var)| self.program.main.ty(*var).mask() == Some(ratio) && once.contains(var))
            .filter(|(_, var)| self.live.iter().any(|l| l.var == *var && l.defined))
            .collect();
        let (place, mask) = *self.rng.pick(&masks)?;
        let what = ["vcpop", "vfirst"][self.rng.below(2)];
        let intrinsic = by_name(&format!("__riscv_{what}_m_b{ratio}"))?;
        let overloaded = self.settings.overloads(intrinsic, &mut self.rng);
        let args = vec![Arg::Var(mask), arg(self.span(ratio).vl)];
        let dst = Some(self.var(intrinsic.ret));
        Some((place, Stmt::Call(Call { dst, intrinsic, overloaded, args })))
    }

    /// Inline assembly that may have changed a vector, and memory of the stack whose size is not known.
    fn barriers(&mut self) {
        let weights = self.weights.clone();
        let mut at = 0;
        while at < self.body.len() {
            let hidden = match &self.body[at] {
                Stmt::Call(call) => call.dst.filter(|v| match self.program.main.ty(*v) {
                    Type::Vector(ty) => ty.nf == 1,
                    Type::Mask(_) | Type::Ulong | Type::Long => true,
                    _ => false,
                }),
                _ => None,
            };
            at += 1;
            if let Some(var) = hidden
                && self.chance(weights.barrier)
            {
                self.body.insert(at, Stmt::Hide(var));
                at += 1;
            }
        }
        if self.chance(weights.scratch) {
            let bytes = 1 + self.rng.below(60) as u64;
            let bytes = self.number(bytes);
            let at = self.rng.below(self.body.len() + 1);
            self.body.insert(at, Stmt::Scratch(bytes));
        }
    }
}

/// What a statement assigns whichever way it takes.
fn surely(stmt: &Stmt) -> Vec<Var> {
    match stmt {
        Stmt::Call(call) => {
            let refs = call.args.iter().filter_map(|a| match a {
                Arg::Ref(var) => Some(*var),
                _ => None,
            });
            call.dst.into_iter().chain(refs).collect()
        }
        Stmt::Invoke { dst, .. } => dst.iter().copied().collect(),
        Stmt::Copy { dst, .. } => vec![*dst],
        Stmt::If { then, otherwise, .. } => {
            let other: HashSet<Var> = otherwise.iter().flat_map(surely).collect();
            then.iter().flat_map(surely).filter(|v| other.contains(v)).collect()
        }
        _ => Vec::new(),
    }
}
