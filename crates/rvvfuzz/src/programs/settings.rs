//! What a campaign is: everything that decides its programs, its testbeds, and so its outcomes.

use super::features::Target;
use super::sampling::Sampling;
use super::testbed::Testbeds;
use crate::programs::testbed::compiler::{Compiler, Family, Lacks, Limits};
use crate::programs::testbed::emulator::{Agnosticism, Emulator, Setup};
use rvv_intrinsics::Extension;
use rvv_oracle::VlChoice;
use rvvgen::{Category, POLICIES, Scheduler, Selection, Sizes, Weights};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

/// Everything that decides the outcomes of a campaign. The store keeps it as JSON.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Everything random follows from it.
    pub seed: u64,
    /// Operations in a program, about.
    #[serde(with = "sizes")]
    pub ops: Option<Sizes>,
    /// Elements of data; none for lengths that follow the VLENs.
    #[serde(with = "sizes")]
    pub len: Option<Sizes>,
    /// Programs in a batch.
    pub batch: u64,
    /// Patterns of the intrinsics' names; none means all.
    pub names: Vec<String>,
    /// Patterns of names that do not occur.
    #[serde(default)]
    pub except: Vec<String>,
    /// Extensions, as [`Extension::name`] spells them.
    pub extensions: Vec<String>,
    /// Categories, as [`Category::name`] spells them.
    pub categories: Vec<String>,
    /// Generation policies, taken in turn.
    pub policies: Vec<String>,
    /// Orders of the statements: each program is run in one of them, some in all.
    pub schedules: Vec<String>,
    /// How often the axes beyond the program are tried.
    #[serde(default)]
    pub sampling: Sampling,
    /// Data sets beyond the program's own on which each build is run, in this process.
    #[serde(default)]
    pub inputs: u32,
    /// One program in so many may have what triggers a known fault of its compilers; 1 means all.
    #[serde(default = "always")]
    pub triggers: u32,
    /// The share of programs that are new. The others are made of those with which compilers did something new.
    #[serde(default = "whole", skip_serializing_if = "is_whole")]
    pub explore: f64,
    /// What the programs that are not new are to come near to, see [`Target`]; nothing, and all that is new counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Levels of optimisation: flags, separated by blanks.
    pub levels: Vec<String>,
    /// Flags that take turns: each batch is built with one of these besides, by the compilers that know them.
    /// A flag that begins with + adds to `-march`.
    #[serde(default)]
    pub rotated: Vec<String>,
    /// How emulators are set up.
    pub setups: Vec<SetupSettings>,
    /// The compilers.
    pub compilers: Vec<CompilerSettings>,
    /// The emulators.
    pub emulators: Vec<EmulatorSettings>,
    /// Seconds for one build.
    pub build_seconds: u64,
    /// Mebibytes for one build.
    pub build_memory: u64,
}

/// How an emulator is set up: see [`Setup`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SetupSettings {
    /// Bits in a vector register.
    pub vlen: u32,
    /// `undisturbed`, `ones` or `random`.
    pub agnostic: String,
    /// vsetvl takes half of what it could.
    pub half: bool,
    /// Only on `rvvsim`, where a run costs no process.
    #[serde(default)]
    pub inside: bool,
}

/// A compiler: see [`Compiler`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompilerSettings {
    /// What to call it.
    pub name: String,
    /// The version it gave.
    pub version: String,
    /// `gcc`, `clang`, `zig`, `custom` or `direct`.
    pub family: String,
    /// The command and its first arguments.
    pub command: Vec<String>,
    /// `-fuse-ld=`.
    pub linker: Option<String>,
}

/// An emulator: see [`Emulator`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulatorSettings {
    /// `rvvsim`, `qemu`, or what the user calls it.
    pub name: String,
    /// QEMU's version.
    pub version: String,
    /// The command; empty for `rvvsim`.
    pub command: Vec<String>,
    /// The VLENs it has; empty means any.
    pub vlens: Vec<u32>,
}

/// Campaigns that were begun before there was a choice.
fn always() -> u32 {
    1
}

/// Campaigns that have no feedback. It is not written: versions that do not know it read their stores.
fn whole() -> f64 {
    1.0
}

fn is_whole(share: &f64) -> bool {
    *share >= 1.0
}

