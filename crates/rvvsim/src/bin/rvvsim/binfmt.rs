//! As an interpreter of the kernel's `binfmt_misc`: what it says about the program it was asked to start.

use std::ffi::OsString;

/// The auxiliary vector of the emulator itself.
#[derive(Default)]
pub struct Started {
    /// Flag `O`: the program is open under this descriptor.
    pub program: Option<u64>,
    /// Flag `P`: between the path of the program and its arguments is its `argv[0]`.
    keeps_argv0: bool,
}

impl Started {
    /// What the kernel says.
    pub fn from_auxv() -> Self {
        std::fs::read("/proc/self/auxv").map_or_else(|_| Self::default(), |auxv| Self::parse(&auxv))
    }

    fn parse(auxv: &[u8]) -> Self {
        const AT_EXECFD: u64 = 2;
        const AT_FLAGS: u64 = 8;
        const PRESERVE_ARGV0: u64 = 1;
        let (words, _) = auxv.as_chunks::<8>();
        let words: Vec<u64> = words.iter().map(|word| u64::from_ne_bytes(*word)).collect();
        let (pairs, _) = words.as_chunks::<2>();
        let value = |key: u64| pairs.iter().find(|pair| pair[0] == key).map(|pair| pair[1]);
        Started {
            program: value(AT_EXECFD),
            keeps_argv0: value(AT_FLAGS).is_some_and(|flags| flags & PRESERVE_ARGV0 != 0),
        }
    }

    /// Takes the program's own `argv[0]` from the words after the emulator's name, if it is there.
    pub fn take_argv0(&self, args: &mut Vec<OsString>) -> Option<OsString> {
        (self.keeps_argv0 && args.len() > 1).then(|| args.remove(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_says_where_the_program_is_and_what_it_is_called() {
        let auxv = |pairs: &[[u64; 2]]| -> Vec<u8> {
            pairs.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect()
        };
        let started = Started::parse(&auxv(&[[6, 4096], [8, 1], [2, 3], [0, 0]]));
        assert_eq!(started.program, Some(3));
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let mut args = words(&["/bin/prog", "name", "-x"]);
        assert_eq!(started.take_argv0(&mut args), Some("name".into()));
        assert_eq!(args, words(&["/bin/prog", "-x"]));
        let plain = Started::parse(&auxv(&[[6, 4096], [8, 0], [0, 0]]));
        assert_eq!((plain.program, plain.take_argv0(&mut args)), (None, None));
        assert_eq!(Started::parse(&[1, 2, 3]).program, None);
    }
}
