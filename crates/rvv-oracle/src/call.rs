//! One intrinsic: its operands, which elements are active, and what becomes of the others.

use crate::arith::{self, Frm, Operand, Vxrm};
use crate::bits::Bits;
use crate::eval::{Frame, Machine};
use crate::invert::invert;
use crate::value::{Value, field_bytes, undefined};
use crate::{crypto, mask, memory, permute, reduction, utility};
use rvv_intrinsics::sem::{Chapter, Config};
use rvv_intrinsics::{Elem, Intrinsic, Role, Sem, Type, VecType};
use rvv_ir::{Arg, Call, Expr};

/// An intrinsic with its arguments evaluated.
pub struct Context<'a> {
    /// What is called.
    pub intrinsic: &'static Intrinsic,
    call: &'a Call,
    frame: &'a Frame<'a>,
    /// The mask, if there is one.
    active: Option<&'a Bits>,
    /// Bits in a vector register.
    pub vlen: u32,
    /// Elements of the body.
    pub vl: usize,
    /// The rounding mode: the argument, or the dynamic one.
    pub frm: Frm,
    /// The fixed-point rounding mode.
    pub vxrm: Vxrm,
    /// What it writes is to be inverted.
    pub inverts: bool,
}

/// What an element is, by the manual's words ("Prestart, Active, Inactive, Body, and Tail Element
/// Definitions"; vstart is always 0 here).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// In the body, and the mask says so.
    Active,
    /// In the body, masked off.
    Inactive,
    /// In the body, under a mask bit that is undefined: it may be either.
    Unknown,
    /// Past vl.
    Tail,
}

