//! From instructions to micro-ops.

use super::block::{Block, Context, Link};
use super::uop::{Kind, Uop, Uops};
use crate::Hart;
use crate::hart::RegFile;
use crate::mem::{PAGE, Target};
use crate::scalar::{self, Execution, Flow, Handler, integer};
use crate::trap::{Cause, Exec, MISSING_EXTENSION, Trap};
use crate::vector::{self, FastPath};
use rvv_isa::{Chapter, Class, Ext, Inst, Op, Vtype};
use std::cell::Cell;

/// Longest block, in instructions.
const LONGEST: usize = 128;

impl Context {
    const FS: u32 = 1 << 9;
    const VS: u32 = 1 << 10;
    const VILL: u32 = 1 << 8;
    const COMPRESSED: u32 = 1 << 11;
    const FLAGS: u32 = Self::FS | Self::VS | Self::COMPRESSED;

    /// The hart's context now.
    pub fn of(hart: &Hart) -> Context {
        let flag = |on: bool, flag: u32| if on { flag } else { 0 };
        let flags = Context(
            flag(hart.fs_enabled(), Self::FS)
                | flag(hart.vs_enabled(), Self::VS)
                | flag(hart.csr.compressed(), Self::COMPRESSED),
        );
        flags.with_vtype(hart.v.vtype)
    }

    fn with_vtype(self, vtype: Vtype) -> Context {
        let bits = vtype.to_bits();
        let vill = if bits >> 63 != 0 { Self::VILL } else { 0 };
        Context(self.0 & Self::FLAGS | vill | bits as u32 & 0xff)
    }

    fn fs(self) -> bool {
        self.0 & Self::FS != 0
    }

    pub(crate) fn vs(self) -> bool {
        self.0 & Self::VS != 0
    }

    fn compressed(self) -> bool {
        self.0 & Self::COMPRESSED != 0
    }
}

/// Collects one block.
struct Builder {
    pc: u64,
    bytes: u16,
    context: Context,
    vtype: Vtype,
    uops: Vec<Uop>,
    insts: Vec<(u16, Inst)>,
    calls: Vec<Handler>,
    vectors: Vec<vector::VInst>,
    faults: Vec<Trap>,
}

/// Decodes the block at `pc`: up to a jump, the end of the page, or `most` instructions.
///
/// # Errors
/// The fault of fetching the first instruction. A later one that cannot be fetched ends the block
/// before it, and faults when it is reached.
pub fn translate(hart: &mut Hart, pc: u64, context: Context, most: usize) -> Exec<Block> {
    let mut b = Builder {
        pc,
        bytes: 0,
        context,
        vtype: hart.v.vtype,
        uops: Vec::new(),
        insts: Vec::new(),
        calls: Vec::new(),
        vectors: Vec::new(),
        faults: Vec::new(),
    };
    let vtype = Some(hart.v.vtype).filter(|vtype| !vtype.vill);
    let offset = match hart.fetch_target(pc)? {
        Target::Ram(offset) => Some(offset),
        Target::Device(_) => None,
    };
    let on_page = PAGE - pc % PAGE;
    let mut straddles = None;
    let most = most.min(LONGEST);
    loop {
        let at = pc.wrapping_add(u64::from(b.bytes));
        if u64::from(b.bytes) == on_page || b.insts.len() == most {
            b.finish(Kind::Continue);
            break;
        }
        let low = match hart.fetch_parcel(at) {
            Err(_) if !b.insts.is_empty() => {
                b.finish(Kind::Continue);
                break;
            }
            low => low?,
        };
        let mut word = u32::from(low);
        if low & 3 == 3 {
            if u64::from(b.bytes) + 2 == on_page {
                // It goes on on the next page, which may be elsewhere, or not be: a separate block.
                if !b.insts.is_empty() {
                    b.finish(Kind::Continue);
                    break;
                }
                let second = pc.wrapping_add(2);
                if let Target::Ram(o) = hart.fetch_target(second)? {
                    straddles = Some(o);
                }
            }
            match hart.fetch_parcel(at.wrapping_add(2)) {
                Err(_) if !b.insts.is_empty() => {
                    b.finish(Kind::Continue);
                    break;
                }
                high => word |= u32::from(high?) << 16,
            }
        }
        if !b.instruction(hart, word) || straddles.is_some() {
            if b.uops.last().is_none_or(|u| !u.kind().ends()) {
                b.finish(Kind::Continue);
            }
            break;
        }
    }
    Ok(Block {
        pc,
        context,
        vtype,
        context_after: b.context.with_vtype(b.vtype),
        offset,
        bytes: usize::from(b.bytes),
        straddles,
        id: 0,
        serial: 0,
        generation: 0,
        count: b.insts.len() as u32,
        uops: Uops::new(b.uops, b.vectors),
        insts: b.insts.into(),
        calls: b.calls.into(),
        faults: b.faults.into(),
        runs: Box::new(Cell::new(0)),
        waits: Cell::new(false),
        expected: Cell::default(),
        surprised: Cell::new(0),
        compiled: Cell::new(None),
        links: [const { Cell::new(Link::NONE) }; 2],
    })
}

