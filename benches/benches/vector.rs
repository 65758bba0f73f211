//! Vector instructions per second, by family, at two vector lengths.
#![allow(missing_docs)] // criterion_group! makes an undocumented function

use benches::families::{VLENS, families, machine};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use rvvsim::Outcome;
use rvvsim::elf::Image;
use std::hint::black_box;
use std::time::Duration;

fn vector(c: &mut Criterion) {
    for vlen in VLENS {
        let mut group = c.benchmark_group(format!("vector, VLEN {vlen}"));
        // There are many; the table of `benches families` takes its own measurements.
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_millis(400));
        for family in families() {
            let program = family.program(1000);
            let image = Image::parse(&program.elf).expect("our own ELF");
            group.throughput(Throughput::Elements(program.instructions));
            group.bench_function(&family.name, |b| {
                let run = |mut m: rvvsim::Machine| assert_eq!(black_box(m.run(None)), Outcome::Exited(0));
                b.iter_batched(|| machine(&image, vlen), run, BatchSize::PerIteration);
            });
        }
        group.finish();
    }
}

criterion_group!(all, vector);
criterion_main!(all);
