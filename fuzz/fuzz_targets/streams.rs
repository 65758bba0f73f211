//! Any instructions, at any VLEN, bare and as a Linux process.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    testsuite::fuzz::STREAMS.run(bytes);
});
