//! `execve`: another program in the same process.
//!
//! The emulator itself stays; what changes is the guest's memory, its registers, and what a new program does
//! not inherit. So a program that was started keeps every option: VLEN, policies, sandbox, limits.

use super::files::HostFile;
use super::paths::{AT_EMPTY_PATH, AT_FDCWD, AT_SYMLINK_NOFOLLOW};
use super::sandbox::join;
use super::user;
use super::{Process, Served, Stop, Verdict, host, load};
use crate::Hart;
use crate::elf::Image;
use crate::hart::{Environment, ThreadRegisters};
use crate::machine::LoadError;
use crate::mem::Ram;
use rustix::fs::{FileType, Mode, OFlags};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::io::Read;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::ffi::OsStrExt;

/// Bytes of arguments and environment, as on Linux with a stack of 8 MiB.
const MOST_ARGUMENTS: usize = 2 << 20;
/// Strings of each.
const MOST_STRINGS: usize = 1 << 17;
/// The longest argument, as on Linux.
const LONGEST_ARGUMENT: usize = 128 << 10;
/// A program larger than this is not one.
const LARGEST_PROGRAM: u64 = 1 << 30;
/// Scripts whose interpreter is a script, as on Linux.
const MOST_INTERPRETERS: usize = 5;
/// Of the first line of a script so much is read.
const FIRST_LINE: usize = 256;

/// What was found under the name of a program.
struct Found {
    /// The guest's path to it.
    path: Vec<u8>,
    /// As it was given, for the interpreter of a script.
    given: Vec<u8>,
    bytes: Vec<u8>,
}

impl Process {
    /// `execve(path, argv, envp)`.
    pub(super) fn sys_execve(&mut self, hart: &mut Hart, path: u64, argv: u64, envp: u64) -> Served {
        self.sys_execveat(hart, [AT_FDCWD as u64, path, argv, envp, 0, 0])
    }

    /// `execveat(dir, path, argv, envp, flags)`.
    pub(super) fn sys_execveat(&mut self, hart: &mut Hart, args: [u64; 6]) -> Served {
        let [dir, path, argv, envp, flags, _] = args;
        if flags & !(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) != 0 {
            return Err(Errno::INVAL.into());
        }
        if self.options.most_processes < 2 {
            self.note("not supported here: running another program (execve); the guest was told ENOSYS");
            return Err(Errno::NOSYS.into());
        }
        let mut room = MOST_ARGUMENTS;
        let path = user::read_path(hart, path)?;
        let mut args = strings(hart, argv, &mut room)?;
        let env = strings(hart, envp, &mut room)?;
        if args.is_empty() {
            args.push(Vec::new());
        }
        let mut found = match path.is_empty() && flags & AT_EMPTY_PATH != 0 {
            true => self.open_program_file(dir)?,
            false => self.find_program(dir, &path, flags & AT_SYMLINK_NOFOLLOW == 0)?,
        };
        let mut interpreters = 0;
        while found.bytes.starts_with(b"#!") {
            interpreters += 1;
            if interpreters > MOST_INTERPRETERS {
                return Err(Errno::LOOP.into());
            }
            let (interpreter, argument) = first_line(&found.bytes).ok_or(Errno::NOEXEC)?;
            let mut new_args = vec![interpreter.clone()];
            new_args.extend(argument);
            new_args.push(found.given);
            new_args.extend(args.drain(1..));
            args = new_args;
            found = self.find_program(AT_FDCWD as u64, &interpreter, true)?;
        }
        if !found.bytes.starts_with(b"\x7fELF") {
            return Err(Errno::NOEXEC.into());
        }
        if self.options.host_programs && is_of_host(&found.bytes) {
            return self.run_host_program(hart, &found.path, &args, &env);
        }
        let image = match Image::parse(found.bytes) {
            Ok(image) => image,
            Err(e) => {
                let name = String::from_utf8_lossy(&found.path).into_owned();
                self.note_in_vain(&format!("the guest cannot run {name}: {e}; it was told ENOEXEC"));
                return Err(Errno::NOEXEC.into());
            }
        };
        self.run_program(hart, &image, found.path, args, env)
    }

