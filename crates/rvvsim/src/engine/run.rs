//! The loop that runs blocks.

use super::block::{Block, Context};
use super::translate::translate;
use super::uop::{Kind, Uop};
use super::{Engine, Stop};
use crate::Hart;
use crate::fp;
use crate::mem::Scalar;
use crate::trap::{Exec, Trap};

/// How a block ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// At its static successor `at`, onwards.
    Onwards,
    /// At its static successor `at`, taken.
    Taken,
    /// At a computed address `at`, in the context known for its end.
    Computed,
    /// After an instruction that may have changed anything: `hart.pc` is set.
    Anything,
    /// At instruction number `at`, which trapped.
    Trap,
    /// Early, before instruction number `at`: `hart.resync` was set by the one before it.
    Early,
}

/// How a block ended, and where. Small, so that it stays in registers: a trap is put elsewhere.
#[derive(Clone, Copy)]
struct End {
    how: How,
    at: u64,
}

impl End {
    #[inline(always)]
    fn new(how: How, at: u64) -> End {
        End { how, at }
    }

    /// At instruction `insn`, which trapped.
    #[inline(always)]
    fn trap(place: &mut Option<Trap>, insn: u16, trap: Trap) -> End {
        *place = Some(trap);
        End::new(How::Trap, u64::from(insn))
    }
}

/// The trap of a block that ended in one.
fn trapped(trap: Option<Trap>) -> Stop {
    trap.map_or(Stop::Budget, Stop::Trap)
}

impl Engine {
    /// Runs up to `budget` instructions, or fewer where a whole block would pass it, but at least one
    /// unless something stops it.
    pub fn run(&mut self, hart: &mut Hart, budget: u64) -> Stop {
        let stop = self.run_blocks(hart, budget);
        hart.retired_in_block = 0;
        stop
    }

    fn run_blocks(&mut self, hart: &mut Hart, budget: u64) -> Stop {
        let mut left = budget;
        let mut trap = None;
        loop {
            hart.retired_in_block = 0;
            let mut context = Context::of(hart);
            let mut id = match self.cache.find(hart, hart.pc, context) {
                Ok(id) => id,
                Err(trap) => return Stop::Trap(trap),
            };
            // Inside, only blocks that follow one another with nothing surprising in between.
            loop {
                let block = self.cache.block(id);
                let count = block.insts.len() as u64;
                if count > left {
                    hart.retired_in_block = 0;
                    if left < budget {
                        hart.pc = block.pc;
                        return Stop::Budget;
                    }
                    return self.run_part(hart, block.pc, context, left as usize);
                }
                let End { how, at } = exec_block(hart, block, &mut trap);
                if matches!(how, How::Trap | How::Early) {
                    hart.pc = block.pc_of(at as u16);
                    hart.instret += at;
                    left -= at;
                    self.cache.ran(id, at as usize);
                    if how == How::Trap {
                        return trapped(trap);
                    }
                    break;
                }
                hart.instret += count;
                left -= count;
                context = block.context_after;
                let next = match how {
                    How::Onwards => self.cache.passed(id, 0),
                    How::Taken => self.cache.passed(id, 1),
                    How::Computed => {
                        self.cache.ran(id, count as usize);
                        self.cache.jump(at, context)
                    }
                    _ => {
                        self.cache.ran(id, count as usize);
                        break;
                    }
                };
                id = match next {
                    Some(next) => next,
                    None => match self.cache.find(hart, at, context) {
                        Ok(next) => {
                            if how != How::Computed {
                                self.cache.link(id, usize::from(how == How::Taken), next);
                            }
                            next
                        }
                        Err(trap) => {
                            hart.pc = at;
                            return Stop::Trap(trap);
                        }
                    },
                };
            }
            if std::mem::take(&mut hart.resync) || left == 0 {
                return Stop::Budget;
            }
        }
    }

    /// Runs exactly `most` instructions of a block that is longer, without keeping it.
    fn run_part(&mut self, hart: &mut Hart, pc: u64, context: Context, most: usize) -> Stop {
        self.cache.sync(hart);
        let block = match translate(hart, pc, context, most) {
            Ok(block) => block,
            Err(trap) => {
                hart.pc = pc;
                return Stop::Trap(trap);
            }
        };
        let mut trap = None;
        let End { how, at } = exec_block(hart, &block, &mut trap);
        hart.retired_in_block = 0;
        hart.resync = false;
        let retired = match how {
            How::Trap | How::Early => at as usize,
            _ => block.insts.len(),
        };
        hart.instret += retired as u64;
        self.cache.ran_once(&block.insts[..retired]);
        match how {
            How::Trap | How::Early => hart.pc = block.pc_of(at as u16),
            How::Onwards | How::Taken | How::Computed => hart.pc = at,
            How::Anything => {}
        }
        trapped(trap)
    }

    /// Executes one instruction; see [`Hart::log`] for what it did.
    pub fn step(&mut self, hart: &mut Hart) -> Stop {
        let context = Context::of(hart);
        self.run_part(hart, hart.pc, context, 1)
    }
}

