//! The manual's notation for bit ranges: `12|10:5` is bit 12, then bits 10 down to 5.

/// A run of bits that are adjacent both in the instruction word and in the operand's value.
#[derive(Clone, Copy)]
pub struct Run {
    /// Lowest bit of the run in the instruction word.
    pub at: u32,
    /// Lowest bit of the run in the value.
    pub to: u32,
    pub len: u32,
}

impl Run {
    pub fn mask(&self) -> u32 {
        u32::MAX >> (32 - self.len)
    }
}

fn range(text: &str) -> (u32, u32) {
    let (high, low) = text.split_once(':').unwrap_or((text, text));
    let (high, low) = (high.parse().unwrap(), low.parse().unwrap());
    assert!(high >= low && high < 32, "bad bit range {text}");
    (high, low)
}

/// Pairs the bits `at` of the word with the bits `value` of the operand, most significant first.
pub fn runs(at: &str, value: Option<&str>) -> Vec<Run> {
    let (high, low) = range(at);
    let all = format!("{}:0", high - low);
    let mut next = high + 1;
    let runs: Vec<Run> = value
        .unwrap_or(&all)
        .split('|')
        .map(|part| {
            let (top, bottom) = range(part);
            let len = top - bottom + 1;
            next -= len;
            Run { at: next, to: bottom, len }
        })
        .collect();
    assert_eq!(next, low, "{at} and {value:?} differ in width");
    runs
}