/// The VLENs if none are asked for.
pub const VLENS: [u32; 4] = [128, 256, 512, 1024];

/// The levels if none are asked for.
pub const LEVELS: [&str; 3] = ["-O0", "-O2", "-O3"];

/// The flags that take turns if nothing is said: levels, instruction sets, how vectors are sized, tuning, and
/// what changes the code around them. A compiler that does not know one goes without it.
pub const ROTATED: [&str; 26] = [
    "-O1",
    "-Os",
    "-Oz",
    "-O2 +zvl256b",
    "-O3 +zvl512b",
    "-O2 +zvl1024b",
    "-O3 -mrvv-vector-bits=zvl",
    "-O2 +zvl256b -mrvv-vector-bits=zvl",
    "-O3 +zvl1024b -mrvv-vector-bits=zvl",
    "-O2 +zba_zbb_zbs_zicond_zfa_zvbb",
    "-O3 +zvbb_zvl256b",
    "-O3 -mrvv-max-lmul=m2",
    "-O3 -mrvv-max-lmul=m8",
    "-O3 -mrvv-max-lmul=dynamic",
    "-O2 -mtune=sifive-7-series",
    "-O3 -mtune=generic-ooo",
    "-O2 -mtune=sifive-x280",
    "-O3 -mtune=spacemit-x60",
    "-O2 -flto",
    "-O3 -mstrict-align",
    "-O2 -fPIC",
    "-O2 -g",
    "-O2 -fstack-protector-strong",
    "-O0 -xc++",
    "-O2 -xc++",
    "-O3 -xc++",
];

impl Default for Settings {
    fn default() -> Self {
        let strings = |names: &[&str]| names.iter().map(|n| n.to_string()).collect();
        Settings {
            seed: 1,
            ops: Some(Sizes::OPERATIONS),
            len: None,
            batch: 64,
            names: Vec::new(),
            except: Vec::new(),
            extensions: Extension::ALL.iter().map(|e| e.name().to_string()).collect(),
            categories: Category::ALL.iter().map(|c| c.name().to_string()).collect(),
            policies: strings(&["default"]),
            schedules: Scheduler::ALL.iter().map(|s| s.name().to_string()).collect(),
            sampling: Sampling::default(),
            inputs: 24,
            triggers: 10,
            explore: 1.0,
            target: None,
            levels: strings(&LEVELS),
            rotated: strings(&ROTATED),
            setups: setups(&VLENS),
            compilers: vec![CompilerSettings::from(&Compiler::direct())],
            emulators: vec![EmulatorSettings::rvvsim()],
            build_seconds: Limits::default().time.as_secs(),
            build_memory: Limits::default().memory >> 20,
        }
    }
}

