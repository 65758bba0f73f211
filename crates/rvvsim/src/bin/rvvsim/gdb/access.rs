//! What gdb may ask about the program while it stands still: registers and memory of each thread, threads.

use super::arch::{Base, Register, Rv64};
use super::target::{Debuggee, tid};
use gdbstub::common::Tid;
use gdbstub::target::ext::auxv::{Auxv, AuxvOps};
use gdbstub::target::ext::base::BaseOps;
use gdbstub::target::ext::base::multithread::{MultiThreadBase, MultiThreadResumeOps};
use gdbstub::target::ext::base::single_register_access::{SingleRegisterAccess, SingleRegisterAccessOps};
use gdbstub::target::ext::breakpoints::BreakpointsOps;
use gdbstub::target::ext::exec_file::ExecFileOps;
use gdbstub::target::ext::host_io::HostIoOps;
use gdbstub::target::ext::monitor_cmd::MonitorCmdOps;
use gdbstub::target::ext::target_description_xml_override::{
    TargetDescriptionXmlOverride, TargetDescriptionXmlOverrideOps,
};
use gdbstub::target::ext::thread_extra_info::{ThreadExtraInfo, ThreadExtraInfoOps};
use gdbstub::target::{Target, TargetError, TargetResult};
use rvv_isa::{Vtype, csr};
use rvvsim::Hart;
use std::convert::Infallible;

/// gdb itself reads no more at once.
const LARGE: usize = 1 << 12;

/// A part of something that gdb reads in parts.
pub fn part(whole: &[u8], offset: u64, length: usize, to: &mut [u8]) -> usize {
    let from = usize::try_from(offset).unwrap_or(usize::MAX).min(whole.len());
    let n = length.min(to.len()).min(whole.len() - from);
    to[..n].copy_from_slice(&whole[from..from + n]);
    n
}

impl Target for Debuggee<'_> {
    type Arch = Rv64;
    type Error = Infallible;

    fn base_ops(&mut self) -> BaseOps<'_, Rv64, Infallible> {
        BaseOps::MultiThread(self)
    }

    fn guard_rail_implicit_sw_breakpoints(&self) -> bool {
        true
    }

    fn support_breakpoints(&mut self) -> Option<BreakpointsOps<'_, Self>> {
        Some(self)
    }

    fn support_target_description_xml_override(
        &mut self,
    ) -> Option<TargetDescriptionXmlOverrideOps<'_, Self>> {
        Some(self)
    }

    fn support_monitor_cmd(&mut self) -> Option<MonitorCmdOps<'_, Self>> {
        Some(self)
    }

    fn support_auxv(&mut self) -> Option<AuxvOps<'_, Self>> {
        if self.auxv.is_empty() { None } else { Some(self) }
    }

    fn support_exec_file(&mut self) -> Option<ExecFileOps<'_, Self>> {
        if self.machine.process().is_some() { Some(self) } else { None }
    }

    fn support_host_io(&mut self) -> Option<HostIoOps<'_, Self>> {
        if self.machine.process().is_some() { Some(self) } else { None }
    }
}

impl Debuggee<'_> {
    /// Looks at the hart as it is for a thread.
    fn on<T>(&mut self, tid: Tid, look: impl FnOnce(&mut Hart) -> T) -> TargetResult<T, Self> {
        let thread = self.thread(tid).ok_or(TargetError::NonFatal)?;
        self.machine.with_thread(thread, look).ok_or(TargetError::NonFatal)
    }
}

impl MultiThreadBase for Debuggee<'_> {
    fn read_registers(&mut self, regs: &mut Base, tid: Tid) -> TargetResult<(), Self> {
        self.on(tid, |hart| (regs.x, regs.pc) = (*hart.x_registers(), hart.pc()))
    }

    fn write_registers(&mut self, regs: &Base, tid: Tid) -> TargetResult<(), Self> {
        if !self.may_change() {
            return Err(TargetError::NonFatal);
        }
        self.on(tid, |hart| {
            for r in 1..32u8 {
                hart.set_x(r, regs.x[usize::from(r)]);
            }
            hart.set_pc(regs.pc);
        })?;
        self.history.forget(self.machine);
        Ok(())
    }

    fn support_single_register_access(&mut self) -> Option<SingleRegisterAccessOps<'_, Tid, Self>> {
        Some(self)
    }

    fn read_addrs(&mut self, start: u64, data: &mut [u8], tid: Tid) -> TargetResult<usize, Self> {
        // gdbstub adds up where the next part of a large piece begins: that must be an address.
        if data.len() >= LARGE && start.checked_add(2 * data.len() as u64).is_none() {
            return Err(TargetError::NonFatal);
        }
        match self.on(tid, |hart| hart.peek(start, data))? {
            0 if !data.is_empty() => Err(TargetError::NonFatal),
            n => Ok(n),
        }
    }

    fn write_addrs(&mut self, start: u64, data: &[u8], tid: Tid) -> TargetResult<(), Self> {
        if !self.may_change() {
            return Err(TargetError::NonFatal);
        }
        let done = self.on(tid, |hart| hart.poke(start, data))?;
        self.history.forget(self.machine);
        if done == data.len() { Ok(()) } else { Err(TargetError::NonFatal) }
    }

    fn list_active_threads(&mut self, thread_is_active: &mut dyn FnMut(Tid)) -> Result<(), Infallible> {
        self.machine.thread_ids().into_iter().map(tid).for_each(thread_is_active);
        Ok(())
    }

    fn support_resume(&mut self) -> Option<MultiThreadResumeOps<'_, Self>> {
        Some(self)
    }

    fn support_thread_extra_info(&mut self) -> Option<ThreadExtraInfoOps<'_, Self>> {
        Some(self)
    }
}

