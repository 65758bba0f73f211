//! What becomes of elements that get no result: inactive ones and the tail (manual, section "Vector Tail
//! Agnostic and Vector Mask Agnostic").
//!
//! `unsafe` is the call of a function that was compiled for AVX2, after the host was found to have it; its
//! twin is the same function compiled without.

use crate::config::Agnostic;
use crate::vector::run::chosen::{self, copy_chosen_any};
use crate::vector::run::element::Element;
use crate::vector::run::elements::low_bits;
use crate::vector::{VInst, VectorState};

/// What an instruction does to a set of elements that get no result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Policy {
    /// They keep their values.
    Undisturbed,
    /// All bits become ones.
    Ones,
    /// As `Ones`, but only in registers that hold an element of the body.
    OnesToRegister,
    /// Each keeps its value or becomes ones, by coin.
    Random,
}

impl Policy {
    /// The policy for a set that is agnostic or not, as configured.
    #[must_use]
    pub fn new(agnostic: bool, choice: Agnostic) -> Policy {
        match choice {
            _ if !agnostic => Policy::Undisturbed,
            Agnostic::Undisturbed => Policy::Undisturbed,
            Agnostic::Ones => Policy::Ones,
            Agnostic::OnesToRegister => Policy::OnesToRegister,
            Agnostic::Random(_) => Policy::Random,
        }
    }
}

/// A stream of coin tosses: the same for the same seed.
#[derive(Clone, Debug)]
pub struct Coins {
    state: u64,
    bits: u64,
    left: u32,
}

impl Coins {
    /// The stream of the policy's seed; nobody looks at it if the policy is not random.
    #[must_use]
    pub fn new(choice: Agnostic) -> Coins {
        let state = if let Agnostic::Random(seed) = choice { seed } else { 0 };
        Coins { state, bits: 0, left: 0 }
    }

    /// The next `n` tosses, 64 at most, in element order, however many are asked for at a time.
    #[inline(always)]
    pub fn toss(&mut self, n: usize) -> u64 {
        let mut tosses = self.bits;
        let mut taken = n as u32;
        if self.left < taken {
            taken -= self.left;
            self.bits = rvv_isa::random::next(&mut self.state);
            tosses |= self.bits << self.left;
            self.left = 64;
        }
        self.left -= taken;
        self.bits = self.bits.checked_shr(taken).unwrap_or(0);
        tosses & low_bits(n)
    }
}

impl VectorState {
    /// Treats the inactive elements `from..to` of the group at `at`, of `size` bytes each, under `policy`.
    pub(in crate::vector) fn treat_inactive(
        &mut self,
        policy: Policy,
        at: usize,
        size: usize,
        elements: std::ops::Range<usize>,
    ) {
        if policy == Policy::Undisturbed {
            return;
        }
        let mut first = elements.start;
        while first < elements.end {
            let n = (64 - first % 64).min(elements.end - first);
            let mask = u64::read(&self.regs[first / 64 * 8..]) >> (first % 64);
            // All of the body is in registers that the body touches, so both kinds of ones are the same.
            let mut chosen = !mask & low_bits(n);
            if policy == Policy::Random {
                chosen &= self.mask_coins.toss(n);
            }
            if chosen != 0 && size == 1 {
                bytes_of_ones(&mut self.regs[at + first..][..n], chosen);
            } else if chosen != 0 {
                chosen::copy(&mut self.regs[at + first * size..][..n * size], &ONES, size, chosen);
            }
            first += n;
        }
    }

    /// Treats the tail of a group under `policy`: the elements from `vl` to the end of its last register.
    pub(in crate::vector) fn treat_tail(
        &mut self,
        policy: Policy,
        at: usize,
        size: usize,
        group: usize,
        vl: usize,
    ) {
        let end = match policy {
            Policy::Undisturbed => return,
            Policy::OnesToRegister => (vl * size).next_multiple_of(self.vlenb).min(group),
            Policy::Ones | Policy::Random => group,
        };
        if policy != Policy::Random {
            if vl * size < end {
                self.regs[at..][vl * size..end].fill(0xff);
            }
            return;
        }
        // Register by register, up to where it is known to be ones.
        let mut start = vl * size;
        while start < end {
            let register = (at + start) >> self.vlenb.trailing_zeros();
            let from = register * self.vlenb;
            // What is known begins at a byte; coins are for whole elements.
            let until = (self.known_ones.from[register] as usize).next_multiple_of(size);
            let stop = (from + until).min(at + end);
            if at + start < stop {
                let piece = &mut self.regs[at + start..stop];
                let coins = &mut self.tail_coins;
                let was_ones = match size {
                    1 => toss_for_ones::<u8>(piece, coins),
                    2 => toss_for_ones::<u16>(piece, coins),
                    4 => toss_for_ones::<u32>(piece, coins),
                    _ => toss_for_ones::<u64>(piece, coins),
                };
                if was_ones {
                    self.known_ones.learn(register, at + start - from);
                }
            }
            start = from + self.vlenb - at;
        }
    }

