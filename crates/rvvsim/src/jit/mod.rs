//! The second engine: hot blocks as host code.
//!
//! A block that has run often is compiled, in one pass and by itself, from the micro-ops that the interpreter
//! runs ([`emit`]). Compiled blocks lead to one another without coming back: static successors by a jump
//! through a word, which is set once the successor is compiled too; computed ones by a table. Whatever has no
//! template calls the interpreter's own functions ([`helpers`]). All compiled blocks keep the same guest
//! registers in host registers ([`registers`]), which ones is decided by what has run so far.
//!
//! `unsafe` here is the step into host code: it is only ever entered at the start of a block that was
//! compiled and that the block cache holds to be right, with the hart of this engine.

#![expect(clippy::useless_conversion, reason = "dynasm converts the numbers of registers")]

/// Assembles; `$asm` is a `&mut` assembler.
macro_rules! x64 {
    ($asm:expr; $($t:tt)*) => {{ let asm = &mut *$asm; dynasm!(asm; .arch x64; $($t)*) }};
}

/// `$op d, src` where `src` is a guest register, wherever it is.
macro_rules! with_source {
    ($e:expr, $op:ident $size:ident $d:expr, $r:expr) => {{
        let (d, place) = ($d, $e.map.place($r));
        match place {
            Place::Host(s) => x64!(&mut $e.asm; $op $size(d), $size(s)),
            Place::Home(o) => x64!(&mut $e.asm; $op $size(d), [BYTE rbx + o]),
            Place::Sink => unreachable!("the sink is never read"),
        }
    }};
}

mod arena;
mod cached;
mod cold;
mod constants;
mod emit;
mod fields;
mod float;
mod group;
mod helpers;
mod registers;
mod scalar;
mod simd;
#[cfg(test)]
mod tests;
mod thunks;
mod vector;

use crate::config::EngineChoice;
use crate::engine::{Block, Context, Totals};
use crate::fp::Flags;
use crate::{Config, Hart};
use arena::Arena;
pub use constants::Constants;
use emit::Site;
use registers::{BIAS, Map};
use std::num::NonZeroU32;
use thunks::{JUMPS, Thunks, jump_index};

/// Why host code was left. The first four are those of the interpreter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u32)]
pub enum How {
    /// To the next block, which is not compiled or not linked.
    Onwards = 1,
    /// To the target of a branch or jump, likewise.
    Taken,
    /// To a computed address.
    Computed,
    /// After an instruction that may have changed anything: `hart.pc` is set.
    Anything,
    /// At an instruction that trapped.
    Trap,
    /// After an instruction that set `hart.resync`.
    Early,
    /// Before the last instruction, which the interpreter is to run.
    Interpret,
    /// Before a block that has more instructions than may be executed.
    Budget,
}

impl How {
    fn from_bits(bits: u32) -> How {
        const ALL: [How; 8] = [
            How::Onwards,
            How::Taken,
            How::Computed,
            How::Anything,
            How::Trap,
            How::Early,
            How::Interpret,
            How::Budget,
        ];
        ALL[bits as usize - 1]
    }
}

/// How host code was left.
pub struct Exit {
    /// Why.
    pub how: How,
    /// Where: an address, or the number of an instruction.
    pub at: u64,
    /// The compiled block.
    pub compiled: Compiled,
    /// Instructions that may still be executed. Those of the last block have been counted, unless it was not
    /// begun.
    pub left: u64,
}

/// The number of a compiled block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Compiled(NonZeroU32);

