//! The shape of a URI, with types in place of what differs from page to page.
//!
//! It knows one reference and its components, not which others there are. **A shape is not an equivalence**: URIs that have one
//! shape are different pages as a rule. It is for counting, for sampling, and to see what a list is made of.
//!
//! A shape is a text like a URI, with these types in braces, which no URI contains. So what is written in a URI is never taken
//! for a type: `%7Bint%7D` stays as it is.
//!
//! | type | a segment or value that is, once its triplets are decoded |
//! | --- | --- |
//! | `{hex32}` and 40, 56, 64, 96, 128 | as many hexadecimal digits, with a decimal digit and with letters of one case: MD5, SHA-1, SHA-2 and so on |
//! | `{date}` | a date of 1900 to 2099, perhaps with a time: `2024-01-31`, `2024_01`, `31.01.2024`, `20240131`, `20240131120000`, `2024-01-31T12:00:00Z` |
//! | `{int}` | any other number of decimal digits |
//! | `{hex}` | any other number of such hexadecimal digits, from 8 on, with a letter |
//! | `{uuid}` | 32 hexadecimal digits in the groups of a UUID, one of them a decimal digit |
//! | `{email}` | an address of mail |
//! | `{token}` | 16 or more letters and digits, and `-` and `_`, that change between lower case, upper case and digits at a fourth of the places or more; Base64 with `+`, `/` and `=`; JSON Web Tokens |
//! | `{slug}` | three words or more, or a word and a number, joined by `-`, `_` or `+`; in paths, on request only |
//! | `{text}` | the value of a parameter that is none of these, and not empty |
//!
//! The first row that fits counts. Then:
//!
//! - Scheme, host and port are kept. Userinfo and the fragment are dropped.
//! - Of a path, each segment has a type or is kept, and empty ones are, too. An extension is kept: `{int}.html`, `{hex32}.min.js`.
//!   The parameters of a segment, after `;`, keep their order: `{int};v={int}`.
//! - Of a query, parameters are sorted, what repeats is written once, and empty ones are omitted, since their order and number
//!   say nothing about the page: `?b=1&a=x&&b=2` is `?a={text}&b={int}`. `?a` and `?a=` stay as they are; a name or a
//!   parameter without `=` may have a type, but is never `{text}`. An empty query stays.
//! - What follows the scheme of an opaque URI is one value, of a URN after the namespace: `mailto:{email}`, `urn:isbn:{int}`.
//! - Relative references have shapes, too.
//!
//! The shape is that of the URI as it is written; equivalent URIs have one shape if it is that of the canonical form. A shape is
//! the shape of itself. It takes time linear in the length of the URI, but for the sorting of parameters.

pub use uriscan_core::shape::{Endless, Shaper, endless, shape};
