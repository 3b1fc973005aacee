//! Options, then a class: hooks at the chosen points, and what must hold of the class that comes out.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| hypocenter_fuzz::patching::check(bytes));
