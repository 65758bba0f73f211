//! Testbeds: a compiler with its flags, an emulator with its set-up.

pub(in crate::programs) mod blame;
pub mod compiler;
pub mod emulator;
pub mod file;

use self::compiler::{Compiler, Family};
use self::emulator::{Emulator, Setup};
use rvv_oracle::VlChoice;

/// A compiler with its flags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Build {
    /// The compiler.
    pub compiler: Compiler,
    /// Its flags: the level of optimisation, and what else the user wants.
    pub flags: Vec<String>,
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

/// All testbeds: every build on every run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Testbeds {
    /// The builds.
    pub builds: Vec<Build>,
    /// The runs.
    pub runs: Vec<Run>,
}

impl Testbeds {
    /// Every compiler at every level, every emulator in every set-up it supports. Levels do not change
    /// the direct lowering.
    pub fn cross(
        compilers: &[Compiler],
        levels: &[Vec<String>],
        emulators: &[Emulator],
        setups: &[Setup],
    ) -> Testbeds {
        let mut builds = Vec::new();
        for compiler in compilers {
            if compiler.family == Family::Direct {
                builds.push(Build { compiler: compiler.clone(), flags: Vec::new() });
                continue;
            }
            builds.extend(
                levels.iter().map(|flags| Build { compiler: compiler.clone(), flags: flags.clone() }),
            );
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

    /// The number of the testbed of this build and run.
    pub fn number(&self, build: usize, run: usize) -> usize {
        build * self.runs.len() + run
    }

    /// `clang-22 -O2 on rvvsim VLEN 128 ones`.
    pub fn name(&self, number: usize) -> String {
        let (build, run) = (number / self.runs.len(), number % self.runs.len());
        format!("{} on {}", self.builds[build].name(), self.runs[run].name())
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
