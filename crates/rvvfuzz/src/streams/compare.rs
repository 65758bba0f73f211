//! Compares a peer's dump with ours, bit by bit, knowing what the manual leaves open.

use super::dump::Places;
use super::inprocess::{Open, Ran, Sum};

/// What an emulator does with agnostic elements.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Choice {
    /// Keeps all of them.
    Kept,
    /// Unknown, or this one now and that one then: each element on its own is kept or all ones.
    Any,
}

/// A word in which two dumps differ and may not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Its place in the dump.
    pub at: usize,
    /// What `rvvsim` says.
    pub ours: u64,
    /// What the peer says.
    pub theirs: u64,
}

/// The words in which a peer's dump is wrong. `ours` is `rvvsim`'s dump of the same ELF; `ran` is the run in
/// process, which knows what is open.
#[must_use]
pub fn compare(vlen: u32, ours: &[u64], theirs: &[u64], ran: &Ran, choice: Choice) -> Vec<Difference> {
    let places = Places::new(vlen);
    let words = places.words().max(ours.len()).max(theirs.len());
    let at_of = |words: &[u64], at: usize| words.get(at).copied().unwrap_or(0);
    let mut all = Vec::new();
    for at in 0..words {
        let (a, b) = (at_of(ours, at), at_of(theirs, at));
        if a == b {
            continue;
        }
        if places.v().contains(&at) && is_open(at - places.v().start, a, b, ran, choice) {
            continue;
        }
        let is_fcsr = at == places.csrs().end - 1;
        if choice == Choice::Any && is_fcsr && (a ^ b) & !u64::from(ran.loose_flags) == 0 {
            continue;
        }
        all.push(Difference { at, ours: a, theirs: b });
    }
    all
}

/// Whether word `n` of the vector registers may be `theirs`: each of its bytes is ours, or open and allowed.
fn is_open(n: usize, ours: u64, theirs: u64, ran: &Ran, choice: Choice) -> bool {
    let start = Places::new(ran.vlen).v().start;
    let (kept, ones) = (ran.kept[start + n].to_le_bytes(), ran.ones[start + n].to_le_bytes());
    let (ours, theirs) = (ours.to_le_bytes(), theirs.to_le_bytes());
    let open = &ran.open[8 * n..8 * n + 8];
    (0..8).all(|i| {
        if theirs[i] == ours[i] {
            return true;
        }
        match open[i] {
            Open::No => false,
            Open::Free => true,
            Open::FreeBits => (theirs[i] ^ ours[i]) & !(kept[i] ^ ones[i]) == 0,
            _ if choice == Choice::Kept => false,
            // Bit by bit: those in which the two runs differ are free.
            Open::Bits => (theirs[i] ^ ours[i]) & !(kept[i] ^ ones[i]) == 0,
            // The element as a whole is all ones: every byte of it that is still open.
            Open::Element(size) => {
                let first = i - i % usize::from(size);
                (first..first + usize::from(size))
                    .filter(|&j| open[j] == open[i])
                    .all(|j| theirs[j] == ones[j])
            }
            Open::Sum(n) => {
                let Some(&Sum { low, high, size }) = ran.sums.get(usize::from(n)) else { return false };
                let first = i - i % usize::from(size);
                let mut le = [0; 8];
                le[..usize::from(size)].copy_from_slice(&theirs[first..first + usize::from(size)]);
                let value = to_f64(u64::from_le_bytes(le), size);
                let all_ones = le[..usize::from(size)].iter().all(|&b| b == 0xff);
                low.is_nan() || all_ones || (low <= value && value <= high)
            }
        }
    })
}

/// A number of 2, 4 or 8 bytes.
#[must_use]
pub fn to_f64(bits: u64, size: u8) -> f64 {
    match size {
        8 => f64::from_bits(bits),
        4 => f32::from_bits(bits as u32).into(),
        _ => {
            let sign = if bits >> 15 & 1 != 0 { -1.0 } else { 1.0 };
            let (exponent, fraction) = ((bits >> 10 & 31) as i32, (bits & 1023) as f64);
            match exponent {
                0 => sign * fraction * 2f64.powi(-24),
                31 if fraction == 0.0 => sign * f64::INFINITY,
                31 => f64::NAN,
                e => sign * (1.0 + fraction / 1024.0) * 2f64.powi(e - 15),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte that is not open is compared with the same ELF's dump. The run in process may have been at
    /// another address, which a `jalr` and a `vsaddu.vx` brought into active elements beside masked-off ones.
    #[test]
    fn what_is_not_open_is_compared_with_our_dump() {
        let (vlen, places) = (128, Places::new(128));
        let at = places.v().start;
        let mut open = vec![Open::No; 4 * vlen as usize];
        open[2..4].fill(Open::Element(2));
        let dump = |word: u64| {
            let mut words = vec![0; places.words()];
            words[at] = word;
            words
        };
        let ran = Ran {
            vlen,
            kept: dump(0x1111_0bbe),
            ones: dump(0xffff_0bbe),
            open,
            sums: Vec::new(),
            loose_flags: 0,
            whys: Vec::new(),
            executed: 0,
            vector: 0,
        };
        let ours = dump(0x1111_2bbe);
        let wrong = |theirs, choice| compare(vlen, &ours, &dump(theirs), &ran, choice).len();
        assert_eq!(wrong(0xffff_2bbe, Choice::Any), 0, "kept or ones");
        assert_eq!(wrong(0xffff_2bbe, Choice::Kept), 1, "a peer that keeps has ones");
        assert_eq!(wrong(0xff11_2bbe, Choice::Any), 1, "a torn element");
        assert_eq!(wrong(0x1111_0bbe, Choice::Any), 1, "the other address's element, alone");
        assert_eq!(wrong(0xffff_0bbe, Choice::Any), 1, "and beside ones");
    }
}
