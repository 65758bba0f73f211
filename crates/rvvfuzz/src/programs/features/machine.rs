//! Features of machine code, of any compiler: seen, not said.

use super::code::{Flow, Function, Placed, clones};
use super::feature::{Counts, Source, bucket};
use rvv_isa::{Addressing, Class, Eew, Inst, Op, Operand, RegFile, Scalar, Vtype, csr};
use std::collections::BTreeSet;

/// The stack pointer.
const SP: u8 = 2;

/// What is seen in the functions of one program.
pub(super) fn count(functions: &[&Function]) -> Counts {
    let mut counts = Counts::default();
    for function in functions {
        of_function(function, &mut counts);
    }
    counts
}

/// How a vset instruction says what vl becomes.
pub fn vset_form(inst: &Inst) -> &'static str {
    match (inst.op, inst.rd, inst.rs1) {
        (Op::Vsetivli, ..) => "vsetivli",
        (Op::Vsetvl, ..) => "vsetvl",
        (_, 0, 0) => "vsetvli x0,x0",
        (_, _, 0) => "vsetvli rd,x0",
        (_, 0, _) => "vsetvli x0,rs1",
        _ => "vsetvli rd,rs1",
    }
}

/// The vtype that a vset instruction sets; `None` if a register holds it.
pub fn vset_type(inst: &Inst) -> Option<Vtype> {
    (inst.op != Op::Vsetvl).then(|| Vtype::from_bits(inst.imm as u64))
}

/// What an instruction does with which control register: `write vxrm 2`, `read vl`; `None` if it is none.
pub fn csr_access(inst: &Inst) -> Option<String> {
    let number = u16::try_from(inst.imm).ok()?;
    let register = csr::name(number).map_or_else(|| format!("{number:#x}"), str::to_string);
    let immediate = matches!(inst.op, Op::Csrrwi | Op::Csrrsi | Op::Csrrci);
    let value = if immediate { inst.rs1.to_string() } else { "from a register".to_string() };
    let (verb, writes) = match inst.op {
        Op::Csrrw | Op::Csrrwi if inst.rd == 0 => ("write", true),
        Op::Csrrw | Op::Csrrwi => ("swap", true),
        Op::Csrrs | Op::Csrrsi | Op::Csrrc | Op::Csrrci if inst.rs1 == 0 => ("read", false),
        Op::Csrrs | Op::Csrrsi => ("set bits of", true),
        Op::Csrrc | Op::Csrrci => ("clear bits of", true),
        _ => return None,
    };
    Some(if writes { format!("{verb} {register} {value}") } else { format!("{verb} {register}") })
}

/// What kind of instruction it is, for what stands beside it: a class of scalar ones, a shape of vector ones.
fn shape(inst: &Inst) -> String {
    let shape = inst.op.shape();
    let mut name = format!("{:?}", inst.op.class());
    if let Some(memory) = shape.memory {
        name += &format!(" {}", addressing(memory.addressing));
    }
    let more = [
        (shape.is_widening(), "widening"),
        (shape.vs2.is_wide() && !shape.is_widening(), "narrowing"),
        (shape.is_reduction(), "reduction"),
        (shape.vd == Eew::Mask, "to mask"),
        (shape.scalar == Scalar::X || shape.scalar == Scalar::F, "scalar"),
        (shape.reads_vd && !shape.is_store(), "reads vd"),
        (!inst.vm, "masked"),
    ];
    for (is_so, word) in more {
        if is_so {
            name += &format!(" {word}");
        }
    }
    name
}

fn addressing(addressing: Addressing) -> &'static str {
    match addressing {
        Addressing::UnitStride => "unit-stride",
        Addressing::FaultOnlyFirst => "fault-only-first",
        Addressing::Strided => "strided",
        Addressing::IndexedUnordered => "indexed-unordered",
        Addressing::IndexedOrdered => "indexed-ordered",
        Addressing::Mask => "mask",
        Addressing::WholeRegisters => "whole-registers",
    }
}

