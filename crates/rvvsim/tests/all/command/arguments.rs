//! The command line: whose words are whose, and what is said to wrong ones.

use super::guest::*;
use rvv_asm::asm::Asm;
use rvv_asm::elf_writer::ElfWriter;
use rvv_isa::{Op, csr};

/// What the guest gets after argv[0], and what is said on standard error.
fn given(words: &[&str]) -> (Vec<String>, String) {
    let folder = Folder::new(&format!("given-{:x}", words.concat().len()));
    let elf = folder.program("echo", &echo());
    let words = words.iter().map(|&w| if w == "PROG" { elf.to_str().unwrap() } else { w });
    let (code, out, err) = run(command().args(words), b"");
    assert_eq!(code, 0, "{err}");
    (out.lines().skip(1).map(str::to_owned).collect(), err)
}

#[test]
fn plain_words_are_the_guests_and_options_are_ours_until_the_dashes() {
    let cases: [(&[&str], &[&str]); 8] = [
        (&["PROG", "a", "b"], &["a", "b"]),
        (&["--vlen", "256", "PROG", "a", "-"], &["a", "-"]),
        (&["PROG", "a", "--vlen", "256", "b"], &["a", "b"]),
        (&["PROG", "--", "--vlen", "-x", "--"], &["--vlen", "-x", "--"]),
        (&["PROG", "a", "--vlen=512", "--", "-n", "3"], &["a", "-n", "3"]),
        (&["--vlen", "256", "--", "PROG", "--flag"], &["--flag"]),
        (&["--", "PROG", "--stats", "x"], &["--stats", "x"]),
        (&["PROG"], &[]),
    ];
    for (words, expected) in cases {
        let (args, err) = given(words);
        assert_eq!(args, expected, "{words:?}");
        assert_eq!(err, "", "{words:?}");
    }
    let (args, err) = given(&["--vlen", "256", "PROG", "a", "--stats", "b"]);
    assert_eq!(args, ["a", "b"]);
    assert!(err.contains("instructions in"), "{err}");
}

#[test]
fn an_option_that_may_be_the_guests_is_explained() {
    let (code, out, err) = rvvsim("unknown", &echo(), &["--flag=3"], b"");
    assert_eq!((code, out.as_str()), (127, ""));
    assert!(err.contains("no option --flag") && err.contains("rvvsim PROGRAM -- --flag"), "{err}");
    let (_, _, err) = rvvsim("unknown", &echo(), &["-n"], b"");
    assert!(err.contains("no option -n") && err.contains("after --"), "{err}");
    let (_, _, err) = rvvsim("unknown", &echo(), &["--statss"], b"");
    assert!(err.contains("is it --stats?"), "{err}");
}

#[test]
fn programs_are_found_through_links_and_on_path() {
    let folder = Folder::new("path");
    let elf = folder.program("rvv-echo", &echo());
    let link = folder.0.join("applet");
    std::os::unix::fs::symlink(&elf, &link).unwrap();
    let shown = |words: &[&str]| run(command().args(words).env("PATH", &folder.0), b"");
    // argv[0] is what was typed, as programs that look at it want.
    let link = link.to_str().unwrap();
    assert_eq!(shown(&[link, "a"]), (0, format!("{link}\na\n"), String::new()));
    assert_eq!(shown(&["rvv-echo", "a"]), (0, "rvv-echo\na\n".into(), String::new()));
    assert_eq!(shown(&["applet", "--", "-x"]), (0, "applet\n-x\n".into(), String::new()));
    assert_eq!(shown(&["--", "applet", "-x"]), (0, "applet\n-x\n".into(), String::new()));
    // A file here comes first; one that is nowhere is named.
    let (code, _, err) = shown(&["rvv-nowhere"]);
    assert_eq!(code, 126);
    assert!(err.contains("rvv-nowhere: No such file"), "{err}");
    let here = Folder::new("here");
    std::fs::write(here.0.join("rvv-echo"), b"junk").unwrap();
    let (code, _, err) = run(command().arg("rvv-echo").env("PATH", &folder.0).current_dir(&here.0), b"");
    assert_eq!(code, 126, "{err}");
}

#[test]
fn wrong_values_get_sentences() {
    let cases: [(&[&str], &str); 13] = [
        (&["--vlen", "abc"], "a power of two from 128 to 65536"),
        (&["--vlen", "-1"], "a power of two from 128 to 65536"),
        (&["--vlen", "100"], "VLEN must be a power of two from 128 to 65536"),
        (&["--timeout", "-1"], "a positive number of seconds: try 10 or 0.5"),
        (&["--timeout", "0"], "a positive number of seconds"),
        (&["--timeout", "soon"], "a positive number of seconds"),
        (&["--max-insns", "-5"], "a count: try 5000000 or 5M"),
        (&["--mem", "lots"], "a number of bytes: try 512M or 4G"),
        (&["--seed", "-1"], "a whole number from 0 to"),
        (&["--tail", "zeros"], "one of undisturbed, ones, ones-to-register, random:SEED"),
        (&["--vl", "third"], "one of max, half, random:SEED"),
        (&["-E", "HOME"], "NAME=VALUE"),
        (&["--dir", "/no/such/folder"], "there is no such folder"),
    ];
    for (words, sentence) in cases {
        let (code, _, err) = rvvsim("wrong", &echo(), words, b"");
        assert_eq!(code, 127, "{words:?}: {err}");
        assert!(err.contains(sentence), "{words:?}: {err}");
    }
}

