//! Calls of intrinsics.

use super::layout::registers;
use super::{LowerError, Lowering, reg};
use crate::{Arg, Call, Expr, Var};
use rvv_intrinsics::{Implied, Intrinsic, Role, Sem, Type, VecType};
use rvv_isa::{Field, Inst, Lmul, Op, RegFile, Sew, Vtype, csr};

/// The register groups. Each can be as long as any, and none overlaps another, so that no rule about overlaps
/// is ever broken.
const MASK: u8 = 0;
const VD: u8 = 8;
const VS2: u8 = 16;
const VS1: u8 = 24;

/// Where a scalar operand is, in either file.
const SCALAR: u8 = reg::A0;
const STRIDE: u8 = reg::A1;
const VL: u8 = reg::A2;

impl Lowering<'_> {
    pub fn call(&mut self, call: &Call) -> Result<(), LowerError> {
        match call.intrinsic.sem {
            Sem::Undefined => {
                // Whatever the variable held is as good as anything.
                if let (true, Some(dst)) = (self.marks, call.dst) {
                    self.undefine();
                    self.store_vector(self.function, dst, VD);
                }
                Ok(())
            }
            Sem::Reinterpret | Sem::LmulExt | Sem::LmulTrunc => self.convert(call),
            Sem::Get | Sem::Set | Sem::Create => self.parts(call),
            Sem::Setvl | Sem::Setvlmax => self.setvl(call),
            _ => self.operation(call),
        }
    }

    /// The argument for the parameter with this role, and the parameter's type.
    fn find<'c>(&self, call: &'c Call, role: Role) -> Option<(&'c Arg, Type)> {
        let at = call.intrinsic.position(role)?;
        Some((call.args.get(at)?, call.intrinsic.params[at].ty))
    }

    /// The variable that is the argument for a vector parameter.
    fn vector_arg(&self, call: &Call, role: Role) -> Result<Option<Var>, LowerError> {
        match self.find(call, role) {
            None => Ok(None),
            Some((Arg::Var(var), _)) => Ok(Some(*var)),
            Some(_) => {
                let why = format!("the argument for {role:?} must be a variable");
                Err(self.argument(&call.intrinsic.name, why))
            }
        }
    }

    fn needed(&self, call: &Call, role: Role) -> Result<Var, LowerError> {
        self.vector_arg(call, role)?
            .ok_or_else(|| self.argument(&call.intrinsic.name, format!("no argument for {role:?}")))
    }

    /// Loads the vector argument with this role, if there is one.
    fn load_role(&mut self, call: &Call, role: Role, first: u8) -> Result<bool, LowerError> {
        let var = self.vector_arg(call, role)?;
        if let Some(var) = var {
            self.load_vector(self.function, var, first);
        }
        Ok(var.is_some())
    }

    /// The value of an argument that must be a constant, in its range.
    fn constant(&self, call: &Call, role: Role) -> Result<Option<u64>, LowerError> {
        let intrinsic = call.intrinsic;
        match self.find(call, role) {
            None => Ok(None),
            Some((Arg::Expr(Expr::Const(c)), _))
                if intrinsic.constants(role).is_none_or(|r| r.contains(c)) =>
            {
                Ok(Some(*c))
            }
            Some((arg, _)) => {
                let range = intrinsic.constants(role).unwrap_or(0..=u64::MAX);
                let why = format!("{role:?} is {arg:?}; it must be a constant in {range:?}");
                Err(self.argument(&intrinsic.name, why))
            }
        }
    }

    /// The same registers under another type, as many of them as both have.
    fn convert(&mut self, call: &Call) -> Result<(), LowerError> {
        let src = self.needed(call, Role::Source)?;
        let Some(dst) = call.dst else { return Ok(()) };
        let from = self.program.function(self.function).ty(src);
        let count = registers(from).min(registers(call.intrinsic.ret));
        if !self.marks {
            self.load_part(src, 0, count, VD);
            self.store_part(dst, count, VD);
            return Ok(());
        }
        self.undefine();
        match from {
            // Of the register only as many elements are copied as the type has.
            Type::Vector(part) if part.nf == 1 && part.lmul.log2() < 0 => {
                self.load_part(src, 0, count, VS2);
                self.set_vl(reg::T0, reg::ZERO, Vtype::new(part.elem.sew(), part.lmul, true, true));
                self.code.asm.inst(&Inst { rd: VD, rs1: VS2, ..Inst::new(Op::VmvVV) });
            }
            _ => self.load_part(src, 0, count, VD),
        }
        if let Type::Mask(n) = call.intrinsic.ret {
            // A mask has no more bits than its type has elements: those past vl become undefined.
            let lmul = Lmul::from_log2(3 - n.ilog2() as i32).unwrap_or(Lmul::M1);
            self.set_vl(reg::T0, reg::ZERO, Vtype::new(Sew::E8, lmul, true, true));
            self.code.asm.inst(&Inst { rd: VD, rs2: VD, rs1: VD, ..Inst::new(Op::VmandMm) });
        }
        self.store_vector(self.function, dst, VD);
        Ok(())
    }

    /// Leaves the registers from `VD` on undefined: all elements of a mask-agnostic result are masked off.
    fn undefine(&mut self) {
        self.set_vl(reg::T0, reg::ZERO, Vtype::new(Sew::E8, Lmul::M8, true, true));
        self.code.asm.inst(&Inst { rd: MASK, rs2: MASK, rs1: MASK, ..Inst::new(Op::VmxorMm) });
        self.code.asm.inst(&Inst { rd: VD, rs2: VD, imm: 0, vm: false, ..Inst::new(Op::VaddVi) });
    }

    /// With vl = 0 an instruction writes nothing, the tail included; an intrinsic's tail is undefined.
    fn undefine_if_empty(&mut self, intrinsic: &Intrinsic) {
        let agnostic = match intrinsic.ret {
            Type::Vector(_) => !intrinsic.policy.tail_undisturbed(),
            Type::Mask(_) => true,
            _ => false,
        };
        if self.marks && agnostic && intrinsic.position(Role::Vl).is_some() {
            let past = self.code.asm.label();
            self.code.asm.branch(Op::Bne, VL, reg::ZERO, past);
            self.undefine();
            self.code.asm.place(past);
        }
    }

    /// vget, vset and vcreate. A part of a register group or tuple is some of its registers.
    fn parts(&mut self, call: &Call) -> Result<(), LowerError> {
        let intrinsic = call.intrinsic;
        let position = self.constant(call, Role::Position)?.unwrap_or(0) as u32;
        match intrinsic.sem {
            Sem::Get => {
                let src = self.needed(call, Role::Source)?;
                let count = registers(intrinsic.ret);
                self.load_part(src, position * count, count, VD);
            }
            Sem::Set => {
                let (src, value) = (self.needed(call, Role::Source)?, self.needed(call, Role::Value)?);
                let count = registers(self.program.function(self.function).ty(value));
                self.load_vector(self.function, src, VD);
                self.load_vector(self.function, value, VD + (position * count) as u8);
            }
            _ => {
                let mut first = VD;
                for (n, param) in intrinsic.params.iter().enumerate() {
                    let part = self.needed(call, Role::Part(n as u8))?;
                    self.load_vector(self.function, part, first);
                    first += registers(param.ty) as u8;
                }
            }
        }
        if let Some(dst) = call.dst {
            self.store_vector(self.function, dst, VD);
        }
        Ok(())
    }

    fn setvl(&mut self, call: &Call) -> Result<(), LowerError> {
        let intrinsic = call.intrinsic;
        let Type::Vector(ty) = intrinsic.ty else { return Err(self.unknown(intrinsic)) };
        let vtype = Vtype::new(ty.elem.sew(), ty.lmul, true, true);
        let avl = match self.find(call, Role::Avl) {
            Some((arg, ty)) => {
                self.scalar_arg(arg, ty, reg::A1, &intrinsic.name)?;
                reg::A1
            }
            // x0 asks for VLMAX.
            None => reg::ZERO,
        };
        self.set_vl(reg::A0, avl, vtype);
        if let Some(dst) = call.dst {
            self.store_scalar(self.function, dst, reg::A0);
        }
        Ok(())
    }

    fn unknown(&self, intrinsic: &Intrinsic) -> LowerError {
        LowerError::Unknown { program: self.number, intrinsic: intrinsic.name.to_string() }
    }

    /// An intrinsic that is an instruction.
    fn operation(&mut self, call: &Call) -> Result<(), LowerError> {
        let intrinsic = call.intrinsic;
        let inst = self.instruction(intrinsic).ok_or_else(|| self.unknown(intrinsic))?;
        let vtype = config(intrinsic).ok_or_else(|| self.unknown(intrinsic))?;
        if self.marks && intrinsic.sem == Sem::MvElement0 {
            // It writes one register of a group.
            self.undefine();
        }
        for role in [Role::Mask, Role::Carry] {
            self.load_role(call, role, MASK)?;
        }
        for role in [Role::Dest, Role::Acc, Role::Data] {
            self.load_role(call, role, VD)?;
        }
        for role in [Role::Vs2, Role::Index] {
            self.load_role(call, role, VS2)?;
        }
        self.load_role(call, Role::Vs1, VS1)?;
        for (role, register) in [(Role::Scalar, SCALAR), (Role::Base, SCALAR), (Role::Stride, STRIDE)] {
            if let Some((arg, ty)) = self.find(call, role) {
                self.scalar_arg(arg, ty, register, &intrinsic.name)?;
                match ty {
                    Type::Scalar(e) if e.is_float() => self.box_float(e, register),
                    _ => {}
                }
            }
        }
        match self.find(call, Role::Vl) {
            Some((arg, ty)) => self.scalar_arg(arg, ty, VL, &intrinsic.name)?,
            // What looks at element 0 whatever vl is.
            None => self.code.asm.li(VL, 1),
        }
        self.set_vl(reg::ZERO, VL, vtype);
        if intrinsic.sem == Sem::Ge && intrinsic.instruction.is_none() {
            // There is no vmsge.vx: the scalar goes into every element, and is less than or equal.
            self.code.asm.inst(&Inst { rd: VS1, rs1: SCALAR, ..Inst::new(Op::VmvVX) });
        }
        if let Some(mode) = self.constant(call, Role::Vxrm)? {
            self.code.csrwi(reg::ZERO, csr::VXRM, mode as u8);
        }
        let frm = self.constant(call, Role::Frm)?;
        if let Some(mode) = frm {
            self.code.csrwi(reg::FRM, csr::FRM, mode as u8);
        }
        let imm = match self.constant(call, Role::Uimm)? {
            Some(uimm) => uimm as i32,
            None => inst.imm,
        };
        self.checked(&Inst { imm, ..inst }, &intrinsic.name)?;
        if frm.is_some() {
            self.code.asm.csr(Op::Csrrw, reg::ZERO, csr::FRM, reg::FRM);
        }
        self.undefine_if_empty(intrinsic);
        self.results(call)
    }

    /// Stores what the instruction left.
    fn results(&mut self, call: &Call) -> Result<(), LowerError> {
        let ret = call.intrinsic.ret;
        match self.find(call, Role::NewVl) {
            Some((Arg::Ref(var), _)) => {
                self.code.asm.csr(Op::Csrrs, reg::A0, csr::VL, reg::ZERO);
                self.store_scalar(self.function, *var, reg::A0);
            }
            Some(_) => return Err(self.argument(&call.intrinsic.name, "new_vl must be a reference")),
            None => {}
        }
        let Some(dst) = call.dst else { return Ok(()) };
        if registers(ret) > 0 {
            self.store_vector(self.function, dst, VD);
        } else {
            if let Type::Scalar(e) = ret
                && e.is_float()
            {
                self.code.asm.rri(Op::FmvXD, SCALAR, SCALAR, 0);
            }
            self.extend(ret, SCALAR);
            self.store_scalar(self.function, dst, SCALAR);
        }
        Ok(())
    }

    /// The instruction with its registers.
    fn instruction(&self, intrinsic: &Intrinsic) -> Option<Inst> {
        let op = match intrinsic.instruction {
            Some(op) => op,
            None if intrinsic.sem == Sem::Ge => {
                let unsigned = intrinsic.param(Role::Vs2)?.ty.vector()?.elem.is_unsigned();
                // vs2 >= x is x <= vs2.
                let op = if unsigned { Op::VmsleuVv } else { Op::VmsleVv };
                let vm = !intrinsic.is_masked();
                return Some(Inst { rd: VD, rs2: VS1, rs1: VS2, vm, ..Inst::new(op) });
            }
            None => return None,
        };
        let (mut vs2, mut vs1) = (VS2, VS1);
        let mut imm = 0;
        let mut scalar = SCALAR;
        match intrinsic.info.implied {
            Some(Implied::Zero) => scalar = reg::ZERO,
            Some(Implied::MinusOne) => imm = -1,
            Some(Implied::Vs2) => vs1 = vs2,
            Some(Implied::Vd) => (vs2, vs1) = (VD, VD),
            None => {}
        }
        if intrinsic.swapped {
            (vs2, vs1) = (vs1, vs2);
        }
        let mut inst = Inst::new(op);
        for &operand in op.info().operands {
            match (operand.name(), operand.reg_file()) {
                ("vd" | "vs3", _) => inst.rd = VD,
                ("vs2", _) => inst.rs2 = vs2,
                ("vs1", _) => inst.rs1 = vs1,
                ("rd" | "fd", _) => inst.rd = SCALAR,
                ("rs1" | "fs1", Some(RegFile::X | RegFile::F)) => inst.rs1 = scalar,
                ("rs2", Some(RegFile::X)) => inst.rs2 = STRIDE,
                ("vm", _) => inst.vm = !intrinsic.is_masked(),
                ("nf", _) => inst.nf = fields(intrinsic) - 1,
                (_, None) if operand.fields().contains(&Field::Imm) => inst.imm = imm,
                _ => return None,
            }
        }
        Some(inst)
    }
}

