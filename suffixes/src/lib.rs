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
pub fn ends(host: &[u8]) -> Option<Ends> {
    // A final dot is a part of the suffix.
    let name = host.strip_suffix(b".").unwrap_or(host);
    ends_of(&Name::new(name), name.len() < host.len())
}

/// [`ends`] of the host in the first `len` bytes of `block`, which has zeros after it. Makes no copy of the host.
///
/// ```
/// let mut block = [0; uriscan_suffixes::BLOCK];
/// block[..6].copy_from_slice(b"a.b.c.");
/// assert_eq!(uriscan_suffixes::ends_in(&block, 6), uriscan_suffixes::ends(b"a.b.c."));
/// ```
#[inline]
pub fn ends_in(block: &[u8; BLOCK], len: usize) -> Option<Ends> {
    let host = &block[..len];
    let name = host.strip_suffix(b".").unwrap_or(host);
    ends_of(&Name { text: name, base: 0, dots: dots(block) }, name.len() < len)
}

/// [`ends`] of a host `name`, which has a final dot after it or not.
#[inline(never)]
fn ends_of(name: &Name<'_>, has_final_dot: bool) -> Option<Ends> {
    let found = List.find(Labels { name, end: Some(name.text.len()) });
    if found.len == 0 && !has_final_dot {
        return None;
    }
    let suffix = name.text.len() - found.len;
    let domain = suffix.checked_sub(1).filter(|&dot| dot > 0).map(|dot| name.label_start(dot));
    Some(Ends { suffix, domain, is_known: found.typ.is_some() })
}

/// The number of bytes in which dots are found at once.
pub const BLOCK: usize = 64;

/// A host without a final dot.
struct Name<'n> {
    text: &'n [u8],
    /// Where the last block of it begins, and the dots in that, a bit each.
    base: usize,
    dots: u64,
}

impl<'n> Name<'n> {
    fn new(text: &'n [u8]) -> Name<'n> {
        let base = text.len().saturating_sub(BLOCK);
        let mut block = [0; BLOCK];
        block[..text.len() - base].copy_from_slice(&text[base..]);
        Name { text, base, dots: dots(&block) }
    }

    /// Where the label that ends at `end` begins.
    fn label_start(&self, end: usize) -> usize {
        let below = match end.saturating_sub(self.base) {
            BLOCK.. => self.dots,
            known => self.dots & ((1 << known) - 1),
        };
        if below != 0 {
            return self.base + BLOCK - below.leading_zeros() as usize;
        }
        let rest = &self.text[..self.base.min(end)];
        rest.iter().rposition(|&byte| byte == b'.').map_or(0, |dot| dot + 1)
    }
}

/// The dots of `block`, a bit each.
fn dots(block: &[u8; BLOCK]) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let (words, _) = block.as_chunks::<8>();
    (0..).zip(words).fold(0, |all, (number, &word)| {
        // The high bit of each byte that is a dot; then these bits side by side, by products that do not meet.
        let other = u64::from_le_bytes(word) ^ (ONES * u64::from(b'.'));
        let high = !(((other & (ONES * 0x7F)) + ONES * 0x7F) | other) & (ONES << 7);
        let bits = (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        all | bits << (8 * number)
    })
}

/// The labels of a name, the last one first.
struct Labels<'a, 'n> {
    name: &'a Name<'n>,
    /// Where the next one ends; `None` after the first one of the name.
    end: Option<usize>,
}

impl<'n> Iterator for Labels<'_, 'n> {
    type Item = &'n [u8];

    #[inline]
    fn next(&mut self) -> Option<&'n [u8]> {
        let end = self.end?;
        let start = self.name.label_start(end);
        self.end = start.checked_sub(1);
        Some(&self.name.text[start..end])
    }
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
            let long = "long-label-of-23-bytes.".repeat(5);
            let heads = ["", "a", "a.", ".", "b.a.", "..", "www.example.", &long, &long[22..]];
            for head in heads.into_iter().chain((50..70).map(|len| &long[..len])) {
                let host = format!("{head}{tail}");
                let bytes = host.as_bytes();
                let domain = psl::domain(bytes).map(|domain| bytes.len() - domain.as_bytes().len());
                let expected = psl::suffix(bytes).map(|suffix| Ends {
                    suffix: bytes.len() - suffix.as_bytes().len(),
                    domain,
                    is_known: suffix.is_known(),
                });
                assert_eq!(ends(bytes), expected, "{host:?}");
                let mut block = [0; BLOCK];
                if let Some(start) = block.get_mut(..bytes.len()) {
                    start.copy_from_slice(bytes);
                    assert_eq!(ends_in(&block, bytes.len()), expected, "{host:?}");
                }
            }
        }
    }
}
