//! Fuzzing in process: what reads the bytes of others, each as a function on bytes, and inputs for it that
//! follow from a seed. The targets of `fuzz/` hand the bytes of libFuzzer to the same functions.
//!
//! Input `n` of a seed is the same on any machine, with any number of jobs, so a failure is found again by
//! its number.

pub mod command;
mod inputs;
mod mutate;
mod runner;

pub use runner::{Failure, Kind, Options, Summary, run};

use crate::hostile::{self, Reached};
use crate::hostile_syscalls;
use crate::hostile_vector::{self, Mode};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rvv_ir::Program;
use rvv_ir::c::COptions;
use rvvfuzz::programs::hostile as files;

/// Steps that a program is evaluated for.
const FUEL: u64 = 5000;

/// Something that reads bytes of others.
pub struct Target {
    /// Its name on the command line, and that of the file in `fuzz/fuzz_targets/`.
    pub name: &'static str,
    /// What is tried.
    pub about: &'static str,
    /// What `run` counts: inputs that were accepted, instructions, system calls.
    pub counts: &'static str,
    make: fn(&mut ChaCha8Rng) -> Vec<u8>,
    run: fn(&[u8]) -> u64,
}

/// Any file, through the ELF reader, both loaders, and a few thousand instructions.
pub const LOADER: Target = Target {
    name: "loader",
    about: "ELF files, loaded and run for 3000 instructions, bare and as a Linux process",
    counts: "files that ran",
    make: hostile::mutate_with,
    run: |bytes| u64::from(hostile::load(bytes) == Reached::Ran),
};

/// Any words, through decoder, disassembler and encoder; any text, as an instruction-set string.
pub const DECODER: Target = Target {
    name: "decoder",
    about: "words through decoder, disassembler and encoder; ISA strings",
    counts: "inputs of instructions only",
    make: inputs::words,
    run: |bytes| u64::from(hostile::decode_bytes(bytes)),
};

/// Any instructions, at any VLEN, bare and as a Linux process.
pub const STREAMS: Target = Target {
    name: "streams",
    about: "streams of 16 to 64 instructions, VLEN 128 to 65536, bare and as a Linux process",
    counts: "instructions completed",
    make: inputs::stream,
    run: streams,
};

/// Any system calls of a guest in the sandbox.
pub const SYSCALLS: Target = Target {
    name: "syscalls",
    about: "system calls with hostile arguments of a guest in the sandbox",
    counts: "system calls",
    make: inputs::syscalls,
    run: |bytes| hostile_syscalls::syscalls(bytes) as u64,
};

/// Any text, as a program of `rvvgen`'s.
pub const IR: Target = Target {
    name: "ir",
    about: "the text of programs, read, checked, written and read again",
    counts: "programs accepted",
    make: inputs::program,
    run: |bytes| u64::from(files::program(bytes)),
};

/// Any text, as a program that is evaluated and lowered.
pub const PROGRAMS: Target = Target {
    name: "programs",
    about: "the same; what is accepted is evaluated and lowered to C and to machine code",
    counts: "programs with a meaning",
    make: inputs::program,
    run: programs,
};

/// Any text, as a `testbeds.toml`.
pub const TESTBEDS: Target = Target {
    name: "testbeds",
    about: "testbeds.toml",
    counts: "files accepted",
    make: inputs::testbeds,
    run: |bytes| u64::from(files::testbeds(bytes)),
};

/// Any file, as a campaign's.
pub const STORES: Target = Target {
    name: "stores",
    about: "a campaign's file, read whole and reported in every form",
    counts: "stores accepted",
    make: inputs::store,
    run: |bytes| u64::from(files::store(bytes)),
};

/// All targets.
pub const TARGETS: [Target; 8] = [LOADER, DECODER, STREAMS, SYSCALLS, IR, PROGRAMS, TESTBEDS, STORES];

impl Target {
    /// The target of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Target> {
        TARGETS.into_iter().find(|t| t.name == name)
    }

    /// Input `number` of a seed.
    #[must_use]
    pub fn input(&self, seed: u64, number: u64) -> Vec<u8> {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(number);
        (self.make)(&mut rng)
    }

    /// Tries an input, and says how much of what the target counts was in it. A panic is a bug.
    pub fn run(&self, bytes: &[u8]) -> u64 {
        (self.run)(bytes)
    }
}

/// A stream in bytes: VLEN, mode, eight bytes of a seed for registers and policies, and the words.
fn streams(bytes: &[u8]) -> u64 {
    let Some((head, code)) = bytes.split_first_chunk::<{ inputs::STREAM_HEAD }>() else { return 0 };
    let (words, _) = code.as_chunks::<4>();
    let words: Vec<u32> = words.iter().take(inputs::MOST_WORDS).map(|w| u32::from_le_bytes(*w)).collect();
    if words.is_empty() {
        return 0;
    }
    let vlen = 128 << (head[0] % 10);
    let mode = if head[1] & 1 == 0 { Mode::Bare } else { Mode::User };
    let seed = head[2..].iter().fold(0, |seed, b| seed << 8 | u64::from(*b));
    hostile_vector::run_stream(&words, vlen, mode, seed, 2 * words.len() as u64)
}

/// Everything that is done to a program after it was read.
fn programs(bytes: &[u8]) -> u64 {
    let Some(program) = std::str::from_utf8(bytes).ok().and_then(|text| text.parse::<Program>().ok()) else {
        return 0;
    };
    if program.check().is_err() {
        return 0;
    }
    let options = rvv_oracle::Options { fuel: FUEL, ..rvv_oracle::Options::new(128) };
    let expected = rvv_oracle::evaluate(&program, &options);
    rvv_ir::c::emit(&[&program], &COptions::default());
    // A program that has no encoding is refused by name.
    let _ = rvv_ir::elf::lower(&[&program]);
    u64::from(expected.is_ok())
}
