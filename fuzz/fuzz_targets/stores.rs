//! Any file, as a campaign's.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    testsuite::fuzz::STORES.run(bytes);
});
