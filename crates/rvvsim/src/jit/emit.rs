//! From a block of micro-ops to host code, in one pass.
//!
//! A template is an optimisation of a micro-op of [`crate::engine`], never a second meaning: `--engine check`
//! runs both. Code that is hardly ever reached (misses, traps, the end of the budget) comes after the block's
//! own.

use super::How;
use super::cached::Cached;
use super::cold::Cold;
use super::fields::{FS_DIRTY, NEXT_PC, PC, VS_DIRTY, float_home, vector_field};
use super::group::Group;
use super::helpers::Info;
use super::registers::{Map, Place, RAX, RCX, RDX};
use super::simd::{self, Operand};
use super::thunks::{JUMPS, Thunks};
use crate::engine::{Block, Kind, Uop};
use crate::mem::{Access, HostTlb, PAGE};
use dynasmrt::x64::X64Relocation;
use dynasmrt::{DynamicLabel, DynasmApi, DynasmLabelApi, VecAssembler, dynasm};
use rvv_isa::{Class, Inst, Vtype, csr};

pub(super) type Asm = VecAssembler<X64Relocation>;

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
    /// A block that leads to itself goes there directly.
    pub loops: bool,
    /// The host has vector registers of 64 bytes.
    pub long: bool,
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
        start: None,
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
    let mut uops = block.uops.as_slice();
    while let Some(uop) = uops.first() {
        let length = e.chain(uops);
        if length == 0 {
            e.uop(uop);
            e.end_group(uop);
        }
        uops = &uops[length.max(1)..];
    }
    let exits = e.tail();
    let expects = e.expects;
    Some(Code { bytes: e.asm.finalize().ok()?, exits, expects })
}

