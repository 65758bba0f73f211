//! The quick ways: what instructions that compute elements come to if `vl` is VLMAX, `vstart` is 0, and nothing has to be
//! done about a tail; and loads and stores that are copies. Everything else about them is settled when they are
//! translated. `tests` compares each with the ways that can do everything.

use super::body::{self, Kind};
use super::lanes::{Fast, Work};
use super::policy::Policy;
use super::{Form, VInst, config, fixed_point, float, memory, reduction};
use crate::Hart;
use crate::fp::{Flags, RoundingMode};
use crate::mem::Access;
use rvv_isa::{Eew, Inst, Scalar, Shape};

/// How an instruction can be run that has nothing to do but to call its kernel, or to copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Quick {
    /// It has.
    No,
    /// A kernel, with registers for operands: [`VInst::run_lanes`].
    Lanes,
    /// A kernel, with a scalar operand: [`VInst::run_lanes_scalar`].
    LanesScalar,
    /// A floating-point kernel: [`VInst::run_float`].
    Float,
    /// The same with a scalar operand: [`VInst::run_float_scalar`].
    FloatScalar,
    /// A kernel that is told what [`body::Kind`] says, of 64 elements at most; true if it has a scalar operand:
    /// [`VInst::run_word`].
    Word(body::Kind, bool),
    /// The same, with a mask for a result.
    Test(body::Kind, bool),
    /// A reduction.
    Reduce,
    /// A copy from memory: [`VInst::load_piece`].
    Load,
    /// A copy to memory: [`VInst::store_piece`].
    Store,
    /// `vsetvli`: [`VInst::run_set_vl`].
    SetVl,
}

/// The quick ways. They do all there is to an instruction, or nothing and answer false; then there is more to it than
/// they can do.
impl VInst {
    /// Which of them there is.
    pub(crate) fn quick(&self) -> Quick {
        self.quick
    }

    /// Whether `vl` is VLMAX, and `vstart` is 0.
    #[inline(always)]
    pub(crate) fn is_whole(&self, hart: &Hart) -> bool {
        hart.v.vl == u64::from(self.vlmax) && hart.v.vstart == 0
    }

    #[inline(always)]
    pub(crate) fn run_lanes(&self, hart: &mut Hart) -> bool {
        if !self.is_whole(hart) {
            return false;
        }
        hart.vs_dirty = true;
        self.tell(&mut hart.v);
        self.ready.run(&mut hart.v.regs);
        true
    }

    #[inline(always)]
    pub(crate) fn run_lanes_scalar(&self, hart: &mut Hart) -> bool {
        self.put_scalar(hart);
        self.run_lanes(hart)
    }

    #[inline(always)]
    fn put_scalar(&self, hart: &mut Hart) {
        let scalar = self.scalar(hart);
        body::put_scalar(&mut hart.v, self, scalar);
    }

    #[inline(always)]
    pub(crate) fn run_float(&self, hart: &mut Hart) -> bool {
        if !self.is_whole(hart) {
            return false;
        }
        hart.vs_dirty = true;
        self.tell(&mut hart.v);
        self.run_whole_float(hart)
    }

    #[inline(always)]
    pub(crate) fn run_float_scalar(&self, hart: &mut Hart) -> bool {
        self.put_float(hart);
        self.run_float(hart)
    }

    #[inline(always)]
    fn put_float(&self, hart: &mut Hart) {
        let scalar = float::scalar(hart, self);
        body::put_scalar(&mut hart.v, self, scalar);
    }

