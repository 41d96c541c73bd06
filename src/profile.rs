//! Canonical forms that agree with those of other systems.
//!
//! A store of URLs that another system has keyed needs the results of that system, right or wrong
//! by RFC 3986. A [`Profile`] maps records to the bytes which that system compares; levels and rules
//! do not apply. A record that the system rejects is invalid ([`crate::uri::UriErrorKind::Profile`]).
//!
//! | profile | system | implementation |
//! | --- | --- | --- |
//! | `whatwg` | browsers, the WHATWG URL Standard: `href` | the `url` crate, a fast path for URLs on which both must agree, and a separate parser for `file` |
//! | `w3lib` | Scrapy: `w3lib.url.canonicalize_url` 2.5, with its defaults | in this crate |
//! | `crawler-commons` | crawler-commons (Nutch, StormCrawler): `BasicURLNormalizer` 1.4 with its defaults | in this crate, by its documentation |
//! | `surt` | CDX indexes of the Wayback Machine | [`crate::surt::Form::Ia`] of the canonical form; [`crate::surt::write_invalid`] where there is none |

pub use uriscan_core::profile::{Profile, Profiler};
