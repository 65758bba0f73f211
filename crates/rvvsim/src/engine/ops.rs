//! How micro-ops run, and how one leads to the next. What an instruction computes is in [`crate::scalar`].
//!
//! A micro-op is a function that ends with a call of the next one's. In an optimised build that is a jump,
//! each predicted by itself, with no loop in between. The compiler does not promise it, and nothing depends
//! on it: no more calls are nested than a block has micro-ops, and the last of them returns.
//!
//! `unsafe` is the step from one micro-op to the next, and from one to its vector instruction:
//! [`Uops`](super::uop::Uops) sees to it that there is one.

use super::block::Block;
use super::uop::{Kind, Uop};
use crate::Hart;
use crate::fp;
use crate::mem::{Access, Scalar};
use crate::scalar::{bitmanip, integer};
use crate::trap::{Exec, Trap};
use crate::vector::{VInst, copy};
use std::marker::PhantomData;

/// Runs a micro-op, and those after it.
///
/// # Safety
/// The host must have what it was compiled for: see [`of_copy`].
pub type UopFn = unsafe fn(&mut Hart, At<'_>, &Block) -> End;

/// How a block ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum How {
    /// At its static successor `at`, onwards: by link 0.
    Onwards,
    /// At its static successor `at`, taken: by link 1.
    Taken,
    /// At a computed address `at`, in the context known for its end.
    Computed,
    /// After an instruction that may have changed anything: `hart.pc` is set.
    Anything,
    /// At instruction number `at`, which trapped: see `hart.trap`.
    Trap,
    /// Early, before instruction number `at`: `hart.resync` was set by the one before it.
    Early,
}

/// How a block ended, and where. Small, so that it stays in registers: a trap is put elsewhere.
#[derive(Clone, Copy)]
pub struct End {
    pub how: How,
    pub at: u64,
}

impl End {
    #[inline(always)]
    fn new(how: How, at: u64) -> End {
        End { how, at }
    }
}

/// A place in a block.
#[derive(Clone, Copy)]
pub struct At<'a>(*const Uop, PhantomData<&'a Uop>);

impl<'a> At<'a> {
    #[inline(always)]
    fn uop(self) -> &'a Uop {
        // SAFETY: made by `run` from the steps of a block that lives as long as 'a, and moved only by
        // `go_on`.
        unsafe { &*self.0 }
    }

    /// The vector instruction of a micro-op for one.
    #[inline(always)]
    fn vector(self) -> &'a VInst {
        &self.vectors(1)[0]
    }

    /// The vector instructions of so many micro-ops, of which it was counted that they follow one another.
    #[inline(always)]
    fn vectors(self, count: usize) -> &'a [VInst] {
        let u = self.uop();
        debug_assert!(u.kind().is_vector() && (1..=usize::from(u.idx)).contains(&count));
        // SAFETY: `Uops` put it there, and keeps it where it is.
        unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(u.imm as usize), count) }
    }

    /// Past so many micro-ops, of which it was counted that they can be run together.
    #[inline(always)]
    fn past(self, count: usize) -> Self {
        // SAFETY: none of them ends the block.
        At(unsafe { self.0.add(count) }, PhantomData)
    }

    /// On to the next micro-op.
    #[inline(always)]
    fn go_on(self, h: &mut Hart, block: &Block) -> End {
        debug_assert!(!self.uop().kind().ends());
        // Only micro-ops whose kind does not end a block call this, and the last one of a block is of a kind
        // that does.
        self.past(1).go(h, block)
    }

    /// On with this micro-op.
    #[inline(always)]
    fn go(self, h: &mut Hart, block: &Block) -> End {
        // SAFETY: `of_copy` asked the host, and a micro-op has no other way to get one that must.
        unsafe { (self.uop().op())(h, self, block) }
    }

    /// Ends the block here, with a trap.
    #[cold]
    #[inline(never)]
    fn trap(self, h: &mut Hart, trap: Trap) -> End {
        h.trap = Some(trap);
        End::new(How::Trap, u64::from(self.uop().insn))
    }

    /// The instruction is done; the block ends here if it asked for that.
    #[inline(always)]
    fn go_on_unless_resync(self, h: &mut Hart, block: &Block) -> End {
        if h.resync {
            return End::new(How::Early, u64::from(self.uop().insn) + 1);
        }
        self.go_on(h, block)
    }
}

