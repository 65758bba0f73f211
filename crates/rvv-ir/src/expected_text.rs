//! The text of what a program must print, as `expected.VLEN.txt` holds it.
//!
//! ```text
//! rvv-expected 1
//! vlen 256
//! vl max
//! out out3: i32[10]
//!   0: 0000002a ffffffff ???????? 00000001 00000000 00000000 00000000 00000000
//!   8: 7fffffff 80000000
//! out out4: u8[2]
//!   0: 0b??????01 0b00000011
//! ```
//!
//! The head names the version of the format, the VLEN and the choice of vl. Each output buffer of the program
//! follows with its type, and rows of elements behind the index of the first. An element is its value in
//! hexadecimal, `?` for a digit that may be anything; if a digit is defined in part, all bits of the element
//! behind `0b`, `?` for each that may be anything. After its rows, `either 3: 3f800000 3f800001` lists the
//! values that an element may have, if it is one of several. `#` starts a comment.

use crate::{Buffer, Contents, Expected, Program, VlChoice};
use std::fmt::Write;

/// The version of the format this crate reads and writes.
pub const EXPECTED_VERSION: u32 = 1;

/// Why a text is not what a program must print.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ExpectedError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

/// One element: `0000002a`, `??`, `0b??????01`. Bytes are in memory order.
pub fn element_text(bytes: &[u8], defined: &[u8]) -> String {
    let mut text = String::new();
    let partly = defined.iter().any(|d| ![0, 15].contains(&(d & 15)) || ![0, 15].contains(&(d >> 4)));
    if partly {
        text.push_str("0b");
    }
    for (byte, defined) in bytes.iter().zip(defined).rev() {
        if partly {
            for bit in (0..8).rev() {
                text.push(match (defined >> bit & 1, byte >> bit & 1) {
                    (0, _) => '?',
                    (_, 0) => '0',
                    _ => '1',
                });
            }
        } else {
            for shift in [4, 0] {
                let digit = char::from_digit(u32::from(byte >> shift & 15), 16).unwrap_or('?');
                text.push(if defined >> shift & 15 == 0 { '?' } else { digit });
            }
        }
    }
    text
}

/// The element that a text means: bytes and what is defined of them, or what would be right.
fn parse_element(text: &str, size: usize) -> Result<(Vec<u8>, Vec<u8>), String> {
    let (digits, width, radix) = match text.strip_prefix("0b") {
        // Hexadecimal digits may begin so, too: then there are as many as hexadecimal digits.
        Some(bits) if text.len() != size * 2 => (bits, 1, 2),
        _ => (text, 4, 16),
    };
    if digits.len() != size * 8 / width {
        return Err(format!("`{text}` is no element of {size} bytes: write {} hexadecimal digits", size * 2));
    }
    let (mut value, mut defined) = (0u64, 0u64);
    for c in digits.chars() {
        let mask = (1 << width) - 1;
        let (digit, known) = match c.to_digit(radix) {
            Some(digit) => (u64::from(digit), mask),
            None if c == '?' => (0, 0),
            None => return Err(format!("`{c}` in `{text}` is neither a digit nor `?`")),
        };
        value = value << width | digit;
        defined = defined << width | known;
    }
    Ok((value.to_le_bytes()[..size].to_vec(), defined.to_le_bytes()[..size].to_vec()))
}

/// `either 3: 3f800000 3f800001`
fn either(line: &str, buffer: &Buffer) -> Option<(usize, Vec<u64>)> {
    let (at, values) = line.strip_prefix("either ")?.split_once(':')?;
    let at = at.trim().parse().ok().filter(|at| *at < buffer.len)?;
    let value = |text: &str| {
        let fits = text.len() == 2 * buffer.elem.bytes() as usize;
        u64::from_str_radix(text, 16).ok().filter(|_| fits)
    };
    let values: Vec<u64> = values.split_whitespace().map(value).collect::<Option<_>>()?;
    (values.len() > 1 && values.is_sorted_by(|a, b| a < b)).then_some((at, values))
}

