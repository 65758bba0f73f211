//! Files of programs: what is written is read back; what is no program is refused; what is one by accident is
//! evaluated and lowered in bounded time and memory, or refused.

use rvv_ir::data::SplitMix;
use rvv_ir::{Expected, Program, elf};
use rvv_oracle::{Options, evaluate};
use rvvgen::{Plan, Selection, Settings, generate};

fn programs(seed: u64, count: u64) -> Vec<(Program, Vec<Expected>)> {
    let settings = Settings { vlens: vec![128, 256], ..Settings::default() };
    let plan = Plan::new(seed, &Selection::default(), 10, 128);
    let one = |k| {
        let generated = generate(&plan, k, &settings).unwrap();
        (generated.program, generated.expected)
    };
    (0..count).map(one).collect()
}

#[test]
fn generated_programs_survive_the_file() {
    for (program, expected) in programs(11, 1000) {
        let text = program.to_string();
        let read: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read.to_string(), text);
        for expected in expected {
            let again =
                evaluate(&read, &Options::new(expected.vlen)).unwrap_or_else(|e| panic!("{e}\n{text}"));
            assert_eq!(again, expected, "{text}");
            let text = expected.to_text(&program);
            assert_eq!(Expected::from_text(&read, &text), Ok(expected));
        }
    }
}

/// One change: a piece of a line, a line or a word is lost, doubled, or put in place of another.
fn mutate(text: &str, rng: &mut SplitMix) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
    let pick = |rng: &mut SplitMix, n: usize| rng.below(n.max(1) as u64) as usize;
    let (a, b) = (pick(rng, lines.len()), pick(rng, lines.len()));
    match rng.below(24) {
        0 => drop(lines.remove(a)),
        1 => lines.insert(b, lines[a].clone()),
        2 => lines.swap(a, b),
        3 => {
            // A word for a word.
            let other: Vec<String> = lines[b].split(' ').map(str::to_string).collect();
            let mut words: Vec<String> = lines[a].split(' ').map(str::to_string).collect();
            let (at, from) = (pick(rng, words.len()), pick(rng, other.len()));
            words[at] = other[from].clone();
            lines[a] = words.join(" ");
        }
        4..=9 => {
            // A number for a number.
            let numbers =
                ["0", "1", "-1", "64", "65536", "18446744073709551615", "0xffffffffffffff", "67108864"];
            let line = lines[a].clone();
            let digits: Vec<usize> =
                line.match_indices(|c: char| c.is_ascii_digit()).map(|(i, _)| i).collect();
            if let Some(&at) = digits.get(pick(rng, digits.len())) {
                let rest = line[at..].trim_start_matches(|c: char| c.is_ascii_alphanumeric());
                lines[a] = format!("{}{}{rest}", &line[..at], numbers[pick(rng, numbers.len())]);
            }
        }
        10 => {
            let cut = pick(rng, lines[a].len());
            lines[a].truncate(cut);
        }
        11..=22 => {
            // A name for one that begins with the same letter: variables for variables, buffers for buffers.
            let names = |line: &str| -> Vec<String> {
                let word = |c: char| !c.is_ascii_alphanumeric() && c != '_';
                line.split(word).filter(|w| !w.is_empty()).map(str::to_string).collect()
            };
            let all = names(text);
            let from = names(&lines[a]);
            if let Some(from) = from.get(pick(rng, from.len())) {
                let same =
                    |w: &&String| w.as_bytes()[0] == from.as_bytes()[0] && w.len().abs_diff(from.len()) < 2;
                let others: Vec<&String> = all.iter().filter(same).collect();
                let to = others[pick(rng, others.len())];
                lines[a] = lines[a].replacen(from.as_str(), to, 1);
            }
        }
        _ => {
            let signs = ["{", "}", "(", ")", "&", "]", "[", "if", "for", "é", "\u{0}", "#", "else"];
            let cut = pick(rng, lines[a].len());
            lines[a].insert_str(cut, signs[pick(rng, signs.len())]);
        }
    }
    lines.join("\n")
}

