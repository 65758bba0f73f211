//! Symbols as their programmers wrote them: C++ and Rust names, demangled.
//!
//! The names are a stranger's. Mangled names can expand to texts that are longer than any memory, and take as
//! long to write, so both the name and its text are bounded; what goes beyond is shown as it is in the file.

use cpp_demangle::{DemangleNodeType, DemangleOptions, DemangleWrite, ParseOptions, Symbol};
use std::borrow::Cow;
use std::fmt::{self, Write};

/// The longest name that is looked at.
const LONGEST: usize = 2048;
/// The longest text that comes of it.
const LONGEST_TEXT: usize = 4096;
/// Parts of a name that may be visited: parts that write nothing take time as well.
const MOST_PARTS: usize = 1 << 16;
/// How deep names may nest. Each level takes stack.
const DEEPEST: u32 = 64;

/// A symbol's name for people. No line of a report is broken by it: control characters are replaced.
pub fn readable(name: &str) -> Cow<'_, str> {
    let text = if name.len() > LONGEST { None } else { rust(name).or_else(|| cpp(name)) };
    let text = text.map_or(Cow::Borrowed(name), Cow::Owned);
    if text.contains(char::is_control) { text.replace(char::is_control, "?").into() } else { text }
}

fn rust(name: &str) -> Option<String> {
    let symbol = rustc_demangle::try_demangle(name).ok()?;
    let mut text = String::new();
    // The crate itself ends a text at a megabyte. `#`: without the hash that the compiler adds.
    write!(text, "{symbol:#}").ok()?;
    (text.len() <= LONGEST_TEXT).then_some(text)
}

fn cpp(name: &str) -> Option<String> {
    if !name.starts_with("_Z") {
        return None;
    }
    let symbol = Symbol::new_with_options(name, &ParseOptions::default().recursion_limit(DEEPEST)).ok()?;
    let mut text = Bounded::default();
    let options = DemangleOptions::new().recursion_limit(DEEPEST);
    symbol.structured_demangle(&mut text, &options).ok()?;
    (text.parts < MOST_PARTS).then_some(text.text)
}

/// A text that stops at its limit.
#[derive(Default)]
struct Bounded {
    text: String,
    parts: usize,
}

impl DemangleWrite for Bounded {
    fn push_demangle_node(&mut self, _: DemangleNodeType) {
        self.parts += 1;
    }

    fn write_string(&mut self, more: &str) -> fmt::Result {
        if self.text.len() + more.len() > LONGEST_TEXT || self.parts >= MOST_PARTS {
            return Err(fmt::Error);
        }
        self.text.push_str(more);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn names_are_as_they_were_written() {
        for (name, text) in [
            ("main", "main"),
            (
                "_ZN4simd3addERKSt6vectorIfSaIfEEm",
                "simd::add(std::vector<float, std::allocator<float> > const&, unsigned long)",
            ),
            ("_ZN3foo3barIiEEvT_", "void foo::bar<int>(int)"),
            ("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad"),
            ("_RNvCs1234_7mycrate3foo", "mycrate::foo"),
            ("_ZTV3Foo", "{vtable(Foo)}"),
            // What is no mangled name stays.
            ("_Z", "_Z"),
            ("_ZN", "_ZN"),
            ("_R", "_R"),
            ("a\nb\u{1b}[31m", "a?b?[31m"),
        ] {
            assert_eq!(readable(name), text);
        }
        let long = format!("_ZN{}3fooEv", "1a".repeat(LONGEST));
        assert_eq!(readable(&long), long);
    }

    /// Names that double their text with each letter, nest, or are damaged.
    #[test]
    fn hostile_names_take_no_time_and_no_memory() {
        let start = Instant::now();
        let mut names = Vec::new();
        // Substitutions: each parameter is a function of all before it.
        let mut doubling = "_Z1fP1a".to_owned();
        let mut packs = "_Z1fIJEE".to_owned();
        for digit in "_0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ".chars() {
            let digit = if digit == '_' { String::new() } else { digit.to_string() };
            doubling += &format!("PFS{digit}_S{digit}_S{digit}_E");
            packs += &format!("vDpT{digit}_DpT{digit}_");
            names.extend([doubling.clone(), packs.clone()]);
        }
        for part in [
            "P", "N", "I", "F", "X", "J", "K", "Dp", "S_", "T_", "L_Z", "sr", "cv", "cl", "St3", "M1a", "A_",
            "Z1av", "lmm",
        ] {
            for count in [10, 100, 1000] {
                names.push(format!("_Z{}", part.repeat(count)));
                names.push(format!("_Z1fI{}EE", part.repeat(count)));
                names.push(format!("_ZN1a{}E", part.repeat(count)));
            }
        }
        for part in ["NvC", "I", "Y", "M", "B_", "TB_B_", "FB_", "X"] {
            names.extend([10, 100, 500].map(|count| format!("_R{}1a", part.repeat(count))));
        }
        // Good ones, damaged.
        let good = [
            "_ZNSt6vectorIN4simd6matrixIfLm4ELm4EEESaIS2_EE12emplace_backIJRKS2_EEERS2_DpOT_",
            "_RINvNtC3std3mem8align_ofNtNtB4_3fmt9FormatterEB2_",
            "_ZZNK3$_0clIZN1a1bEvEUlT_E_EEDaS3_ENKUlvE_clEv",
        ];
        let mut seed = 1u64;
        for good in good {
            for _ in 0..2000 {
                let mut bytes = good.as_bytes().to_vec();
                for _ in 0..=(seed >> 60) % 4 {
                    seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
                    let at = (seed >> 33) as usize % bytes.len();
                    let from = (seed >> 20) as usize % bytes.len();
                    bytes[at] = bytes[from];
                }
                names.push(String::from_utf8_lossy(&bytes).into_owned());
            }
        }
        for name in &names {
            let one = Instant::now();
            assert!(readable(name).len() <= LONGEST_TEXT.max(name.len()), "{name}");
            assert!(one.elapsed() < Duration::from_secs(2), "{name}: {:?}", one.elapsed());
        }
        assert!(start.elapsed() < Duration::from_secs(60));
    }
}
