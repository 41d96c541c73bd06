//! A guard around the decoders and encoders of Parquet and Arrow, some of which panic on corrupt files and rare types.

use std::any::Any;
use std::cell::Cell;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

use uriscan_bulk::error::Error;

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in a decoder or an encoder of Parquet or Arrow, where a panic becomes a [`Error`].
///
/// For panic hooks, which need not print such a panic.
///
/// ```
/// let default = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !uriscan_table::is_decoding() {
///         default(panic);
///     }
/// }));
/// ```
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

/// Calls `decode`, a decoder of the table called `table`, and turns a panic into an error; the decoder must not be used
/// after that.
pub(crate) fn guarded<T>(
    table: &str,
    decode: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    caught(decode, |panic| Error::read(table, format_args!("the file is corrupt: {panic}")))
}

/// Calls `encode`, an encoder of what is called `what`, and turns a panic into an error: some panic for types that they do not
/// know.
pub(crate) fn encoded<T, E: Into<Error>>(
    what: impl fmt::Display,
    encode: impl FnOnce() -> Result<T, E>,
) -> Result<T, Error> {
    let encode = || encode().map_err(Into::into);
    caught(encode, |panic| Error::unsupported(format!("{what} cannot be written: {panic}")))
}

fn caught<T>(
    work: impl FnOnce() -> Result<T, Error>,
    error: impl FnOnce(&str) -> Error,
) -> Result<T, Error> {
    let before = IS_DECODING.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_DECODING.set(before);
    done.unwrap_or_else(|panic| Err(error(message(&*panic))))
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("its decoder panicked")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_table() {
        let message = |text: String| {
            let done = guarded("t", || {
                assert!(is_decoding());
                // Without the hook, which would print it.
                std::panic::resume_unwind(Box::new(text))
            });
            done.map_err(|error: Error| error.to_string())
        };
        assert_eq!(
            message("no such page".to_owned()),
            Err::<(), _>("t: the file is corrupt: no such page".to_owned())
        );
        assert!(!is_decoding());
        assert_eq!(guarded("t", || Ok(1)).unwrap(), 1);
    }
}
