//! The road for rule sets of nothing but patterns for parameters: packs without other rules.
//!
//! Whether a pattern might match a parameter is asked before the host is looked up, as most parameters of
//! most records have no pattern on any host.

use super::fast::{BUT_PATTERNS, Scratch};
use super::parts::host_in;
use super::rule::Rules;
use super::set::RuleSet;

impl RuleSet {
    /// Whether all that there is are patterns for parameters.
    #[inline]
    pub(super) fn has_only_patterns(&self) -> bool {
        !self.rules.has_any(BUT_PATTERNS)
    }

    /// [`RuleSet::apply`] for the form of a web URI whose authority begins at `start`, where only patterns for
    /// parameters can change anything.
    pub(super) fn apply_patterns<'a>(
        &self,
        form: &'a [u8],
        start: usize,
        scratch: &'a mut Scratch,
    ) -> (&'a [u8], Rules) {
        let unchanged = (form, Rules::default());
        let path_end = match memchr::memchr2(b'?', b'#', &form[start..]) {
            Some(at) if form[start + at] == b'?' => start + at,
            _ => return unchanged,
        };
        // The quicker question first.
        let authority = || {
            let end = memchr::memchr(b'/', &form[start..path_end]);
            &form[start..end.map_or(path_end, |end| start + end)]
        };
        if !self.params.is_global() && !self.params.may_hold(authority()) {
            return unchanged;
        }
        let query_start = path_end + 1;
        let query_end = memchr::memchr(b'#', &form[query_start..])
            .map_or(form.len(), |hash| query_start + hash);
        let query = &form[query_start..query_end];
        if !any_param(query, |start, name_end, _| self.params.may_match(&query[start..name_end])) {
            return unchanged;
        }

        let host = || {
            let authority = authority();
            let (from, to) = host_in(authority);
            &authority[from..to]
        };
        let mut fired = Rules::default();
        let Scratch { text, query: buffers, .. } = scratch;
        // Only the rule for sessions looks at the path.
        let left = self.query(query, b"", host, buffers, &mut fired);
        if fired.is_empty() {
            return unchanged;
        }
        if left.is_none() && query_end == form.len() {
            return (&form[..path_end], fired);
        }
        text.clear();
        text.extend_from_slice(&form[..path_end]);
        if let Some(left) = left {
            text.push(b'?');
            text.extend_from_slice(left);
        }
        text.extend_from_slice(&form[query_end..]);
        (text, fired)
    }
}

/// Whether `is_it` says so of a parameter of `query`, given its start, the end of its name and its end; asks
/// no further then.
#[inline(always)]
pub(super) fn any_param(query: &[u8], mut is_it: impl FnMut(usize, usize, usize) -> bool) -> bool {
    let (mut start, mut name_end) = (0, None);
    let (words, rest) = query.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for (i, word) in words.iter().chain([&last]).enumerate() {
        let word = u64::from_le_bytes(*word);
        let mut delimiters = equal(word, b'&') | equal(word, b'=');
        while delimiters != 0 {
            let at = 8 * i + delimiters.trailing_zeros() as usize / 8;
            if query[at] == b'&' {
                if is_it(start, name_end.unwrap_or(at), at) {
                    return true;
                }
                (start, name_end) = (at + 1, None);
            } else {
                name_end = name_end.or(Some(at));
            }
            delimiters &= delimiters - 1;
        }
    }
    is_it(start, name_end.unwrap_or(query.len()), query.len())
}

/// The top bits of the bytes of `word` that are `byte`.
#[inline(always)]
fn equal(word: u64, byte: u8) -> u64 {
    const LOW: u64 = 0x7F7F_7F7F_7F7F_7F7F;
    let zeros = word ^ u64::from_ne_bytes([byte; 8]);
    // The top bit of a sum says that one of the lower seven bits is set.
    !(((zeros & LOW) + LOW) | zeros | LOW)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn parameters_are_what_is_between_ampersands(query in "[a&=\u{e9}]{0,40}") {
            let query = query.as_bytes();
            let mut found = Vec::new();
            any_param(query, |start, name_end, end| {
                found.push((&query[start..name_end], &query[start..end]));
                false
            });
            let expected: Vec<(&[u8], &[u8])> = query
                .split(|&byte| byte == b'&')
                .map(|param| (param.split(|&byte| byte == b'=').next().unwrap(), param))
                .collect();
            prop_assert_eq!(&found, &expected);
            // Asking ends where it is said to.
            let mut asked = 0;
            let stop = expected.len() / 2;
            let is_any = any_param(query, |_, _, _| { asked += 1; asked > stop });
            prop_assert!(is_any && asked == stop + 1);
        }
    }
}
