//! A trace in few bytes: what is as expected takes no room. The reader keeps the same expectations, so that
//! it gets the same commits back.
//!
//! Behind [`MAGIC`] and the bytes of a vector register there is a record for each instruction: a byte that
//! says what is not as expected, and that. Expected are the hart and mode of the record before, the address
//! behind it, and the bits that were at this address the last time. Registers and addresses are differences
//! from what they were; numbers have seven bits in a byte, lowest first.

use super::commit::{Commit, Write};
use crate::engine::MemoryEvent;
use std::io::{self, Read};

/// What a file begins with.
pub const MAGIC: &[u8; 8] = b"rvvtrc1\n";

/// The least and most bytes of a vector register.
const VLENB: std::ops::RangeInclusive<u64> = 4..=8192;
/// The most writes or accesses of one instruction: a load of 8 registers by bytes, and some more.
const MOST: u64 = 8 * 8192 + 64;

// What differs.
const MODE: u8 = 1;
const JUMP: u8 = 2;
const WORD: u8 = 4;
const WRITES: u8 = 8;
const MEMORY: u8 = 16;

// Kinds of writes; the register's number is added.
const X: u8 = 0x00;
const F: u8 = 0x20;
const V: u8 = 0x40;
const V_VALID: u8 = 0x60;
const CONFIG: u8 = 0x80;
const CSR: u8 = 0x81;

/// Entries of the table of instructions.
const PLACES: usize = 1 << 14;

/// What is expected.
struct State {
    vlenb: usize,
    mode: (u32, u8),
    pc: u64,
    places: Vec<(u64, u32)>,
    x: [u64; 32],
    f: [u64; 32],
    v: Vec<u8>,
    va: u64,
}

impl State {
    fn new(vlenb: usize) -> State {
        State {
            vlenb,
            mode: (0, 0),
            pc: 0,
            places: vec![(u64::MAX, 0); PLACES],
            x: [0; 32],
            f: [0; 32],
            v: vec![0; 32 * vlenb],
            va: 0,
        }
    }

    fn place(&mut self, pc: u64) -> &mut (u64, u32) {
        &mut self.places[(pc >> 1) as usize % PLACES]
    }

    /// Behind a record.
    fn next(&mut self, pc: u64, word: u32) {
        self.pc = pc.wrapping_add(if word & 3 == 3 { 4 } else { 2 });
        *self.place(pc) = (pc, word);
    }

    fn register(&mut self, r: u8) -> &mut [u8] {
        let at = usize::from(r % 32) * self.vlenb;
        &mut self.v[at..at + self.vlenb]
    }
}

