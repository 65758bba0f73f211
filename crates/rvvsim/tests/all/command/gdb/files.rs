//! Files that gdb reads: those that the guest could, and nothing else.

use super::*;
use std::os::unix::fs::symlink;

/// A folder with a file, links and a FIFO.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    std::fs::write(folder.0.join("inside"), b"what is $ here: #}*").unwrap();
    symlink("inside", folder.0.join("link")).unwrap();
    symlink("/etc/passwd", folder.0.join("out")).unwrap();
    symlink("../../../../../../etc/passwd", folder.0.join("up")).unwrap();
    let fifo = rustix::fs::FileType::Fifo;
    rustix::fs::mknodat(rustix::fs::CWD, folder.0.join("fifo"), fifo, 0o600.into(), 0).unwrap();
    folder
}

fn open(gdb: &mut Client, path: &str, flags: u32) -> String {
    gdb.ask(&format!("vFile:open:{},{flags:x},0", hex(path)))
}

/// The bytes of a file from here on, at most so many.
fn pread(gdb: &mut Client, fd: &str, count: usize, offset: usize) -> Vec<u8> {
    gdb.tell(&format!("vFile:pread:{fd},{count:x},{offset:x}"));
    let answer = gdb.next_bytes();
    let at = answer.iter().position(|&b| b == b';').unwrap_or_else(|| panic!("{:?}", answer.utf8_chunks()));
    let n = usize::from_str_radix(std::str::from_utf8(&answer[1..at]).unwrap(), 16).unwrap();
    let mut bytes = Vec::new();
    let mut rest = answer[at + 1..].iter();
    while let Some(byte) = rest.next() {
        bytes.push(if *byte == b'}' { rest.next().unwrap() ^ 0x20 } else { *byte });
    }
    assert_eq!(bytes.len(), n);
    bytes
}

fn whole(gdb: &mut Client, fd: &str) -> Vec<u8> {
    let mut all = Vec::new();
    loop {
        let more = pread(gdb, fd, 0x7000, all.len());
        if more.is_empty() {
            return all;
        }
        all.extend(more);
    }
}

/// Answers with an error.
const ERRORS: &str = "F-1,";

#[test]
fn files_of_the_guest_can_be_read_and_no_others() {
    let (elf, _, _) = process();
    let folder = folder("gdb-files");
    let root = folder.0.to_str().unwrap().to_owned();
    let (mut child, port) = start(&elf, &["--dir", &format!("{root}:rw")]);
    let mut gdb = Client::new(&port);
    assert_eq!(gdb.ask("vFile:setfs:0"), "F0");
    let inside = format!("{root}/inside");
    assert_eq!(open(&mut gdb, &inside, 0), "F00");
    assert_eq!(whole(&mut gdb, "0"), b"what is $ here: #}*");
    assert_eq!(pread(&mut gdb, "0", 4, 5), b"is $");
    assert_eq!(pread(&mut gdb, "0", usize::MAX >> 1, 1000), b"");
    gdb.tell("vFile:fstat:0");
    assert!(gdb.next_bytes().starts_with(b"F40;"));
    assert_eq!(open(&mut gdb, &format!("{root}/link"), 0), "F01");
    assert_eq!(whole(&mut gdb, "1"), b"what is $ here: #}*");
    assert_eq!(gdb.ask("vFile:close:0"), "F0");
    assert_eq!(gdb.ask("vFile:close:0"), "F-1,09");
    assert_eq!(gdb.ask("vFile:pread:0,10,0"), "F-1,09");
    assert_eq!(gdb.ask("vFile:fstat:ffffffff"), "F-1,09");
    assert_eq!(gdb.ask(&format!("vFile:readlink:{}", hex(&format!("{root}/link")))), "F06;inside");
    assert!(gdb.ask(&format!("vFile:readlink:{}", hex(&inside))).starts_with(ERRORS));
    // What the guest cannot see.
    for path in [
        "/etc/passwd",
        "/etc",
        "etc/passwd",
        "",
        "inside",
        "/proc/1/environ",
        "/proc/1/root/etc/passwd",
        "/proc/self/fd/0",
        "/proc/self/mem",
        "/dev/zero",
        "/dev/mem",
        &format!("{root}/../../../../../../../../etc/passwd"),
        &format!("{root}/out"),
        &format!("{root}/up"),
        &format!("{root}/fifo"),
        &root,
        &format!("{root}/inside\0"),
        &format!("{root}/nothing"),
        &"/a".repeat(4000),
    ] {
        assert!(open(&mut gdb, path, 0).starts_with(ERRORS), "{path}");
        assert!(
            gdb.ask(&format!("vFile:readlink:{}", hex(path))).starts_with(ERRORS)
                || path.ends_with("out")
                || path.ends_with("up"),
            "{path}"
        );
    }
    // Nothing is written, though the guest could.
    for flags in [1, 2, 8, 0x200, 0x400, 0x601, 0xa01] {
        assert_eq!(open(&mut gdb, &inside, flags), "F-1,1e", "{flags:#x}");
        assert_eq!(open(&mut gdb, &format!("{root}/new"), flags), "F-1,1e", "{flags:#x}");
    }
    assert_eq!(gdb.ask("vFile:pwrite:1,0,bad"), "");
    assert_eq!(gdb.ask(&format!("vFile:unlink:{}", hex(&inside))), "");
    assert_eq!(std::fs::read(&inside).unwrap(), b"what is $ here: #}*");
    assert!(!folder.0.join("new").exists());
    // Not too many at a time.
    let opened = (0..100).take_while(|_| open(&mut gdb, &inside, 0) != "F-1,18").count();
    assert_eq!(opened, 63);
    assert!(gdb.ask("c").starts_with("W07"));
    assert_eq!(child.wait().expect("it ends").code(), Some(7));
}

