//! What is said at the end of a run that went wrong, and with `--stats`.

use crate::names::readable;
use rvv_isa::{DisasmOptions, XReg};
use rvvsim::elf::Image;
use rvvsim::linux::ThreadInfo;
use rvvsim::vector::VillOrigin;
use rvvsim::{Cause, Hart, LoadError, Machine, Trap};
use std::fmt::Write;
use std::time::Duration;

/// A fatal trap in full: where, what, why, and the registers.
pub fn fatal_trap(hart: &mut Hart, image: &Image, headline: &str, trap: &Trap) -> String {
    let pc = hart.pc();
    let mut text = format!("rvvsim: {headline}\n");
    let _ = writeln!(text, "  pc     {}", address(image, pc));
    let _ = writeln!(text, "  insn   {}", instruction_at(hart, pc));
    let _ = writeln!(text, "  reason {}: {}", describe(trap.cause), trap.why);
    if trap.cause != Cause::IllegalInstruction && trap.tval != pc {
        let _ = writeln!(text, "  at     {}", address(image, trap.tval));
    }
    if let Some((key, words)) = hint(hart, image, trap) {
        let _ = writeln!(text, "  {key:<6} {words}");
    }
    text.push_str(&registers(hart));
    text
}

/// A fatal trap in one line: why, what and where.
pub fn trap_line(hart: &mut Hart, image: &Image, trap: &Trap) -> String {
    let pc = hart.pc();
    let mut text = format!("{}: {}; ", describe(trap.cause), trap.why);
    let _ = write!(text, "{} at {}", instruction_at(hart, pc), address(image, pc));
    if trap.cause != Cause::IllegalInstruction && trap.tval != pc {
        let _ = write!(text, ", accessing {}", address(image, trap.tval));
    }
    if let Some((key, words)) = hint(hart, image, trap) {
        let _ = write!(text, "; {key}: {words}");
    }
    text
}

/// What else there is to know about a trap: where it comes from, what to do about it.
fn hint(hart: &Hart, image: &Image, trap: &Trap) -> Option<(&'static str, String)> {
    match trap.vill_origin(hart) {
        Some(Some(origin)) => {
            let VillOrigin { pc, inst, why, .. } = origin;
            let asked = origin.asked_in_words();
            let text = inst.disasm(pc, DisasmOptions { pseudo: true }).replace('\t', " ");
            Some(("vill", format!("set by {text} at {}, which asked for {asked}: {why}", address(image, pc))))
        }
        Some(None) => Some(("vill", "set since the start: no vset{i}vl{i} was executed".to_owned())),
        None if trap.is_lenience() => {
            Some(("hint", "public test suites contain such instructions; --lenient runs them".to_owned()))
        }
        None if trap.is_missing_extension() => Some((
            "hint",
            "--isa names the extensions there are; the default is RVA23U64 with all vector extensions"
                .to_owned(),
        )),
        None if trap.is_out_of_memory() => Some(("hint", "give the guest more with --mem".to_owned())),
        None => None,
    }
}

/// Where each thread of a deadlock waits.
pub fn waiting_threads(threads: &[ThreadInfo], image: &Image) -> String {
    let mut text = String::new();
    for thread in threads {
        let Some(why) = &thread.waits_for else { continue };
        let ThreadInfo { tid, name, pc, ra, .. } = thread;
        let _ = writeln!(text, "rvvsim: thread {tid} ({name}) {why}");
        let _ = writeln!(text, "  pc     {}\n  from   {}", address(image, *pc), address(image, *ra));
    }
    text
}

/// What to do about a program that cannot be loaded.
pub fn load_hint(error: &LoadError) -> &'static str {
    match error {
        LoadError::Memory { .. } => "; try a smaller --mem",
        LoadError::TooLarge { .. } => "; give it more with --mem",
        LoadError::OutsideRam { .. } => "; link it elsewhere or give more --mem",
        LoadError::Interpreter { .. } => {
            "; give the folder that holds the riscv64 libraries with -L (for example -L /usr/riscv64-linux-gnu), \
             or link with -static"
        }
        _ => "",
    }
}

