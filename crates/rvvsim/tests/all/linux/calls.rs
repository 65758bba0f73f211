//! Guests of a few system calls, made without a compiler.

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::Op;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const TEXT: u64 = 0x1_0000;
/// Where the guest's data is; the byte at an offset `n` is at `DATA + n`.
pub const DATA: u64 = 0x10_0000;
/// Zeroes, as many as [`ZEROES_LEN`].
pub const ZEROES: u64 = 0x20_0000;
/// A write of so many bytes fills every pipe.
pub const ZEROES_LEN: u64 = 4 << 20;
/// As an argument: what the call before returned.
pub const LAST: u64 = u64::MAX - 0x1234;
/// `AT_FDCWD`.
pub const CWD: u64 = -100_i64 as u64;

/// System calls by number and arguments.
pub type Call<'a> = (u64, &'a [u64]);

/// An ELF that makes the calls in order and exits with the last one's result, or its `errno`.
pub fn guest(calls: &[Call], data: &[u8]) -> Vec<u8> {
    let mut a = Asm::new(TEXT);
    for (number, args) in calls {
        a.rri(Op::Addi, 5, 10, 0);
        for (reg, arg) in (10..).zip(*args) {
            match *arg {
                LAST => a.rri(Op::Addi, reg, 5, 0),
                value => a.li(reg, value),
            }
        }
        a.li(17, *number);
        a.plain(Op::Ecall);
    }
    let positive = a.label();
    a.branch(Op::Bge, 10, 0, positive);
    a.rrr(Op::Sub, 10, 0, 10);
    a.place(positive);
    a.li(17, 93);
    a.plain(Op::Ecall);
    elf(a, data)
}

/// The ELF of some code and data.
pub fn elf(code: Asm, data: &[u8]) -> Vec<u8> {
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, code.finish(), 5).segment(DATA, data.to_vec(), 6).zeros(ZEROES, ZEROES_LEN);
    elf.finish()
}

/// Code for [`elf`].
pub fn code() -> Asm {
    Asm::new(TEXT)
}

/// A folder of one test; gone when dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rvvsim-calls-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes a guest there.
    pub fn guest(&self, elf: &[u8]) -> PathBuf {
        let path = self.0.join("guest.elf");
        std::fs::write(&path, elf).unwrap();
        path
    }

    /// A path in it, ended by NUL.
    pub fn name(&self, name: &str) -> Vec<u8> {
        let mut path = self.0.join(name).into_os_string().into_encoded_bytes();
        path.push(0);
        path
    }
}

impl AsRef<Path> for Folder {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
