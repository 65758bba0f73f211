//! The official Sail model, by the crate `softcore-rv64`, as a judge of one instruction at a time.
//!
//! What the crate's translation from Sail leaves out (`todo!()`) it answers with a panic; [`Sail::covers`]
//! finds out by trying. It has no loads and stores and no decoder of compressed instructions: [`expand`] and
//! [`Memory`] are written here, from the manual, and share nothing with the emulator.

use softcore_rv64::prelude::bv;
use softcore_rv64::raw::{self, regidx};
use softcore_rv64::{Core, ast, config, new_core};
use std::cell::Cell;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

/// The model: registers, pc, and what its instructions do to them.
pub struct Sail {
    core: Core,
    decoded: HashMap<u32, ast>,
}

impl Sail {
    pub fn new() -> Self {
        let mut choice = config::U74;
        let e = &mut choice.extensions;
        e.Zaamo.supported = true;
        e.Zabha.supported = true;
        e.Zalrsc.supported = true;
        e.Zbc.supported = true;
        e.Zbkb.supported = true;
        e.Zbkc.supported = true;
        e.Zbkx.supported = true;
        e.Zbs.supported = true;
        e.Zfa.supported = true;
        e.Zfh.supported = true;
        e.Zfhmin.supported = true;
        e.Zicbom.supported = true;
        e.Zicboz.supported = true;
        e.Zicond.supported = true;
        e.Zifencei.supported = true;
        e.Zimop.supported = true;
        e.Zcmop.supported = true;
        e.Zmmul.supported = true;
        e.Svinval.supported = true;
        let mut core = new_core(choice);
        core.reset();
        // FS on.
        core.mstatus.bits = bv(core.mstatus.bits.bits() | 0x2000);
        Sail { core, decoded: HashMap::new() }
    }

    pub fn x(&mut self, r: u8) -> u64 {
        self.core.get(regidx::Regidx(bv(r.into())))
    }

    pub fn set_x(&mut self, r: u8, value: u64) {
        self.core.set(regidx::Regidx(bv(r.into())), value);
    }

    /// Executes a 32-bit instruction at `pc`, `len` bytes long; the next pc, or nothing if
    /// the model does not know the instruction or it traps.
    pub fn execute(&mut self, word: u32, len: u8, pc: u64) -> Option<u64> {
        self.core.PC = bv(pc);
        self.core.nextPC = bv(pc.wrapping_add(len.into()));
        let core = &mut self.core;
        let decoded = &mut self.decoded;
        let result = catch_unwind(AssertUnwindSafe(|| {
            let instr = *decoded.entry(word).or_insert_with(|| core.decode_instr(word));
            raw::execute(core, instr)
        }));
        match result {
            Ok(softcore_rv64::ExecutionResult::Retire_Success(())) => Some(self.core.nextPC.bits()),
            _ => None,
        }
    }

    /// Whether the model executes this instruction, tried on a few operands.
    pub fn covers(word: u32, len: u8) -> bool {
        let mut sail = Sail::new();
        let word = if len == 2 { expand(word as u16) } else { Some(word) };
        let values = [0, 1, u64::MAX, 0x1234_5678_9abc_def0, 0x8000_0000];
        values.iter().enumerate().all(|(i, &v)| {
            (1..32).for_each(|r| sail.set_x(r, v.rotate_left(u32::from(r) * i as u32)));
            word.is_some_and(|word| sail.execute(word, len, 0x8000_0000).is_some())
        })
    }
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Runs `f` without the message of each panic that it catches. Other threads, which run other tests, keep
/// theirs.
pub fn quietly<T>(f: impl FnOnce() -> T) -> T {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !QUIET.get() {
                hook(info);
            }
        }));
    });
    QUIET.set(true);
    let out = f();
    QUIET.set(false);
    out
}

/// Plain memory for the loads and stores that the model has not.
pub struct Memory {
    pub base: u64,
    pub bytes: Vec<u8>,
}

