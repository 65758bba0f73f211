//! Streams on `rvvsim`, in process: two machines that are set to a stream's initial state and step through it
//! side by side. One keeps agnostic elements, the other overwrites them with ones; where their registers
//! differ is what the manual leaves open.

use super::dump::{MOST_TRAPS, Places};
use super::init::{Start, indices};
use super::layout::*;
use super::runtime::Environment;
use super::stream::{Code, CodeError, Stream, size};
use super::sum;
use rvv_asm::ElfWriter;
use rvv_isa::{Class, Inst, Op, Vtype, csr};
use rvvsim::Stop;
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use rvvsim::observe::{self, Observer};
use rvvsim::vector::{Footprint, footprint};
use rvvsim::{Cause, Config, Hart, Machine, Trap};
use rvvsim::{CsrFile, Privilege};
use std::ops::Range;

/// No stream executes so many instructions.
const MOST_INSNS: u64 = 20_000;

/// Why a stream is not one to compare.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Violation {
    /// An instruction would read bits that the manual leaves open.
    #[error("the instruction at {pc:#x} reads agnostic elements")]
    ReadsAgnostic {
        /// The instruction.
        pc: u64,
    },
    /// A `vset{i}vl{i}` where an implementation chooses `vl`, or may do anything.
    #[error("the instruction at {pc:#x} leaves vl to the implementation")]
    LeavesChoice {
        /// The instruction.
        pc: u64,
    },
    /// What the manual leaves open has reached something else.
    #[error("agnostic elements have changed {what}")]
    Leaked {
        /// What it changed.
        what: String,
    },
    /// An access outside of the sandbox and the guard behind it.
    #[error("the instruction at {pc:#x} accesses {address:#x}, outside of the sandbox")]
    Escaped {
        /// The instruction.
        pc: u64,
        /// Where it went.
        address: u64,
    },
    /// It does not end.
    #[error("it does not end within {MOST_INSNS} instructions")]
    Endless,
    /// It has no machine code.
    #[error(transparent)]
    Code(#[from] CodeError),
    /// The engine that runs blocks and the one that steps differ: a bug of `rvvsim`.
    #[error("rvvsim differs from itself: {what}")]
    Engines {
        /// In what.
        what: String,
    },
}

/// What the manual leaves open about a byte of the vector registers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Open {
    /// Nothing.
    No,
    /// The bits in which the two dumps differ, which are the tail of a mask.
    Bits,
    /// All: a load that trapped or was trimmed may have written it or not.
    Free,
    /// The bits in which the two dumps differ: it was free, and a mask has been written over the others.
    FreeBits,
    /// Whether an element of so many bytes is kept or all ones.
    Element(u8),
    /// The value of an unordered sum, within the range of this number in [`Ran::sums`].
    Sum(u8),
}

/// The range of an unordered sum.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sum {
    /// The least value; NaN if anything goes.
    pub low: f64,
    /// The greatest.
    pub high: f64,
    /// Its bytes.
    pub size: u8,
}

/// What a stream did.
#[derive(Clone, Debug)]
pub struct Ran {
    /// VLEN.
    pub vlen: u32,
    /// Its dump, with agnostic elements kept.
    pub kept: Vec<u64>,
    /// The dump with agnostic elements overwritten. Differs in the vector registers only.
    pub ones: Vec<u64>,
    /// What is open about each byte of the vector registers.
    pub open: Vec<Open>,
    /// Unordered sums that [`Ran::open`] speaks of.
    pub sums: Vec<Sum>,
    /// Accrued exception flags that depend on the order of an unordered sum.
    pub loose_flags: u8,
    /// Why its traps came, in order: the rules that were broken.
    pub whys: Vec<&'static str>,
    /// Instructions executed, vector ones among them.
    pub executed: u64,
    /// Vector instructions executed.
    pub vector: u64,
}

/// A machine, with what it is reset to.
struct Side {
    machine: Machine,
    csr: CsrFile,
}

/// The two machines.
pub struct Lab {
    vlen: u32,
    config: Config,
    kept: Side,
    ones: Side,
    traps: Vec<[u64; 4]>,
    trap_count: u64,
    whys: Vec<&'static str>,
    open: Vec<Open>,
    sums: Vec<Sum>,
    loose_flags: u8,
    /// What the machines are to be: M-mode, or U-mode under something like Linux.
    environment: Environment,
    /// Where the code ends that has been written.
    end: u64,
    executed: u64,
    vector: u64,
}