    /// Treats the tail of a mask register: the bits from `vl` to VLEN, which are always agnostic.
    pub(in crate::vector) fn treat_mask_tail(&mut self, policy: Policy, at: usize, vl: usize) {
        if policy == Policy::Undisturbed {
            return;
        }
        let bits = self.vlenb * 8;
        if policy == Policy::Random {
            let register = at / self.vlenb;
            let end = 8 * self.known_ones.from[register] as usize;
            let mut first = vl;
            let mut was_ones = first < end;
            while first < end {
                let n = (64 - first % 64).min(end - first);
                // (There is something after the last register, and it keeps its value.)
                let word = &mut self.regs[at + first / 64 * 8..];
                let old = u64::read(word);
                if old | !(low_bits(n) << (first % 64)) != !0 {
                    was_ones = false;
                    (old | self.tail_coins.toss(n) << (first % 64)).write(word);
                }
                first += n;
            }
            if was_ones {
                self.known_ones.learn(register, vl.div_ceil(8));
            }
        } else if vl < bits {
            let register = &mut self.regs[at..][..bits / 8];
            register[vl / 8] |= 0xff << (vl % 8);
            register[vl / 8 + 1..].fill(0xff);
        }
    }
}

/// Makes ones of the bytes whose bits are set.
#[inline(always)]
fn bytes_of_ones(bytes: &mut [u8], mut bits: u64) {
    const FOOT: u64 = 0x0101_0101_0101_0101;
    let mut words = bytes.chunks_exact_mut(8);
    for word in &mut words {
        // Bit i of eight is left in byte i, and then all bits of a byte are what one of them is.
        let one_each = ((bits & 0xff) * FOOT) & 0x8040_2010_0804_0201;
        let at_foot = ((one_each + 0x7f * FOOT) | one_each) >> 7 & FOOT;
        (u64::read(word) | (at_foot * 0xff)).write(word);
        bits >>= 8;
    }
    for (i, byte) in words.into_remainder().iter_mut().enumerate() {
        *byte |= if bits >> i & 1 != 0 { 0xff } else { 0 };
    }
}

/// Ones for 64 elements.
static ONES: [u8; 512] = [0xff; 512];

/// Bytes that are looked at together.
const LINE: usize = 64;

/// Whether coins would change nothing: what is ones already stays so whatever they say. As tails are treated
/// by one instruction after the other, most of them soon are.
#[inline(always)]
fn is_ones<const N: usize>(bytes: &[u8; N]) -> bool {
    // Written so that it becomes a few of the host's vector instructions.
    let mut all = [!0; 8];
    for line in bytes.chunks_exact(LINE) {
        for (all, word) in all.iter_mut().zip(line.chunks_exact(8)) {
            *all &= u64::read(word);
        }
    }
    all == [!0; 8]
}

/// Makes ones of the elements whose coin says so; whether they all were already.
fn toss_for_ones<T: Element>(elements: &mut [u8], coins: &mut Coins) -> bool {
    #[inline(always)]
    fn any<T: Element>(elements: &mut [u8], coins: &mut Coins) -> bool {
        let mut was_ones = true;
        for lines in elements.chunks_mut(8 * LINE) {
            if lines.first_chunk().is_some_and(is_ones::<{ 8 * LINE }>) {
                continue;
            }
            for line in lines.chunks_mut(LINE) {
                let is_ones = match line.first_chunk() {
                    Some(line) => is_ones::<LINE>(line),
                    None => line.iter().all(|&byte| byte == 0xff),
                };
                if !is_ones {
                    was_ones = false;
                    let tosses = coins.toss(line.len() / T::SIZE);
                    copy_chosen_any::<T>(line, &ONES, tosses);
                }
            }
        }
        was_ones
    }
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        #[target_feature(enable = "avx2")]
        fn avx2<T: Element>(elements: &mut [u8], coins: &mut Coins) -> bool {
            any::<T>(elements, coins)
        }
        // SAFETY: the host has it.
        return unsafe { avx2::<T>(elements, coins) };
    }
    any::<T>(elements, coins)
}

