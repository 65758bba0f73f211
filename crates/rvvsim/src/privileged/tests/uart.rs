use super::super::ConsoleInput as Input;
use super::super::status::*;
use super::platform::Console;
use super::*;
use crate::machine::{Machine, Outcome};
use rvv_asm::{Asm, ElfWriter};
use rvv_isa::csr;

const UART: u64 = 0x1000_0000;
const PLIC: u64 = 0xc00_0000;
const ENABLE: [u64; 2] = [PLIC + 0x2000, PLIC + 0x2080];
const THRESHOLD: [u64; 2] = [PLIC + 0x20_0000, PLIC + 0x20_1000];
const CLAIM: [u64; 2] = [PLIC + 0x20_0004, PLIC + 0x20_1004];
const DATA: u64 = UART;
const IER: u64 = UART + 1;
const IIR: u64 = UART + 2;
const LCR: u64 = UART + 3;
const MCR: u64 = UART + 4;
const LSR: u64 = UART + 5;
const SCR: u64 = UART + 7;

fn get(h: &mut Hart, at: u64) -> u8 {
    h.load(at).expect("a register")
}

fn put(h: &mut Hart, at: u64, value: u8) {
    h.store(at, value).expect("a register");
}

#[test]
fn registers_hold_what_the_data_sheet_says() {
    let mut h = hart();
    assert_eq!(get(&mut h, LSR), 0x60, "the transmitter is empty");
    assert_eq!(get(&mut h, IIR), 1, "no interrupt");
    put(&mut h, SCR, 0x5a);
    assert_eq!(get(&mut h, SCR), 0x5a);
    put(&mut h, LCR, 0x83);
    put(&mut h, DATA, 0x12);
    put(&mut h, IER, 0x34);
    assert_eq!((get(&mut h, DATA), get(&mut h, IER)), (0x12, 0x34), "the divisor");
    put(&mut h, LCR, 3);
    assert_eq!((get(&mut h, LCR), get(&mut h, IER)), (3, 0));
    put(&mut h, IIR, 1);
    assert_eq!(get(&mut h, IIR), 0xc1, "FIFOs are on");
    // It has bytes, and there is nothing else on its bus.
    assert_eq!(h.load::<u32>(UART).map_err(|t| t.cause), Err(Cause::LoadAccessFault));
    assert_eq!(h.store(UART, 0u16).map_err(|t| t.cause), Err(Cause::StoreAccessFault));
    assert_eq!(h.load::<u8>(UART + 0x100).map_err(|t| t.cause), Err(Cause::LoadAccessFault));
}

#[test]
fn loopback_gives_back_what_was_sent_as_far_as_there_is_room() {
    let mut h = hart();
    put(&mut h, MCR, 0x10);
    put(&mut h, DATA, 7);
    put(&mut h, DATA, 8);
    assert_eq!(
        get(&mut h, LSR),
        0x63,
        "data ready, and an overrun: without the FIFO there is room for one byte"
    );
    assert_eq!(get(&mut h, LSR), 0x61, "reading forgets the overrun");
    assert_eq!((get(&mut h, DATA), get(&mut h, LSR)), (7, 0x60));
    put(&mut h, IIR, 1);
    for byte in 0..20 {
        put(&mut h, DATA, byte);
    }
    let got: Vec<u8> =
        std::iter::from_fn(|| (get(&mut h, LSR) & 1 != 0).then(|| get(&mut h, DATA))).collect();
    assert_eq!(got, (0..16).collect::<Vec<u8>>());
}

#[test]
fn interrupts_come_through_the_plic() {
    let mut h = hart();
    put(&mut h, MCR, 0x10);
    h.store(PLIC + 4, 3u32).unwrap();
    h.store(MTIMECMP, u64::MAX).unwrap();
    for (context, bit) in [MEI, SEI].into_iter().enumerate() {
        h.store(ENABLE[context], 2u32).unwrap();
        put(&mut h, IER, 1);
        assert_eq!(h.mip(), 0);
        put(&mut h, DATA, 9);
        assert!(std::mem::take(&mut h.resync), "the machine is told");
        assert_eq!((h.mip(), get(&mut h, IIR)), (bit, 4));
        assert_eq!(h.load::<u32>(PLIC + 0x1000), Ok(2), "pending");
        h.store(THRESHOLD[context], 3u32).unwrap();
        assert_eq!((h.mip(), h.load::<u32>(CLAIM[context])), (0, Ok(0)), "not above the threshold");
        h.store(THRESHOLD[context], 2u32).unwrap();
        assert_eq!(h.load::<u32>(CLAIM[context]), Ok(1));
        assert_eq!((h.mip(), h.load::<u32>(PLIC + 0x1000)), (0, Ok(0)), "claimed");
        h.store(CLAIM[context], 1u32).unwrap();
        assert_eq!(h.mip(), bit, "complete, and the level is still high");
        assert_eq!(h.load::<u32>(CLAIM[context]), Ok(1));
        assert_eq!(get(&mut h, DATA), 9);
        h.store(CLAIM[context], 1u32).unwrap();
        assert_eq!(h.mip(), 0);
        // The transmitter is empty: once, until something is sent.
        put(&mut h, MCR, 0);
        put(&mut h, IER, 2);
        assert_eq!((h.mip(), get(&mut h, IIR), h.mip(), get(&mut h, IIR)), (bit, 2, 0, 1));
        put(&mut h, IER, 0);
        put(&mut h, MCR, 0x10);
        h.store(ENABLE[context], 0u32).unwrap();
    }
    assert_eq!(h.load::<u16>(PLIC).map_err(|t| t.cause), Err(Cause::LoadAccessFault));
    assert_eq!(
        h.load::<u32>(PLIC + 0x20_2000).map_err(|t| t.cause),
        Err(Cause::LoadAccessFault),
        "no third context"
    );
}