impl Side {
    fn new(config: Config) -> Side {
        let mut elf = ElfWriter::new(CODE);
        elf.segment(INDICES, indices().to_vec(), 4);
        let elf = elf.finish();
        let image = Image::parse(&elf).expect("the writer writes ELFs");
        let mut machine = Machine::bare(config, &image).expect("112 MiB of address space");
        let hart = machine.hart_mut();
        hart.write_csr(csr::MSTATUS, 3 << 13 | 3 << 9);
        // Locked, so that they hold for M-mode: code and indices, the sandbox, and nothing else.
        let napot = |start: u64, size: u64| start >> 2 | (size / 2 - 1) >> 2;
        hart.write_csr(csr::PMPADDR0, napot(0x8000_0000, 0x40_0000));
        hart.write_csr(csr::PMPADDR0 + 1, napot(SANDBOX, SANDBOX_SIZE));
        hart.write_csr(csr::PMPADDR0 + 2, u64::MAX);
        hart.write_csr(csr::PMPCFG0, 0x9d | 0x9b << 8 | 0x98 << 16);
        // A process may use all cache-block instructions.
        hart.write_csr(csr::MENVCFG, 0xf0);
        hart.write_csr(csr::SENVCFG, 0xf0);
        let csr = hart.csrs().clone();
        Side { machine, csr }
    }

    fn reset(&mut self, start: &Start, pc: u64, environment: Environment) {
        let hart = self.machine.hart_mut();
        for r in 1..32u8 {
            hart.set_x(r, start.x[usize::from(r)]);
        }
        for r in 0..32u8 {
            hart.set_f(r, start.f[usize::from(r)]);
        }
        hart.write_csr(csr::FCSR, start.fcsr.into());
        let v = hart.vector_mut();
        v.registers_mut()[..start.v.len()].copy_from_slice(&start.v);
        v.vtype = Vtype::from_bits(start.vtype);
        (v.vl, v.vstart) = (start.avl, 0);
        (v.vxrm, v.vxsat) = (start.vcsr >> 1, start.vcsr & 1 != 0);
        hart.set_csrs(self.csr.clone());
        let privilege = if environment == Environment::Bare { Privilege::Machine } else { Privilege::User };
        set_privilege(hart, privilege);
        hart.clear_reservation();
        let at = (SANDBOX - RUNTIME) as usize;
        hart.memory_mut()[at..at + start.memory.len()].copy_from_slice(&start.memory);
        hart.set_pc(pc);
    }

    fn write_code(&mut self, at: u64, bytes: &[u8]) {
        let offset = (at - RUNTIME) as usize;
        self.machine.hart_mut().write_memory(offset, bytes);
    }

    fn dump(&self, traps: &[[u64; 4]], trap_count: u64, vlen: u32) -> Vec<u64> {
        let hart = self.machine.hart();
        let places = Places::new(vlen);
        let mut words = Vec::with_capacity(places.words());
        words.extend_from_slice(&hart.x_registers()[1..]);
        words.extend_from_slice(hart.f_registers());
        let v = hart.vector();
        let vcsr = u64::from(v.vxrm) << 1 | u64::from(v.vxsat);
        let fcsr = u64::from(hart.frm()) << 5 | u64::from(hart.fflags().bits());
        words.extend_from_slice(&[v.vstart, v.vl, v.vtype.to_bits(), vcsr, fcsr]);
        words.push(trap_count);
        words.extend(traps.iter().take(MOST_TRAPS).flatten());
        words.resize(places.v().start, 0);
        let word = |b: &[u8]| u64::from_le_bytes(b.try_into().expect("eight bytes"));
        words.extend(v.registers()[..32 * v.vlenb].chunks_exact(8).map(word));
        let at = (SANDBOX - RUNTIME) as usize;
        words.extend(hart.memory()[at..at + SANDBOX_SIZE as usize].chunks_exact(8).map(word));
        words
    }
}

