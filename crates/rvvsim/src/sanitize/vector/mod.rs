//! Vector instructions: what all of them have in common.

mod access;
mod elements;
mod masks;
mod permute;
mod rule;

use super::bits::Bits;
use super::origin::{Id, Source};
use super::registers::{Chosen, all_zero};
use super::{Kind, Next, Sanitizer, What};
use crate::hart::Hart;
use rule::{Rule, rule_of};
use rvv_isa::{Class, Eew, Inst, Op, Shape};

/// The shadow of the registers that an instruction will have written.
#[derive(Default)]
pub struct Pending {
    /// The first byte of the register file.
    start: usize,
    undefined: Vec<u8>,
    origin: Vec<Id>,
    /// Origins of memory that is loaded.
    words: Vec<Id>,
}

impl Pending {
    /// Where the registers begin in the file, and their undefined bits.
    pub fn result(&self) -> (usize, &[u8]) {
        (self.start, &self.undefined)
    }
}

/// An element, by the manual's words.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Active,
    Inactive,
    /// Its mask bit is undefined.
    Unknown,
}

/// An operand: where it begins in the register file, and the bytes of an element; 0 for a mask.
#[derive(Clone, Copy)]
struct Operand {
    at: usize,
    size: usize,
    registers: usize,
}

/// An instruction with what it executes under.
struct Context<'a> {
    inst: &'a Inst,
    shape: &'static Shape,
    /// The values of the vector registers.
    values: &'a [u8],
    vlenb: usize,
    sew: usize,
    vlmax: usize,
    vl: usize,
    vstart: usize,
    tail_agnostic: bool,
    mask_agnostic: bool,
    /// Why elements are agnostic, if not by the policy.
    overlap: bool,
    vd: Option<Operand>,
    vs2: Option<Operand>,
    vs1: Option<Operand>,
}

impl<'a> Context<'a> {
    fn new(hart: &'a Hart, inst: &'a Inst) -> Context<'a> {
        let shape = inst.op.shape();
        let v = &hart.v;
        let (sew, lmul) = (v.vtype.sew.bytes() as usize, v.vtype.lmul.log2());
        let operand = |eew: Eew, r: u8| {
            let (size, emul) = match eew {
                Eew::Absent => return None,
                Eew::Sew => (sew, lmul),
                Eew::Wide => (2 * sew, lmul + 1),
                Eew::Fraction(n) => (sew >> n, lmul - i32::from(n)),
                Eew::Of(eew) => {
                    let size = eew.bytes() as usize;
                    (size, lmul + size.ilog2() as i32 - sew.ilog2() as i32)
                }
                Eew::Mask => (0, 0),
                Eew::Element0 | Eew::ElementGroup0 => (sew, 0),
                Eew::WideElement0 => (2 * sew, 0),
                Eew::Registers(n) => (1, i32::from(n).max(1).ilog2() as i32),
            };
            Some(Operand { at: usize::from(r) * v.vlenb, size, registers: 1 << emul.clamp(0, 3) })
        };
        let (vd, vs2, vs1) =
            (operand(shape.vd, inst.rd), operand(shape.vs2, inst.rs2), operand(shape.vs1, inst.rs1));
        // norm:vreg_overlap_agn
        let fields = usize::from(shape.fields(inst));
        let overlaps = |a: Option<Operand>, b: Option<Operand>| match (a, b) {
            (Some(a), Some(b)) => {
                a.size != b.size
                    && b.at < a.at + a.registers * fields * v.vlenb
                    && a.at < b.at + b.registers * v.vlenb
            }
            _ => false,
        };
        let overlap = !shape.is_store() && (overlaps(vd, vs2) || overlaps(vd, vs1));
        Context {
            inst,
            shape,
            values: v.registers(),
            vlenb: v.vlenb,
            sew,
            vlmax: v.vtype.vlmax(hart.config.vlen) as usize,
            vl: v.vl as usize,
            vstart: v.vstart as usize,
            tail_agnostic: v.vtype.vta || overlap,
            mask_agnostic: v.vtype.vma || overlap,
            overlap,
            vd,
            vs2,
            vs1,
        }
    }

    /// Whether elements may be inactive.
    fn is_masked(&self) -> bool {
        !self.inst.vm && !self.shape.v0_is_operand
    }

    fn tail(&self) -> Source {
        if self.overlap { Source::Overlap } else { Source::Tail }
    }

    fn inactive(&self) -> Source {
        if self.overlap { Source::Overlap } else { Source::Inactive }
    }
}

