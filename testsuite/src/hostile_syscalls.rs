//! Hostile system calls: every number with every kind of bad argument, in process, against a guest in the
//! sandbox.

use crate::hostile::process;
use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::Op;
use rvvsim::elf::Image;
use rvvsim::linux::{Grant, Input, ProcessOptions, Verdict};
use rvvsim::{Config, Machine};
use std::cell::RefCell;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Guest memory for each input: small, so that what is taken beyond it shows.
const MEM: u64 = 4 << 20;
/// What the guest may keep in its private `/tmp`.
const TMP: u64 = 1 << 20;
/// Most system calls of one input.
const MOST_CALLS: usize = 256;
/// Inputs between two cleanings of the folder that the guests may write.
const CLEAN: u32 = 64;

const CODE: u64 = 0x1_0000;
/// A page of the input's own bytes.
const DATA: u64 = 0x2_0000;
/// Pages of paths, [`PATH_ROOM`] bytes each.
const PATHS: u64 = 0x3_0000;
const PATH_ROOM: u64 = 256;
const PAGE: u64 = 4096;
const USER_END: u64 = 1 << 38;
const AT_FDCWD: u64 = -100_i64 as u64;

/// Names in the scene; what starts with a slash is as it is.
const NAMES: [&str; 30] = [
    "granted",
    "granted/file",
    "granted/new",
    "granted/folder",
    "granted/folder/new",
    "granted/in",
    "granted/in/file",
    "granted/to-in",
    "granted/to-in/file",
    "granted/out",
    "granted/out-folder/file",
    "granted/loop",
    "granted/fifo",
    "granted/../secret/file",
    "secret/file",
    "secret",
    "/",
    "/tmp",
    "/tmp/a",
    "/tmp/b",
    "/tmp/folder",
    "/tmp/../etc/passwd",
    "/proc/self/exe",
    "/proc/self/maps",
    "/proc/self/mem",
    "/proc/self/fd/0",
    "/dev/null",
    "/dev/zero",
    "file",
    "..",
];

/// The numbers that are served; others are tried less often.
const SERVED: [u16; 112] = [
    17, 23, 24, 25, 29, 32, 33, 34, 35, 36, 37, 43, 44, 45, 46, 47, 48, 49, 50, 52, 53, 54, 55, 56, 57, 59,
    61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 78, 79, 80, 81, 88, 95, 96, 98, 99, 101, 102, 103,
    113, 114, 115, 122, 123, 124, 129, 130, 131, 132, 133, 134, 135, 136, 137, 139, 140, 141, 148, 150, 153,
    155, 156, 158, 160, 163, 165, 166, 167, 168, 169, 172, 173, 174, 178, 179, 214, 215, 216, 220, 221, 222,
    223, 226, 227, 228, 232, 233, 258, 259, 260, 261, 276, 278, 283, 291, 293, 435, 436, 437, 439,
];

/// Folders of the host: one to write, with one to read in it, and a secret beside it.
struct Scene {
    base: PathBuf,
    inputs: u32,
}

impl Scene {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hostile-syscalls-{}-{number}", std::process::id());
        let scene = Scene { base: std::env::temp_dir().join(name), inputs: 0 };
        fs::create_dir_all(scene.base.join("secret")).expect("a folder for temporary files");
        fs::write(scene.base.join("secret/file"), "secret").expect("a new file");
        scene.furnish();
        scene
    }

    /// Makes what the guests may write anew.
    fn furnish(&self) {
        let granted = self.base.join("granted");
        // A guest may have taken our own rights.
        let _ = fs::set_permissions(&granted, fs::Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&granted);
        let made = fs::create_dir_all(granted.join("in"))
            .and_then(|()| fs::create_dir_all(granted.join("folder")))
            .and_then(|()| fs::write(granted.join("file"), [7; 10_000]))
            .and_then(|()| fs::write(granted.join("in/file"), "read only"))
            .and_then(|()| symlink("in", granted.join("to-in")))
            .and_then(|()| symlink("../secret/file", granted.join("out")))
            .and_then(|()| symlink("../secret", granted.join("out-folder")))
            .and_then(|()| symlink("loop", granted.join("loop")));
        made.expect("a folder of our own");
        let fifo = std::process::Command::new("mkfifo").arg(granted.join("fifo")).status();
        assert!(fifo.is_ok_and(|status| status.success()), "mkfifo");
    }

    /// What no guest may change, as the host sees it.
    fn untouchable(&self) -> Vec<(u64, u64, u64, i64, i64, u32)> {
        let look = |name: &str| {
            let data = fs::symlink_metadata(self.base.join(name)).expect("it is there");
            (data.ino(), data.nlink(), data.size(), data.mtime(), data.mtime_nsec(), data.mode())
        };
        ["secret", "secret/file", "granted/in", "granted/in/file"].map(look).to_vec()
    }

    fn machine(&self) -> Machine {
        static IMAGE: OnceLock<Image> = OnceLock::new();
        let image = IMAGE.get_or_init(|| {
            let mut a = Asm::new(CODE);
            for _ in 0..4 {
                a.plain(Op::Ecall);
            }
            let mut elf = ElfWriter::new(CODE);
            elf.segment(CODE, a.finish(), 5).zeros(DATA, PAGE).zeros(PATHS, 2 * PAGE);
            Image::parse(elf.finish()).expect("a good file")
        });
        let grant = |name, writable| Grant { path: self.base.join(name), writable };
        let options = ProcessOptions {
            dirs: vec![grant("granted", true), grant("granted/in", false)],
            tmp_limit: TMP,
            stdin: Input::Bytes(vec![5; 1000]),
            ..process()
        };
        let config = Config { mem: MEM, ..Config::default() };
        Machine::user(config, image, options).expect("it fits")
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::set_permissions(self.base.join("granted"), fs::Permissions::from_mode(0o700));
        let _ = fs::remove_dir_all(&self.base);
    }
}

