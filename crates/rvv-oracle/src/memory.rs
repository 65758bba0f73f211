//! Loads and stores (manual, "Vector Loads and Stores").

use crate::bits::Bits;
use crate::call::{Context, Part};
use crate::eval::{Frame, Machine};
use crate::value::Value;
use rvv_intrinsics::sem::Memory;
use rvv_intrinsics::{Role, VecType};
use rvv_ir::Arg;
use std::collections::HashSet;

/// Does the access; a load has a result.
pub fn access(
    machine: &mut Machine,
    frame: &Frame,
    cx: &Context,
    sem: Memory,
) -> Result<Option<Value>, String> {
    let base = cx.arg(Role::Base).ok_or("no address")?;
    let (buffer, base) = machine.address(frame, base)?;
    let load = || load(machine, frame, cx, buffer, base).map(Some);
    match sem {
        // vle8.v vle16.v vle32.v vle64.v vlseg2e8.v vlseg2e16.v vlseg2e32.v vlseg2e64.v vlseg3e8.v
        // vlseg3e16.v vlseg3e32.v vlseg3e64.v vlseg4e8.v vlseg4e16.v vlseg4e32.v vlseg4e64.v vlseg5e8.v
        // vlseg5e16.v vlseg5e32.v vlseg5e64.v vlseg6e8.v vlseg6e16.v vlseg6e32.v vlseg6e64.v vlseg7e8.v
        // vlseg7e16.v vlseg7e32.v vlseg7e64.v vlseg8e8.v vlseg8e16.v vlseg8e32.v vlseg8e64.v
        Memory::Load => load(),
        // vle8ff.v vle16ff.v vle32ff.v vle64ff.v vlseg2e8ff.v vlseg2e16ff.v vlseg2e32ff.v vlseg2e64ff.v
        // vlseg3e8ff.v vlseg3e16ff.v vlseg3e32ff.v vlseg3e64ff.v vlseg4e8ff.v vlseg4e16ff.v vlseg4e32ff.v
        // vlseg4e64ff.v vlseg5e8ff.v vlseg5e16ff.v vlseg5e32ff.v vlseg5e64ff.v vlseg6e8ff.v vlseg6e16ff.v
        // vlseg6e32ff.v vlseg6e64ff.v vlseg7e8ff.v vlseg7e16ff.v vlseg7e32ff.v vlseg7e64ff.v vlseg8e8ff.v
        // vlseg8e16ff.v vlseg8e32ff.v vlseg8e64ff.v
        Memory::LoadFf => load(),
        // vlse8.v vlse16.v vlse32.v vlse64.v vlsseg2e8.v vlsseg2e16.v vlsseg2e32.v vlsseg2e64.v vlsseg3e8.v
        // vlsseg3e16.v vlsseg3e32.v vlsseg3e64.v vlsseg4e8.v vlsseg4e16.v vlsseg4e32.v vlsseg4e64.v
        // vlsseg5e8.v vlsseg5e16.v vlsseg5e32.v vlsseg5e64.v vlsseg6e8.v vlsseg6e16.v vlsseg6e32.v
        // vlsseg6e64.v vlsseg7e8.v vlsseg7e16.v vlsseg7e32.v vlsseg7e64.v vlsseg8e8.v vlsseg8e16.v
        // vlsseg8e32.v vlsseg8e64.v
        Memory::LoadStrided => load(),
        // vloxei8.v vloxei16.v vloxei32.v vloxei64.v vloxseg2ei8.v vloxseg2ei16.v vloxseg2ei32.v
        // vloxseg2ei64.v vloxseg3ei8.v vloxseg3ei16.v vloxseg3ei32.v vloxseg3ei64.v vloxseg4ei8.v
        // vloxseg4ei16.v vloxseg4ei32.v vloxseg4ei64.v vloxseg5ei8.v vloxseg5ei16.v vloxseg5ei32.v
        // vloxseg5ei64.v vloxseg6ei8.v vloxseg6ei16.v vloxseg6ei32.v vloxseg6ei64.v vloxseg7ei8.v
        // vloxseg7ei16.v vloxseg7ei32.v vloxseg7ei64.v vloxseg8ei8.v vloxseg8ei16.v vloxseg8ei32.v
        // vloxseg8ei64.v
        Memory::LoadOrdered => load(),
        // vluxei8.v vluxei16.v vluxei32.v vluxei64.v vluxseg2ei8.v vluxseg2ei16.v vluxseg2ei32.v
        // vluxseg2ei64.v vluxseg3ei8.v vluxseg3ei16.v vluxseg3ei32.v vluxseg3ei64.v vluxseg4ei8.v
        // vluxseg4ei16.v vluxseg4ei32.v vluxseg4ei64.v vluxseg5ei8.v vluxseg5ei16.v vluxseg5ei32.v
        // vluxseg5ei64.v vluxseg6ei8.v vluxseg6ei16.v vluxseg6ei32.v vluxseg6ei64.v vluxseg7ei8.v
        // vluxseg7ei16.v vluxseg7ei32.v vluxseg7ei64.v vluxseg8ei8.v vluxseg8ei16.v vluxseg8ei32.v
        // vluxseg8ei64.v
        Memory::LoadUnordered => load(),
        // vlm.v
        Memory::LoadMask => load_mask(machine, cx, buffer, base).map(Some),
        // vse8.v vse16.v vse32.v vse64.v vsseg2e8.v vsseg2e16.v vsseg2e32.v vsseg2e64.v vsseg3e8.v
        // vsseg3e16.v vsseg3e32.v vsseg3e64.v vsseg4e8.v vsseg4e16.v vsseg4e32.v vsseg4e64.v vsseg5e8.v
        // vsseg5e16.v vsseg5e32.v vsseg5e64.v vsseg6e8.v vsseg6e16.v vsseg6e32.v vsseg6e64.v vsseg7e8.v
        // vsseg7e16.v vsseg7e32.v vsseg7e64.v vsseg8e8.v vsseg8e16.v vsseg8e32.v vsseg8e64.v
        Memory::Store => store(machine, frame, cx, buffer, base, Order::NoTwoMeet).map(|()| None),
        // vsse8.v vsse16.v vsse32.v vsse64.v vssseg2e8.v vssseg2e16.v vssseg2e32.v vssseg2e64.v vssseg3e8.v
        // vssseg3e16.v vssseg3e32.v vssseg3e64.v vssseg4e8.v vssseg4e16.v vssseg4e32.v vssseg4e64.v
        // vssseg5e8.v vssseg5e16.v vssseg5e32.v vssseg5e64.v vssseg6e8.v vssseg6e16.v vssseg6e32.v
        // vssseg6e64.v vssseg7e8.v vssseg7e16.v vssseg7e32.v vssseg7e64.v vssseg8e8.v vssseg8e16.v
        // vssseg8e32.v vssseg8e64.v
        Memory::StoreStrided => store(machine, frame, cx, buffer, base, Order::Any).map(|()| None),
        // vsoxei8.v vsoxei16.v vsoxei32.v vsoxei64.v vsoxseg2ei8.v vsoxseg2ei16.v vsoxseg2ei32.v
        // vsoxseg2ei64.v vsoxseg3ei8.v vsoxseg3ei16.v vsoxseg3ei32.v vsoxseg3ei64.v vsoxseg4ei8.v
        // vsoxseg4ei16.v vsoxseg4ei32.v vsoxseg4ei64.v vsoxseg5ei8.v vsoxseg5ei16.v vsoxseg5ei32.v
        // vsoxseg5ei64.v vsoxseg6ei8.v vsoxseg6ei16.v vsoxseg6ei32.v vsoxseg6ei64.v vsoxseg7ei8.v
        // vsoxseg7ei16.v vsoxseg7ei32.v vsoxseg7ei64.v vsoxseg8ei8.v vsoxseg8ei16.v vsoxseg8ei32.v
        // vsoxseg8ei64.v
        Memory::StoreOrdered => store(machine, frame, cx, buffer, base, Order::Elements).map(|()| None),
        // vsuxei8.v vsuxei16.v vsuxei32.v vsuxei64.v vsuxseg2ei8.v vsuxseg2ei16.v vsuxseg2ei32.v
        // vsuxseg2ei64.v vsuxseg3ei8.v vsuxseg3ei16.v vsuxseg3ei32.v vsuxseg3ei64.v vsuxseg4ei8.v
        // vsuxseg4ei16.v vsuxseg4ei32.v vsuxseg4ei64.v vsuxseg5ei8.v vsuxseg5ei16.v vsuxseg5ei32.v
        // vsuxseg5ei64.v vsuxseg6ei8.v vsuxseg6ei16.v vsuxseg6ei32.v vsuxseg6ei64.v vsuxseg7ei8.v
        // vsuxseg7ei16.v vsuxseg7ei32.v vsuxseg7ei64.v vsuxseg8ei8.v vsuxseg8ei16.v vsuxseg8ei32.v
        // vsuxseg8ei64.v
        Memory::StoreUnordered => store(machine, frame, cx, buffer, base, Order::Any).map(|()| None),
        // vsm.v
        Memory::StoreMask => store_mask(machine, cx, buffer, base).map(|()| None),
    }
}