impl Builder {
    fn push(&mut self, kind: Kind, i: &Inst, idx: usize, imm: i64) {
        let to_f = matches!(kind, Kind::Flw | Kind::Fld);
        let rd = if i.rd == 0 && !to_f { RegFile::SINK } else { i.rd };
        let mut uop = Uop::new(kind, self.insts.len() as u16 - 1);
        (uop.rd, uop.rs1, uop.rs2, uop.idx, uop.imm) = (rd, i.rs1, i.rs2, idx as u16, imm);
        self.uops.push(uop);
    }

    fn finish(&mut self, kind: Kind) {
        self.uops.push(Uop::new(kind, self.insts.len() as u16));
    }

    fn fault(&mut self, i: &Inst, trap: Trap) -> bool {
        self.faults.push(trap);
        self.push(Kind::Fault, i, self.faults.len() - 1, 0);
        false
    }

    /// Adds one instruction; false if the block ends with it.
    fn instruction(&mut self, hart: &Hart, word: u32) -> bool {
        let len = if word & 3 == 3 { 4 } else { 2 };
        let at = self.pc.wrapping_add(u64::from(self.bytes));
        let decoded = hart.decode(word);
        let placeholder = Inst { len, raw: word, ..Inst::new(Op::Ebreak) };
        let i = decoded.unwrap_or(placeholder);
        self.insts.push((self.bytes, i));
        self.bytes += u16::from(len);
        let Some(i) = decoded else {
            let why = match rvv_isa::decode(word) {
                Some(_) if len == 2 && hart.config.isa.has(Ext::Zca) => {
                    "a compressed instruction while misa.C is clear"
                }
                Some(_) => MISSING_EXTENSION,
                None => vector::reserved_encoding(word).unwrap_or(
                    "not an instruction of any extension this machine knows, or a reserved encoding",
                ),
            };
            return self.fault(&placeholder, Trap::illegal(word, why));
        };
        // All that touch `f` registers or `fcsr` need FS on, but for CSR accesses, which check for
        // themselves.
        if !self.context.fs() && i.op.is_float() {
            return self
                .fault(&i, Trap::illegal(word, "a floating-point instruction while mstatus.FS is off"));
        }
        let Chapter::Scalar(op) = i.op.chapter() else { return self.vector(hart, &i) };
        match scalar::execution(op) {
            Execution::Jump(kind) => self.jump(kind, &i, at),
            Execution::MicroOp(kind) => {
                let (kind, imm) = simplest(kind, &i, at);
                let no_effect = i.rd == 0 && kind.writes_x();
                self.push(if no_effect { Kind::Nop } else { kind }, &i, 0, imm);
                true
            }
            Execution::Call(handler, flow) => self.call(handler, flow, &i),
        }
    }

    fn call(&mut self, handler: Handler, flow: Flow, i: &Inst) -> bool {
        self.calls.push(handler);
        // CSR accesses end a block because a write may change anything. These are read, after loads that set
        // `vl`.
        let flow = if scalar::reads_vector_length(i) { Flow::Next } else { flow };
        let kind = if flow == Flow::Next { Kind::Call } else { Kind::CallEnd };
        self.push(kind, i, self.calls.len() - 1, 0);
        flow == Flow::Next
    }

