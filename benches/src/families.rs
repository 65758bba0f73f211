//! The vector instructions by family, and how long each takes.

use crate::{CODE, DATA, Program, looped_with};
use rvv_asm::asm::Asm;
use rvv_isa::{Inst, Lmul, Op, Sew, Vtype, csr, random};
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};
use std::time::Duration;

/// The vector lengths of the table.
pub const VLENS: [u32; 2] = [128, 1024];

/// Vector instructions in the loop.
const UNROLLED: u64 = 16;

const T0: u8 = 5;
const T1: u8 = 6;
/// What is loaded from.
const A1: u8 = 11;
/// What is stored to.
const A2: u8 = 12;
/// A stride.
const A3: u8 = 13;
/// Bytes of data: random elements, all of which are good floating-point numbers if they are to be any.
const DATA_SIZE: u64 = 1 << 16;

// Registers: v0 a random mask, v4 indices below VLMAX, v6 the same as byte offsets, v8 to v15 results,
// v16 to v31 data.

/// Instructions that do much the same.
#[derive(Clone, Debug)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// The instructions, taken in turn.
    pub body: Vec<Inst>,
    /// The width of the elements that the figure is per.
    pub sew: Sew,
    /// The elements are floating-point numbers.
    float: bool,
    /// The registers of a group: one, unless it takes two to hold an element group.
    lmul: Lmul,
    /// Elements each instruction touches, in units of `vl`: the fields of a segment.
    fields: u64,
}

fn inst(text: &str) -> Inst {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let op = Op::from_name(name).unwrap_or_else(|| panic!("no instruction {name}"));
    let mut inst = Inst::new(op);
    for word in words {
        let (field, value) = word.split_once('=').unwrap_or((word, "0"));
        let value: i32 = value.parse().unwrap_or_else(|_| panic!("{text}"));
        match field {
            "d" => inst.rd = value as u8,
            "s2" => inst.rs2 = value as u8,
            "s1" => inst.rs1 = value as u8,
            "nf" => inst.nf = value as u8 - 1,
            "i" => inst.imm = value,
            "masked" => inst.vm = false,
            _ => panic!("{text}"),
        }
    }
    inst
}

/// `op vd, vs2, vs1` with registers that suit all but widening and narrowing ones.
fn vvv(names: &[&str]) -> Vec<Inst> {
    names.iter().map(|n| inst(&format!("{n} d=8 s2=16 s1=20"))).collect()
}

/// `op vd, vs2`
fn vv(names: &[&str]) -> Vec<Inst> {
    names.iter().map(|n| inst(&format!("{n} d=8 s2=16"))).collect()
}

fn family(name: &str, sew: Sew, body: Vec<Inst>) -> Family {
    Family { name: name.to_owned(), body, sew, float: false, lmul: Lmul::M1, fields: 1 }
}

/// All families.
#[must_use]
pub fn families() -> Vec<Family> {
    let mut all = integer();
    all.extend(float());
    all.extend(mask_and_permute());
    all.extend(memory());
    all.extend(crypto());
    all
}

fn integer() -> Vec<Family> {
    use Sew::{E16, E32};
    let masked = |names: &[&str]| vvv(names).into_iter().map(|i| Inst { vm: false, ..i }).collect::<Vec<_>>();
    vec![
        family("add, subtract", E32, vvv(&["vadd.vv", "vsub.vv"])),
        family("add, subtract, masked", E32, masked(&["vadd.vv", "vsub.vv"])),
        family("and, xor", E32, vvv(&["vand.vv", "vxor.vv"])),
        family("minimum, maximum", E32, vvv(&["vmin.vv", "vmaxu.vv"])),
        family("shift", E32, vvv(&["vsll.vv", "vsra.vv"])),
        family("multiply", E32, vvv(&["vmul.vv", "vmulh.vv"])),
        family("multiply-add", E32, vvv(&["vmacc.vv", "vnmsac.vv"])),
        family("divide, remainder", E32, vvv(&["vdivu.vv", "vrem.vv"])),
        family("divide, masked", E32, masked(&["vdivu.vv"])),
        family("widening add", E16, vvv(&["vwaddu.vv", "vwsub.vv"])),
        family("widening multiply", E16, vvv(&["vwmul.vv", "vwmaccu.vv"])),
        family("extend", E32, vv(&["vzext.vf2", "vsext.vf4"])),
        family("narrowing shift", E16, vec![inst("vnsrl.wi d=8 s2=16 i=3"), inst("vnsra.wi d=9 s2=18 i=5")]),
        family("compare", E32, vvv(&["vmseq.vv", "vmslt.vv"])),
        family("merge", E32, vec![inst("vmerge.vvm d=8 s2=16 s1=20 masked")]),
        family("add with carry", E32, vec![inst("vadc.vvm d=8 s2=16 s1=20 masked")]),
        family("saturating add", E32, vvv(&["vsadd.vv", "vssubu.vv"])),
        family("averaging add", E32, vvv(&["vaadd.vv", "vasubu.vv"])),
        family("fractional multiply", E32, vvv(&["vsmul.vv"])),
        family("scaling shift", E32, vvv(&["vssrl.vv", "vssra.vv"])),
        family(
            "narrowing clip",
            E16,
            vec![inst("vnclip.wi d=8 s2=16 i=3"), inst("vnclipu.wi d=9 s2=18 i=5")],
        ),
        family("sum", E32, vvv(&["vredsum.vs"])),
        family("other reductions", E32, vvv(&["vredmax.vs", "vredxor.vs"])),
        family("widening sum", E16, vvv(&["vwredsum.vs"])),
    ]
}

