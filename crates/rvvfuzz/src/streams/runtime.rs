//! The program around the streams, in two environments: an ELF for Linux, and one for bare metal with HTIF.
//!
//! For each stream it sets every register, the CSRs and the sandbox, runs the stream, and writes its
//! [dump](super::dump) behind the last. Traps come to a handler that writes down what they were, skips the
//! instruction and goes on: `mtvec` on bare metal, signals on Linux. Bare metal leaves the dumps between
//! `begin_signature` and `end_signature`; Linux writes them to standard output.

use super::dump::{MOST_TRAPS, Places};
use super::init::{Init, Start, indices};
use super::layout::*;
use super::stream::{CodeError, Stream};
use rvv_asm::{Asm, ElfWriter, Label};
use rvv_isa::{Inst, Op, csr};

/// What an ELF is made for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Environment {
    /// A static Linux process.
    Linux,
    /// M-mode, HTIF: Spike's platform.
    Bare,
}

// The control block, from `gp`.
const SAVED: i32 = 0;
const OUT: i32 = 8;
const IMAGE: i32 = 16;
const SCRATCH: i32 = 32;
const TRAP_COUNT: i32 = 64;
const TRAP_RECORDS: i32 = 72;
const SIGACTION: i32 = 1200;
const ALTSTACK: i32 = 1232;

// An image: the slot's address, x1 to x31, f0 to f31, then:
const IMAGE_FCSR: i32 = 512;
const IMAGE_VCSR: i32 = 520;
const IMAGE_VTYPE: i32 = 528;
const IMAGE_AVL: i32 = 536;
const IMAGE_V: i32 = 544;

/// Bytes of an image.
fn image_size(vlen: u32) -> u64 {
    IMAGE_V as u64 + 32 * u64::from(vlen / 8) + SANDBOX_SIZE
}

/// How many streams fit one ELF at this VLEN.
#[must_use]
pub fn capacity(vlen: u32) -> usize {
    let images = (DUMPS - IMAGES) / image_size(vlen) - 1;
    let dumps = (HTIF - DUMPS) / (8 * Places::new(vlen).words() as u64);
    (images.min(dumps) as usize).min(MOST_STREAMS)
}

/// An ELF that runs the streams one after the other.
///
/// # Errors
/// When a stream cannot be encoded.
///
/// # Panics
/// If there are more streams than [`capacity`], or of different VLENs.
pub fn elf(streams: &[&Stream], environment: Environment) -> Result<Vec<u8>, CodeError> {
    elf_from(0, streams, environment)
}

/// As [`elf`], with the first stream in slot `first`: some instructions see their own address.
///
/// # Errors
/// When a stream cannot be encoded.
///
/// # Panics
/// If the slots do not suffice, or the VLENs are different.
pub fn elf_from(first: usize, streams: &[&Stream], environment: Environment) -> Result<Vec<u8>, CodeError> {
    let runs: Vec<(usize, Init)> = streams.iter().enumerate().map(|(n, stream)| (n, stream.init)).collect();
    elf_of_runs(first, streams, &runs, environment)
}

