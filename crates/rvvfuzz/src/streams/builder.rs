//! Puts a stream together step by step, executing as it goes.

use super::coverage::Watch;
use super::init::Init;
use super::inprocess::{Lab, Violation};
use super::layout::SLOT;
use super::stream::{Step, Stream, put, size};
use rvv_asm::Asm;
use rvv_isa::{Inst, Op, Vtype, csr, encode};
use rvvsim::Config;

/// A stream in the making, and the machines that have executed it so far.
pub struct Builder<'l> {
    lab: &'l mut Lab,
    stream: Stream,
    watch: Watch,
}

/// What became of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pushed {
    /// It is part of the stream.
    Taken,
    /// It would read agnostic elements; what came before the instruction may have stayed.
    Refused,
    /// There is no more room.
    Full,
}

impl<'l> Builder<'l> {
    /// A stream with no steps, in slot 0.
    pub fn new(lab: &'l mut Lab, init: Init) -> Builder<'l> {
        let vlen = lab.vlen();
        lab.begin(&init.start(vlen), 0);
        let stream = Stream { vlen, init, steps: Vec::new(), flows: Vec::new() };
        Builder { lab, stream, watch: Watch::default() }
    }

    /// `vtype` as it is now.
    #[must_use]
    pub fn vtype(&self) -> Vtype {
        self.lab.hart().vector().vtype
    }

    /// `vl` as it is now.
    #[must_use]
    pub fn vl(&self) -> u64 {
        self.lab.hart().vector().vl
    }

    /// VLEN.
    #[must_use]
    pub fn vlen(&self) -> u32 {
        self.lab.vlen()
    }

    /// The machines' configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        self.lab.config()
    }

    /// Instructions under test so far.
    #[must_use]
    pub fn len(&self) -> usize {
        self.stream.instructions()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Executes a step and adds it, if it may be part of a stream.
    ///
    /// # Errors
    /// What makes the whole stream useless.
    pub fn push(&mut self, step: Step) -> Result<Pushed, Violation> {
        let from = self.lab.end();
        // Room for jumps and loops that come later, and for what tidies up.
        if from + step.size() - self.lab_start() > SLOT - 512 {
            return Ok(Pushed::Full);
        }
        self.lab.append(&bytes(step.words()));
        let result = match self.lab.advance(&mut self.watch) {
            Ok(()) => {
                self.stream.steps.push(step);
                Pushed::Taken
            }
            Err(Violation::ReadsAgnostic { pc } | Violation::LeavesChoice { pc }) => {
                self.lab.truncate(pc);
                let mut at = from;
                let done = |word: &u32| {
                    at += size(*word);
                    at <= pc
                };
                let before: Vec<u32> = step.words().take_while(done).collect();
                if !before.is_empty() {
                    self.stream.steps.push(Step { before, ..Step::default() });
                }
                Pushed::Refused
            }
            Err(other) => return Err(other),
        };
        self.tidy()?;
        Ok(result)
    }

    /// A `vstart` or `frm` that would make most of what follows trap does not stay.
    fn tidy(&mut self) -> Result<(), Violation> {
        let hart = self.lab.hart();
        let mut after = Vec::new();
        if hart.vector().vstart != 0 {
            after.push(csr_immediate(csr::VSTART, 0));
        }
        if hart.frm() > 4 {
            after.push(csr_immediate(csr::FRM, hart.frm() - 4));
        }
        if after.is_empty() {
            return Ok(());
        }
        self.lab.append(&bytes(after.iter().copied()));
        self.lab.advance(&mut self.watch)?;
        match self.stream.steps.last_mut() {
            Some(step) => step.after.extend(after),
            None => self.stream.steps.push(Step { after, ..Step::default() }),
        }
        Ok(())
    }

    fn lab_start(&self) -> u64 {
        super::layout::slot(0)
    }

    /// The stream.
    #[must_use]
    pub fn finish(self) -> Stream {
        self.stream
    }
}

/// `csrrwi x0, csr, value`
#[must_use]
pub fn csr_immediate(number: u16, value: u8) -> u32 {
    let inst = Inst { rs1: value, imm: number.into(), ..Inst::new(Op::Csrrwi) };
    encode(&inst).expect("a CSR and five bits")
}

/// Instructions as they stand in memory.
#[must_use]
pub fn bytes(words: impl Iterator<Item = u32>) -> Vec<u8> {
    let mut a = Asm::new(0);
    words.for_each(|word| put(&mut a, word));
    a.finish()
}
