//! Canonical forms, the levels 6.2.2 and 6.2.3 of the ladder.
//!
//! Two implementations return the same bytes. The reference path ([`normalize_exact`]) parses and
//! writes component by component, one step per file. The fast path classifies a record by its class
//! masks and rewrites it in wide stores; it leaves records that it does not understand to the
//! reference path, which is also its oracle in the tests.

pub(crate) mod case;
mod common;
pub(crate) mod exact;
pub(crate) mod fast;
pub(crate) mod host;
mod idna;
pub(crate) mod ip;
mod level;
pub(crate) mod path_form;
pub mod percent;
pub(crate) mod port;
mod split;
#[cfg(test)]
mod tests;

pub use common::{FormBuffer, HostBuffer, SplitRecord, changes_by_scheme, common_form};
pub use exact::normalize_exact;
pub(crate) use idna::to_ascii as dns_to_ascii;
#[cfg(feature = "bulk")]
pub(crate) use idna::{LONGEST_NAME, has_long_name};
pub use level::{Level, UnknownLevel};
pub use split::{Split, host_of_unchanged};

use crate::chunk::{Padded, PaddedBuf, Prefix};
use crate::index::{Index, Record};
use crate::simd::{Isa, Kernels, Task};
use crate::uri::{UriError, UriErrorKind};
use fast::Canonical;

/// Defines the canonical form.
///
/// ```
/// use uriscan::normalize::{Normalizer, Options, Level};
/// let mut normalizer = Normalizer::new(Options::new(Level::Syntax).drop_fragment(true));
/// assert_eq!(normalizer.normalize(b"HTTP://h:80#a").unwrap(), b"http://h:80");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[must_use]
#[non_exhaustive]
pub struct Options {
    /// The level of the ladder of section 6.2 up to which URIs are normalized.
    pub level: Level,
    /// Drop the fragment and its `#` (6.1: a fragment is not part of what is retrieved).
    pub drop_fragment: bool,
}

impl Options {
    /// Normalization up to `level`, which keeps the fragment.
    pub const fn new(level: Level) -> Options {
        Options { level, drop_fragment: false }
    }

    /// Sets the level.
    pub const fn level(mut self, level: Level) -> Options {
        self.level = level;
        self
    }

    /// Sets whether the fragment is dropped.
    pub const fn drop_fragment(mut self, drop_fragment: bool) -> Options {
        self.drop_fragment = drop_fragment;
        self
    }
}

/// Normalizes URIs one at a time, and owns the buffers for that.
///
/// For millions of URIs in a buffer or a file, `pipeline` is faster, since it scans them together.
///
/// ```
/// use uriscan::normalize::{Normalizer, Options};
/// let mut normalizer = Normalizer::new(Options::default());
/// assert_eq!(normalizer.normalize(b"HTTP://Example.COM:80/%7euser/./x").unwrap(), b"http://example.com/~user/x");
/// assert!(normalizer.normalize(b"../relative").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Normalizer {
    options: Options,
    kernels: Kernels,
    text: PaddedBuf,
    index: Index,
    scratch: Scratch,
    room: FormBuffer,
}

impl Normalizer {
    /// Creates a normalizer with the best backend of this CPU.
    pub fn new(options: Options) -> Normalizer {
        Normalizer::with_kernels(options, Kernels::detect())
    }

    /// Creates a normalizer with the given backend; the results are the same.
    pub fn with_kernels(options: Options, kernels: Kernels) -> Normalizer {
        Normalizer {
            options,
            kernels,
            text: PaddedBuf::default(),
            index: Index::new(),
            scratch: Scratch::default(),
            room: [0; _],
        }
    }

    /// Normalizes by `options` from now on.
    #[cfg(feature = "bulk")]
    pub(crate) fn set_options(&mut self, options: Options) {
        self.options = options;
    }

    /// Returns the canonical form of `uri`, which is all of the bytes: nothing is trimmed.
    ///
    /// # Errors
    /// Those of [`crate::uri::parse`]; [`crate::uri::UriErrorKind::Relative`] for a reference without
    /// a scheme, which has no canonical form of its own; [`UriErrorKind::TooLong`] if `uri` is longer
    /// than `u32::MAX` bytes.
    pub fn normalize(&mut self, uri: &[u8]) -> Result<&[u8], UriError> {
        if u32::try_from(uri.len()).is_err() {
            return Err(UriError { kind: UriErrorKind::TooLong, at: u32::MAX });
        }
        let Normalizer { options, kernels, text, index, scratch, room } = self;
        text.set(uri);
        if *options == Options::default()
            && let Some(form) = kernels.run(Common(text.padded(), room))
        {
            return Ok(form.bytes());
        }
        let record = index.only_record(*kernels, text.padded());
        kernels.run(Canonicalize(*options, record, scratch)).map(Prefix::bytes)
    }

    /// Whether [`Normalizer::normalize`] would return other bytes than those of `uri`.
    ///
    /// # Errors
    /// As [`Normalizer::normalize`].
    pub fn would_change(&mut self, uri: &[u8]) -> Result<bool, UriError> {
        Ok(self.normalize(uri)? != uri)
    }
}

/// Buffers for canonical forms that are not the record's own bytes.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    fast: Vec<u8>,
    exact: Vec<u8>,
}

/// The canonical form of `record`: its own bytes, or bytes in `scratch`. Not inlined: of most records the loops find the
/// form in other ways ([`Split`]).
#[inline(always)]
pub fn canonical<'a, I: Isa>(
    isa: I,
    options: Options,
    record: Record<'a>,
    scratch: &'a mut Scratch,
) -> Result<Prefix<'a>, UriError> {
    isa.call(Canonicalize(options, record, scratch))
}

/// Finds the canonical form of a record.
struct Canonicalize<'a>(Options, Record<'a>, &'a mut Scratch);

impl<'a> Task for Canonicalize<'a> {
    type Output = Result<Prefix<'a>, UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let Canonicalize(options, record, scratch) = self;
        if !record.is_empty()
            && let Some(found) = fast::canonical(isa, options, record, &mut scratch.fast)
        {
            return Ok(match found {
                Canonical::InPlace(len) => record.prefix(len),
                Canonical::InScratch(len) => Prefix::new(&scratch.fast, len),
            });
        }
        by_reference_path(options, record.bytes(), &mut scratch.exact).map(Prefix::from)
    }
}

/// [`common_form`] of all of a text.
struct Common<'t, 'a>(Padded<'t>, &'a mut FormBuffer);

impl<'a> Task for Common<'_, 'a> {
    type Output = Option<Prefix<'a>>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let Common(text, room) = self;
        common_form(isa, Prefix::new(text.padded(), text.content().len()), room)
    }
}

#[cold]
#[inline(never)]
fn by_reference_path<'a>(
    options: Options,
    text: &[u8],
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    out.clear();
    normalize_exact(text, options.level, options.drop_fragment, out)?;
    Ok(out)
}