/// The bytes of an input, from the first to the last.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut taken = [0; N];
        let n = N.min(self.0.len());
        taken[..n].copy_from_slice(&self.0[..n]);
        self.0 = &self.0[n..];
        taken
    }

    fn byte(&mut self) -> u64 {
        u64::from(self.take::<1>()[0])
    }

    fn half(&mut self) -> u64 {
        u64::from(u16::from_le_bytes(self.take()))
    }

    fn number(&mut self) -> u64 {
        let (how, value) = (self.byte(), self.half());
        match how % 4 {
            0 => value % 512,
            _ => u64::from(SERVED[value as usize % SERVED.len()]),
        }
    }

    /// An argument: of the kinds that go wrong, or that let a call come far.
    fn argument(&mut self, last: u64, sp: u64) -> u64 {
        let kind = self.byte();
        match kind % 20 {
            0 => 0,
            1 => self.byte() % 12,
            2 => last,
            3 | 4 => DATA + self.half() % PAGE,
            5..=8 => PATHS + PATH_ROOM * (self.byte() % NAMES.len() as u64),
            9 => u64::from_le_bytes(self.take()),
            10 => (self.byte() as i64).wrapping_neg() as u64,
            11 => 1 << (self.byte() % 64),
            12 | 13 => AT_FDCWD,
            14 => DATA + PAGE - self.byte() % 16,
            15 => USER_END - self.half(),
            16 => sp - self.half() % 8192,
            17 => u64::from(u32::from_le_bytes(self.take())),
            18 => self.half(),
            _ => PAGE * self.half(),
        }
    }
}

/// Makes the system calls that `data` describes. None of them may panic, hang, take more memory than the
/// guest is due, or change a file outside the grants. Returns how many were made.
///
/// # Panics If something outside the grants has changed: a bug.
pub fn syscalls(data: &[u8]) -> usize {
    thread_local! {
        static SCENE: RefCell<Scene> = RefCell::new(Scene::new());
    }
    SCENE.with_borrow_mut(|scene| {
        if scene.inputs % CLEAN == CLEAN - 1 {
            scene.furnish();
        }
        scene.inputs += 1;
        let before = scene.untouchable();
        let mut machine = scene.machine();
        let made = run(scene, &mut machine, data);
        drop(machine);
        assert_eq!(scene.untouchable(), before, "something outside the grants has changed");
        made
    })
}

fn run(scene: &Scene, machine: &mut Machine, data: &[u8]) -> usize {
    let store = |machine: &mut Machine, at: u64, bytes: &[u8]| {
        for (at, byte) in (at..).zip(bytes) {
            machine.hart_mut().store(at, *byte).expect("it is mapped");
        }
    };
    store(machine, DATA, &data[..data.len().min(PAGE as usize)]);
    for (at, name) in (PATHS..).step_by(PATH_ROOM as usize).zip(NAMES) {
        let path = if name.starts_with('/') { PathBuf::from(name) } else { scene.base.join(name) };
        let path = path.into_os_string().into_encoded_bytes();
        store(machine, at, &path[..path.len().min(PATH_ROOM as usize - 1)]);
    }
    let sp = machine.hart().x(2);
    let mut last = 0;
    let mut bytes = Bytes(data);
    for made in 0..MOST_CALLS {
        if bytes.0.is_empty() {
            return made;
        }
        let number = bytes.number();
        let mut args = [0; 6];
        for arg in &mut args {
            *arg = bytes.argument(last, sp);
        }
        if number == 47 {
            // fallocate takes what the disk has: that is what a writable folder means.
            args[2] %= 1 << 20;
            args[3] %= 1 << 20;
        }
        let (process, hart) = machine.process_and_hart().expect("a process");
        hart.set_pc(CODE);
        hart.set_x(2, sp);
        hart.set_x(17, number);
        for (reg, arg) in (10..).zip(args) {
            hart.set_x(reg, arg);
        }
        // No call is to wait.
        process.set_deadline(Some(Instant::now()));
        if !matches!(process.syscall(hart), Verdict::Continue) {
            return made + 1;
        }
        last = hart.x(10);
    }
    MOST_CALLS
}
