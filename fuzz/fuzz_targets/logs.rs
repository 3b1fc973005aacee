//! Any bytes as a log: entries, traces, ties, and the same read as a stream.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hypocenter_fuzz::texts::check(bytes));
