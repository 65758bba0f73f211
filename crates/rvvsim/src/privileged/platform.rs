//! The bare-metal platform, which is Spike's: RAM, a reset vector, CLINT, PLIC, a serial port, HTIF.

use super::fdt::Fdt;
use super::htif::Htif;
use super::plic::{self, Plic};
use super::uart::{self, Input, Uart};
use crate::Hart;
use crate::config::Config;
use crate::elf::Image;
use crate::hart::Environment;
use crate::machine::LoadError;
use crate::mem::{PAGE, Ram, Target};
use crate::privileged::counter::INSTRUCTIONS_PER_TICK;
use crate::trap::{Cause, Exec, Trap};
use rvv_isa::{Inst, Op, csr, encode};

/// Where RAM starts.
pub const RAM_BASE: u64 = 0x8000_0000;
/// Where the hart starts.
pub const RESET_VECTOR: u64 = 0x1000;

const CLINT_BASE: u64 = 0x200_0000;
const CLINT_SIZE: u64 = 0xc_0000;
/// The software interrupt registers, one word a hart.
const MSIP: u64 = 0;
/// The timers' registers, one doubleword a hart.
const MTIMECMP: u64 = 0x4000;
const MTIME: u64 = 0xbff8;

/// What of the devices changes as a program runs.
#[derive(Clone)]
pub(crate) struct Devices {
    msip: Vec<bool>,
    mtimecmp: Vec<u64>,
    plic: Plic,
    uart: Uart,
    htif: super::htif::Progress,
}

/// The memory map and the devices.
pub struct Platform {
    /// The reset vector's code and, behind it, the device tree.
    rom: Vec<u8>,
    /// `msip` of the CLINT, by hart: a machine software interrupt is pending.
    pub(super) msip: Vec<bool>,
    /// `mtimecmp` of the CLINT, by hart.
    pub(super) mtimecmp: Vec<u64>,
    /// The interrupt controller.
    pub(super) plic: Plic,
    uart: Uart,
    /// What the serial port hears.
    input: Input,
    /// The number of instructions retired before which not to look for input.
    listen_at: u64,
    /// The host interface.
    pub(super) htif: Htif,
}

/// Instructions between looks for input.
const LISTEN_EVERY: u64 = 10_000;

impl Platform {
    /// Puts the image and the reset vector in place.
    ///
    /// # Errors
    /// When the image does not fit the memory map.
    pub fn new(config: &Config, image: &Image, ram: &mut Ram) -> Result<Self, LoadError> {
        for segment in &image.segments {
            let (data, size) = (image.contents(segment), segment.memsz);
            if size == 0 {
                continue;
            }
            // RAM starts out as zeroes, so what follows the data needs no writing.
            let range = ram_range(segment.paddr, size, ram.len())
                .filter(|range| data.len() <= range.len())
                .ok_or_else(|| {
                does_not_fit("a segment of the program", segment.paddr, size, config.mem)
            })?;
            ram.bytes_mut()[range.start..][..data.len()].copy_from_slice(data);
            for page in range.start / PAGE as usize..(range.start + data.len()).div_ceil(PAGE as usize) {
                ram.mark_written(page * PAGE as usize);
            }
        }
        let find = |name: &str| match image.symbol(name) {
            None => Ok(None),
            Some(at) => match ram_range(at, 8, ram.len()) {
                Some(range) => Ok(Some(range.start)),
                None => Err(does_not_fit(name, at, 8, config.mem)),
            },
        };
        Ok(Platform {
            htif: Htif::new(find("tohost")?, find("fromhost")?),
            ..Platform::with_entry(config, image.entry)
        })
    }

    /// A platform without HTIF that starts at `entry`.
    #[must_use]
    pub fn with_entry(config: &Config, entry: u64) -> Self {
        let mut rom = reset_code(entry);
        rom.extend(device_tree(config));
        rom.resize(rom.len().next_multiple_of(PAGE as usize), 0);
        Platform {
            rom,
            msip: vec![false; config.harts as usize],
            mtimecmp: vec![0; config.harts as usize],
            plic: Plic::new(config.harts),
            uart: Uart::default(),
            input: Input::None,
            listen_at: 0,
            htif: Htif::new(None, None),
        }
    }

