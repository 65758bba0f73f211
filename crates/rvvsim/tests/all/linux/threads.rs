//! Threads under schedules: right under each, and the same whenever the schedule is the same.

use super::guests::{Scratch, compile, expected};
use rvvsim::config::EngineChoice;
use rvvsim::elf::Image;
use rvvsim::linux::{Clock, Output, ProcessOptions, Schedule};
use rvvsim::{Config, Machine, Outcome};
use std::collections::hash_map::DefaultHasher;
use std::hash::Hasher;
use std::path::Path;

fn machine(program: &Path, schedule: Schedule, config: Config) -> Machine {
    let options = ProcessOptions {
        args: vec![b"guest".to_vec()],
        stdout: Output::Capture,
        stderr: Output::Capture,
        clock: Clock::Counted,
        seed: Some(1),
        schedule,
        ..Default::default()
    };
    Machine::user(config, &Image::open(program).unwrap(), options).unwrap()
}

fn schedules() -> impl Iterator<Item = Schedule> {
    [50_000, 1000, 37].into_iter().map(Schedule::RoundRobin).chain((1..=7).map(Schedule::Random))
}

#[test]
fn sixty_four_threads_do_right_under_ten_schedules() {
    let scratch = Scratch::new("schedules");
    let flags = ["-static", "-DTHREADS=64", "-DROUNDS=20"];
    let Some(program) = compile("threads.c", &scratch, &flags) else { return };
    let expected = expected("threads.c").replace("12800 12800 38400 12800", "1280 1280 3840 1280");
    // Each of the 32 producers puts in 0 to 19.
    let expected = expected.replace("636800", "6080");
    for schedule in schedules() {
        let mut machine = machine(&program, schedule, Config::default());
        let outcome = machine.run(None);
        let printed = String::from_utf8_lossy(machine.stdout()).into_owned();
        assert_eq!(outcome, Outcome::Exited(3), "{schedule}: {printed}");
        assert_eq!(format!("{printed}exit code 3\n"), expected, "{schedule}");
    }
}

/// Hashes what is written to it.
#[derive(Default)]
struct Digest(DefaultHasher, usize);

impl std::io::Write for Digest {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes);
        self.1 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn the_same_schedule_gives_the_same_trace_of_all_threads() {
    let scratch = Scratch::new("trace");
    let flags = ["-static", "-DTHREADS=4", "-DROUNDS=3"];
    let Some(program) = compile("threads.c", &scratch, &flags) else { return };
    let trace = |schedule| {
        let mut machine = machine(&program, schedule, Config::default());
        let mut digest = Digest::default();
        assert_eq!(machine.run_traced(None, &mut digest).unwrap(), Outcome::Exited(3));
        (digest.0.finish(), digest.1, machine.instructions_retired())
    };
    let (hash, len, retired) = trace(Schedule::Random(5));
    assert!(len > 1 << 20, "{len} bytes of trace");
    assert_eq!(trace(Schedule::Random(5)), (hash, len, retired));
    assert_ne!(trace(Schedule::Random(6)).0, hash);
    // Tracing and the engine change nothing.
    for engine in [EngineChoice::Interpreter, EngineChoice::Auto] {
        let config = Config { engine, jit_threshold: 2, ..Config::default() };
        let mut machine = machine(&program, Schedule::Random(5), config);
        assert_eq!(machine.run(None), Outcome::Exited(3));
        assert_eq!(machine.instructions_retired(), retired, "{engine:?}");
    }
}

#[test]
fn a_deadlock_is_reported_with_where_each_thread_waits() {
    let scratch = Scratch::new("deadlock");
    let Some(program) = compile("deadlock.c", &scratch, &["-static"]) else { return };
    let mut machine = machine(&program, Schedule::default(), Config::default());
    let Outcome::Unsupported(why) = machine.run(None) else { panic!("no deadlock") };
    assert!(why.starts_with("deadlock: all 2 threads wait: thread 1000 waits on the futex at 0x"), "{why}");
    assert!(why.contains("; thread 1001 waits on the futex at 0x"), "{why}");
    let process = machine.process().unwrap();
    assert!(process.threads(machine.hart()).iter().all(|thread| thread.waits_for.is_some()));
}
