//! `--core`: a file with all that the manual leaves to an implementation.

use crate::files::{plain, read_text};
use crate::options::{IsaOption, check_vlen, parse_agnostic, parse_isa, parse_vl};
use rvv_isa::Isa;
use rvvsim::Config;
use rvvsim::config::{Agnostic, UnorderedSum, VlChoice, VsetvlX0};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// The largest file.
const LARGEST: u64 = 1 << 16;

/// A core: what its file says. Where it says nothing, the default is.
#[derive(Clone, Debug, Default)]
pub struct Core {
    /// The file.
    pub path: PathBuf,
    /// The extensions that exist.
    pub isa: Option<IsaOption>,
    /// Bits in a register.
    pub vlen: Option<u32>,
    tail: Agnostic,
    mask: Agnostic,
    vl: VlChoice,
    vl_multiple: Option<NonZeroU32>,
    vsetvl_x0: VsetvlX0,
    lenient: bool,
    strict_align: bool,
    unordered_sum: UnorderedSum,
    no_vstart: bool,
    whole_segments: bool,
}

const KEYS: [&str; 12] = [
    "isa",
    "vlen",
    "tail",
    "mask",
    "vl",
    "vl-multiple",
    "vsetvl-x0",
    "reserved",
    "misaligned",
    "unordered-sums",
    "vstart-in-arithmetic",
    "segments-that-trap",
];

/// What somebody might want to choose and nobody may.
const FIXED: [(&str, &str); 4] = [
    ("ordered-sums", "norm:vfredosum_op: the ordered sum adds in element order"),
    ("prestart", "norm:vector_prestart_element: prestart elements are never updated"),
    ("vstart-past-vl", "norm:vstart_vl_dep: nothing is updated with vstart >= vl"),
    ("tail-of-masks", "norm:vreg_mask_tail_agn: the tail of a mask result is agnostic, as tail says"),
];

impl Core {
    /// Reads a file.
    ///
    /// # Errors
    /// In words: what is wrong, and by which rule.
    pub fn read(path: &Path) -> Result<Core, String> {
        let text = read_text(path, LARGEST)?;
        let core = Core::parse(&text).map_err(|e| format!("{}: {e}", path.display()))?;
        Ok(Core { path: path.to_owned(), ..core })
    }

    fn parse(text: &str) -> Result<Core, String> {
        let table: Table = text.parse().map_err(|e: toml::de::Error| {
            let line = e.span().map_or(1, |span| text[..span.start.min(text.len())].lines().count().max(1));
            format!("line {line}: {}", e.message().trim_end())
        })?;
        let mut core = Core::default();
        for (key, value) in &table {
            core.take(key, value)?;
        }
        let isa = core.isa.as_ref().map_or_else(Isa::rva23u64, |option| option.isa);
        if let Some(vlen) = core.vlen {
            check_vlen(&isa, vlen).map_err(|e| format!("vlen: norm:vlen: {e}"))?;
        }
        let groups = u32::from(isa.largest_group());
        match core.vl_multiple {
            Some(n) if n.get() % groups != 0 && core.vl != VlChoice::Max => Err(format!(
                "vl-multiple: norm:egs_vl_avl: with the element groups of its isa, vl is VLMAX or a multiple \
                 of {groups}, not of {n}"
            )),
            _ => Ok(core),
        }
    }

    fn take(&mut self, key: &str, value: &Value) -> Result<(), String> {
        if let Some((_, rule)) = FIXED.iter().find(|(name, _)| *name == key) {
            return Err(format!("{key}: there is no choice: {rule}"));
        }
        if !KEYS.contains(&key) {
            return Err(format!("there is no key {}; the keys are {}", plain(key), KEYS.join(", ")));
        }
        let number = || value.as_integer().and_then(|n| u32::try_from(n).ok());
        let word = value.as_str();
        let wrong = |says: &str| format!("{key} = {}: {says}", plain(&value.to_string()));
        let agnostic = || {
            let values = "one of \"undisturbed\", \"ones\", \"ones-to-register\", \"random:SEED\" \
                          (norm:vreg_agnostic_op: agnostic elements are kept or become ones)";
            word.and_then(|w| parse_agnostic(w).ok()).ok_or_else(|| wrong(values))
        };
        let one_of = |first: &str, second: &str, rule: &str| match word {
            Some(w) if w == first => Ok(false),
            Some(w) if w == second => Ok(true),
            _ => Err(wrong(&format!("\"{first}\" or \"{second}\" ({rule})"))),
        };
        match key {
            "isa" => {
                let isa = word.ok_or_else(|| wrong("a string such as \"rv64gcv_zvfh\""))?;
                self.isa = Some(parse_isa(isa).map_err(|e| wrong(&e))?);
            }
            "vlen" => {
                let rule = "a power of two up to 65536 (norm:vlen)";
                self.vlen = Some(number().ok_or_else(|| wrong(rule))?);
            }
            "tail" => self.tail = agnostic()?,
            "mask" => self.mask = agnostic()?,
            "vl" => {
                let values = "one of \"max\", \"half\", \"random:SEED\" (norm:vl_val_list: ceil(AVL/2) <= vl \
                              <= VLMAX for VLMAX < AVL < 2*VLMAX, and else there is no choice)";
                self.vl = word.and_then(|w| parse_vl(w).ok()).ok_or_else(|| wrong(values))?;
            }
            "vl-multiple" => {
                let n = number().filter(|n| n.is_power_of_two() && *n <= 65536).and_then(NonZeroU32::new);
                self.vl_multiple =
                    Some(n.ok_or_else(|| wrong("a power of two, as element groups are (norm:egs_vl_avl)"))?);
            }
            "vsetvl-x0" => {
                self.vsetvl_x0 = match word {
                    Some("vill") => VsetvlX0::Vill,
                    Some("keep") => VsetvlX0::Keep,
                    Some("clamp") => VsetvlX0::Clamp,
                    _ => return Err(wrong("one of \"vill\", \"keep\", \"clamp\" (norm:vtype_vset_rsv)")),
                }
            }
            "reserved" => {
                let rule = "norm:vreg_source_eew_rsv and norm:vstart_val_rsv, which common hardware executes";
                self.lenient = one_of("trap", "lenient", rule)?;
            }
            "misaligned" => {
                let rule = "norm:vector_ls_misaligned_exception: moved as they are, or an exception";
                self.strict_align = one_of("allowed", "trap", rule)?;
            }
            "unordered-sums" => {
                let rule = "norm:vfredusum_redtree: a tree that depends on vtype and vl alone";
                let tree = one_of("in-order", "tree", rule)?;
                self.unordered_sum = if tree { UnorderedSum::Tree } else { UnorderedSum::InOrder };
            }
            "vstart-in-arithmetic" => {
                let rule = "norm:vstart_vtype_dep: a vstart that the core never leaves behind may be illegal";
                self.no_vstart = one_of("allowed", "trap", rule)?;
            }
            _ => {
                let rule =
                    "norm:vector_ls_seg_partial_access: the fields before the trap are loaded, or none";
                self.whole_segments = one_of("partial", "whole", rule)?;
            }
        }
        Ok(())
    }

