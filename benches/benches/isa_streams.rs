//! `rvvfuzz isa` on `rvvsim` alone: streams of 32 instructions, on one core.
#![allow(missing_docs)] // criterion_group! makes an undocumented function

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rvvfuzz::streams::compare::{Choice, compare};
use rvvfuzz::streams::coverage::Watch;
use rvvfuzz::streams::generate::{Chooser, Options, stream};
use rvvfuzz::streams::inprocess::Lab;
use std::hint::black_box;

const STREAMS: usize = 256;

fn isa_streams(c: &mut Criterion) {
    let mut group = c.benchmark_group("isa_streams");
    group.throughput(Throughput::Elements(STREAMS as u64)).sample_size(10);
    for vlen in [128, 256, 1024] {
        let mut lab = Lab::new(vlen);
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let (options, chooser) = (Options::default(), Chooser::default());
        let mut watch = Watch::default();
        let mut streams = Vec::new();
        while streams.len() < STREAMS {
            if let Ok((made, _)) = stream(&mut lab, &mut rng, &options, &chooser, &mut watch)
                && made.instructions() >= 32
            {
                streams.push(made);
            }
        }
        // Both policies side by side, both dumps, coverage, and a comparison of the two; then block
        // by block, and that dump against the first.
        group.bench_function(format!("run, VLEN {vlen}"), |b| {
            b.iter(|| {
                for made in &streams {
                    watch.clear();
                    let ran = lab.run(made, 0, &mut watch).expect("it ran before");
                    // What is open differs on purpose: this is the work, not a check.
                    black_box(compare(vlen, &ran.kept, &ran.ones, &ran, Choice::Any));
                    lab.check_blocks(made, 0, &ran).expect("the engines agree");
                    black_box(ran);
                }
            });
        });
        group.bench_function(format!("make and run, VLEN {vlen}"), |b| {
            b.iter(|| {
                for _ in 0..STREAMS {
                    let made = stream(&mut lab, &mut rng, &options, &chooser, &mut watch);
                    let _ = black_box(made);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(all, isa_streams);
criterion_main!(all);
