//! The folder for ACT 4: what its macros and linker script make runs on the bare-metal platform.

use std::process::Command;
use testsuite::guests::{USUAL_COMPILERS, build_folder};
use testsuite::peer::find::on_path;

#[test]
fn a_test_with_the_macros_of_act4_prints_and_passes() {
    let Some(gcc) = USUAL_COMPILERS.iter().filter(|name| name.contains("gcc")).find_map(|name| on_path(name))
    else {
        println!("skipped: no gcc for RISC-V (tools/setup installs one)");
        return;
    };
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("act4");
    let build = build_folder();
    std::fs::create_dir_all(&build).expect("a folder");
    let elf = build.join(format!("act4-{}.elf", std::process::id()));
    let built = Command::new(gcc)
        .args(["-march=rv64gcv", "-mabi=lp64d", "-mcmodel=medany", "-nostdlib", "-static", "-no-pie"])
        .arg("-I")
        .arg(&folder)
        .arg("-T")
        .arg(folder.join("link.ld"))
        .arg(folder.join("smoke.S"))
        .arg("-o")
        .arg(&elf)
        .output()
        .expect("gcc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let image = rvvsim::elf::Image::open(&elf).expect("an ELF");
    let config = rvvsim::Config { max_insns: Some(1_000_000), ..rvvsim::Config::default() };
    let mut machine = rvvsim::Machine::bare(config, &image).expect("it fits");
    assert_eq!(machine.run(None), rvvsim::Outcome::Exited(0));
    assert!(!machine.failed());
    let _ = std::fs::remove_file(elf);
}
