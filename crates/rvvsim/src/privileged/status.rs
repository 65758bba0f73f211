//! The fields of `mstatus` and `sstatus`, of `mip` and `mie`, and of the environment-configuration
//! registers, as the privileged manual draws them.

/// `mstatus.SIE`: interrupts enabled in S-mode.
pub const SIE: u64 = 1 << 1;
/// `mstatus.MIE`: interrupts enabled in M-mode.
pub const MIE: u64 = 1 << 3;
/// `mstatus.SPIE`: `SIE` before the trap.
pub const SPIE: u64 = 1 << 5;
/// `mstatus.MPIE`: `MIE` before the trap.
pub const MPIE: u64 = 1 << 7;
/// `mstatus.SPP`: the mode before the trap into S-mode, U or S.
pub const SPP: u64 = 1 << 8;
/// `mstatus.VS`: the vector unit's state.
pub const VS: u64 = 3 << 9;
/// `mstatus.MPP`: the mode before the trap into M-mode.
pub const MPP: u64 = 3 << 11;
/// `mstatus.FS`: the floating-point unit's state.
pub const FS: u64 = 3 << 13;
/// `mstatus.MPRV`: loads and stores as if in the mode of `MPP`.
pub const MPRV: u64 = 1 << 17;
/// `mstatus.SUM`: S-mode may access user pages.
pub const SUM: u64 = 1 << 18;
/// `mstatus.MXR`: executable pages may be loaded from.
pub const MXR: u64 = 1 << 19;
/// `mstatus.TVM`: `satp` and `sfence.vma` trap in S-mode.
pub const TVM: u64 = 1 << 20;
/// `mstatus.TW`: `wfi` traps below M-mode.
pub const TW: u64 = 1 << 21;
/// `mstatus.TSR`: `sret` traps in S-mode.
pub const TSR: u64 = 1 << 22;
/// `mstatus.UXL`: XLEN of U-mode. It is 64 for good.
pub const UXL_64: u64 = 2 << 32;
/// `mstatus.SXL`: XLEN of S-mode. It is 64 for good.
pub const SXL_64: u64 = 2 << 34;
/// `mstatus.SD`: `FS` or `VS` is dirty.
pub const SD: u64 = 1 << 63;

/// What writing `sstatus` can change.
pub const SSTATUS_WRITABLE: u64 = SIE | SPIE | SPP | VS | FS | SUM | MXR;
/// What reading `sstatus` shows of `mstatus`; `UXL` included.
pub const SSTATUS_VISIBLE: u64 = SSTATUS_WRITABLE | 3 << 32 | SD;
/// What writing `mstatus` can change.
pub const MSTATUS_WRITABLE: u64 = SSTATUS_WRITABLE | MIE | MPIE | MPP | MPRV | TVM | TW | TSR;

/// Supervisor software interrupt, in `mip`, `mie` and `mideleg`.
pub const SSI: u64 = 1 << 1;
/// Machine software interrupt.
pub const MSI: u64 = 1 << 3;
/// Supervisor timer interrupt.
pub const STI: u64 = 1 << 5;
/// Machine timer interrupt.
pub const MTI: u64 = 1 << 7;
/// Supervisor external interrupt.
pub const SEI: u64 = 1 << 9;
/// Machine external interrupt.
pub const MEI: u64 = 1 << 11;
/// The interrupts that `mideleg` can hand to S-mode.
pub const DELEGABLE_INTERRUPTS: u64 = SSI | STI | SEI;

/// The bit of `mcause` and `scause` that tells interrupts from exceptions.
pub const INTERRUPT: u64 = 1 << 63;

/// `menvcfg.FIOM`: fences of less privileged modes order memory where they say I/O.
pub const FIOM: u64 = 1;
/// `menvcfg.CBIE`: what `cbo.inval` does in less privileged modes.
pub const CBIE: u64 = 3 << 4;
/// `menvcfg.CBCFE`: `cbo.clean` and `cbo.flush` are allowed in less privileged modes.
pub const CBCFE: u64 = 1 << 6;
/// `menvcfg.CBZE`: `cbo.zero` is allowed in less privileged modes.
pub const CBZE: u64 = 1 << 7;
/// `menvcfg.ADUE`: hardware sets the A and D bits of page tables.
pub const ADUE: u64 = 1 << 61;
/// `menvcfg.PBMTE`: page tables hold memory types.
pub const PBMTE: u64 = 1 << 62;
/// `menvcfg.STCE`: `stimecmp` makes the supervisor timer interrupt.
pub const STCE: u64 = 1 << 63;
