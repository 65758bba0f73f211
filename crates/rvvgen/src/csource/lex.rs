//! Tokens of C and C++.

use super::ast::Place;
use std::rc::Rc;

/// What a token is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Tok {
    /// A name or a keyword.
    Word(Rc<str>),
    /// A number as it is written.
    Number(Rc<str>),
    /// A string, as it is written between its quotes.
    Text(Rc<str>),
    /// A character.
    Char(i64),
    /// Anything else.
    Sign(&'static str),
    /// The end.
    End,
}

/// Names that a token may not be expanded to again: the macros it came out of.
#[derive(Debug, PartialEq, Eq)]
pub struct Hidden {
    pub name: Rc<str>,
    pub rest: Option<Rc<Hidden>>,
    /// How many there are.
    pub depth: usize,
}

// Dropping a long list one by one would be recursive.
impl Drop for Hidden {
    fn drop(&mut self) {
        let mut rest = self.rest.take();
        while let Some(mut hidden) = rest.and_then(Rc::into_inner) {
            rest = hidden.rest.take();
        }
    }
}

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub tok: Tok,
    pub place: Place,
    /// It is the first of its line.
    pub first: bool,
    /// There is a space before it.
    pub spaced: bool,
    pub hidden: Option<Rc<Hidden>>,
}

impl Token {
    pub fn new(tok: Tok, place: Place) -> Token {
        Token { tok, place, first: false, spaced: true, hidden: None }
    }

    pub fn is(&self, sign: &str) -> bool {
        matches!(self.tok, Tok::Sign(s) if s == sign)
    }

    pub fn word(&self) -> Option<&Rc<str>> {
        match &self.tok {
            Tok::Word(word) => Some(word),
            _ => None,
        }
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.word().is_some_and(|w| **w == *word)
    }
}

/// The longest first.
const SIGNS: [&str; 51] = [
    "...", "<<=", ">>=", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "##", "::", "{", "}", "[", "]", "(", ")", ";", ":", "?", ".", "~", "!",
    "+", "-", "*", "/", "%", "<", ">", "=", "&", "|", "^", ",", "#", "@", "\\",
];

/// The tokens of a text. Nothing is an error: what is no token of C is left out.
pub fn tokens(text: &[u8], file: u32) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, line: 1, file, tokens: Vec::new(), first: true, spaced: false };
    while lexer.at < text.len() {
        lexer.next();
    }
    lexer.tokens
}

struct Lexer<'t> {
    text: &'t [u8],
    at: usize,
    line: u32,
    file: u32,
    tokens: Vec<Token>,
    first: bool,
    spaced: bool,
}

fn starts_name(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'$' || byte >= 0x80
}

fn in_name(byte: u8) -> bool {
    starts_name(byte) || byte.is_ascii_digit()
}

