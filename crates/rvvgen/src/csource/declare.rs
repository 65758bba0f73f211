//! Declarations: types and declarators.

use super::ast::{CType, ExprKind, Param, Unary, Variable};
use super::lex::Tok;
use super::parse::{Parser, Result2};
use super::vector_type;
use rvv_intrinsics::{Elem, Type};
use std::rc::Rc;

/// What stands before a declarator.
pub struct Declared {
    pub ty: CType,
}

/// Words that change no type.
const QUALIFIERS: [&str; 27] = [
    "const",
    "volatile",
    "static",
    "inline",
    "__inline",
    "__inline__",
    "extern",
    "register",
    "restrict",
    "__restrict",
    "__restrict__",
    "constexpr",
    "consteval",
    "thread_local",
    "_Thread_local",
    "__extension__",
    "_Noreturn",
    "virtual",
    "explicit",
    "friend",
    "mutable",
    "typename",
    "__const",
    "__volatile__",
    "_Atomic",
    "FORCE_INLINE",
    "noexcept",
];

/// Words that make up a number's type.
const NUMBERS: [&str; 10] =
    ["unsigned", "signed", "char", "short", "int", "long", "float", "double", "__signed__", "__int128"];

/// Types that a header of the system has.
fn known(name: &str) -> Option<CType> {
    let scalar = |elem| Some(CType::Scalar(elem));
    match name {
        "void" => Some(CType::Void),
        "bool" | "_Bool" => Some(CType::Bool),
        "auto" | "__auto_type" => Some(CType::Auto),
        "size_t" => Some(CType::Rvv(Type::Size)),
        "ptrdiff_t" => Some(CType::Rvv(Type::Ptrdiff)),
        "uintptr_t" | "uintmax_t" => Some(CType::Rvv(Type::Ulong)),
        "ssize_t" | "intptr_t" | "intmax_t" | "off_t" => Some(CType::Rvv(Type::Long)),
        "int8_t" | "int_least8_t" => scalar(Elem::I8),
        "int16_t" | "int_least16_t" => scalar(Elem::I16),
        "int32_t" | "int_least32_t" | "wchar_t" => scalar(Elem::I32),
        "int64_t" | "int_least64_t" | "int_fast16_t" | "int_fast32_t" | "int_fast64_t" => scalar(Elem::I64),
        "uint8_t" | "uint_least8_t" | "uint_fast8_t" => scalar(Elem::U8),
        "uint16_t" | "uint_least16_t" | "char16_t" => scalar(Elem::U16),
        "uint32_t" | "uint_least32_t" | "char32_t" => scalar(Elem::U32),
        "uint64_t" | "uint_least64_t" | "uint_fast16_t" | "uint_fast32_t" | "uint_fast64_t" => {
            scalar(Elem::U64)
        }
        "uint" | "uint32" => scalar(Elem::U32),
        "_Float16" | "__fp16" | "float16_t" => scalar(Elem::F16),
        "_Float32" | "float32_t" => scalar(Elem::F32),
        "_Float64" | "float64_t" => scalar(Elem::F64),
        "__bf16" => scalar(Elem::Bf16),
        _ => vector_type(name).map(CType::Rvv),
    }
}

