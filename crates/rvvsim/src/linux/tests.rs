//! The process as a whole, with programs made by hand.

use super::*;
use crate::Machine;
use crate::elf::tests::{Load, elf, put};
use crate::machine::Outcome;
use crate::mem::{Access, PAGE, Target};
use crate::trap::Cause;

const CODE: u64 = 0x10000;
const DATA: u64 = 0x20000;

fn options() -> ProcessOptions {
    ProcessOptions {
        args: vec![b"test".to_vec()],
        stdin: Input::Bytes(b"input".to_vec()),
        stdout: Output::Capture,
        stderr: Output::Capture,
        clock: Clock::Counted,
        ..Default::default()
    }
}

fn config() -> Config {
    Config { mem: 1 << 20, max_insns: Some(1_000_000), ..Default::default() }
}

/// A program of these instructions, with a page of data that starts with "hello\n".
fn program(code: &[u32]) -> Vec<u8> {
    let bytes = code.iter().flat_map(|w| w.to_le_bytes()).collect();
    let text = Load { vaddr: CODE, flags: 5, bytes, memsz: 4 * code.len() as u64 };
    let data = Load { vaddr: DATA, flags: 6, bytes: b"hello\n".to_vec(), memsz: PAGE };
    elf(2, CODE, &[text, data])
}

fn machine(code: &[u32]) -> Machine {
    let file = program(code);
    Machine::user(config(), &Image::parse(file).unwrap(), options()).unwrap()
}

/// `addi rd, rs, imm`.
fn addi(rd: u32, rs: u32, imm: i32) -> u32 {
    0x13 | rd << 7 | rs << 15 | (imm as u32) << 20
}

/// `lui rd, imm`.
fn lui(rd: u32, imm: u32) -> u32 {
    0x37 | rd << 7 | imm << 12
}

const ECALL: u32 = 0x73;

/// Makes one system call.
fn call(machine: &mut Machine, number: u64, args: &[u64]) -> i64 {
    machine.hart.x[17] = number;
    for i in 0..6u8 {
        machine.hart.x[10 + i] = args.get(usize::from(i)).copied().unwrap_or(0);
    }
    // A call that waits is made again.
    let pc = machine.hart.pc;
    while matches!(machine.process.as_mut().unwrap().syscall(&mut machine.hart), Verdict::Continue)
        && machine.hart.pc == pc
    {}
    machine.hart.x[10] as i64
}

fn errno(e: Errno) -> i64 {
    i64::from(-e.raw_os_error())
}

#[test]
fn a_tiny_program_writes_and_exits() {
    let code = [
        addi(10, 0, 1),
        lui(11, DATA as u32 >> 12),
        addi(12, 0, 6),
        addi(17, 0, 64),
        ECALL,
        addi(10, 0, 42),
        addi(17, 0, 94),
        ECALL,
    ];
    let mut machine = machine(&code);
    assert_eq!(machine.run(None), Outcome::Exited(42));
    assert_eq!(machine.process.unwrap().stdout(), b"hello\n");
}

#[test]
fn a_bad_store_is_a_signal_with_its_reason() {
    // sd zero, 0(zero)
    let mut machine = machine(&[0x0000_3023]);
    let Outcome::Signaled { signal: 11, trap: Some(trap) } = machine.run(None) else { panic!("no signal") };
    assert_eq!((trap.cause, trap.tval), (Cause::StorePageFault, 0));
    assert!(trap.why.contains("null pointer"));
}

