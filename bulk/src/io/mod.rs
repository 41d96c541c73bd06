//! Reads sources into chunks that end at record ends; writes rows in several formats.

#[doc(hidden)]
pub mod read;
#[doc(hidden)]
pub mod write;

pub use read::compress::{Compression, decompressed};
pub use read::container::Container;
#[doc(hidden)]
pub use read::reader::{Chunk, ChunkReader, Shape};
pub use read::ready::Wait;
#[cfg(unix)]
pub use read::ready::readable;
pub use read::source::{ReadError, Source};
pub use uriscan_files::Stored;
pub use uriscan_files::escape::escaped;
pub use write::fields::Fields;
pub use write::row::Field;
pub use write::selector::Selector;
pub use write::template::{Template, TemplateError, TemplateErrorKind};
