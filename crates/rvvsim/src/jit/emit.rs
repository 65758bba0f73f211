//! From a block of micro-ops to host code, in one pass.
//!
//! A template is an optimisation of a micro-op of [`crate::engine`], never a second meaning: `--engine check` runs both.
//! Code that is hardly ever reached (misses, traps, the end of the budget) comes after the block's own.

use super::How;
use super::cached::Cached;
use super::group::Group;
use super::helpers::Info;
use super::registers::{BIAS, Map, RCX, RDX, field};
pub(super) use super::registers::{Place, RAX};
use super::simd::{self, Operand};
use crate::Hart;
use crate::engine::{Block, Kind, Uop};
use crate::hart::HostCode;
use crate::mem::{Access, HostTlb, PAGE};
use crate::vector::VectorState;
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use rvv_isa::{Class, Inst, Vtype, csr};
use std::mem::offset_of;

/// Addresses that all host code of an engine uses.
#[derive(Clone, Copy, Default, Debug)]
pub struct Thunks {
    /// To be called with `extern "C"` as a function of hart + BIAS, code, instructions left, the TLB for host code.
    pub enter: usize,
    /// Leaves: `eax` is a [`How`], `edx` the number of the compiled block, `rcx` where.
    pub leave: usize,
    pub load: usize,
    pub store: usize,
    pub call: usize,
    pub vector: usize,
    pub tail: usize,
    /// The table of indirect jumps.
    pub jumps: usize,
}

/// Entries of the table of indirect jumps: four words each, of which are used the address, the context, the code.
pub const JUMPS: usize = 1 << 12;

/// The index of an address in the table.
pub fn jump_index(pc: u64) -> usize {
    (pc >> 1) as usize % JUMPS
}

const HOST_CODE: usize = offset_of!(Hart, host_code);
const LEFT: i32 = field(HOST_CODE + offset_of!(HostCode, left));
const HOW: i32 = field(HOST_CODE + offset_of!(HostCode, how));
const BLOCK: i32 = field(HOST_CODE + offset_of!(HostCode, block));
const AT: i32 = field(HOST_CODE + offset_of!(HostCode, at));
const VALUE: i32 = field(HOST_CODE + offset_of!(HostCode, value));
const MXCSR: i32 = field(HOST_CODE + offset_of!(HostCode, mxcsr));
const HOST_MXCSR: i32 = field(HOST_CODE + offset_of!(HostCode, host_mxcsr));
pub(super) const FS_DIRTY: i32 = field(offset_of!(Hart, fs_dirty));
const VS_DIRTY: i32 = field(offset_of!(Hart, vs_dirty));
const PC: i32 = field(offset_of!(Hart, pc));
const NEXT_PC: i32 = field(offset_of!(Hart, next_pc));

/// The home of a floating-point register.
pub(super) fn float_home(r: u8) -> i32 {
    field(offset_of!(Hart, f)) + 8 * i32::from(r)
}

type Asm = VecAssembler<X64Relocation>;

/// Emits the code that is there once.
pub fn thunks(base: usize, map: &Map, jumps: usize) -> Option<(Thunks, Vec<u8>)> {
    let mut asm = Asm::new(base);
    let mut thunks = Thunks { jumps, ..Thunks::default() };
    let at = |asm: &Asm| base + asm.offset().0;

    thunks.enter = at(&asm);
    // Six registers and eight bytes: the stack is aligned to 16 inside.
    x64!(&mut asm; push rbx; push rbp; push r12; push r13; push r14; push r15; sub rsp, 8);
    x64!(&mut asm; mov rbx, rdi; mov rax, rsi; mov r14, rdx; mov r15, rcx; ldmxcsr [rbx + MXCSR]);
    fill(&mut asm, map);
    x64!(&mut asm; jmp rax);

    thunks.leave = at(&asm);
    spill(&mut asm, map);
    x64!(&mut asm; vzeroupper; stmxcsr [rbx + MXCSR]; ldmxcsr [rbx + HOST_MXCSR]);
    x64!(&mut asm; mov [rbx + LEFT], r14; mov [rbx + HOW], eax; mov [rbx + BLOCK], edx; mov [rbx + AT], rcx);
    x64!(&mut asm; add rsp, 8; pop r15; pop r14; pop r13; pop r12; pop rbp; pop rbx; ret);

    let helpers: [(&mut usize, *const ()); 5] = [
        (&mut thunks.load, super::helpers::load as *const ()),
        (&mut thunks.store, super::helpers::store as *const ()),
        (&mut thunks.call, super::helpers::call as *const ()),
        (&mut thunks.vector, super::helpers::vector as *const ()),
        (&mut thunks.tail, super::helpers::tail as *const ()),
    ];
    for (address, helper) in helpers {
        *address = at(&asm);
        x64!(&mut asm; sub rsp, 8);
        spill(&mut asm, map);
        // Helpers round as the host does, and raise flags of their own. Their code is slow as long as the upper halves of
        // vector registers are in use.
        x64!(&mut asm; vzeroupper; stmxcsr [rbx + MXCSR]; ldmxcsr [rbx + HOST_MXCSR]);
        x64!(&mut asm; lea rdi, [rbx - BIAS]; mov rsi, rax; mov r8, r14);
        x64!(&mut asm; mov rax, QWORD helper as i64; call rax; ldmxcsr [rbx + MXCSR]);
        fill(&mut asm, map);
        x64!(&mut asm; add rsp, 8; ret);
    }
    Some((thunks, asm.finalize().ok()?))
}

