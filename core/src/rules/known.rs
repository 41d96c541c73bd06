//! The ends of hosts that were looked up before: hosts repeat, and a look-up in the public suffix list takes as long as all else.
//!
//! In a list of many hosts most are met once. So a place is taken by a host when it comes a second time; the first time only a few bits
//! of its hash are kept, which stay in the cache of a core.

use super::suffix::{Ends, ends};

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
pub struct Known {
    /// Bits of the hash of the host that came last, for each place.
    marks: Vec<u16>,
    places: Vec<Place>,
}

impl Known {
    /// [`ends`] of `host`.
    #[inline]
    pub fn ends<'h>(&mut self, host: &'h [u8]) -> Ends<'h> {
        if !(1..=LONGEST).contains(&host.len()) {
            return ends(host);
        }
        if self.places.is_empty() {
            self.marks.resize(PLACES, 0);
            self.places.resize(PLACES, Place::VACANT);
        }
        let mut name: Name = [0; _];
        name[..host.len()].copy_from_slice(host);
        name[LONGEST] = host.len() as u8;
        let hash = hash(&name);
        let at = hash % PLACES;
        let mark = (hash / PLACES) as u16;
        if self.marks[at] != mark {
            self.marks[at] = mark;
            return ends(host);
        }
        // Whoever writes hosts that share a place only makes look-ups necessary.
        let place = &mut self.places[at];
        if words(&place.name) != words(&name) {
            let end = host.len() - usize::from(host.ends_with(b"."));
            *place = Place::new(name, end, ends(host));
        }
        let end = usize::from(place.end);
        let from = |start: u8| (start != NOWHERE).then(|| &host[usize::from(start)..end]);
        Ends { domain: from(place.domain), suffix: from(place.suffix) }
    }
}

/// `name` as eight words. The last one has the length, and overlaps the one before.
#[inline(always)]
fn words(name: &Name) -> [u64; 8] {
    let word = |at: usize| u64::from_le_bytes(*name[at..].first_chunk().expect("within the name"));
    [0, 8, 16, 24, 32, 40, 48, LONGEST + 1 - 8].map(word)
}

/// A hash of `name`: products of its words, two by two.
#[inline(always)]
fn hash(name: &Name) -> usize {
    let words = words(name);
    let word = |at: usize| words[at] ^ 0x9E37_79B9_7F4A_7C15_u64.rotate_left(8 * at as u32);
    let fold = |a: usize| {
        let product = u128::from(word(a)) * u128::from(word(a + 1));
        product as u64 ^ (product >> 64) as u64
    };
    let all = fold(0) ^ fold(2) ^ fold(4) ^ fold(6);
    (all ^ all >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the ends of `hosts`, one after the other, each as often as it takes to be remembered and found again.
    fn check(hosts: &[&[u8]]) {
        let mut known = Known::default();
        for host in hosts.iter().flat_map(|host| [host; 3]) {
            let (found, expected) = (known.ends(host), ends(host));
            let shown = host.escape_ascii();
            assert_eq!((found.domain, found.suffix), (expected.domain, expected.suffix), "{shown}");
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
        check(&all);
        check(&[&all[..], &all[..]].concat());
    }
}
