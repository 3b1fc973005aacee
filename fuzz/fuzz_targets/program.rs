//! Some class files of any bytes: everything that is found out about a target.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hypocenter_fuzz::analysis::check(bytes));