fn spill(asm: &mut Asm, map: &Map) {
    for (host, home) in map.pairs() {
        x64!(asm; mov [BYTE rbx + home], Rq(host));
    }
}

fn fill(asm: &mut Asm, map: &Map) {
    for (host, home) in map.pairs() {
        x64!(asm; mov Rq(host), [BYTE rbx + home]);
    }
}

/// What a block's code refers to.
pub struct Site {
    /// The number that it leaves with.
    pub number: u32,
    /// Addresses of the words it jumps through: onwards, taken.
    pub links: [usize; 2],
    /// Accesses need not be aligned.
    pub misaligned: bool,
    /// The bytes of a vector register.
    pub vlenb: usize,
}

/// The code of a block, and where in it are the ways out that the words of [`Site::links`] lead to at first.
pub struct Code {
    pub bytes: Vec<u8>,
    pub exits: [usize; 2],
    /// It is made for what was expected: see [`crate::engine::Block::expected`].
    pub expects: bool,
}

/// Compiles a block for the address `base`. `None` if it has what the emitter cannot say.
pub fn compile(block: &Block, base: usize, map: &Map, thunks: &Thunks, site: &Site) -> Option<Code> {
    let mut e = Emitter {
        asm: Asm::new(base),
        map,
        thunks,
        site,
        block,
        cold: Vec::new(),
        fs_dirty: false,
        vs_dirty: false,
        vtype: block.vtype,
        known_vl: None,
        expected_vl: block.expected.get().vl,
        group: None,
        may_group: site.misaligned && block.expected.get().grouped,
        expects: false,
        cached: Cached::default(),
        bytes: Vec::new(),
    };
    e.head();
    for uop in block.uops.as_slice() {
        e.uop(uop);
        e.end_group(uop);
    }
    let exits = e.tail();
    let expects = e.expects;
    Some(Code { bytes: e.asm.finalize().ok()?, exits, expects })
}

/// Where host code finds vector state.
#[derive(Clone, Copy)]
pub(super) struct VectorFields {
    pub vl: i32,
    pub vstart: i32,
    pub vtype: i32,
    pub vxsat: i32,
    /// A pointer to the registers.
    pub registers: i32,
    pub vlenb: i32,
    pub known_ones: i32,
}

pub(super) const fn vector_field() -> VectorFields {
    let v = offset_of!(Hart, v);
    VectorFields {
        vl: field(v + offset_of!(VectorState, vl)),
        vstart: field(v + offset_of!(VectorState, vstart)),
        vtype: field(v + offset_of!(VectorState, vtype)),
        vxsat: field(v + offset_of!(VectorState, vxsat)),
        registers: field(HOST_CODE + offset_of!(HostCode, registers)),
        vlenb: field(v + offset_of!(VectorState, vlenb)),
        known_ones: field(v + VectorState::KNOWN_ONES),
    }
}

/// Code that is hardly ever reached. What goes back brings `cached` along, which helpers do not keep.
pub(super) enum Cold {
    Load {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        kind: u32,
        cached: Cached,
        /// A group is looked up, which helpers do not keep either: the interpreter goes on.
        grouped: bool,
    },
    Store {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        size_log2: u32,
        cached: Cached,
        grouped: bool,
    },
    /// The handler of the instruction executes it.
    Handler {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        cached: Cached,
    },
    /// The interpreter's kernel executes the vector instruction, from an element on.
    Vector {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        first: u32,
        cached: Cached,
    },
    /// The same for the misses of one access: from which element on.
    Elements {
        missed: Vec<(DynamicLabel, u32)>,
        back: DynamicLabel,
        uop: Uop,
        cached: Cached,
    },
    /// Coins are tossed for the tail of the vector instruction.
    Tail {
        at: DynamicLabel,
        back: DynamicLabel,
        uop: Uop,
        cached: Cached,
    },
    /// The interpreter goes on from here.
    Interpret {
        at: DynamicLabel,
        insn: u16,
    },
    /// Leaves with the status in `eax`.
    Status {
        at: DynamicLabel,
        insn: u16,
    },
    Budget {
        at: DynamicLabel,
    },
    /// An indirect jump whose target, in `rax`, is not in the table.
    Computed {
        at: DynamicLabel,
    },
}

pub(super) struct Emitter<'a> {
    pub(super) asm: Asm,
    pub(super) map: &'a Map,
    thunks: &'a Thunks,
    pub(super) site: &'a Site,
    pub(super) block: &'a Block,
    pub(super) cold: Vec<Cold>,
    /// This block has already noted that floating-point state is written.
    fs_dirty: bool,
    /// The same of vector state.
    vs_dirty: bool,
    /// The `vtype` at this place, once a vector instruction has shown it.
    pub(super) vtype: Option<Vtype>,
    /// It is known that `vl` is this, and `vstart` 0.
    pub(super) known_vl: Option<u32>,
    /// If it is not known, it is expected that `vl` is this, or VLMAX if that is less.
    pub(super) expected_vl: u32,
    /// Something was made for what is expected.
    pub(super) expects: bool,
    /// Accesses that are looked up.
    pub(super) group: Option<Group>,
    /// There may be groups of them.
    pub(super) may_group: bool,
    /// What is in host registers at this place.
    pub(super) cached: Cached,
    /// Room for the encoding of an instruction.
    pub(super) bytes: Vec<u8>,
}