/// Where each register is known to be all ones, so that the coins of a long tail are not tossed again and
/// again for nothing. What is not known costs time; what is thought to be known and is not costs some tosses,
/// and elements that keep their values are as good as any.
#[derive(Clone, Debug)]
pub(in crate::vector) struct KnownOnes {
    /// The byte of each register from which on it is.
    from: [u32; 32],
    /// The registers of which anything is known, a bit for each.
    any: u32,
    vlenb: u32,
}

impl KnownOnes {
    /// Where `from` is.
    #[cfg(target_arch = "x86_64")]
    pub const FROM: usize = std::mem::offset_of!(KnownOnes, from);

    pub fn new(vlenb: usize) -> KnownOnes {
        let vlenb = vlenb as u32;
        KnownOnes { from: [vlenb; 32], any: 0, vlenb }
    }

    /// The first `bytes` of a register were written, or may be.
    #[inline(always)]
    pub fn forget(&mut self, register: usize, bytes: usize) {
        let from = &mut self.from[register];
        if *from < bytes as u32 {
            *from = bytes as u32;
            if *from == self.vlenb {
                self.any &= !(1 << register);
            }
        }
    }

    /// All registers may be written.
    pub fn forget_all(&mut self) {
        if self.any != 0 {
            *self = KnownOnes::new(self.vlenb as usize);
        }
    }

    /// A register is ones from this byte on.
    fn learn(&mut self, register: usize, from: usize) {
        self.from[register] = from as u32;
        self.any |= 1 << register;
    }
}

/// What an instruction writes, as far as [`KnownOnes`] is concerned.
#[derive(Clone, Copy, Debug)]
pub(in crate::vector) struct Written {
    /// The registers, a bit for each; none if the tail policy is not random.
    pub registers: u32,
    /// How much of them.
    pub extent: Extent,
    /// The bytes of an element; 0 of a mask.
    pub element: u32,
}

impl Written {
    /// Nothing.
    pub const NOTHING: Written = Written { registers: 0, extent: Extent::Body, element: 0 };

    /// The bytes of a group of so many that are written under a `vl`.
    fn body(&self, vl: usize, group: usize) -> usize {
        match self.extent {
            Extent::All => group,
            Extent::Mask => vl.div_ceil(8),
            Extent::Element0 => self.element as usize,
            Extent::Body => vl * self.element as usize,
        }
    }
}

/// How much of its registers an instruction writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::vector) enum Extent {
    /// Elements below `vl`.
    Body,
    /// As many bits.
    Mask,
    /// The first element.
    Element0,
    /// All.
    All,
}

impl VInst {
    /// Tells [`KnownOnes`] what is about to be written, if it knew anything about it.
    #[inline(always)]
    pub(crate) fn note_writes(&self, v: &mut VectorState) {
        if self.written.registers & v.known_ones.any != 0 {
            self.forget_known_ones(v);
        }
    }

    #[inline(never)]
    fn forget_known_ones(&self, v: &mut VectorState) {
        let vl = v.vl.min(u64::from(self.vlmax)) as usize;
        for (register, body) in self.noted_registers(vl, v.vlenb) {
            v.known_ones.forget(register, body);
        }
    }

