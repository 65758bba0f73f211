//! The fast path: what instructions that compute elements reduce to if `vl` is VLMAX, `vstart` is 0, and
//! there is no tail to treat; and loads and stores that are copies. Everything else about them is settled
//! when they are translated. `fast_path_tests` compares each with the code that handles every case.

use crate::Hart;
use crate::fp::RoundingMode;
use crate::mem::Access;
use crate::vector::chapters::fixed_point;
use crate::vector::chapters::memory;
use crate::vector::chapters::reduction;
use crate::vector::chapters::vset;
use crate::vector::rules::policy::Policy;
use crate::vector::run::elements;
use crate::vector::run::float_elements;
use crate::vector::run::input::{Inexact, MapInput};
use crate::vector::run::kernel::{Fast, KernelSpec};
use crate::vector::{Form, VInst};
use rvv_isa::{Eew, Inst, Scalar, Shape};

/// How an instruction runs that reduces to a call of its kernel, or to a copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FastPath {
    /// No fast path.
    No,
    /// A kernel, with registers for operands: [`VInst::run_map`].
    Map,
    /// A kernel, with a scalar operand: [`VInst::run_map_scalar`].
    MapScalar,
    /// A floating-point kernel: [`VInst::run_float`].
    Float,
    /// The same with a scalar operand: [`VInst::run_float_scalar`].
    FloatScalar,
    /// A kernel of 64 elements at most: [`VInst::run_word`].
    Word {
        /// What it gets besides its operands.
        input: MapInput,
        /// It has a scalar operand.
        scalar: bool,
    },
    /// The same, with a mask for a result.
    Test {
        /// What it gets besides its operands.
        input: MapInput,
        /// It has a scalar operand.
        scalar: bool,
    },
    /// A reduction.
    Reduce,
    /// A copy from memory: [`VInst::load_piece`].
    Load,
    /// A copy to memory: [`VInst::store_piece`].
    Store,
    /// `vsetvli`: [`VInst::run_set_vl`].
    SetVl,
}

/// What is known when an instruction is translated about how it can run.
#[derive(Clone, Copy)]
pub(in crate::vector) struct FastPaths {
    /// How it can run if `vl` is VLMAX; loads and stores, whatever `vl` is.
    pub path: FastPath,
    /// VLMAX is 64 or less, and if `vl` is VLMAX there are only whole blocks, no tail to treat, and no
    /// inactive elements to treat either.
    pub small: bool,
    /// Floating-point: the `frm` up to which the kernel may be used.
    pub highest_frm: u8,
    /// Loads and stores: the bytes of an element as a power of two.
    pub shift: u8,
    /// One less than those bytes.
    pub align_mask: u64,
}

impl FastPaths {
    /// Only this one.
    pub fn only(path: FastPath) -> FastPaths {
        FastPaths { path, small: false, highest_frm: 0, shift: 0, align_mask: 0 }
    }
}

/// The fast path. Each executes the whole instruction and returns true, or changes nothing and returns false.
impl VInst {
    /// Which of them there is.
    pub(crate) fn fast_path(&self) -> FastPath {
        self.fast.path
    }

    /// Whether `vl` is VLMAX, and `vstart` is 0.
    #[inline(always)]
    pub(crate) fn is_whole(&self, hart: &Hart) -> bool {
        hart.v.vl == u64::from(self.vlmax) && hart.v.vstart == 0
    }

    #[inline(always)]
    pub(crate) fn run_map(&self, hart: &mut Hart) -> bool {
        if !self.is_whole(hart) {
            return false;
        }
        hart.vs_dirty = true;
        self.note_writes(&mut hart.v);
        self.kernel.run(&mut hart.v.regs);
        true
    }

    #[inline(always)]
    pub(crate) fn run_map_scalar(&self, hart: &mut Hart) -> bool {
        self.put_scalar(hart);
        self.run_map(hart)
    }

