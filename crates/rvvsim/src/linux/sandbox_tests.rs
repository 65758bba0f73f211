use super::*;
use crate::linux::Grant;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder with a granted part and a secret beside it; gone when dropped.
struct Scene(PathBuf);

impl Scene {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let base = std::env::temp_dir().join(format!("rvvsim-sandbox-{}-{number}", std::process::id()));
        fs::create_dir_all(base.join("open/sub")).unwrap();
        fs::create_dir_all(base.join("shut")).unwrap();
        fs::write(base.join("shut/secret"), "secret").unwrap();
        fs::write(base.join("open/sub/file"), "file").unwrap();
        symlink("../shut/secret", base.join("open/relative")).unwrap();
        symlink(base.join("shut/secret"), base.join("open/absolute")).unwrap();
        symlink("../shut", base.join("open/folder")).unwrap();
        symlink("sub/file", base.join("open/inside")).unwrap();
        Scene(base)
    }

    fn system(&self, writable: bool) -> FileSystem {
        let dirs = vec![Grant { path: self.0.join("open"), writable }];
        // The folder may be in /tmp.
        FileSystem::new(&ProcessOptions { dirs, tmp_limit: 0, ..Default::default() }).unwrap()
    }

    /// `open` to write, and `open/sub` in it to read only.
    fn nested(&self) -> FileSystem {
        let grant = |name, writable| Grant { path: self.0.join(name), writable };
        let dirs = vec![grant("open", true), grant("open/sub", false)];
        // The folder may be in /tmp.
        FileSystem::new(&ProcessOptions { dirs, tmp_limit: 0, ..Default::default() }).unwrap()
    }

    fn path(&self, rest: &str) -> Vec<u8> {
        self.0.join(rest).into_os_string().into_encoded_bytes()
    }

    fn open(&self, system: &FileSystem, rest: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        let follow = !flags.contains(OFlags::NOFOLLOW);
        let place = system.locate(&self.path(rest), true, follow)?;
        place.open(flags, Mode::from_bits_truncate(0o644)).map(|opened| opened.fd)
    }
}

