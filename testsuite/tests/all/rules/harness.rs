//! A bare hart to run single instructions on, and look at.

use rvv_isa::{DisasmOptions, Inst, Isa, Lmul, Op, Sew, Vtype, csr, encode};
use rvvsim::config::{Agnostic, Config};
use rvvsim::fp::Flags;
use rvvsim::{Cause, Hart, Trap};
use rvvsim::{Engine, Stop};
use rvvsim::{RAM_BASE, status};

/// The address of the instruction under test.
pub const CODE: u64 = RAM_BASE + 0x1000;
/// Where there is room for data: 1 MiB on.
pub const DATA: u64 = RAM_BASE + 0x10_0000;
/// Guest memory.
const MEMORY: u64 = 8 << 20;

/// The agnostic policies, each at least once.
pub const POLICIES: [Agnostic; 5] = [
    Agnostic::Undisturbed,
    Agnostic::Ones,
    Agnostic::OnesToRegister,
    Agnostic::Random(1),
    Agnostic::Random(0xfeed),
];

/// An instruction being written.
#[derive(Clone, Copy, Debug)]
pub struct Ins(pub Inst);

/// The instruction of that mnemonic, unmasked, with registers 0 throughout.
pub fn ins(name: &str) -> Ins {
    of(Op::from_name(name).unwrap_or_else(|| panic!("no instruction {name}")))
}

/// As [`ins`], from an [`Op`].
pub fn of(op: Op) -> Ins {
    Ins(Inst { vm: true, ..Inst::new(op) })
}

impl Ins {
    pub fn vd(self, r: u8) -> Ins {
        Ins(Inst { rd: r, ..self.0 })
    }
    pub fn rd(self, r: u8) -> Ins {
        self.vd(r)
    }
    pub fn vs2(self, r: u8) -> Ins {
        Ins(Inst { rs2: r, ..self.0 })
    }
    pub fn rs2(self, r: u8) -> Ins {
        self.vs2(r)
    }
    pub fn vs1(self, r: u8) -> Ins {
        Ins(Inst { rs1: r, ..self.0 })
    }
    pub fn rs1(self, r: u8) -> Ins {
        self.vs1(r)
    }
    pub fn imm(self, imm: i32) -> Ins {
        Ins(Inst { imm, ..self.0 })
    }
    /// Under the mask v0.
    pub fn m(self) -> Ins {
        self.masked(true)
    }
    pub fn masked(self, masked: bool) -> Ins {
        Ins(Inst { vm: !masked, ..self.0 })
    }
    /// With so many fields in a segment.
    pub fn fields(self, fields: u8) -> Ins {
        Ins(Inst { nf: fields - 1, ..self.0 })
    }
    pub fn word(self) -> u32 {
        encode(&self.0).unwrap_or_else(|e| panic!("{e}"))
    }
}

/// All that an instruction may change but memory.
#[derive(Clone, PartialEq, Debug)]
pub struct State {
    pub v: Vec<u8>,
    pub x: [u64; 32],
    pub f: [u64; 32],
    pub vl: u64,
    pub vtype: Vtype,
    pub vstart: u64,
    pub vxrm: u8,
    pub vxsat: bool,
    pub fflags: Flags,
    pub frm: u8,
}

/// A hart and its engine.
pub struct Lab {
    pub hart: Hart,
    pub engine: Engine,
}

impl Lab {
    /// All extensions, this VLEN, `mstatus.FS` and `VS` initial, M-mode, `vtype` as at reset.
    pub fn new(vlen: u32) -> Lab {
        Lab::with(vlen, |_| ())
    }

    /// As [`Lab::new`], with other choices.
    pub fn with(vlen: u32, change: impl FnOnce(&mut Config)) -> Lab {
        let mut config = Config { vlen, mem: MEMORY, isa: Isa::everything(), ..Config::default() };
        change(&mut config);
        let mut hart = Hart::bare(config).expect("memory");
        hart.write_csr(csr::MSTATUS, 1 << 9 | 1 << 13);
        Lab { hart, engine: Engine::default() }
    }

