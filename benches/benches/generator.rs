//! Programs generated and evaluated at one VLEN, sequence and data length 10. One element is one program.
#![allow(missing_docs)] // criterion_group! makes an undocumented function

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rvvgen::{Plan, Selection, Settings, generate};

fn generated_and_evaluated(c: &mut Criterion) {
    let settings = Settings { vlens: vec![128], ..Settings::default() };
    let plan = Plan::new(1, &Selection::default(), 10, 128);
    let mut group = c.benchmark_group("rvvgen");
    group.throughput(Throughput::Elements(1));
    group.bench_function("generate and evaluate, VLEN 128", |b| {
        let mut k = 0;
        b.iter(|| {
            k += 1;
            generate(&plan, k, &settings).unwrap_or_else(|e| panic!("{e}"))
        });
    });
    group.finish();
}

criterion_group!(benches, generated_and_evaluated);
criterion_main!(benches);
