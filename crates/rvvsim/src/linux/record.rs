//! What system calls and signals did, so that it can be done again without the host: nothing is read, written
//! or asked for twice.
//!
//! The guest sees of a call its registers and its memory afterwards. Those are written down, and where a call
//! changed mappings, the call itself: what it makes of an address space depends on nothing else. The process
//! (its files, signals, timers) is left alone when a call is done again. It stays what it became when the
//! guest got furthest.

use super::space::Area;
use super::{AddressSpace, Process, VectorCalls, space_of, user};
use crate::Hart;
use crate::hart::ThreadRegisters;
use crate::mem::PAGE;

const CLONE: u64 = 220;
const CLONE3: u64 = 435;
const EXECVE: u64 = 221;
const EXECVEAT: u64 = 281;
const SIGRETURN: u64 = 139;
const MMAP: u64 = 222;
const MADVISE: u64 = 233;
const BRK: u64 = 214;
const MUNMAP: u64 = 215;
const MREMAP: u64 = 216;
const MPROTECT: u64 = 226;

/// Bytes that a call may write and be kept.
const MOST_WRITTEN: usize = 32 << 20;

/// What became of the registers.
enum Registers {
    /// Nothing.
    Same,
    /// A system call returned this value.
    Returned(u64),
    /// All may be others: a handler was entered or left.
    All(Box<ThreadRegisters>),
}

/// What became of the mappings.
enum Mapping {
    /// This call changes them in the same way each time.
    Call(u64, [u64; 6]),
    /// This was mapped.
    New(u64, Area),
}

/// What was done for the guest, or to it.
pub(crate) struct Effect {
    registers: Registers,
    mapping: Option<Mapping>,
    writes: Vec<(u64, Box<[u8]>)>,
    ignored_bits: u32,
}

/// How the guest's state was before something was done.
pub(crate) struct Before {
    pc: u64,
    x: [u64; 32],
    changes: u64,
    ignored_bits: u32,
    /// It is an `ecall`.
    calls: bool,
}

/// What came of it.
pub(crate) enum Recorded {
    /// Nothing that the guest could tell.
    Nothing,
    /// This.
    Effect(Effect),
    /// What cannot be done again; why.
    Barrier(&'static str),
}

impl Before {
    /// From now on what the kernel writes is noted.
    pub fn new(hart: &mut Hart, calls: bool) -> Self {
        hart.kernel_writes = Some(Vec::new());
        let (pc, x) = (hart.pc, *hart.x.architectural());
        let (space, _) = space_of(hart);
        Before { pc, x, changes: space.changes(), ignored_bits: space.ignored_bits(), calls }
    }

    fn number(&self) -> u64 {
        self.x[17]
    }

    /// What was done since.
    pub fn after(self, process: &Process, hart: &mut Hart) -> Recorded {
        let written = hart.kernel_writes.take().unwrap_or_default();
        let (space, _) = space_of(hart);
        let remaps = space.changes() != self.changes;
        let ignored_bits = space.ignored_bits();
        let same = hart.pc == self.pc && *hart.x.architectural() == self.x;
        if same && !remaps && written.is_empty() && ignored_bits == self.ignored_bits {
            return Recorded::Nothing;
        }
        let failed = hart.pc == self.pc.wrapping_add(4) && (hart.x[10] as i64) < 0;
        match self.number() {
            _ if !self.calls || failed || same => {}
            CLONE | CLONE3 => return Recorded::Barrier("the program started a process or a thread"),
            EXECVE | EXECVEAT => return Recorded::Barrier("the program became another"),
            _ => {}
        }
        if written.iter().map(|(_, len)| len).sum::<usize>() > MOST_WRITTEN {
            return Recorded::Barrier("a system call wrote more than is kept");
        }
        let mapping = match remaps {
            false => None,
            true => match self.mapping(hart) {
                Some(mapping) => Some(mapping),
                None => return Recorded::Barrier("mappings changed in a way that cannot be repeated"),
            },
        };
        let registers = match same {
            true => Registers::Same,
            false if self.returned(process, hart) => Registers::Returned(hart.x[10]),
            false => Registers::All(Box::new(hart.registers())),
        };
        let writes = written.into_iter().map(|(va, len)| (va, read(hart, va, len))).collect();
        Recorded::Effect(Effect { registers, mapping, writes, ignored_bits })
    }

