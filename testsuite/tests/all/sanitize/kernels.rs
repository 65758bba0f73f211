//! The kernels are right: there is nothing to find in them.

use rvvsim::elf::Image;
use rvvsim::linux::{Output, ProcessOptions};
use rvvsim::sanitize::{Rules, Sanitizer};
use rvvsim::{Config, Machine, Outcome};
use testsuite::guests::{Compiler, Environment, USUAL_COMPILERS, build_folder, folder, kernels};

#[test]
fn nothing_is_found_in_the_kernels() {
    let build = build_folder();
    let Some(compiler) = USUAL_COMPILERS.iter().find_map(|name| Compiler::find(name, &build).ok()) else {
        println!("skipped: no RVV compiler (tools/setup installs one)");
        return;
    };
    let mut problems = Vec::new();
    for kernel in kernels(&folder()).expect("the kernels can be read") {
        let elf = compiler.compile(&kernel, "O2", Environment::Linux, &build).expect("it compiles");
        let image = Image::open(&elf).expect("an ELF");
        for vlen in [128, 512] {
            let config = Config { vlen, ..Config::default() };
            let options = ProcessOptions { stdout: Output::Capture, ..ProcessOptions::default() };
            let mut machine = Machine::user(config, &image, options).expect("it loads");
            let mut sanitizer = Sanitizer::new(&mut machine, &image, Rules::Machine);
            let outcome = machine.run_sanitized(None, &mut sanitizer);
            if outcome != Some(Outcome::Exited(0)) || !sanitizer.findings().is_empty() {
                problems.push(format!(
                    "{} at VLEN {vlen}: {outcome:?} {:#?}",
                    kernel.name,
                    sanitizer.findings()
                ));
            }
            assert_eq!(machine.stdout(), kernel.expected, "{} at VLEN {vlen}", kernel.name);
        }
    }
    assert!(problems.is_empty(), "{} {}:\n{}", compiler.name, compiler.version, problems.join("\n"));
}
