//! Any text, as a program of `rvvgen`'s.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    testsuite::fuzz::IR.run(bytes);
});
