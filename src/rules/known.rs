//! The ends of hosts that were looked up before: hosts repeat, and a look-up in the public suffix list takes as long as all else.

use psl::Psl;

use super::suffix::{Ends, ends};
use crate::index::low_bits;
use crate::simd::{BLOCK, Isa};

/// How many hosts are remembered, at most: with 64 bytes each, what fits well in the cache of a core.
const PLACES: usize = 1 << 12;

/// The longest host that is remembered.
const LONGEST: usize = 60;

/// Where what is not there begins.
const NOWHERE: u8 = u8::MAX;

/// A host, zeros after it, and its length; a place is vacant if that is 0.
type Name = [u8; LONGEST + 1];

/// A host, and where its ends begin.
#[derive(Clone, Copy, Debug)]
struct Place {
    name: Name,
    /// The length without a final dot.
    end: u8,
    domain: u8,
    suffix: u8,
}

impl Place {
    const VACANT: Place =
        Place { name: [0; LONGEST + 1], end: 0, domain: NOWHERE, suffix: NOWHERE };

    /// The place for the host `name`, of so many bytes, with these ends.
    fn new(name: Name, end: usize, ends: Ends<'_>) -> Place {
        let start = |part: Option<&[u8]>| part.map_or(NOWHERE, |part| (end - part.len()) as u8);
        Place { name, end: end as u8, domain: start(ends.domain), suffix: start(ends.suffix) }
    }
}

/// The hosts that were looked up, each until another one takes its place. Kept by a thread.
#[derive(Debug, Default)]
pub(crate) struct Known(Vec<Place>);

impl Known {
    /// [`ends`] of `host`.
    #[inline(always)]
    pub(crate) fn ends<'h, I: Isa>(&mut self, isa: I, host: &'h [u8]) -> Ends<'h> {
        if !(1..=LONGEST).contains(&host.len()) {
            return ends(host);
        }
        if self.0.is_empty() {
            self.0.resize(PLACES, Place::VACANT);
        }
        let mut name: Name = [0; _];
        name[..host.len()].copy_from_slice(host);
        name[LONGEST] = host.len() as u8;
        // Whoever writes hosts that share a place only makes look-ups necessary.
        let place = &mut self.0[hash(&name) % PLACES];
        if place.name != name {
            *place = look_up(isa, name);
        }
        let end = usize::from(place.end);
        let from = |start: u8| (start != NOWHERE).then(|| &host[usize::from(start)..end]);
        Ends { domain: from(place.domain), suffix: from(place.suffix) }
    }
}

/// A hash of `name`: products of its words, two by two.
#[inline(always)]
fn hash(name: &Name) -> usize {
    let word = |at: usize| {
        let bytes = name[at..].first_chunk().expect("within the name");
        u64::from_le_bytes(*bytes) ^ 0x9E37_79B9_7F4A_7C15_u64.rotate_left(at as u32)
    };
    let fold = |a: u64, b: u64| {
        let product = u128::from(a) * u128::from(b);
        product as u64 ^ (product >> 64) as u64
    };
    // The last word has the length, and bytes of the one before.
    let all = fold(word(0), word(8)) ^ fold(word(16), word(24));
    let all = all ^ fold(word(32), word(40)) ^ fold(word(48), word(LONGEST + 1 - 8));
    (all ^ all >> 32) as usize
}

/// The place for the host `name`.
#[inline(always)]
fn look_up<I: Isa>(isa: I, name: Name) -> Place {
    let len = usize::from(name[LONGEST]);
    let end = len - usize::from(name[len - 1] == b'.');
    let mut lower = [0; BLOCK];
    for (to, from) in lower.iter_mut().zip(&name[..LONGEST]) {
        *to = from.to_ascii_lowercase();
    }
    let dots = isa.equal(&lower, b'.') & low_bits(end);
    let last = BLOCK - dots.leading_zeros() as usize;
    let is_address = lower[0] == b'[' || lower[last..end].iter().all(u8::is_ascii_digit);
    // The second is left to whoever knows what a name with two final dots is.
    if is_address || last == end {
        return Place::new(name, end, ends(&name[..len]));
    }
    let lower = &lower[..end];
    let suffix_len = psl::List.find(Labels { name: lower, end: Some(end), dots }).len;
    let mut found =
        Ends { domain: None, suffix: (suffix_len > 0).then(|| &lower[end - suffix_len..]) };
    if suffix_len > 0 && end >= suffix_len + 2 {
        let dot = end - suffix_len - 1;
        let before = BLOCK - (dots & low_bits(dot)).leading_zeros() as usize;
        found.domain = Some(&lower[before..]);
    }
    Place::new(name, end, found)
}

/// The labels of a name, the last one first.
struct Labels<'n> {
    name: &'n [u8],
    /// Where the next one ends; `None` after the first one of the name.
    end: Option<usize>,
    /// The dots before.
    dots: u64,
}

impl<'n> Iterator for Labels<'n> {
    type Item = &'n [u8];

    #[inline(always)]
    fn next(&mut self) -> Option<&'n [u8]> {
        let end = self.end?;
        let start = BLOCK - self.dots.leading_zeros() as usize;
        self.end = start.checked_sub(1);
        self.dots &= low_bits(start.saturating_sub(1));
        Some(&self.name[start..end])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Kernels, Task};

    /// Checks the ends of `hosts`, one after the other.
    struct Check<'a>(&'a [&'a [u8]]);

    impl Task for Check<'_> {
        type Output = ();
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) {
            let mut known = Known::default();
            for host in self.0 {
                let (found, expected) = (known.ends(isa, host), ends(host));
                let shown = host.escape_ascii();
                assert_eq!(
                    (found.domain, found.suffix),
                    (expected.domain, expected.suffix),
                    "{shown}"
                );
            }
        }
    }

    #[test]
    fn ends_are_those_of_the_list_whatever_was_looked_up_before() {
        let tops = [
            "com",
            "co.uk",
            "x",
            "com.",
            "Kobe.JP",
            "city.kobe.jp",
            "github.io",
            "1",
            "ck",
            "www.ck",
        ];
        let many: Vec<String> = (0..9000)
            .map(|i| format!("{}.b{}.{}", "x".repeat(i % 64), i * i % 3001, tops[i % tops.len()]))
            .collect();
        let odd = [
            "",
            ".",
            "..",
            "...",
            "a..",
            ".a",
            "..a",
            "a..b",
            ".com",
            "..com",
            "a..com",
            "com..",
            "[::1]",
            "[v1.a]",
            "127.0.0.1",
            "1",
            "1.",
            "a.1",
            "a1",
            "com",
            "CO.UK.",
            "A.Co.Uk",
            "a\0.com",
            "a.com\0",
            "\u{e9}.com",
            "xn--p1ai",
            "a.b.c.kobe.jp",
            "a.city.kobe.jp",
            "0.",
        ];
        let all: Vec<&[u8]> = odd
            .into_iter()
            .chain(many.iter().map(String::as_str))
            .chain(odd)
            .map(str::as_bytes)
            .collect();
        for kernels in Kernels::available() {
            kernels.run(Check(&all));
            kernels.run(Check(&[&all[..], &all[..]].concat()));
        }
    }
}
