//! The same stream is the same in process, in blocks, and as an ELF in either environment.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rvvfuzz::streams::compare::{Choice, compare};
use rvvfuzz::streams::coverage::{Coverage, Watch};
use rvvfuzz::streams::dump::Places;
use rvvfuzz::streams::generate::{Chooser, Options, stream};
use rvvfuzz::streams::inprocess::{Lab, Ran};
use rvvfuzz::streams::mutate::mutate;
use rvvfuzz::streams::peers::{ask_engine, ask_here};
use rvvfuzz::streams::runtime::Environment;
use rvvfuzz::streams::stream::Stream;
use rvvsim::config::{Agnostic, EngineChoice};

fn streams(lab: &mut Lab, count: usize, seed: u64) -> Vec<(Stream, Ran)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (options, chooser) = (Options { wild: 0.2, ..Options::default() }, Chooser::default());
    let mut watch = Watch::default();
    let mut all: Vec<(Stream, Ran)> = Vec::new();
    while all.len() < count {
        let made = match all.len() {
            n if n % 2 == 1 => {
                let (a, b) = (all[n / 2].0.clone(), all[n - 1].0.clone());
                mutate(lab, &a, &b, &mut rng, &options, &chooser, &mut watch).1
            }
            _ => stream(lab, &mut rng, &options, &chooser, &mut watch),
        };
        all.extend(made);
    }
    all
}

#[test]
fn in_process_in_blocks_and_as_elfs() {
    for vlen in [128, 256, 1024] {
        let mut lab = Lab::new(vlen);
        let all = streams(&mut lab, 96, u64::from(vlen));
        for (stream, ran) in &all {
            lab.check_blocks(stream, 0, ran).expect("blocks and steps are the same");
        }
        let packed: Vec<&Stream> = all.iter().map(|(s, _)| s).collect();
        let places = Places::new(vlen);
        let bare = ask_here(&packed, Environment::Bare, Agnostic::Undisturbed).expect("it ends");
        for (n, (stream, _)) in all.iter().enumerate() {
            // At the place it has in the pack: some instructions see their own address.
            let ran = lab.run(stream, n, &mut Watch::default()).expect("it ran before");
            let wrong = (0..places.words()).find(|&i| ran.kept[i] != bare[n][i]);
            assert_eq!(wrong.map(|i| places.name(i)), None, "VLEN {vlen}, stream {n}");
        }
        let linux = ask_here(&packed, Environment::Linux, Agnostic::Undisturbed).expect("it ends");
        for (n, (stream, _)) in all.iter().enumerate() {
            let Ok(ran) = lab.run_as(Environment::Linux, stream, n, &mut Watch::default()) else { continue };
            let wrong = (0..places.words()).find(|&i| ran.kept[i] != linux[n][i]);
            assert_eq!(wrong.map(|i| places.name(i)), None, "VLEN {vlen}, stream {n} on Linux");
        }
    }
}

/// Every block as host code: alone, and block by block beside the interpreter.
#[test]
fn host_code_does_what_the_interpreter_does() {
    if !rvvsim::has_host_code() {
        return;
    }
    for vlen in [128, 256, 1024, 4096] {
        let mut lab = Lab::new(vlen);
        let all = streams(&mut lab, 96, 1000 + u64::from(vlen));
        let packed: Vec<&Stream> = all.iter().map(|(s, _)| s).collect();
        for environment in [Environment::Bare, Environment::Linux] {
            let ask = |engine| {
                ask_engine(&packed, environment, engine).unwrap_or_else(|e| panic!("{engine:?}: {e}"))
            };
            let interpreted = ask(EngineChoice::Interpreter);
            ask(EngineChoice::Check);
            let compiled = ask(EngineChoice::Jit);
            let places = Places::new(vlen);
            for (n, (a, b)) in interpreted.iter().zip(&compiled).enumerate() {
                let wrong = (0..places.words()).find(|&i| a[i] != b[i]);
                assert_eq!(wrong.map(|i| places.name(i)), None, "VLEN {vlen}, stream {n}");
            }
        }
    }
}

#[test]
fn agnostic_choices_are_within_what_is_allowed_and_stay_in_vector_registers() {
    for (vlen, seed) in [(128, 77), (128, 78), (512, 77), (512, 78)] {
        let mut lab = Lab::new(vlen);
        let mut all = streams(&mut lab, 96, seed + u64::from(vlen));
        // At the place it has in the pack: some instructions see their own address.
        for (n, (stream, ran)) in all.iter_mut().enumerate() {
            *ran = lab.run(stream, n, &mut Watch::default()).expect("it ran before");
        }
        let packed: Vec<&Stream> = all.iter().map(|(s, _)| s).collect();
        let kept = ask_here(&packed, Environment::Bare, Agnostic::Undisturbed).expect("it ends");
        let mut different = 0;
        for seed in 0..3 {
            let coins = ask_here(&packed, Environment::Bare, Agnostic::Random(seed)).expect("it ends");
            for (n, (_, ran)) in all.iter().enumerate() {
                let wrong = compare(vlen, &kept[n], &coins[n], ran, Choice::Any);
                assert_eq!(wrong, vec![], "VLEN {vlen}, stream {n}, seed {seed}");
                different += usize::from(kept[n] != coins[n]);
            }
        }
        assert!(different > 50, "agnostic elements hardly ever reach the end: {different}");
    }
}

#[test]
fn the_same_seed_makes_the_same_streams() {
    let (mut a, mut b) = (Lab::new(128), Lab::new(128));
    let of = |lab: &mut Lab| streams(lab, 20, 3).into_iter().map(|(s, r)| (s, r.kept)).collect::<Vec<_>>();
    assert_eq!(of(&mut a), of(&mut b));
}

#[test]
fn a_few_hundred_streams_reach_every_instruction() {
    let mut lab = Lab::new(256);
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let (options, mut chooser) = (Options::default(), Chooser::default());
    let (mut watch, mut coverage) = (Watch::default(), Coverage::default());
    for _ in 0..2000 {
        if stream(&mut lab, &mut rng, &options, &chooser, &mut watch).is_ok() {
            coverage.add(&watch);
            chooser.learn(&coverage.counts);
        }
        if coverage.counts.missing().is_empty() {
            return;
        }
    }
    let missing: Vec<&str> = coverage.counts.missing().iter().map(|op| op.name()).collect();
    panic!("not reached: {missing:?}");
}
