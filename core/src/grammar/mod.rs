//! The byte classes of RFC 3986 Appendix A and the facts about schemes; the character
//! references of HTML; lists of names.
//!
//! Every table used elsewhere (scalar look-ups, SIMD shuffles) is derived from the constants in
//! [`class`] at compile time, so no class is written down twice.

pub mod class;
#[cfg(feature = "bulk")]
mod eight;
mod entity;
pub mod scheme;
#[cfg(feature = "bulk")]
mod words;

pub use class::ByteClass;
pub(crate) use class::has_pair;
#[cfg(feature = "bulk")]
pub(crate) use eight::equal_bytes;
pub use entity::character_reference;
pub use entity::has_reference;
pub use scheme::{PathForm, SchemeFacts, known_schemes, scheme_facts};
#[cfg(feature = "bulk")]
pub use words::{byte_words, has_prefix, words};
