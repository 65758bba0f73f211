//! Turns the tables of `isa/` into Rust.

mod bits;
mod chapters;
mod decoder;
mod emit;
mod shapes;
mod tables;

use std::path::Path;
use std::{env, fs};

fn main() {
    let isa = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../isa");
    println!("cargo:rerun-if-changed=build");
    for part in ["encodings", "shapes.toml", "operands.toml", "extensions.toml", "csrs.toml"] {
        println!("cargo:rerun-if-changed={}", isa.join(part).display());
    }
    let tables = tables::read(&isa);
    let out = env::var("OUT_DIR").unwrap();
    let write = |name: &str, text: String| fs::write(Path::new(&out).join(name), text).unwrap();
    write("ops.rs", emit::ops(&tables));
    write("shapes.rs", shapes::emit(&tables));
    write("chapters.rs", chapters::emit(&tables));
    write("operands.rs", emit::operands(&tables));
    write("formats.rs", emit::formats(&tables));
    write("decoder.rs", decoder::emit(&tables));
    write("extensions.rs", emit::extensions(&tables));
    write("csrs.rs", emit::csrs(&tables));
}
