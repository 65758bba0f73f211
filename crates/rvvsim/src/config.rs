//! Everything about a run that is a choice: one value, passed in.

pub use crate::turns::Schedule;
use rvv_isa::Isa;
use std::fmt;
use std::num::NonZeroU32;

/// What happens to agnostic elements. The manual (section "Vector Tail Agnostic and Vector Mask
/// Agnostic") lets an implementation keep each one or overwrite it with ones, by any pattern.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Agnostic {
    /// Keep the old value.
    #[default]
    Undisturbed,
    /// Overwrite with all ones.
    Ones,
    /// Overwrite with ones up to the end of the last register the body touched; further registers of
    /// the group keep their values, as in cores that rename single registers.
    OnesToRegister,
    /// Each element by the toss of a coin, seeded.
    Random(u64),
}

/// As `--tail` and `--mask` take it.
impl fmt::Display for Agnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Agnostic::Undisturbed => f.write_str("undisturbed"),
            Agnostic::Ones => f.write_str("ones"),
            Agnostic::OnesToRegister => f.write_str("ones-to-register"),
            Agnostic::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

/// Which `vl` a `vset{i}vl{i}` returns where VLMAX < AVL < 2·VLMAX leaves a choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VlChoice {
    /// VLMAX.
    #[default]
    Max,
    /// ⌈AVL/2⌉, the least the manual allows.
    Half,
    /// Anything between, seeded.
    Random(u64),
}

/// As `--vl` takes it.
impl fmt::Display for VlChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VlChoice::Max => f.write_str("max"),
            VlChoice::Half => f.write_str("half"),
            VlChoice::Random(seed) => write!(f, "random:{seed}"),
        }
    }
}

/// What `vsetvli x0, x0` that would change VLMAX does. The manual reserves it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum VsetvlX0 {
    /// Set `vill`.
    #[default]
    Vill,
    /// Keep `vl` as it is, whatever the new VLMAX.
    Keep,
    /// Keep `vl` but not above the new VLMAX.
    Clamp,
}

/// In which order an unordered floating-point sum adds. The manual (norm:vfredusum_op) lets an implementation
/// choose any tree that is the same for the same `vtype` and `vl`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UnorderedSum {
    /// From the scalar, element by element, as the ordered sum.
    #[default]
    InOrder,
    /// The upper half to the lower half until one is left, and the scalar last.
    Tree,
}

/// What executes the guest.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum EngineChoice {
    /// The interpreter, and host code for what runs often, where the host can have it.
    #[default]
    Auto,
    /// The interpreter alone.
    Interpreter,
    /// As `Auto`, and it is an error if the host cannot have host code.
    Jit,
    /// Both, block by block, comparing what they did.
    Check,
}

/// The choices a [`crate::Machine`] is made with.
#[derive(Clone, Debug)]
pub struct Config {
    /// The extensions that exist; everything else is an illegal instruction.
    pub isa: Isa,
    /// Vector register length in bits: a power of two from 128 to 65536 (from 32 with a `Zve*` ISA).
    pub vlen: u32,
    /// Guest memory in bytes. Host memory is taken as the guest touches it.
    pub mem: u64,
    /// Decoded blocks to keep: with one more all are forgotten, so that a guest that makes code without end
    /// does not make the emulator grow without end. No program runs differently for it but in time.
    pub most_blocks: u32,
    /// Stop after this many instructions.
    pub max_insns: Option<u64>,
    /// Tail-agnostic elements.
    pub tail: Agnostic,
    /// Masked-off elements under mask-agnostic.
    pub mask: Agnostic,
    /// The freedom in `vsetvl`.
    pub vl: VlChoice,
    /// Where `vl` is chosen, it is VLMAX or a multiple of this. `None`: of EGSMAX, the largest element group
    /// of the instructions there are, as norm:egs_vl_avl asks for. A program that executes none of them
    /// runs the same with and without them, so it may be run with 1.
    pub vl_multiple: Option<NonZeroU32>,
    /// The reserved `vsetvli x0, x0`.
    pub vsetvl_x0: VsetvlX0,
    /// Does not raise illegal instructions for two things that are reserved and that common hardware runs:
    /// a vector register that is a source with two EEWs (norm:vreg_source_eew_rsv), each operand then reading
    /// it with its own; and `vstart` past the largest element index of the `vtype` (norm:vstart_val_rsv),
    /// with which no element is written. Whole-register instructions with `vstart` ≥ `evl`, and all else that
    /// is reserved, trap as ever.
    pub lenient: bool,
    /// Scalar loads and stores need not be aligned; otherwise they trap.
    pub misaligned: bool,
    /// The order of unordered floating-point sums.
    pub unordered_sum: UnorderedSum,
    /// Arithmetic takes any `vstart`. Otherwise it is illegal with one that is not zero, as on cores that never
    /// leave one behind: only loads and stores can be resumed.
    pub vstart_in_arithmetic: bool,
    /// A segment load that traps midway has written the fields before (norm:vector_ls_seg_partial_access);
    /// otherwise none of that segment.
    pub partial_segments: bool,
    /// Bare metal: how many harts there are, at least one.
    pub harts: u32,
    /// Bare metal: how they take turns.
    pub schedule: Schedule,
    /// What executes the guest.
    pub engine: EngineChoice,
    /// A block that ran so often becomes host code.
    pub jit_threshold: u32,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            isa: Isa::rva23u64(),
            vlen: 128,
            mem: 2 << 30,
            most_blocks: most_blocks(),
            max_insns: None,
            tail: Agnostic::default(),
            mask: Agnostic::default(),
            vl: VlChoice::default(),
            vl_multiple: None,
            vsetvl_x0: VsetvlX0::default(),
            lenient: false,
            misaligned: true,
            unordered_sum: UnorderedSum::default(),
            vstart_in_arithmetic: true,
            partial_segments: true,
            harts: 1,
            // As Spike's harts do: they wait for one another in loops more often than threads do.
            schedule: Schedule::RoundRobin(5000),
            engine: engine(),
            jit_threshold: jit_threshold(),
        }
    }
}

/// A block takes about a kilobyte. Where debug assertions are on, as in tests, the environment may say
/// another number: so every test can be run with a cache that is always full.
fn most_blocks() -> u32 {
    if cfg!(debug_assertions)
        && let Ok(number) = std::env::var("RVVSIM_MOST_BLOCKS")
    {
        return number.parse().expect("RVVSIM_MOST_BLOCKS is a number of blocks");
    }
    1 << 18
}

/// As [`most_blocks`]: so every test can be run by host code alone (`RVVSIM_ENGINE=jit`, threshold 0) or by
/// both engines.
fn engine() -> EngineChoice {
    if cfg!(debug_assertions)
        && let Ok(name) = std::env::var("RVVSIM_ENGINE")
    {
        return match name.as_str() {
            "auto" => EngineChoice::Auto,
            "jit" => EngineChoice::Jit,
            "check" => EngineChoice::Check,
            _ => EngineChoice::Interpreter,
        };
    }
    EngineChoice::default()
}

/// By then the time that compiling takes is less than what it saves.
fn jit_threshold() -> u32 {
    if cfg!(debug_assertions)
        && let Ok(number) = std::env::var("RVVSIM_JIT_THRESHOLD")
    {
        return number.parse().expect("RVVSIM_JIT_THRESHOLD is a number of runs");
    }
    64
}