fn set_privilege(hart: &mut Hart, privilege: Privilege) {
    if hart.privilege() != privilege {
        hart.set_privilege(privilege);
        hart.flush_tlb();
    }
}

/// As the handlers go on: behind the instruction, and on bare metal in M-mode after an `ecall` from below.
/// The system call on Linux returns 0.
fn go_on(hart: &mut Hart, trap: &Trap, environment: Environment) {
    let low = hart.fetch_parcel(hart.pc()).unwrap_or(0);
    hart.set_pc(hart.pc().wrapping_add(size(low.into())));
    match (environment, trap.cause) {
        (Environment::Bare, Cause::EcallFromU | Cause::EcallFromS) => set_privilege(hart, Privilege::Machine),
        (Environment::Linux, Cause::EcallFromU) => hart.set_x(10, 0),
        _ => {}
    }
}

/// What the handler writes down; nothing about a system call.
fn record(trap: &Trap, hart: &Hart, environment: Environment) -> Option<[u64; 4]> {
    let (cause, tval) = match (environment, trap.cause) {
        (Environment::Bare, cause) => (cause as u64, trap.tval),
        (_, Cause::EcallFromU) => return None,
        // SIGILL, SIGTRAP, SIGBUS, SIGSEGV
        (_, Cause::IllegalInstruction) => (4, 0),
        (_, Cause::Breakpoint) => (5, 0),
        (_, Cause::LoadAddressMisaligned | Cause::StoreAddressMisaligned) => (7, trap.tval),
        _ => (11, trap.tval),
    };
    Some([cause, tval, hart.pc(), hart.vector().vstart])
}

impl Lab {
    /// Machines of this VLEN, with every extension of the table.
    #[must_use]
    pub fn new(vlen: u32) -> Lab {
        let config = Config { vlen, mem: RAM, ..Config::default() };
        let ones = Config { tail: Agnostic::Ones, mask: Agnostic::Ones, ..config.clone() };
        let kept = Side::new(config.clone());
        let config = kept.machine.hart().config().clone();
        Lab {
            vlen,
            config,
            kept,
            ones: Side::new(ones),
            traps: Vec::new(),
            trap_count: 0,
            whys: Vec::new(),
            open: vec![Open::No; 4 * vlen as usize],
            sums: Vec::new(),
            loose_flags: 0,
            environment: Environment::Bare,
            end: 0,
            executed: 0,
            vector: 0,
        }
    }

    /// VLEN.
    #[must_use]
    pub fn vlen(&self) -> u32 {
        self.vlen
    }

    /// The configuration of the machine that keeps agnostic elements.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The state of the machine that keeps agnostic elements.
    #[must_use]
    pub fn hart(&self) -> &Hart {
        self.kept.machine.hart()
    }

    /// Sets both machines to an initial state, with no code yet, which will come to slot `n`.
    pub fn begin(&mut self, start: &Start, n: usize) {
        self.begin_as(Environment::Bare, start, n);
    }

    fn begin_as(&mut self, environment: Environment, start: &Start, n: usize) {
        let pc = slot(n) + STUB;
        self.environment = environment;
        self.kept.reset(start, pc, environment);
        self.ones.reset(start, pc, environment);
        self.traps.clear();
        self.whys.clear();
        self.open.fill(Open::No);
        self.sums.clear();
        self.loose_flags = 0;
        (self.trap_count, self.executed, self.vector) = (0, 0, 0);
        self.end = pc;
    }

    /// Where code that is appended goes.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Puts code behind what is there.
    pub fn append(&mut self, bytes: &[u8]) {
        self.kept.write_code(self.end, bytes);
        self.ones.write_code(self.end, bytes);
        self.end += bytes.len() as u64;
    }

    /// Forgets code from an address on that has not been executed.
    pub fn truncate(&mut self, end: u64) {
        self.end = end;
    }

    /// Steps both machines until they come to the end of the code.
    ///
    /// # Errors
    /// What makes the stream one not to compare; an instruction that would read agnostic elements has not
    /// been executed.
    pub fn advance(&mut self, watch: &mut impl Observer) -> Result<(), Violation> {
        while self.kept.machine.hart().pc() != self.end {
            if self.executed >= MOST_INSNS {
                return Err(Violation::Endless);
            }
            self.step(watch)?;
        }
        Ok(())
    }

