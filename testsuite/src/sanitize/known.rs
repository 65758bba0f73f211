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
        let parts = build(with, &[case], &Limits::default()).map_err(|e| e.to_string())?;
        let Some(elf) = parts.into_iter().next().and_then(|part| part.elf.ok()) else { continue };
        let image = Image::parse(&elf).map_err(|e| e.to_string())?;
        if !says_what_is_not_so(&image, &expected)? {
            return Ok(Some(&fault.name));
        }
    }
    Ok(None)
}
