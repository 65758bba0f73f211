//! A program being written.

use crate::Weights;
use crate::context::{Context, Span};
use crate::generate::Settings;
use crate::lookup::Lookup;
use crate::rng::Rng;
use crate::vl_class::Class;
use rvv_intrinsics::{Elem, Type};
use rvv_ir::data::{Distribution, Init};
use rvv_ir::{Arg, Buffer, BufferKind, Call, Expr, Program, Stmt, Var};

/// A variable that holds a value.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    /// Which.
    pub var: Var,
    /// Of what type.
    pub ty: Type,
    /// All elements below the vl of its type are defined.
    pub defined: bool,
    /// The operations on the longest way to it; 0 for what is loaded.
    pub chain: u32,
    /// An operation has taken it, or it has been stored.
    pub used: bool,
    /// It was made with VLMAX outside of loops: later regions may read it.
    pub persists: bool,
}

/// A program being written.
pub struct Builder<'s> {
    pub settings: &'s Settings,
    /// The weights of this program.
    pub weights: Weights,
    pub rng: Rng,
    pub class: Class,
    pub program: Program,
    /// The regions that are done.
    pub done: Vec<Stmt>,
    /// Before the loop, in it, after it.
    pub before: Vec<Stmt>,
    pub body: Vec<Stmt>,
    pub after: Vec<Stmt>,
    /// At the end of the body: stores of what is kept alive so long.
    pub last: Vec<Stmt>,
    pub live: Vec<Live>,
    pub place: Context,
    /// Elements of data in this region.
    pub len: usize,
    /// Buffers of values that loads may share.
    pub inputs: Vec<usize>,
    /// How often bodies of strips run at the smallest VLEN: what the program costs, and its last loop.
    pub rounds: usize,
    pub last_rounds: usize,
    /// This region is a loop inside the last one.
    pub is_inside: bool,
    /// The next call has a smaller vl than the one before: 1 for one element less, more for element 0 alone.
    pub shorter: usize,
    /// All floating-point data of the program is finite, and no bits of NaNs matter.
    pub finite: bool,
}

impl<'s> Builder<'s> {
    pub fn new(settings: &'s Settings, weights: Weights, class: Class, rng: Rng) -> Self {
        let mut program = Program::default();
        program.main.name = "main".to_string();
        Builder {
            settings,
            weights,
            rng,
            class,
            program,
            done: Vec::new(),
            before: Vec::new(),
            body: Vec::new(),
            after: Vec::new(),
            last: Vec::new(),
            live: Vec::new(),
            place: Context::Max { vls: Vec::new() },
            len: 1,
            inputs: Vec::new(),
            rounds: 0,
            last_rounds: 0,
            is_inside: false,
            shorter: 0,
            finite: false,
        }
    }

    pub fn chance(&mut self, weight: f64) -> bool {
        self.rng.chance(weight)
    }

    /// A new variable.
    pub fn var(&mut self, ty: Type) -> Var {
        let prefix = match ty {
            Type::Vector(v) if v.nf > 1 => "t",
            Type::Vector(_) => "v",
            Type::Mask(_) => "m",
            _ => "s",
        };
        let name = format!("{prefix}{}", self.program.main.vars.len());
        self.program.main.var(name, ty)
    }

    /// An opaque scalar with this value.
    pub fn param(&mut self, ty: Type, value: u64) -> Var {
        let name = format!("p{}", self.program.main.vars.len());
        let var = self.program.main.var(name, ty);
        self.program.params.push((var, value));
        var
    }

    /// A number: a literal or an opaque parameter.
    pub fn number(&mut self, value: u64) -> Expr {
        if self.chance(self.weights.literal) {
            Expr::Const(value)
        } else {
            Expr::Var(self.param(Type::Size, value))
        }
    }

    pub fn buffer(&mut self, kind: BufferKind, elem: Elem, len: usize, init: Init) -> usize {
        let prefix = if kind == BufferKind::Out { "out" } else { "in" };
        let name = format!("{prefix}{}", self.program.buffers.len());
        self.program.buffers.push(Buffer {
            name,
            elem,
            truths: false,
            len: len.max(1),
            dims: Vec::new(),
            kind,
            init,
        });
        self.program.buffers.len() - 1
    }

    /// A buffer of values to compute on.
    pub fn input(&mut self, elem: Elem, len: usize) -> usize {
        let distribution = if self.finite && elem.is_float() {
            Distribution::Small
        } else if self.chance(self.weights.corner) {
            *self.rng.pick(&[Distribution::Corner, Distribution::Mix]).unwrap_or(&Distribution::Mix)
        } else {
            *self.rng.pick(&[Distribution::Bits, Distribution::Small]).unwrap_or(&Distribution::Bits)
        };
        let init = Init::Seed(self.rng.bits() >> 32, distribution);
        let kind = if self.chance(self.weights.constant) { BufferKind::Const } else { BufferKind::Data };
        let buffer = self.buffer(kind, elem, len, init);
        self.inputs.push(buffer);
        buffer
    }