    /// Reads the program at a path.
    fn find_program(&mut self, dir: u64, given: &[u8], follow: bool) -> Result<Found, Errno> {
        let (full, _) = self.full_path(dir, given, false)?;
        let (place, seen) = if self.is_own_program(&full) {
            let exe = join(&self.fs.cwd, &self.facts.exe);
            if let Some(own) = &self.own_program {
                return Ok(Found { path: exe.clone(), given: exe, bytes: own.clone() });
            }
            (self.fs.locate(&exe, false, true)?, exe)
        } else {
            (self.find(dir, given, follow)?, full)
        };
        let stat = place.stat(true)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => return Err(Errno::LOOP),
            FileType::RegularFile if stat.st_mode & 0o111 != 0 => {}
            _ => return Err(Errno::ACCESS),
        }
        let opened = place.open(OFlags::RDONLY, Mode::empty())?;
        let path = if place.is_host() { seen } else { place.path().to_vec() };
        let path =
            if place.in_sysroot() || dir as i32 == AT_FDCWD { join(&self.fs.cwd, &path) } else { path };
        Ok(Found { path, given: given.to_vec(), bytes: contents(opened.fd)? })
    }

    /// Reads the program that an open file is.
    fn open_program_file(&mut self, fd: u64) -> Result<Found, Errno> {
        let file = self.files.host(fd, Errno::ACCESS)?;
        let stat = file.stat()?;
        if !FileType::from_raw_mode(stat.st_mode).is_file() || stat.st_mode & 0o111 == 0 {
            return Err(Errno::ACCESS);
        }
        let path = match file.path.is_empty() {
            true => format!("/dev/fd/{fd}").into_bytes(),
            false => file.path.clone(),
        };
        Ok(Found { given: path.clone(), path, bytes: contents_from_start(&file)? })
    }

    /// Puts a program in the place of the one that runs.
    fn run_program(
        &mut self,
        hart: &mut Hart,
        image: &Image,
        path: Vec<u8>,
        args: Vec<Vec<u8>>,
        env: Vec<Vec<u8>>,
    ) -> Served {
        let mut ram = Ram::new(hart.config.mem).map_err(|_| Errno::NOMEM)?;
        let mut options = self.options.clone();
        (options.args, options.env, options.exe) = (args, env, Some(path));
        let loaded =
            load::load(&hart.config, image, &options, &self.fs, &self.identity, &mut self.random, &mut ram);
        let (mut space, start, facts) = loaded.map_err(|e| match e {
            LoadError::TooLarge { .. } | LoadError::Memory { .. } | LoadError::Full(_) => Errno::NOMEM,
            LoadError::Arguments => Errno::TOOBIG,
            LoadError::Interpreter { .. } => Errno::NOENT,
            _ => Errno::NOEXEC,
        })?;
        // From here on there is no way back.
        self.end_vfork(hart);
        self.end_memory(hart);
        self.only_this_thread();
        if let Some(family) = self.family {
            super::space_of(hart).0.leave(family);
            family.count_frames(space.frames_in_use());
            space.join(family);
        }
        space.share_with(self.bell.is_some());
        self.close_on_exec();
        let pid = self.identity.pid;
        let me = self.me_mut();
        let exe = facts.exe.rsplit(|&b| b == b'/').next().unwrap_or(&[]);
        let len = exe.len().min(15);
        me.name = [0; 16];
        me.name[..len].copy_from_slice(&exe[..len]);
        (me.tid, me.clear_tid, me.robust) = (pid, 0, super::futex::Robust::default());
        me.rseq = super::rseq::Rseq::default();
        self.signals.trampoline = facts.trampoline;
        self.reset_signals();
        self.time.forget_posix_timers();
        self.own_program = self.own_program.is_some().then(|| image.file().to_vec());
        (self.options, self.facts) = (options, facts);
        hart.exchange(&mut ThreadRegisters::new(&hart.config));
        hart.atomics = None;
        hart.pc = start.pc;
        hart.x[2] = start.sp;
        self.new_memory = Some((ram, Environment::User(Box::new(space))));
        self.has_execed = true;
        Err(Stop::End(Verdict::NewProgram))
    }

    /// Puts a program of the host in the place of the one that runs, and of the emulator.
    fn run_host_program(
        &mut self,
        hart: &mut Hart,
        path: &[u8],
        args: &[Vec<u8>],
        env: &[Vec<u8>],
    ) -> Served {
        let program = host::Program::new(path, args, env).ok_or(Errno::INVAL)?;
        std::env::set_current_dir(OsStr::from_bytes(&self.fs.cwd)).map_err(|_| Errno::NOENT)?;
        let files = self.files_for_host()?;
        // From here on there is no way back.
        self.end_vfork(hart);
        self.end_memory(hart);
        if let Some(family) = self.family {
            family.leave();
        }
        self.give_signals_to_host();
        self.give_limits_to_host();
        rustix::process::umask(Mode::from_bits_truncate(self.umask));
        host::place_files(files);
        host::run(&program)
    }

    /// The memory of a new program, once.
    pub(crate) fn take_new_memory(&mut self) -> Option<(Ram, Environment)> {
        self.new_memory.take()
    }

    /// Whether the program is not the one that the machine was made with.
    #[must_use]
    pub fn has_other_program(&self) -> bool {
        self.has_execed
    }
}

