//! `testsuite trace`.

use super::logs;
use super::recorded;
use crate::peer::{Spike, spike_isa};
use clap::Args;
use rvv_cli::outln;
use rvvfuzz::streams::inprocess::Lab;
use rvvfuzz::streams::known::known;
use rvvfuzz::streams::peers::Peer;
use rvvfuzz::streams::runtime::capacity;
use rvvfuzz::streams::stream::Stream;
use rvvfuzz::streams::{corpus, text};
use rvvsim::Config;
use std::error::Error;
use std::path::{Path, PathBuf};

/// What the command takes.
#[derive(Args, Debug)]
pub struct Options {
    /// The Spike to compare with
    #[arg(long)]
    spike: PathBuf,
    /// Bare-metal ELFs, or folders of them, to compare the logs of
    elfs: Vec<PathBuf>,
    /// The instruction set Spike runs the ELFs with
    #[arg(long, default_value_t = spike_isa(128))]
    spike_isa: String,
    /// A corpus of `rvvfuzz isa`: the logs of its streams are compared
    #[arg(long)]
    corpus: Option<PathBuf>,
    /// Streams to generate and compare, for each VLEN
    #[arg(long, default_value_t = 0)]
    streams: usize,
    /// Seed of the generated streams
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// VLEN of the generated streams, comma-separated
    #[arg(long, value_delimiter = ',', default_value = "128,256,1024")]
    vlen: Vec<u32>,
    /// Record Spike's log of the first N streams of the corpus at each VLEN, for `cargo test`
    #[arg(long, value_name = "N", requires = "corpus")]
    record: Option<usize>,
}

/// What was compared.
#[derive(Default)]
struct Totals {
    programs: u64,
    lines: u64,
    different: u64,
}

/// Compares, or records; true if nothing differs.
///
/// # Errors
/// When Spike does not run, or a file cannot be read or written.
pub fn main(options: &Options, folder: &Path) -> Result<bool, Box<dyn Error>> {
    let mut totals = Totals::default();
    for elf in elfs(&options.elfs)? {
        let log = folder.join("commits.log");
        let spike = Spike { path: options.spike.clone(), isa: options.spike_isa.clone() };
        let found = logs::spike_log(&spike, &[], &elf, &log)
            .and_then(|()| logs::compare(Config { mem: 2 << 30, ..Config::default() }, &elf, &log));
        match found {
            Ok(found) => totals.add(1, found, &elf.display().to_string()),
            Err(e) => {
                totals.different += 1;
                outln!("{}: {e}\n", elf.display());
            }
        }
    }
    let mut by_vlen: Vec<(u32, Vec<Stream>)> = Vec::new();
    if let Some(path) = &options.corpus {
        for text::Entry { stream, .. } in corpus::load(path)? {
            match by_vlen.iter_mut().find(|(vlen, _)| *vlen == stream.vlen) {
                Some((_, streams)) => streams.push(stream),
                None => by_vlen.push((stream.vlen, vec![stream])),
            }
        }
    }
    if let Some(count) = options.record {
        for (vlen, streams) in &by_vlen {
            let kept = comparable(&options.spike, *vlen, streams, folder)?;
            let kept: Vec<&Stream> = kept.iter().take(count).collect();
            let size = recorded::record(&options.spike, *vlen, &kept, folder)?;
            outln!("VLEN {vlen}: {} streams, {size} bytes", kept.len());
        }
        return Ok(true);
    }
    for (vlen, streams) in &by_vlen {
        compare_streams(options, *vlen, streams, folder, &mut totals)?;
    }
    for &vlen in options.vlen.iter().filter(|_| options.streams > 0) {
        let mut lab = Lab::new(vlen);
        for from in (0..options.streams).step_by(capacity(vlen)) {
            let count = capacity(vlen).min(options.streams - from);
            let streams = logs::generate(&mut lab, options.seed.wrapping_add(from as u64) << 8, count);
            compare_streams(options, vlen, &streams, folder, &mut totals)?;
        }
    }
    let Totals { programs, lines, different } = totals;
    outln!("{programs} programs or streams, {lines} lines compared, {different} ELFs differ");
    Ok(different == 0)
}

impl Totals {
    fn add(&mut self, programs: usize, found: logs::Compared, name: &str) {
        self.programs += programs as u64;
        self.lines += found.lines;
        if let Some(text) = found.difference {
            self.different += 1;
            outln!("{name}, after {} lines (< Spike, > rvvsim):\n{text}\n", found.lines);
        }
    }
}

fn comparable(
    spike: &Path,
    vlen: u32,
    streams: &[Stream],
    folder: &Path,
) -> Result<Vec<Stream>, Box<dyn Error>> {
    let mut peer = Peer::spike(spike);
    peer.probe(vlen, folder)?;
    let mut lab = Lab::new(vlen);
    let known = known();
    let all = streams.iter().enumerate();
    // Some instructions see their own address, so that what they do may depend on the slot.
    let kept = all.filter_map(|(i, s)| logs::comparable(&mut lab, s, i % capacity(vlen), &peer, &known));
    Ok(kept.collect())
}

fn compare_streams(
    options: &Options,
    vlen: u32,
    streams: &[Stream],
    folder: &Path,
    totals: &mut Totals,
) -> Result<(), Box<dyn Error>> {
    let kept = comparable(&options.spike, vlen, streams, folder)?;
    for some in kept.chunks(capacity(vlen)) {
        let some: Vec<&Stream> = some.iter().collect();
        let found = logs::streams(&options.spike, &some, folder)?;
        totals.add(some.len(), found, &format!("VLEN {vlen}, {} streams", some.len()));
    }
    Ok(())
}

/// The files, and the files of folders.
fn elfs(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut all = Vec::new();
    for path in paths {
        if path.is_dir() {
            all.extend(crate::elfs::find(path).map_err(|e| format!("{}: {e}", path.display()))?);
        } else {
            all.push(path.clone());
        }
    }
    Ok(all)
}
