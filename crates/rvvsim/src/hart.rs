//! One hardware thread: its registers, and its loads and stores.

mod debug;
mod state;
mod thread;

use crate::config::Config;
use crate::engine::CommitLog;
use crate::fp::Flags;
use crate::mem::{Access, PAGE, Ram, Scalar, Target, Tlb};
use crate::privileged::{CsrFile, Platform, Privilege};
use crate::trap::{Cause, Exec, Trap};
use crate::vector::VectorState;
use rvv_isa::Inst;
use std::ops::{Index, IndexMut};
pub(crate) use thread::ThreadRegisters;

/// A register file of 32 64-bit registers.
///
/// It has a place for every value of a `u8`, so that indexing by a decoded register number needs no
/// bounds check. Of the places past 31 only [`RegFile::SINK`] is ever written.
#[derive(Clone)]
pub struct RegFile([u64; 256]);

impl RegFile {
    /// Where the engine sends writes to `x0`.
    pub const SINK: u8 = 32;

    /// The 32 architectural registers.
    #[must_use]
    pub fn architectural(&self) -> &[u64; 32] {
        self.0.first_chunk().expect("256 is more than 32")
    }

    /// Exchanges the architectural registers.
    fn swap(&mut self, other: &mut RegFile) {
        self.0[..32].swap_with_slice(&mut other.0[..32]);
    }
}

impl Default for RegFile {
    fn default() -> Self {
        RegFile([0; 256])
    }
}

impl Index<u8> for RegFile {
    type Output = u64;
    #[inline(always)]
    fn index(&self, r: u8) -> &u64 {
        &self.0[usize::from(r)]
    }
}

impl IndexMut<u8> for RegFile {
    #[inline(always)]
    fn index_mut(&mut self, r: u8) -> &mut u64 {
        &mut self.0[usize::from(r)]
    }
}

/// Who translates addresses and owns the devices.
pub enum Environment {
    /// Bare metal: physical memory, privileged translation, HTIF and CLINT.
    Bare(Box<Platform>),
    /// Linux user mode: the process's address space.
    User(Box<crate::linux::AddressSpace>),
}

/// What host code leaves behind: see [`crate::jit`].
#[derive(Default)]
#[repr(C)]
pub(crate) struct HostCode {
    /// Instructions that it may still execute.
    pub left: u64,
    /// `instret` when it has executed all that it may.
    pub end: u64,
    /// Where it was left.
    pub at: u64,
    /// What a store that missed the TLB is to store.
    pub value: u64,
    /// Why it was left.
    pub how: u32,
    /// Which compiled block left.
    pub block: u32,
    /// The host's floating-point control while it runs, with the flags raised.
    pub mxcsr: u32,
    /// And otherwise.
    pub host_mxcsr: u32,
    /// The address of the vector registers.
    pub registers: usize,
    /// Vectors that it uses.
    pub constants: crate::jit::Constants,
}

/// When the engine is left at atomic instructions: where the interleaving of threads matters most.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct AtomicStops {
    /// Atomic instructions and fences until then.
    pub left: u32,
}

