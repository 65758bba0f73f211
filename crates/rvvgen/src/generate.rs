//! Writes one program.

use crate::builder::{Builder, arg};
use crate::context::Context;
use crate::rng::Rng;
use crate::schedule::Reschedule;
use crate::vl_class::{Class, Kind};
use crate::{Category, Choice, Plan, Scheduler, Selection, Weights};
use rvv_intrinsics::{Elem, Intrinsic, Role, Type, VecType};
use rvv_ir::{Arg, Call, Expected, Expr, Program, Stmt, Var};
use rvv_isa::{Lmul, Sew};
use rvv_oracle::{EvalError, Options, VlChoice, evaluate, evaluate_with};

/// What programs are to be like.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Elements of data.
    pub len: usize,
    /// The VLENs at which programs must have a meaning.
    pub vlens: Vec<u32>,
    /// The choices of vl under which they must.
    pub vls: Vec<VlChoice>,
    /// The biases.
    pub weights: Weights,
    /// The order of statements.
    pub scheduler: Scheduler,
    /// What else than the planned calls is preferred.
    pub selection: Selection,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            len: 10,
            vlens: vec![128, 256, 512, 1024],
            vls: vec![VlChoice::Max],
            weights: Weights::default(),
            scheduler: Scheduler::Unit,
            selection: Selection::default(),
        }
    }
}

impl Settings {
    /// The smallest VLEN asked for.
    pub fn smallest_vlen(&self) -> u32 {
        self.vlens.iter().copied().min().unwrap_or(128)
    }

    /// The largest VLEN asked for.
    pub fn largest_vlen(&self) -> u32 {
        self.vlens.iter().copied().max().unwrap_or(128)
    }

    /// Whether this intrinsic is one to feed the others with.
    pub fn may_feed(&self, intrinsic: &Intrinsic) -> bool {
        let (plain, overloaded) =
            (self.selection.wants(intrinsic, false), self.selection.wants(intrinsic, true));
        plain || overloaded
    }

    /// Which of its names to use.
    pub fn overloads(&self, intrinsic: &Intrinsic, rng: &mut Rng) -> bool {
        let wants = |overloaded: bool| {
            (!overloaded || intrinsic.overloaded.is_some())
                && self.selection.categories.contains(&Category::of(intrinsic, overloaded))
        };
        match (wants(false), wants(true)) {
            (true, true) => rng.below(2) == 0,
            (false, true) => true,
            (_, false) => false,
        }
    }
}

/// A program and what it prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The program.
    pub program: Program,
    /// What it prints at each VLEN of the settings, under the first choice of vl.
    pub expected: Vec<Expected>,
    /// The calls that were executed at the first VLEN with a vl above 0, each once.
    pub executed: Vec<Choice>,
    /// Statements that had to be taken out again because they had no meaning.
    pub repairs: usize,
}

/// Why there is no program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GenerateError {
    /// Nothing is selected.
    #[error(
        "no intrinsic is selected that has a meaning at VLEN {0}; try another --intrinsics, --extension or \
         --vlen"
    )]
    NothingSelected(u32),
    /// What was written has no meaning, and could not be mended.
    #[error("program {number} of seed {seed} has no meaning: {error}; this is a bug of rvvgen")]
    Undefined {
        /// The plan's seed.
        seed: u64,
        /// The program's number.
        number: u64,
        /// What the evaluator says.
        error: EvalError,
    },
}

/// Program number `k` of a plan.
///
/// # Errors
/// See [`GenerateError`].
pub fn generate(plan: &Plan, k: u64, settings: &Settings) -> Result<Generated, GenerateError> {
    let smallest = settings.smallest_vlen();
    let (class, choices) = plan.program(k).ok_or(GenerateError::NothingSelected(smallest))?;
    let rng = Rng::new(&[plan.seed(), k, 1]);
    let mut builder = Builder::new(settings, class, rng);
    builder.choose_place();
    for Choice { intrinsic, overloaded } in choices {
        builder.planned(intrinsic, overloaded);
    }
    builder.shape();
    let mut program = builder.finish();
    program.comment = vec![format!("rvvgen, seed {}, program {k}", plan.seed())];
    let mut generated = mend(plan, k, program, settings)?;
    // Orders differ in nothing that can be seen: what was taken out, and what is printed, stay the same.
    generated.program.reschedule(settings.scheduler, k);
    Ok(generated)
}

