//! Completions for shells, and man pages.

use clap::Command;
use clap_complete::Shell;
use std::path::{Path, PathBuf};

/// A file or folder that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", path.display())]
pub struct GenerateError {
    path: PathBuf,
    source: std::io::Error,
}

/// Where files for a shell are under `share/`, and what they are called for `rvvsim`.
const SHELLS: [(Shell, &str, &str, &str); 3] = [
    (Shell::Bash, "bash-completion/completions", "", ""),
    (Shell::Zsh, "zsh/site-functions", "_", ""),
    (Shell::Fish, "fish/vendor_completions.d", "", ".fish"),
];

/// Does `--generate DIR`, if that is the command line: writes completions and man pages of the command below
/// a folder such as `/usr/share` or `~/.local/share`. It is no option of the command, so that `--help` and
/// the files themselves do not list it.
///
/// # Errors
/// Inside: a file cannot be written.
#[must_use]
pub fn generate(command: Command) -> Option<Result<(), GenerateError>> {
    let mut words = std::env::args_os().skip(1);
    match (words.next(), words.next(), words.next()) {
        (Some(option), Some(share), None) if option == "--generate" => {
            Some(write(command, &PathBuf::from(share)))
        }
        _ => None,
    }
}

fn write(mut command: Command, share: &Path) -> Result<(), GenerateError> {
    let fail = |path: &Path| {
        let path = path.to_owned();
        |source| GenerateError { path, source }
    };
    let folder = |name: &str| {
        let folder = share.join(name);
        std::fs::create_dir_all(&folder).map_err(fail(&folder)).map(|()| folder)
    };
    let name = command.get_name().to_owned();
    // Completions add `help` subcommands to the command, which need no pages.
    let for_pages = command.clone();
    for (shell, place, before, after) in SHELLS {
        let file = folder(place)?.join(format!("{before}{name}{after}"));
        let mut text = Vec::new();
        clap_complete::generate(shell, &mut command, &name, &mut text);
        std::fs::write(&file, text).map_err(fail(&file))?;
    }
    let pages = folder("man/man1")?;
    clap_mangen::generate_to(for_pages, &pages).map_err(fail(&pages))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Arg;

    #[test]
    fn every_shell_gets_its_file_and_every_subcommand_its_page() {
        let share = std::env::temp_dir().join(format!("rvv-cli-share-{}", std::process::id()));
        let command = Command::new("tool").subcommand(Command::new("run").arg(Arg::new("vlen").long("vlen")));
        write(command, &share).unwrap();
        for (file, word) in [
            ("bash-completion/completions/tool", "--vlen"),
            ("zsh/site-functions/_tool", "--vlen"),
            ("fish/vendor_completions.d/tool.fish", "vlen"),
            ("man/man1/tool.1", "tool\\-run(1)"),
            ("man/man1/tool-run.1", "vlen"),
        ] {
            let text = std::fs::read_to_string(share.join(file)).unwrap();
            assert!(text.contains(word), "{file}: {text}");
        }
        assert_eq!(std::fs::read_dir(share.join("man/man1")).unwrap().count(), 2);
        std::fs::remove_dir_all(&share).unwrap();
    }
}
