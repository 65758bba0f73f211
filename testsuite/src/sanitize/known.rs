//! Reports that are of a known fault of a compiler, as `bugs/known.toml` has them. The values may be right by
//! chance, where a program took a wrong register, so that no choice of a machine shows what is wrong.

use super::compiled::says_what_is_not_so;
use rvv_ir::{Program, VlChoice};
use rvv_oracle::{Options, evaluate};
use rvvfuzz::programs::judge::batch::build;
use rvvfuzz::programs::judge::case::Case;
use rvvfuzz::programs::known::{faults, level};
use rvvfuzz::programs::testbed::Build;
use rvvfuzz::programs::testbed::compiler::Limits;
use rvvsim::elf::Image;

/// The known fault of this compiler that a report at this VLEN is of: the program has what triggers it, and
/// changed so that it has not, nothing is reported.
///
/// # Errors
/// When the compiler does not work, or its program cannot be run.
pub fn fault_of(with: &Build, program: &Program, vlen: u32) -> Result<Option<&'static str>, String> {
    let level = level(&with.flags);
    for fault in faults() {
        let fits = fault.is_of(&with.compiler) && fault.levels.contains(&level);
        let has = fault.has.as_ref().is_some_and(|feature| feature.is_in(program));
        let Some(probe) = fault.gone.as_ref().filter(|_| fits && has) else { continue };
        let Some(changed) = probe.change(program) else { continue };
        let Ok(expected) = evaluate(&changed, &Options::new(vlen)) else { continue };
        let case = Case::known(0, changed, vec![((vlen, VlChoice::Max), expected.clone())]);
        let flags = [&with.flags[..], &probe.flags].concat();
        let parts = build(&Build::new(&with.compiler, &flags), &[case], &Limits::default())
            .map_err(|e| e.to_string())?;
        let Some(elf) = parts.into_iter().next().and_then(|part| part.elf.ok()) else { continue };
        let image = Image::parse(&elf).map_err(|e| e.to_string())?;
        if !says_what_is_not_so(&image, &expected)? {
            return Ok(Some(&fault.name));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rvvfuzz::programs::testbed::compiler::Compiler;

    fn program(before: &str) -> Program {
        let text = format!(
            "rvv-ir 1\ndata in0: f32[4] = seed 1 bits\nout out0: f32[4] = zero\nmain {{\n  var v0: f32m1\n  var v1: f32m1\n  \
             v0 = vle32_v_f32m1(&in0[0], 4)\n  {before}\n  v1 = vfadd_vv_f32m1(v0, v0, 4)\n  \
             vse32_v_f32m1(&out0[0], v1, 4)\n}}\n"
        );
        text.parse().unwrap()
    }

    #[test]
    fn a_report_is_of_a_fault_whose_trigger_the_program_has() {
        let Ok(clang) = Compiler::find("clang-19") else { return };
        let optimised = Build::new(&clang, &["-O2".to_string()]);
        let fault = |build: &Build, program: &Program| fault_of(build, program, 128).unwrap();
        assert_eq!(fault(&optimised, &program("setfrm 2")), Some("clang-frm-barrier"));
        // Without what triggers it, and at a level that does not have it, a report is to be explained.
        assert_eq!(fault(&optimised, &program("")), None);
        assert_eq!(fault(&Build::new(&clang, &["-O0".to_string()]), &program("setfrm 2")), None);
    }
}