/// The state of one hart, with the memory it sees.
pub struct Hart {
    /// Integer registers. `x[0]` stays 0: write through [`Hart::set_x`] or to [`RegFile::SINK`].
    pub(crate) x: RegFile,
    /// Floating-point registers, NaN-boxed.
    pub(crate) f: RegFile,
    /// The current instruction, while one executes outside the engine's fast loop; the next otherwise.
    pub(crate) pc: u64,
    /// Where execution goes after the current instruction; block-ending handlers may change it.
    pub(crate) next_pc: u64,
    /// Accrued exception flags.
    pub(crate) fflags: Flags,
    /// Dynamic rounding mode, as written: 5 to 7 are reserved and trap on use.
    pub(crate) frm: u8,
    /// `mstatus.FS` is to be read as dirty: an instruction wrote floating-point state.
    pub(crate) fs_dirty: bool,
    /// `mstatus.VS` likewise.
    pub(crate) vs_dirty: bool,
    /// Vector registers and CSRs.
    pub(crate) v: VectorState,
    /// Privileged CSRs.
    pub(crate) csr: CsrFile,
    /// Current privilege mode.
    pub(crate) prv: Privilege,
    /// Guest RAM.
    pub(crate) ram: Ram,
    /// Translations that hit.
    pub(crate) tlb: Tlb,
    /// Counts changes of translation; cached blocks check their mapping again when it moves.
    pub(crate) tlb_generation: u64,
    /// Translation and devices.
    pub(crate) env: Environment,
    /// The reservation of LR: RAM offset and size.
    pub(crate) reservation: Option<(usize, usize)>,
    /// What LR loaded: where other processes store, too, SC compares.
    pub(crate) reserved: u64,
    /// The number of the hart, or of the thread on it, in the commit log.
    pub(crate) number: u32,
    /// Leave the engine after every so many atomic instructions and fences, so that another thread may run.
    pub(crate) atomics: Option<AtomicStops>,
    /// One of several harts is in `wfi`, and another may execute.
    pub(crate) waits: bool,
    /// Instructions retired before the current block.
    pub(crate) instret: u64,
    /// Instructions of the current block retired before the current one.
    pub(crate) retired_in_block: u32,
    /// The engine must leave the block after this instruction: code was overwritten, or a device wants
    /// attention.
    pub(crate) resync: bool,
    /// The trap that ended the current block, on its way to whoever runs it.
    pub(crate) trap: Option<Trap>,
    /// What host code and the engine pass to each other.
    pub(crate) host_code: HostCode,
    /// What the current instruction did, when someone wants to know.
    pub(crate) log: Option<Box<CommitLog>>,
    /// Where system calls wrote in the guest's memory, address and length, when someone wants to know.
    pub(crate) kernel_writes: Option<Vec<(u64, usize)>>,
    /// What stores overwrite, when they may have to be taken back.
    pub(crate) journal: Option<Box<crate::engine::Journal>>,
    /// The choices of this run.
    pub(crate) config: Config,
}

impl Hart {
    /// A hart at reset, with its memory.
    #[must_use]
    pub(crate) fn new(config: Config, ram: Ram, env: Environment) -> Self {
        let prv = match env {
            Environment::Bare(_) => Privilege::Machine,
            Environment::User(_) => Privilege::User,
        };
        Hart {
            x: RegFile::default(),
            f: RegFile::default(),
            pc: 0,
            next_pc: 0,
            fflags: Flags::default(),
            frm: 0,
            fs_dirty: false,
            vs_dirty: false,
            v: VectorState::new(&config),
            csr: CsrFile::new(&config),
            prv,
            ram,
            tlb: Tlb::default(),
            tlb_generation: 1,
            env,
            reservation: None,
            reserved: 0,
            number: 0,
            atomics: None,
            waits: false,
            instret: 0,
            retired_in_block: 0,
            resync: false,
            trap: None,
            host_code: HostCode::default(),
            log: None,
            kernel_writes: None,
            journal: None,
            config,
        }
    }

    /// The instruction of a word, if this hart has it now: `misa.C` may be clear.
    #[must_use]
    pub fn decode(&self, word: u32) -> Option<Inst> {
        let inst = self.config.isa.decode(word)?;
        (inst.len == 4 || self.csr.compressed()).then_some(inst)
    }

    /// Writes an integer register; `x0` stays 0.
    #[inline(always)]
    pub fn set_x(&mut self, r: u8, value: u64) {
        if r != 0 {
            self.x[r] = value;
        }
    }

    /// Writes a floating-point register and marks `FS` dirty.
    #[inline(always)]
    pub fn set_f(&mut self, r: u8, value: u64) {
        self.f[r] = value;
        self.fs_dirty = true;
    }

    /// Instructions retired so far, the current one not counted.
    #[must_use]
    pub fn instructions_retired(&self) -> u64 {
        self.instret + u64::from(self.retired_in_block)
    }

    /// An atomic instruction or a fence has executed: whoever schedules threads may want to know.
    #[inline(always)]
    pub(crate) fn note_atomic(&mut self) {
        if let Some(stops) = &mut self.atomics {
            stops.left = stops.left.saturating_sub(1);
            if stops.left == 0 {
                self.resync = true;
            }
        }
    }

    /// Translations may have changed: forget them.
    pub fn flush_tlb(&mut self) {
        self.tlb.flush();
        self.tlb_generation += 1;
    }

    /// Translates an address through the environment, checking permission: no TLB, no side effects but
    /// the accessed and dirty bits of page tables.
    ///
    /// # Errors
    /// The access or page fault of that access.
    pub fn translate(&mut self, va: u64, access: Access) -> Exec<Target> {
        let target = match &mut self.env {
            Environment::Bare(_) => self.translate_bare(va, access),
            Environment::User(space) => space.translate(&mut self.ram, va, access),
        }?;
        if let (Target::Ram(offset), true) = (target, self.journal.is_some())
            && self.ram.is_shared(offset)
        {
            // Another process may write there meanwhile, or have read what would be taken back.
            self.note_device();
        }
        Ok(target)
    }

