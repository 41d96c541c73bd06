//! The C interface: what a crawler needs of `uriscan`, for C, C++, and every language that calls C.
//!
//! `include/uriscan.h` is made from this crate by cbindgen, and `README.md` shows how to use it. The public interface of the
//! library is all that is used.
//!
//! | file | owns |
//! | --- | --- |
//! | `border` | pointers and lengths, results in buffers of the caller, panics |
//! | `error` | codes, and what an error handle says |
//! | `options` | options as lines of text |
//! | `workers` | the buffers of as many threads as call at a time |
//! | `equivalence` | normalize, key, compare |
//! | `reference` | parse, validate, resolve |
//! | `set`, `memory`, `disk` | what has been seen, in memory or on disk |
//! | `extract` | links of a text |
//!
//! What holds for all functions:
//!
//! - Nothing that a caller passes is kept, and nothing that is returned is to be freed by anything but the function of its
//!   handle. Bytes are written to buffers of the caller.
//! - No panic leaves a function: it becomes `URISCAN_PANIC`.
//! - Texts are a pointer and a length; they may hold any byte, and a pointer with the length 0 may be NULL.
//!
//! Every function is `unsafe` for one reason, which its `# Safety` section would repeat: a pointer is NULL where that is allowed,
//! or it points at what its type says, of the length that is passed with it, and a handle is one that was not freed.

// The border to C. Each block says why it holds.
#![allow(unsafe_code)]
// The one reason is given above, for all functions; the header has no use for it.
#![allow(clippy::missing_safety_doc)]

mod border;
mod disk;
mod equivalence;
mod error;
mod error_functions;
mod extract;
mod memory;
mod options;
mod reference;
mod set;
mod workers;

pub use equivalence::*;
pub use error::*;
pub use error_functions::*;
pub use extract::*;
pub use reference::*;
pub use set::*;

use core::ffi::{CStr, c_char};

/// The version, such as "0.1.0": a string that ends in NUL and is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn uriscan_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no NUL"),
        };
    VERSION.as_ptr()
}
