//! What kinds of operands each vector instruction has, worked out from its name as the manual's naming goes:
//! so that a test can go through all of them. The shapes of the instruction table are not looked at here:
//! `shapes.rs` compares the two.

use super::harness::{Ins, Lab, of};
use rvv_isa::{Class, Lmul, Op};

/// The elements of an operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    /// EEW=SEW.
    Sew,
    /// EEW=2*SEW.
    Wide,
    /// EEW=SEW/n.
    Part(u32),
    /// EEW=n.
    Bits(u32),
    /// A mask register.
    Mask,
    /// Element 0, EEW=SEW.
    Element,
    /// Element 0, EEW=2*SEW.
    WideElement,
    /// Four elements of 32 bits, or as many as make the group of the key.
    Key,
    /// Whole registers.
    Registers(u32),
}

/// Where the result goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dest {
    /// To `vd`.
    Vector,
    /// To an integer register.
    X,
    /// To a floating-point register.
    F,
    /// To memory, from `vs3`.
    Memory,
}

/// An instruction with its operands.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    pub op: Op,
    pub dest: Dest,
    /// `vd`, or `vs3`.
    pub vd: Option<Width>,
    pub vs2: Option<Width>,
    pub vs1: Option<Width>,
    /// It reads `vd`.
    pub reads_vd: bool,
    /// It can be masked.
    pub maskable: bool,
    /// v0 is a carry or a selector.
    pub carry: bool,
    /// It is a floating-point instruction.
    pub float: bool,
    /// It is a load or a store.
    pub memory: bool,
    /// The element group's size, or 1.
    pub egs: u64,
}

pub const DATA_X: u8 = 10;
pub const STRIDE_X: u8 = 11;
pub const SCALAR: u8 = 12;
pub const VD: u8 = 8;
pub const VS2: u8 = 16;
pub const VS1: u8 = 24;

/// All vector instructions that are not `vset*`.
pub fn all() -> Vec<Form> {
    let vector = |op: &Op| op.is_vector() && op.class() != Class::VectorConfig && op.base() == *op;
    Op::all().filter(vector).map(form).collect()
}

fn has(op: Op, operand: &str) -> bool {
    op.info().operands.iter().any(|o| o.name() == operand)
}

fn number(name: &str) -> u32 {
    let digits: String =
        name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    digits.parse().expect("a number in the name")
}

fn form(op: Op) -> Form {
    use Width::*;
    let name = op.name();
    let (base, suffix) = name.split_once('.').expect("a suffix");
    let memory = matches!(op.class(), Class::VectorLoad | Class::VectorStore);
    let reduction = base.contains("red");
    let crypto = op.info().extension.starts_with("zvk");
    let store = has(op, "vs3");
    let bit_manipulation = matches!(op.info().extension, "zvbb" | "zvbc");

    let (mut vd, mut vs2, mut vs1) = (Sew, Sew, Sew);
    if memory {
        if base == "vlm" || base == "vsm" {
            vd = Mask;
        } else if base.contains("xei") {
            vs2 = Bits(number(base));
        } else if has(op, "nf") {
            vd = Bits(number(base));
        } else {
            vd = Registers(number(base));
        }
    } else if reduction {
        let wide = base.starts_with("vw") || base.starts_with("vfw");
        (vd, vs1) = if wide { (WideElement, WideElement) } else { (Element, Element) };
    } else if base.starts_with("vmv") && suffix == "v" && base.ends_with('r') {
        (vd, vs2) = (Registers(number(base)), Registers(number(base)));
    } else if suffix == "mm" || suffix == "m" {
        vs2 = Mask;
        vs1 = Mask;
        if base != "viota" {
            vd = Mask;
        }
    } else if base == "vcompress" {
        vs1 = Mask;
    } else if base == "vrgatherei16" {
        vs1 = Bits(16);
    } else if matches!(suffix, "x.s" | "s.x" | "f.s" | "s.f") {
        (vd, vs2) = (Element, Element);
    } else if (base.starts_with("vms") || base.starts_with("vmf") || base == "vmadc") && !crypto {
        vd = Mask;
    } else if base.starts_with("vn") && suffix.starts_with('w') || base.starts_with("vfncvt") {
        vs2 = Wide;
    } else if (base.starts_with("vw") || base.starts_with("vfw")) && suffix.starts_with('w') {
        (vd, vs2) = (Wide, Wide);
    } else if base.starts_with("vw") || base.starts_with("vfw") {
        vd = Wide;
    } else if base == "vsext" || base == "vzext" {
        vs2 = Part(number(suffix));
    } else if crypto && suffix == "vs" {
        vs2 = Key;
    }

    let carry = matches!(suffix, "vvm" | "vxm" | "vim" | "vfm");
    let fused = ["acc", "sac", "madd", "msub", "nmadd", "nmsub"].iter().any(|s| base.ends_with(s))
        || base.starts_with("vwmacc")
        || base.starts_with("vwabda")
        || base.starts_with("vfwmacc");
    let float = (base.starts_with("vf") && base != "vfirst") || base.starts_with("vmf");
    Form {
        op,
        dest: match () {
            () if store => Dest::Memory,
            () if has(op, "rd") => Dest::X,
            () if has(op, "fd") => Dest::F,
            () => Dest::Vector,
        },
        vd: (has(op, "vd") || store).then_some(vd),
        vs2: has(op, "vs2").then_some(vs2),
        vs1: has(op, "vs1").then_some(vs1),
        reads_vd: fused
            || (crypto && base != "vaeskf1" && base != "vsm4k" && base != "vsm3me" && !bit_manipulation),
        maskable: has(op, "vm"),
        carry,
        float,
        memory,
        egs: match op.info().extension {
            "zvksh" => 8,
            _ if crypto => 4,
            _ => 1,
        },
    }
}

