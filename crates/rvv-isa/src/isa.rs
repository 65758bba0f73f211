//! Instruction sets: which extensions there are.

use crate::op::Op;
use std::fmt;
use std::str::FromStr;

include!(concat!(env!("OUT_DIR"), "/extensions.rs"));

/// A row of `isa/extensions.toml`.
struct ExtInfo {
    name: &'static str,
    ext: Ext,
    /// Itself and all it implies.
    closure: ExtSet,
    hwprobe: Option<u8>,
    experimental: bool,
}

/// A set of extensions, without closing it over what they imply.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct ExtSet(pub(crate) u128);

/// What an instruction needs: all of one of these sets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Requires(pub(crate) &'static [ExtSet]);

/// An RV64 instruction set: a set of extensions, closed over what each implies.
///
/// The default is everything that the table holds but what is experimental.
///
/// # Names
///
/// [`Isa::parse`] takes `rv64` and a list of extensions as compilers and other emulators take it, with or
/// without version numbers, or a profile such as `rva23u64` and more extensions behind it. Names of promises
/// that need nothing executed are accepted. An extension that is not executed here is refused, since it would
/// be silently missing; [`Isa::parse_noting`] leaves it to the caller to refuse those that only privileged
/// code can see. `isa/extensions.toml` lists which name is which.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Isa(ExtSet);

/// Names in a string that change nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Notes {
    /// Promises without instructions, and why a program cannot rely on each here.
    pub unkept: Vec<(&'static str, &'static str)>,
    /// Extensions that are missing and that only privileged code can see.
    pub privileged: Vec<&'static str>,
}

/// Why a string names no instruction set.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum IsaError {
    /// The string does not begin as it should.
    #[error("`{0}` does not begin with rv64i, rv64g or a profile ({names})", names = profiles())]
    Base(String),
    /// There is no such extension.
    #[error("unknown extension `{name}`{}", hint(.nearest))]
    Unknown {
        /// The name as given.
        name: String,
        /// Names much like it.
        nearest: Vec<&'static str>,
    },
    /// There is, but it is not executed here.
    #[error("extension `{0}` is not supported")]
    Refused(&'static str),
}

fn profiles() -> String {
    let names: Vec<_> = GROUPS.iter().map(|g| g.0).filter(|name| name.len() > 1).collect();
    names.join(", ")
}

fn hint(nearest: &[&str]) -> String {
    match nearest {
        [] => String::new(),
        names => format!(" (did you mean {}?)", names.join(" or ")),
    }
}

impl ExtSet {
    /// Whether the extension is in the set.
    pub fn contains(self, ext: Ext) -> bool {
        self.0 >> ext as u32 & 1 == 1
    }

    /// The extensions of the set, in canonical order.
    pub fn iter(self) -> impl Iterator<Item = Ext> {
        EXTENSIONS.iter().map(|e| e.ext).filter(move |&e| self.contains(e))
    }

    fn includes(self, other: ExtSet) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Debug for ExtSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl Requires {
    /// The sets, all of one of which are needed.
    pub fn alternatives(self) -> &'static [ExtSet] {
        self.0
    }
}

impl Ext {
    /// All extensions, in canonical order.
    pub fn all() -> impl ExactSizeIterator<Item = Ext> + Clone {
        EXTENSIONS.iter().map(|e| e.ext)
    }

    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        EXTENSIONS[self as usize].name
    }

    /// The extension of this name, in lower case.
    pub fn from_name(name: &str) -> Option<Ext> {
        EXTENSIONS.iter().find(|e| e.name == name).map(|e| e.ext)
    }

    /// Itself and all it implies.
    pub fn closure(self) -> ExtSet {
        EXTENSIONS[self as usize].closure
    }

    /// The number of its bit in the answer of Linux to `RISCV_HWPROBE_KEY_IMA_EXT_0`, if it has one.
    pub fn hwprobe_bit(self) -> Option<u8> {
        EXTENSIONS[self as usize].hwprobe
    }

    /// Whether it is not ratified: then it is there only if it is named.
    pub fn is_experimental(self) -> bool {
        EXTENSIONS[self as usize].experimental
    }
}

impl Isa {
    /// The instruction set of RV64I alone.
    pub fn rv64i() -> Isa {
        Isa(Ext::I.closure())
    }

