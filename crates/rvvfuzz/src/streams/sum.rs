//! The range of an unordered floating-point sum: the manual lets an implementation add in any order, as a
//! tree.

use super::compare::to_f64;
use super::inprocess::Sum;
use rvv_isa::{Inst, Op};
use rvvsim::Hart;

/// The range of the sum that an instruction is about to make; nothing if it makes none.
///
/// Each of the additions rounds, by at most one unit in the last place of a partial sum, and no partial sum
/// is greater than the sum of the magnitudes.
#[must_use]
pub fn range(hart: &Hart, inst: &Inst) -> Option<Sum> {
    let wide = match inst.op {
        Op::VfredusumVs => false,
        Op::VfwredusumVs => true,
        _ => return None,
    };
    let v = hart.vector();
    let source = v.vtype.sew.bytes() as u8;
    let size = if wide { 2 * source } else { source };
    if v.vtype.vill || source < 2 || size > 8 {
        return None;
    }
    let read = |at: usize, size: u8| {
        let mut le = [0; 8];
        le[..usize::from(size)].copy_from_slice(v.registers().get(at..at + usize::from(size))?);
        Some(to_f64(u64::from_le_bytes(le), size))
    };
    let start = read(usize::from(inst.rs1) * v.vlenb, size)?;
    let (mut sum, mut magnitude, mut count) = (start, start.abs(), 1.0);
    for i in 0..v.vl as usize {
        let active = inst.vm || v.registers()[i / 8] >> (i % 8) & 1 != 0;
        if active {
            let value = read(usize::from(inst.rs2) * v.vlenb + i * usize::from(source), source)?;
            sum += value;
            magnitude += value.abs();
            count += 1.0;
        }
    }
    let (epsilon, most) = match size {
        2 => (2f64.powi(-10), 65504.0),
        4 => (f64::from(f32::EPSILON), f64::from(f32::MAX)),
        _ => (f64::EPSILON, f64::MAX / 4.0),
    };
    // Infinities, NaNs, and partial sums that may overflow: anything goes.
    if !magnitude.is_finite() || magnitude * 2.0 >= most {
        return Some(Sum { low: f64::NAN, high: f64::NAN, size });
    }
    let reach = 2.0 * count * epsilon * magnitude + f64::MIN_POSITIVE;
    Some(Sum { low: sum - reach, high: sum + reach, size })
}
