//! Generation policies: small biases that add up.

use crate::rng::Rng;

macro_rules! biases {
    ($( $(#[doc = $doc:literal])* $field:ident / $variant:ident = $name:literal : $default:literal, )*) => {
        /// How likely each kind of choice is, from 0 to 1.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Weights {
            $( $(#[doc = $doc])* pub $field: f64, )*
        }

        /// One of the [`Weights`], by name.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum Bias {
            $( $(#[doc = $doc])* $variant, )*
        }

        impl Default for Weights {
            fn default() -> Self {
                Weights { $( $field: $default, )* }
            }
        }

        impl Bias {
            /// All of them.
            pub const ALL: &[Bias] = &[ $( Bias::$variant, )* ];

            /// As files spell it.
            pub fn name(self) -> &'static str {
                match self { $( Bias::$variant => $name, )* }
            }

            /// What happens with that likelihood.
            pub fn description(self) -> &'static str {
                match self { $( Bias::$variant => concat!($($doc),*).trim(), )* }
            }

            /// From [`Bias::name`].
            pub fn from_name(name: &str) -> Option<Bias> {
                match name { $( $name => Some(Bias::$variant), )* _ => None }
            }
        }

        impl Weights {
            /// The weight.
            pub fn get(&self, bias: Bias) -> f64 {
                match bias { $( Bias::$variant => self.$field, )* }
            }

            /// Changes a weight; it is kept between 0 and 1.
            pub fn set(&mut self, bias: Bias, weight: f64) {
                let weight = weight.clamp(0.0, 1.0);
                match bias { $( Bias::$variant => self.$field = weight, )* }
            }
        }
    };
}

biases! {
    /// An operand is a value that is there already rather than a fresh load.
    reuse / Reuse = "reuse": 0.9,
    /// An operand that is not there is computed by another operation rather than loaded.
    produce / Produce = "produce": 0.6,
    /// A def-use pair is made that the plan deals out to a region.
    pairs / Pairs = "pairs": 0.9,
    /// Each weight of a program is left out, kept or doubled: programs differ in what they are full of.
    swarm / Swarm = "swarm": 0.7,
    /// A result is stored at once, rather than at the end if nothing has used it by then.
    visible / Visible = "store-at-once": 0.3,
    /// Values are made before the loops and used in them.
    outside / Outside = "outside": 0.5,
    /// A strip loop is inside the one before it.
    inside / Inside = "strip-in-strip": 0.15,
    /// A result overwrites a variable rather than making a new one.
    overwrite / Overwrite = "overwrite": 0.3,
    /// A result is kept in use for the rest of the program rather than only stored: long live ranges.
    keep / Keep = "keep": 0.1,
    /// A vector is loaded and stored as a field of a tuple.
    segments / Segments = "segments": 0.3,
    /// What a load leaves undisturbed comes from a load of any kind rather than a plain one.
    chain / Chain = "chain-loads": 0.5,
    /// A result is not used at all: compilers stumble over dead code too.
    dead / Dead = "dead": 0.03,
    /// A result is reduced, too.
    reduce / Reduce = "reduce": 0.02,
    /// A result is slid, gathered or compressed, too: over the end of the strip as well.
    permute / Permute = "permute": 0.02,
    /// Element 0 of a result is set to a scalar, too.
    element / Element = "element": 0.02,
    /// A result gets another type by vlmul_ext, vlmul_trunc or vreinterpret, which is not used or is undone.
    reshape / Reshape = "reshape": 0.04,
    /// A mask comes from a comparison rather than from memory.
    compare / Compare = "compare-masks": 0.5,
    /// A call's vl is smaller than the strip's, so that the tail is visible in what follows.
    tails / Tails = "tails": 0.05,
    /// Each call of a pattern works on fewer elements than the one before.
    shrink / Shrink = "shrink": 0.15,
    /// All floating-point data of a program is finite, so that it can be compiled without flags for NaNs.
    finite / Finite = "finite": 0.2,
    /// The dynamic rounding mode is set before a call.
    set_frm / SetFrm = "set-frm": 0.05,
    /// A scalar is a literal that the compiler can fold rather than an opaque parameter.
    literal / Literal = "literals": 0.6,
    /// A buffer's contents are visible to the compiler.
    constant / Constant = "constants": 0.1,
    /// The length is opaque rather than a literal.
    opaque / Opaque = "opaque-length": 0.6,
    /// A program is a block with one vl rather than a strip-mined loop.
    block / Block = "block": 0.2,
    /// Such a block uses VLMAX rather than a small vl.
    vlmax / Vlmax = "vlmax": 0.3,
    /// The loop is inside another.
    nest / Nest = "nest": 0.1,
    /// A call is made in a new function, vectors passed and returned.
    function / Function = "function": 0.05,
    /// A call is made under a condition.
    branch / Branch = "branch": 0.05,
    /// A call that overwrites its result is made some times over, in a counted loop.
    repeat / Repeat = "repeat": 0.05,
    /// A run of statements is put into a branch with else, a counted loop or a function.
    several / Several = "several": 0.35,
    /// A strip loop is left when a number out of a vector or mask says so.
    exit / Exit = "early-exit": 0.15,
    /// A value goes through inline assembly, of which the compiler knows nothing.
    barrier / Barrier = "barrier": 0.02,
    /// Memory of the stack is taken, of a size that may be unknown.
    scratch / Scratch = "scratch": 0.03,
    /// A sequence that back ends fold, or nearly one.
    patterns / Patterns = "patterns": 0.4,
    /// A stride is negative.
    negative / Negative = "negative-stride": 0.2,
    /// A stride is 0.
    zero / Zero = "zero-stride": 0.1,
    /// A store goes to a buffer that another has written, overlapping it.
    overlap / Overlap = "overlap": 0.05,
    /// A load reads a buffer that another reads, one element off.
    stencil / Stencil = "stencil": 0.05,
    /// Operands are corner values rather than uniform bits.
    corner / Corner = "corner": 0.5,
    /// An accumulator lives from one strip to the next.
    carry / Carry = "carry": 0.1,
    /// A program is plain C on elements, for the compilers' vectorisers, rather than intrinsics.
    loops / Loops = "loops": 0.0,
    /// Programs are twins: one of intrinsics, the next one the same as a loop of plain C.
    twins / Twins = "twins": 0.0,
    /// A program tries operations on two operands of 8 bits on every pair of values.
    every_pair / EveryPair = "every-pair": 0.0,
    /// Of a program of plain C: relative weight of loops that compute element by element.
    loop_map / LoopMap = "loop-map": 0.7,
    /// Relative weight of nests of two and three loops.
    loop_nests / LoopNests = "loop-nests": 0.25,
    /// Relative weight of reductions.
    loop_reductions / LoopReductions = "loop-reductions": 0.25,
    /// Relative weight of stencils.
    loop_stencils / LoopStencils = "loop-stencils": 0.1,
    /// Relative weight of recurrences.
    loop_recurrences / LoopRecurrences = "loop-recurrences": 0.07,
    /// Relative weight of loops that end early.
    loop_search / LoopSearch = "loop-search": 0.04,
    /// Relative weight of scatters and histograms.
    loop_scatter / LoopScatter = "loop-scatter": 0.03,
    /// Relative weight of loops on fields of records.
    loop_interleaved / LoopInterleaved = "loop-interleaved": 0.1,
    /// Relative weight of loops on bytes: memcpy, memset, strlen, memchr.
    loop_bytes / LoopBytes = "loop-bytes": 0.08,
    /// Relative weight of groups of adjacent scalar statements.
    loop_slp / LoopSlp = "loop-slp": 0.2,
    /// Relative weight of vectors of fixed length, `vector_size` in C.
    loop_vectors / LoopVectors = "loop-vectors": 0.1,
    /// A statement in a loop is conditional.
    loop_conditions / LoopConditions = "loop-conditions": 0.2,
    /// Buffers of a program of plain C are fields of an array of structures.
    loop_structs / LoopStructs = "loop-structs": 0.2,
    /// A function works on floating point.
    loop_floats / LoopFloats = "loop-floats": 0.4,
    /// A function's buffers are parameters rather than globals.
    loop_pointers / LoopPointers = "loop-pointers": 0.5,
    /// A loop has a pragma.
    loop_pragmas / LoopPragmas = "loop-pragmas": 0.05,
    /// A subscript that may be a modulo of the counter is one.
    loop_modulo / LoopModulo = "loop-modulo": 0.25,
    /// A subscript that may be read from a buffer is.
    loop_indirect / LoopIndirect = "loop-indirect": 0.5,
    /// Buffers that were written are read and written again.
    loop_reuse / LoopReuse = "loop-reuse": 0.2,
    /// A loop calls a small function.
    loop_calls / LoopCalls = "loop-calls": 0.4,
    /// An operand is computed from what stays the same all through a loop.
    loop_invariants / LoopInvariants = "loop-invariants": 0.3,
    /// The inner loop of a nest is short, and the compiler sees how often it runs.
    loop_short / LoopShort = "loop-short": 0.3,
    /// A condition in a loop is on its counter or on what stays the same.
    loop_guards / LoopGuards = "loop-guards": 0.6,
    /// A value of a loop's last round is used after it.
    loop_live_outs / LoopLiveOuts = "loop-live-outs": 0.2,
    /// What a reduction accumulates is an element rather than a variable.
    loop_cells / LoopCells = "loop-cells": 0.4,
    /// A group of adjacent statements is a sum of lanes.
    loop_lane_sums / LoopLaneSums = "loop-lane-sums": 0.25,
    /// Programs of plain C, 32 in a row, let compilers contract products and sums.
    loop_contract / LoopContract = "loop-contract": 0.05,
    /// Some vector variables of a program have a fixed length where the compiler knows VLEN.
    fixed_vectors / FixedVectors = "fixed-vectors": 0.1,
    /// A program of plain C is written without a policy: every alternative of the grammar is as likely.
    loop_unguided / LoopUnguided = "loop-unguided": 0.0,
    /// A program is drawn from a table of what people write.
    human / Human = "human": 0.0,
}

/// A named policy: its name, what it is for, and what it changes in the default weights.
pub type NamedPolicy = (&'static str, &'static str, &'static [(Bias, f64)]);

/// The named policies.
pub const POLICIES: &[NamedPolicy] = &[
    ("default", "a bit of everything", &[]),
    (
        "plain",
        "strip-mined loops one after the other, nothing reused",
        &[
            (Bias::Reuse, 0.0),
            (Bias::Produce, 0.0),
            (Bias::Pairs, 0.0),
            (Bias::Swarm, 0.0),
            (Bias::Visible, 1.0),
            (Bias::Outside, 0.0),
            (Bias::Inside, 0.0),
            (Bias::Overwrite, 0.0),
            (Bias::Tails, 0.0),
            (Bias::Shrink, 0.0),
            (Bias::SetFrm, 0.0),
            (Bias::Block, 0.0),
            (Bias::Nest, 0.0),
            (Bias::Function, 0.0),
            (Bias::Branch, 0.0),
            (Bias::Repeat, 0.0),
            (Bias::Several, 0.0),
            (Bias::Exit, 0.0),
            (Bias::Barrier, 0.0),
            (Bias::Scratch, 0.0),
            (Bias::Patterns, 0.0),
            (Bias::Overlap, 0.0),
            (Bias::Stencil, 0.0),
            (Bias::Carry, 0.0),
            (Bias::Reduce, 0.0),
            (Bias::Permute, 0.0),
            (Bias::Element, 0.0),
            (Bias::Reshape, 0.0),
        ],
    ),
    ("rounding", "the rounding mode changes between operations", &[(Bias::SetFrm, 0.5)]),
    (
        "spill",
        "long live ranges, more values than registers",
        &[(Bias::Keep, 0.9), (Bias::Outside, 1.0), (Bias::Overwrite, 0.0)],
    ),
    (
        "chain",
        "results feed what follows: undisturbed chains",
        &[(Bias::Reuse, 1.0), (Bias::Produce, 0.9), (Bias::Overwrite, 0.7)],
    ),
    ("masks", "masks from comparisons", &[(Bias::Compare, 0.9)]),
    (
        "tails",
        "tails read after vl shrinks and grows, chains on fewer and fewer elements",
        &[(Bias::Tails, 0.5), (Bias::Shrink, 0.8), (Bias::Patterns, 0.7)],
    ),
    ("strides", "stride 0 and negative", &[(Bias::Negative, 0.5), (Bias::Zero, 0.3)]),
    ("overlap", "buffers that overlap, stencils", &[(Bias::Overlap, 0.5), (Bias::Stencil, 0.5)]),
    (
        "opaque",
        "nothing the compiler can see",
        &[(Bias::Opaque, 1.0), (Bias::Literal, 0.0), (Bias::Constant, 0.0)],
    ),
    (
        "fold",
        "everything the compiler can see",
        &[(Bias::Opaque, 0.0), (Bias::Literal, 1.0), (Bias::Constant, 0.8)],
    ),
    (
        "control",
        "functions, branches, nests",
        &[
            (Bias::Function, 0.3),
            (Bias::Branch, 0.3),
            (Bias::Nest, 0.5),
            (Bias::Repeat, 0.5),
            (Bias::Several, 0.9),
            (Bias::Exit, 0.5),
        ],
    ),
    (
        "barriers",
        "inline assembly between operations, memory of the stack beside vectors",
        &[(Bias::Barrier, 0.3), (Bias::Scratch, 0.5)],
    ),
    (
        "patterns",
        "sequences that back ends fold, and near misses",
        &[(Bias::Patterns, 1.0), (Bias::Pairs, 0.2)],
    ),
    ("carry", "accumulators that live from strip to strip", &[(Bias::Carry, 0.9), (Bias::Block, 0.0)]),
    ("reductions", "results are reduced", &[(Bias::Reduce, 0.9)]),
    ("permutations", "results are slid and gathered, over the end of the strip", &[(Bias::Permute, 0.9)]),
    ("elements", "element 0 of results is set to scalars", &[(Bias::Element, 0.9)]),
    ("shapes", "results change their type, and are not used", &[(Bias::Reshape, 0.9), (Bias::Dead, 0.2)]),
    (
        "segments",
        "tuples: segment loads and stores, vcreate, vget",
        &[(Bias::Segments, 0.9), (Bias::Reuse, 0.6)],
    ),
    (
        "every-pair",
        "operations on two operands of 8 bits, on all 65 536 pairs of values",
        &[(Bias::EveryPair, 1.0)],
    ),
    ("human", "what people write: drawn from a table of what libraries do", &[(Bias::Human, 1.0)]),
    ("twins", "lane by lane: a program of intrinsics, then the same in plain C", &[(Bias::Twins, 1.0)]),
    ("loops", "plain C for the vectorisers, a bit of everything", &[(Bias::Loops, 1.0)]),
    (
        "reductions-in-c",
        "plain C: reductions",
        &[(Bias::Loops, 1.0), (Bias::LoopReductions, 1.0), (Bias::LoopMap, 0.1), (Bias::LoopSlp, 0.0)],
    ),
    (
        "stencils",
        "plain C: stencils and recurrences",
        &[
            (Bias::Loops, 1.0),
            (Bias::LoopStencils, 1.0),
            (Bias::LoopRecurrences, 0.7),
            (Bias::LoopMap, 0.1),
            (Bias::LoopSlp, 0.0),
        ],
    ),
    (
        "search",
        "plain C: loops that end early, byte loops",
        &[
            (Bias::Loops, 1.0),
            (Bias::LoopSearch, 1.0),
            (Bias::LoopBytes, 0.5),
            (Bias::LoopMap, 0.1),
            (Bias::LoopSlp, 0.0),
        ],
    ),
    (
        "slp",
        "plain C: groups of adjacent scalar statements",
        &[
            (Bias::Loops, 1.0),
            (Bias::LoopSlp, 1.0),
            (Bias::LoopMap, 0.0),
            (Bias::LoopNests, 0.0),
            (Bias::LoopReductions, 0.0),
            (Bias::LoopStencils, 0.0),
            (Bias::LoopRecurrences, 0.0),
            (Bias::LoopSearch, 0.0),
            (Bias::LoopScatter, 0.0),
            (Bias::LoopInterleaved, 0.0),
            (Bias::LoopBytes, 0.0),
            (Bias::LoopVectors, 0.0),
        ],
    ),
    (
        "fixed-length",
        "plain C: vector_size types, shuffles, conversions, inserted lanes",
        &[
            (Bias::Loops, 1.0),
            (Bias::LoopVectors, 1.0),
            (Bias::LoopMap, 0.1),
            (Bias::LoopNests, 0.0),
            (Bias::LoopReductions, 0.1),
            (Bias::LoopSlp, 0.1),
        ],
    ),
    (
        "contract",
        "plain C: products that compilers may contract with sums",
        &[(Bias::Loops, 1.0), (Bias::LoopContract, 1.0)],
    ),
    (
        "fixed-vectors",
        "vectors of a length that the compiler knows, as operands of intrinsics",
        &[(Bias::FixedVectors, 1.0)],
    ),
    (
        "unguided",
        "plain C without a policy: what the others are measured against",
        &[(Bias::Loops, 1.0), (Bias::LoopUnguided, 1.0)],
    ),
    (
        "records",
        "plain C: fields of records, strides, indirect subscripts",
        &[
            (Bias::Loops, 1.0),
            (Bias::LoopInterleaved, 1.0),
            (Bias::LoopStructs, 0.8),
            (Bias::LoopScatter, 0.5),
            (Bias::LoopIndirect, 0.7),
            (Bias::LoopModulo, 0.7),
            (Bias::LoopMap, 0.2),
            (Bias::LoopSlp, 0.0),
        ],
    ),
];

/// What is wrong with a file of weights.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WeightsError {
    /// It is no TOML.
    #[error("not TOML: {0}")]
    Toml(String),
    /// There is no such weight.
    #[error("there is no weight `{name}`; there are {}", known.join(", "))]
    Unknown {
        /// What the file says.
        name: String,
        /// What it could say.
        known: Vec<&'static str>,
    },
    /// It is no number from 0 to 1.
    #[error("`{0}` must be a number from 0 to 1")]
    Range(String),
}

impl Weights {
    /// Changes the weights that a file names: TOML, `name = weight` in each line.
    ///
    /// # Errors
    /// See [`WeightsError`].
    pub fn read(&mut self, text: &str) -> Result<(), WeightsError> {
        let table: toml::Table = text
            .parse()
            .map_err(|e: toml::de::Error| WeightsError::Toml(e.to_string().trim_end().replace('\n', "; ")))?;
        for (name, value) in &table {
            let known = || Bias::ALL.iter().map(|b| b.name()).collect();
            let bias = Bias::from_name(name)
                .ok_or_else(|| WeightsError::Unknown { name: name.clone(), known: known() })?;
            let number = value.as_float().or_else(|| value.as_integer().map(|n| n as f64));
            match number.filter(|n| (0.0..=1.0).contains(n)) {
                Some(weight) => self.set(bias, weight),
                None => return Err(WeightsError::Range(name.clone())),
            }
        }
        Ok(())
    }

    /// Changes what a named policy changes. False if there is none of that name.
    pub fn apply(&mut self, name: &str) -> bool {
        let Some((_, _, changes)) = POLICIES.iter().find(|(n, ..)| *n == name) else { return false };
        for &(bias, weight) in *changes {
            self.set(bias, weight);
        }
        true
    }

    /// The weights of one program: those of rare things left out, kept or doubled, now and then.
    pub(crate) fn skewed(&self, rng: &mut Rng) -> Weights {
        let mut weights = self.clone();
        if !rng.chance(self.swarm) {
            return weights;
        }
        // Whether a program tries every pair was decided before; it has no structures.
        let others = |b: &&Bias| {
            !matches!(
                b,
                Bias::EveryPair | Bias::LoopStructs | Bias::LoopContract | Bias::FixedVectors | Bias::Human
            )
        };
        for &bias in Bias::ALL.iter().filter(others) {
            let factor = [0.0, 1.0, 1.0, 2.0][rng.below(4)];
            let weight = self.get(bias);
            if weight < 0.5 {
                weights.set(bias, weight * factor);
            }
        }
        weights
    }

    /// The weights of a named policy.
    pub fn policy(name: &str) -> Option<Weights> {
        let mut weights = Weights::default();
        weights.apply(name).then_some(weights)
    }
}