impl Parser<'_> {
    /// A type by its name, if something defines it.
    pub(super) fn named(&self, name: &str) -> Option<CType> {
        self.typedefs.get(name).cloned().or_else(|| known(name))
    }

    fn is_type_word(&self, word: &str) -> bool {
        QUALIFIERS.contains(&word)
            || NUMBERS.contains(&word)
            || matches!(word, "struct" | "union" | "enum" | "class" | "typeof" | "__typeof__" | "decltype")
            || self.named(word).is_some()
    }

    /// Skips attributes and qualifiers.
    pub(super) fn qualifiers(&mut self) {
        loop {
            let token = self.token(0);
            if token.is("[") && self.token(1).is("[") {
                self.at = self.closing(self.at);
                continue;
            }
            let Some(word) = token.word() else { return };
            let attribute =
                matches!(&**word, "__attribute__" | "__attribute" | "__declspec" | "alignas" | "_Alignas");
            if attribute {
                self.at += 1;
                if self.is("(") {
                    self.at = self.closing(self.at);
                }
            } else if QUALIFIERS.contains(&&**word) {
                self.at += 1;
            } else {
                return;
            }
        }
    }

    /// Whether a declaration starts here.
    pub(super) fn starts_declaration(&self) -> bool {
        let Some(word) = self.token(0).word() else { return false };
        // `float(x)` is a conversion, `(` after another type a declarator that is rare.
        if self.is_type_word(word) {
            return !self.token(1).is("(")
                || matches!(&**word, "__attribute__" | "decltype" | "typeof" | "__typeof__");
        }
        if matches!(&**word, "__attribute__" | "alignas" | "_Alignas") {
            return true;
        }
        // `std::size_t n`, `Traits<T>::type n`, and names that nothing defines.
        let mut ahead = 1;
        while self.token(ahead).is("::") && self.token(ahead + 1).word().is_some() {
            ahead += 2;
        }
        if self.token(ahead).is("<") {
            let mut open = 0i32;
            while ahead < 60 {
                match self.token(ahead).tok {
                    Tok::Sign("<") => open += 1,
                    Tok::Sign(">") => open -= 1,
                    Tok::Sign(">>") => open -= 2,
                    Tok::Sign(";" | "{" | "}" | "&&" | "||" | "=") | Tok::End => return false,
                    _ => {}
                }
                ahead += 1;
                if open <= 0 {
                    break;
                }
            }
            while self.token(ahead).is("::") && self.token(ahead + 1).word().is_some() {
                ahead += 2;
            }
        }
        let mut pointer = false;
        while self.token(ahead).is("*")
            || self.token(ahead).is("&")
            || self.token(ahead).word().is_some_and(|w| QUALIFIERS.contains(&&**w))
        {
            pointer |= self.token(ahead).word().is_none();
            ahead += 1;
        }
        let Some(_) = self.token(ahead).word() else { return false };
        match self.token(ahead + 1).tok {
            Tok::Sign("=" | ";" | ",") => true,
            Tok::Sign("[" | "(" | "{" | ":") => !pointer,
            _ => false,
        }
    }

    /// The type that a declaration starts with.
    pub(super) fn specifiers(&mut self) -> Result2<Declared> {
        let mut words: Vec<Rc<str>> = Vec::new();
        let mut ty: Option<CType> = None;
        loop {
            self.qualifiers();
            let Some(word) = self.token(0).word().cloned() else { break };
            if NUMBERS.contains(&&*word) {
                if ty.is_some() {
                    break;
                }
                words.push(word);
                self.at += 1;
                continue;
            }
            if ty.is_some() || !words.is_empty() {
                break;
            }
            match &*word {
                "struct" | "union" | "class" => {
                    self.at += 1;
                    ty = Some(self.structure()?);
                }
                "enum" => {
                    self.at += 1;
                    ty = Some(self.enumeration()?);
                }
                "typeof" | "__typeof__" | "decltype" if self.token(1).is("(") => {
                    self.at = self.closing(self.at + 1);
                    ty = Some(CType::Auto);
                }
                _ => {
                    // A name that nothing defines before one that something does is a macro for nothing.
                    let next = self.token(1).word().cloned();
                    let before_type = next.is_some_and(|next| self.is_type_word(&next));
                    if self.named(&word).is_none() && before_type {
                        self.at += 1;
                        continue;
                    }
                    self.at += 1;
                    let mut name = word;
                    while self.is("::") || self.is("<") {
                        if self.takes("::") {
                            let Some(inner) = self.token(0).word().cloned() else { break };
                            self.at += 1;
                            name = inner;
                        } else {
                            self.angles();
                        }
                    }
                    ty = Some(self.named(&name).unwrap_or(CType::Unknown(name)));
                }
            }
        }
        let ty = match ty {
            Some(ty) => ty,
            None if !words.is_empty() => number(&words),
            None => return self.fail("a declaration without a type"),
        };
        Ok(Declared { ty })
    }

    /// After `struct`.
    fn structure(&mut self) -> Result2<CType> {
        self.qualifiers();
        let name = self.token(0).word().cloned();
        self.at += usize::from(name.is_some());
        self.takes_word("final");
        let name = name.unwrap_or_else(|| format!("at line {}", self.place().line).into());
        if !self.is("{") {
            return Ok(CType::Struct(name));
        }
        self.at += 1;
        let mut fields = Vec::new();
        while !self.takes("}") {
            if self.ended() {
                return self.fail("a structure without an end");
            }
            if self.takes(";") {
                continue;
            }
            let found = self.deeper(Self::declaration)?;
            fields.extend(found.into_iter().map(|v| Param { name: v.name, ty: v.ty }));
        }
        self.qualifiers();
        self.source.structs.insert(name.clone(), fields);
        Ok(CType::Struct(name))
    }

    /// After `enum`.
    fn enumeration(&mut self) -> Result2<CType> {
        self.takes_word("class");
        if self.token(0).word().is_some() {
            self.at += 1;
        }
        if self.takes(":") {
            self.specifiers()?;
        }
        if self.takes("{") {
            let mut value = 0i64;
            while !self.takes("}") {
                let Some(name) = self.token(0).word().cloned() else {
                    return self.fail("an enumeration");
                };
                self.at += 1;
                if self.takes("=") {
                    let init = self.ternary()?;
                    value = self.constant(&init).unwrap_or(value);
                }
                self.source.constants.insert(name, value);
                value = value.wrapping_add(1);
                if !self.takes(",") && !self.is("}") {
                    return self.fail("an enumeration");
                }
            }
        }
        Ok(CType::Scalar(Elem::I32))
    }

    /// A constant of an enumeration.
    fn constant(&self, of: &super::Expr) -> Option<i64> {
        match &of.kind {
            ExprKind::Integer(value, _) => Some(*value as i64),
            ExprKind::Unary(Unary::Neg, a) => self.constant(a).map(i64::wrapping_neg),
            ExprKind::Name(name) => self.source.constants.get(name).copied(),
            ExprKind::Binary(op, a, b) => {
                use super::Binary::*;
                let (a, b) = (self.constant(a)?, self.constant(b)?);
                match op {
                    Add => a.checked_add(b),
                    Sub => a.checked_sub(b),
                    Mul => a.checked_mul(b),
                    Shl => a.checked_shl(u32::try_from(b).ok()?),
                    Or => Some(a | b),
                    And => Some(a & b),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The stars before a name.
    pub(super) fn pointers(&mut self, mut ty: CType) -> CType {
        loop {
            self.qualifiers();
            if self.takes("*") {
                ty = CType::Pointer(Box::new(ty));
            } else if self.takes("&") || self.takes("&&") {
                ty = CType::Reference(Box::new(ty));
            } else {
                return ty;
            }
        }
    }

    /// A name with what belongs to its type. There may be no name.
    pub(super) fn declarator(&mut self, ty: CType) -> Result2<(Option<Rc<str>>, CType)> {
        let mut ty = self.pointers(ty);
        // `(*f)(…)` and `(*row)[n]`
        if self.is("(") && (self.token(1).is("*") || self.token(1).is("&") || self.token(1).is("^")) {
            let end = self.closing(self.at);
            let name = self.tokens[self.at..end].iter().filter_map(|t| t.word()).next().cloned();
            self.at = end;
            let function = self.is("(");
            while self.is("(") || self.is("[") {
                self.at = self.closing(self.at);
            }
            let of = if function { CType::Function } else { CType::Array(Box::new(ty), None) };
            return Ok((name, CType::Pointer(Box::new(of))));
        }
        let name = self.token(0).word().cloned();
        self.at += usize::from(name.is_some());
        let mut sizes = Vec::new();
        while self.is("[") && !self.token(1).is("[") {
            self.at += 1;
            // `static` and `restrict` of parameters.
            self.qualifiers();
            sizes.push(if self.is("]") { None } else { Some(Box::new(self.expression()?)) });
            self.expect("]")?;
        }
        for size in sizes.into_iter().rev() {
            ty = CType::Array(Box::new(ty), size);
        }
        self.qualifiers();
        Ok((name, ty))
    }

    /// A type in brackets: `(const float *)`.
    pub(super) fn type_name(&mut self) -> Result2<(CType, bool)> {
        let Declared { ty } = self.specifiers()?;
        let (name, ty) = self.declarator(ty)?;
        Ok((ty, name.is_none()))
    }

    /// A declaration with its semicolon.
    pub(super) fn declaration(&mut self) -> Result2<Vec<Variable>> {
        let Declared { ty } = self.specifiers()?;
        let mut variables = Vec::new();
        if self.takes(";") {
            return Ok(variables);
        }
        loop {
            let place = self.place();
            let (name, mut ty) = self.declarator(ty.clone())?;
            let Some(name) = name else { return self.fail("a declaration without a name") };
            if self.is("(") {
                let inside = self.at + 1;
                let end = self.closing(self.at);
                let prototype = matches!(ty, CType::Void)
                    || inside + 1 == end
                    || self.tokens.get(inside).and_then(|t| t.word()).is_some_and(|w| self.is_type_word(w));
                if !prototype {
                    // `T x(1)`
                    self.at = inside;
                    let init = self.assignment()?;
                    self.expect(")")?;
                    variables.push(Variable { name, ty: ty.clone(), init: Some(init), place });
                    if self.takes(",") {
                        continue;
                    }
                    self.expect(";")?;
                    return Ok(variables);
                }
                self.at = end;
                self.qualifiers();
                ty = CType::Function;
            }
            if self.takes(":") {
                self.ternary()?;
                ty = CType::Unknown("a bit-field".into());
            }
            let init = if self.takes("=") {
                Some(if self.is("{") { self.list()? } else { self.assignment()? })
            } else if self.is("{") {
                Some(self.list()?)
            } else {
                None
            };
            variables.push(Variable { name, ty, init, place });
            if !self.takes(",") {
                self.expect(";")?;
                return Ok(variables);
            }
        }
    }
}

/// `unsigned long int`; on RISC-V, `char` has no sign.
fn number(words: &[Rc<str>]) -> CType {
    let has = |word: &str| words.iter().any(|w| **w == *word);
    let unsigned = has("unsigned");
    if has("__int128") {
        return CType::Unknown("__int128".into());
    }
    if has("double") {
        return if has("long") { CType::Unknown("long double".into()) } else { CType::Scalar(Elem::F64) };
    }
    if has("float") {
        return CType::Scalar(Elem::F32);
    }
    let longs = words.iter().filter(|w| ***w == *"long").count();
    let pair = |signed: Elem, other: Elem| CType::Scalar(if unsigned { other } else { signed });
    match () {
        () if has("char") => {
            CType::Scalar(if has("signed") || has("__signed__") { Elem::I8 } else { Elem::U8 })
        }
        () if has("short") => pair(Elem::I16, Elem::U16),
        () if longs > 1 => pair(Elem::I64, Elem::U64),
        () if longs == 1 => CType::Rvv(if unsigned { Type::Ulong } else { Type::Long }),
        () => pair(Elem::I32, Elem::U32),
    }
}
