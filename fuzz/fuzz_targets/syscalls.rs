//! Any system calls of a guest in the sandbox.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    testsuite::fuzz::SYSCALLS.run(bytes);
});