/// What is known on the way through a function, from its start to its end as it is laid out.
struct Walk<'c> {
    counts: &'c mut Counts,
    /// The last vtype that was set, and whether a label came after it: then there is another way to here.
    vtype: Option<Vtype>,
    label: bool,
    /// Registers that hold addresses on the stack, a bit each.
    stack: u32,
    /// Registers that hold a multiple of vlenb.
    vlenb: u32,
    /// The shapes and classes before this one, without repetitions of scalar ones.
    shapes: Vec<String>,
    classes: Vec<Class>,
}

fn of_function(function: &Function, counts: &mut Counts) {
    let targets: BTreeSet<u64> = function
        .code
        .iter()
        .filter_map(|p| match p.flow(&function.range) {
            Flow::Branch(to) | Flow::Jump(to) => Some(to),
            _ => None,
        })
        .collect();
    for clone in clones(&function.symbol) {
        counts.add(Source::Function, format!("clone {clone}"));
    }
    let mut walk = Walk {
        counts,
        vtype: None,
        label: false,
        stack: 1 << SP,
        vlenb: 0,
        shapes: Vec::new(),
        classes: Vec::new(),
    };
    for placed in &function.code {
        walk.label |= targets.contains(&placed.at);
        walk.step(placed, function);
    }
    loops(function, counts);
}

