//! Data of programs, written into their ELF: compilers need not read it, and one build can run on several
//! data sets.

use goblin::elf::Elf;
use goblin::elf::program_header::PT_LOAD;
use goblin::elf::sym::STT_OBJECT;
use rvv_ir::c::Poke;
use std::collections::HashMap;
use std::ops::Range;

/// Writes the contents of buffers where their symbols are; whether all were found, and in the file. If not,
/// the ELF is as it was.
pub fn poke(elf: &mut [u8], pokes: &[Poke]) -> bool {
    pokes.is_empty() || Places::of(elf).is_some_and(|places| places.poke(elf, pokes))
}

/// Where the objects of an ELF are in its file.
pub struct Places(HashMap<String, Range<usize>>);

impl Places {
    /// The objects that are in the file and loaded from it; `None` if it is no ELF.
    pub fn of(elf: &[u8]) -> Option<Places> {
        let parsed = Elf::parse(elf).ok()?;
        let mut places = HashMap::new();
        for symbol in parsed.syms.iter().filter(|s| s.st_type() == STT_OBJECT) {
            // With -flto, gcc calls it `in0.lto_priv.0`.
            let name = parsed.strtab.get_at(symbol.st_name)?.split('.').next()?;
            let loaded = parsed.program_headers.iter().filter(|h| h.p_type == PT_LOAD);
            let mut offsets = loaded.filter_map(|h| {
                let within = symbol.st_value.checked_sub(h.p_vaddr)?;
                let left = h.p_filesz.checked_sub(within)?.min(symbol.st_size);
                Some((h.p_offset.checked_add(within)?, left))
            });
            let range = offsets.next().and_then(|(start, len)| {
                let start = usize::try_from(start).ok()?;
                let end = start.checked_add(usize::try_from(len).ok()?)?;
                (end <= elf.len()).then_some(start..end)
            });
            places.insert(name.to_string(), range.unwrap_or(0..0));
        }
        Some(Places(places))
    }

    /// Where in the file so many bytes of an object are; `None` if they are not all there.
    pub fn get(&self, symbol: &str, len: usize) -> Option<Range<usize>> {
        let range = self.0.get(symbol)?;
        Some(range.start..range.start.checked_add(len).filter(|end| *end <= range.end)?)
    }

