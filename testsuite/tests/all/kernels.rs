//! The guest kernels on the emulator: what they print is what is recorded, at every VLEN and whatever an
//! implementation may choose. A slice that takes well below a minute; the whole, with every compiler, level
//! and freedom, is `cargo run --release -p testsuite -- kernels`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testsuite::guests::{
    Compiler, Emulator, Environment, Freedom, USUAL_COMPILERS, build_folder, folder, kernels,
};

const PLAIN: Freedom = Freedom::PLAIN;
const ONES: Freedom = Freedom::ONES;

/// Everything at the usual level; the ends at the one where each intrinsic stands alone, which is slow.
const O2: &[(u32, Freedom)] = &[
    (128, PLAIN),
    (128, ONES),
    (256, PLAIN),
    (256, ONES),
    (512, PLAIN),
    (512, ONES),
    (1024, PLAIN),
    (1024, ONES),
];
const O0: &[(u32, Freedom)] = &[(128, ONES), (1024, PLAIN)];
const LEVELS: [(&str, &[(u32, Freedom)]); 2] = [("O2", O2), ("O0", O0)];

#[test]
fn kernels_print_what_is_recorded() {
    let build = build_folder();
    let Some(compiler) = USUAL_COMPILERS.iter().find_map(|name| Compiler::find(name, &build).ok()) else {
        println!("skipped: no RVV compiler (tools/setup installs one)");
        return;
    };
    let kernels = kernels(&folder()).expect("the kernels can be read");
    assert!(kernels.len() >= 20, "only {} kernels", kernels.len());
    let jobs: Vec<_> = kernels.iter().flat_map(|k| LEVELS.map(|(level, runs)| (k, level, runs))).collect();
    let (next, runs) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let Some((kernel, level, machines)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let say =
                        |text| problems.lock().unwrap().push(format!("{} -{level}: {text}", kernel.name));
                    let elf = match compiler.compile(kernel, level, Environment::Linux, &build) {
                        Ok(elf) => elf,
                        Err(e) => {
                            say(e.to_string());
                            continue;
                        }
                    };
                    for (vlen, freedom) in *machines {
                        let limit = Duration::from_secs(120);
                        match Emulator::Here.run(&elf, &kernel.needs, *vlen, freedom, limit) {
                            Ok(seen) if seen.is(&kernel.expected) => {}
                            Ok(seen) => {
                                let what = seen.describe(&kernel.expected);
                                say(format!("VLEN {vlen}, {}: {what}", freedom.name));
                            }
                            Err(e) => say(e.to_string()),
                        }
                        runs.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{} {}:\n{}", compiler.name, compiler.version, problems.join("\n"));
    println!("{} kernels, {} runs, {} {}", kernels.len(), runs.into_inner(), compiler.name, compiler.version);
}
