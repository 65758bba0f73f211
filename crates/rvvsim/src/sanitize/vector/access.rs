//! Vector loads and stores.

use super::super::origin::{Id, Source};
use super::super::registers::get;
use super::super::{Kind, LARGEST_FRAME, Next, Rules, Sanitizer};
use super::{Context, Part};
use crate::hart::Hart;
use rustc_hash::FxHashMap;
use rvv_isa::{Addressing, Eew, Inst, Memory};

/// Where the elements of an access are.
struct Addresses {
    base: u64,
    /// Bytes from one segment to the next; `None` where indices say.
    stride: Option<u64>,
    fields: usize,
    size: usize,
}

impl Addresses {
    /// The address of a field of segment `i`.
    fn of(&self, cx: &Context, i: usize, field: usize) -> u64 {
        let offset = match (self.stride, cx.vs2) {
            (Some(stride), _) => stride.wrapping_mul(i as u64),
            (None, Some(vs2)) => get(cx.values, vs2.at + i * vs2.size, vs2.size),
            (None, None) => 0,
        };
        self.base.wrapping_add(offset).wrapping_add((field * self.size) as u64)
    }
}

fn memory_of(cx: &Context) -> Memory {
    let absent = Memory { addressing: Addressing::UnitStride, eew: rvv_isa::Sew::E8, store: false };
    cx.shape.memory.unwrap_or(absent)
}

fn addresses(hart: &Hart, cx: &Context) -> Addresses {
    let size = cx.vd.map_or(1, |vd| vd.size.max(1));
    let fields = usize::from(cx.shape.fields(cx.inst));
    let stride = match memory_of(cx).addressing {
        Addressing::Strided => Some(hart.x[cx.inst.rs2]),
        Addressing::IndexedOrdered | Addressing::IndexedUnordered => None,
        _ => Some((size * fields) as u64),
    };
    Addresses { base: hart.x[cx.inst.rs1], stride, fields, size }
}

/// How many elements there are: bytes of a mask or of whole registers.
fn count(cx: &Context) -> usize {
    match memory_of(cx).addressing {
        Addressing::Mask => cx.vl.div_ceil(8),
        Addressing::WholeRegisters => match cx.shape.vd {
            Eew::Registers(n) => usize::from(n) * cx.vlenb,
            _ => usize::from(cx.inst.nf + 1) * cx.vlenb,
        },
        _ => cx.vl,
    }
}

impl Sanitizer {
    /// Whether a load is of the stack frame, where everything can be read: gcc merges a register that it has
    /// spilled by a masked load. What it is under an undefined mask bit is undefined, and nobody sees more.
    fn reloads(&self, hart: &Hart, cx: &Context) -> bool {
        let unit = cx.shape.memory.is_some_and(|m| !m.store && m.addressing == Addressing::UnitStride);
        let above_sp = hart.x[cx.inst.rs1].wrapping_sub(hart.x[2]);
        unit && above_sp < LARGEST_FRAME
    }

    /// Checks what decides where an access goes, and where it goes.
    pub(super) fn check_vector_access(&mut self, hart: &Hart, cx: &Context) {
        let memory = memory_of(cx);
        let n = count(cx);
        if n == 0 || cx.vstart >= n {
            return;
        }
        self.check_x(Kind::Address, cx.inst.rs1);
        if memory.addressing == Addressing::Strided {
            self.check_x(Kind::Stride, cx.inst.rs2);
        }
        if !cx.inst.vm
            && !self.reloads(hart, cx)
            && let Some(i) = (cx.vstart..cx.vl).find(|i| self.part(cx, *i) == Part::Unknown)
        {
            let origin = self.origin_at(i / 8);
            self.decides(Kind::Mask, 1 << (i % 64), origin, Some(i as u64));
        }
        if memory.is_indexed()
            && let Some(vs2) = cx.vs2
            && !self.regs.is_defined(vs2.at, cx.vl * vs2.size)
        {
            for i in cx.vstart..cx.vl {
                let (index, origin) = self.source(cx, vs2, i);
                if !index.is_defined() && self.part(cx, i) != Part::Inactive {
                    self.decides(Kind::Index, index.undefined, origin, Some(i as u64));
                    break;
                }
            }
        }
        // What a fault-only-first load reads past an end is not meant to be used.
        if memory.addressing == Addressing::FaultOnlyFirst {
            return;
        }
        let places = addresses(hart, cx);
        let unit = matches!(
            memory.addressing,
            Addressing::UnitStride | Addressing::Mask | Addressing::WholeRegisters
        );
        if unit && !self.memory.any_forbidden(places.base, n * places.size * places.fields) {
            return;
        }
        for i in cx.vstart..n {
            if !cx.inst.vm && self.part(cx, i) != Part::Active {
                continue;
            }
            for field in 0..places.fields {
                let va = places.of(cx, i, field);
                if self.memory.is_forbidden(va, places.size) {
                    self.check_access(va, places.size, Some(i as u64), memory.store);
                    return;
                }
            }
        }
    }

