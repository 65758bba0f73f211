//! Programs as machine code, without a compiler.
//!
//! Simple and obviously right: every variable lives in memory, and one operation is done at a time. Operands
//! are loaded into fixed register groups, the instruction is run, the result is stored. So a program that
//! disagrees with its compiled form points at the compiler, not at this.
//!
//! Scalars have slots of eight bytes, sign- or zero-extended by their type. Vectors have slots of whole
//! registers, packed at the run-time VLEN. Nothing recurses, so each function's slots are its own; programs
//! of one file run one after the other and share them.

mod call;
mod layout;
mod loops;
mod scalar;
mod stmt;
mod vector;

use crate::{BufferKind, Program};
use layout::{Layout, Slots};
use rvv_asm::{Asm, ElfWriter, Label};
use rvv_isa::{Inst, Op, csr, encode};

/// How programs are lowered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElfOptions {
    /// The longest VLEN the file must run at, in bits. Longer ones end it with status 77. Memory for
    /// variables is reserved by it, and touched by the VLEN it runs at.
    pub max_vlen: u32,
    /// What the intrinsics leave undefined, and the code would leave as it was, becomes the result of an
    /// instruction that leaves it undefined: for who follows undefined values through the code.
    pub marks: bool,
}

impl Default for ElfOptions {
    fn default() -> Self {
        ElfOptions { max_vlen: 65536, marks: false }
    }
}

/// Why a program has no machine code.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LowerError {
    /// It is not known which instructions do it.
    #[error("program {program}: {intrinsic}: no way is known to lower it")]
    Unknown {
        /// Which of the programs.
        program: usize,
        /// The explicit name.
        intrinsic: String,
    },
    /// An argument is not of the kind its parameter asks for, or out of its range.
    #[error("program {program}: {intrinsic}: {why}")]
    Argument {
        /// Which of the programs.
        program: usize,
        /// The explicit name.
        intrinsic: String,
        /// What is wrong with it.
        why: String,
    },
}

/// Status of a run at a VLEN that is longer than the file was made for.
const TOO_LONG: u64 = 77;

/// Integer registers with a meaning all through.
mod reg {
    pub const ZERO: u8 = 0;
    pub const RA: u8 = 1;
    pub const SP: u8 = 2;
    /// Addresses of slots, far jumps.
    pub const T0: u8 = 5;
    pub const T1: u8 = 6;
    /// The scalars' slots.
    pub const SCALARS: u8 = 8;
    /// The vectors' slots.
    pub const VECTORS: u8 = 9;
    pub const A0: u8 = 10;
    pub const A1: u8 = 11;
    pub const A2: u8 = 12;
    pub const A7: u8 = 17;
    /// vlenb, twice and four times as much.
    pub const VLENB: [u8; 3] = [18, 19, 20];
    /// frm, while an operation has its own.
    pub const FRM: u8 = 21;
    /// The number of the only program to run, or -1.
    pub const ONLY: u8 = 22;
    /// Where a program returns to.
    pub const LINK: u8 = 23;
}

/// One ELF for Linux user mode with these programs, which are valid.
///
/// It writes each program's output buffers, whole and in order, and exits with status 0. With an argument it
/// runs only the program of that number.
///
/// # Errors
/// Names the intrinsic that could not be lowered.
pub fn lower(programs: &[&Program]) -> Result<Vec<u8>, LowerError> {
    lower_with(programs, &ElfOptions::default())
}

