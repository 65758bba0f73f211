//! How the program is linked: as `rvvsim` is, for which it stands in `compare`.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    // Linked to one address, its tables need not be adjusted at each start, page by page, which takes as long as many a
    // small guest does.
    let target = |what: &str| std::env::var(format!("CARGO_CFG_TARGET_{what}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" && target("ARCH") == "x86_64" {
        println!("cargo::rustc-link-arg-bins=-no-pie");
    }
}
