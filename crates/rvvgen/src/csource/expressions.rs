//! Expressions.

use super::ast::{Binary, CType, Expr, ExprKind, Unary};
use super::lex::Tok;
use super::parse::{Parser, Result2, integer};
use rvv_intrinsics::Elem;

/// By rising precedence.
const LEVELS: [&[(&str, Binary)]; 10] = [
    &[("||", Binary::OrElse)],
    &[("&&", Binary::AndThen)],
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("==", Binary::Eq), ("!=", Binary::Ne)],
    &[("<", Binary::Lt), ("<=", Binary::Le), (">", Binary::Gt), (">=", Binary::Ge)],
    &[("<<", Binary::Shl), (">>", Binary::Shr)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Rem)],
];

const ASSIGNMENTS: [(&str, Option<Binary>); 11] = [
    ("=", None),
    ("+=", Some(Binary::Add)),
    ("-=", Some(Binary::Sub)),
    ("*=", Some(Binary::Mul)),
    ("/=", Some(Binary::Div)),
    ("%=", Some(Binary::Rem)),
    ("&=", Some(Binary::And)),
    ("|=", Some(Binary::Or)),
    ("^=", Some(Binary::Xor)),
    ("<<=", Some(Binary::Shl)),
    (">>=", Some(Binary::Shr)),
];

/// Operands of one chain such as `a + b + c …`: dropping such a tree is recursive.
const LONGEST: usize = 1000;

/// A floating-point number in C's spelling.
fn float(text: &str) -> Option<(f64, Elem)> {
    let lower = text.to_ascii_lowercase();
    let (digits, elem) = if lower.starts_with("0x") {
        let elem = if lower.ends_with('f') && lower.contains('p') { Elem::F32 } else { Elem::F64 };
        (lower.trim_end_matches(['f', 'l']), elem)
    } else if let Some(digits) = lower.strip_suffix("f16") {
        (digits, Elem::F16)
    } else if let Some(digits) = lower.strip_suffix('f') {
        (digits, Elem::F32)
    } else {
        (lower.trim_end_matches('l'), Elem::F64)
    };
    match digits.strip_prefix("0x") {
        None => digits.trim_end_matches('.').parse().ok().map(|value| (value, elem)),
        Some(hexadecimal) => {
            let (mantissa, exponent) = hexadecimal.split_once('p')?;
            let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
            let bits =
                u64::from_str_radix(&format!("{whole}{fraction}"), 16).ok().filter(|b| *b < 1 << 53)?;
            let exponent = exponent.parse::<i32>().ok()?.checked_sub(4 * fraction.len() as i32)?;
            // Exact: the mantissa is, and powers of two are, in two steps for the smallest.
            let half = exponent / 2;
            Some((bits as f64 * 2f64.powi(half) * 2f64.powi(exponent - half), elem))
        }
    }
}

