//! Spike's log of some streams, recorded: for each VLEN the streams as text, and 32 bits for each line of the
//! log. A line that differs is shown as ours; Spike's is to be had from `testsuite trace`.

use super::logs;
use crate::peer::Spike;
use crate::peer::spike_isa;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use flate2::{Compression, Crc};
use rvvfuzz::streams::layout::{RAM, RUNTIME};
use rvvfuzz::streams::runtime::{Environment, elf};
use rvvfuzz::streams::stream::Stream;
use rvvfuzz::streams::text::{Entry, parse, print};
use rvvsim::Machine;
use rvvsim::elf::Image;
use std::error::Error;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

/// The file of a VLEN.
#[must_use]
pub fn path(vlen: u32) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("goldens/trace-vlen{vlen}.gz"))
}

fn digest(line: &str) -> u32 {
    let mut crc = Crc::new();
    crc.update(line.as_bytes());
    crc.sum()
}

/// Records Spike's log of the streams, which fit one ELF; the size of the file.
///
/// # Errors
/// When Spike does not run, or a file cannot be written.
pub fn record(spike: &Path, vlen: u32, streams: &[&Stream], folder: &Path) -> Result<usize, Box<dyn Error>> {
    let (program, log) = (folder.join("streams.elf"), folder.join("commits.log"));
    std::fs::write(&program, elf(streams, Environment::Bare)?)?;
    let spike = Spike { path: spike.to_owned(), isa: spike_isa(vlen) };
    logs::spike_log(&spike, &[format!("-m{RUNTIME:#x}:{RAM:#x}")], &program, &log)?;
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    let mut text = String::new();
    for (i, stream) in streams.iter().enumerate() {
        let entry = Entry { name: i.to_string(), stream: (*stream).clone(), expected: Vec::new() };
        // Without the disassembly, which is for people.
        for line in print(&entry).lines() {
            text += line.split("  #").next().unwrap_or(line);
            text.push('\n');
        }
    }
    out.write_all(&(text.len() as u32).to_le_bytes())?;
    out.write_all(text.as_bytes())?;
    for line in BufReader::new(std::fs::File::open(&log)?).lines() {
        let line = line?;
        if logs::slot_of(&line).is_some() {
            out.write_all(&digest(&line).to_le_bytes())?;
        }
    }
    let bytes = out.finish()?;
    std::fs::write(path(vlen), &bytes)?;
    Ok(bytes.len())
}

/// Runs the recorded streams of a VLEN here: the lines that are as Spike's were; or what differs first.
///
/// # Errors
/// The difference, or that the recording cannot be read.
pub fn compare(vlen: u32) -> Result<usize, Box<dyn Error>> {
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(path(vlen))?).read_to_end(&mut bytes)?;
    let (len, rest) = bytes.split_first_chunk().ok_or("an empty recording")?;
    let (text, digests) =
        rest.split_at_checked(u32::from_le_bytes(*len) as usize).ok_or("a short recording")?;
    let entries = parse(std::str::from_utf8(text)?)?;
    let streams: Vec<&Stream> = entries.iter().map(|e| &e.stream).collect();
    let digests: Vec<u32> =
        digests.chunks_exact(4).map(|b| u32::from_le_bytes(b.try_into().expect("four bytes"))).collect();
    let bytes = elf(&streams, Environment::Bare)?;
    let mut machine = Machine::bare(logs::config(vlen), &Image::parse(bytes.as_slice())?)?;
    let mut log = Vec::new();
    machine.run_traced(None, &mut log)?;
    let log = String::from_utf8(log)?;
    let lines: Vec<&str> = log.lines().filter(|line| logs::slot_of(line).is_some()).collect();
    for (i, (ours, theirs)) in lines.iter().zip(&digests).enumerate() {
        if digest(ours) != *theirs {
            let before = i.checked_sub(1).map_or("", |i| lines[i]);
            return Err(format!("line {i} is not Spike's:\n{before}\n{ours}").into());
        }
    }
    if lines.len() != digests.len() {
        return Err(format!("{} lines, not {}", lines.len(), digests.len()).into());
    }
    Ok(lines.len())
}
