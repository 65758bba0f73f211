//! System calls: what they take, what they give, what they lose.

use super::origin::Source;
use super::{Kind, Sanitizer, What};
use crate::hart::Hart;

const CONFIG: &str = "Linux: a system call leaves vl and vtype undefined";

/// A system call that is being served.
pub(super) struct Call {
    number: u64,
    args: [u64; 6],
    pc: u64,
}

// Numbers of Linux on RISC-V.
const WRITE: u64 = 64;
const WRITEV: u64 = 66;
const PWRITE64: u64 = 68;
const PWRITEV: u64 = 70;
const RT_SIGRETURN: u64 = 139;
const SENDTO: u64 = 206;
const SENDMSG: u64 = 211;
const BRK: u64 = 214;
const MUNMAP: u64 = 215;
const MREMAP: u64 = 216;
const CLONE: u64 = 220;
const MMAP: u64 = 222;
const MADVISE: u64 = 233;

/// How many arguments decide something, of the calls that programs make most.
fn arguments(number: u64) -> u8 {
    match number {
        // getcwd, dup, fchdir, close, exit, exit_group, brk, umask, set_tid_address, sysinfo, uname
        17 | 23 | 50 | 57 | 93 | 94 | BRK | 166 | 96 | 179 | 160 => 1,
        // munmap, getrusage, kill, fstat, clock_gettime, pipe2, ftruncate, tgkill's kin
        MUNMAP | 165 | 129 | 80 | 113 | 59 | 46 => 2,
        // dup3, ioctl, read, write, readv, writev, lseek, mprotect, madvise, fcntl, getrandom, openat's first
        // three
        24 | 29 | 63 | WRITE | 65 | WRITEV | 62 | 226 | MADVISE | 25 | 278 | 56 | SENDMSG => 3,
        // pread64, pwrite64, newfstatat
        67 | PWRITE64 | 79 => 4,
        MMAP | SENDTO => 6,
        _ => 0,
    }
}

/// Whether an argument is not looked at: a file that an anonymous mapping does not have.
fn is_ignored(call: &Call, argument: usize) -> bool {
    const MAP_ANONYMOUS: u64 = 0x20;
    match (call.number, argument) {
        (MMAP, 4 | 5) => call.args[3] & MAP_ANONYMOUS != 0,
        (SENDTO, 5) => call.args[4] == 0,
        // What a command or a flag makes of the third is not known here.
        (25 | 29 | 56, 2) => true,
        _ => false,
    }
}

/// Pieces of one call that are looked at.
const MOST_PIECES: u64 = 1024;

impl Sanitizer {
    /// An `ecall` is about to trap.
    pub(super) fn system_call(&mut self, hart: &Hart) {
        let a = |n: u8| hart.x[10 + n];
        let call = Call { number: hart.x[17], args: [a(0), a(1), a(2), a(3), a(4), a(5)], pc: hart.pc };
        self.check_x(Kind::CallNumber, 17);
        for n in 0..arguments(call.number) {
            if !is_ignored(&call, n.into()) {
                self.check_argument(n);
            }
        }
        self.call = Some(call);
    }

    fn check_argument(&mut self, n: u8) {
        let r = usize::from(10 + n);
        let undefined = self.regs.x.undefined[r];
        if undefined != 0 {
            let origin = self.regs.x.origin[r];
            let bit = Some(undefined.trailing_zeros());
            let detail = format!("argument {n} (a{n})");
            self.found(Kind::Argument, What { origin, bit, detail, ..What::default() });
        }
    }

    /// Before the call is served: what leaves the program.
    pub(crate) fn before_call(&mut self, hart: &mut Hart) {
        let Some(Call { number, args, .. }) = self.call else { return };
        match number {
            WRITE | PWRITE64 | SENDTO => self.leaves(args[1], args[2], args[0]),
            WRITEV | PWRITEV => self.pieces_leave(hart, args[1], args[2], args[0]),
            SENDMSG => {
                let mut message = [0; 32];
                if hart.peek(args[1], &mut message) == 32 {
                    let word = |at: usize| super::registers::get(&message, at, 8);
                    self.pieces_leave(hart, word(16), word(24), args[0]);
                }
            }
            _ => {}
        }
        if let Some(writes) = &mut hart.kernel_writes {
            writes.clear();
        }
    }

    fn pieces_leave(&mut self, hart: &mut Hart, at: u64, count: u64, file: u64) {
        for i in 0..count.min(MOST_PIECES) {
            let mut piece = [0; 16];
            if hart.peek(at.wrapping_add(16 * i), &mut piece) == 16 {
                let word = |at: usize| super::registers::get(&piece, at, 8);
                self.leaves(word(0), word(8), file);
            }
        }
    }

    /// Bytes leave the program.
    fn leaves(&mut self, va: u64, len: u64, file: u64) {
        /// A call that writes more is not looked at to its end.
        const LONGEST: u64 = 1 << 26;
        let len = len.min(LONGEST);
        if file == 1
            && let Some(mut output) = self.output.take()
        {
            let start = output.len();
            output.resize(start + len as usize, 0);
            let mut origins = vec![0; len as usize / 8 + 2];
            self.memory.read(va, &mut output[start..], &mut origins);
            self.output = Some(output);
        }
        if let Some((at, undefined, origin)) = self.first_undefined(va, len) {
            let bit = Some(undefined.trailing_zeros());
            let detail = format!("byte {at} of the {len} at {va:#x}, to file {file}");
            self.found(Kind::Output, What { origin, element: Some(at), bit, detail, ..What::default() });
        }
    }

    /// After the call: what it wrote is defined, and vector registers are lost.
    pub(crate) fn after_call(&mut self, hart: &mut Hart) {
        let Some(call) = self.call.take() else { return };
        let writes = hart.kernel_writes.replace(Vec::new()).unwrap_or_default();
        for (va, len) in writes {
            self.memory.define(va, len as u64);
        }
        let thread = self.thread;
        self.look_at_thread(hart);
        if call.number == RT_SIGRETURN {
            // All registers are what they were; whether they were defined is not remembered.
            self.regs.x.undefined.fill(0);
            self.regs.f.undefined.fill(0);
            self.regs.v.fill(0);
            self.regs.config_lost = None;
            return;
        }
        // It waits, or another thread is there now: its own turn will come.
        if thread != self.thread || hart.pc == call.pc {
            return;
        }
        self.regs.x.set(10, 0, 0);
        let result = hart.x[10];
        let failed = result > u64::MAX - 4096;
        match call.number {
            MMAP if !failed => {
                self.memory.renew(result, call.args[1].next_multiple_of(crate::mem::PAGE));
                // A file, from its beginning: a library, perhaps.
                if call.args[3] & 0x20 == 0 && call.args[5] == 0 {
                    self.objects.mapped(result);
                }
            }
            MUNMAP | MADVISE if !failed && call.number == MUNMAP => {
                self.memory.renew(call.args[0], call.args[1]);
            }
            MADVISE if !failed && call.args[2] == 4 => self.memory.define(call.args[0], call.args[1]),
            MREMAP if !failed => {
                self.memory.renew(call.args[0], call.args[1]);
                self.memory.renew(result, call.args[2]);
            }
            CLONE if result == 0 => self.regs.frames.clear(),
            _ => {}
        }
        if self.objects.look(hart) {
            self.heap.learn(&self.objects);
        }
        let origin = self.origins.born(Source::SystemCall, call.pc, 0);
        self.regs.lose_vectors(origin);
        self.regs.config_lost = Some(CONFIG);
        self.regs.vl_chosen = None;
    }
}
