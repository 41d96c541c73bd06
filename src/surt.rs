//! Sort-friendly forms of URIs (SURT), the keys of web archive indexes.
//!
//! A host is written with its labels reversed, `com,example,www`, so that sorting the bytes of
//! these forms groups the hosts of a domain. There are three forms:
//!
//! | name | defined by | of `http://u@www.Example.com:81/A/?b=2&a=1#f` |
//! | --- | --- | --- |
//! | `ssurt` | the SSURT description of urlcanon | `com,example,www,//81:http@u:/A/?b=2&a=1#f` |
//! | `surt:cdxj` | the Searchable URL of Webrecorder's CDXJ 0.1.0 | `com,example,www:81)/a/?b=2&a=1` |
//! | `surt:ia` | the keys of the Wayback Machine's CDX | `com,example:81)/a?a=1&b=2` |
//!
//! `surt` alone is `surt:cdxj`. They are computed from a canonical form, so URIs that are
//! equivalent at its level share a form here too. Only `ssurt` is reversible; the others drop parts,
//! and different URIs may share a form:
//!
//! | | `ssurt` | `surt:cdxj` | `surt:ia` |
//! | --- | --- | --- | --- |
//! | lower case | nothing | all | all |
//! | scheme | after the host | dropped if there is a host | dropped if there is a host |
//! | userinfo, fragment | kept | dropped | dropped |
//! | port | before the scheme | kept | dropped if 80 for `http`, 443 for `https`, or 0 |
//! | `www.`, `www2.` ... | kept | kept | the first label is dropped |
//! | dots around a host, several in a row | kept | kept | one between labels |
//! | IPv4 address | as it is | octets reversed | octets reversed, after `inet_aton`'s short and octal forms |
//! | IP literal | as it is | as it is | without brackets, reversed at dots |
//! | triplets | kept | kept | decoded until none remains; then `#`, `%`, and bytes up to 0x20 and from 0x7F on are encoded |
//! | path | kept | kept | after decoding: empty segments, dot segments and one trailing slash are dropped |
//! | query | kept | kept | session ids and an empty query are dropped, parameters are sorted |
//!
//! Session ids are `jsessionid`, `phpsessid` and `sid` with 32 letters and digits, `aspsessionid`
//! and 8 letters with 24 letters, `cfid` followed by `cftoken` (of each kind, the last one is
//! dropped), and a segment `(S(24 letters and digits))` or `(24 letters and digits)` before a name
//! with `.aspx`.
//!
//! Without a host, or with an empty one, `surt` begins with the scheme and its `:`, followed by the
//! path: `mailto:joe@example.com`, `file:/etc/passwd`.

pub use uriscan_core::surt::{Form, Scratch, write, write_invalid};
