use super::super::status::*;
use super::*;
use crate::engine::{Engine, Stop};
use crate::machine::{Machine, Outcome};
use crate::privileged::platform::RESET_VECTOR;
use rvv_isa::{csr, encode};
use std::io::Write;
use std::sync::{Arc, Mutex};

const CLINT: u64 = 0x200_0000;
const MTIMECMP: u64 = CLINT + 0x4000;
const MTIME: u64 = CLINT + 0xbff8;

#[test]
fn reset_leads_to_the_entry_with_hart_number_and_device_tree() {
    let mut h = hart();
    h.x[10] = 99;
    assert_eq!(h.pc, RESET_VECTOR);
    let mut engine = Engine::default();
    let mut path = Vec::new();
    for _ in 0..5 {
        path.push(h.pc);
        assert_eq!(engine.step(&mut h), Stop::Budget);
    }
    assert_eq!(path, [0x1000, 0x1004, 0x1008, 0x100c, 0x1010]);
    assert_eq!((h.pc, h.x[10], h.x[11], h.x[5]), (RAM_BASE, 0, 0x1020, RAM_BASE));
    // Big-endian magic and size of the tree; "/" is its first node.
    let word = |h: &mut Hart, at: u64| h.load::<u32>(0x1020 + at).unwrap().swap_bytes();
    assert_eq!(word(&mut h, 0), 0xd00d_feed);
    let (total, structure, strings) = (word(&mut h, 4), word(&mut h, 8), word(&mut h, 12));
    assert_eq!(word(&mut h, u64::from(structure)), 1);
    assert_eq!(strings + word(&mut h, 32), total);
    assert_eq!(structure + word(&mut h, 36), strings);
    assert_eq!(word(&mut h, u64::from(strings) - 4), 9, "the structure ends with FDT_END");
}

#[test]
fn the_rom_cannot_be_written_and_the_rest_is_not_there() {
    let mut h = hart();
    assert_eq!(h.store(RESET_VECTOR, 0u32).map_err(|t| t.cause), Err(Cause::StoreAccessFault));
    assert_eq!(h.load::<u32>(0).map_err(|t| t.cause), Err(Cause::LoadAccessFault));
    assert_eq!(h.fetch_parcel(CLINT).map_err(|t| t.cause), Err(Cause::InstructionAccessFault));
}

#[test]
fn clint_registers_are_made_of_bytes() {
    let mut h = hart();
    h.store(MTIMECMP, 0x1122_3344_5566_7788u64).unwrap();
    assert_eq!(h.load::<u64>(MTIMECMP), Ok(0x1122_3344_5566_7788));
    assert_eq!(h.load::<u32>(MTIMECMP + 4), Ok(0x1122_3344));
    assert_eq!(h.load::<u8>(MTIMECMP + 2), Ok(0x66));
    h.store(MTIMECMP + 4, u32::MAX).unwrap();
    assert_eq!(h.load::<u64>(MTIMECMP), Ok(0xffff_ffff_5566_7788));
    assert_eq!(h.load::<u32>(MTIMECMP + 1), Ok(0xff55_6677), "misaligned");
    assert_eq!(h.load::<u64>(MTIMECMP + 8), Ok(0), "of a hart that is not there");
    assert_eq!(h.load::<u64>(CLINT + 0xc_0000).map_err(|t| t.cause), Err(Cause::LoadAccessFault));
}

#[test]
fn clint_makes_interrupts() {
    let mut h = hart();
    assert_eq!(h.mip(), MTI, "mtimecmp is 0 at reset");
    h.store(MTIMECMP, 10u64).unwrap();
    assert!(std::mem::take(&mut h.resync), "the machine is told");
    assert_eq!(h.mip(), 0);
    h.instret = 999;
    assert_eq!(h.mip(), 0);
    h.instret = 1000;
    assert_eq!((h.mip(), h.load::<u64>(MTIME)), (MTI, Ok(10)));
    assert_eq!(read(&mut h, csr::TIME), 10);
    h.store(MTIME, 3u64).unwrap();
    assert_eq!((h.mip(), h.mtime()), (0, 3));
    h.store(CLINT, 1u32).unwrap();
    assert_eq!((h.mip(), h.load::<u32>(CLINT)), (MSI, Ok(1)));
    h.store(CLINT + 4, 1u32).unwrap();
    h.store(CLINT, 2u32).unwrap();
    assert_eq!(h.mip(), 0);
}

