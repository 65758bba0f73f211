//! Generation policies: small biases that add up.

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
    reuse / Reuse = "reuse": 0.4,
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
}

/// A named policy: its name, what it is for, and what it changes in the default weights.
pub type NamedPolicy = (&'static str, &'static str, &'static [(Bias, f64)]);

/// The named policies.
pub const POLICIES: &[NamedPolicy] = &[
    ("default", "a bit of everything", &[]),
    (
        "plain",
        "one strip-mined loop, nothing reused",
        &[
            (Bias::Reuse, 0.0),
            (Bias::Overwrite, 0.0),
            (Bias::Tails, 0.0),
            (Bias::SetFrm, 0.0),
            (Bias::Block, 0.0),
            (Bias::Nest, 0.0),
            (Bias::Function, 0.0),
            (Bias::Branch, 0.0),
            (Bias::Repeat, 0.0),
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
        &[(Bias::Keep, 0.9), (Bias::Reuse, 0.7), (Bias::Overwrite, 0.0)],
    ),
    ("chain", "results feed what follows: undisturbed chains", &[(Bias::Reuse, 0.9), (Bias::Overwrite, 0.7)]),
    ("masks", "masks from comparisons", &[(Bias::Compare, 0.9)]),
    ("tails", "tails read after vl shrinks and grows", &[(Bias::Tails, 0.5), (Bias::Reuse, 0.7)]),
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
        &[(Bias::Function, 0.3), (Bias::Branch, 0.3), (Bias::Nest, 0.5), (Bias::Repeat, 0.5)],
    ),
    ("carry", "accumulators that live from strip to strip", &[(Bias::Carry, 0.9), (Bias::Block, 0.0)]),
    ("reductions", "results are reduced", &[(Bias::Reduce, 0.9)]),
    ("permutations", "results are slid and gathered, over the end of the strip", &[(Bias::Permute, 0.9)]),
    ("elements", "element 0 of results is set to scalars", &[(Bias::Element, 0.9)]),
    ("shapes", "results change their type, and are not used", &[(Bias::Reshape, 0.9), (Bias::Dead, 0.2)]),
    (
        "segments",
        "tuples: segment loads and stores, vcreate, vget",
        &[(Bias::Segments, 0.9), (Bias::Reuse, 0.5)],
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

    /// The weights of a named policy.
    pub fn policy(name: &str) -> Option<Weights> {
        let mut weights = Weights::default();
        weights.apply(name).then_some(weights)
    }
}
