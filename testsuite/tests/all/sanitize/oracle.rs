//! Against the oracle. More programs: `cargo run --release -p testsuite -- sanitize --count 20000`, and with
//! `--cc clang-22`.

use testsuite::guests::USUAL_COMPILERS;
use testsuite::sanitize::{compare, compiled};

#[test]
fn the_output_is_undefined_where_the_oracle_says_so() {
    let tally = compare(20, 0, 200, |_| ()).unwrap();
    assert_eq!((tally.programs, tally.runs), (200, 800));
    // It is about something.
    assert!(tally.undefined > tally.bits / 1000 && tally.undefined < tally.bits, "{tally:?}");
}

/// Compiled code leaves more defined than the oracle says, never less; nor does it decide by what is
/// undefined.
#[test]
fn compiled_programs_leave_nothing_undefined_that_is_defined() {
    let levels = ["O0".to_owned(), "O2".to_owned()];
    let found = USUAL_COMPILERS.iter().find_map(|name| compiled::builds(&[(*name).to_owned()], &levels).ok());
    let Some(builds) = found else {
        println!("skipped: no RVV compiler (tools/setup installs one)");
        return;
    };
    let tally = compiled::compare(&builds, None, 20, 0, 64, |_| ()).unwrap();
    assert!(tally.false_reports.is_empty(), "{}", tally.text());
    // An older compiler lacks some of the intrinsics.
    assert!(tally.programs > 20 && tally.runs > 3 * tally.programs, "{tally:?}");
    assert!(0 < tally.undefined && tally.undefined <= tally.to_oracle, "{tally:?}");
}
