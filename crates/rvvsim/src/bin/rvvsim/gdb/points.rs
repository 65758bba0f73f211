//! Breakpoints and watchpoints: lists, of which nothing is written into the program.

use super::target::Debuggee;
use gdbstub::target::TargetResult;
use gdbstub::target::ext::breakpoints::{
    Breakpoints, HwBreakpoint, HwBreakpointOps, HwWatchpoint, HwWatchpointOps, SwBreakpoint, SwBreakpointOps,
    WatchKind,
};

/// More watchpoints than this are refused: each is compared with every access.
const MOST_WATCHPOINTS: usize = 1024;
/// More breakpoints than this are refused.
const MOST_BREAKPOINTS: usize = 1 << 20;

impl Breakpoints for Debuggee<'_> {
    fn support_sw_breakpoint(&mut self) -> Option<SwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_breakpoint(&mut self) -> Option<HwBreakpointOps<'_, Self>> {
        Some(self)
    }

    fn support_hw_watchpoint(&mut self) -> Option<HwWatchpointOps<'_, Self>> {
        Some(self)
    }
}

impl Debuggee<'_> {
    fn add_breakpoint(&mut self, addr: u64) -> bool {
        if self.breakpoints.len() >= MOST_BREAKPOINTS {
            return false;
        }
        *self.breakpoints.entry(addr).or_default() += 1;
        true
    }

    fn remove_breakpoint(&mut self, addr: u64) -> bool {
        let Some(count) = self.breakpoints.get_mut(&addr) else { return false };
        *count -= 1;
        if *count == 0 {
            self.breakpoints.remove(&addr);
        }
        true
    }
}

impl SwBreakpoint for Debuggee<'_> {
    fn add_sw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.add_breakpoint(addr))
    }

    fn remove_sw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.remove_breakpoint(addr))
    }
}

impl HwBreakpoint for Debuggee<'_> {
    fn add_hw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.add_breakpoint(addr))
    }

    fn remove_hw_breakpoint(&mut self, addr: u64, _: usize) -> TargetResult<bool, Self> {
        Ok(self.remove_breakpoint(addr))
    }
}

impl HwWatchpoint for Debuggee<'_> {
    fn add_hw_watchpoint(&mut self, addr: u64, len: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        if self.watchpoints.len() >= MOST_WATCHPOINTS {
            return Ok(false);
        }
        self.watchpoints.push((addr, len, kind));
        Ok(true)
    }

    fn remove_hw_watchpoint(&mut self, addr: u64, len: u64, kind: WatchKind) -> TargetResult<bool, Self> {
        let Some(n) = self.watchpoints.iter().position(|w| *w == (addr, len, kind)) else { return Ok(false) };
        self.watchpoints.remove(n);
        Ok(true)
    }
}
