//! The program and the libraries that its dynamic linker maps, and their symbols.
//!
//! A library is read from the guest's memory, where its dynamic section says where its symbols are. All of it
//! is the guest's to write, so every address and number is checked, and there is a limit to everything.

use crate::elf::Image;
use crate::hart::Hart;

/// A symbol.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// Its address.
    pub at: u64,
    /// Its size; 0 if unknown.
    pub size: u64,
    /// Its name.
    pub name: String,
    /// It keeps the calling convention for vectors (`STO_RISCV_VARIANT_CC`).
    pub variant: bool,
}

/// A program or library in memory.
#[derive(Clone, Debug, Default)]
pub struct Object {
    /// How far it was moved from the addresses in its file.
    pub bias: u64,
    /// Its first address.
    pub start: u64,
    /// The first address past it.
    pub end: u64,
    /// By address.
    pub symbols: Vec<Symbol>,
}

impl Object {
    /// The symbol at or before an address, and how far the address is behind it.
    #[must_use]
    pub fn nearest(&self, at: u64) -> Option<(&Symbol, u64)> {
        if !(self.start..self.end).contains(&at) {
            return None;
        }
        let past = self.symbols.partition_point(|s| s.at <= at);
        let symbol = self.symbols.get(past.checked_sub(1)?)?;
        Some((symbol, at - symbol.at))
    }
}

/// All of them.
#[derive(Default)]
pub struct Objects {
    all: Vec<Object>,
    /// Where a file was mapped whose dynamic section is not there yet.
    waiting: Vec<u64>,
}

const MOST_OBJECTS: usize = 1000;
const MOST_SYMBOLS: u64 = 1 << 18;
const LONGEST_NAME: usize = 4096;
const STO_RISCV_VARIANT_CC: u8 = 0x80;
const STT_FUNC: u8 = 2;
const STT_GNU_IFUNC: u8 = 10;

impl Objects {
    pub fn all(&self) -> &[Object] {
        &self.all
    }

    /// The program itself.
    pub fn add_program(&mut self, image: &Image, bias: u64) {
        let (start, end) = image.span();
        let mut symbols: Vec<Symbol> = image
            .functions()
            .map(|f| Symbol {
                at: f.at.wrapping_add(bias),
                size: f.size,
                name: f.name,
                variant: f.other & STO_RISCV_VARIANT_CC != 0,
            })
            .collect();
        symbols.sort_by_key(|s| s.at);
        self.all.push(Object { bias, start: start.wrapping_add(bias), end: end.wrapping_add(bias), symbols });
    }

    /// The function that an address is in.
    pub fn function(&self, at: u64) -> Option<&Symbol> {
        self.all.iter().find_map(|o| o.nearest(at)).map(|(symbol, _)| symbol)
    }

    /// A file was mapped from its beginning.
    pub fn mapped(&mut self, at: u64) {
        if self.waiting.len() < MOST_OBJECTS {
            self.waiting.push(at);
        }
    }

    /// Looks whether what was mapped can be read by now; whether something new is known.
    pub fn look(&mut self, hart: &mut Hart) -> bool {
        let waiting = std::mem::take(&mut self.waiting);
        let known = self.all.len();
        for base in waiting {
            match read_object(hart, base) {
                Look::Read(object) if self.all.len() < MOST_OBJECTS => {
                    self.all.retain(|o| o.start != object.start);
                    self.all.push(object);
                }
                Look::Later => self.waiting.push(base),
                Look::Read(_) | Look::Never => {}
            }
        }
        self.all.len() != known
    }
}

enum Look {
    Read(Object),
    Later,
    Never,
}

fn bytes<const N: usize>(hart: &mut Hart, at: u64) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    (hart.peek(at, &mut bytes) == N).then_some(bytes)
}

fn word(hart: &mut Hart, at: u64) -> Option<u64> {
    bytes(hart, at).map(u64::from_le_bytes)
}

fn half(hart: &mut Hart, at: u64) -> Option<u32> {
    bytes(hart, at).map(u32::from_le_bytes)
}

fn read_object(hart: &mut Hart, base: u64) -> Look {
    let Some(head) = bytes::<64>(hart, base) else { return Look::Never };
    let is_riscv = head.starts_with(b"\x7fELF\x02\x01") && head[16] == 3 && head[18] == 243;
    if !is_riscv {
        return Look::Never;
    }
    read_dynamic(hart, base, &head).unwrap_or(Look::Later)
}