/// As [`elf_from`], for runs of a stream of the list from a state, as many as there are and in this order.
///
/// # Errors
/// When a stream cannot be encoded.
///
/// # Panics
/// If the slots do not suffice, or there are more runs than [`capacity`], or the VLENs are different.
pub fn elf_of_runs(
    first: usize,
    streams: &[&Stream],
    runs: &[(usize, Init)],
    environment: Environment,
) -> Result<Vec<u8>, CodeError> {
    let vlen = streams.first().map_or(128, |s| s.vlen);
    assert!(first + streams.len() <= capacity(vlen) && streams.iter().all(|s| s.vlen == vlen));
    assert!(runs.len() <= capacity(vlen) && runs.iter().all(|(n, _)| *n < streams.len()));
    let runtime = Runtime::assemble(vlen, runs.len(), environment);
    let mut code = Vec::new();
    for (n, stream) in streams.iter().enumerate() {
        code.resize(n * SLOT as usize, 0);
        code.extend(slot_code(stream, slot(first + n), runtime.epilogue)?);
    }
    let mut images = Vec::new();
    for (n, init) in runs {
        push_image(&mut images, slot(first + n), &init.start(vlen));
    }
    images.extend_from_slice(&[0; 8]);
    let mut control = vec![0; CONTROL_SIZE as usize];
    let mut put = |at: i32, value: u64| control[at as usize..][..8].copy_from_slice(&value.to_le_bytes());
    put(OUT, DUMPS);
    put(IMAGE, IMAGES);
    put(SIGACTION, runtime.handler);
    put(SIGACTION + 8, 0x0800_0004); // SA_ONSTACK, SA_SIGINFO
    put(ALTSTACK, SIGNAL_STACK);
    put(ALTSTACK + 16, SIGNAL_STACK_SIZE);
    let dumps = 8 * (runs.len() * Places::new(vlen).words()) as u64;
    let mut elf = ElfWriter::new(RUNTIME);
    elf.segment(RUNTIME, runtime.code, 5)
        .segment(CONTROL, control, 6)
        .zeros(SIGNAL_STACK, SIGNAL_STACK_SIZE)
        .segment(INDICES, indices().to_vec(), 4)
        .segment(slot(first), code, 5)
        .segment(IMAGES, images, 4)
        .zeros(DUMPS, dumps)
        .symbol("begin_signature", DUMPS)
        .symbol("end_signature", DUMPS + dumps);
    if environment == Environment::Bare {
        elf.zeros(HTIF, 64).symbol("tohost", HTIF).symbol("fromhost", HTIF + 8);
    }
    // Last: what a Linux loader puts behind the last segment is not there until asked for.
    elf.zeros(SANDBOX, SANDBOX_SIZE);
    Ok(elf.finish())
}

/// The stub that loads the last two registers, the stream, and the way out.
fn slot_code(stream: &Stream, slot: u64, epilogue: u64) -> Result<Vec<u8>, CodeError> {
    let code = stream.code(slot)?;
    let mut a = Asm::new(slot);
    a.rri(Op::Ld, 1, 31, 8);
    a.rri(Op::Ld, 31, 31, 31 * 8);
    let mut bytes = a.finish();
    bytes.extend(code.bytes);
    let mut a = Asm::new(code.end);
    a.store(Op::Sd, 31, SAVED, GP);
    a.li(31, epilogue);
    a.rri(Op::Jalr, 0, 31, 0);
    bytes.extend(a.finish());
    Ok(bytes)
}

fn push_image(out: &mut Vec<u8>, slot: u64, start: &Start) {
    let mut word = |w: u64| out.extend_from_slice(&w.to_le_bytes());
    word(slot);
    start.x[1..].iter().chain(&start.f).for_each(|&w| word(w));
    [start.fcsr.into(), start.vcsr.into(), start.vtype, start.avl].into_iter().for_each(word);
    out.extend_from_slice(&start.v);
    out.extend_from_slice(&start.memory);
}

struct Runtime {
    code: Vec<u8>,
    handler: u64,
    epilogue: u64,
}

// Registers of the code between streams.
const T0: u8 = 5;
const T1: u8 = 6;
const T2: u8 = 7;
const A0: u8 = 10;
const A1: u8 = 11;
const A2: u8 = 12;
const A3: u8 = 13;
const A7: u8 = 17;

impl Runtime {
    fn assemble(vlen: u32, streams: usize, environment: Environment) -> Runtime {
        let mut a = Asm::new(RUNTIME);
        let (begin, next, finish) = (a.label(), a.label(), a.label());
        a.jump(begin);
        // mtvec needs an address that is a multiple of four.
        let handler = a.here();
        match environment {
            Environment::Bare => machine_handler(&mut a),
            Environment::Linux => signal_handler(&mut a),
        }
        let epilogue = a.here();
        dump(&mut a, vlen, next);
        a.place(begin);
        a.li(GP, CONTROL);
        match environment {
            Environment::Bare => set_up_machine(&mut a, handler),
            Environment::Linux => set_up_signals(&mut a),
        }
        a.place(next);
        prologue(&mut a, vlen, environment, finish);
        a.place(finish);
        match environment {
            Environment::Bare => {
                a.li(T0, HTIF);
                a.rri(Op::Addi, T1, 0, 1);
                a.store(Op::Sd, T1, 0, T0);
                let forever = a.label_here();
                a.jump(forever);
            }
            Environment::Linux => write_and_exit(&mut a, 8 * (streams * Places::new(vlen).words()) as u64),
        }
        Runtime { code: a.finish(), handler, epilogue }
    }
}

