//! Reading ELF files: everything the loaders need, checked, so that they need not doubt it.
//!
//! The file is data from a stranger. Tables are read only after their place in the file has been
//! checked, so that nothing here takes more memory than the file has bytes, and symbols are not
//! looked at before somebody asks for one.

use crate::privileged::RAM_BASE;
use goblin::container::{Container, Ctx, Endian};
use goblin::elf::header::{
    EI_CLASS, EI_DATA, EI_OSABI, ELFCLASS64, ELFDATA2LSB, ELFMAG, ELFOSABI_LINUX, EM_RISCV, ET_CORE, ET_DYN,
    ET_EXEC, ET_REL, Header,
};
use goblin::elf::program_header::{
    PF_R, PF_W, PF_X, PT_GNU_STACK, PT_INTERP, PT_LOAD, PT_NOTE, PT_PHDR, ProgramHeader,
};
use goblin::elf::section_header::{SHT_DYNSYM, SHT_NOBITS, SHT_SYMTAB, SectionHeader};
use goblin::elf::sym::{
    STB_GLOBAL, STT_FILE, STT_FUNC, STT_GNU_IFUNC, STT_NOTYPE, STT_SECTION, STT_TLS, Symtab,
};
use std::borrow::Cow;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum ElfError {
    /// The file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Its name.
        path: String,
        /// What the host said.
        source: std::io::Error,
    },
    /// It does not begin as ELF files do.
    #[error("not an ELF file{}; give a program compiled and linked for riscv64", hint(.0))]
    NotElf(Vec<u8>),
    /// Something the file promises is past its end.
    #[error("truncated ELF file: {what} ends at byte {end} of {len}; copy or link the file again")]
    Truncated {
        /// What is cut off.
        what: &'static str,
        /// Where it would end.
        end: u64,
        /// Bytes in the file.
        len: u64,
    },
    /// A 32-bit file.
    #[error("this is a 32-bit ELF file and only RV64 is emulated; compile with -march=rv64gcv -mabi=lp64d")]
    Not64Bit,
    /// A big-endian file.
    #[error("this is a big-endian ELF file and only little-endian RISC-V is emulated")]
    BigEndian,
    /// Another machine's file.
    #[error("this ELF file is for {} (machine {number}), not RISC-V; use a riscv64 compiler", machine_name(*.0), number = .0)]
    WrongMachine(u16),
    /// The base with 16 registers.
    #[error("this ELF file is for RV64E (16 registers), which is not emulated; compile for rv64i")]
    Embedded,
    /// An object file, core dump or the like.
    #[error("this ELF file is {0}, not a program; {1}")]
    NotProgram(&'static str, &'static str),
    /// There is nothing to load.
    #[error("this ELF file has no loadable segment (PT_LOAD); was it linked, and not stripped of too much?")]
    NothingToLoad,
    /// A table has entries of an unexpected size or is otherwise senseless.
    #[error("malformed ELF file: {0}")]
    Malformed(String),
    /// A segment's end wraps around the address space.
    #[error("segment {index} at {vaddr:#x} of {memsz:#x} bytes reaches past the end of the address space")]
    WrapsAround {
        /// Its number among the program headers.
        index: usize,
        /// Its address.
        vaddr: u64,
        /// Its size in memory.
        memsz: u64,
    },
    /// A segment's contents are larger than its place.
    #[error("segment {index} has {filesz:#x} bytes in the file but only {memsz:#x} in memory")]
    FileLargerThanMemory {
        /// Its number among the program headers.
        index: usize,
        /// Bytes in the file.
        filesz: u64,
        /// Bytes in memory.
        memsz: u64,
    },
    /// Two segments claim the same addresses.
    #[error("segments {first} and {second} overlap at {at:#x}; check the linker script")]
    Overlap {
        /// Number of the lower one.
        first: usize,
        /// Number of the other.
        second: usize,
        /// The first address both claim.
        at: u64,
    },
}

fn hint(start: &[u8]) -> &'static str {
    match start {
        [] => " (it is empty)",
        [b'#', b'!', ..] => " (it is a script)",
        [b'!', b'<', b'a', b'r', b'c', b'h', ..] => " (it is an archive of object files)",
        [b'M', b'Z', ..] => " (it is a Windows program)",
        _ => "",
    }
}

fn machine_name(machine: u16) -> &'static str {
    match machine {
        3 => "x86",
        8 => "MIPS",
        20 | 21 => "PowerPC",
        22 => "S/390",
        40 => "Arm",
        62 => "x86-64",
        183 => "AArch64",
        258 => "LoongArch",
        _ => "another machine",
    }
}

