//! Where the form of a web URI is cut into parts: in its first block by masks, where that may be read.

use super::split::host_in;
use crate::chunk::Prefix;
use crate::grammar::ByteClass;
use crate::index::low_bits;
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa};

/// The parts of the form of a web URI, as offsets in it, and what some of them do not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cuts {
    /// Where the authority begins.
    pub(crate) start: usize,
    pub(crate) host_start: usize,
    pub(crate) host_end: usize,
    pub(crate) path_start: usize,
    pub(crate) path_end: usize,
    pub(crate) query_end: usize,
    /// The length of the form.
    pub(crate) len: usize,
    pub(crate) lacks: Lacks,
}

/// What parts are known not to have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Lacks {
    /// The host has no upper case and no triplet.
    pub(crate) odd_host: bool,
    /// The path has no triplet.
    pub(crate) triplet: bool,
    /// The path has no `;` and no `(`.
    pub(crate) session: bool,
    /// The path has no two slashes in a row.
    pub(crate) slashes: bool,
}

/// The bytes without which a host is its own form for look-ups.
static ODD: NibbleTables = nibble_tables(ByteClass::range(b'A', b'Z').or(ByteClass::of(b"%")));
static SESSION: NibbleTables = nibble_tables(ByteClass::of(b";("));

impl Cuts {
    /// Those of `form`, whose authority begins at `start`.
    pub(crate) fn find(form: &[u8], start: usize) -> Cuts {
        let end = |at: Option<usize>, from: usize| at.map_or(form.len(), |at| from + at);
        let path_start = end(memchr::memchr3(b'/', b'?', b'#', &form[start..]), start);
        let path_end = end(memchr::memchr2(b'?', b'#', &form[path_start..]), path_start);
        let query_end = match form.get(path_end) {
            Some(b'?') => end(memchr::memchr(b'#', &form[path_end..]), path_end),
            _ => path_end,
        };
        let (host_start, host_end) = host_in(&form[start..path_start]);
        Cuts {
            start,
            host_start: start + host_start,
            host_end: start + host_end,
            path_start,
            path_end,
            query_end,
            len: form.len(),
            lacks: Lacks::default(),
        }
    }

    /// [`Cuts::find`], and what parts that are in the first block do not have.
    #[inline(always)]
    pub(crate) fn find_by<I: Isa>(isa: I, form: Prefix<'_>, start: usize) -> Cuts {
        let (bytes, len) = (form.bytes(), form.len());
        let Some(block) = form.slack().first_chunk::<BLOCK>() else {
            return Cuts::find(bytes, start);
        };
        let inside = low_bits(len) & !low_bits(start);
        let slashes = isa.equal(block, b'/') & inside;
        let hashes = isa.equal(block, b'#') & inside;
        let stops = isa.equal(block, b'?') & inside | hashes;
        let ends = slashes | stops;
        if ends == 0 && len > BLOCK {
            return Cuts::find(bytes, start);
        }
        let path_start = first(ends).min(len);
        let head = low_bits(path_start) & inside;
        let host_start = match isa.equal(block, b'@') & head {
            0 => start,
            ats => BLOCK - ats.leading_zeros() as usize,
        };
        if bytes.get(host_start) == Some(&b'[') {
            return Cuts::find(bytes, start);
        }
        let head = head & !low_bits(host_start);
        let host_end = first(isa.equal(block, b':') & head).min(path_start);
        let after = |found: Option<usize>, from: usize| found.map_or(len, |at| from + at);
        let path_end = match stops {
            0 if len > BLOCK => after(memchr::memchr2(b'?', b'#', &bytes[BLOCK..]), BLOCK),
            _ => first(stops).min(len),
        };
        let query_end = match bytes.get(path_end) {
            Some(b'?') if hashes != 0 => first(hashes),
            Some(b'?') => {
                let from = path_end.max(BLOCK).min(len);
                after(memchr::memchr(b'#', &bytes[from..]), from)
            }
            _ => path_end,
        };
        let host = head & low_bits(host_end);
        let mut lacks =
            Lacks { odd_host: isa.members(block, &ODD) & host == 0, ..Lacks::default() };
        if path_end <= BLOCK {
            let path = low_bits(path_end) & !low_bits(path_start);
            let slashes = slashes & path;
            lacks.triplet = isa.equal(block, b'%') & path == 0;
            lacks.session = isa.members(block, &SESSION) & path == 0;
            lacks.slashes = slashes & (slashes << 1) == 0;
        }
        Cuts { start, host_start, host_end, path_start, path_end, query_end, len, lacks }
    }

