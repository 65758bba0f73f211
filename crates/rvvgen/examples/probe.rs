//! Timing and repairs of many programs.
use rvvgen::*;
use std::collections::HashSet;
fn main() {
    let n: u64 = std::env::args().nth(1).map_or(1000, |s| s.parse().unwrap());
    let cat = std::env::args().nth(2);
    let mut selection = Selection::default();
    if let Some(c) = cat {
        selection.categories = vec![Category::from_name(&c).unwrap()];
        selection.extensions = vec![rvv_intrinsics::Extension::V];
    }
    let vlens = if std::env::var("ALLV").is_ok() { vec![128, 256, 512, 1024] } else { vec![128] };
    let settings = Settings { selection: selection.clone(), vlens, ..Settings::default() };
    let plan = Plan::new(1, &selection, 10, 128);
    println!("{} calls, {} programs a round", plan.len(), plan.round());
    let t = std::time::Instant::now();
    let mut repairs = 0;
    let mut covered = HashSet::new();
    let mut stmts = 0;
    let mut defined = 0u64;
    let mut bits = 0u64;
    let mut reasons: std::collections::BTreeMap<String, usize> = Default::default();
    for k in 0..n {
        match generate(&plan, k, &settings) {
            Ok(g) => {
                repairs += g.repairs;
                for c in g.program.calls() {
                    stmts += 1;
                    if selection.wants(c.intrinsic, c.overloaded) {
                        covered.insert((c.intrinsic.id, c.overloaded));
                    }
                }
                for e in &g.expected {
                    for o in &e.outputs {
                        defined += o.defined.iter().map(|b| u64::from(b.count_ones())).sum::<u64>();
                        bits += 8 * o.defined.len() as u64;
                    }
                }
                if k < 1 && n < 10 {
                    println!("{}", g.program);
                }
            }
            Err(e) => {
                *reasons.entry(e.to_string()).or_default() += 1;
            }
        }
    }
    println!(
        "{:.0} programs/s, {repairs} repairs, {} of {} covered ({:.2} %), {:.1} calls each, {:.1} % defined",
        n as f64 / t.elapsed().as_secs_f64(),
        covered.len(),
        plan.len(),
        covered.len() as f64 * 100.0 / plan.len() as f64,
        stmts as f64 / n as f64,
        defined as f64 * 100.0 / bits as f64
    );
    for (r, c) in reasons.iter().take(5) {
        println!("{c} x {r}");
    }
}
