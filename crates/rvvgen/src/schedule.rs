//! Orders of equal meaning.

use crate::rng::Rng;
use rvv_intrinsics::{Role, Type};
use rvv_ir::{Program, Stmt};

/// Where loads and stores stand among the operations.
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
        Stmt::Put { .. } => 2,
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
