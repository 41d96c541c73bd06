//! Without the feature `fault-injection` calls are made and nothing else.

use std::{fs, io};

use super::Call;

#[inline(always)]
pub(super) fn call<T>(_: Call<'_>, make: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
    make()
}

/// [`call`] for calls that open a file.
#[inline(always)]
pub(super) fn opening(
    _: Call<'_>,
    open: impl FnOnce() -> io::Result<fs::File>,
) -> io::Result<fs::File> {
    open()
}

/// [`call`] for calls that read or write `len` bytes or fewer.
#[inline(always)]
pub(super) fn transfer(
    _: Call<'_>,
    len: usize,
    make: impl FnOnce(usize) -> io::Result<usize>,
) -> io::Result<usize> {
    make(len)
}
