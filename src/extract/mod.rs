//! Floor 5: URIs in bytes that are no list of URIs: running text (RFC 3986 Appendix C and practice).
//!
//! A link is found by its `:` and grown to the left and to the right over the bytes that a URI may
//! hold. Where it ends is a matter of rules, since prose puts punctuation behind it and brackets around
//! it; they stand at [`Finder`].

mod address;
mod ends;
mod format;
mod links;
mod scheme;
mod text;

pub(crate) use ends::wrapped_cut;
pub use format::Format;
pub use links::{Context, Link, Links};
pub use scheme::Schemes;
pub use text::Finder;

/// What counts as a link in running text, and in which form it is given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The schemes that are wanted.
    pub schemes: Schemes,
    /// Letters and digits beyond ASCII are part of a link; otherwise any byte of 0x80 and above ends it.
    pub iri: bool,
    /// A link between `<` and `>` may be broken over lines; white space in it is dropped (Appendix C).
    pub unwrap: bool,
    /// Links made harmless (`hxxp://evil[.]example/`) are found too and given as they were meant.
    pub refang: bool,
    /// Hosts without a scheme (`www.example.com/x`) are found too and given with `http://` before them.
    pub www: bool,
    /// Mail addresses are found too and given with `mailto:` before them.
    pub email: bool,
}