/// Puts cause, `tval`, `pc` and `vstart` into the next record. `load` brings each of the first three into
/// [`T2`].
fn record(a: &mut Asm, load: impl Fn(&mut Asm, usize)) {
    let full = a.label();
    a.rri(Op::Ld, T0, GP, TRAP_COUNT);
    a.rri(Op::Addi, T1, 0, MOST_TRAPS as i32);
    a.branch(Op::Bgeu, T0, T1, full);
    a.rri(Op::Slli, T1, T0, 5);
    a.rrr(Op::Add, T1, T1, GP);
    for i in 0..3 {
        load(a, i);
        a.store(Op::Sd, T2, TRAP_RECORDS + 8 * i as i32, T1);
    }
    a.csr(Op::Csrrs, T2, csr::VSTART, 0);
    a.store(Op::Sd, T2, TRAP_RECORDS + 24, T1);
    a.place(full);
    a.rri(Op::Addi, T0, T0, 1);
    a.store(Op::Sd, T0, TRAP_COUNT, GP);
}

/// [`T0`], the address of an instruction, moves on to the next.
fn skip(a: &mut Asm) {
    let short = a.label();
    a.rri(Op::Lhu, T1, T0, 0);
    a.rri(Op::Andi, T1, T1, 3);
    a.rri(Op::Addi, T1, T1, -3);
    a.rri(Op::Addi, T0, T0, 2);
    a.branch(Op::Bne, T1, 0, short);
    a.rri(Op::Addi, T0, T0, 2);
    a.place(short);
}

fn machine_handler(a: &mut Asm) {
    let saved = [T0, T1, T2];
    for (i, r) in saved.into_iter().enumerate() {
        a.store(Op::Sd, r, SCRATCH + 8 * i as i32, GP);
    }
    record(a, |a, i| a.csr(Op::Csrrs, T2, [csr::MCAUSE, csr::MTVAL, csr::MEPC][i], 0));
    // An ecall from S-mode or U-mode (9, 8) is how a stream comes back to M-mode.
    let stay = a.label();
    a.csr(Op::Csrrs, T0, csr::MCAUSE, 0);
    a.rri(Op::Addi, T0, T0, -8);
    a.rri(Op::Sltiu, T0, T0, 2);
    a.branch(Op::Beq, T0, 0, stay);
    a.li(T0, 0x1800);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, T0);
    a.place(stay);
    a.csr(Op::Csrrs, T0, csr::MEPC, 0);
    skip(a);
    a.csr(Op::Csrrw, 0, csr::MEPC, T0);
    for (i, r) in saved.into_iter().enumerate() {
        a.rri(Op::Ld, r, GP, SCRATCH + 8 * i as i32);
    }
    a.plain(Op::Mret);
}

/// `a0` is the signal, `a1` the `siginfo_t`, `a2` the `ucontext_t`, which has the `pc` at 176.
fn signal_handler(a: &mut Asm) {
    const PC: i32 = 176;
    record(a, |a, i| match i {
        0 => a.rrr(Op::Add, T2, A0, 0),
        1 => {
            // Only a memory fault has an address to tell: SIGBUS is 7, SIGSEGV 11.
            let done = a.label();
            a.rri(Op::Addi, T2, A0, -7);
            a.rri(Op::Andi, T2, T2, !4);
            a.rri(Op::Sltiu, T2, T2, 1);
            a.branch(Op::Beq, T2, 0, done);
            a.rri(Op::Ld, T2, A1, 16);
            a.place(done);
        }
        _ => a.rri(Op::Ld, T2, A2, PC),
    });
    a.rri(Op::Ld, T0, A2, PC);
    skip(a);
    a.store(Op::Sd, T0, PC, A2);
    a.rri(Op::Jalr, 0, 1, 0);
}

