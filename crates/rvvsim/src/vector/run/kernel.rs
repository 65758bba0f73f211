//! The room for kernels: what an instruction computes, many elements at a time, compiled once for any host and once
//! for hosts with AVX2 and FMA.
//!
//! A kernel knows an operation and the widths of its elements, and nothing else: which elements are active, what
//! becomes of the others, whether an operand is a scalar, is the business of [`body`](crate::vector::run::elements), which is compiled
//! once for all of them. Operands and results are places in the register file; a scalar, and elements that must not
//! be touched, are put in a few places after the last register.
//!
//! `unsafe` is the call of a function that was compiled for AVX2, after the host was found to have it; its twin is
//! the same function compiled without. And kernels get at the register file by pointers: [`BoundKernel`] looks once, before
//! a kernel is called, whether all that it may touch is there.

use crate::fp::{Flags, RoundingMode};
use crate::vector::run::element::Element;
use crate::vector::run::elements::{read_elements, select, write_elements};

/// Places after the last register. A block may be read past the end of a group: these bytes are for that.
const OVERREAD: usize = 512;
/// Scalar operands, each as often as a block has elements. There are several, so that one that stays the same from
/// one time to the next, as in a loop, need not be put there again.
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
/// Ones, for ever: as much as a scalar operand.
pub const ONES: usize = PART_OUT + 512 + OVERREAD;
/// All bytes after the last register.
pub const SLACK: usize = ONES + 64;

/// Where the operands and results of a kernel are: offsets into [`VectorState::regs`](crate::vector::VectorState::regs).
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

/// A kernel: computes so many elements, in whole blocks of 16 bytes of results. The last argument, its mode, is the
/// number of the first element for those that ask for nothing else, `vxrm` for those that round, and the bits of v0 for
/// those that have them for an operand, of 64 elements then at most; for reductions, what they begin with. For one of floating point it is 1 if a result that
/// is not exact is more than it can deal with. What it answers depends on its kind: nothing, whether an element was
/// saturated, the bits of a mask, or how many elements it could do.
///
/// # Safety
/// The host must have what the kernel was compiled for: see [`Kernels::pick`]. The pointer must be to a register file
/// that reaches as far as [`reach`] says.
pub type Kernel = unsafe fn(*mut u8, &Operands, usize, u64) -> u64;

/// One element, exactly: the operands, the rounding mode, the flags. For what a floating-point kernel cannot do.
pub type Slow = fn(u64, u64, u64, RoundingMode, &mut Flags) -> u64;

/// What a kernel is made of.
pub trait Block {
    /// The element of the result; of a kernel whose result is a mask, that of `vs2`.
    type D: Element;
    /// The bytes of an element of `vs2` and of `vs1`.
    const SOURCES: [u8; 2];
    /// Whether it uses `out`, `a`, `b` and `d`.
    const USES: [bool; 4];
    /// Computes the elements. `BETTER`: the host has wide registers, a fused multiply-add, and instructions that
    /// round to integers.
    ///
    /// # Safety
    /// That of a [`Kernel`].
    unsafe fn run<const BETTER: bool>(regs: *mut u8, operands: &Operands, count: usize, mode: u64) -> u64;
}

/// A kernel, for any host and for a better one.
#[derive(Clone, Copy)]
pub struct Kernels {
    any: Kernel,
    #[cfg(target_arch = "x86_64")]
    avx2: Kernel,
}

impl Kernels {
    /// The kernels of a block.
    pub const fn of<B: Block>() -> Kernels {
        Kernels {
            any: any::<B>,
            #[cfg(target_arch = "x86_64")]
            avx2: avx2::<B>,
        }
    }

    /// The one for any host.
    #[cfg(test)]
    pub fn plain(&self) -> Kernel {
        self.any
    }

    /// The best one for this host.
    pub fn pick(&self) -> Kernel {
        #[cfg(target_arch = "x86_64")]
        if is_better_host() {
            return self.avx2;
        }
        self.any
    }
}