    pub fn output(&mut self, elem: Elem, len: usize) -> usize {
        self.buffer(BufferKind::Out, elem, len, Init::Zero)
    }

    /// How a call of this ratio is made here.
    pub fn span(&mut self, ratio: u32) -> Span {
        let one = Span { vl: Expr::Const(1), count: 1, index: None };
        match &self.place {
            // A type of a larger ratio has fewer elements than the strip may have: element 0 alone.
            Context::Strip { .. } | Context::Fixed { .. } if ratio > self.class.ratio => one,
            Context::Strip { index, vl, count } => {
                Span { vl: Expr::Var(*vl), count: *count, index: Some(*index) }
            }
            Context::Fixed { vl, count } => Span { vl: vl.clone(), count: *count, index: None },
            Context::Max { vls } => {
                let known = vls.iter().find(|(r, _)| *r == ratio).map(|(_, var)| *var);
                let count = (self.settings.largest_vlen() / ratio) as usize;
                let var = match known {
                    Some(var) => var,
                    None => {
                        let setvlmax = &Lookup::get().setvlmax[&ratio];
                        let intrinsic = setvlmax[self.rng.below(setvlmax.len())];
                        let dst = self.var(Type::Size);
                        let call = Call { dst: Some(dst), intrinsic, overloaded: false, args: Vec::new() };
                        self.before.push(Stmt::Call(call));
                        if let Context::Max { vls } = &mut self.place {
                            vls.push((ratio, dst));
                        }
                        dst
                    }
                };
                Span { vl: Expr::Var(var), count, index: None }
            }
        }
    }

    /// A value of this type that is there already: a result rather than what was loaded, one that has not
    /// been used rather than another, and the end of a long chain rather than of a short one.
    pub fn find_live(&mut self, ty: Type, defined: bool) -> Option<Live> {
        let fits: Vec<Live> =
            self.live.iter().copied().filter(|l| l.ty == ty && (l.defined || !defined)).collect();
        let results: Vec<Live> = fits.iter().copied().filter(|l| l.chain > 0).collect();
        if results.is_empty() || self.rng.below(16) == 0 {
            return self.rng.pick(&fits).copied();
        }
        match self.rng.below(4) {
            0 => self.rng.pick(&results).copied(),
            1 => {
                let unused: Vec<Live> = results.iter().copied().filter(|l| !l.used).collect();
                self.rng.pick(&unused).or_else(|| results.last()).copied()
            }
            _ => results.iter().max_by_key(|l| l.chain).copied(),
        }
    }

    /// The longest chain that a variable ends.
    pub fn chain(&self, var: Var) -> u32 {
        self.live.iter().rev().find(|l| l.var == var).map_or(0, |l| l.chain)
    }

    /// Notes that a value is of use.
    pub fn mark_used(&mut self, var: Var) {
        self.live.iter_mut().filter(|l| l.var == var).for_each(|l| l.used = true);
    }

    pub fn is_defined(&self, arg: &Arg) -> bool {
        match arg {
            Arg::Var(var) => self.live.iter().rev().find(|l| l.var == *var).is_none_or(|l| l.defined),
            _ => true,
        }
    }

    /// Where a result goes: a new variable, or one whose value has been used.
    pub fn destination(&mut self, ty: Type) -> Var {
        if self.chance(self.weights.overwrite) {
            let old = |l: &&Live| l.ty == ty && l.used && !l.persists;
            let found: Vec<Var> = self.live.iter().filter(old).map(|l| l.var).collect();
            if let Some(var) = self.rng.pick(&found) {
                return *var;
            }
        }
        self.var(ty)
    }

    /// Notes what a variable holds from now on: what was loaded or made of something loaded.
    pub fn assign(&mut self, var: Var, ty: Type, defined: bool) {
        self.assign_result(var, ty, defined, 0);
    }

    /// Notes what a variable holds from now on: the end of a chain of so many operations.
    pub fn assign_result(&mut self, var: Var, ty: Type, defined: bool, chain: u32) {
        self.live.retain(|l| l.var != var);
        self.live.push(Live { var, ty, defined, chain, used: false, persists: false });
    }
}

/// An expression as an argument: a variable alone is one as it is.
pub fn arg(expr: Expr) -> Arg {
    match expr {
        Expr::Var(var) => Arg::Var(var),
        expr => Arg::Expr(expr),
    }
}
