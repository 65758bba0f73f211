//! HTIF, the host-target interface: the words `tohost` and `fromhost` in the program's memory.
//!
//! A command is a word: device in the top byte, its command in the next, the payload below. Device 0 is
//! the system-call proxy: an odd payload ends the run with the payload's other bits as exit code; an
//! even one is the address of eight doublewords, a system call's number and arguments, the first of
//! which takes the result. Command 1 of device 1 puts a character on the console.

use super::platform::ram_range;
use crate::mem::{PAGE, Ram};
use std::collections::VecDeque;
use std::io::Write;

const WRITE: u64 = 64;
const EXIT: u64 = 93;

const EBADF: i64 = 9;
const EFAULT: i64 = 14;
const ENOSYS: i64 = 38;

/// The host's end.
pub struct Htif {
    /// Offsets in RAM.
    tohost: Option<usize>,
    fromhost: Option<usize>,
    /// Answers that wait for `fromhost` to be taken.
    answers: VecDeque<u64>,
    /// Where the console goes.
    pub(super) console: Box<dyn Write + Send>,
    /// Something was written to the console and may be still in a buffer.
    unflushed: bool,
    /// The lower half of `tohost` was written, and the upper half not since.
    half: bool,
    /// The number of instructions retired before which to look away.
    look_at: u64,
    /// The program ended itself through `tohost` as failed: with an odd payload that is not 1.
    pub(super) failed: bool,
}

/// How many instructions may pass until the upper half of a command follows the lower one.
const PATIENCE: u64 = 1000;

/// What of the host's end changes as a program runs. What was printed stays printed.
#[derive(Clone)]
pub(super) struct Progress {
    answers: VecDeque<u64>,
    half: bool,
    look_at: u64,
}

impl Htif {
    pub(super) fn progress(&self) -> Progress {
        Progress { answers: self.answers.clone(), half: self.half, look_at: self.look_at }
    }

    pub(super) fn set_progress(&mut self, progress: &Progress) {
        self.answers.clone_from(&progress.answers);
        (self.half, self.look_at) = (progress.half, progress.look_at);
    }

    /// An interface with its words at these offsets in RAM.
    pub fn new(tohost: Option<usize>, fromhost: Option<usize>) -> Self {
        let console = Box::new(std::io::stdout());
        let answers = VecDeque::new();
        Htif { tohost, fromhost, answers, console, unflushed: false, half: false, look_at: 0, failed: false }
    }

    /// Whether `tohost` has a byte on the RAM page of `offset`.
    pub fn watches_page(&self, offset: usize) -> bool {
        let page = |offset: usize| offset / PAGE as usize;
        self.tohost.is_some_and(|at| page(at) == page(offset) || page(at + 7) == page(offset))
    }

    /// Takes note of a write of `len` bytes at `offset`: whether it completes a command. A write of the
    /// lower half alone does not, since the upper half follows; if it does not follow in good time, the
    /// command is taken as it is.
    pub fn completes_command(&mut self, offset: usize, len: usize) -> bool {
        let Some(at) = self.tohost else { return false };
        let touches = |half: usize| offset < half + 4 && half < offset + len;
        if touches(at + 4) {
            self.half = false;
            self.look_at = 0;
            return true;
        }
        self.half |= touches(at);
        false
    }

    /// Does what the guest asked for until `now`, in instructions retired; the exit code if that was to end.
    pub fn serve(&mut self, ram: &mut Ram, now: u64) -> Option<i32> {
        let Some(at) = self.tohost else {
            self.flush();
            return None;
        };
        if std::mem::take(&mut self.half) {
            self.look_at = now.saturating_add(PATIENCE);
        }
        if now < self.look_at {
            return None;
        }
        let command: u64 = ram.read(at).unwrap_or(0);
        if command == 0 {
            self.answer(ram);
            self.flush();
            return None;
        }
        write_word(ram, at, 0);
        let payload = command & ((1 << 48) - 1);
        let exit = match command >> 48 {
            0 if payload & 1 == 1 => {
                self.failed = payload != 1;
                Some((payload >> 1) as i32)
            }
            0 => {
                let exit = self.system_call(ram, payload);
                self.answers.push_back(1);
                exit
            }
            0x0101 => {
                self.print(&[payload as u8]);
                None
            }
            _ => None,
        };
        self.answer(ram);
        if exit.is_some() {
            let _ = self.console.flush();
        }
        exit
    }

    fn flush(&mut self) {
        if std::mem::take(&mut self.unflushed) {
            let _ = self.console.flush();
        }
    }

    fn answer(&mut self, ram: &mut Ram) {
        if let Some(at) = self.fromhost
            && ram.read(at) == Some(0u64)
            && let Some(answer) = self.answers.pop_front()
        {
            write_word(ram, at, answer);
        }
    }

    /// A console that is gone is no concern of the guest's.
    pub(super) fn print(&mut self, bytes: &[u8]) {
        let _ = self.console.write_all(bytes);
        self.unflushed = true;
    }

    /// Does the system call described at physical address `pa`; the exit code if it is `exit`.
    fn system_call(&mut self, ram: &mut Ram, pa: u64) -> Option<i32> {
        let words = ram_range(pa, 64, ram.len())?;
        let word = |i: usize| ram.read::<u64>(words.start + 8 * i).unwrap_or(0);
        let (number, a0, a1, a2) = (word(0), word(1), word(2), word(3));
        let result = match number {
            EXIT => return Some(a0 as i32),
            WRITE => match ram_range(a1, a2, ram.len()) {
                _ if a0 != 1 && a0 != 2 => -EBADF,
                Some(range) => {
                    self.print(&ram.bytes()[range]);
                    a2 as i64
                }
                None => -EFAULT,
            },
            _ => -ENOSYS,
        };
        write_word(ram, words.start, result as u64);
        None
    }
}

fn write_word(ram: &mut Ram, offset: usize, value: u64) {
    ram.note_write(offset, 8);
    ram.write(offset, value);
}
