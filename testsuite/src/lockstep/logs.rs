//! Our commit log and Spike's, letter by letter: `testsuite trace`.

use crate::peer::spike_isa;
use crate::peer::{self, Ended, PeerError, Spike};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rvvfuzz::streams::coverage::Watch;
use rvvfuzz::streams::generate::{self, Chooser};
use rvvfuzz::streams::inprocess::Lab;
use rvvfuzz::streams::known::{Known, without_known};
use rvvfuzz::streams::layout::{CODE, IMAGES, RAM, RUNTIME, SLOT};
use rvvfuzz::streams::peers::Peer;
use rvvfuzz::streams::runtime::{Environment, elf};
use rvvfuzz::streams::stream::Stream;
use rvvsim::elf::Image;
use rvvsim::{Config, Machine, Outcome};
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::time::Duration;

/// The log of a program that both have run.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// Lines that are the same.
    pub lines: u64,
    /// The first that differs, with the lines before it.
    pub difference: Option<String>,
}

/// How long Spike may take for one program, and how many instructions we may.
const LIMIT: Duration = Duration::from_secs(300);
const MOST_INSTRUCTIONS: u64 = 50_000_000;

/// Runs an ELF on Spike with its commit log in `log`; its exit code is the ELF's business.
///
/// # Errors
/// When Spike does not start, or not end.
pub fn spike_log(spike: &Spike, arguments: &[String], elf: &Path, log: &Path) -> Result<(), PeerError> {
    let mut command = spike.command();
    command.args(arguments).arg("--log-commits").arg(format!("--log={}", log.display())).arg(elf);
    let run = peer::run(&mut command, LIMIT)?;
    match run.ended {
        Ended::Exited(_) => Ok(()),
        ended => Err(PeerError::Failed {
            program: spike.path.clone(),
            why: format!("{}: {ended:?}; {}", elf.display(), String::from_utf8_lossy(&run.stderr)),
        }),
    }
}

/// Runs an ELF here and compares its log with Spike's, which may go on: Spike notices the end of a program
/// late.
///
/// # Errors
/// When a file cannot be read, or the ELF not run.
pub fn compare(config: Config, elf: &Path, log: &Path) -> Result<Compared, PeerError> {
    let io = |path: &Path| {
        let path = path.to_owned();
        move |source| PeerError::Io { path, source }
    };
    let failed = |why: String| PeerError::Failed { program: "rvvsim".into(), why };
    let bytes = std::fs::read(elf).map_err(io(elf))?;
    let image = Image::parse(bytes.as_slice()).map_err(|e| failed(e.to_string()))?;
    let config = Config { max_insns: Some(MOST_INSTRUCTIONS), ..config };
    let mut machine = Machine::bare(config, &image).map_err(|e| failed(e.to_string()))?;
    let theirs = BufReader::new(File::open(log).map_err(io(log))?);
    let mut judge = Judge { theirs, line: Vec::new(), recent: VecDeque::new(), found: Compared::default() };
    match machine.run_traced(None, &mut judge) {
        Ok(Outcome::OutOfInstructions) => Err(failed(format!("{}: it does not end", elf.display()))),
        Ok(_) => Ok(judge.found),
        Err(_) if judge.found.difference.is_some() => Ok(judge.found),
        Err(source) => Err(io(log)(source)),
    }
}

/// Takes our lines and compares them; an error ends the run at the first difference.
struct Judge {
    theirs: BufReader<File>,
    line: Vec<u8>,
    recent: VecDeque<String>,
    found: Compared,
}

impl Write for Judge {
    fn write(&mut self, ours: &[u8]) -> io::Result<usize> {
        for ours in ours.split_inclusive(|b| *b == b'\n') {
            self.line.clear();
            self.theirs.read_until(b'\n', &mut self.line)?;
            let text = String::from_utf8_lossy(ours);
            if self.line != ours {
                let theirs = String::from_utf8_lossy(&self.line);
                let recent: String = self.recent.iter().map(String::as_str).collect();
                self.found.difference =
                    Some(format!("{recent}< {}\n> {}", theirs.trim_end(), text.trim_end()));
                return Err(io::Error::other("a line differs"));
            }
            self.found.lines += 1;
            if self.recent.len() == 3 {
                self.recent.pop_front();
            }
            self.recent.push_back(text.chars().take(160).collect::<String>().trim_end().to_owned() + "\n");
        }
        Ok(ours.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A stream without the instructions that are known to do another thing on Spike; `None` if it cannot be run
/// alone.
pub fn comparable(
    lab: &mut Lab,
    stream: &Stream,
    slot: usize,
    spike: &Peer,
    known: &[Known],
) -> Option<Stream> {
    let mut stream = stream.clone();
    while let Some((rest, _)) = without_known(lab, &stream, slot, spike, known).ok()? {
        stream = rest;
    }
    Some(stream)
}

/// New streams of mostly vector instructions.
pub fn generate(lab: &mut Lab, seed: u64, count: usize) -> Vec<Stream> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let options = generate::Options { vector: 0.85, ..generate::Options::default() };
    let (chooser, mut watch) = (Chooser::default(), Watch::default());
    let mut streams = Vec::new();
    while streams.len() < count {
        // Some do nothing; another will do.
        if let Ok((stream, _)) = generate::stream(lab, &mut rng, &options, &chooser, &mut watch) {
            streams.push(stream);
        }
    }
    streams
}

/// Compares the logs of streams of one VLEN, all in one ELF.
///
/// # Errors
/// When Spike does not run, or the ELF cannot be made.
pub fn streams(
    spike: &Path,
    streams: &[&Stream],
    folder: &Path,
) -> Result<Compared, Box<dyn std::error::Error>> {
    let vlen = streams.first().map_or(128, |s| s.vlen);
    let (program, log) = (folder.join("streams.elf"), folder.join("commits.log"));
    std::fs::write(&program, elf(streams, Environment::Bare)?)?;
    let spike = Spike { path: spike.to_owned(), isa: spike_isa(vlen) };
    spike_log(&spike, &[format!("-m{RUNTIME:#x}:{RAM:#x}")], &program, &log)?;
    Ok(compare(config(vlen), &program, &log)?)
}

/// The machine that streams run on.
#[must_use]
pub fn config(vlen: u32) -> Config {
    Config { vlen, mem: RAM, ..Config::default() }
}

/// The stream that a line of the log belongs to, by its address; `None` for what comes between streams.
#[must_use]
pub fn slot_of(line: &str) -> Option<usize> {
    let pc = line.split_whitespace().nth(3)?;
    let pc = u64::from_str_radix(pc.strip_prefix("0x")?, 16).ok()?;
    (CODE..IMAGES).contains(&pc).then(|| ((pc - CODE) / SLOT) as usize)
}
