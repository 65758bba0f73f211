//! Outcomes of a program, a letter for each testbed, as they are stored: by runs. `-12.3w` is twelve times
//! `-`, three times `.` and a `w`. Most letters are like the one before: few testbeds judge a program.
//!
//! Before format 5 letters were stored as they are. That reads the same: no letter is a digit.

/// The letters of one row, coded.
pub(super) fn code(letters: &str) -> String {
    let mut coded = String::new();
    let mut letters = letters.chars().peekable();
    while let Some(letter) = letters.next() {
        let mut count = 1_usize;
        while letters.next_if_eq(&letter).is_some() {
            count += 1;
        }
        coded.push(letter);
        if count > 1 {
            coded += &count.to_string();
        }
    }
    coded
}

/// The runs of a row: a letter, and how often it is there. Rows come from anywhere: a count that no number
/// has is the largest, and one without a letter is nothing.
pub(super) fn runs(coded: &str) -> impl Iterator<Item = (char, usize)> {
    let mut rest = coded.trim_start_matches(|c: char| c.is_ascii_digit());
    std::iter::from_fn(move || {
        let letter = rest.chars().next()?;
        rest = &rest[letter.len_utf8()..];
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let count = if digits == 0 { 1 } else { rest[..digits].parse().unwrap_or(usize::MAX) };
        rest = &rest[digits..];
        Some((letter, count))
    })
}

/// The letters of a row, but no more than there are testbeds.
pub(super) fn decode(coded: &str, testbeds: usize) -> String {
    let mut letters = String::new();
    let mut left = testbeds;
    for (letter, count) in runs(coded) {
        let count = count.min(left);
        letters.extend(std::iter::repeat_n(letter, count));
        left -= count;
    }
    letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;

    #[test]
    fn letters_come_back() {
        assert_eq!(code("------------...w"), "-12.3w");
        assert_eq!((code(""), decode("", 9)), (String::new(), String::new()));
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        for _ in 0..1000 {
            let mut letters = String::new();
            while letters.len() < 500 {
                let letter = ['-', '.', 'w', 'u'][rng.random_range(0..4)];
                letters.extend(std::iter::repeat_n(letter, rng.random_range(1..40)));
            }
            let coded = code(&letters);
            assert!(coded.len() <= letters.len());
            assert_eq!(decode(&coded, letters.len()), letters);
            // What was stored before is read, too.
            assert_eq!(decode(&letters, letters.len()), letters);
        }
    }

    #[test]
    fn rows_that_nobody_wrote_are_no_longer_than_there_are_testbeds() {
        assert_eq!(decode("w99999999999999999999999999", 7), "wwwwwww");
        assert_eq!(decode("12.3w", 9), "...w");
        assert_eq!(decode("ä2∞w0.", 9), "ää∞.");
        assert_eq!(decode(".5", 3), "...");
    }
}