    fn step(&mut self, watch: &mut impl Observer) -> Result<(), Violation> {
        let kept = &mut self.kept.machine;
        let pc = kept.hart().pc();
        let inst = observe::next(kept.hart_mut());
        let print = inst.as_ref().and_then(|inst| footprint(&self.config, inst, kept.hart().vector()));
        if let Some(print) = &print {
            let (a, b) = (&kept.hart().vector().registers(), &self.ones.machine.hart().vector().registers());
            if print.reads.iter().any(|bits| differ(a, b, bits)) {
                return Err(Violation::ReadsAgnostic { pc });
            }
        }
        if self.loose_flags != 0 && inst.is_some_and(|inst| reads_flags(&inst)) {
            return Err(Violation::ReadsAgnostic { pc });
        }
        let sum = inst.as_ref().and_then(|inst| sum::range(kept.hart(), inst));
        if inst.is_some_and(|inst| leaves_choice(kept.hart(), &inst)) {
            return Err(Violation::LeavesChoice { pc });
        }
        let (vl, vstart) = (kept.hart().vector().vl, kept.hart().vector().vstart);
        watch.before(kept.hart(), inst.as_ref());
        let stop = kept.step();
        let trap = match stop {
            Stop::Trap(trap) => Some(trap),
            Stop::Budget => None,
        };
        watch.after(kept.hart(), inst.as_ref(), trap.as_ref());
        let ones = &mut self.ones.machine;
        let other = ones.step();
        self.executed += 1;
        self.vector += u64::from(inst.is_some_and(|i| i.op.is_vector()));
        if other != stop || ones.hart().pc() != kept.hart().pc() {
            return Err(Violation::Leaked { what: format!("what the instruction at {pc:#x} does") });
        }
        if let Some(trap) = trap {
            let is_access = !matches!(
                trap.cause,
                Cause::IllegalInstruction
                    | Cause::Breakpoint
                    | Cause::EcallFromM
                    | Cause::EcallFromS
                    | Cause::EcallFromU
            );
            let inside = (SANDBOX..SANDBOX + SANDBOX_SIZE).contains(&trap.tval) || in_guard(trap.tval);
            if is_access && !inside {
                return Err(Violation::Escaped { pc, address: trap.tval });
            }
            if let Some(record) = record(&trap, kept.hart(), self.environment) {
                self.trap_count += 1;
                self.whys.push(trap.why);
                self.traps.push(record);
            }
            go_on(kept.hart_mut(), &trap, self.environment);
            go_on(ones.hart_mut(), &trap, self.environment);
        }
        if let (Some(inst), Some(print)) = (&inst, &print) {
            self.open_up(inst, print, vl, vstart, trap.is_some());
            if let Some(sum) = sum.filter(|_| trap.is_none() && vstart < vl) {
                self.open_sum(print, sum);
            }
        }
        Ok(())
    }

    /// An unordered sum may be any value of a range.
    fn open_sum(&mut self, print: &Footprint, sum: Sum) {
        let Some(group) = print.writes.first() else { return };
        let first = group.start / 8;
        for byte in first..first + usize::from(sum.size) {
            self.ones.machine.hart_mut().vector_mut().registers_mut()[byte] =
                !self.kept.machine.hart().vector().registers()[byte];
            self.open[byte] = Open::Sum(self.sums.len() as u8);
        }
        self.sums.push(sum);
        // Inexact, underflow and overflow depend on the order.
        self.loose_flags = 7;
    }