    /// As [`Lab::new`], with this instruction set.
    pub fn isa(vlen: u32, isa: &str) -> Lab {
        Lab::with(vlen, |config| config.isa = isa.parse().expect("an isa"))
    }

    /// As [`Lab::new`], with these policies.
    pub fn policies(vlen: u32, tail: Agnostic, mask: Agnostic) -> Lab {
        Lab::with(vlen, |config| (config.tail, config.mask) = (tail, mask))
    }

    /// Runs a word as an instruction.
    pub fn run_word(&mut self, word: u32) -> Result<(), Trap> {
        self.put_at(CODE, &word.to_le_bytes());
        self.hart.set_pc(CODE);
        match self.engine.step(&mut self.hart) {
            Stop::Budget => {
                assert_eq!(self.hart.pc(), CODE + 4, "pc after the instruction");
                Ok(())
            }
            Stop::Trap(trap) => {
                assert_eq!(self.hart.pc(), CODE, "pc of the trap");
                Err(trap)
            }
        }
    }

    /// Runs an instruction.
    pub fn run(&mut self, ins: Ins) -> Result<(), Trap> {
        self.run_word(ins.word())
    }

    /// Runs an instruction that must complete.
    #[track_caller]
    pub fn ok(&mut self, ins: Ins) {
        let vtype = self.hart.vector().vtype;
        if let Err(trap) = self.run(ins) {
            panic!("{} under {vtype}, vl={}: {trap:?}", show(ins), self.hart.vector().vl);
        }
        assert_eq!(self.hart.vector().vstart, 0, "{}: vstart", show(ins));
    }

