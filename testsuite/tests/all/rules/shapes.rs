//! The operand shapes of the instruction table, compared with what [`forms`](super::forms) works out from the
//! names.

use super::forms::{self, Dest, Form, Width};
use rvv_isa::{Addressing, Eew, Op, Scalar, Sew, Shape};

fn width(eew: Eew) -> Option<Width> {
    Some(match eew {
        Eew::Absent => return None,
        Eew::Sew => Width::Sew,
        Eew::Wide => Width::Wide,
        Eew::Fraction(log2) => Width::Part(1 << log2),
        Eew::Of(sew) => Width::Bits(sew.bits()),
        Eew::Mask => Width::Mask,
        Eew::Element0 => Width::Element,
        Eew::WideElement0 => Width::WideElement,
        Eew::ElementGroup0 => Width::Key,
        Eew::Registers(n) => Width::Registers(u32::from(n)),
    })
}

/// The element widths that a shape allows, all extensions there.
fn sews(shape: &Shape) -> Vec<u32> {
    let wide = [shape.vd, shape.vs2, shape.vs1].into_iter().any(Eew::is_wide);
    let part = match shape.vs2 {
        Eew::Fraction(log2) => 8 << log2,
        _ => 8,
    };
    let float = |bits: u32| [16, 32, 64].contains(&bits);
    let fits = |sew: u32| {
        let numbers = match shape.float {
            rvv_isa::Float::No => true,
            rvv_isa::Float::Sew => float(sew),
            rvv_isa::Float::Wide => float(2 * sew),
            rvv_isa::Float::Both | rvv_isa::Float::Convert | rvv_isa::Float::Bf16 => {
                float(sew) && float(2 * sew)
            }
        };
        let only = shape.only_sew.is_none_or(|(widths, _)| widths.iter().any(|w| w.bits() == sew));
        numbers && only && sew >= part && (sew < 64 || !wide)
    };
    [8, 16, 32, 64].into_iter().filter(|&sew| fits(sew)).collect()
}

fn addressing(form: &Form) -> Option<(Addressing, Sew)> {
    let base = form.name().trim_end_matches(".v");
    let numbers: Vec<u32> =
        base.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect();
    let eew = numbers.last().copied().filter(|_| form.memory).and_then(Sew::from_bits);
    let addressing = match base {
        _ if !form.memory => return None,
        "vlm" | "vsm" => Addressing::Mask,
        _ if matches!(form.vd, Some(Width::Registers(_))) => Addressing::WholeRegisters,
        _ if base.ends_with("ff") => Addressing::FaultOnlyFirst,
        _ if base.contains("oxei") => Addressing::IndexedOrdered,
        _ if base.contains("uxei") => Addressing::IndexedUnordered,
        _ if base.starts_with("vlse") || base.starts_with("vsse") => Addressing::Strided,
        _ => Addressing::UnitStride,
    };
    // Masks are moved as bytes, and so are the registers of vs1r.v and its kin. (There is no EEW of 1, 2 or
    // 4.)
    Some((addressing, eew.filter(|_| base.starts_with("vl") || numbers[0] >= 8).unwrap_or(Sew::E8)))
}

fn scalar(form: &Form) -> Scalar {
    let has = |name: &str| form.op.info().operands.iter().any(|o| o.name().starts_with(name));
    match () {
        () if form.memory => Scalar::Absent,
        () if has("simm") || has("zimm") => Scalar::Immediate,
        () if has("rs1") => Scalar::X,
        () if has("fs1") => Scalar::F,
        () => Scalar::Absent,
    }
}

#[test]
fn shapes_of_the_instruction_table_are_what_the_names_say() {
    for form in forms::all() {
        let (name, shape) = (form.name(), form.op.shape());
        assert_eq!([shape.vd, shape.vs2, shape.vs1].map(width), [form.vd, form.vs2, form.vs1], "{name}");
        assert_eq!(shape.reads_vd, form.reads_vd, "{name}");
        assert_eq!(shape.v0_is_operand, form.carry, "{name}");
        assert_eq!(shape.is_float(), form.float, "{name}");
        assert_eq!(form.op.is_float(), form.float, "{name}: all with f registers are named so");
        assert_eq!(shape.is_store(), form.dest == Dest::Memory, "{name}");
        assert_eq!(shape.memory.map(|m| (m.addressing, m.eew)), addressing(&form), "{name}");
        assert_eq!(u64::from(shape.group), form.egs, "{name}");
        assert_eq!(shape.scalar, scalar(&form), "{name}");
        assert_eq!(sews(shape), form.sews(), "{name}");
        assert_eq!(shape.ignores_vtype(), !form.needs_vtype(), "{name}");
        assert_eq!(shape.is_reduction(), name.contains("red"), "{name}");
        let widening = name.starts_with("vw") || name.starts_with("vfw");
        assert_eq!(shape.is_widening(), widening, "{name}");
    }
}

/// Which pairs of operands may not overlap at all: the manual's chapters say it instruction by instruction.
#[test]
fn the_instruction_table_keeps_operands_apart_where_the_manual_does() {
    for form in forms::all() {
        let (name, shape) = (form.name(), form.op.shape());
        let base = name.split('.').next().unwrap_or(name);
        let vs2 = matches!(
            base,
            "vslideup" | "vslide1up" | "vfslide1up" | "vrgather" | "vrgatherei16" | "vcompress" | "viota"
        ) || matches!(base, "vmsbf" | "vmsif" | "vmsof" | "vsm3me" | "vsm3c")
            || base.starts_with("vsha2")
            || form.vs2 == Some(Width::Key);
        let vs1 =
            ["vrgather.vv", "vrgatherei16.vv", "vcompress.vm"].contains(&name) || base.starts_with("vsha2");
        assert_eq!((shape.apart_vs2.is_some(), shape.apart_vs1.is_some()), (vs2, vs1), "{name}");
        let to_mask = matches!(form.vd, Some(Width::Mask | Width::Element | Width::WideElement) | None);
        let v0 = !to_mask || matches!(base, "vmsbf" | "vmsif" | "vmsof");
        assert_eq!(shape.apart_v0.is_some(), v0, "{name}");
    }
}

#[test]
fn the_instruction_table_gives_no_shape_to_other_instructions() {
    let computes: Vec<Op> = forms::all().iter().map(|form| form.op).collect();
    for op in Op::all().filter(|op| !computes.contains(&op.base())) {
        assert_eq!(*op.shape(), Shape::NONE, "{}", op.name());
    }
}