#[test]
fn the_program_itself_and_what_proc_says_of_it_can_be_read() {
    let (elf, _, _) = process();
    let (mut child, port) = start(&elf, &[]);
    let mut gdb = Client::new(&port);
    let name = gdb.ask("qXfer:exec-file:read::0,1000");
    let name = name.strip_prefix('m').expect("a name");
    assert_eq!(name, elf.0.to_str().unwrap());
    assert_eq!(open(&mut gdb, name, 0), "F00");
    assert_eq!(whole(&mut gdb, "0"), std::fs::read(&elf.0).unwrap());
    // The guest is process 1 to gdb.
    assert_eq!(open(&mut gdb, "/proc/1/maps", 0), "F01");
    let maps = String::from_utf8(whole(&mut gdb, "1")).unwrap();
    assert!(maps.contains("r-xp") && maps.contains("[stack]"), "{maps}");
    assert!(gdb.ask("c").starts_with("W07"));
    assert_eq!(child.wait().expect("it ends").code(), Some(7));
}

#[test]
fn a_sysroot_is_seen_as_the_guest_sees_it() {
    let (elf, _, _) = process();
    let folder = folder("gdb-sysroot");
    std::fs::create_dir(folder.0.join("lib")).unwrap();
    std::fs::write(folder.0.join("lib/libc.so.6"), b"a library").unwrap();
    symlink("/etc/shadow", folder.0.join("lib/escape")).unwrap();
    let (mut child, port) = start(&elf, &["--sysroot", folder.0.to_str().unwrap()]);
    let mut gdb = Client::new(&port);
    assert_eq!(open(&mut gdb, "/lib/libc.so.6", 0), "F00");
    assert_eq!(whole(&mut gdb, "0"), b"a library");
    for path in ["/lib/escape", "/lib/../../../../../etc/passwd", "/out", "/up", "/etc/passwd"] {
        assert!(open(&mut gdb, path, 0).starts_with(ERRORS), "{path}");
    }
    assert!(gdb.ask("c").starts_with("W07"));
    assert_eq!(child.wait().expect("it ends").code(), Some(7));
}

#[test]
fn bare_metal_has_no_files() {
    let (elf, _, _) = bare();
    let (mut child, port) = start(&elf, &[]);
    let mut gdb = Client::new(&port);
    assert_eq!(open(&mut gdb, "/etc/passwd", 0), "");
    assert!(gdb.ask("c").starts_with("W00"));
    assert_eq!(child.wait().expect("it ends").code(), Some(0));
}