impl Emitter<'_> {
    /// Counts the block's instructions, or leaves if they are more than may be executed.
    fn head(&mut self) {
        let at = self.asm.new_dynamic_label();
        let count = self.block.count as i32;
        let runs = self.block.runs.as_ptr() as i64;
        x64!(&mut self.asm; sub r14, count; jb =>at; mov rax, QWORD runs; inc QWORD [rax]);
        self.cold.push(Cold::Budget { at });
    }

    /// Moves a guest register to a host register.
    pub(super) fn get(&mut self, host: u8, r: u8) {
        match self.map.place(r) {
            Place::Host(s) if s == host => {}
            _ if r == 0 => x64!(&mut self.asm; xor Rd(host), Rd(host)),
            _ => with_source!(self, mov Rq host, r),
        }
    }

    /// The host register that holds a guest register, or `temp` with it inside.
    pub(super) fn source(&mut self, r: u8, temp: u8) -> u8 {
        match self.map.place(r) {
            Place::Host(s) => s,
            _ => {
                self.get(temp, r);
                temp
            }
        }
    }

    /// The host register to compute a guest register in.
    pub(super) fn target(&self, rd: u8) -> u8 {
        match self.map.place(rd) {
            Place::Host(d) => d,
            _ => RAX,
        }
    }

    /// What was computed in `host` becomes the value of a guest register.
    pub(super) fn put(&mut self, rd: u8, host: u8) {
        match self.map.place(rd) {
            Place::Host(d) if d == host => {}
            Place::Host(d) => x64!(&mut self.asm; mov Rq(d), Rq(host)),
            Place::Home(o) => x64!(&mut self.asm; mov [BYTE rbx + o], Rq(host)),
            Place::Sink => {}
        }
    }

    /// The same for the low half, sign-extended.
    pub(super) fn put_word(&mut self, rd: u8, host: u8) {
        let d = self.target(rd);
        x64!(&mut self.asm; movsxd Rq(d), Rd(host));
        self.put(rd, d);
    }

    pub(super) fn constant(&mut self, host: u8, value: i64) {
        if value == 0 {
            x64!(&mut self.asm; xor Rd(host), Rd(host));
        } else if let Ok(value) = u32::try_from(value) {
            x64!(&mut self.asm; mov Rd(host), value as i32);
        } else if let Ok(value) = i32::try_from(value) {
            x64!(&mut self.asm; mov Rq(host), DWORD value);
        } else {
            x64!(&mut self.asm; mov Rq(host), QWORD value);
        }
    }

    /// Where to compute `rd = rs1 op rs2` by a host instruction that overwrites its first operand: there is `rs1` then,
    /// and `rs2` still is where it was.
    fn first_operand(&mut self, u: &Uop) -> u8 {
        let mut d = self.target(u.rd);
        if u.rs2 != u.rs1 && self.map.place(u.rs2) == Place::Host(d) {
            d = RAX;
        }
        self.get(d, u.rs1);
        d
    }

    fn head_of_branch(&mut self, u: &Uop) {
        if u.rs2 == 0 {
            match self.map.place(u.rs1) {
                Place::Host(a) => x64!(&mut self.asm; test Rq(a), Rq(a)),
                Place::Home(o) => x64!(&mut self.asm; cmp QWORD [BYTE rbx + o], 0),
                Place::Sink => unreachable!("the sink is never read"),
            }
        } else {
            let a = self.source(u.rs1, RAX);
            with_source!(self, cmp Rq a, u.rs2);
        }
    }

    /// Goes to a static successor.
    fn link(&mut self, which: usize) {
        let word = self.site.links[which];
        x64!(&mut self.asm; jmp QWORD [extern word]);
    }

    /// The address of an access in `rax`.
    fn address(&mut self, u: &Uop) {
        let imm = u.imm as i32;
        match self.map.place(u.rs1) {
            Place::Host(a) if imm == 0 => x64!(&mut self.asm; mov rax, Rq(a)),
            Place::Host(a) => x64!(&mut self.asm; lea rax, [Rq(a) + imm]),
            _ => {
                self.get(RAX, u.rs1);
                if imm != 0 {
                    x64!(&mut self.asm; add rax, imm);
                }
            }
        }
    }

    /// Looks the address in `rax` of so many bytes up: the host's address is there then, or `miss` is gone to. Elements are of
    /// `size` bytes.
    pub(super) fn lookup(&mut self, access: Access, bytes: usize, size: usize, miss: DynamicLabel) {
        let table = HostTlb::table_offset(access) as i32;
        if !self.site.misaligned && size > 1 {
            x64!(&mut self.asm; test al, (size - 1) as i8; jne =>miss);
        }
        x64!(&mut self.asm
            ; rorx ecx, eax, 8
            ; and ecx, HostTlb::INDEX_MASK
            ; sub rax, [r15 + rcx + table]
            ; cmp rax, (PAGE as usize - bytes) as i32
            ; ja =>miss
            ; add rax, [r15 + rcx + table + 8]
        );
    }

    /// After a helper: what was in host registers is there again.
    fn refill(&mut self, cached: Cached) {
        let mut pieces = cached.all().peekable();
        if cached.base || pieces.peek().is_some() {
            x64!(&mut self.asm; mov rdx, [rbx + vector_field().registers]);
        }
        for (register, at, width) in pieces {
            self.simd(simd::LOAD, width, register, 0, Operand::Memory(RDX, at));
        }
    }

    fn load(&mut self, u: &Uop, size: usize, signed: bool) {
        let to_f = matches!(u.kind(), Kind::Flw | Kind::Fld);
        let d = if to_f { RAX } else { self.target(u.rd) };
        macro_rules! load {
            ($($from:tt)*) => {
                match (size, signed) {
                    (1, true) => x64!(&mut self.asm; movsx Rq(d), BYTE [$($from)*]),
                    (2, true) => x64!(&mut self.asm; movsx Rq(d), WORD [$($from)*]),
                    (4, true) => x64!(&mut self.asm; movsxd Rq(d), DWORD [$($from)*]),
                    (1, false) => x64!(&mut self.asm; movzx Rd(d), BYTE [$($from)*]),
                    (2, false) => x64!(&mut self.asm; movzx Rd(d), WORD [$($from)*]),
                    (4, false) => x64!(&mut self.asm; mov Rd(d), [$($from)*]),
                    _ => x64!(&mut self.asm; mov Rq(d), [$($from)*]),
                }
            };
        }
        if let Some(o) = self.grouped(u) {
            load!(rdx + o);
            return self.loaded(u, d, to_f);
        }
        let (at, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        self.address(u);
        self.lookup(Access::Load, size, size, at);
        load!(rax);
        // What is loaded after a miss comes in rax, too, unless it has been put where it belongs.
        x64!(&mut self.asm; =>back);
        self.loaded(u, d, to_f);
        let kind = size.trailing_zeros() | if signed { 4 } else { 0 };
        self.cold.push(Cold::Load {
            at,
            back,
            uop: *u,
            kind,
            cached: self.cached,
            grouped: self.group.is_some(),
        });
    }

    /// What was loaded, to `host`, becomes the value of its register.
    fn loaded(&mut self, u: &Uop, host: u8, to_f: bool) {
        if !to_f {
            return self.put(u.rd, host);
        }
        if u.kind() == Kind::Flw {
            x64!(&mut self.asm; mov rcx, DWORD -1; shl rcx, 32; or rax, rcx);
        }
        x64!(&mut self.asm; mov [rbx + float_home(u.rd)], rax);
        self.dirty_float();
    }

    fn store(&mut self, u: &Uop, size: usize) {
        let from_f = matches!(u.kind(), Kind::Fsw | Kind::Fsd);
        let held = match self.map.place(u.rs2) {
            Place::Host(s) if !from_f => Some(s),
            _ => None,
        };
        macro_rules! store {
            ($($to:tt)*) => {{
                let s = held.unwrap_or_else(|| {
                    self.stored(u, RCX);
                    RCX
                });
                match size {
                    1 => x64!(&mut self.asm; mov [$($to)*], Rb(s)),
                    2 => x64!(&mut self.asm; mov [$($to)*], Rw(s)),
                    4 => x64!(&mut self.asm; mov [$($to)*], Rd(s)),
                    _ => x64!(&mut self.asm; mov [$($to)*], Rq(s)),
                }
            }};
        }
        if let Some(o) = self.grouped(u) {
            store!(rdx + o);
            return;
        }
        let (at, back) = (self.asm.new_dynamic_label(), self.asm.new_dynamic_label());
        self.address(u);
        self.lookup(Access::Store, size, size, at);
        store!(rax);
        x64!(&mut self.asm; =>back);
        let (size_log2, grouped) = (size.trailing_zeros(), self.group.is_some());
        self.cold.push(Cold::Store { at, back, uop: *u, size_log2, cached: self.cached, grouped });
    }

    /// What a store stores.
    fn stored(&mut self, u: &Uop, host: u8) {
        if matches!(u.kind(), Kind::Fsw | Kind::Fsd) {
            x64!(&mut self.asm; mov Rq(host), [rbx + float_home(u.rs2)]);
        } else {
            self.get(host, u.rs2);
        }
    }

    pub(super) fn dirty_float(&mut self) {
        if !self.fs_dirty {
            // Whoever comes here came through the whole block: there is one way in.
            x64!(&mut self.asm; mov BYTE [rbx + FS_DIRTY], 1);
            self.fs_dirty = true;
        }
    }

    fn info(&self, u: &Uop) -> i32 {
        Info::new(u.kind(), u.insn, self.block.count).0 as i32
    }

    /// Calls a helper; whatever it says but "go on" ends the block here.
    fn helper(&mut self, u: &Uop, thunk: usize) {
        let info = self.info(u);
        let at = self.asm.new_dynamic_label();
        x64!(&mut self.asm; mov ecx, info; call extern thunk; test eax, eax; jne =>at);
        self.cold.push(Cold::Status { at, insn: u.insn });
        self.cached = Cached::default();
    }

    fn call(&mut self, u: &Uop) {
        let handler = &raw const self.block.calls[usize::from(u.idx)];
        let inst = &raw const self.block.insts[usize::from(u.insn)].1;
        x64!(&mut self.asm; mov rax, QWORD handler as i64; mov rdx, QWORD inst as i64);
        self.helper(u, self.thunks.call);
    }

    pub(super) fn vector(&mut self, u: &Uop) {
        x64!(&mut self.asm; mov rax, QWORD u.imm; mov edx, i32::from(u.kind() as u8));
        self.helper(u, self.thunks.vector);
    }

    /// What is known after a vector instruction that the interpreter's functions executed.
    fn after_vector(&mut self, u: &Uop) {
        let inst = &self.block.insts[usize::from(u.insn)].1;
        // Fault-only-first loads may, too.
        let sets_vl = matches!(inst.op.class(), Class::VectorConfig | Class::VectorLoad);
        if sets_vl {
            (self.known_vl, self.expected_vl) = (None, u32::MAX);
        }
        if inst.op.class() == Class::VectorConfig {
            self.vtype = Some(self.block.uops.vector(u).vtype);
        }
    }

    pub(super) fn dirty_vector(&mut self) {
        if !self.vs_dirty {
            x64!(&mut self.asm; mov BYTE [rbx + VS_DIRTY], 1);
            self.vs_dirty = true;
        }
    }

    fn leave(&mut self, how: How) {
        let (number, leave) = (self.site.number as i32, self.thunks.leave);
        x64!(&mut self.asm; mov eax, how as i32; mov edx, number; jmp extern leave);
    }

    fn divide(&mut self, u: &Uop, how: Divide) {
        self.cached.base = false;
        self.get(RCX, u.rs2);
        self.get(RAX, u.rs1);
        let Divide { signed, word, remainder } = how;
        match word {
            true => x64!(&mut self.asm; test ecx, ecx),
            false => x64!(&mut self.asm; test rcx, rcx),
        }
        x64!(&mut self.asm; je >zero);
        if signed {
            match word {
                true => x64!(&mut self.asm; cmp ecx, -1),
                false => x64!(&mut self.asm; cmp rcx, -1),
            }
            x64!(&mut self.asm; je >minus_one);
        }
        match (signed, word) {
            (true, true) => x64!(&mut self.asm; cdq; idiv ecx),
            (true, false) => x64!(&mut self.asm; cqo; idiv rcx),
            (false, true) => x64!(&mut self.asm; xor edx, edx; div ecx),
            (false, false) => x64!(&mut self.asm; xor edx, edx; div rcx),
        }
        if remainder {
            x64!(&mut self.asm; mov rax, rdx);
        }
        x64!(&mut self.asm; jmp >done; zero:);
        if !remainder {
            x64!(&mut self.asm; mov rax, DWORD -1);
        }
        if signed {
            x64!(&mut self.asm; jmp >done; minus_one:);
            // The least number negated is itself: so is its quotient, which overflows.
            if remainder {
                x64!(&mut self.asm; xor eax, eax);
            } else {
                x64!(&mut self.asm; neg rax);
            }
        }
        x64!(&mut self.asm; done:);
        if word { self.put_word(u.rd, RAX) } else { self.put(u.rd, RAX) }
    }

    /// `rd` = the upper half of a product.
    fn multiply_high(&mut self, u: &Uop) {
        self.cached.base = false;
        self.get(RAX, u.rs1);
        let b = self.source(u.rs2, RCX);
        match u.kind() {
            Kind::Mulh => x64!(&mut self.asm; imul Rq(b)),
            _ => x64!(&mut self.asm; mul Rq(b)),
        }
        if u.kind() == Kind::Mulhsu {
            // As unsigned, a negative rs1 is 2^64 too large: rs2 too much in the upper half.
            self.get(RAX, u.rs1);
            x64!(&mut self.asm; sar rax, 63; and rax, Rq(b); sub rdx, rax);
        }
        self.put(u.rd, RDX);
    }

    fn uop(&mut self, u: &Uop) {
        let imm = u.imm as i32;
        /// `rd = rs1 op rs2`.
        macro_rules! binary {
            ($op:ident) => {{
                let d = self.first_operand(u);
                with_source!(self, $op Rq d, u.rs2);
                self.put(u.rd, d);
            }};
        }
        /// The same of the low halves.
        macro_rules! binary_word {
            ($op:ident) => {{
                self.get(RAX, u.rs1);
                with_source!(self, $op Rd RAX, u.rs2);
                self.put_word(u.rd, RAX);
            }};
        }
        /// `rd = rs1 op imm`.
        macro_rules! immediate {
            ($op:ident) => {{
                let d = self.target(u.rd);
                self.get(d, u.rs1);
                x64!(&mut self.asm; $op Rq(d), imm);
                self.put(u.rd, d);
            }};
        }
        /// `rd = rs1 shifted by imm`.
        macro_rules! shift_immediate {
            ($op:ident) => {{
                let d = self.target(u.rd);
                self.get(d, u.rs1);
                x64!(&mut self.asm; $op Rq(d), (imm & 63) as i8);
                self.put(u.rd, d);
            }};
            (word $op:ident) => {{
                self.get(RAX, u.rs1);
                x64!(&mut self.asm; $op eax, (imm & 31) as i8);
                self.put_word(u.rd, RAX);
            }};
        }
        /// `rd = rs1 shifted by rs2`. The host takes as many bits of the amount as the guest does.
        macro_rules! shift {
            ($op:ident $size:ident) => {{
                let amount = self.source(u.rs2, RCX);
                let a = self.source(u.rs1, RAX);
                let d = self.target(u.rd);
                x64!(&mut self.asm; $op $size(d), $size(a), $size(amount));
                d
            }};
        }
        /// `rd` = whether a comparison holds.
        macro_rules! set {
            ($set:ident) => {{
                x64!(&mut self.asm; $set al; movzx eax, al);
                self.put(u.rd, RAX);
            }};
        }
        macro_rules! branch {
            ($jump:ident) => {{
                self.head_of_branch(u);
                x64!(&mut self.asm; $jump >taken);
                self.link(0);
                x64!(&mut self.asm; taken:);
                self.link(1);
            }};
        }
        match u.kind() {
            Kind::Nop => {}
            Kind::Const => {
                let d = self.target(u.rd);
                self.constant(d, u.imm);
                self.put(u.rd, d);
            }
            Kind::Mv => {
                let a = self.source(u.rs1, RAX);
                self.put(u.rd, a);
            }
            Kind::Addi => match (self.map.place(u.rs1), self.target(u.rd)) {
                (Place::Host(a), d) if a != d => {
                    x64!(&mut self.asm; lea Rq(d), [Rq(a) + imm]);
                    self.put(u.rd, d);
                }
                _ => immediate!(add),
            },
            Kind::Xori => immediate!(xor),
            Kind::Ori => immediate!(or),
            Kind::Andi => immediate!(and),
            Kind::Slti | Kind::Sltiu => {
                let a = self.source(u.rs1, RAX);
                x64!(&mut self.asm; cmp Rq(a), imm);
                if u.kind() == Kind::Slti { set!(setl) } else { set!(setb) }
            }
            Kind::Slli => shift_immediate!(shl),
            Kind::Srli => shift_immediate!(shr),
            Kind::Srai => shift_immediate!(sar),
            Kind::Addiw => {
                match self.map.place(u.rs1) {
                    Place::Host(a) if imm == 0 => return self.put_word(u.rd, a),
                    Place::Host(a) => x64!(&mut self.asm; lea eax, [Rq(a) + imm]),
                    _ => {
                        self.get(RAX, u.rs1);
                        x64!(&mut self.asm; add eax, imm);
                    }
                }
                self.put_word(u.rd, RAX);
            }
            Kind::Slliw => shift_immediate!(word shl),
            Kind::Srliw => shift_immediate!(word shr),
            Kind::Sraiw => shift_immediate!(word sar),
            Kind::Add => match (self.map.place(u.rs1), self.map.place(u.rs2), self.target(u.rd)) {
                (Place::Host(a), Place::Host(b), d) if a != d => {
                    x64!(&mut self.asm; lea Rq(d), [Rq(a) + Rq(b)]);
                    self.put(u.rd, d);
                }
                _ => binary!(add),
            },
            Kind::Sub => binary!(sub),
            Kind::Xor => binary!(xor),
            Kind::Or => binary!(or),
            Kind::And => binary!(and),
            Kind::Mul => binary!(imul),
            Kind::Sll => {
                let d = shift!(shlx Rq);
                self.put(u.rd, d);
            }
            Kind::Srl => {
                let d = shift!(shrx Rq);
                self.put(u.rd, d);
            }
            Kind::Sra => {
                let d = shift!(sarx Rq);
                self.put(u.rd, d);
            }
            Kind::Sllw => {
                let d = shift!(shlx Rd);
                self.put_word(u.rd, d);
            }
            Kind::Srlw => {
                let d = shift!(shrx Rd);
                self.put_word(u.rd, d);
            }
            Kind::Sraw => {
                let d = shift!(sarx Rd);
                self.put_word(u.rd, d);
            }
            Kind::Slt | Kind::Sltu => {
                let a = self.source(u.rs1, RAX);
                with_source!(self, cmp Rq a, u.rs2);
                if u.kind() == Kind::Slt { set!(setl) } else { set!(setb) }
            }
            Kind::Addw => binary_word!(add),
            Kind::Subw => binary_word!(sub),
            Kind::Mulw => binary_word!(imul),
            Kind::Mulh | Kind::Mulhu | Kind::Mulhsu => self.multiply_high(u),
            Kind::Div => self.divide(u, Divide { signed: true, word: false, remainder: false }),
            Kind::Divu => self.divide(u, Divide { signed: false, word: false, remainder: false }),
            Kind::Rem => self.divide(u, Divide { signed: true, word: false, remainder: true }),
            Kind::Remu => self.divide(u, Divide { signed: false, word: false, remainder: true }),
            Kind::Divw => self.divide(u, Divide { signed: true, word: true, remainder: false }),
            Kind::Divuw => self.divide(u, Divide { signed: false, word: true, remainder: false }),
            Kind::Remw => self.divide(u, Divide { signed: true, word: true, remainder: true }),
            Kind::Remuw => self.divide(u, Divide { signed: false, word: true, remainder: true }),
            Kind::Sh1add | Kind::Sh2add | Kind::Sh3add => {
                let a = self.source(u.rs1, RAX);
                let b = self.source(u.rs2, RCX);
                let d = self.target(u.rd);
                match u.kind() {
                    Kind::Sh1add => x64!(&mut self.asm; lea Rq(d), [Rq(b) + 2 * Rq(a)]),
                    Kind::Sh2add => x64!(&mut self.asm; lea Rq(d), [Rq(b) + 4 * Rq(a)]),
                    _ => x64!(&mut self.asm; lea Rq(d), [Rq(b) + 8 * Rq(a)]),
                }
                self.put(u.rd, d);
            }
            Kind::AddUw => {
                with_source!(self, mov Rd RCX, u.rs1);
                let d = self.target(u.rd);
                self.get(d, u.rs2);
                x64!(&mut self.asm; add Rq(d), rcx);
                self.put(u.rd, d);
            }
            Kind::Lb => self.load(u, 1, true),
            Kind::Lh => self.load(u, 2, true),
            Kind::Lw => self.load(u, 4, true),
            Kind::Ld | Kind::Fld => self.load(u, 8, false),
            Kind::Lbu => self.load(u, 1, false),
            Kind::Lhu => self.load(u, 2, false),
            Kind::Lwu | Kind::Flw => self.load(u, 4, false),
            Kind::Sb => self.store(u, 1),
            Kind::Sh => self.store(u, 2),
            Kind::Sw | Kind::Fsw => self.store(u, 4),
            Kind::Sd | Kind::Fsd => self.store(u, 8),
            Kind::Call => {
                let inst = self.block.insts[usize::from(u.insn)].1;
                if !self.float(u, &inst) && !self.read_csr(&inst) {
                    self.call(u);
                }
            }
            Kind::CallEnd => {
                let pc = self.block.pc_of(u.insn) as i64;
                let next = self.block.pc_of(u.insn + 1) as i64;
                x64!(&mut self.asm; mov rax, QWORD pc; mov [rbx + PC], rax);
                x64!(&mut self.asm; mov rax, QWORD next; mov [rbx + NEXT_PC], rax);
                self.call_end(u);
            }
            Kind::Map
            | Kind::MapScalar
            | Kind::FloatMap
            | Kind::FloatMapScalar
            | Kind::Word
            | Kind::VectorLoad
            | Kind::VectorStore
            | Kind::SetVl
            | Kind::Vector => {
                if !self.vector_template(u) {
                    self.vector(u);
                    self.after_vector(u);
                }
            }
            Kind::VectorEnd | Kind::Fault => self.interpret_rest(u),
            Kind::Beq => branch!(je),
            Kind::Bne => branch!(jne),
            Kind::Blt => branch!(jl),
            Kind::Bge => branch!(jge),
            Kind::Bltu => branch!(jb),
            Kind::Bgeu => branch!(jae),
            Kind::Jal => {
                let d = self.target(u.rd);
                self.constant(d, self.block.end_pc() as i64);
                self.put(u.rd, d);
                self.link(1);
            }
            Kind::Jalr => self.jump(u),
            Kind::Continue => self.link(0),
        }
    }

    /// A read of `vl` or `vlenb`; false if it is another instruction. (With `VS` off, its handler traps.)
    fn read_csr(&mut self, inst: &Inst) -> bool {
        if !crate::scalar::reads_vector_length(inst) || !self.block.context.vs() {
            return false;
        }
        let fields = vector_field();
        let from = if inst.imm as u16 == csr::VL { fields.vl } else { fields.vlenb };
        if inst.rd != 0 {
            let d = self.target(inst.rd);
            x64!(&mut self.asm; mov Rq(d), [rbx + from]);
            self.put(inst.rd, d);
        }
        true
    }

    /// An instruction that ends the block and may have changed anything.
    fn call_end(&mut self, u: &Uop) {
        let handler = &raw const self.block.calls[usize::from(u.idx)];
        let inst = &raw const self.block.insts[usize::from(u.insn)].1;
        let (info, thunk) = (self.info(u), self.thunks.call);
        let at = self.asm.new_dynamic_label();
        x64!(&mut self.asm; mov rax, QWORD handler as i64; mov rdx, QWORD inst as i64);
        x64!(&mut self.asm; mov ecx, info; call extern thunk; cmp eax, How::Trap as i32; je =>at);
        self.cold.push(Cold::Status { at, insn: u.insn });
        x64!(&mut self.asm; mov rax, [rbx + NEXT_PC]; mov [rbx + PC], rax);
        self.leave(How::Anything);
    }

    /// Leaves before an instruction, for the interpreter to go on with.
    fn interpret_rest(&mut self, u: &Uop) {
        x64!(&mut self.asm; mov ecx, i32::from(u.insn));
        self.leave(How::Interpret);
    }

    /// Leaves after an instruction, for the interpreter to go on with the next.
    fn go_on_after(&mut self, u: &Uop) {
        x64!(&mut self.asm; mov ecx, i32::from(u.insn) + 1);
        self.leave(How::Interpret);
    }

    fn jump(&mut self, u: &Uop) {
        self.address(u);
        x64!(&mut self.asm; and rax, -2);
        if self.map.place(u.rd) != Place::Sink {
            let d = match self.map.place(u.rd) {
                Place::Host(d) => d,
                _ => RCX,
            };
            self.constant(d, self.block.end_pc() as i64);
            self.put(u.rd, d);
        }
        let at = self.asm.new_dynamic_label();
        let (table, context) = (self.thunks.jumps, self.block.context_after.0 as i32);
        // The index times the size of an entry: bits 1 and up of the address.
        let mask = ((JUMPS - 1) << 5) as i32;
        x64!(&mut self.asm
            ; mov ecx, eax
            ; shl ecx, 4
            ; and ecx, mask
            ; lea rdx, [extern table]
            ; add rdx, rcx
            ; cmp rax, [rdx]
            ; jne =>at
            ; cmp DWORD [rdx + 8], context
            ; jne =>at
            ; jmp QWORD [rdx + 16]
        );
        self.cold.push(Cold::Computed { at });
    }

    /// The code that is hardly ever reached. Where the static ways out are.
    fn tail(&mut self) -> [usize; 2] {
        // A handler's call has a way out of its own, which comes later.
        while let Some(cold) = self.cold.pop() {
            match cold {
                Cold::Load { at, back, uop, kind, cached, grouped } => {
                    let (info, thunk) = (self.info(&uop), self.thunks.load);
                    x64!(&mut self.asm; =>at);
                    self.address(&uop);
                    x64!(&mut self.asm; mov edx, kind as i32; mov ecx, info; call extern thunk);
                    x64!(&mut self.asm; test edx, edx; jne >trap);
                    let to_f = matches!(uop.kind(), Kind::Flw | Kind::Fld);
                    if grouped {
                        self.fs_dirty = false;
                        self.loaded(&uop, RAX, to_f);
                        self.go_on_after(&uop);
                    } else {
                        if !to_f {
                            self.put(uop.rd, RAX);
                        }
                        self.refill(cached);
                        x64!(&mut self.asm; jmp =>back);
                    }
                    x64!(&mut self.asm; trap:; mov eax, edx);
                    self.leave_with_status(uop.insn);
                }
                Cold::Store { at, back, uop, size_log2, cached, grouped } => {
                    let (info, thunk) = (self.info(&uop), self.thunks.store);
                    let leave = self.asm.new_dynamic_label();
                    x64!(&mut self.asm; =>at);
                    self.address(&uop);
                    self.stored(&uop, RCX);
                    x64!(&mut self.asm; mov [rbx + VALUE], rcx);
                    x64!(&mut self.asm; mov edx, size_log2 as i32; mov ecx, info; call extern thunk);
                    x64!(&mut self.asm; test eax, eax; jne =>leave);
                    if grouped {
                        self.go_on_after(&uop);
                    } else {
                        self.refill(cached);
                        x64!(&mut self.asm; jmp =>back);
                    }
                    x64!(&mut self.asm; =>leave);
                    self.leave_with_status(uop.insn);
                }
                Cold::Handler { at, back, uop, cached } => {
                    x64!(&mut self.asm; =>at);
                    self.call(&uop);
                    self.refill(cached);
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Vector { at, back, uop, first, cached } => {
                    x64!(&mut self.asm; =>at);
                    if first != 0 {
                        x64!(&mut self.asm; mov QWORD [rbx + vector_field().vstart], first as i32);
                    }
                    self.vector(&uop);
                    self.refill(cached);
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Elements { missed, back, uop, cached } => {
                    let all = self.asm.new_dynamic_label();
                    for (at, first) in missed {
                        x64!(&mut self.asm; =>at; mov QWORD [rbx + vector_field().vstart], first as i32; jmp =>all);
                    }
                    x64!(&mut self.asm; =>all);
                    self.vector(&uop);
                    self.refill(cached);
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Tail { at, back, uop, cached } => {
                    let thunk = self.thunks.tail;
                    x64!(&mut self.asm; =>at; mov rax, QWORD uop.imm; call extern thunk);
                    self.refill(cached);
                    x64!(&mut self.asm; jmp =>back);
                }
                Cold::Interpret { at, insn } => {
                    x64!(&mut self.asm; =>at; mov ecx, i32::from(insn));
                    self.leave(How::Interpret);
                }
                Cold::Status { at, insn } => {
                    x64!(&mut self.asm; =>at);
                    self.leave_with_status(insn);
                }
                Cold::Budget { at } => {
                    x64!(&mut self.asm; =>at; add r14, self.block.count as i32);
                    self.leave(How::Budget);
                }
                Cold::Computed { at } => {
                    x64!(&mut self.asm; =>at; mov rcx, rax);
                    self.leave(How::Computed);
                }
            }
        }
        [How::Onwards, How::Taken].map(|how| {
            let at = self.asm.offset().0;
            self.leave(how);
            at
        })
    }

    /// Leaves at an instruction, with the [`How`] in `eax`.
    fn leave_with_status(&mut self, insn: u16) {
        let (number, leave) = (self.site.number as i32, self.thunks.leave);
        x64!(&mut self.asm; mov ecx, i32::from(insn); mov edx, number; jmp extern leave);
    }
}

/// Which division.
struct Divide {
    signed: bool,
    word: bool,
    remainder: bool,
}
