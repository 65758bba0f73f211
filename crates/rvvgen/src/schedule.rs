//! Orders of equal meaning.

use crate::rng::Rng;
use rvv_intrinsics::{Role, Type};
use rvv_ir::loops::Target;
use rvv_ir::{Program, Stmt};

/// The order of loads and stores among the operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Scheduler {
    /// All loads first, all stores last.
    AllIn,
    /// Loads just before their operation, stores just after it.
    #[default]
    Unit,
    /// Anywhere.
    Random,
}

impl Scheduler {
    /// All of them.
    pub const ALL: [Scheduler; 3] = [Scheduler::AllIn, Scheduler::Unit, Scheduler::Random];

    /// As options spell it.
    pub fn name(self) -> &'static str {
        match self {
            Scheduler::AllIn => "all-in",
            Scheduler::Unit => "unit",
            Scheduler::Random => "random",
        }
    }

    /// From [`Scheduler::name`].
    pub fn from_name(name: &str) -> Option<Scheduler> {
        Scheduler::ALL.into_iter().find(|s| s.name() == name)
    }
}

/// Loads, then operations, then stores.
fn rank(stmt: &Stmt) -> u8 {
    match stmt {
        Stmt::Call(call) if call.intrinsic.ret == Type::Void => 2,
        Stmt::Call(call) if call.intrinsic.param(Role::Base).is_some() => 0,
        Stmt::Put { .. } | Stmt::Set { target: Target::Element(_), .. } | Stmt::Lanes(_) => 2,
        _ => 1,
    }
}

/// Puts statements that do not depend on each other in another order. `seed` is for the random one.
pub fn schedule(program: &Program, body: Vec<Stmt>, scheduler: Scheduler, seed: u64) -> Vec<Stmt> {
    if scheduler == Scheduler::Unit {
        return body;
    }
    let effects: Vec<_> = body.iter().map(|s| s.effects(program)).collect();
    let mut waits: Vec<usize> = vec![0; body.len()];
    let mut frees: Vec<Vec<usize>> = vec![Vec::new(); body.len()];
    for later in 0..body.len() {
        for earlier in 0..later {
            if effects[earlier].conflicts(&effects[later]) {
                waits[later] += 1;
                frees[earlier].push(later);
            }
        }
    }
    let mut rng = Rng::new(&[seed, 0x5c]);
    let mut ready: Vec<usize> = (0..body.len()).filter(|&i| waits[i] == 0).collect();
    let mut order = Vec::with_capacity(body.len());
    while !ready.is_empty() {
        let next = match scheduler {
            Scheduler::Random => rng.below(ready.len()),
            _ => (0..ready.len()).min_by_key(|&i| (rank(&body[ready[i]]), ready[i])).unwrap_or(0),
        };
        let done = ready.swap_remove(next);
        order.push(done);
        for &later in &frees[done] {
            waits[later] -= 1;
            if waits[later] == 0 {
                ready.push(later);
            }
        }
    }
    let mut body: Vec<Option<Stmt>> = body.into_iter().map(Some).collect();
    order.into_iter().filter_map(|i| body[i].take()).collect()
}

/// Puts a whole program in another order.
pub trait Reschedule {
    /// Puts the statements of every block in another order. `seed` is for the random one.
    fn reschedule(&mut self, scheduler: Scheduler, seed: u64);
}

impl Reschedule for Program {
    fn reschedule(&mut self, scheduler: Scheduler, seed: u64) {
        if scheduler == Scheduler::Unit {
            return;
        }
        // Functions of intrinsics are one call each; those of element statements have an order, too.
        for number in 0..self.functions.len() {
            if self.functions[number].body.iter().any(Stmt::is_element) {
                let body = std::mem::take(&mut self.functions[number].body);
                self.functions[number].body = all(self, body, scheduler, seed);
            }
        }
        let body = std::mem::take(&mut self.main.body);
        self.main.body = all(self, body, scheduler, seed);
    }
}

fn all(program: &Program, body: Vec<Stmt>, scheduler: Scheduler, seed: u64) -> Vec<Stmt> {
    let inner = |body| all(program, body, scheduler, seed.wrapping_add(1));
    let body = body.into_iter().map(|stmt| match stmt {
        Stmt::Strip { vtype, length, index, vl, body } => {
            Stmt::Strip { vtype, length, index, vl, body: inner(body) }
        }
        Stmt::For { index, count, body } => Stmt::For { index, count, body: inner(body) },
        Stmt::If { left, compare, right, then, otherwise } => {
            Stmt::If { left, compare, right, then: inner(then), otherwise: inner(otherwise) }
        }
        Stmt::Loop(mut of) => {
            of.body = inner(of.body);
            Stmt::Loop(of)
        }
        Stmt::When { condition, then, otherwise } => {
            Stmt::When { condition, then: inner(then), otherwise: inner(otherwise) }
        }
        other => other,
    });
    schedule(program, body.collect(), scheduler, seed)
}
