//! Words, numbers and signs of a program's text, with their places.

use crate::parse::ParseError;

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// A name or keyword.
    Word(String),
    /// A number, by its 64 bits: `-4` is the two's complement.
    Number(u64),
    /// A sign: one character, or two of a comparison or an arrow.
    Sign(&'static str),
    /// The end of the text.
    End,
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Number(n) => write!(f, "`{n}`"),
            Token::Sign(sign) => write!(f, "`{sign}`"),
            Token::End => f.write_str("the end of the file"),
        }
    }
}

/// A place in the text: line and column, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Place {
    /// Line.
    pub line: u32,
    /// Column, in characters.
    pub column: u32,
}

/// Longer ones first.
const SIGNS: [&str; 33] = [
    "->", "==", "!=", "<<", ">>", "<=", ">=", "&&", "||", "<", ">", "=", "{", "}", "(", ")", "[", "]", ",",
    ":", "&", "+", "-", "*", ";", "/", ".", "%", "|", "^", "~", "!", "?",
];

/// A text taken apart.
#[derive(Debug, Default)]
pub struct Tokens {
    /// Each with its place; the last is [`Token::End`].
    pub tokens: Vec<(Token, Place)>,
    /// The comment lines before the first declaration.
    pub comment: Vec<String>,
}

/// Takes a text apart.
pub fn tokens(text: &str) -> Result<Tokens, ParseError> {
    let mut found = Vec::new();
    let mut comment = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let mut rest = line;
        // What has been counted of the line, in bytes and in characters.
        let (mut counted, mut column) = (0, 1);
        while let Some(c) = rest.chars().next() {
            let here = line.len() - rest.len();
            column += line[counted..here].chars().count() as u32;
            counted = here;
            let place = Place { line: number as u32 + 1, column };
            if c.is_whitespace() {
                rest = &rest[c.len_utf8()..];
            } else if let Some(text) = rest.strip_prefix('#') {
                // The head: only the words `rvv-ir N` (three tokens: rvv, -, ir, and the number) so far.
                if found.len() <= 4 {
                    comment.push(text.strip_prefix(' ').unwrap_or(text).to_string());
                }
                break;
            } else if c.is_ascii_digit() {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
                let (word, after) = rest.split_at(end);
                let value = match word.strip_prefix("0x") {
                    Some(hex) => u64::from_str_radix(hex, 16),
                    None => word.parse(),
                };
                let value = value.map_err(|_| {
                    ParseError::new(place, format!("`{word}` is not a number of 64 bits; write 12 or 0xc"))
                })?;
                found.push((Token::Number(value), place));
                rest = after;
            } else if c.is_ascii_alphabetic() || c == '_' {
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
                found.push((Token::Word(rest[..end].to_string()), place));
                rest = &rest[end..];
            } else if let Some(sign) = SIGNS.into_iter().find(|s| rest.starts_with(s)) {
                found.push((Token::Sign(sign), place));
                rest = &rest[sign.len()..];
            } else {
                return Err(ParseError::new(place, format!("`{}` has no meaning here", c.escape_default())));
            }
        }
    }
    let end = Place { line: text.lines().count() as u32 + 1, column: 1 };
    found.push((Token::End, end));
    Ok(Tokens { tokens: found, comment })
}
