//! Instructions per second of the scalar interpreter.
#![allow(missing_docs)] // criterion_group! makes an undocumented function

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};
use std::hint::black_box;

fn interpreter(c: &mut Criterion) {
    let mut group = c.benchmark_group("scalar");
    for program in benches::scalar() {
        let image = Image::parse(&program.elf).expect("our own ELF");
        group.throughput(Throughput::Elements(program.instructions));
        group.bench_function(program.name, |b| {
            b.iter(|| {
                let config = Config { mem: 16 << 20, ..Config::default() };
                let mut machine = Machine::bare(config, &image).expect("it fits");
                assert_eq!(black_box(machine.run(None)), Outcome::Exited(0));
            });
        });
    }
    group.finish();
}

criterion_group!(all, interpreter);
criterion_main!(all);
