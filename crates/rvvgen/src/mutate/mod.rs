//! Mutation of programs: a small change of a program that has a meaning makes another one that has.
//!
//! A mutator changes the IR; static rules and evaluation then say what of it has no meaning, and that is taken
//! out, as the generator does it (`mend.rs`). So every mutant is valid and has its truth. What was changed is
//! known by its places in the mutant, so that the next mutation can be near it.

mod calls;
mod constants;
mod control;
mod draft;
mod expressions;
mod index;
mod loops;
mod scope;
mod splice;
#[cfg(test)]
mod tests;
mod types;
mod visible;

use crate::follow::Followed;
use crate::generate::{Generated, Settings, never_fixed};
use crate::mend::{Mended, meanings, mend};
use crate::rng::Rng;
use draft::Draft;
use rvv_ir::tidy::nodes;
use rvv_ir::{Node, Program, Var};
use rvv_oracle::EvalError;

macro_rules! mutators {
    ($( $(#[doc = $doc:literal])* $variant:ident = $name:literal, $weight:literal; )*) => {
        /// A way to change a program.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Mutator {
            $( $(#[doc = $doc])* $variant, )*
        }

        impl Mutator {
            /// All of them.
            pub const ALL: &[Mutator] = &[ $( Mutator::$variant, )* ];

            /// As tables and options spell it.
            pub fn name(self) -> &'static str {
                match self { $( Mutator::$variant => $name, )* }
            }

            /// What it does.
            pub fn about(self) -> &'static str {
                match self { $( Mutator::$variant => concat!($($doc),*).trim_ascii(), )* }
            }

            /// How often it is drawn.
            fn weight(self) -> usize {
                match self { $( Mutator::$variant => $weight, )* }
            }
        }
    };
}

mutators! {
    /// One more operation on what is there; its result is used or stored.
    Insert = "insert", 4;
    /// One operation or statement less.
    Delete = "delete", 2;
    /// Another operation of the same signature.
    Replace = "replace", 3;
    /// Another form of a call: masked or not, another policy, with a rounding mode or without.
    Variant = "variant", 3;
    /// The other name of an intrinsic, overloaded or explicit.
    Spelling = "spelling", 1;
    /// Another operand of the same type, or another buffer.
    Operand = "operand", 3;
    /// Another literal: an operand, an immediate, a rounding mode, a stride, what is compared with.
    Constant = "constant", 2;
    /// Another value of a parameter that the compiler does not see.
    Param = "param", 1;
    /// Other data in a buffer, or visible to the compiler.
    Data = "data", 1;
    /// A chain computes in another SEW, LMUL or signedness; a buffer or scalar of plain C has another type.
    Type = "type", 2;
    /// Fewer elements for one call.
    Length = "length", 1;
    /// Another rounding mode for what follows.
    Rounding = "rounding", 1;
    /// Another trip count, step, bound or strip of a loop, known to the compiler or not.
    Trip = "trip", 2;
    /// The body of a loop twice, or its first round before it.
    Unroll = "unroll", 1;
    /// Statements come into a condition, a loop or a function.
    Wrap = "wrap", 2;
    /// Statements come out of a condition, a loop or a function.
    Unwrap = "unwrap", 1;
    /// What a compiler may do with a function, and knows of a variable, a loop or the stack.
    Flag = "flag", 1;
    /// Statements of another program, with what they need.
    Splice = "splice", 4;
}

impl Mutator {
    /// From [`Mutator::name`].
    pub fn from_name(name: &str) -> Option<Mutator> {
        Mutator::ALL.iter().copied().find(|m| m.name() == name)
    }

    fn run(self, draft: &mut Draft) -> Option<()> {
        type Way = fn(&mut Draft) -> Option<()>;
        let ways: &[Way] = match self {
            Mutator::Insert => &[calls::insert, expressions::insert],
            Mutator::Delete => &[calls::delete, expressions::delete],
            Mutator::Replace => &[calls::replace, expressions::replace],
            Mutator::Variant => &[calls::variant],
            Mutator::Spelling => &[calls::spelling],
            Mutator::Operand => &[calls::operand, expressions::operand, expressions::target],
            Mutator::Constant => &[constants::literal, expressions::constant],
            Mutator::Param => &[constants::param],
            Mutator::Data => &[constants::data],
            Mutator::Type => &[types::chain, types::element],
            Mutator::Length => &[calls::length],
            Mutator::Rounding => &[calls::rounding],
            Mutator::Trip => &[loops::trip],
            Mutator::Unroll => &[loops::unroll],
            Mutator::Wrap => &[control::wrap],
            Mutator::Unwrap => &[control::unwrap],
            Mutator::Flag => &[control::flag],
            Mutator::Splice => &[splice::splice],
        };
        // What fits intrinsics, and what fits plain C: the one that comes first is drawn.
        let first = draft.rng.below(ways.len());
        (0..ways.len()).find_map(|i| {
            let before = draft.at.clone();
            let done = ways[(first + i) % ways.len()](draft);
            if done.is_none() {
                draft.at = before;
            }
            done
        })
    }
}

/// How large programs may become, and how long it may take to evaluate one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Calls of intrinsics and assignments.
    pub operations: usize,
    /// Statements, blocks among them.
    pub statements: usize,
    /// Variables of all functions.
    pub vars: usize,
    /// Buffers.
    pub buffers: usize,
    /// Bytes of all buffers.
    pub bytes: usize,
    /// Steps of all evaluations of one mutant together, as the oracle counts them.
    pub steps: u64,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            operations: 400,
            statements: 1200,
            vars: 2400,
            buffers: 300,
            bytes: 1 << 20,
            steps: 8_000_000,
        }
    }
}

