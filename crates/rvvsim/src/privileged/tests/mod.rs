//! Tests whose expectations come from the manual, by hand.

mod csr;
mod platform;
mod pmp;
mod translate;
mod trap;
mod trigger;
mod uart;

use super::{Platform, Privilege, RAM_BASE};
use crate::config::Config;
use crate::hart::{Environment, Hart};
use crate::mem::Ram;
use crate::scalar::{Flow, handler};
use crate::trap::{Cause, Exec};
use rvv_isa::{Inst, Isa, Op};

const MEM: u64 = 16 << 20;

fn hart_with(isa: &str) -> Hart {
    let isa = Isa::parse(isa).expect("a string of ours");
    let config = Config { isa, mem: MEM, ..Config::default() };
    let platform = Platform::with_entry(&config, RAM_BASE);
    let ram = Ram::new(MEM).expect("16 MiB");
    let mut hart = Hart::new(config, ram, Environment::Bare(Box::new(platform)));
    hart.reset_bare();
    hart
}

fn hart() -> Hart {
    hart_with("rv64gcbv_zicntr_zihpm_zicbom_zicboz_zawrs_svinval")
}

fn platform(hart: &mut Hart) -> &mut Platform {
    match &mut hart.env {
        Environment::Bare(platform) => platform,
        Environment::User(_) => panic!("not a bare hart"),
    }
}

/// Executes one instruction at `hart.pc`, as the engine would.
fn run(hart: &mut Hart, op: Op, rd: u8, rs1: u8, imm: i32) -> Exec {
    let inst = Inst { rd, rs1, imm, ..Inst::new(op) };
    let (handler, flow) = handler(op).expect("it has a handler");
    hart.next_pc = hart.pc.wrapping_add(4);
    handler(hart, &inst)?;
    if flow == Flow::End {
        hart.pc = hart.next_pc;
    }
    hart.instret += 1;
    Ok(())
}

/// `csrw`, then the value it reads as.
fn write_and_read(hart: &mut Hart, csr: u16, value: u64) -> u64 {
    hart.x[5] = value;
    run(hart, Op::Csrrw, 0, 5, i32::from(csr)).expect("it can be written");
    read(hart, csr)
}

/// `csrr`
fn read(hart: &mut Hart, csr: u16) -> u64 {
    run(hart, Op::Csrrs, 6, 0, i32::from(csr)).expect("it can be read");
    hart.x[6]
}

/// The rule that an access to a CSR breaks; `None` if it breaks none.
fn broken_rule(hart: &mut Hart, op: Op, rs1: u8, csr: u16) -> Option<&'static str> {
    let trap = run(hart, op, 6, rs1, i32::from(csr)).err()?;
    assert_eq!(trap.cause, Cause::IllegalInstruction);
    Some(trap.why)
}

fn enter(hart: &mut Hart, prv: Privilege) {
    hart.prv = prv;
    hart.flush_tlb();
}
