//! A small assembler on top of `rvv_isa::encode`, for the programs around the instructions under test.

use rvv_isa::{Inst, Op, encode};

/// Code being written, from an address on.
#[derive(Clone, Debug)]
pub struct Asm {
    base: u64,
    bytes: Vec<u8>,
    /// Where each label is, once it is placed.
    labels: Vec<Option<u64>>,
    /// Instructions to complete when their label's place is known.
    fixups: Vec<(usize, Inst, Label)>,
}

/// A place in the code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Label(usize);

impl Asm {
    /// Starts at `base`.
    #[must_use]
    pub fn new(base: u64) -> Self {
        Asm { base, bytes: Vec::new(), labels: Vec::new(), fixups: Vec::new() }
    }

    /// The address of what comes next.
    #[must_use]
    pub fn here(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// A new label, not yet placed.
    pub fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts a label here.
    pub fn place(&mut self, label: Label) {
        self.labels[label.0] = Some(self.here());
    }

    /// A new label, placed here.
    pub fn label_here(&mut self) -> Label {
        let label = self.label();
        self.place(label);
        label
    }

    /// Appends the encoding of an instruction: `len` bytes of `word`.
    pub fn raw(&mut self, word: u32, len: u8) {
        self.bytes.extend_from_slice(&word.to_le_bytes()[..usize::from(len)]);
    }

    /// Appends an instruction.
    ///
    /// # Panics
    /// If it cannot be encoded: the program around the tests is wrong.
    pub fn inst(&mut self, inst: &Inst) {
        let word = encode(inst).unwrap_or_else(|e| panic!("{e}"));
        self.raw(word, inst.len);
    }

    /// `op rd, rs1, rs2`
    pub fn rrr(&mut self, op: Op, rd: u8, rs1: u8, rs2: u8) {
        self.inst(&Inst { rd, rs1, rs2, ..Inst::new(op) });
    }

    /// `op rd, rs1, imm`, and loads and `jalr`.
    pub fn rri(&mut self, op: Op, rd: u8, rs1: u8, imm: i32) {
        self.inst(&Inst { rd, rs1, imm, ..Inst::new(op) });
    }

    /// `op rs2, imm(rs1)`
    pub fn store(&mut self, op: Op, rs2: u8, imm: i32, rs1: u8) {
        self.inst(&Inst { rs1, rs2, imm, ..Inst::new(op) });
    }

    /// `csrrw`, `csrrs` or `csrrc`.
    pub fn csr(&mut self, op: Op, rd: u8, csr: u16, rs1: u8) {
        self.inst(&Inst { rd, rs1, imm: csr.into(), ..Inst::new(op) });
    }

    /// An instruction without operands.
    pub fn plain(&mut self, op: Op) {
        self.inst(&Inst::new(op));
    }

    /// A branch to a label.
    pub fn branch(&mut self, op: Op, rs1: u8, rs2: u8, to: Label) {
        self.fixups.push((self.bytes.len(), Inst { rs1, rs2, ..Inst::new(op) }, to));
        self.raw(0, 4);
    }

    /// A jump to a label.
    pub fn jump(&mut self, to: Label) {
        self.fixups.push((self.bytes.len(), Inst::new(Op::Jal), to));
        self.raw(0, 4);
    }

    /// Loads the address of a label.
    pub fn la(&mut self, rd: u8, to: Label) {
        self.fixups.push((self.bytes.len(), Inst { rd, ..Inst::new(Op::Auipc) }, to));
        self.raw(0, 4);
        self.raw(0, 4);
    }

    /// A jump to a label that leaves the way back in `link`.
    pub fn call(&mut self, link: u8, to: Label) {
        self.fixups.push((self.bytes.len(), Inst { rd: link, ..Inst::new(Op::Jal) }, to));
        self.raw(0, 4);
    }

    /// Loads a constant.
    pub fn li(&mut self, rd: u8, value: u64) {
        let v = value as i64;
        if (-2048..2048).contains(&v) {
            self.rri(Op::Addi, rd, 0, v as i32);
        } else if v == i64::from(v as i32) {
            let low = (v as i32) << 20 >> 20;
            self.inst(&Inst { rd, imm: (v as i32).wrapping_sub(low), ..Inst::new(Op::Lui) });
            self.rri(Op::Addiw, rd, rd, low);
        } else {
            let low = v << 52 >> 52;
            self.li(rd, (v.wrapping_sub(low) >> 12) as u64);
            self.rri(Op::Slli, rd, rd, 12);
            self.rri(Op::Addi, rd, rd, low as i32);
        }
    }

    /// The code.
    ///
    /// # Panics
    /// If a label was never placed, or is out of reach.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        for (at, mut inst, label) in std::mem::take(&mut self.fixups) {
            let target = self.labels[label.0].expect("every label is placed");
            let distance = target.wrapping_sub(self.base + at as u64) as i32;
            if inst.op == Op::Auipc {
                let low = distance << 20 >> 20;
                let addi = Inst { rd: inst.rd, rs1: inst.rd, imm: low, ..Inst::new(Op::Addi) };
                self.patch(at + 4, &addi);
                inst.imm = distance.wrapping_sub(low);
            } else {
                inst.imm = distance;
            }
            self.patch(at, &inst);
        }
        self.bytes
    }

    fn patch(&mut self, at: usize, inst: &Inst) {
        let word = encode(inst).unwrap_or_else(|e| panic!("{e}"));
        self.bytes[at..at + 4].copy_from_slice(&word.to_le_bytes());
    }
}