fn set_up_machine(a: &mut Asm, handler: u64) {
    a.li(T0, handler);
    a.csr(Op::Csrrw, 0, csr::MTVEC, T0);
    // FS and VS dirty.
    a.li(T0, 3 << 13 | 3 << 9);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, T0);
    a.csr(Op::Csrrw, 0, csr::MEDELEG, 0);
    a.csr(Op::Csrrw, 0, csr::MIDELEG, 0);
    a.csr(Op::Csrrw, 0, csr::MIE, 0);
    // All memory is open to S-mode.
    a.rri(Op::Addi, T0, 0, -1);
    a.csr(Op::Csrrw, 0, csr::PMPADDR0, T0);
    a.rri(Op::Addi, T0, 0, 0x1f);
    a.csr(Op::Csrrw, 0, csr::PMPCFG0, T0);
    // A timer interrupt is pending for ever, so that wfi goes on where mie lets it.
    a.li(T0, 0x200_4000);
    a.store(Op::Sd, 0, 0, T0);
}

fn set_up_signals(a: &mut Asm) {
    a.rri(Op::Addi, A0, GP, ALTSTACK);
    a.rri(Op::Addi, A1, 0, 0);
    a.rri(Op::Addi, A7, 0, 132); // sigaltstack
    a.plain(Op::Ecall);
    // SIGILL, SIGTRAP, SIGBUS, SIGFPE, SIGSEGV
    for signal in [4, 5, 7, 8, 11] {
        a.rri(Op::Addi, A0, 0, signal);
        a.rri(Op::Addi, A1, GP, SIGACTION);
        a.rri(Op::Addi, A2, 0, 0);
        a.rri(Op::Addi, A3, 0, 8);
        a.rri(Op::Addi, A7, 0, 134); // rt_sigaction
        a.plain(Op::Ecall);
    }
}

/// Copies `words` double words from [`T0`] to [`T1`], which move on. A multiple of eight.
fn copy(a: &mut Asm, words: u64) {
    a.li(A0, words / 8);
    let again = a.label_here();
    for i in 0..8 {
        a.rri(Op::Ld, T2, T0, 8 * i);
        a.store(Op::Sd, T2, 8 * i, T1);
    }
    a.rri(Op::Addi, T0, T0, 64);
    a.rri(Op::Addi, T1, T1, 64);
    a.rri(Op::Addi, A0, A0, -1);
    a.branch(Op::Bne, A0, 0, again);
}

/// Sets everything to the next image and enters its stream.
fn prologue(a: &mut Asm, vlen: u32, environment: Environment, finish: Label) {
    a.rri(Op::Ld, 31, GP, IMAGE);
    a.rri(Op::Ld, 1, 31, 0);
    let more = a.label();
    a.branch(Op::Bne, 1, 0, more);
    a.jump(finish);
    a.place(more);
    a.li(T0, IMAGE_V as u64 + 32 * u64::from(vlen / 8));
    a.rrr(Op::Add, T0, T0, 31);
    a.li(T1, SANDBOX);
    copy(a, SANDBOX_SIZE / 8);
    a.rri(Op::Addi, T1, GP, TRAP_COUNT);
    a.rri(Op::Addi, A0, 0, 1 + 4 * MOST_TRAPS as i32);
    let again = a.label_here();
    a.store(Op::Sd, 0, 0, T1);
    a.rri(Op::Addi, T1, T1, 8);
    a.rri(Op::Addi, A0, A0, -1);
    a.branch(Op::Bne, A0, 0, again);
    a.csr(Op::Csrrw, 0, csr::VSTART, 0);
    a.rri(Op::Addi, T0, 31, IMAGE_V);
    whole_registers(a, Op::Vl8re8V, vlen);
    for r in 0..32 {
        a.rri(Op::Fld, r, 31, 256 + 8 * i32::from(r));
    }
    for (at, number) in [(IMAGE_FCSR, csr::FCSR), (IMAGE_VCSR, csr::VCSR)] {
        a.rri(Op::Ld, T0, 31, at);
        a.csr(Op::Csrrw, 0, number, T0);
    }
    a.rri(Op::Ld, T0, 31, IMAGE_VTYPE);
    a.rri(Op::Ld, T1, 31, IMAGE_AVL);
    a.rrr(Op::Vsetvl, T0, T1, T0);
    if environment == Environment::Bare {
        for number in super::generate::SCRATCH_CSRS {
            a.csr(Op::Csrrw, 0, number, 0);
        }
    }
    for r in (2..31).filter(|&r| r != GP) {
        a.rri(Op::Ld, r, 31, 8 * i32::from(r));
    }
    a.rri(Op::Jalr, 0, 1, 0);
}