impl Walk<'_> {
    fn add(&mut self, source: Source, what: String) {
        self.counts.add(source, what);
    }

    fn step(&mut self, placed: &Placed, function: &Function) {
        let Some(inst) = placed.inst.map(|i| Inst { op: i.op.base(), ..i }) else { return };
        match placed.flow(&function.range) {
            Flow::Call(_) => self.add(Source::Function, "call".to_string()),
            Flow::Leaves if inst.op == Op::Jal => self.add(Source::Function, "tail call".to_string()),
            _ => {}
        }
        if let Some(access) = csr_access(&inst) {
            self.add(Source::Csr, access);
        }
        match inst.op.class() {
            Class::VectorConfig => self.vset(&inst),
            class if class >= Class::VectorConfig => self.vector(&inst),
            _ => self.scalar(&inst),
        }
        self.neighbours(&inst);
    }

    fn vset(&mut self, inst: &Inst) {
        let to = vset_type(inst);
        let text = |t: Option<Vtype>| t.map_or("?".to_string(), |t| t.to_string());
        let label = if self.label { " |" } else { "" };
        let what = format!("{}{label} -> {} by {}", text(self.vtype), text(to), vset_form(inst));
        self.add(Source::Vset, what);
        (self.vtype, self.label) = (to, false);
        self.written(inst);
    }

    fn vector(&mut self, inst: &Inst) {
        let shape = inst.op.shape();
        let masked = if !inst.vm && !shape.v0_is_operand { " masked" } else { "" };
        let fields =
            if shape.fields(inst) > 1 { format!(" ×{}", shape.fields(inst)) } else { String::new() };
        self.add(Source::Instruction, format!("{}{fields}{masked}", inst.op.name()));
        let class = inst.op.class();
        if let Some(t) = self.vtype.filter(|_| !shape.ignores_vtype()) {
            self.add(Source::Lmul, format!("{class:?} {},{}", t.sew, t.lmul));
            let policy = |agnostic| if agnostic { 'a' } else { 'u' };
            let masked = if masked.is_empty() { "" } else { " masked" };
            self.add(Source::Policy, format!("{class:?}{masked} t{} m{}", policy(t.vta), policy(t.vma)));
        }
        self.overlaps(inst);
        if let Some(memory) = shape.memory {
            let on_stack = self.stack >> inst.rs1 & 1 == 1;
            let place = if on_stack { "stack" } else { "memory" };
            let verb = if memory.store { "store" } else { "load" };
            let how = addressing(memory.addressing);
            self.add(Source::Memory, format!("{verb} {how} {}{fields}{masked} {place}", memory.eew));
            if on_stack && memory.is_whole() {
                let verb = if memory.store { "spill" } else { "reload" };
                self.add(Source::Spill, format!("{verb} of {} registers", inst.nf + 1));
            }
        }
        self.written(inst);
    }

    /// Operands in one register, where both are vectors.
    fn overlaps(&mut self, inst: &Inst) {
        let shape = inst.op.shape();
        let store = shape.is_store();
        let vd = if store { "data" } else { "vd" };
        for (other, register, eew) in [("vs2", inst.rs2, shape.vs2), ("vs1", inst.rs1, shape.vs1)] {
            if eew != Eew::Absent && shape.vd != Eew::Absent && register == inst.rd {
                let apart = if eew == shape.vd { "" } else { " of other EEW" };
                let class = inst.op.class();
                self.add(Source::Overlap, format!("{class:?} {vd}={other}{apart}"));
            }
        }
    }

    fn scalar(&mut self, inst: &Inst) {
        let class = inst.op.class();
        let stack = |r: u8| self.stack >> r & 1 == 1;
        let vlenb = |r: u8| self.vlenb >> r & 1 == 1;
        if matches!(class, Class::Load | Class::Store) && stack(inst.rs1) {
            self.add(Source::Memory, format!("scalar {class:?} stack"));
            self.written(inst);
            return;
        }
        let reads_vlenb = class == Class::Csr && u16::try_from(inst.imm) == Ok(csr::VLENB);
        let moves =
            matches!(inst.op, Op::Addi | Op::Add | Op::Sub | Op::Slli | Op::Sh1add | Op::Sh2add | Op::Sh3add);
        let second = matches!(inst.op, Op::Add | Op::Sub | Op::Sh1add | Op::Sh2add | Op::Sh3add);
        let is_mul = inst.op == Op::Mul;
        let scaled = vlenb(inst.rs1) && (moves || is_mul) || (second || is_mul) && vlenb(inst.rs2);
        let on_stack = moves && stack(inst.rs1) || second && stack(inst.rs2);
        if scaled && !on_stack {
            self.add(Source::Spill, format!("vlenb by {}", inst.op.name()));
        } else if scaled {
            self.add(Source::Spill, format!("stack address from vlenb by {}", inst.op.name()));
        }
        self.written(inst);
        if inst.rd != 0 {
            self.stack |= u32::from(on_stack) << inst.rd;
            self.vlenb |= u32::from((scaled && !on_stack) || reads_vlenb) << inst.rd;
        }
    }

    /// What an integer register held is gone.
    fn written(&mut self, inst: &Inst) {
        let is_x = |o: &Operand| o.reg_file() == Some(RegFile::X) && o.fields().contains(&rvv_isa::Field::Rd);
        if inst.op.info().operands.iter().any(is_x) {
            self.stack &= !(1 << inst.rd) | 1 << SP;
            self.vlenb &= !(1 << inst.rd);
        }
    }

    /// Instructions in a row, of which one is a vector instruction. A run of scalar ones of one class is one.
    fn neighbours(&mut self, inst: &Inst) {
        let class = inst.op.class();
        if !inst.op.is_vector() && self.classes.last() == Some(&class) {
            return;
        }
        self.shapes.push(shape(inst));
        self.classes.push(class);
        if let [.., a, b] = &self.shapes[..]
            && self.classes[self.classes.len() - 2..].iter().any(|c| *c > Class::VectorConfig)
        {
            let what = format!("{a} ; {b}");
            self.add(Source::Pair, what);
        }
        if let [.., a, b, c] = self.classes[..]
            && [a, b, c].iter().any(|c| *c > Class::VectorConfig)
        {
            self.add(Source::Triple, format!("{a:?} ; {b:?} ; {c:?}"));
        }
        if self.classes.len() > 2 {
            self.classes.remove(0);
            self.shapes.remove(0);
        }
    }
}