/// Loads elements or segments from where [`Offsets`] says.
fn load(machine: &Machine, frame: &Frame, cx: &Context, buffer: usize, base: i128) -> Result<Value, String> {
    let ty = cx.ret()?;
    let offsets = Offsets::new(machine, frame, cx, ty)?;
    let (size, vlmax) = (ty.elem.bytes() as usize, ty.vlmax(cx.vlen) as usize);
    refuse_unknown(cx)?;
    let memory = &machine.buffers[buffer];
    if let Some(at) = offsets.run(machine, cx, buffer, base, ty) {
        // All at once.
        let mut whole = true;
        return cx.elements(ty, |bits, _| {
            if std::mem::take(&mut whole) {
                bits.copy(0, memory, at, cx.vl * size);
            }
            Ok(())
        });
    }
    cx.elements(ty, |bits, i| {
        for field in 0..usize::from(ty.nf) {
            let at = base + offsets.of(i)? + (field * size) as i128;
            let at = machine.inside(buffer, at, ty.elem)?;
            bits.copy((field * vlmax + i) * size, memory, at, size);
        }
        Ok(())
    })
}

/// In which order elements are stored.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// That of the elements.
    Elements,
    /// Any: where two elements go to one place and differ, either may stay.
    Any,
    /// It does not matter: no two elements go to one place.
    NoTwoMeet,
}