    #[inline(always)]
    fn put_scalar(&self, hart: &mut Hart) {
        let scalar = self.scalar(hart);
        elements::put_scalar(&mut hart.v, self, scalar);
    }

    #[inline(always)]
    pub(crate) fn run_float(&self, hart: &mut Hart) -> bool {
        if !self.is_whole(hart) {
            return false;
        }
        hart.vs_dirty = true;
        self.note_writes(&mut hart.v);
        self.run_whole_float(hart)
    }

    #[inline(always)]
    pub(crate) fn run_float_scalar(&self, hart: &mut Hart) -> bool {
        self.put_float(hart);
        self.run_float(hart)
    }

    #[inline(always)]
    fn put_float(&self, hart: &mut Hart) {
        let scalar = float_elements::scalar(hart, self);
        elements::put_scalar(&mut hart.v, self, scalar);
    }

    #[inline(always)]
    fn run_whole_float(&self, hart: &mut Hart) -> bool {
        if hart.frm > self.fast.highest_frm {
            return false;
        }
        let done = self.kernel.run_with(&mut hart.v.regs, Inexact::under(hart.fflags));
        done == u64::from(self.vlmax) || float_elements::go_on(hart, self, done as usize)
    }

    #[inline(always)]
    pub(crate) fn run_word(&self, hart: &mut Hart) -> bool {
        if !self.is_whole(hart) {
            return false;
        }
        hart.vs_dirty = true;
        self.run_whole(hart)
    }

    /// Any of the above, where it is known that `vl` is VLMAX and `vstart` is 0.
    #[inline(always)]
    pub(crate) fn run_whole(&self, hart: &mut Hart) -> bool {
        self.note_writes(&mut hart.v);
        match self.fast.path {
            FastPath::Map => self.kernel.run(&mut hart.v.regs),
            FastPath::MapScalar => {
                self.put_scalar(hart);
                self.kernel.run(&mut hart.v.regs);
            }
            FastPath::Float => return self.run_whole_float(hart),
            FastPath::FloatScalar => {
                self.put_float(hart);
                return self.run_whole_float(hart);
            }
            FastPath::Word { input, scalar } => {
                if scalar {
                    self.put_scalar(hart);
                }
                if elements::map_word(&mut hart.v, self, input) != 0 {
                    fixed_point::saturated(hart);
                }
            }
            FastPath::Test { input, scalar } => {
                if scalar {
                    self.put_scalar(hart);
                }
                elements::test_word(&mut hart.v, self, input);
            }
            FastPath::Reduce => reduction::reduce_whole(&mut hart.v, self),
            _ => return false,
        }
        true
    }

    /// The piece of memory that is all there is to a load or store, and its size.
    #[inline(always)]
    pub(crate) fn one_piece(&self, hart: &Hart, access: Access) -> Option<(usize, usize)> {
        memory::one_piece(hart, self, access)
    }

    /// Its size if `vl` is VLMAX.
    pub(crate) fn whole_bytes(&self) -> usize {
        (self.vlmax as usize) << (self.fast.shift & 3)
    }

    /// The same as [`VInst::one_piece`] if `vl` is VLMAX and that is `N` bytes; else `None`.
    #[inline(always)]
    pub(crate) fn whole_piece<const N: usize>(&self, hart: &Hart, access: Access) -> Option<usize> {
        debug_assert_eq!(self.whole_bytes(), N);
        memory::whole_piece::<N>(hart, self, access)
    }

    /// Loads such a piece, by `copy`.
    #[inline(always)]
    pub(crate) fn load_piece(
        &self,
        hart: &mut Hart,
        offset: usize,
        bytes: usize,
        copy: impl Fn(&mut [u8], &[u8]),
    ) {
        memory::load_piece(hart, self, offset, bytes, copy);
    }

    /// Stores such a piece, by `copy`.
    #[inline(always)]
    pub(crate) fn store_piece(
        &self,
        hart: &mut Hart,
        offset: usize,
        bytes: usize,
        copy: impl Fn(&mut [u8], &[u8]),
    ) {
        memory::store_piece(hart, self, offset, bytes, copy);
    }