    /// Where the parts begin, and where the last one ends: the scheme with its `://`, the userinfo, the host, the port, the path, the
    /// query and the fragment, with their delimiters.
    pub(crate) fn parts(self) -> [usize; 8] {
        let Cuts { start, host_start, host_end, path_start, path_end, query_end, len, .. } = self;
        [0, start, host_start, host_end, path_start, path_end, query_end, len]
    }

    /// The host in `form`.
    #[inline(always)]
    pub(crate) fn host(self, form: &[u8]) -> &[u8] {
        &form[self.host_start..self.host_end]
    }
}

/// Where the authority begins, if `form` is an `http` or `https` URI with an authority.
#[inline]
pub(crate) fn web_authority(form: &[u8]) -> Option<usize> {
    // Setting bit 5 makes letters lower case and keeps `:` and `/`. Other bytes that it maps to
    // these do not occur in URIs.
    const LOWER: u64 = 0x2020_2020_2020_2020;
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"http://\0");
    let Some(head) = form.first_chunk() else {
        return form.eq_ignore_ascii_case(b"http://").then_some(7);
    };
    let head = u64::from_le_bytes(*head) | LOWER;
    if head == HTTPS { Some(8) } else { (head << 8 == HTTP << 8).then_some(7) }
}

/// The number of the first bit of `mask`; [`BLOCK`] if there is none.
#[inline(always)]
fn first(mask: u64) -> usize {
    mask.trailing_zeros() as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::{Kernels, Task};

    struct Find<'a>(Prefix<'a>, usize);

    impl Task for Find<'_> {
        type Output = Cuts;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Cuts {
            Cuts::find_by(isa, self.0, self.1)
        }
    }

    /// Checks the cuts by masks of `form`, followed by `more`.
    fn check(form: &str, more: &[u8]) {
        let start = web_authority(form.as_bytes()).unwrap();
        let expected = Cuts::find(form.as_bytes(), start);
        let slack = [form.as_bytes(), more].concat();
        let path = &form[expected.path_start..expected.path_end];
        let host = &form[expected.host_start..expected.host_end];
        let lacks = Lacks {
            odd_host: !host.contains(|c: char| c == '%' || c.is_ascii_uppercase()),
            triplet: !path.contains('%'),
            session: !path.contains([';', '(']),
            slashes: !path.contains("//"),
        };
        for kernels in Kernels::available() {
            let found = kernels.run(Find(Prefix::new(&slack, form.len()), start));
            assert_eq!(Cuts { lacks: Lacks::default(), ..found }, expected, "{form}");
            let is_seen = found.lacks == lacks
                || found.lacks == Lacks::default()
                || found.lacks == Lacks { odd_host: lacks.odd_host, ..Lacks::default() };
            assert!(is_seen, "{form} {:?}", found.lacks);
            let is_short = form.len() <= BLOCK && slack.len() >= BLOCK && !form.contains('[');
            assert!(!is_short || found.lacks == lacks, "{form} {:?}", found.lacks);
        }
    }

    #[test]
    fn parts_end_on_both_sides_of_a_block() {
        for len in 40..80 {
            let fill = "a".repeat(len);
            for tail in
                ["", "/", "?", "#", "/?#", "?/#?", "#?/", "@h:8/", ":80", "@[::1]:8/a;b(//%"]
            {
                for more in [&[b'/'; 70][..], b"@:%;A?#/", b""] {
                    check(&format!("http://{fill}{tail}"), more);
                    check(&format!("https://h/{fill}{tail}"), more);
                    check(&format!("https://h?{fill}{tail}"), more);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn cuts_by_masks_are_those_of_a_search(
            form in "https?://[a-cA%@:\\[\\]]{0,20}([a-c]{0,50})(/[/a;(%]{0,9}){0,3}([?#/@:a]{0,60})",
            more in "[/?#@:;(%A]{0,70}",
        ) {
            check(&form, more.as_bytes());
        }
    }
}