/// `None` while something is not there.
fn read_dynamic(hart: &mut Hart, base: u64, head: &[u8; 64]) -> Option<Look> {
    let phoff = u64::from_le_bytes(head[32..40].try_into().ok()?);
    let phnum = u16::from_le_bytes([head[56], head[57]]).min(64);
    let (mut dynamic, mut end) = (None, 0);
    for i in 0..u64::from(phnum) {
        let at = base.checked_add(phoff)?.checked_add(56 * i)?;
        let (kind, vaddr, memsz) = (half(hart, at)?, word(hart, at + 16)?, word(hart, at + 40)?);
        match kind {
            1 => end = end.max(vaddr.checked_add(memsz)?),
            2 => dynamic = Some((vaddr, memsz)),
            _ => {}
        }
    }
    let Some((dynamic, size)) = dynamic else { return Some(Look::Never) };
    let (mut symtab, mut strtab, mut hash, mut gnu_hash) = (None, None, None, None);
    for i in 0..(size / 16).min(256) {
        let at = base.checked_add(dynamic)?.checked_add(16 * i)?;
        let (tag, value) = (word(hart, at)?, word(hart, at + 8)?);
        // Before and after the dynamic linker has moved them.
        let place = Some(if value >= base { value } else { base.checked_add(value)? });
        match tag {
            0 => break,
            4 => hash = place,
            5 => strtab = place,
            6 => symtab = place,
            0x6fff_fef5 => gnu_hash = place,
            _ => {}
        }
    }
    let (symtab, strtab) = (symtab?, strtab?);
    let count = match (hash, gnu_hash) {
        (Some(hash), _) => u64::from(half(hart, hash.checked_add(4)?)?),
        (None, Some(hash)) => gnu_count(hart, hash)?,
        (None, None) => return Some(Look::Never),
    };
    let mut symbols = Vec::new();
    for i in 0..count.min(MOST_SYMBOLS) {
        let symbol = bytes::<24>(hart, symtab.checked_add(24 * i)?)?;
        let name = u32::from_le_bytes(symbol[..4].try_into().ok()?);
        let section = u16::from_le_bytes([symbol[6], symbol[7]]);
        let value = u64::from_le_bytes(symbol[8..16].try_into().ok()?);
        let size = u64::from_le_bytes(symbol[16..24].try_into().ok()?);
        if section == 0 || !matches!(symbol[4] & 15, STT_FUNC | STT_GNU_IFUNC) {
            continue;
        }
        let mut text = vec![0; 256];
        let got = hart.peek(strtab.checked_add(name.into())?, &mut text);
        let Some(len) = text[..got].iter().position(|b| *b == 0) else { continue };
        let name = String::from_utf8_lossy(&text[..len.min(LONGEST_NAME)]).into_owned();
        let variant = symbol[5] & STO_RISCV_VARIANT_CC != 0;
        symbols.push(Symbol { at: base.checked_add(value)?, size, name, variant });
    }
    symbols.sort_by_key(|s| s.at);
    Some(Look::Read(Object { bias: base, start: base, end: base.checked_add(end)?, symbols }))
}

/// The symbols of a hash table of GNU's kind: one more than the last of its longest chain.
fn gnu_count(hart: &mut Hart, at: u64) -> Option<u64> {
    let (buckets, first, blooms) = (half(hart, at)?, half(hart, at + 4)?, half(hart, at + 8)?);
    let table = at.checked_add(16)?.checked_add(8 * u64::from(blooms))?;
    let mut last = 0;
    for i in 0..u64::from(buckets).min(MOST_SYMBOLS) {
        last = last.max(half(hart, table.checked_add(4 * i)?)?);
    }
    if last < first {
        return Some(first.into());
    }
    let chains = table.checked_add(4 * u64::from(buckets))?;
    for i in 0..MOST_SYMBOLS {
        let entry = u64::from(last - first).checked_add(i)?;
        if half(hart, chains.checked_add(4 * entry)?)? & 1 != 0 {
            return Some(u64::from(last) + i + 1);
        }
    }
    None
}