    /// Whether it is a `vsetvli` whose `vl` is the lesser of AVL and VLMAX.
    pub(crate) fn sets_least(&self) -> bool {
        self.fast.path == FastPath::SetVl
    }

    /// Whether the elements of its tail keep their values.
    pub(crate) fn keeps_tail(&self) -> bool {
        self.policy.tail == Policy::Undisturbed
    }

    /// Whether code that writes the body alone may do: the tail keeps its values, or has nothing to do with
    /// them ([`VInst::finish_tail`]) unless it is known to be ones.
    pub(crate) fn leaves_tail(&self) -> bool {
        self.keeps_tail() || self.policy.tail == Policy::Random
    }

    /// The same of all elements that are not active, if the body has so many bytes.
    pub(crate) fn leaves_others(&self, bytes: usize) -> bool {
        (self.leaves_tail() || bytes == self.groups.vd_bytes as usize)
            && (!self.policy.masked || self.policy.inactive == Policy::Undisturbed)
    }

    #[inline(always)]
    pub(crate) fn run_set_vl(&self, hart: &mut Hart) -> bool {
        vset::set_to_least(hart, self)
    }
}

/// Of a floating-point kernel that may be used under some `frm`: the highest of them. What is done whatever
/// the mode that `frm` says, needs only a valid one.
pub(in crate::vector) fn highest_frm(spec: &KernelSpec) -> Option<u8> {
    match (spec.fast, spec.rm) {
        (Fast::Always, _) => Some(4),
        (Fast::In(mode), Some(rm)) if mode == rm => Some(4),
        (Fast::In(RoundingMode::Rne), None) => Some(0),
        _ => None,
    }
}

/// What decides whether there is a fast path.
pub(in crate::vector) struct Circumstances<'a> {
    pub form: Form,
    pub vlmax: u32,
    pub shape: &'a Shape,
    pub spec: &'a KernelSpec,
    pub masked: bool,
    pub plain: bool,
    pub small: bool,
    pub tail: Policy,
}

impl Circumstances<'_> {
    /// The fast path of an instruction.
    pub fn fast_path(&self, inst: &Inst) -> FastPath {
        let scalar = self.shape.scalar != Scalar::Absent;
        let keeps_tail = self.tail == Policy::Undisturbed;
        let has_frm = highest_frm(self.spec).is_some();
        let one = !self.masked && inst.nf == 0;
        match self.form {
            Form::Map if self.plain && scalar => return FastPath::MapScalar,
            Form::Map if self.plain => return FastPath::Map,
            Form::Float if self.plain && has_frm && scalar => return FastPath::FloatScalar,
            Form::Float if self.plain && has_frm => return FastPath::Float,
            _ => {}
        }
        match memory::copies(self.shape) {
            Some((Access::Load, _)) if one && keeps_tail => return FastPath::Load,
            Some((Access::Store, _)) if one => return FastPath::Store,
            _ => {}
        }
        let sources = self.vlmax * u32::from(self.spec.sizes[1]);
        let input = match self.form {
            Form::Reduce if !self.masked && keeps_tail && sources.is_multiple_of(16) => {
                return FastPath::Reduce;
            }
            Form::Map | Form::Test => MapInput::Index,
            Form::Carry | Form::TestCarry => MapInput::Mask,
            Form::FixedPoint => MapInput::Vxrm,
            Form::Float | Form::FloatTest | Form::Reduce | Form::Own(_) => return FastPath::No,
        };
        match self.shape.vd {
            _ if !self.small => FastPath::No,
            Eew::Mask if !self.masked => FastPath::Test { input, scalar },
            Eew::Mask => FastPath::No,
            _ if self.masked && input == MapInput::Vxrm => FastPath::No,
            _ => FastPath::Word { input, scalar },
        }
    }
}