/// The same, with options.
///
/// # Errors
/// Names the intrinsic that could not be lowered.
pub fn lower_with(programs: &[&Program], options: &ElfOptions) -> Result<Vec<u8>, LowerError> {
    let layout = Layout::new(programs, options);
    let mut code = Code { asm: Asm::new(layout.code) };
    let starts: Vec<Label> = programs.iter().map(|_| code.asm.label()).collect();
    let write = code.asm.label();
    code.start(&layout, &starts, options);
    code.write_all(write);
    let mut elf = ElfWriter::new(layout.code);
    for (number, program) in programs.iter().enumerate() {
        elf.symbol(&format!("program_{number}"), code.asm.here());
        code.asm.place(starts[number]);
        let mut lowering = Lowering {
            code: &mut code,
            number,
            program,
            buffers: &layout.buffers[number],
            slots: &layout.slots[number],
            marks: options.marks,
            functions: Vec::new(),
            function: 0,
            ends: Vec::new(),
        };
        lowering.program(write)?;
        for (buffer, &address) in program.buffers.iter().zip(&layout.buffers[number]) {
            elf.symbol(&format!("p{number}_{}", buffer.name), address);
        }
    }
    elf.segment(layout::RODATA, layout.rodata, 4);
    elf.segment(layout.data, layout.contents, 6);
    elf.zeros(layout.scalars, layout.end - layout.scalars);
    elf.segment(layout.code, code.asm.finish(), 5);
    Ok(elf.finish())
}

/// The assembler, and what is emitted more than once.
struct Code {
    asm: Asm,
}

impl Code {
    /// Jumps to a label however far it is.
    fn jump(&mut self, to: Label) {
        self.asm.la(reg::T0, to);
        self.asm.rri(Op::Jalr, reg::ZERO, reg::T0, 0);
    }

    /// Jumps to a label however far it is, unless the branch is taken.
    fn jump_unless(&mut self, op: Op, rs1: u8, rs2: u8, to: Label) {
        let past = self.asm.label();
        self.asm.branch(op, rs1, rs2, past);
        self.jump(to);
        self.asm.place(past);
    }

    /// Calls a label however far it is.
    fn call(&mut self, to: Label) {
        self.asm.la(reg::T0, to);
        self.asm.rri(Op::Jalr, reg::RA, reg::T0, 0);
    }

    fn mv(&mut self, rd: u8, rs: u8) {
        self.asm.rri(Op::Addi, rd, rs, 0);
    }

    fn csrwi(&mut self, rd: u8, csr: u16, value: u8) {
        self.asm.inst(&Inst { rd, rs1: value, imm: csr.into(), ..Inst::new(Op::Csrrwi) });
    }

    /// `_start`: sets the fixed registers, runs the programs, and exits.
    fn start(&mut self, layout: &Layout, programs: &[Label], options: &ElfOptions) {
        let (all, chosen, fits) = (self.asm.label(), self.asm.label(), self.asm.label());
        let a = &mut self.asm;
        a.csr(Op::Csrrs, reg::VLENB[0], csr::VLENB, reg::ZERO);
        a.rri(Op::Slli, reg::VLENB[1], reg::VLENB[0], 1);
        a.rri(Op::Slli, reg::VLENB[2], reg::VLENB[0], 2);
        a.li(reg::SCALARS, layout.scalars);
        a.li(reg::VECTORS, layout.vectors);
        a.li(reg::T0, u64::from(options.max_vlen / 8));
        a.branch(Op::Bgeu, reg::T0, reg::VLENB[0], fits);
        a.li(reg::A0, TOO_LONG);
        a.li(reg::A7, EXIT_GROUP);
        a.plain(Op::Ecall);
        a.place(fits);
        // sp is argc, argv[0], argv[1], ...
        a.li(reg::ONLY, u64::MAX);
        a.rri(Op::Ld, reg::A0, reg::SP, 0);
        a.li(reg::T0, 2);
        a.branch(Op::Blt, reg::A0, reg::T0, all);
        a.rri(Op::Ld, reg::A1, reg::SP, 16);
        a.li(reg::ONLY, 0);
        let digit = a.label_here();
        a.rri(Op::Lbu, reg::A0, reg::A1, 0);
        a.rri(Op::Addi, reg::A0, reg::A0, -i32::from(b'0'));
        a.li(reg::T0, 10);
        a.branch(Op::Bgeu, reg::A0, reg::T0, chosen);
        a.rrr(Op::Mul, reg::ONLY, reg::ONLY, reg::T0);
        a.rrr(Op::Add, reg::ONLY, reg::ONLY, reg::A0);
        a.rri(Op::Addi, reg::A1, reg::A1, 1);
        a.jump(digit);
        a.place(chosen);
        a.place(all);
        for (number, &program) in programs.iter().enumerate() {
            let (run, skip) = (self.asm.label(), self.asm.label());
            self.asm.branch(Op::Blt, reg::ONLY, reg::ZERO, run);
            self.asm.li(reg::T0, number as u64);
            self.asm.branch(Op::Bne, reg::ONLY, reg::T0, skip);
            self.asm.place(run);
            self.csrwi(reg::ZERO, csr::FRM, 0);
            self.call(program);
            self.asm.place(skip);
        }
        self.asm.li(reg::A0, 0);
        self.asm.li(reg::A7, EXIT_GROUP);
        self.asm.plain(Op::Ecall);
    }