impl Bounds {
    /// What is too large, in words.
    fn exceeded(&self, program: &Program) -> Option<String> {
        let functions = || program.functions.iter().chain([&program.main]);
        let all = nodes(program);
        let bytes = program.buffers.iter().fold(0usize, |sum, b| sum.saturating_add(b.bytes()));
        let nested = all.iter().map(|n| n.path.len()).max().unwrap_or(0);
        let deep = all.iter().filter_map(|n| n.find(program)).map(expressions::nesting).max().unwrap_or(0);
        let sizes = [
            (program.work(), self.operations, "operations"),
            (all.len(), self.statements, "statements"),
            (functions().map(|f| f.vars.len()).sum(), self.vars, "variables"),
            (program.buffers.len(), self.buffers, "buffers"),
            (bytes, self.bytes, "bytes of buffers"),
            (nested, 2 * control::MOST_BLOCKS, "blocks in each other"),
            (deep, 2 * expressions::MOST_DEPTH, "operations in each other"),
        ];
        let over = sizes.into_iter().find(|(is, most, _)| is > most);
        over.map(|(is, most, what)| format!("it has {is} {what}; programs with at most {most} are mutated"))
    }
}

/// A mutant.
#[derive(Clone, Debug, PartialEq)]
pub struct Mutant {
    /// The program, what it prints at each VLEN, what was executed, and how much was mended.
    pub generated: Generated,
    /// What was done to its parent.
    pub mutator: Mutator,
    /// The statements that were changed or are new, and what reads what is gone: places in the mutant.
    pub touched: Vec<Node>,
    /// What it prints depends on what was changed, as far as that was tried.
    pub visible: bool,
    /// What was tried before it and came to nothing.
    pub misses: Vec<(Mutator, Miss)>,
}

/// Why a mutation came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Miss {
    /// The program has nothing to change in this way.
    #[error("there is nothing to change in this way")]
    NoPlace,
    /// Nothing is left of the change.
    #[error("nothing is left of the change")]
    Same,
    /// The program would be too large.
    #[error("the mutant would be too large: {0}")]
    TooLarge(String),
    /// It has no meaning, and what has none cannot be taken out, or takes too long to find.
    #[error("the mutant has no meaning: {0}")]
    Meaningless(EvalError),
    /// Its text is not read again: a bug.
    #[error("the mutant's text is not read again: {0}; this is a bug of rvvgen")]
    Unreadable(rvv_ir::ParseError),
    /// With what has no meaning, too much would go.
    #[error("with what has no meaning, {0} of {1} operations would go")]
    Lost(usize, usize),
}

/// Why a program has no mutant.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MutateError {
    /// It is no program.
    #[error("it breaks a rule, so it has no mutants: {0}")]
    Invalid(String),
    /// It is too large.
    #[error("it is too large: {0}")]
    TooLarge(String),
    /// Nothing that was tried made another program.
    #[error(
        "{0} mutations were tried, and none made another program; try another seed, or --with a second program"
    )]
    Nothing(usize),
}

/// Mutations tried for one mutant.
const TRIES: usize = 24;
/// Of a program's operations, so many stay at least: the rest of a percent may be mended away.
const STAY: usize = 50;
/// Lines of comment in a mutant.
const COMMENT: usize = 6;

/// A program to be mutated.
#[derive(Clone, Debug)]
pub struct Parent<'a> {
    program: &'a Program,
    /// A second program, from which statements may be taken.
    pub other: Option<&'a Program>,
    /// Places near which most mutations are to be: what was touched last. None: anywhere.
    pub focus: Vec<Node>,
    /// Where mutants must have a meaning, and what may come into them.
    pub settings: &'a Settings,
    /// How large they may become.
    pub bounds: Bounds,
}

