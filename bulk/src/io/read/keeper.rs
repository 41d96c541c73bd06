//! Which records of a source are read.

use std::fmt;

use super::origins::RecordOrigin;
use uriscan_core::chunk::PaddedBuf;
use uriscan_core::extract::{Cause, Filtered};
use uriscan_core::simd::Kernels;

/// Keeps some of the records of a source. Chunks hold all of them when they are read; whoever works on a chunk removes the
/// others first, so that this is done on all threads ([`crate::io::Chunk::keep`]).
pub(crate) trait Keeper: fmt::Debug + Send + Sync {
    /// Removes from `text`, whole records, those that are not kept, and blank lines; counts the former. Where each of the others
    /// stood is added to `origins`; the first record stood at the line and the byte `start`.
    fn keep(
        &self,
        text: &mut PaddedBuf,
        start: (u64, u64),
        record_end: u8,
        origins: Option<&mut Vec<RecordOrigin>>,
        kernels: Kernels,
    ) -> Filtered;

    /// Why `record` is not kept; `None` if it is.
    fn cause(&self, record: &[u8]) -> Option<Cause>;

    /// Why a record that is too long to be looked at is not kept; `None` if it is.
    fn cause_of_overlong(&self) -> Option<Cause>;
}
