//! Runs programs on rvvsim and holds them against the evaluator.
use rvvgen::*;
use rvvsim::config::Agnostic;
use rvvsim::elf::Image;
use rvvsim::{Config, Machine};
use std::collections::BTreeMap;
fn main() {
    let n: u64 = std::env::args().nth(1).map_or(100, |s| s.parse().unwrap());
    let seed: u64 = std::env::args().nth(2).map_or(1, |s| s.parse().unwrap());
    let selection = Selection::default();
    let big = std::env::var_os("BIG").is_some();
    let vlens = if big { vec![512, 1024, 2048, 4096] } else { vec![128, 256, 512, 1024] };
    let settings = Settings { selection: selection.clone(), vlens: vlens.clone(), ..Settings::default() };
    let plan = Plan::new(seed, &selection, 10, vlens[0]);
    let mut bad: BTreeMap<String, (usize, u64)> = BTreeMap::new();
    let t = std::time::Instant::now();
    let mut runs = 0;
    for k in 0..n {
        let g = match generate(&plan, k, &settings) {
            Ok(g) => g,
            Err(e) => {
                println!("{e}");
                continue;
            }
        };
        let elf = match rvv_ir::elf::lower(&[&g.program]) {
            Ok(e) => e,
            Err(e) => {
                println!("{k}: {e}");
                continue;
            }
        };
        let image = Image::parse(&elf).unwrap();
        for (i, &vlen) in vlens.iter().enumerate() {
            for agnostic in [Agnostic::Undisturbed, Agnostic::Ones, Agnostic::Random(3)] {
                let isa = "rv64gcv_zvfh_zvfbfmin_zvfbfwma_zvbb_zvbc_zvkg_zvkned_zvknhb_zvksed_zvksh_zfh"
                    .parse()
                    .unwrap();
                let config = Config {
                    isa,
                    vlen,
                    tail: agnostic,
                    mask: agnostic,
                    max_insns: Some(50_000_000),
                    ..Config::default()
                };
                let options = rvvsim::linux::ProcessOptions {
                    stdout: rvvsim::linux::Output::Capture,
                    ..Default::default()
                };
                let mut machine = Machine::user(config, &image, options).unwrap();
                let outcome = machine.run(None);
                runs += 1;
                let out = machine.process.as_ref().unwrap().stdout().to_vec();
                let mismatch = g.expected[i].judge(&g.program, &out);
                if outcome != rvvsim::Outcome::Exited(0) || mismatch.is_some() {
                    let what = match &mismatch {
                        Some(m) => {
                            let b = &g.program.buffers[m.buffer];
                            who(&g.program, m.buffer).unwrap_or(b.name.clone())
                        }
                        None => format!("{outcome:?}"),
                    };
                    let e = bad.entry(what).or_insert((0, k));
                    e.0 += 1;
                    if e.0 == 1 {
                        println!("program {k} vlen {vlen} {agnostic:?}: {outcome:?} {mismatch:?}");
                    }
                }
            }
        }
    }
    println!("{runs} runs, {:.0} programs/s", n as f64 / t.elapsed().as_secs_f64());
    for (w, (c, k)) in bad {
        println!("{c:6} first {k:6} {w}");
    }
}
/// The call whose result is stored to this buffer.
fn who(p: &rvv_ir::Program, buffer: usize) -> Option<String> {
    let calls = p.calls();
    let store = calls.iter().position(|c| {
        c.dst.is_none() && c.args.iter().any(|a| matches!(a, rvv_ir::Arg::Addr(b, _) if *b == buffer))
    })?;
    let data = calls[store]
        .args
        .iter()
        .zip(&calls[store].intrinsic.params)
        .find(|(_, p)| p.role == rvv_intrinsics::Role::Data)?
        .0;
    let rvv_ir::Arg::Var(v) = data else { return None };
    let def = calls[..store].iter().rev().find(|c| c.dst == Some(*v))?;
    Some(format!("{} -> {}", def.intrinsic.name, calls[store].intrinsic.name))
}
