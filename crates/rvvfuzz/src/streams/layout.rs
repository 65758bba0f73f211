//! Where things are in memory. The two environments share all addresses, so that a stream computes the same
//! in both.

/// Where the code around the streams starts.
pub const RUNTIME: u64 = 0x8000_0000;
/// The control block, which `gp` points to.
pub const CONTROL: u64 = 0x8000_8000;
/// Bytes of the control block's page.
pub const CONTROL_SIZE: u64 = 0x1000;
/// The alternate signal stack of the Linux environment.
pub const SIGNAL_STACK: u64 = 0x8001_0000;
/// Its bytes: a frame holds all vector registers.
pub const SIGNAL_STACK_SIZE: u64 = 0x8_0000;
/// Indices for indexed loads and stores: read only.
pub const INDICES: u64 = 0x8010_0000;
/// Bytes of indices of each of the four widths.
pub const INDICES_SIZE: u64 = 0x1_0000;
/// The first stream's code.
pub const CODE: u64 = 0x8018_0000;
/// From one stream's code to the next's.
pub const SLOT: u64 = 0x2000;
/// Streams that fit one ELF.
pub const MOST_STREAMS: usize = 128;
/// What the streams start from, one after the other.
pub const IMAGES: u64 = 0x8040_0000;
/// What the streams end in, one after the other.
pub const DUMPS: u64 = 0x8380_0000;
/// The host interface.
pub const HTIF: u64 = 0x86f0_0000;
/// The memory that streams load from and store to. The page after it does not exist.
pub const SANDBOX: u64 = 0x8700_0000 - SANDBOX_SIZE;
/// Its bytes.
pub const SANDBOX_SIZE: u64 = 0x2000;
/// Bytes of RAM from [`RUNTIME`] on: it ends where the sandbox ends.
pub const RAM: u64 = 0x0700_0000;

/// `gp` points to the control block; streams do not write it.
pub const GP: u8 = 3;
/// `tp` counts the rounds of loops; streams do not write it otherwise.
pub const TP: u8 = 4;

/// The address of the code of the stream in slot `n`: its first instruction is [`STUB`] bytes on.
#[must_use]
pub const fn slot(n: usize) -> u64 {
    CODE + n as u64 * SLOT
}

/// Bytes of the two instructions that load the last two registers before a stream starts.
pub const STUB: u64 = 8;

/// Whether an address is just past the sandbox, where nothing is: what a stream may fault on.
#[must_use]
pub const fn in_guard(address: u64) -> bool {
    address >= SANDBOX + SANDBOX_SIZE && address < SANDBOX + SANDBOX_SIZE + (1 << 20)
}

/// Whether streams leave an integer register alone: `gp` and `tp`.
#[must_use]
pub const fn is_kept(r: u8) -> bool {
    r == GP || r == TP
}