/// Sizes in a file: a number, or a range as text; null for none.
mod sizes {
    use rvvgen::Sizes;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error};

    #[derive(Serialize, Deserialize)]
    #[serde(untagged)]
    enum Form {
        Number(usize),
        Range(String),
    }

    pub fn serialize<S: Serializer>(sizes: &Option<Sizes>, to: S) -> Result<S::Ok, S::Error> {
        let form = sizes.map(|s| match s.least == s.most {
            true => Form::Number(s.least),
            false => Form::Range(s.to_string()),
        });
        form.serialize(to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Sizes>, D::Error> {
        let text = match Option::<Form>::deserialize(from)? {
            None => return Ok(None),
            Some(Form::Number(n)) => n.to_string(),
            Some(Form::Range(text)) => text,
        };
        text.parse().map(Some).map_err(D::Error::custom)
    }
}

/// One of a few words, or a sentence that names them.
fn one_of<T>(
    what: &str,
    word: &str,
    names: impl Iterator<Item = &'static str>,
    from: impl Fn(&str) -> Option<T>,
) -> Result<T, String> {
    from(word)
        .ok_or_else(|| format!("`{word}` is no {what}; there are {}", names.collect::<Vec<_>>().join(", ")))
}

impl Settings {
    /// Which intrinsics are asked for.
    ///
    /// # Errors
    /// A word that is none, and what is right.
    pub fn selection(&self) -> Result<Selection, String> {
        let extension = |w: &String| {
            one_of("extension", w, Extension::ALL.iter().map(|e| e.name()), Extension::from_name)
        };
        let category =
            |w: &String| one_of("category", w, Category::ALL.iter().map(|c| c.name()), Category::from_name);
        let selection = Selection {
            names: self.names.iter().map(|n| n.trim_start_matches("__riscv_").to_string()).collect(),
            extensions: self.extensions.iter().map(extension).collect::<Result<_, _>>()?,
            categories: self.categories.iter().map(category).collect::<Result<_, _>>()?,
            ratios: Vec::new(),
            except: self.except.clone(),
        };
        match selection.idle_pattern() {
            Some(pattern) => Err(format!(
                "no intrinsic is called `{pattern}`; patterns are of explicit names without `__riscv_`, with * and ?: \
                 'vfw*_rm'"
            )),
            None => Ok(selection),
        }
    }

    /// Whether all numbers are within what the command line allows: settings are read from files, too.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), String> {
        for (name, value, most) in [
            ("ops", self.ops.map_or(1, |s| s.most as u64), 1000),
            ("len", self.len.map_or(1, |s| s.most as u64), 10_000),
            ("batch", self.batch, 2000),
            ("build_seconds", self.build_seconds, 366 * 24 * 3600),
            ("build_memory", self.build_memory, 1 << 20),
            ("inputs", 1 + u64::from(self.inputs), 1001),
            ("setups", self.setups.len() as u64, 1000),
            ("levels", self.levels.len() as u64, 1000),
            ("rotated", 1 + self.rotated.len() as u64, 1001),
        ] {
            if !(1..=most).contains(&value) {
                return Err(format!("`{name}` is {value}: it is from 1 to {most}"));
            }
        }
        if !(0.0..=1.0).contains(&self.explore) {
            return Err(format!("`explore` is {}: it is a share, from 0 to 1", self.explore));
        }
        if self.target.is_some() && self.explore >= 1.0 {
            let why = "`target` says what mutants are made near to, and with `explore` 1 there are none";
            return Err(why.to_string());
        }
        self.target().map(drop)
    }

    /// What the campaign is directed at.
    ///
    /// # Errors
    /// When it is no pattern of features.
    pub fn target(&self) -> Result<Option<Target>, String> {
        let parse = |text: &String| Target::parse(text).map_err(|e| format!("`target` is `{text}`: {e}"));
        self.target.as_ref().map(parse).transpose()
    }

    /// The weights of the policies, in turn.
    ///
    /// # Errors
    /// A word that is none, and what is right.
    pub fn weights(&self) -> Result<Vec<Weights>, String> {
        let named = |w: &String| one_of("policy", w, POLICIES.iter().map(|(n, ..)| *n), Weights::policy);
        self.policies.iter().map(named).collect()
    }

    /// The orders.
    ///
    /// # Errors
    /// A word that is none, and what is right.
    pub fn schedulers(&self) -> Result<Vec<Scheduler>, String> {
        let named =
            |w: &String| one_of("schedule", w, Scheduler::ALL.iter().map(|s| s.name()), Scheduler::from_name);
        self.schedules.iter().map(named).collect()
    }

    /// What compilers may use.
    pub fn limits(&self) -> Limits {
        let time = Duration::from_secs(self.build_seconds);
        Limits { time, memory: self.build_memory << 20, until: None }
    }

    /// The testbeds.
    ///
    /// # Errors
    /// What makes no sense, in words.
    pub fn testbeds(&self) -> Result<Testbeds, String> {
        let compilers: Vec<Compiler> =
            self.compilers.iter().map(CompilerSettings::compiler).collect::<Result<_, _>>()?;
        let setups: Vec<Setup> = self.setups.iter().map(SetupSettings::setup).collect::<Result<_, _>>()?;
        let words = |level: &String| level.split_whitespace().map(str::to_string).collect::<Vec<_>>();
        let levels: Vec<Vec<String>> = self.levels.iter().map(words).collect();
        let rotated: Vec<Vec<String>> = self.rotated.iter().map(words).collect();
        let mut testbeds = Testbeds::cross(&compilers, &levels, &rotated, &[], &setups);
        for emulator in &self.emulators {
            let process = emulator.emulator() != Emulator::Rvvsim;
            let fits = setups.iter().zip(&self.setups).filter(|(_, s)| !(process && s.inside));
            let fits: Vec<Setup> = fits.map(|(s, _)| *s).filter(|s| emulator.has_vlen(s.vlen)).collect();
            let one = Testbeds::cross(&[], &[], &[], &[emulator.emulator()], &fits);
            if one.runs.is_empty() {
                return Err(format!(
                    "no VLEN of the campaign is one of emulator `{}`; give --vlen one that it has",
                    emulator.name
                ));
            }
            testbeds.runs.extend(one.runs);
        }
        if testbeds.builds.is_empty() {
            return Err("there is no compiler left; `rvvfuzz doctor` says what can be used".to_string());
        }
        if testbeds.runs.is_empty() {
            return Err("there is no emulator left; `rvvfuzz doctor` says what can be used".to_string());
        }
        Ok(testbeds)
    }

    /// The fields in which another differs: name, ours, theirs.
    pub fn differences(&self, other: &Settings) -> Vec<(String, String, String)> {
        let fields = |s: &Settings| match serde_json::to_value(s) {
            Ok(serde_json::Value::Object(map)) => map,
            _ => serde_json::Map::new(),
        };
        let (ours, theirs) = (fields(self), fields(other));
        let keys: BTreeSet<&String> = ours.keys().chain(theirs.keys()).collect();
        // What is not written is what it always was.
        let text = |of: &serde_json::Map<String, serde_json::Value>, k: &String| {
            of.get(k).map_or("not given".to_string(), |v| v.to_string())
        };
        let differs = keys.into_iter().filter(|k| ours.get(*k) != theirs.get(*k));
        differs.map(|k| (k.clone(), text(&ours, k), text(&theirs, k))).collect()
    }
}