/// How it matters to an instruction how long `vl` is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// It does not. Moves to and from element 0 look at most at whether it is 0 (norm:vmv_s_x_op), which none
    /// of the lengths is that a machine may choose.
    Element0,
    /// Elements before a shorter `vl` are what they are; the others are written or not.
    Elements,
    /// All of what it does: memory is written or not, a sum has more or fewer terms.
    All,
}

impl Reach {
    fn of(inst: &Inst) -> Reach {
        let shape = inst.op.shape();
        if let Some(memory) = shape.memory {
            return if memory.store { Reach::All } else { Reach::Elements };
        }
        match rule_of(inst.op) {
            Rule::ToX | Rule::ToF | Rule::ToElement0 => Reach::Element0,
            Rule::Population | Rule::First | Rule::Compress | Rule::Reduce(_) => Reach::All,
            _ => Reach::Elements,
        }
    }
}

impl Sanitizer {
    /// Works out what a vector instruction does, and checks what it decides by.
    pub(super) fn vector(&mut self, hart: &Hart, inst: &Inst) {
        let class = inst.op.class();
        if class == Class::VectorConfig {
            self.configure(hart, inst);
            return;
        }
        let shape = inst.op.shape();
        let whole = shape.ignores_vtype() || matches!(shape.vd, Eew::Registers(_));
        if !whole {
            if hart.v.vtype.vill {
                return;
            }
            self.check_config(hart, inst);
        }
        let reach = if whole { Reach::Element0 } else { Reach::of(inst) };
        if reach == Reach::All {
            self.check_length();
        }
        let context = Context::new(hart, inst);
        if self.regs.pending.is_some() {
            self.in_allocator(hart, &context);
            return;
        }
        match shape.memory {
            Some(memory) if memory.store => {
                self.check_vector_access(hart, &context);
                self.next = Next::VectorStore;
            }
            Some(_) => {
                self.check_vector_access(hart, &context);
                self.vector_load(hart, &context);
                if reach == Reach::Elements {
                    self.lose_chosen(&context, 0);
                }
            }
            None => match rule_of(inst.op) {
                Rule::ToX | Rule::ToF | Rule::Population | Rule::First => self.scalar_result(&context),
                rule => {
                    let vstart_past = context.vstart >= context.vl;
                    // Nothing is written, the tail included.
                    if !whole && vstart_past {
                        return;
                    }
                    if self.changes_nothing(&context, rule) {
                        return;
                    }
                    self.begin(&context);
                    self.operation(hart, &context, rule);
                    if reach == Reach::Elements {
                        // The scalar that is slid in is the last element, wherever that is.
                        let shorter = usize::from(matches!(rule, Rule::Slide1Down));
                        self.lose_chosen(&context, shorter);
                    }
                    self.next = Next::Vector;
                }
            },
        }
    }

    fn operation(&mut self, hart: &Hart, cx: &Context, rule: Rule) {
        match rule {
            Rule::Whole => self.whole_move(cx),
            Rule::MaskLogic(op) => self.mask_logic(cx, op),
            Rule::SetFirst(which) => self.set_first(cx, which),
            Rule::Iota => self.iota(cx),
            Rule::Id => self.elements(cx, |_, _| (0, 0)),
            Rule::SlideUp | Rule::SlideDown | Rule::Slide1Up | Rule::Slide1Down | Rule::Gather => {
                self.permute(hart, cx, rule);
            }
            Rule::Compress => self.compress(cx),
            Rule::ToElement0 => {
                let scalar = self.op1(hart, cx, 0);
                self.element0(cx, scalar.0.undefined, scalar.1);
            }
            Rule::Reduce(how) => self.reduce(cx, how),
            Rule::Groups => self.groups(cx),
            Rule::Elements(how) => self.elementwise(hart, cx, how),
            Rule::ToX | Rule::ToF | Rule::Population | Rule::First => {}
        }
    }

