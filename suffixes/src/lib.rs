//! Where the public suffix and the registrable domain of a host begin.
//!
//! The list is code, which takes a tenth of the time that the library takes to compile: this crate is compiled beside others.

use psl::{List, Psl};

/// The list.
pub const VERSION: &str = "psl 2.1.247";

/// The ends of a host that the list defines, as offsets of bytes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Where the public suffix begins.
    pub suffix: usize,
    /// Where the registrable domain begins: the suffix and the label before it. `None` for a host that is a suffix.
    pub domain: Option<usize>,
    /// Whether the list has the suffix. A top-level domain that it does not have is one, too.
    pub is_known: bool,
}

/// The ends of `host`, which is in lower case and not an address; `None` if it has none, as an empty host.
///
/// ```
/// let ends = uriscan_suffixes::ends(b"www.example.co.uk").unwrap();
/// assert_eq!((ends.suffix, ends.domain, ends.is_known), (12, Some(4), true));
/// ```
#[inline(never)]
pub fn ends(host: &[u8]) -> Option<Ends> {
    // A final dot is a part of the suffix.
    let name = host.strip_suffix(b".").unwrap_or(host);
    let found = List.find(name.rsplit(|&byte| byte == b'.'));
    if found.len == 0 && name.len() == host.len() {
        return None;
    }
    let suffix = name.len() - found.len;
    let domain = suffix.checked_sub(1).filter(|&dot| dot > 0).map(|dot| {
        name[..dot].iter().rposition(|&byte| byte == b'.').map_or(0, |before| before + 1)
    });
    Some(Ends { suffix, domain, is_known: found.typ.is_some() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_are_those_of_the_crate_of_the_list() {
        let odd = [
            "", ".", "..", "a..", ".a", "..a", "a..b", ".com", "..com", "a..com", "com..", "com.",
            "co.uk",
        ];
        let rare = [
            "kobe.jp",
            "city.kobe.jp",
            "x.city.kobe.jp",
            "a.b.kobe.jp",
            "www.ck",
            "x.ck",
            "github.io",
            "a.unknown",
            "x",
        ];
        for tail in odd.iter().chain(&rare) {
            for head in ["", "a", "a.", ".", "b.a.", "..", "www.example."] {
                let host = format!("{head}{tail}");
                let bytes = host.as_bytes();
                let domain = psl::domain(bytes).map(|domain| bytes.len() - domain.as_bytes().len());
                let expected = psl::suffix(bytes).map(|suffix| Ends {
                    suffix: bytes.len() - suffix.as_bytes().len(),
                    domain,
                    is_known: suffix.is_known(),
                });
                assert_eq!(ends(bytes), expected, "{host:?}");
            }
        }
    }
}