    #[inline(always)]
    fn run_whole_float(&self, hart: &mut Hart) -> bool {
        if hart.frm > self.quick_frm {
            return false;
        }
        let mode = u64::from(!hart.fflags.contains(Flags::NX));
        let done = self.ready.run_in_mode(&mut hart.v.regs, mode);
        done == u64::from(self.vlmax) || float::go_on(hart, self, done as usize)
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
        self.tell(&mut hart.v);
        match self.quick {
            Quick::Lanes => self.ready.run(&mut hart.v.regs),
            Quick::LanesScalar => {
                self.put_scalar(hart);
                self.ready.run(&mut hart.v.regs);
            }
            Quick::Float => return self.run_whole_float(hart),
            Quick::FloatScalar => {
                self.put_float(hart);
                return self.run_whole_float(hart);
            }
            Quick::Word(kind, scalar) => {
                if scalar {
                    self.put_scalar(hart);
                }
                if body::map_word(&mut hart.v, self, kind) != 0 {
                    fixed_point::saturated(hart);
                }
            }
            Quick::Test(kind, scalar) => {
                if scalar {
                    self.put_scalar(hart);
                }
                body::test_word(&mut hart.v, self, kind);
            }
            Quick::Reduce => reduction::reduce_whole(&mut hart.v, self),
            _ => return false,
        }
        true
    }

    /// The piece of memory that is all there is to a load or store, and its size.
    #[inline(always)]
    pub(crate) fn one_piece(&self, hart: &Hart, access: Access) -> Option<(usize, usize)> {
        memory::one_piece(hart, self, access)
    }

    /// The bytes of an element of a copy.
    pub(crate) fn element_bytes(&self) -> usize {
        1 << (self.shift & 3)
    }

    /// Its size if `vl` is VLMAX.
    pub(crate) fn whole_bytes(&self) -> usize {
        (self.vlmax as usize) << (self.shift & 3)
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

    #[inline(always)]
    pub(crate) fn run_set_vl(&self, hart: &mut Hart) -> bool {
        config::set_to_least(hart, self)
    }
}

/// Of a floating-point kernel that may be used under some `frm`: the highest of them. What is done whatever the mode
/// that `frm` says, needs only a valid one.
pub(super) fn highest_frm(work: &Work) -> Option<u8> {
    match (work.fast, work.rm) {
        (Fast::Always, _) => Some(4),
        (Fast::In(mode), Some(rm)) if mode == rm => Some(4),
        (Fast::In(RoundingMode::Rne), None) => Some(0),
        _ => None,
    }
}

/// What decides whether there is a quick way.
pub(super) struct Circumstances<'a> {
    pub form: Form,
    pub vlmax: u32,
    pub shape: &'a Shape,
    pub work: &'a Work,
    pub masked: bool,
    pub plain: bool,
    pub small: bool,
    pub tail: Policy,
}

impl Circumstances<'_> {
    /// The quick way of an instruction.
    pub fn quick(&self, inst: &Inst) -> Quick {
        let scalar = self.shape.scalar != Scalar::Absent;
        let keeps_tail = self.tail == Policy::Undisturbed;
        let has_frm = highest_frm(self.work).is_some();
        let one = !self.masked && inst.nf == 0;
        match self.form {
            Form::Map if self.plain && scalar => return Quick::LanesScalar,
            Form::Map if self.plain => return Quick::Lanes,
            Form::Float if self.plain && has_frm && scalar => return Quick::FloatScalar,
            Form::Float if self.plain && has_frm => return Quick::Float,
            _ => {}
        }
        match memory::copies(self.shape) {
            Some((Access::Load, _)) if one && keeps_tail => return Quick::Load,
            Some((Access::Store, _)) if one => return Quick::Store,
            _ => {}
        }
        let sources = self.vlmax * u32::from(self.work.sizes[1]);
        let kind = match self.form {
            Form::Reduce if !self.masked && keeps_tail && sources.is_multiple_of(16) => {
                return Quick::Reduce;
            }
            Form::Map | Form::Test => Kind::Pure,
            Form::Carry | Form::TestCarry => Kind::Carry,
            Form::FixedPoint => Kind::Effects,
            Form::Float | Form::FloatTest | Form::Reduce | Form::Own(_) => return Quick::No,
        };
        match self.shape.vd {
            _ if !self.small => Quick::No,
            Eew::Mask if !self.masked => Quick::Test(kind, scalar),
            Eew::Mask => Quick::No,
            _ if self.masked && kind == Kind::Effects => Quick::No,
            _ => Quick::Word(kind, scalar),
        }
    }
}
