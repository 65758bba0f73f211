//! A guest that tries to leave its sandbox, by system calls.

use super::*;
use rustix::fs::FileType;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const CWD: u64 = -100_i64 as u64;
const O_PATH: u64 = 0o10_000_000;
const O_TMPFILE: u64 = 0o20_200_000;
const O_CREAT: u64 = 0o100;
const O_NOFOLLOW: u64 = 0o400_000;
const SECOND: u64 = DATA + 2048;

/// Folders of the host, `granted` among them, and a secret beside it; gone when dropped.
struct Scene(PathBuf);

impl Scene {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        // Not in /tmp, which is the guest's own; this repository may be there.
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let base = here.join("../../target/escape");
        let base = if here.starts_with("/tmp") { "/var/tmp/rvvsim-escape".into() } else { base };
        let base = base.join(format!("{}-{number}", std::process::id()));
        fs::create_dir_all(base.join("granted/in")).unwrap();
        fs::create_dir_all(base.join("secret")).unwrap();
        let base = base.canonicalize().unwrap();
        fs::write(base.join("secret/file"), "secret").unwrap();
        fs::write(base.join("granted/in/file"), "read only").unwrap();
        fs::write(base.join("granted/file"), "free").unwrap();
        symlink("../secret/file", base.join("granted/out")).unwrap();
        symlink("../secret", base.join("granted/out-folder")).unwrap();
        symlink("/proc/self/root", base.join("granted/out-proc")).unwrap();
        Scene(base)
    }

    /// A guest with `granted` to write and `granted/in` to read.
    fn guest(&self) -> Machine {
        let grant = |name, writable| Grant { path: self.0.join(name), writable };
        self.guest_with(vec![grant("granted", true), grant("granted/in", false)])
    }

    fn guest_with(&self, dirs: Vec<Grant>) -> Machine {
        let options = ProcessOptions { dirs, ..options() };
        Machine::user(config(), &Image::parse(program(&[ECALL; 4])).unwrap(), options).unwrap()
    }

    fn path(&self, rest: &str) -> String {
        self.0.join(rest).to_str().unwrap().to_owned()
    }

    /// What is not the guest's to change is as it was.
    fn check(&self) {
        assert_eq!(fs::read(self.0.join("secret/file")).unwrap(), b"secret");
        assert_eq!(fs::read(self.0.join("granted/in/file")).unwrap(), b"read only");
        assert_eq!(fs::read_dir(self.0.join("secret")).unwrap().count(), 1);
        assert_eq!(fs::read_dir(self.0.join("granted/in")).unwrap().count(), 1);
        assert_eq!(fs::metadata(self.0.join("secret/file")).unwrap().nlink(), 1);
        assert_eq!(fs::metadata(self.0.join("granted/in/file")).unwrap().nlink(), 1);
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn put(m: &mut Machine, at: u64, path: &str) {
    user::write(&mut m.hart, at, path.as_bytes()).unwrap();
    user::write(&mut m.hart, at + path.len() as u64, &[0]).unwrap();
}

fn open_at(m: &mut Machine, dir: u64, path: &str, flags: u64) -> i64 {
    put(m, DATA, path);
    call(m, 56, &[dir, DATA, flags, 0o644])
}

fn open(m: &mut Machine, path: &str, flags: u64) -> i64 {
    open_at(m, CWD, path, flags)
}

/// A call with two paths.
fn call2(m: &mut Machine, number: u64, paths: [&str; 2]) -> i64 {
    put(m, DATA, paths[0]);
    put(m, SECOND, paths[1]);
    match number {
        36 => call(m, 36, &[DATA, CWD, SECOND]),
        _ => call(m, number, &[CWD, DATA, CWD, SECOND, 0]),
    }
}

fn read_all(m: &mut Machine, fd: i64) -> Vec<u8> {
    let n = call(m, 63, &[fd as u64, DATA, 100]);
    assert!(n >= 0, "{n}");
    let mut bytes = vec![0; n as usize];
    user::read(&mut m.hart, DATA, &mut bytes).unwrap();
    bytes
}

#[test]
fn no_path_leads_out() {
    let scene = Scene::new();
    let mut m = scene.guest();
    let paths = [
        "secret/file",
        "granted/../secret/file",
        "granted/in/../../secret/file",
        "granted/out",
        "granted/out-folder/file",
        "granted/out-proc/etc/passwd",
        "granted/../granted/../secret",
    ];
    let mut paths: Vec<String> = paths.iter().map(|p| scene.path(p)).collect();
    for inside in
        ["root", "root/etc/passwd", "cwd/Cargo.toml", "fd/0", "fd/1", "fd/3", "mem", "environ", "task/1"]
    {
        paths.push(format!("/proc/self/{inside}"));
        paths.push(format!("/proc/{}/{inside}", std::process::id()));
        paths.push(format!("/proc/thread-self/{inside}"));
    }
    paths.extend(
        ["/", "/proc", "/dev", "/dev/stdin", "/dev/fd/3", "/dev/tty", "/etc/passwd"].map(String::from),
    );
    let up = "/..".repeat(30);
    paths.push(scene.path("granted") + &up + &scene.path("secret/file"));
    for path in &paths {
        for flags in [0, 1, 2, O_CREAT | 1, O_PATH, O_PATH | O_NOFOLLOW, O_TMPFILE | 2, 0o200_000] {
            let fd = open(&mut m, path, flags);
            // The links of the folder themselves may be opened as what they are: their places.
            let is_link = flags & O_NOFOLLOW != 0 && path.ends_with("granted/out");
            assert!(fd < 0 || is_link, "{path} {flags:o}: {fd}");
        }
        put(&mut m, DATA, path);
        for (number, args) in [
            (49, [DATA, 0, 0, 0]),
            (45, [DATA, 0, 0, 0]),
            (53, [CWD, DATA, 0o777, 0]),
            (88, [CWD, DATA, 0, 0]),
        ] {
            let done = call(&mut m, number, &args);
            assert!(done < 0 || (number == 49 && path == "/"), "{number} {path}: {done}");
        }
        for flags in [0, 0x200] {
            let link = path.ends_with("granted/out");
            put(&mut m, DATA, path);
            assert!(link || call(&mut m, 35, &[CWD, DATA, flags]) < 0, "unlink {path}");
        }
    }
    // The program's own page of /proc is made up.
    assert!(open(&mut m, "/proc/self/maps", 0) >= 0);
    assert!(open(&mut m, "/proc/self/maps", 2) < 0);
    // So is the folder of its threads: it has one, and nothing is reached from there.
    assert_eq!(open(&mut m, "/proc/self/task", 2), errno(Errno::ISDIR));
    let threads = open(&mut m, "/proc/self/task", 0) as u64;
    for path in ["..", "../root", "../../../etc/passwd", "../fd/0", "1/root"] {
        assert!(open_at(&mut m, threads, path, 0) < 0, "{path}");
    }
    let n = call(&mut m, 61, &[threads, DATA, 4096]);
    let mut listed = vec![0; usize::try_from(n).unwrap()];
    user::read(&mut m.hart, DATA, &mut listed).unwrap();
    let mut entries = 0;
    while !listed.is_empty() {
        listed.drain(..usize::from(u16::from_le_bytes([listed[16], listed[17]])));
        entries += 1;
    }
    assert_eq!(entries, 3, "itself, its parent, one thread");
    scene.check();
}

#[test]
fn a_read_only_folder_in_a_writable_one_stays_so() {
    let scene = Scene::new();
    let mut m = scene.guest();
    let path = |rest: &str| scene.path(rest);
    // A link that stays in its folder may be made, and leads to the same rights.
    assert_eq!(call2(&mut m, 36, ["in/file", &path("granted/l")]), 0);
    assert_eq!(call2(&mut m, 36, ["in", &path("granted/d")]), 0);
    for way in
        ["granted/l", "granted/d/file", "granted/in/file", "granted/in/../in/file", "granted/d/../in/file"]
    {
        let fd = open(&mut m, &path(way), 0);
        assert_eq!(read_all(&mut m, fd), b"read only", "{way}");
        for flags in [1, 2, 0o1000, 0o2001, O_CREAT | 1] {
            assert_eq!(open(&mut m, &path(way), flags), errno(Errno::ROFS), "{way} {flags:o}");
        }
        put(&mut m, DATA, &path(way));
        assert_eq!(call(&mut m, 45, &[DATA, 0]), errno(Errno::ROFS));
        assert_eq!(call(&mut m, 53, &[CWD, DATA, 0o777]), errno(Errno::ROFS));
        assert_eq!(call(&mut m, 88, &[CWD, DATA, 0, 0]), errno(Errno::ROFS));
        assert_eq!(call(&mut m, 48, &[CWD, DATA, 2]), errno(Errno::ROFS));
    }
    // Not as an entry either: moved, removed, linked, replaced, exchanged.
    let inside = path("granted/in/file");
    for number in [37, 276] {
        assert_eq!(call2(&mut m, number, [&inside, &path("granted/x")]), errno(Errno::ROFS));
        assert_eq!(call2(&mut m, number, [&path("granted/file"), &inside]), errno(Errno::ROFS));
        assert_eq!(call2(&mut m, number, [&path("granted/file"), &path("granted/in/x")]), errno(Errno::ROFS));
        assert_eq!(call2(&mut m, number, [&path("granted/file"), &path("granted/d/x")]), errno(Errno::ROFS));
    }
    put(&mut m, DATA, &path("granted/l"));
    put(&mut m, SECOND, &path("granted/hard"));
    assert_eq!(call(&mut m, 37, &[CWD, DATA, CWD, SECOND, 0x400]), errno(Errno::ROFS));
    assert_eq!(call2(&mut m, 276, [&path("granted/in"), &path("granted/moved")]), errno(Errno::BUSY));
    put(&mut m, DATA, &path("granted/in"));
    assert_eq!(call(&mut m, 35, &[CWD, DATA, 0x200]), errno(Errno::BUSY));
    put(&mut m, DATA, &path("granted/in/new"));
    assert_eq!(call(&mut m, 34, &[CWD, DATA, 0o755]), errno(Errno::ROFS));
    // By descriptors of folders.
    let granted = open(&mut m, &path("granted"), 0) as u64;
    let inner = open_at(&mut m, granted, "in", 0) as u64;
    assert_eq!(open_at(&mut m, granted, "in/file", 1), errno(Errno::ROFS));
    assert_eq!(open_at(&mut m, inner, "file", 1), errno(Errno::ROFS));
    assert_eq!(open_at(&mut m, inner, "../in/file", 1), errno(Errno::ROFS));
    assert_eq!(open_at(&mut m, inner, ".", O_TMPFILE | 2), errno(Errno::ROFS));
    assert_eq!(call(&mut m, 52, &[inner, 0o777]), errno(Errno::ROFS));
    assert_eq!(call(&mut m, 88, &[inner, 0, 0, 0]), errno(Errno::ROFS));
    assert!(open_at(&mut m, inner, "../file", 1) >= 0);
    // The folder above may be moved; what is in it stays what it is.
    let outer = vec![
        Grant { path: scene.0.clone(), writable: true },
        Grant { path: scene.0.join("granted/in"), writable: false },
    ];
    let mut m = scene.guest_with(outer);
    assert_eq!(call2(&mut m, 276, [&path("granted"), &path("elsewhere")]), 0);
    assert_eq!(open(&mut m, &path("elsewhere/in/file"), 1), errno(Errno::ROFS));
    assert_eq!(call2(&mut m, 276, [&path("elsewhere"), &path("granted")]), 0);
    scene.check();
}

#[test]
fn descriptors_are_the_guests_own() {
    let scene = Scene::new();
    // These are open in the host, at low numbers.
    let _held: Vec<fs::File> = (0..20).map(|_| fs::File::open(scene.0.join("secret")).unwrap()).collect();
    let mut m = scene.guest();
    for fd in (3..2000).chain([u64::MAX, 1 << 31, i32::MAX as u64]) {
        assert_eq!(open_at(&mut m, fd, "file", 0), errno(Errno::BADF), "{fd}");
        for number in [80, 62, 23, 50, 61, 63, 64, 46, 52] {
            assert_eq!(call(&mut m, number, &[fd, DATA, 0, 0]), errno(Errno::BADF), "{number} {fd}");
        }
        put(&mut m, DATA, "");
        assert_eq!(call(&mut m, 79, &[fd, DATA, SECOND, 0x1000]), errno(Errno::BADF), "{fd}");
    }
    for fd in 0..3 {
        assert_eq!(open_at(&mut m, fd, "file", 0), errno(Errno::NOTDIR), "{fd}");
    }
    // The place of a file is no way to its contents.
    let place = open(&mut m, &scene.path("granted/in/file"), O_PATH) as u64;
    assert_eq!(call(&mut m, 63, &[place, DATA, 1]), errno(Errno::BADF));
    assert_eq!(call(&mut m, 64, &[place, DATA, 1]), errno(Errno::BADF));
    assert_eq!(open_at(&mut m, place, "", 0), errno(Errno::NOENT));
    assert_eq!(open(&mut m, &format!("/proc/self/fd/{place}"), 2), errno(Errno::ACCESS));
    put(&mut m, DATA, "");
    put(&mut m, SECOND, &scene.path("granted/copy"));
    for flags in [0x1000, 0x400, 0x1400] {
        assert!(call(&mut m, 37, &[place, DATA, CWD, SECOND, flags]) < 0, "linkat {flags:#x}");
    }
    assert!(call(&mut m, 53, &[place, DATA, 0o777]) < 0);
    // name_to_handle_at, open_by_handle_at, openat2, mknodat, chroot, mount, pivot_root, memfd_create,
    // pidfd_getfd, process_vm_writev, open_tree, move_mount, fchmodat2.
    put(&mut m, DATA, &scene.path("granted/file"));
    for number in [264, 265, 437, 33, 51, 40, 41, 279, 438, 271, 428, 429, 452] {
        let done = call(&mut m, number, &[CWD, DATA, SECOND, SECOND, 0x1000]);
        assert!(done == errno(Errno::NOSYS) || done == errno(Errno::PERM), "{number}: {done}");
    }
    // A file without a name stays one.
    let nameless = open(&mut m, &scene.path("granted"), O_TMPFILE | 2);
    assert!(nameless >= 0, "{nameless}");
    put(&mut m, DATA, "");
    assert!(call(&mut m, 37, &[nameless as u64, DATA, CWD, SECOND, 0x1000]) < 0);
    assert!(call2(&mut m, 37, [&format!("/proc/self/fd/{nameless}"), &scene.path("granted/copy")]) < 0);
    assert!(!scene.0.join("granted/copy").exists());
    scene.check();
}

#[test]
fn no_file_runs_as_somebody_else() {
    let scene = Scene::new();
    let mut m = scene.guest();
    let mode = |name: &str| fs::metadata(scene.0.join(name)).unwrap().permissions().mode() & 0o7777;
    assert_eq!(call(&mut m, 166, &[0]), 0o022);
    put(&mut m, DATA, &scene.path("granted/new"));
    let fd = call(&mut m, 56, &[CWD, DATA, O_CREAT | 1, 0o6755]) as u64;
    assert_eq!(mode("granted/new"), 0o755);
    assert_eq!(call(&mut m, 52, &[fd, 0o4711]), 0);
    assert_eq!(mode("granted/new"), 0o711);
    assert_eq!(call(&mut m, 53, &[CWD, DATA, 0o7775]), 0);
    assert_eq!(mode("granted/new"), 0o1775);
    put(&mut m, DATA, &scene.path("granted/folder"));
    assert_eq!(call(&mut m, 34, &[CWD, DATA, 0o6777]), 0);
    assert_eq!(mode("granted/folder") & 0o6000, 0);
    // mknodat
    put(&mut m, DATA, &scene.path("granted/node"));
    assert_eq!(call(&mut m, 33, &[CWD, DATA, 0o104_755, 0]), errno(Errno::PERM));
}

/// Two guests on one folder, one of which keeps exchanging a folder and a link that leads out, while the
/// other writes and reads through that name.
#[test]
fn no_race_leads_out() {
    let scene = Scene::new();
    let stop = AtomicBool::new(false);
    fs::create_dir(scene.0.join("granted/a")).unwrap();
    fs::write(scene.0.join("granted/a/file"), "a").unwrap();
    symlink("../secret", scene.0.join("granted/b")).unwrap();
    symlink("in", scene.0.join("granted/c")).unwrap();
    std::thread::scope(|threads| {
        threads.spawn(|| {
            let mut m = scene.guest();
            const EXCHANGE: u64 = 2;
            while !stop.load(Ordering::Relaxed) {
                for other in ["granted/b", "granted/c"] {
                    put(&mut m, DATA, &scene.path("granted/a"));
                    put(&mut m, SECOND, &scene.path(other));
                    for _ in 0..2 {
                        assert_eq!(call(&mut m, 276, &[CWD, DATA, CWD, SECOND, EXCHANGE]), 0);
                        m.hart.pc = CODE;
                    }
                }
            }
        });
        let mut m = scene.guest();
        let (mut reached, mut refused) = (0, 0);
        let start = std::time::Instant::now();
        while start.elapsed().as_millis() < 700 {
            for path in ["granted/a/file", "granted/a/../a/file"] {
                let fd = open(&mut m, &scene.path(path), 0);
                if fd >= 0 {
                    reached += 1;
                    assert_ne!(read_all(&mut m, fd), b"secret");
                    call(&mut m, 57, &[fd as u64]);
                } else {
                    refused += 1;
                }
                let fd = open(&mut m, &scene.path(path), 0o1001);
                if fd >= 0 {
                    call(&mut m, 57, &[fd as u64]);
                }
                put(&mut m, DATA, &scene.path("granted/a/new"));
                call(&mut m, 34, &[CWD, DATA, 0o755]);
                call(&mut m, 35, &[CWD, DATA, 0x200]);
                m.hart.pc = CODE;
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert!(reached > 0 && refused > 0, "no race: {reached} and {refused}");
    });
    scene.check();
}

#[test]
fn tmp_is_private_bounded_and_gone_at_the_end() {
    let limit = 1 << 20;
    let guest = || {
        let options = ProcessOptions { tmp_limit: limit, ..options() };
        Machine::user(config(), &Image::parse(program(&[ECALL; 4])).unwrap(), options).unwrap()
    };
    let ours = || {
        let entries = fs::read_dir(std::env::temp_dir()).unwrap().flatten();
        let named = entries.filter(|e| e.file_name().to_string_lossy().starts_with("rvvsim-tmp-"));
        named.map(|e| e.path()).collect::<std::collections::BTreeSet<_>>()
    };
    let (mut m, mut other) = (guest(), guest());
    let fd = open(&mut m, "/tmp/file", O_CREAT | 2) as u64;
    user::write(&mut m.hart, DATA, b"hello").unwrap();
    assert_eq!(call(&mut m, 64, &[fd, DATA, 5]), 5);
    assert_eq!(open(&mut other, "/tmp/file", 0), errno(Errno::NOENT));
    let host = ours().into_iter().find(|p| p.join("file").exists()).expect("a folder of the host");
    assert_eq!(FileType::from_raw_mode(fs::metadata(&host).unwrap().mode()), FileType::Directory);
    assert_eq!(fs::metadata(&host).unwrap().permissions().mode() & 0o777, 0o700);
    // Listing it, and links of its own.
    let folder = open(&mut m, "/tmp", 0) as u64;
    assert!(call(&mut m, 61, &[folder, DATA, 1000]) > 0);
    assert_eq!(call2(&mut m, 36, ["/tmp/file", "/tmp/link"]), 0);
    let through = open(&mut m, "/tmp/link", 0);
    assert_eq!(read_all(&mut m, through), b"hello");
    assert!(open(&mut m, "/tmp/../etc/passwd", 0) < 0);
    // Bounds, by whatever way a file grows; what is removed and closed is room again.
    assert_eq!(call(&mut m, 46, &[fd, limit + 1]), errno(Errno::NOSPC));
    assert_eq!(call(&mut m, 47, &[fd, 0, 0, limit + 1]), errno(Errno::NOSPC));
    assert_eq!(call(&mut m, 68, &[fd, DATA, 5, limit]), errno(Errno::NOSPC));
    assert_eq!(call(&mut m, 46, &[fd, limit]), 0);
    let second = open(&mut m, "/tmp/second", O_CREAT | 2) as u64;
    assert_eq!(call(&mut m, 64, &[second, DATA, 5]), errno(Errno::NOSPC));
    put(&mut m, DATA, "/tmp/file");
    assert_eq!(call(&mut m, 35, &[CWD, DATA, 0]), 0);
    assert_eq!(call(&mut m, 64, &[second, DATA, 5]), errno(Errno::NOSPC));
    for fd in [fd, through as u64] {
        assert_eq!(call(&mut m, 57, &[fd]), 0);
    }
    assert_eq!(call(&mut m, 64, &[second, DATA, 5]), 5);
    // Folders without end, which nobody may look into.
    let mut folder = open(&mut m, "/tmp", 0) as u64;
    for _ in 0..1500 {
        put(&mut m, DATA, "folder");
        assert_eq!(call(&mut m, 34, &[folder, DATA, 0o700]), 0);
        let inner = open_at(&mut m, folder, "folder", 0) as u64;
        assert_eq!(call(&mut m, 52, &[folder, 0o100]), 0);
        assert_eq!(call(&mut m, 57, &[folder]), 0);
        folder = inner;
    }
    drop(m);
    assert!(!host.exists());
}

#[test]
fn a_granted_tmp_is_the_hosts() {
    let name = format!("rvvsim-granted-{}", std::process::id());
    let there = std::env::temp_dir().join(&name);
    if there.parent() != Some(Path::new("/tmp")) {
        return;
    }
    fs::create_dir(&there).unwrap();
    fs::write(there.join("file"), "granted").unwrap();
    let scene = Scene::new();
    // The folder alone: beside it there is a private /tmp, in which it can be seen.
    let mut m = scene.guest_with(vec![Grant { path: there.clone(), writable: false }]);
    let fd = open(&mut m, &format!("/tmp/{name}/file"), 0);
    assert_eq!(read_all(&mut m, fd), b"granted");
    assert_eq!(open(&mut m, &format!("/tmp/{name}/file"), 1), errno(Errno::ROFS));
    assert!(open(&mut m, "/tmp/mine", O_CREAT | 1) >= 0);
    assert!(!Path::new("/tmp/mine").exists());
    let folder = open(&mut m, "/tmp", 0) as u64;
    let n = call(&mut m, 61, &[folder, DATA, 1000]) as usize;
    let mut listing = vec![0; n];
    user::read(&mut m.hart, DATA, &mut listing).unwrap();
    assert!(listing.windows(name.len()).any(|w| w == name.as_bytes()));
    // All of /tmp.
    let mut m = scene.guest_with(vec![Grant { path: "/tmp".into(), writable: false }]);
    assert!(open(&mut m, &format!("/tmp/{name}/file"), 0) >= 0);
    assert_eq!(open(&mut m, "/tmp/mine", O_CREAT | 1), errno(Errno::ROFS));
    fs::remove_dir_all(there).unwrap();
}

#[test]
fn the_tmp_of_a_killed_run_is_removed_by_the_next() {
    let left = std::env::temp_dir().join(format!("rvvsim-tmp-left-{}", std::process::id()));
    fs::create_dir_all(left.join("folder")).unwrap();
    let mut m = machine(&[ECALL]);
    assert!(open(&mut m, "/tmp/file", O_CREAT | 1) >= 0);
    assert!(!left.exists());
}
