//! The aliases that objdump prints by default.

use crate::csr;
use crate::inst::Inst;
use crate::op::{Class, Op};

/// What a compressed instruction expands to, unless it is a hint, which the expansion would not show.
pub(crate) fn expand(inst: &Inst) -> Inst {
    let shift = matches!(inst.op, Op::CSlli | Op::CSrli | Op::CSrai);
    let hint = match inst.op.class() {
        Class::Hint => true,
        Class::Integer => inst.rd == 0 || shift && inst.imm == 0,
        _ => false,
    };
    match inst.op.is_compressed() && !hint {
        true => Inst { op: inst.op.base(), ..*inst },
        false => *inst,
    }
}

/// The alias of an expanded instruction and the template of its operands, if it has one.
pub(crate) fn alias(inst: &Inst) -> Option<(&'static str, &'static str)> {
    hint(inst)
        .or_else(|| integer(inst))
        .or_else(|| control(inst))
        .or_else(|| system(inst))
        .or_else(|| float(inst))
        .or_else(|| vector(inst))
}

fn hint(inst: &Inst) -> Option<(&'static str, &'static str)> {
    let info = inst.op.info();
    if info.class != Class::Hint {
        return None;
    }
    info.name.strip_prefix("c.").map(|name| (name, info.asm))
}

fn integer(&Inst { op, len, rd, rs1, rs2, imm, .. }: &Inst) -> Option<(&'static str, &'static str)> {
    Some(match op {
        Op::Addi if rd == 0 && rs1 == 0 && imm == 0 => ("nop", ""),
        Op::Addi if rs1 == 0 => ("li", "rd,imm"),
        Op::Addi if imm == 0 => ("mv", "rd,rs1"),
        // Only addi is the 32-bit `mv`.
        Op::Add if rs1 == 0 && len == 2 => ("mv", "rd,rs2"),
        Op::Addiw if imm == 0 => ("sext.w", "rd,rs1"),
        Op::Andi if imm == 255 => ("zext.b", "rd,rs1"),
        Op::Xori if imm == -1 => ("not", "rd,rs1"),
        Op::Sltiu if imm == 1 => ("seqz", "rd,rs1"),
        Op::Sltu if rs1 == 0 => ("snez", "rd,rs2"),
        Op::Slt if rs2 == 0 => ("sltz", "rd,rs1"),
        Op::Slt if rs1 == 0 => ("sgtz", "rd,rs2"),
        Op::Sub if rs1 == 0 => ("neg", "rd,rs2"),
        Op::Subw if rs1 == 0 => ("negw", "rd,rs2"),
        Op::AddUw if rs2 == 0 => ("zext.w", "rd,rs1"),
        Op::Packw if rs2 == 0 => ("zext.h", "rd,rs1"),
        _ => return None,
    })
}

fn control(&Inst { op, rd, rs1, rs2, imm, .. }: &Inst) -> Option<(&'static str, &'static str)> {
    Some(match op {
        Op::Jal if rd == 0 => ("j", "imm"),
        Op::Jal if rd == 1 => ("jal", "imm"),
        Op::Jalr if rd == 0 && rs1 == 1 && imm == 0 => ("ret", ""),
        Op::Jalr if rd == 0 && imm == 0 => ("jr", "rs1"),
        Op::Jalr if rd == 0 => ("jr", "imm(rs1)"),
        Op::Jalr if rd == 1 && imm == 0 => ("jalr", "rs1"),
        Op::Jalr if rd == 1 => ("jalr", "imm(rs1)"),
        Op::Jalr if imm == 0 => ("jalr", "rd,rs1"),
        Op::Beq if rs2 == 0 => ("beqz", "rs1,imm"),
        Op::Bne if rs2 == 0 => ("bnez", "rs1,imm"),
        Op::Blt if rs2 == 0 => ("bltz", "rs1,imm"),
        Op::Blt if rs1 == 0 => ("bgtz", "rs2,imm"),
        Op::Bge if rs1 == 0 => ("blez", "rs2,imm"),
        Op::Bge if rs2 == 0 => ("bgez", "rs1,imm"),
        _ => return None,
    })
}