    /// The registers whose writes have to be noted, and how many of their bytes are written under a `vl`.
    pub(crate) fn noted_registers(
        &self,
        vl: usize,
        vlenb: usize,
    ) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (first, group) = (self.groups.vd as usize, self.groups.vd_bytes as usize);
        let body = self.written.body(vl, group);
        let mut left = self.written.registers;
        std::iter::from_fn(move || {
            let register = (left != 0).then(|| left.trailing_zeros() as usize)?;
            left &= left - 1;
            // Where the register begins in the group, or in its field's. Groups are powers of two.
            let at = (register * vlenb - first) & (group - 1);
            Some((register, body.saturating_sub(at).min(vlenb)))
        })
    }

    /// What becomes of the tail after the body is written by others: host code.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn finish_tail(&self, v: &mut VectorState) {
        self.note_writes(v);
        let (tail, at) = (self.policy.tail, self.groups.vd as usize);
        let (size, group) = (self.written.element as usize, self.groups.vd_bytes as usize);
        let vl = v.vl.min(u64::from(self.vlmax)) as usize;
        match self.written.extent {
            Extent::Mask => v.treat_mask_tail(tail, at, vl),
            Extent::Element0 => v.treat_tail(tail, at, size, group, 1),
            Extent::Body => v.treat_tail(tail, at, size, group, vl),
            Extent::All => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Coins fall in order, however many at a time, and each by itself.
    #[test]
    fn tosses_are_one_stream_of_fair_coins() {
        let one_by_one = |n: usize| {
            let mut coins = Coins::new(Agnostic::Random(7));
            (0..n).map(|_| coins.toss(1) != 0).collect::<Vec<bool>>()
        };
        let expected = one_by_one(100_000);
        let mut coins = Coins::new(Agnostic::Random(7));
        let mut got = Vec::new();
        let mut n = 0;
        while got.len() < 90_000 {
            n = (n * 7 + 13) % 65;
            let bits = coins.toss(n);
            assert_eq!(bits & !low_bits(n), 0);
            got.extend((0..n).map(|i| bits >> i & 1 != 0));
        }
        assert_eq!(got, expected[..got.len()]);
        let heads = |coins: &mut dyn Iterator<Item = bool>| coins.filter(|&head| head).count();
        assert!((49_000..51_000).contains(&heads(&mut expected.iter().copied())));
        // Neighbours, and neighbours in memory 64 elements apart, have nothing to do with each other.
        for apart in [1, 2, 8, 64, 128] {
            let pairs = expected.iter().zip(&expected[apart..]);
            let alike = heads(&mut pairs.map(|(a, b)| a == b));
            assert!((49_000..51_000).contains(&alike), "{alike} {apart} apart");
        }
    }

    /// What is known about ones is given up when something is written, whatever writes it: after each of
    /// these a short instruction finds a tail of which about half the elements become ones.
    #[test]
    fn a_tail_that_was_written_again_is_tossed_for_again() {
        tails_written_again(crate::Config { vlen: 65536, ..crate::Config::default() });
        // At this VLEN host code writes groups of eight registers itself.
        let (engine, jit_threshold) = (crate::config::EngineChoice::Jit, 0);
        tails_written_again(crate::Config { vlen: 1024, engine, jit_threshold, ..crate::Config::default() });
    }

    fn tails_written_again(config: crate::Config) {
        use crate::engine::{Engine, Stop};
        use crate::hart::{Environment, Hart};
        use crate::mem::Ram;
        use crate::privileged::{Platform, RAM_BASE};
        use rvv_isa::{Inst, Op, csr, encode};
        let config = crate::Config { mem: 4 << 20, tail: Agnostic::Random(3), ..config };
        let platform = Platform::with_entry(&config, RAM_BASE);
        let ram = Ram::new(config.mem).unwrap();
        let mut h = Hart::new(config, ram, Environment::Bare(Box::new(platform)));
        h.write_csr(csr::MSTATUS, 1 << 9 | 1 << 13);
        let mut engine = Engine::default();
        let mut run = |h: &mut Hart, code: &[Inst]| {
            h.pc = RAM_BASE + 0x1000;
            for (i, inst) in code.iter().enumerate() {
                h.ram.write(0x1000 + 4 * i, encode(inst).unwrap()).unwrap();
            }
            h.flush_tlb();
            h.ram.note_write(0x1000, 64);
            assert_eq!(engine.run(h, code.len() as u64), Stop::Budget);
        };
        let vsetvli = |rs1, imm| Inst { rd: 5, rs1, imm, ..Inst::new(Op::Vsetvli) };
        let v8 = |op| Inst { rd: 8, rs1: 16, rs2: 24, ..Inst::new(op) };
        let memory = |op| Inst { rd: 8, rs1: 10, ..Inst::new(op) };
        let all = vsetvli(0, 0xd3); // e32, m8, ta, ma
        let undisturbed = vsetvli(0, 0x13);
        let short = [vsetvli(6, 0xd3), v8(Op::VaddVv)];
        (h.x[6], h.x[10]) = (3, RAM_BASE + 0x1_0000);
        let cases: [&[Inst]; 8] = [
            &[all, v8(Op::VaddVv)],
            &[all, Inst { rs1: 0, ..v8(Op::VaddVx) }],
            &[all, v8(Op::VfaddVv)],
            &[all, v8(Op::VaddVv), v8(Op::VxorVv), v8(Op::VandVv)],
            &[all, memory(Op::Vle32V)],
            &[undisturbed, memory(Op::Vle32V)],
            &[memory(Op::Vl8re8V)],
            &[Inst { rd: 8, rs2: 24, ..Inst::new(Op::Vmv8rV) }],
        ];
        for (i, case) in cases.into_iter().enumerate() {
            for _ in 0..30 {
                run(&mut h, &short);
            }
            let vlenb = h.v.vlenb;
            assert!(h.v.regs[8 * vlenb + 12..16 * vlenb].iter().all(|&byte| byte == 0xff), "case {i}");
            run(&mut h, case);
            assert!(h.v.regs[8 * vlenb + 12..16 * vlenb].iter().all(|&byte| byte == 0), "case {i}");
            run(&mut h, &short);
            let elements = h.v.regs[8 * vlenb + 12..16 * vlenb].chunks_exact(4);
            let (all, ones) = (elements.len(), elements.filter(|e| **e == [0xff; 4]).count());
            assert!((all * 2 / 5..all * 3 / 5).contains(&ones), "case {i}: {ones} of {all}");
        }
    }

    /// A mask's tail is known to be ones from any byte on, also from the middle of a wider element, which
    /// then is kept or becomes ones as a whole.
    #[test]
    fn what_is_known_may_begin_inside_an_element() {
        let tail = Agnostic::Random(3);
        let config = crate::Config { vlen: 128, tail, ..crate::Config::default() };
        for (size, known) in [2, 4, 8].into_iter().flat_map(|size| (0..16).map(move |known| (size, known))) {
            let (mut kept, mut ones) = (0, 0);
            for _ in 0..16 {
                let mut v = VectorState::new(&config);
                v.tail_coins = Coins::new(Agnostic::Random(kept + 100 * ones));
                v.regs[128 + known..144].fill(0xff);
                v.known_ones.learn(8, known);
                v.treat_tail(Policy::Random, 128, size, 16, 0);
                for (i, element) in v.regs[128..144].chunks_exact(size).enumerate() {
                    let old = |byte: usize| if i * size + byte < known { 0 } else { 0xff };
                    let is_kept = (0..size).all(|byte| element[byte] == old(byte));
                    let is_ones = element.iter().all(|&byte| byte == 0xff);
                    assert!(
                        is_kept || is_ones,
                        "element {i} of {size} bytes, ones from byte {known}: {element:x?}"
                    );
                    kept += u64::from(!is_ones);
                    ones += u64::from(!is_kept);
                }
            }
            assert!(known == 0 || kept > 0 && ones > 0, "{size} bytes, ones from byte {known}");
        }
    }

    /// An element becomes ones or keeps its value, and both happen everywhere.
    #[test]
    fn each_agnostic_element_is_kept_or_all_ones() {
        let config = crate::Config {
            vlen: 4096,
            tail: Agnostic::Random(3),
            mask: Agnostic::Random(4),
            ..crate::Config::default()
        };
        for size in [1_usize, 2, 4, 8] {
            let elements = 4 * 512 / size;
            let (mut kept, mut ones) = (vec![0; elements], vec![0; elements]);
            let mut v = VectorState::new(&config);
            for round in 0..64 {
                let at = 8 * v.vlenb;
                v.regs[at..][..4 * 512].fill(0x5a);
                let (vl, vstart) = (elements / 3 + round % 7, round % 5);
                let mask = 0x0123_4567_89ab_cdef_u64.rotate_left(round as u32);
                for word in v.regs[..512].chunks_exact_mut(8) {
                    mask.write(word);
                }
                v.treat_inactive(Policy::Random, at, size, vstart..vl);
                v.treat_tail(Policy::Random, at, size, 4 * 512, vl);
                for i in 0..elements {
                    let element = &v.regs[at + i * size..][..size];
                    let is_agnostic = i >= vl || i >= vstart && mask >> (i % 64) & 1 == 0;
                    assert!(element.iter().all(|&byte| byte == element[0]), "{i} of {size} bytes is torn");
                    match element[0] {
                        0x5a => kept[i] += usize::from(is_agnostic),
                        0xff if is_agnostic => ones[i] += 1,
                        other => panic!("element {i} is {other:#x}"),
                    }
                }
                assert!(v.regs[at + 4 * 512..32 * 512].iter().all(|&byte| byte == 0), "past the group");
            }
            assert!((5..elements).all(|i| kept[i] > 2 && ones[i] > 2), "{size} bytes");
        }
    }
}