/// Everything that can be done with a program that was read.
fn use_it(text: &str) -> (bool, bool) {
    let Ok(program) = text.parse::<Program>() else { return (false, false) };
    let again: Program = program.to_string().parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    assert_eq!(again.to_string(), program.to_string());
    let options = Options { fuel: 200_000, ..Options::new(256) };
    let Ok(expected) = evaluate(&program, &options) else { return (true, false) };
    assert_eq!(evaluate(&again, &options).as_ref(), Ok(&expected));
    let _ = elf::lower(&[&program]);
    let _ = rvv_ir::c::emit(&[&program], &rvv_ir::c::COptions::default());
    (true, true)
}

#[test]
fn mutated_programs_are_refused_or_have_a_meaning() {
    let mut rng = SplitMix(5);
    let (mut parsed, mut evaluated) = (0, 0);
    for (program, _) in programs(12, 60) {
        let original = program.to_string();
        for _ in 0..40 {
            let mut text = original.clone();
            for _ in 0..1 + rng.below(2) {
                text = mutate(&text, &mut rng);
            }
            let (p, e) = use_it(&text);
            parsed += usize::from(p);
            evaluated += usize::from(e);
        }
    }
    // The test is of use only if both kinds occur.
    assert!(parsed > 400 && evaluated > 200, "{parsed} parsed, {evaluated} evaluated");
}

#[test]
fn programs_cut_anywhere_are_refused() {
    let (program, _) = programs(13, 1).remove(0);
    let text = program.to_string();
    let end = text.trim_end().len();
    for cut in (0..end).filter(|&i| text.is_char_boundary(i)) {
        assert!(text[..cut].parse::<Program>().is_err(), "cut at {cut}");
    }
}

#[test]
fn large_and_deep_texts_are_refused_soon() {
    let start = std::time::Instant::now();
    let refused = |text: String| assert!(text.parse::<Program>().is_err());
    refused(format!("rvv-ir 1\nmain {{ {}", "for 1 as i { ".repeat(100_000)));
    refused(format!("rvv-ir 1\nmain {{ var a: size put o[{}", "(".repeat(100_000)));
    refused(format!("rvv-ir 1\n{}", "x ".repeat(2_000_000)));
    refused("x".repeat(17 << 20));
    let buffers: String = (0..1000).map(|i| format!("data b{i}: u64[67108864] = zero\n")).collect();
    refused(format!("rvv-ir 1\n{buffers}main {{ }}"));
    let vars: String = (0..100_000).map(|i| format!("var v{i}: i8m1\n")).collect();
    refused(format!("rvv-ir 1\nmain {{ {vars} }}"));
    assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
}

#[test]
fn programs_that_would_run_for_ever_are_given_up() {
    let start = std::time::Instant::now();
    let fails = |text: String| {
        let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let options = Options { fuel: 1_000_000, ..Options::new(65536) };
        let error = evaluate(&program, &options).unwrap_err();
        assert!(error.to_string().contains("not ended"), "{error}");
    };
    fails("rvv-ir 1\nmain { var i: size for -1 as i { } }".into());
    fails("rvv-ir 1\nmain { var i: size var l: size strip e8m8 -1 as i, l { } }".into());
    // Each function calls the one before it twice.
    let mut text = "rvv-ir 1\nfn f0() { }\n".to_string();
    for i in 1..40 {
        text += &format!("fn f{i}() {{ call f{0}() call f{0}() }}\n", i - 1);
    }
    fails(format!("{text}main {{ call f39() }}"));
    // Long vectors cost what they are worth.
    fails(
        "rvv-ir 1\nmain { var i: size var v: i8m8 v = vundefined_i8m8() for -1 as i { v = \
           vmv_v_x_i8m8(0x1, 65536) } }"
            .into(),
    );
    assert!(start.elapsed().as_secs() < 120, "{:?}", start.elapsed());
}