/// norm:mip_seip_rdcsr and norm:mip_seip_wrcsr.
#[test]
fn setting_other_bits_of_mip_does_not_keep_the_controllers_interrupt() {
    let mut h = hart();
    h.store(MTIMECMP, u64::MAX).unwrap();
    h.store(PLIC + 4, 1u32).unwrap();
    h.store(ENABLE[1], 2u32).unwrap();
    put(&mut h, MCR, 0x10);
    put(&mut h, IER, 1);
    put(&mut h, DATA, 1);
    assert_eq!(read(&mut h, csr::MIP), SEI);
    h.x[5] = SSI;
    run(&mut h, Op::Csrrs, 6, 5, csr::MIP.into()).unwrap();
    assert_eq!((h.x[6], h.mip()), (SEI, SEI | SSI));
    get(&mut h, DATA);
    assert_eq!(h.mip(), SSI);
}

const MTIMECMP: u64 = 0x200_4000;

/// Sends each byte that it hears back, plus one; by interrupts, in M-mode. A zero ends it.
#[test]
fn a_guest_echoes_by_interrupts() {
    let mut a = Asm::new(RAM_BASE);
    let (start, handler, done) = (a.label(), a.label(), a.label());
    a.jump(start);
    while !a.here().is_multiple_of(4) {
        a.raw(1, 2);
    }
    a.place(handler);
    a.rri(Op::Lwu, 6, 9, 4); // claim
    let again = a.label_here();
    a.rri(Op::Lbu, 7, 8, 0);
    a.branch(Op::Beq, 7, 0, done);
    a.rri(Op::Addi, 7, 7, 1);
    a.store(Op::Sb, 7, 0, 8);
    a.rri(Op::Lbu, 7, 8, 5);
    a.rri(Op::Andi, 7, 7, 1);
    a.branch(Op::Bne, 7, 0, again);
    a.store(Op::Sw, 6, 4, 9); // complete
    a.inst(&Inst::new(Op::Mret));
    a.place(done);
    a.li(5, RAM_BASE + 0x1000);
    a.li(6, 1);
    a.store(Op::Sd, 6, 0, 5);
    let end = a.label_here();
    a.jump(end);
    a.place(start);
    a.la(5, handler);
    a.csr(Op::Csrrw, 0, csr::MTVEC, 5);
    a.li(8, UART);
    a.li(9, CLAIM[0] - 4);
    a.li(5, PLIC);
    a.li(6, 1);
    a.store(Op::Sw, 6, 4, 5);
    a.li(5, ENABLE[0]);
    a.li(6, 2);
    a.store(Op::Sw, 6, 0, 5);
    a.li(5, 1);
    a.store(Op::Sb, 5, 2, 8);
    a.store(Op::Sb, 5, 1, 8);
    a.li(5, MEI);
    a.csr(Op::Csrrs, 0, csr::MIE, 5);
    a.li(5, MIE);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, 5);
    let wait = a.label_here();
    a.inst(&Inst::new(Op::Wfi));
    a.jump(wait);
    let mut elf = ElfWriter::new(RAM_BASE);
    elf.segment(RAM_BASE, a.finish(), 5).zeros(RAM_BASE + 0x1000, 64).symbol("tohost", RAM_BASE + 0x1000);
    let bytes = elf.finish();
    let image = crate::elf::Image::parse(bytes.as_slice()).expect("our own ELF");
    let config = Config { mem: 1 << 20, max_insns: Some(10_000_000), ..Config::default() };
    let mut machine = Machine::bare(config, &image).expect("it fits");
    let console = Console::default();
    let heard: Vec<u8> = (0..40).map(|i| b'a' + i % 25).collect();
    platform(&mut machine.hart).set_console(Box::new(console.clone()));
    platform(&mut machine.hart).set_input(Input::Bytes(heard.iter().copied().chain([0]).collect()));
    assert_eq!(machine.run(None), Outcome::Exited(0));
    let said: Vec<u8> = heard.iter().map(|b| b + 1).collect();
    assert_eq!(*console.0.lock().unwrap(), said);
}
