//! Observers are told what they are promised, and nothing changes by that.

use super::command::guest::*;
use rvv_asm::asm::Asm;
use rvv_isa::{Inst, Op};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::observe::{self, Access, Costs, CycleEstimate, Observer, SystemCall, VectorOperation, Wants};
use rvvsim::trace::Decoder;
use rvvsim::{Config, Hart, Machine, Outcome, TraceFormat, Trap};

fn machine(image: &Image, vlen: u32) -> Machine {
    let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
    Machine::user(Config { vlen, ..Config::default() }, image, options).expect("it loads")
}

/// Everything, as lines.
#[derive(Default)]
struct All(Vec<String>);

impl Observer for All {
    fn wants(&self) -> Wants {
        Wants { accesses: true, vectors: true }
    }

    fn before(&mut self, hart: &Hart, inst: Option<&Inst>) {
        self.0.push(format!("before {:#x} {}", hart.pc(), inst.is_some()));
    }

    fn after(&mut self, _: &Hart, _: Option<&Inst>, trap: Option<&Trap>) {
        self.0.push(format!("after{}", if trap.is_some() { " trap" } else { "" }));
    }

    fn retired(&mut self, _: &Hart, _: u64, inst: &Inst) {
        self.0.push(format!("retired {}", inst.op.name()));
    }

    fn access(&mut self, _: &Hart, access: &Access) {
        let kind = if access.stored.is_some() { "store" } else { "load" };
        self.0.push(format!("{kind} {:#x} {}", access.va, access.size));
    }

    fn vector(&mut self, _: &Hart, operation: &VectorOperation) {
        let active: Vec<usize> = operation.active.iter().collect();
        assert_eq!(operation.active.count(), active.len() as u64);
        self.0.push(format!("vector {} of {} {active:?}", operation.inst.op.name(), operation.vl));
    }

    fn system_call(&mut self, _: &Hart, call: &SystemCall) {
        self.0.push(format!("call {} {}", call.number, call.arguments[0]));
    }

    fn system_return(&mut self, _: &Hart, call: &SystemCall, result: u64) {
        self.0.push(format!("return {} {result}", call.number));
    }

    fn trap(&mut self, _: &Hart, trap: &Trap) {
        self.0.push(format!("trap {:?}", trap.cause));
    }
}

/// A masked vector store with three active elements, and the system calls of [`linux`].
fn program(end: impl FnOnce(&mut Asm)) -> Vec<u8> {
    linux(|a| {
        vsetivli(a, 5, E32_M1_TA_MA + 1);
        vmv_v_i(a, 0, 0b1011);
        vmv_v_i(a, 8, 7);
        a.li(A0, DATA + 64);
        a.inst(&Inst { rd: 8, rs1: A0, vm: false, ..Inst::new(Op::Vse32V) });
        a.li(A4, 0);
        end(a);
    })
}

#[test]
fn events_come_in_the_order_that_is_promised() {
    let file = program(|_| ());
    let image = Image::parse(file.as_slice()).expect("an ELF");
    let mut all = All::default();
    let mut observed = machine(&image, 128);
    assert_eq!(observed.run_observed(None, &mut all), Some(Outcome::Exited(0)));
    let at = all.0.iter().position(|line| line.starts_with("vector vse32.v")).expect("the store");
    let store = format!("{:#x}", DATA + 64);
    assert_eq!(
        all.0[at..at + 6],
        [
            "vector vse32.v of 5 [0, 1, 3]".to_owned(),
            format!("store {store} 4"),
            format!("store {:#x} 4", DATA + 68),
            format!("store {:#x} 4", DATA + 76),
            "retired vse32.v".to_owned(),
            "after".to_owned(),
        ]
    );
    let write = all.0.iter().position(|line| line == "call 64 1").expect("a write");
    assert_eq!(all.0[write - 1], "after trap", "{:?}", &all.0[write - 3..write]);
    assert_eq!(all.0[write + 1], "return 64 2");
    assert_eq!(all.0.last().map(String::as_str), Some("call 93 0"), "exit does not return");
    assert!(!all.0.iter().any(|line| line.starts_with("trap")), "a call is no trap");
    // Nothing changes by looking.
    let mut alone = machine(&image, 128);
    assert_eq!(alone.run(None), Outcome::Exited(0));
    assert_eq!(alone.instructions_retired(), observed.instructions_retired());
    assert_eq!(alone.stdout(), observed.stdout());
    let retired = all.0.iter().filter(|line| line.starts_with("retired")).count() as u64;
    assert_eq!(retired, observed.instructions_retired());
}

