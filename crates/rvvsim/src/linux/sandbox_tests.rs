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
        FileSystem::new(&ProcessOptions { dirs, ..Default::default() }).unwrap()
    }

    fn path(&self, rest: &str) -> Vec<u8> {
        self.0.join(rest).into_os_string().into_encoded_bytes()
    }

    fn open(&self, system: &FileSystem, rest: &str, flags: OFlags) -> Result<OwnedFd, Errno> {
        system.locate(&self.path(rest), true)?.open(flags, Mode::from_bits_truncate(0o644))
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
    for path in ["/", "/etc/passwd", "/dev/tty", "/proc/self/mem", "/tmp"] {
        assert_eq!(system.locate(path.as_bytes(), true).err(), Some(Errno::NOENT), "{path}");
    }
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
        ("open/folder/../shut/secret", Errno::NOENT),
    ] {
        assert_eq!(scene.open(&system, path, OFlags::RDONLY).err(), Some(error), "{path}");
    }
}

#[test]
fn no_step_by_step_escape_either() {
    let scene = Scene::new();
    let dir = fs::File::open(scene.0.join("open")).unwrap();
    let open = |rest: &str| open_step_by_step(dir.as_fd(), rest.as_bytes(), OFlags::RDONLY, Mode::empty());
    assert!(open("sub/file").is_ok());
    assert!(open(".").is_ok());
    for path in ["relative", "absolute", "folder/secret", "../shut/secret", "sub/../../shut/secret"] {
        assert!(open(path).is_err(), "{path}");
    }
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
    let place = system.locate(&scene.path("open/sub/file"), true).unwrap();
    assert_eq!(place.parent(true).err(), Some(Errno::ROFS));
    assert!(place.parent(false).is_ok());
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
    let through_link = system.locate(&scene.path("open/folder/new"), true).unwrap();
    assert_eq!(through_link.parent(true).err(), Some(Errno::ACCESS));
    let itself = system.locate(&scene.path("open"), true).unwrap();
    assert_eq!(itself.parent(true).err(), Some(Errno::BUSY));
}

#[test]
fn the_way_to_a_grant_can_be_seen_but_not_opened() {
    let scene = Scene::new();
    let system = scene.system(false);
    let place = system.locate(&scene.path(""), true).unwrap();
    assert!(matches!(place, Place::Way));
    assert!(place.open(OFlags::RDONLY, Mode::empty()).is_err());
}

#[test]
fn a_sysroot_is_a_root_of_its_own() {
    let scene = Scene::new();
    symlink("/sub/file", scene.0.join("open/rooted")).unwrap();
    let options = ProcessOptions { sysroot: Some(scene.0.join("open")), ..Default::default() };
    let system = FileSystem::new(&options).unwrap();
    let open = |path: &str, flags| system.locate(path.as_bytes(), true)?.open(flags, Mode::empty());
    assert!(open("/sub/file", OFlags::RDONLY).is_ok());
    assert!(open("/rooted", OFlags::RDONLY).is_ok());
    assert_eq!(open("/sub/file", OFlags::RDWR).err(), Some(Errno::ROFS));
    // Out of it, `..` and links lead to its own root, where there is no such file.
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
