//! Against the oracle. More programs: `cargo run --release -p testsuite -- sanitize --count 20000`.

use testsuite::sanitize::compare;

#[test]
fn the_output_is_undefined_where_the_oracle_says_so() {
    let tally = compare(20, 0, 200, |_| ()).unwrap();
    assert_eq!((tally.programs, tally.runs), (200, 800));
    // It is about something.
    assert!(tally.undefined > tally.bits / 1000 && tally.undefined < tally.bits, "{tally:?}");
}
