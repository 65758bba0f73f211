//! Reads the text of element statements.

use super::{Access, Binary, Builtin, CExpr, Lane, Lanes, Loop, Pragma, Target, Unary};
use crate::lex::Token;
use crate::parse::{Parser, Result};
use crate::{Compare, Stmt};
use rvv_intrinsics::Elem;

impl Parser {
    /// The statement that begins with this word, if it is an element statement.
    pub(crate) fn element_stmt(&mut self, word: &str) -> Result<Option<Stmt>> {
        Ok(Some(match word {
            "set" => {
                let name = self.word("a variable or a buffer")?;
                let target = if self.takes("[") {
                    Target::Element(self.subscripts(&name)?)
                } else {
                    match self.lookup(&name) {
                        Some(var) => Target::Var(var),
                        None => return self.fail_before(format!("there is no variable `{name}`")),
                    }
                };
                self.sign("=")?;
                Stmt::Set { target, value: self.c_expr()? }
            }
            "loop" => {
                let index = self.var()?;
                self.sign("=")?;
                let from = self.c_expr()?;
                self.keyword("while")?;
                let sign = self.next();
                let Some((compare, _)) =
                    Compare::ALL.into_iter().find(|(_, s)| matches!(sign, Token::Sign(t) if t == *s))
                else {
                    return self.fail_before(format!("expected ==, !=, <, <=, > or >=, found {sign}"));
                };
                let to = self.c_expr()?;
                self.keyword("step")?;
                let step = self.number()? as i64;
                let pragma = self.pragma()?;
                Stmt::Loop(Box::new(Loop { index, from, compare, to, step, pragma, body: self.block()? }))
            }
            "when" => {
                let condition = self.c_expr()?;
                let then = self.block()?;
                let otherwise = if self.takes_word("else") { self.block()? } else { Vec::new() };
                Stmt::When { condition, then, otherwise }
            }
            "leave" => Stmt::Leave,
            "lanes" => {
                let count = usize::try_from(self.number()?).unwrap_or(0);
                let name = self.word("a buffer")?;
                let Some(buffer) = self.buffer_number(&name) else {
                    return self.fail_before(format!("there is no buffer `{name}`"));
                };
                self.sign("[")?;
                let at = self.c_expr()?;
                self.sign("]")?;
                self.sign("=")?;
                Stmt::Lanes(Box::new(Lanes { count, buffer, at, value: self.lane()? }))
            }
            _ => return Ok(None),
        }))
    }

    /// A vector.
    fn lane(&mut self) -> Result<Lane> {
        self.deeper(|this| this.lane_inside())
    }

    fn lane_inside(&mut self) -> Result<Lane> {
        for (sign, op) in [("-", Unary::Neg), ("~", Unary::Not)] {
            if self.takes(sign) {
                self.sign("(")?;
                let a = self.lane()?;
                self.sign(")")?;
                return Ok(Lane::Unary(op, Box::new(a)));
            }
        }
        if self.takes("(") {
            let a = self.lane()?;
            let sign = self.next();
            let Some((op, _)) =
                Binary::ALL.into_iter().find(|(_, s)| matches!(sign, Token::Sign(t) if t == *s))
            else {
                return self.fail_before(format!("expected an operator, found {sign}"));
            };
            let b = self.lane()?;
            if self.takes("?") {
                let then = self.lane()?;
                self.sign(":")?;
                let otherwise = self.lane()?;
                self.sign(")")?;
                return Ok(Lane::Select(op, Box::new([a, b, then, otherwise])));
            }
            self.sign(")")?;
            return Ok(Lane::Binary(op, Box::new(a), Box::new(b)));
        }
        let word = self.word("a vector")?;
        if self.takes("[") {
            let Some(buffer) = self.buffer_number(&word) else {
                return self.fail_before(format!("there is no buffer `{word}`"));
            };
            let at = self.c_expr()?;
            self.sign("]")?;
            return Ok(Lane::Load(buffer, at));
        }
        self.sign("(")?;
        let lane = match (word.as_str(), Elem::from_short(&word)) {
            (_, Some(elem)) => Lane::Convert(elem, Box::new(self.lane()?)),
            ("splat", _) => {
                let elem = self.word("a type")?;
                let Some(elem) = Elem::from_short(&elem) else {
                    return self.fail_before(format!("`{elem}` is no element type"));
                };
                self.sign(",")?;
                Lane::Splat(elem, self.c_expr()?)
            }
            ("insert", _) => {
                let a = self.lane()?;
                self.sign(",")?;
                let at = self.c_expr()?;
                self.sign(",")?;
                Lane::Insert(Box::new(a), at, self.c_expr()?)
            }
            ("shuffle", _) => {
                let a = self.lane()?;
                self.sign(",")?;
                let b = self.lane()?;
                self.sign(",")?;
                let mut order = Vec::new();
                while matches!(self.peek(), Token::Number(_)) && order.len() <= Lanes::MOST {
                    order.push(u8::try_from(self.number()?).unwrap_or(u8::MAX));
                }
                Lane::Shuffle(Box::new(a), Box::new(b), order)
            }
            _ => {
                return self
                    .fail_before(format!("`{word}` is neither a type nor one of splat, insert and shuffle"));
            }
        };
        self.sign(")")?;
        Ok(lane)
    }