    /// RVA23U64 with everything ratified on top that the table holds: the optional extensions of the profile,
    /// supervisor instructions and the rest. `Isa::parse("rva23u64")` is the profile's mandatory part alone.
    pub fn rva23u64() -> Isa {
        Isa::of(|ext| !ext.is_experimental())
    }

    /// Everything that the table holds.
    pub fn everything() -> Isa {
        Isa::of(|_| true)
    }

    fn of(wanted: impl Fn(Ext) -> bool) -> Isa {
        // A longer VLEN is the machine's to choose and not an instruction set's.
        let chosen = |ext| ext < Ext::Zvl256b || ext > Ext::Zvl65536b;
        Ext::all().filter(|&ext| chosen(ext) && wanted(ext)).fold(Isa::rv64i(), Isa::with)
    }

    /// Reads a string such as `rv64gcv_zvbb`; see the type's documentation for what it may hold.
    ///
    /// # Errors
    /// See [`IsaError`].
    pub fn parse(text: &str) -> Result<Isa, IsaError> {
        let (isa, notes) = Isa::parse_noting(text)?;
        match notes.privileged[..] {
            [] => Ok(isa),
            [missing, ..] => Err(IsaError::Refused(missing)),
        }
    }

    /// As [`Isa::parse`], but does not refuse privileged extensions that are missing: it names them.
    ///
    /// # Errors
    /// See [`IsaError`].
    pub fn parse_noting(text: &str) -> Result<(Isa, Notes), IsaError> {
        let text = text.trim().to_lowercase();
        let (first, rest) = text.split_once('_').map_or((text.as_str(), ""), |(first, rest)| (first, rest));
        let mut isa = Isa(ExtSet::default());
        let mut notes = Notes::default();
        if let Some(profile) = group(first) {
            for name in profile {
                isa.add_name(name, &mut notes)?;
            }
            // Who names a profile asks for its instructions, and does not single out its promises.
            notes.unkept.clear();
        } else {
            match first.strip_prefix("rv64") {
                Some(names) if names.starts_with(['i', 'g', 'e']) => isa.add_names(names, &mut notes)?,
                _ => return Err(IsaError::Base(text)),
            }
        }
        for names in rest.split('_').filter(|names| !names.is_empty()) {
            isa.add_names(names, &mut notes)?;
        }
        Ok((isa, notes))
    }

    /// Adds single letters, then perhaps one longer name: the part of a string between two underscores.
    fn add_names(&mut self, names: &str, notes: &mut Notes) -> Result<(), IsaError> {
        let mut rest = names;
        while let Some(letter) = rest.chars().next() {
            // A name may end in digits, as sv39 does.
            let name = if is_known(rest) { rest } else { unversioned(rest) };
            let long = name.len() > 1;
            if long && (letter == 'z' || is_known(name)) {
                return self.add_name(name, notes);
            }
            // What starts like the name of a supervisor or machine-mode extension is not a run of letters.
            if name.len() > 2 && (letter == 's' || letter == 'x') {
                return self.add_name(name, notes);
            }
            let (letter, tail) = rest.split_at(letter.len_utf8());
            self.add_name(letter, notes)?;
            rest = skip_version(tail);
        }
        Ok(())
    }

    fn add_name(&mut self, name: &str, notes: &mut Notes) -> Result<(), IsaError> {
        if let Some(ext) = Ext::from_name(name) {
            self.add(ext.closure());
        } else if let Some(names) = group(name).filter(|_| name.len() == 1) {
            for name in names {
                self.add_name(name, notes)?;
            }
        } else if let Some(&noted) = NOTED.iter().find(|noted| noted.0 == name) {
            if !notes.unkept.contains(&noted) {
                notes.unkept.push(noted);
            }
        } else if let Some(missing) = PRIVILEGED.iter().find(|&&p| p == name) {
            if !notes.privileged.contains(missing) {
                notes.privileged.push(missing);
            }
        } else if let Some(refused) = REFUSED.iter().find(|&&r| r == name) {
            return Err(IsaError::Refused(refused));
        } else if !ACCEPTED.contains(&name) {
            return Err(IsaError::Unknown { name: name.to_owned(), nearest: nearest(name) });
        }
        Ok(())
    }

    fn add(&mut self, set: ExtSet) {
        self.0.0 |= set.0;
    }

    /// The set with an extension and all it implies.
    #[must_use]
    pub fn with(mut self, ext: Ext) -> Isa {
        self.add(ext.closure());
        self
    }

