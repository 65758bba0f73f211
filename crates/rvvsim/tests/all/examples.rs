//! The examples do what they say.

#[path = "../../examples/count_by_vlen.rs"]
mod count_by_vlen;
#[path = "../../examples/run_elf.rs"]
mod run_elf;
#[path = "../../examples/snapshot.rs"]
mod snapshot;

#[test]
fn run_elf_runs_the_demo() {
    assert_eq!(run_elf::run(run_elf::demo(), vec!["demo".into()]).unwrap(), 0);
    assert!(run_elf::run("no/such/file".into(), vec![]).is_err());
}

#[test]
fn longer_registers_take_fewer_instructions() {
    let counts = count_by_vlen::count(run_elf::demo(), &[128, 1024]).unwrap();
    let [(all, vector), (all_long, vector_long)] = counts[..] else { panic!("{counts:?}") };
    assert!(all_long < all && vector_long < vector && vector_long > 0, "{counts:?}");
}

#[test]
fn every_run_from_a_snapshot_is_its_own() {
    let sums = snapshot::sums(&[1, 100, 10, 100]).unwrap();
    assert_eq!(sums, [(1, 1), (5050, 100), (55, 10), (5050, 100)]);
}
