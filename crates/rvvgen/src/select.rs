//! Which intrinsics are asked for.

use rvv_intrinsics::{Category, Extension, Intrinsic};

/// Which intrinsics are asked for. Others may be used to feed them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Patterns for names without `__riscv_`, with `*` and `?`: any of them; none means all.
    pub names: Vec<String>,
    /// Patterns for names that are not to occur: what a compiler does not have.
    pub except: Vec<String>,
    /// Any of these.
    pub extensions: Vec<Extension>,
    /// Any of these.
    pub categories: Vec<Category>,
    /// Any of these SEW/LMUL; none means all.
    pub ratios: Vec<u32>,
}

impl Default for Selection {
    fn default() -> Self {
        Selection {
            names: Vec::new(),
            except: Vec::new(),
            extensions: Extension::ALL.to_vec(),
            categories: Category::ALL.to_vec(),
            ratios: Vec::new(),
        }
    }
}

impl Selection {
    /// Whether this may be used at all, be it asked for or not.
    pub fn allows(&self, intrinsic: &Intrinsic) -> bool {
        let name = intrinsic.name.strip_prefix("__riscv_").unwrap_or(&intrinsic.name);
        self.extensions.contains(&intrinsic.extension) && !any(&self.except, name)
    }

    /// Whether a call of this intrinsic is asked for.
    pub fn wants(&self, intrinsic: &Intrinsic, overloaded: bool) -> bool {
        let name = intrinsic.name.strip_prefix("__riscv_").unwrap_or(&intrinsic.name);
        (!overloaded || intrinsic.overloaded.is_some())
            && self.categories.contains(&Category::of(intrinsic, overloaded))
            && self.extensions.contains(&intrinsic.extension)
            && (self.ratios.is_empty() || self.ratios.contains(&crate::class(intrinsic).ratio))
            && (self.names.is_empty() || any(&self.names, name))
            && !any(&self.except, name)
    }
}

impl Selection {
    /// The first pattern, of names or of exceptions, that no intrinsic has: most likely a slip.
    #[must_use]
    pub fn idle_pattern(&self) -> Option<&str> {
        let names = rvv_intrinsics::all().iter().map(|i| i.name.strip_prefix("__riscv_").unwrap_or(&i.name));
        let mut patterns = self.names.iter().chain(&self.except);
        patterns.find(|p| !names.clone().any(|n| matches(p.as_bytes(), n.as_bytes()))).map(String::as_str)
    }
}

fn any(patterns: &[String], name: &str) -> bool {
    patterns.iter().any(|p| matches(p.as_bytes(), name.as_bytes()))
}

/// Shell patterns: `*` any number of characters, `?` one. In time linear in both, whatever the pattern.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p + 1, n));
                p += 1;
            }
            Some(&c) if c == b'?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match star {
                Some((after, from)) => {
                    star = Some((after, from + 1));
                    (p, n) = (after, from + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("vfw*_rm", "vfwadd_vv_f32m1_rm", true),
            ("vfw*_rm", "vfwadd_vv_f32m1", false),
            ("*", "", true),
            ("v?dd_*", "vadd_vv_i8m1", true),
            ("vadd", "vadd_vv_i8m1", false),
            ("*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", false),
        ] {
            assert_eq!(matches(pattern.as_bytes(), name.as_bytes()), expected, "{pattern} {name}");
        }
    }
}