    /// Makes the machines differ in what the manual leaves open beyond keeping or ones.
    fn open_up(&mut self, inst: &Inst, print: &Footprint, vl: u64, vstart: u64, trapped: bool) {
        let kept = self.kept.machine.hart().vector();
        let ones = self.ones.machine.hart_mut().vector_mut();
        let vlen = self.vlen as usize;
        let eew = print.eew as usize;
        let kind = if eew == 1 { Open::Bits } else { Open::Element((eew / 8) as u8) };
        for group in &print.writes {
            let bytes = group.start / 8..group.end / 8;
            let is_same = kept.registers()[bytes.clone()] == ones.registers()[bytes.clone()];
            if is_same && self.open[bytes.clone()].iter().all(|open| *open == Open::No) {
                continue;
            }
            for byte in bytes {
                let open = &mut self.open[byte];
                if eew == 1 && matches!(open, Open::Free | Open::FreeBits) {
                    // Where a mask is written under a mask, what is not written stays free; which bits those
                    // are is not asked.
                    let at = 8 * byte - group.start;
                    let written =
                        |bit: usize| inst.vm && (vstart as usize..vl as usize).contains(&(at + bit));
                    let closed =
                        (0..8).filter(|&bit| written(bit) && !trapped).fold(0, |m, bit| m | 1 << bit);
                    ones.registers_mut()[byte] = kept.registers()[byte] ^ !closed;
                    *open = match closed {
                        0xff => Open::No,
                        0 => *open,
                        _ => Open::FreeBits,
                    };
                    continue;
                }
                *open = match (kept.registers()[byte] == ones.registers()[byte], *open, kind) {
                    // What could be anything may have been kept as that, or become ones: the two are not to
                    // meet by chance.
                    (_, Open::Free | Open::FreeBits, _)
                    | (_, Open::Bits | Open::Sum(_), Open::Element(_))
                        if ones.registers()[byte] == 0xff =>
                    {
                        ones.registers_mut()[byte] = !kept.registers()[byte];
                        Open::Free
                    }
                    (true, ..) => Open::No,
                    (false, Open::Free | Open::FreeBits, _) => *open,
                    (false, Open::No, _) | (false, _, Open::Bits) => kind,
                    // Open before, and open still, be it for this instruction or because it was not written.
                    (false, Open::Element(old), Open::Element(new)) => Open::Element(old.min(new)),
                    (false, before, _) => before,
                };
            }
        }
        let open = &mut self.open;
        let mut free = |bits: Range<usize>, kind: Open| {
            for bit in bits {
                let mask = 1 << (bit % 8);
                ones.registers_mut()[bit / 8] =
                    ones.registers()[bit / 8] & !mask | !kept.registers()[bit / 8] & mask;
                if !matches!(open[bit / 8], Open::Free | Open::FreeBits) || kind == Open::Free {
                    open[bit / 8] = kind;
                }
            }
        };
        match inst.op.class() {
            // "any element in the tail of a mask result can also be written with the value the mask-producing
            // operation would have calculated with vl=VLMAX".
            _ if eew == 1 && !trapped && vstart < vl => {
                for group in &print.writes {
                    free(group.start + vl as usize..group.start + vlen, Open::Bits);
                }
            }
            // "allowed to update active destination elements past the element that causes trimming (but not
            // past the original vector length)"; what comes behind `vstart` of a load that trapped will be
            // loaded again.
            Class::VectorLoad if trapped || kept.vl < vl => {
                let first = if trapped { kept.vstart } else { kept.vl } as usize;
                for group in &print.writes {
                    let body = first * eew..(vl as usize * eew).min(group.len());
                    free(group.start + body.start.min(body.end)..group.start + body.end, Open::Free);
                }
            }
            _ => {}
        }
    }

    /// The dumps, once a stream has come to its end.
    ///
    /// # Errors
    /// If what the manual leaves open has changed anything but vector registers.
    pub fn finish(&self) -> Result<Ran, Violation> {
        let kept = self.kept.dump(&self.traps, self.trap_count, self.vlen);
        let ones = self.ones.dump(&self.traps, self.trap_count, self.vlen);
        let places = Places::new(self.vlen);
        let open = places.v();
        let leaked = (0..kept.len()).filter(|i| !open.contains(i)).find(|&i| kept[i] != ones[i]);
        if let Some(at) = leaked {
            return Err(Violation::Leaked { what: places.name(at) });
        }
        Ok(Ran {
            vlen: self.vlen,
            kept,
            ones,
            open: self.open.clone(),
            sums: self.sums.clone(),
            loose_flags: self.loose_flags,
            whys: self.whys.clone(),
            executed: self.executed,
            vector: self.vector,
        })
    }

    /// Runs a stream in slot `n`, instruction by instruction.
    ///
    /// # Errors
    /// What makes the stream one not to compare.
    pub fn run(&mut self, stream: &Stream, n: usize, watch: &mut impl Observer) -> Result<Ran, Violation> {
        self.run_as(Environment::Bare, stream, n, watch)
    }