impl<'a> Context<'a> {
    /// The argument in this role.
    pub fn arg(&self, role: Role) -> Option<&'a Arg> {
        self.intrinsic.position(role).map(|i| &self.call.args[i])
    }

    fn value(&self, role: Role) -> Option<&'a Value> {
        match self.arg(role)? {
            Arg::Var(var) => self.frame.value(*var).ok(),
            _ => None,
        }
    }

    /// The vector argument in this role, with its type.
    pub fn vector(&self, role: Role) -> Option<(&'a Bits, VecType)> {
        let ty = self.intrinsic.param(role)?.ty.vector()?;
        match self.value(role)? {
            Value::Vector(bits) => Some((bits, ty)),
            _ => None,
        }
    }

    /// The same, where the tables promise that there is one.
    pub fn need_vector(&self, role: Role) -> Result<(&'a Bits, VecType), String> {
        self.vector(role).ok_or_else(|| format!("`{}` has no vector for {role:?}", self.intrinsic.name))
    }

    /// The mask argument in this role.
    pub fn mask(&self, role: Role) -> Option<&'a Bits> {
        match self.value(role)? {
            Value::Mask(bits) => Some(bits),
            _ => None,
        }
    }

    /// The same, where the tables promise that there is one.
    pub fn need_mask(&self, role: Role) -> Result<&'a Bits, String> {
        self.mask(role).ok_or_else(|| format!("`{}` has no mask for {role:?}", self.intrinsic.name))
    }

    /// The scalar argument in this role: `Some(None)` is an undefined one.
    pub fn scalar(&self, role: Role) -> Option<Option<u64>> {
        match self.arg(role)? {
            Arg::Expr(Expr::Const(value)) => Some(Some(*value)),
            Arg::Var(_) => match self.value(role)? {
                Value::Scalar(value) => Some(*value),
                _ => None,
            },
            Arg::Expr(expr) => Some(eval_expr(self.frame, expr)),
            Arg::Addr(..) | Arg::Ref(_) => None,
        }
    }

    /// A constant argument.
    pub fn constant(&self, role: Role) -> u64 {
        self.scalar(role).flatten().unwrap_or(0)
    }

    /// The result's vector type.
    pub fn ret(&self) -> Result<VecType, String> {
        self.intrinsic.ret.vector().ok_or_else(|| format!("`{}` returns no vector", self.intrinsic.name))
    }

    /// Whether all elements of the body are active.
    pub fn is_unmasked(&self) -> bool {
        self.active.is_none()
    }

    /// What element `i` is.
    pub fn part(&self, i: usize) -> Part {
        if i >= self.vl {
            return Part::Tail;
        }
        match self.active.map(|m| m.bit(i)) {
            None | Some(Some(true)) => Part::Active,
            Some(Some(false)) => Part::Inactive,
            Some(None) => Part::Unknown,
        }
    }

    /// vd, where the call has it: what undisturbed elements keep.
    fn old(&self) -> Option<&'a Value> {
        self.value(Role::Dest).or_else(|| self.value(Role::Acc))
    }

    /// Whether an element that is not written keeps vd's value. Agnostic ones may keep it or become all
    /// ones, differently each time: they are undefined.
    fn keeps(&self, part: Part) -> bool {
        match part {
            Part::Tail => self.intrinsic.policy.tail_undisturbed(),
            Part::Inactive => self.intrinsic.policy.mask_undisturbed(),
            Part::Active | Part::Unknown => false,
        }
    }

    /// The result of an operation that writes vector elements: `write` is called for the active ones, in
    /// order, and the policy decides the others.
    pub fn elements(
        &self,
        ty: VecType,
        mut write: impl FnMut(&mut Bits, usize) -> Result<(), String>,
    ) -> Result<Value, String> {
        let Value::Vector(mut result) = undefined(Type::Vector(ty), self.vlen) else {
            return Err("not a vector".to_string());
        };
        let old = match self.old() {
            Some(Value::Vector(bits)) => Some(bits),
            _ => None,
        };
        let size = ty.elem.bytes() as usize;
        let vlmax = ty.vlmax(self.vlen) as usize;
        for i in 0..vlmax {
            match self.part(i) {
                Part::Active => write(&mut result, i)?,
                part if self.keeps(part) => {
                    let old = old.ok_or("an undisturbed element without vd")?;
                    for field in 0..usize::from(ty.nf) {
                        let at = (field * vlmax + i) * size;
                        result.copy(at, old, at, size);
                    }
                }
                _ => {}
            }
        }
        Ok(Value::Vector(result))
    }

    /// The result of an operation that writes a mask. Its tail is always agnostic (manual, "Vector
    /// Tail Agnostic and Vector Mask Agnostic": "Mask destination tail elements are always treated as
    /// tail-agnostic").
    pub fn mask_bits(
        &self,
        mut write: impl FnMut(usize) -> Result<Option<bool>, String>,
    ) -> Result<Value, String> {
        let mut result = Bits::undefined(self.vlen as usize / 8);
        for i in 0..self.vl {
            let bit = match self.part(i) {
                Part::Active => write(i)?,
                part if self.keeps(part) => match self.old() {
                    Some(Value::Mask(old)) => old.bit(i),
                    _ => return Err("an undisturbed element without vd".to_string()),
                },
                _ => None,
            };
            result.set_bit(i, bit);
        }
        Ok(Value::Mask(result))
    }

    /// The element type a scalar argument counts as.
    fn scalar_elem(&self, role: Role) -> Elem {
        match self.intrinsic.param(role).map(|p| p.ty) {
            Some(Type::Scalar(e)) => e,
            _ => Elem::U64,
        }
    }

    /// `op1`: the vector vs1 or the scalar rs1.
    fn op1(&self) -> Op1<'a> {
        if let Some((bits, ty)) = self.vector(Role::Vs1) {
            return Op1::Vector(bits, ty);
        }
        match self.scalar(Role::Scalar) {
            Some(bits) => Op1::Scalar(bits, self.scalar_elem(Role::Scalar)),
            None => Op1::None,
        }
    }

    /// What vmv and vmerge take for element `i`; their operands pass as they are, partly defined or not.
    fn moved(&self, op1: Op1<'a>, carry: Option<&Bits>, i: usize) -> Option<Moved<'a>> {
        let op1 = || match op1 {
            Op1::Vector(bits, _) => Moved::Element(bits),
            Op1::Scalar(bits, _) => Moved::Scalar(bits),
            Op1::None => Moved::Scalar(None),
        };
        match self.intrinsic.sem {
            Sem::Move => Some(op1()),
            Sem::Merge => Some(match carry.and_then(|c| c.bit(i)) {
                Some(true) => op1(),
                Some(false) => {
                    self.vector(Role::Vs2).map_or(Moved::Scalar(None), |(bits, _)| Moved::Element(bits))
                }
                None => Moved::Scalar(None),
            }),
            _ => None,
        }
    }

    /// Element-wise operations.
    fn elementwise(&self) -> Result<Value, String> {
        let sem = self.intrinsic.sem;
        let vs2 = self.vector(Role::Vs2);
        let acc = self.vector(Role::Acc);
        let op1 = self.op1();
        let carry = self.mask(Role::Carry);
        let mask = carry;
        let carry_wanted = self.intrinsic.param(Role::Carry).is_some();
        // Type of the result's elements; a comparison is made in its operands'.
        let ret = match (self.intrinsic.ret, vs2) {
            (Type::Vector(v), _) => v.elem,
            (_, Some((_, v))) => v.elem,
            _ => return Err(format!("`{}` has no type", self.intrinsic.name)),
        };
        let result = |i: usize| -> Result<Option<u64>, String> {
            // Undefined operands make an undefined result.
            let op1 = op1.element(i);
            let carry = carry.map(|c| c.bit(i));
            if carry_wanted && carry == Some(None) {
                return Ok(None);
            }
            let Some(vs2) = vs2.and_then(|(b, t)| element(b, t, i)) else { return Ok(None) };
            if op1 == Some(None) {
                return Ok(None);
            }
            let acc_value = acc.map(|(b, t)| element(b, t, i));
            if acc_value == Some(None) {
                return Ok(None);
            }
            let args = arith::Args {
                vs2,
                op1: op1.flatten(),
                acc: acc_value.flatten(),
                carry: carry.flatten(),
                frm: self.frm,
                vxrm: self.vxrm,
            };
            let name = &self.intrinsic.name;
            Ok(Some(arith::element(sem, ret, &args).ok_or_else(|| format!("`{name}` has no meaning"))?))
        };
        match self.intrinsic.ret {
            Type::Vector(ty) => {
                let size = ty.elem.bytes() as usize;
                self.elements(ty, |bits, i| {
                    match self.moved(op1, mask, i) {
                        Some(Moved::Element(from)) => bits.copy(i * size, from, i * size, size),
                        Some(Moved::Scalar(value)) => bits.set(i * size, size, value),
                        None => bits.set(i * size, size, result(i)?),
                    }
                    Ok(())
                })
            }
            _ => self.mask_bits(|i| Ok(result(i)?.map(|b| b != 0))),
        }
    }
}

