//! The private `/tmp` of a process in the sandbox.
//!
//! It is a folder of its own in the host's folder for temporary files, made when the guest first looks at
//! `/tmp` and removed when the process is dropped. A run that was killed cannot remove it. So each holds a
//! lock on its folder (`flock`), which the host gives back however the run ends, and whoever makes the next
//! such folder removes those that nobody holds.
//!
//! What the guest keeps there is bounded: by the sizes of the files as their metadata say them, holes
//! included, and by the number of names.

use super::family::Family;
use super::sandbox::OpenGrant;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::CString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// What the folders are called, before a number.
const PREFIX: &str = "rvvsim-tmp-";
/// The guest's name for it.
pub const NAME: &[u8] = b"/tmp";
/// Most names in it.
const MOST_ENTRIES: usize = 1 << 16;

/// A `/tmp` that is made when it is needed.
pub struct Tmp {
    /// Folders to be seen in it, because a grant is there: their paths below it.
    below: Vec<PathBuf>,
    room: Arc<Room>,
    made: OnceLock<Result<Made, Errno>>,
}

struct Made {
    grant: OpenGrant,
    path: PathBuf,
    /// The process that made it.
    by: u32,
}

impl Tmp {
    /// One that holds up to `limit` bytes.
    pub fn new(limit: u64, below: Vec<PathBuf>) -> Self {
        Tmp { below, room: Arc::new(Room::new(limit)), made: OnceLock::new() }
    }

    /// The folder.
    pub fn grant(&self) -> Result<&OpenGrant, Errno> {
        match self.made.get_or_init(|| self.make()) {
            Ok(made) => Ok(&made.grant),
            Err(e) => Err(*e),
        }
    }

    /// Makes it now, so that all of a family have the same.
    pub fn share(&self, family: Family) {
        let _ = self.grant();
        self.room.join(family);
    }

    /// Its bounds.
    pub fn room(&self) -> &Arc<Room> {
        &self.room
    }

    fn make(&self) -> Result<Made, Errno> {
        let base = std::env::temp_dir();
        remove_abandoned(&base);
        for _ in 0..100 {
            let path = base.join(format!("{PREFIX}{:016x}", unlikely_number()));
            match rustix::fs::mkdir(&path, Mode::RWXU) {
                Err(Errno::EXIST) => continue,
                other => other?,
            }
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let fd = match rustix::fs::openat(CWD, &path, flags, Mode::empty()) {
                // Somebody took it for abandoned before it was locked.
                Err(Errno::NOENT) => continue,
                other => other?,
            };
            rustix::fs::flock(&fd, FlockOperation::LockExclusive)?;
            let stat = rustix::fs::fstat(&fd)?;
            if stat.st_nlink == 0 {
                continue;
            }
            for folder in &self.below {
                let _ = std::fs::create_dir_all(path.join(folder));
            }
            let id = (stat.st_dev, stat.st_ino);
            let grant = OpenGrant { name: NAME.to_vec(), fd, writable: true, private: true, id };
            return Ok(Made { grant, path, by: std::process::id() });
        }
        Err(Errno::ACCESS)
    }
}

impl Drop for Tmp {
    fn drop(&mut self) {
        // A child leaves it to the process that made it.
        if let Some(Ok(made)) = self.made.get()
            && made.by == std::process::id()
        {
            remove_tree(&made.path);
        }
    }
}

/// Removes the folders of runs that are no more.
fn remove_abandoned(base: &Path) {
    let Ok(entries) = std::fs::read_dir(base) else { return };
    let me = rustix::process::geteuid().as_raw();
    for entry in entries.flatten() {
        if !entry.file_name().as_encoded_bytes().starts_with(PREFIX.as_bytes()) {
            continue;
        }
        let flags =
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let Ok(fd) = rustix::fs::openat(CWD, entry.path(), flags, Mode::empty()) else { continue };
        let mine = rustix::fs::fstat(&fd).is_ok_and(|s| s.st_uid == me);
        if mine && rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive).is_ok() {
            remove_tree(&entry.path());
        }
    }
}

/// Removes a folder with all that a hostile guest put there: folders without permissions, and folders in
/// folders, far deeper than there are descriptors or stack for a descent. So there is none: each folder in a
/// folder is moved up to the top before that folder is removed.
fn remove_tree(top: &Path) {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let Ok(fd) = rustix::fs::openat(CWD, top, flags, Mode::empty()) else { return };
    let mut moved = 0_u64;
    loop {
        let folders = remove_files(&fd);
        let mut removed = false;
        for name in folders {
            let Ok(folder) = rustix::fs::openat(&fd, &name, flags, Mode::empty()) else { continue };
            for inner in remove_files(&folder) {
                moved += 1;
                let _ = rustix::fs::renameat(&folder, inner, &fd, format!("moved {moved}"));
            }
            removed |= rustix::fs::unlinkat(&fd, &name, AtFlags::REMOVEDIR).is_ok();
        }
        if !removed {
            break;
        }
    }
    let _ = std::fs::remove_dir(top);
}

