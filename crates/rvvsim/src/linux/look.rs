//! What a debugger may see of a guest's files: what the guest may, to read. Nothing is made, changed or
//! waited for.

use super::Process;
use super::files::Kind;
use super::sandbox::{Place, join, normalize};
use crate::Hart;
use rustix::fs::{CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::fs::File;
use std::io;

/// What is behind a name.
#[derive(Debug)]
pub enum Seen {
    /// A file of the host.
    File(File),
    /// The contents of a file that only the guest has, as those of `/proc`.
    Bytes(Vec<u8>),
}

impl Process {
    /// The guest's name of the program that it runs.
    #[must_use]
    pub fn program(&self) -> Vec<u8> {
        normalize(&join(&self.fs.cwd, &self.facts.exe))
    }

    /// Whether it runs another program than the one it was started with.
    #[must_use]
    pub fn has_another_program(&self) -> bool {
        self.has_execed
    }

    /// Opens what the guest finds under an absolute path, to read. Only what is a file: of devices, FIFOs and
    /// sockets even opening may have effects.
    ///
    /// # Errors
    /// Those that the guest would get.
    pub fn look_at_file(&self, hart: &mut Hart, path: &[u8]) -> io::Result<Seen> {
        check(path)?;
        match self.synthetic(hart, path) {
            Some(Kind::Bytes(bytes, _)) => return Ok(Seen::Bytes(bytes)),
            Some(_) => return Err(Errno::ACCESS.into()),
            None => {}
        }
        let place = self.fs.locate(path, true, true)?;
        is_file(&place.stat(true)?)?;
        let fd = place.open(OFlags::RDONLY | OFlags::NOCTTY, Mode::empty())?.fd;
        // Somebody may have put something else there meanwhile.
        is_file(&rustix::fs::fstat(&fd)?)?;
        Ok(Seen::File(fd.into()))
    }

    /// What a symbolic link leads to that the guest finds under an absolute path.
    ///
    /// # Errors
    /// Those that the guest would get.
    pub fn look_at_link(&self, path: &[u8]) -> io::Result<Vec<u8>> {
        check(path)?;
        if self.is_own_program(path) {
            return Ok(self.program());
        }
        let place = self.fs.locate(path, true, false)?;
        if let Place::Host(path) = &place {
            return Ok(rustix::fs::readlinkat(CWD, path.as_slice(), Vec::new())?.into_bytes());
        }
        if place.is_way() {
            return Err(Errno::INVAL.into());
        }
        let (parent, name) =
            place.entry(false).map_err(|e| if e == Errno::BUSY { Errno::INVAL } else { e })?;
        Ok(rustix::fs::readlinkat(parent, name, Vec::new())?.into_bytes())
    }
}

/// As the kernel takes them: absolute, without zeroes, not too long.
fn check(path: &[u8]) -> io::Result<()> {
    const PATH_MAX: usize = 4096;
    match path {
        _ if path.len() >= PATH_MAX => Err(Errno::NAMETOOLONG.into()),
        [b'/', rest @ ..] if !rest.contains(&0) => Ok(()),
        _ => Err(Errno::NOENT.into()),
    }
}

fn is_file(stat: &Stat) -> io::Result<()> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(()),
        FileType::Directory => Err(Errno::ISDIR.into()),
        _ => Err(Errno::ACCESS.into()),
    }
}