    /// What an allocator does with vectors is defined: it clears and copies.
    fn in_allocator(&mut self, hart: &Hart, cx: &Context) {
        let Some(vd) = cx.vd else { return };
        let fields = usize::from(cx.shape.fields(cx.inst));
        let len = match cx.shape.vd {
            Eew::Registers(_) => vd.registers * cx.vlenb,
            _ => cx.vl * vd.size * fields,
        };
        if cx.shape.is_store() {
            self.memory.define(hart.x[cx.inst.rs1], len as u64);
            return;
        }
        self.begin(cx);
        self.pending.undefined.fill(0);
        self.next = Next::Vector;
    }

    /// The destination's shadow as it is.
    fn begin(&mut self, cx: &Context) {
        let Some(vd) = cx.vd else { return };
        let fields = usize::from(cx.shape.fields(cx.inst));
        let len = (vd.registers * fields * cx.vlenb).min(self.regs.v.len() - vd.at);
        self.pending.start = vd.at;
        self.pending.undefined.clear();
        self.pending.undefined.extend_from_slice(&self.regs.v[vd.at..vd.at + len]);
        self.pending.origin.clear();
        self.pending.origin.extend_from_slice(&self.regs.v_origin[vd.at / 8..(vd.at + len).div_ceil(8)]);
    }

    pub(super) fn commit_vector(&mut self) {
        let Pending { start, undefined, origin, .. } = &self.pending;
        self.regs.v[*start..start + undefined.len()].copy_from_slice(undefined);
        self.regs.v_origin[start / 8..start / 8 + origin.len()].copy_from_slice(origin);
    }

    /// The origin of a byte of the register file.
    fn origin_at(&self, at: usize) -> Id {
        self.regs.v_origin.get(at / 8).copied().unwrap_or(0)
    }

    /// The same, having gone through this instruction; 0 if nothing is undefined.
    fn passed_on(&mut self, undefined: u64, origin: Id) -> Id {
        if undefined == 0 { 0 } else { self.origins.through(origin, self.pc) }
    }

    /// Sets the shadow of bytes of the result, from byte `at` of the destination on.
    fn put(&mut self, at: usize, size: usize, undefined: u64, origin: Id) {
        super::registers::set(&mut self.pending.undefined, at, size, undefined);
        if undefined != 0
            && let Some(to) = self.pending.origin.get_mut(at / 8)
        {
            *to = origin;
        }
    }

    /// Makes bytes of the result undefined, from one origin.
    fn lose(&mut self, from: usize, to: usize, origin: Id) {
        let to = to.min(self.pending.undefined.len());
        if from < to {
            self.pending.undefined[from..to].fill(0xff);
            // A word that is shared with elements before keeps their origin, if they have one.
            let shared =
                !from.is_multiple_of(8) && self.pending.undefined[from / 8 * 8..from].iter().any(|b| *b != 0);
            let first = from / 8 + usize::from(shared);
            self.pending.origin[first..to.div_ceil(8).max(first)].fill(origin);
        }
    }

    /// What element `i` is.
    fn part(&self, cx: &Context, i: usize) -> Part {
        if !cx.is_masked() {
            return Part::Active;
        }
        match self.regs.bit(cx.values, 0, i) {
            Some(true) => Part::Active,
            Some(false) => Part::Inactive,
            None => Part::Unknown,
        }
    }

    /// The mask of the body is defined.
    fn is_mask_defined(&self, cx: &Context) -> bool {
        cx.inst.vm || self.are_bits_defined(cx, 0)
    }

