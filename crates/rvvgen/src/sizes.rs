//! How many: numbers drawn from a range, small ones more often.

use crate::rng::Rng;
use std::fmt;
use std::str::FromStr;

/// A range that numbers are drawn from: as many between 1 and 10 as between 10 and 100.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sizes {
    /// The least.
    pub least: usize,
    /// The most.
    pub most: usize,
}

impl Sizes {
    /// The operations of a program, unless something else is asked for.
    pub const OPERATIONS: Sizes = Sizes { least: 1, most: 100 };

    /// One of them.
    pub(crate) fn draw(self, rng: &mut Rng) -> usize {
        let (least, most) = (self.least.max(1), self.most.max(self.least).max(1));
        if least == most {
            return least;
        }
        let (from, to) = ((least as f64).ln(), (most as f64 + 1.0).ln());
        let unit = rng.below(1 << 20) as f64 / (1u64 << 20) as f64;
        ((from + unit * (to - from)).exp() as usize).clamp(least, most)
    }
}

impl From<usize> for Sizes {
    fn from(n: usize) -> Sizes {
        Sizes { least: n, most: n }
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.least == self.most {
            write!(f, "{}", self.least)
        } else {
            write!(f, "{}-{}", self.least, self.most)
        }
    }
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        let wrong = || format!("`{text}` is neither a number nor a range such as 1-100");
        let number = |text: &str| text.trim().parse::<usize>().map_err(|_| wrong());
        let (least, most) = match text.split_once('-') {
            Some((least, most)) => (number(least)?, number(most)?),
            None => (number(text)?, number(text)?),
        };
        if least == 0 || least > most {
            return Err(format!("`{text}`: a range goes from a number above 0 to one that is not smaller"));
        }
        Ok(Sizes { least, most })
    }
}

/// How many elements of data there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Lengths {
    /// So that strip loops run never, once, twice and often at every VLEN asked for.
    #[default]
    Strips,
    /// From a range, whatever the VLENs.
    Range(Sizes),
}

impl<S: Into<Sizes>> From<S> for Lengths {
    fn from(sizes: S) -> Lengths {
        Lengths::Range(sizes.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sizes_of_a_range_are_drawn_and_no_others() {
        let sizes: Sizes = "1-100".parse().unwrap();
        let mut rng = Rng::new(&[1]);
        let mut drawn = [0; 101];
        (0..20_000).for_each(|_| drawn[sizes.draw(&mut rng)] += 1);
        assert!(drawn[0] == 0 && drawn[1..].iter().all(|n| *n > 0), "{drawn:?}");
        let decade = drawn[1..10].iter().sum::<usize>() as f64 / 20_000.0;
        assert!((0.45..0.55).contains(&decade), "{decade}");
        assert_eq!(Sizes::from(7).draw(&mut rng), 7);
    }

    #[test]
    fn ranges_are_read_or_refused() {
        for good in ["1", "10", "1-100", "5-5"] {
            let sizes: Sizes = good.parse().unwrap();
            assert_eq!(sizes.to_string().parse(), Ok(sizes));
        }
        for bad in ["", "0", "-3", "3-", "9-8", "many", "1-2-3", "0-4"] {
            assert!(bad.parse::<Sizes>().is_err(), "{bad}");
        }
    }
}