impl<'a> Parent<'a> {
    /// A program to be mutated.
    ///
    /// # Errors
    /// It breaks a static rule, or is too large.
    pub fn new(program: &'a Program, settings: &'a Settings) -> Result<Parent<'a>, MutateError> {
        let bounds = Bounds::default();
        if let Some(what) = bounds.exceeded(program) {
            return Err(MutateError::TooLarge(what));
        }
        program.check().map_err(|e| MutateError::Invalid(e.to_string()))?;
        Ok(Parent { program, other: None, focus: Vec::new(), settings, bounds })
    }

    /// The same with a second program, from which statements may be taken.
    ///
    /// # Errors
    /// As [`Parent::new`], of the second.
    pub fn with(mut self, other: &'a Program) -> Result<Parent<'a>, MutateError> {
        if let Some(what) = self.bounds.exceeded(other) {
            return Err(MutateError::TooLarge(what));
        }
        other.check().map_err(|e| MutateError::Invalid(e.to_string()))?;
        self.other = Some(other);
        Ok(self)
    }

    /// The same with places near which most mutations are to be.
    #[must_use]
    pub fn near(self, focus: Vec<Node>) -> Parent<'a> {
        Parent { focus, ..self }
    }

    /// A mutant: the seed decides which.
    ///
    /// # Errors
    /// Nothing that was tried made another program.
    pub fn mutate(&self, seed: u64) -> Result<Mutant, MutateError> {
        let mut rng = Rng::new(&[seed, 0x6d75_7461_7465]);
        let mut misses: Vec<(Mutator, Miss)> = Vec::new();
        for _ in 0..TRIES {
            let mutator = self.draw(&mut rng);
            match self.attempt(mutator, rng.bits()) {
                Ok(mutant) => return Ok(Mutant { misses, ..mutant }),
                Err(miss) => misses.push((mutator, miss)),
            }
        }
        Err(MutateError::Nothing(misses.len()))
    }

    fn draw(&self, rng: &mut Rng) -> Mutator {
        let usable = || Mutator::ALL.iter().filter(|m| **m != Mutator::Splice || self.other.is_some());
        let mut at = rng.below(usable().map(|m| m.weight()).sum());
        for mutator in usable() {
            match at.checked_sub(mutator.weight()) {
                Some(rest) => at = rest,
                None => return *mutator,
            }
        }
        Mutator::Operand
    }

    /// One mutation by one mutator.
    ///
    /// # Errors
    /// Why it came to nothing.
    pub fn attempt(&self, mutator: Mutator, seed: u64) -> Result<Mutant, Miss> {
        let rng = Rng::new(&[seed, 0x6d75_7461_6e74]);
        let mut draft = Draft::new(self.program, self.other, &self.focus, self.settings, rng);
        mutator.run(&mut draft).ok_or(Miss::NoPlace)?;
        let mut followed = draft.at;
        honest(&mut followed.program);
        if is_same(&followed.program, self.program) {
            return Err(Miss::Same);
        }
        if let Some(what) = self.bounds.exceeded(&followed.program) {
            return Err(Miss::TooLarge(what));
        }
        let mut steps = self.bounds.steps;
        let Mended { mut generated, places } =
            mend(followed, self.settings, &mut steps).map_err(Miss::Meaningless)?;
        let mut followed = Followed { program: std::mem::take(&mut generated.program), places };
        let whole = followed.program.buffers.len();
        if !followed.tidy() {
            return Err(Miss::Lost(self.program.work(), self.program.work()));
        }
        if followed.program.buffers.len() != whole {
            // Buffers that nothing uses are printed no more.
            (generated.expected, generated.executed) =
                meanings(&followed.program, self.settings, &mut steps).map_err(Miss::Meaningless)?;
        }
        let Followed { program, mut places } = followed;
        // As it is read from a file: its variables are numbered in the order of their declarations.
        let program: Program = program.to_string().parse().map_err(Miss::Unreadable)?;
        let (before, after) = (self.program.work(), program.work());
        if after == 0 || after * 100 < before * STAY || generated.expected.iter().all(|e| e.is_empty()) {
            return Err(Miss::Lost(before.saturating_sub(after), before));
        }
        if is_same(&program, self.program) {
            return Err(Miss::Same);
        }
        places.retain(|p| p.find(&program).is_some());
        places.sort_by(|a, b| (a.function, &a.path).cmp(&(b.function, &b.path)));
        places.dedup();
        generated.program = program;
        let visible = visible::depends(self.program, &generated, &places, self.settings);
        generated.program.comment = self.comment(mutator, seed);
        Ok(Mutant { generated, mutator, touched: places, visible, misses: Vec::new() })
    }

    fn comment(&self, mutator: Mutator, seed: u64) -> Vec<String> {
        let mut lines = self.program.comment.clone();
        lines.push(format!("mutated: {} by seed {seed:#x}", mutator.name()));
        // Where it came from, and what was done last.
        if lines.len() > COMMENT {
            let cut = lines.len() - COMMENT;
            lines.drain(1..=cut);
        }
        lines
    }
}

/// Whether two programs are the same but for their comments.
fn is_same(one: &Program, other: &Program) -> bool {
    let text = |p: &Program| Program { comment: Vec::new(), ..p.clone() }.to_string();
    one == other || text(one) == text(other)
}

/// Takes back what no static rule forbids and yet would make a compiler right to differ: a fixed length of
/// what has none, a loop that is told to reorder floating-point operations, a `restrict` that is not kept.
fn honest(program: &mut Program) {
    for function in program.functions.iter_mut().chain([&mut program.main]) {
        let mut never = Vec::new();
        never_fixed(&function.body, &mut never);
        for (n, decl) in function.vars.iter_mut().enumerate() {
            decl.fixed &= decl.may_be_fixed() && !never.contains(&Var(n as u32));
        }
    }
    loops::honest_pragmas(program);
    control::honest_pointers(program);
}