impl Memory {
    /// Executes a load or store of integer registers; the next pc, or nothing if the word is neither.
    pub fn execute(&mut self, sail: &mut Sail, word: u32, len: u8, pc: u64) -> Option<u64> {
        let (rd, rs1, rs2) = ((word >> 7 & 31) as u8, (word >> 15 & 31) as u8, (word >> 20 & 31) as u8);
        let funct3 = word >> 12 & 7;
        let size = 1 << (funct3 & 3);
        match word & 0x7f {
            0x03 => {
                let at = self.place(sail.x(rs1), (word as i32 >> 20).into());
                let mut le = [0; 8];
                le[..size].copy_from_slice(&self.bytes[at..at + size]);
                let value = u64::from_le_bytes(le);
                let shift = 64 - 8 * size as u32;
                let signed = ((value << shift) as i64 >> shift) as u64;
                sail.set_x(rd, if funct3 & 4 == 0 { signed } else { value });
            }
            0x23 => {
                let imm = (word as i32 >> 25 << 5) | (word >> 7 & 31) as i32;
                let at = self.place(sail.x(rs1), imm.into());
                let value = sail.x(rs2).to_le_bytes();
                self.bytes[at..at + size].copy_from_slice(&value[..size]);
            }
            _ => return None,
        }
        Some(pc.wrapping_add(len.into()))
    }

    fn place(&self, base: u64, offset: i64) -> usize {
        (base.wrapping_add_signed(offset) - self.base) as usize
    }
}