/// An address with the symbol it belongs to.
fn address(image: &Image, address: u64) -> String {
    match image.nearest(address) {
        Some((name, 0)) => format!("{address:#018x} <{}>", readable(&name)),
        Some((name, offset)) => format!("{address:#018x} <{}+{offset:#x}>", readable(&name)),
        None => format!("{address:#018x}"),
    }
}

fn instruction_at(hart: &mut Hart, pc: u64) -> String {
    let Ok(low) = hart.fetch_parcel(pc) else { return "(cannot be fetched)".to_owned() };
    let mut word = u32::from(low);
    if low & 3 == 3 {
        match hart.fetch_parcel(pc.wrapping_add(2)) {
            Ok(high) => word |= u32::from(high) << 16,
            Err(_) => return format!("{word:04x} (the rest cannot be fetched)"),
        }
    }
    let text = match rvv_isa::decode(word) {
        Some(inst) => inst.disasm(pc, DisasmOptions { pseudo: true }).replace('\t', " "),
        None => "(no instruction)".to_owned(),
    };
    if low & 3 == 3 { format!("{word:08x}  {text}") } else { format!("{word:04x}  {text}") }
}

fn describe(cause: Cause) -> &'static str {
    match cause {
        Cause::InstructionAddressMisaligned => "instruction address misaligned",
        Cause::InstructionAccessFault => "instruction access fault",
        Cause::IllegalInstruction => "illegal instruction",
        Cause::Breakpoint => "breakpoint",
        Cause::LoadAddressMisaligned => "load address misaligned",
        Cause::LoadAccessFault => "load access fault",
        Cause::StoreAddressMisaligned => "store address misaligned",
        Cause::StoreAccessFault => "store access fault",
        Cause::EcallFromU | Cause::EcallFromS | Cause::EcallFromM => "environment call",
        Cause::InstructionPageFault => "instruction page fault",
        Cause::LoadPageFault => "load page fault",
        Cause::StorePageFault => "store page fault",
    }
}

fn registers(hart: &Hart) -> String {
    let mut text = String::new();
    for (r, value) in hart.x_registers().iter().enumerate() {
        let name = XReg(r as u8).name();
        let end = if r % 4 == 3 { '\n' } else { ' ' };
        let _ = write!(text, "  {name:>4} {value:016x}{end}");
    }
    if hart.config().isa.has(rvv_isa::Ext::Zve32x) {
        let v = hart.vector();
        let _ = writeln!(text, "  vl {} vtype {} vstart {} vlenb {}", v.vl, v.vtype, v.vstart, v.vlenb);
    }
    text
}

/// What `--stats` prints.
pub fn statistics(machine: &Machine, time: Duration) -> String {
    let total = machine.hart().instructions_retired();
    let seconds = time.as_secs_f64();
    let rate = if seconds > 0.0 { total as f64 / seconds / 1e6 } else { 0.0 };
    let mut text = format!("{total} instructions in {seconds:.3} s of host time ({rate:.1} million/s)\n");
    let mut counts: Vec<_> = machine.counts().iter().collect();
    counts.sort_by_key(|(_, n)| std::cmp::Reverse(*n));
    for (class, n) in counts {
        let share = 100.0 * n as f64 / total.max(1) as f64;
        let _ = writeln!(text, "  {:<16} {n:>15} {share:>5.1} %", format!("{class:?}"));
    }
    let compiled = machine.engine().compiled();
    if compiled.blocks != 0 {
        let milliseconds = compiled.nanoseconds as f64 / 1e6;
        let _ = writeln!(
            text,
            "{} blocks compiled to {} bytes of host code in {milliseconds:.1} ms",
            compiled.blocks, compiled.bytes
        );
    }
    text
}
