//! Running programs on `rvvsim`, in process.

use crate::program::{Program, RAM};
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};

/// Runs one of our programs and reads its signature.
///
/// # Errors
/// What went wrong, in words: it does not load, or does not end as it should.
pub fn signature(program: &Program) -> Result<Vec<u64>, String> {
    let image = Image::parse(program.elf.as_slice()).map_err(|e| e.to_string())?;
    let mem = (program.signature - RAM + 8 * program.words as u64 + (1 << 20)).next_multiple_of(1 << 20);
    let config = Config { mem, max_insns: Some(program.instructions), ..Config::default() };
    let mut machine = Machine::bare(config, &image).map_err(|e| e.to_string())?;
    let outcome = machine.run(None);
    if outcome != Outcome::Exited(0) {
        return Err(format!("{outcome:?} at {:#x}", machine.hart().pc()));
    }
    let start = (program.signature - RAM) as usize;
    let bytes = &machine.hart().memory()[start..start + 8 * program.words];
    Ok(bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().expect("eight bytes"))).collect())
}