    /// Whether each access must be seen one by one: they are being logged, or a trigger is set.
    pub(crate) fn unhurried(&self) -> bool {
        self.log.is_some() || self.journal.is_some() || self.accesses_are_watched()
    }

    /// Translates an access of `len` bytes (all on one page) and, where later accesses to the page need no
    /// thought, teaches the TLB.
    fn translate_and_remember(&mut self, va: u64, len: usize, access: Access) -> Exec<Target> {
        if self.accesses_are_watched() {
            self.check_triggers(va, len, access)?;
        }
        let target = self.translate(va, access)?;
        if let (Target::Ram(offset), Access::Store) = (target, access) {
            self.ram.mark_written(offset);
        }
        match target {
            Target::Ram(offset) if !self.is_split_by_pmp(offset) => {
                let delicate =
                    access == Access::Store && (self.ram.has_code(offset) || self.is_watched(offset));
                if !delicate && !self.unhurried() {
                    self.tlb.insert(va, offset, access);
                }
            }
            _ => self.check_whole_access(va, target, len, access)?,
        }
        Ok(target)
    }

    /// Whether stores to the RAM page of `offset` must be looked at (HTIF lives in plain memory).
    fn is_watched(&self, offset: usize) -> bool {
        match &self.env {
            Environment::Bare(platform) => platform.watches_page(offset),
            Environment::User(_) => false,
        }
    }

    /// Where `len` bytes at `va` (all on one page) are in RAM, or `None` for a device or a page that PMP
    /// splits: those take [`Hart::load`] and [`Hart::store`], element by element. For a store, decoded
    /// code there is given up at once, so the caller may simply write. This is the door for vector
    /// memory: whole runs of elements are then plain slices.
    ///
    /// # Errors
    /// The access or page fault of that access.
    #[inline]
    pub fn ram_run(&mut self, va: u64, len: usize, access: Access) -> Exec<Option<usize>> {
        debug_assert!(len as u64 <= PAGE - va % PAGE);
        if let Some(offset) = self.tlb.lookup(va, 1, access) {
            return Ok(Some(offset));
        }
        match self.translate_and_remember(va, 1, access)? {
            Target::Ram(offset) if !self.is_split_by_pmp(offset) => {
                if access == Access::Store {
                    self.note_store(offset, len);
                }
                Ok(Some(offset))
            }
            _ => Ok(None),
        }
    }