impl SetupSettings {
    fn setup(&self) -> Result<Setup, String> {
        let agnostic = match self.agnostic.as_str() {
            "undisturbed" => Agnosticism::Undisturbed,
            "ones" => Agnosticism::Ones,
            "random" => Agnosticism::Random(1),
            other => return Err(format!("`{other}`: agnostic elements are undisturbed, ones or random")),
        };
        if !self.vlen.is_power_of_two() || !(128..=65536).contains(&self.vlen) {
            return Err(format!("VLEN {}: VLEN is a power of two from 128 to 65536", self.vlen));
        }
        let vl = if self.half { VlChoice::Half } else { VlChoice::Max };
        Ok(Setup { vlen: self.vlen, agnostic, vl })
    }
}

/// The set-ups for these VLENs. On every emulator: both ways with agnostic elements at the first, one way at
/// the others, and vl halved once. On `rvvsim`, every VLEN with every way and either vl.
pub fn setups(vlens: &[u32]) -> Vec<SetupSettings> {
    const WAYS: [&str; 3] = ["undisturbed", "ones", "random"];
    let setup = |vlen: u32, agnostic: &str, half: bool, inside: bool| SetupSettings {
        vlen,
        agnostic: agnostic.to_string(),
        half,
        inside,
    };
    let mut setups = Vec::new();
    for (n, &vlen) in vlens.iter().enumerate() {
        if n == 0 {
            setups.push(setup(vlen, "undisturbed", false, false));
        }
        setups.push(setup(vlen, ["ones", "undisturbed"][n % 2], false, false));
    }
    setups.extend(vlens.first().map(|&vlen| setup(vlen, "undisturbed", true, false)));
    for half in [false, true] {
        for &vlen in vlens {
            for way in WAYS {
                let one = setup(vlen, way, half, false);
                if !setups.contains(&one) {
                    setups.push(SetupSettings { inside: true, ..one });
                }
            }
        }
    }
    setups
}

const FAMILIES: [(&str, Family); 5] = [
    ("gcc", Family::Gcc),
    ("clang", Family::Clang),
    ("zig", Family::Zig),
    ("custom", Family::Custom),
    ("direct", Family::Direct),
];

impl Family {
    /// As files spell it.
    pub fn name(self) -> &'static str {
        FAMILIES.iter().find(|(_, f)| *f == self).map_or("custom", |(name, _)| name)
    }
}