    /// What the serial port reads; nothing by default.
    pub fn set_input(&mut self, input: Input) {
        self.input = input;
    }

    /// Whether the program ended itself as failed, by the convention of tests: an odd `tohost` other than 1.
    /// A system call `exit` through HTIF is not that, whatever its status.
    #[must_use]
    pub fn failed(&self) -> bool {
        self.htif.failed
    }

    /// Sends console output elsewhere than to standard output.
    pub fn set_console(&mut self, console: Box<dyn std::io::Write + Send>) {
        self.htif.console = console;
    }

    /// The state of the devices.
    pub(crate) fn devices(&self) -> Devices {
        Devices {
            msip: self.msip.clone(),
            mtimecmp: self.mtimecmp.clone(),
            plic: self.plic.clone(),
            uart: self.uart.clone(),
            htif: self.htif.progress(),
        }
    }

    /// Makes it what it was.
    pub(crate) fn set_devices(&mut self, devices: &Devices) {
        self.msip.clone_from(&devices.msip);
        self.mtimecmp.clone_from(&devices.mtimecmp);
        self.plic.clone_from(&devices.plic);
        self.uart.clone_from(&devices.uart);
        self.listen_at = 0;
        self.htif.set_progress(&devices.htif);
    }

    /// This platform for another program, with the console and the input of `old`.
    pub(crate) fn taking_over(mut self, old: &mut Platform) -> Self {
        std::mem::swap(&mut self.htif.console, &mut old.htif.console);
        std::mem::swap(&mut self.input, &mut old.input);
        self
    }

    /// What is at a physical address.
    pub(super) fn target(&self, pa: u64, ram: usize) -> Option<Target> {
        if let Some(range) = ram_range(pa, 1, ram) {
            return Some(Target::Ram(range.start));
        }
        let is_device = self.in_rom(pa) || in_clint(pa) || in_plic(pa) || in_uart(pa);
        is_device.then_some(Target::Device(pa))
    }

    /// The physical address of a place in RAM.
    pub(super) fn ram_address(&self, offset: usize) -> u64 {
        RAM_BASE + offset as u64
    }

    fn in_rom(&self, pa: u64) -> bool {
        (RESET_VECTOR..RESET_VECTOR + self.rom.len() as u64).contains(&pa)
    }

    /// A little-endian value in the ROM, as far as it is there.
    fn read_rom(&self, pa: u64, size: usize) -> Option<u64> {
        let at = usize::try_from(pa.checked_sub(RESET_VECTOR)?).ok()?;
        let mut bytes = [0; 8];
        bytes.get_mut(..size)?.copy_from_slice(self.rom.get(at..at.checked_add(size)?)?);
        Some(u64::from_le_bytes(bytes))
    }

    /// The doubleword of the CLINT at an offset: two `msip`, or a timer. 0 where there is no register.
    fn clint(&self, at: u64, now: u64) -> u64 {
        match at & !7 {
            at @ MSIP..MTIMECMP => {
                let word = |hart: u64| u64::from(self.msip.get(hart as usize).is_some_and(|&msip| msip));
                word(at / 4) | word(at / 4 + 1) << 32
            }
            MTIME => now,
            at @ MTIMECMP..MTIME => self.mtimecmp.get(((at - MTIMECMP) / 8) as usize).copied().unwrap_or(0),
            _ => 0,
        }
    }

    /// Whether stores to the RAM page of `offset` must be reported.
    #[must_use]
    pub fn watches_page(&self, offset: usize) -> bool {
        self.htif.watches_page(offset)
    }