/// The mask of a memory operation must be defined: it decides which addresses are touched.
fn refuse_unknown(cx: &Context) -> Result<(), String> {
    match (0..cx.vl).filter(|_| !cx.is_unmasked()).find(|&i| cx.part(i) == Part::Unknown) {
        Some(i) => Err(format!("bit {i} of the mask of `{}` is undefined", cx.intrinsic.name)),
        None => Ok(()),
    }
}

/// Byte offsets of the elements or segments from the base.
enum Offsets<'a> {
    /// Element `i` at `i` times this.
    Stride(i128),
    /// Element `i` at the unsigned byte offset that element `i` of this vector holds.
    Index(&'a Bits, VecType),
}

impl<'a> Offsets<'a> {
    fn new(machine: &Machine, frame: &Frame, cx: &Context<'a>, ty: VecType) -> Result<Self, String> {
        if let Some((index, ty)) = cx.vector(Role::Index) {
            return Ok(Offsets::Index(index, ty));
        }
        match cx.arg(Role::Stride) {
            Some(Arg::Expr(expr)) => Ok(Offsets::Stride(i128::from(machine.expr(frame, expr)? as i64))),
            Some(_) => match cx.scalar(Role::Stride) {
                Some(Some(stride)) => Ok(Offsets::Stride(i128::from(stride as i64))),
                _ => Err("the stride is undefined".to_string()),
            },
            None => Ok(Offsets::Stride(i128::from(ty.elem.bytes()) * i128::from(ty.nf))),
        }
    }

    /// Where an access of consecutive elements begins, all of them active and inside the buffer. `None` if
    /// they have to be looked at one by one.
    fn run(&self, machine: &Machine, cx: &Context, buffer: usize, base: i128, ty: VecType) -> Option<usize> {
        let size = i128::from(ty.elem.bytes());
        let consecutive = matches!(self, Offsets::Stride(s) if *s == size) && ty.nf == 1 && cx.is_unmasked();
        if !consecutive || cx.vl == 0 {
            return None;
        }
        let last = base + (cx.vl as i128 - 1) * size;
        machine.inside(buffer, last, ty.elem).ok()?;
        machine.inside(buffer, base, ty.elem).ok()
    }