    /// Runs a word that must be an illegal instruction and change nothing; the reason.
    #[track_caller]
    pub fn illegal_word(&mut self, word: u32) -> &'static str {
        let what = rvv_isa::decode(word).map_or(format!("{word:#010x}"), |inst| show(Ins(inst)));
        let before = self.state();
        let context = format!("{what} under {} at VLEN {}", before.vtype, self.vlen());
        match self.run_word(word) {
            Ok(()) => panic!("{context}: no trap, vl={} vstart={}", before.vl, before.vstart),
            Err(trap) => {
                assert_eq!(trap.cause, Cause::IllegalInstruction, "{context}: {trap:?}");
                assert_eq!(trap.tval, u64::from(word), "{context}: tval");
                assert!(self.state() == before, "{context}: an illegal instruction changed the state");
                trap.why
            }
        }
    }

    /// Runs an instruction that must be illegal; the reason.
    #[track_caller]
    pub fn illegal(&mut self, ins: Ins) -> &'static str {
        self.illegal_word(ins.word())
    }

    /// Runs an instruction that must be illegal, and the message must begin with this rule's id.
    #[track_caller]
    pub fn cites(&mut self, ins: Ins, rule: &str) {
        let why = self.illegal(ins);
        assert!(why.starts_with(&format!("norm:{rule}: ")), "{}: {why:?} is not norm:{rule}", show(ins));
    }

    /// As [`Lab::cites`], for a word.
    #[track_caller]
    pub fn cites_word(&mut self, word: u32, rule: &str) {
        let why = self.illegal_word(word);
        assert!(why.starts_with(&format!("norm:{rule}: ")), "{word:#010x}: {why:?} is not norm:{rule}");
    }

    /// As [`Lab::cites`], for any of these rules.
    #[track_caller]
    pub fn cites_any(&mut self, ins: Ins, rules: &[&str]) {
        let why = self.illegal(ins);
        let found = rules.iter().any(|rule| why.starts_with(&format!("norm:{rule}: ")));
        assert!(found, "{}: {why:?} is none of {rules:?}", show(ins));
    }

    /// `vtype` without agnostic sets, `vl` = VLMAX, `vstart` = 0.
    pub fn set(&mut self, sew: u32, lmul: Lmul) -> &mut Lab {
        self.set_vtype(Vtype::new(sew_of(sew), lmul, false, false))
    }

    /// `vtype`, `vl` = VLMAX, `vstart` = 0.
    pub fn set_vtype(&mut self, vtype: Vtype) -> &mut Lab {
        self.hart.vector_mut().vtype = vtype;
        self.hart.vector_mut().vl = u64::from(vtype.vlmax(self.vlen()));
        self.hart.vector_mut().vstart = 0;
        self
    }

    pub fn vl(&mut self, vl: u64) -> &mut Lab {
        self.hart.vector_mut().vl = vl;
        self
    }

    pub fn vstart(&mut self, vstart: u64) -> &mut Lab {
        self.hart.vector_mut().vstart = vstart;
        self
    }

    pub fn x(&mut self, r: u8, value: u64) -> &mut Lab {
        self.hart.set_x(r, value);
        self
    }

    pub fn f(&mut self, r: u8, value: u64) -> &mut Lab {
        let dirty = self.hart.is_fs_dirty();
        self.hart.set_f(r, value);
        self.hart.set_fs_dirty(dirty);
        self
    }

    pub fn vlen(&self) -> u32 {
        self.hart.config().vlen
    }

    pub fn vlmax(&self) -> u64 {
        u64::from(self.hart.vector().vtype.vlmax(self.vlen()))
    }

    /// Element `i` of the group that begins at register `r`.
    pub fn get(&self, r: u8, eew: u32, i: usize) -> u64 {
        let size = eew as usize / 8;
        let at = usize::from(r) * self.hart.vector().vlenb + i * size;
        let mut bytes = [0; 8];
        bytes[..size].copy_from_slice(&self.hart.vector().registers()[at..at + size]);
        u64::from_le_bytes(bytes)
    }

    /// The first `n` elements of a group.
    pub fn gets(&self, r: u8, eew: u32, n: usize) -> Vec<u64> {
        (0..n).map(|i| self.get(r, eew, i)).collect()
    }

    pub fn put(&mut self, r: u8, eew: u32, i: usize, value: u64) -> &mut Lab {
        let size = eew as usize / 8;
        let at = usize::from(r) * self.hart.vector().vlenb + i * size;
        self.hart.vector_mut().registers_mut()[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        self
    }

    pub fn puts(&mut self, r: u8, eew: u32, values: &[u64]) -> &mut Lab {
        for (i, &value) in values.iter().enumerate() {
            self.put(r, eew, i, value);
        }
        self
    }

    /// Bit `i` of a mask register.
    pub fn bit(&self, r: u8, i: usize) -> bool {
        self.hart.vector().registers()[usize::from(r) * self.hart.vector().vlenb + i / 8] >> (i % 8) & 1 != 0
    }

    pub fn put_bit(&mut self, r: u8, i: usize, bit: bool) -> &mut Lab {
        let byte = &mut self.hart.vector_mut().register_mut(r)[i / 8];
        *byte = *byte & !(1 << (i % 8)) | u8::from(bit) << (i % 8);
        self
    }

    /// A mask register, from its low bits; the rest becomes 0.
    pub fn mask(&mut self, r: u8, bits: u64) -> &mut Lab {
        self.hart.vector_mut().register_mut(r).fill(0);
        self.put(r, 64.min(self.vlen()), 0, bits)
    }

    /// Random contents for all vector registers.
    pub fn shake(&mut self, random: &mut Random) -> &mut Lab {
        let n = 32 * self.hart.vector().vlenb;
        for byte in &mut self.hart.vector_mut().registers_mut()[..n] {
            *byte = random.next() as u8;
        }
        self
    }

    pub fn state(&self) -> State {
        let v = self.hart.vector();
        State {
            v: v.registers()[..32 * v.vlenb].to_vec(),
            x: *self.hart.x_registers(),
            f: *self.hart.f_registers(),
            vl: v.vl,
            vtype: v.vtype,
            vstart: v.vstart,
            vxrm: v.vxrm,
            vxsat: v.vxsat,
            fflags: self.hart.fflags(),
            frm: self.hart.frm(),
        }
    }

    /// Puts registers back as they were.
    pub fn restore(&mut self, state: &State) {
        let v = self.hart.vector_mut();
        v.registers_mut().copy_from_slice(&state.v);
        (v.vl, v.vtype, v.vstart) = (state.vl, state.vtype, state.vstart);
        (v.vxrm, v.vxsat) = (state.vxrm, state.vxsat);
        self.hart.set_fflags(state.fflags);
        self.hart.set_frm(state.frm);
        let dirty = self.hart.is_fs_dirty();
        for r in 0..32 {
            self.hart.set_x(r, state.x[usize::from(r)]);
            self.hart.set_f(r, state.f[usize::from(r)]);
        }
        self.hart.set_fs_dirty(dirty);
    }

    /// Memory, by physical address.
    pub fn at(&self, address: u64, len: usize) -> &[u8] {
        &self.hart.memory()[(address - RAM_BASE) as usize..][..len]
    }

    pub fn put_at(&mut self, address: u64, bytes: &[u8]) {
        self.hart.memory_mut()[(address - RAM_BASE) as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    /// A CSR, read by an instruction.
    #[track_caller]
    pub fn csr(&mut self, number: u16) -> u64 {
        self.run(ins("csrrs").rd(31).imm(i32::from(number))).expect("a readable csr");
        self.hart.x(31)
    }

    /// Writes a CSR by an instruction.
    pub fn write_csr(&mut self, number: u16, value: u64) -> Result<(), Trap> {
        self.hart.set_x(31, value);
        self.run(ins("csrrw").rs1(31).imm(i32::from(number)))
    }

    /// The fields `VS` and `FS` of `mstatus`: 0 off, 1 initial, 2 clean, 3 dirty.
    pub fn vs(&self) -> u64 {
        (self.hart.mstatus() & status::VS) >> 9
    }

    pub fn fs(&self) -> u64 {
        (self.hart.mstatus() & status::FS) >> 13
    }

    pub fn set_vs_fs(&mut self, vs: u64, fs: u64) -> &mut Lab {
        self.hart.fold_dirty();
        self.hart.write_csr(csr::MSTATUS, vs << 9 | fs << 13);
        self
    }
}

pub fn show(ins: Ins) -> String {
    ins.0.disasm(0, DisasmOptions::default()).replace('\t', " ")
}

pub fn sew_of(bits: u32) -> Sew {
    Sew::from_bits(bits).expect("8, 16, 32 or 64")
}

/// All `vtype`s that a machine of this VLEN and ELEN 64 supports, without agnostic sets.
pub fn vtypes(vlen: u32) -> Vec<(u32, Lmul)> {
    let mut all = Vec::new();
    for lmul in Lmul::ALL {
        for sew in [8u32, 16, 32, 64] {
            // SEW <= LMUL * min(ELEN, VLEN), for fractions; all for the others.
            if lmul.log2() >= 0 || sew << -lmul.log2() <= 64.min(vlen) {
                all.push((sew, lmul));
            }
        }
    }
    all
}

/// The low `bits` bits.
pub fn low(value: u64, bits: u32) -> u64 {
    if bits == 64 { value } else { value & ((1 << bits) - 1) }
}

/// Sign-extends the low `bits` bits.
pub fn sext(value: u64, bits: u32) -> i64 {
    (value << (64 - bits)) as i64 >> (64 - bits)
}

/// A stream of numbers that is the same in every run (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        rvv_isa::random::next(&mut self.0)
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len() as u64) as usize]
    }
}