    /// The set without an extension and all that implies it.
    #[must_use]
    pub fn without(mut self, ext: Ext) -> Isa {
        for other in Ext::all().filter(|other| other.closure().contains(ext)) {
            self.0.0 &= !(1 << other as u32);
        }
        self
    }

    /// Whether the extension is there, be it named or implied.
    pub fn has(&self, ext: Ext) -> bool {
        self.0.contains(ext)
    }

    /// Whether all that an instruction needs is there.
    pub fn allows(&self, requires: Requires) -> bool {
        requires.0.iter().any(|&set| self.0.includes(set))
    }

    /// The instructions of the set, in the order of the table.
    pub fn ops(self) -> impl Iterator<Item = Op> {
        Op::all().filter(move |op| self.allows(op.info().requires))
    }

    /// The extensions that are there, in canonical order.
    pub fn extensions(&self) -> impl Iterator<Item = Ext> {
        self.0.iter()
    }

    /// The extensions that this set has beyond another and that instructions ask for by name, in canonical
    /// order: not those that only stand for several, nor for a length of the registers.
    pub fn beyond(&self, other: &Isa) -> impl Iterator<Item = Ext> + use<> {
        let new = ExtSet(self.0.0 & !other.0.0 & NAMED);
        new.iter()
    }

    /// The least VLEN the extensions allow; 0 without vectors.
    pub fn vlen_min(&self) -> u32 {
        let lengths = (Ext::Zvl32b as u32..=Ext::Zvl65536b as u32).filter(|bit| self.0.0 >> bit & 1 == 1);
        lengths.map(|bit| 32 << (bit - Ext::Zvl32b as u32)).max().unwrap_or(0)
    }

    /// The widest vector element; 0 without vectors.
    pub fn elen(&self) -> u32 {
        match (self.has(Ext::Zve64x), self.has(Ext::Zve32x)) {
            (true, _) => 64,
            (false, true) => 32,
            (false, false) => 0,
        }
    }
}

impl Default for Isa {
    fn default() -> Isa {
        Isa::rva23u64()
    }
}

impl FromStr for Isa {
    type Err = IsaError;

    fn from_str(text: &str) -> Result<Isa, IsaError> {
        Isa::parse(text)
    }
}

/// The canonical string: all letters, and the longer names that nothing else implies.
impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("rv64")?;
        let implied = |ext| self.0.iter().any(|other| other != ext && other.closure().contains(ext));
        for ext in self.0.iter() {
            match ext.name() {
                letter if letter.len() == 1 => f.write_str(letter)?,
                name if !implied(ext) => write!(f, "_{name}")?,
                _ => {}
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Isa({self})")
    }
}

fn group(name: &str) -> Option<&'static [&'static str]> {
    GROUPS.iter().find(|g| g.0 == name).map(|g| g.1)
}

/// Whether any list has the name, those of what is missing included.
fn is_known(name: &str) -> bool {
    let lists: [&[&str]; 3] = [&ACCEPTED, &PRIVILEGED, &REFUSED];
    Ext::from_name(name).is_some()
        || lists.iter().any(|list| list.contains(&name))
        || NOTED.iter().any(|noted| noted.0 == name)
}

/// Drops the version number, `2` or `2p1`, behind the letter that `text` begins with.
fn skip_version(text: &str) -> &str {
    let digits = |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let major = digits(text);
    match text[major..].strip_prefix('p').map(digits) {
        Some(minor) if major > 0 && minor > 0 => &text[major + 1 + minor..],
        _ => &text[major..],
    }
}

/// Drops the version number behind the name that `text` ends with.
fn unversioned(text: &str) -> &str {
    let trim = |text: &'_ str| text.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let minor = trim(text);
    match text[..minor].strip_suffix('p') {
        Some(major) if minor < text.len() && trim(major) < major.len() => &text[..trim(major)],
        _ => &text[..minor],
    }
}

/// The known names that take the fewest edits to get to, if that is few.
fn nearest(name: &str) -> Vec<&'static str> {
    let known =
        EXTENSIONS.iter().map(|e| e.name).chain(ACCEPTED).chain(PRIVILEGED).filter(|known| known.len() > 1);
    let mut near: Vec<_> =
        known.map(|known| (edits(name, known), known)).filter(|&(edits, _)| edits <= 2).collect();
    near.sort();
    near.into_iter().take(3).map(|(_, known)| known).collect()
}

/// Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let best = (diagonal + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            diagonal = std::mem::replace(&mut row[j + 1], best);
        }
    }
    row[b.len()]
}