/// What `accesses` says ahead of each instruction, and what the instruction then does.
#[derive(Default)]
struct Foreseen {
    ahead: Vec<(u64, u64, bool)>,
    done: Vec<(u64, u64, bool)>,
    compared: u64,
}

impl Observer for Foreseen {
    fn wants(&self) -> Wants {
        Wants { accesses: true, ..Wants::default() }
    }

    fn before(&mut self, hart: &Hart, inst: Option<&Inst>) {
        self.ahead.clear();
        self.done.clear();
        let Some(inst) = inst else { return };
        observe::accesses(hart, inst, |access| {
            let one = |stores| (access.va, access.size, stores);
            self.ahead.extend(
                [access.loads.then(|| one(false)), access.stores.then(|| one(true))].into_iter().flatten(),
            );
            true
        });
    }

    fn access(&mut self, _: &Hart, access: &Access) {
        self.done.push((access.va, access.size as u64, access.stored.is_some()));
    }

    fn retired(&mut self, hart: &Hart, pc: u64, inst: &Inst) {
        // The bytes of a block that is zeroed, or of a register that is moved whole, may be told as words.
        let total = |all: &[(u64, u64, bool)]| {
            let mut bytes: Vec<(u64, bool)> = all
                .iter()
                .flat_map(|&(va, size, stores)| (va..va + size).map(move |va| (va, stores)))
                .collect();
            bytes.sort_unstable();
            bytes
        };
        // A load that stops at a fault, and an sc that fails, do less.
        if matches!(inst.op, Op::ScW | Op::ScD) || inst.op.name().contains("ff.v") {
            let ahead = total(&self.ahead);
            assert!(total(&self.done).iter().all(|byte| ahead.contains(byte)), "{pc:#x} {}", inst.op.name());
        } else {
            assert_eq!(
                total(&self.ahead),
                total(&self.done),
                "{pc:#x} {} vl {}",
                inst.op.name(),
                hart.vector().vl
            );
        }
        self.compared += u64::from(!self.done.is_empty());
    }
}

#[test]
fn accesses_are_known_ahead() {
    let named = |name: &str, inst: Inst| Inst { op: Op::from_name(name).expect("an instruction"), ..inst };
    let at = |vm: bool, nf: u8| Inst { rd: 16, rs1: A0, rs2: 8, vm, nf, ..Inst::new(Op::Vle32V) };
    let file = linux(|a| {
        vsetivli(a, 5, E32_M1_TA_MA + 1);
        vmv_v_i(a, 0, 0b1011);
        vmv_v_i(a, 8, 12);
        a.inst(&Inst { rd: 10, ..Inst::new(Op::from_name("vid.v").expect("an instruction")) });
        a.inst(&named("vadd.vv", Inst { rd: 8, rs1: 10, rs2: 8, ..Inst::new(Op::VaddVv) }));
        a.li(A0, DATA + 256);
        for vm in [true, false] {
            for name in [
                "vle32.v",
                "vse32.v",
                "vle8.v",
                "vse16.v",
                "vle64.v",
                "vle32ff.v",
                "vluxei32.v",
                "vsoxei32.v",
            ] {
                a.inst(&named(name, at(vm, 0)));
            }
            for (name, nf) in [("vle32.v", 2), ("vse16.v", 1), ("vluxei32.v", 1), ("vsuxei8.v", 2)] {
                a.inst(&named(name, at(vm, nf)));
            }
            a.li(A1, 24);
            for (name, nf) in [("vlse32.v", 0), ("vsse8.v", 0), ("vlse32.v", 1), ("vsse16.v", 2)] {
                a.inst(&named(name, Inst { rs2: A1, ..at(vm, nf) }));
            }
        }
        for (name, nf) in [("vl2re32.v", 1), ("vs4r.v", 3), ("vlm.v", 0), ("vsm.v", 0)] {
            a.inst(&named(name, at(true, nf)));
        }
        for op in [Op::Lb, Op::Lhu, Op::Lw, Op::Ld, Op::Flw, Op::Fld] {
            a.rri(op, A2, A0, 16);
        }
        for op in [Op::Sb, Op::Sh, Op::Sw, Op::Sd, Op::Fsw, Op::Fsd] {
            a.store(op, A2, -16, A0);
        }
        for op in [Op::LrW, Op::ScW, Op::AmoaddD, Op::LrD, Op::ScD, Op::ScD, Op::AmoswapW, Op::CboZero] {
            a.rrr(op, A2, A0, A3);
        }
        a.li(A4, 0);
    });
    let demo = include_bytes!("../../demo/demo.elf");
    for (file, least) in [(file.as_slice(), 55), (demo, 1000)] {
        let image = Image::parse(file).expect("an ELF");
        for vlen in [128, 512] {
            let mut foreseen = Foreseen::default();
            let outcome = machine(&image, vlen).run_observed(None, &mut foreseen);
            assert_eq!(outcome, Some(Outcome::Exited(0)));
            assert!(foreseen.compared >= least, "{}", foreseen.compared);
        }
    }
}