/// Whether an ELF file is for the machine that the emulator was built for.
fn is_of_host(elf: &[u8]) -> bool {
    let own = match std::env::consts::ARCH {
        "x86_64" => 62,
        "aarch64" => 183,
        _ => return false,
    };
    // e_ident says 64 bits and little endian; e_machine follows e_type.
    elf.get(4..6) == Some(&[2, 1]) && elf.get(18..20) == Some(&u16::to_le_bytes(own))
}

fn contents(fd: rustix::fd::OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut bytes = Vec::new();
    let read = std::fs::File::from(fd).take(LARGEST_PROGRAM).read_to_end(&mut bytes);
    read.map_err(|e| e.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error))?;
    Ok(bytes)
}

fn contents_from_start(file: &HostFile) -> Result<Vec<u8>, Errno> {
    // What was opened as a place only is opened for reading.
    if rustix::fs::fcntl_getfl(file.as_fd())?.contains(OFlags::PATH) {
        let link = format!("/proc/self/fd/{}", file.as_fd().as_raw_fd());
        return contents(rustix::fs::open(link, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?);
    }
    let size = rustix::fs::fstat(file.as_fd())?.st_size.clamp(0, LARGEST_PROGRAM as i64) as usize;
    let mut bytes = vec![0; size];
    let got = file.read_page(0, &mut bytes);
    bytes.truncate(got);
    Ok(bytes)
}

/// The interpreter that the first line of a script names, and its argument.
fn first_line(script: &[u8]) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
    let line = &script[2..script.len().min(FIRST_LINE)];
    let line = line.split(|&b| b == b'\n').next()?;
    let blank = |b: &u8| matches!(b, b' ' | b'\t');
    let line = line.trim_ascii();
    let (interpreter, rest) = match line.iter().position(blank) {
        Some(at) => (&line[..at], line[at..].trim_ascii()),
        None => (line, &[][..]),
    };
    let argument = (!rest.is_empty()).then(|| rest.to_vec());
    (!interpreter.is_empty()).then(|| (interpreter.to_vec(), argument))
}

/// The strings of a list that ends with a null pointer.
fn strings(hart: &mut Hart, at: u64, room: &mut usize) -> Result<Vec<Vec<u8>>, Errno> {
    let mut strings = Vec::new();
    if at == 0 {
        return Ok(strings);
    }
    while strings.len() < MOST_STRINGS {
        let pointer = user::read_u64(hart, at.wrapping_add(8 * strings.len() as u64))?;
        if pointer == 0 {
            return Ok(strings);
        }
        let text = user::read_string(hart, pointer, LONGEST_ARGUMENT).map_err(|e| match e {
            Errno::NAMETOOLONG => Errno::TOOBIG,
            e => e,
        })?;
        *room = room.checked_sub(text.len() + 9).ok_or(Errno::TOOBIG)?;
        strings.push(text);
    }
    Err(Errno::TOOBIG)
}

#[cfg(test)]
mod tests {
    use super::first_line;

    #[test]
    fn the_first_line_of_a_script_names_its_interpreter() {
        let line = |text: &str| first_line(text.as_bytes());
        let is = |path: &str, argument: Option<&str>| Some((path.into(), argument.map(Into::into)));
        assert_eq!(line("#!/bin/sh\necho"), is("/bin/sh", None));
        assert_eq!(line("#! /usr/bin/env  python3 -u \nprint"), is("/usr/bin/env", Some("python3 -u")));
        assert_eq!(line("#!/bin/sh"), is("/bin/sh", None));
        assert_eq!(line("#! \n/bin/sh"), None);
        assert_eq!(line("#!"), None);
    }
}
