//! Floor 4: canonical forms, the rungs 6.2.2 and 6.2.3 of the ladder.
//!
//! Two paths lead to the same bytes. The exact one ([`normalize_exact`]) parses and
//! writes component by component, one step per file. The fast one judges a record
//! by its class masks and rewrites it in wide stores; what it does not understand it
//! leaves to the reference path, which is also its oracle in the tests.

mod case;
pub mod exact;
pub(crate) mod fast;
pub(crate) mod host;
mod idna;
mod ip;
pub(crate) mod path_form;
pub(crate) mod percent;
pub(crate) mod port;
mod rfc2396;
pub mod rung;
#[cfg(test)]
mod tests;

pub use exact::normalize_exact;
pub(crate) use idna::to_ascii as dns_to_ascii;
pub use rfc2396::normalize_rfc2396;
pub use rung::{Rung, UnknownRung};

use crate::chunk::{PaddedBuf, Prefix};
use crate::index::{Index, Record};
use crate::simd::{Isa, Kernels, Task};
use crate::uri::{ErrorKind, UriError};
use fast::Canonical;

/// What "canonical" is to mean.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// How far up the ladder of section 6.2.
    pub rung: Rung,
    /// Drop the fragment and its `#` (6.1: a fragment is not part of what is retrieved).
    pub drop_fragment: bool,
}

/// Normalizes one URI after the other; holds the buffers that this needs.
///
/// For millions of URIs in a buffer or a file, `pipeline` is faster, since it
/// scans them together.
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
}

impl Normalizer {
    /// A normalizer with the best backend of this CPU.
    pub fn new(options: Options) -> Normalizer {
        Normalizer::with_kernels(options, Kernels::detect())
    }

    /// A normalizer with a backend of the caller's choice; the answers are the same.
    pub fn with_kernels(options: Options, kernels: Kernels) -> Normalizer {
        Normalizer {
            options,
            kernels,
            text: PaddedBuf::default(),
            index: Index::new(),
            scratch: Scratch::default(),
        }
    }

    /// The canonical form of `uri`, which is all of the bytes: nothing is trimmed.
    ///
    /// # Errors
    /// What [`crate::uri::parse`] says, or [`crate::uri::ErrorKind::Relative`] for a
    /// reference without a scheme, which has no canonical form of its own.
    /// [`ErrorKind::TooLong`] when `uri` is longer than `u32::MAX` bytes.
    pub fn normalize(&mut self, uri: &[u8]) -> Result<&[u8], UriError> {
        if u32::try_from(uri.len()).is_err() {
            return Err(UriError { kind: ErrorKind::TooLong, at: u32::MAX });
        }
        let Normalizer { options, kernels, text, index, scratch } = self;
        text.set(uri);
        let record = index.only_record(*kernels, text.padded());
        kernels.run(Judge(*options, record, scratch)).map(Prefix::bytes)
    }

    /// Whether [`Normalizer::normalize`] would give other bytes than `uri` has.
    ///
    /// # Errors
    /// As [`Normalizer::normalize`].
    pub fn would_change(&mut self, uri: &[u8]) -> Result<bool, UriError> {
        Ok(self.normalize(uri)? != uri)
    }
}

/// Buffers for canonical forms that are not the record's own bytes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    fast: Vec<u8>,
    exact: Vec<u8>,
}

/// The canonical form of `record`: its own bytes, or bytes in `scratch`. In a function of its own.
#[inline(always)]
pub(crate) fn canonical<'a, I: Isa>(
    isa: I,
    options: Options,
    record: Record<'a>,
    scratch: &'a mut Scratch,
) -> Result<Prefix<'a>, UriError> {
    isa.call(Judge(options, record, scratch))
}

/// Finds the canonical form of a record.
struct Judge<'a>(Options, Record<'a>, &'a mut Scratch);

impl<'a> Task for Judge<'a> {
    type Output = Result<Prefix<'a>, UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        canonical_here(isa, self.0, self.1, self.2)
    }
}

/// [`canonical`] as a part of the caller: faster by a tenth in the loops over all records, and as much code
/// again for each of them.
#[inline(always)]
pub(crate) fn canonical_here<'a, I: Isa>(
    isa: I,
    options: Options,
    record: Record<'a>,
    scratch: &'a mut Scratch,
) -> Result<Prefix<'a>, UriError> {
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

#[cold]
#[inline(never)]
fn by_reference_path<'a>(
    options: Options,
    text: &[u8],
    out: &'a mut Vec<u8>,
) -> Result<&'a [u8], UriError> {
    out.clear();
    normalize_exact(text, options.rung, options.drop_fragment, out)?;
    Ok(out)
}
