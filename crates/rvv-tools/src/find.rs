//! Finding tools, and reading what they say of themselves.

use std::path::PathBuf;

/// Where a command is: a path as it is, a name on `PATH`.
#[must_use]
pub fn on_path(name: &str) -> Option<PathBuf> {
    if name.contains('/') {
        let path = PathBuf::from(name);
        return path.is_file().then_some(path);
    }
    std::env::split_paths(&std::env::var_os("PATH")?).map(|folder| folder.join(name)).find(|p| p.is_file())
}

/// The first thing that looks like a version: `14.2.0`.
#[must_use]
pub fn version_in(text: &str) -> Option<String> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '-' | '+' | '~' | ','))
        .find(|w| {
            w.split('.').count() >= 2
                && w.split('.').all(|p| !p.is_empty() && p.bytes().all(|b| b.is_ascii_digit()))
        })
        .map(str::to_string)
}

/// What to try as `-fuse-ld` of a clang of this major version: it finds its own lld under one of several
/// names, another one's will do too, and GNU ld, if that knows RISC-V.
#[must_use]
pub fn linkers_of_clang(major: u32) -> Vec<Option<String>> {
    let own = [format!("lld-{major}"), "lld".to_string()];
    let others = (17..=24).rev().map(|n| format!("lld-{n}"));
    own.into_iter().chain(others).map(Some).chain([None]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_where_compilers_print_them() {
        let version = |text| version_in(text).unwrap_or_default();
        assert_eq!(version("Debian clang version 19.1.7 (3~deb12u1)\nTarget: x"), "19.1.7");
        assert_eq!(version("riscv64-linux-gnu-gcc-16 (Debian 16.2.0-1) 16.2.0\n"), "16.2.0");
        assert_eq!(version_in("something else"), None);
    }

    #[test]
    fn what_is_not_there_is_not_found() {
        assert_eq!(on_path("no-such-tool-anywhere"), None);
        assert_eq!(on_path("/nonexistent/sh"), None);
        assert!(on_path("sh").is_some_and(|path| on_path(&path.to_string_lossy()) == Some(path)));
    }
}