/// Evaluates the program where it must have a meaning. A statement that has none is taken out, and what
/// needed it with it.
fn mend(plan: &Plan, k: u64, mut program: Program, settings: &Settings) -> Result<Generated, GenerateError> {
    let mut repairs = 0;
    loop {
        match meanings(&program, settings) {
            Ok((expected, executed)) => return Ok(Generated { program, expected, executed, repairs }),
            Err(error) => {
                repairs += 1;
                // A function is one call and its result: it goes as a whole.
                let removed = program.remove_function(error.node.function) || program.remove(&error.node);
                if repairs > 200 || !removed {
                    return Err(GenerateError::Undefined { seed: plan.seed(), number: k, error });
                }
            }
        }
    }
}

/// What it prints, and which calls were executed at the first VLEN.
type Meaning = (Vec<Expected>, Vec<Choice>);

fn meanings(program: &Program, settings: &Settings) -> Result<Meaning, EvalError> {
    let mut expected = Vec::new();
    let mut executed: Vec<Choice> = Vec::new();
    for (i, &vl) in settings.vls.iter().enumerate() {
        for &vlen in &settings.vlens {
            let options = Options { vl, ..Options::new(vlen) };
            if i > 0 || !expected.is_empty() {
                let outcome = evaluate(program, &options)?;
                if i == 0 {
                    expected.push(outcome);
                }
                continue;
            }
            let mut note = |call: &Call| {
                executed.push(Choice { intrinsic: call.intrinsic, overloaded: call.overloaded });
            };
            expected.push(evaluate_with(program, &options, &mut note)?);
        }
    }
    executed.sort_unstable_by_key(|c| (c.intrinsic.id, c.overloaded));
    executed.dedup();
    Ok((expected, executed))
}

