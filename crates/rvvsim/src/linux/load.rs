//! Loading a program and its interpreter, and the stack they start with.

use super::options::ProcessOptions;
use super::pages::{EXEC, READ, USER_END, WRITE};
use super::process::{Identity, Random};
use super::sandbox::FileSystem;
use super::signal::frame_size;
use super::space::{AddressSpace, Area, Backing};
use super::{Start, hwprobe};
use crate::config::Config;
use crate::elf::{Image, PHENTSIZE, Segment};
use crate::machine::LoadError;
use crate::mem::{PAGE, Ram};
use rustix::fs::{Mode, OFlags};
use std::io::Read;

/// Where position-independent programs go, as on Linux: two thirds up.
const PIE_BASE: u64 = (USER_END / 3 * 2) & !(PAGE - 1);
/// The first address past the stack.
const STACK_TOP: u64 = USER_END - PAGE;
/// Nothing is put this close below the stack.
const STACK_GAP: u64 = 1 << 20;
/// An interpreter larger than this is not one.
const LARGEST_INTERPRETER: u64 = 64 << 20;

/// `li a7, 139; ecall`: how a signal handler returns. Unwinders know a signal frame by these very words.
static TRAMPOLINE: [u32; 2] = [0x08b0_0893, 0x0000_0073];

/// What is known about the process once it is loaded.
pub struct Facts {
    /// The program's path as the guest sees it.
    pub exe: Vec<u8>,
    /// How far the program was moved.
    pub bias: u64,
    /// The auxiliary vector, as `/proc/self/auxv` shows it.
    pub auxv: Vec<u8>,
    /// Where signal handlers return to.
    pub trampoline: u64,
}

/// Builds the address space.
pub fn load(
    config: &Config,
    image: &Image,
    options: &ProcessOptions,
    fs: &FileSystem,
    identity: &Identity,
    random: &mut Random,
    ram: &mut Ram,
) -> Result<(AddressSpace, Start, Facts), LoadError> {
    if !(64 << 10..=1 << 34).contains(&options.stack) {
        return Err(LoadError::Stack(options.stack));
    }
    let stack_bottom = STACK_TOP - options.stack.next_multiple_of(PAGE);
    let mut space = AddressSpace::new(stack_bottom, stack_bottom - STACK_GAP);
    let stack_prot = READ | WRITE | if image.exec_stack { EXEC } else { 0 };
    put_area(&mut space, ram, stack_bottom, Area::anonymous(STACK_TOP, stack_prot, "[stack]"))?;

    let trampoline = place(&space, PAGE)?;
    let backing = Backing::Words(&TRAMPOLINE);
    let page = Area {
        end: trampoline + PAGE,
        prot: READ | EXEC,
        shared: false,
        may_write: true,
        backing,
        name: "[vdso]",
    };
    put_area(&mut space, ram, trampoline, page)?;

    let bias = if image.is_pie { PIE_BASE.wrapping_sub(image.span().0 & !(PAGE - 1)) } else { 0 };
    load_image(&mut space, ram, image, bias, "the program")?;
    space.set_brk_start(image.span().1.wrapping_add(bias).next_multiple_of(PAGE));

    let mut pc = image.entry.wrapping_add(bias);
    let mut interp_base = 0;
    if let Some(path) = image.interp_path() {
        let bytes = read_interpreter(path, fs)?;
        let interp = Image::parse(bytes)?;
        let (low, high) = interp.span();
        let low = low & !(PAGE - 1);
        if interp.is_pie {
            let len = (high - low).checked_next_multiple_of(PAGE).unwrap_or(u64::MAX);
            interp_base = place(&space, len)?.wrapping_sub(low);
        }
        load_image(&mut space, ram, &interp, interp_base, "the program's interpreter")?;
        pc = interp.entry.wrapping_add(interp_base);
    }

    let exe = options.exe.clone().or_else(|| options.args.first().cloned()).unwrap_or_default();
    let mut stack = Stack { space: &mut space, ram, sp: STACK_TOP - 8, bottom: stack_bottom };
    let execfn = stack.push_string(&exe)?;
    let env = options.env.iter().map(|s| stack.push_string(s)).collect::<Result<Vec<_>, _>>()?;
    let args = options.args.iter().map(|s| stack.push_string(s)).collect::<Result<Vec<_>, _>>()?;
    let random_at = stack.push(&random.initial_bytes(), 16)?;
    let aux = [
        (3, image.phdr.map_or(0, |a| a.wrapping_add(bias))), // AT_PHDR
        (4, u64::from(PHENTSIZE)),                           // AT_PHENT
        (5, u64::from(image.phnum)),                         // AT_PHNUM
        (6, PAGE),                                           // AT_PAGESZ
        (7, interp_base),                                    // AT_BASE
        (8, 0),                                              // AT_FLAGS
        (9, image.entry.wrapping_add(bias)),                 // AT_ENTRY
        (11, u64::from(identity.uid)),                       // AT_UID
        (12, u64::from(identity.euid)),                      // AT_EUID
        (13, u64::from(identity.gid)),                       // AT_GID
        (14, u64::from(identity.egid)),                      // AT_EGID
        (16, hwprobe::hwcap(&config.isa)),                   // AT_HWCAP
        (17, 100),                                           // AT_CLKTCK
        (23, 0),                                             // AT_SECURE
        (25, random_at),                                     // AT_RANDOM
        (31, execfn),                                        // AT_EXECFN
        (51, frame_size(config, true)),                      // AT_MINSIGSTKSZ
        (0, 0),                                              // AT_NULL
    ];
    let auxv: Vec<u8> =
        aux.iter().flat_map(|&(key, value): &(u64, u64)| [key, value]).flat_map(u64::to_le_bytes).collect();

    let mut words = vec![args.len() as u64];
    words.extend(args);
    words.push(0);
    words.extend(env);
    words.push(0);
    let mut block: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
    block.extend(&auxv);
    let sp = stack.push(&block, 16)?;
    Ok((space, Start { pc, sp }, Facts { exe, bias, auxv, trampoline }))
}

