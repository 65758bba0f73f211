//! Element statements: C, evaluated exactly.
//!
//! Integers are computed without bounds and then compared with their type: what C leaves undefined is an
//! error. Floating point is the exact arithmetic of [`crate::arith`], one rounding (to nearest, or the
//! dynamic mode) for each operation.

mod arith;
mod contract;

use crate::eval::{Frame, Machine};
use crate::value::Value;
use rvv_intrinsics::Elem;
use rvv_ir::Stmt;
use rvv_ir::loops::{Access, Binary, CExpr, Lane, Loop, Target, Unary, common, promote, variable};

/// A value with its type: the bits, zero-extended.
type Typed = (Elem, u64);

/// What it costs to write a lane of it as an expression: the vectors it is made of.
fn size(lane: &Lane) -> u64 {
    1 + lane.parts().into_iter().map(size).sum::<u64>()
}

impl<'p> Machine<'p> {
    /// Runs an element statement.
    pub(crate) fn element(&mut self, frame: &mut Frame<'p>, stmt: &'p Stmt) -> Result<(), String> {
        match stmt {
            Stmt::Set { target, value } if self.program.contract => self.contracted(frame, target, value),
            Stmt::Set { target, value } => {
                let value = self.typed(frame, value)?;
                match target {
                    Target::Var(var) => {
                        let to = variable(frame.function.ty(*var)).ok_or("no scalar")?;
                        let bits = arith::convert(value, to, self.frm)?;
                        frame.values[var.index()] = Some(Value::Scalar(Some(bits)));
                    }
                    Target::Element(access) => {
                        let buffer = &self.program.buffers[access.buffer];
                        let elem = buffer.elem;
                        let bits = if buffer.truths {
                            u64::from(arith::is_true(value.0, value.1))
                        } else {
                            arith::convert(value, elem, self.frm)?
                        };
                        let at = self.place(frame, access)?;
                        self.store(access.buffer, at, elem, bits);
                    }
                }
                Ok(())
            }
            Stmt::Loop(of) => self.element_loop(frame, of),
            Stmt::Lanes(of) => {
                self.whole(frame, &of.value, of.count, false)?;
                let elem = self.program.buffers[of.buffer].elem;
                let mut lanes = Vec::with_capacity(of.count);
                let size = size(&of.value);
                for n in 0..of.count {
                    self.spend_many(size)?;
                    let lane = of.value.scalar(n, of.count, self.program);
                    lanes.push(if self.program.contract {
                        self.possible(frame, &lane, elem)?
                    } else {
                        let value = self.typed(frame, &lane)?;
                        (vec![arith::convert(value, elem, self.frm)?], false)
                    });
                }
                for (n, (values, product)) in lanes.into_iter().enumerate() {
                    let at = CExpr::binary(Binary::Add, of.at.clone(), CExpr::int(Elem::I32, n as i64));
                    let at = self.place(frame, &Access { buffer: of.buffer, index: vec![at] })?;
                    self.store_one_of(of.buffer, at, elem, values, product);
                }
                Ok(())
            }
            Stmt::When { condition, then, otherwise } => {
                let (elem, bits) = self.typed(frame, condition)?;
                if arith::is_true(elem, bits) {
                    self.body(frame, then, 0)
                } else {
                    self.body(frame, otherwise, then.len())
                }
            }
            Stmt::Leave => {
                self.breaks = true;
                Ok(())
            }
            _ => Err("no element statement".to_string()),
        }
    }

    /// A vector is computed whole: lanes that nothing takes must have a meaning, too.
    fn whole(&mut self, frame: &Frame<'p>, lane: &Lane, count: usize, hidden: bool) -> Result<(), String> {
        if hidden && matches!(lane, Lane::Load(..) | Lane::Convert(..) | Lane::Splat(..)) {
            let size = size(lane);
            for n in 0..count {
                self.spend_many(size)?;
                let one = lane.scalar(n, count, self.program);
                self.typed(frame, &one)?;
            }
        }
        let hides = matches!(lane, Lane::Shuffle(..) | Lane::Select(..) | Lane::Insert(..));
        lane.parts().into_iter().try_for_each(|part| self.whole(frame, part, count, hidden || hides))
    }

    fn element_loop(&mut self, frame: &mut Frame<'p>, of: &'p Loop) -> Result<(), String> {
        let elem = variable(frame.function.ty(of.index)).ok_or("no scalar")?;
        let from = self.typed(frame, &of.from)?;
        let mut index = arith::convert(from, elem, self.frm)?;
        loop {
            frame.values[of.index.index()] = Some(Value::Scalar(Some(index)));
            self.spend_many(1)?;
            let to = self.typed(frame, &of.to)?;
            let op = match of.compare {
                rvv_ir::Compare::Eq => Binary::Eq,
                rvv_ir::Compare::Ne => Binary::Ne,
                rvv_ir::Compare::Lt => Binary::Lt,
                rvv_ir::Compare::Le => Binary::Le,
                rvv_ir::Compare::Gt => Binary::Gt,
                rvv_ir::Compare::Ge => Binary::Ge,
            };
            if arith::binary(op, (elem, index), to, self.frm)?.1 == 0 {
                return Ok(());
            }
            self.body(frame, &of.body, 0)?;
            if std::mem::take(&mut self.breaks) {
                return Ok(());
            }
            let step = (if elem.bits() == 64 { Elem::I64 } else { Elem::I32 }, of.step as u64);
            let step = (step.0, step.1 & (u64::MAX >> (64 - step.0.bits())));
            let next = arith::binary(Binary::Add, (elem, index), step, self.frm)
                .map_err(|why| format!("the counter `{}`: {why}", frame.function.name(of.index)))?;
            index = arith::convert(next, elem, self.frm)?;
        }
    }

