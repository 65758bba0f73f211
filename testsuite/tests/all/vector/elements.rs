//! Every instruction that goes element by element, at every VLEN and under every policy, against the same
//! instruction on one element at a time; and what becomes of the elements it does not touch.

use super::support::{Random, file, hart, hart_of, has, inst, ops, run, set_type};
use rvv_isa::{Class, Field, Inst, Isa, Lmul, Op, RegFile, Sew, Vtype};
use rvvsim::config::{Agnostic, Config};
use rvvsim::{Hart, vector};

/// Operand registers of the wide machine: no two groups of eight overlap.
const VD: u8 = 8;
const VS2: u8 = 16;
const VS1: u8 = 24;

/// What the name of an instruction says of its operands, in bits; 1 for a mask.
struct Widths {
    vd: u32,
    vs2: u32,
    vs1: u32,
}

fn widths(op: Op, sew: u32) -> Widths {
    let name = op.name();
    let form = name.rsplit('.').next().unwrap_or_default();
    let widens = name.starts_with("vw") || name.starts_with("vfw");
    let to_mask = (name.starts_with("vm") && !name.starts_with("vmv") && !name.starts_with("vmerge"))
        && !["vmul", "vmax", "vmin", "vmacc", "vmadd."].iter().any(|n| name.starts_with(n));
    let vs2 = match form {
        "wv" | "wx" | "wi" | "wf" | "w" => 2 * sew,
        "vf2" if name.contains("ext") => sew / 2,
        "vf4" if name.contains("ext") => sew / 4,
        "vf8" if name.contains("ext") => sew / 8,
        _ => sew,
    };
    Widths { vd: if to_mask { 1 } else { sew << u32::from(widens) }, vs2, vs1: sew }
}

fn elementwise() -> impl Iterator<Item = Op> {
    [Class::VectorInteger, Class::VectorFixed, Class::VectorFloat, Class::VectorCrypto]
        .into_iter()
        .flat_map(ops)
        // Element groups are no elements.
        .filter(|op| !["vaes", "vsha", "vsm", "vg"].iter().any(|group| op.name().starts_with(group)))
}

fn get(hart: &Hart, register: u8, bits: u32, i: usize) -> u64 {
    let regs = &hart.vector().registers()[usize::from(register) * hart.vector().vlenb..];
    if bits == 1 {
        return u64::from(regs[i / 8] >> (i % 8) & 1);
    }
    let size = bits as usize / 8;
    let mut le = [0; 8];
    le[..size].copy_from_slice(&regs[i * size..][..size]);
    u64::from_le_bytes(le)
}

