//! The machine code of programs: which functions of an ELF are whose, and what is in them.

use goblin::elf::Elf;
use goblin::elf::program_header::{PF_X, PT_LOAD};
use goblin::elf::sym::STT_FUNC;
use rvv_ir::Program;
use rvv_isa::{Class, Inst, Op, decode};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// No file is larger that features are taken of.
const LARGEST: usize = 64 << 20;
/// Functions of one file, bytes of one function, and bytes of all, that are looked at: symbols may overlap.
const FUNCTIONS: usize = 1 << 16;
const BYTES: usize = 1 << 20;
const ALL_BYTES: usize = 1 << 24;

/// Which program a function is of: by the names that its C file gives to functions.
pub struct Owners {
    programs: usize,
    by_name: HashMap<String, usize>,
}

impl Owners {
    /// Those of programs that are in one file, in this order.
    pub fn new(programs: &[&Program]) -> Owners {
        let functions = rvv_ir::c::functions(programs);
        Owners {
            programs: programs.len(),
            by_name: functions.into_iter().map(|(program, name)| (name, program)).collect(),
        }
    }

    /// How many programs there are.
    pub fn programs(&self) -> usize {
        self.programs
    }

    /// The program that a symbol's function is of. Compilers clone functions (`p3_f0.isra.0`,
    /// `p3_f0.constprop.1`), take parts out of them (`p3_f0.part.0`, `p3_program.cold`) and, in C++, put
    /// types into their names (`_ZL7p3_f0_tu…`). What several programs share is nobody's.
    pub fn of(&self, symbol: &str) -> Option<usize> {
        self.by_name.get(base_name(symbol)).copied()
    }
}

/// A symbol without what compilers add to the name in the source.
pub fn base_name(symbol: &str) -> &str {
    let name = symbol.split('.').next().unwrap_or(symbol);
    unmangled(name).unwrap_or(name)
}

/// What compilers made of a function besides the function: `isra`, `constprop`, `part`, `cold`.
pub fn clones(symbol: &str) -> impl Iterator<Item = &str> {
    let is_word = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
    symbol.split('.').skip(1).filter(is_word)
}

/// The name in `_ZL10p3_programv` or `_Z5p3_f0ILi1EEu…`: its length and itself.
fn unmangled(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("_Z")?.trim_start_matches('L');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let length: usize = rest.get(..digits)?.parse().ok()?;
    rest.get(digits..digits.checked_add(length)?)
}

/// An instruction, where it is.
#[derive(Clone, Copy, Debug)]
pub struct Placed {
    /// Its address.
    pub at: u64,
    /// Its length in bytes.
    pub len: u64,
    /// What it is, if it is one.
    pub inst: Option<Inst>,
}

/// A function of a program.
#[derive(Clone, Debug)]
pub struct Function {
    /// The program, by its place in the file.
    pub program: usize,
    /// The symbol.
    pub symbol: String,
    /// Its addresses.
    pub range: Range<u64>,
    /// What is there, in order.
    pub code: Vec<Placed>,
}

/// Where an instruction leads besides the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Nowhere.
    Next,
    /// Perhaps there.
    Branch(u64),
    /// There.
    Jump(u64),
    /// There and back; unknown if it is computed.
    Call(Option<u64>),
    /// Out of the function: it returns, calls another as its end, or traps.
    Leaves,
}

impl Placed {
    /// Where it leads, in a function of these addresses.
    pub fn flow(&self, function: &Range<u64>) -> Flow {
        let Some(inst) = &self.inst else { return Flow::Leaves };
        let target = self.at.wrapping_add_signed(inst.imm.into());
        match (inst.op.base(), inst.op.class()) {
            (_, Class::Branch) if function.contains(&target) => Flow::Branch(target),
            (Op::Jal, _) if inst.rd == 0 && function.contains(&target) => Flow::Jump(target),
            (Op::Jal, _) if inst.rd != 0 => Flow::Call(Some(target)),
            (Op::Jalr, _) if inst.rd != 0 => Flow::Call(None),
            (Op::Jal | Op::Jalr | Op::Ebreak, _) => Flow::Leaves,
            _ => Flow::Next,
        }
    }
}

/// The functions of an ELF that are some program's, in the order of their addresses.
pub struct Code {
    /// The functions.
    pub functions: Vec<Function>,
    /// Symbols by address, for calls and data.
    pub symbols: BTreeMap<u64, String>,
}

