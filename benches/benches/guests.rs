//! The guests of `benches compare`, in process: what a run takes from load to exit.
#![allow(missing_docs)] // criterion_group! makes an undocumented function

use benches::compare::{SCALAR, VECTOR, guest};
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::{Config, Machine, Outcome};
use std::time::Duration;

fn run(image: &Image, vlen: u32) {
    let config = Config { vlen, ..Config::default() };
    let options = ProcessOptions { stdout: Output::Discard, ..ProcessOptions::default() };
    let mut machine = Machine::user(config, image, options).expect("it fits");
    assert_eq!(machine.run(None), Outcome::Exited(0));
}

fn guests(c: &mut Criterion) {
    let mut group = c.benchmark_group("guests");
    group.sample_size(10).warm_up_time(Duration::from_millis(200)).measurement_time(Duration::from_secs(1));
    let vector = VECTOR.iter().flat_map(|(name, _)| [(name, 128), (name, 1024)]);
    for (name, vlen) in SCALAR.iter().map(|(name, _)| (name, 128)).chain(vector) {
        let bytes = std::fs::read(guest(name, "linux")).expect("benches/guests");
        let image = Image::parse(&bytes).expect("our own ELF");
        group.bench_with_input(BenchmarkId::new(*name, vlen), &vlen, |b, &vlen| b.iter(|| run(&image, vlen)));
    }
    group.finish();
}

criterion_group!(benches, guests);
criterion_main!(benches);
