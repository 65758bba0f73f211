//! What `rvvgen import` makes of a function prints what the function does: the kernels, compiled as they are
//! and called with the data of the imported program, against the oracle's answer.

use rvv_ir::data::Init;
use rvv_ir::{Expected, Program, put_elem};
use rvvgen::csource::{CType, Files, Function, read};
use rvvgen::import::{Settings, functions, import};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;
use testsuite::guests::{Compiler, Emulator, Environment, Freedom, Kernel, USUAL_COMPILERS, folder, kernels};

const VLENS: [u32; 2] = [128, 1024];

/// A name without the number that the importer puts before it: `b0_src` is `src`.
fn original(name: &str) -> &str {
    name.split_once('_').map_or(name, |(_, rest)| rest)
}

/// C that calls a function with a program's data and writes what the program prints. `None` if a parameter
/// is no pointer and no number, or the result a vector.
fn call(number: usize, function: &Function, program: &Program) -> Option<String> {
    let mut text = format!("static NOINLINE void call{number}(void) {{\n");
    for (n, buffer) in program.buffers.iter().enumerate() {
        let bytes: Vec<String> = match &buffer.init {
            Init::Zero => Vec::new(),
            _ => {
                let size = buffer.elem.bytes() as usize;
                buffer
                    .values()
                    .iter()
                    .flat_map(|v| v.to_le_bytes()[..size].to_vec())
                    .map(|b| b.to_string())
                    .collect()
            }
        };
        let _ = writeln!(
            text,
            "    static u8 b{n}[{}] ALIGNED = {{{}}};",
            buffer.bytes().max(1),
            bytes.join(",")
        );
    }
    let mut arguments = Vec::new();
    for param in &function.params {
        let name: &str = if param.name.is_empty() { "unnamed" } else { &param.name };
        match param.ty.value() {
            CType::Pointer(_) | CType::Array(..) => {
                let buffer = program.buffers.iter().position(|b| original(&b.name) == name)?;
                arguments.push(format!("(void *)b{buffer}"));
            }
            // A vector or a structure has no parameter of its name.
            _ => {
                let (var, bits) =
                    program.params.iter().find(|(v, _)| original(program.main.name(*v)) == name)?;
                let elem = put_elem(program.main.ty(*var))?;
                if elem.is_float() {
                    let _ = writeln!(text, "    static const u64 {name}_bits = {bits:#x};");
                    arguments.push(format!("*(const {} *)&{name}_bits", elem.c_name()));
                } else {
                    arguments.push(format!("{bits:#x}ull"));
                }
            }
        }
    }
    let called = format!("{}({})", function.name, arguments.join(", "));
    let result = program.outputs().map(|(_, b)| b).find(|b| original(&b.name) == "result");
    if result.is_some_and(|b| b.len > 1) {
        return None;
    }
    let _ = match result.is_some() {
        true => writeln!(text, "    __auto_type result = {called};"),
        false => writeln!(text, "    {called};"),
    };
    for (n, buffer) in program.outputs() {
        let _ = match original(&buffer.name) {
            "result" => writeln!(text, "    rt_write((const char *)&result, {});", buffer.bytes()),
            _ => writeln!(text, "    rt_write((const char *)b{n}, {});", buffer.bytes()),
        };
    }
    Some(text + "}\n")
}

/// A function that is called.
struct Called {
    name: String,
    program: Program,
    expected: Vec<Expected>,
}

/// The functions of a kernel that are imported, in one file: its C, and what they print.
fn harness(kernel: &Kernel) -> Option<(String, Vec<Called>)> {
    let unit = read(&mut Files::default(), &kernel.source).expect("a kernel can be read");
    let settings = Settings { vlens: VLENS.to_vec(), ..Settings::default() };
    let path = kernel.source.display();
    let mut text = format!(
        "#include \"{}/rt.h\"\n#define main kernel_main\n#include \"{path}\"\n#undef main\n",
        folder().display()
    );
    let (mut imported, mut main) = (Vec::new(), String::new());
    for function in functions(&unit) {
        let Ok(one) = import(&unit, function, &settings) else { continue };
        let number = imported.len();
        let Some(call) = call(number, function, &one.program) else { continue };
        text += &call;
        let _ = writeln!(main, "    call{number}();");
        imported.push(Called {
            name: function.name.to_string(),
            program: one.program,
            expected: one.expected,
        });
    }
    text += &format!("int main(void) {{\n{main}    return 0;\n}}\n");
    (!imported.is_empty()).then_some((text, imported))
}

#[test]
fn imported_functions_print_what_the_functions_do() {
    let build = tempfile::tempdir().unwrap();
    let build: &Path = build.path();
    let Some(compiler) = USUAL_COMPILERS.iter().find_map(|name| Compiler::find(name, build).ok()) else {
        println!("skipped: no RVV compiler (tools/setup installs one)");
        return;
    };
    let (mut compared, mut problems) = (0, Vec::new());
    for kernel in kernels(&folder()).unwrap() {
        let Some((text, imported)) = harness(&kernel) else { continue };
        let source = build.join(format!("{}.c", kernel.name));
        std::fs::write(&source, text).unwrap();
        let calls = Kernel { source, expected: Vec::new(), ..kernel.clone() };
        let elf = compiler
            .compile(&calls, "O1", Environment::Linux, build)
            .unwrap_or_else(|e| panic!("{}: {e}", kernel.name));
        for (at, vlen) in VLENS.into_iter().enumerate() {
            let seen = Emulator::Here
                .run(&elf, &kernel.needs, vlen, &Freedom::ONES, Duration::from_secs(60))
                .unwrap();
            let mut printed = &seen.stdout[..];
            for Called { name, program, expected } in &imported {
                let expected = &expected[at];
                let (this, rest) = printed.split_at(expected.len().min(printed.len()));
                printed = rest;
                if let Some(wrong) = expected.judge(program, this) {
                    let buffer = &program.buffers[wrong.buffer].name;
                    problems
                        .push(format!("{}: {name}, VLEN {vlen}: {buffer}[{}]", kernel.name, wrong.element));
                }
                compared += 1;
            }
        }
    }
    assert!(problems.is_empty(), "{} of {compared}:\n{}", problems.len(), problems.join("\n"));
    assert!(compared >= 120, "{compared}");
}
