//! `rvvfuzz isa engines`: rvvsim's host code against its interpreter, as many instructions as can be.
//!
//! Making a stream takes much longer than running it, and compiling a block longer than running that. So each
//! stream is run from many states, one after the other in one ELF: by the interpreter, and by host code that
//! is made for every block before it first runs. Both are this emulator with one choice for what is agnostic,
//! so every bit of every dump has to be the same.

use super::coverage::Watch;
use super::generate::{self, Chooser};
use super::init::Init;
use super::inprocess::Lab;
use super::peers::{AskError, run_here};
use super::runtime::{Environment, capacity, elf_of_runs};
use super::stream::Stream;
use super::text::{Entry, print};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rvvsim::Config;
use rvvsim::config::{Agnostic, EngineChoice};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What is to be compared.
#[derive(Clone, Debug)]
pub struct Options {
    /// The VLENs, in turn.
    pub vlens: Vec<u32>,
    /// Workers.
    pub jobs: usize,
    /// Ends after this.
    pub time: Option<Duration>,
    /// Ends after so many instructions.
    pub instructions: Option<u64>,
    /// Everything random follows from it.
    pub seed: u64,
    /// How streams are made.
    pub streams: generate::Options,
    /// From how many states each is run.
    pub states: usize,
}

/// What was compared so far.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// Streams that were made.
    pub streams: u64,
    /// Instructions under test that both engines executed, by VLEN. Those of loops are counted once.
    pub instructions: BTreeMap<u32, u64>,
    /// The first stream on which they differed, and how.
    pub difference: Option<String>,
}

impl State {
    /// Instructions of all VLENs.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.instructions.values().sum()
    }
}

/// Streams of one ELF.
const STREAMS: usize = 2;

/// Compares until time or instructions are up, something differs, or `stop` is set.
///
/// # Errors
/// When an ELF does not come to its end.
pub fn run(
    options: &Options,
    stop: &AtomicBool,
    mut progress: impl FnMut(&State),
) -> Result<State, AskError> {
    let (state, begin) = (Mutex::new(State::default()), Instant::now());
    let is_over = || {
        let state = lock(&state);
        stop.load(Ordering::Relaxed)
            || state.difference.is_some()
            || options.time.is_some_and(|time| begin.elapsed() >= time)
            || options.instructions.is_some_and(|most| state.total() >= most)
    };
    let work = |worker: usize| -> Result<(), AskError> {
        let mut rng = ChaCha8Rng::seed_from_u64(options.seed);
        rng.set_stream(worker as u64);
        let mut labs: Vec<Lab> = options.vlens.iter().map(|&vlen| Lab::new(vlen)).collect();
        while !is_over() {
            for lab in &mut labs {
                let done = pack(lab, options, &mut rng)?;
                let mut state = lock(&state);
                state.streams += done.streams;
                *state.instructions.entry(lab.vlen()).or_default() += done.total();
                state.difference = state.difference.take().or(done.difference);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|n| scope.spawn(move || work(n))).collect();
        while workers.iter().any(|worker| !worker.is_finished()) {
            std::thread::sleep(Duration::from_millis(50));
            progress(&lock(&state));
        }
        workers.into_iter().try_for_each(|worker| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    })?;
    Ok(state.into_inner().unwrap_or_else(PoisonError::into_inner))
}

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes streams, and compares all their runs.
fn pack(lab: &mut Lab, options: &Options, rng: &mut ChaCha8Rng) -> Result<State, AskError> {
    let vlen = lab.vlen();
    let (chooser, mut watch) = (Chooser::default(), Watch::default());
    let mut streams = Vec::new();
    while streams.len() < STREAMS {
        if let Ok((stream, _)) = generate::stream(lab, rng, &options.streams, &chooser, &mut watch) {
            streams.push(stream);
        }
    }
    let states = options.states.clamp(1, capacity(vlen) / STREAMS);
    let policies = [Agnostic::Undisturbed, Agnostic::Ones, Agnostic::Random(rng.random())];
    let policy = policies[rng.random_range(0..policies.len())];
    let mut runs = Vec::new();
    for n in 0..streams.len() {
        runs.extend((0..states).map(|_| (n, Init::new(rng.random()))));
    }
    let difference = compare(&streams, &runs, policy)?;
    let instructions = streams.iter().map(|stream| (stream.instructions() * states) as u64).sum();
    let instructions = BTreeMap::from([(vlen, instructions)]);
    Ok(State { streams: streams.len() as u64, instructions, difference })
}

/// Runs streams from states by both engines; what differs, in words.
fn compare(streams: &[Stream], runs: &[(usize, Init)], policy: Agnostic) -> Result<Option<String>, AskError> {
    let vlen = streams[0].vlen;
    let all: Vec<&Stream> = streams.iter().collect();
    let ask = |streams: &[&Stream], runs: &[(usize, Init)], engine: EngineChoice| {
        let elf = elf_of_runs(0, streams, runs, Environment::Bare)?;
        let config =
            Config { vlen, engine, jit_threshold: 0, tail: policy, mask: policy, ..Config::default() };
        run_here(&elf, runs.len(), Environment::Bare, config)
    };
    let interpreted = ask(&all, runs, EngineChoice::Interpreter)?;
    let compiled = match ask(&all, runs, EngineChoice::Jit) {
        Ok(dumps) => dumps,
        Err(AskError::Here(why)) => return Ok(Some(describe(&streams[0], policy, &why))),
        Err(other) => return Err(other),
    };
    let Some(at) = (0..runs.len()).find(|&n| interpreted[n] != compiled[n]) else { return Ok(None) };
    let (n, init) = runs[at];
    let stream = Stream { init, ..streams[n].clone() };
    // Both at once say more, if it is seen in this stream alone.
    let why = match ask(&[&stream], &[(0, init)], EngineChoice::Check) {
        Err(AskError::Here(why)) => why,
        _ => "the dumps differ; block by block, alone, the engines do not".to_owned(),
    };
    Ok(Some(describe(&stream, policy, &why)))
}

fn describe(stream: &Stream, policy: Agnostic, why: &str) -> String {
    let entry = Entry { name: "engines".to_owned(), stream: stream.clone(), expected: Vec::new() };
    format!("agnostic elements: {policy:?}\n{why}\n{}", print(&entry))
}
