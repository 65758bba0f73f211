//! Any text, as a `testbeds.toml`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    testsuite::fuzz::TESTBEDS.run(bytes);
});
