//! Known compiler bugs, to be kept apart from new ones.

use std::path::Path;

/// A known miscompilation or crash of a compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Known {
    /// The kernel.
    pub kernel: String,
    /// The compiler's name.
    pub compiler: String,
    /// The levels.
    pub levels: Vec<String>,
    /// What is wrong, in a few words.
    pub what: String,
}

impl Known {
    /// Whether it is about this kernel, compiler and level.
    #[must_use]
    pub fn covers(&self, kernel: &str, compiler: &str, level: &str) -> bool {
        self.kernel == kernel && self.compiler == compiler && self.levels.iter().any(|l| l == level)
    }
}

/// Reads a list of known bugs, `kernel compiler level,level: what` in each line; none if there is no such
/// file.
#[must_use]
pub fn known(path: &Path) -> Vec<Known> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    text.lines().filter(|l| !l.starts_with('#')).filter_map(parse).collect()
}

fn parse(line: &str) -> Option<Known> {
    let (who, what) = line.split_once(':')?;
    let mut words = who.split_whitespace().map(String::from);
    let (kernel, compiler, levels) = (words.next()?, words.next()?, words.next()?);
    let levels = levels.split(',').map(String::from).collect();
    Some(Known { kernel, compiler, levels, what: what.trim().to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_kernel_compiler_levels_and_what() {
        let known = parse("histogram clang-22 O1,O2: reserved store").unwrap();
        assert!(known.covers("histogram", "clang-22", "O2"));
        assert!(!known.covers("histogram", "clang-22", "O0"));
        assert!(!known.covers("sort", "clang-22", "O2"));
        assert_eq!(known.what, "reserved store");
        assert_eq!(parse("no colon here"), None);
    }
}
