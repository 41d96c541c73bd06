//! Limits of what a URI may have: endless URLs of crawler traps have too many segments, repeat them, or are too long.

use crate::uri::split;

named! {
    /// What a [`super::Filter`] limits ([`super::Filter::at_most`]).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Limit {
        /// The segments of the path that are not empty: `/a/b/` has two. A path that does not begin with a slash after a
        /// scheme, such as that of `urn:` or `data:`, is opaque and has none.
        Segments = "max-segments",
        /// How often a segment, or a run of up to 32 segments, occurs one after the other: three times `a/b` in
        /// `/x/a/b/a/b/a/b`, and `/a/b/a` has nothing twice. Segments are compared as they are written; empty ones count.
        Repeats = "max-repeats",
        /// The parameters of the query: what is not empty between `&`.
        Params = "max-params",
        /// Bytes.
        Length = "max-length",
    }
}

/// The longest run of segments that is recognized when it repeats.
const LONGEST_RUN: usize = 32;

/// The highest value of each [`Limit`].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits([Option<u64>; Limit::ALL.len()]);

impl Limits {
    pub(super) fn set(&mut self, limit: Limit, most: u64) {
        let old = &mut self.0[limit as usize];
        *old = Some(old.map_or(most, |old| old.min(most)));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    pub(super) fn has(&self, limit: Limit) -> bool {
        self.0[limit as usize].is_some()
    }

    /// The first limit that `uri` exceeds.
    pub(super) fn exceeded(&self, uri: &[u8]) -> Option<Limit> {
        let [segments, repeats, params, length] = self.0;
        let exceeds =
            |count: usize, most: Option<u64>| most.is_some_and(|most| count as u64 > most);
        if exceeds(uri.len(), length) {
            return Some(Limit::Length);
        }
        if segments.is_none() && repeats.is_none() && params.is_none() {
            return None;
        }
        let parts = split(uri);
        let is_opaque = parts.scheme.is_some() && !parts.path.starts_with(b"/");
        let path = if is_opaque { b"" } else { parts.path };
        // More than `most` parts have a byte each, and one between two.
        let has_more = |text: &[u8], by: u8, most: Option<u64>| {
            let is_long = most.is_some_and(|most| text.len() as u64 / 2 >= most);
            is_long && {
                let parts = text.split(|&byte| byte == by).filter(|part| !part.is_empty());
                exceeds(parts.count(), most)
            }
        };
        if has_more(path, b'/', segments) {
            return Some(Limit::Segments);
        }
        if repeats.is_some_and(|most| repeat_more(path, most)) {
            return Some(Limit::Repeats);
        }
        has_more(parts.query.unwrap_or_default(), b'&', params).then_some(Limit::Params)
    }
}

/// Whether a run of segments of `path` occurs more than `most` times, one after the other.
///
/// For each length of a run it counts the segments so far that equal the one as many segments before: as many more as the
/// length are one more repetition.
fn repeat_more(path: &[u8], most: u64) -> bool {
    let path = path.strip_prefix(b"/").unwrap_or(path);
    let mut last = [&b""[..]; LONGEST_RUN];
    let mut equal = [0_u64; LONGEST_RUN];
    for (number, segment) in path.split(|&byte| byte == b'/').enumerate() {
        for length in 1..=number.min(LONGEST_RUN) {
            let equal = &mut equal[length - 1];
            if last[(number - length) % LONGEST_RUN] != segment {
                *equal = 0;
                continue;
            }
            *equal += 1;
            if *equal / length as u64 >= most {
                return true;
            }
        }
        last[number % LONGEST_RUN] = segment;
    }
    false
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The most repetitions, found by trying every run.
    fn most_repeats(path: &str) -> u64 {
        let path = path.strip_prefix('/').unwrap_or(path);
        let segments: Vec<&str> = path.split('/').collect();
        let mut most = 1;
        for start in 0..segments.len() {
            for length in 1..=LONGEST_RUN.min(segments.len() - start) {
                let run = &segments[start..start + length];
                let times = segments[start..].chunks(length).take_while(|part| *part == run);
                most = most.max(times.count() as u64);
            }
        }
        most
    }

    #[test]
    fn repetitions_follow_one_another_without_a_gap() {
        for (path, most) in [
            ("", 1),
            ("/", 1),
            ("/a", 1),
            ("/a/b/a", 1),
            ("/a/a", 2),
            ("/a/b/a/b/a/b", 3),
            ("/x/a/b/a/b/a/b/y", 3),
            ("/a/b/a/b/a", 2),
            ("/a/A", 1),
            ("/ab/abab", 1),
            ("/a///b", 2),
            ("/a/a/a/b/a/a/a/b", 3),
            ("a/a", 2),
        ] {
            assert_eq!(most_repeats(path), most, "{path}");
            assert!(!repeat_more(path.as_bytes(), most), "{path}");
            assert!(most == 1 || repeat_more(path.as_bytes(), most - 1), "{path}");
        }
        let run: String = (0..LONGEST_RUN).map(|i| format!("/{i}")).collect();
        assert!(repeat_more(run.repeat(2).as_bytes(), 1));
        assert!(!repeat_more(format!("{run}/x").repeat(2).as_bytes(), 1));
    }

    #[test]
    fn limits_are_those_of_parts() {
        for (uri, limit, count) in [
            ("http://h/", Limit::Segments, 0),
            ("http://h", Limit::Segments, 0),
            ("http://h/a/b/", Limit::Segments, 2),
            ("http://h//a//b?c/d#e/f", Limit::Segments, 2),
            ("a/b", Limit::Segments, 2),
            ("data:a/b/c", Limit::Segments, 0),
            ("file:/a/b", Limit::Segments, 2),
            ("http://h/?", Limit::Params, 0),
            ("http://h/?a&&b=1&", Limit::Params, 2),
            ("http://h/#?a&b", Limit::Params, 0),
            ("http://h/", Limit::Length, 9),
        ] {
            let exceeded = |most| {
                let mut limits = Limits::default();
                limits.set(limit, most);
                limits.exceeded(uri.as_bytes())
            };
            assert_eq!(exceeded(count), None, "{uri}");
            assert!(count == 0 || exceeded(count - 1) == Some(limit), "{uri}");
        }
    }

    #[test]
    fn a_path_of_a_megabyte_takes_linear_time() {
        for segment in ["/a", "/", "/0123456789", "/aa/ab"] {
            let path = segment.repeat((1 << 20) / segment.len());
            assert!(!repeat_more(path.as_bytes(), 1 << 40));
        }
    }

    proptest! {
        #[test]
        fn repetitions_are_those_of_a_simple_search(path in "(/[ab]?){0,40}", most in 1..6_u64) {
            prop_assert_eq!(repeat_more(path.as_bytes(), most), most_repeats(&path) > most);
        }
    }
}
