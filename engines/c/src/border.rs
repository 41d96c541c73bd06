//! What crosses the border: pointers with lengths, results in buffers of the caller, handles, failures.

use core::ffi::c_char;
use core::{ptr, slice};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Failure, URISCAN_OK, UriscanError};

/// Does `work`, and returns the code of what failed, with the details in `error`, unless that is NULL. A panic is a failure.
///
/// # Safety
/// `error` is NULL or a handle.
pub(crate) unsafe fn call(
    error: *mut UriscanError,
    work: impl FnOnce() -> Result<(), Failure>,
) -> i32 {
    // What a panic may leave half done is replaced: `Workers` drops buffers, sets let go of a lock only with whole values.
    let failure = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return URISCAN_OK,
        Ok(Err(failure)) => failure,
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            Failure::Panic(text.unwrap_or_default())
        }
    };
    let status = failure.status();
    // SAFETY: it is NULL or a handle that the caller uses in no other thread.
    if let Some(error) = unsafe { error.as_mut() } {
        error.set(failure);
    }
    status
}

/// The bytes at `text`.
///
/// # Safety
/// `text` points at `length` bytes, or `length` is 0.
pub(crate) unsafe fn bytes<'a>(text: *const c_char, length: usize) -> Result<&'a [u8], Failure> {
    // SAFETY: as the caller promises.
    unsafe { values(text.cast(), length) }
}

/// The `length` values at `first`.
///
/// # Safety
/// `first` points at so many values, or `length` is 0.
pub(crate) unsafe fn values<'a, T>(first: *const T, length: usize) -> Result<&'a [T], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(Failure::Argument("a pointer is NULL, and its length is not 0"));
    }
    if !first.is_aligned() {
        return Err(Failure::Argument("a pointer is not aligned"));
    }
    if length > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::Argument("a length is larger than an object can be"));
    }
    // SAFETY: not NULL, aligned, and of this length, as the caller promises.
    Ok(unsafe { slice::from_raw_parts(first, length) })
}

/// The value of a handle.
///
/// # Safety
/// It is NULL, or was made by [`give`] and not taken.
pub(crate) unsafe fn handle<'a, T>(handle: *const T) -> Result<&'a T, Failure> {
    // SAFETY: as the caller promises; values behind shared handles change under locks only.
    unsafe { handle.as_ref() }.ok_or(Failure::Argument("a handle is NULL"))
}

/// A place for one result.
#[derive(Clone, Copy)]
pub(crate) struct Place<T>(*mut T);

impl<T> Place<T> {
    /// The place at `to`, with `empty` in it until there is a result.
    ///
    /// # Safety
    /// `to` is NULL, or may be written to until the call returns.
    pub(crate) unsafe fn new(to: *mut T, empty: T) -> Result<Place<T>, Failure> {
        if to.is_null() || !to.is_aligned() {
            return Err(Failure::Argument("the pointer for a result is NULL, or not aligned"));
        }
        let place = Place(to);
        place.put(empty);
        Ok(place)
    }

    /// Writes the result.
    pub(crate) fn put(&self, result: T) {
        // SAFETY: `new` saw that it is not NULL and aligned, and its caller promised the rest. What is there may never have been
        // written, so it is not dropped.
        unsafe { self.0.write(result) }
    }
}

impl<T> Place<*mut T> {
    /// Writes a new handle for `value`.
    pub(crate) fn give(&self, value: T) {
        self.put(Box::into_raw(Box::new(value)));
    }
}

/// Drops the value of a handle. A panic while it drops ends here.
///
/// # Safety
/// It is NULL, or was made by [`Place::give`], and nobody uses it any more.
pub(crate) unsafe fn free<T>(handle: *mut T) {
    if !handle.is_null() {
        // SAFETY: `give` made it of a box, and this is the last use.
        let value = unsafe { Box::from_raw(handle) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
    }
}

/// A buffer for bytes, and the place for their number.
#[derive(Clone, Copy)]
pub(crate) struct Buffer {
    to: *mut u8,
    capacity: usize,
    length: Place<usize>,
}

impl Buffer {
    /// The `capacity` bytes at `to`; `length` gets the number of bytes that a result has, or would have.
    ///
    /// # Safety
    /// Until the call returns, `capacity` bytes may be written at `to`, unless it is 0, and a number at `length`.
    pub(crate) unsafe fn new(
        to: *mut c_char,
        capacity: usize,
        length: *mut usize,
    ) -> Result<Buffer, Failure> {
        // SAFETY: as the caller promises.
        let length = unsafe { Place::new(length, 0)? };
        if to.is_null() && capacity > 0 {
            return Err(Failure::Argument("the buffer is NULL, and its capacity is not 0"));
        }
        Ok(Buffer { to: to.cast(), capacity, length })
    }

    /// Writes `result`, or only its length if the buffer is too small.
    pub(crate) fn put(self, result: &[u8]) -> Result<(), Failure> {
        self.length.put(result.len());
        if result.len() > self.capacity {
            return Err(Failure::TooSmall);
        }
        if !result.is_empty() {
            // SAFETY: the buffer has room, as was seen above; it may overlap `result`, where that is the caller's text.
            unsafe { ptr::copy(result.as_ptr(), self.to, result.len()) }
        }
        Ok(())
    }
}