impl Builder<'_> {
    /// A loop or a block, as the class allows.
    fn choose_place(&mut self) {
        let weights = self.settings.weights.clone();
        let vlmax = (self.settings.smallest_vlen() / self.class.ratio) as usize;
        let block = self.chance(weights.block);
        let largest = self.chance(weights.vlmax);
        self.place = match self.class.kind {
            Kind::Whole => Context::Max { vls: Vec::new() },
            Kind::Groups(_) if largest => Context::Max { vls: Vec::new() },
            Kind::Groups(group) => {
                let group = usize::from(group);
                let groups = (vlmax / group).min(self.settings.len.div_ceil(group)).max(1);
                let count = group * (1 + self.rng.below(groups));
                let vl = self.number(count as u64);
                Context::Fixed { vl, count }
            }
            Kind::Plain if block && largest => Context::Max { vls: Vec::new() },
            Kind::Plain if block => {
                let count = 1 + self.rng.below(self.settings.len.clamp(1, vlmax.max(1)));
                let vl = self.number(count as u64);
                Context::Fixed { vl, count }
            }
            Kind::Plain => {
                let (index, vl) = (self.var(Type::Size), self.var(Type::Size));
                Context::Strip { index, vl, count: self.settings.len.max(1) }
            }
        };
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
        let weights = self.settings.weights.clone();
        if intrinsic.uses_frm() && intrinsic.param(Role::Frm).is_none() && self.chance(weights.set_frm) {
            let frm = self.rng.below(5) as u8;
            self.body.push(Stmt::SetFrm(frm));
        }
        if self.chance(weights.carry) && self.accumulate(intrinsic, overloaded) {
            return;
        }
        let result = self.call(intrinsic, overloaded, 0);
        if let Some(var) = result.filter(|_| !self.rng.chance(weights.dead)) {
            self.store(var);
            self.follow(var);
            if self.chance(weights.keep) {
                // Used again at the end, after everything else: stored once more.
                self.kept(var);
            }
        }
    }

    /// Adds a call; returns its result's variable.
    pub fn call(&mut self, intrinsic: &'static Intrinsic, overloaded: bool, depth: u32) -> Option<Var> {
        let memory = intrinsic.sem.accesses_memory();
        let access = memory.then(|| self.access(intrinsic));
        let ratio = crate::class(intrinsic).ratio;
        let mut whole_vl = true;
        let mut new_vl = None;
        let mut args = Vec::with_capacity(intrinsic.params.len());
        let shortens = depth == 0
            && matches!(self.place, Context::Strip { .. } | Context::Max { .. })
            && !matches!(self.class.kind, Kind::Groups(_))
            && self.chance(self.settings.weights.tails);
        for param in &intrinsic.params {
            args.push(match (param.role, &access) {
                (Role::Base, Some(access)) => access.base.clone(),
                (Role::Stride, Some(access)) => access.stride.clone().unwrap_or(Arg::Expr(Expr::Const(0))),
                (Role::Index, Some(access)) => access.index.clone().unwrap_or(Arg::Expr(Expr::Const(0))),
                (Role::NewVl, _) => {
                    let var = self.var(Type::Size);
                    new_vl = Some(var);
                    Arg::Ref(var)
                }
                (Role::Vl, _) if shortens => {
                    whole_vl = false;
                    let span = self.span(ratio);
                    match span.vl {
                        // Never below 0: a strip's vl is at least 1.
                        Expr::Var(_) => Arg::Expr(Expr::Sub(Box::new(span.vl), Box::new(Expr::Const(1)))),
                        vl => arg(vl),
                    }
                }
                _ => self.argument(intrinsic, param, depth + u32::from(memory)),
            });
        }
        let ty = intrinsic.ret;
        if ty == Type::Void {
            self.body.push(Stmt::Call(Call { dst: None, intrinsic, overloaded, args }));
            return None;
        }
        let dst = if depth == 0 { self.destination(ty) } else { self.var(ty) };
        let call = Call { dst: Some(dst), intrinsic, overloaded, args };
        let defined = self.result_is_defined(&call, whole_vl);
        self.body.push(Stmt::Call(call));
        self.assign(dst, ty, defined);
        if let Some(var) = new_vl {
            self.store(var);
        }
        Some(dst)
    }

    /// Keeps a value alive to the end of the body: a copy of it is stored there.
    fn kept(&mut self, var: Var) {
        let ty = self.program.main.ty(var);
        let copy = self.var(ty);
        self.body.push(Stmt::Copy { dst: copy, src: var });
        let body = std::mem::take(&mut self.body);
        // What the store loads comes after all that is still to be written: it is not there yet.
        let live = self.live.clone();
        self.store(copy);
        self.live = live;
        let stored = std::mem::replace(&mut self.body, body);
        self.last.extend(stored);
    }

    /// The whole program.
    fn finish(mut self) -> Program {
        let last = std::mem::take(&mut self.last);
        self.body.extend(last);
        let body = std::mem::take(&mut self.body);
        let mut main = std::mem::take(&mut self.before);
        let looped = match self.place {
            Context::Strip { index, vl, count } => {
                let weights = &self.settings.weights;
                let opaque = self.rng.chance(weights.opaque);
                let length = if opaque {
                    let var = self.program.main.var("n", Type::Size);
                    self.program.params.push((var, count as u64));
                    Expr::Var(var)
                } else {
                    Expr::Const(count as u64)
                };
                let vtype = strip_type(self.class, &mut self.rng);
                vec![Stmt::Strip { vtype, length, index, vl, body }]
            }
            Context::Fixed { .. } | Context::Max { .. } => body,
        };
        if self.rng.chance(self.settings.weights.nest) {
            let index = self.program.main.var("round", Type::Size);
            let times = 1 + self.rng.below(3) as u64;
            let count = self.trips(times);
            main.push(Stmt::For { index, count, body: looped });
        } else {
            main.extend(looped);
        }
        main.extend(self.after);
        self.program.main.body = main;
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
