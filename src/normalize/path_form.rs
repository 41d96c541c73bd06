//! Paths with parts that a scheme declares to be without case (RFC 3986 section 6.2.3).
//!
//! Only paths of URIs without authority have such a form, and only after the rung `syntax`:
//! triplets are upper case already and stay so.

use super::case::lower_outside_triplets;
use crate::grammar::PathForm;

/// Lower-cases the parts of the normalized `path` that `form` says have no case.
pub(crate) fn lower_parts(form: PathForm, path: &mut [u8]) {
    match form {
        PathForm::Generic => {}
        PathForm::Mailto => path.split_mut(|&byte| byte == b',').for_each(lower_domain),
        PathForm::Urn => lower_nid(path),
    }
}

/// The domain of one `addr-spec` (RFC 6068 section 2): what follows its last `@`.
///
/// The local part has case (RFC 5321 section 2.4). A `,` or `@` inside it is encoded,
/// and stays so: `%40` is not `@`.
fn lower_domain(address: &mut [u8]) {
    if let Some(at) = memchr::memrchr(b'@', address) {
        lower_outside_triplets(&mut address[at + 1..]);
    }
}

/// The NID of `NID:NSS` (RFC 8141 section 2), if letters, digits and hyphens are all it has.
///
/// RFC 2141 allowed a NID of one character and RFC 8141 asks for two; case matters in neither.
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
    fn domains_of_mail_addresses() {
        let cases = [
            ("Joe@Example.COM", "Joe@example.com"),
            ("A@B.C,D@E.F", "A@b.c,D@e.f"),
            ("%22A%40B%22@C.D", "%22A%40B%22@c.d"),
            ("A@B@C", "A@B@c"),
            ("NoDomain", "NoDomain"),
            ("NoDomain,A@B", "NoDomain,A@b"),
            ("A%40B.C", "A%40B.C"),
            ("a@%C3%9C.DE", "a@%C3%9C.de"),
            ("", ""),
        ];
        for (path, expected) in cases {
            assert_eq!(lowered(PathForm::Mailto, path), expected);
            assert_eq!(lowered(PathForm::Generic, path), path);
        }
    }

    #[test]
    fn namespace_identifiers() {
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
