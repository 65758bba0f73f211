//! The room for kernels: what an instruction computes, many elements at a time, compiled once for any host
//! and once for hosts with AVX2 and FMA.
//!
//! A kernel knows an operation and the widths of its elements, and nothing else: which elements are active,
//! what becomes of the others, whether an operand is a scalar, is the business of
//! [`body`](crate::vector::run::elements), which is compiled once for all of them. Operands and results are
//! places in the register file; a scalar, and elements that must not be touched, are put in a few places
//! after the last register.
//!
//! `unsafe` is the call of a function that was compiled for AVX2, after the host was found to have it; its
//! twin is the same function compiled without. And kernels get at the register file by pointers:
//! [`BoundKernel`] looks once, before a kernel is called, whether all that it may touch is there.

use crate::fp::{Flags, RoundingMode};
use crate::vector::run::element::Element;
use crate::vector::run::host::{AnyHost, Host};
#[cfg(target_arch = "x86_64")]
use crate::vector::run::host::{Avx, avx_features};
#[cfg(doc)]
use crate::vector::run::input::{FirstElement, TableSize};
use crate::vector::run::input::{Input, Meaning};

/// Places after the last register. A block may be read past the end of a group: these bytes are for that.
const OVERREAD: usize = 512;
/// Scalar operands, each as often as a block has elements. There are several, so that one that stays the same
/// from one time to the next, as in a loop, need not be put there again.
pub const SCALAR: usize = OVERREAD;
/// How many of them there are.
const SCALARS: usize = 32;
/// `vs2` of a block of which some elements are not active.
pub const PART_A: usize = SCALAR + 64 * SCALARS;
/// `vs1`, likewise.
pub const PART_B: usize = PART_A + 128;
/// The third operand, likewise.
pub const PART_D: usize = PART_B + 128;
/// The results of such a block: 64 elements.
pub const PART_OUT: usize = PART_D + 128;
/// All bytes after the last register.
pub const SLACK: usize = PART_OUT + 512 + OVERREAD;

/// Where the operands and results of a kernel are: offsets into
/// [`VectorState::regs`](crate::vector::VectorState::regs).
#[derive(Clone, Copy, Debug)]
pub struct Operands {
    /// Where the results go.
    pub out: usize,
    /// Where `vs2` is.
    pub a: usize,
    /// Where `vs1` or the scalar is.
    pub b: usize,
    /// Where the third operand is.
    pub d: usize,
    /// All ones; zero if `b` is one block of a scalar, for all blocks.
    pub each: usize,
    /// Floating-point: the sign bits to flip, of `a`, `b` and `d`.
    pub negate: [u64; 3],
}

impl Operands {
    /// Where the elements of `b` from `first` are, `size` bytes each.
    #[inline(always)]
    pub fn b_at(&self, first: usize, size: usize) -> usize {
        self.b + ((first * size) & self.each)
    }

    /// Whether `b` is a scalar.
    #[inline(always)]
    pub fn is_scalar(&self) -> bool {
        self.each == 0
    }
}

/// A compiled kernel: computes so many elements, in whole blocks of 16 bytes of results. The last argument is
/// the word of its [`Input`]. What it answers depends on the kernel: nothing, whether an element was
/// saturated, the bits of a mask, or how many elements it could do.
///
/// # Safety
/// The host must have what the kernel was compiled for: see [`KernelFns::pick`]. The pointer must be to a
/// register file that reaches as far as [`reach`] says.
pub type KernelFn = unsafe fn(*mut u8, &Operands, usize, u64) -> u64;

/// One element, exactly: the operands, the rounding mode, the flags. For what a floating-point kernel cannot
/// do.
pub type Slow = fn(u64, u64, u64, RoundingMode, &mut Flags) -> u64;

/// A kernel.
pub trait Kernel {
    /// The element of the result; of a kernel whose result is a mask, that of `vs2`.
    type D: Element;
    /// What it gets besides its operands.
    type Input: Input;
    /// The bytes of an element of `vs2` and of `vs1`.
    const SOURCES: [u8; 2];
    /// Whether it uses `out`, `a`, `b` and `d`.
    const USES: [bool; 4];
    /// Computes the elements.
    ///
    /// # Safety
    /// That of a [`KernelFn`].
    unsafe fn run<H: Host>(
        host: H,
        regs: *mut u8,
        operands: &Operands,
        count: usize,
        input: Self::Input,
    ) -> u64;
}

/// A kernel, compiled for any host and for a better one.
#[derive(Clone, Copy)]
pub struct KernelFns {
    any: KernelFn,
    #[cfg(target_arch = "x86_64")]
    avx2: KernelFn,
}

impl KernelFns {
    /// Those of a kernel.
    pub const fn of<K: Kernel>() -> KernelFns {
        KernelFns {
            any: any::<K>,
            #[cfg(target_arch = "x86_64")]
            avx2: avx2::<K>,
        }
    }

