//! Paths with parts that a scheme declares case-insensitive (RFC 3986 section 6.2.3).
//!
//! Only paths of URIs without authority have such a form, and only after the level `syntax`:
//! percent-encodings are upper case already and stay so.

use super::case::lower_outside_triplets;
use super::percent::triplet;
use crate::grammar::PathForm;
use crate::grammar::class::{ALPHA, ByteClass, DIGIT};
use crate::uri::{parse_ipv4, parse_ipv6};

/// Lower-cases the parts of the normalized `path` that are case-insensitive by `form`.
pub(crate) fn lower_parts(form: PathForm, path: &mut [u8]) {
    match form {
        PathForm::Generic => {}
        PathForm::Mailto => path.split_mut(|&byte| byte == b',').for_each(lower_domain),
        PathForm::Urn => lower_nid(path),
    }
}

/// The characters of `atext` (RFC 5322 section 3.2.3) that a `mailto:` URI may hold unencoded: RFC
/// 6068 section 2 requires `/` and `?` to be encoded.
const ATEXT: ByteClass = ALPHA.or(DIGIT).or(ByteClass::of(b"!$&'*+-=_~"));

/// The domain of one `addr-spec` (RFC 6068 section 2): the text after its last `@`, if that is a
/// domain. The text in `a@b/C` is not one, and nothing makes it case-insensitive.
///
/// The local part is case-sensitive (RFC 5321 section 2.4). A `,` or `@` inside it is encoded, and
/// stays so: `%40` is not `@`.
fn lower_domain(address: &mut [u8]) {
    if let Some(at) = memchr::memrchr(b'@', address) {
        let domain = &mut address[at + 1..];
        if is_dot_atom(domain) || is_address_literal(domain) {
            lower_outside_triplets(domain);
        }
    }
}

/// Whether `domain` is a `dot-atom-text`, whose percent-encodings are those of UTF-8 (RFC 6068 section 5).
fn is_dot_atom(domain: &[u8]) -> bool {
    let mut at = 0;
    let mut begins_label = true;
    while at < domain.len() {
        begins_label = match domain[at] {
            b'.' if begins_label => return false,
            b'.' => true,
            b'%' if triplet(domain, at).is_some_and(|byte| !byte.is_ascii()) => {
                at += 2;
                false
            }
            byte if ATEXT.has(byte) => false,
            _ => return false,
        };
        at += 1;
    }
    !begins_label
}

/// Whether `domain` is a `domain-literal` that is an address (RFC 5321 section 4.1.3), in encoded
/// brackets, as a URI requires. The case rules of a literal with another tag are in that tag's
/// specification.
fn is_address_literal(domain: &[u8]) -> bool {
    let inner = domain.strip_prefix(b"%5B").and_then(|rest| rest.strip_suffix(b"%5D"));
    let Some(inner) = inner else { return false };
    let tagged = inner.split_at_checked(b"IPv6:".len());
    let ipv6 = tagged.filter(|(tag, _)| tag.eq_ignore_ascii_case(b"IPv6:"));
    ipv6.is_some_and(|(_, address)| parse_ipv6(address).is_some()) || parse_ipv4(inner).is_some()
}

/// The NID of `NID:NSS` (RFC 8141 section 2), if it consists of letters, digits and hyphens.
///
/// RFC 2141 allowed a NID of one character and RFC 8141 requires two; case matters in neither.
fn lower_nid(path: &mut [u8]) {
    if let Some(colon) = memchr::memchr(b':', path) {
        let nid = &mut path[..colon];
        if nid.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-') {
            nid.make_ascii_lowercase();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lowered(form: PathForm, path: &str) -> String {
        let mut path = path.as_bytes().to_vec();
        lower_parts(form, &mut path);
        String::from_utf8(path).unwrap()
    }

    #[test]
    fn a_domain_is_checked_after_a_percent_encoding_too() {
        assert!(is_dot_atom(b"aaaaaaaaaa%C3%A4b.c"));
        assert!(!is_dot_atom(b"aaaaaaaaaa%C3(b"));
        assert!(!is_dot_atom(b"aaaaaaaaaa%C3..b"));
    }

    #[test]
    fn domains_of_mail_addresses_are_lower_cased() {
        let cases = [
            ("Joe@Example.COM", "Joe@example.com"),
            ("A@B.C,D@E.F", "A@b.c,D@e.f"),
            ("%22A%40B%22@C.D", "%22A%40B%22@c.d"),
            ("A@B@C", "A@B@c"),
            ("NoDomain", "NoDomain"),
            ("NoDomain,A@B", "NoDomain,A@b"),
            ("A%40B.C", "A%40B.C"),
            ("a@%C3%9C.DE", "a@%C3%9C.de"),
            ("a@B_c-D!.E", "a@b_c-d!.e"),
            ("a@%5BIPV6:2001:DB8::A%5D", "a@%5Bipv6:2001:db8::a%5D"),
            ("a@%5B1.2.3.4%5D,b@C", "a@%5B1.2.3.4%5D,b@c"),
            ("", ""),
            // Not a domain
            ("a@b/C", "a@b/C"),
            ("a@B/", "a@B/"),
            ("a@B:C", "a@B:C"),
            ("a@B;C", "a@B;C"),
            ("a@(B)", "a@(B)"),
            ("a@B.", "a@B."),
            ("a@.B", "a@.B"),
            ("a@A..B", "a@A..B"),
            ("a@", "a@"),
            ("a@B%2FC", "a@B%2FC"),
            ("a@B%20", "a@B%20"),
            ("a@B%", "a@B%"),
            ("a@%5BTag:A%5D", "a@%5BTag:A%5D"),
            ("a@%5BIPv6:G%5D", "a@%5BIPv6:G%5D"),
            ("a@%5BA%5D", "a@%5BA%5D"),
            ("a@%5B", "a@%5B"),
            ("a@B/c,A@B", "a@B/c,A@b"),
        ];
        for (path, expected) in cases {
            assert_eq!(lowered(PathForm::Mailto, path), expected);
            assert_eq!(lowered(PathForm::Generic, path), path);
        }
    }

    #[test]
    fn namespace_identifiers_are_lower_cased() {
        let cases = [
            ("ISBN:X", "isbn:X"),
            ("IETF:RFC:2648", "ietf:RFC:2648"),
            ("Uuid-1:A", "uuid-1:A"),
            ("ISBN", "ISBN"),
            ("A%2FB:C", "A%2FB:C"),
            ("/A:B", "/A:B"),
            (":A", ":A"),
        ];
        for (path, expected) in cases {
            assert_eq!(lowered(PathForm::Urn, path), expected);
        }
    }
}
