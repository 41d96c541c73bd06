//! The files of a set, changed and with their checksums made right again: answers are right or errors, a set that is made
//! of them is whole or is not made, and no other file is touched.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../tests/sets/files.rs"]
mod files;
#[path = "../../tests/sets/mutation.rs"]
mod mutation;
#[path = "../../tests/sets/plain.rs"]
mod plain;

fuzz_target!(|data: &[u8]| {
    mutation::check(data);
});
