//! Reads the text of a program. Errors say where, and what would be right.

use crate::data::{Distribution, Init};
use crate::lex::{Place, Token, Tokens, tokens};
use crate::loops::Pointers;
use crate::records::MOST_FIELDS;
use crate::{
    Arg, Buffer, BufferKind, Call, Compare, Expr, Function, Linkage, Program, Stmt, VERSION, Var, VarDecl,
};
use rvv_intrinsics::{Elem, Intrinsic, Type, VecType, by_name};
use rvv_isa::{Lmul, Sew};
use std::collections::HashMap;

/// Why a text is not a program.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {}, column {}: {message}", place.line, place.column)]
pub struct ParseError {
    /// Where.
    pub place: Place,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl ParseError {
    pub(crate) fn new(place: Place, message: impl Into<String>) -> Self {
        ParseError { place, message: message.into() }
    }
}

pub(crate) type Result<T> = std::result::Result<T, ParseError>;

/// A file need not be trusted: larger, deeper or longer than any of ours is refused.
const MAX_TEXT: usize = 16 << 20;
const MAX_DEPTH: u32 = 64;
const MAX_BUFFER: u64 = 1 << 26;
/// Bytes of all buffers.
const MAX_MEMORY: u64 = 1 << 28;
/// Variables of one function, and functions.
const MAX_NAMES: usize = 1 << 16;

impl std::str::FromStr for Program {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Program> {
        if text.len() > MAX_TEXT {
            let message = format!("the file has {} bytes; at most {MAX_TEXT} are read", text.len());
            return Err(ParseError::new(Place { line: 1, column: 1 }, message));
        }
        let Tokens { tokens, comment } = tokens(text)?;
        let mut parser = Parser {
            tokens,
            at: 0,
            depth: 0,
            program: Program { comment, ..Program::default() },
            scope: Function::default(),
            vars: HashMap::new(),
            buffers: HashMap::new(),
            functions: HashMap::new(),
            memory: 0,
        };
        parser.program()?;
        Ok(parser.program)
    }
}

pub(crate) struct Parser {
    tokens: Vec<(Token, Place)>,
    at: usize,
    depth: u32,
    program: Program,
    /// The function being read.
    scope: Function,
    /// What names mean: in that function, and everywhere.
    vars: HashMap<String, Var>,
    buffers: HashMap<String, usize>,
    functions: HashMap<String, usize>,
    /// Bytes of the buffers so far.
    memory: u64,
}

/// Words that no variable, buffer or function may be called.
const KEYWORDS: [&str; 31] = [
    "rvv",
    "const",
    "data",
    "out",
    "record",
    "param",
    "fn",
    "inline",
    "global",
    "main",
    "var",
    "return",
    "call",
    "overloaded",
    "put",
    "setfrm",
    "strip",
    "for",
    "if",
    "else",
    "as",
    "seed",
    "zero",
    "step",
    "set",
    "loop",
    "when",
    "leave",
    "lanes",
    "contract",
    "fixed",
];

impl Parser {
    pub(crate) fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// The token after the next.
    pub(crate) fn peek_second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    /// The number of a buffer.
    pub(crate) fn buffer_number(&self, name: &str) -> Option<usize> {
        self.buffers.get(name).copied()
    }