impl Lexer<'_> {
    fn byte(&self, ahead: usize) -> u8 {
        self.text.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn push(&mut self, tok: Tok, line: u32) {
        let place = Place { file: self.file, line };
        let (first, spaced) = (self.first, self.spaced);
        self.tokens.push(Token { tok, place, first, spaced, hidden: None });
        self.first = false;
        self.spaced = false;
    }

    fn next(&mut self) {
        let byte = self.byte(0);
        match byte {
            b'\n' => {
                self.line += 1;
                self.at += 1;
                self.first = true;
                self.spaced = true;
            }
            b' ' | b'\t' | b'\r' | 0x0b | 0x0c => {
                self.at += 1;
                self.spaced = true;
            }
            // A line goes on after a backslash.
            b'\\' if self.byte(1) == b'\n' || (self.byte(1) == b'\r' && self.byte(2) == b'\n') => {
                self.at += if self.byte(1) == b'\r' { 3 } else { 2 };
                self.line += 1;
                self.spaced = true;
            }
            b'/' if self.byte(1) == b'/' => {
                while self.at < self.text.len() && self.byte(0) != b'\n' {
                    if self.byte(0) == b'\\' && self.byte(1) == b'\n' {
                        self.at += 1;
                        self.line += 1;
                    }
                    self.at += 1;
                }
                self.spaced = true;
            }
            b'/' if self.byte(1) == b'*' => {
                self.at += 2;
                while self.at < self.text.len() && !(self.byte(0) == b'*' && self.byte(1) == b'/') {
                    self.line += u32::from(self.byte(0) == b'\n');
                    self.at += 1;
                }
                self.at += 2;
                self.spaced = true;
            }
            b'"' => self.string(),
            b'\'' => self.character(),
            b'0'..=b'9' => self.number(),
            b'.' if self.byte(1).is_ascii_digit() => self.number(),
            _ if starts_name(byte) => self.name(),
            _ => {
                let rest = &self.text[self.at..];
                match SIGNS.into_iter().find(|sign| rest.starts_with(sign.as_bytes())) {
                    Some(sign) => {
                        self.at += sign.len();
                        self.push(Tok::Sign(sign), self.line);
                    }
                    None => self.at += 1,
                }
            }
        }
    }

    fn string(&mut self) {
        let line = self.line;
        self.at += 1;
        let start = self.at;
        // An open string ends with its line.
        while self.at < self.text.len() && !matches!(self.byte(0), b'"' | b'\n') {
            if self.byte(0) == b'\\' {
                self.line += u32::from(self.byte(1) == b'\n');
                self.at += 1;
            }
            self.at += 1;
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at.min(self.text.len())]);
        self.at += usize::from(self.byte(0) == b'"');
        self.push(Tok::Text(text.into()), line);
    }

    fn character(&mut self) {
        self.at += 1;
        let mut value = i64::from(self.byte(0));
        if value == i64::from(b'\\') {
            self.at += 1;
            value = match self.byte(0) {
                b'n' => 10,
                b't' => 9,
                b'r' => 13,
                b'0'..=b'7' => {
                    let mut octal = 0;
                    while self.byte(0).is_ascii_digit() && octal < 256 {
                        octal = octal * 8 + i64::from(self.byte(0) - b'0');
                        self.at += 1;
                    }
                    self.at -= 1;
                    octal
                }
                b'x' => {
                    let mut hex = 0;
                    while let Some(digit) = char::from(self.byte(1)).to_digit(16).filter(|_| hex < 256) {
                        hex = hex * 16 + i64::from(digit);
                        self.at += 1;
                    }
                    hex
                }
                other => i64::from(other),
            };
        }
        // To its end, which is on this line.
        while self.at < self.text.len() && !matches!(self.byte(0), b'\'' | b'\n') {
            self.at += 1;
        }
        self.at += usize::from(self.byte(0) == b'\'');
        self.push(Tok::Char(value & 0xff), self.line);
    }

    fn number(&mut self) {
        let start = self.at;
        while self.at < self.text.len() {
            let (byte, next) = (self.byte(0), self.byte(1));
            let hexadecimal = self.text[start..].starts_with(b"0x") || self.text[start..].starts_with(b"0X");
            let exponent =
                if hexadecimal { matches!(byte, b'p' | b'P') } else { matches!(byte, b'e' | b'E') };
            if exponent && matches!(next, b'+' | b'-') {
                self.at += 2;
            } else if in_name(byte) || byte == b'.' || (byte == b'\'' && next.is_ascii_hexdigit()) {
                self.at += 1;
            } else {
                break;
            }
        }
        let text = String::from_utf8_lossy(&self.text[start..self.at]).replace('\'', "");
        self.push(Tok::Number(text.into()), self.line);
    }

    fn name(&mut self) {
        let start = self.at;
        while self.at < self.text.len() && in_name(self.byte(0)) {
            self.at += 1;
        }
        let name = &self.text[start..self.at];
        if self.byte(0) == b'"' && matches!(name, b"R" | b"u8R" | b"LR" | b"uR" | b"UR") {
            return self.raw_string();
        }
        if matches!(self.byte(0), b'"' | b'\'') && matches!(name, b"L" | b"u8" | b"u" | b"U") {
            return;
        }
        let name = String::from_utf8_lossy(name);
        self.push(Tok::Word(name.into()), self.line);
    }

    /// `R"x( … )x"`
    fn raw_string(&mut self) {
        let line = self.line;
        self.at += 1;
        let rest = &self.text[self.at..];
        let open = rest.iter().take(20).position(|b| *b == b'(').unwrap_or(0);
        let mut close = vec![b')'];
        close.extend_from_slice(&rest[..open]);
        close.push(b'"');
        let end = rest.windows(close.len()).position(|w| w == close).map_or(rest.len(), |n| n + close.len());
        self.line += rest[..end].iter().filter(|b| **b == b'\n').count() as u32;
        self.at += end;
        self.push(Tok::Text("".into()), line);
    }
}