    /// The one for any host.
    #[cfg(test)]
    pub fn plain(&self) -> KernelFn {
        self.any
    }

    /// The best one for this host.
    pub fn pick(&self) -> KernelFn {
        #[cfg(target_arch = "x86_64")]
        if Avx::detect().is_some() {
            return self.avx2;
        }
        self.any
    }
}

unsafe fn any<K: Kernel>(regs: *mut u8, operands: &Operands, count: usize, word: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe { K::run(AnyHost, regs, operands, count, K::Input::of(word)) }
}

#[cfg(target_arch = "x86_64")]
macro_rules! compile_for {
    ($($feature:tt),+) => {
        $(#[target_feature(enable = $feature)])+
        unsafe fn avx2<K: Kernel>(regs: *mut u8, operands: &Operands, count: usize, word: u64) -> u64 {
            // SAFETY: this function is compiled for the features.
            let host = unsafe { Avx::of_caller() };
            // SAFETY: the caller's.
            unsafe { K::run(host, regs, operands, count, K::Input::of(word)) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
avx_features! { compile_for! }

/// How an instruction computes its elements.
pub struct KernelSpec {
    /// Its kernel.
    pub kernels: KernelFns,
    /// The bytes of an element of the result, of `vs2` and of `vs1`.
    pub sizes: [u8; 3],
    /// Whether it uses `out`, `a`, `b` and `d`.
    pub uses: [bool; 4],
    /// Floating-point: one element, exactly.
    pub slow: Slow,
    /// Reductions: the element that changes nothing.
    pub identity: u64,
    /// It may raise floating-point exceptions, and `slow` says what they are. For the tests.
    #[cfg(test)]
    pub is_float: bool,
    /// Floating-point: in which rounding mode the kernel may be used.
    pub fast: Fast,
    /// Floating-point: the mode that the instruction says, whatever `frm` is.
    pub rm: Option<RoundingMode>,
    /// Floating-point: the signs to flip before anything else is done.
    pub negate: Negated,
    /// The product is of `vs1` and `vd`, and `vs2` is the addend.
    pub swap: bool,
    /// What the kernel gets besides its operands.
    pub input: Meaning,
}

/// The operands whose signs are flipped, as the kernel sees them: `d` is the addend, which may be `vs2`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Negated {
    pub a: bool,
    pub b: bool,
    pub d: bool,
}

/// In which rounding mode a floating-point kernel does what the instruction says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fast {
    /// In every one.
    Always,
    /// In this one.
    In(RoundingMode),
    /// In none: there is no kernel.
    Never,
}

fn no_slow(_: u64, _: u64, _: u64, _: RoundingMode, _: &mut Flags) -> u64 {
    0
}

impl KernelSpec {
    /// Of a block that can do everything.
    pub const fn of<K: Kernel>() -> KernelSpec {
        KernelSpec {
            kernels: KernelFns::of::<K>(),
            sizes: [size_of::<K::D>() as u8, K::SOURCES[0], K::SOURCES[1]],
            uses: K::USES,
            slow: no_slow,
            identity: 0,
            #[cfg(test)]
            is_float: false,
            fast: Fast::Always,
            rm: None,
            negate: Negated { a: false, b: false, d: false },
            swap: false,
            input: K::Input::MEANING,
        }
    }

    /// Of a block for one rounding mode, and of what does the rest.
    pub const fn float<K: Kernel>(slow: Slow, fast: Fast) -> KernelSpec {
        KernelSpec {
            slow,
            fast,
            #[cfg(test)]
            is_float: true,
            ..KernelSpec::of::<K>()
        }
    }

    /// With the signs of operands flipped.
    pub const fn negating(self, negate: Negated) -> KernelSpec {
        KernelSpec { negate, ..self }
    }

    /// With `vs2` and `vd` in each other's role.
    pub const fn swapped(self) -> KernelSpec {
        KernelSpec { swap: true, ..self }
    }

    /// In this rounding mode, whatever `frm` is.
    pub const fn in_mode(self, rm: RoundingMode) -> KernelSpec {
        KernelSpec { rm: Some(rm), ..self }
    }
}

/// Where the last of `count` elements ends, of each place that a kernel uses; 0 of one that it does not. A
/// kernel computes whole blocks, of 16 elements at most.
#[inline(always)]
pub(in crate::vector) fn ends(
    sizes: [u8; 3],
    uses: [bool; 4],
    operands: &Operands,
    count: usize,
) -> [usize; 4] {
    let [sd, sa, sb] = sizes.map(|size| usize::from(size) * (count + 15));
    let ends = [
        operands.out + sd,
        operands.a + sa,
        operands.b + if operands.is_scalar() { 64 } else { sb },
        operands.d + sd,
    ];
    std::array::from_fn(|i| if uses[i] { ends[i] } else { 0 })
}

/// Where the last of them ends, of any place.
#[inline(always)]
fn reach(sizes: [u8; 3], uses: [bool; 4], operands: &Operands, count: usize) -> usize {
    ends(sizes, uses, operands, count).into_iter().fold(0, usize::max)
}

/// A kernel that is ready for all elements that an instruction may have.
#[derive(Clone, Copy)]
pub struct BoundKernel {
    /// What computes the elements, on this host.
    kernel: KernelFn,
    /// All of them.
    count: usize,
    /// What the kernel gets besides its operands.
    input: Meaning,
    /// The word for that if its caller gives none: the index of the first element, or the size of the table.
    word: u64,
    /// The size of the smallest register file it may be run on.
    file: usize,
    /// The same with an input that its caller gives: never, if that is the size of a table.
    file_with_input: usize,
    /// Where they are.
    operands: Operands,
    sizes: [u8; 3],
    uses: [bool; 4],
}

impl BoundKernel {
    /// For `count` elements, in these places.
    pub fn new(spec: &KernelSpec, operands: Operands, count: usize) -> BoundKernel {
        let file = reach(spec.sizes, spec.uses, &operands, count);
        let is_table = spec.input == Meaning::TableSize;
        BoundKernel {
            kernel: spec.kernels.pick(),
            count,
            input: spec.input,
            word: if is_table { count as u64 } else { 0 },
            file,
            file_with_input: if is_table { usize::MAX } else { file },
            operands,
            sizes: spec.sizes,
            uses: spec.uses,
        }
    }

    /// With another kernel for the same.
    #[cfg(test)]
    pub fn with(self, kernel: KernelFn) -> BoundKernel {
        BoundKernel { kernel, ..self }
    }

    /// Where the elements are.
    #[inline(always)]
    pub fn operands(&self) -> &Operands {
        &self.operands
    }

    #[inline(always)]
    fn has_table(&self) -> bool {
        self.input == Meaning::TableSize
    }

    /// Runs the kernel for all elements. It must be one that gets [`FirstElement`] or [`TableSize`].
    #[inline(always)]
    pub fn run(&self, regs: &mut [u8]) {
        debug_assert!(matches!(self.input, Meaning::FirstElement | Meaning::TableSize));
        assert!(self.file <= regs.len());
        // SAFETY: KernelFns::pick asked the host, and the register file reaches as far as it should. A table
        // has as many elements as there are at most.
        unsafe { (self.kernel)(regs.as_mut_ptr(), &self.operands, self.count, self.word) };
    }

    /// Runs the kernel for all elements, with its input. It has no table.
    #[inline(always)]
    pub fn run_with<I: Input>(&self, regs: &mut [u8], input: I) -> u64 {
        debug_assert_eq!(self.input, I::MEANING);
        assert!(self.file_with_input <= regs.len());
        // SAFETY: as above.
        unsafe { (self.kernel)(regs.as_mut_ptr(), &self.operands, self.count, input.word()) }
    }

    /// Runs the kernel for some elements, in other places. A table is still all of the table.
    #[inline(always)]
    pub fn run_part<I: Input>(&self, regs: &mut [u8], operands: &Operands, count: usize, input: I) -> u64 {
        debug_assert!(self.input == I::MEANING || self.has_table());
        self.run_part_with_word(regs, operands, count, input.word())
    }

    /// The same with any word.
    #[inline(always)]
    pub(super) fn run_part_with_word(
        &self,
        regs: &mut [u8],
        operands: &Operands,
        count: usize,
        word: u64,
    ) -> u64 {
        assert!(reach(self.sizes, self.uses, operands, count) <= regs.len());
        let mut word = word;
        if self.has_table() {
            assert!(operands.a == self.operands.a && self.file <= regs.len());
            word = self.word;
        }
        // SAFETY: as above.
        unsafe { (self.kernel)(regs.as_mut_ptr(), operands, count, word) }
    }

    /// Where the elements from `first` on are.
    #[inline(always)]
    pub fn part(&self, first: usize) -> Operands {
        let [sd, sa, sb] = self.sizes.map(usize::from);
        let operands = &self.operands;
        Operands {
            out: operands.out + first * sd,
            a: if self.has_table() { operands.a } else { operands.a + first * sa },
            b: operands.b_at(first, sb),
            d: operands.d + first * sd,
            ..*operands
        }
    }
}

/// A few elements of a kernel at a time.
pub trait Step {
    /// The elements `first..first + N`; `false` to stop before them.
    fn step<const N: usize>(&mut self, first: usize) -> bool;
}

/// Takes steps of `N` elements while there are as many; how many elements are done.
#[inline(always)]
pub fn big_steps<S: Step, const N: usize>(step: &mut S, count: usize) -> usize {
    let mut first = 0;
    while first + N <= count && step.step::<N>(first) {
        first += N;
    }
    first
}

/// Takes steps of `N` elements from `first` on.
#[inline(always)]
pub fn small_steps<S: Step, const N: usize>(step: &mut S, mut first: usize, count: usize) -> usize {
    while first < count && step.step::<N>(first) {
        first += N;
    }
    first
}
