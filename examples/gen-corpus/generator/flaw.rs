//! Lines that are not URIs by RFC 3986, as in real lists.

use super::canonical;
use super::draw::{Draw, derive};
use super::uri::{Host, Uri};

/// Text that no URI may hold, appended to a valid one.
const ENDINGS: [&str; 20] = [
    "/photos[1].jpg",
    "?filter[]=new",
    "/[id]",
    "/annual report.pdf",
    " (old)",
    "?q=black and white",
    "/caf\u{e9}",
    "/\u{43d}\u{43e}\u{432}\u{43e}\u{441}\u{442}\u{438}",
    "?q=m\u{fc}nchen",
    "/100%",
    "/50%off",
    "?discount=5%&page=2",
    "%u00e9",
    "/{{link}}",
    "/<b>here</b>",
    "\"",
    "/a|b",
    "\\index.html",
    "/`id`",
    "/x^2",
];

/// Writes invalid line number `number` into `uri`; different numbers give different lines.
///
/// It is the canonical URI of an id from the far end of the ids, which valid lines never reach,
/// with a flaw after or before its token; the token therefore still distinguishes the lines.
pub(crate) fn write(uri: &mut Uri, seed: u64, number: u32) {
    canonical::write(uri, seed, u32::MAX - number);
    let mut draw = Draw::new(derive(derive(seed, 0x666C_6177), u64::from(number)));
    let has_host = uri.host_kind == Host::Name;
    match draw.below(20) {
        0 if has_host => uri.set_port(b":80a"),
        1 if has_host => uri.edit_host(uri.host.start..uri.host.start, b"["),
        2 if has_host => uri.edit_host(uri.host.start..uri.host.start, b"my site "),
        3 => uri.push("#one#two"),
        _ => uri.push(draw.one_of(&ENDINGS)),
    }
}
