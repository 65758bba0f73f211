//! Features: what is true of how a compiler compiled a program, as a set of names. Programs that add to the
//! set of all features have shown a compiler something new.
//!
//! * [`feature`] — a feature, its name and its number;
//! * [`code`] — whose function is where in an ELF;
//! * [`machine`] — what is seen in machine code, of any compiler;
//! * `said` — what a compiler says if it is [asked](super::testbed::ask).
//! * [`target`] — what a campaign is directed at, and how near a program comes.
//!
//! [`of_elf`] costs next to nothing, so a campaign can have it of every build. [`of_build`] compiles once
//! more, with what makes the compiler talk: for a sample of the batches.

pub mod code;
pub mod feature;
pub mod machine;
mod said;
pub mod target;

use super::testbed::Build;
use super::testbed::ask::{Asks, ask};
use super::testbed::compiler::{Family, Limits};
use code::{Code, Owners};
use feature::Counts;
pub use feature::{Feature, Features, Source};
use rvv_ir::Program;
pub use target::Target;

/// Whose features those of a build are: all versions of a compiler share them, and all levels.
pub fn scope(build: &Build) -> &'static str {
    match build.compiler.family {
        Family::Gcc => "gcc",
        Family::Clang | Family::Zig => "clang",
        Family::Custom => "custom",
        Family::Direct => "direct",
    }
}

/// One build in so many is asked. Compiling once more with records and [some passes](super::testbed::ask::Passes::Some)
/// takes up to two and a half times as long as the build (docs/feedback.md): that is a fifth of the time for
/// builds, and less of a campaign's.
pub const ASKED: u64 = 10;

/// The builds of a batch, by their places, that are compiled once more with [`of_build`]: each has its turn.
pub fn asked(batch: u64, builds: usize) -> impl Iterator<Item = usize> {
    (0..builds).filter(move |b| batch.wrapping_add(*b as u64).is_multiple_of(ASKED))
}

/// The features of each program that are seen in the machine code of a file with all of them; `scope` says
/// whose they are. Programs without a function there have none: the direct lowering, and what is stripped,
/// has no symbols.
pub fn of_elf(elf: &[u8], programs: &[&Program], scope: &str) -> Vec<Features> {
    let counts = seen(elf, &Owners::new(programs));
    counts.into_iter().map(|c| c.features(scope)).collect()
}

fn seen(elf: &[u8], owners: &Owners) -> Vec<Counts> {
    let code = Code::read(elf, owners);
    code.by_program(owners.programs()).iter().map(|functions| machine::count(functions)).collect()
}

/// All features of each program: a build of them all, whose compiler says what it does.
///
/// # Errors
/// Why they could not be built, in words; one of them may be to blame.
pub fn of_build(
    build: &Build,
    programs: &[&Program],
    asks: Asks,
    limits: &Limits,
) -> Result<Vec<Features>, String> {
    let answers = ask(build, programs, asks, limits)?;
    let owners = Owners::new(programs);
    let mut counts = seen(&answers.elf, &owners);
    said::count(&answers, &owners, &mut counts);
    Ok(counts.into_iter().map(|c| c.features(scope(build))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_build_is_asked_in_its_turn() {
        for builds in [1, 2, 6, 7, 12] {
            let mut times = vec![0; builds];
            (0..60).for_each(|batch| asked(batch, builds).for_each(|b| times[b] += 1));
            assert_eq!(times, vec![60 / ASKED; builds]);
        }
    }
}
