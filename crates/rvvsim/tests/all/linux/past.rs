//! A process that goes back to snapshots and forward again, at random: what it passes is as it was the first
//! time, and it ends as if it had never been away.

use super::calls::{Call, DATA, LAST, ZEROES, ZEROES_LEN, guest};
use super::guests::{GUESTS, Scratch, compile, ending, expected, machine, sysroot};
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use rvvsim::linux::{Input, Output, ProcessOptions, Seen, VectorCalls};
use rvvsim::{Config, Machine, Outcome, Snapshot};
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Snapshots that are kept at a time.
const SNAPSHOTS: usize = 6;

/// What a program could tell of its state.
#[derive(PartialEq, Eq, Debug)]
struct State {
    pc: u64,
    x: [u64; 32],
    f: [u64; 32],
    csrs: Vec<Option<u64>>,
    vector: u64,
    memory: u64,
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

/// The beginnings and ends of all mappings. To look at memory is to touch it, which is a reason not to.
fn memory(machine: &mut Machine) -> u64 {
    const MOST: u64 = 1 << 14;
    let (process, hart) = machine.process_and_hart().unwrap();
    let Ok(Seen::Bytes(maps)) = process.look_at_file(hart, b"/proc/self/maps") else { panic!("no maps") };
    let maps = String::from_utf8(maps).unwrap();
    let mut all = Vec::new();
    let mut bytes = vec![0; MOST as usize];
    for line in maps.lines() {
        let (start, rest) = line.split_once('-').unwrap();
        let (end, _) = rest.split_once(' ').unwrap();
        let [start, end] = [start, end].map(|digits| u64::from_str_radix(digits, 16).unwrap());
        for at in [start, end.saturating_sub(MOST).max(start)] {
            let there = hart.peek(at, &mut bytes[..(end - at).min(MOST) as usize]);
            all.push(hash(&bytes[..there]));
        }
    }
    // Which file is behind a mapping is the same, what its line says, too.
    hash(maps.as_bytes()) ^ hash(&all.iter().flat_map(|h| h.to_le_bytes()).collect::<Vec<u8>>())
}

fn state(machine: &mut Machine, with_memory: bool) -> State {
    let memory = if with_memory { memory(machine) } else { 0 };
    let hart = machine.hart();
    // fcsr, vstart, vxsat, vxrm, instret, vl, vtype
    let csrs = [0x003, 0x008, 0x009, 0x00a, 0xc02, 0xc20, 0xc21];
    State {
        pc: hart.pc(),
        x: *hart.x_registers(),
        f: *hart.f_registers(),
        csrs: csrs.map(|number| hart.read_csr(number)).to_vec(),
        vector: hash(hart.vector().registers()),
        memory,
    }
}

/// Runs on by so many steps at most; how the program ended, if it did.
fn go(machine: &mut Machine, steps: u64) -> Option<Outcome> {
    machine.pause_at(Some(machine.steps() + steps));
    let outcome = machine.run(None);
    assert!(!machine.take_lost_past(), "it came out as it was");
    (outcome != Outcome::OutOfInstructions).then_some(outcome)
}

struct Walk {
    dice: u64,
    with_memory: bool,
    seen: BTreeMap<u64, State>,
    kept: Vec<(u64, Snapshot)>,
    /// How often it went back.
    returns: u32,
}

impl Walk {
    fn roll(&mut self, sides: u64) -> u64 {
        rvv_isa::random::next(&mut self.dice) % sides
    }

    /// What is here is what was here.
    fn look(&mut self, machine: &mut Machine) {
        let (now, state) = (machine.steps(), state(machine, self.with_memory));
        if let Some(was) = self.seen.get(&now) {
            assert_eq!(state, *was, "after {now} steps");
        }
        self.seen.insert(now, state);
    }

    /// Goes back and forward, `longest` steps at a time, until the program ends for the last time.
    fn walk(&mut self, machine: &mut Machine, most_returns: u32, longest: u64) -> Outcome {
        loop {
            let n = match self.roll(3) {
                0 => 1 + self.roll(20),
                _ => 1 + self.roll(longest),
            };
            let end = go(machine, n);
            if end.is_none() {
                self.look(machine);
                if !machine.is_in_past() && self.roll(2) == 0 {
                    self.keep(machine);
                }
            }
            if end.is_some() || self.roll(3) == 0 {
                let went = self.returns < most_returns && self.back(machine);
                if let (Some(end), false) = (end, went) {
                    return end;
                }
            }
        }
    }