fn float() -> Vec<Family> {
    let mut all = Vec::new();
    for sew in [Sew::E16, Sew::E32, Sew::E64] {
        let mut add = |name: &str, body| {
            let name = format!("{name}, f{}", sew.bits());
            all.push(Family { float: true, ..family(&name, sew, body) });
        };
        add("add", vvv(&["vfadd.vv", "vfsub.vv"]));
        add("multiply", vvv(&["vfmul.vv"]));
        add("fused multiply-add", vvv(&["vfmacc.vv", "vfnmsac.vv"]));
        add("divide", vvv(&["vfdiv.vv"]));
        add("square root", vv(&["vfsqrt.v"]));
        add("minimum, maximum", vvv(&["vfmin.vv", "vfmax.vv"]));
        add("compare", vvv(&["vmfeq.vv", "vmflt.vv"]));
        add("to integer and back", vec![inst("vfcvt.x.f.v d=8 s2=16"), inst("vfcvt.f.xu.v d=9 s2=20")]);
        add("unordered sum", vvv(&["vfredusum.vs"]));
        add("ordered sum", vvv(&["vfredosum.vs"]));
        add("estimates", vv(&["vfrec7.v", "vfrsqrt7.v"]));
    }
    for sew in [Sew::E16, Sew::E32] {
        let (narrow, wide) = (sew.bits(), 2 * sew.bits());
        let mut add = |name: String, body| all.push(Family { float: true, ..family(&name, sew, body) });
        add(format!("convert f{narrow} to f{wide}"), vv(&["vfwcvt.f.f.v"]));
        add(format!("widening multiply-add, f{narrow}"), vvv(&["vfwmacc.vv", "vfwnmsac.vv"]));
    }
    let mut narrow = family("convert f64 to f32", Sew::E32, vv(&["vfncvt.f.f.w"]));
    narrow.float = false; // Its source is of twice the width: random bits are numbers, too, most of them.
    all.push(narrow);
    all
}

fn mask_and_permute() -> Vec<Family> {
    use Sew::E32;
    let slides = vec![inst("vslideup.vi d=8 s2=16 i=1"), inst("vslidedown.vi d=9 s2=16 i=1")];
    let ones = vec![inst("vslide1up.vx d=8 s2=16 s1=11"), inst("vslide1down.vx d=9 s2=16 s1=11")];
    vec![
        family("mask logic", E32, vvv(&["vmand.mm", "vmxnor.mm"])),
        family(
            "population count, find first",
            E32,
            vec![inst("vcpop.m d=5 s2=16"), inst("vfirst.m d=5 s2=17")],
        ),
        family("set before first", E32, vv(&["vmsbf.m", "vmsof.m"])),
        family("iota", E32, vv(&["viota.m"])),
        family("index", E32, vec![inst("vid.v d=8")]),
        family("move element", E32, vec![inst("vmv.x.s d=5 s2=16"), inst("vmv.s.x d=8 s1=11")]),
        family("slide", E32, slides),
        family("slide by one", E32, ones),
        family("gather", E32, vec![inst("vrgather.vv d=8 s2=16 s1=4")]),
        family("gather, masked", E32, vec![inst("vrgather.vv d=8 s2=16 s1=4 masked")]),
        family("compress", E32, vec![inst("vcompress.vm d=8 s2=16 s1=0")]),
        family("move registers", E32, vec![inst("vmv1r.v d=8 s2=16")]),
    ]
}