    /// The bits of the body are defined in the register that begins at byte `at`.
    fn are_bits_defined(&self, cx: &Context, at: usize) -> bool {
        let register = &self.regs.v[at..at + cx.vlenb];
        let (bytes, bits) = (cx.vl / 8, cx.vl % 8);
        // Mostly nothing before the body is undefined, either.
        all_zero(&register[..bytes]) && (bits == 0 || register[bytes] & !(0xff << bits) == 0)
            || (cx.vstart..cx.vl).all(|i| register[i / 8] >> (i % 8) & 1 == 0)
    }

    /// Makes the bits of the body defined in a result that is a mask.
    fn define_bits(&mut self, cx: &Context) {
        let register = &mut self.pending.undefined;
        let (first, last) = (cx.vstart.next_multiple_of(8), cx.vl / 8 * 8);
        if first < last {
            register[first / 8..last / 8].fill(0);
        }
        let rest = (cx.vstart..first.min(cx.vl)).chain(last.max(first).min(cx.vl)..cx.vl);
        rest.for_each(|i| register[i / 8] &= !(1 << (i % 8)));
    }

    /// Whether all is defined before and after: what an operation on elements reads, and all of what it
    /// writes.
    fn changes_nothing(&self, cx: &Context, rule: Rule) -> bool {
        let (Rule::Elements(_), Some(vd)) = (rule, cx.vd) else { return false };
        let group = vd.registers * cx.vlenb;
        vd.size > 0
            && !cx.is_masked()
            && (cx.vl * vd.size >= group || !cx.tail_agnostic)
            && self.regs.vl_chosen.is_none()
            && self.regs.is_defined(vd.at, group)
            && self.operands_are_defined(cx)
    }

    /// The elements past `vl`, up to the end of the group, by the tail policy.
    fn finish_tail(&mut self, cx: &Context) {
        let Some(vd) = cx.vd else { return };
        self.finish_tail_from(cx, cx.vl * vd.size, cx.vl);
    }

    fn finish_tail_from(&mut self, cx: &Context, byte: usize, element: usize) {
        if cx.tail_agnostic && byte < self.pending.undefined.len() {
            let origin = self.origins.born(cx.tail(), self.pc, element);
            self.lose(byte, usize::MAX, origin);
        }
    }

    /// `vsetvli` and its kin.
    fn configure(&mut self, hart: &Hart, inst: &Inst) {
        let immediate = inst.op == Op::Vsetivli;
        let keeps_vl = !immediate && inst.rd == 0 && inst.rs1 == 0;
        if inst.op == Op::Vsetvl {
            self.check_x(Kind::Vtype, inst.rs2);
        }
        let new = match inst.op {
            Op::Vsetvl => rvv_isa::Vtype::from_bits(hart.x[inst.rs2]),
            _ => rvv_isa::Vtype::from_bits(u64::from(inst.imm as u32)),
        };
        let vlmax = u64::from(new.vlmax(hart.config.vlen));
        if keeps_vl {
            self.check_config(hart, inst);
            let old = hart.v.vtype;
            let reserved = !old.vill && u64::from(old.vlmax(hart.config.vlen)) != vlmax && !new.vill;
            if reserved {
                let rule = Some("norm:vtype_vset_rsv");
                let detail = format!("vl is kept, and VLMAX changes: {old} to {new}");
                self.found(Kind::Reserved, What { detail, rule, ..What::default() });
            }
        } else {
            self.regs.config_lost = None;
            self.regs.vl_chosen = None;
            if !immediate && inst.rs1 != 0 {
                let avl = self.x(hart, inst.rs1);
                // If the least it may be is long enough, vl is VLMAX all the same.
                if !avl.is_defined() && avl.value & !avl.undefined < 2 * vlmax {
                    self.check_x(Kind::Length, inst.rs1);
                }
                let asked = (avl.value, vlmax);
                let least = avl.value.div_ceil(2);
                if avl.value > vlmax && least < vlmax && !self.regs.told.contains(&asked) {
                    if inst.rd == 0 {
                        self.regs.vl_chosen = Some(Chosen { pc: self.pc, least: least as usize });
                    } else {
                        self.regs.told.rotate_right(1);
                        self.regs.told[0] = asked;
                    }
                }
            }
        }
        if inst.rd != 0 {
            self.next = Next::X(inst.rd, 0, 0);
        }
    }