impl Code {
    /// Reads an ELF. What is no ELF, or has no symbols, has no functions.
    pub fn read(elf: &[u8], owners: &Owners) -> Code {
        let mut code = Code { functions: Vec::new(), symbols: BTreeMap::new() };
        if elf.len() > LARGEST {
            return code;
        }
        let Ok(parsed) = Elf::parse(elf) else { return code };
        let mut left = ALL_BYTES;
        for symbol in parsed.syms.iter().take(4 * FUNCTIONS) {
            let Some(name) = parsed.strtab.get_at(symbol.st_name).filter(|n| !n.is_empty()) else { continue };
            // Labels and mapping symbols are no functions: `.L12`, `$x`.
            if name.starts_with(['.', '$']) || name.len() > 512 {
                continue;
            }
            code.symbols.entry(symbol.st_value).or_insert_with(|| name.to_string());
            let (start, size) = (symbol.st_value, symbol.st_size);
            let (Some(program), Some(end)) = (owners.of(name), start.checked_add(size)) else { continue };
            let is_one = symbol.st_type() == STT_FUNC && (2..=BYTES as u64).contains(&size);
            let loaded =
                parsed.program_headers.iter().filter(|h| h.p_type == PT_LOAD && h.p_flags & PF_X != 0);
            let mut places = loaded.filter_map(|h| {
                let within = start.checked_sub(h.p_vaddr).filter(|w| *w < h.p_filesz)?;
                let at = usize::try_from(h.p_offset.checked_add(within)?).ok()?;
                elf.get(at..at.checked_add(usize::try_from(size).ok()?)?)
            });
            let fits = |bytes: &&[u8]| is_one && code.functions.len() < FUNCTIONS && bytes.len() <= left;
            let Some(bytes) = places.next().filter(fits) else { continue };
            left -= bytes.len();
            code.functions.push(Function {
                program,
                symbol: name.to_string(),
                range: start..end,
                code: instructions(start, bytes),
            });
        }
        // One function may have two names.
        code.functions.sort_by(|a, b| (a.range.start, &a.symbol).cmp(&(b.range.start, &b.symbol)));
        code.functions.dedup_by_key(|f| f.range.start);
        code
    }

    /// The functions of each of so many programs.
    pub fn by_program(&self, programs: usize) -> Vec<Vec<&Function>> {
        let mut all = vec![Vec::new(); programs];
        for function in &self.functions {
            if let Some(of) = all.get_mut(function.program) {
                of.push(function);
            }
        }
        all
    }

    /// The name of what is at an address.
    pub fn name_at(&self, address: u64) -> Option<&str> {
        self.symbols.get(&address).map(String::as_str)
    }
}

