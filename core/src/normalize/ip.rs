//! IP literals at the level `scheme`: the form of RFC 5952.
//!
//! RFC 5952 section 4: lower-case digits without leading zeros, the longest run of two or more zero
//! groups (the first of equals) as `::`. Section 5: an IPv4-mapped address (`::ffff:0:0/96`) ends
//! in dotted decimal. Other addresses that were written so do not, since their prefixes do not
//! indicate an embedded IPv4 address.

use core::net::Ipv6Addr;
use std::io::Write;

use super::case;
use crate::uri::parse_ipv6;

/// Appends the IPv6 literal `literal`, with its brackets, to `out` in the form of RFC 5952.
///
/// The standard library writes that form; a test below asserts it.
pub(crate) fn canonical_ipv6_into(literal: &[u8], out: &mut Vec<u8>) {
    let groups =
        literal.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).and_then(parse_ipv6);
    match groups {
        // Writing to a vector does not fail.
        Some(groups) => {
            let _ = write!(out, "[{}]", Ipv6Addr::from(groups));
        }
        // Unreachable for a parsed host; the form of the level `syntax` merges nothing.
        None => case::lower_into(literal, out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_addresses_are_written_as_in_rfc_5952() {
        let cases = [
            ("[2001:DB8::1]", "[2001:db8::1]"),
            ("[2001:0db8:0000:0000:0001:0000:0000:0001]", "[2001:db8::1:0:0:1]"),
            ("[2001:db8:0:1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"),
            ("[2001:db8::1:1:1:1:1]", "[2001:db8:0:1:1:1:1:1]"),
            ("[1:0:0:2:0:0:0:3]", "[1:0:0:2::3]"),
            ("[0:0:0:0:0:0:0:0]", "[::]"),
            ("[0:0::1]", "[::1]"),
            ("[1:0:0:0:0:0:0:0]", "[1::]"),
            ("[::ffff:1.2.3.4]", "[::ffff:1.2.3.4]"),
            ("[::FFFF:102:304]", "[::ffff:1.2.3.4]"),
            ("[0:0:0:0:0:ffff:0102:0304]", "[::ffff:1.2.3.4]"),
            ("[::1.2.3.4]", "[::102:304]"),
            ("[64:ff9b::1.2.3.4]", "[64:ff9b::102:304]"),
            ("[::ffff:0:1.2.3.4]", "[::ffff:0:102:304]"),
        ];
        for (literal, expected) in cases {
            let mut out = Vec::new();
            canonical_ipv6_into(literal.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{literal}");
        }
    }
}
