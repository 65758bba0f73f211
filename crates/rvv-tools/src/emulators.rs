//! The command lines of other emulators.

use std::path::Path;
use std::process::Command;

/// What QEMU can be asked to do where the manual leaves a choice; otherwise it keeps agnostic elements and
/// takes the largest `vl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QemuChoices {
    /// Tail-agnostic elements become ones.
    pub tail_ones: bool,
    /// Mask-agnostic elements become ones.
    pub mask_ones: bool,
    /// `vl` is ⌈AVL/2⌉ where that is allowed.
    pub half_vl: bool,
}

/// `qemu-riscv64` with all extensions that it has.
#[must_use]
pub fn qemu_max(path: &Path, vlen: u32, choices: QemuChoices) -> Command {
    let QemuChoices { tail_ones, mask_ones, half_vl } = choices;
    let mut command = Command::new(path);
    command.arg("-cpu").arg(format!(
        "max,vlen={vlen},elen=64,rvv_ta_all_1s={tail_ones},\
         rvv_ma_all_1s={mask_ones},rvv_vl_half_avl={half_vl}"
    ));
    command
}

/// A command of the user's, in which `{elf}` is the file and `{vlen}` is VLEN.
#[must_use]
pub fn custom(words: &[String], elf: &Path, vlen: u32) -> Command {
    let (elf, vlen) = (elf.display().to_string(), vlen.to_string());
    let mut words = words.iter().map(|word| word.replace("{elf}", &elf).replace("{vlen}", &vlen));
    // No command is one that fails.
    let mut command = Command::new(words.next().unwrap_or_else(|| "false".to_string()));
    command.args(words);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines_say_what_was_asked_for() {
        let line = |command: &Command| format!("{command:?}").replace('"', "");
        let choices = QemuChoices { mask_ones: true, ..QemuChoices::default() };
        assert_eq!(
            line(&qemu_max(Path::new("q"), 256, choices)),
            "q -cpu max,vlen=256,elen=64,rvv_ta_all_1s=false,rvv_ma_all_1s=true,rvv_vl_half_avl=false"
        );
        let words = ["run", "--vlen={vlen}", "{elf}"].map(String::from);
        assert_eq!(line(&custom(&words, Path::new("a.elf"), 128)), "run --vlen=128 a.elf");
        assert_eq!(line(&custom(&[], Path::new("a.elf"), 128)), "false");
    }
}
