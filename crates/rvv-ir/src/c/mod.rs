//! Programs as C: freestanding for campaigns, with libc for people, self-checking for real hardware.
//!
//! A translation unit holds one program or many. Run without arguments it runs all of them in order, and what
//! they print follows one after the other. Run with a number as its argument it runs that one alone, which
//! attributes a crash to its program without another compilation.

mod body;
mod build;
mod fixed;
mod floats;
mod loops;
mod march;
mod names;
mod records;
mod runtime;
mod tables;

use crate::data::Init;
use crate::{Buffer, BufferKind, Expected, Linkage, Program, Stmt, Var};
use body::Body;
pub use floats::{FloatNeeds, float_needs, sets_frm};
use loops::{c_type, dimensions, literal_types, pointer_params};
pub use march::march;
use names::Names;
pub use runtime::{FENV_ACCESS, INTRINSICS_HEADER};
use rvv_intrinsics::{Elem, Type};
use std::fmt::Write;

/// How a program is written as C.
#[derive(Clone, Debug, Default)]
pub struct COptions<'e> {
    /// What it prints, and how it is started.
    pub mode: Mode<'e>,
    /// With the C library's stdio; otherwise its own start code and system calls, and no library at all. Such
    /// a file can be linked with the C library as well. [`Mode::Libc`] always has it.
    pub libc: bool,
    /// What the file will be called, for the commands in its head comment; `program.c` or `program.cpp`
    /// unless it is given.
    pub file: Option<&'e str>,
    /// C, or C++ of the same meaning.
    pub language: Language,
    /// Buffers hold one value that means nothing, and their contents come with [`pokes`]: a compiler spends a
    /// good part of its time on long lists of numbers. Constants are still in the file.
    pub poked: bool,
}

/// The language of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// C17.
    #[default]
    C,
    /// C++17: functions take vectors by reference, some give their result through one, and those that only
    /// this file calls are templates.
    Cpp,
}

impl Language {
    /// How a file's name ends.
    pub fn suffix(self) -> &'static str {
        match self {
            Language::C => "c",
            Language::Cpp => "cpp",
        }
    }
}

/// What a program prints.
///
/// Where a mode takes expectations, there is one list for each program, with one [`Expected`] for each VLEN;
/// the program picks the one of the machine it runs on, and ends with status 77 and a message if there is
/// none.
#[derive(Clone, Copy, Debug, Default)]
pub enum Mode<'e> {
    /// Each output buffer whole, as bytes, by `write`.
    #[default]
    Raw,
    /// A line of text for each element of each output buffer, in hexadecimal. With expectations, an element
    /// that is not defined in full is a dash; without, all elements are printed.
    Libc(&'e [Vec<Expected>]),
    /// Nothing, and status 0, if every defined bit is as expected; the first wrong element, and status 1,
    /// otherwise.
    SelfCheck(&'e [Vec<Expected>]),
    /// A line for each output buffer with a checksum of its defined bits (64-bit FNV-1a over each byte, its
    /// undefined bits cleared): runs can be compared without an oracle at hand, but what is defined must be
    /// known.
    Differential(&'e [Vec<Expected>]),
}

impl<'e> Mode<'e> {
    /// What is expected of program `n`.
    fn expected(self, n: usize) -> &'e [Expected] {
        let all = match self {
            Mode::Raw => &[],
            Mode::Libc(all) | Mode::SelfCheck(all) | Mode::Differential(all) => all,
        };
        all.get(n).map_or(&[], |list| list)
    }
}

/// What a compiler needs besides `-march` and `-mabi=lp64d` for a file without the C library.
pub const FREESTANDING: &[&str] = &["-ffreestanding", "-fno-stack-protector", "-nostdlib", "-static"];

/// The same for programs of plain C. Loops may be what functions of the C library do; compilers look for that
/// only where they may take it that there is one. The file has those that they call.
pub const HOSTED: &[&str] = &["-fhosted", "-fno-stack-protector", "-nostdlib", "-static"];

/// One translation unit with these programs, which are valid. It compiles without warnings under `-Wall`.
pub fn emit(programs: &[&Program], options: &COptions) -> String {
    let libc = options.libc || matches!(options.mode, Mode::Libc(_));
    let mut out = String::new();
    let usual = format!("program.{}", options.language.suffix());
    header(&mut out, programs, options.mode, options.file.unwrap_or(&usual), libc);
    let plain = programs.iter().all(|p| p.is_plain());
    runtime::includes(&mut out, libc, programs.iter().any(|p| sets_frm(p)), plain);
    runtime::helpers(&mut out, options.mode, libc, &used_floats(programs), options.language);
    fixed::declare(&mut out, programs);
    let mut file = Names::new();
    for (n, program) in programs.iter().enumerate() {
        let prefix = prefix(n, programs.len());
        if programs.len() > 1 {
            writeln!(out, "/* Program {n} */\n").unwrap();
            comment(&mut out, program);
        }
        emit_program(&mut out, program, n, &prefix, &mut file, options);
    }
    dispatch(&mut out, programs.len(), libc, options.language);
    out
}

/// What the names of program `n` of so many begin with.
fn prefix(n: usize, count: usize) -> String {
    if count > 1 { format!("p{n}_") } else { String::new() }
}

/// The contents of a buffer, to be written where its symbol is in the ELF.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poke {
    /// The symbol.
    pub symbol: String,
    /// What is there.
    pub bytes: Vec<u8>,
}

