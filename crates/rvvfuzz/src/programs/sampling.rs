//! Which of the axes beyond the program itself are tried: schedules, levels, set-ups.
//!
//! Each is worth its cost only now and then: a program that passes in one order of its statements nearly
//! always passes in the others. So they are drawn, program by program or batch by batch, and the time goes
//! into other programs.
//!
//! Everything here is a function of the seed and of a program's number alone: a campaign that was killed, or
//! is run by other workers, draws the same.

use super::testbed::compiler::Family;
use super::testbed::emulator::Emulator;
use super::testbed::{Component, Testbeds};
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// How often each axis is tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sampling {
    /// One program in so many is run in every schedule, the others in one.
    pub every_schedule: u32,
    /// Levels of each compiler in a batch; 0 means all.
    pub levels: u32,
    /// Set-ups of each emulator in a batch, as far as it is in this process; 0 means all, of all emulators.
    pub setups: u32,
    /// Of the builds of each compiler that take turns, so many in a batch; 0 means all.
    #[serde(default = "one")]
    pub rotated: u32,
}

/// Campaigns that were begun before there was a choice.
fn one() -> u32 {
    1
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling { every_schedule: 64, levels: 0, setups: 6, rotated: 1 }
    }
}

/// The first batches of a campaign are small, so that there is something to see at once.
const FIRST: [u64; 5] = [4, 4, 8, 16, 32];

/// The batch that program `number` is in, if batches have at most so many programs.
pub fn batch(number: u64, most: u64) -> Range<u64> {
    let most = most.max(1);
    let mut start = 0;
    for size in FIRST.map(|size| size.min(most)) {
        if number < start + size {
            return start..start + size;
        }
        start += size;
    }
    let first = start + (number - start) / most * most;
    first..first.saturating_add(most)
}

/// Flags that take turns come in with this program: what is plain comes first.
const TURNS: u64 = 16;

/// What is tried of one batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    builds: Vec<bool>,
    runs: Vec<bool>,
}

impl Sample {
    /// Everything.
    pub fn all(testbeds: &Testbeds) -> Sample {
        Sample { builds: vec![true; testbeds.builds.len()], runs: vec![true; testbeds.runs.len()] }
    }

    /// Leaves out the builds that are not wanted.
    pub fn keep_builds(&mut self, wanted: impl Fn(usize) -> bool) {
        self.builds.iter_mut().enumerate().for_each(|(b, is)| *is = *is && wanted(b));
    }

    /// Whether it is tried.
    pub fn has(&self, component: Component) -> bool {
        let (places, at) = match component {
            Component::Build(b) => (&self.builds, b),
            Component::Run(r) => (&self.runs, r),
        };
        places.get(at).copied().unwrap_or(false)
    }
}

fn rng(seed: u64, number: u64, what: u8) -> ChaCha8Rng {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&number.to_le_bytes());
    bytes[16] = what;
    ChaCha8Rng::from_seed(bytes)
}

impl Sampling {
    /// Everything is tried with every program.
    pub const ALL: Sampling = Sampling { every_schedule: 1, levels: 0, setups: 0, rotated: 0 };

    /// The schedules, of so many, in which program `number` is run.
    pub fn schedules(&self, seed: u64, number: u64, of: usize) -> Vec<usize> {
        let mut rng = rng(seed, number, 1);
        let one = rng.random_range(0..of.max(1));
        if rng.random_range(0..self.every_schedule.max(1)) == 0 { (0..of).collect() } else { vec![one] }
    }

    /// Whether program `number` is one in so many.
    pub fn one_in(seed: u64, number: u64, many: u32) -> bool {
        rng(seed, number, 3).random_range(0..many.max(1)) == 0
    }

    /// What is tried of the batch that begins with program `first`.
    pub fn sample(&self, seed: u64, first: u64, testbeds: &Testbeds) -> Sample {
        let mut rng = rng(seed, first, 2);
        let mut sample = Sample::all(testbeds);
        if self.levels > 0 {
            let mut at = 0;
            while at < testbeds.builds.len() {
                let compiler = &testbeds.builds[at].compiler;
                let same = testbeds.builds[at..].iter().take_while(|b| b.compiler == *compiler).count();
                let plain = (at..at + same).filter(|&b| !testbeds.builds[b].rotated);
                if compiler.family != Family::Direct {
                    keep(&mut sample.builds, plain.collect(), self.levels, &mut rng);
                }
                at += same;
            }
        }
        if self.setups > 0 {
            let is_here = |r: &usize| testbeds.runs[*r].emulator == Emulator::Rvvsim;
            let (mut here, others): (Vec<usize>, Vec<usize>) = (0..testbeds.runs.len()).partition(is_here);
            // The plainest set-up is always tried: what shows there is the easiest to explain.
            let plainest = if here.is_empty() { None } else { Some(here.remove(0)) };
            keep(&mut sample.runs, here, self.setups.saturating_sub(plainest.map_or(0, |_| 1)), &mut rng);
            // Another emulator is a process for each build: one of its set-ups.
            let mut at = 0;
            while at < others.len() {
                let emulator = &testbeds.runs[others[at]].emulator;
                let same =
                    others[at..].iter().take_while(|&&r| testbeds.runs[r].emulator == *emulator).count();
                keep(&mut sample.runs, others[at..at + same].to_vec(), 1, &mut rng);
                at += same;
            }
        }
        self.take_turns(first, testbeds, &mut sample, &mut rng);
        sample
    }

