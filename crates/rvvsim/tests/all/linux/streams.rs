//! What is written and read through pipes and FIFOs arrives whole.

use super::blocked::wait;
use super::calls::{CWD, DATA, Folder, LAST, ZEROES, ZEROES_LEN, guest};
use std::io::Read;
use std::process::{Command, Stdio};

/// A write larger than the pipe waits until somebody has read it all.
#[test]
fn a_large_write_to_a_slow_reader_is_one_write() {
    let folder = Folder::new();
    // The low byte of the count, which becomes the exit code, is 1.
    let elf = guest(&[(64, &[1, ZEROES, ZEROES_LEN - 255])], &[]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_rvvsim"))
        .arg(folder.guest(&elf))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut reader = child.stdout.take().unwrap();
    let mut total = 0;
    let mut buffer = vec![0; 40_000];
    loop {
        let n = reader.read(&mut buffer).unwrap();
        total += n;
        if n == 0 {
            break;
        }
        if total < 300_000 {
            std::thread::sleep(std::time::Duration::from_millis(30));
        }
    }
    assert_eq!(total as u64, ZEROES_LEN - 255);
    assert_eq!(wait(child), Some(1));
}

/// Opening a FIFO waits for the other side, and what it sends arrives.
#[test]
fn a_fifo_brings_two_guests_together() {
    let folder = Folder::new();
    let name = folder.name("fifo");
    assert!(Command::new("mkfifo").arg(folder.0.join("fifo")).status().unwrap().success());
    let start = |calls, file: &str| {
        let path = folder.0.join(file);
        std::fs::write(&path, guest(calls, &name)).unwrap();
        let dir = format!("{}:rw", folder.0.display());
        Command::new(env!("CARGO_BIN_EXE_rvvsim"))
            .args(["--timeout", "60", "--dir", &dir])
            .arg(path)
            .spawn()
            .unwrap()
    };
    // The one writes 42 bytes, the other reads at most 100.
    let reader = start(&[(56, &[CWD, DATA, 0, 0]), (63, &[LAST, ZEROES, 100])], "reader");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let writer = start(&[(56, &[CWD, DATA, 1, 0]), (64, &[LAST, ZEROES, 42])], "writer");
    assert_eq!((wait(writer), wait(reader)), (Some(42), Some(42)));
    let writer = start(&[(56, &[CWD, DATA, 1, 0]), (64, &[LAST, ZEROES, 43])], "writer");
    std::thread::sleep(std::time::Duration::from_millis(200));
    let reader = start(&[(56, &[CWD, DATA, 0, 0]), (63, &[LAST, ZEROES, 100])], "reader");
    assert_eq!((wait(writer), wait(reader)), (Some(43), Some(43)));
}

/// Of its standard streams a guest in the sandbox may not change the file behind them.
#[test]
fn the_file_behind_a_stream_stays() {
    let folder = Folder::new();
    let log = folder.0.join("log");
    let run = |calls, dir: Option<&str>| {
        std::fs::write(&log, "what was there\n").unwrap();
        let file = std::fs::File::options().append(true).open(&log).unwrap();
        let elf = folder.guest(&guest(calls, b"more\n"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_rvvsim"));
        if let Some(dir) = dir {
            command.args(["--dir", dir]);
        }
        let code = wait(command.arg(elf).stdout(file).spawn().unwrap());
        (code, std::fs::read_to_string(&log).unwrap())
    };
    let eperm = Some(1);
    let same = "what was there\n".to_owned();
    assert_eq!(run(&[(46, &[1, 0])], None), (eperm, same.clone()), "ftruncate");
    assert_eq!(run(&[(47, &[1, 0, 0, 1 << 20])], None), (eperm, same.clone()), "fallocate");
    assert_eq!(run(&[(52, &[1, 0o666])], None), (eperm, same.clone()), "fchmod");
    assert_eq!(run(&[(88, &[1, 0, 0, 0])], None), (eperm, same.clone()), "futimens");
    assert_eq!(run(&[(25, &[1, 4, 0])], None), (eperm, same.clone()), "O_APPEND off");
    let written = "what was there\nmore\n".to_owned();
    assert_eq!(run(&[(62, &[1, 0, 0]), (64, &[1, DATA, 5])], None), (Some(5), written), "write");
    // Asking is free: fstat.
    assert_eq!(run(&[(80, &[1, ZEROES])], None).0, Some(0));
    // The file itself is granted, so that the guest could do it by its name as well.
    let dir = format!("{}:rw", folder.0.display());
    assert_eq!(run(&[(46, &[1, 4])], Some(&dir)), (Some(0), "what".to_owned()), "granted");
    let read_only = folder.0.display().to_string();
    assert_eq!(run(&[(46, &[1, 4])], Some(&read_only)), (eperm, same), "granted to read");
}