fn system(&Inst { op, rd, rs1, rs2, imm, .. }: &Inst) -> Option<(&'static str, &'static str)> {
    let csr = imm as u16;
    Some(match op {
        Op::Fence if imm == 0xff => ("fence", ""),
        Op::SfenceVma if rs1 == 0 && rs2 == 0 => ("sfence.vma", ""),
        Op::SfenceVma if rs2 == 0 => ("sfence.vma", "rs1"),
        // The usual way to write an instruction that traps: a write to a counter that cannot be written.
        Op::Csrrw if rd == 0 && rs1 == 0 && csr == csr::CYCLE => ("unimp", ""),
        Op::Csrrs if rs1 == 0 => match csr {
            csr::FFLAGS => ("frflags", "rd"),
            csr::FRM => ("frrm", "rd"),
            csr::FCSR => ("frcsr", "rd"),
            csr::CYCLE => ("rdcycle", "rd"),
            csr::TIME => ("rdtime", "rd"),
            csr::INSTRET => ("rdinstret", "rd"),
            _ => ("csrr", "rd,imm"),
        },
        Op::Csrrw if rd == 0 => match csr {
            csr::FFLAGS => ("fsflags", "rs1"),
            csr::FRM => ("fsrm", "rs1"),
            csr::FCSR => ("fscsr", "rs1"),
            _ => ("csrw", "imm,rs1"),
        },
        Op::Csrrw => match csr {
            csr::FFLAGS => ("fsflags", "rd,rs1"),
            csr::FRM => ("fsrm", "rd,rs1"),
            csr::FCSR => ("fscsr", "rd,rs1"),
            _ => return None,
        },
        Op::Csrrwi if csr == csr::FFLAGS => ("fsflagsi", "rd,rs1"),
        Op::Csrrwi if csr == csr::FRM => ("fsrmi", "rd,rs1"),
        Op::Csrrwi if rd == 0 => ("csrwi", "imm,rs1"),
        Op::Csrrs if rd == 0 => ("csrs", "imm,rs1"),
        Op::Csrrc if rd == 0 => ("csrc", "imm,rs1"),
        Op::Csrrsi if rd == 0 => ("csrsi", "imm,rs1"),
        Op::Csrrci if rd == 0 => ("csrci", "imm,rs1"),
        _ => return None,
    })
}

fn float(&Inst { op, rs1, rs2, .. }: &Inst) -> Option<(&'static str, &'static str)> {
    if rs1 != rs2 {
        return None;
    }
    let name = match op {
        Op::FsgnjH => "fmv.h",
        Op::FsgnjS => "fmv.s",
        Op::FsgnjD => "fmv.d",
        Op::FsgnjnH => "fneg.h",
        Op::FsgnjnS => "fneg.s",
        Op::FsgnjnD => "fneg.d",
        Op::FsgnjxH => "fabs.h",
        Op::FsgnjxS => "fabs.s",
        Op::FsgnjxD => "fabs.d",
        _ => return None,
    };
    Some((name, "rd,rs1"))
}

fn vector(&Inst { op, rd, rs1, rs2, imm, .. }: &Inst) -> Option<(&'static str, &'static str)> {
    Some(match op {
        Op::VrsubVx if rs1 == 0 => ("vneg.v", "rd,rs2"),
        Op::VxorVi if imm == -1 => ("vnot.v", "rd,rs2"),
        Op::VwaddVx if rs1 == 0 => ("vwcvt.x.x.v", "rd,rs2"),
        Op::VwadduVx if rs1 == 0 => ("vwcvtu.x.x.v", "rd,rs2"),
        Op::VnsrlWx if rs1 == 0 => ("vncvt.x.x.w", "rd,rs2"),
        Op::VfsgnjnVv if rs1 == rs2 => ("vfneg.v", "rd,rs2"),
        Op::VfsgnjxVv if rs1 == rs2 => ("vfabs.v", "rd,rs2"),
        Op::VmandMm if rs1 == rs2 => ("vmmv.m", "rd,rs2"),
        Op::VmnandMm if rs1 == rs2 => ("vmnot.m", "rd,rs2"),
        Op::VmxorMm if rs1 == rs2 && rd == rs1 => ("vmclr.m", "rd"),
        Op::VmxnorMm if rs1 == rs2 && rd == rs1 => ("vmset.m", "rd"),
        Op::Vl1re8V => ("vl1r.v", "rd,(rs1)"),
        Op::Vl2re8V => ("vl2r.v", "rd,(rs1)"),
        Op::Vl4re8V => ("vl4r.v", "rd,(rs1)"),
        Op::Vl8re8V => ("vl8r.v", "rd,(rs1)"),
        _ => return None,
    })
}
