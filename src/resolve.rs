//! Reference resolution, RFC 3986 section 5, and the references of section 4.
//!
//! A [`Resolver`] holds a base and writes the targets of references to the caller's buffer.
//! Sections 5.2.2 to 5.2.4 and 5.3 are followed to the letter:
//!
//! - strictly, unless [`Options::lenient_scheme`] is set: `http:g` is a URI of its own;
//! - dot segments are removed from the path of every reference that has one, also of a URI (5.2.2);
//!   a path that is inherited whole (`?y`, `#s`, the empty reference) stays as it is in the base;
//! - nothing is normalized: a reference "must be transformed to its target URI before it can be
//!   normalized" (5.2.1), so `%2e%2e` is not a dot segment here.
//!
//! The one exception is that of normalization: a path without authority may not begin with `//`
//! (3.3), so `/.` stays in front of a path that would. `.//b` against `foo:/a` is `foo:/.//b`,
//! never `foo://b`.
//!
//! [`Suffix`] reads the suffix references of 4.5, for lists without a base.

pub use uriscan_core::context::Context;
pub use uriscan_core::resolve::{BaseUri, NoScheme, Options, Resolver, Suffix};
