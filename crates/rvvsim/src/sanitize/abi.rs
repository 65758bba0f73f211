//! Calls and returns: what the psABI says is lost by them.
//!
//! A compiler may know which registers a function of the same unit of translation leaves alone, and rely on
//! it. So registers are lost only between code of different units, and only where the code that goes on is
//! known to be of a unit: by its debug information.

use super::Sanitizer;
use super::origin::Source;
use super::registers::{Frame, VXRM_AT_ENTRY};
use crate::hart::Hart;
use rvv_isa::{Inst, Op};
use std::ops::Range;

const CONFIG: &str = "psABI: vl and vtype are not preserved across calls and are unspecified upon entry";

/// Code by unit of translation.
#[derive(Clone, Debug, Default)]
pub struct Units {
    /// By address, none overlapping.
    ranges: Vec<(Range<u64>, u32)>,
}

impl Units {
    /// From ranges of addresses with a number for each unit.
    #[must_use]
    pub fn new(mut ranges: Vec<(Range<u64>, u32)>) -> Units {
        ranges.retain(|(range, _)| range.start < range.end);
        ranges.sort_by_key(|(range, _)| range.start);
        Units { ranges }
    }

    /// Whether an address is of a unit that is known.
    pub(super) fn knows(&self, at: u64) -> bool {
        self.of(at).is_some()
    }

    /// The unit of an address.
    fn of(&self, at: u64) -> Option<u32> {
        let past = self.ranges.partition_point(|(range, _)| range.start <= at);
        let (range, unit) = self.ranges.get(past.checked_sub(1)?)?;
        range.contains(&at).then_some(*unit)
    }
}

/// Calls that are remembered.
const MOST_FRAMES: usize = 1 << 14;

impl Sanitizer {
    /// A jump from `self.pc` to `hart.pc`.
    pub(super) fn jump(&mut self, hart: &Hart, inst: &Inst) {
        if inst.rd == 1 {
            if self.regs.frames.len() >= MOST_FRAMES {
                self.regs.frames.drain(..MOST_FRAMES / 2);
            }
            self.regs.frames.push(Frame { back: self.pc.wrapping_add(inst.len.into()), sp: hart.x[2] });
            self.crossed(hart.pc, hart.pc, Source::Entry);
        } else if inst.op.base() == Op::Jalr && inst.rd == 0 && inst.rs1 == 1 {
            let frames = &mut self.regs.frames;
            while let Some(last) = frames.last() {
                let (sp, back) = (last.sp, last.back);
                // Frames below the stack pointer are gone, by longjmp for example.
                if back == hart.pc || sp < hart.x[2] {
                    frames.pop();
                }
                if back == hart.pc || sp >= hart.x[2] {
                    break;
                }
            }
            self.crossed(hart.pc, self.pc, Source::Call);
        }
    }

    /// Control went from `self.pc` to `to`, by a call of `callee` or by a return from it.
    fn crossed(&mut self, to: u64, callee: u64, source: Source) {
        let Some(unit) = self.units.of(to) else { return };
        if self.units.of(self.pc) == Some(unit) {
            return;
        }
        self.regs.config_lost = Some(CONFIG);
        self.regs.vl_chosen = None;
        self.regs.vxrm_lost = Some(VXRM_AT_ENTRY);
        // Arguments and results in vector registers are for functions that say so.
        if self.objects.function(callee).is_some_and(|symbol| symbol.variant) {
            return;
        }
        let origin = self.origins.born(source, self.pc, 0);
        self.regs.lose_vectors(origin);
    }
}
