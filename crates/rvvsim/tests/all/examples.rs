//! The examples do what they say.

#[path = "../../examples/access_patterns.rs"]
mod access_patterns;
#[path = "../../examples/active_elements.rs"]
mod active_elements;
#[path = "../../examples/binary_trace.rs"]
mod binary_trace;
#[path = "../../examples/count_by_vlen.rs"]
mod count_by_vlen;
#[path = "../../examples/cycle_estimate.rs"]
mod cycle_estimate;
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

#[test]
fn observers_see_the_demo() {
    let seen = active_elements::observe(run_elf::demo(), 256).unwrap();
    let (instructions, active, room) = seen.classes[&rvv_isa::Class::VectorFloat];
    assert!(instructions > 0 && active > instructions && active <= room, "{:?}", seen.classes);
    assert!(seen.calls.contains_key(&64), "it writes: {:?}", seen.calls);

    let patterns = access_patterns::patterns(run_elf::demo(), 256).unwrap();
    let vector = patterns.iter().find(|(_, p)| p.addressing == Some(rvv_isa::Addressing::UnitStride));
    let (_, vector) = vector.expect("it has vector accesses");
    let size = vector.bytes / (vector.loads + vector.stores);
    assert_eq!(vector.usual_stride().map(|(stride, _)| stride), Some(size as i64));

    let narrow = cycle_estimate::cycles(run_elf::demo(), 64).unwrap();
    assert!(cycle_estimate::cycles(run_elf::demo(), 512).unwrap() < narrow);

    let (bytes, instructions, agnostic) = binary_trace::trace(run_elf::demo(), 256).unwrap();
    assert!((bytes as u64) < 30 * instructions && agnostic > 0, "{bytes} {instructions} {agnostic}");
}