    /// Whether a call has returned and done nothing else to the registers.
    fn returned(&self, process: &Process, hart: &Hart) -> bool {
        let x = hart.x.architectural();
        self.calls
            && self.number() != SIGRETURN
            && hart.pc == self.pc.wrapping_add(4)
            && (0..32).all(|r| r == 10 || x[r] == self.x[r])
            && process.options.vector_calls == VectorCalls::Keep
    }

    fn mapping(&self, hart: &mut Hart) -> Option<Mapping> {
        let args: [u64; 6] = std::array::from_fn(|i| self.x[10 + i]);
        match self.number() {
            _ if !self.calls => None,
            BRK | MUNMAP | MREMAP | MPROTECT | MADVISE => Some(Mapping::Call(self.number(), args)),
            MMAP => {
                let start = hart.x[10];
                let end = start.checked_add(args[1].checked_next_multiple_of(PAGE)?)?;
                Some(Mapping::New(start, space_of(hart).0.mapping(start, end)?))
            }
            _ => None,
        }
    }
}

/// What is there now of what the kernel wrote.
fn read(hart: &mut Hart, va: u64, len: usize) -> Box<[u8]> {
    let mut bytes = vec![0; len];
    let there = hart.peek(va, &mut bytes);
    bytes.truncate(there);
    bytes.into()
}

impl Effect {
    /// About how many bytes it takes to keep it.
    pub fn bytes(&self) -> usize {
        let registers = match &self.registers {
            Registers::Same | Registers::Returned(_) => 0,
            Registers::All(registers) => registers.bytes(),
        };
        let writes: usize = self.writes.iter().map(|(_, bytes)| bytes.len() + 32).sum();
        size_of::<Effect>() + 64 + registers + writes
    }

    /// Whether it keeps a file open.
    pub fn holds_file(&self) -> bool {
        matches!(&self.mapping, Some(Mapping::New(_, area)) if area.is_of_file())
    }

    /// Where the kernel wrote, and how many bytes.
    pub fn writes(&self) -> impl Iterator<Item = (u64, u64)> {
        self.writes.iter().map(|(va, bytes)| (*va, bytes.len() as u64))
    }

    /// Does it again; false if that went another way.
    pub fn repeat(&self, process: &mut Process, hart: &mut Hart) -> bool {
        let mut same = true;
        match &self.mapping {
            None => {}
            Some(Mapping::Call(number, args)) => {
                // These touch nothing of the process, and what they return is known.
                let _ = process.dispatch(hart, *number, *args);
            }
            Some(Mapping::New(start, area)) => {
                let (space, ram) = space_of(hart);
                same = space.map(ram, *start, area.clone()).is_ok();
                hart.flush_tlb();
            }
        }
        if space_of(hart).0.ignore_bits(self.ignored_bits) {
            hart.flush_tlb();
        }
        for (va, bytes) in &self.writes {
            same &= user::write(hart, *va, bytes).is_ok();
        }
        match &self.registers {
            Registers::Same => {}
            Registers::Returned(value) => {
                hart.set_x(10, *value);
                hart.pc = hart.pc.wrapping_add(4);
            }
            Registers::All(registers) => hart.set_registers(registers),
        }
        same
    }
}

impl Process {
    /// Whether there is more than one thread.
    pub(crate) fn has_threads(&self) -> bool {
        self.threads.all.len() > 1
    }

    /// The address space of a process that is recorded.
    pub(crate) fn space<'h>(&self, hart: &'h mut Hart) -> &'h mut AddressSpace {
        space_of(hart).0
    }
}