#[test]
fn traps_are_told_and_bits_without_meaning_are_no_instruction() {
    let file = program(|a| {
        a.raw(0xffff_ffff, 4);
    });
    let image = Image::parse(file.as_slice()).expect("an ELF");
    let mut all = All::default();
    let outcome = machine(&image, 128).run_observed(None, &mut all);
    assert!(matches!(outcome, Some(Outcome::Signaled { signal: 4, .. })), "{outcome:?}");
    let last = &all.0[all.0.len() - 3..];
    assert!(last[0].starts_with("before") && last[0].ends_with("false"), "{last:?}");
    assert_eq!(last[1..], ["trap IllegalInstruction", "after trap"]);
}

/// What is not asked for is not told, and an observer ends a run when it has seen enough.
#[test]
fn observers_get_what_they_want() {
    #[derive(Default)]
    struct Few(u64);
    impl Observer for Few {
        fn retired(&mut self, _: &Hart, _: u64, _: &Inst) {
            self.0 += 1;
        }
        fn access(&mut self, _: &Hart, _: &Access) {
            panic!("nobody wants to know");
        }
        fn vector(&mut self, _: &Hart, _: &VectorOperation) {
            panic!("nobody wants to know");
        }
        fn is_done(&self) -> bool {
            self.0 == 7
        }
    }
    let file = program(|_| ());
    let image = Image::parse(file.as_slice()).expect("an ELF");
    let (mut few, mut machine) = (Few::default(), machine(&image, 128));
    assert_eq!(machine.run_observed(None, &mut few), None);
    assert_eq!(machine.instructions_retired(), 7);
}

/// By hand: an instruction a cycle, and what waits for what.
#[test]
fn cycles_follow_the_table_of_costs() {
    let cycles = |dlen: u32, body: &dyn Fn(&mut Asm)| {
        let file = linux(|a| body(a));
        let image = Image::parse(file.as_slice()).expect("an ELF");
        let mut estimate = CycleEstimate::new(Costs::with_dlen(dlen));
        assert_eq!(machine(&image, 512).run_observed(None, &mut estimate), Some(Outcome::Exited(0)));
        estimate.cycles()
    };
    let none = cycles(128, &|_| ());
    let add = |rd: u8, rs1: u8| move |a: &mut Asm| a.rri(Op::Addi, rd, rs1, 1);
    assert_eq!(cycles(128, &|a| (0..5).for_each(|_| add(T0, T0)(a))), none + 5, "one a cycle");
    // A product takes three cycles until it can be used, and the next starts after one.
    let mul = |a: &mut Asm, rd: u8, rs1: u8| a.rrr(Op::Mul, rd, rs1, rs1);
    assert_eq!(cycles(128, &|a| (mul(a, T0, T1), add(T2, T0)(a)).1), none + 4);
    assert_eq!(cycles(128, &|a| (mul(a, T0, T1), add(T2, T1)(a)).1), none + 2);
    // 16 elements of 32 bits: four steps of a unit of 128 bits, one of 512. Nine wait for the one before,
    // which writes the same register; the last ends while scalar instructions execute.
    let chain = |a: &mut Asm| {
        a.inst(&Inst { rd: T0, rs1: 0, imm: E32_M1_TA_MA, ..Inst::new(Op::Vsetvli) });
        for _ in 0..10 {
            a.inst(&Inst { rd: 8, rs1: 9, rs2: 10, ..Inst::new(Op::VaddVv) });
        }
    };
    assert_eq!(cycles(128, &chain) - cycles(512, &chain), 9 * 3);
}

