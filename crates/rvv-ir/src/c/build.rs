//! How a file is built: the command lines of its head comment.

use super::{FREESTANDING, HOSTED, march, sets_frm};
use crate::Program;
use rvv_intrinsics::Extension;

/// The commands that build `file`, one for clang and one for gcc. Any other level of optimisation does as
/// well.
pub(super) fn commands(programs: &[&Program], file: &str, libc: bool) -> [String; 2] {
    let march = march(programs);
    let output = file.strip_suffix(".c").or(file.strip_suffix(".cpp")).unwrap_or("program");
    let plain = programs.iter().all(|p| p.is_plain());
    let link = match (libc, plain) {
        (true, _) => "-static".to_string(),
        (_, true) => HOSTED.join(" "),
        _ => FREESTANDING.join(" "),
    };
    // clang 17 and 18 call these experimental; later ones do not mind the option.
    let experimental = if march.contains("_zvfbf") { " -menable-experimental-extensions" } else { "" };
    // To clang, fractional types of element groups exist only where the group is said to fit.
    let calls = programs.iter().flat_map(|p| p.calls());
    let groups = calls.into_iter().any(|c| c.intrinsic.extension == Extension::Crypto);
    let zvl = if groups && !march.contains("_zvl") { "_zvl128b" } else { "" };
    // Contraction would round less often than plain C says; some programs allow it. Programs of intrinsics
    // hold signalling NaNs, and some change frm: by default gcc need not respect either.
    let rounding = programs.iter().any(|p| sets_frm(p));
    let contract = programs.iter().all(|p| p.contract);
    let (clang, gcc) = match (plain, rounding) {
        (true, _) if contract => ("", "-ffp-contract=fast"),
        (true, _) => (" -ffp-contract=off", "-ffp-contract=off"),
        (false, true) => ("", "-fsignaling-nans -frounding-math"),
        (false, false) => ("", "-fsignaling-nans"),
    };
    [
        format!(
            "clang --target=riscv64-linux-gnu{experimental} -march={march}{zvl} -mabi=lp64d -O2{clang} {link} \
             -fuse-ld=lld -o {output} {file}"
        ),
        format!(
            "riscv64-linux-gnu-gcc -march={march} -mabi=lp64d -O2 {gcc} {link} \
             -o {output} {file}"
        ),
    ]
}
