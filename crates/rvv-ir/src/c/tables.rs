//! What is done with the output buffers at the end, and the expectations it is done with.

use super::{Globals, Mode};
use crate::{Buffer, Contents, Expected, Program};
use std::fmt::Write;

/// Writes the function that prints or checks the buffers of program `n`, and its tables.
pub(super) fn output(
    out: &mut String,
    program: &Program,
    n: usize,
    prefix: &str,
    globals: &Globals,
    mode: Mode,
) {
    let expected = mode.expected(n);
    let mut body = String::new();
    if let Mode::Raw = mode {
        let printed = program.outputs().filter(|(_, b)| b.len > 0);
        let part = |(number, b): (usize, &Buffer)| format!("{{&{}, {}}}", globals.buffers[number], b.bytes());
        let parts: Vec<String> = printed.map(part).collect();
        if !parts.is_empty() {
            let list = &globals.lists[1];
            writeln!(out, "static const struct part {list}[] = {{{}}};\n", parts.join(", ")).unwrap();
            writeln!(body, "    write_parts({list}, {});", parts.len()).unwrap();
        }
        write!(out, "static __attribute__((noinline)) void {prefix}output(void)\n{{\n{body}}}\n\n").unwrap();
        return;
    }
    for (k, (number, buffer)) in program.outputs().enumerate().filter(|(_, (_, b))| b.len > 0) {
        let name = &globals.buffers[number];
        let (len, bytes, size) = (buffer.len, buffer.elem.bytes(), buffer.bytes());
        writeln!(body, "    hide(&{name});").unwrap();
        let table = select(out, name, k, expected);
        match mode {
            Mode::Libc(_) if expected.is_empty() => {
                writeln!(body, "    print(\"{name}\", &{name}, {len}, {bytes}, 0);").unwrap();
            }
            Mode::Libc(_) => {
                writeln!(body, "    print(\"{name}\", &{name}, {len}, {bytes}, known({table}));").unwrap();
            }
            Mode::Differential(_) => {
                writeln!(body, "    sum(\"{name}\", &{name}, {size}, {table});").unwrap();
            }
            _ => writeln!(body, "    check(\"{name}\", &{name}, {len}, {bytes}, {table});").unwrap(),
        }
    }
    write!(out, "static __attribute__((noinline)) void {prefix}output(void)\n{{\n{body}}}\n\n").unwrap();
}

/// Writes the tables of output `k` for each VLEN, and the expression that picks one.
fn select(out: &mut String, name: &str, k: usize, expected: &[Expected]) -> String {
    let mut choice = String::new();
    for e in expected {
        let Some(contents) = e.outputs.get(k) else { continue };
        let table = format!("{name}_at_{}", e.vlen);
        write_table(out, &table, contents);
        write!(choice, "vlenb() == {} ? {table} : ", e.vlen / 8).unwrap();
    }
    choice + "(const uint8_t *)0"
}

fn write_table(out: &mut String, name: &str, contents: &Contents) {
    let size = contents.bytes.len();
    write!(out, "static const uint8_t {name}[2 * {size}] = {{").unwrap();
    for part in [&contents.bytes, &contents.defined] {
        for line in part.chunks(24) {
            out.push_str("\n    ");
            for byte in line {
                write!(out, "{byte},").unwrap();
            }
        }
    }
    out.push_str("\n};\n\n");
}