fn number(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// A difference: small ones of both signs are few bytes.
fn difference(out: &mut Vec<u8>, from: u64, to: u64) {
    let d = to.wrapping_sub(from) as i64;
    number(out, (d << 1 ^ d >> 63) as u64);
}

/// Bytes, runs of zeroes short: by turns how many zeroes and how many bytes follow.
fn bytes(out: &mut Vec<u8>, all: &[u8]) {
    let mut rest = all;
    while !rest.is_empty() {
        let zeroes = rest.iter().take_while(|b| **b == 0).count();
        rest = &rest[zeroes..];
        // A single zero is cheaper as it is.
        let some = rest.windows(2).position(|w| w == [0, 0]).unwrap_or(rest.len());
        number(out, zeroes as u64);
        number(out, some as u64);
        out.extend_from_slice(&rest[..some]);
        rest = &rest[some..];
    }
}

/// Makes records of commits.
pub struct Encoder {
    state: State,
    scratch: Vec<u8>,
}

impl Encoder {
    /// For a machine with vector registers of so many bytes; what the file begins with is written to `out`.
    pub fn new(vlenb: usize, out: &mut Vec<u8>) -> Encoder {
        out.extend_from_slice(MAGIC);
        number(out, vlenb as u64);
        Encoder { state: State::new(vlenb), scratch: Vec::new() }
    }

    /// Appends a record.
    pub fn encode(&mut self, commit: &Commit, out: &mut Vec<u8>) {
        let Commit { hart, privilege, pc, word, writes, memory } = commit;
        let state = &mut self.state;
        let mode = (*hart, *privilege);
        let known = *state.place(*pc) == (*pc, *word);
        let flag = |on: bool, bit: u8| if on { bit } else { 0 };
        out.push(
            flag(mode != state.mode, MODE)
                | flag(*pc != state.pc, JUMP)
                | flag(!known, WORD)
                | flag(!writes.is_empty(), WRITES)
                | flag(!memory.is_empty(), MEMORY),
        );
        if mode != state.mode {
            number(out, (*hart).into());
            out.push(*privilege);
            state.mode = mode;
        }
        if *pc != state.pc {
            difference(out, state.pc, *pc);
        }
        if !known {
            let len = if word & 3 == 3 { 4 } else { 2 };
            out.extend_from_slice(&word.to_le_bytes()[..len]);
        }
        state.next(*pc, *word);
        if !writes.is_empty() {
            number(out, writes.len() as u64);
        }
        for write in writes {
            match write {
                Write::X(r, value) => {
                    out.push(X | r);
                    difference(out, std::mem::replace(&mut state.x[usize::from(*r % 32)], *value), *value);
                }
                Write::F(r, value) => {
                    out.push(F | r);
                    difference(out, std::mem::replace(&mut state.f[usize::from(*r % 32)], *value), *value);
                }
                Write::Config { sew, lmul, vl } => {
                    out.push(CONFIG);
                    number(out, *sew);
                    out.push(*lmul);
                    number(out, *vl);
                }
                Write::V { register, value, valid } => {
                    out.push(if valid.is_some() { V_VALID } else { V } | register);
                    let old = state.register(*register);
                    self.scratch.clear();
                    self.scratch.extend(old.iter().zip(value).map(|(a, b)| a ^ b));
                    old.copy_from_slice(value);
                    bytes(out, &self.scratch);
                    if let Some(valid) = valid {
                        self.scratch.clear();
                        self.scratch.extend(valid.iter().map(|b| !b));
                        bytes(out, &self.scratch);
                    }
                }
                Write::Csr(n, value) => {
                    out.push(CSR);
                    number(out, (*n).into());
                    number(out, *value);
                }
            }
        }
        if !memory.is_empty() {
            number(out, memory.len() as u64);
        }
        for event in memory {
            let (va, size, value) = match *event {
                MemoryEvent::Load { va, size } => (va, size, None),
                MemoryEvent::Store { va, size, value } => (va, size, Some(value)),
            };
            number(out, (size as u64) << 1 | u64::from(value.is_some()));
            difference(out, std::mem::replace(&mut state.va, va), va);
            if let Some(value) = value {
                number(out, value);
            }
        }
    }
}

/// Reads commits back. The file is a stranger's.
pub struct Decoder<R> {
    input: R,
    state: State,
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.to_owned())
}

impl<R: Read> Decoder<R> {
    /// Of a file.
    ///
    /// # Errors
    /// When it is no trace, or cannot be read.
    pub fn new(mut input: R) -> io::Result<Decoder<R>> {
        let mut magic = [0; MAGIC.len()];
        input.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(wrong("this is no binary trace of rvvsim"));
        }
        let mut decoder = Decoder { input, state: State::new(4) };
        let vlenb = decoder.number()?;
        if !VLENB.contains(&vlenb) {
            return Err(wrong("a vector register of no possible length"));
        }
        decoder.state = State::new(vlenb as usize);
        Ok(decoder)
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    fn number(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(wrong("a number without end"))
    }

    fn difference(&mut self, from: u64) -> io::Result<u64> {
        let z = self.number()?;
        Ok(from.wrapping_add((z >> 1) ^ (z & 1).wrapping_neg()))
    }

    /// So many as there may be.
    fn count(&mut self) -> io::Result<u64> {
        match self.number()? {
            n if n <= MOST => Ok(n),
            _ => Err(wrong("more than one instruction can do")),
        }
    }