    /// Reads a register of the serial port, which has bytes, or of the PLIC, which has words and can be read
    /// two at a time.
    fn load_register(&mut self, pa: u64, size: usize) -> Option<u64> {
        if in_uart(pa) {
            let value = (size == 1).then(|| self.uart.load(pa - uart::BASE))?;
            self.plic.set_level(uart::INTERRUPT, self.uart.interrupts());
            return Some(u64::from(value));
        }
        if size < 4 || !pa.is_multiple_of(size as u64) {
            return None;
        }
        let at = pa - plic::BASE;
        let low = u64::from(self.plic.load(at)?);
        Some(if size == 8 { low | u64::from(self.plic.load(at + 4)?) << 32 } else { low })
    }

    /// The same for writing.
    fn store_register(&mut self, pa: u64, size: usize, value: u64) -> Option<()> {
        if in_uart(pa) {
            let out = (size == 1).then(|| self.uart.store(pa - uart::BASE, value as u8))?;
            if let Some(byte) = out {
                self.htif.print(&[byte]);
            }
            self.plic.set_level(uart::INTERRUPT, self.uart.interrupts());
            return Some(());
        }
        if size < 4 || !pa.is_multiple_of(size as u64) {
            return None;
        }
        let at = pa - plic::BASE;
        self.plic.store(at, value as u32)?;
        if size == 8 { self.plic.store(at + 4, (value >> 32) as u32) } else { Some(()) }
    }

    /// Hears what there is to hear, now and then.
    fn listen(&mut self, instret: u64) {
        if instret >= self.listen_at {
            self.listen_at = instret.saturating_add(LISTEN_EVERY);
            if self.uart.listen(&mut self.input) {
                self.plic.set_level(uart::INTERRUPT, self.uart.interrupts());
            }
        }
    }

    /// A store to a watched page is about to happen; true if the engine should return to the machine
    /// after this instruction, so that the device is served.
    pub fn note_write(&mut self, offset: usize, len: usize) -> bool {
        self.htif.completes_command(offset, len)
    }
}

fn in_clint(pa: u64) -> bool {
    (CLINT_BASE..CLINT_BASE + CLINT_SIZE).contains(&pa)
}

fn in_plic(pa: u64) -> bool {
    (plic::BASE..plic::BASE + plic::SIZE).contains(&pa)
}

fn in_uart(pa: u64) -> bool {
    (uart::BASE..uart::BASE + uart::SIZE).contains(&pa)
}

/// Where `size` bytes at a physical address are in `ram` bytes of RAM.
pub(super) fn ram_range(pa: u64, size: u64, ram: usize) -> Option<std::ops::Range<usize>> {
    let start = pa.checked_sub(RAM_BASE)?;
    let end = start.checked_add(size)?;
    (end <= ram as u64).then_some(start as usize..end as usize)
}

fn does_not_fit(what: &str, at: u64, size: u64, mem: u64) -> LoadError {
    let end = RAM_BASE.saturating_add(mem);
    LoadError::OutsideRam { what: what.to_owned(), at, size, start: RAM_BASE, end }
}

/// The code at the reset vector: `a0` is the hart's number, `a1` the device tree, then to `entry`.
fn reset_code(entry: u64) -> Vec<u8> {
    const T0: u8 = 5;
    const A0: u8 = 10;
    const A1: u8 = 11;
    const CODE: i32 = 32;
    let i = |op, rd, rs1, imm| Inst { rd, rs1, imm, ..Inst::new(op) };
    let code = [
        i(Op::Auipc, T0, 0, 0),
        i(Op::Addi, A1, T0, CODE),
        i(Op::Csrrs, A0, 0, i32::from(csr::MHARTID)),
        i(Op::Ld, T0, T0, CODE - 8),
        i(Op::Jalr, 0, T0, 0),
    ];
    let mut rom: Vec<u8> = Vec::new();
    for inst in code {
        rom.extend(encode(&inst).expect("the operands fit").to_le_bytes());
    }
    rom.resize(CODE as usize - 8, 0);
    rom.extend(entry.to_le_bytes());
    rom
}

