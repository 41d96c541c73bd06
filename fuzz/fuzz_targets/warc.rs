#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| uriscan_fuzz::warc::check(data));