fn put(hart: &mut Hart, register: u8, bits: u32, value: u64) {
    let at = usize::from(register) * hart.vector().vlenb;
    if bits == 1 {
        let byte = &mut hart.vector_mut().registers_mut()[at];
        *byte = *byte & !1 | value as u8 & 1;
    } else {
        let size = bits as usize / 8;
        hart.vector_mut().registers_mut()[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

fn instruction(op: Op, masked: bool, random: &mut Random) -> Inst {
    let mut inst = Inst { rd: VD, rs2: VS2, rs1: VS1, ..Inst::new(op) };
    if file(op, Field::Rs2).is_none() {
        inst.rs2 = 0;
    }
    if file(op, Field::Rs1) != Some(RegFile::V) {
        inst.rs1 = if file(op, Field::Rs1).is_some() { 11 } else { Inst::new(op).rs1 };
    }
    if has(op, Field::Vm) {
        inst.vm = !masked;
    }
    if has(op, Field::Imm) {
        inst.imm = random.below(16) as i32;
    }
    inst
}

/// The indices to look at: all, or the ends of everything and some between.
fn positions(len: usize, vstart: usize, vl: usize, random: &mut Random) -> Vec<usize> {
    if len <= 300 {
        return (0..len).collect();
    }
    let around = |at: usize| (at.saturating_sub(2)..at + 3).collect::<Vec<_>>();
    let mut all = [around(0), around(vstart), around(vl), around(len - 1)].concat();
    all.extend((0..40).map(|_| random.below(len as u64) as usize));
    all.retain(|&i| i < len);
    all
}

struct Wide {
    hart: Hart,
    /// A machine for one element, with every width.
    one: Hart,
    random: Random,
}

impl Wide {
    fn new(config: Config) -> Wide {
        Wide {
            hart: hart(config),
            one: hart(Config { mem: 4096, isa: Isa::everything(), ..Config::default() }),
            random: Random(7),
        }
    }

    fn fill(&mut self) {
        let len = 32 * self.hart.vector().vlenb;
        self.random.fill(&mut self.hart.vector_mut().registers_mut()[..len]);
        // Half of the numbers near a corner.
        for chunk in self.hart.vector_mut().registers_mut()[..len].chunks_mut(2) {
            match self.random.below(8) {
                0 => chunk.fill(0),
                1 => chunk.fill(0xff),
                2 => chunk.copy_from_slice(&[0, 0x80]),
                3 => chunk.copy_from_slice(&[0, 0x3c]),
                _ => {}
            }
        }
        for hart in [&mut self.hart, &mut self.one] {
            hart.vector_mut().vxsat = false;
            hart.set_fflags(Default::default());
        }
        let (x, f) = (self.random.next(), self.random.next() | !0 << 32);
        let (vxrm, frm) = (self.random.below(4) as u8, self.random.below(5) as u8);
        for hart in [&mut self.hart, &mut self.one] {
            hart.set_x(11, x);
            hart.set_f(11, f);
            hart.vector_mut().vxrm = vxrm;
            hart.set_frm(frm);
        }
    }

    /// One instruction, in all; whether it is legal.
    fn check(&mut self, op: Op, vtype: Vtype, masked: bool) -> bool {
        self.fill();
        let inst = instruction(op, masked, &mut self.random);
        let vtype = vector::supported(self.hart.config(), vtype);
        if vector::check(self.hart.config(), &inst, vtype).is_err() {
            return false;
        }
        let vlmax = u64::from(vtype.vlmax(self.hart.config().vlen));
        self.hart.vector_mut().vtype = vtype;
        self.hart.vector_mut().vl =
            [vlmax, self.random.below(vlmax + 1), 1.min(vlmax)][self.random.below(3) as usize];
        self.hart.vector_mut().vstart = if self.random.below(4) == 0 { self.random.below(vlmax) } else { 0 };
        let (vl, vstart) = (self.hart.vector().vl as usize, self.hart.vector().vstart as usize);

        let before = self.hart.vector().clone();
        let sew = vtype.sew.bits();
        let Widths { vd, vs2, vs1 } = widths(op, sew);
        let registers = if vd == 1 { 1 } else { (vlmax as usize * vd as usize / 8).div_ceil(before.vlenb) };
        let elements = registers * before.vlenb * 8 / vd as usize;
        let look_at = positions(elements, vstart, vl, &mut self.random);
        let (mut saturated, mut flags) = (false, Default::default());
        let mut expected = vec![];
        self.one.vector_mut().vtype = Vtype::new(vtype.sew, Lmul::M1, false, false);
        let all_of_them = look_at.len() == elements;
        for &i in &look_at {
            let mask = get(&self.hart, 0, 1, i);
            let old = get(&self.hart, VD, vd, i);
            let value = if i < vstart || i >= vl || (masked && has(op, Field::Vm) && mask == 0) {
                old
            } else {
                put(&mut self.one, 0, 1, mask);
                put(&mut self.one, VD, vd, old);
                put(&mut self.one, VS2, vs2, get(&self.hart, VS2, vs2, i));
                put(&mut self.one, VS1, vs1, get(&self.hart, VS1, vs1, i));
                self.one.vector_mut().vl = 1;
                run(&mut self.one, &Inst { vm: inst.vm || has(op, Field::Vm), ..inst }).expect("one element");
                saturated |= self.one.vector().vxsat;
                flags = self.one.fflags();
                get(&self.one, VD, vd, 0)
            };
            expected.push(value);
        }

        run(&mut self.hart, &inst).unwrap_or_else(|trap| panic!("{}: {trap:?}", op.name()));
        let context = format!(
            "{} {vtype} vl={vl} vstart={vstart} masked={masked} VLEN={}",
            op.name(),
            self.hart.config().vlen
        );
        assert_eq!(self.hart.vector().vstart, 0, "{context}");
        if all_of_them {
            assert_eq!(self.hart.vector().vxsat, saturated, "vxsat of {context}");
            assert_eq!(self.hart.fflags(), flags, "fflags of {context}");
        }
        let ones = u64::MAX >> (64 - vd);
        let tail_agnostic = vtype.vta || vd == 1;
        for (&i, &value) in look_at.iter().zip(&expected) {
            let got = get(&self.hart, VD, vd, i);
            let mask = before.registers()[i / 8] >> (i % 8) & 1;
            let is_tail = i >= vl && vstart < vl;
            let is_inactive = (vstart..vl).contains(&i) && masked && has(op, Field::Vm) && mask == 0;
            let (agnostic, policy) = if is_tail {
                (tail_agnostic, self.hart.config().tail)
            } else {
                (is_inactive && vtype.vma, self.hart.config().mask)
            };
            let last_of_register =
                (vl * vd as usize).div_ceil(before.vlenb * 8) * before.vlenb * 8 / vd as usize;
            let fine = match policy {
                _ if !agnostic => got == value,
                Agnostic::Undisturbed => got == value,
                Agnostic::Ones => got == ones,
                Agnostic::OnesToRegister => got == if i < last_of_register { ones } else { value },
                Agnostic::Random(_) => got == value || got == ones,
            };
            assert!(fine, "element {i} of {context}: {got:#x}, expected {value:#x} or its policy");
        }
        // No other register.
        for register in (0..32).filter(|&r| r < usize::from(VD) || r >= usize::from(VD) + registers) {
            let range = register * before.vlenb..(register + 1) * before.vlenb;
            assert_eq!(
                self.hart.vector().registers()[range.clone()],
                before.registers()[range],
                "v{register} after {context}"
            );
        }
        true
    }
}

/// Checks all instructions under all types, `rounds` times each, or one case in `thin` of these.
fn sweep(config: Config, rounds: usize, thin: u64) {
    let mut wide = Wide::new(config);
    let mut legal = 0;
    for op in elementwise() {
        for sew in Sew::ALL {
            for lmul in Lmul::ALL {
                for round in 0..rounds {
                    if wide.random.below(thin) != 0 {
                        continue;
                    }
                    let bits = wide.random.next();
                    let vtype = Vtype::new(sew, lmul, bits & 1 == 0, bits & 2 == 0);
                    legal += usize::from(wide.check(op, vtype, round % 2 == 1));
                }
            }
        }
    }
    assert!(legal > 500, "only {legal} legal cases");
}

#[test]
fn elements_are_independent_at_vlen_128() {
    sweep(Config { mem: 4096, isa: Isa::everything(), ..Config::default() }, 4, 1);
}

#[test]
fn elements_are_independent_at_vlen_512_with_ones() {
    let (tail, mask) = (Agnostic::Ones, Agnostic::Ones);
    sweep(Config { vlen: 512, mem: 4096, tail, mask, isa: Isa::everything(), ..Config::default() }, 2, 1);
}

#[test]
fn elements_are_independent_at_vlen_256_with_ones_to_register() {
    let (tail, mask) = (Agnostic::OnesToRegister, Agnostic::Undisturbed);
    sweep(Config { vlen: 256, mem: 4096, tail, mask, isa: Isa::everything(), ..Config::default() }, 2, 1);
}

#[test]
fn elements_are_independent_at_vlen_1024_at_random() {
    let (tail, mask) = (Agnostic::Random(3), Agnostic::Random(4));
    sweep(Config { vlen: 1024, mem: 4096, tail, mask, isa: Isa::everything(), ..Config::default() }, 2, 1);
}

#[test]
fn elements_are_independent_at_vlen_65536() {
    let (tail, mask) = (Agnostic::Ones, Agnostic::Random(9));
    sweep(Config { vlen: 65536, mem: 4096, tail, mask, isa: Isa::everything(), ..Config::default() }, 2, 12);
}

#[test]
fn elements_are_independent_at_small_vlens() {
    for (isa, vlen) in [("rv64gc_zve32f_zvbb", 32), ("rv64gc_zve64d_zvfh_zvbb_zvbc", 64)] {
        let isa = isa.parse().expect("an isa");
        sweep(Config { isa, vlen, mem: 4096, ..Config::default() }, 2, 1);
    }
}

/// The number of a scalar register is no place in the vector registers, however large the groups are.
#[test]
fn the_last_scalar_register_under_the_largest_groups() {
    for vlen in [128, 1024, 65536] {
        for sew in [Sew::E8, Sew::E16, Sew::E32, Sew::E64] {
            let mut hart = hart_of(vlen);
            set_type(&mut hart, sew, Lmul::M8, u64::MAX);
            hart.set_x(31, 0x0102_0304_0506_0708);
            hart.set_f(31, u64::MAX);
            let scalar =
                |op: &Op| op.is_vector() && matches!(file(*op, Field::Rs1), Some(RegFile::X | RegFile::F));
            let memory = |op: &Op| matches!(op.class(), Class::VectorLoad | Class::VectorStore);
            for op in Op::all().filter(scalar).filter(|op| !memory(op)) {
                hart.vector_mut().vstart = 0;
                // Refused or done; an answer in either case.
                let _ = run(&mut hart, &Inst { rd: 8, rs2: 16, rs1: 31, ..Inst::new(op) });
            }
            set_type(&mut hart, sew, Lmul::M8, u64::MAX);
            run(&mut hart, &inst("vmv.v.x", 8, 0, 31)).expect("legal");
            let size = sew.bits() as usize / 8;
            let (first, whole) = (8 * vlen as usize / 8, 8 * vlen as usize / 8);
            let want = &0x0102_0304_0506_0708_u64.to_le_bytes()[..size];
            assert!(
                hart.vector().registers()[first..first + whole].chunks(size).all(|e| e == want),
                "{sew:?} {vlen}"
            );
        }
    }
}
