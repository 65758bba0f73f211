//! Any file, through the ELF reader, both loaders, and a few thousand instructions.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    testsuite::fuzz::LOADER.run(bytes);
});