/// What is in some bytes: instructions one after the other.
fn instructions(start: u64, bytes: &[u8]) -> Vec<Placed> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(low) = bytes.get(at..at + 2) {
        let low = u32::from(u16::from_le_bytes([low[0], low[1]]));
        let high = bytes.get(at + 2..at + 4).map_or(0, |h| u32::from(u16::from_le_bytes([h[0], h[1]])));
        let len = if low & 3 == 3 { 4 } else { 2 };
        let inst = if len == 4 && bytes.len() - at < 4 { None } else { decode(high << 16 | low) };
        found.push(Placed { at: start + at as u64, len: len as u64, inst });
        at += len;
    }
    found
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::programs::testbed::compiler::{Built, Compiler, Limits};

    /// Programs of every kind, as many as a batch may have.
    pub fn programs(count: u64) -> Vec<Program> {
        let plan = rvvgen::Plan::new(5, &rvvgen::Selection::default(), 12, 128);
        let settings = rvvgen::Settings::default();
        (0..count).map(|k| rvvgen::generate(&plan, k, &settings).unwrap().program).collect()
    }

    /// clang of the host, if it has one; its batches of programs are tests, too.
    pub fn clang() -> Option<Compiler> {
        Compiler::find("clang-19").ok()
    }

    /// An ELF with one function `program` of these words.
    pub fn elf_of(words: &[u32]) -> Vec<u8> {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let strings = b"\0program\0";
        let (code, symtab) = (120u64, 120 + bytes.len() as u64);
        let strtab = symtab + 48;
        let shoff = (strtab + strings.len() as u64).next_multiple_of(8);
        let mut out = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        let half = |out: &mut Vec<u8>, v: u16| out.extend(v.to_le_bytes());
        let word = |out: &mut Vec<u8>, v: u32| out.extend(v.to_le_bytes());
        let long = |out: &mut Vec<u8>, v: u64| out.extend(v.to_le_bytes());
        [2, 243].into_iter().for_each(|v| half(&mut out, v));
        word(&mut out, 1);
        [0x1000, 64, shoff].into_iter().for_each(|v| long(&mut out, v));
        word(&mut out, 0);
        [64, 56, 1, 64, 3, 0].into_iter().for_each(|v| half(&mut out, v));
        [PT_LOAD, PF_X | 4].into_iter().for_each(|v| word(&mut out, v));
        let size = bytes.len() as u64;
        [code, 0x1000, 0x1000, size, size, 8].into_iter().for_each(|v| long(&mut out, v));
        out.extend(&bytes);
        out.extend([0; 24]);
        word(&mut out, 1);
        out.extend([STT_FUNC, 0, 1, 0]);
        [0x1000, size].into_iter().for_each(|v| long(&mut out, v));
        out.extend(strings);
        out.resize(shoff as usize, 0);
        out.extend([0; 64]);
        for (kind, offset, size, link, entry) in
            [(2, symtab, 48, 2, 24), (3, strtab, strings.len() as u64, 0, 0)]
        {
            [0, kind].into_iter().for_each(|v| word(&mut out, v));
            [0, 0, offset, size].into_iter().for_each(|v| long(&mut out, v));
            [link, 0].into_iter().for_each(|v| word(&mut out, v));
            [8, entry].into_iter().for_each(|v| long(&mut out, v));
        }
        out
    }

    #[test]
    fn symbols_are_attributed_to_their_programs() {
        let all = programs(12);
        let owners = Owners::new(&all.iter().collect::<Vec<_>>());
        for (symbol, program) in [
            ("p3_program", Some(3)),
            ("p11_program.cold", Some(11)),
            ("p3_program.constprop.0.isra.1", Some(3)),
            ("_ZL11p10_programv", Some(10)),
            ("_ZL10p3_programv.part.0", Some(3)),
            ("p12_program", None),
            ("p3_output", None),
            ("memcpy", None),
            ("OUTLINED_FUNCTION_0", None),
            ("_ZL99999999999999999999p3_programv", None),
            ("_ZL99p3_program", None),
            ("", None),
        ] {
            assert_eq!(owners.of(symbol), program, "{symbol}");
        }
        let function = all.iter().position(|p| !p.functions.is_empty()).unwrap();
        let name = format!("p{function}_{}", all[function].functions[0].name);
        assert_eq!(owners.of(&name), Some(function), "{name}");
        assert_eq!(owners.of(&format!("_Z{}{name}ILi3EEu15__rvv_int8mf8_t", name.len())), Some(function));
        let alone = Owners::new(&[&all[0]]);
        assert_eq!((alone.of("program"), alone.of("p0_program"), alone.of("main")), (Some(0), None, None));
        assert_eq!(clones("p3_f0.constprop.0.isra.1").collect::<Vec<_>>(), ["constprop", "isra"]);
    }

    #[test]
    fn the_code_of_a_batch_is_that_of_its_programs_alone() {
        let Some(clang) = clang() else { return };
        let all = programs(6);
        let list: Vec<&Program> = all.iter().collect();
        let flags = ["-O1".to_string()];
        let build = |programs: &[&Program]| match clang.build(programs, &flags, &Limits::default()) {
            Built::Elf(elf) => Some(Code::read(&elf, &Owners::new(programs))),
            _ => None,
        };
        // Not every program suits this compiler.
        let list: Vec<&Program> = list.into_iter().filter(|p| build(&[p]).is_some()).collect();
        let together = build(&list).unwrap();
        assert!(list.len() > 1);
        let vector = |f: &Function| -> Vec<Op> {
            f.code.iter().filter_map(|p| Some(p.inst?.op.base())).filter(|o| o.is_vector()).collect()
        };
        let ops = |functions: &[&Function]| -> Vec<Vec<Op>> {
            let mut all: Vec<Vec<Op>> = functions.iter().map(|f| vector(f)).collect();
            all.sort_by_key(|o| format!("{o:?}"));
            all
        };
        for (program, functions) in list.iter().zip(together.by_program(list.len())) {
            let alone = build(&[program]).unwrap();
            assert_eq!(ops(&functions), ops(&alone.by_program(1)[0]));
            assert!(functions.iter().any(|f| base_name(&f.symbol).ends_with("program")));
        }
    }

    #[test]
    fn branches_lead_where_they_say() {
        // beq x0,x0,-4; jal x0,+8; jal ra,+4; ret; ebreak
        let elf = elf_of(&[0xfe00_0ee3, 0x0080_006f, 0x0040_00ef, 0x0000_8067, 0x0010_0073]);
        let program: Program = "rvv-ir 1\nmain {\n}\n".parse().unwrap_or_else(|e| panic!("{e}"));
        let code = Code::read(&elf, &Owners::new(&[&program]));
        let f = &code.functions[0];
        let flows: Vec<Flow> = f.code.iter().map(|p| p.flow(&f.range)).collect();
        let jump = Flow::Jump(0x100c);
        assert_eq!(flows, [Flow::Next, jump, Flow::Call(Some(0x100c)), Flow::Leaves, Flow::Leaves]);
    }
}
