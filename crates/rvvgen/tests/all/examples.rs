//! The example does what it says.

#[path = "../../examples/generate_and_judge.rs"]
mod generate_and_judge;

#[test]
fn generated_programs_print_what_the_oracle_expects() {
    assert_eq!(generate_and_judge::judge(7, 3).unwrap(), 6);
}
