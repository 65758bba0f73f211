//! Values of `#if`.

use super::DEEPEST;
use super::lex::{Tok, Token};
use super::parse::integer;

/// The value of a condition, macros expanded. A name that nothing defines has the value that `unknown` gives
/// it, and what depends on one without a value has none.
pub fn evaluate(tokens: &[Token], unknown: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
    let mut reader = Reader { tokens, at: 0, unknown };
    reader.ternary(0)
}

struct Reader<'t> {
    tokens: &'t [Token],
    at: usize,
    unknown: &'t dyn Fn(&str) -> Option<i64>,
}

/// By rising precedence.
const LEVELS: [&[&str]; 10] = [
    &["||"],
    &["&&"],
    &["|"],
    &["^"],
    &["&"],
    &["==", "!="],
    &["<", "<=", ">", ">="],
    &["<<", ">>"],
    &["+", "-"],
    &["*", "/", "%"],
];

impl Reader<'_> {
    fn takes(&mut self, sign: &str) -> bool {
        let found = self.tokens.get(self.at).is_some_and(|t| t.is(sign));
        self.at += usize::from(found);
        found
    }

    fn ternary(&mut self, depth: usize) -> Option<i64> {
        if depth > DEEPEST {
            self.at = self.tokens.len();
            return None;
        }
        let condition = self.level(0, depth);
        if !self.takes("?") {
            return condition;
        }
        let then = self.ternary(depth + 1);
        self.takes(":");
        let otherwise = self.ternary(depth + 1);
        if condition? != 0 { then } else { otherwise }
    }

    fn level(&mut self, level: usize, depth: usize) -> Option<i64> {
        let Some(signs) = LEVELS.get(level) else { return self.unary(depth) };
        let mut value = self.level(level + 1, depth);
        while let Some(sign) = signs.iter().find(|sign| self.tokens.get(self.at).is_some_and(|t| t.is(sign)))
        {
            self.at += 1;
            let other = self.level(level + 1, depth);
            value = binary(sign, value, other);
        }
        value
    }

    fn unary(&mut self, depth: usize) -> Option<i64> {
        if depth > DEEPEST {
            self.at = self.tokens.len();
            return None;
        }
        if self.takes("!") {
            return self.unary(depth + 1).map(|v| i64::from(v == 0));
        }
        if self.takes("-") {
            return self.unary(depth + 1).map(i64::wrapping_neg);
        }
        if self.takes("+") {
            return self.unary(depth + 1);
        }
        if self.takes("~") {
            return self.unary(depth + 1).map(|v| !v);
        }
        if self.takes("(") {
            let value = self.ternary(depth + 1);
            self.takes(")");
            return value;
        }
        let token = self.tokens.get(self.at)?;
        self.at += 1;
        match &token.tok {
            Tok::Number(number) => integer(number).map(|(value, _)| value as i64),
            Tok::Char(value) => Some(*value),
            Tok::Word(word) if **word == *"true" => Some(1),
            Tok::Word(word) => {
                let value = (self.unknown)(word);
                // A call of something that is not known: `__has_builtin(x)`.
                if self.takes("(") {
                    let mut open = 1;
                    while open > 0 && self.at < self.tokens.len() {
                        open += i32::from(self.tokens[self.at].is("("));
                        open -= i32::from(self.tokens[self.at].is(")"));
                        self.at += 1;
                    }
                }
                value
            }
            _ => None,
        }
    }
}

fn binary(sign: &str, a: Option<i64>, b: Option<i64>) -> Option<i64> {
    match (sign, a, b) {
        ("&&", Some(0), _) | ("&&", _, Some(0)) => return Some(0),
        ("||", Some(n), _) | ("||", _, Some(n)) if n != 0 => return Some(1),
        _ => {}
    }
    let (a, b) = (a?, b?);
    Some(match sign {
        "||" => i64::from(a != 0 || b != 0),
        "&&" => i64::from(a != 0 && b != 0),
        "|" => a | b,
        "^" => a ^ b,
        "&" => a & b,
        "==" => i64::from(a == b),
        "!=" => i64::from(a != b),
        "<" => i64::from(a < b),
        "<=" => i64::from(a <= b),
        ">" => i64::from(a > b),
        ">=" => i64::from(a >= b),
        "<<" => a.wrapping_shl(b as u32),
        ">>" => a.wrapping_shr(b as u32),
        "+" => a.wrapping_add(b),
        "-" => a.wrapping_sub(b),
        "*" => a.wrapping_mul(b),
        "/" => a.checked_div(b)?,
        _ => a.checked_rem(b)?,
    })
}