impl Parser<'_> {
    pub(super) fn expression(&mut self) -> Result2<Expr> {
        let mut value = self.assignment()?;
        let mut count = 0;
        while self.is(",") {
            let place = self.place();
            self.at += 1;
            count += 1;
            if count > LONGEST {
                return self.fail(format!("an expression of more than {LONGEST} operands"));
            }
            let next = self.assignment()?;
            value = Expr { kind: ExprKind::Comma(Box::new(value), Box::new(next)), place };
        }
        Ok(value)
    }

    pub(super) fn assignment(&mut self) -> Result2<Expr> {
        self.deeper(|p| {
            let target = p.ternary()?;
            let place = p.place();
            for (sign, op) in ASSIGNMENTS {
                if p.takes(sign) {
                    let value = if p.is("{") { p.list()? } else { p.assignment()? };
                    let kind = ExprKind::Assign(op, Box::new(target), Box::new(value));
                    return Ok(Expr { kind, place });
                }
            }
            Ok(target)
        })
    }

    pub(super) fn ternary(&mut self) -> Result2<Expr> {
        self.deeper(|p| {
            let condition = p.level(0)?;
            let place = p.place();
            if !p.takes("?") {
                return Ok(condition);
            }
            let then = p.expression()?;
            p.expect(":")?;
            let otherwise = p.ternary()?;
            Ok(Expr { kind: ExprKind::Choice(Box::new([condition, then, otherwise])), place })
        })
    }

    fn level(&mut self, level: usize) -> Result2<Expr> {
        let Some(signs) = LEVELS.get(level) else { return self.unary() };
        let mut value = self.level(level + 1)?;
        let mut count = 0;
        while let Some((_, op)) = signs.iter().find(|(sign, _)| self.is(sign)) {
            let place = self.place();
            self.at += 1;
            count += 1;
            if count > LONGEST {
                return self.fail(format!("an expression of more than {LONGEST} operands"));
            }
            let right = self.level(level + 1)?;
            value = Expr { kind: ExprKind::Binary(*op, Box::new(value), Box::new(right)), place };
        }
        Ok(value)
    }

    pub(super) fn unary(&mut self) -> Result2<Expr> {
        self.deeper(Self::unary_inside)
    }

    fn unary_inside(&mut self) -> Result2<Expr> {
        let place = self.place();
        for (sign, op) in [
            ("-", Unary::Neg),
            ("~", Unary::Not),
            ("!", Unary::IsZero),
            ("+", Unary::Plus),
            ("*", Unary::Deref),
            ("&", Unary::Address),
        ] {
            if self.takes(sign) {
                let of = Box::new(self.unary()?);
                return Ok(Expr { kind: ExprKind::Unary(op, of), place });
            }
        }
        for (sign, step) in [("++", 1), ("--", -1)] {
            if self.takes(sign) {
                let of = Box::new(self.unary()?);
                return Ok(Expr { kind: ExprKind::Step(step, false, of), place });
            }
        }
        if self.token(0).is_word("sizeof") {
            self.at += 1;
            if self.is("(") && self.is_type(1) {
                self.at += 1;
                let (ty, _) = self.type_name()?;
                self.expect(")")?;
                return Ok(Expr { kind: ExprKind::SizeOf(ty), place });
            }
            let of = Box::new(self.unary()?);
            return Ok(Expr { kind: ExprKind::SizeOfValue(of), place });
        }
        if self.token(0).is_word("__extension__") {
            self.at += 1;
            return self.unary();
        }
        if self.is("(") && self.is_cast() {
            self.at += 1;
            let (ty, _) = self.type_name()?;
            self.expect(")")?;
            let of = if self.is("{") { self.list()? } else { self.unary()? };
            return Ok(Expr { kind: ExprKind::Cast(ty, Box::new(of)), place });
        }
        let first = self.primary()?;
        self.postfix(first)
    }

    /// Whether a type's name is so many tokens ahead.
    fn is_type(&self, ahead: usize) -> bool {
        let Some(word) = self.token(ahead).word() else { return false };
        let keyword = matches!(
            &**word,
            "const"
                | "volatile"
                | "struct"
                | "union"
                | "enum"
                | "unsigned"
                | "signed"
                | "char"
                | "short"
                | "int"
                | "long"
                | "float"
                | "double"
                | "typename"
        );
        keyword || self.named(word).is_some()
    }

    fn is_cast(&self) -> bool {
        if self.is_type(1) {
            // `(float)(x)`, but not `(float(x) + 1)`.
            return !self.token(2).is("(") || self.token(3).is("*");
        }
        // `(UNKNOWN *)x`, `(UNKNOWN)x`
        if self.token(1).word().is_none() {
            return false;
        }
        let mut ahead = 2;
        while self.token(ahead).is("::") && self.token(ahead + 1).word().is_some() {
            ahead += 2;
        }
        let stars = ahead;
        while self.token(ahead).is("*") {
            ahead += 1;
        }
        if !self.token(ahead).is(")") {
            return false;
        }
        if ahead > stars {
            return true;
        }
        let next = self.token(ahead + 1);
        matches!(next.tok, Tok::Word(_) | Tok::Number(_) | Tok::Char(_)) || next.is("~") || next.is("!")
    }

    /// `{ … }`
    pub(super) fn list(&mut self) -> Result2<Expr> {
        self.deeper(|p| {
            let place = p.place();
            p.expect("{")?;
            let mut items = Vec::new();
            while !p.takes("}") {
                if p.is(".") || p.is("[") {
                    return p.fail("a designated initialiser");
                }
                items.push(if p.is("{") { p.list()? } else { p.assignment()? });
                if !p.takes(",") && !p.is("}") {
                    return p.expect("}").map(|()| Expr { kind: ExprKind::Text, place });
                }
            }
            Ok(Expr { kind: ExprKind::List(items), place })
        })
    }

    fn primary(&mut self) -> Result2<Expr> {
        let place = self.place();
        let token = self.token(0).clone();
        self.at += 1;
        let kind = match token.tok {
            Tok::Number(text) => match integer(&text) {
                Some((value, elem)) => ExprKind::Integer(value, elem),
                None => match float(&text) {
                    Some((value, elem)) => ExprKind::Float(value, elem),
                    None => return Err((place, format!("the number `{text}`"))),
                },
            },
            Tok::Char(value) => ExprKind::Integer(value as u64, Elem::I32),
            Tok::Text(_) => {
                while matches!(self.token(0).tok, Tok::Text(_)) {
                    self.at += 1;
                }
                ExprKind::Text
            }
            Tok::Sign("(") if self.is("{") => {
                let body = self.block()?;
                self.expect(")")?;
                ExprKind::Block(body)
            }
            Tok::Sign("(") => {
                let inside = self.expression()?;
                self.expect(")")?;
                inside.kind
            }
            Tok::Word(word) => return self.word(word, place),
            Tok::Sign("[") => return Err((place, "a lambda".to_string())),
            Tok::Sign(sign) => return Err((place, format!("syntax: `{sign}` where a value should be"))),
            Tok::End => return Err((place, "syntax: the function ends in an expression".to_string())),
        };
        Ok(Expr { kind, place })
    }

    /// An expression that starts with a word.
    fn word(&mut self, word: std::rc::Rc<str>, place: super::Place) -> Result2<Expr> {
        let kind = match &*word {
            "true" => ExprKind::Integer(1, Elem::I32),
            "false" | "NULL" | "nullptr" => ExprKind::Integer(0, Elem::I32),
            "static_cast" | "reinterpret_cast" | "const_cast" if self.is("<") => {
                self.at += 1;
                let (ty, _) = self.type_name()?;
                self.expect(">")?;
                self.expect("(")?;
                let of = self.expression()?;
                self.expect(")")?;
                ExprKind::Cast(ty, Box::new(of))
            }
            "new" | "delete" | "throw" | "co_await" => return Err((place, format!("`{word}`"))),
            "_Generic" => return Err((place, "_Generic".to_string())),
            "__builtin_va_arg" | "va_arg" => return Err((place, "va_arg".to_string())),
            "__builtin_offsetof" | "offsetof" => return Err((place, "offsetof".to_string())),
            _ => {
                // `uint8_t(x)`, `unsigned(x)`
                self.at -= 1;
                if self.is_type(0) && (self.token(1).is("(") || self.token(1).is("{")) {
                    let ty = self.specifiers()?.ty;
                    let of = if self.is("{") {
                        self.list()?
                    } else {
                        self.expect("(")?;
                        if self.takes(")") {
                            return Err((place, format!("`{word}()`")));
                        }
                        let of = self.expression()?;
                        self.expect(")")?;
                        of
                    };
                    ExprKind::Cast(ty, Box::new(of))
                } else {
                    self.at += 1;
                    let mut name = word;
                    // `std::min`, `T::value`, `vfadd<float>`: the last name; its parameters are left out.
                    loop {
                        if self.is("::") && self.token(1).word().is_some() {
                            name = self.token(1).word().cloned().unwrap_or(name);
                            self.at += 2;
                        } else if self.is("<") && self.template_call() {
                            self.angles();
                        } else {
                            break;
                        }
                    }
                    ExprKind::Name(name)
                }
            }
        };
        Ok(Expr { kind, place })
    }

    /// `f<…>(`
    fn template_call(&self) -> bool {
        let mut open = 0i32;
        for ahead in 0..40 {
            match &self.token(ahead).tok {
                Tok::Sign("<") => open += 1,
                Tok::Sign(">") => open -= 1,
                Tok::Sign(">>") => open -= 2,
                Tok::Sign("::" | "," | "*") | Tok::Word(_) | Tok::Number(_) => {}
                _ => return false,
            }
            if open <= 0 {
                return self.token(ahead + 1).is("(") || self.token(ahead + 1).is("::");
            }
        }
        false
    }

    fn postfix(&mut self, mut value: Expr) -> Result2<Expr> {
        let mut count = 0;
        loop {
            let place = self.place();
            count += 1;
            if count > LONGEST {
                return self.fail(format!("an expression of more than {LONGEST} operands"));
            }
            let kind = if self.takes("(") {
                let mut args = Vec::new();
                while !self.takes(")") {
                    args.push(if self.is("{") { self.list()? } else { self.assignment()? });
                    if !self.takes(",") && !self.is(")") {
                        self.expect(")")?;
                    }
                }
                // The call is where its name is.
                let place = value.place;
                value = Expr { kind: ExprKind::Call(Box::new(value), args), place };
                continue;
            } else if self.takes("[") {
                let index = self.expression()?;
                self.expect("]")?;
                ExprKind::Index(Box::new(value), Box::new(index))
            } else if self.takes("->") || self.takes(".") {
                self.takes_word("template");
                let Some(name) = self.token(0).word().cloned() else { return self.fail("a member") };
                self.at += 1;
                if self.is("<") && self.template_call() {
                    self.angles();
                }
                ExprKind::Member(Box::new(value), name)
            } else if self.takes("++") {
                ExprKind::Step(1, true, Box::new(value))
            } else if self.takes("--") {
                ExprKind::Step(-1, true, Box::new(value))
            } else {
                return Ok(value);
            };
            value = Expr { kind, place };
        }
    }
}

/// The type of a literal, for those who only need it.
impl Expr {
    /// The type of a literal.
    pub fn literal_type(&self) -> Option<CType> {
        match &self.kind {
            ExprKind::Integer(_, elem) | ExprKind::Float(_, elem) => Some(CType::Scalar(*elem)),
            _ => None,
        }
    }
}