#[test]
fn the_stack_holds_arguments_and_vectors() {
    let file = program(&[ECALL]);
    let mut options = options();
    options.args = vec![b"prog".to_vec(), b"arg".to_vec()];
    options.env = vec![b"A=1".to_vec()];
    let mut m = Machine::user(config(), &Image::parse(file).unwrap(), options).unwrap();
    let sp = m.hart.x[2];
    assert_eq!(sp % 16, 0);
    let mut word = |i: u64| user::read_u64(&mut m.hart, sp + 8 * i).unwrap();
    assert_eq!((word(0), word(3), word(5)), (2, 0, 0));
    let (arg, env) = (word(2), word(4));
    let mut aux = std::collections::BTreeMap::new();
    for i in 0.. {
        let key = word(6 + 2 * i);
        if key == 0 {
            break;
        }
        aux.insert(key, word(7 + 2 * i));
    }
    assert_eq!(user::read_string(&mut m.hart, arg, 10).unwrap(), b"arg");
    assert_eq!(user::read_string(&mut m.hart, env, 10).unwrap(), b"A=1");
    assert_eq!((aux[&6], aux[&9], aux[&5]), (PAGE, CODE, 2));
    assert_eq!(user::read_string(&mut m.hart, aux[&31], 10).unwrap(), b"prog");
    assert!(aux[&16] & 1 << (b'v' - b'a') != 0);
}

#[test]
fn programs_that_do_not_fit_are_refused() {
    let load = |vaddr, memsz| Load { vaddr, flags: 6, bytes: vec![1], memsz };
    let refuse = |loads: &[Load]| {
        let file = elf(2, CODE, loads);
        let image = Image::parse(file).unwrap();
        Machine::user(config(), &image, options()).err().expect("must be refused").to_string()
    };
    assert!(refuse(&[load(CODE, 1 << 45)]).contains("bytes of memory"));
    assert!(refuse(&[load(1 << 38, 1)]).contains("link it lower"));
    assert!(refuse(&[load(u64::MAX - 1, 1)]).contains("link it lower"));
    assert!(refuse(&[load((1 << 38) - 2 * PAGE, 1)]).contains("stack"));
    let mut file = program(&[ECALL]);
    // The data segment becomes PT_INTERP; its contents name no interpreter.
    put(&mut file, 64 + 56, &3u32.to_le_bytes());
    put(&mut file, 64 + 56 * 2 + 4, b"/l/o\0");
    let image = Image::parse(file).unwrap();
    let error = Machine::user(config(), &image, options()).err().unwrap().to_string();
    assert!(error.contains("cannot load the interpreter /l/o"), "{error}");
    let many = ProcessOptions { args: vec![vec![b'x'; 1 << 20]; 4], ..options() };
    let roomy = Config { mem: 16 << 20, ..config() };
    let error = Machine::user(roomy, &Image::parse(program(&[ECALL])).unwrap(), many).err().unwrap();
    assert!(error.to_string().contains("too long"));
}

#[test]
fn memory_is_given_until_it_is_used_up() {
    let mut m = machine(&[ECALL]);
    let size = 1 << 20;
    assert_eq!(call(&mut m, 222, &[0, size + PAGE, 3, 0x22, u64::MAX, 0]), errno(Errno::NOMEM));
    let at = call(&mut m, 222, &[0, size, 3, 0x22, u64::MAX, 0]) as u64;
    let mut touched = 0;
    let trap = loop {
        match m.hart.store(at + touched, 1u64) {
            Ok(()) => touched += PAGE,
            Err(trap) => break trap,
        }
    };
    assert!(touched > size / 2 && touched < size);
    assert_eq!(trap.why, space::OUT_OF_MEMORY);
    // What is given back can be had again, and is zero.
    assert_eq!(call(&mut m, 233, &[at, size, 4]), 0);
    assert_eq!(m.hart.load::<u64>(at), Ok(0));
    assert_eq!(m.hart.load::<u64>(at + size - 8), Ok(0));
    assert_eq!(call(&mut m, 215, &[at, size]), 0);
    let gone = m.hart.load::<u64>(at).unwrap_err();
    assert_eq!((gone.cause, gone.why), (Cause::LoadPageFault, "no mapping at this address"));
}

