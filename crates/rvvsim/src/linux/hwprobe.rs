//! What the guest is told about the processor: `AT_HWCAP`, `riscv_hwprobe`, `/proc/cpuinfo`.

use super::pages::USER_END;
use super::process::TIME_FREQUENCY;
use super::{Process, Served, user};
use crate::Hart;
use crate::config::Config;
use crate::scalar::cache::BLOCK;
use rustix::io::Errno;
use rvv_isa::{Ext, Isa};

/// Bits of the single-letter extensions, as Linux reports them.
pub fn hwcap(isa: &Isa) -> u64 {
    let letters = [
        (Ext::I, b'i'),
        (Ext::M, b'm'),
        (Ext::A, b'a'),
        (Ext::F, b'f'),
        (Ext::D, b'd'),
        (Ext::C, b'c'),
        (Ext::V, b'v'),
    ];
    letters.iter().filter(|(ext, _)| isa.has(*ext)).fold(0, |bits, (_, letter)| bits | 1 << (letter - b'a'))
}

/// The bits of `RISCV_HWPROBE_KEY_IMA_EXT_0`. Bit 0 says F and D; names that make a promise rather than add
/// instructions (`zkt`, `zvkt`) are not in the table of extensions and stay unset.
fn ima_ext_0(isa: &Isa) -> u64 {
    let bits = isa.extensions().filter_map(Ext::hwprobe_bit).fold(0, |bits, bit| bits | 1 << bit);
    // Pointer masking is always there, for whoever selects it.
    const SUPM: u64 = 1 << 49;
    bits | SUPM | u64::from(isa.has(Ext::F) && isa.has(Ext::D))
}

/// Bytes of a set of processors.
const LARGEST_SET: usize = 128;

/// The answer to one key; `None` for a key this kernel does not know.
pub fn answer(config: &Config, key: i64) -> Option<u64> {
    let isa = &config.isa;
    let has = |ext| isa.has(ext);
    // Fast where it just works; where scalar accesses must be aligned nobody emulates the others.
    let misaligned = if config.misaligned { 3 } else { 4 };
    Some(match key {
        // No vendor, architecture or implementation id.
        0..=2 => 0,
        3 => u64::from(has(Ext::M) && has(Ext::A)),
        4 => ima_ext_0(isa),
        5 | 9 => misaligned,
        6 if has(Ext::Zicboz) => BLOCK,
        12 if has(Ext::Zicbom) => BLOCK,
        15 if has(Ext::Zicbop) => BLOCK,
        7 => USER_END - 1,
        8 => TIME_FREQUENCY,
        10 if isa.elen() > 0 => 3,
        10 => 4,
        // Known, and nothing to say: block sizes of what is missing, vendors' extensions, IMA_EXT_1.
        6 | 11..=16 => 0,
        _ => return None,
    })
}

impl Process {
    /// `riscv_hwprobe(pairs, pair_count, cpusetsize, cpus, flags)`.
    pub(super) fn sys_riscv_hwprobe(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [pairs, count, set_size, set, flags, _] = args;
        // There are a few dozen keys; nobody has a million questions.
        if flags > 1 || count > 1 << 20 {
            return Err(Errno::INVAL.into());
        }
        if flags == 1 {
            return self.hwprobe_which_cpus(hart, pairs, count, set_size, set);
        }
        if set_size != 0 && set == 0 {
            return Err(Errno::INVAL.into());
        }
        for i in 0..count {
            let at = pairs.checked_add(i.checked_mul(16).ok_or(Errno::FAULT)?).ok_or(Errno::FAULT)?;
            let key = user::read_u64(hart, at)? as i64;
            let value = answer(&hart.config, key);
            user::write_u64(hart, at, if value.is_some() { key as u64 } else { u64::MAX })?;
            user::write_u64(hart, at + 8, value.unwrap_or(0))?;
        }
        Ok(0)
    }

