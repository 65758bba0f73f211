//! Programs to run, and running them.

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Inst, Op, csr};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

pub const TEXT: u64 = 0x1_0000;
pub const DATA: u64 = 0x2_0000;
pub const BARE_TEXT: u64 = 0x8000_0000;
pub const TOHOST: u64 = 0x8000_1000;

pub const T0: u8 = 5;
pub const T1: u8 = 6;
pub const T2: u8 = 7;
pub const A0: u8 = 10;
pub const A1: u8 = 11;
pub const A2: u8 = 12;
pub const A3: u8 = 13;
pub const A4: u8 = 14;
pub const A7: u8 = 17;

pub const E32_M1_TA_MA: i32 = 0xd0;
pub const E32_M8_TA_MA: i32 = 0xd3;

pub fn vsetvli(a: &mut Asm, rd: u8, avl: u8, vtype: i32) {
    a.inst(&Inst { rd, rs1: avl, imm: vtype, ..Inst::new(Op::Vsetvli) });
}

pub fn vsetivli(a: &mut Asm, avl: u8, vtype: i32) {
    a.inst(&Inst { rs1: avl, imm: vtype, ..Inst::new(Op::Vsetivli) });
}

pub fn vmv_v_i(a: &mut Asm, vd: u8, imm: i32) {
    a.inst(&Inst { rd: vd, imm, ..Inst::new(Op::from_name("vmv.v.i").unwrap()) });
}

pub fn memory(a: &mut Asm, name: &str, vd: u8, base: u8) {
    a.inst(&Inst { rd: vd, rs1: base, ..Inst::new(Op::from_name(name).unwrap()) });
}

pub fn syscall(a: &mut Asm, number: u64) {
    a.li(A7, number);
    a.plain(Op::Ecall);
}

/// Prints the letter that `A4` comes to above 'a', a line end, and exits.
pub fn print_and_exit(a: &mut Asm) {
    a.rri(Op::Addi, A4, A4, i32::from(b'a'));
    a.li(T0, DATA);
    a.store(Op::Sb, A4, 0, T0);
    a.li(T1, u64::from(b'\n'));
    a.store(Op::Sb, T1, 1, T0);
    a.li(A0, 1);
    a.li(A1, DATA);
    a.li(A2, 2);
    syscall(a, 64);
    a.li(A0, 0);
    syscall(a, 93);
}

pub fn linux(body: impl FnOnce(&mut Asm)) -> Vec<u8> {
    let mut a = Asm::new(TEXT);
    body(&mut a);
    print_and_exit(&mut a);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 0x1000);
    elf.finish()
}

/// On bare metal: prints 'x' on the console and exits with `vlenb`, or 0.
pub fn bare(exits_with_vlenb: bool) -> Vec<u8> {
    let mut a = Asm::new(BARE_TEXT);
    a.li(T0, TOHOST);
    a.li(T1, 0x0101 << 48 | u64::from(b'x'));
    a.store(Op::Sd, T1, 0, T0);
    if exits_with_vlenb {
        a.li(T2, 1 << 9);
        a.csr(Op::Csrrs, 0, csr::MSTATUS, T2);
        a.csr(Op::Csrrs, A0, csr::VLENB, 0);
    }
    a.rri(Op::Slli, A0, A0, 1);
    a.rri(Op::Ori, A0, A0, 1);
    a.store(Op::Sd, A0, 0, T0);
    let forever = a.label_here();
    a.jump(forever);
    let mut elf = ElfWriter::new(BARE_TEXT);
    elf.segment(BARE_TEXT, a.finish(), 5).zeros(TOHOST, 64).symbol("tohost", TOHOST);
    elf.finish()
}

/// A file that goes when it is dropped.
pub struct Scratch(pub PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// A folder that goes when it is dropped.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("rvvsim-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// A program in it, executable.
    pub fn program(&self, name: &str, elf: &[u8]) -> PathBuf {
        let path = self.0.join(name);
        std::fs::write(&path, elf).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Prints its arguments, argv[0] first, each on a line.
pub fn echo() -> Vec<u8> {
    const SP: u8 = 2;
    let mut a = Asm::new(TEXT);
    a.rri(Op::Addi, A3, SP, 8);
    let (next, done) = (a.label_here(), a.label());
    a.rri(Op::Ld, A1, A3, 0);
    a.branch(Op::Beq, A1, 0, done);
    a.li(A2, 0);
    let (letter, end) = (a.label_here(), a.label());
    a.rrr(Op::Add, T0, A1, A2);
    a.rri(Op::Lbu, T0, T0, 0);
    a.branch(Op::Beq, T0, 0, end);
    a.rri(Op::Addi, A2, A2, 1);
    a.jump(letter);
    a.place(end);
    a.li(A0, 1);
    syscall(&mut a, 64);
    a.li(T0, DATA);
    a.li(T1, u64::from(b'\n'));
    a.store(Op::Sb, T1, 0, T0);
    a.li(A0, 1);
    a.li(A1, DATA);
    a.li(A2, 1);
    syscall(&mut a, 64);
    a.rri(Op::Addi, A3, A3, 8);
    a.jump(next);
    a.place(done);
    a.li(A0, 0);
    syscall(&mut a, 93);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 0x1000);
    elf.finish()
}

/// Exit code, standard output and standard error.
pub type Ran = (i32, String, String);

/// Runs a command with this on its standard input.
pub fn run(command: &mut Command, input: &[u8]) -> Ran {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may end without having read it.
    let _ = child.stdin.take().unwrap().write_all(input);
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The command under test.
pub fn command() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvsim"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("RVVSIM_")) {
        command.env_remove(name);
    }
    command
}

/// What `rvvsim` with these options does with this program.
pub fn rvvsim(name: &str, elf: &[u8], options: &[&str], input: &[u8]) -> Ran {
    static FILES: AtomicUsize = AtomicUsize::new(0);
    let number = FILES.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("rvvsim-{name}-{}-{number}", std::process::id()));
    std::fs::write(&path, elf).unwrap();
    let file = Scratch(path);
    run(command().args(options).arg(&file.0), input)
}