/// What there is, for software that asks.
fn device_tree(config: &Config) -> Vec<u8> {
    // The interrupt controller of a hart, and the common one.
    let intc = |hart: u32| 1 + hart;
    let plic = 1 + config.harts;
    let to_all = |lines: [u32; 2]| -> Vec<u32> {
        (0..config.harts).flat_map(|hart| [intc(hart), lines[0], intc(hart), lines[1]]).collect()
    };
    let halves = |value: u64| [(value >> 32) as u32, value as u32];
    let reg = |base: u64, size: u64| [halves(base), halves(size)].concat();
    let mut tree = Fdt::default();
    tree.node("", |root| {
        root.cells("#address-cells", &[2]);
        root.cells("#size-cells", &[2]);
        root.text("compatible", "ucbbar,spike-bare-dev");
        root.text("model", "ucbbar,spike-bare");
        root.node("chosen", |chosen| {
            chosen.text("stdout-path", "/soc/ns16550@10000000");
            chosen.text("bootargs", "console=ttyS0 earlycon");
        });
        root.node("cpus", |cpus| {
            cpus.cells("#address-cells", &[1]);
            cpus.cells("#size-cells", &[0]);
            cpus.cells("timebase-frequency", &[(1_000_000_000 / INSTRUCTIONS_PER_TICK) as u32]);
            for hart in 0..config.harts {
                cpus.node(&format!("cpu@{hart:x}"), |cpu| {
                    cpu.text("device_type", "cpu");
                    cpu.cells("reg", &[hart]);
                    cpu.text("status", "okay");
                    cpu.text("compatible", "riscv");
                    cpu.text("riscv,isa", &config.isa.to_string());
                    cpu.text("mmu-type", "riscv,sv57");
                    cpu.cells("riscv,pmpregions", &[super::pmp::ENTRIES as u32]);
                    cpu.cells("riscv,pmpgranularity", &[4]);
                    cpu.cells("clock-frequency", &[1_000_000_000]);
                    cpu.node("interrupt-controller", |node| {
                        node.cells("#address-cells", &[2]);
                        node.cells("#interrupt-cells", &[1]);
                        node.bytes("interrupt-controller", &[]);
                        node.text("compatible", "riscv,cpu-intc");
                        node.cells("phandle", &[intc(hart)]);
                    });
                });
            }
        });
        root.node("memory@80000000", |memory| {
            memory.text("device_type", "memory");
            memory.cells("reg", &reg(RAM_BASE, config.mem.next_multiple_of(PAGE)));
        });
        root.node("soc", |soc| {
            soc.cells("#address-cells", &[2]);
            soc.cells("#size-cells", &[2]);
            soc.text("compatible", "ucbbar,spike-bare-soc\0simple-bus");
            soc.bytes("ranges", &[]);
            soc.node("clint@2000000", |clint| {
                clint.text("compatible", "riscv,clint0");
                clint.cells("interrupts-extended", &to_all([3, 7]));
                clint.cells("reg", &reg(CLINT_BASE, CLINT_SIZE));
            });
            soc.node("plic@c000000", |node| {
                node.text("compatible", "riscv,plic0");
                node.cells("#address-cells", &[2]);
                node.cells("interrupts-extended", &to_all([11, 9]));
                node.cells("reg", &reg(plic::BASE, plic::SIZE));
                node.cells("riscv,ndev", &[plic::SOURCES as u32]);
                node.cells("riscv,max-priority", &[plic::MAX_PRIORITY]);
                node.cells("#interrupt-cells", &[1]);
                node.bytes("interrupt-controller", &[]);
                node.cells("phandle", &[plic]);
            });
            soc.node("ns16550@10000000", |node| {
                node.text("compatible", "ns16550a");
                node.cells("clock-frequency", &[(1_000_000_000 / INSTRUCTIONS_PER_TICK) as u32]);
                node.cells("interrupt-parent", &[plic]);
                node.cells("interrupts", &[uart::INTERRUPT as u32]);
                node.cells("reg", &reg(uart::BASE, uart::SIZE));
                node.cells("reg-shift", &[0]);
                node.cells("reg-io-width", &[1]);
            });
        });
        root.node("htif", |htif| htif.text("compatible", "ucb,htif0"));
    });
    tree.finish()
}

