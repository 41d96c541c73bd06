//! What makes two records one: the one place that turns a record into the bytes that are compared.

use crate::index::Record;
use crate::normalize::{Options, Scratch, canonical};
use crate::simd::Isa;
use crate::uri::UriError;

/// What makes two records one; every job that compares records takes it.
///
/// ```
/// use uriscan::normalize::{Options, Rung};
/// use uriscan::pipeline::Equivalence;
/// let bytes_only = Equivalence::from(Options { rung: Rung::String, drop_fragment: false });
/// assert_eq!(Equivalence::default().normalize.rung, Rung::Scheme);
/// assert_eq!(bytes_only.normalize.rung, Rung::String);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Equivalence {
    /// How far up the ladder, and whether the fragment counts.
    pub normalize: Options,
}

impl From<Options> for Equivalence {
    fn from(normalize: Options) -> Equivalence {
        Equivalence { normalize }
    }
}

impl Equivalence {
    /// The bytes that stand for the class of `record`, which is not empty: its own bytes, or bytes in
    /// `scratch`.
    #[inline(always)]
    pub(super) fn canonical<'a, I: Isa>(
        &self,
        isa: I,
        record: Record<'a>,
        scratch: &'a mut Scratch,
    ) -> Result<&'a [u8], UriError> {
        canonical(isa, self.normalize, record, scratch)
    }
}