#[test]
fn isa_strings_of_other_tools_are_taken_and_what_is_missing_is_named() {
    let elf = linux(|_| {});
    let with = |elf: &[u8], isa: &str| rvvsim("isa", elf, &["--isa", isa], b"");
    let silent = (0, "a\n".to_owned(), String::new());
    assert_eq!(with(&elf, "rv64gcv_zvl256b_ziccid_za64rs_ztso_svade"), silent);
    let (code, out, err) = with(&elf, "rv64gcvh_zkt_smaia_ssaia");
    assert_eq!((code, out.as_str()), (0, "a\n"));
    assert!(err.contains("zkt changes nothing here: timing is not modelled"), "{err}");
    assert!(err.contains("not to be seen by a user process: h, smaia, ssaia"), "{err}");
    let (code, _, err) = with(&bare(false), "rv64gcvh_smaia");
    assert_eq!(code, 126);
    assert!(err.contains("not supported on bare metal: h, smaia"), "{err}");
    let (code, _, err) = with(&elf, "rv64gcv_zkr");
    assert_eq!(code, 127);
    assert!(err.contains("extension `zkr` is not supported"), "{err}");
    let (code, _, err) = rvvsim("isa", &elf, &["--isa", "rv64gcv_zvl512b", "--vlen", "256"], b"");
    assert_eq!(code, 127);
    assert!(err.contains("zvl512b") && err.contains("--vlen 512 or more"), "{err}");
    let elf = Scratch(std::env::temp_dir().join(format!("rvvsim-isa-qemu-{}", std::process::id())));
    std::fs::write(&elf.0, linux(|_| {})).unwrap();
    let qemu = |cpu: &str| run(command().args(["qemu", "-cpu", cpu]).arg(&elf.0), b"").0;
    assert_eq!(qemu("rv64,v=true,h=true,svade=off,zkt=true,smaia=false,sv57=on,mmu=true"), 0);
    assert_eq!(qemu("rv64,zkr=true"), 127);
}

#[test]
fn help_leads_on() {
    let (code, _, err) = run(&mut command(), b"");
    assert_eq!(code, 127);
    assert!(err.contains("no program was given") && err.contains("--demo"), "{err}");
    for help in ["--help", "-h"] {
        let (code, text, _) = run(command().arg(help), b"");
        assert_eq!(code, 0);
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            text.contains("[default: 128, or the least that --isa allows]") && text.contains("rvvsim --demo"),
            "{text}"
        );
    }
    let (_, text, _) = run(command().args(["qemu", "-h"]), b"");
    assert!(text.contains("no sandbox") && text.contains("all of the host's files"), "{text}");
}

/// A Linux program with a variable that is called `tohost`.
fn linux_with_tohost() -> Vec<u8> {
    let mut a = Asm::new(TEXT);
    print_and_exit(&mut a);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 0x1000).symbol("tohost", DATA + 8);
    elf.finish()
}

#[test]
fn a_variable_called_tohost_does_not_make_bare_metal() {
    assert_eq!(rvvsim("tohost", &linux_with_tohost(), &[], b""), (0, "a\n".into(), String::new()));
    assert_eq!(rvvsim("tohost", &bare(false), &[], b"").0, 0);
    // A wrong guess is mended by the user, who has to know how.
    let (code, _, err) = rvvsim("tohost", &linux_with_tohost(), &["--mode", "bare"], b"");
    assert_eq!(code, 126, "{err}");
    let high = |body: fn(&mut Asm)| {
        let mut a = Asm::new(BARE_TEXT);
        body(&mut a);
        let mut elf = ElfWriter::new(BARE_TEXT);
        elf.segment(BARE_TEXT, a.finish(), 5).zeros(TOHOST, 64).symbol("tohost", TOHOST);
        elf.finish()
    };
    let (code, _, err) = rvvsim("tohost", &high(|a| syscall(a, 93)), &[], b"");
    assert_eq!(code, 126, "{err}");
    assert!(err.contains("--mode user"), "{err}");
    // Bare metal that is not where RAM is.
    let mut a = Asm::new(TEXT);
    a.csr(Op::Csrrs, 0, csr::MSTATUS, 0);
    let mut elf = ElfWriter::new(TEXT);
    elf.segment(TEXT, a.finish(), 5).zeros(DATA, 64).symbol("tohost", DATA);
    let (code, _, err) = rvvsim("tohost", &elf.finish(), &[], b"");
    assert_eq!(code, 132, "{err}");
    assert!(err.contains("--mode bare"), "{err}");
}

#[test]
fn a_failure_on_bare_metal_is_said_as_spike_says_it() {
    let (code, out, err) = rvvsim("failed", &bare(true), &["--vlen", "256"], b"");
    assert_eq!((code, out.as_str(), err.as_str()), (32, "x", "*** FAILED *** (tohost = 32)\n"));
    assert_eq!(rvvsim("passed", &bare(false), &[], b""), (0, "x".into(), String::new()));
}