    /// The choices of this core, for the machine that `config` is of.
    pub fn apply(&self, config: Config) -> Config {
        Config {
            tail: self.tail,
            mask: self.mask,
            vl: self.vl,
            vl_multiple: self.vl_multiple,
            vsetvl_x0: self.vsetvl_x0,
            lenient: self.lenient,
            misaligned: !self.strict_align,
            unordered_sum: self.unordered_sum,
            vstart_in_arithmetic: !self.no_vstart,
            partial_segments: !self.whole_segments,
            ..config
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_keys_is_the_default() {
        let config = Core::parse("# nothing\n").unwrap().apply(Config::default());
        assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()));
    }

    #[test]
    fn every_key_is_taken() {
        let text = "isa = 'rv64gcv'\nvlen = 512\ntail = 'ones'\nmask = 'random:7'\nvl = 'half'\n\
                    vl-multiple = 2\nvsetvl-x0 = 'clamp'\nreserved = 'lenient'\nmisaligned = 'trap'\n\
                    unordered-sums = 'tree'\n\
                    vstart-in-arithmetic = 'trap'\nsegments-that-trap = 'whole'\n";
        assert!(KEYS.iter().all(|key| text.contains(&format!("{key} = "))), "each key is in the text");
        let core = Core::parse(text).unwrap();
        assert_eq!((core.vlen, core.isa.is_some()), (Some(512), true));
        let c = core.apply(Config::default());
        assert_eq!((c.tail, c.mask, c.vl), (Agnostic::Ones, Agnostic::Random(7), VlChoice::Half));
        assert_eq!((c.vl_multiple, c.vsetvl_x0), (NonZeroU32::new(2), VsetvlX0::Clamp));
        assert_eq!((c.lenient, c.misaligned, c.unordered_sum), (true, false, UnorderedSum::Tree));
        assert_eq!((c.vstart_in_arithmetic, c.partial_segments), (false, false));
    }

    #[test]
    fn what_the_manual_forbids_is_refused_by_its_rule() {
        for (text, says) in [
            ("tail = 'zeros'", "tail = \"zeros\": one of \"undisturbed\""),
            ("tail = 'zeros'", "norm:vreg_agnostic_op"),
            ("vl = 'one'", "norm:vl_val_list"),
            ("vlen = 300", "norm:vlen"),
            ("vlen = 131072", "norm:vlen"),
            ("vlen = -1", "norm:vlen"),
            ("vlen = '128'", "norm:vlen"),
            ("isa = 'rv64gcv_zvl512b'\nvlen = 256", "norm:vlen"),
            ("vl = 'half'\nvl-multiple = 1", "norm:egs_vl_avl"),
            ("vl-multiple = 3", "norm:egs_vl_avl"),
            ("vl-multiple = 0", "norm:egs_vl_avl"),
            ("vsetvl-x0 = 'zero'", "norm:vtype_vset_rsv"),
            ("unordered-sums = 'random:1'", "norm:vfredusum_redtree"),
            ("misaligned = true", "norm:vector_ls_misaligned_exception"),
            ("vstart-in-arithmetic = 1", "norm:vstart_vtype_dep"),
            ("segments-that-trap = []", "norm:vector_ls_seg_partial_access"),
            ("ordered-sums = 'tree'", "norm:vfredosum_op"),
            ("prestart = 'ones'", "norm:vector_prestart_element"),
        ] {
            let e = Core::parse(text).expect_err(text);
            assert!(e.contains(says), "{text}: {e}");
        }
    }

    #[test]
    fn hostile_files_are_refused_in_a_line() {
        let deep = format!("tail = {}", "[".repeat(20_000));
        let tables = "[a.".repeat(5000);
        for text in
            ["tali = 'ones'", "\u{1b}[2J = 1", "\"\u{7}\" = 1", "tail", "= =", "vlen = 1e999", &deep, &tables]
        {
            let e = Core::parse(text).expect_err("it is wrong");
            assert!(e.chars().count() < 400 && !e.chars().any(char::is_control), "{e:?}");
        }
        assert!(
            Core::parse("tali = 1").unwrap_err().contains("there is no key tali; the keys are isa, vlen")
        );
        assert!(Core::parse("\n\ntail").unwrap_err().starts_with("line 3: "));
    }
}
