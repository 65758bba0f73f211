//! Pointers, arrays and elements.

use super::lower::{Lower, Result};
use super::value::{Pointer, Value, binary, convert, literal};
use crate::csource::{CType, Expr};
use rvv_intrinsics::{Elem, Type, VecType, by_name};
use rvv_ir::loops::{Binary, CExpr};
use rvv_ir::{Arg, Call, Stmt, Var};
use rvv_isa::Lmul;

impl Lower<'_> {
    /// Bytes that a pointer's step counts.
    fn stride(&self, to: &CType) -> Result<u64> {
        match to.value() {
            CType::Void | CType::Function => Ok(1),
            ty => match self.elem_of(ty) {
                Some(elem) => Ok(elem.bytes().into()),
                None => self.fail_with("arithmetic on a pointer", format!("arithmetic on a pointer to {ty}")),
            },
        }
    }

    /// The buffer of a pointer.
    pub fn buffer_of(&self, p: &Pointer) -> Result<usize> {
        match p.buffer {
            Some(buffer) => Ok(buffer),
            None => self.fail("a null pointer that is used"),
        }
    }

    /// `p + n`, `p - n`
    pub fn moved(&mut self, p: Pointer, n: CExpr, ty: Elem, back: bool) -> Result<Pointer> {
        let buffer = self.buffer_of(&p)?;
        let step = self.stride(&p.to)?;
        let unit = u64::from(self.program.buffers[buffer].elem.bytes());
        let n = convert(n, ty, Elem::I64);
        let i64 = |n: u64| CExpr::int(Elem::I64, n as i64);
        let combine = |op, a, b| binary(op, a, b, (Elem::I64, Elem::I64)).map(|(e, _)| e);
        let scaled = if step % unit == 0 {
            combine(Binary::Mul, n, i64(step / unit))
        } else {
            if let Some(bytes) = literal(&n)
                && (bytes * i128::from(step)) % i128::from(unit) != 0
            {
                return self.fail("an address between two elements");
            }
            combine(Binary::Mul, n, i64(step)).and_then(|bytes| combine(Binary::Div, bytes, i64(unit)))
        };
        let scaled = match scaled {
            Ok(e) => convert(e, Elem::I64, Elem::U64),
            Err(why) => return self.fail(why),
        };
        let op = if back { Binary::Sub } else { Binary::Add };
        match binary(op, p.at, scaled, (Elem::U64, Elem::U64)) {
            Ok((at, _)) => {
                let at = self.short(at, Elem::U64)?;
                Ok(Pointer { at, ..p })
            }
            Err(why) => self.fail(why),
        }
    }

    /// Comparison and difference of two pointers.
    pub fn two_pointers(&mut self, op: Binary, p: Pointer, q: Pointer) -> Result<Value> {
        if p.buffer != q.buffer {
            // Different arrays, or one is null.
            return match op {
                Binary::Eq | Binary::Ne => {
                    let value = CExpr::int(Elem::I32, i64::from(op == Binary::Ne));
                    Ok(Value::Int(value, Elem::I32))
                }
                _ => self.fail("a comparison of pointers to different arrays"),
            };
        }
        let signed = |p: &Pointer| convert(p.at.clone(), Elem::U64, Elem::I64);
        let (a, b) = (signed(&p), signed(&q));
        match op {
            Binary::Sub => {
                let Some(buffer) = p.buffer else {
                    return Ok(Value::Int(CExpr::int(Elem::I64, 0), Elem::I64));
                };
                let unit = i64::from(self.program.buffers[buffer].elem.bytes());
                let step = self.stride(&p.to)? as i64;
                let wide = (Elem::I64, Elem::I64);
                // In bytes, and in what the pointers are to; both are as often the same.
                let scale = |op, e, by| binary(op, e, CExpr::int(Elem::I64, by), wide).map(|(e, _)| e);
                let difference = binary(Binary::Sub, a, b, wide).map(|(e, _)| e);
                let scaled = match unit == step {
                    true => difference,
                    false => difference
                        .and_then(|d| scale(Binary::Mul, d, unit))
                        .and_then(|d| scale(Binary::Div, d, step)),
                };
                match scaled {
                    Ok(e) => Ok(Value::Int(e, Elem::I64)),
                    Err(why) => self.fail(why),
                }
            }
            op if op.is_truth() => Ok(Value::Int(CExpr::binary(op, a, b), Elem::I32)),
            _ => self.fail_with("arithmetic on a pointer", format!("`{}` on two pointers", op.sign())),
        }
    }

    /// `a[i]`
    pub fn subscript(&mut self, a: &Expr, i: &Expr) -> Result<Pointer> {
        let (mut a, mut i) = (self.value(a)?, self.value(i)?);
        if matches!(a, Value::Int(..)) {
            std::mem::swap(&mut a, &mut i);
        }
        match (a, i) {
            (Value::Pointer(p), Value::Int(n, ty)) => self.moved(p, n, ty, false),
            (a, i) => self.fail(format!("{} with {} as subscript", a.kind(), i.kind())),
        }
    }

    /// Notes that a buffer is accessed as elements of a type. Where it has been declared as another one that is
    /// as wide, a conversion does; where not, lowering starts again with what is learned here.
    pub fn access(&mut self, buffer: usize, elem: Elem) -> Result<()> {
        let has = self.program.buffers[buffer].elem;
        if has.bits() == elem.bits() {
            self.accessed.insert(buffer);
            return Ok(());
        }
        let name = self.program.buffers[buffer].name.clone();
        if !self.accessed.contains(&buffer) && !self.elems.contains_key(&name) {
            self.elems.insert(name, elem);
            return self.fail(AGAIN);
        }
        self.fail_with(
            "memory accessed with elements of two sizes",
            format!("memory accessed as {} and as {}", has.c_name(), elem.c_name()),
        )
    }

    /// The element that a pointer is to.
    pub fn load(&mut self, p: &Pointer) -> Result<Value> {
        let to = p.to.value().clone();
        if let CType::Struct(name) = &to {
            return self.fail_with("an array of structures", format!("an array of structures `{name}`"));
        }
        if let CType::Rvv(Type::Vector(v)) = to {
            let vl = self.vlmax(v)?;
            let intrinsic = by_name(&format!("__riscv_vle{}_v_{}", v.elem.bits(), v.short()));
            let Some(intrinsic) = intrinsic.filter(|_| v.nf == 1) else {
                return self.fail("a tuple in memory");
            };
            let args = vec![(Value::Pointer(p.clone())), vl];
            return self.intrinsic(intrinsic, false, args);
        }
        let Some(elem) = self.elem_of(&to) else {
            return self.fail_with("an element of this type", format!("an element of type {to} of memory"));
        };
        let buffer = self.buffer_of(p)?;
        self.access(buffer, elem)?;
        let has = self.program.buffers[buffer].elem;
        if elem.is_float() || has.is_float() {
            return self.float_load(buffer, p.at.clone(), has, elem);
        }
        let value = CExpr::load(buffer, p.at.clone());
        // What is stored later must not change it.
        let value = self.kept(value, has)?;
        Ok(Value::Int(convert(value, has, elem), elem))
    }

    /// Stores to the element that a pointer is to.
    pub fn store(&mut self, p: &Pointer, value: Value) -> Result<()> {
        let to = p.to.value().clone();
        if let (CType::Rvv(Type::Vector(v)), Value::Vector(..)) = (&to, &value) {
            let vl = self.vlmax(*v)?;
            let intrinsic = by_name(&format!("__riscv_vse{}_v_{}", v.elem.bits(), v.short()));
            let Some(intrinsic) = intrinsic.filter(|_| v.nf == 1) else {
                return self.fail("a tuple in memory");
            };
            let args = vec![Value::Pointer(p.clone()), value, vl];
            return self.intrinsic(intrinsic, false, args).map(|_| ());
        }
        let Some(elem) = self.elem_of(&to) else {
            return self.fail_with("an element of this type", format!("an element of type {to} of memory"));
        };
        let buffer = self.buffer_of(p)?;
        self.access(buffer, elem)?;
        self.stored.insert(buffer);
        let has = self.program.buffers[buffer].elem;
        match self.as_type(value, &to)? {
            Value::Int(e, ty) if !has.is_float() => {
                let access = rvv_ir::loops::Access { buffer, index: vec![p.at.clone()] };
                let target = rvv_ir::loops::Target::Element(access);
                self.push(Stmt::Set { target, value: convert(e, ty, has) })
            }
            value @ (Value::Float(..) | Value::FloatBits(..)) if elem == has => {
                let value = self.float_var(value)?;
                let at = self.index(p.at.clone())?;
                self.push(Stmt::Put { buffer, at, value })
            }
            _ => self.fail("memory accessed as integers and as floating-point numbers"),
        }
    }

    /// The length of a whole vector of this type.
    pub fn vlmax(&mut self, ty: VecType) -> Result<Value> {
        if let Some(var) = self.whole.get(&ty.ratio()) {
            return Ok(Value::Int(CExpr::Var(*var), Elem::U64));
        }
        let name = format!("__riscv_vsetvlmax_e{}{}", ty.elem.bits(), ty.lmul);
        let Some(intrinsic) = by_name(&name) else { return self.fail("a vector of this type") };
        let var = self.var("vlmax", Type::Size);
        let call = Call { dst: Some(var), intrinsic, overloaded: false, args: Vec::new() };
        // At the start, where all blocks see it.
        self.before.push(Stmt::Call(call));
        self.whole.insert(ty.ratio(), var);
        Ok(Value::Int(CExpr::Var(var), Elem::U64))
    }

    /// A vector in memory that is a parameter: its bytes from a buffer.
    pub fn vector_param(&mut self, name: &str, ty: Type) -> Result<Value> {
        let whole = |ratio: u32, vlen: u32| (vlen / ratio) as usize;
        let vlen = self.choice.vlen;
        match ty {
            Type::Vector(v) => {
                let len = whole(v.ratio(), vlen) * usize::from(v.nf);
                let buffer = self.input(name, v.elem, len);
                self.accessed.insert(buffer);
                let at = CExpr::int(Elem::U64, 0);
                let p = Value::Pointer(Pointer { buffer: Some(buffer), at, to: CType::Scalar(v.elem) });
                let bits = v.elem.bits();
                let intrinsic = match v.nf {
                    1 => by_name(&format!("__riscv_vle{bits}_v_{}", v.short())),
                    nf => by_name(&format!("__riscv_vlseg{nf}e{bits}_v_{}", v.short())),
                };
                let Some(intrinsic) = intrinsic else { return self.fail("a vector of this type") };
                let vl = self.vlmax(v)?;
                self.intrinsic(intrinsic, false, vec![p, vl])
            }
            Type::Mask(n) => {
                let buffer = self.input(name, Elem::U8, whole(n.into(), vlen).div_ceil(8));
                self.accessed.insert(buffer);
                let at = CExpr::int(Elem::U64, 0);
                let p = Value::Pointer(Pointer { buffer: Some(buffer), at, to: CType::Scalar(Elem::U8) });
                let Some(intrinsic) = by_name(&format!("__riscv_vlm_v_b{n}")) else {
                    return self.fail("a mask of this type");
                };
                let vl = self.vlmax(mask_of(n))?;
                self.intrinsic(intrinsic, false, vec![p, vl])
            }
            _ => self.fail("a parameter of this type"),
        }
    }

    /// Stores a result where it is printed.
    pub fn output(&mut self, value: Value) -> Result<()> {
        let vlen = self.choice.vlen;
        let zero = CExpr::int(Elem::U64, 0);
        let at = |l: &mut Self, elem, len| {
            let kind = rvv_ir::BufferKind::Out;
            let buffer = l.buffer("result", elem, len, kind, rvv_ir::data::Init::Zero);
            l.accessed.insert(buffer);
            Pointer { buffer: Some(buffer), at: zero.clone(), to: CType::Scalar(elem) }
        };
        match value {
            Value::Int(_, elem) | Value::Float(_, elem) | Value::FloatBits(_, elem) => {
                let p = at(self, elem, 1);
                self.store(&p, value)
            }
            Value::Vector(_, Type::Vector(v)) => {
                let len = (vlen / v.ratio()) as usize * usize::from(v.nf);
                let p = at(self, v.elem, len);
                let bits = v.elem.bits();
                let intrinsic = match v.nf {
                    1 => by_name(&format!("__riscv_vse{bits}_v_{}", v.short())),
                    nf => by_name(&format!("__riscv_vsseg{nf}e{bits}_v_{}", v.short())),
                };
                let Some(intrinsic) = intrinsic else { return self.fail("a vector of this type") };
                let vl = self.vlmax(v)?;
                self.intrinsic(intrinsic, false, vec![Value::Pointer(p), value, vl]).map(|_| ())
            }
            Value::Vector(_, Type::Mask(n)) => {
                let p = at(self, Elem::U8, (vlen / u32::from(n)).div_ceil(8) as usize);
                let Some(intrinsic) = by_name(&format!("__riscv_vsm_v_b{n}")) else {
                    return self.fail("a mask of this type");
                };
                let vl = self.vlmax(mask_of(n))?;
                self.intrinsic(intrinsic, false, vec![Value::Pointer(p), value, vl]).map(|_| ())
            }
            // How far the function has come.
            Value::Pointer(p) if p.buffer.is_some() => {
                let to = at(self, Elem::U64, 1);
                self.store(&to, Value::Int(p.at, Elem::U64))
            }
            _ => Ok(()),
        }
    }

    /// A buffer of data that nothing is known of.
    pub fn input(&mut self, name: &str, elem: Elem, len: usize) -> usize {
        let number = self.program.buffers.len() as u64;
        let init = rvv_ir::data::Init::Seed(number, rvv_ir::data::Distribution::Bits);
        self.buffer(name, elem, len, rvv_ir::BufferKind::Data, init)
    }

    /// A field of what a pointer to a structure is to: a number that the function does not change.
    pub fn member(&mut self, a: &Expr, field: &std::rc::Rc<str>) -> Result<Value> {
        let (name, way) = match self.value(a)? {
            Value::Struct(name, way) => (name, way),
            other => {
                return self.fail_with("a structure", format!("`{field}`, a field of {}", other.kind()));
            }
        };
        let fields = self.source.structs.get(&name);
        let Some(found) = fields.and_then(|f| f.iter().find(|p| p.name == *field)) else {
            return self.fail_with(
                "a structure that is not known",
                format!("`{field}`, a field of a structure that is not known, `{name}`"),
            );
        };
        let way: std::rc::Rc<str> = format!("{way}_{field}").into();
        if let CType::Struct(inner) = &found.ty {
            return Ok(Value::Struct(inner.clone(), way));
        }
        if let Some(value) = self.fields.get(&*way) {
            return Ok(value.clone());
        }
        let value = self.param(&way, &found.ty.clone())?;
        self.fields.insert(way.to_string(), value.clone());
        Ok(value)
    }

    /// A variable with this floating-point value.
    pub fn float_var(&mut self, value: Value) -> Result<Var> {
        match value {
            Value::Float(var, _) => Ok(var),
            Value::FloatBits(bits, elem) => Ok(self.constant_float(bits, elem)),
            other => self.fail(format!("{} as a floating-point number", other.kind())),
        }
    }

    /// An argument that is an address.
    pub fn address(&mut self, p: &Pointer) -> Result<Arg> {
        let buffer = self.buffer_of(p)?;
        Ok(Arg::Addr(buffer, self.index(p.at.clone())?))
    }
}

/// What starts lowering again.
pub const AGAIN: &str = "the size of elements";

/// A vector type with as many elements as the mask has.
pub fn mask_of(n: u8) -> VecType {
    let lmul = Lmul::ALL.into_iter().find(|l| VecType::new(Elem::U8, *l).ratio() == u32::from(n));
    VecType::new(Elem::U8, lmul.unwrap_or(Lmul::M1))
}