    /// Reads something one level deeper.
    pub(crate) fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(format!("expressions and blocks are nested more than {MAX_DEPTH} deep"));
        }
        let found = read(self)?;
        self.depth -= 1;
        Ok(found)
    }

    fn place(&self) -> Place {
        self.tokens[self.at].1
    }

    pub(crate) fn next(&mut self) -> Token {
        let token = self.tokens[self.at].0.clone();
        if token != Token::End {
            self.at += 1;
        }
        token
    }

    pub(crate) fn fail<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError::new(self.place(), message))
    }

    /// The last token was wrong.
    pub(crate) fn fail_before<T>(&self, message: impl Into<String>) -> Result<T> {
        Err(ParseError::new(self.tokens[self.at.saturating_sub(1)].1, message))
    }

    pub(crate) fn takes(&mut self, sign: &str) -> bool {
        let found = matches!(self.peek(), Token::Sign(s) if *s == sign);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn takes_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Token::Word(w) if w == word);
        self.at += usize::from(found);
        found
    }

    pub(crate) fn sign(&mut self, sign: &str) -> Result<()> {
        if self.takes(sign) { Ok(()) } else { self.fail(format!("expected `{sign}`, found {}", self.peek())) }
    }

    pub(crate) fn keyword(&mut self, word: &str) -> Result<()> {
        if self.takes_word(word) {
            Ok(())
        } else {
            self.fail(format!("expected `{word}`, found {}", self.peek()))
        }
    }

    pub(crate) fn word(&mut self, what: &str) -> Result<String> {
        match self.peek().clone() {
            Token::Word(word) => {
                self.at += 1;
                Ok(word)
            }
            other => self.fail(format!("expected {what}, found {other}")),
        }
    }

    /// A name that is being given.
    fn new_name(&mut self, what: &str) -> Result<String> {
        let name = self.word(what)?;
        if KEYWORDS.contains(&name.as_str()) {
            return self.fail_before(format!("`{name}` is a word of the format; call {what} something else"));
        }
        Ok(name)
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        let negative = self.takes("-");
        match *self.peek() {
            Token::Number(n) => {
                self.at += 1;
                Ok(if negative { n.wrapping_neg() } else { n })
            }
            ref other => self.fail(format!("expected a number, found {other}")),
        }
    }

    fn program(&mut self) -> Result<()> {
        self.keyword("rvv")?;
        self.sign("-")?;
        self.keyword("ir")?;
        let version = self.number()?;
        if version != u64::from(VERSION) {
            return self.fail_before(format!(
                "the file is of version {version}; this program reads version {VERSION}"
            ));
        }
        // `main`'s parameters are declared before it, and before all functions or between them.
        let mut params = HashMap::new();
        let mut main = Function { name: "main".to_string(), ..Function::default() };
        loop {
            let place = self.place();
            match self
                .word("`const`, `data`, `out`, `record`, `contract`, `param`, `fn`, `inline`, `global` or `main`")?
                .as_str()
            {
                "const" => self.buffer(BufferKind::Const)?,
                "data" => self.buffer(BufferKind::Data)?,
                "out" => self.buffer(BufferKind::Out)?,
                "record" => self.record()?,
                "contract" => self.program.contract = true,
                "param" => {
                    std::mem::swap(&mut self.vars, &mut params);
                    let name = self.new_name("the parameter")?;
                    self.sign(":")?;
                    let ty = self.ty()?;
                    self.sign("=")?;
                    let value = self.number()?;
                    std::mem::swap(&mut self.scope, &mut main);
                    let declared = self.declare(name, ty);
                    std::mem::swap(&mut self.scope, &mut main);
                    std::mem::swap(&mut self.vars, &mut params);
                    self.program.params.push((declared?, value));
                }
                "inline" => {
                    self.keyword("fn")?;
                    self.function(Linkage::Inline)?;
                }
                "global" => {
                    self.keyword("fn")?;
                    self.function(Linkage::Global)?;
                }
                "fn" => self.function(Linkage::Local)?,
                "main" => {
                    self.scope = main;
                    self.vars = params;
                    self.function_body()?;
                    self.program.main = std::mem::take(&mut self.scope);
                    if *self.peek() != Token::End {
                        return self.fail(format!(
                            "expected the end of the file after `main`, found {}",
                            self.peek()
                        ));
                    }
                    return Ok(());
                }
                other => {
                    let message = format!(
                        "expected `const`, `data`, `out`, `record`, `param`, `fn`, `inline`, `global` or `main`, \
                         found `{other}`"
                    );
                    return Err(ParseError::new(place, message));
                }
            }
        }
    }

    /// Buffers that are fields of one structure.
    fn record(&mut self) -> Result<()> {
        let mut fields = Vec::new();
        loop {
            let name = self.word("a buffer")?;
            let Some(buffer) = self.buffer_number(&name) else {
                return self.fail_before(format!("there is no buffer `{name}`"));
            };
            if fields.len() >= MOST_FIELDS {
                return self.fail_before(format!("a record has at most {MOST_FIELDS} fields"));
            }
            fields.push(buffer);
            if !self.takes(",") {
                break;
            }
        }
        if self.program.records.len() >= MAX_NAMES {
            return self.fail_before(format!("there are more than {MAX_NAMES} records"));
        }
        self.program.records.push(fields);
        Ok(())
    }

    fn buffer(&mut self, kind: BufferKind) -> Result<()> {
        let name = self.new_name("the buffer")?;
        if self.buffers.insert(name.clone(), self.program.buffers.len()).is_some() {
            return self.fail_before(format!("there is a buffer `{name}` already"));
        }
        self.sign(":")?;
        let elem = self.word("the type of an element")?;
        let truths = elem == "bool";
        let known = if truths { Some(Elem::U8) } else { Elem::from_short(&elem) };
        let Some(elem) = known else {
            return self.fail_before(format!(
                "`{elem}` is no element type; there are i8 … i64, u8 … u64, f16, f32, f64, bf16, bool"
            ));
        };
        self.sign("[")?;
        let mut len = self.number()?;
        let mut dims = Vec::new();
        while self.takes(",") {
            let dim = self.number()?;
            if dims.len() == 2 || !(1..=MAX_BUFFER).contains(&dim) {
                return self
                    .fail_before("a buffer has at most three dimensions, each of at least one element");
            }
            dims.push(dim as usize);
            len = len.saturating_mul(dim);
        }
        if len > MAX_BUFFER {
            return self.fail_before(format!("a buffer of {len} elements; at most {MAX_BUFFER} are allowed"));
        }
        self.memory += len * u64::from(elem.bytes());
        if self.memory > MAX_MEMORY || self.program.buffers.len() >= MAX_NAMES {
            return self.fail_before(format!(
                "the buffers up to `{name}` are too much; {MAX_MEMORY} bytes in {MAX_NAMES} buffers are \
                 allowed"
            ));
        }
        self.sign("]")?;
        self.sign("=")?;
        let init = if self.takes_word("zero") {
            Init::Zero
        } else if self.takes_word("seed") {
            let seed = self.number()?;
            let distribution = self.word("`bits`, `corner`, `mix`, `small`, `below` or `permute`")?;
            Init::Seed(
                seed,
                match distribution.as_str() {
                    "bits" => Distribution::Bits,
                    "corner" => Distribution::Corner,
                    "mix" => Distribution::Mix,
                    "small" => Distribution::Small,
                    "permute" => {
                        self.keyword("step")?;
                        Distribution::Permute { step: self.number()? }
                    }
                    "below" => {
                        let limit = self.number()?;
                        self.keyword("step")?;
                        Distribution::Below { limit, step: self.number()? }
                    }
                    _ => {
                        return self
                            .fail_before("expected `bits`, `corner`, `mix`, `small`, `below` or `permute`");
                    }
                },
            )
        } else {
            self.sign("[")?;
            let mut data = Vec::new();
            while !self.takes("]") {
                data.push(self.number()?);
                if !self.takes(",") {
                    self.sign("]")?;
                    break;
                }
            }
            if data.len() as u64 > len {
                return self.fail_before(format!("{} values for a buffer of {len}", data.len()));
            }
            Init::Data(data)
        };
        self.program.buffers.push(Buffer { name, elem, truths, len: len as usize, dims, kind, init });
        Ok(())
    }

    fn ty(&mut self) -> Result<Type> {
        let word = self.word("a type")?;
        let ty = match word.as_str() {
            "size" => Some(Type::Size),
            "ptrdiff" => Some(Type::Ptrdiff),
            "ulong" => Some(Type::Ulong),
            "long" => Some(Type::Long),
            _ => None,
        };
        let scalar = || Elem::from_short(&word).map(Type::Scalar);
        let vector = || VecType::from_short(&word).map(Type::Vector);
        let mask = || {
            let n = word.strip_prefix('b')?.parse().ok()?;
            [1, 2, 4, 8, 16, 32, 64].contains(&n).then_some(Type::Mask(n))
        };
        match ty.or_else(scalar).or_else(vector).or_else(mask) {
            Some(ty) => Ok(ty),
            None => self.fail_before(format!(
                "`{word}` is no type; write i32m1, f16mf4x2, b32, u8, size, ptrdiff, ulong or long"
            )),
        }
    }

    fn declare(&mut self, name: String, ty: Type) -> Result<Var> {
        let var = Var(self.scope.vars.len() as u32);
        if self.vars.insert(name.clone(), var).is_some() {
            return self.fail_before(format!("there is a variable `{name}` already"));
        }
        if var.index() >= MAX_NAMES {
            return self.fail_before(format!("a function has at most {MAX_NAMES} variables"));
        }
        self.scope.vars.push(VarDecl { name, ty, fixed: false });
        Ok(var)
    }

    /// `fixed` after the type of a variable.
    fn fixed(&mut self, var: Var) -> Result<()> {
        if self.takes_word("fixed") {
            let decl = &mut self.scope.vars[var.index()];
            decl.fixed = true;
            if !decl.may_be_fixed() {
                let message = format!("`{}` is no vector; only vectors are `fixed`", decl.name);
                return self.fail_before(message);
            }
        }
        Ok(())
    }

    fn function(&mut self, linkage: Linkage) -> Result<()> {
        let name = self.new_name("the function")?;
        if self.functions.contains_key(&name) {
            return self.fail_before(format!("there is a function `{name}` already"));
        }
        if self.functions.len() >= MAX_NAMES {
            return self.fail_before(format!("there are at most {MAX_NAMES} functions"));
        }
        self.vars.clear();
        self.scope = Function { name, linkage, ..Function::default() };
        self.sign("(")?;
        while !self.takes(")") {
            let name = self.new_name("the parameter")?;
            self.sign(":")?;
            let ty = self.ty()?;
            let var = self.declare(name, ty)?;
            self.fixed(var)?;
            self.scope.params.push(var);
            if !self.takes(",") {
                self.sign(")")?;
                break;
            }
        }
        let returns = if self.takes("->") { Some(self.ty()?) } else { None };
        if self.takes_word("pointers") {
            self.scope.pointers = Pointers::Plain;
        } else if self.takes_word("restrict") {
            self.scope.pointers = Pointers::Restrict;
        }
        self.function_body()?;
        if self.scope.ret.map(|r| self.scope.ty(r)) != returns {
            return self.fail_before("what is returned is not of the type after `->`");
        }
        // It can be called from here on: nothing recurses.
        self.functions.insert(self.scope.name.clone(), self.program.functions.len());
        self.program.functions.push(std::mem::take(&mut self.scope));
        Ok(())
    }

    fn function_body(&mut self) -> Result<()> {
        self.sign("{")?;
        while self.takes_word("var") {
            let name = self.new_name("the variable")?;
            self.sign(":")?;
            let ty = self.ty()?;
            let var = self.declare(name, ty)?;
            self.fixed(var)?;
        }
        let mut body = Vec::new();
        loop {
            if self.takes("}") {
                break;
            }
            if self.takes_word("return") {
                self.scope.ret = Some(self.var()?);
                self.sign("}")?;
                break;
            }
            body.push(self.stmt()?);
        }
        self.scope.body = body;
        Ok(())
    }

    pub(crate) fn block(&mut self) -> Result<Vec<Stmt>> {
        self.sign("{")?;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return self.fail(format!("blocks are nested more than {MAX_DEPTH} deep"));
        }
        let mut body = Vec::new();
        while !self.takes("}") {
            body.push(self.stmt()?);
        }
        self.depth -= 1;
        Ok(body)
    }

    pub(crate) fn lookup(&self, name: &str) -> Option<Var> {
        self.vars.get(name).copied()
    }

    pub(crate) fn var(&mut self) -> Result<Var> {
        let name = self.word("a variable")?;
        match self.lookup(&name) {
            Some(var) => Ok(var),
            None => {
                self.fail_before(format!("there is no variable `{name}`; declare it: `var {name}: TYPE`"))
            }
        }
    }

    fn buffer_name(&mut self) -> Result<usize> {
        let name = self.word("a buffer")?;
        match self.buffers.get(&name) {
            Some(&i) => Ok(i),
            None => self.fail_before(format!("there is no buffer `{name}`")),
        }
    }

    fn stmt(&mut self) -> Result<Stmt> {
        let start = self.at;
        let word = self.word("a statement")?;
        match word.as_str() {
            "put" => {
                let buffer = self.buffer_name()?;
                self.sign("[")?;
                let at = self.expr()?;
                self.sign("]")?;
                self.sign("=")?;
                Ok(Stmt::Put { buffer, at, value: self.var()? })
            }
            "setfrm" => {
                let frm = self.number()?;
                match u8::try_from(frm) {
                    Ok(frm) if frm <= 4 => Ok(Stmt::SetFrm(frm)),
                    _ => self.fail_before("a rounding mode is 0 (RNE), 1 (RTZ), 2 (RDN), 3 (RUP) or 4 (RMM)"),
                }
            }
            "strip" => {
                let vtype = self.vtype()?;
                let length = self.expr()?;
                self.keyword("as")?;
                let index = self.var()?;
                self.sign(",")?;
                let vl = self.var()?;
                Ok(Stmt::Strip { vtype, length, index, vl, body: self.block()? })
            }
            "for" => {
                let count = self.expr()?;
                self.keyword("as")?;
                let index = self.var()?;
                Ok(Stmt::For { index, count, body: self.block()? })
            }
            // A variable of that name may be assigned to.
            "break" if *self.peek() == Token::Word("if".to_string()) => {
                self.keyword("if")?;
                let (left, compare, right) = self.condition()?;
                Ok(Stmt::Break { left, compare, right })
            }
            "hide" if matches!(self.peek(), Token::Word(_)) => Ok(Stmt::Hide(self.var()?)),
            "scratch" if !matches!(self.peek(), Token::Sign("=" | "(")) => {
                // An expression in parentheses would look like a call.
                Ok(Stmt::Scratch(self.expr()?))
            }
            "if" => {
                let (left, compare, right) = self.condition()?;
                let then = self.block()?;
                let otherwise = if self.takes_word("else") { self.block()? } else { Vec::new() };
                Ok(Stmt::If { left, compare, right, then, otherwise })
            }
            "call" => self.invoke(None),
            "overloaded" => {
                let name = self.word("an intrinsic")?;
                self.call(None, true, &name)
            }
            "set" | "loop" | "when" | "leave" | "lanes" => match self.element_stmt(&word)? {
                Some(stmt) => Ok(stmt),
                None => self.fail_before(format!("expected a statement, found `{word}`")),
            },
            _ if matches!(self.peek(), Token::Sign("(")) => self.call(None, false, &word),
            _ => {
                self.at = start;
                let dst = self.var()?;
                self.sign("=")?;
                let word = self.word("an intrinsic, `call`, `overloaded` or a variable")?;
                match word.as_str() {
                    "call" => self.invoke(Some(dst)),
                    "overloaded" => {
                        let name = self.word("an intrinsic")?;
                        self.call(Some(dst), true, &name)
                    }
                    _ if matches!(self.peek(), Token::Sign("(")) => self.call(Some(dst), false, &word),
                    _ => match self.lookup(&word) {
                        Some(src) => Ok(Stmt::Copy { dst, src }),
                        None => self.fail_before(format!("there is no variable `{word}`")),
                    },
                }
            }
        }
    }

    /// `x == 3`
    fn condition(&mut self) -> Result<(Var, Compare, u64)> {
        let left = self.var()?;
        let sign = self.next();
        let Some((compare, _)) =
            Compare::ALL.into_iter().find(|(_, s)| matches!(sign, Token::Sign(t) if t == *s))
        else {
            return self.fail_before(format!("expected ==, !=, <, <=, > or >=, found {sign}"));
        };
        Ok((left, compare, self.number()?))
    }

    /// `e32m1`
    fn vtype(&mut self) -> Result<VecType> {
        let word = self.word("a type like e32m1")?;
        let parsed = word.strip_prefix('e').and_then(|w| {
            let (sew, lmul) = w.split_once('m')?;
            let sew = Sew::from_bits(sew.parse().ok()?)?;
            let lmul = Lmul::ALL.into_iter().find(|l| l.to_string()[1..] == *lmul)?;
            Some(VecType::new(Elem::unsigned(sew), lmul)).filter(|t| t.exists())
        });
        match parsed {
            Some(t) => Ok(t),
            None => self.fail_before(format!("`{word}` is no vector configuration; write e8mf8 … e64m8")),
        }
    }

    fn invoke(&mut self, dst: Option<Var>) -> Result<Stmt> {
        let name = self.word("a function")?;
        let Some(&function) = self.functions.get(&name) else {
            return self.fail_before(format!("there is no function `{name}` before this one"));
        };
        Ok(Stmt::Invoke { dst, function, args: self.args()? })
    }

    fn call(&mut self, dst: Option<Var>, overloaded: bool, name: &str) -> Result<Stmt> {
        let intrinsic: &'static Intrinsic = match by_name(&format!("__riscv_{name}")) {
            Some(intrinsic) => intrinsic,
            None => {
                return self.fail_before(format!(
                    "there is no intrinsic `{name}`; write explicit names, without `__riscv_`"
                ));
            }
        };
        if overloaded && intrinsic.overloaded.is_none() {
            return self.fail_before(format!("`{name}` has no overloaded form"));
        }
        Ok(Stmt::Call(Call { dst, intrinsic, overloaded, args: self.args()? }))
    }

    fn args(&mut self) -> Result<Vec<Arg>> {
        let mut args = Vec::new();
        self.sign("(")?;
        while !self.takes(")") {
            args.push(self.arg()?);
            if !self.takes(",") {
                self.sign(")")?;
                break;
            }
        }
        Ok(args)
    }

    fn arg(&mut self) -> Result<Arg> {
        if self.takes("&") {
            let name = self.word("a buffer or variable")?;
            if self.takes("[") {
                let Some(&buffer) = self.buffers.get(&name) else {
                    return self.fail_before(format!("there is no buffer `{name}`"));
                };
                let expr = self.expr()?;
                self.sign("]")?;
                return Ok(Arg::Addr(buffer, expr));
            }
            return match self.lookup(&name) {
                Some(var) => Ok(Arg::Ref(var)),
                None => self.fail_before(format!("there is no variable `{name}`")),
            };
        }
        // A variable alone is an argument as it is; `vl` and `vl + 0` differ only in this.
        match self.expr()? {
            Expr::Var(var) => Ok(Arg::Var(var)),
            expr => Ok(Arg::Expr(expr)),
        }
    }

    fn expr(&mut self) -> Result<Expr> {
        let left = self.atom()?;
        for (sign, make) in [("+", Expr::Add as fn(_, _) -> _), ("-", Expr::Sub), ("*", Expr::Mul)] {
            if self.takes(sign) {
                let right = self.atom()?;
                return Ok(make(Box::new(left), Box::new(right)));
            }
        }
        Ok(left)
    }

    fn atom(&mut self) -> Result<Expr> {
        match self.peek() {
            Token::Number(_) | Token::Sign("-") => Ok(Expr::Const(self.number()?)),
            Token::Word(_) => Ok(Expr::Var(self.var()?)),
            Token::Sign("(") => {
                self.at += 1;
                self.depth += 1;
                if self.depth > MAX_DEPTH {
                    return self.fail(format!("parentheses are nested more than {MAX_DEPTH} deep"));
                }
                let expr = self.expr()?;
                self.depth -= 1;
                self.sign(")")?;
                Ok(expr)
            }
            other => self.fail(format!("expected a number, a variable or `(`, found {other}")),
        }
    }
}
