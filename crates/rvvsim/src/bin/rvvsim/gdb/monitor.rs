//! gdb's `monitor` commands.

use super::target::Debuggee;
use gdbstub::target::ext::monitor_cmd::{ConsoleOutput, MonitorCmd};
use rvv_isa::DisasmOptions;
use rvvsim::observe;
use std::convert::Infallible;

const HELP: &str = "\
vtype     vtype in words, vl and VLMAX
policies  what this run does with agnostic elements, and how it chooses vl
why       the trap that ended the program, with the rule that was broken; with --sanitize, what was found
explain   with --sanitize: why an element, register or memory is undefined (explain v8 3, explain a0,
          explain 0x20008 4)
next      the instruction at pc
snapshot  keeps the state of the machine, under a name if one is given
restore   returns to it
";

/// What a command prints.
fn answer(debuggee: &mut Debuggee<'_>, command: &str) -> String {
    if let Some(what) = command.trim().strip_prefix("explain") {
        return match &mut debuggee.watch {
            Some(watch) => watch.explain(debuggee.machine, what),
            None => "undefined values are followed by rvvsim --sanitize --gdb PORT\n".to_owned(),
        };
    }
    let (word, rest) = command.trim().split_once(char::is_whitespace).unwrap_or((command.trim(), ""));
    match (word, rest) {
        ("snapshot", name) => return debuggee.take_snapshot(name.trim()),
        ("restore", name) => return debuggee.restore_snapshot(name.trim()),
        _ => {}
    }
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
            None if debuggee.watch.as_ref().is_some_and(|w| w.report.is_some()) => {
                debuggee.watch.as_ref().and_then(|w| w.report.clone()).unwrap_or_default()
            }
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

impl MonitorCmd for Debuggee<'_> {
    fn handle_monitor_cmd(&mut self, cmd: &[u8], mut out: ConsoleOutput<'_>) -> Result<(), Infallible> {
        out.write_raw(answer(self, &String::from_utf8_lossy(cmd)).as_bytes());
        Ok(())
    }
}
