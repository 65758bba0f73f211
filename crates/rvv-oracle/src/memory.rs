//! Loads and stores (manual, "Vector Loads and Stores").

use crate::bits::Bits;
use crate::call::{Context, Part};
use crate::eval::{Frame, Machine};
use crate::value::Value;
use rvv_intrinsics::{Role, Sem, VecType};
use rvv_ir::Arg;
use std::collections::HashSet;

/// Whether it accesses memory.
pub fn is_memory(sem: Sem) -> bool {
    is_load(sem) || is_store(sem) || matches!(sem, Sem::LoadMask | Sem::StoreMask)
}

fn is_load(sem: Sem) -> bool {
    matches!(sem, Sem::Load | Sem::LoadFf | Sem::LoadStrided | Sem::LoadOrdered | Sem::LoadUnordered)
}

fn is_store(sem: Sem) -> bool {
    matches!(sem, Sem::Store | Sem::StoreStrided | Sem::StoreOrdered | Sem::StoreUnordered)
}

/// Does the access; a load has a result.
pub fn access(machine: &mut Machine, frame: &Frame, cx: &Context) -> Result<Option<Value>, String> {
    let base = cx.arg(Role::Base).ok_or("no address")?;
    let (buffer, base) = machine.address(frame, base)?;
    match cx.intrinsic.sem {
        Sem::LoadMask => load_mask(machine, cx, buffer, base).map(Some),
        Sem::StoreMask => store_mask(machine, cx, buffer, base).map(|()| None),
        sem if is_load(sem) => {
            let ty = cx.ret()?;
            let offsets = Offsets::new(machine, frame, cx, ty)?;
            let (size, vlmax) = (ty.elem.bytes() as usize, ty.vlmax(cx.vlen) as usize);
            refuse_unknown(cx)?;
            let memory = &machine.buffers[buffer];
            let loaded = cx.elements(ty, |bits, i| {
                for field in 0..usize::from(ty.nf) {
                    let at = base + offsets.of(i)? + (field * size) as i128;
                    let at = machine.inside(buffer, at, ty.elem)?;
                    bits.copy((field * vlmax + i) * size, memory, at, size);
                }
                Ok(())
            });
            loaded.map(Some)
        }
        _ => store(machine, frame, cx, buffer, base).map(|()| None),
    }
}

/// The mask of a memory operation must be defined: it decides which addresses are touched.
fn refuse_unknown(cx: &Context) -> Result<(), String> {
    match (0..cx.vl).find(|&i| cx.part(i) == Part::Unknown) {
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
) -> Result<(), String> {
    let (data, ty) = cx.need_vector(Role::Data)?;
    let offsets = Offsets::new(machine, frame, cx, ty)?;
    let (size, vlmax) = (ty.elem.bytes() as usize, ty.vlmax(cx.vlen) as usize);
    refuse_unknown(cx)?;
    // Only the ordered-indexed stores have an order. Where two elements of another go to one place and
    // differ, either may stay.
    let ordered = cx.intrinsic.sem == Sem::StoreOrdered;
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
            if !ordered && cx.intrinsic.sem != Sem::Store && written.contains(&at) {
                if !same() {
                    memory.set(at, size, None);
                }
            } else {
                memory.copy(at, data, from, size);
                written.insert(at);
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
