//! A guard around the decoders of Parquet and Arrow, some of which panic on corrupt files.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::TableError;
use super::error::unread;

thread_local! {
    static IS_DECODING: Cell<bool> = const { Cell::new(false) };
}

/// Whether this thread is in a decoder of Parquet or Arrow, where a panic becomes a [`TableError`].
///
/// For panic hooks, which need not print such a panic.
///
/// ```
/// let default = std::panic::take_hook();
/// std::panic::set_hook(Box::new(move |panic| {
///     if !uriscan::table::is_decoding() {
///         default(panic);
///     }
/// }));
/// ```
pub fn is_decoding() -> bool {
    IS_DECODING.get()
}

/// Calls `decode`, a decoder of the table called `table`, and turns a panic into an error; the decoder must not be used
/// after that.
pub(super) fn guarded<T>(
    table: &str,
    decode: impl FnOnce() -> Result<T, TableError>,
) -> Result<T, TableError> {
    IS_DECODING.set(true);
    let done = catch_unwind(AssertUnwindSafe(decode));
    IS_DECODING.set(false);
    done.unwrap_or_else(|panic| {
        Err(unread(table, format_args!("the file is corrupt: {}", message(&*panic))))
    })
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
            done.map_err(|error: TableError| error.to_string())
        };
        assert_eq!(
            message("no such page".to_owned()),
            Err::<(), _>("t: the file is corrupt: no such page".to_owned())
        );
        assert!(!is_decoding());
        assert_eq!(guarded("t", || Ok(1)).unwrap(), 1);
    }
}