/// Loads or stores all vector registers at [`T0`], which moves on.
fn whole_registers(a: &mut Asm, op: Op, vlen: u32) {
    a.li(T1, u64::from(vlen));
    for v in [0, 8, 16, 24] {
        a.inst(&Inst { rd: v, rs1: T0, ..Inst::new(op) });
        a.rrr(Op::Add, T0, T0, T1);
    }
}

/// Writes the dump of the stream that came here, with `x31` in the control block.
fn dump(a: &mut Asm, vlen: u32, next: Label) {
    let places = Places::new(vlen);
    a.rri(Op::Ld, 31, GP, OUT);
    for r in 1..31 {
        a.store(Op::Sd, r, 8 * (i32::from(r) - 1), 31);
    }
    a.rri(Op::Ld, T0, GP, SAVED);
    a.store(Op::Sd, T0, 8 * 30, 31);
    let at = |word: usize| 8 * word as i32;
    for r in 0..32 {
        a.store(Op::Fsd, r, at(places.f().start) + 8 * i32::from(r), 31);
    }
    for (i, number) in [csr::VSTART, csr::VL, csr::VTYPE, csr::VCSR, csr::FCSR].into_iter().enumerate() {
        a.csr(Op::Csrrs, T0, number, 0);
        a.store(Op::Sd, T0, at(places.csrs().start + i), 31);
    }
    a.rri(Op::Addi, T0, GP, TRAP_COUNT);
    a.rri(Op::Addi, T1, 31, at(places.traps().start));
    // One word for the count, and as many again as make a multiple of eight.
    a.rri(Op::Ld, T2, T0, 0);
    a.store(Op::Sd, T2, 0, T1);
    a.rri(Op::Addi, T0, T0, 8);
    a.rri(Op::Addi, T1, T1, 8);
    copy(a, 4 * MOST_TRAPS as u64);
    a.csr(Op::Csrrw, 0, csr::VSTART, 0);
    a.rrr(Op::Add, T0, T1, 0);
    whole_registers(a, Op::Vs8rV, vlen);
    a.rrr(Op::Add, T1, T0, 0);
    a.li(T0, SANDBOX);
    copy(a, SANDBOX_SIZE / 8);
    a.store(Op::Sd, T1, OUT, GP);
    a.rri(Op::Ld, T0, GP, IMAGE);
    a.li(T1, image_size(vlen));
    a.rrr(Op::Add, T0, T0, T1);
    a.store(Op::Sd, T0, IMAGE, GP);
    a.jump(next);
}

fn write_and_exit(a: &mut Asm, bytes: u64) {
    a.li(8, DUMPS);
    a.li(9, bytes);
    let (again, done) = (a.label_here(), a.label());
    a.branch(Op::Beq, 9, 0, done);
    a.rri(Op::Addi, A0, 0, 1);
    a.rrr(Op::Add, A1, 8, 0);
    a.rrr(Op::Add, A2, 9, 0);
    a.rri(Op::Addi, A7, 0, 64); // write
    a.plain(Op::Ecall);
    // An error ends it as well.
    a.branch(Op::Bge, 0, A0, done);
    a.rrr(Op::Add, 8, 8, A0);
    a.rrr(Op::Sub, 9, 9, A0);
    a.jump(again);
    a.place(done);
    a.rri(Op::Addi, A0, 0, 0);
    a.rri(Op::Addi, A7, 0, 93); // exit
    a.plain(Op::Ecall);
}
