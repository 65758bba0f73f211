//! How the program is linked: so that it starts quickly, for many a guest takes less time than that.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") != "linux" || target("ENV") != "gnu" || target("ARCH") != "x86_64" {
        return;
    }
    // Linked to one address, its tables need not be adjusted at each start, page by page.
    println!("cargo::rustc-link-arg-bins=-no-pie");
    // A library less to load. libgcc_s also asks the processor what it can do when it is loaded, whether
    // anybody wants to know or not, and in a virtual machine each such question goes to the hypervisor.
    if let (Some(archive), Some(folder)) = (static_unwinder(), std::env::var_os("OUT_DIR")) {
        let script = Path::new(&folder).join("libgcc_s.so");
        if std::fs::write(script, format!("INPUT({})\n", archive.display())).is_ok() {
            println!("cargo::rustc-link-arg-bins=-L{}", Path::new(&folder).display());
        }
    }
}

/// What libgcc_s is wanted for, as an archive, where the C compiler has it.
fn static_unwinder() -> Option<PathBuf> {
    let output = Command::new("cc").arg("-print-file-name=libgcc_eh.a").output().ok()?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    (path.is_absolute() && path.exists()).then_some(path)
}
