//! Any words, through decoder, disassembler and encoder; any text, as an instruction-set string.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    testsuite::fuzz::DECODER.run(bytes);
});
