//! Writes small static RV64 ELFs: segments, and symbols to find things by.

/// One `PT_LOAD` segment.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Where it goes.
    pub vaddr: u64,
    /// What is in the file.
    pub bytes: Vec<u8>,
    /// Its size in memory; the part past `bytes` is zero.
    pub memsz: u64,
    /// `PF_R` 4, `PF_W` 2, `PF_X` 1.
    pub flags: u32,
}

/// An ELF in the making.
#[derive(Clone, Debug, Default)]
pub struct ElfWriter {
    /// Where execution starts.
    pub entry: u64,
    /// The segments, in the order of their program headers.
    pub segments: Vec<Segment>,
    /// Names and addresses.
    pub symbols: Vec<(String, u64)>,
}

const EHDR: usize = 64;
const PHDR: usize = 56;
const SHDR: usize = 64;
const PAGE: usize = 4096;

impl ElfWriter {
    /// An ELF with nothing in it that starts at `entry`.
    #[must_use]
    pub fn new(entry: u64) -> Self {
        ElfWriter { entry, ..ElfWriter::default() }
    }

    /// Adds a segment whose memory is what the file holds.
    pub fn segment(&mut self, vaddr: u64, bytes: Vec<u8>, flags: u32) -> &mut Self {
        let memsz = bytes.len() as u64;
        self.segments.push(Segment { vaddr, bytes, memsz, flags });
        self
    }

    /// Adds a segment of zeros.
    pub fn zeros(&mut self, vaddr: u64, memsz: u64) -> &mut Self {
        self.segments.push(Segment { vaddr, bytes: Vec::new(), memsz, flags: 6 });
        self
    }

    /// Adds a symbol.
    pub fn symbol(&mut self, name: &str, address: u64) -> &mut Self {
        self.symbols.push((name.to_owned(), address));
        self
    }

    /// The file.
    #[must_use]
    pub fn finish(&self) -> Vec<u8> {
        let mut out = vec![0; EHDR + PHDR * self.segments.len()];
        for (i, s) in self.segments.iter().enumerate() {
            // A loader that maps pages wants the same offset in the page in file and memory.
            let wanted = s.vaddr as usize % PAGE;
            let offset = out.len() + (PAGE + wanted - out.len() % PAGE) % PAGE;
            out.resize(offset, 0);
            out.extend_from_slice(&s.bytes);
            let mut header = Vec::with_capacity(PHDR);
            put32(&mut header, 1);
            put32(&mut header, s.flags);
            for v in [offset as u64, s.vaddr, s.vaddr, s.bytes.len() as u64, s.memsz, PAGE as u64] {
                put64(&mut header, v);
            }
            let at = EHDR + PHDR * i;
            out[at..at + PHDR].copy_from_slice(&header);
        }
        let shoff = self.sections(&mut out);
        let header = self.header(shoff);
        out[..EHDR].copy_from_slice(&header);
        out
    }

    /// Appends the symbol and string tables and the section headers; returns where those are.
    fn sections(&self, out: &mut Vec<u8>) -> u64 {
        const NAMES: &[u8] = b"\0.symtab\0.strtab\0.shstrtab\0";
        let (mut symtab, mut strtab) = (vec![0; 24], vec![0]);
        for (name, address) in &self.symbols {
            put32(&mut symtab, strtab.len() as u32);
            // STB_GLOBAL, STT_NOTYPE, default visibility, SHN_ABS.
            symtab.extend_from_slice(&[0x10, 0, 0xf1, 0xff]);
            put64(&mut symtab, *address);
            put64(&mut symtab, 0);
            strtab.extend_from_slice(name.as_bytes());
            strtab.push(0);
        }
        let mut table = vec![0; SHDR];
        // name, type, link, info; align, entry size
        let symbols = ([1, 2, 2, 1], [8, 24], &symtab[..]);
        let strings = ([9, 3, 0, 0], [1, 0], &strtab[..]);
        let names = ([17, 3, 0, 0], [1, 0], NAMES);
        for ([name, kind, link, info], [align, entsize], bytes) in [symbols, strings, names] {
            out.resize(out.len().next_multiple_of(8), 0);
            put32(&mut table, name);
            put32(&mut table, kind);
            for v in [0, 0, out.len() as u64, bytes.len() as u64] {
                put64(&mut table, v);
            }
            put32(&mut table, link);
            put32(&mut table, info);
            put64(&mut table, align);
            put64(&mut table, entsize);
            out.extend_from_slice(bytes);
        }
        out.resize(out.len().next_multiple_of(8), 0);
        let shoff = out.len() as u64;
        out.extend_from_slice(&table);
        shoff
    }

    fn header(&self, shoff: u64) -> Vec<u8> {
        // ELFCLASS64, little-endian, version 1, System V.
        let mut h = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        put16(&mut h, 2); // ET_EXEC
        put16(&mut h, 243); // EM_RISCV
        put32(&mut h, 1);
        put64(&mut h, self.entry);
        put64(&mut h, EHDR as u64);
        put64(&mut h, shoff);
        put32(&mut h, 5); // RVC, double-float ABI
        put16(&mut h, EHDR as u16);
        put16(&mut h, PHDR as u16);
        put16(&mut h, self.segments.len() as u16);
        put16(&mut h, SHDR as u16);
        put16(&mut h, 4);
        put16(&mut h, 3);
        h
    }
}

fn put16(out: &mut Vec<u8>, v: u16) {
    out.extend_from_slice(&v.to_le_bytes());
}

fn put32(out: &mut Vec<u8>, v: u32) {
    out.extend_from_slice(&v.to_le_bytes());
}

fn put64(out: &mut Vec<u8>, v: u64) {
    out.extend_from_slice(&v.to_le_bytes());
}
