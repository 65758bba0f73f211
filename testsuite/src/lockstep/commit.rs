//! Lines of Spike's commit log, and their comparison with a machine.

use crate::program::RAM;
use rvv_isa::csr;
use rvvsim::Hart;

/// One retired instruction, as Spike's `--log-commits` tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// Its address.
    pub pc: u64,
    /// Its bits.
    pub word: u32,
    /// Integer registers written.
    pub x: Vec<(u8, u64)>,
    /// Floating-point registers written.
    pub f: Vec<(u8, u64)>,
    /// CSRs written, by number.
    pub csrs: Vec<(u16, u64)>,
    /// Memory written: address, bytes, value.
    pub stores: Vec<(u64, usize, u64)>,
}

impl Commit {
    /// Reads `core   0: 3 0x… (0x…) x5  0x… c1_fflags 0x… mem 0x… 0x…`; nothing if the line is another kind.
    #[must_use]
    pub fn parse(line: &str) -> Option<Commit> {
        let mut words = line.strip_prefix("core ")?.split_whitespace().skip(2).peekable();
        let pc = hex(words.next()?)?;
        let word = hex(words.next()?.trim_matches(['(', ')']))? as u32;
        let mut commit = Commit { pc, word, x: vec![], f: vec![], csrs: vec![], stores: vec![] };
        while let Some(name) = words.next() {
            let text = words.next()?;
            let value = hex(text)?;
            if name == "mem" {
                // A store has its value behind the address, as wide as it is.
                if let Some(data) = words.next_if(|w| w.starts_with("0x")) {
                    commit.stores.push((value, (data.len() - 2) / 2, hex(data)?));
                }
            } else if let Some(number) = name.strip_prefix('c') {
                commit.csrs.push((number.split('_').next()?.parse().ok()?, value));
            } else if let Some(number) = name.strip_prefix('x') {
                commit.x.push((number.parse().ok()?, value));
            } else if let Some(number) = name.strip_prefix('f') {
                commit.f.push((number.parse().ok()?, value));
            }
        }
        Some(commit)
    }
}

fn hex(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()
}

/// The registers as the peer has them.
#[derive(Clone, Debug)]
pub struct Shadow {
    x: [u64; 32],
    f: [u64; 32],
}

impl Shadow {
    /// The registers of a machine, where it starts.
    #[must_use]
    pub fn of(hart: &Hart) -> Self {
        Shadow { x: *hart.x_registers(), f: *hart.f_registers() }
    }

    /// Notes what the peer did, and says how the hart, having done the same instruction, differs.
    pub fn compare(&mut self, commit: &Commit, hart: &Hart) -> Option<String> {
        for &(r, value) in &commit.x {
            self.x[usize::from(r)] = value;
        }
        for &(r, value) in &commit.f {
            self.f[usize::from(r)] = value;
        }
        let files = [('x', &self.x, hart.x_registers()), ('f', &self.f, hart.f_registers())];
        for (name, theirs, ours) in files {
            if let Some(r) = (0..32).find(|&r| theirs[r] != ours[r]) {
                return Some(format!("{name}{r}: {:#018x}, ours {:#018x}", theirs[r], ours[r]));
            }
        }
        for &(number, value) in &commit.csrs {
            let ours = match number {
                csr::FFLAGS => u64::from(hart.fflags().0),
                csr::FRM => u64::from(hart.frm()),
                _ => continue,
            };
            if ours != value {
                return Some(format!("csr {number:#x}: {value:#x}, ours {ours:#x}"));
            }
        }
        for &(address, size, value) in &commit.stores {
            let at = address.wrapping_sub(RAM) as usize;
            let bytes = hart.memory().get(at..at.saturating_add(size))?;
            let ours = bytes.iter().rev().fold(0, |v: u64, b| v << 8 | u64::from(*b));
            if ours != value {
                return Some(format!("memory at {address:#x}: {value:#x}, ours {ours:#x}"));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_log_is_read() {
        let line = "core   0: 3 0x0000000080000202 (0x037f242f) c1_fflags 0x0000000000000011 x8  \
                    0xffffffffffffbf76 f14 0xffffffff7fc00000 mem 0x0000000080101080 mem 0x0000000080101080 \
                    0xffffea14";
        let commit = Commit::parse(line).expect("a commit");
        assert_eq!((commit.pc, commit.word), (0x8000_0202, 0x037f_242f));
        assert_eq!(commit.x, [(8, 0xffff_ffff_ffff_bf76)]);
        assert_eq!(commit.f, [(14, 0xffff_ffff_7fc0_0000)]);
        assert_eq!(commit.csrs, [(1, 0x11)]);
        assert_eq!(commit.stores, [(0x8010_1080, 4, 0xffff_ea14)]);
        assert_eq!(Commit::parse("warning: something"), None);
    }
}