/// A segment to load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Virtual address, before a position-independent image is moved.
    pub vaddr: u64,
    /// Physical address.
    pub paddr: u64,
    /// Bytes in memory; those past the file's are zero.
    pub memsz: u64,
    /// Where its contents are in the file: within it, and no longer than `memsz`.
    pub file: Range<usize>,
    /// May be read.
    pub read: bool,
    /// May be written.
    pub write: bool,
    /// May be executed.
    pub execute: bool,
}

impl Segment {
    /// The first address past the segment.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.vaddr + self.memsz
    }
}

/// A symbol, as symbolising needs it.
#[derive(Clone, Debug)]
struct Symbol {
    value: u64,
    name: Range<usize>,
    /// At the same address, better ones first.
    rank: u8,
}

/// A function by its symbol.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its address in the file.
    pub at: u64,
    /// Its size; 0 if the file does not say.
    pub size: u64,
    /// Its name.
    pub name: String,
    /// `st_other`: visibility, and what the psABI puts there.
    pub other: u8,
}

/// A checked ELF file.
#[derive(Debug)]
pub struct Image<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where execution starts.
    pub entry: u64,
    /// The segments to load, by ascending address, none overlapping, at least one.
    pub segments: Vec<Segment>,
    /// `ET_DYN`: may be loaded at any address.
    pub is_pie: bool,
    /// Where the interpreter's path (`PT_INTERP`) is, without the final NUL.
    interp: Option<Range<usize>>,
    /// The address of the program headers in memory, if a segment holds them.
    pub phdr: Option<u64>,
    /// Number of program headers.
    pub phnum: u16,
    /// The program wants to execute code on its stack (`PT_GNU_STACK`).
    pub exec_stack: bool,
    /// The file says that it is for Linux: `EI_OSABI`, or a note with the ABI it needs.
    for_linux: bool,
    /// The file's `e_flags`.
    pub flags: u32,
    sections: (usize, usize),
    symbols: OnceLock<Vec<Symbol>>,
}

/// Bytes of a program header.
pub const PHENTSIZE: u16 = 56;
const SHENTSIZE: u16 = 64;
const SYMSIZE: usize = 24;
/// `e_flags`: the program uses 16 registers only.
const EF_RISCV_RVE: u32 = 8;
const CTX: Ctx = Ctx { container: Container::Big, le: Endian::Little };

impl Image<'static> {
    /// Reads and checks the file at `path`.
    ///
    /// # Errors
    /// See [`ElfError`].
    pub fn open(path: &Path) -> Result<Self, ElfError> {
        let bytes = std::fs::read(path)
            .map_err(|source| ElfError::Read { path: path.display().to_string(), source })?;
        Image::parse(bytes)
    }
}

impl<'a> Image<'a> {
    /// The file.
    pub(crate) fn file(&self) -> &[u8] {
        &self.bytes
    }

    /// Checks the bytes of an ELF file.
    ///
    /// # Errors
    /// See [`ElfError`].
    pub fn parse(bytes: impl Into<Cow<'a, [u8]>>) -> Result<Self, ElfError> {
        let bytes = bytes.into();
        let header = check_header(&bytes)?;
        let phoff = table(&bytes, header.e_phoff, header.e_phnum, PHENTSIZE, "the table of program headers")?;
        let headers = ProgramHeader::parse(&bytes, phoff.start, usize::from(header.e_phnum), CTX)
            .map_err(|e| ElfError::Malformed(e.to_string()))?;
        let segments = check_segments(&headers, bytes.len() as u64)?;
        let interp = match headers.iter().find(|ph| ph.p_type == PT_INTERP) {
            Some(ph) => Some(check_interp(ph, &bytes)?),
            None => None,
        };
        // A broken section table costs the symbols, not the run.
        let sections = match header.e_shentsize {
            SHENTSIZE => table(&bytes, header.e_shoff, header.e_shnum, SHENTSIZE, "sections").unwrap_or(0..0),
            _ => 0..0,
        };
        let phdr = headers.iter().find(|ph| ph.p_type == PT_PHDR).map(|ph| ph.p_vaddr).or_else(|| {
            let holder = segments.iter().find(|s| s.file.start <= phoff.start && phoff.end <= s.file.end)?;
            Some(holder.vaddr + (phoff.start - holder.file.start) as u64)
        });
        Ok(Image {
            entry: header.e_entry,
            segments,
            is_pie: header.e_type == ET_DYN,
            interp,
            phdr,
            phnum: header.e_phnum,
            exec_stack: headers.iter().any(|ph| ph.p_type == PT_GNU_STACK && ph.p_flags & PF_X != 0),
            for_linux: header.e_ident[EI_OSABI] == ELFOSABI_LINUX
                || headers.iter().any(|ph| ph.p_type == PT_NOTE && has_abi_tag(ph, &bytes)),
            flags: header.e_flags,
            sections: (sections.start, sections.len() / usize::from(SHENTSIZE)),
            symbols: OnceLock::new(),
            bytes,
        })
    }

