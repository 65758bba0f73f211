//! How the program is linked: so that it starts quickly, for many a guest takes less time than that.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // `benches` is linked by this, too.
    for here in ["build.rs", "../crates/rvvsim/build.rs"].iter().filter(|here| Path::new(here).exists()) {
        println!("cargo::rerun-if-changed={here}");
    }
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" || target("ARCH") != "x86_64" {
        return;
    }
    // Linked to one address, its tables need not be adjusted at each start, page by page.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    let Some(folder) = std::env::var_os("OUT_DIR").map(PathBuf::from) else { return };
    // A library less to load. libgcc_s also asks the processor what it can do when it is loaded, whether
    // anybody wants to know or not, and in a virtual machine each such question goes to the hypervisor.
    if !take_archive(&folder, "gcc_s", "gcc_eh") {
        return;
    }
    println!("cargo::rustc-link-arg-bins=-L{}", folder.display());
    // Without any library to load, nor a loader, a start takes three quarters of the time. The program calls
    // nothing of the C library that is looked for when it runs (names of hosts or users).
    if take_archive(&folder, "c", "c") && take_archive(&folder, "m", "m") {
        println!("cargo::rustc-link-arg-bins=-static");
    }
}

/// What is linked as a shared library is an archive instead, where the C compiler has it.
fn take_archive(folder: &Path, library: &str, archive: &str) -> bool {
    let name = format!("-print-file-name=lib{archive}.a");
    let Ok(output) = Command::new("cc").arg(name).output() else { return false };
    let Ok(path) = String::from_utf8(output.stdout) else { return false };
    let path = Path::new(path.trim());
    let script = folder.join(format!("lib{library}.so"));
    path.is_absolute()
        && path.exists()
        && std::fs::write(script, format!("INPUT({})\n", path.display())).is_ok()
}