fn head(buffer: &Buffer) -> String {
    format!("out {}: {}[{}]", buffer.name, buffer.elem.short(), buffer.len)
}

impl Expected {
    /// The text. [`Expected::from_text`] reads it back to an equal value.
    pub fn to_text(&self, program: &Program) -> String {
        let mut text =
            format!("rvv-expected {EXPECTED_VERSION}\nvlen {}\nvl {}\n", self.vlen, self.vl.name());
        for ((_, buffer), contents) in program.outputs().zip(&self.outputs) {
            text.push_str(&head(buffer));
            let size = buffer.elem.bytes() as usize;
            let per_line = 32 / size;
            let elements = contents.bytes.chunks(size).zip(contents.defined.chunks(size));
            for (i, (bytes, defined)) in elements.enumerate() {
                if i % per_line == 0 {
                    // Writing to a string does not fail.
                    let _ = write!(text, "\n  {i}:");
                }
                text.push(' ');
                text.push_str(&element_text(bytes, defined));
            }
            text.push('\n');
            for (at, values) in &contents.either {
                let values: Vec<String> =
                    values.iter().map(|v| format!(" {v:0width$x}", width = 2 * size)).collect();
                let _ = writeln!(text, "  either {at}:{}", values.concat());
            }
        }
        text
    }

