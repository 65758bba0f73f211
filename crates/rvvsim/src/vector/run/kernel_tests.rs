//! Every kernel against its plain twin: floating-point ones against the exact computation of one element, all
//! others as compiled for a better host against the same as compiled for any.

use crate::fp::{Flags, RoundingMode};
use crate::test_support::Random;
use crate::vector::run::chosen::copy_chosen;
use crate::vector::run::element::Element;
use crate::vector::run::input::Inexact;
use crate::vector::run::kernel::{BoundKernel, Fast, KernelSpec, Operands, PART_OUT, SLACK};
use crate::vector::{Row, row};
use rvv_isa::{Chapter, Class, Op, Sew};

const SEWS: [Sew; 4] = [Sew::E8, Sew::E16, Sew::E32, Sew::E64];

impl Random {
    /// Bits that are a number worth trying, of `size` bytes.
    pub fn number(&mut self, size: usize) -> u64 {
        let (sig, exp) = match size {
            1 => return self.next() & 0xff,
            2 => (10, 5),
            4 => (23, 8),
            _ => (52, 11),
        };
        let (one, infinity) = (((1 << (exp - 1)) - 1) << sig, ((1 << exp) - 1) << sig);
        let sign = (self.next() & 1) << (sig + exp);
        let fraction = (1 << sig) - 1;
        let near = |this: &mut Self, x: u64| (x + this.below(5)).wrapping_sub(2);
        let magnitude = match self.below(12) {
            0 => near(self, 2),
            1 => near(self, 1 << sig),
            2 => near(self, infinity),
            3 => near(self, one),
            4 => near(self, one + (self.0 & 7) * (1 << sig)),
            // Small integers and halves: exact, mostly.
            5 | 6 => one + (self.below(5) << sig) + (self.next() & fraction & !(fraction >> 4)),
            7 | 8 => one + (self.next() & fraction),
            9 => infinity + (1 << (sig - 1)) * self.below(2) + self.below(2),
            // About as small or great as any.
            10 => self.next() & fraction | (self.below(4) + self.below(2) * ((1 << exp) - 5)) << sig,
            _ => self.next(),
        };
        sign | magnitude & ((1 << (sig + exp)) - 1)
    }
}

/// All works of a class, with their instruction's name.
fn works(classes: &[Class]) -> Vec<(String, &'static KernelSpec)> {
    let mut all = Vec::new();
    for op in Op::all().filter(|op| classes.contains(&op.class())) {
        let Chapter::Vector(chapter) = op.chapter() else { continue };
        for sew in SEWS {
            if let Row { spec: Some(spec), .. } = row(chapter, sew) {
                all.push((format!("{} e{}", op.name(), sew.bits()), spec));
            }
        }
    }
    assert!(all.len() > 20);
    all
}

/// The kernels that this host can run.
fn kernels(spec: &KernelSpec) -> [BoundKernel; 2] {
    let best = BoundKernel::new(spec, OPERANDS, 16);
    [best.with(spec.kernels.plain()), best]
}

/// A register file of which only the kernel's operands are used.
fn registers() -> Vec<u8> {
    vec![0; 4 * 512 + SLACK]
}

const A: usize = 0;
const B: usize = 512;
const D: usize = 1024;
const OUT: usize = 1536;

const OPERANDS: Operands = Operands { out: OUT, a: A, b: B, d: D, each: !0, negate: [0; 3] };