/// Backward branches, each with what is between it and its target.
fn loops(function: &Function, counts: &mut Counts) {
    let backward = |p: &&Placed| match p.flow(&function.range) {
        Flow::Branch(to) | Flow::Jump(to) => to <= p.at,
        _ => false,
    };
    let target = |p: &Placed| match p.flow(&function.range) {
        Flow::Branch(to) | Flow::Jump(to) => to,
        _ => p.at,
    };
    let all: Vec<(u64, u64)> =
        function.code.iter().filter(backward).map(|p| (target(p), p.at)).take(LOOPS).collect();
    for &(start, end) in &all {
        let depth = all.iter().filter(|(s, e)| *s <= start && end <= *e).count();
        let first = function.code.partition_point(|p| p.at < start);
        let last = function.code.partition_point(|p| p.at <= end);
        let (mut vsets, mut vectors, mut calls, mut csrs) = (0, 0, 0, 0);
        for placed in function.code.get(first..last).unwrap_or_default() {
            let Some(inst) = &placed.inst else { continue };
            match inst.op.class() {
                Class::VectorConfig => vsets += 1,
                Class::Csr => csrs += 1,
                class if class > Class::VectorConfig => vectors += 1,
                _ => {}
            }
            calls += u64::from(matches!(placed.flow(&function.range), Flow::Call(_)));
        }
        let some = |what: &str, n: u64| match n {
            0 => String::new(),
            n => format!(" {what} {}", bucket(n)),
        };
        counts.add(
            Source::Loop,
            format!(
                "depth {depth}{}{}{}{}",
                some("vset", vsets),
                some("vector", vectors),
                some("csr", csrs),
                some("call", calls)
            ),
        );
    }
}

/// Loops of a function that are looked at: what is nested is found by comparing all of them.
const LOOPS: usize = 256;

#[cfg(test)]
mod tests {
    use super::super::code::tests::{clang, elf_of, programs};
    use super::super::{Feature, Features, of_elf};
    use super::*;
    use crate::programs::testbed::compiler::{Built, Limits};
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rvv_ir::Program;
    use rvv_isa::{Lmul, Sew, encode};

    fn empty() -> Program {
        "rvv-ir 1\nmain {\n}\n".parse().unwrap_or_else(|e| panic!("{e}"))
    }

    fn of(insts: &[Inst]) -> Features {
        let words: Vec<u32> = insts.iter().map(|i| encode(i).unwrap_or_else(|e| panic!("{e}"))).collect();
        of_elf(&elf_of(&words), &[&empty()], "x").remove(0)
    }

    fn has(features: &Features, name: &str) {
        let found: Result<Feature, _> = name.parse();
        let all: Vec<String> = features.iter().map(|f| f.name()).collect();
        assert!(found.is_ok_and(|f| features.contains(&f)), "{name} is not in {all:#?}");
    }

    fn vset(sew: Sew, lmul: Lmul, rd: u8, rs1: u8) -> Inst {
        let imm = Vtype::new(sew, lmul, true, false).to_bits() as i32;
        Inst { rd, rs1, imm, ..Inst::new(Op::Vsetvli) }
    }

    #[test]
    fn vsets_say_from_where_to_where() {
        let first = vset(Sew::E8, Lmul::Mf2, 5, 10);
        let branch = Inst { rs1: 1, imm: -4, ..Inst::new(Op::Bne) };
        let add = Inst { rd: 8, rs2: 8, rs1: 16, vm: false, ..Inst::new(Op::VaddVv) };
        let features =
            of(&[first, vset(Sew::E16, Lmul::M1, 0, 0), branch, add, vset(Sew::E32, Lmul::M2, 6, 0)]);
        has(&features, "x vset: ? -> e8,mf2,ta,mu by vsetvli rd,rs1 ×1");
        // The branch leads to the second one: there is another way to it.
        has(&features, "x vset: e8,mf2,ta,mu | -> e16,m1,ta,mu by vsetvli x0,x0 ×1");
        has(&features, "x vset: e16,m1,ta,mu -> e32,m2,ta,mu by vsetvli rd,x0 ×1");
        has(&features, "x instruction: vadd.vv masked ×1");
        has(&features, "x lmul: VectorInteger e16,m1 ×1");
        has(&features, "x policy: VectorInteger masked ta mu ×1");
        has(&features, "x overlap: VectorInteger vd=vs2 ×1");
        has(&features, "x loop: depth 1 vset 1 ×1");
        has(&features, "x triple: VectorConfig ; Branch ; VectorInteger");
    }