    fn poke(&self, elf: &mut [u8], pokes: &[Poke]) -> bool {
        let place =
            |poke: &Poke| self.get(&poke.symbol, poke.bytes.len()).filter(|range| range.end <= elf.len());
        let Some(found) = pokes.iter().map(place).collect::<Option<Vec<_>>>() else { return false };
        for (place, poke) in found.into_iter().zip(pokes) {
            elf[place].copy_from_slice(&poke.bytes);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng};
    use rand_chacha::ChaCha8Rng;
    use rvv_ir::c::{COptions, emit, pokes};
    use rvv_ir::data::Init;
    use rvv_ir::{Buffer, BufferKind, Program};

    /// An ELF with a loaded segment of 16 bytes at 0x1000, and the symbols `in0` there and `in1.lto_priv.0`
    /// behind it.
    fn elf() -> Vec<u8> {
        let strings = b"\0in0\0in1.lto_priv.0\0far\0";
        let (phoff, data, symtab) = (64u64, 120u64, 136u64);
        let strtab = symtab + 4 * 24;
        let shoff = (strtab + strings.len() as u64).next_multiple_of(8);
        let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let half = |out: &mut Vec<u8>, v: u16| out.extend(v.to_le_bytes());
        let word = |out: &mut Vec<u8>, v: u32| out.extend(v.to_le_bytes());
        let long = |out: &mut Vec<u8>, v: u64| out.extend(v.to_le_bytes());
        half(&mut out, 2);
        half(&mut out, 243);
        word(&mut out, 1);
        for v in [0x1000, phoff, shoff] {
            long(&mut out, v);
        }
        word(&mut out, 0);
        for v in [64, 56, 1, 64, 3, 0] {
            half(&mut out, v);
        }
        word(&mut out, PT_LOAD);
        word(&mut out, 6);
        for v in [data, 0x1000, 0x1000, 16, 64, 8] {
            long(&mut out, v);
        }
        out.extend([0; 16]);
        out.extend([0; 24]);
        for (name, value, size) in [(1u32, 0x1000u64, 4u64), (5, 0x1004, 8), (20, 0x1010, 8)] {
            word(&mut out, name);
            out.extend([STT_OBJECT, 0, 1, 0]);
            long(&mut out, value);
            long(&mut out, size);
        }
        out.extend(strings);
        out.resize(shoff as usize, 0);
        out.extend([0; 64]);
        for (kind, offset, size, link, entry) in
            [(2u32, symtab, 96u64, 2u32, 24u64), (3, strtab, strings.len() as u64, 0, 0)]
        {
            word(&mut out, 0);
            word(&mut out, kind);
            for v in [0, 0, offset, size] {
                long(&mut out, v);
            }
            word(&mut out, link);
            word(&mut out, 0);
            for v in [8, entry] {
                long(&mut out, v);
            }
        }
        out
    }

    fn one(symbol: &str, bytes: &[u8]) -> Poke {
        Poke { symbol: symbol.to_string(), bytes: bytes.to_vec() }
    }

    #[test]
    fn data_goes_where_the_symbol_is_or_nowhere() {
        let before = elf();
        let mut after = before.clone();
        assert!(poke(&mut after, &[one("in0", &[1, 2, 3, 4]), one("in1", &[5, 6])]));
        assert_eq!(after[120..128], [1, 2, 3, 4, 5, 6, 0, 0]);
        let others = |bytes: &[u8]| [&bytes[..120], &bytes[136..]].concat();
        assert_eq!(others(&after), others(&before));
        // Longer than the symbol; not in the file; unknown: nothing is written at all.
        for bad in [one("in0", &[1; 5]), one("far", &[1; 8]), one("in2", &[1])] {
            let mut same = before.clone();
            assert!(!poke(&mut same, &[one("in1", &[9]), bad]));
            assert_eq!(same, before);
        }
        assert!(poke(&mut [], &[]));
    }

    #[test]
    fn what_the_file_leaves_out_is_poked() {
        let plan = rvvgen::Plan::new(4, &rvvgen::Selection::default(), 20, 128);
        let settings = rvvgen::Settings::default();
        let programs: Vec<Program> =
            (0..6).map(|k| rvvgen::generate(&plan, k, &settings).unwrap().program).collect();
        let programs: Vec<&Program> = programs.iter().collect();
        for some in [&programs[..], &programs[..1]] {
            let text = emit(some, &COptions { poked: true, ..COptions::default() });
            let whole = emit(some, &COptions::default());
            assert!(text.len() < whole.len());
            let pokes = pokes(some);
            let filled = |b: &&Buffer| b.kind != BufferKind::Const && b.init != Init::Zero;
            let buffers: Vec<&Buffer> = some.iter().flat_map(|p| &p.buffers).filter(filled).collect();
            assert!(!buffers.is_empty() && buffers.len() == pokes.len());
            for (poke, buffer) in pokes.iter().zip(buffers) {
                // Each is in the file once, with a value that is not zero: so the ELF has room for it.
                let floats = if buffer.elem.is_float() { ("} ", " = {{1}};\n") } else { (" ", " = {1};\n") };
                let is_it = |line: &&str| {
                    let name = line.strip_suffix(floats.1.trim_end()).and_then(|l| l.split('[').next());
                    let float = line.contains(&format!("{}{}{}", floats.0, poke.symbol, floats.1.trim_end()));
                    float || name.is_some_and(|n| n.ends_with(&format!(" {}", poke.symbol)))
                };
                assert_eq!(text.lines().filter(is_it).count(), 1, "{}\n{text}", poke.symbol);
                assert_eq!(poke.bytes.len(), buffer.bytes());
                let size = buffer.elem.bytes() as usize;
                let number = |b: &[u8]| b.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b));
                let values: Vec<u64> = poke.bytes.chunks(size).map(number).collect();
                assert_eq!(values, buffer.values());
            }
        }
    }

    #[test]
    fn a_changed_elf_is_written_within_its_bounds_or_refused() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let good = elf();
        for _ in 0..20_000 {
            let mut bytes = good.clone();
            for _ in 0..rng.random_range(1..4) {
                let at = rng.random_range(0..bytes.len());
                bytes[at] = if rng.random() { 0xff } else { rng.random() };
            }
            bytes.truncate(bytes.len() - rng.random_range(0..2) * rng.random_range(0..bytes.len()));
            let length = bytes.len();
            let _ = poke(&mut bytes, &[one("in0", &[1; 4]), one("in1", &[1; 8])]);
            assert_eq!(bytes.len(), length);
        }
    }
}