impl Drop for Scene {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn nothing_is_there_without_a_grant() {
    let system = FileSystem::new(&ProcessOptions::default()).unwrap();
    for path in ["/etc/passwd", "/dev/tty", "/proc/self/mem", "/tmpx", "/tmp/../etc/passwd"] {
        assert_eq!(system.locate(path.as_bytes(), true, true).err(), Some(Errno::NOENT), "{path}");
    }
    // The root is there because `/tmp` is.
    assert!(system.locate(b"/", true, true).unwrap().is_way());
    let none = FileSystem::new(&ProcessOptions { tmp_limit: 0, ..Default::default() }).unwrap();
    assert_eq!(none.locate(b"/tmp", true, true).err(), Some(Errno::NOENT));
}

#[test]
fn granted_files_open_and_others_do_not() {
    let scene = Scene::new();
    let system = scene.system(false);
    assert!(scene.open(&system, "open/sub/file", OFlags::RDONLY).is_ok());
    assert!(scene.open(&system, "open/inside", OFlags::RDONLY).is_ok());
    assert!(scene.open(&system, "open/sub/../sub/./file", OFlags::RDONLY).is_ok());
    for (path, error) in [
        ("shut/secret", Errno::NOENT),
        ("open/../shut/secret", Errno::NOENT),
        ("open/sub/../../shut/secret", Errno::NOENT),
        ("opened", Errno::NOENT),
        ("open/relative", Errno::ACCESS),
        ("open/absolute", Errno::ACCESS),
        ("open/folder/secret", Errno::ACCESS),
        // Links come before `..`, as on Linux.
        ("open/folder/../shut/secret", Errno::ACCESS),
        ("open/missing/../sub/file", Errno::NOENT),
        ("open/sub/file/", Errno::NOTDIR),
        ("open/sub/file/..", Errno::NOTDIR),
    ] {
        assert_eq!(scene.open(&system, path, OFlags::RDONLY).err(), Some(error), "{path}");
    }
}

#[test]
fn the_most_specific_grant_decides_whatever_the_way() {
    let scene = Scene::new();
    let system = scene.nested();
    symlink("sub", scene.0.join("open/to-sub")).unwrap();
    symlink(scene.0.join("open/sub/file"), scene.0.join("open/rooted")).unwrap();
    symlink("../open/sub/../sub/file", scene.0.join("open/round")).unwrap();
    let ways =
        ["open/sub/file", "open/inside", "open/to-sub/file", "open/rooted", "open/round", "open/./sub//file"];
    for way in ways {
        assert!(scene.open(&system, way, OFlags::RDONLY).is_ok(), "{way}");
        for flags in [OFlags::WRONLY, OFlags::RDWR, OFlags::RDONLY | OFlags::TRUNC] {
            assert_eq!(scene.open(&system, way, flags).err(), Some(Errno::ROFS), "{way} {flags:?}");
        }
    }
    let create = OFlags::WRONLY | OFlags::CREATE;
    assert!(scene.open(&system, "open/new", create).is_ok());
    assert!(scene.open(&system, "open/to-sub/../new2", create).is_ok());
    assert_eq!(scene.open(&system, "open/to-sub/new", create).err(), Some(Errno::ROFS));
    // The folder stays read-only where somebody moves it, or what it is in.
    fs::rename(scene.0.join("open/sub"), scene.0.join("open/moved")).unwrap();
    assert_eq!(scene.open(&system, "open/moved/file", OFlags::WRONLY).err(), Some(Errno::ROFS));
    fs::create_dir(scene.0.join("open/deep")).unwrap();
    fs::rename(scene.0.join("open/moved"), scene.0.join("open/deep/sub")).unwrap();
    assert_eq!(scene.open(&system, "open/deep/sub/file", OFlags::WRONLY).err(), Some(Errno::ROFS));
    let moved = system.locate(&scene.path("open/deep/sub"), true, true).unwrap();
    assert!(!moved.writable());
    assert_eq!(moved.entry(true).err(), Some(Errno::BUSY));
}

#[test]
fn paths_without_end_end() {
    let scene = Scene::new();
    let system = scene.system(false);
    symlink("loop", scene.0.join("open/loop")).unwrap();
    assert_eq!(scene.open(&system, "open/loop", OFlags::RDONLY).err(), Some(Errno::LOOP));
    // Each link is the one before, many times over.
    symlink("sub", scene.0.join("open/l0")).unwrap();
    for i in 1..39 {
        let target = format!("l{}/../", i - 1).repeat(300) + &format!("l{}", i - 1);
        symlink(target, scene.0.join(format!("open/l{i}"))).unwrap();
    }
    let start = std::time::Instant::now();
    assert!(scene.open(&system, "open/l38", OFlags::RDONLY).is_err());
    assert!(start.elapsed().as_secs() < 20);
}

#[test]
fn a_host_out_of_descriptors_does_not_hide_files() {
    // In a child, so that the other tests keep theirs.
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            "ulimit -n 40 && exec \"$0\" --exact linux::sandbox::tests::out_of_descriptors --nocapture",
        ])
        .arg(std::env::current_exe().unwrap())
        .env("RVVSIM_OUT_OF_DESCRIPTORS", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn out_of_descriptors() {
    if std::env::var_os("RVVSIM_OUT_OF_DESCRIPTORS").is_none() {
        return;
    }
    let scene = Scene::new();
    let options = ProcessOptions { sysroot: Some(scene.0.join("open")), tmp_limit: 0, ..Default::default() };
    let rooted = FileSystem::new(&options).unwrap();
    let system = scene.system(false);
    let mut held = Vec::new();
    while let Ok(file) = fs::File::open("/dev/null") {
        held.push(file);
    }
    assert_eq!(scene.open(&system, "open/sub/file", OFlags::RDONLY).err(), Some(Errno::MFILE));
    assert_eq!(rooted.locate(b"/sub/file", true, true).err(), Some(Errno::MFILE));
}

#[test]
fn a_read_only_grant_cannot_be_changed() {
    let scene = Scene::new();
    let system = scene.system(false);
    for flags in [
        OFlags::WRONLY,
        OFlags::RDWR,
        OFlags::RDONLY | OFlags::TRUNC,
        OFlags::RDONLY | OFlags::CREATE,
        OFlags::RDWR | OFlags::TMPFILE,
    ] {
        assert_eq!(scene.open(&system, "open/sub/file", flags).err(), Some(Errno::ROFS), "{flags:?}");
    }
    let place = || system.locate(&scene.path("open/sub/file"), true, true).unwrap();
    assert_eq!(place().entry(true).err(), Some(Errno::ROFS));
    assert!(place().entry(false).is_ok());
}

#[test]
fn a_writable_grant_ends_at_its_edge() {
    let scene = Scene::new();
    let system = scene.system(true);
    let create = OFlags::WRONLY | OFlags::CREATE;
    assert!(scene.open(&system, "open/new", create).is_ok());
    assert!(scene.open(&system, "open/folder/new", create).is_err());
    assert!(scene.open(&system, "open/relative", OFlags::WRONLY | OFlags::TRUNC).is_err());
    assert_eq!(fs::read(scene.0.join("shut/secret")).unwrap(), b"secret");
    // The parent of a name behind a link that leads out is not had; nor is the grant itself a name in it.
    let through_link = system.locate(&scene.path("open/folder/new"), true, true);
    assert_eq!(through_link.err(), Some(Errno::ACCESS));
    let itself = system.locate(&scene.path("open"), true, true).unwrap();
    assert_eq!(itself.entry(true).err(), Some(Errno::BUSY));
}

#[test]
fn the_way_to_a_grant_can_be_seen_but_not_opened() {
    let scene = Scene::new();
    let system = scene.system(false);
    let place = system.locate(&scene.path(""), true, true).unwrap();
    assert!(place.is_way());
    assert!(place.open(OFlags::RDONLY, Mode::empty()).is_err());
}

#[test]
fn a_sysroot_is_a_root_of_its_own() {
    let scene = Scene::new();
    symlink("/sub/file", scene.0.join("open/rooted")).unwrap();
    let options = ProcessOptions { sysroot: Some(scene.0.join("open")), tmp_limit: 0, ..Default::default() };
    let system = FileSystem::new(&options).unwrap();
    let open = |path: &str, flags| system.locate(path.as_bytes(), true, true)?.open(flags, Mode::empty());
    assert!(open("/sub/file", OFlags::RDONLY).is_ok());
    assert!(open("/rooted", OFlags::RDONLY).is_ok());
    assert_eq!(open("/sub/file", OFlags::RDWR).err(), Some(Errno::ROFS));
    // Out of it, `..` and links lead to its own root, where there is no such file.
    assert!(open("/../../sub/file", OFlags::RDONLY).is_ok());
    for path in ["/relative", "/absolute", "/../shut/secret", "/folder/secret"] {
        assert_eq!(open(path, OFlags::RDONLY).err(), Some(Errno::NOENT), "{path}");
    }
}

#[test]
fn paths_normalize() {
    for (path, normal) in [("/", "/"), ("//a/./b//", "/a/b"), ("/a/../../b", "/b"), ("", "/")] {
        assert_eq!(normalize(path.as_bytes()), normal.as_bytes());
    }
    assert_eq!(join(b"/a", b"b/../c"), b"/a/b/../c");
    assert_eq!(below(b"/ab", b"/a"), None);
    assert_eq!(below(b"/a/b", b"/a"), Some(&b"b"[..]));
}
