//! Functions, types and statements.

use super::ast::{CType, Function, Param, Place, Source, Stmt, StmtKind, Variable};
use super::declare::Declared;
use super::files::{Files, SourceError};
use super::lex::{Tok, Token};
use super::macros::preprocess;
use super::{DEEPEST, is_intrinsic_name};
use rvv_intrinsics::Elem;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// A file that has been read, with its headers.
#[derive(Debug)]
pub struct Unit {
    /// Its number in [`Files`].
    pub file: u32,
    /// What is in it.
    pub source: Source,
}

/// Reads a file and its headers.
///
/// # Errors
/// It cannot be read, or is too large. What is not understood in it is an error of its functions.
pub fn read(files: &mut Files, path: &Path) -> Result<Unit, SourceError> {
    let (file, text) = files.open(path)?;
    unit(files, file, &text)
}

/// Reads a text that is no file.
///
/// # Errors
/// As [`read`].
pub fn read_text(files: &mut Files, name: &str, text: &str) -> Result<Unit, SourceError> {
    let (file, text) = files.text(name, text.as_bytes())?;
    unit(files, file, &text)
}

fn unit(files: &mut Files, file: u32, text: &[Token]) -> Result<Unit, SourceError> {
    let tokens = preprocess(files, file, text)?;
    let mut parser = Parser::new(&tokens);
    parser.items(0, false);
    Ok(Unit { file, source: parser.source })
}

/// The value and the type of an integer, in C's spelling and LP64.
pub fn integer(text: &str) -> Option<(u64, Elem)> {
    let lower = text.to_ascii_lowercase();
    let digits = lower.trim_end_matches(['u', 'l', 'z']);
    let suffix = &lower[digits.len()..];
    let (digits, radix) = match digits {
        _ if digits.starts_with("0x") => (&digits[2..], 16),
        _ if digits.starts_with("0b") => (&digits[2..], 2),
        _ if digits.len() > 1 && digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    let value = u64::from_str_radix(digits, radix).ok()?;
    let unsigned = suffix.contains('u') || suffix.contains('z');
    let long = suffix.contains('l') || suffix.contains('z');
    let elem = match (unsigned, long) {
        (false, false) if value <= i32::MAX as u64 => Elem::I32,
        (false, false) if radix != 10 && value <= u32::MAX.into() => Elem::U32,
        (true, false) if value <= u32::MAX.into() => Elem::U32,
        (false, _) if value <= i64::MAX as u64 => Elem::I64,
        _ => Elem::U64,
    };
    Some((value, elem))
}

pub(super) type Failure = (Place, String);
pub(super) type Result2<T> = Result<T, Failure>;

pub(super) struct Parser<'t> {
    pub tokens: &'t [Token],
    pub at: usize,
    pub depth: usize,
    pub source: Source,
    pub typedefs: HashMap<Rc<str>, CType>,
    /// What comes after the last token.
    end: Token,
}

/// What looks like a call before the body of a function and is none.
const ATTRIBUTES: [&str; 12] = [
    "__attribute__",
    "__attribute",
    "__declspec",
    "alignas",
    "_Alignas",
    "noexcept",
    "decltype",
    "__asm__",
    "asm",
    "__typeof__",
    "requires",
    "explicit",
];