    fn vector(&mut self, hart: &Hart, i: &Inst) -> bool {
        if !self.context.vs() {
            return self.fault(i, Trap::illegal(i.raw, "a vector instruction while mstatus.VS is off"));
        }
        let vinst = match vector::translate(&hart.config, i, self.vtype) {
            Ok(vinst) => vinst,
            Err(why) => return self.fault(i, Trap::illegal(i.raw, why)),
        };
        let kind = match vinst.fast_path() {
            FastPath::No => Kind::Vector,
            FastPath::Map => Kind::Map,
            FastPath::MapScalar => Kind::MapScalar,
            FastPath::Float => Kind::FloatMap,
            FastPath::FloatScalar => Kind::FloatMapScalar,
            FastPath::Word { .. } | FastPath::Test { .. } | FastPath::Reduce => Kind::Word,
            FastPath::Load => Kind::VectorLoad,
            FastPath::Store => Kind::VectorStore,
            FastPath::SetVl => Kind::SetVl,
        };
        self.vectors.push(vinst);
        let idx = self.vectors.len() - 1;
        if i.op.class() == Class::VectorConfig {
            match vector::next_vtype(&hart.config, i, self.vtype) {
                Some(vtype) if !vtype.vill => self.vtype = vtype,
                // What sets vill is remembered, with its address.
                _ => {
                    self.push(Kind::VectorEnd, i, idx, 0);
                    return false;
                }
            }
        }
        self.push(kind, i, idx, 0);
        true
    }

    /// Adds a jump or branch, with which the block ends.
    fn jump(&mut self, kind: Kind, i: &Inst, at: u64) -> bool {
        let target = at.wrapping_add_signed(i64::from(i.imm));
        if !self.context.compressed() && (kind == Kind::Jalr || target % 4 != 0) {
            return self.call(jump_ialign32, Flow::End, i);
        }
        let imm = if kind == Kind::Jalr { i64::from(i.imm) } else { target as i64 };
        self.push(kind, i, 0, imm);
        false
    }
}

/// Jumps and branches without the C extension, where a target that is not a multiple of four traps
/// at the jump ("instruction-address-misaligned exception is generated on a taken branch or
/// unconditional jump if the target address is not IALIGN-bit aligned").
fn jump_ialign32(h: &mut Hart, i: &Inst) -> Exec {
    let (a, b) = (h.x[i.rs1], h.x[i.rs2]);
    let taken = match i.op.base() {
        Op::Beq => integer::beq(a, b),
        Op::Bne => integer::bne(a, b),
        Op::Blt => integer::blt(a, b),
        Op::Bge => integer::bge(a, b),
        Op::Bltu => integer::bltu(a, b),
        Op::Bgeu => integer::bgeu(a, b),
        _ => true,
    };
    let from = if i.op.base() == Op::Jalr { a } else { h.pc };
    let target = from.wrapping_add_signed(i64::from(i.imm)) & !1;
    if taken {
        if target % 4 != 0 {
            let why = "jump to an address that is not a multiple of four, without the C extension";
            return Err(Trap::new(Cause::InstructionAddressMisaligned, target, why));
        }
        if matches!(i.op.base(), Op::Jal | Op::Jalr) {
            h.set_x(i.rd, h.next_pc);
        }
        h.next_pc = target;
    }
    Ok(())
}

/// The simplest micro-op for an instruction with these operands, and its immediate.
fn simplest(kind: Kind, i: &Inst, at: u64) -> (Kind, i64) {
    let imm = i64::from(i.imm);
    match kind {
        Kind::Const if i.op.base() == Op::Auipc => (kind, at.wrapping_add_signed(imm) as i64),
        Kind::Addi if i.rs1 == 0 => (Kind::Const, imm),
        Kind::Addi if imm == 0 => (Kind::Mv, imm),
        _ => (kind, imm),
    }
}
