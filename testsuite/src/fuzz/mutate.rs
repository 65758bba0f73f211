//! Changes of good bytes and good texts.

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

/// No input grows past this.
const LONGEST: usize = 1 << 16;

/// Numbers that are at an edge of something.
const NUMBERS: [&str; 16] = [
    "0",
    "1",
    "-1",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "0xffffffffffffffff",
];

/// Bytes with a few changes: bits, bytes, numbers at an edge, parts cut out, doubled or moved, the end
/// missing.
pub fn bytes(good: &[u8], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut all = good.to_vec();
    for _ in 0..rng.random_range(1..6) {
        if all.is_empty() {
            break;
        }
        let at = rng.random_range(0..all.len());
        let end = (at + rng.random_range(1..64)).min(all.len());
        match rng.random_range(0..12) {
            0 => all.truncate(at),
            1 => drop(all.drain(at..end)),
            2 => {
                let part = all[at..end].to_vec();
                let to = rng.random_range(0..=all.len());
                all.splice(to..to, part);
            }
            3 | 4 => all[at] = *[0, 1, 0x7f, 0x80, 0xff].choose(rng).expect("some"),
            5..=7 => all[at] ^= 1 << rng.random_range(0..8),
            8 => {
                // A big-endian or little-endian number.
                let n: u64 = 1 << rng.random_range(0..64);
                let n = n.wrapping_sub(rng.random_range(0..2));
                let n = if rng.random() { n.to_be_bytes() } else { n.to_le_bytes() };
                let part = &mut all[at..end];
                let len = part.len().min(8);
                part[..len].copy_from_slice(&n[..len]);
            }
            9 => all[at..end].fill(rng.random()),
            _ => all[at] = rng.random(),
        }
    }
    all.truncate(LONGEST);
    all
}

/// The kinds of what a text is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Word,
    Number,
    Space,
    Sign,
}

fn kind(c: char) -> Kind {
    match c {
        '0'..='9' => Kind::Number,
        _ if c.is_alphabetic() || c == '_' => Kind::Word,
        _ if c.is_whitespace() => Kind::Space,
        _ => Kind::Sign,
    }
}

/// A text taken apart: words, numbers, spaces, and signs one by one.
pub fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut start = 0;
    let mut last = None;
    for (at, c) in text.char_indices() {
        let is = kind(c);
        let goes_on = match last {
            Some(Kind::Word) => matches!(is, Kind::Word | Kind::Number),
            Some(Kind::Sign) | None => false,
            Some(before) => is == before,
        };
        if !goes_on {
            tokens.push(&text[start..at]);
            start = at;
            last = Some(is);
        }
    }
    tokens.push(&text[start..]);
    tokens.retain(|t| !t.is_empty());
    tokens
}

/// A good text with a few changes of its tokens and lines, which also come from another good text and from
/// `words`.
pub fn text(good: &[&str], others: &[&str], words: &[&str], rng: &mut ChaCha8Rng) -> Vec<u8> {
    let mut all = good.to_vec();
    // Fewer are accepted more often.
    for _ in 0..rng.random_range(1..5).min(rng.random_range(1..5)) {
        if all.is_empty() {
            break;
        }
        let at = rng.random_range(0..all.len());
        let to = rng.random_range(0..all.len());
        let line = |tokens: &[&str], at: usize| {
            let start = tokens[..at].iter().rposition(|t| t.contains('\n')).map_or(0, |i| i + 1);
            let end = tokens[at..].iter().position(|t| t.contains('\n'));
            start..end.map_or(tokens.len(), |i| at + i + 1)
        };
        match rng.random_range(0..12) {
            0 => drop(all.remove(at)),
            1 => all.insert(to, all[at]),
            2 => all.swap(at, to),
            3 => all[at] = words.choose(rng).expect("some"),
            4 => all.insert(at, words.choose(rng).expect("some")),
            // Numbers become others, words other words of the text: what is still well-formed comes far.
            5 | 6 => {
                let from = all[at].chars().next().map(kind);
                let same: Vec<usize> =
                    (0..all.len()).filter(|i| all[*i].chars().next().map(kind) == from).collect();
                match from {
                    Some(Kind::Number) if rng.random() => all[at] = NUMBERS.choose(rng).expect("some"),
                    _ => all[at] = all[*same.choose(rng).expect("itself")],
                }
            }
            7 => drop(all.drain(line(&all, at))),
            8 => {
                let copied = all[line(&all, at)].to_vec();
                let to = line(&all, to).start;
                all.splice(to..to, copied);
            }
            9 if !others.is_empty() => {
                let from = rng.random_range(0..others.len());
                let copied = others[line(others, from)].to_vec();
                let to = line(&all, to).start;
                all.splice(to..to, copied);
            }
            10 => {
                // Many of one kind: nesting, long lists, long names.
                let times = 1 << rng.random_range(1..9);
                let many = all[at..(at + 2).min(all.len())].repeat(times);
                all.splice(at..at, many);
            }
            _ => {
                let numbers: Vec<usize> =
                    (0..all.len()).filter(|i| all[*i].starts_with(|c| kind(c) == Kind::Number)).collect();
                if let Some(number) = numbers.choose(rng) {
                    all[*number] = NUMBERS.choose(rng).expect("some");
                }
            }
        }
    }
    let mut bytes = all.concat().into_bytes();
    bytes.truncate(LONGEST);
    if rng.random_range(0..8) == 0 { self::bytes(&bytes, rng) } else { bytes }
}