    #[test]
    fn spills_and_control_registers_are_seen() {
        let sp = |rd: u8, imm| Inst { rd, rs1: SP, imm, ..Inst::new(Op::Addi) };
        let read = Inst { rd: 12, imm: csr::VLENB.into(), ..Inst::new(Op::Csrrs) };
        let shift = Inst { rd: 12, rs1: 12, imm: 1, ..Inst::new(Op::Slli) };
        let base = Inst { rd: 13, rs1: 12, rs2: SP, ..Inst::new(Op::Add) };
        let spill = |op, rs1| Inst { rd: 8, rs1, ..Inst::new(op) };
        let mode = Inst { rs1: 2, imm: csr::VXRM.into(), ..Inst::new(Op::Csrrwi) };
        let swap = Inst { rd: 9, rs1: 8, imm: csr::FRM.into(), ..Inst::new(Op::Csrrw) };
        let elsewhere = Inst { rd: 13, rs1: 20, ..Inst::new(Op::Addi) };
        let all = [sp(SP, -64), read, shift, base, spill(Op::Vs2rV, 13), sp(11, 32), spill(Op::Vl2re8V, 11)];
        let features = of(&[&all[..], &[mode, swap, elsewhere, spill(Op::Vs2rV, 13)]].concat());
        has(&features, "x csr: read vlenb ×1");
        has(&features, "x csr: write vxrm 2 ×1");
        has(&features, "x csr: swap frm from a register ×1");
        has(&features, "x spill: vlenb by slli ×1");
        has(&features, "x spill: stack address from vlenb by add ×1");
        has(&features, "x spill: spill of 2 registers ×1");
        has(&features, "x spill: reload of 2 registers ×1");
        has(&features, "x memory: store whole-registers e8 memory ×1");
        has(&features, "x memory: store whole-registers e8 stack ×1");
    }

    #[test]
    fn changed_files_have_features_or_none() {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let words: Vec<u32> = (0..64).map(|n| if n % 3 == 0 { 0x0221_80d7 } else { rng.random() }).collect();
        let (good, program) = (elf_of(&words), empty());
        assert!(!of_elf(&good, &[&program], "x")[0].is_empty());
        for _ in 0..5000 {
            let mut bytes = good.clone();
            for _ in 0..rng.random_range(1..5) {
                let at = rng.random_range(0..bytes.len());
                bytes[at] = if rng.random() { 0xff } else { rng.random() };
            }
            bytes.truncate(bytes.len() - rng.random_range(0..2) * rng.random_range(0..bytes.len()));
            assert_eq!(of_elf(&bytes, &[&program], "x").len(), 1);
        }
        assert!(of_elf(b"no ELF", &[&program, &program], "x").iter().all(Features::is_empty));
    }

    #[test]
    fn programs_of_a_compiler_have_features_of_their_own() {
        let Some(clang) = clang() else { return };
        let all = programs(3);
        let of = |some: &[&Program]| match clang.build(some, &["-O2".to_string()], &Limits::default()) {
            Built::Elf(elf) => of_elf(&elf, some, "clang"),
            _ => Vec::new(),
        };
        let good: Vec<&Program> = all.iter().filter(|p| !of(&[p]).is_empty()).collect();
        let together = of(&good);
        assert!(good.len() > 1);
        for (program, features) in good.iter().zip(&together) {
            // Nothing that is counted depends on what else is in the file.
            assert_eq!(of(&[program])[0], *features);
            assert!(features.len() > 20, "{features:?}");
        }
        assert_ne!(together[0], together[1]);
    }
}