#[test]
fn a_guest_that_uses_up_its_memory_is_told_why_it_ends() {
    let used_up = |m: &Machine| m.process.as_ref().unwrap().notes().join("\n");
    // By its own stores: sd zero, 0(a0); add a0, a0, a1; j .-8
    let mut m = machine(&[0x0005_3023, 0x00b5_0533, 0xff9f_f06f]);
    let at = call(&mut m, 222, &[0, 1 << 20, 3, 0x22, u64::MAX, 0]) as u64;
    (m.hart.pc, m.hart.x[10], m.hart.x[11]) = (CODE, at, PAGE);
    let Outcome::Signaled { signal: 11, trap: Some(trap) } = m.run(None) else { panic!("no signal") };
    assert_eq!(trap.why, space::OUT_OF_MEMORY);
    assert!(used_up(&m).contains("used up its memory, 1024 KiB"));
    // By a system call: getrandom.
    let mut m = machine(&[ECALL]);
    let at = call(&mut m, 222, &[0, 1 << 20, 3, 0x22, u64::MAX, 0]) as u64;
    m.hart.pc = CODE;
    (m.hart.x[17], m.hart.x[10], m.hart.x[11], m.hart.x[12]) = (278, at, 1 << 20, 0);
    let Outcome::Signaled { signal: 11, trap: Some(trap) } = m.run(None) else { panic!("no signal") };
    assert_eq!(trap.why, space::OUT_OF_MEMORY);
    assert!(used_up(&m).contains("1024 KiB"));
}

