//! Reading and writing the guest's memory on its behalf. Every address comes from the guest: a bad one
//! is `EFAULT`.

use crate::Hart;
use crate::mem::{Access, PAGE};
use rustix::io::Errno;

/// The longest path, as on Linux.
pub const PATH_MAX: usize = 4096;

/// Calls `f` with the RAM range of each page-bounded run of `len` bytes at `va`, until one is refused.
fn runs(
    hart: &mut Hart,
    va: u64,
    len: usize,
    access: Access,
    mut f: impl FnMut(&mut Hart, usize, std::ops::Range<usize>),
) -> Result<(), Errno> {
    let mut done = 0;
    while done < len {
        let at = va.checked_add(done as u64).ok_or(Errno::FAULT)?;
        let now = (len - done).min((PAGE - at % PAGE) as usize);
        match hart.ram_run(at, now, access) {
            Ok(Some(offset)) => f(hart, offset, done..done + now),
            _ => return Err(Errno::FAULT),
        }
        done += now;
    }
    Ok(())
}

/// Reads `buf.len()` bytes at `va`.
pub fn read(hart: &mut Hart, va: u64, buf: &mut [u8]) -> Result<(), Errno> {
    runs(hart, va, buf.len(), Access::Load, |hart, offset, part| {
        let len = part.len();
        buf[part].copy_from_slice(&hart.ram.bytes()[offset..offset + len]);
    })
}

/// Tells whoever follows the guest's data that the kernel writes here.
fn note_write(hart: &mut Hart, va: u64, len: usize) {
    if let Some(writes) = &mut hart.kernel_writes {
        writes.push((va, len));
    }
}

/// Writes bytes at `va`. A fault half-way leaves the first pages written.
pub fn write(hart: &mut Hart, va: u64, bytes: &[u8]) -> Result<(), Errno> {
    note_write(hart, va, bytes.len());
    runs(hart, va, bytes.len(), Access::Store, |hart, offset, part| {
        hart.ram.bytes_mut()[offset..offset + part.len()].copy_from_slice(&bytes[part]);
    })
}

/// How many of `len` bytes at `va` may be written, from the first on.
pub fn writable(hart: &mut Hart, va: u64, len: usize) -> usize {
    let mut good = 0;
    let _ = runs(hart, va, len, Access::Store, |_, _, part| good = part.end);
    good
}

/// Reads an array of bytes.
pub fn read_array<const N: usize>(hart: &mut Hart, va: u64) -> Result<[u8; N], Errno> {
    let mut bytes = [0; N];
    read(hart, va, &mut bytes)?;
    Ok(bytes)
}

/// Reads a 64-bit value.
pub fn read_u64(hart: &mut Hart, va: u64) -> Result<u64, Errno> {
    read_array(hart, va).map(u64::from_le_bytes)
}

/// Reads a 32-bit value.
pub fn read_u32(hart: &mut Hart, va: u64) -> Result<u32, Errno> {
    read_array(hart, va).map(u32::from_le_bytes)
}

/// Writes a 64-bit value.
pub fn write_u64(hart: &mut Hart, va: u64, value: u64) -> Result<(), Errno> {
    write(hart, va, &value.to_le_bytes())
}

/// Writes a 32-bit value.
pub fn write_u32(hart: &mut Hart, va: u64, value: u32) -> Result<(), Errno> {
    write(hart, va, &value.to_le_bytes())
}

/// Reads a string up to its NUL, or `ENAMETOOLONG` past `limit` bytes.
pub fn read_string(hart: &mut Hart, va: u64, limit: usize) -> Result<Vec<u8>, Errno> {
    let mut text = Vec::new();
    let mut at = va;
    while text.len() < limit {
        let now = ((PAGE - at % PAGE) as usize).min(limit - text.len());
        let Ok(Some(offset)) = hart.ram_run(at, now, Access::Load) else { return Err(Errno::FAULT) };
        let bytes = &hart.ram.bytes()[offset..offset + now];
        match bytes.iter().position(|&b| b == 0) {
            Some(len) => {
                text.extend_from_slice(&bytes[..len]);
                return Ok(text);
            }
            None => text.extend_from_slice(bytes),
        }
        at = at.checked_add(now as u64).ok_or(Errno::FAULT)?;
    }
    Err(Errno::NAMETOOLONG)
}

/// Reads a path.
pub fn read_path(hart: &mut Hart, va: u64) -> Result<Vec<u8>, Errno> {
    read_string(hart, va, PATH_MAX)
}

/// A structure laid out by hand: values at offsets.
pub struct Layout<const N: usize>(pub [u8; N]);

impl<const N: usize> Layout<N> {
    /// All zeroes.
    pub fn new() -> Self {
        Layout([0; N])
    }

    /// Puts a value of up to 64 bits.
    pub fn put(&mut self, at: usize, size: usize, value: u64) -> &mut Self {
        self.0[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        self
    }
}
