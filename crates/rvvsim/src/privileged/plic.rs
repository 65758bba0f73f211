//! The platform-level interrupt controller (RISC-V PLIC specification 1.0.0), as large as Spike's: 31
//! sources, priorities of four bits, and two contexts for each hart, its M-mode and its S-mode. Sources are
//! levels.

/// Where it is.
pub(super) const BASE: u64 = 0xc00_0000;
pub(super) const SIZE: u64 = 0x100_0000;
/// Sources 1 to 31; there is no source 0.
pub(super) const SOURCES: usize = 31;
pub(super) const MAX_PRIORITY: u32 = 15;

const PENDING: u64 = 0x1000;
const ENABLE: u64 = 0x2000;
const ENABLE_PER_CONTEXT: u64 = 0x80;
const CONTEXT: u64 = 0x20_0000;
const PER_CONTEXT: u64 = 0x1000;
const THRESHOLD: u64 = 0;
const CLAIM: u64 = 4;

/// The contexts of a hart, in their order.
pub(super) const MACHINE: usize = 0;
pub(super) const SUPERVISOR: usize = 1;

/// What a hart's mode has of it.
#[derive(Clone, Copy, Default)]
struct Context {
    enabled: u32,
    threshold: u32,
}

/// The registers; sources are bits of words.
#[derive(Clone)]
pub(super) struct Plic {
    priority: [u32; SOURCES + 1],
    /// The sources that ask.
    level: u32,
    /// The sources that have been claimed and not completed: their gateways are closed.
    claimed: u32,
    contexts: Vec<Context>,
}

impl Plic {
    /// For so many harts, at reset.
    pub(super) fn new(harts: u32) -> Self {
        let contexts = vec![Context::default(); 2 * harts as usize];
        Plic { priority: [0; SOURCES + 1], level: 0, claimed: 0, contexts }
    }

    /// A source asks, or no longer does.
    pub(super) fn set_level(&mut self, source: usize, asks: bool) {
        self.level = self.level & !(1 << source) | u32::from(asks) << source;
    }

    fn pending(&self) -> u32 {
        self.level & !self.claimed
    }

    /// The source that a context would claim: "the ID of the highest-priority pending interrupt", the lowest
    /// ID among equals; 0 if there is none. A priority of 0 never interrupts, nor does one that is not above
    /// the threshold.
    fn best(&self, context: usize) -> usize {
        let Some(&Context { enabled, threshold }) = self.contexts.get(context) else { return 0 };
        let candidates = self.pending() & enabled;
        let mut best = 0;
        for source in (1..=SOURCES).filter(|source| candidates >> source & 1 != 0) {
            if self.priority[source] > self.priority[best] {
                best = source;
            }
        }
        if self.priority[best] > threshold { best } else { 0 }
    }

    /// The context that an offset belongs to, and the register in it.
    fn context(&self, at: u64, size: u64) -> Option<(usize, u64)> {
        let context = usize::try_from(at / size).ok()?;
        (context < self.contexts.len()).then_some((context, at % size))
    }

    /// Whether a context is interrupted.
    pub(super) fn interrupts(&self, context: usize) -> bool {
        self.best(context) != 0
    }

    /// Reads a word; `None` if there is no register.
    pub(super) fn load(&mut self, at: u64) -> Option<u32> {
        match at {
            0..PENDING => Some(self.priority.get(at as usize / 4).copied().unwrap_or(0)),
            PENDING..ENABLE => Some(if at == PENDING { self.pending() } else { 0 }),
            ENABLE..CONTEXT => {
                let (context, register) = self.context(at - ENABLE, ENABLE_PER_CONTEXT)?;
                Some(if register == 0 { self.contexts[context].enabled } else { 0 })
            }
            _ => match self.context(at - CONTEXT, PER_CONTEXT)? {
                (context, THRESHOLD) => Some(self.contexts[context].threshold),
                (context, CLAIM) => {
                    let source = self.best(context);
                    self.claimed |= (1 << source) & !1;
                    Some(source as u32)
                }
                _ => Some(0),
            },
        }
    }

    /// Writes a word; `None` if there is no register.
    pub(super) fn store(&mut self, at: u64, value: u32) -> Option<()> {
        match at {
            0..PENDING => {
                let source = at as usize / 4;
                if (1..=SOURCES).contains(&source) {
                    self.priority[source] = value & MAX_PRIORITY;
                }
            }
            // Pending bits are read-only.
            PENDING..ENABLE => {}
            ENABLE..CONTEXT => {
                if let (context, 0) = self.context(at - ENABLE, ENABLE_PER_CONTEXT)? {
                    self.contexts[context].enabled = value & !1;
                }
            }
            _ => match self.context(at - CONTEXT, PER_CONTEXT)? {
                (context, THRESHOLD) => self.contexts[context].threshold = value & MAX_PRIORITY,
                // "If the completion ID does not match an interrupt source that is currently enabled for the
                // target, the completion is silently ignored."
                (context, CLAIM) => self.claimed &= !(self.contexts[context].enabled & bit(value)),
                _ => return None,
            },
        }
        Some(())
    }
}

fn bit(source: u32) -> u32 {
    1_u32.checked_shl(source).unwrap_or(0)
}
