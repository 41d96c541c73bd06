//! Canonical forms and keys under options, and whether two texts are equivalent.

use core::ffi::c_char;
use std::sync::Arc;

use uriscan::key::Key;
use uriscan::trimmed;

use crate::border::{Buffer, Place, bytes, call, free, handle};
use crate::error::{Failure, UriscanError};
use crate::options;
use crate::workers::Workers;

/// Bytes of the longest text that has a key, as everywhere else.
pub(crate) const LONGEST: usize = 64 << 20;

/// When two texts are equivalent. Immutable: all threads may use it at the same time.
pub struct UriscanEquivalence(Arc<Forms>);

impl UriscanEquivalence {
    /// What it shares with the sets that are made of it.
    pub(crate) fn forms(&self) -> &Arc<Forms> {
        &self.0
    }
}

/// Computes canonical forms and keys.
pub(crate) struct Forms(Workers);

impl Forms {
    /// What `work` makes of the canonical form of `text`, or of its own bytes if it is invalid and passed.
    #[inline]
    pub(crate) fn form<T>(
        &self,
        text: &[u8],
        work: impl FnOnce(&[u8]) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        self.0.with(text.len(), |single| match single.normalize(text) {
            Ok(Some(form)) => work(form),
            Ok(None) => Err(Failure::Dropped),
            Err(error) => Err(Failure::invalid(error, text)),
        })
    }

    /// The public key of `text`.
    pub(crate) fn key(&self, text: &[u8]) -> Result<Key, Failure> {
        let is_too_long = text.len() > LONGEST && trimmed(text).len() > LONGEST;
        let found = self.0.with(text.len(), |single| single.key(text));
        match found {
            // All texts that are too long would share it.
            Ok(Some(_)) if is_too_long => Err(Failure::Invalid {
                kind: uriscan::uri::UriErrorKind::TooLong,
                at: LONGEST,
                row: None,
            }),
            Ok(Some(key)) => Ok(key),
            Ok(None) => Err(Failure::Dropped),
            Err(error) => Err(Failure::invalid(error, text)),
        }
    }

    /// What the keys of a set mean.
    pub(crate) fn meaning(&self) -> uriscan::set::Meaning {
        self.0.columns().equivalence.meaning(self.0.columns().hash)
    }
}

/// Makes an equivalence. `options` are lines `name=value`, with the names and values that the program, Python and SQL have:
///
/// `level` (`string`, `syntax`, `scheme`), `drop_fragment`, `preset` (`rfc`, `crawl`, `log`), `rule`, `rules` (built-in rules files, or
/// paths of others), `no_rule`, `iri`, `repair`, `base`, `lenient_scheme`, `suffix_scheme`, `profile`, `hash` (`blake3`, `sha256`),
/// `on_invalid` (`pass`, `drop`, `error`).
///
/// Flags are `true` or `false`; `rule`, `rules`, `no_rule` and `repair` are given once for each value. Without options two texts
/// are equivalent by RFC 3986, at level `scheme`. `uriscan_equivalence_free` frees it.
///
/// White space around a text is not part of it. A text that is not a URI is kept with `on_invalid=pass`, the default: its own
/// bytes are its form. With `drop` functions return `URISCAN_DROPPED` for it, and with `error` `URISCAN_INVALID`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_equivalence_new(
    options: *const c_char,
    options_length: usize,
    equivalence: *mut *mut UriscanEquivalence,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let place = unsafe { Place::new(equivalence, core::ptr::null_mut())? };
        // SAFETY: the same.
        let columns = options::columns(unsafe { bytes(options, options_length)? })?;
        place.give(UriscanEquivalence(Arc::new(Forms(Workers::new(columns)))));
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Frees the handle; NULL is allowed. Sets that were made of it stay.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_equivalence_free(equivalence: *mut UriscanEquivalence) {
    // SAFETY: it is what `uriscan_equivalence_new` gave, or NULL.
    unsafe { free(equivalence) }
}

/// Writes the canonical form of `text` to `buffer`, and its number of bytes to `length`; with `URISCAN_TOO_SMALL` only that.
/// A form may be longer than its text: `http://h` is `http://h/`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_normalize(
    equivalence: *const UriscanEquivalence,
    text: *const c_char,
    text_length: usize,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let buffer = unsafe { Buffer::new(buffer, capacity, length)? };
        // SAFETY: the same.
        let (equivalence, text) = unsafe { (handle(equivalence)?, bytes(text, text_length)?) };
        equivalence.0.form(text, |form| buffer.put(form))
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Writes the key of `text`, 16 bytes, to `key`: the same as that of `uriscan key`, Python and SQL under the same options.
/// Equivalent texts have the same key. A text of more than 64 MiB has none: `URISCAN_INVALID`, of the kind `too-long`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_key(
    equivalence: *const UriscanEquivalence,
    text: *const c_char,
    text_length: usize,
    key: *mut u8,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate. An array of bytes is aligned like a byte.
        let place = unsafe { Place::new(key.cast::<[u8; 16]>(), [0; 16])? };
        // SAFETY: the same.
        let (equivalence, text) = unsafe { (handle(equivalence)?, bytes(text, text_length)?) };
        place.put(equivalence.0.key(text)?.0.to_be_bytes());
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}

/// Writes 1 to `is_equal` if the two texts are equivalent, otherwise 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_is_equal(
    equivalence: *const UriscanEquivalence,
    one: *const c_char,
    one_length: usize,
    other: *const c_char,
    other_length: usize,
    is_equal: *mut u8,
    error: *mut UriscanError,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let place = unsafe { Place::new(is_equal, 0)? };
        // SAFETY: the same.
        let (one, other) = unsafe { (bytes(one, one_length)?, bytes(other, other_length)?) };
        // SAFETY: the same.
        let forms = unsafe { &handle(equivalence)?.0 };
        let one = forms.form(one, |form| Ok(form.to_vec()))?;
        place.put(u8::from(forms.form(other, |form| Ok(form == one))?));
        Ok(())
    };
    // SAFETY: the same.
    unsafe { call(error, work) }
}
