//! Content that is kept elsewhere than in a file.

use std::io::{self, Read};
use std::ops::Range;

/// Content that is kept elsewhere than in a file, such as an object of an object store, and that is read as a stream or
/// by ranges, any number of times.
///
/// All reads return parts of the same content: one that would not, because it has been replaced, fails.
pub trait Stored: Send + Sync {
    /// The name in messages, without secrets.
    fn name(&self) -> &str;

    /// The length in bytes, if known.
    fn bytes(&self) -> Option<u64>;

    /// Whether [`Stored::read`] works; if so, the length is known.
    fn has_ranges(&self) -> bool;

    /// A stream of the whole content, which is not requested before the stream is read.
    ///
    /// # Errors
    /// When there can be none; the stream itself fails if the content cannot be read, or has been replaced.
    fn stream(&self) -> io::Result<Box<dyn Read + Send>>;

    /// The bytes of `range`, all of them.
    ///
    /// # Errors
    /// When they cannot be read, or the content has been replaced.
    fn read(&self, range: Range<u64>) -> io::Result<Vec<u8>>;
}