/// Runs a block from its start.
#[inline(always)]
fn exec_block(h: &mut Hart, block: &Block, trap: &mut Option<Trap>) -> End {
    for u in &block.uops {
        let a = h.x[u.rs1];
        let b = h.x[u.rs2];
        let imm = u.imm as u64;
        let value = match u.kind {
            Kind::Nop => continue,
            Kind::Const => imm,
            Kind::Mv => a,
            Kind::Addi => a.wrapping_add(imm),
            Kind::Slti => u64::from((a as i64) < imm as i64),
            Kind::Sltiu => u64::from(a < imm),
            Kind::Xori => a ^ imm,
            Kind::Ori => a | imm,
            Kind::Andi => a & imm,
            Kind::Slli => a << (imm & 63),
            Kind::Srli => a >> (imm & 63),
            Kind::Srai => (a as i64 >> (imm & 63)) as u64,
            Kind::Addiw => sext32(a.wrapping_add(imm)),
            Kind::Slliw => sext32(a << (imm & 31)),
            Kind::Srliw => sext32(u64::from(a as u32 >> (imm & 31))),
            Kind::Sraiw => (i64::from(a as i32) >> (imm & 31)) as u64,
            Kind::Add => a.wrapping_add(b),
            Kind::Sub => a.wrapping_sub(b),
            Kind::Sll => a << (b & 63),
            Kind::Slt => u64::from((a as i64) < b as i64),
            Kind::Sltu => u64::from(a < b),
            Kind::Xor => a ^ b,
            Kind::Srl => a >> (b & 63),
            Kind::Sra => (a as i64 >> (b & 63)) as u64,
            Kind::Or => a | b,
            Kind::And => a & b,
            Kind::Addw => sext32(a.wrapping_add(b)),
            Kind::Subw => sext32(a.wrapping_sub(b)),
            Kind::Sllw => sext32(a << (b & 31)),
            Kind::Srlw => sext32(u64::from(a as u32 >> (b & 31))),
            Kind::Sraw => (i64::from(a as i32) >> (b & 31)) as u64,
            Kind::Mul => a.wrapping_mul(b),
            Kind::Mulh => ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64,
            Kind::Mulhsu => ((i128::from(a as i64) * i128::from(b)) >> 64) as u64,
            Kind::Mulhu => ((u128::from(a) * u128::from(b)) >> 64) as u64,
            Kind::Mulw => sext32(a.wrapping_mul(b)),
            // Division by zero and overflow have results, not traps (M extension, table "Semantics for
            // division by zero and division overflow").
            Kind::Div => match b as i64 {
                0 => u64::MAX,
                d => (a as i64).wrapping_div(d) as u64,
            },
            Kind::Divu => a.checked_div(b).unwrap_or(u64::MAX),
            Kind::Rem => match b as i64 {
                0 => a,
                d => (a as i64).wrapping_rem(d) as u64,
            },
            Kind::Remu => a.checked_rem(b).unwrap_or(a),
            Kind::Divw => match b as i32 {
                0 => u64::MAX,
                d => i64::from((a as i32).wrapping_div(d)) as u64,
            },
            Kind::Divuw => sext32(u64::from((a as u32).checked_div(b as u32).unwrap_or(u32::MAX))),
            Kind::Remw => match b as i32 {
                0 => sext32(a),
                d => i64::from((a as i32).wrapping_rem(d)) as u64,
            },
            Kind::Remuw => sext32(u64::from((a as u32).checked_rem(b as u32).unwrap_or(a as u32))),
            Kind::Sh1add => (a << 1).wrapping_add(b),
            Kind::Sh2add => (a << 2).wrapping_add(b),
            Kind::Sh3add => (a << 3).wrapping_add(b),
            Kind::AddUw => u64::from(a as u32).wrapping_add(b),
            Kind::Lb => match load::<u8>(h, u) {
                Ok(v) => v as i8 as u64,
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Lh => match load::<u16>(h, u) {
                Ok(v) => v as i16 as u64,
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Lw => match load::<u32>(h, u) {
                Ok(v) => v as i32 as u64,
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Ld => match load::<u64>(h, u) {
                Ok(v) => v,
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Lbu => match load::<u8>(h, u) {
                Ok(v) => u64::from(v),
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Lhu => match load::<u16>(h, u) {
                Ok(v) => u64::from(v),
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Lwu => match load::<u32>(h, u) {
                Ok(v) => u64::from(v),
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Sb => match store(h, u, b as u8, trap) {
                None => continue,
                Some(end) => return end,
            },
            Kind::Sh => match store(h, u, b as u16, trap) {
                None => continue,
                Some(end) => return end,
            },
            Kind::Sw => match store(h, u, b as u32, trap) {
                None => continue,
                Some(end) => return end,
            },
            Kind::Sd => match store(h, u, b, trap) {
                None => continue,
                Some(end) => return end,
            },
            Kind::Flw => match load::<u32>(h, u) {
                Ok(v) => {
                    h.set_f(u.rd, fp::box_f32(v));
                    continue;
                }
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Fld => match load::<u64>(h, u) {
                Ok(v) => {
                    h.set_f(u.rd, v);
                    continue;
                }
                Err(t) => return End::trap(trap, u.insn, t),
            },
            Kind::Fsw => match store(h, u, h.f[u.rs2] as u32, trap) {
                None => continue,
                Some(end) => return end,
            },
            Kind::Fsd => match store(h, u, h.f[u.rs2], trap) {
                None => continue,
                Some(end) => return end,
            },
            Kind::Call => {
                h.retired_in_block = u32::from(u.insn);
                let inst = &block.insts[usize::from(u.insn)].1;
                if let Err(t) = block.calls[usize::from(u.idx)](h, inst) {
                    return End::trap(trap, u.insn, t);
                }
                if h.resync {
                    return End::new(How::Early, u64::from(u.insn) + 1);
                }
                continue;
            }
            Kind::CallEnd => {
                h.retired_in_block = u32::from(u.insn);
                h.pc = block.pc_of(u.insn);
                h.next_pc = block.pc_of(u.insn + 1);
                let inst = &block.insts[usize::from(u.insn)].1;
                if let Err(t) = block.calls[usize::from(u.idx)](h, inst) {
                    return End::trap(trap, u.insn, t);
                }
                h.pc = h.next_pc;
                return End::new(How::Anything, 0);
            }
            Kind::Lanes => {
                let vinst = &block.vectors[usize::from(u.idx)];
                if vinst.run_quickly(h) {
                    continue;
                }
                h.retired_in_block = u32::from(u.insn);
                if let Err(t) = (vinst.run)(h, vinst) {
                    return End::trap(trap, u.insn, t);
                }
                continue;
            }
            Kind::Vector => {
                h.retired_in_block = u32::from(u.insn);
                let vinst = &block.vectors[usize::from(u.idx)];
                if let Err(t) = (vinst.run)(h, vinst) {
                    return End::trap(trap, u.insn, t);
                }
                if h.resync {
                    return End::new(How::Early, u64::from(u.insn) + 1);
                }
                continue;
            }
            Kind::VectorEnd => {
                h.retired_in_block = u32::from(u.insn);
                let vinst = &block.vectors[usize::from(u.idx)];
                if let Err(t) = (vinst.run)(h, vinst) {
                    return End::trap(trap, u.insn, t);
                }
                h.pc = block.pc_of(u.insn + 1);
                return End::new(How::Anything, 0);
            }
            Kind::Beq => return branch(block, u, a == b),
            Kind::Bne => return branch(block, u, a != b),
            Kind::Blt => return branch(block, u, (a as i64) < b as i64),
            Kind::Bge => return branch(block, u, a as i64 >= b as i64),
            Kind::Bltu => return branch(block, u, a < b),
            Kind::Bgeu => return branch(block, u, a >= b),
            Kind::Jal => {
                h.x[u.rd] = block.end_pc();
                return End::new(How::Taken, imm);
            }
            Kind::Jalr => {
                h.x[u.rd] = block.end_pc();
                return End::new(How::Computed, a.wrapping_add(imm) & !1);
            }
            Kind::Continue => return End::new(How::Onwards, block.end_pc()),
            Kind::Fault => return End::trap(trap, u.insn, block.faults[usize::from(u.idx)]),
        };
        h.x[u.rd] = value;
    }
    unreachable!("every block ends in a micro-op that leaves it")
}

#[inline(always)]
fn sext32(v: u64) -> u64 {
    v as i32 as u64
}

#[inline(always)]
fn load<T: Scalar>(h: &mut Hart, u: &Uop) -> Exec<T> {
    let va = h.x[u.rs1].wrapping_add(u.imm as u64);
    if let Some(value) = h.load_remembered(va) {
        return Ok(value);
    }
    // It may be a device that tells the time.
    h.retired_in_block = u32::from(u.insn);
    h.load_slow(va, T::SIZE).map(T::from_u64)
}

/// `None` when execution goes on.
#[inline(always)]
fn store<T: Scalar>(h: &mut Hart, u: &Uop, value: T, trap: &mut Option<Trap>) -> Option<End> {
    let va = h.x[u.rs1].wrapping_add(u.imm as u64);
    if h.store_remembered(va, value).is_some() {
        return None;
    }
    h.retired_in_block = u32::from(u.insn);
    match h.store_slow(va, T::SIZE, value.to_u64()) {
        Ok(()) if !h.resync => None,
        Ok(()) => Some(End::new(How::Early, u64::from(u.insn) + 1)),
        Err(t) => Some(End::trap(trap, u.insn, t)),
    }
}

#[inline(always)]
fn branch(block: &Block, u: &Uop, taken: bool) -> End {
    if taken { End::new(How::Taken, u.imm as u64) } else { End::new(How::Onwards, block.end_pc()) }
}
