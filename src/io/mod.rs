//! Reads sources into chunks that end at record ends; writes rows in several formats.

pub mod compress;
pub(crate) mod container;
pub(crate) mod cut;
pub(crate) mod deferred;
pub(crate) mod diagnostic;
pub(crate) mod explanation;
pub(crate) mod fields;
pub(crate) mod finding;
pub(crate) mod found;
pub(crate) mod json;
pub(crate) mod paint;
pub(crate) mod part;
pub(crate) mod place;
pub(crate) mod places;
mod prefetch;
pub mod reader;
mod ready;
pub(crate) mod rfc2396;
pub mod row;
pub mod selector;
pub mod source;
pub mod template;
pub(crate) mod tsv;
mod utf16;

pub use compress::Compression;
pub use container::Container;
pub use fields::Fields;
pub use reader::{Chunk, ChunkReader, Shape};
pub use ready::Wait;
#[cfg(unix)]
pub use ready::readable;
pub use row::Field;
pub use selector::Selector;
pub use source::{ReadError, Source};
pub use template::{Template, TemplateError, TemplateErrorKind};
pub use uriscan_files::Stored;
pub use uriscan_files::escape::escaped;