    fn bytes(&mut self) -> io::Result<Vec<u8>> {
        let mut all = vec![0; self.state.vlenb];
        let mut at = 0;
        while at < all.len() {
            let zeroes = self.number()?;
            let some = self.number()?;
            let left = (all.len() - at) as u64;
            if zeroes > left || some > left - zeroes || zeroes + some == 0 {
                return Err(wrong("more bytes than a register has"));
            }
            at += zeroes as usize;
            self.input.read_exact(&mut all[at..at + some as usize])?;
            at += some as usize;
        }
        Ok(all)
    }

    /// The next commit; `None` at the end.
    ///
    /// # Errors
    /// When the file ends in a record, or makes no sense.
    pub fn decode(&mut self) -> io::Result<Option<Commit>> {
        let mut flags = [0];
        if self.input.read(&mut flags)? == 0 {
            return Ok(None);
        }
        let [flags] = flags;
        if flags & !(MODE | JUMP | WORD | WRITES | MEMORY) != 0 {
            return Err(wrong("a record of no known kind"));
        }
        if flags & MODE != 0 {
            let hart = u32::try_from(self.number()?).map_err(|_| wrong("no such hart"))?;
            self.state.mode = (hart, self.byte()?);
        }
        let (hart, privilege) = self.state.mode;
        let expected = self.state.pc;
        let pc = if flags & JUMP == 0 { expected } else { self.difference(expected)? };
        let word = if flags & WORD == 0 {
            let (at, word) = *self.state.place(pc);
            if at != pc {
                return Err(wrong("an instruction that was not seen before"));
            }
            word
        } else {
            let mut word = [0; 4];
            self.input.read_exact(&mut word[..2])?;
            if word[0] & 3 == 3 {
                self.input.read_exact(&mut word[2..])?;
            }
            u32::from_le_bytes(word)
        };
        self.state.next(pc, word);
        let mut commit = Commit { hart, privilege, pc, word, ..Commit::default() };
        if flags & WRITES != 0 {
            for _ in 0..self.count()? {
                let write = self.write()?;
                commit.writes.push(write);
            }
        }
        if flags & MEMORY != 0 {
            for _ in 0..self.count()? {
                let kind = self.number()?;
                let size = match kind >> 1 {
                    size @ 0..=64 => size as usize,
                    _ => return Err(wrong("an access of no possible size")),
                };
                let va = self.difference(self.state.va)?;
                self.state.va = va;
                commit.memory.push(match kind & 1 {
                    0 => MemoryEvent::Load { va, size },
                    _ => MemoryEvent::Store { va, size, value: self.number()? },
                });
            }
        }
        Ok(Some(commit))
    }

    fn write(&mut self) -> io::Result<Write> {
        let kind = self.byte()?;
        let r = kind & 0x1f;
        Ok(match kind {
            CONFIG => Write::Config { sew: self.number()?, lmul: self.byte()?, vl: self.number()? },
            CSR => {
                let n = u16::try_from(self.number()?).map_err(|_| wrong("no such CSR"))?;
                Write::Csr(n, self.number()?)
            }
            _ => match kind & 0xe0 {
                X => {
                    let value = self.difference(self.state.x[usize::from(r)])?;
                    self.state.x[usize::from(r)] = value;
                    Write::X(r, value)
                }
                F => {
                    let value = self.difference(self.state.f[usize::from(r)])?;
                    self.state.f[usize::from(r)] = value;
                    Write::F(r, value)
                }
                V | V_VALID => {
                    let changed = self.bytes()?;
                    let old = self.state.register(r);
                    old.iter_mut().zip(changed).for_each(|(a, b)| *a ^= b);
                    let value = old.to_vec();
                    let valid = match kind & 0xe0 {
                        V => None,
                        _ => Some(self.bytes()?.iter().map(|b| !b).collect()),
                    };
                    Write::V { register: r, value, valid }
                }
                _ => return Err(wrong("a write of no known kind")),
            },
        })
    }
}
