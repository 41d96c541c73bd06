//! Finds URIs in sources other than lists: running text (RFC 3986 Appendix C and
//! practice), pages, logs, mail, archives.
//!
//! A link is found by its `:` and extended to the left and to the right over the bytes that a URI
//! may hold. Rules define its end, since prose puts punctuation after it and brackets around it;
//! see [`Finder`].

pub use uriscan_core::extract::{
    Cause, Context, Detail, Extractor, ExtractorOptions, Filter, Filtered, Finder, Format, Limit,
    Link, Links, List, LogFormat, LogPart, NotAStatus, Omitted, Options, PageParts, Property,
    Request, RequestFilter, Schemes, StatusRange,
};
