//! Maps IRIs to URIs (RFC 3987 section 3.1), and repairs records as found in logs and
//! pages, by named and documented changes, each of which is reported.
//!
//! Only records that are not URI-references get here, so valid records cost nothing and are never
//! changed, unless character references are to be decoded ([`Repair::Entity`]): these are valid. A
//! record is repaired completely or not at all: the result is a URI-reference, or the record stays
//! as it is.
//!
//! # The mapping of IRIs
//!
//! A character beyond ASCII becomes the triplets of its UTF-8; in a host it becomes part of an
//! A-label (IDNA, UTS #46) if the scheme uses DNS and the name has A-labels. Unicode is **not**
//! normalized, as step 1c of the section requires for text that is in a Unicode encoding already.
//! The characters of `ucschar` are accepted, and in a query those of `iprivate`; bytes that are not
//! UTF-8 and bidirectional formatting characters (4.1) are rejected.

pub use uriscan_core::repair::{Change, Repair, Repairs, repair};
