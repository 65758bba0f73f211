//! Which pieces of guest vector registers are in host registers, too.
//!
//! Memory always has them: a result is written and, if it is read again soon, kept. So nothing has to be
//! saved when host code is left, and after a helper was called what was kept is loaded again
//! ([`super::emit::Emitter::refill`]).

use super::simd::Width;

/// The first host register that keeps a piece, and how many there are. The others are for templates to
/// compute in.
const FIRST: u8 = 5;
const COUNT: usize = 7;

/// What host code has at hand at some place.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cached {
    /// What each of those registers keeps: where that is among the vector registers, in bytes, and how wide.
    pieces: [Option<(i32, Width)>; COUNT],
    /// The register to be used next.
    next: u8,
    /// `rdx` points at the vector registers.
    pub base: bool,
}

impl Cached {
    /// The host register that has a piece. A narrow one has zeroes above, so the width must be the same.
    pub fn find(&self, at: i32, width: Width) -> Option<u8> {
        let index = self.pieces.iter().position(|&piece| piece == Some((at, width)))?;
        Some(FIRST + index as u8)
    }

    /// A host register to keep a piece in. What else is kept of these bytes is forgotten.
    pub fn take(&mut self, at: i32, width: Width) -> u8 {
        self.forget(at, width.bytes());
        let empty = self.pieces.iter().position(Option::is_none);
        let index = empty.unwrap_or_else(|| {
            self.next = (self.next + 1) % COUNT as u8;
            usize::from(self.next)
        });
        self.pieces[index] = Some((at, width));
        FIRST + index as u8
    }

    /// Some bytes of the vector registers are written.
    pub fn forget(&mut self, at: i32, bytes: usize) {
        for piece in &mut self.pieces {
            if piece.is_some_and(|(from, width)| from < at + bytes as i32 && at < from + width.bytes() as i32)
            {
                *piece = None;
            }
        }
    }

    /// What is kept is no longer what is there.
    pub fn forget_all(&mut self) {
        self.pieces = Default::default();
    }

    /// All that is kept: host register, where it is, how wide.
    pub fn all(&self) -> impl Iterator<Item = (u8, i32, Width)> + use<> {
        let pieces = self.pieces;
        (0..COUNT).filter_map(move |n| pieces[n].map(|(at, width)| (FIRST + n as u8, at, width)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_is_found_until_a_byte_of_it_is_written() {
        let mut cached = Cached::default();
        let a = cached.take(64, Width::B32);
        let b = cached.take(96, Width::B16);
        assert_ne!(a, b);
        assert_eq!(cached.find(64, Width::B32), Some(a));
        assert_eq!(cached.find(64, Width::B16), None, "another width");
        cached.forget(112, 8);
        assert_eq!(cached.find(96, Width::B16), Some(b), "written after it");
        cached.forget(95, 1);
        assert_eq!(cached.find(64, Width::B32), None);
        assert_eq!(cached.find(96, Width::B16), Some(b), "written before it");
        assert_eq!(cached.all().collect::<Vec<_>>(), [(b, 96, Width::B16)]);
    }

    #[test]
    fn no_two_pieces_are_in_one_register_and_the_oldest_goes_first() {
        let mut cached = Cached::default();
        for n in 0..20 {
            cached.take(32 * n, Width::B32);
            let mut registers: Vec<u8> = cached.all().map(|(r, ..)| r).collect();
            registers.dedup();
            assert_eq!(registers.len(), COUNT.min(n as usize + 1));
            assert!(registers.iter().all(|r| (5..12).contains(r)));
        }
        assert!((16..20).all(|n| cached.find(32 * n, Width::B32).is_some()));
    }
}
