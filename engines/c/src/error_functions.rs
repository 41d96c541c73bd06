//! Functions on the handle of errors, which has the details of a call that failed.

use core::ffi::c_char;

use crate::border::{Buffer, call, free, handle};
use crate::error::{Failure, URISCAN_NONE, URISCAN_OK, UriscanError};

/// Makes an error handle, to be passed to other functions. `uriscan_error_free` frees it. All functions take NULL in its
/// place, from callers that need no details.
#[unsafe(no_mangle)]
pub extern "C" fn uriscan_error_new() -> *mut UriscanError {
    Box::into_raw(Box::default())
}

/// Frees the handle; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_free(error: *mut UriscanError) {
    // SAFETY: it is what `uriscan_error_new` gave, or NULL.
    unsafe { free(error) }
}

/// The code of the last failure; `URISCAN_OK` if there was none, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_status(error: *const UriscanError) -> i32 {
    // SAFETY: see the text of the crate.
    unsafe { failure(error) }.map_or(URISCAN_OK, Failure::status)
}

/// The byte of the text, or of the base, at which it is invalid, counted from 0; `URISCAN_NONE` after other failures. Under a
/// base or repairs it counts in the text that they make.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_position(error: *const UriscanError) -> usize {
    // SAFETY: see the text of the crate.
    unsafe { failure(error) }.and_then(Failure::kind).map_or(URISCAN_NONE, |(_, at)| at)
}

/// Which one of several texts is invalid, counted from 0; `URISCAN_NONE` after other failures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_row(error: *const UriscanError) -> usize {
    // SAFETY: see the text of the crate.
    match unsafe { failure(error) } {
        Some(Failure::Invalid { row: Some(row), .. }) => *row,
        _ => URISCAN_NONE,
    }
}

/// Writes the kind of what is invalid, such as `percent`: the names of `uriscan check`. Of other failures it is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_kind(
    error: *const UriscanError,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let (error, buffer) = unsafe { (handle(error)?, Buffer::new(buffer, capacity, length)?) };
        let kind = error.failure().and_then(Failure::kind);
        buffer.put(kind.map_or("", |(kind, _)| kind.name()).as_bytes())
    };
    // SAFETY: NULL is allowed.
    unsafe { call(core::ptr::null_mut(), work) }
}

/// Writes a sentence in UTF-8 that says what is wrong; it is empty if nothing failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_text(
    error: *const UriscanError,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let (error, buffer) = unsafe { (handle(error)?, Buffer::new(buffer, capacity, length)?) };
        let text = error.failure().map_or_else(String::new, ToString::to_string);
        buffer.put(text.as_bytes())
    };
    // SAFETY: NULL is allowed.
    unsafe { call(core::ptr::null_mut(), work) }
}

/// The failure of a handle.
///
/// # Safety
/// It is NULL or a handle.
unsafe fn failure<'a>(error: *const UriscanError) -> Option<&'a Failure> {
    // SAFETY: as the caller promises.
    unsafe { error.as_ref() }?.failure()
}