fn fill(bytes: &mut [u8], size: usize, value: u64) {
    for element in bytes.chunks_exact_mut(size) {
        element.copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

fn first(bytes: &[u8], size: usize) -> u64 {
    let mut le = [0; 8];
    le[..size].copy_from_slice(&bytes[..size]);
    u64::from_le_bytes(le)
}

#[test]
fn what_a_float_kernel_takes_is_exact() {
    let mut random = Random(1);
    let mut regs = registers();
    let float = works(&[Class::VectorFloat]);
    for (name, spec) in float.into_iter().filter(|(_, spec)| spec.is_float && spec.fast != Fast::Never) {
        let is_compare = name.starts_with("vm");
        let [sd, sa, sb] = spec.sizes.map(usize::from);
        let mut taken = [0; 2];
        for round in 0..12_000 {
            let (a, b, d) = (random.number(sa), random.number(sb), random.number(sd));
            let rm = match (spec.rm, spec.fast) {
                (Some(rm), _) | (None, Fast::In(rm)) => rm,
                _ => RoundingMode::ALL[round % 5],
            };
            if !matches!(spec.fast, Fast::In(fast) if fast != rm) {
                fill(&mut regs[A..A + 64], sa, a);
                fill(&mut regs[B..B + 64], sb, b);
                fill(&mut regs[D..D + 64], sd, d);
                let mut flags = Flags::NONE;
                let expected = (spec.slow)(a, b, d, rm, &mut flags);
                for (which, kernel) in kernels(spec).into_iter().enumerate() {
                    for inexact in [Inexact::Taken, Inexact::Refused] {
                        if kernel.run_part(&mut regs, &OPERANDS, 1, inexact) == 0 {
                            continue;
                        }
                        taken[which] += 1;
                        let allowed = if inexact == Inexact::Taken { Flags::NX } else { Flags::NONE };
                        let got =
                            if is_compare { first(&regs[OUT..], 8) & 1 } else { first(&regs[OUT..], sd) };
                        let mask = if sd == 8 { !0 } else { (1 << (8 * sd)) - 1 };
                        assert!(
                            got == expected & mask && allowed.contains(flags),
                            "{name} {a:#x} {b:#x} {d:#x} {rm:?}: {got:#x}, {inexact:?}; {expected:#x} {flags:?}"
                        );
                    }
                }
            }
        }
        // Else the kernel would be of no use.
        assert!(taken[1] > 1000, "{name} took {taken:?}");
    }
}

#[test]
fn one_element_that_needs_thought_leaves_the_block_alone() {
    let mut regs = registers();
    let float = works(&[Class::VectorFloat]);
    let (_, spec) = float.iter().find(|(name, _)| name == "vfadd.vv e32").unwrap();
    for kernel in kernels(spec) {
        for bad in 0..16 {
            fill(&mut regs[A..B], 4, u64::from(1.5_f32.to_bits()));
            fill(&mut regs[B..D], 4, u64::from(2.5_f32.to_bits()));
            regs[OUT..].fill(0xee);
            fill(&mut regs[A + 4 * (32 + bad)..][..4], 4, u64::from(f32::INFINITY.to_bits()));
            let done = kernel.run_part(&mut regs, &OPERANDS, 64, Inexact::Refused) as usize;
            assert_eq!(done, 32 + bad / 4 * 4);
            let (taken, left) = regs[OUT..OUT + 256].split_at(4 * done);
            assert!(taken.chunks(4).all(|e| first(e, 4) == u64::from(4.0_f32.to_bits())));
            assert!(left.iter().all(|&byte| byte == 0xee));
        }
    }
}

#[test]
fn kernels_do_the_same_on_every_host() {
    let mut random = Random(2);
    let classes = [
        Class::VectorInteger,
        Class::VectorFixed,
        Class::VectorReduction,
        Class::VectorCrypto,
        Class::VectorFloat,
        Class::VectorMask,
        Class::VectorPermute,
    ];
    for (name, spec) in works(&classes).into_iter().filter(|(_, spec)| !spec.is_float) {
        for round in 0..60 {
            let mut regs = registers();
            for byte in &mut regs[..OUT] {
                *byte = random.next() as u8;
            }
            if round % 3 == 0 {
                // Elements at the ends of the range, and zeroes.
                for chunk in regs[..OUT].chunks_mut(8) {
                    chunk.copy_from_slice(
                        &[0, !0, 1 << 63, !0 >> 1, 1, random.next()][random.below(6) as usize].to_le_bytes(),
                    );
                }
            }
            // A scalar is one block; no instruction has one wider than its result.
            let scalar = round % 2 == 1 && spec.sizes[2] <= spec.sizes[0];
            if scalar {
                fill(&mut regs[B..D], usize::from(spec.sizes[2]), random.next());
            }
            let count = [4, 16, 64][round % 3].min(64 / usize::from(spec.sizes[0]));
            let operands = Operands { each: if scalar { 0 } else { !0 }, ..OPERANDS };
            let word = random.next();
            let mut answers = kernels(spec).into_iter().map(|kernel| {
                let mut regs = regs.clone();
                let answer = kernel.run_part_with_word(&mut regs, &operands, count, word);
                (answer, regs)
            });
            let (plain, best) = (answers.next().unwrap(), answers.next().unwrap());
            assert!(plain == best, "{name} {operands:?} {count} {word}");
            assert!(plain.1[OUT + PART_OUT..] == regs[OUT + PART_OUT..], "{name} wrote where it should not");
        }
    }
}

#[test]
fn what_is_chosen_is_copied_and_nothing_else() {
    fn check<T: Element>(random: &mut Random) {
        for count in 0..=64 {
            let from: Vec<u8> = (0..count * T::SIZE).map(|_| random.next() as u8).collect();
            let before: Vec<u8> = (0..count * T::SIZE).map(|_| random.next() as u8).collect();
            let bits = [0, !0, random.next(), random.next() & random.next()][count % 4];
            let mut to = before.clone();
            copy_chosen::<T>(&mut to, &from, bits);
            for i in 0..count {
                let expected = if bits >> i & 1 != 0 { &from } else { &before };
                assert_eq!(
                    to[i * T::SIZE..][..T::SIZE],
                    expected[i * T::SIZE..][..T::SIZE],
                    "{count} {bits:#x} {i}"
                );
            }
        }
    }
    let mut random = Random(4);
    check::<u8>(&mut random);
    check::<u16>(&mut random);
    check::<u32>(&mut random);
    check::<u64>(&mut random);
}