/// What is missing in the file if it was [emitted](emit) without its data.
pub fn pokes(programs: &[&Program]) -> Vec<Poke> {
    let poke = |p: Poked| Poke { symbol: p.symbol, bytes: programs[p.program].buffers[p.buffer].contents() };
    poked(programs).into_iter().map(poke).collect()
}

/// A buffer whose contents are missing in the file if it was [emitted](emit) without its data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Poked {
    /// Which of the programs has it.
    pub program: usize,
    /// Its place in [`Program::buffers`].
    pub buffer: usize,
    /// The symbol.
    pub symbol: String,
}

/// The buffers of [`pokes`].
pub fn poked(programs: &[&Program]) -> Vec<Poked> {
    let mut file = Names::new();
    let mut found = Vec::new();
    for (n, program) in programs.iter().enumerate() {
        let globals = Globals::new(program, &prefix(n, programs.len()), &mut file, Language::C);
        for (buffer, symbol) in globals.buffers.into_iter().enumerate() {
            if is_poked(&program.buffers[buffer]) {
                found.push(Poked { program: n, buffer, symbol });
            }
        }
    }
    found
}

/// The functions of each program in a file that they were [emitted](emit) into, by their names in C: what the
/// program does, without what prints its buffers.
pub fn functions(programs: &[&Program]) -> Vec<(usize, String)> {
    let mut file = Names::new();
    let mut found = Vec::new();
    for (n, program) in programs.iter().enumerate() {
        let prefix = prefix(n, programs.len());
        let globals = Globals::new(program, &prefix, &mut file, Language::C);
        found.push((n, format!("{prefix}program")));
        found.extend(globals.functions.into_iter().map(|name| (n, name)));
    }
    found
}

/// Whether the contents of a buffer need not be in the file.
fn is_poked(buffer: &Buffer) -> bool {
    buffer.kind != BufferKind::Const && buffer.init != Init::Zero
}

/// What a program's buffers and functions are called in C.
struct Globals {
    buffers: Vec<String>,
    /// The structure of each record, and the array of them.
    records: Vec<[String; 2]>,
    functions: Vec<String>,
    /// The list of the buffers that programs write or whose contents are unknown, and that of those they
    /// print.
    lists: [String; 2],
    language: Language,
}

impl Globals {
    fn new(program: &Program, prefix: &str, file: &mut Names, language: Language) -> Globals {
        let mut give = |name: &str| file.give(&format!("{prefix}{name}"));
        give("program");
        give("output");
        Globals {
            buffers: program.buffers.iter().map(|b| give(&b.name)).collect(),
            records: records::names(program, &mut give),
            functions: program.functions.iter().map(|f| give(&f.name)).collect(),
            lists: ["buffers", "outputs"].map(give),
            language,
        }
    }
}