/// A console whose output can be looked at.
#[derive(Clone, Default)]
pub struct Console(pub Arc<Mutex<Vec<u8>>>);

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Console {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

const TOHOST: u64 = RAM_BASE + 0x1000;
const FROMHOST: u64 = RAM_BASE + 0x1040;

fn hart_with_htif() -> (Hart, Console) {
    let mut h = hart();
    let console = Console::default();
    platform(&mut h).htif = super::super::htif::Htif::new(Some(0x1000), Some(0x1040));
    platform(&mut h).set_console(Box::new(console.clone()));
    (h, console)
}

/// Stores and, if that asks for it, serves the devices.
fn tell<T: crate::mem::Scalar>(h: &mut Hart, at: u64, value: T) -> Option<i32> {
    h.store(at, value).unwrap();
    if std::mem::take(&mut h.resync) { h.serve_devices() } else { None }
}

#[test]
fn htif_exits() {
    let (mut h, _) = hart_with_htif();
    assert_eq!(tell(&mut h, TOHOST, 1u64), Some(0));
    assert_eq!(tell(&mut h, TOHOST, 3u64 << 1 | 1), Some(3));
    // In halves, as the tests do it: not before the second.
    assert_eq!(tell(&mut h, TOHOST, 5u32), None);
    assert_eq!(tell(&mut h, TOHOST + 4, 0u32), Some(2));
    // A lower half alone is seen after a while.
    assert_eq!(tell(&mut h, TOHOST, 7u32), None);
    assert_eq!(h.serve_devices(), None);
    h.instret += 10_000;
    assert_eq!(h.serve_devices(), Some(3));
    // Other words on the page do nothing.
    assert_eq!(tell(&mut h, TOHOST + 8, 1u64), None);
    assert!(!h.resync);
}

#[test]
fn htif_prints_characters_even_in_halves() {
    let (mut h, console) = hart_with_htif();
    for c in b"Hi" {
        assert_eq!(tell(&mut h, TOHOST, 0x0101u64 << 48 | u64::from(*c)), None);
        assert_eq!(h.load::<u64>(TOHOST), Ok(0), "taken");
    }
    assert_eq!(tell(&mut h, TOHOST, u32::from(b'!')), None);
    assert_eq!(h.serve_devices(), None, "however often the host looks, 33 is not yet an exit code");
    assert_eq!(tell(&mut h, TOHOST + 4, 0x0101_0000u32), None);
    assert_eq!(console.text(), "Hi!");
}

#[test]
fn htif_proxies_write_and_exit() {
    let (mut h, console) = hart_with_htif();
    let (call, text) = (RAM_BASE + 0x2000, RAM_BASE + 0x3000);
    h.ram.bytes_mut()[0x3000..0x3005].copy_from_slice(b"hello");
    let mut ask = |words: [u64; 4]| {
        for (i, word) in words.into_iter().enumerate() {
            h.store(call + 8 * i as u64, word).unwrap();
        }
        let exit = tell(&mut h, TOHOST, call);
        // The answer is there for the taking.
        let answer = h.load::<u64>(FROMHOST).unwrap();
        h.store(FROMHOST, 0u64).unwrap();
        (exit, answer, h.load::<u64>(call).unwrap() as i64)
    };
    assert_eq!(ask([64, 1, text, 5]), (None, 1, 5));
    assert_eq!(ask([64, 2, text, 2]), (None, 1, 2));
    assert_eq!(ask([64, 3, text, 5]), (None, 1, -9), "EBADF");
    assert_eq!(ask([64, 1, 0x1000, 5]), (None, 1, -14), "EFAULT");
    assert_eq!(ask([64, 1, text, u64::MAX]), (None, 1, -14), "EFAULT");
    assert_eq!(ask([1000, 0, 0, 0]), (None, 1, -38), "ENOSYS");
    assert_eq!(ask([93, 42, 0, 0]).0, Some(42));
    assert_eq!(console.text(), "hellohe");
    // A pointer to nowhere is no call.
    assert_eq!(tell(&mut h, TOHOST, 0x1000u64), None);
}

/// Runs `code` at the start of RAM until the machine timer interrupt comes at tick 50, whose handler exits.
fn run_to_timer(code: &[Inst]) -> Hart {
    let (mut h, _) = hart_with_htif();
    let mut put = |at: usize, code: &[Inst]| {
        for (i, inst) in code.iter().enumerate() {
            h.ram.write(at + 4 * i, encode(inst).unwrap());
        }
    };
    put(0, code);
    put(
        0x100,
        &[
            Inst { rd: 10, imm: i32::from(csr::MCAUSE), ..Inst::new(Op::Csrrs) },
            Inst { rd: 11, imm: 1, ..Inst::new(Op::Addi) },
            Inst { rs1: 8, rs2: 11, ..Inst::new(Op::Sd) },
            Inst::new(Op::Jal),
        ],
    );
    h.x[8] = TOHOST;
    h.pc = RAM_BASE;
    h.write_csr(csr::MTVEC, RAM_BASE + 0x100);
    platform(&mut h).mtimecmp[0] = 50;
    h.write_csr(csr::MIE, MTI);
    h.write_csr(csr::MSTATUS, MIE);
    h.config.max_insns = Some(1_000_000);
    let mut machine = Machine {
        hart: Box::new(h),
        engine: Engine::default(),
        process: None,
        harts: None,
        programs: 0,
        pause_at: None,
        past: None,
    };
    assert_eq!(machine.run(None), Outcome::Exited(0));
    assert_eq!(machine.hart.x[10], 1 << 63 | 7);
    *machine.hart
}

#[test]
fn the_timer_interrupts_a_loop_at_its_time() {
    let h = run_to_timer(&[Inst::new(Op::Jal)]);
    // 50 ticks of 100 instructions, and three of the handler's.
    assert_eq!((h.instret, h.read_csr(csr::MEPC)), (5003, Some(RAM_BASE)));
}

#[test]
fn the_timer_ends_a_wait_without_a_loop() {
    let h = run_to_timer(&[Inst::new(Op::Wfi), Inst { imm: -4, ..Inst::new(Op::Jal) }]);
    assert_eq!((h.instret, h.read_csr(csr::MEPC)), (4, Some(RAM_BASE + 4)));
}