/// The operand `op1` of an operation on elements.
#[derive(Clone, Copy)]
enum Op1<'a> {
    /// vs1, with its type.
    Vector(&'a Bits, VecType),
    /// rs1, if it is defined, and the type it counts as.
    Scalar(Option<u64>, Elem),
    /// There is none.
    None,
}

impl Op1<'_> {
    /// What element `i` is computed with: `Some(None)` is an undefined operand.
    fn element(self, i: usize) -> Option<Option<Operand>> {
        match self {
            Op1::Vector(bits, ty) => Some(element(bits, ty, i)),
            Op1::Scalar(bits, elem) => Some(bits.map(|bits| Operand { bits, elem })),
            Op1::None => None,
        }
    }
}

/// An element that is moved.
enum Moved<'a> {
    /// The same element of this vector.
    Element(&'a Bits),
    /// A scalar, if it is defined.
    Scalar(Option<u64>),
}

/// Element `i` of a vector, if it is defined.
pub fn element(bits: &Bits, ty: VecType, i: usize) -> Option<Operand> {
    let size = ty.elem.bytes() as usize;
    bits.get(i * size, size).map(|bits| Operand { bits, elem: ty.elem })
}

/// An expression, if all its variables are defined.
fn eval_expr(frame: &Frame, expr: &Expr) -> Option<u64> {
    Some(match expr {
        Expr::Const(value) => *value,
        Expr::Var(var) => match frame.value(*var).ok()? {
            Value::Scalar(value) => (*value)?,
            _ => return None,
        },
        Expr::Add(a, b) => eval_expr(frame, a)?.wrapping_add(eval_expr(frame, b)?),
        Expr::Sub(a, b) => eval_expr(frame, a)?.wrapping_sub(eval_expr(frame, b)?),
        Expr::Mul(a, b) => eval_expr(frame, a)?.wrapping_mul(eval_expr(frame, b)?),
    })
}

/// SEW/LMUL of the operation, which bounds its vl.
fn ratio(intrinsic: &Intrinsic) -> Option<u32> {
    let of = |ty: Type| ty.vector().map(VecType::ratio).or(ty.mask());
    let param = |role| intrinsic.param(role).and_then(|p| of(p.ty));
    if intrinsic.sem.is_reduction() {
        return param(Role::Vs2);
    }
    of(intrinsic.ret).or_else(|| param(Role::Data)).or_else(|| param(Role::Vs2))
}

