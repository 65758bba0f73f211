//! The runner tells passes from failures and from disagreements, and outlives everything it runs.

use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::Op;
use rvvsim::Config;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use testsuite::elfs::{Ending, Line, Setup, Verdict, find, run_all};
use testsuite::hostile;
use testsuite::peer::Spike;

const TEXT: u64 = 0x8000_0000;
const TOHOST: u64 = 0x8000_1000;

/// A bare-metal ELF that writes this to `tohost`; one that loops for ever, without.
fn bare(command: Option<u64>) -> Vec<u8> {
    let mut a = Asm::new(TEXT);
    if let Some(command) = command {
        a.li(5, TOHOST);
        a.li(6, command);
        a.store(Op::Sd, 6, 0, 5);
    }
    let forever = a.label_here();
    a.jump(forever);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(TOHOST, 64).symbol("tohost", TOHOST);
    elf.finish()
}

/// A folder with these files, which goes when it is dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, Vec<u8>)]) -> Self {
        let path = std::env::temp_dir().join(format!("rvvsim-runner-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder");
        for (file, bytes) in files {
            std::fs::write(path.join(file), bytes).expect("a temporary file");
        }
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn setup(spike: Option<&Path>) -> Setup {
    Setup {
        config: Config { mem: 4 << 20, ..Config::default() },
        spike: spike.map(|path| Spike { path: path.to_owned(), isa: "rv64gc".into() }),
        qemu: None,
        qemu_cpu: "max".into(),
        limit: Duration::from_millis(500),
        jobs: 2,
    }
}

fn run(folder: &Folder, spike: Option<&Path>) -> Vec<Line> {
    let elfs = find(&folder.0).expect("it is there");
    run_all(&setup(spike), &elfs, |_| ()).expect("the peers start")
}

fn verdicts(lines: &[Line]) -> Vec<(&str, Verdict)> {
    lines.iter().map(|l| (l.name.as_str(), l.verdict)).collect()
}

#[test]
fn exit_codes_make_passes_and_failures_and_other_files_are_left_alone() {
    let user = hostile::seeds().remove(1);
    let files = [
        ("good", bare(Some(1))),
        ("bad", bare(Some(7))),
        ("endless", bare(None)),
        ("linux", user),
        ("notes.txt", b"hello".to_vec()),
        ("broken", bare(Some(1))[..100].to_vec()),
    ];
    let lines = run(&Folder::new("codes", &files), None);
    let expected = [
        ("bad", Verdict::Fail),
        ("broken", Verdict::Fail),
        ("endless", Verdict::Fail),
        ("good", Verdict::Pass),
        ("linux", Verdict::Fail),
    ];
    assert_eq!(verdicts(&lines), expected);
    let endings: Vec<_> = lines.iter().map(|l| l.ours.ending.clone()).collect();
    use Ending::*;
    assert_eq!(endings, [Exited(3), Failed, TimedOut, Exited(0), Exited(3)]);
    assert_eq!(lines[4].ours.stdout, b"hello\n");
}

#[test]
fn a_peer_that_says_otherwise_is_a_disagreement() {
    let folder = Folder::new("peer", &[("good", bare(Some(1)))]);
    assert_eq!(verdicts(&run(&folder, Some(Path::new("/bin/true")))), [("good", Verdict::Pass)]);
    assert_eq!(verdicts(&run(&folder, Some(Path::new("/bin/false")))), [("good", Verdict::Disagreement)]);
}

#[test]
fn a_peer_that_hangs_is_killed_when_its_time_is_up() {
    let folder = Folder::new("hang", &[("good", bare(Some(1)))]);
    let peer = folder.0.join("peer.sh");
    std::fs::write(&peer, "#!/bin/sh\nsleep 30\n").expect("a script");
    std::fs::set_permissions(&peer, PermissionsExt::from_mode(0o755)).expect("its permissions");
    let start = Instant::now();
    let lines = run(&folder, Some(&peer));
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(verdicts(&lines), [("good", Verdict::Disagreement)]);
    assert_eq!(lines[0].peer.as_ref().map(|p| &p.1.ending), Some(&Ending::TimedOut));
}

#[test]
fn a_peer_that_does_not_start_is_an_error_with_its_name() {
    let folder = Folder::new("none", &[("good", bare(Some(1)))]);
    let elfs = find(&folder.0).expect("it is there");
    let error =
        run_all(&setup(Some(Path::new("/no/such/spike"))), &elfs, |_| ()).expect_err("it cannot start");
    assert!(error.to_string().contains("/no/such/spike"), "{error}");
}