#[test]
fn many_mappings_cost_no_more_each() {
    let mut m = machine(&[ECALL]);
    let start = std::time::Instant::now();
    // No two neighbours are alike, so that each is an area.
    let mut places = Vec::new();
    for i in 0..60_000 {
        let at = call(&mut m, 222, &[0, PAGE * (1 + i % 3), 1 + i % 2, 0x22, u64::MAX, 0]);
        assert!(at > 0, "{i}: {at}");
        places.push(at as u64);
    }
    // Each second one goes, and comes back to the highest hole it fits.
    for (i, at) in places.iter().enumerate().skip(1).step_by(2) {
        assert_eq!(call(&mut m, 215, &[*at, PAGE * (1 + i as u64 % 3)]), 0);
    }
    for i in 0..100_000 {
        let at = call(&mut m, 222, &[0, PAGE * (1 + i % 4), 4, 0x22, u64::MAX, 0]);
        assert!(at > 0 || at == errno(Errno::NOMEM), "{i}: {at}");
        if i % 3 != 0 && at > 0 {
            assert_eq!(call(&mut m, 215, &[at as u64, PAGE * (1 + i % 4)]), 0);
        }
    }
    // It takes a second or two; when each searched all it took minutes.
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn a_file_open_to_read_cannot_be_written_through_a_mapping() {
    let folder = std::env::temp_dir().join(format!("rvvsim-mapping-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("file"), [7; 8192]).unwrap();
    let dirs = vec![Grant { path: folder.clone(), writable: true }];
    let options = ProcessOptions { dirs, ..options() };
    let mut m = Machine::user(config(), &Image::parse(program(&[ECALL])).unwrap(), options).unwrap();
    let mut path = folder.join("file").into_os_string().into_encoded_bytes();
    path.push(0);
    user::write(&mut m.hart, DATA, &path).unwrap();
    let open = |m: &mut Machine, flags| call(m, 56, &[u64::MAX - 99, DATA, flags, 0]) as u64;
    let (reads, both) = (open(&mut m, 0), open(&mut m, 2));
    const SHARED: u64 = 1;
    const PRIVATE: u64 = 2;
    assert_eq!(call(&mut m, 222, &[0, 8192, 3, SHARED, reads, 0]), errno(Errno::ACCESS));
    let shared = call(&mut m, 222, &[0, 8192, 1, SHARED, reads, 0]) as u64;
    assert_eq!(call(&mut m, 226, &[shared, 8192, 3]), errno(Errno::ACCESS));
    // Not by a part of it, nor after it was split or moved.
    assert_eq!(call(&mut m, 226, &[shared + PAGE, PAGE, 2]), errno(Errno::ACCESS));
    assert_eq!(call(&mut m, 226, &[shared + PAGE, PAGE, 0]), 0);
    assert_eq!(call(&mut m, 226, &[shared + PAGE, PAGE, 3]), errno(Errno::ACCESS));
    let moved = call(&mut m, 216, &[shared, PAGE, 4 * PAGE, 1]) as u64;
    assert_eq!(call(&mut m, 226, &[moved, PAGE, 3]), errno(Errno::ACCESS));
    assert!(m.hart.store(moved, 1u64).is_err());
    // A private one is the guest's own, and a file open to write may be written.
    let private = call(&mut m, 222, &[0, 8192, 1, PRIVATE, reads, 0]) as u64;
    assert_eq!(call(&mut m, 226, &[private, 8192, 3]), 0);
    m.hart.store(private, 1u64).unwrap();
    let writable = call(&mut m, 222, &[0, 8192, 1, SHARED, both, 0]) as u64;
    assert_eq!(call(&mut m, 226, &[writable, 8192, 3]), 0);
    m.hart.store(writable, 1u64).unwrap();
    assert_eq!(call(&mut m, 227, &[writable, 8192, 4]), 0);
    assert_eq!(std::fs::read(folder.join("file")).unwrap()[..9], [1, 0, 0, 0, 0, 0, 0, 0, 7]);
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn protection_is_checked_access_by_access() {
    let mut m = machine(&[ECALL]);
    let at = call(&mut m, 222, &[0, 3 * PAGE, 3, 0x22, u64::MAX, 0]) as u64;
    m.hart.store(at, 7u64).unwrap();
    assert!(m.hart.fetch_parcel(at).unwrap_err().why.contains("not executable"));
    assert_eq!(call(&mut m, 226, &[at, PAGE, 1]), 0);
    assert_eq!(m.hart.store(at, 8u64).unwrap_err().why, "store to a read-only page");
    assert_eq!(m.hart.load::<u64>(at), Ok(7));
    assert_eq!(call(&mut m, 226, &[at, PAGE, 0]), 0);
    assert!(m.hart.load::<u64>(at).unwrap_err().why.contains("without any permission"));
    assert_eq!(call(&mut m, 226, &[at, PAGE, 4]), 0);
    assert_eq!(m.hart.fetch_parcel(at), Ok(7));
    assert!(m.hart.load::<u64>(at).is_err());
    // On RISC-V what may be written may be read.
    assert_eq!(call(&mut m, 226, &[at, PAGE, 2]), 0);
    assert_eq!(m.hart.load::<u64>(at), Ok(7));
    let text = m.hart.store(CODE, 0u32).unwrap_err();
    assert_eq!(text.why, "store to a read-only page");
    let below = (1 << 38) - PAGE - (8 << 20) - 8;
    assert!(m.hart.store(below, 0u64).unwrap_err().why.contains("stack has overflowed"));
}

#[test]
fn tagged_addresses_are_as_good_as_others_once_that_is_selected() {
    const SET: u64 = 55;
    let tagged = |bits: u32, va: u64| va | 0x55_u64 << (64 - bits) & !0 << (64 - bits);
    let mut m = machine(&[ECALL]);
    assert!(m.hart.load::<u64>(tagged(7, DATA)).is_err());
    assert_eq!(call(&mut m, 167, &[SET, 5 << 24 | 1]), 0);
    assert_eq!(call(&mut m, 167, &[56]), 7 << 24 | 1);
    m.hart.store(tagged(7, DATA + 8), 5_u64).unwrap();
    assert_eq!(m.hart.load::<u64>(DATA + 8), Ok(5));
    assert_eq!(m.hart.load::<u64>(tagged(7, DATA + 8)), Ok(5));
    assert!(m.hart.load::<u64>(tagged(16, DATA)).is_err());
    assert!(m.hart.fetch_parcel(tagged(7, CODE)).is_err());
    // A system call takes them, too.
    assert_eq!(call(&mut m, 113, &[0, tagged(7, DATA)]), 0);
    assert_eq!(call(&mut m, 167, &[SET, 16 << 24]), 0);
    assert_eq!(m.hart.load::<u64>(tagged(16, DATA + 8)), m.hart.load::<u64>(DATA + 8));
    assert_eq!(call(&mut m, 167, &[SET, 17 << 24]), errno(Errno::INVAL));
    assert_eq!(call(&mut m, 167, &[SET, 0]), 0);
    assert!(m.hart.load::<u64>(tagged(7, DATA)).is_err());
}

#[test]
fn moved_mappings_keep_their_contents() {
    let mut m = machine(&[ECALL]);
    let at = call(&mut m, 222, &[0, 4 * PAGE, 3, 0x22, u64::MAX, 0]) as u64;
    for i in 0..4 {
        m.hart.store(at + i * PAGE, i + 1).unwrap();
    }
    let moved = call(&mut m, 216, &[at, 4 * PAGE, 10 * PAGE, 1]) as u64;
    assert_ne!(moved, at);
    for i in 0..10 {
        assert_eq!(m.hart.load::<u64>(moved + i * PAGE), Ok(if i < 4 { i + 1 } else { 0 }));
    }
    assert!(m.hart.load::<u64>(at).is_err());
    assert_eq!(call(&mut m, 216, &[moved, 10 * PAGE, PAGE, 0]) as u64, moved);
    assert!(m.hart.load::<u64>(moved + PAGE).is_err());
}

#[test]
fn the_lowest_address_of_user_space_and_the_last() {
    let mut m = machine(&[ECALL]);
    let (space, ram) = space_of(&mut m.hart);
    for va in [0, 8, USER_LAST, USER_LAST + 1, 1 << 47, u64::MAX] {
        assert!(space.translate(ram, va, Access::Load).is_err(), "{va:#x}");
    }
    assert!(matches!(space.translate(ram, DATA, Access::Store), Ok(Target::Ram(_))));
}

const USER_LAST: u64 = pages::USER_END - 1;

#[test]
fn bad_pointers_are_efault() {
    let mut m = machine(&[ECALL]);
    for number in [17, 43, 56, 64, 66, 73, 79, 101, 113, 132, 134, 135, 160, 163, 169, 179, 261, 278] {
        let far = u64::MAX - 7;
        let args = match number {
            56 | 79 => [u64::MAX - 99, far, far, 0],
            64 | 66 => [1, far, 1, 0],
            134 | 135 => [10, far, far, 8],
            73 => [far, 1, 0, 0],
            113 => [0, far, 0, 0],
            17 | 278 => [far, 100, 0, 0],
            163 => [3, far, 0, 0],
            261 => [0, 3, 0, far],
            _ => [far, 0, 0, 0],
        };
        assert_eq!(call(&mut m, number, &args), errno(Errno::FAULT), "{number}");
    }
}

#[test]
fn standard_streams_are_the_callers() {
    let mut m = machine(&[ECALL]);
    assert_eq!(call(&mut m, 63, &[0, DATA, 100]), 5);
    assert_eq!(call(&mut m, 63, &[0, DATA, 100]), 0);
    assert_eq!(call(&mut m, 64, &[2, DATA, 5]), 5);
    assert_eq!(call(&mut m, 64, &[0, DATA, 5]), errno(Errno::BADF));
    // A length as large as may be is not a buffer as large.
    assert_eq!(call(&mut m, 64, &[1, DATA, u64::MAX]), errno(Errno::FAULT));
    let process = m.process.as_mut().unwrap();
    assert_eq!(process.take_output(), (vec![], b"input".to_vec()));
}

#[test]
fn the_sandbox_has_nothing_to_open() {
    let mut m = machine(&[ECALL]);
    let cwd = u64::MAX - 99;
    for path in [&b"/etc/passwd\0"[..], b"Cargo.toml\0", b"/proc/self/mem\0", b"/dev/tty\0"] {
        user::write(&mut m.hart, DATA, path).unwrap();
        assert_eq!(call(&mut m, 56, &[cwd, DATA, 0, 0]), errno(Errno::NOENT));
        assert_eq!(call(&mut m, 56, &[cwd, DATA, 0o101, 0o644]), errno(Errno::ACCESS));
        assert_eq!(call(&mut m, 34, &[cwd, DATA, 0o755]), errno(Errno::NOENT));
        assert_eq!(call(&mut m, 35, &[cwd, DATA, 0]), errno(Errno::NOENT));
    }
}

#[test]
fn a_handler_sees_and_restores_every_register() {
    let mut m = machine(&[ECALL]);
    let handler = CODE + 0x40;
    user::write(&mut m.hart, DATA, &handler.to_le_bytes()).unwrap();
    assert_eq!(call(&mut m, 134, &[11, DATA, 0, 8]), 0);
    let hart = &mut m.hart;
    for r in 3..32u8 {
        hart.x[r] = u64::from(r) << 32;
        hart.f[r] = u64::from(r) << 40;
    }
    hart.pc = CODE;
    hart.frm = 3;
    hart.v.vtype = rvv_isa::Vtype::from_bits(0xd0);
    hart.v.vl = 3;
    hart.v.vstart = 2;
    hart.v.vxrm = 2;
    let len = 32 * hart.v.vlenb;
    for (i, byte) in hart.v.regs[..len].iter_mut().enumerate() {
        *byte = i as u8;
    }
    let (x, f, regs, sp) = (hart.x.clone(), hart.f.clone(), hart.v.regs.clone(), hart.x[2]);
    let trap = Trap::new(Cause::LoadPageFault, 0x1234, "no mapping at this address");
    let verdict = m.process.as_mut().unwrap().fault(&mut m.hart, trap);
    assert!(matches!(verdict, Verdict::Continue));
    let hart = &mut m.hart;
    assert_eq!((hart.pc, hart.x[10]), (handler, 11));
    let (info, context) = (hart.x[11], hart.x[12]);
    assert_eq!(hart.x[2] % 16, 0);
    assert_eq!(user::read_u32(hart, info + 8).unwrap(), 1);
    assert_eq!(user::read_u64(hart, info + 16).unwrap(), 0x1234);
    let machine_context = context + 176;
    assert_eq!(user::read_u64(hart, machine_context).unwrap(), CODE);
    assert_eq!(user::read_u64(hart, machine_context + 16).unwrap(), sp);
    assert_eq!(user::read_u32(hart, machine_context + 776).unwrap(), 0x5346_5457);
    let state = machine_context + 784;
    let words: Vec<u64> = (0..6).map(|i| user::read_u64(hart, state + 8 * i).unwrap()).collect();
    assert_eq!(words, [2, 3, 0xd0, 4, hart.v.vlenb as u64, state + 48]);
    // The handler moves the pc and vstart, and makes a mess of everything else.
    user::write_u64(hart, machine_context, CODE + 4).unwrap();
    user::write_u64(hart, state, 1).unwrap();
    for r in 3..32u8 {
        hart.x[r] = 1;
        hart.f[r] = 1;
    }
    hart.v.regs.fill(0xff);
    hart.v.vl = 0;
    hart.frm = 0;
    hart.x[17] = 139;
    m.process.as_mut().unwrap().syscall(&mut m.hart);
    let hart = &m.hart;
    assert_eq!((hart.pc, hart.x[2], hart.frm), (CODE + 4, sp, 3));
    assert_eq!((hart.v.vl, hart.v.vstart, hart.v.vxrm, hart.v.vtype.to_bits()), (3, 1, 2, 0xd0));
    assert_eq!(hart.x.architectural()[3..], x.architectural()[3..]);
    assert_eq!(hart.f.architectural()[3..], f.architectural()[3..]);
    assert_eq!(hart.v.regs[..len], regs[..len]);
}

#[test]
fn a_frame_that_is_no_frame_ends_the_process() {
    let mut m = machine(&[ECALL]);
    for sp in [0, DATA, u64::MAX - 15, 1 << 40] {
        m.hart.x[2] = sp;
        m.hart.x[17] = 139;
        user::write(&mut m.hart, DATA, &[0xff; 4096]).unwrap();
        let verdict = m.process.as_mut().unwrap().syscall(&mut m.hart);
        assert!(matches!(verdict, Verdict::Kill { signal: 11, .. }));
    }
}

#[test]
fn waiting_for_nobody_is_said() {
    let mut m = machine(&[ECALL]);
    m.hart.x[17] = 98;
    m.hart.x[10] = DATA + 0x100;
    m.hart.x[11] = 0;
    m.hart.x[12] = 0;
    m.hart.x[13] = 0;
    let verdict = m.process.as_mut().unwrap().syscall(&mut m.hart);
    assert!(matches!(verdict, Verdict::Unsupported(why) if why.contains("deadlock")));
}

#[test]
fn counted_clocks_repeat_and_sleep_at_once() {
    let run = || {
        let mut m = machine(&[ECALL]);
        user::write(&mut m.hart, DATA, &3600u64.to_le_bytes()).unwrap();
        user::write(&mut m.hart, DATA + 8, &0u64.to_le_bytes()).unwrap();
        assert_eq!(call(&mut m, 101, &[DATA, 0]), 0);
        assert_eq!(call(&mut m, 113, &[0, DATA]), 0);
        user::read_u64(&mut m.hart, DATA).unwrap()
    };
    assert_eq!(run(), run());
    assert_eq!(run(), 1_704_067_200 + 3600);
}

#[test]
fn no_system_call_with_any_arguments_panics() {
    let mut state = 1u64;
    let mut random = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    for _ in 0..40 {
        let mut m = machine(&[ECALL; 4]);
        for _ in 0..2000 {
            let number = match random() % 20 {
                0 => random(),
                1 => 1024,
                _ => random() % 470,
            };
            let mut args = [0; 6];
            for arg in &mut args {
                *arg = match random() % 9 {
                    0 => 0,
                    1 => random() % 8,
                    2 => random() % 5000,
                    3 => DATA + random() % PAGE,
                    4 => random(),
                    5 => u64::MAX - random() % 200,
                    6 => m.hart.x[2] & !(PAGE - 1),
                    7 => (1 << 38) - random() % (16 << 20),
                    _ => 1 << (random() % 64),
                };
            }
            m.hart.pc = CODE;
            m.hart.x[17] = number;
            for (i, arg) in args.iter().enumerate() {
                m.hart.x[10 + i as u8] = *arg;
            }
            let verdict = m.process.as_mut().unwrap().syscall(&mut m.hart);
            if !matches!(verdict, Verdict::Continue) {
                break;
            }
        }
    }
}

#[test]
fn the_processor_is_described_as_it_is() {
    let mut m = machine(&[ECALL]);
    m.hart.config.isa = rvv_isa::Isa::parse("rv64gc_zba_zicboz").unwrap();
    let mut probe = |key: i64| {
        user::write_u64(&mut m.hart, DATA, key as u64).unwrap();
        assert_eq!(call(&mut m, 258, &[DATA, 1]), 0);
        (user::read_u64(&mut m.hart, DATA).unwrap() as i64, user::read_u64(&mut m.hart, DATA + 8).unwrap())
    };
    let (_, bits) = probe(4);
    // F and D, C, Zba, Zicboz, but neither V nor Zbb.
    assert_eq!(bits & 0x7f, 0b100_1011);
    assert_eq!(probe(3), (3, 1));
    assert_eq!(probe(6), (6, 64));
    assert_eq!(probe(7), (7, pages::USER_END - 1));
    assert_eq!(probe(9), (9, 3));
    assert_eq!(probe(10), (10, 4));
    assert_eq!(probe(1000), (-1, 0));
    assert_eq!(probe(-5), (-1, 0));
    assert_eq!(call(&mut m, 167, &[70]), errno(Errno::INVAL));
    m.hart.config.isa = rvv_isa::Isa::rva23u64();
    assert_eq!(call(&mut m, 167, &[70]), 2);
    assert_eq!(call(&mut m, 167, &[69, 2 | 1 << 2]), 0);
    assert_eq!(call(&mut m, 167, &[69, 1]), errno(Errno::PERM));
}

#[test]
fn no_corrupted_program_panics() {
    let good = program(&[addi(10, 0, 1), lui(11, DATA as u32 >> 12), addi(12, 0, 6), addi(17, 0, 64), ECALL]);
    let mut state = 88_172_645_463_325_252u64;
    for _ in 0..3000 {
        let mut file = good.clone();
        for _ in 0..3 {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let at = state as usize % file.len();
            let len = (file.len() - at).min(1 << (state >> 40 & 3));
            file[at..at + len].copy_from_slice(&(state >> 13).to_le_bytes()[..len]);
        }
        let Ok(image) = Image::parse(file) else { continue };
        let config = Config { max_insns: Some(500), ..config() };
        if let Ok(mut machine) = Machine::user(config, &image, options()) {
            machine.run(None);
        }
    }
}

#[path = "escape_tests.rs"]
mod escape;