    fn keep(&mut self, machine: &Machine) {
        let Some(snapshot) = machine.snapshot_like(self.kept.last().map(|(_, like)| like)) else { return };
        if self.kept.len() == SNAPSHOTS {
            let n = self.roll(SNAPSHOTS as u64) as usize;
            self.kept.remove(n);
        }
        self.kept.push((machine.steps(), snapshot));
    }

    /// To a place that was seen, or behind a snapshot.
    fn back(&mut self, machine: &mut Machine) -> bool {
        self.kept.retain(|(_, snapshot)| machine.can_restore(snapshot));
        if self.kept.is_empty() {
            return false;
        }
        let n = self.roll(self.kept.len() as u64) as usize;
        assert!(machine.restore(&self.kept[n].1));
        assert_eq!(machine.steps(), self.kept[n].0);
        self.look(machine);
        let start = self.kept[n].0;
        let there: Vec<u64> = self.seen.range(start..).map(|(at, _)| *at).collect();
        if !there.is_empty() {
            let to = there[self.roll(there.len() as u64) as usize];
            assert_eq!(go(machine, to - start), None);
            assert_eq!(machine.steps(), to);
            self.look(machine);
        }
        self.returns += 1;
        true
    }
}

/// Walks through a program that has not begun.
fn walk(machine: &mut Machine, seed: u64, longest: u64) -> (Outcome, u32) {
    machine.record();
    let (seen, with_memory) = (BTreeMap::new(), seed.is_multiple_of(2));
    let mut walk = Walk { dice: seed, with_memory, seen, kept: Vec::new(), returns: 0 };
    walk.keep(machine);
    let outcome = walk.walk(machine, 25, longest);
    (outcome, walk.returns)
}

fn check_guests(name: &str, flags: &[&str], with_libraries: bool) {
    let scratch = Scratch::new(name);
    let sysroot = sysroot().filter(|_| with_libraries);
    for (i, (source, args)) in GUESTS.into_iter().enumerate() {
        if with_libraries && sysroot.is_none() || source == "libraries.c" && !with_libraries {
            continue;
        }
        let Some(program) = compile(source, &scratch, flags) else { return };
        for seed in 1..=2 {
            let vlen = [128, 1024][(i + seed as usize) % 2];
            let tail = if seed == 1 { Agnostic::Random(7) } else { Agnostic::default() };
            let config = Config { vlen, tail, ..Config::default() };
            let mut machine = machine(config, &program, args, &scratch.work(), sysroot.clone());
            let (outcome, returns) = walk(&mut machine, seed, 40_000);
            assert_eq!(ending(&machine, &outcome), expected(source), "{source} {flags:?} {seed}");
            assert!(returns > 4, "{source}: {returns}");
        }
    }
}

#[test]
fn static_programs_go_back_and_forward() {
    check_guests("past-static", &["-static"], false);
}

#[test]
fn dynamic_programs_go_back_and_forward() {
    check_guests("past-dynamic", &["-ldl"], true);
}

fn process(calls: &[Call], data: &[u8], options: ProcessOptions) -> Machine {
    let elf = guest(calls, data);
    Machine::user(Config::default(), &Image::parse(&elf).unwrap(), options).unwrap()
}

/// What the log and the mapped files of it may take is bounded: the past then begins later.
#[test]
fn what_is_longer_ago_than_is_kept_is_refused() {
    let read: Call = (63, &[0, ZEROES, ZEROES_LEN]);
    let calls = [vec![read; 40], vec![(64, &[1, ZEROES, 3])]].concat();
    let input = Input::Bytes((0..40 * ZEROES_LEN).map(|n| (n / ZEROES_LEN) as u8 + b'A').collect());
    let options = ProcessOptions { stdin: input, stdout: Output::Capture, ..ProcessOptions::default() };
    let mut machine = process(&calls, &[], options);
    machine.record();
    let first = machine.snapshot().expect("it is recorded");
    let (mut late, mut calls) = (None, 0);
    while calls < 40 {
        let steps = machine.steps() - machine.instructions_retired();
        assert_eq!(go(&mut machine, 1), None);
        calls += machine.steps() - machine.instructions_retired() - steps;
        if calls == 30 && late.is_none() {
            late = machine.snapshot();
        }
    }
    assert!(!machine.can_restore(&first) && !machine.restore(&first));
    assert!(machine.why_no_past().unwrap().contains("longer ago"));
    let before = state(&mut machine, true);
    let (steps, late) = (machine.steps(), late.expect("a snapshot"));
    assert!(machine.restore(&late));
    let left = steps - machine.steps();
    assert_eq!(go(&mut machine, left), None);
    assert_eq!(state(&mut machine, true), before);
    machine.pause_at(None);
    assert_eq!(machine.run(None), Outcome::Exited(3));
    assert_eq!(machine.stdout(), b"hhh");
}

#[test]
fn memory_that_others_see_has_no_past() {
    let scratch = Scratch::new("past-shared");
    let work = scratch.work();
    std::fs::write(work.join("file"), vec![b'x'; 8192]).unwrap();
    let name = [work.join("file").to_str().unwrap().as_bytes(), b"\0"].concat();
    let dirs = vec![rvvsim::linux::Grant { path: work, writable: true }];
    let calls: [Call; 5] = [
        (172, &[]),
        (56, &[u64::MAX - 99, DATA, 2]),
        // Shared, then no more.
        (222, &[0, 4096, 3, 1, LAST, 0]),
        (215, &[LAST, 4096]),
        (172, &[]),
    ];
    let mut machine = process(&calls, &name, ProcessOptions { dirs, ..ProcessOptions::default() });
    machine.record();
    let mut snapshots = Vec::new();
    let mut kept = Vec::new();
    while go(&mut machine, 1).is_none() {
        kept.extend(machine.snapshot());
        snapshots.push(kept.iter().filter(|kept| machine.can_restore(kept)).count());
    }
    let most = |part: &[usize]| part.iter().copied().max();
    let shared = snapshots.iter().position(|n| *n == 0).expect("a time without a past");
    let behind = snapshots.iter().rposition(|n| *n == 0).unwrap();
    assert!(most(&snapshots[..shared]) > Some(5) && most(&snapshots[behind..]) > Some(5));
    assert!(snapshots[shared..=behind].iter().all(|n| *n == 0));
}

/// What the ABI lets a call do to vector registers is done again.
#[test]
fn vector_registers_after_calls_are_as_they_were() {
    for vector_calls in [VectorCalls::Keep, VectorCalls::Zero, VectorCalls::Ones] {
        let calls: Vec<Call> = vec![(172, &[]), (278, &[DATA, 16, 0]), (113, &[1, DATA + 32])];
        let mut machine =
            process(&calls, &[0; 64], ProcessOptions { vector_calls, ..ProcessOptions::default() });
        machine.hart_mut().vector_mut().registers_mut().fill(7);
        let (outcome, returns) = walk(&mut machine, 2, 10);
        assert_eq!((outcome, returns), (Outcome::Exited(0), 25));
    }
}

/// A page that was not there at the time of a snapshot is what it was when it was touched first.
#[test]
fn mapped_files_are_in_the_past_what_they_were() {
    const MAPPED: u64 = 0x40_0000;
    let scratch = Scratch::new("past-mapped");
    let work = scratch.work();
    let file = work.join("file");
    std::fs::write(&file, vec![b'x'; 3 * 4096]).unwrap();
    let name = [file.to_str().unwrap().as_bytes(), b"\0"].concat();
    let dirs = vec![rvvsim::linux::Grant { path: work, writable: false }];
    let calls: [Call; 5] = [
        (56, &[u64::MAX - 99, DATA, 0]),
        // MAP_PRIVATE, MAP_FIXED
        (222, &[MAPPED, 3 * 4096, 1, 0x12, LAST, 0]),
        (172, &[]),
        // MADV_DONTNEED
        (233, &[MAPPED, 4096, 4]),
        (172, &[]),
    ];
    let mut machine = process(&calls, &name, ProcessOptions { dirs, ..ProcessOptions::default() });
    machine.record();
    let look = |machine: &mut Machine, page: u64| {
        let mut bytes = [0; 4];
        machine.hart_mut().peek(MAPPED + 4096 * page, &mut bytes);
        bytes
    };
    let behind_call = |machine: &mut Machine, number: u64| {
        while machine.steps() - machine.instructions_retired() < number {
            assert_eq!(go(machine, 1), None);
        }
    };
    behind_call(&mut machine, 2);
    let snapshot = machine.snapshot().expect("it is recorded");
    behind_call(&mut machine, 3);
    assert_eq!(look(&mut machine, 0), *b"xxxx");
    std::fs::write(&file, vec![b'y'; 3 * 4096]).unwrap();
    assert!(machine.restore(&snapshot));
    assert_eq!(look(&mut machine, 0), *b"xxxx");
    behind_call(&mut machine, 5);
    assert!(!machine.is_in_past() && machine.can_restore(&snapshot));
    // Dropped meanwhile, and read again: it cannot be both.
    assert_eq!((look(&mut machine, 0), look(&mut machine, 1)), (*b"yyyy", *b"yyyy"));
    assert!(!machine.restore(&snapshot));
    assert_eq!(machine.why_no_past(), Some("a mapped file has changed"));
    machine.pause_at(None);
    assert!(matches!(machine.run(None), Outcome::Exited(_)));
}
