//! Contraction (C11, 6.5: "A floating expression may be contracted, that is, evaluated as though it were a
//! single operation"): a product that is added to or subtracted from something may be rounded once with the
//! sum. Compilers decide that for each operation anew, and gcc also across assignments. So an expression has
//! a set of values. It may be stored, and nothing more: what is one of several decides nothing, and is not
//! read.

use super::{Typed, arith};
use crate::eval::{Frame, Machine};
use crate::value::Value;
use rvv_intrinsics::Elem;
use rvv_ir::loops::{Binary, Builtin, CExpr, Target, Unary, common, variable};

/// The most values of one expression.
const MOST: usize = 8;

/// The values that an expression may have.
type Values = Vec<u64>;

/// A product that may be fused: its factors, and whether it is negated.
struct Product<'e> {
    negated: bool,
    a: &'e CExpr,
    b: &'e CExpr,
}

impl<'p> Machine<'p> {
    /// An assignment where compilers may contract.
    pub(super) fn contracted(
        &mut self,
        frame: &mut Frame<'p>,
        target: &'p Target,
        value: &'p CExpr,
    ) -> Result<(), String> {
        match target {
            Target::Var(var) => {
                let to = variable(frame.function.ty(*var)).ok_or("no scalar")?;
                let (values, product) = self.possible(frame, value, to)?;
                let name = frame.function.name(*var);
                match values[..] {
                    [bits] if !product => {
                        frame.values[var.index()] = Some(Value::Scalar(Some(bits)));
                        Ok(())
                    }
                    [_] => Err(format!("`{name}` is a product that compilers may contract")),
                    _ => Err(format!("`{name}` has several values: compilers may contract")),
                }
            }
            Target::Element(access) => {
                let buffer = &self.program.buffers[access.buffer];
                let (elem, truths) = (buffer.elem, buffer.truths);
                let (values, product) = if truths {
                    let (elem, bits) = self.typed(frame, value)?;
                    (vec![u64::from(arith::is_true(elem, bits))], false)
                } else {
                    self.possible(frame, value, elem)?
                };
                let at = self.place(frame, access)?;
                self.store_one_of(access.buffer, at, elem, values, product);
                Ok(())
            }
        }
    }

    /// Writes an element that has one of these values; `product` says that it may still be contracted with
    /// what it is added to.
    pub(super) fn store_one_of(
        &mut self,
        buffer: usize,
        at: usize,
        elem: Elem,
        values: Values,
        product: bool,
    ) {
        if let Some(&first) = values.first() {
            self.store(buffer, at, elem, first);
        }
        if product || values.len() > 1 {
            self.open.insert((buffer, at), values);
        }
    }

    /// The values of an expression, converted; and whether it may be a product of this type.
    pub(super) fn possible(
        &mut self,
        frame: &Frame<'p>,
        e: &CExpr,
        to: Elem,
    ) -> Result<(Values, bool), String> {
        let (ty, values) = self.values(frame, e)?;
        let product = ty == to && self.product(frame, e)?.is_some();
        Ok((self.each(values, |v, frm| arith::convert((ty, v), to, frm))?, product))
    }

    /// The value of a sum that must have one.
    pub(super) fn decided(&mut self, frame: &Frame<'p>, e: &CExpr) -> Result<Typed, String> {
        match self.values(frame, e)? {
            (ty, values) if values.len() == 1 => Ok((ty, values[0])),
            _ => Err("compilers may contract what decides something".to_string()),
        }
    }