fn emit_program(
    out: &mut String,
    program: &Program,
    n: usize,
    prefix: &str,
    file: &mut Names,
    options: &COptions,
) {
    let globals = Globals::new(program, prefix, file, options.language);
    for (buffer, name) in program.buffers.iter().zip(&globals.buffers) {
        declare(out, buffer, name, options.language, options.poked && is_poked(buffer));
    }
    records::declare(out, program, &globals, "static");
    let named = program.buffers.iter().zip(&globals.buffers);
    let unknown = named.filter(|(b, _)| b.kind != BufferKind::Const).map(|(_, name)| format!("&{name}"));
    let unknown: Vec<String> = unknown.collect();
    if !unknown.is_empty() {
        let list = &globals.lists[0];
        writeln!(out, "static const volatile void *const {list}[] = {{{}}};", unknown.join(", ")).unwrap();
    }
    out.push('\n');
    emit_functions(out, program, &globals, file);
    let mut body = Body::new(program, &globals, &program.main, file.clone());
    writeln!(out, "static __attribute__((noinline)) void {prefix}program(void)\n{{").unwrap();
    body.variables(out, |_| true);
    if !unknown.is_empty() {
        // What the list leads to is hidden with it. A line for each would be a good part of the program.
        writeln!(out, "    hide({});", globals.lists[0]).unwrap();
    }
    for (var, bits) in &program.params {
        body.opaque(out, *var, *bits);
    }
    records::copy_in(out, program, &globals);
    body.statements(out, &program.main.body);
    records::copy_out(out, program, &globals);
    out.push_str("}\n\n");
    tables::output(out, program, n, prefix, &globals, options.mode);
}

/// The functions a program calls.
fn emit_functions(out: &mut String, program: &Program, globals: &Globals, file: &Names) {
    for (n, (f, name)) in program.functions.iter().zip(&globals.functions).enumerate() {
        let style = Style::of(program, n, globals.language);
        let linkage = match f.linkage {
            Linkage::Local => "static __attribute__((noinline)) ",
            Linkage::Inline => "static ",
            Linkage::Global => "__attribute__((noinline)) ",
        };
        if style.template {
            out.push_str("template <int> ");
        }
        let result = f.ret.map_or(Type::Void, |v| f.ty(v));
        let ret = if style.result_by_reference { Type::Void } else { result };
        write!(out, "{linkage}{ret} {name}(").unwrap();
        let mut body = Body::new(program, globals, f, file.clone());
        let mut params: Vec<String> = Vec::new();
        if style.result_by_reference {
            params.push(format!("{result} &result_"));
        }
        params.extend(f.params.iter().map(|&p| {
            if style.references.contains(&p) {
                format!("const {} &{}", fixed::type_of(&f.vars[p.index()]), body.name(p))
            } else {
                format!("{} {}", fixed::type_of(&f.vars[p.index()]), body.name(p))
            }
        }));
        params.extend(pointer_params(program, f, globals));
        out.push_str(&if params.is_empty() { "void".into() } else { params.join(", ") });
        out.push_str(")\n{\n");
        body.variables(out, |v| !f.params.contains(&v));
        body.statements(out, &f.body);
        match f.ret {
            Some(ret) if style.result_by_reference => {
                writeln!(out, "    result_ = {};", body.name(ret)).unwrap();
            }
            Some(ret) => writeln!(out, "    return {};", body.name(ret)).unwrap(),
            None => {}
        }
        out.push_str("}\n\n");
    }
}

/// How a function is declared and called, beyond what the program says: C++ has more than one way.
struct Style {
    /// It is a template, whose argument is a number that it does not use.
    template: bool,
    /// Its result is a reference, its first parameter. It is assigned last, after the parameters have been
    /// read.
    result_by_reference: bool,
    /// The vectors that it takes by reference: it does not assign to them.
    references: Vec<Var>,
}

