//! Makes a stream small that a property holds for: the fewest steps, then the fewest inputs that are not
//! zero.

use super::stream::{Step, Stream};

/// The smallest stream found for which `holds` is true, as it is for `stream`. Asks at most `most` times.
pub fn minimise(stream: &Stream, most: usize, mut holds: impl FnMut(&Stream) -> bool) -> Stream {
    let mut best = stream.clone();
    let mut left = most;
    let mut try_one = |candidate: Stream, best: &mut Stream| {
        if left == 0 || candidate == *best {
            return false;
        }
        left -= 1;
        let good = holds(&candidate);
        if good {
            *best = candidate;
        }
        good
    };
    // Steps: halves, quarters, ... single ones; again while that helps.
    let mut size = best.steps.len().next_power_of_two() / 2;
    while size > 0 {
        let mut at = 0;
        let mut helped = false;
        while at < best.steps.len() {
            let mut candidate = best.clone();
            for _ in 0..size.min(candidate.steps.len() - at) {
                candidate.remove_step(at);
            }
            if try_one(candidate, &mut best) {
                helped = true;
            } else {
                at += size;
            }
        }
        if !(size == 1 && helped) {
            size /= 2;
        }
    }
    for at in (0..best.flows.len()).rev() {
        let mut candidate = best.clone();
        candidate.flows.remove(at);
        try_one(candidate, &mut best);
    }
    for at in 0..best.steps.len() {
        shrink_step(&mut best, at, &mut try_one);
    }
    shrink_inputs(&mut best, &mut try_one);
    best
}

/// What is around an instruction, as far as it can go.
fn shrink_step(best: &mut Stream, at: usize, try_one: &mut impl FnMut(Stream, &mut Stream) -> bool) {
    let mut with = |best: &mut Stream, change: fn(&mut Step)| {
        let mut candidate = best.clone();
        change(&mut candidate.steps[at]);
        try_one(candidate, best)
    };
    if !with(best, |step| step.before.clear()) {
        with(best, |step| {
            step.before.pop();
        });
    }
    with(best, |step| step.after.clear());
}

fn shrink_inputs(best: &mut Stream, try_one: &mut impl FnMut(Stream, &mut Stream) -> bool) {
    let mut candidate = best.clone();
    candidate.init.zero_memory = true;
    try_one(candidate, best);
    let mut candidate = best.clone();
    candidate.init.zero_csrs = true;
    try_one(candidate, best);
    for file in 0..3 {
        let set = |stream: &mut Stream, bits: u32| {
            let init = &mut stream.init;
            match file {
                0 => init.zero_x |= bits,
                1 => init.zero_f |= bits,
                _ => init.zero_v |= bits,
            }
        };
        let mut candidate = best.clone();
        set(&mut candidate, u32::MAX);
        if try_one(candidate, best) {
            continue;
        }
        // Halves, then quarters, then one by one.
        for size in [16, 8, 4, 2, 1] {
            for first in (0..32).step_by(size) {
                let mut candidate = best.clone();
                set(&mut candidate, (u32::MAX >> (32 - size)) << first);
                try_one(candidate, best);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::init::Init;

    #[test]
    fn what_matters_stays() {
        let step = |word| Step { before: vec![0x13], ..Step::plain(word) };
        let steps = (0..40u32).map(|n| step(n << 7 | 0x13)).collect();
        let stream = Stream { vlen: 128, init: Init::new(1), steps, flows: Vec::new() };
        let needs = |s: &Stream| {
            let has = |n: u32| s.steps.iter().any(|step| step.main == Some(n << 7 | 0x13));
            has(7) && has(33) && s.init.zero_v >> 5 & 1 == 0
        };
        let small = minimise(&stream, 10_000, needs);
        assert_eq!(small.steps, vec![Step::plain(7 << 7 | 0x13), Step::plain(33 << 7 | 0x13)]);
        assert_eq!(small.init.zero_v, !(1 << 5));
        assert_eq!(small.init.zero_x, u32::MAX);
        assert!(small.init.zero_memory);
    }
}
