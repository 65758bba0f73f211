//! Regions: the loops and blocks a program is made of, one after the other or one inside another.

use crate::builder::{Builder, Live};
use crate::context::Context;
use crate::lookup::Lookup;
use crate::pairs::Pairs;
use crate::plan::permuted;
use crate::rng::Rng;
use crate::sizes::Lengths;
use crate::vl_class::{Class, Kind, exists_at};
use crate::{Choice, plan};
use rvv_intrinsics::{Elem, Intrinsic, Role, Type, VecType};
use rvv_ir::{Expr, Stmt, Var};
use rvv_isa::{Lmul, Sew};

/// What is to be done in a region.
enum Item {
    Call(Choice),
    /// A def-use pair, by its number.
    Pair(u64),
    /// A sequence that back ends look for.
    Pattern,
}

/// Elements that most strip loops keep to: the cost of a program grows with them.
const USUAL_LENGTH: usize = 320;
/// Bodies of strips at the smallest VLEN after which loops of a program are short.
const MANY_ROUNDS: usize = 60;

impl Builder<'_> {
    /// Values that are made before everything else and live through loops, branches and calls.
    pub fn prelude(&mut self, regions: &[plan::Region]) {
        self.place = Context::Max { vls: Vec::new() };
        if !self.chance(self.weights.outside) {
            return;
        }
        for _ in 0..1 + self.rng.below(3) {
            let choices: Vec<&Choice> = regions.iter().flat_map(|r| &r.choices).collect();
            let types: Vec<VecType> = choices
                .iter()
                .flat_map(|c| c.intrinsic.params.iter().map(|p| p.ty).chain([c.intrinsic.ret]))
                .filter_map(|ty| ty.vector().filter(|v| v.nf == 1))
                .collect();
            if let Some(&ty) = self.rng.pick(&types) {
                self.class = Class { ratio: ty.ratio(), kind: Kind::Plain };
                self.vector(ty, true, 1);
            }
        }
        self.close(false);
    }

    /// A region: its calls, what connects them, and what surrounds them.
    pub fn region(&mut self, seed: u64, region: plan::Region) {
        self.class = region.class;
        self.choose_place();
        let groups = matches!(region.class.kind, Kind::Groups(_));
        let mut items: Vec<Item> = region.choices.into_iter().map(Item::Call).collect();
        let operations = 1 + items.len() / 6;
        items.extend(region.pairs.map(Item::Pair));
        for _ in 0..operations {
            if region.class.kind == Kind::Plain && self.chance(self.weights.patterns) {
                items.push(Item::Pattern);
            }
        }
        self.rng.shuffle(&mut items);
        for item in items {
            match item {
                Item::Pattern => self.pattern(),
                Item::Call(choice) => self.planned(choice.intrinsic, choice.overloaded),
                Item::Pair(number) => {
                    if self.chance(self.weights.pairs) {
                        self.pair(seed, number, groups);
                    }
                }
            }
        }
        self.store_unused();
        self.shape();
        self.group();
        self.close(true);
    }

    /// Makes visible what nothing has used.
    fn store_unused(&mut self) {
        let unused = |l: &&Live| l.chain > 0 && !l.used && !l.persists;
        let unused: Vec<Var> = self.live.iter().filter(unused).map(|l| l.var).collect();
        for var in unused {
            self.store(var);
        }
    }

    /// A loop or a block, as the class allows.
    fn choose_place(&mut self) {
        let weights = self.weights.clone();
        let vlmax = (self.settings.smallest_vlen() / self.class.ratio) as usize;
        let block = self.chance(weights.block);
        let largest = self.chance(weights.vlmax);
        self.len = match self.settings.len {
            Lengths::Range(sizes) => sizes.draw(&mut self.rng),
            Lengths::Strips => 1 + self.rng.below(vlmax.max(8)),
        };
        self.place = match self.class.kind {
            Kind::Whole => Context::Max { vls: Vec::new() },
            Kind::Groups(_) if largest => Context::Max { vls: Vec::new() },
            Kind::Groups(group) => {
                let group = usize::from(group);
                let groups = (vlmax / group).min(self.len.div_ceil(group)).max(1);
                let count = group * (1 + self.rng.below(groups));
                let vl = self.number(count as u64);
                Context::Fixed { vl, count }
            }
            Kind::Plain if block && largest => Context::Max { vls: Vec::new() },
            Kind::Plain if block => {
                let count = self.len.clamp(1, vlmax.max(1));
                let vl = self.number(count as u64);
                Context::Fixed { vl, count }
            }
            Kind::Plain => {
                // What is inside a loop is run as often as that: only where neither is long.
                let fits = matches!(self.done.last(), Some(Stmt::Strip { .. })) && self.last_rounds <= 16;
                self.is_inside = fits && self.chance(weights.inside);
                self.len = if self.is_inside {
                    self.rng.below(2 * vlmax.max(1) + 1)
                } else {
                    self.strip_length(self.class.ratio)
                };
                let rounds = self.len.div_ceil(vlmax.max(1));
                self.rounds += if self.is_inside { rounds * self.last_rounds } else { rounds };
                self.last_rounds = rounds;
                let (index, vl) = (self.var(Type::Size), self.var(Type::Size));
                Context::Strip { index, vl, count: self.len.max(1) }
            }
        };
    }

    /// Elements for a strip loop: so that it runs never, once, twice or often at one of the VLENs.
    fn strip_length(&mut self, ratio: u32) -> usize {
        if let Lengths::Range(sizes) = self.settings.len {
            return sizes.draw(&mut self.rng);
        }
        let smallest = (self.settings.smallest_vlen() / ratio).max(1) as usize;
        if self.rounds > MANY_ROUNDS {
            return 1 + self.rng.below(3 * smallest);
        }
        let largest = (self.settings.largest_vlen() / ratio).max(1) as usize;
        let any = self.rng.pick(&self.settings.vlens).map_or(128, |v| *v);
        let any = (any / ratio).max(1) as usize;
        let unusual = self.rng.below(8) == 0;
        let vlmax = match self.rng.below(10) {
            0..8 if unusual || largest + largest / 4 <= USUAL_LENGTH => largest,
            8.. if unusual || any + any / 4 <= USUAL_LENGTH => any,
            _ => smallest,
        };
        let strips = match self.rng.below(40) {
            0 => return 0,
            1..4 => 1,
            4..28 => 2,
            28..36 => 3,
            _ => 4 + self.rng.below(5),
        };
        let strips = if unusual { strips } else { strips.min((USUAL_LENGTH / vlmax).max(2)) };
        // The last strip is short as often as not.
        let rest = if self.rng.below(4) == 0 { vlmax } else { (vlmax / 3).max(1) };
        (strips - 1) * vlmax + 1 + self.rng.below(rest)
    }

    /// A call the program is about, and what makes its result visible.
    fn planned(&mut self, intrinsic: &'static Intrinsic, overloaded: bool) {
        if intrinsic.sem.is_store() {
            let data = match intrinsic.param(Role::Data).map(|p| p.ty) {
                Some(Type::Vector(ty)) => self.vector(ty, true, 0),
                Some(Type::Mask(n)) => self.mask(n.into(), true, 0),
                _ => return,
            };
            self.store_by(intrinsic, overloaded, data);
            return;
        }
        let weights = self.weights.clone();
        if intrinsic.uses_frm() && intrinsic.param(Role::Frm).is_none() && self.chance(weights.set_frm) {
            let frm = self.rng.below(5) as u8;
            self.body.push(Stmt::SetFrm(frm));
        }
        if self.chance(weights.carry) && self.accumulate(intrinsic, overloaded) {
            return;
        }
        let result = self.call(intrinsic, overloaded, 0);
        if let Some(var) = result {
            self.use_result(var);
        }
    }

    /// What becomes of a result: it is stored at once, or waits for something to use it; some are never used.
    pub fn use_result(&mut self, var: Var) {
        let weights = self.weights.clone();
        if self.chance(weights.dead) {
            self.mark_used(var);
            return;
        }
        if self.chance(weights.visible) || self.chain(var) == 0 {
            self.store(var);
        }
        self.follow(var);
        if self.chance(weights.keep) {
            // Used again at the end, after everything else: stored once more.
            self.kept(var);
        }
    }

    /// Def-use pair number `number` of a round through all there are, in types that suit the region. Some
    /// pairs suit only others.
    fn pair(&mut self, seed: u64, number: u64, groups: bool) {
        let pairs = Pairs::get();
        let list = &pairs.lists[usize::from(!groups)];
        let (round, place) = (number / list.len() as u64, (number % list.len() as u64) as usize);
        let numbered = list[permuted(seed, &[round, 0xda7a, u64::from(groups)], list.len(), place)];
        let producer = &pairs.families[usize::from(numbered.producer)];
        let consumer = &pairs.families[usize::from(numbered.consumer)];
        let (role, by_type) = &consumer.operands[usize::from(numbered.operand)];
        let smallest = self.settings.smallest_vlen();
        let suits = |i: &&Intrinsic| {
            let class = crate::class(i);
            let kind = match (class.kind, self.class.kind) {
                (Kind::Plain, _) => true,
                // A vl of groups of eight is one of groups of four.
                (Kind::Groups(own), Kind::Groups(vl)) => {
                    vl.is_multiple_of(own) && class.ratio <= self.class.ratio
                }
                (kind, of) => kind == of && class.ratio <= self.class.ratio,
            };
            kind && exists_at(i, smallest) && self.settings.may_feed(i)
        };
        // Types of the region's own ratio first, then those that its vl suits, then any by element 0 alone.
        let mut best: (u32, Vec<(&'static Intrinsic, &'static Intrinsic)>) = (u32::MAX, Vec::new());
        let mut types: Vec<(&Type, &Vec<&'static Intrinsic>)> = by_type.iter().collect();
        types.sort_unstable_by_key(|(_, of)| of.first().map(|i| i.id));
        for (ty, consumers) in types {
            let Some(producers) = producer.by_result.get(ty) else { continue };
            let pick = |of: &[&'static Intrinsic], rng: &mut Rng| {
                let tries = (0..6).filter_map(|_| rng.pick(of).copied()).collect::<Vec<_>>();
                tries.into_iter().find(suits)
            };
            let mut rng = self.rng.clone();
            let found = pick(producers, &mut rng).zip(pick(consumers, &mut rng));
            let Some(found) = found else { continue };
            let ratio = crate::class(found.1).ratio;
            let fit = match ratio.cmp(&self.class.ratio) {
                std::cmp::Ordering::Equal => 0,
                std::cmp::Ordering::Less => 1,
                std::cmp::Ordering::Greater => 2,
            };
            if fit < best.0 {
                best = (fit, Vec::new());
            }
            if fit == best.0 {
                best.1.push(found);
            }
        }
        self.rng.bits();
        let Some(&(producer, consumer)) = self.rng.pick(&best.1) else { return };
        let overloaded = self.settings.overloads(producer, &mut self.rng);
        let Some(value) = self.call(producer, overloaded, 1) else { return };
        let overloaded = self.settings.overloads(consumer, &mut self.rng);
        if let Some(var) = self.call_on(consumer, overloaded, 0, Some((*role, value))) {
            self.use_result(var);
        }
    }

    /// Keeps a value alive to the end of the body: a copy of it is stored there.
    fn kept(&mut self, var: Var) {
        let ty = self.program.main.ty(var);
        let copy = self.var(ty);
        self.body.push(Stmt::Copy { dst: copy, src: var });
        let body = std::mem::take(&mut self.body);
        // What the store loads comes after all that is still to be written: it is not there yet, and what is
        // there now may hold something else then.
        let live = std::mem::take(&mut self.live);
        self.store(copy);
        self.live = live;
        let stored = std::mem::replace(&mut self.body, body);
        self.last.extend(stored);
    }

    /// Ends a region: puts it behind those before it, or inside the last of them.
    fn close(&mut self, may_nest: bool) {
        let last = std::mem::take(&mut self.last);
        self.body.extend(last);
        let body = std::mem::take(&mut self.body);
        let before = std::mem::take(&mut self.before);
        let after = std::mem::take(&mut self.after);
        let is_block = matches!(self.place, Context::Max { .. });
        let top: Vec<Var> = body
            .iter()
            .filter_map(|s| match s {
                Stmt::Call(call) => call.dst,
                Stmt::Invoke { dst, .. } => *dst,
                _ => None,
            })
            .collect();
        let mut looped = match self.place {
            Context::Strip { index, vl, .. } => {
                let count = self.len as u64;
                let opaque = self.rng.chance(self.weights.opaque);
                let length =
                    if opaque { Expr::Var(self.param(Type::Size, count)) } else { Expr::Const(count) };
                let vtype = strip_type(self.class, &mut self.rng);
                vec![Stmt::Strip { vtype, length, index, vl, body }]
            }
            Context::Fixed { .. } | Context::Max { .. } => body,
        };
        let nests = may_nest && self.rng.chance(self.weights.nest);
        if nests {
            let name = format!("round{}", self.program.main.vars.len());
            let index = self.program.main.var(name, Type::Size);
            let times = 1 + self.rng.below(3) as u64;
            let count = self.trips(times);
            looped = vec![Stmt::For { index, count, body: looped }];
        }
        // Values of a block are there from now on; those of a loop are not.
        self.live.retain_mut(|l| {
            l.persists |= is_block && !nests && l.defined && top.contains(&l.var);
            l.persists
        });
        let is_inside = std::mem::take(&mut self.is_inside);
        match self.done.last_mut() {
            Some(Stmt::Strip { body, .. }) if is_inside && !nests => {
                body.extend(looped);
                let at = self.done.len() - 1;
                self.done.splice(at..at, before);
                self.done.extend(after);
            }
            _ => {
                self.done.extend(before);
                self.done.extend(looped);
                self.done.extend(after);
            }
        }
    }

    /// The whole program.
    pub fn finish(mut self) -> rvv_ir::Program {
        // What lived through all of it is seen at the end.
        self.place = Context::Max { vls: Vec::new() };
        let unused = |l: &&Live| l.persists && !l.used;
        let unused: Vec<Var> = self.live.iter().filter(unused).map(|l| l.var).collect();
        for var in unused {
            if let Type::Vector(ty) = self.program.main.ty(var) {
                self.store_by(Lookup::get().plain_store[&ty], false, var);
            }
        }
        self.close(false);
        self.program.main.body = std::mem::take(&mut self.done);
        self.program
    }
}

/// One of the types of this ratio that vsetvl has.
fn strip_type(class: Class, rng: &mut Rng) -> VecType {
    let mut types = Vec::new();
    for sew in Sew::ALL {
        for lmul in Lmul::ALL {
            let ty = VecType::new(Elem::unsigned(sew), lmul);
            if ty.exists() && ty.ratio() == class.ratio {
                types.push(ty);
            }
        }
    }
    rng.pick(&types).copied().unwrap_or(VecType::new(Elem::U8, Lmul::M1))
}
