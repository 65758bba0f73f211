//! gdb's `monitor` commands.

use super::target::Debuggee;
use rvv_isa::DisasmOptions;
use rvvsim::observe;

const HELP: &str = "\
vtype     vtype in words, vl and VLMAX
policies  what this run does with agnostic elements, and how it chooses vl
why       the trap that ended the program, with the rule that was broken
next      the instruction at pc
";

/// What a command prints.
pub fn answer(debuggee: &mut Debuggee<'_>, command: &str) -> String {
    match command.trim() {
        "vtype" => {
            let hart = debuggee.machine.hart();
            let v = hart.vector();
            let vlmax = v.vtype.vlmax(hart.config().vlen);
            let bits = v.vtype.to_bits();
            format!("{} ({bits:#x}); vl {} of VLMAX {vlmax}; vstart {}\n", v.vtype, v.vl, v.vstart)
        }
        "policies" => {
            let config = debuggee.machine.hart().config();
            format!("VLEN {}; tail {}; mask {}; vl {}\n", config.vlen, config.tail, config.mask, config.vl)
        }
        "why" => match &debuggee.trap {
            Some(trap) => format!("{:?}: {} (tval {:#x})\n", trap.cause, trap.why, trap.tval),
            None => "no trap has ended the program\n".to_owned(),
        },
        "next" => {
            let hart = debuggee.machine.hart_mut();
            let pc = hart.pc();
            match observe::next(hart) {
                Some(inst) => {
                    let text = inst.disasm(pc, DisasmOptions { pseudo: true }).replace('\t', " ");
                    format!("{pc:#x}: {text}\n")
                }
                None => format!("{pc:#x}: no instruction of this machine\n"),
            }
        }
        _ => HELP.to_owned(),
    }
}