/// Removes what is in a folder, except for other folders: their names. Those may be opened and moved then.
fn remove_files(folder: &OwnedFd) -> Vec<CString> {
    let Ok(listing) = rustix::fs::Dir::read_from(folder) else { return Vec::new() };
    let mut folders = Vec::new();
    for entry in listing.flatten() {
        let name = entry.file_name();
        if name == c"." || name == c".." {
            continue;
        }
        if rustix::fs::unlinkat(folder, name, AtFlags::empty()).is_err() {
            let _ = rustix::fs::chmodat(folder, name, Mode::RWXU, AtFlags::empty());
            folders.push(name.to_owned());
        }
    }
    folders
}

/// Different in each process and call. That the name is not taken is seen when it is made.
fn unlikely_number() -> u64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut bytes = [0; 8];
    let _ = rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::NONBLOCK);
    u64::from_ne_bytes(bytes).wrapping_add(COUNT.fetch_add(1, Ordering::Relaxed))
}

/// How much is in the folder, and how much may be.
pub struct Room {
    limit: u64,
    state: Mutex<State>,
    /// Other processes that write there, too, once there are any.
    family: OnceLock<Family>,
}

#[derive(Default)]
struct State {
    bytes: u64,
    entries: usize,
    /// By inode.
    files: HashMap<u64, File>,
}

#[derive(Default, Clone, Copy)]
struct File {
    bytes: u64,
    opens: usize,
    /// It has no name any more.
    gone: bool,
}

impl Room {
    fn new(limit: u64) -> Self {
        Room { limit, state: Mutex::default(), family: OnceLock::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file is to be at least so large: whether there is room.
    pub fn grow(&self, inode: u64, size: u64) -> Result<(), Errno> {
        let mut state = self.state();
        let before = state.files.get(&inode).map_or(0, |f| f.bytes);
        let more = size.saturating_sub(before);
        let bytes = state.bytes.saturating_add(more);
        if bytes > self.limit {
            return Err(Errno::NOSPC);
        }
        if let Some(family) = self.family.get() {
            // What other processes remove is not counted: together they may write as much as one.
            if family.count_tmp(more) > self.limit {
                return Err(Errno::NOSPC);
            }
        }
        state.bytes = bytes;
        state.files.entry(inode).or_default().bytes += more;
        Ok(())
    }

    /// From now on a family writes there.
    fn join(&self, family: Family) {
        if self.family.set(family).is_ok() {
            family.count_tmp(self.state().bytes);
        }
    }

    /// A file is now so large, no larger than it was.
    pub fn shrink(&self, inode: u64, size: u64) {
        let mut state = self.state();
        if let Some(file) = state.files.get_mut(&inode) {
            let less = file.bytes.saturating_sub(size);
            file.bytes -= less;
            state.bytes -= less;
        }
    }

    /// A name is to be made: whether there is room.
    pub fn check_entry(&self) -> Result<(), Errno> {
        if self.state().entries >= MOST_ENTRIES { Err(Errno::NOSPC) } else { Ok(()) }
    }

    /// A name was made.
    pub fn add_entry(&self) {
        self.state().entries += 1;
    }

    /// The name of a file is gone; with it the file, if it was its last.
    pub fn remove_entry(&self, was: &Stat) {
        let mut state = self.state();
        state.entries = state.entries.saturating_sub(1);
        if FileType::from_raw_mode(was.st_mode).is_dir() || was.st_nlink <= 1 {
            state.files.entry(was.st_ino).or_default().gone = true;
            state.forget(was.st_ino);
        }
    }
}

impl State {
    /// Gives back the room of a file that nobody can reach.
    fn forget(&mut self, inode: u64) {
        if let Some(file) = self.files.get(&inode).copied().filter(|f| f.gone && f.opens == 0) {
            self.bytes -= file.bytes;
            self.files.remove(&inode);
        }
    }
}

/// An open file of the folder; dropped when it is closed.
pub struct Kept {
    /// The bounds it is kept in.
    pub room: Arc<Room>,
    /// The file.
    pub inode: u64,
}

impl Kept {
    /// A file was opened. `nameless` files are gone when they are closed.
    pub fn new(room: &Arc<Room>, inode: u64, nameless: bool) -> Self {
        let mut state = room.state();
        let file = state.files.entry(inode).or_default();
        file.opens += 1;
        file.gone |= nameless;
        drop(state);
        Kept { room: Arc::clone(room), inode }
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        let mut state = self.room.state();
        if let Some(file) = state.files.get_mut(&self.inode) {
            file.opens = file.opens.saturating_sub(1);
        }
        state.forget(self.inode);
    }
}