unsafe fn any<B: Block>(regs: *mut u8, operands: &Operands, count: usize, mode: u64) -> u64 {
    // SAFETY: the caller's.
    unsafe { B::run::<{ cfg!(target_arch = "aarch64") }>(regs, operands, count, mode) }
}

/// What a better host has, in one list: what kernels for it are compiled for, and what is looked for.
macro_rules! better_host {
    ($($feature:tt),+) => {
        /// Whether this host is one.
        #[cfg(target_arch = "x86_64")]
        fn is_better_host() -> bool {
            $(std::arch::is_x86_feature_detected!($feature))&&+
        }

        #[cfg(target_arch = "x86_64")]
        $(#[target_feature(enable = $feature)])+
        unsafe fn avx2<B: Block>(regs: *mut u8, operands: &Operands, count: usize, mode: u64) -> u64 {
            // SAFETY: the caller's.
            unsafe { B::run::<true>(regs, operands, count, mode) }
        }
    };
}

better_host!("avx2", "fma", "bmi2", "lzcnt", "popcnt");

/// How an instruction computes its elements.
pub struct KernelSpec {
    /// Its kernel.
    pub kernels: Kernels,
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
    /// Floating-point: the signs to flip, of `vs2`, `vs1` and `vd`, before anything else is done.
    pub negate: [bool; 3],
    /// The product is of `vs1` and `vd`, and `vs2` is the addend.
    pub swap: bool,
    /// All of `vs2` is an operand of each element, up to VLMAX, which is the mode.
    pub table: bool,
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
    pub const fn of<B: Block>() -> KernelSpec {
        KernelSpec {
            kernels: Kernels::of::<B>(),
            sizes: [size_of::<B::D>() as u8, B::SOURCES[0], B::SOURCES[1]],
            uses: B::USES,
            slow: no_slow,
            identity: 0,
            #[cfg(test)]
            is_float: false,
            fast: Fast::Always,
            rm: None,
            negate: [false; 3],
            swap: false,
            table: false,
        }
    }

    /// With `vs2` for a table.
    pub const fn of_table<B: Block>() -> KernelSpec {
        KernelSpec { table: true, ..KernelSpec::of::<B>() }
    }

    /// Of a block for one rounding mode, and of what does the rest.
    pub const fn float<B: Block>(slow: Slow, fast: Fast) -> KernelSpec {
        KernelSpec {
            slow,
            fast,
            #[cfg(test)]
            is_float: true,
            ..KernelSpec::of::<B>()
        }
    }

    /// With the signs of operands flipped.
    pub const fn negating(self, a: bool, b: bool, d: bool) -> KernelSpec {
        KernelSpec { negate: [a, b, d], ..self }
    }

    /// With `vs2` and `vd` in each other's role.
    pub const fn swapped(self) -> KernelSpec {
        KernelSpec { swap: true, ..self }
    }

    /// In a mode of its own.
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
    kernel: Kernel,
    /// All of them.
    count: usize,
    /// What the kernel is told if nothing else is: the number of the first element, or the size of its table.
    mode: u64,
    /// The size of the smallest register file it may be run on.
    file: usize,
    /// The same, but with a mode that its caller says: never, if it is the size of a table.
    file_in_mode: usize,
    /// Where they are.
    operands: Operands,
    sizes: [u8; 3],
    uses: [bool; 4],
    table: bool,
}

impl BoundKernel {
    /// For `count` elements, in these places.
    pub fn new(spec: &KernelSpec, operands: Operands, count: usize) -> BoundKernel {
        let file = reach(spec.sizes, spec.uses, &operands, count);
        let (sizes, uses, table) = (spec.sizes, spec.uses, spec.table);
        let mode = if table { count as u64 } else { 0 };
        let file_in_mode = if table { usize::MAX } else { file };
        BoundKernel {
            kernel: spec.kernels.pick(),
            count,
            mode,
            file,
            file_in_mode,
            operands,
            sizes,
            uses,
            table,
        }
    }

    /// With another kernel for the same.
    #[cfg(test)]
    pub fn with(self, kernel: Kernel) -> BoundKernel {
        BoundKernel { kernel, ..self }
    }

    /// Where the elements are.
    #[inline(always)]
    pub fn operands(&self) -> &Operands {
        &self.operands
    }

    /// Runs the kernel for all elements. It must not be one that needs a mode.
    #[inline(always)]
    pub fn run(&self, regs: &mut [u8]) {
        assert!(self.file <= regs.len());
        // SAFETY: Kernels::pick asked the host, and the register file reaches as far as it should. A table has as many
        // elements as there are at most.
        unsafe { (self.kernel)(regs.as_mut_ptr(), &self.operands, self.count, self.mode) };
    }

    /// The same for one that needs a mode, and has no table.
    #[inline(always)]
    pub fn run_in_mode(&self, regs: &mut [u8], mode: u64) -> u64 {
        assert!(self.file_in_mode <= regs.len());
        // SAFETY: as above.
        unsafe { (self.kernel)(regs.as_mut_ptr(), &self.operands, self.count, mode) }
    }

    /// Runs the kernel for some elements, in other places.
    #[inline(always)]
    pub fn run_part(&self, regs: &mut [u8], operands: &Operands, count: usize, mode: u64) -> u64 {
        assert!(reach(self.sizes, self.uses, operands, count) <= regs.len());
        let mut mode = mode;
        if self.table {
            assert!(operands.a == self.operands.a && self.file <= regs.len());
            mode = self.mode;
        }
        // SAFETY: as above.
        unsafe { (self.kernel)(regs.as_mut_ptr(), operands, count, mode) }
    }

    /// Where the elements from `first` on are.
    #[inline(always)]
    pub fn part(&self, first: usize) -> Operands {
        let [sd, sa, sb] = self.sizes.map(usize::from);
        let operands = &self.operands;
        Operands {
            out: operands.out + first * sd,
            a: if self.table { operands.a } else { operands.a + first * sa },
            b: operands.b_at(first, sb),
            d: operands.d + first * sd,
            ..*operands
        }
    }
}

/// Copies those of up to 64 elements whose bits are set, between memory and registers.
#[inline(always)]
pub fn copy_chosen<T: Element>(to: &mut [u8], from: &[u8], bits: u64) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn avx2<T: Element>(to: &mut [u8], from: &[u8], bits: u64) {
            copy_chosen_any::<T>(to, from, bits);
        }
        // SAFETY: the host has it.
        return unsafe { avx2::<T>(to, from, bits) };
    }
    copy_chosen_any::<T>(to, from, bits);
}

/// The same, compiled for whatever its caller is.
#[inline(always)]
pub fn copy_chosen_any<T: Element>(to: &mut [u8], from: &[u8], bits: u64) {
    #[inline(always)]
    fn blend<T: Element, const N: usize>(to: &mut [u8], from: &[u8], bits: u64) {
        let merged = select(bits, &read_elements::<T, N>(from), &read_elements::<T, N>(to));
        write_elements(to, &merged);
    }
    let blocks = to.chunks_mut(32).zip(from.chunks(32)).enumerate();
    for (i, (to, from)) in blocks {
        let bits = bits >> (i * 32 / T::SIZE);
        match (to.len(), T::SIZE) {
            (32, 1) => blend::<T, 32>(to, from, bits),
            (32, 2) => blend::<T, 16>(to, from, bits),
            (32, 4) => blend::<T, 8>(to, from, bits),
            (32, _) => blend::<T, 4>(to, from, bits),
            _ => {
                for (i, (to, from)) in to.chunks_mut(T::SIZE).zip(from.chunks(T::SIZE)).enumerate() {
                    if bits >> i & 1 != 0 {
                        T::read(from).write(to);
                    }
                }
            }
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