/// The bytes of `register` that an access of `size` bytes at `at` reads.
fn part(register: u64, at: u64, size: usize) -> u64 {
    let value = register >> (at % 8 * 8);
    if size == 8 { value } else { value & ((1 << (size * 8)) - 1) }
}

/// `register` with the bytes that such an access writes replaced.
fn with_part(register: u64, at: u64, size: usize, value: u64) -> u64 {
    let mask = part(u64::MAX, 0, size) << (at % 8 * 8);
    register & !mask | value << (at % 8 * 8) & mask
}

impl Hart {
    pub(crate) fn load_device(&mut self, pa: u64, size: usize, va: u64) -> Exec<u64> {
        let fault = Trap::new(Cause::LoadAccessFault, va, "no device register there");
        let now = self.mtime();
        let Environment::Bare(platform) = &mut self.env else { return Err(fault) };
        if platform.in_rom(pa) {
            return platform.read_rom(pa, size).ok_or(fault);
        }
        if in_plic(pa) || in_uart(pa) {
            // Reading may claim an interrupt or take one back.
            self.resync = true;
            return platform.load_register(pa, size).ok_or(fault);
        }
        if !pa.is_multiple_of(size as u64) {
            let mut value = 0;
            for i in 0..size as u64 {
                value |= self.load_device(pa + i, 1, va)? << (8 * i);
            }
            return Ok(value);
        }
        if !in_clint(pa) {
            return Err(fault);
        }
        let at = pa - CLINT_BASE;
        Ok(part(platform.clint(at, now), at, size))
    }

    pub(crate) fn store_device(&mut self, pa: u64, size: usize, value: u64, va: u64) -> Exec {
        let fault = Trap::new(Cause::StoreAccessFault, va, "no device register there that can be written");
        let now = self.mtime();
        let Environment::Bare(platform) = &mut self.env else { return Err(fault) };
        if in_plic(pa) || in_uart(pa) {
            self.resync = true;
            return platform.store_register(pa, size, value).ok_or(fault);
        }
        if !in_clint(pa) {
            return Err(fault);
        }
        if !pa.is_multiple_of(size as u64) {
            for i in 0..size as u64 {
                self.store_device(pa + i, 1, value >> (8 * i), va)?;
            }
            return Ok(());
        }
        let at = pa - CLINT_BASE;
        let value = with_part(platform.clint(at, now), at, size, value);
        match at & !7 {
            at @ MSIP..MTIMECMP => {
                let first = (at / 4) as usize;
                for (i, msip) in platform.msip.iter_mut().enumerate().skip(first).take(2) {
                    *msip = value >> (32 * (i - first)) & 1 != 0;
                }
            }
            MTIME => self.set_mtime(value),
            at @ MTIMECMP..MTIME => {
                if let Some(mtimecmp) = platform.mtimecmp.get_mut(((at - MTIMECMP) / 8) as usize) {
                    *mtimecmp = value;
                }
            }
            _ => {}
        }
        // Interrupts may come or go, and the time to look for them has changed.
        self.resync = true;
        Ok(())
    }

    pub(crate) fn fetch_device(&mut self, pa: u64, va: u64) -> Exec<u16> {
        let Environment::Bare(platform) = &self.env else { unreachable!("user mode has no devices") };
        match platform.read_rom(pa, 2) {
            Some(parcel) => Ok(parcel as u16),
            None => Err(Trap::new(Cause::InstructionAccessFault, va, "devices cannot be executed")),
        }
    }

    /// The hart leaves reset: pc at the reset vector.
    pub(crate) fn reset_bare(&mut self) {
        self.pc = RESET_VECTOR;
        self.next_pc = RESET_VECTOR;
    }

    /// Serves HTIF and looks for input; the exit code if the guest asked to end.
    pub fn serve_devices(&mut self) -> Option<i32> {
        self.retired_in_block = 0;
        let Hart { env: Environment::Bare(platform), ram, instret, .. } = self else { return None };
        platform.listen(*instret);
        platform.htif.serve(ram, *instret)
    }
}
