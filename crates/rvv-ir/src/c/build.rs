//! How a file is built: the command lines of its head comment.

use super::{FREESTANDING, march};
use crate::Program;
use rvv_intrinsics::Extension;

/// The commands that build `file`, one for clang and one for gcc. Any other level of optimisation does as
/// well.
pub(super) fn commands(programs: &[&Program], file: &str, libc: bool) -> [String; 2] {
    let march = march(programs);
    let output = file.strip_suffix(".c").unwrap_or("program");
    let link = if libc { "-static".to_string() } else { FREESTANDING.join(" ") };
    // clang 17 and 18 call these experimental; later ones do not mind the option.
    let experimental = if march.contains("_zvfbf") { " -menable-experimental-extensions" } else { "" };
    // To clang, fractional types of element groups exist only where the group is said to fit.
    let calls = programs.iter().flat_map(|p| p.calls());
    let groups = calls.into_iter().any(|c| c.intrinsic.extension == Extension::Crypto);
    let zvl = if groups && !march.contains("_zvl") { "_zvl128b" } else { "" };
    [
        format!(
            "clang --target=riscv64-linux-gnu{experimental} -march={march}{zvl} -mabi=lp64d -O2 {link} \
             -fuse-ld=lld -o {output} {file}"
        ),
        // Programs hold signalling NaNs and change frm: by default gcc need not respect either.
        format!(
            "riscv64-linux-gnu-gcc -march={march} -mabi=lp64d -O2 -fsignaling-nans -frounding-math {link} \
             -o {output} {file}"
        ),
    ]
}
