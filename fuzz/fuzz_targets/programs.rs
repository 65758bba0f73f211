//! Any text, as a program that is evaluated and lowered.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    testsuite::fuzz::PROGRAMS.run(bytes);
});