    /// An access to a device, or to memory shared with others, cannot be taken back.
    fn note_device(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.device = true;
        }
    }

    /// Book-keeping for a store that did not hit the TLB.
    fn note_store(&mut self, offset: usize, len: usize) {
        if let Some(journal) = &mut self.journal {
            journal.writes.push((offset, self.ram.bytes()[offset..offset + len].into()));
        }
        if self.ram.note_write(offset, len) {
            self.resync = true;
        }
        if let Environment::Bare(platform) = &mut self.env
            && platform.note_write(offset, len)
        {
            self.resync = true;
        }
    }

    /// Loads a value. Misaligned addresses are fine where the configuration says so.
    ///
    /// # Errors
    /// The misaligned, access or page fault of that access.
    #[inline(always)]
    pub fn load<T: Scalar>(&mut self, va: u64) -> Exec<T> {
        match self.load_remembered(va) {
            Some(value) => Ok(value),
            None => self.load_slow(va, T::SIZE).map(T::from_u64),
        }
    }

    /// Loads a value by a translation that is remembered, if there is one.
    #[inline(always)]
    pub(crate) fn load_remembered<T: Scalar>(&self, va: u64) -> Option<T> {
        self.ram.peek(self.tlb.lookup(va, T::SIZE, Access::Load)?)
    }

    /// Stores a value.
    ///
    /// # Errors
    /// The misaligned, access or page fault of that access. Then nothing was written.
    #[inline(always)]
    pub fn store<T: Scalar>(&mut self, va: u64, value: T) -> Exec {
        match self.store_remembered(va, value) {
            Some(()) => Ok(()),
            None => self.store_slow(va, T::SIZE, value.to_u64()),
        }
    }

    /// Stores a value by a translation that is remembered, if there is one.
    #[inline(always)]
    pub(crate) fn store_remembered<T: Scalar>(&mut self, va: u64, value: T) -> Option<()> {
        self.ram.poke(self.tlb.lookup(va, T::SIZE, Access::Store)?, value)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn load_slow(&mut self, va: u64, size: usize) -> Exec<u64> {
        let value = self.load_unlogged(va, size)?;
        if let Some(log) = &mut self.log {
            log.load(va, size);
        }
        Ok(value)
    }

    fn load_unlogged(&mut self, va: u64, size: usize) -> Exec<u64> {
        if !va.is_multiple_of(size as u64) && !self.config.misaligned {
            return Err(Trap::new(Cause::LoadAddressMisaligned, va, "misaligned load"));
        }
        let on_page = (PAGE - va % PAGE) as usize;
        if size <= on_page {
            return match self.translate_and_remember(va, size, Access::Load)? {
                Target::Ram(offset) => Ok(self.read_ram(offset, size)),
                Target::Device(pa) => {
                    self.note_device();
                    self.load_device(pa, size, va)
                }
            };
        }
        // The parts on the two pages, low half first; the fault of the second names its own page.
        let low = self.load_unlogged_bytes(va, on_page)?;
        let high = self.load_unlogged_bytes(va.wrapping_add(on_page as u64), size - on_page)?;
        Ok(low | high << (8 * on_page))
    }

    fn load_unlogged_bytes(&mut self, va: u64, len: usize) -> Exec<u64> {
        match self.translate_and_remember(va, len, Access::Load)? {
            Target::Ram(offset) => Ok(self.read_ram(offset, len)),
            Target::Device(_) => Err(Trap::new(
                Cause::LoadAccessFault,
                va,
                "misaligned load from a device or from where there is no memory",
            )),
        }
    }

    fn read_ram(&self, offset: usize, len: usize) -> u64 {
        let mut le = [0; 8];
        le[..len].copy_from_slice(&self.ram.bytes()[offset..offset + len]);
        u64::from_le_bytes(le)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn store_slow(&mut self, va: u64, size: usize, value: u64) -> Exec {
        if !va.is_multiple_of(size as u64) && !self.config.misaligned {
            return Err(Trap::new(Cause::StoreAddressMisaligned, va, "misaligned store"));
        }
        let bytes = value.to_le_bytes();
        let on_page = (PAGE - va % PAGE) as usize;
        if size <= on_page {
            match self.translate_and_remember(va, size, Access::Store)? {
                Target::Ram(offset) => self.write_ram(offset, &bytes[..size]),
                Target::Device(pa) => {
                    self.note_device();
                    self.store_device(pa, size, value, va)?;
                }
            }
        } else {
            // Both translations come before either write, so that a fault leaves memory as it was.
            let second = va.wrapping_add(on_page as u64);
            let low = self.translate_and_remember(va, on_page, Access::Store)?;
            let high = self.translate_and_remember(second, size - on_page, Access::Store)?;
            let (Target::Ram(low), Target::Ram(high)) = (low, high) else {
                let why = "misaligned store to a device or to where there is no memory";
                return Err(Trap::new(Cause::StoreAccessFault, va, why));
            };
            self.write_ram(low, &bytes[..on_page]);
            self.write_ram(high, &bytes[on_page..size]);
        }
        if let Some(log) = &mut self.log {
            log.store(va, size, value);
        }
        Ok(())
    }

    fn write_ram(&mut self, offset: usize, bytes: &[u8]) {
        self.note_store(offset, bytes.len());
        self.ram.bytes_mut()[offset..offset + bytes.len()].copy_from_slice(bytes);
        // HTIF acts on what was written, so it looks after the write.
    }

    /// Fetches a 16-bit parcel of an instruction.
    ///
    /// # Errors
    /// The access or page fault of the fetch, with `tval` the parcel's address.
    pub fn fetch_parcel(&mut self, va: u64) -> Exec<u16> {
        match self.fetch_target(va)? {
            Target::Ram(offset) => Ok(self.ram.read(offset).unwrap_or(0)),
            Target::Device(pa) => self.fetch_device(pa, va),
        }
    }

    /// Where the instruction at `va` comes from.
    ///
    /// # Errors
    /// The access or page fault of the fetch.
    pub fn fetch_target(&mut self, va: u64) -> Exec<Target> {
        if let Some(offset) = self.tlb.lookup(va, 2, Access::Fetch) {
            return Ok(Target::Ram(offset));
        }
        self.translate_and_remember(va, 2, Access::Fetch)
    }
}