    /// Reads what [`Expected::to_text`] wrote for this program.
    ///
    /// # Errors
    /// The first line that is not as it should be, and how it should be.
    pub fn from_text(program: &Program, text: &str) -> Result<Expected, ExpectedError> {
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()))
            .filter(|(_, line)| !line.is_empty())
            .peekable();
        let end = text.lines().count() + 1;
        let fail = |line, message: String| Err(ExpectedError { line, message });
        let mut expected = Expected::default();
        for key in ["rvv-expected", "vlen", "vl"] {
            let (number, line) = lines.next().unwrap_or((end, ""));
            let Some((_, value)) = line.split_once(' ').filter(|(k, _)| *k == key) else {
                return fail(number, format!("expected a line `{key} …`, found `{line}`"));
            };
            match key {
                "vl" => match VlChoice::from_name(value.trim()) {
                    Some(vl) => expected.vl = vl,
                    None => return fail(number, format!("`{value}` is no choice of vl; max and half are")),
                },
                "vlen" => match value.trim().parse() {
                    Ok(vlen) => expected.vlen = vlen,
                    Err(_) => return fail(number, format!("`{value}` is no VLEN; write `vlen 256`")),
                },
                _ if value.trim() != EXPECTED_VERSION.to_string() => {
                    return fail(number, format!("version {value} is not known; this is {EXPECTED_VERSION}"));
                }
                _ => {}
            }
        }
        for (_, buffer) in program.outputs() {
            let (number, line) = lines.next().unwrap_or((end, "the end"));
            if line != head(buffer) {
                let wanted = head(buffer);
                return fail(number, format!("the program's next output is `{wanted}`, found `{line}`"));
            }
            let size = buffer.elem.bytes() as usize;
            let mut contents = Contents::default();
            while contents.bytes.len() < buffer.bytes() {
                let (number, line) = lines.next().unwrap_or((end, "the end"));
                let index = contents.bytes.len() / size;
                let elements = line.strip_prefix(&format!("{index}:"));
                let Some(elements) = elements.filter(|e| !e.trim().is_empty()) else {
                    return fail(number, format!("expected `{index}: …`, elements of `{}`", buffer.name));
                };
                for element in elements.split_whitespace() {
                    match parse_element(element, size) {
                        Ok((bytes, defined)) => {
                            contents.bytes.extend(bytes);
                            contents.defined.extend(defined);
                        }
                        Err(message) => return fail(number, message),
                    }
                }
                if contents.bytes.len() > buffer.bytes() {
                    return fail(number, format!("`{}` has {} elements, not more", buffer.name, buffer.len));
                }
            }
            while let Some((number, line)) = lines.next_if(|(_, line)| line.starts_with("either ")) {
                match either(line, buffer) {
                    Some((at, values)) => {
                        contents.either.insert(at, values);
                    }
                    None => {
                        return fail(
                            number,
                            format!("expected `either ELEMENT: VALUE VALUE …` of `{}`", buffer.name),
                        );
                    }
                }
            }
            expected.outputs.push(contents);
        }
        match lines.next() {
            Some((number, line)) => fail(number, format!("expected the end, found `{line}`")),
            None => Ok(expected),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferKind, data::Init};
    use rvv_intrinsics::Elem;

    fn program() -> Program {
        let mut program = Program::default();
        for (i, elem) in [Elem::U8, Elem::I16, Elem::F32, Elem::U64].into_iter().enumerate() {
            let (name, init) = (format!("out{i}"), Init::Zero);
            program.buffers.push(Buffer {
                name,
                elem,
                truths: false,
                len: 5 * i + 1,
                dims: Vec::new(),
                kind: BufferKind::Out,
                init,
            });
        }
        program
    }

    fn expected(program: &Program, seed: u64) -> Expected {
        let mut rng = crate::data::SplitMix(seed);
        let mut outputs = Vec::new();
        for (_, buffer) in program.outputs() {
            let mut contents = Contents::default();
            for _ in 0..buffer.bytes() {
                let defined = [0xff, 0, 0xf0, rng.next_u64() as u8]
                    [rng.below(if seed.is_multiple_of(2) { 3 } else { 4 }) as usize];
                contents.bytes.push(rng.next_u64() as u8 & defined);
                contents.defined.push(defined);
            }
            if seed.is_multiple_of(3) {
                contents.set_either(buffer.elem, buffer.len / 2, vec![1, 2 + seed % 9]);
            }
            outputs.push(contents);
        }
        Expected { vlen: 256, vl: VlChoice::Half, outputs }
    }

    #[test]
    fn what_is_written_is_read_back() {
        let program = program();
        for seed in 0..200 {
            let expected = expected(&program, seed);
            let text = expected.to_text(&program);
            assert_eq!(Expected::from_text(&program, &text).as_ref(), Ok(&expected), "{text}");
        }
    }

    #[test]
    fn an_element_shows_what_is_defined() {
        assert_eq!(element_text(&[0x2a, 0, 0, 0], &[0xff; 4]), "0000002a");
        assert_eq!(element_text(&[0x2a, 0], &[0xff, 0]), "??2a");
        assert_eq!(element_text(&[0x01], &[0x03]), "0b??????01");
        // Not to be confused: hexadecimal digits that begin like bits.
        assert_eq!(parse_element("0b12", 2), Ok((vec![0x12, 0x0b], vec![0xff, 0xff])));
    }

    #[test]
    fn a_wrong_text_is_refused_where_it_is_wrong() {
        let program = program();
        let text = expected(&program, 2).to_text(&program);
        for (from, to, line) in [
            ("rvv-expected 1", "rvv-expected 2", 1),
            ("vlen 256", "vlen many", 2),
            ("vl half", "vl some", 3),
            ("out out0: u8[1]", "out out0: u8[2]", 4),
            ("  0: ", "  1: ", 5),
            ("  0: ", "  0: 0123 ", 5),
            ("  0: ", "  0: xx ", 5),
            ("  0: ", "  0: ?? ?? ", 5),
            ("out out1", "  either 1: 00 01\nout out1", 6),
            ("out out1", "  either 0: 01 00\nout out1", 6),
            ("out out1", "  either 0: 01\nout out1", 6),
            ("out out1", "  either 0: 001 002\nout out1", 6),
        ] {
            let error = Expected::from_text(&program, &text.replacen(from, to, 1)).unwrap_err();
            assert_eq!(error.line, line, "{from} → {to}: {error}");
        }
        for end in 0..text.len() - 1 {
            assert!(Expected::from_text(&program, &text[..end]).is_err(), "{end}");
        }
    }
}
