//! Any bytes: everything the class file reader can be asked.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hypocenter_fuzz::walk::class(bytes));