    pub(super) fn vector_load(&mut self, hart: &Hart, cx: &Context) {
        let Some(vd) = cx.vd else { return };
        let memory = memory_of(cx);
        let n = count(cx);
        if cx.vstart >= n {
            return;
        }
        self.begin(cx);
        let places = addresses(hart, cx);
        let group = vd.registers * cx.vlenb;
        let contiguous = places.fields == 1 && cx.inst.vm && places.stride == Some(places.size as u64);
        if contiguous {
            self.load_bytes(places.base, cx.vstart * places.size, n * places.size);
        } else {
            for i in cx.vstart..n {
                let part = self.part(cx, i);
                for field in 0..places.fields {
                    let at = field * group + i * places.size;
                    let (undefined, origin) = match part {
                        Part::Active => {
                            let (undefined, origin) = self.memory.load(places.of(cx, i, field), places.size);
                            (undefined, self.passed_on(undefined, origin))
                        }
                        Part::Inactive if !cx.mask_agnostic => continue,
                        Part::Inactive => (u64::MAX, self.origins.born(cx.inactive(), self.pc, i)),
                        Part::Unknown => (u64::MAX, self.unknown(i)),
                    };
                    self.put(at, places.size, undefined, origin);
                }
            }
        }
        match memory.addressing {
            Addressing::WholeRegisters => {}
            Addressing::Mask => {
                let origin = self.origins.born(Source::MaskTail, self.pc, cx.vl);
                self.lose(n, usize::MAX, origin);
                if self.rules == Rules::Intrinsics && !cx.vl.is_multiple_of(8) {
                    self.pending.undefined[cx.vl / 8] |= 0xff << (cx.vl % 8);
                }
            }
            _ => {
                if cx.tail_agnostic {
                    let origin = self.origins.born(cx.tail(), self.pc, cx.vl);
                    for field in 0..places.fields {
                        self.lose(field * group + n * places.size, (field + 1) * group, origin);
                    }
                }
            }
        }
        self.next = match memory.addressing {
            Addressing::FaultOnlyFirst => {
                self.ff_vl = cx.vl;
                Next::FaultOnlyFirst
            }
            _ => Next::Vector,
        };
    }

    /// Bytes `from` to `to` of the destination from memory, one after the other.
    fn load_bytes(&mut self, base: u64, from: usize, to: usize) {
        let to = to.min(self.pending.undefined.len());
        let va = base.wrapping_add(from as u64);
        let mut origins = std::mem::take(&mut self.pending.words);
        origins.clear();
        origins.resize((to - from) / 8 + 2, 0);
        self.memory.read(va, &mut self.pending.undefined[from..to], &mut origins);
        self.pending.words = origins;
        if super::super::registers::all_zero(&self.pending.undefined[from..to]) {
            return;
        }
        for at in from..to {
            if self.pending.undefined[at] != 0 {
                let word = ((va % 8) as usize + at - from) / 8;
                self.pending.origin[at / 8] = self.origins.through(self.pending.words[word], self.pc);
            }
        }
    }

