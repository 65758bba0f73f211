//! Segments that are in memory without gaps, to and from one register group for each field.

use crate::vector::VInst;
use crate::vector::run::element::Element;

/// Whole segments from memory to the elements from `first`.
pub(in crate::vector) fn load<T: Element>(regs: &mut [u8], memory: &[u8], vi: &VInst, first: usize) {
    let fields = usize::from(vi.inst.nf) + 1;
    let size = fields * T::SIZE;
    let count = memory.len() / size;
    for field in 0..fields {
        let at = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize + first * T::SIZE;
        let group = &mut regs[at..at + count * T::SIZE];
        for (element, segment) in group.chunks_exact_mut(T::SIZE).zip(memory.chunks_exact(size)) {
            T::read(&segment[field * T::SIZE..]).write(element);
        }
    }
}

/// The elements from `first` to whole segments in memory.
pub(in crate::vector) fn store<T: Element>(regs: &[u8], memory: &mut [u8], vi: &VInst, first: usize) {
    let fields = usize::from(vi.inst.nf) + 1;
    let size = fields * T::SIZE;
    let count = memory.len() / size;
    for field in 0..fields {
        let at = vi.groups.vd as usize + field * vi.groups.vd_bytes as usize + first * T::SIZE;
        let group = &regs[at..at + count * T::SIZE];
        for (element, segment) in group.chunks_exact(T::SIZE).zip(memory.chunks_exact_mut(size)) {
            T::read(element).write(&mut segment[field * T::SIZE..]);
        }
    }
}
