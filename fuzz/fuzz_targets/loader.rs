//! A class path of any content: everything that can be read from it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hypocenter_fuzz::loading::check(bytes));