impl ThreadExtraInfo for Debuggee<'_> {
    /// What `info threads` says of a thread: its name, and what it waits for.
    fn thread_extra_info(&self, tid: Tid, buf: &mut [u8]) -> Result<usize, Infallible> {
        let id = self.thread(tid);
        let hart = self.machine.hart();
        let threads = self.machine.process().map(|process| process.threads(hart)).unwrap_or_default();
        let mut text = match threads.into_iter().find(|thread| Some(thread.tid) == id) {
            Some(thread) => match thread.waits_for {
                Some(why) => format!("{}: {why}", thread.name),
                None => thread.name,
            },
            None => id.map_or(String::new(), |id| format!("hart {}", id - 1)),
        };
        if id == Some(self.machine.thread_id()) && self.machine.thread_ids().len() > 1 {
            text += ", on the hart";
        }
        // It is sent in hexadecimal.
        const MOST: usize = 200;
        let bytes = text.as_bytes();
        Ok(part(bytes, 0, MOST, buf))
    }
}

/// Up to eight bytes, as a number.
fn number(bytes: &[u8]) -> Option<u64> {
    let mut le = [0; 8];
    le.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(u64::from_le_bytes(le))
}

impl SingleRegisterAccess<Tid> for Debuggee<'_> {
    fn read_register(&mut self, tid: Tid, register: Register, buf: &mut [u8]) -> TargetResult<usize, Self> {
        self.on(tid, |hart| read(hart, register, buf))?.ok_or(TargetError::NonFatal)
    }

    fn write_register(&mut self, tid: Tid, register: Register, val: &[u8]) -> TargetResult<(), Self> {
        if !self.may_change() {
            return Err(TargetError::NonFatal);
        }
        self.on(tid, |hart| write(hart, register, val))?.ok_or(TargetError::NonFatal)?;
        self.history.forget(self.machine);
        Ok(())
    }
}

fn read(hart: &Hart, register: Register, buf: &mut [u8]) -> Option<usize> {
    let value = match register {
        Register::X(r) => hart.x(r),
        Register::Pc => hart.pc(),
        Register::F(r) => hart.f(r),
        Register::Csr(number) => hart.read_csr(number)?,
        Register::V(r) => {
            let vlenb = hart.vector().vlenb;
            let bytes = &hart.vector().registers()[usize::from(r) * vlenb..][..vlenb];
            buf.get_mut(..vlenb)?.copy_from_slice(bytes);
            return Some(vlenb);
        }
    };
    buf.get_mut(..8)?.copy_from_slice(&value.to_le_bytes());
    Some(8)
}

fn write(hart: &mut Hart, register: Register, val: &[u8]) -> Option<()> {
    if let Register::V(r) = register {
        let vlenb = hart.vector().vlenb;
        let to = &mut hart.vector_mut().registers_mut()[usize::from(r) * vlenb..][..vlenb];
        if val.len() != vlenb {
            return None;
        }
        to.copy_from_slice(val);
        return Some(());
    }
    let value = number(val)?;
    match register {
        Register::X(r) => hart.set_x(r, value),
        Register::Pc => hart.set_pc(value),
        Register::F(r) => hart.set_f(r, value),
        // Only vset{i}vl{i} writes these, and gdb.
        Register::Csr(csr::VL) => {
            let vlmax = hart.vector().vtype.vlmax(hart.config().vlen);
            hart.vector_mut().vl = value.min(vlmax.into());
        }
        Register::Csr(csr::VTYPE) => hart.vector_mut().vtype = Vtype::from_bits(value),
        Register::Csr(number) => hart.write_csr(number, value),
        Register::V(_) => {}
    }
    Some(())
}

impl TargetDescriptionXmlOverride for Debuggee<'_> {
    fn target_description_xml(
        &self,
        annex: &[u8],
        offset: u64,
        length: usize,
        buf: &mut [u8],
    ) -> TargetResult<usize, Self> {
        if annex != b"target.xml" {
            return Err(TargetError::NonFatal);
        }
        Ok(part(self.description.as_bytes(), offset, length, buf))
    }
}

impl Auxv for Debuggee<'_> {
    fn get_auxv(&self, offset: u64, length: usize, buf: &mut [u8]) -> TargetResult<usize, Self> {
        Ok(part(&self.auxv, offset, length, buf))
    }
}