impl<'p> Machine<'p> {
    /// Calls an intrinsic and assigns its result.
    pub fn call(&mut self, frame: &mut Frame<'p>, call: &'p Call) -> Result<(), String> {
        let intrinsic = call.intrinsic;
        let vl = match intrinsic.position(Role::Vl) {
            None => 0,
            Some(i) => match &call.args[i] {
                Arg::Expr(expr) => self.expr(frame, expr)?,
                Arg::Var(var) => self.expr(frame, &Expr::Var(*var))?,
                _ => return Err("vl is not a number".to_string()),
            },
        };
        let types = intrinsic.params.iter().map(|p| p.ty).chain([intrinsic.ret]);
        let bytes =
            types.filter_map(|ty| ty.vector()).map(|v| field_bytes(v, self.options.vlen) * v.nf as usize);
        self.spend_bytes(bytes.max().unwrap_or(0))?;
        let vlmax = ratio(intrinsic).map_or(u64::MAX, |ratio| u64::from(self.options.vlen / ratio));
        if vl > vlmax {
            return Err(format!(
                "vl is {vl}; VLMAX of `{}` is {vlmax} at VLEN {}",
                intrinsic.name, self.options.vlen
            ));
        }
        if vl > 0 || intrinsic.position(Role::Vl).is_none() {
            (self.executed)(call);
        }
        let inverts = self.inverted.is_some_and(|inverted| std::ptr::eq(inverted, call));
        let mut cx = Context {
            intrinsic,
            call,
            frame,
            active: None,
            vlen: self.options.vlen,
            vl: vl as usize,
            frm: self.frm,
            vxrm: Vxrm::Rnu,
            inverts,
        };
        cx.active = cx.mask(Role::Mask);
        if intrinsic.param(Role::Frm).is_some() {
            cx.frm = Frm::from_encoding(cx.constant(Role::Frm)).ok_or("no such frm")?;
        }
        if intrinsic.param(Role::Vxrm).is_some() {
            cx.vxrm = Vxrm::from_encoding(cx.constant(Role::Vxrm)).ok_or("no such vxrm")?;
        }
        let sem = intrinsic.sem;
        let mut result = match sem.chapter() {
            Chapter::Memory(sem) => memory::access(self, frame, &cx, sem)?,
            // vsetvli vsetivli vsetvl
            Chapter::Config(Config::Setvl) => {
                let avl = cx.scalar(Role::Avl).flatten().ok_or("the avl of vsetvl is undefined")?;
                let vlmax = u64::from(setvl_type(intrinsic)?.vlmax(self.options.vlen));
                Some(Value::Scalar(Some(self.options.vl.vl(avl, vlmax))))
            }
            Chapter::Config(Config::Setvlmax) => {
                Some(Value::Scalar(Some(setvl_type(intrinsic)?.vlmax(self.options.vlen).into())))
            }
            Chapter::Integer(_)
            | Chapter::Compare(_)
            | Chapter::FixedPoint(_)
            | Chapter::Float(_)
            | Chapter::Convert(_)
            | Chapter::BitManip(_) => Some(cx.elementwise()?),
            Chapter::Reduction(_) => Some(reduction::reduce(&cx)?),
            Chapter::Mask(sem) => Some(mask::evaluate(&cx, sem)?),
            Chapter::Permute(sem) => Some(permute::evaluate(&cx, sem)?),
            Chapter::Utility(sem) => Some(utility::evaluate(&cx, sem)?),
            Chapter::Sha2(_) | Chapter::Group4(_) | Chapter::Group8(_) => {
                Some(crypto::evaluate(&cx, sem.group_size().unwrap_or(1))?)
            }
        };
        if let Some(value) = result.as_mut().filter(|_| inverts) {
            invert(&cx, value);
        }
        let new_vl = match cx.arg(Role::NewVl) {
            Some(Arg::Ref(var)) => Some(*var),
            _ => None,
        };
        // A fault-only-first load that meets no fault loads all: the manual lets it load fewer, and no
        // implementation we know does.
        if let Some(var) = new_vl {
            frame.values[var.index()] = Some(Value::Scalar(Some(vl)));
        }
        if let (Some(dst), Some(value)) = (call.dst, result) {
            frame.values[dst.index()] = Some(value);
        }
        Ok(())
    }
}

/// SEW and LMUL of a vsetvl.
fn setvl_type(intrinsic: &Intrinsic) -> Result<VecType, String> {
    intrinsic.ty.vector().ok_or_else(|| format!("`{}` names no type", intrinsic.name))
}