pub(super) struct Emitter<'a> {
    pub(super) asm: Asm,
    pub(super) map: &'a Map,
    pub(super) thunks: &'a Thunks,
    pub(super) site: &'a Site,
    pub(super) block: &'a Block,
    /// Where the block begins, if it leads there itself.
    pub(super) start: Option<DynamicLabel>,
    pub(super) cold: Vec<Cold>,
    /// This block has already noted that floating-point state is written.
    pub(super) fs_dirty: bool,
    /// The same of vector state.
    pub(super) vs_dirty: bool,
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
    pub(super) fn head(&mut self) {
        let at = self.asm.new_dynamic_label();
        let count = self.block.count as i32;
        let runs = self.block.runs.as_ptr() as i64;
        // It is right as long as it runs, so a loop of one block need not ask a word where to go.
        let block = self.block;
        if self.site.loops && (block.taken_pc(), block.context_after) == (block.pc, block.context) {
            let start = self.asm.new_dynamic_label();
            x64!(&mut self.asm; =>start);
            self.start = Some(start);
        }
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

    /// Moves what is at a place to `rax`.
    pub(super) fn get_from(&mut self, place: Place) {
        match place {
            Place::Host(host) => x64!(&mut self.asm; mov rax, Rq(host)),
            Place::Home(home) => x64!(&mut self.asm; mov rax, [BYTE rbx + home]),
            Place::Sink => unreachable!("the sink is never read"),
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

    /// Where to compute `rd = rs1 op rs2` by a host instruction that overwrites its first operand: there is
    /// `rs1` then, and `rs2` still is where it was.
    pub(super) fn first_operand(&mut self, u: &Uop) -> u8 {
        let mut d = self.target(u.rd);
        if u.rs2 != u.rs1 && self.map.place(u.rs2) == Place::Host(d) {
            d = RAX;
        }
        self.get(d, u.rs1);
        d
    }

    pub(super) fn head_of_branch(&mut self, u: &Uop) {
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
    pub(super) fn link(&mut self, which: usize) {
        if let (Some(start), 1) = (self.start, which) {
            return x64!(&mut self.asm; jmp =>start);
        }
        let word = self.site.links[which];
        x64!(&mut self.asm; jmp QWORD [extern word]);
    }

    /// The address of an access in `rax`.
    pub(super) fn address(&mut self, u: &Uop) {
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

    /// Looks the address in `rax` of so many bytes up: the host's address is there then, or `miss` is gone
    /// to. Elements are of `size` bytes.
    pub(super) fn lookup(&mut self, access: Access, bytes: usize, size: usize, miss: DynamicLabel) {
        let table = HostTlb::table_offset(access) as i32;
        self.find_entry(access, bytes, size, miss);
        x64!(&mut self.asm; add rax, [r15 + rcx + table]; add rax, [r15 + rcx + table + 8]);
    }

    /// The same of a scalar access, whose address in the host is then `rcx` and what is returned: a register,
    /// unless there is none, and a distance. So a load waits for its entry and for nothing after that.
    fn lookup_scalar(&mut self, u: &Uop, access: Access, size: usize, miss: DynamicLabel) -> Option<u8> {
        let table = HostTlb::table_offset(access) as i32;
        self.address(u);
        self.find_entry(access, size, size, miss);
        x64!(&mut self.asm; mov rcx, [r15 + rcx + table + 8]);
        match self.map.place(u.rs1) {
            Place::Host(base) => Some(base),
            Place::Home(home) => {
                x64!(&mut self.asm; add rcx, [BYTE rbx + home]);
                None
            }
            Place::Sink => unreachable!("the sink is never read"),
        }
    }

    /// Finds the entry of the address in `rax`, at the start of its table and `rcx`; `rax` is then its
    /// distance from the page.
    fn find_entry(&mut self, access: Access, bytes: usize, size: usize, miss: DynamicLabel) {
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
        );
    }

    /// After a helper: what was in host registers is there again.
    pub(super) fn refill(&mut self, cached: Cached) {
        let mut pieces = cached.all().peekable();
        if cached.base || pieces.peek().is_some() {
            x64!(&mut self.asm; mov rdx, [rbx + vector_field().registers]);
        }
        for (register, at, width) in pieces {
            self.simd(simd::LOAD, width, register, 0, Operand::Memory(RDX, at));
        }
    }

    pub(super) fn load(&mut self, u: &Uop, size: usize, signed: bool) {
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
        let imm = u.imm as i32;
        match self.lookup_scalar(u, Access::Load, size, at) {
            Some(base) => load!(Rq(base) + rcx + imm),
            None => load!(rcx + imm),
        }
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
    pub(super) fn loaded(&mut self, u: &Uop, host: u8, to_f: bool) {
        if !to_f {
            return self.put(u.rd, host);
        }
        if u.kind() == Kind::Flw {
            x64!(&mut self.asm; mov rcx, DWORD -1; shl rcx, 32; or rax, rcx);
        }
        x64!(&mut self.asm; mov [rbx + float_home(u.rd)], rax);
        self.dirty_float();
    }

    pub(super) fn store(&mut self, u: &Uop, size: usize) {
        let from_f = matches!(u.kind(), Kind::Fsw | Kind::Fsd);
        let held = match self.map.place(u.rs2) {
            Place::Host(s) if !from_f => Some(s),
            _ => None,
        };
        macro_rules! store {
            ($($to:tt)*) => {{
                let s = held.unwrap_or_else(|| {
                    self.stored(u, RAX);
                    RAX
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
        let imm = u.imm as i32;
        match self.lookup_scalar(u, Access::Store, size, at) {
            Some(base) => store!(Rq(base) + rcx + imm),
            None => store!(rcx + imm),
        }
        x64!(&mut self.asm; =>back);
        let (size_log2, grouped) = (size.trailing_zeros(), self.group.is_some());
        self.cold.push(Cold::Store { at, back, uop: *u, size_log2, cached: self.cached, grouped });
    }

    /// What a store stores.
    pub(super) fn stored(&mut self, u: &Uop, host: u8) {
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

    pub(super) fn info(&self, u: &Uop) -> i32 {
        Info::new(u.kind(), u.insn, self.block.count).0 as i32
    }

    /// Calls a helper; whatever it says but "go on" ends the block here.
    pub(super) fn helper(&mut self, u: &Uop, thunk: usize) {
        let info = self.info(u);
        let at = self.asm.new_dynamic_label();
        x64!(&mut self.asm; mov ecx, info; call extern thunk; test eax, eax; jne =>at);
        self.cold.push(Cold::Status { at, insn: u.insn });
        self.cached = Cached::default();
    }

    pub(super) fn call(&mut self, u: &Uop) {
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
    pub(super) fn after_vector(&mut self, u: &Uop) {
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

    pub(super) fn leave(&mut self, how: How) {
        let (number, leave) = (self.site.number as i32, self.thunks.leave);
        x64!(&mut self.asm; mov eax, how as i32; mov edx, number; jmp extern leave);
    }

    /// A read of `vl` or `vlenb`; false if it is another instruction. (With `VS` off, its handler traps.)
    pub(super) fn read_csr(&mut self, inst: &Inst) -> bool {
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
    pub(super) fn call_end(&mut self, u: &Uop) {
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
    pub(super) fn interpret_rest(&mut self, u: &Uop) {
        x64!(&mut self.asm; mov ecx, i32::from(u.insn));
        self.leave(How::Interpret);
    }

    /// Leaves after an instruction, for the interpreter to go on with the next.
    pub(super) fn go_on_after(&mut self, u: &Uop) {
        x64!(&mut self.asm; mov ecx, i32::from(u.insn) + 1);
        self.leave(How::Interpret);
    }

    pub(super) fn jump(&mut self, u: &Uop) {
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
}