    /// With `RISCV_HWPROBE_WHICH_CPUS`: the processors that answer all pairs as given. All are alike.
    fn hwprobe_which_cpus(
        &mut self,
        hart: &mut Hart,
        pairs: u64,
        count: u64,
        set_size: u64,
        set: u64,
    ) -> Served {
        if set_size == 0 || set == 0 {
            return Err(Errno::INVAL.into());
        }
        let mut all = true;
        for i in 0..count {
            let at = pairs.checked_add(i.checked_mul(16).ok_or(Errno::FAULT)?).ok_or(Errno::FAULT)?;
            let key = user::read_u64(hart, at)? as i64;
            let wanted = user::read_u64(hart, at + 8)?;
            match answer(&hart.config, key) {
                // Bit masks are asked for their bits, numbers for themselves.
                Some(value) if matches!(key, 3 | 4 | 11 | 13 | 14 | 16) => all &= value & wanted == wanted,
                Some(value) => all &= value == wanted,
                None => {
                    user::write_u64(hart, at, u64::MAX)?;
                    user::write_u64(hart, at + 8, 0)?;
                    all = false;
                }
            }
        }
        let size = usize::try_from(set_size).map_err(|_| Errno::FAULT)?.min(LARGEST_SET);
        let mut asked = vec![0; size];
        user::read(hart, set, &mut asked)?;
        // An empty set means all processors.
        let everybody = asked.iter().all(|byte| *byte == 0);
        for (i, byte) in asked.iter_mut().enumerate() {
            let there = (0..8).filter(|bit| 8 * i + bit < self.options.cpus as usize);
            let there = there.fold(0, |byte, bit| byte | 1 << bit);
            *byte = if !all {
                0
            } else if everybody {
                there
            } else {
                *byte & there
            };
        }
        user::write(hart, set, &asked)?;
        Ok(0)
    }

    /// What `/proc/cpuinfo` says.
    pub(super) fn cpuinfo(&self, config: &Config) -> String {
        let one = |i: u32| {
            let isa = &config.isa;
            format!("processor\t: {i}\nhart\t\t: {i}\nisa\t\t: {isa}\nmmu\t\t: sv39\nuarch\t\t: rvvsim\n\n")
        };
        (0..self.options.cpus).map(one).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of `RISCV_HWPROBE_EXT_*`, as the kernel's header has them.
    #[rustfmt::skip]
    const KERNEL: &[(u8, &str)] = &[
        (1, "c"), (2, "v"), (3, "zba"), (4, "zbb"), (5, "zbs"), (6, "zicboz"),
        (7, "zbc"), (8, "zbkb"), (9, "zbkc"), (10, "zbkx"), (11, "zknd"), (12, "zkne"),
        (13, "zknh"), (14, "zksed"), (15, "zksh"), (16, "zkt"), (17, "zvbb"), (18, "zvbc"),
        (19, "zvkb"), (20, "zvkg"), (21, "zvkned"), (22, "zvknha"), (23, "zvknhb"), (24, "zvksed"),
        (25, "zvksh"), (26, "zvkt"), (27, "zfh"), (28, "zfhmin"), (29, "zihintntl"), (30, "zvfh"),
        (31, "zvfhmin"), (32, "zfa"), (33, "ztso"), (34, "zacas"), (35, "zicond"), (36, "zihintpause"),
        (37, "zve32x"), (38, "zve32f"), (39, "zve64x"), (40, "zve64f"), (41, "zve64d"), (42, "zimop"),
        (43, "zca"), (44, "zcb"), (45, "zcd"), (46, "zcf"), (47, "zcmop"), (48, "zawrs"),
        (49, "supm"), (50, "zicntr"), (51, "zihpm"), (52, "zfbfmin"), (53, "zvfbfmin"), (54, "zvfbfwma"),
        (55, "zicbom"), (56, "zaamo"), (57, "zalrsc"), (58, "zabha"),
        (60, "zicbop"),
    ];

    #[test]
    fn extensions_have_the_bits_of_the_kernels_header() {
        for ext in Ext::all() {
            let bit = KERNEL.iter().find(|(_, name)| *name == ext.name()).map(|&(bit, _)| bit);
            assert_eq!(ext.hwprobe_bit(), bit, "{}", ext.name());
        }
        let bits = |isa: &str| ima_ext_0(&Isa::parse(isa).unwrap());
        assert_eq!(bits("rv64i"), 1 << 49);
        assert_eq!(bits("rv64ifd_zba_zicbop"), 1 | 1 << 3 | 1 << 49 | 1 << 60);
    }
}