impl Style {
    fn of(program: &Program, number: usize, language: Language) -> Style {
        let Some(f) = program.functions.get(number).filter(|_| language == Language::Cpp) else {
            return Style { template: false, result_by_reference: false, references: Vec::new() };
        };
        let is_vector = |v: Var| matches!(f.ty(v), Type::Vector(_) | Type::Mask(_));
        let written: Vec<Var> = f.body.iter().flat_map(|s| s.effects(program).writes).collect();
        let by_reference = |v: &Var| is_vector(*v) && !written.contains(v) && f.ret != Some(*v);
        Style {
            template: f.linkage != Linkage::Global,
            // Every other one.
            result_by_reference: number.is_multiple_of(2) && f.ret.is_some_and(is_vector),
            references: f.params.iter().copied().filter(by_reference).collect(),
        }
    }
}

/// A program as a person would write it who only wants it compiled: one function, its parameters and buffers
/// unknown, and nothing that runs it. For reports of compilers that crash.
pub fn emit_function(program: &Program) -> String {
    let header =
        if program.is_plain() { "#include <stddef.h>\n#include <stdint.h>\n" } else { INTRINSICS_HEADER };
    let mut out = format!("{header}\n");
    runtime::float_bits(&mut out, &used_floats(&[program]));
    let mut file = Names::new();
    file.give("program");
    let globals = Globals {
        buffers: program.buffers.iter().map(|b| file.give(&b.name)).collect(),
        records: records::names(program, &mut |name| file.give(name)),
        functions: program.functions.iter().map(|f| file.give(&f.name)).collect(),
        lists: Default::default(),
        language: Language::C,
    };
    if sets_frm(program) {
        out.push_str("void set_frm(unsigned long mode);\n");
    }
    if any_stmt(program, &|s| matches!(s, Stmt::Scratch(_))) {
        out.push_str("void hide(const volatile void *p);\n");
    }
    fixed::declare(&mut out, &[program]);
    records::declare(&mut out, program, &globals, "extern");
    for (number, (buffer, name)) in program.buffers.iter().zip(&globals.buffers).enumerate() {
        let (elem, size) = (buffer.elem, dimensions(buffer));
        match buffer.kind {
            _ if program.record_of(number).is_some() => {}
            BufferKind::Const => declare(&mut out, buffer, name, globals.language, false),
            // As `declare` has them, so that the same statements fit.
            _ if elem.is_float() => {
                let bits = Elem::unsigned(elem.sew()).c_name();
                writeln!(out, "extern union {{ {bits} bits{size}; {} f{size}; }} {name};", elem.c_name())
                    .unwrap();
            }
            _ => writeln!(out, "extern {} {name}{size};", c_type(buffer, globals.language)).unwrap(),
        }
    }
    out.push('\n');
    emit_functions(&mut out, program, &globals, &file);
    let main = &program.main;
    let mut body = Body::new(program, &globals, main, file.clone());
    let params: Vec<Var> = program.params.iter().map(|p| p.0).collect();
    let list: Vec<String> = params.iter().map(|&p| format!("{} {}", main.ty(p), body.name(p))).collect();
    let list = if list.is_empty() { "void".to_string() } else { list.join(", ") };
    writeln!(out, "void program({list})\n{{").unwrap();
    body.variables(&mut out, |v| !params.contains(&v));
    body.statements(&mut out, &main.body);
    out.push_str("}\n");
    out
}

/// Comment lines of a program.
fn comment(out: &mut String, program: &Program) {
    for line in &program.comment {
        writeln!(out, "// {}", line.replace(['\n', '\r'], " ").trim_end().trim_end_matches('\\')).unwrap();
    }
    if !program.comment.is_empty() {
        out.push('\n');
    }
}