impl From<&Compiler> for CompilerSettings {
    fn from(c: &Compiler) -> Self {
        CompilerSettings {
            name: c.name.clone(),
            version: c.version.clone(),
            family: c.family.name().to_string(),
            command: c.command.clone(),
            linker: c.linker.clone(),
        }
    }
}

impl CompilerSettings {
    /// The compiler.
    ///
    /// # Errors
    /// A family that is none.
    pub fn compiler(&self) -> Result<Compiler, String> {
        let family = |word: &str| FAMILIES.iter().find(|(name, _)| *name == word).map(|(_, f)| *f);
        Ok(Compiler {
            name: self.name.clone(),
            version: self.version.clone(),
            family: one_of("family of compilers", &self.family, FAMILIES.iter().map(|(n, _)| *n), family)?,
            command: self.command.clone(),
            linker: self.linker.clone(),
            lacks: Lacks::default(),
        })
    }
}

impl EmulatorSettings {
    /// The built-in one.
    pub fn rvvsim() -> EmulatorSettings {
        EmulatorSettings {
            name: "rvvsim".to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            command: Vec::new(),
            vlens: Vec::new(),
        }
    }

    /// QEMU, by path or name.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn qemu(name: &str) -> Result<EmulatorSettings, String> {
        match Emulator::qemu(name)? {
            Emulator::Qemu(path, version) => Ok(EmulatorSettings {
                name: "qemu".to_string(),
                version,
                command: vec![path.display().to_string()],
                vlens: Vec::new(),
            }),
            other => Err(format!("`{name}` is {}", other.name())),
        }
    }

    /// The emulator.
    pub fn emulator(&self) -> Emulator {
        match (self.name.as_str(), self.command.first()) {
            (_, None) => Emulator::Rvvsim,
            ("qemu", Some(path)) => Emulator::Qemu(PathBuf::from(path), self.version.clone()),
            (name, Some(_)) => Emulator::Command(name.to_string(), self.command.clone()),
        }
    }

    fn has_vlen(&self, vlen: u32) -> bool {
        self.vlens.is_empty() || self.vlens.contains(&vlen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_json() {
        let settings = Settings::default();
        let json = serde_json::to_string(&settings).unwrap();
        assert_eq!(serde_json::from_str::<Settings>(&json).unwrap(), settings);
        assert!(settings.testbeds().unwrap().len() == 24);
    }

    #[test]
    fn a_wrong_word_is_told_the_right_ones() {
        let settings = Settings { policies: vec!["wild".into()], ..Settings::default() };
        assert!(settings.weights().unwrap_err().contains("there are default, plain"));
        let settings = Settings { extensions: vec!["q".into()], ..Settings::default() };
        assert!(settings.selection().unwrap_err().contains("v, bf16, crypto"));
    }

    #[test]
    fn differences_are_named() {
        let other = Settings { seed: 7, ..Settings::default() };
        let differences = Settings::default().differences(&other);
        assert_eq!(differences, [("seed".to_string(), "1".to_string(), "7".to_string())]);
        // What one of them does not write differs as well.
        let fed = Settings { explore: 0.5, ..Settings::default() };
        let explore = |was: &str, is: &str| vec![("explore".to_string(), was.to_string(), is.to_string())];
        assert_eq!(Settings::default().differences(&fed), explore("not given", "0.5"));
        assert_eq!(fed.differences(&Settings::default()), explore("0.5", "not given"));
    }

    #[test]
    fn versions_without_feedback_read_settings_without_it() {
        let text = serde_json::to_string(&Settings::default()).unwrap();
        assert!(!text.contains("explore"), "{text}");
        assert_eq!(serde_json::from_str::<Settings>(&text).unwrap().explore, 1.0);
        for wrong in [-0.1, 1.5, f64::NAN] {
            assert!(Settings { explore: wrong, ..Settings::default() }.check().is_err());
        }
        assert!(!text.contains("target"), "{text}");
        let aimed = Settings { target: Some("spill".into()), ..Settings::default() };
        assert!(aimed.check().unwrap_err().contains("there are none"));
        assert!(Settings { explore: 0.5, ..aimed.clone() }.check().is_ok());
        let aimed = Settings { explore: 0.5, target: Some("***".into()), ..Settings::default() };
        assert!(aimed.check().unwrap_err().contains("vsetvli insertion"));
    }
}