    /// The byte offset of an element. Each subscript is within its own dimension.
    fn place(&mut self, frame: &Frame<'p>, access: &Access) -> Result<usize, String> {
        let program = self.program;
        let buffer = &program.buffers[access.buffer];
        let inner: usize = buffer.dims.iter().product();
        let mut at = 0;
        for (k, index) in access.index.iter().enumerate() {
            let (elem, bits) = self.typed(frame, index)?;
            let value = arith::number(elem, bits);
            let size = if k == 0 { buffer.len / inner } else { buffer.dims[k - 1] };
            if value < 0 || value >= size as i128 {
                let which = if buffer.dims.is_empty() { String::new() } else { format!(" number {}", k + 1) };
                return Err(format!("subscript{which} of `{}` is {value}; the size is {size}", buffer.name));
            }
            at = at * size + value as usize;
        }
        Ok(at * buffer.elem.bytes() as usize)
    }

    /// Writes an element. Of a NaN only the exponent is defined.
    fn store(&mut self, buffer: usize, at: usize, elem: Elem, bits: u64) {
        let size = elem.bytes() as usize;
        if self.program.contract {
            self.open.remove(&(buffer, at));
        }
        self.buffers[buffer].set(at, size, Some(bits));
        if let Some(exponent) = arith::nan_exponent(elem, bits) {
            let bytes = exponent.to_le_bytes();
            self.buffers[buffer].bytes[at..at + size].copy_from_slice(&bytes[..size]);
            self.buffers[buffer].defined[at..at + size].copy_from_slice(&bytes[..size]);
        }
    }

    fn load(&mut self, frame: &Frame<'p>, access: &Access) -> Result<Typed, String> {
        let at = self.place(frame, access)?;
        let buffer = &self.program.buffers[access.buffer];
        let (elem, size) = (buffer.elem, buffer.elem.bytes() as usize);
        if self.program.contract && self.open.contains_key(&(access.buffer, at)) {
            return Err(format!("an element of `{}` is read that compilers may contract", buffer.name));
        }
        if let Some(bits) = self.buffers[access.buffer].get(at, size) {
            return Ok((elem, bits));
        }
        // A NaN of an element statement.
        let of = &self.buffers[access.buffer];
        if let Some(nan) = arith::canonical_nan(elem)
            && let Some(exponent) = arith::nan_exponent(elem, nan)
            && of.defined[at..at + size] == exponent.to_le_bytes()[..size]
            && of.bytes[at..at + size] == exponent.to_le_bytes()[..size]
        {
            return Ok((elem, nan));
        }
        Err(format!("an undefined element of `{}` is read", buffer.name))
    }

    /// The value of an expression, with its type.
    fn typed(&mut self, frame: &Frame<'p>, e: &CExpr) -> Result<Typed, String> {
        self.spend_many(1)?;
        Ok(match e {
            CExpr::Literal(elem, bits) => (*elem, *bits),
            CExpr::Var(var) => {
                let elem = variable(frame.function.ty(*var)).ok_or("no scalar")?;
                match frame.value(*var)? {
                    Value::Scalar(Some(bits)) => (elem, bits & (u64::MAX >> (64 - elem.bits()))),
                    _ => return Err(format!("`{}` is undefined and is read", frame.function.name(*var))),
                }
            }
            CExpr::Load(access) => self.load(frame, access)?,
            CExpr::Unary(op, a) => {
                let (elem, bits) = self.typed(frame, a)?;
                match op {
                    Unary::IsZero => (Elem::I32, u64::from(!arith::is_true(elem, bits))),
                    Unary::Bool => (Elem::I32, u64::from(arith::is_true(elem, bits))),
                    Unary::Neg => arith::negate(elem, bits)?,
                    Unary::Not => {
                        let ty = promote(elem);
                        (ty, arith::wrap(ty, !arith::number(elem, bits)))
                    }
                }
            }
            CExpr::Binary(Binary::AndThen, a, b) => {
                let (elem, bits) = self.typed(frame, a)?;
                let both = arith::is_true(elem, bits) && {
                    let (elem, bits) = self.typed(frame, b)?;
                    arith::is_true(elem, bits)
                };
                (Elem::I32, u64::from(both))
            }
            CExpr::Binary(Binary::OrElse, a, b) => {
                let (elem, bits) = self.typed(frame, a)?;
                let either = arith::is_true(elem, bits) || {
                    let (elem, bits) = self.typed(frame, b)?;
                    arith::is_true(elem, bits)
                };
                (Elem::I32, u64::from(either))
            }
            CExpr::Binary(op, a, b) => {
                if self.program.contract && matches!(op, Binary::Add | Binary::Sub) {
                    return self.decided(frame, e);
                }
                let (a, b) = (self.typed(frame, a)?, self.typed(frame, b)?);
                arith::binary(*op, a, b, self.frm)?
            }
            CExpr::Cast(elem, a) => {
                let a = self.typed(frame, a)?;
                (*elem, arith::convert(a, *elem, self.frm)?)
            }
            CExpr::Select(of) => {
                let (elem, bits) = self.typed(frame, &of[0])?;
                let (then, otherwise) = (&of[1], &of[2]);
                let ty = common(
                    then.ty(self.program, frame.function)?,
                    otherwise.ty(self.program, frame.function)?,
                )?;
                let chosen = if arith::is_true(elem, bits) { then } else { otherwise };
                let value = self.typed(frame, chosen)?;
                (ty, arith::convert(value, ty, self.frm)?)
            }
            CExpr::Builtin(builtin, args) => {
                let args =
                    args.iter().map(|a| self.typed(frame, a)).collect::<Result<Vec<Typed>, String>>()?;
                arith::builtin(*builtin, &args, self.frm)?
            }
        })
    }
}
