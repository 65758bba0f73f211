//! A slice of the vector matrix against Spike's recorded answers; `testsuite vmatrix` runs the whole.

use testsuite::vmatrix::golden::Goldens;
use testsuite::vmatrix::run::check;
use testsuite::vmatrix::{CASES_PER_TYPE, VLENS, subjects};

/// Every instruction at one VLEN or another, so that each is there and each VLEN is.
fn slice(vlen: usize, step: usize) {
    let goldens = Goldens::load().expect("recorded answers");
    let mut cases = 0;
    let mut differences = Vec::new();
    for (index, subject) in subjects().into_iter().enumerate().filter(|(i, _)| i % step == vlen % step) {
        differences.extend(check(&goldens, vlen, index, subject));
        cases += 28 * CASES_PER_TYPE;
    }
    println!("{cases} cases at VLEN {}", VLENS[vlen]);
    let text: Vec<String> = differences.iter().take(20).map(ToString::to_string).collect();
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), text.join("\n"));
}

#[test]
fn a_quarter_of_the_instructions_agree_with_spike_at_vlen_128() {
    slice(0, 4);
}

#[test]
fn a_quarter_of_the_instructions_agree_with_spike_at_vlen_256() {
    slice(1, 4);
}

#[test]
fn a_quarter_of_the_instructions_agree_with_spike_at_vlen_512() {
    slice(2, 4);
}

#[test]
fn a_quarter_of_the_instructions_agree_with_spike_at_vlen_1024() {
    slice(3, 4);
}