    /// The function that writes `a2` bytes from `a1` on to the standard output.
    fn write_all(&mut self, label: Label) {
        let (again, done, good) = (self.asm.label(), self.asm.label(), self.asm.label());
        let a = &mut self.asm;
        a.place(label);
        a.place(again);
        a.branch(Op::Beq, reg::A2, reg::ZERO, done);
        a.li(reg::A0, 1);
        a.li(reg::A7, WRITE);
        a.plain(Op::Ecall);
        a.branch(Op::Blt, reg::ZERO, reg::A0, good);
        a.li(reg::A0, 2);
        a.li(reg::A7, EXIT_GROUP);
        a.plain(Op::Ecall);
        a.place(good);
        a.rrr(Op::Add, reg::A1, reg::A1, reg::A0);
        a.rrr(Op::Sub, reg::A2, reg::A2, reg::A0);
        a.jump(again);
        a.place(done);
        a.rri(Op::Jalr, reg::ZERO, reg::RA, 0);
    }
}

const WRITE: u64 = 64;
const EXIT_GROUP: u64 = 94;

/// A program being lowered.
struct Lowering<'p> {
    code: &'p mut Code,
    number: usize,
    program: &'p Program,
    /// Where each buffer is.
    buffers: &'p [u64],
    /// The slots of each function's variables, main's last.
    slots: &'p [Slots],
    /// See [`ElfOptions::marks`].
    marks: bool,
    /// Where each function starts.
    functions: Vec<Label>,
    /// The function being lowered, as [`Program::function`] counts.
    function: usize,
    /// Where the loops end that the statement is in, the innermost last.
    ends: Vec<Label>,
}

impl Lowering<'_> {
    /// The program's functions, after its main, which prints.
    fn program(&mut self, write: Label) -> Result<(), LowerError> {
        let program = self.program;
        self.functions = program.functions.iter().map(|_| self.code.asm.label()).collect();
        self.function = program.functions.len();
        self.code.mv(reg::LINK, reg::RA);
        for &(var, bits) in &program.params {
            let ty = program.main.ty(var);
            self.code.asm.li(reg::A0, scalar::canonical(ty, bits));
            self.store_scalar(self.function, var, reg::A0);
        }
        self.statements(&program.main.body)?;
        for (number, buffer) in program.buffers.iter().enumerate() {
            if buffer.kind == BufferKind::Out {
                self.code.asm.li(reg::A1, self.buffers[number]);
                self.code.asm.li(reg::A2, buffer.bytes() as u64);
                self.code.call(write);
            }
        }
        self.code.asm.rri(Op::Jalr, reg::ZERO, reg::LINK, 0);
        for (number, function) in program.functions.iter().enumerate() {
            self.function = number;
            self.code.asm.place(self.functions[number]);
            self.save_link();
            self.statements(&function.body)?;
            self.restore_link();
            self.code.asm.rri(Op::Jalr, reg::ZERO, reg::RA, 0);
        }
        Ok(())
    }

    /// Appends an instruction whose operands come from the program.
    fn checked(&mut self, inst: &Inst, intrinsic: &str) -> Result<(), LowerError> {
        match encode(inst) {
            Ok(word) => {
                self.code.asm.raw(word, inst.len);
                Ok(())
            }
            Err(e) => Err(self.argument(intrinsic, e.to_string())),
        }
    }

    fn argument(&self, intrinsic: &str, why: impl Into<String>) -> LowerError {
        LowerError::Argument { program: self.number, intrinsic: intrinsic.to_owned(), why: why.into() }
    }
}
