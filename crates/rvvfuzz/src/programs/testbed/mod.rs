//! Testbeds: a compiler with its flags, an emulator with its set-up.

pub mod ask;
pub(in crate::programs) mod blame;
pub mod census;
pub mod compiler;
pub mod emulator;
pub mod file;
mod message;
pub(in crate::programs) mod poke;
pub(in crate::programs) mod resident;

use self::compiler::{CPP, Compiler, Family};
use self::emulator::{Emulator, Setup};
use rvv_ir::c::Language;
use rvv_oracle::VlChoice;
use std::ops::Range;

/// A compiler with its flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The compiler.
    pub compiler: Compiler,
    /// Its flags: the level of optimisation, and what else is asked for. One that begins with + adds to
    /// `-march`.
    pub flags: Vec<String>,
    /// It takes turns with others: a batch has one of them.
    pub rotated: bool,
}

impl Build {
    /// `clang-22 -O2`.
    pub fn name(&self) -> String {
        let mut name = self.compiler.name.clone();
        for flag in &self.flags {
            name += &format!(" {flag}");
        }
        name
    }

    /// A compiler at a level, for all batches.
    pub fn new(compiler: &Compiler, flags: &[String]) -> Build {
        Build { compiler: compiler.clone(), flags: flags.to_vec(), rotated: false }
    }

    /// The flags beyond the level.
    pub fn extra(&self) -> impl Iterator<Item = &String> {
        self.flags.iter().filter(|f| !f.starts_with("-O"))
    }

    /// The language its sources are in.
    pub fn language(&self) -> Language {
        if self.flags.iter().any(|f| f == CPP) { Language::Cpp } else { Language::C }
    }

    /// Whether what it makes may run where registers have so many bits: `+zvl256b` needs at least 256, and
    /// `-mrvv-vector-bits=zvl` takes what is needed at least for what is there.
    pub fn runs_at(&self, vlen: u32) -> bool {
        let parts = self.flags.iter().filter_map(|f| f.strip_prefix('+')).flat_map(|f| f.split('_'));
        let least = parts.filter_map(|p| p.strip_prefix("zvl")?.strip_suffix('b')?.parse().ok());
        let least = least.max().unwrap_or(0).max(128);
        let exactly = self.flags.iter().any(|f| f == "-mrvv-vector-bits=zvl");
        vlen == least || vlen > least && !exactly
    }
}

/// An emulator with its set-up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The emulator.
    pub emulator: Emulator,
    /// How it is set up.
    pub setup: Setup,
}

impl Run {
    /// `rvvsim VLEN 128 ones`.
    pub fn name(&self) -> String {
        let half = if self.setup.vl == VlChoice::Half { " half-vl" } else { "" };
        format!("{} VLEN {} {}{half}", self.emulator.name(), self.setup.vlen, self.setup.agnostic.name())
    }
}

/// A testbed, by the places of its build and its run among [`Testbeds`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TestbedId {
    /// The build.
    pub build: usize,
    /// The run.
    pub run: usize,
}

impl TestbedId {
    /// From its number, as tables of outcomes, verdicts and the store have it: builds one after the other,
    /// each on every run. `None` if there are no runs.
    pub fn from_number(number: usize, runs: usize) -> Option<TestbedId> {
        Some(TestbedId { build: number.checked_div(runs)?, run: number.checked_rem(runs)? })
    }
}

/// Half a testbed: what is left out when it does not work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Component {
    /// A build, by its place.
    Build(usize),
    /// A run, by its place.
    Run(usize),
}

/// All testbeds: every build on every run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Testbeds {
    /// The builds.
    pub builds: Vec<Build>,
    /// The runs.
    pub runs: Vec<Run>,
}

impl Testbeds {
    /// Every compiler at every level and with the flags that take turns, every emulator in every set-up it
    /// supports. Levels do not change the direct lowering.
    pub fn cross(
        compilers: &[Compiler],
        levels: &[Vec<String>],
        rotated: &[Vec<String>],
        emulators: &[Emulator],
        setups: &[Setup],
    ) -> Testbeds {
        let mut builds = Vec::new();
        for compiler in compilers {
            if compiler.family == Family::Direct {
                builds.push(Build::new(compiler, &[]));
                continue;
            }
            builds.extend(levels.iter().map(|flags| Build::new(compiler, flags)));
            let turn = |flags: &Vec<String>| Build { rotated: true, ..Build::new(compiler, flags) };
            builds.extend(rotated.iter().filter(|f| !levels.contains(f)).map(turn));
        }
        let mut runs = Vec::new();
        for emulator in emulators {
            let fits = setups.iter().filter(|s| emulator.supports(s));
            runs.extend(fits.map(|&setup| Run { emulator: emulator.clone(), setup }));
        }
        Testbeds { builds, runs }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.builds.len() * self.runs.len()
    }

    /// There are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of a testbed, see [`TestbedId::from_number`].
    pub fn number(&self, id: TestbedId) -> usize {
        id.build * self.runs.len() + id.run
    }

    /// The testbed of this number.
    ///
    /// # Panics
    /// If there are no runs: then no testbed has a number.
    pub fn id(&self, number: usize) -> TestbedId {
        TestbedId::from_number(number, self.runs.len()).expect("a testbed has a run")
    }

    /// The numbers of the testbeds with this build.
    pub fn of_build(&self, build: usize) -> Range<usize> {
        self.number(TestbedId { build, run: 0 })..self.number(TestbedId { build: build + 1, run: 0 })
    }

    /// The build of the testbed of this number.
    pub fn build_of(&self, number: usize) -> &Build {
        &self.builds[self.id(number).build]
    }

    /// The run of the testbed of this number.
    pub fn run_of(&self, number: usize) -> &Run {
        &self.runs[self.id(number).run]
    }

    /// `clang-22 -O2` or `rvvsim VLEN 128 ones`.
    pub fn component_name(&self, component: Component) -> String {
        match component {
            Component::Build(b) => self.builds[b].name(),
            Component::Run(r) => self.runs[r].name(),
        }
    }

    /// `clang-22 -O2 on rvvsim VLEN 128 ones`.
    pub fn name(&self, number: usize) -> String {
        format!("{} on {}", self.build_of(number).name(), self.run_of(number).name())
    }

    /// The distinct (VLEN, vl choice) pairs a program's expectation is needed for.
    pub fn places(&self) -> Vec<(u32, VlChoice)> {
        let mut places: Vec<(u32, VlChoice)> = Vec::new();
        for run in &self.runs {
            let place = (run.setup.vlen, run.setup.vl);
            if !places.contains(&place) {
                places.push(place);
            }
        }
        places
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_say_where_a_build_runs() {
        let at = |flags: &str| {
            let flags: Vec<String> = flags.split_whitespace().map(str::to_string).collect();
            let build = Build::new(&Compiler::direct(), &flags);
            [128, 256, 512, 1024].map(|vlen| build.runs_at(vlen))
        };
        assert_eq!(at("-O2"), [true; 4]);
        assert_eq!(at("-O2 +zvl512b"), [false, false, true, true]);
        assert_eq!(at("-O2 +zba_zvl256b"), [false, true, true, true]);
        assert_eq!(at("-mrvv-vector-bits=zvl"), [true, false, false, false]);
        assert_eq!(at("+zvl256b -mrvv-vector-bits=zvl"), [false, true, false, false]);
        assert_eq!(at("+zvl +zvlb +zvlxb"), [true; 4]);
    }
}