    /// Runs a stream in slot `n` as it would run in an environment: in M-mode, or in U-mode under something
    /// like Linux.
    ///
    /// # Errors
    /// What makes the stream one not to compare.
    pub fn run_as(
        &mut self,
        environment: Environment,
        stream: &Stream,
        n: usize,
        watch: &mut impl Observer,
    ) -> Result<Ran, Violation> {
        let code = stream.code(slot(n))?;
        self.begin_as(environment, &stream.init.start(self.vlen), n);
        self.append(&code.bytes);
        self.advance(watch)?;
        self.finish()
    }

    /// Runs a stream in slot `n` as a program runs, block by block, and compares with what stepping gave.
    ///
    /// # Errors
    /// Where the two differ.
    pub fn check_blocks(&mut self, stream: &Stream, n: usize, stepped: &Ran) -> Result<(), Violation> {
        let code = stream.code(slot(n))?;
        let start = stream.init.start(self.vlen);
        self.begin(&start, n);
        self.kept.write_code(code.start, &code.bytes);
        self.kept.write_code(code.end, &rvv_isa::Inst::new(Op::Ebreak).raw.to_le_bytes());
        self.run_blocks(&code)?;
        let words = self.kept.dump(&self.traps, self.trap_count, self.vlen);
        match (0..words.len()).find(|&i| words[i] != stepped.kept[i]) {
            None => Ok(()),
            Some(i) => {
                let name = Places::new(self.vlen).name(i);
                let what = format!("{name}: {:#x} in blocks, {:#x} in steps", words[i], stepped.kept[i]);
                Err(Violation::Engines { what })
            }
        }
    }

    fn run_blocks(&mut self, code: &Code) -> Result<(), Violation> {
        let machine = &mut self.kept.machine;
        let limit = machine.instructions_retired() + MOST_INSNS;
        while machine.instructions_retired() < limit {
            let stop = machine.step_many(MOST_INSNS);
            let hart = machine.hart_mut();
            match stop {
                Stop::Budget => {}
                Stop::Trap(_) if hart.pc() == code.end => return Ok(()),
                Stop::Trap(trap) => {
                    self.trap_count += 1;
                    self.traps.push([trap.cause as u64, trap.tval, hart.pc(), hart.vector().vstart]);
                    if self.traps.len() as u64 > MOST_INSNS {
                        break;
                    }
                    go_on(hart, &trap, self.environment);
                }
            }
        }
        Err(Violation::Endless)
    }
}

/// Whether an instruction reads the accrued exception flags into a register.
fn reads_flags(inst: &Inst) -> bool {
    inst.op.class() == Class::Csr && inst.rd != 0 && [csr::FFLAGS, csr::FCSR].contains(&(inst.imm as u16))
}

/// Whether an instruction sets `vl` with VLMAX < AVL < 2*VLMAX, or keeps it under another VLMAX, which is
/// reserved.
fn leaves_choice(hart: &Hart, inst: &Inst) -> bool {
    let bits = match inst.op {
        Op::Vsetvli | Op::Vsetivli => inst.imm as u64,
        Op::Vsetvl => hart.x(inst.rs2),
        _ => return false,
    };
    let vlmax = |vtype: Vtype| u64::from(vtype.vlmax(hart.config().vlen));
    let new = vlmax(Vtype::from_bits(bits));
    match (inst.op, inst.rs1, inst.rd) {
        (Op::Vsetivli, avl, _) => u64::from(avl) > new && u64::from(avl) < 2 * new,
        (_, 0, 0) => hart.vector().vtype.vill || new != vlmax(hart.vector().vtype),
        (_, 0, _) => false,
        (_, rs1, _) => hart.x(rs1) > new && hart.x(rs1) < 2 * new,
    }
}

/// Whether two register files differ in these bits.
fn differ(a: &[u8], b: &[u8], bits: &Range<usize>) -> bool {
    if bits.is_empty() {
        return false;
    }
    let (first, last) = (bits.start / 8, (bits.end - 1) / 8);
    if a[first..=last] == b[first..=last] {
        return false;
    }
    bits.clone().any(|bit| (a[bit / 8] ^ b[bit / 8]) >> (bit % 8) & 1 != 0)
}