fn memory() -> Vec<Family> {
    use Sew::E32;
    let one = |name: &str, text: &str| family(name, E32, vec![inst(text)]);
    let segment = |name: &str, text: &str| Family { fields: 4, ..one(name, text) };
    vec![
        one("load", "vle32.v d=8 s1=11"),
        one("store", "vse32.v d=16 s1=12"),
        one("load, masked", "vle32.v d=8 s1=11 masked"),
        one("store, masked", "vse32.v d=16 s1=12 masked"),
        one("load, fault-only-first", "vle32ff.v d=8 s1=11"),
        one("load, strided", "vlse32.v d=8 s1=11 s2=13"),
        one("store, strided", "vsse32.v d=16 s1=12 s2=13"),
        one("load, indexed", "vluxei32.v d=8 s1=11 s2=6"),
        one("store, indexed", "vsuxei32.v d=16 s1=12 s2=6"),
        segment("load, 4 fields", "vle32.v d=8 s1=11 nf=4"),
        segment("store, 4 fields", "vse32.v d=16 s1=12 nf=4"),
        segment("load, 4 fields, strided", "vlse32.v d=8 s1=11 s2=13 nf=4"),
        segment("load, 4 fields, indexed", "vluxei32.v d=8 s1=11 s2=6 nf=4"),
        one("load, whole register", "vl1re32.v d=8 s1=11"),
        one("store, whole register", "vs1r.v d=16 s1=12"),
    ]
}

fn crypto() -> Vec<Family> {
    use Sew::{E32, E64};
    vec![
        family("and-not, rotate", E32, vvv(&["vandn.vv", "vror.vv"])),
        family("reverse, count bits", E32, vv(&["vbrev8.v", "vrev8.v", "vclz.v", "vcpop.v"])),
        family("carry-less multiply", E64, vvv(&["vclmul.vv", "vclmulh.vv"])),
        family("AES round", E32, vv(&["vaesem.vv", "vaesdm.vv"])),
        family("AES key", E32, vec![inst("vaeskf1.vi d=8 s2=16 i=3"), inst("vaeskf2.vi d=9 s2=16 i=3")]),
        family("SHA-256", E32, vvv(&["vsha2ch.vv", "vsha2cl.vv", "vsha2ms.vv"])),
        family("GHASH", E32, vec![inst("vghsh.vv d=8 s2=16 s1=20"), inst("vgmul.vv d=9 s2=16")]),
        Family {
            lmul: Lmul::M2,
            ..family("SM3", E32, vec![inst("vsm3me.vv d=8 s2=16 s1=20"), inst("vsm3c.vi d=10 s2=16 i=5")])
        },
        family("SM4", E32, vec![inst("vsm4r.vv d=8 s2=16"), inst("vsm4k.vi d=9 s2=16 i=3")]),
    ]
}

impl Family {
    fn vtype(&self) -> Vtype {
        Vtype::new(self.sew, self.lmul, true, true)
    }

    /// Elements each instruction touches.
    #[must_use]
    pub fn elements(&self, vlen: u32) -> u64 {
        u64::from(self.vtype().vlmax(vlen)) * self.fields
    }

    /// Elements at random; numbers from 1 to 2, if they are to be numbers.
    fn data(&self) -> Vec<u8> {
        let mut state = 1;
        let (fraction, one) = match self.sew {
            Sew::E8 => (u64::MAX, 0),
            Sew::E16 => ((1 << 10) - 1, 0x3c00),
            Sew::E32 => ((1 << 23) - 1, 0x3f80_0000),
            Sew::E64 => ((1 << 52) - 1, 0x3ff0_0000_0000_0000),
        };
        let mut bytes = Vec::new();
        while bytes.len() < DATA_SIZE as usize {
            let bits = random::next(&mut state);
            let element = if self.float { bits & fraction | one } else { bits };
            bytes.extend_from_slice(&element.to_le_bytes()[..self.sew.bytes() as usize]);
        }
        bytes
    }

