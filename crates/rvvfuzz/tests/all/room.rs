//! Disks that are full, and stores that a newer version has written.

use crate::fleet::{assert_each_once, run};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::TempDir;

/// A small disk, in memory.
struct Small(TempDir);

fn mount(args: &[&str], at: &Path) -> bool {
    let mut command = Command::new("mount");
    command.args(args).arg("tmpfs").arg(at).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|s| s.success())
}

impl Small {
    /// Makes one; `None`, said by name, where nobody may.
    fn new(test: &str, size: &str) -> Option<Small> {
        let folder = tempfile::tempdir().unwrap();
        if !mount(&["-t", "tmpfs", "-o", &format!("size={size}")], folder.path()) {
            println!("{test}: skipped, a small disk cannot be mounted here");
            return None;
        }
        Some(Small(folder))
    }

    fn grow(&self, size: &str) {
        assert!(mount(&["-o", &format!("remount,size={size}")], self.0.path()), "remount");
    }
}

impl Drop for Small {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_ends_a_campaign_with_a_sentence() {
    let Some(disk) = Small::new("a_full_disk_ends_a_campaign_with_a_sentence", "700k") else { return };
    let folder = disk.0.path();
    let options = "--builtin --batch 12 --jobs 1 --vlen 128 --store c.db";
    for (command, end, size) in
        [("run", "--count 100000", "700k"), ("work", "--lease 3s --count 100000", "1400k")]
    {
        disk.grow(size);
        let line = format!("{command} {options} {end}");
        let line = if command == "run" { line } else { line.replace("c.db", "w.db") };
        let (code, text) = run(folder, &line.split(' ').collect::<Vec<_>>());
        assert!(code == 2 && text.contains("no room to write") && text.contains("make room"), "{text}");
        // Looking at it needs none.
        let store = if command == "run" { "c.db" } else { "w.db" };
        let (code, text) = run(folder, &["show", "--store", store]);
        assert!(code == 0, "{text}");
    }
    disk.grow("30m");
    for (store, line) in [("c.db", "run --resume --store c.db"), ("w.db", "work --store w.db")] {
        let done = rvvfuzz::programs::store::Store::read(&*folder.join(store)).unwrap().done().unwrap();
        let count = done.values().sum::<u64>() + 24;
        let line = format!("{line} --count {count}");
        let (code, text) = run(folder, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(code, 0, "{text}");
        assert_each_once(folder, store, count);
    }
}

#[cfg(feature = "postgres")]
#[test]
fn a_server_may_have_no_room_or_a_newer_store() {
    let test = "a_server_may_have_no_room_or_a_newer_store";
    let Some(server) = crate::server::Server::start(test) else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let work = |store: &str, count: &str| {
        let line = "work --builtin --batch 12 --jobs 1 --vlen 128 --lease 3s";
        let args: Vec<&str> = line.split(' ').chain(["--store", store, "--count", count]).collect();
        run(folder, &args)
    };
    // A newer version has written it: nobody touches it.
    let store = server.database("newer");
    assert_eq!(work(&store, "12").0, 0);
    server.sql("newer", "update meta set value = '99' where key = 'format'");
    for args in
        [&["show"][..], &["report"], &["work"], &["serve", "--listen", "127.0.0.1:0"], &["merge", "copy.db"]]
    {
        let args = match args[0] {
            "merge" => [args, &[store.as_str()]].concat(),
            _ => [args, &["--store", &store]].concat(),
        };
        let (code, text) = run(folder, &args);
        assert!(
            code == 2 && text.contains("newer rvvfuzz") && text.contains("left as it is"),
            "{args:?}: {text}"
        );
    }
    // A database on a disk that is full.
    let Some(disk) = Small::new(test, "24m") else { return };
    assert!(server.give(disk.0.path()));
    server.sql("postgres", &format!("create tablespace small location '{}'", disk.0.path().display()));
    server.sql("postgres", "create database room tablespace small");
    let store = store.replace("/newer", "/room");
    assert_eq!(work(&store, "24").0, 0);
    let fill = "create table filler(x text); do $$ begin loop insert into filler select repeat(md5(random()::text), 60) \
                from generate_series(1, 100); end loop; exception when disk_full then null; end $$";
    server.sql("room", fill);
    let (code, text) = work(&store, "6000");
    assert!(code == 2 && text.contains("no room to write") && text.contains("make room"), "{text}");
    server.sql("room", "drop table filler");
    let done =
        rvvfuzz::programs::store::Store::read(store.parse::<rvvfuzz::programs::store::Place>().unwrap());
    let count = done.unwrap().done().unwrap().values().sum::<u64>() + 36;
    let (code, text) = work(&store, &count.to_string());
    assert_eq!(code, 0, "{text}");
    assert_each_once(folder, &store, count);
    server.sql("postgres", "drop database room");
    server.sql("postgres", "drop tablespace small");
}