    /// After a fault-only-first load: elements past the `vl` that it left may hold anything.
    pub(in super::super) fn shorten_load(&mut self, hart: &Hart, inst: &Inst) {
        let cx = Context::new(hart, inst);
        let Some(vd) = cx.vd else { return };
        let group = vd.registers * cx.vlenb;
        let old = self.pending.undefined.len() / group.max(1);
        let origin = self.origins.born(Source::FaultOnlyFirst, self.pc, cx.vl);
        // If vl is what it was, all of this is tail already, or kept.
        if self.ff_vl > cx.vl {
            for field in 0..old {
                let (from, to) = (cx.vl * vd.size, self.ff_vl * vd.size);
                self.lose(field * group + from, field * group + to, origin);
            }
        }
    }

    /// A store that has been executed.
    pub(in super::super) fn vector_store(&mut self, hart: &Hart, inst: &Inst) {
        // vstart is 0 by now, and was so before unless a trap was taken in the middle: then the elements
        // before it are stored once more here, as they were then.
        let cx = Context::new(hart, inst);
        let Some(vd) = cx.vd else { return };
        let memory = memory_of(&cx);
        let n = count(&cx);
        if n == 0 {
            return;
        }
        let places = addresses(hart, &cx);
        let group = vd.registers * cx.vlenb;
        if memory.addressing == Addressing::Mask
            && self.rules == Rules::Intrinsics
            && !cx.vl.is_multiple_of(8)
        {
            let mut bytes = self.regs.v[vd.at..vd.at + n].to_vec();
            bytes[n - 1] |= 0xff << (cx.vl % 8);
            let origin = self.origins.born(Source::MaskTail, self.pc, cx.vl);
            self.memory.write(places.base, &bytes, &mut |_| origin);
            return;
        }
        if places.fields == 1 && cx.inst.vm && places.stride == Some(places.size as u64) {
            let len = (n * places.size).min(self.regs.v.len() - vd.at);
            let Sanitizer { memory, regs, origins, pc, .. } = self;
            memory.write(places.base, &regs.v[vd.at..vd.at + len], &mut |i| {
                origins.through(regs.v_origin[(vd.at + i) / 8], *pc)
            });
            return;
        }
        // Elements that go to one place, in any order: which of them stays is not defined.
        let any_order = match memory.addressing {
            Addressing::IndexedUnordered => true,
            Addressing::Strided => places
                .stride
                .is_some_and(|s| (s as i64).unsigned_abs() < (places.size * places.fields) as u64),
            _ => false,
        };
        let mut written: FxHashMap<u64, (u64, u64)> = FxHashMap::default();
        for i in 0..n {
            if self.part(&cx, i) != Part::Active {
                continue;
            }
            for field in 0..places.fields {
                let at = vd.at + field * group + i * places.size;
                let mut bits = self.regs.element(cx.values, at, places.size);
                let origin = self.origin_at(at);
                let mut origin = self.passed_on(bits.undefined, origin);
                let va = places.of(&cx, i, field);
                if any_order {
                    let this = (bits.value & !bits.undefined, bits.undefined);
                    let other = written.insert(va, this);
                    if other.is_some_and(|other| other != this) {
                        bits.undefined = u64::MAX;
                        origin = self.origins.born(Source::Unordered, self.pc, i);
                        written.insert(va, (0, u64::MAX));
                    }
                }
                self.memory.store(va, places.size, bits.undefined, origin);
            }
        }
    }

    /// Bytes that leave the program: the first that is not defined, its undefined bits and their origin.
    pub(in super::super) fn first_undefined(&mut self, va: u64, len: u64) -> Option<(u64, u64, Id)> {
        let mut done = 0;
        let (mut bytes, mut origins) = ([0; 256], [0; 34]);
        while done < len {
            let at = va.wrapping_add(done);
            let now = (len - done).min(256) as usize;
            self.memory.read(at, &mut bytes[..now], &mut origins);
            if let Some(i) = bytes[..now].iter().position(|b| *b != 0) {
                let word = ((at % 8) as usize + i) / 8;
                return Some((done + i as u64, bytes[i].into(), origins[word]));
            }
            done += now as u64;
        }
        None
    }
}
