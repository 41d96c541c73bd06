#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| uriscan_fuzz::markdown::check(data));
