//! A serial port as the NS16550A has it, with a FIFO of 16 bytes for input. Output is never waited for.

use std::collections::VecDeque;

/// Where it is, and its interrupt at the PLIC.
pub(super) const BASE: u64 = 0x1000_0000;
pub(super) const SIZE: u64 = 0x100;
pub(super) const INTERRUPT: usize = 1;

/// The registers.
mod register {
    /// Receiver buffer, transmitter holding register; with DLAB, the divisor's low byte.
    pub const DATA: u64 = 0;
    /// Interrupt enable; with DLAB, the divisor's high byte.
    pub const IER: u64 = 1;
    /// Interrupt identification to read, FIFO control to write.
    pub const IIR_FCR: u64 = 2;
    pub const LCR: u64 = 3;
    pub const MCR: u64 = 4;
    pub const LSR: u64 = 5;
    pub const MSR: u64 = 6;
    pub const SCR: u64 = 7;
}

const IER_RECEIVED: u8 = 1;
const IER_EMPTY: u8 = 2;
const IIR_NONE: u8 = 1;
const IIR_EMPTY: u8 = 2;
const IIR_RECEIVED: u8 = 4;
const IIR_FIFO: u8 = 0xc0;
const FCR_ENABLE: u8 = 1;
const FCR_CLEAR_RECEIVED: u8 = 2;
const LCR_DLAB: u8 = 0x80;
const MCR_LOOP: u8 = 0x10;
const MCR_OUT2: u8 = 8;
const LSR_READY: u8 = 1;
const LSR_OVERRUN: u8 = 2;
const LSR_EMPTY: u8 = 0x60;
const MSR_CARRIER_READY_CLEAR: u8 = 0xb0;

/// Bytes of input that it holds.
const FIFO: usize = 16;

/// Where a serial port's input comes from.
#[derive(Default)]
pub enum Input {
    /// There is none.
    #[default]
    None,
    /// Standard input, as far as there is some without waiting.
    Stdin,
    /// These bytes.
    Bytes(VecDeque<u8>),
}

impl Input {
    /// The next byte, if it is there.
    fn next(&mut self) -> Option<u8> {
        match self {
            Input::None => None,
            Input::Bytes(bytes) => bytes.pop_front(),
            Input::Stdin => {
                use rustix::event::{PollFd, PollFlags, Timespec, poll};
                let stdin = std::io::stdin();
                let mut polled = [PollFd::new(&stdin, PollFlags::IN)];
                let now = Timespec { tv_sec: 0, tv_nsec: 0 };
                if poll(&mut polled, Some(&now)).unwrap_or(0) == 0 {
                    return None;
                }
                let mut byte = [0];
                // One byte at a time, so that nothing is taken that the guest does not ask for. At the end of
                // the input, or if it cannot be read, there will be no more.
                match rustix::io::read(&stdin, &mut byte) {
                    Ok(1) => Some(byte[0]),
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => None,
                    _ => {
                        *self = Input::None;
                        None
                    }
                }
            }
        }
    }
}

/// The port.
#[derive(Clone)]
pub(super) struct Uart {
    received: VecDeque<u8>,
    ier: u8,
    fcr: u8,
    lcr: u8,
    mcr: u8,
    scr: u8,
    divisor: [u8; 2],
    overrun: bool,
    /// The transmitter has become empty, and no interrupt has reported it.
    empty_untold: bool,
    /// The guest has looked for input: only then is the host's taken.
    listens: bool,
}

impl Default for Uart {
    fn default() -> Self {
        Uart {
            received: VecDeque::new(),
            ier: 0,
            fcr: 0,
            lcr: 0,
            mcr: MCR_OUT2,
            scr: 0,
            divisor: [0x0c, 0],
            overrun: false,
            empty_untold: true,
            listens: false,
        }
    }
}

impl Uart {
    /// What interrupts, by falling priority; [`IIR_NONE`] if nothing does.
    fn cause(&self) -> u8 {
        if self.ier & IER_RECEIVED != 0 && !self.received.is_empty() {
            IIR_RECEIVED
        } else if self.ier & IER_EMPTY != 0 && self.empty_untold {
            IIR_EMPTY
        } else {
            IIR_NONE
        }
    }

    /// Whether it interrupts.
    pub(super) fn interrupts(&self) -> bool {
        self.cause() != IIR_NONE
    }

    fn capacity(&self) -> usize {
        if self.fcr & FCR_ENABLE != 0 { FIFO } else { 1 }
    }

    /// Takes input, if the guest is interested and there is room; whether any came.
    pub(super) fn listen(&mut self, input: &mut Input) -> bool {
        let before = self.received.len();
        while self.listens && self.mcr & MCR_LOOP == 0 && self.received.len() < self.capacity() {
            match input.next() {
                Some(byte) => self.received.push_back(byte),
                None => break,
            }
        }
        self.received.len() != before
    }

    /// Reads a register.
    pub(super) fn load(&mut self, at: u64) -> u8 {
        let divisor = self.lcr & LCR_DLAB != 0;
        match at & 7 {
            register::DATA | register::IER if divisor => self.divisor[(at & 1) as usize],
            register::DATA => {
                self.listens = true;
                self.received.pop_front().unwrap_or(0)
            }
            register::IER => self.ier,
            register::IIR_FCR => {
                let cause = self.cause();
                // "Reading the IIR (if source of interrupt) or writing into the transmitter holding register"
                // resets that interrupt.
                if cause == IIR_EMPTY {
                    self.empty_untold = false;
                }
                cause | if self.fcr & FCR_ENABLE != 0 { IIR_FIFO } else { 0 }
            }
            register::LCR => self.lcr,
            register::MCR => self.mcr,
            register::LSR => {
                self.listens = true;
                let ready = if self.received.is_empty() { 0 } else { LSR_READY };
                let overrun = if std::mem::take(&mut self.overrun) { LSR_OVERRUN } else { 0 };
                LSR_EMPTY | ready | overrun
            }
            register::MSR => MSR_CARRIER_READY_CLEAR,
            _ => self.scr,
        }
    }

    /// Writes a register; the byte that goes out, if one does.
    pub(super) fn store(&mut self, at: u64, value: u8) -> Option<u8> {
        let divisor = self.lcr & LCR_DLAB != 0;
        match at & 7 {
            register::DATA | register::IER if divisor => self.divisor[(at & 1) as usize] = value,
            register::DATA => {
                // It is gone at once, and the holding register empty again.
                self.empty_untold = true;
                if self.mcr & MCR_LOOP == 0 {
                    return Some(value);
                }
                if self.received.len() < self.capacity() {
                    self.received.push_back(value);
                } else {
                    self.overrun = true;
                }
            }
            register::IER => {
                // An interrupt that is enabled while the transmitter is empty comes at once.
                self.empty_untold |= value & !self.ier & IER_EMPTY != 0;
                self.listens |= value & IER_RECEIVED != 0;
                self.ier = value & 0xf;
            }
            register::IIR_FCR => {
                // "Changing from FIFO mode to 16450 mode and vice versa" clears the FIFOs.
                if value & FCR_CLEAR_RECEIVED != 0 || (value ^ self.fcr) & FCR_ENABLE != 0 {
                    self.received.clear();
                }
                self.fcr = value;
            }
            register::LCR => self.lcr = value,
            register::MCR => self.mcr = value,
            register::SCR => self.scr = value,
            _ => {}
        }
        None
    }
}
