//! Names of the IR as C identifiers: no keyword, no helper of ours, no two the same in one scope.

use std::collections::HashSet;

/// Words that a program may not use as they are: keywords, types and functions that the file itself uses,
/// and functions that compilers know.
const TAKEN: &[&str] = &[
    "abort",
    "abs",
    "acos",
    "alloca",
    "asin",
    "asm",
    "atan",
    "atexit",
    "atof",
    "atoi",
    "atol",
    "auto",
    "bcmp",
    "bfloat",
    "bool",
    "break",
    "bsearch",
    "cabs",
    "calloc",
    "carg",
    "case",
    "cbrt",
    "ceil",
    "char",
    "check",
    "clz",
    "conj",
    "const",
    "continue",
    "cos",
    "cosh",
    "creal",
    "default",
    "div",
    "do",
    "double",
    "dprintf",
    "drem",
    "element",
    "else",
    "enum",
    "environ",
    "erf",
    "exit",
    "exp",
    "expect",
    "extern",
    "false",
    "fclose",
    "fdim",
    "fflush",
    "ffs",
    "fgetc",
    "fgets",
    "finish",
    "float",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "fopen",
    "for",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "free",
    "frexp",
    "fscanf",
    "fseek",
    "ftell",
    "fwrite",
    "gamma",
    "getc",
    "getchar",
    "getenv",
    "getline",
    "goto",
    "hide",
    "hypot",
    "if",
    "index",
    "inline",
    "int",
    "isalpha",
    "isdigit",
    "isinf",
    "isnan",
    "j0",
    "j1",
    "jn",
    "known",
    "labs",
    "ldexp",
    "ldiv",
    "linux",
    "log",
    "logb",
    "long",
    "lround",
    "main",
    "malloc",
    "memcmp",
    "memcpy",
    "memmove",
    "memset",
    "modf",
    "nan",
    "opaque",
    "output",
    "pclose",
    "perror",
    "popen",
    "pow",
    "print",
    "printf",
    "program",
    "put",
    "put_dec",
    "put_hex",
    "putc",
    "putchar",
    "puts",
    "qsort",
    "rand",
    "random",
    "realloc",
    "register",
    "remove",
    "rename",
    "restrict",
    "return",
    "rewind",
    "rindex",
    "rint",
    "round",
    "run",
    "scalb",
    "scanf",
    "select",
    "set_frm",
    "short",
    "signal",
    "signbit",
    "signed",
    "significand",
    "sin",
    "sinh",
    "sizeof",
    "snprintf",
    "sprintf",
    "sqrt",
    "srand",
    "srandom",
    "stack",
    "start",
    "static",
    "stderr",
    "stdin",
    "stdout",
    "strcat",
    "strchr",
    "strcmp",
    "strcpy",
    "strlen",
    "strtod",
    "strtol",
    "struct",
    "sum",
    "switch",
    "syscall3",
    "system",
    "tan",
    "tanh",
    "tgamma",
    "time",
    "tmpfile",
    "tolower",
    "toupper",
    "true",
    "trunc",
    "typedef",
    "typeof",
    "ungetc",
    "union",
    "unix",
    "unsigned",
    "usage",
    "vlenb",
    "void",
    "volatile",
    "vprintf",
    "while",
    "write",
    "write_all",
    "y0",
    "y1",
    "yn",
];

/// The names given so far in a scope and the scopes around it.
#[derive(Clone, Debug)]
pub(super) struct Names {
    used: HashSet<String>,
}

impl Names {
    /// A file in which nothing is named yet.
    pub fn new() -> Names {
        Names { used: TAKEN.iter().map(|&s| s.to_owned()).collect() }
    }

    /// A C identifier like `wanted`, unlike all given before.
    pub fn give(&mut self, wanted: &str) -> String {
        let mut name: String =
            wanted.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
        let bad_start = name.chars().next().is_none_or(|c| c.is_ascii_digit());
        // The API, the compilers and the C library own what begins with two underscores; types end in _t.
        if bad_start || name.starts_with('_') || name.ends_with("_t") || name.ends_with("_bits") {
            name = format!("n{name}_");
        }
        let stem = name.clone();
        let mut number = 1;
        while !self.used.insert(name.clone()) {
            number += 1;
            name = format!("{stem}_{number}");
        }
        name
    }
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn no_two_names_are_the_same_and_none_is_a_keyword() {
        let mut file = Names::new();
        assert_eq!(file.give("in"), "in");
        assert_eq!(file.give("for"), "for_2");
        assert_eq!(file.give("9 lives"), "n9_lives_");
        assert_eq!(file.give("__riscv_vadd"), "n__riscv_vadd_");
        let mut function = file.clone();
        assert_eq!(function.give("in"), "in_2");
        assert_eq!(file.give("x"), "x");
    }
}