fn traces(vlen: u32, validity: bool) -> (String, Vec<u8>) {
    let demo = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("demo/demo.elf");
    let image = Image::open(&demo).expect("the demo");
    let (mut text, mut binary) = (Vec::new(), Vec::new());
    for (out, is_binary) in [(&mut text, false), (&mut binary, true)] {
        let format = TraceFormat { validity, binary: is_binary };
        let outcome = machine(&image, vlen).run_traced_as(None, out, format);
        assert_eq!(outcome.expect("memory"), Outcome::Exited(0));
    }
    (String::from_utf8(text).expect("text"), binary)
}

fn decoded(binary: &[u8]) -> std::io::Result<String> {
    let mut decoder = Decoder::new(binary)?;
    let mut text = String::new();
    while let Some(commit) = decoder.decode()? {
        commit.text(&mut text);
        assert!(text.len() < 1 << 30);
    }
    Ok(text)
}

#[test]
fn a_binary_trace_is_the_same_in_few_bytes() {
    for (vlen, validity) in [(128, false), (1024, true)] {
        let (text, binary) = traces(vlen, validity);
        assert!(decoded(&binary).expect("our own") == text, "VLEN {vlen}");
        assert!(binary.len() * 4 < text.len(), "{} of {} bytes", binary.len(), text.len());
        assert_eq!(text.contains('&'), validity);
    }
}

/// Files of others end in the middle, or make no sense: an error, and nothing else.
#[test]
fn hostile_traces_are_refused() {
    let (_, binary) = traces(128, true);
    let binary = &binary[..binary.len().min(4000)];
    for end in (0..binary.len()).step_by(7) {
        let _ = decoded(&binary[..end]);
    }
    assert!(decoded(b"\x7fELF").is_err() && decoded(b"rvvtrc1\n\xff\xff\xff\xff\x0f").is_err());
    let mut seed = 1_u64;
    for _ in 0..3000 {
        let mut hostile = binary.to_vec();
        for _ in 0..3 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let at = 9 + (seed >> 33) as usize % (hostile.len() - 9);
            hostile[at] = (seed >> 16) as u8;
        }
        let _ = decoded(&hostile);
    }
}

/// By hand, from the manual: of a load of 3 elements of 32 bits, tail-agnostic, the fourth is agnostic; of a
/// comparison all bits past vl are; of undisturbed and of whole registers none.
#[test]
fn a_trace_says_which_bits_are_agnostic() {
    const TU_MU: i32 = 0x10;
    let file = linux(|a| {
        a.li(A0, DATA);
        vsetivli(a, 3, E32_M1_TA_MA);
        memory(a, "vle32.v", 8, A0);
        a.inst(&Inst { rd: 9, rs1: 8, rs2: 8, ..Inst::new(Op::VmseqVv) });
        a.inst(&Inst { rd: 10, rs2: 8, ..Inst::new(Op::Vmv1rV) });
        vmv_v_i(a, 0, 1);
        a.inst(&Inst { rd: 11, rs1: 8, rs2: 8, vm: false, ..Inst::new(Op::VaddVv) });
        vsetivli(a, 3, TU_MU);
        memory(a, "vle32.v", 12, A0);
        // Two registers, of which the second is agnostic as a whole.
        vsetivli(a, 2, E32_M1_TA_MA + 1);
        vmv_v_i(a, 14, 1);
        a.li(A4, 0);
    });
    let image = Image::parse(file.as_slice()).expect("an ELF");
    let mut log = Vec::new();
    let format = TraceFormat { validity: true, binary: false };
    machine(&image, 128).run_traced_as(None, &mut log, format).expect("memory");
    let log = String::from_utf8(log).expect("text");
    let valid = |register: &str| {
        let mut words = log.split_whitespace();
        words.find(|word| *word == register).expect("it is written");
        words.next().expect("a value").split_once("&0x").map(|(_, mask)| mask.to_owned())
    };
    assert_eq!(valid("v8").as_deref(), Some("00000000ffffffffffffffffffffffff"));
    assert_eq!(valid("v9").as_deref(), Some("00000000000000000000000000000007"));
    assert_eq!(valid("v10"), None);
    assert_eq!(valid("v11").as_deref(), Some("000000000000000000000000ffffffff"));
    assert_eq!(valid("v12"), None);
    assert_eq!(valid("v14").as_deref(), Some("0000000000000000ffffffffffffffff"));
    assert_eq!(valid("v15").as_deref(), Some("00000000000000000000000000000000"));
}
