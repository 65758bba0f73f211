//! The Python module does what it says, where there is a python3.

use std::path::Path;
use std::process::Command;

#[test]
fn the_demo_runs_step_by_step_from_python() {
    if !Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success()) {
        println!("skipped: no python3");
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    // The library is beside the folder of the tests' binaries.
    let mut library = std::env::current_exe().expect("this test");
    library.pop();
    let places = [library.join("librvvsim_capi.so"), library.join("../librvvsim_capi.so")];
    let library = places.iter().find(|path| path.exists()).expect("cargo has built the library");
    let output = Command::new("python3")
        .arg(here.join("python/test_rvvsim.py"))
        .arg(here.join("../rvvsim/demo/demo.elf"))
        .env("RVVSIM_CAPI", library)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .output()
        .expect("python3 runs");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}
