//! Chains: instructions one after the other that are executed together, some pieces of all of them at a time.
//!
//! Of large groups, going through memory from one instruction to the next is most of the time: the vector
//! registers are there. In a chain a value stays in a host register from the load to the store, and of a
//! group that is written twice the last value alone is stored. That is right as all elements of all
//! instructions are on their own:
//!
//! * all accesses are looked up before anything is written, and if one misses the interpreter goes on from
//!   the first instruction: so nothing in a chain traps;
//! * there is one store at most, the last instruction, and the memory it writes is what a load reads from or
//!   apart from it; accesses over pages that are apart in the host are put together elsewhere;
//! * where a result is a NaN, the chain has not written these pieces yet, and the interpreter executes all
//!   its instructions from that element on.

use super::super::cached::Cached;
use super::super::cold::{Apart, Cold, First, Range};
use super::super::fields::float_home;
use super::super::registers::{Place, RAX};
use super::super::simd::{self, Operand, Simd, Width};
use super::float::{FloatOp, float_op};
use super::lanes::{Lane, lane};
use super::{Emitter, RDX, bytes_of, has_scalar, sew_index};
use crate::engine::Uop;
use crate::mem::{Access, HostTlb, PAGE};
use crate::vector::VInst;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, dynasm};
use rvv_isa::{Addressing, Memory, Sew};

/// Bytes of a strip: a chain is for groups of whole ones.
const STRIP: usize = 256;
/// Host registers for values and scalars, and those that tell whether a result is a NaN.
const REGISTERS: [u8; 14] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14];
const UNORDERED: u8 = 13;
const ANY_NAN: u8 = 15;
/// Host registers that point at memory. What they hold for the guest is at home meanwhile.
const POINTERS: [u8; HostTlb::BOUNCES] = [8, 9, 10, 11];

/// What a value is computed from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Source {
    /// Another value, by number.
    Value(usize),
    /// A scalar, by number.
    Scalar(usize),
}

/// A value of a chain.
#[derive(Clone, Copy)]
enum Value {
    /// From memory, by the number of the access.
    Loaded(usize),
    /// What a group was before the chain.
    Read(u32),
    /// `a op b`.
    Binary(Simd, Source, Source),
    /// `±(a × b) ± c` by a host instruction that has its result in the place of the first.
    Fused(Simd, Source, Source, Source),
    /// `op a`.
    Unary(Simd, Source),
}

/// A scalar operand: a register, and the width of the elements.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Float(u8, Sew),
    Integer(u8, Sew),
    Immediate(i32, Sew),
}

/// A chain as it is planned.
#[derive(Default)]
struct Chain {
    values: Vec<Value>,
    scalars: Vec<Scalar>,
    /// Integer registers with the addresses of accesses, and what they are. A store is the last.
    accesses: Vec<(u8, Range)>,
    /// Groups that are written, and by what in the end.
    written: Vec<(u32, usize)>,
    /// What the last access stores.
    stored: Option<usize>,
    /// Results that may be the first NaN.
    checked: Vec<usize>,
    double: bool,
    bytes: usize,
    length: usize,
}

impl Chain {
    /// The value of a group.
    fn read(&mut self, group: u32) -> Source {
        if let Some(&(_, value)) = self.written.iter().find(|(g, _)| *g == group) {
            return Source::Value(value);
        }
        let is = |value: &Value| matches!(value, Value::Read(g) if *g == group);
        let known = self.values.iter().position(is);
        Source::Value(known.unwrap_or_else(|| self.push(Value::Read(group))))
    }

    fn push(&mut self, value: Value) -> usize {
        self.values.push(value);
        self.values.len() - 1
    }

    fn scalar(&mut self, scalar: Scalar) -> Source {
        let known = self.scalars.iter().position(|s| *s == scalar);
        Source::Scalar(known.unwrap_or_else(|| {
            self.scalars.push(scalar);
            self.scalars.len() - 1
        }))
    }

    fn write(&mut self, group: u32, value: usize) {
        self.written.retain(|(g, _)| *g != group);
        self.written.push((group, value));
    }