    fn of(&self, i: usize) -> Result<i128, String> {
        match self {
            Offsets::Stride(stride) => Ok(stride * i as i128),
            Offsets::Index(bits, ty) => {
                let size = ty.elem.bytes() as usize;
                bits.get(i * size, size).map(i128::from).ok_or_else(|| format!("index {i} is undefined"))
            }
        }
    }
}

fn store(
    machine: &mut Machine,
    frame: &Frame,
    cx: &Context,
    buffer: usize,
    base: i128,
    order: Order,
) -> Result<(), String> {
    let (data, ty) = cx.need_vector(Role::Data)?;
    let offsets = Offsets::new(machine, frame, cx, ty)?;
    let (size, vlmax) = (ty.elem.bytes() as usize, ty.vlmax(cx.vlen) as usize);
    refuse_unknown(cx)?;
    if let Some(at) = offsets.run(machine, cx, buffer, base, ty).filter(|_| !cx.inverts) {
        machine.buffers[buffer].copy(at, data, 0, cx.vl * size);
        return Ok(());
    }
    let mut written = Written::default();
    for i in (0..cx.vl).filter(|&i| cx.part(i) == Part::Active) {
        for field in 0..usize::from(ty.nf) {
            let at = base + offsets.of(i)? + (field * size) as i128;
            let at = machine.inside(buffer, at, ty.elem)?;
            let from = (field * vlmax + i) * size;
            let memory = &mut machine.buffers[buffer];
            let same = || {
                memory.bytes[at..at + size] == data.bytes[from..from + size]
                    && memory.defined[at..at + size] == data.defined[from..from + size]
            };
            if order == Order::Any && written.contains(&at) {
                if !same() {
                    memory.set(at, size, None);
                }
            } else {
                memory.copy(at, data, from, size);
                if order == Order::Any || cx.inverts {
                    written.insert(at);
                }
            }
        }
    }
    if cx.inverts {
        written.list.sort_unstable();
        written.list.dedup();
        written.list.iter().for_each(|&at| machine.buffers[buffer].invert(at, size));
    }
    Ok(())
}

/// The places a store has written to.
#[derive(Default)]
struct Written {
    list: Vec<usize>,
    /// The same, once there are many.
    set: HashSet<usize>,
}

impl Written {
    const FEW: usize = 32;

    fn contains(&self, at: &usize) -> bool {
        if self.list.len() <= Self::FEW { self.list.contains(at) } else { self.set.contains(at) }
    }

    fn insert(&mut self, at: usize) {
        if self.list.len() == Self::FEW {
            self.set.extend(&self.list);
        }
        self.list.push(at);
        if self.list.len() > Self::FEW {
            self.set.insert(at);
        }
    }
}

/// ⌈vl/8⌉ bytes (manual, "Vector Mask Load and Store": "evl=ceil(vl/8)"). Bits past vl are tail.
fn load_mask(machine: &Machine, cx: &Context, buffer: usize, base: i128) -> Result<Value, String> {
    let mut result = Bits::undefined(cx.vlen as usize / 8);
    for byte in 0..cx.vl.div_ceil(8) {
        let at = machine.inside(buffer, base + byte as i128, rvv_intrinsics::Elem::U8)?;
        for i in byte * 8..cx.vl.min(byte * 8 + 8) {
            result.set_bit(i, machine.buffers[buffer].bit(at * 8 + i % 8));
        }
    }
    Ok(Value::Mask(result))
}

fn store_mask(machine: &mut Machine, cx: &Context, buffer: usize, base: i128) -> Result<(), String> {
    let data = cx.need_mask(Role::Data)?;
    for byte in 0..cx.vl.div_ceil(8) {
        let at = machine.inside(buffer, base + byte as i128, rvv_intrinsics::Elem::U8)?;
        for i in byte * 8..byte * 8 + 8 {
            let bit = if i < cx.vl { data.bit(i).map(|b| b != cx.inverts) } else { None };
            machine.buffers[buffer].set_bit(at * 8 + i % 8, bit);
        }
    }
    Ok(())
}