/// Fields of the tuple that is loaded or stored.
fn fields(intrinsic: &Intrinsic) -> u8 {
    let data = intrinsic.param(Role::Data).map_or(intrinsic.ret, |p| p.ty);
    data.vector().map_or(1, |v| v.nf)
}

/// The vtype that the instruction runs with.
fn config(intrinsic: &Intrinsic) -> Option<Vtype> {
    let vs2 = intrinsic.param(Role::Vs2).map(|p| p.ty);
    let ty = match intrinsic.ret {
        _ if intrinsic.sem.is_reduction() => vs2?,
        Type::Vector(ret) if intrinsic.shape().is_widening() => Type::Vector(half(ret)?),
        ret @ Type::Vector(_) => ret,
        // A comparison is of vectors, an operation on masks has nothing else.
        ret @ Type::Mask(_) => vs2.unwrap_or(ret),
        Type::Void => intrinsic.param(Role::Data)?.ty,
        _ => vs2?,
    };
    let (sew, lmul) = match ty {
        Type::Vector(v) => (v.elem.sew(), v.lmul),
        // SEW/LMUL is all that a mask tells.
        Type::Mask(n) => (Sew::E8, Lmul::from_log2(3 - n.ilog2() as i32)?),
        _ => return None,
    };
    let policy = intrinsic.policy;
    Some(Vtype::new(sew, lmul, !policy.tail_undisturbed(), !policy.mask_undisturbed()))
}

/// A type of half the width and as many elements.
fn half(ty: VecType) -> Option<VecType> {
    let elem = rvv_intrinsics::Elem::unsigned(ty.elem.sew().narrower()?);
    Some(VecType::new(elem, Lmul::from_log2(ty.lmul.log2() - 1)?))
}