    /// How wide pieces are.
    fn width(&self, long: bool) -> Width {
        let has_form = |i: Simd| i.long_form().is_some();
        let all = self.values.iter().all(|value| match *value {
            Value::Loaded(_) | Value::Read(_) => true,
            Value::Binary(i, ..) | Value::Fused(i, ..) | Value::Unary(i, _) => has_form(i),
        });
        if long && all { Width::B64 } else { Width::B32 }
    }

    /// How many pieces are computed at once.
    fn at_once(&self) -> Option<usize> {
        [2, 1].into_iter().find(|n| self.values.len() * n + self.scalars.len() <= REGISTERS.len())
    }

    /// Takes an instruction of so many bytes into the chain; false if it cannot be, and then the chain is of
    /// no use.
    fn take(&mut self, vinst: &VInst, bytes: usize) -> bool {
        let groups = &vinst.groups;
        let shape = vinst.inst.op.shape();
        if vinst.policy.masked || self.stored.is_some() {
            return false;
        }
        if let Some(Memory { addressing, eew, store }) = shape.memory {
            let plain = addressing == Addressing::UnitStride && vinst.inst.nf == 0;
            let size = eew.bits() as usize / 8;
            if !plain || bytes > PAGE as usize || self.accesses.len() == POINTERS.len() {
                return false;
            }
            let access = if store { Access::Store } else { Access::Load };
            self.accesses.push((vinst.inst.rs1, Range { access, bytes, size }));
            if store {
                let Source::Value(value) = self.read(groups.vd) else { return false };
                self.stored = Some(value);
            } else {
                let value = self.push(Value::Loaded(self.accesses.len() - 1));
                self.write(groups.vd, value);
            }
            return true;
        }
        let sew = vinst.vtype.sew;
        let scalar = has_scalar(vinst);
        let value = if let (Some(op), Sew::E32 | Sew::E64) = (float_op(vinst.inst.op), sew) {
            self.double = sew == Sew::E64;
            let select = |i: [Simd; 2]| i[usize::from(sew == Sew::E64)];
            let second = |chain: &mut Chain| match scalar {
                true => chain.scalar(Scalar::Float(vinst.inst.rs1, sew)),
                false => chain.read(groups.vs1),
            };
            let sources;
            let value = match op {
                FloatOp::Binary(i) => {
                    let (a, b) = (self.read(groups.vs2), second(self));
                    sources = [Some(a), Some(b), None];
                    Value::Binary(select(i), a, b)
                }
                FloatOp::Reversed(i) => {
                    let (a, b) = (self.read(groups.vs2), second(self));
                    sources = [Some(a), Some(b), None];
                    Value::Binary(select(i), b, a)
                }
                FloatOp::Accumulate(i) | FloatOp::Multiply(i) => {
                    let (d, a, b) = (self.read(groups.vd), second(self), self.read(groups.vs2));
                    sources = [Some(d), Some(a), Some(b)];
                    Value::Fused(select(i), d, a, b)
                }
                FloatOp::Unary(i) => {
                    let a = self.read(groups.vs2);
                    sources = [Some(a), None, None];
                    Value::Unary(select(i), a)
                }
            };
            let value = self.push(value);
            // The result of a NaN is one.
            self.checked.retain(|n| !sources.contains(&Some(Source::Value(*n))));
            self.checked.push(value);
            value
        } else {
            let Some(lane @ (Lane::Plain(_) | Lane::Reversed(_))) = lane(vinst.inst.op, sew, scalar) else {
                return false;
            };
            let a = self.read(groups.vs2);
            let b = match (scalar, vinst.scalar.immediate) {
                (true, true) => self.scalar(Scalar::Immediate(vinst.inst.imm, sew)),
                (true, false) => self.scalar(Scalar::Integer(vinst.inst.rs1, sew)),
                _ => self.read(groups.vs1),
            };
            self.push(match lane {
                Lane::Plain(i) => Value::Binary(i, a, b),
                Lane::Reversed(i) => Value::Binary(i, b, a),
                _ => unreachable!("it is one of these"),
            })
        };
        self.write(groups.vd, value);
        true
    }
}

