//! Programs from files, as edited by hand: never a panic, always a sentence.

use rvv_ir::Program;
use rvvfuzz::programs::campaign::Campaign;
use rvvfuzz::programs::judge::batch::run_all;
use rvvfuzz::programs::judge::case::Case;
use rvvfuzz::programs::settings::Settings;
use std::process::Command;

/// A small generator of numbers.
fn next(state: &mut u64) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    (*state >> 33) as usize
}

/// What hands do to texts: lines and words lost, doubled, swapped, numbers changed, bytes broken.
fn edit(text: &str, state: &mut u64) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    for _ in 0..1 + next(state) % 3 {
        let at = next(state) % lines.len();
        match next(state) % 6 {
            0 => drop(lines.remove(at)),
            1 => lines.insert(at, lines[at].clone()),
            2 => {
                let other = next(state) % lines.len();
                lines.swap(at, other);
            }
            3 => {
                let mut words: Vec<String> = lines[at].split(' ').map(str::to_string).collect();
                let word = next(state) % words.len();
                words[word] = ["0", "-1", "18446744073709551615", "99999999999", "", "vl", "#", "é"]
                    [next(state) % 8]
                    .to_string();
                lines[at] = words.join(" ");
            }
            4 => {
                let digits = "0123456789";
                let changed = lines[at].chars().map(|c| {
                    if c.is_ascii_digit() { digits.as_bytes()[next(state) % 10] as char } else { c }
                });
                lines[at] = changed.collect();
            }
            _ => lines.truncate(at),
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn programs_edited_by_hand_never_panic() {
    let settings = Settings::default();
    let campaign = Campaign::new(&settings).unwrap();
    let testbeds = settings.testbeds().unwrap();
    let mut state = 7;
    let (mut refused, mut ran) = (0, 0);
    for number in 0..40 {
        let text = campaign.program(number * 3 + 1).unwrap().program.to_string();
        for _ in 0..12 {
            let edited = edit(&text, &mut state);
            let Ok(program) = edited.parse::<Program>() else {
                refused += 1;
                continue;
            };
            match Case::on(&testbeds, 0, program) {
                Err(why) => {
                    assert!(!why.is_empty());
                    refused += 1;
                }
                Ok(case) => {
                    let (_, broken) = run_all(&testbeds, &[case], &settings.limits());
                    assert!(broken.is_empty(), "{broken:?}\n{edited}");
                    ran += 1;
                }
            }
        }
    }
    assert!(refused > 20 && ran > 10, "{refused} refused, {ran} ran");
}

#[test]
fn replay_says_what_is_wrong_with_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let campaign = Campaign::new(&Settings::default()).unwrap();
    let good = campaign.program(1).unwrap().program.to_string();
    let call = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.path().join(name), bytes).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
        let output = command.args(["replay", "--builtin", name]).current_dir(folder.path()).output().unwrap();
        let text =
            format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output.status.code(), text)
    };
    let (code, text) = call("good.ir", good.as_bytes());
    assert!(code == Some(0) && text.contains("Nothing is wrong"), "{text}");
    for (name, bytes) in [
        ("empty.ir", &b""[..]),
        ("binary.ir", &[0xff, 0xfe, 0, 1, 2]),
        ("version.ir", b"rvv-ir 99\n"),
        ("half.ir", &good.as_bytes()[..good.len() / 2]),
    ] {
        let (code, text) = call(name, bytes);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(name) && !text.contains("panicked"), "{text}");
    }
    let mut command = Command::new(env!("CARGO_BIN_EXE_rvvfuzz"));
    let output = command.args(["replay", "--builtin", "/nonexistent.ir"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