    /// A loop of `times` × [`UNROLLED`] of these instructions.
    #[must_use]
    pub fn program(&self, times: u64) -> Program {
        let data = self.data();
        let half = DATA + DATA_SIZE;
        let body = (0..UNROLLED as usize).map(|i| self.body[i % self.body.len()]);
        let set_up = |a: &mut Asm| {
            // FS and VS on.
            a.li(T0, 0x2200);
            a.csr(Op::Csrrs, 0, csr::MSTATUS, T0);
            a.li(A1, DATA);
            for vd in [0, 16, 24] {
                a.inst(&inst(&format!("vl8re8.v d={vd} s1=11")));
                a.csr(Op::Csrrs, T1, csr::VLENB, 0);
                a.rri(Op::Slli, T1, T1, 3);
                a.rrr(Op::Add, A1, A1, T1);
            }
            // Results that are also operands start as zeroes: sums of products stay small.
            let all = Vtype::new(Sew::E8, Lmul::M8, true, true);
            for vtype in [all, self.vtype()] {
                a.inst(&Inst { rd: T0, imm: vtype.to_bits() as i32, ..Inst::new(Op::Vsetvli) });
                if vtype == all {
                    a.inst(&inst("vmv.v.i d=8 i=0"));
                }
            }
            a.rri(Op::Addi, T0, T0, -1);
            a.inst(&inst("vand.vx d=4 s2=16 s1=5"));
            let shift = self.sew.bytes().trailing_zeros();
            a.inst(&inst(&format!("vsll.vi d=6 s2=4 i={shift}")));
            a.li(A1, DATA);
            a.li(A2, half);
            a.li(A3, 4 * u64::from(self.sew.bytes()));
        };
        looped_with("", times, UNROLLED, data, set_up, |a| body.for_each(|i| a.inst(&i)))
    }

    /// How many times round the loop take long enough to be measured.
    fn calibrate(&self, vlen: u32) -> u64 {
        let mut times = 100;
        let mut last = self.run(vlen, times);
        while last < SPAN {
            times *= 1 + (SPAN.as_nanos() / last.as_nanos().max(1)).clamp(1, 9) as u64;
            last = self.run(vlen, times);
        }
        times
    }

    /// Nanoseconds that one instruction takes, this time.
    fn measure(&self, vlen: u32, times: u64) -> f64 {
        self.run(vlen, times).as_nanos() as f64 / (times * UNROLLED) as f64
    }

    /// Time to run the program, from entry to exit.
    fn run(&self, vlen: u32, times: u64) -> Duration {
        let program = self.program(times);
        let image = Image::parse(&program.elf).expect("our own ELF");
        let mut machine = machine(&image, vlen);
        let start = cpu_time();
        let outcome = machine.run(None);
        let time = cpu_time().saturating_sub(start);
        assert_eq!(outcome, Outcome::Exited(0), "{} at {:#x}", self.name, machine.hart().pc() - CODE);
        time
    }
}

/// The time this thread has had of its core so far: other work on the machine does not count.
pub(crate) fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// How long one measurement takes, at least.
const SPAN: Duration = Duration::from_millis(4);
/// Rounds of measurements. Each takes all families in turn: a while in which the machine had other things to
/// do then spoils a round of many, and not the numbers of a few.
const ROUNDS: usize = 12;

/// A machine with a program of ours in it.
///
/// # Panics
/// If it does not fit.
#[must_use]
pub fn machine(image: &Image, vlen: u32) -> Machine {
    Machine::bare(Config { mem: 16 << 20, vlen, ..Config::default() }, image).expect("it fits")
}

/// The table of all families, in Markdown: the best of all rounds.
#[must_use]
pub fn table() -> String {
    let all = families();
    let each: Vec<_> = all.iter().flat_map(|f| VLENS.map(|vlen| (f, vlen))).collect();
    let times: Vec<_> = each.iter().map(|(f, vlen)| f.calibrate(*vlen)).collect();
    let mut best = vec![f64::INFINITY; each.len()];
    for _ in 0..ROUNDS {
        for (i, (family, vlen)) in each.iter().enumerate() {
            best[i] = best[i].min(family.measure(*vlen, times[i]));
        }
    }
    let mut text = "| family | element | ".to_owned();
    for vlen in VLENS {
        text += &format!("VLEN {vlen}: ns/instruction | ns/element | ");
    }
    text += "\n| --- | --- | ---: | ---: | ---: | ---: |\n";
    for (family, best) in all.iter().zip(best.chunks(VLENS.len())) {
        text += &format!("| {} | {} bits | ", family.name, family.sew.bits());
        for (vlen, time) in VLENS.iter().zip(best) {
            text += &format!("{time:.1} | {:.2} | ", time / family.elements(*vlen) as f64);
        }
        text += "\n";
    }
    text.replace(" \n", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_family_runs_at_every_vlen() {
        for family in families() {
            for vlen in VLENS {
                family.run(vlen, 2);
            }
        }
    }
}