    /// Of the builds of each compiler that take turns, one that runs somewhere in the sample.
    fn take_turns(&self, first: u64, testbeds: &Testbeds, sample: &mut Sample, rng: &mut ChaCha8Rng) {
        if self.rotated == 0 {
            return;
        }
        let runs: Vec<u32> = (0..testbeds.runs.len())
            .filter(|&r| sample.runs[r])
            .map(|r| testbeds.runs[r].setup.vlen)
            .collect();
        let mut at = 0;
        while at < testbeds.builds.len() {
            let compiler = &testbeds.builds[at].compiler;
            let same = testbeds.builds[at..].iter().take_while(|b| b.compiler == *compiler).count();
            let of = (at..at + same).filter(|&b| testbeds.builds[b].rotated);
            let (fits, others): (Vec<usize>, Vec<usize>) =
                of.partition(|&b| runs.iter().any(|&vlen| testbeds.builds[b].runs_at(vlen)));
            keep(&mut sample.builds, others, 0, rng);
            keep(&mut sample.builds, fits, if first < TURNS { 0 } else { self.rotated }, rng);
            at += same;
        }
    }
}

/// Keeps so many of these places, drawn.
fn keep(all: &mut [bool], mut places: Vec<usize>, count: u32, rng: &mut ChaCha8Rng) {
    places.shuffle(rng);
    places.into_iter().skip(count as usize).for_each(|place| all[place] = false);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::programs::settings::{CompilerSettings, EmulatorSettings, Settings};

    #[test]
    fn batches_grow_and_have_no_gaps() {
        let mut sizes = Vec::new();
        let mut at = 0;
        while at < 300 {
            let range = batch(at, 48);
            assert_eq!(range.start, at);
            assert!(range.clone().all(|n| batch(n, 48) == range));
            sizes.push(range.end - at);
            at = range.end;
        }
        assert_eq!(sizes, [4, 4, 8, 16, 32, 48, 48, 48, 48, 48]);
        assert_eq!(batch(u64::MAX, 48).end, u64::MAX);
        assert_eq!((batch(9, 1), batch(5, 3)), (9..10, 3..6));
    }

    #[test]
    fn a_sample_has_the_plainest_set_up_and_all_are_drawn_in_time() {
        let mut settings = Settings::default();
        let qemu = ["qemu".to_string()].to_vec();
        let process = EmulatorSettings { name: "x".into(), command: qemu, ..EmulatorSettings::rvvsim() };
        settings.emulators.push(process);
        let gcc = CompilerSettings { family: "gcc".into(), ..settings.compilers[0].clone() };
        settings.compilers.push(gcc);
        let testbeds = settings.testbeds().unwrap();
        let sampling = Sampling { every_schedule: 4, levels: 2, ..Sampling::default() };
        let mut seen = vec![0; testbeds.runs.len()];
        let mut built = vec![0; testbeds.builds.len()];
        for first in 0..400 {
            let sample = sampling.sample(7, first, &testbeds);
            assert_eq!(sample, sampling.sample(7, first, &testbeds));
            assert_eq!(sample.runs.iter().filter(|r| **r).count(), 6 + 1);
            let (turns, plain): (Vec<usize>, Vec<usize>) = (0..testbeds.builds.len())
                .filter(|&b| sample.builds[b])
                .partition(|&b| testbeds.builds[b].rotated);
            assert_eq!((plain.len(), turns.len()), (1 + 2, usize::from(first >= TURNS)));
            let at = |b: usize, r: usize| testbeds.builds[b].runs_at(testbeds.runs[r].setup.vlen);
            assert!(turns.iter().all(|&b| (0..testbeds.runs.len()).any(|r| sample.runs[r] && at(b, r))));
            assert!(sample.has(Component::Run(0)) && sample.has(Component::Build(0)));
            assert!(!sample.has(Component::Run(1000)));
            seen.iter_mut().zip(&sample.runs).for_each(|(n, s)| *n += u32::from(*s));
            built.iter_mut().zip(&sample.builds).for_each(|(n, s)| *n += u32::from(*s));
        }
        assert!(seen.iter().all(|n| *n > 10) && built.iter().all(|n| *n > 0), "{seen:?} {built:?}");
        assert_eq!(Sampling::ALL.sample(7, 0, &testbeds), Sample::all(&testbeds));
    }

    #[test]
    fn one_program_in_some_is_run_in_every_schedule() {
        let sampling = Sampling { every_schedule: 4, ..Sampling::default() };
        let drawn: Vec<Vec<usize>> = (0..400).map(|n| sampling.schedules(1, n, 3)).collect();
        let all = drawn.iter().filter(|s| s.len() == 3).count();
        assert!((60..140).contains(&all), "{all}");
        assert!((0..3).all(|s| drawn.iter().filter(|d| **d == [s]).count() > 60));
        assert!((0..50).all(|n| Sampling::ALL.schedules(1, n, 3) == [0, 1, 2]));
    }
}