    fn each(
        &self,
        values: Values,
        f: impl Fn(u64, crate::arith::Frm) -> Result<u64, String>,
    ) -> Result<Values, String> {
        let mut found = values.into_iter().map(|v| f(v, self.frm)).collect::<Result<Values, String>>()?;
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// The set of values, each once: few.
    fn few(&self, ty: Elem, mut all: Values) -> Result<(Elem, Values), String> {
        // Of a NaN only that it is one is defined.
        for bits in &mut all {
            if arith::nan_exponent(ty, *bits).is_some() {
                *bits = arith::canonical_nan(ty).unwrap_or(*bits);
            }
        }
        all.sort_unstable();
        all.dedup();
        if all.len() > MOST {
            return Err(format!("an expression has more than {MOST} values: compilers may contract"));
        }
        Ok((ty, all))
    }

    /// The values that an expression may have.
    fn values(&mut self, frame: &Frame<'p>, e: &CExpr) -> Result<(Elem, Values), String> {
        self.spend_many(1)?;
        let is_float = e.ty(self.program, frame.function)?.is_float();
        match e {
            CExpr::Unary(Unary::Neg, a) if is_float => {
                let (ty, values) = self.values(frame, a)?;
                Ok((ty, self.each(values, |v, _| Ok(arith::negate(ty, v)?.1))?))
            }
            CExpr::Cast(to, a) => {
                let (ty, values) = self.values(frame, a)?;
                let all = self.each(values, |v, frm| arith::convert((ty, v), *to, frm))?;
                self.few(*to, all)
            }
            CExpr::Select(of) => {
                let chosen = self.chosen(frame, of)?;
                let types =
                    (of[1].ty(self.program, frame.function)?, of[2].ty(self.program, frame.function)?);
                let to = common(types.0, types.1)?;
                let (ty, values) = self.values(frame, chosen)?;
                let all = self.each(values, |v, frm| arith::convert((ty, v), to, frm))?;
                self.few(to, all)
            }
            CExpr::Binary(op, a, b) if is_float && !op.is_truth() => {
                let (x, y) = (self.values(frame, a)?, self.values(frame, b)?);
                let ty = common(x.0, y.0)?;
                let mut all = Vec::new();
                for &p in &x.1 {
                    for &q in &y.1 {
                        all.push(arith::binary(*op, (x.0, p), (y.0, q), self.frm)?.1);
                    }
                }
                if let Binary::Add | Binary::Sub = op {
                    // a·b ± c, and c ± a·b.
                    let minus = *op == Binary::Sub;
                    self.fused(frame, ty, a, false, &y, minus, &mut all)?;
                    self.fused(frame, ty, b, minus, &x, false, &mut all)?;
                }
                self.few(ty, all)
            }
            CExpr::Binary(op @ (Binary::Add | Binary::Sub), a, b) => {
                let (a, b) = (self.typed(frame, a)?, self.typed(frame, b)?);
                let (ty, bits) = arith::binary(*op, a, b, self.frm)?;
                Ok((ty, vec![bits]))
            }
            CExpr::Builtin(builtin, args) => {
                let mut sets = vec![Vec::new()];
                for arg in args {
                    let (ty, values) = self.values(frame, arg)?;
                    let with = |of: &Vec<Typed>, v: u64| of.iter().copied().chain([(ty, v)]).collect();
                    sets = sets.iter().flat_map(|of| values.iter().map(move |&v| with(of, v))).collect();
                    if sets.len() > MOST * MOST {
                        return Err(format!("an operation on more than {MOST} values"));
                    }
                }
                let mut all = Vec::new();
                let mut ty = Elem::F64;
                for args in sets {
                    let (of, bits) = arith::builtin(*builtin, &args, self.frm)?;
                    ty = of;
                    all.push(bits);
                }
                self.few(ty, all)
            }
            // Integers, comparisons, loads: one value.
            _ => self.typed(frame, e).map(|(ty, bits)| (ty, vec![bits])),
        }
    }

    /// The operand that a choice takes.
    fn chosen<'e>(&mut self, frame: &Frame<'p>, of: &'e [CExpr; 3]) -> Result<&'e CExpr, String> {
        let (elem, bits) = self.typed(frame, &of[0])?;
        Ok(if arith::is_true(elem, bits) { &of[1] } else { &of[2] })
    }

    /// The product that an expression is, behind signs, choices and conversions to its own type.
    fn product<'e>(&mut self, frame: &Frame<'p>, e: &'e CExpr) -> Result<Option<Product<'e>>, String> {
        let ty = e.ty(self.program, frame.function)?;
        if !ty.is_float() {
            return Ok(None);
        }
        self.spend_many(1)?;
        let inner = match e {
            CExpr::Binary(Binary::Mul, a, b) => return Ok(Some(Product { negated: false, a, b })),
            CExpr::Unary(Unary::Neg, a) => a,
            CExpr::Cast(_, a) => a,
            CExpr::Select(of) => self.chosen(frame, of)?,
            _ => return Ok(None),
        };
        if inner.ty(self.program, frame.function)? != ty {
            return Ok(None);
        }
        let flips = matches!(e, CExpr::Unary(..));
        Ok(self.product(frame, inner)?.map(|p| Product { negated: p.negated != flips, ..p }))
    }

    /// The values of a product, negated or not, fused with what is added to it, negated or not.
    #[expect(clippy::too_many_arguments, reason = "two operands with their signs")]
    fn fused(
        &mut self,
        frame: &Frame<'p>,
        ty: Elem,
        product: &CExpr,
        minus_product: bool,
        (of, addends): &(Elem, Values),
        minus_addend: bool,
        all: &mut Values,
    ) -> Result<(), String> {
        if product.ty(self.program, frame.function)? != ty {
            return Ok(());
        }
        let Some(Product { negated, a, b }) = self.product(frame, product)? else { return Ok(()) };
        let (x, y) = (self.values(frame, a)?, self.values(frame, b)?);
        let sign = 1u64 << (ty.bits() - 1);
        let flipped = |bits: u64, flip: bool| if flip { bits ^ sign } else { bits };
        for &p in &x.1 {
            for &q in &y.1 {
                for &c in addends {
                    let p = arith::convert((x.0, p), ty, self.frm)?;
                    let q = arith::convert((y.0, q), ty, self.frm)?;
                    let c = arith::convert((*of, c), ty, self.frm)?;
                    let args =
                        [(ty, flipped(p, negated != minus_product)), (ty, q), (ty, flipped(c, minus_addend))];
                    all.push(arith::builtin(Builtin::Fma, &args, self.frm)?.1);
                }
            }
        }
        Ok(())
    }
}
