//! A trial's file, its mapped plan or an instrumentation map: everything their readers can be asked.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hypocenter_fuzz::files::check(bytes));
