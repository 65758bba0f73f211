//! What a stream starts from: everything follows from a seed, less what a minimiser has set to zero.

use super::layout::{CONTROL, GP, INDICES_SIZE, SANDBOX_SIZE, TP};
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvv_asm::values::{Format, INTEGERS, random_integer};
use rvv_isa::{Lmul, Sew, Vtype};
use std::sync::OnceLock;

/// The recipe of an initial state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Init {
    /// Everything random follows from it.
    pub seed: u64,
    /// Integer registers that are zero instead, a bit each.
    pub zero_x: u32,
    /// Floating-point registers that are zero instead.
    pub zero_f: u32,
    /// Vector registers that are zero instead.
    pub zero_v: u32,
    /// The sandbox is zero instead.
    pub zero_memory: bool,
    /// `fcsr` and `vcsr` are zero instead.
    pub zero_csrs: bool,
}

/// An initial state.
#[derive(Clone, Debug)]
pub struct Start {
    /// Integer registers; `gp` and `tp` as streams expect them.
    pub x: [u64; 32],
    /// Floating-point registers.
    pub f: [u64; 32],
    /// Vector registers.
    pub v: Vec<u8>,
    /// `fcsr`.
    pub fcsr: u8,
    /// `vcsr`.
    pub vcsr: u8,
    /// `vtype` to be set.
    pub vtype: u64,
    /// The AVL to set it with.
    pub avl: u64,
    /// The sandbox.
    pub memory: Vec<u8>,
}

impl Init {
    /// Nothing but what the seed says.
    #[must_use]
    pub fn new(seed: u64) -> Init {
        Init { seed, zero_x: 0, zero_f: 0, zero_v: 0, zero_memory: false, zero_csrs: false }
    }

    /// The state, for a VLEN.
    #[must_use]
    pub fn start(&self, vlen: u32) -> Start {
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        let vlenb = vlen as usize / 8;
        let mut x = [0; 32];
        let mut f = [0; 32];
        for value in &mut x[1..] {
            *value = random_integer(&mut rng);
        }
        for value in &mut f {
            *value = scalar_float(&mut rng);
        }
        let mut v = vec![0; 32 * vlenb];
        for register in v.chunks_exact_mut(vlenb) {
            draw(&mut rng, register);
        }
        let mut memory = vec![0; SANDBOX_SIZE as usize];
        for chunk in memory.chunks_exact_mut(256) {
            draw(&mut rng, chunk);
        }
        let fcsr = rng.random_range(0..5) << 5 | rng.random_range(0..32);
        let vcsr = rng.random_range(0..8);
        let (sew, lmul) = random_type(&mut rng);
        let vtype = Vtype::new(sew, lmul, rng.random_bool(0.3), rng.random_bool(0.3));
        let avl = rng.random_range(0..=u64::from(vtype.vlmax(vlen)));
        for r in 0..32 {
            if self.zero_x >> r & 1 != 0 {
                x[r] = 0;
            }
            if self.zero_f >> r & 1 != 0 {
                f[r] = 0;
            }
            if self.zero_v >> r & 1 != 0 {
                v[r * vlenb..][..vlenb].fill(0);
            }
        }
        if self.zero_memory {
            memory.fill(0);
        }
        x[usize::from(GP)] = CONTROL;
        x[usize::from(TP)] = 0;
        let [fcsr, vcsr] = if self.zero_csrs { [0, 0] } else { [fcsr, vcsr] };
        Start { x, f, v, fcsr, vcsr, vtype: vtype.to_bits(), avl, memory }
    }
}

/// A width and multiplier that every machine with ELEN 64 supports.
pub fn random_type(rng: &mut ChaCha8Rng) -> (Sew, Lmul) {
    loop {
        let sew = Sew::ALL[rng.random_range(0..4)];
        let lmul = Lmul::ALL[rng.random_range(0..7)];
        // norm:vtype-lmul_support: LMUL >= SEW/ELEN.
        if lmul.log2() >= sew.encoding() as i32 - 3 {
            return (sew, lmul);
        }
    }
}

fn scalar_float(rng: &mut ChaCha8Rng) -> u64 {
    let format = [Format::H, Format::S, Format::D][rng.random_range(0..3)];
    match rng.random_range(0..4) {
        0 => random_integer(rng),
        1 => {
            let corners = format.corners();
            format.boxed(corners[rng.random_range(0..corners.len())])
        }
        _ => format.boxed(format.random(rng)),
    }
}

/// Bytes of each part of the pool.
const PART: usize = 8192;
/// Integers, then floats, of four widths each; then bytes of any kind.
const PARTS: usize = 9;

/// Fills registers or memory from the pool of interesting elements: much faster than to draw each one.
fn draw(rng: &mut ChaCha8Rng, bytes: &mut [u8]) {
    let pool = pool();
    let part = rng.random_range(0..PARTS) * PART;
    let mut done = 0;
    while done < bytes.len() {
        let piece = (bytes.len() - done).min(128);
        let at = part + rng.random_range(0..(PART - piece) / 8) * 8;
        bytes[done..done + piece].copy_from_slice(&pool[at..at + piece]);
        done += piece;
    }
}

fn pool() -> &'static [u8] {
    static POOL: OnceLock<Vec<u8>> = OnceLock::new();
    POOL.get_or_init(|| {
        let mut rng = ChaCha8Rng::seed_from_u64(0x9001);
        let mut bytes = Vec::with_capacity(PARTS * PART);
        for part in 0..PARTS - 1 {
            let sew = Sew::ALL[part % 4];
            let size = sew.bytes() as usize;
            let format = match sew {
                Sew::E8 | Sew::E16 => Format::H,
                Sew::E32 => Format::S,
                Sew::E64 => Format::D,
            };
            let corners = format.corners();
            for _ in 0..PART / size {
                let value = match (part / 4, rng.random_range(0..3)) {
                    (0, 0) => INTEGERS[rng.random_range(0..INTEGERS.len())],
                    (0, _) => random_integer(&mut rng),
                    // There is no float of eight bits: small numbers, which are good indices.
                    _ if size == 1 => rng.random_range(0..32),
                    (_, 0) => corners[rng.random_range(0..corners.len())],
                    _ => format.random(&mut rng),
                };
                bytes.extend_from_slice(&value.to_le_bytes()[..size]);
            }
        }
        let random = bytes.len();
        bytes.resize(random + PART, 0);
        rng.fill_bytes(&mut bytes[random..]);
        bytes
    })
}

/// Offsets from any base are below this: an indexed access with a base in the first half of the sandbox stays
/// inside.
pub const INDEX_LIMIT: u64 = SANDBOX_SIZE / 2;

/// The indices of the four widths, [`INDICES_SIZE`] bytes each.
#[must_use]
pub fn indices() -> &'static [u8] {
    static INDICES: OnceLock<Vec<u8>> = OnceLock::new();
    INDICES.get_or_init(|| {
        let mut rng = ChaCha8Rng::seed_from_u64(0x1d);
        let mut bytes = Vec::with_capacity(4 * INDICES_SIZE as usize);
        for sew in Sew::ALL {
            for _ in 0..INDICES_SIZE / u64::from(sew.bytes()) {
                // Aligned to eight, mostly; a few that are not.
                let index: u64 = rng.random_range(0..INDEX_LIMIT);
                let index = if rng.random_ratio(1, 8) { index } else { index & !7 };
                bytes.extend_from_slice(&index.to_le_bytes()[..sew.bytes() as usize]);
            }
        }
        bytes
    })
}