impl Emitter<'_> {
    /// Emits the chain that begins with the first of these micro-ops: how many of them it has, or none.
    pub(in super::super) fn chain(&mut self, uops: &[Uop]) -> usize {
        let Some(chain) = self.plan(uops) else { return 0 };
        let uops = &uops[..chain.length];
        self.whole(&uops[0], self.block.uops.vector(&uops[0]));
        self.expects = true;
        let missed = self.asm.new_dynamic_label();
        let homes = self.pointers(&chain);
        self.look_up_all(&chain, &homes, missed);
        self.cold.push(Cold::Missed { at: missed, insn: uops[0].insn, homes: homes.clone() });
        let width = chain.width(self.site.long);
        self.load_scalars(&chain, &homes, width, missed);
        self.cached = Cached::default();
        self.registers();
        let count = chain.bytes / STRIP;
        let again = self.asm.new_dynamic_label();
        x64!(&mut self.asm; mov ecx, count as i32; =>again);
        let size = if chain.double { 8 } else { 4 };
        let mut nan = Vec::new();
        let step = chain.at_once().unwrap_or(1);
        for first in (0..STRIP / width.bytes()).step_by(step) {
            let at = self.asm.new_dynamic_label();
            let pieces = first..first + step;
            self.compute(&chain, width, pieces.clone());
            if !chain.checked.is_empty() {
                match width {
                    Width::B64 => self.leave_if_any_of_64_bytes_is_nan(&chain, step, at),
                    _ => self.leave_if_any_is_nan(&chain, step, at),
                }
                let (strip, first) = ((STRIP / size) as u32, (width.bytes() * first / size) as u32);
                nan.push((at, First::InStrip { end: count as u32 * strip + first, strip }));
            }
            self.write_back(&chain, width, pieces);
        }
        if count > 1 {
            for &pointer in &POINTERS[..chain.accesses.len()] {
                x64!(&mut self.asm; add Rq(pointer), STRIP as i32);
            }
            x64!(&mut self.asm; add rdx, STRIP as i32; dec ecx; jne =>again);
        }
        self.cached = Cached::default();
        if chain.stored.is_some() {
            self.deliver(&chain, &homes, count);
        }
        self.bring_home(&homes);
        for uop in uops {
            let vinst = self.block.uops.vector(uop);
            if vinst.inst.op.shape().memory.is_none_or(|memory| !memory.store) {
                self.note_writes(uop, vinst);
            }
        }
        let back = self.asm.new_dynamic_label();
        x64!(&mut self.asm; =>back);
        for (at, first) in nan {
            self.cold.push(Cold::Again { at, back, uops: uops.to_vec(), first, homes: homes.clone() });
        }
        chain.length
    }

    /// The longest chain from the first of these micro-ops on, if it is one at all.
    fn plan(&self, uops: &[Uop]) -> Option<Chain> {
        if !self.block.expected.get().grouped || !uops[0].kind().is_vector() {
            return None;
        }
        let first = self.block.uops.vector(&uops[0]);
        let vl = self.vl(first) as usize;
        let plan = |length: usize| {
            let mut chain = Chain { length, ..Chain::default() };
            for uop in &uops[..length] {
                let vinst = self.block.uops.vector(uop);
                let shape = vinst.inst.op.shape();
                let (size, store) = match shape.memory {
                    Some(memory) => (memory.eew.bits() as usize / 8, memory.store),
                    None => (bytes_of(vinst.vtype.sew), false),
                };
                let bytes = vl * size;
                chain.bytes = if chain.bytes == 0 { bytes } else { chain.bytes };
                let fits = bytes == chain.bytes && bytes.is_multiple_of(STRIP) && bytes != 0;
                let alone = vl <= vinst.vlmax as usize && (store || vinst.leaves_others(bytes));
                if !fits || !alone || vinst.vtype != first.vtype || !chain.take(vinst, bytes) {
                    return None;
                }
            }
            chain.at_once().map(|_| chain)
        };
        let longest = uops.iter().take_while(|u| u.kind().is_vector()).count();
        let mut best = None;
        for length in 1..=longest {
            let Some(chain) = plan(length) else { break };
            best = (length > 1).then_some(chain);
        }
        best
    }

    /// Takes what the pointers of a chain hold home: pairs of register and home.
    fn pointers(&mut self, chain: &Chain) -> Vec<(u8, i8)> {
        let used = &POINTERS[..chain.accesses.len()];
        let homes: Vec<(u8, i8)> = self.map.pairs().filter(|(host, _)| used.contains(host)).collect();
        for &(host, home) in &homes {
            x64!(&mut self.asm; mov [BYTE rbx + home], Rq(host));
        }
        homes
    }

    /// Brings it back.
    pub(in super::super) fn bring_home(&mut self, homes: &[(u8, i8)]) {
        for &(host, home) in homes {
            x64!(&mut self.asm; mov Rq(host), [BYTE rbx + home]);
        }
    }

    /// Where a guest register is while some are at home.
    fn place_now(&self, register: u8, homes: &[(u8, i8)]) -> Place {
        let place = self.map.place(register);
        let at_home = homes.iter().find(|(host, _)| place == Place::Host(*host));
        at_home.map_or(place, |&(_, home)| Place::Home(home))
    }

    /// The addresses of all accesses in the host in the registers that point at them.
    fn look_up_all(&mut self, chain: &Chain, homes: &[(u8, i8)], missed: DynamicLabel) {
        for (n, (&(register, range), pointer)) in chain.accesses.iter().zip(POINTERS).enumerate() {
            let place = self.place_now(register, homes);
            let (at, found) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
            self.get_from(place);
            self.lookup(range.access, range.bytes, range.size, at);
            x64!(&mut self.asm; =>found; mov Rq(pointer), rax);
            let apart = if range.access == Access::Store { Apart::Later(n) } else { Apart::Load(n) };
            self.cold.push(Cold::Crossing { at, found, missed, place, range, apart, base: false });
        }
        if chain.stored.is_some() {
            let (stores, bytes) = (chain.accesses.len() - 1, chain.bytes as i32);
            let to = POINTERS[stores];
            for &from in &POINTERS[..stores] {
                x64!(&mut self.asm; mov rax, Rq(to); sub rax, Rq(from); je >same);
                x64!(&mut self.asm; add rax, bytes - 1; cmp rax, 2 * bytes - 2; jbe =>missed; same:);
            }
            self.defer(chain, stores);
        }
    }

    /// If a load was put together, it is not known to be apart from what is stored. That does not matter, for
    /// it was loaded before, unless the interpreter loads it again: so it is stored later.
    fn defer(&mut self, chain: &Chain, stores: usize) {
        if chain.checked.is_empty() {
            return;
        }
        let (at, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        for (load, pointer) in POINTERS[..stores].iter().enumerate() {
            let room = HostTlb::bounce_offset(load) as i32;
            x64!(&mut self.asm; lea rax, [r15 + room]; cmp rax, Rq(*pointer); je =>at);
        }
        x64!(&mut self.asm; =>back);
        self.cold.push(Cold::Defer { at, back, pointer: POINTERS[stores], room: stores });
    }

    /// If the store went to a room of its own, it is delivered.
    fn deliver(&mut self, chain: &Chain, homes: &[(u8, i8)], count: usize) {
        let room = chain.accesses.len() - 1;
        let (register, range) = chain.accesses[room];
        let (at, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        let moved = if count > 1 { chain.bytes } else { 0 };
        let end = (HostTlb::bounce_offset(room) + moved) as i32;
        x64!(&mut self.asm; lea rax, [r15 + end]; cmp rax, Rq(POINTERS[room]); je =>at; =>back);
        let place = self.place_now(register, homes);
        self.cold.push(Cold::Deliver { at, back, place, range, room });
    }

    /// All scalars in their registers: the last ones.
    fn load_scalars(&mut self, chain: &Chain, homes: &[(u8, i8)], width: Width, missed: DynamicLabel) {
        for (n, scalar) in chain.scalars.iter().enumerate() {
            let to = chain.scalar_register(n);
            match *scalar {
                Scalar::Float(register, sew) => {
                    let home = float_home(register);
                    if sew == Sew::E32 {
                        x64!(&mut self.asm; cmp DWORD [rbx + home + 4], -1; jne =>missed);
                    }
                    let Some(i) = simd::BROADCAST[sew_index(sew)] else {
                        unreachable!("there is one for each")
                    };
                    self.simd(i, width, to, 0, Operand::Memory(super::RBX, home));
                }
                Scalar::Integer(register, sew) => {
                    self.get_from(self.place_now(register, homes));
                    self.splat_all(to, RAX, sew, width);
                }
                Scalar::Immediate(imm, sew) => {
                    self.constant(RAX, i64::from(imm));
                    self.splat_all(to, RAX, sew, width);
                }
            }
        }
    }

    /// Computes all values of some pieces of a strip.
    fn compute(&mut self, chain: &Chain, width: Width, pieces: std::ops::Range<usize>) {
        let step = pieces.len();
        for (n, value) in chain.values.iter().enumerate() {
            for (p, piece) in pieces.clone().enumerate() {
                let o = (width.bytes() * piece) as i32;
                let to = REGISTERS[n * step + p];
                let register = |source: Source| match source {
                    Source::Value(v) => REGISTERS[v * step + p],
                    Source::Scalar(s) => chain.scalar_register(s),
                };
                let load = |e: &mut Self, base: u8, at: i32| {
                    e.simd(simd::LOAD, width, to, 0, Operand::Memory(base, at));
                };
                match *value {
                    Value::Loaded(access) => load(self, POINTERS[access], o),
                    Value::Read(group) => load(self, RDX, group as i32 + o),
                    Value::Binary(i, a, b) => {
                        self.simd(i, width, to, register(a), Operand::Vector(register(b)));
                    }
                    Value::Fused(i, d, a, b) => {
                        self.simd(simd::LOAD, width, to, 0, Operand::Vector(register(d)));
                        self.simd(i, width, to, register(a), Operand::Vector(register(b)));
                    }
                    Value::Unary(i, a) => self.simd(i, width, to, 0, Operand::Vector(register(a))),
                }
            }
        }
    }

    /// Goes to `at` if a result of these pieces is a NaN.
    fn leave_if_any_is_nan(&mut self, chain: &Chain, step: usize, at: DynamicLabel) {
        const IS_UNORDERED: u8 = 3;
        let compare = simd::float(1, 0xc2)[usize::from(chain.double)];
        for (n, value) in chain.checked.iter().enumerate() {
            // Two at a time: a NaN is unordered with all.
            let (a, b) = (REGISTERS[value * step], REGISTERS[value * step + step - 1]);
            let to = if n == 0 { ANY_NAN } else { UNORDERED };
            self.simd_with(compare, Width::B32, to, a, Operand::Vector(b), IS_UNORDERED);
            if n != 0 {
                self.simd(simd::OR, Width::B32, ANY_NAN, ANY_NAN, Operand::Vector(UNORDERED));
            }
        }
        self.simd(simd::SIGNS_32, Width::B32, RAX, 0, Operand::Vector(ANY_NAN));
        x64!(&mut self.asm; test eax, eax; jne =>at);
    }

    /// The same of pieces of 64 bytes, by mask registers.
    fn leave_if_any_of_64_bytes_is_nan(&mut self, chain: &Chain, step: usize, at: DynamicLabel) {
        const IS_UNORDERED: u8 = 3;
        let compare = simd::float(1, 0xc2)[usize::from(chain.double)];
        for (n, value) in chain.checked.iter().enumerate() {
            let (a, b) = (REGISTERS[value * step], REGISTERS[value * step + step - 1]);
            let mask = if n == 0 { 1 } else { 2 };
            self.simd_with(compare, Width::B64, mask, a, Operand::Vector(b), IS_UNORDERED);
            if n != 0 {
                self.asm.extend(simd::OR_MASKS.iter());
            }
        }
        self.asm.extend(simd::TEST_MASK.iter());
        x64!(&mut self.asm; jne =>at);
    }

    /// Writes some pieces of a strip to the vector registers and to memory.
    fn write_back(&mut self, chain: &Chain, width: Width, pieces: std::ops::Range<usize>) {
        let step = pieces.len();
        let pointer = POINTERS[chain.accesses.len().saturating_sub(1)];
        let stored = chain.stored.map(|value| (pointer, 0, value));
        let written = chain.written.iter().map(|&(group, value)| (RDX, group as i32, value));
        for (base, at, value) in written.chain(stored) {
            for (p, piece) in pieces.clone().enumerate() {
                let o = at + (width.bytes() * piece) as i32;
                self.simd(simd::STORE, width, REGISTERS[value * step + p], 0, Operand::Memory(base, o));
            }
        }
    }
}

impl Chain {
    /// The register of a scalar.
    fn scalar_register(&self, n: usize) -> u8 {
        REGISTERS[REGISTERS.len() - 1 - n]
    }
}
