//! Every scalar instruction, on its corners and on random operands, answers what Spike answered.

use testsuite::{cases, compare, emulator, golden, program};

fn replay(extension: &str) {
    let groups = golden::groups(extension);
    let expected = golden::read(&golden::path(extension), &groups).unwrap_or_else(|e| panic!("{e}"));
    let got = emulator::signature(&program::build(&groups)).unwrap_or_else(|e| panic!("{extension}: {e}"));
    let (count, text) = compare::differences(&groups, &expected, &got, 40);
    assert_eq!(count, 0, "{extension}: {count} rows differ from Spike's\n{text}");
}

macro_rules! replay {
    ($($name:ident: $extension:literal,)*) => {
        $(
            #[test]
            fn $name() {
                replay($extension);
            }
        )*

        #[test]
        fn every_extension_with_scalar_instructions_is_replayed() {
            let replayed = [$($extension),*];
            let missing: Vec<_> = cases::extensions().into_iter().filter(|e| !replayed.contains(e)).collect();
            assert!(missing.is_empty(), "{missing:?}");
        }
    };
}

replay! {
    the_base_integer_instructions_answer_as_spike_does: "i",
    multiplication_and_division_answer_as_spike_does: "m",
    atomics_answer_as_spike_does: "a",
    byte_and_halfword_atomics_answer_as_spike_does: "zabha",
    compare_and_swap_answers_as_spike_does: "zacas",
    waiting_on_reservations_answers_as_spike_does: "zawrs",
    single_precision_answers_as_spike_does: "f",
    double_precision_answers_as_spike_does: "d",
    half_precision_answers_as_spike_does: "zfh",
    half_precision_moves_and_conversions_answer_as_spike_does: "zfhmin",
    additional_floating_point_answers_as_spike_does: "zfa",
    brain_float_conversions_answer_as_spike_does: "zfbfmin",
    compressed_instructions_answer_as_spike_does: "c",
    more_compressed_instructions_answer_as_spike_does: "zcb",
    compressed_may_be_operations_answer_as_spike_does: "zcmop",
    may_be_operations_answer_as_spike_does: "zimop",
    csr_accesses_answer_as_spike_does: "zicsr",
    instruction_fences_answer_as_spike_does: "zifencei",
    address_generation_answers_as_spike_does: "zba",
    basic_bit_manipulation_answers_as_spike_does: "zbb",
    carry_less_multiplication_answers_as_spike_does: "zbc",
    bit_manipulation_for_cryptography_answers_as_spike_does: "zbkb",
    crossbar_permutations_answer_as_spike_does: "zbkx",
    single_bit_instructions_answer_as_spike_does: "zbs",
    aes_decryption_answers_as_spike_does: "zknd",
    aes_encryption_answers_as_spike_does: "zkne",
    sha_2_answers_as_spike_does: "zknh",
    sm4_answers_as_spike_does: "zksed",
    sm3_answers_as_spike_does: "zksh",
    conditional_zeroing_answers_as_spike_does: "zicond",
    cache_block_management_answers_as_spike_does: "zicbom",
    prefetches_answer_as_spike_does: "zicbop",
    cache_block_zeroing_answers_as_spike_does: "zicboz",
    locality_hints_answer_as_spike_does: "zihintntl",
    the_pause_hint_answers_as_spike_does: "zihintpause",
    privileged_instructions_answer_as_spike_does: "s",
    fine_grained_invalidation_answers_as_spike_does: "svinval",
}

/// Our commit log of recorded streams is Spike's, line by line; `testsuite trace` compares live, and more.
#[test]
fn the_commit_log_is_spikes() {
    for vlen in [128, 256, 1024] {
        match testsuite::lockstep::recorded::compare(vlen) {
            Ok(lines) => assert!(lines > 1000, "VLEN {vlen}: only {lines} lines"),
            Err(e) => panic!("VLEN {vlen}: {e}"),
        }
    }
}
