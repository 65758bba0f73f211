//! How long the operations take. Not a test, so ignored; run it with
//! `cargo test --release -p rvvsim --test all fp::speed -- --ignored --nocapture`.

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use rvvsim::fp::{BF16, F16, F32, F64, Flags, Float, RoundingMode, convert, soft};
use std::hint::black_box;
use std::time::Instant;

/// Nanoseconds per element of one run over `operands`, the best of several.
#[inline(never)]
fn time<B: Copy, R>(operands: &[[B; 3]], op: impl Fn([B; 3]) -> R) -> f64 {
    (0..15)
        .map(|_| {
            let start = Instant::now();
            for &[a, b, c] in operands {
                // Each on its own: together they would be stored in parts and loaded whole.
                black_box(op([black_box(a), black_box(b), black_box(c)]));
            }
            start.elapsed().as_nanos() as f64 / operands.len() as f64
        })
        .fold(f64::INFINITY, f64::min)
}

/// Numbers about 1, so that nothing special happens.
fn plain<F: Float>() -> Vec<[F::Bits; 3]> {
    let mut rng = StdRng::seed_from_u64(0);
    let mut number = || {
        let x: f64 = rng.random_range(0.5..8.0);
        convert::<F64, F>(x.to_bits(), RoundingMode::Rne, &mut Flags::default())
    };
    (0..20_000).map(|_| [number(), number(), number()]).collect()
}

fn report<F: Float>() {
    let name = std::any::type_name::<F>().rsplit("::").next().unwrap();
    let operands = plain::<F>();
    println!("\n{name:13}  fast, NX set   clear    RTZ    soft");
    macro_rules! arithmetic {
        ($($op:ident: $operands:pat => $($operand:expr),*;)*) => {$(
            let fast = |before: Flags, rm: RoundingMode| {
                time(&operands, |$operands| {
                    F::$op($($operand,)* rm, &mut { before })
                })
            };
            println!(
                "{:13}  {:12.1} {:7.1} {:6.1} {:7.1}",
                stringify!($op),
                time(&operands, |$operands| {
                    F::$op($($operand,)* RoundingMode::Rne, &mut Flags::NX.clone())
                }),
                fast(Flags::NONE, black_box(RoundingMode::Rne)),
                fast(Flags::NONE, black_box(RoundingMode::Rtz)),
                time(&operands, |$operands| {
                    soft::$op::<F>($($operand,)* RoundingMode::Rne, &mut Flags::default())
                }),
            );
        )*};
    }
    arithmetic! {
        add: [a, b, _] => a, b;
        sub: [a, b, _] => a, b;
        mul: [a, b, _] => a, b;
        div: [a, b, _] => a, b;
        sqrt: [a, ..] => a;
        fused_mul_add: [a, b, c] => a, b, c;
    }
    let line = |name: &str, fast: f64, soft: f64| println!("{name:13}  {fast:12.1} {soft:22.1}");
    let flags = || Flags::default();
    let (rne, rtz) = (RoundingMode::Rne, RoundingMode::Rtz);
    line(
        "to_i32",
        time(&operands, |[a, ..]| F::to_i32(a, rtz, &mut flags())),
        time(&operands, |[a, ..]| soft::to_int::<F, i32>(a, rtz, &mut flags())),
    );
    line(
        "to_i64",
        time(&operands, |[a, ..]| F::to_i64(a, rne, &mut flags())),
        time(&operands, |[a, ..]| soft::to_int::<F, i64>(a, rne, &mut flags())),
    );
    line(
        "from_i32",
        time(&operands, |[a, ..]| F::from_i32(a.into() as i32, rne, &mut flags())),
        time(&operands, |[a, ..]| soft::from_int::<F, i32>(a.into() as i32, rne, &mut flags())),
    );
    line(
        "to_f32",
        time(&operands, |[a, ..]| convert::<F, F32>(a, rne, &mut flags())),
        time(&operands, |[a, ..]| soft::convert::<F, F32>(a, rne, &mut flags())),
    );
    line(
        "to_f64",
        time(&operands, |[a, ..]| convert::<F, F64>(a, rne, &mut flags())),
        time(&operands, |[a, ..]| soft::convert::<F, F64>(a, rne, &mut flags())),
    );
    line(
        "to_f16",
        time(&operands, |[a, ..]| convert::<F, F16>(a, rne, &mut flags())),
        time(&operands, |[a, ..]| soft::convert::<F, F16>(a, rne, &mut flags())),
    );
    let alone = |name: &str, fast: f64| println!("{name:13}  {fast:12.1}");
    alone("lt", time(&operands, |[a, b, _]| F::lt(a, b, &mut flags())));
    alone("min", time(&operands, |[a, b, _]| F::min(a, b, &mut flags())));
    alone("rec7", time(&operands, |[a, ..]| F::rec7(a, rne, &mut flags())));
    alone("nothing", time(&operands, |[a, ..]| a));
}

#[test]
#[ignore = "a measurement"]
fn nanoseconds_per_operation() {
    report::<F16>();
    report::<F32>();
    report::<F64>();
    report::<BF16>();
}