    fn pragma(&mut self) -> Result<Pragma> {
        let make = if self.takes_word("vectorize") {
            return Ok(Pragma::Vectorize);
        } else if self.takes_word("novector") {
            return Ok(Pragma::NoVector);
        } else if self.takes_word("distribute") {
            return Ok(Pragma::Distribute);
        } else if self.takes_word("unroll") {
            Pragma::Unroll
        } else if self.takes_word("interleave") {
            Pragma::Interleave
        } else if self.takes_word("width") {
            Pragma::Width
        } else {
            return Ok(Pragma::None);
        };
        match u8::try_from(self.number()?) {
            Ok(n @ 1..=64) => Ok(make(n)),
            _ => self.fail_before("a loop is unrolled, interleaved or widened 1 to 64 times"),
        }
    }

    /// The subscripts of a buffer, after `[`.
    fn subscripts(&mut self, name: &str) -> Result<Access> {
        let Some(buffer) = self.buffer_number(name) else {
            return self.fail_before(format!("there is no buffer `{name}`"));
        };
        let mut index = vec![self.c_expr()?];
        while self.takes(",") {
            index.push(self.c_expr()?);
        }
        self.sign("]")?;
        Ok(Access { buffer, index })
    }

    /// An expression; operations are in parentheses.
    fn c_expr(&mut self) -> Result<CExpr> {
        self.deeper(|this| this.c_expr_inside())
    }

    fn c_expr_inside(&mut self) -> Result<CExpr> {
        for (sign, op) in [("-", Unary::Neg), ("~", Unary::Not), ("!", Unary::IsZero)] {
            if self.takes(sign) {
                return Ok(CExpr::unary(op, self.c_expr()?));
            }
        }
        if self.takes("(") {
            let a = self.c_expr()?;
            let sign = self.next();
            if matches!(sign, Token::Sign("?")) {
                let then = self.c_expr()?;
                self.sign(":")?;
                let otherwise = self.c_expr()?;
                self.sign(")")?;
                return Ok(CExpr::select(a, then, otherwise));
            }
            if matches!(sign, Token::Sign(")")) {
                return Ok(a);
            }
            let Some((op, _)) =
                Binary::ALL.into_iter().find(|(_, s)| matches!(sign, Token::Sign(t) if t == *s))
            else {
                return self.fail_before(format!("expected an operator, `?` or `)`, found {sign}"));
            };
            let b = self.c_expr()?;
            self.sign(")")?;
            return Ok(CExpr::binary(op, a, b));
        }
        if let Token::Number(_) = self.peek() {
            return self.fail("a literal has a type: write i32(5)");
        }
        let word = self.word("an expression")?;
        if self.takes("[") {
            return Ok(CExpr::Load(self.subscripts(&word)?));
        }
        if !self.takes("(") {
            return match self.lookup(&word) {
                Some(var) => Ok(CExpr::Var(var)),
                None => self.fail_before(format!("there is no variable `{word}`")),
            };
        }
        if let Some(elem) = Elem::from_short(&word) {
            return self.conversion(elem);
        }
        if word == "bool" {
            let a = self.c_expr()?;
            self.sign(")")?;
            return Ok(CExpr::unary(Unary::Bool, a));
        }
        let Some((builtin, _, operands)) = Builtin::ALL.into_iter().find(|(_, name, _)| *name == word) else {
            return self
                .fail_before(format!("`{word}` is neither a type nor one of bool, fabs, copysign and fma"));
        };
        let mut args = vec![self.c_expr()?];
        while args.len() < operands {
            self.sign(",")?;
            args.push(self.c_expr()?);
        }
        self.sign(")")?;
        Ok(CExpr::Builtin(builtin, args))
    }

    /// After a type and `(`: a literal of that type, or an expression that is converted to it.
    fn conversion(&mut self, elem: Elem) -> Result<CExpr> {
        let is_number = match self.peek() {
            Token::Number(_) => true,
            Token::Sign("-") => matches!(self.peek_second(), Token::Number(_)),
            _ => false,
        };
        let e = if is_number {
            let negative = matches!(self.peek(), Token::Sign("-"));
            let value = self.number()?;
            let (mask, signed) = (u64::MAX >> (64 - elem.bits()), value as i64);
            let fits = match negative {
                true => {
                    elem.is_signed() && i128::from(signed) >= -(1i128 << (elem.bits() - 1)) && signed <= 0
                }
                false => value <= if elem.is_signed() { mask >> 1 } else { mask },
            };
            if !fits {
                return self.fail_before(format!("the number is no value of type {}", elem.short()));
            }
            CExpr::Literal(elem, value & mask)
        } else {
            CExpr::cast(elem, self.c_expr()?)
        };
        self.sign(")")?;
        Ok(e)
    }
}