/// What a compressed instruction expands to, by the tables of the manual's chapters on C and Zcb. Nothing for
/// those of floating point.
pub fn expand(half: u16) -> Option<u32> {
    let h = u32::from(half);
    let bit = |from: u32, to: u32| (h >> from & 1) << to;
    let bits = |from: u32, count: u32, to: u32| (h >> from & ((1 << count) - 1)) << to;
    let (rd, rs2) = (h >> 7 & 31, h >> 2 & 31);
    let (rd_p, rs1_p, rs2_p) = (8 + (h >> 2 & 7), 8 + (h >> 7 & 7), 8 + (h >> 2 & 7));
    // Six bits, the sign on top.
    let imm6 = ((bit(12, 31) | bits(2, 5, 26)) as i32 >> 26) as u32;
    let shamt = bit(12, 5) | bits(2, 5, 0);
    let i = |imm: u32, rs1: u32, f3: u32, rd: u32, op: u32| imm << 20 | rs1 << 15 | f3 << 12 | rd << 7 | op;
    let r = |f7: u32, rs2: u32, rs1: u32, f3: u32, rd: u32, op: u32| i(f7 << 5 | rs2, rs1, f3, rd, op);
    let s =
        |imm: u32, rs2: u32, rs1: u32, f3: u32| (imm >> 5) << 25 | rs2 << 20 | i(0, rs1, f3, imm & 31, 0x23);
    let word_offset = bits(10, 3, 3) | bit(6, 2) | bit(5, 6);
    let double_offset = bits(10, 3, 3) | bits(5, 2, 6);
    Some(match (h & 3, h >> 13) {
        (0, 0) if h >> 5 & 0xff != 0 => {
            i(bits(11, 2, 4) | bits(7, 4, 6) | bit(6, 2) | bit(5, 3), 2, 0, rd_p, 0x13)
        }
        (0, 2) => i(word_offset, rs1_p, 2, rd_p, 0x03),
        (0, 3) => i(double_offset, rs1_p, 3, rd_p, 0x03),
        (0, 6) => s(word_offset, rs2_p, rs1_p, 2),
        (0, 7) => s(double_offset, rs2_p, rs1_p, 3),
        (0, 4) => match (h >> 10 & 7, h >> 6 & 1) {
            (0, _) => i(bit(6, 0) | bit(5, 1), rs1_p, 4, rd_p, 0x03),
            (1, 0) => i(bit(5, 1), rs1_p, 5, rd_p, 0x03),
            (1, 1) => i(bit(5, 1), rs1_p, 1, rd_p, 0x03),
            (2, _) => s(bit(6, 0) | bit(5, 1), rs2_p, rs1_p, 0),
            (3, 0) => s(bit(5, 1), rs2_p, rs1_p, 1),
            _ => return None,
        },
        (1, 0) => i(imm6 & 0xfff, rd, 0, rd, 0x13),
        (1, 1) if rd != 0 => i(imm6 & 0xfff, rd, 0, rd, 0x1b),
        (1, 2) => i(imm6 & 0xfff, 0, 0, rd, 0x13),
        // c.mop.N is a nop.
        (1, 3) if h & 0xf8ff == 0x6081 => 0x13,
        (1, 3) if rd == 2 && shamt != 0 => {
            let imm = bit(12, 9) | bit(6, 4) | bit(5, 6) | bits(3, 2, 7) | bit(2, 5);
            i(((imm << 22) as i32 >> 22) as u32 & 0xfff, 2, 0, 2, 0x13)
        }
        (1, 3) if shamt != 0 => imm6 << 12 | rd << 7 | 0x37,
        (1, 4) => match (h >> 10 & 3, h >> 12 & 1, h >> 5 & 3) {
            (0, ..) => i(shamt, rs1_p, 5, rs1_p, 0x13),
            (1, ..) => i(shamt | 0x400, rs1_p, 5, rs1_p, 0x13),
            (2, ..) => i(imm6 & 0xfff, rs1_p, 7, rs1_p, 0x13),
            (_, 0, 0) => r(0x20, rs2_p, rs1_p, 0, rs1_p, 0x33),
            (_, 0, 1) => r(0, rs2_p, rs1_p, 4, rs1_p, 0x33),
            (_, 0, 2) => r(0, rs2_p, rs1_p, 6, rs1_p, 0x33),
            (_, 0, _) => r(0, rs2_p, rs1_p, 7, rs1_p, 0x33),
            (_, 1, 0) => r(0x20, rs2_p, rs1_p, 0, rs1_p, 0x3b),
            (_, 1, 1) => r(0, rs2_p, rs1_p, 0, rs1_p, 0x3b),
            (_, 1, 2) => r(1, rs2_p, rs1_p, 0, rs1_p, 0x33),
            _ => match h >> 2 & 7 {
                0 => i(0xff, rs1_p, 7, rs1_p, 0x13),
                1 => i(0x604, rs1_p, 1, rs1_p, 0x13),
                2 => r(4, 0, rs1_p, 4, rs1_p, 0x3b),
                3 => i(0x605, rs1_p, 1, rs1_p, 0x13),
                4 => r(4, 0, rs1_p, 0, rs1_p, 0x3b),
                5 => i(0xfff, rs1_p, 4, rs1_p, 0x13),
                _ => return None,
            },
        },
        (1, 5) => {
            let imm = bit(12, 11) | bit(11, 4) | bits(9, 2, 8) | bit(8, 10) | bit(7, 6) | bit(6, 7);
            let imm = imm | bits(3, 3, 1) | bit(2, 5);
            let imm = ((imm << 20) as i32 >> 20) as u32;
            (imm >> 20 & 1) << 31
                | (imm >> 1 & 0x3ff) << 21
                | (imm >> 11 & 1) << 20
                | (imm >> 12 & 0xff) << 12
                | 0x6f
        }
        (1, f3 @ (6 | 7)) => {
            let imm = bit(12, 8) | bits(10, 2, 3) | bits(5, 2, 6) | bits(3, 2, 1) | bit(2, 5);
            let imm = ((imm << 23) as i32 >> 23) as u32;
            let high = (imm >> 12 & 1) << 31 | (imm >> 5 & 0x3f) << 25;
            high | rs1_p << 15 | (f3 - 6) << 12 | (imm >> 1 & 15) << 8 | (imm >> 11 & 1) << 7 | 0x63
        }
        (2, 0) => i(shamt, rd, 1, rd, 0x13),
        (2, 2) if rd != 0 => i(bit(12, 5) | bits(4, 3, 2) | bits(2, 2, 6), 2, 2, rd, 0x03),
        (2, 3) if rd != 0 => i(bit(12, 5) | bits(5, 2, 3) | bits(2, 3, 6), 2, 3, rd, 0x03),
        (2, 4) => match (h >> 12 & 1, rd, rs2) {
            (0, 0, 0) | (1, 0, 0) => return None,
            (0, _, 0) => i(0, rd, 0, 0, 0x67),
            (1, _, 0) => i(0, rd, 0, 1, 0x67),
            (0, ..) => r(0, rs2, 0, 0, rd, 0x33),
            _ => r(0, rs2, rd, 0, rd, 0x33),
        },
        (2, 6) => s(bits(9, 4, 2) | bits(7, 2, 6), rs2, 2, 2),
        (2, 7) => s(bits(10, 3, 3) | bits(7, 3, 6), rs2, 2, 3),
        _ => return None,
    })
}