    /// The instruction depends on `vl` and `vtype`.
    fn check_config(&mut self, hart: &Hart, inst: &Inst) {
        if let Some(rule) = self.regs.config_lost.take() {
            self.found(Kind::InheritedVtype, What { rule: Some(rule), ..What::default() });
        }
        if rounds(inst.op)
            && !self.shifts_by_zero(hart, inst)
            && let Some(rule) = self.regs.vxrm_lost.take()
        {
            self.found(Kind::InheritedVxrm, What { rule: Some(rule), ..What::default() });
        }
    }

    /// The instruction depends on how long `vl` is.
    fn check_length(&mut self) {
        let Some(Chosen { pc, .. }) = self.regs.vl_chosen.take() else { return };
        // The fault is where vl was set, not where it is used.
        let here = std::mem::replace(&mut self.pc, pc);
        let detail = "VLMAX < AVL < 2*VLMAX: vl may be anything from ceil(AVL/2) to VLMAX, and rd is x0";
        let inst = self.inst.take();
        let rule = Some("norm:vl_val_list");
        self.found(Kind::ChosenLength, What { detail: detail.to_owned(), rule, ..What::default() });
        (self.pc, self.inst) = (here, inst);
    }

    /// The elements of the result that some machines write and others do not, as they choose another `vl`. They
    /// are undefined until the program asks for `vl`: compilers give `vl` of a group to an operation whose
    /// element 0 is all that counts.
    fn lose_chosen(&mut self, cx: &Context, before: usize) {
        let (Some(Chosen { pc, least }), Some(vd)) = (self.regs.vl_chosen, cx.vd) else { return };
        let least = least - before;
        let origin = self.origins.born(Source::ChosenLength, pc, least);
        if vd.size == 0 {
            self.lose_bits(cx, least, origin);
            return;
        }
        let group = vd.registers * cx.vlenb;
        for field in 0..usize::from(cx.shape.fields(cx.inst)) {
            let first = field * group;
            self.lose(first + least * vd.size, first + cx.vlmax * vd.size, origin);
        }
    }

    /// The program asks for `vl`: what was undefined since the machine had chosen it is not so any more.
    pub(super) fn length_is_known(&mut self) {
        if self.regs.vl_chosen.take().is_none() {
            return;
        }
        for (word, origin) in self.regs.v_origin.iter().enumerate() {
            if self.origins.source(*origin) == Some(Source::ChosenLength) {
                let end = (8 * word + 8).min(self.regs.v.len());
                self.regs.v[8 * word..end].fill(0);
            }
        }
    }

    /// Whether the instruction shifts by an immediate or scalar 0, which rounds nothing: compilers clip so,
    /// and do not set `vxrm`.
    fn shifts_by_zero(&self, hart: &Hart, inst: &Inst) -> bool {
        let amount = match inst.op {
            Op::VnclipWi | Op::VnclipuWi | Op::VssrlVi | Op::VssraVi => Some(Bits::new(inst.imm as u64, 0)),
            Op::VnclipWx | Op::VnclipuWx | Op::VssrlVx | Op::VssraVx => Some(self.x(hart, inst.rs1)),
            _ => None,
        };
        let wide = matches!(inst.op, Op::VnclipWi | Op::VnclipuWi | Op::VnclipWx | Op::VnclipuWx);
        let sew = u64::from(hart.v.vtype.sew.bits());
        let used = if wide { 2 * sew - 1 } else { sew - 1 };
        amount.is_some_and(|amount| (amount.value | amount.undefined) & used == 0)
    }
}

/// Whether the instruction rounds by `vxrm`: the fixed-point ones that do not only saturate.
fn rounds(op: Op) -> bool {
    use Op::*;
    op.class() == Class::VectorFixed
        && !matches!(
            op,
            VsaddVi
                | VsaddVv
                | VsaddVx
                | VsadduVi
                | VsadduVv
                | VsadduVx
                | VssubVv
                | VssubVx
                | VssubuVv
                | VssubuVx
        )
}