fn header(out: &mut String, programs: &[&Program], mode: Mode, file: &str, libc: bool) {
    let what = match mode {
        Mode::Raw => "prints its output buffers whole, as bytes",
        Mode::Libc(_) => "prints its output buffers as text",
        Mode::SelfCheck(_) => {
            "checks its results: status 0 if all are right, 1 and the first wrong one otherwise"
        }
        Mode::Differential(_) => "prints a checksum of each output buffer's defined bits",
    };
    if let [program] = programs {
        comment(out, program);
    } else {
        writeln!(out, "// {} programs; an argument is the number of the one to run.", programs.len())
            .unwrap();
    }
    writeln!(out, "// It {what}. Build it, at any level of optimisation, by one of").unwrap();
    for command in build::commands(programs, file, libc) {
        writeln!(out, "//   {command}").unwrap();
    }
    out.push('\n');
}

/// Defines a buffer. Floats are given by their bits, through a union: a literal has no NaN payload.
fn declare(out: &mut String, buffer: &Buffer, name: &str, language: Language, poked: bool) {
    // `hide` lets the address of the others escape, so that nothing is known of what they hold.
    let kind = if buffer.kind == BufferKind::Const { "static const " } else { "static " };
    let (elem, size) = (buffer.elem, dimensions(buffer));
    let values = buffer.values();
    let zero = values.iter().all(|&v| v == 0);
    let digits = elem.bytes() as usize * 2;
    if elem.is_float() {
        let bits = Elem::unsigned(elem.sew()).c_name();
        write!(out, "{kind}union {{ {bits} bits{size}; {} f{size}; }} {name}", elem.c_name()).unwrap();
    } else {
        write!(out, "{kind}{} {name}{size}", c_type(buffer, language)).unwrap();
    }
    if zero || poked {
        // What is poked is not zero, so that the ELF has a place for it.
        let value = u8::from(poked);
        let one = if elem.is_float() { format!("{{{{{value}}}}}") } else { format!("{{{value}}}") };
        writeln!(out, " = {one};").unwrap();
        return;
    }
    out.push_str(if elem.is_float() { " = {{" } else { " = {" });
    let per_line = (96 / (digits + 4)).max(1);
    for (i, v) in values.iter().enumerate() {
        out.push_str(if i % per_line == 0 { "\n    " } else { " " });
        if elem.is_float() {
            write!(out, "{v:#0width$x},", width = digits + 2).unwrap();
        } else {
            write!(out, "{},", body::integer(elem, *v)).unwrap();
        }
    }
    out.push_str(if elem.is_float() { "\n}};\n" } else { "\n};\n" });
}

/// The part of the file that picks programs and runs them.
fn dispatch(out: &mut String, count: usize, libc: bool, language: Language) {
    out.push_str("static void run(unsigned long n)\n{\n    set_frm(0);\n");
    if count == 1 {
        out.push_str("    (void)n;\n    program();\n    output();\n");
    } else {
        out.push_str("    switch (n) {\n");
        for n in 0..count {
            writeln!(out, "    case {n}: p{n}_program(); p{n}_output(); break;").unwrap();
        }
        out.push_str("    }\n");
    }
    out.push_str("}\n\n");
    runtime::start(out, count, libc, language);
}

/// The floating-point types that literals and parameters of these programs may have.
fn used_floats(programs: &[&Program]) -> Vec<Elem> {
    let mut used: Vec<Elem> = Vec::new();
    let mut see = |ty: Type| {
        if let Type::Scalar(e) = ty
            && e.is_float()
            && !used.contains(&e)
        {
            used.push(e);
        }
    };
    for program in programs {
        for f in program.functions.iter().chain([&program.main]) {
            f.vars.iter().for_each(|v| see(v.ty));
        }
        program.calls().iter().for_each(|c| c.intrinsic.params.iter().for_each(|p| see(p.ty)));
        literal_types(program).into_iter().for_each(|e| see(Type::Scalar(e)));
    }
    used.sort();
    used
}

/// Whether a program has such a statement.
fn any_stmt(program: &Program, wanted: &dyn Fn(&Stmt) -> bool) -> bool {
    fn within(body: &[Stmt], wanted: &dyn Fn(&Stmt) -> bool) -> bool {
        body.iter().any(|stmt| wanted(stmt) || stmt.blocks().into_iter().any(|block| within(block, wanted)))
    }
    program.functions.iter().chain([&program.main]).any(|f| within(&f.body, wanted))
}