impl Form {
    pub fn name(&self) -> &'static str {
        self.op.name()
    }

    fn is(&self, parts: &[&str]) -> bool {
        parts.iter().any(|part| self.name().contains(part))
    }

    /// The SEWs the instruction is defined for with all extensions, at least with LMUL=1.
    pub fn sews(&self) -> Vec<u32> {
        let name = self.name();
        let all = [8, 16, 32, 64];
        let widest = |part: Option<Width>| matches!(part, Some(Width::Wide | Width::WideElement));
        let wide = widest(self.vd) || widest(self.vs2) || widest(self.vs1);
        let fits = |sew: u32| {
            if self.op.info().extension == "zvbc" {
                return sew == 64;
            }
            if name.contains("bf16") {
                return sew == 16;
            }
            if name.starts_with("vwabda") {
                return sew <= 16;
            }
            if name.starts_with("vsha2") {
                return sew == 32 || sew == 64;
            }
            if self.egs > 1 {
                return sew == 32;
            }
            if wide && sew == 64 {
                return false;
            }
            if let Some(Width::Part(n)) = self.vs2 {
                return sew >= 8 * n;
            }
            if !self.float {
                return true;
            }
            // Integers as wide as SEW and numbers of twice the width: 8 bits will do.
            let byte = self.is(&["vfwcvt.f.x", "vfncvt.x", "vfncvt.rtz.x"]);
            sew > 8 || byte
        };
        all.into_iter().filter(|&sew| fits(sew)).collect()
    }

    /// Whether all groups are of 1 to 8 registers or a legal fraction of one, at this SEW and LMUL.
    pub fn fits(&self, sew: u32, lmul: Lmul) -> bool {
        let good = |width: Option<Width>| {
            let (eew, emul) = match width {
                Some(Width::Wide) => (2 * sew, lmul.log2() + 1),
                Some(Width::Part(n)) => (sew / n, lmul.log2() - n.ilog2() as i32),
                Some(Width::Bits(n)) => (n, lmul.log2() + n.ilog2() as i32 - sew.ilog2() as i32),
                Some(Width::Sew) => (sew, lmul.log2()),
                _ => return true,
            };
            (8..=64).contains(&eew) && (-3..=3).contains(&emul)
        };
        good(self.vd) && good(self.vs2) && good(self.vs1)
    }

    /// Whether it may run with `vstart` other than 0.
    pub fn restartable(&self) -> bool {
        let base = self.name();
        let no = base.contains("red")
            || matches!(
                base,
                "vcpop.m" | "vfirst.m" | "vmsbf.m" | "vmsif.m" | "vmsof.m" | "viota.m" | "vcompress.vm"
            );
        !no
    }

    /// Whether it depends on `vtype`: all do but loads and stores of whole registers. (Moves of whole
    /// registers count their elements in SEW.)
    pub fn needs_vtype(&self) -> bool {
        !(self.memory && matches!(self.vd, Some(Width::Registers(_))))
    }

    /// The instruction with far-apart registers, which [`prepare`] makes sense of.
    pub fn ins(&self) -> Ins {
        let ins = of(self.op).vd(VD).vs2(VS2).vs1(VS1);
        let ins = if has(self.op, "rs1") || has(self.op, "fs1") { ins.rs1(SCALAR) } else { ins };
        let ins = if self.memory { ins.rs1(DATA_X) } else { ins };
        if has(self.op, "rs2") { ins.rs2(STRIDE_X) } else { ins }
    }

    /// EEW of `vd` in bits, at this SEW; 1 for masks.
    pub fn eew(&self, sew: u32) -> u32 {
        match self.vd {
            Some(Width::Wide | Width::WideElement) => 2 * sew,
            Some(Width::Bits(n)) => n,
            Some(Width::Mask) => 1,
            Some(Width::Registers(_)) => 8,
            _ => sew,
        }
    }

    /// The registers of `vd`, for one field.
    pub fn registers(&self, sew: u32, lmul: Lmul) -> u32 {
        let emul = match self.vd {
            Some(Width::Wide) => lmul.log2() + 1,
            Some(Width::Bits(n)) => lmul.log2() + n.ilog2() as i32 - sew.ilog2() as i32,
            Some(Width::Registers(n)) => n.ilog2() as i32,
            Some(Width::Sew) => lmul.log2(),
            _ => 0,
        };
        1 << emul.max(0)
    }
}

/// Addresses and scalars for [`Form::ins`]: any instruction of any form can run.
pub fn prepare(lab: &mut Lab, form: &Form, sew: u32) {
    lab.x(DATA_X, super::harness::DATA).x(STRIDE_X, 24).x(SCALAR, 5).f(SCALAR, 0xffff_ffff_ffff_3c00);
    // Indices: small ones, in order.
    if let (true, Some(Width::Bits(eew))) = (form.memory, form.vs2) {
        let n = 8 * lab.hart.vector().vlenb * 8 / eew as usize;
        for i in 0..n.min(lab.hart.vector().vl as usize) {
            lab.put(VS2, eew, i, (i as u64 * u64::from(sew / 8)) & 0xff);
        }
    }
}
