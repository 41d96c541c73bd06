//! The grammar before RFC 3986, RFC 2396 with or without RFC 2732, for systems that still follow it, such as `java.net.URI`.

pub use uriscan_core::rfc2396::{Grammar, Legacy, LegacyBase, LegacyTarget, UnknownGrammar};
