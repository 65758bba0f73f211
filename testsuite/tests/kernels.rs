//! The guest kernels on the emulator: what they print is what is recorded, at every VLEN and whatever an
//! implementation may choose.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use testsuite::guests::{Compiler, Dress, Emulator, Freedom, USUAL_COMPILERS, build_folder, folder, kernels};

const VLENS: [u32; 4] = [128, 256, 512, 1024];
const LEVELS: [&str; 2] = ["O2", "O0"];

#[test]
fn kernels_print_what_is_recorded() {
    let build = build_folder();
    let Some(compiler) = USUAL_COMPILERS.iter().find_map(|name| Compiler::find(name, &build).ok()) else {
        println!("skipped: no RVV compiler (tools/setup installs one)");
        return;
    };
    let kernels = kernels(&folder()).expect("the kernels can be read");
    assert!(kernels.len() >= 20, "only {} kernels", kernels.len());
    let jobs: Vec<_> = kernels.iter().flat_map(|k| LEVELS.map(|level| (k, level))).collect();
    let (next, runs) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let problems = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, Into::into) {
            scope.spawn(|| {
                while let Some((kernel, level)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let say =
                        |text| problems.lock().unwrap().push(format!("{} -{level}: {text}", kernel.name));
                    let elf = match compiler.compile(kernel, level, Dress::Linux, &build) {
                        Ok(elf) => elf,
                        Err(e) => {
                            say(e.to_string());
                            continue;
                        }
                    };
                    for vlen in VLENS {
                        for freedom in [Freedom::PLAIN, Freedom::ONES] {
                            let limit = Duration::from_secs(120);
                            match Emulator::Here.run(&elf, &kernel.needs, vlen, &freedom, limit) {
                                Ok(seen) if seen.is(&kernel.expected) => {}
                                Ok(seen) => say(format!(
                                    "VLEN {vlen}, {}: {}",
                                    freedom.name,
                                    seen.describe(&kernel.expected)
                                )),
                                Err(e) => say(e.to_string()),
                            }
                            runs.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                }
            });
        }
    });
    let problems = problems.into_inner().unwrap();
    assert!(problems.is_empty(), "{} {}:\n{}", compiler.name, compiler.version, problems.join("\n"));
    println!("{} kernels, {} runs, {} {}", kernels.len(), runs.into_inner(), compiler.name, compiler.version);
}
