//! `prctl`: what a process or a thread says about itself.

use super::{Process, Served, host, user};
use crate::Hart;
use rustix::io::Errno;

/// What was said and has no effect here, to be said back.
#[derive(Clone, Copy)]
pub struct Said {
    parent_death: u64,
    dumpable: u64,
    keeps_capabilities: u64,
    slack: u64,
    reaps: u64,
    no_new_privileges: u64,
    no_huge_pages: u64,
}

impl Default for Said {
    fn default() -> Self {
        Said {
            parent_death: 0,
            dumpable: 1,
            keeps_capabilities: 0,
            slack: USUAL_SLACK,
            reaps: 0,
            no_new_privileges: 0,
            no_huge_pages: 0,
        }
    }
}

/// Nanoseconds that a timer may be late.
const USUAL_SLACK: u64 = 50_000;

impl Process {
    /// `prctl(option, ...)`.
    pub(super) fn sys_prctl(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [option, arg, ..] = args;
        let own = self.owns_host_process();
        let flag = |value: u64| if value > 1 { Err(Errno::INVAL) } else { Ok(value) };
        match option {
            // PR_SET_PDEATHSIG, PR_GET_PDEATHSIG
            1 => {
                if arg > 64 {
                    return Err(Errno::INVAL.into());
                }
                if own {
                    host::say(option, args)?;
                }
                self.said.parent_death = arg;
            }
            2 => user::write_u32(hart, arg, self.said.parent_death as u32)?,
            // PR_GET_DUMPABLE, PR_SET_DUMPABLE: the emulator needs its own files in /proc.
            3 => return Ok(self.said.dumpable),
            4 => self.said.dumpable = flag(arg)?,
            // PR_GET_KEEPCAPS, PR_SET_KEEPCAPS
            7 => return Ok(self.said.keeps_capabilities),
            8 => {
                self.said.keeps_capabilities = flag(arg)?;
                if own {
                    host::say(option, args)?;
                }
            }
            15 => self.set_name(hart, arg, own)?,
            16 => {
                let name = self.me().name;
                user::write(hart, arg, &name)?;
            }
            // PR_CAPBSET_READ, PR_CAPBSET_DROP, PR_GET_SECUREBITS, PR_SET_SECUREBITS, PR_CAP_AMBIENT
            23 | 24 | 27 | 28 | 47 if own => return Ok(host::say(option, args)?),
            23 | 27 => return Ok(0),
            // PR_SET_TIMERSLACK, PR_GET_TIMERSLACK
            29 => self.said.slack = if arg == 0 { USUAL_SLACK } else { arg },
            30 => return Ok(self.said.slack),
            // PR_SET_CHILD_SUBREAPER, PR_GET_CHILD_SUBREAPER
            36 => {
                self.said.reaps = u64::from(arg != 0);
                if own {
                    host::say(option, args)?;
                }
            }
            37 => user::write_u32(hart, arg, self.said.reaps as u32)?,
            // PR_SET_NO_NEW_PRIVS, PR_GET_NO_NEW_PRIVS
            38 if arg == 1 && args[2..5] == [0, 0, 0] => {
                self.said.no_new_privileges = 1;
                if own {
                    host::say(option, args)?;
                }
            }
            39 => return Ok(self.said.no_new_privileges),
            // PR_SET_THP_DISABLE, PR_GET_THP_DISABLE
            41 => self.said.no_huge_pages = u64::from(arg != 0),
            42 => return Ok(self.said.no_huge_pages),
            // PR_SET_TAGGED_ADDR_CTRL, PR_GET_TAGGED_ADDR_CTRL
            55 => return self.set_pointer_masking(hart, arg),
            56 => return Ok(self.me().tagged),
            // PR_RISCV_V_SET_CONTROL, PR_RISCV_V_GET_CONTROL
            69 | 70 => return self.vector_control(hart, option == 69, arg),
            // PR_RISCV_SET_ICACHE_FLUSH_CTX: what is decoded follows memory by itself.
            71 if arg <= 1 && args[2] <= 1 => {}
            _ => return Err(Errno::INVAL.into()),
        }
        Ok(0)
    }

    /// `PR_SET_NAME`: at most fifteen bytes.
    fn set_name(&mut self, hart: &mut Hart, at: u64, own: bool) -> Result<(), Errno> {
        let mut name = match user::read_string(hart, at, 16) {
            Err(Errno::NAMETOOLONG) => user::read_array::<16>(hart, at)?.to_vec(),
            other => other?,
        };
        name.resize(16, 0);
        name[15] = 0;
        if own && self.me().tid == self.identity.pid {
            host::set_name(&name);
        }
        self.me_mut().name.copy_from_slice(&name);
        Ok(())
    }
}
