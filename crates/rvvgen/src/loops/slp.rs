//! Groups of adjacent scalar statements: the same expression for each lane, the lanes of its operands
//! permuted.

use super::value::{Val, unsigned};
use super::{Counter, Writer};
use rvv_intrinsics::Elem;
use rvv_ir::Stmt;
use rvv_ir::loops::{Access, Binary, CExpr, Target};

/// The subscripts of a group: each load has a base, and a place for its lane.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    count: usize,
    /// What is added to each subscript.
    base: Option<Val>,
    loads: usize,
}

/// A literal of this value and more, in a subscript, is the place of a load's lane.
const PLACE: i64 = 0x4000_0000;

impl Lanes {
    /// A subscript of the next load, for no lane yet.
    pub fn subscript(&mut self) -> Val {
        let place = CExpr::int(Elem::I32, PLACE + self.loads as i64);
        self.loads += 1;
        let most = self.count as i128 - 1;
        let lane = Val::int(place, Elem::I32, 0, most);
        match &self.base {
            Some(base) => Val::binary(Binary::Add, base.clone(), lane.clone()).unwrap_or(lane),
            None => lane,
        }
    }
}

impl Writer<'_> {
    /// A group alone, or in a loop around it.
    pub(super) fn group(&mut self) -> Vec<Stmt> {
        let count = [2, 4, 4, 8, 8, 16][self.rng.below(6)];
        if self.rng.below(3) == 0 {
            let trips = 1 + self.rng.below(20) as u64;
            return self.looped(trips, |this| this.lanes(count));
        }
        self.lanes(count)
    }

    fn lanes(&mut self, count: usize) -> Vec<Stmt> {
        let counter = self.counters.last().map(Counter::value).filter(|c| c.lo >= 0);
        let base = counter.and_then(|i| {
            let by = Val::literal(i.ty, count as i64);
            Val::binary(Binary::Mul, i, by)
        });
        let base = base.filter(|b| b.hi < 600);
        self.lanes = Some(Lanes { count, base: base.clone(), loads: 0 });
        let depth = 1 + self.rng.below(3) as u32;
        let mut template = self.expr(depth);
        if self.lanes.as_ref().is_some_and(|l| l.loads == 0) {
            let load = self.load();
            template = self.combined(load, template);
        }
        let sums = !template.ty.is_float() && self.rng.chance(self.weights.loop_lane_sums);
        let elem = if sums { template.ty } else { self.stored_type(&template) };
        let number = self.target(elem);
        let loads = self.lanes.take().map_or(0, |l| l.loads);
        // Every load has its own order of lanes; the plain one is the likely one.
        let orders: Vec<Vec<usize>> = (0..loads)
            .map(|_| {
                let mut order: Vec<usize> = (0..count).collect();
                match self.rng.below(6) {
                    0 => self.rng.shuffle(&mut order),
                    1 => order.reverse(),
                    2 => order = vec![self.rng.below(count); count],
                    3 => order.iter_mut().for_each(|n| *n ^= 1),
                    _ => {}
                }
                order
            })
            .collect();
        let at = |lane: usize| {
            let lane = Val::literal(Elem::I32, lane as i64);
            match &base {
                Some(base) => Val::binary(Binary::Add, base.clone(), lane.clone()).unwrap_or(lane),
                None => lane,
            }
        };
        self.reach(number, at(count - 1).hi);
        let of_lane = |lane: usize| {
            let mut value = template.e.clone();
            value.each_mut(&mut |e| {
                if let CExpr::Literal(Elem::I32, bits) = e
                    && let Some(order) = orders.get((*bits as i64 - PLACE).max(-1) as usize)
                {
                    *bits = order[lane] as u64;
                }
            });
            value
        };
        if sums {
            let op = [Binary::Add, Binary::Add, Binary::Xor, Binary::Or, Binary::And][self.rng.below(5)];
            // Sums wrap.
            let ty = unsigned(rvv_ir::loops::promote(elem));
            let all = (0..count).map(|lane| CExpr::cast(ty, of_lane(lane)));
            let value = all.reduce(|a, b| CExpr::binary(op, a, b)).unwrap_or_else(|| CExpr::int(ty, 0));
            let access = Access { buffer: number, index: vec![at(0).e] };
            return vec![Stmt::Set { target: Target::Element(access), value }];
        }
        let statement = |lane: usize| {
            let access = Access { buffer: number, index: vec![at(lane).e] };
            Stmt::Set { target: Target::Element(access), value: of_lane(lane) }
        };
        let mut all: Vec<Stmt> = (0..count).map(statement).collect();
        if self.rng.below(4) == 0 && loads > 0 {
            self.rng.shuffle(&mut all);
        }
        all
    }
}
