//! Writes programs.

use crate::options::{Form, GenerateOptions, Oracle};
use crate::progress::Progress;
use rvv_ir::c::{COptions, Language, Mode, emit};
use rvv_ir::elf;
use rvvgen::{Generated, Plan, generate};
use std::path::Path;

/// Writes all that is asked for.
pub fn run(options: &GenerateOptions) -> Result<(), String> {
    // clap asks for it.
    let dir = options.output.as_deref().ok_or("give a folder to write to: -o DIR")?;
    if options.emit.contains(&Form::SelfCheck) && options.oracle != Oracle::Internal {
        return Err("--emit self-check has the expected values inside: it needs --oracle internal".into());
    }
    let mut vlens = options.vlen.clone();
    vlens.sort_unstable();
    vlens.dedup();
    let settings = options.style.settings(vlens, options.vl)?;
    let plan =
        Plan::new(options.style.seed, &settings.selection, options.style.ops, settings.smallest_vlen());
    let mut progress = Progress::new("written", options.count);
    let forms = Forms { emit: &options.emit, oracle: options.oracle, libc: options.libc };
    let last = options.count - 1;
    let width = last.to_string().len().max(4);
    for i in 0..options.count {
        let number = options.number.checked_add(i).ok_or("--number plus --count is too large")?;
        let generated = generate(&plan, number, &settings).map_err(|e| e.to_string())?;
        if options.count == 1 {
            write(dir, generated, forms)?;
        } else {
            write(&dir.join(format!("{i:0width$}")), generated, forms)?;
        }
        progress.show(i + 1);
    }
    Ok(())
}

/// What is written of a program.
#[derive(Clone, Copy)]
pub struct Forms<'a> {
    /// Formats besides program.ir.
    pub emit: &'a [Form],
    /// Source of the expected output.
    pub oracle: Oracle,
    /// C programs print text.
    pub libc: bool,
}

/// Writes a program to a folder.
pub fn write(dir: &Path, generated: Generated, options: Forms) -> Result<(), String> {
    let file = |name: &str, contents: &[u8]| {
        let path = dir.join(name);
        std::fs::write(&path, contents).map_err(|e| format!("cannot write {}: {e}", path.display()))
    };
    std::fs::create_dir_all(dir).map_err(|e| format!("cannot make {}: {e}", dir.display()))?;
    let Generated { program, expected, .. } = generated;
    file("program.ir", program.to_string().as_bytes())?;
    if options.oracle == Oracle::Internal {
        for expected in &expected {
            file(&format!("expected.{}.txt", expected.vlen), expected.to_text(&program).as_bytes())?;
        }
    }
    let all = [expected];
    let source = |name: &str, mode: Mode, language: Language| {
        let c = emit(
            &[&program],
            &COptions { mode, libc: options.libc, file: Some(name), language, poked: false },
        );
        file(name, c.as_bytes())
    };
    let mode = match options.oracle {
        Oracle::Differential => Mode::Differential(&all),
        Oracle::Internal if options.libc => Mode::Libc(&all),
        Oracle::None if options.libc => Mode::Libc(&[]),
        _ => Mode::Raw,
    };
    for form in options.emit {
        match form {
            Form::Ir => {}
            Form::C => source("program.c", mode, Language::C)?,
            Form::Cpp => source("program.cpp", mode, Language::Cpp)?,
            Form::SelfCheck => source("self-check.c", Mode::SelfCheck(&all), Language::C)?,
            Form::Elf => {
                let elf = elf::lower(&[&program]).map_err(|e| format!("{e}; this is a bug of rvvgen"))?;
                let path = dir.join("program.elf");
                file("program.elf", &elf)?;
                executable(&path).map_err(|e| format!("cannot make {} executable: {e}", path.display()))?;
            }
        }
    }
    Ok(())
}

/// For those whose kernel hands RISC-V files to an emulator, or is RISC-V.
fn executable(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?;
    }
    let _ = path;
    Ok(())
}