    /// The whole file.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The contents of a segment.
    #[must_use]
    pub fn contents(&self, segment: &Segment) -> &[u8] {
        self.bytes.get(segment.file.clone()).unwrap_or(&[])
    }

    /// The program interpreter's path.
    #[must_use]
    pub fn interp_path(&self) -> Option<&[u8]> {
        self.bytes.get(self.interp.clone()?)
    }

    /// The addresses the segments span: first, and first past the last.
    #[must_use]
    pub fn span(&self) -> (u64, u64) {
        let start = self.segments.first().map_or(0, |s| s.vaddr);
        let end = self.segments.last().map_or(0, Segment::end);
        (start, end)
    }

    /// The address of a symbol.
    #[must_use]
    pub fn symbol(&self, name: &str) -> Option<u64> {
        let found = self.symbols().iter().find(|s| self.bytes.get(s.name.clone()) == Some(name.as_bytes()));
        found.map(|s| s.value)
    }

    /// The functions that symbols name, in the order of the table; the dynamic table, if that is all there
    /// is. Hand-written assembly often gives its functions no type: a global name in code is one, too.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        let (table, names) = self.symbol_table().unwrap_or_default();
        table.into_iter().filter_map(move |s| {
            let rest = self.bytes.get(names.start.checked_add(s.st_name)?..names.end)?;
            let len = rest.iter().take(1 << 12).position(|&b| b == 0)?;
            let is_function = match s.st_type() {
                STT_FUNC | STT_GNU_IFUNC => true,
                STT_NOTYPE => s.st_bind() == STB_GLOBAL && self.is_code(s.st_value),
                _ => false,
            };
            (is_function && s.st_shndx != 0 && len > 0).then(|| Function {
                at: s.st_value,
                size: s.st_size,
                name: String::from_utf8_lossy(&rest[..len]).into_owned(),
                other: s.st_other,
            })
        })
    }

    fn is_code(&self, at: u64) -> bool {
        self.segments.iter().any(|s| s.execute && (s.vaddr..s.end()).contains(&at))
    }

    /// The bytes of a section, by name; `None` if it has none, or they are compressed.
    #[must_use]
    pub fn section(&self, name: &str) -> Option<&[u8]> {
        const SHF_COMPRESSED: u64 = 1 << 11;
        let sections = self.section_headers()?;
        let number = u16::from_le_bytes([*self.bytes.get(62)?, *self.bytes.get(63)?]);
        let names = sections.get(usize::from(number))?;
        let names = self.bytes.get(range(names.sh_offset, names.sh_size, self.bytes.len() as u64)?)?;
        let named = |s: &&SectionHeader| {
            let rest = names.get(s.sh_name..).unwrap_or(&[]);
            rest.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0))
        };
        let section = sections.iter().find(named)?;
        let is_there = section.sh_flags & SHF_COMPRESSED == 0 && section.sh_type != SHT_NOBITS;
        let place = range(section.sh_offset, section.sh_size, self.bytes.len() as u64)?;
        self.bytes.get(place).filter(|_| is_there)
    }

    fn section_headers(&self) -> Option<Vec<SectionHeader>> {
        let (offset, count) = self.sections;
        if count == 0 {
            return None;
        }
        SectionHeader::parse(&self.bytes, offset, count, CTX).ok()
    }

    /// The symbols, and where their names are. A broken table is none.
    fn symbol_table(&self) -> Option<(Vec<goblin::elf::Sym>, Range<usize>)> {
        let sections = self.section_headers()?;
        let of_type = |ty| sections.iter().find(|s: &&SectionHeader| s.sh_type == ty);
        let symtab = of_type(SHT_SYMTAB).or_else(|| of_type(SHT_DYNSYM))?;
        let strtab = sections.get(symtab.sh_link as usize)?;
        let names = range(strtab.sh_offset, strtab.sh_size, self.bytes.len() as u64)?;
        let place = range(symtab.sh_offset, symtab.sh_size, self.bytes.len() as u64)?;
        let table = Symtab::parse(&self.bytes, place.start, place.len() / SYMSIZE, CTX).ok()?;
        Some((table.iter().collect(), names))
    }

    /// Whether the program talks to its host through HTIF.
    #[must_use]
    pub fn has_tohost(&self) -> bool {
        self.symbol("tohost").is_some()
    }

    /// Whether the program looks like one for bare metal: it talks to its host through HTIF, all of it is
    /// where a machine has RAM, and nothing in the file asks for Linux. A `tohost` alone may be any variable.
    #[must_use]
    pub fn looks_bare(&self) -> bool {
        let in_ram = self.segments.iter().all(|s| s.paddr >= RAM_BASE);
        self.has_tohost() && in_ram && !self.for_linux && self.interp.is_none()
    }

    /// The symbol an address belongs to, and how far behind its start the address is. `addr` is an
    /// address of the file: subtract what a position-independent image was moved by.
    #[must_use]
    pub fn nearest(&self, addr: u64) -> Option<(Cow<'_, str>, u64)> {
        let segment = self.segments.iter().find(|s| s.vaddr <= addr && addr < s.end())?;
        let symbols = self.symbols();
        let past = symbols.partition_point(|s| s.value <= addr);
        let last = symbols.get(past.checked_sub(1)?)?;
        if last.value < segment.vaddr {
            return None;
        }
        let first = symbols.partition_point(|s| s.value < last.value);
        let best = symbols.get(first)?;
        let name = String::from_utf8_lossy(self.bytes.get(best.name.clone())?);
        Some((name, addr - best.value))
    }

    fn symbols(&self) -> &[Symbol] {
        self.symbols.get_or_init(|| self.read_symbols())
    }

    /// The symbols that name a place, by address. A broken table gives none.
    fn read_symbols(&self) -> Vec<Symbol> {
        let Some((table, names)) = self.symbol_table() else { return Vec::new() };
        let mut symbols: Vec<Symbol> = table
            .iter()
            .filter(|s| s.st_shndx != 0 && !matches!(s.st_type(), STT_SECTION | STT_FILE | STT_TLS))
            .filter_map(|s| {
                let start = names.start.checked_add(s.st_name)?;
                let rest = self.bytes.get(start..names.end)?;
                // A name longer than this is no help to anybody.
                let len = rest.iter().take(1 << 16).position(|&b| b == 0)?;
                let boring = len == 0 || rest.starts_with(b"$") || rest.starts_with(b".L");
                let rank = u8::from(s.st_type() != STT_FUNC) * 2 + u8::from(s.st_bind() != STB_GLOBAL);
                (!boring).then_some(Symbol { value: s.st_value, name: start..start + len, rank })
            })
            .collect();
        symbols.sort_by_key(|s| (s.value, s.rank));
        symbols
    }
}