fn put_area(space: &mut AddressSpace, ram: &mut Ram, start: u64, area: Area) -> Result<(), LoadError> {
    space.map(ram, start, area).map_err(|_| LoadError::Full("too many mappings"))
}

fn put_bytes(space: &mut AddressSpace, ram: &mut Ram, va: u64, bytes: &[u8]) -> Result<(), LoadError> {
    space.write(ram, va, bytes).map_err(LoadError::Full)
}

fn place(space: &AddressSpace, len: u64) -> Result<u64, LoadError> {
    space.find_free(0, len).map_err(|_| LoadError::Full("no room in the address space"))
}

fn prot(segment: &Segment) -> u64 {
    let bit = |on, bit| if on { bit } else { 0 };
    bit(segment.read, READ) | bit(segment.write, WRITE) | bit(segment.execute, EXEC)
}

/// Maps the segments of an image and fills them.
fn load_image(
    space: &mut AddressSpace,
    ram: &mut Ram,
    image: &Image,
    bias: u64,
    what: &str,
) -> Result<(), LoadError> {
    let what = || what.to_owned();
    let total = image.segments.iter().fold(0u64, |sum, s| sum.saturating_add(s.memsz));
    if total > ram.len() as u64 {
        return Err(LoadError::TooLarge { what: what(), needed: total, available: ram.len() as u64 });
    }
    let mut previous: Option<(u64, u64)> = None;
    for segment in &image.segments {
        let start = segment.vaddr.wrapping_add(bias);
        let end = start.checked_add(segment.memsz).and_then(|end| end.checked_next_multiple_of(PAGE));
        let Some(end) = end.filter(|&end| end <= USER_END) else {
            return Err(LoadError::TooHigh { what: what(), at: segment.vaddr, limit: USER_END });
        };
        let mut first = start & !(PAGE - 1);
        let prot = prot(segment);
        if let Some((mapped, prot_before)) = previous
            && first < mapped
        {
            // Two segments on one page: it must allow what either allows.
            let _ = space.protect(mapped - PAGE, mapped, prot | prot_before);
            first = mapped;
        }
        if first < end {
            if !space.is_free(first, end) {
                return Err(LoadError::Overlap { what: what(), at: first });
            }
            put_area(space, ram, first, Area::anonymous(end, prot, ""))?;
        }
        put_bytes(space, ram, start, image.contents(segment))?;
        previous = Some((end.max(first), prot));
    }
    Ok(())
}

/// The bytes of the interpreter a dynamically linked program names.
fn read_interpreter(path: &[u8], fs: &FileSystem) -> Result<Vec<u8>, LoadError> {
    let name = String::from_utf8_lossy(path).into_owned();
    let failed = |source: std::io::Error| LoadError::Interpreter { name: name.clone(), source };
    let open = || fs.locate(path, true, true)?.open(OFlags::RDONLY, Mode::empty());
    let fd = open().map(|opened| opened.fd).map_err(|e| failed(e.into()))?;
    let mut bytes = Vec::new();
    std::fs::File::from(fd).take(LARGEST_INTERPRETER).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

/// The stack being laid out, from the top down.
struct Stack<'a> {
    space: &'a mut AddressSpace,
    ram: &'a mut Ram,
    sp: u64,
    bottom: u64,
}

impl Stack<'_> {
    fn push(&mut self, bytes: &[u8], align: u64) -> Result<u64, LoadError> {
        // A quarter of the stack, as on Linux.
        let least = STACK_TOP - (STACK_TOP - self.bottom) / 4;
        let sp =
            self.sp.checked_sub(bytes.len() as u64).map(|sp| sp & !(align - 1)).filter(|&sp| sp >= least);
        let Some(sp) = sp else {
            return Err(LoadError::Arguments);
        };
        put_bytes(self.space, self.ram, sp, bytes)?;
        self.sp = sp;
        Ok(sp)
    }

    fn push_string(&mut self, text: &[u8]) -> Result<u64, LoadError> {
        let mut bytes = text.to_vec();
        bytes.push(0);
        self.push(&bytes, 1)
    }
}