impl Compiled {
    fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What is known of a compiled block.
struct Unit {
    /// Its number in the block cache.
    block: u32,
    /// Where its code is.
    entry: usize,
    /// How long it is.
    size: usize,
    /// Where its words lead as long as they are not linked.
    exits: [usize; 2],
    /// It is made for what was expected: a `vl`, accesses that are on one page.
    expects: bool,
    /// How often that was not so.
    surprises: u32,
}

/// After so many surprises, code for a block is made anew.
const SURPRISES: u32 = 64;

/// As many blocks are compiled before all are forgotten.
const MOST: usize = 1 << 18;
/// Bytes of host code.
const CODE: usize = 128 << 20;
/// The first word after the table of indirect jumps.
const LINKS: usize = 4 * JUMPS;

/// The host code of one engine.
pub struct Jit {
    arena: Arena,
    map: Map,
    thunks: Thunks,
    units: Vec<Unit>,
    /// Words that are linked.
    linked: Vec<usize>,
    /// Indices of the table of indirect jumps that are in use.
    jumps: Vec<usize>,
    /// The block cache's generation in which links and jumps were made.
    generation: u64,
    /// Accesses need not be aligned.
    misaligned: bool,
    /// The bytes of a vector register.
    vlenb: usize,
    /// Blocks are run one at a time.
    alone: bool,
    totals: Totals,
}

/// Whether this host can run what is compiled.
pub fn is_available() -> bool {
    use std::arch::is_x86_feature_detected as has;
    has!("bmi2") && has!("avx2") && has!("fma")
}

/// Whether the host has vector registers of 64 bytes, with elements of all widths.
fn has_long_registers() -> bool {
    use std::arch::is_x86_feature_detected as has;
    #[cfg(test)]
    if SHORT_REGISTERS.get() {
        return false;
    }
    has!("avx512f") && has!("avx512bw")
}

#[cfg(test)]
thread_local! {
    /// A test wants to see what hosts do that have none.
    pub static SHORT_REGISTERS: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// The host's floating point as Rust wants it: to nearest, nothing traps.
const HOST_MXCSR: u32 = 0x1f80;

/// The bits of `mxcsr` that say how to round, for an `frm` that the host has.
fn rounding(frm: u8) -> u32 {
    // To nearest, towards zero, down, up.
    [0, 3, 1, 2][usize::from(frm)] << 13
}

/// Takes the flags that the host's arithmetic raised to `fflags`. State that does not change does not become
/// dirty.
fn take_flags(hart: &mut Hart) {
    // Invalid, (denormal operand,) division by zero, overflow, underflow, inexact.
    let raised = hart.host_code.mxcsr & 0x3d;
    if raised != 0 {
        hart.host_code.mxcsr &= !0x3f;
        let before = hart.fflags;
        let flags = [(0, Flags::NV), (2, Flags::DZ), (3, Flags::OF), (4, Flags::UF), (5, Flags::NX)];
        for (bit, flag) in flags {
            hart.fflags.raise_if(raised >> bit & 1 != 0, flag);
        }
        hart.fs_dirty |= hart.fflags != before;
    }
}

impl Jit {
    /// For guest registers that are used so often, and a configuration. `None` if the host has no room, or
    /// lacks what is needed.
    pub fn new(uses: &[u64; 32], config: &Config) -> Option<Jit> {
        if !is_available() {
            return None;
        }
        let arena = Arena::new(LINKS + 2 * MOST, CODE).ok()?;
        let mut jit = Jit {
            arena,
            map: Map::of_uses(uses),
            thunks: Thunks::default(),
            units: Vec::new(),
            linked: Vec::new(),
            jumps: Vec::new(),
            generation: 0,
            misaligned: config.misaligned,
            vlenb: config.vlen as usize / 8,
            alone: config.engine == EngineChoice::Check,
            totals: Totals::default(),
        };
        jit.prepare(uses)?;
        Some(jit)
    }

    /// Chooses registers anew; all that was compiled is forgotten.
    fn prepare(&mut self, uses: &[u64; 32]) -> Option<()> {
        self.map = Map::of_uses(uses);
        self.arena.rewind();
        let (thunks, code) = thunks::thunks(self.arena.next(), &self.map, self.arena.word_address(0))?;
        self.thunks = thunks;
        (self.arena.add(&code) && self.arena.close()).then_some(())
    }

    /// What was compiled so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Compiles blocks, and hands each its code. False if there is no room for all: then [`Jit::flush`] makes
    /// some.
    pub fn compile<'b>(&mut self, mut blocks: impl Iterator<Item = &'b Block>) -> bool {
        let began = std::time::Instant::now();
        let done = blocks.all(|block| {
            let compiled = self.compile_one(block);
            block.compiled.set(compiled);
            compiled.is_some()
        });
        let done = self.arena.close() && done;
        self.totals.nanoseconds += began.elapsed().as_nanos() as u64;
        done
    }

    fn compile_one(&mut self, block: &Block) -> Option<Compiled> {
        if self.units.len() == MOST {
            return None;
        }
        let index = self.units.len();
        let words = [LINKS + 2 * index, LINKS + 2 * index + 1];
        let compiled = Compiled(NonZeroU32::new(index as u32 + 1)?);
        let entry = self.arena.next();
        let links = words.map(|w| self.arena.word_address(w));
        let (number, misaligned, vlenb) = (compiled.0.get(), self.misaligned, self.vlenb);
        let site = Site { number, links, misaligned, vlenb, loops: !self.alone, long: has_long_registers() };
        let code = emit::compile(block, entry, &self.map, &self.thunks, &site)?;
        if !self.arena.add(&code.bytes) {
            return None;
        }
        let exits = code.exits.map(|offset| entry + offset);
        for (word, exit) in words.into_iter().zip(exits) {
            self.arena.set_word(word, exit as u64);
        }
        let (size, expects) = (code.bytes.len(), code.expects);
        self.units.push(Unit { block: block.id, entry, size, exits, expects, surprises: 0 });
        self.totals.blocks += 1;
        self.totals.bytes += code.bytes.len() as u64;
        Some(compiled)
    }

    /// Forgets all code, and chooses registers anew. The caller forgets which blocks were compiled.
    pub fn flush(&mut self, uses: &[u64; 32]) -> Option<()> {
        self.unlink();
        self.units.clear();
        self.totals.flushes += 1;
        self.prepare(uses)
    }

    /// Whether other registers would serve these uses much better.
    pub fn is_ill_suited(&self, uses: &[u64; 32]) -> bool {
        let best = Map::of_uses(uses).served(uses);
        self.map.served(uses) < best - best / 5
    }

    /// Code of an older generation of the block cache is not to be reached from other code.
    pub fn sync(&mut self, generation: u64) {
        if self.generation != generation {
            self.generation = generation;
            self.unlink();
        }
    }

    fn unlink(&mut self) {
        for word in self.linked.drain(..) {
            let link = word - LINKS;
            let exit = self.units[link / 2].exits[link % 2];
            self.arena.set_word(word, exit as u64);
        }
        for index in self.jumps.drain(..) {
            // No jump leads to an odd address.
            self.arena.set_word(4 * index, 1);
        }
    }

    /// The interpreter had to go on with a block, which ran so often. Whether it should be compiled anew, for
    /// what is there now: then no code leads to the old one any more.
    pub fn was_surprised(&mut self, compiled: Compiled, runs: u64) -> bool {
        let unit = &mut self.units[compiled.index()];
        unit.surprises += 1;
        let often = unit.surprises >= SURPRISES && u64::from(unit.surprises) > runs / 32;
        let anew = unit.expects && often;
        if anew {
            self.unlink();
        }
        anew
    }

    /// Lets a compiled block go to another directly, if `how` is by a static way.
    pub fn link(&mut self, from: Compiled, how: How, to: Compiled) {
        let which = match how {
            How::Onwards => 0,
            How::Taken => 1,
            _ => return,
        };
        let word = LINKS + 2 * from.index() + which;
        self.arena.set_word(word, self.units[to.index()].entry as u64);
        self.linked.push(word);
    }

    /// Lets computed jumps to `pc` go to a compiled block.
    pub fn remember_jump(&mut self, pc: u64, context: Context, to: Compiled) {
        let index = jump_index(pc);
        self.arena.set_word(4 * index, pc);
        self.arena.set_word(4 * index + 1, u64::from(context.0));
        self.arena.set_word(4 * index + 2, self.units[to.index()].entry as u64);
        self.jumps.push(index);
    }

    /// The host code of a block.
    pub fn bytes(&self, compiled: Compiled) -> &[u8] {
        let unit = &self.units[compiled.index()];
        self.arena.code(unit.entry, unit.size)
    }

    /// The number in the block cache of a compiled block.
    pub fn block(&self, compiled: Compiled) -> usize {
        self.units[compiled.index()].block as usize
    }

    /// Whether host code can round as `frm` says, which does not change while it runs, and nobody wants a
    /// log.
    #[inline(always)]
    pub fn can_run(hart: &Hart) -> bool {
        hart.frm <= 3 && hart.log.is_none()
    }

    /// Runs from the start of a compiled block, for at most `left` instructions.
    pub fn run(&mut self, hart: &mut Hart, from: Compiled, left: u64) -> Exit {
        debug_assert!(Jit::can_run(hart));
        hart.host_code.end = hart.instret + left;
        hart.host_code.mxcsr = HOST_MXCSR | rounding(hart.frm);
        hart.host_code.host_mxcsr = HOST_MXCSR;
        hart.host_code.registers = hart.v.regs.as_mut_ptr().expose_provenance();
        let entry = self.units[from.index()].entry;
        let ram = hart.ram.bytes_mut().as_mut_ptr().expose_provenance();
        let tlb = (&raw mut *hart.tlb.for_host_code(ram)).cast::<u8>();
        let hart_pointer = (&raw mut *hart).cast::<u8>();
        // SAFETY: `enter` is a function of this signature, at an address where `prepare` put it; `entry` is
        // the start of a block's code. Host code accesses the hart by its fields, RAM by addresses that the
        // TLB holds, and nothing else.
        unsafe {
            let enter: extern "C" fn(*mut u8, usize, u64, *mut u8) =
                std::mem::transmute(std::ptr::with_exposed_provenance::<()>(self.thunks.enter));
            enter(hart_pointer.offset(BIAS as isize), entry, left, tlb);
        }
        take_flags(hart);
        let left_by = &hart.host_code;
        Exit {
            how: How::from_bits(left_by.how),
            at: left_by.at,
            compiled: NonZeroU32::new(left_by.block).map_or(from, Compiled),
            left: left_by.left,
        }
    }
}