impl<'t> Parser<'t> {
    fn new(tokens: &'t [Token]) -> Parser<'t> {
        let end = Token::new(Tok::End, Place::default());
        Parser { tokens, at: 0, depth: 0, source: Source::default(), typedefs: HashMap::new(), end }
    }

    pub fn token(&self, ahead: usize) -> &Token {
        self.tokens.get(self.at + ahead).unwrap_or(&self.end)
    }

    pub fn place(&self) -> Place {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(Place::default(), |t| t.place)
    }

    pub fn ended(&self) -> bool {
        self.at >= self.tokens.len()
    }

    pub fn is(&self, sign: &str) -> bool {
        self.token(0).is(sign)
    }

    pub fn takes(&mut self, sign: &str) -> bool {
        let found = !self.ended() && self.is(sign);
        self.at += usize::from(found);
        found
    }

    pub fn takes_word(&mut self, word: &str) -> bool {
        let found = !self.ended() && self.token(0).is_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn fail<T>(&self, what: impl Into<String>) -> Result2<T> {
        Err((self.place(), what.into()))
    }

    pub fn expect(&mut self, sign: &str) -> Result2<()> {
        if self.takes(sign) {
            return Ok(());
        }
        let found = match &self.token(0).tok {
            Tok::End => "the end of the function".to_string(),
            Tok::Word(text) | Tok::Number(text) => format!("`{text}`"),
            Tok::Sign(sign) => format!("`{sign}`"),
            Tok::Text(_) => "a string".to_string(),
            Tok::Char(_) => "a character".to_string(),
        };
        self.fail(format!("syntax: expected `{sign}`, found {found}"))
    }

    /// One level deeper.
    pub fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result2<T>) -> Result2<T> {
        if self.depth >= DEEPEST {
            return self.fail(format!("nesting of more than {DEEPEST} levels"));
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// The place after the bracket that closes the one at `at`.
    pub fn closing(&self, at: usize) -> usize {
        let mut open = 0usize;
        for (i, token) in self.tokens.iter().enumerate().skip(at) {
            match &token.tok {
                Tok::Sign("(" | "[" | "{") => open += 1,
                Tok::Sign(")" | "]" | "}") => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return i + 1;
                    }
                }
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// Skips to the end of a declaration.
    fn skip(&mut self) {
        while !self.ended() {
            if self.is("(") || self.is("[") {
                self.at = self.closing(self.at);
            } else if self.is("{") {
                self.at = self.closing(self.at);
                self.takes(";");
                return;
            } else if self.takes(";") || self.is("}") {
                return;
            } else {
                self.at += 1;
            }
        }
    }

    /// Skips `< … >`.
    pub fn angles(&mut self) {
        if !self.is("<") {
            return;
        }
        let mut open = 0i32;
        while !self.ended() {
            match self.token(0).tok {
                Tok::Sign("<") => open += 1,
                Tok::Sign(">") => open -= 1,
                Tok::Sign(">>") => open -= 2,
                Tok::Sign(";" | "{" | "}") => return,
                Tok::Sign("(") => {
                    self.at = self.closing(self.at);
                    continue;
                }
                _ => {}
            }
            self.at += 1;
            if open <= 0 {
                return;
            }
        }
    }

    /// What is outside of functions, to the end or to a bracket that closes.
    fn items(&mut self, depth: usize, generic: bool) {
        while !self.ended() && !self.is("}") {
            let before = self.at;
            self.item(depth, generic);
            // Whatever it was, it goes on.
            if self.at == before {
                self.at += 1;
            }
            // A bracket too many at the outermost level.
            if depth == 0 && !self.ended() && self.is("}") {
                self.at += 1;
            }
        }
    }

    fn item(&mut self, depth: usize, generic: bool) {
        let token = self.token(0).clone();
        let Some(word) = token.word() else {
            if self.is("[") && self.token(1).is("[") {
                self.at = self.closing(self.at);
            } else {
                self.at += 1;
            }
            return;
        };
        match &**word {
            "template" => {
                self.at += 1;
                self.angles();
                self.item(depth, true);
            }
            "namespace" | "extern" if self.opens_block() => {
                while !self.is("{") {
                    self.at += 1;
                }
                self.at += 1;
                if depth >= DEEPEST {
                    self.at = self.tokens.len();
                    return;
                }
                self.items(depth + 1, generic);
                self.takes("}");
            }
            "typedef" => {
                self.at += 1;
                if self.typedef().is_err() {
                    self.skip();
                }
            }
            "using" => self.using(),
            "enum" => {
                if self.declaration_or_skip().is_err() {
                    self.skip();
                }
            }
            "struct" | "class" | "union" if self.defines_class() => self.class(depth, generic),
            "public" | "private" | "protected" if self.token(1).is(":") => self.at += 2,
            "static_assert" | "_Static_assert" | "friend" => self.skip(),
            _ => self.external(generic),
        }
    }

    /// `namespace x {` and `extern "C" {`
    fn opens_block(&self) -> bool {
        let mut ahead = 1;
        while matches!(self.token(ahead).tok, Tok::Word(_) | Tok::Text(_) | Tok::Sign("::")) && ahead < 20 {
            ahead += 1;
        }
        self.token(ahead).is("{")
    }

    /// `struct x {`, with bases or not; structures of plain C are read elsewhere.
    fn defines_class(&self) -> bool {
        let mut ahead = 1;
        while ahead < 40 {
            match &self.token(ahead).tok {
                Tok::Sign("{") => return true,
                Tok::Sign(";" | "(" | ")" | "=" | "*") => return false,
                _ => ahead += 1,
            }
        }
        false
    }

    fn class(&mut self, depth: usize, generic: bool) {
        // Its fields first, then what else it has.
        let start = self.at;
        if self.declaration_or_skip().is_ok() && !self.ended() {
            return;
        }
        self.at = start;
        while !self.is("{") && !self.ended() {
            self.at += 1;
        }
        let end = self.closing(self.at);
        self.at += 1;
        if depth < DEEPEST {
            self.items(depth + 1, generic);
        }
        self.at = self.at.max(end);
        self.takes(";");
    }

    fn using(&mut self) {
        let name = self.token(1).word().cloned();
        if let Some(name) = name
            && self.token(2).is("=")
        {
            self.at += 3;
            if let Ok((ty, _)) = self.type_name() {
                self.typedefs.insert(name, ty);
            }
        }
        self.skip();
    }

    fn typedef(&mut self) -> Result2<()> {
        let Declared { ty, .. } = self.specifiers()?;
        loop {
            let (name, ty) = self.declarator(ty.clone())?;
            if let Some(name) = name {
                self.typedefs.insert(name, ty);
            }
            if !self.takes(",") {
                return self.expect(";");
            }
        }
    }

    fn declaration_or_skip(&mut self) -> Result2<()> {
        let variables = self.declaration()?;
        self.source.globals.extend(variables);
        Ok(())
    }

    /// A function, or something declared.
    fn external(&mut self, generic: bool) {
        let start = self.at;
        let mut calls: Vec<(usize, usize)> = Vec::new();
        let mut at = start;
        let mut listed = false;
        let body = loop {
            let Some(token) = self.tokens.get(at) else { break None };
            match &token.tok {
                Tok::Sign("(") => {
                    let end = self.closing(at);
                    let name = at.checked_sub(1).filter(|n| *n >= start);
                    let word = name.and_then(|n| self.tokens[n].word());
                    if !listed && word.is_some_and(|w| !ATTRIBUTES.contains(&&**w)) {
                        calls.push((at - 1, end));
                    }
                    at = end;
                }
                Tok::Sign("[") => at = self.closing(at),
                Tok::Sign("{") => break Some(at),
                // The list of a constructor.
                Tok::Sign(":") if !calls.is_empty() => {
                    listed = true;
                    at += 1;
                }
                Tok::Sign(";" | "=" | "}") => break None,
                _ => at += 1,
            }
        };
        let named = calls.iter().find(|(name, _)| *name > start).or(calls.first());
        match (body, named) {
            (Some(body), Some(&(name, _))) => self.function(start, name, body, generic),
            _ => {
                let declared = self.declaration_or_skip();
                if declared.is_err() {
                    self.at = self.at.max(start);
                    self.skip();
                }
            }
        }
    }

    fn function(&mut self, start: usize, name: usize, body: usize, generic: bool) {
        let end = self.closing(body);
        let has_intrinsics =
            self.tokens[start..end].iter().filter_map(Token::word).any(|w| is_intrinsic_name(w));
        let place = self.tokens[name].place;
        let Some(name_word) = self.tokens[name].word().cloned() else {
            self.at = end;
            return;
        };
        let tokens = self.tokens;
        // The type before its name.
        self.at = start;
        self.tokens = &tokens[..name];
        let ret = self.specifiers().map(|d| self.pointers(d.ty)).unwrap_or(CType::Unknown(name_word.clone()));
        self.tokens = tokens;
        self.at = name + 1;
        let params = self.params();
        let body_result = match &params {
            Err(failure) => Err(failure.clone()),
            Ok(_) => {
                self.at = body;
                self.tokens = &tokens[..end];
                self.depth = 0;
                let read = self.block();
                self.tokens = tokens;
                self.depth = 0;
                read
            }
        };
        self.at = end;
        self.takes(";");
        self.source.functions.push(Function {
            name: name_word,
            ret,
            params: params.unwrap_or_default(),
            body: body_result,
            place,
            has_intrinsics,
            generic,
        });
    }

    /// `( … )` of a function.
    fn params(&mut self) -> Result2<Vec<Param>> {
        self.expect("(")?;
        let mut params = Vec::new();
        if self.takes(")") {
            return Ok(params);
        }
        loop {
            if self.takes("...") {
                self.expect(")")?;
                return Ok(params);
            }
            let Declared { ty, .. } = self.specifiers()?;
            let (name, ty) = self.declarator(ty)?;
            if self.takes("=") {
                self.assignment()?;
            }
            params.push(Param { name: name.unwrap_or_else(|| "".into()), ty });
            if self.takes(")") {
                break;
            }
            self.expect(",")?;
        }
        if params.len() == 1 && params[0].ty == CType::Void {
            params.clear();
        }
        Ok(params)
    }

    /// `{ … }`
    pub fn block(&mut self) -> Result2<Vec<Stmt>> {
        self.expect("{")?;
        let mut body = Vec::new();
        while !self.takes("}") {
            if self.ended() {
                return self.expect("}").map(|()| body);
            }
            body.push(self.deeper(Self::statement)?);
        }
        Ok(body)
    }

    fn boxed(&mut self) -> Result2<Box<Stmt>> {
        self.deeper(Self::statement).map(Box::new)
    }

    fn statement(&mut self) -> Result2<Stmt> {
        let place = self.place();
        let kind = self.statement_kind()?;
        Ok(Stmt { kind, place })
    }

    /// `( … )` of a statement; some write a macro between, which leaves brackets or a call.
    fn condition(&mut self) -> Result2<super::Expr> {
        self.takes_word("constexpr");
        if !self.is("(") {
            return self.unary();
        }
        self.expect("(")?;
        let condition = self.expression()?;
        self.expect(")")?;
        Ok(condition)
    }

    fn statement_kind(&mut self) -> Result2<StmtKind> {
        let token = self.token(0).clone();
        if self.is("{") {
            return Ok(StmtKind::Block(self.block()?));
        }
        if self.takes(";") {
            return Ok(StmtKind::Block(Vec::new()));
        }
        if self.is("[") && self.token(1).is("[") {
            self.at = self.closing(self.at);
            return self.deeper(Self::statement_kind);
        }
        let word: &str = token.word().map_or("", |w| w);
        if !word.is_empty() && self.token(1).is(":") && !matches!(word, "default") {
            // What goes to it is refused; by itself it does nothing.
            self.at += 2;
            return Ok(StmtKind::Block(Vec::new()));
        }
        match word {
            "if" => {
                self.at += 1;
                let condition = self.condition()?;
                let then = self.boxed()?;
                let otherwise = if self.takes_word("else") { Some(self.boxed()?) } else { None };
                Ok(StmtKind::If(condition, then, otherwise))
            }
            "while" => {
                self.at += 1;
                let condition = self.condition()?;
                Ok(StmtKind::While(condition, self.boxed()?))
            }
            "do" => {
                self.at += 1;
                let body = self.boxed()?;
                if !self.takes_word("while") {
                    return self.expect("while").map(|()| StmtKind::Break);
                }
                let condition = self.condition()?;
                self.takes(";");
                Ok(StmtKind::DoWhile(body, condition))
            }
            "for" => self.for_loop(),
            "switch" => {
                self.at += 1;
                let of = self.condition()?;
                Ok(StmtKind::Switch(of, self.boxed()?))
            }
            "case" => {
                self.at += 1;
                let value = self.ternary()?;
                self.expect(":")?;
                Ok(StmtKind::Case(Some(value)))
            }
            "default" => {
                self.at += 1;
                self.expect(":")?;
                Ok(StmtKind::Case(None))
            }
            "return" => {
                self.at += 1;
                let value = if self.is(";") { None } else { Some(self.expression()?) };
                self.expect(";")?;
                Ok(StmtKind::Return(value))
            }
            "break" => {
                self.at += 1;
                self.expect(";")?;
                Ok(StmtKind::Break)
            }
            "continue" => {
                self.at += 1;
                self.expect(";")?;
                Ok(StmtKind::Continue)
            }
            "goto" => self.other("goto"),
            "asm" | "__asm__" | "__asm" => self.other("inline assembly"),
            "try" => self.other("try"),
            "throw" => self.other("throw"),
            "typedef" => {
                self.at += 1;
                self.typedef()?;
                Ok(StmtKind::Block(Vec::new()))
            }
            "using" => {
                self.using();
                Ok(StmtKind::Block(Vec::new()))
            }
            "static_assert" | "_Static_assert" => {
                self.skip();
                Ok(StmtKind::Block(Vec::new()))
            }
            _ if self.starts_declaration() => {
                let variables = self.declaration()?;
                Ok(StmtKind::Declare(variables))
            }
            _ => {
                let value = self.expression()?;
                // A macro that stands for nothing may leave its semicolon out.
                if !self.takes(";") && !self.is("}") {
                    self.expect(";")?;
                }
                Ok(StmtKind::Expr(value))
            }
        }
    }

    fn other(&mut self, what: &'static str) -> Result2<StmtKind> {
        self.skip();
        Ok(StmtKind::Other(what))
    }

    fn for_loop(&mut self) -> Result2<StmtKind> {
        self.at += 1;
        self.expect("(")?;
        let place = self.place();
        let first = if self.takes(";") {
            None
        } else if self.starts_declaration() {
            let variables: Vec<Variable> = self.declaration()?;
            Some(Box::new(Stmt { kind: StmtKind::Declare(variables), place }))
        } else {
            let value = self.expression()?;
            self.expect(";")?;
            Some(Box::new(Stmt { kind: StmtKind::Expr(value), place }))
        };
        let condition = if self.is(";") { None } else { Some(self.expression()?) };
        self.expect(";")?;
        let step = if self.is(")") { None } else { Some(self.expression()?) };
        self.expect(")")?;
        Ok(StmtKind::For(first, condition, step, self.boxed()?))
    }
}
