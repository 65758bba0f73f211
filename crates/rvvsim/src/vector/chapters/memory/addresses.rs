//! The addresses of elements: unit-stride, strided and indexed.

use crate::Hart;
use crate::vector::VInst;
use crate::vector::run::element::Element;
use crate::vector::run::elements::read_elements;

/// Where the elements of an instruction are: the address of element (or segment) `i`.
pub(in crate::vector) trait Addresses: Copy {
    /// Whether elements follow each other without a gap, from the address of element 0.
    const UNIT_STRIDE: bool = false;
    /// The address of the first field of segment `i`.
    fn of(self, hart: &Hart, i: usize) -> u64;
    /// Those of segment `i` and of more after it.
    fn several(self, hart: &Hart, i: usize) -> [u64; SEVERAL] {
        std::array::from_fn(|k| self.of(hart, i + k))
    }
}

/// As many elements as are looked for at a time.
pub(super) const SEVERAL: usize = 8;

/// Unit stride: `base`, and the bytes of a segment.
#[derive(Clone, Copy)]
pub(in crate::vector) struct Unit(pub u64, pub u64);

impl Addresses for Unit {
    const UNIT_STRIDE: bool = true;

    #[inline(always)]
    fn of(self, _hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(self.1.wrapping_mul(i as u64))
    }
}

/// Constant stride: `base` and stride.
#[derive(Clone, Copy)]
pub(in crate::vector) struct Strided(u64, u64);

impl Addresses for Strided {
    #[inline(always)]
    fn of(self, _hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(self.1.wrapping_mul(i as u64))
    }
}

/// Indexed: `base`, and where the byte offsets are. norm:vector_ls_xlen_dep: zero-extended.
#[derive(Clone, Copy)]
pub(in crate::vector) struct Indexed<I>(u64, usize, std::marker::PhantomData<I>);

impl<I: Element> Addresses for Indexed<I> {
    #[inline(always)]
    fn of(self, hart: &Hart, i: usize) -> u64 {
        self.0.wrapping_add(I::read(&hart.v.regs[self.1 + i * I::SIZE..]).to_u64())
    }

    #[inline(always)]
    fn several(self, hart: &Hart, i: usize) -> [u64; SEVERAL] {
        let bytes = &hart.v.regs[self.1 + i * I::SIZE..][..SEVERAL * I::SIZE];
        read_elements::<I, SEVERAL>(bytes).map(|index| self.0.wrapping_add(index.to_u64()))
    }
}

pub(super) fn unit<T: Element>(hart: &Hart, vi: &VInst) -> Unit {
    Unit(hart.x[vi.inst.rs1], T::SIZE as u64 * (u64::from(vi.inst.nf) + 1))
}

pub(super) fn strided(hart: &Hart, vi: &VInst) -> Strided {
    Strided(hart.x[vi.inst.rs1], hart.x[vi.inst.rs2])
}

pub(super) fn indexed<I>(hart: &Hart, vi: &VInst) -> Indexed<I> {
    Indexed(hart.x[vi.inst.rs1], vi.groups.vs2 as usize, std::marker::PhantomData)
}