/// Runs a block from its instruction number `insn` on.
pub fn run_from(h: &mut Hart, block: &Block, insn: u64) -> End {
    let uops = block.uops.as_slice();
    // An instruction is one micro-op, and the end of a block may be one more.
    let from = uops.iter().find(|uop| u64::from(uop.insn) == insn).expect("host code left at an instruction");
    At(&raw const *from, PhantomData).go(h, block)
}

/// Runs a block from its start.
#[inline(always)]
pub fn run(h: &mut Hart, block: &Block) -> End {
    At(block.uops.start(), PhantomData).go(h, block)
}

macro_rules! ops {
    ($($kind:ident: $($how:ident)? $(|$h:ident, $at:ident, $block:ident| $body:block)?
       $([$a:ident, $b:ident, $imm:ident] $value:expr)?;)*) => {
        /// What runs a kind of micro-op.
        pub fn of(kind: Kind) -> UopFn {
            match kind {
                $(Kind::$kind => $kind,)*
            }
        }

        $(ops!(@ $kind $($how)? $(|$h, $at, $block| $body)? $([$a, $b, $imm] $value)?);)*
    };
    (@ $kind:ident |$h:ident, $at:ident, $block:ident| $body:block) => {
        fn $kind($h: &mut Hart, $at: At<'_>, $block: &Block) -> End $body
    };
    // `rd = f(rs1, rs2, imm)`
    (@ $kind:ident [$a:ident, $b:ident, $imm:ident] $value:expr) => {
        #[allow(unused_variables)]
        fn $kind(h: &mut Hart, at: At<'_>, block: &Block) -> End {
            let u = at.uop();
            let ($a, $b, $imm) = (h.x[u.rs1], h.x[u.rs2], u.imm as u64);
            h.x[u.rd] = $value;
            at.go_on(h, block)
        }
    };
    // A branch that is taken if `f(rs1, rs2)`.
    (@ $kind:ident branch [$a:ident, $b:ident, $imm:ident] $taken:expr) => {
        fn $kind(h: &mut Hart, at: At<'_>, block: &Block) -> End {
            let u = at.uop();
            let ($a, $b) = (h.x[u.rs1], h.x[u.rs2]);
            if $taken { End::new(How::Taken, u.imm as u64) } else { End::new(How::Onwards, block.end_pc()) }
        }
    };
}

/// `rd = f(memory)`, `f` by the kind.
#[inline(always)]
fn load<T: Scalar>(h: &mut Hart, at: At<'_>, block: &Block, extend: impl Fn(T) -> u64) -> End {
    let u = at.uop();
    match h.load_remembered::<T>(h.x[u.rs1].wrapping_add(u.imm as u64)) {
        Some(value) => h.x[u.rd] = extend(value),
        None => return load_missed(h, at, block, T::SIZE),
    }
    at.go_on(h, block)
}

/// The same, to a floating-point register.
#[inline(always)]
fn load_float<T: Scalar>(h: &mut Hart, at: At<'_>, block: &Block, boxed: impl Fn(T) -> u64) -> End {
    let u = at.uop();
    match h.load_remembered::<T>(h.x[u.rs1].wrapping_add(u.imm as u64)) {
        Some(value) => h.set_f(u.rd, boxed(value)),
        None => return load_missed(h, at, block, T::SIZE),
    }
    at.go_on(h, block)
}

/// A load whose page is not remembered. Of all kinds, so that those above have nothing to save before a call.
#[cold]
#[inline(never)]
fn load_missed(h: &mut Hart, at: At<'_>, block: &Block, size: usize) -> End {
    let u = at.uop();
    // It may be a clock.
    h.retired_in_block = u32::from(u.insn);
    let v = match h.load_slow(h.x[u.rs1].wrapping_add(u.imm as u64), size) {
        Ok(v) => v,
        Err(trap) => return at.trap(h, trap),
    };
    match u.kind() {
        Kind::Flw => h.set_f(u.rd, fp::box_f32(v as u32)),
        Kind::Fld => h.set_f(u.rd, v),
        Kind::Lb => h.x[u.rd] = integer::lb(v as u8),
        Kind::Lh => h.x[u.rd] = integer::lh(v as u16),
        Kind::Lw => h.x[u.rd] = integer::lw(v as u32),
        _ => h.x[u.rd] = v,
    }
    at.go_on(h, block)
}

#[inline(always)]
fn store<T: Scalar>(h: &mut Hart, at: At<'_>, block: &Block, value: T) -> End {
    let u = at.uop();
    if h.store_remembered(h.x[u.rs1].wrapping_add(u.imm as u64), value).is_none() {
        return store_missed(h, at, block, T::SIZE, value.to_u64());
    }
    at.go_on(h, block)
}

#[cold]
#[inline(never)]
fn store_missed(h: &mut Hart, at: At<'_>, block: &Block, size: usize, value: u64) -> End {
    let u = at.uop();
    h.retired_in_block = u32::from(u.insn);
    match h.store_slow(h.x[u.rs1].wrapping_add(u.imm as u64), size, value) {
        Ok(()) => at.go_on_unless_resync(h, block),
        Err(trap) => at.trap(h, trap),
    }
}

/// Runs a vector instruction in full. Not inlined, so that the fast paths need not save the registers that it
/// uses.
#[inline(never)]
fn vector(h: &mut Hart, at: At<'_>, block: &Block) -> End {
    let u = at.uop();
    h.retired_in_block = u32::from(u.insn);
    let vinst = at.vector();
    vinst.note_writes(&mut h.v);
    match (vinst.run)(h, vinst) {
        Ok(()) => at.go_on_unless_resync(h, block),
        Err(trap) => at.trap(h, trap),
    }
}

/// A vector instruction with a fast path, which may decline.
macro_rules! fast_path {
    ($h:ident, $at:ident, $block:ident, $method:ident) => {{
        if !$at.vector().$method($h) {
            return vector($h, $at, $block);
        }
        $at.go_on($h, $block)
    }};
}

/// Loads and stores that are copies. Mostly `vl` is VLMAX, and the size of that is known when the instruction
/// is translated: for that of a few small registers there are micro-ops. On a host with AVX2 they copy in
/// pieces as large as kernels read and write them: what was written in smaller ones than it is read again is
/// not passed on by the host, but waited for.
macro_rules! pieces {
    ($($any:ident, $whole:ident, $avx2:ident: $access:ident, $method:ident;)*) => {$(
        /// Of any size.
        #[inline(never)]
        fn $any(h: &mut Hart, at: At<'_>, block: &Block) -> End {
            let vinst = at.vector();
            match vinst.one_piece(h, Access::$access) {
                Some((offset, bytes)) => vinst.$method(h, offset, bytes, |to, from| to.copy_from_slice(from)),
                None => return vector(h, at, block),
            }
            at.go_on(h, block)
        }

        /// Of `N` bytes if `vl` is VLMAX.
        ///
        /// # Safety
        /// With `AVX2` the caller must have been compiled for it.
        #[inline(always)]
        unsafe fn $whole<const AVX2: bool, const N: usize>(h: &mut Hart, at: At<'_>, block: &Block) -> End {
            let vinst = at.vector();
            let Some(offset) = vinst.whole_piece::<N>(h, Access::$access) else { return $any(h, at, block) };
            // SAFETY: the caller's.
            vinst.$method(h, offset, N, |to, from| unsafe { copy::copy::<AVX2, N>(to, from) });
            at.go_on(h, block)
        }

        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2")]
        fn $avx2<const N: usize>(h: &mut Hart, at: At<'_>, block: &Block) -> End {
            // SAFETY: this is.
            unsafe { $whole::<true, N>(h, at, block) }
        }
    )*};
}

pieces! {
    load_any, load_whole, load_avx2: Load, load_piece;
    store_any, store_whole, store_avx2: Store, store_piece;
}

/// What runs a load or store that may be a copy, on this host.
pub fn of_copy(kind: Kind, vinst: &VInst) -> UopFn {
    let load = kind == Kind::VectorLoad;
    /// For the size it has if `vl` is VLMAX.
    macro_rules! by_size {
        ($load:ident, $store:ident, [$($wide:tt)*]) => {
            match vinst.whole_bytes() {
                16 if load => $load::<$($wide)* 16>,
                32 if load => $load::<$($wide)* 32>,
                64 if load => $load::<$($wide)* 64>,
                128 if load => $load::<$($wide)* 128>,
                16 => $store::<$($wide)* 16>,
                32 => $store::<$($wide)* 32>,
                64 => $store::<$($wide)* 64>,
                128 => $store::<$($wide)* 128>,
                _ if load => load_any,
                _ => store_any,
            }
        };
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        return by_size!(load_avx2, store_avx2, []);
    }
    by_size!(load_whole, store_whole, [false,])
}

/// Several vector instructions that compute elements, in a row: all of them if they are no more than kernels.
pub fn together(h: &mut Hart, at: At<'_>, block: &Block) -> End {
    let count = usize::from(at.uop().idx);
    let vinsts = at.vectors(count);
    if !vinsts[0].is_whole(h) {
        return vector(h, at, block);
    }
    h.vs_dirty = true;
    for (i, vinst) in vinsts.iter().enumerate() {
        if !vinst.run_whole(h) {
            return vector(h, at.past(i), block);
        }
    }
    at.past(count).go(h, block)
}

/// Runs the vector instruction of a micro-op of this kind, by its fast path if it has one.
pub fn run_vector(h: &mut Hart, kind: Kind, vinst: &VInst) -> Exec {
    let copy = |to: &mut [u8], from: &[u8]| to.copy_from_slice(from);
    let done = match kind {
        Kind::Map => vinst.run_map(h),
        Kind::MapScalar => vinst.run_map_scalar(h),
        Kind::FloatMap => vinst.run_float(h),
        Kind::FloatMapScalar => vinst.run_float_scalar(h),
        Kind::Word => vinst.run_word(h),
        Kind::SetVl => vinst.run_set_vl(h),
        Kind::VectorLoad => vinst
            .one_piece(h, Access::Load)
            .map(|(offset, bytes)| vinst.load_piece(h, offset, bytes, copy))
            .is_some(),
        Kind::VectorStore => vinst
            .one_piece(h, Access::Store)
            .map(|(offset, bytes)| vinst.store_piece(h, offset, bytes, copy))
            .is_some(),
        _ => false,
    };
    if done {
        return Ok(());
    }
    vinst.note_writes(&mut h.v);
    (vinst.run)(h, vinst)
}

/// Calls the scalar handler of a micro-op.
#[inline(always)]
fn call(h: &mut Hart, at: At<'_>, block: &Block) -> Result<(), Trap> {
    let u = at.uop();
    h.retired_in_block = u32::from(u.insn);
    block.calls[usize::from(u.idx)](h, &block.insts[usize::from(u.insn)].1)
}

// Named for the kinds.
#[allow(non_snake_case)]
mod functions {
    use super::*;

    ops! {
        Nop: |h, at, block| { at.go_on(h, block) };
        Const: [a, b, imm] imm;
        Mv: [a, b, imm] a;
        Addi: [a, b, imm] integer::add(a, imm);
        Slti: [a, b, imm] integer::slt(a, imm);
        Sltiu: [a, b, imm] integer::sltu(a, imm);
        Xori: [a, b, imm] integer::xor(a, imm);
        Ori: [a, b, imm] integer::or(a, imm);
        Andi: [a, b, imm] integer::and(a, imm);
        Slli: [a, b, imm] integer::sll(a, imm);
        Srli: [a, b, imm] integer::srl(a, imm);
        Srai: [a, b, imm] integer::sra(a, imm);
        Addiw: [a, b, imm] integer::addw(a, imm);
        Slliw: [a, b, imm] integer::sllw(a, imm);
        Srliw: [a, b, imm] integer::srlw(a, imm);
        Sraiw: [a, b, imm] integer::sraw(a, imm);
        Add: [a, b, imm] integer::add(a, b);
        Sub: [a, b, imm] integer::sub(a, b);
        Sll: [a, b, imm] integer::sll(a, b);
        Slt: [a, b, imm] integer::slt(a, b);
        Sltu: [a, b, imm] integer::sltu(a, b);
        Xor: [a, b, imm] integer::xor(a, b);
        Srl: [a, b, imm] integer::srl(a, b);
        Sra: [a, b, imm] integer::sra(a, b);
        Or: [a, b, imm] integer::or(a, b);
        And: [a, b, imm] integer::and(a, b);
        Addw: [a, b, imm] integer::addw(a, b);
        Subw: [a, b, imm] integer::subw(a, b);
        Sllw: [a, b, imm] integer::sllw(a, b);
        Srlw: [a, b, imm] integer::srlw(a, b);
        Sraw: [a, b, imm] integer::sraw(a, b);
        Mul: [a, b, imm] integer::mul(a, b);
        Mulh: [a, b, imm] integer::mulh(a, b);
        Mulhsu: [a, b, imm] integer::mulhsu(a, b);
        Mulhu: [a, b, imm] integer::mulhu(a, b);
        Mulw: [a, b, imm] integer::mulw(a, b);
        Div: [a, b, imm] integer::div(a, b);
        Divu: [a, b, imm] integer::divu(a, b);
        Rem: [a, b, imm] integer::rem(a, b);
        Remu: [a, b, imm] integer::remu(a, b);
        Divw: [a, b, imm] integer::divw(a, b);
        Divuw: [a, b, imm] integer::divuw(a, b);
        Remw: [a, b, imm] integer::remw(a, b);
        Remuw: [a, b, imm] integer::remuw(a, b);
        Sh1add: [a, b, imm] bitmanip::sh1add(a, b);
        Sh2add: [a, b, imm] bitmanip::sh2add(a, b);
        Sh3add: [a, b, imm] bitmanip::sh3add(a, b);
        AddUw: [a, b, imm] bitmanip::add_uw(a, b);
        Lb: |h, at, block| { load::<u8>(h, at, block, integer::lb) };
        Lh: |h, at, block| { load::<u16>(h, at, block, integer::lh) };
        Lw: |h, at, block| { load::<u32>(h, at, block, integer::lw) };
        Ld: |h, at, block| { load::<u64>(h, at, block, integer::ld) };
        Lbu: |h, at, block| { load::<u8>(h, at, block, integer::lbu) };
        Lhu: |h, at, block| { load::<u16>(h, at, block, integer::lhu) };
        Lwu: |h, at, block| { load::<u32>(h, at, block, integer::lwu) };
        Sb: |h, at, block| { store(h, at, block, h.x[at.uop().rs2] as u8) };
        Sh: |h, at, block| { store(h, at, block, h.x[at.uop().rs2] as u16) };
        Sw: |h, at, block| { store(h, at, block, h.x[at.uop().rs2] as u32) };
        Sd: |h, at, block| { store(h, at, block, h.x[at.uop().rs2]) };
        Flw: |h, at, block| { load_float::<u32>(h, at, block, fp::box_f32) };
        Fld: |h, at, block| { load_float::<u64>(h, at, block, |v| v) };
        Fsw: |h, at, block| { store(h, at, block, h.f[at.uop().rs2] as u32) };
        Fsd: |h, at, block| { store(h, at, block, h.f[at.uop().rs2]) };
        Call: |h, at, block| {
            match call(h, at, block) {
                Ok(()) => at.go_on_unless_resync(h, block),
                Err(trap) => at.trap(h, trap),
            }
        };
        CallEnd: |h, at, block| {
            let insn = at.uop().insn;
            h.pc = block.pc_of(insn);
            h.next_pc = block.pc_of(insn + 1);
            match call(h, at, block) {
                Ok(()) => {
                    h.pc = h.next_pc;
                    End::new(How::Anything, 0)
                }
                Err(trap) => at.trap(h, trap),
            }
        };
        Map: |h, at, block| { fast_path!(h, at, block, run_map) };
        MapScalar: |h, at, block| { fast_path!(h, at, block, run_map_scalar) };
        FloatMap: |h, at, block| { fast_path!(h, at, block, run_float) };
        FloatMapScalar: |h, at, block| { fast_path!(h, at, block, run_float_scalar) };
        Word: |h, at, block| { fast_path!(h, at, block, run_word) };
        VectorLoad: |h, at, block| { load_any(h, at, block) };
        VectorStore: |h, at, block| { store_any(h, at, block) };
        SetVl: |h, at, block| { fast_path!(h, at, block, run_set_vl) };
        Vector: |h, at, block| { vector(h, at, block) };
        VectorEnd: |h, at, block| {
            let u = at.uop();
            h.retired_in_block = u32::from(u.insn);
            h.pc = block.pc_of(u.insn);
            let vinst = at.vector();
            match (vinst.run)(h, vinst) {
                Ok(()) => {
                    h.pc = block.pc_of(u.insn + 1);
                    End::new(How::Anything, 0)
                }
                Err(trap) => at.trap(h, trap),
            }
        };
        Beq: branch [a, b, imm] integer::beq(a, b);
        Bne: branch [a, b, imm] integer::bne(a, b);
        Blt: branch [a, b, imm] integer::blt(a, b);
        Bge: branch [a, b, imm] integer::bge(a, b);
        Bltu: branch [a, b, imm] integer::bltu(a, b);
        Bgeu: branch [a, b, imm] integer::bgeu(a, b);
        Jal: |h, at, block| {
            let u = at.uop();
            h.x[u.rd] = block.end_pc();
            End::new(How::Taken, u.imm as u64)
        };
        Jalr: |h, at, block| {
            let u = at.uop();
            let target = integer::jalr_target(h.x[u.rs1], u.imm as u64);
            h.x[u.rd] = block.end_pc();
            End::new(How::Computed, target)
        };
        Continue: |_h, _at, block| { End::new(How::Onwards, block.end_pc()) };
        Fault: |h, at, block| { at.trap(h, block.faults[usize::from(at.uop().idx)]) };
    }
}
pub use functions::of;