fn check_header(bytes: &[u8]) -> Result<Header, ElfError> {
    let Some(ident) = bytes.first_chunk::<16>().filter(|ident| ident.starts_with(ELFMAG)) else {
        if bytes.len() >= 4 && bytes.starts_with(ELFMAG) {
            return Err(ElfError::Truncated { what: "the ELF header", end: 64, len: bytes.len() as u64 });
        }
        return Err(ElfError::NotElf(bytes.iter().take(8).copied().collect()));
    };
    if ident[EI_CLASS] != ELFCLASS64 {
        return Err(ElfError::Not64Bit);
    }
    if ident[EI_DATA] != ELFDATA2LSB {
        return Err(ElfError::BigEndian);
    }
    if bytes.len() < 64 {
        return Err(ElfError::Truncated { what: "the ELF header", end: 64, len: bytes.len() as u64 });
    }
    let header = goblin::elf::Elf::parse_header(bytes).map_err(|e| ElfError::Malformed(e.to_string()))?;
    if header.e_machine != EM_RISCV {
        return Err(ElfError::WrongMachine(header.e_machine));
    }
    match header.e_type {
        ET_EXEC | ET_DYN => {}
        ET_REL => {
            return Err(ElfError::NotProgram("a relocatable object file", "link it first (without -c)"));
        }
        ET_CORE => return Err(ElfError::NotProgram("a core dump", "give the program that dumped it")),
        _ => return Err(ElfError::NotProgram("of an unknown type", "give a linked program")),
    }
    if header.e_flags & EF_RISCV_RVE != 0 {
        return Err(ElfError::Embedded);
    }
    if header.e_phnum == 0 {
        return Err(ElfError::NothingToLoad);
    }
    if header.e_phentsize != PHENTSIZE {
        let got = header.e_phentsize;
        return Err(ElfError::Malformed(format!("program headers of {got} bytes, should be {PHENTSIZE}")));
    }
    Ok(header)
}

/// Where a table of `count` entries of `size` bytes is, if it is in the file.
fn table(
    bytes: &[u8],
    offset: u64,
    count: u16,
    size: u16,
    what: &'static str,
) -> Result<Range<usize>, ElfError> {
    let len = u64::from(count) * u64::from(size);
    range(offset, len, bytes.len() as u64).ok_or(ElfError::Truncated {
        what,
        end: offset.saturating_add(len),
        len: bytes.len() as u64,
    })
}

/// `len` bytes from `offset`, if a file of `file_len` bytes has them. No bytes are in every file: linkers
/// give a segment that is all `.bss` an offset past the end.
fn range(offset: u64, len: u64, file_len: u64) -> Option<Range<usize>> {
    if len == 0 {
        return Some(0..0);
    }
    let end = offset.checked_add(len).filter(|&end| end <= file_len)?;
    Some(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)
}

fn check_segments(headers: &[ProgramHeader], file_len: u64) -> Result<Vec<Segment>, ElfError> {
    let mut segments: Vec<(usize, Segment)> = Vec::new();
    for (index, ph) in headers.iter().enumerate().filter(|(_, ph)| ph.p_type == PT_LOAD && ph.p_memsz > 0) {
        let (vaddr, memsz, filesz) = (ph.p_vaddr, ph.p_memsz, ph.p_filesz);
        if vaddr.checked_add(memsz).is_none() || ph.p_paddr.checked_add(memsz).is_none() {
            return Err(ElfError::WrapsAround { index, vaddr, memsz });
        }
        if filesz > memsz {
            return Err(ElfError::FileLargerThanMemory { index, filesz, memsz });
        }
        let file = range(ph.p_offset, filesz, file_len).ok_or(ElfError::Truncated {
            what: "a loadable segment",
            end: ph.p_offset.saturating_add(filesz),
            len: file_len,
        })?;
        let flag = |f| ph.p_flags & f != 0;
        let segment = Segment {
            vaddr,
            paddr: ph.p_paddr,
            memsz,
            file,
            read: flag(PF_R),
            write: flag(PF_W),
            execute: flag(PF_X),
        };
        segments.push((index, segment));
    }
    if segments.is_empty() {
        return Err(ElfError::NothingToLoad);
    }
    segments.sort_by_key(|(_, s)| s.vaddr);
    for pair in segments.windows(2) {
        let [(first, a), (second, b)] = pair else { continue };
        if b.vaddr < a.end() {
            return Err(ElfError::Overlap { first: *first, second: *second, at: b.vaddr });
        }
    }
    Ok(segments.into_iter().map(|(_, s)| s).collect())
}

/// Whether a segment of notes has the one that glibc's linking leaves in every program: the kernel it needs.
fn has_abi_tag(ph: &ProgramHeader, bytes: &[u8]) -> bool {
    const NT_GNU_ABI_TAG: u32 = 1;
    let Some(place) = range(ph.p_offset, ph.p_filesz, bytes.len() as u64) else { return false };
    let mut rest = &bytes[place];
    // Three words, the name and the contents, each padded to four bytes.
    while let Some((head, body)) = rest.split_first_chunk::<12>() {
        let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        if word(8) == NT_GNU_ABI_TAG && word(0) == 4 && body.starts_with(b"GNU\0") {
            return true;
        }
        let size = (u64::from(word(0)).next_multiple_of(4)) + u64::from(word(4)).next_multiple_of(4);
        match usize::try_from(size).ok().and_then(|size| body.get(size..)) {
            Some(next) => rest = next,
            None => return false,
        }
    }
    false
}

fn check_interp(ph: &ProgramHeader, bytes: &[u8]) -> Result<Range<usize>, ElfError> {
    let place = range(ph.p_offset, ph.p_filesz, bytes.len() as u64).ok_or(ElfError::Truncated {
        what: "the interpreter's path",
        end: ph.p_offset.saturating_add(ph.p_filesz),
        len: bytes.len() as u64,
    })?;
    let path = &bytes[place.clone()];
    match path.iter().take(4096).position(|&b| b == 0) {
        Some(len) if len > 0 => Ok(place.start..place.start + len),
        _ => Err(ElfError::Malformed("the interpreter's path is empty, too long or does not end".into())),
    }
}

#[cfg(test)]
#[path = "elf_tests.rs"]
pub(crate) mod tests;
